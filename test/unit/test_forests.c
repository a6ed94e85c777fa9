/*
 * test_forests.c: tests of spanning forests, bridges, articulation points, and biconnected
 * components against their definitions, evaluated edge by edge and vertex by vertex.
 *
 * Answers must be bit-identical for any number of threads. The verifiers must detect changed
 * values. Failed allocations and cancellation must end a run.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/biconnected.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#define NSMALL 1500
#define NRANDOM 60
#define NKINDS 7				/* kinds of weights, all finite */
#define MAX_VERTICES 40			/* of a graph that is checked against the definitions */
#define LARGE 800000			/* edges */

static uint64_t nnaive;
static uint64_t nbridges;
static uint64_t npoints;
static uint64_t nblocks_seen;

static const EmogiAlgorithm algorithms[] = {EMOGI_SPANNING_FOREST, EMOGI_SPANNING_FOREST,
	EMOGI_BRIDGES, EMOGI_ARTICULATION_POINTS,
	EMOGI_BICONNECTED};
#define NTESTED ((int) (sizeof algorithms / sizeof algorithms[0]))

/* An answer. */
typedef struct Answer
{
	EmogiQuery	query;
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
} Answer;

/* Get the columns of a query's row. */
static const EmogiResultColumn *
columns_of(const EmogiQuery *query)
{
	return emogi_algorithm_row(query->algorithm)->columns;
}

/* Run an algorithm; the second one of the list is the maximum spanning forest. */
static Answer
run_algorithm(EmogiEngineState *state, const EmogiGraph *graph, int algorithm,
			  uint32_t fail_allocation)
{
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer		answer = {.query = {.algorithm = algorithms[algorithm], .maximum = algorithm == 1}};
	const EmogiResultColumn *columns = columns_of(&answer.query);

	for (int i = 0; columns[i].name != NULL; i++)
	{
		answer.result.columns[i].any = naive_alloc(graph->nvertices, 8);
		memset(answer.result.columns[i].any, 0x5A, graph->nvertices * 8);
	}
	answer.status = engine->run(state, graph, &answer.query, &answer.result, &control,
								&answer.error);
	return answer;
}

/* Free an answer. */
static void
free_answer(Answer *answer)
{
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		free(answer->result.columns[i].any);
}

/* ---- definitions ---- */

/* A subgraph: a graph without a vertex or some edges. */
typedef struct Without
{
	const EmogiGraph *graph;
	int64_t		vertex;			/* -1 = none */
	bool		(*leaves_out) (const void *arg, uint32_t v, uint64_t e);	/* NULL = all edges */
	const void *arg;
} Without;

/* Label everything that is connected to v. */
static void
label_component(const Without *without, uint32_t v, int32_t label, int32_t *labels)
{
	const EmogiAdjacency *lists = &without->graph->forward;
	uint32_t	stack[MAX_VERTICES];
	int			depth = 0;

	labels[v] = label;
	stack[depth++] = v;
	while (depth > 0)
	{
		v = stack[--depth];
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			if (labels[lists->targets[e]] < 0 && lists->targets[e] != without->vertex &&
				(without->leaves_out == NULL || !without->leaves_out(without->arg, v, e)))
			{
				labels[lists->targets[e]] = label;
				stack[depth++] = lists->targets[e];
			}
	}
}

/* Label the components of a subgraph; returns their number. */
static int32_t
label_all(const Without *without, int32_t *labels)
{
	int32_t		count = 0;

	for (int v = 0; v < MAX_VERTICES; v++)
		labels[v] = -1;
	for (uint64_t v = 0; v < without->graph->nvertices; v++)
		if (labels[v] < 0 && (int64_t) v != without->vertex)
			label_component(without, (uint32_t) v, count++, labels);
	return count;
}

/* An edge, and its position in the order of Kruskal's algorithm. */
typedef struct Place
{
	const EmogiGraph *graph;
	bool		maximum;
	double		weight;
	uint32_t	low;
	uint32_t	high;
} Place;

/* Return the edge of a list entry. */
static Place
place_of(const EmogiGraph *graph, bool maximum, uint32_t v, uint64_t e)
{
	const uint32_t w = graph->forward.targets[e];

	return (Place) {graph, maximum, emogi_weight(graph->forward.weights, graph->weight_type, e),
		v < w ? v : w, v < w ? w : v};
}

/* Return true if a list entry is not before an edge in that order. */
static bool
is_not_before(const void *arg, uint32_t v, uint64_t e)
{
	const Place *edge = arg;
	const Place other = place_of(edge->graph, edge->maximum, v, e);

	if (other.weight != edge->weight)
		return edge->maximum ? other.weight < edge->weight : other.weight > edge->weight;
	return other.low != edge->low ? other.low > edge->low : other.high >= edge->high;
}

/*
 * Check a forest: it has an edge if the edges before it do not connect its endpoints. The roots are
 * the smallest vertices.
 */
static void
check_forest(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	const EmogiAdjacency *lists = &graph->forward;
	const uint32_t *parent = answer->result.columns[0].vertex;
	uint64_t	nedges = 0;
	uint64_t	nanswered = 0;

	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		nanswered += parent[v] != EMOGI_NO_VERTEX;
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1] && lists->targets[e] < v;
			 e++)
		{
			const Place edge = place_of(graph, answer->query.maximum, v, e);
			const Without before = {graph, -1, is_not_before, &edge};
			const uint64_t twin = answer->query.maximum ? e + 1 : e - 1;
			const bool	is_twin = twin >= lists->offsets[v] && twin < lists->offsets[v + 1] &&
				lists->targets[twin] == edge.low;
			int32_t		labels[MAX_VERTICES];
			uint32_t	child = parent[edge.low] == edge.high ? edge.low : edge.high;

			label_all(&before, labels);
			if (is_twin || labels[edge.low] == labels[edge.high])
				continue;
			nedges++;
			CHECK(parent[edge.low] == edge.high || parent[edge.high] == edge.low,
				  "%s: %u - %u is not in the forest", name, edge.low, edge.high);
			CHECK(answer->result.columns[1].float64[child] == edge.weight,
				  "%s: %u - %u has another weight", name, edge.low, edge.high);
		}
	}
	CHECK(nedges == nanswered, "%s: %llu edges of %llu", name, (unsigned long long) nanswered,
		  (unsigned long long) nedges);
	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		const Without none = {graph, -1, NULL, NULL};
		int32_t		labels[MAX_VERTICES];
		uint32_t	first = 0;

		label_all(&none, labels);
		while (labels[first] != labels[v])
			first++;
		CHECK((first == v) == (parent[v] == EMOGI_NO_VERTEX),
			  "%s: %u is a root by one of both only", name, v);
	}
}

/* Return true if a list entry connects the endpoints of an edge. */
static bool
is_between(const void *arg, uint32_t v, uint64_t e)
{
	const Place *edge = arg;
	const Place other = place_of(edge->graph, false, v, e);

	return other.low == edge->low && other.high == edge->high;
}

/* Check bridges: edges without a parallel one whose removal disconnects their endpoints. */
static void
check_bridges(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	const EmogiAdjacency *lists = &graph->forward;
	const uint32_t *other = answer->result.columns[0].vertex;
	uint64_t	nanswered = 0;
	uint64_t	count = 0;

	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		nanswered += other[v] != EMOGI_NO_VERTEX;
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1] && lists->targets[e] < v;
			 e++)
		{
			const Place edge = place_of(graph, false, v, e);
			const Without cut = {graph, -1, is_between, &edge};
			const bool	has_twin = (e > lists->offsets[v] && lists->targets[e - 1] == edge.low) ||
				(e + 1 < lists->offsets[v + 1] && lists->targets[e + 1] == edge.low);
			int32_t		labels[MAX_VERTICES];

			label_all(&cut, labels);
			if (has_twin || labels[edge.low] == labels[edge.high])
				continue;
			count++;
			CHECK(other[edge.low] == edge.high || other[edge.high] == edge.low,
				  "%s: %u - %u is a bridge", name, edge.low, edge.high);
		}
	}
	CHECK(count == nanswered, "%s: %llu bridges, not %llu", name, (unsigned long long) count,
		  (unsigned long long) nanswered);
	nbridges += count;
}

/*
 * The biconnected components of a graph: by pairs of neighbors, and the vertices of each as a
 * bitmap.
 */
typedef struct NaiveBlocks
{
	int			count;
	int			of_pair[MAX_VERTICES][MAX_VERTICES];	/* -1 = no edge */
	uint64_t	members[MAX_VERTICES * MAX_VERTICES];
} NaiveBlocks;

/* Find the biconnected components: two edges are in the same one if no vertex separates them. */
static void
find_blocks(const EmogiGraph *graph, NaiveBlocks *blocks)
{
	/* [x][v]: component of v in the graph without vertex x */
	static int32_t component_without[MAX_VERTICES][MAX_VERTICES];
	const uint64_t n = graph->nvertices;
	uint32_t	ends[MAX_VERTICES * MAX_VERTICES][2];

	blocks->count = 0;
	for (uint64_t x = 0; x < n; x++)
	{
		const Without without = {graph, (int64_t) x, NULL, NULL};

		label_all(&without, component_without[x]);
	}
	for (uint64_t v = 0; v < n; v++)
		for (uint64_t w = 0; w < n; w++)
			blocks->of_pair[v][w] = -1;
	for (uint32_t v = 0; v < n; v++)
		for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
		{
			const uint32_t w = graph->forward.targets[e];
			int			block = 0;

			if (w <= v)
				continue;
			for (; block < blocks->count; block++)
			{
				const uint32_t a = ends[block][0],
							b = ends[block][1];
				bool		is_one = true;

				for (uint64_t x = 0; x < n; x++)
					is_one &= component_without[x][v == x ? w : v] ==
						component_without[x][a == x ? b : a];
				if (is_one)
					break;
			}
			if (block == blocks->count)
			{
				ends[block][0] = v;
				ends[block][1] = w;
				blocks->members[blocks->count++] = 0;
			}
			blocks->of_pair[v][w] = blocks->of_pair[w][v] = block;
			blocks->members[block] |= UINT64_C(1) << v | UINT64_C(1) << w;
		}
}

/* Return the two smallest vertices of a set, as one number. */
static int
smallest_two(uint64_t members)
{
	const int	first = __builtin_ctzll(members);

	return first * 64 + __builtin_ctzll(members & (members - 1));
}

/*
 * Check articulation points: the number of their biconnected components, and that their removal
 * increases the number of components.
 */
static void
check_points(const char *name, const EmogiGraph *graph, const NaiveBlocks *blocks,
			 const Answer *answer)
{
	const Without none = {graph, -1, NULL, NULL};
	int32_t		labels[MAX_VERTICES];
	const int32_t ncomponents = label_all(&none, labels);

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		const Without without = {graph, (int64_t) v, NULL, NULL};
		const int64_t answered = answer->result.columns[0].int64[v];
		int64_t		count = 0;

		for (int block = 0; block < blocks->count; block++)
			count += blocks->members[block] >> v & 1;
		CHECK(answered == (count < 2 ? 0 : count), "%s: vertex %llu is in %lld blocks, not %lld",
			  name, (unsigned long long) v, (long long) count, (long long) answered);
		CHECK((label_all(&without, labels) > ncomponents) == (answered > 0),
			  "%s: vertex %llu is an articulation point by one of both only", name,
			  (unsigned long long) v);
		npoints += answered > 0;
	}
}

/*
 * Check biconnected components: their vertices and numbers, and that both endpoints of an edge
 * share exactly one.
 */
static void
check_blocks(const char *name, const EmogiGraph *graph, const NaiveBlocks *blocks,
			 const Answer *answer)
{
	const int64_t *component = answer->result.columns[0].int64;
	const uint32_t *parent = answer->result.columns[1].vertex;
	static uint64_t answered[MAX_VERTICES * MAX_VERTICES];

	memset(answered, 0, sizeof answered);
	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		const uint32_t top = emogi_block_top(component, parent, v);

		CHECK(component[v] >= -1 && component[v] < blocks->count, "%s: block %lld", name,
			  (long long) component[v]);
		if (component[v] < 0)
			continue;
		answered[component[v]] |= UINT64_C(1) << v;
		if (top != EMOGI_NO_VERTEX)
			answered[component[v]] |= UINT64_C(1) << top;
	}
	for (int block = 0; block < blocks->count; block++)
	{
		int			number = 0;

		for (int other = 0; other < blocks->count; other++)
			number += smallest_two(blocks->members[other]) < smallest_two(blocks->members[block]);
		CHECK(answered[number] == blocks->members[block], "%s: block %d has other vertices", name,
			  number);
	}
	for (uint32_t v = 0; v < graph->nvertices; v++)
		for (uint32_t w = 0; w < v; w++)
		{
			int			nshared = 0;

			for (int block = 0; block < blocks->count; block++)
				nshared += (answered[block] >> v & answered[block] >> w & 1) != 0;
			CHECK(blocks->of_pair[v][w] < 0 || nshared == 1, "%s: %u and %u share %d blocks", name,
				  v, w, nshared);
		}
	nblocks_seen += (uint64_t) blocks->count;
}

/* Compare an answer with the definitions if the graph is small. */
static void
check_naive(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	static NaiveBlocks blocks;

	if (graph->nvertices > MAX_VERTICES || graph->forward.nedges > 400)
		return;
	nnaive++;
	if (answer->query.algorithm == EMOGI_SPANNING_FOREST)
		check_forest(name, graph, answer);
	else if (answer->query.algorithm == EMOGI_BRIDGES)
		check_bridges(name, graph, answer);
	else
	{
		find_blocks(graph, &blocks);
		(answer->query.algorithm == EMOGI_BICONNECTED ? check_blocks : check_points) (name, graph,
																					  &blocks,
																					  answer);
	}
}

/* ---- graphs ---- */

/* Check that the verifier detects a changed value in each column. */
static void
check_detected(const char *name, const EmogiGraph *graph, Answer *answer, uint64_t seed)
{
	const EmogiResultColumn *columns = columns_of(&answer->query);
	const uint64_t v = emogi_random(seed, 77) % graph->nvertices;

	for (int i = 0; columns[i].name != NULL; i++)
	{
		const EmogiArray array = answer->result.columns[i];
		const uint32_t bytes = emogi_algorithm_column_bytes(columns[i].type);
		char		was[8];

		memcpy(was, (char *) array.any + v * bytes, bytes);
		if (columns[i].type == EMOGI_VERTEX)
			array.vertex[v] = array.vertex[v] == EMOGI_NO_VERTEX ? (uint32_t) v : EMOGI_NO_VERTEX;
		else if (columns[i].type == EMOGI_FLOAT64)
			array.float64[v] += 0.125 * (1 + fabs(array.float64[v]));
		else
			array.int64[v]++;
		CHECK(!emogi_verify(graph, &answer->query, &answer->result, &answer->error),
			  "%s: the verifier missed a change of column %d at vertex %llu", name, i,
			  (unsigned long long) v);
		memcpy((char *) array.any + v * bytes, was, bytes);
	}
}

/* Return true if two answers are bit-identical. */
static bool
are_equal(const EmogiGraph *graph, const Answer *a, const Answer *b)
{
	const EmogiResultColumn *columns = columns_of(&a->query);

	for (int i = 0; columns[i].name != NULL; i++)
		if (memcmp(a->result.columns[i].any, b->result.columns[i].any,
				   graph->nvertices * emogi_algorithm_column_bytes(columns[i].type)) != 0)
			return false;
	return true;
}

/* Run an algorithm on all engines, and with failing allocations, and check the answers. */
static void
check_algorithm(const char *name, const EmogiGraph *graph, int algorithm, uint64_t seed)
{
	Answer		first = run_algorithm(states[0], graph, algorithm, 0);

	CHECK(first.status == EMOGI_OK, "%s: %d: status %d %s", name, algorithm, first.status,
		  first.error.message);
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = run_algorithm(states[e], graph, algorithm, 0);

		CHECK(other.status == EMOGI_OK && are_equal(graph, &first, &other),
			  "%s: %d: status %d, or not bit-identical to one thread", name, algorithm,
			  other.status);
		free_answer(&other);
	}
	CHECK(emogi_verify(graph, &first.query, &first.result, &first.error), "%s: %d: %s", name,
		  algorithm, first.error.message);
	for (uint32_t allocation = 1; allocation < 10; allocation++)
	{
		Answer		other = run_algorithm(states[1], graph, algorithm, allocation);

		CHECK(other.status == EMOGI_OK ? allocation > 6 &&
			  are_equal(graph, &first, &other) : other.status == EMOGI_NO_MEMORY &&
			  other.error.message[0] != '\0', "%s: %d: status %d without memory", name, algorithm,
			  other.status);
		free_answer(&other);
	}
	check_naive(name, graph, &first);
	if (graph->nvertices > 0)
		check_detected(name, graph, &first, seed);
	free_answer(&first);
}

/* Check all algorithms on a graph if it is undirected. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	if (!engines_suits(graph, emogi_algorithm_row(EMOGI_BICONNECTED)))
		return;
	for (int algorithm = 0; algorithm < NTESTED; algorithm++)
		check_algorithm(name, graph, algorithm, seed);
}

/* Return a random number below count. */
static int64_t
random_below(uint64_t seed, uint64_t i, int64_t count)
{
	return (int64_t) (emogi_random(seed, i) % (uint64_t) count);
}

/*
 * Make a small graph of one of several kinds, with some parallel edges and self-loops, and
 * renumbered vertices for most seeds.
 */
static EmogiShape
small_shape(uint64_t seed)
{
	EmogiShape	shape = {.name = "small", .edges = malloc(400 * sizeof(EmogiEdge))};
	const int64_t n = random_below(seed, 1, 20) + 1;
	uint64_t	i;

	for (int64_t v = 1; v < n; v++)
		switch (seed % 6)
		{
			case 0:				/* a tree */
				shape.edges[shape.nedges++] = (EmogiEdge) {v,
					random_below(seed, 10 + (uint64_t) v, v)};
				break;
			case 1:				/* a path with some chords: cycles that share vertices */
				shape.edges[shape.nedges++] = (EmogiEdge) {v - 1, v};
				if (random_below(seed, 40 + (uint64_t) v, 4) == 0)
					shape.edges[shape.nedges++] = (EmogiEdge) {v,
						v - random_below(seed, 80 + (uint64_t) v, v < 5 ? v : 5)};
				break;
			case 2:				/* a grid */
				if (v % 4 != 0)
					shape.edges[shape.nedges++] = (EmogiEdge) {v - 1, v};
				if (v >= 4)
					shape.edges[shape.nedges++] = (EmogiEdge) {v, v - 4};
				break;
			case 3:				/* cliques connected by a path */
				for (int64_t w = v - v % 5; w < v; w++)
					shape.edges[shape.nedges++] = (EmogiEdge) {v, w};
				if (v % 5 == 0 && random_below(seed, 40 + (uint64_t) v, 2) == 0)
					shape.edges[shape.nedges++] = (EmogiEdge) {v, v - 1};
				break;
			default:			/* random edges, few or many */
				for (int64_t more = random_below(seed, 9, 3); more >= 0; more--)
					shape.edges[shape.nedges++] = (EmogiEdge) {random_below(seed,
																			100 +
																			(uint64_t) (v * 3 +
																						more), n),
						random_below(seed, 200 + (uint64_t) (v * 3 + more), n)};
		}
	if (n == 1)
		shape.edges[shape.nedges++] = (EmogiEdge) {0, 0};
	for (i = shape.nedges; i-- > 0;)
	{
		if (random_below(seed, 300 + i, 8) == 0)
			shape.edges[shape.nedges++] = (EmogiEdge) {shape.edges[i].dst, shape.edges[i].src};
		if (random_below(seed, 400 + i, 16) == 0)
			shape.edges[shape.nedges++] = (EmogiEdge) {shape.edges[i].dst, shape.edges[i].dst};
	}
	for (i = 0; seed % 4 > 0 && i < shape.nedges; i++)	/* a permutation of 32 numbers */
		shape.edges[i] = (EmogiEdge) {(int64_t) ((uint64_t) shape.edges[i].src * 13 + seed / 4) %
			32, (int64_t) ((uint64_t) shape.edges[i].dst * 13 + seed / 4) % 32};
	return shape;
}

/* Check small graphs, with weights that are often equal, and negative. */
static void
check_small(void)
{
	for (uint64_t seed = 0; seed < NSMALL; seed++)
	{
		EmogiShape	shape = small_shape(seed);
		double	   *weights = seed % 5 == 0 ? NULL : naive_alloc(shape.nedges, sizeof *weights);
		EmogiGraph	graph;
		char		name[64];

		for (uint64_t i = 0; weights != NULL && i < shape.nedges; i++)
			weights[i] = seed % 5 == 1 ? naive_weight(8, seed, i)
				: (double) random_below(seed, 500 + i, seed % 5 == 2 ? 3 : 100) - 1;
		graph = naive_build(&shape, weights, EMOGI_BOTH, false);
		snprintf(name, sizeof name, "small %llu", (unsigned long long) seed);
		check_graph(name, &graph, seed);
		naive_free(&graph);
		free(weights);
		emogi_shape_free(&shape);
	}
}

/* Check a deep graph, and one with additional edges that close cycles. */
static void
check_deep(void)
{
	EmogiShape	chain = engines_chain(300000);
	EmogiGraph	graph = naive_build(&chain, NULL, EMOGI_BOTH, false);

	check_graph("a long chain", &graph, 1);
	naive_free(&graph);
	for (uint64_t i = 0; i < chain.nedges; i += 37)
		chain.edges[i].src = (int64_t) (i - i % 1000 + emogi_random(5, i) % (i % 1000 + 1));
	graph = naive_build(&chain, NULL, EMOGI_BOTH, false);
	check_graph("a chain with cycles", &graph, 2);
	naive_free(&graph);
	emogi_shape_free(&chain);
}

/* Check a graph that is large enough for all threads, and cancel before and during a run. */
static void
check_large(void)
{
	EmogiShape shape = {.name = "large", .nedges = LARGE,
		.edges = malloc(LARGE * sizeof(EmogiEdge))};
	double	   *weights = naive_weights(2, 9, LARGE);
	EmogiGraph	graph;

	for (uint64_t i = 0; i < LARGE; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) %
												 (emogi_random(2, i) % 65536 + 1)),
			(int64_t) (emogi_random(3, i) % 262144)};
	graph = naive_build(&shape, weights, EMOGI_BOTH, false);
	check_graph("large", &graph, 3);
	for (int algorithm = 0; algorithm < NTESTED; algorithm++)
	{
		Answer		answer = run_algorithm(states[0], &graph, algorithm, 0);

		engines_check_cancel("large", &graph, &answer.query, answer.result);
		free_answer(&answer);
	}
	naive_free(&graph);
	free(weights);
	emogi_shape_free(&shape);
}

int
main(void)
{
	engines_open();
	engines_check_shapes(NRANDOM, NKINDS, check_graph);
	check_small();
	check_deep();
	check_large();
	CHECK(nnaive > 5000 && nbridges > 2000 && npoints > 2000 && nblocks_seen > 4000,
		  "%llu graphs, %llu bridges, %llu points, %llu blocks", (unsigned long long) nnaive,
		  (unsigned long long) nbridges, (unsigned long long) npoints,
		  (unsigned long long) nblocks_seen);
	engines_close();
	return check_report("test_forests");
}
