/*
 * threads.c: the threads of the engine worker that compute.
 *
 * No PostgreSQL runs in these threads: emogi.h is here for its structs alone. Each runner has a CPU engine of its own,
 * whose threads come to life with the first work that needs them, so that an idle runner costs nothing; the operating
 * system shares the processors among the busy ones. The CUDA engine is one for all and used by one runner at a time.
 */
#include "threads.h"

#include "cpu/cpu.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Below this many list entries `auto` stays on the CPU: it is done before a GPU has registered the memory. */
#define EMOGI_AUTO_MIN_EDGES 1048576

typedef enum RunnerState
{
	RUNNER_IDLE = 0,			/* its work is the main thread's */
	RUNNER_BUSY,				/* its work is the runner's */
	RUNNER_FINISHED				/* its work is the main thread's again */
} RunnerState;

typedef struct Runner
{
	pthread_cond_t wake;
	RunnerState state;			/* under `mutex` */
	EmogiWork	work;
	EmogiEngineState *cpu;		/* the runner's; NULL = not opened yet */
} Runner;

static Runner runners[EMOGI_RUNNERS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool gpu_taken = false;	/* under mutex */
static int	wake_fd;			/* an eventfd */

/* Set before the threads start. */
static EmogiEngineOptions options;
static char module_path[MAXPGPATH];

/* Set by the work that opens. */
static EmogiOpened opened;
static const EmogiEngine *cuda;
static EmogiEngineState *cuda_state;

/* ---- in a runner's thread: opening ---- */

/* Start the runner's CPU engine, unless it stands. */
static EmogiStatus
open_cpu(Runner *runner, EmogiError *error)
{
	if (runner->cpu != NULL)
		return EMOGI_OK;
	return emogi_cpu_engine()->open(&options, &runner->cpu, error);
}

/* Load emogi_cuda.so and open its engine; on failure leave the reason in opened.why_no_gpu. */
static void
open_cuda(void)
{
	EmogiError *error = &opened.why_no_gpu;
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
	cuda = entry();
	if (cuda->abi != EMOGI_ENGINE_ABI)
	{
		snprintf(error->message, sizeof error->message, "emogi_cuda.so is of another build than emogi.so");
		return;
	}
	if (cuda->open(&options, &cuda_state, error) != EMOGI_OK)
		cuda_state = NULL;
	opened.has_gpu = cuda_state != NULL;
}

/* Fill in the entries of emogi_devices. */
static void
describe_engines(const Runner *runner)
{
	EmogiError *why = &opened.why_no_gpu;
	EmogiError	error;
	int			n = 0;

	snprintf(opened.cpu.state, sizeof opened.cpu.state, "ready");
	emogi_cpu_engine()->describe(runner->cpu, 0, &opened.cpu.device, &error);
	if (opened.has_gpu)
		n = cuda->ndevices(cuda_state);
	opened.ncuda = n < EMOGI_MAX_DEVICES ? n : EMOGI_MAX_DEVICES;
	for (int i = 0; i < opened.ncuda; i++)
	{
		EmogiDeviceEntry *entry = &opened.cuda[i];
		bool		ok = cuda->describe(cuda_state, i, &entry->device, &error) == EMOGI_OK;

		snprintf(entry->state, sizeof entry->state, "%s", ok ? "ready" : "failed");
		if (!ok)
			snprintf(entry->reason, sizeof entry->reason, "%s", error.message);
	}
	if (opened.ncuda == 0)
	{
		EmogiDeviceEntry *entry = &opened.cuda[0];

		snprintf(entry->state, sizeof entry->state, "absent");
		snprintf(entry->reason, sizeof entry->reason, "%s%s%s", why->message, why->detail[0] ? ": " : "", why->detail);
	}
}

/* Open the engines: the CPU's must succeed. */
static void
open_engines(Runner *runner)
{
	EmogiReply *reply = &runner->work.reply;

	reply->status = open_cpu(runner, &reply->error);
	if (reply->status != EMOGI_OK)
		return;
	open_cuda();
	describe_engines(runner);
}

/* ---- in a runner's thread: requests ---- */

/* Have the main thread look at the runners. */
static void
wake_main(void)
{
	uint64_t	one = 1;

	while (write(wake_fd, &one, sizeof one) != sizeof one)
		;
}

/* Let other runners have the GPU. */
static void
leave_gpu(void)
{
	pthread_mutex_lock(&mutex);
	gpu_taken = false;
	pthread_mutex_unlock(&mutex);
	wake_main();
}

/* Run a Query on one engine. */
static void
run_on(EmogiWork *work, const EmogiEngine *engine, EmogiEngineState *state)
{
	EmogiRequest *request = &work->request;
	EmogiReply *reply = &work->reply;

	memset(&reply->error, 0, sizeof reply->error);
	reply->result = request->result;
	reply->status = engine->run(state, &request->graph, &request->query, &reply->result,
								&work->slot->control, &reply->error);
	snprintf(reply->engine, sizeof reply->engine, "%s", engine->name);
}

/* Run a Query on the GPU; a GPU that has failed is never left to others. */
static void
run_on_gpu(EmogiWork *work)
{
	run_on(work, cuda, cuda_state);
	work->device_lost = work->reply.status == EMOGI_DEVICE_ERROR;
	if (work->device_lost)
		return;
	work->device_used_bytes = cuda->forget(cuda_state, 0);	/* no Graph has this id: only asks */
	leave_gpu();
}

/* Say why `auto` goes on with the CPU after the GPU has given up. */
static void
explain_fallback(EmogiReply *reply)
{
	const char *what = "the GPU refused";

	if (reply->status == EMOGI_DEVICE_ERROR)
		what = "the GPU failed";
	else if (reply->status == EMOGI_NO_MEMORY)
		what = "the graph does not fit";
	snprintf(reply->reason, sizeof reply->reason, "%s: %.200s", what, reply->error.message);
}

/* Say why `auto` begins with the CPU. */
static void
explain_cpu(EmogiReply *reply)
{
	if (!opened.has_gpu)
		snprintf(reply->reason, sizeof reply->reason, "there is no GPU: %.200s", opened.why_no_gpu.message);
	else
		snprintf(reply->reason, sizeof reply->reason, "the graph has fewer than %d edges", EMOGI_AUTO_MIN_EDGES);
}

/* Run a Query where the caller wants it; `auto` falls back to the CPU on any trouble with the GPU. */
static void
run_query(Runner *runner)
{
	EmogiWork  *work = &runner->work;
	EmogiReply *reply = &work->reply;
	EmogiEngineChoice choice = work->request.engine;

	if (choice == EMOGI_ENGINE_CUDA && !opened.has_gpu)
	{
		reply->status = EMOGI_DEVICE_ERROR;
		reply->no_device = true;
		reply->error = opened.why_no_gpu;
		return;
	}
	if (work->on_gpu)
	{
		run_on_gpu(work);
		if (choice == EMOGI_ENGINE_CUDA || reply->status == EMOGI_OK || reply->status == EMOGI_CANCELED)
			return;
		explain_fallback(reply);
	}
	else if (choice == EMOGI_ENGINE_AUTO)
		explain_cpu(reply);
	reply->status = open_cpu(runner, &reply->error);
	if (reply->status == EMOGI_OK)
		run_on(work, emogi_cpu_engine(), runner->cpu);
}

/* Search from many sources at once. */
static EmogiStatus
run_batch(EmogiWork *work, EmogiPool *pool)
{
	const EmogiQuery *query = &work->request.query;
	EmogiReply *reply = &work->reply;
	EmogiStatus status;

	reply->batch = work->request.batch;
	status = emogi_msbfs_run(pool, &work->request.graph, query->sources, (int) query->nsources, query->max_depth,
							 &reply->batch, &work->slot->control, &reply->error);
	if (status != EMOGI_OK)
		return status;
	for (int i = 0; i < reply->batch.nsources && !reply->batch.too_deep; i++)
		reply->result.nreached += reply->batch.nreached[i];
	reply->result.nlevels = reply->batch.nlevels;
	reply->result.edges_traversed = reply->batch.edges_traversed;
	reply->result.run_ms = reply->batch.run_ms;
	return EMOGI_OK;
}

/* Search for one path, and bring it to where the caller wants it. */
static EmogiStatus
run_path(EmogiWork *work)
{
	const EmogiRequest *request = &work->request;
	EmogiReply *reply = &work->reply;
	double		start = emogi_now_ms();
	EmogiPathAnswer answer;
	EmogiStatus status;

	status = emogi_path_search(&request->graph, request->query.sources[0], request->query.targets[0],
							   request->max_edges, &answer, &work->slot->control, &reply->error);
	if (status != EMOGI_OK)
		return status;
	reply->path_outcome = answer.outcome;
	if (reply->path_outcome == EMOGI_PATH_FOUND)
	{
		reply->path_length = answer.length;
		memcpy(request->path, answer.vertices, answer.length * sizeof *request->path);
		memcpy(request->path_distance, answer.distance, answer.length * sizeof *request->path_distance);
	}
	reply->result.nreached = answer.length;
	reply->result.edges_traversed = answer.edges_traversed;
	reply->result.run_ms = emogi_now_ms() - start;
	emogi_path_search_free(&answer);
	return EMOGI_OK;
}

/* Make a Graph of the edges and the numbers of their keys. */
static EmogiStatus
build_lists(EmogiWork *work, EmogiPool *pool)
{
	const EmogiRequest *request = &work->request;
	const EmogiCsrInput input = {.edges = &work->edges, .keys = &request->keys, .direction = request->direction,
		.with_backward = request->with_backward, .memory = request->memory, .scratch = request->scratch};

	return emogi_csr_build(pool, &input, &work->reply.graph, &work->slot->control, &work->reply.error);
}

/* Carry out a request that makes a Graph or takes it apart. */
static EmogiStatus
build(Runner *runner)
{
	EmogiWork  *work = &runner->work;
	EmogiRequest *request = &work->request;
	EmogiControl *control = &work->slot->control;
	EmogiReply *reply = &work->reply;
	EmogiStatus status = open_cpu(runner, &reply->error);
	EmogiPool  *pool;

	if (status != EMOGI_OK)
		return status;
	pool = emogi_cpu_engine_pool(runner->cpu);
	if (request->kind == EMOGI_REQUEST_KEYS)
		return emogi_keys_build(pool, &work->edges, &request->plan, request->scratch, &reply->keys, control,
								&reply->error);
	if (request->kind == EMOGI_REQUEST_CSR)
		return build_lists(work, pool);
	return emogi_csr_expand(pool, &request->graph, request->direction == EMOGI_IN, &work->edges, control,
							&reply->error);
}

/* Carry out a request that is the CPU's whatever the caller has chosen. */
static EmogiStatus
run_on_cpu(Runner *runner)
{
	EmogiReply *reply = &runner->work.reply;
	EmogiStatus status = open_cpu(runner, &reply->error);

	snprintf(reply->engine, sizeof reply->engine, "cpu");
	if (status != EMOGI_OK)
		return status;
	if (runner->work.request.kind == EMOGI_REQUEST_PATH)
		return run_path(&runner->work);
	return run_batch(&runner->work, emogi_cpu_engine_pool(runner->cpu));
}

/* Do the work at hand. */
static void
do_work(Runner *runner)
{
	EmogiWork  *work = &runner->work;
	double		start = emogi_now_ms();

	switch (work->kind)
	{
		case EMOGI_WORK_OPEN:
			open_engines(runner);
			break;
		case EMOGI_WORK_FORGET:
			work->device_used_bytes = cuda->forget(cuda_state, work->graph_id);
			leave_gpu();
			break;
		case EMOGI_WORK_REQUEST:
			if (work->request.kind == EMOGI_REQUEST_RUN)
				run_query(runner);
			else if (work->request.kind > EMOGI_REQUEST_RUN)
				work->reply.status = run_on_cpu(runner);
			else
				work->reply.status = build(runner);
			break;
	}
	work->reply.busy_ms = emogi_now_ms() - start;
}

/* Do one piece of work after another: the life of a runner. */
static void *
runner_main(void *arg)
{
	Runner	   *runner = arg;

	for (;;)
	{
		pthread_mutex_lock(&mutex);
		while (runner->state != RUNNER_BUSY)
			pthread_cond_wait(&runner->wake, &mutex);
		pthread_mutex_unlock(&mutex);
		do_work(runner);
		pthread_mutex_lock(&mutex);
		runner->state = RUNNER_FINISHED;
		pthread_mutex_unlock(&mutex);
		wake_main();
	}
	return NULL;
}

bool
emogi_request_uses_gpu(const EmogiRequest *request)
{
	if (request->kind != EMOGI_REQUEST_RUN || !opened.has_gpu)
		return false;
	return request->engine == EMOGI_ENGINE_CUDA ||
		(request->engine == EMOGI_ENGINE_AUTO && request->graph.forward.nedges >= EMOGI_AUTO_MIN_EDGES);
}

/* ---- in the main thread ---- */

const EmogiOpened *
emogi_opened(void)
{
	return &opened;
}

int
emogi_runners_start(const EmogiEngineOptions *engine_options, const char *module)
{
	sigset_t	all;
	sigset_t	before;
	pthread_t	thread;
	int			rc = 0;

	options = *engine_options;
	snprintf(module_path, sizeof module_path, "%s", module);
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < EMOGI_RUNNERS && rc == 0; i++)
	{
		pthread_cond_init(&runners[i].wake, NULL);
		rc = pthread_create(&thread, NULL, runner_main, &runners[i]);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int
emogi_runners_fd(void)
{
	return wake_fd;
}

bool
emogi_gpu_is_free(void)
{
	bool		taken;

	if (!opened.has_gpu)
		return false;
	pthread_mutex_lock(&mutex);
	taken = gpu_taken;
	pthread_mutex_unlock(&mutex);
	return !taken;
}

/* Find a runner in a state, the first one first: it is the likeliest to have its CPU engine open. */
static Runner *
find_runner(RunnerState state)
{
	Runner	   *found = NULL;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < EMOGI_RUNNERS && found == NULL; i++)
		if (runners[i].state == state)
			found = &runners[i];
	pthread_mutex_unlock(&mutex);
	return found;
}

EmogiWork *
emogi_runner_idle(void)
{
	Runner	   *runner = find_runner(RUNNER_IDLE);

	if (runner == NULL)
		return NULL;
	memset(&runner->work, 0, sizeof runner->work);
	return &runner->work;
}

void
emogi_runner_start(EmogiWork *work)
{
	Runner	   *runner = (Runner *) ((char *) work - offsetof(Runner, work));

	pthread_mutex_lock(&mutex);
	runner->state = RUNNER_BUSY;
	if (work->on_gpu)
		gpu_taken = true;
	pthread_cond_signal(&runner->wake);
	pthread_mutex_unlock(&mutex);
}

bool
emogi_runner_finished(EmogiWork *work)
{
	Runner	   *runner = find_runner(RUNNER_FINISHED);

	if (runner == NULL)
		return false;
	*work = runner->work;
	pthread_mutex_lock(&mutex);
	runner->state = RUNNER_IDLE;
	pthread_mutex_unlock(&mutex);
	return true;
}

bool
emogi_runners_rest(void)
{
	return find_runner(RUNNER_BUSY) == NULL && find_runner(RUNNER_FINISHED) == NULL;
}

void
emogi_runners_cancel(void)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < EMOGI_RUNNERS; i++)
		if (runners[i].state == RUNNER_BUSY && runners[i].work.kind == EMOGI_WORK_REQUEST)
			runners[i].work.slot->control.cancel = 1;
	pthread_mutex_unlock(&mutex);
}
