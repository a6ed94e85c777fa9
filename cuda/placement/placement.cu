/*
 * placement.cu: placement of a graph: registering its memory with CUDA, copying arrays to device
 * memory, reusing cached copies, and undoing what is not cached.
 *
 * A registration pins pages: about 0.06 s per GiB for pages that are populated. For a graph without
 * an id it lasts for one run, because the arena may free the graph's pages afterwards.
 */
#include "cuda/placement/placement_internal.cuh"
#include "cuda/core/host_registration.cuh"
#include "cuda/placement/peer_memory.cuh"

#include <string.h>
#include <sys/resource.h>

#define PAGE_BYTES UINT64_C(4096)

/* Return whether backward is placed and differs from forward. */
static bool
places_transpose(const Placing *placing)
{
	const EmogiAdjacency *forward = &placing->graph->forward;
	const EmogiAdjacency *backward = &placing->graph->backward;

	return (placing->wants & PLACE_BACKWARD) != 0 &&
		(forward->offsets != backward->offsets || forward->targets != backward->targets);
}

/* Return whether the run reads the offsets of backward, and these differ from those of forward. */
static bool
places_backward_offsets(const Placing *placing)
{
	return (placing->wants & PLACE_BACKWARD_OFFSETS) != 0 &&
		placing->graph->forward.offsets != placing->graph->backward.offsets;
}

/* Return the orientation whose prefixes are useful to the run; NULL if there is none. */
const EmogiAdjacency *
emogi_placement_wanted_prefixes(const Placing *placing)
{
	const EmogiGraph *graph = placing->graph;
	const EmogiAdjacency *adjacency = placing->wants & PLACE_BACKWARD_PREFIXES ? &graph->backward :
		&graph->forward;

	if (graph->backward.offsets == NULL || adjacency->nedges == 0)
		return NULL;
	return placing->wants & (PLACE_FORWARD_PREFIXES | PLACE_BACKWARD_PREFIXES) ? adjacency : NULL;
}

/* Get the cached prefixes, unless there is room for more than twice as many targets. */
const uint32_t *
emogi_placement_use_prefixes(const Placing *placing, uint32_t *length)
{
	uint64_t	kept_length;
	const void *array = emogi_placement_wanted_prefixes(placing)->targets;
	const void *prefixes = emogi_device_cache_use_derived(placing->state, array,
														  EMOGI_COPY_PREFIXES,
														  (placing->prefix_length + 1) / 2,
														  placing->prefix_length, &kept_length);

	if (prefixes != NULL)
		*length = (uint32_t) kept_length;
	return (const uint32_t *) prefixes;
}

/*
 * Mark exactly those copies as in use that this placement needs. Return the bytes of the missing
 * ones.
 */
uint64_t
emogi_placement_use_copies(const Placing *placing, EmogiPlacement placement)
{
	const EmogiGraph *graph = placing->graph;
	const EmogiAdjacency *orientation[] = {&graph->forward, &graph->backward};
	uint64_t	missing_bytes = 0;
	auto		use = [&](const void *array, uint64_t bytes) {
		if (emogi_device_cache_use(placing->state, array, bytes) == NULL)
			missing_bytes += bytes;
	};

	emogi_device_cache_release_all(placing->state);
	for (int i = 0; i < (places_transpose(placing) ? 2 : 1); i++)
	{
		use(orientation[i]->offsets, offset_bytes(graph));
		if (placing->near_weights && placement == EMOGI_PLACEMENT_HYBRID && i == 0)
			use(graph->forward.weights, weight_bytes(graph, &graph->forward));
		if (placement != EMOGI_PLACEMENT_DEVICE || orientation[i]->nedges == 0)
			continue;
		use(orientation[i]->targets, target_bytes(orientation[i]));
		if (placing->wants & PLACE_WEIGHTS)
			use(orientation[i]->weights, weight_bytes(graph, orientation[i]));
	}
	if (places_backward_offsets(placing))
		use(graph->backward.offsets, offset_bytes(graph));
	if (placing->prefix_length > 0)
	{
		uint32_t	length;

		(void) emogi_placement_use_prefixes(placing, &length);
	}
	return missing_bytes;
}

void
emogi_placement_drop_edges(const Placing *placing)
{
	const EmogiGraph *graph = placing->graph;
	const EmogiAdjacency *orientation[] = {&graph->forward, &graph->backward};

	emogi_device_cache_release_all(placing->state);
	for (int i = 0; i < 2; i++)
	{
		emogi_device_cache_drop(placing->state, orientation[i]->targets, EMOGI_COPY_WHOLE);
		emogi_device_cache_drop(placing->state, orientation[i]->weights, EMOGI_COPY_WHOLE);
	}
}

/* Ensure that an array, including its last line, lies in the graph's block and starts on a line. */
static EmogiStatus
check_array(const EmogiGraph *graph, const void *array, uint64_t bytes, const char *what,
			EmogiError *error)
{
	const uintptr_t block = (uintptr_t) graph->memory;
	const uintptr_t start = (uintptr_t) array;
	const uint64_t block_bytes = round_up(graph->memory_bytes, PAGE_BYTES);

	if (start % EMOGI_LINE_BYTES != 0 || block % PAGE_BYTES != 0)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "the graph's arrays are not aligned",
								 "block %p, %s %p", graph->memory, what, array);
	if (block == 0 || start < block || start - block > block_bytes ||
		bytes > block_bytes - (start - block))
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "the graph's arrays are not inside its block",
								 "block %p of %llu bytes, %s %p of %llu bytes", graph->memory,
								 (unsigned long long) graph->memory_bytes, what, array,
								 (unsigned long long) bytes);
	return EMOGI_OK;
}

/* Ensure that the arrays of one orientation that are read over the link can be. */
static EmogiStatus
check_lists(const Placing *placing, const EmogiAdjacency *adjacency, EmogiError *error)
{
	const EmogiGraph *graph = placing->graph;

	TRY(check_array(graph, adjacency->targets, target_bytes(adjacency), "targets", error));
	if (placing->wants & PLACE_WEIGHTS)
		TRY(check_array(graph, adjacency->weights, weight_bytes(graph, adjacency), "weights",
						error));
	return EMOGI_OK;
}

/* Turn a failed registration into an error that explains it. */
static EmogiStatus
explain_registration(const EmogiGraph *graph, cudaError_t code, EmogiError *error)
{
	struct rlimit limit = {0, 0};
	const char *name = cudaGetErrorName(code);

	(void) cudaGetLastError();
	(void) getrlimit(RLIMIT_MEMLOCK, &limit);
	if (code == cudaErrorMemoryAllocation || code == cudaErrorOperatingSystem ||
		code == cudaErrorInvalidValue)
		return emogi_device_fail(error, EMOGI_NO_MEMORY,
								 "the graph's memory could not be locked for the GPU",
								 "cudaHostRegister of %llu bytes: %s; RLIMIT_MEMLOCK %s%llu",
								 (unsigned long long) graph->memory_bytes, name,
								 limit.rlim_cur == RLIM_INFINITY ? "unlimited, " : "",
								 (unsigned long long) limit.rlim_cur);
	if (code == cudaErrorNotSupported || code == cudaErrorNotPermitted)
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "the GPU cannot read host memory in place on this machine",
								 "cudaHostRegister of %llu bytes: %s",
								 (unsigned long long) graph->memory_bytes, name);
	return emogi_cuda_fail(error, code, "cudaHostRegister");
}

/* Register the graph's block. */
static cudaError_t
try_registration(const EmogiEngineState *state, const EmogiGraph *graph)
{
	const cudaError_t code = emogi_cuda_fault();

	return code != cudaSuccess ? code :
		emogi_host_registration_use(graph->memory, graph->memory_bytes, state->registers_read_only);
}

/*
 * Register the graph's block unless it is already pinned. If the run needs the registration, drop
 * registrations of other graphs to make room.
 */
static EmogiStatus
register_block(const Placing *placing, EmogiPlacement placement, PlacedGraph *placed,
			   EmogiError *error)
{
	const EmogiGraph *graph = placing->graph;
	DeviceCacheEntry *own = placing->state->residents.own;
	cudaError_t code;

	if (own != NULL && own->registered)
		return EMOGI_OK;
	do
		code = try_registration(placing->state, graph);
	while ((code == cudaErrorMemoryAllocation || code == cudaErrorOperatingSystem) &&
		   placement != EMOGI_PLACEMENT_DEVICE &&
		   emogi_device_cache_unregister_other(placing->state));
	if (code == cudaErrorHostMemoryAlreadyRegistered)
	{
		(void) cudaGetLastError();
		return emogi_device_fail(error, EMOGI_BAD_INPUT,
								 "a part of the graph's memory is registered already",
								 "block %p of %llu bytes", graph->memory,
								 (unsigned long long) graph->memory_bytes);
	}
	if (code != cudaSuccess)
		return explain_registration(graph, code, error);
	if (own != NULL)
		own->registered = true;
	else
		placed->registered = const_cast<void *>(graph->memory);
	return EMOGI_OK;
}

/* Get an array of the graph in device memory: the cached copy, or a new one. */
static EmogiStatus
place_copy(const Placing *placing, const void *array, uint64_t bytes, const char *what,
		   const void **out, EmogiError *error)
{
	void	   *copy;

	*out = emogi_device_cache_use(placing->state, array, bytes);
	if (*out != NULL)
		return EMOGI_OK;
	TRY(emogi_memory_take(placing->memory, &copy, bytes, what, error));
	TRY(emogi_cuda_copy(placing->state, copy, array, bytes, cudaMemcpyHostToDevice,
						placing->control, error));
	emogi_device_cache_keep(placing->state, placing->memory, array, EMOGI_COPY_WHOLE, 0);
	*out = copy;
	return EMOGI_OK;
}

/* Get an array of edges in device memory, or in peer memory if one GPU's is too small. */
static EmogiStatus
place_edge_copy(const Placing *placing, const void *array, uint64_t bytes, const char *what,
				const void **out, PlacedGraph *placed, EmogiError *error)
{
	void	   *copy;

	if (!placing->spreads || emogi_device_cache_use(placing->state, array, bytes) != NULL)
	{
		TRY(place_copy(placing, array, bytes, what, out, error));
		placed->is_peer = placed->is_peer || emogi_peer_memory_is(placing->state, *out);
		return EMOGI_OK;
	}
	TRY(emogi_peer_memory_take(placing->memory, &copy, bytes, placing->own_share, what, error));
	TRY(emogi_peer_memory_fill(placing->state, copy, array, bytes, placing->control, error));
	emogi_device_cache_keep(placing->state, placing->memory, array, EMOGI_COPY_WHOLE, 0);
	placed->is_peer = true;
	*out = copy;
	return EMOGI_OK;
}

/* Get the device address of an array of the graph's block. */
static EmogiStatus
place_in_host(const Placing *placing, const void *array, const void **out, EmogiError *error)
{
	const EmogiGraph *graph = placing->graph;
	void	   *block;

	CUDA_TRY(cudaHostGetDevicePointer(&block, const_cast<void *>(graph->memory), 0));
	*out = (const char *) block + ((const char *) array - (const char *) graph->memory);
	return EMOGI_OK;
}

/* Place the offsets of one orientation. */
static EmogiStatus
place_offsets(const Placing *placing, const EmogiAdjacency *adjacency, Lists<uint32_t> *lists,
			  EmogiError *error)
{
	const void *offsets;

	TRY(place_copy(placing, adjacency->offsets, offset_bytes(placing->graph), "offsets", &offsets,
				   error));
	lists->offsets = (const uint64_t *) offsets;
	return EMOGI_OK;
}

/* Copy the weights of forward, or leave them in host memory. */
static EmogiStatus
place_device_weights(const Placing *placing, Lists<uint32_t> *lists, EmogiError *error)
{
	const EmogiGraph *graph = placing->graph;
	const EmogiStatus status = place_copy(placing, graph->forward.weights,
										  weight_bytes(graph, &graph->forward), "weights",
										  &lists->weights, error);

	lists->near_weights = status == EMOGI_OK;
	return status == EMOGI_NO_MEMORY ? EMOGI_OK : status;	/* slower, but correct */
}

/* Place the targets and, if wanted, the weights of one orientation. */
static EmogiStatus
place_edges(const Placing *placing, const EmogiAdjacency *adjacency, EmogiPlacement placement,
			PlacedGraph *placed, Lists<uint32_t> *lists, EmogiError *error)
{
	const bool	weighted = (placing->wants & PLACE_WEIGHTS) != 0;
	const void *targets;

	if (placement != EMOGI_PLACEMENT_DEVICE)
	{
		TRY(place_in_host(placing, adjacency->targets, &targets, error));
		if (placing->near_weights && placement == EMOGI_PLACEMENT_HYBRID &&
			adjacency == &placing->graph->forward)
			TRY(place_device_weights(placing, lists, error));
		if (weighted && !lists->near_weights)
			TRY(place_in_host(placing, adjacency->weights, &lists->weights, error));
	}
	else
	{
		TRY(place_edge_copy(placing, adjacency->targets, target_bytes(adjacency), "targets",
							&targets, placed, error));
		if (weighted)
			TRY(place_edge_copy(placing, adjacency->weights,
								weight_bytes(placing->graph, adjacency), "weights", &lists->weights,
								placed, error));
	}
	lists->targets = (const uint32_t *) targets;
	return EMOGI_OK;
}

/* Make prefixes of an orientation whose offsets are placed, and cache them. */
static EmogiStatus
make_prefixes(const Placing *placing, const EmogiAdjacency *adjacency, EmogiPlacement placement,
			  Lists<uint32_t> *lists, EmogiError *error)
{
	const uint64_t nvertices = placing->graph->nvertices;
	const uint32_t length = placing->prefix_length;
	PrefixChoice choice = {
		placing->state, placing->control, nvertices, lists->offsets, length, NULL
	};

	TRY(take_array(placing->memory, &choice.prefixes, prefix_entries(nvertices, length),
				   "prefixes of lists", error));
	if (placement == EMOGI_PLACEMENT_DEVICE)
		TRY(emogi_hybrid_choose_near(&choice, lists, error));
	else
		TRY(emogi_hybrid_choose(&choice, adjacency, placing->memory, error));
	emogi_device_cache_keep(placing->state, placing->memory, adjacency->targets,
							EMOGI_COPY_PREFIXES, length);
	lists->prefixes = choice.prefixes;
	lists->prefix_length = length;
	return EMOGI_OK;
}

/*
 * Place the prefixes that the run wants, after both orientations have been placed. Without room for
 * them, hybrid placement becomes host placement.
 */
static EmogiStatus
place_prefixes(const Placing *placing, PlacedGraph *placed, EmogiError *error)
{
	const bool	transpose = places_transpose(placing);
	const bool	backward = transpose && (placing->wants & PLACE_BACKWARD_PREFIXES) != 0;
	Lists<uint32_t> *lists = backward ? &placed->backward : &placed->forward;
	const int	nblocks = placing->memory->nblocks;

	lists->prefixes = emogi_placement_use_prefixes(placing, &lists->prefix_length);
	if (lists->prefixes == NULL)
	{
		const EmogiStatus status = make_prefixes(placing, emogi_placement_wanted_prefixes(placing),
												 placed->placement, lists, error);

		if (status == EMOGI_NO_MEMORY)
		{
			emogi_memory_release(placing->memory, nblocks);
			if (placed->placement == EMOGI_PLACEMENT_HYBRID)
				placed->placement = EMOGI_PLACEMENT_HOST;	/* slower, but correct */
			return EMOGI_OK;
		}
		TRY(status);
	}
	if (!transpose && (placing->wants & PLACE_BACKWARD))
		placed->backward = placed->forward;
	return EMOGI_OK;
}

/* Place both orientations, offsets before targets. */
static EmogiStatus
place_lists(const Placing *placing, EmogiPlacement placement, PlacedGraph *placed,
			EmogiError *error)
{
	const EmogiGraph *graph = placing->graph;
	const bool	required = (placing->wants & PLACE_BACKWARD_REQUIRED) == PLACE_BACKWARD_REQUIRED;

	placed->placement = placement;
	placed->is_peer = false;
	placed->forward = Lists<uint32_t>{NULL, NULL, NULL, graph->forward.nedges, NULL, 0};
	placed->backward = Lists<uint32_t>{NULL, NULL, NULL, graph->backward.nedges, NULL, 0};
	/* protect them from eviction by new copies */
	(void) emogi_placement_use_copies(placing, placement);
	TRY(place_offsets(placing, &graph->forward, &placed->forward, error));
	if (places_backward_offsets(placing))
		TRY(place_offsets(placing, &graph->backward, &placed->backward, error));
	else if (placing->wants & PLACE_BACKWARD_OFFSETS)
		placed->backward.offsets = placed->forward.offsets;
	if (graph->forward.nedges > 0)
		TRY(place_edges(placing, &graph->forward, placement, placed, &placed->forward, error));
	if (placing->near_weights && placement == EMOGI_PLACEMENT_HYBRID &&
		!placed->forward.near_weights)
		placed->placement = EMOGI_PLACEMENT_HOST;
	if (places_transpose(placing))
	{
		const EmogiStatus status = place_offsets(placing, &graph->backward, &placed->backward,
												 error);

		if (status == EMOGI_NO_MEMORY && placement != EMOGI_PLACEMENT_DEVICE && !required)
		{
			placed->placement = EMOGI_PLACEMENT_HOST;
			return EMOGI_OK;	/* slower, but correct */
		}
		TRY(status);
		if (graph->backward.nedges > 0)
			TRY(place_edges(placing, &graph->backward, placement, placed, &placed->backward,
							error));
	}
	else if (placing->wants & PLACE_BACKWARD)
		placed->backward = placed->forward;
	return placing->prefix_length > 0 &&
		placement != EMOGI_PLACEMENT_HOST ? place_prefixes(placing, placed, error) : EMOGI_OK;
}

/* Place a graph that has edges. */
static EmogiStatus
place_nonempty(Placing *placing, EmogiPlacement placement, PlacedGraph *placed, EmogiError *error)
{
	const bool	decides = placement == EMOGI_PLACEMENT_AUTO;
	const int	nblocks = placing->memory->nblocks;
	bool		pinned = false;
	EmogiStatus status;

	TRY(emogi_placement_choose(placing, &placement, error));

	/* Copies from unpinned memory work, too, but are slower. */
	if (placement != EMOGI_PLACEMENT_DEVICE || emogi_placement_use_copies(placing, placement) > 0)
	{
		status = register_block(placing, placement, placed, error);
		pinned = status == EMOGI_OK;
		if (status == EMOGI_DEVICE_ERROR || (!pinned && placement != EMOGI_PLACEMENT_DEVICE))
			return status;
	}
	status = place_lists(placing, placement, placed, error);
	if (decides && pinned && status == EMOGI_NO_MEMORY && placement == EMOGI_PLACEMENT_DEVICE)
	{
		emogi_memory_release(placing->memory, nblocks);
		placement = emogi_placement_wants_parts(placing) ? EMOGI_PLACEMENT_HYBRID :
			EMOGI_PLACEMENT_HOST;
		status = place_lists(placing, placement, placed, error);
	}
	return status;
}

EmogiStatus
emogi_placement_place(EmogiEngineState *state, const EmogiGraph *graph, EmogiPlacement placement,
					  unsigned wants, DeviceMemory *memory, PlacedGraph *placed,
					  EmogiControl *control, EmogiError *error)
{
	Placing		placing = {state, graph, wants, memory, control, 0, false, false, 0};

	memset(placed, 0, sizeof *placed);
	if ((unsigned) placement > EMOGI_PLACEMENT_PEER)
		return emogi_device_fail(error, EMOGI_BAD_INPUT, "unknown placement", "number %d",
								 (int) placement);
	if (graph->backward.offsets == NULL)
		placing.wants &= ~(PLACE_BACKWARD_REQUIRED | PLACE_BACKWARD_OFFSETS);
	if (graph->weight_type == EMOGI_WEIGHT_NONE)
		placing.wants &= ~PLACE_WEIGHTS;
	if (graph->forward.nedges == 0)
		return place_lists(&placing, EMOGI_PLACEMENT_DEVICE, placed, error);
	TRY(check_lists(&placing, &graph->forward, error));
	if (placing.wants & PLACE_BACKWARD)
		TRY(check_lists(&placing, &graph->backward, error));
	return place_nonempty(&placing, placement, placed, error);
}

void
emogi_placement_undo(PlacedGraph *placed)
{
	if (placed->registered != NULL)
		emogi_host_registration_release(placed->registered);
	(void) cudaGetLastError();
	placed->registered = NULL;
}
