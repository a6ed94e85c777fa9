/*
 * page_rescan.c: some pages of heap tables to edges, under the active snapshot, with the help of parallel workers where there are many.
 *
 * The pages of all leaves are numbered through, and processes take them by the piece. What each finds it notes in the Region.
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

#define TOC_LOOKS UINT64CONST(0xE306100000000002)
#define TOC_FILTER UINT64CONST(0xE306100000000003)

/* Pages that a process takes at once. */
#define PIECE 64

/* Room for the edges of a page. */
#define PAGE_BYTES (2 * MaxHeapTuplesPerPage * sizeof(EmogiWeightedEdge))	/* a row may have two edges */

/* The pages of one leaf. */
typedef struct LeafLooks
{
	EmogiPageRescan	looks;
	EmogiTupleLayout layout;
	uint64		first;			/* number of its first page */
} LeafLooks;

/* Pages whose edges are put into memory of the process, if they are not kept. */
#define MOST_BRIEF 8

/* What all processes share. */
typedef struct AllLooks
{
	uint64		token;
	Oid			relid;			/* of the Source */
	bool		brief;			/* the edges are not kept */
	pg_atomic_uint64 next;		/* number of the page that nobody has taken yet */
	uint64		count;
	int			nleaves;
	LeafLooks	leaves[FLEXIBLE_ARRAY_MEMBER];
} AllLooks;

PGDLLEXPORT void emogi_page_rescan_worker(dsm_segment *segment, shm_toc *toc);

/* Look at the pages with the numbers [first, end), as far as they are of one leaf. */
static void
look_at_leaf(const LeafLooks *leaf, const EmogiRowFilterPlan *filter, uint64 first, uint64 end, EmogiSink *sink)
{
	const EmogiPageRescan *looks = &leaf->looks;
	uint64		from = Max(first, leaf->first) - leaf->first;
	uint64		to = Min(end, leaf->first + looks->count) - leaf->first;
	Relation	rel = table_open(looks->relid, AccessShareLock);

	emogi_pages_rescan(rel, &leaf->layout, filter, sink, looks->blocks + from, looks->looks + from, to - from);
	table_close(rel, NoLock);
}

/* Get a chunk that is not in the Region, for the edges of MOST_BRIEF pages, until the next time. */
static EmogiEdgeChunk *
take_brief_chunk(void)
{
	static EmogiEdgeChunk *chunk = NULL;

	if (chunk == NULL)
		chunk = MemoryContextAlloc(TopMemoryContext, offsetof(EmogiEdgeChunk, edges) + (MOST_BRIEF + 1) * PAGE_BYTES);
	memset(chunk, 0, offsetof(EmogiEdgeChunk, edges));
	chunk->min_key = PG_INT64_MAX;
	chunk->max_key = PG_INT64_MIN;
	return chunk;
}

/* Look at pages until there are no more. */
static void
look_at_all(AllLooks *all, const EmogiRowFilterPlan *filter)
{
	EmogiSink	sink;
	uint64		first;

	emogi_sink_open(&sink, all->token);
	if (all->brief && all->count <= MOST_BRIEF)
		sink.chunk = take_brief_chunk();
	if (all->count < EMOGI_CHUNK_BYTES / PAGE_BYTES)
		sink.most_bytes = offsetof(EmogiEdgeChunk, edges) + (all->count + 1) * PAGE_BYTES;
	while ((first = pg_atomic_fetch_add_u64(&all->next, PIECE)) < all->count)
	{
		uint64		end = Min(first + PIECE, all->count);

		for (int i = 0; i < all->nleaves; i++)
		{
			const LeafLooks *leaf = &all->leaves[i];

			if (leaf->first < end && leaf->first + leaf->looks.count > first)
				look_at_leaf(leaf, filter, first, end, &sink);
		}
	}
}

/* Main function of a parallel worker. */
void
emogi_page_rescan_worker(dsm_segment *segment, shm_toc *toc)
{
	AllLooks   *all = shm_toc_lookup(toc, TOC_LOOKS, false);
	EmogiRowFilterPlan filter = emogi_row_filter_read(shm_toc_lookup(toc, TOC_FILTER, true), all->relid);

	filter.is_of_looks = true;
	look_at_all(all, &filter);
}

/* Have parallel workers help. Without dynamic shared memory or workers, look alone. */
static void
look_in_parallel(const AllLooks *all, Size bytes, const EmogiRowFilterPlan *filter, int nworkers)
{
	const char *text = emogi_row_filter_text(filter);
	ParallelContext *context;
	AllLooks   *shared;

	EnterParallelMode();
	context = CreateParallelContext("emogi", "emogi_page_rescan_worker", nworkers);
	shm_toc_estimate_chunk(&context->estimator, bytes);
	shm_toc_estimate_chunk(&context->estimator, text != NULL ? strlen(text) + 1 : 0);
	shm_toc_estimate_keys(&context->estimator, 2);
	InitializeParallelDSM(context);
	shared = shm_toc_allocate(context->toc, bytes);
	memcpy(shared, all, bytes);
	pg_atomic_init_u64(&shared->next, 0);
	shm_toc_insert(context->toc, TOC_LOOKS, shared);
	if (text != NULL)
		shm_toc_insert(context->toc, TOC_FILTER, strcpy(shm_toc_allocate(context->toc, strlen(text) + 1), text));
	LaunchParallelWorkers(context);
	look_at_all(shared, filter);
	WaitForParallelWorkersToFinish(context);
	DestroyParallelContext(context);
	ExitParallelMode();
}

/*
 * Fill a call's slot with the edges of these pages of the leaves of a Source, and each look. dictionary: index of that which has codes
 * for their keys, -1 = they are integers; slot->out_of_codes tells that it had none for one. brief: nobody needs the edges after the next looks.
 * Raises what emogi_heap_scan_tables does.
 */
void
emogi_page_rescan_take(EmogiCall *call, const EmogiSource *source, const EmogiPageRescan *leaves, int nleaves, EmogiWeights weights,
				 int dictionary, bool brief)
{
	Size		bytes = offsetof(AllLooks, leaves) + nleaves * sizeof(LeafLooks);
	AllLooks   *all = palloc0(bytes);
	EmogiRowFilterPlan filter = emogi_row_filter_plan(source);
	const bool	may_share = dictionary < 0 && emogi_row_filter_may_share(source);	/* one process at a time adds keys */
	int			nworkers;

	emogi_sink_begin(call, &source->key, emogi_sink_weights(source->weight > 0, source->reverse > 0, weights), dictionary, false);
	all->token = call->slot->token;
	all->relid = source->relid;
	filter.is_of_looks = true;
	all->brief = brief && filter.quals == NIL;	/* a condition might call emogi, which has one such chunk */
	pg_atomic_init_u64(&all->next, 0);
	for (int i = 0; i < nleaves; i++)
	{
		LeafLooks  *leaf = &all->leaves[all->nleaves];
		Relation	rel;

		if (leaves[i].count == 0)
			continue;
		rel = table_open(leaves[i].relid, NoLock);
		emogi_heap_scan_columns(&leaf->layout, rel, source);
		table_close(rel, NoLock);
		leaf->looks = leaves[i];
		leaf->first = all->count;
		all->count += leaves[i].count;
		all->nleaves++;
	}
	nworkers = may_share ? emogi_heap_scan_workers(all->count) : 0;
	if (nworkers > 0)
		look_in_parallel(all, bytes, &filter, nworkers);
	else if (all->count > 0)
		look_at_all(all, &filter);
	pfree(all);
}
