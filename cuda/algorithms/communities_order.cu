/*
 * communities_order.cu: orders of nodes by batch and class, and renumbering of communities
 * (communities.cuh).
 *
 * The order within a batch and class is arbitrary.
 *
 * Bytes an order: a mark a node three times, 16 of list offsets twice, and 4 written.
 */
#include "cuda/algorithms/communities.cuh"
#include "cuda/algorithms/communities_tally.cuh"
#include "cuda/access/prefix_sum.cuh"

#define MIN_ARENA_SLOTS (UINT64_C(1) << 16)
#define MAX_ARENA_SLOTS (UINT64_C(1) << 26)	/* of tables that exist at the same time: 768 MB */

/* List lengths of nodes, or of groups of nodes taken together. */
struct ListLengths
{
	const uint64_t *first;
	const uint64_t *end;

	__device__ __forceinline__ uint64_t operator()(uint64_t i) const
	{
		return __ldg(&end[i]) - __ldg(&first[i]);
	}
};

struct GroupLengths
{
	const uint64_t *before;
	const uint64_t *starts;

	__device__ __forceinline__ uint64_t operator()(uint64_t i) const
	{
		return before[starts[i + 1]] - before[starts[i]];
	}
};

/* The nodes to order, and their batches. */
typedef struct Wanted
{
	const uint8_t *open;		/* NULL = those with entries */
	uint8_t		mark;
	uint64_t	salt;
	uint32_t	nbatches;
	uint16_t   *batch;			/* NULL = do not store */
} Wanted;

/* Count the wanted nodes and their entries. */
template <class Lengths>
static __global__ void __launch_bounds__(BLOCK_THREADS)
order_count_kernel(Wanted wanted, Lengths lengths, uint64_t nnodes, Sums *sums)
{
	unsigned long long count = 0;
	unsigned long long listed = 0;

	for_each(nnodes, [&](uint64_t i) {
		if (wanted.open == NULL ? lengths(i) > 0 : wanted.open[i] == wanted.mark)
		{
			count++;
			listed += lengths(i);
		}
	});
	block_add(&sums->count, count);
	block_add(&sums->listed, listed);
}

/* Get the bin (batch and class) of a wanted node. */
static __device__ __forceinline__ uint32_t
bin_of(const Wanted &wanted, uint64_t i, uint64_t length)
{
	const uint32_t batch = wanted.nbatches <= 1 ? 0 :
		emogi_communities_batch(wanted.salt, i, wanted.nbatches);

	if (wanted.batch != NULL)
		wanted.batch[i] = (uint16_t) batch;
	return batch * NCLASSES + class_of(length);
}

/*
 * Get the next position in a bin for each lane with `there`. With few bins the lanes of a bin share
 * one atomic. Called by whole warps.
 */
static __device__ __forceinline__ unsigned long long
take_place(unsigned long long *counts, bool there, uint32_t bin, bool few)
{
	unsigned long long at = 0;

	if (!few)
		return there ? atomicAdd(&counts[bin], 1) : 0;
#pragma unroll
	for (uint32_t b = 0; b < NCLASSES; b++)
	{
		const uint32_t lanes = __ballot_sync(FULL_WARP, there && bin == b);
		unsigned long long first = 0;

		if (lanes == 0)
			continue;
		if (lane_number() == 0)
			first = atomicAdd(&counts[b], (unsigned long long) __popc(lanes));
		first = __shfl_sync(FULL_WARP, first, 0);
		if (there && bin == b)
			at = first + __popc(lanes & lanes_below());
	}
	return at;
}

/*
 * Count the wanted nodes of each batch and class, or if order != NULL write them to their
 * positions.
 */
template <class Lengths>
static __global__ void __launch_bounds__(BLOCK_THREADS)
order_place_kernel(Wanted wanted, Lengths lengths, uint64_t nnodes, unsigned long long *counts,
				   uint32_t *order)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t base = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x - lane_number();
		 base < nnodes; base += nthreads)
	{
		const uint64_t i = base + lane_number();
		const bool	there = i < nnodes && (wanted.open == NULL ? lengths(i) > 0 :
										   wanted.open[i] == wanted.mark);
		const uint32_t bin = there ? bin_of(wanted, i, lengths(i)) : 0;
		const unsigned long long at = take_place(counts, there, bin, wanted.nbatches <= 1);

		if (there && order != NULL)
			order[at] = (uint32_t) i;
	}
}

/* Get the list lengths of nodes of the order. */
template <class Lengths>
static __global__ void __launch_bounds__(BLOCK_THREADS)
order_lengths_kernel(Lengths lengths, const uint32_t *order, uint64_t count, uint64_t *out)
{
	for_each(count, [&](uint64_t i) {
		out[i] = lengths(order[i]);
	});
}

EmogiStatus
emogi_communities_take_sums(Search *search, Sums *sums, EmogiError *error)
{
	Run		   *run = search->run;

	static_assert(sizeof(Sums) <= EMOGI_MAILBOX_BYTES, "sums must fit the mailbox");
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, search->arrays.sums, sizeof *sums,
							 cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	memcpy(sums, run->state->mailbox, sizeof *sums);
	CUDA_TRY(cudaMemsetAsync(search->arrays.sums, 0, sizeof *sums, run->state->stream));
	return EMOGI_OK;
}

/*
 * Ensure that there are cleared tables of at least `min` slots, and of `wanted` slots if memory
 * allows.
 */
static EmogiStatus
fit_arena(Search *search, uint64_t min, uint64_t wanted, EmogiError *error)
{
	Run		   *run = search->run;
	Arena	   *arena = &search->arena;
	const uint64_t slot_bytes = sizeof *arena->keys + sizeof *arena->sums;
	uint64_t	left;

	wanted = wanted < MIN_ARENA_SLOTS ? MIN_ARENA_SLOTS : wanted > MAX_ARENA_SLOTS ?
		MAX_ARENA_SLOTS : wanted;
	if (min <= arena->nslots && wanted <= arena->nslots)
		return EMOGI_OK;
	TRY(emogi_memory_left(&run->memory, &left, error));
	if (wanted < min || wanted * slot_bytes > left / 4)
		wanted = min;
	if (wanted <= arena->nslots)
		return EMOGI_OK;
	if (arena->nslots > 0)
		emogi_memory_return(&run->memory, arena->sums);
	arena->nslots = 0;
	TRY(take_array(&run->memory, (char **) &arena->sums, wanted * slot_bytes,
				   "tables of long lists", error));
	arena->nslots = wanted;
	arena->keys = (uint32_t *) (arena->sums + wanted);
	CUDA_TRY(cudaMemsetAsync(arena->sums, 0, wanted * sizeof *arena->sums, run->state->stream));
	CUDA_TRY(cudaMemsetAsync(arena->keys, 0xFF, wanted * sizeof *arena->keys, run->state->stream));
	return EMOGI_OK;
}

/*
 * Ensure that there is room for the long lists of the order, and for the results of the slabs of
 * their tables.
 */
static EmogiStatus
fit_longs(Search *search, uint64_t nlongs, EmogiError *error)
{
	Run		   *run = search->run;
	Arena	   *arena = &search->arena;
	const uint64_t nfound = nlongs + arena->nslots / SLAB_SLOTS;

	if (nlongs > search->longs_room)
	{
		if (search->longs_room > 0)
			emogi_memory_return(&run->memory, search->longs);
		search->longs_room = 0;
		TRY(take_array(&run->memory, &search->longs, nlongs, "long lists", error));
		search->longs_room = nlongs;
	}
	if (nfound > arena->nfound)
	{
		if (arena->nfound > 0)
			emogi_memory_return(&run->memory, arena->found);
		arena->nfound = 0;
		TRY(take_array(&run->memory, &arena->found, nfound * FOUND_BYTES,
					   "what was found of long lists", error));
		arena->nfound = nfound;
	}
	return EMOGI_OK;
}

/*
 * Assign tables, pieces and slabs to the long lists of a batch, starting over when the arena is
 * full.
 */
static void
place_tables(const Arena *arena, LongList *longs, uint64_t count)
{
	uint64_t	table = 0;
	uint64_t	piece = 0;
	uint64_t	slab = 0;

	for (uint64_t x = 0; x < count; x++)
	{
		const uint64_t nslots = UINT64_C(1) << longs[x].shift;

		if (table + nslots > arena->nslots)
			table = piece = slab = 0;
		longs[x].table = table;
		longs[x].piece = piece;
		longs[x].slab = slab;
		table += nslots;
		piece += (longs[x].length + BLOCK_ENTRIES - 1) / BLOCK_ENTRIES;
		slab += count_slabs(longs[x].shift);
	}
}

/*
 * Lay out the long lists of the order. distinct: upper bound of the distinct communities in a list.
 */
template <class Lengths>
static EmogiStatus
lay_out_longs(Search *search, Lengths lengths, uint64_t distinct, EmogiError *error)
{
	Run		   *run = search->run;
	Order	   *order = &search->order;
	const unsigned long long *starts = order->starts.at;
	uint64_t   *lengths_found = (uint64_t *) search->arrays.difference;
	uint64_t	max = 0;		/* slots of a table */
	uint64_t	wanted = 0;		/* slots of the tables of a batch */
	uint64_t	x = 0;

	order->nlongs = 0;
	for (uint32_t b = 0; b < order->nbatches; b++)
		order->nlongs += starts[b * NCLASSES + 4] - starts[b * NCLASSES + 3];
	if (order->nlongs == 0)
		return EMOGI_OK;
	TRY(order->longs.fit(order->nlongs, error));
	TRY(order->lengths.fit(order->nlongs, error));
	for (uint32_t b = 0; b < order->nbatches; b++)
	{
		const uint64_t first = starts[b * NCLASSES + 3];
		const uint64_t count = starts[b * NCLASSES + 4] - first;

		for (uint64_t i = 0; i < count; i++)
			order->longs.at[x + i].item = (uint32_t) (first + i);
		if (count > 0)
			LAUNCH_EACH(order_lengths_kernel<Lengths>, search, count, lengths,
						search->arrays.order + first, count, lengths_found + x);
		x += count;
	}
	TRY(emogi_run_fetch(run, order->lengths.at, lengths_found, order->nlongs * sizeof(uint64_t),
						error));
	x = 0;
	for (uint32_t b = 0; b < order->nbatches; b++)
	{
		const uint64_t end = x + starts[b * NCLASSES + 4] - starts[b * NCLASSES + 3];
		uint64_t	together = 0;

		for (; x < end; x++)
		{
			const uint64_t length = order->lengths.at[x];
			LongList   *its = &order->longs.at[x];

			its->length = length;
			its->shift = slots_shift(length < distinct ? length : distinct, 5);
			max = UINT64_C(1) << its->shift > max ? UINT64_C(1) << its->shift : max;
			together += UINT64_C(1) << its->shift;
		}
		wanted = together > wanted ? together : wanted;
	}
	if (max > UINT64_C(1) << 31)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory on the GPU",
								 "a table of %llu communities", (unsigned long long) max / 2);
	TRY(fit_arena(search, max, wanted, error));
	TRY(fit_longs(search, order->nlongs, error));
	x = 0;
	for (uint32_t b = 0; b < order->nbatches; b++)
	{
		const uint64_t count = starts[b * NCLASSES + 4] - starts[b * NCLASSES + 3];

		place_tables(&search->arena, order->longs.at + x, count);
		x += count;
	}
	return emogi_run_send(run, search->longs, order->longs.at, order->nlongs * sizeof(LongList),
						  error);
}

/* Order the wanted nodes. together: in one batch. */
template <class Lengths>
static EmogiStatus
make_order(Search *search, Wanted wanted, Lengths lengths, uint64_t nnodes, bool together,
		   uint64_t sweep, uint64_t distinct, EmogiError *error)
{
	Run		   *run = search->run;
	Order	   *order = &search->order;
	const Arrays &arrays = search->arrays;
	unsigned long long at = 0;
	Sums		sums;

	LAUNCH_EACH(order_count_kernel<Lengths>, search, nnodes, wanted, lengths, nnodes, arrays.sums);
	TRY(emogi_communities_take_sums(search, &sums, error));
	order->count = sums.count;
	order->listed = sums.listed;
	order->nbatches = together ? 1 : emogi_communities_nbatches(&search->gains, sums.count, sweep);
	wanted.nbatches = order->nbatches;
	TRY(order->starts.fit((uint64_t) order->nbatches * NCLASSES + 1, error));
	if (order->nbatches == 0)
		return EMOGI_OK;
	CUDA_TRY(cudaMemsetAsync(arrays.counts, 0, order->nbatches * NCLASSES * sizeof *arrays.counts,
							 run->state->stream));
	LAUNCH_EACH(order_place_kernel<Lengths>, search, nnodes, wanted, lengths, nnodes, arrays.counts,
				(uint32_t *) NULL);
	TRY(emogi_run_fetch(run, order->starts.at, arrays.counts,
						order->nbatches * NCLASSES * sizeof *arrays.counts, error));
	for (uint64_t bin = 0; bin <= (uint64_t) order->nbatches * NCLASSES; bin++)
	{
		const unsigned long long count = bin < (uint64_t) order->nbatches * NCLASSES ?
			order->starts.at[bin] : 0;

		order->starts.at[bin] = at;
		at += count;
	}
	TRY(emogi_run_send(run, arrays.counts, order->starts.at,
					   order->nbatches * NCLASSES * sizeof *arrays.counts, error));
	LAUNCH_EACH(order_place_kernel<Lengths>, search, nnodes, wanted, lengths, nnodes, arrays.counts,
				arrays.order);
	return lay_out_longs(search, lengths, distinct > 0 ? distinct : order->count, error);
}

EmogiStatus
emogi_communities_order(Search *search, const Level *level, uint8_t mark, bool together,
						uint64_t salt, uint64_t sweep, uint64_t distinct, EmogiError *error)
{
	const Wanted wanted = {search->arrays.open, mark, salt, 0, search->arrays.batch};

	return make_order(search, wanted, ListLengths{level->first, level->end}, level->nnodes,
					  together, sweep, distinct, error);
}

/* ---- groups ---- */

/* Count the nodes of groups, or write them to their positions. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
group_place_kernel(const uint32_t *partition, uint64_t nnodes, unsigned long long *counts,
				   uint32_t *order)
{
	for_each(nnodes, [&](uint64_t i) {
		const unsigned long long at = atomicAdd(&counts[partition[i]], 1);

		if (order != NULL)
			order[at] = (uint32_t) i;
	});
}

/* Get the list lengths of the nodes in order. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
group_entries_kernel(Level level, const uint32_t *order, uint64_t *before)
{
	for_each(level.nnodes + 1, [&](uint64_t m) {
		before[m] = m < level.nnodes ? level.end[order[m]] - level.first[order[m]] : 0;
	});
}

EmogiStatus
emogi_communities_order_groups(Search *search, const Level *level, uint64_t ngroups,
							   EmogiError *error)
{
	Run		   *run = search->run;
	const Arrays &arrays = search->arrays;
	const cudaStream_t stream = run->state->stream;
	unsigned long long *counts = (unsigned long long *) arrays.starts;

	/*
	 * Counts become start positions, which the second pass advances to ends: where the next group
	 * starts.
	 */
	CUDA_TRY(cudaMemsetAsync(counts, 0, (ngroups + 2) * sizeof *counts, stream));
	LAUNCH_EACH(group_place_kernel, search, level->nnodes, arrays.number, level->nnodes, counts + 1,
				(uint32_t *) NULL);
	TRY(prefix_sum(run, arrays.starts + 1, ngroups + 1, arrays.tile, error));
	LAUNCH_EACH(group_place_kernel, search, level->nnodes, arrays.number, level->nnodes, counts + 1,
				arrays.chosen);
	LAUNCH_EACH(group_entries_kernel, search, level->nnodes + 1, *level, arrays.chosen,
				arrays.before);
	TRY(prefix_sum(run, arrays.before, level->nnodes + 1, arrays.tile, error));
	return make_order(search, Wanted{NULL, 0, 0, 1, NULL},
					  GroupLengths{arrays.before, arrays.starts}, ngroups, true, 0, 0, error);
}

/* ---- renumbering ---- */

/* Find the first node of each community. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
number_first_kernel(const uint32_t *partition, uint64_t nnodes, uint32_t *first)
{
	for_each(nnodes, [&](uint64_t i) {
		if (first[partition[i]] > (uint32_t) i)
			atomicMin(&first[partition[i]], (uint32_t) i);
	});
}

/* Mark the first nodes. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
number_mark_kernel(const uint32_t *partition, uint64_t nnodes, const uint32_t *first,
				   uint32_t *place)
{
	for_each(nnodes + 1, [&](uint64_t i) {
		place[i] = i < nnodes && first[partition[i]] == i;
	});
}

/* Give all nodes the number of their community's first node. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
number_all_kernel(uint32_t *partition, uint64_t nnodes, const uint32_t *first,
				  const uint32_t *place)
{
	for_each(nnodes, [&](uint64_t i) {
		partition[i] = place[first[partition[i]]];
	});
}

EmogiStatus
emogi_communities_number(Search *search, uint32_t *partition, uint64_t nnodes, uint64_t *count,
						 EmogiError *error)
{
	Run		   *run = search->run;
	const Arrays &arrays = search->arrays;
	uint32_t	found;

	CUDA_TRY(cudaMemsetAsync(arrays.empty, 0xFF, nnodes * sizeof *arrays.empty,
							 run->state->stream));
	LAUNCH_EACH(number_first_kernel, search, nnodes, partition, nnodes, arrays.empty);
	LAUNCH_EACH(number_mark_kernel, search, nnodes + 1, partition, nnodes, arrays.empty,
				arrays.place);
	TRY(prefix_sum(run, arrays.place, nnodes + 1, arrays.narrow_tile, error));
	LAUNCH_EACH(number_all_kernel, search, nnodes, partition, nnodes, arrays.empty, arrays.place);
	TRY(emogi_run_fetch(run, &found, arrays.place + nnodes, sizeof found, error));
	*count = found;
	return EMOGI_OK;
}

