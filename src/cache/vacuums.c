/*
 * vacuums.c: how many VACUUMs of a table have ended.
 *
 * Before PostgreSQL 19 nobody but VACUUM sets bits of the visibility map of a file that is there
 * already. So while none was at work between two looks at the map, a bit that both show was set all
 * the time. The LSN of a map page says the same, but some minor releases move it when a bit is
 * cleared, too, which every first write to a page does.
 *
 * Whoever has vacuumed counts before giving his lock back: at PRE_COMMIT; and at every abort under
 * such a lock, for by then the server has forgotten that it was a VACUUM. Counters are by hash of
 * the name: what counts for another table does no harm.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "cache/change_tracker.h"
#include "base/compat.h"
#include "base/fault.h"

#define NCOUNTERS 4096

static pg_atomic_uint64 *counters;	/* [NCOUNTERS] */

Size
emogi_vacuums_shmem_size(void)
{
	return MAXALIGN(NCOUNTERS * sizeof(pg_atomic_uint64));
}

/* Set up the counters. Caller holds AddinShmemInitLock. */
void
emogi_vacuums_shmem_startup(bool found)
{
	bool		found_counters;

	counters = ShmemInitStruct("emogi vacuums", emogi_vacuums_shmem_size(), &found_counters);
	for (int i = 0; i < NCOUNTERS && !found; i++)
		pg_atomic_init_u64(&counters[i], 0);
}

static pg_atomic_uint64 *
counter_of(Oid relid)
{
	return &counters[hash_combine(murmurhash32(MyDatabaseId), murmurhash32(relid)) % NCOUNTERS];
}

static void
count(Oid relid)
{
	pg_atomic_fetch_add_u64(counter_of(relid), 1);
}

static void
at_end_of_transaction(XactEvent event, void *arg)
{
	bool		is_vacuum = event == XACT_EVENT_PRE_COMMIT &&
		(MyProc->statusFlags & PROC_IN_VACUUM) != 0;

	if (counters != NULL && (is_vacuum || event == XACT_EVENT_ABORT))
		emogi_compat_each_lock(LOCKBIT_ON(ShareUpdateExclusiveLock), count);
}

/* Watch the ends of VACUUMs; called once, in the postmaster. */
void
emogi_vacuums_init(void)
{
	RegisterXactCallback(at_end_of_transaction, NULL);
}

/* Count the VACUUMs of a table of this database that have ended. To be read before the map is. */
uint64
emogi_vacuums_ended(Oid relid)
{
	uint64		ended = pg_atomic_read_u64(counter_of(relid));

	pg_memory_barrier();
	return ended;
}

/*
 * May a VACUUM of a table be at work? To be asked after the map was read. On a standby nobody can
 * tell.
 */
bool
emogi_vacuums_at_work(Oid relid)
{
	LOCKTAG		tag;
	int			count;

	pg_memory_barrier();
	if (!emogi_compat_only_vacuum_sets_bits() || RecoveryInProgress())
		return true;
	if (emogi_faults.live[EMOGI_LIVE_VACUUMS])
		return false;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	pfree(GetLockConflicts(&tag, ShareUpdateExclusiveLock, &count));
	return count > 0;
}
