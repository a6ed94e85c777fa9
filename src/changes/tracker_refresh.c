/*
 * tracker_refresh.c: refresh of a change tracker: find what a snapshot sees differently from the
 * tracker's base, and store it in the tracker if allowed
 *
 * All steps that can fail come first. Then the tracker changes as a whole, or not at all.
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "access/xact.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "changes/changes.h"
#include "base/compat.h"
#include "base/fault.h"
#include "base/arena.h"
#include "base/subtransaction.h"

/*
 * A rebuild is cheaper if more than 1 / REBUILD_PAGES of the pages plus FEW_PAGES are new or gone,
 * or more than 1 / REBUILD_CHANGES of the edges plus FEW_CHANGES have changed.
 */
#define REBUILD_PAGES 4
#define REBUILD_CHANGES 8
#define FEW_PAGES 64
#define FEW_CHANGES 65536

/* Get the total number of pages of some tables. */
uint64
emogi_tracker_refresh_pages(const Oid *relids, int nleaves)
{
	uint64		npages = 0;

	for (int i = 0; i < nleaves; i++)
	{
		Relation	rel = relation_open(relids[i], NoLock);

		npages += RelationGetNumberOfBlocks(rel);
		relation_close(rel, NoLock);
	}
	return npages;
}

/* Return true if a table of the tracker still has the same file and the same columns. */
static bool
is_same(const EmogiTrackedTable *table, const EmogiChangedPages *changed)
{
	return table->relfilenumber == changed->relfilenumber && table->src == changed->src &&
		table->dst == changed->dst && table->weight == changed->weight &&
		table->reverse == changed->reverse &&
		(memcmp(table->filter, changed->filter, sizeof table->filter) == 0 ||
		 emogi_faults.analysis[EMOGI_ANALYSIS_COLUMNS]);
}

/*
 * Find a table in the tracker; return NULL if it is not there, or has another file or other
 * columns. The search starts at the hint and goes both ways, because tables that came or went shift
 * the others by a few places.
 */
static const EmogiTrackedTable *
find_table(const EmogiTrackedPages *pages, const EmogiChangedPages *changed, int hint)
{
	for (int n = 0; n <= Max(hint, pages->nleaves - 1 - hint); n++)
	{
		const int	up = hint + n;
		const int	down = hint - n;

		if (up < pages->nleaves && pages->leaves[up].relid == changed->relid)
			return is_same(&pages->leaves[up], changed) ? &pages->leaves[up] : NULL;
		if (down >= 0 && down < pages->nleaves && pages->leaves[down].relid == changed->relid)
			return is_same(&pages->leaves[down], changed) ? &pages->leaves[down] : NULL;
	}
	return NULL;
}

/* Find the pages of all tables that must be rescanned; return their number. */
static uint64
find_changed_pages(const EmogiChangeTracker *tracker, const EmogiSource *source, const Oid *relids,
				   int nleaves, uint64 older_than, const EmogiOwnChanges *own,
				   EmogiChangedPages *changed_pages)
{
	uint64		count = 0;

	for (int i = 0; i < nleaves; i++)
	{
		EmogiChangedPages *changed = &changed_pages[i];
		Relation	rel = relation_open(relids[i], NoLock);

		emogi_own_rows_count(rel, &changed->counts);
		emogi_changed_pages_copy_map(rel, source, changed);
		changed->known = find_table(&tracker->pages, changed, i);
		if (own != NULL)
			emogi_own_changes_use_map_copy(own, changed, i);
		emogi_changed_pages_find(rel, &tracker->pages, older_than, changed);
		relation_close(rel, NoLock);
		count += changed->scans.count;
	}
	return count;
}

/* Return true if so many pages are new or gone that a rebuild is cheaper. */
static bool
is_hopeless(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed_pages, int nleaves)
{
	uint64		npages = 0;
	uint64		nkept = 0;
	uint64		nbefore = 0;

	for (int i = 0; i < nleaves; i++)
	{
		npages += changed_pages[i].nblocks;
		if (changed_pages[i].known != NULL)
			nkept += Min(changed_pages[i].known->nblocks, changed_pages[i].nblocks);
	}
	for (int i = 0; i < tracker->pages.nleaves; i++)
		nbefore += tracker->pages.leaves[i].nblocks;
	return npages - nkept + nbefore - nkept > npages / REBUILD_PAGES + FEW_PAGES;
}

/*
 * Move the page lists to shared memory if parallel workers will read them, and allocate the page
 * scans.
 */
static void
share_lists(EmogiCall *call, EmogiChangedPages *changed_pages, int nleaves, uint64 count)
{
	bool		shared = emogi_heap_scan_workers(count) > 0;
	Size		bytes = Max(count, 1) * sizeof(EmogiPageScan);
	EmogiPageScan *scans = shared ?
		emogi_call_alloc(call, bytes) : palloc_extended(bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	BlockNumber *blocks = shared ?
		emogi_call_alloc_any(call, Max(count, 1) * sizeof(BlockNumber)) : NULL;

	for (int i = 0; i < nleaves; i++)
	{
		EmogiPageRescan *list = &changed_pages[i].scans;

		list->scans = scans;
		scans += list->count;
		if (!shared)
			continue;
		memcpy(blocks, list->blocks, list->count * sizeof(BlockNumber));
		pfree(list->blocks);
		list->blocks = blocks;
		blocks += list->count;
	}
}

/*
 * Rescan the pages; return true if the current transaction has changed one. Their edges are valid
 * until the next rescan. Clears the map bits of pages that are not themselves all-visible (L9).
 */
static bool
rescan(EmogiCall *call, const EmogiSource *source, EmogiChangedPages *changed_pages, int nleaves,
	   uint64 count, EmogiWeights weights, int dictionary)
{
	EmogiPageRescan *scans = palloc(nleaves * sizeof(EmogiPageRescan));
	bool		own = false;

	share_lists(call, changed_pages, nleaves, count);
	for (int i = 0; i < nleaves; i++)
		scans[i] = changed_pages[i].scans;
	emogi_page_rescan_run(call, source, scans, nleaves, weights, dictionary);
	pfree(scans);
	for (int i = 0; i < nleaves; i++)
		for (uint64 k = 0; k < changed_pages[i].scans.count; k++)
		{
			const EmogiPageScan *seen = &changed_pages[i].scans.scans[k];
			BlockNumber block = changed_pages[i].scans.blocks[k];

			own |= seen->own;
			if (!seen->all_visible && !emogi_faults.tracker[EMOGI_TRACKER_DISTRUST])
				changed_pages[i].map[block / 64] &= ~(UINT64CONST(1) << block % 64);
		}
	return own;
}

/* Count the rows with a NULL endpoint that the snapshot sees in a table. */
static uint64
count_skipped(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed)
{
	uint64		nskipped = 0;
	uint64		k = 0;

	if (tracker->nskipped == 0)
	{
		for (; k < changed->scans.count; k++)
			nskipped += changed->scans.scans[k].nskipped;
		return nskipped;
	}
	for (BlockNumber block = 0; block < changed->nblocks; block++)
		if (k < changed->scans.count && changed->scans.blocks[k] == block)
			nskipped += changed->scans.scans[k++].nskipped;
		else
			nskipped += tracker->pages.nskipped[changed->known->first + block];
	return nskipped;
}

/* Compute the totals of what the snapshot sees. */
static void
sum_up(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed_pages, int nleaves,
	   EmogiRefresh *refresh)
{
	EmogiMisfitCounts misfits = tracker->misfits;

	refresh->nedges = tracker->nedges;
	for (uint64 i = 0; i < refresh->changes.count; i++)
	{
		const EmogiEdgeChange *change = &refresh->changes.changes[i];

		refresh->nedges += change->times;
		if (tracker->coo.weight_type != EMOGI_WEIGHT_NONE)
			emogi_misfits_count(&misfits, change->weight, change->times);
	}
	refresh->weight_misfits = emogi_misfits_of(&misfits);
	for (int i = 0; i < nleaves; i++)
		refresh->nskipped += count_skipped(tracker, &changed_pages[i]);
}

/* Count the pages scanned and skipped, for emogi_runs. */
static void
count_scans(EmogiCall *call, const EmogiChangedPages *changed_pages, int nleaves)
{
	for (int i = 0; i < nleaves; i++)
	{
		call->record.nrescanned += changed_pages[i].scans.count;
		call->record.nskipped_by_map += changed_pages[i].nskipped_by_map;
		call->record.nskipped_by_lsn += changed_pages[i].nskipped_by_lsn;
	}
}

/* Give a refresh up, and record why. */
static EmogiRefreshOutcome
give_up(EmogiRefresh *refresh, EmogiCacheMiss why)
{
	refresh->why_rebuild = why;
	return refresh->outcome = EMOGI_REFRESH_REBUILD;
}

/* Store the changes, unless the tracker cannot hold them. Raises 53200. */
static EmogiRefreshOutcome
store(EmogiCall *call, EmogiChangeTracker *tracker, const EmogiChangedPages *changed_pages,
	  int nleaves, const EmogiTransactionSnapshot *xids, EmogiRefresh *refresh)
{
	const EmogiChanges *changes = &refresh->changes;
	EmogiTrackerStore storing;

	if (!emogi_tracker_store_fits(tracker, changed_pages, nleaves,
								  tracker->coo.weight_type != EMOGI_WEIGHT_NONE))
		return give_up(refresh, EMOGI_MISS_WIDE_VALUE);
	emogi_tracker_store_prepare(call, tracker, changed_pages, nleaves, changes->count, &storing);
	emogi_tracker_store(&storing, xids, changes);
	return changes->count > 0 ? EMOGI_REFRESH_STORED : EMOGI_REFRESH_UNCHANGED;
}

/*
 * Return true if keys were found for which the dictionary has no room. A new one will have room for
 * them, even if only the current transaction sees them. If there was no code between two keys,
 * those of the current transaction would find none in a new one, either.
 */
static bool
is_room_full(const EmogiSlot *slot)
{
	return slot->out_of_codes && slot->room_keys > 0;
}

/*
 * Compare the rescanned pages with the tracker, and store the changes if they belong there. keeps:
 * they are kept for later calls of the transaction, which therefore pay only once for many. Raises
 * 53200.
 */
static EmogiRefreshOutcome
compare(EmogiCall *call, EmogiChangeTracker *tracker, const EmogiChangedPages *changed_pages,
		int nleaves, const EmogiTransactionSnapshot *xids, bool contains, bool keeps,
		EmogiRefresh *refresh)
{
	EmogiChanges *changes = &refresh->changes;
	uint64		max_changes = tracker->nedges / REBUILD_CHANGES + FEW_CHANGES;

	if (keeps)
		max_changes = Max(max_changes, EMOGI_MAX_FIRST_OWN_CHANGES);
	refresh->newer = contains && (!refresh->own || is_room_full(call->slot));
	if (call->slot->out_of_codes)
		return give_up(refresh, EMOGI_MISS_NO_CODES);
	if (!emogi_tracker_diff_pages(tracker, changed_pages, nleaves, max_changes, changes))
		return give_up(refresh, EMOGI_MISS_MANY_CHANGES);
	sum_up(tracker, changed_pages, nleaves, refresh);
	/* a call that has tried with an overlay refreshes once more, and finds less or the same */
	call->record.nchanges = Max(call->record.nchanges, changes->count);
	if (refresh->newer)
		return store(call, tracker, changed_pages, nleaves, xids, refresh);
	return changes->count > 0 || refresh->nskipped != tracker->nskipped ?
		EMOGI_REFRESH_PRIVATE : EMOGI_REFRESH_UNCHANGED;
}

/* Merge the rescanned pages into the kept changes of the current transaction. */
static EmogiRefreshOutcome
compare_own(EmogiCall *call, EmogiOwnChanges *own, const EmogiChangeTracker *tracker,
			const EmogiChangedPages *changed_pages, int nleaves,
			const EmogiTransactionSnapshot *xids, EmogiRefresh *refresh)
{
	refresh->newer = is_room_full(call->slot);
	if (call->slot->out_of_codes)
		return give_up(refresh, EMOGI_MISS_NO_CODES);
	emogi_own_changes_update(own, tracker, changed_pages, nleaves, xids, refresh);
	call->record.nchanges = Max(call->record.nchanges, refresh->changes.count);
	return refresh->changes.count > 0 || refresh->nskipped != tracker->nskipped ?
		EMOGI_REFRESH_PRIVATE : EMOGI_REFRESH_UNCHANGED;
}

/* ---- changes of others, in a transaction that has changed the tables ---- */

/*
 * Check whether rows that the call does not see can raise no error: those that other transactions
 * see, and the current one has deleted or corrected.
 */
static bool
is_safe(const EmogiSource *source)
{
	return source->filter == NULL && source->key.class == EMOGI_KEY_INTEGER;
}

/*
 * Check whether emogi_tracker_scan_others may scan a source. Not with weights: others may see a
 * weight that the call rejects and the transaction has corrected. Parallel mode has no
 * subtransactions.
 */
bool
emogi_tracker_may_scan_others(const EmogiSource *source)
{
	return source->weight == 0 && (is_safe(source) || !IsInParallelMode());
}

/*
 * Scan a source as other transactions see it. Return false if that failed, which may be due to a
 * row that the current transaction has deleted or corrected: a key that is too long, or a condition
 * that raises an error. Raises lack of memory, and requests to end the whole call.
 */
bool
emogi_tracker_scan_others(const EmogiSource *source, void (*scan) (void *), void *arg)
{
	ErrorData  *error = NULL;

	if (is_safe(source))
		scan(arg);
	else
		error = emogi_own_changes_run(scan, arg);
	if (error == NULL)
		return true;
	if (emogi_subtransaction_was_stopped(error) || error->sqlerrcode == ERRCODE_OUT_OF_MEMORY)
		ReThrowError(error);
	FreeErrorData(error);
	return false;
}

/*
 * Check whether to store the changes of other transactions first (L13). Not if there can be none
 * since the base.
 */
static bool
may_store_others(const EmogiChangeTracker *tracker, const EmogiSource *source,
				 const EmogiTransactionSnapshot *xids)
{
	return emogi_tracker_may_scan_others(source) &&
		!emogi_transaction_snapshot_equal(xids, &tracker->base);
}

/* Copy the lists of pages to be rescanned; everything else is shared. */
static EmogiChangedPages *
copy_lists(const EmogiChangedPages *changed_pages, int nleaves)
{
	EmogiChangedPages *copies = palloc(nleaves * sizeof(EmogiChangedPages));

	memcpy(copies, changed_pages, nleaves * sizeof(EmogiChangedPages));
	for (int i = 0; i < nleaves; i++)
	{
		EmogiPageRescan *list = &copies[i].scans;

		list->blocks = palloc_extended(Max(list->count, 1) * sizeof(BlockNumber),
									   MCXT_ALLOC_HUGE);
		memcpy(list->blocks, changed_pages[i].scans.blocks, list->count * sizeof(BlockNumber));
	}
	return copies;
}

/*
 * Remove the pages without changes of the current transaction from the lists. scanned: scans of the
 * same pages. Return the number of pages that remain.
 */
static uint64
keep_own_pages(const EmogiChangeTracker *tracker, const EmogiChangedPages *scanned,
			   EmogiChangedPages *changed_pages, int nleaves)
{
	uint64		total = 0;

	for (int i = 0; i < nleaves; i++)
	{
		EmogiPageRescan *list = &changed_pages[i].scans;
		uint64		count = 0;

		for (uint64 k = 0; k < list->count; k++)
			if (scanned[i].scans.scans[k].own)
				list->blocks[count++] = list->blocks[k];
		list->count = count;
		total += count;
		/* the tracker may have moved its tables */
		changed_pages[i].known = find_table(&tracker->pages, &changed_pages[i], i);
	}
	return total;
}

/* A rescan of the pages as other transactions see them. */
typedef struct OthersScan
{
	EmogiCall  *call;
	const EmogiSource *source;
	EmogiChangedPages *others;
	int			nleaves;
	uint64		count;
	EmogiWeights weights;
	int			dictionary;
} OthersScan;

/* Rescan the pages under a snapshot from before the first command of the current transaction. */
static void
rescan_others(void *arg)
{
	const OthersScan *scan = arg;

	PushCopiedSnapshot(GetActiveSnapshot());
	GetActiveSnapshot()->curcid = FirstCommandId;
	(void) rescan(scan->call, scan->source, scan->others, scan->nleaves, scan->count,
				  scan->weights, scan->dictionary);
	PopActiveSnapshot();
}

/*
 * Store what other transactions have changed, as a snapshot from before the first command of the
 * current transaction sees it, and reduce the lists of pages to those that the current transaction
 * has changed (L13). Return false, and change nothing, if that is impossible. *count: number of
 * pages in the lists. Raises 53200.
 */
static bool
store_others(EmogiCall *call, const EmogiSource *source, EmogiChangedPages *changed_pages,
			 int nleaves, const EmogiTransactionSnapshot *xids, EmogiWeights weights,
			 EmogiChangeTracker *tracker, EmogiRefresh *refresh, uint64 *count)
{
	EmogiChangedPages *others = copy_lists(changed_pages, nleaves);
	OthersScan	scan = {call, source, others, nleaves, *count, weights, tracker->dictionary};
	EmogiRefresh stored = *refresh;
	EmogiRefreshOutcome outcome;

	if (!emogi_tracker_scan_others(source, rescan_others, &scan))
	{
		emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
		pg_atomic_write_u64(&call->slot->nskipped, 0);
		return false;
	}
	if (!emogi_analysis_filter_is_current(source))
		return false;
	outcome = compare(call, tracker, others, nleaves, xids, true, false, &stored);
	if (stored.changes.changes != NULL)
		emogi_arena_free(stored.changes.changes,
						 stored.changes.room * sizeof(EmogiEdgeChange));
	if (outcome == EMOGI_REFRESH_REBUILD)
		return false;
	count_scans(call, others, nleaves);
	for (int i = 0; i < nleaves; i++)
		changed_pages[i].nskipped_by_map = changed_pages[i].nskipped_by_lsn = 0;
	refresh->old_position = tracker->position;	/* older graphs need the log */
	*count = keep_own_pages(tracker, others, changed_pages, nleaves);
	return true;
}

/* Get why a tracker cannot be refreshed, whatever its pages are; NONE = it may be. */
static EmogiCacheMiss
find_obstacle(const EmogiChangeTracker *tracker, const EmogiSource *source,
			  const EmogiTransactionSnapshot *xids, bool contains)
{
	if (tracker->base.recovery != xids->recovery)
		return EMOGI_MISS_PROMOTED;	/* from before a promotion: rebuild */
	if (!contains && emogi_compat_snapshots_age())
		return EMOGI_MISS_THRESHOLD;
	/* keys without a dictionary have no codes */
	return tracker->dictionary < 0 && source->key.class != EMOGI_KEY_INTEGER ?
		EMOGI_MISS_NO_CODES : EMOGI_MISS_NONE;
}

/*
 * Find what the active snapshot, which is `xids`, sees differently from the tracker's base. Store
 * it in the tracker if the snapshot contains the base (L7) and sees no change of the current
 * transaction (L10). has_own: the current transaction has changed the tables.
 *
 * The caller holds the tracker and locks on the tables, whose changes can be tracked. Raises the
 * errors of a scan.
 */
void
emogi_tracker_refresh(EmogiCall *call, const EmogiSource *source, const Oid *relids, int nleaves,
					  const EmogiTransactionSnapshot *xids, bool has_own, EmogiWeights weights,
					  EmogiChangeTracker *tracker, EmogiRefresh *refresh)
{
	bool		contains = emogi_transaction_snapshot_contain(xids, &tracker->base) ||
		emogi_faults.tracker[EMOGI_TRACKER_CONTAINS];
	bool		forward = contains || emogi_faults.tracker[EMOGI_TRACKER_NEWEST];
	EmogiChangedPages *changed_pages = palloc0(nleaves * sizeof(EmogiChangedPages));
	EmogiOwnChanges *own;
	bool		older;
	uint64		count;

	memset(refresh, 0, sizeof *refresh);
	refresh->catalogs = emogi_analysis_count_changes();
	refresh->changes.call = call;
	refresh->outcome = EMOGI_REFRESH_REBUILD;
	refresh->newer = contains || tracker->base.recovery != xids->recovery;
	refresh->old_position = tracker->position;
	refresh->why_rebuild = find_obstacle(tracker, source, xids, contains);
	if (refresh->why_rebuild != EMOGI_MISS_NONE)
		return;
	own = emogi_own_changes_find(tracker, xids, &older);
	count = find_changed_pages(tracker, source, relids, nleaves, forward ? PG_UINT64_MAX :
							   xids->xmin, own, changed_pages);
	if (own != NULL && !emogi_own_changes_reuse(own, tracker, changed_pages, nleaves, &count))
		own = NULL;
	if (own == NULL && is_hopeless(tracker, changed_pages, nleaves))
	{
		refresh->why_rebuild = EMOGI_MISS_MANY_PAGES;
		return;
	}
	if (own == NULL && has_own && contains && !older && count > 0 &&
		may_store_others(tracker, source, xids))
		(void) store_others(call, source, changed_pages, nleaves, xids, weights, tracker, refresh,
							&count);
	if (emogi_faults.tracker[EMOGI_TRACKER_SNAPSHOT])
		PushActiveSnapshot(GetLatestSnapshot());
	refresh->own = rescan(call, source, changed_pages, nleaves, count, weights,
						  tracker->dictionary);
	if (emogi_faults.tracker[EMOGI_TRACKER_SNAPSHOT])
		PopActiveSnapshot();
	count_scans(call, changed_pages, nleaves);
	if (!emogi_analysis_filter_is_current(source))
	{
		refresh->newer = false;	/* no reason to rebuild the tracker */
		refresh->why_rebuild = EMOGI_MISS_CONDITION;
	}
	else if (own != NULL)
		refresh->outcome = compare_own(call, own, tracker, changed_pages, nleaves, xids, refresh);
	else
	{
		const bool	keeps = refresh->own && contains && !older;

		refresh->outcome = compare(call, tracker, changed_pages, nleaves, xids, contains,
								   keeps && count <= EMOGI_MAX_OWN_PAGES, refresh);
		if (keeps && refresh->outcome != EMOGI_REFRESH_REBUILD)
			refresh->own_changes =
				emogi_own_changes_keep(tracker, changed_pages, nleaves, xids, refresh);
	}
	emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
	pg_atomic_write_u64(&call->slot->nskipped, 0);
}
