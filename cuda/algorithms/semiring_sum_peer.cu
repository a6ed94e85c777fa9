/*
 * semiring_sum_peer.cu: sweeps over lists in the memory of several GPUs (placement peer), each of
 * which reads local pieces.
 *
 * A helping GPU has a copy of `source` and of the list index. It reads the pieces in its own
 * memory, and its share of the excess of other GPUs. Sums and carries go to the leader's arrays.
 * Each of these belongs to one chunk, and chunks do not cross pieces, so the bits are those of one
 * GPU.
 */
#include "cuda/multi_gpu/peer_assignment.h"
#include "cuda/algorithms/semiring_sum_sweep.cuh"
#include "cuda/placement/peer_memory.cuh"

#define LEADER 0				/* as a member; helper i is member i + 1 */

/* Find the GPU that holds each piece. */
static void
find_holders(const SharedStep *shared_step, const PeerMemoryLayout *layout, uint8_t *holder)
{
	for (int i = 0; i < layout->npieces; i++)
	{
		holder[i] = layout->lender[i] == shared_step->leader->state ? LEADER : PEER_NONE;
		for (int j = 0; j < shared_step->nhelpers; j++)
			if (layout->lender[i] == shared_step->helper[j].run.state)
				holder[i] = (uint8_t) (j + 1);
	}
}

/*
 * Set the pieces of a member, whose device is current. `array`: device array for their first
 * chunks.
 */
static EmogiStatus
set_pieces(Run *run, const PeerMemoryLayout *layout, const uint8_t *reader, int member,
		   uint64_t nchunks, uint32_t *array, Chunks *pieces, EmogiError *error)
{
	const uint64_t piece_chunks = layout->piece_bytes / (CHUNK_ENTRIES * sizeof(Target));
	uint32_t	first[PEER_MAX_PIECES];
	uint32_t	npieces = 0;

	*pieces = Chunks{0, 0, array, (uint32_t) piece_chunks};
	for (int i = 0; i < layout->npieces; i++)
	{
		const uint64_t start = i * piece_chunks;

		if (reader[i] != member || start >= nchunks)
			continue;
		first[npieces++] = (uint32_t) start;
		pieces->upto += nchunks - start < piece_chunks ? nchunks - start : piece_chunks;
	}
	return emogi_run_send(run, array, first, npieces * sizeof *first, error);
}

EmogiStatus
emogi_semiring_sum_open_peer(GatherSweep *sweep, EmogiError *error)
{
	const uint64_t nchunks = count_chunks(sweep->nedges);
	Run		   *run = sweep->run;
	SharedStep *shared_step = run->shared_step;
	EmogiStatus status = EMOGI_OK;
	PeerMemoryLayout layout;
	uint8_t		holder[PEER_MAX_PIECES];
	uint8_t		reader[PEER_MAX_PIECES];
	uint32_t   *array;

	if (shared_step->nhelpers == 0 ||
		!emogi_peer_memory_layout(run->state, run->graph.forward.targets,
																&layout))
		return EMOGI_OK;
	find_holders(shared_step, &layout, holder);
	assign_pieces(holder, layout.npieces, shared_step->nhelpers + 1, reader);
	TRY(take_array(&run->memory, &array, PEER_MAX_PIECES, "pieces of lists", error));
	TRY(set_pieces(run, &layout, reader, LEADER, nchunks, array, &sweep->pieces, error));
	for (int i = 0; i < shared_step->nhelpers && status == EMOGI_OK; i++)
	{
		GatherHelper *helper = &sweep->helper[i];
		Run		   *its = &shared_step->helper[i].run;

		CUDA_TRY(cudaSetDevice(its->state->device));
		status = set_pieces(its, &layout, reader, i + 1, nchunks, helper->piece, &helper->pieces,
							error);
		if (status == EMOGI_OK)
			status = emogi_edge_chunks_make_index(its, run->graph.forward.offsets,
												  &helper->list_index, error);
	}
	(void) cudaSetDevice(run->state->device);
	sweep->near_each = true;
	return status;
}

/* Queue a helper's part of a sweep. */
static EmogiStatus
queue_part(GatherSweep *sweep, int i, GatherKernel kernel, const Field &leaders, EmogiError *error)
{
	const GatherHelper *helper = &sweep->helper[i];
	SharedStep *shared_step = sweep->run->shared_step;
	Run		   *run = &shared_step->helper[i].run;
	Field		field = leaders;

	field.source = helper->source;
	field.list_index = helper->list_index;
	TRY(emogi_shared_step_begin_part(shared_step, i, SharedStepInput{}, error));
	CUDA_TRY(cudaMemcpyAsync(helper->source, leaders.source,
							 run->nvertices * sizeof *helper->source, cudaMemcpyDefault,
							 run->state->stream));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, sweep->lists, field,
				helper->pieces, run->step);
	return emogi_shared_step_end_part(shared_step, i, error);
}

EmogiStatus
emogi_semiring_sum_sweep_peer(GatherSweep *sweep, GatherKernel kernel, const Field &field,
							  EmogiError *error)
{
	Run		   *run = sweep->run;
	SharedStep *shared_step = run->shared_step;

	TRY(emogi_shared_step_ready(shared_step, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, sweep->lists, field,
				sweep->pieces, run->step);
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(queue_part(sweep, i, kernel, field, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(emogi_shared_step_wait(shared_step, i, error));
	return EMOGI_OK;
}
