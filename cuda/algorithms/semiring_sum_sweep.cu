/*
 * semiring_sum_sweep.cu: one pass over all lists, chunk by chunk, for sums: in place, through a
 * copy pipeline, or with several GPUs and a pipeline each.
 */
#include "cuda/algorithms/semiring_sum_sweep.cuh"
#include "cuda/placement/peer_memory.cuh"

/* Take the arrays of a helper. */
static EmogiStatus
take_helper(Run *run, void *with, int i, EmogiError *error)
{
	GatherSweep *sweep = (GatherSweep *) with;
	GatherHelper *helper = &sweep->helper[i];
	uint32_t   *list_index;

	TRY(take_array(&run->memory, &helper->source, run->nvertices, "values", error));
	TRY(take_array(&run->memory, &list_index,
				   emogi_edge_chunks_index_words(sweep->nedges, run->nwords), "index of lists",
				   error));
	helper->list_index = emogi_edge_chunks_lay_out_index(list_index, sweep->nedges, run->nwords);
	return take_array(&run->memory, &helper->piece, PEER_MAX_PIECES, "pieces of lists", error);
}

/* Prepare a helper, whose device is current. */
static EmogiStatus
open_helper(GatherSweep *sweep, int i, const EmogiGraph *graph, uint32_t width, EmogiError *error)
{
	const SharedStepShare share =
		{(uint32_t) i + 1, (uint32_t) sweep->run->shared_step->nhelpers + 1};
	GatherHelper *helper = &sweep->helper[i];
	Run		   *run = &sweep->run->shared_step->helper[i].run;

	TRY(emogi_edge_chunks_make_index(run, run->graph.forward.offsets, &helper->list_index, error));
	TRY(emogi_copy_pipeline_open(&helper->pipeline, run, &graph->forward, width, &share, error));
	/* its copies wait for this event, and so for the allocation of their buffers */
	CUDA_TRY(cudaEventRecord(run->state->begin, run->state->stream));
	return EMOGI_OK;
}

/* Open the helpers' pipelines; `together` says whether all have one. */
static EmogiStatus
open_helpers(GatherSweep *sweep, const EmogiGraph *graph, uint32_t width, EmogiError *error)
{
	const SharedStep *shared_step = sweep->run->shared_step;
	EmogiStatus status = EMOGI_OK;

	sweep->together = shared_step->nhelpers > 0;
	for (int i = 0; i < shared_step->nhelpers && status == EMOGI_OK; i++)
	{
		CUDA_TRY(cudaSetDevice(shared_step->helper[i].run.state->device));
		status = open_helper(sweep, i, graph, width, error);
		sweep->together = sweep->together && sweep->helper[i].pipeline.buffer != NULL;
	}
	(void) cudaSetDevice(sweep->run->state->device);
	return status;
}

EmogiStatus
emogi_semiring_sum_open(GatherSweep *sweep, const EmogiGraph *graph, const EmogiQuery *query,
						unsigned wants, uint32_t width, GatherKernel kernel, EmogiError *error)
{
	const EmogiAdjacency *lists = &graph->forward;
	Run		   *run = sweep->run;

	sweep->nedges = lists->nedges;
	if (sweep->may_have_help)
	{
		run->shared_step->reads_peers = true;
		TRY(emogi_shared_step_open(run->shared_step, graph, query, wants,
								   (const void *const *) &kernel, 1,
								   width + (uint32_t) sizeof(Target), take_helper, sweep, error));
		TRY(run->graph.is_peer ? emogi_semiring_sum_open_peer(sweep, error) :
			open_helpers(sweep, graph, width, error));
	}
	if (sweep->together)
	{
		const SharedStepShare share = {0, (uint32_t) run->shared_step->nhelpers + 1};
		const uint32_t devices = run->devices;

		run->devices = 0;		/* each GPU reads a share, over its own link */
		TRY(emogi_copy_pipeline_open(&sweep->pipeline, run, lists, width, &share, error));
		if (sweep->pipeline.buffer != NULL)
			return EMOGI_OK;
		emogi_copy_pipeline_close(&sweep->pipeline);
		sweep->pipeline = CopyPipeline{};
		sweep->together = false;
		run->devices = devices;
	}
	return emogi_copy_pipeline_open(&sweep->pipeline, run, lists, width, NULL, error);
}

/* Read some chunks. */
static EmogiStatus
launch(GatherSweep *sweep, GatherKernel kernel, const Field &field, const Lists<Target> &lists,
	   Chunks chunks, EmogiError *error)
{
	Run		   *run = sweep->run;

	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, lists, field, chunks,
				run->step);
	return EMOGI_OK;
}

/* Let a helper, whose device is current, read its next piece. */
static EmogiStatus
take_piece(GatherSweep *sweep, int i, GatherKernel kernel, const Field &leaders, EmogiError *error)
{
	GatherHelper *helper = &sweep->helper[i];
	Run		   *run = &sweep->run->shared_step->helper[i].run;
	Lists<Target> lists = run->graph.forward;
	Field		field = leaders;
	Chunks		chunks = {};

	field.source = helper->source;
	field.list_index = helper->list_index;
	TRY(emogi_copy_pipeline_take(&helper->pipeline, &lists, &chunks.first, &chunks.upto, error));
	TRY(emogi_run_begin_step(run, error));
	CUDA_LAUNCH(kernel, run->nblocks, BLOCK_THREADS, run->state->stream, lists, field, chunks,
				run->step);
	return emogi_copy_pipeline_give_back(&helper->pipeline, error);
}

/* Let the leader read its next piece. */
static EmogiStatus
take_own_piece(GatherSweep *sweep, GatherKernel kernel, const Field &field, EmogiError *error)
{
	Lists<Target> lists = sweep->lists;
	Chunks		chunks = {};

	TRY(emogi_copy_pipeline_take(&sweep->pipeline, &lists, &chunks.first, &chunks.upto, error));
	TRY(launch(sweep, kernel, field, lists, chunks, error));
	return emogi_copy_pipeline_give_back(&sweep->pipeline, error);
}

/* Begin a helper's part of a sweep, with a copy of `source`. */
static EmogiStatus
begin_part(GatherSweep *sweep, int i, const Field &field, bool more, EmogiError *error)
{
	const Run  *run = &sweep->run->shared_step->helper[i].run;

	TRY(emogi_shared_step_begin_part(sweep->run->shared_step, i, SharedStepInput{}, error));
	CUDA_TRY(cudaMemcpyAsync(sweep->helper[i].source, field.source,
							 run->nvertices * sizeof *field.source, cudaMemcpyDefault,
							 run->state->stream));
	emogi_copy_pipeline_begin(&sweep->helper[i].pipeline, more);
	return emogi_shared_step_end_part(sweep->run->shared_step, i, error);
}

/* End a helper's part. */
static EmogiStatus
end_part(GatherSweep *sweep, int i, EmogiError *error)
{
	CUDA_TRY(cudaSetDevice(sweep->run->shared_step->helper[i].run.state->device));
	TRY(emogi_copy_pipeline_end(&sweep->helper[i].pipeline, error));
	TRY(emogi_shared_step_end_part(sweep->run->shared_step, i, error));
	return emogi_shared_step_wait(sweep->run->shared_step, i, error);
}

/*
 * Read all lists once together with the helpers: each GPU reads its share, piece by piece in turn.
 */
static EmogiStatus
sweep_together(GatherSweep *sweep, GatherKernel kernel, const Field &field, bool more,
			   EmogiError *error)
{
	SharedStep *shared_step = sweep->run->shared_step;
	bool		left = true;

	TRY(emogi_shared_step_ready(shared_step, error));
	emogi_copy_pipeline_begin(&sweep->pipeline, more);
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(begin_part(sweep, i, field, more, error));
	while (left)
	{
		left = sweep->pipeline.piece < sweep->pipeline.npieces;
		if (left)
			TRY(take_own_piece(sweep, kernel, field, error));
		for (int i = 0; i < shared_step->nhelpers; i++)
		{
			const CopyPipeline *pipeline = &sweep->helper[i].pipeline;

			if (pipeline->piece == pipeline->npieces)
				continue;
			left = true;
			CUDA_TRY(cudaSetDevice(shared_step->helper[i].run.state->device));
			TRY(take_piece(sweep, i, kernel, field, error));
			CUDA_TRY(cudaSetDevice(shared_step->leader->state->device));
		}
	}
	TRY(emogi_copy_pipeline_end(&sweep->pipeline, error));
	for (int i = 0; i < shared_step->nhelpers; i++)
		TRY(end_part(sweep, i, error));
	return EMOGI_OK;
}

EmogiStatus
emogi_semiring_sum_sweep(GatherSweep *sweep, GatherKernel kernel, const Field &field, bool more,
						 EmogiError *error)
{
	CopyPipeline *pipeline = &sweep->pipeline;
	Lists<Target> lists = sweep->lists;
	Chunks		chunks = {0, sweep->list_index.nchunks};

	if (sweep->near_each)
		return emogi_semiring_sum_sweep_peer(sweep, kernel, field, error);
	if (sweep->together)
		return sweep_together(sweep, kernel, field, more, error);
	if (pipeline->npieces == 0)
		return launch(sweep, kernel, field, lists, chunks, error);
	emogi_copy_pipeline_begin(pipeline, more);
	while (pipeline->piece < pipeline->npieces)
	{
		TRY(emogi_copy_pipeline_take(pipeline, &lists, &chunks.first, &chunks.upto, error));
		TRY(launch(sweep, kernel, field, lists, chunks, error));
		TRY(emogi_copy_pipeline_give_back(pipeline, error));
	}
	return emogi_copy_pipeline_end(pipeline, error);
}

void
emogi_semiring_sum_account(const GatherSweep *sweep, EmogiResult *result)
{
	if (sweep->pipeline.npieces > 0)
	{
		result->link_bytes = sweep->pipeline.copied_bytes;
		result->nlinks = sweep->pipeline.nlinks;
	}
	for (int i = 0; sweep->together && i < sweep->run->shared_step->nhelpers; i++)
	{
		result->link_bytes += sweep->helper[i].pipeline.copied_bytes;
		result->nlinks++;
	}
	emogi_shared_step_report_left_out(sweep->run->shared_step, result);
}

void
emogi_semiring_sum_close(GatherSweep *sweep)
{
	for (int i = 0; i < EMOGI_MAX_HELPERS; i++)
		emogi_copy_pipeline_close(&sweep->helper[i].pipeline);
	emogi_copy_pipeline_close(&sweep->pipeline);
}
