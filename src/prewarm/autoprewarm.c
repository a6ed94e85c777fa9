/*
 * autoprewarm.c: background worker `emogi prewarm`, which has the graphs of emogi.prewarm loaded,
 * and exits.
 *
 * The first engine worker after server start, or after a crash has emptied the arena, starts it
 * (worker/worker.c). It is not connected to a database; it starts one loader per database
 * (loader.c), one after the other. DROP DATABASE waits five seconds for connections to end and then
 * fails, as do other commands that need exclusive access to a database. During this time they hold
 * a lock on the database. If this process notices the lock, it terminates the loader, and starts a
 * new one after the lock is released.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "storage/lock.h"
#include "tcop/tcopprot.h"
#include "utils/fmgroids.h"
#include "utils/memutils.h"

#include "prewarm/prewarm.h"
#include "base/compat.h"

/* Interval of checks of the loader and of the lock on its database. */
#define POLL_MS 100

/* How long to wait for a free background worker slot. */
#define START_TIMEOUT_MS 60000

PGDLLEXPORT void emogi_prewarm_main(Datum arg);

/* How a loader ended. */
typedef enum Outcome
{
	LOADED,						/* it has processed all entries */
	INTERRUPTED,				/* exclusive access to the database was requested */
	FAILED
} Outcome;

static BackgroundWorkerHandle *loader = NULL;	/* the running loader */

/* Fill in the fields that both kinds of workers have in common. */
static void
describe_worker(BackgroundWorker *worker, const char *name, const char *function)
{
	memset(worker, 0, sizeof *worker);
	strlcpy(worker->bgw_name, name, BGW_MAXLEN);
	strlcpy(worker->bgw_type, "emogi prewarm", BGW_MAXLEN);
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_ConsistentState;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker->bgw_library_name, "emogi", BGW_MAXLEN);
	strlcpy(worker->bgw_function_name, function, BGW_MAXLEN);
}

/* Start the worker if there is anything to load; called by the engine worker. */
void
emogi_prewarm_start(void)
{
	BackgroundWorker worker;

	if (emogi_prewarm_list() == NIL)
		return;
	describe_worker(&worker, "emogi prewarm", "emogi_prewarm_main");
	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		ereport(WARNING,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("could not load the graphs of emogi.prewarm: out of background worker "
						"slots"),
				 errhint("Raise max_worker_processes (%d now) and restart the server.",
						 max_worker_processes)));
}

/* Warn about each entry of a database. */
static void
warn_of_all(List *entries, const char *database, int sqlstate, const char *why, const char *hint)
{
	ListCell   *cell;

	foreach(cell, entries)
	{
		const EmogiPrewarmEntry *entry = lfirst(cell);

		if (strcmp(entry->database, database) == 0)
			emogi_prewarm_warn(entry, sqlstate, why, NULL, hint);
	}
}

/* Sleep, and check for interrupts. */
static void
sleep_ms(long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, ms,
					 emogi_shared_wait_event(EMOGI_WAIT_PREWARM));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
}

/*
 * Find a database that accepts connections; otherwise return InvalidOid and the reason. Uses a
 * sequential scan, because a process without a database may not have the descriptors of indexes.
 */
static Oid
find_database(const char *name, const char **why)
{
	Oid			database = InvalidOid;
	Relation	databases;
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	row;

	*why = "there is no such database";
	StartTransactionCommand();
	databases = table_open(DatabaseRelationId, AccessShareLock);
	ScanKeyInit(&key, Anum_pg_database_datname, BTEqualStrategyNumber, F_NAMEEQ,
				CStringGetDatum(name));
	scan = systable_beginscan(databases, InvalidOid, false, NULL, 1, &key);
	row = systable_getnext(scan);
	if (HeapTupleIsValid(row) && ((Form_pg_database) GETSTRUCT(row))->datallowconn)
		database = ((Form_pg_database) GETSTRUCT(row))->oid;
	else if (HeapTupleIsValid(row))
		*why = "the database does not accept connections";
	systable_endscan(scan);
	table_close(databases, AccessShareLock);
	CommitTransactionCommand();
	return database;
}

/*
 * Check whether a command needs exclusive access to a database, to drop, copy, rename or move it.
 * The lock is the same as for a connection.
 */
static bool
is_claimed(Oid database)
{
	LOCKTAG		tag;
	bool		claimed;

	SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, database, 0);
	StartTransactionCommand();
	claimed = LockAcquire(&tag, RowExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL;
	CommitTransactionCommand();
	return claimed;
}

/* Start a loader; false if no background worker slot becomes free within START_TIMEOUT_MS. */
static bool
start_loader(const char *name, Oid database)
{
	BackgroundWorker worker;
	char		title[BGW_MAXLEN];

	snprintf(title, sizeof title, "emogi prewarm of %s", name);
	describe_worker(&worker, title, "emogi_prewarm_loader_main");
	worker.bgw_main_arg = ObjectIdGetDatum(database);
	worker.bgw_notify_pid = MyProcPid;
	strlcpy(worker.bgw_extra, name, BGW_EXTRALEN);
	for (int waited_ms = 0; !RegisterDynamicBackgroundWorker(&worker, &loader);
		 waited_ms += POLL_MS)
	{
		if (waited_ms >= START_TIMEOUT_MS)
			return false;
		sleep_ms(POLL_MS);
	}
	return true;
}

/* Wait until the loader has ended, and terminate it if its database is claimed. */
static Outcome
await_loader(Oid database)
{
	bool		claimed = false;
	bool		loaded;
	pid_t		pid;

	while (GetBackgroundWorkerPid(loader, &pid) != BGWH_STOPPED)
	{
		sleep_ms(POLL_MS);
		if (!claimed && is_claimed(database))
		{
			claimed = true;
			TerminateBackgroundWorker(loader);
		}
	}
	pfree(loader);
	loader = NULL;
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	loaded = emogi_shared->prewarmed == database;
	LWLockRelease(emogi_shared->lock);
	return loaded ? LOADED : claimed ? INTERRUPTED : FAILED;
}

/*
 * Load the entries of a database. After an interruption, the next loader finds the graphs loaded so
 * far.
 */
static void
load_database(List *entries, const char *name)
{
	Outcome		outcome = INTERRUPTED;

	while (outcome == INTERRUPTED)
	{
		const char *why;
		Oid			database = find_database(name, &why);

		if (!OidIsValid(database))
		{
			warn_of_all(entries, name, ERRCODE_UNDEFINED_DATABASE, why, NULL);
			return;
		}
		if (is_claimed(database))
		{
			sleep_ms(POLL_MS);
			continue;
		}
		LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
		emogi_shared->prewarmed = InvalidOid;
		LWLockRelease(emogi_shared->lock);
		pgstat_report_activity(STATE_RUNNING, psprintf("loads graphs of database %s", name));
		if (!start_loader(name, database))
		{
			warn_of_all(entries, name, ERRCODE_INSUFFICIENT_RESOURCES,
						"no background worker is free",
						"Raise max_worker_processes and restart the server.");
			return;
		}
		outcome = await_loader(database);
	}
	if (outcome == FAILED)
		warn_of_all(entries, name, ERRCODE_CONNECTION_FAILURE,
					"the process that loads the graphs of the database exited early",
					"See the preceding messages in the server log.");
}

/* Check whether an entry is the first one of its database. */
static bool
is_first(List *entries, const EmogiPrewarmEntry *entry)
{
	ListCell   *cell;

	foreach(cell, entries)
		if (strcmp(((EmogiPrewarmEntry *) lfirst(cell))->database, entry->database) == 0)
			return lfirst(cell) == entry;
	return false;
}

/* Terminate the loader when this process exits. */
static void
end_loader(int code, Datum arg)
{
	if (loader != NULL)
		TerminateBackgroundWorker(loader);
}

/* Main function of `emogi prewarm`. */
void
emogi_prewarm_main(Datum arg)
{
	List	   *entries;
	ListCell   *cell;

	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	emogi_shared_require();
	MemoryContextSwitchTo(TopMemoryContext);
	before_shmem_exit(end_loader, 0);
	pgstat_report_appname("emogi prewarm");
	entries = emogi_prewarm_list();
	foreach(cell, entries)
		if (is_first(entries, lfirst(cell)))
			load_database(entries, ((EmogiPrewarmEntry *) lfirst(cell))->database);
	proc_exit(0);
}
