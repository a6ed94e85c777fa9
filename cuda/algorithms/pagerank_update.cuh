/*
 * pagerank_update.cuh: the rank updates of PAGERANK for the sums of semiring_sum.cu, in integers
 * (contract/rank_units.h), or in doubles with weights or if integers are too coarse.
 */
#ifndef EMOGI_PAGERANK_UPDATE_CUH
#define EMOGI_PAGERANK_UPDATE_CUH

#include "cuda/algorithms/gather_finish.cuh"

#include "contract/rank_units.h"

/* Number type of the ranks' sums. */
typedef enum RankKind
{
	RANKS_IN_UNITS,
	RANKS_IN_DOUBLES,
	RANKS_WEIGHTED
} RankKind;

/* The Outcome of integer ranks. */
typedef struct UnitOutcome
{
	unsigned long long change;	/* emogi_rank_units_change */
	unsigned long long dangling;
} UnitOutcome;

static_assert(sizeof(UnitOutcome) == sizeof(Outcome), "they lie in the same places");

/*
 * Doubles: the rank of v is value[v]; the share that it sends along each edge, or per unit of
 * weight, is source[v].
 */
struct DoubleRank
{
	static constexpr bool L1 = true;

	static __device__ __forceinline__ double
	shares(const Field &field, uint64_t v)
	{
		return field.strength != NULL ? field.strength[v] : (double) degree_of(field.degrees, v);
	}

	static __device__ __forceinline__ uint64_t
	degree(const Field &field, uint64_t v)
	{
		return 0;				/* store looks it up itself */
	}

	static __device__ __forceinline__ double
	load(const Field &field, uint64_t v, uint64_t degree)
	{
		return field.value[v];
	}

	static __device__ __forceinline__ double
	finish(const Field &field, uint64_t v, double own, double sum, bool filled)
	{
		if (field.teleport != NULL)
			return emogi_pagerank_finish_at(field.damping, field.teleport[v],
											field.outcome->dangling, sum);
		return emogi_pagerank_finish(field.damping, (double) field.nvertices,
									 field.outcome->dangling, sum);
	}

	static __device__ __forceinline__ double
	store(const Field &field, uint64_t v, uint64_t degree, double value)
	{
		const double parts = shares(field, v);

		field.value[v] = value;
		field.source[PageRank::index(field, v)] = parts > 0 ? value / parts : 0;
		return parts > 0 ? 0 : value;
	}
};

/*
 * Integers: set the new rank of every vertex, or 1/n at the START. Bytes: 8 of sums a list and 1/4
 * of the ListIndex, 40 a vertex.
 */
template <bool START>
static __global__ void __launch_bounds__(BLOCK_THREADS)
ranks_finish_units_kernel(Field field)
{
	unsigned long long *source = (unsigned long long *) field.source;
	UnitOutcome *part = (UnitOutcome *) field.part + blockIdx.x;
	const double teleports = START ? 0 :
		emogi_rank_units_teleports(field.damping, ((const UnitOutcome *) field.outcome)->dangling);
	const double evenly = 1.0 / (double) field.nvertices;
	UnitOutcome outcome = {0, 0};

	if (threadIdx.x == 0)
		*part = outcome;
	for (uint64_t base = first_of_warp(); base < field.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		double		rank = evenly;
		uint64_t	nedges;

		if (!START)
		{
			bool		filled;
			const unsigned long long sum = list_sum<unsigned long long>(field, v, &filled);

			if (v < field.nvertices)
			{
				rank = emogi_rank_units_finish(field.damping, teleports,
											   field.teleport != NULL ? field.teleport[v] : evenly,
											   sum);
				outcome.change += emogi_rank_units_change(field.value[v], rank);
			}
		}
		if (v >= field.nvertices)
			continue;
		nedges = degree_of(field.degrees, v);
		field.value[v] = rank;
		source[PageRank::index(field, v)] = nedges > 0 ?
			emogi_rank_units_share(rank, nedges, (uint32_t) v, field.coarse) : 0;
		if (nedges == 0)
			outcome.dangling += emogi_rank_units_of(rank);
	}
	__syncwarp();
	block_add(&part->change, outcome.change);
	block_add(&part->dangling, outcome.dangling);
}

/* Add up the parts of the blocks, with one block. Bytes: 16 a part. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
ranks_reduce_units_kernel(Field field, uint32_t nparts)
{
	const UnitOutcome *part = (const UnitOutcome *) field.part;
	UnitOutcome *all = (UnitOutcome *) field.outcome;
	UnitOutcome outcome = {0, 0};

	for (uint32_t i = threadIdx.x; i < nparts; i += BLOCK_THREADS)
	{
		outcome.change += part[i].change;
		outcome.dangling += part[i].dangling;
	}
	if (threadIdx.x == 0)
		*all = UnitOutcome{0, 0};
	block_add(&all->change, outcome.change);
	block_add(&all->dangling, outcome.dangling);
}

/*
 * Store the sums of the weights of edges, gathered from the lists of a symmetric graph. If ranks
 * cannot be divided by one of them, the outcome's change is 1. Bytes: 8 a vertex, and the sums it
 * reads.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
ranks_take_strengths_kernel(Field field, double *strength)
{
	for (uint64_t base = first_of_warp(); base < field.nvertices; base += grid_threads())
	{
		const uint64_t v = base + lane_number();
		bool		filled;
		const double sum = list_sum<double>(field, v, &filled);

		if (v >= field.nvertices)
			continue;
		strength[v] = sum;
		if (!emogi_rank_strength_is_valid(sum))
			field.outcome->change = 1;
	}
}

#endif							/* EMOGI_PAGERANK_UPDATE_CUH */
