/*
 * papers.cu: choice of the algorithm for a query by one of the papers' systems, and runs by a
 * mapping.
 */
#include "cuda/papers/papers.cuh"
#include "cuda/papers/shards.cuh"
#include "contract/semirings.h"
#include "cuda/core/papers_module.cuh"

/* The implementation of each algorithm; NULL = the papers' systems lack it. */
static SweepFunction *const algorithms[] = {
#define emogi_papers_none NULL
#define OTHER(NAME, name, cpu, cuda, papers, ...) emogi_papers_##papers,
#define PATH(NAME, ...) emogi_papers_path,
#define SUM(NAME, ...) emogi_papers_sum,
	EMOGI_ALGORITHMS(OTHER, PATH, SUM)
#undef OTHER
#undef PATH
#undef SUM
};

/* The implementation of each algorithm on shards. */
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

/* Free a run's resources outside run->memory. */
static void
close_sweeps(Sweeps *sweeps, Run *run)
{
	emogi_staged_close(sweeps);
	if (sweeps->pinned == NULL && sweeps->managed == NULL)
		return;
	/* wait for kernels that use the memory freed below */
	(void) cudaStreamSynchronize(run->state->stream);
	(void) cudaFreeHost(sweeps->pinned);
	(void) cudaFree(sweeps->managed);
	(void) cudaGetLastError();
	run->state->taken_bytes -= sweeps->managed_bytes;
}

/* Run by one of the mappings of mapping.cuh, with any placement. This loads the kernels. */
static EmogiStatus
run_mapping(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			EmogiError *error)
{
	EmogiQuery	asked = *query;
	Sweeps		sweeps = {};
	EmogiStatus status;

	if (query->placement == EMOGI_PLACEMENT_STAGED &&
		query->papers.mapping == EMOGI_MAPPING_DEGREE_CUT)
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "staged placement does not support the degree_cut mapping",
								 "degree_cut splits lists in place, but staged placement copies "
								 "them");
	if (query->papers.mapping == EMOGI_MAPPING_AUTO)
		asked.papers.mapping = EMOGI_MAPPING_ALIGNED;
	status = algorithms[query->algorithm] (&sweeps, run, graph, &asked, result, error);
	close_sweeps(&sweeps, run);
	return status;
}

/* Return whether a query supports targets of 8 bytes. */
static bool
can_widen(const EmogiQuery *query)
{
	return algorithms[query->algorithm] == emogi_papers_path &&
		query->papers.mapping <= EMOGI_MAPPING_ALIGNED &&
		(query->placement == EMOGI_PLACEMENT_HOST || query->placement == EMOGI_PLACEMENT_DEVICE);
}

/*
 * Choose the algorithm for a query that requests one of the papers' systems, and make the device
 * current.
 */
static EmogiStatus
choose(int device, const EmogiQuery *query, RunAlgorithm *algorithm, EmogiError *error)
{
	const EmogiMapping mapping = query->papers.mapping;
	const bool	wide = query->papers.id_bytes == 8;

	CUDA_TRY(cudaSetDevice(device));
	if ((unsigned) mapping >= EMOGI_NMAPPINGS)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "unknown mapping", "number %d",
								 (int) mapping);
	if (wide && !can_widen(query))
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "8-byte ids are supported only for bfs, best paths and cc, by "
								 "mappings thread, warp and aligned, in placements host and device",
								 "algorithm %d, mapping %d, placement %d", (int) query->algorithm,
								 (int) mapping, (int) query->placement);
	if (algorithms[query->algorithm] == NULL)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the papers' systems do not have this algorithm", "%s",
								 emogi_algorithm_row(query->algorithm)->name);
	*algorithm = mapping == EMOGI_MAPPING_SHARDS || mapping == EMOGI_MAPPING_WINDOWS ?
		shard_algorithms[query->algorithm] : run_mapping;
	return EMOGI_OK;
}

/* The symbol that emogi_cuda.so looks up after loading this module. */
extern "C" __attribute__((visibility("default"))) const EmogiPapersModule emogi_papers_module = {
	EMOGI_ENGINE_ABI, choose
};
