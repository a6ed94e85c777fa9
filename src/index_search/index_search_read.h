/*
 * index_search_read.h: the edges of a vertex, read through table indexes; see index_search_read.c
 */
#ifndef EMOGI_INDEX_SEARCH_READ_H
#define EMOGI_INDEX_SEARCH_READ_H

#include "utils/rel.h"
#include "utils/resowner.h"
#include "utils/snapshot.h"

#include "edges/row_filter.h"
#include "index_search/index_search.h"
#include "index_search/index_search_keys.h"

/* The scans of all indexes of a search. */
typedef struct EmogiIndexReaders
{
	EmogiIndexSearch *search;	/* receives the cost */
	MemoryContext context;		/* of the scans, ... */
	ResourceOwner owner;		/* ... of the relations that they keep open, and of their pins */
	bool		is_kept;		/* they stay open after the search (kept_indexes.c) */
	EmogiRowFilterPlan filter;
	EmogiSearchKeys keys;
	struct EmogiIndexReader *readers;	/* [nreaders], those of the search's direction first */
	int			nreaders;
	int			nforward;		/* number of readers in the search's direction */
	int			nper_end;		/* number of readers from one end of the edges */
	bool		gave_up;		/* the cost limit is exceeded, or an index is missing */
} EmogiIndexReaders;

extern void emogi_index_readers_open(EmogiIndexReaders *in, const EmogiSearchIndexes *indexes,
									 EmogiIndexSearch *search);
extern void emogi_index_readers_close(EmogiIndexReaders *in);
extern bool emogi_index_readers_charge(EmogiIndexReaders *in, uint64 cost);
extern bool emogi_index_readers_seek(EmogiIndexReaders *in, int reader, int64 id);
extern bool emogi_index_readers_next(EmogiIndexReaders *in, int reader, int64 *end);
extern bool emogi_index_readers_have_only_edges(EmogiIndexReaders *in, int reader);
extern uint64 emogi_index_readers_count(EmogiIndexReaders *in, int reader, int64 id);
extern double emogi_index_readers_weight(EmogiIndexReaders *in, int reader);
extern bool emogi_index_readers_has_edge(EmogiIndexReaders *in, int64 id, int first, int end);
extern bool emogi_index_readers_has_other_edge(EmogiIndexReaders *in, int64 id);
extern bool emogi_index_readers_has_vertex(EmogiIndexReaders *in, int64 id);

/* ---- index_nulls.c ---- */

extern bool emogi_index_nulls_are_absent(Relation index, Snapshot snapshot);

#endif							/* EMOGI_INDEX_SEARCH_READ_H */
