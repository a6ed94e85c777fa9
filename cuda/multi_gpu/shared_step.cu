/*
 * shared_step.cu: setup of helper GPUs, and transfers between them and the leader.
 */
#include "cuda/multi_gpu/shared_step.cuh"
#include "cuda/placement/peer_memory.cuh"

/* Return a word of a bitmap restricted to the bits of a share. */
static __device__ __forceinline__ uint32_t
share_word(SharedStepShare share, const SharedStepInput &bring, uint64_t word)
{
	return word / SHARED_WORDS % share.nmembers == share.member ?
		bring.vertices[word] ^ bring.flip : 0;
}

/* Restrict a bitmap to a share. Bytes: 8 per word. */
static __global__ void
shared_step_share_kernel(SharedStepShare share, SharedStepInput bring, uint64_t nwords)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t word = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; word < nwords;
		 word += nthreads)
		bring.share[word] = share_word(share, bring, word);
}

/*
 * Copy the inputs of a step to a helper. Bytes: 8 per word of each bitmap, 4 of them from the
 * leader's memory.
 */
static __global__ void
shared_step_begin_kernel(SharedStepShare share, SharedStepInput bring, uint64_t nwords,
						 Counters *counters)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * blockDim.x;
	const uint64_t own = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x;

	if (own < offsetof(Counters, lines) / sizeof(uint32_t))
		((uint32_t *) counters)[own] = 0;
	for (uint64_t word = own; word < nwords; word += nthreads)
	{
		const uint32_t first = bring.from[0] != NULL ? bring.from[0][word] : 0;
		const uint32_t second = bring.from[1] != NULL ? bring.from[1][word] : 0;

		if (bring.share != NULL)
			bring.share[word] = share_word(share, bring, word);
		if (bring.from[0] != NULL)
			bring.to[0][word] = first;
		if (bring.from[1] != NULL)
			bring.to[1][word] = second;
	}
}

static_assert(offsetof(Counters, lines) % sizeof(uint32_t) == 0,
			  "counters of a step are zeroed in words");

/*
 * Merge a helper's bitmap into the leader's. Bytes: 8 per word, 4 of them from the helper's memory.
 */
static __global__ void
shared_step_merge_kernel(uint32_t *into, const uint32_t *from, uint64_t nwords)
{
	const uint64_t nthreads = (uint64_t) gridDim.x * blockDim.x;

	for (uint64_t word = (uint64_t) blockIdx.x * blockDim.x + threadIdx.x; word < nwords;
		 word += nthreads)
	{
		const uint32_t bits = from[word];

		if (bits != 0)
			into[word] |= bits;
	}
}

/* Place the graph for a helper in the leader's way. */
static EmogiStatus
place_helper(Run *run, const Run *leader, const EmogiGraph *graph, const EmogiQuery *query,
			 unsigned wants, const void *const *kernels, size_t nkernels, uint32_t edge_bytes,
			 EmogiError *error)
{
	EmogiQuery	placed = *query;

	placed.placement = leader->graph.placement;
	if (!leader->graph.is_peer)
		return emogi_run_place(run, graph, &placed, wants, kernels, nkernels, edge_bytes, error);
	run->graph = leader->graph;
	run->graph.registered = NULL;
	return emogi_run_size_grids(run, graph, kernels, nkernels, edge_bytes, error);
}

/* Open the Run of a helper, whose device is the current one. */
static EmogiStatus
open_helper(Helper *helper, const SharedStep *shared, EmogiEngineState *state,
			const EmogiGraph *graph, const EmogiQuery *query, unsigned wants,
			const void *const *kernels, size_t nkernels, uint32_t edge_bytes,
			SharedStepAllocate take, void *with, EmogiError *error)
{
	Run		   *run = &helper->run;

	*state->stop = 0;
	TRY(emogi_device_cache_begin(state, graph, error));
	TRY(emogi_run_open(run, state, graph, query, shared->leader->control, error));
	run->devices = 0;			/* each helper has a share, over its own link */
	TRY(take(run, with, shared->nhelpers, error));
	TRY(place_helper(run, shared->leader, graph, query, wants, kernels, nkernels, edge_bytes,
					 error));
	CUDA_TRY(cudaEventCreateWithFlags(&helper->done, cudaEventDisableTiming));
	return EMOGI_OK;
}

/* Free a helper's resources. */
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

/* Free everything, on every path. This makes the leader's device the current one. */
static void
close_shared_step(SharedStep *shared)
{
	for (int i = 0; i < shared->nhelpers; i++)
		close_helper(&shared->helper[i]);
	(void) cudaSetDevice(shared->leader->state->device);
	if (shared->ready != NULL)
		(void) cudaEventDestroy(shared->ready);
	(void) cudaGetLastError();
}

/* Return whether a GPU can read the leader's edges in peer memory. */
static bool
reads_edges(const Run *leader, const EmogiEngineState *other)
{
	const Lists<Target> &lists = leader->graph.forward;

	return emogi_peer_memory_reads(leader->state, lists.targets, other) &&
		(lists.weights == NULL || emogi_peer_memory_reads(leader->state, lists.weights, other));
}

bool
emogi_shared_step_has_peer_atomics(int device, int leader)
{
	int			may = 0;

	if (cudaDeviceGetP2PAttribute(&may, cudaDevP2PAttrNativeAtomicSupported, device,
								  leader) != cudaSuccess)
		may = 0;
	(void) cudaGetLastError();
	return may != 0;
}

/*
 * Ensure that a GPU can help: that it can access the leader's memory, and the leader its memory. On
 * failure, *error says why it cannot.
 */
static EmogiStatus
check_reach(const SharedStep *shared, EmogiEngineState *other, EmogiError *error)
{
	EmogiEngineState *state = shared->leader->state;

	if (!emogi_memory_show(other, state->device) || !emogi_memory_show(state, other->device))
		return emogi_device_fail(error, EMOGI_NO_MEMORY,
								 "it cannot write into the memory of the GPU that runs", "GPU %d",
								 other->device);
	if (shared->offers && !emogi_shared_step_has_peer_atomics(other->device, state->device))
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "it cannot make atomic operations in the "
								 "memory of the GPU that runs", "GPU %d", other->device);
	return EMOGI_OK;
}

EmogiStatus
emogi_shared_step_open(SharedStep *shared, const EmogiGraph *graph, const EmogiQuery *query,
					   unsigned wants, const void *const *kernels, size_t nkernels,
					   uint32_t edge_bytes, SharedStepAllocate take, void *with, EmogiError *error)
{
	Run		   *leader = shared->leader;
	EmogiEngineState *state = leader->state;

	if ((leader->graph.placement == EMOGI_PLACEMENT_DEVICE &&
		 !(leader->graph.is_peer && shared->reads_peers)) || state->nhelpers == 0)
		return EMOGI_OK;
	leader->close_shared_step = close_shared_step;
	CUDA_TRY(cudaEventCreateWithFlags(&shared->ready, cudaEventDisableTiming));
	for (int i = 0; i < state->nhelpers; i++)
	{
		EmogiEngineState *other = state->helper[i];
		EmogiStatus status;
		Helper	   *helper = &shared->helper[shared->nhelpers];

		if (leader->graph.is_peer && !reads_edges(leader, other))
			continue;
		(void) cudaSetDevice(other->device);
		helper->run.state = other;
		status = check_reach(shared, other, error);
		if (status == EMOGI_OK)
			status = open_helper(helper, shared, other, graph, query, wants, kernels, nkernels,
								 edge_bytes, take, with, error);
		if (status == EMOGI_OK)
			shared->nhelpers++;
		else
			close_helper(helper);
		if (status == EMOGI_NO_MEMORY)
		{
			shared->left_out = other;
			shared->why_left_out = *error;
		}
		(void) cudaSetDevice(state->device);
		if (status != EMOGI_OK && status != EMOGI_NO_MEMORY)
			return status;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_shared_step_ready(SharedStep *shared, EmogiError *error)
{
	CUDA_TRY(cudaEventRecord(shared->ready, shared->leader->state->stream));
	return EMOGI_OK;
}

EmogiStatus
emogi_shared_step_begin_part(SharedStep *shared, int helper, const SharedStepInput &bring,
							 EmogiError *error)
{
	const SharedStepShare share = {(uint32_t) helper + 1, (uint32_t) shared->nhelpers + 1};
	Run		   *run = &shared->helper[helper].run;

	CUDA_TRY(cudaSetDevice(run->state->device));
	CUDA_TRY(cudaStreamWaitEvent(run->state->stream, shared->ready, 0));
	if (bring.share == NULL && bring.from[0] == NULL && bring.from[1] == NULL)
		return emogi_run_begin_step(run, error);
	CUDA_LAUNCH(shared_step_begin_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				share, bring, run->nwords, run->step.counters);
	return EMOGI_OK;
}

EmogiStatus
emogi_shared_step_end_part(SharedStep *shared, int helper, EmogiError *error)
{
	CUDA_TRY(cudaEventRecord(shared->helper[helper].done,
							 shared->helper[helper].run.state->stream));
	CUDA_TRY(cudaSetDevice(shared->leader->state->device));
	return EMOGI_OK;
}

EmogiStatus
emogi_shared_step_wait(SharedStep *shared, int helper, EmogiError *error)
{
	CUDA_TRY(cudaStreamWaitEvent(shared->leader->state->stream, shared->helper[helper].done, 0));
	return EMOGI_OK;
}

EmogiStatus
emogi_shared_step_share(const SharedStep *shared, const uint32_t *vertices, uint32_t flip,
						uint32_t *share, EmogiError *error)
{
	const SharedStepShare leaders = {0, (uint32_t) shared->nhelpers + 1};
	const Run  *run = shared->leader;
	const SharedStepInput bring = {vertices, flip, share};

	CUDA_LAUNCH(shared_step_share_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream,
				leaders, bring, run->nwords);
	return EMOGI_OK;
}

EmogiStatus
emogi_shared_step_join(SharedStep *shared, int helper, uint32_t *into, const uint32_t *from,
					   EmogiError *error)
{
	const Run  *run = shared->leader;

	TRY(emogi_shared_step_wait(shared, helper, error));
	CUDA_LAUNCH(shared_step_merge_kernel, run->full_blocks, BLOCK_THREADS, run->state->stream, into,
				from, run->nwords);
	return EMOGI_OK;
}

void
emogi_shared_step_report_left_out(const SharedStep *shared, EmogiResult *result)
{
	if (shared->left_out != NULL)
		emogi_device_exclude_helper(result, shared->left_out, EMOGI_NO_MEMORY,
									&shared->why_left_out);
}

EmogiStatus
emogi_shared_step_account(SharedStep *shared, EmogiResult *result, EmogiError *error)
{
	EmogiStatus status = EMOGI_OK;

	for (int i = 0; i < shared->nhelpers && status == EMOGI_OK; i++)
	{
		Run		   *run = &shared->helper[i].run;
		const Counters *counters;

		CUDA_TRY(cudaSetDevice(run->state->device));
		status = emogi_run_read(run, &counters, error);
		if (status == EMOGI_OK)
			emogi_run_account(run, counters, result);
	}
	(void) cudaSetDevice(shared->leader->state->device);
	emogi_shared_step_report_left_out(shared, result);
	if (shared->nhelpers > 0)
		result->nlinks = 1 + shared->nhelpers;
	return status;
}
