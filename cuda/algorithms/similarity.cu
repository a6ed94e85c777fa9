/*
 * similarity.cu: neighborhood similarity of given pairs of vertices. Without pairs:
 * similarity_all.cu.
 *
 * Returns vertex2[npairs], the second vertex of a pair, EMOGI_NO_VERTEX if the similarity is below
 * the cutoff, and similarity[npairs]. Lists ascend, so a set is a list without its repeats.
 *
 * Method. Each entry of the shorter list of a pair is searched in the longer one, a piece of
 * adjacent entries at a time, by interleaved binary searches [1]. LINE_LANES lanes process a pair
 * whose shorter list is short; other pairs are cut into parts of PART_ENTRIES, one warp each. The
 * size of a set is counted once for each vertex in a pair. All counts are integers, so they do not
 * depend on the schedule; the division is the CPU engine's, bit for bit.
 *
 * Device memory, for n vertices, m entries and p pairs: 4n, 24p, and 8 bytes a part of a pair.
 *
 * Bytes: 8 and 32 of offsets and 12 of the result a pair; the list of each vertex in a pair, in
 * lines; the shorter list of each pair, in lines, and log2 of the longer list's length reads an
 * entry, in few places.
 *
 * [1] O. Green, P. Yalamanchili, L. Munguia: Fast Triangle Counting on the GPU. IA3 2014: there
 *     both lists are cut.
 */
#include "cuda/access/edge_chunks.cuh"
#include "cuda/access/set_reads.cuh"
#include "cuda/access/prefix_sum.cuh"
#include "cuda/algorithms/similarity.cuh"

#define SHORT_LIST 64			/* max length of a shorter list that LINE_LANES lanes process */
#define PART_ENTRIES 1024		/* part of a longer one for a warp */
#define MAX_PARTS (UINT64_C(1) << 31)	/* of a launch: tickets have 32 bits, and every warp
										 * takes one too many */

/* Arrays in device memory. */
typedef struct Similarities
{
	uint64_t	npairs;
	const uint2 *pairs;			/* [npairs] */
	uint32_t   *size;	/* [nvertices]: number of distinct neighbors, for vertices in a pair */
	uint32_t   *marked;			/* bitmap: vertices in a pair */
	uint32_t   *nshared;		/* [npairs] */
	uint64_t   *parts;			/* [npairs + 1]: parts of each pair with a long shorter list;
								 * then prefix sums */
	uint64_t   *tile;			/* scratch of the prefix sums */
	uint32_t   *vertex2;		/* [npairs] */
	double	   *similarity;		/* [npairs] */
} Similarities;

/* The lists of a pair, the shorter one first. */
typedef struct Pair
{
	Span		list;
	Span		other;
} Pair;

/* Get the lists of a pair, empty ones if it is not `there`. */
static __device__ __forceinline__ Pair
read_pair(const Lists<Target> &lists, const Similarities &all, uint64_t i, bool there)
{
	const uint2 pair = there ? __ldg(&all.pairs[i]) : make_uint2(0, 0);
	const Span	a = {__ldg(&lists.offsets[pair.x]), __ldg(&lists.offsets[(uint64_t) pair.x + 1])};
	const Span	b = {__ldg(&lists.offsets[pair.y]), __ldg(&lists.offsets[(uint64_t) pair.y + 1])};

	if (!there)
		return Pair{{0, 0}, {0, 0}};
	return a.end - a.start <= b.end - b.start ? Pair{a, b} : Pair{b, a};
}

/*
 * Count the wanted targets that are in a list. The searches run in lockstep, so that their reads
 * overlap.
 */
static __device__ __forceinline__ uint32_t
count_found(const Target *targets, Span list, const Target (&target)[PIECE], uint32_t wanted)
{
	uint64_t	low[PIECE];
	uint32_t	nfound = 0;

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		low[j] = list.start;
	for (uint64_t left = wanted != 0 ? list.end - list.start : 0; left > 0; left /= 2)
	{
		const uint64_t half = left / 2;

		/*
		 * the position of each target is in low .. low + left. If left is odd, both halves have the
		 * same length; otherwise the lower half is longer.
		 */
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if ((wanted >> j & 1) && low[j] + half < list.end &&
				__ldg(&targets[low[j] + half]) < target[j])
				low[j] += half + 1;
	}
#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		nfound += (wanted >> j & 1) && low[j] < list.end && __ldg(&targets[low[j]]) == target[j];
	return nfound;
}

/*
 * Count the entries of `part` of the shorter list that are in the longer one, with groups of nlanes
 * lanes. Called by whole warps.
 */
static __device__ __forceinline__ uint32_t
count_shared(const Target *targets, const Pair &pair, Span part, uint32_t nlanes)
{
	uint32_t	nshared = 0;

	walk_distinct(targets, pair.list, part, EMOGI_NO_VERTEX, lane_number() % nlanes, nlanes,
				  [&](const Target (&target)[PIECE], uint32_t wanted) {
		nshared += count_found(targets, pair.other, target, wanted);
	});
	for (uint32_t step = nlanes / 2; step > 0; step /= 2)
		nshared += __shfl_xor_sync(FULL_WARP, nshared, step);
	return nshared;
}

/*
 * Count the distinct entries of a list, or of part of one, with groups of nlanes lanes. Called by
 * whole warps.
 */
static __device__ __forceinline__ uint32_t
count_set(const Target *targets, Span list, Span part, uint32_t nlanes)
{
	uint32_t	size = 0;

	walk_distinct(targets, list, part, EMOGI_NO_VERTEX, lane_number() % nlanes, nlanes,
				  [&](const Target (&target)[PIECE], uint32_t wanted) { size += __popc(wanted); });
	for (uint32_t step = nlanes / 2; step > 0; step /= 2)
		size += __shfl_xor_sync(FULL_WARP, size, step);
	return size;
}

/*
 * Remove the first WARP_LINES lanes from `lanes`, and return the one for this lane's group,
 * WARP_LANES = none.
 */
static __device__ __forceinline__ uint32_t
take_lane(uint32_t *lanes)
{
	uint32_t	lane = WARP_LANES;

#pragma unroll
	for (uint32_t g = 0; g < WARP_LINES; g++)
	{
		if (g == lane_number() / LINE_LANES && *lanes != 0)
			lane = __ffs(*lanes) - 1;
		*lanes &= *lanes - 1;
	}
	return lane;
}

/* Get the span of another lane, an empty one for lane WARP_LANES. Called by whole warps. */
static __device__ __forceinline__ Span
shuffle_span(Span span, uint32_t lane)
{
	const Span	its = {__shfl_sync(FULL_WARP, span.start, lane % WARP_LANES),
		__shfl_sync(FULL_WARP, span.end, lane % WARP_LANES)};

	return lane < WARP_LANES ? its : Span{0, 0};
}

/*
 * Count the distinct neighbors of marked vertices. Long lists are queued. Bytes: 16 of offsets and
 * 4 a vertex, and the lists, in lines.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_sizes_kernel(Lists<Target> lists, const uint32_t *marked, uint32_t *size,
						uint64_t nwords, Step step)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_words(step, marked, 0, nwords, [&](uint64_t word, uint32_t bits) {
		const uint64_t vertex = word * 32 + lane_number();
		Span		list = {0, 0};
		uint64_t	nlines;
		uint32_t	lanes;

		if (bits >> lane_number() & 1)
			list = Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[vertex + 1])};
		nlines = count_lines<Target>(list);
		nread += nlines;
		entries += list.end - list.start;
		queue_slices(step, nlines > SLICE_LINES, (uint32_t) vertex, nlines, 0);
		lanes = __ballot_sync(FULL_WARP, nlines > 0 && nlines <= SLICE_LINES);
		while (lanes != 0)
		{
			const uint32_t lane = take_lane(&lanes);
			const Span	span = shuffle_span(list, lane);
			const uint32_t its_size = count_set(lists.targets, span, span, LINE_LANES);

			if (lane < WARP_LANES && lane_number() % LINE_LANES == 0)
				size[word * 32 + lane] = its_size;
		}
	});
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Count the slices of long lists. Bytes: the lists, in lines. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_slices_kernel(Lists<Target> lists, uint32_t *size, Step step)
{
	sweep_slices(step, [&](Slice slice) {
		const Span	list = {__ldg(&lists.offsets[slice.vertex]),
			__ldg(&lists.offsets[(uint64_t) slice.vertex + 1])};
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, list, &first);
		const uint32_t its_size = count_set(lists.targets, list, clip_slice(list, first, nlines),
											WARP_LANES);

		if (lane_number() == 0)
			atomicAdd(&size[slice.vertex], its_size);
	});
}

/*
 * Count the common neighbors of pairs with a short list, 32 pairs a warp, and the parts of the
 * other pairs. Bytes: see the head of the file.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_short_kernel(Lists<Target> lists, Similarities all, Step step)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_chunks(step, 0, (all.npairs + 31) / 32, [&](uint64_t word) {
		const uint64_t i = word * 32 + lane_number();
		const bool	there = i < all.npairs;
		const Pair	pair = read_pair(lists, all, i, there);
		const uint64_t length = pair.list.end - pair.list.start;
		const bool	is_long = length > SHORT_LIST;
		uint32_t	lanes = __ballot_sync(FULL_WARP, there && !is_long);

		nread += count_lines<Target>(pair.list);
		entries += length;
		if (there)
			all.parts[i] = is_long ? (length + PART_ENTRIES - 1) / PART_ENTRIES : 0;
		if (there && is_long)
			all.nshared[i] = 0;
		while (lanes != 0)
		{
			const uint32_t lane = take_lane(&lanes);
			const Pair	its = {shuffle_span(pair.list, lane), shuffle_span(pair.other, lane)};
			const uint32_t nshared = count_shared(lists.targets, its, its.list, LINE_LANES);

			if (lane < WARP_LANES && lane_number() % LINE_LANES == 0)
				all.nshared[word * 32 + lane] = nshared;
		}
	});
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Find the pair of a part. */
static __device__ __forceinline__ uint64_t
find_pair(const Similarities &all, uint64_t part)
{
	uint64_t	low = 0;
	uint64_t	high = all.npairs;	/* parts[low] <= part < parts[high] */

	while (high - low > 1)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (__ldg(&all.parts[middle]) <= part)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Count the common neighbors in parts first .. upto - 1 of longer pairs, one warp each. Bytes: see
 * the head of the file.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_long_kernel(Lists<Target> lists, Similarities all, uint64_t first, uint64_t upto,
					   Step step)
{
	sweep_chunks(step, first, upto, [&](uint64_t part) {
		const uint64_t i = find_pair(all, part);
		const Pair	pair = read_pair(lists, all, i, true);
		const uint64_t from = pair.list.start / ENTRIES * ENTRIES +
			(part - all.parts[i]) * PART_ENTRIES;
		const uint64_t upto = from + PART_ENTRIES + (part + 1 == all.parts[i + 1] ? ENTRIES : 0);
		const Span	own = {from > pair.list.start ? from : pair.list.start,
			upto < pair.list.end ? upto : pair.list.end};
		const uint32_t nshared = count_shared(lists.targets, pair, own, WARP_LANES);

		if (lane_number() == 0 && nshared > 0)
			atomicAdd(&all.nshared[i], nshared);
	});
}

/* Turn counts into similarities. Bytes: 32 a pair. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
similarity_divide_kernel(Similarities all, EmogiMeasure measure, double cutoff)
{
	for_each(all.npairs, [&](uint64_t i) {
		const uint2 pair = all.pairs[i];
		const double similarity = similarity_of(measure, all.size[pair.x], all.size[pair.y],
												all.nshared[i]);

		all.vertex2[i] = similarity >= cutoff ? pair.y : EMOGI_NO_VERTEX;
		all.similarity[i] = similarity;
	});
}

/* They read edges, with as many blocks as fit on the device. */
static const void *const edge_kernels[] = {
	(const void *) similarity_sizes_kernel, (const void *) similarity_slices_kernel,
	(const void *) similarity_short_kernel, (const void *) similarity_long_kernel
};

/* Take all device memory, and copy the pairs. */
static EmogiStatus
take_arrays(Run *run, const EmogiQuery *query, Similarities *all, EmogiError *error)
{
	DeviceMemory *memory = &run->memory;
	const uint64_t npairs = query->npairs;
	uint2	   *pairs;

	all->npairs = npairs;
	TRY(take_array(memory, &pairs, npairs, "pairs", error));
	TRY(take_array(memory, &all->size, run->nvertices, "sizes of sets", error));
	TRY(take_array(memory, &all->marked, run->nwords, "bitmap of pairs' vertices", error));
	TRY(take_array(memory, &all->nshared, npairs, "counts", error));
	TRY(take_array(memory, &all->parts, npairs + 1 + count_tiles(npairs + 1), "parts of pairs",
				   error));
	TRY(take_array(memory, &all->vertex2, npairs, "vertices", error));
	TRY(take_array(memory, &all->similarity, npairs, "similarities", error));
	all->pairs = pairs;
	all->tile = all->parts + npairs + 1;
	return emogi_run_send(run, pairs, query->pairs, npairs * sizeof *pairs, error);
}

EmogiStatus
emogi_similarity_count_sets(Run *run, const uint32_t *marked, uint32_t *size, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(size, 0, run->nvertices * sizeof *size, stream));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(similarity_sizes_kernel, run->nblocks, BLOCK_THREADS, stream, run->graph.forward,
				marked, size, run->nwords, run->step);
	CUDA_LAUNCH(similarity_slices_kernel, run->nblocks, BLOCK_THREADS, stream, run->graph.forward,
				size, run->step);
	return EMOGI_OK;
}

/* Count the sets of the vertices in pairs. */
static EmogiStatus
count_sizes(Run *run, const Similarities *all, EmogiError *error)
{
	CUDA_TRY(cudaMemsetAsync(all->marked, 0, run->nwords * sizeof *all->marked,
							 run->state->stream));
	CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				(const uint32_t *) all->pairs, 2 * all->npairs, all->marked);
	return emogi_similarity_count_sets(run, all->marked, all->size, error);
}

/* Count the common neighbors of pairs. */
static EmogiStatus
count_pairs(Run *run, const Similarities *all, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	uint64_t	nparts;

	CUDA_TRY(cudaMemsetAsync(all->parts + all->npairs, 0, sizeof *all->parts, stream));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(similarity_short_kernel, run->nblocks, BLOCK_THREADS, stream, run->graph.forward,
				*all, run->step);
	TRY(prefix_sum(run, all->parts, all->npairs + 1, all->tile, error));
	/* after a cancellation the number of parts is undefined */
	TRY(emogi_run_fetch(run, &nparts, all->parts + all->npairs, sizeof nparts, error));
	for (uint64_t first = 0; first < nparts; first += MAX_PARTS)
	{
		TRY(emogi_run_begin_step(run, error));
		CUDA_LAUNCH(similarity_long_kernel, run->nblocks, BLOCK_THREADS, stream, run->graph.forward,
					*all, first, nparts - first < MAX_PARTS ? nparts : first + MAX_PARTS,
					run->step);
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_similarity(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					  EmogiResult *result, EmogiError *error)
{
	Similarities all = {};

	if (query->pairs == NULL)
		return emogi_similarity_all(run, graph, query, result, error);
	TRY(take_arrays(run, query, &all, error));
	TRY(emogi_run_place(run, graph, query, 0, edge_kernels, lengthof(edge_kernels), sizeof(Target),
						error));
	TRY(emogi_run_start_clock(run, error));
	TRY(count_sizes(run, &all, error));
	TRY(count_pairs(run, &all, error));
	CUDA_LAUNCH(similarity_divide_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, all,
				query->measure, query->cutoff);
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = query->npairs;
	TRY(emogi_run_fetch(run, result->columns[0].vertex, all.vertex2,
						query->npairs * sizeof *all.vertex2, error));
	return emogi_run_fetch(run, result->columns[1].float64, all.similarity,
						   query->npairs * sizeof *all.similarity, error);
}
