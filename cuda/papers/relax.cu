/*
 * relax.cu: the path semiring by the papers' mappings, and BFS and CC, which are made of the same parts.
 *
 * Returns level[nvertices], distance[nvertices] or component[nvertices], as our own kernels do, bit for bit.
 *
 * Method. Every vertex has a key of 64 bits, the less the better (best_paths.cuh). An iteration takes all active vertices and
 * offers along their lists; atomicMin decides, and a vertex that has improved is active in the next one; when there is
 * none, keys are least. That is the loop of [1, section 4], [2, section 3] and [3]: Bellman-Ford for best paths, the
 * spread of the smallest label for CC, levels for BFS. CC goes along the lists of both orientations. With forward
 * alone, a vertex also takes from its targets what is better, and all are active until nothing changes.
 *
 * Bytes of an iteration, for n vertices: bitmaps n/2, offsets 32 and the own key an active vertex, edges as the mapping
 * has it; for each entry 8 random ones, and an atomic operation when it improves its target.
 *
 * [1] S. W. Min et al.: EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs. PVLDB 14(2), 2020.
 * [2] S. Hong et al.: Accelerating CUDA Graph Algorithms at Maximum Warp. PPoPP 2011.
 * [3] P. Wang et al.: Excavating the Potential of GPU for Accelerating Graph Traversal. IPDPS 2019.
 */
#include "cuda/papers/mapping.cuh"
#include "cuda/algorithms/best_paths.cuh"

/* BFS as keys: the fewest edges. */
struct Hops : LeastKeys
{
	static __device__ __forceinline__ double
	candidate(double value, double weight)
	{
		return value + 1.0;
	}
};

/* CC as keys: the smallest number of a vertex that leads here, along edges or against them. */
struct Label : LeastKeys
{
	static __device__ __forceinline__ double
	candidate(double value, double weight)
	{
		return value;
	}
};

/* The Work of a path semiring. MUTUAL: an entry's target offers its value too. */
template <class Semiring, bool MUTUAL>
struct Offer
{
	typedef Paths State;
	typedef double Own;
	static constexpr bool SUMS = false;

	Paths		paths;

	__device__ __forceinline__ double
	own(uint32_t vertex) const
	{
		return Semiring::decode(__ldcg(&paths.key[vertex]));
	}

	/* Offer to a vertex whose key is not better than `known`. Reads of bits save atomic operations. */
	__device__ __forceinline__ void
	take(uint32_t vertex, unsigned long long offer, unsigned long long known) const
	{
		uint32_t   *word = &paths.pending[vertex / 32];
		const uint32_t bit = 1u << vertex % 32;

		if (offer < known && offer < atomicMin(&paths.key[vertex], offer) && (__ldcg(word) & bit) == 0)
			atomicOr(word, bit);
	}

	__device__ __forceinline__ void
	edge(uint32_t vertex, double own, uint32_t target, double weight, double &sum) const
	{
		const unsigned long long known = __ldcg(&paths.key[target]);

		take(target, make_offer<Semiring>(paths, own, weight), known);
		if constexpr (MUTUAL)
			take(vertex, make_offer<Semiring>(paths, Semiring::decode(known), weight), Semiring::encode(own));
	}
};

/* Write a value as the result has it. */
static __device__ __forceinline__ void
write_value(double *out, double value)
{
	*out = value;
}

static __device__ __forceinline__ void
write_value(int32_t *out, double value)
{
	*out = value < (double) INFINITY ? (int32_t) value : -1;
}

static __device__ __forceinline__ void
write_value(uint32_t *out, double value)
{
	*out = (uint32_t) value;
}

/* Turn keys into values, and count the vertices reached; `out` may be the keys' own array. Bytes: 12 or 16 a vertex. */
template <class Semiring, typename Out>
static __global__ void __launch_bounds__(BLOCK_THREADS)
relax_write_kernel(const unsigned long long *key, void *out, uint64_t nvertices, Counters *counters)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	unsigned long long reached = 0;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices; v += nthreads)
	{
		const unsigned long long its_key = key[v];

		reached += its_key != KEY_NONE;
		write_value((Out *) out + v, Semiring::decode(its_key));
	}
	block_add(&counters->claimed, reached);
}

/* Give every vertex its own number as the label. Bytes: 8 a vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
relax_start_labels_kernel(unsigned long long *key, uint64_t nvertices)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < nvertices; v += nthreads)
		key[v] = Label::encode((double) v);
}

/* What depends on the application, the mapping and the weights. */
typedef struct PathMethod
{
	SweepKernel<Paths> sweep;
	void		(*write) (const unsigned long long *key, void *out, uint64_t nvertices, Counters *counters);
	uint32_t	out_bytes;		/* of a value */
	bool		weighted;
	bool		mutual;
	bool		labels;			/* all vertices are active at first, with labels; otherwise the sources, with source_key */
	unsigned long long source_key;
} PathMethod;

template <class Semiring, typename Out, bool MUTUAL>
static PathMethod
make_method(SweepKernel<Paths> sweep, bool weighted, bool labels, double source)
{
	return PathMethod{sweep, relax_write_kernel<Semiring, Out>, sizeof(Out), weighted, MUTUAL, labels,
		Semiring::encode(source)};
}

/* Get the kernel for a mapping, and weights and targets of these types. */
template <class Work>
static SweepKernel<Paths>
choose_kernel(EmogiMapping mapping, EmogiWeightType type, bool wide)
{
	return wide ? with_weight(type, [=](auto weight) { return choose_wide_mapping<Work, decltype(weight)>(mapping); }) :
		choose_sweep<Work>(mapping, type);
}

/* The same without weights. */
template <class Work>
static SweepKernel<Paths>
choose_plain(EmogiMapping mapping, bool wide)
{
	return wide ? choose_wide_mapping<Work, NoWeight>(mapping) : choose_mapping<Work, NoWeight>(mapping);
}

static PathMethod
choose_method(const EmogiQuery *query, EmogiWeightType type, bool mutual)
{
	const EmogiMapping mapping = query->papers.mapping;
	const bool	wide = query->papers.id_bytes == 8;

	if (query->algorithm == EMOGI_BFS)
		return make_method<Hops, int32_t, false>(choose_plain<Offer<Hops, false>>(mapping, wide), false, false, 0);
	if (query->algorithm == EMOGI_CC && mutual)
		return make_method<Label, uint32_t, true>(choose_plain<Offer<Label, true>>(mapping, wide), false, true, 0);
	if (query->algorithm == EMOGI_CC)
		return make_method<Label, uint32_t, false>(choose_plain<Offer<Label, false>>(mapping, wide), false, true, 0);
	switch (query->algorithm)
	{
#define PATH(NAME, name, column, order, source, traits, candidate) \
		case EMOGI_##NAME: \
			return make_method<PathSemiring<EMOGI_##NAME>, double, false>( \
				choose_kernel<Offer<PathSemiring<EMOGI_##NAME>, false>>(mapping, type, wide), true, false, source);
			EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
#undef PATH
	}
	return {};
}

/* A traversal. The device's arrays belong to run->memory. */
typedef struct Spread
{
	Sweeps	   *sweeps;
	PathMethod	method;
	Paths		paths;
	uint32_t   *sources;		/* [nsources] */
	uint64_t	nsources;
	void	   *out;			/* [nvertices] times method.out_bytes */
	uint64_t	most;			/* iterations */
	uint64_t	made;
	uint64_t	active;			/* vertices that the next iteration has */
	bool		asynchronous;	/* STAGED: lists that are there are swept again while any of their vertices improves */
} Spread;

/* Take the arrays, and bring the sources to the device. */
static EmogiStatus
take_arrays(Spread *spread, const uint32_t *sources, EmogiError *error)
{
	Run		   *run = spread->sweeps->run;
	DeviceMemory *memory = &run->memory;

	spread->paths.nwords = run->nwords;
	TRY(take_array(memory, &spread->paths.key, run->nvertices, "keys", error));
	TRY(take_array(memory, &spread->paths.pending, run->nwords, "bitmap of improved vertices", error));
	TRY(take_array(memory, &spread->paths.frontier, run->nwords, "bitmap of active vertices", error));
	TRY(take_array(memory, &spread->sources, spread->nsources, "sources", error));
	spread->out = spread->paths.key;
	if (spread->method.out_bytes < sizeof *spread->paths.key)
		TRY(emogi_memory_take(memory, &spread->out, run->nvertices * spread->method.out_bytes, "values", error));
	return emogi_run_send(run, spread->sources, sources, spread->nsources * sizeof *sources, error);
}

/* Bring the kernels to the device. */
static EmogiStatus
load_kernels(Spread *spread, EmogiError *error)
{
	const void *const kernels[] = {
		(const void *) push_mark_sources_kernel, (const void *) best_paths_start_kernel, (const void *) relax_start_labels_kernel,
		(const void *) spread->method.write
	};

	TRY(LOAD_KERNELS(kernels));
	return emogi_sweeps_fit(spread->sweeps, (const void *) spread->method.sweep, error);
}

/* Give the vertices their first keys, and mark those that are active. */
static EmogiStatus
start(Spread *spread, EmogiError *error)
{
	Run		   *run = spread->sweeps->run;
	cudaStream_t stream = run->state->stream;
	const Paths *paths = &spread->paths;

	if (spread->method.labels)
	{
		CUDA_LAUNCH(relax_start_labels_kernel, run->full_blocks, BLOCK_THREADS, stream, paths->key, run->nvertices);
		return emogi_papers_mark_all(spread->sweeps, paths->pending, error);
	}
	CUDA_TRY(cudaMemsetAsync(paths->pending, 0, run->nwords * sizeof *paths->pending, stream));
	CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, stream, spread->sources, spread->nsources,
				paths->pending);
	CUDA_LAUNCH(best_paths_start_kernel, run->full_blocks, BLOCK_THREADS, stream, *paths, run->nvertices,
				spread->method.source_key);
	return EMOGI_OK;
}

/* List the active vertices with their forward lists: those that improved. */
static EmogiStatus
list_active(Spread *spread, EmogiError *error)
{
	Run		   *run = spread->sweeps->run;
	Paths	   *paths = &spread->paths;
	uint32_t   *improved = paths->pending;

	paths->pending = paths->frontier;
	paths->frontier = improved;
	CUDA_TRY(cudaMemsetAsync(paths->pending, 0, run->nwords * sizeof *paths->pending, run->state->stream));
	TRY(emogi_papers_list(spread->sweeps, run->graph.forward, paths->frontier, &spread->active, error));
	if (!spread->method.mutual || spread->active == 0 || spread->active == run->nvertices)
		return EMOGI_OK;
	TRY(emogi_papers_mark_all(spread->sweeps, paths->frontier, error));
	return emogi_papers_list(spread->sweeps, run->graph.forward, paths->frontier, &spread->active, error);
}

/* Offer along the lists of the active vertices: forward's, and in CC backward's. */
static EmogiStatus
offer_all(Spread *spread, EmogiError *error)
{
	Run		   *run = spread->sweeps->run;
	SweepKernel<Paths> kernel = spread->method.sweep;

	spread->sweeps->pending = spread->asynchronous ? spread->paths.pending : NULL;
	TRY(sweep<Paths>(spread->sweeps, kernel, NULL, run->graph.forward, spread->paths, error));
	spread->sweeps->pending = NULL;	/* whom backward lists improve has to be swept along forward's too */
	if (!spread->method.labels || spread->method.mutual || run->graph.backward.targets == run->graph.forward.targets)
		return EMOGI_OK;
	TRY(emogi_papers_list(spread->sweeps, run->graph.backward, spread->paths.frontier, &spread->active, error));
	return sweep<Paths>(spread->sweeps, kernel, NULL, run->graph.backward, spread->paths, error);
}

/* Iterate until no vertex is active. */
static EmogiStatus
iterate(Spread *spread, EmogiError *error)
{
	Run		   *run = spread->sweeps->run;

	run->control->total = run->nvertices;
	for (;;)
	{
		TRY(list_active(spread, error));
		if (spread->active == 0 || spread->made == spread->most)
			return EMOGI_OK;
		run->control->level = (uint32_t) spread->made;
		TRY(offer_all(spread, error));
		spread->made++;
	}
}

/* Run, between start and stop of the clock, up to the values on the device. */
static EmogiStatus
run_timed(Spread *spread, EmogiResult *result, EmogiError *error)
{
	Run		   *run = spread->sweeps->run;
	const Counters *counters;

	TRY(emogi_run_start_clock(run, error));
	TRY(start(spread, error));
	TRY(iterate(spread, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(spread->method.write, run->full_blocks, BLOCK_THREADS, run->state->stream, spread->paths.key, spread->out,
				run->nvertices, run->step.counters);
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	result->nreached = counters->claimed;
	run->control->done = result->nreached;
	return EMOGI_OK;
}

/* Set the bounds that the query gives: of offers, and of iterations for BFS, which has a level each. */
static void
set_bounds(Spread *spread, const EmogiQuery *query)
{
	spread->nsources = query->nsources;
	spread->asynchronous = query->papers.asynchronous &&
		(spread->method.weighted || (spread->method.labels && !spread->method.mutual));
	spread->most = UINT64_MAX;
	spread->paths.bound = offer_bound(query);
	if (query->algorithm == EMOGI_CC || is_hopeless(query))
		spread->nsources = 0;
	if (query->algorithm == EMOGI_BFS && query->max_depth >= 0)
		spread->most = (uint64_t) query->max_depth;
}

/* Run any of the applications up to the values on the device. */
static EmogiStatus
spread_values(Spread *spread, Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned does, unsigned wants,
			  EmogiResult *result, EmogiError *error)
{
	const bool	mutual = graph->backward.offsets == NULL;

	spread->method = choose_method(query, graph->weight_type, mutual);
	if (spread->method.weighted)
		does |= SWEEPS_WEIGHTS;
	TRY(emogi_sweeps_open(spread->sweeps, run, graph, query, does, error));
	set_bounds(spread, query);
	TRY(take_arrays(spread, query->sources, error));
	TRY(emogi_sweeps_place(spread->sweeps, graph, query, wants, error));
	TRY(load_kernels(spread, error));
	TRY(run_timed(spread, result, error));
	result->nlevels = (uint32_t) spread->made + (spread->active > 0);
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_levels(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned does,
					unsigned wants, int32_t **level, EmogiResult *result, EmogiError *error)
{
	EmogiQuery	seen = *query;
	Spread		spread = {};

	seen.algorithm = EMOGI_BFS;
	spread.sweeps = sweeps;
	TRY(spread_values(&spread, run, graph, &seen, does, wants, result, error));
	*level = (int32_t *) spread.out;
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_path(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				  EmogiError *error)
{
	const unsigned wants = query->algorithm == EMOGI_CC ? PLACE_BACKWARD_SURELY : 0;
	Spread		spread = {};

	spread.sweeps = sweeps;
	TRY(spread_values(&spread, run, graph, query, 0, wants, result, error));
	TRY(emogi_sweeps_account(sweeps, result, error));
	return emogi_run_fetch(run, result->columns[0].any, spread.out, run->nvertices * spread.method.out_bytes, error);
}
