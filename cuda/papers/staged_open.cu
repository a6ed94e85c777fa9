/*
 * staged_open.cu: placement of a graph for STAGED runs: offsets on the device, edges in host
 * memory; allocation of the edge buffers and the pinned memory, and start of the gathering threads.
 */
#include "cuda/papers/staged.cuh"
#include "cuda/access/prefix_sum.cuh"

#include <stdlib.h>

/*
 * Place offsets in device memory, as every placement does. Targets are host addresses, which no
 * kernel receives.
 */
static EmogiStatus
place_offsets(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
			  EmogiError *error)
{
	PlacedGraph *placed = &sweeps->run->graph;
	EmogiGraph	bare = *graph;
	EmogiQuery	seen = *query;

	bare.forward.nedges = bare.backward.nedges = 0;
	seen.placement = EMOGI_PLACEMENT_DEVICE;
	TRY(emogi_run_place(sweeps->run, &bare, &seen, wants, NULL, 0, sizeof(Target), error));
	placed->forward.targets = graph->forward.targets;
	placed->forward.nedges = graph->forward.nedges;
	if ((wants & PLACE_BACKWARD) != 0 && placed->backward.offsets != NULL)
	{
		placed->backward.targets = graph->backward.targets;
		placed->backward.nedges = graph->backward.nedges;
	}
	return EMOGI_OK;
}

/* Return whether host memory may be allocated now: a test may make this allocation fail. */
static bool
may_allocate(Staged *staged)
{
	return ++staged->nallocations != staged->run->control->fail_allocation;
}

/* Allocate pinned memory, which emogi_staged_close frees. */
static EmogiStatus
take_pinned(Staged *staged, char **out, uint64_t bytes, const char *what, EmogiError *error)
{
	void	   *block = NULL;
	cudaError_t code = emogi_cuda_fault();

	if (code == cudaSuccess)
		code = may_allocate(staged) ? cudaMallocHost(&block, bytes) : cudaErrorMemoryAllocation;
	if (code == cudaErrorMemoryAllocation)
	{
		(void) cudaGetLastError();
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of pinned host memory",
								 "%s: %llu bytes", what, (unsigned long long) bytes);
	}
	if (code != cudaSuccess)
		return emogi_cuda_fail(error, code, "cudaMallocHost");
	*out = (char *) block;
	return EMOGI_OK;
}

/* Allocate the lists of active vertices; if asynchronous, also that of the items to sweep again. */
static EmogiStatus
take_lists(Sweeps *sweeps, bool asynchronous, EmogiError *error)
{
	Staged	   *staged = sweeps->staged;
	Run		   *run = sweeps->run;
	DeviceMemory *memory = &run->memory;
	const uint64_t capacity = sweeps->capacity;
	const uint64_t max_count = capacity + 1 > run->nwords ? capacity + 1 : run->nwords;

	TRY(take_array(memory, &staged->before, run->nwords, "active vertices before words", error));
	TRY(take_array(memory, &staged->start, capacity + 1, "starts of lists", error));
	TRY(take_array(memory, &staged->tile, count_tiles(max_count), "sums of starts", error));
	if (asynchronous)
		TRY(take_array(memory, &staged->pick, capacity, "items to sweep again", error));
	return take_pinned(staged, &staged->listed, (capacity + 1) * sizeof(uint64_t) +
					   capacity * sizeof(uint32_t), "active vertices", error);
}

/*
 * Allocate the edge buffers: the remaining device memory, evicting idle copies, but at most what
 * two copies of all edges need. Without a cap, leave the headroom for others.
 */
static EmogiStatus
take_buffers(Staged *staged, EmogiError *error)
{
	Run		   *run = staged->run;
	const uint64_t headroom = run->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	const uint64_t entry_bytes = sizeof(Target) + staged->weight_bytes;
	const uint64_t nedges = staged->backward.nedges > staged->forward.nedges ?
		staged->backward.nedges : staged->forward.nedges;
	const uint64_t max_count = (nedges + STAGED_UNIT - 1) / STAGED_UNIT * STAGED_UNIT;
	const uint64_t unit_bytes = STAGED_UNIT * entry_bytes;
	const uint64_t min_bytes = STAGED_MIN_BYTES > unit_bytes ? STAGED_MIN_BYTES : unit_bytes;
	uint64_t	left;
	uint64_t	fit;

	TRY(emogi_memory_left(&run->memory, &left, error));
	fit = left > headroom ? (left - headroom) / STAGED_BUFFERS / unit_bytes * STAGED_UNIT : 0;
	staged->buffer_entries = fit < max_count ? fit : max_count;
	if (fit < max_count && fit * entry_bytes < min_bytes)
		return emogi_device_fail(error, EMOGI_NO_MEMORY,
								 "too little device memory is left for edge buffers",
								 "%d buffers of %llu bytes or more, %llu bytes left, of which %llu "
								 "are reserved",
								 STAGED_BUFFERS, (unsigned long long) min_bytes,
								 (unsigned long long) left, (unsigned long long) headroom);
	return emogi_memory_take(&run->memory, (void **) &staged->buffer,
							 STAGED_BUFFERS * staged->buffer_entries * entry_bytes, "edge buffers",
							 error);
}

/* Create the stream, the events and the pieces of pinned memory. */
static EmogiStatus
make_channels(Staged *staged, EmogiError *error)
{
	const uint64_t entry_bytes = sizeof(Target) + staged->weight_bytes;
	const uint64_t max_count = STAGED_PIECE_BYTES / entry_bytes / STAGED_UNIT * STAGED_UNIT;

	staged->piece_entries = max_count < staged->buffer_entries ? max_count : staged->buffer_entries;
	CUDA_TRY(cudaStreamCreateWithFlags(&staged->stream, cudaStreamNonBlocking));
	for (int i = 0; i < STAGED_BUFFERS; i++)
	{
		CUDA_TRY(cudaEventCreateWithFlags(&staged->copied[i], cudaEventDisableTiming));
		CUDA_TRY(cudaEventCreateWithFlags(&staged->filled[i], cudaEventDisableTiming));
		CUDA_TRY(cudaEventCreateWithFlags(&staged->emptied[i], cudaEventDisableTiming));
		/*
		 * The buffers are allocated from the pool in the order of the run's stream: no copy may
		 * precede that.
		 */
		CUDA_TRY(cudaEventRecord(staged->emptied[i], staged->run->state->stream));
		TRY(take_pinned(staged, &staged->piece[i], staged->piece_entries * entry_bytes,
						"pieces of edges", error));
	}
	return EMOGI_OK;
}

/* Create the state of a STAGED run; emogi_staged_close frees it on every path. */
static EmogiStatus
make_staged(Sweeps *sweeps, const EmogiGraph *graph, unsigned wants, EmogiError *error)
{
	Run		   *run = sweeps->run;
	const int32_t nthreads = run->state->cpu_threads > 0 ? run->state->cpu_threads : 1;
	Staged	   *staged = run->control->fail_allocation == 1 ? NULL :
		(Staged *) calloc(1, sizeof *staged);

	if (staged == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory",
								 "state of staged edges, %zu bytes", sizeof *staged);
	sweeps->staged = staged;
	staged->run = run;
	staged->nallocations = 1;
	staged->forward = staged->backward = graph->forward;
	if ((wants & PLACE_BACKWARD) != 0 && graph->backward.offsets != NULL)
		staged->backward = graph->backward;
	staged->weight_bytes = sweeps->bytes.weight;
	staged->pool = may_allocate(staged) ? emogi_staged_gather_open(nthreads) : NULL;
	if (staged->pool == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY,
								 "could not start threads that gather edges",
								 "%d threads", (int) nthreads);
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_place_staged(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query,
						  unsigned wants, EmogiError *error)
{
	TRY(place_offsets(sweeps, graph, query, wants, error));
	TRY(make_staged(sweeps, graph, wants, error));
	if (sweeps->items.vertex != NULL)
		TRY(take_lists(sweeps, query->papers.asynchronous, error));
	TRY(take_buffers(sweeps->staged, error));
	TRY(make_channels(sweeps->staged, error));
	sweeps->run->graph.placement = EMOGI_PLACEMENT_STAGED;
	sweeps->requests = NULL;	/* lists cross the link, not lines */
	return EMOGI_OK;
}

void
emogi_staged_close(Sweeps *sweeps)
{
	Staged	   *staged = sweeps->staged;

	if (staged == NULL)
		return;
	/* copies of the listed vertices to pinned memory may be in flight */
	(void) cudaStreamSynchronize(staged->run->state->stream);
	if (staged->stream != NULL)
	{
		(void) cudaStreamSynchronize(staged->stream);
		(void) cudaStreamDestroy(staged->stream);
	}
	for (int i = 0; i < STAGED_BUFFERS; i++)
	{
		if (staged->copied[i] != NULL)
			(void) cudaEventDestroy(staged->copied[i]);
		if (staged->filled[i] != NULL)
			(void) cudaEventDestroy(staged->filled[i]);
		if (staged->emptied[i] != NULL)
			(void) cudaEventDestroy(staged->emptied[i]);
		(void) cudaFreeHost(staged->piece[i]);
	}
	(void) cudaFreeHost(staged->listed);
	(void) cudaGetLastError();
	emogi_staged_gather_close(staged->pool);
	free(staged);
	sweeps->staged = NULL;
}
