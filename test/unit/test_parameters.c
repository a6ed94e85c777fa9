/*
 * test_parameters.c: tests of the table of parameters: queries out of its ranges are refused, and
 * the SQL functions (sql/functions.dat) have the arguments, defaults, and columns of the table of
 * algorithms
 */
#include "check.h"

#include "contract/parameters.h"
#include "contract/query.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 1000

/* A line of tools/functions --arguments. */
typedef struct Line
{
	char		function[64];
	char		what[16];		/* argument or column */
	char		name[64];
	char		type[64];
	char		default_value[64];	/* "-" = no default, "" = a column */
} Line;

static Line lines[MAX_LINES];
static int	nlines;

/* Read the output of tools/functions --arguments. */
static void
read_lines(void)
{
	char		text[512];
	FILE	   *list = popen("perl tools/functions --arguments", "r");

	while (list != NULL && nlines < MAX_LINES && fgets(text, sizeof text, list) != NULL)
	{
		Line	   *line = &lines[nlines++];

		line->default_value[0] = '\0';
		CHECK(sscanf(text, "%63s %15s %63s %63s %63s", line->function, line->what, line->name,
					 line->type, line->default_value) >= 4, "a line of the list: %s", text);
	}
	CHECK(list != NULL && pclose(list) == 0 && nlines < MAX_LINES,
		  "tools/functions --arguments, %d lines", nlines);
}

/* Return the n-th argument or column of a function, from 0, or NULL. */
static const Line *
find_line(const char *function, const char *what, int n)
{
	for (int i = 0; i < nlines; i++)
		if (strcmp(lines[i].function + strlen("emogi_"), function) == 0 &&
			strcmp(lines[i].what, what) == 0 && n-- == 0)
			return &lines[i];
	return NULL;
}

/* Return true if an SQL default equals the value in a row. */
static bool
is_default(const char *text, const EmogiParameterRow *row, double default_value)
{
	if (strcmp(text, "NULL") == 0)
		return default_value == row->none || isinf(default_value);
	if (row->type == EMOGI_PARAMETER_BOOLEAN)
		return strcmp(text, default_value != 0.0 ? "true" : "false") == 0;
	return strtod(text, NULL) == default_value && strcmp(text, "-") != 0;
}

/* Return true if an SQL argument has this name, type, and default. */
static bool
is_argument(const Line *line, const char *name, const char *type, const char *default_value)
{
	return strcmp(line->name, name) == 0 && strcmp(line->default_value, default_value) == 0 &&
		strcmp(line->type, type) == 0;
}

/* Return true if an SQL argument is this parameter, which is neither a number nor a switch. */
static bool
is_other(const Line *line, const EmogiParameter *parameter)
{
	static const char *const directions[] = {"'out'", "'in'", "'both'"};
	static const char *const measures[] = {"'jaccard'", "'overlap'", "'cosine'"};

	switch (parameter->kind)
	{
		case EMOGI_SOURCES:
			return is_argument(line, "source", "key_or_key[]", "-") ||
				is_argument(line, "sources", "key[]", "-");
		case EMOGI_TARGETS:
			return is_argument(line, "target", "key_or_key[]", "-") ||
				is_argument(line, "targets", "key[]", "-");
		case EMOGI_START:
			return is_argument(line, "start", "text", "-");
		case EMOGI_TELEPORT:
			return is_argument(line, "start", "text", "NULL");
		case EMOGI_COMMUNITIES:
			return is_argument(line, "communities", "text", "-");
		case EMOGI_PAIRS:
			return is_argument(line, "pairs", "text", "NULL");
		case EMOGI_MEASURE:
			return is_argument(line, "measure", "text", measures[(int) parameter->default_value]);
		case EMOGI_DIRECTION:
			return is_argument(line, "direction", "text",
							   directions[(int) parameter->default_value]);
		default:
			return false;
	}
}

/* Check the arguments of an algorithm's function. */
static void
check_arguments(const EmogiAlgorithmRow *row)
{
	static const char *const types[] = {"int", "bigint", "float8", "boolean"};
	int			n = 0;

	for (; row->parameters[n].kind != EMOGI_NO_PARAMETER; n++)
	{
		const EmogiParameter *parameter = &row->parameters[n];
		const EmogiParameterRow *number = emogi_parameter_row(parameter->kind);
		const Line *line = find_line(row->name, "argument", n);

		CHECK(line != NULL, "emogi_%s has no argument %d in SQL", row->name, n);
		if (line == NULL)
			continue;
		if (number == NULL)
			CHECK(is_other(line, parameter), "emogi_%s: argument %s %s %s", row->name, line->name,
				  line->type, line->default_value);
		else
			CHECK(strcmp(line->name, number->name) == 0 &&
				  strcmp(line->type, types[number->type]) == 0 &&
				  is_default(line->default_value, number, parameter->default_value),
				  "emogi_%s: argument %s %s %s, not %s %s %g", row->name, line->name, line->type,
				  line->default_value, number->name, types[number->type], parameter->default_value);
	}
	CHECK(find_line(row->name, "argument", n) == NULL, "emogi_%s has more than %d arguments in SQL",
		  row->name, n);
}

/* Check the columns of an algorithm's function that returns vertices. */
static void
check_columns(const EmogiAlgorithmRow *row)
{
	static const char *const types[] = {"int", "bigint", "float8", "key", "key"};
	const Line *line = find_line(row->name, "column", 0);
	int			n = 0;

	CHECK(line != NULL && strcmp(line->name, "vertex") == 0 && strcmp(line->type, "key") == 0,
		  "emogi_%s: first column", row->name);
	for (; row->columns[n].name != NULL; n++)
	{
		line = find_line(row->name, "column", n + 1);
		CHECK(line != NULL && strcmp(line->name, row->columns[n].name) == 0 &&
			  strcmp(line->type, types[row->columns[n].type]) == 0, "emogi_%s: column %s",
			  row->name, row->columns[n].name);
	}
	CHECK(find_line(row->name, "column", n + 1) == NULL, "emogi_%s has more than %d columns in SQL",
		  row->name, n + 1);
}

/* Set the query field of a parameter. */
static void
set_value(EmogiQuery *query, const EmogiParameterRow *row, double value)
{
	void	   *field = (char *) query + row->offset;

	if (row->type == EMOGI_PARAMETER_INT)
		*(int64_t *) field = (int64_t) value;
	else if (row->type == EMOGI_PARAMETER_FLOAT8)
		*(double *) field = value;
}

/* Return true if a query with this value, and otherwise the smallest ones, is accepted. */
static bool
is_accepted(const EmogiAlgorithmRow *algorithm, const EmogiParameterRow *row, double value)
{
	const double values[3] = {0.0, 0.0, 0.0};
	const uint64_t offsets[4] = {0};
	const EmogiGraph graph = {.nvertices = 3, .forward.offsets = offsets,
	.backward.offsets = offsets};
	EmogiQuery	query = {.algorithm = algorithm->algorithm, .values = values};
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	for (int i = 0; algorithm->parameters[i].kind != EMOGI_NO_PARAMETER; i++)
		if (emogi_parameter_row(algorithm->parameters[i].kind) != NULL)
			set_value(&query, emogi_parameter_row(algorithm->parameters[i].kind),
					  emogi_parameter_row(algorithm->parameters[i].kind)->min);
	set_value(&query, row, value);
	status = emogi_query_check(&graph, &query, &error);
	CHECK(status == EMOGI_OK || strstr(error.message, row->name) != NULL ||
		  strstr(error.message, "too long") != NULL, "%s: %s of %g: %s", algorithm->name, row->name,
		  value, error.message);
	return status == EMOGI_OK;
}

/* Check that exactly the values in the range of a parameter are accepted. */
static void
check_range(const EmogiAlgorithmRow *algorithm, const EmogiParameterRow *row)
{
	const bool	is_int = row->type == EMOGI_PARAMETER_INT;
	const double below = is_int ? row->min - 1.0 : nextafter(row->min, -INFINITY);
	const double above = is_int ? row->max + 1.0 : nextafter(row->max, INFINITY);

	if (row->type == EMOGI_PARAMETER_BIGINT || row->type == EMOGI_PARAMETER_BOOLEAN)
		return;
	CHECK(is_accepted(algorithm, row, row->min), "%s: %s of %g", algorithm->name, row->name,
		  row->min);
	CHECK(is_accepted(algorithm, row, below) == (below == row->none), "%s: %s of %g",
		  algorithm->name, row->name, below);
	CHECK(isnan(row->none) || is_accepted(algorithm, row, row->none), "%s: %s of %g",
		  algorithm->name, row->name, row->none);
	CHECK(is_int || is_accepted(algorithm, row, row->max), "%s: %s of %g", algorithm->name,
		  row->name, row->max);
	CHECK(isinf(row->max) || !is_accepted(algorithm, row, above), "%s: %s of %g", algorithm->name,
		  row->name, above);
	CHECK(is_int || !is_accepted(algorithm, row, (double) NAN), "%s: %s of NaN", algorithm->name,
		  row->name);
	CHECK(is_int == (row->hint != NULL), "%s has a hint exactly if it is an int", row->name);
}

int
main(void)
{
	read_lines();
	for (int a = 0; a < EMOGI_NALGORITHMS; a++)
	{
		const EmogiAlgorithmRow *row = emogi_algorithm_row((EmogiAlgorithm) a);

		for (int i = 0; row->parameters[i].kind != EMOGI_NO_PARAMETER; i++)
			if (emogi_parameter_row(row->parameters[i].kind) != NULL)
				check_range(row, emogi_parameter_row(row->parameters[i].kind));
		if (row->shape == EMOGI_SHAPE_AGGREGATES)
			continue;
		check_arguments(row);
		if (row->shape == EMOGI_SHAPE_VERTICES)
			check_columns(row);
	}
	return check_report("test_parameters");
}
