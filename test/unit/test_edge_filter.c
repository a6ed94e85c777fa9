/*
 * test_edge_filter.c: tests of property columns and edge filters against SQL's three-valued logic,
 * evaluated naively for each row
 */
#include "check.h"
#include "contract/edge_filter.h"
#include "contract/semirings.h"
#include "naive.h"

#define NEXPRESSIONS 30000
#define MAX_ROWS 700
#define MAX_COLUMNS 8
#define MAX_NODES 64
#define MAX_VALUES 20

static EmogiPool *pool;

/* A column, for the oracle and for the engine. */
typedef struct Column
{
	bool		is_float;
	int64_t    *integers;		/* [nrows], or NULL */
	double	   *floats;			/* [nrows], or NULL */
	bool	   *is_null;		/* [nrows] */
} Column;

/* A node of a random expression: a tree whose leaves are those of the filter. */
typedef struct Node
{
	EmogiFilterStep leaf;
	int			left;			/* child of NOT, IS ..., AND, OR */
	int			right;			/* child of AND, OR */
	int64_t		integers[MAX_VALUES];	/* of AMONG */
	double		floats[MAX_VALUES];
	uint64_t	members[4];	/* of IN_SET */
} Node;

typedef struct Expression
{
	const EmogiProperties *properties;
	Node	   *nodes;			/* [MAX_NODES] */
	int			nnodes;
	EmogiFilterStep steps[4 * MAX_NODES];
	uint32_t	nsteps;
} Expression;

/* ---- random numbers ---- */

static uint64_t seed_of_all = 1;
static uint64_t ndrawn;

/* Draw a number below a bound. */
static uint64_t
draw(uint64_t bound)
{
	return emogi_random(seed_of_all, ndrawn++) % bound;
}

/*
 * Draw an integer for a column of a type, or a constant to compare it with: often small, sometimes
 * at a limit.
 */
static int64_t
draw_integer(EmogiPropertyType type)
{
	static const int64_t maxima[] = {INT8_MAX, INT16_MAX, INT32_MAX, INT64_MAX};

	switch (draw(8))
	{
		case 0:
			return maxima[type] - (int64_t) draw(2);
		case 1:
			return -maxima[type] - 1 + (int64_t) draw(2);
		case 2:
			return (int64_t) (emogi_random(seed_of_all + 9, ndrawn++) & (uint64_t) maxima[type]);
		default:
			return (int64_t) draw(12) - 4;
	}
}

static double
draw_float(EmogiPropertyType type)
{
	static const double values[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 0x1p100};
	const double value = values[draw(sizeof values / sizeof *values)];

	return type == EMOGI_PROPERTY_F64 && draw(6) == 0 ? 0.1 + (double) draw(4) : value;
}

/* ---- columns ---- */

/* Make a column of nrows rows. */
static Column
make_column(EmogiPropertyType type, uint64_t nrows)
{
	const uint64_t null_share = draw(3);
	Column		column = {.is_float = emogi_property_is_float(type), .is_null = naive_alloc(nrows, sizeof(bool))};

	column.integers = naive_alloc(nrows, sizeof(int64_t));
	column.floats = naive_alloc(nrows, sizeof(double));
	for (uint64_t i = 0; i < nrows; i++)
	{
		column.is_null[i] = null_share > 0 && draw(null_share == 1 ? 50 : 3) == 0;
		if (column.is_float)
			column.floats[i] = draw_float(type);
		else
			column.integers[i] = draw_integer(type);
	}
	return column;
}

static void
free_column(Column *column)
{
	free(column->integers);
	free(column->floats);
	free(column->is_null);
}

/*
 * Fill a column of the engine from rows, by the lists of a graph whose weights are the numbers of
 * the rows. Returns the memory to free.
 */
static void *
fill_property(const Column *column, uint64_t nrows, const EmogiGraph *numbers, EmogiProperty *property)
{
	EmogiControl control = {0};
	EmogiError	error;
	bool		has_nulls = draw(2) == 0;
	uint64_t   *nulls = naive_alloc(emogi_bitmap_words(nrows), sizeof(uint64_t));
	EmogiPropertyRows rows = {.values = column->is_float ? (void *) column->floats : (void *) column->integers};
	void	   *memory;

	for (uint64_t i = 0; i < nrows; i++)
	{
		has_nulls |= column->is_null[i];
		nulls[i / 64] |= (uint64_t) column->is_null[i] << (i % 64);
	}
	rows.nulls = has_nulls ? nulls : NULL;
	memory = naive_alloc(emogi_properties_bytes(property->type, has_nulls, numbers->forward.nedges), 1);
	memset(memory, 0x55, emogi_properties_bytes(property->type, has_nulls, numbers->forward.nedges));
	if (emogi_properties_fill(pool, &numbers->forward, numbers->weight_type, &rows, memory, property, &control, &error) !=
		EMOGI_OK)
		abort();
	free(nulls);
	return memory;
}

/* ---- the oracle ---- */

/* Order two floats as PostgreSQL does. */
static int
order_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return (int) (isnan(a) != 0) - (int) (isnan(b) != 0);
	return (a > b) - (a < b);
}

static EmogiTruth
truth_of(EmogiComparison comparison, int order)
{
	switch (comparison)
	{
		case EMOGI_LESS:
			return order < 0;
		case EMOGI_LESS_OR_EQUAL:
			return order <= 0;
		case EMOGI_EQUAL:
			return order == 0;
		case EMOGI_GREATER_OR_EQUAL:
			return order >= 0;
		case EMOGI_GREATER:
			return order > 0;
		default:
			return order != 0;
	}
}

/* Evaluate x = ANY (list), element by element. */
static EmogiTruth
oracle_among(const EmogiFilterStep *leaf, const Column *column, uint64_t row)
{
	EmogiTruth	truth = leaf->has_null ? EMOGI_UNKNOWN : EMOGI_FALSE;

	if (leaf->nvalues == 0)
		return truth;
	if (column->is_null[row])
		return EMOGI_UNKNOWN;
	for (uint64_t i = 0; i < leaf->nvalues; i++)
		if (column->is_float ? order_floats(column->floats[row], ((const double *) leaf->values)[i]) == 0
			: column->integers[row] == ((const int64_t *) leaf->values)[i])
			truth = EMOGI_TRUE;
	return truth;
}

static EmogiTruth
oracle_leaf(const EmogiFilterStep *leaf, const Column *columns, uint64_t row)
{
	const Column *column = &columns[leaf->column];
	const Column *other = &columns[leaf->other];
	int64_t		x = column->integers[row];

	if (leaf->kind == EMOGI_FILTER_CONSTANT)
		return leaf->constant;
	if (leaf->kind == EMOGI_FILTER_IS_NULL)
		return column->is_null[row] ? EMOGI_TRUE : EMOGI_FALSE;
	if (leaf->kind == EMOGI_FILTER_AMONG)
		return oracle_among(leaf, column, row);
	if (column->is_null[row] || (leaf->kind == EMOGI_FILTER_COMPARE_COLUMNS && other->is_null[row]))
		return EMOGI_UNKNOWN;
	if (leaf->kind == EMOGI_FILTER_RANGE)
		return x >= leaf->low && x <= leaf->high ? EMOGI_TRUE : EMOGI_FALSE;
	if (leaf->kind == EMOGI_FILTER_COMPARE)
		return truth_of(leaf->comparison, order_floats(column->floats[row], leaf->number));
	if (leaf->kind == EMOGI_FILTER_IN_SET)
	{
		for (int64_t i = 0; i <= leaf->high - leaf->low; i++)
			if (x == leaf->low + i && (((const uint64_t *) leaf->values)[i / 64] >> (i % 64) & 1))
				return EMOGI_TRUE;
		return leaf->has_null ? EMOGI_UNKNOWN : EMOGI_FALSE;
	}
	if (!column->is_float && !other->is_float)
		return truth_of(leaf->comparison, (x > other->integers[row]) - (x < other->integers[row]));
	return truth_of(leaf->comparison, order_floats(column->is_float ? column->floats[row] : (double) x, other->is_float
												   ? other->floats[row] : (double) other->integers[row]));
}

/* Evaluate a tree for a row, by the truth tables of SQL. */
static EmogiTruth
oracle(const Expression *expression, int at, const Column *columns, uint64_t row)
{
	static const EmogiTruth not_of[] = {EMOGI_TRUE, EMOGI_FALSE, EMOGI_UNKNOWN};
	static const EmogiTruth and_of[3][3] = {
		{EMOGI_FALSE, EMOGI_FALSE, EMOGI_FALSE},
		{EMOGI_FALSE, EMOGI_TRUE, EMOGI_UNKNOWN},
		{EMOGI_FALSE, EMOGI_UNKNOWN, EMOGI_UNKNOWN}
	};
	static const EmogiTruth or_of[3][3] = {
		{EMOGI_FALSE, EMOGI_TRUE, EMOGI_UNKNOWN},
		{EMOGI_TRUE, EMOGI_TRUE, EMOGI_TRUE},
		{EMOGI_UNKNOWN, EMOGI_TRUE, EMOGI_UNKNOWN}
	};
	const Node *node = &expression->nodes[at];
	EmogiTruth	left;

	if (node->leaf.kind < EMOGI_FILTER_NOT)
		return oracle_leaf(&node->leaf, columns, row);
	left = oracle(expression, node->left, columns, row);
	switch (node->leaf.kind)
	{
		case EMOGI_FILTER_NOT:
			return not_of[left];
		case EMOGI_FILTER_IS_TRUE:
			return left == EMOGI_TRUE ? EMOGI_TRUE : EMOGI_FALSE;
		case EMOGI_FILTER_IS_FALSE:
			return left == EMOGI_FALSE ? EMOGI_TRUE : EMOGI_FALSE;
		case EMOGI_FILTER_IS_UNKNOWN:
			return left == EMOGI_UNKNOWN ? EMOGI_TRUE : EMOGI_FALSE;
		case EMOGI_FILTER_AND:
			return and_of[left][oracle(expression, node->right, columns, row)];
		default:
			return or_of[left][oracle(expression, node->right, columns, row)];
	}
}

/* ---- random expressions ---- */

static int
compare_floats(const void *a, const void *b)
{
	return order_floats(*(const double *) a, *(const double *) b);
}

/* Draw the values of an AMONG or IN_SET. */
static void
draw_values(Node *node, EmogiPropertyType type)
{
	EmogiFilterStep *leaf = &node->leaf;

	leaf->has_null = draw(4) == 0;
	if (leaf->kind == EMOGI_FILTER_IN_SET)
	{
		leaf->low = draw_integer(type);
		leaf->high = leaf->low > INT64_MAX - 200 ? leaf->low : leaf->low + (int64_t) draw(200);
		leaf->values = node->members;
		for (int i = 0; i < 4; i++)
			node->members[i] = emogi_random(seed_of_all + 5, ndrawn++);
		return;
	}
	leaf->nvalues = draw(MAX_VALUES);
	for (uint64_t i = 0; i < leaf->nvalues; i++)
	{
		node->integers[i] = draw_integer(emogi_property_is_float(type) ? EMOGI_PROPERTY_I8 : type);
		node->floats[i] = draw_float(type);
	}
	qsort(node->integers, leaf->nvalues, sizeof(int64_t), naive_compare_keys);
	qsort(node->floats, leaf->nvalues, sizeof(double), compare_floats);
	leaf->values = emogi_property_is_float(type) ? (void *) node->floats : (void *) node->integers;
}

static void
draw_leaf(const EmogiProperties *properties, Node *node)
{
	static const EmogiFilterKind of_integers[] = {EMOGI_FILTER_RANGE, EMOGI_FILTER_RANGE, EMOGI_FILTER_AMONG,
		EMOGI_FILTER_IN_SET, EMOGI_FILTER_COMPARE_COLUMNS};
	static const EmogiFilterKind of_floats[] = {EMOGI_FILTER_COMPARE, EMOGI_FILTER_COMPARE, EMOGI_FILTER_AMONG,
		EMOGI_FILTER_COMPARE_COLUMNS, EMOGI_FILTER_COMPARE};
	EmogiFilterStep *leaf = &node->leaf;
	EmogiPropertyType type;

	leaf->column = (uint32_t) draw(properties->ncolumns);
	leaf->other = (uint32_t) draw(properties->ncolumns);
	type = properties->columns[leaf->column].type;
	leaf->kind = (emogi_property_is_float(type) ? of_floats : of_integers)[draw(5)];
	if (draw(8) == 0)
		leaf->kind = draw(2) == 0 ? EMOGI_FILTER_CONSTANT : EMOGI_FILTER_IS_NULL;
	leaf->constant = (EmogiTruth) draw(3);
	leaf->comparison = (EmogiComparison) draw(EMOGI_NCOMPARISONS);
	leaf->number = draw_float(type);
	if (leaf->kind == EMOGI_FILTER_RANGE)
	{
		/* a constant may be outside the range of the column's type */
		leaf->low = draw_integer((EmogiPropertyType) draw(4));
		leaf->high = draw(3) == 0 ? leaf->low : draw_integer((EmogiPropertyType) draw(4));
	}
	else if (leaf->kind == EMOGI_FILTER_AMONG || leaf->kind == EMOGI_FILTER_IN_SET)
		draw_values(node, type);
}

/* Draw an expression of at most `budget` leaves, and write its program; returns the node. */
static int
draw_expression(Expression *expression, int budget)
{
	const int	at = expression->nnodes++;
	Node	   *node = &expression->nodes[at];
	uint32_t	skip = 0;

	node->leaf = (EmogiFilterStep) {0};
	if (budget == 1 && draw(3) > 0)
		draw_leaf(expression->properties, node);
	else if (budget == 1 || draw(5) == 0)
	{
		static const EmogiFilterKind unary[] = {EMOGI_FILTER_NOT, EMOGI_FILTER_NOT, EMOGI_FILTER_IS_TRUE,
			EMOGI_FILTER_IS_FALSE, EMOGI_FILTER_IS_UNKNOWN};

		node->leaf.kind = unary[draw(5)];
		if (expression->nnodes > MAX_NODES / 2 - 2 * budget)
			draw_leaf(expression->properties, node);
		else
			node->left = draw_expression(expression, budget);
	}
	else
	{
		const int	of_left = 1 + (int) draw((uint64_t) budget - 1);

		node->leaf.kind = draw(2) == 0 ? EMOGI_FILTER_AND : EMOGI_FILTER_OR;
		node->left = draw_expression(expression, of_left);
		if (draw(2) == 0)
		{
			skip = expression->nsteps++;
			expression->steps[skip] = (EmogiFilterStep) {.kind = node->leaf.kind == EMOGI_FILTER_AND
				? EMOGI_FILTER_SKIP_AND : EMOGI_FILTER_SKIP_OR};
		}
		node->right = draw_expression(expression, budget - of_left);
	}
	if (skip > 0)
		expression->steps[skip].skipped = expression->nsteps - skip;
	expression->steps[expression->nsteps++] = node->leaf;
	return at;
}

/* ---- checks ---- */

/* Compare an expression with the oracle for each edge: all words at once, and one by one. */
static void
check_expression(Expression *expression, const Column *columns, const EmogiGraph *numbers)
{
	const EmogiProperties *properties = expression->properties;
	const uint64_t nwords = emogi_bitmap_words(properties->nedges);
	uint64_t   *passing = naive_alloc(nwords + 1, sizeof(uint64_t));
	uint64_t	ndifferent = 0;
	EmogiEdgeFilter filter = {.steps = expression->steps};
	EmogiControl control = {0};
	EmogiError	error = {0};
	EmogiStatus status;

	expression->nnodes = 0;
	expression->nsteps = 0;
	draw_expression(expression, 1 + (int) draw(8));
	filter.nsteps = expression->nsteps;
	passing[nwords] = 0x5555;
	status = emogi_edge_filter_run(pool, &filter, properties, passing, &control, &error);
	CHECK(status == EMOGI_OK && passing[nwords] == 0x5555, "status %d: %s", status, error.message);
	for (uint64_t e = 0; e < properties->nedges; e++)
	{
		const uint64_t row = (uint64_t) emogi_weight(numbers->forward.weights, numbers->weight_type, e);

		ndifferent += (passing[e / 64] >> (e % 64) & 1) != (oracle(expression, 0, columns, row) == EMOGI_TRUE);
	}
	CHECK(ndifferent == 0, "%llu of %llu entries, %u steps, seed %llu", (unsigned long long) ndifferent,
		  (unsigned long long) properties->nedges, filter.nsteps, (unsigned long long) seed_of_all);
	checks_passed += properties->nedges - ndifferent;
	if (properties->nedges % 64 != 0)
		CHECK(passing[nwords - 1] >> (properties->nedges % 64) == 0, "bits beyond the end");
	for (uint64_t w = 0; w < nwords; w++)
	{
		uint64_t	word;

		emogi_edge_filter_words(&filter, properties, w, 1, &word);
		CHECK(word == passing[w], "word %llu alone", (unsigned long long) w);
	}
	free(passing);
}

/* Build a random graph of nrows edges whose weights are their numbers. */
static EmogiBuiltGraph
build_numbers(uint64_t nrows, EmogiDirection direction, bool with_backward)
{
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiEdge  *edges = naive_alloc(nrows, sizeof(EmogiEdge));
	double	   *numbers = naive_alloc(nrows, sizeof(double));
	const uint64_t nkeys = 1 + draw(200);

	for (uint64_t i = 0; i < nrows; i++)
	{
		edges[i] = (EmogiEdge) {(int64_t) draw(nkeys), (int64_t) draw(nkeys)};
		numbers[i] = (double) i;
	}
	if (!emogi_edge_set_fill_weighted(&set, edges, numbers, nrows, EMOGI_CHUNK_WEIGHTED_EDGES) ||
		emogi_build_graph(pool, &set.edges, direction, with_backward, &built, &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	free(edges);
	free(numbers);
	return built;
}

/* Check the stored values of a column against the rows. */
static void
check_values(const Column *column, const EmogiProperty *property, const EmogiGraph *numbers)
{
	uint64_t	ndifferent = 0;

	for (uint64_t e = 0; e < numbers->forward.nedges; e++)
	{
		const uint64_t row = (uint64_t) emogi_weight(numbers->forward.weights, numbers->weight_type, e);
		const bool	is_null = property->nulls != NULL && (property->nulls[e / 64] >> (e % 64) & 1) != 0;
		double		number = 0;
		int64_t		integer = 0;

		if (property->type == EMOGI_PROPERTY_F64)
			number = ((const double *) property->values)[e];
		else if (property->type == EMOGI_PROPERTY_F32)
			number = ((const float *) property->values)[e];
		else if (property->type == EMOGI_PROPERTY_I64)
			integer = ((const int64_t *) property->values)[e];
		else if (property->type == EMOGI_PROPERTY_I32)
			integer = ((const int32_t *) property->values)[e];
		else if (property->type == EMOGI_PROPERTY_I16)
			integer = ((const int16_t *) property->values)[e];
		else
			integer = ((const int8_t *) property->values)[e];
		ndifferent += is_null != column->is_null[row] ||
			integer != (is_null || column->is_float ? 0 : column->integers[row]) ||
			order_floats(number, is_null || !column->is_float ? 0.0 : column->floats[row]) != 0;
	}
	CHECK(ndifferent == 0, "%llu values of type %d differ", (unsigned long long) ndifferent, property->type);
}

/* Check random expressions on random columns of a graph with nrows edges. */
static void
check_columns(uint64_t nrows, int nexpressions)
{
	EmogiBuiltGraph built = build_numbers(nrows, draw(2) == 0 ? EMOGI_OUT : EMOGI_BOTH, false);
	Column		columns[MAX_COLUMNS];
	EmogiProperty stored[MAX_COLUMNS];
	void	   *memory[MAX_COLUMNS];
	const uint32_t ncolumns = 1 + (uint32_t) draw(MAX_COLUMNS);
	EmogiProperties properties = {.nedges = built.graph.forward.nedges, .ncolumns = ncolumns, .columns = stored};
	Expression	expression = {.properties = &properties, .nodes = naive_alloc(MAX_NODES, sizeof(Node))};

	for (uint32_t i = 0; i < ncolumns; i++)
	{
		stored[i] = (EmogiProperty) {.type = (EmogiPropertyType) draw(EMOGI_NPROPERTY_TYPES)};
		columns[i] = make_column(stored[i].type, nrows);
		memory[i] = fill_property(&columns[i], nrows, &built.graph, &stored[i]);
		check_values(&columns[i], &stored[i], &built.graph);
	}
	for (int i = 0; i < nexpressions; i++)
		check_expression(&expression, columns, &built.graph);
	for (uint32_t i = 0; i < ncolumns; i++)
	{
		free_column(&columns[i]);
		free(memory[i]);
	}
	free(expression.nodes);
	emogi_built_graph_free(&built);
}

/* Check types and sizes of columns. */
static void
check_bytes(void)
{
	CHECK(emogi_property_integer_type(-128, 127) == EMOGI_PROPERTY_I8 &&
		  emogi_property_integer_type(-129, 127) == EMOGI_PROPERTY_I16 &&
		  emogi_property_integer_type(0, 32768) == EMOGI_PROPERTY_I32 &&
		  emogi_property_integer_type(INT32_MIN, INT64_C(2147483648)) == EMOGI_PROPERTY_I64, "types of integers");
	CHECK(emogi_property_fits_f32(0.5) && emogi_property_fits_f32(NAN) && !emogi_property_fits_f32(0.1), "floats");
	CHECK(emogi_properties_bytes(EMOGI_PROPERTY_I8, false, 20000000) == 20000000, "1 byte an entry");
	CHECK(emogi_properties_bytes(EMOGI_PROPERTY_F64, true, 20480000) == 20480000 * 8 + 20480000 / 8, "8 bytes and a bit");
	CHECK(emogi_properties_bytes(EMOGI_PROPERTY_I16, true, 0) == 0 && emogi_properties_bytes(EMOGI_PROPERTY_I16, true, 1) == 256,
		  "small columns");
}

/* Check that malformed programs are refused. */
static void
check_refused(void)
{
	static const int64_t descending[] = {3, 2};
	static const double nan_first[] = {NAN, 2};
	EmogiProperty stored[] = {{.type = EMOGI_PROPERTY_I32}, {.type = EMOGI_PROPERTY_F64}};
	EmogiProperties properties = {.ncolumns = 2, .columns = stored};
	EmogiFilterStep deep[EMOGI_FILTER_DEPTH + 1] = {{.kind = EMOGI_FILTER_CONSTANT}};
	EmogiControl control = {0};
	EmogiError	error;
#define T {.kind = EMOGI_FILTER_CONSTANT, .constant = EMOGI_TRUE}
#define AND {.kind = EMOGI_FILTER_AND}
#define SKIP(n) {.kind = EMOGI_FILTER_SKIP_AND, .skipped = n}
	const struct
	{
		uint32_t	nsteps;
		EmogiFilterStep steps[8];
		const char *message;
	}			cases[] = {
		{0, {T}, "result"},
		{2, {T, T}, "result"},
		{2, {T, AND}, "operand"},
		{1, {{.kind = EMOGI_FILTER_NOT}}, "operand"},
		{1, {{.kind = EMOGI_NFILTER_KINDS}}, "unknown step"},
		{1, {{.kind = EMOGI_FILTER_CONSTANT, .constant = (EmogiTruth) 3}}, "unknown constant"},
		{1, {{.kind = EMOGI_FILTER_IS_NULL, .column = 2}}, "no such column"},
		{1, {{.kind = EMOGI_FILTER_COMPARE_COLUMNS, .other = 2}}, "no such column"},
		{1, {{.kind = EMOGI_FILTER_COMPARE, .column = 1, .comparison = EMOGI_NCOMPARISONS}}, "unknown comparison"},
		{1, {{.kind = EMOGI_FILTER_COMPARE}}, "type"},
		{1, {{.kind = EMOGI_FILTER_RANGE, .column = 1}}, "type"},
		{1, {{.kind = EMOGI_FILTER_IN_SET, .column = 1}}, "type"},
		{1, {{.kind = EMOGI_FILTER_IN_SET, .high = -1}}, "range"},
		{1, {{.kind = EMOGI_FILTER_IN_SET, .low = INT64_MIN, .high = INT64_MAX}}, "range"},
		{1, {{.kind = EMOGI_FILTER_AMONG, .nvalues = 2, .values = descending}}, "ascend"},
		{1, {{.kind = EMOGI_FILTER_AMONG, .column = 1, .nvalues = 2, .values = nan_first}}, "ascend"},
		{4, {T, SKIP(1), T, AND}, "skip"},
		{4, {T, SKIP(0), T, AND}, "skip"},
		{4, {T, SKIP(3), T, AND}, "skip"},
		{4, {T, SKIP(2), T, {.kind = EMOGI_FILTER_OR}}, "skip"},
		{6, {T, SKIP(4), {.kind = EMOGI_FILTER_NOT}, T, {.kind = EMOGI_FILTER_NOT}, AND}, "first operand"},
		{7, {T, T, SKIP(4), AND, T, T, AND}, "first operand"},
		{8, {T, SKIP(5), T, SKIP(3), T, AND, AND, T}, "skip"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
	{
		EmogiEdgeFilter filter = {cases[i].nsteps, cases[i].steps};
		const EmogiStatus status = emogi_edge_filter_run(pool, &filter, &properties, NULL, &control, &error);

		CHECK(status == EMOGI_BAD_INPUT && strstr(error.message, cases[i].message) != NULL, "case %zu: status %d, %s", i,
			  status, error.message);
	}
	for (int i = 0; i <= EMOGI_FILTER_DEPTH; i++)
		deep[i] = (EmogiFilterStep) T;
	CHECK(emogi_edge_filter_check(&(EmogiEdgeFilter) {EMOGI_FILTER_DEPTH + 1, deep}, &properties, &error) == EMOGI_BAD_INPUT &&
		  strstr(error.message, "deep") != NULL, "too deep");
}

/* Check that a canceled call evaluates nothing, and that a failed allocation is an error. */
static void
check_stopped(void)
{
	EmogiBuiltGraph built = build_numbers(1000, EMOGI_OUT, false);
	Column		column = make_column(EMOGI_PROPERTY_I32, 1000);
	EmogiProperty stored = {.type = EMOGI_PROPERTY_I32};
	void	   *memory = fill_property(&column, 1000, &built.graph, &stored);
	EmogiProperties properties = {.nedges = 1000, .ncolumns = 1, .columns = &stored};
	EmogiFilterStep step = {.kind = EMOGI_FILTER_RANGE};
	EmogiEdgeFilter filter = {1, &step};
	EmogiPropertyRows rows = {.values = column.integers};
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	uint64_t	passing[16];

	CHECK(emogi_edge_filter_run(pool, &filter, &properties, passing, &control, &error) == EMOGI_CANCELED, "canceled");
	CHECK(emogi_properties_fill(pool, &built.graph.forward, built.graph.weight_type, &rows, memory, &stored, &control, &error) ==
		  EMOGI_CANCELED, "canceled");
	control = (EmogiControl) {.fail_allocation = 1};
	CHECK(emogi_properties_fill(pool, &built.graph.forward, built.graph.weight_type, &rows, memory, &stored, &control, &error) ==
		  EMOGI_NO_MEMORY && strstr(error.message, "memory") != NULL, "no memory");
	free(memory);
	free_column(&column);
	emogi_built_graph_free(&built);
}

int
main(void)
{
	pool = emogi_pool_create(3);
	check_bytes();
	check_refused();
	check_stopped();
	for (uint64_t i = 0; i < NEXPRESSIONS / 100; i++)
	{
		seed_of_all = i + 1;
		ndrawn = 0;
		check_columns(i < 5 ? i + 1 : i == 5 ? 200000 : 1 + draw(MAX_ROWS), i == 5 ? 20 : 100);
	}
	emogi_pool_destroy(pool);
	return check_report("test_edge_filter");
}
