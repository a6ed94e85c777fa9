/*
 * cdlp.cu: community detection by label propagation.
 *
 * Returns label[nvertices], as defined by LDBC Graphalytics [1]: every vertex starts with itself as
 * its label, and in each iteration adopts the most frequent label among its neighbors in the
 * previous one, the smallest if there are several. A neighbor in both directions counts twice;
 * repeated edges and self-loops are skipped. It ends after max_iterations, or when no label
 * changes.
 *
 * Method. Labels are counted in hash tables in shared memory, by the length of the lists [2]: up to
 * SHORT_LIST entries by LINE_LANES lanes, up to WARP_LIST by a warp, longer ones by a block. Every
 * addition returns the new count, and the last addition to a label returns its total. So the
 * maximum over the lanes of (count << 32 | ~label) is the result, and tables need not be scanned.
 * The table of a block does not hold all labels of a hub. Labels without a slot are counted
 * together under another hash, which gives an upper bound for each of them. If the best label of
 * the table has more, it is the best of all [2]. Otherwise the vertex is queued, and counted in a
 * table in device memory, which is allocated only then. In the first iteration all labels are
 * distinct. With lists of one direction the result then is the first neighbor. All labels of an
 * iteration are computed from those of the previous one, so the result does not depend on the
 * schedule.
 *
 * Device memory, for n vertices and m entries: 8n and m/64; for tables 16 to 32 bytes an entry of
 * the longest list, as many tables as fit in TABLES_BYTES, at least one.
 *
 * Bytes an iteration: 8 or 16 of offsets and 4 of the result a vertex; every list once, in lines; 4
 * of a label at random an entry.
 *
 * [1] A. Iosup et al.: The LDBC Graphalytics Benchmark. arXiv:2011.15028. Section 2.3.3; the
 *     algorithm is that of U. Raghavan, R. Albert, S. Kumara: Near linear time algorithm to detect
 *     community structures in large-scale networks. Physical Review E 76, 2007.
 * [2] C. Ye, Y. Li, B. He, Z. Li, J. Sun: GPU-Accelerated Graph Label Propagation for Real-Time
 *     Fraud Detection. SIGMOD 2021.
 */
#include "cuda/access/edge_chunks.cuh"
#include "cuda/algorithms/cdlp.cuh"
#include "cuda/lists/simple_graph.cuh"

#define TABLES_BYTES (UINT64_C(512) << 20)

/* They read edges, with as many blocks as fit on the device. */
static const void *const edge_kernels[] = {
	(const void *) cdlp_short_kernel, (const void *) cdlp_long_kernel
};

/* Count the vertices whose labels did not fit, in tables in device memory. */
static EmogiStatus
count_overflow(Run *run, Propagation *propagation, uint32_t longest, EmogiError *error)
{
	/* the same in every iteration */
	const uint64_t slots = UINT64_C(1) << choose_shift(longest, 31);
	const uint64_t fitting = TABLES_BYTES / (2 * slots * sizeof(uint32_t));
	const uint64_t nblocks = fitting < 1 ? 1 : fitting < (uint64_t) run->nblocks ? fitting :
		(uint64_t) run->nblocks;

	if (propagation->tables == NULL)
		TRY(take_array(&run->memory, &propagation->tables, 2 * slots * nblocks, "tables of labels",
					   error));
	propagation->slots = (uint32_t) slots;
	CUDA_LAUNCH(cdlp_overflow_kernel, (int) nblocks, BLOCK_THREADS, run->state->stream,
				*propagation, run->step);
	return EMOGI_OK;
}

/* Run an iteration, and get the number of changed labels. */
static EmogiStatus
iterate(Run *run, Propagation *propagation, bool is_first, uint64_t *changed, EmogiError *error)
{
	cudaStream_t stream = run->state->stream;
	const Counters *counters;
	uint32_t	numbers[NQUEUE_NUMBERS];

	TRY(emogi_run_begin_step(run, error));
	if (is_first && propagation->lists[1].offsets == NULL)
	{
		CUDA_LAUNCH(cdlp_first_kernel, run->full_blocks, BLOCK_THREADS, stream, *propagation,
					run->step);
		TRY(emogi_run_read(run, &counters, error));
		*changed = counters->claimed;
		return EMOGI_OK;
	}
	CUDA_TRY(cudaMemsetAsync(propagation->nqueued, 0, sizeof numbers, stream));
	CUDA_LAUNCH(cdlp_short_kernel, run->nblocks, BLOCK_THREADS, stream, *propagation, run->step);
	CUDA_LAUNCH(cdlp_long_kernel, run->nblocks, BLOCK_THREADS, stream, *propagation, run->step);
	TRY(emogi_run_fetch(run, numbers, propagation->nqueued, sizeof numbers, error));
	if (numbers[2] > 0)
		TRY(count_overflow(run, propagation, numbers[4], error));
	TRY(emogi_run_read(run, &counters, error));
	*changed = counters->claimed;
	return EMOGI_OK;
}

/* Iterate until nothing changes, or max_iterations. */
static EmogiStatus
propagate(Run *run, Propagation *propagation, uint32_t *labels[2], int64_t max_iterations,
		  EmogiResult *result, EmogiError *error)
{
	uint64_t	changed = 1;

	propagation->next = labels[0];
	CUDA_LAUNCH(cdlp_begin_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				*propagation);
	for (int64_t i = 0; i < max_iterations && changed > 0; i++)
	{
		propagation->label = labels[i % 2];
		propagation->next = labels[(i + 1) % 2];
		run->control->level = (uint32_t) i;
		TRY(iterate(run, propagation, i == 0, &changed, error));
		result->nlevels++;
	}
	return EMOGI_OK;
}

/* Take all device memory except the tables. */
static EmogiStatus
take_arrays(Run *run, const EmogiGraph *graph, Propagation *propagation, uint32_t **labels,
			EmogiError *error)
{
	const uint64_t nedges = graph->forward.nedges +
		(emogi_simple_graph_is_directed(graph) ? graph->backward.nedges : 0);

	propagation->nvertices = run->nvertices;
	TRY(take_array(&run->memory, &labels[0], run->nvertices, "labels", error));
	TRY(take_array(&run->memory, &labels[1], run->nvertices, "labels", error));
	TRY(take_array(&run->memory, &propagation->queue[0], 2 * (nedges / WARP_LIST + 1), "queue",
				   error));
	TRY(take_array(&run->memory, &propagation->nqueued, NQUEUE_NUMBERS, "queue's length", error));
	propagation->queue[1] = propagation->queue[0] + nedges / WARP_LIST + 1;
	propagation->longest = propagation->nqueued + 4;
	return EMOGI_OK;
}

EmogiStatus
emogi_cuda_cdlp(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				EmogiError *error)
{
	const bool	is_directed = emogi_simple_graph_is_directed(graph);
	Propagation propagation = {};
	uint32_t   *labels[2];

	TRY(take_arrays(run, graph, &propagation, labels, error));
	TRY(emogi_run_place(run, graph, query, is_directed ? PLACE_BACKWARD_REQUIRED : 0,
						edge_kernels, lengthof(edge_kernels), sizeof(Target), error));
	propagation.lists[0] = run->graph.forward;
	if (is_directed)
		propagation.lists[1] = run->graph.backward;
	TRY(emogi_run_start_clock(run, error));
	TRY(propagate(run, &propagation, labels, query->max_iterations, result, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = run->nvertices;
	return emogi_run_give(run, query, result, 0, propagation.next, error);
}
