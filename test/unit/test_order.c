/*
 * test_order.c: tests of topological order and longest paths against label correction: edges are
 * relaxed until nothing changes.
 *
 * Answers must be bit-identical for any number of threads. For a cyclic graph, all engines must
 * report the same existing cycle. The verifier must detect changes. Failed allocations and
 * cancellation must end a run.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#define NRANDOM 300
#define NKINDS 7				/* kinds of weights, all finite */
#define LARGE 800000			/* edges */
#define MAX_WORK 3e7			/* vertices * edges up to which the oracle is used */

static uint64_t ncyclic;
static uint64_t nacyclic;

/* An answer, or a refusal. */
typedef struct Answer
{
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
	int32_t    *level;
	int64_t    *position;
	double	   *distance;
} Answer;

/* Run an algorithm on an engine. */
static Answer
run_algorithm(EmogiEngineState *state, const EmogiGraph *graph, EmogiAlgorithm algorithm,
			  uint32_t fail_allocation)
{
	const EmogiQuery query = {.algorithm = algorithm};
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer answer = {.level = naive_alloc(graph->nvertices, 4),
		.position = naive_alloc(graph->nvertices, 8), .distance = naive_alloc(graph->nvertices, 8)};

	if (algorithm == EMOGI_LONGEST_PATH)
		answer.result.columns[0].float64 = answer.distance;
	else
	{
		answer.result.columns[0].int32 = answer.level;
		answer.result.columns[1].int64 = answer.position;
	}
	answer.status = engine->run(state, graph, &query, &answer.result, &control, &answer.error);
	return answer;
}

/* Free an answer. */
static void
free_answer(Answer *answer)
{
	free(answer->level);
	free(answer->position);
	free(answer->distance);
}

/* Return true if the graph has an edge between two vertices. */
static bool
has_edge(const EmogiGraph *graph, uint32_t from, uint32_t to)
{
	for (uint64_t e = graph->forward.offsets[from]; e < graph->forward.offsets[from + 1]; e++)
		if (graph->forward.targets[e] == to)
			return true;
	return false;
}

/* Check that a reported cycle exists. */
static void
check_cycle(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	const EmogiRefusal *refusal = &answer->result.refusal;
	const uint64_t nnamed = refusal->cycle_length < EMOGI_CYCLE_NAMED ? refusal->cycle_length
		: EMOGI_CYCLE_NAMED;

	CHECK(refusal->kind == EMOGI_HAS_CYCLE && refusal->cycle_length > 0 &&
		  answer->error.message[0] != '\0', "%s: refused without a reason", name);
	for (uint64_t i = 0; i + 1 < nnamed; i++)
		CHECK(has_edge(graph, refusal->cycle[i], refusal->cycle[i + 1]),
			  "%s: no edge %u -> %u of the cycle", name, refusal->cycle[i], refusal->cycle[i + 1]);
	CHECK(refusal->cycle_length > EMOGI_CYCLE_NAMED ||
		  has_edge(graph, refusal->cycle[nnamed - 1], refusal->cycle[0]), "%s: the cycle is open",
		  name);
	for (uint64_t i = 1; i < nnamed; i++)
		CHECK(refusal->cycle[i] > refusal->cycle[0] || refusal->cycle_length > 1,
			  "%s: the cycle does not begin at its smallest vertex", name);
}

/* Relax all edges until nothing changes; returns false if there is a cycle. */
static bool
relax_all(const EmogiGraph *graph, Answer *naive)
{
	uint32_t   *nin = naive_alloc(graph->nvertices, sizeof *nin);
	bool		changes = true;

	for (uint64_t e = 0; e < graph->forward.nedges; e++)
		nin[graph->forward.targets[e]]++;
	for (uint64_t v = 0; v < graph->nvertices; v++)
		naive->distance[v] = nin[v] == 0 ? 0.0 : -(double) INFINITY;
	for (uint64_t round = 0; changes && round <= graph->nvertices; round++)
	{
		changes = false;
		for (uint64_t v = 0; v < graph->nvertices; v++)
			for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
			{
				const uint32_t w = graph->forward.targets[e];
				const double candidate = naive->distance[v] + emogi_weight(graph->forward.weights,
																		   graph->weight_type, e);

				changes |= naive->level[w] < naive->level[v] + 1 || naive->distance[w] < candidate;
				naive->level[w] = naive->level[w] < naive->level[v] + 1 ? naive->level[v] + 1
					: naive->level[w];
				naive->distance[w] = naive->distance[w] < candidate ? candidate
					: naive->distance[w];
			}
	}
	free(nin);
	return !changes;
}

static const int32_t *sorted_level;

/* Order vertices for qsort: by level and number. */
static int
compare_vertices(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *) a,
				y = *(const uint32_t *) b;

	if (sorted_level[x] != sorted_level[y])
		return sorted_level[x] < sorted_level[y] ? -1 : 1;
	return (x > y) - (x < y);
}

/* Compute the positions from the levels. */
static void
sort_all(const EmogiGraph *graph, Answer *naive)
{
	uint32_t   *vertices = naive_alloc(graph->nvertices, sizeof *vertices);

	for (uint64_t v = 0; v < graph->nvertices; v++)
		vertices[v] = (uint32_t) v;
	sorted_level = naive->level;
	qsort(vertices, graph->nvertices, sizeof *vertices, compare_vertices);
	for (uint64_t i = 0; i < graph->nvertices; i++)
		naive->position[vertices[i]] = (int64_t) i;
	free(vertices);
}

/* Compare an answer with the oracle's. */
static void
check_naive(const char *name, const EmogiGraph *graph, const Answer *answer,
			EmogiAlgorithm algorithm)
{
	Answer naive = {.level = naive_alloc(graph->nvertices, 4),
		.position = naive_alloc(graph->nvertices, 8), .distance = naive_alloc(graph->nvertices, 8)};
	const uint64_t n = graph->nvertices;

	if ((double) n * (double) graph->forward.nedges <= MAX_WORK)
	{
		const bool	ends = relax_all(graph, &naive);

		CHECK(ends == (answer->status == EMOGI_OK), "%s: cyclic by one of both only", name);
		sort_all(graph, &naive);
		if (ends && algorithm == EMOGI_LONGEST_PATH)
			CHECK(memcmp(naive.distance, answer->distance, n * 8) == 0, "%s: wrong distances",
				  name);
		else if (ends)
			CHECK(memcmp(naive.level, answer->level, n * 4) == 0 &&
				  memcmp(naive.position, answer->position, n * 8) == 0, "%s: wrong order", name);
	}
	free_answer(&naive);
}

/* Check that the verifier detects a changed value. */
static void
check_detected(const char *name, const EmogiGraph *graph, const EmogiQuery *query, Answer *answer,
			   uint64_t seed)
{
	const uint64_t v = emogi_random(seed, 77) % graph->nvertices;
	EmogiError	error = {{0}, {0}};

	for (int column = 0; column < 3; column++)
	{
		if ((column < 2) == (query->algorithm == EMOGI_LONGEST_PATH))
			continue;
		answer->level[v] += column == 0;
		answer->position[v] += column == 1;
		answer->distance[v] += column == 2 ? 0.125 * (1 + fabs(answer->distance[v])) : 0;
		CHECK(!emogi_verify(graph, query, &answer->result, &error),
			  "%s: the verifier missed a change of column %d at vertex %llu", name, column,
			  (unsigned long long) v);
		answer->level[v] -= column == 0;
		answer->position[v] -= column == 1;
	}
}

/* Run an algorithm on all engines, and with failing allocations, and check the answers. */
static void
check_query(const char *name, const EmogiGraph *graph, EmogiAlgorithm algorithm, uint64_t seed)
{
	const EmogiQuery query = {.algorithm = algorithm};
	Answer		first = run_algorithm(states[0], graph, algorithm, 0);

	CHECK(first.status == EMOGI_OK || first.status == EMOGI_BAD_INPUT, "%s: status %d %s", name,
		  first.status, first.error.message);
	ncyclic += first.status == EMOGI_BAD_INPUT;
	nacyclic += first.status == EMOGI_OK;
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = run_algorithm(states[e], graph, algorithm, 0);

		CHECK(other.status == first.status &&
			  memcmp(&other.result.refusal, &first.result.refusal, sizeof first.result.refusal) ==
			  0, "%s: status %d, or another cycle", name, other.status);
		CHECK(first.status != EMOGI_OK ||
			  (memcmp(first.level, other.level, graph->nvertices * 4) == 0 &&
			   memcmp(first.position, other.position, graph->nvertices * 8) == 0 &&
			   memcmp(first.distance, other.distance, graph->nvertices * 8) == 0),
			  "%s: not bit-identical to one thread", name);
		free_answer(&other);
	}
	if (first.status == EMOGI_OK)
		CHECK(emogi_verify(graph, &query, &first.result, &first.error), "%s: %s", name,
			  first.error.message);
	else
		check_cycle(name, graph, &first);
	for (uint32_t allocation = 1; allocation < 5; allocation++)
	{
		Answer		other = run_algorithm(states[1], graph, algorithm, allocation);

		CHECK(other.status == EMOGI_NO_MEMORY || other.status == first.status,
			  "%s: status %d without memory", name, other.status);
		free_answer(&other);
	}
	check_naive(name, graph, &first, algorithm);
	if (first.status == EMOGI_OK && graph->nvertices > 0)
		check_detected(name, graph, &query, &first, seed);
	free_answer(&first);
}

/* Check both algorithms on a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	check_query(name, graph, EMOGI_TOPOLOGICAL_ORDER, seed);
	check_query(name, graph, EMOGI_LONGEST_PATH, seed);
}

/*
 * Reverse edges of a shape so that it has no cycle, in an order other than that of the keys; remove
 * self-loops.
 */
static void
make_acyclic(EmogiShape *shape, uint64_t seed)
{
	uint64_t	count = 0;

	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		EmogiEdge	edge = shape->edges[i];

		if (edge.src == edge.dst)
			continue;
		if (emogi_random(seed, (uint64_t) edge.src) % 1024 >
			emogi_random(seed, (uint64_t) edge.dst) % 1024 ||
			(emogi_random(seed, (uint64_t) edge.src) % 1024 ==
			 emogi_random(seed, (uint64_t) edge.dst) % 1024 && edge.src > edge.dst))
			edge = (EmogiEdge) {edge.dst, edge.src};
		shape->edges[count++] = edge;
	}
	shape->nedges = count;
}

/*
 * Check all shapes and random graphs without their cycles, with weights that may be negative; some
 * have one reversed edge.
 */
static void
check_acyclic(void)
{
	const uint64_t nshapes = (uint64_t) emogi_shape_count();
	EmogiShape	shape;

	for (uint64_t i = 0; i < nshapes + NRANDOM; i++)
	{
		char		name[160];
		double	   *weights;
		EmogiGraph	graph;

		if (!(i < nshapes ? emogi_shape_make((int) i, &shape) : emogi_shape_random(i, &shape)))
			abort();
		make_acyclic(&shape, i);
		if (i % 5 == 4 && shape.nedges > 2)
			shape.edges[i % shape.nedges] = (EmogiEdge) {shape.edges[i % shape.nedges].dst,
				shape.edges[i % shape.nedges].src};
		weights = naive_weights((int) (i % NKINDS), i, shape.nedges);
		for (uint64_t e = 0; weights != NULL && i % 3 == 0 && e < shape.nedges; e += 2)
			weights[e] = -weights[e];
		graph = naive_build(&shape, weights, EMOGI_OUT, i % 2 == 0);
		snprintf(name, sizeof name, "%s acyclic, %llu", shape.name, (unsigned long long) i);
		check_graph(name, &graph, i);
		naive_free(&graph);
		free(weights);
		emogi_shape_free(&shape);
	}
}

/* Check a long chain, which has as many levels as vertices, and one that is closed to a cycle. */
static void
check_chains(void)
{
	EmogiShape	chain = engines_chain(200000);
	EmogiGraph	graph = naive_build(&chain, NULL, EMOGI_OUT, false);
	Answer		answer;

	check_graph("a long chain", &graph, 1);
	naive_free(&graph);
	chain.edges[chain.nedges - 1].dst = 1000;
	graph = naive_build(&chain, NULL, EMOGI_OUT, false);
	answer = run_algorithm(states[1], &graph, EMOGI_LONGEST_PATH, 0);
	CHECK(answer.status == EMOGI_BAD_INPUT && answer.result.refusal.cycle_length == 199000 &&
		  answer.result.refusal.cycle[0] == 1000 && answer.result.refusal.cycle[9] == 1009,
		  "a long cycle: %llu edges", (unsigned long long) answer.result.refusal.cycle_length);
	free_answer(&answer);
	naive_free(&graph);
	emogi_shape_free(&chain);
}

/* Check a graph that is large enough for all threads, and cancel before and during a run. */
static void
check_large(void)
{
	const EmogiQuery query = {.algorithm = EMOGI_TOPOLOGICAL_ORDER};
	EmogiShape shape = {.name = "large", .nedges = LARGE,
		.edges = malloc(LARGE * sizeof(EmogiEdge))};
	EmogiGraph	graph;
	Answer		answer;

	for (uint64_t i = 0; i < LARGE; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) %
												 (emogi_random(2, i) % 65536 + 1)),
			(int64_t) (emogi_random(3, i) % 65536)};
	make_acyclic(&shape, 3);
	graph = naive_build(&shape, NULL, EMOGI_OUT, false);
	check_graph("large", &graph, 3);
	answer = run_algorithm(states[0], &graph, EMOGI_TOPOLOGICAL_ORDER, 0);
	engines_check_cancel("large", &graph, &query, answer.result);
	free_answer(&answer);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

int
main(void)
{
	engines_open();
	engines_check_shapes(50, NKINDS, check_graph);
	check_acyclic();
	check_chains();
	check_large();
	CHECK(ncyclic > 100 && nacyclic > 400, "%llu graphs with a cycle, %llu without",
		  (unsigned long long) ncyclic, (unsigned long long) nacyclic);
	engines_close();
	return check_report("test_order");
}
