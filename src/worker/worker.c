/*
 * worker.c: main thread of the engine worker, the one process that computes.
 *
 * The worker is not connected to a database, so DROP DATABASE and similar commands never wait for
 * it; it has an entry in pg_stat_activity (activity.c). The main thread picks requests from the
 * slots, passes them to the compute threads (threads.c), answers them, and sleeps.
 *
 * Scheduling is start-time fair queueing, after Goyal, Vin and Cheng, "Start-time Fair Queuing",
 * SIGCOMM 1996, section 2. Each backend has a clock of the engine time it has used, in ms, and
 * stamps its requests with it. The lowest stamp is served first; ties are broken by the lowest
 * ticket. Short calls thus overtake the long runs of others, and all waiting backends get the same
 * share. vclock_ms is the highest stamp served so far. New clocks start there, and a clock that
 * lags by more than EMOGI_CREDIT_MS is advanced, so that idle backends do not accumulate credit.
 *
 * Because running requests are not interrupted, two kinds of requests may have to wait while others
 * pass them: requests for a GPU while all GPUs are busy, and requests expected to be long while
 * EMOGI_LONG_THREADS such requests are running. A thread is therefore soon available for a short
 * request, and the operating system gives it its share of the processors. gpu_schedule.c assigns
 * the GPUs.
 *
 * A request expected to be short may still run for hours. The requests of one role, unless it is a
 * superuser, therefore never occupy all threads or all places for long requests: one of each is
 * reserved for other roles.
 *
 * The worker ends with proc_exit(1), after which the postmaster restarts it within a second. Exit
 * code 0 would be final, and a crash would terminate all sessions. The exit code is 0 only if the
 * postmaster itself requests the end, at server shutdown. On exit, the worker stops its threads and
 * fails the running requests; queued requests wait for the next worker. After a GPU error it
 * drains: it does not start any request, lets the threads finish for a while, and ends.
 */
#include "postgres.h"

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
#include "contract/sample.h"
#include "prewarm/prewarm.h"
#include "base/arena.h"
#include "base/compat.h"
#include "worker/activity.h"
#include "worker/gpu_schedule.h"
#include "worker/csr_memory.h"
#include "worker/threads.h"
#include "worker/worker.h"

/*
 * A run on the CPU that may examine more edges than this (about a second on two processors) is
 * long.
 */
#define EMOGI_LONG_EDGES 500e6
#define EMOGI_LONG_THREADS 3	/* one role gets at most all but one */

/* How long a draining worker lets its threads finish. */
#define EMOGI_DRAIN_MS 10000.0

/* How long a stopping worker waits for its threads to react to their cancel flags. */
#define EMOGI_STOP_TIMEOUT_MS 10000.0

PGDLLEXPORT void emogi_worker_main(Datum arg);

static bool ready = false;		/* the engines are open */
static int	nlong = 0;			/* running long requests */
static int	nprocessing = 0;	/* running requests, except for those on a GPU */
static bool contracting = false;	/* a contraction hierarchy is being built */
static bool draining = false;	/* a GPU is lost */
static double drain_end_ms;
static volatile sig_atomic_t server_stops = false;	/* the postmaster has sent SIGTERM */

/* ---- starting work ---- */

/* Exit or crash at a point of a request if a test requests it. */
static void
inject_fault(const EmogiRequest *request, int at)
{
	if (request->fault_at != at)
		return;
	if (request->fault == EMOGI_WORKER_CRASHES)
		kill(getpid(), SIGKILL);
	if (request->fault == EMOGI_WORKER_EXITS)
		proc_exit(1);
}

/* Check whether slot `a` comes before slot `b`. */
static bool
is_before(const EmogiSlot *a, const EmogiSlot *b)
{
	if (b == NULL)
		return true;
	return a->vtime_ms < b->vtime_ms || (a->vtime_ms == b->vtime_ms && a->ticket < b->ticket);
}

/*
 * Get the maximum number of times that a run reads all edges. For iterations this is the limit set
 * by the caller.
 */
static double
count_passes(const EmogiRequest *request)
{
	const EmogiQuery *query = &request->query;

	if (emogi_algorithm_takes(emogi_algorithm_row(query->algorithm), EMOGI_SAMPLES) >= 0)
		return (double) emogi_sample_count(request->graph.nvertices, query);
	if (query->algorithm == EMOGI_BFS_SUMS)
		return (double) query->nsources / EMOGI_MSBFS_SOURCES;
	return (double) Max(query->max_iterations, 1);
}

/* Check whether a request is expected to be long. */
static bool
is_long(const EmogiRequest *request)
{
	return request->kind >= EMOGI_REQUEST_RUN && request->kind != EMOGI_REQUEST_PATH &&
		!emogi_threads_uses_gpu(request) &&
		(double) request->graph.forward.nedges * count_passes(request) > EMOGI_LONG_EDGES;
}

/*
 * Check whether the role of a slot may run one more request on the CPU. Caller holds
 * EmogiShared.lock.
 */
static bool
role_may_start(const EmogiSlot *slot)
{
	const EmogiAccount *account = &emogi_shared->accounts[slot - emogi_shared->slots];
	int			nrequests = 0;
	int			nlong_requests = 0;

	for (int i = 0; i < EMOGI_NSLOTS && account->limited; i++)
	{
		const EmogiSlot *other = &emogi_shared->slots[i];

		if ((other->state != EMOGI_SLOT_RUNNING && other->state != EMOGI_SLOT_ORPHAN) ||
			!emogi_shared->accounts[i].limited ||
			emogi_shared->accounts[i].userid != account->userid ||
			emogi_threads_uses_gpu(&other->request))
			continue;
		nrequests++;
		nlong_requests += is_long(&other->request);
	}
	return nrequests < EMOGI_WORKER_REQUESTS - 1 &&
		(nlong_requests < EMOGI_LONG_THREADS - 1 || !is_long(&slot->request));
}

/* Check whether a request can be started now. Caller holds EmogiShared.lock. */
static bool
can_start(const EmogiSlot *slot, uint32 free_gpus)
{
	if (emogi_threads_uses_gpu(&slot->request))
		return free_gpus != 0;
	return nprocessing < EMOGI_WORKER_REQUESTS &&
		(nlong < EMOGI_LONG_THREADS || !is_long(&slot->request)) && role_may_start(slot);
}

/* Pick the next QUEUED slot that can be started, and make it RUNNING; NULL if there is none. */
static EmogiSlot *
pick_slot(void)
{
	const uint32 free_gpus = emogi_gpus_free();
	EmogiSlot  *first = NULL;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		EmogiSlot  *slot = &emogi_shared->slots[i];

		if (slot->state == EMOGI_SLOT_QUEUED && is_before(slot, first) &&
			can_start(slot, free_gpus))
			first = slot;
	}
	if (first != NULL)
	{
		first->state = EMOGI_SLOT_RUNNING;
		first->reply.started_ms = emogi_pool_now_ms();
		emogi_shared->vclock_ms = Max(emogi_shared->vclock_ms, first->vtime_ms);
	}
	LWLockRelease(emogi_shared->lock);
	return first;
}

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

/* Count a request that starts (change = 1) or has ended (-1). */
static void
count_running(const EmogiWork *work, int change)
{
	if (work->gpu == EMOGI_NO_GPU)
		nprocessing += change;
	if (is_long(&work->request))
		nlong += change;
}

/* Pass some work to its thread. */
static void
dispatch(EmogiWork *work)
{
	emogi_activity_begin(work);
	emogi_threads_start_work(work);
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
	inject_fault(&work->request, work->request.kind);
	if (work->request.kind == EMOGI_REQUEST_BUILD && work->request.makes_dictionary)
		inject_fault(&work->request, EMOGI_REQUEST_DICTIONARY);
	if (work->request.kind == EMOGI_REQUEST_BUILD && work->request.packs)
		inject_fault(&work->request, EMOGI_REQUEST_PACK);
	if (work->gpu >= 0 && work->request.graph.id != 0)
		emogi_cache_mark_gpus(work->request.graph.id, work->helpers | UINT32_C(1) << work->gpu);
	if (work->request.kind < EMOGI_REQUEST_MERGE && !emogi_slot_edges(slot, &work->edges, malloc))
	{
		slot->reply.status = EMOGI_NO_MEMORY;
		strlcpy(slot->reply.error.message, "out of memory", sizeof slot->reply.error.message);
		answer_slot(slot, EMOGI_SLOT_DONE);
		return;
	}
	count_running(work, 1);
	dispatch(work);
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
	dispatch(work);
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
	dispatch(work);
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
		slot = pick_slot();
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

/*
 * After a merge, let a free GPU that may have copies of the old graph derive its copies of the new
 * graph: before any request for the new graph, and while the changes still exist. False if there is
 * nothing to do, or it cannot be done. Small graphs are excluded, because they are moved when
 * published, and their copies would not be found.
 */
static bool
start_derive(const EmogiWork *work)
{
	EmogiWork  *next;
	int			gpu;

	if (work->kind != EMOGI_WORK_REQUEST || work->derives ||
		work->request.kind != EMOGI_REQUEST_MERGE ||
		work->reply.status != EMOGI_OK || work->request.derived_id == 0 ||
		work->reply.graph.memory_bytes <= EMOGI_SMALL_BYTES || draining ||
		(gpu = emogi_gpu_schedule_choose_deriving(work)) == EMOGI_NO_GPU)
		return false;
	next = emogi_threads_idle_job();	/* at least the one of the thread that has just finished */
	count_running(work, -1);
	*next = *work;
	next->derives = true;
	next->gpu = gpu;
	count_running(next, 1);
	dispatch(next);
	return true;
}

/*
 * After the vertices of a graph, start to make its CSR. Return false if the request has ended, or
 * if the backend must make room in the arena first.
 */
static bool
start_lists(const EmogiWork *work)
{
	EmogiWork  *next;

	if (work->kind != EMOGI_WORK_REQUEST || work->request.kind != EMOGI_REQUEST_BUILD ||
		work->request.only_keys || work->reply.status != EMOGI_OK || draining ||
		work->slot->control.cancel)
		return false;
	next = emogi_threads_idle_job();	/* at least the one of the thread that has just finished */
	*next = *work;
	if (next->request.makes_dictionary)
		emogi_arena_free_owner(EMOGI_OWNER_KEYS(next->slot - emogi_shared->slots));
	if (!emogi_csr_memory_alloc(next))
		return false;
	count_running(work, -1);
	next->request.kind = EMOGI_REQUEST_CSR;
	next->request.keys = next->reply.keys;
	next->slot->control.phase = EMOGI_PHASE_CSR;
	count_running(next, 1);
	inject_fault(&next->request, EMOGI_REQUEST_CSR);
	dispatch(next);
	return true;
}

/* Let the backend go on with a graph that is complete, while its query runs. */
static void
answer_build(EmogiSlot *slot, const EmogiReply *reply)
{
	slot->built = *reply;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	slot->is_built = true;
	LWLockRelease(emogi_shared->lock);
	ConditionVariableBroadcast(&slot->answered);
}

/*
 * After the CSR of a graph, start the query that is chained to its build. Return false if there is
 * none, or if the backend must request it: because a GPU runs it, because its turn has not come, or
 * because its memory is not at hand. The scratch memory of the CSR is freed first, for its result.
 */
static bool
start_chained(EmogiWork *work)
{
	EmogiWork  *next;

	if (work->kind != EMOGI_WORK_REQUEST || work->request.kind != EMOGI_REQUEST_CSR ||
		!work->request.chains || work->reply.status != EMOGI_OK || draining ||
		work->slot->control.cancel)
		return false;
	next = emogi_threads_idle_job();	/* at least the one of the thread that has just finished */
	*next = *work;
	next->request.kind = EMOGI_REQUEST_RUN;
	next->request.graph = next->reply.graph;
	if (emogi_threads_uses_gpu(&next->request) || is_long(&next->request))
		return false;
	if (work->reply.scratch != NULL)
		emogi_arena_free(work->reply.scratch, work->reply.scratch_bytes);
	work->reply.scratch = next->reply.scratch = NULL;
	if (!emogi_csr_memory_alloc_result(next))
		return false;
	next->reply.result = next->request.result;
	next->slot->control.phase = EMOGI_PHASE_RUN;
	answer_build(next->slot, &next->reply);
	inject_fault(&next->request, EMOGI_REQUEST_RUN);
	dispatch(next);
	return true;
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
		count_running(work, -1);
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
		if (start_lists(&work) || start_chained(&work) || start_derive(&work))
			continue;
		if (work.kind == EMOGI_WORK_OPEN)
			publish_engines(&work.reply);
		if (work.kind == EMOGI_WORK_REQUEST)
			inject_fault(&work.request, EMOGI_REQUEST_KINDS);
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

	snprintf(module, sizeof module, "%s/emogi_cuda.so", pkglib_path);
	rc = emogi_threads_start(&options, module, emogi_device_set);
	if (rc != 0)
		ereport(FATAL,
				(errmsg("the engine worker of emogi could not start a thread: %s", strerror(rc))));
	work = emogi_threads_idle_job();
	work->kind = EMOGI_WORK_OPEN;
	dispatch(work);
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
	/* no database; creates the pg_stat_activity entry */
	BackgroundWorkerInitializeConnectionByOid(InvalidOid, InvalidOid, 0);
	pgstat_report_appname("emogi engine");

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

/* Register the engine worker; called once, in the postmaster. */
void
emogi_worker_register(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof worker);
	strlcpy(worker.bgw_name, "emogi engine", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "emogi engine", BGW_MAXLEN);
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = 1;
	strlcpy(worker.bgw_library_name, "emogi", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "emogi_worker_main", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}
