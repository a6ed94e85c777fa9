/*
 * edges.h: from a Source to edges in the Region.
 *
 * heap_scan.c has all pages of tables read in parallel, page_rescan.c some of them, both by pages.c, of whose tuples visibility.c says which count and row_filter.c of which the conditions of a query are true; what is no plain heap goes through
 * the executor, and sink.c takes its rows. All put edges into the chunks of the call's slot (sink.h).
 */
#ifndef EMOGI_EDGES_H
#define EMOGI_EDGES_H

#include "call/call.h"
#include "source/source.h"
#include "analysis/analysis.h"

struct EmogiPageScan;				/* pages.h */
struct EmogiPageScans;
struct EmogiTupleLayout;

/* ---- sink.c: queries to edges; sink.h has what fills a sink ---- */

extern EmogiKeyType emogi_sink_check_query(const char *query, bool wants_weight);
extern void emogi_sink_query(EmogiCall *call, const EmogiSource *source, EmogiWeights weights, bool careful);
extern void emogi_sink_analyzed_query(EmogiCall *call, EmogiQueryAnalysis *tree, EmogiWeights weights, bool careful);

/* ---- sink_keys.c ---- */

extern void emogi_sink_begin(EmogiCall *call, const EmogiKeyType *keys, EmogiWeights weights, int dictionary, bool careful);

/* ---- heap_scan.c: tables to edges ---- */

extern bool emogi_heap_scan_list(const EmogiSource *source, List *relids, List **leaves);
extern bool emogi_heap_scan_possible(const EmogiSource *source, List **leaves);
extern void emogi_heap_scan_add(EmogiCall *call, const EmogiSource *source, List *leaves, const struct EmogiPageScans *notes);
extern void emogi_heap_scan_tables(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights,
								   bool careful, const struct EmogiPageScans *notes);
extern int	emogi_heap_scan_workers(uint64 pages);
extern void emogi_heap_scan_columns(struct EmogiTupleLayout *layout, Relation leaf, const EmogiSource *source);

/* ---- page_rescan.c: some pages of tables to edges ---- */

/* The pages of a leaf that are looked at; the arrays are in the Region. */
typedef struct EmogiPageRescan
{
	Oid			relid;
	uint64		count;
	BlockNumber *blocks;		/* [count], ascending */
	struct EmogiPageScan *looks;	/* [count], content zero */
} EmogiPageRescan;

extern void emogi_page_rescan_take(EmogiCall *call, const EmogiSource *source, const EmogiPageRescan *leaves, int nleaves, EmogiWeights weights,
							 int dictionary, bool brief);

#endif							/* EMOGI_EDGES_H */
