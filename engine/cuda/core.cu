/*
 * core.cu: core numbers.
 *
 * Returns core[nvertices]: the largest k such that the vertex is in a subgraph of which every vertex has k neighbours or more [1], of the
 * simple undirected graph: repeats and loops are passed over.
 *
 * Method. Vertices are peeled level by level, of the least degree that is left. Three kernels make a level:
 *   sift      keeps what is above the last level, and finds the least degree of it
 *   collect   queues what is at that degree: the level
 *   peel      takes each vertex of the queue away from its neighbours; those that fall to the level are queued in their turn
 * A cascade needs no barrier [2]: whoever has nothing to do waits for the next item of the one queue, which has room for every vertex, and
 * leaves when as many items are done with as were queued. So a level takes as long as its longest chain, not that many launches. Lists
 * above SLICE_LINES lines are cut: who takes the first slice queues the others. Nobody depends on a block that has not begun. Where vertices fall
 * one after the other, as on a path, a step takes some microseconds: a graph with a chain of MOST_STEPS is left to the CPU.
 * The host launches LEVELS_AHEAD levels, then looks.
 *
 * A bitmap says which vertices are at or below the level: half of all entries lead there, and need no more than that bit. The others cost
 * an atomic operation. Where two take a neighbour too many, the second puts it back. Core numbers do not depend on the order of the work.
 *
 * Device memory, for n vertices and m entries: 20.2n and m/62; for the degrees 4.5n and 9m/32 meanwhile.
 *
 * Bytes: the entries in ascending order once, for degrees; every list once more, in lines, and for each entry a bit at random, for half of
 * them an atomic operation on 4 bytes; 16 for each vertex that is left, a level.
 *
 * [1] V. Batagelj, M. Zaversnik: An O(m) Algorithm for Cores Decomposition of Networks. arXiv:cs/0310049, 2003.
 * [2] A. Ahmad, L. Yuan, D. Yan, G. Guo, J. Chen, C. Zhang: Accelerating k-Core Decomposition by a GPU. ICDE 2023: there a queue a block.
 */
#include "distinct.cuh"
#include "simple.cuh"

#define LEVELS_AHEAD 32			/* that the host launches before it looks whether anything is left */
#define MOST_STEPS 8192			/* of a chain of vertices that fall one after the other */
#define SIFT_ROUNDS 8			/* of 32 vertices that a warp sifts for one atomic operation */
#define NO_ITEM UINT64_MAX		/* in the queue: not filled yet */
#define REST 0x80000000u		/* of an item: it is a slice of a long list, not the first */
#define WAIT_NS 100				/* for an item; twice as long each time, up to MOST_IDLE times: reads of the counters are in the way of others */
#define MOST_IDLE 3
#define LINE_NUMBERS (EMOGI_LINE_BYTES / sizeof(unsigned long long))
#define NUMBERS (3 * LINE_NUMBERS + 2 * (LEVELS_AHEAD + 1))

static_assert(LEVELS_AHEAD % 2 == 0, "a batch ends with the list that it began with");

/*
 * The queue of vertices to peel. An item is a vertex, and below it how many steps its chain has made, or REST and the number of a slice.
 * Device memory; each number on a line of its own.
 */
typedef struct PeelQueue
{
	unsigned long long *item;	/* [capacity], NO_ITEM until filled */
	uint64_t	capacity;
	unsigned long long *head;	/* the next to take; may run ahead of those queued */
	unsigned long long *state;	/* items queued, above 32 bits of items done with: in one word, so who sees the second sees the first */
} PeelQueue;

/* Arrays in device memory. */
typedef struct Peeling
{
	uint64_t	nvertices;
	int32_t    *core;			/* [nvertices]: the degree among what is left; once peeled the core number */
	uint32_t   *dead;			/* bitmap: is at the level, or was peeled */
	uint32_t   *left[2];		/* [nleft] each, those of even and odd levels: not peeled when the level began */
	PeelQueue	queue;
	int32_t    *level;			/* [LEVELS_AHEAD + 1], of this batch, after that of the batch before */
	unsigned long long *nleft;	/* [LEVELS_AHEAD + 1], likewise */
	uint32_t   *nlevels;		/* how many there were */
	uint32_t   *is_deep;		/* beside it: a chain has made MOST_STEPS */
	unsigned long long *number; /* [NUMBERS], what has the last three, and those of the queue */
} Peeling;

/* Count neighbours: the entries of a list that are selected. Bytes: 16 a vertex, and some of the selection. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_degrees_kernel(const uint64_t *offsets, Selection simple, Peeling peeling)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < peeling.nvertices; v += nthreads)
		peeling.core[v] = (int32_t) (count_before(simple, offsets[v + 1]) - count_before(simple, offsets[v]));
}

/*
 * Call take(vertex, place) for those of a list that choose(vertex, degree) wants, with places that are handed out from *count >> shift on; a
 * warp keeps the order of what it takes. Whole warps.
 */
template <class Choose, class Take>
static __device__ __forceinline__ void
sift(const Peeling &peeling, const uint32_t *list, uint64_t nlist, unsigned long long *count, uint32_t shift, Choose choose, Take take)
{
	const uint64_t stride = (uint64_t) gridDim.x * BLOCK_WARPS * SIFT_ROUNDS * WARP_LANES;
	const uint64_t warp = (uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES;

	for (uint64_t base = warp * SIFT_ROUNDS * WARP_LANES; base < nlist; base += stride)
	{
		uint32_t	vertex[SIFT_ROUNDS];
		uint32_t	lanes[SIFT_ROUNDS];	/* whose vertex is taken */
		uint32_t	ntaken = 0;
		unsigned long long place = 0;

#pragma unroll
		for (uint32_t r = 0; r < SIFT_ROUNDS; r++)
		{
			const uint64_t i = base + r * WARP_LANES + lane_number();

			vertex[r] = i >= nlist ? EMOGI_NO_VERTEX : list != NULL ? list[i] : (uint32_t) i;
		}
#pragma unroll
		for (uint32_t r = 0; r < SIFT_ROUNDS; r++)
		{
			const bool	there = vertex[r] != EMOGI_NO_VERTEX;

			lanes[r] = __ballot_sync(FULL_WARP, there && choose(vertex[r], peeling.core[vertex[r]]));
			ntaken += __popc(lanes[r]);
		}
		if (ntaken == 0)
			continue;
		if (lane_number() == 0)
			place = atomicAdd(count, (unsigned long long) ntaken << shift) >> shift;
		place = __shfl_sync(FULL_WARP, place, 0);
#pragma unroll
		for (uint32_t r = 0; r < SIFT_ROUNDS; r++)
		{
			if (lanes[r] >> lane_number() & 1)
				take(vertex[r], place + __popc(lanes[r] & lanes_below()));
			place += __popc(lanes[r]);
		}
	}
}

/*
 * Keep what is above the level before, number i - 1 of the batch, and find the least degree of it; begin the queue where it ended. first: all
 * vertices are left. Bytes: 12 a vertex that was left.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_sift_kernel(Peeling peeling, uint32_t i, bool first)
{
	const int32_t before = peeling.level[i - 1];
	uint32_t   *next = peeling.left[i % 2];
	int32_t		least = INT32_MAX;

	if (peeling.nleft[i - 1] == 0)
		return;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*peeling.queue.head = *peeling.queue.state >> 32;
	sift(peeling, first ? NULL : peeling.left[(i - 1) % 2], peeling.nleft[i - 1], &peeling.nleft[i], 0,
		 [&](uint32_t vertex, int32_t degree) {
		if (degree > before && degree < least)
			least = degree;
		return degree > before;
	},
		 [&](uint32_t vertex, uint64_t place) { next[place] = vertex; });
	least = __reduce_min_sync(FULL_WARP, least);
	if (lane_number() == 0 && least < INT32_MAX)
		atomicMin(&peeling.level[i], least);
}

/* Queue what is at level number i of the batch. Bytes: 8 a vertex that is left, 8 one at the level. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_collect_kernel(Peeling peeling, uint32_t i)
{
	const int32_t level = peeling.level[i];

	if (peeling.nleft[i] == 0)
		return;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		++*peeling.nlevels;
	sift(peeling, peeling.left[i % 2], peeling.nleft[i], peeling.queue.state, 32,
		 [&](uint32_t vertex, int32_t degree) { return degree == level; },
		 [&](uint32_t vertex, uint64_t place) {
		peeling.queue.item[place] = (unsigned long long) vertex << 32;
		atomicOr(&peeling.dead[vertex / 32], 1u << vertex % 32);
	});
}

/*
 * Get the first of so many places in the queue. Says meanwhile that *ndone items are done with, and sets it to 0: what those had to queue is
 * queued. Whole warps.
 */
static __device__ __forceinline__ uint64_t
take_places(const PeelQueue &queue, uint32_t count, uint32_t *ndone)
{
	unsigned long long place = 0;

	if (lane_number() == 0)
		place = atomicAdd(queue.state, (unsigned long long) count << 32 | *ndone) >> 32;
	*ndone = 0;
	return __shfl_sync(FULL_WARP, place, 0);
}

/* Queue those of a lane's targets that have fallen to the level, in so many steps. Whole warps. */
static __device__ __forceinline__ void
queue_fallen(const PeelQueue &queue, const Target (&target)[PIECE], uint32_t fallen, uint32_t steps, uint32_t *ndone)
{
	const uint32_t upto = warp_prefix_sum(__popc(fallen));
	uint64_t	place = take_places(queue, __shfl_sync(FULL_WARP, upto, WARP_LANES - 1), ndone) + upto - __popc(fallen);

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if (fallen >> j & 1)
			*(volatile unsigned long long *) &queue.item[place++] = (unsigned long long) target[j] << 32 | steps;
}

/* Queue the slices of long lists but the first, which the lanes that `cut` have. Whole warps. */
static __device__ __forceinline__ void
queue_rest(const PeelQueue &queue, bool cut, uint32_t vertex, uint64_t nlines, uint32_t *ndone)
{
	const uint32_t nslices = (uint32_t) ((nlines + SLICE_LINES - 1) / SLICE_LINES);
	uint32_t	lanes = __ballot_sync(FULL_WARP, cut);

	while (lanes != 0)
	{
		const uint32_t lane = __ffs(lanes) - 1;
		const uint32_t its_vertex = __shfl_sync(FULL_WARP, vertex, lane);
		const uint32_t its_slices = __shfl_sync(FULL_WARP, nslices, lane);
		const uint64_t place = take_places(queue, its_slices - 1, ndone);

		lanes &= lanes - 1;
		for (uint32_t s = 1 + lane_number(); s < its_slices; s += WARP_LANES)
			*(volatile unsigned long long *) &queue.item[place + s - 1] = (unsigned long long) its_vertex << 32 | REST | s;
	}
}

/* Take the lane's vertex away from its wanted neighbours. Get the bits of those that fall to the level. */
static __device__ __forceinline__ uint32_t
take_away(const Peeling &peeling, int32_t level, const Target (&target)[PIECE], uint32_t wanted)
{
	int32_t		before[PIECE];
	uint32_t	alive = 0;
	uint32_t	fallen = 0;

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if (wanted >> j & 1)
			alive |= (~peeling.dead[target[j] / 32] >> target[j] % 32 & 1) << j;
#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		before[j] = alive >> j & 1 ? atomicSub(&peeling.core[target[j]], 1) : INT32_MAX;	/* all are under way at once */
#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
	{
		if (before[j] == level + 1)
		{
			fallen |= 1u << j;
			atomicOr(&peeling.dead[target[j] / 32], 1u << target[j] % 32);
		}
		else if (before[j] <= level)
			atomicAdd(&peeling.core[target[j]], 1);	/* another was faster */
	}
	return fallen;
}

/*
 * Peel the items of the warp's lanes, LINE_LANES of which share one; NO_ITEM where there is none. *ndone: items that the warp did before, and has
 * not said so. *nread, *entries: of the lane.
 */
static __device__ __forceinline__ void
peel_items(const Peeling &peeling, const Lists<Target> &lists, int32_t level, unsigned long long item, uint32_t *ndone,
		   unsigned long long *nread, unsigned long long *entries)
{
	const bool	leads = lane_number() % LINE_LANES == 0;
	const bool	there = item != NO_ITEM;
	const bool	is_rest = ((uint32_t) item & REST) != 0;
	const uint32_t steps = is_rest ? 0 : (uint32_t) item;
	const Slice slice = {(uint32_t) (item >> 32), is_rest ? (uint32_t) item & ~REST : 0};
	Span		list = {0, 0};
	Span		part = {0, 0};

	if (there)
	{
		uint64_t	first;
		uint32_t	nlines;

		list = Span{__ldg(&lists.offsets[slice.vertex]), __ldg(&lists.offsets[(uint64_t) slice.vertex + 1])};
		nlines = list.start < list.end ? open_slice(slice, list, &first) : 0;
		part = nlines > 0 ? clip_slice(list, first, nlines) : part;
		*nread += leads ? nlines : 0;
		*entries += leads ? part.end - part.start : 0;
	}
	queue_rest(peeling.queue, there && leads && slice.index == 0 && count_lines<Target>(list) > SLICE_LINES, slice.vertex,
			   count_lines<Target>(list), ndone);
	walk_distinct(lists.targets, list, part, slice.vertex, lane_number() % LINE_LANES, LINE_LANES,
				  [&](const Target (&target)[PIECE], uint32_t wanted) {
		const uint32_t fallen = take_away(peeling, level, target, wanted);

		if (__any_sync(FULL_WARP, fallen != 0))
			queue_fallen(peeling.queue, target, fallen, steps + 1, ndone);
	});
	if (there && steps >= MOST_STEPS)
		*peeling.is_deep = 1;
}

/* Say whether a level has ended: all that was queued is done with, so nothing is queued any more; or the run has. By one thread of a block. */
static __device__ __forceinline__ bool
must_end(const Peeling &peeling, const Step &step)
{
	const unsigned long long state = *(volatile unsigned long long *) peeling.queue.state;

	return state >> 32 == (uint32_t) state || *(volatile uint32_t *) peeling.is_deep != 0 || must_leave(step);
}

/*
 * Peel level number i of the batch, LINE_LANES lanes an item. Bytes: 16 of offsets and 8 of the queue an item, the lines of its list, and as
 * the first comment says.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_peel_kernel(Lists<Target> lists, Peeling peeling, uint32_t i, Step step)
{
	__shared__ uint32_t over;	/* the block leaves: its first thread has looked, for all others */
	const PeelQueue &queue = peeling.queue;
	const int32_t level = peeling.level[i];
	const bool	leads = lane_number() % LINE_LANES == 0;
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	unsigned long long ticket = NO_ITEM;
	uint32_t	ndone = 0;		/* items that the warp has not said it is done with */
	uint32_t	idle = 0;

	if (peeling.nleft[i] == 0)
		return;
	if (threadIdx.x == 0)
		over = 0;
	__syncthreads();
	for (uint32_t round = 0;; round++)
	{
		const uint32_t asks = __ballot_sync(FULL_WARP, leads && ticket == NO_ITEM);
		unsigned long long first = 0;
		unsigned long long item = NO_ITEM;
		uint32_t	ready;
		bool		leaves = false;

		if (asks != 0)
		{
			if (lane_number() == 0)
				first = atomicAdd(queue.head, (unsigned long long) __popc(asks));
			first = __shfl_sync(FULL_WARP, first, 0);
			if (asks >> lane_number() & 1)
				ticket = first + __popc(asks & lanes_below());
		}
		if (leads && ticket < queue.capacity)
			item = *(volatile unsigned long long *) &queue.item[ticket];
		ready = __ballot_sync(FULL_WARP, item != NO_ITEM);
		if (ready == 0 && ndone > 0)
			(void) take_places(queue, 0, &ndone);
		if (lane_number() == 0 && (ready == 0 || round % 64 == 63))
		{
			if (threadIdx.x == 0 && must_end(peeling, step))
				atomicExch(&over, 1);
			leaves = atomicAdd(&over, 0) != 0;
		}
		if (__any_sync(FULL_WARP, leaves))
			break;
		if (ready == 0)
		{
			__nanosleep(WAIT_NS << idle);
			idle += idle < MOST_IDLE;
			continue;
		}
		idle = 0;
		if (item != NO_ITEM)
			ticket = NO_ITEM;
		peel_items(peeling, lists, level, __shfl_sync(FULL_WARP, item, lane_number() / LINE_LANES * LINE_LANES), &ndone, &nread,
				   &entries);
		ndone += __popc(ready);
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

static const void *const kernels[] = {
	(const void *) core_peel_kernel, (const void *) core_degrees_kernel, (const void *) core_sift_kernel,
	(const void *) core_collect_kernel
};

EmogiStatus
emogi_cuda_core_load(EmogiError *error)
{
	TRY(emogi_simple_load(error));
	return LOAD_KERNELS(kernels);
}

/* Find the degrees in the simple graph. */
static EmogiStatus
find_degrees(Run *run, const Peeling *peeling, EmogiResult *result, EmogiError *error)
{
	const Lists<Target> &lists = run->graph.forward;
	Entries		entries;
	Selection	simple;

	TRY(emogi_simple_entries_open(run, lists, &entries, error));
	TRY(emogi_simple_select_open(run, lists.nedges, &simple, error));
	TRY(select_entries(run, &entries, &simple, ChooseSimple{}, error));
	CUDA_LAUNCH(core_degrees_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, lists.offsets, simple, *peeling);
	emogi_simple_entries_close(run, &entries);
	emogi_simple_select_close(run, &simple);
	result->edges_traversed += lists.nedges;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		result->link_bytes += (lists.nedges * sizeof(Target) + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
	return EMOGI_OK;
}

/* Take all device memory but what the degrees take. */
static EmogiStatus
take_arrays(Run *run, const EmogiGraph *graph, Peeling *peeling, EmogiError *error)
{
	const uint64_t n = run->nvertices;
	unsigned long long *number;

	peeling->nvertices = n;
	peeling->queue.capacity = n + slice_capacity(graph->forward.nedges, ENTRIES);
	if (peeling->queue.capacity > UINT32_MAX)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "the graph has more vertices than the GPU can queue", "%llu places",
								 (unsigned long long) peeling->queue.capacity);
	TRY(take_array(&run->memory, &peeling->core, n, "core numbers", error));
	TRY(take_array(&run->memory, &peeling->dead, run->nwords, "bitmap of peeled vertices", error));
	TRY(take_array(&run->memory, &peeling->left[0], 2 * n, "vertices left", error));
	TRY(take_array(&run->memory, &peeling->queue.item, peeling->queue.capacity, "queue", error));
	TRY(take_array(&run->memory, &peeling->number, NUMBERS, "levels", error));
	peeling->left[1] = peeling->left[0] + n;
	number = peeling->number;
	peeling->queue.head = number;
	peeling->queue.state = number + LINE_NUMBERS;
	peeling->nlevels = (uint32_t *) (number + 2 * LINE_NUMBERS);
	peeling->is_deep = peeling->nlevels + 1;
	peeling->nleft = number + 3 * LINE_NUMBERS;
	peeling->level = (int32_t *) (peeling->nleft + LEVELS_AHEAD + 1);
	return EMOGI_OK;
}

/* Begin with all vertices left, as if by a level below all. */
static EmogiStatus
begin_peeling(Run *run, const Peeling *peeling, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(peeling->number, 0, NUMBERS * sizeof *peeling->number, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->level + LEVELS_AHEAD, 0xFF, sizeof *peeling->level, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->dead, 0, run->nwords * sizeof *peeling->dead, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->queue.item, 0xFF, peeling->queue.capacity * sizeof *peeling->queue.item, stream));
	return emogi_run_send(run, peeling->nleft + LEVELS_AHEAD, &run->nvertices, sizeof run->nvertices, error);
}

/* Launch a batch of levels, after that of which LEVELS_AHEAD was the last. */
static EmogiStatus
launch_levels(Run *run, const Peeling *peeling, bool first, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemcpyAsync(peeling->level, peeling->level + LEVELS_AHEAD, sizeof *peeling->level, cudaMemcpyDeviceToDevice, stream));
	CUDA_TRY(cudaMemcpyAsync(peeling->nleft, peeling->nleft + LEVELS_AHEAD, sizeof *peeling->nleft, cudaMemcpyDeviceToDevice, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->level + 1, 0x7F, LEVELS_AHEAD * sizeof *peeling->level, stream));	/* above all */
	CUDA_TRY(cudaMemsetAsync(peeling->nleft + 1, 0, LEVELS_AHEAD * sizeof *peeling->nleft, stream));
	TRY(emogi_run_begin_step(run, error));
	for (uint32_t i = 1; i <= LEVELS_AHEAD; i++)
	{
		CUDA_LAUNCH(core_sift_kernel, run->full_blocks, BLOCK_THREADS, stream, *peeling, i, first && i == 1);
		CUDA_LAUNCH(core_collect_kernel, run->full_blocks, BLOCK_THREADS, stream, *peeling, i);
		CUDA_LAUNCH(core_peel_kernel, run->nblocks, BLOCK_THREADS, stream, run->graph.forward, *peeling, i, run->step);
	}
	return EMOGI_OK;
}

/* Peel everything. */
static EmogiStatus
peel_all(Run *run, const Peeling *peeling, EmogiResult *result, EmogiError *error)
{
	uint64_t	nleft = run->nvertices;
	uint32_t	told[2];		/* nlevels, is_deep */

	run->control->total = run->nvertices;
	TRY(begin_peeling(run, peeling, error));
	for (bool first = true; nleft > 0; first = false)
	{
		TRY(launch_levels(run, peeling, first, error));
		TRY(emogi_run_fetch(run, &nleft, peeling->nleft + LEVELS_AHEAD, sizeof nleft, error));
		TRY(emogi_run_fetch(run, told, peeling->nlevels, sizeof told, error));
		if (told[1] != 0)
			return emogi_device_fail(error, EMOGI_UNSUPPORTED, "the graph is peeled along chains too long for the GPU", "%d vertices or more",
									 MOST_STEPS);
		run->control->done = run->nvertices - nleft;
		run->control->level = result->nlevels = told[0];
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_core(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Peeling		peeling = {};
	const Counters *counters;

	TRY(take_arrays(run, graph, &peeling, error));
	TRY(emogi_simple_place(run, graph, query, 0, 5 * run->nvertices + graph->forward.nedges / 3, error));
	TRY(emogi_run_start_clock(run, error));
	TRY(find_degrees(run, &peeling, result, error));
	TRY(peel_all(run, &peeling, result, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	emogi_run_account(run, counters, result);
	result->nreached = run->nvertices;
	return emogi_run_give(run, query, result, 0, peeling.core, error);
}
