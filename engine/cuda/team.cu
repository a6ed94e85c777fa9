/*
 * team.cu: gathers helpers, and queues what passes between them and the leader.
 */
#include "team.cuh"

/* Leave the bits of a share. Bytes: 8 a word. */
static __global__ void
team_share_kernel(TeamShare share, const uint32_t *from, uint32_t flip, uint64_t nwords, uint32_t *to)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t word = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; word < nwords; word += nthreads)
		to[word] = word / TEAM_WORDS % share.nmembers == share.member ? from[word] ^ flip : 0;
}

/* Join a bitmap of a helper into the leader's. Bytes: 8 a word, 4 of them from the helper's memory. */
static __global__ void
team_join_kernel(uint32_t *into, const uint32_t *from, uint64_t nwords)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t word = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; word < nwords; word += nthreads)
	{
		const uint32_t bits = from[word];

		if (bits != 0)
			into[word] |= bits;
	}
}

EmogiStatus
emogi_team_load(EmogiError *error)
{
	const void *const kernels[] = {(const void *) team_share_kernel, (const void *) team_join_kernel};

	return LOAD_KERNELS(kernels);
}

/* Begin the Run of a helper, whose device is the current one. */
static EmogiStatus
open_helper(Helper *helper, const Team *team, EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
			const void *const *kernels, size_t nkernels, uint32_t edge_bytes, TeamTake take, void *with, EmogiError *error)
{
	EmogiQuery	placed = *query;
	Run		   *run = &helper->run;

	placed.placement = EMOGI_PLACEMENT_HOST;
	*state->stop = 0;
	TRY(emogi_resident_begin(state, graph, error));
	TRY(emogi_run_open(run, state, graph, query, team->leader->control, error));
	run->devices = 0;			/* each has a part, over its own link */
	TRY(take(run, with, team->nhelpers, error));
	TRY(emogi_run_place(run, graph, &placed, wants, kernels, nkernels, edge_bytes, error));
	CUDA_TRY(cudaEventCreateWithFlags(&helper->done, cudaEventDisableTiming));
	return EMOGI_OK;
}

/* Free what a helper has. */
static void
close_helper(Helper *helper)
{
	EmogiEngineState *state = helper->run.state;

	if (state == NULL)
		return;
	(void) cudaSetDevice(state->device);
	if (helper->done != NULL)
		(void) cudaEventDestroy(helper->done);
	emogi_run_close(&helper->run);
	*helper = Helper{};
}

/* Free everything, whatever has happened. The leader's device is the current one then. */
static void
close_team(Team *team)
{
	for (int i = 0; i < team->nhelpers; i++)
		close_helper(&team->helper[i]);
	(void) cudaSetDevice(team->leader->state->device);
	if (team->ready != NULL)
		(void) cudaEventDestroy(team->ready);
	(void) cudaGetLastError();
}

EmogiStatus
emogi_team_open(Team *team, const EmogiGraph *graph, const EmogiQuery *query, unsigned wants, const void *const *kernels, size_t nkernels,
				uint32_t edge_bytes, TeamTake take, void *with, EmogiError *error)
{
	Run		   *leader = team->leader;
	EmogiEngineState *state = leader->state;

	if (leader->graph.placement == EMOGI_PLACEMENT_DEVICE || state->nhelpers == 0)
		return EMOGI_OK;
	leader->close_team = close_team;
	CUDA_TRY(cudaEventCreateWithFlags(&team->ready, cudaEventDisableTiming));
	for (int i = 0; i < state->nhelpers; i++)
	{
		EmogiEngineState *other = state->helper[i];
		EmogiStatus status = emogi_device_fail(error, EMOGI_NO_MEMORY, "it cannot write into the memory of the GPU that runs", "GPU %d", other->device);
		Helper	   *helper = &team->helper[team->nhelpers];

		(void) cudaSetDevice(other->device);
		helper->run.state = other;
		if (emogi_memory_show(other, state->device) && emogi_memory_show(state, other->device))
			status = open_helper(helper, team, other, graph, query, wants, kernels, nkernels, edge_bytes, take, with, error);
		if (status == EMOGI_OK)
			team->nhelpers++;
		else
			close_helper(helper);
		if (status == EMOGI_NO_MEMORY)
		{
			team->left_out = other;
			team->why_left_out = *error;
		}
		(void) cudaSetDevice(state->device);
		if (status != EMOGI_OK && status != EMOGI_NO_MEMORY)
			return status;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_team_ready(Team *team, EmogiError *error)
{
	CUDA_TRY(cudaEventRecord(team->ready, team->leader->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_team_begin_part(Team *team, int helper, EmogiError *error)
{
	Run		   *run = &team->helper[helper].run;

	CUDA_TRY(cudaSetDevice(run->state->device));
	CUDA_TRY(cudaStreamWaitEvent(run->state->stream, team->ready, 0));
	return emogi_run_begin_step(run, error);
}

EmogiStatus
emogi_team_end_part(Team *team, int helper, EmogiError *error)
{
	CUDA_TRY(cudaEventRecord(team->helper[helper].done, team->helper[helper].run.state->stream));
	CUDA_TRY(cudaSetDevice(team->leader->state->device));
	return EMOGI_OK;
}

EmogiStatus
emogi_team_wait(Team *team, int helper, EmogiError *error)
{
	CUDA_TRY(cudaStreamWaitEvent(team->leader->state->stream, team->helper[helper].done, 0));
	return EMOGI_OK;
}

EmogiStatus
emogi_team_copy(const Run *to_run, uint32_t *to, const uint32_t *from, EmogiError *error)
{
	CUDA_TRY(cudaMemcpyAsync(to, from, to_run->nwords * sizeof *to, cudaMemcpyDefault, to_run->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_team_share(const Run *run, TeamShare share, const uint32_t *from, uint32_t flip, uint32_t *to, EmogiError *error)
{
	CUDA_LAUNCH(team_share_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, share, from, flip, run->nwords, to);
	return EMOGI_OK;
}

EmogiStatus
emogi_team_join(Team *team, int helper, uint32_t *into, const uint32_t *from, EmogiError *error)
{
	const Run  *run = team->leader;

	TRY(emogi_team_wait(team, helper, error));
	CUDA_LAUNCH(team_join_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, into, from, run->nwords);
	return EMOGI_OK;
}

EmogiStatus
emogi_team_account(Team *team, EmogiResult *result, EmogiError *error)
{
	EmogiStatus status = EMOGI_OK;

	for (int i = 0; i < team->nhelpers && status == EMOGI_OK; i++)
	{
		Run		   *run = &team->helper[i].run;
		const Counters *counters;

		CUDA_TRY(cudaSetDevice(run->state->device));
		status = emogi_run_read(run, &counters, error);
		if (status == EMOGI_OK)
			emogi_run_account(run, counters, result);
	}
	(void) cudaSetDevice(team->leader->state->device);
	if (team->left_out != NULL)
		emogi_device_leave_out(result, team->left_out, EMOGI_NO_MEMORY, &team->why_left_out);
	if (team->nhelpers > 0)
		result->nlinks = 1 + team->nhelpers;
	return status;
}
