/*
 * test_order.c: levels, positions and longest paths of graphs without a cycle are those that edges followed until nothing changes give, and
 * the same bits for any number of threads; of a graph with a cycle one that is there is named, the same by all. The verifier notices what is
 * changed. Canceled runs and those without memory end.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#define NRANDOM 300
#define NKINDS 7				/* of weights, all finite */
#define LARGE 800000			/* edges */
#define MOST_WORK 3e7			/* vertices times edges, to be followed until nothing changes */

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

/* Ask an engine. */
static Answer
ask(EmogiEngineState *state, const EmogiGraph *graph, EmogiAlgorithm algorithm, uint32_t fail_allocation)
{
	const EmogiQuery query = {.algorithm = algorithm};
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer		answer = {.level = naive_alloc(graph->nvertices, 4), .position = naive_alloc(graph->nvertices, 8),
		.distance = naive_alloc(graph->nvertices, 8)};

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
forget(Answer *answer)
{
	free(answer->level);
	free(answer->position);
	free(answer->distance);
}

/* Does an edge lead from one vertex to another? */
static bool
has_edge(const EmogiGraph *graph, uint32_t from, uint32_t to)
{
	for (uint64_t e = graph->forward.offsets[from]; e < graph->forward.offsets[from + 1]; e++)
		if (graph->forward.targets[e] == to)
			return true;
	return false;
}

/* Check that a cycle that was named is there. */
static void
check_cycle(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	const EmogiRefusal *refusal = &answer->result.refusal;
	const uint64_t nnamed = refusal->cycle_length < EMOGI_CYCLE_NAMED ? refusal->cycle_length : EMOGI_CYCLE_NAMED;

	CHECK(refusal->kind == EMOGI_HAS_CYCLE && refusal->cycle_length > 0 && answer->error.message[0] != '\0', "%s: refused without a reason", name);
	for (uint64_t i = 0; i + 1 < nnamed; i++)
		CHECK(has_edge(graph, refusal->cycle[i], refusal->cycle[i + 1]), "%s: no edge %u -> %u of the cycle", name, refusal->cycle[i],
			  refusal->cycle[i + 1]);
	CHECK(refusal->cycle_length > EMOGI_CYCLE_NAMED || has_edge(graph, refusal->cycle[nnamed - 1], refusal->cycle[0]), "%s: the cycle is open", name);
	for (uint64_t i = 1; i < nnamed; i++)
		CHECK(refusal->cycle[i] > refusal->cycle[0] || refusal->cycle_length > 1, "%s: the cycle does not begin at its smallest vertex", name);
}

/* Follow all edges until nothing changes; false when that does not end, for there is a cycle. */
static bool
follow_all(const EmogiGraph *graph, Answer *naive)
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
				const double offer = naive->distance[v] + emogi_weight(graph->forward.weights, graph->weight_type, e);

				changes |= naive->level[w] < naive->level[v] + 1 || naive->distance[w] < offer;
				naive->level[w] = naive->level[w] < naive->level[v] + 1 ? naive->level[v] + 1 : naive->level[w];
				naive->distance[w] = naive->distance[w] < offer ? offer : naive->distance[w];
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

/* Make positions of levels. */
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

/* Compare an answer with the naive one. */
static void
check_naive(const char *name, const EmogiGraph *graph, const Answer *answer, EmogiAlgorithm algorithm)
{
	Answer		naive = {.level = naive_alloc(graph->nvertices, 4), .position = naive_alloc(graph->nvertices, 8),
		.distance = naive_alloc(graph->nvertices, 8)};
	const uint64_t n = graph->nvertices;

	if ((double) n * (double) graph->forward.nedges <= MOST_WORK)
	{
		const bool	ends = follow_all(graph, &naive);

		CHECK(ends == (answer->status == EMOGI_OK), "%s: a cycle, or none", name);
		sort_all(graph, &naive);
		if (ends && algorithm == EMOGI_LONGEST_PATH)
			CHECK(memcmp(naive.distance, answer->distance, n * 8) == 0, "%s: wrong distances", name);
		else if (ends)
			CHECK(memcmp(naive.level, answer->level, n * 4) == 0 && memcmp(naive.position, answer->position, n * 8) == 0, "%s: wrong order", name);
	}
	forget(&naive);
}

/* Change a value and see that the verifier notices. */
static void
check_noticed(const char *name, const EmogiGraph *graph, const EmogiQuery *query, Answer *answer, uint64_t seed)
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
		CHECK(!emogi_verify(graph, query, &answer->result, &error), "%s: a change of column %d at vertex %llu was not noticed", name, column,
			  (unsigned long long) v);
		answer->level[v] -= column == 0;
		answer->position[v] -= column == 1;
	}
}

/* Ask all engines, with and without memory. */
static void
check_query(const char *name, const EmogiGraph *graph, EmogiAlgorithm algorithm, uint64_t seed)
{
	const EmogiQuery query = {.algorithm = algorithm};
	Answer		first = ask(states[0], graph, algorithm, 0);

	CHECK(first.status == EMOGI_OK || first.status == EMOGI_BAD_INPUT, "%s: status %d %s", name, first.status, first.error.message);
	ncyclic += first.status == EMOGI_BAD_INPUT;
	nacyclic += first.status == EMOGI_OK;
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = ask(states[e], graph, algorithm, 0);

		CHECK(other.status == first.status && memcmp(&other.result.refusal, &first.result.refusal, sizeof first.result.refusal) == 0,
			  "%s: status %d, or another cycle", name, other.status);
		CHECK(first.status != EMOGI_OK ||
			  (memcmp(first.level, other.level, graph->nvertices * 4) == 0 && memcmp(first.position, other.position, graph->nvertices * 8) == 0 &&
			   memcmp(first.distance, other.distance, graph->nvertices * 8) == 0), "%s: not the bits of one thread", name);
		forget(&other);
	}
	if (first.status == EMOGI_OK)
		CHECK(emogi_verify(graph, &query, &first.result, &first.error), "%s: %s", name, first.error.message);
	else
		check_cycle(name, graph, &first);
	for (uint32_t allocation = 1; allocation < 5; allocation++)
	{
		Answer		other = ask(states[1], graph, algorithm, allocation);

		CHECK(other.status == EMOGI_NO_MEMORY || other.status == first.status, "%s: status %d without memory", name, other.status);
		forget(&other);
	}
	check_naive(name, graph, &first, algorithm);
	if (first.status == EMOGI_OK && graph->nvertices > 0)
		check_noticed(name, graph, &query, &first, seed);
	forget(&first);
}

/* Ask a Graph as it is. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	check_query(name, graph, EMOGI_TOPOLOGICAL_ORDER, seed);
	check_query(name, graph, EMOGI_LONGEST_PATH, seed);
}

/* Turn the edges of a shape so that they make no cycle, in an order that is not that of the keys; loops go. */
static void
straighten(EmogiShape *shape, uint64_t seed)
{
	uint64_t	count = 0;

	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		EmogiEdge	edge = shape->edges[i];

		if (edge.src == edge.dst)
			continue;
		if (emogi_random(seed, (uint64_t) edge.src) % 1024 > emogi_random(seed, (uint64_t) edge.dst) % 1024 ||
			(emogi_random(seed, (uint64_t) edge.src) % 1024 == emogi_random(seed, (uint64_t) edge.dst) % 1024 && edge.src > edge.dst))
			edge = (EmogiEdge) {edge.dst, edge.src};
		shape->edges[count++] = edge;
	}
	shape->nedges = count;
}

/* Ask all shapes and random graphs without their cycles, with weights also below 0; at times with one edge back. */
static void
check_straightened(void)
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
		straighten(&shape, i);
		if (i % 5 == 4 && shape.nedges > 2)
			shape.edges[i % shape.nedges] = (EmogiEdge) {shape.edges[i % shape.nedges].dst, shape.edges[i % shape.nedges].src};
		weights = naive_weights((int) (i % NKINDS), i, shape.nedges);
		for (uint64_t e = 0; weights != NULL && i % 3 == 0 && e < shape.nedges; e += 2)
			weights[e] = -weights[e];
		graph = naive_build(&shape, weights, EMOGI_OUT, i % 2 == 0);
		snprintf(name, sizeof name, "%s straightened, %llu", shape.name, (unsigned long long) i);
		check_graph(name, &graph, i);
		naive_free(&graph);
		free(weights);
		emogi_shape_free(&shape);
	}
}

/* Ask a long chain, which has as many levels as vertices, and one that is closed. */
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
	answer = ask(states[1], &graph, EMOGI_LONGEST_PATH, 0);
	CHECK(answer.status == EMOGI_BAD_INPUT && answer.result.refusal.cycle_length == 199000 && answer.result.refusal.cycle[0] == 1000 &&
		  answer.result.refusal.cycle[9] == 1009, "a long cycle: %llu edges", (unsigned long long) answer.result.refusal.cycle_length);
	forget(&answer);
	naive_free(&graph);
	emogi_shape_free(&chain);
}

/* Ask of a graph that is large enough for all threads; canceled before and while it runs. */
static void
check_large(void)
{
	const EmogiQuery query = {.algorithm = EMOGI_TOPOLOGICAL_ORDER};
	EmogiShape	shape = {.name = "large", .nedges = LARGE, .edges = malloc(LARGE * sizeof(EmogiEdge))};
	EmogiGraph	graph;
	Answer		answer;

	for (uint64_t i = 0; i < LARGE; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) % (emogi_random(2, i) % 65536 + 1)), (int64_t) (emogi_random(3, i) % 65536)};
	straighten(&shape, 3);
	graph = naive_build(&shape, NULL, EMOGI_OUT, false);
	check_graph("large", &graph, 3);
	answer = ask(states[0], &graph, EMOGI_TOPOLOGICAL_ORDER, 0);
	engines_check_cancel("large", &graph, &query, answer.result);
	forget(&answer);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

int
main(void)
{
	engines_open();
	engines_check_shapes(50, NKINDS, check_graph);
	check_straightened();
	check_chains();
	check_large();
	CHECK(ncyclic > 100 && nacyclic > 400, "%llu graphs with a cycle, %llu without", (unsigned long long) ncyclic, (unsigned long long) nacyclic);
	engines_close();
	return check_report("test_order");
}
