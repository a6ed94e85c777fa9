/*
 * index_search_bfs.c: BFS over table indexes, optionally counting shortest paths.
 *
 * Visited vertices are in a hash table, and in visiting order in an array, which is the queue. Each
 * level of integer keys is sorted, because indexes are read best in ascending order.
 *
 * Paths are counted as edges are scanned: a vertex is expanded after all edges from the previous
 * level have been scanned, so its count is complete. Counts are exact up to 2^53 in any order of
 * addition; the search gives up beyond.
 *
 * A vertex reached by an edge is in the graph. A source is in the graph if it has an edge.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/memutils.h"

#include "index_search/index_search.h"
#include "index_search/index_search_read.h"

/* Counts of paths are exact up to this. */
#define MAX_PATHS 9007199254740992.0	/* 2^53 */

/* Room for vertices at first: 0.9 of a power of 2, because most searches are small. */
#define FIRST_VERTICES 14

/* A visited vertex, or a target. */
typedef struct Vertex
{
	int64		id;
	char		status;			/* of the hash table */
	bool		visited;
	bool		is_wanted;		/* a target that is not visited yet */
	int32		level;
	double		paths;
} Vertex;

#define SH_PREFIX vertices
#define SH_ELEMENT_TYPE Vertex
#define SH_KEY_TYPE int64
#define SH_KEY id
#define SH_HASH_KEY(table, key) \
	hash_combine(murmurhash32((uint32) (key)), murmurhash32((uint32) ((uint64) (key) >> 32)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A queue entry: a vertex that was reached. */
typedef struct Reached
{
	int64		id;
	int32		level;
} Reached;

typedef struct BfsState
{
	EmogiIndexSearch *search;
	EmogiIndexReaders in;
	vertices_hash *vertices;
	uint64		nwanted;		/* targets not visited yet */
	uint64		nexpanded;		/* vertices whose edges were read */
	Reached    *reached;		/* [room] */
	uint64		count;
	uint64		room;
} BfsState;

/* ---- the search ---- */

/* Add the paths of another edge to a visited vertex, if it is on the given level. */
static void
add_paths(BfsState *state, Vertex *vertex, int32 level, double paths)
{
	if (vertex->level != level)
		return;
	vertex->paths += paths;
	state->in.gave_up |= state->search->counts_paths && vertex->paths > MAX_PATHS;
}

/* Visit a vertex at a level, with a number of paths. */
static void
visit_vertex(BfsState *state, int64 id, int32 level, double paths)
{
	bool		is_known;
	Vertex	   *vertex = vertices_insert(state->vertices, id, &is_known);

	if (is_known && vertex->visited)
	{
		add_paths(state, vertex, level, paths);
		return;
	}
	if (is_known && vertex->is_wanted)
		state->nwanted--;
	vertex->visited = true;
	vertex->is_wanted = false;
	vertex->level = level;
	vertex->paths = paths;
	if (state->count == state->room)
	{
		state->room *= 2;
		state->reached = repalloc_huge(state->reached, state->room * sizeof *state->reached);
	}
	state->reached[state->count++] = (Reached) {id, level};
}

/* Visit the neighbors of a vertex. */
static void
expand(BfsState *state, const Reached from)
{
	const double paths = state->search->counts_paths ?
		vertices_lookup(state->vertices, from.id)->paths : 1.0;

	state->nexpanded++;
	for (int i = 0; i < state->in.nforward && !state->in.gave_up; i++)
	{
		int64		end;

		if (!emogi_index_readers_seek(&state->in, i, from.id))
			continue;
		while (emogi_index_readers_next(&state->in, i, &end))
		{
			state->search->nscanned++;
			visit_vertex(state, end, from.level + 1, paths);
		}
	}
}

static int
compare_reached(const void *a, const void *b, void *keys)
{
	return emogi_index_search_keys_compare(((const Reached *) a)->id, ((const Reached *) b)->id,
										   keys);
}

/* Is the search complete, or given up? */
static bool
is_done(const BfsState *state)
{
	return state->in.gave_up || (state->search->targeted && state->nwanted == 0);
}

/*
 * Expand level by level until the queue is empty or all targets are visited; if paths are counted,
 * the level before is completed.
 */
static void
expand_levels(BfsState *state)
{
	const EmogiIndexSearch *search = state->search;
	uint64		first = 0;

	for (int64 level = 0;
		 first < state->count && (search->max_depth < 0 || level < search->max_depth);
		 level++)
	{
		const uint64 end = state->count;

		if (state->in.keys.are_integers)
			qsort_arg(state->reached + first, end - first, sizeof *state->reached,
					  compare_reached, &state->in.keys);
		for (; first < end; first++)
		{
			if (state->in.gave_up || (is_done(state) && !search->counts_paths))
				return;
			expand(state, state->reached[first]);
		}
		if (is_done(state))
			return;
	}
}

/* ---- beginning and end ---- */

/* Enter the targets in the hash table. */
static void
enter_targets(BfsState *state)
{
	const EmogiIndexSearch *search = state->search;

	for (uint64 i = 0; search->targeted && i < search->ntargets; i++)
	{
		bool		is_known;
		const int64 id = emogi_index_search_keys_id(&state->in.keys, search->targets[i], INT8OID);
		Vertex	   *vertex = vertices_insert(state->vertices, id, &is_known);

		if (is_known)
			continue;
		vertex->visited = false;
		vertex->is_wanted = true;
		state->nwanted++;
	}
}

/* Visit a source; it has one path regardless of how often it is given. */
static void
enter_source(BfsState *state, int64 id)
{
	const Vertex *known = vertices_lookup(state->vertices, id);

	if (known == NULL || !known->visited)
		visit_vertex(state, id, 0, 1.0);
}

/*
 * Visit the sources that are in the graph. A single one is visited in any case, because the search
 * is likely to find an edge of it (leave_source).
 */
static void
enter_sources(BfsState *state)
{
	EmogiIndexSearch *search = state->search;

	search->found = palloc0(Max(search->nsources, 1) * sizeof *search->found);
	if (search->nsources == 1)
	{
		search->found[0] = true;
		enter_source(state, emogi_index_search_keys_id(&state->in.keys, search->sources[0],
													   INT8OID));
		return;
	}
	for (uint64 i = 0; i < search->nsources && !state->in.gave_up; i++)
	{
		const int64 id = emogi_index_search_keys_id(&state->in.keys, search->sources[i], INT8OID);
		const Vertex *known = vertices_lookup(state->vertices, id);

		search->found[i] = (known != NULL && known->visited) ||
			emogi_index_readers_has_vertex(&state->in, id);
		if (search->found[i])
			enter_source(state, id);
	}
}

/* Leave a single source from which the search has found no edge, if it is not in the graph. */
static void
leave_source(BfsState *state)
{
	EmogiIndexSearch *search = state->search;

	if (search->nsources != 1 || search->nscanned > 0 || state->in.gave_up ||
		(state->nexpanded > 0 ?
		 emogi_index_readers_has_other_edge(&state->in, state->reached[0].id) :
		 emogi_index_readers_has_vertex(&state->in, state->reached[0].id)))
		return;
	search->found[0] = false;
	state->count = 0;
}

/* Copy the reached keys, which are not integers, into the current memory context. */
static EmogiKeyBytes *
copy_keys(const BfsState *state)
{
	EmogiKeyBytes *keys = palloc_extended(Max(state->count, 1) * sizeof *keys, MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < state->count; i++)
		keys[i] = emogi_index_search_keys_copy(&state->in.keys, state->reached[i].id);
	return keys;
}

/* Write the result, ascending by key, into the current memory context. */
static void
write_answer(BfsState *state)
{
	const bool	are_integers = state->in.keys.are_integers;
	EmogiIndexSearch *search = state->search;

	search->count = state->count;
	search->nlevels = state->count > 0 ? (uint32) state->reached[state->count - 1].level + 1 : 0;
	qsort_arg(state->reached, state->count, sizeof *state->reached, compare_reached,
			  &state->in.keys);
	search->ids = palloc_extended(Max(state->count, 1) * sizeof *search->ids, MCXT_ALLOC_HUGE);
	search->levels = palloc_extended(Max(state->count, 1) * sizeof *search->levels,
									 MCXT_ALLOC_HUGE);
	if (search->counts_paths)
		search->paths = palloc_extended(Max(state->count, 1) * sizeof *search->paths,
										MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < state->count; i++)
	{
		search->ids[i] = are_integers ? state->reached[i].id : (int64) i;
		search->levels[i] = state->reached[i].level;
		if (search->counts_paths)
			search->paths[i] = vertices_lookup(state->vertices, state->reached[i].id)->paths;
	}
	search->keys = are_integers ? NULL : copy_keys(state);
}

/*
 * Run a BFS over the indexes, which are open. The result is that of the graph of the rows that the
 * active snapshot sees. With targets, it contains those that are reached, and possibly other
 * vertices. Return false if the search exceeds its cost, or cannot tell whether a source is in the
 * graph; search->cost is set in any case.
 */
bool
emogi_index_search_run(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(context, "emogi index search",
												  ALLOCSET_DEFAULT_SIZES);
	BfsState	state = {.search = search,.room = FIRST_VERTICES};

	search->cost = search->nscanned = 0;
	if (search->targeted && search->ntargets == 0)
		search->max_depth = 0;	/* no target is in the graph, so there are no rows */
	MemoryContextSwitchTo(scratch);
	state.reached = palloc(state.room * sizeof *state.reached);
	state.vertices = vertices_create(scratch, FIRST_VERTICES, NULL);
	emogi_index_readers_open(&state.in, indexes, search);
	enter_targets(&state);
	MemoryContextSwitchTo(context);
	enter_sources(&state);
	MemoryContextSwitchTo(scratch);
	expand_levels(&state);
	leave_source(&state);
	emogi_index_readers_close(&state.in);
	search->is_answered = !state.in.gave_up;
	MemoryContextSwitchTo(context);
	if (search->is_answered)
		write_answer(&state);
	MemoryContextDelete(scratch);
	return search->is_answered;
}
