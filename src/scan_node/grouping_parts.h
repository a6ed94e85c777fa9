/*
 * grouping_parts.h: what the files of grouping share
 */
#ifndef EMOGI_GROUPING_PARTS_H
#define EMOGI_GROUPING_PARTS_H

#include "scan_node/grouping.h"

/* Counts of a slot; their sum is the number of its rows */
#define EMOGI_COUNT_LANES 4

/* State of the computation */
typedef struct EmogiFolding
{
	const EmogiResultColumn *columns;
	const EmogiGraph *graph;
	const EmogiResult *result;
	const EmogiGroups *wanted;
	const EmogiRanges *ranges;
	int64		min;			/* minimum of the grouping column */
	uint64		nvalues;		/* number of values from there to the maximum */
	uint32	  **pieces;			/* [npieces] of [PIECE_VALUES]: slots of groups, 0 = none yet */
	uint64		npieces;
	uint64		nslots;			/* slots in use, including slot 0 */
	uint64		room;
	uint64	   *counts;			/* [room * EMOGI_COUNT_LANES] */
	EmogiGrouped *values;		/* [room * nfolds] */

	bool		is_only_column; /* the grouping column alone tells which rows are selected */
	int			nblocks_left;	/* blocks until single values are counted again */

	/* the current block */
	uint64		first;
	uint32		count;
	uint8	   *mask;			/* [room for a block, in whole vectors] */
	uint32	   *slots;			/* likewise */
} EmogiFolding;

/* grouping_fold.c */
extern void emogi_grouping_fold(EmogiFolding *folding, int n);

#endif							/* EMOGI_GROUPING_PARTS_H */
