/*
 * hybrid.cu: selection of the prefixes of adjacency lists: some of the targets of each list.
 *
 * The targets are copied to a staging buffer in device memory, some MB at a time, at the speed of a
 * pinned copy; then a warp examines each list in the buffer. Each lane takes every 32nd edge and
 * remembers the target with the longest list of its own; the prefix is the best of these 32. So the
 * prefix is exact for lists of up to 32 edges; for a longer list it contains the best target, and
 * nearly the best of the others.
 */
#include "cuda/placement/hybrid.cuh"
#include "cuda/core/run.cuh"

static_assert(PREFIX_MAX <= WARP_LANES, "the prefix of a list is chosen from one entry a lane");

/* Return the maximum over the lanes. */
static __device__ __forceinline__ unsigned long long
warp_max(unsigned long long value)
{
#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		const unsigned long long other = __shfl_xor_sync(FULL_WARP, value, step);

		if (other > value)
			value = other;
	}
	return value;
}

/*
 * Choose the prefixes of a range of vertices whose edges are staged. Bytes: per edge 4 of the
 * staging buffer and 16 random ones of offsets; per vertex 16 of offsets and 4 * length of
 * prefixes.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hybrid_choose_kernel(const uint64_t *offsets, const Target *stage, Span staged, Span vertices,
					 uint32_t length, Target *prefixes)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t own = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;

	for (uint64_t vertex = vertices.start + own; vertex < vertices.end; vertex += nwarps)
	{
		const uint64_t low = __ldg(&offsets[vertex]);
		uint64_t	high = __ldg(&offsets[vertex + 1]);
		unsigned long long best = 0;	/* length of the target's list + 1, target */

		high = high < staged.end ? high : staged.end;
		if (high > low + SEARCHED_ENTRIES)
			high = low + SEARCHED_ENTRIES;
		for (uint64_t i = low + lane_number(); i < high; i += WARP_LANES)
		{
			const Target target = __ldg(&stage[i - staged.start]);
			const uint64_t degree = __ldg(&offsets[(uint64_t) target + 1]) -
				__ldg(&offsets[target]);
			const unsigned long long key = ((degree < UINT32_MAX ? degree :
											 UINT32_MAX - 1) + 1) << 32 | target;

			if (key > best)
				best = key;
		}
		for (uint32_t j = 0; j < length; j++)
		{
			const unsigned long long next = warp_max(best);
			const uint32_t lanes = __ballot_sync(FULL_WARP, best == next);

			if (lane_number() == __ffs(lanes) - 1)
			{
				prefixes[(vertex / WARP_LANES * length + j) * WARP_LANES + vertex % WARP_LANES] =
					next != 0 ? (Target) next : EMOGI_NO_VERTEX;
				best = 0;
			}
		}
	}
}

/* Launch the selection for a range of vertices whose edges are staged. */
static EmogiStatus
launch(const PrefixChoice *choice, const Target *stage, Span staged, Span vertices,
	   EmogiError *error)
{
	const uint64_t max_blocks = (uint64_t) STAGE_BLOCKS * choice->state->units;
	uint64_t	nblocks = (vertices.end - vertices.start + BLOCK_WARPS - 1) / BLOCK_WARPS;

	if (nblocks > max_blocks)
		nblocks = max_blocks;
	CUDA_LAUNCH(hybrid_choose_kernel, (int) nblocks, BLOCK_THREADS, choice->state->stream,
				choice->offsets, stage, staged, vertices, choice->length, choice->prefixes);
	return EMOGI_OK;
}

/*
 * Return the last vertex such that all lists from `first` up to it fit in the staging buffer; at
 * least first + 1.
 */
static uint64_t
fill_stage(const uint64_t *offsets, uint64_t nvertices, uint64_t first, uint64_t capacity)
{
	uint64_t	low = first + 1;
	uint64_t	high = nvertices;

	while (low < high)
	{
		const uint64_t middle = low + (high - low + 1) / 2;

		if (offsets[middle] - offsets[first] <= capacity)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

EmogiStatus
emogi_hybrid_choose(const PrefixChoice *choice, const EmogiAdjacency *adjacency,
					DeviceMemory *memory, EmogiError *error)
{
	const uint64_t nvertices = choice->nvertices;
	const uint64_t capacity = prefix_stage_bytes(adjacency) / sizeof(Target);	/* edges */
	const int	nheld = memory->nblocks;
	Target	   *stage;

	TRY(take_array(memory, &stage, capacity, "stage of lists", error));
	for (uint64_t first = 0, last; first < nvertices; first = last)
	{
		const uint64_t start = adjacency->offsets[first];
		uint64_t	end;

		last = fill_stage(adjacency->offsets, nvertices, first, capacity);
		end = adjacency->offsets[last];
		if (end - start > capacity)
			end = start + capacity;	/* of one long list */
		TRY(emogi_cuda_copy(choice->state, stage, adjacency->targets + start,
							(end - start) * sizeof *stage, cudaMemcpyHostToDevice, choice->control,
							error));
		TRY(launch(choice, stage, Span{start, end}, Span{first, last}, error));
	}
	TRY(emogi_cuda_wait(choice->state, choice->control, error));
	emogi_memory_release(memory, nheld);
	return EMOGI_OK;
}

EmogiStatus
emogi_hybrid_choose_near(const PrefixChoice *choice, const Lists<uint32_t> *lists,
						 EmogiError *error)
{
	const uint64_t nvertices = choice->nvertices;

	for (uint64_t first = 0; first < nvertices; first += NEAR_VERTICES)
	{
		const uint64_t last = nvertices - first < NEAR_VERTICES ? nvertices : first + NEAR_VERTICES;

		TRY(launch(choice, lists->targets, Span{0, lists->nedges}, Span{first, last}, error));
		TRY(emogi_cuda_wait(choice->state, choice->control, error));
	}
	return EMOGI_OK;
}
