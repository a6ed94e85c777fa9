/*
 * summary.h: what may be asked of an answer instead of all of it: groups of its rows, or those that come first in an order. Plain C11 for
 * both compilers.
 *
 * A row is a vertex whose value of the first column is not `none` and whose values lie in the ranges. An engine that makes a summary need not
 * bring the answer: the CUDA engine makes it where the answer lies, the CPU's of the levels of a BFS, which it counts as it makes them. It may
 * leave it be, in one run or in all: then the columns are filled, and EmogiResult.is_summarized is false.
 */
#ifndef EMOGI_SUMMARY_H
#define EMOGI_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"

#define EMOGI_MAX_FOLDS 6

/* Values of a column, both ends included. */
typedef struct EmogiRange
{
	bool		given;
	int64_t		least;			/* of integers and vertex numbers; least > most: no value will do */
	int64_t		most;
	double		fleast;			/* of float64; likewise */
	double		fmost;
} EmogiRange;

typedef enum EmogiFoldKind
{
	EMOGI_FOLD_MIN,
	EMOGI_FOLD_MAX,
	EMOGI_FOLD_SUM
} EmogiFoldKind;

typedef enum EmogiSummaryKind
{
	EMOGI_SUMMARY_GROUPS,		/* of rows by a column, how many are in each, and what their values come to */
	EMOGI_SUMMARY_FIRST			/* rows that may be among the first in an order */
} EmogiSummaryKind;

/* A column whose values are folded. */
typedef struct EmogiSummaryFold
{
	EmogiFoldKind kind;
	int			column;			/* from 0; -1 = the vertex number. SUM: of int32 alone */
} EmogiSummaryFold;

typedef union EmogiSummaryValue
{
	int64_t		integer;
	double		number;			/* of float64 */
} EmogiSummaryValue;

typedef struct EmogiSummary
{
	/* what is wanted */
	EmogiSummaryKind kind;
	EmogiRange	ranges[EMOGI_MAX_COLUMNS];
	int			column;			/* from 0; GROUPS: int32 or vertices, -1 = all rows are one group, be there rows or not. FIRST: any */
	int			nfolds;			/* GROUPS */
	EmogiSummaryFold folds[EMOGI_MAX_FOLDS];
	bool		descends;		/* FIRST */
	uint64_t	count;			/* FIRST: rows that are wanted; > 0 */

	/* what comes of it: the caller's memory. More than there is room for: no summary is made */
	uint64_t	room;			/* groups, or vertices; > 0 */
	int64_t    *labels;			/* GROUPS: [room], values of the column, ascending */
	uint64_t   *counts;			/* GROUPS: [room], rows */
	EmogiSummaryValue *values;	/* GROUPS: [room * nfolds]; without rows of no meaning */
	uint32_t   *picked;			/* FIRST: [room], vertex numbers, ascending: all rows that may be among the first, and perhaps others.
								 * The result's columns are filled for these alone */
} EmogiSummary;

#endif							/* EMOGI_SUMMARY_H */
