/*
 * rooted.cuh: a forest that spans an undirected graph, searched breadth-first from the smallest vertex of each component, and walks over
 * its levels.
 */
#ifndef EMOGI_ROOTED_CUH
#define EMOGI_ROOTED_CUH

#include "cuda/access/push.cuh"

/* Arrays in device memory, all but those that the search takes. */
typedef struct SpanningBfs
{
	uint64_t	nvertices;
	const int32_t *level;		/* [nvertices], a root's is 0; of the search */
	/* [nvertices], the smallest vertex of the component; free once the forest stands */
	uint32_t   *component;
	/* [nvertices], the smallest neighbour in the level above; EMOGI_NO_VERTEX of a root */
	uint32_t   *parent;
	uint32_t   *order;			/* [nvertices], level by level, within one in no order */
	uint32_t   *starts;			/* [nlevels + 1], where levels begin in the order */
	uint32_t   *next;			/* [nlevels + 1], free places, while the order is made */
	uint32_t   *marked;			/* bitmap: all vertices that have a list */
	unsigned long long *nroots;
	uint32_t	nlevels;
} SpanningBfs;

/* Take the device memory. */
extern EmogiStatus emogi_spanning_bfs_open(Run *run, SpanningBfs *rooted, EmogiError *error);

/*
 * Place the Graph, after all else that the caller takes, and make the forest. Starts the clock, and leaves it running. EMOGI_UNSUPPORTED when it
 * is too deep.
 */
extern EmogiStatus emogi_spanning_bfs_grow(Run *run, const EmogiGraph *graph,
										   const EmogiQuery *query, SpanningBfs *rooted,
										   EmogiResult *result, EmogiError *error);

/* Bring the kernels to the device. */
extern EmogiStatus emogi_spanning_bfs_load(EmogiError *error);

/* Visit the vertices of a level: visit(vertex). Bytes: 4 a vertex of it, and those of the visits. */
template <class Visit>
static __global__ void __launch_bounds__(BLOCK_THREADS)
rooted_visit_kernel(const uint32_t *order, const uint32_t *starts, uint32_t level, Visit visit)
{
	const uint32_t end = starts[level + 1];
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t i = starts[level] + (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i < end;
		 i += nthreads)
		visit(order[i]);
}

/* Visit all vertices, a level when the one below it has been, or `down`: the one above it; queued on the stream. */
template <class Visit>
static EmogiStatus
visit_levels(Run *run, const SpanningBfs *rooted, bool down, const Visit &visit, EmogiError *error)
{
	for (uint32_t i = 0; i < rooted->nlevels; i++)
	{
		if (run->control->cancel)
			return EMOGI_CANCELED;
		CUDA_LAUNCH(rooted_visit_kernel<Visit>, run->full_blocks, BLOCK_THREADS, run->state->stream,
					rooted->order, rooted->starts, down ? i : rooted->nlevels - 1 - i, visit);
	}
	return EMOGI_OK;
}

/* Look at all lists by a Push, long ones in slices; queued on the stream. `marked`: whose. */
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

#endif							/* EMOGI_ROOTED_CUH */
