/*
 * degree.cu: degrees, and sums of weights.
 *
 * Returns degree[nvertices], the list entries of a vertex, and strength[nvertices], the sum of their weights in the order of the
 * list, to the bit of a loop over it; without weights the two are equal, and no edge is read or placed.
 *
 * Method. A warp takes 32 neighbouring vertices, whose weights lie next to each other: it brings them to shared memory window by
 * window, in whole lines, and each lane adds what the window has of its own list, one after the other. An order of the additions
 * that the hardware would like better gives other bits.
 *
 * Bytes, for n vertices: 8n of offsets, 16n of answers; the weights once, in lines.
 */
#include "cuda/access/weights.cuh"

#define WINDOW_BYTES 2048		/* of weights, of a warp: what hides the latency of the link */

#define WINDOW_PIECES (WINDOW_BYTES / (WARP_LANES * PIECE_BYTES))	/* that a lane reads of it */

/* What is made. Arrays in device memory. */
typedef struct Degrees
{
	long long  *degree;			/* [nvertices] */
	double	   *strength;		/* [nvertices] */
} Degrees;

/* Bring a window of weights, from byte `base` on, to shared memory, as far as `end`, which is on the end of a line. Whole warps. */
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
	__syncwarp();				/* nobody reads the last window any more */
#pragma unroll
	for (uint32_t i = 0; i < WINDOW_PIECES; i++)
		window[i * WARP_LANES + lane_number()] = piece[i];
	__syncwarp();
}

/* Add up the weights of the lanes' lists, which ascend. *nread grows by the lines read, alike in all lanes. Whole warps. */
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
					   must_leave_alone(step, (uint32_t) ((base - first) / WINDOW_BYTES))))
			break;
		read_window(lists.weights, base, end, window);
		for (uint64_t e = from; e < upto; e++)
			sum += (double) ((const Weight *) window)[e - low];
	}
	*nread += first < end ? (end - first) / EMOGI_LINE_BYTES : 0;
	return sum;
}

/* Fill both columns. Bytes: 8 of offsets and 16 of answers a vertex; the weights in lines, each once a word of vertices. */
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

/* Get the kernel for weights of a type. */
static DegreeKernel
choose_kernel(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		return (DegreeKernel) degree_sum_kernel<decltype(weight)>;
	});
}

EmogiStatus
emogi_cuda_degree_load(EmogiError *error)
{
	for (int type = EMOGI_WEIGHT_NONE; type <= EMOGI_WEIGHT_F64; type++)
	{
		const void *const kernels[] = {(const void *) choose_kernel((EmogiWeightType) type)};

		TRY(LOAD_KERNELS(kernels));
	}
	return EMOGI_OK;
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
	const Counters *counters;

	if (!weighted)
		/* offsets are enough: spare the edges their placement */
		seen.forward.nedges = seen.backward.nedges = 0;
	TRY(take_array(&run->memory, &degrees.degree, run->nvertices, "degrees", error));
	TRY(take_array(&run->memory, &degrees.strength, run->nvertices, "sums of weights", error));
	TRY(emogi_run_place(run, &seen, query, PLACE_NEAR_WEIGHTS, kernels, 1,
						edge_bytes(graph->weight_type) - sizeof(Target) + 1, error));
	TRY(emogi_run_start_clock(run, error));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, run->graph.forward,
				run->nvertices, degrees, run->step);
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	emogi_run_account(run, counters, result);
	result->nreached = run->nvertices;
	result->nlevels = 1;
	TRY(emogi_run_give(run, query, result, 0, degrees.degree, error));
	return emogi_run_give(run, query, result, 1, degrees.strength, error);
}
