/*
 * communities_begin.cu: the first level of community detection, as in
 * engine/cpu/communities_begin.c.
 *
 * Bytes: offsets, and the entries once, with 4 for each target; floating-point weights twice more,
 * and 8 written.
 */
#include "cuda/algorithms/communities_tally.cuh"
#include "contract/semirings.h"

#include <math.h>
#include <stdio.h>

#define SUM_BITS 61				/* of sums that are in range */

/* Sum the weights of a node's edges, self-loops twice. */
struct StrengthRule
{
	static constexpr bool SUMS = true;

	struct Item
	{
		uint32_t	node;
		long long	sum;
	};

	Level		level;
	const uint32_t *order;
	long long  *strength;

	__device__ __forceinline__ bool open(uint64_t i, Item *item) const
	{
		item->node = order[i];
		item->sum = 0;
		return true;
	}

	__device__ __forceinline__ uint64_t length(const Item &item) const
	{
		return level.end[item.node] - level.first[item.node];
	}

	template <class Add>
	__device__ __forceinline__ void walk(const Item &item, uint64_t from, uint64_t upto,
										 uint32_t rank, uint32_t stride, Add add) const
	{
		const uint64_t first = level.first[item.node];

		walk_list(level, first + from, first + upto, rank, stride,
				  [&](uint32_t target) { return target == item.node ? 1u : 0u; }, add);
	}

	__device__ __forceinline__ void finish(const Item &item,
										   uint64_t) const { strength[item.node] = item.sum; }
};

/* Find the maximum weight, by its bits, which sort like the numbers >= 0. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
begin_max_kernel(const void *weights, EmogiWeightType type, uint64_t nedges, Sums *sums)
{
	unsigned long long max = 0;

	for_each(nedges, [&](uint64_t e) {
		const double weight = emogi_weight(weights, type, e) + 0.0;
		const unsigned long long bits = (unsigned long long) __double_as_longlong(weight);

		max = bits > max ? bits : max;
	});
	if (max > 0)
		atomicMax(&sums->max, max);
}

/* Convert weights to units. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
begin_units_kernel(const void *weights, EmogiWeightType type, uint64_t nedges, int exponent,
				   long long *units)
{
	for_each(nedges, [&](uint64_t e) {
		units[e] = (long long) rint(ldexp(emogi_weight(weights, type, e), exponent));
	});
}

/* Name the vertices, and mark those with lists as open. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
begin_nodes_kernel(Level level, uint32_t *name, long long *strength, uint8_t *open)
{
	for_each(level.nnodes, [&](uint64_t i) {
		name[i] = (uint32_t) i;
		strength[i] = 0;
		open[i] = level.end[i] > level.first[i] ? OPEN : 0;
	});
}

/* Sum the strengths, and find the maximum. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
begin_whole_kernel(const long long *strength, uint64_t nnodes, Sums *sums)
{
	unsigned long long whole = 0;
	unsigned long long max = 0;

	for_each(nnodes, [&](uint64_t i) {
		whole += (unsigned long long) strength[i];
		max = (unsigned long long) strength[i] > max ? (unsigned long long) strength[i] : max;
	});
	block_add((unsigned long long *) &sums->whole, whole);
	if (max > 0)
		atomicMax(&sums->max, max);
}

/* Get the position of the highest bit set in x > 0. */
static int
highest_bit(uint64_t x)
{
	return 63 - __builtin_clzll(x);
}

void
emogi_communities_weigh(Search *search, long long whole)
{
	search->gains.whole = whole > 0 ? (double) whole : 1.0;
	search->gains.scale = ldexp(1.0, EMOGI_COMMUNITIES_WHOLE_BITS -
								(whole > 0 ? highest_bit((uint64_t) whole) : 0));
	search->min_gain = search->tolerance * search->gains.whole / 2.0;
	search->gained = 0;
}

/* Compute the strengths and their sum. */
static EmogiStatus
find_strengths(Search *search, Level *level, long long *whole, EmogiError *error)
{
	const Arrays &arrays = search->arrays;
	const StrengthRule rule = {*level, arrays.order, search->first_room.strength};
	uint64_t	first_long = 0;
	Sums		sums;

	LAUNCH_EACH(begin_nodes_kernel, search, level->nnodes, *level, search->first_room.name,
				search->first_room.strength, arrays.open);
	TRY(emogi_communities_order(search, level, OPEN, true, 0, 0, 2, error));
	if (search->order.count > 0)
		TRY(tally_batch(search, rule, true, 0, &first_long, error));
	LAUNCH_EACH(begin_whole_kernel, search, level->nnodes, search->first_room.strength,
				level->nnodes, arrays.sums);
	TRY(emogi_communities_take_sums(search, &sums, error));
	level->is_wide = sums.max >> 32 > 0;
	*whole = sums.whole;
	return EMOGI_OK;
}

/* Reject weights whose sum is not finite. */
static EmogiStatus
refuse(EmogiResult *result, EmogiError *error)
{
	result->refusal.kind = EMOGI_WEIGHTS_OUT_OF_RANGE;
	return emogi_device_fail(error, EMOGI_BAD_INPUT, "the sum of the weights is out of range", "%s",
							 "");
}

/*
 * Convert floating-point weights to units: first with a safe exponent, then with the largest that
 * the sum allows.
 */
static EmogiStatus
make_units(Search *search, const EmogiGraph *graph, Level *level, int *exponent,
		   EmogiResult *result, EmogiError *error)
{
	const void *weights = search->run->graph.forward.weights;
	const uint64_t nedges = graph->forward.nedges;
	long long	whole;
	double		max;
	Sums		sums;

	LAUNCH_EACH(begin_max_kernel, search, nedges, weights, graph->weight_type, nedges,
				search->arrays.sums);
	TRY(emogi_communities_take_sums(search, &sums, error));
	memcpy(&max, &sums.max, sizeof max);
	*exponent = 0;
	if (!isfinite(max))
		return refuse(result, error);
	if (max > 0.0)
	{
		*exponent = SUM_BITS - 1 - ilogb(max) - 1 - (highest_bit(2 * nedges) + 1);
		LAUNCH_EACH(begin_units_kernel, search, nedges, weights, graph->weight_type, nedges,
					*exponent, search->first_room.weights);
		TRY(find_strengths(search, level, &whole, error));
		if (!isfinite(ldexp((double) whole, -*exponent)))
			return refuse(result, error);
		if (whole > 0)
			*exponent += EMOGI_COMMUNITIES_WHOLE_BITS - highest_bit((uint64_t) whole);
	}
	LAUNCH_EACH(begin_units_kernel, search, nedges, weights, graph->weight_type, nedges, *exponent,
				search->first_room.weights);
	return EMOGI_OK;
}

/*
 * Get the units of integer weights. 32-bit weights are converted if their sum may be out of range.
 */
static EmogiWeightUnits
units_of(const EmogiGraph *graph)
{
	switch (graph->weight_type)
	{
		case EMOGI_WEIGHT_NONE:
			return EMOGI_UNITS_ONE;
		case EMOGI_WEIGHT_U8:
			return EMOGI_UNITS_U8;
		case EMOGI_WEIGHT_U16:
			return EMOGI_UNITS_U16;
		case EMOGI_WEIGHT_U32:
			return graph->forward.nedges >= UINT64_C(1) << 29 ? EMOGI_UNITS_I64 : EMOGI_UNITS_U32;
		default:
			return EMOGI_UNITS_I64;
	}
}

EmogiStatus
emogi_communities_first(Search *search, const EmogiGraph *graph, EmogiResult *result, Level *level,
						EmogiError *error)
{
	const Lists<uint32_t> &lists = search->run->graph.forward;
	long long	whole;
	int			exponent = 0;

	*level = Level{graph->nvertices, graph->forward.nedges, lists.offsets, lists.offsets + 1,
		lists.targets, lists.weights, units_of(graph), true, true, search->first_room.strength,
		search->first_room.name};
	if (level->units == EMOGI_UNITS_I64)
	{
		level->weights = search->first_room.weights;
		if (graph->forward.nedges > 0)
			TRY(make_units(search, graph, level, &exponent, result, error));
	}
	TRY(find_strengths(search, level, &whole, error));
	search->gains.theta = fmin(ldexp(search->gains.theta, exponent), 1e290);
	emogi_communities_weigh(search, whole);
	return EMOGI_OK;
}

