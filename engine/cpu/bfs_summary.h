/*
 * bfs_summary.h: groups of a search's rows (contract/summary.h), made of how many vertices each
 * level has as it is made.
 */
#ifndef EMOGI_CPU_BFS_SUMMARY_H
#define EMOGI_CPU_BFS_SUMMARY_H

#include "contract/engine.h"

/* A summary in the making. */
typedef struct EmogiBfsSummary
{
	const EmogiSummary *wanted; /* NULL = the levels are wanted, vertex by vertex */
	uint64_t	ngroups;
	bool		is_full;		/* there are more groups than room: no summary comes of it */
} EmogiBfsSummary;

/* Begin the summary that a query wants, if its levels alone tell it. */
extern void emogi_bfs_summary_begin(EmogiBfsSummary *summary, const EmogiQuery *query);

/* Take a level into account, each once, ascending, and how many vertices are on it: > 0. */
extern void emogi_bfs_summary_add(EmogiBfsSummary *summary, int32_t level, uint64_t count);

/* Tell of what came of it, unless it is full. */
extern void emogi_bfs_summary_end(const EmogiBfsSummary *summary, EmogiResult *result);

#endif							/* EMOGI_CPU_BFS_SUMMARY_H */
