/*
 * engine.cu: entry points of the CUDA engine: open, close, describe, run, forget, derive.
 *
 * A state belongs to one of the devices that CUDA shows (CUDA_VISIBLE_DEVICES selects them). A
 * machine without a driver or a device is a normal outcome of open(): EMOGI_DEVICE_ERROR with the
 * reason.
 */
#include "cuda/core/incremental_copy.cuh"
#include "cuda/core/papers_module.cuh"
#include "cuda/placement/placement_internal.cuh"
#include "cuda/placement/peer_memory.cuh"
#include "cuda/results/aggregates.cuh"
#include "cuda/multi_gpu/shared_step.cuh"
#include "contract/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINK_PROBE_BYTES ((size_t) 64 << 20)
#define MIN_COMPUTE_MAJOR 8		/* __reduce_or_sync */

/* The implementation of each algorithm; NULL = CPU only. */
static const RunAlgorithm algorithms[] = {
#define emogi_cuda_none NULL
#define OTHER(NAME, name, cpu, cuda, ...) emogi_cuda_##cuda,
#define PATH(NAME, ...) emogi_cuda_path,
#define SUM(NAME, ...) emogi_cuda_semiring_sum,
	EMOGI_ALGORITHMS(OTHER, PATH, SUM)
#undef OTHER
#undef PATH
#undef SUM
};

/* A kernel that is never launched: see check_build. */
static __global__ void
build_probe_kernel(void)
{
}

/* Explain why CUDA does not start on this machine. */
static EmogiStatus
explain_start(EmogiError *error, cudaError_t code)
{
	int			driver = 0;
	int			runtime = 0;
	const char *reason = "CUDA does not start on this machine";

	(void) cudaDriverGetVersion(&driver);
	(void) cudaRuntimeGetVersion(&runtime);
	(void) cudaGetLastError();
	if (driver == 0)
		reason = "no CUDA driver is installed on this machine";
	else if (code == cudaErrorInsufficientDriver)
		reason = "the CUDA driver is older than emogi_cuda.so needs";
	else if (code == cudaErrorNoDevice)
		reason = "no CUDA device is visible";
	else if (code == cudaErrorDevicesUnavailable)
		reason = "the CUDA device is busy or closed to this process";
	return emogi_device_fail(error, EMOGI_DEVICE_ERROR, reason,
							 "%s (%s); driver %d.%d, runtime %d.%d", cudaGetErrorString(code),
							 cudaGetErrorName(code), driver / 1000, driver % 1000 / 10,
							 runtime / 1000, runtime % 1000 / 10);
}

/*
 * Return whether all devices support cudaHostRegisterReadOnly, because memory that one registers is
 * read by all.
 */
static EmogiStatus
all_register_read_only(int ndevices, bool *all, EmogiError *error)
{
	*all = true;
	for (int i = 0; i < ndevices; i++)
	{
		int			supported;

		CUDA_TRY(cudaDeviceGetAttribute(&supported, cudaDevAttrHostRegisterReadOnlySupported, i));
		*all = *all && supported != 0;
	}
	return EMOGI_OK;
}

/* Find the device, make its context current, and fill the fields that describe() reports. */
static EmogiStatus
start_device(EmogiEngineState *state, EmogiError *error)
{
	int			ndevices = 0;
	int			driver = 0;
	int			runtime = 0;
	cudaDeviceProp properties;
	cudaError_t code = cudaGetDeviceCount(&ndevices);

	if (code == cudaSuccess && ndevices == 0)
		code = cudaErrorNoDevice;
	if (code != cudaSuccess)
		return explain_start(error, code);
	if (state->device < 0 || state->device >= ndevices)
		return emogi_device_fail(error, EMOGI_DEVICE_ERROR, "there is no GPU of this number",
								 "GPU %d of %d, from 0", state->device, ndevices);
	CUDA_TRY(cudaGetDeviceProperties(&properties, state->device));
	if (properties.major < MIN_COMPUTE_MAJOR)
		return emogi_device_fail(error, EMOGI_DEVICE_ERROR, "the GPU is too old for emogi_cuda.so",
								 "%.100s has compute capability %d.%d, at least %d.0 is needed",
								 properties.name, properties.major, properties.minor,
								 MIN_COMPUTE_MAJOR);
	code = cudaSetDevice(state->device);
	if (code == cudaSuccess)
		code = cudaFree(NULL);	/* this creates the context */
	if (code != cudaSuccess)
		return explain_start(error, code);
	CUDA_TRY(cudaDriverGetVersion(&driver));
	CUDA_TRY(cudaRuntimeGetVersion(&runtime));
	TRY(all_register_read_only(ndevices, &state->registers_read_only, error));
	state->units = properties.multiProcessorCount;
	state->memory_bytes = properties.totalGlobalMem;
	state->shared_bytes = properties.sharedMemPerBlockOptin;
	snprintf(state->driver, sizeof state->driver, "CUDA driver %d.%d, runtime %d.%d", driver / 1000,
			 driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
	return EMOGI_OK;
}

/* Create the stream, the events and the pinned block mapped on both sides. */
static EmogiStatus
make_channels(EmogiEngineState *state, EmogiError *error)
{
	void	   *block;
	void	   *seen;

	CUDA_TRY(cudaStreamCreateWithFlags(&state->stream, cudaStreamNonBlocking));
	CUDA_TRY(cudaEventCreate(&state->begin));
	CUDA_TRY(cudaEventCreate(&state->end));
	CUDA_TRY(cudaHostAlloc(&block, EMOGI_LINE_BYTES + EMOGI_MAILBOX_BYTES,
						   cudaHostAllocMapped | cudaHostAllocPortable));
	memset(block, 0, EMOGI_LINE_BYTES + EMOGI_MAILBOX_BYTES);
	state->stop = (volatile uint32_t *) block;
	state->mailbox = (char *) block + EMOGI_LINE_BYTES;
	CUDA_TRY(cudaHostGetDevicePointer(&seen, block, 0));
	state->device_stop = (const volatile uint32_t *) seen;
	return EMOGI_OK;
}

/* Time copies of LINK_PROBE_BYTES of pinned memory; the second is warm. */
static EmogiStatus
time_link(EmogiEngineState *state, const void *from, void *to, EmogiError *error)
{
	for (int round = 0; round < 2; round++)
	{
		float		ms;

		CUDA_TRY(cudaEventRecord(state->begin, state->stream));
		CUDA_TRY(cudaMemcpyAsync(to, from, LINK_PROBE_BYTES, cudaMemcpyHostToDevice,
								 state->stream));
		CUDA_TRY(cudaEventRecord(state->end, state->stream));
		CUDA_TRY(cudaEventSynchronize(state->end));
		CUDA_TRY(cudaEventElapsedTime(&ms, state->begin, state->end));
		if (ms > 0)
			state->link_gbps = (double) LINK_PROBE_BYTES / ((double) ms * 1e6);
	}
	return EMOGI_OK;
}

/* Measure the link. If memory is short, link_gbps stays 0, which does no harm. */
static EmogiStatus
measure_link(EmogiEngineState *state, EmogiError *error)
{
	void	   *from = NULL;
	void	   *to = NULL;
	EmogiStatus status = EMOGI_OK;

	if (cudaMallocHost(&from, LINK_PROBE_BYTES) == cudaSuccess &&
		cudaMalloc(&to, LINK_PROBE_BYTES) == cudaSuccess)
		status = time_link(state, from, to, error);
	(void) cudaFree(to);
	(void) cudaFreeHost(from);
	(void) cudaGetLastError();
	return status;
}

/* Free everything, also after a DEVICE_ERROR; errors of the driver are ignored here. */
static void
close_engine(EmogiEngineState *state)
{
	if (state == NULL)
		return;
	if (state->stream != NULL)
		(void) cudaSetDevice(state->device);
	emogi_peer_memory_close(state);
	emogi_device_cache_forget_all(state);
	if (state->stop != NULL)
		(void) cudaFreeHost((void *) state->stop);
	if (state->begin != NULL)
		(void) cudaEventDestroy(state->begin);
	if (state->end != NULL)
		(void) cudaEventDestroy(state->end);
	emogi_memory_close(state);
	if (state->stream != NULL)
		(void) cudaStreamDestroy(state->stream);
	(void) pthread_mutex_destroy(&state->at_work);
	free(state);
}

/*
 * Check that the module has code for the device. The driver loads all kernels when it creates the
 * context, but reports a missing build only when a kernel is used.
 */
static EmogiStatus
check_build(EmogiError *error)
{
	cudaFuncAttributes attributes;

	CUDA_TRY(cudaFuncGetAttributes(&attributes, (const void *) build_probe_kernel));
	return EMOGI_OK;
}

static EmogiStatus
open_engine(const EmogiEngineOptions *options, EmogiEngineState **out, EmogiError *error)
{
	EmogiEngineState *state = (EmogiEngineState *) calloc(1, sizeof *state);
	EmogiStatus status;

	*out = NULL;
	if (state == NULL)
		return emogi_device_fail(error, EMOGI_NO_MEMORY, "out of memory",
								 "the CUDA engine's state, %zu bytes", sizeof *state);
	state->device = options->device;
	state->cap_bytes = options->device_memory_bytes;
	state->cpu_threads = options->cpu_threads;
	state->always_bins = options->always_bins;
	state->always_help = options->always_help;
	emogi_peer_memory_open(state);
	emogi_device_cache_open(state);
	status = start_device(state, error);
	if (status == EMOGI_OK)
		status = emogi_memory_open(state, options->plain_memory, error);
	if (status == EMOGI_OK)
		status = make_channels(state, error);
	if (status == EMOGI_OK)
		status = check_build(error);
	if (status == EMOGI_OK)
		status = measure_link(state, error);
	if (status != EMOGI_OK)
	{
		close_engine(state);
		return status;
	}
	*out = state;
	return EMOGI_OK;
}

static int32_t
count_devices(void)
{
	int			ndevices;

	if (cudaGetDeviceCount(&ndevices) == cudaSuccess)
		return ndevices;
	(void) cudaGetLastError();
	return 0;
}

static EmogiStatus
describe_device(const EmogiEngineState *state, EmogiDevice *out, EmogiError *error)
{
	cudaDeviceProp properties;
	size_t		free_bytes;
	size_t		total_bytes;

	memset(out, 0, sizeof *out);
	out->number = state->device;
	CUDA_TRY(cudaSetDevice(state->device));
	CUDA_TRY(cudaGetDeviceProperties(&properties, state->device));
	CUDA_TRY(cudaMemGetInfo(&free_bytes, &total_bytes));
	snprintf(out->name, sizeof out->name, "%.127s", properties.name);
	snprintf(out->driver, sizeof out->driver, "%s", state->driver);
	out->memory_bytes = properties.totalGlobalMem;
	out->free_bytes = free_bytes;
	out->used_bytes = state->taken_bytes + emogi_memory_lent(state);
	TRY(emogi_memory_idle(state, &out->ready_bytes, error));
	out->units = state->units;
	out->link_gbps = state->link_gbps;
	return EMOGI_OK;
}

/* Run a query. */
static EmogiStatus
answer_query(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
			 EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	RunAlgorithm algorithm;

	/* current devices are per thread, and this may be a new one */
	CUDA_TRY(cudaSetDevice(state->device));
	*state->stop = 0;
	TRY(emogi_query_check(graph, query, error));
	if (query->mask != nullptr)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the cuda engine cannot use a part of the edges", "");
	algorithm = algorithms[query->algorithm];
	if (emogi_papers_are_wanted(query))
		TRY(emogi_papers_choose(state->device, query, &algorithm, error));
	if (algorithm == NULL)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "there are no kernels for this algorithm", "%s",
								 emogi_algorithm_row(query->algorithm)->name);
	if (emogi_algorithm_has(query->algorithm, EMOGI_DAMPED) &&
		(query->teleport != NULL || query->is_weighted) &&
		algorithm != algorithms[query->algorithm])
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "the papers' systems have no kernels for ranks with weights or "
								 "teleport probabilities",
								 "%s", "emogi_pagerank");
	if (query->max_cluster_size > 0 &&
		emogi_algorithm_takes(emogi_algorithm_row(query->algorithm), EMOGI_MAX_CLUSTER_SIZE) >= 0)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED,
								 "there are no kernels for max_cluster_size", "%s", "emogi_leiden");
	if (query->algorithm == EMOGI_MODULARITY &&
		(graph->weight_type == EMOGI_WEIGHT_F32 || graph->weight_type == EMOGI_WEIGHT_F64))
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "there are no kernels for the "
								 "modularity of weights that are not integers", "%s",
								 "emogi_modularity");
	memset(&result->papers, 0, sizeof result->papers);
	memset(&result->refusal, 0, sizeof result->refusal);
	return emogi_run(state, algorithm, graph, query, result, control, error);
}

/* Run a query under the states' locks, with the fault that a test requests. */
static EmogiStatus
run_query(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
		  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	EmogiEngineState *const *const helpers = state->helper;
	const int	nhelpers = state->nhelpers;
	EmogiStatus status;

	result->left_out[0] = '\0';
	result->helper_lost = false;	/* also if the query is refused at once */
	(void) pthread_mutex_lock(&state->at_work);
	for (int i = 0; i < nhelpers; i++)
		(void) pthread_mutex_lock(&helpers[i]->at_work);
	emogi_device_set_fault(control->fail_device_call & EMOGI_FAULT_OF_HELPER ? 0 :
						   control->fail_device_call);
	status = answer_query(state, graph, query, result, control, error);
	emogi_device_set_fault(0);
	state->nhelpers = 0;
	for (int i = 0; i < nhelpers; i++)
		(void) pthread_mutex_unlock(&helpers[i]->at_work);
	(void) pthread_mutex_unlock(&state->at_work);
	return status;
}

/* Return whether a query reads weights. */
static bool
is_weighted(const EmogiGraph *graph, const EmogiQuery *query)
{
	return graph->weight_type != EMOGI_WEIGHT_NONE &&
		(algorithms[query->algorithm] == emogi_cuda_path || query->is_weighted);
}

/*
 * Return whether a graph is surely too large for the device by the rule of AUTO: its edges, offsets
 * and one value per vertex exceed device memory or the cap.
 */
static bool
is_too_large(const EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query)
{
	const uint64_t lists = graph->backward.offsets != NULL &&
		graph->backward.offsets != graph->forward.offsets ? 2 : 1;
	const uint64_t bytes = lists * (target_bytes(&graph->forward) + offset_bytes(graph)) +
		(is_weighted(graph, query) ? weight_bytes(graph, &graph->forward) :
		 0) + graph->nvertices * sizeof(uint64_t) + HEADROOM_BYTES;

	return bytes > (state->cap_bytes > 0 && state->cap_bytes < state->memory_bytes ?
					state->cap_bytes : state->memory_bytes);
}

/*
 * Return whether a graph's edges surely stay in host memory, because it is requested or because
 * they do not fit on the device.
 */
static bool
stays_in_host(const EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query)
{
	return query->placement == EMOGI_PLACEMENT_HOST || query->placement == EMOGI_PLACEMENT_HYBRID ||
		(query->placement == EMOGI_PLACEMENT_AUTO && is_too_large(state, graph, query));
}

/* Return whether the edges that a query reads are cached on the device, in any kind of memory. */
static bool
are_cached(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query)
{
	bool		cached;

	(void) pthread_mutex_lock(&state->at_work);
	cached = emogi_device_cache_use_other(state, graph->id, graph->forward.targets,
										  target_bytes(&graph->forward)) != NULL &&
		(!is_weighted(graph, query) ||
		 emogi_device_cache_use_other(state, graph->id, graph->forward.weights,
									  weight_bytes(graph, &graph->forward)) != NULL);
	(void) pthread_mutex_unlock(&state->at_work);
	return cached;
}

/* Return whether the edges that a query reads are cached in peer memory. */
static bool
are_in_peer_memory(EmogiEngineState *state, const EmogiGraph *graph)
{
	bool		in_peer_memory = false;

	(void) pthread_mutex_lock(&state->at_work);
	const void *copy = emogi_device_cache_use_other(state, graph->id, graph->forward.targets,
													target_bytes(&graph->forward));
	in_peer_memory = copy != NULL && emogi_peer_memory_is(state, copy);
	(void) pthread_mutex_unlock(&state->at_work);
	return in_peer_memory;
}

/* Return whether another GPU can perform atomic operations in a state's memory. */
static bool
may_be_offered(const EmogiEngineState *state)
{
	int			ndevices = 0;
	bool		may = false;

	(void) cudaGetDeviceCount(&ndevices);
	(void) cudaGetLastError();
	for (int device = 0; device < ndevices && !may; device++)
		may = device != state->device && emogi_shared_step_has_peer_atomics(device, state->device);
	return may;
}

static bool
wants_help(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query)
{
	const RunAlgorithm algorithm = algorithms[query->algorithm];
	const bool	is_sum = algorithm == emogi_cuda_semiring_sum;
	const bool	is_path = algorithm == emogi_cuda_path;
	const bool	sums_with_others = is_sum && state->pool != NULL &&
		emogi_semiring_sum_may_use_helpers(graph, query);

	if (algorithm == emogi_cuda_betweenness)
		return emogi_betweenness_uses_helpers(graph, query);
	if (algorithm == emogi_cuda_closeness || algorithm == emogi_cuda_bfs_sums)
		return emogi_closeness_uses_helpers(graph, query);
	if (query->papers.mapping != EMOGI_MAPPING_AUTO)
		return false;
	if (query->placement == EMOGI_PLACEMENT_PEER)
		return true;
	if (query->placement == EMOGI_PLACEMENT_AUTO && graph->id != 0 &&
		is_too_large(state, graph, query))
		/* helpers lend memory for its edges, or sum over the edges that they hold */
		return !are_cached(state, graph, query) ||
			(sums_with_others && are_in_peer_memory(state, graph));
	if (state->pool == NULL)
		return false;
	if (is_sum)
		return sums_with_others && stays_in_host(state, graph, query);
	if (is_path && !may_be_offered(state))
		return false;
	if (algorithm == emogi_cuda_cc && query->placement == EMOGI_PLACEMENT_HYBRID)
		return false;			/* prefixes already answer nearly all of it */
	return (algorithm == emogi_cuda_bfs || algorithm == emogi_cuda_cc || is_path) &&
		stays_in_host(state, graph, query);
}

static void
have_help(EmogiEngineState *state, EmogiEngineState *const *helpers, int nhelpers)
{
	state->nhelpers = nhelpers < EMOGI_MAX_HELPERS ? nhelpers : EMOGI_MAX_HELPERS;
	for (int i = 0; i < state->nhelpers; i++)
		state->helper[i] = helpers[i];
}

/*
 * Drop a graph from the device cache. The calling thread may be a new one, with a current device of
 * its own.
 */
static uint64_t
forget_graph(EmogiEngineState *state, uint64_t graph_id)
{
	uint64_t	before;
	uint64_t	left;

	(void) pthread_mutex_lock(&state->at_work);
	before = state->taken_bytes;
	(void) cudaSetDevice(state->device);
	emogi_device_cache_forget(state, graph_id);
	if (state->taken_bytes < before)
		emogi_memory_trim(state, state->ready_bytes);
	left = state->taken_bytes;
	(void) pthread_mutex_unlock(&state->at_work);
	return left;
}

/* Derive copies, with the fault that a test requests. */
static EmogiStatus
derive_graph(EmogiEngineState *state, const EmogiGraph *old, const EmogiGraph *graph,
			 const EmogiDerivation *derivation, EmogiControl *control, EmogiError *error)
{
	EmogiStatus status;

	CUDA_TRY(cudaSetDevice(state->device));
	(void) pthread_mutex_lock(&state->at_work);
	*state->stop = 0;
	emogi_device_set_fault(control->fail_device_call);
	status = emogi_incremental_copy(state, old, graph, derivation, control, error);
	emogi_device_set_fault(0);
	(void) pthread_mutex_unlock(&state->at_work);
	return status;
}

/* Get a cached copy, for tests. */
static EmogiStatus
fetch_copy(EmogiEngineState *state, uint64_t graph_id, const void *array, void *to, uint64_t bytes,
		   EmogiError *error)
{
	const void *copy = emogi_device_cache_use_other(state, graph_id, array, bytes);

	CUDA_TRY(cudaSetDevice(state->device));
	if (copy == NULL)
		return emogi_device_fail(error, EMOGI_UNSUPPORTED, "no copy of the array is kept",
								 "graph %llu, %llu bytes", (unsigned long long) graph_id,
								 (unsigned long long) bytes);
	CUDA_TRY(cudaMemcpyAsync(to, copy, bytes, cudaMemcpyDeviceToHost, state->stream));
	CUDA_TRY(cudaStreamSynchronize(state->stream));
	return EMOGI_OK;
}

extern "C" __attribute__((visibility("default"))) const EmogiEngine *
emogi_cuda_engine(void)
{
	static const EmogiEngine engine = {
		EMOGI_ENGINE_ABI, "cuda", open_engine, close_engine, count_devices, describe_device,
		run_query, wants_help, have_help, forget_graph, derive_graph, fetch_copy
	};

	return &engine;
}
