/*
 * relax.cu: the path semiring by the papers' mappings, and BFS and CC, which use the same parts.
 *
 * Returns level[nvertices], distance[nvertices] or component[nvertices], bitwise equal to those of
 * the engine's own kernels.
 *
 * Method. Every vertex has a key of 64 bits, smaller keys are better (best_paths.cuh). An iteration
 * relaxes the lists of all active vertices; atomicMin decides, and an improved vertex is active in
 * the next iteration; if there is none, the keys are minimal. That is the loop of [1, section 4],
 * [2, section 3] and [3]: Bellman-Ford for best paths, propagation of the smallest label for CC,
 * levels for BFS. CC relaxes the lists of both orientations. If the graph has forward only, a
 * vertex also takes better keys from its targets, and all vertices are active until nothing
 * changes.
 *
 * Bytes of an iteration, for n vertices: bitmaps n/2, offsets 32 and the own key per active vertex,
 * edges according to the mapping; per edge 8 random ones, and an atomic operation if it improves
 * its target.
 *
 * [1] S. W. Min et al.: EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs.
 *     PVLDB 14(2), 2020.
 * [2] S. Hong et al.: Accelerating CUDA Graph Algorithms at Maximum Warp. PPoPP 2011.
 * [3] P. Wang et al.: Excavating the Potential of GPU for Accelerating Graph Traversal. IPDPS 2019.
 */
#include "cuda/papers/mapping.cuh"
#include "cuda/algorithms/best_paths.cuh"

/* BFS as keys: the minimum number of edges. */
struct Hops : MinKeys
{
	static __device__ __forceinline__ double
	candidate(double value, double weight)
	{
		return value + 1.0;
	}
};

/* CC as keys: the smallest vertex number that reaches the vertex, along edges or against them. */
struct Label : MinKeys
{
	static __device__ __forceinline__ double
	candidate(double value, double weight)
	{
		return value;
	}
};

/* The Work of a path semiring. MUTUAL: an edge's target also offers its value to the source. */
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

	/*
	 * Offer a key to a vertex whose key is at least as good as `known`. Reading the bit first saves
	 * atomic operations.
	 */
	__device__ __forceinline__ void
	take(uint32_t vertex, unsigned long long offer, unsigned long long known) const
	{
		uint32_t   *word = &paths.pending[vertex / 32];
		const uint32_t bit = 1u << vertex % 32;

		if (offer < known && offer < atomicMin(&paths.key[vertex], offer) &&
			(__ldcg(word) & bit) == 0)
			atomicOr(word, bit);
	}

	__device__ __forceinline__ void
	edge(uint32_t vertex, double own, uint32_t target, double weight, double &sum) const
	{
		const unsigned long long known = __ldcg(&paths.key[target]);

		take(target, make_offer<Semiring>(paths, own, weight), known);
		if constexpr (MUTUAL)
			take(vertex, make_offer<Semiring>(paths, Semiring::decode(known), weight),
				 Semiring::encode(own));
	}
};

/* Write a value in the type of the result. */
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

/*
 * Convert keys to values, and count the vertices reached; `out` may be the keys' own array. Bytes:
 * 12 or 16 per vertex.
 */
template <class Semiring, typename Out>
static __global__ void __launch_bounds__(BLOCK_THREADS)
relax_write_kernel(const unsigned long long *key, void *out, uint64_t nvertices, Counters *counters)
{
	unsigned long long reached = 0;

	for_each(nvertices, [&](uint64_t v) {
		const unsigned long long its_key = key[v];

		reached += its_key != KEY_NONE;
		write_value((Out *) out + v, Semiring::decode(its_key));
	});
	block_add(&counters->claimed, reached);
}

/* Set every vertex's label to its own number. Bytes: 8 per vertex. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
relax_start_labels_kernel(unsigned long long *key, uint64_t nvertices)
{
	for_each(nvertices, [&](uint64_t v) {
		key[v] = Label::encode((double) v);
	});
}

/* Properties of an application, a mapping and a weight type. */
typedef struct PathMethod
{
	SweepKernel<Paths> sweep;
	void		(*write) (const unsigned long long *key, void *out, uint64_t nvertices,
					Counters *counters);
	uint32_t	out_bytes;		/* per value */
	bool		weighted;
	bool		mutual;
	/* all vertices are active at first, with labels; otherwise the sources, with source_key */
	bool		labels;
	unsigned long long source_key;
} PathMethod;

template <class Semiring, typename Out, bool MUTUAL>
static PathMethod
make_method(SweepKernel<Paths> sweep, bool weighted, bool labels, double source)
{
	return PathMethod{sweep, relax_write_kernel<Semiring, Out>, sizeof(Out), weighted, MUTUAL,
		labels, Semiring::encode(source)};
}

/* Return the kernel for a mapping and the types of weights and targets. */
template <class Work>
static SweepKernel<Paths>
choose_kernel(EmogiMapping mapping, EmogiWeightType type, bool wide)
{
	return wide ? with_weight(type, [=](auto weight) {
		return choose_wide_mapping<Work, decltype(weight)>(mapping);
	}) : choose_sweep<Work>(mapping, type);
}

/* Return the kernel without weights. */
template <class Work>
static SweepKernel<Paths>
choose_plain(EmogiMapping mapping, bool wide)
{
	return wide ? choose_wide_mapping<Work, NoWeight>(mapping) :
		choose_mapping<Work, NoWeight>(mapping);
}

static PathMethod
choose_method(const EmogiQuery *query, EmogiWeightType type, bool mutual)
{
	const EmogiMapping mapping = query->papers.mapping;
	const bool	wide = query->papers.id_bytes == 8;

	if (query->algorithm == EMOGI_BFS)
		return make_method<Hops, int32_t, false>(choose_plain<Offer<Hops, false>>(mapping, wide),
												 false, false, 0);
	if (query->algorithm == EMOGI_CC && mutual)
		return make_method<Label, uint32_t, true>(choose_plain<Offer<Label, true>>(mapping, wide),
												  false, true, 0);
	if (query->algorithm == EMOGI_CC)
		return make_method<Label, uint32_t, false>(choose_plain<Offer<Label, false>>(mapping, wide),
												   false, true, 0);
	switch (query->algorithm)
	{
#define PATH(NAME, name, column, order, source, traits, candidate) \
		case EMOGI_##NAME: \
			return make_method<PathSemiring<EMOGI_##NAME>, double, false>( \
				choose_kernel<Offer<PathSemiring<EMOGI_##NAME>, false>>(mapping, type, wide), \
				true, false, source);
			EMOGI_ALGORITHMS(EMOGI_LEAVE, PATH, EMOGI_LEAVE)
#undef PATH
	}
	return {};
}

/* A traversal. Device arrays belong to run->memory. */
typedef struct Traversal
{
	Sweeps	   *sweeps;
	PathMethod	method;
	Paths		paths;
	uint32_t   *sources;		/* [nsources] */
	uint64_t	nsources;
	void	   *out;			/* [nvertices], method.out_bytes each */
	uint64_t	max_iterations;
	uint64_t	niterations;
	uint64_t	active;			/* vertices of the next iteration */
	/* STAGED: staged lists are swept again while any of their vertices improves */
	bool		asynchronous;
} Traversal;

/* Allocate the arrays, and copy the sources to the device. */
static EmogiStatus
take_arrays(Traversal *traversal, const uint32_t *sources, EmogiError *error)
{
	Run		   *run = traversal->sweeps->run;
	DeviceMemory *memory = &run->memory;

	traversal->paths.nwords = run->nwords;
	TRY(take_array(memory, &traversal->paths.key, run->nvertices, "keys", error));
	TRY(take_array(memory, &traversal->paths.pending, run->nwords, "bitmap of improved vertices",
				   error));
	TRY(take_array(memory, &traversal->paths.frontier, run->nwords, "bitmap of active vertices",
				   error));
	TRY(take_array(memory, &traversal->sources, traversal->nsources, "sources", error));
	traversal->out = traversal->paths.key;
	if (traversal->method.out_bytes < sizeof *traversal->paths.key)
		TRY(emogi_memory_take(memory, &traversal->out, run->nvertices * traversal->method.out_bytes,
							  "values", error));
	return emogi_run_send(run, traversal->sources, sources, traversal->nsources * sizeof *sources,
						  error);
}

/* Initialize the keys of the vertices, and mark the active ones. */
static EmogiStatus
start(Traversal *traversal, EmogiError *error)
{
	Run		   *run = traversal->sweeps->run;
	cudaStream_t stream = run->state->stream;
	const Paths *paths = &traversal->paths;

	if (traversal->method.labels)
	{
		CUDA_LAUNCH(relax_start_labels_kernel, run->full_blocks, BLOCK_THREADS, stream, paths->key,
					run->nvertices);
		return emogi_papers_mark_all(traversal->sweeps, paths->pending, error);
	}
	CUDA_TRY(cudaMemsetAsync(paths->pending, 0, run->nwords * sizeof *paths->pending, stream));
	CUDA_LAUNCH(push_mark_sources_kernel, run->full_blocks, BLOCK_THREADS, stream,
				traversal->sources, traversal->nsources, paths->pending);
	CUDA_LAUNCH(best_paths_start_kernel, run->full_blocks, BLOCK_THREADS, stream, *paths,
				run->nvertices, traversal->method.source_key);
	return EMOGI_OK;
}

/* List the active vertices with their forward lists: those that improved. */
static EmogiStatus
list_active(Traversal *traversal, EmogiError *error)
{
	Run		   *run = traversal->sweeps->run;
	Paths	   *paths = &traversal->paths;
	uint32_t   *improved = paths->pending;

	paths->pending = paths->frontier;
	paths->frontier = improved;
	CUDA_TRY(cudaMemsetAsync(paths->pending, 0, run->nwords * sizeof *paths->pending,
							 run->state->stream));
	TRY(emogi_papers_list(traversal->sweeps, run->graph.forward, paths->frontier,
						  &traversal->active, error));
	if (!traversal->method.mutual || traversal->active == 0 || traversal->active == run->nvertices)
		return EMOGI_OK;
	TRY(emogi_papers_mark_all(traversal->sweeps, paths->frontier, error));
	return emogi_papers_list(traversal->sweeps, run->graph.forward, paths->frontier,
							 &traversal->active, error);
}

/* Relax the lists of the active vertices: forward lists, and for CC also backward lists. */
static EmogiStatus
offer_all(Traversal *traversal, EmogiError *error)
{
	Run		   *run = traversal->sweeps->run;
	SweepKernel<Paths> kernel = traversal->method.sweep;

	traversal->sweeps->pending = traversal->asynchronous ? traversal->paths.pending : NULL;
	TRY(sweep<Paths>(traversal->sweeps, kernel, NULL, run->graph.forward, traversal->paths, error));
	/* a vertex improved along backward lists must be swept along forward lists too */
	traversal->sweeps->pending = NULL;
	if (!traversal->method.labels || traversal->method.mutual ||
		run->graph.backward.targets == run->graph.forward.targets)
		return EMOGI_OK;
	TRY(emogi_papers_list(traversal->sweeps, run->graph.backward, traversal->paths.frontier,
						  &traversal->active, error));
	return sweep<Paths>(traversal->sweeps, kernel, NULL, run->graph.backward, traversal->paths,
						error);
}

/* Iterate until no vertex is active. */
static EmogiStatus
iterate(Traversal *traversal, EmogiError *error)
{
	Run		   *run = traversal->sweeps->run;

	run->control->total = run->nvertices;
	for (;;)
	{
		TRY(list_active(traversal, error));
		if (traversal->active == 0 || traversal->niterations == traversal->max_iterations)
			return EMOGI_OK;
		run->control->level = (uint32_t) traversal->niterations;
		TRY(offer_all(traversal, error));
		traversal->niterations++;
	}
}

/* Run, between start and stop of the clock, until the values are on the device. */
static EmogiStatus
run_timed(Traversal *traversal, EmogiResult *result, EmogiError *error)
{
	Run		   *run = traversal->sweeps->run;
	const Counters *counters;

	TRY(emogi_run_start_clock(run, error));
	TRY(start(traversal, error));
	TRY(iterate(traversal, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(traversal->method.write, run->full_blocks, BLOCK_THREADS, run->state->stream,
				traversal->paths.key, traversal->out, run->nvertices, run->step.counters);
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_read(run, &counters, error));
	result->nreached = counters->claimed;
	run->control->done = result->nreached;
	return EMOGI_OK;
}

/* Set the query's bounds: of keys, and for BFS of iterations, one per level. */
static void
set_bounds(Traversal *traversal, const EmogiQuery *query)
{
	traversal->nsources = query->nsources;
	traversal->asynchronous = query->papers.asynchronous &&
		(traversal->method.weighted || (traversal->method.labels && !traversal->method.mutual));
	traversal->max_iterations = UINT64_MAX;
	traversal->paths.bound = offer_bound(query);
	if (query->algorithm == EMOGI_CC || is_hopeless(query))
		traversal->nsources = 0;
	if (query->algorithm == EMOGI_BFS && query->max_depth >= 0)
		traversal->max_iterations = (uint64_t) query->max_depth;
}

/* Run any of the applications until the values are on the device. */
static EmogiStatus
traverse(Traversal *traversal, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
		 unsigned does, unsigned wants, EmogiResult *result, EmogiError *error)
{
	const bool	mutual = graph->backward.offsets == NULL;

	traversal->method = choose_method(query, graph->weight_type, mutual);
	if (traversal->method.weighted)
		does |= SWEEPS_WEIGHTS;
	TRY(emogi_sweeps_open(traversal->sweeps, run, graph, query, does, error));
	set_bounds(traversal, query);
	TRY(take_arrays(traversal, query->sources, error));
	TRY(emogi_sweeps_place(traversal->sweeps, graph, query, wants, error));
	TRY(emogi_sweeps_fit(traversal->sweeps, (const void *) traversal->method.sweep, error));
	TRY(run_timed(traversal, result, error));
	result->nlevels = (uint32_t) traversal->niterations + (traversal->active > 0);
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_levels(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					unsigned does, unsigned wants, int32_t **level, EmogiResult *result,
					EmogiError *error)
{
	EmogiQuery	seen = *query;
	Traversal	traversal = {};

	seen.algorithm = EMOGI_BFS;
	traversal.sweeps = sweeps;
	TRY(traverse(&traversal, run, graph, &seen, does, wants, result, error));
	*level = (int32_t *) traversal.out;
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_path(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
				  EmogiResult *result, EmogiError *error)
{
	const unsigned wants = query->algorithm == EMOGI_CC ? PLACE_BACKWARD_REQUIRED : 0;
	Traversal	traversal = {};

	traversal.sweeps = sweeps;
	TRY(traverse(&traversal, run, graph, query, 0, wants, result, error));
	TRY(emogi_sweeps_account(sweeps, result, error));
	return emogi_run_fetch(run, result->columns[0].any, traversal.out,
						   run->nvertices * traversal.method.out_bytes, error);
}
