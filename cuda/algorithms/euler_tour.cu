/*
 * euler_tour.cu: rooting of trees at their smallest vertices, independent of their depth.
 *
 * Method. Each edge is two arcs. The Euler tour of a tree visits each arc once: the successor of
 * the arc u -> v is the arc after v -> u among the arcs of v, cyclically [1]. A tour starts with
 * the first arc of the smallest vertex. Of an edge's two arcs, the earlier one leads down.
 * Positions in a tour are found in parts [2]: a tour is cut at one arc in PART_ARCS, chosen by a
 * hash. One thread traverses each part. Pointer jumping then adds up the lengths of the following
 * parts, twice as many in each round. Nothing depends on the depth of a tree, and the result does
 * not depend on the schedule.
 *
 * Bytes, for n vertices: 100 a vertex, half of them at random, and 16 random ones a part and round.
 *
 * [1] R. E. Tarjan, U. Vishkin. An Efficient Parallel Biconnectivity Algorithm. SIAM Journal on
 *     Computing 14(4), 1985.
 * [2] D. R. Helman, J. JaJa. Prefix computations on symmetric multiprocessors. Journal of Parallel
 *     and Distributed Computing 61(2), 2001.
 */
#include "cuda/algorithms/euler_tour.cuh"
#include "cuda/access/prefix_sum.cuh"

#define PART_ARCS 64			/* a smaller value makes more parts, a larger one makes the
								 * longest part longer */
#define MAX_ROUNDS 32			/* of pointer jumping: parts have 32-bit numbers */
#define TOUR_NUMBERS (2 + MAX_ROUNDS)
#define NO_PART UINT32_MAX
#define MAX_VERTICES (UINT64_C(1) << 31)

/* Get an upper bound of the parts. Every tour has at least two arcs. */
static inline uint64_t
max_parts(uint64_t nedges)
{
	return nedges + 2 * nedges / PART_ARCS + 1;
}

/*
 * Count the arcs of each vertex, and assign each arc an index among them. Bytes: 16 a vertex, and
 * two atomics an edge.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
tour_count_kernel(Edges edges, uint64_t nvertices, EulerTour tour)
{
	for_each(nvertices, [&](uint64_t i) {
		const unsigned long long edge = edges.edge[i];
		uint32_t   *smallest = &tour.smallest[edges.tree[i]];

		if ((uint32_t) i < *(volatile uint32_t *) smallest)
			atomicMin(smallest, (uint32_t) i);
		if (edge != NO_EDGE)
			tour.arcs[i] = make_uint2(atomicAdd(&tour.start[edge >> 32], 1u),
									  atomicAdd(&tour.start[(uint32_t) edge], 1u));
	});
}

/* Get the next arc of a vertex, cyclically. */
static __device__ __forceinline__ uint32_t
arc_after(const EulerTour &tour, uint32_t vertex, uint32_t arc)
{
	return arc + 1 < tour.start[vertex + UINT64_C(1)] ? arc + 1 : tour.start[vertex];
}

/*
 * Number the arcs, and link each to its successor in the tour. Bytes: 24 a vertex, and 32 at random
 * an edge.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
tour_link_kernel(Edges edges, uint64_t nvertices, EulerTour tour)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t i = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i < nvertices;
		 i += nthreads)
	{
		const unsigned long long edge = edges.edge[i];
		const uint32_t small = (uint32_t) (edge >> 32);
		const uint32_t large = (uint32_t) edge;
		uint2		arcs;

		if (edge == NO_EDGE)
			continue;
		arcs = tour.arcs[i];
		arcs.x += tour.start[small];
		arcs.y += tour.start[large];
		tour.arcs[i] = arcs;
		tour.node[arcs.x] = (unsigned long long) arc_after(tour, large, arcs.y) << 32 |
			NO_PART;
		tour.node[arcs.y] = (unsigned long long) arc_after(tour, small, arcs.x) << 32 |
			NO_PART;
	}
}

/* Start a part at an arc. */
static __device__ __forceinline__ void
begin_part(const EulerTour &tour, uint32_t arc, uint32_t part)
{
	tour.first[part] = arc;
	tour.node[arc] = tour.node[arc] >> 32 << 32 | part;
}

/*
 * Start the tours, each at the first arc of the smallest vertex. Bytes: 12 a vertex, and 12 at
 * random a tree.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
tour_begin_kernel(Edges edges, uint64_t nvertices, EulerTour tour)
{
	for_each(nvertices, [&](uint64_t v) {
		if (tour.smallest[edges.tree[v]] == v && tour.start[v] < tour.start[v + 1])
			begin_part(tour, tour.start[v], atomicAdd(&tour.number[0], 1u));
	});
}

/* Cut the tours at one arc in PART_ARCS. Bytes: 20 at random a part. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
tour_cut_kernel(uint64_t narcs, EulerTour tour)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint32_t ntours = tour.number[0];

	for (uint64_t i = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i * PART_ARCS < narcs;
		 i += nthreads)
	{
		const uint64_t arc = i * PART_ARCS + ((uint32_t) i * 0x9E3779B1u >> 16) % PART_ARCS;

		if (arc < narcs && (uint32_t) tour.node[arc] == NO_PART)
			begin_part(tour, (uint32_t) arc, ntours + atomicAdd(&tour.number[1], 1u));
	}
}

/*
 * Traverse each part up to the first arc of the next part, and store the position of each arc. That
 * arc's node may already have been overwritten by its own thread, but its part number is the same.
 * Bytes: 16 at random an arc.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
tour_walk_kernel(EulerTour tour)
{
	const uint32_t ntours = tour.number[0];
	const uint64_t nparts = (uint64_t) ntours + tour.number[1];

	for_each(nparts, [&](uint64_t part) {
		unsigned long long length = 0;
		uint32_t	arc = tour.first[part];
		unsigned long long node = *(volatile unsigned long long *) &tour.node[arc];
		uint32_t	after;

		do
		{
			*(volatile unsigned long long *) &tour.node[arc] = length++ << 32 | part;
			arc = (uint32_t) (node >> 32);
			node = *(volatile unsigned long long *) &tour.node[arc];
			after = (uint32_t) node;
		} while (after == NO_PART);
		tour.chain[part] = length << 32 | (after < ntours ? NO_PART : after);
	});
}

/*
 * Run a round of pointer jumping: add to each part the length of the parts after it. A word is read
 * and written atomically, and by one thread only, so it is always consistent. Bytes: 24 a part, 8
 * of them at random; none if the previous round changed nothing.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
tour_jump_kernel(EulerTour tour, uint32_t round)
{
	const uint64_t nparts = (uint64_t) tour.number[0] + tour.number[1];
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	uint32_t   *changed = &tour.number[2];
	bool		changes = false;

	if (round > 0 && changed[round - 1] == 0)
		return;
	for (uint64_t part = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; part < nparts;
		 part += nthreads)
	{
		const unsigned long long own = tour.chain[part];
		unsigned long long other;

		if ((uint32_t) own == NO_PART)
			continue;
		other = *(volatile unsigned long long *) &tour.chain[(uint32_t) own];
		*(volatile unsigned long long *) &tour.chain[part] = ((own >> 32) + (other >> 32)) <<
			32 | (uint32_t) other;
		changes = true;
	}
	if (changes)
		changed[round] = 1;
}

/* Get the number of arcs from this one to the end of its tour, itself included. */
static __device__ __forceinline__ uint32_t
arcs_left(const EulerTour &tour, uint32_t arc)
{
	const unsigned long long node = tour.node[arc];

	return (uint32_t) (tour.chain[(uint32_t) node] >> 32) - (uint32_t) (node >> 32);
}

/*
 * Make the end of each edge that the earlier arc leads to the child of the other. Bytes: 16 a
 * vertex, and 36 at random an edge.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
tour_parents_kernel(Edges edges, uint64_t nvertices, EulerTour tour, uint32_t *parent)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t i = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; i < nvertices;
		 i += nthreads)
	{
		const unsigned long long edge = edges.edge[i];
		const uint32_t small = (uint32_t) (edge >> 32);
		const uint32_t large = (uint32_t) edge;

		if (edge == NO_EDGE)
			continue;
		if (arcs_left(tour, tour.arcs[i].x) > arcs_left(tour, tour.arcs[i].y))
			parent[large] = small;
		else
			parent[small] = large;
	}
}

EmogiStatus
emogi_euler_tour_open(Run *run, EulerTour *tour, EmogiError *error)
{
	const uint64_t n = run->nvertices;

	if (n > MAX_VERTICES)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the graph has too many vertices for Euler tours on the GPU",
								 "%llu vertices", (unsigned long long) n);
	TRY(take_array(&run->memory, &tour->node, 3 * n + max_parts(n), "tours", error));
	TRY(take_array(&run->memory, &tour->start,
				   2 * n + 1 + count_tiles(n + 1) + max_parts(n) + TOUR_NUMBERS, "arcs", error));
	tour->chain = tour->node + 2 * n;
	tour->arcs = (uint2 *) (tour->chain + max_parts(n));
	tour->tile = tour->start + n + 1;
	tour->smallest = tour->tile + count_tiles(n + 1);
	tour->first = tour->smallest + n;
	tour->number = tour->first + max_parts(n);
	return EMOGI_OK;
}

/* Build the tours. */
static EmogiStatus
make_tours(Run *run, const EulerTour *tour, const Edges *edges, EmogiError *error)
{
	const uint64_t n = run->nvertices;
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(tour->start, 0, (n + 1) * sizeof *tour->start, stream));
	CUDA_TRY(cudaMemsetAsync(tour->smallest, 0xFF, n * sizeof *tour->smallest, stream));
	CUDA_LAUNCH(tour_count_kernel, run->full_blocks, BLOCK_THREADS, stream, *edges, n, *tour);
	TRY(prefix_sum(run, tour->start, n + 1, tour->tile, error));
	CUDA_LAUNCH(tour_link_kernel, run->full_blocks, BLOCK_THREADS, stream, *edges, n, *tour);
	return EMOGI_OK;
}

/* Find the position of each arc in its tour. */
static EmogiStatus
find_places(Run *run, const EulerTour *tour, const Edges *edges, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(tour->number, 0, TOUR_NUMBERS * sizeof *tour->number, stream));
	CUDA_LAUNCH(tour_begin_kernel, run->full_blocks, BLOCK_THREADS, stream, *edges,
				run->nvertices, *tour);
	CUDA_LAUNCH(tour_cut_kernel, run->full_blocks, BLOCK_THREADS, stream, 2 * edges->nedges,
				*tour);
	CUDA_LAUNCH(tour_walk_kernel, run->full_blocks, BLOCK_THREADS, stream, *tour);
	for (uint32_t round = 0; round < MAX_ROUNDS && max_parts(edges->nedges) >> round > 0; round++)
		CUDA_LAUNCH(tour_jump_kernel, run->full_blocks, BLOCK_THREADS, stream, *tour, round);
	return EMOGI_OK;
}

EmogiStatus
emogi_euler_tour_trees(Run *run, const EulerTour *tour, const Edges *edges, uint32_t *parent,
					   EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(parent, 0xFF, run->nvertices * sizeof *parent, stream));
	if (edges->nedges == 0)
		return EMOGI_OK;
	TRY(make_tours(run, tour, edges, error));
	TRY(find_places(run, tour, edges, error));
	CUDA_LAUNCH(tour_parents_kernel, run->full_blocks, BLOCK_THREADS, stream, *edges,
				run->nvertices, *tour, parent);
	return EMOGI_OK;
}
