/*
 * test_property_load.c: tests of loading properties: each edge gets the value of a row with its
 * source, target, and weight, and each row is used once. Rows that are not the edges of the graph
 * must be refused.
 */
#include "check.h"
#include "contract/property_load.h"
#include "naive.h"

#define NGRAPHS 400
#define MAX_EDGES 3000

static EmogiPool *pool;

/* Draw a number below a bound. */
static uint64_t
draw(uint64_t bound)
{
	static uint64_t ndrawn;

	return emogi_random(11, ndrawn++) % bound;
}

/* Make random edges between few vertices, many of them parallel. */
static EmogiShape
make_shape(uint64_t nedges)
{
	EmogiShape	shape = {.name = "random", .edges = naive_alloc(nedges, sizeof(EmogiEdge)), .nedges = nedges};
	const uint64_t nkeys = 1 + draw(nedges < 60 ? 8 : 60);

	for (uint64_t i = 0; i < nedges; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) draw(nkeys) * 5 - 20, (int64_t) draw(nkeys) * 5 - 20};
	/* a run of parallel edges that does not fit on the stack */
	for (uint64_t i = 0; i < nedges / 3; i++)
		shape.edges[i] = shape.edges[0];
	return shape;
}

/* Return the weight of a list entry. */
static double
weight_of(const EmogiGraph *graph, const EmogiAdjacency *lists, uint64_t entry)
{
	switch (graph->weight_type)
	{
		case EMOGI_WEIGHT_NONE:
			return 1;
		case EMOGI_WEIGHT_U8:
			return ((const uint8_t *) lists->weights)[entry];
		case EMOGI_WEIGHT_U16:
			return ((const uint16_t *) lists->weights)[entry];
		case EMOGI_WEIGHT_U32:
			return ((const uint32_t *) lists->weights)[entry];
		case EMOGI_WEIGHT_F32:
			return ((const float *) lists->weights)[entry];
		default:
			return ((const double *) lists->weights)[entry];
	}
}

/* Check the values of one orientation, which are row numbers. */
static void
check_values(const EmogiShape *shape, const double *weights, const EmogiGraph *graph, const EmogiAdjacency *lists,
			 EmogiDirection direction, bool backward, const int32_t *values)
{
	int		   *uses = naive_alloc(shape->nedges, sizeof(int));
	uint64_t	nwrong = 0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const EmogiEdge *row = &shape->edges[values[e]];
			const int64_t from = graph->ids[v];
			const int64_t to = graph->ids[lists->targets[e]];
			const bool	reversed = (direction == EMOGI_IN) != backward;
			const bool	fits = direction == EMOGI_BOTH ? (row->src == from && row->dst == to) ||
				(row->src == to && row->dst == from) : reversed ? row->src == to && row->dst == from
				: row->src == from && row->dst == to;

			nwrong += !fits || (weights != NULL && weights[values[e]] != weight_of(graph, lists, e));
			uses[values[e]]++;
		}
	for (uint64_t i = 0; i < shape->nedges; i++)
		nwrong += uses[i] != (direction == EMOGI_BOTH && shape->edges[i].src != shape->edges[i].dst ? 2 : 1);
	CHECK(nwrong == 0, "%llu wrong of %llu, direction %d, backward %d", (unsigned long long) nwrong,
		  (unsigned long long) lists->nedges, direction, backward);
	free(uses);
}

/*
 * Check the entries that lead to each vertex: all of them, each by its target, in ascending order.
 */
static void
check_in_entries(const EmogiGraph *graph, const uint64_t *in_offsets, const uint32_t *in_entries)
{
	uint64_t	nwrong = in_offsets[0] != 0 || in_offsets[graph->nvertices] != graph->forward.nedges;

	for (uint64_t v = 0; v < graph->nvertices; v++)
		for (uint64_t i = in_offsets[v]; i < in_offsets[v + 1]; i++)
			nwrong += graph->forward.targets[in_entries[i]] != v ||
				(i > in_offsets[v] && in_entries[i] <= in_entries[i - 1]);
	CHECK(nwrong == 0, "%llu wrong entries to vertices", (unsigned long long) nwrong);
}

/* Make a column for row numbers. */
static EmogiProperty
make_column(uint64_t nedges)
{
	return (EmogiProperty) {.type = EMOGI_PROPERTY_I32,
							.values = naive_alloc(emogi_properties_bytes(EMOGI_PROPERTY_I32, false, nedges), 1)};
}

/* Whether loads fill in neither a column nor the entries to each vertex, but only compare. */
static bool only_compares;

/* Load the row numbers of a graph; returns the status. */
static EmogiStatus
load(const EmogiShape *rows, const double *weights, const EmogiGraph *graph, EmogiDirection direction, bool with_backward,
	 EmogiProperty *forward, EmogiProperty *backward, EmogiControl *control)
{
	double	   *numbers = naive_alloc(rows->nedges, sizeof(double));
	int64_t    *values = naive_alloc(rows->nedges, sizeof(int64_t));
	EmogiPropertyRows column = {.values = values};
	EmogiError	error;
	EmogiPropertyLoad load = {.weights = weights, .ncolumns = 1, .rows = &column, .forward = forward,
		.backward = with_backward && direction != EMOGI_BOTH ? backward : NULL,
		.in_offsets = naive_alloc(graph->nvertices + 2, sizeof(uint64_t)),
		.in_entries = naive_alloc(graph->forward.nedges, sizeof(uint32_t))};
	EmogiStatus status;

	for (uint64_t i = 0; i < rows->nedges; i++)
	{
		numbers[i] = (double) i;
		values[i] = (int64_t) i;
	}
	load.numbers = naive_build(rows, numbers, direction, with_backward);
	if (only_compares)
	{
		free(load.in_offsets);
		load.in_offsets = NULL;
		load.ncolumns = 0;
	}
	status = emogi_property_load(pool, graph, &load, control, &error);
	CHECK(status != EMOGI_BAD_INPUT || strstr(error.message, "not the edges of the graph") != NULL, "%s", error.message);
	if (status == EMOGI_OK && !only_compares)
		check_in_entries(graph, load.in_offsets, load.in_entries);
	free(load.in_offsets);
	free(load.in_entries);
	naive_free(&load.numbers);
	free(numbers);
	free(values);
	return status;
}

/* Change a row so that the rows are not the edges of the graph. */
static void
falsify(EmogiShape *rows, double *weights)
{
	const uint64_t row = draw(rows->nedges);

	if (weights != NULL && draw(2) == 0)
	{
		weights[row] = weights[row] == 3 ? 4 : 3;
		return;
	}
	rows->edges[row].dst += 5 * (1 + (int64_t) draw(4));
}

static void
check_graph(uint64_t nedges, EmogiDirection direction, int kind)
{
	const bool	with_backward = draw(2) == 0;
	EmogiShape	shape = make_shape(nedges);
	double	   *weights = naive_weights(kind, draw(1000), nedges);
	EmogiGraph	graph = naive_build(&shape, weights, direction, with_backward);
	EmogiProperty forward = make_column(graph.forward.nedges);
	EmogiProperty backward = make_column(graph.forward.nedges);
	EmogiControl control = {0};

	CHECK(load(&shape, weights, &graph, direction, with_backward, &forward, &backward, &control) == EMOGI_OK, "a load");
	check_values(&shape, weights, &graph, &graph.forward, direction, false, forward.values);
	if (with_backward && direction != EMOGI_BOTH)
		check_values(&shape, weights, &graph, &graph.backward, direction, true, backward.values);
	control.cancel = 1;
	CHECK(load(&shape, weights, &graph, direction, with_backward, &forward, &backward, &control) == EMOGI_CANCELED, "canceled");
	control.cancel = 0;
	falsify(&shape, weights);
	CHECK(load(&shape, weights, &graph, direction, with_backward, &forward, &backward, &control) == EMOGI_BAD_INPUT,
		  "other rows are refused, direction %d, kind %d", direction, kind);
	free((void *) forward.values);
	free((void *) backward.values);
	naive_free(&graph);
	free(weights);
	free(shape.edges);
}

/* Check that another number of rows is refused before rows are compared. */
static void
check_other_numbers(void)
{
	EmogiShape	shape = make_shape(100);
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_OUT, false);
	EmogiProperty forward = make_column(100);
	EmogiControl control = {0};

	shape.nedges--;
	CHECK(load(&shape, NULL, &graph, EMOGI_OUT, false, &forward, NULL, &control) == EMOGI_BAD_INPUT, "a row less");
	control.fail_allocation = 1;
	shape.nedges++;
	CHECK(load(&shape, NULL, &graph, EMOGI_OUT, false, &forward, NULL, &control) == EMOGI_NO_MEMORY, "no memory");
	free((void *) forward.values);
	naive_free(&graph);
	free(shape.edges);
}

/*
 * Many parallel edges are sorted in memory of their own, the only one of a comparison: a load that
 * does not get it fails.
 */
static void
check_parallel(void)
{
	EmogiShape	shape = make_shape(100);
	double	   *weights = naive_alloc(100, sizeof(double));
	EmogiProperty forward = make_column(100);
	EmogiControl control = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;
	EmogiGraph	graph;
	uint32_t	nfailures = 0;

	for (int i = 0; i < 100; i++)
	{
		shape.edges[i] = (EmogiEdge) {1, 2};
		weights[i] = 100 - i;
	}
	graph = naive_build(&shape, weights, EMOGI_OUT, false);
	only_compares = true;
	while (status == EMOGI_NO_MEMORY && nfailures < 100)
	{
		control = (EmogiControl) {.fail_allocation = ++nfailures};
		status = load(&shape, weights, &graph, EMOGI_OUT, false, &forward, NULL, &control);
	}
	CHECK(status == EMOGI_OK && nfailures == 2, "status %d at allocation %u", status, nfailures);
	only_compares = false;
	control = (EmogiControl) {0};
	CHECK(load(&shape, weights, &graph, EMOGI_OUT, false, &forward, NULL, &control) == EMOGI_OK, "a load");
	check_values(&shape, weights, &graph, &graph.forward, EMOGI_OUT, false, forward.values);
	free((void *) forward.values);
	naive_free(&graph);
	free(weights);
	free(shape.edges);
}

int
main(void)
{
	pool = emogi_pool_create(2);
	for (int i = 0; i < NGRAPHS; i++)
		check_graph(1 + draw(i < NGRAPHS / 4 ? 20 : MAX_EDGES), (EmogiDirection) (i % 3), (int) draw(NAIVE_KINDS));
	check_other_numbers();
	check_parallel();
	emogi_pool_destroy(pool);
	return check_report("test_property_load");
}
