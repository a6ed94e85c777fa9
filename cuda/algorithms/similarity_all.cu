/*
 * similarity_all.cu: the vertices with the most similar neighborhoods for each vertex.
 *
 * Returns vertex2[nvertices * top_k] and similarity[nvertices * top_k]: for vertex v from v * top_k
 * on, best first, ties by vertex; padded with EMOGI_NO_VERTEX and 0 after the vertices that share a
 * neighbor and reach the cutoff.
 *
 * Method. A block processes one vertex. Each of its warps takes a neighbor, and counts the targets
 * of that neighbor's list in the transpose. The counts are in a hash table in shared memory, of one
 * of three sizes; if the possible candidates do not fit, in a row of device memory with one counter
 * a vertex and a list of touched counters. Then the counted vertices are scanned, 256 at a time.
 * Those that precede the last of the best so far are collected as candidates, and from time to time
 * one warp selects the best of them, one after the other. A neighbor with a long list is processed
 * by the whole block. Counts are integers, and the order is strict, so the result does not depend
 * on the schedule; the division is the CPU engine's, bit for bit.
 *
 * Device memory, for n vertices: 16.2n, 12n top_k for the result, and 8n for each block with
 * counters in device memory.
 *
 * Bytes: the list of every vertex, and 16 of offsets and the list in the transpose for every
 * neighbor; an operation in shared memory for each entry of these, or 4 at random in device memory;
 * 4 at random for each vertex counted.
 */
#include "cuda/placement/placement_internal.cuh"
#include "cuda/algorithms/similarity_all.cuh"
#include "cuda/lists/simple_graph.cuh"

#define MANY_BLOCKS 2			/* per multiprocessor, with counters in device memory */

/* Take the arrays except the counters in device memory. */
static EmogiStatus
take_arrays(Run *run, const EmogiQuery *query, TopSimilar *top, uint32_t **all, EmogiError *error)
{
	const uint64_t n = run->nvertices;

	*top = TopSimilar{n, query->measure, query->cutoff, (uint32_t) query->top_k};
	if (query->top_k > MAX_BEST)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "top_k is larger than the GPU supports",
								 "%lld, at most %d", (long long) query->top_k, MAX_BEST);
	TRY(take_array(&run->memory, &top->size, n, "sizes of sets", error));
	TRY(take_array(&run->memory, &top->order, TABLES * n, "order of vertices", error));
	TRY(take_array(&run->memory, &top->length, TABLES + 1, "numbers of vertices", error));
	TRY(take_array(&run->memory, all, run->nwords, "bitmap of vertices", error));
	TRY(take_array(&run->memory, &top->vertex2, n * top->top_k, "vertices", error));
	return take_array(&run->memory, &top->similarity, n * top->top_k, "similarities", error);
}

/* Choose the number of blocks with counters in device memory, and take the counters. */
static EmogiStatus
take_counts(Run *run, TopSimilar *top, uint64_t nmany, int *nblocks, EmogiError *error)
{
	const uint64_t row_bytes = 2 * run->nvertices * sizeof *top->counts;
	uint64_t	left;
	uint64_t	max;

	TRY(emogi_memory_left(&run->memory, &left, error));
	max = (left > HEADROOM_BYTES ? left - HEADROOM_BYTES : 0) / row_bytes;
	if (max > (uint64_t) MANY_BLOCKS * run->state->units)
		max = (uint64_t) MANY_BLOCKS * run->state->units;
	if (max > nmany)
		max = nmany;
	*nblocks = max > 0 ? (int) max : 1;
	TRY(take_array(&run->memory, &top->counts, *nblocks * run->nvertices,
				   "counts of shared neighbors", error));
	TRY(take_array(&run->memory, &top->touched, *nblocks * run->nvertices, "vertices counted",
				   error));
	CUDA_TRY(cudaMemsetAsync(top->counts, 0, *nblocks * run->nvertices * sizeof *top->counts,
							 run->state->stream));
	return EMOGI_OK;
}

/* Process the vertices of a table. */
template <uint32_t NUMBER>
static EmogiStatus
answer_few(Run *run, const TopSimilar *top, EmogiError *error)
{
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(similarity_few_kernel<NUMBER>, run->full_blocks, BLOCK_THREADS, run->state->stream,
				run->graph.forward, run->graph.backward, *top, run->step);
	return EMOGI_OK;
}

/* Process all vertices. */
static EmogiStatus
answer_all(Run *run, TopSimilar *top, uint32_t *all, EmogiError *error)
{
	const Lists<Target> &lists = run->graph.forward;
	const Lists<Target> &back = run->graph.backward;
	cudaStream_t stream = run->state->stream;
	uint64_t	nmany;

	CUDA_TRY(cudaMemsetAsync(all, 0xFF, run->nwords * sizeof *all, stream));
	if (run->nvertices % 32 != 0)	/* clear the bits beyond the last vertex */
	{
		const uint32_t word = (UINT32_C(1) << run->nvertices % 32) - 1;

		TRY(emogi_run_send(run, all + run->nwords - 1, &word, sizeof word, error));
	}
	TRY(emogi_similarity_count_sets(run, all, top->size, error));
	CUDA_TRY(cudaMemsetAsync(top->length, 0, (TABLES + 1) * sizeof *top->length, stream));
	CUDA_LAUNCH(similarity_sort_kernel, run->full_blocks, BLOCK_THREADS, stream, lists, back, *top,
				run->step);
	TRY(answer_few<0>(run, top, error));
	TRY(answer_few<1>(run, top, error));
	TRY(answer_few<2>(run, top, error));
	static_assert(TABLES == 3, "all tables have their kernels");
	TRY(emogi_run_fetch(run, &nmany, top->length + TABLES, sizeof nmany, error));
	if (nmany > 0)
	{
		int			nblocks;

		TRY(take_counts(run, top, nmany, &nblocks, error));
		TRY(emogi_run_begin_step(run, error));
		CUDA_LAUNCH(similarity_many_kernel, nblocks, BLOCK_THREADS, stream, lists, back, *top,
					run->step);
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_similarity_all(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
					 EmogiResult *result, EmogiError *error)
{
	const uint64_t length = run->nvertices * (uint64_t) query->top_k;
	TopSimilar		top;
	uint32_t   *all;

	TRY(take_arrays(run, query, &top, &all, error));
	TRY(emogi_simple_graph_place(run, graph, query, PLACE_BACKWARD_REQUIRED,
								 8 * run->nvertices * run->state->units, error));
	TRY(emogi_run_start_clock(run, error));
	TRY(answer_all(run, &top, all, error));
	TRY(emogi_run_stop_clock(run, result, error));
	TRY(emogi_run_account_read(run, result, error));
	result->nreached = run->nvertices;
	TRY(emogi_run_fetch(run, result->columns[0].vertex, top.vertex2,
						length * sizeof *top.vertex2, error));
	return emogi_run_fetch(run, result->columns[1].float64, top.similarity,
						   length * sizeof *top.similarity, error);
}
