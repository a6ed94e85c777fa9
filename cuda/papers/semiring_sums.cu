/*
 * semiring_sums.cu: the sum semiring by the papers' mappings: PAGERANK and the applications of the
 * table: HEAT, CIRCUIT, NEURAL.
 *
 * Returns value[nvertices] after the last iteration, like the engine's own kernels, except for
 * rounding: the order of the additions within a list is the mapping's.
 *
 * Method. An iteration pulls: all vertices sum over their lists, which the mapping reads, and then
 * get their new values ([1], Table 3). No sum depends on the order of the work. The applications
 * are those of semiring_sum.cuh.
 *
 * Bytes of an iteration, for n vertices and m edges: edges according to the mapping; 8m random
 * ones; some 60n.
 *
 * To add an application, add a row to choose_method, and its Application to semiring_sum.cuh.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 * GPUs. HPDC 2014.
 */
#include "cuda/algorithms/gather_finish.cuh"
#include "cuda/papers/mapping.cuh"

/* The Work of a term of the sum semiring. */
template <class Term>
struct Summing
{
	typedef Field State;
	typedef double Own;
	static constexpr bool SUMS = true;

	Field		field;

	__device__ __forceinline__ double
	own(uint32_t vertex) const
	{
		return Term::OWN ? field.value[vertex] : 0;
	}

	__device__ __forceinline__ void
	edge(uint32_t vertex, double own, uint32_t target, double weight, double &sum) const
	{
		sum += Term::contribution(__ldg(&field.source[target]), own, weight);
	}

	__device__ __forceinline__ void
	done(uint32_t vertex, double sum) const
	{
		field.sum[vertex] = sum;
	}
};

/*
 * Count how often each vertex is a target of these entries. Bytes: 4 per entry, and an atomic
 * operation.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
sums_count_targets_kernel(Lists<Target> lists, Span entries, unsigned long long *degree, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	const uint64_t own = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x;

	for (uint64_t e = entries.start + own; e < entries.end; e += nthreads)
	{
		if (must_leave(step))
			break;
		atomicAdd(&degree[__ldg(&lists.targets[e])], 1ull);
	}
}

/*
 * Use the sums as conductances; a vertex with a start value is fixed instead, one without starts
 * from 0. Bytes: 24 per vertex, 16 of offsets.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
sums_start_free_kernel(const uint64_t *offsets, Field field)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < field.nvertices;
		 v += nthreads)
	{
		const bool	fixed = field.value[v] == field.value[v];

		field.conductance[v] = fixed ? (double) NAN : offsets[v] < offsets[v + 1] ? field.sum[v] :
			0;
		if (!fixed)
			field.value[v] = 0;
	}
}

/*
 * Set the new value of every vertex, or 1/n if START. Bytes: 40 per vertex; PAGERANK 16 of degrees
 * more; CIRCUIT 8 of conductances.
 */
template <class Application, bool START>
static __global__ void __launch_bounds__(BLOCK_THREADS)
sums_finish_kernel(const uint64_t *offsets, Field field)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;
	Outcome		outcome = {0, 0};

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v < field.nvertices;
		 v += nthreads)
	{
		const uint64_t degree = Application::degree(field, v);
		double		value = 1.0 / (double) field.nvertices;

		if (!START)
		{
			const bool	filled = offsets[v] < offsets[v + 1];
			const double old = Application::load(field, v, degree);

			value = Application::finish(field, v, old, filled ? field.sum[v] : 0, filled);
			outcome.change = join_changes<Application::L1>(outcome.change, change_of(old, value));
		}
		outcome.dangling += Application::store(field, v, degree, value);
	}
	outcome = block_outcome<Application::L1>(outcome);
	if (threadIdx.x == 0)
		field.part[blockIdx.x] = outcome;
}

/* Properties of an application, a mapping and a weight type. */
typedef struct SumMethod
{
	SweepKernel<Field> sum;
	AddKernel<Field> add;
	/* sums the weights only; NULL = not needed (all but EMOGI_SUM_DIRICHLET) */
	SweepKernel<Field> weigh;
	/* sets the initial values; NULL = not needed */
	void		(*start) (const uint64_t *offsets, Field field);
	void		(*finish) (const uint64_t *offsets, Field field);
	void		(*reduce) (Field field, uint32_t nparts);
	bool		weighted;
} SumMethod;

template <class Application>
static SumMethod
make_method(SweepKernel<Field> sum, bool weighted)
{
	return SumMethod{sum, mapping_add_parts_kernel<Summing<typename Application::Term>>, NULL, NULL,
		sums_finish_kernel<Application, false>, gather_reduce_kernel<Application::L1>, weighted};
}

template <class Application>
static SumMethod
make_weighted_method(EmogiMapping mapping, EmogiWeightType type)
{
	SumMethod	method =
		make_method<Application>(choose_sweep<Summing<typename Application::Term>>(mapping, type),
								 true);

	if (Application::FIXES)
		method.weigh = choose_sweep<Summing<WeightTerm>>(mapping, type);
	return method;
}

static SumMethod
choose_method(EmogiAlgorithm algorithm, EmogiMapping mapping, EmogiWeightType type)
{
	SumMethod	method;

	if (emogi_algorithm_has(algorithm, EMOGI_DAMPED))
	{
		method = make_method<PageRank>(choose_mapping<Summing<PageRank::Term>, NoWeight>(mapping),
									   false);
		method.start = sums_finish_kernel<PageRank, true>;
		return method;
	}
	switch (algorithm)
	{
#define SUM(NAME, ...) \
		case EMOGI_##NAME: \
			return make_weighted_method<FromTable<EMOGI_##NAME>>(mapping, type);
			EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
#undef SUM
	}
	return SumMethod{};
}

/* A run. Device arrays belong to run->memory. */
typedef struct Iteration
{
	Sweeps	   *sweeps;
	SumMethod	method;
	Field		field;
	uint32_t   *all;			/* bitmap [nwords] of all vertices */
} Iteration;

/* Allocate all device memory except the graph's. */
static EmogiStatus
take_arrays(Iteration *iteration, const EmogiGraph *graph, const EmogiQuery *query,
			EmogiError *error)
{
	Run		   *run = iteration->sweeps->run;
	DeviceMemory *memory = &run->memory;
	Field	   *field = &iteration->field;
	const uint64_t nvertices = graph->nvertices;

	field->nvertices = nvertices;
	field->damping = query->damping;
	TRY(take_array(memory, &iteration->all, run->nwords, "bitmap of vertices", error));
	TRY(take_array(memory, &field->source, nvertices, "values", error));
	TRY(take_array(memory, &field->sum, nvertices, "sums", error));
	TRY(take_array(memory, &field->outcome, 1, "outcome", error));
	TRY(take_array(memory, &field->part, run->full_blocks, "outcome of blocks", error));
	if (emogi_sum_traits(query->algorithm) & EMOGI_SUM_DIRICHLET)
		TRY(take_array(memory, &field->conductance, nvertices, "conductances", error));
	if (emogi_algorithm_has(query->algorithm, EMOGI_DAMPED))
		return graph->backward.offsets != NULL ? EMOGI_OK :
			take_array(memory, &field->degrees.counted, nvertices, "degrees", error);
	field->value = field->source;
	return emogi_run_send(run, field->value, query->values, nvertices * sizeof *query->values,
						  error);
}

/* Set the vertices' new or initial values, and reduce the outcomes of the blocks. */
static EmogiStatus
give_values(Iteration *iteration, void (*kernel) (const uint64_t *, Field), EmogiError *error)
{
	Run		   *run = iteration->sweeps->run;
	cudaStream_t stream = run->state->stream;

	CUDA_LAUNCH(kernel, run->full_blocks, BLOCK_THREADS, stream, run->graph.forward.offsets,
				iteration->field);
	CUDA_LAUNCH(iteration->method.reduce, 1, BLOCK_THREADS, stream, iteration->field,
				(uint32_t) run->full_blocks);
	return EMOGI_OK;
}

/* Count outgoing edges, from forward only. */
static EmogiStatus
count_degrees(Iteration *iteration, EmogiError *error)
{
	Sweeps	   *sweeps = iteration->sweeps;
	Run		   *run = sweeps->run;
	unsigned long long *degree = iteration->field.degrees.counted;
	cudaStream_t stream = run->state->stream;
	const Lists<Target> &lists = run->graph.forward;

	CUDA_TRY(cudaMemsetAsync(degree, 0, run->nvertices * sizeof *degree, stream));
	if (sweeps->staged != NULL)
		return sweep_parts(sweeps, lists, true,
						   [&](const Lists<Target> &there, const Items &items) -> EmogiStatus {
			CUDA_LAUNCH(sums_count_targets_kernel, run->full_blocks, BLOCK_THREADS, stream, there,
						items.window, degree, run->step);
			return EMOGI_OK;
		}, error);
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(sums_count_targets_kernel, run->full_blocks, BLOCK_THREADS, stream, lists,
				Span{0, lists.nedges}, degree, run->step);
	sweeps->edges += lists.nedges;
	sweeps->lines += (lists.nedges + ENTRIES - 1) / ENTRIES;
	return EMOGI_OK;
}

/*
 * PAGERANK: compute out-degrees, and the initial values in the form in which they are contributed.
 */
static EmogiStatus
start_pagerank(Iteration *iteration, EmogiError *error)
{
	Field	   *field = &iteration->field;

	field->degrees.out = iteration->sweeps->run->graph.backward.offsets;
	if (field->degrees.out == NULL)
		TRY(count_degrees(iteration, error));
	return give_values(iteration, iteration->method.start, error);
}

/* Prepare the first iteration. */
static EmogiStatus
start(Iteration *iteration, EmogiError *error)
{
	Sweeps	   *sweeps = iteration->sweeps;
	Run		   *run = sweeps->run;
	const SumMethod *method = &iteration->method;
	const Lists<Target> &lists = run->graph.forward;

	TRY(emogi_papers_list_all(sweeps, lists, iteration->all, error));
	if (method->start != NULL)
		return start_pagerank(iteration, error);
	if (method->weigh != NULL)
	{
		TRY(sweep(sweeps, method->weigh, method->add, lists, iteration->field, error));
		CUDA_LAUNCH(sums_start_free_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					lists.offsets, iteration->field);
	}
	return EMOGI_OK;
}

/*
 * Iterate until the change is small. Get the number of iterations, and the change of the last one.
 */
static EmogiStatus
iterate(Iteration *iteration, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Sweeps	   *sweeps = iteration->sweeps;
	Run		   *run = sweeps->run;
	const SumMethod *method = &iteration->method;
	const Outcome *outcome = (const Outcome *) run->state->mailbox;

	run->control->total = (uint64_t) query->max_iterations * run->nvertices;
	for (int64_t i = 0; i < query->max_iterations; i++)
	{
		run->control->level = (uint32_t) i;
		run->control->done = (uint64_t) i * run->nvertices;
		TRY(sweep(sweeps, method->sum, method->add, run->graph.forward, iteration->field, error));
		TRY(give_values(iteration, method->finish, error));
		CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, iteration->field.outcome, sizeof *outcome,
								 cudaMemcpyDeviceToHost, run->state->stream));
		TRY(emogi_cuda_wait(run->state, run->control, error));
		result->nlevels = (uint32_t) (i + 1);
		result->change = outcome->change;
		if (result->change < query->tolerance)
			break;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_sum(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiResult *result, EmogiError *error)
{
	Iteration	iteration = {};
	const bool	ranks = emogi_algorithm_has(query->algorithm, EMOGI_DAMPED);
	unsigned	does = SWEEPS_SUMS | SWEEPS_ALL;

	iteration.sweeps = sweeps;
	iteration.method = choose_method(query->algorithm, query->papers.mapping, graph->weight_type);
	if (iteration.method.weighted)
		does |= SWEEPS_WEIGHTS;
	TRY(emogi_sweeps_open(sweeps, run, graph, query, does, error));
	TRY(take_arrays(&iteration, graph, query, error));
	TRY(emogi_sweeps_place(sweeps, graph, query, ranks ? PLACE_BACKWARD_OFFSETS : 0, error));
	TRY(emogi_sweeps_fit(iteration.sweeps, (const void *) iteration.method.sum, error));

	TRY(emogi_run_start_clock(run, error));
	TRY(start(&iteration, error));
	TRY(iterate(&iteration, query, result, error));
	if (ranks)
		CUDA_LAUNCH(gather_collect_ranks_kernel, run->full_blocks, BLOCK_THREADS,
					run->state->stream, iteration.field);
	TRY(emogi_run_stop_clock(run, result, error));

	TRY(emogi_sweeps_account(sweeps, result, error));
	result->nreached = run->nvertices;
	return emogi_run_fetch(run, result->columns[0].float64, ranks ? iteration.field.sum :
						   iteration.field.value, run->nvertices * sizeof(double), error);
}
