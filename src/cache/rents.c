/*
 * rents.c: what walks over the indexes of tables have cost (walk/walk.h) since a Graph of them was last asked for instead.
 *
 * Who walks again and again would have done better with a Graph, but nobody knows beforehand who will. So walks are paid like a rent:
 * when they have cost as much as a build, the next call builds. Sums are by hash of the table's name: what was paid for another table
 * has a Graph built sooner, and does no harm.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/shmem.h"

#include "cache/cache.h"

#define NRENTS 4096

static pg_atomic_uint64 *rents; /* [NRENTS]; any process, without a lock */

Size
emogi_rents_shmem_size(void)
{
	return MAXALIGN(NRENTS * sizeof(pg_atomic_uint64));
}

/* Set up the sums. Caller holds AddinShmemInitLock. */
void
emogi_rents_shmem_startup(bool found)
{
	bool		found_rents;

	rents = ShmemInitStruct("emogi rents", emogi_rents_shmem_size(), &found_rents);
	for (int i = 0; i < NRENTS && !found; i++)
		pg_atomic_init_u64(&rents[i], 0);
}

/* Get the sum of a relation of this database. */
static pg_atomic_uint64 *
rent_of(Oid relid)
{
	return &rents[hash_combine(murmurhash32(MyDatabaseId), murmurhash32(relid)) % NRENTS];
}

/* Note what a walk has cost. */
void
emogi_rents_pay(Oid relid, uint64 cost)
{
	pg_atomic_fetch_add_u64(rent_of(relid), cost);
}

/* Get what walks have cost. */
uint64
emogi_rents_paid(Oid relid)
{
	return pg_atomic_read_u64(rent_of(relid));
}

/* Forget what walks have cost. */
void
emogi_rents_clear(Oid relid)
{
	pg_atomic_write_u64(rent_of(relid), 0);
}
