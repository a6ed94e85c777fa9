/*
 * test_property_load.c: each entry of a graph gets the value of a row with its source, target and weight, each row once;
 * rows that are not the edges of the graph find no entry; columns of all types keep their values and NULLs.
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

/* Make random edges among few vertices: many are parallel. */
static EmogiShape
make_shape(uint64_t nedges)
{
	EmogiShape	shape = {.name = "random", .edges = naive_alloc(nedges, sizeof(EmogiEdge)), .nedges = nedges};
	const uint64_t nkeys = 1 + draw(nedges < 60 ? 8 : 60);

	for (uint64_t i = 0; i < nedges; i++)
		shape.edges[i] = (EmogiEdge) {(int64_t) draw(nkeys) * 5 - 20, (int64_t) draw(nkeys) * 5 - 20};
	/* a run of parallel edges that is longer than the stack has room for */
	for (uint64_t i = 0; i < nedges / 3; i++)
		shape.edges[i] = shape.edges[0];
	return shape;
}

/* Get the weight of an entry. */
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

/* Check the values of one orientation, which are numbers of rows. */
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

/* Check which entries lead to each vertex: each to its target, in their order, all of them. */
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

/* Make a column of numbers of rows, to be filled. */
static EmogiProperty
make_column(uint64_t nedges)
{
	return (EmogiProperty) {.type = EMOGI_PROPERTY_I32,
							.values = naive_alloc(emogi_properties_bytes(EMOGI_PROPERTY_I32, false, nedges), 1)};
}

/* Give each row an entry of lists, some at a time, and put the numbers of rows there; false if one finds none. */
static bool
take(const EmogiShape *rows, const double *weights, const EmogiGraph *graph, const EmogiAdjacency *lists, bool reversed,
	 bool both, uint64_t *ntaken, int32_t *raw)
{
	EmogiTakenEntries entries = {lists, graph->weight_type, naive_alloc(lists->nedges / 64 + 1, sizeof(uint64_t))};
	bool		found = true;

	memset(entries.taken, 0, (lists->nedges / 64 + 1) * sizeof(uint64_t));
	for (int direction = 0; direction < (both ? 2 : 1); direction++)
		for (uint64_t first = 0; first < rows->nedges && found;)
		{
			uint32_t	from[EMOGI_ROWS_AT_ONCE],
						to[EMOGI_ROWS_AT_ONCE],
						count = 0;
			double		some[EMOGI_ROWS_AT_ONCE];
			uint64_t	numbers[EMOGI_ROWS_AT_ONCE],
						taken[EMOGI_ROWS_AT_ONCE];
			const uint64_t room = 1 + draw(EMOGI_ROWS_AT_ONCE);

			for (; first < rows->nedges && count < room; first++)
			{
				const uint32_t src = emogi_graph_vertex(graph, rows->edges[first].src);
				const uint32_t dst = emogi_graph_vertex(graph, rows->edges[first].dst);

				if (direction == 1 && src == dst)
					continue;
				found = found && src != EMOGI_NO_VERTEX && dst != EMOGI_NO_VERTEX;
				from[count] = reversed != (direction == 1) ? dst : src;
				to[count] = reversed != (direction == 1) ? src : dst;
				numbers[count] = first;
				some[count++] = weights != NULL ? weights[first] : 0;
			}
			found = found && emogi_property_take(&entries, count, from, to, some, taken);
			for (uint32_t i = 0; i < count && found; i++)
				raw[taken[i]] = (int32_t) numbers[i];
			*ntaken += found ? count : 0;
		}
	free(entries.taken);
	return found;
}

/* Load the numbers of rows for a graph; get the status, BAD_INPUT if the rows are not its edges. */
static EmogiStatus
load(const EmogiShape *rows, const double *weights, const EmogiGraph *graph, EmogiDirection direction, bool with_backward,
	 EmogiProperty *forward, EmogiProperty *backward, EmogiControl *control)
{
	const bool	has_reverse = with_backward && direction != EMOGI_BOTH;
	int32_t    *values = naive_alloc(graph->forward.nedges, sizeof(int32_t));
	int32_t    *reversed = naive_alloc(graph->forward.nedges, sizeof(int32_t));
	EmogiRawProperty raw = {.type = EMOGI_PROPERTY_I32, .values = values};
	EmogiRawProperty raw_reversed = {.type = EMOGI_PROPERTY_I32, .values = reversed};
	EmogiError	error;
	EmogiPropertyLoad load = {.ncolumns = 1, .raw_forward = &raw, .raw_backward = has_reverse ? &raw_reversed : NULL,
		.forward = forward, .backward = backward,
		.in_offsets = naive_alloc(graph->nvertices + 1, sizeof(uint64_t)),
		.in_entries = naive_alloc(graph->forward.nedges, sizeof(uint32_t))};
	uint64_t	ntaken = 0,
				nreversed = 0;
	EmogiStatus status = EMOGI_BAD_INPUT;

	if (take(rows, weights, graph, &graph->forward, direction == EMOGI_IN, direction == EMOGI_BOTH, &ntaken, values) &&
		ntaken == graph->forward.nedges &&
		(!has_reverse || take(rows, weights, graph, &graph->backward, direction != EMOGI_IN, false, &nreversed, reversed)))
		status = emogi_property_load(pool, graph, &load, control, &error);
	if (status == EMOGI_OK)
		check_in_entries(graph, load.in_offsets, load.in_entries);
	free(load.in_offsets);
	free(load.in_entries);
	free(values);
	free(reversed);
	return status;
}

/* Change the rows so that they are not the edges of the graph any more. */
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

/* A row less is refused, and so is a load without memory. */
static void
check_other_rows(void)
{
	EmogiShape	shape = make_shape(100);
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_OUT, false);
	EmogiProperty forward = make_column(100);
	EmogiControl control = {0};

	shape.nedges--;
	CHECK(load(&shape, NULL, &graph, EMOGI_OUT, false, &forward, NULL, &control) == EMOGI_BAD_INPUT, "a row less");
	shape.nedges++;
	for (uint32_t i = 1; i <= 2; i++)
	{
		control.fail_allocation = i;
		CHECK(load(&shape, NULL, &graph, EMOGI_OUT, false, &forward, NULL, &control) == EMOGI_NO_MEMORY, "no memory, %u", i);
	}
	free((void *) forward.values);
	naive_free(&graph);
	free(shape.edges);
}

/* Get a value of a column as a double. */
static double
value_of(const EmogiProperty *column, uint64_t entry)
{
	switch (column->type)
	{
		case EMOGI_PROPERTY_I8:
			return ((const int8_t *) column->values)[entry];
		case EMOGI_PROPERTY_I16:
			return ((const int16_t *) column->values)[entry];
		case EMOGI_PROPERTY_I32:
			return ((const int32_t *) column->values)[entry];
		case EMOGI_PROPERTY_I64:
			return (double) ((const int64_t *) column->values)[entry];
		case EMOGI_PROPERTY_F32:
			return ((const float *) column->values)[entry];
		default:
			return ((const double *) column->values)[entry];
	}
}

/* Copy a column of one raw type to another, with NULLs, or with codes that stand for others. */
static void
check_copy(const EmogiGraph *graph, EmogiPropertyType from, EmogiPropertyType to, bool has_nulls, bool has_codes)
{
	const uint64_t nedges = graph->forward.nedges;
	uint64_t   *raw = naive_alloc(nedges, sizeof(uint64_t));
	double	   *expected = naive_alloc(nedges, sizeof(double));
	uint64_t   *nulls = naive_alloc(nedges / 64 + 1, sizeof(uint64_t));
	uint32_t	codes[100];
	EmogiRawProperty column = {.type = from, .values = raw, .nulls = has_nulls ? nulls : NULL, .codes = has_codes ? codes : NULL};
	EmogiProperty copy = {.type = to, .values = aligned_alloc(64, emogi_properties_bytes(to, has_nulls, nedges))};
	EmogiPropertyLoad load = {.ncolumns = 1, .raw_forward = &column, .forward = &copy};
	EmogiControl control = {0};
	EmogiError	error;
	uint64_t	nwrong = 0;

	memset(nulls, 0, (nedges / 64 + 1) * sizeof(uint64_t));
	for (uint32_t i = 0; i < 100; i++)
		codes[i] = 99 - i;
	for (uint64_t i = 0; i < nedges; i++)
	{
		const int	value = (int) draw(100);

		expected[i] = has_codes ? 99 - value : value;
		if (from == EMOGI_PROPERTY_I32)
			((int32_t *) raw)[i] = value;
		else if (from == EMOGI_PROPERTY_I64)
			((int64_t *) raw)[i] = value;
		else if (from == EMOGI_PROPERTY_F32)
			((float *) raw)[i] = (float) value;
		else
			((double *) raw)[i] = value;
		if (!has_nulls || draw(3) > 0)
			continue;
		/* what is there instead of a value may be anything */
		memset(from == EMOGI_PROPERTY_I32 || from == EMOGI_PROPERTY_F32 ? (char *) raw + 4 * i : (char *) (raw + i), 0x7E, 4);
		nulls[i / 64] |= UINT64_C(1) << (i % 64);
		expected[i] = 0;
	}
	CHECK(emogi_property_load(pool, graph, &load, &control, &error) == EMOGI_OK, "a copy");
	for (uint64_t i = 0; i < nedges; i++)
		nwrong += value_of(&copy, i) != expected[i] || (has_nulls && (copy.nulls[i / 64] >> (i % 64) & 1) !=
														(nulls[i / 64] >> (i % 64) & 1));
	CHECK(nwrong == 0 && (copy.nulls != NULL) == has_nulls, "type %d to %d, %llu wrong", from, to, (unsigned long long) nwrong);
	free((void *) copy.values);
	free(raw);
	free(expected);
	free(nulls);
}

/* Check all pairs of types, over more entries than a thread takes at a time. */
static void
check_copies(void)
{
	EmogiShape	shape = make_shape(150001);
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_OUT, false);

	for (EmogiPropertyType from = EMOGI_PROPERTY_I32; from <= EMOGI_PROPERTY_F64; from++)
		for (EmogiPropertyType to = EMOGI_PROPERTY_I8; to <= EMOGI_PROPERTY_F64; to++)
			for (int has_nulls = 0; has_nulls < 2; has_nulls++)
				if (emogi_property_is_float(from) == emogi_property_is_float(to))
				{
					check_copy(&graph, from, to, has_nulls, false);
					if (from == EMOGI_PROPERTY_I32)
						check_copy(&graph, from, to, has_nulls, true);
				}
	naive_free(&graph);
	free(shape.edges);
}

int
main(void)
{
	pool = emogi_pool_create(2);
	for (int i = 0; i < NGRAPHS; i++)
		check_graph(1 + draw(i < NGRAPHS / 4 ? 20 : MAX_EDGES), (EmogiDirection) (i % 3), (int) draw(NAIVE_KINDS));
	check_other_rows();
	check_copies();
	emogi_pool_destroy(pool);
	return check_report("test_property_load");
}
