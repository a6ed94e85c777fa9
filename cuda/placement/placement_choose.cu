/*
 * placement_choose.cu: the rule by which a run reads edges from where it does: emogi_placement_choose, and what it asks.
 */
#include "cuda/placement/placing.cuh"
#include "cuda/placement/peer_memory.cuh"

#define SPREAD_WASTE (UINT64_C(16) << 20)	/* of pieces that arrays fill in part */
#define SPREAD_RESERVE UINT64_C(64)	/* bytes a vertex of the own memory: PAGERANK takes 40, and prefixes 16 */

/*
 * Choose between host and hybrid: how many targets a vertex fit beside the run, its offsets and what choosing them takes,
 * at the expense of idle copies. Under PREFIX_LEAST they would answer too little. To choose them every edge is read over
 * the link once, which is only repaid by later runs: AUTO makes them for a Graph that is kept. A cap already says what
 * others need.
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
	taken = emogi_placement_use_copies(placing, EMOGI_PLACEMENT_HOST) + prefix_stage_bytes(adjacency) + headroom;
	TRY(emogi_memory_left(placing->memory, &left, error));
	length = left > taken ? (left - taken) / (prefix_entries(placing->graph->nvertices, 1) * sizeof(uint32_t)) : 0;
	if (length < PREFIX_LEAST)
		return EMOGI_OK;
	placing->prefix_length = (uint32_t) (length < PREFIX_MOST ? length : PREFIX_MOST);
	*placement = EMOGI_PLACEMENT_HYBRID;
	return EMOGI_OK;
}

/*
 * Choose whether there are prefixes beside lists that are in device memory: a bottom-up step finds most of what it looks for
 * in them, and reads them in order. They are made from the lists' copy, by a later run than the one that made that, or than
 * the first on one that was derived, and where nothing has to give way.
 */
static EmogiStatus
choose_near_prefixes(Placing *placing, EmogiError *error)
{
	const uint64_t bytes = prefix_entries(placing->graph->nvertices, PREFIX_NEAR) * sizeof(uint32_t);
	const uint64_t headroom = placing->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	uint32_t	length;
	uint64_t	left;

	if (emogi_placement_wanted_prefixes(placing) == NULL || placing->graph->id == 0 || emogi_device_cache_is_first(placing->state))
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
 * Say whether AUTO wants parts where the whole does not fit. They are copied once, which takes as long as reading them
 * once over the link: so for a Graph that is kept, or a run that reads them again.
 */
bool
emogi_placement_wants_parts(const Placing *placing)
{
	return (placing->wants & PLACE_PARTS) != 0 &&
		((placing->wants & PLACE_PARTS_REPAID) == PLACE_PARTS_REPAID || placing->graph->id != 0);
}

/*
 * Choose between host and hybrid: whether the weights fit beside the run and its offsets. To copy them takes about as long
 * as reading their lines once over the link, so AUTO does it for a Graph that is kept.
 */
static EmogiStatus
choose_near_weights(Placing *placing, EmogiPlacement *placement, EmogiError *error)
{
	const EmogiGraph *graph = placing->graph;
	const bool	pays = *placement == EMOGI_PLACEMENT_HYBRID || graph->id != 0;
	const uint64_t headroom = placing->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES;
	uint64_t	taken;
	uint64_t	left;

	*placement = EMOGI_PLACEMENT_HOST;
	if (!pays)
		return EMOGI_OK;
	taken = emogi_placement_use_copies(placing, EMOGI_PLACEMENT_HOST) + weight_bytes(graph, &graph->forward) + headroom;
	TRY(emogi_memory_left(placing->memory, &left, error));
	placing->near_weights = taken <= left;
	if (placing->near_weights)
		*placement = EMOGI_PLACEMENT_HYBRID;
	return EMOGI_OK;
}

/* Choose between host and hybrid. How many parts fit is for the CopyPipeline to find out. */
static EmogiStatus
choose_hybrid(Placing *placing, EmogiPlacement *placement, EmogiError *error)
{
	if ((placing->wants & PLACE_NEAR_WEIGHTS) == PLACE_NEAR_WEIGHTS)
		return choose_near_weights(placing, placement, error);
	if ((placing->wants & PLACE_PARTS) == 0)
		return choose_prefixes(placing, placement, error);
	if (*placement == EMOGI_PLACEMENT_AUTO)
		*placement = emogi_placement_wants_parts(placing) ? EMOGI_PLACEMENT_HYBRID : EMOGI_PLACEMENT_HOST;
	return EMOGI_OK;
}

static uint64_t
less(uint64_t from, uint64_t bytes)
{
	return from > bytes ? from - bytes : 0;
}

/* Get the bytes of edges that are missing; *offset_bytes: of offsets. */
static uint64_t
missing_edges(const Placing *placing, uint64_t *offset_bytes)
{
	*offset_bytes = emogi_placement_use_copies(placing, EMOGI_PLACEMENT_HOST);
	return less(emogi_placement_use_copies(placing, EMOGI_PLACEMENT_DEVICE), *offset_bytes);
}

/*
 * Choose whether edges that the own memory cannot hold lie in that of GPUs that help: when there all that is missing fits, and
 * AUTO expects them to be read more than once. As much as can be is in the own, but for what other algorithms' runs will take,
 * and prefixes; a test has some in each. Edges that are there, and leave this run no room, are spread anew.
 */
static EmogiStatus
choose_spread(Placing *placing, EmogiPlacement asked, bool fits, EmogiError *error)
{
	uint64_t	offsets;
	uint64_t	edge_bytes = missing_edges(placing, &offsets);
	uint64_t	waste_bytes;
	const uint64_t reserve = placing->graph->nvertices * SPREAD_RESERVE;
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
	waste_bytes = edge_bytes / 64 + SPREAD_WASTE;
	room = emogi_peer_memory_room(placing->state, placing->graph->id);
	TRY(emogi_memory_left(placing->memory, &left, error));
	left = less(left, offsets + waste_bytes + (placing->state->cap_bytes > 0 ? 0 : HEADROOM_BYTES));
	placing->spreads = room > 0 && left + room >= edge_bytes + waste_bytes;
	if (placing->spreads)
		emogi_peer_memory_make_room(placing->state, placing->graph->id);
	if (less(left, reserve) + room >= edge_bytes + waste_bytes)
		left = less(left, reserve);
	placing->own_share = left < edge_bytes ? (double) left / (double) edge_bytes : 1;
	if (placing->state->always_help && placing->own_share > 0.5)
		placing->own_share = 0.5;
	return EMOGI_OK;
}

/* Fail because there is too little memory. */
static EmogiStatus
fail_for_room(EmogiPlacement placement, uint64_t missing_bytes, uint64_t left_bytes, EmogiError *error)
{
	return emogi_device_fail(error, EMOGI_NO_MEMORY, placement == EMOGI_PLACEMENT_PEER ?
							 "the graph does not fit in the device memory that may be taken, with that of other free GPUs" :
							 "the graph does not fit in the device memory that may be taken",
							 "%llu bytes needed, %llu left%s", (unsigned long long) missing_bytes, (unsigned long long) left_bytes,
							 placement == EMOGI_PLACEMENT_PEER ? " on the first" : "");
}

/*
 * Choose where our own kernels read edges from, which are what AUTO mapping means: of all that was measured on graphs of
 * five kinds they are the fastest, or nearly so (bench/PAPERS.md, last table), and none of the papers' mappings that beat
 * them somewhere by a little does so without being many times slower elsewhere.
 *
 * AUTO: device memory, when all that is missing there fits beside the run, at the expense of other Graphs' idle copies if
 * need be: a read there costs a tenth or less of one over the link, and a copy takes as long as reading every edge once
 * over it. Most algorithms read them all, and many more than once; a BFS that reads few is repaid by the next run on a
 * Graph that is kept. A Graph that is there already needs no room, and no look at what is free. Else in several GPUs' memory,
 * when there are some that help: what leads from one to the other is several times as fast as the link. Else hybrid where it is
 * worth having, for what is read twice or by a later run again, and host where it is not. MANAGED and STAGED are never
 * chosen: where the edges fit device memory is faster, where they do not hybrid is.
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

	if (*placement != EMOGI_PLACEMENT_DEVICE && missing_bytes > 0 && (!fits || placing->state->always_help))
		TRY(choose_spread(placing, *placement, fits, error));
	if (*placement == EMOGI_PLACEMENT_AUTO && !fits && !placing->spreads)
		return choose_hybrid(placing, placement, error);
	if (!fits && !placing->spreads)
		return fail_for_room(*placement, missing_bytes, left_bytes, error);
	*placement = EMOGI_PLACEMENT_DEVICE;
	return missing_bytes == 0 ? choose_near_prefixes(placing, error) : EMOGI_OK;
}
