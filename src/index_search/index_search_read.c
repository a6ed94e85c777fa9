/*
 * index_search_read.c: the edges of a vertex, read through table indexes under the active snapshot.
 *
 * Rows are those that the snapshot sees, including those of the current transaction. A row with a
 * NULL endpoint is not an edge. In a filtered table (../analysis/table_filter.c), only rows that
 * satisfy its conditions are edges; the conditions are evaluated on the heap's row.
 *
 * A row with two costs is an edge in each direction whose cost is not negative. So each index is
 * read twice, once with each cost: it leads along the edges of one, and against those of the other.
 *
 * Each index descent and each row is charged to the search, which gives up above its cost limit.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/visibilitymap.h"
#include "catalog/pg_am.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "edges/pages.h"
#include "edges/row_filter.h"
#include "edges/sink.h"
#include "base/compat.h"
#include "base/fault.h"
#include "index_search/kept_indexes.h"

/* An index scan, which is opened when it is first used: many searches need only some of theirs. */
typedef struct EmogiIndexReader
{
	const EmogiSearchIndex *index;
	bool		reverse;		/* of the edges against a row's direction */
	Relation	heap;			/* NULL = the scan is not open */
	TupleTableSlot *slot;
	IndexScanDesc scan;
	ScanKeyData keys[EMOGI_INDEX_MAX_PREFIX + 1];	/* [index->nprefix + 1], the endpoint's is
													 * the last */
	MemoryContext context;		/* of the scan key's argument */
	EmogiRowFilter *filter;		/* conditions on the rows; NULL = none */
	bool		shares_filter;	/* it is that of another reader of the heap */
	AttrNumber	weight;			/* of the edge; 0 = none */
	Oid			weight_type;
	bool		is_of_two;		/* it is one of two costs: if negative, there is no edge */
	Buffer		map;			/* page of the heap's visibility map, pinned during a search */
} EmogiIndexReader;

/* Get the conditions for a reader's heap, from another reader if one has them. */
static void
open_filter(EmogiIndexReader *reader, const EmogiIndexReaders *in)
{
	if (emogi_faults.analysis[EMOGI_ANALYSIS_INDEX_SEARCHES])
		return;
	for (int i = 0; i < in->nreaders && !reader->shares_filter; i++)
	{
		const EmogiIndexReader *other = &in->readers[i];

		if (other->filter == NULL || other->index->heap != reader->index->heap)
			continue;
		reader->filter = other->filter;
		reader->shares_filter = true;
	}
	if (reader->filter == NULL)
		reader->filter = emogi_row_filter_open(&in->filter, reader->heap);
}

/* Open the scan of a reader, in the memory of the search or of the indexes that are kept. */
static void
open_reader(EmogiIndexReader *reader, const EmogiIndexReaders *in)
{
	const EmogiSearchIndex *index = reader->index;
	const int	nprefix = index->nprefix;
	MemoryContext old = MemoryContextSwitchTo(in->context);
	ResourceOwner old_owner = CurrentResourceOwner;

	CurrentResourceOwner = in->owner;
	reader->weight = reader->reverse ? index->reverse : index->weight;
	reader->weight_type = reader->reverse ? index->reverse_type : index->weight_type;
	reader->is_of_two = index->reverse > 0;
	reader->heap = table_open(index->heap, NoLock);
	reader->slot = table_slot_create(reader->heap, NULL);
	reader->scan = emogi_compat_begin_index(reader->heap, index->index, GetActiveSnapshot(),
											nprefix + 1);
	open_filter(reader, in);
	reader->context = AllocSetContextCreate(CurrentMemoryContext, "emogi index key",
											ALLOCSET_SMALL_SIZES);
	memcpy(reader->keys, index->prefix, nprefix * sizeof *reader->keys);
	ScanKeyEntryInitialize(&reader->keys[nprefix], 0, (AttrNumber) (nprefix + 1), index->strategy,
						   InvalidOid, index->index->rd_indcollation[nprefix], index->equals,
						   (Datum) 0);
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
}

/* Release the page of the visibility map that a reader has pinned. */
static void
release_map(EmogiIndexReader *reader)
{
	if (BufferIsValid(reader->map))
		ReleaseBuffer(reader->map);
	reader->map = InvalidBuffer;
}

/* Release the pages of the index and of the heap that a reader's scan has pinned; it stays open. */
static void
release_pages(const EmogiIndexReaders *in, EmogiIndexReader *reader)
{
	MemoryContext old = MemoryContextSwitchTo(in->context);
	ResourceOwner old_owner = CurrentResourceOwner;

	if (reader->heap != NULL)
	{
		CurrentResourceOwner = in->owner;
		index_rescan(reader->scan, reader->keys, reader->index->nprefix + 1, NULL, 0);
		ExecClearTuple(reader->slot);
		release_map(reader);
		emogi_compat_release_heap(reader->scan);
		CurrentResourceOwner = old_owner;
	}
	MemoryContextSwitchTo(old);
}

static void
close_reader(EmogiIndexReader *reader)
{
	if (reader->heap == NULL)
		return;
	release_map(reader);
	index_endscan(reader->scan);
	if (!reader->shares_filter)
		emogi_row_filter_close(reader->filter);
	ExecDropSingleTupleTableSlot(reader->slot);
	table_close(reader->heap, NoLock);
}

/* Add readers for the indexes of an end; indexes NULL = none. */
static void
add_readers(EmogiIndexReaders *in, const EmogiSearchIndex *indexes, int nleaves, bool reverse)
{
	for (int i = 0; i < nleaves && indexes != NULL; i++)
		in->readers[in->nreaders++] = (EmogiIndexReader) {.index = &indexes[i],.reverse = reverse};
}

/* Make readers for all indexes of both directions, those of the search's direction first. */
static void
make_readers(EmogiIndexReaders *in, const EmogiSearchIndexes *indexes, EmogiDirection direction)
{
	const bool	both_ways = indexes->source->reverse > 0;
	const EmogiSearchIndex *ends[] = {
		direction == EMOGI_IN ? indexes->by_dst : indexes->by_src,
		direction == EMOGI_IN ? indexes->by_src : indexes->by_dst
	};

	in->nper_end = indexes->nleaves * (both_ways ? 2 : 1);
	in->readers = MemoryContextAlloc(in->context, 2 * in->nper_end * sizeof *in->readers);
	for (int end = 0; end < 2; end++)
	{
		add_readers(in, ends[end], indexes->nleaves, false);
		if (both_ways)
			add_readers(in, ends[direction == EMOGI_BOTH ? end : 1 - end], indexes->nleaves, true);
		if (end == 0 || direction == EMOGI_BOTH)
			in->nforward = in->nreaders;
	}
}

/* Continue with the readers of an earlier search, under the active snapshot. */
static void
resume_readers(EmogiIndexReaders *in, const EmogiIndexReaders *kept)
{
	*in = *kept;
	for (int i = 0; i < in->nreaders; i++)
		if (in->readers[i].heap != NULL)
			in->readers[i].scan->xs_snapshot = GetActiveSnapshot();
}

/*
 * Get readers for all indexes of a search, those of its direction first, in the current memory
 * context unless they are kept.
 */
void
emogi_index_readers_open(EmogiIndexReaders *in, const EmogiSearchIndexes *indexes,
						 EmogiIndexSearch *search)
{
	EmogiKeptIndexes *kept = indexes->kept;

	*in = (EmogiIndexReaders) {.context = kept != NULL ? kept->context : CurrentMemoryContext,
							   .owner = kept != NULL ? kept->owner : CurrentResourceOwner,
							   .filter = indexes->filter};
	if (kept != NULL && kept->readers.readers != NULL)
		resume_readers(in, &kept->readers);
	else
		make_readers(in, indexes, search->direction);
	if (kept != NULL)
		kept->readers = *in;
	in->is_kept = kept != NULL;
	in->search = search;
	emogi_index_search_keys_init(&in->keys, search->coder);
}

/* Close all readers, unless they are kept. */
void
emogi_index_readers_close(EmogiIndexReaders *in)
{
	for (int i = 0; i < in->nreaders; i++)
		if (in->is_kept)
			release_pages(in, &in->readers[i]);
		else
			close_reader(&in->readers[i]);
}

/* Add to the cost of the search; false if it exceeds the limit. */
bool
emogi_index_readers_charge(EmogiIndexReaders *in, uint64 cost)
{
	in->search->cost += cost;
	in->gave_up |= in->search->cost > in->search->max_cost;
	return !in->gave_up;
}

/*
 * Restart a reader's scan at the edges of a vertex; false if it can have none, or the search gives
 * up.
 */
bool
emogi_index_readers_seek(EmogiIndexReaders *in, int reader, int64 id)
{
	EmogiIndexReader *at = &in->readers[reader];
	const EmogiSearchIndex *index = at->index;
	ResourceOwner old_owner = CurrentResourceOwner;
	MemoryContext old;
	Datum		datum;
	bool		exists;

	CHECK_FOR_INTERRUPTS();
	if (at->heap == NULL)
		open_reader(at, in);
	old = MemoryContextSwitchTo(at->context);
	MemoryContextReset(at->context);
	exists = emogi_index_search_keys_datum(&in->keys, id, index->from_type, &datum);
	MemoryContextSwitchTo(old);
	if (!exists || !emogi_index_readers_charge(in, EMOGI_INDEX_DESCENT_COST))
		return false;
	at->keys[index->nprefix].sk_argument = datum;
	/* here and below: access methods allocate memory of a scan when they first need it */
	old = MemoryContextSwitchTo(in->context);
	CurrentResourceOwner = in->owner;
	index_rescan(at->scan, at->keys, index->nprefix + 1, NULL, 0);
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
	return true;
}

/* Does the current row have the reader's key? A hash index returns all rows with the same hash. */
static bool
has_key(const EmogiIndexReader *reader)
{
	const int	nprefix = reader->index->nprefix;
	const AttrNumber column = reader->index->index->rd_index->indkey.values[nprefix];
	ScanKey		key = unconstify(ScanKeyData *, &reader->keys[nprefix]);
	bool		is_null;
	Datum		datum = slot_getattr(reader->slot, column, &is_null);

	return !is_null &&
		DatumGetBool(FunctionCall2Coll(&key->sk_func, key->sk_collation, datum, key->sk_argument));
}

/* Does the current row lack the reader's edge, because that cost is negative? */
static bool
lacks_edge(EmogiIndexReaders *in, EmogiIndexReader *reader)
{
	MemoryContext old = MemoryContextSwitchTo(reader->context);
	bool		is_null;
	Datum		datum = slot_getattr(reader->slot, reader->weight, &is_null);
	const double cost = is_null ? -1 : emogi_pages_weight(datum, reader->weight_type);

	MemoryContextSwitchTo(old);
	in->gave_up |= is_null;
	return !emogi_cost_has_edge(cost);
}

/* Get the next row of a reader's scan into its slot; false if there is none. */
static bool
next_row(const EmogiIndexReaders *in, EmogiIndexReader *reader)
{
	MemoryContext old = MemoryContextSwitchTo(in->context);
	ResourceOwner old_owner = CurrentResourceOwner;
	bool		found;

	CurrentResourceOwner = in->owner;
	found = index_getnext_slot(reader->scan, ForwardScanDirection, reader->slot);
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
	return found;
}

/*
 * Read the other endpoint of the next edge of a vertex; false if there is none, or the search gives
 * up. end: NULL = not wanted.
 */
bool
emogi_index_readers_next(EmogiIndexReaders *in, int reader, int64 *end)
{
	EmogiIndexReader *at = &in->readers[reader];

	while (next_row(in, at))
	{
		bool		is_null;
		Datum		datum;

		CHECK_FOR_INTERRUPTS();
		if (!emogi_index_readers_charge(in, 1))
			return false;
		if (at->scan->xs_recheck && !has_key(at))
			continue;
		if (at->filter != NULL && !emogi_row_filter_passes(at->filter, at->slot))
			continue;
		datum = slot_getattr(at->slot, at->index->to, &is_null);
		if (is_null || (at->is_of_two && lacks_edge(in, at)))
			continue;
		if (end != NULL)
			*end = emogi_index_search_keys_id(&in->keys, datum, at->index->to_type);
		return true;
	}
	return false;
}

/* Get the weight of the edge just read; if it is none that lengths can be, the search gives up. */
double
emogi_index_readers_weight(EmogiIndexReaders *in, int reader)
{
	EmogiIndexReader *at = &in->readers[reader];
	MemoryContext old = MemoryContextSwitchTo(at->context);
	bool		is_null;
	Datum		datum = slot_getattr(at->slot, at->weight, &is_null);
	const double weight = is_null ? -1 : emogi_pages_weight(datum, at->weight_type);

	MemoryContextSwitchTo(old);
	in->gave_up |= !(weight >= 0);
	return weight + 0.0;		/* -0 is 0 */
}

/* ---- counts of index entries ---- */

/* Read the next entry of a reader's index; NULL if there is none. */
static ItemPointer
next_entry(EmogiIndexReader *reader)
{
	return index_getnext_tid(reader->scan, ForwardScanDirection);
}

/*
 * Does the snapshot see the row of an index entry that was just read? If all rows of its page are
 * visible, the heap is not read. The scan keeps the index's page pinned, so that VACUUM cannot have
 * replaced the row in between. A serializable transaction locks the page that it does not read.
 */
static bool
sees_entry(EmogiIndexReader *reader, ItemPointer entry)
{
	const BlockNumber page = ItemPointerGetBlockNumber(entry);

	if (!VM_ALL_VISIBLE(reader->heap, page, &reader->map))
		return index_fetch_heap(reader->scan, reader->slot);
	PredicateLockPage(reader->heap, page, reader->scan->xs_snapshot);
	return true;
}

/*
 * Check whether each visible index entry of a vertex is an edge, regardless of the rest of the row:
 * without conditions and costs, if the other endpoint is never NULL, as its own index tells.
 */
bool
emogi_index_readers_have_only_edges(EmogiIndexReaders *in, int reader)
{
	const EmogiSearchIndex *index = in->readers[reader].index;
	const int	other = reader + in->nper_end;

	if (in->filter.quals != NIL || index->reverse != 0 || index->nprefix != 0 ||
		index->index->rd_rel->relam != BTREE_AM_OID || other >= in->nreaders ||
		in->readers[other].index->nprefix != 0)
		return false;
	return emogi_index_nulls_are_absent(in->readers[other].index->index, GetActiveSnapshot());
}

/*
 * Count the edges of a vertex, for a reader that emogi_index_readers_have_only_edges. The search
 * may give up.
 */
uint64
emogi_index_readers_count(EmogiIndexReaders *in, int reader, int64 id)
{
	EmogiIndexReader *at = &in->readers[reader];
	MemoryContext old;
	ResourceOwner old_owner = CurrentResourceOwner;
	ItemPointer entry;
	uint64		count = 0;

	if (at->heap == NULL)
		open_reader(at, in);
	at->scan->xs_want_itup = true;	/* keeps the index's page pinned */
	if (!emogi_index_readers_seek(in, reader, id))
		return 0;
	old = MemoryContextSwitchTo(in->context);
	CurrentResourceOwner = in->owner;
	while ((entry = next_entry(at)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		if (!emogi_index_readers_charge(in, 1))
			break;
		if (sees_entry(at, entry))
			count++;
	}
	CurrentResourceOwner = old_owner;
	MemoryContextSwitchTo(old);
	return count;
}

/* ---- existence ---- */

/* Does a vertex have an edge in one of the readers [first, end)? */
bool
emogi_index_readers_has_edge(EmogiIndexReaders *in, int64 id, int first, int end)
{
	for (int i = first; i < end; i++)
		if (emogi_index_readers_seek(in, i, id) && emogi_index_readers_next(in, i, NULL))
			return true;
	return false;
}

/*
 * Is a vertex that has no edge in the direction of the search in the graph? If the other direction
 * has no index, the search gives up.
 */
bool
emogi_index_readers_has_other_edge(EmogiIndexReaders *in, int64 id)
{
	if (in->nforward == in->nreaders && in->search->direction != EMOGI_BOTH)
		in->gave_up = true;
	return emogi_index_readers_has_edge(in, id, in->nforward, in->nreaders);
}

/* Is a vertex in the graph? May give up as emogi_index_readers_has_other_edge does. */
bool
emogi_index_readers_has_vertex(EmogiIndexReaders *in, int64 id)
{
	return emogi_index_readers_has_edge(in, id, 0, in->nforward) ||
		emogi_index_readers_has_other_edge(in, id);
}
