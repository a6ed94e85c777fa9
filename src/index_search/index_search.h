/*
 * index_search.h: searches that walk over indexes of the tables, without a Graph.
 *
 * index_search_indexes.c finds the indexes that lead from a vertex to its edges, and has them open;
 * index_search_bfs.c goes over them, level by level, under the active snapshot; index_search_keys.c
 * keeps the keys that are met. Whether that costs less than a Graph is not known here:
 * acquire/index_search_cost.c says how much a walk may cost.
 */
#ifndef EMOGI_INDEX_SEARCH_H
#define EMOGI_INDEX_SEARCH_H

#include "access/attnum.h"
#include "access/skey.h"
#include "access/stratnum.h"
#include "nodes/pg_list.h"

#include "source/source.h"

/* The names of the indexes that a walk goes over, and a comma; cut off where they are longer. */
#define EMOGI_INDEX_NAMES_BYTES (2 * NAMEDATALEN + 2)

/*
 * What a walk costs is counted in rows that are read by way of an index; finding the first of them
 * costs as much as SEARCH_COST rows more.
 */
#define EMOGI_INDEX_DESCENT_COST 2

/* The most columns before that of an end in an index that a walk uses, for which conditions give values. */
#define EMOGI_WALK_MAX_PREFIX 4

/* A BFS that may be a walk, or a count of shortest paths. */
typedef struct EmogiIndexSearch
{
	/* how the caller fills in what is asked for when the type of the keys is known; false: the task cannot walk */
	bool		(*describe) (struct EmogiIndexSearch *walk, const EmogiKeyType *key);
	void	   *context;		/* the caller's, ... */
	Oid			function;		/* ... and the function that it calls */

	/* what is asked for */
	EmogiDirection direction;	/* which way a stored edge leads */
	int64		max_depth;		/* hops; -1 = no bound */
	bool		counts_paths;
	EmogiKeyCoder *coder;		/* of the keys */
	const Datum *sources;		/* [nsources], keys */
	uint64		nsources;
	bool		targeted;		/* it may end as soon as all targets are reached */
	const Datum *targets;		/* [ntargets], keys */
	uint64		ntargets;
	uint64		most_cost;		/* it gives up when it has cost more */
	bool		is_doubtful;	/* statistics foresee that it will */

	/* what came of it, in the memory context of the call */
	bool		is_answered;
	uint64		cost;
	double		run_ms;
	uint64		nlooked;		/* edges that were looked at */
	uint32		nlevels;		/* levels entered, the sources' own included */
	uint64		count;			/* vertices that were reached */
	int64	   *ids;			/* [count], ascending: keys that are integers, for others 0 .. count
								 * - 1 */
	EmogiKeyBytes *keys;		/* [count], keys that are no integers, ascending; else NULL */
	int32	   *levels;			/* [count] */
	double	   *paths;			/* [count], shortest ones; NULL unless they are counted */
	bool	   *found;			/* [nsources], the source is a vertex of the graph */
	char		names[EMOGI_INDEX_NAMES_BYTES];	/* of the indexes */
} EmogiIndexSearch;

/* ---- index_search_indexes.c ---- */

/* An index of a heap, by one end of the edges. */
typedef struct EmogiSearchIndex
{
	Oid			heap;
	Relation	index;			/* open, with a lock; NULL = there is none */
	Oid			from_type;		/* of the column that it leads from, no domain */
	RegProcedure equals;		/* tells that two of such are equal, as strategy says */
	StrategyNumber strategy;
	int			nprefix;		/* columns before that of the end, ... */
	ScanKeyData prefix[EMOGI_WALK_MAX_PREFIX];	/* [nprefix] ... which are equal to constants of conditions, in memory of the call */
	AttrNumber	to;				/* the other end's column, in the heap */
	Oid			to_type;
} EmogiSearchIndex;

/* The indexes of the heaps of a Source. */
typedef struct EmogiSearchIndexes
{
	const EmogiSource *source;	/* whose conditions, if it has any, say which rows are edges */
	int			nleaves;
	EmogiSearchIndex *by_src;		/* [nleaves], each from src to dst; NULL = not all heaps have
									 * one */
	EmogiSearchIndex *by_dst;		/* [nleaves], each from dst to src; likewise */
} EmogiSearchIndexes;

extern bool emogi_index_search_supports(const EmogiSource *source);
extern bool emogi_index_search_open(const EmogiSource *source, List *heaps,
									EmogiDirection direction, EmogiSearchIndexes *indexes);
extern void emogi_index_search_close(EmogiSearchIndexes *indexes);
extern void emogi_index_search_name(const EmogiSearchIndexes *indexes, EmogiDirection direction,
									char *names);

/* ---- index_search_bfs.c ---- */

extern bool emogi_index_search_run(const EmogiSearchIndexes *indexes, EmogiIndexSearch *walk);

#endif							/* EMOGI_INDEX_SEARCH_H */
