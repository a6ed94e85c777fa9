/*
 * grouping_fold.c: fold the values of a block's rows into those of their groups
 */
#include "postgres.h"

#include "utils/float.h"

#include "scan_node/grouping_parts.h"

/* Fold an integer value into a group's value. */
static inline void
fold_integer(EmogiGrouped *folded, EmogiFoldKind kind, int64 value)
{
	if (kind == EMOGI_FOLD_SUM)
		folded->integer += value;
	else if (kind == EMOGI_FOLD_MIN ? value < folded->integer : value > folded->integer)
		folded->integer = value;
}

/*
 * Get the integer value of a vertex for a fold. For vertex columns, this is the key for a sum,
 * otherwise the vertex number.
 */
static inline int64
integer_value(const EmogiFolding *folding, const EmogiGrouping *fold, uint64 v)
{
	uint32		number;

	if (fold->place > 0 && folding->columns[fold->place - 1].type == EMOGI_INT32)
		return folding->result->columns[fold->place - 1].int32[v];
	if (fold->place > 0 && folding->columns[fold->place - 1].type == EMOGI_INT64)
		return folding->result->columns[fold->place - 1].int64[v];
	number = fold->place == 0 ? (uint32) v : folding->result->columns[fold->place - 1].vertex[v];
	if (fold->kind != EMOGI_FOLD_SUM)
		return number;
	return folding->graph->ids != NULL ? folding->graph->ids[number] : (int64) number;
}

/* Fold the integers of a block. */
static void
fold_integers(EmogiFolding *folding, int n)
{
	const EmogiGrouping *fold = &folding->wanted->folds[n];
	EmogiGrouped *values = folding->values + n;
	const int	nfolds = folding->wanted->nfolds;

	for (uint32 i = 0; i < folding->count; i++)
		if (folding->mask[i])
			fold_integer(&values[(uint64) folding->slots[i] * nfolds], fold->kind,
						 integer_value(folding, fold, folding->first + i));
}

/* Get the sum, minimum or maximum of the values selected by the mask. */
static EMOGI_VECTORS int64
fold_marked(EmogiFoldKind kind, const int32 *values, const uint8 *mask, uint32 count)
{
	int64		sum = 0;
	int32		min = PG_INT32_MAX;
	int32		max = PG_INT32_MIN;

	for (uint32 i = 0; kind == EMOGI_FOLD_SUM && i < count; i++)
		sum += values[i] & -(int32) mask[i];
	for (uint32 i = 0; kind == EMOGI_FOLD_MIN && i < count; i++)
	{
		const int32 marked = -(int32) mask[i];
		const int32 value = (values[i] & marked) | (PG_INT32_MAX & ~marked);

		min = value < min ? value : min;
	}
	for (uint32 i = 0; kind == EMOGI_FOLD_MAX && i < count; i++)
	{
		const int32 marked = -(int32) mask[i];
		const int32 value = (values[i] & marked) | (PG_INT32_MIN & ~marked);

		max = value > max ? value : max;
	}
	return kind == EMOGI_FOLD_SUM ? sum : kind == EMOGI_FOLD_MIN ? min : max;
}

/* Fold the int32 values of a block if all rows are in one group. */
static void
fold_int32(EmogiFolding *folding, int n)
{
	const EmogiGrouping *fold = &folding->wanted->folds[n];
	const int32 *values = folding->result->columns[fold->place - 1].int32 + folding->first;

	fold_integer(&folding->values[folding->wanted->nfolds + n], fold->kind,
				 fold_marked(fold->kind, values, folding->mask, folding->count));
}

/*
 * Fold the floats of a block. An infinite sum of finite numbers is an error, as in PostgreSQL.
 * Raises 22003.
 */
static void
fold_floats(EmogiFolding *folding, int n)
{
	const EmogiGrouping *fold = &folding->wanted->folds[n];
	const double *values = folding->result->columns[fold->place - 1].float64 + folding->first;
	const int	nfolds = folding->wanted->nfolds;

	for (uint32 i = 0; i < folding->count; i++)
	{
		double	   *folded = &folding->values[(uint64) folding->slots[i] * nfolds + n].number;

		if (!folding->mask[i])
			continue;
		if (fold->kind == EMOGI_FOLD_MIN)
			*folded = Min(*folded, values[i]);
		else if (fold->kind == EMOGI_FOLD_MAX)
			*folded = Max(*folded, values[i]);
		else
		{
			const double sum = *folded + values[i];

			if (unlikely(isinf(sum)) && !isinf(*folded) && !isinf(values[i]))
				float_overflow_error();
			*folded = sum;
		}
	}
}

/* Fold the values of a block whose mask and slots are set, by fold n. Raises 22003. */
void
emogi_grouping_fold(EmogiFolding *folding, int n)
{
	const int	place = folding->wanted->folds[n].place;

	if (emogi_grouping_is_float(folding->columns, place))
		fold_floats(folding, n);
	else if (folding->wanted->place == 0 && place > 0 &&
			 folding->columns[place - 1].type == EMOGI_INT32)
		fold_int32(folding, n);
	else
		fold_integers(folding, n);
}
