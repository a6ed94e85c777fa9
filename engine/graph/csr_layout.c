/*
 * csr_layout.c: the layout of a graph's arrays in its block, and the lookup of a key.
 *
 * ids | forward offsets | targets | weights | backward offsets | targets | weights, each padded to
 * whole lines. EMOGI_BOTH, and a graph without transpose, have no backward arrays; a graph without
 * weights has no weights. A block can be relocated as a whole.
 */
#include "contract/builder.h"
#include "layout.h"
#include "contract/partition_point.h"

/*
 * one line of keys: the first distance from the expected place that is searched, and the factor by
 * which the distance grows
 */
#define NEAR_KEYS 8

/* Get the bytes of one direction. */
static size_t
adjacency_bytes(uint64_t nvertices, uint64_t nentries, EmogiWeightType weight_type)
{
	return emogi_whole_lines((nvertices + 1) * sizeof(uint64_t)) +
		emogi_whole_lines(nentries * sizeof(uint32_t)) +
		emogi_whole_lines(nentries * emogi_weight_bytes(weight_type));
}

size_t
emogi_csr_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, bool with_backward,
				EmogiWeightType weight_type)
{
	size_t		one = adjacency_bytes(nvertices, direction == EMOGI_BOTH ? 2 * nedges : nedges,
									  weight_type);
	size_t		transposed = with_backward && direction != EMOGI_BOTH ? one : 0;

	return emogi_whole_lines(nvertices * sizeof(int64_t)) + one + transposed;
}

/* Point a direction into memory from *used on. */
static void
view_adjacency(EmogiAdjacency *adjacency, char *memory, size_t *used, uint64_t nvertices,
			   uint64_t nentries, EmogiWeightType weight_type)
{
	uintptr_t	place = (uintptr_t) memory + *used;

	adjacency->nedges = nentries;
	adjacency->offsets = emogi_carve(&place, (nvertices + 1) * sizeof(uint64_t));
	adjacency->targets = emogi_carve(&place, nentries * sizeof(uint32_t));
	adjacency->weights = weight_type == EMOGI_WEIGHT_NONE ? NULL : (const void *) place;
	*used += adjacency_bytes(nvertices, nentries, weight_type);
}

void
emogi_csr_view(void *memory, uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
			   bool with_backward, EmogiWeightType weight_type, EmogiGraph *graph)
{
	size_t		used = emogi_whole_lines(nvertices * sizeof(int64_t));

	*graph = (EmogiGraph) {.nvertices = nvertices, .ids = memory, .weight_type = weight_type,
		.memory = memory};
	view_adjacency(&graph->forward, memory, &used, nvertices, nedges, weight_type);
	if (direction == EMOGI_BOTH)
		graph->backward = graph->forward;
	else if (with_backward)
		view_adjacency(&graph->backward, memory, &used, nvertices, nedges, weight_type);
	graph->memory_bytes = used;
}

void
emogi_csr_view_empty(EmogiDirection direction, bool with_backward, EmogiWeightType weight_type,
					 EmogiGraph *graph)
{
	static const uint64_t offsets[1] = {0};
	static const uint32_t targets[1] = {0};
	static const double weights[1] = {0.0};
	const EmogiAdjacency none = {.offsets = offsets,.targets = targets,
		.weights = weight_type != EMOGI_WEIGHT_NONE ? weights : NULL};

	*graph = (EmogiGraph) {.weight_type = weight_type,.forward = none};
	if (direction == EMOGI_BOTH || with_backward)
		graph->backward = none;
}

/* Relocate a pointer into a block; NULL stays NULL. */
static const void *
move_array(const void *array, const void *from, const void *to)
{
	return array == NULL ? NULL : (const char *) to + ((const char *) array - (const char *) from);
}

/* Relocate the pointers of a direction. */
static void
move_adjacency(EmogiAdjacency *adjacency, const void *from, const void *to)
{
	adjacency->offsets = move_array(adjacency->offsets, from, to);
	adjacency->targets = move_array(adjacency->targets, from, to);
	adjacency->weights = move_array(adjacency->weights, from, to);
}

void
emogi_graph_relocate(EmogiGraph *graph, const void *memory)
{
	graph->ids = move_array(graph->ids, graph->memory, memory);
	move_adjacency(&graph->forward, graph->memory, memory);
	move_adjacency(&graph->backward, graph->memory, memory);
	graph->memory = memory;
}

/* Find the first of the keys [low, high) that is >= key; high if there is none. */
static uint64_t
find_between(const int64_t *ids, uint64_t low, uint64_t high, int64_t key)
{
	return EMOGI_PARTITION_POINT(low, high, middle, ids[middle] < key);
}

/* Find the same, given a place near which it should be, by galloping away from it. */
static uint64_t
find_near(const int64_t *ids, uint64_t low, uint64_t high, uint64_t place, int64_t key)
{
	uint64_t	step = NEAR_KEYS;

	if (ids[place] < key)
	{
		low = place + 1;
		for (; high - low > step && ids[low + step] < key; step *= NEAR_KEYS)
			low += step + 1;
		return find_between(ids, low, high - low > step ? low + step : high, key);
	}
	high = place;
	for (; high - low > step && ids[high - step] >= key; step *= NEAR_KEYS)
		high -= step;
	return find_between(ids, high - low > step ? high - step : low, high, key);
}

/*
 * Keys strictly ascend, so the number of keys between two of them is at most their difference: with
 * few gaps, that alone nearly determines the position, and otherwise interpolation predicts it.
 * Each probe at another place is a cache miss.
 */
uint32_t
emogi_graph_vertex(const EmogiGraph *graph, int64_t key)
{
	const int64_t *ids = graph->ids;
	uint64_t	last = graph->nvertices - 1;
	uint64_t	before,
				after;
	uint64_t	low,
				high,
				place;

	if (ids == NULL)
		return key >= 0 && (uint64_t) key < graph->nvertices ? (uint32_t) key : EMOGI_NO_VERTEX;
	if (graph->nvertices == 0 || key < ids[0] || key > ids[last])
		return EMOGI_NO_VERTEX;
	before = (uint64_t) key - (uint64_t) ids[0];
	after = (uint64_t) ids[last] - (uint64_t) key;
	low = after < last ? last - after : 0;
	high = before < last ? before + 1 : last + 1;
	place = (uint64_t) ((double) before / ((double) before + (double) after + 1.0) *
						(double) (last + 1));
	place = place < low ? low : place >= high ? high - 1 : place;
	place = find_near(ids, low, high, place, key);
	return place <= last && ids[place] == key ? (uint32_t) place : EMOGI_NO_VERTEX;
}
