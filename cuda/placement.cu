/*
 * placement.cu: registers the Graph's memory with CUDA, copies what belongs in device memory, undoes both.
 *
 * Registration pins pages: about 0.06 s a GiB for pages that are populated. It lasts for one run, because the Region
 * may free the Graph's pages afterwards.
 */
#include "placement.cuh"

#include <string.h>
#include <sys/resource.h>

#define HEADROOM_BYTES (UINT64_C(256) << 20)	/* device memory that EMOGI_PLACEMENT_AUTO leaves alone */
#define PAGE_BYTES UINT64_C(4096)

static uint64_t
round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* Bytes of the targets up to the end of their last line. */
static uint64_t
target_bytes(const EmogiAdjacency *adjacency)
{
	return round_up(adjacency->nedges * sizeof *adjacency->targets, EMOGI_LINE_BYTES);
}

/* The same of the weights. */
static uint64_t
weight_bytes(const EmogiGraph *graph, const EmogiAdjacency *adjacency)
{
	static const uint8_t width[] = {0, 1, 2, 4, 4, 8};	/* by EmogiWeightType */

	return round_up(adjacency->nedges * width[graph->weight_type], EMOGI_LINE_BYTES);
}

static uint64_t
offset_bytes(const EmogiGraph *graph)
{
	return (graph->nvertices + 1) * sizeof *graph->forward.offsets;
}

static bool
same_lists(const EmogiAdjacency *a, const EmogiAdjacency *b)
{
	return a->offsets == b->offsets && a->targets == b->targets;
}

/* Ensure that an array lies in the Graph's block, with its last line, and starts on a line. */
static EmogiStatus
check_array(const EmogiGraph *graph, const void *array, uint64_t bytes, const char *what, EmogiError *error)
{
	const uintptr_t block = (uintptr_t) graph->memory;
	const uintptr_t start = (uintptr_t) array;
	const uint64_t block_bytes = round_up(graph->memory_bytes, PAGE_BYTES);

	if (start % EMOGI_LINE_BYTES != 0 || block % PAGE_BYTES != 0)
		return emogi_fail(error, EMOGI_BAD_INPUT, "the graph's arrays are not aligned", "block %p, %s %p",
						  graph->memory, what, array);
	if (block == 0 || start < block || start - block > block_bytes ||
		bytes > block_bytes - (start - block))
		return emogi_fail(error, EMOGI_BAD_INPUT, "the graph's arrays are not inside its block",
						  "block %p of %llu bytes, %s %p of %llu bytes", graph->memory,
						  (unsigned long long) graph->memory_bytes, what, array, (unsigned long long) bytes);
	return EMOGI_OK;
}

/* Ensure that all arrays of one orientation that go over the link can do so. */
static EmogiStatus
check_lists(const EmogiGraph *graph, const EmogiAdjacency *adjacency, unsigned wants, EmogiError *error)
{
	TRY(check_array(graph, adjacency->targets, target_bytes(adjacency), "targets", error));
	if (wants & PLACE_WEIGHTS)
		TRY(check_array(graph, adjacency->weights, weight_bytes(graph, adjacency), "weights", error));
	return EMOGI_OK;
}

/* Say whether CUDA already knows the whole block as pinned host memory. */
static bool
is_pinned(const void *block, uint64_t bytes)
{
	cudaPointerAttributes first;
	cudaPointerAttributes last;
	const bool	pinned = cudaPointerGetAttributes(&first, block) == cudaSuccess &&
		cudaPointerGetAttributes(&last, (const char *) block + bytes - 1) == cudaSuccess &&
		first.type == cudaMemoryTypeHost && last.type == cudaMemoryTypeHost;

	(void) cudaGetLastError();
	return pinned;
}

/* Turn a failed registration into an error that says what to do about it. */
static EmogiStatus
explain_registration(const EmogiGraph *graph, cudaError_t code, EmogiError *error)
{
	struct rlimit limit = {0, 0};
	const char *name = cudaGetErrorName(code);

	(void) cudaGetLastError();
	(void) getrlimit(RLIMIT_MEMLOCK, &limit);
	if (code == cudaErrorMemoryAllocation || code == cudaErrorOperatingSystem || code == cudaErrorInvalidValue)
		return emogi_fail(error, EMOGI_NO_MEMORY, "the graph's memory could not be locked for the GPU",
						  "cudaHostRegister of %llu bytes: %s; RLIMIT_MEMLOCK %s%llu",
						  (unsigned long long) graph->memory_bytes, name,
						  limit.rlim_cur == RLIM_INFINITY ? "unlimited, " : "",
						  (unsigned long long) limit.rlim_cur);
	if (code == cudaErrorNotSupported || code == cudaErrorNotPermitted)
		return emogi_fail(error, EMOGI_BAD_INPUT, "this machine does not let the GPU read host memory in place",
						  "cudaHostRegister of %llu bytes: %s", (unsigned long long) graph->memory_bytes, name);
	return emogi_cuda_fail(error, code, "cudaHostRegister");
}

/* Register the Graph's block unless it is pinned already. */
static EmogiStatus
register_block(const EmogiEngineState *state, const EmogiGraph *graph, PlacedGraph *placed, EmogiError *error)
{
	const unsigned flags = cudaHostRegisterMapped | cudaHostRegisterPortable;
	void	   *block = const_cast<void *>(graph->memory);
	cudaError_t code = cudaErrorNotSupported;

	if (is_pinned(block, graph->memory_bytes))
		return EMOGI_OK;
	if (state->registers_read_only)
		code = cudaHostRegister(block, graph->memory_bytes, flags | cudaHostRegisterReadOnly);
	if (code != cudaSuccess)
	{
		(void) cudaGetLastError();
		code = cudaHostRegister(block, graph->memory_bytes, flags);
	}
	if (code == cudaErrorHostMemoryAlreadyRegistered)
		return emogi_fail(error, EMOGI_BAD_INPUT, "a part of the graph's memory is registered already",
						  "block %p of %llu bytes", block, (unsigned long long) graph->memory_bytes);
	if (code != cudaSuccess)
		return explain_registration(graph, code, error);
	placed->registered = block;
	return EMOGI_OK;
}

/* Copy the offsets of one orientation to device memory. */
static EmogiStatus
place_offsets(EmogiEngineState *state, const EmogiGraph *graph, const EmogiAdjacency *adjacency, DeviceMemory *memory,
			  Lists<uint32_t> *lists, EmogiControl *control, EmogiError *error)
{
	void	   *offsets;

	TRY(emogi_memory_take(memory, &offsets, offset_bytes(graph), "offsets", error));
	TRY(emogi_cuda_copy(state, offsets, adjacency->offsets, offset_bytes(graph), cudaMemcpyHostToDevice, control,
						error));
	lists->offsets = (const uint64_t *) offsets;
	return EMOGI_OK;
}

/* Copy an array of the Graph to device memory, or find its address as the device sees it. */
static EmogiStatus
place_array(EmogiEngineState *state, const EmogiGraph *graph, const void *array, uint64_t bytes, const char *what,
			EmogiPlacement placement, DeviceMemory *memory, const void **out, EmogiControl *control,
			EmogiError *error)
{
	void	   *seen;

	if (placement == EMOGI_PLACEMENT_HOST)
	{
		CUDA_TRY(cudaHostGetDevicePointer(&seen, const_cast<void *>(graph->memory), 0));
		seen = (char *) seen + ((const char *) array - (const char *) graph->memory);
	}
	else
	{
		TRY(emogi_memory_take(memory, &seen, bytes, what, error));
		TRY(emogi_cuda_copy(state, seen, array, bytes, cudaMemcpyHostToDevice, control, error));
	}
	*out = seen;
	return EMOGI_OK;
}

/* Place targets and, when wanted, weights of one orientation. */
static EmogiStatus
place_edges(EmogiEngineState *state, const EmogiGraph *graph, const EmogiAdjacency *adjacency, unsigned wants,
			EmogiPlacement placement, DeviceMemory *memory, Lists<uint32_t> *lists, EmogiControl *control,
			EmogiError *error)
{
	const void *targets;

	TRY(place_array(state, graph, adjacency->targets, target_bytes(adjacency), "targets", placement, memory, &targets,
					control, error));
	lists->targets = (const uint32_t *) targets;
	if (wants & PLACE_WEIGHTS)
		TRY(place_array(state, graph, adjacency->weights, weight_bytes(graph, adjacency), "weights", placement,
						memory, &lists->weights, control, error));
	return EMOGI_OK;
}

/* Place both orientations, offsets before targets. */
static EmogiStatus
place_lists(EmogiEngineState *state, const EmogiGraph *graph, EmogiPlacement placement, unsigned wants,
			DeviceMemory *memory, PlacedGraph *placed, EmogiControl *control, EmogiError *error)
{
	const bool	wants_backward = (wants & PLACE_BACKWARD) != 0;
	const bool	surely = (wants & PLACE_BACKWARD_SURELY) == PLACE_BACKWARD_SURELY;
	const bool	shares = wants_backward && same_lists(&graph->forward, &graph->backward);

	placed->placement = placement;
	placed->forward = Lists<uint32_t>{NULL, NULL, NULL, graph->forward.nedges};
	placed->backward = Lists<uint32_t>{NULL, NULL, NULL, graph->backward.nedges};
	TRY(place_offsets(state, graph, &graph->forward, memory, &placed->forward, control, error));
	if (graph->forward.nedges > 0)
		TRY(place_edges(state, graph, &graph->forward, wants, placement, memory, &placed->forward, control, error));
	if (shares)
		placed->backward = placed->forward;
	else if (wants_backward)
	{
		const EmogiStatus status = place_offsets(state, graph, &graph->backward, memory, &placed->backward, control,
												 error);

		if (status == EMOGI_NO_MEMORY && placement == EMOGI_PLACEMENT_HOST && !surely)
			return EMOGI_OK;	/* slower, but an answer */
		TRY(status);
		if (graph->backward.nedges > 0)
			TRY(place_edges(state, graph, &graph->backward, wants, placement, memory, &placed->backward, control,
							error));
	}
	return EMOGI_OK;
}

/* Compare what device placement needs with what is left. */
static EmogiStatus
weigh_placement(const EmogiGraph *graph, unsigned wants, const DeviceMemory *memory, uint64_t *needed_bytes,
				uint64_t *left_bytes, EmogiError *error)
{
	*needed_bytes = offset_bytes(graph) + target_bytes(&graph->forward);
	if (wants & PLACE_WEIGHTS)
		*needed_bytes += weight_bytes(graph, &graph->forward);
	if ((wants & PLACE_BACKWARD) && !same_lists(&graph->forward, &graph->backward))
		*needed_bytes += offset_bytes(graph) + target_bytes(&graph->backward) +
			(wants & PLACE_WEIGHTS ? weight_bytes(graph, &graph->backward) : 0);
	return emogi_memory_left(memory, left_bytes, error);
}

EmogiStatus
emogi_place_graph(EmogiEngineState *state, const EmogiGraph *graph, EmogiPlacement placement, unsigned wants,
				  DeviceMemory *memory, PlacedGraph *placed, EmogiControl *control, EmogiError *error)
{
	const bool	decides = placement == EMOGI_PLACEMENT_AUTO;
	const int	nblocks = memory->nblocks;
	uint64_t	needed_bytes;
	uint64_t	left_bytes;
	bool		pinned;
	EmogiStatus status;

	memset(placed, 0, sizeof *placed);
	if (!decides && placement != EMOGI_PLACEMENT_HOST && placement != EMOGI_PLACEMENT_DEVICE)
		return emogi_fail(error, EMOGI_BAD_INPUT, "unknown placement", "number %d", (int) placement);
	if (graph->backward.offsets == NULL)
		wants &= ~PLACE_BACKWARD_SURELY;
	if (graph->weight_type == EMOGI_WEIGHT_NONE)
		wants &= ~PLACE_WEIGHTS;
	if (graph->forward.nedges == 0)
		return place_lists(state, graph, EMOGI_PLACEMENT_DEVICE, wants, memory, placed, control, error);
	TRY(check_lists(graph, &graph->forward, wants, error));
	if (wants & PLACE_BACKWARD)
		TRY(check_lists(graph, &graph->backward, wants, error));
	TRY(weigh_placement(graph, wants, memory, &needed_bytes, &left_bytes, error));
	if (decides)
		placement = needed_bytes + HEADROOM_BYTES <= left_bytes ? EMOGI_PLACEMENT_DEVICE : EMOGI_PLACEMENT_HOST;
	else if (placement == EMOGI_PLACEMENT_DEVICE && needed_bytes > left_bytes)
		return emogi_fail(error, EMOGI_NO_MEMORY, "the graph does not fit in the device memory that may be taken",
						  "%llu bytes needed, %llu left", (unsigned long long) needed_bytes,
						  (unsigned long long) left_bytes);

	/* Copies work from memory that is not pinned too, only slower. */
	status = register_block(state, graph, placed, error);
	pinned = status == EMOGI_OK;
	if (status == EMOGI_DEVICE_ERROR || (!pinned && placement == EMOGI_PLACEMENT_HOST))
		return status;
	status = place_lists(state, graph, placement, wants, memory, placed, control, error);
	if (decides && pinned && status == EMOGI_NO_MEMORY && placement == EMOGI_PLACEMENT_DEVICE)
	{
		emogi_memory_release(memory, nblocks);
		status = place_lists(state, graph, EMOGI_PLACEMENT_HOST, wants, memory, placed, control, error);
	}
	return status;
}

void
emogi_unplace_graph(PlacedGraph *placed)
{
	if (placed->registered != NULL)
		(void) cudaHostUnregister(placed->registered);
	(void) cudaGetLastError();
	placed->registered = NULL;
}
