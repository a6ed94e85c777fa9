/*
 * degree_dag.cu: construction of the degree-ordered DAG, which has every edge once.
 *
 * Of symmetric lists, those edges are kept that lead to a higher degree. If there are two
 * orientations, an edge may be in either or both. Each forward edge is looked up in the other list
 * of its vertex, and is kept if it leads to a higher degree; backward edges are kept if they do so
 * and are not in the forward list. Then the two parts are merged, so that lists ascend.
 *
 * Bytes, for n vertices and m edges of simple lists: m edges twice, 4m at random for degrees; with
 * two orientations also log2(length of the other list) reads per edge, twice, at neighboring
 * addresses.
 */
#include "cuda/lists/degree_dag.cuh"

/*
 * Return the position of a target, or its insertion position, in edges [start, end), which ascend.
 */
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

/* Choose the edges that the other orientation has, too. */
struct ChooseShared
{
	Csr			other;

	__device__ __forceinline__ bool
	operator()(uint64_t entry, uint32_t vertex, Target target, bool repeats) const
	{
		const uint64_t end = __ldg(&other.offsets[(uint64_t) vertex + 1]);
		const uint64_t place = find_place(other.targets, __ldg(&other.offsets[vertex]), end,
										  target);

		return place < end && __ldg(&other.targets[place]) == target;
	}
};

/* Choose the edges that lead to a higher degree. */
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

/* Choose the edges that lead to a higher degree and are not in the other orientation. */
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

/*
 * Count neighbors: the edges of a list, and those of the other list that are not in it. Bytes: 20
 * to 36 per vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
dag_degrees_kernel(Csr forward, Csr backward, Selection shared, uint64_t nvertices,
				   uint32_t *degree)
{
	for_each(nvertices, [&](uint64_t v) {
		const Span	own = {forward.offsets[v], forward.offsets[v + 1]};
		uint64_t	count = own.end - own.start;

		if (backward.offsets != NULL)
			count += backward.offsets[v + 1] - backward.offsets[v] -
				(count_before(shared, own.end) - count_before(shared, own.start));
		degree[v] = (uint32_t) count;
	});
}

/* Add the offsets of both parts. Bytes: 24 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
dag_offsets_kernel(const uint64_t *a, const uint64_t *b, uint64_t nvertices, uint64_t *offsets)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v <= nvertices;
		 v += nthreads)
		offsets[v] = a[v] + b[v];
}

/*
 * Write the lists of one part to their positions in the merged lists, one warp per list; `ways` are
 * those of the part, NULL = 1. No edge is in both parts. Bytes: 16 per vertex, the edges, and
 * log2(length of the other list) reads per edge.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
dag_merge_kernel(Csr part, const uint8_t *ways, Csr other, uint64_t nvertices, Csr merged,
				 uint8_t *merged_ways, Step step)
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
				const uint64_t below = find_place(other.targets, its.start, its.end,
												  target) - its.start;

				merged.targets[to + (e - own.start) + below] = target;
				if (merged_ways != NULL)
					merged_ways[to + (e - own.start) + below] = ways != NULL ? __ldg(&ways[e]) : 1;
			}
		}
	});
}

/* Select and build one part of the lists: the chosen edges of simple lists. */
template <class Choose>
static EmogiStatus
make_part(Run *run, const Entries *entries, Choose choose, const Selection *both, Csr *part,
		  uint8_t **ways, EmogiError *error)
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
merge_parts(Run *run, Csr *forward, uint8_t *ways, Csr *backward, DegreeDag *dag, EmogiError *error)
{
	Csr		   *csr = &dag->csr;
	uint8_t	  **to = ways != NULL ? &dag->ways : NULL;

	*csr = Csr{NULL, NULL, forward->nedges + backward->nedges, true};
	TRY(take_array(&run->memory, &csr->offsets, run->nvertices + 1, "offsets of edges", error));
	TRY(take_array(&run->memory, &csr->targets, csr->nedges, "edges", error));
	if (to != NULL)
		TRY(take_array(&run->memory, to, csr->nedges, "directions of edges", error));
	CUDA_LAUNCH(dag_offsets_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				forward->offsets, backward->offsets, run->nvertices, csr->offsets);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(dag_merge_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *forward,
				ways, *backward, run->nvertices, *csr, dag->ways, run->step);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(dag_merge_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *backward,
				NULL, *forward, run->nvertices, *csr, dag->ways, run->step);
	emogi_simple_graph_close(run, forward);
	emogi_simple_graph_close(run, backward);
	emogi_memory_return(&run->memory, ways);
	return EMOGI_OK;
}

/* Build the lists of a graph with two orientations. */
static EmogiStatus
make_merged(Run *run, bool with_ways, Csr *forward, Csr *backward, DegreeDag *dag,
			EmogiError *error)
{
	const ChooseHigher higher = {dag->degree};
	uint8_t	   *ways = NULL;
	Entries		entries;
	Selection	shared;
	Csr			part;
	Csr			rest;

	TRY(emogi_simple_graph_entries_open(run, csr_lists(*forward), &entries, error));
	TRY(emogi_edge_filter_open(run, forward->nedges, &shared, error));
	TRY(select_entries(run, &entries, &shared, ChooseShared{*backward}, error));
	CUDA_LAUNCH(dag_degrees_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *forward,
				*backward, shared, run->nvertices, dag->degree);
	TRY(make_part(run, &entries, higher, &shared, &part, with_ways ? &ways : NULL, error));
	emogi_simple_graph_entries_close(run, &entries);
	emogi_edge_filter_close(run, &shared);
	TRY(emogi_simple_graph_entries_open(run, csr_lists(*backward), &entries, error));
	TRY(make_part(run, &entries, ChooseRest{higher, {*forward}}, NULL, &rest, NULL, error));
	emogi_simple_graph_entries_close(run, &entries);
	emogi_simple_graph_close(run, forward);
	emogi_simple_graph_close(run, backward);
	return merge_parts(run, &part, ways, &rest, dag, error);
}

/* Build the lists of a symmetric graph. */
static EmogiStatus
make_symmetric(Run *run, Csr *forward, DegreeDag *dag, EmogiError *error)
{
	Entries		entries;

	CUDA_LAUNCH(dag_degrees_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *forward,
				Csr{}, Selection{}, run->nvertices, dag->degree);
	TRY(emogi_simple_graph_entries_open(run, csr_lists(*forward), &entries, error));
	TRY(make_part(run, &entries, ChooseHigher{dag->degree}, NULL, &dag->csr, NULL, error));
	emogi_simple_graph_entries_close(run, &entries);
	emogi_simple_graph_close(run, forward);
	return EMOGI_OK;
}

uint64_t
emogi_degree_dag_bytes(const EmogiGraph *graph)
{
	const uint64_t nedges = graph->forward.nedges + (emogi_simple_graph_is_directed(graph) ?
													 graph->backward.nedges : 0);

	/* simple lists, half of their edges, and the selection */
	return 7 * nedges + 24 * graph->nvertices;
}

EmogiStatus
emogi_degree_dag_make(Run *run, const EmogiGraph *graph, bool with_ways, DegreeDag *dag,
					  EmogiResult *result, EmogiError *error)
{
	Csr			forward;
	Csr			backward;

	*dag = DegreeDag{};
	TRY(take_array(&run->memory, &dag->degree, run->nvertices, "degrees", error));
	TRY(emogi_simple_graph_make(run, run->graph.forward, &forward, result, error));
	if (!emogi_simple_graph_is_directed(graph))
		return make_symmetric(run, &forward, dag, error);
	TRY(emogi_simple_graph_make(run, run->graph.backward, &backward, result, error));
	return make_merged(run, with_ways, &forward, &backward, dag, error);
}

