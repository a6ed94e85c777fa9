/*
 * tracker_store.c: what a refresh has found becomes the live state's.
 *
 * First all memory is taken, which may fail and changes nothing (emogi_tracker_store_prepare). Then nothing can fail (L10): a state that is
 * seen broken belongs to a process that was ended in the middle, and goes with its holder.
 */
#include "postgres.h"

#include "changes/changes.h"
#include "base/fault.h"
#include "base/extents.h"
#include "base/arena.h"

/* Room for edges that come: a share of those that are there, and some. */
#define COO_SHARE 32
#define COO_MIN 1024

/* The log keeps this share of the edges as changes, and at least some. */
#define LOG_SHARE 128
#define LOG_MIN 1024

/* ---- taking memory ---- */

/* Can the COO hold all edges that were found, in its form? */
bool
emogi_tracker_store_fits(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, bool weighted)
{
	for (int i = 0; i < nleaves; i++)
		for (uint64 k = 0; k < discoveries[i].looks.count; k++)
		{
			const EmogiPageScan *look = &discoveries[i].looks.looks[k];

			for (int j = 0; j < look->nedges && !look->same; j++)
			{
				EmogiWeightedEdge edge = emogi_tracker_diff_edge(look->edges, j, weighted);

				if (!emogi_coo_holds(&state->coo, edge.src, edge.dst, edge.weight))
					return false;
			}
		}
	return true;
}

/* Get the places that a leaf gets, with some for pages that come. */
static BlockNumber
room_for(BlockNumber nblocks)
{
	return (BlockNumber) (((uint64) nblocks + nblocks / 8 + 127) / 64 * 64);
}

/* Do all leaves have their places in the block that there is? */
static bool
has_places(const EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves)
{
	if (state->pages.nleaves != nleaves)
		return false;
	for (int i = 0; i < nleaves; i++)
		if (discoveries[i].known != &state->pages.leaves[i] || discoveries[i].nblocks > discoveries[i].known->room)
			return false;
	return true;
}

/* Take a block with places for all pages of all leaves. */
static void
prepare_pages(EmogiCall *call, EmogiTrackerStore *storing)
{
	uint64		npages = 0;
	uint64		ngroups = 0;
	Size		bytes;

	for (int i = 0; i < storing->nleaves; i++)
	{
		npages += room_for(storing->discoveries[i].nblocks);
		ngroups += emogi_changed_pages_groups(room_for(storing->discoveries[i].nblocks));
	}
	bytes = emogi_change_tracker_pages_bytes(storing->nleaves, npages, ngroups);
	storing->pages_memory = emogi_call_alloc(call, bytes);
	emogi_change_tracker_view_pages(&storing->pages, storing->pages_memory, storing->nleaves, npages, ngroups);
}

/* Get the edges that the COO gets at its end, and in *nedges all that there will be. */
static uint64
count_edges(const EmogiTrackerStore *storing, uint64 *nedges)
{
	const EmogiChangeTracker *state = storing->state;
	uint64		appended = 0;

	*nedges = 0;
	for (int i = 0; i < storing->nleaves; i++)
	{
		const EmogiChangedPages *discovery = &storing->discoveries[i];
		const EmogiTrackedTable *known = discovery->known;

		for (BlockNumber block = 0; known != NULL && block < Min(known->nblocks, discovery->nblocks); block++)
			*nedges += state->pages.nedges[known->first + block];
		for (uint64 k = 0; k < discovery->looks.count; k++)
		{
			BlockNumber block = discovery->looks.blocks[k];
			bool		was_there = known != NULL && block < known->nblocks;
			int			before = was_there ? state->pages.nedges[known->first + block] : 0;
			int			now = discovery->looks.looks[k].nedges;

			*nedges += now;
			*nedges -= before;
			appended += now > before ? now : 0;
		}
	}
	return appended;
}

/* Take a COO with room for all edges, when the one that there is has none. */
static void
prepare_coo(EmogiCall *call, EmogiTrackerStore *storing)
{
	const EmogiCoo *coo = &storing->state->coo;
	uint64		nedges;
	uint64		appended = count_edges(storing, &nedges);

	if (coo->used + appended <= coo->room)
		return;
	storing->coo = *coo;
	storing->coo.used = 0;
	storing->coo.room = nedges + nedges / COO_SHARE + COO_MIN;
	storing->coo_memory = emogi_call_alloc_any(call, emogi_coo_bytes(&storing->coo));
	emogi_coo_view(&storing->coo, storing->coo_memory);
}

/* Take a longer log, when these changes are too many for the one that there is and it may grow. */
static void
prepare_log(EmogiCall *call, EmogiTrackerStore *storing, uint64 nchanges)
{
	const EmogiChangeTracker *state = storing->state;
	uint64		most = Max(state->nedges / LOG_SHARE, LOG_MIN);
	uint64		needed = state->position - state->log_start + nchanges;

	storing->log_room = state->log_room;
	if (needed <= state->log_room || state->log_room >= most)
		return;
	storing->log_room = Min(Max(needed, 2 * state->log_room), most);
	storing->log_memory = emogi_call_alloc_any(call, storing->log_room * sizeof(EmogiEdgeChange));
}

/* Take all memory that it takes to store what was found; raises 53200. The edges fit in the form that the COO has. */
void
emogi_tracker_store_prepare(EmogiCall *call, EmogiChangeTracker *state, const EmogiChangedPages *discoveries, int nleaves, uint64 nchanges,
					EmogiTrackerStore *storing)
{
	memset(storing, 0, sizeof *storing);
	storing->state = state;
	storing->discoveries = discoveries;
	storing->nleaves = nleaves;
	if (!has_places(state, discoveries, nleaves))
		prepare_pages(call, storing);
	if (state->phase == EMOGI_LIVE_READY)
		prepare_coo(call, storing);
	prepare_log(call, storing, nchanges);
}

/* ---- storing; nothing here can fail ---- */

/* Copy what is known of the first pages of a leaf to other places; all of the map is new. */
static void
copy_pages(EmogiTrackedPages *to, const EmogiTrackedTable *leaf, const EmogiTrackedPages *from, const EmogiTrackedTable *known, BlockNumber n)
{
	memcpy(&to->lsn[leaf->first], &from->lsn[known->first], n * sizeof(uint64));
	memcpy(&to->newest[leaf->first], &from->newest[known->first], n * sizeof(uint64));
	memcpy(&to->place[leaf->first], &from->place[known->first], n * sizeof(uint64));
	memcpy(&to->buffer[leaf->first], &from->buffer[known->first], n * sizeof(Buffer));
	memcpy(&to->nedges[leaf->first], &from->nedges[known->first], n * sizeof(uint16));
	memcpy(&to->nskipped[leaf->first], &from->nskipped[known->first], n * sizeof(uint16));
}

/* Make the new block for the pages the state's. What discoveries say to be known of a leaf is gone then. */
static void
move_pages(EmogiTrackerStore *storing)
{
	EmogiChangeTracker *state = storing->state;
	EmogiTrackedPages *to = &storing->pages;
	uint64		page = 0;
	uint64		group = 0;

	for (int i = 0; i < storing->nleaves; i++)
	{
		const EmogiChangedPages *discovery = &storing->discoveries[i];
		EmogiTrackedTable *leaf = &to->leaves[i];

		leaf->relid = discovery->relid;
		leaf->nblocks = discovery->known != NULL ? Min(discovery->known->nblocks, discovery->nblocks) : 0;
		leaf->room = room_for(discovery->nblocks);
		leaf->first = page;
		leaf->first_group = group;
		page += leaf->room;
		group += emogi_changed_pages_groups(leaf->room);
		if (discovery->known != NULL)
			copy_pages(to, leaf, &state->pages, discovery->known, leaf->nblocks);
	}
	emogi_change_tracker_drop(state, &state->pages_block);
	emogi_change_tracker_keep(state, &state->pages_block, storing->pages_memory,
						  emogi_change_tracker_pages_bytes(to->nleaves, to->npages, to->ngroups));
	emogi_change_tracker_view_pages(&state->pages, state->pages_block.start, to->nleaves, to->npages, to->ngroups);
	state->base.running = state->pages.running;
}

/* Get the place that the first edge of a look has been packed to. */
static uint64
packed_place(const EmogiPageScan *look, bool weighted)
{
	EmogiEdgeChunk *chunk = (EmogiEdgeChunk *) (emogi_arena_start + emogi_extents_of(look->edges) * EMOGI_EXTENT_BYTES);
	Size		offset = (const char *) look->edges - (const char *) chunk->edges;

	return chunk->first + offset / (weighted ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge));
}

/* Put the edges of a page into the COO, at its place if they fit there. */
static void
put_edges(EmogiChangeTracker *state, uint64 page, const EmogiPageScan *look, bool at_end)
{
	EmogiCoo   *coo = &state->coo;

	if (look->same && !at_end)
		return;
	if (at_end || look->nedges > state->pages.nedges[page])
	{
		state->pages.place[page] = coo->used;
		coo->used += look->nedges;
	}
	for (int i = 0; i < look->nedges; i++)
	{
		EmogiWeightedEdge edge = emogi_tracker_diff_edge(look->edges, i, coo->weight_type != EMOGI_WEIGHT_NONE);

		emogi_coo_put(coo, state->pages.place[page] + i, edge.src, edge.dst, edge.weight);
	}
}

/* Copy the edges of a page that has not changed to the end of the new COO. */
static void
copy_edges(EmogiChangeTracker *state, uint64 page, const EmogiCoo *old)
{
	EmogiCoo   *coo = &state->coo;
	uint64		from = state->pages.place[page];
	uint64		n = state->pages.nedges[page];
	Size		pair = 2 * coo->key_bytes;
	Size		weight = emogi_weight_bytes(coo->weight_type);

	memcpy((char *) coo->keys + coo->used * pair, (const char *) old->keys + from * pair, n * pair);
	if (weight > 0)
		memcpy((char *) coo->weights + coo->used * weight, (const char *) old->weights + from * weight, n * weight);
	state->pages.place[page] = coo->used;
	coo->used += n;
}

/* Store what was seen of a page beside its edges. */
static void
set_page(EmogiTrackedPages *pages, uint64 page, const EmogiPageScan *look)
{
	pages->lsn[page] = look->lsn;
	pages->newest[page] = look->newest;
	pages->buffer[page] = look->buffer;
	pages->nedges[page] = look->nedges;
	pages->nskipped[page] = look->nskipped;
}

/* Store the pages of a leaf, and their edges. old: NULL, or the COO that the edges of other pages are copied from. */
static void
store_leaf(const EmogiTrackerStore *storing, int i, const EmogiCoo *old)
{
	EmogiChangeTracker *state = storing->state;
	const EmogiChangedPages *discovery = &storing->discoveries[i];
	EmogiTrackedTable *leaf = &state->pages.leaves[i];
	const EmogiPageRescan *looks = &discovery->looks;
	BlockNumber next = 0;		/* of the pages to be copied */

	for (uint64 k = 0; k <= looks->count; k++)
	{
		BlockNumber block = k < looks->count ? looks->blocks[k] : discovery->nblocks;
		uint64		page = leaf->first + block;

		for (; old != NULL && next < block; next++)
			copy_edges(state, leaf->first + next, old);
		next = block + 1;
		if (k == looks->count)
			break;
		if (storing->packed)
			state->pages.place[page] = packed_place(&looks->looks[k], state->coo.weight_type != EMOGI_WEIGHT_NONE);
		else
			put_edges(state, page, &looks->looks[k], old != NULL || block >= leaf->nblocks);
		set_page(&state->pages, page, &looks->looks[k]);
	}
	leaf->relfilenumber = discovery->relfilenumber;
	leaf->src = discovery->src;
	leaf->dst = discovery->dst;
	leaf->weight = discovery->weight;
	leaf->reverse = discovery->reverse;
	memcpy(leaf->filter, discovery->filter, sizeof leaf->filter);
	leaf->vacuums = discovery->vacuums;
	leaf->nblocks = discovery->nblocks;
	memcpy(&state->pages.group_lsn[leaf->first_group], discovery->group_lsn,
		   emogi_changed_pages_groups(discovery->nblocks) * sizeof(uint64));
	memcpy(&state->pages.trusted[leaf->first / 64], discovery->map, (discovery->nblocks + 63) / 64 * sizeof(uint64));
}

/* Store all leaves. */
static void
store_leaves(EmogiTrackerStore *storing)
{
	EmogiChangeTracker *state = storing->state;
	EmogiCoo	old = state->coo;
	EmogiTrackedBlock old_block = state->coo_block;
	bool		renewed = storing->coo_memory != NULL;

	if (renewed)
	{
		emogi_change_tracker_keep(state, &state->coo_block, storing->coo_memory, emogi_coo_bytes(&storing->coo));
		state->coo = storing->coo;
		emogi_coo_view(&state->coo, state->coo_block.start);
	}
	for (int i = 0; i < storing->nleaves; i++)
	{
		EmogiTrackedTable *leaf = &state->pages.leaves[i];

		leaf->nblocks = Min(leaf->nblocks, storing->discoveries[i].nblocks);
		store_leaf(storing, i, renewed && !storing->packed ? &old : NULL);
	}
	if (renewed)
		emogi_change_tracker_drop(state, &old_block);
}

/* Append changes to the log, and forget the oldest that have no room. */
static void
append_log(EmogiTrackerStore *storing, const EmogiChanges *changes)
{
	EmogiChangeTracker *state = storing->state;
	uint64		kept = state->position - state->log_start;

	if (storing->log_memory != NULL)
	{
		EmogiTrackedBlock old = state->log_block;

		if (kept > 0)
			memcpy(storing->log_memory, state->log, kept * sizeof(EmogiEdgeChange));
		emogi_change_tracker_keep(state, &state->log_block, storing->log_memory, storing->log_room * sizeof(EmogiEdgeChange));
		emogi_change_tracker_drop(state, &old);
		state->log = state->log_block.start;
		state->log_room = storing->log_room;
	}
	state->position += changes->count;
	if (changes->count > 0)
		state->npatched = 0;
	if (changes->count > state->log_room)
	{
		state->log_start = state->position;
		return;
	}
	if (kept + changes->count > state->log_room)
	{
		uint64		keep = Min(kept, state->log_room - changes->count) / 2;

		memmove(state->log, state->log + kept - keep, keep * sizeof(EmogiEdgeChange));
		kept = keep;
	}
	if (changes->count > 0)
		memcpy(state->log + kept, changes->changes, changes->count * sizeof(EmogiEdgeChange));
	state->log_start = state->position - changes->count - kept;
}

/* Add up what the changes and the pages say of all edges. */
static void
sum_up(EmogiChangeTracker *state, const EmogiChanges *changes)
{
	const EmogiTrackedPages *pages = &state->pages;

	if (state->coo.weight_type != EMOGI_WEIGHT_NONE)
		for (uint64 i = 0; i < changes->count; i++)
			emogi_misfits_count(&state->misfits, changes->changes[i].weight, changes->changes[i].times);
	state->nedges = state->nskipped = 0;
	for (int i = 0; i < pages->nleaves; i++)
		for (BlockNumber block = 0; block < pages->leaves[i].nblocks; block++)
		{
			state->nedges += pages->nedges[pages->leaves[i].first + block];
			state->nskipped += pages->nskipped[pages->leaves[i].first + block];
		}
}

/* Make the looks, the edges and the changes the state's, and a snapshot its base. Raises nothing. */
void
emogi_tracker_store(EmogiTrackerStore *storing, const EmogiTransactionSnapshot *base, const EmogiChanges *changes)
{
	EmogiChangeTracker *state = storing->state;

	emogi_fault_sleep(EMOGI_AT_LIVE_STORE);
	state->broken = true;
	state->version++;
	if (storing->pages_memory != NULL)
		move_pages(storing);
	store_leaves(storing);
	append_log(storing, changes);
	sum_up(state, changes);
	state->base = *base;
	state->base.running = state->pages.running;
	memcpy(state->base.running, base->running, base->nrunning * sizeof(uint64));
	state->broken = false;
}

/* List where the edges of all pages lie in the COO, in memory of the call. Raises 53200. */
EmogiCooRun *
emogi_tracker_store_runs(EmogiCall *call, const EmogiChangeTracker *state, uint64 *nruns)
{
	const EmogiTrackedPages *pages = &state->pages;
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
