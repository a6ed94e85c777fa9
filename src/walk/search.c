/*
 * search.c: BFS over indexes.
 *
 * What is met stands in a hash table of keys, and in the order in which it was met in an array, which is the queue: level by level,
 * each walked in ascending order of keys, in which an index is read best. A row with a NULL end is no edge. Rows are those that the
 * active snapshot sees, the own transaction's among them.
 *
 * A vertex that is met is in the graph. A source is if it has an edge. Where it has none in the walk's own direction, and there is no
 * index of the other, the walk gives up.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "server/compat.h"
#include "walk/walk.h"

/* A key that was met, or is wanted. */
typedef struct Key
{
	int64		key;
	char		status;			/* of the hash table */
	bool		is_met;
	bool		is_wanted;		/* a target that is not met yet */
} Key;

#define SH_PREFIX keys
#define SH_ELEMENT_TYPE Key
#define SH_KEY_TYPE int64
#define SH_KEY key
#define SH_HASH_KEY(table, key) hash_combine(murmurhash32((uint32) (key)), murmurhash32((uint32) ((uint64) (key) >> 32)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* A vertex that was reached. */
typedef struct Reached
{
	int64		key;
	int32		level;
} Reached;

/* An index that is being read. */
typedef struct Reader
{
	const EmogiWalkIndex *index;
	Relation	heap;
	TupleTableSlot *slot;
	IndexScanDesc scan;
} Reader;

typedef struct Search
{
	EmogiWalk  *walk;
	Reader	   *readers;		/* [nreaders], those of the walk's direction first */
	int			nreaders;
	int			nforward;		/* so many */
	bool		gave_up;
	keys_hash *keys;
	uint64		nwanted;		/* targets that are not met yet */
	Reached    *reached;		/* [room] */
	uint64		count;
	uint64		room;
} Search;

/* ---- reading an index ---- */

/* Begin to read an index. */
static void
open_reader(Reader *reader, const EmogiWalkIndex *index)
{
	reader->index = index;
	reader->heap = table_open(index->heap, NoLock);
	reader->slot = table_slot_create(reader->heap, NULL);
	reader->scan = emogi_compat_begin_index(reader->heap, index->index, GetActiveSnapshot());
}

static void
close_reader(Reader *reader)
{
	index_endscan(reader->scan);
	ExecDropSingleTupleTableSlot(reader->slot);
	table_close(reader->heap, NoLock);
}

/* Turn the Datum of an integer into its value. */
static int64
integer_of(Datum datum, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(datum);
		case INT4OID:
			return DatumGetInt32(datum);
		default:
			return DatumGetInt64(datum);
	}
}

/* Turn a value into the Datum of an integer, and find the function that tells that such are equal; false when it is out of range. */
static bool
datum_of(int64 value, Oid type, Datum *datum, RegProcedure *equals)
{
	switch (type)
	{
		case INT2OID:
			*datum = Int16GetDatum((int16) value);
			*equals = F_INT2EQ;
			return value >= PG_INT16_MIN && value <= PG_INT16_MAX;
		case INT4OID:
			*datum = Int32GetDatum((int32) value);
			*equals = F_INT4EQ;
			return value >= PG_INT32_MIN && value <= PG_INT32_MAX;
		default:
			*datum = Int64GetDatum(value);
			*equals = F_INT8EQ;
			return true;
	}
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
put_reader(Search *search, Reader *reader, int64 key)
{
	const bool	is_btree = reader->index->index->rd_rel->relam == BTREE_AM_OID;
	ScanKeyData scan_key;
	RegProcedure equals;
	Datum		datum;

	CHECK_FOR_INTERRUPTS();
	if (!datum_of(key, reader->index->from_type, &datum, &equals) || !pay(search, EMOGI_WALK_SEARCH_COST))
		return false;
	ScanKeyInit(&scan_key, 1, is_btree ? BTEqualStrategyNumber : HTEqualStrategyNumber, equals, datum);
	index_rescan(reader->scan, &scan_key, 1, NULL, 0);
	return true;
}

/* Does the row at hand have the key? A hash index finds rows with the same hash. */
static bool
is_of_key(const Reader *reader, int64 key)
{
	const AttrNumber column = reader->index->index->rd_index->indkey.values[0];
	bool		is_null;
	Datum		datum = slot_getattr(reader->slot, column, &is_null);

	return !is_null && integer_of(datum, reader->index->from_type) == key;
}

/* Read the other end of the next edge of a vertex; false when there is none, or the walk gives up. */
static bool
next_end(Search *search, Reader *reader, int64 key, int64 *end)
{
	while (index_getnext_slot(reader->scan, ForwardScanDirection, reader->slot))
	{
		bool		is_null;
		Datum		datum;

		CHECK_FOR_INTERRUPTS();
		if (!pay(search, 1))
			return false;
		if (reader->scan->xs_recheck && !is_of_key(reader, key))
			continue;
		datum = slot_getattr(reader->slot, reader->index->to, &is_null);
		if (is_null)
			continue;
		*end = integer_of(datum, reader->index->to_type);
		return true;
	}
	return false;
}

/* ---- the search ---- */

/* Does a vertex have an edge that one of the readers in [first, end) finds? */
static bool
has_edge(Search *search, int64 key, int first, int end)
{
	int64		other;

	for (int i = first; i < end; i++)
		if (put_reader(search, &search->readers[i], key) && next_end(search, &search->readers[i], key, &other))
			return true;
	return false;
}

/* Is a source in the graph? Where nothing can tell, the walk gives up. */
static bool
is_vertex(Search *search, int64 key)
{
	if (has_edge(search, key, 0, search->nforward))
		return true;
	if (search->nforward == search->nreaders && search->walk->direction != EMOGI_BOTH)
		search->gave_up = true;
	return has_edge(search, key, search->nforward, search->nreaders);
}

/* Meet a vertex at some level. */
static void
meet(Search *search, int64 key, int32 level)
{
	bool		is_known;
	Key	   *found = keys_insert(search->keys, key, &is_known);

	if (is_known && found->is_met)
		return;
	if (is_known && found->is_wanted)
		search->nwanted--;
	found->is_met = true;
	found->is_wanted = false;
	if (search->count == search->room)
	{
		search->room *= 2;
		search->reached = repalloc_huge(search->reached, search->room * sizeof *search->reached);
	}
	search->reached[search->count++] = (Reached) {key, level};
}

/* Meet what a vertex's edges lead to. */
static void
walk_from(Search *search, const Reached from)
{
	for (int i = 0; i < search->nforward && !search->gave_up; i++)
	{
		Reader	   *reader = &search->readers[i];
		int64		end;

		if (!put_reader(search, reader, from.key))
			continue;
		while (next_end(search, reader, from.key, &end))
		{
			search->walk->nlooked++;
			meet(search, end, from.level + 1);
		}
	}
}

static int
compare_keys(const void *a, const void *b)
{
	const int64 x = ((const Reached *) a)->key;
	const int64 y = ((const Reached *) b)->key;

	return (x > y) - (x < y);
}

/* Is there nothing more that is wanted? */
static bool
is_done(const Search *search)
{
	return search->gave_up || (search->walk->targeted && search->nwanted == 0);
}

/* Walk from level to level until nothing is left, or all targets are met. */
static void
walk_levels(Search *search)
{
	const EmogiWalk *walk = search->walk;
	uint64		first = 0;

	for (int64 level = 0; first < search->count && (walk->max_depth < 0 || level < walk->max_depth); level++)
	{
		const uint64 end = search->count;

		qsort(search->reached + first, end - first, sizeof *search->reached, compare_keys);
		for (; first < end; first++)
		{
			if (is_done(search))
				return;
			walk_from(search, search->reached[first]);
		}
	}
}

/* ---- beginning and end ---- */

/* Note the targets. */
static void
enter_targets(Search *search)
{
	const EmogiWalk *walk = search->walk;

	for (uint64 i = 0; walk->targeted && i < walk->ntargets; i++)
	{
		bool		is_known;
		Key	   *found = keys_insert(search->keys, walk->targets[i], &is_known);

		if (is_known)
			continue;
		found->is_met = false;
		found->is_wanted = true;
		search->nwanted++;
	}
}

/* Meet the sources that are in the graph. */
static void
enter_sources(Search *search)
{
	EmogiWalk  *walk = search->walk;

	walk->found = palloc0(Max(walk->nsources, 1) * sizeof *walk->found);
	for (uint64 i = 0; i < walk->nsources && !search->gave_up; i++)
	{
		const Key  *known = keys_lookup(search->keys, walk->sources[i]);

		walk->found[i] = (known != NULL && known->is_met) || is_vertex(search, walk->sources[i]);
		if (walk->found[i])
			meet(search, walk->sources[i], 0);
	}
}

/* Have readers for all indexes, in the order that the walk's direction asks for. */
static void
open_readers(Search *search, const EmogiWalkIndexes *indexes)
{
	const EmogiDirection direction = search->walk->direction;
	const EmogiWalkIndex *ends[] = {
		direction == EMOGI_IN ? indexes->by_dst : indexes->by_src,
		direction == EMOGI_IN ? indexes->by_src : indexes->by_dst
	};

	search->readers = palloc(2 * indexes->nleaves * sizeof *search->readers);
	for (int end = 0; end < 2; end++)
	{
		for (int i = 0; i < indexes->nleaves && ends[end] != NULL; i++)
			open_reader(&search->readers[search->nreaders++], &ends[end][i]);
		if (end == 0 || direction == EMOGI_BOTH)
			search->nforward = search->nreaders;
	}
}

/* Write the answer, in ascending order of keys, into a memory context. */
static void
write_answer(const Search *search, MemoryContext context)
{
	EmogiWalk  *walk = search->walk;

	walk->count = search->count;
	walk->nlevels = search->count > 0 ? (uint32) search->reached[search->count - 1].level + 1 : 0;
	qsort(search->reached, search->count, sizeof *search->reached, compare_keys);
	walk->ids = MemoryContextAllocHuge(context, Max(search->count, 1) * sizeof *walk->ids);
	walk->levels = MemoryContextAllocHuge(context, Max(search->count, 1) * sizeof *walk->levels);
	for (uint64 i = 0; i < search->count; i++)
	{
		walk->ids[i] = search->reached[i].key;
		walk->levels[i] = search->reached[i].level;
	}
}

/*
 * Search by walking over the indexes, which are open. The answer is that of the Graph of what the active snapshot sees; with targets,
 * those that are reached are in it, and others may be. False when it costs more than it may, or it cannot be told whether a source is in
 * the graph; walk->cost says what it has cost.
 */
bool
emogi_walk_search(const EmogiWalkIndexes *indexes, EmogiWalk *walk)
{
	MemoryContext context = CurrentMemoryContext;
	MemoryContext scrap = AllocSetContextCreate(context, "emogi walk", ALLOCSET_DEFAULT_SIZES);
	Search		search = {.walk = walk,.room = 64};

	walk->cost = walk->nlooked = 0;
	if (walk->targeted && walk->ntargets == 0)
		walk->max_depth = 0;	/* no row is wanted that there could be */
	MemoryContextSwitchTo(scrap);
	search.reached = palloc(search.room * sizeof *search.reached);
	search.keys = keys_create(scrap, 64, NULL);
	open_readers(&search, indexes);
	enter_targets(&search);
	MemoryContextSwitchTo(context);
	enter_sources(&search);
	MemoryContextSwitchTo(scrap);
	walk_levels(&search);
	for (int i = 0; i < search.nreaders; i++)
		close_reader(&search.readers[i]);
	walk->is_answered = !search.gave_up;
	if (walk->is_answered)
		write_answer(&search, context);
	MemoryContextSwitchTo(context);
	MemoryContextDelete(scrap);
	return walk->is_answered;
}
