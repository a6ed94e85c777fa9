/*
 * shards_sum.cu: the sum semiring on shards: PAGERANK and the applications of the table, HEAT,
 * CIRCUIT, NEURAL, and the counts of SSNSP.
 *
 * Returns value, or level and paths [nvertices], like the engine's own kernels: the same bits in
 * two runs, values within 1e-9 of the largest, counts exact to 2^53.
 *
 * Method. An iteration has two kernels: the first gathers, each shard in shared memory, and sets
 * the vertices' new values; the second writes the values of changed shards into the entries. So an
 * iteration reads values of the previous one (Jacobi), whereas in [1] shards may see newer ones.
 * Atomic additions happen in any order, so sums are integers of 96 bits (shards_fixed.cuh). The
 * unit of a vertex's sum is derived from the largest weight of the edges that end in it, computed
 * beforehand, and the largest value of all, computed in the previous iteration: the truncation of a
 * contribution is below 2^-70 of their product, unless a shard has more than 16 million entries.
 *   CIRCUIT  and every application with fixed vertices: the same kernel sums the weights first
 *   SSNSP    levels first (shards_path.cu), then one iteration per level, in which only the level's
 *            vertices sum: of the entries that end in them, those from the level above have a count
 *            by then, and all others 0. The unit is 1, or that of their own largest contribution,
 *            which requires reading the entries once more.
 *
 * Bytes of an iteration, for n vertices and m entries: 12m and the weights; to write back 12m, and
 * 4m or 8m of positions for WINDOWS; some 40n. A level of SSNSP: 8m, and 16 for each entry that
 * ends in it.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 * GPUs. HPDC 2014.
 */
#include "cuda/papers/shards_sum.cuh"

static_assert(sizeof(Totals) <= EMOGI_MAILBOX_BYTES, "totals must fit the mailbox");

typedef void (*SumKernel) (Shards shards, Field field, Sums sums, Step step);

typedef void (*MeasureKernel) (Shards shards, int *reach, Step step);

/* A kernel and its launch configuration. */
typedef struct SumSweep
{
	SumKernel	kernel;
	uint32_t	(*bytes) (uint32_t width);	/* of shared memory */
	ShardGrid	grid;			/* set by size_grids */
} SumSweep;

/* Properties of an application and a weight type. */
typedef struct SumMethod
{
	SumSweep	gather;
	SumSweep	weigh;			/* with EMOGI_SUM_DIRICHLET */
	MeasureKernel measure;		/* exponent of the largest weight; NULL without weights */
	void		(*reduce) (Field field, uint32_t nparts);
	bool		own;			/* contributions are of differences: twice the largest value */
} SumMethod;

/* A run. Device arrays belong to run->memory. */
typedef struct Sum
{
	Run		   *run;
	SumMethod	method;
	Shards		shards;
	ShardGrid	write_grid;
	ShardGrid	measure_grid;
	Field		field;
	Sums		sums;
	Totals	   *totals;
	int		   *weight_reach;	/* writable alias of sums.weight_reach */
} Sum;

template <class Application, typename Weight>
static SumSweep
make_sweep(void)
{
	return SumSweep{shards_gather_kernel<Application, Weight>, sum_bytes<Application, Weight>,
		ShardGrid{}};
}

template <class Application>
static SumSweep
choose_weight(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		return make_sweep<Application, decltype(weight)>();
	});
}

static MeasureKernel
choose_measure(EmogiWeightType type)
{
	if (type == EMOGI_WEIGHT_NONE)
		return NULL;
	return with_weight(type, [](auto weight) {
		return (MeasureKernel) shards_measure_kernel<decltype(weight)>;
	});
}

template <class Application>
static SumMethod
make_method(EmogiWeightType type)
{
	return SumMethod{choose_weight<Application>(type),
		Application::FIXES ? choose_weight<Weigh>(type) : SumSweep{}, choose_measure(type),
		gather_reduce_kernel<Application::L1>, Application::Term::OWN};
}

static SumMethod
choose_method(EmogiAlgorithm algorithm, EmogiWeightType type)
{
	const SumSweep nothing = {};

	if (algorithm == EMOGI_SSNSP)
		return SumMethod{make_sweep<Count, NoWeight>(), nothing, NULL, NULL, false};
	if (emogi_algorithm_has(algorithm, EMOGI_DAMPED))
		return SumMethod{make_sweep<PageRank, NoWeight>(), nothing, NULL,
			gather_reduce_kernel<PageRank::L1>, false};
	switch (algorithm)
	{
#define SUM(NAME, ...) \
		case EMOGI_##NAME: \
			return make_method<FromTable<EMOGI_##NAME>>(type);
			EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
#undef SUM
	}
	return SumMethod{};
}

/* Choose the grid of a sweep. */
static EmogiStatus
size_sweep(const Sum *sum, SumSweep *sweep, EmogiError *error)
{
	return emogi_shards_fit(sum->run, &sum->shards, (const void *) sweep->kernel,
							sweep->bytes(sum->shards.shape.width), &sweep->grid, error);
}

/* Choose the grids of the kernels. */
static EmogiStatus
size_grids(Sum *sum, EmogiError *error)
{
	const uint32_t width = sum->shards.shape.width;

	TRY(emogi_shards_fit_write(sum->run, &sum->shards, &sum->write_grid, error));
	TRY(size_sweep(sum, &sum->method.gather, error));
	if (sum->method.weigh.kernel != NULL)
		TRY(size_sweep(sum, &sum->method.weigh, error));
	if (sum->method.measure == NULL)
		return EMOGI_OK;
	return emogi_shards_fit(sum->run, &sum->shards, (const void *) sum->method.measure,
							width * (uint32_t) sizeof(int), &sum->measure_grid, error);
}

/* Gather over all shards. */
static EmogiStatus
gather_all(Sum *sum, const SumSweep &sweep, EmogiError *error)
{
	Run		   *run = sum->run;

	CUDA_TRY(cudaMemsetAsync(sum->sums.peak, 0, sizeof *sum->sums.peak, run->state->stream));
	TRY(emogi_run_begin_step(run, error));
	SHARD_LAUNCH(sweep.kernel, sweep.grid, run->state->stream, sum->shards, sum->field, sum->sums,
				 run->step);
	return EMOGI_OK;
}

/* Write changed values into the entries. */
static EmogiStatus
write_all(Sum *sum, EmogiError *error)
{
	return emogi_shards_write(sum->run, &sum->shards, &sum->write_grid, sum->field.source,
							  sum->sums.changed, error);
}

/* Allocate all device memory except the structure and the arrays sized by shards. */
static EmogiStatus
take_arrays(Sum *sum, const EmogiQuery *query, EmogiError *error)
{
	DeviceMemory *memory = &sum->run->memory;
	const uint32_t traits = emogi_sum_traits(query->algorithm);
	Field	   *field = &sum->field;
	const uint64_t nvertices = sum->run->nvertices;
	uint32_t   *filled;

	field->nvertices = nvertices;
	field->damping = query->damping;
	TRY(take_array(memory, &field->source, nvertices, "values", error));
	TRY(take_array(memory, &sum->totals, 1, "outcome", error));
	field->outcome = &sum->totals->outcome;
	sum->sums.peak = &sum->totals->peak;
	if (emogi_algorithm_has(query->algorithm, EMOGI_DAMPED))
		TRY(take_array(memory, &field->degrees.counted, nvertices, "degrees", error));
	else
		field->value = field->source;
	if (traits & EMOGI_SUM_DIRICHLET)
		TRY(take_array(memory, &field->conductance, nvertices, "conductances", error));
	if (traits & EMOGI_SUM_KEEPS_ISOLATED)
	{
		TRY(take_array(memory, &filled, sum->run->nwords, "bitmap of vertices with edges", error));
		sum->sums.filled = filled;
	}
	if (sum->method.measure != NULL)
	{
		TRY(take_array(memory, &sum->weight_reach, nvertices, "reach of weights", error));
		sum->sums.weight_reach = sum->weight_reach;
	}
	return EMOGI_OK;
}

/* Build the shards, and allocate the arrays sized by them. */
static EmogiStatus
open_shards(Sum *sum, const EmogiGraph *graph, const EmogiQuery *query, const ShardWants *wants,
			EmogiResult *result, EmogiError *error)
{
	Run		   *run = sum->run;
	uint64_t	nparts;

	TRY(emogi_shards_build(run, graph, query, wants, &sum->shards, &result->link_bytes, error));
	nparts = sum->shards.shape.nshards > (uint32_t) run->full_blocks ? sum->shards.shape.nshards :
		run->full_blocks;
	TRY(take_array(&run->memory, &sum->sums.changed, sum->shards.shape.nshards, "marks of shards",
				   error));
	return take_array(&run->memory, &sum->field.part, nparts, "outcome of shards", error);
}

/* Reduce the parts of an iteration. */
static EmogiStatus
reduce_parts(Sum *sum, uint32_t nparts, EmogiError *error)
{
	CUDA_LAUNCH(sum->method.reduce, 1, BLOCK_THREADS, sum->run->state->stream, sum->field, nparts);
	return EMOGI_OK;
}

/*
 * Wait for the totals of an iteration, and derive the reach of the next contributions from the
 * largest value.
 */
static EmogiStatus
read_totals(Sum *sum, Outcome *outcome, EmogiError *error)
{
	Run		   *run = sum->run;
	Totals		totals;
	double		peak;

	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, sum->totals, sizeof totals,
							 cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	memcpy(&totals, run->state->mailbox, sizeof totals);
	memcpy(&peak, &totals.peak, sizeof peak);
	sum->sums.reach = reach_of(peak) + (sum->method.own ? 1 : 0);
	*outcome = totals.outcome;
	return EMOGI_OK;
}

/* Compute the reach of the weights, which depends on the graph alone. */
static EmogiStatus
measure(Sum *sum, EmogiError *error)
{
	Run		   *run = sum->run;

	TRY(emogi_run_begin_step(run, error));
	SHARD_LAUNCH(sum->method.measure, sum->measure_grid, run->state->stream, sum->shards,
				 sum->weight_reach, run->step);
	return EMOGI_OK;
}

/* Prepare the first iteration. */
static EmogiStatus
start_values(Sum *sum, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	auto	   *const start_ranks = gather_finish_kernel<PageRank, true>;
	Run		   *run = sum->run;
	cudaStream_t stream = run->state->stream;
	Outcome		outcome;

	CUDA_TRY(cudaMemsetAsync(sum->totals, 0, sizeof *sum->totals, stream));
	if (emogi_algorithm_has(query->algorithm, EMOGI_DAMPED))
	{
		CUDA_LAUNCH(start_ranks, run->full_blocks, BLOCK_THREADS, stream, sum->field);
		TRY(reduce_parts(sum, (uint32_t) run->full_blocks, error));
	}
	if (sum->method.measure != NULL)
		TRY(measure(sum, error));
	if (emogi_sum_traits(query->algorithm) & EMOGI_SUM_DIRICHLET)
	{
		sum->sums.reach = 0;
		TRY(gather_all(sum, sum->method.weigh, error));
		result->edges_traversed += sum->shards.shape.nentries;
	}
	CUDA_LAUNCH(shards_find_peak_kernel, run->full_blocks, BLOCK_THREADS, stream, sum->field.source,
				run->nvertices, sum->sums.peak);
	CUDA_TRY(cudaMemsetAsync(sum->sums.changed, 0xFF,
							 sum->shards.shape.nshards * sizeof *sum->sums.changed, stream));
	return read_totals(sum, &outcome, error);
}

/* Iterate until the change is small. */
static EmogiStatus
iterate(Sum *sum, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Run		   *run = sum->run;

	run->control->total = (uint64_t) query->max_iterations * run->nvertices;
	for (int64_t i = 0; i < query->max_iterations; i++)
	{
		Outcome		outcome;

		run->control->level = (uint32_t) i;
		run->control->done = (uint64_t) i * run->nvertices;
		if (run->control->cancel)
			return EMOGI_CANCELED;
		TRY(write_all(sum, error));
		TRY(gather_all(sum, sum->method.gather, error));
		TRY(reduce_parts(sum, sum->shards.shape.nshards, error));
		TRY(read_totals(sum, &outcome, error));
		result->nlevels = (uint32_t) (i + 1);
		result->change = outcome.change;
		result->edges_traversed += sum->shards.shape.nentries;
		if (result->change < query->tolerance)
			break;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_shards_sum(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				 EmogiError *error)
{
	const bool	ranks = emogi_algorithm_has(query->algorithm, EMOGI_DAMPED);
	ShardWants	wants = {sizeof(double), 0, !ranks, true, false, NULL, NULL};
	Sum			sum = {};

	sum.run = run;
	sum.method = choose_method(query->algorithm, graph->weight_type);
	TRY(take_arrays(&sum, query, error));
	if (!ranks)
		TRY(emogi_run_send(run, sum.field.value, query->values,
						   run->nvertices * sizeof *query->values, error));
	wants.vertex_bytes = (sum.method.gather.bytes(SHARD_UNIT) + SHARD_UNIT - 1) / SHARD_UNIT;
	wants.degree = sum.field.degrees.counted;
	wants.filled = const_cast<uint32_t *>(sum.sums.filled);
	TRY(open_shards(&sum, graph, query, &wants, result, error));
	TRY(size_grids(&sum, error));

	TRY(emogi_run_start_clock(run, error));
	TRY(start_values(&sum, query, result, error));
	TRY(iterate(&sum, query, result, error));
	/* gather_collect_ranks_kernel converts each to its rank, in place */
	sum.field.sum = sum.field.source;
	if (ranks)
		CUDA_LAUNCH(gather_collect_ranks_kernel, run->full_blocks, BLOCK_THREADS,
					run->state->stream, sum.field);
	TRY(emogi_run_stop_clock(run, result, error));
	result->nreached = run->nvertices;
	return emogi_run_fetch(run, result->columns[0].float64, sum.field.source,
						   run->nvertices * sizeof(double), error);
}

/* Count the paths, level by level. */
static EmogiStatus
count_levels(Sum *sum, const uint32_t *level, EmogiResult *result, EmogiError *error)
{
	Run		   *run = sum->run;
	cudaStream_t stream = run->state->stream;
	const EmogiShardShape *shape = &sum->shards.shape;

	CUDA_TRY(cudaMemsetAsync(sum->shards.value, 0, shape->nentries * sizeof(double), stream));
	CUDA_TRY(cudaMemsetAsync(sum->sums.changed, 0, shape->nshards * sizeof *sum->sums.changed,
							 stream));
	CUDA_LAUNCH(shards_start_counts_kernel, run->full_blocks, BLOCK_THREADS, stream, level,
				run->nvertices, sum->field.value, shape->width, sum->sums.changed);
	sum->sums.level = level;
	for (uint32_t depth = 1; depth < result->nlevels; depth++)
	{
		run->control->level = depth;
		sum->sums.depth = depth;
		TRY(write_all(sum, error));
		TRY(gather_all(sum, sum->method.gather, error));
		result->edges_traversed += shape->nentries;
		if (depth % LEVELS_AHEAD == 0)
			TRY(emogi_cuda_wait(run->state, run->control, error));
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_shards_ssnsp(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				   EmogiError *error)
{
	ShardWants	wants = {sizeof(double), 0, false, false, false, NULL, NULL};
	Sum			sum = {};
	ShardPaths	paths = {};
	uint32_t   *level;
	uint32_t   *sources;

	sum.run = run;
	sum.method = choose_method(EMOGI_SSNSP, EMOGI_WEIGHT_NONE);
	TRY(take_arrays(&sum, query, error));
	TRY(take_array(&run->memory, &level, run->nvertices, "levels", error));
	TRY(take_array(&run->memory, &sources, query->nsources, "sources", error));
	TRY(emogi_run_send(run, sources, query->sources, query->nsources * sizeof *sources, error));
	wants.vertex_bytes = (sum.method.gather.bytes(SHARD_UNIT) + SHARD_UNIT - 1) / SHARD_UNIT;
	TRY(open_shards(&sum, graph, query, &wants, result, error));
	TRY(size_grids(&sum, error));
	paths = ShardPaths{run, sum.shards, NULL, {}, {}, sources, query->nsources, level,
		sum.sums.changed, emogi_shards_depth(query)};
	paths.shards.shape.value_bytes = sizeof *level;
	TRY(emogi_shards_open_paths(&paths, EMOGI_BFS, EMOGI_WEIGHT_NONE, error));

	run->control->done = 0;
	run->control->total = run->nvertices;
	TRY(emogi_run_start_clock(run, error));
	TRY(emogi_shards_levels(&paths, result, error));
	TRY(count_levels(&sum, level, result, error));
	TRY(emogi_run_stop_clock(run, result, error));
	run->control->done = result->nreached;
	TRY(emogi_run_fetch(run, result->columns[0].int32, level, run->nvertices * sizeof *level,
						error));
	return emogi_run_fetch(run, result->columns[1].float64, sum.field.value,
						   run->nvertices * sizeof(double), error);
}
