/*
 * cc.cu: weakly connected components.
 *
 * Returns component[nvertices]: the smallest vertex of the component.
 *
 * Method. Afforest [1] on a forest in which every vertex points to a smaller one of its tree or, a root, to itself; an
 * edge hooks the larger root of its ends under the smaller [2], so the roots left are the smallest of their
 * components, whatever the order of the work.
 *   lines       when lists are long, one word of vertices in LINES_STRIDE hooks with all that the first lines of
 *               their lists bring: that alone joins nearly all vertices of a graph without much structure, from a
 *               fraction of its lines
 *   sample      all point to their roots; most of them are in one tree, which a sample of vertices names; every other
 *               vertex hooks with its first two neighbours; then the same again
 *   rest        only vertices outside that tree push the hook along the rest of their lists, forward and backward: an
 *               edge with both ends inside joins nothing
 * Without the other direction an edge might be seen only from inside, so a directed Graph without backward hooks all
 * edges, without a sample.
 *
 * Bytes, for n vertices: compressing 8 to 12 a vertex; lines: one line or less for one vertex in LINES_STRIDE; sample: 4
 * a vertex, 16 of offsets and one line or less a vertex outside; rest: the lists outside, in lines; for each entry
 * two random reads of 4 and, when it joins trees, an atomic operation.
 *
 * [1] M. Sutton, T. Ben-Nun, A. Barak: Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling.
 *     IPDPS 2018.
 * [2] Y. Shiloach, U. Vishkin: An O(log n) Parallel Connectivity Algorithm. Journal of Algorithms 3, 1982.
 */
#include <stdlib.h>

#include "hybrid.cuh"
#include "push.cuh"

#define SAMPLES 1024			/* vertices that vote for the giant component */
#define LINES_STRIDE 8			/* words of vertices */
#define LINES_DEGREE 8			/* mean length of lists from which on it pays */

/* Get where a vertex points to now, past the first-level cache, where it may be old. */
static __device__ __forceinline__ uint32_t
parent_of(const uint32_t *component, uint32_t vertex)
{
	return *(const volatile uint32_t *) (component + vertex);
}

/* Join the trees of two vertices. Roots only ever get smaller parents, so a walk upwards ends. */
static __device__ __forceinline__ void
hook(uint32_t *component, uint32_t a, uint32_t b)
{
	a = parent_of(component, a);
	b = parent_of(component, b);
	while (a != b)
	{
		const uint32_t high = a > b ? a : b;
		const uint32_t low = a > b ? b : a;
		const uint32_t parent = parent_of(component, high);

		if (parent == low)
			return;
		if (parent == high)
		{
			if (atomicCAS(&component[high], high, low) == high)
				return;
			a = parent_of(component, high);
		}
		else
			a = parent_of(component, parent);
		b = parent_of(component, low);
	}
}

/* The Push of CC: hook each entry with the vertex whose list it is in. */
struct Hook
{
	typedef NoWeight Weight;
	typedef uint32_t Value;

	uint32_t   *component;

	__device__ __forceinline__ uint32_t
	own(uint64_t vertex) const
	{
		return (uint32_t) vertex;
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE], const uint32_t (&vertex)[PIECE],
		  uint32_t wanted) const
	{
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if (wanted >> j & 1)
				hook(component, vertex[j], target[j]);
	}
};

/* Make every vertex a tree. Bytes: 4 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
plant(uint32_t *component, uint64_t nvertices)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices; v += nthreads)
		component[v] = (uint32_t) v;
}

/* Point every vertex to its root. Bytes: 8 to 12 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
compress(uint32_t *component, uint64_t nvertices)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices; v += nthreads)
	{
		uint32_t	parent = parent_of(component, (uint32_t) v);

		for (;;)
		{
			const uint32_t above = parent_of(component, parent);

			if (above == parent)
				break;
			*(volatile uint32_t *) (component + v) = above;	/* at once, so that others take the short way */
			parent = above;
		}
	}
}

/*
 * Hook the vertices of every LINES_STRIDE-th word with what the first lines of their lists have. Bytes: 16 of offsets and a
 * line a vertex of these, lines that lists share once.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hook_lines(Lists<Target> lists, uint64_t nvertices, uint32_t *component, Step step)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t warp = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;
	const Hook	push = {component};
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	for (uint64_t base = warp * LINES_STRIDE * 32; base < nvertices; base += nwarps * LINES_STRIDE * 32)
	{
		const uint64_t vertex = base + lane_number();
		Span		list = {0, 0};
		uint64_t	line;
		uint64_t	line_below;
		uint32_t	below;
		bool		filled;

		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		if (vertex < nvertices)
			list = Span{lists.offsets[vertex], lists.offsets[vertex + 1]};
		line = list.start / ENTRIES;
		filled = list.start < list.end;
		if (list.end > (line + 1) * ENTRIES)
			list.end = (line + 1) * ENTRIES;
		below = __ballot_sync(FULL_WARP, filled) & lanes_below();
		line_below = __shfl_sync(FULL_WARP, line, below != 0 ? 31 - __clz(below) : 0);
		push_lines(lists, list, line, filled && !(below != 0 && line_below == line), (uint32_t) vertex, &nread, push);
		entries += list.end - list.start;
	}
	add_sums(step.counters, nread, entries);
}

/* Hook every vertex that is not in `giant` with its first two neighbours. Bytes: see above. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hook_first(Lists<Target> lists, uint64_t nvertices, uint32_t *component, uint32_t giant, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	for (uint64_t base = own - lane_number(); base < nvertices; base += nthreads)
	{
		const uint64_t vertex = base + lane_number();
		Span		list = {0, 0};
		uint64_t	line_below;
		uint32_t	below;

		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		if (vertex < nvertices && parent_of(component, (uint32_t) vertex) != giant)
			list = Span{lists.offsets[vertex], lists.offsets[vertex + 1]};
		if (list.end > list.start + 2)
			list.end = list.start + 2;
		below = __ballot_sync(FULL_WARP, list.start < list.end) & lanes_below();
		line_below = __shfl_sync(FULL_WARP, (list.end - 1) / ENTRIES, below != 0 ? 31 - __clz(below) : 0);
		if (list.start < list.end)
		{
			const Target target = __ldg(&lists.targets[list.start]);
			const Target second = __ldg(&lists.targets[list.end - 1]);

			hook(component, (uint32_t) vertex, target);
			if (second != target)
				hook(component, (uint32_t) vertex, second);
			nread += count_lines<Target>(list) - (below != 0 && line_below == list.start / ENTRIES);
			entries += list.end - list.start;
		}
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Hook along the heads, which are the neighbours with the longest lists. Bytes: 8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hook_heads(Lists<Target> lists, uint64_t nvertices, uint32_t *component, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	unsigned long long entries = 0;

	for (uint64_t vertex = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; vertex < nvertices; vertex += nthreads)
	{
#pragma unroll
		for (uint32_t j = 0; j < HEAD_LEAST; j++)
		{
			const Target target = read_head(lists, vertex, j);

			if (target == EMOGI_NO_VERTEX)
				break;
			hook(component, (uint32_t) vertex, target);
			entries++;
		}
	}
	block_add(&step.counters->entries, entries);
}

/* Take the components of `nsamples` vertices, evenly spread. Bytes: 4 a sample, at random. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
sample_components(const uint32_t *component, uint64_t nvertices, uint32_t *sample, uint32_t nsamples)
{
	const uint32_t nthreads = gridDim.x * BLOCK_THREADS;

	for (uint32_t i = blockIdx.x * BLOCK_THREADS + threadIdx.x; i < nsamples; i += nthreads)
		sample[i] = component[nvertices / nsamples * i];
}

/* Mark in a bitmap the vertices outside a component. Bytes: 4 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
mark_outside(const uint32_t *component, uint64_t nvertices, uint32_t giant, uint32_t *outside)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t base = own - lane_number(); base < nvertices; base += nthreads)
	{
		const uint64_t vertex = base + lane_number();
		const uint32_t bits = __ballot_sync(FULL_WARP, vertex < nvertices && component[vertex] != giant);

		if (lane_number() == 0)
			outside[base / 32] = bits;
	}
}

static const void *const kernels[] = {
	(const void *) push_words<Hook>, (const void *) push_slices<Hook>, (const void *) plant, (const void *) compress,
	(const void *) hook_lines, (const void *) hook_first, (const void *) hook_heads, (const void *) sample_components,
	(const void *) mark_outside
};

EmogiStatus
emogi_cuda_cc_load(EmogiError *error)
{
	return LOAD_KERNELS(kernels);
}

static int
compare_numbers(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *) a;
	const uint32_t y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

/* Find the most frequent component of a sample. `sample` is on the device. */
static EmogiStatus
find_giant(Run *run, const uint32_t *component, uint32_t *sample, uint32_t *giant, EmogiError *error)
{
	const uint32_t nsamples = run->nvertices < SAMPLES ? (uint32_t) run->nvertices : SAMPLES;
	uint32_t	found[SAMPLES];
	uint32_t	most = 0;

	CUDA_LAUNCH(sample_components, 1, BLOCK_THREADS, run->state->stream, component, run->nvertices, sample, nsamples);
	TRY(emogi_run_fetch(run, found, sample, nsamples * sizeof *found, error));
	qsort(found, nsamples, sizeof *found, compare_numbers);
	for (uint32_t i = 0, run_length = 0; i < nsamples; i++)
	{
		run_length = i > 0 && found[i] == found[i - 1] ? run_length + 1 : 1;
		if (run_length > most)
		{
			most = run_length;
			*giant = found[i];
		}
	}
	return EMOGI_OK;
}

/* Hook along all lists of the vertices marked. */
static EmogiStatus
hook_lists(Run *run, const Lists<Target> &lists, const uint32_t *marked, uint32_t *component, EmogiError *error)
{
	const Hook	push = {component};
	const Counters *counters;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(push_words<Hook>, run->nblocks, BLOCK_THREADS, run->state->stream, lists, marked, run->nwords, run->step,
				push);
	CUDA_LAUNCH(push_slices<Hook>, run->nblocks, BLOCK_THREADS, run->state->stream, lists, run->step, push);
	return emogi_run_read(run, &counters, error);
}

/*
 * Hook along a few neighbours of each vertex and find the giant component. In host placement, where lists are long
 * enough, a few whole lines come first: what they join need not be read again. Heads cost no line at all.
 */
static EmogiStatus
sample_lists(Run *run, uint32_t *component, uint32_t *sample, uint32_t *giant, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	const Lists<Target> &forward = run->graph.forward;
	const bool	by_lines = run->graph.placement == EMOGI_PLACEMENT_HOST && forward.nedges / LINES_DEGREE >= run->nvertices;

	if (forward.heads == NULL && by_lines)
	{
		CUDA_LAUNCH(hook_lines, run->nblocks, BLOCK_THREADS, stream, forward, run->nvertices, component, run->step);
		CUDA_LAUNCH(compress, run->full_blocks, BLOCK_THREADS, stream, component, run->nvertices);
		TRY(find_giant(run, component, sample, giant, error));
	}
	if (forward.heads != NULL)
		CUDA_LAUNCH(hook_heads, run->full_blocks, BLOCK_THREADS, stream, forward, run->nvertices, component, run->step);
	else
		CUDA_LAUNCH(hook_first, run->nblocks, BLOCK_THREADS, stream, forward, run->nvertices, component, *giant,
					run->step);
	CUDA_LAUNCH(compress, run->full_blocks, BLOCK_THREADS, stream, component, run->nvertices);
	return find_giant(run, component, sample, giant, error);
}

/* Find the components. `sampled`: begin with the first lines and neighbours and leave out the giant component. */
static EmogiStatus
connect(Run *run, uint32_t *component, uint32_t *marked, uint32_t *sample, bool sampled, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	uint32_t	giant = EMOGI_NO_VERTEX;
	const Lists<Target> &forward = run->graph.forward;
	const Lists<Target> &backward = run->graph.backward;

	CUDA_LAUNCH(plant, run->full_blocks, BLOCK_THREADS, stream, component, run->nvertices);
	if (forward.nedges == 0)
		return EMOGI_OK;
	if (sampled)
		TRY(sample_lists(run, component, sample, &giant, error));
	CUDA_LAUNCH(mark_outside, run->full_blocks, BLOCK_THREADS, stream, component, run->nvertices, giant, marked);
	TRY(hook_lists(run, forward, marked, component, error));
	if (sampled && backward.offsets != forward.offsets)
		TRY(hook_lists(run, backward, marked, component, error));
	CUDA_LAUNCH(compress, run->full_blocks, BLOCK_THREADS, stream, component, run->nvertices);
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_cc(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	const Counters *counters;
	uint32_t   *component;
	uint32_t   *marked;
	uint32_t   *sample;

	TRY(take_array(&run->memory, &component, run->nvertices, "components", error));
	TRY(take_array(&run->memory, &marked, run->nwords, "bitmap of vertices", error));
	TRY(take_array(&run->memory, &sample, SAMPLES, "sample", error));
	TRY(emogi_run_place(run, graph, query, PLACE_BACKWARD | PLACE_FORWARD_HEADS, kernels, 2, sizeof(Target), error));
	TRY(emogi_run_start_clock(run, error));
	TRY(connect(run, component, marked, sample, run->graph.backward.offsets != NULL, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	emogi_run_account(run, counters, result);
	result->nreached = run->nvertices;
	result->nlevels = 1;
	return emogi_run_fetch(run, result->component, component, run->nvertices * sizeof *component, error);
}
