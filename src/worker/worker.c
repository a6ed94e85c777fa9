/*
 * worker.c: main thread of the engine worker, the one process that computes.
 *
 * The worker is not connected to a database, so DROP DATABASE and similar commands never wait for
 * it; it has an entry in pg_stat_activity (activity.c). The main thread picks requests from the
 * slots in fair-share order (schedule.c), passes them to the compute threads (threads.c), continues
 * requests of several steps (steps.c), answers them, and sleeps.
 *
 * The worker ends with proc_exit(1), after which the postmaster restarts it within a second. Exit
 * code 0 would be final, and a crash would terminate all sessions. The exit code is 0 only if the
 * postmaster itself requests the end, at server shutdown. On exit, the worker stops its threads and
 * fails the running requests; queued requests wait for the next worker. After a GPU error it
 * drains: it does not start any request, lets the threads finish for a while, and ends.
 */
#include "postgres.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "utils/guc.h"

#include "cache/cache.h"
#include "call/call.h"
#include "prewarm/prewarm.h"
#include "base/compat.h"
#include "base/trial.h"
#include "worker/activity.h"
#include "worker/gpu_schedule.h"
#include "worker/schedule.h"
#include "worker/steps.h"
#include "worker/watchdog.h"
#include "worker/worker.h"

/* How long a draining worker lets its threads finish. */
#define EMOGI_DRAIN_MS 10000.0

/* How long a stopping worker waits for its threads to react to their cancel flags. */
#define EMOGI_STOP_TIMEOUT_MS 10000.0

PGDLLEXPORT void emogi_worker_main(Datum arg);

static bool ready = false;		/* the engines are open */
static bool contracting = false;	/* a contraction hierarchy is being built */
static bool draining = false;	/* a GPU is lost */
static double drain_end_ms;
static volatile sig_atomic_t server_stops = false;	/* the postmaster has sent SIGTERM */

/* ---- starting work ---- */

/* Answer the backend; free the slot if the backend has exited. */
static void
answer_slot(EmogiSlot *slot, EmogiSlotState state)
{
	bool		orphan;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	orphan = slot->state == EMOGI_SLOT_ORPHAN;
	slot->state = orphan ? EMOGI_SLOT_HELD : state;
	LWLockRelease(emogi_shared->lock);
	if (orphan)
		emogi_slot_free(slot);
	else
		ConditionVariableBroadcast(&slot->answered);
}

/* Start a request. */
static void
start_request(EmogiWork *work, EmogiSlot *slot)
{
	work->kind = EMOGI_WORK_REQUEST;
	work->slot = slot;
	work->request = slot->request;
	work->reply.started_ms = slot->reply.started_ms;
	if (emogi_threads_uses_gpu(&work->request))
		emogi_gpu_schedule_assign(work);
	emogi_steps_inject_fault(&work->request, work->request.kind);
	if (work->request.kind == EMOGI_REQUEST_BUILD && work->request.makes_dictionary)
		emogi_steps_inject_fault(&work->request, EMOGI_REQUEST_DICTIONARY);
	if (work->request.kind == EMOGI_REQUEST_BUILD && work->request.packs)
		emogi_steps_inject_fault(&work->request, EMOGI_REQUEST_PACK);
	if (work->gpu >= 0 && work->request.graph.id != 0)
		emogi_cache_mark_gpus(work->request.graph.id, work->helpers | UINT32_C(1) << work->gpu);
	if (work->request.kind < EMOGI_REQUEST_MERGE && !emogi_slot_edges(slot, &work->edges, malloc))
	{
		slot->reply.status = EMOGI_NO_MEMORY;
		strlcpy(slot->reply.error.message, "out of memory", sizeof slot->reply.error.message);
		answer_slot(slot, EMOGI_SLOT_DONE);
		return;
	}
	emogi_schedule_count(work, 1);
	emogi_steps_dispatch(work);
}

/* Start to drop a graph from a GPU; false if there is none to drop. */
static bool
start_forget(EmogiWork *work)
{
	const uint32 free_gpus = emogi_gpus_free();
	const uint64 id = free_gpus != 0 ? emogi_cache_next_to_forget(free_gpus, &work->gpu) : 0;

	if (id == 0)
		return false;
	work->kind = EMOGI_WORK_FORGET;
	work->graph_id = id;
	emogi_steps_dispatch(work);
	return true;
}

/* Start to build a contraction hierarchy; false if none is needed, or one is being built. */
static bool
start_contract(EmogiWork *work)
{
	const int	cached = contracting || draining ? -1 : emogi_cache_contraction_next();

	if (cached < 0)
		return false;
	work->kind = EMOGI_WORK_CONTRACT;
	work->cached = cached;
	contracting = true;
	emogi_steps_dispatch(work);
	return true;
}

/* Start work on all idle threads. */
static void
start_all(void)
{
	EmogiWork *work;
	EmogiSlot  *slot;

	while ((work = emogi_threads_idle_job()) != NULL)
	{
		if (start_forget(work))
			continue;
		slot = emogi_schedule_pick();
		if (slot != NULL)
			start_request(work, slot);
		else if (!start_contract(work))
			return;
	}
}

/* ---- finishing work ---- */

/* Log the available engines. */
static void
report_ready(const EmogiOpenedEngines *opened)
{
	StringInfoData gpus;

	initStringInfo(&gpus);
	for (int i = 0; i < opened->ncuda; i++)
		appendStringInfo(&gpus, "%s%s", i > 0 ? ", " : "GPU: ", opened->cuda[i].device.name);
	if (opened->ncuda == 0)
		appendStringInfo(&gpus, "no GPU: %s", opened->cuda[0].reason);
	ereport(LOG,
			(errmsg("emogi " EMOGI_VERSION " is ready: emogi.engine = %s, %d threads, "
										   "emogi.max_memory = %dMB, %s, %s",
					GetConfigOption("emogi.engine", false, false), opened->cpu.device.units,
					emogi_max_memory_mb,
					emogi_huge_pages_status ? "huge pages" : "no huge pages", gpus.data)));
	pfree(gpus.data);
}

/* Publish the engines after they have been opened. */
static void
publish_engines(const EmogiReply *reply)
{
	const EmogiOpenedEngines *opened = emogi_threads_opened();

	if (reply->status != EMOGI_OK)
		ereport(FATAL,
				(errmsg("the engine worker of emogi could not start: %s", reply->error.message)));
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->cpu = opened->cpu;
	emogi_shared->ncuda = opened->ncuda;
	emogi_shared->nlisted = opened->nlisted;
	memcpy(emogi_shared->cuda, opened->cuda, sizeof opened->cuda);
	emogi_shared->worker_ready = true;
	LWLockRelease(emogi_shared->lock);
	ready = true;
	report_ready(opened);
}

/* Update the memory in use on the GPUs of some work. */
static void
update_device(const EmogiWork *work)
{
	if (work->gpu == EMOGI_NO_GPU || work->device_lost)
		return;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (int gpu = 0; gpu < emogi_shared->ncuda; gpu++)
		if ((work->helpers | UINT32_C(1) << work->gpu) >> gpu & 1)
			emogi_shared->cuda[gpu].device.used_bytes = work->used_bytes[gpu];
	LWLockRelease(emogi_shared->lock);
}

/* Publish the results of some work, except for the opening. */
static void
deliver(EmogiWork *work)
{
	free((void *) work->edges.chunks);
	update_device(work);
	if (work->kind == EMOGI_WORK_FORGET)
		emogi_cache_gpu_has_forgotten(work->graph_id, work->gpu);
	if (work->kind == EMOGI_WORK_CONTRACT)
	{
		emogi_cache_contraction_made(work->cached, work->made,
									 work->reply.status == EMOGI_CANCELED);
		free(work->made);
		contracting = false;
	}
	if (work->kind == EMOGI_WORK_REQUEST)
	{
		emogi_schedule_count(work, -1);
		if (work->derived)
			emogi_cache_mark_gpus(work->request.derived_id, UINT32_C(1) << work->gpu);
		work->slot->reply = work->reply;
		answer_slot(work->slot, EMOGI_SLOT_DONE);
	}
}

/* Process finished work. */
static void
finish_all(void)
{
	EmogiWork work;
	uint64_t	count;

	(void) !read(emogi_threads_fd(), &count, sizeof count);
	while (emogi_threads_finished(&work))
	{
		emogi_activity_end(&work);
		if (!draining && emogi_steps_next(&work))
			continue;
		if (work.kind == EMOGI_WORK_OPEN)
			publish_engines(&work.reply);
		if (work.kind == EMOGI_WORK_REQUEST)
			emogi_steps_inject_fault(&work.request, EMOGI_REQUEST_KINDS);
		deliver(&work);
		if (work.device_lost)
		{
			ereport(LOG,
					(errmsg("the engine worker of emogi restarts after a GPU error: %s",
							work.reply.reason[0] != '\0' ? work.reply.reason
							: work.reply.error.message)));
			draining = true;
			drain_end_ms = emogi_pool_now_ms() + EMOGI_DRAIN_MS;
		}
	}
}

/* ---- start and exit ---- */

/* Stop the threads; false if they do not react to their cancel flags in time. */
static bool
stop_threads(void)
{
	double		end_ms = emogi_pool_now_ms() + EMOGI_STOP_TIMEOUT_MS;
	EmogiWork work;

	emogi_threads_cancel();
	for (;;)
	{
		while (emogi_threads_finished(&work))
			deliver(&work);
		if (emogi_threads_are_idle())
			return true;
		if (emogi_pool_now_ms() > end_ms)
			return false;
		pg_usleep(2 * 1000);
	}
}

/*
 * Fail the requests that were running in a worker that has exited or is about to. Also wake queued
 * callers, which count the restarts.
 */
static void
fail_running(void)
{
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		EmogiSlot  *slot = &emogi_shared->slots[i];
		EmogiSlotState state;

		LWLockAcquire(emogi_shared->lock, LW_SHARED);
		state = slot->state;
		LWLockRelease(emogi_shared->lock);
		if (state == EMOGI_SLOT_RUNNING || state == EMOGI_SLOT_ORPHAN)
			answer_slot(slot, EMOGI_SLOT_FAILED);
		else if (state == EMOGI_SLOT_QUEUED)
			ConditionVariableBroadcast(&slot->answered);
	}
	emogi_cache_worker_has_ended();
}

/*
 * Exit callback, called on every exit but a crash. While a thread is running, its memory must not
 * be freed; in that case the next worker fails the slots, because it does not start before this
 * process has ended.
 */
static void
leave_shared(int code, Datum arg)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->worker_latch = NULL;
	emogi_shared->worker_pid = 0;
	emogi_shared->worker_ready = false;
	LWLockRelease(emogi_shared->lock);
	if (stop_threads())
		fail_running();
}

/* Register this worker in shared memory. */
static void
enter_shared(void)
{
	fail_running();
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->worker_latch = MyLatch;
	emogi_shared->worker_pid = MyProcPid;
	emogi_shared->worker_epoch++;
	LWLockRelease(emogi_shared->lock);
	before_shmem_exit(leave_shared, 0);
}

/*
 * Get the path of the module for GPUs: beside this library, which need not lie in the server's own
 * folder (dynamic_library_path).
 */
static void
find_module(char *path, size_t size)
{
	Dl_info		library;

	if (dladdr((void *) find_module, &library) == 0 || strchr(library.dli_fname, '/') == NULL)
		strlcpy(path, pkglib_path, size);
	else
	{
		strlcpy(path, library.dli_fname, size);
		get_parent_directory(path);
	}
	strlcat(path, "/emogi_cuda.so", size);
}

/*
 * Start the threads, and open the engines in one of them, because a driver may take seconds to
 * start.
 */
static void
start_threads(void)
{
	EmogiEngineOptions options = {
		.cpu_threads = emogi_cpu_threads,
		.device_memory_bytes = (uint64) emogi_device_memory_mb * 1024 * 1024
	};
	char		module[MAXPGPATH];
	EmogiWork *work;
	int			rc;

	find_module(module, sizeof module);
	rc = emogi_threads_start(&options, module, emogi_device_set);
	if (rc != 0)
		ereport(FATAL,
				(errmsg("the engine worker of emogi could not start a thread: %s", strerror(rc))));
	work = emogi_threads_idle_job();
	work->kind = EMOGI_WORK_OPEN;
	emogi_steps_dispatch(work);
}

/* Sleep until there is something to do. */
static void
sleep_main(void)
{
	int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | WL_SOCKET_READABLE;
	long		timeout_ms = -1;

	if (draining)
	{
		events |= WL_TIMEOUT;
		timeout_ms = (long) Max(drain_end_ms - emogi_pool_now_ms(), 0.0) + 1;
	}
	(void) WaitLatchOrSocket(MyLatch, events, emogi_threads_fd(), timeout_ms,
							 emogi_shared_wait_event(EMOGI_WAIT_MAIN));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/* Check whether the worker must exit. */
static bool
must_end(void)
{
	return ShutdownRequestPending ||
		(draining && (emogi_threads_are_idle() || emogi_pool_now_ms() > drain_end_ms));
}

/* SIGTERM handler: exit, permanently if the postmaster sent the signal. */
static void
handle_sigterm(int signo, siginfo_t *info, void *context)
{
	if (info->si_pid == PostmasterPid)
		server_stops = true;
	emogi_compat_request_shutdown(signo);
}

/* Install handle_sigterm; pqsignal does not pass the sender of a signal. */
static void
catch_sigterm(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof action);
	action.sa_sigaction = handle_sigterm;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGTERM, &action, NULL) != 0)
		ereport(FATAL, (errmsg("could not set a signal handler: %m")));
}

/* Start to watch the postmaster, before anything that waits for a lock. */
static void
start_watchdog(void)
{
	int			rc = emogi_watchdog_start();

	if (rc != 0)
		ereport(FATAL,
				(errmsg("the engine worker of emogi could not start a thread: %s", strerror(rc))));
}

/*
 * Main function of the engine worker. The first one after the arena is created, and thus empty,
 * starts prewarming.
 */
void
emogi_worker_main(Datum arg)
{
	catch_sigterm();
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, PG_SIG_IGN);	/* sessions cancel their own calls */
	BackgroundWorkerUnblockSignals();
	start_watchdog();
	/* no database; creates the pg_stat_activity entry */
	BackgroundWorkerInitializeConnectionByOid(InvalidOid, InvalidOid, 0);
	pgstat_report_appname("emogi engine");
	if (emogi_trial_is_on && !emogi_trial_attach_worker())
		proc_exit(0);			/* after a crash of the server, a call was faster */

	enter_shared();
	start_threads();
	if (emogi_shared->worker_epoch == 1)
		emogi_prewarm_start();
	while (!must_end())
	{
		sleep_main();
		finish_all();
		if (ready && !draining)
			start_all();
		emogi_activity_report();
	}
	proc_exit(server_stops ? 0 : 1);
}

/* Describe the engine worker to the postmaster. */
static void
describe(BackgroundWorker *worker)
{
	memset(worker, 0, sizeof *worker);
	strlcpy(worker->bgw_name, "emogi engine", BGW_MAXLEN);
	strlcpy(worker->bgw_type, "emogi engine", BGW_MAXLEN);
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_ConsistentState;
	worker->bgw_restart_time = 1;
	strlcpy(worker->bgw_library_name, "emogi", BGW_MAXLEN);
	strlcpy(worker->bgw_function_name, "emogi_worker_main", BGW_MAXLEN);
}

/* Register the engine worker; called once, in the postmaster. */
void
emogi_worker_register(void)
{
	BackgroundWorker worker;

	describe(&worker);
	RegisterBackgroundWorker(&worker);
}

/* Register the engine worker from a running server; false if no background worker is free. */
bool
emogi_worker_start(void)
{
	BackgroundWorker worker;

	describe(&worker);
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}
