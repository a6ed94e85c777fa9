/*
 * managed.cu: edges in managed memory: EMOGI's UVM baseline [1, sections 2 and 5].
 *
 * Targets and weights are copied into one block of managed memory, which the driver is told will be read mostly. The
 * block's pages are in host memory then; a page comes to the device when a kernel first reads it, or all of them before
 * the run when the query wants them prefetched. Every run copies anew, so every run begins cold.
 *
 * What is managed is never more than the device has free: beyond that the driver moves the same pages to and fro, which
 * is no answer in any time. So kept copies of other Graphs give way, as they do for device memory, and what is left must
 * do. The block is counted as device memory of the run, which may all end up there.
 *
 * [1] S. W. Min et al.: EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs. PVLDB 14(2), 2020.
 */
#include "cuda/papers/papers.cuh"

#define MANAGED_HEADROOM_BYTES (UINT64_C(256) << 20)	/* that the driver moves pages with, and others may take */
#define COPY_BYTES (UINT64_C(64) << 20) /* between two looks at cancel: below 50 ms */
#define PAGE_BYTES UINT64_C(4096)

/* An array on its way to managed memory. */
typedef struct ManagedArray
{
	const void *from;
	uint64_t	bytes;			/* up to the end of the last line */
	const void **placed;		/* where its address goes */
} ManagedArray;

/* Ensure that there is room on the device, at the expense of copies that are idle. */
static EmogiStatus
make_room(const Run *run, uint64_t bytes, EmogiError *error)
{
	const uint64_t needed = bytes + (run->state->cap_bytes > 0 ? 0 : MANAGED_HEADROOM_BYTES);

	for (;;)
	{
		uint64_t	left;

		TRY(emogi_memory_left(&run->memory, &left, error));
		left -= emogi_device_cache_idle_bytes(run->state);
		if (needed <= left)
			return EMOGI_OK;
		if (!emogi_device_cache_evict(run->state))
			return emogi_device_fail(error, EMOGI_NO_MEMORY, "the graph's edges are more managed memory than the GPU has free",
									 "%llu bytes of edges, %llu with what must stay free, %llu left", (unsigned long long) bytes,
									 (unsigned long long) needed, (unsigned long long) left);
	}
}

/*
 * Take managed memory, once in a run, which frees it. What lies idle in the pool is given back first: it would not be free
 * for the driver to move pages to.
 */
static EmogiStatus
take_managed(Sweeps *sweeps, char **out, uint64_t bytes, EmogiError *error)
{
	Run		   *run = sweeps->run;
	DeviceMemory *memory = &run->memory;
	void	   *block;

	if (memory->fail_take > 0 && --memory->fail_take == 0)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory on the GPU", "managed memory: %llu bytes",
								 (unsigned long long) bytes);
	emogi_memory_trim(run->state, 0);
	TRY(make_room(run, bytes, error));
	emogi_memory_trim(run->state, 0);	/* what was evicted */
	CUDA_TRY(cudaMallocManaged(&block, bytes, cudaMemAttachGlobal));
	sweeps->managed = block;
	sweeps->managed_bytes = bytes;
	run->state->taken_bytes += bytes;
	*out = (char *) block;
	return EMOGI_OK;
}

/* Tell the driver how the block is used; `prefetch`: bring all of it to the device, and wait. */
static EmogiStatus
advise(Run *run, void *block, uint64_t bytes, bool prefetch, EmogiError *error)
{
#if CUDART_VERSION >= 13000
	const cudaMemLocation device = {cudaMemLocationTypeDevice, run->state->device};

	CUDA_TRY(cudaMemAdvise(block, bytes, cudaMemAdviseSetReadMostly, device));
	if (prefetch)
		CUDA_TRY(cudaMemPrefetchAsync(block, bytes, device, 0, run->state->stream));
#else
	CUDA_TRY(cudaMemAdvise(block, bytes, cudaMemAdviseSetReadMostly, run->state->device));
	if (prefetch)
		CUDA_TRY(cudaMemPrefetchAsync(block, bytes, run->state->device, run->state->stream));
#endif
	return emogi_cuda_wait(run->state, run->control, error);
}

/* Copy an array into managed memory, on the host. */
static EmogiStatus
fill_managed(const Run *run, char *to, const ManagedArray *array)
{
	for (uint64_t done = 0; done < array->bytes; done += COPY_BYTES)
	{
		const uint64_t piece = array->bytes - done < COPY_BYTES ? array->bytes - done : COPY_BYTES;

		if (run->control->cancel)
			return EMOGI_CANCELED;
		memcpy(to + done, (const char *) array->from + done, piece);
	}
	*array->placed = to;
	return EMOGI_OK;
}

/* Add the arrays of one orientation. Get how many there are now. */
static int
add_arrays(ManagedArray *arrays, int narrays, const EmogiAdjacency *adjacency, uint32_t weight_bytes,
		   Lists<Target> *lists)
{
	const uint64_t lines = (adjacency->nedges + Line<Target>::ENTRIES - 1) / Line<Target>::ENTRIES;
	const uint64_t weight_lines = (adjacency->nedges * weight_bytes + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;

	lists->nedges = adjacency->nedges;
	arrays[narrays++] = ManagedArray{adjacency->targets, lines * EMOGI_LINE_BYTES, (const void **) &lists->targets};
	if (weight_bytes > 0)
		arrays[narrays++] = ManagedArray{adjacency->weights, weight_lines * EMOGI_LINE_BYTES, &lists->weights};
	return narrays;
}

/* Place offsets in device memory, as every placement does, and find out which arrays are to be managed. */
static EmogiStatus
place_offsets(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants, ManagedArray *arrays,
			  int *narrays, EmogiError *error)
{
	Run		   *run = sweeps->run;
	PlacedGraph *placed = &run->graph;
	EmogiGraph	bare = *graph;
	EmogiQuery	seen = *query;
	const uint32_t weight_bytes = sweeps->bytes.weight;

	bare.forward.nedges = bare.backward.nedges = 0;
	seen.placement = EMOGI_PLACEMENT_DEVICE;
	TRY(emogi_run_place(run, &bare, &seen, wants, NULL, 0, sizeof(Target), error));
	*narrays = add_arrays(arrays, 0, &graph->forward, weight_bytes, &placed->forward);
	if ((wants & PLACE_BACKWARD) != 0 && placed->backward.offsets != NULL && graph->backward.targets != graph->forward.targets)
		*narrays = add_arrays(arrays, *narrays, &graph->backward, weight_bytes, &placed->backward);
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_place_managed(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
						   EmogiError *error)
{
	Run		   *run = sweeps->run;
	ManagedArray arrays[4];
	int			narrays;
	int			concurrent;
	uint64_t	bytes = 0;
	char	   *block = NULL;

	CUDA_TRY(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, run->state->device));
	if (!concurrent)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "this machine does not page managed memory to the GPU",
								 "concurrent managed access is 0");
	TRY(place_offsets(sweeps, graph, query, wants, arrays, &narrays, error));
	for (int i = 0; i < narrays; i++)
		bytes += (arrays[i].bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	TRY(take_managed(sweeps, &block, bytes, error));
	for (int i = 0; i < narrays; i++)
	{
		TRY(fill_managed(run, block, &arrays[i]));
		block += (arrays[i].bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	}
	TRY(advise(run, block - bytes, bytes, query->papers.prefetch, error));
	if (run->graph.backward.offsets != NULL && graph->backward.targets == graph->forward.targets)
		run->graph.backward = run->graph.forward;
	run->graph.placement = EMOGI_PLACEMENT_MANAGED;
	sweeps->requests = NULL;	/* pages cross the link, not lines */
	return EMOGI_OK;
}
