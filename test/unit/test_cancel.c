/*
 * test_cancel.c: tests of canceling the cuda engine at random moments.
 *
 * A run must end in time with status OK or CANCELED, and later runs must return the same answer.
 * Kernels queued behind one that has stopped must not use its incomplete output (traverse.cuh,
 * is_halted).
 *
 * Each query is canceled EMOGI_CANCEL_TRIES times (default 30), on a Kronecker graph of scale
 * EMOGI_CANCEL_SCALE (default 20) with 64-bit weights. EMOGI_CANCEL_ALGORITHMS names the
 * algorithms, separated by commas (default all).
 */
#include "both.h"

#include "contract/query.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define DEGREE 8
#define PAIRS_EACH 4			/* pairs per vertex: more than the first tickets */
#define MAX_SECONDS 60.0		/* maximum time of a canceled run */
#define SOURCES 64
#define MAX_SECOND_EDGES UINT64_C(1000000000)	/* edges at distance two, for top-k similarities */

/* The time at which to cancel a run. */
typedef struct Alarm
{
	EmogiControl *control;
	double		seconds;
} Alarm;

/* Return the time in seconds. */
static double
now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

/* Cancel a run after some time. */
static void *
cancel_later(void *arg)
{
	const Alarm *alarm = arg;

	usleep((useconds_t) (alarm->seconds * 1e6));
	__atomic_store_n(&alarm->control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Exit the program if a run does not end. */
static void *
watch(void *arg)
{
	const double *since = arg;

	for (;;)
	{
		double		started;

		usleep(500000);
		__atomic_load(since, &started, __ATOMIC_RELAXED);
		if (started > 0.0 && now_seconds() - started > MAX_SECONDS)
		{
			printf("test_cancel: a canceled run has not ended after %.0f seconds\n", MAX_SECONDS);
			fflush(stdout);
			_exit(1);
		}
	}
	return NULL;
}

static double running_since;	/* atomic: start of the current run; 0 = none */

/* Return true if an algorithm is selected by EMOGI_CANCEL_ALGORITHMS. */
static bool
is_selected(EmogiAlgorithm algorithm)
{
	const char *names = getenv("EMOGI_CANCEL_ALGORITHMS");
	const char *name = emogi_algorithm_row(algorithm)->name;
	const size_t length = strlen(name);

	for (const char *at = names; at != NULL && *at != '\0'; at += strcspn(at, ","),
		 at += *at == ',')
		if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
			return true;
	return names == NULL;
}

/* Run a query and cancel it after some seconds; returns false if the device failed. */
static bool
cancel_once(const EmogiGraph *graph, const EmogiQuery *query, Answer *answer, double seconds,
			uint64_t *ncanceled)
{
	const char *name = emogi_algorithm_row(query->algorithm)->name;
	const double since = now_seconds();
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	Alarm		alarm = {&control, seconds};
	EmogiStatus status;
	pthread_t	thread;

	__atomic_store(&running_since, &since, __ATOMIC_RELAXED);
	pthread_create(&thread, NULL, cancel_later, &alarm);
	status = cuda->run(cuda_state, graph, query, &answer->result, &control, &error);
	pthread_join(thread, NULL);
	__atomic_store(&running_since, &(double) {0.0}, __ATOMIC_RELAXED);
	*ncanceled += status == EMOGI_CANCELED;
	CHECK(status == EMOGI_OK || status == EMOGI_CANCELED,
		  "%s canceled after %.6f s: status %d, %s (%s)", name, seconds, status, error.message,
		  error.detail);
	return status != EMOGI_DEVICE_ERROR;
}

/* Run a query, cancel it many times, and check that it still returns the same answer. */
static void
check_query(const EmogiGraph *graph, const EmogiQuery *query, uint64_t tries)
{
	const char *name = emogi_algorithm_row(query->algorithm)->name;
	const uint64_t n = emogi_query_length(graph, query);
	Answer		expected = make_answer(n);
	Answer		answer = make_answer(n);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	uint64_t	ncanceled = 0;
	double		seconds = 0.0;
	EmogiStatus status = EMOGI_OK;

	/* the second run finds the graph on the device */
	for (int turn = 0; turn < 2 && status == EMOGI_OK; turn++)
	{
		seconds = now_seconds();
		status = cuda->run(cuda_state, graph, query, &expected.result, &control, &error);
		seconds = now_seconds() - seconds;
	}
	CHECK(status == EMOGI_OK, "%s: status %d, %s (%s)", name, status, error.message, error.detail);
	for (uint64_t i = 0; i < tries && status == EMOGI_OK; i++)
		if (!cancel_once(graph, query, &answer, seconds * (double) (i + 1) / (double) (tries + 1),
						 &ncanceled))
			status = EMOGI_DEVICE_ERROR;
	if (status == EMOGI_OK)
	{
		CHECK(ncanceled > 0 || tries < 10, "%s was never canceled, of %.6f s", name, seconds);
		CHECK(cuda->run(cuda_state, graph, query, &answer.result, &control, &error) == EMOGI_OK,
			  "%s: %s", name, error.message);
		CHECK(agree(query->algorithm, n, &answer.result, &expected.result),
			  "%s has another answer after it was canceled", name);
	}
	printf("%s: %.3f ms, %llu of %llu canceled\n", name, seconds * 1e3,
		   (unsigned long long) ncanceled, (unsigned long long) tries);
	free(expected.memory);
	free(answer.memory);
}

/* Build an undirected graph with 64-bit weights. */
static EmogiBuiltGraph
make_graph(int scale)
{
	EmogiPool  *pool = emogi_cpu_engine_pool(cpu_state);
	EmogiControl control = {0};
	EmogiBuiltGraph built;
	EmogiEdgeSet plain;
	EmogiEdgeSet set;
	EmogiEdge  *edges;
	EmogiError	error;
	double	   *weights;
	uint64_t	nedges = 0;

	if (!emogi_generate_edges(pool, EMOGI_KRON, scale, DEGREE, 11, &plain))
		abort();
	edges = naive_alloc(plain.edges.nedges, sizeof(EmogiEdge));
	weights = naive_alloc(plain.edges.nedges, sizeof(double));
	for (uint64_t c = 0; c < plain.edges.nchunks; c++)
	{
		memcpy(edges + nedges, plain.chunks[c]->edges, plain.chunks[c]->nedges * sizeof(EmogiEdge));
		nedges += plain.chunks[c]->nedges;
	}
	for (uint64_t i = 0; i < nedges; i++)
		weights[i] = (double) (emogi_random(8, i) >> 11) * 0x1p-53;
	if (!emogi_edge_set_fill_weighted(&set, edges, weights, nedges, EMOGI_CHUNK_WEIGHTED_EDGES) ||
		emogi_build_graph(pool, &set.edges, EMOGI_BOTH, true, &built, &control, &error) != EMOGI_OK)
		abort();
	built.graph.id = ++last_id;
	emogi_edge_set_free(&plain);
	emogi_edge_set_free(&set);
	free(edges);
	free(weights);
	return built;
}

/*
 * Return true if a query is feasible on this graph: top-k similarities of a large one take minutes.
 */
static bool
is_quick(const EmogiGraph *graph, const EmogiQuery *query)
{
	const EmogiAdjacency *lists = &graph->forward;
	uint64_t	nsecond = 0;

	if (query->algorithm != EMOGI_SIMILARITY || query->pairs != NULL)
		return true;
	for (uint64_t e = 0; e < lists->nedges; e++)
		nsecond += lists->offsets[lists->targets[e] + UINT64_C(1)] -
			lists->offsets[lists->targets[e]];
	return nsecond <= MAX_SECOND_EDGES;
}

/* Cancel all algorithms that queue kernels which use the output of others. */
static void
check_all(const EmogiGraph *graph, uint64_t tries)
{
	const uint64_t npairs = PAIRS_EACH * graph->nvertices;
	uint32_t   *pairs = naive_alloc(2 * npairs, sizeof *pairs);
	uint32_t	sources[SOURCES];
	const EmogiQuery queries[] = {
		{.algorithm = EMOGI_SPANNING_FOREST},
		{.algorithm = EMOGI_SIMILARITY, .pairs = pairs, .npairs = npairs},
		{.algorithm = EMOGI_SIMILARITY, .top_k = 2},
		{.algorithm = EMOGI_LOUVAIN, .resolution = 1.0, .tolerance = 1e-7},
		{.algorithm = EMOGI_LEIDEN, .resolution = 1.0, .theta = 0.01},
		{.algorithm = EMOGI_TRIANGLES},
		{.algorithm = EMOGI_LCC},
		{.algorithm = EMOGI_CORE},
		{.algorithm = EMOGI_CDLP, .max_iterations = 10},
		{.algorithm = EMOGI_BRIDGES},
		{.algorithm = EMOGI_ARTICULATION_POINTS},
		{.algorithm = EMOGI_BICONNECTED},
		{.algorithm = EMOGI_CC},
		{.algorithm = EMOGI_SCC},
		{.algorithm = EMOGI_SSNSP, .sources = sources, .nsources = 1, .max_depth = -1},
		{.algorithm = EMOGI_BETWEENNESS, .sources = sources, .nsources = SOURCES},
		{.algorithm = EMOGI_PAGERANK, .damping = 0.85, .max_iterations = 20}
	};

	for (uint64_t i = 0; i < 2 * npairs; i++)
		pairs[i] = (uint32_t) (emogi_random(9, i) % graph->nvertices);
	if (!emogi_pick_sources(graph, 10, sources, SOURCES))
		abort();
	for (size_t q = 0; q < sizeof queries / sizeof queries[0]; q++)
		if (is_selected(queries[q].algorithm) && is_quick(graph, &queries[q]))
			check_query(graph, &queries[q], tries);
	free(pairs);
}

int
main(void)
{
	const uint64_t tries = number_from_environment("EMOGI_CANCEL_TRIES", 30);
	EmogiBuiltGraph built;
	pthread_t	watcher;

	if (!open_both())
		return check_report("test_cancel");
	pthread_create(&watcher, NULL, watch, &running_since);
	pthread_detach(watcher);
	built = make_graph((int) number_from_environment("EMOGI_CANCEL_SCALE", 20));
	check_all(&built.graph, tries);
	(void) cuda->forget(cuda_state, built.graph.id);
	emogi_built_graph_free(&built);
	close_both();
	return check_report("test_cancel");
}
