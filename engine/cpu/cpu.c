/*
 * cpu.c: the CPU engine: one thread pool, and the dispatch from a query to its algorithm.
 */
#include "cpu.h"

#include "cpu_algorithms.h"
#include "contract/contraction.h"
#include "contract/query.h"
#include "cpu/msbfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct EmogiEngineState
{
	EmogiPool  *pool;
};

/* Write a message without detail and return status. */
static EmogiStatus
fail(EmogiStatus status, EmogiError *error, const char *message)
{
	snprintf(error->message, sizeof(error->message), "%s", message);
	error->detail[0] = '\0';
	return status;
}

/* Start the threads. */
static EmogiStatus
open_cpu(const EmogiEngineOptions *options, EmogiEngineState **state, EmogiError *error)
{
	EmogiEngineState *opened;

	*state = NULL;
	if (options->cpu_threads < 1)
		return fail(EMOGI_BAD_INPUT, error, "the cpu engine needs at least one thread");
	opened = malloc(sizeof(EmogiEngineState));
	if (opened == NULL)
		return fail(EMOGI_NO_MEMORY, error, "out of memory while opening the cpu engine");
	opened->pool = emogi_pool_create(options->cpu_threads);
	if (opened->pool == NULL)
	{
		free(opened);
		fail(EMOGI_NO_MEMORY, error, "could not start the threads of the cpu engine");
		snprintf(error->detail, sizeof(error->detail), "%d threads", (int) options->cpu_threads);
		return EMOGI_NO_MEMORY;
	}
	*state = opened;
	return EMOGI_OK;
}

/* Stop the threads. */
static void
close_cpu(EmogiEngineState *state)
{
	if (state == NULL)
		return;
	emogi_pool_destroy(state->pool);
	free(state);
}

/* Count the devices. All processors together are one device. */
static int32_t
count_devices(void)
{
	return 1;
}

/* Read the processor's name, or leave "cpu". */
static void
read_processor_name(char *name, size_t bytes)
{
	FILE	   *file = fopen("/proc/cpuinfo", "r");
	char		line[256];

	snprintf(name, bytes, "cpu");
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL)
	{
		char	   *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) == 0 && colon != NULL && colon[1] == ' ')
		{
			colon[strcspn(colon, "\n")] = '\0';
			snprintf(name, bytes, "%s", colon + 2);
			break;
		}
	}
	fclose(file);
}

/* Describe the processor. */
static EmogiStatus
describe_cpu(const EmogiEngineState *state, EmogiDevice *out, EmogiError *error)
{
	memset(out, 0, sizeof(*out));
	out->number = -1;
	read_processor_name(out->name, sizeof(out->name));
	out->units = emogi_pool_size(state->pool);
	return EMOGI_OK;
}

static EmogiCpuAlgorithm *const algorithms[] = {
#define emogi_cpu_none NULL
#define OTHER(NAME, name, cpu, ...) [EMOGI_##NAME] = emogi_cpu_##cpu,
#define PATH(NAME, ...) [EMOGI_##NAME] = emogi_cpu_path,
#define SUM(NAME, ...) [EMOGI_##NAME] = emogi_cpu_semiring_sum,
	EMOGI_ALGORITHMS(OTHER, PATH, SUM)
#undef OTHER
#undef PATH
#undef SUM
};

/* Run a query. */
static EmogiStatus
run_cpu(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
		EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	EmogiStatus status = emogi_query_check(graph, query, error);

	if (status != EMOGI_OK)
		return status;
	if (algorithms[query->algorithm] == NULL)
		return fail(EMOGI_UNSUPPORTED, error, "the cpu engine does not have this algorithm");
	memset(&result->papers, 0, sizeof(result->papers));
	result->is_summarized = false;
	return algorithms[query->algorithm] (state->pool, graph, query, result, control, error);
}

EmogiStatus
emogi_cpu_engine_run_alone(const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
						   EmogiControl *control, EmogiError *error)
{
	EmogiEngineState state = {emogi_pool_create(1)};
	EmogiStatus status;

	if (state.pool == NULL)
		return fail(EMOGI_NO_MEMORY, error, "out of memory");
	status = run_cpu(&state, graph, query, result, control, error);
	emogi_pool_destroy(state.pool);
	return status;
}

/* Refuse a search that reads all edges. */
static EmogiStatus
refuse_mask(EmogiError *error)
{
	return fail(EMOGI_UNSUPPORTED, error, "this search cannot use a part of the edges");
}

/* Run a multi-source BFS. */
static EmogiStatus
run_msbfs(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
		  EmogiMsbfsResult *result, EmogiControl *control, EmogiError *error)
{
	if (query->mask != NULL)
		return refuse_mask(error);
	return emogi_msbfs_run(state->pool, graph, query->sources, (int) query->nsources,
						   query->max_depth, result, control, error);
}

/* Search for one path, in the calling thread. */
static EmogiStatus
search_path(EmogiEngineState *state, const EmogiGraph *graph, const EmogiQuery *query,
			uint64_t max_edges, uint64_t max_vertices, EmogiPathAnswer *answer,
			EmogiControl *control, EmogiError *error)
{
	if (query->mask != NULL)
		return refuse_mask(error);
	return emogi_path_search_within(graph, NULL, query->sources[0], query->targets[0], max_edges,
									max_vertices, answer, control, error);
}

/* Make the contraction hierarchy of a graph, in the calling thread. */
static EmogiStatus
contract(EmogiEngineState *state, const EmogiGraph *graph, uint64_t max_bytes, bool (*poll) (void),
		 EmogiContraction **made, EmogiControl *control, EmogiError *error)
{
	return emogi_contraction_make(graph, max_bytes, poll, made, control, error);
}

/* Forget a graph; nothing is kept of one. */
static uint64_t
forget_cpu(EmogiEngineState *state, uint64_t graph_id)
{
	return 0;
}

const EmogiEngine *
emogi_cpu_engine(void)
{
	static const EmogiEngine engine = {
		.abi = EMOGI_ENGINE_ABI,
		.name = "cpu",
		.open = open_cpu,
		.close = close_cpu,
		.ndevices = count_devices,
		.describe = describe_cpu,
		.run = run_cpu,
		.forget = forget_cpu,
		.msbfs = run_msbfs,
		.path = search_path,
		.contract = contract
	};

	return &engine;
}

EmogiPool *
emogi_cpu_engine_pool(EmogiEngineState *state)
{
	return state->pool;
}
