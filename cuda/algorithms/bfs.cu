/*
 * bfs.cu: breadth-first levels from one or many sources.
 *
 * Returns level[nvertices]: hops from the nearest source, -1 = not reached.
 *
 * Method. Three bitmaps over the vertices are in device memory: `visited` (levels up to the
 * frontier's), `frontier` (the newest level) and `seen` (visited, and the vertices that this step
 * finds). A step marks bits in `seen`. The settle kernel then makes seen & ~visited the new
 * frontier and writes its levels, in ascending order and without contention.
 *   top-down    read the lists of the frontier and mark unseen targets           (EMOGI section 4)
 *   bottom-up   each unvisited vertex reads its backward list until an entry is in the frontier
 *               [1]; in hybrid placement it first reads its prefix, which has the neighbors that
 *               are reached first
 *   persistent  while the frontier is small, one kernel makes many levels, with queues and no
 *               bitmap but `seen` (persistent.cuh). Before the next wide step `visited` becomes a
 *               copy of `seen`, and the queue is marked in `frontier`.
 * Both wide steps leave the same state, so each level takes the cheaper one: the one with the lower
 * estimate of 128-byte lines. That is [1] with its alpha and beta replaced by the cost of the link.
 *
 * Other GPUs may help with wide steps over the link (shared_step.cuh). Each reads the lists of its
 * share of the vertices: of the frontier, or of the unvisited vertices. Their marks are merged into
 * `seen`. The leader makes small steps alone.
 *
 * Bytes, for n vertices and m edges of 4 bytes: offsets 8n at most once a wide step; bitmaps n/2 a
 * wide step, and n/8 for each switch to or from the persistent kernel; levels 4n a run; edges as
 * counted in Counters.lines, x 128.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson: Direction-Optimizing Breadth-First Search. SC 2012.
 */
#include <math.h>

#include "cuda/algorithms/bfs.cuh"
#include "cuda/placement/hybrid.cuh"
#include "cuda/multi_gpu/shared_step.cuh"

/* Tuned constant, of 46b8c33: 2.5 ns, on an NVIDIA H200 behind PCIe 5. */
#define PREFIX_LINE 128			/* vertices whose prefixes are searched in the time of one line
								 * over the link */

#define SHARED_MIN_LINES 40000.0	/* estimated lines of a step: with fewer, the link takes less
									 * time than helpers take to start */

/*
 * State of a helper: copies of the leader's bitmaps, and its share of the vertices whose lists are
 * read.
 */
typedef struct BfsHelper
{
	Bitmaps		maps;			/* without `visited` */
	uint32_t   *share;			/* bitmap [nwords] */
} BfsHelper;

/* A traversal. run->memory owns the device arrays. */
typedef struct Bfs
{
	Run		   *run;
	int32_t		bound;			/* max depth */

	Bitmaps		maps;
	int32_t    *level;			/* [nvertices] */
	uint32_t   *sources;		/* [nsources] */
	PersistentPlan plan;
	QueueItem  *queue;			/* [2][plan.capacity] */
	/* bitmap [nwords], vertices that a bottom-up step did not find in prefixes */
	uint32_t   *rest;
	SharedStep *shared_step;	/* the run's shared_step; NULL = none */
	BfsHelper	helper[EMOGI_MAX_HELPERS];
	uint32_t   *share;			/* bitmap [nwords], the leader's share; NULL = no helpers */

	/* Progress of the traversal. */
	int32_t		depth;			/* of the frontier */
	uint64_t	vertices;		/* in the frontier */
	uint64_t	edges;			/* edges from the frontier */
	uint64_t	reached;		/* vertices reached so far, frontier included */
	uint64_t	unvisited_edges;	/* edges from unreached vertices */
	uint64_t	unvisited_lists;	/* number of `lists` that belong to unreached vertices */
	/* number of backward lists longer than the prefix; without prefixes, of nonempty ones */
	uint64_t	lists;
	uint64_t	starts;			/* lines in which these lists start */
	uint64_t	entries;		/* sum over the run, as in Counters */
} Bfs;

/* They read edges with the whole device. */
static const void *const edge_kernels[] = {
	(const void *) push_words_kernel<MarkSeen>, (const void *) push_slices_kernel<MarkSeen>,
	(const void *) bfs_bottom_up_kernel, (const void *) bfs_bottom_up_slices_kernel
};

/* Get a - b, or 0 if it is negative: estimates must not wrap. */
static uint64_t
minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Take all device memory except the graph's, and copy the sources. */
static EmogiStatus
take_arrays(Bfs *bfs, const EmogiQuery *query, EmogiError *error)
{
	DeviceMemory *memory = &bfs->run->memory;

	bfs->maps.nwords = bfs->run->nwords;
	TRY(take_array(memory, &bfs->level, bfs->run->nvertices, "levels", error));
	TRY(take_array(memory, &bfs->maps.seen, bfs->maps.nwords, "bitmap of seen vertices", error));
	TRY(take_array(memory, &bfs->maps.visited, bfs->maps.nwords, "bitmap of visited vertices",
				   error));
	TRY(take_array(memory, &bfs->maps.frontier, bfs->maps.nwords, "bitmap of the frontier", error));
	TRY(take_array(memory, &bfs->sources, query->nsources, "sources", error));
	TRY(take_persistent(bfs->run, &bfs->plan, &bfs->queue, error));
	TRY(take_array(memory, &bfs->rest, bfs->maps.nwords, "bitmap of vertices beyond prefixes",
				   error));
	return emogi_run_send(bfs->run, bfs->sources, query->sources,
						  query->nsources * sizeof *query->sources, error);
}

/* Wait for one or several steps, and read the counters of the new frontier. */
static EmogiStatus
end_step(Bfs *bfs, bool several, EmogiError *error)
{
	const Counters *counters;
	/* then `lists` does not count all nonempty lists */
	const bool	prefixed = bfs->run->graph.backward.prefix_length > 0;
	uint64_t	led;			/* edges from all vertices that the steps reached */

	TRY(emogi_run_read(bfs->run, &counters, error));
	led = several ? minus(counters->entries - bfs->entries + counters->edges, bfs->edges) :
		counters->edges;
	bfs->vertices = counters->vertices;
	bfs->edges = counters->edges;
	bfs->reached += counters->claimed;
	bfs->unvisited_edges = minus(bfs->unvisited_edges, led);
	bfs->unvisited_lists = prefixed ?
		(uint64_t) ((double) counters->lists * (double) (bfs->run->nvertices - bfs->reached) /
					(double) bfs->run->nvertices) :
		minus(bfs->unvisited_lists, counters->claimed);
	bfs->entries = counters->entries;
	bfs->lists = counters->lists;
	bfs->starts = counters->starts;
	if (several)
	{
		bfs->depth += (int32_t) counters->steps;
		bfs->plan.now = counters->now;
	}
	return EMOGI_OK;
}

/* Make the sources the frontier at level 0. */
static EmogiStatus
enter_sources(Bfs *bfs, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	Run		   *run = bfs->run;
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(bfs->level, 0xFF, run->nvertices * sizeof *bfs->level, stream));
	CUDA_TRY(cudaMemsetAsync(bfs->maps.seen, 0, bfs->maps.nwords * sizeof *bfs->maps.seen, stream));
	CUDA_TRY(cudaMemsetAsync(bfs->maps.visited, 0, bfs->maps.nwords * sizeof *bfs->maps.visited,
							 stream));
	TRY(emogi_run_clear(run, error));
	CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, stream, bfs->sources,
				query->nsources, bfs->maps.seen);
	if (run->graph.backward.offsets != NULL)
		CUDA_LAUNCH(bfs_survey_kernel, run->full_blocks, BLOCK_THREADS, stream,
					run->graph.backward.offsets, run->nvertices, run->graph.backward.prefix_length,
					run->step.counters);
	CUDA_LAUNCH(bfs_settle_kernel, run->full_blocks, BLOCK_THREADS, stream, bfs->maps,
				run->graph.forward.offsets, bfs->level, 0, run->step.counters);
	bfs->unvisited_edges = graph->forward.nedges;
	TRY(end_step(bfs, false, error));
	if (run->graph.backward.prefix_length == 0)
		bfs->unvisited_lists = minus(bfs->lists, bfs->reached);
	return EMOGI_OK;
}

/* Move the frontier from its bitmap to the queue. */
static EmogiStatus
enter_queue(Bfs *bfs, EmogiError *error)
{
	Run		   *run = bfs->run;
	auto	   *const queue = persistent_queue_kernel<QueueItem, PlainItem>;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(queue, run->full_blocks, BLOCK_THREADS, run->state->stream, bfs->maps.frontier,
				bfs->maps.nwords, run->graph.forward.offsets, bfs->queue, run->step.counters,
				PlainItem());
	bfs->plan.queued = true;
	bfs->plan.now = 0;
	return EMOGI_OK;
}

/* Move the frontier back to its bitmap, and restore the bitmaps for a wide step. */
static EmogiStatus
leave_queue(Bfs *bfs, EmogiError *error)
{
	Run		   *run = bfs->run;
	cudaStream_t stream = run->state->stream;
	const uint64_t bitmap_bytes = bfs->maps.nwords * sizeof *bfs->maps.seen;
	auto	   *const mark = persistent_mark_kernel<QueueItem, PlainItem>;

	CUDA_TRY(cudaMemcpyAsync(bfs->maps.visited, bfs->maps.seen, bitmap_bytes,
							 cudaMemcpyDeviceToDevice, stream));
	CUDA_TRY(cudaMemsetAsync(bfs->maps.frontier, 0, bitmap_bytes, stream));
	CUDA_LAUNCH(mark, run->full_blocks, BLOCK_THREADS, stream,
				bfs->queue + (uint64_t) bfs->plan.now * bfs->plan.capacity,
				(uint32_t) bfs->vertices, bfs->maps.frontier, PlainItem());
	bfs->plan.queued = false;
	return EMOGI_OK;
}

/* Run the persistent kernel until the frontier is too large for it. */
static EmogiStatus
step_persistent(Bfs *bfs, EmogiError *error)
{
	const LevelSearch search = {bfs->maps.seen, bfs->level, bfs->depth};

	if (!bfs->plan.queued)
		TRY(enter_queue(bfs, error));
	TRY(emogi_run_begin_step(bfs->run, error));
	TRY(launch_persistent(bfs->run, &bfs->plan, bfs->queue, bfs->vertices, bfs->edges,
						  (uint32_t) (bfs->bound - bfs->depth), search, error));
	return end_step(bfs, true, error);
}

/* Top-down: mark the targets of the lists of some vertices. */
static EmogiStatus
push_from(Run *run, const Bitmaps &maps, const uint32_t *vertices, EmogiError *error)
{
	const MarkSeen mark = {maps.seen};
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(push_words_kernel<MarkSeen>, run->nblocks, BLOCK_THREADS, stream,
				run->graph.forward, vertices, maps.nwords, run->step, mark);
	CUDA_LAUNCH(push_slices_kernel<MarkSeen>, run->nblocks, BLOCK_THREADS, stream,
				run->graph.forward, run->step, mark);
	return EMOGI_OK;
}

/*
 * Bottom-up: mark those of some vertices, the bits of `vertices` ^ `flip`, that have a neighbor in
 * the frontier.
 */
static EmogiStatus
search_from(Run *run, const Bitmaps &maps, const uint32_t *vertices, uint32_t flip,
			EmogiError *error)
{
	const Lists<Target> &lists = run->graph.backward;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(bfs_bottom_up_kernel, run->nblocks, BLOCK_THREADS, stream, lists, maps, vertices,
				flip, run->nvertices, run->step);
	CUDA_LAUNCH(bfs_bottom_up_slices_kernel, run->nblocks, BLOCK_THREADS, stream, lists, maps,
				run->step);
	return EMOGI_OK;
}

/* Queue a helper's part of a wide step. */
static EmogiStatus
queue_part(Bfs *bfs, int i, bool bottom_up, const uint32_t *vertices, uint32_t flip,
		   EmogiError *error)
{
	const BfsHelper *helper = &bfs->helper[i];
	Run		   *run = &bfs->shared_step->helper[i].run;
	const SharedStepInput bring = {vertices, flip, helper->share,
		{bfs->maps.seen, bottom_up ? bfs->maps.frontier : NULL},
		{helper->maps.seen, helper->maps.frontier}};

	TRY(emogi_shared_step_begin_part(bfs->shared_step, i, bring, error));
	TRY(bottom_up ? search_from(run, helper->maps, helper->share, 0, error) :
		push_from(run, helper->maps, helper->share, error));
	return emogi_shared_step_end_part(bfs->shared_step, i, error);
}

/*
 * Run a wide step with all helpers, over the lists of the vertices in `vertices` ^ `flip`. Helpers
 * start first, with copies of the bitmaps. The copies may contain marks that the leader makes
 * meanwhile, which is harmless.
 */
static EmogiStatus
step_together(Bfs *bfs, bool bottom_up, const uint32_t *vertices, uint32_t flip, EmogiError *error)
{
	SharedStep *shared_step = bfs->shared_step;

	TRY(emogi_shared_step_ready(shared_step, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(queue_part(bfs, i, bottom_up, vertices, flip, error));
	TRY(emogi_shared_step_share(shared_step, vertices, flip, bfs->share, error));
	TRY(bottom_up ? search_from(bfs->run, bfs->maps, bfs->share, 0, error) :
		push_from(bfs->run, bfs->maps, bfs->share, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(emogi_shared_step_join(shared_step, i, bfs->maps.seen, bfs->helper[i].maps.seen,
								   error));
	return EMOGI_OK;
}

/* Run a bottom-up step: search prefixes first, if there are any. */
static EmogiStatus
search_bottom_up(Bfs *bfs, bool together, EmogiError *error)
{
	Run		   *run = bfs->run;
	const bool	prefixed = run->graph.backward.prefixes != NULL;
	const uint32_t *vertices = prefixed ? bfs->rest : bfs->maps.visited;
	const uint32_t flip = prefixed ? 0 : FULL_WARP;

	if (prefixed)
		CUDA_LAUNCH(bfs_bottom_up_prefixes_kernel, run->full_blocks, BLOCK_THREADS,
					run->state->stream, run->graph.backward, bfs->maps, run->nvertices, bfs->rest,
					run->step.counters);
	return together ? step_together(bfs, true, vertices, flip, error) :
		search_from(run, bfs->maps, vertices, flip, error);
}

/* Run a wide step, with the helpers if it is expected to read enough lines. */
static EmogiStatus
step_wide(Bfs *bfs, bool bottom_up, double lines, EmogiError *error)
{
	Run		   *run = bfs->run;
	const bool	together = bfs->shared_step != NULL && bfs->shared_step->nhelpers > 0 &&
		(lines > SHARED_MIN_LINES || run->state->always_help);

	if (bfs->plan.queued)
		TRY(leave_queue(bfs, error));
	TRY(emogi_run_begin_step(run, error));
	bfs->depth++;
	if (bottom_up)
		TRY(search_bottom_up(bfs, together, error));
	else
		TRY(together ? step_together(bfs, false, bfs->maps.frontier, 0, error) :
			push_from(run, bfs->maps, bfs->maps.frontier, error));
	CUDA_LAUNCH(bfs_settle_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, bfs->maps,
				run->graph.forward.offsets, bfs->level, bfs->depth, run->step.counters);
	return end_step(bfs, false, error);
}

/*
 * Estimate the lines in which the lists of some vertices start: the denser the vertices, the more
 * lines are shared.
 */
static double
expect_starts(const Bfs *bfs, double vertices)
{
	const double lists = bfs->lists > 0 ? (double) bfs->lists : 1;
	const double density = vertices < lists ? vertices / lists : 1;

	return vertices * (1 - (1 - (double) bfs->starts / lists) * density);
}

/* Estimate the lines that a top-down step reads. */
static double
expect_top_down(const Bfs *bfs)
{
	return expect_starts(bfs, (double) bfs->vertices) + (double) bfs->edges / Line<Target>::ENTRIES;
}

/*
 * Estimate the lines that a bottom-up step reads; *prefixes: the lines that searching the prefixes
 * costs. An entry of an unvisited vertex's backward list leads to the frontier or to another
 * unvisited vertex, never to an older level. So the fraction hits = edges / (edges +
 * unvisited_edges) is in the frontier, and a search reads about 1 / hits entries. With prefixes,
 * only the lists of vertices not found in them are read. The estimate ignores that prefix entries
 * hit more often than others.
 */
static double
expect_bottom_up(const Bfs *bfs, double *prefixes)
{
	const double entries = Line<Target>::ENTRIES;
	const uint32_t length = bfs->run->graph.backward.prefix_length;
	const double hits = (double) bfs->edges / (double) (bfs->edges + bfs->unvisited_edges);
	const double open = length > 0 ? pow(1 - hits, length) : 1;
	const double lists = (double) bfs->unvisited_lists * open;
	const double all = (double) bfs->unvisited_edges * open / entries;
	const double searched = lists / entries / hits;

	*prefixes = length > 0 ? (double) (bfs->run->nvertices - bfs->reached) / PREFIX_LINE : 0;
	return expect_starts(bfs, lists) + (all < searched ? all : searched);
}

/* Run the wide step with the lower estimate of lines. */
static EmogiStatus
step_cheaper(Bfs *bfs, EmogiError *error)
{
	const double down = expect_top_down(bfs);
	double		prefixes;
	double		up;

	if (bfs->run->graph.backward.offsets == NULL)
		return step_wide(bfs, false, down, error);
	up = expect_bottom_up(bfs, &prefixes);
	return prefixes + up < down ? step_wide(bfs, true, up, error) :
		step_wide(bfs, false, down, error);
}

/* The level loop. */
static EmogiStatus
traverse(Bfs *bfs, EmogiError *error)
{
	bfs->run->control->total = bfs->run->nvertices;
	while (bfs->vertices > 0 && bfs->edges > 0 && bfs->depth < bfs->bound)
	{
		bfs->run->control->level = (uint32_t) bfs->depth;
		bfs->run->control->done = bfs->reached;
		if (bfs->run->control->cancel)
			return EMOGI_CANCELED;
		if (fits_persistent(&bfs->plan, bfs->vertices, bfs->edges))
			TRY(step_persistent(bfs, error));
		else
			TRY(step_cheaper(bfs, error));
	}
	bfs->run->control->done = bfs->reached;
	return EMOGI_OK;
}

/* Take the arrays of a helper. */
static EmogiStatus
take_helper(Run *run, void *with, int i, EmogiError *error)
{
	BfsHelper  *helper = &((Bfs *) with)->helper[i];

	helper->maps.nwords = run->nwords;
	TRY(take_array(&run->memory, &helper->maps.seen, run->nwords, "bitmap of seen vertices",
				   error));
	TRY(take_array(&run->memory, &helper->maps.frontier, run->nwords, "bitmap of the frontier",
				   error));
	return take_array(&run->memory, &helper->share, run->nwords,
					  "bitmap of a share of the vertices", error);
}

/* Open the helpers' runs, if there are any. */
static EmogiStatus
open_shared_step(Bfs *bfs, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
				 EmogiError *error)
{
	Run		   *run = bfs->run;

	/* a helper makes bottom-up steps if the leader does */
	wants = (wants & ~PLACE_BACKWARD_REQUIRED) |
		(run->graph.backward.offsets != NULL ? PLACE_BACKWARD_REQUIRED : 0);
	bfs->shared_step = run->shared_step;
	TRY(emogi_shared_step_open(bfs->shared_step, graph, query, wants, edge_kernels,
							   lengthof(edge_kernels), sizeof(Target), take_helper, bfs, error));
	return bfs->shared_step->nhelpers > 0 ? take_array(&run->memory, &bfs->share, run->nwords,
													   "bitmap of a share of the vertices", error) :
		EMOGI_OK;
}

/* Take the arrays of a search, and place the graph. */
static EmogiStatus
open_search(Bfs *bfs, Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
			int64_t max_depth, EmogiError *error)
{
	bfs->run = run;
	bfs->bound = max_depth < 0 || max_depth > INT32_MAX ? INT32_MAX : (int32_t) max_depth;
	TRY(take_arrays(bfs, query, error));
	TRY(emogi_run_place(run, graph, query, wants | PLACE_BACKWARD_PREFIXES, edge_kernels,
						lengthof(edge_kernels), sizeof(Target), error));
	return emogi_persistent_size(run, &bfs->plan,
								 (const void *) persistent_walk_kernel<LevelSearch>, error);
}

/* Get the number of levels reached. */
static uint32_t
count_levels(const Bfs *bfs)
{
	return (uint32_t) bfs->depth + (bfs->vertices > 0 ? 1 : 0);
}

EmogiStatus
emogi_cuda_levels(Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
				  int64_t max_depth, int32_t **level, EmogiResult *result, EmogiError *error)
{
	Bfs			bfs = {};

	TRY(open_search(&bfs, run, graph, query, wants, max_depth, error));
	TRY(open_shared_step(&bfs, graph, query, wants, error));
	TRY(emogi_run_start_clock(run, error));
	TRY(enter_sources(&bfs, graph, query, error));
	TRY(traverse(&bfs, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	TRY(emogi_shared_step_account(bfs.shared_step, result, error));
	result->nreached = bfs.reached;
	result->nlevels = count_levels(&bfs);
	*level = bfs.level;
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_levels_found(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
						FindSources find, void *with, int32_t **level, EmogiResult *result,
						EmogiError *error)
{
	EmogiQuery	found = *query;
	Bfs			bfs = {};

	found.nsources = 0;
	TRY(open_search(&bfs, run, graph, &found, PLACE_BACKWARD, -1, error));
	TRY(emogi_run_start_clock(run, error));
	TRY(find(run, with, &bfs.sources, &found.nsources, result, error));
	TRY(enter_sources(&bfs, graph, &found, error));
	TRY(traverse(&bfs, error));
	TRY(emogi_run_account_read(run, result, error));
	TRY(emogi_run_clear(run, error));
	result->nlevels = count_levels(&bfs);
	*level = bfs.level;
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_levels_each(Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
					   NextSource next, UseLevels use, void *with, EmogiResult *result,
					   EmogiError *error)
{
	EmogiQuery	one = *query;
	Bfs			opened = {};

	one.nsources = 1;
	TRY(open_search(&opened, run, graph, &one, wants, -1, error));
	TRY(emogi_run_start_clock(run, error));
	for (;;)
	{
		const Counters *counters;
		Bfs			bfs = opened;
		bool		is_there;
		uint64_t	i;

		TRY(next(run, with, &i, &is_there, error));
		if (!is_there)
			return emogi_run_stop_clock(run, result, error);
		TRY(emogi_run_send(run, bfs.sources, query->sources + i, sizeof *query->sources, error));
		TRY(enter_sources(&bfs, graph, &one, error));
		TRY(traverse(&bfs, error));
		TRY(emogi_run_read(run, &counters, error));
		emogi_run_account(run, counters, result);
		if (count_levels(&bfs) > result->nlevels)
			result->nlevels = count_levels(&bfs);
		TRY(use(run, with, i, bfs.level, count_levels(&bfs), result, error));
	}
}

EmogiStatus
emogi_cuda_bfs(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			   EmogiError *error)
{
	int32_t    *level;

	TRY(emogi_cuda_levels(run, graph, query, PLACE_BACKWARD, query->max_depth, &level, result,
						  error));
	return emogi_run_give(run, query, result, 0, level, error);
}
