/*
 * tracker_store.c: storing the result of a refresh in the change tracker
 *
 * First, emogi_tracker_store_prepare allocates all memory; it may fail and changes nothing. After
 * that nothing can fail (L10). A tracker found broken was left by a process that was killed in the
 * middle of a change, and is freed with its holder.
 */
#include "postgres.h"

#include "changes/changes.h"
#include "base/fault.h"
#include "base/extents.h"
#include "base/arena.h"

/* Spare room for new edges: 1 / COO_SHARE of the edges plus COO_MIN. */
#define COO_SHARE 32
#define COO_MIN 1024

/* Maximum length of the log: 1 / LOG_SHARE of the edges, at least LOG_MIN. */
#define LOG_SHARE 128
#define LOG_MIN 1024

/* ---- allocation ---- */

/* Return true if the COO's format can hold all edges that were found. */
bool
emogi_tracker_store_fits(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed_tables,
						 int nleaves, bool weighted)
{
	for (int i = 0; i < nleaves; i++)
		for (uint64 k = 0; k < changed_tables[i].scans.count; k++)
		{
			const EmogiPageScan *scan = &changed_tables[i].scans.scans[k];

			for (int j = 0; j < scan->nedges && !scan->same; j++)
			{
				EmogiWeightedEdge edge = emogi_tracker_diff_edge(scan->edges, j, weighted);

				if (!emogi_coo_holds(&tracker->coo, edge.src, edge.dst, edge.weight))
					return false;
			}
		}
	return true;
}

/* Get the number of page slots of a table, with some spare for new pages. */
static BlockNumber
room_for(BlockNumber nblocks)
{
	return (BlockNumber) (((uint64) nblocks + nblocks / 8 + 127) / 64 * 64);
}

/* Return true if the existing block has page slots for all tables. */
static bool
has_places(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed_tables, int nleaves)
{
	if (tracker->pages.nleaves != nleaves)
		return false;
	for (int i = 0; i < nleaves; i++)
		if (changed_tables[i].known != &tracker->pages.leaves[i] ||
			changed_tables[i].nblocks > changed_tables[i].known->room)
			return false;
	return true;
}

/* Allocate a block with page slots for all tables. */
static void
prepare_pages(EmogiCall *call, EmogiTrackerStore *store)
{
	uint64		npages = 0;
	uint64		ngroups = 0;
	Size		bytes;

	for (int i = 0; i < store->nleaves; i++)
	{
		npages += room_for(store->changed_tables[i].nblocks);
		ngroups += emogi_changed_pages_groups(room_for(store->changed_tables[i].nblocks));
	}
	bytes = emogi_change_tracker_pages_bytes(store->nleaves, npages, ngroups);
	store->pages_memory = emogi_call_alloc(call, bytes);
	emogi_change_tracker_view_pages(&store->pages, store->pages_memory, store->nleaves, npages,
									ngroups);
}

/* Return the number of edges to be appended to the COO. */
static uint64
count_appended(const EmogiTrackerStore *store)
{
	const EmogiTrackedPages *pages = &store->tracker->pages;
	uint64		appended = 0;

	for (int i = 0; i < store->nleaves; i++)
	{
		const EmogiChangedPages *changed = &store->changed_tables[i];
		const EmogiTrackedTable *known = changed->known;

		for (uint64 k = 0; k < changed->scans.count; k++)
		{
			BlockNumber block = changed->scans.blocks[k];
			bool		was_there = known != NULL && block < known->nblocks;
			int			before = was_there ? pages->nedges[known->first + block] : 0;
			int			now = changed->scans.scans[k].nedges;

			appended += now > before ? now : 0;
		}
	}
	return appended;
}

/* Return the number of edges of all pages after the changes. */
static uint64
count_edges(const EmogiTrackerStore *store)
{
	const EmogiTrackedPages *pages = &store->tracker->pages;
	uint64		nedges = 0;

	for (int i = 0; i < store->nleaves; i++)
	{
		const EmogiChangedPages *changed = &store->changed_tables[i];
		const EmogiTrackedTable *known = changed->known;

		for (BlockNumber block = 0; known != NULL && block < Min(known->nblocks, changed->nblocks);
			 block++)
			nedges += pages->nedges[known->first + block];
		for (uint64 k = 0; k < changed->scans.count; k++)
		{
			BlockNumber block = changed->scans.blocks[k];

			nedges += changed->scans.scans[k].nedges;
			if (known != NULL && block < known->nblocks)
				nedges -= pages->nedges[known->first + block];
		}
	}
	return nedges;
}

/* Allocate a larger COO if the existing one has no room for the new edges. */
static void
prepare_coo(EmogiCall *call, EmogiTrackerStore *store)
{
	const EmogiCoo *coo = &store->tracker->coo;
	uint64		nedges;

	if (coo->used + count_appended(store) <= coo->room)
		return;
	nedges = count_edges(store);
	store->coo = *coo;
	store->coo.used = 0;
	store->coo.room = nedges + nedges / COO_SHARE + COO_MIN;
	store->coo_memory = emogi_call_alloc_any(call, emogi_coo_bytes(&store->coo));
	emogi_coo_view(&store->coo, store->coo_memory);
}

/* Return true if all tables are the tracker's, and none has lost pages. */
static bool
keeps_pages(const EmogiChangeTracker *tracker, const EmogiChangedPages *changed_tables, int nleaves)
{
	if (tracker->pages.nleaves != nleaves)
		return false;
	for (int i = 0; i < nleaves; i++)
		if (changed_tables[i].known != &tracker->pages.leaves[i] ||
			changed_tables[i].nblocks < changed_tables[i].known->nblocks)
			return false;
	return true;
}

/* Allocate a longer log if these changes do not fit into the existing one and it may grow. */
static void
prepare_log(EmogiCall *call, EmogiTrackerStore *store, uint64 nchanges)
{
	const EmogiChangeTracker *tracker = store->tracker;
	uint64		max = Max(tracker->nedges / LOG_SHARE, LOG_MIN);
	uint64		needed = tracker->position - tracker->log_start + nchanges;

	store->log_room = tracker->log_room;
	if (needed <= tracker->log_room || tracker->log_room >= max)
		return;
	store->log_room = Min(Max(needed, 2 * tracker->log_room), max);
	store->log_memory = emogi_call_alloc_any(call, store->log_room * sizeof(EmogiEdgeChange));
}

/*
 * Allocate all memory needed to store the changes; raises 53200. The edges must fit the COO's
 * format.
 */
void
emogi_tracker_store_prepare(EmogiCall *call, EmogiChangeTracker *tracker,
							const EmogiChangedPages *changed_tables, int nleaves, uint64 nchanges,
							EmogiTrackerStore *store)
{
	memset(store, 0, sizeof *store);
	store->tracker = tracker;
	store->changed_tables = changed_tables;
	store->nleaves = nleaves;
	store->keeps_pages = tracker->phase == EMOGI_TRACKER_READY &&
		keeps_pages(tracker, changed_tables, nleaves);
	if (!has_places(tracker, changed_tables, nleaves))
		prepare_pages(call, store);
	if (tracker->phase == EMOGI_TRACKER_READY)
		prepare_coo(call, store);
	prepare_log(call, store, nchanges);
}

/* ---- storing: nothing here can fail ---- */

/*
 * Copy the first n page slots of a table to other places. The map bits are not copied, because they
 * are all replaced.
 */
static void
copy_pages(EmogiTrackedPages *to, const EmogiTrackedTable *table, const EmogiTrackedPages *from,
		   const EmogiTrackedTable *known, BlockNumber n)
{
	memcpy(&to->lsn[table->first], &from->lsn[known->first], n * sizeof(uint64));
	memcpy(&to->newest[table->first], &from->newest[known->first], n * sizeof(uint64));
	memcpy(&to->place[table->first], &from->place[known->first], n * sizeof(uint64));
	memcpy(&to->buffer[table->first], &from->buffer[known->first], n * sizeof(Buffer));
	memcpy(&to->nedges[table->first], &from->nedges[known->first], n * sizeof(uint16));
	memcpy(&to->nskipped[table->first], &from->nskipped[known->first], n * sizeof(uint16));
}

/*
 * Replace the tracker's block of page slots by the new one. Pointers to known tables in the changed
 * pages dangle afterwards.
 */
static void
replace_pages(EmogiTrackerStore *store)
{
	EmogiChangeTracker *tracker = store->tracker;
	EmogiTrackedPages *to = &store->pages;
	uint64		page = 0;
	uint64		group = 0;

	for (int i = 0; i < store->nleaves; i++)
	{
		const EmogiChangedPages *changed = &store->changed_tables[i];
		EmogiTrackedTable *table = &to->leaves[i];

		table->relid = changed->relid;
		table->nblocks = changed->known != NULL ?
			Min(changed->known->nblocks, changed->nblocks) : 0;
		table->room = room_for(changed->nblocks);
		table->first = page;
		table->first_group = group;
		page += table->room;
		group += emogi_changed_pages_groups(table->room);
		if (changed->known != NULL)
			copy_pages(to, table, &tracker->pages, changed->known, table->nblocks);
	}
	emogi_change_tracker_drop(tracker, &tracker->pages_block);
	emogi_change_tracker_keep(tracker, &tracker->pages_block, store->pages_memory,
							  emogi_change_tracker_pages_bytes(to->nleaves, to->npages,
															   to->ngroups));
	emogi_change_tracker_view_pages(&tracker->pages, tracker->pages_block.start, to->nleaves,
									to->npages, to->ngroups);
	tracker->base.running = tracker->pages.running;
}

/* Get the place in the COO that the first edge of a page scan was packed to. */
static uint64
packed_place(const EmogiPageScan *scan, bool weighted)
{
	EmogiEdgeChunk *chunk = (EmogiEdgeChunk *) (emogi_arena_start +
												emogi_extents_of(scan->edges) * EMOGI_EXTENT_BYTES);
	Size		offset = (const char *) scan->edges - (const char *) chunk->edges;

	return chunk->first + offset / (weighted ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge));
}

/* Write the edges of a page to the COO, at their old place if they fit. */
static void
put_edges(EmogiChangeTracker *tracker, uint64 page, const EmogiPageScan *scan, bool at_end)
{
	EmogiCoo   *coo = &tracker->coo;

	if (scan->same && !at_end)
		return;
	if (at_end || scan->nedges > tracker->pages.nedges[page])
	{
		tracker->pages.place[page] = coo->used;
		coo->used += scan->nedges;
	}
	for (int i = 0; i < scan->nedges; i++)
	{
		EmogiWeightedEdge edge =
			emogi_tracker_diff_edge(scan->edges, i, coo->weight_type != EMOGI_WEIGHT_NONE);

		emogi_coo_put(coo, tracker->pages.place[page] + i, edge.src, edge.dst, edge.weight);
	}
}

/* Copy the edges of an unchanged page to the end of the new COO. */
static void
copy_edges(EmogiChangeTracker *tracker, uint64 page, const EmogiCoo *old)
{
	EmogiCoo   *coo = &tracker->coo;
	uint64		from = tracker->pages.place[page];
	uint64		n = tracker->pages.nedges[page];
	Size		pair = 2 * coo->key_bytes;
	Size		weight = emogi_weight_bytes(coo->weight_type);

	memcpy((char *) coo->keys + coo->used * pair, (const char *) old->keys + from * pair, n * pair);
	if (weight > 0)
		memcpy((char *) coo->weights + coo->used * weight,
			   (const char *) old->weights + from * weight, n * weight);
	tracker->pages.place[page] = coo->used;
	coo->used += n;
}

/* Replace what a page has contributed to the tracker's totals, if it was there. */
static void
replace_totals(EmogiChangeTracker *tracker, uint64 page, bool was_there, const EmogiPageScan *scan)
{
	if (was_there)
	{
		tracker->nedges -= tracker->pages.nedges[page];
		tracker->nskipped -= tracker->pages.nskipped[page];
	}
	tracker->nedges += scan->nedges;
	tracker->nskipped += scan->nskipped;
}

/* Store the properties of a page except its edges. */
static void
set_page(EmogiTrackedPages *pages, uint64 page, const EmogiPageScan *scan)
{
	pages->lsn[page] = scan->lsn;
	pages->newest[page] = scan->newest;
	pages->buffer[page] = scan->buffer;
	pages->nedges[page] = scan->nedges;
	pages->nskipped[page] = scan->nskipped;
}

/*
 * Store the pages of a table and their edges. old: the COO to copy the edges of the other pages
 * from, or NULL.
 */
static void
store_leaf(const EmogiTrackerStore *store, int i, const EmogiCoo *old)
{
	EmogiChangeTracker *tracker = store->tracker;
	const EmogiChangedPages *changed = &store->changed_tables[i];
	EmogiTrackedTable *table = &tracker->pages.leaves[i];
	const EmogiPageRescan *scans = &changed->scans;
	BlockNumber next = 0;		/* first page not copied yet */

	for (uint64 k = 0; k <= scans->count; k++)
	{
		BlockNumber block = k < scans->count ? scans->blocks[k] : changed->nblocks;
		uint64		page = table->first + block;

		for (; old != NULL && next < block; next++)
			copy_edges(tracker, table->first + next, old);
		next = block + 1;
		if (k == scans->count)
			break;
		if (store->keeps_pages)
			replace_totals(tracker, page, block < table->nblocks, &scans->scans[k]);
		if (store->packed)
			tracker->pages.place[page] =
				packed_place(&scans->scans[k], tracker->coo.weight_type != EMOGI_WEIGHT_NONE);
		else
			put_edges(tracker, page, &scans->scans[k], old != NULL || block >= table->nblocks);
		set_page(&tracker->pages, page, &scans->scans[k]);
	}
	table->relfilenumber = changed->relfilenumber;
	table->src = changed->src;
	table->dst = changed->dst;
	table->weight = changed->weight;
	table->reverse = changed->reverse;
	memcpy(table->filter, changed->filter, sizeof table->filter);
	table->vacuums = changed->vacuums;
	table->nblocks = changed->nblocks;
	memcpy(&tracker->pages.group_lsn[table->first_group], changed->group_lsn,
		   emogi_changed_pages_groups(changed->nblocks) * sizeof(uint64));
	memcpy(&tracker->pages.trusted[table->first / 64], changed->map,
		   (changed->nblocks + 63) / 64 * sizeof(uint64));
}

/* Store all tables. */
static void
store_leaves(EmogiTrackerStore *store)
{
	EmogiChangeTracker *tracker = store->tracker;
	EmogiCoo	old = tracker->coo;
	EmogiTrackedBlock old_block = tracker->coo_block;
	bool		renewed = store->coo_memory != NULL;

	if (renewed)
	{
		emogi_change_tracker_keep(tracker, &tracker->coo_block, store->coo_memory,
								  emogi_coo_bytes(&store->coo));
		tracker->coo = store->coo;
		emogi_coo_view(&tracker->coo, tracker->coo_block.start);
	}
	for (int i = 0; i < store->nleaves; i++)
	{
		EmogiTrackedTable *table = &tracker->pages.leaves[i];

		table->nblocks = Min(table->nblocks, store->changed_tables[i].nblocks);
		store_leaf(store, i, renewed && !store->packed ? &old : NULL);
	}
	if (renewed)
		emogi_change_tracker_drop(tracker, &old_block);
}

/* Append changes to the log, dropping the oldest if there is no room. */
static void
append_log(EmogiTrackerStore *store, const EmogiChanges *changes)
{
	EmogiChangeTracker *tracker = store->tracker;
	uint64		kept = tracker->position - tracker->log_start;

	if (store->log_memory != NULL)
	{
		EmogiTrackedBlock old = tracker->log_block;

		if (kept > 0)
			memcpy(store->log_memory, tracker->log, kept * sizeof(EmogiEdgeChange));
		emogi_change_tracker_keep(tracker, &tracker->log_block, store->log_memory,
								  store->log_room * sizeof(EmogiEdgeChange));
		emogi_change_tracker_drop(tracker, &old);
		tracker->log = tracker->log_block.start;
		tracker->log_room = store->log_room;
	}
	tracker->position += changes->count;
	if (changes->count > 0)
		tracker->noverlays = tracker->overlays_ms = 0;
	if (changes->count > tracker->log_room)
	{
		tracker->log_start = tracker->position;
		return;
	}
	if (kept + changes->count > tracker->log_room)
	{
		uint64		keep = Min(kept, tracker->log_room - changes->count) / 2;

		memmove(tracker->log, tracker->log + kept - keep, keep * sizeof(EmogiEdgeChange));
		kept = keep;
	}
	if (changes->count > 0)
		memcpy(tracker->log + kept, changes->changes, changes->count * sizeof(EmogiEdgeChange));
	tracker->log_start = tracker->position - changes->count - kept;
}

/* Recompute the tracker's totals from the changes and, unless keeps_pages, from all pages. */
static void
sum_up(EmogiChangeTracker *tracker, const EmogiChanges *changes, bool keeps_pages)
{
	const EmogiTrackedPages *pages = &tracker->pages;

	if (tracker->coo.weight_type != EMOGI_WEIGHT_NONE)
		for (uint64 i = 0; i < changes->count; i++)
			emogi_misfits_count(&tracker->misfits, changes->changes[i].weight,
								changes->changes[i].times);
	if (keeps_pages)
		return;					/* replace_totals has done so page by page */
	tracker->nedges = tracker->nskipped = 0;
	for (int i = 0; i < pages->nleaves; i++)
		for (BlockNumber block = 0; block < pages->leaves[i].nblocks; block++)
		{
			tracker->nedges += pages->nedges[pages->leaves[i].first + block];
			tracker->nskipped += pages->nskipped[pages->leaves[i].first + block];
		}
}

/*
 * Store the page scans, edges and changes in the tracker and make a snapshot its base. Raises
 * nothing.
 */
void
emogi_tracker_store(EmogiTrackerStore *store, const EmogiTransactionSnapshot *base,
					const EmogiChanges *changes)
{
	EmogiChangeTracker *tracker = store->tracker;

	emogi_fault_sleep(EMOGI_FAULT_AT_REFRESH_STORE);
	tracker->broken = true;
	tracker->version++;
	if (store->pages_memory != NULL)
		replace_pages(store);
	store_leaves(store);
	append_log(store, changes);
	sum_up(tracker, changes, store->keeps_pages);
	tracker->base = *base;
	tracker->base.running = tracker->pages.running;
	memcpy(tracker->base.running, base->running, base->nrunning * sizeof(uint64));
	tracker->broken = false;
}

/* List the places of all pages' edges in the COO, in memory of the call. Raises 53200. */
EmogiCooRun *
emogi_tracker_store_runs(EmogiCall *call, const EmogiChangeTracker *tracker, uint64 *nruns)
{
	const EmogiTrackedPages *pages = &tracker->pages;
	EmogiCooRun *runs = emogi_call_alloc_any(call, Max(pages->npages, 1) * sizeof(EmogiCooRun));

	*nruns = 0;
	for (int i = 0; i < pages->nleaves; i++)
		for (BlockNumber block = 0; block < pages->leaves[i].nblocks; block++)
		{
			uint64		page = pages->leaves[i].first + block;

			runs[(*nruns)++] = (EmogiCooRun) {pages->place[page], pages->nedges[page]};
		}
	return runs;
}
