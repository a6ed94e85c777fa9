/*
 * neighborhood.c: collect the edges near given vertices through table indexes.
 *
 * An algorithm whose answer depends only on edges near the given vertices returns the same answer
 * from a graph of these edges as from the whole graph. A vertex has two adjacency lists: the edges
 * that the algorithm can follow from it, and those that lead to it. Each list is read once, and
 * completely. The lists that are read contain, for
 *
 *   walks                    all edges of walks of the given steps that begin at a source. For
 *                            example, similarities of x need > < >: the neighbors of x, the
 *                            vertices that share them, and the sets of these;
 *   cycles of length k       all edges of cycles of at most k edges through a source: its i-th
 *                            edge (0-based) starts at most i edges after the source, and ends at
 *                            most k - 1 - i edges before it, so it is found in forward lists up to
 *                            depth (k + 1) / 2 or in backward lists up to depth k / 2;
 *   shortest paths           see neighborhood_paths.c, and for the k shortest ones
 *                            neighborhood_ranked.c.
 */
#include "postgres.h"


#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/memutils.h"

#include "index_search/neighborhood.h"

/* Hash table from id to index of a vertex. */
typedef struct Place
{
	int64		id;
	uint32		vertex;
	char		status;
} Place;

#define SH_PREFIX places
#define SH_ELEMENT_TYPE Place
#define SH_KEY_TYPE int64
#define SH_KEY id
#define SH_HASH_KEY(table, key) \
	hash_combine(murmurhash32((uint32) (key)), murmurhash32((uint32) ((uint64) (key) >> 32)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* ---- vertices and lists ---- */

/* Find or add a vertex; return its index. */
static uint32
add_vertex(EmogiCollection *collection, int64 id)
{
	EmogiNeighborhood *found = collection->found;
	bool		is_known;
	Place	   *place = places_insert(collection->places, id, &is_known);

	if (is_known)
		return place->vertex;
	if (found->nvertices == found->room)
	{
		found->room *= 2;
		found->vertices = repalloc_huge(found->vertices, found->room * sizeof *found->vertices);
	}
	place->vertex = found->nvertices++;
	found->vertices[place->vertex] = (EmogiNeighborhoodVertex) {.id = id};
	return place->vertex;
}

/* Append an edge to the list that is being read. */
static void
add_end(EmogiCollection *collection, EmogiNeighborhoodList *list, int64 id, double weight)
{
	EmogiNeighborhood *found = collection->found;
	const uint32 vertex = add_vertex(collection, id);

	found->vertices[vertex].exists = true;
	if (found->nends == found->ends_room)
	{
		found->ends_room *= 2;
		found->ends = repalloc_huge(found->ends, found->ends_room * sizeof *found->ends);
		if (found->weights != NULL)
			found->weights = repalloc_huge(found->weights,
										   found->ends_room * sizeof *found->weights);
	}
	if (found->weights != NULL)
		found->weights[found->nends] = weight;
	found->ends[found->nends++] = vertex;
	list->count++;
}

/* Get the list that is stored for a list of a vertex. */
static int
stored_list(const EmogiCollection *collection, int list)
{
	return collection->search->direction == EMOGI_BOTH ? EMOGI_EDGES_ALONG : list;
}

/* Get the first reader of a stored list. */
static int
first_reader(const EmogiCollection *collection, int list)
{
	return list == EMOGI_EDGES_ALONG ? 0 : collection->in.nforward;
}

/* Get the end of the readers of a stored list; without an index, it equals the first. */
static int
end_reader(const EmogiCollection *collection, int list)
{
	return list == EMOGI_EDGES_ALONG ? collection->in.nforward : collection->in.nreaders;
}

/*
 * Get a list of a vertex, reading it if necessary. A loop is an edge in both index directions, and
 * in an undirected list only once. The result is incomplete if the search gives up.
 */
EmogiNeighborhoodList
emogi_neighborhood_read(EmogiCollection *collection, uint32 vertex, int which)
{
	EmogiIndexReaders *in = &collection->in;
	const int	stored = stored_list(collection, which);
	const int64 id = collection->found->vertices[vertex].id;
	const bool	is_weighted = collection->found->weights != NULL;
	EmogiNeighborhoodList list = collection->found->vertices[vertex].lists[stored];

	if (list.is_read)
		return list;
	list = (EmogiNeighborhoodList) {.is_read = true,.first = collection->found->nends};
	for (int i = first_reader(collection, stored);
		 i < end_reader(collection, stored) && !in->gave_up; i++)
	{
		const bool	skips_loops = collection->search->direction == EMOGI_BOTH && i >= in->nper_end;
		int64		other;

		if (!emogi_index_readers_seek(in, i, id))
			continue;
		while (emogi_index_readers_next(in, i, &other))
			if (!skips_loops || other != id)
				add_end(collection, &list, other,
						is_weighted ? emogi_index_readers_weight(in, i) : 1);
	}
	collection->search->nscanned += list.count;
	collection->found->vertices[vertex].exists |= list.count > 0;
	collection->found->vertices[vertex].lists[stored] = list;
	return list;
}

/* Find or add a given vertex. */
uint32
emogi_neighborhood_add(EmogiCollection *collection, Datum key)
{
	return add_vertex(collection, emogi_index_search_keys_id(&collection->in.keys, key, INT8OID));
}

/*
 * Check whether a vertex has an edge, and so is in the graph; list: will be read anyway, so read it
 * first. If there is no index that could tell, the search gives up.
 */
bool
emogi_neighborhood_exists(EmogiCollection *collection, uint32 vertex, int list)
{
	EmogiIndexReaders *in = &collection->in;
	const int	stored = stored_list(collection, list);
	const int64 id = collection->found->vertices[vertex].id;
	bool		exists = collection->found->vertices[vertex].exists;

	if (!exists && first_reader(collection, stored) < end_reader(collection, stored))
		exists = emogi_neighborhood_read(collection, vertex, list).count > 0;
	for (int other = 0; other < EMOGI_NEIGHBORHOOD_LISTS && !exists; other++)
		exists = !collection->found->vertices[vertex].lists[stored_list(collection, other)].is_read &&
			emogi_index_readers_has_edge(in, id, first_reader(collection, other),
										 end_reader(collection, other));
	if (!exists && in->nreaders < EMOGI_NEIGHBORHOOD_LISTS * in->nper_end)
		in->gave_up = true;
	collection->found->vertices[vertex].exists = exists;
	return exists;
}

/* ---- expansions ---- */

/* Does an expansion read a list in its current step? */
static bool
reads_list(const EmogiExpansion *expansion, int list)
{
	return *expansion->steps == EMOGI_STEP_EITHER ||
		*expansion->steps == (list == EMOGI_EDGES_ALONG ? EMOGI_STEP_ALONG : EMOGI_STEP_AGAINST);
}

/* Let an expansion reach a vertex, to take its current step from there. */
void
emogi_neighborhood_reach(EmogiCollection *collection, EmogiExpansion *expansion, uint32 vertex)
{
	uint32	   *reached = collection->found->vertices[vertex].reached;
	bool		is_new = false;

	for (int list = 0; list < EMOGI_NEIGHBORHOOD_LISTS; list++)
		if (reads_list(expansion, list) && reached[list] != expansion->number)
		{
			is_new = true;
			reached[list] = expansion->number;
		}
	if (!is_new)
		return;
	if (expansion->count == expansion->room)
	{
		expansion->room *= 2;
		expansion->queue = repalloc_huge(expansion->queue,
										 expansion->room * sizeof *expansion->queue);
	}
	expansion->queue[expansion->count++] = vertex;
}

/* Begin an expansion that has reached nothing yet. */
EmogiExpansion
emogi_neighborhood_expansion(EmogiCollection *collection, const char *steps)
{
	return (EmogiExpansion) {.steps = steps,.number = ++collection->nexpansions,.room = 64,
							 .queue = palloc(64 * sizeof(uint32))};
}

static int
compare_vertices(const void *a, const void *b, void *arg)
{
	const EmogiNeighborhoodVertex *vertices = arg;
	const int64 x = vertices[*(const uint32 *) a].id;
	const int64 y = vertices[*(const uint32 *) b].id;

	return (x > y) - (x < y);
}

/* Reach the vertices to which the edges of a list lead. */
static void
expand_list(EmogiCollection *collection, EmogiExpansion *next, uint32 vertex, int which)
{
	const EmogiNeighborhoodList list = emogi_neighborhood_read(collection, vertex, which);

	(void) emogi_index_readers_charge(&collection->in, 1);
	for (uint32 i = 0; i < list.count; i++)
		emogi_neighborhood_reach(collection, next, collection->found->ends[list.first + i]);
}

/*
 * Take the current step from the vertices of the current level. Indexes are read best in ascending
 * order of keys. Lists read earlier are charged, too, because many pairs may share them.
 */
void
emogi_neighborhood_expand(EmogiCollection *collection, EmogiExpansion *expansion)
{
	const EmogiExpansion step = *expansion;
	const uint64 end = expansion->count;

	if (collection->in.keys.are_integers)
		qsort_arg(expansion->queue + expansion->first, end - expansion->first,
				  sizeof *expansion->queue, compare_vertices, collection->found->vertices);
	if (step.steps[1] != '\0')
		expansion->steps++;
	for (; expansion->first < end && !collection->in.gave_up; expansion->first++)
		for (int list = 0; list < EMOGI_NEIGHBORHOOD_LISTS; list++)
			if (reads_list(&step, list))
				expand_list(collection, expansion, expansion->queue[expansion->first], list);
}

/* Is there no vertex left to expand? */
bool
emogi_neighborhood_is_exhausted(const EmogiCollection *collection, const EmogiExpansion *expansion)
{
	return collection->in.gave_up || expansion->first == expansion->count;
}

/* Expand up to a depth; -1 = unlimited. */
static void
expand_to_depth(EmogiCollection *collection, EmogiExpansion *expansion, int64 depth)
{
	for (int64 level = 0; (depth < 0 || level < depth) &&
		 !emogi_neighborhood_is_exhausted(collection, expansion); level++)
		emogi_neighborhood_expand(collection, expansion);
}

/* ---- neighborhoods ---- */

/* Let an expansion reach the sources that are in the graph. */
static void
enter_sources(EmogiCollection *collection, EmogiExpansion *expansion)
{
	const EmogiIndexSearch *search = collection->search;
	const int	list = reads_list(expansion, EMOGI_EDGES_ALONG) ? EMOGI_EDGES_ALONG :
		EMOGI_EDGES_AGAINST;

	for (uint64 i = 0; i < search->nsources && !collection->in.gave_up; i++)
	{
		const uint32 source = emogi_neighborhood_add(collection, search->sources[i]);

		if (emogi_neighborhood_exists(collection, source, list))
			emogi_neighborhood_reach(collection, expansion, source);
	}
}

/* Collect the edges of walks from the sources. */
static void
collect_walks(EmogiCollection *collection)
{
	EmogiExpansion expansion = emogi_neighborhood_expansion(collection, collection->search->steps);

	enter_sources(collection, &expansion);
	expand_to_depth(collection, &expansion, collection->search->max_depth);
}

/* Add the targets that are in the graph. */
static void
add_targets(EmogiCollection *collection)
{
	const EmogiIndexSearch *search = collection->search;

	for (uint64 i = 0; i < search->ntargets && !collection->in.gave_up; i++)
		(void) emogi_neighborhood_exists(collection,
										 emogi_neighborhood_add(collection, search->targets[i]),
										 EMOGI_EDGES_AGAINST);
}

/* Let an expansion reach the targets that are in the graph. */
static void
enter_targets(EmogiCollection *collection, EmogiExpansion *expansion)
{
	const EmogiIndexSearch *search = collection->search;

	for (uint64 i = 0; i < search->ntargets && !collection->in.gave_up; i++)
	{
		const uint32 target = emogi_neighborhood_add(collection, search->targets[i]);

		if (emogi_neighborhood_exists(collection, target, EMOGI_EDGES_AGAINST))
			emogi_neighborhood_reach(collection, expansion, target);
	}
}

/*
 * Collect the edges of cycles of at most max_depth edges through the sources, or, if there are
 * targets, of paths to these. If the other ends have no index, all edges that they may begin with.
 */
static void
collect_cycles(EmogiCollection *collection)
{
	const int64 length = collection->search->max_depth;
	const bool	has_against = collection->in.nforward < collection->in.nreaders;
	const bool	is_undirected = collection->search->direction == EMOGI_BOTH;
	EmogiExpansion along = emogi_neighborhood_expansion(collection, ">");
	EmogiExpansion against = emogi_neighborhood_expansion(collection, "<");

	enter_sources(collection, &along);
	expand_to_depth(collection, &along, has_against || is_undirected ? (length + 1) / 2 : length);
	if (collection->search->ntargets > 0)
		enter_targets(collection, &against);
	else if (has_against)
		enter_sources(collection, &against);
	if (has_against || is_undirected)	/* of an undirected cycle, nothing is left to be reached */
		expand_to_depth(collection, &against, length / 2);
}

/* Begin a collection, in a memory context of its own. */
static EmogiNeighborhood *
begin_neighborhood(bool is_weighted)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi neighborhood",
												  ALLOCSET_DEFAULT_SIZES);
	EmogiNeighborhood *found = MemoryContextAllocZero(context, sizeof *found);

	found->context = context;
	found->room = found->ends_room = 64;
	found->vertices = MemoryContextAlloc(context, found->room * sizeof *found->vertices);
	found->ends = MemoryContextAlloc(context, found->ends_room * sizeof *found->ends);
	if (is_weighted)
		found->weights = MemoryContextAlloc(context, found->ends_room * sizeof *found->weights);
	return found;
}

/* Collect what a search requests. */
static void
collect(EmogiCollection *collection)
{
	switch (collection->search->kind)
	{
		case EMOGI_COLLECTS_WALKS:
			collect_walks(collection);
			add_targets(collection);
			break;
		case EMOGI_COLLECTS_CYCLES:
			collect_cycles(collection);
			break;
		case EMOGI_COLLECTS_NEAR:
			if (collection->search->is_weighted)
				emogi_neighborhood_collect_near(collection);
			else
				collect_walks(collection);
			add_targets(collection);
			break;
		case EMOGI_COLLECTS_PATHS:
			emogi_neighborhood_collect_paths(collection);
			break;
		case EMOGI_COLLECTS_RANKED:
			emogi_neighborhood_collect_ranked(collection);
			break;
		case EMOGI_SEARCHES:
		case EMOGI_COUNTS:
			break;
	}
}

/*
 * Collect a neighborhood over the indexes, which are open, as search->kind requests: the rows that
 * the active snapshot sees. search->neighborhood is set to it. Return false if that exceeds the
 * cost of the search, or if no index can tell whether a given vertex is in the graph; search->cost
 * is set in any case.
 */
bool
emogi_neighborhood_collect(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search)
{
	EmogiNeighborhood *found = begin_neighborhood(search->is_weighted);
	EmogiCollection collection = {.search = search,.found = found};
	MemoryContext old = MemoryContextSwitchTo(found->context);

	search->cost = search->nscanned = 0;
	collection.places = places_create(found->context, 64, NULL);
	emogi_index_readers_open(&collection.in, indexes, search);
	collect(&collection);
	emogi_index_readers_close(&collection.in);
	MemoryContextSwitchTo(old);
	found->keys = collection.in.keys;
	search->is_answered = !collection.in.gave_up;
	search->neighborhood = found;
	if (collection.in.gave_up)
	{
		MemoryContextDelete(found->context);
		search->neighborhood = NULL;
	}
	return search->is_answered;
}
