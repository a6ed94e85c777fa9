/*
 * communities_aggregate.cu: aggregation of the communities of a level into the nodes of the next
 * (communities.cuh).
 *
 * Bytes: as in communities_tally.cuh, 20 a member for the position of its list, and 12 an entry
 * written.
 */
#include "cuda/algorithms/communities_tally.cuh"
#include "cuda/access/prefix_sum.cuh"

/*
 * Builds the lists of the new nodes. A node's entries are the concatenated entries of its members.
 * A group of lanes, a warp or fewer, processes a range of them, one entry a lane and round, across
 * member boundaries: each lane holds the end of one of the next members.
 */
struct AggregateRule
{
	static constexpr bool COUNTS = true;
	static constexpr bool SUMS = false;

	struct Item
	{
		uint32_t	node;		/* the new node */
		uint64_t	first;		/* first of its members' entries, counted over all members */
		uint64_t	end;
		uint64_t	at;			/* where the group's next entry is written */
	};

	/* Consecutive members of a node: each lane holds one. */
	struct Window
	{
		uint64_t	first;		/* first entry, counted over all members */
		uint32_t	upto;		/* entries from `first` to the end of the lane's member */
		/* of the lane's member: position of an entry in the level's lists minus its number */
		uint64_t	origin;
	};

	Level		level;
	const uint32_t *partition;
	const uint32_t *order;
	const uint32_t *members;
	const uint64_t *starts;
	const uint64_t *before;
	Room		room;			/* end: where the next entry is written */

	__device__ __forceinline__ bool open(uint64_t i, Item *item) const
	{
		item->node = order[i];
		item->first = before[starts[item->node]];
		item->end = before[starts[item->node + 1]];
		return true;
	}

	__device__ __forceinline__ uint64_t length(const Item &item) const
	{
		return item.end - item.first;
	}

	/*
	 * Get the last member whose entries start at or before `entry`. Called by all lanes of a group.
	 */
	__device__ __forceinline__ uint64_t find_member(const Item &item, uint64_t entry, uint32_t lane,
													uint32_t lanes, uint32_t mask) const
	{
		uint64_t	low = starts[item.node];
		uint64_t	above = starts[item.node + 1];

		while (above - low > 1)
		{
			const uint64_t step = (above - low + lanes) / (lanes + 1);
			const uint64_t probe = low + (lane + 1) * step;

			low += step * __popc(__ballot_sync(mask, probe < above && before[probe] <= entry));
			above = above < low + step ? above : low + step;
		}
		return low;
	}

	/* Get the window of the members from m on, one a lane. */
	__device__ __forceinline__ Window open_window(const Item &item, uint64_t m, uint64_t entry,
												  uint32_t lane) const
	{
		Window		window = {entry, UINT32_MAX, 0};

		if (m + lane < starts[item.node + 1])
		{
			const uint64_t begin = before[m + lane];
			const uint64_t end = before[m + lane + 1];

			window.upto = end - entry < UINT32_MAX ? (uint32_t) (end - entry) : UINT32_MAX;
			window.origin = level.first[members[m + lane]] - begin;
		}
		return window;
	}

	/*
	 * Get the lane's positions in the level's lists, for entries `number` + j * lanes of the
	 * window; NO_ENTRY from `length` on.
	 */
	__device__ __forceinline__ void find_places(const Window &window, uint32_t number,
												uint32_t length, uint32_t lanes, uint32_t mask,
												uint64_t (&place)[UNROLL]) const
	{
#pragma unroll
		for (uint32_t j = 0; j < UNROLL; j++)
		{
			const uint32_t own = number + j * lanes;
			uint32_t	member = 0;	/* the first lane whose member ends after it */
			uint64_t	origin;

			for (uint32_t step = lanes / 2; step > 0; step /= 2)
				if (__shfl_sync(mask, window.upto, member + step - 1, lanes) <= own)
					member += step;
			origin = __shfl_sync(mask, window.origin, member, lanes);
			place[j] = own < length ? origin + window.first + own : NO_ENTRY;
		}
	}

	template <class Add>
	__device__ __forceinline__ void walk(const Item &item, uint64_t from, uint64_t upto,
										 uint32_t rank, uint32_t stride, Add add) const
	{
		const uint32_t lanes = stride < WARP_LANES ? stride : WARP_LANES;
		const uint32_t lane = rank % lanes;
		const uint32_t mask = (FULL_WARP >> (WARP_LANES - lanes)) << lane_number() / lanes * lanes;
		const uint64_t ngroups = stride / lanes;
		const uint64_t share = (upto - from + ngroups - 1) / ngroups;
		uint64_t	entry = item.first + from + rank / lanes * share;
		const uint64_t end = entry + share < item.first + upto ? entry + share : item.first + upto;
		uint64_t	m;

		if (entry >= end)
			return;
		for (m = find_member(item, entry, lane, lanes, mask); entry < end; m += lanes)
		{
			const Window window = open_window(item, m, entry, lane);
			const uint32_t known = __shfl_sync(mask, window.upto, lanes - 1, lanes);
			const uint32_t length = known < end - entry ? known : (uint32_t) (end - entry);

			for (uint32_t number = 0; number < length; number += UNROLL * lanes)
			{
				uint64_t	place[UNROLL];

				find_places(window, number + lane, length, lanes, mask, place);
				add_entries(level, place, [&](uint32_t target) {
					return partition[target] == item.node ? EMOGI_NO_VERTEX : partition[target];
				}, add);
			}
			entry += length;
		}
	}

	template <class Find>
	__device__ __forceinline__ void begin(Item *, Find) const {}

	/* Reserve space for the entries that the lanes will write. */
	__device__ __forceinline__ void count(Item *item, uint32_t mask, uint32_t count) const
	{
		const uint32_t all = __reduce_add_sync(mask, count);
		const uint32_t leader = __ffs(mask) - 1;
		unsigned long long at = 0;

		if (lane_number() == leader && all > 0)
			at = atomicAdd((unsigned long long *) &room.end[item->node], (unsigned long long) all);
		item->at = __shfl_sync(mask, at, leader);
	}

	__device__ __forceinline__ long long look_up(uint32_t) const { return 0; }

	__device__ __forceinline__ void visit(Item *item, uint32_t mask, bool there, uint32_t community,
										  long long weight, long long) const
	{
		const uint32_t lanes = __ballot_sync(mask, there);
		const uint64_t at = item->at + __popc(lanes & lanes_below());

		if (there)
		{
			room.targets[at] = community;
			room.weights[at] = weight;
		}
		item->at += __popc(lanes);
	}

	__device__ __forceinline__ void merge(Item *, uint32_t, uint32_t) const {}
	__device__ __forceinline__ void merge_with(Item *, const Item &) const {}
	__device__ __forceinline__ void finish(const Item &, uint64_t) const {}
};

/* Initialize new nodes: strength 0, and space for a list. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_begin_kernel(Room room, const uint64_t *starts, const uint64_t *before, uint64_t nnodes,
					   uint64_t max)
{
	for_each(nnodes + 1, [&](uint64_t c) {
		const uint64_t length = c < nnodes ? before[starts[c + 1]] - before[starts[c]] : 0;

		room.first[c] = length < max ? length : max;
		if (c < nnodes)
			room.strength[c] = 0;
	});
}

/* Sum the strengths of members. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_strength_kernel(Level level, const uint32_t *partition, Room room)
{
	for_each(level.nnodes, [&](uint64_t i) {
		add_units(&room.strength[partition[i]], level.strength[i]);
	});
}

/* Set lists to empty, and find the maximum strength. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_end_kernel(Room room, uint64_t nnodes, Sums *sums)
{
	unsigned long long max = 0;

	for_each(nnodes, [&](uint64_t c) {
		room.end[c] = room.first[c];
		max = (unsigned long long) room.strength[c] > max ?
			(unsigned long long) room.strength[c] : max;
	});
	if (max > 0)
		atomicMax(&sums->max, max);
}

/* Count the entries written. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
aggregate_count_kernel(Room room, uint64_t nnodes, Sums *sums)
{
	unsigned long long count = 0;

	for_each(nnodes, [&](uint64_t c) {
		count += room.end[c] - room.first[c];
	});
	block_add(&sums->count, count);
}

/* Allocate the lists. */
static EmogiStatus
take_lists(Search *search, Room *room, uint64_t nnodes, EmogiError *error)
{
	Run		   *run = search->run;
	uint64_t	nentries;

	TRY(emogi_run_fetch(run, &nentries, room->first + nnodes, sizeof nentries, error));
	if (room->weights != NULL)
		emogi_memory_return(&run->memory, room->weights);
	room->weights = NULL;
	TRY(take_array(&run->memory, &room->weights, nentries + nentries / 2 + 1,
				   "lists of communities", error));
	room->targets = (uint32_t *) (room->weights + nentries);
	return EMOGI_OK;
}

EmogiStatus
emogi_communities_aggregate_all(Search *search, const Level *level, const uint32_t *partition,
						uint64_t ncommunities, Room *room, Level *made, EmogiError *error)
{
	Run		   *run = search->run;
	const Arrays &arrays = search->arrays;
	uint64_t	first_long = 0;
	AggregateRule rule;
	bool		is_wide;
	Sums		sums;

	TRY(emogi_communities_order_groups(search, level, ncommunities, error));
	search->edges_read += level->nentries;
	search->edges_read_first += level->is_first ? level->nentries : 0;
	LAUNCH_EACH(aggregate_begin_kernel, search, ncommunities + 1, *room, arrays.starts,
				arrays.before, ncommunities, search->order.count);
	TRY(prefix_sum(run, room->first, ncommunities + 1, arrays.tile, error));
	LAUNCH_EACH(aggregate_strength_kernel, search, level->nnodes, *level, partition, *room);
	LAUNCH_EACH(aggregate_end_kernel, search, ncommunities, *room, ncommunities, arrays.sums);
	TRY(emogi_communities_take_sums(search, &sums, error));
	is_wide = sums.max >> 32 > 0;
	TRY(take_lists(search, room, ncommunities, error));
	rule = AggregateRule{*level, partition, arrays.order, arrays.chosen, arrays.starts,
		arrays.before, *room};
	if (search->order.count > 0)
		TRY(tally_batch(search, rule, is_wide, 0, &first_long, error));
	LAUNCH_EACH(aggregate_count_kernel, search, ncommunities, *room, ncommunities, arrays.sums);
	TRY(emogi_communities_take_sums(search, &sums, error));
	*made = Level{ncommunities, sums.count, room->first, room->end, room->targets, room->weights,
		EMOGI_UNITS_I64, is_wide, false, room->strength, room->name};
	return EMOGI_OK;
}

