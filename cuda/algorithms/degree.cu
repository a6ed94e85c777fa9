/*
 * degree.cu: degrees and weighted degrees (strengths).
 *
 * Returns degree[nvertices], the number of list entries of a vertex, and strength[nvertices], the
 * sum of their weights in the order of the list, bit for bit that of a sequential loop. Without
 * weights the two are equal, and no edge is read or placed.
 *
 * Method. A warp takes 32 consecutive vertices, whose weights are contiguous. It loads them into
 * shared memory window by window, in whole lines, and each lane adds its own list's part of the
 * window sequentially. A faster order of additions would give other bits.
 *
 * Bytes, for n vertices: 8n of offsets, 16n of results; the weights once, in lines.
 */
#include "cuda/access/weights.cuh"

#define WINDOW_BYTES 2048		/* weights of a warp: enough to hide the latency of the link */

/* pieces of a window that a lane reads */
#define WINDOW_PIECES (WINDOW_BYTES / (WARP_LANES * PIECE_BYTES))

/* Result columns, in device memory. */
typedef struct Degrees
{
	long long  *degree;			/* [nvertices] */
	double	   *strength;		/* [nvertices] */
} Degrees;

/*
 * Load a window of weights, from byte `base` up to `end`, the end of a line, into shared memory.
 * Called by whole warps.
 */
static __device__ __forceinline__ void
read_window(const void *weights, uint64_t base, uint64_t end, uint4 *window)
{
	uint4		piece[WINDOW_PIECES];

#pragma unroll
	for (uint32_t i = 0; i < WINDOW_PIECES; i++)
	{
		const uint64_t at = base + (i * WARP_LANES + lane_number()) * PIECE_BYTES;

		piece[i] = at < end ? __ldcs((const uint4 *) ((const char *) weights + at)) :
			make_uint4(0, 0, 0, 0);
	}
	__syncwarp();				/* the previous window is no longer in use */
#pragma unroll
	for (uint32_t i = 0; i < WINDOW_PIECES; i++)
		window[i * WARP_LANES + lane_number()] = piece[i];
	__syncwarp();
}

/*
 * Sum the weights of the lanes' lists, which ascend. *nread grows by the lines read, uniformly
 * across the warp. Called by whole warps.
 */
template <typename Weight>
static __device__ __forceinline__ double
add_weights(const Lists<Target> &lists, Span list, const Step &step, uint4 *window,
			unsigned long long *nread)
{
	constexpr uint32_t ENTRIES_OF_WINDOW = WINDOW_BYTES / sizeof(Weight);
	const uint64_t first = __shfl_sync(FULL_WARP, list.start, 0) * sizeof(Weight) /
		EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
	const uint64_t last = __shfl_sync(FULL_WARP, list.end, WARP_LANES - 1) * sizeof(Weight);
	const uint64_t end = (last + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
	double		sum = 0.0;

	for (uint64_t base = first; base < end; base += WINDOW_BYTES)
	{
		const uint64_t low = base / sizeof(Weight);
		const uint64_t from = list.start > low ? list.start : low;
		const uint64_t upto = list.end < low + ENTRIES_OF_WINDOW ? list.end :
			low + ENTRIES_OF_WINDOW;

		if (__any_sync(FULL_WARP, lane_number() == 0 &&
					   must_leave_polling(step, (uint32_t) ((base - first) / WINDOW_BYTES))))
			break;
		read_window(lists.weights, base, end, window);
		for (uint64_t e = from; e < upto; e++)
			sum += (double) ((const Weight *) window)[e - low];
	}
	*nread += first < end ? (end - first) / EMOGI_LINE_BYTES : 0;
	return sum;
}

/*
 * Fill both columns. Bytes: 8 of offsets and 16 of results a vertex; the weights in lines, each
 * once a word of vertices.
 */
template <typename Weight>
static __global__ void __launch_bounds__(BLOCK_THREADS)
degree_sum_kernel(Lists<Target> lists, uint64_t nvertices, Degrees degrees, Step step)
{
	__shared__ uint4 window[BLOCK_WARPS][WINDOW_BYTES / sizeof(uint4)];
	const uint64_t nwords = (nvertices + 31) / 32;
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	uint32_t	next = lane_number() == 0 ? take_ticket(step) : 0;

	for (;;)
	{
		const uint32_t word = __shfl_sync(FULL_WARP, next, 0);
		const uint64_t vertex = (uint64_t) word * 32 + lane_number();
		const uint64_t last = vertex < nvertices ? vertex : nvertices;
		Span		list;
		double		sum;

		if (word >= nwords)
			break;
		if (lane_number() == 0)
			next = take_ticket(step);
		list = Span{__ldg(&lists.offsets[last]),
			__ldg(&lists.offsets[vertex < nvertices ? vertex + 1 : nvertices])};
		if constexpr (weight_bytes<Weight>() == 0)
			sum = (double) (list.end - list.start);
		else
			sum = add_weights<Weight>(lists, list, step, window[threadIdx.x / WARP_LANES], &nread);
		if (vertex < nvertices)
		{
			degrees.degree[vertex] = (long long) (list.end - list.start);
			degrees.strength[vertex] = sum;
		}
		entries += weight_bytes<Weight>() > 0 ? list.end - list.start : 0;
	}
	block_add(&step.counters->lines, lane_number() == 0 && !lists.near_weights ? nread : 0);
	block_add(&step.counters->entries, entries);
}

typedef void (*DegreeKernel) (Lists<Target> lists, uint64_t nvertices, Degrees degrees, Step step);

/* Get the kernel for a weight type. */
static DegreeKernel
choose_kernel(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		return (DegreeKernel) degree_sum_kernel<decltype(weight)>;
	});
}

EmogiStatus
emogi_cuda_degree(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				  EmogiError *error)
{
	const bool	weighted = graph->weight_type != EMOGI_WEIGHT_NONE;
	const DegreeKernel kernel = choose_kernel(graph->weight_type);
	const void *const kernels[] = {(const void *) kernel};
	EmogiGraph	seen = *graph;
	Degrees		degrees = {};

	if (!weighted)
		/* offsets suffice: do not place the edges */
		seen.forward.nedges = seen.backward.nedges = 0;
	TRY(take_array(&run->memory, &degrees.degree, run->nvertices, "degrees", error));
	TRY(take_array(&run->memory, &degrees.strength, run->nvertices, "sums of weights", error));
	TRY(emogi_run_place(run, &seen, query, PLACE_NEAR_WEIGHTS, kernels, 1,
						edge_bytes(graph->weight_type) - sizeof(Target) + 1, error));
	TRY(emogi_run_start_clock(run, error));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, run->graph.forward,
				run->nvertices, degrees, run->step);
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = run->nvertices;
	result->nlevels = 1;
	TRY(emogi_run_give(run, query, result, 0, degrees.degree, error));
	return emogi_run_give(run, query, result, 1, degrees.strength, error);
}
