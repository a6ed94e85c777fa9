/*
 * index_search_bfs.c: BFS over indexes, which may count the shortest paths.
 *
 * What is met stands in a hash table, and in the order in which it was met in an array, which is the queue: level by level, where keys are
 * integers each in ascending order, in which an index is read best. A row with a NULL end is no edge. Rows are those that the
 * active snapshot sees, the own transaction's among them.
 *
 * Paths are counted as their edges are met: a vertex is walked from when all that lead to it from the level before have been, so that its
 * count is whole. Counts are exact to 2^53, as sums in another order; the walk gives up beyond.
 *
 * Of a filtered table (../analysis/table_filter.c) those rows are edges of which its conditions are true; they are evaluated on the heap's row.
 *
 * A vertex that is met is in the graph. A source is if it has an edge. Where it has none in the walk's own direction, and there is no
 * index of the other, the walk gives up.
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
#define MOST_PATHS 9007199254740992.0	/* 2^53 */

/* A vertex that was met, or is wanted. */
typedef struct Vertex
{
	int64		id;
	char		status;			/* of the hash table */
	bool		is_met;
	bool		is_wanted;		/* a target that is not met yet */
	int32		level;
	double		paths;
} Vertex;

#define SH_PREFIX vertices
#define SH_ELEMENT_TYPE Vertex
#define SH_KEY_TYPE int64
#define SH_KEY id
#define SH_HASH_KEY(table, key) hash_combine(murmurhash32((uint32) (key)), murmurhash32((uint32) ((uint64) (key) >> 32)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A vertex that was reached. */
typedef struct Reached
{
	int64		id;
	int32		level;
} Reached;

/* An index that is being read. */
typedef struct Reader
{
	const EmogiSearchIndex *index;
	Relation	heap;
	TupleTableSlot *slot;
	IndexScanDesc scan;
	ScanKeyData keys[EMOGI_WALK_MAX_PREFIX + 1];	/* [index->nprefix + 1], the end's the last */
	MemoryContext context;		/* of its argument */
	EmogiRowFilter *filter;		/* conditions on the rows; NULL = there are none */
} Reader;

typedef struct Search
{
	EmogiIndexSearch  *walk;
	Reader	   *readers;		/* [nreaders], those of the walk's direction first */
	int			nreaders;
	int			nforward;		/* so many */
	bool		gave_up;
	EmogiSearchKeys keys;
	vertices_hash *vertices;
	uint64		nwanted;		/* targets that are not met yet */
	Reached    *reached;		/* [room] */
	uint64		count;
	uint64		room;
} Search;

/* ---- reading an index ---- */

/* Begin to read an index. */
static void
open_reader(Reader *reader, const EmogiRowFilterPlan *filter, const EmogiSearchIndex *index)
{
	const int	nprefix = index->nprefix;

	reader->index = index;
	reader->heap = table_open(index->heap, NoLock);
	reader->slot = table_slot_create(reader->heap, NULL);
	reader->scan = emogi_compat_begin_index(reader->heap, index->index, GetActiveSnapshot(), nprefix + 1);
	reader->filter = emogi_faults.tree[EMOGI_TREE_WALKS] ? NULL : emogi_row_filter_open(filter, reader->heap);
	reader->context = AllocSetContextCreate(CurrentMemoryContext, "emogi index key", ALLOCSET_SMALL_SIZES);
	memcpy(reader->keys, index->prefix, nprefix * sizeof *reader->keys);
	ScanKeyEntryInitialize(&reader->keys[nprefix], 0, (AttrNumber) (nprefix + 1), index->strategy, InvalidOid,
						   index->index->rd_indcollation[nprefix], index->equals, (Datum) 0);
}

static void
close_reader(Reader *reader)
{
	index_endscan(reader->scan);
	emogi_row_filter_close(reader->filter);
	ExecDropSingleTupleTableSlot(reader->slot);
	table_close(reader->heap, NoLock);
}

/* Count what a walk costs; false when it has cost too much. */
static bool
pay(Search *search, uint64 cost)
{
	search->walk->cost += cost;
	search->gave_up |= search->walk->cost > search->walk->most_cost;
	return !search->gave_up;
}

/* Put a reader to the edges of a vertex; false when it can have none, or the walk gives up. */
static bool
put_reader(Search *search, Reader *reader, int64 id)
{
	const EmogiSearchIndex *index = reader->index;
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	Datum		datum;
	bool		exists;

	CHECK_FOR_INTERRUPTS();
	MemoryContextReset(reader->context);
	exists = emogi_index_search_keys_datum(&search->keys, id, index->from_type, &datum);
	MemoryContextSwitchTo(old);
	if (!exists || !pay(search, EMOGI_INDEX_DESCENT_COST))
		return false;
	reader->keys[index->nprefix].sk_argument = datum;
	index_rescan(reader->scan, reader->keys, index->nprefix + 1, NULL, 0);
	return true;
}

/* Does the row at hand have the reader's key? A hash index finds rows with the same hash. */
static bool
has_key(const Reader *reader)
{
	const int	nprefix = reader->index->nprefix;
	const AttrNumber column = reader->index->index->rd_index->indkey.values[nprefix];
	ScanKey		key = unconstify(ScanKeyData *, &reader->keys[nprefix]);
	bool		is_null;
	Datum		datum = slot_getattr(reader->slot, column, &is_null);

	return !is_null && DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, datum, key->sk_argument));
}

/* Read the other end of the next edge of a vertex; false when there is none, or the walk gives up. */
static bool
next_end(Search *search, Reader *reader, int64 *end)
{
	while (index_getnext_slot(reader->scan, ForwardScanDirection, reader->slot))
	{
		bool		is_null;
		Datum		datum;

		CHECK_FOR_INTERRUPTS();
		if (!pay(search, 1))
			return false;
		if (reader->scan->xs_recheck && !has_key(reader))
			continue;
		if (reader->filter != NULL && !emogi_row_filter_passes(reader->filter, reader->slot))
			continue;
		datum = slot_getattr(reader->slot, reader->index->to, &is_null);
		if (is_null)
			continue;
		*end = emogi_index_search_keys_id(&search->keys, datum, reader->index->to_type);
		return true;
	}
	return false;
}

/* ---- the search ---- */

/* Does a vertex have an edge that one of the readers in [first, end) finds? */
static bool
has_edge(Search *search, int64 id, int first, int end)
{
	int64		other;

	for (int i = first; i < end; i++)
		if (put_reader(search, &search->readers[i], id) && next_end(search, &search->readers[i], &other))
			return true;
	return false;
}

/* Is a source in the graph? Where nothing can tell, the walk gives up. */
static bool
is_vertex(Search *search, int64 id)
{
	if (has_edge(search, id, 0, search->nforward))
		return true;
	if (search->nforward == search->nreaders && search->walk->direction != EMOGI_BOTH)
		search->gave_up = true;
	return has_edge(search, id, search->nforward, search->nreaders);
}

/* Add the paths to a vertex that is met again. */
static void
add_paths(Search *search, Vertex *vertex, int32 level, double paths)
{
	if (vertex->level != level)
		return;
	vertex->paths += paths;
	search->gave_up |= search->walk->counts_paths && vertex->paths > MOST_PATHS;
}

/* Meet a vertex at some level, by so many paths. */
static void
meet(Search *search, int64 id, int32 level, double paths)
{
	bool		is_known;
	Vertex	   *vertex = vertices_insert(search->vertices, id, &is_known);

	if (is_known && vertex->is_met)
	{
		add_paths(search, vertex, level, paths);
		return;
	}
	if (is_known && vertex->is_wanted)
		search->nwanted--;
	vertex->is_met = true;
	vertex->is_wanted = false;
	vertex->level = level;
	vertex->paths = paths;
	if (search->count == search->room)
	{
		search->room *= 2;
		search->reached = repalloc_huge(search->reached, search->room * sizeof *search->reached);
	}
	search->reached[search->count++] = (Reached) {id, level};
}

/* Meet what a vertex's edges lead to. */
static void
walk_from(Search *search, const Reached from)
{
	const double paths = search->walk->counts_paths ? vertices_lookup(search->vertices, from.id)->paths : 1.0;

	for (int i = 0; i < search->nforward && !search->gave_up; i++)
	{
		Reader	   *reader = &search->readers[i];
		int64		end;

		if (!put_reader(search, reader, from.id))
			continue;
		while (next_end(search, reader, &end))
		{
			search->walk->nlooked++;
			meet(search, end, from.level + 1, paths);
		}
	}
}

static int
compare_reached(const void *a, const void *b, void *keys)
{
	return emogi_index_search_keys_compare(((const Reached *) a)->id, ((const Reached *) b)->id, keys);
}

/* Is there nothing more that is wanted? */
static bool
is_done(const Search *search)
{
	return search->gave_up || (search->walk->targeted && search->nwanted == 0);
}

/* Walk from level to level until nothing is left, or all targets are met: where paths are counted, with the whole level before. */
static void
walk_levels(Search *search)
{
	const EmogiIndexSearch *walk = search->walk;
	uint64		first = 0;

	for (int64 level = 0; first < search->count && (walk->max_depth < 0 || level < walk->max_depth); level++)
	{
		const uint64 end = search->count;

		if (search->keys.are_integers)
			qsort_arg(search->reached + first, end - first, sizeof *search->reached, compare_reached, &search->keys);
		for (; first < end; first++)
		{
			if (search->gave_up || (is_done(search) && !walk->counts_paths))
				return;
			walk_from(search, search->reached[first]);
		}
		if (is_done(search))
			return;
	}
}

/* ---- beginning and end ---- */

/* Note the targets. */
static void
enter_targets(Search *search)
{
	const EmogiIndexSearch *walk = search->walk;

	for (uint64 i = 0; walk->targeted && i < walk->ntargets; i++)
	{
		bool		is_known;
		const int64 id = emogi_index_search_keys_id(&search->keys, walk->targets[i], INT8OID);
		Vertex	   *vertex = vertices_insert(search->vertices, id, &is_known);

		if (is_known)
			continue;
		vertex->is_met = false;
		vertex->is_wanted = true;
		search->nwanted++;
	}
}

/* Meet a source, which has one path however often it is given. */
static void
enter_source(Search *search, int64 id)
{
	const Vertex *known = vertices_lookup(search->vertices, id);

	if (known == NULL || !known->is_met)
		meet(search, id, 0, 1.0);
}

/* Meet the sources that are in the graph. */
static void
enter_sources(Search *search)
{
	EmogiIndexSearch  *walk = search->walk;

	walk->found = palloc0(Max(walk->nsources, 1) * sizeof *walk->found);
	for (uint64 i = 0; i < walk->nsources && !search->gave_up; i++)
	{
		const int64 id = emogi_index_search_keys_id(&search->keys, walk->sources[i], INT8OID);
		const Vertex *known = vertices_lookup(search->vertices, id);

		walk->found[i] = (known != NULL && known->is_met) || is_vertex(search, id);
		if (walk->found[i])
			enter_source(search, id);
	}
}

/* Have readers for all indexes, in the order that the walk's direction asks for. */
static void
open_readers(Search *search, const EmogiSearchIndexes *indexes)
{
	const EmogiDirection direction = search->walk->direction;
	const EmogiRowFilterPlan filter = emogi_row_filter_plan(indexes->source);
	const EmogiSearchIndex *ends[] = {
		direction == EMOGI_IN ? indexes->by_dst : indexes->by_src,
		direction == EMOGI_IN ? indexes->by_src : indexes->by_dst
	};

	search->readers = palloc(2 * indexes->nleaves * sizeof *search->readers);
	for (int end = 0; end < 2; end++)
	{
		for (int i = 0; i < indexes->nleaves && ends[end] != NULL; i++)
			open_reader(&search->readers[search->nreaders++], &filter, &ends[end][i]);
		if (end == 0 || direction == EMOGI_BOTH)
			search->nforward = search->nreaders;
	}
}

/* Copy the keys that were reached, which are no integers, into the current memory context. */
static EmogiKeyBytes *
copy_keys(const Search *search)
{
	EmogiKeyBytes *keys = palloc_extended(Max(search->count, 1) * sizeof *keys, MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < search->count; i++)
	{
		const EmogiKeyBytes key = search->keys.bytes[search->reached[i].id];

		keys[i] = (EmogiKeyBytes) {key.length > 0 ? memcpy(palloc(key.length), key.bytes, key.length) : NULL, key.length};
	}
	return keys;
}

/* Write the answer, in ascending order of keys, into the current memory context. */
static void
write_answer(Search *search)
{
	const bool	are_integers = search->keys.are_integers;
	EmogiIndexSearch  *walk = search->walk;

	walk->count = search->count;
	walk->nlevels = search->count > 0 ? (uint32) search->reached[search->count - 1].level + 1 : 0;
	qsort_arg(search->reached, search->count, sizeof *search->reached, compare_reached, &search->keys);
	walk->ids = palloc_extended(Max(search->count, 1) * sizeof *walk->ids, MCXT_ALLOC_HUGE);
	walk->levels = palloc_extended(Max(search->count, 1) * sizeof *walk->levels, MCXT_ALLOC_HUGE);
	if (walk->counts_paths)
		walk->paths = palloc_extended(Max(search->count, 1) * sizeof *walk->paths, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < search->count; i++)
	{
		walk->ids[i] = are_integers ? search->reached[i].id : (int64) i;
		walk->levels[i] = search->reached[i].level;
		if (walk->counts_paths)
			walk->paths[i] = vertices_lookup(search->vertices, search->reached[i].id)->paths;
	}
	walk->keys = are_integers ? NULL : copy_keys(search);
}

/*
 * Search by walking over the indexes, which are open. The answer is that of the Graph of what the active snapshot sees; with targets,
 * those that are reached are in it, and others may be. False when it costs more than it may, or it cannot be told whether a source is in
 * the graph; walk->cost says what it has cost.
 */
bool
emogi_index_search_run(const EmogiSearchIndexes *indexes, EmogiIndexSearch *walk)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext scrap = AllocSetContextCreate(context, "emogi walk", ALLOCSET_DEFAULT_SIZES);
	Search		search = {.walk = walk,.room = 64};

	walk->cost = walk->nlooked = 0;
	if (walk->targeted && walk->ntargets == 0)
		walk->max_depth = 0;	/* no row is wanted that there could be */
	MemoryContextSwitchTo(scrap);
	search.reached = palloc(search.room * sizeof *search.reached);
	search.vertices = vertices_create(scrap, 64, NULL);
	emogi_index_search_keys_init(&search.keys, walk->coder);
	open_readers(&search, indexes);
	enter_targets(&search);
	MemoryContextSwitchTo(context);
	enter_sources(&search);
	MemoryContextSwitchTo(scrap);
	walk_levels(&search);
	for (int i = 0; i < search.nreaders; i++)
		close_reader(&search.readers[i]);
	walk->is_answered = !search.gave_up;
	MemoryContextSwitchTo(context);
	if (walk->is_answered)
		write_answer(&search);
	MemoryContextDelete(scrap);
	return walk->is_answered;
}
