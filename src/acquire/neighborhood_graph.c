/*
 * neighborhood_graph.c: make a graph of the edges near given vertices (index_search/neighborhood.h)
 * in the arena, for one call.
 *
 * The graph is laid out as that of emogi_csr_build. It is small, so the backend makes it. Keys that
 * are not integers need no dictionary: their ids are indexes into the keys of the search.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "acquire/acquire.h"
#include "contract/csr.h"
#include "index_search/neighborhood.h"

/* An edge, as vertex numbers of the graph. */
typedef struct Arc
{
	uint32		from;
	uint32		to;
} Arc;

/* The edges of a neighborhood, and its vertices in order. */
typedef struct Arcs
{
	const EmogiNeighborhood *found;
	bool		is_undirected;
	uint32	   *order;			/* [nvertices], indexes into found->vertices, ascending by key */
	uint32	   *numbers;		/* [found->nvertices], the inverse */
	uint32		nvertices;
	Arc		   *arcs;			/* [narcs] */
	uint64		narcs;
} Arcs;

/* ---- vertices ---- */

static int
compare_by_key(const void *a, const void *b, void *arg)
{
	EmogiNeighborhood *found = arg;

	return emogi_index_search_keys_compare(found->vertices[*(const uint32 *) a].id,
										   found->vertices[*(const uint32 *) b].id, &found->keys);
}

/* Number the vertices that have an edge, in ascending order of keys. */
static void
number_vertices(Arcs *arcs, EmogiNeighborhood *found)
{
	arcs->order = palloc_extended(Max(found->nvertices, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	arcs->numbers = palloc_extended(Max(found->nvertices, 1) * sizeof(uint32), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < found->nvertices; i++)
		if (found->vertices[i].exists)
			arcs->order[arcs->nvertices++] = i;
	qsort_arg(arcs->order, arcs->nvertices, sizeof(uint32), compare_by_key, found);
	for (uint32 v = 0; v < arcs->nvertices; v++)
		arcs->numbers[arcs->order[v]] = v;
}

/* ---- edges ---- */

/* Add an edge between two vertices of the neighborhood. */
static void
add_arc(Arcs *arcs, uint32 from, uint32 to)
{
	arcs->arcs[arcs->narcs++] = (Arc) {arcs->numbers[from], arcs->numbers[to]};
}

/*
 * Add the edges of a vertex's list of edges along the search. In an undirected graph, the other end
 * has the edge in its own list: either that list was read, or the edge is added to it here.
 */
static void
add_list_along(Arcs *arcs, uint32 vertex)
{
	const EmogiNeighborhood *found = arcs->found;
	const EmogiNeighborhoodList list = found->vertices[vertex].lists[EMOGI_EDGES_ALONG];

	for (uint64 i = list.first; i < list.first + list.count; i++)
	{
		const uint32 end = found->ends[i];

		add_arc(arcs, vertex, end);
		if (arcs->is_undirected && !found->vertices[end].lists[EMOGI_EDGES_ALONG].is_read)
			add_arc(arcs, end, vertex);
	}
}

/* Add the edges that lead to a vertex, except those in a list of their other end. */
static void
add_list_against(Arcs *arcs, uint32 vertex)
{
	const EmogiNeighborhood *found = arcs->found;
	const EmogiNeighborhoodList list = found->vertices[vertex].lists[EMOGI_EDGES_AGAINST];

	for (uint64 i = list.first; i < list.first + list.count; i++)
		if (!found->vertices[found->ends[i]].lists[EMOGI_EDGES_ALONG].is_read)
			add_arc(arcs, found->ends[i], vertex);
}

/* List all edges, each once; in an undirected graph each in the lists of both ends. */
static void
list_arcs(Arcs *arcs)
{
	arcs->arcs = palloc_extended(Max(2 * arcs->found->nends, 1) * sizeof(Arc), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < arcs->found->nvertices; i++)
	{
		add_list_along(arcs, i);
		add_list_against(arcs, i);
	}
}

/* ---- CSR ---- */

/* Set offsets from the number of edges of each vertex v, which is in offsets[v + 1]. */
static void
sum_up(uint64 *offsets, uint32 nvertices)
{
	for (uint32 v = 0; v < nvertices; v++)
		offsets[v + 1] += offsets[v];
}

/* Write adjacency lists by the edges' ends, in any order within a list. */
static void
write_lists_by_end(const Arcs *arcs, uint64 *offsets, uint32 *targets)
{
	uint64	   *next = palloc_extended((arcs->nvertices + 1) * sizeof *next, MCXT_ALLOC_HUGE);

	memset(offsets, 0, (arcs->nvertices + 1) * sizeof *offsets);
	for (uint64 i = 0; i < arcs->narcs; i++)
		offsets[arcs->arcs[i].to + 1]++;
	sum_up(offsets, arcs->nvertices);
	memcpy(next, offsets, (arcs->nvertices + 1) * sizeof *next);
	for (uint64 i = 0; i < arcs->narcs; i++)
		targets[next[arcs->arcs[i].to]++] = arcs->arcs[i].from;
	pfree(next);
}

/* Write the transpose of adjacency lists. Its lists are ascending. */
static void
write_transpose(uint32 nvertices, const uint64 *from_offsets, const uint32 *from_targets,
				uint64 *offsets, uint32 *targets)
{
	const uint64 nedges = from_offsets[nvertices];
	uint64	   *next = palloc_extended((nvertices + 1) * sizeof *next, MCXT_ALLOC_HUGE);

	memset(offsets, 0, (nvertices + 1) * sizeof *offsets);
	for (uint64 e = 0; e < nedges; e++)
		offsets[from_targets[e] + 1]++;
	sum_up(offsets, nvertices);
	memcpy(next, offsets, (nvertices + 1) * sizeof *next);
	for (uint32 v = 0; v < nvertices; v++)
		for (uint64 e = from_offsets[v]; e < from_offsets[v + 1]; e++)
			targets[next[from_targets[e]]++] = v;
	pfree(next);
}

/* Write the adjacency lists of a graph that is laid out. */
static void
write_lists(const Arcs *arcs, const EmogiGraph *graph)
{
	const uint32 n = arcs->nvertices;
	uint64	   *offsets = palloc_extended((n + 1) * sizeof *offsets, MCXT_ALLOC_HUGE);
	uint32	   *targets = palloc_extended(Max(arcs->narcs, 1) * sizeof *targets, MCXT_ALLOC_HUGE);

	write_lists_by_end(arcs, offsets, targets);
	write_transpose(n, offsets, targets, unconstify(uint64 *, graph->forward.offsets),
					unconstify(uint32 *, graph->forward.targets));
	pfree(offsets);
	pfree(targets);
	if (graph->backward.offsets != NULL && graph->backward.offsets != graph->forward.offsets)
		write_transpose(n, graph->forward.offsets, graph->forward.targets,
						unconstify(uint64 *, graph->backward.offsets),
						unconstify(uint32 *, graph->backward.targets));
}

/* Write the ids of a graph. */
static void
write_ids(const Arcs *arcs, const EmogiGraph *graph)
{
	int64	   *ids = unconstify(int64 *, graph->ids);

	for (uint32 v = 0; v < arcs->nvertices; v++)
		ids[v] = arcs->found->keys.are_integers ? arcs->found->vertices[arcs->order[v]].id : v;
}

/* Return the keys of the vertices, which are not integers, in the current memory context. */
static EmogiKeyBytes *
copy_keys(const Arcs *arcs)
{
	EmogiKeyBytes *keys = palloc_extended(Max(arcs->nvertices, 1) * sizeof *keys, MCXT_ALLOC_HUGE);

	for (uint32 v = 0; v < arcs->nvertices; v++)
		keys[v] = emogi_index_search_keys_copy(&arcs->found->keys,
											   arcs->found->vertices[arcs->order[v]].id);
	return keys;
}

/* Record where the call's graph comes from. */
static void
record_graph(EmogiCall *call, const EmogiIndexSearch *search, const EmogiGraph *graph)
{
	EmogiCallRecord *record = &call->record;

	strlcpy(record->indexes, search->names, sizeof record->indexes);
	record->nvertices = graph->nvertices;
	record->nedges = graph->forward.nedges;
}

/*
 * Make the graph of a search's neighborhood, in the call's slot, and free the neighborhood. Without
 * vertices, it has no memory. search->keys and count are set to its keys, unless they
 * are integers. Raises 53200.
 */
void
emogi_neighborhood_graph_make(EmogiCall *call, const EmogiGraphKey *wanted,
							  EmogiIndexSearch *search, EmogiGraph *graph)
{
	EmogiNeighborhood *found = search->neighborhood;
	Arcs		arcs = {.found = found,.is_undirected = wanted->direction == EMOGI_BOTH};
	const bool	is_transposed = wanted->with_backward && !arcs.is_undirected;
	MemoryContext old = MemoryContextSwitchTo(found->context);

	number_vertices(&arcs, found);
	CHECK_FOR_INTERRUPTS();
	list_arcs(&arcs);
	MemoryContextSwitchTo(old);
	memset(graph, 0, sizeof *graph);
	if (arcs.nvertices > 0)
	{
		void	   *memory = emogi_call_alloc_any(call, emogi_csr_bytes(arcs.nvertices, arcs.narcs,
																		EMOGI_OUT, is_transposed,
																		EMOGI_WEIGHT_NONE));

		emogi_csr_view(memory, arcs.nvertices, arcs.narcs, wanted->direction, is_transposed,
					   EMOGI_WEIGHT_NONE, graph);
		write_ids(&arcs, graph);
		write_lists(&arcs, graph);
	}
	search->count = graph->nvertices;
	search->keys = found->keys.are_integers ? NULL : copy_keys(&arcs);
	record_graph(call, search, graph);
	MemoryContextDelete(found->context);
	search->neighborhood = NULL;
}
