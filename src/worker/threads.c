/*
 * threads.c: the compute threads of the engine worker.
 *
 * No PostgreSQL function is called in these threads; its headers are only included for structs.
 * Each thread has its own CPU engine, whose pool is created by the first work that needs it, so an
 * idle thread costs nothing. The operating system shares the processors among the busy threads. The
 * CUDA engines, one for each GPU (gpus.c), are shared, and each is used by one thread at a time.
 */
#include "postgres.h"

#include "contract/builder.h"
#include "contract/query.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "answer/answer.h"
#include "answer/cost.h"
#include "worker/gpus.h"
#include "cache/cache.h"
#include "base/arena.h"
#include "worker/threads.h"

typedef enum ThreadState
{
	THREAD_IDLE = 0,			/* its work belongs to the main thread */
	THREAD_BUSY,				/* its work belongs to the thread */
	THREAD_FINISHED				/* its work belongs to the main thread again */
} ThreadState;

typedef struct Thread
{
	pthread_cond_t wake;
	ThreadState state;			/* under `mutex` */
	EmogiWork work;
	EmogiEngineState *cpu;		/* the thread's own engine; NULL = not opened yet */
} Thread;

static Thread threads[EMOGI_WORKER_THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int	wake_fd;			/* an eventfd */

/* Set before the threads start. */
static EmogiEngineOptions options;
static char module_path[MAXPGPATH];
static uint32 wanted_gpus;

/* Set by EMOGI_WORK_OPEN. */
static EmogiOpenedEngines opened;

/* ---- compute threads: opening the engines ---- */

/* Open the thread's CPU engine, unless it is open. */
static EmogiStatus
open_cpu(Thread *thread, EmogiError *error)
{
	if (thread->cpu != NULL)
		return EMOGI_OK;
	return emogi_cpu_engine()->open(&options, &thread->cpu, error);
}

/* Fill in the processor's row of emogi_devices. */
static void
describe_processor(const Thread *thread)
{
	EmogiError	error;

	snprintf(opened.cpu.state, sizeof opened.cpu.state, "ready");
	emogi_cpu_engine()->describe(thread->cpu, &opened.cpu.device, &error);
}

/* Open the engines; the CPU engine must succeed. */
static void
open_engines(Thread *thread)
{
	EmogiReply *reply = &thread->work.reply;

	reply->status = open_cpu(thread, &reply->error);
	if (reply->status != EMOGI_OK)
		return;
	describe_processor(thread);
	emogi_gpus_open(&options, module_path, wanted_gpus, &opened);
}

/* ---- compute threads: requests ---- */

/* Wake the main thread. */
static void
wake_main(void)
{
	uint64_t	one = 1;

	while (write(wake_fd, &one, sizeof one) != sizeof one)
		;
}

/* Release the GPUs of some work, and record the memory that they use. */
static void
release_gpus(EmogiWork *work)
{
	/* no graph has id 0, so this only gets the memory in use */
	const uint64 forgotten = work->kind == EMOGI_WORK_FORGET ? work->graph_id : 0;
	uint32		left = work->helpers | UINT32_C(1) << work->gpu;

	for (int gpu = 0; left >> gpu != 0; gpu++)
	{
		if ((left >> gpu & 1) == 0)
			continue;
		work->used_bytes[gpu] = emogi_gpus_engine()->forget(emogi_gpus_state(gpu), forgotten);
		emogi_gpus_release(gpu);
	}
	wake_main();
}

/* Let the helpers of some work participate in the run of its GPU. */
static void
gather_helpers(const EmogiWork *work)
{
	EmogiEngineState *helpers[EMOGI_MAX_DEVICES];
	int			count = 0;

	for (int gpu = 0; work->helpers >> gpu != 0; gpu++)
		if (work->helpers >> gpu & 1)
			helpers[count++] = emogi_gpus_state(gpu);
	if (count > 0)
		emogi_gpus_engine()->help(emogi_gpus_state(work->gpu), helpers, count);
}

/* Find the sources of a chained run in its graph, which has just been built. */
static void
find_sources(EmogiWork *work)
{
	EmogiRequest *request = &work->request;
	const EmogiChainedSources *sources = &request->sources;
	const EmogiDictionary *dictionary = sources->dictionary != NULL ? sources->dictionary :
		work->reply.dictionary;
	EmogiQuery *query = &request->query;

	query->sources = sources->numbers;
	query->nsources = 0;
	for (uint64 i = 0; i < sources->count; i++)
	{
		const int64 id = sources->ids != NULL ? sources->ids[i] :
			emogi_dictionary_find(dictionary, sources->keys[i]);
		const uint32 number = emogi_graph_vertex(&request->graph, id);

		if (number != EMOGI_NO_VERTEX)
			sources->numbers[query->nsources++] = number;
	}
}

/* Run a query on one engine. */
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

/* Run a query on the GPU. If this GPU or a helper fails, the GPUs are never released. */
static void
run_on_gpu(EmogiWork *work)
{
	gather_helpers(work);
	run_on(work, emogi_gpus_engine(), emogi_gpus_state(work->gpu));
	work->reply.device = opened.cuda[work->gpu].device.number;
	work->device_lost = work->reply.status == EMOGI_DEVICE_ERROR || work->reply.result.helper_lost;
	if (work->reply.status == EMOGI_OK && work->reply.result.left_out[0] != '\0')
		snprintf(work->reply.reason, sizeof work->reply.reason, "left out: %s",
				 work->reply.result.left_out);
	if (!work->device_lost)
		release_gpus(work);
}

/* Set the reason why a run continues on the CPU after the GPU has failed. */
static void
explain_fallback(EmogiReply *reply)
{
	const char *what = "";

	switch (reply->status)
	{
		case EMOGI_OK:
		case EMOGI_CANCELED:
		case EMOGI_UNSUPPORTED:
			break;
		case EMOGI_DEVICE_ERROR:
			what = "the GPU failed: ";
			break;
		case EMOGI_NO_MEMORY:
			what = "the graph does not fit: ";
			break;
		case EMOGI_BAD_INPUT:
			what = "the GPU refused: ";
			break;
	}
	snprintf(reply->reason, sizeof reply->reason, "%s%.200s", what, reply->error.message);
}

/* Choose the engine of a query; why: the reason if it is the CPU, [EMOGI_WHY_BYTES]. */
static EmogiAnswererId
choose_engine(const EmogiRequest *request, char *why)
{
	const EmogiQuestion question = {
		.algorithm = request->query.algorithm,
		.engine = request->engine,
		.mapping = request->query.papers.mapping,
		.nthreads = options.cpu_threads,
		.is_small = emogi_query_is_small(&request->query),
		.has_graph = true,
		.nvertices = request->graph.nvertices,
		.nedges = request->graph.forward.nedges,
		.nreached = -1,
		.request_us = EMOGI_COST_REQUEST_US,
		.ngpus = opened.ncuda,
		.why_no_gpu = opened.why_no_gpu.message,
		.gave_up = EMOGI_ANSWERERS_IN_BACKEND
	};

	return emogi_answer_choose(&question, why);
}

/*
 * Run a query on the engine that the caller chose. `auto` falls back to the CPU after any failure
 * of the GPU. An algorithm that no GPU supports runs on the CPU, whatever the caller chose. If a
 * graph has no result for the query, there is no fallback.
 */
static void
run_query(Thread *thread)
{
	EmogiWork *work = &thread->work;
	EmogiReply *reply = &work->reply;
	EmogiEngineChoice choice = work->request.engine;

	if (choice == EMOGI_ENGINE_CUDA && opened.ncuda == 0)
	{
		reply->status = EMOGI_DEVICE_ERROR;
		reply->no_device = true;
		reply->error = opened.why_no_gpu;
		return;
	}
	if (work->gpu >= 0)
	{
		run_on_gpu(work);
		if (reply->status == EMOGI_OK || reply->status == EMOGI_CANCELED ||
			reply->result.refusal.kind != EMOGI_NOT_REFUSED ||
			(choice == EMOGI_ENGINE_CUDA && reply->status != EMOGI_UNSUPPORTED))
			return;
		explain_fallback(reply);
		reply->device = -1;
	}
	else
		(void) choose_engine(&work->request, reply->reason);
	reply->status = open_cpu(thread, &reply->error);
	if (reply->status == EMOGI_OK)
		run_on(work, emogi_cpu_engine(), thread->cpu);
}

/* Run a multi-source BFS. */
static EmogiStatus
run_batch(EmogiWork *work, EmogiEngineState *cpu)
{
	EmogiReply *reply = &work->reply;
	EmogiStatus status;

	reply->batch = work->request.batch;
	status = emogi_cpu_engine()->msbfs(cpu, &work->request.graph, &work->request.query,
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

/* Search for one path, and copy it to the caller's memory. */
static EmogiStatus
run_path(EmogiWork *work, EmogiEngineState *cpu)
{
	const EmogiRequest *request = &work->request;
	EmogiReply *reply = &work->reply;
	double		start = emogi_pool_now_ms();
	EmogiPathAnswer answer;
	EmogiStatus status;

	status = emogi_cpu_engine()->path(cpu, &request->graph, &request->query, request->max_edges,
									  request->max_vertices, &answer, &work->slot->control,
									  &reply->error);
	if (status != EMOGI_OK)
		return status;
	reply->path_outcome = answer.outcome;
	reply->path_settled = answer.vertices_settled;
	if (reply->path_outcome == EMOGI_PATH_FOUND)
	{
		reply->path_length = answer.length;
		memcpy(request->path, answer.vertices, answer.length * sizeof *request->path);
		memcpy(request->path_distance, answer.distance,
			   answer.length * sizeof *request->path_distance);
	}
	reply->result.nreached = answer.length;
	reply->result.edges_traversed = answer.edges_traversed;
	reply->result.run_ms = emogi_pool_now_ms() - start;
	emogi_path_search_free(&answer);
	return EMOGI_OK;
}

/* Build a graph from the edges and the numbers of their keys. */
static EmogiStatus
build_lists(EmogiWork *work, EmogiEngineState *cpu)
{
	const EmogiRequest *request = &work->request;
	const EmogiCsrInput input = {.edges = &work->edges, .keys = &request->keys,
		.direction = request->direction,
		.with_backward = request->with_backward, .memory = request->memory,
		.scratch = request->scratch};

	return emogi_cpu_builder()->csr(cpu, &input, &work->reply.graph, &work->slot->control,
									&work->reply.error);
}

/* Merge changes into a graph. */
static EmogiStatus
merge_graph(EmogiWork *work, EmogiEngineState *cpu)
{
	EmogiMergeInput input = work->request.merge;

	input.graph = &work->request.graph;
	input.derivation = work->request.derived_id != 0 ? &work->derivation : NULL;
	return emogi_cpu_builder()->merge(cpu, &input, &work->reply.graph, &work->slot->control,
									  &work->reply.error);
}

/*
 * Let the GPU derive its copies of a merged graph from those of the old graph. The graph exists
 * whatever the outcome; only a GPU that has failed is never released.
 */
static void
derive_copies(EmogiWork *work)
{
	EmogiGraph	graph = work->reply.graph;
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	graph.id = work->request.derived_id;
	status = emogi_gpus_engine()->derive(emogi_gpus_state(work->gpu), &work->request.graph, &graph,
										 &work->derivation, &work->slot->control, &error);
	work->derived = status == EMOGI_OK;
	work->device_lost = status == EMOGI_DEVICE_ERROR;
	if (work->device_lost)
		work->reply.error = error;	/* for the log; the request has succeeded */
	else
		release_gpus(work);
}

/* Build a dictionary, and turn edge endpoints into codes. */
static EmogiStatus
make_dictionary(EmogiWork *work, EmogiEngineState *cpu)
{
	EmogiDictionaryInput input = work->request.dictionary;

	input.edges = &work->edges;
	return emogi_cpu_builder()->dictionary(cpu, &input, &work->reply.dictionary,
										   &work->slot->control, &work->reply.error);
}

/* Update the range of the ends of edges, which have become codes. */
static void
update_range(EmogiEdges *edges)
{
	edges->min_key = PG_INT64_MAX;
	edges->max_key = PG_INT64_MIN;
	for (uint64 i = 0; i < edges->nchunks; i++)
	{
		if (edges->chunks[i]->nedges == 0)
			continue;
		edges->min_key = Min(edges->min_key, edges->chunks[i]->min_key);
		edges->max_key = Max(edges->max_key, edges->chunks[i]->max_key);
	}
}

/* Pack the edges into a COO. */
static EmogiStatus
pack_edges(EmogiWork *work, EmogiEngineState *cpu)
{
	work->reply.coo = work->request.coo;
	if (work->request.makes_dictionary)
		work->reply.coo.dictionary = work->reply.dictionary;
	return emogi_cpu_builder()->pack(cpu, &work->edges, &work->reply.coo, &work->reply.misfits,
									 &work->slot->control, &work->reply.error);
}

/* Process the first part of a build: up to the vertices. */
static EmogiStatus
build_keys(EmogiWork *work, EmogiEngineState *cpu)
{
	EmogiRequest *request = &work->request;
	EmogiReply *reply = &work->reply;
	EmogiStatus status = EMOGI_OK;

	if (request->makes_dictionary)
	{
		status = make_dictionary(work, cpu);
		if (status != EMOGI_OK)
			return status;
		update_range(&work->edges);
		emogi_key_numbers_plan_spaced(emogi_dictionary_nkeys(reply->dictionary),
									  emogi_dictionary_shift(reply->dictionary), &request->plan);
	}
	if (request->packs)
		status = pack_edges(work, cpu);
	if (status == EMOGI_OK)
		status = emogi_cpu_builder()->keys(cpu, &work->edges, &request->plan, request->scratch,
										   &reply->keys, &work->slot->control, &reply->error);
	reply->keys_done_ms = emogi_pool_now_ms();
	return status;
}

/* Process a request that builds, merges, packs or expands a graph. */
static EmogiStatus
build(Thread *thread)
{
	const EmogiBuilder *builder = emogi_cpu_builder();
	EmogiWork *work = &thread->work;
	EmogiRequest *request = &work->request;
	EmogiControl *control = &work->slot->control;
	EmogiReply *reply = &work->reply;
	EmogiStatus status = open_cpu(thread, &reply->error);

	if (status != EMOGI_OK)
		return status;
	switch (request->kind)
	{
		case EMOGI_REQUEST_DICTIONARY:
			return make_dictionary(work, thread->cpu);
		case EMOGI_REQUEST_BUILD:
			return build_keys(work, thread->cpu);
		case EMOGI_REQUEST_CSR:
			return build_lists(work, thread->cpu);
		case EMOGI_REQUEST_EXPAND:
			return builder->expand(thread->cpu, &request->graph, request->direction == EMOGI_IN,
								   &work->edges, control, &reply->error);
		case EMOGI_REQUEST_PACK:
			return pack_edges(work, thread->cpu);
		case EMOGI_REQUEST_UNPACK:
			return builder->unpack(thread->cpu, &request->coo, request->runs, request->nruns,
								   &work->edges, control, &reply->error);
		case EMOGI_REQUEST_MERGE:
			return merge_graph(work, thread->cpu);
		case EMOGI_REQUEST_RUN:
		case EMOGI_REQUEST_MSBFS:
		case EMOGI_REQUEST_PATH:
		case EMOGI_REQUEST_KINDS:
			break;
	}
	return EMOGI_BAD_INPUT;		/* unreachable: run_work handles these kinds */
}

/* Process a request that always runs on the CPU. */
static EmogiStatus
run_on_cpu(Thread *thread)
{
	EmogiReply *reply = &thread->work.reply;
	EmogiStatus status = open_cpu(thread, &reply->error);

	snprintf(reply->engine, sizeof reply->engine, "cpu");
	if (status != EMOGI_OK)
		return status;
	if (thread->work.request.kind == EMOGI_REQUEST_PATH)
		return run_path(&thread->work, thread->cpu);
	return run_batch(&thread->work, thread->cpu);
}

/* The graph whose contraction hierarchy is being built. */
static const EmogiCached *contracted;

/* Check whether the graph is being evicted, so that its hierarchy is no longer needed. */
static bool
is_evicted(void)
{
	return *(volatile const EmogiCachedState *) &contracted->state != EMOGI_GRAPH_READY;
}

/* Build the contraction hierarchy of a cached graph. */
static void
contract(EmogiWork *work)
{
	contracted = &emogi_cache_shared->graphs[work->cached];
	work->reply.status = emogi_cpu_engine()->contract(NULL, &contracted->graph,
													  emogi_arena_budget_bytes() /
													  EMOGI_CONTRACTION_MEMORY_SHARE, is_evicted,
													  &work->made, &work->control,
													  &work->reply.error);
	if (work->reply.status != EMOGI_OK)
		work->made = NULL;
}

/* Process the work of a thread. */
static void
run_work(Thread *thread)
{
	EmogiWork *work = &thread->work;
	double		start = emogi_pool_now_ms();

	switch (work->kind)
	{
		case EMOGI_WORK_OPEN:
			open_engines(thread);
			break;
		case EMOGI_WORK_CONTRACT:
			contract(work);
			break;
		case EMOGI_WORK_FORGET:
			release_gpus(work);
			break;
		case EMOGI_WORK_REQUEST:
			if (work->derives)
				derive_copies(work);
			else if (work->request.kind == EMOGI_REQUEST_RUN)
			{
				if (work->request.chains)
					find_sources(work);
				run_query(thread);
			}
			else if (work->request.kind > EMOGI_REQUEST_RUN)
				work->reply.status = run_on_cpu(thread);
			else
				work->reply.status = build(thread);
			break;
	}
	work->reply.busy_ms += emogi_pool_now_ms() - start;
}

/* Main function of a compute thread. */
static void *
thread_main(void *arg)
{
	Thread	   *thread = arg;

	for (;;)
	{
		pthread_mutex_lock(&mutex);
		while (thread->state != THREAD_BUSY)
			pthread_cond_wait(&thread->wake, &mutex);
		pthread_mutex_unlock(&mutex);
		run_work(thread);
		pthread_mutex_lock(&mutex);
		thread->state = THREAD_FINISHED;
		pthread_mutex_unlock(&mutex);
		wake_main();
	}
	return NULL;
}

bool
emogi_threads_uses_gpu(const EmogiRequest *request)
{
	return request->kind == EMOGI_REQUEST_RUN &&
		emogi_answer_is_on_gpu(choose_engine(request, NULL));
}

/* ---- main thread ---- */

const EmogiOpenedEngines *
emogi_threads_opened(void)
{
	return &opened;
}

int
emogi_threads_start(const EmogiEngineOptions *engine_options, const char *module, uint32 gpus)
{
	sigset_t	all;
	sigset_t	before;
	pthread_t	thread;
	int			rc = 0;

	options = *engine_options;
	wanted_gpus = gpus;
	emogi_cuda_load_eagerly();
	snprintf(module_path, sizeof module_path, "%s", module);
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < EMOGI_WORKER_THREADS && rc == 0; i++)
	{
		pthread_cond_init(&threads[i].wake, NULL);
		rc = pthread_create(&thread, NULL, thread_main, &threads[i]);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int
emogi_threads_fd(void)
{
	return wake_fd;
}

/*
 * Find a thread in a state, in index order, because the first threads are most likely to have an
 * open CPU engine.
 */
static Thread *
find_thread(ThreadState state)
{
	Thread	   *found = NULL;

	pthread_mutex_lock(&mutex);
	for (int i = 0; i < EMOGI_WORKER_THREADS && found == NULL; i++)
		if (threads[i].state == state)
			found = &threads[i];
	pthread_mutex_unlock(&mutex);
	return found;
}

EmogiWork *
emogi_threads_idle_job(void)
{
	Thread	   *thread = find_thread(THREAD_IDLE);

	if (thread == NULL)
		return NULL;
	memset(&thread->work, 0, sizeof thread->work);
	thread->work.gpu = EMOGI_NO_GPU;
	thread->work.reply.device = -1;
	return &thread->work;
}

void
emogi_threads_start_work(EmogiWork *work)
{
	Thread	   *thread = (Thread *) ((char *) work - offsetof(Thread, work));

	if (work->gpu >= 0)
		emogi_gpus_acquire(work->helpers | UINT32_C(1) << work->gpu);
	pthread_mutex_lock(&mutex);
	thread->state = THREAD_BUSY;
	pthread_cond_signal(&thread->wake);
	pthread_mutex_unlock(&mutex);
}

bool
emogi_threads_finished(EmogiWork *work)
{
	Thread	   *thread = find_thread(THREAD_FINISHED);

	if (thread == NULL)
		return false;
	*work = thread->work;
	pthread_mutex_lock(&mutex);
	thread->state = THREAD_IDLE;
	pthread_mutex_unlock(&mutex);
	return true;
}

bool
emogi_threads_are_idle(void)
{
	return find_thread(THREAD_BUSY) == NULL && find_thread(THREAD_FINISHED) == NULL;
}

void
emogi_threads_cancel(void)
{
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < EMOGI_WORKER_THREADS; i++)
		if (threads[i].state == THREAD_BUSY && threads[i].work.kind == EMOGI_WORK_REQUEST)
			threads[i].work.slot->control.cancel = 1;
		else if (threads[i].state == THREAD_BUSY)
			threads[i].work.control.cancel = 1;
	pthread_mutex_unlock(&mutex);
}
