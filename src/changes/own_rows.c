/*
 * own_rows.c: rows that the session has inserted since its last call
 *
 * A trigger that searches before each row of a statement finds one more row in each call. If
 * nothing else can have changed, the new rows are read where they were put, and added to the kept
 * changes. The tracker, the visibility map and the other pages are not read. Rules O6 to O10:
 * docs/design/incremental-graphs.md, "Own changes".
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "changes/own_changes.h"
#include "base/compat.h"
#include "base/fault.h"

/* Max number of new rows to read here, and of new pages that they may be on. */
#define MAX_ROWS 256
#define MAX_PAGES 16

/* New rows of a table. */
typedef struct NewRows
{
	EmogiOwnChanges *own;
	EmogiOwnLeaf *table;
	EmogiOwnKeys *keys;
	Relation	rel;
	Snapshot	snapshot;
	EmogiWeights weights;
	uint64		missing;		/* rows that are still to be found */
	int			nedges;
	int			npages;
	EmogiWeightedEdge edges[MAX_ROWS];
	struct
	{
		BlockNumber block;
		Buffer		buffer;
		uint16		nlines;
		uint16		nedges;		/* of `edges`, which are in the order of the pages */
		uint16		nskipped;
	}			pages[MAX_PAGES];
} NewRows;

/* ---- counting ---- */

static uint64 nassignments = 1;	/* to track_counts */

static GucBoolAssignHook previous_assign_hook = NULL;

/* Note that rows may not have been counted since (O7). */
static void
at_assignment(bool value, void *extra)
{
	nassignments++;
	if (previous_assign_hook)
		previous_assign_hook(value, extra);
}

/*
 * Watch from now on whether the server counts rows.
 *
 * PostgreSQL has no interface for this: the assign hook of its own setting is replaced, in this
 * backend only, before the first counts that a later call may rely on. The value alone does not
 * suffice, at any moment that an extension can choose. It may change and change back within one
 * statement (set_config in an UPDATE, a function with a SET clause), and rows are written without
 * the executor (COPY), so hooks of the executor and of utility statements miss some. Nothing else
 * tells of a row that was deleted without being counted, except the page that it was on: to look at
 * all pages that the transaction has written is what these rules save. WAL records are counted in
 * any case, but their number does not depend on rows alone.
 */
static void
watch_counting(void)
{
	static bool is_watching = false;

	if (is_watching)
		return;
	previous_assign_hook = emogi_compat_watch_setting("track_counts", at_assignment);
	is_watching = true;
}

/* Count the rows that the current transaction has written in a table, if the server does. */
void
emogi_own_rows_count(Relation rel, EmogiRowCounts *counts)
{
	watch_counting();
	counts->settings = nassignments;
	counts->is_counted = pgstat_track_counts &&
		emogi_compat_count_rows(rel, &counts->ninserted, &counts->nchanged);
}

/* ---- reading ---- */

/*
 * Find the new rows behind the lines of a page that have been read, and set *nlines. The page is
 * pinned. Return false if a row is not as expected: then the page must be rescanned.
 */
static bool
find_rows(NewRows *new, Buffer buffer, BlockNumber block, OffsetNumber first,
		  HeapTupleHeader *rows, uint32 *lengths, int *nrows, uint16 *nlines)
{
	Page		page = BufferGetPage(buffer);
	HeapTupleData tuple = {.t_tableOid = RelationGetRelid(new->rel)};
	bool		is_expected = true;

	*nrows = 0;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	*nlines = PageGetMaxOffsetNumber(page);
	for (OffsetNumber line = first; line <= *nlines && is_expected; line++)
	{
		ItemId		item = PageGetItemId(page, line);
		bool		is_own;
		bool		is_visible;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		ItemPointerSet(&tuple.t_self, block, line);
		is_own = !HeapTupleHeaderXminInvalid(tuple.t_data) &&
			TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple.t_data));
		is_visible = HeapTupleSatisfiesVisibility(&tuple, new->snapshot, buffer);
		/* others have not changed the table: it is a row of a carried transaction */
		is_own |= is_visible && new->own->is_first;
		is_expected = is_visible == is_own;
		if (!is_own || !is_expected)
			continue;
		is_expected = (uint64) *nrows < new->missing;
		if (is_expected)
		{
			rows[*nrows] = tuple.t_data;
			lengths[(*nrows)++] = tuple.t_len;
		}
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	return is_expected;
}

/* Decode the edge of a row; *is_edge = false if an end is NULL. Return false as decode_row. */
static bool
decode_edge(NewRows *new, HeapTupleHeader row, EmogiWeightedEdge *edge, bool *is_edge)
{
	const EmogiTupleLayout *layout = &new->table->layout;
	TupleDesc	desc = RelationGetDescr(new->rel);
	Datum		src;
	Datum		dst;

	if (new->keys->dictionary == NULL)
		return emogi_pages_decode_row(row, desc, layout, new->weights, edge, is_edge);
	return emogi_pages_decode_keys(row, desc, layout, new->weights, &src, &dst, &edge->weight,
								   is_edge) &&
		(!*is_edge || emogi_own_keys_get(new->keys, src, dst, edge, is_edge));
}

/* Decode a row of a pinned page. Return false if its page must be scanned. */
static bool
decode_row(NewRows *new, HeapTupleHeader row, uint32 length, uint16 *nedges, uint16 *nskipped)
{
	bool		is_edge;

	if (new->table->filter != NULL &&
		!emogi_row_filter_row_passes(new->table->filter, row, length))
		return true;
	if (!decode_edge(new, row, &new->edges[new->nedges], &is_edge))
		return false;
	new->nedges += is_edge;
	*nedges += is_edge;
	*nskipped += !is_edge;
	return true;
}

/*
 * Read the new rows of a page of which the first lines have been read. Return false if it must be
 * rescanned.
 */
static bool
read_page(NewRows *new, BlockNumber block, Buffer recent, uint16 nread)
{
	HeapTupleHeader rows[MAX_ROWS];
	uint32		lengths[MAX_ROWS];
	int			nrows;
	uint16		nlines;
	uint16		nedges = 0;
	uint16		nskipped = 0;
	Buffer		buffer = recent;
	bool		is_expected;

	if (new->npages == MAX_PAGES)
		return false;
	if (!BufferIsValid(buffer) || !emogi_compat_read_recent(new->rel, block, buffer))
		buffer = ReadBuffer(new->rel, block);
	is_expected = find_rows(new, buffer, block, nread + 1, rows, lengths, &nrows, &nlines);
	for (int i = 0; i < nrows && is_expected; i++)
		is_expected = decode_row(new, rows[i], lengths[i], &nedges, &nskipped);
	ReleaseBuffer(buffer);
	if (!is_expected)
		return false;
	new->pages[new->npages].block = block;
	new->pages[new->npages].buffer = buffer;
	new->pages[new->npages].nlines = nlines;
	new->pages[new->npages].nedges = nedges;
	new->pages[new->npages++].nskipped = nskipped;
	new->missing -= nrows;
	return true;
}

/* Find a page among the kept ones; return its index, or -1. */
static int
find_page(const EmogiOwnLeaf *table, BlockNumber block)
{
	int			low = 0;
	int			high = table->npages;

	if (table->last < table->npages && table->pages[table->last].block == block)
		return table->last;
	while (low < high)
	{
		const int	middle = (low + high) / 2;

		if (table->pages[middle].block < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->npages && table->pages[low].block == block ? low : -1;
}

/*
 * Read the new rows of a kept page. Return false if the page is not kept, or must be rescanned.
 */
static bool
read_kept_page(NewRows *new, BlockNumber block)
{
	const int	at = find_page(new->table, block);
	const EmogiOwnPage *page = at >= 0 ? &new->table->pages[at] : NULL;

	return page != NULL && read_page(new, block, page->buffer, page->nlines);
}

/*
 * Find all new rows of a table: on the page where the last one was found, on the page that the
 * server puts the next one on, and on pages that are new. Return false if they are elsewhere.
 */
static bool
read_rows(NewRows *new)
{
	EmogiOwnLeaf *table = new->table;
	const BlockNumber target = RelationGetTargetBlock(new->rel);
	const BlockNumber last = table->last < table->npages ? table->pages[table->last].block :
		InvalidBlockNumber;
	BlockNumber nblocks;

	/* without a lock since the last transaction, pages may have been truncated */
	if (new->own->is_first && RelationGetNumberOfBlocks(new->rel) < table->nblocks)
		return false;
	if (last != InvalidBlockNumber && !read_kept_page(new, last))
		return false;
	if (new->missing == 0)
		return true;
	if (target != InvalidBlockNumber && target != last && target < table->nblocks &&
		!read_kept_page(new, target))
		return false;
	nblocks = new->missing > 0 ? RelationGetNumberOfBlocks(new->rel) : 0;
	for (BlockNumber block = table->nblocks; block < nblocks; block++)
		if (!read_page(new, block, InvalidBuffer, 0))
			return false;
	return new->missing == 0;
}

/* ---- keeping ---- */

/* Add edges of new rows to a page. */
static void
add_to_page(EmogiOwnChanges *own, EmogiOwnPage *page, const EmogiWeightedEdge *edges, int nedges)
{
	const int	count = page->nedges + nedges;
	const bool	weighted = own->edge_bytes == sizeof(EmogiWeightedEdge);

	if (count > page->room)
	{
		const int	room = Min(Max(2 * count, 16), PG_UINT16_MAX);

		page->edges = page->edges == NULL ?
			MemoryContextAlloc(own->context, room * own->edge_bytes) :
			repalloc(page->edges, room * own->edge_bytes);
		page->room = (uint16) room;
	}
	for (int i = 0; i < nedges; i++)
		if (weighted)
			((EmogiWeightedEdge *) page->edges)[page->nedges + i] = edges[i];
		else
			((EmogiEdge *) page->edges)[page->nedges + i] = (EmogiEdge) {edges[i].src,
																		 edges[i].dst};
	page->nedges = (uint16) count;
}

/* Keep the new rows of a table. */
static void
keep_rows(const NewRows *new)
{
	EmogiOwnChanges *own = new->own;
	EmogiOwnLeaf *table = new->table;
	const EmogiWeightedEdge *edges = new->edges;

	for (int i = 0; i < new->npages; i++)
	{
		const BlockNumber block = new->pages[i].block;
		const int	found = find_page(table, block);
		const bool	is_last = table->npages > 0 && table->pages[table->npages - 1].block < block;
		int			at = found >= 0 ? found : is_last ? table->npages : 0;
		bool		is_new;
		EmogiOwnPage *page = emogi_own_changes_open_page(own, table, &at, block, &is_new);

		add_to_page(own, page, edges, new->pages[i].nedges);
		edges += new->pages[i].nedges;
		page->own = true;
		page->command = new->snapshot->curcid;
		page->last_command = page->command - 1;	/* or earlier, because all were visible */
		page->nlines = new->pages[i].nlines;
		page->buffer = new->pages[i].buffer;
		page->nskipped += new->pages[i].nskipped;
		page->lsn = 0;			/* what others have put there was not read */
		own->nskipped += new->pages[i].nskipped;
		table->nblocks = Max(table->nblocks, block + 1);
		table->last = at;
	}
	for (int i = 0; i < new->nedges; i++)
	{
		const EmogiEdgeChange change = {new->edges[i].src, new->edges[i].dst,
										new->edges[i].weight + 0.0, 1};

		emogi_tracker_diff_add(&own->changes, &change, 1);
	}
}

/* ---- following ---- */

/* Prepare to read single rows of a table, until the catalogs change. */
static void
prepare(EmogiOwnChanges *own, EmogiOwnLeaf *table, Relation rel, const EmogiSource *source)
{
	EmogiRowFilterPlan plan = emogi_row_filter_plan(source);
	MemoryContext old = MemoryContextSwitchTo(own->context);

	table->prepared = 0;
	emogi_heap_scan_columns(&table->layout, rel, source);
	table->filter = emogi_row_filter_keep(&plan, rel);
	MemoryContextSwitchTo(old);
	table->prepared = own->catalogs;
}

/*
 * Find out whether the transaction has only inserted rows in a table since the last call, few of
 * them, and set their number (O7).
 */
static bool
count_new(EmogiOwnLeaf *table, Relation rel, EmogiRowCounts *counts, uint64 *count)
{
	emogi_own_rows_count(rel, counts);
	if (!counts->is_counted || !table->counts.is_counted ||
		counts->settings != table->counts.settings ||
		counts->nchanged != table->counts.nchanged || counts->ninserted < table->counts.ninserted)
		return false;
	*count = counts->ninserted - table->counts.ninserted;
	return *count <= MAX_ROWS;
}

/* Read and keep the new rows of a table. Return false if it must be rescanned. */
static bool
follow_table(EmogiOwnChanges *own, EmogiOwnLeaf *table, const EmogiSource *source, Relation rel,
			 EmogiOwnKeys *keys, EmogiWeights weights)
{
	EmogiRowCounts counts;
	uint64		count;
	NewRows		new;
	bool		found;

	if (!count_new(table, rel, &counts, &count))
		return false;
	if (count == 0)
		return true;
	if (table->prepared != own->catalogs)
		prepare(own, table, rel, source);
	new.own = own;
	new.table = table;
	new.keys = keys;
	new.rel = rel;
	new.snapshot = GetActiveSnapshot();
	new.weights = emogi_sink_weights(source->weight > 0, source->reverse > 0, weights);
	new.missing = count;
	new.nedges = new.npages = 0;
	found = read_rows(&new);
	if (!found)
		return false;
	keep_rows(&new);
	table->counts = counts;
	return true;
}

/* Return true if kept changes can be followed at all, and tables are those that they are of. */
static bool
may_follow(const EmogiOwnChanges *own, const Oid *relids, const Oid *relfilenumbers, int nleaves)
{
	/* all but the last rule, which this code checks itself */
	static const bool no_faults[EMOGI_TRACKER_CARRIED] = {false};
	static const bool no_analysis_faults[EMOGI_ANALYSIS_RULES] = {false};

	StaticAssertStmt(EMOGI_TRACKER_CARRIED == EMOGI_TRACKER_RULES - 1,
					 "EMOGI_TRACKER_CARRIED must be the last tracker rule");
	if (!own->is_all_seen || own->catalogs != emogi_analysis_count_changes() ||
		own->nleaves != nleaves || own->changes.count > 2 * own->nnet + EMOGI_MIN_NETTED ||
		own->changes.count > EMOGI_MAX_OWN_CHANGES - MAX_ROWS * (uint64) nleaves ||
		emogi_compat_snapshots_age() ||
		memcmp(emogi_faults.tracker, no_faults, sizeof no_faults) != 0 ||
		memcmp(emogi_faults.analysis, no_analysis_faults, sizeof no_analysis_faults) != 0)
		return false;
	for (int i = 0; i < nleaves; i++)
		if (own->leaves[i].relid != relids[i] ||
			own->leaves[i].relfilenumber != relfilenumbers[i] ||
			own->leaves[i].npages > EMOGI_MAX_OWN_PAGES)
			return false;
	return true;
}

/*
 * Bring kept changes to the active snapshot, which is `xids` and sees the same of the other
 * transactions that have changed the tables as that of the last call (O6), if the transaction has
 * only inserted rows since, and these are found where it puts them. Otherwise return false: what
 * was kept remains right, and emogi_tracker_refresh finds the rest. dictionary: index of that of
 * the pinned graph to which the changes are applied; -1 = keys are integers, otherwise the call has
 * a slot. Raises the errors of conditions and of keys.
 */
bool
emogi_own_rows_follow(EmogiOwnChanges *own, EmogiCall *call, int dictionary,
					  const EmogiSource *source, const Oid *relids, const Oid *relfilenumbers,
					  int nleaves, const EmogiTransactionSnapshot *xids, EmogiWeights weights)
{
	const uint64 first = own->changes.count;
	EmogiOwnKeys keys;
	bool		follows = emogi_analysis_filter_is_current(source) &&
		may_follow(own, relids, relfilenumbers, nleaves);

	if (!follows)
		return false;
	own->is_following = true;
	emogi_own_keys_begin(&keys, own, call, dictionary);
	for (int i = 0; i < nleaves && follows; i++)
	{
		Relation	rel = relation_open(relids[i], NoLock);

		follows = follow_table(own, &own->leaves[i], source, rel, &keys, weights);
		relation_close(rel, NoLock);
	}
	emogi_own_keys_end(&keys);
	own->is_following = false;
	emogi_own_changes_sum_up(own, first);
	/* also if only some tables were followed, because earlier commands must not see their rows */
	emogi_own_changes_note_snapshot(own, xids, own->catalogs);
	return follows;
}
