/*
 * random_walk.cu: random walks, uniform or with node2vec's p and q.
 *
 * Returns vertex[nsources * walks * (length + 1)]. The walks equal those of the CPU engine bit for
 * bit, because random numbers come from a counter and do not depend on the thread
 * (contract/philox.h).
 *
 * Method. A thread makes a walk, as in the CPU engine [1]: it draws an entry of the list, and
 * accepts it with a probability that corrects for p and q, otherwise it draws again. After
 * MAX_DRAWS rejections the warp processes the whole list together: the lanes compute the
 * probabilities of 32 entries at a time, which are added up in the order of the list. Walks are
 * made in parts of PART_BYTES, and copied to the host part by part.
 *
 * These are left to the CPU: weighted walks, which need prefix sums of the weights of all lists,
 * added in order; short runs, which the CPU finishes before a kernel has started; and, without an
 * explicit placement, walks on a graph that does not fit in device memory, because the link
 * transfers a whole line for each target.
 *
 * Device memory: PART_BYTES, or the whole result if that is smaller.
 *
 * Bytes a step: 16 of offsets and 4 of a target, at random, and 4 written; with p or q for each
 * draw another 16, and 4 for each bisection step in the list of the previous vertex.
 *
 * [1] K. Yang, M. Zhang, K. Chen, X. Ma, Y. Bai, Y. Jiang. KnightKing: A Fast Distributed Graph
 *     Random Walk Engine. SOSP 2019. Section 3.
 */
#include "cuda/access/push.cuh"
#include "contract/philox.h"
#include "contract/query.h"

#define MAX_DRAWS 32			/* rejected draws before the whole list is used, as in the CPU
								 * engine */
#define WHOLE_LIST UINT32_MAX	/* draw number of the draw from the whole list */
#define PART_BYTES (UINT64_C(512) << 20)	/* of walks made before they are copied to the host */

/* Parameters of the walks. */
typedef struct Walks
{
	uint64_t	seed;
	uint64_t	walks;			/* from each source */
	uint64_t	length;
	bool		is_plain;		/* p = q = 1 */
	double		back;			/* acceptance probability of an edge to the previous vertex, */
	double		near;			/* to one of the previous vertex's neighbors, */
	double		far;			/* and to any other vertex; the largest is 1 */
	const uint32_t *sources;	/* device memory */
	uint32_t   *path;			/* [walks of the part][length + 1], device memory */
} Walks;

/* Position of a walk. */
typedef struct Place
{
	uint32_t	source;
	uint32_t	walk;			/* of that source */
	uint32_t	step;			/* the next one */
	uint32_t	before;			/* the previous vertex; EMOGI_NO_VERTEX = none */
	uint32_t	vertex;
} Place;

/* Get the span of a list. */
static __device__ __forceinline__ Span
read_span(const Lists<Target> &lists, uint32_t vertex)
{
	return Span{__ldg(&lists.offsets[vertex]), __ldg(&lists.offsets[(uint64_t) vertex + 1])};
}

/* Say whether there is an edge from one vertex to another. */
static __device__ __forceinline__ bool
has_edge(const Lists<Target> &lists, uint32_t from, uint32_t to)
{
	const Span	list = read_span(lists, from);
	uint64_t	low = list.start;
	uint64_t	high = list.end;

	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (__ldg(&lists.targets[middle]) < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < list.end && __ldg(&lists.targets[low]) == to;
}

/* Get the acceptance probability of a drawn vertex. */
static __device__ __forceinline__ double
chance_of(const Walks &walks, const Lists<Target> &lists, uint32_t before, uint32_t drawn)
{
	if (walks.is_plain || before == EMOGI_NO_VERTEX)
		return 1.0;
	if (drawn == before)
		return walks.back;
	return has_edge(lists, before, drawn) ? walks.near : walks.far;
}

/*
 * Draw vertices of a nonempty list until one is accepted. EMOGI_NO_VERTEX after MAX_DRAWS
 * rejections.
 */
static __device__ __forceinline__ uint32_t
draw_some(const Walks &walks, const Lists<Target> &lists, const Place &place, Span list)
{
	for (uint32_t i = 0; i < MAX_DRAWS; i++)
	{
		const EmogiRandom random = emogi_philox(walks.seed, place.source, place.walk, place.step,
												i);
		const uint64_t entry = list.start +
			__umul64hi(emogi_random_bits(random, 0), list.end - list.start);
		const uint32_t drawn = __ldg(&lists.targets[entry]);

		if (emogi_random_unit(emogi_random_bits(random, 1)) <
			chance_of(walks, lists, place.before, drawn))
			return drawn;
	}
	return EMOGI_NO_VERTEX;
}

/*
 * Draw an entry of a list by the probabilities of all its entries; the first if all underflow.
 * Products and sums are not contracted to FMA, because the CPU engine rounds twice. Called by whole
 * warps, all lanes with the same arguments.
 */
static __device__ uint64_t
draw_of_all(const Walks &walks, const Lists<Target> &lists, uint32_t before, Span list, double unit,
			const Step &step)
{
	uint64_t	drawn = list.start;
	double		total = 0.0;
	double		limit = 0.0;
	double		sum = 0.0;
	uint32_t	round = 0;

	for (int pass = 0; pass < 2; pass++)
	{
		limit = __dmul_rn(unit, total);
		for (uint64_t base = list.start; base < list.end && !(pass == 1 && sum > limit);
			 base += WARP_LANES)
		{
			const uint64_t e = base + lane_number();
			const double chance = e < list.end ?
				chance_of(walks, lists, before, __ldg(&lists.targets[e])) : 0.0;

			for (uint32_t j = 0; j < WARP_LANES; j++)
			{
				const double share = __shfl_sync(FULL_WARP, chance, j);

				if (pass == 0)
					total = __dadd_rn(total, share);
				else if (share > 0.0 && !(sum > limit))
				{
					sum = __dadd_rn(sum, share);
					drawn = base + j;
				}
			}
			if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave_polling(step, round++)))
				return list.start;
		}
	}
	return drawn;
}

/*
 * Get the next vertices of the walks of a warp. EMOGI_NO_VERTEX = no outgoing edge, or the walk has
 * ended.
 */
static __device__ __forceinline__ uint32_t
next_vertices(const Walks &walks, const Lists<Target> &lists, const Place &place, bool goes,
			  const Step &step)
{
	const Span	list = goes ? read_span(lists, place.vertex) : Span{0, 0};
	const bool	draws = list.start < list.end;
	uint32_t	next = draws ? draw_some(walks, lists, place, list) : EMOGI_NO_VERTEX;
	uint32_t	lanes = __ballot_sync(FULL_WARP, draws && next == EMOGI_NO_VERTEX);

	while (lanes != 0)
	{
		const uint32_t lane = __ffs(lanes) - 1;
		const Span	its = {__shfl_sync(FULL_WARP, list.start, lane),
			__shfl_sync(FULL_WARP, list.end, lane)};
		const EmogiRandom random = emogi_philox(walks.seed, place.source, place.walk, place.step,
												WHOLE_LIST);
		const double unit = __shfl_sync(FULL_WARP, emogi_random_unit(emogi_random_bits(random, 0)),
										lane);
		const uint64_t drawn = draw_of_all(walks, lists, __shfl_sync(FULL_WARP, place.before, lane),
										   its, unit, step);

		lanes &= lanes - 1;
		if (lane == lane_number())
			next = __ldg(&lists.targets[drawn]);
	}
	return next;
}

/* Make walks first .. first + count - 1, one a lane. Bytes: see the head of the file. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
random_walk_kernel(Walks walks, Lists<Target> lists, uint64_t first, uint64_t count, Step step)
{
	unsigned long long nsteps = 0;

	for (uint64_t base = first_of_warp(); base < count; base += grid_threads())
	{
		const uint64_t i = base + lane_number();
		bool		goes = i < count;
		const uint32_t source = goes ? walks.sources[(first + i) / walks.walks] : 0;
		Place		place = {source, (uint32_t) ((first + i) % walks.walks), 0, EMOGI_NO_VERTEX,
			source};
		uint32_t   *path = walks.path + i * (walks.length + 1);

		if (goes)
			path[0] = source;
		for (uint64_t s = 0; s < walks.length; s++)
		{
			const uint32_t next = next_vertices(walks, lists, place, goes, step);

			goes = next != EMOGI_NO_VERTEX;
			nsteps += goes;
			if (i < count)
				path[s + 1] = next;
			place = Place{source, place.walk, (uint32_t) s + 1, place.vertex, next};
			if (s % 64 == 63 && __any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
				break;
		}
		if (__any_sync(FULL_WARP, lane_number() == 0 && must_leave(step)))
			break;
	}
	block_add(&step.counters->entries, nsteps);
}

/* Reject walks that the CPU engine makes faster, or that only it can make. */
static EmogiStatus
check_walks(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	if (query->is_weighted && graph->weight_type != EMOGI_WEIGHT_NONE)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "there are no kernels for walks by weights", "%s",
								 "emogi_random_walk");
	if (emogi_query_is_small(query))
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the walks have too few steps for the GPU", "at least %d",
								 EMOGI_WALK_STEPS);
	return EMOGI_OK;
}

/* Make all walks, part by part. */
static EmogiStatus
make_walks(Run *run, const Walks *walks, uint64_t nwalks, uint64_t part, EmogiResult *result,
		   EmogiError *error)
{
	const uint64_t width = walks->length + 1;

	run->control->total = nwalks;
	for (uint64_t first = 0; first < nwalks; first += part)
	{
		const uint64_t count = nwalks - first < part ? nwalks - first : part;

		TRY(emogi_run_start_clock(run, error));
		TRY(emogi_run_begin_step(run, error));
		CUDA_LAUNCH(random_walk_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, *walks,
					run->graph.forward, first, count, run->step);
		TRY(emogi_run_stop_clock(run, result, error));
		TRY(emogi_run_fetch(run, result->columns[0].vertex + first * width, walks->path,
							count * width * sizeof *walks->path, error));
		run->control->done = first + count;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_random_walk(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					   EmogiResult *result, EmogiError *error)
{
	const double p = query->return_parameter;
	const double q = query->in_out_parameter;
	const double min = fmin(1.0, fmin(p, q));
	const uint64_t nwalks = query->nsources * (uint64_t) query->walks;
	const uint64_t bytes = ((uint64_t) query->length + 1) * sizeof(uint32_t);
	const uint64_t room = PART_BYTES / bytes > 0 ? PART_BYTES / bytes : 1;
	const uint64_t part = nwalks < room ? nwalks : room;
	const void *const kernel = (const void *) random_walk_kernel;
	uint32_t   *sources;
	Walks		walks = {(uint64_t) query->seed, (uint64_t) query->walks, (uint64_t) query->length,
		p == 1.0 && q == 1.0, min / p, min, min / q, NULL, NULL};

	TRY(check_walks(graph, query, error));
	TRY(take_array(&run->memory, &sources, query->nsources, "sources", error));
	TRY(take_array(&run->memory, &walks.path, part * ((uint64_t) query->length + 1), "walks",
				   error));
	TRY(emogi_run_send(run, sources, query->sources, query->nsources * sizeof *sources, error));
	walks.sources = sources;
	TRY(emogi_run_place(run, graph, query, 0, &kernel, 1, sizeof(Target), error));
	if (query->placement == EMOGI_PLACEMENT_AUTO && run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the graph does not fit into device memory, where walks on the "
								 "GPU read it",
								 "%s", "emogi_random_walk");
	TRY(make_walks(run, &walks, nwalks, part, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = query->nsources;
	result->nlevels = (uint32_t) query->length + 1;
	return EMOGI_OK;
}
