/*
 * bfs.cu: breadth-first levels from one or many sources.
 *
 * Returns level[nvertices]: hops from the nearest source, -1 = not reached.
 *
 * Method. Three bitmaps over the vertices, in device memory: `visited` (levels up to the frontier's), `frontier` (the
 * newest level) and `seen` (visited, and what this step finds). A step marks bits in `seen`; the settle kernel then
 * takes seen & ~visited as the new frontier and writes its levels, all in ascending order and without contention.
 *   top-down    the lists of the frontier are read, unseen targets marked                    (EMOGI section 4)
 *   bottom-up   each unvisited vertex reads its backward list until an entry is in the frontier         [1]
 *   few         while the frontier is small, one block goes on alone, up to FEW_LEVELS levels in one launch
 * Both wide steps leave the same state, so each level takes the cheaper one: the one that is expected to read fewer
 * 128-byte lines. That is [1] with its alpha and beta replaced by the cost of the link.
 *
 * Bytes, for n vertices and m edges of 4 bytes: offsets 8n once a wide step at most, bitmaps n/2 a step, levels 4n a run;
 * edges as counted in Counters.lines, x 128.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson: Direction-Optimizing Breadth-First Search. SC 2012.
 */
#include "bfs.cuh"

#include <stddef.h>

#define WINDOW_BYTES (128.0 * (1 << 20))	/* of host memory that all blocks together may read at a time */
#define MAX_BATCH_WORDS 64

static_assert(sizeof(Counters) <= EMOGI_MAILBOX_BYTES, "counters must fit the mailbox");

/* A run. The device's arrays belong to `memory`. */
typedef struct Bfs
{
	EmogiEngineState *state;
	EmogiControl *control;
	DeviceMemory memory;
	PlacedGraph graph;
	uint64_t	nvertices;
	int32_t		bound;			/* the last level that may be entered */

	Bitmaps		maps;
	int32_t    *level;			/* [nvertices] */
	uint32_t   *sources;		/* [nsources] */
	uint32_t   *queue;			/* [FEW_VERTICES] */
	Step		step;
	int			nblocks;		/* of kernels that read edges */
	int			full_blocks;	/* of kernels that do not */

	/* Where the traversal is. */
	int32_t		depth;			/* of the frontier */
	uint64_t	vertices;		/* in the frontier */
	uint64_t	edges;			/* that lead from it */
	uint64_t	reached;		/* so far, with the frontier */
	uint64_t	unvisited_edges;	/* that lead from vertices not reached */
	uint64_t	unvisited_lists;	/* backward lists, not empty, of vertices not reached */
	uint64_t	lists;			/* backward lists, not empty, of all vertices */
	uint64_t	starts;			/* lines in which they start */
	uint64_t	lines;			/* sums, as in Counters */
	uint64_t	entries;
} Bfs;

EmogiStatus
emogi_cuda_bfs_load(EmogiError *error)
{
	const void *const kernels[] = {
		(const void *) mark_sources, (const void *) survey_lists, (const void *) settle, (const void *) top_down,
		(const void *) top_down_slices, (const void *) bottom_up, (const void *) bottom_up_slices,
		(const void *) queue_frontier, (const void *) few_levels
	};

	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
	{
		cudaFuncAttributes attributes;

		CUDA_TRY(cudaFuncGetAttributes(&attributes, kernels[i]));
	}
	return EMOGI_OK;
}

/* Get a - b, or 0: estimates must not wrap. */
static uint64_t
minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Answer a traversal that follows no edge, without the device. */
static void
answer_sources(const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result)
{
	memset(result->level, 0xFF, graph->nvertices * sizeof *result->level);
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		if (result->level[query->sources[i]] != 0)
			result->nreached++;
		result->level[query->sources[i]] = 0;
	}
	result->nlevels = result->nreached > 0 ? 1 : 0;
}

/* Take all device memory but the Graph's, and bring the sources there. */
static EmogiStatus
take_arrays(Bfs *bfs, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const uint64_t nedges = graph->backward.offsets != NULL && graph->backward.nedges > graph->forward.nedges ?
		graph->backward.nedges : graph->forward.nedges;
	DeviceMemory *memory = &bfs->memory;

	bfs->maps.nwords = (graph->nvertices + 31) / 32;
	TRY(take_array(memory, &bfs->level, graph->nvertices, "levels", error));
	TRY(take_array(memory, &bfs->maps.seen, bfs->maps.nwords, "bitmap of seen vertices", error));
	TRY(take_array(memory, &bfs->maps.visited, bfs->maps.nwords, "bitmap of visited vertices", error));
	TRY(take_array(memory, &bfs->maps.frontier, bfs->maps.nwords, "bitmap of the frontier", error));
	TRY(take_array(memory, &bfs->sources, query->nsources, "sources", error));
	TRY(take_array(memory, &bfs->queue, FEW_VERTICES, "queue", error));
	TRY(take_array(memory, &bfs->step.counters, 1, "counters", error));
	TRY(take_array(memory, &bfs->step.slices, slice_capacity(nedges, Line<Target>::ENTRIES), "slices", error));
	bfs->step.stop = bfs->state->device_stop;
	return emogi_cuda_copy(bfs->state, bfs->sources, query->sources, query->nsources * sizeof *query->sources,
						   cudaMemcpyHostToDevice, bfs->control, error);
}

/*
 * Choose how many blocks read edges and how many words they take at a time. In device memory the more the better; over
 * the link two blocks a multiprocessor are enough, and together they must not read from too wide a window.
 */
static EmogiStatus
size_grids(Bfs *bfs, const EmogiGraph *graph, EmogiError *error)
{
	const void *const kernels[] = {
		(const void *) top_down, (const void *) top_down_slices, (const void *) bottom_up,
		(const void *) bottom_up_slices
	};
	const double list_bytes = (double) graph->forward.nedges * sizeof(Target) / (double) graph->nvertices;
	const double word_bytes = 32 * (list_bytes > sizeof(Target) ? list_bytes : sizeof(Target));
	uint32_t	batch = MAX_BATCH_WORDS;
	int			resident = 8;
	int			least;

	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
	{
		int			fits;

		CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernels[i], BLOCK_THREADS, 0));
		if (fits < resident)
			resident = fits > 0 ? fits : 1;
	}
	least = (resident < 2 ? resident : 2) * bfs->state->units;
	bfs->full_blocks = 8 * bfs->state->units;
	bfs->nblocks = resident * bfs->state->units;
	if (bfs->graph.placement == EMOGI_PLACEMENT_HOST)
	{
		double		fits;

		while (batch > BLOCK_WARPS && least * (batch * word_bytes) > WINDOW_BYTES)
			batch /= 2;
		fits = WINDOW_BYTES / (batch * word_bytes);
		if (fits < bfs->nblocks)
			bfs->nblocks = fits > least ? (int) fits : least;
	}
	while (batch > BLOCK_WARPS && bfs->maps.nwords / batch < 4 * (uint64_t) bfs->nblocks)
		batch /= 2;
	bfs->step.batch_words = batch;
	return EMOGI_OK;
}

/* Zero what the device counts for one step. */
static EmogiStatus
begin_step(Bfs *bfs, EmogiError *error)
{
	CUDA_TRY(cudaMemsetAsync(bfs->step.counters, 0, offsetof(Counters, lines), bfs->state->stream));
	return EMOGI_OK;
}

/* Wait for the step and take over its frontier, at level `depth` unless the step says otherwise. */
static EmogiStatus
end_step(Bfs *bfs, int32_t depth, bool several, EmogiError *error)
{
	const Counters *counters = (const Counters *) bfs->state->mailbox;
	uint64_t	led;			/* edges from all vertices that the step reached */

	CUDA_TRY(cudaMemcpyAsync(bfs->state->mailbox, bfs->step.counters, sizeof *counters, cudaMemcpyDeviceToHost,
							 bfs->state->stream));
	TRY(emogi_cuda_wait(bfs->state, bfs->control, error));
	led = several ? minus(counters->entries - bfs->entries + counters->edges, bfs->edges) : counters->edges;
	bfs->depth = several ? counters->depth : depth;
	bfs->vertices = counters->vertices;
	bfs->edges = counters->edges;
	bfs->reached += counters->claimed;
	bfs->unvisited_edges = minus(bfs->unvisited_edges, led);
	bfs->unvisited_lists = minus(bfs->unvisited_lists, counters->claimed);
	bfs->lines = counters->lines;
	bfs->entries = counters->entries;
	bfs->lists = counters->lists;
	bfs->starts = counters->starts;
	return EMOGI_OK;
}

/* Make the sources the frontier at level 0. */
static EmogiStatus
enter_sources(Bfs *bfs, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	cudaStream_t stream = bfs->state->stream;

	CUDA_TRY(cudaMemsetAsync(bfs->level, 0xFF, bfs->nvertices * sizeof *bfs->level, stream));
	CUDA_TRY(cudaMemsetAsync(bfs->maps.seen, 0, bfs->maps.nwords * sizeof *bfs->maps.seen, stream));
	CUDA_TRY(cudaMemsetAsync(bfs->maps.visited, 0, bfs->maps.nwords * sizeof *bfs->maps.visited, stream));
	CUDA_TRY(cudaMemsetAsync(bfs->step.counters, 0, sizeof *bfs->step.counters, stream));
	CUDA_LAUNCH(mark_sources, bfs->full_blocks, BLOCK_THREADS, stream, bfs->sources, query->nsources, bfs->maps.seen);
	if (bfs->graph.backward.offsets != NULL)
		CUDA_LAUNCH(survey_lists, bfs->full_blocks, BLOCK_THREADS, stream, bfs->graph.backward.offsets,
					bfs->nvertices, bfs->step.counters);
	CUDA_LAUNCH(settle, bfs->full_blocks, BLOCK_THREADS, stream, bfs->maps, bfs->graph.forward.offsets, bfs->level, 0,
				bfs->step.counters);
	bfs->unvisited_edges = graph->forward.nedges;
	TRY(end_step(bfs, 0, false, error));
	bfs->unvisited_lists = minus(bfs->lists, bfs->reached);
	return EMOGI_OK;
}

/* Go on with one block until the frontier is no longer small. */
static EmogiStatus
step_few(Bfs *bfs, EmogiError *error)
{
	cudaStream_t stream = bfs->state->stream;

	TRY(begin_step(bfs, error));
	CUDA_LAUNCH(queue_frontier, bfs->full_blocks, BLOCK_THREADS, stream, bfs->maps, bfs->queue, bfs->step.counters);
	CUDA_LAUNCH(few_levels, 1, FEW_THREADS, stream, bfs->graph.forward, bfs->maps, bfs->level, bfs->queue, bfs->depth,
				bfs->bound, bfs->step.counters);
	return end_step(bfs, 0, true, error);
}

/* Find the next level with the whole device. */
static EmogiStatus
step_wide(Bfs *bfs, bool upwards, EmogiError *error)
{
	cudaStream_t stream = bfs->state->stream;

	TRY(begin_step(bfs, error));
	if (upwards)
	{
		CUDA_LAUNCH(bottom_up, bfs->nblocks, BLOCK_THREADS, stream, bfs->graph.backward, bfs->maps, bfs->nvertices,
					bfs->step);
		CUDA_LAUNCH(bottom_up_slices, bfs->nblocks, BLOCK_THREADS, stream, bfs->graph.backward, bfs->maps, bfs->step);
	}
	else
	{
		CUDA_LAUNCH(top_down, bfs->nblocks, BLOCK_THREADS, stream, bfs->graph.forward, bfs->maps, bfs->step);
		CUDA_LAUNCH(top_down_slices, bfs->nblocks, BLOCK_THREADS, stream, bfs->graph.forward, bfs->maps, bfs->step);
	}
	CUDA_LAUNCH(settle, bfs->full_blocks, BLOCK_THREADS, stream, bfs->maps, bfs->graph.forward.offsets, bfs->level,
				bfs->depth + 1, bfs->step.counters);
	return end_step(bfs, bfs->depth + 1, false, error);
}

/* Estimate the lines in which the lists of so many vertices start: the denser they lie, the more they share. */
static double
expect_starts(const Bfs *bfs, uint64_t vertices)
{
	const double lists = bfs->lists > 0 ? (double) bfs->lists : 1;
	const double density = (double) vertices < lists ? (double) vertices / lists : 1;

	return (double) vertices * (1 - (1 - (double) bfs->starts / lists) * density);
}

/*
 * Say whether a bottom-up step is expected to read fewer lines. An entry of an unvisited vertex's backward list leads
 * to the frontier or to another unvisited vertex, never to an older level: edges / (edges + unvisited_edges) of them
 * hit, and a search looks at about the inverse of that many.
 */
static bool
prefers_bottom_up(const Bfs *bfs)
{
	const double entries = Line<Target>::ENTRIES;
	const double all = (double) bfs->unvisited_edges / entries;
	const double searched = (double) bfs->unvisited_lists / entries *
		(double) (bfs->edges + bfs->unvisited_edges) / (double) bfs->edges;

	return bfs->graph.backward.offsets != NULL &&
		expect_starts(bfs, bfs->unvisited_lists) + (all < searched ? all : searched) <
		expect_starts(bfs, bfs->vertices) + (double) bfs->edges / entries;
}

/* The level loop. */
static EmogiStatus
traverse(Bfs *bfs, EmogiError *error)
{
	bfs->control->total = bfs->nvertices;
	while (bfs->vertices > 0 && bfs->edges > 0 && bfs->depth < bfs->bound)
	{
		bfs->control->level = (uint32_t) bfs->depth;
		bfs->control->done = bfs->reached;
		if (bfs->control->cancel)
			return EMOGI_CANCELED;
		/* Half of what few_levels takes, so that it never returns without a step. */
		if (bfs->vertices <= FEW_VERTICES / 2 && bfs->edges <= FEW_EDGES / 2)
			TRY(step_few(bfs, error));
		else
			TRY(step_wide(bfs, prefers_bottom_up(bfs), error));
	}
	bfs->control->done = bfs->reached;
	return EMOGI_OK;
}

/* Place the Graph, run, bring the levels back. What is taken belongs to *bfs, on every path. */
static EmogiStatus
run_bfs(Bfs *bfs, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	EmogiEngineState *state = bfs->state;
	float		ms;

	bfs->control->phase = EMOGI_PHASE_TRANSFER;
	TRY(take_arrays(bfs, graph, query, error));
	TRY(emogi_place_graph(state, graph, query->placement, true, &bfs->memory, &bfs->graph, bfs->control, error));
	TRY(size_grids(bfs, graph, error));

	bfs->control->phase = EMOGI_PHASE_RUN;
	CUDA_TRY(cudaEventRecord(state->begin, state->stream));
	TRY(enter_sources(bfs, graph, query, error));
	TRY(traverse(bfs, error));
	CUDA_TRY(cudaEventRecord(state->end, state->stream));
	TRY(emogi_cuda_wait(state, bfs->control, error));
	CUDA_TRY(cudaEventElapsedTime(&ms, state->begin, state->end));

	bfs->control->phase = EMOGI_PHASE_TRANSFER;
	TRY(emogi_cuda_copy(state, result->level, bfs->level, bfs->nvertices * sizeof *bfs->level, cudaMemcpyDeviceToHost,
						bfs->control, error));
	result->run_ms = ms;
	result->nreached = bfs->reached;
	result->nlevels = (uint32_t) bfs->depth + (bfs->vertices > 0 ? 1 : 0);
	result->edges_traversed = bfs->entries;
	result->link_bytes = bfs->graph.placement == EMOGI_PLACEMENT_HOST ? bfs->lines * EMOGI_LINE_BYTES : 0;
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_bfs(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			   EmogiControl *control, EmogiError *error)
{
	const double since = emogi_now_ms();
	Bfs			bfs = {};
	EmogiStatus status;

	result->nreached = result->edges_traversed = result->link_bytes = 0;
	result->nlevels = 0;
	result->transfer_ms = result->run_ms = 0;
	if (graph->nvertices > EMOGI_MAX_VERTICES)
		return emogi_fail(error, EMOGI_BAD_INPUT, "too many vertices", "%llu", (unsigned long long) graph->nvertices);
	for (uint64_t i = 0; i < query->nsources; i++)
		if (query->sources[i] >= graph->nvertices)
			return emogi_fail(error, EMOGI_BAD_INPUT, "a source is not a vertex of the graph", "number %u of %llu",
							  query->sources[i], (unsigned long long) graph->nvertices);
	if (control->cancel)
		return EMOGI_CANCELED;
	if (graph->nvertices == 0 || graph->forward.nedges == 0 || query->nsources == 0 || query->max_depth == 0)
	{
		answer_sources(graph, query, result);
		return EMOGI_OK;
	}

	bfs.state = state;
	bfs.control = control;
	bfs.memory.cap_bytes = state->cap_bytes;
	bfs.nvertices = graph->nvertices;
	bfs.bound = query->max_depth < 0 || query->max_depth > INT32_MAX ? INT32_MAX : (int32_t) query->max_depth;
	status = run_bfs(&bfs, graph, query, result, error);
	(void) cudaStreamSynchronize(state->stream);	/* nothing may run on what is freed now */
	emogi_unplace_graph(&bfs.graph);
	emogi_memory_release(&bfs.memory, 0);
	result->transfer_ms = emogi_now_ms() - since - result->run_ms;
	return status;
}
