/*
 * sweeps.cu: setup of a run by a mapping: opening, placement of its graph, grid sizes, and
 * accounting of the reads.
 */
#include "cuda/papers/papers.cuh"
#include "cuda/access/weights.cuh"

/* Return the maximum number of Items for lists of one orientation. */
static uint64_t
item_capacity(const EmogiGraph *graph, const EmogiAdjacency *adjacency, bool cuts)
{
	const uint64_t nlists = adjacency->nedges < graph->nvertices ? adjacency->nedges :
		graph->nvertices;

	return cuts ? nlists + adjacency->nedges / CUT_DEGREE : nlists;
}

EmogiStatus
emogi_sweeps_open(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
				  unsigned does, EmogiError *error)
{
	const bool	cuts = query->papers.mapping == EMOGI_MAPPING_DEGREE_CUT;
	const uint64_t forward = item_capacity(graph, &graph->forward, cuts);
	const uint64_t backward = graph->backward.offsets != NULL ?
		item_capacity(graph, &graph->backward, cuts) : 0;
	const uint64_t capacity = forward > backward ? forward : backward;
	DeviceMemory *memory = &run->memory;

	memset(sweeps, 0, sizeof *sweeps);
	sweeps->run = run;
	sweeps->mapping = query->papers.mapping;
	sweeps->bytes.target = query->papers.id_bytes == 8 ? 8 : 4;
	if (does & SWEEPS_WEIGHTS)
		sweeps->bytes.weight = edge_bytes(graph->weight_type) - (uint32_t) sizeof(Target);
	sweeps->nthreads = cuts ? CUT_THREADS : BLOCK_THREADS;
	sweeps->capacity = capacity;
	if (cuts || (does & SWEEPS_ALL) == 0)
		TRY(take_array(memory, &sweeps->items.vertex, capacity, "vertices of items", error));
	if (cuts)
		TRY(take_array(memory, &sweeps->items.index, capacity, "parts of lists", error));
	if (cuts && (does & SWEEPS_SUMS))
		TRY(take_array(memory, &sweeps->items.part, capacity, "sums of parts", error));
	if (!query->papers.count_requests)
		return EMOGI_OK;
	TRY(take_array(memory, &sweeps->requests, 4, "requests", error));
	CUDA_TRY(cudaMemsetAsync(sweeps->requests, 0, 4 * sizeof *sweeps->requests,
							 run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_sweeps_place(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
				   EmogiError *error)
{
	EmogiQuery	seen = *query;

	if (sweeps->bytes.weight > 0)
		wants |= PLACE_WEIGHTS;
	if (query->placement == EMOGI_PLACEMENT_MANAGED && graph->forward.nedges > 0)
		return emogi_papers_place_managed(sweeps, graph, query, wants, error);
	if (query->placement == EMOGI_PLACEMENT_STAGED && graph->forward.nedges > 0)
		return emogi_papers_place_staged(sweeps, graph, query, wants, error);
	if (query->placement == EMOGI_PLACEMENT_MANAGED || query->placement == EMOGI_PLACEMENT_STAGED)
		seen.placement = EMOGI_PLACEMENT_DEVICE;
	TRY(emogi_run_place(sweeps->run, graph, &seen, wants, NULL, 0, sizeof(Target), error));
	if (sweeps->run->graph.placement != EMOGI_PLACEMENT_HOST)
		sweeps->requests = NULL;	/* there are none on the link */
	return query->papers.id_bytes == 8 ? emogi_papers_make_wide_targets(sweeps, wants, error) :
		EMOGI_OK;
}

EmogiStatus
emogi_sweeps_fit(Sweeps *sweeps, const void *kernel, EmogiError *error)
{
	int			fits;

	CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernel, sweeps->nthreads, 0));
	sweeps->nblocks = (fits > 0 ? fits : 1) * sweeps->run->state->units;
	return EMOGI_OK;
}

EmogiStatus
emogi_sweeps_account(Sweeps *sweeps, EmogiResult *result, EmogiError *error)
{
	const EmogiPlacement placement = sweeps->run->graph.placement;

	if (sweeps->requests != NULL)
	{
		unsigned long long requests[4];

		TRY(emogi_run_fetch(sweeps->run, requests, sweeps->requests, sizeof requests, error));
		sweeps->lines = 0;
		for (int i = 0; i < 4; i++)
			sweeps->lines += result->papers.requests[i] = requests[i];
	}
	result->edges_traversed = sweeps->edges;
	result->link_bytes = placement == EMOGI_PLACEMENT_HOST ? sweeps->lines * EMOGI_LINE_BYTES :
		sweeps->managed_bytes + sweeps->staged_bytes;
	return EMOGI_OK;
}
