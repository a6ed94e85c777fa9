/*
 * trial.c: the shared state of emogi without shared_preload_libraries, from PostgreSQL 17 on
 *
 * A server that was not started with emogi has neither its shared memory nor its engine worker. The
 * first call in any database creates both: a memfd with the shared state and the arena behind it,
 * and the engine worker as a dynamic background worker. Every other process attaches when it first
 * needs them.
 *
 * The control block is a segment of PostgreSQL's DSM registry. It says who holds the file: every
 * attached process keeps it open, and another opens it by /proc/PID/fd/FD. All map it at the same
 * address, because it contains pointers. If nobody holds it, as after the worker has exited while
 * no session was attached, the next process creates a new file. A process is listed as a holder
 * until it exits, and processes attach and leave under the control block's lock; so a listed file
 * can always be opened, and there is never a second one. After a crash of the server the registry
 * is empty, and all holders have ended.
 *
 * The library is loaded by each process by itself, so it may be at different addresses: nothing in
 * the shared state points to functions or constants. All processes must have loaded the same file.
 *
 * Sessions that have never called emogi do not have its callbacks. So the rings of recent writers
 * are incomplete, and prove nothing: see recent_writers.c and vacuums.c.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "access/parallel.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/pmsignal.h"
#include "utils/wait_event.h"

#include "base/compat.h"
#include "base/extents.h"
#include "base/machine.h"
#include "base/settings.h"
#include "base/trial.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* How long the call that starts the engine worker waits for it. */
#define EMOGI_START_MS 10000.0

/* How long a process that waits for the control block's lock sleeps between two attempts. */
#define EMOGI_CONTROL_RETRY_US 1000

/* The file of the library that a process has loaded. */
typedef struct Library
{
	unsigned int major;
	unsigned int minor;
	unsigned long inode;
} Library;

/* In the DSM registry; all under `lock`. */
typedef struct Control
{
	LWLock		lock;
	int			tranche;		/* of all locks */
	bool		has_worker;		/* the engine worker is registered; the postmaster restarts it */
	int			worker_pid;		/* 0 = it is not running */
	uint32		nfailures;		/* workers that could not attach */

	/* the file, if anyone holds it */
	Library		library;
	EmogiArenaSettings settings;
	char	   *start;			/* address in all processes */
	Size		state_bytes;	/* shared state, a multiple of an extent; then follows the arena */
	int			nholders;
	struct
	{
		int			pid;
		int			fd;
	}			holders[FLEXIBLE_ARRAY_MEMBER]; /* [max_holders()], the first nholders are in use */
} Control;

static EmogiTrialHooks hooks;
static Control *control = NULL;
static int	file = -1;			/* this process is a holder */
static Size allocated = 0;		/* by allocate() */
static bool is_new;				/* this process creates the shared state */

/*
 * Addresses for the file, far from those that systems use: with 47 bits and more, and with 39 as on
 * small ARM systems.
 */
static char *const addresses[] = {
	(char *) UINT64CONST(0x200000000000),
	(char *) UINT64CONST(0x100000000000),
	(char *) UINT64CONST(0x2000000000)
};

/* ---- the control block ---- */

/* Processes that may attach: backends, and background workers. */
static int
max_holders(void)
{
	return MaxBackends;
}

static void
init_control(void *block)
{
	Control    *new = block;

	memset(new, 0, offsetof(Control, holders));
	new->tranche = emogi_compat_new_tranche("emogi");
	LWLockInitialize(&new->lock, new->tranche);
}

/*
 * Lock the control block; return false if the postmaster has died meanwhile. If the holder of the
 * lock is killed afterwards, nobody releases the lock, so waiting for it would never end.
 */
static bool
acquire_control(void)
{
	while (!LWLockConditionalAcquire(&control->lock, LW_EXCLUSIVE))
	{
		if (!PostmasterIsAlive())
			return false;
		pgstat_report_wait_start(PG_WAIT_EXTENSION);
		pg_usleep(EMOGI_CONTROL_RETRY_US);
		pgstat_report_wait_end();
	}
	return true;
}

/* Attach to the control block, and lock it; exit if the postmaster has died. */
static void
lock_control(void)
{
	if (control == NULL)
	{
		Control    *block = emogi_compat_named_segment("emogi", offsetof(Control, holders) +
													   max_holders() * sizeof control->holders[0],
													   init_control);

		emogi_compat_register_tranche(block->tranche, "emogi");
		control = block;
	}
	if (!acquire_control())
		proc_exit(1);
}

/* Exit callback: this process no longer holds the file. */
static void
leave(int code, Datum arg)
{
	if (!acquire_control())
		return;					/* no process will attach any more */
	for (int i = control->nholders - 1; i >= 0; i--)
		if (control->holders[i].pid == MyProcPid)
			control->holders[i] = control->holders[--control->nholders];
	if (control->worker_pid == MyProcPid)
		control->worker_pid = 0;
	LWLockRelease(&control->lock);
}

/* ---- the library ---- */

/* Find the file of the library that this process has loaded. */
static Library
find_library(void)
{
	FILE	   *maps = AllocateFile("/proc/self/maps", "r");
	const unsigned long here = (unsigned long) emogi_trial_define;
	Library		library = {0};
	char		line[MAXPGPATH + 128];

	while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
	{
		unsigned long start;
		unsigned long end;
		Library		mapped;

		if (sscanf(line, "%lx-%lx %*s %*s %x:%x %lu", &start, &end, &mapped.major, &mapped.minor,
				   &mapped.inode) == 5 && start <= here && here < end)
			library = mapped;
	}
	if (maps != NULL)
		FreeFile(maps);
	if (library.inode == 0)
		elog(ERROR, "could not find the library of emogi in /proc/self/maps");
	return library;
}

/* Raise 55000 unless this process has loaded the library of those that hold the file. */
static void
check_library(const Library *library)
{
	if (library->major == control->library.major && library->minor == control->library.minor &&
		library->inode == control->library.inode)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the library of emogi was replaced while the server was running"),
			 errhint("Restart the server.")));
}

/* ---- the file ---- */

/* Raise the error that the file cannot be had. */
static void
report_file(const char *message, int error)
{
	errno = error;
	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("%s", message),
			 errdetail("%m."),
			 errhint("Lower emogi.max_memory, or add emogi to shared_preload_libraries in "
					 "postgresql.conf and restart the server.")));
}

/* Open the file of another process. */
static int
open_file(void)
{
	char		path[64];
	int			fd;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", control->holders[0].pid, control->holders[0].fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		report_file("could not open the shared memory of emogi", errno);
	return fd;
}

/*
 * Create a file for the settings in use, with the shared state in memory, so that lack of memory is
 * an error and no signal later.
 */
static int
create_file(void)
{
	int			fd;

	control->state_bytes =
		TYPEALIGN(EMOGI_EXTENT_BYTES, hooks.state_bytes() + EMOGI_EXTENT_BYTES / 2);
	if (control->state_bytes > emogi_machine_bytes() / 16)
		report_file("could not create the shared memory of emogi", ENOMEM);
	fd = emogi_extents_make_file(control->state_bytes);
	if (fd >= 0 && fallocate(fd, 0, 0, (off_t) control->state_bytes) != 0)
	{
		int			error = errno;

		close(fd);
		errno = error;
		fd = -1;
	}
	if (fd < 0)
		report_file("could not create the shared memory of emogi", errno);
	return fd;
}

/* Map the file at an address; return whether that was possible, else with errno. */
static bool
map_at(int fd, char *address, Size bytes)
{
	char	   *start = mmap(address, bytes, PROT_READ | PROT_WRITE,
							 MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);

	if (start == address)
		return true;
	if (start != MAP_FAILED)
	{
		munmap(start, bytes);	/* before Linux 4.17 */
		errno = EEXIST;
	}
	return false;
}

/* Map the file where the others have it, or a new one at the first free address. */
static void
map_file(int fd, Size bytes)
{
	bool		mapped = false;

	for (int i = 0; i < lengthof(addresses) && is_new && !mapped; i++)
	{
		control->start = addresses[i];
		mapped = map_at(fd, control->start, bytes);
	}
	if (!mapped && (is_new || !map_at(fd, control->start, bytes)))
	{
		int			error = errno;

		close(fd);
		report_file("could not map the shared memory of emogi", error);
	}
	(void) madvise(control->start, bytes, MADV_DONTDUMP);
}

/* Allocate shared state; all processes allocate the same in the same order. */
static void *
allocate(Size bytes, bool *found)
{
	char	   *start = control->start + allocated;

	allocated += CACHELINEALIGN(bytes);
	if (allocated > control->state_bytes)
		elog(ERROR, "the shared state of emogi is larger than computed");
	*found = !is_new;
	return start;
}

/* Get the locks. */
static LWLockPadded *
get_locks(void)
{
	bool		found;
	LWLockPadded *locks = allocate(EMOGI_NLOCKS * sizeof(LWLockPadded), &found);

	for (int i = 0; i < EMOGI_NLOCKS && !found; i++)
		LWLockInitialize(&locks[i].lock, control->tranche);
	return locks;
}

/* Attach to the shared state in the mapped file; undo the mapping on error. */
static void
start_up(int fd, Size bytes)
{
	PG_TRY();
	{
		emogi_extents_use_file(fd, (off_t) control->state_bytes,
							   control->start + control->state_bytes);
		allocated = 0;
		hooks.startup();
	}
	PG_CATCH();
	{
		emogi_shared = NULL;
		munmap(control->start, bytes);
		close(fd);
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* Map the file and become one of its holders. Caller has locked the control block. */
static void
attach_file(void)
{
	const Library library = find_library();
	Size		bytes;
	int			fd;

	is_new = control->nholders == 0;
	if (is_new)
	{
		control->settings = *emogi_settings_of_new_arena();
		control->library = library;
	}
	check_library(&library);
	if (control->nholders == max_holders())
		elog(ERROR, "too many processes use emogi");
	emogi_settings_use(&control->settings);
	fd = is_new ? create_file() : open_file();
	bytes = control->state_bytes + emogi_extents_address_bytes();
	map_file(fd, bytes);
	start_up(fd, bytes);
	file = fd;
	before_shmem_exit(leave, (Datum) 0);
	control->holders[control->nholders].pid = MyProcPid;
	control->holders[control->nholders++].fd = fd;
}

/*
 * Become a holder of the file. Caller has locked the control block; an error unlocks it, because a
 * process without a transaction exits then, and unmaps the control block before its locks are
 * released.
 */
static void
hold_file(void)
{
	ReserveExternalFD();
	PG_TRY();
	{
		attach_file();
	}
	PG_CATCH();
	{
		ReleaseExternalFD();
		LWLockReleaseAll();
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* ---- attaching ---- */

/* Register the engine worker, unless it is; raise 53000 if no background worker is free. */
static void
require_worker(void)
{
	if (!control->has_worker && !hooks.start_worker())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
				 errmsg("emogi could not start its engine: no background worker is free"),
				 errdetail("Without shared_preload_libraries the engine is started by the first "
						   "call."),
				 errhint("Raise max_worker_processes (%d now), or add emogi to "
						 "shared_preload_libraries, and restart the server.",
						 max_worker_processes)));
	control->has_worker = true;
}

/* Wait until the engine worker, which has just been started, has opened its engines. */
static void
await_worker(void)
{
	const double end_ms = emogi_shared_clock_ms() + EMOGI_START_MS;

	while (!emogi_shared->worker_ready && emogi_shared->worker_epoch <= 1 &&
		   emogi_shared_clock_ms() < end_ms)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 5,
						 emogi_shared_wait_event(EMOGI_WAIT_ENGINE));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* Tell the user of a session what preloading would add. */
static void
notify(void)
{
	if (MyBackendType != B_BACKEND || IsParallelWorker() || !emogi_notice_trial)
		return;
	ereport(NOTICE,
			(errmsg("emogi is not in shared_preload_libraries"),
			 errdetail("Answers are the same. Without preloading, graphs of queries are rebuilt "
					   "after every transaction in the cluster, and each call checks the pages of "
					   "its tables for changes."),
			 errhint("Add emogi to shared_preload_libraries in postgresql.conf and restart the "
					 "server. To disable this notice, set emogi.notice_trial to off.")));
}

/*
 * Wait until the engine worker holds the file, if nobody does. The worker creates the file, because
 * it has the settings of the configuration files; those of a session may be its own. Caller has
 * locked the control block.
 */
static void
await_file(void)
{
	const double end_ms = emogi_shared_clock_ms() + EMOGI_START_MS;
	const uint32 nfailures = control->nfailures;

	while (control->nholders == 0)
	{
		const bool	has_failed = control->nfailures != nfailures;

		LWLockRelease(&control->lock);
		if (has_failed || emogi_shared_clock_ms() > end_ms)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("the engine of emogi could not be started"),
					 errhint("The server's log has the reason.")));
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 2,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		lock_control();
	}
}

/*
 * Attach this process to the shared state, which the engine worker creates; start the worker if
 * necessary. Raises an error if that is not possible; the next call tries again.
 */
static void
attach(void)
{
	lock_control();
	require_worker();
	await_file();
	hold_file();
	LWLockRelease(&control->lock);
	await_worker();
	notify();
}

/*
 * Attach the engine worker; return false if there is another one, or if it cannot attach. Then the
 * error is in the log, and the next call registers another worker.
 */
bool
emogi_trial_attach_worker(void)
{
	bool		is_first;

	lock_control();
	is_first = control->worker_pid == 0;
	if (is_first)
	{
		control->has_worker = false;
		PG_TRY();
		{
			hold_file();
		}
		PG_CATCH();
		{
			control->nfailures++;
			HOLD_INTERRUPTS();
			EmitErrorReport();
			proc_exit(0);
		}
		PG_END_TRY();
		control->has_worker = true;
		control->worker_pid = MyProcPid;
	}
	LWLockRelease(&control->lock);
	return is_first;
}

/* Turn a trial on: the library is loaded, and was not preloaded. */
void
emogi_trial_define(const EmogiTrialHooks *needed)
{
	static const EmogiTrialState state = {attach, allocate, get_locks};

	hooks = *needed;
	emogi_shared_set_trial(&state);
}
