/*
 * edge_match.c: search for the rows that correspond to given steps
 *
 * For each step, the name of the cheapest row is found; among equally cheap rows, the name that is
 * first in the order of its type. Of parallel edges that are all wanted, each gets its own row's
 * name: their rows are collected, and sorted in the end. Rows are (from, to, weight float8, reverse float8, name, and the
 * name as it is returned if that has another type), in any order, and more than are needed, because
 * an index returns them by their start. Ends are compared as in the graph, by their ids, whatever
 * their text is.
 */
#include "postgres.h"

#include <math.h>

#include "common/hashfn.h"
#include "executor/spi.h"
#include "executor/tuptable.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "tcop/dest.h"
#include "tcop/pquery.h"
#include "utils/datum.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "contract/sort_order.h"
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
	uint32		index;			/* of the first step with these ends */
	uint32		nparallel;		/* steps with these ends, if they are parallel edges */
	uint32		nfound;			/* rows of them found */
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

/* State of a search, as the destination of a portal's rows. */
typedef struct Match
{
	DestReceiver receiver;
	const EmogiEdgeMatch *wanted;
	steps_hash *steps;
	/* [count]: of the best row so far; NaN = none */
	double	   *weights;
	bool		has_more;		/* there are more rows than parallel edges */
	NullableDatum *ordered;		/* [count]: names in the type that orders them; the same array as
								 * wanted->names if that is the returned type */
	uint64		nfound;
	TypeCacheEntry *type;		/* type that orders names, */
	TypeCacheEntry *given_type; /* and type in which they are returned */
	MemoryContext context;		/* of the names */
	MemoryContext row_context;	/* for temporary values of the current row */
} Match;

/* The name in a row. */
typedef struct EdgeName
{
	NullableDatum ordered;
	NullableDatum given;
} EdgeName;

/* Is a name ordered before another? NULL comes last. */
static bool
is_before(const Match *match, NullableDatum a, NullableDatum b)
{
	if (a.isnull || b.isnull)
		return !a.isnull && b.isnull;
	return DatumGetInt32(FunctionCall2Coll(&match->type->cmp_proc_finfo, match->wanted->collation,
										   a.value, b.value)) < 0;
}

/* Copy a name into the result's memory context. */
static NullableDatum
copy_name(const Match *match, NullableDatum name, const TypeCacheEntry *type)
{
	MemoryContext old;

	if (name.isnull)
		return (NullableDatum) {.isnull = true};
	old = MemoryContextSwitchTo(match->context);
	name.value = datumCopy(name.value, type->typbyval, type->typlen);
	MemoryContextSwitchTo(old);
	return name;
}

/* Record the weight and name of a row for step i. */
static void
record(Match *match, uint64 i, double weight, const EdgeName *name)
{
	match->weights[i] = weight;
	match->ordered[i] = copy_name(match, name->ordered, match->type);
	if (match->ordered != match->wanted->names)
		match->wanted->names[i] = copy_name(match, name->given, match->given_type);
}

/* If a row matches a step, record its name unless a better one is known. */
static void
match_step(Match *match, int64 from, int64 to, double weight, const EdgeName *name)
{
	Step	   *step = steps_lookup(match->steps, (StepKey) {from, to});

	if (step == NULL)
		return;
	if (match->wanted->are_parallel)
	{
		if (step->nfound == step->nparallel)
		{
			match->has_more = true;
			return;
		}
		match->nfound++;
		record(match, step->index + step->nfound++, weight, name);
		return;
	}
	if (isnan(match->weights[step->index]))
		match->nfound++;
	else if (weight > match->weights[step->index] ||
			 (weight == match->weights[step->index] &&
			  !is_before(match, name->ordered, match->ordered[step->index])))
		return;
	record(match, step->index, weight, name);
}

/* Get the graph's id of the key in a column; return false if it has none. */
static bool
find_end(const Match *match, const TupleTableSlot *slot, int column, int64 *id)
{
	EmogiKeyIO  *form = match->wanted->form;

	if (slot->tts_isnull[column])
		return false;
	*id = emogi_key_io_find(form, match->wanted->graph, slot->tts_values[column]);
	return form->coder.key.class == EMOGI_KEY_INTEGER || *id != EMOGI_NO_CODE;
}

/* Get a float8 of a row; NULL counts as infinite. */
static double
weight_of(const TupleTableSlot *slot, int column)
{
	return slot->tts_isnull[column] ? (double) INFINITY : DatumGetFloat8(slot->tts_values[column]);
}

/* Match a row with the steps in both directions. */
static void
match_row(Match *match, const TupleTableSlot *slot)
{
	const EmogiEdgeMatch *wanted = match->wanted;
	const double weight = weight_of(slot, 2);
	const double reverse = weight_of(slot, 3);
	EdgeName	name;
	int64		src;
	int64		dst;

	if (!find_end(match, slot, 0, &src) || !find_end(match, slot, 1, &dst))
		return;
	name.ordered = name.given = (NullableDatum) {slot->tts_values[4], slot->tts_isnull[4]};
	if (match->ordered != wanted->names)
		name.given = (NullableDatum) {slot->tts_values[5], slot->tts_isnull[5]};
	if (!wanted->has_reverse || (!slot->tts_isnull[2] && weight >= 0))
	{
		if (wanted->direction != EMOGI_IN)
			match_step(match, src, dst, weight, &name);
		if (wanted->direction != EMOGI_OUT)
			match_step(match, dst, src, weight, &name);
	}
	if (wanted->has_reverse && !slot->tts_isnull[3] && reverse >= 0)
	{
		if (wanted->direction != EMOGI_IN)
			match_step(match, dst, src, reverse, &name);
		if (wanted->direction != EMOGI_OUT)
			match_step(match, src, dst, reverse, &name);
	}
}

/* Receive a row from the executor. */
static bool
receive_row(TupleTableSlot *slot, DestReceiver *receiver)
{
	Match	   *match = (Match *) receiver;
	MemoryContext old = MemoryContextSwitchTo(match->row_context);

	slot_getallattrs(slot);
	match_row(match, slot);
	MemoryContextSwitchTo(old);
	MemoryContextReset(match->row_context);
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

/* Put the steps into the hash table; return the number of names to be found. */
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
		Step	   *step = steps_insert(match->steps, (StepKey) {wanted->from[i], wanted->to[i]},
										&found);

		match->weights[i] = (double) NAN;
		if (!found)
		{
			step->index = (uint32) i;
			step->nparallel = step->nfound = 0;
			ndistinct++;
		}
		step->nparallel++;
	}
	return wanted->are_parallel ? wanted->count : ndistinct;
}

/* Get the ids at which rows of steps may start, ascending and distinct, as needed for an index. */
int64 *
emogi_edge_match_ends(const EmogiEdgeMatch *wanted, uint64 *nends)
{
	const bool	both = wanted->has_reverse || wanted->direction == EMOGI_BOTH;
	int64	   *ends = palloc_extended(2 * wanted->count * sizeof *ends, MCXT_ALLOC_HUGE);
	uint64		count = 0;

	for (uint64 i = 0; i < wanted->count; i++)
	{
		if (both || wanted->direction == EMOGI_OUT)
			ends[count++] = wanted->from[i];
		if (both || wanted->direction == EMOGI_IN)
			ends[count++] = wanted->to[i];
	}
	qsort(ends, count, sizeof *ends, emogi_compare_int64);
	*nends = qunique(ends, count, sizeof *ends, emogi_compare_int64);
	return ends;
}

/* Copy names to steps that have the same ends as an earlier one. */
static void
copy_names(Match *match)
{
	const EmogiEdgeMatch *wanted = match->wanted;

	for (uint64 i = 0; i < wanted->count; i++)
		wanted->names[i] =
			wanted->names[steps_lookup(match->steps,
									   (StepKey) {wanted->from[i], wanted->to[i]})->index];
}

/* A row of a parallel edge, to be sorted. */
typedef struct ParallelRow
{
	double		weight;
	EdgeName	name;
} ParallelRow;

/* Compare rows by weight, then by name. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	const ParallelRow *x = a,
			   *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	if (is_before(arg, x->name.ordered, y->name.ordered))
		return -1;
	return is_before(arg, y->name.ordered, x->name.ordered) ? 1 : 0;
}

/* Sort the names of parallel edges, all of which have been found, group by group. */
static void
sort_names(Match *match)
{
	const EmogiEdgeMatch *wanted = match->wanted;
	uint64		end;

	for (uint64 first = 0; first < wanted->count; first = end)
	{
		ParallelRow *rows;

		for (end = first + 1; end < wanted->count && wanted->from[end] == wanted->from[first] &&
			 wanted->to[end] == wanted->to[first];)
			end++;
		CHECK_FOR_INTERRUPTS();
		if (end == first + 1)
			continue;
		rows = palloc_extended((end - first) * sizeof *rows, MCXT_ALLOC_HUGE);
		for (uint64 i = first; i < end; i++)
			rows[i - first] = (ParallelRow) {match->weights[i],
				{match->ordered[i], wanted->names[i]}};
		qsort_arg(rows, end - first, sizeof *rows, compare_rows, match);
		for (uint64 i = first; i < end; i++)
			wanted->names[i] = rows[i - first].name.given;
		pfree(rows);
	}
}

/*
 * Find the names of steps among the rows of a plan, inside SPI, in memory of a context. Return the
 * number of names found, which is above the number of steps if parallel edges have more rows.
 */
uint64
emogi_edge_match_find(const EmogiEdgeMatch *wanted, SPIPlanPtr plan, Datum *values,
					  MemoryContext context)
{
	Match		match = {
		.receiver = {.receiveSlot = receive_row,.rStartup = begin_rows,.rShutdown = end_rows,
					 .rDestroy = end_rows,.mydest = DestNone},
		.wanted = wanted,
		.ordered = wanted->names,
		.type = lookup_type_cache(wanted->type, TYPECACHE_CMP_PROC_FINFO),
		.given_type = lookup_type_cache(wanted->given_type, 0),
		.context = context,
		.row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row",
											 ALLOCSET_SMALL_SIZES)
	};
	const uint64 nsought = enter_steps(&match);
	Portal		portal = SPI_cursor_open(NULL, plan, values, NULL, true);

	if (wanted->type != wanted->given_type)
		match.ordered = palloc_extended(wanted->count * sizeof *match.ordered, MCXT_ALLOC_HUGE);
	(void) PortalRunFetch(portal, FETCH_FORWARD, FETCH_ALL, &match.receiver);
	SPI_cursor_close(portal);
	if (match.nfound == nsought && wanted->are_parallel)
		sort_names(&match);
	else if (match.nfound == nsought && nsought < wanted->count)
		copy_names(&match);
	steps_destroy(match.steps);
	MemoryContextDelete(match.row_context);
	return wanted->count - (nsought - match.nfound) + (match.has_more ? 1 : 0);
}
