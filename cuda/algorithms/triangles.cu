/*
 * triangles.cu: triangle counts and local clustering coefficients.
 *
 * TRIANGLES returns triangles[nvertices]: number of triangles of the simple undirected graph that
 * contain the vertex. LCC returns coefficient[nvertices], as defined by LDBC Graphalytics [3].
 *
 * Method. Every edge is directed from the lower to the higher degree (degree_dag.cuh), so each
 * triangle is found once [1], at the vertex u with edges to the other two. The targets of u are
 * inserted into a hash table in shared memory [2], and the targets of those are looked up in it. A
 * Bloom filter of eight bits a slot answers most negative lookups. Lists up to WARP_LIST entries
 * are processed by a warp with its own table, longer ones by a block, piece by piece if they do not
 * fit. The three vertices of a triangle are u, one in the table, and one that was looked up and so
 * is in the table too. Their counts are accumulated in the table, and added to memory once for each
 * u. The targets of u are processed 32 at a time: the whole warp reads a long list, 8 lanes each
 * read four short ones.
 *
 * In a directed graph a triangle counts for each of its vertices by the directions of the opposite
 * edge. Counts are sums of integers, so they do not depend on the schedule.
 *
 * Device memory, for n vertices and m entries, in addition to the lists: 8n of counts, 4 bytes for
 * each WARP_LIST entries.
 *
 * Bytes: 16 of offsets and the list of w for each entry u -> w; for each entry in a triangle an
 * atomic on 8.
 *
 * [1] M. Latapy: Main-memory triangle computations for very large (sparse (power-law)) graphs.
 *     Theoretical Computer Science 407, 2008. Section 4.
 * [2] S. Pandey, Z. Wang, S. Zhong, C. Tian, B. Zheng, X. Li, L. Li, A. Hoisie, C. Ding, D. Li, H.
 *     Liu: TRUST: Triangle Counting Reloaded on GPUs. IEEE TPDS 32(11), 2021. Sections 3 and 4.
 * [3] A. Iosup et al.: The LDBC Graphalytics Benchmark. arXiv:2011.15028. Section 2.3.5.
 */
#include "cuda/lists/degree_dag.cuh"

#define WARP_LIST 128			/* max length of a list for a warp: its table takes 2.5 KB */
#define WARP_SLOTS (2 * WARP_LIST)
#define BLOCK_PIECE 2048		/* entries of a piece of a longer list: the table takes 40 KB */
#define BLOCK_SLOTS (2 * BLOCK_PIECE)
#define MIN_SHIFT 5				/* log2 of the min slots of a table: 32 */
#define LONG_LIST 64			/* min length of a list that the warp reads, not 8 lanes */
#define GROUP 8					/* lanes that read a short list: 32 bytes at a time */
#define NO_SLOT UINT32_MAX

/* Counts, and the queue. Arrays in device memory. */
typedef struct Triangles
{
	unsigned long long *count;	/* [nvertices] */
	uint32_t   *queue;			/* [nqueued], vertices with long lists */
	uint32_t   *nqueued;		/* [0]; [1]: number of vertices taken */
} Triangles;

/* Targets of a vertex, in shared memory. */
typedef struct Table
{
	uint32_t   *key;			/* [slots], EMOGI_NO_VERTEX = free */
	uint32_t   *count;			/* [slots], count of the vertex in the slot */
	uint32_t   *filter;			/* [slots / 4], Bloom filter with one hash */
	uint8_t    *way;			/* [slots], direction weight of the edge to it */
	uint32_t	shift;			/* log2 of the slots */
} Table;

/* Get log2 of the slots of a table for nentries entries. */
static __device__ __forceinline__ uint32_t
choose_shift(uint32_t nentries)
{
	/* two to four times as many slots */
	const uint32_t shift = 33 - __clz(nentries - 1);

	return shift > MIN_SHIFT ? shift : MIN_SHIFT;
}

static __device__ __forceinline__ uint32_t
hash_of(uint32_t vertex)
{
	return vertex * 0x9E3779B1u;
}

/* Clear a table, with threads first, first + nthreads, ... */
static __device__ __forceinline__ void
clear_table(const Table &table, uint32_t first, uint32_t nthreads)
{
	const uint32_t nslots = 1u << table.shift;

	for (uint32_t i = first; i < nslots; i += nthreads)
	{
		table.key[i] = EMOGI_NO_VERTEX;
		table.count[i] = 0;
	}
	for (uint32_t i = first; i < nslots / 4; i += nthreads)
		table.filter[i] = 0;
}

/* Insert a vertex into the table, which has room and does not contain it. */
template <bool WAYS>
static __device__ __forceinline__ void
put_vertex(const Table &table, uint32_t vertex, uint8_t way)
{
	const uint32_t hash = hash_of(vertex);
	const uint32_t bit = hash >> (29 - table.shift);
	uint32_t	slot = hash >> (32 - table.shift);

	while (atomicCAS(&table.key[slot], EMOGI_NO_VERTEX, vertex) != EMOGI_NO_VERTEX)
		slot = (slot + 1) & ((1u << table.shift) - 1);
	if (WAYS)
		table.way[slot] = way;
	atomicOr(&table.filter[bit / 32], 1u << bit % 32);
}

/* Find a vertex in the table; NO_SLOT = not found. */
static __device__ __forceinline__ uint32_t
find_vertex(const Table &table, uint32_t vertex)
{
	const uint32_t hash = hash_of(vertex);
	const uint32_t bit = hash >> (29 - table.shift);
	uint32_t	slot = hash >> (32 - table.shift);

	if ((table.filter[bit / 32] >> bit % 32 & 1) == 0)
		return NO_SLOT;
	for (;;)
	{
		const uint32_t key = table.key[slot];

		if (key == vertex)
			return slot;
		if (key == EMOGI_NO_VERTEX)
			return NO_SLOT;
		slot = (slot + 1) & ((1u << table.shift) - 1);
	}
}

/* Counts from one target w of u: for w, and for u. */
typedef struct Found
{
	uint32_t	of_w;
	uint32_t	of_u;
} Found;

/*
 * Look up the targets of w, every STEP-th entry from `place` on, UNROLL at a time. to_w: direction
 * weight of the edge from u. Vertices found in the table are counted there.
 */
template <bool WAYS, uint32_t STEP, uint32_t UNROLL>
static __device__ __forceinline__ Found
look_up(const DegreeDag &dag, const Table &table, uint64_t place, uint64_t end, uint32_t to_w)
{
	Found		found = {0, 0};

	for (; place < end; place += STEP * UNROLL)
	{
		Target		target[UNROLL];

#pragma unroll
		for (uint32_t i = 0; i < UNROLL; i++)
			target[i] = place + i * STEP < end ? __ldg(&dag.csr.targets[place + i * STEP]) :
				EMOGI_NO_VERTEX;
#pragma unroll
		for (uint32_t i = 0; i < UNROLL; i++)
		{
			const uint32_t slot = target[i] != EMOGI_NO_VERTEX ? find_vertex(table, target[i]) :
				NO_SLOT;

			if (slot == NO_SLOT)
				continue;
			atomicAdd(&table.count[slot], WAYS ? to_w : 1);
			found.of_w += WAYS ? table.way[slot] : 1;
			if (WAYS)
				found.of_u += __ldg(&dag.ways[place + i * STEP]);
		}
	}
	return found;
}

/* Add to the count of w: in the table if it is there. */
static __device__ __forceinline__ void
add_count(const Triangles &triangles, const Table &table, uint32_t w, uint32_t count)
{
	const uint32_t slot = find_vertex(table, w);

	if (slot != NO_SLOT)
		atomicAdd(&table.count[slot], count);
	else
		atomicAdd(&triangles.count[w], (unsigned long long) count);
}

/*
 * Find the triangles of u with each of its n <= 32 targets w from entry `first` on. Return the
 * lane's count for u; *entries grows by the entries read by all lanes. Called by whole warps.
 */
template <bool WAYS>
static __device__ __forceinline__ unsigned long long
close_batch(const DegreeDag &dag, const Triangles &triangles, const Table &table,
			uint64_t first, uint32_t n, unsigned long long *entries)
{
	const bool	there = lane_number() < n;
	const uint32_t w = there ? __ldg(&dag.csr.targets[first + lane_number()]) : 0;
	const uint32_t way = WAYS && there ? __ldg(&dag.ways[first + lane_number()]) : 1;
	const uint64_t start = there ? __ldg(&dag.csr.offsets[w]) : 0;
	const uint64_t end = there ? __ldg(&dag.csr.offsets[(uint64_t) w + 1]) : 0;
	const bool	is_long = end - start >= LONG_LIST;
	unsigned long long of_u = 0;
	uint32_t	lanes = __ballot_sync(FULL_WARP, is_long);

	*entries += end - start;
	while (lanes != 0)
	{
		const uint32_t lane = __ffs(lanes) - 1;
		const uint64_t its_end = __shfl_sync(FULL_WARP, end, lane);
		const Found found = look_up<WAYS, WARP_LANES,
			4>(dag, table, __shfl_sync(FULL_WARP, start, lane) + lane_number(), its_end,
			   __shfl_sync(FULL_WARP, way, lane));
		const uint32_t of_w = __reduce_add_sync(FULL_WARP, found.of_w);

		lanes &= lanes - 1;
		if (lane_number() == lane && of_w > 0)
			add_count(triangles, table, w, of_w);
		of_u += WAYS ? found.of_u : found.of_w;
	}
	if (!__any_sync(FULL_WARP, !is_long && start < end))
		return of_u;
	for (uint32_t base = 0; base < n; base += WARP_LANES / GROUP)
	{
		const uint32_t lane = base + lane_number() / GROUP;	/* < 32, because n <= 32 */
		const bool	skip = __shfl_sync(FULL_WARP, is_long, lane);
		const uint32_t its_w = __shfl_sync(FULL_WARP, w, lane);
		const uint64_t its_end = __shfl_sync(FULL_WARP, end, lane);
		const uint64_t place = __shfl_sync(FULL_WARP, start, lane) + lane_number() % GROUP;
		const Found found = look_up<WAYS, GROUP,
			2>(dag, table, place, skip ? 0 : its_end, __shfl_sync(FULL_WARP, way, lane));
		uint32_t	of_w = found.of_w;

#pragma unroll
		for (uint32_t step = GROUP / 2; step > 0; step /= 2)
			of_w += __shfl_xor_sync(FULL_WARP, of_w, step);
		if (lane_number() % GROUP == 0 && of_w > 0)
			add_count(triangles, table, its_w, of_w);
		of_u += WAYS ? found.of_u : found.of_w;
	}
	return of_u;
}

/* Add the counts in the table to the vertices' counts. */
static __device__ __forceinline__ void
flush_table(const Triangles &triangles, const Table &table, uint32_t first, uint32_t nthreads)
{
	const uint32_t nslots = 1u << table.shift;

	for (uint32_t i = first; i < nslots; i += nthreads)
		if (table.count[i] > 0)
			atomicAdd(&triangles.count[table.key[i]], (unsigned long long) table.count[i]);
}

/*
 * Find the triangles with lowest vertex u, whose list has at most WARP_LIST entries. Called by
 * whole warps.
 */
template <bool WAYS>
static __device__ __forceinline__ void
close_list(const DegreeDag &dag, const Triangles &triangles, Table table, uint32_t u,
		   Span list, unsigned long long *entries)
{
	const uint32_t length = (uint32_t) (list.end - list.start);
	unsigned long long of_u = 0;

	table.shift = choose_shift(length);
	clear_table(table, lane_number(), WARP_LANES);
	__syncwarp();
	for (uint32_t i = lane_number(); i < length; i += WARP_LANES)
		put_vertex<WAYS>(table, __ldg(&dag.csr.targets[list.start + i]),
						 WAYS ? __ldg(&dag.ways[list.start + i]) : 2);
	__syncwarp();
	for (uint32_t i = 0; i < length; i += WARP_LANES)
		of_u += close_batch<WAYS>(dag, triangles, table, list.start + i,
								  length - i < WARP_LANES ? length - i : WARP_LANES, entries);
	of_u = warp_sum(of_u);
	__syncwarp();
	if (of_u > 0)
	{
		flush_table(triangles, table, lane_number(), WARP_LANES);
		if (lane_number() == 0)
			atomicAdd(&triangles.count[u], of_u);
	}
	__syncwarp();				/* the table is no longer in use */
}

/*
 * Find the triangles whose lowest vertex has a list for a warp, 32 vertices at a time. Vertices
 * with longer lists are queued. Bytes: 8 of offsets a vertex, and see the head of the file.
 */
template <bool WAYS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
triangles_short_kernel(DegreeDag dag, uint64_t nvertices, Triangles triangles, Step step)
{
	__shared__ uint32_t key[BLOCK_WARPS][WARP_SLOTS];
	__shared__ uint32_t count[BLOCK_WARPS][WARP_SLOTS];
	__shared__ uint32_t filter[BLOCK_WARPS][WARP_SLOTS / 4];
	__shared__ uint8_t way[BLOCK_WARPS][WAYS ? WARP_SLOTS : 1];
	const uint32_t warp = threadIdx.x / WARP_LANES;
	const Table table = {key[warp], count[warp], filter[warp], way[warp], MIN_SHIFT};
	unsigned long long entries = 0;

	sweep_chunks(step, 0, (nvertices + 31) / 32, [&](uint64_t word) {
		const uint64_t vertex = word * 32 + lane_number();
		const bool	there = vertex < nvertices;
		const Span	list = {there ? __ldg(&dag.csr.offsets[vertex]) : 0,
			there ? __ldg(&dag.csr.offsets[vertex + 1]) : 0};
		const uint64_t length = list.end - list.start;
		uint32_t	lanes = __ballot_sync(FULL_WARP, length >= 2 && length <= WARP_LIST);

		if (length > WARP_LIST)
			triangles.queue[atomicAdd(triangles.nqueued, 1)] = (uint32_t) vertex;
		while (lanes != 0)
		{
			const uint32_t lane = __ffs(lanes) - 1;
			const Span	its = {__shfl_sync(FULL_WARP, list.start, lane),
				__shfl_sync(FULL_WARP, list.end, lane)};

			lanes &= lanes - 1;
			close_list<WAYS>(dag, triangles, table, (uint32_t) (word * 32 + lane), its,
							 &entries);
		}
	});
	block_add(&step.counters->entries, entries);
}

/*
 * Find the triangles of u with one piece of its list in the table. `next` is in shared memory.
 * Return the lane's count for u. Called by the whole block.
 */
template <bool WAYS>
static __device__ __forceinline__ unsigned long long
close_piece(const DegreeDag &dag, const Triangles &triangles, Table table, Span list,
			uint64_t first, const Step &step, uint32_t *next, unsigned long long *entries)
{
	const uint32_t length = list.end - first < BLOCK_PIECE ? (uint32_t) (list.end - first) :
		BLOCK_PIECE;
	unsigned long long of_u = 0;

	table.shift = choose_shift(length);
	clear_table(table, threadIdx.x, BLOCK_THREADS);
	if (threadIdx.x == 0)
		*next = 0;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < length; i += BLOCK_THREADS)
		put_vertex<WAYS>(table, __ldg(&dag.csr.targets[first + i]),
						 WAYS ? __ldg(&dag.ways[first + i]) : 2);
	__syncthreads();
	for (;;)
	{
		const uint32_t taken = __shfl_sync(FULL_WARP, lane_number() == 0 ? atomicAdd(next, 1) : 0,
										   0);
		const bool	leave = __any_sync(FULL_WARP,
									   lane_number() == 0 && must_leave_polling(step, taken));
		const uint64_t place = leave ? list.end : list.start + (uint64_t) taken * WARP_LANES;

		if (place >= list.end)
			break;
		of_u += close_batch<WAYS>(dag, triangles, table, place,
								  list.end - place < WARP_LANES ? (uint32_t) (list.end - place) :
								  WARP_LANES, entries);
	}
	__syncthreads();
	flush_table(triangles, table, threadIdx.x, BLOCK_THREADS);
	__syncthreads();			/* the table is no longer in use */
	return of_u;
}

/*
 * Find the triangles whose lowest vertex was queued, one block each. Bytes: see the head of the
 * file.
 */
template <bool WAYS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
triangles_long_kernel(DegreeDag dag, Triangles triangles, Step step)
{
	__shared__ uint32_t key[BLOCK_SLOTS];
	__shared__ uint32_t count[BLOCK_SLOTS];
	__shared__ uint32_t filter[BLOCK_SLOTS / 4];
	__shared__ uint8_t way[WAYS ? BLOCK_SLOTS : 1];
	__shared__ uint32_t next;
	__shared__ uint32_t item;
	const Table table = {key, count, filter, way, MIN_SHIFT};
	const uint32_t nqueued = *triangles.nqueued;
	unsigned long long entries = 0;

	for (;;)
	{
		unsigned long long of_u = 0;
		uint32_t	u;
		Span		list;

		if (threadIdx.x == 0)
			item = must_leave(step) ? nqueued : atomicAdd(triangles.nqueued + 1, 1);
		__syncthreads();
		if (item >= nqueued)
			break;
		u = triangles.queue[item];
		list = Span{__ldg(&dag.csr.offsets[u]),
			__ldg(&dag.csr.offsets[(uint64_t) u + 1])};
		for (uint64_t first = list.start; first < list.end; first += BLOCK_PIECE)
			of_u += close_piece<WAYS>(dag, triangles, table, list, first, step, &next,
									  &entries);
		of_u = warp_sum(of_u);
		if (lane_number() == 0 && of_u > 0)
			atomicAdd(&triangles.count[u], of_u);
	}
	block_add(&step.counters->entries, entries);
}

/*
 * Divide the counts by the number of ordered pairs of neighbors. each: 2 if all edges are
 * bidirectional, so that triangles were counted, otherwise 1. Bytes: 20 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
triangles_divide_kernel(const unsigned long long *count, const uint32_t *degree, uint64_t nvertices,
						unsigned long long each, double *coefficient)
{
	for_each(nvertices, [&](uint64_t v) {
		const double pairs = (double) degree[v] * ((double) degree[v] - 1.0);

		coefficient[v] = pairs > 0.0 ? (double) (each * count[v]) / pairs : 0.0;
	});
}

/* Count all triangles. */
template <bool WAYS>
static EmogiStatus
count_triangles(Run *run, const DegreeDag *dag, const Triangles *triangles, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(triangles->count, 0, run->nvertices * sizeof *triangles->count,
							 stream));
	CUDA_TRY(cudaMemsetAsync(triangles->nqueued, 0, 2 * sizeof *triangles->nqueued, stream));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(triangles_short_kernel<WAYS>, run->full_blocks, BLOCK_THREADS, stream, *dag,
				run->nvertices, *triangles, run->step);
	CUDA_LAUNCH(triangles_long_kernel<WAYS>, run->full_blocks, BLOCK_THREADS, stream, *dag,
				*triangles, run->step);
	return EMOGI_OK;
}

/* Place the graph, build the degree-ordered DAG, and count. */
static EmogiStatus
run_triangles(Run *run, const EmogiGraph *graph, const EmogiQuery *query, bool in_ways,
			  DegreeDag *dag, Triangles *triangles, EmogiResult *result, EmogiError *error)
{
	const Counters *counters;

	TRY(take_array(&run->memory, &triangles->count, run->nvertices, "counts", error));
	TRY(take_array(&run->memory, &triangles->nqueued, 2, "queue's length", error));
	TRY(emogi_simple_graph_place(run, graph, query, PLACE_BACKWARD_REQUIRED,
								 emogi_degree_dag_bytes(graph), error));
	TRY(emogi_run_start_clock(run, error));
	TRY(emogi_degree_dag_make(run, graph, in_ways, dag, result, error));
	TRY(take_array(&run->memory, &triangles->queue, dag->csr.nedges / WARP_LIST + 1, "queue",
				   error));
	if (dag->ways != NULL)
		TRY(count_triangles<true>(run, dag, triangles, error));
	else
		TRY(count_triangles<false>(run, dag, triangles, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	result->edges_traversed += counters->entries;
	result->nreached = run->nvertices;
	result->nlevels = 1;
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_triangles(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					 EmogiResult *result, EmogiError *error)
{
	Triangles	triangles = {};
	DegreeDag	dag;

	TRY(run_triangles(run, graph, query, false, &dag, &triangles, result, error));
	return emogi_run_give(run, query, result, 0, triangles.count, error);
}

EmogiStatus
emogi_cuda_lcc(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			   EmogiError *error)
{
	Triangles	triangles = {};
	DegreeDag	dag;
	double	   *coefficient;

	TRY(take_array(&run->memory, &coefficient, run->nvertices, "coefficients", error));
	TRY(run_triangles(run, graph, query, true, &dag, &triangles, result, error));
	CUDA_LAUNCH(triangles_divide_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				triangles.count, dag.degree, run->nvertices,
				dag.ways != NULL ? 1ull : 2ull, coefficient);
	return emogi_run_give(run, query, result, 0, coefficient, error);
}
