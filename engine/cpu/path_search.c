/*
 * path_search.c: point-to-point shortest paths, without computing the distances of all vertices.
 *
 * Finds the path that emogi_trace_path (trace_path.h) finds from the distances of SSSP: minimum
 * distance in SSSP's arithmetic, then fewest edges, then the smallest vertices read from the target
 * back.
 *
 * Method. Dijkstra's search from the source is exact: it settles vertices in the order of
 * (distance, edges), and each keeps as its parent the smallest of the vertices that offer it that
 * pair. All parents of a vertex are settled before it, so that following the parents from the
 * target yields the path. The search is pruned by a second search, from the target against the
 * edges [1]. Where the two meet, they bound the distance between the ends by `limit`. A vertex is
 * dropped if its distance from the source plus its minimum distance to the target exceeds the
 * limit. The side that has examined fewer edges continues. Once nothing unsettled lies between the
 * two sides, only the search from the source continues, among vertices that the other side has
 * visited.
 *
 * Without weights both searches proceed level by level, and the last part is made from the target's
 * side: a vertex takes as its parent its first neighbor that is one level nearer to the source,
 * which costs no more than finding it did.
 *
 * Rounding. SSSP adds from the source on and the search from the target adds in the opposite order,
 * so that their sums agree only up to rounding: an addition has a relative error of at most 2^-53
 * (none below 2^-1021), and a sum over the k < 2^32 edges of a path without a cycle less than
 * 2^-20. Let p be on a shortest path, ties included. Its two distances sum to at most 1 + 2^-19
 * times the distance of the target, and that is at most 1 + 2^-19 times the sum at which the
 * searches met, which is that of a path. SLACK covers both, so that p is not dropped. A backward
 * sum that overflows becomes the largest double instead of +inf: as such it is still a lower bound,
 * and still shows that a path exists. A limit that overflows drops nothing.
 *
 * Memory use is proportional to the visited vertices: a hash table of nodes and a queue for each
 * side.
 *
 * [1] I. Pohl. Bi-directional search. Machine Intelligence 6, 1971.
 */
#include "contract/path_search.h"

#include "contract/semirings.h"
#include "search_queue.h"
#include "threads/job.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

/* edges between two polls of the cancel flag, for which room is reserved at a time */
#define PIECE 4096
#define REHASH_PIECE 262144		/* nodes, likewise */
#define PREFETCH_DISTANCE 16	/* prefetch distance, edges */
#define MIN_BITS 7			/* of the hash table's size */

/* A visited vertex. */
typedef struct Node
{
	uint32_t	vertex;			/* vertex + 1; 0 = a free slot */
	uint32_t	parent;			/* predecessor on the path from the source */
	uint32_t	hops;			/* edges from the source on that path */
	double		forward;		/* distance from the source, +inf = not reached from there; exact
								 * once settled */
	double		backward;		/* distance to the target, likewise, but subject to rounding */
} Node;

/* The search from one end. */
typedef struct Side
{
	EmogiListsView lists;
	Queue		queue;
	double		nearest;		/* lower bound of the distance of unsettled vertices; +inf = all
								 * are settled */
	double		level;			/* without weights: distance of the last settled entry */
	uint64_t	nscanned;		/* edges examined */
	uint64_t	waiting;		/* without weights: edges of the queued vertices */
} Side;

typedef struct Search
{
	EmogiJob	job;
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
	uint32_t	target;
	bool		weighted;
	double		min_weight;		/* minimum weight of an edge */
	double		limit;			/* upper bound of the path's length */
	bool		has_path;		/* some path is known, perhaps too long for a double */
	bool		found;			/* the target is settled */
	bool		gave_up;
	uint64_t	max_edges;
	uint64_t	max_vertices;	/* to settle */
	uint64_t	nsettled;
	uint64_t	nscanned;		/* edges examined */
	Side		forward;
	Side		backward;
	Node	   *nodes;			/* [2^bits], open addressing, at most half full */
	int			bits;
	uint64_t	nnodes;
} Search;

/* Get the node of a vertex, or a free slot for it. */
static inline Node *
find_node(const Search *search, uint32_t v)
{
	uint64_t	mask = (UINT64_C(1) << search->bits) - 1;
	uint64_t	i = first_slot(v, search->bits);

	while (search->nodes[i].vertex != v + 1 && search->nodes[i].vertex != 0)
		i = (i + 1) & mask;
	return &search->nodes[i];
}

/* Turn a free slot into the node of a vertex. */
static inline void
add_node(Search *search, Node *node, uint32_t v)
{
	*node = (Node) {.vertex = v + 1, .forward = (double) INFINITY, .backward = (double) INFINITY};
	search->nnodes++;
}

/* Make room for `more` nodes; false if out of memory. */
static bool
reserve_nodes(Search *search, uint64_t more)
{
	Node	   *before = search->nodes;
	uint64_t	nbefore = before == NULL ? 0 : UINT64_C(1) << search->bits;
	int			bits = before == NULL ? MIN_BITS : search->bits;
	Node	   *larger = NULL;

	while (UINT64_C(1) << bits < 2 * (search->nnodes + more))
		bits++;
	if (before != NULL && bits == search->bits)
		return true;
	if (emogi_job_may_allocate(&search->job))
		larger = calloc((size_t) 1 << bits, sizeof(Node));
	if (larger == NULL)
		return false;
	search->nodes = larger;
	search->bits = bits;
	for (uint64_t i = 0; i < nbefore; i++)
	{
		if (i % REHASH_PIECE == 0 && emogi_job_stopped(&search->job))
			break;				/* the lost nodes are not needed any more */
		if (before[i].vertex != 0)
			*find_node(search, before[i].vertex - 1) = before[i];
	}
	free(before);
	return true;
}

/* Make room for the targets of `more` edges; false, with the job failed, if out of memory. */
static bool
reserve(Search *search, Side *side, uint64_t more)
{
	if (reserve_nodes(search, more) && queue_reserve(&side->queue, more, &search->job))
		return true;
	emogi_job_fail(&search->job, EMOGI_NO_MEMORY);
	return false;
}

/* Push an entry onto the queue, which has room for it. */
static inline void
push(Search *search, Side *side, Entry entry)
{
	if (!search->weighted)
		side->waiting += emogi_lists_degree(&side->lists, entry.vertex);
	queue_push(&side->queue, entry);
}

/* Pop the first entry off the queue. */
static Entry
pop(Search *search, Side *side)
{
	const Entry first = queue_pop(&side->queue);

	if (!search->weighted)
	{
		side->waiting -= emogi_lists_degree(&side->lists, first.vertex);
		side->level = first.distance;
	}
	return first;
}

/* Record that a path of this length exists. */
static inline void
record_path(Search *search, double length)
{
	double		limit = search->weighted ? length * SLACK : length;	/* hops are exact */

	search->has_path = true;
	if (limit < search->limit)
		search->limit = limit;
}

/* Check whether a vertex with these distances lies on no path within the limit. */
static inline bool
is_pruned(const Search *search, double distance, double backward)
{
	/* unvisited vertices are no nearer to the target than this */
	double		reached = search->backward.nearest + search->min_weight;

	return distance + (backward < reached ? backward : reached) > search->limit;
}

/* Offer a vertex a distance from the source over a parent. */
static inline void
offer_forward(Search *search, uint32_t v, double distance, uint32_t hops, uint32_t parent)
{
	Node	   *node = find_node(search, v);

	if (!(distance < (double) INFINITY))
		return;
	if (node->vertex == 0)
	{
		if (is_pruned(search, distance, (double) INFINITY))
			return;
		add_node(search, node, v);
	}
	else
	{
		if (distance > node->forward)
			return;
		if (node->backward < (double) INFINITY)
			record_path(search, distance + node->backward);
		if (is_pruned(search, distance, node->backward))
			return;
	}
	if (distance < node->forward || hops < node->hops)
	{
		node->forward = distance;
		node->hops = hops;
		node->parent = parent;
		push(search, &search->forward, (Entry) {distance, hops, v});
	}
	else if (hops == node->hops &&
			 emogi_overlay_before(search->graph, search->overlay, parent, node->parent))
		node->parent = parent;
}

/* Offer a vertex a distance to the target. */
static inline void
offer_backward(Search *search, uint32_t v, double distance)
{
	Node	   *node = find_node(search, v);
	bool		pruned = distance + search->forward.nearest > search->limit;

	if (node->vertex == 0)
	{
		if (pruned)
			return;
		add_node(search, node, v);
	}
	else
	{
		if (!(distance < node->backward))
			return;
		if (node->forward < (double) INFINITY)
			record_path(search, node->forward + distance);
		if (pruned)
			return;
	}
	node->backward = distance;
	push(search, &search->backward, (Entry) {distance, 0, v});
}

/* Relax some edges of a settled vertex. */
static void
walk(Search *search, Side *side, Entry entry, const EmogiListPiece *entries)
{
	EmogiWeightType type = search->graph->weight_type;

	for (uint64_t i = 0; i < entries->count; i++)
	{
		const uint32_t target = entries->targets[i];
		double		weight = emogi_weight(entries->weights, type, i);
		double		distance = emogi_path_candidate(EMOGI_SSSP, entry.distance, weight);

		if (i + PREFETCH_DISTANCE < entries->count)
			__builtin_prefetch(&search->nodes[first_slot(entries->targets[i + PREFETCH_DISTANCE],
														 search->bits)]);
		if (side == &search->forward)
			offer_forward(search, target, distance, entry.hops + 1, entry.vertex);
		else if (weight < (double) INFINITY)
			offer_backward(search, target, distance < DBL_MAX ? distance : DBL_MAX);
	}
}

/* Relax a piece of the adjacency list of a settled vertex. */
static void
walk_piece(Search *search, Side *side, Entry entry, EmogiListPiece piece)
{
	const size_t weight_bytes = emogi_weight_bytes(search->graph->weight_type);

	while (piece.count > 0 && !emogi_job_stopped(&search->job))
	{
		EmogiListPiece	part = piece;

		part.count = piece.count < PIECE ? piece.count : PIECE;
		if (!reserve(search, side, part.count))
			return;
		walk(search, side, entry, &part);
		piece.count -= part.count;
		piece.targets += part.count;
		if (piece.weights != NULL)
			piece.weights = (const char *) piece.weights + part.count * weight_bytes;
	}
}

/* Check the limits before an adjacency list is examined. */
static bool
check_limits(Search *search, uint64_t nentries)
{
	if (nentries > search->max_edges - search->nscanned ||
		++search->nsettled > search->max_vertices)
		search->gave_up = true;
	return !search->gave_up;
}

/* Settle the first vertex of a side's queue. */
static void
settle(Search *search, Side *side)
{
	Entry		entry = pop(search, side);
	const Node *node = find_node(search, entry.vertex);
	const uint64_t degree = emogi_lists_degree(&side->lists, entry.vertex);
	EmogiListPiece	whole;
	const EmogiListPiece *pieces;
	uint32_t	npieces;

	if (side == &search->backward)
	{
		if (entry.distance != node->backward)
			return;
	}
	else
	{
		if (entry.distance != node->forward || entry.hops != node->hops ||
			is_pruned(search, entry.distance, node->backward))
			return;
		search->found = entry.vertex == search->target;
	}
	if (search->found || !check_limits(search, degree))
		return;
	search->nscanned += degree;
	side->nscanned += degree;
	pieces = emogi_lists_pieces(&side->lists, entry.vertex, &whole, &npieces);
	for (uint32_t i = 0; i < npieces; i++)
		walk_piece(search, side, entry, pieces[i]);
}

/*
 * Find the parent of a vertex at a level: the first vertex of its backward list that is one level
 * before it.
 */
static void
find_parent(Search *search, uint32_t vertex, double level)
{
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(&search->backward.lists, vertex, &whole,
													  &npieces);

	for (uint32_t i = 0; i < npieces; i++)
	{
		for (uint64_t e = 0; e < pieces[i].count; e++)
		{
			const uint32_t parent = pieces[i].targets[e];
			const Node *before = find_node(search, parent);

			search->nscanned++;
			if (before->vertex != 0 && before->forward == level - 1.0)
			{
				Node	   *node = find_node(search, vertex);

				node->forward = level;
				node->hops = (uint32_t) level;
				node->parent = parent;
				return;
			}
		}
	}
}

/*
 * Find the rest of the path without weights, once nothing lies between the two sides: from the
 * source's last complete level on, level by level, the target's side in reverse. A vertex j levels
 * before the target is on a shortest path if a neighbor is at level limit - j - 1; the first such
 * neighbor is its parent.
 */
static void
join_levels(Search *search)
{
	const Side *side = &search->backward;
	uint64_t	i = side->queue.head;

	while (i > 0 && !emogi_job_stopped(&search->job))
	{
		Entry		entry = side->queue.entries[--i];
		double		level = search->limit - entry.distance;

		if (level <= search->forward.nearest)
			continue;
		if (!check_limits(search, emogi_lists_degree(&side->lists, entry.vertex)))
			return;
		find_parent(search, entry.vertex, level);
	}
	search->found = !emogi_job_stopped(&search->job);
}

/*
 * Get the number of edges a side will have examined after settling its next vertex, or its next
 * level.
 */
static uint64_t
next_cost(const Search *search, const Side *side)
{
	if (!search->weighted)
		return side->nscanned + side->waiting;
	return side->nscanned + emogi_lists_degree(&side->lists, side->queue.entries[0].vertex);
}

/*
 * Choose the side that continues: the one that will have examined fewer edges; without weights only
 * at the end of a level. Give up before a level that exceeds the limits.
 */
static Side *
choose_side(Search *search, Side *last)
{
	Side	   *side;

	if (!search->weighted && last->nearest == last->level)
		return last;
	side = next_cost(search, &search->backward) < next_cost(search, &search->forward) ?
		&search->backward : &search->forward;
	if (!search->weighted)
		search->gave_up = side->waiting > search->max_edges - search->nscanned ||
			queue_length(&side->queue) > search->max_vertices - search->nsettled;
	return side;
}

/* Search until the target is settled, cannot be reached, or a limit is exceeded. */
static void
run(Search *search)
{
	Side	   *forward = &search->forward;
	Side	   *backward = &search->backward;
	Side	   *side = forward;

	while (!emogi_job_stopped(&search->job) && !search->found && !search->gave_up)
	{
		forward->nearest = queue_distance(&forward->queue);
		backward->nearest = queue_distance(&backward->queue);
		if (queue_length(&forward->queue) == 0 ||
			(queue_length(&backward->queue) == 0 && !search->has_path))
			return;
		if (queue_length(&backward->queue) == 0 ||
			forward->nearest + backward->nearest + search->min_weight > search->limit)
		{
			if (!search->weighted)
			{
				join_levels(search);
				return;
			}
			side = forward;
		}
		else
			side = choose_side(search, side);
		if (!search->gave_up)
			settle(search, side);
	}
}

/* Enter both ends; false, with the job failed, if out of memory. */
static bool
enter_ends(Search *search, uint32_t source)
{
	Node	   *node;

	if (!reserve(search, &search->forward, 1) || !reserve(search, &search->backward, 1))
		return false;
	node = find_node(search, source);
	add_node(search, node, source);
	node->forward = 0.0;
	node->parent = source;
	push(search, &search->forward, (Entry) {0.0, 0, source});
	node = find_node(search, search->target);
	if (node->vertex == 0)
		add_node(search, node, search->target);
	node->backward = 0.0;
	push(search, &search->backward, (Entry) {0.0, 0, search->target});
	search->found = source == search->target;
	return true;
}

/* Follow the parents from the target into the answer; the job fails if out of memory. */
static void
write_path(Search *search, EmogiPathAnswer *answer)
{
	const Node *node = find_node(search, search->target);
	uint64_t	length = (uint64_t) node->hops + 1;

	if (emogi_job_may_allocate(&search->job))
		answer->vertices = malloc(length * sizeof(uint32_t));
	if (emogi_job_may_allocate(&search->job))
		answer->distance = malloc(length * sizeof(double));
	if (answer->vertices == NULL || answer->distance == NULL)
	{
		emogi_path_search_free(answer);
		emogi_job_fail(&search->job, EMOGI_NO_MEMORY);
		return;
	}
	answer->outcome = EMOGI_PATH_FOUND;
	answer->length = length;
	for (uint64_t i = length; i-- > 0; node = find_node(search, node->parent))
	{
		answer->vertices[i] = node->vertex - 1;
		answer->distance[i] = node->forward;
	}
}

EmogiStatus
emogi_path_search(const EmogiGraph *graph, const EmogiOverlay *overlay, uint32_t source,
				  uint32_t target, uint64_t max_edges, EmogiPathAnswer *answer,
				  EmogiControl *control, EmogiError *error)
{
	return emogi_path_search_within(graph, overlay, source, target, max_edges, UINT64_MAX, answer,
									control, error);
}

/*
 * Check whether no edge leaves the source or none leads to the target. A check for cycles before an
 * insert mostly ends here.
 */
static bool
is_cut_off(const Search *search, uint32_t source)
{
	return source != search->target &&
		(emogi_lists_degree(&search->forward.lists, source) == 0 ||
		 emogi_lists_degree(&search->backward.lists, search->target) == 0);
}

EmogiStatus
emogi_path_search_within(const EmogiGraph *graph, const EmogiOverlay *overlay, uint32_t source,
						 uint32_t target, uint64_t max_edges, uint64_t max_vertices,
						 EmogiPathAnswer *answer, EmogiControl *control, EmogiError *error)
{
	bool		weighted = graph->weight_type != EMOGI_WEIGHT_NONE;
	Search		search = {.job = {.control = control}, .graph = graph, .overlay = overlay,
		.target = target, .weighted = weighted,
		.min_weight = weighted ? 0.0 : 1.0, .limit = (double) INFINITY, .max_edges = max_edges,
		.max_vertices = max_vertices,
		.forward = {.lists = emogi_lists_forward(graph, overlay), .queue = {.is_heap = weighted},
		.level = -1.0},
		.backward = {.lists = emogi_lists_backward(graph, overlay), .queue = {.is_heap = weighted},
		.level = -1.0}};

	*answer = (EmogiPathAnswer) {.outcome = EMOGI_PATH_NONE};
	error->message[0] = error->detail[0] = '\0';
	emogi_job_phase(&search.job, EMOGI_PHASE_RUN, 0);
	if (!is_cut_off(&search, source) && enter_ends(&search, source))
		run(&search);
	if (search.gave_up)
		answer->outcome = EMOGI_PATH_GAVE_UP;
	else if (search.found && !emogi_job_stopped(&search.job))
		write_path(&search, answer);
	answer->edges_traversed = search.nscanned;
	answer->vertices_settled = search.nsettled;
	if (search.job.status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof(error->message), "out of memory while searching for a "
														 "path");
		snprintf(error->detail, sizeof(error->detail), "%llu vertices met",
				 (unsigned long long) search.nnodes);
	}
	free(search.nodes);
	free(search.forward.queue.entries);
	free(search.backward.queue.entries);
	return (EmogiStatus) search.job.status;
}

void
emogi_path_search_free(EmogiPathAnswer *answer)
{
	free(answer->vertices);
	free(answer->distance);
	*answer = (EmogiPathAnswer) {.outcome = answer->outcome,
		.edges_traversed = answer->edges_traversed,
		.vertices_settled = answer->vertices_settled};
}
