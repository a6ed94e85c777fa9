/*
 * task_vertices.c: whether a vertex is in the graph of a task, some of whose edges may be masked.
 */
#include "postgres.h"

#include "contract/edge_mask.h"
#include "miscadmin.h"

#include "function/task_vertices.h"

#define TARGETS_AT_ONCE 1024	/* of edges that pass a mask */

/* Does an edge that passes lead to a vertex? Reads all edges. */
static bool
is_target(EmogiEdgeMask *mask, const EmogiGraph *graph, uint32 vertex)
{
	uint32		targets[TARGETS_AT_ONCE + 64];
	uint64		first = 0;

	while (first < graph->forward.nedges)
	{
		const uint64 count = emogi_edge_mask_select(&mask->forward, graph->forward.targets, &first,
													graph->forward.nedges, targets,
													TARGETS_AT_ONCE);

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < count; i++)
			if (targets[i] == vertex)
				return true;
	}
	return false;
}

/* Is a vertex in a task's graph? With a mask, only if it has an edge that passes (P9). */
bool
emogi_task_has_vertex(const EmogiTask *task, const EmogiOverlay *overlay, const EmogiGraph *graph,
					  int64 key)
{
	EmogiEdgeMask *mask = task->query.mask;
	uint32		vertex;

	if (!emogi_local_search_has_vertex(graph, overlay, key))
		return false;
	if (mask == NULL)
		return true;
	vertex = emogi_graph_vertex(graph, key);
	switch (emogi_edge_mask_vertex(mask, graph, vertex))
	{
		case EMOGI_MASKED_GONE:
			return false;
		case EMOGI_MASKED_THERE:
			return true;
		case EMOGI_MASKED_UNKNOWN:
			break;
	}
	return is_target(mask, graph, vertex);
}
