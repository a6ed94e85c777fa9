/*
 * asked_queries.c: recently requested queries, what index searches for them have cost, and the
 * sizes of their dropped graphs.
 *
 * A query is identified by the first bytes of its fingerprint, and by its shape: a hash of the
 * query without the values of its constants. One set-associative table holds both; each set is in
 * order of use. A collision costs a build or a wrong estimate, and never causes a wrong answer.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "cache/cache.h"

#define EMOGI_WAYS 8

/* Entries for queries and shapes per graph that can be cached. */
#define EMOGI_ASKED_OF_GRAPH 4

/* All fields are protected by cache_lock. */
typedef struct Asked
{
	uint64		name;			/* 0 = none */
	/* of a shape: the name of the most recently requested query of that shape; otherwise 0 */
	uint64		latest;
	uint64		nedges;			/* of a query: size of its dropped graph; 0 = unknown */
	uint64		nvertices;
	/* of a query with values of the call: the cost of index searches instead of its graph */
	uint64		spent;
	bool		is_asked;		/* of a query: its graph was requested */
	bool		is_followed;	/* of a query with values of the call: a change tracker was made */
	bool		varies;			/* of a shape: it was requested with several constants */
	/* of a query of a filtered table: its graph was built, or requested and missing */
	bool		is_built;
} Asked;

static Asked *asked;			/* [nsets()][EMOGI_WAYS] */

static uint32
nsets(void)
{
	return pg_nextpower2_32(emogi_cache_max_graphs() * EMOGI_ASKED_OF_GRAPH / EMOGI_WAYS);
}

Size
emogi_asked_queries_shmem_size(void)
{
	return mul_size(nsets(), EMOGI_WAYS * sizeof(Asked));
}

/* Set up the table, empty. Caller holds AddinShmemInitLock. */
void
emogi_asked_queries_shmem_startup(bool found)
{
	bool		found_asked;

	asked = emogi_shared_struct("emogi requested queries", emogi_asked_queries_shmem_size(),
								&found_asked);
	if (!found)
		memset(asked, 0, emogi_asked_queries_shmem_size());
}

/* Find the entry of a name; NULL if there is none. Caller holds cache_lock. */
static Asked *
find(uint64 name)
{
	Asked	   *set = &asked[(name & (nsets() - 1)) * EMOGI_WAYS];

	for (int i = 0; i < EMOGI_WAYS; i++)
		if (set[i].name == name)
			return &set[i];
	return NULL;
}

/* Move a name to the front of its set, or insert it there. */
static Asked *
note(uint64 name)
{
	Asked	   *set = &asked[(name & (nsets() - 1)) * EMOGI_WAYS];
	const Asked *known = find(name);
	const Asked first = known != NULL ? *known : (Asked) {.name = name};
	const int	place = known != NULL ? (int) (known - set) : EMOGI_WAYS - 1;

	memmove(set + 1, set, place * sizeof(Asked));
	set[0] = first;
	return set;
}

/* Get the name of a query. */
static uint64
name_of(const EmogiGraphKey *key)
{
	return Max(emogi_cache_fingerprint_prefix(key), 1);
}

/* Record a query of a shape. */
static void
note_shape(uint64 shape, uint64 name)
{
	Asked	   *known = note(shape);

	known->varies |= known->latest != 0 && known->latest != name;
	known->latest = name;
}

/*
 * Has a query values that other calls may not use: a folded value (shape = 0), or constants in a
 * shape that was requested with others? Caller holds cache_lock.
 */
bool
emogi_asked_queries_has_values(const EmogiGraphKey *key, uint64 shape)
{
	const Asked *same_shape = shape != 0 ? find(shape) : NULL;

	return shape == 0 ||
		(same_shape != NULL && (same_shape->varies || same_shape->latest != name_of(key)));
}

/*
 * Check whether the graph of a query is requested for the first time, and the query has values.
 * noted: record the request. Caller holds cache_lock.
 */
bool
emogi_asked_queries_is_first(const EmogiGraphKey *key, uint64 shape, bool noted)
{
	const uint64 name = name_of(key);
	const Asked *known = find(name);
	const bool	is_first = emogi_asked_queries_has_values(key, shape) &&
		(known == NULL || !known->is_asked);

	if (noted)
	{
		if (shape != 0)
			note_shape(shape, name);
		note(name)->is_asked = true;
	}
	return is_first;
}

/*
 * Check whether changes of a query with values are followed for the first time, and record that
 * they are. Caller holds cache_lock.
 */
bool
emogi_asked_queries_first_followed(const EmogiGraphKey *key, uint64 shape)
{
	Asked	   *known;
	bool		is_first;

	if (!emogi_asked_queries_has_values(key, shape))
		return false;
	known = note(name_of(key));
	is_first = !known->is_followed;
	known->is_followed = true;
	return is_first;
}

/*
 * Record that an index search has answered a call instead of the graph of its query, which counts
 * as requested only once such searches have cost as much as a build. Caller holds cache_lock.
 */
void
emogi_asked_queries_add_cost(const EmogiGraphKey *key, uint64 shape, uint64 cost)
{
	if (shape != 0)
		note_shape(shape, name_of(key));
	note(name_of(key))->spent += cost;
}

/*
 * Get the cost of the index searches for a query that is not requested yet. Caller holds
 * cache_lock.
 */
uint64
emogi_asked_queries_cost(const EmogiGraphKey *key)
{
	const Asked *known = find(name_of(key));

	return known != NULL ? known->spent : 0;
}

/*
 * Check whether the graph of a filtered table was built recently, and record that it is. Its
 * changes are tracked from the second build on: a change tracker for conditions that are used once
 * would be useless. Caller holds cache_lock.
 */
bool
emogi_asked_queries_built_before(const EmogiGraphKey *key)
{
	Asked	   *known = note(name_of(key));
	const bool	is_built = known->is_built;

	known->is_built = true;
	return is_built;
}

/* Record the size of a query's graph that is being dropped. Caller holds cache_lock. */
void
emogi_asked_queries_keep_size(const EmogiGraphKey *key, uint64 nvertices, uint64 nedges)
{
	Asked	   *known = note(name_of(key));

	known->nvertices = nvertices;
	known->nedges = nedges;
}

/*
 * Get the size that a query's graph had when it was dropped; return false if it is unknown. Caller
 * holds cache_lock.
 */
bool
emogi_asked_queries_size(const EmogiGraphKey *key, uint64 *nvertices, uint64 *nedges)
{
	const Asked *known = find(name_of(key));

	if (known == NULL || known->nedges == 0)
		return false;
	*nvertices = known->nvertices;
	*nedges = known->nedges;
	return true;
}
