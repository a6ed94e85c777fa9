/*
 * modularity.cu: modularity of given communities, of graphs with integer weights. Returns the same
 * bits as engine/cpu/modularity.c.
 *
 * Method. Communities are numbered by their slots in a hash table. SHORT_LANES lanes sum the
 * weights of a vertex, and a block those of a long list. Integer sums do not depend on the order.
 *
 * Device memory, for n vertices: 24n, and 32n to 64n of the table.
 *
 * Bytes: 24 a vertex of offsets, communities and results; the entries once, with 4 at random each.
 */
#include "cuda/algorithms/communities.cuh"

#define NO_VALUE 0xFFF8000000000001ull	/* bits of a NaN */
#define LONG_LIST 2048			/* entries from which on a block processes a list */

/* Arrays in device memory. */
typedef struct Modularity
{
	Lists<Target> lists;
	EmogiWeightUnits units;
	uint64_t	nvertices;
	double		resolution;
	double	   *value;			/* [nvertices], communities as given; then their contributions */
	uint32_t   *community;		/* [nvertices], slots of the table */
	long long  *strength;		/* [nvertices] */
	long long  *inside;			/* [nvertices] */
	unsigned long long *key;	/* [1 << bits], bits of a value */
	long long  *total;			/* [1 << bits] */
	uint32_t   *queue;			/* [nvertices], vertices with long lists */
	unsigned long long *nqueued;	/* [0]; [1]: the sum of all strengths */
	uint32_t	bits;
} Modularity;

/* Number the communities. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
modularity_number_kernel(Modularity modularity)
{
	for_each(modularity.nvertices, [&](uint64_t v) {
		const unsigned long long bits =
			/* turns -0 into 0 */
			(unsigned long long) __double_as_longlong(modularity.value[v] + 0.0);
		uint64_t	slot = (bits * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - modularity.bits);

		for (;;)
		{
			const unsigned long long key = atomicCAS(&modularity.key[slot], NO_VALUE, bits);

			if (key == NO_VALUE || key == bits)
				break;
			slot = (slot + 1) & ((UINT64_C(1) << modularity.bits) - 1);
		}
		modularity.community[v] = (uint32_t) slot;
	});
}

/* Clear the table. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
modularity_clear_kernel(Modularity modularity)
{
	for_each(UINT64_C(1) << modularity.bits, [&](uint64_t slot) {
		modularity.key[slot] = NO_VALUE;
		modularity.total[slot] = 0;
	});
}

/* Sum a vertex's weights, over the entries that thread `rank` of `stride` reads. */
static __device__ __forceinline__ void
weigh_list(const Modularity &modularity, uint64_t v, uint32_t rank, uint32_t stride,
		   long long *strength, long long *inside)
{
	const Level	level = {0, 0, NULL, NULL, modularity.lists.targets, modularity.lists.weights,
		modularity.units};
	const uint32_t own = modularity.community[v];

	*strength = *inside = 0;
	for (uint64_t e = modularity.lists.offsets[v] + rank; e < modularity.lists.offsets[v + 1];
		 e += stride)
	{
		const uint32_t target = __ldg(&level.targets[e]);
		const long long weight = level_weight(level, e) * (target == v ? 2 : 1);

		*strength += weight;
		*inside += modularity.community[target] == own ? weight : 0;
	}
}

/* Store a vertex's sums, and add to its community's. Called by one thread. */
static __device__ __forceinline__ void
set_sums(const Modularity &modularity, uint64_t v, long long strength, long long inside)
{
	modularity.strength[v] = strength;
	modularity.inside[v] = inside;
	add_units(&modularity.total[modularity.community[v]], strength);
}

/* Sum the weights of the vertices. Vertices with long lists are queued. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
modularity_short_kernel(Modularity modularity)
{
	const uint32_t rank = threadIdx.x % SHORT_LANES;
	const uint64_t ngroups = (uint64_t) gridDim.x * (BLOCK_THREADS / SHORT_LANES);
	const uint32_t mask = ((1u << SHORT_LANES) - 1) << lane_number() / SHORT_LANES * SHORT_LANES;
	unsigned long long whole = 0;

	for (uint64_t v = (uint64_t) blockIdx.x * (BLOCK_THREADS / SHORT_LANES) +
		 threadIdx.x / SHORT_LANES; v < modularity.nvertices; v += ngroups)
	{
		long long	strength,
					inside;

		if (modularity.lists.offsets[v + 1] - modularity.lists.offsets[v] > LONG_LIST)
		{
			if (rank == 0)
				modularity.queue[atomicAdd(modularity.nqueued, 1)] = (uint32_t) v;
			continue;
		}
		weigh_list(modularity, v, rank, SHORT_LANES, &strength, &inside);
		for (uint32_t step = SHORT_LANES / 2; step > 0; step /= 2)
		{
			strength += __shfl_xor_sync(mask, strength, step);
			inside += __shfl_xor_sync(mask, inside, step);
		}
		if (rank == 0)
		{
			set_sums(modularity, v, strength, inside);
			whole += (unsigned long long) strength;
		}
	}
	block_add(modularity.nqueued + 1, whole);
}

/* Sum the weights of the queued vertices, one block each. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
modularity_long_kernel(Modularity modularity, Step step)
{
	__shared__ unsigned long long sums[2];
	unsigned long long whole = 0;

	for (uint64_t q = blockIdx.x; q < modularity.nqueued[0]; q += gridDim.x)
	{
		const uint32_t v = modularity.queue[q];
		long long	strength,
					inside;

		__syncthreads();
		if (__syncthreads_or(threadIdx.x == 0 && must_leave(step)))
			break;
		if (threadIdx.x < 2)
			sums[threadIdx.x] = 0;
		__syncthreads();
		weigh_list(modularity, v, threadIdx.x, BLOCK_THREADS, &strength, &inside);
		strength = (long long) warp_sum((unsigned long long) strength);
		inside = (long long) warp_sum((unsigned long long) inside);
		if (lane_number() == 0)
		{
			atomicAdd(&sums[0], (unsigned long long) strength);
			atomicAdd(&sums[1], (unsigned long long) inside);
		}
		__syncthreads();
		if (threadIdx.x == 0)
		{
			set_sums(modularity, v, (long long) sums[0], (long long) sums[1]);
			whole += sums[0];
		}
	}
	block_add(modularity.nqueued + 1, whole);
}

/* Turn sums into contributions. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
modularity_part_kernel(Modularity modularity)
{
	const double whole = (double) (long long) modularity.nqueued[1];

	for_each(modularity.nvertices, [&](uint64_t v) {
		modularity.value[v] =
			emogi_communities_part_of(modularity.resolution, (double) modularity.inside[v],
									  (double) modularity.strength[v],
									  (double) modularity.total[modularity.community[v]], whole);
	});
}

/* Take the arrays, and copy the communities to the device. */
static EmogiStatus
take_arrays(Run *run, const EmogiQuery *query, Modularity *modularity, EmogiError *error)
{
	const uint64_t n = run->nvertices;

	modularity->bits = 5;
	while (UINT64_C(1) << modularity->bits < 2 * n)
		modularity->bits++;
	if (modularity->bits > 32)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the graph has too many vertices for communities on the GPU",
								 "%llu vertices", (unsigned long long) n);
	TRY(take_array(&run->memory, &modularity->value, n, "communities", error));
	TRY(take_array(&run->memory, &modularity->community, 2 * n, "numbers of communities", error));
	TRY(take_array(&run->memory, &modularity->strength, 2 * n + 2, "sums of weights", error));
	TRY(take_array(&run->memory, &modularity->key, UINT64_C(2) << modularity->bits,
				   "table of communities", error));
	modularity->queue = modularity->community + n;
	modularity->inside = modularity->strength + n;
	modularity->nqueued = (unsigned long long *) modularity->strength + 2 * n;
	modularity->total = (long long *) modularity->key + (UINT64_C(1) << modularity->bits);
	return emogi_run_send(run, modularity->value, query->values, n * sizeof *modularity->value,
						  error);
}

EmogiStatus
emogi_cuda_modularity(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					  EmogiResult *result, EmogiError *error)
{
	static const EmogiWeightUnits units[] = {EMOGI_UNITS_ONE, EMOGI_UNITS_U8, EMOGI_UNITS_U16,
											 EMOGI_UNITS_U32};	/* by EmogiWeightType */
	const cudaStream_t stream = run->state->stream;
	Modularity	modularity = {};

	TRY(take_arrays(run, query, &modularity, error));
	TRY(emogi_run_place(run, graph, query,
						graph->weight_type == EMOGI_WEIGHT_NONE ? 0 : PLACE_WEIGHTS, NULL, 0,
						sizeof(Target), error));
	modularity.lists = run->graph.forward;
	modularity.units = units[graph->weight_type];
	modularity.nvertices = run->nvertices;
	modularity.resolution = query->resolution;
	TRY(emogi_run_start_clock(run, error));
	CUDA_TRY(cudaMemsetAsync(modularity.nqueued, 0, 2 * sizeof *modularity.nqueued, stream));
	CUDA_LAUNCH(modularity_clear_kernel, run->full_blocks, BLOCK_THREADS, stream, modularity);
	CUDA_LAUNCH(modularity_number_kernel, run->full_blocks, BLOCK_THREADS, stream, modularity);
	CUDA_LAUNCH(modularity_short_kernel, run->full_blocks, BLOCK_THREADS, stream, modularity);
	CUDA_LAUNCH(modularity_long_kernel, run->full_blocks, BLOCK_THREADS, stream, modularity,
				run->step);
	CUDA_LAUNCH(modularity_part_kernel, run->full_blocks, BLOCK_THREADS, stream, modularity);
	TRY(emogi_run_stop_clock(run, result, error));
	result->nreached = run->nvertices;
	result->nlevels = 1;
	result->edges_traversed = graph->forward.nedges;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		result->link_bytes = graph->forward.nedges * sizeof(Target);
	return emogi_run_give(run, query, result, 0, modularity.value, error);
}
