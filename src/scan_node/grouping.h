/*
 * grouping.h: groups of rows by a column, and what their values come to (grouping.c).
 */
#ifndef EMOGI_GROUPING_H
#define EMOGI_GROUPING_H

#include "scan_node/ranges.h"

typedef struct EmogiGrouping
{
	EmogiFoldKind kind;			/* sums of integers and keys are exact, of floats in ascending order
								 * of the vertices */
	int			place;			/* of the column: 0 = vertex, 1 .. = the others */
} EmogiGrouping;

/*
 * What the values of a group come to. Of a column of vertices, and of `vertex`: least and most are
 * vertex numbers, a sum is of keys.
 */
typedef union EmogiGrouped
{
	int128		integer;
	double		number;
} EmogiGrouped;

/* All in one memory context. */
typedef struct EmogiGroups
{
	/* what is wanted: the caller's */
	int			place;			/* of the column of groups, 1 .. , int32 or vertices; 0 = all rows
								 * are one group */
	int			nfolds;
	const EmogiGrouping *folds;		/* [nfolds] */

	/* what comes of it */
	uint64		ngroups;		/* without groups 1, be there rows or not */
	int64	   *labels;			/* [ngroups], values of the column, ascending */
	uint64	   *counts;			/* [ngroups], rows */
	EmogiGrouped *values;		/* [ngroups * nfolds]; without rows of no meaning */
} EmogiGroups;

extern bool emogi_grouping_is_float(const EmogiResultColumn *columns, int place);
extern void emogi_grouping_rows(const EmogiResultColumn *columns, const EmogiGraph *graph,
								const EmogiResult *result, const EmogiRanges *ranges,
							const uint32 *wanted, uint64 nwanted, EmogiGroups *groups);

#endif							/* EMOGI_GROUPING_H */
