/*
 * spanning_forest.cu: minimum or maximum spanning forest of an undirected graph.
 *
 * Returns parent[nvertices], the parent in a tree rooted at its smallest vertex, EMOGI_NO_VERTEX
 * for a root, and weight[nvertices], the weight of the edge to the parent, 0 for a root.
 *
 * Method. Boruvka's [1], as in the CPU engine: in each round every tree selects its first outgoing
 * edge in the strict order (weight, smaller end, larger end), so the forest does not depend on the
 * schedule. As in [2] the minimum is found by atomics on words that hold the weight, mapped to an
 * integer of the same order, and the next parts of the order.
 *   mark      mark the vertices whose cached edge has become internal to their tree; the lists of
 *             the others are not read, nor those of one tree, the giant if there is one: edges that
 *             leave it are selected by other trees or not at all
 *   find      find their first outgoing edges; among edges of the same weight the one to the
 *             smallest neighbor is first. 64-bit weights need a second pass, for the neighbor
 *   offer     every vertex offers its edge to its tree; first the weights, then the ends of those
 *             with the minimum weight
 *   join      every tree with an offered edge joins the tree at its other end; if two trees
 *             selected the same edge, the smaller one stays
 *   update    give all vertices their new trees
 * Finally the trees are rooted (euler_tour.cu).
 *
 * Device memory, for n vertices: 88.7n, 4n more with 64-bit weights.
 *
 * Bytes: in the first round all lists, in lines, with their weights, twice with 64-bit weights, and
 * 16 of offsets a vertex; in the other rounds the marked lists, and 4 at random an entry. In each
 * round 60 a vertex, some of them at random.
 *
 * [1] J. Nesetril, E. Milkova, H. Nesetrilova. Otakar Boruvka on minimum spanning tree problem.
 *     Discrete Mathematics 233, 2001.
 * [2] A. Fallin, A. Gonzalez, J. Seo, M. Burtscher. A High-Performance MST Implementation for GPUs.
 *     SC 2023 (ECL-MST).
 */
#include "cuda/algorithms/spanning_forest.cuh"

/*
 * Get the kernels that read edges, with as many blocks as fit on the device: those for ranks, and
 * those for targets.
 */
template <typename Weight>
static void
list_edge_kernels(const void *(&kernels)[4])
{
	kernels[0] = (const void *) push_words_kernel<Find<Weight, false>>;
	kernels[1] = (const void *) push_slices_kernel<Find<Weight, false>>;
	kernels[2] = (const void *) push_words_kernel<Find<Weight, is_wide<Weight>()>>;
	kernels[3] = (const void *) push_slices_kernel<Find<Weight, is_wide<Weight>()>>;
}

/* Read the lists of the marked vertices. */
template <class Push>
static EmogiStatus
push_marked(Run *run, const Boruvka *boruvka, const Push &push, EmogiError *error)
{
	const Lists<Target> &lists = run->graph.forward;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(push_words_kernel<Push>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				boruvka->marked, run->nwords, run->step, push);
	CUDA_LAUNCH(push_slices_kernel<Push>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				run->step, push);
	return EMOGI_OK;
}

/* Let every tree select an edge and join others; queued on the stream. */
template <typename Weight>
static EmogiStatus
make_round(Run *run, const Boruvka *boruvka, bool first, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	const int	nblocks = run->full_blocks;

	CUDA_LAUNCH(forest_mark_kernel<Weight>, nblocks, BLOCK_THREADS, stream, *boruvka);
	TRY(push_marked(run, boruvka, Find<Weight, false>{*boruvka, first}, error));
	if constexpr (is_wide<Weight>())
		TRY(push_marked(run, boruvka, Find<Weight, true>{*boruvka, first}, error));
	CUDA_LAUNCH(forest_offer_kernel<Weight>, nblocks, BLOCK_THREADS, stream, *boruvka, run->step);
	CUDA_LAUNCH(forest_offer_ends_kernel<Weight>, nblocks, BLOCK_THREADS, stream, *boruvka,
				run->step);
	CUDA_LAUNCH(forest_join_kernel, nblocks, BLOCK_THREADS, stream, *boruvka, run->step);
	CUDA_LAUNCH(forest_follow_kernel, nblocks, BLOCK_THREADS, stream, *boruvka, run->step);
	CUDA_LAUNCH(forest_update_kernel, nblocks, BLOCK_THREADS, stream, *boruvka, run->step);
	CUDA_LAUNCH(forest_vote_kernel, 1, BLOCK_THREADS, stream, *boruvka);
	return EMOGI_OK;
}

/* Join trees until none has an outgoing edge. *njoined: number of joins. */
template <typename Weight>
static EmogiStatus
join_all(Run *run, const Boruvka *boruvka, uint64_t *njoined, EmogiResult *result,
		 EmogiError *error)
{
	const Counters *counters;

	run->control->total = run->nvertices;
	CUDA_LAUNCH(forest_begin_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				run->graph.forward.offsets, *boruvka);
	do
	{
		run->control->level = result->nlevels;
		TRY(make_round<Weight>(run, boruvka, result->nlevels++ == 0, error));
		TRY(emogi_run_read(run, &counters, error));
		*njoined += counters->claimed;
		run->control->done = *njoined;
	} while (counters->claimed > 0);
	return EMOGI_OK;
}

/* Take the arrays. */
static EmogiStatus
take_arrays(Run *run, bool is_wide, Boruvka *boruvka, EmogiError *error)
{
	const uint64_t n = run->nvertices;

	boruvka->nvertices = n;
	TRY(take_array(&run->memory, &boruvka->best, 3 * n, "edges of the forest", error));
	TRY(take_array(&run->memory, &boruvka->tree, (is_wide ? 3 : 2) * n, "trees", error));
	TRY(take_array(&run->memory, &boruvka->open, 2 * run->nwords + 1, "bitmaps of vertices",
				   error));
	boruvka->rank = boruvka->best + n;
	boruvka->edge = boruvka->rank + n;
	boruvka->link = boruvka->tree + n;
	boruvka->target = is_wide ? boruvka->link + n : NULL;
	boruvka->marked = boruvka->open + run->nwords;
	boruvka->giant = boruvka->marked + run->nwords;
	return EMOGI_OK;
}

/* Find the forest, and root it. */
template <typename Weight>
static EmogiStatus
span(Run *run, const EmogiGraph *graph, const EmogiQuery *query, const Boruvka *boruvka,
	 const EulerTour *tour, uint32_t *parent, double *weight, EmogiResult *result,
	 EmogiError *error)
{
	const void *kernels[4];
	Edges		edges = {boruvka->tree, boruvka->edge, 0};

	list_edge_kernels<Weight>(kernels);
	TRY(emogi_run_place(run, graph, query, PLACE_NEAR_WEIGHTS, kernels, 4,
						edge_bytes(graph->weight_type), error));
	TRY(emogi_run_start_clock(run, error));
	TRY(join_all<Weight>(run, boruvka, &edges.nedges, result, error));
	TRY(emogi_euler_tour_trees(run, tour, &edges, parent, error));
	CUDA_TRY(cudaMemsetAsync(weight, 0, run->nvertices * sizeof *weight, run->state->stream));
	CUDA_LAUNCH(forest_weights_kernel<Weight>, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*boruvka, parent, weight);
	return emogi_run_stop_clock(run, result, error);
}

EmogiStatus
emogi_cuda_spanning_forest(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
						   EmogiResult *result, EmogiError *error)
{
	Boruvka		boruvka = {};
	EulerTour	tour = {};
	uint32_t   *parent;
	double	   *weight;

	boruvka.maximum = query->maximum;
	TRY(take_arrays(run, graph->weight_type == EMOGI_WEIGHT_F64, &boruvka, error));
	TRY(emogi_euler_tour_open(run, &tour, error));
	TRY(take_array(&run->memory, &parent, run->nvertices, "parents", error));
	TRY(take_array(&run->memory, &weight, run->nvertices, "weights", error));
	TRY(with_weight(graph->weight_type, [&](auto width) {
		return span<decltype(width)>(run, graph, query, &boruvka, &tour, parent, weight, result,
									 error);
	}));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = run->nvertices;
	TRY(emogi_run_give(run, query, result, 0, parent, error));
	return emogi_run_give(run, query, result, 1, weight, error);
}
