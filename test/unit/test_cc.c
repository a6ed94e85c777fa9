/*
 * test_cc.c: tests of the cpu engine's connected components, numbered by their smallest vertices,
 * against label propagation
 */
#include "engines.h"
#include "verify/verify.h"

#define NRANDOM 250

/*
 * Fill component[nvertices] by the definition: propagate the smallest labels until nothing changes.
 */
static void
oracle_cc(const EmogiGraph *graph, uint32_t *component)
{
	bool		changed = true;

	for (uint32_t v = 0; v < graph->nvertices; v++)
		component[v] = v;
	while (changed)
	{
		changed = false;
		for (uint32_t u = 0; u < graph->nvertices; u++)
		{
			for (uint64_t i = graph->forward.offsets[u]; i < graph->forward.offsets[u + 1]; i++)
			{
				uint32_t	v = graph->forward.targets[i];
				uint32_t	label = component[u] < component[v] ? component[u] : component[v];

				changed |= component[u] != label || component[v] != label;
				component[u] = component[v] = label;
			}
		}
	}
}

/* Run all engines, and compare their answers with the oracle's. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint64_t	n = graph->nvertices;
	uint32_t   *expected = malloc((n + 1) * sizeof(uint32_t));
	uint32_t   *component = malloc((n + 1) * sizeof(uint32_t));
	EmogiQuery	query = {.algorithm = EMOGI_CC};

	oracle_cc(graph, expected);
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiResult result = {.columns[0].vertex = component};
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiStatus status;

		memset(component, 0x55, (n + 1) * sizeof(uint32_t));
		status = engine->run(states[e], graph, &query, &result, &control, &error);
		CHECK(status == EMOGI_OK, "%s: status %d", name, status);
		CHECK(memcmp(component, expected, n * sizeof(uint32_t)) == 0, "%s: engine %d", name, e);
		CHECK(component[n] == 0x55555555, "%s: wrote beyond the end", name);
		CHECK(emogi_verify(graph, &query, &result, &error), "%s: %s", name, error.message);
	}
	free(expected);
	free(component);
}

/* Check a giant component and many small ones, with edges in both directions. */
static void
check_islands(void)
{
	EmogiShape	shape = {.name = "islands", .edges = malloc(200000 * sizeof(EmogiEdge))};

	for (uint64_t i = 0; i < 150000; i++)
		shape.edges[shape.nedges++] = (EmogiEdge) {
			(int64_t) (emogi_random(3, 2 * i) % 30000) * 2 + 1,
				(int64_t) (emogi_random(3, 2 * i + 1) % 30000) * 2 + 1
		};
	for (uint64_t i = 0; i < 20000; i++)
		shape.edges[shape.nedges++] = (EmogiEdge) {
			(int64_t) (emogi_random(4, 2 * i) % 30000) * 2,
				(int64_t) (emogi_random(4, 2 * i + 1) % 30000) * 2
		};
	for (uint64_t i = 0; i < 100; i++)
		shape.edges[shape.nedges++] = (EmogiEdge) {(int64_t) (i * 600),
			(int64_t) (i * 600 + 300 * (i % 2) + 1)};
	engines_check_graph(&shape, 0, EMOGI_OUT, false, 1, check_graph);
	engines_check_graph(&shape, 0, EMOGI_OUT, true, 1, check_graph);
	engines_check_graph(&shape, 0, EMOGI_IN, true, 1, check_graph);
	engines_check_graph(&shape, 0, EMOGI_BOTH, false, 1, check_graph);
	emogi_shape_free(&shape);
}

/* Check that the verifier rejects changed answers, and that a run can be canceled. */
static void
check_verifier(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	uint32_t   *component = malloc(graph->nvertices * sizeof(uint32_t));
	EmogiQuery	query = {.algorithm = EMOGI_CC};
	EmogiResult result = {.columns[0].vertex = component};
	EmogiControl control = {0};
	EmogiError	error;
	uint32_t	last = (uint32_t) graph->nvertices - 1;
	uint32_t	before;

	engine->run(states[1], graph, &query, &result, &control, &error);
	CHECK(emogi_verify(graph, &query, &result, &error), "%s", error.message);
	before = component[last];
	component[last] = last;
	CHECK(before != last && !emogi_verify(graph, &query, &result, &error),
		  "a vertex split from its component");
	component[last] = before;
	for (uint32_t v = 0; v <= last; v++)
		component[v] = 0;
	CHECK(!emogi_verify(graph, &query, &result, &error), "all vertices in one component");
	control.cancel = 1;
	CHECK(engine->run(states[1], graph, &query, &result, &control, &error) == EMOGI_CANCELED,
		  "cancel");
	free(component);
}

int
main(void)
{
	EmogiShape	shape;

	emogi_build_fill = 0xA5;	/* no code may rely on zeroed memory */
	engines_open();
	engines_check_shapes(NRANDOM, 1, check_graph);
	check_islands();
	for (int i = 0; i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		if (strcmp(shape.name, "two components") == 0)
			engines_check_graph(&shape, 0, EMOGI_BOTH, false, 1, check_verifier);
		emogi_shape_free(&shape);
	}
	engines_close();
	return check_report("test_cc");
}
