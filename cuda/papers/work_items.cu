/*
 * work_items.cu: work items of a sweep: listing them from a bitmap, and counting the memory
 * requests of a sweep.
 *
 * Listing. A warp takes LIST_WORDS words of the bitmap, counts the items of their vertices,
 * reserves space for all of them with one atomic operation, and writes them. So items ascend within
 * some hundred vertices, and nearly ascend as a whole, because warps do. With DEGREE_CUT a vertex
 * has one item per part of its list, which is EtaGraph's unified degree cut on the fly; all lanes
 * write the parts of each list together.
 *
 * Counting. The kernel iterates over the items as the sweep does, edge by edge, without reading the
 * edges. For each instruction of a warp it counts the distinct lines, and of each line the sectors
 * of 32 bytes ([1], figure 5). Timed runs pay nothing for it.
 *
 * [1] S. W. Min et al.: EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs.
 * PVLDB 14(2), 2020.
 */
#include "cuda/papers/mapping.cuh"

#define SECTOR_BYTES 32
#define LINE_SECTORS (EMOGI_LINE_BYTES / SECTOR_BYTES)

/* Mark all vertices. Bytes: the bitmap, n/8. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
items_mark_all_kernel(uint32_t *bitmap, uint64_t nvertices)
{
	const uint64_t nwords = (nvertices + 31) / 32;

	for_each(nwords, [&](uint64_t word) {
		bitmap[word] = word + 1 < nwords ||
			nvertices % 32 == 0 ? FULL_WARP : (1u << nvertices % 32) - 1;
	});
}

/*
 * Return the lane's list among those of the marked vertices of a word; empty if the vertex is not
 * marked.
 */
static __device__ __forceinline__ Span
marked_list(const uint64_t *offsets, uint64_t word, uint32_t bits)
{
	const uint64_t vertex = word * 32 + lane_number();

	return bits >> lane_number() & 1 ? Span{__ldg(&offsets[vertex]), __ldg(&offsets[vertex + 1])} :
		Span{0, 0};
}

/* Return the number of items of a list. */
static __device__ __forceinline__ uint32_t
count_items(Span list, bool cuts)
{
	return (uint32_t) (cuts ? (list.end - list.start + CUT_DEGREE - 1) / CUT_DEGREE :
					   list.start < list.end);
}

/* Return the number of lines that a list's edges lie in, `bytes` per edge. */
static __device__ __forceinline__ uint64_t
lines_between(Span list, uint32_t bytes)
{
	return (list.end * bytes - 1) / EMOGI_LINE_BYTES - list.start * bytes / EMOGI_LINE_BYTES + 1;
}

/* Return the number of lines that a list and its weights lie in. */
static __device__ __forceinline__ uint64_t
lines_of(Span list, EntryBytes bytes)
{
	if (list.start == list.end)
		return 0;
	return lines_between(list, bytes.target) + (bytes.weight == 0 ? 0 :
												lines_between(list, bytes.weight));
}

/*
 * Write the items of the 32 vertices of a word, from `slot` on. Return their number. Whole warps.
 */
static __device__ __forceinline__ uint32_t
write_items(const Items &items, unsigned long long slot, uint64_t word, uint32_t count)
{
	const uint32_t upto = warp_prefix_sum(count);
	const uint32_t total = __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);

	if (items.index == NULL)
	{
		if (count > 0)
			items.vertex[slot + upto - 1] = (uint32_t) (word * 32 + lane_number());
		return total;
	}
	for (uint32_t base = 0; base < total; base += WARP_LANES)
	{
		const uint32_t i = base + lane_number();
		uint32_t	owner = 0;	/* the first lane with upto > i */
		uint32_t	before;

#pragma unroll
		for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
			if (__shfl_sync(FULL_WARP, upto, owner + step - 1) <= i)
				owner += step;
		before = __shfl_sync(FULL_WARP, upto - count, owner);
		if (i < total)
		{
			items.vertex[slot + i] = (uint32_t) (word * 32 + owner);
			items.index[slot + i] = i - before;
		}
	}
	return total;
}

/*
 * List the items of marked vertices, or only count if there is no space for a list. Bytes: the
 * bitmap, n/8; 16 of offsets per marked vertex; 4 per item, 8 with DEGREE_CUT. Counts: marked
 * vertices, their edges, the lines that these lie in (`far`), items (`nslices`).
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
items_list_kernel(const uint64_t *offsets, const uint32_t *bitmap, uint64_t nwords,
				  EntryBytes bytes, Items items, Counters *counters)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t warp = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;
	unsigned long long vertices = 0;
	unsigned long long edges = 0;
	unsigned long long lines = 0;

	for (uint64_t base = warp * LIST_WORDS; base < nwords; base += nwarps * LIST_WORDS)
	{
		const uint64_t word = base + lane_number();
		const uint32_t bits = lane_number() < LIST_WORDS && word < nwords ? bitmap[word] : 0;
		const uint32_t filled = __ballot_sync(FULL_WARP, bits != 0);
		unsigned long long found = 0;
		unsigned long long slot = 0;

		vertices += __popc(bits);
		for (uint32_t todo = filled; todo != 0; todo &= todo - 1)
		{
			const uint32_t lane = __ffs(todo) - 1;
			const Span	list = marked_list(offsets, base + lane,
										   __shfl_sync(FULL_WARP, bits, lane));

			found += count_items(list, items.index != NULL);
			edges += list.end - list.start;
			lines += lines_of(list, bytes);
		}
		found = warp_sum(found);
		if (found == 0 || items.vertex == NULL)
			continue;
		if (lane_number() == 0)
			slot = atomicAdd(&counters->nslices, found);
		slot = __shfl_sync(FULL_WARP, slot, 0);
		for (uint32_t todo = filled; todo != 0; todo &= todo - 1)
		{
			const uint32_t lane = __ffs(todo) - 1;
			const Span	list = marked_list(offsets, base + lane,
										   __shfl_sync(FULL_WARP, bits, lane));

			slot += write_items(items, slot, base + lane, count_items(list, items.index != NULL));
		}
	}
	block_add(&counters->vertices, vertices);
	block_add(&counters->edges, edges);
	block_add(&counters->far, lines);
}

/*
 * Count the requests of one instruction of a warp, whose active lanes read at `byte` of an array.
 */
static __device__ __forceinline__ void
count_request(bool there, uint64_t byte, unsigned long long (&requests)[LINE_SECTORS])
{
	const unsigned long long line = there ? byte / EMOGI_LINE_BYTES : ~0ull;
	const uint32_t sector = (uint32_t) (byte % EMOGI_LINE_BYTES / SECTOR_BYTES);
	const uint32_t alike = __match_any_sync(FULL_WARP, line);
	uint32_t	nsectors = 0;

#pragma unroll
	for (uint32_t s = 0; s < LINE_SECTORS; s++)
		nsectors += (__ballot_sync(FULL_WARP, there && sector == s) & alike) != 0;
#pragma unroll
	for (uint32_t s = 0; s < LINE_SECTORS; s++)
		requests[s] += there && (alike & lanes_below()) == 0 && nsectors == s + 1;
}

/* Count the requests of a sweep. Bytes: 4 to 8 per item, 16 of offsets per list. */
template <uint32_t LANES, bool ALIGNED>
static __global__ void __launch_bounds__(BLOCK_THREADS)
items_count_requests_kernel(Lists<Target> lists, Items items, EntryBytes bytes,
							unsigned long long *requests, Step step)
{
	unsigned long long own[LINE_SECTORS] = {};

	sweep_items<LANES>(step, items.n, [&](uint64_t item) {
		const Span	list = item_list(lists, items, item);

		for (uint64_t entry = first_entry<LANES, ALIGNED>(list, EMOGI_LINE_BYTES / bytes.target);
			 __any_sync(FULL_WARP, entry < list.end); entry += LANES)
		{
			const bool	there = entry >= list.start && entry < list.end;

			count_request(there, entry * bytes.target, own);
			if (bytes.weight > 0)
				count_request(there, entry * bytes.weight, own);
		}
	});
	for (uint32_t s = 0; s < LINE_SECTORS; s++)
		block_add(&requests[s], own[s]);
}

EmogiStatus
emogi_papers_mark_all(Sweeps *sweeps, uint32_t *bitmap, EmogiError *error)
{
	Run		   *run = sweeps->run;

	CUDA_LAUNCH(items_mark_all_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, bitmap,
				run->nvertices);
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_list(Sweeps *sweeps, const Lists<Target> &lists, const uint32_t *bitmap,
				  uint64_t *nmarked, EmogiError *error)
{
	Run		   *run = sweeps->run;
	const Counters *counters;

	if (sweeps->staged != NULL)
		return emogi_staged_list(sweeps, lists, bitmap, nmarked, error);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(items_list_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				lists.offsets, bitmap, run->nwords, sweeps->bytes, sweeps->items,
				run->step.counters);
	TRY(emogi_run_read(run, &counters, error));
	sweeps->items.n = counters->nslices;
	sweeps->item_edges = counters->edges;
	sweeps->item_lines = counters->far;
	*nmarked = counters->vertices;
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_list_all(Sweeps *sweeps, const Lists<Target> &lists, uint32_t *bitmap,
					  EmogiError *error)
{
	uint64_t	nmarked;

	TRY(emogi_papers_mark_all(sweeps, bitmap, error));
	TRY(emogi_papers_list(sweeps, lists, bitmap, &nmarked, error));
	if (sweeps->items.vertex == NULL)
		sweeps->items.n = nmarked;
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_count(Sweeps *sweeps, const Lists<Target> &lists, EmogiError *error)
{
	static void (*const kernels[]) (Lists<Target>, Items, EntryBytes, unsigned long long *,
									Step) = {
		items_count_requests_kernel<1, false>,	/* EMOGI_MAPPING_THREAD */
		items_count_requests_kernel<32, false>,	/* EMOGI_MAPPING_WARP */
		items_count_requests_kernel<32, true>,	/* EMOGI_MAPPING_ALIGNED */
		items_count_requests_kernel<2, false>,	/* EMOGI_MAPPING_VIRTUAL2 */
		items_count_requests_kernel<4, false>,
		items_count_requests_kernel<8, false>,
		items_count_requests_kernel<16, false>,
		items_count_requests_kernel<1, false>	/* EMOGI_MAPPING_DEGREE_CUT */
	};
	Run		   *run = sweeps->run;
	auto	   *const kernel = kernels[sweeps->mapping - EMOGI_MAPPING_THREAD];

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, lists, sweeps->items,
				sweeps->bytes, sweeps->requests, run->step);
	return EMOGI_OK;
}
