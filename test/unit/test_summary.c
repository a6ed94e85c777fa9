/*
 * test_summary.c: tests of summaries made by the engines against the rows of the answer, aggregated
 * one by one.
 *
 * If a summary has more groups or rows than there is room for, the engine must return the answer
 * itself. The cpu engine makes summaries of BFS levels only; the cuda engine, if there is one,
 * makes all.
 *
 * EMOGI_SUMMARY_GRAPHS is the number of random graphs (default 150), with seeds from 1.
 * EMOGI_SUMMARY_SHAPES = 0 skips the fixed shapes and the larger graphs.
 */
#include "both.h"
#include "cpu/cpu.h"

#define DEFAULT_GRAPHS 150
#define SUMMARIES 12			/* per answer */
#define SEARCHES 5				/* per graph, by the cpu engine */
#define MAX_GROUPS 70000
#define FINITE_KINDS 7			/* kinds of weights from this one on have sums that overflow */

/* The engine under test. */
static const EmogiEngine *tested;
static EmogiEngineState *tested_state;

/* A complete answer, and a summary of it. */
typedef struct Case
{
	const char *name;
	const EmogiAlgorithmRow *row;
	uint64_t	n;
	const EmogiResult *full;
	EmogiSummary summary;
} Case;

/* Return the value of an integer column; -1 = the vertex number. */
static int64_t
integer_value(const Case *c, int column, uint64_t v)
{
	if (column < 0)
		return (int64_t) v;
	switch (c->row->columns[column].type)
	{
		case EMOGI_INT32:
			return c->full->columns[column].int32[v];
		case EMOGI_INT64:
			return c->full->columns[column].int64[v];
		case EMOGI_VERTEX:
			return c->full->columns[column].vertex[v];
		case EMOGI_FLOAT64:
		case EMOGI_EDGE:
			break;
	}
	return 0;
}

/* Return true if a column has floats; -1 = the vertex number. */
static bool
is_float(const Case *c, int column)
{
	return column >= 0 && c->row->columns[column].type == EMOGI_FLOAT64;
}

/* Return a value as a double, which is exact for the columns compared here. */
static double
number_value(const Case *c, int column, uint64_t v)
{
	return is_float(c, column) ? c->full->columns[column].float64[v]
		: (double) integer_value(c, column, v);
}

/* Return true if a vertex has a row that the summary includes. */
static bool
has_row(const Case *c, uint64_t v)
{
	const double none = c->row->columns[0].none;

	if (!isnan(none) && number_value(c, 0, v) == none)
		return false;
	for (int i = 0; c->row->columns[i].name != NULL; i++)
	{
		const EmogiRange *range = &c->summary.ranges[i];
		const double value = number_value(c, i, v);

		if (range->given && is_float(c, i) &&
			!(value >= range->min_float && value <= range->max_float))
			return false;
		if (range->given && !is_float(c, i) &&
			!(value >= (double) range->min && value <= (double) range->max))
			return false;
	}
	return true;
}

/* ---- groups ---- */

/* Check one group against its rows. */
static void
check_group(const Case *c, uint64_t g)
{
	const EmogiSummary *summary = &c->summary;
	uint64_t	count = 0;
	int64_t		integers[EMOGI_MAX_FOLDS] = {0};
	double		numbers[EMOGI_MAX_FOLDS] = {0};

	for (uint64_t v = 0; v < c->n; v++)
	{
		if (!has_row(c, v) ||
			(summary->column >= 0 && integer_value(c, summary->column, v) != summary->labels[g]))
			continue;
		for (int f = 0; f < summary->nfolds; f++)
		{
			const EmogiSummaryFold *fold = &summary->folds[f];
			const int64_t integer = is_float(c, fold->column) ? 0
				: integer_value(c, fold->column, v);
			const double number = number_value(c, fold->column, v);
			const bool	is_next = count == 0 ||
				(fold->kind == EMOGI_FOLD_MIN ? number < numbers[f] : number > numbers[f]);

			if (fold->kind == EMOGI_FOLD_SUM)
				integers[f] += integer;
			else if (is_next)
			{
				numbers[f] = number;
				integers[f] = integer;
			}
		}
		count++;
	}
	CHECK(summary->counts[g] == count, "%s, %s: group %lld has %llu rows, not %llu", c->name,
		  c->row->name, (long long) summary->labels[g], (unsigned long long) count,
		  (unsigned long long) summary->counts[g]);
	for (int f = 0; f < summary->nfolds && count > 0; f++)
	{
		const EmogiSummaryValue value = summary->values[g * (uint64_t) summary->nfolds +
														(uint64_t) f];

		CHECK(is_float(c, summary->folds[f].column) ? value.number == numbers[f] : value.integer ==
			  integers[f], "%s, %s: group %lld, fold %d of column %d", c->name, c->row->name,
			  (long long) summary->labels[g], summary->folds[f].kind, summary->folds[f].column);
	}
}

/* Count the groups. */
static uint64_t
count_groups(const Case *c)
{
	int64_t		min = INT64_MAX;
	int64_t		max = INT64_MIN;
	uint64_t	ngroups = 0;
	bool	   *seen;

	if (c->summary.column < 0)
		return 1;
	for (uint64_t v = 0; v < c->n; v++)
		if (has_row(c, v))
		{
			const int64_t value = integer_value(c, c->summary.column, v);

			min = value < min ? value : min;
			max = value > max ? value : max;
		}
	if (min > max)
		return 0;
	seen = calloc((size_t) (max - min + 1), sizeof *seen);
	for (uint64_t v = 0; v < c->n; v++)
		if (has_row(c, v))
			seen[integer_value(c, c->summary.column, v) - min] = true;
	for (int64_t i = 0; i <= max - min; i++)
		ngroups += seen[i];
	free(seen);
	return ngroups;
}

/* Return true if the engine makes such groups, if there is room. */
static bool
makes_groups(const Case *c)
{
	bool		of_levels = c->row->algorithm == EMOGI_BFS;

	for (int f = 0; f < c->summary.nfolds; f++)
		of_levels = of_levels && c->summary.folds[f].column == 0;
	return tested == cuda || of_levels;
}

/*
 * Check groups: their number and order, that they partition the rows, and some of them row by row.
 */
static void
check_groups(const Case *c, const EmogiResult *result)
{
	const uint64_t ngroups = count_groups(c);
	uint64_t	nrows = 0;
	uint64_t	ncounted = 0;

	CHECK(result->is_summarized == (makes_groups(c) && ngroups <= c->summary.room),
		  "%s, %s: %llu groups in room for %llu", c->name, c->row->name,
		  (unsigned long long) ngroups, (unsigned long long) c->summary.room);
	if (!result->is_summarized)
		return;
	CHECK(result->nsummarized == ngroups, "%s, %s: %llu groups, not %llu", c->name, c->row->name,
		  (unsigned long long) ngroups, (unsigned long long) result->nsummarized);
	for (uint64_t v = 0; v < c->n; v++)
		nrows += has_row(c, v);
	for (uint64_t g = 0; g < result->nsummarized; g++)
	{
		ncounted += c->summary.counts[g];
		CHECK(g == 0 || c->summary.labels[g] > c->summary.labels[g - 1],
			  "%s, %s: groups are out of order", c->name, c->row->name);
		if (g < 20 || g == result->nsummarized - 1)
			check_group(c, g);
	}
	CHECK(ncounted == nrows, "%s, %s: %llu rows in groups of %llu", c->name, c->row->name,
		  (unsigned long long) ncounted, (unsigned long long) nrows);
}

/* ---- the first rows ---- */

static int
compare_numbers(const void *a, const void *b)
{
	const double x = *(const double *) a;
	const double y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Find the value of the last row included; returns false if there are not enough rows. */
static bool
find_last(const Case *c, double *last)
{
	double	   *values = naive_alloc(c->n, sizeof *values);
	uint64_t	nrows = 0;
	const bool	enough = c->summary.count > 0;

	for (uint64_t v = 0; v < c->n; v++)
		if (has_row(c, v))
			values[nrows++] = number_value(c, c->summary.column, v);
	qsort(values, nrows, sizeof *values, compare_numbers);
	if (nrows >= c->summary.count)
		*last = values[c->summary.descends ? nrows - c->summary.count : c->summary.count - 1];
	free(values);
	return enough && nrows >= c->summary.count;
}

/* Check that all rows were selected that may be among the first, and their columns. */
static void
check_first(const Case *c, const EmogiResult *result)
{
	const EmogiSummary *summary = &c->summary;
	bool	   *picked = calloc(c->n + 1, sizeof *picked);
	double		last = 0.0;
	const bool	is_full = find_last(c, &last);

	CHECK(result->is_summarized ? tested == cuda : tested != cuda || summary->room < c->n,
		  "%s, %s: no first rows although there is room", c->name, c->row->name);
	for (uint64_t i = 0; result->is_summarized && i < result->nsummarized; i++)
	{
		const uint32_t v = summary->picked[i];
		bool		same = v < c->n && has_row(c, v) && (i == 0 || v > summary->picked[i - 1]);

		for (int k = 0; same && c->row->columns[k].name != NULL; k++)
		{
			const uint32_t bytes = emogi_algorithm_column_bytes(c->row->columns[k].type);

			same = memcmp((char *) result->columns[k].any + v * bytes,
						  (char *) c->full->columns[k].any + v * bytes, bytes) == 0;
		}
		CHECK(same, "%s, %s: vertex %u was selected", c->name, c->row->name, v);
		if (v < c->n)
			picked[v] = true;
	}
	for (uint64_t v = 0; result->is_summarized && v < c->n; v++)
	{
		const double value = number_value(c, summary->column, v);
		const bool	is_first = has_row(c, v) &&
			(!is_full || (summary->descends ? value >= last : value <= last));

		if (is_first)
			CHECK(picked[v], "%s, %s: vertex %llu is among the first %llu and was not selected",
				  c->name, c->row->name, (unsigned long long) v,
				  (unsigned long long) summary->count);
	}
	free(picked);
}

/* ---- queries ---- */

/* Make a range that ends at the value of a random vertex, or is empty. */
static EmogiRange
random_range(const Case *c, int column, uint64_t seed)
{
	EmogiRange	range = {true, INT64_MIN, INT64_MAX, -(double) INFINITY, (double) INFINITY};
	const uint64_t v = emogi_random(seed, 1) % c->n;

	switch (emogi_random(seed, 2) % 4)
	{
		case 0:
			range.min = is_float(c, column) ? 0 : integer_value(c, column, v);
			range.min_float = number_value(c, column, v);
			break;
		case 1:
			range.max = is_float(c, column) ? 0 : integer_value(c, column, v);
			range.max_float = number_value(c, column, v);
			break;
		case 2:
			range.min = range.max = is_float(c, column) ? 0 : integer_value(c, column, v);
			range.min_float = range.max_float = number_value(c, column, v);
			break;
		case 3:
			range = (EmogiRange) {true, 1, 0, 1.0, 0.0};
			break;
	}
	return range;
}

/* Return a random column; -1 is the vertex number. */
static int
random_column(const Case *c, uint64_t random, int min)
{
	int			ncolumns = 0;

	while (c->row->columns[ncolumns].name != NULL)
		ncolumns++;
	return min + (int) (random % (uint64_t) (ncolumns - min));
}

/* Make a random summary. */
static void
set_summary(Case *c, uint64_t seed)
{
	static const uint64_t rooms[] = {1, 5, 100, MAX_GROUPS, MAX_GROUPS};
	static const uint64_t counts[] = {1, 3, 20, 300, 5000};
	EmogiSummary *summary = &c->summary;

	summary->kind = emogi_random(seed, 3) % 2 == 0 ? EMOGI_SUMMARY_GROUPS : EMOGI_SUMMARY_FIRST;
	summary->room = rooms[emogi_random(seed, 4) % 5];
	summary->count = counts[emogi_random(seed, 5) % 5];
	summary->descends = emogi_random(seed, 6) % 2 == 0;
	summary->column = random_column(c, emogi_random(seed, 7),
									summary->kind == EMOGI_SUMMARY_GROUPS ? -1 : 0);
	if (summary->kind == EMOGI_SUMMARY_GROUPS && is_float(c, summary->column))
		summary->column = -1;
	summary->nfolds = (int) (emogi_random(seed, 8) % (EMOGI_MAX_FOLDS + 1));
	for (int f = 0; f < summary->nfolds; f++)
	{
		EmogiSummaryFold *fold = &summary->folds[f];

		*fold = (EmogiSummaryFold) {(EmogiFoldKind) (emogi_random(seed, 20 + (uint64_t) f) % 3),
			random_column(c, emogi_random(seed, 30 + (uint64_t) f), -1)};
		if (fold->kind == EMOGI_FOLD_SUM &&
			(fold->column < 0 || c->row->columns[fold->column].type != EMOGI_INT32))
			fold->kind = EMOGI_FOLD_MAX;
	}
	for (int i = 0; c->row->columns[i].name != NULL; i++)
	{
		summary->ranges[i].given = emogi_random(seed, 40 + (uint64_t) i) % 2 == 0;
		if (summary->ranges[i].given)
			summary->ranges[i] = random_range(c, i, emogi_random(seed, 50 + (uint64_t) i));
	}
}

/* Check a summary of an answer. */
static void
check_summary(Case *c, const EmogiGraph *graph, EmogiQuery query, uint64_t seed)
{
	Answer		answer = make_answer(c->n);
	const EmogiResult given = answer.result;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};

	set_summary(c, seed);
	c->summary.labels = naive_alloc(c->summary.room, sizeof(int64_t));
	c->summary.counts = naive_alloc(c->summary.room, sizeof(uint64_t));
	c->summary.values = naive_alloc(c->summary.room * EMOGI_MAX_FOLDS, sizeof(EmogiSummaryValue));
	c->summary.picked = naive_alloc(c->summary.room, sizeof(uint32_t));
	query.summary = &c->summary;
	CHECK(tested->run(tested_state, graph, &query, &answer.result, &control, &error) == EMOGI_OK,
		  "%s, %s: %s (%s)", c->name, c->row->name, error.message, error.detail);
	if (c->summary.kind == EMOGI_SUMMARY_GROUPS)
		check_groups(c, &answer.result);
	else
		check_first(c, &answer.result);
	CHECK(answer.result.is_summarized || agree(query.algorithm, c->n, &answer.result, c->full),
		  "%s, %s: another answer", c->name, c->row->name);
	CHECK(within_bounds(query.algorithm, c->n, &given), "%s, %s: wrote beyond the end", c->name,
		  c->row->name);
	free(c->summary.labels);
	free(c->summary.counts);
	free(c->summary.values);
	free(c->summary.picked);
	free(answer.memory);
}

/*
 * Run a query, and check summaries of its answer. Algorithms whose sums depend on the order of
 * additions must be excluded, because their bits differ between runs.
 */
static void
check_answer(const char *name, const EmogiGraph *graph, const EmogiQuery *query, uint64_t seed)
{
	Answer		full = make_answer(graph->nvertices);
	Case c = {.name = name, .row = emogi_algorithm_row(query->algorithm), .n = graph->nvertices,
		.full = &full.result};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	const EmogiStatus status = tested->run(tested_state, graph, query, &full.result, &control,
										   &error);

	/* of a graph with many levels */
	const bool	is_unsupported = status == EMOGI_UNSUPPORTED && query->algorithm == EMOGI_CLOSENESS;

	CHECK(is_unsupported || (status == EMOGI_OK && !full.result.is_summarized), "%s, %s: %s (%s)",
		  name, c.row->name, error.message, error.detail);
	for (uint64_t i = 0; i < SUMMARIES && graph->nvertices > 0 && !is_unsupported; i++)
		check_summary(&c, graph, *query, emogi_random(seed, 1000 + i));
	free(full.memory);
}

/* Check searches on the cpu engine. One that stops at its targets has no summary. */
static void
check_searches(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	int64_t		label;
	uint64_t	count;
	EmogiSummary summary = {.kind = EMOGI_SUMMARY_GROUPS,.column = -1,.room = 1,.labels = &label,
		.counts = &count};
	Answer		answer = make_answer(graph->nvertices);
	EmogiControl control = {0};
	EmogiError	error;
	uint32_t	sources[4];
	EmogiQuery	query;

	for (uint64_t i = 0; i < SEARCHES; i++)
	{
		query = oracle_query(graph, seed, i, sources, 4);
		check_answer(name, graph, &query, emogi_random(seed, 2000 + i));
	}
	query.summary = &summary;
	query.targets = sources;
	query.ntargets = query.nsources;
	CHECK(cpu->run(cpu_state, graph, &query, &answer.result, &control, &error) == EMOGI_OK &&
		  answer.result.is_summarized == (query.ntargets == 0), "%s: targets", name);
	free(answer.memory);
}

/* Check all algorithms of the cuda engine. */
static void
check_algorithms(const char *name, const EmogiGraph *graph, int kind, uint64_t seed)
{
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) a);
		uint32_t	sources[4];
		EmogiQuery	query = oracle_query(graph, seed, (uint64_t) a, sources, 4);

		query.algorithm = row->algorithm;
		query.max_distance = (double) INFINITY;
		query.max_depth = row->algorithm == EMOGI_BFS ? query.max_depth : -1;
		query.max_iterations = 5;
		if (is_supported(graph, row->algorithm) && !emogi_is_sum(row->algorithm) &&
			row->algorithm != EMOGI_PAGERANK && row->algorithm != EMOGI_BETWEENNESS &&
			emogi_algorithm_takes(row, EMOGI_COMMUNITIES) < 0 &&
			((row->weights != EMOGI_WEIGHTS_FACTORS && row->weights != EMOGI_WEIGHTS_CONDUCTANCES &&
			  row->weights != EMOGI_WEIGHTS_CAPACITIES) || kind < FINITE_KINDS))
			check_answer(name, graph, &query, emogi_random(seed, (uint64_t) a));
	}
	CHECK(cuda->forget(cuda_state, graph->id) == 0, "%s is still cached", name);
	check_nothing_held(name, 0);
}

/* Check a graph. */
static void
check_edges(const char *name, const EmogiEdges *edges, int kind, uint64_t seed)
{
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (emogi_build_graph(emogi_cpu_engine_pool(cpu_state), edges,
						  seed % 2 == 0 ? EMOGI_OUT : EMOGI_BOTH, true, &built, &control, &error) !=
		EMOGI_OK)
		abort();
	built.graph.id = ++last_id;
	if (tested == cuda)
		check_algorithms(name, &built.graph, kind, seed);
	else
		check_searches(name, &built.graph, seed);
	emogi_built_graph_free(&built);
}

static void
check_shape(EmogiShape *shape, uint64_t seed)
{
	const int	kind = 1 + (int) (seed % (NAIVE_KINDS - 1));
	double	   *weights = naive_weights(kind, seed, shape->nedges);
	EmogiEdgeSet set;

	if (!emogi_edge_set_fill_weighted(&set, shape->edges, weights, shape->nedges,
									  EMOGI_CHUNK_WEIGHTED_EDGES))
		abort();
	check_edges(shape->name, &set.edges, kind, seed);
	check_edges(shape->name, &set.edges, kind, seed + 1);
	emogi_edge_set_free(&set);
	free(weights);
	emogi_shape_free(shape);
}

/*
 * Check a graph of 2^15 vertices, many of them isolated or in pairs: it has more groups than a
 * block has slots.
 */
static void
check_large(EmogiGenerator generator, int degree)
{
	EmogiEdgeSet set;

	if (!emogi_generate_edges(emogi_cpu_engine_pool(cpu_state), generator, 15, degree, 11, &set))
		abort();
	check_edges("large", &set.edges, 0, (uint64_t) degree);
	check_edges("large", &set.edges, 0, (uint64_t) degree + 1);
	emogi_edge_set_free(&set);
}

/* Check an engine on all graphs. */
static void
check_engine(const EmogiEngine *engine, EmogiEngineState *state)
{
	EmogiShape	shape;
	const uint64_t ngraphs = number_from_environment("EMOGI_SUMMARY_GRAPHS", DEFAULT_GRAPHS);
	const bool	all = number_from_environment("EMOGI_SUMMARY_SHAPES", 1) != 0;

	tested = engine;
	tested_state = state;
	for (int i = 0; all && i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		check_shape(&shape, (uint64_t) i);
	}
	for (uint64_t seed = 1; seed <= ngraphs; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, seed);
	}
	if (all)
	{
		check_large(EMOGI_URAND, 1);
		check_large(EMOGI_KRON, 1);
		check_large(EMOGI_KRON, 8);
	}
}

int
main(void)
{
	const EmogiEngineOptions options = {.cpu_threads = 2};
	EmogiError	error = {{0}, {0}};
	const char *why_not = open_cuda(&error);

	cpu = emogi_cpu_engine();
	if (cpu->open(&options, &cpu_state, &error) != EMOGI_OK)
		abort();
	check_engine(cpu, cpu_state);
	if (why_not != NULL)
		printf("without the cuda engine: %s\n", why_not);
	else
	{
		check_engine(cuda, cuda_state);
		cuda->close(cuda_state);
	}
	cpu->close(cpu_state);
	return check_report("test_summary");
}
