/*
 * csr_layout.c: where the arrays of a Graph lie in its block, and how a key is found in it.
 *
 * ids | forward offsets | targets | weights | backward offsets | targets | weights, each in whole lines; EMOGI_BOTH and
 * a Graph without transpose have no backward arrays, one without weights no weights. A block can be moved as a whole.
 */
#include "csr.h"
#include "layout.h"

/* Get the bytes of one orientation. */
static size_t
adjacency_bytes(uint64_t nvertices, uint64_t nentries, EmogiWeightType weight_type)
{
	return emogi_whole_lines((nvertices + 1) * sizeof(uint64_t)) + emogi_whole_lines(nentries * sizeof(uint32_t)) +
		emogi_whole_lines(nentries * emogi_weight_bytes(weight_type));
}

size_t
emogi_csr_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, bool with_backward,
				EmogiWeightType weight_type)
{
	size_t		one = adjacency_bytes(nvertices, direction == EMOGI_BOTH ? 2 * nedges : nedges, weight_type);
	size_t		transposed = with_backward && direction != EMOGI_BOTH ? one : 0;

	return emogi_whole_lines(nvertices * sizeof(int64_t)) + one + transposed;
}

/* Point an orientation into the memory from *used on. */
static void
view_adjacency(EmogiAdjacency *adjacency, char *memory, size_t *used, uint64_t nvertices, uint64_t nentries,
			   EmogiWeightType weight_type)
{
	uintptr_t	place = (uintptr_t) memory + *used;

	adjacency->nedges = nentries;
	adjacency->offsets = emogi_carve(&place, (nvertices + 1) * sizeof(uint64_t));
	adjacency->targets = emogi_carve(&place, nentries * sizeof(uint32_t));
	adjacency->weights = weight_type == EMOGI_WEIGHT_NONE ? NULL : (const void *) place;
	*used += adjacency_bytes(nvertices, nentries, weight_type);
}

void
emogi_csr_view(void *memory, uint64_t nvertices, uint64_t nedges, EmogiDirection direction, bool with_backward,
			   EmogiWeightType weight_type, EmogiGraph *graph)
{
	size_t		used = emogi_whole_lines(nvertices * sizeof(int64_t));

	*graph = (EmogiGraph) {.nvertices = nvertices, .ids = memory, .weight_type = weight_type, .memory = memory};
	view_adjacency(&graph->forward, memory, &used, nvertices, nedges, weight_type);
	if (direction == EMOGI_BOTH)
		graph->backward = graph->forward;
	else if (with_backward)
		view_adjacency(&graph->backward, memory, &used, nvertices, nedges, weight_type);
	graph->memory_bytes = used;
}

/* Get where an array of a block lies when the block lies elsewhere; NULL stays NULL. */
static const void *
move_array(const void *array, const void *from, const void *to)
{
	return array == NULL ? NULL : (const char *) to + ((const char *) array - (const char *) from);
}

/* Have an orientation lead into another block. */
static void
move_adjacency(EmogiAdjacency *adjacency, const void *from, const void *to)
{
	adjacency->offsets = move_array(adjacency->offsets, from, to);
	adjacency->targets = move_array(adjacency->targets, from, to);
	adjacency->weights = move_array(adjacency->weights, from, to);
}

void
emogi_graph_move(EmogiGraph *graph, const void *memory)
{
	graph->ids = move_array(graph->ids, graph->memory, memory);
	move_adjacency(&graph->forward, graph->memory, memory);
	move_adjacency(&graph->backward, graph->memory, memory);
	graph->memory = memory;
}

uint32_t
emogi_graph_vertex(const EmogiGraph *graph, int64_t key)
{
	const uint64_t n = graph->nvertices;
	uint64_t	low = 0,
				high = n;

	if (graph->ids == NULL)
		return key >= 0 && (uint64_t) key < n ? (uint32_t) key : EMOGI_NO_VERTEX;
	if (n == 0 || key < graph->ids[0] || key > graph->ids[n - 1])
		return EMOGI_NO_VERTEX;
	/* keys are distinct: no more are before this one than there are numbers, nor behind it. Of keys without gaps nothing is left to search */
	if ((uint64_t) key - (uint64_t) graph->ids[0] < n)
		high = (uint64_t) key - (uint64_t) graph->ids[0];
	if ((uint64_t) graph->ids[n - 1] - (uint64_t) key < n)
		low = n - 1 - ((uint64_t) graph->ids[n - 1] - (uint64_t) key);
	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (graph->ids[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < graph->nvertices && graph->ids[low] == key ? (uint32_t) low : EMOGI_NO_VERTEX;
}
