/*
 * local_graph.c: a small graph whose rows of given vertices equal those of the whole graph
 *
 * local_scope.c finds its vertices. The graph is laid out as that of emogi_csr_build: its vertices
 * are numbered in the order of their keys, so that lists keep their order.
 */
#include "contract/local_graph.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/local_hops.h"
#include "contract/partition_point.h"
#include "cpu/local_scope.h"

#define LOOKUP_EDGES 16			/* edges that are scanned in the time of a lookup in a list */

/* Adjacency lists that are being written. */
typedef struct Lists
{
	uint64_t   *offsets;		/* [nvertices + 1] */
	uint32_t   *targets;		/* [nedges], room for [room] */
	uint64_t	nedges;
	uint64_t	room;
} Lists;

/* Get the member of a rank in the sorted array. */
static inline uint32_t
member_at(const uint64_t *sorted, uint64_t rank)
{
	return (uint32_t) (sorted[rank] >> 32);
}

/* Sort the members by key, and make their places their ranks. NULL if out of memory. */
static uint64_t *
sort_members(EmogiLocalMaking *making)
{
	const uint64_t count = making->members.count;
	uint64_t   *sorted = malloc((2 * count + 1) * sizeof *sorted);

	if (sorted == NULL)
		return NULL;
	for (uint64_t i = 0; i < count; i++)
		sorted[i] = (uint64_t) making->members.vertices[i] << 32;
	emogi_local_sort(making->graph, making->overlay, sorted, count);
	for (uint64_t rank = 0; rank < count; rank++)
		emogi_vertex_set_find(&making->members, member_at(sorted, rank))->place = (uint32_t) rank;
	return sorted;
}

/* Make room for more edges; false if out of memory. */
static bool
reserve_edges(Lists *lists, uint64_t more)
{
	uint32_t   *larger;

	if (lists->nedges + more <= lists->room)
		return true;
	larger = realloc(lists->targets, 2 * (lists->nedges + more) * sizeof *larger);
	if (larger == NULL)
		return false;
	lists->targets = larger;
	lists->room = 2 * (lists->nedges + more);
	return true;
}

/*
 * Append the edges of a long unchanged list that lead to members, which are looked up in the list.
 * Its targets ascend, and so do the members that are in the graph without the overlay.
 */
static void
search_list(EmogiLocalMaking *making, const EmogiListPiece *list, const uint64_t *sorted,
			Lists *lists)
{
	uint64_t	e = 0;

	for (uint64_t rank = 0; rank < making->members.count && e < list->count; rank++)
	{
		const uint32_t member = member_at(sorted, rank);

		if (member >= making->graph->nvertices)
			continue;
		e = EMOGI_PARTITION_POINT(e, list->count, middle, list->targets[middle] < member);
		for (; e < list->count && list->targets[e] == member && !making->failed; e++)
		{
			making->failed |= !reserve_edges(lists, 1);
			if (!making->failed)
				lists->targets[lists->nedges++] = (uint32_t) rank;
		}
	}
}

/* Is a list unchanged, and are members better looked up in it than its targets among them? */
static bool
is_long(const EmogiLocalMaking *making, const EmogiListsView *view, uint32_t vertex,
		EmogiListPiece *list)
{
	uint32_t	npieces;

	return emogi_lists_degree(view, vertex) / LOOKUP_EDGES > making->members.count &&
		emogi_lists_pieces(view, vertex, list, &npieces) == list;
}

/* Append the edges of a list that lead to members. */
static void
write_list(EmogiLocalMaking *making, const EmogiListsView *view, const uint64_t *sorted,
		   uint32_t vertex, Lists *lists)
{
	const uint64_t degree = emogi_lists_degree(view, vertex);
	EmogiListPiece whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces;

	if (is_long(making, view, vertex, &whole))
	{
		if (emogi_local_making_charge(making, making->members.count * LOOKUP_EDGES))
			search_list(making, &whole, sorted, lists);
		return;
	}
	if (!emogi_local_making_charge(making, degree))
		return;
	if (!reserve_edges(lists, degree))
	{
		making->failed = true;
		return;
	}
	pieces = emogi_lists_pieces(view, vertex, &whole, &npieces);
	for (uint32_t i = 0; i < npieces; i++)
		for (uint64_t e = 0; e < pieces[i].count; e++)
		{
			const EmogiVertexPlace *member = emogi_vertex_set_find(&making->members,
																   pieces[i].targets[e]);

			if (member != NULL)
				lists->targets[lists->nedges++] = member->place;
		}
}

/* Write the lists of all members, at most max_kept edges. The caller frees them in any case. */
static Lists
write_lists(EmogiLocalMaking *making, const EmogiListsView *view, const uint64_t *sorted,
			uint64_t max_kept)
{
	const uint64_t count = making->members.count;
	Lists		lists = {.offsets = malloc((count + 1) * sizeof *lists.offsets)};

	if (lists.offsets == NULL)
		making->failed = true;
	else
		lists.offsets[0] = 0;
	for (uint64_t rank = 0; rank < count && !making->failed; rank++)
	{
		write_list(making, view, sorted, member_at(sorted, rank), &lists);
		lists.offsets[rank + 1] = lists.nedges;
		making->failed |= lists.nedges > max_kept;
	}
	return lists;
}

static void
free_lists(Lists *lists)
{
	free(lists->offsets);
	free(lists->targets);
}

/* Copy lists to their place in a graph. */
static void
copy_lists(const Lists *lists, uint64_t nvertices, const EmogiAdjacency *adjacency)
{
	memcpy((uint64_t *) adjacency->offsets, lists->offsets,
		   (nvertices + 1) * sizeof *lists->offsets);
	if (lists->nedges > 0)
		memcpy((uint32_t *) adjacency->targets, lists->targets,
			   lists->nedges * sizeof *lists->targets);
}

/* Lay out the graph of the members; backward: NULL = the forward lists. False if out of memory. */
static bool
lay_out(const EmogiLocalMaking *making, const uint64_t *sorted, const Lists *forward,
		const Lists *backward, EmogiLocalGraph *local)
{
	const uint64_t count = making->members.count;
	const EmogiDirection direction = backward == NULL ? EMOGI_BOTH : EMOGI_OUT;
	const size_t bytes = emogi_csr_bytes(count, forward->nedges, EMOGI_OUT, backward != NULL,
										 EMOGI_WEIGHT_NONE);
	int64_t    *ids = aligned_alloc(EMOGI_LINE_BYTES, bytes);

	local->memory = ids;
	if (ids == NULL)
		return false;
	emogi_csr_view(ids, count, forward->nedges, direction, backward != NULL, EMOGI_WEIGHT_NONE,
				   &local->graph);
	for (uint64_t rank = 0; rank < count; rank++)
		ids[rank] = emogi_overlay_key(making->graph, making->overlay, member_at(sorted, rank));
	copy_lists(forward, count, &local->graph.forward);
	if (backward != NULL)
		copy_lists(backward, count, &local->graph.backward);
	return true;
}

/* Make the graph of the members; false if that fails. */
static bool
make_graph(EmogiLocalMaking *making, uint64_t max_kept, EmogiLocalGraph *local)
{
	uint64_t   *sorted = sort_members(making);
	Lists		forward = {0};
	Lists		backward = {0};

	making->failed |= sorted == NULL;
	if (!making->failed)
		forward = write_lists(making, &making->forward, sorted, max_kept);
	if (!making->failed && !making->is_symmetric)
		backward = write_lists(making, &making->backward, sorted, max_kept);
	if (!making->failed)
		making->failed = !lay_out(making, sorted, &forward,
								  making->is_symmetric ? NULL : &backward, local);
	free_lists(&forward);
	free_lists(&backward);
	free(sorted);
	return !making->failed;
}

bool
emogi_local_graph_make(const EmogiGraph *graph, const EmogiOverlay *overlay,
					   EmogiLocalScope scope, const uint32_t *vertices, uint64_t nvertices,
					   uint64_t max_edges, uint64_t max_kept, EmogiLocalGraph *local)
{
	EmogiLocalMaking making = {
		.graph = graph,.overlay = overlay,
		.forward = emogi_lists_forward(graph, overlay),
		.backward = emogi_lists_backward(graph, overlay),
		/* of a graph without vertices, only the overlay tells */
		.is_symmetric = graph->backward.offsets == graph->forward.offsets &&
		(overlay == NULL || overlay->backward.lists == overlay->forward.lists),
		.max_edges = max_edges,
		.max_vertices = max_kept > UINT32_MAX ? UINT32_MAX : EMOGI_LOCAL_MET * max_kept
	};

	*local = (EmogiLocalGraph) {0};
	emogi_local_scope_collect(&making, scope, vertices, nvertices);
	if (!making.failed && making.members.count > 0)
		(void) make_graph(&making, max_kept, local);
	local->edges_scanned = making.nscanned;
	emogi_vertex_set_free(&making.members);
	return !making.failed;
}

void
emogi_local_graph_free(EmogiLocalGraph *local)
{
	free(local->memory);
	*local = (EmogiLocalGraph) {0};
}
