/*
 * test_algorithms.c: tests of the table of algorithms: its rows are consistent, and queries are
 * checked as their rows say.
 */
#include "check.h"

#include "contract/query.h"

#include <math.h>
#include <string.h>

/* Check that one row is consistent. */
static void
check_row(int number)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) number);
	int			nparameters = 0;
	int			ncolumns = 0;

	CHECK((int) row->algorithm == number, "row %d has number %d", number, (int) row->algorithm);
	CHECK(emogi_algorithm_named(row->name) == row, "%s finds another row", row->name);
	while (row->parameters[nparameters].kind != EMOGI_NO_PARAMETER)
	{
		CHECK(emogi_algorithm_takes(row, row->parameters[nparameters].kind) == nparameters,
			  "%s takes parameter %d twice", row->name, nparameters);
		nparameters++;
	}
	while (row->columns[ncolumns].name != NULL)
	{
		CHECK(emogi_algorithm_column_bytes(row->columns[ncolumns].type) > 0,
			  "%s: column %d has no type", row->name, ncolumns);
		ncolumns++;
	}
	CHECK(ncolumns >= 1 && ncolumns <= EMOGI_MAX_COLUMNS, "%s has %d columns", row->name, ncolumns);
	CHECK(nparameters <= EMOGI_MAX_PARAMETERS, "%s has %d parameters", row->name, nparameters);
	CHECK((row->traits & EMOGI_STOPS) == 0 || emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0,
		  "%s stops and takes no source", row->name);
}

/* Check that the transposed lists are required exactly by the algorithms whose rows say so. */
static void
check_backward(int number)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) number);
	const double values[3] = {0.0, 0.0, 0.0};
	const uint64_t offsets[4] = {0};
	const EmogiGraph graph = {.nvertices = 3, .forward.offsets = offsets};
	const EmogiQuery query = {.algorithm = row->algorithm, .max_iterations = 1, .values = values,
		.top_k = 1,
		.walks = 1, .return_parameter = 1.0, .in_out_parameter = 1.0};
	EmogiError	error = {{0}, {0}};

	CHECK((emogi_query_check(&graph, &query, &error) == EMOGI_OK) ==
		  ((row->traits & EMOGI_NEEDS_BACKWARD) == 0), "%s without the transpose: %s", row->name,
		  error.message);
}

/* Check that an out-of-range vertex is refused exactly by the algorithms that take one. */
static void
check_vertices(int number)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) number);
	const uint32_t beyond = 3;
	const double values[3] = {0.0, 0.0, 0.0};
	const uint64_t offsets[4] = {0};
	const EmogiGraph graph = {.nvertices = 3, .forward.offsets = offsets,
	.backward.offsets = offsets};
	EmogiQuery	query = {.algorithm = row->algorithm, .max_iterations = 1, .values = values,
		.nsources = 1, .sources = &beyond, .top_k = 1, .walks = 1, .return_parameter = 1.0,
		.in_out_parameter = 1.0};
	EmogiError	error = {{0}, {0}};
	const bool	takes = emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0;

	CHECK((emogi_query_check(&graph, &query, &error) == EMOGI_BAD_INPUT) == takes,
		  "%s and a source beyond the end", row->name);
	CHECK(!takes || strstr(error.message, "source") != NULL, "%s: %s", row->name, error.message);
	query.nsources = 0;
	CHECK(emogi_query_check(&graph, &query, &error) == EMOGI_OK, "%s without a source: %s",
		  row->name, error.message);
	query.ntargets = 1;
	query.targets = &beyond;
	CHECK((emogi_query_check(&graph, &query, &error) == EMOGI_BAD_INPUT) ==
		  ((row->traits & (EMOGI_STOPS | EMOGI_OF_TARGETS)) != 0 ||
		   emogi_algorithm_takes(row, EMOGI_TARGETS) >= 0), "%s and a target beyond the end",
		  row->name);
}

/* Check that all traits are different bits. */
static void
check_traits(void)
{
	static const uint32_t traits[] = {EMOGI_PATH_ADDITIVE, EMOGI_SUM_USES_OWN_VALUE,
		EMOGI_SUM_DIRICHLET, EMOGI_SUM_KEEPS_ISOLATED, EMOGI_STOPS, EMOGI_NEEDS_BACKWARD,
		EMOGI_WEIGHS_BACKWARD, EMOGI_HAS_MSBFS, EMOGI_MAY_DIVERGE, EMOGI_SUMS_LISTS,
		EMOGI_INDEX_SEARCH, EMOGI_COUNTS_PATHS, EMOGI_NAMES_MEMBERS, EMOGI_KEEPS_COMPONENTS,
		EMOGI_FEW_ROWS, EMOGI_OF_TARGETS, EMOGI_COUNTS_CORNERS, EMOGI_CPU_AGGREGATES,
		EMOGI_MAY_NOT_CONVERGE, EMOGI_DAMPED, EMOGI_OF_REACHED};
	uint32_t	seen = 0;

	for (size_t i = 0; i < sizeof traits / sizeof *traits; i++)
	{
		CHECK((seen & traits[i]) == 0, "trait %d has the bit of another one", (int) i);
		seen |= traits[i];
	}
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
		CHECK((emogi_algorithm_row((EmogiAlgorithm) a)->traits & ~seen) == 0,
			  "row %d has a trait that this test does not know", a);
}

/* Check that an argument out of range is refused. */
static void
check_refused(const char *what, EmogiQuery query)
{
	const uint64_t offsets[4] = {0};
	const EmogiGraph graph = {.nvertices = 3, .forward.offsets = offsets,
	.backward.offsets = offsets};
	EmogiError	error = {{0}, {0}};

	CHECK(emogi_query_check(&graph, &query, &error) == EMOGI_BAD_INPUT && error.message[0] != '\0',
		  "%s is accepted", what);
}

/* Check the arguments and lengths of the algorithms whose answer is a list. */
static void
check_lists(void)
{
	const uint32_t pairs[4] = {0, 2, 1, 3};
	const uint32_t sources[2] = {0, 2};
	const EmogiQuery similarity = {.algorithm = EMOGI_SIMILARITY, .top_k = 5};
	const EmogiQuery walk = {.algorithm = EMOGI_RANDOM_WALK, .walks = 7, .length = 9, .nsources = 2,
		.sources = sources, .return_parameter = 1.0, .in_out_parameter = 1.0};
	const EmogiQuery sums = {.algorithm = EMOGI_BFS_SUMS, .nsources = 2, .sources = sources};
	const EmogiGraph graph = {.nvertices = 3};
	const EmogiGraph largest = {.nvertices = EMOGI_MAX_VERTICES};
	EmogiQuery	query = similarity;

	CHECK(emogi_query_length(&graph, &query) == 15, "top k of each vertex");
	query.top_k = INT32_MAX;
	CHECK(emogi_query_length(&largest, &query) == UINT64_MAX, "top k overflows");
	query.top_k = 0;
	check_refused("top 0 of each vertex", query);
	query.pairs = pairs;
	query.npairs = 2;
	CHECK(emogi_query_length(&graph, &query) == 2 && !emogi_query_needs_backward(&query), "pairs");
	check_refused("a pair with a vertex beyond the end", query);
	query = similarity;
	query.cutoff = (double) NAN;
	check_refused("a cutoff that is NaN", query);
	query = similarity;
	query.measure = (EmogiMeasure) 3;
	check_refused("a fourth measure", query);
	CHECK(emogi_query_length(&graph, &walk) == 140, "walks");
	CHECK(emogi_query_length(&graph, &sums) == 2, "sums of levels");
	query = walk;
	query.length = query.walks = INT32_MAX;
	CHECK(emogi_query_length(&graph, &query) == UINT64_MAX, "walks that are too long");
	query = walk;
	query.walks = 0;
	check_refused("zero walks", query);
	query = walk;
	query.in_out_parameter = 0.0;
	check_refused("a q of 0", query);
	query = walk;
	query.return_parameter = (double) INFINITY;
	check_refused("an infinite p", query);
}

int
main(void)
{
	const EmogiGraph graph = {0};
	const EmogiQuery unknown = {.algorithm = (EmogiAlgorithm) EMOGI_NALGORITHMS};
	EmogiError	error = {{0}, {0}};

	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		check_row(a);
		check_backward(a);
		check_vertices(a);
	}
	check_traits();
	check_lists();
	CHECK(emogi_algorithm_named("") == NULL && emogi_algorithm_named("emogi_bfs") == NULL,
		  "an unknown name");
	CHECK(emogi_query_check(&graph, &unknown, &error) == EMOGI_BAD_INPUT &&
		  error.message[0] != '\0', "an unknown algorithm");
	return check_report("test_algorithms");
}
