/*
 * communities_refine.cu: refinement of communities into well-connected ones, batch by batch, as in
 * engine/cpu/communities_refine.c, and splitting into connected components.
 *
 * Bytes: the entries once with 4 at random each, for the weights of nodes to their communities; as
 * in communities_tally.cuh for the nodes that may join others, with 8 at random an entry; and once
 * more with 8 for those that do.
 */
#include "cuda/algorithms/communities_tally.cuh"

#include <math.h>

#define NO_NODE_BATCH UINT16_MAX	/* of a node that is not visited */
#define SPREAD_ENTRIES 4096		/* that a lane reads between two checks for cancellation */

/* Common part of the rules that read a node's list. */
struct ListRule
{
	static constexpr bool COUNTS = false;

	Level		level;
	Arrays		arrays;
	EmogiGainParameters	gains;
	uint64_t	salt;
	uint16_t	batch;

	template <class Item>
	__device__ __forceinline__ void open_list(uint64_t i, Item *item) const
	{
		item->node = arrays.order[i];
		item->own = arrays.community[item->node];
		item->first = level.first[item->node];
		item->end = level.end[item->node];
		item->sum = 0;
	}
};

struct ListItem
{
	uint32_t	node;
	uint32_t	own;
	uint64_t	first;
	uint64_t	end;
	long long	sum;
};

/* Sum a node's weights to its own community, and mark the node as open if it is well connected. */
struct CutRule : ListRule
{
	static constexpr bool SUMS = true;

	typedef ListItem Item;

	__device__ __forceinline__ bool open(uint64_t i, Item *item) const
	{
		open_list(i, item);
		return arrays.size[item->own] > 1;
	}

	__device__ __forceinline__ uint64_t length(const Item &item) const
	{
		return item.end - item.first;
	}

	template <class Add>
	__device__ __forceinline__ void walk(const Item &item, uint64_t from, uint64_t upto,
										 uint32_t rank, uint32_t stride, Add add) const
	{
		walk_list(level, item.first + from, item.first + upto, rank, stride, [&](uint32_t target) {
			return target != item.node && arrays.community[target] == item.own ? 0 :
				EMOGI_NO_VERTEX;
		}, add);
	}

	__device__ __forceinline__ void finish(const Item &item, uint64_t) const
	{
		arrays.inner_cut[item.node] = arrays.node_cut[item.node] = item.sum;
		arrays.open[item.node] = item.sum > 0 &&
			emogi_communities_well_connected(&gains, level.strength[item.node], item.sum,
											 arrays.total[item.own]) ? OPEN : 0;
	}
};

/* Choose the community that a singleton joins. */
struct JoinRule : ListRule
{
	static constexpr bool SUMS = false;

	struct Item : ListItem
	{
		double		rate;
		long long	whole;
		uint64_t	salt;
		EmogiBestCommunity	best;
	};

	__device__ __forceinline__ bool open(uint64_t i, Item *item) const
	{
		open_list(i, item);
		item->rate = emogi_communities_rate(&gains, level.strength[item->node]);
		item->whole = arrays.total[item->own];
		item->salt = emogi_communities_random(salt, item->node);
		item->best = EmogiBestCommunity{-(double) INFINITY, EMOGI_NO_VERTEX, 0};
		return arrays.inner_size[item->node] == 1;
	}

	__device__ __forceinline__ uint64_t length(const Item &item) const
	{
		return item.end - item.first;
	}

	template <class Add>
	__device__ __forceinline__ void walk(const Item &item, uint64_t from, uint64_t upto,
										 uint32_t rank, uint32_t stride, Add add) const
	{
		walk_list(level, item.first + from, item.first + upto, rank, stride, [&](uint32_t target) {
			return target != item.node && arrays.community[target] == item.own ?
				arrays.refined[target] : EMOGI_NO_VERTEX;
		}, add);
	}

	template <class Find>
	__device__ __forceinline__ void begin(Item *item, Find) const
	{
		emogi_communities_offer_randomly(&item->best, &gains, item->salt, 0.0, item->node, 0);
	}

	__device__ __forceinline__ long long look_up(uint32_t community) const
	{
		return arrays.inner_total[community];
	}

	__device__ __forceinline__ void visit(Item *item, uint32_t, bool there, uint32_t community,
										  long long weight, long long total) const
	{
		double		gain;

		if (!there)
			return;
		gain = emogi_communities_value(item->rate, weight, total);
		if (gain < 0.0 || !emogi_communities_may_win(&item->best, &gains, gain) ||
			(arrays.batch[community] == batch && arrays.inner_size[community] == 1) ||
			!emogi_communities_well_connected(&gains, total, arrays.inner_cut[community],
											  item->whole))
			return;
		emogi_communities_offer_randomly(&item->best, &gains, item->salt, gain, community, weight);
	}

	__device__ __forceinline__ void merge(Item *item, uint32_t mask,
										  uint32_t lanes) const
	{
		merge_best(&item->best, item->salt, mask, lanes);
	}

	__device__ __forceinline__ void merge_with(Item *item, const Item &other) const
	{
		if (other.best.community != EMOGI_NO_VERTEX)
			emogi_communities_offer(&item->best, item->salt, other.best.value, other.best.community,
									other.best.weight);
	}

	__device__ __forceinline__ void finish(const Item &item, uint64_t i) const
	{
		if (item.best.community == item.node)
			return;
		arrays.chosen[i] = item.best.community;
		arrays.difference[i] = item.best.weight;
		add_units(&arrays.into[item.best.community], level.strength[item.node]);
	}
};

/*
 * Sum the weights from joining nodes to other nodes that join the same community in the same batch,
 * and apply the joins.
 */
struct JoinedRule : ListRule
{
	static constexpr bool SUMS = true;

	typedef ListItem Item;		/* own: the community joined */

	__device__ __forceinline__ bool open(uint64_t i, Item *item) const
	{
		if (arrays.chosen[i] == STAYS || arrays.difference[i] == REJECTED)
			return false;
		open_list(i, item);
		item->own = arrays.chosen[i];
		return true;
	}

	__device__ __forceinline__ uint64_t length(const Item &item) const
	{
		return item.end - item.first;
	}

	template <class Add>
	__device__ __forceinline__ void walk(const Item &item, uint64_t from, uint64_t upto,
										 uint32_t rank, uint32_t stride, Add add) const
	{
		walk_list(level, item.first + from, item.first + upto, rank, stride, [&](uint32_t target) {
			return arrays.batch[target] == batch && target != item.node && target != item.own &&
				arrays.refined[target] == item.own &&
				arrays.inner_size[target] == 1 ? 0 : EMOGI_NO_VERTEX;
		}, add);
	}

	__device__ __forceinline__ void finish(const Item &item, uint64_t i) const
	{
		add_units(&arrays.inner_total[item.own], level.strength[item.node]);
		add_units(&arrays.inner_cut[item.own],
				  arrays.node_cut[item.node] - 2 * arrays.difference[i] - item.sum);
		atomicAdd(&arrays.inner_size[item.own], 1);
	}
};

/* Initialize: each node alone. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
refine_begin_kernel(Level level, Arrays arrays)
{
	for_each(level.nnodes, [&](uint64_t i) {
		arrays.refined[i] = (uint32_t) i;
		arrays.inner_total[i] = level.strength[i];
		arrays.inner_size[i] = 1;
		arrays.inner_cut[i] = arrays.node_cut[i] = 0;
		arrays.into[i] = 0;
		arrays.open[i] = level.end[i] > level.first[i] && arrays.size[arrays.community[i]] > 1 ?
			OPEN : 0;
	});
}

/* Clear the batches: no node is visited. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
refine_reset_kernel(Arrays arrays, uint64_t nnodes)
{
	for_each(nnodes, [&](uint64_t i) {
		arrays.batch[i] = NO_NODE_BATCH;
	});
}

/* Clear the choices. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
refine_clear_kernel(Arrays arrays, uint64_t count)
{
	for_each(count, [&](uint64_t i) {
		arrays.chosen[i] = STAYS;
	});
}

/* Check which nodes may join the community they chose, and record it. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
refine_check_kernel(Level level, Arrays arrays, EmogiGainParameters gains, uint64_t first,
					uint64_t end)
{
	for_each(end - first, [&](uint64_t k) {
		const uint64_t i = first + k;
		const uint32_t to = arrays.chosen[i];
		const uint32_t node = arrays.order[i];
		const long long strength = level.strength[node];

		if (to == STAYS)
			return;
		if (emogi_communities_value(emogi_communities_rate(&gains, strength), arrays.difference[i],
									arrays.inner_total[to] + arrays.into[to] - strength) >= 0.0)
			arrays.refined[node] = to;
		else
			arrays.difference[i] = REJECTED;
	});
}

/* Clear the requested strengths of a batch. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
refine_end_kernel(Arrays arrays, uint64_t first, uint64_t end)
{
	for_each(end - first, [&](uint64_t k) {
		if (arrays.chosen[first + k] != STAYS)
			arrays.into[arrays.chosen[first + k]] = 0;
	});
}

/* Process the joins of batch b. */
static EmogiStatus
refine_batch(Search *search, const Level *level, ListRule rule, uint32_t b, uint64_t *first_long,
			 EmogiError *error)
{
	const unsigned long long *starts = search->order.starts.at + (uint64_t) b * NCLASSES;
	const uint64_t count = starts[4] - starts[0];
	uint64_t	first_joined = *first_long;
	JoinRule	join;
	JoinedRule	joined;

	if (count == 0)
		return EMOGI_OK;
	if (search->run->control->cancel)
		return emogi_cuda_wait(search->run->state, search->run->control, error);
	rule.batch = (uint16_t) b;
	(ListRule &) join = rule;
	(ListRule &) joined = rule;
	TRY(tally_batch(search, join, level->is_wide, b, first_long, error));
	LAUNCH_EACH(refine_check_kernel, search, count, *level, search->arrays, search->gains,
				starts[0], starts[4]);
	TRY(tally_batch(search, joined, level->is_wide, b, &first_joined, error));
	LAUNCH_EACH(refine_end_kernel, search, count, search->arrays, starts[0], starts[4]);
	return EMOGI_OK;
}

EmogiStatus
emogi_communities_refine_all(Search *search, const Level *level, uint64_t salt, EmogiError *error)
{
	ListRule	rule = {*level, search->arrays, search->gains, salt, 0};
	uint64_t	first_long = 0;
	CutRule		cut;

	LAUNCH_EACH(refine_begin_kernel, search, level->nnodes, *level, search->arrays);
	TRY(emogi_communities_order(search, level, OPEN, true, 0, 0, 1, error));
	(ListRule &) cut = rule;
	if (search->order.count > 0)
		TRY(tally_batch(search, cut, level->is_wide, 0, &first_long, error));
	LAUNCH_EACH(refine_reset_kernel, search, level->nnodes, search->arrays, level->nnodes);
	TRY(emogi_communities_order(search, level, OPEN, false, salt, 0, level->nnodes, error));
	search->edges_read += search->order.listed;
	search->edges_read_first += level->is_first ? search->order.listed : 0;
	LAUNCH_EACH(refine_clear_kernel, search, search->order.count, search->arrays,
				search->order.count);
	first_long = 0;
	for (uint32_t b = 0; b < search->order.nbatches; b++)
		TRY(refine_batch(search, level, rule, b, &first_long, error));
	return EMOGI_OK;
}

/* ---- connected components ---- */

/* Initialize: each node a component of its own. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
part_begin_kernel(Level level, Arrays arrays)
{
	for_each(level.nnodes, [&](uint64_t i) {
		arrays.refined[i] = (uint32_t) i;
	});
}

/*
 * Propagate the smaller label along the edges within communities, with SHORT_LANES lanes a list, to
 * both ends and to their labels.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
part_propagate_kernel(Level level, Arrays arrays, Step step)
{
	const uint32_t rank = threadIdx.x % SHORT_LANES;
	const uint64_t ngroups = (uint64_t) gridDim.x * (BLOCK_THREADS / SHORT_LANES);
	uint32_t	nread = 0;
	bool		changed = false;

	for (uint64_t i = (uint64_t) blockIdx.x * (BLOCK_THREADS / SHORT_LANES) +
		 threadIdx.x / SHORT_LANES; i < level.nnodes; i += ngroups)
		for (uint64_t e = level.first[i] + rank; e < level.end[i]; e += SHORT_LANES)
		{
			const uint32_t j = level.targets[e];
			const uint32_t own = *(volatile uint32_t *) &arrays.refined[i];
			const uint32_t other = *(volatile uint32_t *) &arrays.refined[j];

			if (++nread % SPREAD_ENTRIES == 0 && must_leave_polling(step, 63))
				return;
			if (arrays.community[j] != arrays.community[i] || own == other ||
				level_weight(level, e) == 0)
				continue;
			changed = true;
			atomicMin(&arrays.refined[own > other ? own : other], own < other ? own : other);
			atomicMin(&arrays.refined[own > other ? i : j], own < other ? own : other);
		}
	if (changed)
		arrays.sums->changed = 1;
}

/* Replace each label by the root it leads to. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
part_follow_kernel(Level level, Arrays arrays)
{
	for_each(level.nnodes, [&](uint64_t i) {
		uint32_t	part = arrays.refined[i];

		while (*(volatile uint32_t *) &arrays.refined[part] != part)
			part = *(volatile uint32_t *) &arrays.refined[part];
		arrays.refined[i] = part;
	});
}

/* Count the components: the nodes that are their own label. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
part_count_kernel(Level level, Arrays arrays)
{
	unsigned long long count = 0;

	for_each(level.nnodes, [&](uint64_t i) {
		count += arrays.refined[i] == i;
	});
	block_add(&arrays.sums->count, count);
}

EmogiStatus
emogi_communities_split_parts(Search *search, const Level *level, uint64_t *nparts,
							  EmogiError *error)
{
	Sums		sums;

	LAUNCH_EACH(part_begin_kernel, search, level->nnodes, *level, search->arrays);
	do
	{
		LAUNCH_EACH(part_propagate_kernel, search, level->nnodes * SHORT_LANES, *level,
					search->arrays, search->run->step);
		LAUNCH_EACH(part_follow_kernel, search, level->nnodes, *level, search->arrays);
		TRY(emogi_communities_take_sums(search, &sums, error));
	} while (sums.changed != 0);
	LAUNCH_EACH(part_count_kernel, search, level->nnodes, *level, search->arrays);
	TRY(emogi_communities_take_sums(search, &sums, error));
	*nparts = sums.count;
	return EMOGI_OK;
}

