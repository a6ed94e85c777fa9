/*
 * segments.cu: cuts lists by segments of their targets.
 *
 * Method. Lists ascend, so what a list has in a segment is one run of it: a thread a list finds the runs' ends by binary
 * search, a running sum over all runs, segment by segment, gives the cut offsets, and warps copy chunks of the cut
 * lists from where they come from.
 *
 * Bytes, for n vertices, m edges and s segments: 4m read and 4m written; 16 n s for the search and the running sum each;
 * 16 n s for the copy. It takes as long as one or two sweeps.
 */
#include "segments.cuh"

#define MIN_SWEEPS 4			/* for which it pays */
#define MIN_PART 4				/* mean entries of a run: shorter ones cost more in offsets and sums than they save */
#define L2_SHARE 2				/* a segment's values fill one part in so many of the second-level cache */
#define TILE_ROUNDS 256			/* of a warp in the running sum */
#define TILE (TILE_ROUNDS * WARP_LANES)

/* Count what each list has in each segment. Bytes: see above; the lists' lines, most of them once. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
count_parts(Lists<Target> lists, uint64_t nvertices, Cut cut, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t base = own - lane_number(); base < nvertices; base += nthreads)
	{
		const uint64_t v = base + lane_number();
		uint64_t	low = v < nvertices ? lists.offsets[v] : 0;
		const uint64_t end = v < nvertices ? lists.offsets[v + 1] : 0;

		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		for (uint32_t s = 0; v < nvertices && s < cut.nsegments; s++)
		{
			const uint64_t start = low;
			uint64_t	high = end;	/* the first entry beyond segment s is in low .. high */

			if (s + 1 == cut.nsegments)
				low = end;
			while (low < high)
			{
				const uint64_t middle = low + (high - low) / 2;

				if (__ldg(&lists.targets[middle]) < (s + 1) * cut.width)
					low = middle + 1;
				else
					high = middle;
			}
			cut.offsets[s * nvertices + v] = low - start;
		}
	}
}

/* Sum over the lanes up to and including the own one. */
static __device__ __forceinline__ uint64_t
running_sum_wide(uint64_t value)
{
#pragma unroll
	for (uint32_t step = 1; step < WARP_LANES; step *= 2)
	{
		const uint64_t other = __shfl_up_sync(FULL_WARP, (unsigned long long) value, step);

		if (lane_number() >= step)
			value += other;
	}
	return value;
}

/* Turn numbers first .. upto - 1 into the sums before them, on top of `carry`. Get the sum of all. Whole warp. */
static __device__ __forceinline__ uint64_t
sum_before(uint64_t *number, uint64_t first, uint64_t upto, uint64_t carry)
{
	for (uint64_t base = first; base < upto; base += WARP_LANES)
	{
		const uint64_t i = base + lane_number();
		const uint64_t value = i < upto ? number[i] : 0;
		const uint64_t sum = running_sum_wide(value);

		if (i < upto)
			number[i] = carry + sum - value;
		carry += __shfl_sync(FULL_WARP, (unsigned long long) sum, WARP_LANES - 1);
	}
	return carry;
}

/* Sum tiles of TILE counts, a warp each. Bytes: 8 a cut list. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
sum_tiles(Cut cut)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t t = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; t < cut.ntiles; t += nwarps)
	{
		unsigned long long sum = 0;

		for (uint64_t i = t * TILE + lane_number(); i < cut.nlists && i < (t + 1) * TILE; i += WARP_LANES)
			sum += cut.offsets[i];
		sum = warp_sum(sum);
		if (lane_number() == 0)
			cut.tile[t] = sum;
	}
}

/* Turn the tiles' sums into the sums before them, in one warp. Bytes: 16 a tile. */
static __global__ void __launch_bounds__(WARP_LANES)
scan_tiles(Cut cut)
{
	(void) sum_before(cut.tile, 0, cut.ntiles, 0);
}

/* Turn the counts into offsets. Bytes: 16 a cut list. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
scan_counts(Cut cut)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t t = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES; t < cut.ntiles; t += nwarps)
	{
		const uint64_t upto = (t + 1) * TILE < cut.nlists ? (t + 1) * TILE : cut.nlists;
		const uint64_t sum = sum_before(cut.offsets, t * TILE, upto, cut.tile[t]);

		if (upto == cut.nlists && lane_number() == 0)
			cut.offsets[upto] = sum;
	}
}

/* Copy entries to the cut lists. Bytes: 4 read in pieces of runs and 4 written an entry; 8 s / 2 a run. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
copy_parts(Lists<Target> lists, uint64_t nvertices, Cut cut, uint64_t nchunks, Step step)
{
	sweep_chunks(step, 0, nchunks, [&](uint64_t chunk) {
		walk_chunk(cut.lists, cut.nlists, chunk, cut.list[chunk],
				   [&](uint64_t own, uint64_t start, uint64_t stop, uint64_t low, uint64_t high) {
			const uint32_t size = low < high ? (uint32_t) (high - low) : 0;
			const uint32_t upto = running_sum(size);
			const uint32_t total = __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
			const uint64_t v = size > 0 ? (uint32_t) own % (uint32_t) nvertices : 0;
			uint64_t	from = size > 0 ? lists.offsets[v] + (low - start) : 0;

			for (uint64_t before = v; size > 0 && before < own; before += nvertices)
				from += cut.lists.offsets[before + 1] - cut.lists.offsets[before];
			from -= upto - size;	/* entry i of these is entry from + i; may wrap */
			low -= upto - size;
			for (uint32_t base = 0; base < total; base += WARP_LANES)
			{
				const uint32_t i = base + lane_number();
				uint32_t	owner = 0;	/* the first lane with upto > i */
				uint64_t	its_from;
				uint64_t	its_low;

#pragma unroll
				for (uint32_t half = WARP_LANES / 2; half > 0; half /= 2)
					if (__shfl_sync(FULL_WARP, upto, owner + half - 1) <= i)
						owner += half;
				its_from = __shfl_sync(FULL_WARP, (unsigned long long) from, owner);
				its_low = __shfl_sync(FULL_WARP, (unsigned long long) low, owner);
				if (i < total)
					cut.targets[its_low + i] = __ldg(&lists.targets[its_from + i]);
			}
		});
	});
}

EmogiStatus
emogi_cut_load(EmogiError *error)
{
	const void *const kernels[] = {
		(const void *) count_parts, (const void *) sum_tiles, (const void *) scan_tiles, (const void *) scan_counts,
		(const void *) find_lists, (const void *) copy_parts
	};

	return LOAD_KERNELS(kernels);
}

/* Choose the number of segments; 1 when it does not pay. */
static EmogiStatus
choose_segments(Run *run, uint64_t nsweeps, Cut *cut, EmogiError *error)
{
	const uint64_t value_bytes = run->nvertices * sizeof(double);
	const uint64_t most = run->graph.forward.nedges / (MIN_PART * run->nvertices);
	uint64_t	nsegments;
	int			cache_bytes = 0;

	CUDA_TRY(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, run->state->device));
	cut->nsegments = 1;
	if (nsweeps < MIN_SWEEPS || run->graph.placement != EMOGI_PLACEMENT_DEVICE || cache_bytes <= 0 ||
		value_bytes < (uint64_t) cache_bytes / 2 * 3)
		return EMOGI_OK;
	nsegments = (value_bytes * L2_SHARE + cache_bytes - 1) / cache_bytes;
	if (nsegments > most)
		nsegments = most;
	/* Values that do not fit at all are not worth the work; numbers of lists are 32 bits. */
	if (nsegments < 2 || value_bytes / nsegments > (uint64_t) cache_bytes ||
		nsegments * run->nvertices > EMOGI_MAX_VERTICES)
		return EMOGI_OK;
	cut->nsegments = (uint32_t) nsegments;
	cut->width = (run->nvertices + nsegments - 1) / nsegments;
	return EMOGI_OK;
}

/* Take the arrays. Get whether there was room for all; otherwise nothing is taken. */
static EmogiStatus
take_cut(Run *run, Cut *cut, bool *taken, EmogiError *error)
{
	DeviceMemory *memory = &run->memory;
	const int	nblocks = memory->nblocks;
	const uint64_t nentries = (cut->lists.nedges + ENTRIES - 1) / ENTRIES * ENTRIES;
	const uint64_t bytes = nentries * sizeof(Target) + (2 * cut->nlists + 1 + cut->ntiles) * sizeof(uint64_t);
	uint64_t	left_bytes;
	EmogiStatus status = EMOGI_NO_MEMORY;

	TRY(emogi_memory_left(memory, &left_bytes, error));
	if (bytes + emogi_resident_idle_bytes(run->state) <= left_bytes)
	{
		status = take_array(memory, &cut->offsets, cut->nlists + 1, "offsets of cut lists", error);
		if (status == EMOGI_OK)
			status = take_array(memory, &cut->tile, cut->ntiles, "sums of tiles", error);
		if (status == EMOGI_OK)
			status = take_array(memory, &cut->targets, nentries, "targets of cut lists", error);
		if (status == EMOGI_OK)
			status = take_array(memory, &cut->sum, cut->nlists, "sums of cut lists", error);
	}
	*taken = status == EMOGI_OK;
	if (status != EMOGI_NO_MEMORY)
		return status;
	emogi_memory_release(memory, nblocks);
	return EMOGI_OK;
}

EmogiStatus
emogi_cut_open(Run *run, uint64_t nsweeps, uint32_t *list, Cut *cut, EmogiError *error)
{
	bool		taken = false;

	cut->lists = run->graph.forward;
	cut->list = list;
	TRY(choose_segments(run, nsweeps, cut, error));
	cut->nlists = cut->nsegments * run->nvertices;
	cut->ntiles = (cut->nlists + TILE - 1) / TILE;
	if (cut->nsegments > 1)
		TRY(take_cut(run, cut, &taken, error));
	if (taken)
		cut->lists = Lists<Target>{cut->offsets, cut->targets, NULL, cut->lists.nedges};
	else
	{
		cut->nsegments = 1;
		cut->nlists = run->nvertices;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_cut_lists(Run *run, const Cut *cut, EmogiError *error)
{
	const Lists<Target> lists = run->graph.forward;
	const uint64_t nchunks = (lists.nedges + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES;
	cudaStream_t stream = run->state->stream;

	/* One step: a kernel that leaves early makes the next ones leave, which must not believe what it left. */
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(count_parts, run->full_blocks, BLOCK_THREADS, stream, lists, run->nvertices, *cut, run->step);
	CUDA_LAUNCH(sum_tiles, run->full_blocks, BLOCK_THREADS, stream, *cut);
	CUDA_LAUNCH(scan_tiles, 1, WARP_LANES, stream, *cut);
	CUDA_LAUNCH(scan_counts, run->full_blocks, BLOCK_THREADS, stream, *cut);
	CUDA_LAUNCH(find_lists, run->full_blocks, BLOCK_THREADS, stream, cut->offsets, cut->nlists, nchunks, cut->list);
	CUDA_LAUNCH(copy_parts, run->full_blocks, BLOCK_THREADS, stream, lists, run->nvertices, *cut, nchunks, run->step);
	return emogi_cuda_wait(run->state, run->control, error);
}
