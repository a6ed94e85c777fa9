/*
 * oriented.cu: makes the lists in which every edge is once.
 *
 * Of lists that are symmetric, those entries stay that lead to a higher degree. Where there are two orientations, an edge may be
 * in either or both: forward entries are looked for in the other list of their vertex, and stay if they lead to a higher degree; backward
 * entries stay if they are not there; then the two are merged, so that lists ascend.
 *
 * Bytes, for n vertices and m entries of simple lists: m entries twice, 4m at random for degrees; with two orientations some
 * logarithm of a list's length as often for each entry, in neighbouring places.
 */
#include "cuda/lists/degree_dag.cuh"

/* Find where a target stands, or would stand, in entries [start, end) that ascend. */
static __device__ __forceinline__ uint64_t
find_place(const Target *targets, uint64_t start, uint64_t end, Target target)
{
	while (start < end)
	{
		const uint64_t middle = start + (end - start) / 2;

		if (__ldg(&targets[middle]) < target)
			start = middle + 1;
		else
			end = middle;
	}
	return start;
}

/* Choose the entries that the other orientation has, too. */
struct ChooseShared
{
	Csr			other;

	__device__ __forceinline__ bool
	operator()(uint64_t entry, uint32_t vertex, Target target, bool repeats) const
	{
		const uint64_t end = __ldg(&other.offsets[(uint64_t) vertex + 1]);
		const uint64_t place = find_place(other.targets, __ldg(&other.offsets[vertex]), end, target);

		return place < end && __ldg(&other.targets[place]) == target;
	}
};

/* Choose the entries that lead to a higher degree. */
struct ChooseHigher
{
	const uint32_t *degree;

	__device__ __forceinline__ bool
	operator()(uint64_t entry, uint32_t vertex, Target target, bool repeats) const
	{
		const uint32_t from = __ldg(&degree[vertex]);
		const uint32_t to = __ldg(&degree[target]);

		return to > from || (to == from && target > vertex);
	}
};

/* The same of those that the other orientation does not have. */
struct ChooseRest
{
	ChooseHigher higher;
	ChooseShared shared;

	__device__ __forceinline__ bool
	operator()(uint64_t entry, uint32_t vertex, Target target, bool repeats) const
	{
		return higher(entry, vertex, target, repeats) && !shared(entry, vertex, target, repeats);
	}
};

/* Count neighbours: the entries of a list, and those of the other that it does not have. Bytes: 20 to 36 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
oriented_degrees_kernel(Csr forward, Csr backward, Selection shared, uint64_t nvertices, uint32_t *degree)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices; v += nthreads)
	{
		const Span	own = {forward.offsets[v], forward.offsets[v + 1]};
		uint64_t	count = own.end - own.start;

		if (backward.offsets != NULL)
			count += backward.offsets[v + 1] - backward.offsets[v] -
				(count_before(shared, own.end) - count_before(shared, own.start));
		degree[v] = (uint32_t) count;
	}
}

/* Add up where lists begin. Bytes: 24 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
oriented_offsets_kernel(const uint64_t *a, const uint64_t *b, uint64_t nvertices, uint64_t *offsets)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v <= nvertices; v += nthreads)
		offsets[v] = a[v] + b[v];
}

/*
 * Write the lists of one part to where they stand in the merged ones, a list a warp; `ways` are those of the part, NULL = 1. No
 * entry is in both parts. Bytes: 16 a vertex, the entries, and the logarithm of the other list's length an entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
oriented_merge_kernel(Csr part, const uint8_t *ways, Csr other, uint64_t nvertices, Csr merged, uint8_t *merged_ways, Step step)
{
	sweep_chunks(step, 0, (nvertices + 31) / 32, [&](uint64_t word) {
		for (uint64_t v = word * 32; v < word * 32 + 32 && v < nvertices; v++)
		{
			const Span	own = {__ldg(&part.offsets[v]), __ldg(&part.offsets[v + 1])};
			const Span	its = {__ldg(&other.offsets[v]), __ldg(&other.offsets[v + 1])};
			const uint64_t to = __ldg(&merged.offsets[v]);

			for (uint64_t e = own.start + lane_number(); e < own.end; e += WARP_LANES)
			{
				const Target target = __ldg(&part.targets[e]);
				const uint64_t below = find_place(other.targets, its.start, its.end, target) - its.start;

				merged.targets[to + (e - own.start) + below] = target;
				if (merged_ways != NULL)
					merged_ways[to + (e - own.start) + below] = ways != NULL ? __ldg(&ways[e]) : 1;
			}
		}
	});
}

/* Select and make one part of the lists: the entries of simple lists that are chosen. */
template <class Choose>
static EmogiStatus
make_part(Run *run, const Entries *entries, Choose choose, const Selection *both, Csr *part, uint8_t **ways, EmogiError *error)
{
	Selection	selection;
	uint64_t	count = 0;

	TRY(emogi_edge_filter_open(run, entries->lists.nedges, &selection, error));
	TRY(select_entries(run, entries, &selection, choose, error));
	TRY(emogi_edge_filter_count(run, &selection, &count, error));
	TRY(emogi_edge_filter_make(run, entries, &selection, count, both, part, ways, error));
	emogi_edge_filter_close(run, &selection);
	return EMOGI_OK;
}

/* Merge two parts, and free them. */
static EmogiStatus
merge_parts(Run *run, Csr *forward, uint8_t *ways, Csr *backward, DegreeDag *oriented, EmogiError *error)
{
	Csr		   *csr = &oriented->csr;
	uint8_t   **to = ways != NULL ? &oriented->ways : NULL;

	*csr = Csr{NULL, NULL, forward->nedges + backward->nedges, true};
	TRY(take_array(&run->memory, &csr->offsets, run->nvertices + 1, "offsets of edges", error));
	TRY(take_array(&run->memory, &csr->targets, csr->nedges, "edges", error));
	if (to != NULL)
		TRY(take_array(&run->memory, to, csr->nedges, "ways of edges", error));
	CUDA_LAUNCH(oriented_offsets_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, forward->offsets, backward->offsets,
				run->nvertices, csr->offsets);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(oriented_merge_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *forward, ways, *backward,
				run->nvertices, *csr, oriented->ways, run->step);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(oriented_merge_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *backward, NULL, *forward,
				run->nvertices, *csr, oriented->ways, run->step);
	emogi_simple_graph_close(run, forward);
	emogi_simple_graph_close(run, backward);
	emogi_memory_return(&run->memory, ways);
	return EMOGI_OK;
}

/* Make the lists of a Graph with two orientations. */
static EmogiStatus
make_merged(Run *run, bool with_ways, Csr *forward, Csr *backward, DegreeDag *oriented, EmogiError *error)
{
	const ChooseHigher higher = {oriented->degree};
	uint8_t    *ways = NULL;
	Entries		entries;
	Selection	shared;
	Csr			part;
	Csr			rest;

	TRY(emogi_simple_graph_entries_open(run, csr_lists(*forward), &entries, error));
	TRY(emogi_edge_filter_open(run, forward->nedges, &shared, error));
	TRY(select_entries(run, &entries, &shared, ChooseShared{*backward}, error));
	CUDA_LAUNCH(oriented_degrees_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *forward, *backward, shared,
				run->nvertices, oriented->degree);
	TRY(make_part(run, &entries, higher, &shared, &part, with_ways ? &ways : NULL, error));
	emogi_simple_graph_entries_close(run, &entries);
	emogi_edge_filter_close(run, &shared);
	TRY(emogi_simple_graph_entries_open(run, csr_lists(*backward), &entries, error));
	TRY(make_part(run, &entries, ChooseRest{higher, {*forward}}, NULL, &rest, NULL, error));
	emogi_simple_graph_entries_close(run, &entries);
	emogi_simple_graph_close(run, forward);
	emogi_simple_graph_close(run, backward);
	return merge_parts(run, &part, ways, &rest, oriented, error);
}

/* Make the lists of a Graph that is symmetric. */
static EmogiStatus
make_symmetric(Run *run, Csr *forward, DegreeDag *oriented, EmogiError *error)
{
	Entries		entries;

	CUDA_LAUNCH(oriented_degrees_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *forward, Csr{}, Selection{},
				run->nvertices, oriented->degree);
	TRY(emogi_simple_graph_entries_open(run, csr_lists(*forward), &entries, error));
	TRY(make_part(run, &entries, ChooseHigher{oriented->degree}, NULL, &oriented->csr, NULL, error));
	emogi_simple_graph_entries_close(run, &entries);
	emogi_simple_graph_close(run, forward);
	return EMOGI_OK;
}

uint64_t
emogi_degree_dag_bytes(const EmogiGraph *graph)
{
	const uint64_t nedges = graph->forward.nedges + (emogi_simple_graph_is_directed(graph) ? graph->backward.nedges : 0);

	return 7 * nedges + 24 * graph->nvertices;	/* simple lists, half of their entries, and what selects them */
}

EmogiStatus
emogi_degree_dag_make(Run *run, const EmogiGraph *graph, bool with_ways, DegreeDag *oriented, EmogiResult *result, EmogiError *error)
{
	Csr			forward;
	Csr			backward;

	*oriented = DegreeDag{};
	TRY(take_array(&run->memory, &oriented->degree, run->nvertices, "degrees", error));
	TRY(emogi_simple_graph_make(run, run->graph.forward, &forward, result, error));
	if (!emogi_simple_graph_is_directed(graph))
		return make_symmetric(run, &forward, oriented, error);
	TRY(emogi_simple_graph_make(run, run->graph.backward, &backward, result, error));
	return make_merged(run, with_ways, &forward, &backward, oriented, error);
}

EmogiStatus
emogi_degree_dag_load(EmogiError *error)
{
	const void *const kernels[] = {(const void *) select_kernel<ChooseShared>, (const void *) select_kernel<ChooseHigher>,
		(const void *) select_kernel<ChooseRest>, (const void *) oriented_degrees_kernel, (const void *) oriented_offsets_kernel,
		(const void *) oriented_merge_kernel};

	TRY(emogi_simple_graph_load(error));
	return LOAD_KERNELS(kernels);
}
