/*
 * spanning_bfs.cuh: a BFS spanning forest of an undirected graph, rooted at the smallest vertex of
 * each component, and traversals of its levels.
 */
#ifndef EMOGI_SPANNING_BFS_CUH
#define EMOGI_SPANNING_BFS_CUH

#include "cuda/access/push.cuh"

/* All arrays are in device memory. They are in addition to those of the search. */
typedef struct SpanningBfs
{
	uint64_t	nvertices;
	const int32_t *level;		/* [nvertices], 0 for a root; owned by the search */
	/* [nvertices], the smallest vertex of the component; reusable once the forest is complete */
	uint32_t   *component;
	/* [nvertices], the smallest neighbor in the previous level; EMOGI_NO_VERTEX for a root */
	uint32_t   *parent;
	uint32_t   *order;			/* [nvertices], level by level, in arbitrary order within a level */
	uint32_t   *starts;			/* [nlevels + 1], index in `order` of each level's first vertex */
	uint32_t   *next;			/* [nlevels + 1], next free index of each level, during
								 * construction */
	uint32_t   *marked;			/* bitmap: vertices with nonempty lists */
	unsigned long long *nroots;
	uint32_t	nlevels;
} SpanningBfs;

/* Take the device memory. */
extern EmogiStatus emogi_spanning_bfs_open(Run *run, SpanningBfs *spanning, EmogiError *error);

/*
 * Place the graph and build the forest. The caller takes all its own memory first. The clock is
 * started and left running. EMOGI_UNSUPPORTED if the graph is too deep.
 */
extern EmogiStatus emogi_spanning_bfs_build(Run *run, const EmogiGraph *graph,
										   const EmogiQuery *query, SpanningBfs *spanning,
										   EmogiResult *result, EmogiError *error);

/*
 * Visit the vertices of a level: visit(vertex). Bytes: 4 a vertex of the level, and those of the
 * visits.
 */
template <class Visit>
static __global__ void __launch_bounds__(BLOCK_THREADS)
spanning_bfs_visit_kernel(const uint32_t *order, const uint32_t *starts, uint32_t level,
						  Visit visit)
{
	const uint32_t end = starts[level + 1];
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t i = starts[level] + (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i < end;
		 i += nthreads)
		visit(order[i]);
}

/*
 * Visit all vertices level by level, from the deepest level up, or from the roots down if `down`;
 * queued on the stream.
 */
template <class Visit>
static EmogiStatus
visit_levels(Run *run, const SpanningBfs *spanning, bool down, const Visit &visit,
			 EmogiError *error)
{
	for (uint32_t i = 0; i < spanning->nlevels; i++)
	{
		if (run->control->cancel)
			return EMOGI_CANCELED;
		CUDA_LAUNCH(spanning_bfs_visit_kernel<Visit>, run->full_blocks, BLOCK_THREADS,
					run->state->stream, spanning->order, spanning->starts,
					down ? i : spanning->nlevels - 1 - i, visit);
	}
	return EMOGI_OK;
}

/*
 * Process the lists of the vertices in `marked` with a Push functor, long ones in slices; queued on
 * the stream.
 */
template <class Push>
static EmogiStatus
push_lists(Run *run, const uint32_t *marked, const Push &push, EmogiError *error)
{
	const Lists<Target> &lists = run->graph.forward;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(push_words_kernel<Push>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				marked, run->nwords, run->step, push);
	CUDA_LAUNCH(push_slices_kernel<Push>, run->nblocks, BLOCK_THREADS, run->state->stream, lists,
				run->step, push);
	return EMOGI_OK;
}

#endif							/* EMOGI_SPANNING_BFS_CUH */
