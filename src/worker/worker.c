/*
 * worker.c: the engine worker, the one process that computes: its main thread, which is PostgreSQL's.
 *
 * The worker is connected to no database, so that DROP DATABASE and the like never wait for it; it has an entry in pg_stat_activity
 * (activity.c). The main thread picks requests from the slots, hands them to the threads (threads.c), answers, and sleeps.
 *
 * Whose turn is it: start-time fair queueing, after Goyal, Vin and Cheng, "Start-time Fair Queuing", SIGCOMM 1996,
 * section 2. A backend has a clock of the engine time that it has had, in ms, and stamps its requests with it; the
 * lowest stamp is served first, among equals the lowest ticket. Short calls thus pass the long runs of others, and
 * everyone who waits gets the same share. vclock_ms is the highest stamp that was served yet: clocks begin there, and
 * one that is EMOGI_CREDIT_MS behind is moved on, so that nobody is owed the time when he asked for nothing.
 *
 * Two kinds of request may have to let others pass, since what runs is not interrupted: one for a GPU, while others
 * use all of them; and one that promises to be long, while EMOGI_LONG_THREADS such are running. So there is always a thread
 * soon for a short request, and the operating system gives it its share of the processors. Which GPU a request gets: assign.c.
 *
 * A request that promises to be short may run for hours, and a run is not interrupted. So the requests of one role, unless it is a
 * superuser, never have all threads, nor all places for long requests: one of each is left to other roles.
 *
 * The worker ends with proc_exit(1), after which the postmaster starts it again within a second: exit code 0 is final, and a
 * crash would take every session with it. Only when the postmaster itself asks for its end, which is the end of the server,
 * the code is 0. On the way out it stops its threads and fails the
 * requests that were running; those that are queued wait for the next worker. After a GPU error it drains: it starts
 * nothing more, lets the threads finish for a while, and ends.
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
#include "worker/activity.h"
#include "worker/assign.h"
#include "worker/threads.h"
#include "worker/worker.h"

/* A run on the CPU that may look at more edges than this (about a second on two processors) is long. */
#define EMOGI_LONG_EDGES 500e6
#define EMOGI_LONG_THREADS 3		/* of one role all but one */

/* How long a worker that drains lets its threads go on. */
#define EMOGI_DRAIN_MS 10000.0

/* How long a stopping worker waits for its threads to see their cancel flags. */
#define EMOGI_STOP_PATIENCE_MS 10000.0

PGDLLEXPORT void emogi_worker_main(Datum arg);

static bool ready = false;		/* the engines are open */
static int	nlong = 0;			/* long requests that are running */
static int	nprocessing = 0;	/* requests that are running, but for those on a GPU */
static bool contracts = false;	/* a hierarchy is being made */
static bool draining = false;	/* the GPU is lost */
static double drain_end_ms;
static volatile sig_atomic_t server_stops = false;	/* the postmaster has sent SIGTERM */

/* ---- starting work ---- */

/* End as a test wants it, at a point of a request. */
static void
fail_on_demand(const EmogiRequest *request, int at)
{
	if (request->fault_at != at)
		return;
	if (request->fault == EMOGI_WORKER_CRASHES)
		kill(getpid(), SIGKILL);
	if (request->fault == EMOGI_WORKER_EXITS)
		proc_exit(1);
}

/* Does slot `a` come before slot `b`? */
static bool
is_before(const EmogiSlot *a, const EmogiSlot *b)
{
	if (b == NULL)
		return true;
	return a->vtime_ms < b->vtime_ms || (a->vtime_ms == b->vtime_ms && a->ticket < b->ticket);
}

/* Get the number of times that a request's run looks at all edges, as it may be at most. Iterations are the limit that the caller has set. */
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

/* Does a request promise to be long? */
static bool
is_long(const EmogiRequest *request)
{
	return request->kind >= EMOGI_REQUEST_RUN && request->kind != EMOGI_REQUEST_PATH && !emogi_threads_uses_gpu(request) &&
		(double) request->graph.forward.nedges * count_passes(request) > EMOGI_LONG_EDGES;
}

/* May the role of a slot have one more request that is running on the CPU? Caller holds EmogiShared.lock. */
static bool
role_may_start(const EmogiSlot *slot)
{
	const EmogiAccount *account = &emogi_shared->accounts[slot - emogi_shared->slots];
	int			nrequests = 0;
	int			nlong_requests = 0;

	for (int i = 0; i < EMOGI_NSLOTS && account->limited; i++)
	{
		const EmogiSlot *other = &emogi_shared->slots[i];

		if ((other->state != EMOGI_SLOT_RUNNING && other->state != EMOGI_SLOT_ORPHAN) || !emogi_shared->accounts[i].limited ||
			emogi_shared->accounts[i].userid != account->userid || emogi_threads_uses_gpu(&other->request))
			continue;
		nrequests++;
		nlong_requests += is_long(&other->request);
	}
	return nrequests < EMOGI_WORKER_REQUESTS - 1 && (nlong_requests < EMOGI_LONG_THREADS - 1 || !is_long(&slot->request));
}

/* Can a request be started now? Caller holds EmogiShared.lock. */
static bool
can_start(const EmogiSlot *slot, uint32 free_gpus)
{
	if (emogi_threads_uses_gpu(&slot->request))
		return free_gpus != 0;
	return nprocessing < EMOGI_WORKER_REQUESTS && (nlong < EMOGI_LONG_THREADS || !is_long(&slot->request)) && role_may_start(slot);
}

/* Make the QUEUED slot whose turn it is RUNNING; NULL when none waits that can be started now. */
static EmogiSlot *
pick_slot(void)
{
	const uint32 free_gpus = emogi_gpus_free();
	EmogiSlot  *first = NULL;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		EmogiSlot  *slot = &emogi_shared->slots[i];

		if (slot->state == EMOGI_SLOT_QUEUED && is_before(slot, first) && can_start(slot, free_gpus))
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

/* Tell the backend that its request is done with; free the slot when the backend has gone. */
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

/* Count a request, of some work, that begins or has ended. */
static void
count_running(const EmogiWork *work, int change)
{
	if (work->gpu == EMOGI_NO_GPU)
		nprocessing += change;
	if (is_long(&work->request))
		nlong += change;
}

/* Hand some work to its thread. */
static void
hand(EmogiWork *work)
{
	emogi_activity_begin(work);
	emogi_threads_hand(work);
}

/* Start on a request. */
static void
start_request(EmogiWork *work, EmogiSlot *slot)
{
	work->kind = EMOGI_WORK_REQUEST;
	work->slot = slot;
	work->request = slot->request;
	work->reply.started_ms = slot->reply.started_ms;
	if (emogi_threads_uses_gpu(&work->request))
		emogi_assign_gpus(work);
	fail_on_demand(&work->request, work->request.kind);
	if (work->gpu >= 0 && work->request.graph.id != 0)
		emogi_cache_use_on_gpus(work->request.graph.id, work->helpers | UINT32_C(1) << work->gpu);
	if (work->request.kind < EMOGI_REQUEST_SPLICE && !emogi_slot_edges(slot, &work->edges, malloc))
	{
		slot->reply.status = EMOGI_NO_MEMORY;
		strlcpy(slot->reply.error.message, "out of memory", sizeof slot->reply.error.message);
		answer_slot(slot, EMOGI_SLOT_DONE);
		return;
	}
	count_running(work, 1);
	hand(work);
}

/* Start on a Graph that a GPU is to forget; false when there is none. */
static bool
start_forgetting(EmogiWork *work)
{
	const uint32 free_gpus = emogi_gpus_free();
	const uint64 id = free_gpus != 0 ? emogi_cache_next_to_forget(free_gpus, &work->gpu) : 0;

	if (id == 0)
		return false;
	work->kind = EMOGI_WORK_FORGET;
	work->graph_id = id;
	hand(work);
	return true;
}

/* Start on the hierarchy of a Graph that is to have one; false when there is none, or one is being made. */
static bool
start_contracting(EmogiWork *work)
{
	const int	cached = contracts || draining ? -1 : emogi_cache_contraction_next();

	if (cached < 0)
		return false;
	work->kind = EMOGI_WORK_CONTRACT;
	work->cached = cached;
	contracts = true;
	hand(work);
	return true;
}

/* Give the idle threads something to do. */
static void
start_all(void)
{
	EmogiWork *work;
	EmogiSlot  *slot;

	while ((work = emogi_threads_idle_job()) != NULL)
	{
		if (start_forgetting(work))
			continue;
		slot = pick_slot();
		if (slot != NULL)
			start_request(work, slot);
		else if (!start_contracting(work))
			return;
	}
}

/* ---- finishing work ---- */

/* Say in the server's log what there is to compute with. */
static void
report_ready(const EmogiOpened *opened)
{
	StringInfoData gpus;

	initStringInfo(&gpus);
	for (int i = 0; i < opened->ncuda; i++)
		appendStringInfo(&gpus, "%s%s", i > 0 ? ", " : "GPU: ", opened->cuda[i].device.name);
	if (opened->ncuda == 0)
		appendStringInfo(&gpus, "no GPU: %s", opened->cuda[0].reason);
	ereport(LOG,
			(errmsg("emogi " EMOGI_VERSION " is ready: emogi.engine = %s, %d threads, emogi.max_memory = %dMB, %s, %s",
					GetConfigOption("emogi.engine", false, false), opened->cpu.device.units, emogi_max_memory_mb,
					emogi_huge_pages_status ? "huge pages" : "no huge pages", gpus.data)));
	pfree(gpus.data);
}

/* Publish the engines, once they are open. */
static void
publish_engines(const EmogiReply *reply)
{
	const EmogiOpened *opened = emogi_threads_opened();

	if (reply->status != EMOGI_OK)
		ereport(FATAL, (errmsg("the engine worker of emogi could not start: %s", reply->error.message)));
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

/* Take note of what work on the GPU has left there. */
static void
note_device(const EmogiWork *work)
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
 * Go on with work that has finished, a splice, if a GPU may have copies of the old Graph, and is free: it derives its own of the new
 * one before anybody can ask for that, and while the changes are there. False when there is nothing more to do, or it has to be left
 * undone. Small Graphs are moved when they are published, and their copies would not be found.
 */
static bool
start_deriving(const EmogiWork *work)
{
	EmogiWork  *next;
	int			gpu;

	if (work->kind != EMOGI_WORK_REQUEST || work->derives || work->request.kind != EMOGI_REQUEST_SPLICE ||
		work->reply.status != EMOGI_OK || work->request.derived_id == 0 ||
		work->reply.graph.memory_bytes <= EMOGI_SMALL_BYTES || draining || (gpu = emogi_assign_deriving(work)) == EMOGI_NO_GPU)
		return false;
	next = emogi_threads_idle_job();	/* that of the thread which has just finished, if no other */
	count_running(work, -1);
	*next = *work;
	next->derives = true;
	next->gpu = gpu;
	count_running(next, 1);
	hand(next);
	return true;
}

/* Let the world know what came of it, but for the opening. */
static void
deliver(EmogiWork *work)
{
	free((void *) work->edges.chunks);
	note_device(work);
	if (work->kind == EMOGI_WORK_FORGET)
		emogi_cache_forgotten(work->graph_id, work->gpu);
	if (work->kind == EMOGI_WORK_CONTRACT)
	{
		emogi_cache_contraction_made(work->cached, work->made, work->reply.status == EMOGI_CANCELED);
		free(work->made);
		contracts = false;
	}
	if (work->kind == EMOGI_WORK_REQUEST)
	{
		count_running(work, -1);
		if (work->derived)
			emogi_cache_use_on_gpus(work->request.derived_id, UINT32_C(1) << work->gpu);
		work->slot->reply = work->reply;
		answer_slot(work->slot, EMOGI_SLOT_DONE);
	}
}

/* Take finished work back. */
static void
finish_all(void)
{
	EmogiWork work;
	uint64_t	count;

	(void) !read(emogi_threads_fd(), &count, sizeof count);
	while (emogi_threads_finished(&work))
	{
		emogi_activity_end(&work);
		if (start_deriving(&work))
			continue;
		if (work.kind == EMOGI_WORK_OPEN)
			publish_engines(&work.reply);
		if (work.kind == EMOGI_WORK_REQUEST)
			fail_on_demand(&work.request, EMOGI_REQUEST_KINDS);
		deliver(&work);
		if (work.device_lost)
		{
			ereport(LOG,
					(errmsg("the engine worker of emogi restarts after a GPU error: %s",
							work.reply.reason[0] != '\0' ? work.reply.reason : work.reply.error.message)));
			draining = true;
			drain_end_ms = emogi_pool_now_ms() + EMOGI_DRAIN_MS;
		}
	}
}

/* ---- coming and going ---- */

/* Stop the threads; false when they do not see their cancel flags in time. */
static bool
stop_threads(void)
{
	double		end_ms = emogi_pool_now_ms() + EMOGI_STOP_PATIENCE_MS;
	EmogiWork work;

	emogi_threads_cancel();
	for (;;)
	{
		while (emogi_threads_finished(&work))
			deliver(&work);
		if (emogi_threads_rest())
			return true;
		if (emogi_pool_now_ms() > end_ms)
			return false;
		pg_usleep(2 * 1000);
	}
}

/* Fail what was running in a worker that is gone, or as good as gone. Wake those that are queued, too: they count. */
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
	emogi_cache_worker_gone();
}

/*
 * Runs on every exit but a crash. While a thread goes on, nobody may free what it works on: then the next worker
 * fails the slots, for it does not start before this process has ended.
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

/* Make this worker known. */
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

/* Start the threads, and in one of them open the engines: a driver may take seconds to start. */
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
		ereport(FATAL, (errmsg("the engine worker of emogi could not start a thread: %s", strerror(rc))));
	work = emogi_threads_idle_job();
	work->kind = EMOGI_WORK_OPEN;
	hand(work);
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
	(void) WaitLatchOrSocket(MyLatch, events, emogi_threads_fd(), timeout_ms, emogi_shared_wait_event(EMOGI_WAIT_MAIN));
	ResetLatch(MyLatch);
	CHECK_FOR_INTERRUPTS();
	if (ConfigReloadPending)
	{
		ConfigReloadPending = false;
		ProcessConfigFile(PGC_SIGHUP);
	}
}

/* Is there a reason to end? */
static bool
must_end(void)
{
	return ShutdownRequestPending || (draining && (emogi_threads_rest() || emogi_pool_now_ms() > drain_end_ms));
}

/* Handle SIGTERM: end, for good if it comes from the postmaster. */
static void
handle_sigterm(int signo, siginfo_t *info, void *context)
{
	if (info->si_pid == PostmasterPid)
		server_stops = true;
	SignalHandlerForShutdownRequest(signo);
}

/* Have handle_sigterm called; pqsignal's handlers are not told who sent the signal. */
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

/* Main function of the engine worker. The first one since the Region is there, and so is empty, has it filled. */
void
emogi_worker_main(Datum arg)
{
	catch_sigterm();
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGINT, SIG_IGN);	/* pg_cancel_backend is for the sessions, whose calls these are */
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(InvalidOid, InvalidOid, 0);	/* of no database, for pg_stat_activity */
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
