/*
 * edges.h: from a Source to edges in the Region.
 *
 * heap_scan.c has the pages of tables read in parallel, by pages.c; what is no plain heap goes through the executor, and sink.c
 * takes its rows. Both put edges into the chunks of the call's slot (sink.h).
 */
#ifndef EMOGI_EDGES_H
#define EMOGI_EDGES_H

#include "call/call.h"
#include "source/source.h"

/* ---- sink.c: queries to edges; sink.h has what fills a sink ---- */

extern void emogi_sink_check_query(const char *query, bool wants_weight);
extern void emogi_sink_query(EmogiCall *call, const EmogiSource *source, EmogiWeights weights);

/* ---- heap_scan.c: tables to edges ---- */

extern bool emogi_heap_scan_list(const EmogiSource *source, List *relids, List **leaves);
extern bool emogi_heap_scan_possible(const EmogiSource *source, List **leaves);
extern void emogi_heap_scan_tables(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights);

#endif							/* EMOGI_EDGES_H */
