/*
 * cdlp.cuh: kernels of label propagation. cdlp.cu describes the method and launches them.
 */
#ifndef EMOGI_CDLP_CUH
#define EMOGI_CDLP_CUH

#include "cuda/access/set_reads.cuh"
#include "cuda/core/run.cuh"

#define SHORT_LIST 64			/* max entries of both lists of a vertex for LINE_LANES lanes: a
								 * table of 1 KB */
#define WARP_LIST 256			/* max entries for a warp: 4 KB */
#define WARP_SLOTS (2 * WARP_LIST)
#define BLOCK_SLOTS 4096		/* of a block's table: 32 KB */
#define BLOCK_SUMS 2048			/* counters of a block for labels without a slot: 8 KB */
#define BLOCK_PROBES 16			/* slots that a label may probe there */
#define NQUEUE_NUMBERS 5
#define MIN_SHIFT 5				/* log2 of the min slots of a table: 32 */

static_assert(2 * SHORT_LIST >= 1 << MIN_SHIFT, "no table is smaller");
static_assert(2 * SHORT_LIST * WARP_LINES == WARP_SLOTS,
			  "the tables of short lists share that of the warp");

/* Arrays in device memory. */
typedef struct Propagation
{
	/* [1] without offsets: [0] is symmetric, and a neighbor counts once */
	Lists<Target> lists[2];
	uint64_t	nvertices;
	const uint32_t *label;		/* [nvertices], of the previous iteration */
	uint32_t   *next;			/* [nvertices] */
	/* [nqueued]: vertices for blocks, and those of them whose labels do not fit */
	uint32_t   *queue[2];
	/* [2][2], length of each queue, and number of vertices taken; with `longest` NQUEUE_NUMBERS */
	uint32_t   *nqueued;
	/* after these: max entries of a vertex queued for blocks */
	uint32_t   *longest;
	uint32_t   *tables;			/* [blocks][2 * slots]: keys, then counts; NULL = not allocated */
	uint32_t	slots;			/* of one table; a power of two */
} Propagation;

/* Counts of labels, in shared or device memory. */
typedef struct Table
{
	uint32_t   *key;			/* [slots], EMOGI_NO_VERTEX = free; 16-byte aligned, like count */
	uint32_t   *count;			/* [slots] */
	uint32_t	shift;			/* log2 of the slots */
} Table;

/* The lists of a vertex. */
typedef struct Neighbors
{
	Span		list[2];
} Neighbors;

/*
 * Get log2 of the slots of a table for nentries entries: two to four times as many slots, at most 1
 * << most.
 */
static __host__ __device__ __forceinline__ uint32_t
choose_shift(uint64_t nentries, uint32_t max)
{
	uint32_t	shift = MIN_SHIFT;

	while (shift < max && (UINT64_C(1) << shift) < 2 * nentries)
		shift++;
	return shift;
}

/* Clear a table, with threads first, first + nthreads, ... */
static __device__ __forceinline__ void
clear_table(const Table &table, uint32_t first, uint32_t nthreads)
{
	const uint32_t nquads = 1u << table.shift >> 2;

	for (uint32_t i = first; i < nquads; i += nthreads)
	{
		((uint4 *) table.key)[i] = make_uint4(EMOGI_NO_VERTEX, EMOGI_NO_VERTEX, EMOGI_NO_VERTEX,
											  EMOGI_NO_VERTEX);
		((uint4 *) table.count)[i] = make_uint4(0, 0, 0, 0);
	}
}

/* Count a label. Return its count; 0 if there is no slot for it, and never will be. */
static __device__ __forceinline__ uint32_t
add_label(const Table &table, uint32_t label, uint32_t many, uint32_t nprobes)
{
	uint32_t	slot = label * 0x9E3779B1u >> (32 - table.shift);

	for (uint32_t probe = 0; probe < nprobes; probe++)
	{
		const uint32_t key = atomicCAS(&table.key[slot], EMOGI_NO_VERTEX, label);

		if (key == EMOGI_NO_VERTEX || key == label)
			return atomicAdd(&table.count[slot], many) + many;
		slot = (slot + 1) & ((1u << table.shift) - 1);
	}
	return 0;
}

/* Get a key that orders labels: larger is better. */
static __device__ __forceinline__ unsigned long long
rank_label(uint32_t label, uint32_t count)
{
	return (unsigned long long) count << 32 | (uint32_t) ~label;
}

/* Get the maximum over groups of nlanes lanes. */
static __device__ __forceinline__ unsigned long long
best_of(unsigned long long best, uint32_t nlanes)
{
	for (uint32_t step = nlanes / 2; step > 0; step /= 2)
	{
		const unsigned long long other = __shfl_xor_sync(FULL_WARP, best, step);

		best = other > best ? other : best;
	}
	return best;
}

/* Get the lists of a vertex, empty ones if it is not `there`. */
static __device__ __forceinline__ Neighbors
read_neighbors(const Propagation &propagation, uint64_t vertex, bool there)
{
	Neighbors	neighbors = {{{0, 0}, {0, 0}}};

#pragma unroll
	for (uint32_t way = 0; way < 2; way++)
		if (there && propagation.lists[way].offsets != NULL)
			neighbors.list[way] = Span{__ldg(&propagation.lists[way].offsets[vertex]),
				__ldg(&propagation.lists[way].offsets[vertex + 1])};
	return neighbors;
}

/* Get the number of entries of both lists. */
static __device__ __forceinline__ uint64_t
count_entries(const Neighbors &neighbors)
{
	return neighbors.list[0].end - neighbors.list[0].start + neighbors.list[1].end -
		neighbors.list[1].start;
}

/*
 * Call add(label, many) for the labels of a vertex's neighbors, with `stride` threads, of which
 * this is number `rank`. Equal labels of a piece are added together. Called by whole warps.
 */
template <class Add>
static __device__ __forceinline__ void
count_labels(const Propagation &propagation, const Neighbors &neighbors, uint32_t vertex,
			 uint32_t rank, uint32_t stride, Add add)
{
#pragma unroll 1
	for (uint32_t way = 0; way < 2 && propagation.lists[way].offsets != NULL; way++)
	{
		const Span	list = way == 0 ? neighbors.list[0] : neighbors.list[1];

		walk_distinct(propagation.lists[way].targets, list, list, vertex, rank, stride,
					  [&](const Target (&target)[PIECE], uint32_t wanted) {
			uint32_t	label[PIECE];
			uint32_t	many[PIECE];

#pragma unroll
			for (uint32_t j = 0; j < PIECE; j++)
			{
				many[j] = wanted >> j & 1;
				label[j] = many[j] > 0 ? __ldg(&propagation.label[target[j]]) : EMOGI_NO_VERTEX;
			}
#pragma unroll
			for (uint32_t j = 1; j < PIECE; j++)
#pragma unroll
				for (uint32_t i = 0; i < j; i++)
					if (label[i] == label[j] && many[i] > 0)
					{
						many[i] += many[j];
						many[j] = 0;
					}
#pragma unroll
			for (uint32_t j = 0; j < PIECE; j++)
				if (many[j] > 0)
					add(label[j], many[j]);
		});
	}
}

/*
 * Set a vertex's label to the best one found, or keep it. Return whether it changed. Called by one
 * lane.
 */
static __device__ __forceinline__ bool
set_label(const Propagation &propagation, uint64_t vertex, unsigned long long best)
{
	const uint32_t own = propagation.label[vertex];
	const uint32_t label = best >> 32 > 0 ? ~(uint32_t) best : own;

	propagation.next[vertex] = label;
	return label != own;
}

/*
 * Find the labels of lists that fit the table of a warp, or of LINE_LANES lanes each; the lanes of
 * a group have the same arguments. Return the best. Called by whole warps.
 */
static __device__ __forceinline__ unsigned long long
find_label(const Propagation &propagation, Table table, const Neighbors &neighbors, uint32_t vertex,
		   uint32_t nlanes)
{
	const uint32_t rank = lane_number() % nlanes;
	unsigned long long best = 0;

	table.shift = choose_shift(count_entries(neighbors), 31);
	clear_table(table, rank, nlanes);
	__syncwarp();
	count_labels(propagation, neighbors, vertex, rank, nlanes, [&](uint32_t label, uint32_t many) {
		const unsigned long long found = rank_label(label,
													add_label(table, label, many, UINT32_MAX));

		best = found > best ? found : best;
	});
	__syncwarp();				/* the table is no longer in use */
	return best_of(best, nlanes);
}

/* Get the lists of another lane. */
static __device__ __forceinline__ Neighbors
shuffle_neighbors(const Neighbors &neighbors, uint32_t lane)
{
	Neighbors	its;

#pragma unroll
	for (uint32_t way = 0; way < 2; way++)
		its.list[way] = Span{__shfl_sync(FULL_WARP, neighbors.list[way].start, lane),
			__shfl_sync(FULL_WARP, neighbors.list[way].end, lane)};
	return its;
}

/*
 * Find the labels of the short lists of 32 vertices, WARP_LINES at a time. lanes: those with short
 * lists. *changed: counted by the first lane of each group. Called by whole warps.
 */
static __device__ __forceinline__ void
find_short(const Propagation &propagation, const Table &table, uint64_t base,
		   const Neighbors &neighbors, uint32_t lanes, unsigned long long *changed)
{
	const uint32_t group = lane_number() / LINE_LANES;
	const Table own = {table.key + group * 2 * SHORT_LIST, table.count + group * 2 * SHORT_LIST,
		MIN_SHIFT};

	while (lanes != 0)
	{
		uint32_t	lane = WARP_LANES;
		Neighbors	its;
		unsigned long long best;

#pragma unroll
		for (uint32_t g = 0; g < WARP_LINES; g++)
		{
			if (g == group && lanes != 0)
				lane = __ffs(lanes) - 1;
			lanes &= lanes - 1;
		}
		its = shuffle_neighbors(neighbors, lane % WARP_LANES);
		if (lane == WARP_LANES)
			its = Neighbors{{{0, 0}, {0, 0}}};
		best = find_label(propagation, own, its, (uint32_t) (base + lane), LINE_LANES);
		if (lane < WARP_LANES && lane_number() % LINE_LANES == 0)
			*changed += set_label(propagation, base + lane, best);
	}
}

/*
 * Run an iteration for the vertices with lists up to WARP_LIST, 32 at a time, and queue the others.
 * Bytes: see the head of the file.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cdlp_short_kernel(Propagation propagation, Step step)
{
	__shared__ uint4 key[BLOCK_WARPS][WARP_SLOTS / 4];
	__shared__ uint4 count[BLOCK_WARPS][WARP_SLOTS / 4];
	const Table table = {(uint32_t *) key[threadIdx.x / WARP_LANES],
		(uint32_t *) count[threadIdx.x / WARP_LANES], MIN_SHIFT};
	unsigned long long changed = 0;
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	sweep_chunks(step, 0, (propagation.nvertices + 31) / 32, [&](uint64_t word) {
		const uint64_t vertex = word * 32 + lane_number();
		const bool	there = vertex < propagation.nvertices;
		const Neighbors neighbors = read_neighbors(propagation, vertex, there);
		const uint64_t length = count_entries(neighbors);
		uint32_t	lanes = __ballot_sync(FULL_WARP, length > SHORT_LIST && length <= WARP_LIST);

		if (length > WARP_LIST)
		{
			propagation.queue[0][atomicAdd(&propagation.nqueued[0], 1)] = (uint32_t) vertex;
			atomicMax(propagation.longest, (uint32_t) (length < UINT32_MAX ? length : UINT32_MAX));
		}
		else
		{
			nread += count_lines<Target>(neighbors.list[0]) +
				count_lines<Target>(neighbors.list[1]);
			entries += length;
		}
		if (there && length == 0)
			(void) set_label(propagation, vertex, 0);
		find_short(propagation, table, word * 32, neighbors,
				   __ballot_sync(FULL_WARP, length > 0 && length <= SHORT_LIST), &changed);
		while (lanes != 0)
		{
			const uint32_t lane = __ffs(lanes) - 1;
			const Neighbors its = shuffle_neighbors(neighbors, lane);
			const unsigned long long best = find_label(propagation, table, its,
													   (uint32_t) (word * 32 + lane), WARP_LANES);

			lanes &= lanes - 1;
			if (lane_number() == 0)
				changed += set_label(propagation, word * 32 + lane, best);
		}
	});
	block_add(&step.counters->claimed, changed);
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/*
 * Take the next vertex of a queue for the whole block; EMOGI_NO_VERTEX = none. `item` is in shared
 * memory.
 */
static __device__ __forceinline__ uint32_t
take_vertex(const Propagation &propagation, uint32_t queue, const Step &step, uint32_t *item)
{
	__syncthreads();			/* all threads have read the last item */
	if (threadIdx.x == 0)
	{
		const uint32_t place = must_leave(step) ? UINT32_MAX :
			atomicAdd(&propagation.nqueued[2 * queue + 1], 1);

		*item = place < propagation.nqueued[2 * queue] ? propagation.queue[queue][place] :
			EMOGI_NO_VERTEX;
	}
	__syncthreads();
	return *item;
}

/*
 * Run an iteration for the queued vertices, one block each, and queue those whose labels do not
 * fit. Bytes: see the head of the file.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cdlp_long_kernel(Propagation propagation, Step step)
{
	__shared__ uint4 key[BLOCK_SLOTS / 4];
	__shared__ uint4 count[BLOCK_SLOTS / 4];
	__shared__ uint32_t sums[BLOCK_SUMS];
	__shared__ unsigned long long best;
	__shared__ uint32_t overflow;	/* upper bound of the count of labels without a slot */
	__shared__ uint32_t item;
	unsigned long long changed = 0;
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	uint32_t	vertex;

	while ((vertex = take_vertex(propagation, 0, step, &item)) != EMOGI_NO_VERTEX)
	{
		const Neighbors neighbors = read_neighbors(propagation, vertex, true);
		const Table table = {(uint32_t *) key, (uint32_t *) count,
			choose_shift(count_entries(neighbors), 31 - __clz(BLOCK_SLOTS))};
		unsigned long long own_best = 0;
		uint32_t	own_overflow = 0;

		clear_table(table, threadIdx.x, BLOCK_THREADS);
		for (uint32_t i = threadIdx.x; i < BLOCK_SUMS; i += BLOCK_THREADS)
			sums[i] = 0;
		if (threadIdx.x == 0)
		{
			best = 0;
			overflow = 0;
		}
		__syncthreads();
		count_labels(propagation, neighbors, vertex, threadIdx.x, BLOCK_THREADS,
					 [&](uint32_t label, uint32_t many) {
			const uint32_t found = add_label(table, label, many, BLOCK_PROBES);

			if (found > 0)
				own_best = rank_label(label, found) > own_best ? rank_label(label, found) :
					own_best;
			else
			{
				const uint32_t sum = atomicAdd(&sums[label * 0x85EBCA6Bu % BLOCK_SUMS], many) +
					many;

				own_overflow = sum > own_overflow ? sum : own_overflow;
			}
		});
		own_best = best_of(own_best, WARP_LANES);
		own_overflow = __reduce_max_sync(FULL_WARP, own_overflow);
		if (lane_number() == 0)
		{
			atomicMax(&best, own_best);
			atomicMax(&overflow, own_overflow);
		}
		__syncthreads();
		if (threadIdx.x > 0)
			continue;
		nread += count_lines<Target>(neighbors.list[0]) + count_lines<Target>(neighbors.list[1]);
		entries += count_entries(neighbors);
		if (overflow > 0 && overflow >= best >> 32)
			propagation.queue[1][atomicAdd(&propagation.nqueued[2], 1)] = vertex;
		else
			changed += set_label(propagation, vertex, best);
	}
	block_add(&step.counters->claimed, changed);
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/*
 * Run an iteration for the vertices whose labels did not fit, one block each, with a table in
 * device memory. Bytes: see the head of the file.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cdlp_overflow_kernel(Propagation propagation, Step step)
{
	__shared__ unsigned long long best;
	__shared__ uint32_t item;
	uint32_t   *own = propagation.tables + 2 * (uint64_t) propagation.slots * blockIdx.x;
	unsigned long long changed = 0;
	unsigned long long nread = 0;
	uint32_t	vertex;

	while ((vertex = take_vertex(propagation, 1, step, &item)) != EMOGI_NO_VERTEX)
	{
		const Neighbors neighbors = read_neighbors(propagation, vertex, true);
		const Table table = {own, own + propagation.slots,
			choose_shift(count_entries(neighbors), 31 - __clz(propagation.slots))};
		unsigned long long own_best = 0;

		clear_table(table, threadIdx.x, BLOCK_THREADS);
		if (threadIdx.x == 0)
			best = 0;
		__syncthreads();
		count_labels(propagation, neighbors, vertex, threadIdx.x, BLOCK_THREADS,
					 [&](uint32_t label, uint32_t many) {
			const unsigned long long found = rank_label(label,
														add_label(table, label, many, UINT32_MAX));

			own_best = found > own_best ? found : own_best;
		});
		own_best = best_of(own_best, WARP_LANES);
		if (lane_number() == 0)
			atomicMax(&best, own_best);
		__syncthreads();
		if (threadIdx.x > 0)
			continue;
		nread += count_lines<Target>(neighbors.list[0]) + count_lines<Target>(neighbors.list[1]);
		changed += set_label(propagation, vertex, best);
	}
	block_add(&step.counters->claimed, changed);
	block_add(&step.counters->lines, nread);
}

/* Make every vertex its own label. Bytes: 4 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cdlp_begin_kernel(Propagation propagation)
{
	for_each(propagation.nvertices, [&](uint64_t v) {
		propagation.next[v] = (uint32_t) v;
	});
}

/*
 * Run the first iteration if a neighbor counts once: all labels are distinct, and the smallest is
 * the first neighbor. Bytes: 12 a vertex, and the first line of its list.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
cdlp_first_kernel(Propagation propagation, Step step)
{
	const Lists<Target> &lists = propagation.lists[0];
	unsigned long long changed = 0;
	unsigned long long nread = 0;

	for_each(propagation.nvertices, [&](uint64_t v) {
		const Span	list = {__ldg(&lists.offsets[v]), __ldg(&lists.offsets[v + 1])};
		uint64_t	entry = list.start;

		while (entry < list.end && __ldg(&lists.targets[entry]) == v)
			entry++;
		propagation.next[v] = entry < list.end ? __ldg(&lists.targets[entry]) : (uint32_t) v;
		changed += entry < list.end;
		nread += list.start < list.end;
	});
	block_add(&step.counters->claimed, changed);
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, nread);
}

#endif							/* EMOGI_CDLP_CUH */
