/*
 * best_paths.cu: shortest, widest and other best paths (algorithms.h) from one or many sources.
 *
 * Returns distance[nvertices]: the best value over all paths from a source. An unreached vertex has
 * +inf if values are minimized, -1 if they are maximized.
 *
 * Method. Each vertex has a 64-bit key, smaller is better (best_paths.cuh), which atomicMin
 * improves. A vertex that has improved since its list was read is pending. A step makes the pending
 * vertices with keys below a threshold the frontier and pushes from it, in ascending order of
 * vertices. When none is left, the threshold moves beyond the minimum pending key [1, near-far].
 * Values only get worse along a path, so any order of relaxations ends in the same least fixpoint,
 * bit for bit. Vertices beyond the threshold are merely likely to improve again.
 *   wide        all warps read the frontier's lists                          (EMOGI section 4)
 *   persistent  while the frontier is small, one kernel makes many steps, with a queue of near
 *               vertices and, if they fit, a pile of waiting ones, so that buckets follow each
 *               other without the host (persistent.cuh). Queued vertices are not pending; they
 *               are marked as pending before the next wide step.
 * Helping GPUs take shares of a wide step (shared_step.cuh). Each has keys of its own, at worst
 * stale ones. It copies the frontier's current keys, pushes, and offers the leader's keys what is
 * better than its own.
 *
 * The bucket width, delta, starts from the mean weight over the mean degree [1] and adapts to the
 * work: a bucket with few edges costs more in launches than in reading, a bucket with many reads
 * lists too early and then again. If values are not additive (widths), equal intervals make no
 * sense: the buckets follow the sorted weights of a sample, best first, delta of them at a time,
 * with all vertices of one value in one bucket. A bucket of one value reads no list twice, so in
 * the persistent kernel, where a small bucket is cheap, these buckets do not grow.
 *
 * Bytes, for n vertices and m edges: a wide step n/4 of bitmaps, 8 a pending vertex, 16 of offsets
 * a frontier vertex; 8 random ones an edge; edges as counted in Counters.lines, x 128. The
 * persistent kernel: see persistent.cuh, and 24 a waiting vertex.
 *
 * [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens: Work-Efficient Parallel GPU Methods for
 *     Single-Source Shortest Paths. IPDPS 2014.
 */
#include <stdlib.h>

#include "cuda/algorithms/best_paths_search.cuh"
#include "cuda/multi_gpu/shared_step.cuh"

/*
 * Tuned constants. A wide bucket reads lists too early and again, a narrow one costs steps.
 * Measured on an NVIDIA H200: NEAR_MIN_EDGES and NEAR_MAX_EDGES at b90b651 (kron 24, SSSP 15.5 to
 * 12.3 ms), NEAR_LIMITS_* at b0f7547 and b47e0c8 (SSWP of the Debian graph 0.96 to 0.76 ms).
 * DELTA_FACTOR is of ed16670, 8 before, PERSISTENT_* of 7b4563e, the others of 7f32b51 and 6130b04;
 * the figures in bench/RESULTS.md (ad4a202) are with all of them.
 */
#define SAMPLES 1024			/* of weights, for the first bucket or for limits */
#define BUCKETS_PER_EDGE 4		/* with limits: the first bucket has a quarter of an edge of each
								 * vertex */
#define DELTA_FACTOR 2.0		/* times mean weight / mean degree: the first bucket */
#define BUCKET_MIN_EDGES (UINT64_C(1) << 20)	/* below it the next bucket is twice as wide */
#define BUCKET_MAX_EDGES (UINT64_C(1) << 24)	/* above it the next bucket is half as wide */
#define NEAR_MIN_EDGES (UINT64_C(1) << 23)	/* the same in device placement */
#define NEAR_MAX_EDGES (UINT64_C(1) << 26)
#define NEAR_LIMITS_MIN_EDGES (UINT64_C(1) << 25)	/* in device placement with limits: a bucket
													 * of one value reads no list twice */
#define NEAR_LIMITS_MAX_EDGES (UINT64_C(1) << 27)
#define NEAR_LIMITS_FACTOR 2	/* and the first bucket is so many times as wide, */
#define NEAR_LIMITS_MAX 8		/* or up to this many times, */
#define NEAR_LIMITS_EDGES (UINT64_C(1) << 20)	/* until it has so many of the graph's edges */
#define PERSISTENT_BUCKET_MIN_EDGES (UINT64_C(1) << 16)	/* the same in the persistent kernel */
#define PERSISTENT_BUCKET_MAX_EDGES (UINT64_C(1) << 18)
/*
 * buckets are so many times as wide for each helping GPU, because a step costs more and reads less:
 * with two H200, kron 24 took 57.2 ms with 1, 49.0 with 4, 47.6 with 8; urand 24 did not change
 */
#define SHARED_BUCKETS 4
#define SHARED_MIN_BYTES (UINT64_C(10) << 20)	/* of lists: the leader processes smaller steps
												 * alone */

/* A traversal. run->memory owns the device arrays. */
typedef struct Path
{
	Run		   *run;
	Paths		paths;
	uint32_t   *sources;		/* [nsources] */
	PersistentPlan plan;		/* `spent` is updated in wide steps too */
	PathItem   *queue;			/* [2][plan.capacity] */
	Piles		piles;			/* [2][plan.capacity] */
	uint32_t	pile;			/* number of the pile that is filled */
	uint64_t	vertices;		/* in the frontier */
	uint64_t	edges;
	uint64_t	waiting;		/* in the pile */
	Bucket		bucket;
	BucketRule	rule;			/* of wide steps */
	BucketRule	persistent_rule;
	double		limit[SAMPLES];
	uint64_t	steps;
	SharedStep *shared_step;
	Paths		helper[EMOGI_MAX_HELPERS];	/* arrays of each helper, in its memory; frontier:
											 * its share */
	uint32_t   *share;			/* [nwords], the leader's share */
	uint32_t	list_bytes;		/* bytes that a step reads over the link per edge */
} Path;

/* Functions and kernels of an algorithm and a weight type. */
typedef struct PathMethod
{
	/* set the first bucket by limits; NULL if values are additive */
	void		(*set_limits) (Path *path, double delta);
	void		(*raise) (Bucket *bucket, const BucketRule &rule, uint64_t entries,
						  unsigned long long nearest, unsigned long long min_threshold);
	EmogiStatus (*push_wide) (Run *run, const Paths &paths, const uint32_t *frontier,
							  EmogiError *error);
	EmogiStatus (*walk) (Path *path, EmogiError *error);
	EmogiStatus (*finish) (Path *path, EmogiError *error);
	/* the first two read edges with the whole device, the third is persistent */
	const void *kernels[3];
} PathMethod;

template <class Semiring, typename Weight>
static EmogiStatus
push_wide(Run *run, const Paths &paths, const uint32_t *frontier, EmogiError *error)
{
	typedef Relax<Semiring, Weight> Push;
	const Push	push = {paths};
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(push_words_kernel<Push>, run->nblocks, BLOCK_THREADS, stream, run->graph.forward,
				frontier, run->nwords, run->step, push);
	CUDA_LAUNCH(push_slices_kernel<Push>, run->nblocks, BLOCK_THREADS, stream, run->graph.forward,
				run->step, push);
	return EMOGI_OK;
}

template <class Semiring, typename Weight>
static EmogiStatus
walk(Path *path, EmogiError *error)
{
	const PathSearch<Semiring, Weight> search = {path->paths, path->piles, path->persistent_rule,
		path->run->step.counters, path->bucket, path->pile};

	return launch_persistent(path->run, &path->plan, path->queue, path->vertices, path->edges,
							 PERSISTENT_STEPS, search, error);
}

template <class Semiring>
static EmogiStatus
finish_keys(Path *path, EmogiError *error)
{
	CUDA_LAUNCH(best_paths_finish_kernel<Semiring>, path->run->full_blocks, BLOCK_THREADS,
				path->run->state->stream, path->paths.key, path->run->nvertices,
				path->run->step.counters);
	return EMOGI_OK;
}

/* Set the first bucket to `delta` limits, at least one. */
template <class Semiring>
static void
set_limits(Path *path, double delta)
{
	const double max = path->rule.nlimits > 1 ? path->rule.nlimits : 1;

	path->bucket.delta = delta < 1 ? 1 : delta < max ? delta : max;
	path->bucket.threshold = limit_beyond<Semiring>(path->rule, path->bucket.delta,
													emogi_path_source(Semiring::ALGORITHM));
}

template <class Semiring>
static PathMethod
choose_weight(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		typedef decltype(weight) Weight;
		typedef Relax<Semiring, Weight> Push;

		return PathMethod{Semiring::ADDS ? NULL : set_limits<Semiring>, raise_threshold<Semiring>,
			push_wide<Semiring, Weight>, walk<Semiring, Weight>, finish_keys<Semiring>,
			{(const void *) push_words_kernel<Push>, (const void *) push_slices_kernel<Push>,
			(const void *) persistent_walk_kernel<PathSearch<Semiring, Weight>>}};
	});
}

static PathMethod
choose_method(EmogiAlgorithm algorithm, EmogiWeightType type)
{
	return with_path(algorithm,
					 [=](auto semiring) { return choose_weight<decltype(semiring)>(type); });
}

/* Get some finite weights. */
static uint32_t
sample_weights(const EmogiGraph *graph, double *sample)
{
	const uint64_t nedges = graph->forward.nedges;
	const uint64_t nsamples = nedges < SAMPLES ? nedges : SAMPLES;
	uint32_t	finite = 0;

	for (uint64_t i = 0; i < nsamples; i++)
	{
		const double weight = emogi_weight(graph->forward.weights, graph->weight_type,
										   nedges / nsamples * i);

		if (weight < (double) INFINITY)
			sample[finite++] = weight;
	}
	return finite;
}

/* Compare doubles for qsort. */
static int
compare_ascending(const void *a, const void *b)
{
	const double x = *(const double *) a;
	const double y = *(const double *) b;

	return (x > y) - (x < y);
}

static int
compare_descending(const void *a, const void *b)
{
	return compare_ascending(b, a);
}

/* Choose the first bucket and the rule for the next ones. */
static void
choose_delta(Path *path, const PathMethod *method, const EmogiGraph *graph,
			 EmogiAlgorithm algorithm)
{
	const double mean_degree = (double) graph->forward.nedges / (double) graph->nvertices;
	const double degree = mean_degree > 1 ? mean_degree : 1;
	Bucket	   *bucket = &path->bucket;
	double		sum = 0;

	path->rule = BucketRule{BUCKET_MIN_EDGES, BUCKET_MAX_EDGES};
	path->rule.nlimits = sample_weights(graph, path->limit);
	path->rule.limit = path->limit;
	if (method->set_limits != NULL)
	{
		qsort(path->limit, path->rule.nlimits, sizeof *path->limit,
			  emogi_path_maximizes(algorithm) ? compare_descending : compare_ascending);
		method->set_limits(path, path->rule.nlimits / (BUCKETS_PER_EDGE * degree));
		return;
	}
	for (uint32_t i = 0; i < path->rule.nlimits; i++)
		sum += path->limit[i];
	bucket->delta = path->rule.nlimits > 0 ? DELTA_FACTOR * (sum / path->rule.nlimits) / degree : 0;
	if (!(bucket->delta > 0 && bucket->delta < (double) INFINITY))
		bucket->delta = 1;
	bucket->threshold = MinKeys::encode(bucket->delta);
}

/*
 * Fit the buckets to the placement of the edges and to their number: a step costs as much as
 * reading some million edges from device memory, or about one million over the link.
 */
static void
fit_buckets(Path *path, const PathMethod *method)
{
	const bool	limits = method->set_limits != NULL;
	const double nedges = (double) path->run->graph.forward.nedges;
	double		factor = NEAR_LIMITS_FACTOR;

	if (path->run->graph.placement != EMOGI_PLACEMENT_DEVICE)
	{
		const uint64_t wider = path->shared_step->nhelpers > 0 ?
			SHARED_BUCKETS * (uint64_t) path->shared_step->nhelpers : 1;

		path->rule.min_entries *= wider;
		path->rule.max_entries *= wider;
		return;
	}
	path->rule.min_entries = limits ? NEAR_LIMITS_MIN_EDGES : NEAR_MIN_EDGES;
	path->rule.max_entries = limits ? NEAR_LIMITS_MAX_EDGES : NEAR_MAX_EDGES;
	if (!limits)
		return;
	while (factor < NEAR_LIMITS_MAX &&
		   factor * path->bucket.delta / path->rule.nlimits * nedges < (double) NEAR_LIMITS_EDGES)
		factor *= 2;
	method->set_limits(path, factor * path->bucket.delta);
}

/* Take the arrays, and copy the sources and the limits to the device. */
static EmogiStatus
take_arrays(Path *path, const PathMethod *method, const uint32_t *sources, uint64_t nsources,
			EmogiError *error)
{
	DeviceMemory *memory = &path->run->memory;
	double	   *limit;

	path->paths.nwords = path->run->nwords;
	TRY(take_array(memory, &path->paths.key, path->run->nvertices, "keys", error));
	TRY(take_array(memory, &path->paths.pending, path->run->nwords, "bitmap of pending vertices",
				   error));
	TRY(take_array(memory, &path->paths.frontier, path->run->nwords, "bitmap of the frontier",
				   error));
	TRY(take_array(memory, &path->sources, nsources, "sources", error));
	TRY(take_array(memory, &limit, SAMPLES, "weights", error));
	TRY(take_persistent(path->run, &path->plan, &path->queue, error));
	TRY(take_array(memory, &path->piles.item, 2 * (uint64_t) path->plan.capacity,
				   "delayed vertices", error));
	TRY(take_array(memory, &path->piles.state, 1, "state of the delayed queue", error));
	path->persistent_rule = path->rule;
	path->persistent_rule.min_entries = method->set_limits != NULL ? 0 :
		PERSISTENT_BUCKET_MIN_EDGES;
	path->persistent_rule.max_entries = PERSISTENT_BUCKET_MAX_EDGES;
	path->persistent_rule.limit = limit;
	TRY(emogi_run_send(path->run, limit, path->limit, path->rule.nlimits * sizeof *limit, error));
	return emogi_run_send(path->run, path->sources, sources, nsources * sizeof *sources, error);
}

/* Make the sources pending. */
static EmogiStatus
enter_sources(Path *path, uint64_t nsources, unsigned long long source_key, EmogiError *error)
{
	Run		   *run = path->run;
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(path->paths.pending, 0, run->nwords * sizeof *path->paths.pending,
							 stream));
	CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, stream, path->sources,
				nsources, path->paths.pending);
	CUDA_LAUNCH(best_paths_start_kernel, run->full_blocks, BLOCK_THREADS, stream, path->paths,
				run->nvertices, source_key);
	return EMOGI_OK;
}

/* Move the frontier to the queue, and the other pending vertices to the pile if they fit. */
static EmogiStatus
enter_queue(Path *path, EmogiError *error)
{
	Run		   *run = path->run;
	cudaStream_t stream = run->state->stream;
	auto	   *const queue = persistent_queue_kernel<PathItem, KeyedItem>;

	path->piles.capacity = path->waiting <= path->plan.capacity ? path->plan.capacity : 0;
	path->pile = 0;
	CUDA_TRY(cudaMemsetAsync(path->piles.state, 0, sizeof *path->piles.state, stream));
	CUDA_LAUNCH(queue, run->full_blocks, BLOCK_THREADS, stream, path->paths.frontier, run->nwords,
				run->graph.forward.offsets, path->queue, run->step.counters,
				KeyedItem{path->paths.key});
	if (path->piles.capacity > 0)
		CUDA_LAUNCH(best_paths_pile_kernel, run->full_blocks, BLOCK_THREADS, stream, path->paths,
					path->piles);
	path->plan.queued = true;
	path->plan.now = 0;
	return EMOGI_OK;
}

/* Mark the vertices of the queue and of the pile as pending. */
static EmogiStatus
leave_queue(Path *path, EmogiError *error)
{
	Run		   *run = path->run;
	cudaStream_t stream = run->state->stream;
	auto	   *const mark_near = persistent_mark_kernel<PathItem, KeyedItem>;
	auto	   *const mark_far = persistent_mark_kernel<WaitingItem, KeyedItem>;

	CUDA_LAUNCH(mark_near, run->full_blocks, BLOCK_THREADS, stream,
				path->queue + (uint64_t) path->plan.now * path->plan.capacity,
				(uint32_t) path->vertices,
				path->paths.pending, KeyedItem{path->paths.key});
	CUDA_LAUNCH(mark_far, run->full_blocks, BLOCK_THREADS, stream,
				path->piles.item + (uint64_t) (path->pile % 2) * path->piles.capacity,
				(uint32_t) path->waiting,
				path->paths.pending, KeyedItem{path->paths.key});
	path->plan.queued = false;
	return EMOGI_OK;
}

/*
 * Run the persistent kernel. Leave the queue if no near vertices are left, if there are too many,
 * or if the pile overflowed.
 */
static EmogiStatus
step_persistent(Path *path, const PathMethod *method, EmogiError *error)
{
	const Counters *counters;

	TRY(emogi_run_begin_step(path->run, error));
	TRY(method->walk(path, error));
	TRY(emogi_run_read(path->run, &counters, error));
	path->vertices = counters->vertices;
	path->edges = counters->edges;
	path->waiting = counters->waiting;
	path->steps += counters->steps;
	path->plan.now = counters->now;
	path->plan.spent = counters->spent;
	path->pile = counters->pile;
	path->bucket = Bucket{counters->threshold, counters->delta};
	if (path->edges == 0 || !fits_persistent(&path->plan, path->vertices, path->edges) ||
		(path->waiting == path->piles.capacity && path->waiting > 0))
		return leave_queue(path, error);
	return EMOGI_OK;
}

/* Push from the frontier with all helpers. */
static EmogiStatus
push_together(Path *path, const PathMethod *method, EmogiError *error)
{
	SharedStep *shared_step = path->shared_step;
	Run		   *run = path->run;

	TRY(emogi_shared_step_ready(shared_step, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
	{
		const Paths &own = path->helper[i];
		Run		   *its = &shared_step->helper[i].run;

		TRY(emogi_shared_step_begin_part(shared_step, i,
										 SharedStepInput{path->paths.frontier, 0, own.frontier},
										 error));
		CUDA_LAUNCH(best_paths_bring_kernel, its->full_blocks, BLOCK_THREADS, its->state->stream,
					own, path->paths.key);
		TRY(method->push_wide(its, own, own.frontier, error));
		TRY(emogi_shared_step_end_part(shared_step, i, error));
	}
	TRY(emogi_shared_step_share(shared_step, path->paths.frontier, 0, path->share, error));
	TRY(method->push_wide(run, path->paths, path->share, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(emogi_shared_step_wait(shared_step, i, error));
	return EMOGI_OK;
}

/* Select the frontier from the pending vertices, and push from it. *done: nothing is left. */
static EmogiStatus
step_wide(Path *path, const PathMethod *method, bool *done, EmogiError *error)
{
	Run		   *run = path->run;
	const Counters *counters;
	unsigned long long nearest;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(best_paths_select_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				path->paths, run->graph.forward.offsets, path->bucket.threshold,
				run->step.counters);
	TRY(emogi_run_read(run, &counters, error));
	path->vertices = counters->vertices;
	path->edges = counters->edges;
	path->waiting = counters->far;
	nearest = ~counters->nearest;
	*done = path->edges == 0 && path->waiting == 0;
	if (*done)
		return EMOGI_OK;
	if (path->edges == 0)
	{
		method->raise(&path->bucket, path->rule, path->plan.spent, nearest, nearest + 1);
		path->plan.spent = 0;
		return EMOGI_OK;
	}
	if (fits_persistent(&path->plan, path->vertices, path->edges))
		return enter_queue(path, error);
	path->plan.spent += path->edges;
	path->steps++;
	if (path->shared_step->nhelpers > 0 && (path->edges * path->list_bytes > SHARED_MIN_BYTES ||
											run->state->always_help))
		return push_together(path, method, error);
	return method->push_wide(run, path->paths, path->paths.frontier, error);
}

/*
 * The step loop. The host waits for the counters once per step or persistent kernel, when nothing
 * else is queued.
 */
static EmogiStatus
relax_all(Path *path, const PathMethod *method, EmogiError *error)
{
	Run		   *run = path->run;
	bool		done = false;

	run->control->total = run->nvertices;
	while (!done)
	{
		run->control->level = (uint32_t) path->steps;
		if (run->control->cancel)
			return EMOGI_CANCELED;
		if (path->plan.queued)
			TRY(step_persistent(path, method, error));
		else
			TRY(step_wide(path, method, &done, error));
	}
	return EMOGI_OK;
}

/* Take the arrays of a helper; its keys start as KEY_NONE. */
static EmogiStatus
take_helper(Run *run, void *with, int i, EmogiError *error)
{
	Paths	   *paths = &((Path *) with)->helper[i];

	*paths = ((Path *) with)->paths;	/* for the bound */
	paths->leaders_key = paths->key;
	paths->leaders_pending = paths->pending;
	TRY(take_array(&run->memory, &paths->key, run->nvertices, "keys", error));
	TRY(take_array(&run->memory, &paths->frontier, run->nwords, "bitmap of a share of the frontier",
				   error));
	static_assert(KEY_NONE == ~0ULL, "a memset makes keys none");
	CUDA_TRY(cudaMemsetAsync(paths->key, 0xFF, run->nvertices * sizeof *paths->key,
							 run->state->stream));
	return EMOGI_OK;
}

/* Open the helpers' runs, if there are any. */
static EmogiStatus
open_shared_step(Path *path, const PathMethod *method, const EmogiGraph *graph,
				 const EmogiQuery *query, EmogiError *error)
{
	Run		   *run = path->run;
	const uint32_t bytes = edge_bytes(graph->weight_type);

	path->shared_step = run->shared_step;
	path->shared_step->offers = true;
	path->list_bytes = run->graph.forward.near_weights ? (uint32_t) sizeof(Target) : bytes;
	TRY(emogi_shared_step_open(path->shared_step, graph, query, PLACE_NEAR_WEIGHTS, method->kernels,
							   2, bytes, take_helper, path, error));
	return path->shared_step->nhelpers > 0 ? take_array(&run->memory, &path->share, run->nwords,
														"bitmap of a share of the frontier",
														error) :
		EMOGI_OK;
}

EmogiStatus
emogi_cuda_path(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				EmogiError *error)
{
	const uint64_t nsources = is_hopeless(query) ? 0 : query->nsources;
	const PathMethod method = choose_method(query->algorithm, graph->weight_type);
	const Counters *counters;
	Path		path = {};

	path.run = run;
	path.paths.bound = offer_bound(query);
	choose_delta(&path, &method, graph, query->algorithm);
	TRY(take_arrays(&path, &method, query->sources, nsources, error));
	TRY(emogi_run_place(run, graph, query, PLACE_NEAR_WEIGHTS, method.kernels, 2,
						edge_bytes(graph->weight_type), error));
	TRY(open_shared_step(&path, &method, graph, query, error));
	fit_buckets(&path, &method);
	TRY(emogi_persistent_size(run, &path.plan, method.kernels[2], error));
	TRY(emogi_run_start_clock(run, error));
	TRY(enter_sources(&path, nsources, source_key(query->algorithm), error));
	TRY(relax_all(&path, &method, error));
	TRY(method.finish(&path, error));
	TRY(emogi_run_stop_clock(run, result, error));

	TRY(emogi_run_read(run, &counters, error));
	emogi_run_account(run, counters, result);
	result->nreached = counters->claimed;
	TRY(emogi_shared_step_account(path.shared_step, result, error));
	result->nlevels = (uint32_t) path.steps;
	run->control->done = result->nreached;
	return emogi_run_give(run, query, result, 0, path.paths.key, error);
}
