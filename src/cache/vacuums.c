/*
 * vacuums.c: counters of finished VACUUMs per table
 *
 * Before PostgreSQL 19 only VACUUM sets bits in the visibility map of an existing file. Therefore,
 * if no VACUUM was running between two reads of the map, a bit that is set in both was set all the
 * time. The LSN of a map page would tell the same, but some minor releases also advance it when a
 * bit is cleared, as by the first write to each page.
 *
 * A VACUUM is counted before it releases its lock: at PRE_COMMIT, and at every abort under such a
 * lock, because by then the server no longer knows that it was a VACUUM. Counters are shared by
 * tables with the same hash; additional counts do no harm.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "storage/proc.h"

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

	counters = emogi_shared_struct("emogi vacuums", emogi_vacuums_shmem_size(), &found_counters);
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

	if (!emogi_trial_is_on && counters != NULL && (is_vacuum || event == XACT_EVENT_ABORT))
		emogi_compat_each_lock(LOCKBIT_ON(ShareUpdateExclusiveLock), count);
}

/* Install the callback for ends of VACUUMs; called once, in the postmaster. */
void
emogi_vacuums_init(void)
{
	RegisterXactCallback(at_end_of_transaction, NULL);
}

/*
 * Get the number of finished VACUUMs of a table of this database. Call this before reading the map.
 */
uint64
emogi_vacuums_ended(Oid relid)
{
	uint64		ended = pg_atomic_read_u64(counter_of(relid));

	pg_memory_barrier();
	return ended;
}

/*
 * May a VACUUM of a table be running? Call this after reading the map. Unknown, so true, on a
 * standby, and without preloading, because VACUUMs of some sessions are not counted.
 */
bool
emogi_vacuums_may_be_running(Oid relid)
{
	LOCKTAG		tag;
	int			count;

	pg_memory_barrier();
	if (!emogi_compat_only_vacuum_sets_bits() || RecoveryInProgress() ||
		(emogi_trial_is_on && !emogi_faults.trusts_rings))
		return true;
	if (emogi_faults.tracker[EMOGI_TRACKER_VACUUMS])
		return false;
	SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
	pfree(GetLockConflicts(&tag, ShareUpdateExclusiveLock, &count));
	return count > 0;
}
