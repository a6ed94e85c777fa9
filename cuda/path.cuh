/*
 * path.cuh: the kernels of path.cu, which tells the method and launches them.
 */
#ifndef EMOGI_PATH_CUH
#define EMOGI_PATH_CUH

#include "push.cuh"

#define FEW_THREADS 1024
#define FEW_WARPS (FEW_THREADS / WARP_LANES)
#define FEW_VERTICES FEW_THREADS	/* the most vertices that one block takes in a round: a vertex a thread */
#define FEW_EDGES 2048			/* the most edges */
#define FEW_ROUNDS 512			/* some ms; the host polls cancel in between */

/* A value as a key: 64 bits, the less the better. Keys of values >= 0 are their own bits, which sort as they do. */
#define KEY_INFINITY 0x7FF0000000000000ull
#define KEY_NONE 0xFFFFFFFFFFFFFFFFull	/* no offer, and a vertex that nothing has reached */

/* SSSP as keys. No offer is better than KEY_INFINITY that is not a real distance. */
struct Sssp
{
	static __host__ __device__ __forceinline__ double
	decode(unsigned long long key)
	{
		double		value;

		memcpy(&value, &key, sizeof value);
		return key < KEY_INFINITY ? value : (double) INFINITY;
	}

	static __host__ __device__ __forceinline__ unsigned long long
	encode(double value)
	{
		unsigned long long key;

		memcpy(&key, &value, sizeof key);
		return key < KEY_INFINITY ? key : KEY_NONE;
	}

	static __device__ __forceinline__ double
	candidate(double value, double weight)
	{
		return emogi_sssp_candidate(value, weight);
	}
};

/* SSWP as keys: the wider the less, from 0 for +inf up to KEY_INFINITY for 0; -1 is no offer. */
struct Sswp
{
	static __host__ __device__ __forceinline__ double
	decode(unsigned long long key)
	{
		const unsigned long long bits = KEY_INFINITY - key;
		double		value;

		memcpy(&value, &bits, sizeof value);
		return key <= KEY_INFINITY ? value : -1.0;
	}

	static __host__ __device__ __forceinline__ unsigned long long
	encode(double value)
	{
		const double positive = value + 0.0;	/* -0 has the sign bit */
		unsigned long long bits;

		memcpy(&bits, &positive, sizeof bits);
		return bits <= KEY_INFINITY ? KEY_INFINITY - bits : KEY_NONE;
	}

	static __device__ __forceinline__ double
	candidate(double value, double weight)
	{
		return emogi_sswp_candidate(value, weight);
	}
};

/*
 * The state of the vertices, in device memory. `pending`: the vertex has improved since its list was read. Bits of
 * vertices that do not exist stay 0.
 */
typedef struct Paths
{
	unsigned long long *key;	/* [nvertices] */
	uint32_t   *pending;		/* [nwords] bits */
	uint32_t   *frontier;		/* [nwords] bits: pending vertices that this step takes */
	uint64_t	nwords;
	unsigned long long bound;	/* offers above it are not taken */
} Paths;

/* Get what the value of a list's vertex offers along an edge, KEY_NONE for nothing. */
template <class Algebra>
static __device__ __forceinline__ unsigned long long
make_offer(const Paths &paths, double value, double weight)
{
	const unsigned long long offer = Algebra::encode(Algebra::candidate(value, weight));

	return offer <= paths.bound ? offer : KEY_NONE;
}

/*
 * The Push of a path algebra: offer to every target the own value and the edge. Reads first: an atomic operation costs
 * more, and most offers are refused. Bits of `pending` are only set while it runs.
 */
template <class Algebra, typename W>
struct Relax
{
	typedef W Weight;
	typedef double Value;

	Paths		paths;

	__device__ __forceinline__ double
	own(uint64_t vertex) const
	{
		return Algebra::decode(__ldcg(&paths.key[vertex]));
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE], const double (&value)[PIECE],
		  uint32_t wanted) const
	{
		unsigned long long offer[PIECE];
		unsigned long long known[PIECE];

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			offer[j] = wanted >> j & 1 ? make_offer<Algebra>(paths, value[j], weight[j]) : KEY_NONE;
			known[j] = offer[j] != KEY_NONE ? __ldcg(&paths.key[target[j]]) : 0;
		}
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if (offer[j] < known[j] && offer[j] < atomicMin(&paths.key[target[j]], offer[j]))
			{
				uint32_t   *word = &paths.pending[target[j] / 32];
				const uint32_t bit = 1u << target[j] % 32;

				if ((__ldcg(word) & bit) == 0)
					atomicOr(word, bit);
			}
	}
};

/* Give the sources, marked as pending, their key, all others KEY_NONE. Bytes: 8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
start_paths(Paths paths, uint64_t nvertices, unsigned long long source_key)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices; v += nthreads)
		paths.key[v] = paths.pending[v / 32] >> v % 32 & 1 ? source_key : KEY_NONE;
}

/*
 * Make the pending vertices with keys below the threshold (all of them when it is KEY_NONE) the frontier; those with an
 * empty list have nothing to do. Bytes: two bitmaps, n/4; for each pending vertex 8 of keys, for each one taken 16 of
 * offsets.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
select_near(Paths paths, const uint64_t *offsets, unsigned long long threshold, Counters *counters)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	unsigned long long vertices = 0;
	unsigned long long edges = 0;
	unsigned long long far = 0;
	unsigned long long nearest = 0;

	for (uint64_t base = own - lane_number(); base < paths.nwords; base += nthreads)
	{
		const uint64_t word = base + lane_number();
		const uint32_t pending = word < paths.nwords ? paths.pending[word] : 0;
		uint32_t	todo = __ballot_sync(FULL_WARP, pending != 0);
		uint32_t	taken = 0;
		uint32_t	fresh = 0;

		while (todo != 0)
		{
			const uint32_t lane = __ffs(todo) - 1;
			const uint64_t vertex = (base + lane) * 32 + lane_number();
			const bool	waits = __shfl_sync(FULL_WARP, pending, lane) >> lane_number() & 1;
			const unsigned long long key = waits ? paths.key[vertex] : 0;
			const bool	near = waits && (key < threshold || threshold == KEY_NONE);
			const uint64_t length = near ? offsets[vertex + 1] - offsets[vertex] : 0;
			const uint32_t its_taken = __ballot_sync(FULL_WARP, near);
			const uint32_t its_fresh = __ballot_sync(FULL_WARP, length > 0);

			todo &= todo - 1;
			vertices += length > 0;
			edges += length;
			far += waits && !near;
			if (waits && !near && nearest < ~key)
				nearest = ~key;
			if (lane == lane_number())
			{
				taken = its_taken;
				fresh = its_fresh;
			}
		}
		if (word < paths.nwords)
			paths.frontier[word] = fresh;
		if (taken != 0)
			paths.pending[word] = pending & ~taken;
	}
	block_add(&counters->vertices, vertices);
	block_add(&counters->edges, edges);
	block_add(&counters->far, far);
#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		const unsigned long long other = __shfl_xor_sync(FULL_WARP, nearest, step);

		nearest = nearest < other ? other : nearest;
	}
	if (lane_number() == 0 && nearest > 0)
		atomicMax(&counters->nearest, nearest);
}

/* Turn keys into values, in place, and count the vertices reached. Bytes: 16 a vertex. */
template <class Algebra>
static __global__ void __launch_bounds__(BLOCK_THREADS)
finish_paths(unsigned long long *key, uint64_t nvertices, Counters *counters)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	unsigned long long reached = 0;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices; v += nthreads)
	{
		const double value = Algebra::decode(key[v]);

		reached += key[v] != KEY_NONE;
		memcpy(&key[v], &value, sizeof value);
	}
	block_add(&counters->claimed, reached);
}

/* What the one block of few_rounds shares. */
typedef struct FewPaths
{
	uint32_t	vertex[2][FEW_EDGES];	/* this round's and the next one's */
	uint32_t	length[2];
	uint32_t	upto[FEW_VERTICES]; /* edges of this round's vertices up to and with this one */
	uint64_t	start[FEW_VERTICES];	/* of its list */
	double		value[FEW_VERTICES];
	uint32_t	warp_edges[FEW_WARPS];
	uint32_t	nedges;
} FewPaths;

/*
 * Lay out the edges of this round: a running sum over the vertices. Get their number, FEW_EDGES + 1 for more. Whole
 * block.
 */
static __device__ uint32_t
lay_out_few(FewPaths *few, const Lists<Target> &lists, const uint32_t *vertex, uint32_t length, uint64_t *nlines)
{
	const uint32_t warp = threadIdx.x / WARP_LANES;
	uint64_t	edges = 0;
	uint32_t	upto;

	if (threadIdx.x < length)
	{
		const uint64_t v = vertex[threadIdx.x];
		const Span	list = {__ldg(&lists.offsets[v]), __ldg(&lists.offsets[v + 1])};

		few->start[threadIdx.x] = list.start;
		edges = list.end - list.start;
		*nlines = count_lines<Target>(list);
	}
	upto = running_sum((uint32_t) (edges <= FEW_EDGES ? edges : FEW_EDGES + 1));
	if (lane_number() == WARP_LANES - 1)
		few->warp_edges[warp] = upto;
	__syncthreads();
	if (warp == 0)
	{
		const uint32_t sum = running_sum(few->warp_edges[lane_number()]);

		few->warp_edges[lane_number()] = sum;
		if (lane_number() == WARP_LANES - 1)
			few->nedges = sum;
	}
	__syncthreads();
	few->upto[threadIdx.x] = upto + (warp > 0 ? few->warp_edges[warp - 1] : 0);
	return few->nedges;
}

/* Relax edge number e of this round. A target that improves is pending; near ones are taken in the next round too. */
template <class Algebra, typename Weight>
static __device__ __forceinline__ void
relax_few(FewPaths *few, const Lists<Target> &lists, const Paths &paths, uint32_t e, uint32_t length, uint32_t next,
		  unsigned long long threshold)
{
	uint32_t	low = 0;		/* the first vertex with upto > e */
	uint32_t	high = length - 1;
	double		weight = 1.0;
	unsigned long long offer;
	uint64_t	entry;
	Target		target;
	uint32_t	bit;

	while (low < high)
	{
		const uint32_t middle = (low + high) / 2;

		if (few->upto[middle] > e)
			high = middle;
		else
			low = middle + 1;
	}
	entry = few->start[low] + (e - (low > 0 ? few->upto[low - 1] : 0));
	target = __ldg(&lists.targets[entry]);
	if constexpr (weight_bytes<Weight>() > 0)
		weight = (double) __ldg((const Weight *) lists.weights + entry);
	offer = make_offer<Algebra>(paths, few->value[low], weight);
	if (offer == KEY_NONE || offer >= __ldcg(&paths.key[target]) || offer >= atomicMin(&paths.key[target], offer))
		return;
	bit = 1u << target % 32;
	if ((atomicOr(&paths.pending[target / 32], bit) & bit) == 0 && (offer < threshold || threshold == KEY_NONE))
		few->vertex[next][atomicAdd(&few->length[next], 1)] = target;
}

/*
 * Go on from a small frontier for at most FEW_ROUNDS rounds, while it stays small: one block, no launch. A vertex in the
 * queue stays pending until its round comes, so nothing has to be handed back. Bytes: 4 and the weight an edge, in
 * lines; the latency of one list's read (2 us over the link) a round being what counts.
 */
template <class Algebra, typename Weight>
static __global__ void __launch_bounds__(FEW_THREADS)
few_rounds(Lists<Target> lists, Paths paths, const uint32_t *queue, unsigned long long threshold, Counters *counters)
{
	__shared__ FewPaths few;
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	uint32_t	now = 0;
	uint32_t	round = 0;

	if (threadIdx.x < 2)
		few.length[threadIdx.x] = threadIdx.x == 0 ? counters->nqueued : 0;
	for (uint32_t i = threadIdx.x; i < counters->nqueued; i += FEW_THREADS)
	{
		few.vertex[0][i] = queue[i];
		atomicOr(&paths.pending[queue[i] / 32], 1u << queue[i] % 32);
	}
	for (; round < FEW_ROUNDS; round++, now ^= 1)
	{
		uint32_t	length;
		uint32_t	nedges;
		uint64_t	nlines = 0;

		__syncthreads();
		length = few.length[now];
		if (length == 0 || length > FEW_VERTICES)
			break;
		nedges = lay_out_few(&few, lists, few.vertex[now], length, &nlines);
		if (nedges > FEW_EDGES)
			break;
		if (threadIdx.x < length)
		{
			const uint32_t vertex = few.vertex[now][threadIdx.x];

			/* First no longer pending, then the key: what comes later makes it pending again. */
			atomicAnd(&paths.pending[vertex / 32], ~(1u << vertex % 32));
			__threadfence();
			few.value[threadIdx.x] = Algebra::decode(__ldcg(&paths.key[vertex]));
		}
		if (threadIdx.x == 0)
			few.length[now ^ 1] = 0;
		__syncthreads();
		for (uint32_t e = threadIdx.x; e < nedges; e += FEW_THREADS)
			relax_few<Algebra, Weight>(&few, lists, paths, e, length, now ^ 1, threshold);
		entries += threadIdx.x == 0 ? nedges : 0;
		nread += nlines;
	}
	block_add(&counters->lines, nread);
	block_add(&counters->entries, entries);
	if (threadIdx.x == 0)
		counters->rounds += round;
}

#endif							/* EMOGI_PATH_CUH */
