/*
 * index_search_count.c: count the edges of given vertices, and add their weights, over table
 * indexes.
 *
 * The result is that of a graph of all edges. A vertex without an edge in the direction of the
 * search has a row if it has one in the other direction. Weights are added in the order of the
 * adjacency list of such a graph: ascending by the key of the other end, and parallel edges by
 * weight. Without weights, the other ends are needed only to recognize loops, which both ends of an
 * undirected graph list.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "index_search/index_search.h"
#include "index_search/index_search_read.h"

/* Room for weighted edges at first */
#define FIRST_EDGES 64

/* The other end of an edge, and its weight. */
typedef struct WeightedEnd
{
	int64		id;				/* EmogiSearchKeys */
	double		weight;
} WeightedEnd;

typedef struct CountState
{
	EmogiIndexSearch *search;
	EmogiIndexReaders in;
	int64	   *ids;			/* [nids], the given vertices, ascending by key, distinct */
	uint64		nids;
	WeightedEnd *ends;			/* [nends], room for [room]: of the current vertex; NULL = no
								 * weights */
	uint64		nends;
	uint64		room;
	bool	   *by_entry;		/* [nforward], whether index entries of a reader are edges */
} CountState;

/* ---- one vertex ---- */

/* Append the edge that was just read, with its weight. */
static void
add_end(CountState *state, int reader, int64 id)
{
	if (state->nends == state->room)
	{
		state->room *= 2;
		state->ends = repalloc_huge(state->ends, state->room * sizeof *state->ends);
	}
	state->ends[state->nends].id = id;
	state->ends[state->nends++].weight = emogi_index_readers_weight(&state->in, reader);
}

static int
compare_ends(const void *a, const void *b, void *keys)
{
	const WeightedEnd *x = a;
	const WeightedEnd *y = b;
	const int	order = emogi_index_search_keys_compare(x->id, y->id, keys);

	return order != 0 ? order : (x->weight > y->weight) - (x->weight < y->weight);
}

/* Add the weights of the edges that were read, in the order of an adjacency list. */
static double
add_weights(CountState *state)
{
	double		sum = 0;

	qsort_arg(state->ends, state->nends, sizeof *state->ends, compare_ends, &state->in.keys);
	for (uint64 i = 0; i < state->nends; i++)
		sum += state->ends[i].weight;
	return sum;
}

/* Count the edges of a vertex that a reader returns; the search may give up. */
static uint64
count_edges(CountState *state, int reader, int64 id)
{
	EmogiIndexReaders *in = &state->in;
	const bool	skips_loops = state->search->direction == EMOGI_BOTH && reader >= in->nper_end;
	const bool	needs_end = skips_loops || state->ends != NULL;
	uint64		count = 0;
	int64		other = 0;

	if (state->by_entry[reader])
		return emogi_index_readers_count(in, reader, id);
	if (!emogi_index_readers_seek(in, reader, id))
		return 0;
	while (emogi_index_readers_next(in, reader, needs_end ? &other : NULL))
	{
		if (skips_loops && other == id)
			continue;
		count++;
		if (state->ends != NULL)
			add_end(state, reader, other);
	}
	return count;
}

/*
 * Find out for which readers it suffices to count index entries. If the other end of the edges is
 * needed, their rows are read.
 */
static void
find_entries(CountState *state)
{
	const bool	needs_weights = state->ends != NULL;

	state->by_entry = palloc0(Max(state->in.nforward, 1) * sizeof *state->by_entry);
	for (int i = 0; i < Min(state->in.nforward, state->in.nper_end) && !needs_weights; i++)
		state->by_entry[i] = emogi_index_readers_have_only_edges(&state->in, i);
}

/* Write the row of a vertex, unless it is not in the graph; the search may give up. */
static void
count_vertex(CountState *state, int64 id)
{
	EmogiIndexSearch *search = state->search;
	uint64		count = 0;

	state->nends = 0;
	for (int i = 0; i < state->in.nforward && !state->in.gave_up; i++)
		count += count_edges(state, i, id);
	if (state->in.gave_up ||
		(count == 0 && !emogi_index_readers_has_other_edge(&state->in, id)))
		return;
	search->nscanned += count;
	search->degrees[search->count] = (int64) count;
	search->strengths[search->count] = state->ends != NULL ? add_weights(state) : (double) count;
	search->ids[search->count++] = id;
}

/* ---- all vertices ---- */

static int
compare_ids(const void *a, const void *b, void *keys)
{
	return emogi_index_search_keys_compare(*(const int64 *) a, *(const int64 *) b, keys);
}

/* List the given vertices, ascending by key, because indexes are read best in that order. */
static void
list_vertices(CountState *state)
{
	const EmogiIndexSearch *search = state->search;

	state->ids = palloc_extended(Max(search->nsources, 1) * sizeof *state->ids, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < search->nsources; i++)
		state->ids[i] = emogi_index_search_keys_id(&state->in.keys, search->sources[i], INT8OID);
	qsort_arg(state->ids, search->nsources, sizeof *state->ids, compare_ids, &state->in.keys);
	for (uint64 i = 0; i < search->nsources; i++)
		if (state->nids == 0 || state->ids[state->nids - 1] != state->ids[i])
			state->ids[state->nids++] = state->ids[i];
}

/* Allocate the result, for at most so many vertices, in the current memory context. */
static void
alloc_result(EmogiIndexSearch *search, uint64 count)
{
	search->ids = palloc_extended(Max(count, 1) * sizeof *search->ids, MCXT_ALLOC_HUGE);
	search->degrees = palloc_extended(Max(count, 1) * sizeof *search->degrees, MCXT_ALLOC_HUGE);
	search->strengths = palloc_extended(Max(count, 1) * sizeof *search->strengths,
										MCXT_ALLOC_HUGE);
}

/*
 * Copy the keys of the rows, which are not integers, into the current memory context. Their ids
 * become indexes into these.
 */
static void
number_rows(CountState *state)
{
	EmogiIndexSearch *search = state->search;

	search->keys = palloc_extended(Max(search->count, 1) * sizeof *search->keys, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < search->count; i++)
	{
		search->keys[i] = emogi_index_search_keys_copy(&state->in.keys, search->ids[i]);
		search->ids[i] = (int64) i;
	}
}

/*
 * Count the edges of search->sources over the indexes, which are open: those of the rows that the
 * active snapshot sees, in the direction of the search. The rows are those of the sources that are
 * in the graph. Return false if the search exceeds its cost, or cannot tell whether a vertex is in
 * the graph; search->cost is set in any case.
 */
bool
emogi_index_search_count(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(context, "emogi index search",
												  ALLOCSET_DEFAULT_SIZES);
	CountState	state = {.search = search,.room = FIRST_EDGES};

	search->cost = search->nscanned = search->count = 0;
	MemoryContextSwitchTo(scratch);
	emogi_index_readers_open(&state.in, indexes, search);
	if (search->is_weighted)
		state.ends = palloc(state.room * sizeof *state.ends);
	find_entries(&state);
	list_vertices(&state);
	MemoryContextSwitchTo(context);
	alloc_result(search, state.nids);
	MemoryContextSwitchTo(scratch);
	for (uint64 i = 0; i < state.nids && !state.in.gave_up; i++)
		count_vertex(&state, state.ids[i]);
	emogi_index_readers_close(&state.in);
	MemoryContextSwitchTo(context);
	search->is_answered = !state.in.gave_up;
	search->nlevels = 1;
	if (search->is_answered && !state.in.keys.are_integers)
		number_rows(&state);
	MemoryContextDelete(scratch);
	return search->is_answered;
}
