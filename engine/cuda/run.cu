/*
 * run.cu: checks a query, begins and ends its run, sizes the grids, reads the counters.
 */
#include "run.cuh"
#include "contract/algebra.h"

#define WINDOW_BYTES (128.0 * (1 << 20))	/* of host memory that all blocks together may read at a time */
#define MAX_BATCH_WORDS 64

static_assert(sizeof(Counters) <= EMOGI_MAILBOX_BYTES, "counters must fit the mailbox");

/* Say whether a query can have targets of 8 bytes. */
static bool
can_widen(const EmogiQuery *query)
{
	return (query->algorithm == EMOGI_BFS || emogi_is_path(query->algorithm) || query->algorithm == EMOGI_CC) &&
		query->mapping <= EMOGI_MAPPING_ALIGNED &&
		(query->placement == EMOGI_PLACEMENT_HOST || query->placement == EMOGI_PLACEMENT_DEVICE);
}

/* Ensure that the algorithm has what it iterates with. */
static EmogiStatus
check_iterations(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	if (query->max_iterations < 1 || !(query->tolerance >= 0))
		return emogi_fail(error, EMOGI_BAD_INPUT, "at least one iteration and a tolerance of 0 or more are needed",
						  "max_iterations %lld, tolerance %g", (long long) query->max_iterations, query->tolerance);
	if (query->algorithm != EMOGI_PAGERANK && query->values == NULL && graph->nvertices > 0)
		return emogi_fail(error, EMOGI_BAD_INPUT, "start values are needed", "algorithm %d", (int) query->algorithm);
	return EMOGI_OK;
}

/* Ensure that the query makes sense for the Graph. */
static EmogiStatus
check_query(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	if (graph->nvertices > EMOGI_MAX_VERTICES)
		return emogi_fail(error, EMOGI_BAD_INPUT, "too many vertices", "%llu", (unsigned long long) graph->nvertices);
	if ((unsigned) graph->weight_type > EMOGI_WEIGHT_F64)
		return emogi_fail(error, EMOGI_BAD_INPUT, "unknown type of weights", "number %d", (int) graph->weight_type);
	if (query->id_bytes == 8 && !can_widen(query))
		return emogi_fail(error, EMOGI_BAD_INPUT, "ids of 8 bytes are there for bfs, best paths and cc by thread, warp and "
						  "aligned in host and device placement alone", "algorithm %d, mapping %d, placement %d",
						  (int) query->algorithm, (int) query->mapping, (int) query->placement);
	if (query->algorithm >= EMOGI_PAGERANK)
		return check_iterations(graph, query, error);
	if (query->algorithm > EMOGI_SSNSP)
		return EMOGI_OK;
	for (uint64_t i = 0; i < query->nsources; i++)
		if (query->sources[i] >= graph->nvertices)
			return emogi_fail(error, EMOGI_BAD_INPUT, "a source is not a vertex of the graph", "number %u of %llu",
							  query->sources[i], (unsigned long long) graph->nvertices);
	return EMOGI_OK;
}

/* Take what every run counts with. */
static EmogiStatus
take_step(Run *run, const EmogiGraph *graph, EmogiError *error)
{
	const uint64_t nedges = graph->backward.offsets != NULL && graph->backward.nedges > graph->forward.nedges ?
		graph->backward.nedges : graph->forward.nedges;

	TRY(take_array(&run->memory, &run->step.counters, 1, "counters", error));
	TRY(take_array(&run->memory, &run->step.slices, slice_capacity(nedges, Line<Target>::ENTRIES), "slices", error));
	run->step.stop = run->state->device_stop;
	return emogi_run_clear(run, error);
}

EmogiStatus
emogi_run(EmogiEngineState *state, RunAlgorithm algorithm, const EmogiGraph *graph, const EmogiQuery *query,
		  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	const double since = emogi_now_ms();
	EmogiGraph	seen = *graph;
	Run			run = {};
	EmogiStatus status;

	result->nreached = result->edges_traversed = result->link_bytes = 0;
	result->nlevels = 0;
	result->placement = EMOGI_PLACEMENT_DEVICE;	/* a Graph without edges reads none over the link */
	result->change = result->transfer_ms = result->run_ms = 0;
	TRY(check_query(graph, query, error));
	if (control->cancel)
		return EMOGI_CANCELED;
	if (graph->nvertices == 0)
		return EMOGI_OK;

	/* No edge is followed: spare it their placement. */
	if (query->algorithm <= EMOGI_SSNSP && query->nsources == 0)
		seen.forward.nedges = seen.backward.nedges = 0;

	TRY(emogi_resident_begin(state, graph, error));
	run.state = state;
	run.control = control;
	run.memory.state = state;
	run.memory.fail_take = control->fail_device_allocation;
	run.nvertices = graph->nvertices;
	run.nwords = (graph->nvertices + 31) / 32;
	run.full_blocks = 8 * state->units;
	run.nblocks = 2 * state->units;
	run.step.batch_words = BLOCK_WARPS;
	control->phase = EMOGI_PHASE_TRANSFER;
	status = take_step(&run, &seen, error);
	if (status == EMOGI_OK)
		status = algorithm(&run, &seen, query, result, error);
	(void) cudaStreamSynchronize(state->stream);	/* nothing may run on what is freed now */
	emogi_unplace_graph(&run.graph);
	emogi_memory_release(&run.memory, 0);
	if (run.pinned != NULL)
		(void) cudaFreeHost(run.pinned);
	if (run.managed != NULL)
		(void) cudaFree(run.managed);
	(void) cudaGetLastError();
	state->taken_bytes -= run.managed_bytes;
	emogi_memory_trim(state, state->ready_bytes);
	result->placement = run.graph.placement;
	result->transfer_ms = emogi_now_ms() - since - result->run_ms;
	return status;
}

/*
 * Choose how many blocks read edges and how many words they take at a time. In device memory the more the better; over
 * the link two blocks a multiprocessor are enough, and together they must not read from too wide a window.
 */
static EmogiStatus
size_grids(Run *run, const EmogiGraph *graph, const void *const *kernels, size_t nkernels, uint32_t edge_bytes,
		   EmogiError *error)
{
	const double list_bytes = (double) graph->forward.nedges * edge_bytes / (double) graph->nvertices;
	const double word_bytes = 32 * (list_bytes > edge_bytes ? list_bytes : edge_bytes);
	uint32_t	batch = MAX_BATCH_WORDS;
	int			resident = 8;
	int			least;

	for (size_t i = 0; i < nkernels; i++)
	{
		int			fits;

		CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernels[i], BLOCK_THREADS, 0));
		if (fits < resident)
			resident = fits > 0 ? fits : 1;
	}
	least = (resident < 2 ? resident : 2) * run->state->units;
	run->nblocks = resident * run->state->units;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
	{
		double		fits;

		while (batch > BLOCK_WARPS && least * (batch * word_bytes) > WINDOW_BYTES)
			batch /= 2;
		fits = WINDOW_BYTES / (batch * word_bytes);
		if (fits < run->nblocks)
			run->nblocks = fits > least ? (int) fits : least;
	}
	while (batch > BLOCK_WARPS && run->nwords / batch < 4 * (uint64_t) run->nblocks)
		batch /= 2;
	run->step.batch_words = batch;
	return EMOGI_OK;
}

EmogiStatus
emogi_run_place(Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
				const void *const *kernels, size_t nkernels, uint32_t edge_bytes, EmogiError *error)
{
	TRY(emogi_place_graph(run->state, graph, query->placement, wants, &run->memory, &run->graph, run->control, error));
	return size_grids(run, graph, kernels, nkernels, edge_bytes, error);
}

EmogiStatus
emogi_run_begin_step(Run *run, EmogiError *error)
{
	CUDA_TRY(cudaMemsetAsync(run->step.counters, 0, offsetof(Counters, lines), run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_run_clear(Run *run, EmogiError *error)
{
	CUDA_TRY(cudaMemsetAsync(run->step.counters, 0, sizeof *run->step.counters, run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_run_read(Run *run, const Counters **counters, EmogiError *error)
{
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, run->step.counters, sizeof **counters, cudaMemcpyDeviceToHost,
							 run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*counters = (const Counters *) run->state->mailbox;
	return EMOGI_OK;
}

EmogiStatus
emogi_run_start_clock(Run *run, EmogiError *error)
{
	run->control->phase = EMOGI_PHASE_RUN;
	CUDA_TRY(cudaEventRecord(run->state->begin, run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_run_stop_clock(Run *run, EmogiResult *result, EmogiError *error)
{
	float		ms;

	CUDA_TRY(cudaEventRecord(run->state->end, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	CUDA_TRY(cudaEventElapsedTime(&ms, run->state->begin, run->state->end));
	result->run_ms += ms;
	run->control->phase = EMOGI_PHASE_TRANSFER;
	return EMOGI_OK;
}

EmogiStatus
emogi_run_send(Run *run, void *to, const void *from, uint64_t bytes, EmogiError *error)
{
	return emogi_cuda_copy(run->state, to, from, bytes, cudaMemcpyHostToDevice, run->control, error);
}

EmogiStatus
emogi_run_fetch(Run *run, void *to, const void *from, uint64_t bytes, EmogiError *error)
{
	return emogi_cuda_copy(run->state, to, from, bytes, cudaMemcpyDeviceToHost, run->control, error);
}

void
emogi_run_account(const Run *run, const Counters *counters, EmogiResult *result)
{
	result->edges_traversed += counters->entries;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		result->link_bytes += counters->lines * EMOGI_LINE_BYTES;
}

EmogiStatus
emogi_load_kernels(const void *const *kernels, size_t nkernels, EmogiError *error)
{
	for (size_t i = 0; i < nkernels; i++)
	{
		cudaFuncAttributes attributes;

		CUDA_TRY(cudaFuncGetAttributes(&attributes, kernels[i]));
	}
	return EMOGI_OK;
}
