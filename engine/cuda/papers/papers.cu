/*
 * papers.cu: chooses who answers for the papers, begins a run by a mapping, sizes its grids, accounts for what it has read.
 */
#include "papers.cuh"
#include "door.cuh"
#include "shards.cuh"
#include "cuda/weights.cuh"

typedef EmogiStatus (*SweepAlgorithm) (Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query,
									   EmogiResult *result, EmogiError *error);

/* What answers each algorithm; NULL = the papers' systems do not have it. */
static const SweepAlgorithm algorithms[] = {
#define emogi_papers_none NULL
#define OTHER(NAME, name, cpu, cuda, papers, ...) emogi_papers_##papers,
#define PATH(NAME, ...) emogi_papers_path,
#define SUM(NAME, ...) emogi_papers_sum,
	EMOGI_ALGORITHMS(OTHER, PATH, SUM)
#undef OTHER
#undef PATH
#undef SUM
};

/* The same in shards. */
static const RunAlgorithm shard_algorithms[] = {
#define emogi_shards_none NULL
#define OTHER(NAME, name, cpu, cuda, papers, ...) emogi_shards_##papers,
#define PATH(NAME, ...) emogi_shards_path,
#define SUM(NAME, ...) emogi_shards_sum,
	EMOGI_ALGORITHMS(OTHER, PATH, SUM)
#undef OTHER
#undef PATH
#undef SUM
};

/* Get the most Items that lists of one orientation give. */
static uint64_t
item_capacity(const EmogiGraph *graph, const EmogiAdjacency *adjacency, bool cuts)
{
	const uint64_t nlists = adjacency->nedges < graph->nvertices ? adjacency->nedges : graph->nvertices;

	return cuts ? nlists + adjacency->nedges / CUT_DEGREE : nlists;
}

EmogiStatus
emogi_papers_open(Sweeps *sweeps, Run *run, const EmogiGraph *graph, const EmogiQuery *query, unsigned does,
				  EmogiError *error)
{
	const bool	cuts = query->papers.mapping == EMOGI_MAPPING_DEGREE_CUT;
	const uint64_t forward = item_capacity(graph, &graph->forward, cuts);
	const uint64_t backward = graph->backward.offsets != NULL ? item_capacity(graph, &graph->backward, cuts) : 0;
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
	CUDA_TRY(cudaMemsetAsync(sweeps->requests, 0, 4 * sizeof *sweeps->requests, run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_place(Sweeps *sweeps, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants, EmogiError *error)
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
	return query->papers.id_bytes == 8 ? emogi_papers_widen(sweeps, wants, error) : EMOGI_OK;
}

EmogiStatus
emogi_papers_fit(Sweeps *sweeps, const void *kernel, EmogiError *error)
{
	int			fits;

	TRY(emogi_run_load_kernels(&kernel, 1, error));
	CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernel, sweeps->nthreads, 0));
	sweeps->nblocks = (fits > 0 ? fits : 1) * sweeps->run->state->units;
	return EMOGI_OK;
}

EmogiStatus
emogi_papers_account(Sweeps *sweeps, EmogiResult *result, EmogiError *error)
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

/* Free what a run has beside run->memory. */
static void
close_sweeps(Sweeps *sweeps, Run *run)
{
	emogi_staged_close(sweeps);
	if (sweeps->pinned == NULL && sweeps->managed == NULL)
		return;
	(void) cudaStreamSynchronize(run->state->stream);	/* nothing may run on what is freed now */
	(void) cudaFreeHost(sweeps->pinned);
	(void) cudaFree(sweeps->managed);
	(void) cudaGetLastError();
	run->state->taken_bytes -= sweeps->managed_bytes;
}

/* Run by one of the mappings of mapping.cuh, with any placement. Its kernels are brought to the device then. */
static EmogiStatus
run_mapping(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiError *error)
{
	EmogiQuery	asked = *query;
	Sweeps		sweeps = {};
	EmogiStatus status;

	if (query->placement == EMOGI_PLACEMENT_STAGED && query->papers.mapping == EMOGI_MAPPING_DEGREE_CUT)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "staged placement does not go with the degree_cut mapping",
								 "degree_cut cuts lists where they stand, staged placement brings them elsewhere");
	if (query->papers.mapping == EMOGI_MAPPING_AUTO)
		asked.papers.mapping = EMOGI_MAPPING_ALIGNED;
	status = algorithms[query->algorithm] (&sweeps, run, graph, &asked, result, error);
	close_sweeps(&sweeps, run);
	return status;
}

/* Say whether a query can have targets of 8 bytes. */
static bool
can_widen(const EmogiQuery *query)
{
	return (query->algorithm == EMOGI_BFS || emogi_is_path(query->algorithm) || query->algorithm == EMOGI_CC) &&
		query->papers.mapping <= EMOGI_MAPPING_ALIGNED &&
		(query->placement == EMOGI_PLACEMENT_HOST || query->placement == EMOGI_PLACEMENT_DEVICE);
}

EmogiStatus
emogi_papers_choose(const EmogiQuery *query, RunAlgorithm *algorithm, EmogiError *error)
{
	const EmogiMapping mapping = query->papers.mapping;
	const bool	wide = query->papers.id_bytes == 8;

	if ((unsigned) mapping >= EMOGI_NMAPPINGS)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "unknown mapping", "number %d", (int) mapping);
	if (wide && !can_widen(query))
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "ids of 8 bytes are there for bfs, best paths and cc by thread, warp and "
						  "aligned in host and device placement alone", "algorithm %d, mapping %d, placement %d",
						  (int) query->algorithm, (int) mapping, (int) query->placement);
	if (mapping == EMOGI_MAPPING_AUTO && !wide && query->placement != EMOGI_PLACEMENT_MANAGED &&
		query->placement != EMOGI_PLACEMENT_STAGED)
		return EMOGI_OK;
	if (algorithms[query->algorithm] == NULL)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "the papers' systems do not have this algorithm", "%s",
						  emogi_algorithm_row(query->algorithm)->name);
	*algorithm = mapping == EMOGI_MAPPING_SHARDS || mapping == EMOGI_MAPPING_WINDOWS ?
		shard_algorithms[query->algorithm] : run_mapping;
	return EMOGI_OK;
}
