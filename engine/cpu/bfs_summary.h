/*
 * bfs_summary.h: aggregates of a search's rows (contract/summary.h), computed from the number of
 * vertices on each level as it is made.
 */
#ifndef EMOGI_CPU_BFS_SUMMARY_H
#define EMOGI_CPU_BFS_SUMMARY_H

#include "contract/engine.h"

/* A summary under construction. */
typedef struct EmogiBfsSummary
{
	const EmogiSummary *wanted; /* NULL = the levels of all vertices are wanted */
	uint64_t	ngroups;
	bool		is_full;		/* more groups than room: there is no summary */
} EmogiBfsSummary;

/* Begin the summary that a query asks for, if its levels suffice. */
extern void emogi_bfs_summary_begin(EmogiBfsSummary *summary, const EmogiQuery *query);

/* Add a level that has count > 0 vertices; each level once, in ascending order. */
extern void emogi_bfs_summary_add(EmogiBfsSummary *summary, int32_t level, uint64_t count);

/* Publish the summary in the result, unless it is full. */
extern void emogi_bfs_summary_end(const EmogiBfsSummary *summary, EmogiResult *result);

#endif							/* EMOGI_CPU_BFS_SUMMARY_H */
