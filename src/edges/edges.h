/*
 * edges.h: reading the edges of a source into the arena.
 *
 * heap_scan.c reads all pages of tables in parallel, and page_rescan.c reads some of them. Both use
 * pages.c, which calls visibility.c to find the visible tuples, row_filter.c to evaluate the
 * conditions of a query, and pages_decode.c. Relations other than plain heaps are read by the
 * executor: sink_query.c makes the query, sink.c receives the rows, sink_errors.c reports errors of
 * the query. All of them put edges into the chunks of the call's slot (sink.h); sink_keys.c
 * converts keys that are not integers.
 */
#ifndef EMOGI_EDGES_H
#define EMOGI_EDGES_H

#include "call/call.h"
#include "source/source.h"
#include "analysis/analysis.h"

struct EmogiPageScan;				/* pages.h */
struct EmogiPageScans;
struct EmogiTupleLayout;

/* ---- sink_query.c: queries to edges; sink.h declares the functions that fill a sink ---- */

extern EmogiKeyType emogi_sink_check_query(const EmogiSource *source);
extern void emogi_sink_query(EmogiCall *call, const EmogiSource *source, EmogiWeights weights,
							 bool secure_hash);
extern void emogi_sink_analyzed_query(EmogiCall *call, EmogiQueryAnalysis *analysis,
									  EmogiWeights weights, bool secure_hash);

/* ---- sink_keys.c ---- */

extern void emogi_sink_begin(EmogiCall *call, const EmogiKeyType *keys, EmogiWeights weights,
							 int dictionary, bool secure_hash);
extern int64 emogi_sink_add_key(EmogiSlot *slot, int index, EmogiKeyCoder *coder,
								EmogiKeyBytes key);

/* ---- heap_scan.c: tables to edges ---- */

extern bool emogi_heap_scan_list(const EmogiSource *source, List *relids, List **leaves);
extern bool emogi_heap_scan_lock_heaps(const EmogiSource *source, List **leaves);
extern void emogi_heap_scan_add(EmogiCall *call, const EmogiSource *source, List *leaves,
								const struct EmogiPageScans *page_scans);
extern void emogi_heap_scan_tables(EmogiCall *call, const EmogiSource *source, List *leaves,
								   EmogiWeights weights, bool secure_hash,
								   const struct EmogiPageScans *page_scans);
extern int	emogi_heap_scan_workers(uint64 pages);
extern void emogi_heap_scan_columns(struct EmogiTupleLayout *layout, Relation leaf,
									const EmogiSource *source);

/* ---- page_rescan.c: some pages of tables to edges ---- */

/* The pages of a leaf to scan again; the arrays are in the arena. */
typedef struct EmogiPageRescan
{
	Oid			relid;
	uint64		count;
	BlockNumber *blocks;		/* [count], ascending */
	struct EmogiPageScan *scans;	/* [count], initially zero */
} EmogiPageRescan;

extern void emogi_page_rescan_run(EmogiCall *call, const EmogiSource *source,
								  const EmogiPageRescan *leaves, int nleaves, EmogiWeights weights,
								  int dictionary);

#endif							/* EMOGI_EDGES_H */
