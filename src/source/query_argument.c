/*
 * query_argument.c: query text given as an argument: its validation and its result columns
 *
 * Query text is prepared on its own, which reports its syntax errors with the right position, and
 * must be one SELECT. Because it parses on its own, it is safe to embed it in parentheses in a
 * query of emogi's.
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "nodes/parsenodes.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"

#include "base/compat.h"
#include "source/source.h"

/* Query text that is prepared, and which argument it is. */
typedef struct
{
	const char *query;
	const char *what;
} Prepared;

/* Is there a name in double quotes behind an operator? position: in characters, from 1; 0 = none. */
static bool
is_quoted_operand(const char *text, int position)
{
	const char *p = text;
	const char *before;

	for (int i = 1; i < position && *p != '\0'; i++)
		p += pg_mblen(p);
	if (*p != '"')
		return false;
	for (before = p; before > text && isspace((unsigned char) before[-1]); before--)
		;
	return before > text && strchr("=<>~", before[-1]) != NULL;
}

/* Add a hint to the error for a query with a parameter, or with a string in double quotes. */
static void
explain_operand(const char *query)
{
	if (geterrcode() == ERRCODE_UNDEFINED_PARAMETER)
		errhint("Pass their values with emogi_query('SELECT src, dst FROM edges WHERE kind = $1', "
				"kind).");
	else if (geterrcode() == ERRCODE_UNDEFINED_COLUMN &&
			 is_quoted_operand(query, Max(geterrposition(), getinternalerrposition())))
		errhint("A string is in single quotes, which are doubled in a literal: 'edges WHERE kind = "
				"''road'''. Double quotes are for names.");
}

/* Error context callback: show the query text, as SPI does, and add the hint for parameters. */
void
emogi_query_explain_text(void *text)
{
	int			position = geterrposition();

	explain_operand(text);
	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(text);
	}
	else
		errcontext("SQL statement \"%s\"", (const char *) text);
}

/*
 * Analyze and rewrite query text as its execution would, with locks on the relations it reads;
 * return NULL if it is not one SELECT. types: of its parameters. Raises the query's errors.
 */
Query *
emogi_query_analyze_with(const char *query, const Oid *types, int ntypes)
{
	ErrorContextCallback context = {.previous = error_context_stack,
									.callback = emogi_query_explain_text,
									.arg = unconstify(char *, query)};
	List	   *statements;
	RawStmt    *statement = NULL;

	error_context_stack = &context;
	statements = pg_parse_query(query);
	if (list_length(statements) == 1)
		statement = linitial_node(RawStmt, statements);
	if (statement != NULL && IsA(statement->stmt, SelectStmt) &&
		((SelectStmt *) statement->stmt)->intoClause == NULL)
		statements = emogi_compat_analyze(statement, query, types, ntypes);
	else
		statements = NIL;
	error_context_stack = context.previous;
	return list_length(statements) == 1 ? linitial_node(Query, statements) : NULL;
}

/* Analyze and rewrite a query without parameters. */
Query *
emogi_query_analyze(const char *query)
{
	return emogi_query_analyze_with(query, NULL, 0);
}

/* Error context callback: for a query other than the graph's, say which argument it is. */
static void
explain_argument(void *arg)
{
	const Prepared *prepared = arg;

	explain_operand(prepared->query);
	if (strcmp(prepared->what, EMOGI_GRAPH_QUERY) != 0)
		errcontext("%s", prepared->what);
}

/* Prepare query text. `what` names the query in errors. */
static SPIPlanPtr
prepare(const char *query, const char *what)
{
	Prepared	prepared = {.query = query,.what = what};
	ErrorContextCallback context = {.previous = error_context_stack,.callback = explain_argument,
									.arg = &prepared};
	SPIPlanPtr	plan;

	error_context_stack = &context;
	plan = SPI_prepare(query, 0, NULL);
	error_context_stack = context.previous;
	return plan;
}

/* Raise 42601 for query text that is not one SELECT. */
static void
report_not_select(const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("the %s must be one SELECT", what),
			 errhint("Use a single SELECT, WITH ... SELECT, VALUES or TABLE.")));
}

/*
 * Get the length of query text that is one SELECT by its syntax, without a closing semicolon.
 * `what` names the query in errors.
 */
int
emogi_query_text_length(const char *query, const char *what)
{
	ErrorContextCallback context = {.previous = error_context_stack,
									.callback = emogi_query_explain_text,
									.arg = unconstify(char *, query)};
	List	   *statements;
	RawStmt    *raw;

	error_context_stack = &context;
	statements = pg_parse_query(query);
	error_context_stack = context.previous;
	raw = list_length(statements) == 1 ? linitial_node(RawStmt, statements) : NULL;
	if (raw == NULL || !IsA(raw->stmt, SelectStmt) ||
		((SelectStmt *) raw->stmt)->intoClause != NULL)
		report_not_select(what);
	return raw->stmt_len > 0 ? Max(raw->stmt_location, 0) + raw->stmt_len : (int) strlen(query);
}

/*
 * Prepare query text, inside SPI, and check that it is one SELECT. Get the description of its
 * result, including the columns of anonymous rows (anonymous_rows.c), and return the length of the
 * text without a closing semicolon. `what` names the query in errors.
 */
int
emogi_query_describe_any(const char *query, const char *what, TupleDesc *desc)
{
	SPIPlanPtr	plan;
	List	   *sources;
	CachedPlanSource *source;
	RawStmt    *raw;
	int			end;

	emogi_query_hints_check(query, what);
	plan = prepare(query, what);
	sources = plan != NULL ? SPI_plan_get_plan_sources(plan) : NIL;
	if (list_length(sources) != 1)
		report_not_select(what);
	source = linitial(sources);
	raw = source->raw_parse_tree;
	if (raw == NULL || !IsA(raw->stmt, SelectStmt) ||
		((SelectStmt *) raw->stmt)->intoClause != NULL ||
		source->resultDesc == NULL)
		report_not_select(what);
	*desc = CreateTupleDescCopy(source->resultDesc);
	emogi_anonymous_rows_describe(linitial_node(Query, source->query_list), *desc);
	end = raw->stmt_len > 0 ? Max(raw->stmt_location, 0) + raw->stmt_len : (int) strlen(query);
	SPI_freeplan(plan);
	return end;
}

/*
 * Prepare the query of a graph like emogi_query_describe_any, and check that it has at least two
 * columns.
 */
int
emogi_query_describe(const char *query, TupleDesc *desc)
{
	int			length = emogi_query_describe_any(query, EMOGI_GRAPH_QUERY, desc);

	if ((*desc)->natts < 2)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the %s returns %d column, but two are needed", EMOGI_GRAPH_QUERY,
						(*desc)->natts),
				 errhint("An edge is two columns, source and target.")));
	return length;
}

/* List the result columns, for DETAIL of an error. */
char *
emogi_query_column_names(TupleDesc desc)
{
	StringInfoData names;

	initStringInfo(&names);
	for (int i = 1; i <= desc->natts; i++)
		appendStringInfo(&names, "%s%s", i > 1 ? ", " : "",
						 quote_identifier(NameStr(TupleDescAttr(desc, i - 1)->attname)));
	return names.data;
}

/*
 * Prepare another query like emogi_query_describe_any, and check that it has exactly two columns,
 * so that their meaning is clear. example: a correct SELECT, for the hint.
 */
int
emogi_query_describe_two(const char *query, const char *what, const char *example, TupleDesc *desc)
{
	int			length = emogi_query_describe_any(query, what, desc);

	if ((*desc)->natts != 2)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the %s returns %d column%s, but two are needed", what, (*desc)->natts,
						(*desc)->natts == 1 ? "" : "s"),
				 errdetail("Its columns are: %s.", emogi_query_column_names(*desc)),
				 errhint("Select only the two: '%s'.", example)));
	return length;
}

/* Raise 42804 unless a column can hold vertex keys. */
void
emogi_query_check_key(TupleDesc desc, int column)
{
	Form_pg_attribute attribute = TupleDescAttr(desc, column);
	Oid			type = getBaseType(attribute->atttypid);

	if (type != INT2OID && type != INT4OID && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of the query has type %s and cannot be a vertex key",
						NameStr(attribute->attname), format_type_be(attribute->atttypid)),
				 TypeCategory(type) == TYPCATEGORY_NUMERIC ?
				 errhint("Vertex keys are smallint, integer or bigint. Add a cast, such as "
						 "::bigint.") :
				 errhint("Vertex keys are smallint, integer or bigint. Number others in a table, "
						 "CREATE TABLE vertices AS SELECT key, row_number() OVER () AS id FROM "
						 "(SELECT src FROM edges UNION SELECT dst FROM edges) AS keys (key), and "
						 "give 'SELECT a.id, b.id FROM edges AS e JOIN vertices AS a ON a.key = "
						 "e.src JOIN vertices AS b ON b.key = e.dst'.")));
}

/* Raise 42804 unless a column can hold weights or values; `what` says which. */
void
emogi_query_check_number(TupleDesc desc, int column, const char *what)
{
	Form_pg_attribute attribute = TupleDescAttr(desc, column);

	if (!emogi_columns_can_be_weights(attribute->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of the query has type %s and cannot be a %s",
						NameStr(attribute->attname), format_type_be(attribute->atttypid), what),
				 errhint("It must be of a numeric type. Add a cast, such as ::float8.")));
}
