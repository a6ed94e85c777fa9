/*
 * edge_match.c: finds among rows those that lead along given steps: of each step the name of the cheapest row, of equals that which stands first. Rows come as
 * (from int8, to int8, weight float8, reverse float8, name), in any order and more than are needed, as an index gives them by where they begin.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "function/edge_match.h"

#define ROWS_AT_ONCE 1024

typedef struct StepKey
{
	int64		from;
	int64		to;
} StepKey;

/* A step, in a hash table. */
typedef struct Step
{
	StepKey		key;
	uint32		index;			/* of the first that has these ends */
	char		status;
} Step;

#define SH_PREFIX steps
#define SH_ELEMENT_TYPE Step
#define SH_KEY_TYPE StepKey
#define SH_KEY key
#define SH_HASH_KEY(table, key) hash_bytes((const unsigned char *) &(key), sizeof(StepKey))
#define SH_EQUAL(table, a, b) ((a).from == (b).from && (a).to == (b).to)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct Match
{
	const EmogiEdgeMatch *wanted;
	steps_hash *steps;
	double	   *weights;		/* [count]: of the row whose name stands there; NaN = none has come */
	uint64		nfound;
	TypeCacheEntry *type;		/* of names */
	MemoryContext context;		/* of the names */
} Match;

/* Does a name stand before another? One that is NULL comes last. */
static bool
is_before(const Match *match, NullableDatum a, NullableDatum b)
{
	if (a.isnull || b.isnull)
		return !a.isnull && b.isnull;
	return DatumGetInt32(FunctionCall2Coll(&match->type->cmp_proc_finfo, match->type->typcollation, a.value, b.value)) < 0;
}

/* Offer a step the name of a row that leads along it. */
static void
offer(Match *match, int64 from, int64 to, double weight, NullableDatum name)
{
	const Step *step = steps_lookup(match->steps, (StepKey) {from, to});
	NullableDatum *known;
	MemoryContext old;

	if (step == NULL)
		return;
	known = &match->wanted->names[step->index];
	if (isnan(match->weights[step->index]))
		match->nfound++;
	else if (weight > match->weights[step->index] || (weight == match->weights[step->index] && !is_before(match, name, *known)))
		return;
	match->weights[step->index] = weight;
	old = MemoryContextSwitchTo(match->context);
	known->isnull = name.isnull;
	if (!name.isnull)
		known->value = datumCopy(name.value, match->type->typbyval, match->type->typlen);
	MemoryContextSwitchTo(old);
}

/* Get a float8 of a row; NULL is more than any. */
static double
weight_of(HeapTuple row, int column, bool *isnull)
{
	const Datum value = SPI_getbinval(row, SPI_tuptable->tupdesc, column, isnull);

	return *isnull ? (double) INFINITY : DatumGetFloat8(value);
}

/* Offer a row to the steps that it may lead along. */
static void
offer_row(Match *match, HeapTuple row)
{
	const EmogiEdgeMatch *wanted = match->wanted;
	bool		isnull[4];
	const int64 src = DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &isnull[0]));
	const int64 dst = DatumGetInt64(SPI_getbinval(row, SPI_tuptable->tupdesc, 2, &isnull[1]));
	const double weight = weight_of(row, 3, &isnull[2]);
	const double reverse = weight_of(row, 4, &isnull[3]);
	NullableDatum name;

	if (isnull[0] || isnull[1])
		return;
	name.value = SPI_getbinval(row, SPI_tuptable->tupdesc, 5, &name.isnull);
	if (!wanted->has_reverse || (!isnull[2] && weight >= 0))
	{
		if (wanted->direction != EMOGI_IN)
			offer(match, src, dst, weight, name);
		if (wanted->direction != EMOGI_OUT)
			offer(match, dst, src, weight, name);
	}
	if (wanted->has_reverse && !isnull[3] && reverse >= 0)
	{
		if (wanted->direction != EMOGI_IN)
			offer(match, dst, src, reverse, name);
		if (wanted->direction != EMOGI_OUT)
			offer(match, src, dst, reverse, name);
	}
}

/* Put the steps into the table; get how many are distinct. */
static uint64
enter_steps(Match *match)
{
	const EmogiEdgeMatch *wanted = match->wanted;
	uint64		ndistinct = 0;

	match->steps = steps_create(CurrentMemoryContext, (uint32) wanted->count, NULL);
	match->weights = palloc_extended(wanted->count * sizeof *match->weights, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < wanted->count; i++)
	{
		bool		found;
		Step	   *step = steps_insert(match->steps, (StepKey) {DatumGetInt64(wanted->from[i]), DatumGetInt64(wanted->to[i])}, &found);

		match->weights[i] = (double) NAN;
		if (found)
			continue;
		step->index = (uint32) i;
		ndistinct++;
	}
	return ndistinct;
}

/* Have steps with the same ends as an earlier one take its name. */
static void
copy_names(Match *match)
{
	const EmogiEdgeMatch *wanted = match->wanted;

	for (uint64 i = 0; i < wanted->count; i++)
		wanted->names[i] = wanted->names[steps_lookup(match->steps, (StepKey) {DatumGetInt64(wanted->from[i]), DatumGetInt64(wanted->to[i])})->index];
}

/* Find the names of steps among the rows of a plan, inside SPI: into memory of a context. Returns how many were found. */
uint64
emogi_edge_match_find(const EmogiEdgeMatch *wanted, SPIPlanPtr plan, Datum *values, MemoryContext context)
{
	Match		match = {.wanted = wanted,.type = lookup_type_cache(wanted->type, TYPECACHE_CMP_PROC_FINFO),.context = context};
	const uint64 ndistinct = enter_steps(&match);
	Portal		portal = SPI_cursor_open(NULL, plan, values, NULL, true);

	do
	{
		SPI_cursor_fetch(portal, true, ROWS_AT_ONCE);
		for (uint64 i = 0; i < SPI_processed; i++)
			offer_row(&match, SPI_tuptable->vals[i]);
		SPI_freetuptable(SPI_tuptable);
		CHECK_FOR_INTERRUPTS();
	} while (SPI_processed > 0);
	SPI_cursor_close(portal);
	if (match.nfound == ndistinct && ndistinct < wanted->count)
		copy_names(&match);
	steps_destroy(match.steps);
	return wanted->count - (ndistinct - match.nfound);
}
