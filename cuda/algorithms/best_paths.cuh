/*
 * best_paths.cuh: kernels of the path semirings. best_paths.cu describes the method and launches
 * them.
 */
#ifndef EMOGI_BEST_PATHS_CUH
#define EMOGI_BEST_PATHS_CUH

#include <type_traits>

#include "cuda/access/push.cuh"

/*
 * A value as a 64-bit key; a smaller key is better. The key of a value >= 0 is its own bit pattern,
 * which sorts like the value.
 */
#define KEY_INFINITY 0x7FF0000000000000ull
#define KEY_NONE 0xFFFFFFFFFFFFFFFFull	/* no offer; also the key of an unreached vertex */

/*
 * Keys of values to minimize. No offer better than KEY_INFINITY encodes anything but a real value.
 */
struct MinKeys
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
};

/*
 * Keys of values to maximize: 0 for +inf up to KEY_INFINITY for 0. The value -1 stands for no
 * offer.
 */
struct MaxKeys
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
};

/* Compile-time traits of an algorithm, from the table in algorithms.h. */
template <EmogiAlgorithm ALGORITHM>
struct PathTraits;

#define TRAITS(NAME, name, column, order, source, traits, candidate) \
template <> \
struct PathTraits<EMOGI_##NAME> \
{ \
	static constexpr bool MAXIMIZES = (order) == EMOGI_MAXIMIZE; \
	static constexpr bool ADDS = ((traits) & EMOGI_PATH_ADDITIVE) != 0; \
	static_assert(!(MAXIMIZES && ADDS), \
				  "sums of weights get worse along a path when the least is best"); \
};
EMOGI_ALGORITHMS(EMOGI_NOTHING, TRAITS, EMOGI_NOTHING)
#undef TRAITS

/* A member of the path semiring family. */
template <EmogiAlgorithm ITSELF>
struct PathSemiring : std::conditional<PathTraits<ITSELF>::MAXIMIZES, MaxKeys, MinKeys>::type
{
	static constexpr EmogiAlgorithm ALGORITHM = ITSELF;
	static constexpr bool ADDS = PathTraits<ITSELF>::ADDS;

	static __device__ __forceinline__ double
	candidate(double value, double weight)
	{
		return emogi_path_candidate(ITSELF, value, weight);
	}
};

/*
 * Call `call` with the PathSemiring of an algorithm, one instance each. Return a zero value if the
 * algorithm is not a path semiring.
 */
template <class Call>
static auto
with_path(EmogiAlgorithm algorithm, Call call)
{
	switch (algorithm)
	{
#define PATH(NAME, ...) \
		case EMOGI_##NAME: \
			return call(PathSemiring<EMOGI_##NAME>());
			EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
#undef PATH
	}
	return decltype(call(PathSemiring<EMOGI_SSSP>())) {};
}

/* Get the key of a path without edges. */
static inline unsigned long long
source_key(EmogiAlgorithm algorithm)
{
	const double source = emogi_path_source(algorithm);

	return emogi_path_maximizes(algorithm) ? MaxKeys::encode(source) : MinKeys::encode(source);
}

/* Say whether even the sources exceed the query's maximum distance. */
static inline bool
is_hopeless(const EmogiQuery *query)
{
	return emogi_path_is_additive(query->algorithm) &&
		query->max_distance < emogi_path_source(query->algorithm);
}

/* Get the largest key that the query accepts. There is no bound if no offer is made at all. */
static inline unsigned long long
offer_bound(const EmogiQuery *query)
{
	if (!emogi_path_is_additive(query->algorithm) || !(query->max_distance < (double) INFINITY) ||
		is_hopeless(query))
		return KEY_INFINITY;
	return MinKeys::encode(query->max_distance + 0.0);
}

/*
 * Per-vertex state in device memory. `pending`: the vertex has improved since its list was read.
 * Bits beyond the last vertex stay 0.
 */
typedef struct Paths
{
	unsigned long long *key;	/* [nvertices] */
	uint32_t   *pending;		/* [nwords] bits */
	uint32_t   *frontier;		/* [nwords] bits: pending vertices that this step processes */
	uint64_t	nwords;
	unsigned long long bound;	/* larger offers are rejected */

	/*
	 * On a helping GPU: the arrays of the leader, which receives offers better than any the helper
	 * knows. NULL = this is the leader.
	 */
	unsigned long long *leaders_key;
	uint32_t   *leaders_pending;
} Paths;

/* Get the offer of a vertex with this value along an edge, or KEY_NONE. */
template <class Semiring>
static __device__ __forceinline__ unsigned long long
make_offer(const Paths &paths, double value, double weight)
{
	const unsigned long long offer = Semiring::encode(Semiring::candidate(value, weight));

	return offer <= paths.bound ? offer : KEY_NONE;
}

/* Mark a vertex as improved. */
static __device__ __forceinline__ void
mark_pending(uint32_t *pending, Target vertex)
{
	uint32_t   *word = &pending[vertex / 32];
	const uint32_t bit = 1u << vertex % 32;

	if ((__ldcg(word) & bit) == 0)
		atomicOr_system(word, bit);
}

/*
 * Push functor of a path semiring: offer each target the vertex's value extended by the edge. It
 * reads the target's key first because an atomic costs more and most offers are rejected. It only
 * sets bits of `pending`. Helping GPUs make offers concurrently, so the atomics have system scope.
 */
template <class Semiring, typename W>
struct Relax
{
	typedef W Weight;
	typedef double Value;

	Paths		paths;

	__device__ __forceinline__ double
	own(uint64_t vertex) const
	{
		return Semiring::decode(__ldcg(&paths.key[vertex]));
	}

	__device__ __forceinline__ void
	visit(const Target (&target)[PIECE], const double (&weight)[PIECE],
		  const double (&value)[PIECE], uint32_t wanted) const
	{
		unsigned long long offer[PIECE];
		unsigned long long known[PIECE];

#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
		{
			offer[j] = wanted >> j & 1 ? make_offer<Semiring>(paths, value[j], weight[j]) :
				KEY_NONE;
			known[j] = offer[j] != KEY_NONE ? __ldcg(&paths.key[target[j]]) : 0;
		}
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if (offer[j] < known[j] && offer[j] < atomicMin_system(&paths.key[target[j]], offer[j]))
			{
				if (paths.leaders_key == NULL)
					mark_pending(paths.pending, target[j]);
				else if (offer[j] < atomicMin_system(&paths.leaders_key[target[j]], offer[j]))
					mark_pending(paths.leaders_pending, target[j]);
			}
	}
};

/*
 * Set the key of the sources, which are marked as pending, and KEY_NONE for all other vertices.
 * Bytes: 8 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
best_paths_start_kernel(Paths paths, uint64_t nvertices, unsigned long long source_key)
{
	for_each(nvertices, [&](uint64_t v) {
		paths.key[v] = paths.pending[v / 32] >> v % 32 & 1 ? source_key : KEY_NONE;
	});
}

/*
 * Copy the keys of a helper's part of the frontier. Bytes: 4 a word, and 8 from the leader's memory
 * a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
best_paths_bring_kernel(Paths helper, const unsigned long long *key)
{
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t word = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;
		 word < helper.nwords; word += nwarps)
		if (helper.frontier[word] >> lane_number() & 1)
			helper.key[word * 32 + lane_number()] = key[word * 32 + lane_number()];
}

/*
 * Make the pending vertices with keys below the threshold (all if it is KEY_NONE) the frontier.
 * Vertices with empty lists are dropped. Bytes: two bitmaps, n/4; 8 of keys a pending vertex, 16 of
 * offsets a vertex taken.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
best_paths_select_kernel(Paths paths, const uint64_t *offsets, unsigned long long threshold,
						 Counters *counters)
{
	unsigned long long vertices = 0;
	unsigned long long edges = 0;
	unsigned long long far = 0;
	unsigned long long nearest = 0;

	for (uint64_t base = first_of_warp(); base < paths.nwords; base += grid_threads())
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

/* Convert keys into values in place, and count the vertices reached. Bytes: 16 a vertex. */
template <class Semiring>
static __global__ void __launch_bounds__(BLOCK_THREADS)
best_paths_finish_kernel(unsigned long long *key, uint64_t nvertices, Counters *counters)
{
	unsigned long long reached = 0;

	for_each(nvertices, [&](uint64_t v) {
		const double value = Semiring::decode(key[v]);

		reached += key[v] != KEY_NONE;
		memcpy(&key[v], &value, sizeof value);
	});
	block_add(&counters->claimed, reached);
}

#endif							/* EMOGI_BEST_PATHS_CUH */
