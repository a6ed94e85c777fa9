/*
 * edge_match.c: finds among rows those that lead along given steps: of each step the name of the cheapest row, of equals that which stands first. Rows come as
 * (from int8, to int8, weight float8, reverse float8, name), in any order and more than are needed, as an index gives them by where they begin.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "lib/qunique.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "utils/array.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "function/edge_match.h"

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

/* A match under way, which the rows of a portal are sent to. */
typedef struct Match
{
	DestReceiver receiver;
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
weight_of(const TupleTableSlot *slot, int column)
{
	return slot->tts_isnull[column] ? (double) INFINITY : DatumGetFloat8(slot->tts_values[column]);
}

/* Offer a row to the steps that it may lead along. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *receiver)
{
	Match	   *match = (Match *) receiver;
	const EmogiEdgeMatch *wanted = match->wanted;
	NullableDatum name;
	double		weight;
	double		reverse;
	int64		src;
	int64		dst;

	slot_getallattrs(slot);
	if (slot->tts_isnull[0] || slot->tts_isnull[1])
		return true;
	src = DatumGetInt64(slot->tts_values[0]);
	dst = DatumGetInt64(slot->tts_values[1]);
	weight = weight_of(slot, 2);
	reverse = weight_of(slot, 3);
	name = (NullableDatum) {slot->tts_values[4], slot->tts_isnull[4]};
	if (!wanted->has_reverse || (!slot->tts_isnull[2] && weight >= 0))
	{
		if (wanted->direction != EMOGI_IN)
			offer(match, src, dst, weight, name);
		if (wanted->direction != EMOGI_OUT)
			offer(match, dst, src, weight, name);
	}
	if (wanted->has_reverse && !slot->tts_isnull[3] && reverse >= 0)
	{
		if (wanted->direction != EMOGI_IN)
			offer(match, dst, src, reverse, name);
		if (wanted->direction != EMOGI_OUT)
			offer(match, src, dst, reverse, name);
	}
	return true;
}

static void
begin_rows(DestReceiver *receiver, int operation, TupleDesc desc)
{
}

static void
end_rows(DestReceiver *receiver)
{
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

static int
compare_ends(const void *a, const void *b)
{
	const int64 x = DatumGetInt64(*(const Datum *) a);
	const int64 y = DatumGetInt64(*(const Datum *) b);

	return (x > y) - (x < y);
}

/* Get an array of the ends at which a row that leads along a step may begin: ascending and distinct, as an index wants them. */
Datum
emogi_edge_match_ends(const EmogiEdgeMatch *wanted)
{
	const bool	both = wanted->has_reverse || wanted->direction == EMOGI_BOTH;
	Datum	   *ends = palloc_extended(2 * wanted->count * sizeof *ends, MCXT_ALLOC_HUGE);
	uint64		count = 0;

	for (uint64 i = 0; i < wanted->count; i++)
	{
		if (both || wanted->direction == EMOGI_OUT)
			ends[count++] = wanted->from[i];
		if (both || wanted->direction == EMOGI_IN)
			ends[count++] = wanted->to[i];
	}
	qsort(ends, count, sizeof *ends, compare_ends);
	count = qunique(ends, count, sizeof *ends, compare_ends);
	return PointerGetDatum(construct_array(ends, (int) count, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
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
	Match		match = {
		.receiver = {.receiveSlot = receive_row,.rStartup = begin_rows,.rShutdown = end_rows,.rDestroy = end_rows,.mydest = DestNone},
		.wanted = wanted,
		.type = lookup_type_cache(wanted->type, TYPECACHE_CMP_PROC_FINFO),
		.context = context
	};
	const uint64 ndistinct = enter_steps(&match);
	Portal		portal = SPI_cursor_open(NULL, plan, values, NULL, true);

	(void) PortalRunFetch(portal, FETCH_FORWARD, FETCH_ALL, &match.receiver);
	SPI_cursor_close(portal);
	if (match.nfound == ndistinct && ndistinct < wanted->count)
		copy_names(&match);
	steps_destroy(match.steps);
	return wanted->count - (ndistinct - match.nfound);
}
