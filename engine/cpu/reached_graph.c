/*
 * reached_graph.c: a small graph of the edges that sources reach
 *
 * Breadth-first search collects the vertices. The graph is laid out as that of emogi_csr_build: its
 * vertices are numbered in the order of their keys, so that lists keep their order. Backward lists
 * are the transpose of the forward lists: those of the whole graph may be much longer.
 */
#include "contract/reached_graph.h"

#include <stdlib.h>
#include <string.h>

#include "cpu/local_hops.h"
#include "cpu/vertex_set.h"

/* A small graph in the making. */
typedef struct Making
{
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
	EmogiListsView lists;
	EmogiVertexSet members;		/* in the order of their hops */
	uint64_t	nexpanded;		/* members whose edges are in the graph */
	uint64_t	nedges;
	uint64_t	max_edges;
	uint64_t   *sorted;			/* [members.count]: vertex << 32 | place in the set, by key */
} Making;

/* Add the vertices of a list to the members; false by the limit or if out of memory. */
static bool
add_list(Making *making, uint32_t vertex)
{
	const uint64_t degree = emogi_lists_degree(&making->lists, vertex);
	EmogiListPiece whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(&making->lists, vertex, &whole, &npieces);

	making->nedges += degree;
	if (making->nedges > making->max_edges || !emogi_vertex_set_reserve(&making->members, degree))
		return false;
	for (uint32_t i = 0; i < npieces; i++)
		for (uint64_t e = 0; e < pieces[i].count; e++)
			(void) emogi_vertex_set_add(&making->members, pieces[i].targets[e]);
	return true;
}

/* Collect the members; false by the limit or if out of memory. */
static bool
collect(Making *making, const uint32_t *sources, uint64_t nsources, int64_t max_depth)
{
	if (nsources > making->max_edges || !emogi_vertex_set_reserve(&making->members, nsources + 1))
		return false;
	for (uint64_t i = 0; i < nsources; i++)
		(void) emogi_vertex_set_add(&making->members, sources[i]);
	for (int64_t hops = 0; hops != max_depth && making->nexpanded < making->members.count; hops++)
		for (uint64_t end = making->members.count; making->nexpanded < end; making->nexpanded++)
			if (!add_list(making, making->members.vertices[making->nexpanded]))
				return false;
	return true;
}

/* Get the member of a rank. */
static inline uint32_t
member_at(const Making *making, uint64_t rank)
{
	return (uint32_t) (making->sorted[rank] >> 32);
}

/* Sort the members by key, and make their places their ranks; false if out of memory. */
static bool
sort_members(Making *making)
{
	const uint64_t count = making->members.count;

	making->sorted = malloc((2 * count + 1) * sizeof *making->sorted);
	if (making->sorted == NULL)
		return false;
	for (uint64_t i = 0; i < count; i++)
		making->sorted[i] = (uint64_t) making->members.vertices[i] << 32 | i;
	emogi_local_sort(making->graph, making->overlay, making->sorted, count);
	for (uint64_t rank = 0; rank < count; rank++)
		emogi_vertex_set_find(&making->members, member_at(making, rank))->place = (uint32_t) rank;
	return true;
}

/* Append a vertex's list to the forward lists; return their new length. */
static uint64_t
write_list(const Making *making, const EmogiAdjacency *lists, uint32_t vertex, uint64_t first)
{
	const size_t bytes = emogi_weight_bytes(making->lists.weight_type);
	EmogiListPiece whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(&making->lists, vertex, &whole, &npieces);

	for (uint32_t i = 0; i < npieces; i++)
	{
		for (uint64_t e = 0; e < pieces[i].count; e++)
			((uint32_t *) lists->targets)[first + e] =
				emogi_vertex_set_find(&making->members, pieces[i].targets[e])->place;
		if (bytes > 0 && pieces[i].count > 0)
			memcpy((char *) lists->weights + first * bytes, pieces[i].weights,
				   pieces[i].count * bytes);
		first += pieces[i].count;
	}
	return first;
}

/* Write the forward lists, and count the edges to each vertex. */
static void
write_forward(const Making *making, const EmogiGraph *small)
{
	uint64_t   *offsets = (uint64_t *) small->forward.offsets;
	uint64_t   *counts = (uint64_t *) small->backward.offsets;

	offsets[0] = 0;
	memset(counts, 0, (small->nvertices + 1) * sizeof *counts);
	for (uint64_t rank = 0; rank < small->nvertices; rank++)
	{
		const bool	is_expanded = (uint32_t) making->sorted[rank] < making->nexpanded;

		offsets[rank + 1] = is_expanded ?
			write_list(making, &small->forward, member_at(making, rank), offsets[rank]) :
			offsets[rank];
	}
	for (uint64_t e = 0; e < small->forward.nedges; e++)
		counts[small->forward.targets[e] + 1]++;
}

/*
 * Write the backward lists, whose lengths have been counted. Sources ascend in the outer loop, and
 * parallel edges by weight in the inner one.
 */
static void
write_backward(const EmogiGraph *small, uint64_t *next)
{
	uint64_t   *offsets = (uint64_t *) small->backward.offsets;
	const size_t bytes = emogi_weight_bytes(small->weight_type);

	for (uint64_t v = 0; v < small->nvertices; v++)
	{
		offsets[v + 1] += offsets[v];
		next[v] = offsets[v];
	}
	for (uint64_t v = 0; v < small->nvertices; v++)
		for (uint64_t e = small->forward.offsets[v]; e < small->forward.offsets[v + 1]; e++)
		{
			const uint64_t place = next[small->forward.targets[e]]++;

			((uint32_t *) small->backward.targets)[place] = (uint32_t) v;
			if (bytes > 0)
				memcpy((char *) small->backward.weights + place * bytes,
					   (const char *) small->forward.weights + e * bytes, bytes);
		}
}

/* Lay out the graph of the members; false if out of memory. */
static bool
lay_out(Making *making, EmogiReachedGraph *reached)
{
	const uint64_t count = making->members.count;
	const EmogiWeightType type = making->lists.weight_type;
	int64_t    *ids = aligned_alloc(EMOGI_LINE_BYTES, emogi_csr_bytes(count, making->nedges,
																	  EMOGI_OUT, true, type));

	reached->memory = ids;
	if (ids == NULL || !sort_members(making))
		return false;
	emogi_csr_view(ids, count, making->nedges, EMOGI_OUT, true, type, &reached->graph);
	for (uint64_t rank = 0; rank < count; rank++)
		ids[rank] = emogi_overlay_key(making->graph, making->overlay, member_at(making, rank));
	write_forward(making, &reached->graph);
	write_backward(&reached->graph, making->sorted);
	return true;
}

/* Look up the sources among the members; false if out of memory. */
static bool
find_sources(const Making *making, const uint32_t *sources, uint64_t nsources,
			 EmogiReachedGraph *reached)
{
	reached->sources = malloc((nsources + 1) * sizeof *reached->sources);
	if (reached->sources == NULL)
		return false;
	for (uint64_t i = 0; i < nsources; i++)
		reached->sources[i] = emogi_vertex_set_find(&making->members, sources[i])->place;
	return true;
}

bool
emogi_reached_graph_make(const EmogiGraph *graph, const EmogiOverlay *overlay,
						 const uint32_t *sources, uint64_t nsources, int64_t max_depth,
						 uint64_t max_edges, EmogiReachedGraph *reached)
{
	Making		making = {.graph = graph,.overlay = overlay,
						  .lists = emogi_lists_forward(graph, overlay),.max_edges = max_edges};
	bool		is_made;

	*reached = (EmogiReachedGraph) {0};
	is_made = collect(&making, sources, nsources, max_depth);
	if (is_made && making.members.count > 0)
		is_made = lay_out(&making, reached) && find_sources(&making, sources, nsources, reached);
	reached->edges_scanned = making.nedges;
	emogi_vertex_set_free(&making.members);
	free(making.sorted);
	if (!is_made)
		emogi_reached_graph_free(reached);
	return is_made;
}

void
emogi_reached_graph_free(EmogiReachedGraph *reached)
{
	free(reached->memory);
	free(reached->sources);
	*reached = (EmogiReachedGraph) {0};
}
