/*
 * index_cost.c: the accumulated cost of the index searches (index_search/index_search.h) on each
 * table since a call last built or refreshed its graph instead.
 *
 * For repeated searches a graph would be cheaper, but their number is unknown beforehand. So costs
 * accumulate as in the ski-rental problem: when the searches have cost as much as a build, the next
 * call builds. If that build was in vain, because the table changed before the graph had served
 * enough calls, the next one must cost twice as much; so tables that are written between calls are
 * nearly always searched by index. Sums are kept by a hash of the table's OID; a collision only
 * makes a graph be built sooner or later, and does no harm.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"

#include "cache/cache.h"

#define NENTRIES 4096

/* A graph that has served fewer calls was built in vain. */
#define MIN_HITS 2

#define MAX_DOUBLINGS 10

typedef struct IndexCost
{
	pg_atomic_uint64 paid;
	pg_atomic_uint32 doublings; /* of the price */
} IndexCost;

static IndexCost *costs;			/* [NENTRIES]; any process, without a lock */

Size
emogi_index_cost_shmem_size(void)
{
	return MAXALIGN(NENTRIES * sizeof(IndexCost));
}

/* Set up the sums. Caller holds AddinShmemInitLock. */
void
emogi_index_cost_shmem_startup(bool found)
{
	bool		found_costs;

	costs = emogi_shared_struct("emogi index costs", emogi_index_cost_shmem_size(), &found_costs);
	for (int i = 0; i < NENTRIES && !found; i++)
	{
		pg_atomic_init_u64(&costs[i].paid, 0);
		pg_atomic_init_u32(&costs[i].doublings, 0);
	}
}

/* Get the entry of a relation of this database. */
static IndexCost *
cost_of(Oid relid)
{
	return &costs[hash_combine(murmurhash32(MyDatabaseId), murmurhash32(relid)) % NENTRIES];
}

/* Get the pseudo relation OID for a query. fingerprint: [EMOGI_FINGERPRINT_BYTES]. */
Oid
emogi_index_cost_of_query(const uint8 *fingerprint)
{
	Oid			start;

	memcpy(&start, fingerprint, sizeof start);
	return start;
}

/* Add the cost of an index search. */
void
emogi_index_cost_add(Oid relid, uint64 cost)
{
	pg_atomic_fetch_add_u64(&cost_of(relid)->paid, cost);
}

/* Get the accumulated cost. */
uint64
emogi_index_cost_sum(Oid relid)
{
	return pg_atomic_read_u64(&cost_of(relid)->paid);
}

/* Reset the accumulated cost. */
void
emogi_index_cost_reset(Oid relid)
{
	pg_atomic_write_u64(&cost_of(relid)->paid, 0);
}

/* Record that a graph with so many hits was superseded by a newer one. */
void
emogi_index_cost_record_end(Oid relid, uint64 hits)
{
	pg_atomic_uint32 *doublings = &cost_of(relid)->doublings;
	const uint32 before = pg_atomic_read_u32(doublings);

	pg_atomic_write_u32(doublings, hits >= MIN_HITS ? 0 : Min(before + 1, MAX_DOUBLINGS));
}

/* Get the factor by which the cost of a build is multiplied. */
uint64
emogi_index_cost_build_factor(Oid relid)
{
	return UINT64CONST(1) << pg_atomic_read_u32(&cost_of(relid)->doublings);
}
