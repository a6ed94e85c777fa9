/*
 * cc.cu: weakly connected components.
 *
 * Returns component[nvertices]: the smallest vertex of the component.
 *
 * Method. Afforest [1], on a forest in which every vertex points to a smaller vertex of its tree,
 * or to itself if it is a root. An edge links the root of its larger side to a smaller vertex of
 * the other side [2]. So the remaining roots are the smallest vertices of their components,
 * whatever the schedule. The costs are climbs to roots and atomics. So the first visit of an edge
 * only links its larger end under the smaller one if it is a root, with one read and at most one
 * atomic. Only one edge in a few is hooked, which climbs; that is enough to form one tree of nearly
 * all vertices.
 *   join        device and hybrid placement, join sampled: the first vertices, 6 or 25 percent,
 *               each with its smallest neighbor, or the smallest of its prefix if prefixes lead to
 *               hubs, and that one with the second. If one tree has half of a sample of them, the
 *               other vertices look for it: a vertex whose first neighbor, or that neighbor's first
 *               neighbor, is in the tree points to its root at once. Membership is looked up in a
 *               bitmap, 1/32 of the components' size, which stays in the L2 cache even if
 *               components do not. If there is no such tree or no path to it, a vertex is joined
 *               like the first ones.
 *               host placement, join lines: in ascending order, the first line of the list of each
 *               vertex that is still a root. Its edges cover vertices to come, so 0.11 lines a
 *               vertex cover a random graph of mean degree 32, and 0.26 a Kronecker graph of mean
 *               degree 50.
 *   hook        a sample of vertices determines the giant tree; all vertices point to their roots,
 *               and those outside hook with their first two neighbors
 *   rest        sample again; all vertices point to their roots, and only vertices outside the
 *               giant tree hook along their whole lists, forward and backward: an edge with both
 *               ends inside merges nothing. If any trees were merged, all vertices point to their
 *               roots once more
 * Without backward lists an edge of a directed graph might be visible only from inside. So then the
 * rest phase reads all lists: most edges have both ends under one root, which takes two reads to
 * see. The kernels are in cc.cuh. The host waits only for the last one.
 *
 * Bytes, for n vertices: initialization 4 a vertex; join sampled 4 of a prefix, or 16 of offsets
 * and 32 of the list, 4 to 8 for marking, 4 to 8 of the own parent and a random read of the bitmap,
 * for the first vertices and those without a path 16 of prefixes and 2 to 3 random reads of 4; join
 * lines 20 a vertex, the lines, and 1 random read an edge, more for one in eight; hook 8 and about
 * 2 random reads, marking 4 to 8; rest: the lists outside, in lines, and at least two random reads
 * of 4 an edge.
 *
 * [1] M. Sutton, T. Ben-Nun, A. Barak: Optimizing Parallel Graph Connectivity Computation via
 *     Subgraph Sampling. IPDPS 2018.
 * [2] M. M. A. Patwary, J. Blair, F. Manne: Experiments on Union-Find Algorithms for the
 *     Disjoint-Set Data Structure. SEA 2010 (Rem's algorithm).
 * [3] R. E. Tarjan, J. van Leeuwen: Worst-Case Analysis of Set Union Algorithms. Journal of the ACM
 *     31(2), 1984 (path splitting).
 */
#include "cuda/algorithms/cc.cuh"
#include "cuda/algorithms/cc_together.cuh"

/* They read edges, with as many blocks as fit on the device. */
static const void *const edge_kernels[] = {
	(const void *) push_words_kernel<Hook>, (const void *) push_slices_kernel<Hook>,
	(const void *) cc_join_lines_kernel
};

/* Hook along all lists of the marked vertices. */
static EmogiStatus
hook_lists(Run *run, const Lists<Target> &lists, const uint32_t *marked, uint32_t *component,
		   Forest *forest, EmogiError *error)
{
	const Hook	push = {component, forest};

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(push_words_kernel<Hook>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				marked, run->nwords, run->step, push);
	CUDA_LAUNCH(push_slices_kernel<Hook>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				run->step, push);
	return EMOGI_OK;
}

/*
 * Form one tree of most vertices, and store its root in the forest. Uses `marked`, and the helpers
 * of `all` if there are any.
 */
static EmogiStatus
grow_giant(Run *run, uint32_t *component, uint32_t *marked, Forest *forest, CcSharedStep *all,
		   EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	const Lists<Target> &forward = run->graph.forward;

	if (all != NULL && all->shared_step->nhelpers > 0)
		TRY(join_together(all, error));
	else if (forward.prefixes == NULL && run->graph.placement != EMOGI_PLACEMENT_DEVICE)
	{
		CUDA_TRY(cudaMemsetAsync(marked, 0xFF, run->nwords * sizeof *marked, stream));
		TRY(emogi_run_begin_step(run, error));
		CUDA_LAUNCH(cc_join_lines_kernel, run->nblocks, BLOCK_THREADS, stream, forward,
					run->nvertices, marked, 0, run->nwords, component, run->step);
	}
	else
	{
		if (forward.prefixes != NULL && run->graph.placement == EMOGI_PLACEMENT_DEVICE &&
			run->nvertices * sizeof *component > SMALL_BYTES)
			CUDA_LAUNCH(cc_choose_sample_kernel, 1, BLOCK_THREADS, stream, forward, run->nvertices,
						forest);
		CUDA_LAUNCH(cc_join_sampled_kernel, run->full_blocks, BLOCK_THREADS, stream, forward,
					run->nvertices, false, component, marked, forest, run->step);
		if (run->nvertices >= START_MIN_VERTICES)
		{
			CUDA_LAUNCH(cc_vote_kernel, 1, BLOCK_THREADS, stream, component,
						run->nvertices / START_HUBS, true, forest);
			CUDA_LAUNCH(cc_mark_outside_kernel, run->full_blocks, BLOCK_THREADS, stream, component,
						run->nvertices, forest, false, marked);
			CUDA_LAUNCH(cc_join_sampled_kernel, run->full_blocks, BLOCK_THREADS, stream, forward,
						run->nvertices, true, component, marked, forest, run->step);
		}
	}
	CUDA_LAUNCH(cc_vote_kernel, 1, BLOCK_THREADS, stream, component, run->nvertices, false, forest);
	CUDA_LAUNCH(cc_hook_outside_kernel, run->full_blocks, BLOCK_THREADS, stream, forward,
				run->nvertices, component, forest, run->step);
	CUDA_LAUNCH(cc_vote_kernel, 1, BLOCK_THREADS, stream, component, run->nvertices, false, forest);
	return EMOGI_OK;
}

/* Find the components, with the helpers of `all` if there are any; NULL = none. */
static EmogiStatus
connect(Run *run, uint32_t *component, uint32_t *marked, Forest *forest, CcSharedStep *all,
		EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	const Lists<Target> &forward = run->graph.forward;
	const Lists<Target> &backward = run->graph.backward;
	const bool	one_way = backward.offsets == NULL;

	CUDA_LAUNCH(cc_init_kernel, run->full_blocks, BLOCK_THREADS, stream, component, run->nvertices,
				forward.prefixes != NULL, forest);
	if (forward.nedges == 0)
		return EMOGI_OK;
	TRY(grow_giant(run, component, marked, forest, all, error));
	CUDA_LAUNCH(cc_mark_outside_kernel, run->full_blocks, BLOCK_THREADS, stream, component,
				run->nvertices, forest, one_way, marked);
	TRY(hook_lists(run, forward, marked, component, forest, error));
	if (!one_way && backward.offsets != forward.offsets)
		TRY(hook_lists(run, backward, marked, component, forest, error));
	CUDA_LAUNCH(cc_compress_kernel, run->full_blocks, BLOCK_THREADS, stream, component,
				run->nvertices, forest);
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_components(Run *run, uint32_t *component, uint32_t *marked, EmogiError *error)
{
	Forest	   *forest;

	TRY(take_array(&run->memory, &forest, 1, "forest", error));
	TRY(connect(run, component, marked, forest, NULL, error));
	emogi_memory_return(&run->memory, forest);
	return EMOGI_OK;
}

/* Take the arrays of a helper. */
static EmogiStatus
take_helper(Run *run, void *with, int i, EmogiError *error)
{
	CcMember   *member = &((CcSharedStep *) with)->member[i + 1];

	TRY(take_array(&run->memory, &member->component, run->nvertices, "components", error));
	TRY(take_array(&run->memory, &member->covered, run->nwords, "bitmap of covered vertices",
				   error));
	TRY(take_array(&run->memory, &member->open, run->nwords, "bitmap of open vertices", error));
	return take_array(&run->memory, &member->forest, 1, "forest", error);
}

/* Open the helpers' runs, if there are any and they would help. */
static EmogiStatus
open_shared_step(CcSharedStep *all, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiError *error)
{
	const bool	reads_lines = run->graph.forward.prefixes == NULL &&
		run->graph.placement != EMOGI_PLACEMENT_DEVICE;

	all->shared_step = run->shared_step;
	if (!reads_lines || graph->forward.nedges == 0 ||
		(run->nvertices < TOGETHER_MIN_VERTICES && !run->state->always_help))
		return EMOGI_OK;
	TRY(emogi_shared_step_open(all->shared_step, graph, query, 0, edge_kernels,
							   lengthof(edge_kernels), sizeof(Target),
							   take_helper, all, error));
	return all->shared_step->nhelpers > 0 ? take_array(&run->memory, &all->member[0].covered,
													   run->nwords,
													   "bitmap of covered vertices",
													   error) : EMOGI_OK;
}

EmogiStatus
emogi_cuda_cc(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			  EmogiError *error)
{
	uint32_t   *component;
	uint32_t   *marked;
	Forest	   *forest;
	CcSharedStep		all = {};

	TRY(take_array(&run->memory, &component, run->nvertices, "components", error));
	TRY(take_array(&run->memory, &marked, run->nwords, "bitmap of vertices", error));
	TRY(take_array(&run->memory, &forest, 1, "forest", error));
	TRY(emogi_run_place(run, graph, query, PLACE_BACKWARD | PLACE_FORWARD_PREFIXES,
						edge_kernels, lengthof(edge_kernels), sizeof(Target), error));
	TRY(open_shared_step(&all, run, graph, query, error));
	all.member[0].component = component;
	all.member[0].open = marked;
	all.member[0].forest = forest;
	TRY(emogi_run_start_clock(run, error));
	TRY(connect(run, component, marked, forest, &all, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	TRY(emogi_shared_step_account(all.shared_step, result, error));
	result->nreached = run->nvertices;
	result->nlevels = 1;
	return emogi_run_give(run, query, result, 0, component, error);
}
