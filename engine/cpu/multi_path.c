/*
 * multi_path.c: shortest paths of pairs of vertices that share the source or the target
 *
 * Finds what path_search.c finds for each pair, with the same tie breaks.
 *
 * ethod. Bidirectional search [1]; the side at the common endpoint is kept from pair to pair. With
 * n targets of one source it pays to extend the common side to the cost of all others: if the
 * number of vertices within a distance grows exponentially, all pairs together cost sqrt(n) times
 * as much as one, and the vertices settled by the common side cost nothing. So near targets are all
 * found by one search.
 *
 * The two sides must not depend on the pairs that they are kept for. So the common side is not
 * pruned. path_search.c finds the last part of a path by extending the search from the source among
 * the vertices that the other side has reached. Here, a separate search finds it, the link: it
 * begins with the vertices that the source's side has reached and not settled, and visits only
 * those that may be on a shortest path according to the target's side. What the source's side has
 * settled is final, parents included. Without weights the link is made from the target's side,
 * unless that is the common one: a vertex takes the first neighbor one level nearer to the source
 * as its parent.
 *
 * Let v be on a shortest path, ties included, and not settled by the source's side. Its distance
 * from the source is at least `nearest` of that side. Since the searches end when the sum of both
 * `nearest` exceeds the limit, the target's side has settled v, or without weights reached it at
 * its level. The same applies to all vertices that follow on the path. So the link finds them, and
 * all of their parents, in the order of (distance, edges). Rounding is covered by SLACK, as
 * path_search.c explains.
 *
 * [1] I. Pohl. Bi-directional search. Machine Intelligence 6, 1971.
 */
#include "multi_path_parts.h"

#include "contract/semirings.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 4096				/* edges between two polls, and per reservation of memory */
#define SETTLED_PIECE 1024		/* vertices between two polls */
#define KEPT_BITS 10			/* larger tables are freed before the next pair */
#define NODES_PIECE 262144		/* nodes or edges between two polls of short steps */
#define PREFETCH_DISTANCE 16	/* edges */
#define MET_EDGES 4				/* cost of visiting a node of a table, in edges */
/* an edge of the kept side, whose table outgrows the cache, costs as much as so many of another */
#define COMMON_COST 4

/* ---- relaxation ---- */

/* Note that there is a path of this length. */
static inline void
note_path(EmogiMultiPath *search, double length)
{
	const double limit = search->weighted ? length * SLACK : length; /* hops are exact */

	search->met = true;
	if (limit < search->limit)
		search->limit = limit;
}

/* Relax a vertex on one side; true = its label has improved. */
static inline bool
offer(const EmogiMultiPath *search, Side *side, Node *node, Entry entry, uint32_t parent)
{
	if (node->vertex == 0)
	{
		*node = (Node) {.vertex = entry.vertex + 1, .parent = parent, .hops = entry.hops,
						.distance = entry.distance};
		side->nnodes++;
	}
	else if (node->settled)
		return false;
	else if (entry.distance < node->distance ||
			 (entry.distance == node->distance && entry.hops < node->hops))
	{
		node->distance = entry.distance;
		node->hops = entry.hops;
		node->parent = parent;
	}
	else
	{
		if (side != &search->backward && entry.distance == node->distance &&
			entry.hops == node->hops &&
			emogi_overlay_before(search->graph, search->overlay, parent, node->parent))
			node->parent = parent;
		return false;
	}
	push(side, entry);
	return true;
}

/* Relax a vertex on one side, unless it is on no path of interest and the side is not kept. */
static inline void
offer_end(EmogiMultiPath *search, Side *side, const Side *other, Entry entry, uint32_t parent)
{
	const Node *opposite = find_node(other, entry.vertex);
	const double rest = opposite->vertex != 0 ? opposite->distance : (double) INFINITY;
	/* unreached vertices are no nearer */
	const double reached = search->weighted ? other->nearest : other->nearest + 1.0;

	if (side != search->common &&
		entry.distance + (rest < reached ? rest : reached) > search->limit)
		return;
	if (offer(search, side, find_node(side, entry.vertex), entry, parent) && opposite->vertex != 0)
		note_path(search, entry.distance + rest);
}

/* Relax a vertex in the link, if it may be on a shortest path. */
static inline void
offer_link(EmogiMultiPath *search, Entry entry, uint32_t parent)
{
	const Node *ahead = find_node(&search->backward, entry.vertex);

	if (ahead->vertex == 0 || entry.distance + ahead->distance > search->limit ||
		find_node(&search->forward, entry.vertex)->settled)
		return;
	offer(search, &search->link, find_node(&search->link, entry.vertex), entry, parent);
}

/* Relax the edges of a piece of a settled vertex's list. */
static void
scan_piece(EmogiMultiPath *search, Side *side, Entry from, const EmogiListPiece *part)
{
	const EmogiWeightType type = search->graph->weight_type;
	const Side *other = side == &search->backward ? &search->forward : &search->backward;

	for (uint64_t i = 0; i < part->count; i++)
	{
		const double weight = emogi_weight(part->weights, type, i);
		Entry		entry = {emogi_path_candidate(EMOGI_SSSP, from.distance, weight), from.hops + 1,
							 part->targets[i]};

		if (i + PREFETCH_DISTANCE < part->count)
		{
			__builtin_prefetch(&side->nodes[first_slot(part->targets[i + PREFETCH_DISTANCE],
													   side->bits)]);
			__builtin_prefetch(&other->nodes[first_slot(part->targets[i + PREFETCH_DISTANCE],
														other->bits)]);
		}
		if (side == &search->backward)
		{
			entry.hops = 0;
			if (!(weight < (double) INFINITY))
				continue;
			entry.distance = entry.distance < DBL_MAX ? entry.distance : DBL_MAX;
		}
		if (!(entry.distance < (double) INFINITY))
			continue;
		if (side == &search->link)
			offer_link(search, entry, from.vertex);
		else
			offer_end(search, side, other, entry, from.vertex);
	}
}

/* Relax the edges of a settled vertex, unless that exceeds the caller's limits. */
static void
scan_list(EmogiMultiPath *search, Side *side, Entry from)
{
	const uint64_t degree = emogi_lists_degree(&side->lists, from.vertex);
	const size_t weight_bytes = emogi_weight_bytes(search->graph->weight_type);
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(&side->lists, from.vertex, &whole, &npieces);

	if (degree > search->max_edges - search->nscanned || search->nsettled == search->max_vertices)
	{
		search->gave_up = true;
		return;
	}
	search->nscanned += degree;
	side->cost += degree + VERTEX_EDGES;
	if (++search->nsettled % SETTLED_PIECE == 0 && emogi_multi_path_stopped(search))
		return;
	for (uint32_t p = 0; p < npieces; p++)
		for (uint64_t first = 0; first < pieces[p].count; first += PIECE)
		{
			EmogiListPiece	part = pieces[p];

			part.count = part.count - first < PIECE ? part.count - first : PIECE;
			part.targets += first;
			if (part.weights != NULL)
				part.weights = (const char *) part.weights + first * weight_bytes;
			if ((first > 0 && emogi_multi_path_stopped(search)) ||
				!emogi_multi_path_reserve(search, side, part.count))
				return;
			scan_piece(search, side, from, &part);
		}
}

/* Settle the first vertex of a queue. */
static void
settle(EmogiMultiPath *search, Side *side)
{
	const Entry entry = pop(side);

	find_node(side, entry.vertex)->settled = true;
	if (entry.vertex != search->target || side == &search->backward || side == search->common)
		scan_list(search, side, entry);
	look_ahead(side);
}

/* ---- the sides ---- */

/* Make a side empty. */
static bool
reset_side(EmogiMultiPath *search, Side *side)
{
	if (side->nodes != NULL && side->bits > KEPT_BITS)
		emogi_multi_path_free_nodes(search, side);
	else if (side->nodes != NULL)
		memset(side->nodes, 0, sizeof(Node) << side->bits);
	side->nnodes = side->queue.head = side->queue.end = side->cost = side->waiting = 0;
	side->level = -1.0;
	side->has_root = false;
	return emogi_multi_path_reserve(search, side, 1);
}

/* Start a side at a vertex, unless it is the kept one and has started there. */
static bool
enter(EmogiMultiPath *search, Side *side, uint32_t root)
{
	if (side->has_root && side == search->common && side->root == root)
		return true;
	if (side == search->common)
		search->others_cost = 0;
	if (!reset_side(search, side))
		return false;
	side->has_root = true;
	side->root = root;
	offer(search, side, find_node(side, root), (Entry) {0.0, 0, root}, root);
	look_ahead(side);
	return true;
}

/* Get a side's cost after settling the next vertex, or without weights the rest of the queue. */
static uint64_t
next_cost(const Side *side)
{
	if (!side->queue.is_heap)
		return side->cost + side->waiting;
	return side->cost + VERTEX_EDGES +
		emogi_lists_degree(&side->lists, side->queue.entries[0].vertex);
}

/*
 * Choose the side to extend, at the end of a level: the common one up to the cost of all others,
 * past and expected. Give up before a level that exceeds the limits.
 */
static Side *
choose_side(EmogiMultiPath *search, Side *last)
{
	Side	   *forward = &search->forward;
	Side	   *backward = &search->backward;
	Side	   *common = search->common == backward ? backward : forward;
	Side	   *other = search->common == backward ? forward : backward;
	const bool	is_kept = search->common != NULL;
	const uint64_t common_cost = next_cost(common) * (is_kept ? COMMON_COST : 1);
	const uint64_t other_cost = next_cost(other) * (is_kept ? search->ncommon : 1);
	Side	   *side;

	if (!last->queue.is_heap && last->nearest == last->level)
		return last;
	side = common_cost <= search->others_cost + other_cost ? common : other;
	if (!side->queue.is_heap)
	{
		const uint64_t nvertices = queue_length(&side->queue);

		search->gave_up |= nvertices > search->max_vertices - search->nsettled ||
			side->waiting - VERTEX_EDGES * nvertices > search->max_edges - search->nscanned;
	}
	return side;
}

/* Return true if the source's side has settled the target. */
static inline bool
has_arrived(const EmogiMultiPath *search)
{
	const Node *node = find_node(&search->forward, search->target);

	return node->vertex != 0 && node->settled;
}

/* Note a path that is known before the search: one endpoint was reached by the other's side. */
static void
meet_ends(EmogiMultiPath *search)
{
	const Node *target = find_node(&search->forward, search->target);
	const Node *source = find_node(&search->backward, search->forward.root);

	if (target->vertex != 0)
		note_path(search, target->distance);
	if (source->vertex != 0)
		note_path(search, source->distance);
}

/*
 * Extend both sides until they have met for good; false = there is no path, or the search is
 * abandoned.
 */
static bool
run_sides(EmogiMultiPath *search, uint32_t source)
{
	Side	   *forward = &search->forward;
	Side	   *backward = &search->backward;
	const double min_step = search->weighted ? 0.0 : 1.0;
	Side	   *side = forward;

	if (!enter(search, forward, source))
		return false;
	if (has_arrived(search))
		return true;
	if (!enter(search, backward, search->target))
		return false;
	meet_ends(search);
	while (!search->gave_up && (search->wants_paths || !search->met) && !has_arrived(search) &&
		   queue_length(&forward->queue) > 0 && queue_length(&backward->queue) > 0 &&
		   forward->nearest + backward->nearest + min_step <= search->limit)
	{
		side = choose_side(search, side);
		if (!search->gave_up)
			settle(search, side);
	}
	return !search->gave_up && search->met;
}

/* ---- the link ---- */

/* Start the link with a vertex that the source's side has reached and not settled. */
static void
enter_link(EmogiMultiPath *search, uint32_t vertex)
{
	const Node *node = find_node(&search->forward, vertex);

	if (node->vertex != 0 && !node->settled && emogi_multi_path_reserve(search, &search->link, 1))
		offer_link(search, (Entry) {node->distance, node->hops, vertex}, node->parent);
}

/*
 * Start the link with all of these vertices, from the smaller of one side's queue and the other
 * side's nodes.
 */
static void
enter_links(EmogiMultiPath *search)
{
	const Side *forward = &search->forward;
	const Side *backward = &search->backward;
	const uint64_t nwaiting = queue_length(&forward->queue);
	const bool	by_queue = nwaiting <= UINT64_C(1) << backward->bits;
	const uint64_t count = by_queue ? nwaiting : UINT64_C(1) << backward->bits;

	for (uint64_t i = 0; i < count; i++)
	{
		const Node *node = &backward->nodes[i];

		if (by_queue)
			enter_link(search, forward->queue.entries[forward->queue.head + i].vertex);
		else if (node->vertex != 0 && node->distance + forward->nearest <= search->limit)
			enter_link(search, node->vertex - 1);
		if (i % NODES_PIECE == NODES_PIECE - 1 && emogi_multi_path_stopped(search))
			return;
	}
	search->nscanned += count / MET_EDGES;
	if (search->nscanned > search->max_edges)
		search->gave_up = true;
}

/*
 * Settle the vertices on paths of interest, up to the target; false = all are too long for a
 * double, or the search is abandoned.
 */
static bool
run_link(EmogiMultiPath *search)
{
	Side	   *link = &search->link;

	enter_links(search);
	look_ahead(link);
	while (!search->gave_up && queue_length(&link->queue) > 0 &&
		   !find_node(link, search->target)->settled)
		settle(search, link);
	return !search->gave_up && find_node(link, search->target)->settled;
}

/* ---- the link without weights ---- */

/*
 * Return true if the label of a vertex on the source's side is final. Without weights this includes
 * the whole level that is to be settled next.
 */
static inline bool
is_final(const EmogiMultiPath *search, const Node *node)
{
	return node->vertex != 0 &&
		(node->settled || (!search->weighted && node->distance <= search->forward.nearest));
}

/*
 * Get the node of a vertex on the path: that of the source's side if it is final, otherwise that of
 * the link.
 */
static const Node *
node_on_path(const EmogiMultiPath *search, uint32_t vertex)
{
	const Node *node = find_node(&search->forward, vertex);

	return is_final(search, node) ? node : find_node(&search->link, vertex);
}

/*
 * Add a vertex at a level to the link, with the first vertex of its backward list that is at the
 * level before, if there is one.
 */
static void
link_parent(EmogiMultiPath *search, uint32_t vertex, double level)
{
	Side	   *link = &search->link;
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces =
		emogi_lists_pieces(&search->backward.lists, vertex, &whole, &npieces);

	for (uint32_t p = 0; p < npieces; p++)
		for (uint64_t e = 0; e < pieces[p].count; e++)
		{
			const uint32_t parent = pieces[p].targets[e];
			const Node *before = node_on_path(search, parent);

			search->nscanned++;
			if (before->vertex != 0 && before->distance == level - 1.0)
			{
				*find_node(link, vertex) =
					(Node) {.vertex = vertex + 1, .parent = parent, .hops = (uint32_t) level,
							.settled = true,.distance = level};
				link->nnodes++;
				return;
			}
			if (e % NODES_PIECE == NODES_PIECE - 1 && emogi_multi_path_stopped(search))
				return;
		}
}

/*
 * Link the vertices that the target's side has settled, farthest first: one that is j levels before
 * it is on a shortest path if a neighbor is at level limit - j - 1, and the first such neighbor is
 * its parent.
 */
static bool
run_levels(EmogiMultiPath *search)
{
	const Side *backward = &search->backward;

	for (uint64_t i = backward->queue.head; i > 0 && !search->gave_up; i--)
	{
		const Entry *entry = &backward->queue.entries[i - 1];
		const double level = search->limit - entry->distance;
		const uint64_t degree = emogi_lists_degree(&backward->lists, entry->vertex);

		if (level <= search->forward.nearest)
			continue;
		if (degree > search->max_edges - search->nscanned ||
			++search->nsettled > search->max_vertices ||
			(search->nsettled % SETTLED_PIECE == 0 && emogi_multi_path_stopped(search)) ||
			!emogi_multi_path_reserve(search, &search->link, 1))
			search->gave_up = true;
		else
			link_parent(search, entry->vertex, level);
	}
	return !search->gave_up;
}

/* Follow the parents from the target into the result. */
static void
write_path(EmogiMultiPath *search, EmogiMultiPathAnswer *answer)
{
	const Node *node = node_on_path(search, search->target);
	const uint64_t length = (uint64_t) node->hops + 1;

	if (length > search->path_room)
	{
		if (!emogi_multi_path_resize(search, (void **) &search->vertices,
									 search->path_room * sizeof(uint32_t),
									 2 * length * sizeof(uint32_t)) ||
			!emogi_multi_path_resize(search, (void **) &search->distance,
									 search->path_room * sizeof(double),
									 2 * length * sizeof(double)))
			return;
		search->path_room = 2 * length;
	}
	for (uint64_t i = length; i-- > 0; node = node_on_path(search, node->parent))
	{
		search->vertices[i] = node->vertex - 1;
		search->distance[i] = node->distance;
	}
	answer->length = length;
	answer->vertices = search->vertices;
	answer->distance = search->distance;
}

/* ---- interface ---- */

/*
 * Find the rest of the path, which the source's side has not settled; false = it is too long for a
 * double, or the search is abandoned.
 */
static bool
find_link(EmogiMultiPath *search)
{
	if (!search->wants_paths || has_arrived(search))
		return true;
	if (!reset_side(search, &search->link))
		return false;
	return search->weighted || search->common == &search->backward ?
		run_link(search) : run_levels(search);
}

EmogiMultiPath *
emogi_multi_path_begin(const EmogiGraph *graph, const EmogiOverlay *overlay, bool wants_paths,
					   uint64_t max_bytes, EmogiPoll poll)
{
	EmogiMultiPath *search = calloc(1, sizeof *search);
	const bool	weighted = graph->weight_type != EMOGI_WEIGHT_NONE;

	if (search == NULL)
		return NULL;
	*search = (EmogiMultiPath) {.graph = graph, .overlay = overlay, .weighted = weighted,
								.wants_paths = wants_paths || weighted, .max_bytes = max_bytes,
								.poll = poll,
								.forward = {.lists = emogi_lists_forward(graph, overlay),
											.queue = {.is_heap = weighted}},
								.backward = {.lists = emogi_lists_backward(graph, overlay),
											 .queue = {.is_heap = weighted}},
								.link = {.lists = emogi_lists_forward(graph, overlay),
										 .queue = {.is_heap = true}}};
	return search;
}

void
emogi_multi_path_next(EmogiMultiPath *search, uint32_t source, uint32_t target,
					  uint64_t same_source, uint64_t same_target, uint64_t max_edges,
					  uint64_t max_vertices, EmogiMultiPathAnswer *answer)
{
	const Side *common = same_source > 1 ? &search->forward : same_target > 1 ?
		&search->backward : search->common;
	Side	   *other = common == &search->forward ? &search->backward : &search->forward;

	if (common != search->common)
		search->forward.has_root = search->backward.has_root = false;
	search->common = common;
	search->ncommon = same_source > same_target ? same_source : same_target;
	search->target = target;
	search->limit = (double) INFINITY;
	search->met = false;
	search->max_edges = max_edges;
	search->max_vertices = max_vertices;
	search->nscanned = search->nsettled = 0;
	search->link.cost = other->cost = 0;
	*answer = (EmogiMultiPathAnswer) {.outcome = EMOGI_PATH_NONE};
	if (!search->gave_up && run_sides(search, source) && find_link(search))
	{
		answer->outcome = EMOGI_PATH_FOUND;
		if (search->wants_paths)
			write_path(search, answer);
	}
	if (search->gave_up)
		answer->outcome = EMOGI_PATH_GAVE_UP;
	search->others_cost += other->cost + search->link.cost;
	answer->edges_traversed = search->nscanned;
	answer->vertices_settled = search->nsettled;
}

void
emogi_multi_path_free(EmogiMultiPath *search)
{
	if (search == NULL)
		return;
	free(search->forward.nodes);
	free(search->forward.queue.entries);
	free(search->backward.nodes);
	free(search->backward.queue.entries);
	free(search->link.nodes);
	free(search->link.queue.entries);
	free(search->moving);
	free(search->vertices);
	free(search->distance);
	free(search);
}
