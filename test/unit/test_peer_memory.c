/*
 * test_peer_memory.c: tests of edges in the memory of two GPUs (placement peer), and of helpers
 * with edges in host memory (placement hybrid).
 *
 * The tests cover answers, caching and lending, reclaiming of lent memory, helpers with room for a
 * part of the edges or for none, and failures of memory and the driver. Answers are compared with
 * the cpu engine's. Requires two GPUs that can read each other's memory.
 */
#include <pthread.h>

#include "both.h"

#define MAX_ALLOCATIONS 80			/* more than the allocations of device memory of any run */
#define MAX_CALLS 600			/* more than the driver calls of a short run */
#define FEW_BYTES (UINT64_C(1) << 20)
#define CAP_BYTES (UINT64_C(40) << 20)	/* of the lender: some pieces */

/* of the first GPU: less than 3,000,000 edges in two orientations */
#define FIRST_CAP_BYTES (UINT64_C(20) << 20)

/* values and offsets of a run, and a part of 12 MB of edges */
#define SHARE_CAP_BYTES (UINT64_C(14) << 20)
/* in both directions, so that shares have pieces of twice the minimum size */
#define MANY_EDGES UINT64_C(20000000)
/* of a lender: room for 8 MB of edges in pieces, if it caches none as a helper */
#define LEND_CAP_BYTES (UINT64_C(30) << 20)
#define LONG_RUNS 400			/* on the lender, while the owner makes a quarter as many */

static uint64_t npeer;			/* answers from edges in the memory of several GPUs */
static char left_out[200];		/* of the last answer */

/* Return the bytes that a GPU's engine uses, including what it lends. */
static uint64_t
used_by(EmogiEngineState *state)
{
	EmogiDevice device;
	EmogiError	error;

	if (cuda->describe(state, &device, &error) != EMOGI_OK)
		abort();
	return device.used_bytes;
}

/* Open an engine on a GPU. */
static EmogiEngineState *
open_gpu(int number, uint64_t cap_bytes)
{
	EmogiEngineOptions options = {.device = number, .cpu_threads = 2, .always_help = true,
		.device_memory_bytes = cap_bytes};
	EmogiEngineState *state;
	EmogiError	error;

	if (cuda->open(&options, &state, &error) != EMOGI_OK)
		abort();
	return state;
}

/* Reopen both engines: the first, whose runs are helped, and the second, which lends. */
static void
reopen(uint64_t lender_cap_bytes)
{
	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, 0);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, lender_cap_bytes);
}

/*
 * Run a query on a GPU, with or without the other's help, and on the cpu engine, and compare the
 * answers. Returns the status and the placement.
 */
static EmogiStatus
check_run(const char *what, EmogiEngineState *state, EmogiEngineState *helper,
		  const EmogiGraph *graph, EmogiAlgorithm algorithm, EmogiPlacement placement,
		  EmogiControl control, EmogiPlacement *used)
{
	static const uint32_t source = 0;
	double	   *values = naive_alloc(graph->nvertices, sizeof *values);
	const EmogiQuery query = {.algorithm = algorithm, .placement = placement, .nsources = 1,
		.sources = &source, .max_depth = -1, .max_distance = INFINITY, .damping = 0.85,
		.alpha = 1e-6, .beta = 1.0, .max_iterations = 3, .samples = 3, .values = values};
	Answer		expected = make_answer(graph->nvertices);
	Answer		answer = make_answer(graph->nvertices);
	EmogiControl cpu_control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		values[v] = 0.5;
	if (cpu->run(cpu_state, graph, &query, &expected.result, &cpu_control, &error) != EMOGI_OK)
		abort();
	if (helper != NULL)
		cuda->help(state, &helper, 1);
	status = cuda->run(state, graph, &query, &answer.result, &control, &error);
	CHECK(status != EMOGI_OK ||
		  agree(algorithm, graph->nvertices, &answer.result, &expected.result),
		  "%s: algorithm %d placement %d", what, algorithm, placement);
	memcpy(left_out, answer.result.left_out, sizeof left_out);
	npeer += status == EMOGI_OK && answer.result.placement == EMOGI_PLACEMENT_PEER;
	if (used != NULL)
		*used = answer.result.placement;
	free(expected.memory);
	free(answer.memory);
	free(values);
	return status;
}

/* Run a query without faults; returns the placement. */
static EmogiPlacement
run_without_faults(const char *what, EmogiEngineState *state, EmogiEngineState *helper,
				   const EmogiGraph *graph, EmogiAlgorithm algorithm, EmogiPlacement placement)
{
	EmogiPlacement used;
	const EmogiStatus status = check_run(what, state, helper, graph, algorithm, placement,
										 (EmogiControl) {0}, &used);

	CHECK(status == EMOGI_OK, "%s: algorithm %d placement %d: status %d", what, algorithm,
		  placement, status);
	return used;
}

/* Check that both GPUs use no memory. */
static void
check_nothing_used(const char *what)
{
	CHECK(used_by(cuda_state) == 0 && used_by(cuda_helpers[0]) == 0,
		  "%s: %llu and %llu bytes in use", what, (unsigned long long) used_by(cuda_state),
		  (unsigned long long) used_by(cuda_helpers[0]));
}

/*
 * Check all algorithms on a graph that is cached, which the second run reads without help, and on
 * one that is not.
 */
static void
check_all(EmogiBuiltGraph *built)
{
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiAlgorithm algorithm = (EmogiAlgorithm) a;
		EmogiPlacement first;

		if (!is_supported(&built->graph, algorithm))
			continue;
		first = run_without_faults("first", cuda_state, cuda_helpers[0], &built->graph, algorithm,
								   EMOGI_PLACEMENT_PEER);
		CHECK(run_without_faults("cached", cuda_state, NULL, &built->graph, algorithm,
								 EMOGI_PLACEMENT_PEER) == first, "algorithm %d: not cached", a);
		CHECK(run_without_faults("cached, with help", cuda_state, cuda_helpers[0], &built->graph,
								 algorithm, EMOGI_PLACEMENT_PEER) == first,
			  "algorithm %d: not cached", a);
		CHECK(run_without_faults("as device", cuda_state, NULL, &built->graph, algorithm,
								 EMOGI_PLACEMENT_DEVICE) == first, "algorithm %d: not cached", a);
		(void) cuda->forget(cuda_helpers[0], built->graph.id);
		CHECK(cuda->forget(cuda_state, built->graph.id) == 0, "algorithm %d: still cached", a);
		check_nothing_used("forgotten");
		built->graph.id = 0;
		(void) run_without_faults("not cached", cuda_state, cuda_helpers[0], &built->graph,
								  algorithm, EMOGI_PLACEMENT_PEER);
		check_nothing_used("not cached");
		built->graph.id = ++last_id;
	}
}

/* Check wants_help(): cached edges need no help. */
static void
check_wants_help(EmogiBuiltGraph *built)
{
	EmogiQuery	query = {.algorithm = EMOGI_BFS, .placement = EMOGI_PLACEMENT_PEER};

	CHECK(cuda->wants_help(cuda_state, &built->graph, &query), "no help is requested");
	CHECK(run_without_faults("requested", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS,
							 EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER, "not peer");
	CHECK(used_by(cuda_helpers[0]) > 0, "nothing is lent");
	query.placement = EMOGI_PLACEMENT_AUTO;
	CHECK(!cuda->wants_help(cuda_state, &built->graph, &query),
		  "help is requested for a graph that fits");
	(void) cuda->forget(cuda_state, built->graph.id);
	check_nothing_used("requested");
}

/*
 * Check AUTO with a memory limit smaller than the edges. Help is requested until they are cached. A
 * run that needs more memory distributes them again with help, or does without.
 */
static void
check_memory_limit(EmogiBuiltGraph *built)
{
	const EmogiQuery query = {.algorithm = EMOGI_BFS};

	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, FIRST_CAP_BYTES);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, 0);
	CHECK(cuda->wants_help(cuda_state, &built->graph, &query), "no help is requested");
	for (int round = 0; round < 3; round++)
	{
		EmogiEngineState *const helper = round == 1 ? NULL : cuda_helpers[0];

		CHECK(run_without_faults("capped", cuda_state, helper, &built->graph, EMOGI_BFS,
								 EMOGI_PLACEMENT_AUTO) == EMOGI_PLACEMENT_PEER,
			  "round %d: not peer", round);
		CHECK(!cuda->wants_help(cuda_state, &built->graph, &query),
			  "help is requested for cached edges");
		(void) run_without_faults("capped", cuda_state, helper, &built->graph, EMOGI_PAGERANK,
								  EMOGI_PLACEMENT_AUTO);
		(void) run_without_faults("capped", cuda_state, cuda_helpers[0], &built->graph, EMOGI_SSSP,
								  EMOGI_PLACEMENT_PEER);
		CHECK(used_by(cuda_state) <= FIRST_CAP_BYTES, "%llu bytes above the limit",
			  (unsigned long long) used_by(cuda_state));
	}
	(void) cuda->forget(cuda_state, built->graph.id);
	check_nothing_used("capped");
	reopen(0);
}

/* Check that a lender that needs memory reclaims it, and that the owner can borrow again. */
static void
check_reclaimed(EmogiBuiltGraph *built)
{
	EmogiBuiltGraph large = build_weighted(1000, 4000000, EMOGI_OUT, 31);
	uint64_t	used_before;

	reopen(CAP_BYTES);
	CHECK(run_without_faults("lent", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS,
							 EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER, "not peer");
	used_before = used_by(cuda_state);
	CHECK(run_without_faults("short", cuda_helpers[0], NULL, &large.graph, EMOGI_BFS,
							 EMOGI_PLACEMENT_DEVICE) == EMOGI_PLACEMENT_DEVICE, "no room");
	CHECK(used_by(cuda_state) < used_before, "the owner still uses all of it");
	CHECK(used_by(cuda_helpers[0]) <= CAP_BYTES, "%llu bytes above the limit",
		  (unsigned long long) used_by(cuda_helpers[0]));
	CHECK(check_run("no room", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS,
					EMOGI_PLACEMENT_PEER, (EmogiControl) {0}, NULL) != EMOGI_DEVICE_ERROR,
		  "a device error");
	(void) cuda->forget(cuda_helpers[0], large.graph.id);
	CHECK(run_without_faults("lent again", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS,
							 EMOGI_PLACEMENT_PEER) != EMOGI_PLACEMENT_HOST, "host");
	(void) cuda->forget(cuda_state, built->graph.id);
	check_nothing_used("reclaimed");
	emogi_built_graph_free(&large);
	reopen(0);
}

/* Check that the lender can close first. */
static void
check_closed(EmogiBuiltGraph *built)
{
	CHECK(run_without_faults("lent", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS,
							 EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER, "not peer");
	close_helpers();
	CHECK(used_by(cuda_state) < FEW_BYTES, "the owner still uses the memory");
	(void) run_without_faults("closed", cuda_state, NULL, &built->graph, EMOGI_BFS,
							  EMOGI_PLACEMENT_AUTO);
	reopen(0);
}

/* A thread that runs queries on the lender. */
typedef struct LenderRuns
{
	const EmogiGraph *graph;
	uint64_t	nright;
	uint64_t	nfailed;		/* other than for lack of memory */
} LenderRuns;

/*
 * Run queries on the lender that fit only after it has reclaimed its memory. The answers are not
 * compared.
 */
static void *
run_on_lender(void *with)
{
	LenderRuns	   *runs = (LenderRuns *) with;
	static const uint32_t source = 0;
	const EmogiQuery query = {.algorithm = EMOGI_BFS, .placement = EMOGI_PLACEMENT_DEVICE,
		.nsources = 1, .sources = &source, .max_depth = -1};

	for (int i = 0; i < LONG_RUNS; i++)
	{
		Answer		answer = make_answer(runs->graph->nvertices);
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		const EmogiStatus status = cuda->run(cuda_helpers[0], runs->graph, &query, &answer.result,
											 &control, &error);

		runs->nright += status == EMOGI_OK && answer.result.nreached > 1;
		runs->nfailed += status != EMOGI_OK && status != EMOGI_NO_MEMORY;
		free(answer.memory);
	}
	return NULL;
}

/*
 * Check that a lender that reclaims memory while the owner reads it gets it later or never, and
 * that no run fails.
 */
static void
check_reclaim_while_read(EmogiBuiltGraph *built)
{
	EmogiBuiltGraph large = build_weighted(1000, 4000000, EMOGI_OUT, 31);
	LenderRuns		runs = {.graph = &large.graph};
	pthread_t	thread;

	reopen(CAP_BYTES);
	(void) run_without_faults("lent", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS,
							  EMOGI_PLACEMENT_PEER);
	if (pthread_create(&thread, NULL, run_on_lender, &runs) != 0)
		abort();
	for (int i = 0; i < LONG_RUNS / 4; i++)
		(void) run_without_faults("at work", cuda_state, NULL, &built->graph,
								  i % 2 == 0 ? EMOGI_BFS : EMOGI_PAGERANK, EMOGI_PLACEMENT_AUTO);
	(void) pthread_join(thread, NULL);
	CHECK(runs.nright > 0 && runs.nfailed == 0, "%llu answers, %llu failures",
		  (unsigned long long) runs.nright, (unsigned long long) runs.nfailed);
	(void) cuda->forget(cuda_state, built->graph.id);
	(void) cuda->forget(cuda_helpers[0], large.graph.id);
	check_nothing_used("at work");
	emogi_built_graph_free(&large);
	reopen(0);
}

/*
 * Check runs on edges in host memory with a helper that has room for a part of them, and with one
 * that has none, which is left out.
 */
static void
check_helpers(EmogiBuiltGraph *built)
{
	static const EmogiAlgorithm helped[] = {EMOGI_BFS, EMOGI_SSSP, EMOGI_SSWP, EMOGI_CC,
		EMOGI_PAGERANK, EMOGI_CIRCUIT, EMOGI_NEURAL};
	uint64_t	nleft = 0;

	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, SHARE_CAP_BYTES);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, SHARE_CAP_BYTES);
	for (int round = 0; round < 6; round++)
		for (size_t i = 0; i < sizeof helped / sizeof *helped; i++)
			if (is_supported(&built->graph, helped[i]))
				(void) run_without_faults("share", cuda_state,
										  round % 3 == 2 ? NULL : cuda_helpers[0], &built->graph,
										  helped[i], EMOGI_PLACEMENT_HYBRID);
	CHECK(used_by(cuda_helpers[0]) > FEW_BYTES, "the helper caches nothing");
	(void) cuda->forget(cuda_helpers[0], built->graph.id);
	(void) cuda->forget(cuda_state, built->graph.id);
	check_nothing_used("share");
	reopen(FEW_BYTES / 64);
	for (size_t i = 0; i < sizeof helped / sizeof *helped; i++)
		if (is_supported(&built->graph, helped[i]))
		{
			(void) run_without_faults("left out", cuda_state, cuda_helpers[0], &built->graph,
									  helped[i], EMOGI_PLACEMENT_HOST);
			nleft += left_out[0] != '\0';
		}
	CHECK(nleft >= 4, "%llu answers name the helper that was left out", (unsigned long long) nleft);
	(void) cuda->forget(cuda_helpers[0], built->graph.id);
	(void) cuda->forget(cuda_state, built->graph.id);
	reopen(0);
}

/*
 * Check sums whose shares have pieces larger than the minimum, with a helper that has room for
 * buffers of them, and with less and less room.
 */
static void
check_pieces(void)
{
	EmogiBuiltGraph large = build_weighted(20000, MANY_EDGES, EMOGI_BOTH, 33);

	for (uint64_t cap_bytes = UINT64_C(28) << 20; cap_bytes >= UINT64_C(4) << 20;
		 cap_bytes -= UINT64_C(3) << 20)
	{
		reopen(cap_bytes);
		(void) run_without_faults("pieces", cuda_state, cuda_helpers[0], &large.graph,
								  EMOGI_PAGERANK, EMOGI_PLACEMENT_HOST);
		(void) run_without_faults("pieces", cuda_state, cuda_helpers[0], &large.graph,
								  EMOGI_CIRCUIT, EMOGI_PLACEMENT_HYBRID);
	}
	emogi_built_graph_free(&large);
	reopen(0);
}

/*
 * Check that what a helper caches of a graph does not prevent it from lending memory for that
 * graph.
 */
static void
check_lends_again(EmogiBuiltGraph *built)
{
	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, SHARE_CAP_BYTES);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, LEND_CAP_BYTES);
	for (int i = 0; i < 2; i++)
	{
		(void) run_without_faults("partly cached", cuda_state, cuda_helpers[0], &built->graph,
								  EMOGI_PAGERANK, EMOGI_PLACEMENT_HYBRID);
		CHECK(run_without_faults("lent after all", cuda_state, cuda_helpers[0], &built->graph,
								 EMOGI_BFS, EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER,
			  "not peer");
	}
	(void) cuda->forget(cuda_helpers[0], built->graph.id);
	(void) cuda->forget(cuda_state, built->graph.id);
	reopen(0);
}

/* Let each allocation of device memory fail by turns. */
static void
check_failing_memory(EmogiBuiltGraph *built, EmogiAlgorithm algorithm)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;

	while (status == EMOGI_NO_MEMORY && control.fail_device_allocation < MAX_ALLOCATIONS)
	{
		control.fail_device_allocation++;
		built->graph.id = ++last_id;
		status = check_run("failing memory", cuda_state, cuda_helpers[0], &built->graph, algorithm,
						   EMOGI_PLACEMENT_PEER, control, NULL);
		(void) cuda->forget(cuda_state, built->graph.id);
		check_nothing_used("failing memory");
	}
	CHECK(status == EMOGI_OK && control.fail_device_allocation > 2, "algorithm %d: %d at %u",
		  algorithm, status, control.fail_device_allocation);
}

/* Let driver calls fail, the first ones and then ever fewer. */
static void
check_failing_driver(EmogiBuiltGraph *built, EmogiAlgorithm algorithm)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_DEVICE_ERROR;

	while (status == EMOGI_DEVICE_ERROR && control.fail_device_call < MAX_CALLS)
	{
		control.fail_device_call += 1 + control.fail_device_call / 12;
		built->graph.id = ++last_id;
		status = check_run("failing driver", cuda_state, cuda_helpers[0], &built->graph, algorithm,
						   EMOGI_PLACEMENT_PEER, control, NULL);
		if (status == EMOGI_DEVICE_ERROR)
			reopen(0);
		(void) run_without_faults("after a failing driver", cuda_state, cuda_helpers[0],
								  &built->graph, algorithm, EMOGI_PLACEMENT_PEER);
		(void) cuda->forget(cuda_state, built->graph.id);
		check_nothing_used("failing driver");
	}
	CHECK(status == EMOGI_OK && control.fail_device_call > 12, "algorithm %d: %d at %u", algorithm,
		  status, control.fail_device_call);
}

int
main(void)
{
	EmogiBuiltGraph directed;
	EmogiBuiltGraph symmetric;

	if (!open_both())
		return check_report("test_peer_memory");
	if (cuda->ndevices() < 2)
	{
		printf("test_peer_memory: there is one GPU\n");
		close_both();
		return check_report("test_peer_memory");
	}
	reopen(0);
	/* 6 pieces of each array, and more */
	directed = build_weighted(2000, 3000000, EMOGI_OUT, 21);
	symmetric = build_weighted(2000, 1000000, EMOGI_BOTH, 22);
	check_all(&directed);
	check_all(&symmetric);
	check_wants_help(&directed);
	check_memory_limit(&directed);
	check_reclaimed(&directed);
	check_closed(&directed);
	check_reclaim_while_read(&directed);
	check_helpers(&directed);
	check_helpers(&symmetric);
	check_lends_again(&symmetric);
	check_pieces();
	check_failing_memory(&directed, EMOGI_BFS);
	check_failing_memory(&symmetric, EMOGI_SSSP);
	check_failing_memory(&symmetric, EMOGI_PAGERANK);
	check_failing_driver(&directed, EMOGI_SSSP);
	check_failing_driver(&symmetric, EMOGI_PAGERANK);
	CHECK(npeer > 20, "%llu answers from several GPUs' memory", (unsigned long long) npeer);
	close_helpers();
	emogi_built_graph_free(&directed);
	emogi_built_graph_free(&symmetric);
	close_both();
	return check_report("test_peer_memory");
}
