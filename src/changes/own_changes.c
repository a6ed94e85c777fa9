/*
 * own_changes.c: what the own transaction has changed, kept between its calls.
 *
 * A transaction that writes and asks in turn would look again at all pages that it has changed, and make a patch of all its changes, in each call. So the edges of
 * the pages that were looked at are kept beside the live state that they differ from, with a patch that grows. A later call looks only at pages of which
 * something can have become another: see may_keep. All is in memory of the backend, and ends with the transaction, when a subtransaction is
 * rolled back, when something is stored in the state, and where a call finds it in another form; whoever finds nothing kept has
 * all pages looked at. docs/design.md has the rules, O1 to O5.
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

/* Live states whose changes are kept. */
#define MOST_KEPT 4

/* Pages that are kept, and changes, at most. */
#define MOST_PAGES 4096
#define MOST_CHANGES 1048576

/* More changes than twice as many as there were last are looked through for such as cancel out, but not fewer than these. */
#define LEAST_NETTED 4096

static EmogiOwnChanges *kept[MOST_KEPT];
static uint64 nuses;

/* ---- life ---- */

/* Does a call search in a patch? */
static bool
has_user(const EmogiOwnChanges *own)
{
	for (int i = 0; i < EMOGI_OWN_PATCHES; i++)
		if (own->patches[i].user != NULL && emogi_call_is_active(own->patches[i].user))
			return true;
	return false;
}

/* Keep changes no longer. What a call searches in stays until the transaction ends. */
static void
drop(EmogiOwnChanges *own)
{
	for (int i = 0; i < MOST_KEPT; i++)
		if (kept[i] == own)
			kept[i] = NULL;
	if (!has_user(own))
		MemoryContextDelete(own->context);
}

/* Drop all when a subtransaction is rolled back: its rows are not seen any more, and no page says so (O3). */
static void
at_end_of_subtransaction(SubXactEvent event, SubTransactionId mine, SubTransactionId parent, void *arg)
{
	if (event != SUBXACT_EVENT_ABORT_SUB || emogi_faults.live[EMOGI_LIVE_OWN_ROLLBACK])
		return;
	for (int i = 0; i < MOST_KEPT; i++)
		if (kept[i] != NULL)
			drop(kept[i]);
}

/* Forget changes whose memory goes with the transaction. */
static void
forget(void *arg)
{
	for (int i = 0; i < MOST_KEPT; i++)
		if (kept[i] == arg)
			kept[i] = NULL;
}

/* Find a place for changes, that of those which were used longest ago. */
static int
find_free(void)
{
	int			oldest = 0;

	for (int i = 0; i < MOST_KEPT; i++)
	{
		if (kept[i] == NULL)
			return i;
		if (kept[i]->used < kept[oldest]->used)
			oldest = i;
	}
	drop(kept[oldest]);
	return oldest;
}

/* Begin to keep the changes of a state. */
static EmogiOwnChanges *
begin(const EmogiChangeTracker *state, int nleaves)
{
	static bool is_registered = false;
	const int	place = find_free();
	MemoryContext context = AllocSetContextCreate(TopTransactionContext, "emogi own changes", ALLOCSET_DEFAULT_SIZES);
	EmogiOwnChanges *own = MemoryContextAllocZero(context, sizeof *own);
	MemoryContextCallback *callback = MemoryContextAlloc(context, sizeof *callback);

	if (!is_registered)
		RegisterSubXactCallback(at_end_of_subtransaction, NULL);
	is_registered = true;
	*callback = (MemoryContextCallback) {.func = forget,.arg = own};
	MemoryContextRegisterResetCallback(context, callback);
	own->context = context;
	own->state_id = state->id;
	own->version = state->version;
	own->edge_bytes = state->coo.weight_type != EMOGI_WEIGHT_NONE ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge);
	own->nleaves = nleaves;
	own->leaves = MemoryContextAllocZero(context, Max(nleaves, 1) * sizeof(EmogiOwnLeaf));
	own->xids.running = MemoryContextAlloc(context, (EMOGI_MAX_RUNNING + 1) * sizeof(uint64));
	own->changes.context = context;
	own->misfits = state->misfits;
	own->nedges = state->nedges;
	own->broken = true;
	kept[place] = own;
	return own;
}

/* ---- snapshots ---- */

/* Do two snapshots see the same of other transactions? */
static bool
see_the_same(const EmogiTransactionSnapshot *a, const EmogiTransactionSnapshot *b)
{
	return a->xmin == b->xmin && a->xmax == b->xmax && a->nrunning == b->nrunning && a->recovery == b->recovery &&
		memcmp(a->running, b->running, a->nrunning * sizeof(uint64)) == 0;
}

/* Note the snapshot of a call. */
static void
note_snapshot(EmogiOwnChanges *own, const EmogiTransactionSnapshot *xids)
{
	uint64	   *running = own->xids.running;

	memcpy(running, xids->running, xids->nrunning * sizeof(uint64));
	own->xids = *xids;
	own->xids.running = running;
	own->command = GetActiveSnapshot()->curcid;
}

/*
 * Find what is kept of the changes of a state, for a snapshot that is not older than the one that it was kept for; NULL where there is nothing, and in *older
 * whether that is so because the snapshot is older (O2). What is of no use any more is dropped.
 */
EmogiOwnChanges *
emogi_own_changes_find(const EmogiChangeTracker *state, const EmogiTransactionSnapshot *xids, bool *older)
{
	*older = false;
	for (int i = 0; i < MOST_KEPT; i++)
	{
		EmogiOwnChanges *own = kept[i];

		if (own == NULL || own->state_id != state->id)
			continue;
		if (own->broken || own->version != state->version)
		{
			drop(own);
			return NULL;
		}
		*older = (GetActiveSnapshot()->curcid < own->command && !emogi_faults.live[EMOGI_LIVE_OWN_COMMAND]) || !emogi_transaction_snapshot_contain(xids, &own->xids);
		if (*older)
			return NULL;
		if (!see_the_same(&own->xids, xids) && !emogi_faults.live[EMOGI_LIVE_OWN_OTHERS])
			own->others++;
		own->used = ++nuses;
		return own;
	}
	return NULL;
}

/* ---- pages ---- */

/* Has a page the LSN that it had? A pin is enough to read it, as in L6. */
static bool
has_same_lsn(Relation rel, EmogiOwnPage *page)
{
	Buffer		buffer = page->buffer;
	bool		same;

	if (page->lsn == 0)
		return false;
	if (!BufferIsValid(buffer) || !emogi_compat_read_recent(rel, page->block, buffer))
		buffer = ReadBuffer(rel, page->block);
	page->buffer = buffer;
	same = BufferGetLSNAtomic(buffer) == page->lsn;
	ReleaseBuffer(buffer);
	return same;
}

/*
 * Does a snapshot see on a page what was seen when it was looked at? Nobody has written to it since (O1), no other transaction that runs on it has ended
 * since, and no command of the own transaction on it that was not seen then is seen now.
 */
static bool
may_keep(const EmogiOwnChanges *own, Relation rel, EmogiOwnPage *page, CommandId command)
{
	if (page->undecided && page->others != own->others)
		return false;
	if (page->own && page->last_command >= page->command && command != page->command && !emogi_faults.live[EMOGI_LIVE_OWN_COMMAND])
		return false;
	return has_same_lsn(rel, page);
}

/* Are all pages that are kept among those of a leaf that would be looked at? */
static bool
are_listed(const EmogiOwnLeaf *leaf, const EmogiPageRescan *looks)
{
	uint64		at = 0;

	for (int i = 0; i < leaf->npages; i++)
	{
		while (at < looks->count && looks->blocks[at] < leaf->pages[i].block)
			at++;
		if (at == looks->count || looks->blocks[at] != leaf->pages[i].block)
			return false;
	}
	return true;
}

/* Would pages of the state that were gone, and are there again, all be looked at? */
static bool
are_new(const EmogiOwnLeaf *leaf, const EmogiChangedPages *discovery)
{
	const BlockNumber end = Min(discovery->known->nblocks, discovery->nblocks);
	const EmogiPageRescan *looks = &discovery->looks;
	uint64		count = 0;

	for (uint64 i = looks->count; leaf->gone < end && i > 0 && looks->blocks[i - 1] >= leaf->gone; i--)
		count += looks->blocks[i - 1] < end;
	return leaf->gone >= end || count == end - leaf->gone;
}

/* Leave out the pages of a leaf that need no look. */
static void
leave_out(const EmogiOwnChanges *own, EmogiOwnLeaf *leaf, EmogiChangedPages *discovery)
{
	EmogiPageRescan *looks = &discovery->looks;
	const CommandId command = GetActiveSnapshot()->curcid;
	Relation	rel = relation_open(discovery->relid, NoLock);
	uint64		count = 0;
	int			at = 0;

	for (uint64 i = 0; i < looks->count; i++)
	{
		const BlockNumber block = looks->blocks[i];

		while (at < leaf->npages && leaf->pages[at].block < block)
			at++;
		if (at < leaf->npages && leaf->pages[at].block == block && may_keep(own, rel, &leaf->pages[at], command))
			discovery->nby_lsn++;
		else
			looks->blocks[count++] = block;
	}
	looks->count = count;
	relation_close(rel, NoLock);
}

/*
 * Leave out the pages, of those that differ from what the state has, that need no look; *count: of those that do. False, and nothing is left out or kept,
 * where what is kept is not of these leaves (O4).
 */
bool
emogi_own_changes_reuse(EmogiOwnChanges *own, const EmogiChangeTracker *state, EmogiChangedPages *discoveries, int nleaves, uint64 *count)
{
	bool		fits = own->nleaves == nleaves && state->pages.nleaves == nleaves;

	for (int i = 0; fits && i < nleaves; i++)
		fits = discoveries[i].known == &state->pages.leaves[i] && discoveries[i].nblocks >= Min(own->leaves[i].gone, discoveries[i].known->nblocks) &&
			are_listed(&own->leaves[i], &discoveries[i].looks) && are_new(&own->leaves[i], &discoveries[i]);
	if (!fits)
	{
		drop(own);
		return false;
	}
	*count = 0;
	for (int i = 0; i < nleaves; i++)
	{
		leave_out(own, &own->leaves[i], &discoveries[i]);
		*count += discoveries[i].looks.count;
	}
	return true;
}

/* Find a page of a leaf, from place *at on, or make room for it there; *is_new: it was not there. */
static EmogiOwnPage *
open_page(EmogiOwnChanges *own, EmogiOwnLeaf *leaf, int *at, BlockNumber block, bool *is_new)
{
	while (*at < leaf->npages && leaf->pages[*at].block < block)
		++*at;
	*is_new = *at == leaf->npages || leaf->pages[*at].block != block;
	if (!*is_new)
		return &leaf->pages[*at];
	if (leaf->npages == leaf->room)
	{
		leaf->room = Max(2 * leaf->room, 16);
		leaf->pages = leaf->pages == NULL ? MemoryContextAllocHuge(own->context, leaf->room * sizeof(EmogiOwnPage)) :
			repalloc_huge(leaf->pages, leaf->room * sizeof(EmogiOwnPage));
	}
	memmove(&leaf->pages[*at + 1], &leaf->pages[*at], (leaf->npages - *at) * sizeof(EmogiOwnPage));
	leaf->npages++;
	leaf->pages[*at] = (EmogiOwnPage) {.block = block};
	return &leaf->pages[*at];
}

/* Have a page be as a look has found it. */
static void
take_look(EmogiOwnChanges *own, EmogiOwnPage *page, const EmogiPageScan *look)
{
	if (look->nedges > page->room)
	{
		if (page->edges != NULL)
			pfree(page->edges);
		page->edges = NULL;
		page->room = Min(2 * look->nedges, PG_UINT16_MAX);
		page->edges = MemoryContextAlloc(own->context, page->room * own->edge_bytes);
	}
	if (look->nedges > 0)
		memcpy(page->edges, look->edges, look->nedges * own->edge_bytes);
	page->nedges = look->nedges;
	page->nskipped = look->nskipped;
	page->buffer = look->buffer;
	page->lsn = look->page_lsn;
	page->others = own->others;
	page->command = GetActiveSnapshot()->curcid;
	page->last_command = look->last_command;
	page->own = look->own;
	page->undecided = look->others;
}

/* Count changes. */
static void
sum_up(EmogiOwnChanges *own, uint64 first)
{
	for (uint64 i = first; i < own->changes.count; i++)
	{
		const EmogiEdgeChange *change = &own->changes.changes[i];

		own->nedges += change->times;
		if (own->edge_bytes == sizeof(EmogiWeightedEdge))
			emogi_misfits_count(&own->misfits, change->weight, change->times);
	}
}

/* Keep what the map says of a leaf: of pages that are as the state has them, once they have been compared (O5). */
static void
keep_map(EmogiOwnChanges *own, EmogiOwnLeaf *leaf, const EmogiChangedPages *discovery)
{
	EmogiVouching *vouching = &leaf->vouching;
	const BlockNumber nblocks = discovery->nblocks;

	if (nblocks > vouching->room || vouching->trusted == NULL)
	{
		vouching->room = nblocks + nblocks / 8 + 64;
		if (vouching->trusted != NULL)
		{
			pfree(vouching->trusted);
			pfree(vouching->group_lsn);
		}
		vouching->trusted = MemoryContextAllocHuge(own->context, (vouching->room / 64 + 1) * sizeof(uint64));
		vouching->group_lsn = MemoryContextAllocHuge(own->context, (emogi_changed_pages_groups(vouching->room) + 1) * sizeof(uint64));
	}
	vouching->nblocks = nblocks;
	vouching->vacuums = discovery->vacuums;
	memcpy(vouching->trusted, discovery->map, (nblocks / 64 + 1) * sizeof(uint64));
	memcpy(vouching->group_lsn, discovery->group_lsn, emogi_changed_pages_groups(nblocks) * sizeof(uint64));
	for (int i = 0; i < leaf->npages; i++)
		vouching->trusted[leaf->pages[i].block / 64] &= ~(UINT64CONST(1) << leaf->pages[i].block % 64);
}

/* Have the pages of a leaf compared with the help of what its map said in the last call. */
void
emogi_own_changes_vouch(const EmogiOwnChanges *own, EmogiChangedPages *discovery, int leaf)
{
	if (leaf < own->nleaves && discovery->known != NULL && own->leaves[leaf].relid == discovery->relid)
		discovery->before = &own->leaves[leaf].vouching;
}

/* Take over the looks at a leaf. diffs: append what has changed, too. */
static void
take_leaf(EmogiOwnChanges *own, const EmogiChangeTracker *state, EmogiOwnLeaf *leaf, const EmogiChangedPages *discovery, bool diffs)
{
	const EmogiTrackedTable *known = discovery->known;
	const bool	weighted = own->edge_bytes == sizeof(EmogiWeightedEdge);
	int			at = 0;

	for (uint64 i = 0; i < discovery->looks.count; i++)
	{
		EmogiPageScan  *look = &discovery->looks.looks[i];
		const BlockNumber block = discovery->looks.blocks[i];
		bool		is_new;
		EmogiOwnPage    *page = open_page(own, leaf, &at, block, &is_new);

		if (diffs && is_new && block < leaf->gone)
		{
			emogi_tracker_diff_look(&own->changes, state, known, block, look);
			own->nskipped -= block < known->nblocks ? state->pages.nskipped[known->first + block] : 0;
		}
		else if (diffs)
		{
			emogi_tracker_diff_looks(&own->changes, weighted, page->edges, page->nedges, look);
			own->nskipped -= page->nskipped;
		}
		if (diffs)
			own->nskipped += look->nskipped;
		take_look(own, page, look);
	}
}

/* Leave out, of the changes from the first on, those that cancel out: rows that have only moved, or whose other columns have changed. */
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

/* Leave out changes that cancel out, where there may be many; patches are made anew then. */
static void
net_changes(EmogiOwnChanges *own)
{
	if (own->changes.count <= 2 * own->nnet + LEAST_NETTED)
		return;
	emogi_tracker_diff_net(&own->changes);
	own->nnet = own->changes.count;
	for (int i = 0; i < EMOGI_OWN_PATCHES; i++)
		own->patches[i].broken = true;
}

/* ---- a call ---- */

/* Take over what the looks of a call have found, after emogi_own_changes_reuse, and say what the snapshot sees. */
void
emogi_own_changes_take(EmogiOwnChanges *own, const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, const EmogiTransactionSnapshot *xids,
			   EmogiRefresh *refresh)
{
	const uint64 first = own->changes.count;
	uint64		npages = 0;
	bool		has_own = false;

	own->broken = true;
	for (int i = 0; i < nleaves; i++)
	{
		take_leaf(own, state, &own->leaves[i], &discoveries[i], true);
		keep_map(own, &own->leaves[i], &discoveries[i]);
		npages += own->leaves[i].npages;
	}
	net_new(own, first);
	sum_up(own, first);
	net_changes(own);
	note_snapshot(own, xids);
	for (int i = 0; i < nleaves; i++)
		for (int k = 0; k < own->leaves[i].npages && !has_own; k++)
			has_own = own->leaves[i].pages[k].own;
	refresh->own = has_own;
	refresh->changes = own->changes;
	refresh->nedges = own->nedges;
	refresh->nskipped = own->nskipped;
	refresh->weight_misfits = emogi_misfits_of(&own->misfits);
	refresh->own_changes = own;
	own->broken = !has_own || npages > MOST_PAGES || own->changes.count > MOST_CHANGES; /* this is the last call that uses it */
}

/* Keep what the looks of a call have found, all that differ from what a state has, for later calls of the transaction; NULL when that is too much. */
EmogiOwnChanges *
emogi_own_changes_keep(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, const EmogiTransactionSnapshot *xids, const EmogiRefresh *refresh)
{
	EmogiOwnChanges *own;
	uint64		npages = 0;
	bool		fits = state->pages.nleaves == nleaves && refresh->changes.count <= MOST_CHANGES / 2;

	for (int i = 0; fits && i < nleaves; i++)
	{
		fits = discoveries[i].known == &state->pages.leaves[i];
		npages += discoveries[i].looks.count;
	}
	if (!fits || npages > MOST_PAGES)
		return NULL;
	own = begin(state, nleaves);
	for (int i = 0; i < nleaves; i++)
	{
		own->leaves[i].relid = discoveries[i].relid;
		own->leaves[i].gone = discoveries[i].nblocks < discoveries[i].known->nblocks ? discoveries[i].nblocks : InvalidBlockNumber;
		take_leaf(own, state, &own->leaves[i], &discoveries[i], false);
		keep_map(own, &own->leaves[i], &discoveries[i]);
	}
	emogi_tracker_diff_add(&own->changes, refresh->changes.changes, refresh->changes.count);
	sum_up(own, 0);
	own->nskipped = refresh->nskipped;
	own->used = ++nuses;
	note_snapshot(own, xids);
	own->broken = false;
	return own;
}
