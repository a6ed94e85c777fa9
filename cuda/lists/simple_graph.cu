/*
 * simple_graph.cu: construction of lists of selected edges (edge_filter.cuh), and of those of a
 * simple graph.
 *
 * Device memory in addition to the lists, for n vertices and m edges: of Entries m/8 and 4.5n, of a
 * Selection 5m/32. Bytes: of a selection the edges once, and m/4; of building lists the edges once
 * more, and the output.
 */
#include "cuda/lists/simple_graph.cuh"
#include "cuda/placement/placement_internal.cuh"
#include "cuda/access/prefix_sum.cuh"

/*
 * Compute the offsets of the lists of selected edges. Bytes: 16 per list, and some of the
 * selection.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
select_offsets_kernel(const uint64_t *offsets, uint64_t nvertices, Selection selection,
					  uint64_t *out)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t v = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; v <= nvertices;
		 v += nthreads)
		out[v] = count_before(selection, offsets[v]);
}

/*
 * Write the selected edges and, unless ways is NULL, 1 + (whether `both` selects the edge, too).
 * Bytes: the edges once, and the output.
 */
static __global__ void __launch_bounds__(BLOCK_THREADS)
select_write_kernel(Lists<Target> lists, uint64_t nchunks, Selection selection, Selection both,
					Target *targets, uint8_t *ways, Step step)
{
	sweep_chunks(step, 0, nchunks, [&](uint64_t chunk) {
#pragma unroll 1
		for (uint32_t r = 0; r < CHUNK_ROUNDS; r++)
		{
			const uint64_t entry = round_entry(chunk, r);
			const uint32_t wanted = __ldcs((const uint8_t *) selection.bits + entry / LANE_ENTRIES);
			const uint32_t upto = warp_prefix_sum(__popc(wanted));
			const uint32_t twice = ways != NULL ?
				__ldcs((const uint8_t *) both.bits + entry / LANE_ENTRIES) : 0;
			const uint32_t length = wanted != 0 ? edge_vector_length(lists, entry) : 0;
			const EdgeVector<NoWeight> vector = read_edge_vector<NoWeight>(lists, entry, length);
			uint64_t	to = __ldg(&selection.before[chunk * CHUNK_ROUNDS + r]) + upto -
				__popc(wanted);

#pragma unroll
			for (uint32_t j = 0; j < LANE_ENTRIES; j++)
			{
				if ((wanted >> j & 1) == 0)
					continue;
				targets[to] = vector.target[j];
				if (ways != NULL)
					ways[to] = (uint8_t) (1 + (twice >> j & 1));
				to++;
			}
		}
	});
}

EmogiStatus
emogi_simple_graph_entries_open(Run *run, const Lists<Target> &lists, Entries *entries,
								EmogiError *error)
{
	const bool	placed = lists.targets == run->graph.forward.targets ||
		lists.targets == run->graph.backward.targets;

	*entries = Entries{lists, {}, NULL, NULL, placed ? run->nblocks : run->full_blocks};
	TRY(take_array(&run->memory, &entries->memory,
				   emogi_edge_chunks_index_words(lists.nedges, run->nwords), "index of lists",
				   error));
	TRY(take_array(&run->memory, &entries->vertex, run->nvertices, "lists by rank", error));
	entries->list_index = emogi_edge_chunks_lay_out_index(entries->memory, lists.nedges, run->nwords);
	TRY(emogi_edge_chunks_make_index(run, lists.offsets, &entries->list_index, error));
	return emogi_edge_chunks_name_lists(run, &entries->list_index, entries->vertex, error);
}

void
emogi_simple_graph_entries_close(Run *run, Entries *entries)
{
	emogi_memory_return(&run->memory, entries->memory);
	emogi_memory_return(&run->memory, entries->vertex);
	entries->memory = entries->vertex = NULL;
}

EmogiStatus
emogi_edge_filter_open(Run *run, uint64_t nedges, Selection *selection, EmogiError *error)
{
	const uint64_t nrounds = count_chunks(nedges) * CHUNK_ROUNDS;

	*selection = Selection{nrounds, NULL, NULL, NULL};
	TRY(take_array(&run->memory, &selection->bits, nrounds * ROUND_WORDS, "bits of entries",
				   error));
	TRY(take_array(&run->memory, &selection->before, nrounds + 1 + count_tiles(nrounds + 1),
				   "places of entries", error));
	selection->tile = selection->before + nrounds + 1;
	return EMOGI_OK;
}

void
emogi_edge_filter_close(Run *run, Selection *selection)
{
	emogi_memory_return(&run->memory, selection->bits);
	emogi_memory_return(&run->memory, selection->before);
	selection->bits = NULL;
	selection->before = NULL;
}

EmogiStatus
emogi_edge_filter_sum(Run *run, const Selection *selection, EmogiError *error)
{
	return prefix_sum(run, selection->before, selection->nrounds + 1, selection->tile, error);
}

EmogiStatus
emogi_edge_filter_count(Run *run, const Selection *selection, uint64_t *count, EmogiError *error)
{
	CUDA_TRY(cudaMemcpyAsync(run->state->mailbox, selection->before + selection->nrounds,
							 sizeof *count, cudaMemcpyDeviceToHost, run->state->stream));
	TRY(emogi_cuda_wait(run->state, run->control, error));
	*count = *(const uint64_t *) run->state->mailbox;
	return EMOGI_OK;
}

EmogiStatus
emogi_edge_filter_offsets(Run *run, const uint64_t *offsets, const Selection *selection,
						  uint64_t **out, EmogiError *error)
{
	TRY(take_array(&run->memory, out, run->nvertices + 1, "offsets of entries", error));
	CUDA_LAUNCH(select_offsets_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, offsets,
				run->nvertices, *selection, *out);
	return EMOGI_OK;
}

EmogiStatus
emogi_edge_filter_make(Run *run, const Entries *entries, const Selection *selection, uint64_t count,
					   const Selection *both, Csr *csr, uint8_t **ways, EmogiError *error)
{
	/* lines are read whole */
	const uint64_t room = round_up(count, EMOGI_LINE_BYTES / sizeof(Target));

	*csr = Csr{NULL, NULL, count, true};
	TRY(emogi_edge_filter_offsets(run, entries->lists.offsets, selection, &csr->offsets, error));
	TRY(take_array(&run->memory, &csr->targets, room, "wanted entries", error));
	CUDA_TRY(cudaMemsetAsync(csr->targets + count, 0, (room - count) * sizeof(Target),
							 run->state->stream));
	if (ways != NULL)
		TRY(take_array(&run->memory, ways, count, "directions of edges", error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(select_write_kernel, entries->nblocks, BLOCK_THREADS, run->state->stream,
				entries->lists, entries->list_index.nchunks, *selection, both != NULL ? *both :
				Selection{}, csr->targets, ways != NULL ? *ways : NULL, run->step);
	return EMOGI_OK;
}

void
emogi_simple_graph_close(Run *run, Csr *csr)
{
	if (csr->is_own)
	{
		emogi_memory_return(&run->memory, csr->offsets);
		emogi_memory_return(&run->memory, csr->targets);
	}
	*csr = Csr{};
}

bool
emogi_simple_graph_is_directed(const EmogiGraph *graph)
{
	return graph->backward.offsets != NULL && graph->backward.offsets != graph->forward.offsets;
}

EmogiStatus
emogi_simple_graph_place(Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
						 uint64_t bytes, EmogiError *error)
{
	const bool	both = (wants & PLACE_BACKWARD) != 0 && emogi_simple_graph_is_directed(graph);
	const uint64_t targets = target_bytes(&graph->forward) + (both ?
															  target_bytes(&graph->backward) : 0);
	const void *const kernels[] = {
		(const void *) select_kernel<ChooseSimple>, (const void *) select_write_kernel
	};
	EmogiQuery	asked = *query;

	if (asked.placement == EMOGI_PLACEMENT_AUTO)
	{
		uint64_t	left;

		TRY(emogi_memory_left(&run->memory, &left, error));
		if (targets + bytes + HEADROOM_BYTES > left)
			asked.placement = EMOGI_PLACEMENT_HOST;
	}
	return emogi_run_place(run, graph, &asked, wants, kernels, 2, sizeof(Target), error);
}

/* Count the cost of reading all edges of placed lists. */
static void
account(const Run *run, const Lists<Target> &lists, EmogiResult *result)
{
	result->edges_traversed += lists.nedges;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		result->link_bytes += round_up(lists.nedges * sizeof(Target), EMOGI_LINE_BYTES);
}

/* Build lists of the simple edges, or use the placed ones. */
static EmogiStatus
choose_lists(Run *run, const Entries *entries, const Selection *selection, Csr *simple,
			 EmogiResult *result, EmogiError *error)
{
	const Lists<Target> &lists = entries->lists;
	uint64_t	count = 0;

	TRY(select_entries(run, entries, selection, ChooseSimple{}, error));
	account(run, lists, result);
	TRY(emogi_edge_filter_count(run, selection, &count, error));
	*simple = Csr{
		const_cast<uint64_t *>(lists.offsets), const_cast<Target *>(lists.targets), count, false
	};
	if (count == lists.nedges && run->graph.placement == EMOGI_PLACEMENT_DEVICE)
		return EMOGI_OK;
	account(run, lists, result);
	return emogi_edge_filter_make(run, entries, selection, count, NULL, simple, NULL, error);
}

EmogiStatus
emogi_simple_graph_make(Run *run, const Lists<Target> &lists, Csr *simple, EmogiResult *result,
						EmogiError *error)
{
	Entries		entries;
	Selection	selection;

	TRY(emogi_simple_graph_entries_open(run, lists, &entries, error));
	TRY(emogi_edge_filter_open(run, lists.nedges, &selection, error));
	TRY(choose_lists(run, &entries, &selection, simple, result, error));
	emogi_simple_graph_entries_close(run, &entries);
	emogi_edge_filter_close(run, &selection);
	return EMOGI_OK;
}

