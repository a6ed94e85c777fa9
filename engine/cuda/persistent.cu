/*
 * persistent.cu: chooses how many blocks make deep steps, and up to which size of a frontier.
 */
#include "persistent.cuh"

/*
 * The most lines of a deep step in host placement, by how far the lists reach. Above it a wide step is faster, in spite of
 * its 45 us of launches, for it reads in ascending order: 2.5 ns a line. Items are in no order, which costs 2.5 ns, 9 ns
 * and 23 ns a line as address translation fails (DESIGN.md section 10).
 */
#define NEAR_BYTES (UINT64_C(512) << 20)
#define NEAR_LINES 16384
#define MIDDLE_BYTES (UINT64_C(2) << 30)
#define MIDDLE_LINES 6144
#define WIDE_LINES 2048

EmogiStatus
emogi_deep_size(const Run *run, DeepPlan *plan, const void *kernel, EmogiError *error)
{
	const uint64_t list_bytes = run->graph.forward.nedges * sizeof(Target);
	int			fits;
	int			together;

	CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fits, kernel, DEEP_THREADS, 0));
	CUDA_TRY(cudaDeviceGetAttribute(&together, cudaDevAttrCooperativeLaunch, run->state->device));
	plan->nblocks = together == 0 || fits < 1 ? 1 : fits * run->state->units;
	if (plan->nblocks > DEEP_BLOCKS)
		plan->nblocks = DEEP_BLOCKS;
	plan->most_lines = run->graph.placement == EMOGI_PLACEMENT_DEVICE ? UINT32_MAX :
		list_bytes <= NEAR_BYTES ? NEAR_LINES : list_bytes <= MIDDLE_BYTES ? MIDDLE_LINES : WIDE_LINES;
	return EMOGI_OK;
}
