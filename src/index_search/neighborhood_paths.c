/*
 * neighborhood_paths.c: collect the edges of shortest paths through table indexes.
 *
 * The lists that are read (neighborhood.c) contain all edges of all shortest paths, so an algorithm
 * that breaks ties among them by their vertices returns the same path as in the whole graph:
 *
 *   from both ends           without weights, if there are indexes of both ends: if the forward
 *                            lists up to depth a and the backward lists up to depth b have a
 *                            vertex in common, the distance is at most a + b, and the i-th edge of
 *                            a shortest path is in a forward list if i < a, and in a backward list
 *                            otherwise. If one side is exhausted first, there is no path;
 *   from one end             in ascending order of distance (Dijkstra) up to the farthest target,
 *                            or max_distance: with weights the lists of all vertices that are not
 *                            farther, without weights of those that are nearer.
 *
 * Distances are summed from the source, as the algorithms do. Without weights they are exact in
 * either direction, so a search may start from the target.
 */
#include "postgres.h"

#include <math.h>

#include "lib/pairingheap.h"
#include "miscadmin.h"

#include "index_search/neighborhood.h"

/* ---- from both ends ---- */

/* Has the other expansion reached a vertex that this one has reached since `first`? */
static bool
have_met(const EmogiCollection *collection, const EmogiExpansion *expansion,
		 const EmogiExpansion *other)
{
	const int	list = *other->steps == EMOGI_STEP_ALONG ? EMOGI_EDGES_ALONG : EMOGI_EDGES_AGAINST;

	for (uint64 i = expansion->first; i < expansion->count; i++)
		if (collection->found->vertices[expansion->queue[i]].reached[list] == other->number)
			return true;
	return false;
}

/* Collect the edges of the shortest paths between two vertices of the graph. */
static void
collect_between(EmogiCollection *collection, uint32 source, uint32 target)
{
	EmogiExpansion along = emogi_neighborhood_expansion(collection, ">");
	EmogiExpansion against = emogi_neighborhood_expansion(collection, "<");
	bool		met = source == target;

	emogi_neighborhood_reach(collection, &along, source);
	emogi_neighborhood_reach(collection, &against, target);
	while (!met && !emogi_neighborhood_is_exhausted(collection, &along) &&
		   !emogi_neighborhood_is_exhausted(collection, &against))
	{
		const bool	goes_along = along.count - along.first <= against.count - against.first;
		EmogiExpansion *smaller = goes_along ? &along : &against;

		CHECK_FOR_INTERRUPTS();
		emogi_neighborhood_expand(collection, smaller);
		met = have_met(collection, smaller, goes_along ? &against : &along);
	}
	pfree(along.queue);
	pfree(against.queue);
}

/* ---- from one end ---- */

/* A vertex that was reached, perhaps not by the shortest way. */
typedef struct Reached
{
	pairingheap_node node;
	double		distance;
	uint32		vertex;
} Reached;

/* A search in ascending order of distance. */
typedef struct Window
{
	EmogiCollection *collection;
	int			list;			/* followed from each vertex */
	uint32		number;			/* marks the vertices it has reached, and its targets */
	uint64		nwanted;		/* targets that are not reached yet */
	double		max_distance;
	pairingheap *queue;			/* of Reached, nearest first */
} Window;

static int
compare_distances(const pairingheap_node *a, const pairingheap_node *b, void *arg)
{
	const double x = ((const Reached *) a)->distance;
	const double y = ((const Reached *) b)->distance;

	return (x < y) - (x > y);
}

/* Begin a window that has reached nothing yet. */
static Window
begin_window(EmogiCollection *collection, int list, double max_distance)
{
	return (Window) {.collection = collection,.list = list,.number = ++collection->nexpansions,
					 .max_distance = max_distance,
					 .queue = pairingheap_allocate(compare_distances, NULL)};
}

/* Note that the distance of a vertex is known. The farthest target bounds the window. */
static void
settle(Window *window, uint32 v, double distance)
{
	EmogiNeighborhoodVertex *vertex = &window->collection->found->vertices[v];

	if (vertex->wanted != window->number)
		return;
	vertex->wanted = 0;
	if (--window->nwanted == 0)
		window->max_distance = distance;
}

/* Reach a vertex, unless it was reached at most as far away. An infinite weight ends a path. */
static void
offer(Window *window, uint32 v, double distance)
{
	EmogiNeighborhoodVertex *vertex = &window->collection->found->vertices[v];
	Reached    *reached;

	if ((vertex->reached[window->list] == window->number && vertex->distance <= distance) ||
		distance > window->max_distance || isinf(distance))
		return;
	vertex->reached[window->list] = window->number;
	vertex->distance = distance;
	reached = palloc(sizeof *reached);
	reached->vertex = v;
	reached->distance = distance;
	pairingheap_add(window->queue, &reached->node);
	if (window->collection->found->weights == NULL)
		settle(window, v, distance);
}

/* Follow the list of a vertex. */
static void
follow(Window *window, uint32 v, double distance)
{
	EmogiCollection *collection = window->collection;
	const EmogiNeighborhoodList list = emogi_neighborhood_read(collection, v, window->list);
	const EmogiNeighborhood *found = collection->found;

	(void) emogi_index_readers_charge(&collection->in, 1);
	for (uint64 i = list.first; i < list.first + list.count; i++)
		offer(window, found->ends[i],
			  distance + (found->weights != NULL ? found->weights[i] : 1));
}

/*
 * Follow lists in ascending order of distance. Without weights, a vertex is settled when it is
 * reached, and lists as far away as the last target are on no path to it.
 */
static void
run_window(Window *window, bool has_targets)
{
	EmogiCollection *collection = window->collection;
	const bool	is_weighted = collection->found->weights != NULL;

	while (!pairingheap_is_empty(window->queue) && !collection->in.gave_up)
	{
		Reached    *reached = (Reached *) pairingheap_remove_first(window->queue);
		const uint32 v = reached->vertex;
		const double distance = reached->distance;

		CHECK_FOR_INTERRUPTS();
		pfree(reached);
		if (distance > collection->found->vertices[v].distance)
			continue;
		if (is_weighted)
			settle(window, v, distance);
		if (distance > window->max_distance ||
			(has_targets && !is_weighted && distance == window->max_distance))
			break;
		follow(window, v, distance);
	}
}

/* Collect the edges of the shortest paths by weight of at most max_distance from the sources. */
void
emogi_neighborhood_collect_near(EmogiCollection *collection)
{
	const EmogiIndexSearch *search = collection->search;
	Window		window = begin_window(collection, EMOGI_EDGES_ALONG, search->max_distance);

	for (uint64 i = 0; i < search->nsources && !collection->in.gave_up; i++)
	{
		const uint32 source = emogi_neighborhood_add(collection, search->sources[i]);

		if (emogi_neighborhood_exists(collection, source, EMOGI_EDGES_ALONG))
			offer(&window, source, 0);
	}
	run_window(&window, false);
}

/* ---- pairs ---- */

/* Two vertices; a search from one end starts at the first. */
typedef struct Pair
{
	uint32		near;
	uint32		far;
} Pair;

static int
compare_pairs(const void *a, const void *b)
{
	const Pair *x = a;
	const Pair *y = b;

	if (x->near != y->near)
		return x->near < y->near ? -1 : 1;
	return (x->far > y->far) - (x->far < y->far);
}

/* List the pairs of a search, with the ends at which searches start; the search may give up. */
static Pair *
list_pairs(EmogiCollection *collection, bool from_sources, uint64 *npairs)
{
	const EmogiIndexSearch *search = collection->search;
	const uint64 ntargets = search->is_paired ? 1 : search->ntargets;
	Pair	   *pairs;

	*npairs = 0;
	if (search->nsources * ntargets > search->max_cost)
	{
		collection->in.gave_up = true;
		return NULL;
	}
	pairs = palloc(Max(search->nsources * ntargets, 1) * sizeof *pairs);
	for (uint64 i = 0; i < search->nsources; i++)
	{
		const uint32 source = emogi_neighborhood_add(collection, search->sources[i]);

		for (uint64 j = 0; j < ntargets; j++)
		{
			const Datum key = search->targets[search->is_paired ? i : j];
			const uint32 target = emogi_neighborhood_add(collection, key);

			pairs[(*npairs)++] = from_sources ? (Pair) {source, target} : (Pair) {target, source};
		}
	}
	qsort(pairs, *npairs, sizeof *pairs, compare_pairs);
	return pairs;
}

/* Collect the edges of the shortest paths of pairs from both ends. */
static void
collect_from_both_ends(EmogiCollection *collection)
{
	uint64		npairs;
	const Pair *pairs = list_pairs(collection, true, &npairs);

	for (uint64 i = 0; i < npairs && !collection->in.gave_up; i++)
	{
		const bool	exists = emogi_neighborhood_exists(collection, pairs[i].near,
													   EMOGI_EDGES_ALONG);

		if (emogi_neighborhood_exists(collection, pairs[i].far, EMOGI_EDGES_AGAINST) && exists)
			collect_between(collection, pairs[i].near, pairs[i].far);
	}
}

/* Collect the edges of paths of pairs with a common end; return the first of other pairs. */
static uint64
collect_group(EmogiCollection *collection, int list, const Pair *pairs, uint64 first, uint64 npairs)
{
	Window		window = begin_window(collection, list, (double) INFINITY);
	uint64		end = first;

	for (; end < npairs && pairs[end].near == pairs[first].near; end++)
	{
		EmogiNeighborhoodVertex *far = &collection->found->vertices[pairs[end].far];

		window.nwanted += far->wanted != window.number;
		far->wanted = window.number;
	}
	if (emogi_neighborhood_exists(collection, pairs[first].near, list))
		offer(&window, pairs[first].near, 0);
	run_window(&window, true);
	for (uint64 i = first; i < end && !collection->in.gave_up; i++)
		(void) emogi_neighborhood_exists(collection, pairs[i].far, list == EMOGI_EDGES_ALONG ?
										 EMOGI_EDGES_AGAINST : EMOGI_EDGES_ALONG);
	pairingheap_free(window.queue);
	return end;
}

/* Collect the edges of the shortest paths of pairs from one end. */
static void
collect_from_one_end(EmogiCollection *collection, bool from_sources)
{
	uint64		npairs;
	const Pair *pairs = list_pairs(collection, from_sources, &npairs);
	const int	list = from_sources ? EMOGI_EDGES_ALONG : EMOGI_EDGES_AGAINST;

	for (uint64 first = 0; first < npairs && !collection->in.gave_up;)
		first = collect_group(collection, list, pairs, first, npairs);
}

/* Collect the edges of the shortest paths from sources to targets. */
void
emogi_neighborhood_collect_paths(EmogiCollection *collection)
{
	const EmogiIndexReaders *in = &collection->in;
	const bool	have_along = in->nforward > 0;
	const bool	have_both = have_along &&
		(in->nforward < in->nreaders || collection->search->direction == EMOGI_BOTH);

	if (have_both && collection->found->weights == NULL)
		collect_from_both_ends(collection);
	else
		collect_from_one_end(collection, have_along);
}
