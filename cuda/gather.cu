/*
 * gather.cu: the sum algebra: PAGERANK, HEAT, CIRCUIT and NEURAL.
 *
 * Returns value[nvertices] after the last iteration.
 *
 * Method. Every iteration reads all lists, so the entries are cut into chunks of eight lines, whatever the lists, and
 * warps take chunks in ascending order: the link sees whole lines, each once, from one narrow moving window, and a hub
 * is no more work than a thousand small lists. A warp stages a chunk with the values that it reads in shared memory
 * and adds, list by list; what a list has in the chunk where it begins, and in each further one, is kept apart and
 * added in order when the vertex is finished. So there is no atomic operation on a sum, and two runs that read the
 * edges in the same way give
 * the same bits. PAGERANK in device memory reads cut lists when its values exceed the cache (segments.cuh); in host
 * placement edges come by the copy engine when there is room for its buffers (feed.cuh), else they are read in place.
 * The change of an iteration and PageRank's dangling mass are reduced by a fixed tree as well. The applications are
 * those of [1, Table 3], PageRank as in [2, algorithm pr].
 *
 * Bytes of an iteration, for n vertices and m edges: 4m and the weights of the Graph; 8m random ones; some 60n.
 *
 * [1] F. Khorasani, K. Vora, R. Gupta, L. N. Bhuyan: CuSha: Vertex-Centric Graph Processing on GPUs. HPDC 2014.
 * [2] S. Beamer, K. Asanovic, D. Patterson: The GAP Benchmark Suite. arXiv 1508.03619, 2015.
 */
#include "feed.cuh"
#include "gather.cuh"
#include "segments.cuh"

typedef void (*GatherKernel) (Lists<Target> lists, Field field, Chunks chunks, Step step);
typedef void (*FinishKernel) (const uint64_t *offsets, Field field);

/* What depends on the application and the weights. */
typedef struct GatherMethod
{
	GatherKernel gather;
	GatherKernel weigh;			/* gathers the weights alone (CIRCUIT) */
	FinishKernel finish;
	void		(*reduce) (Field field, uint32_t nparts);
} GatherMethod;

/* A run. The device's arrays belong to run->memory. */
typedef struct Gather
{
	Run		   *run;
	GatherMethod method;
	Field		field;
	Cut			cut;			/* what sweeps read */
	Feed		feed;			/* how, in host placement */
	uint32_t   *list;			/* field.list, to write */
} Gather;

template <class Term>
static GatherKernel
choose_weight(EmogiWeightType type)
{
	return with_weight(type, [](auto weight) { return (GatherKernel) gather<Term, decltype(weight)>; });
}

static GatherMethod
choose_method(EmogiAlgorithm algorithm, EmogiWeightType type)
{
	switch (algorithm)
	{
		case EMOGI_HEAT:
			return GatherMethod{choose_weight<Heat::Term>(type), NULL, finish<Heat, false>, reduce_outcome<Heat::L1>};
		case EMOGI_CIRCUIT:
			return GatherMethod{choose_weight<Circuit::Term>(type), choose_weight<WeightTerm>(type),
				finish<Circuit, false>, reduce_outcome<Circuit::L1>};
		case EMOGI_NEURAL:
			return GatherMethod{choose_weight<Neural::Term>(type), NULL, finish<Neural, false>,
				reduce_outcome<Neural::L1>};
		default:
			return GatherMethod{gather<PageRank::Term, NoWeight>, NULL, finish<PageRank, false>,
				reduce_outcome<PageRank::L1>};
	}
}

EmogiStatus
emogi_cuda_gather_load(EmogiError *error)
{
	const void *const kernels[] = {
		(const void *) find_lists, (const void *) count_degrees, (const void *) start_ranks,
		(const void *) start_circuit, (const void *) finish<PageRank, true>
	};

	for (int type = EMOGI_WEIGHT_NONE; type <= EMOGI_WEIGHT_F64; type++)
		for (int algorithm = EMOGI_PAGERANK; algorithm <= EMOGI_NEURAL; algorithm++)
		{
			const GatherMethod method = choose_method((EmogiAlgorithm) algorithm, (EmogiWeightType) type);
			const void *const its_kernels[] = {
				(const void *) method.gather, (const void *) method.finish, (const void *) method.reduce
			};

			TRY(LOAD_KERNELS(its_kernels));
			if (method.weigh != NULL)
				TRY(emogi_load_kernels((const void *const *) &method.weigh, 1, error));
		}
	TRY(emogi_cut_load(error));
	return LOAD_KERNELS(kernels);
}

/* Take all device memory but the Graph's. */
static EmogiStatus
take_arrays(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	DeviceMemory *memory = &gather->run->memory;
	Field	   *field = &gather->field;
	const uint64_t nvertices = graph->nvertices;

	field->nvertices = field->nlists = nvertices;
	field->nchunks = (graph->forward.nedges + CHUNK_ENTRIES - 1) / CHUNK_ENTRIES;
	field->damping = query->damping;
	TRY(take_array(memory, &gather->list, field->nchunks, "lists of chunks", error));
	TRY(take_array(memory, &field->value, nvertices, "values", error));
	TRY(take_array(memory, &field->sum, nvertices, "sums", error));
	TRY(take_array(memory, &field->head, field->nchunks, "sums of chunks", error));
	TRY(take_array(memory, &field->outcome, 1, "outcome", error));
	TRY(take_array(memory, &field->part, gather->run->full_blocks, "outcome of blocks", error));
	field->list = gather->list;
	field->source = field->value;
	if (query->algorithm == EMOGI_PAGERANK)
	{
		TRY(take_array(memory, &field->source, nvertices, "contributions", error));
		if (graph->backward.offsets != graph->forward.offsets)
			TRY(take_array(memory, &field->degree, nvertices, "degrees", error));
	}
	if (query->algorithm == EMOGI_CIRCUIT)
		TRY(take_array(memory, &field->conductance, nvertices, "conductances", error));
	return EMOGI_OK;
}

/*
 * PAGERANK: find the offsets of the edges out in device memory, or bring them there, evicting nothing. field->out stays
 * NULL when the Graph has none or there is no room: edges are counted then.
 */
static EmogiStatus
place_out(Gather *gather, const EmogiGraph *graph, EmogiError *error)
{
	Run		   *run = gather->run;
	const uint64_t *offsets = graph->backward.offsets;
	const uint64_t bytes = (run->nvertices + 1) * sizeof *offsets;
	uint64_t	left_bytes;
	uint64_t   *copy;
	EmogiStatus status;

	if (offsets == graph->forward.offsets)
		gather->field.out = run->graph.forward.offsets;
	else if (offsets != NULL)
		gather->field.out = (const uint64_t *) emogi_resident_use(run->state, offsets, bytes);
	if (gather->field.out != NULL || offsets == NULL)
		return EMOGI_OK;
	TRY(emogi_memory_left(&run->memory, &left_bytes, error));
	if (bytes + emogi_resident_idle_bytes(run->state) > left_bytes)
		return EMOGI_OK;
	status = take_array(&run->memory, &copy, run->nvertices + 1, "offsets of edges out", error);
	if (status == EMOGI_NO_MEMORY)
		return EMOGI_OK;		/* slower, but an answer */
	TRY(status);
	TRY(emogi_run_send(run, copy, offsets, bytes, error));
	emogi_resident_keep(run->state, &run->memory, offsets, 0);
	gather->field.out = copy;
	return EMOGI_OK;
}

/* Choose how to read lists: from device memory cut where that pays, from host memory by a Feed where it has room. */
static EmogiStatus
open_lists(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	const bool	ranks = query->algorithm == EMOGI_PAGERANK;
	const uint32_t width = ranks ? 0 : edge_bytes(graph->weight_type) - (uint32_t) sizeof(Target);
	Run		   *run = gather->run;

	if (ranks)
		TRY(place_out(gather, graph, error));
	TRY(emogi_cut_open(run, ranks ? (uint64_t) query->max_iterations : 0, gather->list, &gather->cut, error));
	gather->field.nlists = gather->cut.nlists;
	if (gather->cut.nsegments > 1)
		gather->field.sum = gather->cut.sum;
	return emogi_feed_open(&gather->feed, run, &graph->forward, width, error);
}

/* Read some chunks. */
static EmogiStatus
launch(Gather *gather, GatherKernel kernel, const Lists<Target> &lists, Chunks chunks, EmogiError *error)
{
	Run		   *run = gather->run;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, lists, gather->field, chunks, run->step);
	return EMOGI_OK;
}

/* Read all lists once, with a kernel that takes the arguments of `gather`; `more`: another sweep follows. */
static EmogiStatus
sweep(Gather *gather, GatherKernel kernel, bool more, EmogiError *error)
{
	Feed	   *feed = &gather->feed;
	Lists<Target> lists = gather->cut.lists;
	Chunks		chunks = {0, gather->field.nchunks};

	if (feed->npieces == 0)
		return launch(gather, kernel, lists, chunks, error);
	emogi_feed_begin(feed, more);
	for (uint64_t i = 0; i < feed->npieces; i++)
	{
		TRY(emogi_feed_take(feed, &lists, &chunks.first, &chunks.upto, error));
		TRY(launch(gather, kernel, lists, chunks, error));
		TRY(emogi_feed_give_back(feed, error));
	}
	return emogi_feed_end(feed, error);
}

/* Reduce what the blocks of `finish` have left. */
static EmogiStatus
reduce_parts(Gather *gather, EmogiError *error)
{
	Run		   *run = gather->run;

	CUDA_LAUNCH(gather->method.reduce, 1, BLOCK_THREADS, run->state->stream, gather->field,
				(uint32_t) run->full_blocks);
	return EMOGI_OK;
}

/* PAGERANK: edges out, first values, what they contribute. Get how often it reads all targets. */
static EmogiStatus
start_pagerank(Gather *gather, int *ntargets, EmogiError *error)
{
	auto	   *const spread = finish<PageRank, true>;
	Run		   *run = gather->run;
	cudaStream_t stream = run->state->stream;

	if (gather->field.out == NULL)
	{
		CUDA_TRY(cudaMemsetAsync(gather->field.degree, 0, run->nvertices * sizeof *gather->field.degree, stream));
		TRY(sweep(gather, count_degrees, true, error));
		*ntargets = 1;
	}
	CUDA_LAUNCH(start_ranks, run->full_blocks, BLOCK_THREADS, stream, gather->field);
	CUDA_LAUNCH(spread, run->full_blocks, BLOCK_THREADS, stream, gather->cut.lists.offsets, gather->field);
	return reduce_parts(gather, error);
}

/* Bring everything to where the first iteration begins. Get how often it reads all targets, and all weights. */
static EmogiStatus
start_values(Gather *gather, const EmogiQuery *query, int *ntargets, int *nweights, EmogiError *error)
{
	Run		   *run = gather->run;
	const uint64_t *offsets = gather->cut.lists.offsets;

	if (gather->cut.nsegments > 1)
		TRY(emogi_cut_lists(run, &gather->cut, error));
	else
		CUDA_LAUNCH(find_lists, run->full_blocks, BLOCK_THREADS, run->state->stream, offsets, run->nvertices,
					gather->field.nchunks, gather->list);
	if (query->algorithm == EMOGI_PAGERANK)
		return start_pagerank(gather, ntargets, error);
	if (query->algorithm == EMOGI_CIRCUIT)
	{
		*ntargets = *nweights = 1;
		TRY(sweep(gather, gather->method.weigh, true, error));
		CUDA_LAUNCH(start_circuit, run->full_blocks, BLOCK_THREADS, run->state->stream, offsets, gather->field);
	}
	return EMOGI_OK;
}

/* Iterate until the change is small. Get how many iterations were made, and the change of the last. */
static EmogiStatus
iterate(Gather *gather, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Run		   *run = gather->run;
	const Outcome *outcome = (const Outcome *) run->state->mailbox;

	run->control->total = (uint64_t) query->max_iterations * run->nvertices;
	for (int64_t i = 0; i < query->max_iterations; i++)
	{
		run->control->level = (uint32_t) i;
		run->control->done = (uint64_t) i * run->nvertices;
		if (run->control->cancel)
			return EMOGI_CANCELED;
		TRY(sweep(gather, gather->method.gather, i + 1 < query->max_iterations, error));
		CUDA_LAUNCH(gather->method.finish, run->full_blocks, BLOCK_THREADS, run->state->stream,
					gather->cut.lists.offsets, gather->field);
		TRY(reduce_parts(gather, error));
		CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, gather->field.outcome, sizeof *outcome, cudaMemcpyDeviceToHost,
								 run->state->stream));
		TRY(emogi_cuda_wait(run->state, run->control, error));
		result->nlevels = (uint32_t) (i + 1);
		result->change = outcome->change;
		if (result->change < query->tolerance)
			break;
	}
	return EMOGI_OK;
}

/* Count what `ntargets` readings of all targets and `nweights` of all weights took. */
static void
account(const Gather *gather, const EmogiGraph *graph, uint64_t ntargets, uint64_t nweights, EmogiResult *result)
{
	const uint64_t nedges = graph->forward.nedges;
	const uint64_t width = edge_bytes(graph->weight_type) - sizeof(Target);
	const uint64_t target_lines = (nedges * sizeof(Target) + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;
	const uint64_t weight_lines = (nedges * width + EMOGI_LINE_BYTES - 1) / EMOGI_LINE_BYTES;

	result->edges_traversed = ntargets * nedges;
	if (gather->feed.npieces > 0)
		result->link_bytes = gather->feed.copied_bytes;
	else if (gather->run->graph.placement == EMOGI_PLACEMENT_HOST)
		result->link_bytes = (ntargets * target_lines + nweights * weight_lines) * EMOGI_LINE_BYTES;
}

/* Place the Graph and run. The Feed is the caller's to close. */
static EmogiStatus
run_gather(Gather *gather, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	const bool	ranks = query->algorithm == EMOGI_PAGERANK;
	Run		   *run = gather->run;
	int			ntargets = 0;
	int			nweights = 0;

	TRY(take_arrays(gather, graph, query, error));
	if (!ranks)
		TRY(emogi_run_send(run, gather->field.value, query->values, run->nvertices * sizeof *query->values, error));
	TRY(emogi_run_place(run, graph, query, ranks ? 0 : PLACE_WEIGHTS, (const void *const *) &gather->method.gather, 1,
						ranks ? sizeof(Target) : edge_bytes(graph->weight_type), error));
	TRY(open_lists(gather, graph, query, error));

	TRY(emogi_run_start_clock(run, error));
	TRY(start_values(gather, query, &ntargets, &nweights, error));
	TRY(iterate(gather, query, result, error));
	TRY(emogi_run_stop_clock(run, result, error));

	account(gather, graph, ntargets + result->nlevels, ranks ? 0 : nweights + result->nlevels, result);
	result->nreached = run->nvertices;
	return emogi_run_fetch(run, result->value, gather->field.value, run->nvertices * sizeof *result->value, error);
}

EmogiStatus
emogi_cuda_gather(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	Gather		gather = {};
	EmogiStatus status;

	if (query->max_iterations < 1 || !(query->tolerance >= 0))
		return emogi_fail(error, EMOGI_BAD_INPUT, "at least one iteration and a tolerance of 0 or more are needed",
						  "max_iterations %lld, tolerance %g", (long long) query->max_iterations, query->tolerance);
	if (query->algorithm != EMOGI_PAGERANK && query->values == NULL)
		return emogi_fail(error, EMOGI_BAD_INPUT, "start values are needed", "algorithm %d", (int) query->algorithm);
	gather.run = run;
	gather.method = choose_method(query->algorithm, graph->weight_type);
	status = run_gather(&gather, graph, query, result, error);
	emogi_feed_close(&gather.feed);
	return status;
}
