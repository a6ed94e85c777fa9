/*
 * test_forests.c: spanning forests, bridges, articulation points and blocks are those that their definitions give, asked edge by edge and
 * vertex by vertex, and the same bits for any number of threads. The verifiers notice what is changed. Canceled runs and those without memory
 * end.
 */
#include "cpu/cpu.h"
#include "engines.h"
#include "contract/biconnected.h"
#include "contract/semirings.h"
#include "verify/verify.h"

#define NSMALL 1500
#define NRANDOM 60
#define NKINDS 7				/* of weights, all finite */
#define MOST_VERTICES 40		/* of a graph that is looked at by the definitions */
#define LARGE 800000			/* edges */

static uint64_t nnaive;
static uint64_t nbridges;
static uint64_t npoints;
static uint64_t nblocks_seen;

static const EmogiAlgorithm algorithms[] = {EMOGI_SPANNING_FOREST, EMOGI_SPANNING_FOREST, EMOGI_BRIDGES, EMOGI_ARTICULATION_POINTS,
	EMOGI_BICONNECTED};
#define NASKED ((int) (sizeof algorithms / sizeof algorithms[0]))

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

/* Ask an engine one of the algorithms; the second time the maximum. */
static Answer
ask(EmogiEngineState *state, const EmogiGraph *graph, int asked, uint32_t fail_allocation)
{
	EmogiControl control = {.fail_allocation = fail_allocation};
	Answer		answer = {.query = {.algorithm = algorithms[asked], .maximum = asked == 1}};
	const EmogiResultColumn *columns = columns_of(&answer.query);

	for (int i = 0; columns[i].name != NULL; i++)
	{
		answer.result.columns[i].any = naive_alloc(graph->nvertices, 8);
		memset(answer.result.columns[i].any, 0x5A, graph->nvertices * 8);
	}
	answer.status = engine->run(state, graph, &answer.query, &answer.result, &control, &answer.error);
	return answer;
}

/* Free an answer. */
static void
forget(Answer *answer)
{
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		free(answer->result.columns[i].any);
}

/* ---- by the definitions ---- */

/* Edges and vertices that are left out of a graph. */
typedef struct Without
{
	const EmogiGraph *graph;
	int64_t		vertex;			/* -1 = none */
	bool		(*leaves_out) (const void *arg, uint32_t v, uint64_t e);	/* NULL = no edge is */
	const void *arg;
} Without;

/* Label everything that is connected with v. */
static void
spread(const Without *without, uint32_t v, int32_t label, int32_t *labels)
{
	const EmogiAdjacency *lists = &without->graph->forward;
	uint32_t	stack[MOST_VERTICES];
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

/* Label the components of what is left; gets how many there are. */
static int32_t
label_all(const Without *without, int32_t *labels)
{
	int32_t		count = 0;

	for (int v = 0; v < MOST_VERTICES; v++)
		labels[v] = -1;
	for (uint64_t v = 0; v < without->graph->nvertices; v++)
		if (labels[v] < 0 && (int64_t) v != without->vertex)
			spread(without, (uint32_t) v, count++, labels);
	return count;
}

/* An edge in the order of edges. */
typedef struct Place
{
	const EmogiGraph *graph;
	bool		maximum;
	double		weight;
	uint32_t	low;
	uint32_t	high;
} Place;

/* Get the place of a list entry. */
static Place
place_of(const EmogiGraph *graph, bool maximum, uint32_t v, uint64_t e)
{
	const uint32_t w = graph->forward.targets[e];

	return (Place) {graph, maximum, emogi_weight(graph->forward.weights, graph->weight_type, e), v < w ? v : w, v < w ? w : v};
}

/* Say whether a list entry does not come before an edge. */
static bool
is_not_before(const void *arg, uint32_t v, uint64_t e)
{
	const Place *edge = arg;
	const Place other = place_of(edge->graph, edge->maximum, v, e);

	if (other.weight != edge->weight)
		return edge->maximum ? other.weight < edge->weight : other.weight > edge->weight;
	return other.low != edge->low ? other.low > edge->low : other.high >= edge->high;
}

/* Check a forest: an edge is in it if its ends are not connected by edges that come before it; and the roots are the smallest. */
static void
check_forest(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	const EmogiAdjacency *lists = &graph->forward;
	const uint32_t *parent = answer->result.columns[0].vertex;
	uint64_t	nedges = 0;
	uint64_t	ntold = 0;

	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		ntold += parent[v] != EMOGI_NO_VERTEX;
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1] && lists->targets[e] < v; e++)
		{
			const Place edge = place_of(graph, answer->query.maximum, v, e);
			const Without before = {graph, -1, is_not_before, &edge};
			const uint64_t twin = answer->query.maximum ? e + 1 : e - 1;
			const bool	is_twin = twin >= lists->offsets[v] && twin < lists->offsets[v + 1] && lists->targets[twin] == edge.low;
			int32_t		labels[MOST_VERTICES];
			uint32_t	teller = parent[edge.low] == edge.high ? edge.low : edge.high;

			label_all(&before, labels);
			if (is_twin || labels[edge.low] == labels[edge.high])
				continue;
			nedges++;
			CHECK(parent[edge.low] == edge.high || parent[edge.high] == edge.low, "%s: %u - %u is not in the forest", name, edge.low, edge.high);
			CHECK(answer->result.columns[1].float64[teller] == edge.weight, "%s: %u - %u weighs something else", name, edge.low, edge.high);
		}
	}
	CHECK(nedges == ntold, "%s: %llu edges of %llu", name, (unsigned long long) ntold, (unsigned long long) nedges);
	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		const Without none = {graph, -1, NULL, NULL};
		int32_t		labels[MOST_VERTICES];
		uint32_t	first = 0;

		label_all(&none, labels);
		while (labels[first] != labels[v])
			first++;
		CHECK((first == v) == (parent[v] == EMOGI_NO_VERTEX), "%s: %u is a root, or not", name, v);
	}
}

/* Say whether a list entry is between the two ends of an edge. */
static bool
is_between(const void *arg, uint32_t v, uint64_t e)
{
	const Place *edge = arg;
	const Place other = place_of(edge->graph, false, v, e);

	return other.low == edge->low && other.high == edge->high;
}

/* Check bridges: an edge that has no parallel one, and without which its ends are not connected. */
static void
check_bridges(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	const EmogiAdjacency *lists = &graph->forward;
	const uint32_t *other = answer->result.columns[0].vertex;
	uint64_t	ntold = 0;
	uint64_t	count = 0;

	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		ntold += other[v] != EMOGI_NO_VERTEX;
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1] && lists->targets[e] < v; e++)
		{
			const Place edge = place_of(graph, false, v, e);
			const Without cut = {graph, -1, is_between, &edge};
			const bool	has_twin = (e > lists->offsets[v] && lists->targets[e - 1] == edge.low) ||
				(e + 1 < lists->offsets[v + 1] && lists->targets[e + 1] == edge.low);
			int32_t		labels[MOST_VERTICES];

			label_all(&cut, labels);
			if (has_twin || labels[edge.low] == labels[edge.high])
				continue;
			count++;
			CHECK(other[edge.low] == edge.high || other[edge.high] == edge.low, "%s: %u - %u is a bridge", name, edge.low, edge.high);
		}
	}
	CHECK(count == ntold, "%s: %llu bridges, not %llu", name, (unsigned long long) count, (unsigned long long) ntold);
	nbridges += count;
}

/* The blocks of a graph: of each pair of neighbours, and of each vertex, bit by bit. */
typedef struct NaiveBlocks
{
	int			count;
	int			of_pair[MOST_VERTICES][MOST_VERTICES];	/* -1 = no edge */
	uint64_t	members[MOST_VERTICES * MOST_VERTICES];
} NaiveBlocks;

/* Find the blocks: two edges are in one if no vertex parts them. */
static void
find_blocks(const EmogiGraph *graph, NaiveBlocks *blocks)
{
	static int32_t apart[MOST_VERTICES][MOST_VERTICES];	/* without a vertex, the component of each other one */
	const uint64_t n = graph->nvertices;
	uint32_t	ends[MOST_VERTICES * MOST_VERTICES][2];

	blocks->count = 0;
	for (uint64_t x = 0; x < n; x++)
	{
		const Without without = {graph, (int64_t) x, NULL, NULL};

		label_all(&without, apart[x]);
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
					is_one &= apart[x][v == x ? w : v] == apart[x][a == x ? b : a];
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

/* Get the two smallest vertices of a set, as one number. */
static int
smallest_two(uint64_t members)
{
	const int	first = __builtin_ctzll(members);

	return first * 64 + __builtin_ctzll(members & (members - 1));
}

/* Check articulation points: how many blocks they are in; and that there are more components without them. */
static void
check_points(const char *name, const EmogiGraph *graph, const NaiveBlocks *blocks, const Answer *answer)
{
	const Without none = {graph, -1, NULL, NULL};
	int32_t		labels[MOST_VERTICES];
	const int32_t ncomponents = label_all(&none, labels);

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		const Without without = {graph, (int64_t) v, NULL, NULL};
		const int64_t told = answer->result.columns[0].int64[v];
		int64_t		count = 0;

		for (int block = 0; block < blocks->count; block++)
			count += blocks->members[block] >> v & 1;
		CHECK(told == (count < 2 ? 0 : count), "%s: vertex %llu is in %lld blocks, not %lld", name, (unsigned long long) v, (long long) count,
			  (long long) told);
		CHECK((label_all(&without, labels) > ncomponents) == (told > 0), "%s: vertex %llu parts the graph, or not", name, (unsigned long long) v);
		npoints += told > 0;
	}
}

/* Check blocks: their vertices and numbers, and that both ends of an edge share its block and no other. */
static void
check_blocks(const char *name, const EmogiGraph *graph, const NaiveBlocks *blocks, const Answer *answer)
{
	const int64_t *component = answer->result.columns[0].int64;
	const uint32_t *parent = answer->result.columns[1].vertex;
	static uint64_t told[MOST_VERTICES * MOST_VERTICES];

	memset(told, 0, sizeof told);
	for (uint32_t v = 0; v < graph->nvertices; v++)
	{
		const uint32_t top = emogi_block_top(component, parent, v);

		CHECK(component[v] >= -1 && component[v] < blocks->count, "%s: block %lld", name, (long long) component[v]);
		if (component[v] < 0)
			continue;
		told[component[v]] |= UINT64_C(1) << v;
		if (top != EMOGI_NO_VERTEX)
			told[component[v]] |= UINT64_C(1) << top;
	}
	for (int block = 0; block < blocks->count; block++)
	{
		int			number = 0;

		for (int other = 0; other < blocks->count; other++)
			number += smallest_two(blocks->members[other]) < smallest_two(blocks->members[block]);
		CHECK(told[number] == blocks->members[block], "%s: block %d has other vertices", name, number);
	}
	for (uint32_t v = 0; v < graph->nvertices; v++)
		for (uint32_t w = 0; w < v; w++)
		{
			int			nshared = 0;

			for (int block = 0; block < blocks->count; block++)
				nshared += (told[block] >> v & told[block] >> w & 1) != 0;
			CHECK(blocks->of_pair[v][w] < 0 || nshared == 1, "%s: %u and %u share %d blocks", name, v, w, nshared);
		}
	nblocks_seen += (uint64_t) blocks->count;
}

/* Compare an answer with what the definitions give, where the graph is small. */
static void
check_naive(const char *name, const EmogiGraph *graph, const Answer *answer)
{
	static NaiveBlocks blocks;

	if (graph->nvertices > MOST_VERTICES || graph->forward.nedges > 400)
		return;
	nnaive++;
	if (answer->query.algorithm == EMOGI_SPANNING_FOREST)
		check_forest(name, graph, answer);
	else if (answer->query.algorithm == EMOGI_BRIDGES)
		check_bridges(name, graph, answer);
	else
	{
		find_blocks(graph, &blocks);
		(answer->query.algorithm == EMOGI_BICONNECTED ? check_blocks : check_points) (name, graph, &blocks, answer);
	}
}

/* ---- graphs ---- */

/* Change a value of each column and see that the verifier notices. */
static void
check_noticed(const char *name, const EmogiGraph *graph, Answer *answer, uint64_t seed)
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
		CHECK(!emogi_verify(graph, &answer->query, &answer->result, &answer->error), "%s: a change of column %d at vertex %llu was not noticed",
			  name, i, (unsigned long long) v);
		memcpy((char *) array.any + v * bytes, was, bytes);
	}
}

/* Compare two answers bit by bit. */
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

/* Ask all engines, with and without memory. */
static void
check_asked(const char *name, const EmogiGraph *graph, int asked, uint64_t seed)
{
	Answer		first = ask(states[0], graph, asked, 0);

	CHECK(first.status == EMOGI_OK, "%s: %d: status %d %s", name, asked, first.status, first.error.message);
	for (int e = 1; e < NENGINES; e++)
	{
		Answer		other = ask(states[e], graph, asked, 0);

		CHECK(other.status == EMOGI_OK && are_equal(graph, &first, &other), "%s: %d: status %d, or not the bits of one thread", name, asked,
			  other.status);
		forget(&other);
	}
	CHECK(emogi_verify(graph, &first.query, &first.result, &first.error), "%s: %d: %s", name, asked, first.error.message);
	for (uint32_t allocation = 1; allocation < 10; allocation++)
	{
		Answer		other = ask(states[1], graph, asked, allocation);

		CHECK(other.status == EMOGI_OK ? allocation > 6 && are_equal(graph, &first, &other) :
			  other.status == EMOGI_NO_MEMORY && other.error.message[0] != '\0', "%s: %d: status %d without memory", name, asked, other.status);
		forget(&other);
	}
	check_naive(name, graph, &first);
	if (graph->nvertices > 0)
		check_noticed(name, graph, &first, seed);
	forget(&first);
}

/* Ask a Graph as it is, where its lists lead either way. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	if (!engines_suits(graph, emogi_algorithm_row(EMOGI_BICONNECTED)))
		return;
	for (int asked = 0; asked < NASKED; asked++)
		check_asked(name, graph, asked, seed);
}

/* Get one of so many. */
static int64_t
any_of(uint64_t seed, uint64_t i, int64_t count)
{
	return (int64_t) (emogi_random(seed, i) % (uint64_t) count);
}

/* Make a small graph of one of several kinds; at times its vertices are numbered anew, edges have twins and vertices loops. */
static EmogiShape
small_shape(uint64_t seed)
{
	EmogiShape	shape = {.name = "small", .edges = malloc(400 * sizeof(EmogiEdge))};
	const int64_t n = any_of(seed, 1, 20) + 1;
	uint64_t	i;

	for (int64_t v = 1; v < n; v++)
		switch (seed % 6)
		{
			case 0:				/* a tree */
				shape.edges[shape.nedges++] = (EmogiEdge) {v, any_of(seed, 10 + (uint64_t) v, v)};
				break;
			case 1:				/* a path that is closed now and then: cycles that share vertices */
				shape.edges[shape.nedges++] = (EmogiEdge) {v - 1, v};
				if (any_of(seed, 40 + (uint64_t) v, 4) == 0)
					shape.edges[shape.nedges++] = (EmogiEdge) {v, v - any_of(seed, 80 + (uint64_t) v, v < 5 ? v : 5)};
				break;
			case 2:				/* a grid */
				if (v % 4 != 0)
					shape.edges[shape.nedges++] = (EmogiEdge) {v - 1, v};
				if (v >= 4)
					shape.edges[shape.nedges++] = (EmogiEdge) {v, v - 4};
				break;
			case 3:				/* cliques, with a path between them */
				for (int64_t w = v - v % 5; w < v; w++)
					shape.edges[shape.nedges++] = (EmogiEdge) {v, w};
				if (v % 5 == 0 && any_of(seed, 40 + (uint64_t) v, 2) == 0)
					shape.edges[shape.nedges++] = (EmogiEdge) {v, v - 1};
				break;
			default:			/* any edges, few or many */
				for (int64_t more = any_of(seed, 9, 3); more >= 0; more--)
					shape.edges[shape.nedges++] = (EmogiEdge) {any_of(seed, 100 + (uint64_t) (v * 3 + more), n), any_of(seed, 200 + (uint64_t) (v * 3 + more), n)};
		}
	if (n == 1)
		shape.edges[shape.nedges++] = (EmogiEdge) {0, 0};
	for (i = shape.nedges; i-- > 0;)
	{
		if (any_of(seed, 300 + i, 8) == 0)
			shape.edges[shape.nedges++] = (EmogiEdge) {shape.edges[i].dst, shape.edges[i].src};
		if (any_of(seed, 400 + i, 16) == 0)
			shape.edges[shape.nedges++] = (EmogiEdge) {shape.edges[i].dst, shape.edges[i].dst};
	}
	for (i = 0; seed % 4 > 0 && i < shape.nedges; i++)	/* 32 numbers, each once */
		shape.edges[i] = (EmogiEdge) {(int64_t) ((uint64_t) shape.edges[i].src * 13 + seed / 4) % 32, (int64_t) ((uint64_t) shape.edges[i].dst * 13 + seed / 4) % 32};
	return shape;
}

/* Ask small graphs, with weights that are often equal, and below 0. */
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
			weights[i] = seed % 5 == 1 ? naive_weight(8, seed, i) : (double) any_of(seed, 500 + i, seed % 5 == 2 ? 3 : 100) - 1;
		graph = naive_build(&shape, weights, EMOGI_BOTH, false);
		snprintf(name, sizeof name, "small %llu", (unsigned long long) seed);
		check_graph(name, &graph, seed);
		naive_free(&graph);
		free(weights);
		emogi_shape_free(&shape);
	}
}

/* Ask a graph that is deep, and one more with a number of edges that closes cycles here and there. */
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

/* Ask of graphs that are large enough for all threads; canceled before and while they run. */
static void
check_large(void)
{
	EmogiShape	shape = {.name = "large", .nedges = LARGE, .edges = malloc(LARGE * sizeof(EmogiEdge))};
	double	   *weights = naive_weights(2, 9, LARGE);
	EmogiGraph	graph;

	for (uint64_t i = 0; i < LARGE; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) (emogi_random(1, i) % (emogi_random(2, i) % 65536 + 1)), (int64_t) (emogi_random(3, i) % 262144)};
	graph = naive_build(&shape, weights, EMOGI_BOTH, false);
	check_graph("large", &graph, 3);
	for (int asked = 0; asked < NASKED; asked++)
	{
		Answer		answer = ask(states[0], &graph, asked, 0);

		engines_check_cancel("large", &graph, &answer.query, answer.result);
		forget(&answer);
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
	CHECK(nnaive > 5000 && nbridges > 2000 && npoints > 2000 && nblocks_seen > 4000, "%llu graphs, %llu bridges, %llu points, %llu blocks",
		  (unsigned long long) nnaive, (unsigned long long) nbridges, (unsigned long long) npoints, (unsigned long long) nblocks_seen);
	engines_close();
	return check_report("test_forests");
}
