/*
 * contraction_settle.c: the path that SSSP finds, bit for bit, inside a corridor: Dijkstra's search
 * as in path_search.c, in the order of (distance, edges), with ties among parents broken by the
 * smallest vertex.
 */
#include "contraction_search.h"

#include "contract/partition_point.h"

#include <math.h>
#include <stdlib.h>

#define POLL 4096				/* edges */

/* A vertex of the corridor. */
typedef struct Place
{
	double		distance;		/* +inf = not reached */
	uint32_t	hops;
	uint32_t	vertex;
	uint32_t	parent;			/* index in places */
	uint32_t	rank;
} Place;

typedef struct Entry
{
	double		distance;
	uint32_t	hops;
	uint32_t	place;
} Entry;

#define HEAP_PREFIX entry
#define HEAP_ELEMENT Entry
#define HEAP_BEFORE(heap, a, b) \
	((a).distance < (b).distance || ((a).distance == (b).distance && (a).hops < (b).hops))
#include "containers/heap.h"

typedef struct CorridorSearch
{
	EmogiCorridor *corridor;
	EmogiCorridorEdge *edges;	/* [nedges], sorted by `from` */
	uint64_t	nedges;
	Place	   *places;			/* [nplaces] */
	uint64_t	nplaces;
	uint64_t   *firsts;			/* [nplaces + 1] */
	Entry	   *heap;			/* [nedges + 1] */
	uint64_t	end;
} CorridorSearch;

/* Compare edges by `from`, then `to`, for qsort. */
static int
compare_edges(const void *a, const void *b)
{
	const EmogiCorridorEdge *x = a;
	const EmogiCorridorEdge *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Find the place of a rank; EMOGI_NO_VERTEX if no edge begins there. */
static uint32_t
find_place(const CorridorSearch *settling, uint32_t rank)
{
	const uint64_t low = EMOGI_PARTITION_POINT(0, settling->nplaces, middle,
											   settling->places[middle].rank < rank);

	return low < settling->nplaces && settling->places[low].rank == rank ? (uint32_t) low
		: EMOGI_NO_VERTEX;
}

/* Make a place for each vertex where edges begin; the edges are sorted. False if out of memory. */
static bool
make_places(CorridorSearch *settling)
{
	EmogiCorridor *corridor = settling->corridor;
	const uint32_t *vertices = emogi_contraction_vertices(corridor->made);
	const EmogiCorridorEdge *edges = settling->edges;

	if (emogi_job_may_allocate(corridor->job))
		settling->places = malloc((settling->nedges + 1) * sizeof(Place));
	if (emogi_job_may_allocate(corridor->job))
		settling->firsts = malloc((settling->nedges + 1) * sizeof(uint64_t));
	if (emogi_job_may_allocate(corridor->job))
		settling->heap = malloc((settling->nedges + 1) * sizeof(Entry));
	if (settling->places == NULL || settling->firsts == NULL || settling->heap == NULL)
		return false;
	for (uint64_t i = 0; i < settling->nedges; i++)
		if (i == 0 || edges[i - 1].from != edges[i].from)
		{
			settling->firsts[settling->nplaces] = i;
			settling->places[settling->nplaces++] = (Place) {INFINITY, 0, vertices[edges[i].from],
				0, edges[i].from};
		}
	settling->firsts[settling->nplaces] = settling->nedges;
	return true;
}

/* Offer a vertex a distance over a parent. */
static void
offer(CorridorSearch *settling, uint32_t to, double distance, uint32_t hops, uint32_t parent)
{
	Place	   *place = &settling->places[to];

	if (distance > place->distance || !(distance < (double) INFINITY))
		return;
	if (distance < place->distance || hops < place->hops)
	{
		*place = (Place) {distance, hops, place->vertex, parent, place->rank};
		entry_push(settling->heap, &settling->end, (Entry) {distance, hops, to});
	}
	else if (hops == place->hops && settling->places[parent].vertex <
			 settling->places[place->parent].vertex)
		place->parent = parent;
}

/*
 * Settle vertices until the target is settled, EMOGI_NO_VERTEX = all; false if the job has stopped.
 */
static bool
settle(CorridorSearch *settling, uint32_t source, uint32_t target)
{
	uint64_t	nscanned = 0;

	settling->places[source].distance = 0.0;
	settling->places[source].parent = source;
	entry_push(settling->heap, &settling->end, (Entry) {0.0, 0, source});
	while (settling->end > 0)
	{
		const Entry entry = entry_pop(settling->heap, &settling->end);
		const Place *place = &settling->places[entry.place];

		if (entry.distance != place->distance || entry.hops != place->hops)
			continue;
		if (entry.place == target)
			return true;
		for (uint64_t e = settling->firsts[entry.place]; e < settling->firsts[entry.place + 1]; e++)
		{
			const uint32_t to = find_place(settling, settling->edges[e].to);

			if (to != EMOGI_NO_VERTEX)
				offer(settling, to, entry.distance + settling->edges[e].weight, entry.hops + 1,
					  entry.place);
			if (++nscanned % POLL == 0 && emogi_job_stopped(settling->corridor->job))
				return false;
		}
	}
	return true;
}

/* Follow the parents from the target into the answer; false if out of memory. */
static bool
write_path(CorridorSearch *settling, uint32_t target, EmogiPathAnswer *answer)
{
	const Place *place = &settling->places[target];
	const uint64_t length = (uint64_t) place->hops + 1;

	if (emogi_job_may_allocate(settling->corridor->job))
		answer->vertices = malloc(length * sizeof(uint32_t));
	if (emogi_job_may_allocate(settling->corridor->job))
		answer->distance = malloc(length * sizeof(double));
	if (answer->vertices == NULL || answer->distance == NULL)
	{
		emogi_path_search_free(answer);
		return false;
	}
	answer->outcome = EMOGI_PATH_FOUND;
	answer->length = length;
	for (uint64_t i = length; i-- > 0; place = &settling->places[place->parent])
	{
		answer->vertices[i] = place->vertex;
		answer->distance[i] = place->distance;
	}
	return true;
}

/* Add an infinitely long loop at the source and at each target, so that each has a place. */
static bool
mark_ends(EmogiCorridor *corridor, uint32_t source, uint64_t ntargets, const uint32_t *targets)
{
	if (!emogi_contraction_reserve(corridor->job, &corridor->edges, ntargets + 1,
								   sizeof(EmogiCorridorEdge)))
		return false;
	for (uint64_t t = 0; t <= ntargets; t++)
	{
		const uint32_t end = t < ntargets ? targets[t] : source;

		((EmogiCorridorEdge *) corridor->edges.items)[corridor->edges.count++] =
			(EmogiCorridorEdge) {INFINITY, end, end};
	}
	return true;
}

/* Search, and write the requested results; false if the job has stopped or out of memory. */
static bool
run(CorridorSearch *settling, uint32_t source, uint64_t ntargets, const uint32_t *targets,
	double *distance, EmogiPathAnswer *answer)
{
	const uint32_t last = find_place(settling, targets[0]);

	if (!settle(settling, find_place(settling, source), answer != NULL ? last : EMOGI_NO_VERTEX))
		return false;
	for (uint64_t t = 0; t < ntargets && distance != NULL; t++)
		distance[t] = settling->places[find_place(settling, targets[t])].distance;
	return answer == NULL || settling->places[last].distance == (double) INFINITY ||
		write_path(settling, last, answer);
}

bool
emogi_contraction_settle(EmogiCorridor *corridor, uint32_t source, uint64_t ntargets,
						 const uint32_t *targets, double *distance, EmogiPathAnswer *answer)
{
	CorridorSearch	settling = {.corridor = corridor};
	bool		done = false;

	if (mark_ends(corridor, source, ntargets, targets))
	{
		settling.edges = corridor->edges.items;
		settling.nedges = corridor->edges.count;
		qsort(settling.edges, settling.nedges, sizeof *settling.edges, compare_edges);
		done = make_places(&settling) &&
			run(&settling, source, ntargets, targets, distance, answer);
	}
	if (!done && !emogi_job_stopped(corridor->job))
		emogi_job_fail(corridor->job, EMOGI_NO_MEMORY);
	free(settling.places);
	free(settling.firsts);
	free(settling.heap);
	return done;
}
