/*
 * semiring_sum.cu: sum semirings: PAGERANK, and HEAT, CIRCUIT and NEURAL from the table in
 * algorithms.h.
 *
 * Returns value[nvertices] after the last iteration.
 *
 * Method. Every iteration reads all lists in chunks of 64 lines, across list boundaries
 * (edge_chunks.cuh). A lane adds its own entries, and a warp combines the lanes that share a list.
 * The partial sums of a list, one in the chunk where it begins and one in each later chunk, are
 * stored separately and added in order. So no sum needs an atomic, and the order of additions
 * depends only on the graph: two runs give the same bits, wherever the edges were read from, except
 * for sums of doubles over lists cut into segments. The change of an iteration and PageRank's
 * dangling mass are reduced in a fixed order, too.
 *
 * Unweighted PAGERANK adds integers, whose sums equal those of every other method and engine
 * (contract/rank_units.h; pagerank_update.cuh). With weights, or if integers are too coarse, it
 * adds doubles.
 *
 * Where the edges are read:
 *   device memory    PAGERANK uses propagation blocking, whose only random accesses are in shared
 *                    memory (propagation_blocking.cuh), or reads targets that are relabeled or cut
 *                    into segments if that improves cache hits (cache_blocking.cuh)
 *   host and hybrid  if there is room for buffers, the copy engine transfers the edges, except the
 *                    pieces that stay in device memory (copy_pipeline.cuh); otherwise they are
 *                    read in place. Other GPUs may help (shared_step.cuh): each reads a share of
 *                    the pieces over its own link, with a copy of `source`, and writes sums and
 *                    carries to the leader's arrays. Each of these belongs to one chunk, so the
 *                    bits are the same.
 *   peer             each GPU reads the pieces in its own memory (semiring_sum_peer.cu)
 *
 * The applications are those of [1, Table 3], PageRank as in [2, algorithm pr].
 *
 * Device memory, for n vertices and m edges: 24n of offsets, sums and values (PAGERANK: shares, 8n
 * more of ranks, 8n if the outgoing edges are not those of `forward`, 8n of sums of weights, 8n of
 * the teleport distribution); m/8 and n/4 of the ListIndex; HEAT 4n, CIRCUIT 8n more.
 *
 * Bytes an iteration: 4m and the weights of the graph; 8m random ones; m/8; about 50n.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on
 *     GPUs. HPDC 2014.
 * [2] S. Beamer, K. Asanovic, D. Patterson: The GAP Benchmark Suite. arXiv 1508.03619, 2015.
 */
#include "cuda/algorithms/propagation_blocking.cuh"
#include "cuda/algorithms/semiring_sum_sweep.cuh"
#include "cuda/algorithms/pagerank_update.cuh"

#define STRENGTHS_POLL (UINT64_C(1) << 20)	/* weights that the host adds between two checks for
											 * cancellation */

/* Kernels of an algorithm and a weight type. */
typedef struct GatherMethod
{
	GatherKernel gather;
	/* gathers the weights alone; NULL except with EMOGI_SUM_DIRICHLET and in weighted PAGERANK */
	GatherKernel weigh;
	void		(*join) (Field field);
	void		(*start) (Field field);	/* PAGERANK */
	void		(*finish) (Field field);
	void		(*reduce) (Field field, uint32_t nparts);
} GatherMethod;

/* State of a run. run->memory owns the device arrays. */
typedef struct Gather
{
	Run		   *run;
	GatherMethod method;
	RankKind	ranks;			/* PAGERANK */
	Field		field;
	GatherSweep sweep;
	uint32_t   *vertex;			/* field.vertex, writable */
	SegmentedGraph segmented;	/* the segmented graph that sweeps read instead of
										 * the lists, if any */
	/* PAGERANK: used instead of sweeps, if built; values are then in the order of labels */
	PropagationBlocks bins;
} Gather;

template <class Term>
static GatherKernel
choose_weight(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) {
		return (GatherKernel) gather_sum_kernel<Term, decltype(weight)>;
	});
}

template <class Application>
static GatherMethod
make_method(EmogiWeightType type)
{
	return GatherMethod{choose_weight<typename Application::Term>(type),
		Application::FIXES ? choose_weight<WeightTerm>(type) : NULL,
		gather_join_carries_kernel<double>, NULL, gather_finish_kernel<Application, false>,
		gather_reduce_kernel<Application::L1>};
}

/* Get the kernels of PAGERANK. */
static GatherMethod
choose_rank_method(RankKind kind, EmogiWeightType type)
{
	if (kind == RANKS_IN_UNITS)
		return GatherMethod{gather_sum_kernel<UnitTerm, NoWeight>, NULL,
			gather_join_carries_kernel<unsigned long long>, ranks_finish_units_kernel<true>,
			ranks_finish_units_kernel<false>, ranks_reduce_units_kernel};
	return GatherMethod{kind == RANKS_WEIGHTED ? choose_weight<ProductTerm>(type) :
	gather_sum_kernel<PlainTerm, NoWeight>,
		kind == RANKS_WEIGHTED ? choose_weight<WeightTerm>(type) : NULL,
		gather_join_carries_kernel<double>,
		gather_finish_kernel<DoubleRank, true>, gather_finish_kernel<DoubleRank, false>,
		gather_reduce_kernel<DoubleRank::L1>};
}

static GatherMethod
choose_method(EmogiAlgorithm algorithm, RankKind kind, EmogiWeightType type)
{
	if (emogi_algorithm_has(algorithm, EMOGI_DAMPED))
		return choose_rank_method(kind, type);
	switch (algorithm)
	{
#define SUM(NAME, ...) \
		case EMOGI_##NAME: \
			return make_method<FromTable<EMOGI_##NAME>>(type);
			EMOGI_ALGORITHMS(EMOGI_LEAVE, EMOGI_LEAVE, SUM)
#undef SUM
	}
	return GatherMethod{};
}

/* PAGERANK: take the arrays that only it needs. */
static EmogiStatus
take_rank_arrays(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiError *error)
{
	Run		   *run = gather->run;
	DeviceMemory *memory = &run->memory;
	Field	   *field = &gather->field;
	double	   *strength;
	double	   *teleport;

	TRY(take_array(memory, &field->value, run->nvertices, "ranks", error));
	if (gather->ranks == RANKS_WEIGHTED)
	{
		TRY(take_array(memory, &strength, run->nvertices, "sums of weights", error));
		field->strength = strength;
	}
	else if (graph->backward.offsets == NULL)
		TRY(take_array(memory, &field->degrees.counted, run->nvertices, "degrees", error));
	if (query->teleport == NULL)
		return EMOGI_OK;
	TRY(take_array(memory, &teleport, run->nvertices, "teleport probabilities", error));
	field->teleport = teleport;
	return emogi_run_send(run, teleport, query->teleport, run->nvertices * sizeof *teleport, error);
}

/* Take all device memory except the graph's. */
static EmogiStatus
take_arrays(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	Run		   *run = gather->run;
	DeviceMemory *memory = &run->memory;
	Field	   *field = &gather->field;
	const uint64_t nedges = graph->forward.nedges;
	const uint64_t nvertices = graph->nvertices;
	const uint32_t traits = emogi_sum_traits(query->algorithm);
	uint32_t   *list_index;

	field->nvertices = nvertices;
	field->nwords = run->nwords;
	field->damping = query->damping;
	TRY(take_array(memory, &field->source, nvertices, "values", error));
	TRY(take_array(memory, &field->sum, nvertices, "sums", error));
	TRY(take_array(memory, &field->carry, count_chunks(nedges), "sums of chunks", error));
	TRY(take_array(memory, &list_index, emogi_edge_chunks_index_words(nedges, run->nwords),
				   "index of lists", error));
	TRY(take_array(memory, &field->outcome, 1, "outcome", error));
	TRY(take_array(memory, &field->part, run->full_blocks, "outcome of blocks", error));
	gather->sweep.list_index = emogi_edge_chunks_lay_out_index(list_index, nedges, run->nwords);
	if (emogi_algorithm_has(query->algorithm, EMOGI_DAMPED))
		TRY(take_rank_arrays(gather, graph, query, error));
	else
		field->value = field->source;
	if (traits & EMOGI_SUM_USES_OWN_VALUE)
		TRY(take_array(memory, &gather->vertex, nvertices, "lists by rank", error));
	if (traits & EMOGI_SUM_DIRICHLET)
		TRY(take_array(memory, &field->conductance, nvertices, "conductances", error));
	return EMOGI_OK;
}

/* PAGERANK: get the cached structures of the graph that suit this run. */
static EmogiStatus
find_kept(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const Target *array = graph->forward.targets;

	if (gather->ranks == RANKS_WEIGHTED)
		return EMOGI_OK;
	if (emogi_propagation_blocking_is_suitable(gather->run, query))
		return emogi_propagation_blocking_find(gather->run, array, &gather->bins, error);
	return emogi_cache_blocking_find(gather->run, array, (uint64_t) query->max_iterations,
									 &gather->segmented, error);
}

/* Place the graph, and choose how to read lists. */
static EmogiStatus
place_lists(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const bool	ranks = emogi_algorithm_has(query->algorithm, EMOGI_DAMPED);
	const bool	weighted = !ranks || gather->ranks == RANKS_WEIGHTED;
	const uint32_t width = weighted ? edge_bytes(graph->weight_type) : (uint32_t) sizeof(Target);
	Run		   *run = gather->run;
	unsigned	wants = query->max_iterations > 1 ? PLACE_PARTS_REPAID : PLACE_PARTS;

	wants |= weighted ? PLACE_WEIGHTS : PLACE_BACKWARD_OFFSETS;
	TRY(emogi_run_place(run, graph, query, wants, (const void *const *) &gather->method.gather, 1,
						width, error));
	gather->sweep.lists = run->graph.forward;
	gather->field.list_index = gather->sweep.list_index;
	if (!weighted)
		gather->field.degrees.out = run->graph.backward.offsets;
	if (ranks)
		TRY(find_kept(gather, graph, query, error));
	gather->sweep.may_have_help = gather->sweep.may_have_help && gather->segmented.nsegments == 0 &&
		gather->bins.nvertices == 0;
	return emogi_semiring_sum_open(&gather->sweep, graph, query, wants,
								   width - (uint32_t) sizeof(Target), gather->method.gather, error);
}

/* Sum over all lists. */
static EmogiStatus
sum_lists(Gather *gather, GatherKernel kernel, bool more, EmogiError *error)
{
	Run		   *run = gather->run;

	TRY(emogi_semiring_sum_sweep(&gather->sweep, kernel, gather->field, more, error));
	CUDA_LAUNCH(gather->method.join, run->full_blocks, BLOCK_THREADS, run->state->stream,
				gather->field);
	return EMOGI_OK;
}

/* Reduce the parts of the blocks. */
static EmogiStatus
reduce_parts(Gather *gather, EmogiError *error)
{
	Run		   *run = gather->run;

	CUDA_LAUNCH(gather->method.reduce, 1, BLOCK_THREADS, run->state->stream, gather->field,
				(uint32_t) run->full_blocks);
	return EMOGI_OK;
}

/* Sweep the segmented graph from now on, if there is one. */
static void
sweep_segmented(Gather *gather)
{
	if (gather->segmented.nsegments == 0)
		return;
	emogi_semiring_sum_read_on_leader(&gather->sweep);
	gather->sweep.lists = gather->segmented.lists;
	gather->field.list_index = gather->segmented.list_index;
	gather->field.label = gather->segmented.label;
	if (gather->segmented.sum != NULL)
		gather->field.sum = gather->segmented.sum;
}

/*
 * PAGERANK: build the structure that iterations read instead of the lists, if it pays:
 * PropagationBlocks or a SegmentedGraph.
 */
static EmogiStatus
make_lists(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const uint64_t nsweeps = (uint64_t) query->max_iterations;
	const Target *array = graph->forward.targets;
	Run		   *run = gather->run;

	if (emogi_propagation_blocking_is_suitable(run, query))
	{
		TRY(emogi_propagation_blocking_make(run, array, &gather->sweep.list_index,
											&gather->field.degrees, &gather->bins, error));
		if (gather->bins.nvertices > 0)
			return EMOGI_OK;
		TRY(emogi_cache_blocking_find(run, array, nsweeps, &gather->segmented, error));
	}
	if (gather->segmented.nsegments == 0)
		TRY(emogi_cache_blocking_make(run, array, &gather->sweep.list_index, &gather->field.degrees,
									  nsweeps, &gather->segmented, error));
	return EMOGI_OK;
}

/* Reject weights that ranks cannot be divided by. The CPU engine then reports which they are. */
static EmogiStatus
reject_strengths(EmogiError *error)
{
	return emogi_device_fail(error, EMOGI_UNSUPPORTED,
							 "the sum of the weights of the edges of a vertex is out of range for "
							 "ranks",
							 "%s", "");
}

/*
 * Sum the weights of the outgoing edges on the host, in the order of the lists, as the CPU engine
 * does. They are read once, and never on the device.
 */
static EmogiStatus
add_strengths(Run *run, const EmogiGraph *graph, double *strength, EmogiError *error)
{
	const EmogiAdjacency *out = &graph->backward;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		double		sum = 0;

		for (uint64_t i = out->offsets[v]; i < out->offsets[v + 1]; i++)
		{
			if (i % STRENGTHS_POLL == 0 && run->control->cancel)
				return EMOGI_CANCELED;
			sum += emogi_weight(out->weights, graph->weight_type, i);
		}
		if (!emogi_rank_strength_is_valid(sum))
			return reject_strengths(error);
		strength[v] = sum;
	}
	return EMOGI_OK;
}

/* Sum the weights of the outgoing edges of a directed graph. */
static EmogiStatus
send_strengths(Gather *gather, const EmogiGraph *graph, EmogiError *error)
{
	double	   *strength = (double *) malloc(graph->nvertices * sizeof *strength);
	EmogiStatus status;

	if (strength == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory",
								 "sums of weights of %llu vertices",
								 (unsigned long long) graph->nvertices);
	status = add_strengths(gather->run, graph, strength, error);
	if (status == EMOGI_OK)
		status = emogi_run_send(gather->run, (double *) gather->field.strength, strength,
								graph->nvertices * sizeof *strength, error);
	free(strength);
	return status;
}

/*
 * PAGERANK with weights: sum the weights of the outgoing edges. *ntargets, *nweights: number of
 * passes over all targets and weights.
 */
static EmogiStatus
sum_strengths(Gather *gather, const EmogiGraph *graph, int *ntargets, int *nweights,
			  EmogiError *error)
{
	Run		   *run = gather->run;
	const Outcome *outcome = (const Outcome *) run->state->mailbox;

	if (graph->backward.offsets != graph->forward.offsets)
		return send_strengths(gather, graph, error);
	*ntargets = *nweights = 1;
	TRY(sum_lists(gather, gather->method.weigh, true, error));
	CUDA_TRY(cudaMemsetAsync(gather->field.outcome, 0, sizeof *gather->field.outcome,
							 run->state->stream));
	CUDA_LAUNCH(ranks_take_strengths_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				gather->field, (double *) gather->field.strength);
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, gather->field.outcome, sizeof *outcome,
							 cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	return outcome->change == 0 ? EMOGI_OK : reject_strengths(error);
}

/*
 * PAGERANK: get out-degrees and the structure that iterations read. *ntargets: number of passes
 * over all targets.
 */
static EmogiStatus
prepare_lists(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, int *ntargets,
			  EmogiError *error)
{
	Run		   *run = gather->run;
	Field	   *field = &gather->field;

	if (field->degrees.out == NULL)
	{
		CUDA_TRY(cudaMemsetAsync(field->degrees.counted, 0,
								 run->nvertices * sizeof *field->degrees.counted,
								 run->state->stream));
		TRY(emogi_semiring_sum_sweep(&gather->sweep, gather_count_degrees_kernel, gather->field,
									 true, error));
		*ntargets = 1;
	}
	return make_lists(gather, graph, query, error);
}

/*
 * PAGERANK: initialize out-degrees, the structure that iterations read, ranks and shares.
 * *ntargets, *nweights: number of passes over all targets and weights.
 */
static EmogiStatus
start_pagerank(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, int *ntargets,
			   int *nweights, EmogiError *error)
{
	Run		   *run = gather->run;
	Field	   *field = &gather->field;

	if (gather->ranks == RANKS_WEIGHTED)
		TRY(sum_strengths(gather, graph, ntargets, nweights, error));
	else if (gather->bins.nvertices == 0)
		TRY(prepare_lists(gather, graph, query, ntargets, error));
	if (gather->bins.nvertices > 0)
		return emogi_propagation_blocking_start(run, &gather->bins, field->teleport, field->value,
												error);
	sweep_segmented(gather);
	CUDA_LAUNCH(gather->method.start, run->full_blocks, BLOCK_THREADS, run->state->stream, *field);
	return reduce_parts(gather, error);
}

/*
 * Initialize everything for the first iteration. *ntargets, *nweights: number of passes over all
 * targets and weights.
 */
static EmogiStatus
start_values(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, int *ntargets,
			 int *nweights, EmogiError *error)
{
	const uint32_t traits = emogi_sum_traits(query->algorithm);
	Run		   *run = gather->run;

	if (gather->segmented.nsegments == 0 && gather->bins.nvertices == 0)
		TRY(emogi_edge_chunks_make_index(run, run->graph.forward.offsets, &gather->sweep.list_index,
										 error));
	if (emogi_algorithm_has(query->algorithm, EMOGI_DAMPED))
		return start_pagerank(gather, graph, query, ntargets, nweights, error);
	if (traits & EMOGI_SUM_USES_OWN_VALUE)
		TRY(emogi_edge_chunks_name_lists(run, &gather->sweep.list_index, gather->vertex, error));
	gather->field.vertex = gather->vertex;
	if (traits & EMOGI_SUM_DIRICHLET)
	{
		*ntargets = *nweights = 1;
		TRY(sum_lists(gather, gather->method.weigh, true, error));
		CUDA_LAUNCH(gather_start_fixed_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					gather->field);
	}
	return EMOGI_OK;
}

/* Run an iteration, and get the change. `more`: another one may follow. */
static EmogiStatus
make_iteration(Gather *gather, bool more, double *change, EmogiError *error)
{
	Run		   *run = gather->run;
	const Outcome *outcome = (const Outcome *) run->state->mailbox;
	const UnitOutcome *units = (const UnitOutcome *) run->state->mailbox;

	if (gather->bins.nvertices > 0)
		return emogi_propagation_blocking_iterate(run, &gather->bins, gather->field.damping,
												  gather->field.value, change, error);
	TRY(sum_lists(gather, gather->method.gather, more, error));
	CUDA_LAUNCH(gather->method.finish, run->full_blocks, BLOCK_THREADS, run->state->stream,
				gather->field);
	TRY(reduce_parts(gather, error));
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, gather->field.outcome, sizeof *outcome,
							 cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*change = gather->method.reduce == ranks_reduce_units_kernel ?
		emogi_rank_units_total_change(units->change) : outcome->change;
	return EMOGI_OK;
}

/*
 * Iterate until the change is below the tolerance. Get the number of iterations and the last
 * change.
 */
static EmogiStatus
iterate(Gather *gather, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Run		   *run = gather->run;

	run->control->total = (uint64_t) query->max_iterations * run->nvertices;
	for (int64_t i = 0; i < query->max_iterations; i++)
	{
		run->control->level = (uint32_t) i;
		run->control->done = (uint64_t) i * run->nvertices;
		if (run->control->cancel)
			return EMOGI_CANCELED;
		TRY(make_iteration(gather, i + 1 < query->max_iterations, &result->change, error));
		result->nlevels = (uint32_t) (i + 1);
		if (result->change < query->tolerance)
			break;
	}
	return EMOGI_OK;
}

/*
 * Count the edges and bytes of `ntargets` passes over all targets and `nweights` over all weights.
 */
static void
account(const Gather *gather, const EmogiGraph *graph, uint64_t ntargets, uint64_t nweights,
		EmogiResult *result)
{
	const uint64_t nedges = graph->forward.nedges;
	const uint64_t width = edge_bytes(graph->weight_type) - sizeof(Target);
	const uint64_t target_lines = (nedges * sizeof(Target) + EMOGI_LINE_BYTES - 1) /
		EMOGI_LINE_BYTES;
	const uint64_t weight_lines = (nedges * width + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;

	result->edges_traversed = ntargets * nedges;
	if (gather->run->graph.placement == EMOGI_PLACEMENT_HOST)
		result->link_bytes = (ntargets * target_lines + nweights * weight_lines) * EMOGI_LINE_BYTES;
	emogi_semiring_sum_account(&gather->sweep, result);
}

/* Place the graph and run. The caller closes the pipelines. */
static EmogiStatus
run_gather(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
		   EmogiError *error)
{
	const bool	ranks = emogi_algorithm_has(query->algorithm, EMOGI_DAMPED);
	const bool	reads_weights = !ranks || gather->ranks == RANKS_WEIGHTED;
	Run		   *run = gather->run;
	Field	   *field = &gather->field;
	const double *values;
	int			ntargets = 0;
	int			nweights = 0;

	TRY(take_arrays(gather, graph, query, error));
	values = field->value;
	if (!ranks)
		TRY(emogi_run_send(run, field->value, query->values, run->nvertices * sizeof *query->values,
						   error));
	TRY(place_lists(gather, graph, query, error));

	TRY(emogi_run_start_clock(run, error));
	TRY(start_values(gather, graph, query, &ntargets, &nweights, error));
	TRY(iterate(gather, query, result, error));
	if (gather->bins.nvertices > 0)
	{
		TRY(emogi_propagation_blocking_collect_ranks(run, &gather->bins, field->value,
													 field->source, error));
		values = field->source;
	}
	TRY(emogi_run_stop_clock(run, result, error));

	account(gather, graph, ntargets + result->nlevels,
			reads_weights ? nweights + result->nlevels : 0, result);
	result->nreached = run->nvertices;
	return emogi_run_give(run, query, result, 0, values, error);
}

bool
emogi_semiring_sum_may_use_helpers(const EmogiGraph *graph, const EmogiQuery *query)
{
	return (emogi_sum_traits(query->algorithm) & EMOGI_SUM_USES_OWN_VALUE) == 0 &&
		(!emogi_algorithm_has(query->algorithm, EMOGI_DAMPED) || graph->backward.offsets != NULL);
}

EmogiStatus
emogi_cuda_semiring_sum(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
						EmogiResult *result, EmogiError *error)
{
	Gather		gather = {};
	EmogiStatus status;

	gather.run = run;
	gather.sweep.run = run;
	gather.sweep.may_have_help = emogi_semiring_sum_may_use_helpers(graph, query);
	gather.field.coarse = run->state->always_bins || emogi_rank_units_coarse(graph->forward.nedges);
	gather.ranks = query->is_weighted ? RANKS_WEIGHTED :
		emogi_algorithm_has(query->algorithm, EMOGI_DAMPED) &&
		emogi_rank_units_applicable(query, graph->nvertices, gather.field.coarse) ? RANKS_IN_UNITS :
			RANKS_IN_DOUBLES;
	gather.method = choose_method(query->algorithm, gather.ranks, graph->weight_type);
	status = run_gather(&gather, graph, query, result, error);
	emogi_semiring_sum_close(&gather.sweep);
	return status;
}
