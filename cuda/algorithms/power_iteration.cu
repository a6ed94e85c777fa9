/*
 * power_iteration.cu: KATZ, EIGENVECTOR and HITS by power iteration.
 *
 * Return the columns defined in the table of algorithms, by the iterations that katz.c,
 * eigenvector.c and hits.c (engine/cpu) describe.
 *
 * Method. The values of all entries are summed list by list as in semiring_sum.cu, in chunks of 64
 * lines, without atomics on sums (semiring_sum.cuh). Reductions over all vertices have a fixed
 * order. So no sum depends on the schedule, and two runs give the same bits, except that lists cut
 * into segments give other bits than whole lists. In device memory unweighted sweeps read targets
 * that are relabeled or cut into segments if that improves cache hits (cache_blocking.cuh). These
 * are built once for a cached graph, and shared with PageRank. In host and hybrid placement the
 * copy engine transfers the edges if there is room for buffers (copy_pipeline.cuh). HITS has two
 * halves, over the incoming and the outgoing lists; of a symmetric graph both read the same lists.
 *
 * Device memory, for n vertices and m edges: 16n of values and sums, and the ListIndex, twice for
 * HITS; KATZ 8n, and 8n while a SegmentedGraph is built of a graph without outgoing lists.
 *
 * Bytes of a sweep: those of gather_sum_kernel. Other bytes of an iteration: KATZ 40 a vertex,
 * EIGENVECTOR 48, each half of HITS 40.
 */
#include "contract/power_iteration.h"
#include "cuda/placement/copy_pipeline.cuh"
#include "cuda/algorithms/power_iteration.cuh"

typedef void (*PowersKernel) (Lists<Target> lists, Field field, Chunks chunks, Step step);

/* The lists of a half, and its values. Arrays are in device memory. */
typedef struct Half
{
	const EmogiAdjacency *adjacency;	/* in host memory */
	Field		field;			/* source: [nvertices], the values, by label if there are labels */
	ListIndex	list_index;		/* index of the original lists */
	Lists<Target> lists;		/* lists that sweeps read */
	SegmentedGraph segmented;	/* read instead of the lists, if any */
	CopyPipeline *pipeline;		/* in host and hybrid placement */
	uint64_t	nsweeps;
} Half;

/* State of a run. run->memory owns the device arrays. */
typedef struct Powers
{
	Run		   *run;
	const EmogiGraph *graph;
	bool		is_katz;
	bool		is_weighted;
	uint32_t	weight_bytes;	/* of an entry, 0 if weights are not read */
	PowersKernel gather;
	int			nhalves;
	Half		half[2];
	CopyPipeline pipeline[2];
	double		scale;			/* EIGENVECTOR: factor of a list's sum */
	double	   *total;			/* [nvertices], KATZ: sum over all iterations */
	Reductions *part;			/* [blocks], before reduction */
	Reductions *found;			/* [MAX_REDUCTIONS] */
} Powers;

#define MAX_REDUCTIONS 3		/* reductions of an iteration */

static PowersKernel
choose_gather(bool is_weighted, EmogiWeightType type)
{
	if (!is_weighted)
		return gather_sum_kernel<PlainTerm, NoWeight>;
	return with_weight(type, [](auto weight) {
		return (PowersKernel) gather_sum_kernel<ProductTerm, decltype(weight)>;
	});
}

/* Say whether both halves read the same lists. */
static bool
halves_are_one(const Powers *powers)
{
	return powers->nhalves == 2 && powers->half[0].adjacency->targets ==
		powers->half[1].adjacency->targets;
}

/* Take the device memory of a half, except its lists. */
static EmogiStatus
take_half(Powers *powers, Half *half, EmogiError *error)
{
	Run		   *run = powers->run;
	const uint64_t nedges = half->adjacency->nedges;
	uint32_t   *list_index;

	half->field.nvertices = run->nvertices;
	half->field.nwords = run->nwords;
	TRY(take_array(&run->memory, &half->field.source, run->nvertices, "values", error));
	TRY(take_array(&run->memory, &half->field.sum, run->nvertices + count_chunks(nedges), "sums",
				   error));
	half->field.carry = half->field.sum + run->nvertices;
	if (half > powers->half && halves_are_one(powers))
	{
		half->list_index = powers->half[0].list_index;
		return EMOGI_OK;
	}
	TRY(take_array(&run->memory, &list_index, emogi_edge_chunks_index_words(nedges, run->nwords),
				   "index of lists", error));
	half->list_index = emogi_edge_chunks_lay_out_index(list_index, nedges, run->nwords);
	return EMOGI_OK;
}

/* Place the graph, and open the pipelines of its lists. */
static EmogiStatus
place_lists(Powers *powers, const EmogiQuery *query, EmogiError *error)
{
	Run		   *run = powers->run;
	unsigned	wants = query->max_iterations > 1 ? PLACE_PARTS_REPAID : PLACE_PARTS;

	if (powers->is_weighted)
		wants |= PLACE_WEIGHTS;
	if (powers->nhalves == 2)
		wants |= PLACE_BACKWARD_REQUIRED;
	else if (!powers->is_weighted)
		wants |= PLACE_BACKWARD_OFFSETS;
	TRY(emogi_run_place(run, powers->graph, query, wants, (const void *const *) &powers->gather, 1,
						(uint32_t) sizeof(Target) + powers->weight_bytes, error));
	for (int h = 0; h < powers->nhalves; h++)
	{
		Half	   *half = &powers->half[h];

		half->lists = h == 0 ? run->graph.forward : run->graph.backward;
		half->field.list_index = half->list_index;
		half->pipeline = &powers->pipeline[halves_are_one(powers) ? 0 : h];
		if (half->pipeline->run == NULL)
			TRY(emogi_copy_pipeline_open(half->pipeline, run, half->adjacency, powers->weight_bytes,
										 NULL, error));
	}
	return EMOGI_OK;
}

/* Read some chunks of a half's lists. */
static EmogiStatus
launch(Run *run, const Half *half, PowersKernel kernel, const Lists<Target> &lists, Chunks chunks,
	   EmogiError *error)
{
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, lists, half->field, chunks,
				run->step);
	return EMOGI_OK;
}

/* Sum over all lists of a half. `more`: another sweep over them follows. */
static EmogiStatus
sum_lists(Powers *powers, Half *half, bool more, EmogiError *error)
{
	Run		   *run = powers->run;
	CopyPipeline *pipeline = half->pipeline;
	Lists<Target> lists = half->lists;
	Chunks		chunks = {0, half->field.list_index.nchunks};

	half->nsweeps++;
	if (pipeline->npieces == 0)
		TRY(launch(run, half, powers->gather, lists, chunks, error));
	else
		emogi_copy_pipeline_begin(pipeline, more);
	while (pipeline->piece < pipeline->npieces)
	{
		TRY(emogi_copy_pipeline_take(pipeline, &lists, &chunks.first, &chunks.upto, error));
		TRY(launch(run, half, powers->gather, lists, chunks, error));
		TRY(emogi_copy_pipeline_give_back(pipeline, error));
	}
	if (pipeline->npieces > 0)
		TRY(emogi_copy_pipeline_end(pipeline, error));
	CUDA_LAUNCH(gather_join_carries_kernel<double>, run->full_blocks, BLOCK_THREADS,
				run->state->stream, half->field);
	return EMOGI_OK;
}

/* Reduce the parts of the blocks to found[i]. */
template <bool ADDS>
static EmogiStatus
reduce_parts(Powers *powers, int i, EmogiError *error)
{
	Run		   *run = powers->run;

	CUDA_LAUNCH(powers_reduce_kernel<ADDS>, 1, BLOCK_THREADS, run->state->stream, powers->part,
				(uint32_t) run->full_blocks, powers->found + i);
	return EMOGI_OK;
}

/* Wait, and get the reductions. */
static EmogiStatus
read_found(Powers *powers, const Reductions **found, EmogiError *error)
{
	Run		   *run = powers->run;

	static_assert(MAX_REDUCTIONS * sizeof(Reductions) <= EMOGI_MAILBOX_BYTES,
				  "what is found must fit the mailbox");
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, powers->found,
							 MAX_REDUCTIONS * sizeof(Reductions), cudaMemcpyDeviceToHost,
							 run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*found = (const Reductions *) run->state->mailbox;
	return EMOGI_OK;
}

/*
 * Count how often each vertex is a target of a half's lists. If memory is short, degrees stay
 * unknown.
 */
static EmogiStatus
count_degrees(Run *run, Half *half, EmogiError *error)
{
	const EmogiStatus status = take_array(&run->memory, &half->field.degrees.counted,
										  run->nvertices, "degrees", error);
	const Chunks chunks = {0, half->list_index.nchunks};

	if (status != EMOGI_OK)
		half->field.degrees.counted = NULL;
	if (status != EMOGI_OK)
		return status == EMOGI_NO_MEMORY ? EMOGI_OK : status;
	CUDA_TRY(cudaMemsetAsync(half->field.degrees.counted, 0,
							 run->nvertices * sizeof *half->field.degrees.counted,
							 run->state->stream));
	half->nsweeps++;
	return launch(run, half, gather_count_degrees_kernel, half->lists, chunks, error);
}

/*
 * Get the cached SegmentedGraph for sweeps over run->graph.forward, the lists of a half. Otherwise
 * make the ListIndex of the lists, and build a SegmentedGraph if it pays.
 */
static EmogiStatus
find_segmented(Powers *powers, Half *half, uint64_t nsweeps, EmogiError *error)
{
	Run		   *run = powers->run;
	const Target *array = half->adjacency->targets;
	Degrees    *degrees = &half->field.degrees;

	if (!powers->is_weighted)
		TRY(emogi_cache_blocking_find(run, array, nsweeps, &half->segmented, error));
	if (half->segmented.nsegments > 0)
		return EMOGI_OK;
	TRY(emogi_edge_chunks_make_index(run, half->lists.offsets, &half->list_index, error));
	if (powers->is_weighted || run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		return EMOGI_OK;
	degrees->out = run->graph.backward.offsets;
	if (degrees->out == NULL && emogi_cache_blocking_pays_off(nsweeps))
		TRY(count_degrees(run, half, error));
	if (degrees->out != NULL || degrees->counted != NULL)
		TRY(emogi_cache_blocking_make(run, array, &half->list_index, degrees, nsweeps,
									  &half->segmented, error));
	emogi_memory_return(&run->memory, degrees->counted);
	return EMOGI_OK;
}

/* Choose the lists that sweeps over a half read. */
static EmogiStatus
choose_lists(Powers *powers, Half *half, uint64_t nsweeps, EmogiError *error)
{
	PlacedGraph *placed = &powers->run->graph;
	const Lists<uint32_t> forward = placed->forward;
	const Lists<uint32_t> backward = placed->backward;
	const bool	reversed = half > powers->half;
	EmogiStatus status;

	if (reversed && halves_are_one(powers))
		half->segmented = powers->half[0].segmented;
	else
	{
		placed->forward = reversed ? backward : forward;
		placed->backward = reversed ? forward : backward;
		status = find_segmented(powers, half, nsweeps, error);
		placed->forward = forward;
		placed->backward = backward;
		TRY(status);
	}
	if (half->segmented.nsegments == 0)
		return EMOGI_OK;
	half->lists = half->segmented.lists;
	half->field.list_index = half->segmented.list_index;
	half->field.label = half->segmented.label;
	if (half->segmented.sum != NULL)
		half->field.sum = half->segmented.sum;
	return EMOGI_OK;
}

/* Fill an array with a value. */
static EmogiStatus
fill(const Run *run, double *array, double value, EmogiError *error)
{
	CUDA_LAUNCH(powers_fill_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, array,
				run->nvertices, value);
	return EMOGI_OK;
}

/* Initialize everything for the first iteration. */
static EmogiStatus
start_values(Powers *powers, const EmogiQuery *query, EmogiError *error)
{
	const double n = (double) powers->run->nvertices;

	for (int h = 0; h < powers->nhalves; h++)
		TRY(choose_lists(powers, &powers->half[h], (uint64_t) query->max_iterations, error));
	if (powers->is_katz)
		TRY(fill(powers->run, powers->total, 1.0, error));
	if (powers->nhalves == 2)
		TRY(fill(powers->run, powers->half[1].field.source, 0.0, error));
	return fill(powers->run, powers->half[0].field.source,
				powers->is_katz ? query->alpha : powers->nhalves == 2 ? 1.0 / n : 1.0 / sqrt(n),
				error);
}

/* Report the progress. */
static EmogiStatus
begin_iteration(const Powers *powers, const EmogiQuery *query, const EmogiResult *result)
{
	EmogiControl *control = powers->run->control;

	control->level = result->nlevels;
	control->total = (uint64_t) query->max_iterations * powers->run->nvertices;
	control->done = result->nlevels * powers->run->nvertices;
	return control->cancel ? EMOGI_CANCELED : EMOGI_OK;
}

/*
 * Compute new values from the sums of a half's lists. found[i] gets their norm, found[i + 1] their
 * change.
 */
template <bool EIGEN>
static EmogiStatus
divide(Powers *powers, Half *half, const Half *to, int i, bool more, EmogiError *error)
{
	Run		   *run = powers->run;

	TRY(sum_lists(powers, half, more, error));
	CUDA_LAUNCH(powers_measure_kernel<EIGEN>, run->full_blocks, BLOCK_THREADS, run->state->stream,
				half->field, powers->scale, powers->part);
	TRY(reduce_parts<true>(powers, i, error));
	CUDA_LAUNCH(powers_divide_kernel<EIGEN>, run->full_blocks, BLOCK_THREADS, run->state->stream,
				half->field, powers->scale, powers->found + i, to->field.source, to->field.label,
				powers->part);
	return reduce_parts<!EIGEN>(powers, i + 1, error);
}

/* Iterate HITS or EIGENVECTOR until the change is below the tolerance. */
static EmogiStatus
iterate(Powers *powers, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Half	   *half = powers->half;
	const Reductions *found;

	do
	{
		const bool	more = result->nlevels + 1 < query->max_iterations;

		TRY(begin_iteration(powers, query, result));
		if (powers->nhalves == 1)
			TRY(divide<true>(powers, half, half, 0, more, error));
		else
		{
			TRY(divide<false>(powers, &half[0], &half[1], 0, more || halves_are_one(powers),
							  error));
			TRY(divide<false>(powers, &half[1], &half[0], 1, more, error));
		}
		TRY(read_found(powers, &found, error));
		if (powers->nhalves == 1 ? !emogi_eigenvector_squares_are_fine(found[0].of[0], result,
																	   error) :
			!emogi_hits_total_is_fine(found[0].of[0], result, error) ||
			!emogi_hits_total_is_fine(found[1].of[0], result, error))
			return EMOGI_BAD_INPUT;
		result->change = found[powers->nhalves].of[0];
		result->nlevels++;
	} while (result->nlevels < query->max_iterations && !(result->change < query->tolerance));
	return EMOGI_OK;
}

/* Scale the sums of KATZ. */
static EmogiStatus
finish_katz(Powers *powers, const EmogiQuery *query, double largest, EmogiError *error)
{
	Run		   *run = powers->run;
	double		factor = query->beta;
	const Reductions *found;

	if (query->normalized && query->beta != 0.0)
	{
		CUDA_LAUNCH(powers_square_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					powers->total, run->nvertices, largest, powers->part);
		TRY(reduce_parts<true>(powers, 0, error));
		TRY(read_found(powers, &found, error));
		factor = copysign(1.0 / sqrt(found[0].of[0]) / largest, query->beta);
	}
	CUDA_LAUNCH(powers_scale_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				powers->total, run->nvertices, factor);
	return EMOGI_OK;
}

/* Iterate KATZ until it converges. EMOGI_BAD_INPUT if it does not. */
static EmogiStatus
iterate_katz(Powers *powers, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Run		   *run = powers->run;
	Half	   *half = powers->half;
	double		rate = (double) INFINITY;
	const Reductions *found;
	EmogiKatzFound last;

	do
	{
		TRY(begin_iteration(powers, query, result));
		TRY(sum_lists(powers, half, result->nlevels + 1 < query->max_iterations, error));
		CUDA_LAUNCH(powers_add_walks_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					half->field, query->alpha, powers->total, powers->part);
		TRY(reduce_parts<false>(powers, 0, error));
		TRY(read_found(powers, &found, error));
		last = EmogiKatzFound{found->of[0], found->of[1], found->of[2] > 0.0};
	} while (!emogi_katz_end_iteration(&last, query, &rate, result, error));
	if (result->refusal.kind != EMOGI_NOT_REFUSED)
		return EMOGI_BAD_INPUT;
	return finish_katz(powers, query, last.largest, error);
}

/* Queue the writing of a half's values in the order of vertices, and get the array. */
static EmogiStatus
collect_values(const Powers *powers, const Half *half, double **values, EmogiError *error)
{
	const Run  *run = powers->run;

	*values = half->field.label != NULL ? half->field.sum : half->field.source;
	if (half->field.label != NULL)
		CUDA_LAUNCH(powers_collect_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
					half->field, *values);
	return EMOGI_OK;
}

/* Count the edges and bytes of the sweeps. */
static void
account(const Powers *powers, EmogiResult *result)
{
	for (int h = 0; h < powers->nhalves; h++)
	{
		const Half *half = &powers->half[h];
		const uint64_t nedges = half->adjacency->nedges;
		const uint64_t target_lines = (nedges * sizeof(Target) + EMOGI_LINE_BYTES - 1) /
			EMOGI_LINE_BYTES;
		const uint64_t weight_lines = (nedges * powers->weight_bytes + EMOGI_LINE_BYTES - 1) /
			EMOGI_LINE_BYTES;

		result->edges_traversed += half->nsweeps * nedges;
		if (half->pipeline->npieces == 0 && powers->run->graph.placement == EMOGI_PLACEMENT_HOST)
			result->link_bytes += half->nsweeps * (target_lines + weight_lines) * EMOGI_LINE_BYTES;
	}
	result->link_bytes += powers->pipeline[0].copied_bytes + powers->pipeline[1].copied_bytes;
	if (powers->pipeline[0].copied_bytes + powers->pipeline[1].copied_bytes > 0)
		result->nlinks = powers->pipeline[0].nlinks > powers->pipeline[1].nlinks ?
			powers->pipeline[0].nlinks :
			powers->pipeline[1].nlinks;
}

/* Place the graph and run. The caller closes the pipelines. */
static EmogiStatus
run_powers(Powers *powers, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Run		   *run = powers->run;
	double	   *values[2];

	for (int h = 0; h < powers->nhalves; h++)
		TRY(take_half(powers, &powers->half[h], error));
	TRY(take_array(&run->memory, &powers->part, run->full_blocks + MAX_REDUCTIONS,
				   "what blocks have found", error));
	powers->found = powers->part + run->full_blocks;
	if (powers->is_katz)
		TRY(take_array(&run->memory, &powers->total, run->nvertices, "centralities", error));
	TRY(place_lists(powers, query, error));
	powers->scale = query->algorithm == EMOGI_EIGENVECTOR ?
		emogi_eigenvector_scale(powers->graph, powers->is_weighted, run->control) : 1.0;
	if (powers->scale == 0.0)
		return EMOGI_CANCELED;

	TRY(emogi_run_start_clock(run, error));
	TRY(start_values(powers, query, error));
	if (powers->is_katz)
		TRY(iterate_katz(powers, query, result, error));
	else
		TRY(iterate(powers, query, result, error));
	for (int h = 0; h < powers->nhalves; h++)
		TRY(collect_values(powers, &powers->half[h], &values[h], error));
	TRY(emogi_run_stop_clock(run, result, error));

	account(powers, result);
	result->nreached = run->nvertices;
	if (powers->is_katz)
		return emogi_run_give(run, query, result, 0, powers->total, error);
	for (int h = 0; h < powers->nhalves; h++)
		TRY(emogi_run_give(run, query, result, h, values[h], error));
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_powers(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				  EmogiError *error)
{
	Powers		powers = {};
	EmogiStatus status;

	powers.run = run;
	powers.graph = graph;
	powers.is_weighted = query->is_weighted && graph->weight_type != EMOGI_WEIGHT_NONE;
	powers.weight_bytes = powers.is_weighted ?
		edge_bytes(graph->weight_type) - (uint32_t) sizeof(Target) : 0;
	powers.gather = choose_gather(powers.is_weighted, graph->weight_type);
	powers.is_katz = query->algorithm == EMOGI_KATZ;
	powers.nhalves = query->algorithm == EMOGI_HITS ? 2 : 1;
	powers.half[0].adjacency = &graph->forward;
	powers.half[1].adjacency = &graph->backward;
	status = run_powers(&powers, query, result, error);
	emogi_copy_pipeline_close(&powers.pipeline[0]);
	emogi_copy_pipeline_close(&powers.pipeline[1]);
	return status;
}
