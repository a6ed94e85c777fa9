/*
 * csr_layout.c: where the arrays of a Graph lie in its block, and how a key is found in it.
 *
 * ids | forward offsets | forward targets | backward offsets | backward targets, each in whole lines; EMOGI_BOTH and a
 * Graph without transpose have no backward arrays.
 */
#include "csr.h"
#include "layout.h"

/* Get the bytes of one orientation. */
static size_t
adjacency_bytes(uint64_t nvertices, uint64_t nentries)
{
	return emogi_whole_lines((nvertices + 1) * sizeof(uint64_t)) + emogi_whole_lines(nentries * sizeof(uint32_t));
}

size_t
emogi_csr_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, bool with_backward)
{
	size_t		one = adjacency_bytes(nvertices, direction == EMOGI_BOTH ? 2 * nedges : nedges);
	size_t		transposed = with_backward && direction != EMOGI_BOTH ? one : 0;

	return emogi_whole_lines(nvertices * sizeof(int64_t)) + one + transposed;
}

/* Point an orientation into the memory from *used on. */
static void
view_adjacency(EmogiAdjacency *adjacency, char *memory, size_t *used, uint64_t nvertices, uint64_t nentries)
{
	adjacency->nedges = nentries;
	adjacency->offsets = (const uint64_t *) (memory + *used);
	adjacency->targets = (const uint32_t *) (memory + *used + emogi_whole_lines((nvertices + 1) * sizeof(uint64_t)));
	*used += adjacency_bytes(nvertices, nentries);
}

void
emogi_csr_view(void *memory, uint64_t nvertices, uint64_t nedges, EmogiDirection direction, bool with_backward,
			   EmogiGraph *graph)
{
	size_t		used = emogi_whole_lines(nvertices * sizeof(int64_t));

	*graph = (EmogiGraph) {.nvertices = nvertices, .ids = memory, .memory = memory};
	view_adjacency(&graph->forward, memory, &used, nvertices, nedges);
	if (direction == EMOGI_BOTH)
		graph->backward = graph->forward;
	else if (with_backward)
		view_adjacency(&graph->backward, memory, &used, nvertices, nedges);
	graph->memory_bytes = used;
}

uint32_t
emogi_vertex_number(const EmogiGraph *graph, int64_t key)
{
	uint64_t	low = 0,
				high = graph->nvertices;

	if (graph->ids == NULL)
		return key >= 0 && (uint64_t) key < graph->nvertices ? (uint32_t) key : EMOGI_NO_VERTEX;
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
