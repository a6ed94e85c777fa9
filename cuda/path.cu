/*
 * path.cu: the path algebra: SSSP and SSWP from one or many sources.
 *
 * Returns distance[nvertices]: SSSP the least sum of weights, +inf = not reached; SSWP the largest least weight, -1 = not
 * reached, +inf for the sources themselves.
 *
 * Method. Each vertex has a key of 64 bits, the less the better (path.cuh), which atomicMin improves; a vertex that has
 * improved since its list was read is pending. A step takes the pending vertices with keys below a threshold as the
 * frontier and pushes from it, in ascending order; when none is left, the threshold moves on beyond the least key
 * pending [1, near-far]. Values only get worse along a path, so any order of work ends in the same least fixpoint, bit
 * for bit, and what is pending beyond the threshold is merely likely to improve again first.
 *   wide        the frontier's lists are read by all warps                                (EMOGI section 4)
 *   few         while the frontier is small, one block goes on alone, up to FEW_ROUNDS rounds in one launch
 * The width of a bucket, delta, starts from the mean weight over the mean degree [1] and follows the work: a bucket of
 * few edges costs more in launches than in reading, one of many reads lists too early and again. Widths have no sum to
 * cut at equal steps: SSWP goes down the sorted weights of a sample, delta of them at a time, with all of a value at once.
 * A bucket of one value reads no list twice.
 *
 * Bytes, for n vertices and m edges: a step n/4 of bitmaps, 8 a pending vertex, 16 of offsets a vertex taken; 8 random
 * ones an entry; edges as counted in Counters.lines, x 128.
 *
 * [1] A. Davidson, S. Baxter, M. Garland, J. D. Owens: Work-Efficient Parallel GPU Methods for Single-Source Shortest
 *     Paths. IPDPS 2014.
 */
#include <stdlib.h>

#include "path.cuh"

#define SAMPLES 1024			/* of weights, for the first bucket, and the ends of SSWP's */
#define BUCKETS_PER_EDGE 4		/* of SSWP: the first bucket has a quarter of an edge of each vertex */
#define DELTA_FACTOR 2.0		/* of mean weight / mean degree, for the first bucket */
#define BUCKET_MIN_EDGES (UINT64_C(1) << 20)	/* below it the next bucket is twice as wide */
#define BUCKET_MAX_EDGES (UINT64_C(1) << 24)	/* above it half as wide */

/* A traversal. The device's arrays belong to run->memory. */
typedef struct Path
{
	Run		   *run;
	Paths		paths;
	uint32_t   *sources;		/* [nsources] */
	uint32_t   *queue;			/* [FEW_VERTICES] */
	bool		widest;			/* SSWP */
	unsigned long long threshold;	/* keys below it are near; KEY_NONE = all */
	double		delta;			/* width of the next bucket; SSWP: so many of the limits */
	double		limit[SAMPLES];	/* SSWP: [nlimits], weights, descending */
	uint32_t	nlimits;
	uint64_t	bucket_edges;	/* that the steps of this one have read */
	uint64_t	steps;			/* wide ones */
} Path;

/* What depends on the algebra and the weights. */
typedef struct PathMethod
{
	EmogiStatus (*push_wide) (Path *path, EmogiError *error);
	EmogiStatus (*push_few) (Path *path, unsigned long long threshold, EmogiError *error);
	EmogiStatus (*finish) (Path *path, EmogiError *error);
	const void *kernels[4];		/* the first two read edges with the whole device */
} PathMethod;

template <class Algebra, typename Weight>
static EmogiStatus
push_wide(Path *path, EmogiError *error)
{
	typedef Relax<Algebra, Weight> Push;
	const Push	push = {path->paths};
	Run		   *run = path->run;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(push_words<Push>, run->nblocks, BLOCK_THREADS, stream, run->graph.forward, path->paths.frontier,
				run->nwords, run->step, push);
	CUDA_LAUNCH(push_slices<Push>, run->nblocks, BLOCK_THREADS, stream, run->graph.forward, run->step, push);
	return EMOGI_OK;
}

template <class Algebra, typename Weight>
static EmogiStatus
push_few(Path *path, unsigned long long threshold, EmogiError *error)
{
	auto	   *const few = few_rounds<Algebra, Weight>;
	Run		   *run = path->run;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(queue_frontier, run->full_blocks, BLOCK_THREADS, stream, path->paths.frontier, run->nwords, path->queue,
				run->step.counters);
	CUDA_LAUNCH(few, 1, FEW_THREADS, stream, run->graph.forward, path->paths, path->queue, threshold,
				run->step.counters);
	return EMOGI_OK;
}

template <class Algebra>
static EmogiStatus
finish_keys(Path *path, EmogiError *error)
{
	CUDA_LAUNCH(finish_paths<Algebra>, path->run->full_blocks, BLOCK_THREADS, path->run->state->stream, path->paths.key,
				path->run->nvertices, path->run->step.counters);
	return EMOGI_OK;
}

template <class Algebra>
static PathMethod
choose_weight(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		typedef decltype(weight) Weight;
		typedef Relax<Algebra, Weight> Push;

		return PathMethod{push_wide<Algebra, Weight>, push_few<Algebra, Weight>, finish_keys<Algebra>,
			{(const void *) push_words<Push>, (const void *) push_slices<Push>,
			(const void *) few_rounds<Algebra, Weight>, (const void *) finish_paths<Algebra>}};
	});
}

static PathMethod
choose_method(EmogiAlgorithm algorithm, EmogiWeightType type)
{
	return algorithm == EMOGI_SSWP ? choose_weight<Sswp>(type) : choose_weight<Sssp>(type);
}

EmogiStatus
emogi_cuda_path_load(EmogiError *error)
{
	const void *const kernels[] = {
		(const void *) start_paths, (const void *) select_near, (const void *) mark_sources,
		(const void *) queue_frontier
	};

	for (int type = EMOGI_WEIGHT_NONE; type <= EMOGI_WEIGHT_F64; type++)
	{
		const PathMethod sssp = choose_method(EMOGI_SSSP, (EmogiWeightType) type);
		const PathMethod sswp = choose_method(EMOGI_SSWP, (EmogiWeightType) type);

		TRY(LOAD_KERNELS(sssp.kernels));
		TRY(LOAD_KERNELS(sswp.kernels));
	}
	return LOAD_KERNELS(kernels);
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
		const double weight = emogi_weight(graph->forward.weights, graph->weight_type, nedges / nsamples * i);

		if (weight < (double) INFINITY)
			sample[finite++] = weight;
	}
	return finite;
}

/* Order doubles for qsort: descending. */
static int
compare_descending(const void *a, const void *b)
{
	const double x = *(const double *) a;
	const double y = *(const double *) b;

	return (x < y) - (x > y);
}

/* Get the threshold of SSWP's next bucket, when `widest` is the widest value pending: above its key. */
static unsigned long long
limit_below(const Path *path, double widest)
{
	uint64_t	i = 0;
	unsigned long long key;

	while (i < path->nlimits && path->limit[i] > widest)
		i++;
	i += (uint64_t) path->delta - 1;
	key = i < path->nlimits ? Sswp::encode(path->limit[i]) : KEY_NONE;
	return key != KEY_NONE ? key + 1 : KEY_NONE;
}

/* Choose the first bucket. */
static void
choose_delta(Path *path, const EmogiGraph *graph, EmogiAlgorithm algorithm)
{
	const double mean_degree = (double) graph->forward.nedges / (double) graph->nvertices;
	const double degree = mean_degree > 1 ? mean_degree : 1;
	double		sum = 0;

	path->widest = algorithm == EMOGI_SSWP;
	path->nlimits = sample_weights(graph, path->limit);
	if (path->widest)
	{
		qsort(path->limit, path->nlimits, sizeof *path->limit, compare_descending);
		path->delta = path->nlimits / (BUCKETS_PER_EDGE * degree);
		path->delta = path->delta > 1 ? path->delta : 1;
		path->threshold = limit_below(path, (double) INFINITY);
		return;
	}
	for (uint32_t i = 0; i < path->nlimits; i++)
		sum += path->limit[i];
	path->delta = path->nlimits > 0 ? DELTA_FACTOR * (sum / path->nlimits) / degree : 0;
	if (!(path->delta > 0 && path->delta < (double) INFINITY))
		path->delta = 1;
	path->threshold = Sssp::encode(path->delta);
}

/* Move the threshold beyond the least key that is pending. */
static void
raise_threshold(Path *path, unsigned long long nearest)
{
	const double factor = path->bucket_edges < BUCKET_MIN_EDGES ? 2 : path->bucket_edges > BUCKET_MAX_EDGES ? 0.5 : 1;
	const double delta = path->delta * factor;

	if (path->widest ? delta >= 1 && delta <= SAMPLES : delta > 0 && delta < (double) INFINITY)
		path->delta = delta;
	path->threshold = path->widest ? limit_below(path, Sswp::decode(nearest)) :
		Sssp::encode(Sssp::decode(nearest) + path->delta);
	if (path->threshold <= nearest)	/* delta is lost in rounding */
		path->threshold = nearest + 1;
	path->bucket_edges = 0;
}

/* Take the arrays, and bring the sources to the device. */
static EmogiStatus
take_arrays(Path *path, const uint32_t *sources, uint64_t nsources, EmogiError *error)
{
	DeviceMemory *memory = &path->run->memory;

	path->paths.nwords = path->run->nwords;
	TRY(take_array(memory, &path->paths.key, path->run->nvertices, "keys", error));
	TRY(take_array(memory, &path->paths.pending, path->run->nwords, "bitmap of pending vertices", error));
	TRY(take_array(memory, &path->paths.frontier, path->run->nwords, "bitmap of the frontier", error));
	TRY(take_array(memory, &path->sources, nsources, "sources", error));
	TRY(take_array(memory, &path->queue, FEW_VERTICES, "queue", error));
	return emogi_run_send(path->run, path->sources, sources, nsources * sizeof *sources, error);
}

/* Make the sources pending. */
static EmogiStatus
enter_sources(Path *path, uint64_t nsources, unsigned long long source_key, EmogiError *error)
{
	Run		   *run = path->run;
	cudaStream_t stream = run->state->stream;

	CUDA_TRY(cudaMemsetAsync(path->paths.pending, 0, run->nwords * sizeof *path->paths.pending, stream));
	CUDA_LAUNCH(mark_sources, run->full_blocks, BLOCK_THREADS, stream, path->sources, nsources, path->paths.pending);
	CUDA_LAUNCH(start_paths, run->full_blocks, BLOCK_THREADS, stream, path->paths, run->nvertices, source_key);
	return EMOGI_OK;
}

/* The step loop: the host waits once a step, for what select_near counts, while nothing else is under way. */
static EmogiStatus
relax_all(Path *path, const PathMethod *method, EmogiError *error)
{
	Run		   *run = path->run;
	const Counters *counters;

	run->control->total = run->nvertices;
	for (;;)
	{
		run->control->level = (uint32_t) path->steps;
		if (run->control->cancel)
			return EMOGI_CANCELED;
		TRY(emogi_run_begin_step(run, error));
		CUDA_LAUNCH(select_near, run->full_blocks, BLOCK_THREADS, run->state->stream, path->paths,
					run->graph.forward.offsets, path->threshold, run->step.counters);
		TRY(emogi_run_read(run, &counters, error));
		path->bucket_edges += counters->edges;
		if (counters->edges == 0 && counters->far == 0)
			return EMOGI_OK;
		if (counters->edges == 0)
			raise_threshold(path, ~counters->nearest);
		/* Half of what few_rounds takes, so that it never returns without a round. */
		else if (counters->vertices <= FEW_VERTICES / 2 && counters->edges <= FEW_EDGES / 2)
			TRY(method->push_few(path, counters->far > 0 ? path->threshold : KEY_NONE, error));
		else
		{
			TRY(method->push_wide(path, error));
			path->steps++;
		}
	}
}

EmogiStatus
emogi_cuda_path(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	const bool	widest = query->algorithm == EMOGI_SSWP;
	const bool	none = !widest && query->max_distance < 0;	/* even the sources are too far */
	const bool	bounded = !widest && query->max_distance < (double) INFINITY;
	const uint64_t nsources = none ? 0 : query->nsources;
	const PathMethod method = choose_method(query->algorithm, graph->weight_type);
	const Counters *counters;
	Path		path = {};

	path.run = run;
	path.paths.bound = bounded && !none ? Sssp::encode(query->max_distance + 0.0) : KEY_INFINITY;
	choose_delta(&path, graph, query->algorithm);
	TRY(take_arrays(&path, query->sources, nsources, error));
	TRY(emogi_run_place(run, graph, query, PLACE_WEIGHTS, method.kernels, 2, edge_bytes(graph->weight_type), error));

	TRY(emogi_run_start_clock(run, error));
	TRY(enter_sources(&path, nsources, widest ? Sswp::encode((double) INFINITY) : Sssp::encode(0), error));
	TRY(relax_all(&path, &method, error));
	TRY(method.finish(&path, error));
	TRY(emogi_run_stop_clock(run, result, error));

	TRY(emogi_run_read(run, &counters, error));
	emogi_run_account(run, counters, result);
	result->nreached = counters->claimed;
	result->nlevels = (uint32_t) (path.steps + counters->rounds);
	run->control->done = result->nreached;
	return emogi_run_fetch(run, result->distance, path.paths.key, run->nvertices * sizeof *result->distance, error);
}
