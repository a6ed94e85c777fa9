/*
 * core.cu: core numbers.
 *
 * Returns core[nvertices]: the largest k such that the vertex is in a subgraph of which every vertex has k neighbours or more [1].
 * The Graph counts as a simple undirected one; its forward lists are symmetric.
 *
 * Method. Vertices are peeled level by level [2]: all whose degree among what is left is the least there is, and those that fall to
 * it meanwhile. A level is three launches: what is left is made closer and its least degree found; what is at that degree is queued;
 * and the queue is worked off, by all warps until nothing is queued any more and nobody works [3, there a queue a block]. Which warp
 * takes a vertex to the level is told by its atomic subtraction, and that one queues it. An item of the queue is a slice of a list,
 * so that a hub is no more work than many small lists; a warp takes up to 32 items, and reads all their entries as one sequence.
 * Levels need nothing of the host, which launches a batch of them at a time, and looks at cancel in between. When all that is left is
 * at one degree, that is the answer for it, and nobody peels it.
 *
 * Device memory, for n vertices and m entries, beside simple lists (simple.cuh), if the Graph's are not: 20n + m/256.
 *
 * Bytes: 12 a vertex that is left, each level; each list once, and for each entry a random read of 4, and for every other one an
 * atomic operation; 16 of offsets and 16 of queue for each item.
 *
 * [1] V. Batagelj, M. Zaversnik: An O(m) Algorithm for Cores Decomposition of Networks. arXiv:cs/0310049, 2003.
 * [2] H. Kabir, K. Madduri: Parallel k-core Decomposition on Multicore Platforms. IPDPS Workshops 2017. Section III (PKC).
 * [3] A. Ahmad, L. Yuan, D. Yan, G. Guo, J. Chen, C. Zhang: Accelerating k-Core Decomposition by a GPU. ICDE 2023. Section IV.
 */
#include "simple.cuh"

#define SLICE_ENTRIES 2048		/* of an item of the queue */
#define ITEMS_AT_ONCE 32		/* that a warp takes, at most: one a lane */
#define PEEL_UNROLL 4			/* entries that a lane has under way */
#define PEEL_BLOCKS 2			/* a multiprocessor, that work off the queue: more would only wait for each other */
#define KEPT_ROUNDS 8			/* vertices a lane for which room is taken by one atomic operation */
#define MOST_LEVELS 64			/* that are launched before the host looks */
#define LEAST_LEVELS 4			/* of the first batch */
#define LEAST_WAIT_NS 64		/* of a warp that finds no item */
#define MOST_WAIT_NS 4096

/* What the kernels tell each other, in device memory: counters of the queue in lines of their own, which all warps look at. */
typedef struct Peel
{
	unsigned long long head;	/* items taken */
	unsigned long long line_of_head[15];
	unsigned long long tail;	/* items that there are, or that somebody is writing */
	unsigned long long line_of_tail[15];
	unsigned long long done;	/* items that were worked off */
	unsigned long long line_of_done[15];
	unsigned long long nleft[2];	/* by parity of the level's number */
	unsigned long long nseeds;	/* vertices at the level when it begins */
	int			level;			/* degree that is peeled */
	int			least;			/* degree above the level before */
	uint32_t	nlevels;
} Peel;

/* The arrays, in device memory. */
typedef struct Cores
{
	Csr			lists;
	uint64_t	nvertices;
	int		   *core;			/* [nvertices]: the degree among what is left; once peeled the core number */
	uint32_t   *left[2];		/* [nleft], not peeled yet, by parity */
	unsigned long long *queue;	/* [tail], vertex and number of a slice; all ones = not written yet */
	Peel	   *peel;
} Cores;

/* Get the vertices that are left, by parity. */
static __device__ __forceinline__ uint32_t *
left_of(const Cores &cores, uint32_t parity)
{
	return parity == 0 ? cores.left[0] : cores.left[1];
}

/* Begin with the degrees, all of it left. Bytes: 16 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_start_kernel(Cores cores)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < cores.nvertices; v += nthreads)
	{
		cores.core[v] = (int) (cores.lists.offsets[v + 1] - cores.lists.offsets[v]);
		cores.left[1][v] = (uint32_t) v;
	}
	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		*cores.peel = Peel{};
		cores.peel->nleft[1] = cores.nvertices;
		cores.peel->level = -1;
		cores.peel->least = INT32_MAX;
	}
}

/* Keep what is above the last level, and find its least degree. Bytes: 8 a vertex that was left, 4 of those that are. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_keep_kernel(Cores cores, uint32_t parity)
{
	Peel	   *peel = cores.peel;
	const uint64_t nleft = peel->nleft[parity ^ 1];
	const int	level = peel->level;
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;
	const uint64_t tile = KEPT_ROUNDS * WARP_LANES;
	const uint32_t *before = left_of(cores, parity ^ 1);
	uint32_t   *after = left_of(cores, parity);
	int			least = INT32_MAX;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		peel->nseeds = 0;
	for (uint64_t base = ((uint64_t) blockIdx.x * BLOCK_WARPS + threadIdx.x / WARP_LANES) * tile; base < nleft; base += nwarps * tile)
	{
		uint32_t	vertex[KEPT_ROUNDS];
		uint32_t	kept[KEPT_ROUNDS];
		uint32_t	nkept = 0;
		unsigned long long place = 0;

#pragma unroll
		for (uint32_t i = 0; i < KEPT_ROUNDS; i++)
		{
			const uint64_t at = base + i * WARP_LANES + lane_number();
			int			degree = -1;

			if (at < nleft)
			{
				vertex[i] = before[at];
				degree = cores.core[vertex[i]];
			}
			kept[i] = __ballot_sync(FULL_WARP, degree > level);
			nkept += __popc(kept[i]);
			if (degree > level && degree < least)
				least = degree;
		}
		if (lane_number() == 0 && nkept > 0)
			place = atomicAdd(&peel->nleft[parity], (unsigned long long) nkept);
		place = __shfl_sync(FULL_WARP, place, 0);
#pragma unroll
		for (uint32_t i = 0; i < KEPT_ROUNDS; i++)
		{
			if (kept[i] >> lane_number() & 1)
				after[place + __popc(kept[i] & lanes_below())] = vertex[i];
			place += __popc(kept[i]);
		}
	}
	least = (int) __reduce_min_sync(FULL_WARP, (uint32_t) least);
	if (lane_number() == 0 && least < *(volatile int *) &peel->least)
		atomicMin(&peel->least, least);
}

/* Queue the lists of vertices that the lanes marked have, in slices. Whole warps. */
static __device__ __forceinline__ void
queue_lists(const Cores &cores, bool marked, uint32_t vertex)
{
	const uint64_t length = marked ? __ldg(&cores.lists.offsets[(uint64_t) vertex + 1]) - __ldg(&cores.lists.offsets[vertex]) : 0;
	const uint32_t nitems = (uint32_t) ((length + SLICE_ENTRIES - 1) / SLICE_ENTRIES);
	const uint32_t upto = warp_prefix_sum(nitems);
	const uint32_t total = __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
	unsigned long long place = 0;

	if (lane_number() == 0 && total > 0)
		place = atomicAdd(&cores.peel->tail, (unsigned long long) total);
	place = __shfl_sync(FULL_WARP, place, 0) + upto - nitems;
	for (uint32_t i = 0; i < nitems; i++)
		*(volatile unsigned long long *) &cores.queue[place + i] = (unsigned long long) i << 32 | vertex;
}

/* Queue what is at the level. Bytes: 8 a vertex that is left, 24 of those queued. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_collect_kernel(Cores cores, uint32_t parity)
{
	Peel	   *peel = cores.peel;
	const uint64_t nleft = peel->nleft[parity];
	const int	level = peel->least;
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;
	unsigned long long nseeds = 0;

	if (nleft == 0)
		return;
	if (own == 0)
	{
		peel->level = level;
		peel->nlevels++;
	}
	for (uint64_t base = own - lane_number(); base < nleft; base += nthreads)
	{
		const uint64_t at = base + lane_number();
		const uint32_t vertex = at < nleft ? left_of(cores, parity)[at] : 0;
		const bool	seeds = at < nleft && cores.core[vertex] == level;

		if (__any_sync(FULL_WARP, seeds))
			queue_lists(cores, seeds, vertex);
		nseeds += seeds;
	}
	nseeds = warp_sum(nseeds);
	if (lane_number() == 0 && nseeds > 0)
		atomicAdd(&peel->nseeds, nseeds);
}

/* Some items that a warp has taken. */
typedef struct Share
{
	unsigned long long first;
	uint32_t	count;			/* 0 = there is nothing more to do */
} Share;

/* Take items, or wait until nobody works who could queue any. By one lane. */
static __device__ __forceinline__ Share
take_items(Peel *peel, uint32_t nwarps, const Step &step)
{
	volatile unsigned long long *head = &peel->head;
	volatile unsigned long long *tail = &peel->tail;
	uint32_t	wait = LEAST_WAIT_NS;

	while (!must_leave(step))
	{
		const unsigned long long done = *(volatile unsigned long long *) &peel->done;
		const unsigned long long first = *head;
		const unsigned long long end = *tail;

		if (first < end)
		{
			const unsigned long long fair = (end - first) / nwarps;
			const uint32_t count = fair < 1 ? 1 : fair < ITEMS_AT_ONCE ? (uint32_t) fair : ITEMS_AT_ONCE;

			if (atomicCAS(&peel->head, first, first + count) == first)
				return Share{first, count};
			continue;
		}
		if (done == end)
			break;
		__nanosleep(wait);
		wait = wait < MOST_WAIT_NS ? 2 * wait : wait;
	}
	return Share{0, 0};
}

/* Get the own item's entries: whoever took its place in the queue may still be writing it. */
static __device__ __forceinline__ Span
open_item(const Cores &cores, const Share &share)
{
	volatile unsigned long long *place = &cores.queue[share.first + lane_number()];
	unsigned long long item;
	uint64_t	start;
	uint64_t	end;

	if (lane_number() >= share.count)
		return Span{0, 0};
	while ((item = *place) == UINT64_MAX)
		__nanosleep(20);
	start = __ldg(&cores.lists.offsets[(uint32_t) item]) + (item >> 32) * SLICE_ENTRIES;
	end = __ldg(&cores.lists.offsets[(uint64_t) (uint32_t) item + 1]);
	return Span{start, end - start < SLICE_ENTRIES ? end : start + SLICE_ENTRIES};
}

/* Take one neighbour away from a vertex that is above the level; get whether it falls to it. */
static __device__ __forceinline__ bool
take_neighbor(int *core, Target vertex, int level)
{
	int			before;

	if (*(volatile int *) &core[vertex] <= level)
		return false;
	before = atomicSub(&core[vertex], 1);
	if (before <= level)
		atomicAdd(&core[vertex], 1);	/* another was faster */
	return before == level + 1;
}

/* Take the vertices whose spans the lanes have away from their neighbours, and queue those that fall to the level. Whole warps. */
static __device__ __forceinline__ void
peel_spans(const Cores &cores, Span span, int level, uint32_t *found)
{
	const uint32_t length = (uint32_t) (span.end - span.start);
	const uint32_t upto = warp_prefix_sum(length);
	const uint32_t total = __shfl_sync(FULL_WARP, upto, WARP_LANES - 1);
	const uint64_t origin = span.start - (upto - length);	/* entry a of all is entry origin + a of its list; may wrap */
	uint32_t	nfound = 0;

	for (uint32_t base = 0; base < total; base += PEEL_UNROLL * WARP_LANES)
	{
		Target		target[PEEL_UNROLL];

#pragma unroll
		for (uint32_t i = 0; i < PEEL_UNROLL; i++)
		{
			const uint32_t entry = base + i * WARP_LANES + lane_number();
			uint32_t	owner = 0;	/* the first lane with upto > entry */
			uint64_t	place;

#pragma unroll
			for (uint32_t step = WARP_LANES / 2; step > 0; step /= 2)
				if (__shfl_sync(FULL_WARP, upto, owner + step - 1) <= entry)
					owner += step;
			place = __shfl_sync(FULL_WARP, origin, owner) + entry;
			target[i] = entry < total ? __ldg(&cores.lists.targets[place]) : EMOGI_NO_VERTEX;
		}
#pragma unroll
		for (uint32_t i = 0; i < PEEL_UNROLL; i++)
		{
			const bool	falls = target[i] != EMOGI_NO_VERTEX && take_neighbor(cores.core, target[i], level);
			const uint32_t lanes = __ballot_sync(FULL_WARP, falls);

			if (falls)
				found[nfound + __popc(lanes & lanes_below())] = target[i];
			nfound += __popc(lanes);
			if (nfound < WARP_LANES)
				continue;
			__syncwarp();
			nfound -= WARP_LANES;
			queue_lists(cores, true, found[nfound + lane_number()]);
			__syncwarp();
		}
	}
	__syncwarp();
	if (nfound > 0)
		queue_lists(cores, lane_number() < nfound, found[lane_number()]);
	__syncwarp();
}

/*
 * Work off the queue, with what is queued meanwhile. Bytes: for each item 8 of queue and 16 of offsets; for each entry 4, a random
 * read of 4, and for those above the level an atomic operation.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
core_peel_kernel(Cores cores, uint32_t parity, Step step)
{
	__shared__ uint32_t found[BLOCK_WARPS][2 * WARP_LANES];
	Peel	   *peel = cores.peel;
	const int	level = peel->level;
	const uint32_t nwarps = gridDim.x * BLOCK_WARPS;
	unsigned long long entries = 0;

	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		peel->least = INT32_MAX;
		peel->nleft[parity ^ 1] = 0;
	}
	while (peel->nseeds < peel->nleft[parity])
	{
		Share		share = {0, 0};
		Span		span;

		if (lane_number() == 0)
			share = take_items(peel, nwarps, step);
		share.first = __shfl_sync(FULL_WARP, share.first, 0);
		share.count = __shfl_sync(FULL_WARP, share.count, 0);
		if (share.count == 0)
			break;
		span = open_item(cores, share);
		entries += span.end - span.start;
		peel_spans(cores, span, level, found[threadIdx.x / WARP_LANES]);
		if (lane_number() == 0)
		{
			__threadfence();	/* what was queued is seen before this */
			atomicAdd(&peel->done, (unsigned long long) share.count);
		}
	}
	block_add(&step.counters->entries, entries);
}

static const void *const kernels[] = {
	(const void *) core_start_kernel, (const void *) core_keep_kernel, (const void *) core_collect_kernel,
	(const void *) core_peel_kernel
};

EmogiStatus
emogi_cuda_core_load(EmogiError *error)
{
	TRY(emogi_simple_load(error));
	return LOAD_KERNELS(kernels);
}

/* Peel some levels. */
static EmogiStatus
launch_levels(Run *run, const Cores *cores, uint64_t first, uint64_t upto, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;

	for (uint64_t i = first; i < upto; i++)
	{
		const uint32_t parity = (uint32_t) (i % 2);

		CUDA_LAUNCH(core_keep_kernel, run->full_blocks, BLOCK_THREADS, stream, *cores, parity);
		CUDA_LAUNCH(core_collect_kernel, run->full_blocks, BLOCK_THREADS, stream, *cores, parity);
		CUDA_LAUNCH(core_peel_kernel, PEEL_BLOCKS * run->state->units, BLOCK_THREADS, stream, *cores, parity, run->step);
	}
	return EMOGI_OK;
}

/* Peel everything, level by level. */
static EmogiStatus
peel_all(Run *run, const Cores *cores, EmogiResult *result, EmogiError *error)
{
	const Peel *peel = (const Peel *) run->state->mailbox;
	const size_t from = offsetof(Peel, nleft);
	uint64_t	nlaunched = 0;

	CUDA_LAUNCH(core_start_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *cores);
	run->control->total = run->nvertices;
	for (uint64_t batch = LEAST_LEVELS;; batch = batch < MOST_LEVELS ? 2 * batch : batch)
	{
		TRY(launch_levels(run, cores, nlaunched, nlaunched + batch, error));
		nlaunched += batch;
		CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, (const char *) cores->peel + from, sizeof *peel - from, cudaMemcpyDeviceToHost,
								 run->state->stream));
		TRY(emogi_cuda_wait(run->state, run->control, error));
		peel = (const Peel *) ((const char *) run->state->mailbox - from);
		run->control->level = (uint32_t) peel->level;
		run->control->done = run->nvertices - peel->nleft[(nlaunched - 1) % 2];
		result->nlevels = peel->nlevels;
		if (peel->nleft[(nlaunched - 1) % 2] == 0)
			return EMOGI_OK;
	}
}

/* Take the arrays; the queue has a place for every slice. */
static EmogiStatus
take_arrays(Run *run, const EmogiGraph *graph, Cores *cores, uint64_t *queue_bytes, EmogiError *error)
{
	const uint64_t nitems = graph->nvertices + graph->forward.nedges / SLICE_ENTRIES;

	cores->nvertices = run->nvertices;
	*queue_bytes = nitems * sizeof *cores->queue;
	TRY(take_array(&run->memory, &cores->core, run->nvertices, "core numbers", error));
	TRY(take_array(&run->memory, &cores->left[0], run->nvertices, "vertices left", error));
	TRY(take_array(&run->memory, &cores->left[1], run->nvertices, "vertices left", error));
	TRY(take_array(&run->memory, &cores->queue, nitems, "queue", error));
	return take_array(&run->memory, &cores->peel, 1, "counters of the queue", error);
}

EmogiStatus
emogi_cuda_core(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Cores		cores = {};
	uint64_t	queue_bytes = 0;
	const Counters *counters;

	TRY(take_arrays(run, graph, &cores, &queue_bytes, error));
	TRY(emogi_simple_place(run, graph, query, 0, 5 * graph->forward.nedges, error));
	TRY(emogi_run_start_clock(run, error));
	TRY(emogi_simple_make(run, run->graph.forward, &cores.lists, result, error));
	CUDA_TRY(cudaMemsetAsync(cores.queue, 0xFF, queue_bytes, run->state->stream));
	TRY(emogi_run_begin_step(run, error));
	TRY(peel_all(run, &cores, result, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	result->edges_traversed += counters->entries;
	result->nreached = run->nvertices;
	return emogi_run_give(run, query, result, 0, cores.core, error);
}
