/*
 * summary.h: requests for aggregates of a result, or for its first rows in an order, instead of the
 * whole result. Plain C11 for both compilers.
 *
 * A row is a vertex whose value of the first column is not `none` and whose values are within the
 * ranges. An engine that computes a summary need not return the result columns: the CUDA engine
 * computes it on the device, and the CPU engine counts the levels of a BFS during the search. An
 * engine may ignore any request: the columns are then filled, and EmogiResult.is_summarized is
 * false.
 */
#ifndef EMOGI_SUMMARY_H
#define EMOGI_SUMMARY_H

#include <stdbool.h>
#include <stdint.h>

#include "algorithms.h"

#define EMOGI_MAX_FOLDS 6

/* A range of values of a column, both bounds included. */
typedef struct EmogiRange
{
	bool		given;
	int64_t		min;			/* integers and vertex numbers; min > max: empty range */
	int64_t		max;
	double		min_float;		/* float64; likewise */
	double		max_float;
} EmogiRange;

typedef enum EmogiFoldKind
{
	EMOGI_FOLD_MIN,
	EMOGI_FOLD_MAX,
	EMOGI_FOLD_SUM
} EmogiFoldKind;

typedef enum EmogiSummaryKind
{
	EMOGI_SUMMARY_GROUPS,		/* rows grouped by a column, with counts and aggregates */
	EMOGI_SUMMARY_FIRST			/* rows that may be among the first in an order */
} EmogiSummaryKind;

/* An aggregate of a column. */
typedef struct EmogiSummaryFold
{
	EmogiFoldKind kind;
	int			column;			/* from 0; -1 = the vertex number. SUM: only int32 */
} EmogiSummaryFold;

typedef union EmogiSummaryValue
{
	int64_t		integer;
	double		number;			/* for float64 */
} EmogiSummaryValue;

typedef struct EmogiSummary
{
	/* request */
	EmogiSummaryKind kind;
	EmogiRange	ranges[EMOGI_MAX_COLUMNS];
	int			column;			/* from 0; GROUPS: int32 or vertices, -1 = all rows are one group,
								 * even if there are none. FIRST: any */
	int			nfolds;			/* GROUPS */
	EmogiSummaryFold folds[EMOGI_MAX_FOLDS];
	bool		descends;		/* FIRST */
	uint64_t	count;			/* FIRST: number of rows requested; > 0 */

	/* response, in memory of the caller; if it does not fit, no summary is made */
	uint64_t	room;			/* maximum number of groups or vertices; > 0 */
	int64_t    *labels;			/* GROUPS: [room], values of the column, ascending */
	uint64_t   *counts;			/* GROUPS: [room], number of rows */
	EmogiSummaryValue *values;	/* GROUPS: [room * nfolds]; undefined for a group without rows */
	uint32_t   *picked;			/* FIRST: [room], vertex numbers, ascending: all rows that may be
								 * among the first, and possibly others. The result columns are
								 * filled for these only */
} EmogiSummary;

#endif							/* EMOGI_SUMMARY_H */
