/*
 * cc_together.cuh: CC's line-reading phase on several GPUs (shared_step.cuh), each with a forest of
 * its own.
 *
 * A vertex that one GPU has linked needs no line on another. So the vertices are processed in
 * stages. In a stage each GPU reads the lines of its share, as cc_join_lines_kernel does on one
 * GPU. Between stages the GPUs exchange a bitmap of the vertices that any of them has covered. In a
 * random graph with d edges a line, a fraction ln(1 + d x) / d of all lines has been read when the
 * fraction x of the vertices is covered. So stages of equal work end at x = ((1 + d)^(k / stages) -
 * 1) / d. A GPU wastes the lines that another GPU covers in the same stage: with two GPUs about one
 * line in 2 * stages. Finally the leader merges the other forests. Nearly all of their vertices are
 * in the giant tree, which one bit a vertex tells.
 *
 * The result does not depend on which lines were read: vertices outside the giant tree then read
 * their whole lists (cc.cu).
 */
#ifndef EMOGI_CC_TOGETHER_CUH
#define EMOGI_CC_TOGETHER_CUH

#include <math.h>

#include "cuda/algorithms/cc.cuh"
#include "cuda/multi_gpu/shared_step.cuh"

#define TOGETHER_STAGES 2		/* measured with two H200: one more stage costs 0.1 to 0.5 ms and
								 * saves fewer lines than that */
#define TOGETHER_MIN_VERTICES (UINT64_C(1) << 22) /* with fewer vertices the lines take less
													 * time than the stages */

/* State of one GPU. */
typedef struct CcMember
{
	uint32_t   *component;		/* [nvertices] */
	uint32_t   *covered;		/* bitmap [nwords]: vertices that are no longer roots, here or,
								 * after a stage, on any GPU; finally the vertices outside the
								 * giant tree */
	uint32_t   *open;			/* bitmap [nwords]: vertices of its share that are not known to be
								 * covered */
	Forest	   *forest;
} CcMember;

typedef struct CcSharedStep
{
	SharedStep *shared_step;
	CcMember	member[EMOGI_MAX_HELPERS + 1];	/* [0] is the leader */
} CcSharedStep;

/* Add the vertices that are not roots to a bitmap, from first_word on. Bytes: 4 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_cover_kernel(const uint32_t *component, uint64_t first_word, uint64_t nvertices,
				uint32_t *covered)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t base = first_word * 32 + own - lane_number(); base < nvertices; base += nthreads)
	{
		const uint64_t vertex = base + lane_number();
		const uint32_t bits = __ballot_sync(FULL_WARP,
											vertex < nvertices && component[vertex] != vertex);

		if (lane_number() == 0)
			covered[base / 32] |= bits;
	}
}

/*
 * Merge the giant tree with that of another forest if one of a sample of vertices is in both; the
 * other root is then the twin. In the other forest all vertices point to their roots. One block.
 * Bytes: 4 a step up, and 4 from the other GPU's memory, at random.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_join_giants_kernel(uint32_t *component, uint64_t nvertices, Forest *forest,
					  const uint32_t *others, const Forest *other)
{
	const uint64_t vertex = (nvertices + BLOCK_THREADS - 1) / BLOCK_THREADS * threadIdx.x;
	const bool	in_both = vertex < nvertices &&
		root_of(component, (uint32_t) vertex) == forest->giant && others[vertex] == other->giant;
	const bool	are_one = __syncthreads_or(in_both);

	if (threadIdx.x != 0)
		return;
	forest->twin = are_one ? other->giant : EMOGI_NO_VERTEX;
	if (are_one)
		hook(component, forest->giant, other->giant);
}

/*
 * Merge the tree of each vertex with its tree in another forest, which has a bitmap of the vertices
 * outside its giant tree. Roots are linked directly, so few threads climb. Bytes: 4 to 8 a vertex;
 * 1/8 from the other GPU's memory, and 4 for vertices outside; a random read of 4 for each vertex
 * that is not in both giant trees.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cc_join_forest_kernel(uint32_t *component, uint64_t nvertices, const Forest *forest,
					  const uint32_t *others, const uint32_t *outside, const Forest *other)
{
	const uint32_t giant = forest->giant;
	const uint32_t its_giant = other->giant;
	const uint32_t inside = forest->twin == its_giant ? giant : its_giant;

	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t vertex = base + lane_number();
		uint32_t	above;
		uint32_t	root;
		uint32_t	parent;

		if (vertex >= nvertices)
			continue;
		above = outside[base / 32] >> lane_number() & 1 ? others[vertex] : inside;
		root = compress_path(component, (uint32_t) vertex, giant);
		if (above == root || above == vertex)
			continue;
		parent = parent_of(component, root > above ? root : above);
		if (parent != (root > above ? above : root) && !link_root(component, root, above, parent))
			hook(component, root, above);
	}
}

/* Get the word at which a stage ends. */
static inline uint64_t
stage_end(const Run *run, int stage, int nmembers)
{
	const uint64_t round = (uint64_t) SHARED_WORDS * (uint64_t) nmembers;
	const double mean = (double) run->graph.forward.nedges / (double) run->nvertices;
	const double entries = mean < 1.0 ? 1.0 : mean < ENTRIES ? mean : ENTRIES;
	const double part = (pow(1.0 + entries, (double) stage / TOGETHER_STAGES) - 1.0) / entries;
	const uint64_t end = ((uint64_t) (part * (double) run->nwords) + round - 1) / round * round;

	return stage == TOGETHER_STAGES || end > run->nwords ? run->nwords : end;
}

/*
 * Queue a GPU's part of a stage in its own stream: the lines of the words [first, end) for its
 * share of the vertices that no GPU is known to have covered.
 */
static EmogiStatus
queue_stage(Run *run, const CcMember *member, uint64_t first, uint64_t end, EmogiError *error)
{
	Step		step = run->step;

	/* a stage has few words, and one line a vertex: spread them over all blocks */
	step.batch_words = BLOCK_WARPS;
	CUDA_LAUNCH(cc_join_lines_kernel, run->nblocks, BLOCK_THREADS, run->state->stream,
				run->graph.forward, run->nvertices, member->open, first, end - first,
				member->component, step);
	CUDA_LAUNCH(cc_cover_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				member->component, end, run->nvertices, member->covered);
	return EMOGI_OK;
}

/* Run a stage on all GPUs. */
static EmogiStatus
make_stage(CcSharedStep *all, uint64_t first, uint64_t end, EmogiError *error)
{
	SharedStep *shared_step = all->shared_step;
	const uint32_t *covered = all->member[0].covered;

	TRY(emogi_shared_step_ready(shared_step, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
	{
		const CcMember *member = &all->member[i + 1];
		Run		   *run = &shared_step->helper[i].run;

		TRY(emogi_shared_step_begin_part(shared_step, i,
										 SharedStepInput{covered, FULL_WARP, member->open,
														 {covered}, {member->covered}}, error));
		TRY(queue_stage(run, member, first, end, error));
		TRY(emogi_shared_step_end_part(shared_step, i, error));
	}
	TRY(emogi_run_begin_step(shared_step->leader, error));
	TRY(emogi_shared_step_share(shared_step, covered, FULL_WARP, all->member[0].open, error));
	TRY(queue_stage(shared_step->leader, &all->member[0], first, end, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(emogi_shared_step_join(shared_step, i, all->member[0].covered,
								   all->member[i + 1].covered, error));
	return EMOGI_OK;
}

/* Merge the forests of the helpers into the leader's. */
static EmogiStatus
take_over(CcSharedStep *all, EmogiError *error)
{
	SharedStep *shared_step = all->shared_step;
	Run		   *leader = shared_step->leader;
	cudaStream_t stream = leader->state->stream;
	const CcMember *own = &all->member[0];

	TRY(emogi_shared_step_ready(shared_step, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
	{
		const CcMember *member = &all->member[i + 1];
		Run		   *run = &shared_step->helper[i].run;

		TRY(emogi_shared_step_begin_part(shared_step, i, SharedStepInput{}, error));
		CUDA_LAUNCH(cc_vote_kernel, 1, BLOCK_THREADS, run->state->stream, member->component,
					run->nvertices, false, member->forest);
		CUDA_LAUNCH(cc_mark_outside_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					member->component, run->nvertices, member->forest, false, member->covered);
		TRY(emogi_shared_step_end_part(shared_step, i, error));
	}
	CUDA_LAUNCH(cc_vote_kernel, 1, BLOCK_THREADS, stream, own->component, leader->nvertices, false,
				own->forest);
	for (int i = 0; i < shared_step->nhelpers; i++)
	{
		const CcMember *member = &all->member[i + 1];

		TRY(emogi_shared_step_wait(shared_step, i, error));
		CUDA_LAUNCH(cc_join_giants_kernel, 1, BLOCK_THREADS, stream, own->component,
					leader->nvertices, own->forest, member->component, member->forest);
		CUDA_LAUNCH(cc_join_forest_kernel, leader->full_blocks, BLOCK_THREADS, stream,
					own->component, leader->nvertices, own->forest, member->component,
					member->covered, member->forest);
	}
	return EMOGI_OK;
}

/* Initialize the forests of the helpers: every vertex is a root. */
static EmogiStatus
init_forests(CcSharedStep *all, EmogiError *error)
{
	SharedStep *shared_step = all->shared_step;

	TRY(emogi_shared_step_ready(shared_step, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
	{
		const CcMember *member = &all->member[i + 1];
		Run		   *run = &shared_step->helper[i].run;

		TRY(emogi_shared_step_begin_part(shared_step, i, SharedStepInput{}, error));
		CUDA_LAUNCH(cc_init_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					member->component, run->nvertices, false, member->forest);
		TRY(emogi_shared_step_end_part(shared_step, i, error));
	}
	return EMOGI_OK;
}

/* Read and merge lines with all helpers. The leader's forest is initialized. */
static EmogiStatus
join_together(CcSharedStep *all, EmogiError *error)
{
	const Run  *run = all->shared_step->leader;
	uint64_t	first = 0;

	CUDA_TRY(cudaMemsetAsync(all->member[0].covered, 0, run->nwords * sizeof(uint32_t),
							 run->state->stream));
	TRY(init_forests(all, error));
	for (int stage = 1; stage <= TOGETHER_STAGES; stage++)
	{
		const uint64_t end = stage_end(run, stage, all->shared_step->nhelpers + 1);

		if (end > first)
			TRY(make_stage(all, first, end, error));
		first = end;
	}
	return take_over(all, error);
}

#endif							/* EMOGI_CC_TOGETHER_CUH */
