/*
 * edge_filter_check.c: check that an edge filter is well-formed and fits its columns.
 */
#include "contract/edge_filter.h"

#include <stdio.h>

/* An AND or OR whose second operand may be skipped. */
typedef struct Skip
{
	uint32_t	to;				/* step */
	int			depth;			/* truths on the stack at the skip */
	EmogiFilterKind kind;		/* of that step */
} Skip;

/* Write the message of an error of a step. */
static EmogiStatus
refuse(EmogiError *error, const char *message, uint32_t step)
{
	snprintf(error->message, sizeof error->message, "invalid edge filter: %s", message);
	snprintf(error->detail, sizeof error->detail, "step %u", step);
	return EMOGI_BAD_INPUT;
}

/* Check whether values ascend; floats in PostgreSQL's order. */
static bool
is_ascending(const EmogiFilterStep *step, bool is_float)
{
	const int64_t *integers = step->values;
	const double *floats = step->values;

	for (uint64_t i = 1; i < step->nvalues; i++)
		if (is_float ? !(floats[i - 1] <= floats[i] || floats[i] != floats[i])
			: integers[i - 1] > integers[i])
			return false;
	return true;
}

/* Check the columns and values of a leaf; returns a message, NULL = none. */
static const char *
check_leaf(const EmogiFilterStep *step, const EmogiProperties *properties)
{
	const bool	compares = step->kind == EMOGI_FILTER_COMPARE ||
		step->kind == EMOGI_FILTER_COMPARE_COLUMNS;
	bool		is_float;

	if (step->kind == EMOGI_FILTER_CONSTANT)
		return (unsigned int) step->constant > EMOGI_UNKNOWN ? "unknown constant" : NULL;
	if (step->column >= properties->ncolumns ||
		(step->kind == EMOGI_FILTER_COMPARE_COLUMNS && step->other >= properties->ncolumns))
		return "no such column";
	if (compares && (unsigned int) step->comparison >= EMOGI_NCOMPARISONS)
		return "unknown comparison";
	is_float = emogi_property_is_float(properties->columns[step->column].type);
	if (is_float ? step->kind == EMOGI_FILTER_RANGE || step->kind == EMOGI_FILTER_IN_SET
		: step->kind == EMOGI_FILTER_COMPARE)
		return "the type of the column does not fit";
	if (step->kind == EMOGI_FILTER_AMONG && !is_ascending(step, is_float))
		return "values do not ascend";
	if (step->kind == EMOGI_FILTER_IN_SET &&
		(step->low > step->high ||
		 (uint64_t) step->high - (uint64_t) step->low >= EMOGI_FILTER_SPAN))
		return "invalid range of a set";
	return NULL;
}

/*
 * Check a step with `depth` truths on the stack; *pushed becomes the number of truths that it adds.
 */
static const char *
check_step(const EmogiFilterStep *step, const EmogiProperties *properties, int depth, int *pushed)
{
	*pushed = 0;
	switch (step->kind)
	{
		case EMOGI_FILTER_AND:
		case EMOGI_FILTER_OR:
			*pushed = -1;
			return depth < 2 ? "an operand is missing" : NULL;
		case EMOGI_FILTER_NOT:
		case EMOGI_FILTER_IS_TRUE:
		case EMOGI_FILTER_IS_FALSE:
		case EMOGI_FILTER_IS_UNKNOWN:
		case EMOGI_FILTER_SKIP_AND:
		case EMOGI_FILTER_SKIP_OR:
			return depth < 1 ? "an operand is missing" : NULL;
		case EMOGI_FILTER_CONSTANT:
		case EMOGI_FILTER_IS_NULL:
		case EMOGI_FILTER_RANGE:
		case EMOGI_FILTER_AMONG:
		case EMOGI_FILTER_IN_SET:
		case EMOGI_FILTER_COMPARE:
		case EMOGI_FILTER_COMPARE_COLUMNS:
			*pushed = 1;
			return depth == EMOGI_FILTER_DEPTH ? "too deep" : check_leaf(step, properties);
		default:
			return "unknown step";
	}
}

/*
 * Check that a skip ends at the AND or OR of which it follows the first operand: within its steps,
 * only what the second operand has pushed is used.
 */
static const char *
check_skips(const EmogiEdgeFilter *filter, uint32_t i, int depth, Skip *skips, int *nskips)
{
	const EmogiFilterStep *step = &filter->steps[i];
	const bool	is_binary = step->kind == EMOGI_FILTER_AND || step->kind == EMOGI_FILTER_OR;

	if (*nskips > 0 && skips[*nskips - 1].to == i)
	{
		const Skip *skip = &skips[--*nskips];

		if (step->kind != skip->kind || depth != skip->depth + 1)
			return "a skip does not end at its operator";
	}
	else if (*nskips > 0)
	{
		const int	used = is_binary ? 2 : step->kind >= EMOGI_FILTER_NOT ? 1 : 0;

		if (depth - used < skips[*nskips - 1].depth)
			return "a skipped step uses the first operand";
	}
	if (step->kind == EMOGI_FILTER_SKIP_AND || step->kind == EMOGI_FILTER_SKIP_OR)
	{
		const uint32_t end = *nskips > 0 ? skips[*nskips - 1].to : filter->nsteps;

		if (step->skipped == 0 || step->skipped >= end - i || *nskips == EMOGI_FILTER_DEPTH)
			return "a skip is too long";
		skips[(*nskips)++] = (Skip) {i + step->skipped, depth,
									 step->kind == EMOGI_FILTER_SKIP_AND ? EMOGI_FILTER_AND
									 : EMOGI_FILTER_OR};
	}
	return NULL;
}

EmogiStatus
emogi_edge_filter_check(const EmogiEdgeFilter *filter, const EmogiProperties *properties,
						EmogiError *error)
{
	Skip		skips[EMOGI_FILTER_DEPTH];
	int			nskips = 0;
	int			depth = 0;

	for (uint32_t i = 0; i < filter->nsteps; i++)
	{
		int			pushed;
		const char *message = check_step(&filter->steps[i], properties, depth, &pushed);

		if (message == NULL)
			message = check_skips(filter, i, depth, skips, &nskips);
		if (message != NULL)
			return refuse(error, message, i);
		depth += pushed;
	}
	if (depth != 1)
		return refuse(error, "it has not exactly one result", filter->nsteps);
	return EMOGI_OK;
}
