/*
 * shards_sum.cuh: kernels of shards_sum.cu, which describes the method and launches them.
 * Applications and Field are those of semiring_sum.cuh.
 */
#ifndef EMOGI_SHARDS_SUM_CUH
#define EMOGI_SHARDS_SUM_CUH

#include "cuda/algorithms/gather_finish.cuh"
#include "cuda/papers/shards.cuh"
#include "cuda/papers/shards_fixed.cuh"

/* Output of an iteration, in device memory, for the host. */
typedef struct Totals
{
	Outcome		outcome;
	/* bits of an upper bound of the magnitude of the finite values that entries will read */
	unsigned long long peak;
} Totals;

/* Arguments of the kernels beside the shards and the Field. All arrays are in device memory. */
typedef struct Sums
{
	unsigned long long *peak;	/* in Totals, 0 before the iteration */
	uint32_t   *changed;		/* [nshards], 1 = a vertex has a new value */
	/* [nwords] bits: an edge ends in the vertex (EMOGI_SUM_KEEPS_ISOLATED) */
	const uint32_t *filled;
	const uint32_t *level;		/* [nvertices] (Count) */
	uint32_t	depth;			/* the level whose vertices count paths (Count) */
	/*
	 * [nvertices], finite weights of the edges that end in the vertex are below 2^that in magnitude
	 */
	const int  *weight_reach;
	/* finite contributions, without their weights, are below 2^reach in magnitude */
	int			reach;
} Sums;

/* ---- applications in addition to those of semiring_sum.cuh ---- */

/*
 * With EMOGI_SUM_DIRICHLET, before the first iteration: sums of weights. A vertex with a start
 * value is fixed, other vertices start at 0.
 */
struct Weigh : Plain
{
	typedef WeightTerm Term;

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		field.conductance[v] = own == own ? (double) NAN : sum;
		return own == own ? own : 0;
	}
};

/* SSNSP: the paths of the vertices of one level. */
struct Count : Plain
{
	typedef PlainTerm Term;

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		return sum;
	}
};

/*
 * Whether only some vertices take part, and the reach of their contributions is measured by reading
 * the entries once more: counts span all exponents, and must be exact to 2^53 beside any others.
 */
template <class Application>
static constexpr bool MEASURED = std::is_same<Application, Count>::value;

/* Whether each vertex has its own reach of contributions. */
template <class Application, typename Weight>
static constexpr bool OWN_REACH = MEASURED<Application> || weight_bytes<Weight>() > 0;

/* Shared memory of a shard. */
typedef struct SumShard
{
	double	   *own;			/* [width], values of the vertices, for terms that use them */
	FixedSums	sums;
	/*
	 * [width], OWN_REACH: contributions are below 2^(reach + Sums.reach) in magnitude; MEASURED: -1
	 * = takes no part
	 */
	int		   *reach;
} SumShard;

template <class Application, typename Weight>
static uint32_t
sum_bytes(uint32_t width)
{
	return fixed_bytes(width) + width * (Application::Term::OWN ? (uint32_t) sizeof(double) : 0) +
		width * (OWN_REACH<Application, Weight> ? (uint32_t) sizeof(int) : 0);
}

template <class Application>
static __device__ __forceinline__ SumShard
lay_out_shard(void *memory, uint32_t width)
{
	double	   *own = (double *) memory;
	char	   *sums = (char *) (own + (Application::Term::OWN ? width : 0));

	return SumShard{own, lay_out_sums(sums, width), (int *) (sums + fixed_bytes(width))};
}

/* Initialize the sums of a shard to 0. */
template <class Application, typename Weight>
static __device__ __forceinline__ void
clear_shard(const SumShard &local, const Field &field, const Sums &sums, uint64_t first,
			uint32_t count)
{
	for (uint32_t i = threadIdx.x; i < count; i += SHARD_THREADS)
	{
		local.sums.low[i] = local.sums.middle[i] = local.sums.high[i] = 0;
		if (i % ODD_SUMS == 0)
			local.sums.odd[i / ODD_SUMS] = 0;
		if (Application::Term::OWN)
			local.own[i] = field.value[first + i];
		if (MEASURED<Application>)
			local.reach[i] = sums.level[first + i] == sums.depth ? 0 : -1;
		else if (OWN_REACH<Application, Weight>)
			local.reach[i] = sums.weight_reach[first + i];
	}
}

/*
 * Call use(vertex of the shard, value of the source, weight) for each entry whose vertex takes
 * part. Bytes: 4 per entry; 8 and the weight per entry whose vertex takes part.
 */
template <bool SOME, typename Weight, class Use>
static __device__ __forceinline__ void
for_entries(const Shards &shards, uint32_t shard, uint32_t first, const int *reach,
			const Step &step, Use use)
{
	const double *value = (const double *) shards.value;
	const uint64_t end = shards.begin[shard + 1];
	uint64_t	round = 0;

	for (uint64_t base = shards.begin[shard] + threadIdx.x; base < end; base += SHARD_ROUND)
	{
		uint32_t	dest[SHARD_UNROLL];
		double		other[SHARD_UNROLL];
		double		weight[SHARD_UNROLL];

		if (leaves_shard(step, round++, SHARD_ROUND))
			break;
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
		{
			const uint64_t e = base + k * SHARD_THREADS;

			dest[k] = e < end ? __ldg(&shards.dest[e]) - first : EMOGI_NO_VERTEX;
		}
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
		{
			const uint64_t e = base + k * SHARD_THREADS;

			if (SOME && e < end && reach[dest[k]] < 0)
				dest[k] = EMOGI_NO_VERTEX;
			other[k] = 0;
			weight[k] = 1;
			if (SOME ? dest[k] != EMOGI_NO_VERTEX : e < end)
			{
				other[k] = __ldcg(&value[e]);
				if constexpr (weight_bytes<Weight>() > 0)
					weight[k] = (double) __ldg((const Weight *) shards.weight + e);
			}
		}
#pragma unroll
		for (uint32_t k = 0; k < SHARD_UNROLL; k++)
			if (dest[k] != EMOGI_NO_VERTEX)
				use(dest[k], other[k], weight[k]);
	}
}

/* Return the exponent of the unit of a vertex's sum: counts are integers. */
template <class Application, typename Weight>
static __device__ __forceinline__ int
unit_of(const SumShard &local, const Sums &sums, uint32_t i, uint64_t nentries)
{
	const int	unit = fixed_unit(sums.reach + (OWN_REACH<Application, Weight> ? local.reach[i] :
												0), nentries);

	return MEASURED<Application> && unit < 0 ? 0 : unit;
}

/* Add the contributions of a shard's entries. Whole block. */
template <class Application, typename Weight>
static __device__ __forceinline__ void
add_entries_of(const Shards &shards, uint32_t shard, uint32_t first, const SumShard &local,
			   const Sums &sums, const Step &step)
{
	typedef typename Application::Term Term;
	constexpr bool SOME = MEASURED<Application>;
	const uint64_t nentries = shards.begin[shard + 1] - shards.begin[shard];

	if (SOME)
	{
		for_entries<SOME, NoWeight>(shards, shard, first, local.reach, step,
									[&](uint32_t i, double other, double weight) {
			if (other > 0)
				atomicMax(&local.reach[i], reach_of(other));
		});
		__syncthreads();
	}
	for_entries<SOME, Weight>(shards, shard, first, local.reach, step,
							  [&](uint32_t i, double other, double weight) {
		add_fixed(local.sums, i, Term::contribution(other, Term::OWN ? local.own[i] : 0, weight),
				  power_of_two(-unit_of<Application, Weight>(local, sums, i, nentries)));
	});
}

/* Reduce over the block, by a fixed tree; the first thread gets the result. Whole block. */
template <bool L1>
static __device__ __forceinline__ Outcome
shard_outcome(Outcome own)
{
	__shared__ Outcome warps[SHARD_WARPS];

#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		own.change = join_changes<L1>(own.change, __shfl_xor_sync(FULL_WARP, own.change, step));
		own.dangling += __shfl_xor_sync(FULL_WARP, own.dangling, step);
	}
	if (lane_number() == 0)
		warps[threadIdx.x / WARP_LANES] = own;
	__syncthreads();
	if (threadIdx.x == 0)
		for (uint32_t i = 1; i < SHARD_WARPS; i++)
		{
			own.change = join_changes<L1>(own.change, warps[i].change);
			own.dangling += warps[i].dangling;
		}
	return own;
}

/* Raise the peak to the maximum of the lanes' finite values. Whole warps. */
static __device__ __forceinline__ void
raise_peak(unsigned long long *peak, double size)
{
	unsigned long long bits = 0;

	if (size < (double) INFINITY)
		memcpy(&bits, &size, sizeof bits);
#pragma unroll
	for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
	{
		const unsigned long long other = __shfl_xor_sync(FULL_WARP, bits, step);

		bits = other > bits ? other : bits;
	}
	if (lane_number() == 0 && bits > __ldcg(peak))
		atomicMax(peak, bits);
}

/* Return the larger of two magnitudes, ignoring a b that is not finite. */
static __device__ __forceinline__ double
larger_finite(double a, double b)
{
	return b > a && b < (double) INFINITY ? b : a;
}

/*
 * Set the new values of a shard's vertices. Return whether the thread has changed values that
 * entries read. Whole block. Bytes: 16 per vertex; PAGERANK 8 of degrees, CIRCUIT 8 of
 * conductances.
 */
template <class Application, typename Weight>
static __device__ __forceinline__ bool
finish_shard(const Shards &shards, uint32_t shard, uint64_t first, uint32_t count,
			 const SumShard &local, const Field &field, const Sums &sums)
{
	const uint64_t nentries = shards.begin[shard + 1] - shards.begin[shard];
	Outcome		outcome = {0, 0};
	double		peak = 0;
	bool		changed = false;

	for (uint32_t i = threadIdx.x; i < count; i += SHARD_THREADS)
	{
		const uint64_t v = first + i;
		const bool	filled = sums.filled == NULL || (sums.filled[v / 32] >> v % 32 & 1) != 0;
		const uint64_t degree = Application::degree(field, v);
		const double read = field.source[v];
		double		lost = 0;	/* part of the new value that no entry reads */

		if (!MEASURED<Application> || local.reach[i] >= 0)
		{
			const double unit = power_of_two(unit_of<Application, Weight>(local, sums, i,
																		  nentries));
			const double old = Application::load(field, v, degree);
			const double value = Application::finish(field, v, old, read_fixed(local.sums, i, unit),
													 filled);

			lost = Application::store(field, v, degree, value);
			outcome.change = join_changes<Application::L1>(outcome.change, change_of(old, value));
			outcome.dangling += lost;
		}
		changed |= !(field.source[v] == read);
		if (lost == 0)
			peak = larger_finite(peak, fabs(field.source[v]));
	}
	raise_peak(sums.peak, peak);
	outcome = shard_outcome<Application::L1>(outcome);
	if (threadIdx.x == 0)
		field.part[shard] = outcome;
	return changed;
}

/*
 * Run an iteration: gather over all shards, and write the new values to the vertices, not to the
 * entries. Bytes: 12 and the weight per entry, some 16 to 40 per vertex.
 */
template <class Application, typename Weight>
static __global__ void __launch_bounds__(SHARD_THREADS, SHARD_RESIDENT)
shards_gather_kernel(Shards shards, Field field, Sums sums, Step step)
{
	const SumShard local = lay_out_shard<Application>(shard_memory(), shards.shape.width);

	take_shards(shards, step, [&](uint32_t shard, uint64_t first, uint32_t count) {
		int			changed;

		clear_shard<Application, Weight>(local, field, sums, first, count);
		__syncthreads();
		add_entries_of<Application, Weight>(shards, shard, (uint32_t) first, local, sums, step);
		__syncthreads();
		changed = __syncthreads_or(finish_shard<Application, Weight>(shards, shard, first, count,
																	 local, field, sums));
		if (threadIdx.x == 0)
			sums.changed[shard] = changed != 0;
	});
}

/*
 * Compute the reach of the weights of the edges that end in each vertex. Bytes: 4 and the weight
 * per entry, 4 per vertex.
 */
template <typename Weight>
static __global__ void __launch_bounds__(SHARD_THREADS, SHARD_RESIDENT)
shards_measure_kernel(Shards shards, int *reach, Step step)
{
	int		   *local = (int *) shard_memory();

	take_shards(shards, step, [&](uint32_t shard, uint64_t first, uint32_t count) {
		for (uint32_t i = threadIdx.x; i < count; i += SHARD_THREADS)
			local[i] = reach_of(0);
		__syncthreads();
		for_entries<false, Weight>(shards, shard, (uint32_t) first, NULL, step,
								   [&](uint32_t i, double other, double weight) {
			const int	its = reach_of(fabs(weight));

			if (its <= FIXED_MAX_REACH && its > *(volatile int *) &local[i])
				atomicMax(&local[i], its);
		});
		__syncthreads();
		for (uint32_t i = threadIdx.x; i < count; i += SHARD_THREADS)
			reach[first + i] = local[i];
	});
}

/* Find the largest finite magnitude of a value. Bytes: 8 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_find_peak_kernel(const double *value, uint64_t nvertices, unsigned long long *peak)
{
	double		own = 0;

	for_each(nvertices, [&](uint64_t v) {
		own = larger_finite(own, fabs(value[v]));
	});
	raise_peak(peak, own);
}

/* Set the sources' number of paths to 1, and mark their shards. Bytes: 12 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
shards_start_counts_kernel(const uint32_t *level, uint64_t nvertices, double *paths, uint32_t width,
						   uint32_t *changed)
{
	for_each(nvertices, [&](uint64_t v) {
		paths[v] = level[v] == 0 ? 1.0 : 0.0;
		if (level[v] == 0)
			changed[v / width] = 1;
	});
}

#endif							/* EMOGI_SHARDS_SUM_CUH */
