/*
 * index_search_bfs.c: BFS over table indexes, optionally counting shortest paths.
 *
 * Visited vertices are in a hash table, and in visiting order in an array, which is the queue. Each
 * level of integer keys is sorted, because indexes are read best in ascending order. A row with a
 * NULL endpoint is not an edge. Rows are those that the active snapshot sees, including those of
 * the current transaction.
 *
 * Paths are counted as edges are scanned: a vertex is expanded after all edges from the previous
 * level have been scanned, so its count is complete. Counts are exact up to 2^53 in any order of
 * addition; the search gives up beyond.
 *
 * In a filtered table (../analysis/table_filter.c), only rows that satisfy its conditions are
 * edges; the conditions are evaluated on the heap's row.
 *
 * A vertex reached by an edge is in the graph. A source is in the graph if it has an edge. If it
 * has none in the direction of the search, and the other direction has no index, the search gives
 * up.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "edges/row_filter.h"
#include "base/compat.h"
#include "base/fault.h"
#include "index_search/index_search.h"
#include "index_search/index_search_keys.h"

/* Counts of paths are exact up to this. */
#define MAX_PATHS 9007199254740992.0	/* 2^53 */

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

/* An index scan. */
typedef struct Reader
{
	const EmogiSearchIndex *index;
	Relation	heap;
	TupleTableSlot *slot;
	IndexScanDesc scan;
	ScanKeyData keys[EMOGI_WALK_MAX_PREFIX + 1];	/* [index->nprefix + 1], the endpoint's is
													 * the last */
	MemoryContext context;		/* of the scan key's argument */
	EmogiRowFilter *filter;		/* conditions on the rows; NULL = none */
} Reader;

typedef struct BfsState
{
	EmogiIndexSearch *search;
	Reader	   *readers;		/* [nreaders], those of the search's direction first */
	int			nreaders;
	int			nforward;		/* number of readers in the search's direction */
	bool		gave_up;
	EmogiSearchKeys keys;
	vertices_hash *vertices;
	uint64		nwanted;		/* targets not visited yet */
	Reached    *reached;		/* [room] */
	uint64		count;
	uint64		room;
} BfsState;

/* ---- reading an index ---- */

/* Open a scan of an index. */
static void
open_reader(Reader *reader, const EmogiRowFilterPlan *filter, const EmogiSearchIndex *index)
{
	const int	nprefix = index->nprefix;

	reader->index = index;
	reader->heap = table_open(index->heap, NoLock);
	reader->slot = table_slot_create(reader->heap, NULL);
	reader->scan = emogi_compat_begin_index(reader->heap, index->index, GetActiveSnapshot(),
											nprefix + 1);
	reader->filter = emogi_faults.tree[EMOGI_TREE_WALKS] ? NULL :
		emogi_row_filter_open(filter, reader->heap);
	reader->context = AllocSetContextCreate(CurrentMemoryContext, "emogi index key",
											ALLOCSET_SMALL_SIZES);
	memcpy(reader->keys, index->prefix, nprefix * sizeof *reader->keys);
	ScanKeyEntryInitialize(&reader->keys[nprefix], 0, (AttrNumber) (nprefix + 1), index->strategy,
						   InvalidOid, index->index->rd_indcollation[nprefix], index->equals,
						   (Datum) 0);
}

static void
close_reader(Reader *reader)
{
	index_endscan(reader->scan);
	emogi_row_filter_close(reader->filter);
	ExecDropSingleTupleTableSlot(reader->slot);
	table_close(reader->heap, NoLock);
}

/* Add to the cost of the search; false if it exceeds the limit. */
static bool
charge(BfsState *state, uint64 cost)
{
	state->search->cost += cost;
	state->gave_up |= state->search->cost > state->search->most_cost;
	return !state->gave_up;
}

/*
 * Restart a reader's scan at the edges of a vertex; false if it can have none, or the search gives
 * up.
 */
static bool
rescan_reader(BfsState *state, Reader *reader, int64 id)
{
	const EmogiSearchIndex *index = reader->index;
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	Datum		datum;
	bool		exists;

	CHECK_FOR_INTERRUPTS();
	MemoryContextReset(reader->context);
	exists = emogi_index_search_keys_datum(&state->keys, id, index->from_type, &datum);
	MemoryContextSwitchTo(old);
	if (!exists || !charge(state, EMOGI_INDEX_DESCENT_COST))
		return false;
	reader->keys[index->nprefix].sk_argument = datum;
	index_rescan(reader->scan, reader->keys, index->nprefix + 1, NULL, 0);
	return true;
}

/* Does the current row have the reader's key? A hash index returns all rows with the same hash. */
static bool
has_key(const Reader *reader)
{
	const int	nprefix = reader->index->nprefix;
	const AttrNumber column = reader->index->index->rd_index->indkey.values[nprefix];
	ScanKey		key = unconstify(ScanKeyData *, &reader->keys[nprefix]);
	bool		is_null;
	Datum		datum = slot_getattr(reader->slot, column, &is_null);

	return !is_null &&
		DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, datum, key->sk_argument));
}

/*
 * Read the other endpoint of the next edge of a vertex; false if there is none, or the search gives
 * up.
 */
static bool
next_neighbor(BfsState *state, Reader *reader, int64 *end)
{
	while (index_getnext_slot(reader->scan, ForwardScanDirection, reader->slot))
	{
		bool		is_null;
		Datum		datum;

		CHECK_FOR_INTERRUPTS();
		if (!charge(state, 1))
			return false;
		if (reader->scan->xs_recheck && !has_key(reader))
			continue;
		if (reader->filter != NULL && !emogi_row_filter_passes(reader->filter, reader->slot))
			continue;
		datum = slot_getattr(reader->slot, reader->index->to, &is_null);
		if (is_null)
			continue;
		*end = emogi_index_search_keys_id(&state->keys, datum, reader->index->to_type);
		return true;
	}
	return false;
}

/* ---- the search ---- */

/* Does a vertex have an edge in one of the readers [first, end)? */
static bool
has_edge(BfsState *state, int64 id, int first, int end)
{
	int64		other;

	for (int i = first; i < end; i++)
		if (rescan_reader(state, &state->readers[i], id) &&
			next_neighbor(state, &state->readers[i], &other))
			return true;
	return false;
}

/* Is a source in the graph? If no index can tell, the search gives up. */
static bool
is_vertex(BfsState *state, int64 id)
{
	if (has_edge(state, id, 0, state->nforward))
		return true;
	if (state->nforward == state->nreaders && state->search->direction != EMOGI_BOTH)
		state->gave_up = true;
	return has_edge(state, id, state->nforward, state->nreaders);
}

/* Add the paths of another edge to a visited vertex, if it is on the given level. */
static void
add_paths(BfsState *state, Vertex *vertex, int32 level, double paths)
{
	if (vertex->level != level)
		return;
	vertex->paths += paths;
	state->gave_up |= state->search->counts_paths && vertex->paths > MAX_PATHS;
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

	for (int i = 0; i < state->nforward && !state->gave_up; i++)
	{
		Reader	   *reader = &state->readers[i];
		int64		end;

		if (!rescan_reader(state, reader, from.id))
			continue;
		while (next_neighbor(state, reader, &end))
		{
			state->search->nlooked++;
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
	return state->gave_up || (state->search->targeted && state->nwanted == 0);
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

		if (state->keys.are_integers)
			qsort_arg(state->reached + first, end - first, sizeof *state->reached,
					  compare_reached, &state->keys);
		for (; first < end; first++)
		{
			if (state->gave_up || (is_done(state) && !search->counts_paths))
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
		const int64 id = emogi_index_search_keys_id(&state->keys, search->targets[i], INT8OID);
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

/* Visit the sources that are in the graph. */
static void
enter_sources(BfsState *state)
{
	EmogiIndexSearch *search = state->search;

	search->found = palloc0(Max(search->nsources, 1) * sizeof *search->found);
	for (uint64 i = 0; i < search->nsources && !state->gave_up; i++)
	{
		const int64 id = emogi_index_search_keys_id(&state->keys, search->sources[i], INT8OID);
		const Vertex *known = vertices_lookup(state->vertices, id);

		search->found[i] = (known != NULL && known->visited) || is_vertex(state, id);
		if (search->found[i])
			enter_source(state, id);
	}
}

/* Open readers for all indexes, those of the search's direction first. */
static void
open_readers(BfsState *state, const EmogiSearchIndexes *indexes)
{
	const EmogiDirection direction = state->search->direction;
	const EmogiRowFilterPlan filter = emogi_row_filter_plan(indexes->source);
	const EmogiSearchIndex *ends[] = {
		direction == EMOGI_IN ? indexes->by_dst : indexes->by_src,
		direction == EMOGI_IN ? indexes->by_src : indexes->by_dst
	};

	state->readers = palloc(2 * indexes->nleaves * sizeof *state->readers);
	for (int end = 0; end < 2; end++)
	{
		for (int i = 0; i < indexes->nleaves && ends[end] != NULL; i++)
			open_reader(&state->readers[state->nreaders++], &filter, &ends[end][i]);
		if (end == 0 || direction == EMOGI_BOTH)
			state->nforward = state->nreaders;
	}
}

/* Copy the reached keys, which are not integers, into the current memory context. */
static EmogiKeyBytes *
copy_keys(const BfsState *state)
{
	EmogiKeyBytes *keys = palloc_extended(Max(state->count, 1) * sizeof *keys, MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < state->count; i++)
	{
		const EmogiKeyBytes key = state->keys.bytes[state->reached[i].id];

		keys[i] = (EmogiKeyBytes) {key.length > 0 ? memcpy(palloc(key.length), key.bytes,
														   key.length) : NULL, key.length};
	}
	return keys;
}

/* Write the result, ascending by key, into the current memory context. */
static void
write_answer(BfsState *state)
{
	const bool	are_integers = state->keys.are_integers;
	EmogiIndexSearch *search = state->search;

	search->count = state->count;
	search->nlevels = state->count > 0 ? (uint32) state->reached[state->count - 1].level + 1 : 0;
	qsort_arg(state->reached, state->count, sizeof *state->reached, compare_reached,
			  &state->keys);
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
	MemoryContext scratch = AllocSetContextCreate(context, "emogi walk", ALLOCSET_DEFAULT_SIZES);
	BfsState	state = {.search = search,.room = 64};

	search->cost = search->nlooked = 0;
	if (search->targeted && search->ntargets == 0)
		search->max_depth = 0;	/* no target is in the graph, so there are no rows */
	MemoryContextSwitchTo(scratch);
	state.reached = palloc(state.room * sizeof *state.reached);
	state.vertices = vertices_create(scratch, 64, NULL);
	emogi_index_search_keys_init(&state.keys, search->coder);
	open_readers(&state, indexes);
	enter_targets(&state);
	MemoryContextSwitchTo(context);
	enter_sources(&state);
	MemoryContextSwitchTo(scratch);
	expand_levels(&state);
	for (int i = 0; i < state.nreaders; i++)
		close_reader(&state.readers[i]);
	search->is_answered = !state.gave_up;
	MemoryContextSwitchTo(context);
	if (search->is_answered)
		write_answer(&state);
	MemoryContextDelete(scratch);
	return search->is_answered;
}
