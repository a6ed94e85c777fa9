/*
 * worker.c: the engine worker, the one process that computes.
 *
 * It has shared memory but no database connection, so that DROP DATABASE and the like never wait for it. Its main
 * thread is PostgreSQL's: it picks requests from the slots in order of their tickets, answers signals, and sleeps.
 * The computing is done by the runner, a thread that knows nothing of PostgreSQL, and by the threads of the CPU
 * engine's pool; all are made with every signal blocked. The runner announces the end of its work on an eventfd.
 *
 * The worker ends with proc_exit(1) only, after which the postmaster starts it again within a second: exit code 0
 * would be final, and a crash would take every session with it. Slots that wait for it are failed on the way out.
 */
#include "emogi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pool.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "utils/memutils.h"

/* Below this many list entries `auto` stays on the CPU: it is done before a GPU has registered the memory. */
#define EMOGI_AUTO_MIN_EDGES UINT64CONST(1048576)

/* How long a stopping worker waits for its runner to see the cancel flag. */
#define EMOGI_STOP_PATIENCE_MS 10000

/* The engines of this process; the runner's. */
typedef struct Engines
{
	EmogiEngineState *cpu;
	const EmogiEngine *cuda;
	EmogiEngineState *cuda_state;	/* NULL = no GPU; cuda_error says why */
	EmogiError	cuda_error;
} Engines;

/* One piece of work for the runner, and what came of it. Belongs to the runner from start_work to the eventfd. */
typedef struct Work
{
	EmogiSlot  *slot;			/* NULL: open the engines */
	EmogiRequest request;
	EmogiReply	reply;
	EmogiEdges	edges;			/* KEYS and CSR */
	bool		device_lost;	/* the process must be replaced */

	/* opening */
	int			ncuda;
	EmogiDeviceEntry cpu_entry;
	EmogiDeviceEntry cuda_entries[EMOGI_MAX_DEVICES];
} Work;

typedef struct Runner
{
	pthread_t	thread;
	pthread_mutex_t mutex;
	pthread_cond_t wake;
	bool		has_work;		/* under mutex */
	int			done_fd;
} Runner;

PGDLLEXPORT void emogi_worker_main(Datum arg);

static Engines engines;
static Runner runner;
static Work work;
static bool busy = false;		/* the main thread's view: the runner has `work` */
static EmogiEngineOptions options;
static char module_path[MAXPGPATH];

/* ---- the runner's thread: no PostgreSQL below this line ---- */

/* Load emogi_cuda.so and open its engine; on failure leave the reason in engines.cuda_error. */
static void
open_cuda(void)
{
	EmogiError *error = &engines.cuda_error;
	EmogiEngineEntry entry;
	void	   *module;

	if (access(module_path, R_OK) != 0)
	{
		snprintf(error->message, sizeof error->message, "emogi was built without CUDA (no emogi_cuda.so is installed)");
		return;
	}
	module = dlopen(module_path, RTLD_NOW | RTLD_LOCAL);
	entry = module != NULL ? (EmogiEngineEntry) dlsym(module, EMOGI_CUDA_ENTRY) : NULL;
	if (entry == NULL)
	{
		snprintf(error->message, sizeof error->message, "emogi_cuda.so could not be loaded");
		snprintf(error->detail, sizeof error->detail, "%s", dlerror());
		return;
	}
	engines.cuda = entry();
	if (engines.cuda->abi != EMOGI_ENGINE_ABI)
	{
		snprintf(error->message, sizeof error->message, "emogi_cuda.so is of another build than emogi.so");
		return;
	}
	if (engines.cuda->open(&options, &engines.cuda_state, error) != EMOGI_OK)
		engines.cuda_state = NULL;
}

/* Fill in the entries of emogi_devices. */
static void
describe_engines(void)
{
	EmogiError *why = &engines.cuda_error;
	int			n = 0;

	snprintf(work.cpu_entry.state, sizeof work.cpu_entry.state, "ready");
	emogi_cpu_engine()->describe(engines.cpu, 0, &work.cpu_entry.device, &work.reply.error);
	if (engines.cuda_state != NULL)
		n = engines.cuda->ndevices(engines.cuda_state);
	work.ncuda = n < EMOGI_MAX_DEVICES ? n : EMOGI_MAX_DEVICES;
	for (int i = 0; i < work.ncuda; i++)
	{
		EmogiDeviceEntry *entry = &work.cuda_entries[i];
		bool		ok = engines.cuda->describe(engines.cuda_state, i, &entry->device, why) == EMOGI_OK;

		snprintf(entry->state, sizeof entry->state, "%s", ok ? "ready" : "failed");
		if (!ok)
			snprintf(entry->reason, sizeof entry->reason, "%s", why->message);
	}
	if (work.ncuda == 0)
	{
		EmogiDeviceEntry *entry = &work.cuda_entries[0];

		snprintf(entry->state, sizeof entry->state, "absent");
		snprintf(entry->reason, sizeof entry->reason, "%s%s%s", why->message, why->detail[0] ? ": " : "", why->detail);
	}
}

/* Open the engines: the CPU's must succeed. */
static void
open_engines(void)
{
	work.reply.status = emogi_cpu_engine()->open(&options, &engines.cpu, &work.reply.error);
	if (work.reply.status != EMOGI_OK)
		return;
	open_cuda();
	describe_engines();
}

/* Run a Query on one engine. */
static void
run_on(const EmogiEngine *engine, EmogiEngineState *state)
{
	EmogiRequest *request = &work.request;
	EmogiReply *reply = &work.reply;

	memset(&reply->error, 0, sizeof reply->error);
	reply->result = request->result;
	reply->status = engine->run(state, &request->graph, &request->query, &reply->result,
								&work.slot->control, &reply->error);
	snprintf(reply->engine, sizeof reply->engine, "%s", engine->name);
	if (reply->status == EMOGI_DEVICE_ERROR)
		work.device_lost = true;
}

/* Run a Query where the caller wants it; `auto` falls back to the CPU on any trouble with the GPU. */
static void
run_query(void)
{
	EmogiRequest *request = &work.request;
	bool		large = request->graph.forward.nedges >= EMOGI_AUTO_MIN_EDGES;

	if (request->engine == EMOGI_ENGINE_CUDA && engines.cuda_state == NULL)
	{
		work.reply.status = EMOGI_DEVICE_ERROR;
		work.reply.no_device = true;
		work.reply.error = engines.cuda_error;
		return;
	}
	if (request->engine == EMOGI_ENGINE_CUDA ||
		(request->engine == EMOGI_ENGINE_AUTO && engines.cuda_state != NULL && large))
	{
		run_on(engines.cuda, engines.cuda_state);
		if (request->engine == EMOGI_ENGINE_CUDA || work.reply.status == EMOGI_OK ||
			work.reply.status == EMOGI_CANCELED)
			return;
	}
	run_on(emogi_cpu_engine(), engines.cpu);
}

/* Do the work at hand. */
static void
do_work(void)
{
	EmogiRequest *request = &work.request;
	EmogiReply *reply = &work.reply;
	EmogiPool  *pool;

	if (work.slot == NULL)
	{
		open_engines();
		return;
	}
	pool = emogi_cpu_engine_pool(engines.cpu);
	switch (request->kind)
	{
		case EMOGI_REQUEST_KEYS:
			reply->status = emogi_keys_build(pool, &work.edges, &request->plan, request->scratch, &reply->keys,
											 &work.slot->control, &reply->error);
			break;
		case EMOGI_REQUEST_CSR:
			reply->status = emogi_csr_build(pool, &work.edges, &request->keys, request->direction,
											request->with_backward, request->memory, request->scratch, &reply->graph,
											&work.slot->control, &reply->error);
			break;
		case EMOGI_REQUEST_EXPAND:
			reply->status = emogi_csr_expand(pool, &request->graph, request->direction == EMOGI_IN, &work.edges,
											 &work.slot->control, &reply->error);
			break;
		case EMOGI_REQUEST_RUN:
			run_query();
			break;
		case EMOGI_REQUEST_KINDS:
			break;
	}
}

static void *
runner_main(void *arg)
{
	for (;;)
	{
		uint64_t	one = 1;

		pthread_mutex_lock(&runner.mutex);
		while (!runner.has_work)
			pthread_cond_wait(&runner.wake, &runner.mutex);
		runner.has_work = false;
		pthread_mutex_unlock(&runner.mutex);
		do_work();
		while (write(runner.done_fd, &one, sizeof one) != sizeof one)
			;
	}
	return NULL;
}

/* ---- the main thread: PostgreSQL's ---- */

/* Start the runner, with all signals blocked in it. */
static void
start_runner(void)
{
	sigset_t	all;
	sigset_t	before;
	int			rc;

	runner.done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (runner.done_fd < 0)
		ereport(FATAL, (errmsg("could not create an eventfd: %m")));
	pthread_mutex_init(&runner.mutex, NULL);
	pthread_cond_init(&runner.wake, NULL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&runner.thread, NULL, runner_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		ereport(FATAL, (errmsg("could not start a thread: %s", strerror(rc))));
}

/* Hand `work` to the runner. */
static void
start_work(void)
{
	busy = true;
	pthread_mutex_lock(&runner.mutex);
	runner.has_work = true;
	pthread_cond_signal(&runner.wake);
	pthread_mutex_unlock(&runner.mutex);
}

/* Pick the QUEUED slot with the lowest ticket and make it RUNNING; NULL when none waits. */
static EmogiSlot *
pick_slot(void)
{
	EmogiSlot  *first = NULL;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		EmogiSlot  *slot = &emogi_shared->slots[i];

		if (slot->state == EMOGI_SLOT_QUEUED && (first == NULL || slot->ticket < first->ticket))
			first = slot;
	}
	if (first != NULL)
		first->state = EMOGI_SLOT_RUNNING;
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

/* Start on the next request, if any waits. */
static void
start_next(void)
{
	EmogiSlot  *slot = pick_slot();

	if (slot == NULL)
		return;
	memset(&work, 0, sizeof work);
	work.slot = slot;
	work.request = slot->request;
	if (work.request.kind != EMOGI_REQUEST_RUN && !emogi_slot_edges(slot, &work.edges, malloc))
	{
		slot->reply.status = EMOGI_NO_MEMORY;
		strlcpy(slot->reply.error.message, "out of memory", sizeof slot->reply.error.message);
		answer_slot(slot, EMOGI_SLOT_DONE);
		return;
	}
	start_work();
}

/* Publish the engines, once they are open. */
static void
publish_engines(void)
{
	if (work.reply.status != EMOGI_OK)
		ereport(FATAL, (errmsg("the engine worker of emogi could not start: %s", work.reply.error.message)));
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->cpu = work.cpu_entry;
	emogi_shared->ncuda = work.ncuda;
	memcpy(emogi_shared->cuda, work.cuda_entries, sizeof work.cuda_entries);
	emogi_shared->worker_ready = true;
	LWLockRelease(emogi_shared->lock);
	ConditionVariableBroadcast(&emogi_shared->worker_changed);
}

/* Take the runner's work back, if it has finished. */
static void
finish_work(void)
{
	uint64_t	count;

	if (read(runner.done_fd, &count, sizeof count) != sizeof count)
		return;
	busy = false;
	free((void *) work.edges.chunks);
	work.edges.chunks = NULL;
	if (work.slot == NULL)
	{
		publish_engines();
		return;
	}
	work.slot->reply = work.reply;
	answer_slot(work.slot, EMOGI_SLOT_DONE);
	if (work.device_lost)
	{
		ereport(LOG,
				(errmsg("the engine worker of emogi restarts after a GPU error: %s", work.reply.error.message)));
		proc_exit(1);
	}
}

/* Wait for the runner to stop, after its cancel flag was set. */
static void
stop_work(void)
{
	if (busy && work.slot != NULL)
		work.slot->control.cancel = 1;
	for (int waited = 0; busy && waited < EMOGI_STOP_PATIENCE_MS; waited += 10)
	{
		uint64_t	count;

		if (read(runner.done_fd, &count, sizeof count) == sizeof count)
			busy = false;
		else
			pg_usleep(10 * 1000);
	}
}

/* Fail every slot that waits for this worker; runs on every exit but a crash. */
static void
leave_shared(int code, Datum arg)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->worker_latch = NULL;
	emogi_shared->worker_pid = 0;
	emogi_shared->worker_ready = false;
	LWLockRelease(emogi_shared->lock);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		EmogiSlot  *slot = &emogi_shared->slots[i];
		EmogiSlotState state;

		LWLockAcquire(emogi_shared->lock, LW_SHARED);
		state = slot->state;
		LWLockRelease(emogi_shared->lock);
		if (state == EMOGI_SLOT_QUEUED || state == EMOGI_SLOT_RUNNING || state == EMOGI_SLOT_ORPHAN)
			answer_slot(slot, EMOGI_SLOT_FAILED);
	}
	ConditionVariableBroadcast(&emogi_shared->worker_changed);
}

/* Make this worker known. */
static void
enter_shared(void)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->worker_latch = MyLatch;
	emogi_shared->worker_pid = MyProcPid;
	emogi_shared->worker_epoch++;
	LWLockRelease(emogi_shared->lock);
	before_shmem_exit(leave_shared, 0);
	ConditionVariableBroadcast(&emogi_shared->worker_changed);
}

/* Open the engines, in the runner: a driver may take seconds to start. */
static void
start_opening(void)
{
	options.cpu_threads = emogi_cpu_threads;
	options.device_memory_bytes = (uint64) emogi_device_memory_mb * 1024 * 1024;
	snprintf(module_path, sizeof module_path, "%s/emogi_cuda.so", pkglib_path);
	memset(&work, 0, sizeof work);
	start_work();
}

/* Main function of the engine worker. */
void
emogi_worker_main(Datum arg)
{
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();

	start_runner();
	enter_shared();
	start_opening();
	while (!ShutdownRequestPending)
	{
		int			events = WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | WL_SOCKET_READABLE;

		(void) WaitLatchOrSocket(MyLatch, events, runner.done_fd, -1, emogi_wait_engine());
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
		if (busy)
			finish_work();
		if (!busy)
			start_next();
	}
	stop_work();
	proc_exit(1);
}

/* Register the engine worker; called once, in the postmaster. */
void
emogi_worker_register(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof worker);
	strlcpy(worker.bgw_name, "emogi engine", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "emogi engine", BGW_MAXLEN);
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_ConsistentState;
	worker.bgw_restart_time = 1;
	strlcpy(worker.bgw_library_name, "emogi", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "emogi_worker_main", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}
