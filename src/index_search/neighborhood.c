/*
 * neighborhood.c: collect the edges near given vertices through table indexes.
 *
 * An algorithm whose answer depends only on edges near the given vertices returns the same answer
 * from a graph of these edges as from the whole graph. A vertex has two adjacency lists: the edges
 * that the algorithm can follow from it, and those that lead to it. Each list is read once, and
 * completely. The lists that are read contain, for
 *
 *   a ball of radius d       all edges of walks of at most d edges that begin at a source;
 *   cycles of length k       all edges of cycles of at most k edges through a source: its i-th
 *                            edge (0-based) starts at most i edges after the source, and ends at
 *                            most k - 1 - i edges before it, so it is found in forward lists up to
 *                            depth (k + 1) / 2 or in backward lists up to depth k / 2;
 *   shortest paths           all edges of all shortest paths from each source to each target: if
 *                            the forward lists up to depth a and the backward lists up to depth b
 *                            have a vertex in common, the distance is at most a + b, and the i-th
 *                            edge of a shortest path is in a forward list if i < a, and in a
 *                            backward list otherwise. If one side is exhausted first, there is no
 *                            path.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "index_search/index_search_read.h"
#include "index_search/neighborhood.h"

/* Hash table from id to index of a vertex. */
typedef struct Place
{
	int64		id;
	uint32		vertex;
	char		status;
} Place;

#define SH_PREFIX places
#define SH_ELEMENT_TYPE Place
#define SH_KEY_TYPE int64
#define SH_KEY id
#define SH_HASH_KEY(table, key) \
	hash_combine(murmurhash32((uint32) (key)), murmurhash32((uint32) ((uint64) (key) >> 32)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

typedef struct CollectState
{
	EmogiIndexSearch *search;
	EmogiIndexReaders in;
	EmogiNeighborhood *found;
	places_hash *places;
	uint32		nexpansions;
} CollectState;

/* An expansion, level by level, along or against the edges. */
typedef struct Expansion
{
	int			list;			/* EMOGI_EDGES_* */
	uint32		number;			/* marks the vertices it has reached */
	uint32	   *queue;			/* [count], room for [room] */
	uint64		first;			/* of the queue: the first vertex of the current level */
	uint64		count;
	uint64		room;
} Expansion;

/* ---- vertices and lists ---- */

/* Find or add a vertex; return its index. */
static uint32
add_vertex(CollectState *state, int64 id)
{
	EmogiNeighborhood *found = state->found;
	bool		is_known;
	Place	   *place = places_insert(state->places, id, &is_known);

	if (is_known)
		return place->vertex;
	if (found->nvertices == found->room)
	{
		found->room *= 2;
		found->vertices = repalloc_huge(found->vertices, found->room * sizeof *found->vertices);
	}
	place->vertex = found->nvertices++;
	found->vertices[place->vertex] = (EmogiNeighborhoodVertex) {.id = id};
	return place->vertex;
}

/* Append an edge to the list that is being read. */
static void
add_end(CollectState *state, EmogiNeighborhoodList *list, int64 id)
{
	EmogiNeighborhood *found = state->found;
	const uint32 vertex = add_vertex(state, id);

	found->vertices[vertex].exists = true;
	if (found->nends == found->ends_room)
	{
		found->ends_room *= 2;
		found->ends = repalloc_huge(found->ends, found->ends_room * sizeof *found->ends);
	}
	found->ends[found->nends++] = vertex;
	list->count++;
}

/* Get the list that is stored for a list of a vertex. */
static int
stored_list(const CollectState *state, int list)
{
	return state->search->direction == EMOGI_BOTH ? EMOGI_EDGES_ALONG : list;
}

/*
 * Get a list of a vertex, reading it if necessary. A loop is an edge in both index directions, and
 * in an undirected list only once. The result is incomplete if the search gives up.
 */
static EmogiNeighborhoodList
read_list(CollectState *state, uint32 vertex, int which)
{
	EmogiIndexReaders *in = &state->in;
	const int	stored = stored_list(state, which);
	const int64 id = state->found->vertices[vertex].id;
	const int	begin = stored == EMOGI_EDGES_ALONG ? 0 : in->nforward;
	const int	end = stored == EMOGI_EDGES_ALONG ? in->nforward : in->nreaders;
	EmogiNeighborhoodList list = state->found->vertices[vertex].lists[stored];

	if (list.is_read)
		return list;
	list = (EmogiNeighborhoodList) {.is_read = true,.first = state->found->nends};
	for (int i = begin; i < end && !in->gave_up; i++)
	{
		const bool	skips_loops = state->search->direction == EMOGI_BOTH && i >= in->nleaves;
		int64		other;

		if (!emogi_index_readers_seek(in, i, id))
			continue;
		while (emogi_index_readers_next(in, i, &other))
			if (!skips_loops || other != id)
				add_end(state, &list, other);
	}
	state->search->nscanned += list.count;
	state->found->vertices[vertex].exists |= list.count > 0;
	state->found->vertices[vertex].lists[stored] = list;
	return list;
}

/* ---- expansions ---- */

/* Let an expansion reach a vertex. */
static void
reach(CollectState *state, Expansion *expansion, uint32 vertex)
{
	uint32	   *reached = &state->found->vertices[vertex].reached[expansion->list];

	if (*reached == expansion->number)
		return;
	*reached = expansion->number;
	if (expansion->count == expansion->room)
	{
		expansion->room *= 2;
		expansion->queue = repalloc_huge(expansion->queue,
										 expansion->room * sizeof *expansion->queue);
	}
	expansion->queue[expansion->count++] = vertex;
}

/* Begin an expansion that has reached nothing yet. */
static Expansion
begin_expansion(CollectState *state, int list)
{
	return (Expansion) {.list = list,.number = ++state->nexpansions,.room = 64,
						.queue = palloc(64 * sizeof(uint32))};
}

static int
compare_vertices(const void *a, const void *b, void *arg)
{
	const EmogiNeighborhoodVertex *vertices = arg;
	const int64 x = vertices[*(const uint32 *) a].id;
	const int64 y = vertices[*(const uint32 *) b].id;

	return (x > y) - (x < y);
}

/*
 * Expand the vertices of the current level. Indexes are read best in ascending order of keys. Lists
 * read earlier are charged, too, because many pairs may share them.
 */
static void
expand_level(CollectState *state, Expansion *expansion)
{
	const uint64 end = expansion->count;

	if (state->in.keys.are_integers)
		qsort_arg(expansion->queue + expansion->first, end - expansion->first,
				  sizeof *expansion->queue, compare_vertices, state->found->vertices);
	for (; expansion->first < end && !state->in.gave_up; expansion->first++)
	{
		const EmogiNeighborhoodList list = read_list(state, expansion->queue[expansion->first],
											 expansion->list);

		(void) emogi_index_readers_charge(&state->in, 1);
		for (uint32 i = 0; i < list.count; i++)
			reach(state, expansion, state->found->ends[list.first + i]);
	}
}

/* Is there no vertex left to expand? */
static bool
is_exhausted(const CollectState *state, const Expansion *expansion)
{
	return state->in.gave_up || expansion->first == expansion->count;
}

/* Expand up to a depth; -1 = unlimited. */
static void
expand_to_depth(CollectState *state, Expansion *expansion, int64 depth)
{
	for (int64 level = 0; (depth < 0 || level < depth) && !is_exhausted(state, expansion); level++)
		expand_level(state, expansion);
}

/* ---- neighborhoods ---- */

/*
 * Add a given vertex; false if it has no edge, and so is not in the graph. If there is no index
 * that could tell, the search gives up.
 */
static bool
enter(CollectState *state, Datum key, int list, uint32 *vertex)
{
	const int	other = list == EMOGI_EDGES_ALONG ? EMOGI_EDGES_AGAINST : EMOGI_EDGES_ALONG;
	EmogiNeighborhoodVertex *entered;
	int64		id;

	id = emogi_index_search_keys_id(&state->in.keys, key, INT8OID);
	*vertex = add_vertex(state, id);
	if (state->found->vertices[*vertex].exists || read_list(state, *vertex, list).count > 0)
		return true;
	if (state->search->direction == EMOGI_BOTH)
		return false;
	entered = &state->found->vertices[*vertex];
	if (state->in.nforward == state->in.nreaders)
		state->in.gave_up = true;
	else if (other == EMOGI_EDGES_ALONG)
		entered->exists = emogi_index_readers_has_edge(&state->in, id, 0, state->in.nforward);
	else
		entered->exists = emogi_index_readers_has_edge(&state->in, id, state->in.nforward,
													   state->in.nreaders);
	return state->found->vertices[*vertex].exists;
}

/* Enter all sources, and let an expansion reach those that are in the graph. */
static void
enter_sources(CollectState *state, Expansion *expansion)
{
	for (uint64 i = 0; i < state->search->nsources && !state->in.gave_up; i++)
	{
		uint32		vertex;

		if (enter(state, state->search->sources[i], expansion->list, &vertex))
			reach(state, expansion, vertex);
	}
}

/*
 * Collect the edges of walks of at most max_depth edges from the sources, and add the targets that
 * are in the graph.
 */
static void
collect_ball(CollectState *state)
{
	Expansion	expansion = begin_expansion(state, EMOGI_EDGES_ALONG);
	uint32		target;

	enter_sources(state, &expansion);
	expand_to_depth(state, &expansion, state->search->max_depth);
	for (uint64 i = 0; i < state->search->ntargets && !state->in.gave_up; i++)
		(void) enter(state, state->search->targets[i], EMOGI_EDGES_AGAINST, &target);
}

/*
 * Collect the edges of cycles of at most max_depth edges through the sources. If the other ends
 * have no index, all edges that such cycles may begin with.
 */
static void
collect_cycles(CollectState *state)
{
	const int64 length = state->search->max_depth;
	const bool	has_against = state->in.nforward < state->in.nreaders;
	const bool	is_undirected = state->search->direction == EMOGI_BOTH;
	Expansion	along = begin_expansion(state, EMOGI_EDGES_ALONG);
	Expansion	against = begin_expansion(state, EMOGI_EDGES_AGAINST);

	enter_sources(state, &along);
	expand_to_depth(state, &along, has_against || is_undirected ? (length + 1) / 2 : length);
	if (has_against)
	{
		enter_sources(state, &against);
		expand_to_depth(state, &against, length / 2);
	}
}

/* Has the other expansion reached a vertex that this one has reached since `first`? */
static bool
have_met(const CollectState *state, const Expansion *expansion, const Expansion *other)
{
	for (uint64 i = expansion->first; i < expansion->count; i++)
		if (state->found->vertices[expansion->queue[i]].reached[other->list] == other->number)
			return true;
	return false;
}

/* Collect the edges of the shortest paths between two vertices of the graph. */
static void
collect_between(CollectState *state, uint32 source, uint32 target)
{
	Expansion	along = begin_expansion(state, EMOGI_EDGES_ALONG);
	Expansion	against = begin_expansion(state, EMOGI_EDGES_AGAINST);
	bool		met = source == target;

	reach(state, &along, source);
	reach(state, &against, target);
	while (!met && !is_exhausted(state, &along) && !is_exhausted(state, &against))
	{
		const bool	goes_along = along.count - along.first <= against.count - against.first;
		Expansion  *smaller = goes_along ? &along : &against;

		CHECK_FOR_INTERRUPTS();
		expand_level(state, smaller);
		met = have_met(state, smaller, goes_along ? &against : &along);
	}
	pfree(along.queue);
	pfree(against.queue);
}

/* Collect the edges of the shortest paths from each source to each target. */
static void
collect_paths(CollectState *state)
{
	const EmogiIndexSearch *search = state->search;
	bool	   *are_targets = palloc0(Max(search->ntargets, 1) * sizeof(bool));
	uint32	   *targets = palloc(Max(search->ntargets, 1) * sizeof(uint32));

	for (uint64 i = 0; i < search->ntargets && !state->in.gave_up; i++)
		are_targets[i] = enter(state, search->targets[i], EMOGI_EDGES_AGAINST, &targets[i]);
	for (uint64 i = 0; i < search->nsources && !state->in.gave_up; i++)
	{
		uint32		source;

		if (!enter(state, search->sources[i], EMOGI_EDGES_ALONG, &source))
			continue;
		for (uint64 j = 0; j < search->ntargets; j++)
			if (are_targets[j])
				collect_between(state, source, targets[j]);
	}
}

/* Are there indexes for a collection? Paths are searched from both ends. */
bool
emogi_neighborhood_can_collect(const EmogiSearchIndexes *indexes, const EmogiIndexSearch *search)
{
	return search->kind != EMOGI_COLLECTS_PATHS ||
		(indexes->by_src != NULL && indexes->by_dst != NULL);
}

/* Begin a collection, in a memory context of its own. */
static EmogiNeighborhood *
begin_neighborhood(void)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi neighborhood",
												  ALLOCSET_DEFAULT_SIZES);
	EmogiNeighborhood *found = MemoryContextAllocZero(context, sizeof *found);

	found->context = context;
	found->room = found->ends_room = 64;
	found->vertices = MemoryContextAlloc(context, found->room * sizeof *found->vertices);
	found->ends = MemoryContextAlloc(context, found->ends_room * sizeof *found->ends);
	return found;
}

/*
 * Collect a neighborhood over the indexes, which are open, as search->kind requests: the rows that
 * the active snapshot sees. search->neighborhood is set to it. Return false if that exceeds the
 * cost of the search, or if no index can tell whether a given vertex is in the graph; search->cost
 * is set in any case.
 */
bool
emogi_neighborhood_collect(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search)
{
	EmogiNeighborhood *found = begin_neighborhood();
	CollectState state = {.search = search,.found = found};
	MemoryContext old = MemoryContextSwitchTo(found->context);

	search->cost = search->nscanned = 0;
	state.places = places_create(found->context, 64, NULL);
	emogi_index_readers_open(&state.in, indexes, search);
	if (search->kind == EMOGI_COLLECTS_BALL)
		collect_ball(&state);
	else if (search->kind == EMOGI_COLLECTS_CYCLES)
		collect_cycles(&state);
	else
		collect_paths(&state);
	emogi_index_readers_close(&state.in);
	MemoryContextSwitchTo(old);
	found->keys = state.in.keys;
	search->is_answered = !state.in.gave_up;
	search->neighborhood = found;
	if (state.in.gave_up)
	{
		MemoryContextDelete(found->context);
		search->neighborhood = NULL;
	}
	return search->is_answered;
}
