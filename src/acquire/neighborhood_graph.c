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
	double		weight;			/* 1 without weights */
} Arc;

/* The edges of a neighborhood, and its vertices in order. */
typedef struct Arcs
{
	const EmogiNeighborhood *found;
	bool		is_undirected;
	bool		is_weighted;
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

/* Add an edge of a list, in a direction, between two vertices of the neighborhood. */
static void
add_arc(Arcs *arcs, uint64 end, uint32 from, uint32 to)
{
	arcs->arcs[arcs->narcs++] = (Arc) {arcs->numbers[from], arcs->numbers[to],
		arcs->is_weighted ? arcs->found->weights[end] : 1};
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

		add_arc(arcs, i, vertex, end);
		if (arcs->is_undirected && !found->vertices[end].lists[EMOGI_EDGES_ALONG].is_read)
			add_arc(arcs, i, end, vertex);
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
			add_arc(arcs, i, found->ends[i], vertex);
}

static int
compare_weights(const void *a, const void *b)
{
	const double x = ((const Arc *) a)->weight;
	const double y = ((const Arc *) b)->weight;

	return (x > y) - (x < y);
}

/*
 * List all edges, each once; in an undirected graph each in the lists of both ends. They ascend by
 * weight, which the lists keep for parallel edges.
 */
static void
list_arcs(Arcs *arcs)
{
	arcs->arcs = palloc_extended(Max(2 * arcs->found->nends, 1) * sizeof(Arc), MCXT_ALLOC_HUGE);
	for (uint32 i = 0; i < arcs->found->nvertices; i++)
	{
		add_list_along(arcs, i);
		add_list_against(arcs, i);
	}
	if (arcs->is_weighted)
		qsort(arcs->arcs, arcs->narcs, sizeof(Arc), compare_weights);
}

/* ---- CSR ---- */

/* Set offsets from the number of edges of each vertex v, which is in offsets[v + 1]. */
static void
sum_up(uint64 *offsets, uint32 nvertices)
{
	for (uint32 v = 0; v < nvertices; v++)
		offsets[v + 1] += offsets[v];
}

/* Adjacency lists that are being written. */
typedef struct Lists
{
	uint64	   *offsets;		/* [nvertices + 1] */
	uint32	   *targets;		/* [offsets[nvertices]] */
	double	   *weights;		/* likewise; NULL = none */
} Lists;

/* Write adjacency lists by the edges' ends, within a list in the order of the edges. */
static void
write_lists_by_end(const Arcs *arcs, const Lists *to)
{
	uint64	   *next = palloc_extended((arcs->nvertices + 1) * sizeof *next, MCXT_ALLOC_HUGE);

	memset(to->offsets, 0, (arcs->nvertices + 1) * sizeof *to->offsets);
	for (uint64 i = 0; i < arcs->narcs; i++)
		to->offsets[arcs->arcs[i].to + 1]++;
	sum_up(to->offsets, arcs->nvertices);
	memcpy(next, to->offsets, (arcs->nvertices + 1) * sizeof *next);
	for (uint64 i = 0; i < arcs->narcs; i++)
	{
		const uint64 place = next[arcs->arcs[i].to]++;

		to->targets[place] = arcs->arcs[i].from;
		if (to->weights != NULL)
			to->weights[place] = arcs->arcs[i].weight;
	}
	pfree(next);
}

/* Write the transpose of adjacency lists. Its lists are ascending. */
static void
write_transpose(uint32 nvertices, const Lists *from, const Lists *to)
{
	const uint64 nedges = from->offsets[nvertices];
	uint64	   *next = palloc_extended((nvertices + 1) * sizeof *next, MCXT_ALLOC_HUGE);

	memset(to->offsets, 0, (nvertices + 1) * sizeof *to->offsets);
	for (uint64 e = 0; e < nedges; e++)
		to->offsets[from->targets[e] + 1]++;
	sum_up(to->offsets, nvertices);
	memcpy(next, to->offsets, (nvertices + 1) * sizeof *next);
	for (uint32 v = 0; v < nvertices; v++)
		for (uint64 e = from->offsets[v]; e < from->offsets[v + 1]; e++)
		{
			const uint64 place = next[from->targets[e]]++;

			to->targets[place] = v;
			if (to->weights != NULL)
				to->weights[place] = from->weights[e];
		}
	pfree(next);
}

/* Get the memory of lists that are laid out, to be written. */
static Lists
lists_of(const EmogiAdjacency *adjacency)
{
	return (Lists) {unconstify(uint64 *, adjacency->offsets),
		unconstify(uint32 *, adjacency->targets), unconstify(void *, adjacency->weights)};
}

/* Write the adjacency lists of a graph that is laid out. */
static void
write_lists(const Arcs *arcs, const EmogiGraph *graph)
{
	const uint32 n = arcs->nvertices;
	const Lists forward = lists_of(&graph->forward);
	Lists		by_end = {
		palloc_extended((n + 1) * sizeof(uint64), MCXT_ALLOC_HUGE),
		palloc_extended(Max(arcs->narcs, 1) * sizeof(uint32), MCXT_ALLOC_HUGE)
	};

	if (arcs->is_weighted)
		by_end.weights = palloc_extended(Max(arcs->narcs, 1) * sizeof(double), MCXT_ALLOC_HUGE);
	write_lists_by_end(arcs, &by_end);
	write_transpose(n, &by_end, &forward);
	if (graph->backward.offsets != NULL && graph->backward.offsets != graph->forward.offsets)
	{
		const Lists backward = lists_of(&graph->backward);

		write_transpose(n, &forward, &backward);
	}
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
	Arcs		arcs = {.found = found,.is_undirected = search->direction == EMOGI_BOTH,
						.is_weighted = found->weights != NULL};
	const EmogiWeightType weights = arcs.is_weighted ? EMOGI_WEIGHT_F64 : EMOGI_WEIGHT_NONE;
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
																		weights));

		emogi_csr_view(memory, arcs.nvertices, arcs.narcs, search->direction, is_transposed,
					   weights, graph);
		write_ids(&arcs, graph);
		write_lists(&arcs, graph);
	}
	search->count = graph->nvertices;
	search->keys = found->keys.are_integers ? NULL : copy_keys(&arcs);
	record_graph(call, search, graph);
	MemoryContextDelete(found->context);
	search->neighborhood = NULL;
}
