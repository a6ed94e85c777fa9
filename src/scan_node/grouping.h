/*
 * grouping.h: grouping of rows by a column, and aggregation of their values (grouping.c)
 */
#ifndef EMOGI_GROUPING_H
#define EMOGI_GROUPING_H

#include "scan_node/ranges.h"

typedef struct EmogiGrouping
{
	EmogiFoldKind kind;			/* sums of integers and keys are exact; floats are summed in
								 * ascending order of vertices */
	int			place;			/* of the column: 0 = vertex, 1 .. = the others */
} EmogiGrouping;

/*
 * An aggregate of a group. For columns of vertices, including `vertex`, min and max are vertex
 * numbers, and a sum is over keys.
 */
typedef union EmogiGrouped
{
	int128		integer;
	double		number;
} EmogiGrouped;

/* Everything is in one memory context. */
typedef struct EmogiGroups
{
	/* input, set by the caller */
	int			place;			/* of the grouping column, 1 .. , int32 or vertices; 0 = all rows
								 * are one group */
	int			nfolds;
	const EmogiGrouping *folds;		/* [nfolds] */

	/* output */
	uint64		ngroups;		/* 1 without grouping, even if there are no rows */
	int64	   *labels;			/* [ngroups], values of the grouping column, ascending */
	uint64	   *counts;			/* [ngroups], rows */
	EmogiGrouped *values;		/* [ngroups * nfolds]; undefined for a group without rows */
} EmogiGroups;

extern bool emogi_grouping_is_float(const EmogiResultColumn *columns, int place);
extern void emogi_grouping_rows(const EmogiResultColumn *columns, const EmogiGraph *graph,
								const EmogiResult *result, const EmogiRanges *ranges,
							const uint32 *wanted, uint64 nwanted, EmogiGroups *groups);

#endif							/* EMOGI_GROUPING_H */
