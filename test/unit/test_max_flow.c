/*
 * test_max_flow.c: tests of maximum flows and minimum cuts with huge capacities, which stand for
 * unlimited ones.
 *
 * The values must equal those of an integer computation, flow must be conserved exactly, and the
 * verifier must accept the answer.
 */
#include "contract/query.h"
#include "engines.h"
#include "verify/verify.h"

#define NGRAPHS 3000
#define MAX_EDGES 60
#define MAX_VERTICES 12
#define UNLIMITED INT64_C(1000000)	/* more than the sum of all limited capacities */

/*
 * A graph with integer capacities, times 2^-shift. UNLIMITED is a huge capacity in the engine's
 * graph.
 */
typedef struct Flow
{
	EmogiEdge	edges[MAX_EDGES];
	int64_t		capacities[MAX_EDGES];
	double		weights[MAX_EDGES];
	uint64_t	nedges;
	uint64_t	nvertices;
	int			shift;
} Flow;

/* Make a random graph. All vertices have edges, so that vertex numbers equal keys. */
static void
make_flow(Flow *flow, uint64_t seed)
{
	static const double huge[] = {1e9, 1e12, 1e16, 9223372036854775807.0, 1e25, 1e100, 1e300,
	1e306};
	const double one = huge[seed % 8];

	flow->nvertices = 3 + emogi_random(seed, 1) % (MAX_VERTICES - 2);
	flow->nedges = flow->nvertices + emogi_random(seed, 2) % (MAX_EDGES - MAX_VERTICES);
	flow->shift = (int) (emogi_random(seed, 3) % 40);
	for (uint64_t i = 0; i < flow->nedges; i++)
	{
		const uint64_t r = emogi_random(seed + 7, i);
		const bool	at_end = (r >> 40) % 3 == 0;

		flow->edges[i].src = (int64_t) (i < flow->nvertices ? i : at_end ? 0 : r % flow->nvertices);
		flow->edges[i].dst = (int64_t) ((r >> 8) % flow->nvertices);
		if (flow->edges[i].src == 0 ||
			flow->edges[i].dst == 1 ? (r >> 16) % 2 == 0 : (r >> 16) % 5 == 0)
			flow->capacities[i] = UNLIMITED;
		else
			flow->capacities[i] = (int64_t) ((r >> 24) % 1000);
		flow->weights[i] = flow->capacities[i] < UNLIMITED
			? ldexp((double) flow->capacities[i], -flow->shift) :
			seed % 3 == 0 ? huge[(r >> 32) % 8] : one;
	}
}

/* Compute the maximum flow from vertex 0 to vertex 1 in integers, by shortest augmenting paths. */
static int64_t
exact_flow(const Flow *flow, bool is_both)
{
	int64_t		residual[MAX_VERTICES][MAX_VERTICES] = {{0}};
	int64_t		value = 0;

	for (uint64_t i = 0; i < flow->nedges; i++)
	{
		residual[flow->edges[i].src][flow->edges[i].dst] += flow->capacities[i];
		if (is_both)
			residual[flow->edges[i].dst][flow->edges[i].src] += flow->capacities[i];
	}
	for (;;)
	{
		int			from[MAX_VERTICES];
		int			queue[MAX_VERTICES];
		int			end = 1;
		int64_t		bottleneck = INT64_MAX;

		memset(from, 0xFF, sizeof from);
		queue[0] = from[0] = 0;
		for (int i = 0; i < end; i++)
			for (int v = 0; v < (int) flow->nvertices; v++)
				if (from[v] < 0 && residual[queue[i]][v] > 0)
				{
					from[v] = queue[i];
					queue[end++] = v;
				}
		if (from[1] < 0)
			return value;
		for (int v = 1; v != 0; v = from[v])
			bottleneck = residual[from[v]][v] < bottleneck ? residual[from[v]][v] : bottleneck;
		for (int v = 1; v != 0; v = from[v])
		{
			residual[from[v]][v] -= bottleneck;
			residual[v][from[v]] += bottleneck;
		}
		value += bottleneck;
	}
}

/*
 * Return the sum of a column. For the edges of a flow, return what leaves vertex 0, and check that
 * other vertices conserve flow.
 */
static double
value_of(const char *name, const EmogiQuery *query, const EmogiResult *result, uint64_t length,
		 uint64_t nvertices)
{
	double		balance[MAX_VERTICES] = {0};
	double		sum = 0.0;

	for (uint64_t i = 0; i < length; i++)
	{
		const double flow = result->columns[0].float64[i];

		sum += flow;
		if (query->algorithm != EMOGI_MAX_FLOW_EDGES || flow == 0.0)
			continue;
		balance[result->columns[2].vertex[i]] += flow;
		balance[result->columns[3].vertex[i]] -= flow;
	}
	if (query->algorithm != EMOGI_MAX_FLOW_EDGES)
		return sum;
	for (uint64_t v = 2; v < nvertices; v++)
		CHECK(balance[v] == 0.0, "%s: an excess of %g at %llu", name, balance[v],
			  (unsigned long long) v);
	return balance[0];
}

/* Run a query from vertex 0 to vertex 1, and check its answer. A negative value is not compared. */
static void
check_query(const char *name, const EmogiGraph *graph, EmogiAlgorithm algorithm, double value)
{
	const uint32_t ends[] = {0, 1};
	const EmogiQuery query = {.algorithm = algorithm, .nsources = 1, .sources = ends, .ntargets = 1,
		.targets = ends + 1};
	const EmogiResultColumn *columns = emogi_algorithm_row(algorithm)->columns;
	const uint64_t length = emogi_query_length(graph, &query);
	EmogiControl control = {0};
	EmogiResult result = {0};
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	for (int i = 0; columns[i].name != NULL; i++)
		result.columns[i].any = naive_alloc(length, emogi_algorithm_column_bytes(columns[i].type));
	status = engine->run(states[0], graph, &query, &result, &control, &error);
	CHECK(status == EMOGI_OK, "%s: status %d %s", name, status, error.message);
	if (value >= 0.0)
	{
		const double found = value_of(name, &query, &result, length, graph->nvertices);

		CHECK(found == value, "%s: %.17g, not %.17g", name, found, value);
	}
	CHECK(emogi_verify(graph, &query, &result, &error), "%s: %s", name, error.message);
	for (int i = 0; i < EMOGI_MAX_COLUMNS; i++)
		free(result.columns[i].any);
}

int
main(void)
{
	static const EmogiAlgorithm algorithms[] = {EMOGI_MAX_FLOW, EMOGI_MAX_FLOW_EDGES,
	EMOGI_MIN_CUT};
	uint64_t	nlimited = 0;

	engines_open();
	for (uint64_t seed = 0; seed < NGRAPHS; seed++)
	{
		const bool	is_both = seed % 5 == 0;
		Flow		flow;
		EmogiShape	shape = {.edges = flow.edges};
		EmogiGraph	graph;
		int64_t		exact;

		make_flow(&flow, seed);
		shape.nedges = flow.nedges;
		graph = naive_build(&shape, flow.weights, is_both ? EMOGI_BOTH : EMOGI_OUT, true);
		exact = exact_flow(&flow, is_both);
		nlimited += exact > 0 && exact < UNLIMITED;
		for (int a = 0; a < 3; a++)
		{
			char		name[80];

			snprintf(name, sizeof name, "graph %d, algorithm %d", (int) seed, a);
			check_query(name, &graph, algorithms[a],
						exact < UNLIMITED ? ldexp((double) exact, -flow.shift) : -1.0);
		}
		naive_free(&graph);
	}
	CHECK(nlimited > NGRAPHS / 6, "only %llu flows are limited", (unsigned long long) nlimited);
	engines_close();
	return check_report("test_max_flow");
}
