/*
 * run.cu: begin and end of a run, grid sizes, counters.
 */
#include "cuda/core/run.cuh"
#include "cuda/results/aggregates.cuh"
#include "cuda/multi_gpu/shared_step.cuh"

/*
 * Tuned constants, of edf1050. All figures of an NVIDIA H200 in bench/RESULTS.md (ad4a202) were
 * measured with these values.
 */
/* of host memory that all blocks together may read at a time: see traverse.cuh */
#define WINDOW_BYTES (128.0 * (1 << 20))
/* of a bitmap per ticket: more words mean fewer tickets and a wider window */
#define MAX_BATCH_WORDS 64

static_assert(sizeof(Counters) <= EMOGI_MAILBOX_BYTES, "counters must fit the mailbox");

/* Allocate the counters and slices that every run needs. */
static EmogiStatus
take_step(Run *run, const EmogiGraph *graph, EmogiError *error)
{
	const uint64_t nedges = graph->backward.offsets != NULL &&
		graph->backward.nedges > graph->forward.nedges ? graph->backward.nedges :
		graph->forward.nedges;

	TRY(take_array(&run->memory, &run->step.counters, 1, "counters", error));
	TRY(take_array(&run->memory, &run->step.slices, slice_capacity(nedges, Line<Target>::ENTRIES),
				   "slices", error));
	run->step.stop = run->state->device_stop;
	CUDA_TRY(cudaMemsetAsync(run->step.counters, 0, sizeof *run->step.counters,
							 run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_run_open(Run *run, EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiControl *control, EmogiError *error)
{
	run->state = state;
	run->control = control;
	run->devices = query->devices;
	run->memory.state = state;
	run->memory.fail_take = control->fail_device_allocation;
	run->nvertices = graph->nvertices;
	run->nwords = (graph->nvertices + 31) / 32;
	run->full_blocks = 8 * state->units;
	run->nblocks = 2 * state->units;
	run->step.batch_words = BLOCK_WARPS;
	return take_step(run, graph, error);
}

void
emogi_run_close(Run *run)
{
	/* wait for kernels that use the memory freed below */
	(void) cudaStreamSynchronize(run->state->stream);
	emogi_placement_undo(&run->graph);
	emogi_memory_release(&run->memory, 0);
	emogi_memory_trim(run->state, run->state->ready_bytes);
}

/* Run the algorithm of an open run; helpers leave at the end. */
static EmogiStatus
run_open(Run *run, RunAlgorithm algorithm, const EmogiGraph *graph, const EmogiQuery *query,
		 EmogiResult *result, EmogiError *error)
{
	EmogiStatus status = algorithm(run, graph, query, result, error);

	if (status == EMOGI_OK && query->summary != NULL)
		status = emogi_aggregates_make(run, query, result, error);
	if (run->close_shared_step != NULL)
	{
		(void) cudaStreamSynchronize(run->state->stream);	/* it may read helpers' memory */
		run->close_shared_step(run->shared_step);
	}
	return status;
}

EmogiStatus
emogi_run(EmogiEngineState *state, RunAlgorithm algorithm, const EmogiGraph *graph,
		  const EmogiQuery *query, EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	const double since = emogi_device_now_ms();
	EmogiGraph	seen = *graph;
	Run			run = {};
	SharedStep	shared_step = {};
	EmogiStatus status;

	result->nreached = result->edges_traversed = result->link_bytes = 0;
	result->nlevels = 0;
	result->nlinks = 0;
	result->is_summarized = false;
	result->placement = EMOGI_PLACEMENT_DEVICE;	/* a graph without edges reads none over the link */
	result->change = result->transfer_ms = result->run_ms = 0;
	if (control->cancel)
		return EMOGI_CANCELED;
	if (graph->nvertices == 0)
		return EMOGI_OK;

	/* No edge is traversed, so do not place any. */
	if (emogi_algorithm_takes(emogi_algorithm_row(query->algorithm), EMOGI_SOURCES) >= 0 &&
		query->nsources == 0)
		seen.forward.nedges = seen.backward.nedges = 0;

	TRY(emogi_device_cache_begin(state, graph, error));
	run.shared_step = &shared_step;
	shared_step.leader = &run;
	control->phase = EMOGI_PHASE_TRANSFER;
	status = emogi_run_open(&run, state, &seen, query, control, error);
	if (status == EMOGI_OK)
		status = run_open(&run, algorithm, &seen, query, result, error);
	emogi_run_close(&run);
	result->placement = run.graph.is_peer ? EMOGI_PLACEMENT_PEER : run.graph.placement;
	if (result->nlinks == 0 && result->link_bytes > 0)
		result->nlinks = 1;
	result->transfer_ms = emogi_device_now_ms() - since - result->run_ms;
	return status;
}

/*
 * Choose the number of blocks that read edges and of bitmap words per ticket. In device memory,
 * more blocks are better. Over the link, two blocks per multiprocessor are enough, and together
 * they must not read from too wide a window.
 */
EmogiStatus
emogi_run_size_grids(Run *run, const EmogiGraph *graph, const void *const *kernels, size_t nkernels,
					 uint32_t edge_bytes, EmogiError *error)
{
	const double list_bytes =
		(double) graph->forward.nedges * edge_bytes / (double) graph->nvertices;
	const double word_bytes = 32 * (list_bytes > edge_bytes ? list_bytes : edge_bytes);
	uint32_t	batch = MAX_BATCH_WORDS;
	int			resident = 8;
	int			min_blocks;

	for (size_t i = 0; i < nkernels; i++)
	{
		int			fits;

		CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernels[i], BLOCK_THREADS,
															   0));
		if (fits < resident)
			resident = fits > 0 ? fits : 1;
	}
	min_blocks = (resident < 2 ? resident : 2) * run->state->units;
	run->nblocks = resident * run->state->units;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
	{
		double		fits;

		while (batch > BLOCK_WARPS && min_blocks * (batch * word_bytes) > WINDOW_BYTES)
			batch /= 2;
		fits = WINDOW_BYTES / (batch * word_bytes);
		if (fits < run->nblocks)
			run->nblocks = fits > min_blocks ? (int) fits : min_blocks;
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
	TRY(emogi_placement_place(run->state, graph, query->placement, wants, &run->memory, &run->graph,
							  run->control, error));
	return emogi_run_size_grids(run, graph, kernels, nkernels, edge_bytes, error);
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
	CUDA_TRY(cudaMemsetAsync(run->step.counters, 0, offsetof(Counters, halt), run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_run_read(Run *run, const Counters **counters, EmogiError *error)
{
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, run->step.counters, sizeof **counters,
							 cudaMemcpyDeviceToHost, run->state->stream));
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
emogi_run_give(Run *run, const EmogiQuery *query, EmogiResult *result, int i, const void *column,
			   EmogiError *error)
{
	const EmogiColumnType type = emogi_algorithm_row(query->algorithm)->columns[i].type;

	if (query->summary == NULL)
		return emogi_run_fetch(run, result->columns[i].any, column,
							   run->nvertices * emogi_algorithm_column_bytes(type), error);
	run->columns[i] = column;
	return EMOGI_OK;
}

void
emogi_run_account(const Run *run, const Counters *counters, EmogiResult *result)
{
	result->edges_traversed += counters->entries;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		result->link_bytes += counters->lines * EMOGI_LINE_BYTES;
}

EmogiStatus
emogi_run_account_read(Run *run, EmogiResult *result, EmogiError *error)
{
	const Counters *counters;

	TRY(emogi_run_read(run, &counters, error));
	emogi_run_account(run, counters, result);
	return EMOGI_OK;
}
