/*
 * test_peer_memory.c: edges in the memory of two GPUs (placement peer): answers, what is kept and lent, who gives back when, and failures of memory and driver;
 * and GPUs that help with edges in host memory, each with what it has room for (placement hybrid), or with none.
 * Every answer is compared with the cpu engine's. It needs two GPUs that can read each other's memory.
 */
#include <pthread.h>

#include "both.h"

#define MAX_TAKES 80			/* more than any run takes of device memory */
#define MAX_CALLS 600			/* more than a short run makes of the driver */
#define FEW_BYTES (UINT64_C(1) << 20)
#define CAP_BYTES (UINT64_C(40) << 20)	/* of the lender: some pieces */

#define FIRST_CAP_BYTES (UINT64_C(20) << 20)	/* of the first: less than 3,000,000 edges take in two orders */

#define SHARE_CAP_BYTES (UINT64_C(14) << 20)	/* the values and offsets of a run, and a part of 12 MB of edges */
#define MANY_EDGES UINT64_C(20000000)	/* both ways, so that shares have pieces of twice the least size */
#define LEND_CAP_BYTES (UINT64_C(30) << 20)	/* of a lender: room for 8 MB of edges in pieces, if it keeps nothing of them as a helper */
#define LONG_ASKS 400			/* of the owner, while the lender asks for memory */

static uint64_t npeer;			/* answers from edges in several GPUs' memory */
static char left_out[200];		/* what the last answer says */

/* Get the bytes that a GPU's engine has, with what it lends. */
static uint64_t
used_by(EmogiEngineState *state)
{
	EmogiDevice device;
	EmogiError	error;

	if (cuda->describe(state, &device, &error) != EMOGI_OK)
		abort();
	return device.used_bytes;
}

/* Open an engine of a GPU. */
static EmogiEngineState *
open_gpu(int number, uint64_t cap_bytes)
{
	EmogiEngineOptions options = {.device = number, .cpu_threads = 2, .always_help = true, .device_memory_bytes = cap_bytes};
	EmogiEngineState *state;
	EmogiError	error;

	if (cuda->open(&options, &state, &error) != EMOGI_OK)
		abort();
	return state;
}

/* Open both anew: the first, whose runs are helped, and the second, which lends. */
static void
reopen(uint64_t lender_cap_bytes)
{
	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, 0);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, lender_cap_bytes);
}

/* Ask a GPU, with the other's help or without, and the cpu engine, and compare. Get the status, and where the edges were read from. */
static EmogiStatus
ask(const char *what, EmogiEngineState *state, EmogiEngineState *helper, const EmogiGraph *graph, EmogiAlgorithm algorithm, EmogiPlacement placement,
	EmogiControl control, EmogiPlacement *seen)
{
	static const uint32_t source = 0;
	double	   *values = naive_alloc(graph->nvertices, sizeof *values);
	const EmogiQuery query = {.algorithm = algorithm, .placement = placement, .nsources = 1, .sources = &source, .max_depth = -1,
		.max_distance = INFINITY, .damping = 0.85, .alpha = 1e-6, .beta = 1.0, .max_iterations = 3, .samples = 3, .values = values};
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
	CHECK(status != EMOGI_OK || agree(algorithm, graph->nvertices, &answer.result, &expected.result), "%s: algorithm %d placement %d", what,
		  algorithm, placement);
	memcpy(left_out, answer.result.left_out, sizeof left_out);
	npeer += status == EMOGI_OK && answer.result.placement == EMOGI_PLACEMENT_PEER;
	if (seen != NULL)
		*seen = answer.result.placement;
	free(expected.memory);
	free(answer.memory);
	free(values);
	return status;
}

/* Ask without faults. Get where the edges were read from. */
static EmogiPlacement
ask_plainly(const char *what, EmogiEngineState *state, EmogiEngineState *helper, const EmogiGraph *graph, EmogiAlgorithm algorithm,
			EmogiPlacement placement)
{
	EmogiPlacement seen;
	const EmogiStatus status = ask(what, state, helper, graph, algorithm, placement, (EmogiControl) {0}, &seen);

	CHECK(status == EMOGI_OK, "%s: algorithm %d placement %d: status %d", what, algorithm, placement, status);
	return seen;
}

/* Check that both GPUs are as they were. */
static void
check_given_back(const char *what)
{
	CHECK(used_by(cuda_state) == 0 && used_by(cuda_helpers[0]) == 0, "%s: %llu and %llu bytes are left", what,
		  (unsigned long long) used_by(cuda_state), (unsigned long long) used_by(cuda_helpers[0]));
}

/* Check all algorithms on a Graph that is kept, which the second run reads without anybody's help, and on one that is not. */
static void
check_all(EmogiBuiltGraph *built)
{
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiAlgorithm algorithm = (EmogiAlgorithm) a;
		EmogiPlacement first;

		if (!is_supported(&built->graph, algorithm))
			continue;
		first = ask_plainly("first", cuda_state, cuda_helpers[0], &built->graph, algorithm, EMOGI_PLACEMENT_PEER);
		CHECK(ask_plainly("kept", cuda_state, NULL, &built->graph, algorithm, EMOGI_PLACEMENT_PEER) == first, "algorithm %d: not there", a);
		CHECK(ask_plainly("kept, with help", cuda_state, cuda_helpers[0], &built->graph, algorithm, EMOGI_PLACEMENT_PEER) == first,
			  "algorithm %d: not there", a);
		CHECK(ask_plainly("as device", cuda_state, NULL, &built->graph, algorithm, EMOGI_PLACEMENT_DEVICE) == first, "algorithm %d: not there", a);
		(void) cuda->forget(cuda_helpers[0], built->graph.id);
		CHECK(cuda->forget(cuda_state, built->graph.id) == 0, "algorithm %d: still there", a);
		check_given_back("forgotten");
		built->graph.id = 0;
		(void) ask_plainly("not kept", cuda_state, cuda_helpers[0], &built->graph, algorithm, EMOGI_PLACEMENT_PEER);
		check_given_back("not kept");
		built->graph.id = ++last_id;
	}
}

/* Check who wants help for it: what is there needs none. */
static void
check_wants(EmogiBuiltGraph *built)
{
	EmogiQuery	query = {.algorithm = EMOGI_BFS, .placement = EMOGI_PLACEMENT_PEER};

	CHECK(cuda->wants_help(cuda_state, &built->graph, &query), "no help is wanted");
	CHECK(ask_plainly("wanted", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER, "not peer");
	CHECK(used_by(cuda_helpers[0]) > 0, "nothing is lent");
	query.placement = EMOGI_PLACEMENT_AUTO;
	CHECK(!cuda->wants_help(cuda_state, &built->graph, &query), "help is wanted for a graph that fits");
	(void) cuda->forget(cuda_state, built->graph.id);
	check_given_back("wanted");
}

/*
 * Check AUTO under a cap that one GPU's edges alone exceed: help is wanted until they are there, and a run that needs more memory of its own has
 * them spread anew, with help, or does without.
 */
static void
check_cap(EmogiBuiltGraph *built)
{
	const EmogiQuery query = {.algorithm = EMOGI_BFS};

	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, FIRST_CAP_BYTES);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, 0);
	CHECK(cuda->wants_help(cuda_state, &built->graph, &query), "no help is wanted");
	for (int round = 0; round < 3; round++)
	{
		EmogiEngineState *const helper = round == 1 ? NULL : cuda_helpers[0];

		CHECK(ask_plainly("capped", cuda_state, helper, &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO) == EMOGI_PLACEMENT_PEER, "round %d: not peer",
			  round);
		CHECK(!cuda->wants_help(cuda_state, &built->graph, &query), "help is wanted for what is there");
		(void) ask_plainly("capped", cuda_state, helper, &built->graph, EMOGI_PAGERANK, EMOGI_PLACEMENT_AUTO);
		(void) ask_plainly("capped", cuda_state, cuda_helpers[0], &built->graph, EMOGI_SSSP, EMOGI_PLACEMENT_PEER);
		CHECK(used_by(cuda_state) <= FIRST_CAP_BYTES, "%llu bytes above the cap", (unsigned long long) used_by(cuda_state));
	}
	(void) cuda->forget(cuda_state, built->graph.id);
	check_given_back("capped");
	reopen(0);
}

/* Check that a lender which is short takes its memory back, and that the owner then asks anew. */
static void
check_reclaimed(EmogiBuiltGraph *built)
{
	EmogiBuiltGraph large = build_weighted(1000, 4000000, EMOGI_OUT, 31);
	uint64_t	kept;

	reopen(CAP_BYTES);
	CHECK(ask_plainly("lent", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER, "not peer");
	kept = used_by(cuda_state);
	CHECK(ask_plainly("short", cuda_helpers[0], NULL, &large.graph, EMOGI_BFS, EMOGI_PLACEMENT_DEVICE) == EMOGI_PLACEMENT_DEVICE, "no room");
	CHECK(used_by(cuda_state) < kept, "the owner has all of it still");
	CHECK(used_by(cuda_helpers[0]) <= CAP_BYTES, "%llu bytes above the cap", (unsigned long long) used_by(cuda_helpers[0]));
	CHECK(ask("no room", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_PEER, (EmogiControl) {0}, NULL) != EMOGI_DEVICE_ERROR,
		  "an error of the device");
	(void) cuda->forget(cuda_helpers[0], large.graph.id);
	CHECK(ask_plainly("lent again", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_PEER) != EMOGI_PLACEMENT_HOST, "host");
	(void) cuda->forget(cuda_state, built->graph.id);
	check_given_back("reclaimed");
	emogi_built_graph_free(&large);
	reopen(0);
}

/* Check that the lender may close first. */
static void
check_closed(EmogiBuiltGraph *built)
{
	CHECK(ask_plainly("lent", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER, "not peer");
	close_helpers();
	CHECK(used_by(cuda_state) < FEW_BYTES, "the owner has it still");
	(void) ask_plainly("closed", cuda_state, NULL, &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_AUTO);
	reopen(0);
}

/* A GPU that asks again and again, in a thread of its own. */
typedef struct Asking
{
	const EmogiGraph *graph;
	uint64_t	nright;
	uint64_t	nfailed;		/* other than by memory */
} Asking;

/* Ask the lender for what only fits when it has its memory back. It compares nothing: answers are the owner's matter here. */
static void *
ask_lender(void *with)
{
	Asking	   *asking = (Asking *) with;
	static const uint32_t source = 0;
	const EmogiQuery query = {.algorithm = EMOGI_BFS, .placement = EMOGI_PLACEMENT_DEVICE, .nsources = 1, .sources = &source, .max_depth = -1};

	for (int i = 0; i < LONG_ASKS; i++)
	{
		Answer		answer = make_answer(asking->graph->nvertices);
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		const EmogiStatus status = cuda->run(cuda_helpers[0], asking->graph, &query, &answer.result, &control, &error);

		asking->nright += status == EMOGI_OK && answer.result.nreached > 1;
		asking->nfailed += status != EMOGI_OK && status != EMOGI_NO_MEMORY;
		free(answer.memory);
	}
	return NULL;
}

/* Check that a lender which wants its memory back while the owner reads it gets it afterwards, or not, and harms nobody. */
static void
check_at_work(EmogiBuiltGraph *built)
{
	EmogiBuiltGraph large = build_weighted(1000, 4000000, EMOGI_OUT, 31);
	Asking		asking = {.graph = &large.graph};
	pthread_t	thread;

	reopen(CAP_BYTES);
	(void) ask_plainly("lent", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_PEER);
	if (pthread_create(&thread, NULL, ask_lender, &asking) != 0)
		abort();
	for (int i = 0; i < LONG_ASKS / 4; i++)
		(void) ask_plainly("at work", cuda_state, NULL, &built->graph, i % 2 == 0 ? EMOGI_BFS : EMOGI_PAGERANK, EMOGI_PLACEMENT_AUTO);
	(void) pthread_join(thread, NULL);
	CHECK(asking.nright > 0 && asking.nfailed == 0, "%llu answers, %llu failures", (unsigned long long) asking.nright,
		  (unsigned long long) asking.nfailed);
	(void) cuda->forget(cuda_state, built->graph.id);
	(void) cuda->forget(cuda_helpers[0], large.graph.id);
	check_given_back("at work");
	emogi_built_graph_free(&large);
	reopen(0);
}

/* Check runs on edges in host memory with a helper that has room for a part, and with one that has none, which is left out. */
static void
check_helpers(EmogiBuiltGraph *built)
{
	static const EmogiAlgorithm helped[] = {EMOGI_BFS, EMOGI_SSSP, EMOGI_SSWP, EMOGI_CC, EMOGI_PAGERANK, EMOGI_CIRCUIT, EMOGI_NEURAL};
	uint64_t	nleft = 0;

	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, SHARE_CAP_BYTES);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, SHARE_CAP_BYTES);
	for (int round = 0; round < 6; round++)
		for (size_t i = 0; i < sizeof helped / sizeof *helped; i++)
			if (is_supported(&built->graph, helped[i]))
				(void) ask_plainly("share", cuda_state, round % 3 == 2 ? NULL : cuda_helpers[0], &built->graph, helped[i], EMOGI_PLACEMENT_HYBRID);
	CHECK(used_by(cuda_helpers[0]) > FEW_BYTES, "the helper keeps nothing");
	(void) cuda->forget(cuda_helpers[0], built->graph.id);
	(void) cuda->forget(cuda_state, built->graph.id);
	check_given_back("share");
	reopen(FEW_BYTES / 64);
	for (size_t i = 0; i < sizeof helped / sizeof *helped; i++)
		if (is_supported(&built->graph, helped[i]))
		{
			(void) ask_plainly("left out", cuda_state, cuda_helpers[0], &built->graph, helped[i], EMOGI_PLACEMENT_HOST);
			nleft += left_out[0] != '\0';
		}
	CHECK(nleft >= 4, "%llu answers tell who was left out", (unsigned long long) nleft);
	(void) cuda->forget(cuda_helpers[0], built->graph.id);
	(void) cuda->forget(cuda_state, built->graph.id);
	reopen(0);
}

/* Check sums whose shares have pieces of more than the least size, with a helper that has room for buffers of them, and with less and less. */
static void
check_pieces(void)
{
	EmogiBuiltGraph large = build_weighted(20000, MANY_EDGES, EMOGI_BOTH, 33);

	for (uint64_t cap_bytes = UINT64_C(28) << 20; cap_bytes >= UINT64_C(4) << 20; cap_bytes -= UINT64_C(3) << 20)
	{
		reopen(cap_bytes);
		(void) ask_plainly("pieces", cuda_state, cuda_helpers[0], &large.graph, EMOGI_PAGERANK, EMOGI_PLACEMENT_HOST);
		(void) ask_plainly("pieces", cuda_state, cuda_helpers[0], &large.graph, EMOGI_CIRCUIT, EMOGI_PLACEMENT_HYBRID);
	}
	emogi_built_graph_free(&large);
	reopen(0);
}

/* Check that what a helper keeps of a graph does not keep it from lending memory for that graph. */
static void
check_lends_again(EmogiBuiltGraph *built)
{
	close_helpers();
	cuda->close(cuda_state);
	cuda_state = open_gpu(0, SHARE_CAP_BYTES);
	cuda_helpers[ncuda_helpers++] = open_gpu(1, LEND_CAP_BYTES);
	for (int i = 0; i < 2; i++)
	{
		(void) ask_plainly("kept in part", cuda_state, cuda_helpers[0], &built->graph, EMOGI_PAGERANK, EMOGI_PLACEMENT_HYBRID);
		CHECK(ask_plainly("lent after all", cuda_state, cuda_helpers[0], &built->graph, EMOGI_BFS, EMOGI_PLACEMENT_PEER) == EMOGI_PLACEMENT_PEER,
			  "not peer");
	}
	(void) cuda->forget(cuda_helpers[0], built->graph.id);
	(void) cuda->forget(cuda_state, built->graph.id);
	reopen(0);
}

/* Let each taking of device memory fail in turn. */
static void
check_failing_memory(EmogiBuiltGraph *built, EmogiAlgorithm algorithm)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;

	while (status == EMOGI_NO_MEMORY && control.fail_device_allocation < MAX_TAKES)
	{
		control.fail_device_allocation++;
		built->graph.id = ++last_id;
		status = ask("failing memory", cuda_state, cuda_helpers[0], &built->graph, algorithm, EMOGI_PLACEMENT_PEER, control, NULL);
		(void) cuda->forget(cuda_state, built->graph.id);
		check_given_back("failing memory");
	}
	CHECK(status == EMOGI_OK && control.fail_device_allocation > 2, "algorithm %d: %d at %u", algorithm, status, control.fail_device_allocation);
}

/* Let calls of the driver fail, the first ones and then ever fewer. */
static void
check_failing_driver(EmogiBuiltGraph *built, EmogiAlgorithm algorithm)
{
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_DEVICE_ERROR;

	while (status == EMOGI_DEVICE_ERROR && control.fail_device_call < MAX_CALLS)
	{
		control.fail_device_call += 1 + control.fail_device_call / 12;
		built->graph.id = ++last_id;
		status = ask("failing driver", cuda_state, cuda_helpers[0], &built->graph, algorithm, EMOGI_PLACEMENT_PEER, control, NULL);
		if (status == EMOGI_DEVICE_ERROR)
			reopen(0);
		(void) ask_plainly("after a failing driver", cuda_state, cuda_helpers[0], &built->graph, algorithm, EMOGI_PLACEMENT_PEER);
		(void) cuda->forget(cuda_state, built->graph.id);
		check_given_back("failing driver");
	}
	CHECK(status == EMOGI_OK && control.fail_device_call > 12, "algorithm %d: %d at %u", algorithm, status, control.fail_device_call);
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
	directed = build_weighted(2000, 3000000, EMOGI_OUT, 21);	/* 6 pieces of each array, and more */
	symmetric = build_weighted(2000, 1000000, EMOGI_BOTH, 22);
	check_all(&directed);
	check_all(&symmetric);
	check_wants(&directed);
	check_cap(&directed);
	check_reclaimed(&directed);
	check_closed(&directed);
	check_at_work(&directed);
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
