/*
 * ssnsp.cu: number of shortest paths, by hops, from one or many sources.
 *
 * Returns level[nvertices], as BFS, and paths[nvertices]: 1 for a source, 0 = not reached,
 * otherwise the sum of the paths of the neighbors in the previous level, once for each edge. Exact
 * up to 2^53, rounded beyond.
 *
 * Method. BFS computes the levels (bfs.cu). The vertices are then sorted by level, nearly ascending
 * within a level, by counting [1, the forward phase as a pull]. Level by level each vertex sums
 * over its backward list, 8 lanes a vertex, each with 16 bytes of a line. Long lists are cut into
 * slices, whose sums are stored and then added in order. The only barrier between levels is the
 * kernel boundary; the host only launches. Consecutive small levels of short lists are processed by
 * one block in one launch (ssnsp_count_chain_kernel). No sum depends on the schedule, so two runs
 * give the same bits.
 *
 * Bytes, for n vertices: levels twice, offsets and 4 of order a vertex; each backward list of a
 * reached vertex once, in lines; 4 random bytes of levels an entry, and 8 of paths if it counts.
 *
 * [1] U. Brandes: A Faster Algorithm for Betweenness Centrality. Journal of Mathematical Sociology
 *     25(2), 2001.
 */
#include <stdlib.h>

#include "cuda/access/push.cuh"

/*
 * Tuned constants, of 7b4563e. The figures of an NVIDIA H200 in bench/RESULTS.md (ad4a202) are with
 * these values.
 */
#define LAUNCHES_AHEAD 256		/* launches between two checks for cancellation */
#define CHAIN_THREADS 1024		/* vertices, of whole levels, that one block holds at a time */
#define CHAIN_VERTICES (CHAIN_THREADS / 2)	/* max vertices of a level in a chain */
#define CHAIN_LIST 32			/* max length of a list in a chain */
#define CHAIN_LINKS 4			/* counted entries of a vertex that a thread caches */

#define LONG_SHIFT 32			/* in `cursor` while levels are counted: vertices with longer
								 * lists are in the upper half */
#define NO_LEVEL UINT32_MAX

/* State shared by the kernels. All arrays in device memory. */
typedef struct Counting
{
	int32_t    *level;			/* [nvertices] */
	double	   *paths;			/* [nvertices] */
	uint32_t   *order;			/* [nreached], vertices by level */
	/* [nlevels], next position of each level; finally the end of each level */
	unsigned long long *cursor;
	double	   *part;			/* [slices], sum of each slice; see slice_capacity */
} Counting;

/*
 * Call use(vertex, level, lanes of the same level) with whole warps; level -1 for vertices that do
 * not exist.
 */
template <class Use>
static __device__ __forceinline__ void
by_level(const int32_t *level, uint64_t nvertices, Use use)
{

	for (uint64_t base = first_of_warp(); base < nvertices; base += grid_threads())
	{
		const uint64_t vertex = base + lane_number();
		const int32_t its = vertex < nvertices ? level[vertex] : -1;
		const uint32_t same_level = __match_any_sync(FULL_WARP, its);

		use(vertex, its, same_level);
	}
}

/*
 * Count in `cursor` the vertices of each level, and those with lists too long for a chain. Bytes:
 * 12 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
ssnsp_count_levels_kernel(Counting counting, uint64_t nvertices, const uint64_t *offsets)
{
	by_level(counting.level, nvertices, [&](uint64_t vertex, int32_t level, uint32_t same_level) {
		const bool	is_long = level >= 0 && offsets[vertex + 1] - offsets[vertex] > CHAIN_LIST;
		const uint32_t nlong = __popc(__ballot_sync(FULL_WARP, is_long) & same_level);

		if (level >= 0 && (same_level & lanes_below()) == 0)
			atomicAdd(&counting.cursor[level],
					  (unsigned long long) nlong << LONG_SHIFT | __popc(same_level));
	});
}

/*
 * Sort the vertices by level; those of a warp stay in order. Initialize the paths: 1 for the
 * sources, otherwise 0. Bytes: 16 a vertex.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
ssnsp_order_levels_kernel(Counting counting, uint64_t nvertices)
{
	by_level(counting.level, nvertices, [&](uint64_t vertex, int32_t level, uint32_t same_level) {
		unsigned long long slot = 0;

		if (level >= 0 && (same_level & lanes_below()) == 0)
			slot = atomicAdd(&counting.cursor[level], (unsigned long long) __popc(same_level));
		slot = __shfl_sync(FULL_WARP, slot, __ffs(same_level) - 1);
		if (level >= 0)
			counting.order[slot + __popc(same_level & lanes_below())] = (uint32_t) vertex;
		if (vertex < nvertices)
			counting.paths[vertex] = level == 0 ? 1.0 : 0.0;
	});
}

/*
 * Sum the paths of the entries of a span that are at level `above`: one span for each LINE_LANES
 * lanes.
 */
static __device__ __forceinline__ double
sum_span(const Lists<Target> &lists, const Counting &counting, Span span, int32_t above)
{
	const uint64_t upto = span.start / ENTRIES + count_lines<Target>(span);
	double		sum = 0;

	for (uint64_t line = span.start / ENTRIES; line < upto; line++)
	{
		const uint4 piece = read_piece(lists.targets, line);
		const uint32_t wanted = overlap<Target>(span, line) >> (lane_number() % LINE_LANES * PIECE);
		Target		target[PIECE];

		memcpy(target, &piece, sizeof target);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if ((wanted >> j & 1) && __ldg(&counting.level[target[j]]) == above)
				sum += counting.paths[target[j]];
	}
	return sum;
}

/* Sum over the lanes that share a line. */
static __device__ __forceinline__ double
line_sum(double value)
{
#pragma unroll
	for (uint32_t step = LINE_LANES / 2; step > 0; step /= 2)
		value += __shfl_xor_sync(FULL_WARP, value, step);
	return value;
}

/*
 * Count the paths of order[first .. first + count - 1], all at level above + 1, except for long
 * lists, which are queued: 32 vertices a warp, four at a time. Bytes: 4 of order, 16 of offsets and
 * 8 of paths a vertex; the lines of its list, and 4 to 12 an entry.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
ssnsp_count_paths_kernel(Lists<Target> lists, Counting counting, uint64_t first, uint64_t count,
						 int32_t above, Step step)
{
	unsigned long long nread = 0;
	unsigned long long entries = 0;

	for (uint64_t base = first_of_warp(); base < count; base += grid_threads())
	{
		const bool	there = base + lane_number() < count;
		const uint32_t vertex = there ? counting.order[first + base + lane_number()] : 0;
		Span		list = {0, 0};
		uint64_t	nlines;
		bool		cut;

		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		if (there)
			list = Span{__ldg(&lists.offsets[vertex]),
				__ldg(&lists.offsets[(uint64_t) vertex + 1])};
		nlines = count_lines<Target>(list);
		cut = nlines > SLICE_LINES;
		queue_slices(step, cut, vertex, nlines, 0);
		entries += list.end - list.start;
		nread += nlines;
		for (uint32_t lane = lane_number() / LINE_LANES; lane < WARP_LANES; lane += WARP_LINES)
		{
			const bool	counts = __shfl_sync(FULL_WARP, there && !cut, lane);
			const uint32_t its_vertex = __shfl_sync(FULL_WARP, vertex, lane);
			const Span	span = {__shfl_sync(FULL_WARP, list.start, lane),
				__shfl_sync(FULL_WARP, list.end, lane)};
			const double sum = line_sum(counts ? sum_span(lists, counting, span, above) : 0);

			if (counts && lane_number() % LINE_LANES == 0)
				counting.paths[its_vertex] = sum;
		}
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* Sum the slices of long lists, one warp each, in quarters. Bytes: as ssnsp_count_paths_kernel. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
ssnsp_count_slices_kernel(Lists<Target> lists, Counting counting, int32_t above, Step step)
{
	const uint64_t nslices = step.counters->nslices;
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t i = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;
		 i < nslices; i += nwarps)
	{
		const Slice slice = step.slices[i];
		const Span	whole = {__ldg(&lists.offsets[slice.vertex]),
			__ldg(&lists.offsets[(uint64_t) slice.vertex + 1])};
		uint64_t	first;
		const uint32_t nlines = open_slice(slice, whole, &first);
		const uint32_t quarter = (nlines + WARP_LINES - 1) / WARP_LINES;
		const uint32_t done = lane_number() / LINE_LANES * quarter;
		const uint32_t own = done >= nlines ? 0 : nlines - done < quarter ? nlines - done : quarter;
		double		sum;

		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
		sum = own > 0 ? sum_span(lists, counting, clip_slice(whole, first + done, own), above) : 0;
#pragma unroll
		for (uint32_t lanes = WARP_LANES / 2; lanes > 0; lanes /= 2)
			sum += __shfl_xor_sync(FULL_WARP, sum, lanes);
		if (lane_number() == 0)
			counting.part[i] = sum;
	}
}

/* Add the slices of each long list in order, one warp a list. Bytes: 16 a slice. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
ssnsp_add_slices_kernel(Lists<Target> lists, Counting counting, Step step)
{
	const uint64_t nslices = step.counters->nslices;
	const uint64_t nwarps = (uint64_t) gridDim.x * BLOCK_WARPS;

	for (uint64_t i = ((uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x) / WARP_LANES;
		 i < nslices; i += nwarps)
	{
		const Slice slice = step.slices[i];
		const Span	list = {__ldg(&lists.offsets[slice.vertex]),
			__ldg(&lists.offsets[(uint64_t) slice.vertex + 1])};
		const uint64_t its_slices = (count_lines<Target>(list) + SLICE_LINES - 1) / SLICE_LINES;
		double		sum = 0;

		if (slice.index > 0)
			continue;			/* the first slice represents the list; the others follow it in
								 * the queue */
		for (uint64_t k = lane_number(); k < its_slices; k += WARP_LANES)
			sum += counting.part[i + k];
#pragma unroll
		for (uint32_t lanes = WARP_LANES / 2; lanes > 0; lanes /= 2)
			sum += __shfl_xor_sync(FULL_WARP, sum, lanes);
		if (lane_number() == 0)
			counting.paths[slice.vertex] = sum;
	}
}

/*
 * Call use(target) for the entries of a list at level `above`, in order. Called by single threads,
 * which read 16 bytes of a line at a time.
 */
template <class Use>
static __device__ __forceinline__ void
each_above(const Lists<Target> &lists, const Counting &counting, Span list, int32_t above, Use use)
{
	const uint4 *pieces = reinterpret_cast<const uint4 *>(lists.targets);

	for (uint64_t piece = list.start / PIECE; piece * PIECE < list.end; piece++)
	{
		const uint4 quad = __ldg(pieces + piece);
		Target		target[PIECE];

		memcpy(target, &quad, sizeof target);
#pragma unroll
		for (uint32_t j = 0; j < PIECE; j++)
			if (piece * PIECE + j >= list.start && piece * PIECE + j < list.end &&
				__ldg(&counting.level[target[j]]) == above)
				use(target[j]);
	}
}

/* State of a thread and its vertex in a chain. */
typedef struct Link
{
	uint32_t	vertex;
	uint32_t	level;			/* NO_LEVEL = none in this chain */
	Span		list;
	uint32_t	nlinks;			/* entries that count */
	uint32_t	link[CHAIN_LINKS];	/* the first of them, as thread numbers */
	double		sum;			/* of a vertex of the first level, whose neighbors' paths are
								 * known */
} Link;

/*
 * Take one vertex a thread, from `first` on, of whole levels before `upto`. Return the level after
 * the last one taken. `next` is in shared memory.
 */
static __device__ __forceinline__ uint32_t
take_links(const Lists<Target> &lists, const Counting &counting, uint64_t first, uint32_t upto,
		   uint32_t *next, Link *own)
{
	const uint64_t end = counting.cursor[upto - 1];
	const uint64_t place = first + threadIdx.x;
	const bool	last = place < end && threadIdx.x == CHAIN_THREADS - 1;

	own->level = NO_LEVEL;
	if (threadIdx.x == 0)
		*next = upto;
	__syncthreads();
	if (place < end)
	{
		own->vertex = counting.order[place];
		own->level = (uint32_t) counting.level[own->vertex];
		own->list = Span{lists.offsets[own->vertex], lists.offsets[(uint64_t) own->vertex + 1]};
	}
	if (last)
		*next = own->level + (counting.cursor[own->level] == place + 1);
	__syncthreads();
	if (own->level >= *next)
		own->level = NO_LEVEL;
	return *next;
}

/*
 * Find the entries that count: for vertices of the first level their sum, for the others the
 * threads that hold them.
 */
static __device__ __forceinline__ void
find_links(const Lists<Target> &lists, const Counting &counting, uint32_t first_level, Link *own)
{
	own->nlinks = 0;
	own->sum = 0;
	if (own->level == NO_LEVEL)
		return;
	each_above(lists, counting, own->list, (int32_t) own->level - 1, [&](Target target) {
		const double paths = counting.paths[target];

		if (own->level == first_level)
			own->sum += paths;
		else
		{
#pragma unroll
			for (uint32_t k = 0; k < CHAIN_LINKS; k++)
				if (k == own->nlinks)
					own->link[k] = (uint32_t) paths;
			own->nlinks++;
		}
	});
}

/* Sum the values of the threads that hold the counted entries. */
static __device__ __forceinline__ double
sum_links(const Lists<Target> &lists, const Counting &counting, const Link &own,
		  const double *value)
{
	double		sum = own.sum;

	if (own.nlinks > CHAIN_LINKS)
		each_above(lists, counting, own.list, (int32_t) own.level - 1,
				   [&](Target target) { sum += value[(uint32_t) counting.paths[target]]; });
	else
	{
#pragma unroll
		for (uint32_t k = 0; k < CHAIN_LINKS; k++)
			if (k < own.nlinks)
				sum += value[own.link[k]];
	}
	return sum;
}

/*
 * Count the paths of levels `level` .. `upto` - 1, each with at most CHAIN_VERTICES vertices and
 * lists of at most CHAIN_LIST entries, with one block, a vertex a thread. The entries that count,
 * and the threads that hold them, are found for many levels at once, because that does not need the
 * paths. Until they are counted, `paths` holds the vertex's thread number. What remains for each
 * level is a sum in shared memory and a block barrier. Bytes: as ssnsp_count_paths_kernel.
 */
static __global__ void __launch_bounds__(CHAIN_THREADS, 1)
ssnsp_count_chain_kernel(Lists<Target> lists, Counting counting, uint32_t level, uint32_t upto,
						 Step step)
{
	__shared__ double value[CHAIN_THREADS];
	__shared__ uint32_t next;
	unsigned long long nread = 0;
	unsigned long long entries = 0;
	bool		stops = false;

	while (level < upto && !stops)
	{
		/* overlaps the read over the link */
		const uint32_t stop = threadIdx.x == 0 ? *step.stop : 0;
		Link		own = {};
		const uint32_t end = take_links(lists, counting, counting.cursor[level - 1], upto, &next,
										&own);

		if (own.level != NO_LEVEL)
		{
			counting.paths[own.vertex] = (double) threadIdx.x;
			nread += count_lines<Target>(own.list);
			entries += own.list.end - own.list.start;
		}
		__syncthreads();
		find_links(lists, counting, level, &own);
		for (uint32_t now = level; now < end; now++)
		{
			if (own.level == now)
				value[threadIdx.x] = sum_links(lists, counting, own, value);
			__syncthreads();
		}
		if (own.level != NO_LEVEL)
			counting.paths[own.vertex] = value[threadIdx.x];
		level = end;
		stops = __syncthreads_or(stop != 0) != 0;
	}
	block_add(&step.counters->lines, nread);
	block_add(&step.counters->entries, entries);
}

/* A level, on the host. */
typedef struct Level
{
	uint64_t	end;			/* start of the next level */
	bool		has_long;		/* lists longer than CHAIN_LIST */
} Level;

/* Turn counts into start positions. `levels` is followed by room for nlevels numbers. */
static EmogiStatus
place_levels(Run *run, const Counting *counting, Level *levels, uint32_t nlevels, EmogiError *error)
{
	uint64_t   *counts = (uint64_t *) (levels + nlevels);
	uint64_t	sum = 0;

	TRY(emogi_run_fetch(run, counts, counting->cursor, nlevels * sizeof *counts, error));
	for (uint32_t level = 0; level < nlevels; level++)
	{
		const uint64_t start = sum;

		sum += counts[level] & UINT32_MAX;
		levels[level] = Level{sum, counts[level] >> LONG_SHIFT != 0};
		counts[level] = start;
	}
	return emogi_run_send(run, counting->cursor, counts, nlevels * sizeof *counts, error);
}

/* Count the paths of one level. */
static EmogiStatus
count_level(Run *run, const Counting *counting, const Level *levels, uint32_t level,
			EmogiError *error)
{
	const uint64_t first = levels[level - 1].end;
	const uint64_t count = levels[level].end - first;
	const int32_t above = (int32_t) level - 1;
	const bool	cuts = levels[level].has_long;	/* it may have sliced lists */
	const uint64_t wanted = (count + BLOCK_THREADS - 1) / BLOCK_THREADS;
	const int	nblocks = wanted < (uint64_t) run->nblocks ? (int) wanted : run->nblocks;
	cudaStream_t stream = run->state->stream;

	if (cuts)
		TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(ssnsp_count_paths_kernel, nblocks, BLOCK_THREADS, stream, run->graph.backward,
				*counting, first, count, above, run->step);
	if (cuts)
	{
		CUDA_LAUNCH(ssnsp_count_slices_kernel, run->nblocks, BLOCK_THREADS, stream,
					run->graph.backward, *counting, above, run->step);
		CUDA_LAUNCH(ssnsp_add_slices_kernel, run->nblocks, BLOCK_THREADS, stream,
					run->graph.backward, *counting, run->step);
	}
	return EMOGI_OK;
}

/* Get the first level from `level` on that is not suited to a chain. */
static uint32_t
end_chain(const Level *levels, uint32_t level, uint32_t nlevels)
{
	while (level < nlevels && !levels[level].has_long &&
		   levels[level].end - levels[level - 1].end <= CHAIN_VERTICES)
		level++;
	return level;
}

/* Sort the vertices by level, and count level by level. `levels` as in place_levels. */
static EmogiStatus
count_all(Run *run, const Counting *counting, Level *levels, uint32_t nlevels, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	uint32_t	nlaunches = 0;
	uint32_t	next;

	CUDA_TRY(cudaMemsetAsync(counting->cursor, 0, nlevels * sizeof *counting->cursor, stream));
	TRY(emogi_run_clear(run, error));
	CUDA_LAUNCH(ssnsp_count_levels_kernel, run->full_blocks, BLOCK_THREADS, stream, *counting,
				run->nvertices, run->graph.backward.offsets);
	TRY(place_levels(run, counting, levels, nlevels, error));
	CUDA_LAUNCH(ssnsp_order_levels_kernel, run->full_blocks, BLOCK_THREADS, stream, *counting,
				run->nvertices);
	for (uint32_t level = 1; level < nlevels; level = next)
	{
		run->control->level = level;
		next = end_chain(levels, level, nlevels);
		if (next > level)
			CUDA_LAUNCH(ssnsp_count_chain_kernel, 1, CHAIN_THREADS, stream, run->graph.backward,
						*counting, level, next, run->step);
		else
		{
			TRY(count_level(run, counting, levels, level, error));
			next = level + 1;
		}
		if (++nlaunches % LAUNCHES_AHEAD == 0)
			TRY(emogi_cuda_wait(run->state, run->control, error));
	}
	return EMOGI_OK;
}

/* Count, with the clock running. */
static EmogiStatus
count_timed(Run *run, const Counting *counting, uint32_t nlevels, EmogiResult *result,
			EmogiError *error)
{
	/* for a test; the only allocation of a run */
	const bool	fails = run->control->fail_allocation == 1;
	Level	   *levels = fails ? NULL :
		(Level *) malloc((nlevels + UINT64_C(1)) * (sizeof(Level) + sizeof(uint64_t)));
	EmogiStatus status;

	if (levels == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory", "%u levels", nlevels);
	status = emogi_run_start_clock(run, error);
	if (status == EMOGI_OK)
		status = count_all(run, counting, levels, nlevels, error);
	if (status == EMOGI_OK)
		status = emogi_run_stop_clock(run, result, error);
	if (status != EMOGI_OK)
		/* a copy to `levels` may be in flight */
		(void) cudaStreamSynchronize(run->state->stream);
	free(levels);
	return status;
}

EmogiStatus
emogi_cuda_ssnsp(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				 EmogiError *error)
{
	Counting	counting = {};

	if (graph->backward.offsets == NULL)
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "counting shortest paths needs the graph's backward orientation",
								 "the graph has forward alone");
	TRY(take_array(&run->memory, &counting.paths, run->nvertices, "paths", error));
	TRY(take_array(&run->memory, &counting.order, run->nvertices, "order of vertices", error));
	TRY(take_array(&run->memory, &counting.cursor, run->nvertices, "levels' places", error));
	TRY(take_array(&run->memory, &counting.part, slice_capacity(graph->backward.nedges, ENTRIES),
				   "sums of slices", error));
	TRY(emogi_cuda_levels(run, graph, query, PLACE_BACKWARD_REQUIRED, query->max_depth,
						  &counting.level, result, error));
	TRY(count_timed(run, &counting, result->nlevels, result, error));
	TRY(emogi_run_account_read(run, result, error));
	TRY(emogi_run_give(run, query, result, 0, counting.level, error));
	return emogi_run_give(run, query, result, 1, counting.paths, error);
}
