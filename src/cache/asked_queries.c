/*
 * asked_queries.c: remember the queries of recent calls, and the sizes of their Graphs that were dropped.
 *
 * A query is known by the first bytes of its fingerprint, and by its shape: a hash of the query without
 * the values of its constants. One set-associative table holds both; each set is in order of use.
 * A collision costs a build or a wrong estimate, and never a wrong answer.
 */
#include "postgres.h"

#include "port/pg_bitutils.h"
#include "storage/shmem.h"

#include "cache/cache.h"

#define EMOGI_WAYS 8

/* Queries and shapes that are remembered, for each Graph that can be cached. */
#define EMOGI_ASKED_OF_GRAPH 4

/* All under cache_lock. */
typedef struct Asked
{
	uint64		name;			/* 0 = none */
	uint64		latest;			/* of a shape: the name of the query of that shape that was asked for last; else 0 */
	uint64		nedges;			/* of a query: its Graph's that was dropped; 0 = not known */
	uint64		nvertices;
	bool		is_asked;		/* of a query: its Graph was asked for */
	bool		is_built;		/* of a query of a filtered table: its Graph was built, or wanted and not there */
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

	asked = ShmemInitStruct("emogi keys asked", emogi_asked_queries_shmem_size(), &found_asked);
	if (!found)
		memset(asked, 0, emogi_asked_queries_shmem_size());
}

/* Find what is known by a name; NULL when that is nothing. Caller holds cache_lock. */
static Asked *
find(uint64 name)
{
	Asked	   *set = &asked[(name & (nsets() - 1)) * EMOGI_WAYS];

	for (int i = 0; i < EMOGI_WAYS; i++)
		if (set[i].name == name)
			return &set[i];
	return NULL;
}

/* Move a name to the front of its set, or put it there. */
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
	return Max(emogi_cache_digest_start(key), 1);
}

/*
 * Is a query asked for the first time, and does it have values that other calls need not have: a
 * folded value (shape = 0), or other constants than the last query of its shape? noted: it counts
 * as asked for from now on. Caller holds cache_lock.
 */
bool
emogi_asked_queries_first(const EmogiGraphKey *key, uint64 shape, bool noted)
{
	const uint64 name = name_of(key);
	const Asked *same_shape = shape != 0 ? find(shape) : NULL;
	const bool	varies = shape == 0 || (same_shape != NULL && same_shape->latest != name);
	const Asked *known = find(name);
	const bool	is_first = varies && (known == NULL || !known->is_asked);

	if (noted)
	{
		if (shape != 0)
			note(shape)->latest = name;
		note(name)->is_asked = true;
	}
	return is_first;
}

/*
 * Was the Graph of a filtered table built lately? It counts as built from now on. Its changes are followed when it is built a
 * second time: a live state of conditions that are given once would be of no use. Caller holds cache_lock.
 */
bool
emogi_asked_queries_built_before(const EmogiGraphKey *key)
{
	Asked	   *known = note(name_of(key));
	const bool	is_built = known->is_built;

	known->is_built = true;
	return is_built;
}

/* Remember the size of a query's Graph that is dropped. Caller holds cache_lock. */
void
emogi_asked_queries_keep_size(const EmogiGraphKey *key, uint64 nvertices, uint64 nedges)
{
	Asked	   *known = note(name_of(key));

	known->nvertices = nvertices;
	known->nedges = nedges;
}

/* Get the size that a query's Graph had when it was dropped; false when that is not known. Caller holds cache_lock. */
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
