/*
 * fold.h: groups of rows by a column, and what their values come to (fold.c).
 */
#ifndef EMOGI_FOLD_H
#define EMOGI_FOLD_H

#include "scan_node/ranges.h"

typedef struct EmogiFold
{
	EmogiFoldKind kind;			/* sums of integers and keys are exact, of floats in ascending order of the vertices */
	int			place;			/* of the column: 0 = vertex, 1 .. = the others */
} EmogiFold;

/* What the values of a group come to. Of a column of vertices, and of `vertex`: least and most are vertex numbers, a sum is of keys. */
typedef union EmogiFolded
{
	int128		integer;
	double		number;
} EmogiFolded;

/* All in one memory context. */
typedef struct EmogiGroups
{
	/* what is wanted: the caller's */
	int			place;			/* of the column of groups, 1 .. , int32 or vertices; 0 = all rows are one group */
	int			nfolds;
	const EmogiFold *folds;		/* [nfolds] */

	/* what comes of it */
	uint64		ngroups;		/* without groups 1, be there rows or not */
	int64	   *labels;			/* [ngroups], values of the column, ascending */
	uint64	   *counts;			/* [ngroups], rows */
	EmogiFolded *values;		/* [ngroups * nfolds]; without rows of no meaning */
} EmogiGroups;

extern bool emogi_fold_is_float(const EmogiResultColumn *columns, int place);
extern void emogi_fold_rows(const EmogiResultColumn *columns, const EmogiGraph *graph, const EmogiResult *result, const EmogiRanges *ranges,
							const uint32 *wanted, uint64 nwanted, EmogiGroups *groups);

#endif							/* EMOGI_FOLD_H */
