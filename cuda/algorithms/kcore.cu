/*
 * kcore.cu: core numbers.
 *
 * Returns core[nvertices]: the largest k such that the vertex is in a subgraph in which every
 * vertex has at least k neighbors [1], of the simple undirected graph: repeated edges and
 * self-loops are skipped.
 *
 * Method. Vertices are peeled level by level; a level is the minimum remaining degree. A level runs
 * three kernels:
 *   sift      keeps the vertices above the last level, and finds their minimum degree
 *   collect   queues the vertices of that degree: the level
 *   peel      removes each vertex of the queue from its neighbors, and queues the neighbors that
 *             drop to the level
 * A cascade needs no barrier [2]: a warp without work waits for the next item of the single queue,
 * which has room for every vertex, and exits when as many items are finished as were queued. So a
 * level takes the time of its longest chain, not that many launches. Lists above SLICE_LINES lines
 * are sliced: the warp that takes the first slice queues the others. No warp depends on a block
 * that has not started. If vertices drop one after the other, as on a path, a step takes some
 * microseconds: a graph with a chain of MAX_STEPS is left to the CPU. The host launches
 * LEVELS_AHEAD levels, then checks.
 *
 * A bitmap has the vertices at or below the level: half of all entries lead there, and need no more
 * than that bit. Each of the others costs an atomic. If two threads decrement a neighbor too often,
 * the second one undoes it. Core numbers do not depend on the schedule.
 *
 * Device memory, for n vertices and m entries: 22.2n and m/62; for the degrees temporarily 4.5n and
 * 9m/32.
 *
 * Bytes: the entries in ascending order once, for degrees; every list once more, in lines, and a
 * bit at random an entry; for half of the entries an atomic on a degree, of one byte if no degree
 * is larger; 13 to 16 a level for each remaining vertex.
 *
 * [1] V. Batagelj, M. Zaversnik: An O(m) Algorithm for Cores Decomposition of Networks.
 *     arXiv:cs/0310049, 2003.
 * [2] A. Ahmad, L. Yuan, D. Yan, G. Guo, J. Chen, C. Zhang: Accelerating k-Core Decomposition by a
 *     GPU. ICDE 2023: there one queue a block.
 */
#include "cuda/algorithms/kcore.cuh"
#include "cuda/lists/simple_graph.cuh"

#define LEVELS_AHEAD 32			/* levels that the host launches between two checks whether
								 * vertices are left */
#define PEEL_BLOCKS 6			/* of the peel kernel, per multiprocessor: they wait for memory */
#define MAX_STEPS 8192			/* of a chain of vertices that drop one after the other */
#define SIFT_ROUNDS 8			/* rounds of 32 vertices that a warp sifts for one atomic */
#define WAIT_NS 100				/* for an item, doubled up to MAX_IDLE times, because reading the
								 * counters slows down other warps */
#define MAX_IDLE 3
#define LINE_NUMBERS (EMOGI_LINE_BYTES / sizeof(unsigned long long))
#define NUMBERS (3 * LINE_NUMBERS + 2 * (LEVELS_AHEAD + 1))

static_assert(LEVELS_AHEAD % 2 == 0, "a batch ends with the list that it began with");

/* Arrays in device memory. */
typedef struct Peeling
{
	uint64_t	nvertices;
	int32_t    *core;			/* [nvertices]: degrees, finally core numbers */
	uint32_t   *narrow;			/* [nvertices / 2 + 1]: storage of 16-bit degrees */
	/*
	 * [nvertices]: remaining degrees, the core number once peeled; 8 or 16 bits each in `narrow`,
	 * or 32 in `core`
	 */
	uint32_t   *degrees;
	uint32_t   *dead;			/* bitmap: vertices at the level or already peeled */
	/* [nleft] each, for even and odd levels: vertices not peeled when the level began */
	uint32_t   *left[2];
	PeelQueue	queue;
	int32_t    *level;			/* [LEVELS_AHEAD + 1], levels of this batch; [0] is the last of the
								 * previous batch */
	unsigned long long *nleft;	/* [LEVELS_AHEAD + 1], likewise */
	uint32_t   *nlevels;		/* number of levels */
	uint32_t   *is_deep;		/* after nlevels: a chain has made MAX_STEPS */
	uint32_t   *max;			/* after is_deep: the maximum degree */
	unsigned long long *number; /* [NUMBERS], holds the queue's counters and the five arrays
								 * above */
} Peeling;

/*
 * Count neighbors: the selected entries of each list. Bytes: 16 a vertex, and part of the
 * selection.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_degrees_kernel(const uint64_t *offsets, Selection simple, Peeling peeling)
{
	uint32_t	max = 0;

	for_each(peeling.nvertices, [&](uint64_t v) {
		const uint32_t degree = (uint32_t) (count_before(simple, offsets[v + 1]) -
											count_before(simple, offsets[v]));

		peeling.core[v] = (int32_t) degree;
		max = degree > max ? degree : max;
	});
	max = __reduce_max_sync(FULL_WARP, max);
	if (lane_number() == 0 && max > 0)
		atomicMax(peeling.max, max);
}

/* Write degrees in BITS bits. Bytes: 5 or 6 a vertex. */
template <uint32_t BITS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_narrow_kernel(Peeling peeling)
{
	constexpr uint32_t EACH = 32 / BITS;
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t w = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
		 w * EACH < peeling.nvertices; w += nthreads)
	{
		uint32_t	word = 0;

#pragma unroll
		for (uint32_t j = 0; j < EACH; j++)
			word |= (w * EACH + j < peeling.nvertices ? (uint32_t) peeling.core[w * EACH + j] :
					 0) << j * BITS;
		peeling.degrees[w] = word;
	}
}

/* Copy degrees of BITS bits back to `core`. Bytes: 5 or 6 a vertex. */
template <uint32_t BITS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_widen_kernel(Peeling peeling)
{
	for_each(peeling.nvertices, [&](uint64_t v) {
		peeling.core[v] = get_degree<BITS>(peeling.degrees, v);
	});
}

/*
 * Call take(vertex, place) for the vertices of a list that satisfy choose(degree). Places are
 * allocated from *count >> shift on; a warp keeps the order of its vertices. Called by whole warps.
 */
template <uint32_t BITS, class Choose, class Take>
static __device__ __forceinline__ void
sift(const Peeling &peeling, const uint32_t *list, uint64_t nlist, unsigned long long *count,
	 uint32_t shift, Choose choose, Take take)
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

			lanes[r] = __ballot_sync(FULL_WARP,
									 there && choose(get_degree<BITS>(peeling.degrees, vertex[r])));
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
 * Keep the vertices above level i - 1 of the batch, and find their minimum degree; start the queue
 * where it ended. left: NULL = all vertices. Bytes: 9 to 12 a vertex left.
 */
template <uint32_t BITS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_sift_kernel(Peeling peeling, uint32_t i, const uint32_t *left, uint32_t *next)
{
	const int32_t before = peeling.level[i - 1];
	int32_t		min = INT32_MAX;

	if (peeling.nleft[i - 1] == 0)
		return;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		*peeling.queue.head = *peeling.queue.state >> 32;
	sift<BITS>(peeling, left, peeling.nleft[i - 1], &peeling.nleft[i], 0,
			   [&](int32_t degree) {
		if (degree > before && degree < min)
			min = degree;
		return degree > before;
	},
			   [&](uint32_t vertex, uint64_t place) { next[place] = vertex; });
	min = __reduce_min_sync(FULL_WARP, min);
	if (lane_number() == 0 && min < INT32_MAX)
		atomicMin(&peeling.level[i], min);
}

/*
 * Queue the vertices at level i of the batch. Bytes: 5 to 8 a vertex left, 8 a vertex of the level.
 */
template <uint32_t BITS>
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_collect_kernel(Peeling peeling, uint32_t i, const uint32_t *left)
{
	const int32_t level = peeling.level[i];

	if (peeling.nleft[i] == 0)
		return;
	if (blockIdx.x == 0 && threadIdx.x == 0)
		++*peeling.nlevels;
	sift<BITS>(peeling, left, peeling.nleft[i], peeling.queue.state, 32,
			   [&](int32_t degree) { return degree == level; },
			   [&](uint32_t vertex, uint64_t place) {
		peeling.queue.item[place] = (unsigned long long) vertex << 32;
		atomicOr(&peeling.dead[vertex / 32], 1u << vertex % 32);
	});
}

/*
 * Decrement the degrees of the lane's wanted targets. Return the bits of those that drop to the
 * level.
 */
template <uint32_t BITS>
static __device__ __forceinline__ uint32_t
take_away(const Peeling &peeling, int32_t level, const Target (&target)[PIECE], uint32_t wanted)
{
	uint32_t	word[PIECE];
	uint32_t	alive = 0;
	uint32_t	fallen = 0;

#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if (wanted >> j & 1)
			alive |= (~peeling.dead[target[j] / 32] >> target[j] % 32 & 1) << j;
#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
		if (alive >> j & 1)
			/* all atomics are in flight at once */
			word[j] = change_degree<BITS>(peeling.degrees, target[j], -1);
#pragma unroll
	for (uint32_t j = 0; j < PIECE; j++)
	{
		const int32_t before = alive >> j & 1 ? degree_in<BITS>(word[j], target[j]) : INT32_MAX;

		if (before == level + 1)
		{
			fallen |= 1u << j;
			atomicOr(&peeling.dead[target[j] / 32], 1u << target[j] % 32);
		}
		else if (before <= level)
			/* another thread had already removed it */
			(void) change_degree<BITS>(peeling.degrees, target[j], 1);
	}
	return fallen;
}

/*
 * Peel the items of the warp's groups of LINE_LANES lanes; NO_ITEM = none. keeps: dropped vertices
 * may be buffered. *nread, *entries: per lane.
 */
template <uint32_t BITS>
static __device__ __forceinline__ void
peel_items(const Peeling &peeling, const Target *targets, int32_t level, unsigned long long item,
		   Span list, bool keeps, PeelBuffer *buffer, uint32_t *nread, uint32_t *entries)
{
	const bool	leads = lane_number() % LINE_LANES == 0;
	const bool	there = item != NO_ITEM;
	const bool	is_rest = ((uint32_t) item & REST) != 0;
	const uint32_t steps = is_rest ? 0 : (uint32_t) item;
	const Slice slice = {(uint32_t) (item >> 32), is_rest ? (uint32_t) item & ~REST : 0};
	Span		part = {0, 0};

	if (there && list.start < list.end)
	{
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, list, &first);

		part = nlines > 0 ? clip_slice(list, first, nlines) : part;
		*nread += leads ? nlines : 0;
		*entries += leads ? (uint32_t) (part.end - part.start) : 0;
	}
	queue_rest(peeling.queue, there && leads && slice.index == 0 &&
			   count_lines<Target>(list) > SLICE_LINES, slice.vertex, count_lines<Target>(list));
	walk_distinct(targets, list, part, slice.vertex, lane_number() % LINE_LANES, LINE_LANES,
				  [&](const Target (&target)[PIECE], uint32_t wanted) {
		const uint32_t fallen = take_away<BITS>(peeling, level, target, wanted);

		if (__any_sync(FULL_WARP, fallen != 0))
			keep_fallen(peeling.queue, buffer, target, fallen, steps + 1, keeps ? MAX_KEPT : 0);
	});
	if (there && steps >= MAX_STEPS)
		*peeling.is_deep = 1;
}

/*
 * Say whether the level has ended, because all queued items are finished and so none can follow, or
 * the run has. Called by one thread of a block.
 */
static __device__ __forceinline__ bool
must_end(const Peeling &peeling, const Step &step)
{
	const unsigned long long state = *(volatile unsigned long long *) peeling.queue.state;

	return state >> 32 == (uint32_t) state || *(volatile uint32_t *) peeling.is_deep != 0 ||
		must_leave(step);
}

/*
 * Peel level i of the batch, LINE_LANES lanes an item. Bytes: 16 of offsets and 8 of the queue an
 * item, the lines of its list, and see the head of the file.
 */
template <uint32_t BITS>
static __global__ void __launch_bounds__(BLOCK_THREADS, PEEL_BLOCKS)
core_peel_kernel(Lists<Target> lists, Peeling peeling, uint32_t i, Step step)
{
	__shared__ unsigned long long kept[BLOCK_WARPS][KEPT_ROOM];
	__shared__ uint32_t over;	/* the block exits: its first thread has checked for all */
	const PeelQueue &queue = peeling.queue;
	const int32_t level = peeling.level[i];
	uint32_t	nread = 0;		/* by the lane, in this level */
	uint32_t	entries = 0;
	PeelBuffer	buffer = {kept[threadIdx.x / WARP_LANES]};
	PeelBatch	batch;
	uint32_t	idle = 0;

	if (peeling.nleft[i] == 0)
		return;
	if (threadIdx.x == 0)
		over = 0;
	__syncthreads();
	batch = begin_batches(queue, &buffer);
	for (uint32_t round = 0;; round++)
	{
		unsigned long long item;
		Span		list;
		uint32_t	ready;
		bool		stops = false;

		if (batch.todo == 0)
			take_batch(queue, buffer, &batch);
		ready = read_items(queue, lists.offsets, &batch);
		if (ready == 0 && buffer.nkept + buffer.ndone > 0)
			flush_buffer(queue, &buffer);
		if (lane_number() == 0 && (ready == 0 || round % 64 == 63))
		{
			if (threadIdx.x == 0 && must_end(peeling, step))
				atomicExch(&over, 1);
			stops = atomicAdd(&over, 0) != 0;
		}
		if (__any_sync(FULL_WARP, stops))
			break;
		if (ready == 0)
		{
			__nanosleep(WAIT_NS << idle);
			idle += idle < MAX_IDLE;
			continue;
		}
		idle = 0;
		ready = choose_items(&batch, ready, &item, &list);
		peel_items<BITS>(peeling, lists.targets, level, item, list, batch.size > MIN_TAKEN, &buffer,
						 &nread, &entries);
		buffer.ndone += __popc(ready);
		if (batch.todo == 0 && batch.size > MIN_TAKEN)
			flush_buffer(queue, &buffer);
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Compute the degrees in the simple graph. *most: the maximum. */
static EmogiStatus
find_degrees(Run *run, const Peeling *peeling, uint32_t *max, EmogiResult *result,
			 EmogiError *error)
{
	const Lists<Target> &lists = run->graph.forward;
	Entries		entries;
	Selection	simple;

	TRY(emogi_simple_graph_entries_open(run, lists, &entries, error));
	TRY(emogi_edge_filter_open(run, lists.nedges, &simple, error));
	TRY(select_entries(run, &entries, &simple, ChooseSimple{}, error));
	CUDA_LAUNCH(core_degrees_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				lists.offsets, simple, *peeling);
	emogi_simple_graph_entries_close(run, &entries);
	emogi_edge_filter_close(run, &simple);
	result->edges_traversed += lists.nedges;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		result->link_bytes += (lists.nedges * sizeof(Target) + EMOGI_LINE_BYTES - 1) /
			EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
	return emogi_run_fetch(run, max, peeling->max, sizeof *max, error);
}

/* Take all device memory except that of the degree computation. */
static EmogiStatus
take_arrays(Run *run, const EmogiGraph *graph, Peeling *peeling, EmogiError *error)
{
	const uint64_t n = run->nvertices;
	unsigned long long *number;

	peeling->nvertices = n;
	peeling->queue.capacity = n + slice_capacity(graph->forward.nedges, ENTRIES);
	if (peeling->queue.capacity > UINT32_MAX)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the graph has more vertices than the GPU can queue",
								 "%llu places", (unsigned long long) peeling->queue.capacity);
	TRY(take_array(&run->memory, &peeling->core, n, "core numbers", error));
	TRY(take_array(&run->memory, &peeling->narrow, n / 2 + 1, "degrees", error));
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
	peeling->max = peeling->nlevels + 2;
	peeling->nleft = number + 3 * LINE_NUMBERS;
	peeling->level = (int32_t *) (peeling->nleft + LEVELS_AHEAD + 1);
	return EMOGI_OK;
}

/* Initialize: all vertices left, after a virtual level below all others. */
static EmogiStatus
begin_peeling(Run *run, const Peeling *peeling, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(peeling->number, 0, NUMBERS * sizeof *peeling->number, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->level + LEVELS_AHEAD, 0xFF, sizeof *peeling->level, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->dead, 0, run->nwords * sizeof *peeling->dead, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->queue.item, 0xFF,
							 peeling->queue.capacity * sizeof *peeling->queue.item, stream));
	return emogi_run_send(run, peeling->nleft + LEVELS_AHEAD, &run->nvertices,
						  sizeof run->nvertices, error);
}

/* Launch a batch of levels. LEVELS_AHEAD was the last level of the previous batch. */
template <uint32_t BITS>
static EmogiStatus
launch_levels(Run *run, const Peeling *peeling, bool first, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemcpyAsync(peeling->level, peeling->level + LEVELS_AHEAD, sizeof *peeling->level,
							 cudaMemcpyDeviceToDevice, stream));
	CUDA_TRY(cudaMemcpyAsync(peeling->nleft, peeling->nleft + LEVELS_AHEAD, sizeof *peeling->nleft,
							 cudaMemcpyDeviceToDevice, stream));
	CUDA_TRY(cudaMemsetAsync(peeling->level + 1, 0x7F, LEVELS_AHEAD * sizeof *peeling->level,
							 stream));	/* above all levels */
	CUDA_TRY(cudaMemsetAsync(peeling->nleft + 1, 0, LEVELS_AHEAD * sizeof *peeling->nleft, stream));
	TRY(emogi_run_begin_step(run, error));
	for (uint32_t i = 1; i <= LEVELS_AHEAD; i++)
	{
		const uint32_t *left = first && i == 1 ? NULL : peeling->left[(i - 1) % 2];

		CUDA_LAUNCH(core_sift_kernel<BITS>, run->full_blocks, BLOCK_THREADS, stream, *peeling, i,
					left, peeling->left[i % 2]);
		CUDA_LAUNCH(core_collect_kernel<BITS>, run->full_blocks, BLOCK_THREADS, stream, *peeling, i,
					peeling->left[i % 2]);
		CUDA_LAUNCH(core_peel_kernel<BITS>, run->nblocks, BLOCK_THREADS, stream, run->graph.forward,
					*peeling, i, run->step);
	}
	return EMOGI_OK;
}

/* Peel everything. */
template <uint32_t BITS>
static EmogiStatus
peel_all(Run *run, const Peeling *peeling, EmogiResult *result, EmogiError *error)
{
	uint64_t	nleft = run->nvertices;
	uint32_t	progress[2];	/* nlevels, is_deep */

	run->control->total = run->nvertices;
	for (bool first = true; nleft > 0; first = false)
	{
		TRY(launch_levels<BITS>(run, peeling, first, error));
		TRY(emogi_run_fetch(run, &nleft, peeling->nleft + LEVELS_AHEAD, sizeof nleft, error));
		TRY(emogi_run_fetch(run, progress, peeling->nlevels, sizeof progress, error));
		if (progress[1] != 0)
			return emogi_device_fail(error, EMOGI_UNSUPPORTED,
									 "the graph has chains that are too long for peeling on the "
									 "GPU",
									 "%d vertices or more", MAX_STEPS);
		run->control->done = run->nvertices - nleft;
		run->control->level = result->nlevels = progress[0];
	}
	return EMOGI_OK;
}

/* Peel everything, with degrees of BITS bits. */
template <uint32_t BITS>
static EmogiStatus
peel_narrow(Run *run, const Peeling *peeling, EmogiResult *result, EmogiError *error)
{
	CUDA_LAUNCH(core_narrow_kernel<BITS>, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*peeling);
	TRY(peel_all<BITS>(run, peeling, result, error));
	CUDA_LAUNCH(core_widen_kernel<BITS>, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*peeling);
	return EMOGI_OK;
}

/* Peel everything, with the narrowest degrees that hold the maximum. */
static EmogiStatus
peel(Run *run, Peeling *peeling, uint32_t max, EmogiResult *result, EmogiError *error)
{
	peeling->degrees = max <= UINT16_MAX ? peeling->narrow : (uint32_t *) peeling->core;
	if (max <= UINT8_MAX)
		return peel_narrow<8>(run, peeling, result, error);
	if (max <= UINT16_MAX)
		return peel_narrow<16>(run, peeling, result, error);
	return peel_all<32>(run, peeling, result, error);
}

EmogiStatus
emogi_cuda_core(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				EmogiError *error)
{
	Peeling		peeling = {};
	uint32_t	max;

	TRY(take_arrays(run, graph, &peeling, error));
	TRY(emogi_simple_graph_place(run, graph, query, 0,
								 5 * run->nvertices + graph->forward.nedges / 3, error));
	TRY(emogi_run_start_clock(run, error));
	TRY(begin_peeling(run, &peeling, error));
	TRY(find_degrees(run, &peeling, &max, result, error));
	TRY(peel(run, &peeling, max, result, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = run->nvertices;
	return emogi_run_give(run, query, result, 0, peeling.core, error);
}
