/*
 * edge_filter.h: boolean expressions over the property columns of a graph
 *
 * A filter is a program in postfix order. Each leaf pushes the truth of a predicate for every
 * entry: true, false or NULL, as in SQL. NOT, IS_TRUE, IS_FALSE and IS_UNKNOWN replace the topmost
 * truth, and AND and OR the two topmost ones. An entry passes if the whole expression is true.
 * Floats compare as in PostgreSQL: NaN is the largest value and equals itself. No step can raise an
 * error.
 *
 * SKIP_AND and SKIP_OR stand between the operands of an AND or OR. If the first operand decides the
 * result for all entries of a block, the steps of the second are skipped.
 */
#ifndef EMOGI_EDGE_FILTER_H
#define EMOGI_EDGE_FILTER_H

#include "contract/properties.h"

#define EMOGI_FILTER_DEPTH 24	/* maximum number of truths on the stack */
#define EMOGI_FILTER_SPAN 1048576	/* maximum range of a set of integers */

typedef enum EmogiFilterKind
{
	EMOGI_FILTER_CONSTANT = 0,
	EMOGI_FILTER_IS_NULL,		/* of a column; never NULL */
	EMOGI_FILTER_RANGE,			/* integer column BETWEEN low AND high */
	EMOGI_FILTER_AMONG,			/* column = ANY (values) */
	EMOGI_FILTER_IN_SET,		/* integer column among the members of a set */
	EMOGI_FILTER_COMPARE,		/* float column with number */
	EMOGI_FILTER_COMPARE_COLUMNS,	/* column with other: as integers if both are, otherwise as
									 * doubles */
	EMOGI_FILTER_NOT,
	EMOGI_FILTER_IS_TRUE,
	EMOGI_FILTER_IS_FALSE,
	EMOGI_FILTER_IS_UNKNOWN,
	EMOGI_FILTER_AND,
	EMOGI_FILTER_OR,
	EMOGI_FILTER_SKIP_AND,		/* if the topmost truth is false, go on behind the AND */
	EMOGI_FILTER_SKIP_OR,		/* if it is true, go on behind the OR */
	EMOGI_NFILTER_KINDS
} EmogiFilterKind;

typedef enum EmogiComparison
{
	EMOGI_LESS = 0,
	EMOGI_LESS_OR_EQUAL,
	EMOGI_EQUAL,
	EMOGI_GREATER_OR_EQUAL,
	EMOGI_GREATER,
	EMOGI_NOT_EQUAL,
	EMOGI_NCOMPARISONS
} EmogiComparison;

typedef enum EmogiTruth
{
	EMOGI_FALSE = 0,
	EMOGI_TRUE,
	EMOGI_UNKNOWN				/* NULL */
} EmogiTruth;

typedef struct EmogiFilterStep
{
	EmogiFilterKind kind;
	EmogiTruth	constant;		/* CONSTANT */
	EmogiComparison comparison; /* COMPARE, COMPARE_COLUMNS */
	uint32_t	column;			/* leaves but CONSTANT */
	uint32_t	other;			/* COMPARE_COLUMNS */
	uint32_t	skipped;		/* SKIP_AND, SKIP_OR: number of steps up to the AND or OR */
	bool		has_null;		/* AMONG, IN_SET: NULL is among the values, so no result is false,
								 * except that nothing is among no values */
	int64_t		low;			/* RANGE, IN_SET */
	int64_t		high;
	double		number;			/* COMPARE */
	uint64_t	nvalues;		/* AMONG */
	const void *values;			/* AMONG: [nvalues], ascending, NaN last: int64_t, or double for a
								 * float column. IN_SET: bitmap [high - low + 1], 1 = a member */
} EmogiFilterStep;

typedef struct EmogiEdgeFilter
{
	uint32_t	nsteps;
	const EmogiFilterStep *steps;	/* [nsteps] */
} EmogiEdgeFilter;

/* Check that a program is well-formed, and fits the columns: BAD_INPUT if not. */
extern EmogiStatus emogi_edge_filter_check(const EmogiEdgeFilter *filter,
										   const EmogiProperties *properties, EmogiError *error);

/*
 * Evaluate a checked program in the calling thread: passing[nwords] are the words of the bitmap of
 * entries from word `first` on; bits beyond the last entry are 0.
 */
extern void emogi_edge_filter_words(const EmogiEdgeFilter *filter,
									const EmogiProperties *properties, uint64_t first,
									uint64_t nwords, uint64_t *passing);

/* Check a program and evaluate it on all entries: passing is a bitmap of properties->nedges. */
extern EmogiStatus emogi_edge_filter_run(EmogiPool *pool, const EmogiEdgeFilter *filter,
										 const EmogiProperties *properties, uint64_t *passing,
										 EmogiControl *control, EmogiError *error);

#endif							/* EMOGI_EDGE_FILTER_H */
