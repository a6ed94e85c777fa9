/*
 * managed.cu: placement of edges in managed memory: EMOGI's UVM baseline ([1], sections 2 and 5).
 *
 * Targets and weights are copied into one block of managed memory, with a read-mostly hint to the
 * driver. The block's pages are then in host memory; a page is migrated to the device when a kernel
 * first reads it, or all pages before the run if the query requests prefetching. Every run copies
 * again, so every run begins cold.
 *
 * The managed block never exceeds the free memory of the device: beyond that, the driver would
 * migrate the same pages back and forth, and the run would not finish in any acceptable time. So
 * cached copies of other graphs are evicted, as for device memory, and the block must fit in the
 * memory left. The block counts as device memory of the run, because all of it may end up there.
 *
 * [1] S. W. Min et al.: EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs.
 * PVLDB 14(2), 2020.
 */
#include "cuda/papers/papers.cuh"

/* for the driver's page migration, and for others */
#define MANAGED_HEADROOM_BYTES (UINT64_C(256) << 20)
#define COPY_BYTES (UINT64_C(64) << 20)	/* between two polls of cancel: below 50 ms */
#define PAGE_BYTES UINT64_C(4096)

/* An array to be copied to managed memory. */
typedef struct ManagedArray
{
	const void *from;
	uint64_t	bytes;			/* up to the end of the last line */
	const void **placed;		/* where its address is stored */
} ManagedArray;

/* Ensure that there is room on the device, evicting idle copies if necessary. */
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
			return emogi_device_fail(error, EMOGI_NO_MEMORY, "the graph's edges are more managed "
									 "memory than the GPU has free", "%llu bytes of edges, %llu "
									 "with the reserve, %llu left",
									 (unsigned long long) bytes, (unsigned long long) needed,
									 (unsigned long long) left);
	}
}

/*
 * Allocate managed memory, once per run; close_sweeps frees it. Idle memory of the pool is given
 * back first, because the driver could not migrate pages to it.
 */
static EmogiStatus
take_managed(Sweeps *sweeps, char **out, uint64_t bytes, EmogiError *error)
{
	Run		   *run = sweeps->run;
	DeviceMemory *memory = &run->memory;
	void	   *block;

	if (memory->fail_take > 0 && --memory->fail_take == 0)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory on the GPU",
								 "managed memory: %llu bytes", (unsigned long long) bytes);
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

/* Tell the driver how the block is used. prefetch: migrate all of it to the device, and wait. */
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

/* Add the arrays of one orientation. Return the new number of arrays. */
static int
add_arrays(ManagedArray *arrays, int narrays, const EmogiAdjacency *adjacency,
		   uint32_t weight_bytes, Lists<Target> *lists)
{
	const uint64_t lines = (adjacency->nedges + Line<Target>::ENTRIES - 1) / Line<Target>::ENTRIES;
	const uint64_t weight_lines =
		(adjacency->nedges * weight_bytes + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;

	lists->nedges = adjacency->nedges;
	arrays[narrays++] = ManagedArray{
		adjacency->targets, lines * EMOGI_LINE_BYTES, (const void **) &lists->targets
	};
	if (weight_bytes > 0)
		arrays[narrays++] = ManagedArray{
			adjacency->weights, weight_lines * EMOGI_LINE_BYTES, &lists->weights
		};
	return narrays;
}

/*
 * Place offsets in device memory, as every placement does, and determine the arrays for managed
 * memory.
 */
static EmogiStatus
place_offsets(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
			  ManagedArray *arrays, int *narrays, EmogiError *error)
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
	if ((wants & PLACE_BACKWARD) != 0 && placed->backward.offsets != NULL &&
		graph->backward.targets != graph->forward.targets)
		*narrays = add_arrays(arrays, *narrays, &graph->backward, weight_bytes, &placed->backward);
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_place_managed(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query,
						   unsigned wants, EmogiError *error)
{
	Run		   *run = sweeps->run;
	ManagedArray arrays[4];
	int			narrays;
	int			concurrent;
	uint64_t	bytes = 0;
	char	   *block = NULL;

	CUDA_TRY(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess,
									run->state->device));
	if (!concurrent)
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "the GPU does not support concurrent access to managed memory",
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
