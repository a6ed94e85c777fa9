/*
 * communities_aggregate.cu: the communities of one level become the nodes of the next (communities.cuh).
 *
 * Bytes: as communities_tally.cuh says, with 8 of where a member's list begins for each, and 12 an entry that is made.
 */
#include "communities_tally.cuh"
#include "prefix_sum.cuh"

/* Makes the lists of new nodes. */
struct AggregateRule
{
	struct Item
	{
		uint32_t	node;		/* new */
		uint64_t	first;		/* of its members' entries, in all members' */
		uint64_t	end;
	};

	Level		level;
	const uint32_t *partition;
	const uint32_t *order;
	const uint32_t *members;
	const uint64_t *starts;
	const uint64_t *before;
	Room		room;			/* end: where the next entry goes */

	__device__ __forceinline__ bool open(uint64_t i, Item *item) const
	{
		item->node = order[i];
		item->first = before[starts[item->node]];
		item->end = before[starts[item->node + 1]];
		return true;
	}

	__device__ __forceinline__ uint64_t length(const Item &item) const { return item.end - item.first; }

	/* Get the last member whose entries begin at this one or before. */
	__device__ __forceinline__ uint64_t find_member(const Item &item, uint64_t entry) const
	{
		uint64_t	least = starts[item.node];
		uint64_t	above = starts[item.node + 1];

		while (above - least > 1)
		{
			const uint64_t middle = (least + above) / 2;

			if (before[middle] <= entry)
				least = middle;
			else
				above = middle;
		}
		return least;
	}

	template <class Add>
	__device__ __forceinline__ void walk(const Item &item, uint64_t from, uint64_t upto, uint32_t rank, uint32_t stride, Add add) const
	{
		const uint32_t lanes = stride < WARP_LANES ? stride : stride > WARP_LANES ? SHORT_LANES : WARP_LANES;
		const uint64_t end = starts[item.node + 1];

		from += item.first;
		upto += item.first;
		for (uint64_t m = find_member(item, from) + rank / lanes; m < end && before[m] < upto; m += stride / lanes)
		{
			const uint64_t first = level.first[members[m]];
			const uint64_t begin = from > before[m] ? from - before[m] : 0;
			const uint64_t length = (upto < before[m + 1] ? upto : before[m + 1]) - before[m];

			walk_list(level, first + begin, first + length, rank % lanes, lanes, [&](uint32_t target) {
				return partition[target] == item.node ? EMOGI_NO_VERTEX : partition[target];
			}, add);
		}
	}

	template <class Find>
	__device__ __forceinline__ void begin(Item *, Find) const {}

	__device__ __forceinline__ void visit(Item *item, uint32_t mask, bool there, uint32_t community, long long weight) const
	{
		const uint32_t lanes = __ballot_sync(mask, there);
		const uint32_t leader = __ffs(mask) - 1;
		unsigned long long at = 0;

		if (lanes == 0)
			return;
		if (lane_number() == leader)
			at = atomicAdd((unsigned long long *) &room.end[item->node], (unsigned long long) __popc(lanes));
		at = __shfl_sync(mask, at, leader) + __popc(lanes & lanes_below());
		if (there)
		{
			room.targets[at] = community;
			room.weights[at] = weight;
		}
	}

	__device__ __forceinline__ void merge(Item *, uint32_t, uint32_t) const {}
	__device__ __forceinline__ void merge_with(Item *, const Item &) const {}
	__device__ __forceinline__ void finish(const Item &, uint64_t) const {}
};

/* Begin new nodes: no strength yet, and room for a list. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_begin_kernel(Room room, const uint64_t *starts, const uint64_t *before, uint64_t nnodes, uint64_t most)
{
	for_each(nnodes + 1, [&](uint64_t c) {
		const uint64_t length = c < nnodes ? before[starts[c + 1]] - before[starts[c]] : 0;

		room.first[c] = length < most ? length : most;
		if (c < nnodes)
			room.strength[c] = 0;
	});
}

/* Add up the strengths of members. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_strength_kernel(Level level, const uint32_t *partition, Room room)
{
	for_each(level.nnodes, [&](uint64_t i) {
		add_units(&room.strength[partition[i]], level.strength[i]);
	});
}

/* Let lists begin empty, and find the largest strength. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_end_kernel(Room room, uint64_t nnodes, Sums *sums)
{
	unsigned long long most = 0;

	for_each(nnodes, [&](uint64_t c) {
		room.end[c] = room.first[c];
		most = (unsigned long long) room.strength[c] > most ? (unsigned long long) room.strength[c] : most;
	});
	if (most > 0)
		atomicMax(&sums->most, most);
}

/* Count the entries that were made. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_count_kernel(Room room, uint64_t nnodes, Sums *sums)
{
	unsigned long long count = 0;

	for_each(nnodes, [&](uint64_t c) {
		count += room.end[c] - room.first[c];
	});
	block_add(&sums->count, count);
}

/* Take the memory of lists. */
static EmogiStatus
take_lists(Search *search, Room *room, uint64_t nnodes, EmogiError *error)
{
	Run		   *run = search->run;
	uint64_t	nentries;

	TRY(emogi_run_fetch(run, &nentries, room->first + nnodes, sizeof nentries, error));
	if (room->weights != NULL)
		emogi_memory_return(&run->memory, room->weights);
	room->weights = NULL;
	TRY(take_array(&run->memory, &room->weights, nentries + nentries / 2 + 1, "lists of communities", error));
	room->targets = (uint32_t *) (room->weights + nentries);
	return EMOGI_OK;
}

EmogiStatus
emogi_communities_climb(Search *search, const Level *level, const uint32_t *partition, uint64_t ncommunities, Room *room, Level *made,
						EmogiError *error)
{
	Run		   *run = search->run;
	const Arrays &arrays = search->arrays;
	uint64_t	first_long = 0;
	AggregateRule rule;
	bool		is_wide;
	Sums		sums;

	TRY(emogi_communities_order_groups(search, level, ncommunities, error));
	search->looked += level->nentries;
	search->looked_first += level->is_first ? level->nentries : 0;
	LAUNCH_EACH(aggregate_begin_kernel, search, ncommunities + 1, *room, arrays.starts, arrays.before, ncommunities, search->order.count);
	TRY(prefix_sum(run, room->first, ncommunities + 1, arrays.tile, error));
	LAUNCH_EACH(aggregate_strength_kernel, search, level->nnodes, *level, partition, *room);
	LAUNCH_EACH(aggregate_end_kernel, search, ncommunities, *room, ncommunities, arrays.sums);
	TRY(emogi_communities_take_sums(search, &sums, error));
	is_wide = sums.most >> 32 > 0;
	TRY(take_lists(search, room, ncommunities, error));
	rule = AggregateRule{*level, partition, arrays.order, arrays.chosen, arrays.starts, arrays.before, *room};
	if (search->order.count > 0)
		TRY(tally_batch(search, rule, is_wide, 0, &first_long, error));
	LAUNCH_EACH(aggregate_count_kernel, search, ncommunities, *room, ncommunities, arrays.sums);
	TRY(emogi_communities_take_sums(search, &sums, error));
	*made = Level{ncommunities, sums.count, room->first, room->end, room->targets, room->weights, EMOGI_UNITS_I64, is_wide, false,
		room->strength, room->name};
	return EMOGI_OK;
}

EmogiStatus
emogi_communities_climb_load(EmogiError *error)
{
	const void *const kernels[] = {(const void *) aggregate_begin_kernel, (const void *) aggregate_strength_kernel,
		(const void *) aggregate_end_kernel, (const void *) aggregate_count_kernel};

	TRY(load_tally<AggregateRule>(error));
	return LOAD_KERNELS(kernels);
}
