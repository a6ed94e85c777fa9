/*
 * persistent.cu: number of blocks of a persistent kernel, and the maximum frontier size for its
 * steps.
 */
#include "cuda/access/persistent.cuh"

EmogiStatus
emogi_persistent_size(const Run *run, PersistentPlan *plan, const void *kernel, EmogiError *error)
{
	const uint64_t list_bytes = run->graph.forward.nedges * sizeof(Target);
	int			fits;
	int			together;

	CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernel, PERSISTENT_THREADS, 0));
	CUDA_TRY(cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, run->state->device));
	plan->nblocks = together == 0 || fits < 1 ? 1 : fits * run->state->units;
	if (plan->nblocks > PERSISTENT_BLOCKS)
		plan->nblocks = PERSISTENT_BLOCKS;
	plan->max_lines = run->graph.placement == EMOGI_PLACEMENT_DEVICE ? UINT32_MAX :
		list_bytes <= NEAR_BYTES ? NEAR_LINES : list_bytes <= MIDDLE_BYTES ? MIDDLE_LINES :
		WIDE_LINES;
	return EMOGI_OK;
}
