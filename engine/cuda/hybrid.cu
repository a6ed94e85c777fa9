/*
 * hybrid.cu: chooses the heads of lists.
 *
 * The targets come to a stage in device memory, some MB at a time, at the speed of a pinned copy; a warp then looks at
 * each list in the stage. The lanes take every 32nd entry and remember the one with the longest list of its own; these 32
 * compete. So the head is exact for lists up to 32 entries; of a longer one it has the best, and the others nearly so.
 */
#include "hybrid.cuh"
#include "run.cuh"

#define STAGE_BLOCKS 16			/* a multiprocessor, of kernels that read the stage */
#define NEAR_VERTICES (UINT64_C(1) << 24)	/* between two looks at cancel: some 15 ms */
#define SEARCHED_ENTRIES 4096	/* of a longer list no more: surely some of them have long lists */

static_assert(HEAD_MOST <= WARP_LANES, "the head of a list is chosen from one entry a lane");

/* Get the greatest value among the lanes. */
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
 * Choose the heads of the lists of vertices [first, last), whose entries [start, end) of the targets are staged. Bytes:
 * for each entry 4 of the stage and 16 random ones of offsets; for each vertex 16 of offsets and 4 * length of heads.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
choose_heads(const uint64_t *offsets, const Target *stage, uint64_t start, uint64_t end, uint64_t first, uint64_t last,
			 uint32_t length, Target *heads)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t own = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;

	for (uint64_t vertex = first + own; vertex < last; vertex += nwarps)
	{
		const uint64_t low = __ldg(&offsets[vertex]);
		uint64_t	high = __ldg(&offsets[vertex + 1]);
		unsigned long long best = 0;	/* length of the target's list + 1, target */

		high = high < end ? high : end;
		if (high > low + SEARCHED_ENTRIES)
			high = low + SEARCHED_ENTRIES;
		for (uint64_t i = low + lane_number(); i < high; i += WARP_LANES)
		{
			const Target target = __ldg(&stage[i - start]);
			const uint64_t degree = __ldg(&offsets[(uint64_t) target + 1]) - __ldg(&offsets[target]);
			const unsigned long long key = ((degree < UINT32_MAX ? degree : UINT32_MAX - 1) + 1) << 32 | target;

			if (key > best)
				best = key;
		}
		for (uint32_t j = 0; j < length; j++)
		{
			const unsigned long long next = warp_max(best);
			const uint32_t lanes = __ballot_sync(FULL_WARP, best == next);

			if (lane_number() == __ffs(lanes) - 1)
			{
				heads[(vertex / WARP_LANES * length + j) * WARP_LANES + vertex % WARP_LANES] =
					next != 0 ? (Target) next : EMOGI_NO_VERTEX;
				best = 0;
			}
		}
	}
}

static const void *const kernels[] = {(const void *) choose_heads};

EmogiStatus
emogi_heads_load(EmogiError *error)
{
	return LOAD_KERNELS(kernels);
}

/* Choose the heads of some lists, of which so many entries are staged. */
static EmogiStatus
launch(EmogiEngineState *state, const uint64_t *offsets, const Target *stage, Span staged, Span vertices, uint32_t length,
	   uint32_t *heads, EmogiError *error)
{
	const uint64_t most = (uint64_t) STAGE_BLOCKS * state->units;
	uint64_t	nblocks = (vertices.end - vertices.start + BLOCK_WARPS - 1) / BLOCK_WARPS;

	if (nblocks > most)
		nblocks = most;
	CUDA_LAUNCH(choose_heads, (int) nblocks, BLOCK_THREADS, state->stream, offsets, stage, staged.start, staged.end,
				vertices.start, vertices.end, length, heads);
	return EMOGI_OK;
}

/* Find the last vertex up to which all lists from `first` on fit the stage; at least the next one. */
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
emogi_choose_heads(EmogiEngineState *state, uint64_t nvertices, const EmogiAdjacency *adjacency, const uint64_t *offsets,
				   uint32_t length, uint32_t *heads, DeviceMemory *memory, EmogiControl *control, EmogiError *error)
{
	const uint64_t capacity = head_stage_bytes(adjacency) / sizeof *heads;	/* entries */
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
			end = start + capacity; /* of one long list */
		TRY(emogi_cuda_copy(state, stage, adjacency->targets + start, (end - start) * sizeof *stage,
							cudaMemcpyHostToDevice, control, error));
		TRY(launch(state, offsets, stage, Span{start, end}, Span{first, last}, length, heads, error));
	}
	TRY(emogi_cuda_wait(state, control, error));
	emogi_memory_release(memory, nheld);
	return EMOGI_OK;
}

EmogiStatus
emogi_choose_near_heads(EmogiEngineState *state, uint64_t nvertices, const Lists<uint32_t> *lists, uint32_t length,
						uint32_t *heads, EmogiControl *control, EmogiError *error)
{
	for (uint64_t first = 0; first < nvertices; first += NEAR_VERTICES)
	{
		const uint64_t last = nvertices - first < NEAR_VERTICES ? nvertices : first + NEAR_VERTICES;

		TRY(launch(state, lists->offsets, lists->targets, Span{0, lists->nedges}, Span{first, last}, length, heads, error));
		TRY(emogi_cuda_wait(state, control, error));
	}
	return EMOGI_OK;
}
