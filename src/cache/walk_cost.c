/*
 * walk_cost.c: what walks over the indexes of tables have cost (index_search/index_search.h) since
 * a Graph of them was last asked for instead.
 *
 * Who walks again and again would have done better with a Graph, but nobody knows beforehand who
 * will. So walks are paid like a rent: when they have cost as much as a build, the next call
 * builds. Where that was in vain, because the table changed before the Graph had served, the next
 * one costs twice as much: so tables that are written between calls are walked over, all but now
 * and then. Sums are by hash of the table's name: what was paid for another table has a Graph built
 * sooner or later, and does no harm.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/shmem.h"

#include "cache/cache.h"

#define NRENTS 4096

/* A Graph that has served fewer calls was built in vain. */
#define FEW_HITS 2

#define MOST_DOUBLINGS 10

typedef struct Rent
{
	pg_atomic_uint64 paid;
	pg_atomic_uint32 doublings; /* of the price */
} Rent;

static Rent *rents;				/* [NRENTS]; any process, without a lock */

Size
emogi_walk_cost_shmem_size(void)
{
	return MAXALIGN(NRENTS * sizeof(Rent));
}

/* Set up the sums. Caller holds AddinShmemInitLock. */
void
emogi_walk_cost_shmem_startup(bool found)
{
	bool		found_rents;

	rents = ShmemInitStruct("emogi rents", emogi_walk_cost_shmem_size(), &found_rents);
	for (int i = 0; i < NRENTS && !found; i++)
	{
		pg_atomic_init_u64(&rents[i].paid, 0);
		pg_atomic_init_u32(&rents[i].doublings, 0);
	}
}

/* Get what is known of a relation of this database. */
static Rent *
rent_of(Oid relid)
{
	return &rents[hash_combine(murmurhash32(MyDatabaseId), murmurhash32(relid)) % NRENTS];
}

/* Get what stands for a query in the place of a relation. fingerprint: [EMOGI_FINGERPRINT_BYTES]. */
Oid
emogi_walk_cost_of_query(const uint8 *fingerprint)
{
	Oid			start;

	memcpy(&start, fingerprint, sizeof start);
	return start;
}

/* Note what a walk has cost. */
void
emogi_walk_cost_add(Oid relid, uint64 cost)
{
	pg_atomic_fetch_add_u64(&rent_of(relid)->paid, cost);
}

/* Get what walks have cost. */
uint64
emogi_walk_cost_sum(Oid relid)
{
	return pg_atomic_read_u64(&rent_of(relid)->paid);
}

/* Forget what walks have cost. */
void
emogi_walk_cost_reset(Oid relid)
{
	pg_atomic_write_u64(&rent_of(relid)->paid, 0);
}

/* Note that a Graph has given way to a newer one after so many calls have found it. */
void
emogi_walk_cost_note_end(Oid relid, uint64 hits)
{
	pg_atomic_uint32 *doublings = &rent_of(relid)->doublings;
	const uint32 before = pg_atomic_read_u32(doublings);

	pg_atomic_write_u32(doublings, hits >= FEW_HITS ? 0 : Min(before + 1, MOST_DOUBLINGS));
}

/* Get how many times over a build is to be paid for. */
uint64
emogi_walk_cost_price_factor(Oid relid)
{
	return UINT64CONST(1) << pg_atomic_read_u32(&rent_of(relid)->doublings);
}
