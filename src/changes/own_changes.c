/*
 * own_changes.c: changes of the current transaction, kept between its calls
 *
 * A transaction that alternates writes and graph queries would have to rescan all pages that it has
 * changed, and build an overlay of all its changes, in each call. So the edges of the rescanned
 * pages are kept together with an overlay that grows with the changes. They are relative to the
 * change tracker's edges. A later call rescans only pages whose visible content may have changed:
 * see own_pages.c.
 *
 * The kept changes are backend-local. They end with the transaction unless it commits (see
 * carried_changes.c), on rollback of a subtransaction, when something is stored in the tracker, and
 * when a call finds the tracker in another form. Without kept changes, a call rescans all pages
 * that differ. Rules O1 to O5: docs/design/incremental-graphs.md, "Own changes".
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "storage/bufmgr.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "changes/own_changes.h"
#include "base/compat.h"
#include "base/fault.h"
#include "base/subtransaction.h"

/* Maximum number of change trackers with kept changes. */
#define MAX_KEPT 4

int			emogi_own_changes_count = 0;

static EmogiOwnChanges *kept[MAX_KEPT];
static uint64 nuses;

/* The current subtransaction of a call itself, which writes no rows. */
static SubTransactionId unwritten = InvalidSubTransactionId;

/* ---- life cycle ---- */

/* Return true if an active call searches one of the overlays, or evaluates conditions. */
static bool
has_user(const EmogiOwnChanges *own)
{
	if (own->is_following)
		return true;
	for (int i = 0; i < EMOGI_MAX_OWN_OVERLAYS; i++)
		if (own->overlays[i].user != NULL && emogi_call_is_active(own->overlays[i].user))
			return true;
	return false;
}

/*
 * Stop keeping changes. If a call searches them, their memory remains until the transaction ends.
 */
void
emogi_own_changes_drop(EmogiOwnChanges *own)
{
	const bool	is_used = has_user(own);

	for (int i = 0; i < MAX_KEPT; i++)
		if (kept[i] == own)
		{
			kept[i] = NULL;
			emogi_own_changes_count--;
		}
	if (is_used)
		MemoryContextSetParent(own->context, TopTransactionContext);
	for (int i = 0; i < EMOGI_MAX_OWN_OVERLAYS; i++)
		if (!is_used)
			emogi_logged_overlay_return(&own->overlays[i]);
		else if (own->overlays[i].context != NULL)
			MemoryContextSetParent(own->overlays[i].context, own->context);
	if (!is_used)
		MemoryContextDelete(own->context);
}

/*
 * Drop all on rollback of a subtransaction: its rows are no longer visible, but no page shows that
 * (O3). A subtransaction of a call itself has written none.
 */
static void
at_end_of_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent,
						 void *arg)
{
	if (event != SUBXACT_EVENT_ABORT_SUB || emogi_faults.tracker[EMOGI_TRACKER_OWN_ROLLBACK])
		return;
	if (mine == unwritten)
		return;
	for (int i = 0; i < MAX_KEPT; i++)
		if (kept[i] != NULL)
			emogi_own_changes_drop(kept[i]);
}

/* Work in a subtransaction that writes no rows. */
typedef struct UnwrittenWork
{
	void		(*work) (void *);
	void	   *arg;
} UnwrittenWork;

static void
run_unwritten(void *arg)
{
	const UnwrittenWork *unwritten_work = arg;

	unwritten = GetCurrentSubTransactionId();
	unwritten_work->work(unwritten_work->arg);
}

/*
 * Run work that writes no rows as emogi_subtransaction_run does. Kept changes, which the call may
 * be using, remain after an error.
 */
ErrorData *
emogi_own_changes_run(void (*work) (void *), void *arg)
{
	const SubTransactionId outer = unwritten;
	UnwrittenWork unwritten_work = {work, arg};
	ErrorData  *error = emogi_subtransaction_run(run_unwritten, &unwritten_work);

	unwritten = outer;
	return error;
}

/*
 * Drop all kept changes at the end of a transaction, but those that no call searches and that a
 * function keeps; NULL = none.
 */
void
emogi_own_changes_end(bool (*keep) (EmogiOwnChanges *own))
{
	unwritten = InvalidSubTransactionId;
	for (int i = 0; i < MAX_KEPT; i++)
		if (kept[i] != NULL && (keep == NULL || has_user(kept[i]) || !keep(kept[i])))
			emogi_own_changes_drop(kept[i]);
}

/* Drop the changes of a source that are relative to an earlier tracker; new ones replace them. */
static void
drop_earlier(const EmogiGraphKey *key)
{
	for (int i = 0; i < MAX_KEPT; i++)
		if (kept[i] != NULL && emogi_change_tracker_has_key(&kept[i]->key, key))
			emogi_own_changes_drop(kept[i]);
}

/* Find a free slot, dropping the least recently used changes if there is none. */
static int
find_free(void)
{
	int			oldest = 0;

	for (int i = 0; i < MAX_KEPT; i++)
	{
		if (kept[i] == NULL)
			return i;
		if (kept[i]->used < kept[oldest]->used)
			oldest = i;
	}
	emogi_own_changes_drop(kept[oldest]);
	return oldest;
}

/* Start to keep the changes relative to a tracker. */
static EmogiOwnChanges *
begin(const EmogiChangeTracker *tracker, int nleaves)
{
	static bool is_registered = false;
	MemoryContext context = AllocSetContextCreate(TopTransactionContext, "emogi own changes",
												  ALLOCSET_DEFAULT_SIZES);
	EmogiOwnChanges *own = MemoryContextAllocZero(context, sizeof *own);

	drop_earlier(&tracker->key);
	if (!is_registered)
		RegisterSubXactCallback(at_end_of_subtransaction, NULL);
	is_registered = true;
	own->context = context;
	own->state_id = tracker->id;
	own->key = tracker->key;
	own->version = tracker->version;
	own->edge_bytes = tracker->coo.weight_type != EMOGI_WEIGHT_NONE ?
		sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge);
	own->nleaves = nleaves;
	own->leaves = MemoryContextAllocZero(context, Max(nleaves, 1) * sizeof(EmogiOwnLeaf));
	own->xids.running = MemoryContextAlloc(context, (EMOGI_MAX_RUNNING + 1) * sizeof(uint64));
	own->changes.context = context;
	own->misfits = tracker->misfits;
	own->nedges = tracker->nedges;
	own->broken = true;
	MemoryContextSetParent(context, TopMemoryContext);
	kept[find_free()] = own;
	emogi_own_changes_count++;
	return own;
}

/* ---- snapshots ---- */

/* Return true if two snapshots see the same of other transactions. */
static bool
same_visibility(const EmogiTransactionSnapshot *a, const EmogiTransactionSnapshot *b)
{
	return a->xmin == b->xmin && a->xmax == b->xmax && a->nrunning == b->nrunning &&
		a->recovery == b->recovery &&
		memcmp(a->running, b->running, a->nrunning * sizeof(uint64)) == 0;
}

/*
 * Return true if a snapshot is older than that of the last call (O2), or sees a transaction as
 * running that has committed since (O11).
 */
static bool
is_older(const EmogiOwnChanges *own, const EmogiTransactionSnapshot *xids)
{
	for (int i = 0; i < own->ncarried; i++)
		if (emogi_transaction_snapshot_running(xids, own->carried[i]))
			return true;
	return (GetActiveSnapshot()->curcid < own->command &&
			!emogi_faults.tracker[EMOGI_TRACKER_OWN_COMMAND]) ||
		!emogi_transaction_snapshot_contain(xids, &own->xids);
}

/* Remember the snapshot of a call, and the catalogs. */
void
emogi_own_changes_note_snapshot(EmogiOwnChanges *own, const EmogiTransactionSnapshot *xids,
								uint64 catalogs)
{
	uint64	   *running = own->xids.running;

	own->catalogs = catalogs;
	memcpy(running, xids->running, xids->nrunning * sizeof(uint64));
	own->xids = *xids;
	own->xids.running = running;
	own->command = GetActiveSnapshot()->curcid;
	own->is_first = false;
	own->ncarried = 0;
}

/*
 * Find the kept changes of a tracker for a snapshot that is not older than theirs.
 *
 * Returns NULL if there are none; *older tells whether the reason is an older snapshot (O2), or
 * that they are in use. Drops changes that have become useless.
 */
EmogiOwnChanges *
emogi_own_changes_find(const EmogiChangeTracker *tracker, const EmogiTransactionSnapshot *xids,
					   bool *older)
{
	*older = false;
	for (int i = 0; i < MAX_KEPT; i++)
	{
		EmogiOwnChanges *own = kept[i];

		if (own == NULL || own->state_id != tracker->id)
			continue;
		*older = own->is_following;	/* by a call whose condition makes this one */
		if (*older)
			return NULL;
		if (own->broken || own->is_carried || own->version != tracker->version)
		{
			emogi_own_changes_drop(own);
			return NULL;
		}
		*older = is_older(own, xids);
		if (*older)
			return NULL;
		if (!same_visibility(&own->xids, xids) && !emogi_faults.tracker[EMOGI_TRACKER_OWN_OTHERS])
			own->others++;
		own->used = ++nuses;
		return own;
	}
	return NULL;
}

/*
 * Find the kept changes of a source for a snapshot that is not older than theirs, without its
 * tracker; NULL if there are none. *same_others: the snapshot sees the same of other transactions
 * as theirs.
 */
EmogiOwnChanges *
emogi_own_changes_of(const EmogiGraphKey *key, const EmogiTransactionSnapshot *xids,
					 bool *same_others)
{
	for (int i = 0; i < MAX_KEPT; i++)
	{
		EmogiOwnChanges *own = kept[i];

		if (own == NULL || !emogi_change_tracker_has_key(&own->key, key))
			continue;
		if (own->broken || own->is_following || is_older(own, xids))
			return NULL;
		*same_others = same_visibility(&own->xids, xids);
		own->used = ++nuses;
		return own;
	}
	return NULL;
}

/* ---- pages ---- */

/* Find a page of a table from index *at on, or insert it there; *is_new tells which. */
EmogiOwnPage *
emogi_own_changes_open_page(EmogiOwnChanges *own, EmogiOwnLeaf *table, int *at, BlockNumber block,
							bool *is_new)
{
	while (*at < table->npages && table->pages[*at].block < block)
		++*at;
	*is_new = *at == table->npages || table->pages[*at].block != block;
	if (!*is_new)
		return &table->pages[*at];
	if (table->npages == table->room)
	{
		table->room = Max(2 * table->room, 16);
		table->pages = table->pages == NULL ?
			MemoryContextAllocHuge(own->context, table->room * sizeof(EmogiOwnPage)) :
			repalloc_huge(table->pages, table->room * sizeof(EmogiOwnPage));
	}
	memmove(&table->pages[*at + 1], &table->pages[*at],
			(table->npages - *at) * sizeof(EmogiOwnPage));
	table->npages++;
	table->pages[*at] = (EmogiOwnPage) {.block = block};
	return &table->pages[*at];
}

/* Update a page from its scan. */
static void
update_page(EmogiOwnChanges *own, EmogiOwnPage *page, const EmogiPageScan *scan)
{
	if (scan->nedges > page->room)
	{
		if (page->edges != NULL)
			pfree(page->edges);
		page->edges = NULL;
		page->room = Min(2 * scan->nedges, PG_UINT16_MAX);
		page->edges = MemoryContextAlloc(own->context, page->room * own->edge_bytes);
	}
	if (scan->nedges > 0)
		memcpy(page->edges, scan->edges, scan->nedges * own->edge_bytes);
	page->nedges = scan->nedges;
	page->nskipped = scan->nskipped;
	page->nlines = scan->nlines;
	page->buffer = scan->buffer;
	page->lsn = scan->page_lsn;
	page->others = own->others;
	page->command = GetActiveSnapshot()->curcid;
	page->last_command = scan->last_command;
	page->own = scan->own;
	page->undecided = scan->others;
}

/* Add the changes from `first` on to the totals. */
void
emogi_own_changes_sum_up(EmogiOwnChanges *own, uint64 first)
{
	for (uint64 i = first; i < own->changes.count; i++)
	{
		const EmogiEdgeChange *change = &own->changes.changes[i];

		own->nedges += change->times;
		if (own->edge_bytes == sizeof(EmogiWeightedEdge))
			emogi_misfits_count(&own->misfits, change->weight, change->times);
	}
}

/*
 * Keep a table's visibility map for pages that match the tracker, after they have been compared
 * (O5).
 */
static void
keep_map(EmogiOwnChanges *own, EmogiOwnLeaf *table, const EmogiChangedPages *changed)
{
	EmogiMapCopy *map_copy = &table->map_copy;
	const BlockNumber nblocks = changed->nblocks;

	if (nblocks > map_copy->room || map_copy->trusted == NULL)
	{
		map_copy->room = nblocks + nblocks / 8 + 64;
		if (map_copy->trusted != NULL)
		{
			pfree(map_copy->trusted);
			pfree(map_copy->group_lsn);
		}
		map_copy->trusted = MemoryContextAllocHuge(own->context,
												   (map_copy->room / 64 + 1) * sizeof(uint64));
		map_copy->group_lsn = MemoryContextAllocHuge(own->context,
													 (emogi_changed_pages_groups(map_copy->room) +
													  1) * sizeof(uint64));
	}
	map_copy->nblocks = nblocks;
	map_copy->vacuums = changed->vacuums;
	memcpy(map_copy->trusted, changed->map, (nblocks / 64 + 1) * sizeof(uint64));
	memcpy(map_copy->group_lsn, changed->group_lsn,
		   emogi_changed_pages_groups(nblocks) * sizeof(uint64));
	for (int i = 0; i < table->npages; i++)
		map_copy->trusted[table->pages[i].block / 64] &=
			~(UINT64CONST(1) << table->pages[i].block % 64);
}

/* Let the pages of a table be compared with its map of the last call, too. */
void
emogi_own_changes_use_map_copy(const EmogiOwnChanges *own, EmogiChangedPages *changed, int table)
{
	if (table < own->nleaves && changed->known != NULL &&
		own->leaves[table].relid == changed->relid)
		changed->before = &own->leaves[table].map_copy;
}

/* Take over the scanned pages of a table. diffs: also append what has changed. */
static void
take_table(EmogiOwnChanges *own, const EmogiChangeTracker *tracker, EmogiOwnLeaf *table,
		   const EmogiChangedPages *changed, bool diffs)
{
	const EmogiTrackedTable *known = changed->known;
	const bool	weighted = own->edge_bytes == sizeof(EmogiWeightedEdge);
	int			at = 0;

	for (uint64 i = 0; i < changed->scans.count; i++)
	{
		EmogiPageScan *scan = &changed->scans.scans[i];
		const BlockNumber block = changed->scans.blocks[i];
		bool		is_new;
		EmogiOwnPage *page = emogi_own_changes_open_page(own, table, &at, block, &is_new);

		if (diffs && is_new && block < table->gone)
		{
			emogi_tracker_diff_page(&own->changes, tracker, known, block, scan);
			own->nskipped -= block < known->nblocks ?
				tracker->pages.nskipped[known->first + block] : 0;
		}
		else if (diffs)
		{
			emogi_tracker_diff_scans(&own->changes, weighted, page->edges, page->nedges, scan);
			own->nskipped -= page->nskipped;
		}
		if (diffs)
			own->nskipped += scan->nskipped;
		update_page(own, page, scan);
	}
}

/* Cancel out changes from the first on: rows that only moved, or whose other columns changed. */
static void
net_new(EmogiOwnChanges *own, uint64 first)
{
	EmogiChanges new = own->changes;

	if (new.count <= first)
		return;
	new.changes += first;
	new.count -= first;
	emogi_tracker_diff_net(&new);
	own->changes.count = first + new.count;
}

/*
 * Cancel out the first changes if there may be many that do. Overlays of exactly these have the
 * same edges then, but are rebuilt if half of the changes went.
 */
static void
net_changes(EmogiOwnChanges *own, uint64 first)
{
	EmogiChanges netted = own->changes;
	const uint64 nnew = own->changes.count - first;

	if (first <= 2 * own->nnet + EMOGI_MIN_NETTED)
		return;
	netted.count = first;
	emogi_tracker_diff_net(&netted);
	memmove(&netted.changes[netted.count], &netted.changes[first], nnew * sizeof(EmogiEdgeChange));
	own->nnet = netted.count;
	own->changes.count = netted.count + nnew;
	for (int i = 0; i < EMOGI_MAX_OWN_OVERLAYS; i++)
	{
		own->overlays[i].broken |= own->overlays[i].nchanges != first || netted.count < first / 2;
		own->overlays[i].nchanges = netted.count;
	}
}

/*
 * Note what later calls compare with the tables, and whether all changes of the own transaction
 * were seen.
 */
static void
note_tables(EmogiOwnChanges *own, const EmogiChangedPages *changed_pages, int nleaves)
{
	own->is_all_seen = true;
	for (int i = 0; i < nleaves; i++)
	{
		EmogiOwnLeaf *table = &own->leaves[i];

		table->relfilenumber = changed_pages[i].relfilenumber;
		table->nblocks = changed_pages[i].nblocks;
		table->counts = changed_pages[i].counts;
		for (int k = 0; k < table->npages && own->is_all_seen; k++)
			own->is_all_seen = !table->pages[k].own ||
				table->pages[k].last_command < table->pages[k].command;
	}
}

/* ---- merging the scans of a call ---- */

/*
 * Take over the scans of a call, after emogi_own_changes_reuse, and report what the snapshot sees.
 */
void
emogi_own_changes_update(EmogiOwnChanges *own, const EmogiChangeTracker *tracker,
						 const EmogiChangedPages *changed_pages, int nleaves,
						 const EmogiTransactionSnapshot *xids, EmogiRefresh *refresh)
{
	const uint64 first = own->changes.count;
	uint64		npages = 0;
	bool		has_own = false;

	own->broken = true;
	for (int i = 0; i < nleaves; i++)
	{
		take_table(own, tracker, &own->leaves[i], &changed_pages[i], true);
		keep_map(own, &own->leaves[i], &changed_pages[i]);
		npages += own->leaves[i].npages;
	}
	net_new(own, first);
	emogi_own_changes_sum_up(own, first);
	net_changes(own, first);
	note_tables(own, changed_pages, nleaves);
	emogi_own_changes_note_snapshot(own, xids, refresh->catalogs);
	for (int i = 0; i < nleaves; i++)
		for (int k = 0; k < own->leaves[i].npages && !has_own; k++)
			has_own = own->leaves[i].pages[k].own;
	refresh->own = has_own;
	refresh->changes = own->changes;
	refresh->nedges = own->nedges;
	refresh->nskipped = own->nskipped;
	refresh->weight_misfits = emogi_misfits_of(&own->misfits);
	refresh->own_changes = own;
	/* if set, this is the last call that uses it */
	own->broken = !has_own || npages > EMOGI_MAX_OWN_PAGES ||
		own->changes.count > EMOGI_MAX_OWN_CHANGES;
}

/*
 * Keep the scans of a call, which cover all pages that differ from a tracker, for later calls of
 * the transaction; return NULL if they are too many.
 */
EmogiOwnChanges *
emogi_own_changes_keep(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed_pages,
					   int nleaves, const EmogiTransactionSnapshot *xids,
					   const EmogiRefresh *refresh)
{
	EmogiOwnChanges *own;
	uint64		npages = 0;
	bool        fits = tracker->pages.nleaves == nleaves &&
		refresh->changes.count <= EMOGI_MAX_FIRST_OWN_CHANGES;

	for (int i = 0; fits && i < nleaves; i++)
	{
		fits = changed_pages[i].known == &tracker->pages.leaves[i];
		npages += changed_pages[i].scans.count;
	}
	if (!fits || npages > EMOGI_MAX_OWN_PAGES)
		return NULL;
	own = begin(tracker, nleaves);
	for (int i = 0; i < nleaves; i++)
	{
		own->leaves[i].relid = changed_pages[i].relid;
		own->leaves[i].gone = changed_pages[i].nblocks < changed_pages[i].known->nblocks ?
			changed_pages[i].nblocks : InvalidBlockNumber;
		take_table(own, tracker, &own->leaves[i], &changed_pages[i], false);
		keep_map(own, &own->leaves[i], &changed_pages[i]);
	}
	emogi_tracker_diff_add(&own->changes, refresh->changes.changes, refresh->changes.count);
	emogi_own_changes_sum_up(own, 0);
	own->nskipped = refresh->nskipped;
	own->used = ++nuses;
	note_tables(own, changed_pages, nleaves);
	emogi_own_changes_note_snapshot(own, xids, refresh->catalogs);
	own->broken = false;
	return own;
}
