/*
 * wide_targets.cu: targets of 8 bytes instead of 4, to measure the cost of the wider ids of other
 * systems ([1], figure 12).
 *
 * The device makes the copy before the clock starts, and the copy belongs to the run. For reads
 * over the link it is in pinned host memory allocated by CUDA, instead of the graph's own
 * registered memory: both are read equally fast (docs/design/hardware.md, "Facts measured on an
 * H200").
 *
 * [1] S. W. Min et al.: EMOGI: Efficient Memory-access for Out-of-memory Graph-traversal in GPUs.
 * PVLDB 14(2), 2020.
 */
#include "cuda/papers/papers.cuh"

/* Copy targets. Bytes: 12 per entry. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
wide_copy_kernel(const Target *from, uint64_t *to, uint64_t nedges, Step step)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * BLOCK_THREADS;

	for (uint64_t e = (uint64_t) blockIdx.x * BLOCK_THREADS + threadIdx.x; e < nedges;
		 e += nthreads)
	{
		if (must_leave(step))
			break;
		to[e] = from[e];
	}
}

/* Return the bytes of an orientation's wide targets, to the end of the last line. */
static uint64_t
wide_bytes(const Lists<Target> &lists)
{
	return (lists.nedges * sizeof(uint64_t) + EMOGI_LINE_BYTES -
			1) / EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
}

/* Allocate memory for all of them; get its device address. */
static EmogiStatus
take_room(Sweeps *sweeps, uint64_t bytes, void **room, EmogiError *error)
{
	Run		   *run = sweeps->run;

	if (run->graph.placement == EMOGI_PLACEMENT_DEVICE)
		return emogi_memory_take(&run->memory, room, bytes, "wide targets", error);
	CUDA_TRY(cudaHostAlloc(&sweeps->pinned, bytes, cudaHostAllocMapped));
	CUDA_TRY(cudaHostGetDevicePointer(room, sweeps->pinned, 0));
	return EMOGI_OK;
}

/* Widen the targets of an orientation into `room`. */
static EmogiStatus
widen_lists(Run *run, Lists<Target> *lists, void *room, EmogiError *error)
{
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(wide_copy_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				lists->targets, (uint64_t *) room, lists->nedges, run->step);
	lists->targets = (const Target *) room;
	return emogi_cuda_wait(run->state, run->control, error);
}

EmogiStatus
emogi_papers_make_wide_targets(Sweeps *sweeps, unsigned wants, EmogiError *error)
{
	Run		   *run = sweeps->run;
	PlacedGraph *placed = &run->graph;
	const bool	alike = placed->backward.targets == placed->forward.targets;
	const bool	both = (wants & PLACE_BACKWARD) != 0 && placed->backward.targets != NULL && !alike;
	const uint64_t forward = wide_bytes(placed->forward);
	void	   *room;

	if (placed->forward.nedges == 0)
		return EMOGI_OK;
	TRY(take_room(sweeps, forward + (both ? wide_bytes(placed->backward) : 0), &room, error));
	TRY(widen_lists(run, &placed->forward, room, error));
	if (both)
		return widen_lists(run, &placed->backward, (char *) room + forward, error);
	if (alike)
		placed->backward.targets = placed->forward.targets;
	return EMOGI_OK;
}
