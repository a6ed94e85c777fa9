/*
 * placement_choose.cu: the rule that chooses a run's placement: emogi_placement_choose and its
 * helpers.
 */
#include "cuda/placement/placement_internal.cuh"
#include "cuda/placement/peer_memory.cuh"

#define PEER_WASTE (UINT64_C(16) << 20)	/* of pieces that arrays fill in part */
/* bytes per vertex of the GPU's own memory: PAGERANK takes 40, and prefixes 16 */
#define PEER_RESERVE UINT64_C(64)

/*
 * Choose between host and hybrid placement by the number of targets per vertex that fit beside the
 * run, its offsets and the staging buffer, evicting idle copies if necessary. Prefixes below
 * PREFIX_MIN would answer too little. Choosing them reads every edge over the link once, which
 * only later runs repay: AUTO makes them for a cached graph. If there is a cap, it already accounts
 * for the needs of others.
 */
static EmogiStatus
choose_prefixes(Placing *placing, EmogiPlacement *placement, EmogiError *error)
{
	const EmogiAdjacency *adjacency = emogi_placement_wanted_prefixes(placing);
	const bool	pays = *placement == EMOGI_PLACEMENT_HYBRID || placing->graph->id != 0;
	const uint64_t headroom = placing->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	uint64_t	taken;
	uint64_t	left;
	uint64_t	length;

	*placement = EMOGI_PLACEMENT_HOST;
	if (adjacency == NULL || !pays)
		return EMOGI_OK;
	taken = emogi_placement_use_copies(placing, EMOGI_PLACEMENT_HOST) +
		prefix_stage_bytes(adjacency) + headroom;
	TRY(emogi_memory_left(placing->memory, &left, error));
	length = left > taken ?
		(left - taken) / (prefix_entries(placing->graph->nvertices, 1) * sizeof(uint32_t)) : 0;
	if (length < PREFIX_MIN)
		return EMOGI_OK;
	placing->prefix_length = (uint32_t) (length < PREFIX_MAX ? length : PREFIX_MAX);
	*placement = EMOGI_PLACEMENT_HYBRID;
	return EMOGI_OK;
}

/*
 * Choose whether to make prefixes beside lists in device memory: a bottom-up step finds most of its
 * answers in them, and reads them in order. They are made from the device copy of the lists, if
 * nothing has to be evicted, by a run later than the one that made the copy, or later than the
 * first run on a derived copy.
 */
static EmogiStatus
choose_device_prefixes(Placing *placing, EmogiError *error)
{
	const uint64_t bytes = prefix_entries(placing->graph->nvertices,
										  PREFIX_NEAR) * sizeof(uint32_t);
	const uint64_t headroom = placing->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	uint32_t	length;
	uint64_t	left;

	if (emogi_placement_wanted_prefixes(placing) == NULL || placing->graph->id == 0 ||
		emogi_device_cache_is_first(placing->state))
		return EMOGI_OK;
	placing->prefix_length = PREFIX_NEAR;
	if (emogi_placement_use_prefixes(placing, &length) != NULL)
		return EMOGI_OK;
	TRY(emogi_memory_left(placing->memory, &left, error));
	if (bytes + headroom + emogi_device_cache_idle_bytes(placing->state) > left)
		placing->prefix_length = 0;
	return EMOGI_OK;
}

/*
 * Return whether AUTO wants parts if the whole does not fit. They are copied once, which takes as
 * long as reading them once over the link. So the graph must be cached, or the run must read them
 * repeatedly.
 */
bool
emogi_placement_wants_parts(const Placing *placing)
{
	return (placing->wants & PLACE_PARTS) != 0 &&
		((placing->wants & PLACE_PARTS_REPAID) == PLACE_PARTS_REPAID || placing->graph->id != 0);
}

/*
 * Choose between host and hybrid placement by whether the weights fit beside the run and its
 * offsets. Copying them takes about as long as reading their lines once over the link, so AUTO does
 * it for a cached graph.
 */
static EmogiStatus
choose_device_weights(Placing *placing, EmogiPlacement *placement, EmogiError *error)
{
	const EmogiGraph *graph = placing->graph;
	const bool	pays = *placement == EMOGI_PLACEMENT_HYBRID || graph->id != 0;
	const uint64_t headroom = placing->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	uint64_t	taken;
	uint64_t	left;

	*placement = EMOGI_PLACEMENT_HOST;
	if (!pays)
		return EMOGI_OK;
	taken = emogi_placement_use_copies(placing, EMOGI_PLACEMENT_HOST) +
		weight_bytes(graph, &graph->forward) + headroom;
	TRY(emogi_memory_left(placing->memory, &left, error));
	placing->near_weights = taken <= left;
	if (placing->near_weights)
		*placement = EMOGI_PLACEMENT_HYBRID;
	return EMOGI_OK;
}

/* Choose between host and hybrid placement. The CopyPipeline finds out how many parts fit. */
static EmogiStatus
choose_hybrid(Placing *placing, EmogiPlacement *placement, EmogiError *error)
{
	if ((placing->wants & PLACE_NEAR_WEIGHTS) == PLACE_NEAR_WEIGHTS)
		return choose_device_weights(placing, placement, error);
	if ((placing->wants & PLACE_PARTS) == 0)
		return choose_prefixes(placing, placement, error);
	if (*placement == EMOGI_PLACEMENT_AUTO)
		*placement = emogi_placement_wants_parts(placing) ? EMOGI_PLACEMENT_HYBRID :
			EMOGI_PLACEMENT_HOST;
	return EMOGI_OK;
}

static uint64_t
subtract_clamped(uint64_t from, uint64_t bytes)
{
	return from > bytes ? from - bytes : 0;
}

/* Return the bytes of missing edges; *offset_bytes: of missing offsets. */
static uint64_t
missing_edges(const Placing *placing, uint64_t *offset_bytes)
{
	*offset_bytes = emogi_placement_use_copies(placing, EMOGI_PLACEMENT_HOST);
	return subtract_clamped(emogi_placement_use_copies(placing, EMOGI_PLACEMENT_DEVICE),
							*offset_bytes);
}

/*
 * Choose whether edges that do not fit in the GPU's own memory are placed in that of helper GPUs:
 * if everything missing fits there, and AUTO expects the edges to be read more than once. As much
 * as possible goes to the GPU's own memory, minus a reserve for the runs of other algorithms and
 * for prefixes; a test has some in each. Edges that are placed, but leave this run no room, are
 * placed again.
 */
static EmogiStatus
choose_peer(Placing *placing, EmogiPlacement asked, bool fits, EmogiError *error)
{
	uint64_t	offsets;
	uint64_t	edge_bytes = missing_edges(placing, &offsets);
	uint64_t	waste_bytes;
	const uint64_t reserve = placing->graph->nvertices * PEER_RESERVE;
	const bool	pays = asked == EMOGI_PLACEMENT_PEER || placing->graph->id != 0 ||
		(placing->wants & PLACE_PARTS_REPAID) == PLACE_PARTS_REPAID;
	uint64_t	left;
	uint64_t	room;

	if (edge_bytes == 0 && !fits && placing->state->nhelpers > 0)
	{
		emogi_placement_drop_edges(placing);
		edge_bytes = missing_edges(placing, &offsets);
	}
	if (!pays || edge_bytes == 0)
		return EMOGI_OK;
	waste_bytes = edge_bytes / 64 + PEER_WASTE;
	room = emogi_peer_memory_room(placing->state, placing->graph->id);
	TRY(emogi_memory_left(placing->memory, &left, error));
	left = subtract_clamped(left, offsets + waste_bytes + (placing->state->cap_bytes > 0 ? 0 :
														   HEADROOM_BYTES));
	placing->spreads = room > 0 && left + room >= edge_bytes + waste_bytes;
	if (placing->spreads)
		emogi_peer_memory_make_room(placing->state, placing->graph->id);
	if (subtract_clamped(left, reserve) + room >= edge_bytes + waste_bytes)
		left = subtract_clamped(left, reserve);
	placing->own_share = left < edge_bytes ? (double) left / (double) edge_bytes : 1;
	if (placing->state->always_help && placing->own_share > 0.5)
		placing->own_share = 0.5;
	return EMOGI_OK;
}

/* Fail because there is too little memory. */
static EmogiStatus
fail_for_room(EmogiPlacement placement, uint64_t missing_bytes, uint64_t left_bytes,
			  EmogiError *error)
{
	return emogi_device_fail(error, EMOGI_NO_MEMORY,
							 placement == EMOGI_PLACEMENT_PEER ? "the graph does not fit in the "
							 "available memory of this GPU and other idle GPUs" :
							 "the graph does not fit in the available device memory",
							 "%llu bytes needed, %llu left%s", (unsigned long long) missing_bytes,
							 (unsigned long long) left_bytes,
							 placement == EMOGI_PLACEMENT_PEER ? " on the first" : "");
}

/*
 * Choose where the engine's own kernels, which AUTO mapping means, read edges. Of all mappings
 * measured on graphs of five kinds, they are the fastest, or nearly so (bench/PAPERS.md, last
 * table), and none of the papers' mappings that are slightly faster somewhere avoids being many
 * times slower elsewhere.
 *
 * AUTO chooses the first that applies: 1. Device memory, if everything missing there fits beside
 * the run, evicting idle copies of other graphs if necessary. A read there costs a tenth or less of
 * one over the link, and the copy takes as long as reading every edge once over it. Most algorithms
 * read all edges, and many more than once; a BFS that reads few is repaid by the next run on a
 * cached graph. For a graph that is already there, no room is needed and free memory is not
 * queried. 2. Memory of several GPUs, if there are helpers: the interconnect is several times as
 * fast as the link. 3. Hybrid placement if it is worthwhile, for data that is read again by this
 * run or a later one. 4. Host placement.
 *
 * MANAGED and STAGED are never chosen: if the edges fit, device memory is faster, and otherwise
 * hybrid placement is.
 */
EmogiStatus
emogi_placement_choose(Placing *placing, EmogiPlacement *placement, EmogiError *error)
{
	uint64_t	missing_bytes;
	uint64_t	left_bytes = 0;

	if (*placement == EMOGI_PLACEMENT_HOST)
		return EMOGI_OK;
	if (*placement == EMOGI_PLACEMENT_HYBRID)
		return choose_hybrid(placing, placement, error);
	missing_bytes = emogi_placement_use_copies(placing, EMOGI_PLACEMENT_DEVICE);
	if (missing_bytes > 0)
		TRY(emogi_memory_left(placing->memory, &left_bytes, error));
	const uint64_t headroom = *placement == EMOGI_PLACEMENT_AUTO ? HEADROOM_BYTES : 0;
	const bool	fits = missing_bytes == 0 || missing_bytes + headroom <= left_bytes;

	if (*placement != EMOGI_PLACEMENT_DEVICE && missing_bytes > 0 &&
		(!fits || placing->state->always_help))
		TRY(choose_peer(placing, *placement, fits, error));
	if (*placement == EMOGI_PLACEMENT_AUTO && !fits && !placing->spreads)
		return choose_hybrid(placing, placement, error);
	if (!fits && !placing->spreads)
		return fail_for_room(*placement, missing_bytes, left_bytes, error);
	*placement = EMOGI_PLACEMENT_DEVICE;
	return missing_bytes == 0 ? choose_device_prefixes(placing, error) : EMOGI_OK;
}
