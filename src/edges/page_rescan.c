/*
 * page_rescan.c: read the edges of some pages of heap tables, under the active snapshot, with
 * parallel workers if there are many.
 *
 * The pages of all leaves are numbered consecutively, and processes take them in pieces. The result
 * for each page is recorded in the arena.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/xact.h"
#include "port/atomics.h"
#include "utils/memutils.h"

#include "edges/edges.h"
#include "edges/pages.h"
#include "edges/row_filter.h"

#define TOC_RESCAN UINT64CONST(0xE306100000000002)
#define TOC_FILTER UINT64CONST(0xE306100000000003)

/* Pages that a process takes at a time. */
#define PIECE 64

/* Space for the edges of a page. */
/* a row may have two edges */
#define PAGE_BYTES (2 * MaxHeapTuplesPerPage * sizeof(EmogiWeightedEdge))

/* The pages of one leaf. */
typedef struct LeafRescan
{
	EmogiPageRescan	scans;
	EmogiTupleLayout layout;
	uint64		first;			/* number of its first page */
} LeafRescan;

/* Up to this number of pages, edges may be put into local memory. */
#define MAX_BRIEF 8

/* State shared by all processes. */
typedef struct Rescan
{
	uint64		token;			/* of the slot, for workers */
	Oid			relid;			/* of the source */
	bool		brief;			/* the edges may be in local memory */
	pg_atomic_uint64 next;		/* number of the next page to take */
	uint64		count;
	int			nleaves;
	LeafRescan	leaves[FLEXIBLE_ARRAY_MEMBER];
} Rescan;

PGDLLEXPORT void emogi_page_rescan_worker(dsm_segment *segment, shm_toc *toc);

/* Scan those pages with the numbers [first, end) that belong to one leaf. */
static void
scan_leaf_pages(const LeafRescan *leaf, const EmogiRowFilterPlan *filter, uint64 first, uint64 end,
				EmogiSink *sink)
{
	const EmogiPageRescan *scans = &leaf->scans;
	uint64		from = Max(first, leaf->first) - leaf->first;
	uint64		to = Min(end, leaf->first + scans->count) - leaf->first;
	Relation	rel = table_open(scans->relid, AccessShareLock);

	emogi_pages_rescan(rel, &leaf->layout, filter, sink, scans->blocks + from, scans->scans + from,
					   to - from);
	table_close(rel, NoLock);
}

/* Get a chunk outside the arena, for the edges of MAX_BRIEF pages, valid until the next call. */
static EmogiEdgeChunk *
take_brief_chunk(void)
{
	static EmogiEdgeChunk *chunk = NULL;

	if (chunk == NULL)
		chunk = MemoryContextAlloc(TopMemoryContext,
								   offsetof(EmogiEdgeChunk, edges) + (MAX_BRIEF + 1) * PAGE_BYTES);
	memset(chunk, 0, offsetof(EmogiEdgeChunk, edges));
	chunk->min_key = PG_INT64_MAX;
	chunk->max_key = PG_INT64_MIN;
	return chunk;
}

/* Scan pages until there are no more. slot: the slot of the call; NULL in a worker. */
static void
scan_pages(Rescan *all, const EmogiRowFilterPlan *filter, EmogiSlot *slot)
{
	EmogiSink	sink;
	uint64		first;

	if (slot != NULL)
		emogi_sink_open_own(&sink, slot);
	else
		emogi_sink_open(&sink, all->token);
	if (all->brief && all->count <= MAX_BRIEF)
		sink.chunk = take_brief_chunk();
	if (all->count < EMOGI_CHUNK_BYTES / PAGE_BYTES)
		sink.max_bytes = offsetof(EmogiEdgeChunk, edges) + (all->count + 1) * PAGE_BYTES;
	while ((first = pg_atomic_fetch_add_u64(&all->next, PIECE)) < all->count)
	{
		uint64		end = Min(first + PIECE, all->count);

		for (int i = 0; i < all->nleaves; i++)
		{
			const LeafRescan *leaf = &all->leaves[i];

			if (leaf->first < end && leaf->first + leaf->scans.count > first)
				scan_leaf_pages(leaf, filter, first, end, &sink);
		}
	}
}

/* Main function of a parallel worker. */
void
emogi_page_rescan_worker(dsm_segment *segment, shm_toc *toc)
{
	Rescan   *all = shm_toc_lookup(toc, TOC_RESCAN, false);
	EmogiRowFilterPlan filter = emogi_row_filter_read(shm_toc_lookup(toc, TOC_FILTER, true),
													  all->relid);

	emogi_shared_require();
	filter.is_rescan = true;
	scan_pages(all, &filter, NULL);
}

/* Scan with parallel workers; without dynamic shared memory or workers, alone. */
static void
scan_in_parallel(const Rescan *all, Size bytes, const EmogiRowFilterPlan *filter, EmogiSlot *slot,
				 int nworkers)
{
	const char *text = emogi_row_filter_text(filter);
	ParallelContext *context;
	Rescan   *shared;

	EnterParallelMode();
	context = CreateParallelContext("emogi", "emogi_page_rescan_worker", nworkers);
	shm_toc_estimate_chunk(&context->estimator, bytes);
	shm_toc_estimate_chunk(&context->estimator, text != NULL ? strlen(text) + 1 : 0);
	shm_toc_estimate_keys(&context->estimator, 2);
	InitializeParallelDSM(context);
	shared = shm_toc_allocate(context->toc, bytes);
	memcpy(shared, all, bytes);
	shared->token = emogi_slot_token(slot);
	pg_atomic_init_u64(&shared->next, 0);
	shm_toc_insert(context->toc, TOC_RESCAN, shared);
	if (text != NULL)
		shm_toc_insert(context->toc, TOC_FILTER,
					   strcpy(shm_toc_allocate(context->toc, strlen(text) + 1), text));
	LaunchParallelWorkers(context);
	scan_pages(shared, filter, slot);
	WaitForParallelWorkersToFinish(context);
	DestroyParallelContext(context);
	ExitParallelMode();
}

/*
 * Fill a call's slot with the edges of these pages of the leaves of a source, and record each page
 * scan. dictionary: index of the dictionary with the codes of their keys, -1 = integer keys;
 * slot->out_of_codes is set if it had no code left for a key. The edges of few pages are valid
 * until the next rescan. Raises the errors of emogi_heap_scan_tables.
 */
void
emogi_page_rescan_run(EmogiCall *call, const EmogiSource *source, const EmogiPageRescan *leaves,
					  int nleaves, EmogiWeights weights, int dictionary)
{
	Size		bytes = offsetof(Rescan, leaves) + nleaves * sizeof(LeafRescan);
	Rescan   *all = palloc0(bytes);
	EmogiRowFilterPlan filter = emogi_row_filter_plan(source);
	/* only one process at a time adds keys */
	const bool	may_share = dictionary < 0 && emogi_row_filter_may_share(source);
	int			nworkers;

	emogi_sink_begin(call, &source->key,
					 emogi_sink_weights(source->weight > 0, source->reverse > 0, weights),
					 dictionary, false);
	all->relid = source->relid;
	filter.is_rescan = true;
	/* a condition might call emogi, and there is only one such chunk */
	all->brief = filter.quals == NIL;
	pg_atomic_init_u64(&all->next, 0);
	for (int i = 0; i < nleaves; i++)
	{
		LeafRescan  *leaf = &all->leaves[all->nleaves];
		Relation	rel;

		if (leaves[i].count == 0)
			continue;
		rel = table_open(leaves[i].relid, NoLock);
		emogi_heap_scan_columns(&leaf->layout, rel, source);
		table_close(rel, NoLock);
		leaf->scans = leaves[i];
		leaf->first = all->count;
		all->count += leaves[i].count;
		all->nleaves++;
	}
	nworkers = may_share ? emogi_heap_scan_workers(all->count) : 0;
	if (nworkers > 0)
		scan_in_parallel(all, bytes, &filter, call->slot, nworkers);
	else if (all->count > 0)
		scan_pages(all, &filter, call->slot);
	pfree(all);
}
