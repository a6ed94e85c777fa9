/*
 * tracker_refresh.c: a live state and a snapshot: what the snapshot sees otherwise than the base, and the state brought there if it may be.
 *
 * Whatever can fail comes first; then the state changes as a whole, or not at all.
 */
#include "postgres.h"

#include "access/relation.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "changes/changes.h"
#include "base/compat.h"
#include "base/fault.h"
#include "base/arena.h"

/* With more than this share of the pages new or gone, or of the edges changed, a build is cheaper; a few always may. */
#define HOPELESS_PAGES 4
#define HOPELESS_CHANGES 8
#define FEW_PAGES 64
#define FEW_CHANGES 65536

/* Get the number of pages of some tables. */
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

/* Is a leaf of the state in the same file, and of the same columns? */
static bool
is_same(const EmogiTrackedTable *leaf, const EmogiChangedPages *discovery)
{
	return leaf->relfilenumber == discovery->relfilenumber && leaf->src == discovery->src && leaf->dst == discovery->dst &&
		leaf->weight == discovery->weight && leaf->reverse == discovery->reverse &&
		(memcmp(leaf->filter, discovery->filter, sizeof leaf->filter) == 0 || emogi_faults.tree[EMOGI_TREE_PLACES]);
}

/*
 * Find a leaf in the state; NULL when it is not there, or in another file or of other columns. It is looked for from the hint on, both ways: where
 * leaves have come or gone the others are some places further up or down.
 */
static const EmogiTrackedTable *
find_leaf(const EmogiTrackedPages *pages, const EmogiChangedPages *discovery, int hint)
{
	for (int n = 0; n <= Max(hint, pages->nleaves - 1 - hint); n++)
	{
		const int	up = hint + n;
		const int	down = hint - n;

		if (up < pages->nleaves && pages->leaves[up].relid == discovery->relid)
			return is_same(&pages->leaves[up], discovery) ? &pages->leaves[up] : NULL;
		if (down >= 0 && down < pages->nleaves && pages->leaves[down].relid == discovery->relid)
			return is_same(&pages->leaves[down], discovery) ? &pages->leaves[down] : NULL;
	}
	return NULL;
}

/* Find the pages of all leaves that must be looked at; get their number. */
static uint64
discover(const EmogiChangeTracker *state, const EmogiSource *source, const Oid *relids, int nleaves, uint64 older_than, const EmogiOwnChanges *own,
		 EmogiChangedPages *discoveries)
{
	uint64		count = 0;

	for (int i = 0; i < nleaves; i++)
	{
		EmogiChangedPages *discovery = &discoveries[i];
		Relation	rel = relation_open(relids[i], NoLock);

		emogi_changed_pages_map(rel, source, discovery);
		discovery->known = find_leaf(&state->pages, discovery, i);
		if (own != NULL)
			emogi_own_changes_vouch(own, discovery, i);
		emogi_changed_pages_pages(rel, &state->pages, older_than, discovery);
		relation_close(rel, NoLock);
		count += discovery->looks.count;
	}
	return count;
}

/* Are so many pages new, or gone, that a build is cheaper? */
static bool
is_hopeless(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves)
{
	uint64		npages = 0;
	uint64		nkept = 0;
	uint64		nbefore = 0;

	for (int i = 0; i < nleaves; i++)
	{
		npages += discoveries[i].nblocks;
		if (discoveries[i].known != NULL)
			nkept += Min(discoveries[i].known->nblocks, discoveries[i].nblocks);
	}
	for (int i = 0; i < state->pages.nleaves; i++)
		nbefore += state->pages.leaves[i].nblocks;
	return npages - nkept + nbefore - nkept > npages / HOPELESS_PAGES + FEW_PAGES;
}

/* Bring the lists of pages to where parallel workers can read them, if any will; and make room for the looks. */
static void
share_looks(EmogiCall *call, EmogiChangedPages *discoveries, int nleaves, uint64 count)
{
	bool		shared = emogi_heap_scan_workers(count) > 0;
	Size		bytes = Max(count, 1) * sizeof(EmogiPageScan);
	EmogiPageScan  *looks = shared ? emogi_call_alloc(call, bytes) : palloc_extended(bytes, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	BlockNumber *blocks = shared ? emogi_call_alloc_any(call, Max(count, 1) * sizeof(BlockNumber)) : NULL;

	for (int i = 0; i < nleaves; i++)
	{
		EmogiPageRescan *of = &discoveries[i].looks;

		of->looks = looks;
		looks += of->count;
		if (!shared)
			continue;
		memcpy(blocks, of->blocks, of->count * sizeof(BlockNumber));
		pfree(of->blocks);
		of->blocks = blocks;
		blocks += of->count;
	}
}

/* Look at the pages; true when the own transaction has changed one. brief: the edges are not stored. What the pages do not say, the map is not believed (L9). */
static bool
look(EmogiCall *call, const EmogiSource *source, EmogiChangedPages *discoveries, int nleaves, uint64 count, EmogiWeights weights,
	 int dictionary, bool brief)
{
	EmogiPageRescan *looks = palloc(nleaves * sizeof(EmogiPageRescan));
	bool		own = false;

	share_looks(call, discoveries, nleaves, count);
	for (int i = 0; i < nleaves; i++)
		looks[i] = discoveries[i].looks;
	emogi_page_rescan_take(call, source, looks, nleaves, weights, dictionary, brief);
	pfree(looks);
	for (int i = 0; i < nleaves; i++)
		for (uint64 k = 0; k < discoveries[i].looks.count; k++)
		{
			const EmogiPageScan *seen = &discoveries[i].looks.looks[k];
			BlockNumber block = discoveries[i].looks.blocks[k];

			own |= seen->own;
			if (!seen->all_visible && !emogi_faults.live[EMOGI_LIVE_DISTRUST])
				discoveries[i].map[block / 64] &= ~(UINT64CONST(1) << block % 64);
		}
	return own;
}

/* Count the rows with a NULL end that the snapshot sees in a leaf. */
static uint64
count_skipped(const EmogiChangeTracker *state, const EmogiChangedPages *discovery)
{
	uint64		nskipped = 0;
	uint64		k = 0;

	if (state->nskipped == 0)
	{
		for (; k < discovery->looks.count; k++)
			nskipped += discovery->looks.looks[k].nskipped;
		return nskipped;
	}
	for (BlockNumber block = 0; block < discovery->nblocks; block++)
		if (k < discovery->looks.count && discovery->looks.blocks[k] == block)
			nskipped += discovery->looks.looks[k++].nskipped;
		else
			nskipped += state->pages.nskipped[discovery->known->first + block];
	return nskipped;
}

/* Sum up what the snapshot sees. */
static void
sum_up(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, EmogiRefresh *refresh)
{
	EmogiMisfitCounts misfits = state->misfits;

	refresh->nedges = state->nedges;
	for (uint64 i = 0; i < refresh->changes.count; i++)
	{
		const EmogiEdgeChange *change = &refresh->changes.changes[i];

		refresh->nedges += change->times;
		if (state->coo.weight_type != EMOGI_WEIGHT_NONE)
			emogi_misfits_count(&misfits, change->weight, change->times);
	}
	refresh->weight_misfits = emogi_misfits_of(&misfits);
	for (int i = 0; i < nleaves; i++)
		refresh->nskipped += count_skipped(state, &discoveries[i]);
}

/* Count what was done, for emogi_runs. */
static void
count_looks(EmogiCall *call, const EmogiChangedPages *discoveries, int nleaves)
{
	for (int i = 0; i < nleaves; i++)
	{
		call->record.nlooked += discoveries[i].looks.count;
		call->record.nby_map += discoveries[i].nby_map;
		call->record.nby_lsn += discoveries[i].nby_lsn;
	}
}

/* Store what was found, unless the state cannot hold it. Raises 53200. */
static EmogiRefreshOutcome
store(EmogiCall *call, EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, const EmogiTransactionSnapshot *xids,
	  const EmogiChanges *changes)
{
	EmogiTrackerStore storing;

	if (!emogi_tracker_store_fits(state, discoveries, nleaves, state->coo.weight_type != EMOGI_WEIGHT_NONE))
		return EMOGI_REFRESH_HOPELESS;
	emogi_tracker_store_prepare(call, state, discoveries, nleaves, changes->count, &storing);
	emogi_tracker_store(&storing, xids, changes);
	return changes->count > 0 ? EMOGI_REFRESH_STORED : EMOGI_REFRESH_UNCHANGED;
}

/* Compare what the looks have found with what the state has, and store it where it is for the state. Raises 53200. */
static EmogiRefreshOutcome
compare(EmogiCall *call, EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, const EmogiTransactionSnapshot *xids,
		bool contains, EmogiRefresh *refresh)
{
	EmogiChanges *changes = &refresh->changes;

	refresh->newer = contains && !refresh->own;
	if (call->slot->out_of_codes || !emogi_tracker_diff_pages(state, discoveries, nleaves, state->nedges / HOPELESS_CHANGES + FEW_CHANGES, changes))
		return EMOGI_REFRESH_HOPELESS;
	sum_up(state, discoveries, nleaves, refresh);
	/* a call that has tried with a patch refreshes once more, and finds less or the same */
	call->record.nchanges = Max(call->record.nchanges, changes->count);
	if (refresh->newer)
		return store(call, state, discoveries, nleaves, xids, changes);
	return changes->count > 0 || refresh->nskipped != state->nskipped ? EMOGI_REFRESH_PRIVATE : EMOGI_REFRESH_UNCHANGED;
}

/* Take over what the looks have found beside what is kept of the own transaction's changes. */
static EmogiRefreshOutcome
compare_own(EmogiCall *call, EmogiOwnChanges *own, const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves,
			const EmogiTransactionSnapshot *xids, EmogiRefresh *refresh)
{
	refresh->newer = false;
	if (call->slot->out_of_codes)
		return EMOGI_REFRESH_HOPELESS;
	emogi_own_changes_take(own, state, discoveries, nleaves, xids, refresh);
	if (refresh->changes.count > state->nedges / HOPELESS_CHANGES + FEW_CHANGES)
		return EMOGI_REFRESH_HOPELESS;
	call->record.nchanges = Max(call->record.nchanges, refresh->changes.count);
	return refresh->changes.count > 0 || refresh->nskipped != state->nskipped ? EMOGI_REFRESH_PRIVATE : EMOGI_REFRESH_UNCHANGED;
}

/*
 * Find out what the active snapshot, which is `xids`, sees otherwise than the state's base, and make that the state's where it may
 * be: where the snapshot contains the base (L7) and nothing is the own transaction's (L10). The caller holds the state, and
 * locks on the leaves, which can be followed. Raises what a scan does.
 */
void
emogi_tracker_refresh(EmogiCall *call, const EmogiSource *source, const Oid *relids, int nleaves,
			  const EmogiTransactionSnapshot *xids, EmogiWeights weights, EmogiChangeTracker *state, EmogiRefresh *refresh)
{
	bool		contains = emogi_transaction_snapshot_contain(xids, &state->base) || emogi_faults.live[EMOGI_LIVE_CONTAINS];
	bool		forward = contains || emogi_faults.live[EMOGI_LIVE_NEWEST];
	EmogiChangedPages *discoveries = palloc0(nleaves * sizeof(EmogiChangedPages));
	EmogiOwnChanges *own;
	bool		older;
	uint64		count;

	memset(refresh, 0, sizeof *refresh);
	refresh->changes.call = call;
	refresh->outcome = EMOGI_REFRESH_HOPELESS;
	if (state->base.recovery != xids->recovery)
	{
		refresh->newer = true;	/* of before a promotion: made anew */
		return;
	}
	refresh->newer = contains;
	refresh->old_position = state->position;
	if (!contains && emogi_compat_snapshots_age())
		return;
	if (state->dictionary < 0 && source->key.class != EMOGI_KEY_INTEGER)
		return;					/* of a table that was empty */
	own = emogi_own_changes_find(state, xids, &older);
	count = discover(state, source, relids, nleaves, forward ? PG_UINT64_MAX : xids->xmin, own, discoveries);
	if (is_hopeless(state, discoveries, nleaves))
		return;
	if (own != NULL && !emogi_own_changes_reuse(own, state, discoveries, nleaves, &count))
		own = NULL;
	if (emogi_faults.live[EMOGI_LIVE_SNAPSHOT])
		PushActiveSnapshot(GetLatestSnapshot());
	refresh->own = look(call, source, discoveries, nleaves, count, weights, state->dictionary, own != NULL);
	if (emogi_faults.live[EMOGI_LIVE_SNAPSHOT])
		PopActiveSnapshot();
	count_looks(call, discoveries, nleaves);
	if (!emogi_analysis_filter_is_current(source))
		refresh->newer = false;	/* this is no reason to make the state anew */
	else if (own != NULL)
		refresh->outcome = compare_own(call, own, state, discoveries, nleaves, xids, refresh);
	else
	{
		refresh->outcome = compare(call, state, discoveries, nleaves, xids, contains, refresh);
		if (refresh->own && contains && !older && refresh->outcome != EMOGI_REFRESH_HOPELESS)
			refresh->own_changes = emogi_own_changes_keep(state, discoveries, nleaves, xids, refresh);
	}
	emogi_arena_free_owner(EMOGI_OWNER_EDGES(call->slot_index));
	pg_atomic_write_u64(&call->slot->nskipped, 0);
}
