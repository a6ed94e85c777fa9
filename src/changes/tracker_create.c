/*
 * tracker_create.c: creation of the change tracker of a graph that is being built
 *
 * The scan records its findings on each page, and the scanned edges are kept as the COO.
 */
#include "postgres.h"

#include "access/relation.h"

#include "changes/changes.h"
#include "base/extents.h"
#include "base/arena.h"

/*
 * Create a tracker only if the free memory is this many times that of the edges in their chunks,
 * because the CSR must still be built.
 */
#define ROOM_FACTOR 5

/*
 * Read the number of blocks and the visibility map of each table, and let the scan that follows
 * record its findings in `page_scans`. Raises 53200.
 */
void
emogi_tracker_create_begin(EmogiCall *call, const EmogiSource *source, EmogiChangeTracker *tracker,
						   const Oid *relids, int nleaves, EmogiTrackerCreation *creation)
{
	uint64		npages = 0;
	EmogiPageScan *scans;

	memset(creation, 0, sizeof *creation);
	creation->tracker = tracker;
	creation->nleaves = nleaves;
	creation->changed_tables = palloc0(nleaves * sizeof(EmogiChangedPages));
	creation->page_scans = palloc0(nleaves * sizeof(EmogiPageScans));
	for (int i = 0; i < nleaves; i++)
	{
		Relation	rel = relation_open(relids[i], NoLock);

		emogi_changed_pages_copy_map(rel, source, &creation->changed_tables[i]);
		relation_close(rel, NoLock);
		npages += creation->changed_tables[i].nblocks;
	}
	creation->page_scans_bytes = Max(npages, 1) * sizeof(EmogiPageScan);
	creation->scans = scans = emogi_call_alloc(call, creation->page_scans_bytes);
	for (int i = 0; i < nleaves; i++)
	{
		EmogiChangedPages *changed = &creation->changed_tables[i];

		creation->page_scans[i] = (EmogiPageScans) {scans, changed->nblocks};
		changed->scans = (EmogiPageRescan) {changed->relid, changed->nblocks, NULL, scans};
		scans += changed->nblocks;
	}
}

/*
 * Check the findings of the scan; return false if it has seen changes of the current transaction.
 */
static bool
check_scans(EmogiChangedPages *changed, bool own_unseen)
{
	EmogiPageRescan *scans = &changed->scans;

	scans->blocks = palloc_extended(Max(scans->count, 1) * sizeof(BlockNumber), MCXT_ALLOC_HUGE);
	for (BlockNumber block = 0; block < scans->count; block++)
	{
		const EmogiPageScan *scan = &scans->scans[block];

		if (!scan->scanned)
			elog(ERROR, "page %u of relation %u was not read", block, scans->relid);
		if (scan->own && !own_unseen)
			return false;
		if (!scan->all_visible)
			changed->map[block / 64] &= ~(UINT64CONST(1) << block % 64);
		scans->blocks[block] = block;
	}
	return true;
}

/*
 * Set the range of the numbers that keys will have in the dictionary of a slot: made already, or to
 * be made of the keys that the scan has found.
 */
static void
set_numbers(const EmogiSlot *slot, const EmogiDictionary *dictionary, EmogiEdges *edges)
{
	const uint64 nkeys = slot->key_table != NULL ? emogi_key_table_nkeys(slot->key_table) :
		dictionary != NULL ? emogi_dictionary_nkeys(dictionary) : 0;

	edges->min_key = 0;
	edges->max_key = (int64) (nkeys + emogi_dictionary_plan_room(nkeys, slot->room_keys));
}

/* Allocate the COO of the edges in the call's slot. Raises 53200. */
static void
prepare_coo(EmogiCall *call, EmogiTrackerStore *storing)
{
	const EmogiSlot *slot = call->slot;
	const EmogiDictionary *dictionary = slot->key_table == NULL ?
		emogi_dictionaries_get(slot->dictionary) : NULL;
	EmogiEdges	edges;

	(void) emogi_slot_edges(slot, &edges, palloc);
	if (slot->keys.class != EMOGI_KEY_INTEGER)
		set_numbers(slot, dictionary, &edges);
	emogi_coo_shape(&storing->coo, &edges, edges.nedges + edges.nedges / 32 + 1024);
	storing->coo.dictionary = dictionary;
	storing->coo_memory = emogi_call_alloc_any(call, emogi_coo_bytes(&storing->coo));
	emogi_coo_view(&storing->coo, storing->coo_memory);
	storing->packed = true;
	pfree((void *) edges.chunks);
}

/*
 * Return true if there is room for the tracker beside what the build still needs, without evicting
 * anything.
 */
static bool
has_room(EmogiCall *call)
{
	EmogiEdges	edges;
	uint64		bytes;

	(void) emogi_slot_edges(call->slot, &edges, palloc);
	bytes = edges.nedges * (edges.weighted ? sizeof(EmogiWeightedEdge) : sizeof(EmogiEdge));
	pfree((void *) edges.chunks);
	return ROOM_FACTOR * (bytes / EMOGI_EXTENT_BYTES + 2) <= emogi_extents_free();
}

/* Create no tracker. */
void
emogi_tracker_create_cancel(EmogiTrackerCreation *creation)
{
	emogi_arena_free(creation->scans, creation->page_scans_bytes);
}

/*
 * Check the findings of the scan, and allocate the memory of the tracker. Its COO,
 * creation->storing.coo, is to be packed from the edges in the call's slot. Return false, with the
 * creation canceled, if memory is short or if the current transaction has changed a page. Raises
 * 53200.
 */
bool
emogi_tracker_create_prepare(EmogiCall *call, EmogiTrackerCreation *creation)
{
	for (int i = 0; i < creation->nleaves; i++)
		creation->own |= !check_scans(&creation->changed_tables[i], creation->own_unseen);
	if (creation->own || !has_room(call))
	{
		emogi_tracker_create_cancel(creation);
		return false;
	}
	emogi_tracker_store_prepare(call, creation->tracker, creation->changed_tables,
								creation->nleaves, 0, &creation->storing);
	prepare_coo(call, &creation->storing);
	return true;
}

/*
 * Create the tracker from the findings of the scan and the packed COO. The edges are still in the
 * call's slot, and the codes of their ends are of its dictionary.
 */
void
emogi_tracker_create_finish(EmogiCall *call, EmogiTrackerCreation *creation,
							const EmogiTransactionSnapshot *xids, const EmogiCoo *coo,
							const EmogiMisfitCounts *misfits)
{
	EmogiChangeTracker *tracker = creation->tracker;
	EmogiChanges none = {call};

	creation->storing.coo = *coo;
	tracker->misfits = *misfits;
	emogi_tracker_store(&creation->storing, xids, &none);
	emogi_dictionaries_share(call->slot->dictionary);
	emogi_cache_lock();
	tracker->dictionary = emogi_dictionaries_use(call->slot->dictionary);
	tracker->phase = EMOGI_TRACKER_READY;
	emogi_cache_unlock();
	emogi_arena_free(creation->scans, creation->page_scans_bytes);
}
