/*
 * biconnected.cu: bridges, articulation points and biconnected components of an undirected graph.
 *
 * Returns one of:
 *   bridges               other[nvertices]: the other end of the bridge from a vertex toward the
 *                         smallest vertex of its component, EMOGI_NO_VERTEX = none
 *   articulation points   components[nvertices]: number of blocks that contain the vertex, 0 if it
 *                         is not an articulation point
 *   blocks                component[nvertices] and parent[nvertices], see contract/biconnected.h
 *
 * Method: FAST-BCC [1] on the trees of spanning_bfs.cu, as in the CPU engine (cpu/biconnected.c has
 * the proof).
 *   numbers     subtree sizes, level by level upward, and from them preorder numbers, downward
 *   reach       low and high: minimum and maximum number in each list, except one edge to the
 *               parent, then over subtrees, upward
 *   bridges     the edge above v is a bridge if no other edge leaves v's subtree; it is a fence if
 *               no edge of v's subtree leaves the subtree of v's parent
 *   labels      union-find, as in cc.cu: each vertex with its parent unless there is a fence
 *               between them, and along non-tree edges: first with the first and the last neighbor;
 *               then, except in the giant block, along whole lists
 *   tops        of each block: the parent of its topmost vertices, and its smallest vertices
 * Preorder numbers depend on the schedule; the results do not.
 *
 * Device memory, for n vertices: 16.1n, 12.2n for the trees, that of the search, and up to 28.3n
 * for the result.
 *
 * Bytes: those of the components and the search; all lists twice, in lines, and 4 at random an
 * entry; the lists outside the giant block once more, and 12 at random an entry; 120 a vertex, half
 * of them at random.
 *
 * [1] X. Dong, L. Wang, Y. Gu, Y. Sun. Provably Fast and Space-Efficient Parallel Biconnectivity.
 *     PPoPP 2023. Section 4.
 */
#include "cuda/algorithms/biconnected.cuh"
#include "cuda/algorithms/cc.cuh"

/* ---- numbers ---- */

/* Set the size of every subtree to 1. Bytes: 4 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_sizes_kernel(Blocks blocks)
{
	for_each(blocks.nvertices, [&](uint64_t v) {
		blocks.size[v] = 1;
	});
}

/* Visitor that adds a vertex's subtree size to its parent's. */
struct AddSize
{
	Blocks		blocks;

	__device__ __forceinline__ void
	operator()(uint32_t v) const
	{
		if (blocks.parent[v] != EMOGI_NO_VERTEX)
			atomicAdd(&blocks.size[blocks.parent[v]], blocks.size[v]);
	}
};

/* Visitor that assigns a vertex its preorder number, and its subtree the next ones. */
struct AssignNumber
{
	Blocks		blocks;

	__device__ __forceinline__ void
	operator()(uint32_t v) const
	{
		const uint32_t parent = blocks.parent[v];
		const uint32_t first = atomicAdd(parent != EMOGI_NO_VERTEX ? &blocks.low[parent] :
										 blocks.nnumbered, blocks.size[v]);

		blocks.first[v] = first;
		blocks.low[v] = first + 1;
	}
};

/* ---- reach ---- */

/* Initialize low and high to the own number. Bytes: 12 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_reach_kernel(Blocks blocks)
{
	for_each(blocks.nvertices, [&](uint64_t v) {
		blocks.low[v] = blocks.high[v] = blocks.first[v];
	});
}

/* Lower or raise a number atomically. */
static __device__ __forceinline__ void
lower(uint32_t *number, uint32_t to)
{
	if (to < *(volatile uint32_t *) number)
		atomicMin(number, to);
}

static __device__ __forceinline__ void
raise(uint32_t *number, uint32_t to)
{
	if (to > *(volatile uint32_t *) number)
		atomicMax(number, to);
}

/* The vertex whose list an entry is in, and its parent. */
typedef struct VertexAndParent
{
	uint32_t	vertex;
	uint32_t	parent;
} VertexAndParent;

/*
 * Push functor: find the minimum and the maximum number in each list, except one edge to the
 * parent.
 */
struct FindReach
{
	typedef NoWeight Weight;
	typedef VertexAndParent Value;

	Blocks		blocks;

	__device__ __forceinline__ VertexAndParent
	own(uint64_t vertex) const
	{
		return VertexAndParent{(uint32_t) vertex, blocks.parent[vertex]};
	}

	/* Say whether this is the first edge to the parent that any thread has seen. */
	__device__ __forceinline__ bool
	is_above(const VertexAndParent &owner, Target target) const
	{
		const uint32_t bit = 1u << owner.vertex % 32;

		return target == owner.parent && (atomicOr(&blocks.parent_seen[owner.vertex / 32], bit) &
										  bit) == 0;
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE],
		  const VertexAndParent (&owner)[PIECE], uint32_t wanted) const
	{
		uint32_t	min[PIECE];
		uint32_t	max[PIECE];

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			min[j] = max[j] = __ldg(&blocks.first[wanted >> j & 1 ? target[j] : 0]);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if (!(wanted >> j & 1) || is_above(owner[j], target[j]))
			{
				min[j] = UINT32_MAX;
				max[j] = 0;
			}
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			const uint32_t next = j + 1 < PIECE ? j + 1 : j;

			if (next > j && (wanted >> next & 1) && owner[next].vertex == owner[j].vertex)
			{
				/* one atomic for all entries of a list */
				min[next] = min[next] < min[j] ? min[next] : min[j];
				max[next] = max[next] > max[j] ? max[next] : max[j];
			}
			else if (wanted >> j & 1)
			{
				lower(&blocks.low[owner[j].vertex], min[j]);
				raise(&blocks.high[owner[j].vertex], max[j]);
			}
		}
	}
};

/* Visitor that merges a vertex's low and high into its parent's. */
struct MergeReach
{
	Blocks		blocks;

	__device__ __forceinline__ void
	operator()(uint32_t v) const
	{
		const uint32_t parent = blocks.parent[v];

		if (parent == EMOGI_NO_VERTEX)
			return;
		lower(&blocks.low[parent], blocks.low[v]);
		raise(&blocks.high[parent], blocks.high[v]);
	}
};

/*
 * Say whether all edges of v's subtree, except the edge above v, stay in the subtree of `above`,
 * which is v or its parent.
 */
static __device__ __forceinline__ bool
stays_below(const Blocks &blocks, uint64_t v, uint64_t above)
{
	return blocks.low[v] >= blocks.first[above] &&
		blocks.high[v] - blocks.first[above] < blocks.size[above];
}

/* Keep the parents of vertices below a bridge, and clear the others. Bytes: 20 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_bridges_kernel(Blocks blocks)
{
	for_each(blocks.nvertices, [&](uint64_t v) {
		if (!stays_below(blocks, v, v))
			blocks.parent[v] = EMOGI_NO_VERTEX;
	});
}

/* ---- labels ---- */

/* Union the ends of a non-tree edge. */
static __device__ __forceinline__ void
join_across(const Blocks &blocks, uint32_t v, uint32_t parent, uint32_t w)
{
	if (w != v && w != parent && v != __ldg(&blocks.parent[w]))
		hook(blocks.label, v, w);
}

/* Make every vertex a block of its own. Bytes: 4 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_labels_kernel(Blocks blocks, Forest *forest)
{
	for_each(blocks.nvertices, [&](uint64_t v) {
		blocks.label[v] = (uint32_t) v;
	});
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*forest = Forest{EMOGI_NO_VERTEX, 1, 0, 0};
}

/*
 * Union every vertex with its parent, unless the edge is a fence, and with its first and last
 * neighbor. Bytes: 32 a vertex, and at random 12 of the parent, 8 of neighbors and 16 of labels.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_join_kernel(Lists<Target> lists, Blocks blocks)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < blocks.nvertices;
		 v += nthreads)
	{
		const uint32_t parent = blocks.parent[v];

		if (parent == EMOGI_NO_VERTEX)
			continue;
		if (!stays_below(blocks, v, parent))
			hook(blocks.label, (uint32_t) v, parent);
		join_across(blocks, (uint32_t) v, parent, __ldg(&lists.targets[lists.offsets[v]]));
		join_across(blocks, (uint32_t) v, parent, __ldg(&lists.targets[lists.offsets[v + 1] - 1]));
	}
}

/* Push functor: union the ends of non-tree edges. */
struct JoinAcross
{
	typedef NoWeight Weight;
	typedef VertexAndParent Value;

	Blocks		blocks;

	__device__ __forceinline__ VertexAndParent
	own(uint64_t vertex) const
	{
		return VertexAndParent{(uint32_t) vertex, blocks.parent[vertex]};
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE],
		  const VertexAndParent (&owner)[PIECE], uint32_t wanted) const
	{
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if (wanted >> j & 1)
				join_across(blocks, owner[j].vertex, owner[j].parent, target[j]);
	}
};

/*
 * Find the top of each block, and the second of its other vertices; the first is its label. Bytes:
 * 8 a vertex, and 12 at random.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_tops_kernel(Blocks blocks)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < blocks.nvertices;
		 v += nthreads)
	{
		const uint32_t label = blocks.label[v];
		const uint32_t parent = blocks.parent[v];

		if (parent == EMOGI_NO_VERTEX)
			continue;
		if (blocks.label[parent] != label)
			blocks.top[label] = parent;	/* the same for all topmost vertices of a block */
		if (label != v)
			lower(&blocks.second[label], (uint32_t) v);
	}
}

/* ---- articulation points ---- */

/* Count the block of the edge above each vertex. Bytes: 12 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_above_kernel(Blocks blocks, unsigned long long *components)
{
	for_each(blocks.nvertices, [&](uint64_t v) {
		components[v] = blocks.parent[v] != EMOGI_NO_VERTEX;
	});
}

/* Count each block at its top. Bytes: 8 a vertex, and 12 at random a block. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_below_kernel(Blocks blocks, unsigned long long *components, Step step)
{

	if (is_halted(step))
		return;					/* a block may have no top yet */
	for_each(blocks.nvertices, [&](uint64_t v) {
		if (is_block(blocks, v))
			atomicAdd(&components[blocks.top[v]], 1ull);
	});
}

/* Clear the vertices that are in one block only. Bytes: 8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
blocks_drop_kernel(uint64_t nvertices, unsigned long long *components)
{
	for_each(nvertices, [&](uint64_t v) {
		if (components[v] < 2)
			components[v] = 0;
	});
}

/* ---- algorithms ---- */

/* Take the arrays. */
static EmogiStatus
take_arrays(Run *run, Blocks *blocks, EmogiError *error)
{
	const uint64_t n = run->nvertices;

	blocks->nvertices = n;
	TRY(emogi_spanning_bfs_open(run, &blocks->spanning, error));
	TRY(take_array(&run->memory, &blocks->first, 4 * n, "numbers of vertices", error));
	TRY(take_array(&run->memory, &blocks->parent_seen, run->nwords + 1, "bitmap of edges above",
				   error));
	blocks->size = blocks->first + n;
	blocks->low = blocks->size + n;
	blocks->high = blocks->low + n;
	blocks->nnumbered = blocks->parent_seen + run->nwords;
	blocks->parent = blocks->spanning.parent;
	blocks->label = blocks->spanning.component;
	blocks->top = blocks->low;
	blocks->second = blocks->high;
	return EMOGI_OK;
}

/* Compute preorder numbers, low and high. */
static EmogiStatus
find_reach(Run *run, const Blocks *blocks, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	/* and `nnumbered` */
	CUDA_TRY(cudaMemsetAsync(blocks->parent_seen, 0,
							 (run->nwords + 1) * sizeof *blocks->parent_seen, stream));
	CUDA_LAUNCH(blocks_sizes_kernel, run->full_blocks, BLOCK_THREADS, stream, *blocks);
	TRY(visit_levels(run, &blocks->spanning, false, AddSize{*blocks}, error));
	TRY(visit_levels(run, &blocks->spanning, true, AssignNumber{*blocks}, error));
	CUDA_LAUNCH(blocks_reach_kernel, run->full_blocks, BLOCK_THREADS, stream, *blocks);
	TRY(push_lists(run, blocks->spanning.marked, FindReach{*blocks}, error));
	return visit_levels(run, &blocks->spanning, false, MergeReach{*blocks}, error);
}

/* Find the label of every non-root vertex, and the top and the second vertex of each block. */
static EmogiStatus
find_blocks(Run *run, const Blocks *blocks, Forest *forest, EmogiError *error)
{
	uint32_t   *marked = blocks->spanning.marked;
	const uint64_t n = run->nvertices;
	const int	nblocks = run->full_blocks;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(blocks_labels_kernel, nblocks, BLOCK_THREADS, stream, *blocks, forest);
	CUDA_LAUNCH(blocks_join_kernel, nblocks, BLOCK_THREADS, stream, run->graph.forward, *blocks);
	CUDA_LAUNCH(cc_compress_kernel, nblocks, BLOCK_THREADS, stream, blocks->label, n, forest);
	CUDA_LAUNCH(cc_vote_kernel, 1, BLOCK_THREADS, stream, blocks->label, n, false, forest);
	CUDA_LAUNCH(cc_mark_outside_kernel, nblocks, BLOCK_THREADS, stream, blocks->label, n, forest,
				false, marked);
	TRY(push_lists(run, marked, JoinAcross{*blocks}, error));
	CUDA_LAUNCH(cc_compress_kernel, nblocks, BLOCK_THREADS, stream, blocks->label, n, forest);
	CUDA_TRY(cudaMemsetAsync(blocks->top, 0xFF, n * sizeof *blocks->top, stream));
	CUDA_TRY(cudaMemsetAsync(blocks->second, 0xFF, n * sizeof *blocks->second, stream));
	CUDA_LAUNCH(blocks_tops_kernel, nblocks, BLOCK_THREADS, stream, *blocks);
	return EMOGI_OK;
}

/* Fill the first column of articulation points. */
static EmogiStatus
count_blocks(Run *run, const Blocks *blocks, unsigned long long *components, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(blocks_above_kernel, run->full_blocks, BLOCK_THREADS, stream, *blocks, components);
	CUDA_LAUNCH(blocks_below_kernel, run->full_blocks, BLOCK_THREADS, stream, *blocks, components,
				run->step);
	CUDA_LAUNCH(blocks_drop_kernel, run->full_blocks, BLOCK_THREADS, stream, run->nvertices,
				components);
	return EMOGI_OK;
}

/* Fill the first column of bridges, blocks, or articulation points; the forest is complete. */
static EmogiStatus
fill(Run *run, EmogiAnswerShape shape, const Blocks *blocks, Forest *forest,
	 unsigned long long *column, EmogiError *error)
{
	TRY(find_reach(run, blocks, error));
	if (shape == EMOGI_SHAPE_EDGES)
	{
		CUDA_LAUNCH(blocks_bridges_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					*blocks);
		return EMOGI_OK;
	}
	TRY(find_blocks(run, blocks, forest, error));
	if (shape == EMOGI_SHAPE_VERTICES)
		return count_blocks(run, blocks, column, error);
	return emogi_biconnected_number(run, blocks, (int64_t *) column, error);
}

EmogiStatus
emogi_cuda_blocks(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				  EmogiError *error)
{
	const EmogiAnswerShape shape = emogi_algorithm_row(query->algorithm)->shape;
	const bool	is_bridges = shape == EMOGI_SHAPE_EDGES;
	Blocks		blocks = {};
	unsigned long long *column = NULL;
	Forest	   *forest;

	TRY(take_arrays(run, &blocks, error));
	TRY(take_array(&run->memory, &forest, 1, "giant block", error));
	if (!is_bridges)
		TRY(take_array(&run->memory, &column, run->nvertices, "blocks", error));
	TRY(emogi_spanning_bfs_build(run, graph, query, &blocks.spanning, result, error));
	TRY(fill(run, shape, &blocks, forest, column, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = run->nvertices;
	if (shape == EMOGI_SHAPE_BLOCKS)
		TRY(emogi_run_give(run, query, result, 1, blocks.parent, error));
	return emogi_run_give(run, query, result, 0, is_bridges ? (const void *) blocks.parent : column,
						  error);
}
