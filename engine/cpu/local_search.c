/*
 * local_search.c: local searches: BFS to targets, SSSP and SSNSP that reach few vertices; BFS
 * without targets is in local_hops.c.
 *
 * Visited vertices are kept in a hash table, so that no array is proportional to the graph. Without
 * weights the queue is in the order of visits, level by level; with weights it is a heap, and
 * vertices are settled in order of distance (Dijkstra). Sums are formed from the source on as in
 * SSSP, so that their minimum does not depend on the order in which they are found. Paths are
 * counted while doubles represent their number exactly, so that the order of additions does not
 * matter.
 */
#include "contract/local_search.h"

#include "contract/semirings.h"
#include "cpu/local_hops.h"

#include <float.h>
#include <stdlib.h>

#define PREFETCH_DISTANCE 16	/* prefetch distance, edges */
#define LIST_PREFETCH_DISTANCE 32	/* prefetch distance of adjacency lists, vertices of the
									 * queue */
#define MAX_PATHS 9007199254740992.0	/* up to here doubles represent all integers exactly */

/* A visited vertex. */
typedef struct Node
{
	uint32_t	vertex;			/* vertex + 1; 0 = a free slot */
	bool		wanted;			/* a target that is not settled yet */
	bool		visited;		/* false = it is only a target */
	double		value;			/* exact once settled; SSNSP: index in the queue */
} Node;

#define HASH_PREFIX node
#define HASH_ENTRY Node
#define HASH_STORED(node) (node)->vertex
#include "containers/hash_table.h"

/* A vertex to settle; stale if its node has a better value now. */
typedef struct Entry
{
	double		value;
	uint32_t	vertex;
} Entry;

#define HEAP_PREFIX entry
#define HEAP_ELEMENT Entry
#define HEAP_BEFORE(heap, a, b) ((a).value < (b).value)
#define HEAP_FANOUT 4
#include "containers/heap.h"

typedef struct Search
{
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
	EmogiListsView lists;
	bool		weighted;
	double		max_value;		/* vertices with larger values are not reached */
	bool		targeted;
	uint64_t	nwanted;		/* targets that are not settled yet */
	uint64_t	max_edges;
	uint64_t	nscanned;
	bool		failed;
	Node	   *nodes;			/* [2^bits], open addressing, at most half full */
	int			bits;
	uint64_t	nnodes;
	Entry	   *entries;		/* [room]: a heap, or, without weights, a queue from head on,
								 * preceded by settled entries */
	uint64_t	head;
	uint64_t	end;
	uint64_t	room;
	double	   *paths;			/* [paths_room], SSNSP: path counts of the entries with the same
								 * index */
	uint64_t	paths_room;
	bool		counts;
	Entry	   *settled;		/* [nsettled], with weights; in the order of values */
	uint64_t	nsettled;
	uint64_t	settled_room;
} Search;

/* Find the node of a vertex, or a free slot for it. */
static inline Node *
find_node(const Search *search, uint32_t vertex)
{
	return node_find(search->nodes, search->bits, vertex);
}

/* Make room for more nodes. */
static bool
reserve_nodes(Search *search, uint64_t more)
{
	const uint64_t count = search->nnodes + more;

	return node_fits(search->nodes, search->bits, count) ||
		node_grow(&search->nodes, &search->bits, count);
}

/* Make room for more entries of an array. */
static bool
reserve_entries(Entry **entries, uint64_t *room, uint64_t count)
{
	Entry	   *larger;

	if (count <= *room)
		return true;
	larger = realloc(*entries, (count + *room) * sizeof(Entry));
	if (larger == NULL)
		return false;
	*entries = larger;
	*room += count;
	return true;
}

/* Make room for the paths of as many entries as there is room for. */
static bool
reserve_paths(Search *search)
{
	double	   *larger;

	if (!search->counts || search->paths_room == search->room)
		return true;
	larger = realloc(search->paths, search->room * sizeof(double));
	if (larger == NULL)
		return false;
	search->paths = larger;
	search->paths_room = search->room;
	return true;
}

/* Make room for the targets of `more` edges; the search fails if out of memory. */
static bool
reserve(Search *search, uint64_t more)
{
	search->failed |= !reserve_nodes(search, more) ||
		!reserve_entries(&search->entries, &search->room, search->end + more) ||
		!reserve_paths(search);
	return !search->failed;
}

/* ---- the queue ---- */

/* Push an entry onto the queue, which has room for it. */
static inline void
push(Search *search, Entry entry)
{
	if (search->weighted)
		entry_push(search->entries, &search->end, entry);
	else
		search->entries[search->end++] = entry;
}

/* ---- the search ---- */

/*
 * Prefetch what will be read of a visited vertex: the offset of its list, and its key for the
 * answer.
 */
static inline void
prefetch_vertex(const Search *search, uint32_t vertex, double value)
{
	const EmogiGraph *graph = search->graph;

	if (vertex >= graph->nvertices)
		return;
	if (value + 1.0 <= search->max_value)
		__builtin_prefetch(&graph->forward.offsets[vertex]);
	if (graph->ids != NULL)
		__builtin_prefetch(&graph->ids[vertex]);
}

/* Prefetch the adjacency list of a vertex LIST_PREFETCH_DISTANCE places ahead in the queue. */
static inline void
prefetch_list(const Search *search)
{
	const EmogiGraph *graph = search->graph;
	const Entry *entry = &search->entries[search->head + LIST_PREFETCH_DISTANCE];

	if (search->head + LIST_PREFETCH_DISTANCE < search->end && entry->vertex < graph->nvertices &&
		entry->value + 1.0 <= search->max_value)
		__builtin_prefetch(&graph->forward.targets[graph->forward.offsets[entry->vertex]]);
}

/* Offer a vertex a value. */
static inline void
offer(Search *search, uint32_t vertex, double value)
{
	Node	   *node;

	if (!(value <= search->max_value))
		return;
	node = find_node(search, vertex);
	if (node->visited && !(value < node->value))
		return;
	if (node->vertex == 0)
	{
		node->vertex = vertex + 1;
		search->nnodes++;
	}
	if (!search->weighted && node->wanted)
	{
		node->wanted = false;	/* the first offer is the best */
		search->nwanted--;
	}
	node->visited = true;
	node->value = value;
	prefetch_vertex(search, vertex, value);
	push(search, (Entry) {value, vertex});
}

/* Offer a vertex a level, and a number of paths of that length. */
static inline void
offer_paths(Search *search, uint32_t vertex, double level, double paths)
{
	Node	   *node;

	if (!(level <= search->max_value))
		return;
	node = find_node(search, vertex);
	if (node->visited)
	{
		const uint64_t place = (uint64_t) node->value;

		if (search->entries[place].value == level)
			search->failed |= (search->paths[place] += paths) > MAX_PATHS;
		return;
	}
	*node = (Node) {.vertex = vertex + 1, .visited = true, .value = (double) search->end};
	search->nnodes++;
	search->paths[search->end] = paths;
	prefetch_vertex(search, vertex, level);
	push(search, (Entry) {level, vertex});
}

/* Relax the edges of a vertex. */
static void
walk(Search *search, Entry entry)
{
	const EmogiWeightType type = search->weighted ? search->graph->weight_type : EMOGI_WEIGHT_NONE;
	const uint64_t degree = emogi_lists_degree(&search->lists, entry.vertex);
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces;

	if (degree > search->max_edges - search->nscanned)
		search->failed = true;
	if (search->failed || !reserve(search, degree))
		return;
	search->nscanned += degree;
	pieces = emogi_lists_pieces(&search->lists, entry.vertex, &whole, &npieces);
	for (uint32_t i = 0; i < npieces; i++)
	{
		const EmogiListPiece *piece = &pieces[i];

		for (uint64_t e = 0; e < piece->count; e++)
		{
			if (e + PREFETCH_DISTANCE < piece->count)
				__builtin_prefetch(search->nodes +
								   emogi_hash_slot(piece->targets[e + PREFETCH_DISTANCE],
												   search->bits));
			if (search->counts)
				offer_paths(search, piece->targets[e], entry.value + 1.0,
							search->paths[search->head - 1]);
			else
				offer(search, piece->targets[e],
					  emogi_path_candidate(EMOGI_SSSP, entry.value,
										   emogi_weight(piece->weights, type, e)));
		}
	}
}

/* Settle the nearest vertex of the heap. */
static void
settle(Search *search)
{
	const Entry entry = entry_pop(search->entries, &search->end);
	Node	   *node = find_node(search, entry.vertex);

	if (entry.value != node->value)
		return;
	if (node->wanted)
		search->nwanted--;
	node->wanted = false;
	if (!reserve_entries(&search->settled, &search->settled_room, search->nsettled + 1))
	{
		search->failed = true;
		return;
	}
	search->settled[search->nsettled++] = entry;
	if (!search->targeted || search->nwanted > 0)
		walk(search, entry);
}

/* Search until the queue is empty or all targets are settled. */
static void
run(Search *search)
{
	while (!search->failed && search->head < search->end &&
		   (!search->targeted || search->nwanted > 0))
	{
		if (search->weighted)
			settle(search);
		else
		{
			const Entry entry = search->entries[search->head++];

			prefetch_list(search);
			if (entry.value + 1.0 <= search->max_value)
				walk(search, entry);
		}
	}
}

/* Enter a source, once. */
static void
enter_source(Search *search, uint32_t vertex)
{
	if (!search->counts)
		offer(search, vertex, 0.0);
	else if (!find_node(search, vertex)->visited)
		offer_paths(search, vertex, 0.0, 1.0);
}

/* Add the targets and enter the sources. False if a source may have been removed. */
static bool
enter_ends(Search *search, const EmogiQuery *query)
{
	if (query->ntargets > search->max_edges || query->nsources > search->max_edges ||
		!reserve(search, query->ntargets + query->nsources))
		return false;
	for (uint64_t i = 0; i < query->ntargets; i++)
	{
		Node	   *node = find_node(search, query->targets[i]);

		if (node->vertex != 0)
			continue;
		*node = (Node) {.vertex = query->targets[i] + 1, .wanted = true};
		search->nnodes++;
		search->nwanted++;
	}
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		switch (emogi_overlay_presence(search->graph, search->overlay, query->sources[i]))
		{
			case EMOGI_VERTEX_UNKNOWN:
				return false;
			case EMOGI_VERTEX_THERE:
				enter_source(search, query->sources[i]);
				break;
			case EMOGI_VERTEX_GONE:
				break;
		}
	}
	return true;
}

/* ---- the answer ---- */

/* Write the reached vertices to the answer in the order of keys. sort: scratch, [2 * count + 1]. */
static void
write_sorted(const Search *search, const Entry *reached, uint64_t count, uint64_t *sort,
			 EmogiLocalAnswer *answer)
{
	for (uint64_t i = 0; i < count; i++)
		sort[i] = (uint64_t) reached[i].vertex << 32 | i;
	emogi_local_sort(search->graph, search->overlay, sort, count);
	for (uint64_t i = 0; i < count; i++)
	{
		answer->vertices[i] = (uint32_t) (sort[i] >> 32);
		answer->values[i] = reached[(uint32_t) sort[i]].value;
		if (search->counts)
			answer->paths[i] = search->paths[(uint32_t) sort[i]];
	}
}

/* Write the answer; false if out of memory. */
static bool
write_answer(const Search *search, EmogiLocalAnswer *answer)
{
	const Entry *reached = search->weighted ? search->settled : search->entries;
	const uint64_t count = search->weighted ? search->nsettled : search->end;
	uint64_t   *sort = malloc((2 * count + 1) * sizeof(*sort));

	answer->count = count;
	answer->vertices = malloc((count + 1) * sizeof(*answer->vertices));
	answer->values = malloc((count + 1) * sizeof(*answer->values));
	answer->paths = search->counts ? malloc((count + 1) * sizeof(*answer->paths)) : NULL;
	answer->edges_traversed = search->nscanned;
	if (count > 0)
		answer->nlevels = search->weighted ? 1 : (uint32_t) reached[count - 1].value + 1;
	if (sort == NULL || answer->vertices == NULL || answer->values == NULL ||
		(search->counts && answer->paths == NULL))
	{
		free(sort);
		emogi_local_search_free(answer);
		return false;
	}
	write_sorted(search, reached, count, sort, answer);
	free(sort);
	return true;
}

EmogiLocalOutcome
emogi_local_search(const EmogiGraph *graph, const EmogiOverlay *overlay, const EmogiQuery *query,
				   uint64_t max_edges, EmogiLocalAnswer *answer)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);
	const bool	counts = (row->traits & EMOGI_COUNTS_PATHS) != 0;
	const bool	hops = row->weights == EMOGI_WEIGHTS_UNUSED;
	Search		search = {.graph = graph, .overlay = overlay,
		.lists = emogi_lists_forward(graph, overlay), .max_edges = max_edges,
		.weighted = !hops && graph->weight_type != EMOGI_WEIGHT_NONE, .max_value = DBL_MAX,
		.targeted = !counts && query->ntargets > 0,
		.counts = counts};
	bool		answered;

	*answer = (EmogiLocalAnswer) {0};
	if (query->mask != NULL && (!hops || counts || query->ntargets > 0 || overlay != NULL))
		return EMOGI_LOCAL_GAVE_UP;
	if (hops && !counts && query->ntargets == 0)
		return query->mask == NULL
			? emogi_local_hops(graph, overlay, query, max_edges, answer)
			: emogi_local_masked_hops(graph, overlay, query, max_edges, answer);
	if (hops && query->max_depth >= 0)
		search.max_value = (double) query->max_depth;
	else if (!hops && query->max_distance < search.max_value)
		search.max_value = query->max_distance;
	answered = enter_ends(&search, query);
	if (answered)
		run(&search);
	answered = answered && !search.failed && write_answer(&search, answer);
	free(search.nodes);
	free(search.entries);
	free(search.paths);
	free(search.settled);
	return answered ? EMOGI_LOCAL_ANSWERED : EMOGI_LOCAL_GAVE_UP;
}

void
emogi_local_search_free(EmogiLocalAnswer *answer)
{
	free(answer->vertices);
	free(answer->values);
	free(answer->paths);
	*answer = (EmogiLocalAnswer) {0};
}
