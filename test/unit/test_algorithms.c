/*
 * test_algorithms.c: the rows of the table of algorithms are whole, and what a row says of a query is checked.
 */
#include "check.h"

#include "contract/query.h"

#include <string.h>

/* Check one row against what those who read rows count on. */
static void
check_row(int number)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) number);
	int			nparameters = 0;
	int			ncolumns = 0;

	CHECK((int) row->algorithm == number, "row %d says that it is %d", number, (int) row->algorithm);
	CHECK(emogi_algorithm_named(row->name) == row, "%s finds another row", row->name);
	while (row->parameters[nparameters].kind != EMOGI_NO_PARAMETER)
	{
		CHECK(emogi_algorithm_takes(row, row->parameters[nparameters].kind) == nparameters, "%s takes parameter %d twice",
			  row->name, nparameters);
		nparameters++;
	}
	while (row->columns[ncolumns].name != NULL)
	{
		CHECK(emogi_algorithm_column_bytes(row->columns[ncolumns].type) > 0, "%s: column %d has no type", row->name, ncolumns);
		ncolumns++;
	}
	CHECK(ncolumns >= 1 && ncolumns <= EMOGI_MAX_COLUMNS, "%s has %d columns", row->name, ncolumns);
	CHECK(nparameters <= EMOGI_MAX_PARAMETERS, "%s has %d parameters", row->name, nparameters);
	CHECK((row->traits & EMOGI_STOPS) == 0 || emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0, "%s stops and has no source",
		  row->name);
}

/* Check that lists against the edges are asked for where the row needs them, and nowhere else. */
static void
check_backward(int number)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) number);
	const double values[3] = {0.0, 0.0, 0.0};
	const uint64_t offsets[4] = {0};
	const EmogiGraph graph = {.nvertices = 3, .forward.offsets = offsets};
	const EmogiQuery query = {.algorithm = row->algorithm, .max_iterations = 1, .values = values};
	EmogiError	error = {{0}, {0}};

	CHECK((emogi_query_check(&graph, &query, &error) == EMOGI_OK) == ((row->traits & EMOGI_NEEDS_BACKWARD) == 0),
		  "%s with lists along the edges alone: %s", row->name, error.message);
}

/* Check that a vertex out of range is refused where the row takes one, and nowhere else. */
static void
check_vertices(int number)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) number);
	const uint32_t beyond = 3;
	const double values[3] = {0.0, 0.0, 0.0};
	const uint64_t offsets[4] = {0};
	const EmogiGraph graph = {.nvertices = 3, .forward.offsets = offsets, .backward.offsets = offsets};
	EmogiQuery	query = {.algorithm = row->algorithm, .max_iterations = 1, .values = values, .nsources = 1, .sources = &beyond};
	EmogiError	error = {{0}, {0}};
	const bool	takes = emogi_algorithm_takes(row, EMOGI_SOURCES) >= 0;

	CHECK((emogi_query_check(&graph, &query, &error) == EMOGI_BAD_INPUT) == takes, "%s and a source beyond the end", row->name);
	CHECK(!takes || strstr(error.message, "source") != NULL, "%s: %s", row->name, error.message);
	query.nsources = 0;
	CHECK(emogi_query_check(&graph, &query, &error) == EMOGI_OK, "%s without a source: %s", row->name, error.message);
	query.ntargets = 1;
	query.targets = &beyond;
	CHECK((emogi_query_check(&graph, &query, &error) == EMOGI_BAD_INPUT) == ((row->traits & EMOGI_STOPS) != 0),
		  "%s and a target beyond the end", row->name);
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
	CHECK(emogi_algorithm_named("") == NULL && emogi_algorithm_named("emogi_bfs") == NULL, "a name that is none");
	CHECK(emogi_query_check(&graph, &unknown, &error) == EMOGI_BAD_INPUT && error.message[0] != '\0', "an unknown algorithm");
	return check_report("test_algorithms");
}
