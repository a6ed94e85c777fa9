/*
 * spanning_bfs.cu: construction of a BFS spanning forest of an undirected graph, as in the CPU
 * engine.
 *
 * The components are those of cc.cu, the levels those of bfs.cu, in one search from all roots. The
 * parent of a vertex is its smallest neighbor in the previous level, so the forest does not depend
 * on the schedule. Vertices are ordered by level; a warp allocates the positions of all its
 * vertices of one level with one atomic.
 *
 * Every level is one launch in each of three traversals, so a graph of more than MAX_LEVELS levels
 * is left to the CPU.
 *
 * Device memory, for n vertices: 12.2n, and that of the search.
 *
 * Bytes: those of the components and the search; all lists, in lines, and 4 at random an entry; 20
 * a vertex.
 */
#include "cuda/access/prefix_sum.cuh"
#include "cuda/algorithms/spanning_bfs.cuh"

#define MAX_LEVELS 16384

/* The vertex whose list an entry is in, and its level. */
typedef struct VertexAndLevel
{
	uint32_t	vertex;
	int32_t		level;
} VertexAndLevel;

/* Push functor that finds parents: each entry in the previous level offers its target. */
struct FindParent
{
	typedef NoWeight Weight;
	typedef VertexAndLevel Value;

	const int32_t *level;
	uint32_t   *parent;

	__device__ __forceinline__ VertexAndLevel
	own(uint64_t vertex) const
	{
		return VertexAndLevel{(uint32_t) vertex, level[vertex]};
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE],
		  const VertexAndLevel (&below)[PIECE], uint32_t wanted) const
	{
		int32_t		above[PIECE];
		/* the last vertex with an offer: targets ascend, so its first is the smallest */
		uint32_t	last = EMOGI_NO_VERTEX;

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			above[j] = wanted >> j & 1 ? __ldg(&level[target[j]]) + 1 : -1;
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			uint32_t   *own = &parent[below[j].vertex];

			if (above[j] != below[j].level || !(wanted >> j & 1) || below[j].vertex == last)
				continue;
			last = below[j].vertex;
			if (target[j] < *(volatile uint32_t *) own)
				atomicMin(own, target[j]);
		}
	}
};

/*
 * List the roots, which are their own components, and mark the vertices with nonempty lists. Bytes:
 * 12 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
spanning_bfs_roots_kernel(const uint64_t *offsets, SpanningBfs spanning)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t base = own - lane_number(); base < spanning.nvertices; base += nthreads)
	{
		const uint64_t v = base + lane_number();
		const bool	there = v < spanning.nvertices;
		const uint32_t filled = __ballot_sync(FULL_WARP, there && offsets[v] < offsets[v + 1]);
		const uint32_t roots = __ballot_sync(FULL_WARP, there && spanning.component[v] == v);
		unsigned long long place = 0;

		if (lane_number() == 0)
		{
			spanning.marked[base / 32] = filled;
			place = roots != 0 ? atomicAdd(spanning.nroots, (unsigned long long) __popc(roots)) : 0;
		}
		place = __shfl_sync(FULL_WARP, place, 0) + __popc(roots & lanes_below());
		if (roots >> lane_number() & 1)
			spanning.order[place] = (uint32_t) v;
	}
}

/*
 * Count the vertices of each level in *next, or if `writes` write them to `order`, at positions
 * allocated from *next. Bytes: 4 a vertex, and 4 if written.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
spanning_bfs_order_kernel(SpanningBfs spanning, bool writes)
{
	for (uint64_t base = first_of_warp(); base < spanning.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		const int32_t level = v < spanning.nvertices ? spanning.level[v] : -1;
		const uint32_t lanes = __match_any_sync(FULL_WARP, level);
		const uint32_t first = __ffs(lanes) - 1;
		uint32_t	place = 0;

		if (lane_number() == first && level >= 0)
			place = atomicAdd(&spanning.next[level], (uint32_t) __popc(lanes));
		place = __shfl_sync(FULL_WARP, place, first) + __popc(lanes & lanes_below());
		if (writes && level >= 0)
			spanning.order[place] = (uint32_t) v;
	}
}

EmogiStatus
emogi_spanning_bfs_open(Run *run, SpanningBfs *spanning, EmogiError *error)
{
	const uint64_t n = run->nvertices;
	const uint64_t nstarts = (n < MAX_LEVELS ? n : MAX_LEVELS) + 1;

	spanning->nvertices = n;
	TRY(take_array(&run->memory, &spanning->component, 3 * n,
				   "components, parents and order of vertices", error));
	TRY(take_array(&run->memory, &spanning->starts, 2 * nstarts + count_tiles(nstarts),
				   "beginnings of levels", error));
	TRY(take_array(&run->memory, &spanning->marked, run->nwords, "bitmap of vertices", error));
	spanning->parent = spanning->component + n;
	spanning->order = spanning->parent + n;
	spanning->next = spanning->starts + nstarts;
	return take_array(&run->memory, &spanning->nroots, 1, "number of trees", error);
}

/* Find the roots of the placed graph. */
static EmogiStatus
find_roots(Run *run, void *with, uint32_t **roots, uint64_t *nroots, EmogiResult *result,
		   EmogiError *error)
{
	SpanningBfs *spanning = (SpanningBfs *) with;
	cudaStream_t stream = run->state->stream;

	TRY(emogi_cuda_components(run, spanning->component, spanning->marked, error));
	TRY(emogi_run_account_read(run, result, error));
	CUDA_TRY(cudaMemsetAsync(spanning->nroots, 0, sizeof *spanning->nroots, stream));
	CUDA_LAUNCH(spanning_bfs_roots_kernel, run->full_blocks, BLOCK_THREADS, stream,
				run->graph.forward.offsets, *spanning);
	*roots = spanning->order;
	return emogi_run_fetch(run, nroots, spanning->nroots, sizeof *nroots, error);
}

/* Order the vertices by level. */
static EmogiStatus
put_in_order(Run *run, const SpanningBfs *spanning, EmogiError *error)
{
	const uint64_t nstarts = spanning->nlevels + UINT64_C(1);
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(spanning->next, 0, nstarts * sizeof *spanning->next, stream));
	CUDA_LAUNCH(spanning_bfs_order_kernel, run->full_blocks, BLOCK_THREADS, stream, *spanning,
				false);
	TRY(prefix_sum(run, spanning->next, nstarts, spanning->next + nstarts, error));
	CUDA_TRY(cudaMemcpyAsync(spanning->starts, spanning->next, nstarts * sizeof *spanning->next,
							 cudaMemcpyDeviceToDevice, stream));
	CUDA_LAUNCH(spanning_bfs_order_kernel, run->full_blocks, BLOCK_THREADS, stream, *spanning,
				true);
	return EMOGI_OK;
}

EmogiStatus
emogi_spanning_bfs_build(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
						SpanningBfs *spanning, EmogiResult *result, EmogiError *error)
{
	int32_t    *level;

	TRY(emogi_cuda_levels_found(run, graph, query, find_roots, spanning, &level, result, error));
	if (result->nlevels > MAX_LEVELS)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "the graph is too deep for the GPU",
								 "%u levels, at most %d", result->nlevels, MAX_LEVELS);
	spanning->level = level;
	spanning->nlevels = result->nlevels;
	CUDA_TRY(cudaMemsetAsync(spanning->parent, 0xFF, run->nvertices * sizeof *spanning->parent,
							 run->state->stream));
	TRY(push_lists(run, spanning->marked, FindParent{level, spanning->parent}, error));
	return put_in_order(run, spanning, error);
}
