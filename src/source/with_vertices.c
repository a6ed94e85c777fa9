/*
 * with_vertices.c: a graph and vertices that exist with or without edges, as one query:
 *
 *   SELECT c1 AS src, c2 AS dst, NULL AS vertex FROM (graph) AS q(c1, c2)
 *   UNION ALL SELECT NULL, NULL, v FROM (vertices) AS v(v)
 *
 * Names are resolved here and written with their schemas. Privileges are checked by the calls that
 * read the query.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/tupdesc.h"
#include "catalog/namespace.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/varlena.h"

#include "citus/citus.h"
#include "source/source.h"

#define HINT \
	"Name a table and the column of its keys, 'person(id)', or give a query, " \
	"'SELECT id FROM person'."

/* ---- the vertices ---- */

/* Get the column of a relation that holds vertices if none is named. Raises 42703. */
static char *
default_column(Relation rel)
{
	static char *const names[] = {"vertex", "id"};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (get_attnum(RelationGetRelid(rel), names[i]) > 0)
			return names[i];
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("relation \"%s\" has neither a column vertex nor a column id",
					RelationGetRelationName(rel)),
			 errhint("Name the column that holds the keys: '%s(column)'.",
					 quote_identifier(RelationGetRelationName(rel)))));
	return NULL;
}

/* Write the columns of a key, which must exist in a relation. Raises 42703. */
static void
write_columns(StringInfo out, Relation rel, List *names)
{
	ListCell   *cell;

	foreach(cell, names)
	{
		if (get_attnum(RelationGetRelid(rel), lfirst(cell)) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist",
							(char *) lfirst(cell), RelationGetRelationName(rel)),
					 errhint("Name the column that holds the keys, or several columns that form a "
							 "key: '%s(column, ...)'.",
							 quote_identifier(RelationGetRelationName(rel)))));
		appendStringInfo(out, "%s%s", foreach_current_index(cell) > 0 ? ", " : "",
						 quote_identifier(lfirst(cell)));
	}
}

/* Get a SELECT of the keys of a relation. Raises 42601, 42P01, 42703. */
static char *
select_of_relation(const char *vertices)
{
	List	   *name;
	List	   *columns;
	char	   *list;
	Relation	rel;
	StringInfoData sql;

	if (!emogi_graph_grammar_split(vertices, &name, &list) ||
		(list != NULL && !(emogi_columns_are_identifiers(list, ',') &&
						   SplitIdentifierString(list, ',', &columns))))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("invalid vertices: \"%s\"", vertices),
				 errhint(HINT)));
	rel = relation_openrv(makeRangeVarFromNameList(name), AccessShareLock);
	if (list == NULL)
		columns = list_make1(default_column(rel));
	initStringInfo(&sql);
	appendStringInfoString(&sql, list_length(columns) > 1 ? "SELECT ROW(" : "SELECT ");
	write_columns(&sql, rel, columns);
	appendStringInfo(&sql, "%s FROM %s", list_length(columns) > 1 ? ")" : "",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
												RelationGetRelationName(rel)));
	relation_close(rel, NoLock);
	return sql.data;
}

/* Write the query of vertices, inside SPI. Raises 42601 and the errors of the query. */
static void
write_vertices(StringInfo sql, const char *vertices)
{
	const EmogiGraphArgument argument = {.text = pstrdup(vertices)};
	char	   *query = emogi_source_is_query(&argument) ?
		argument.text : select_of_relation(vertices);
	TupleDesc	desc;
	int			length = emogi_query_describe_any(query, EMOGI_VERTEX_QUERY, &desc);

	if (desc->natts != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the %s returns %d columns, but one is needed", EMOGI_VERTEX_QUERY,
						desc->natts),
				 errhint("Select only the key of a vertex. A key of several columns is a row: "
						 "'SELECT ROW(tenant, id) FROM person'.")));
	appendStringInfo(sql, "(%.*s\n) AS v(v)", length, query);
}

/* ---- the graph ---- */

/*
 * Get the text of a graph's query without a closing semicolon, the columns that make an edge, and
 * the guess for the weight, inside SPI.
 */
static char *
select_of_graph(const EmogiGraphArgument *argument, EmogiSource *source,
				EmogiEdgeColumns *columns, const char **relation)
{
	TupleDesc	desc;
	char	   *query;

	emogi_source_resolve(argument, EMOGI_WANTS_WEIGHT, source);
	query = emogi_source_select(source);
	*relation = source->is_query ? NULL : get_rel_name(source->relid);
	if (source->is_query)
	{
		const int	length = emogi_query_describe_edges(&query, true, &desc, columns);

		return pnstrdup(query, length);
	}
	*columns = emogi_source_columns(source);
	columns->guess = source->guess;
	return query;
}

/*
 * Write the weight w of the rows of q(c1, c2, ...), which have a cost for each direction, and the
 * condition that leaves out directions that are no edges. Citus may evaluate it on nodes that lack
 * the extension's functions.
 */
static void
write_directions(StringInfo sql, Oid function, const EmogiSource *source,
				 const EmogiEdgeColumns *columns)
{
	const char *schema = quote_identifier(get_namespace_name(get_func_namespace(function)));

	appendStringInfoString(sql, ", LATERAL (VALUES (");
	if (!emogi_citus_may_have_tables())
		emogi_query_write_weight(sql, schema, source, columns);
	else if (columns->other > 0)
		appendStringInfo(sql, "coalesce(q.c%d::pg_catalog.float8, q.c%d)", columns->weight,
						 columns->other);
	else
		appendStringInfo(sql, "q.c%d", columns->weight);
	appendStringInfoString(sql, ")) AS w(w) WHERE w OPERATOR(pg_catalog.>=) 0 OR w IS NULL");
}

/*
 * Get the text of a query that gives the edges of a graph, with weights if it has any, and
 * vertices. graph: a graph argument; vertices: 'relation', 'relation(column, ...)' or a query of
 * one column. Raises the errors of either.
 */
char *
emogi_with_vertices_add(Oid function, const char *graph, const char *vertices)
{
	MemoryContext context = CurrentMemoryContext;
	const EmogiGraphArgument argument = {.text = pstrdup(graph)};
	EmogiSource source;
	EmogiEdgeColumns columns;
	StringInfoData sql;
	const char *relation;
	char	   *text;
	char	   *result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	text = select_of_graph(&argument, &source, &columns, &relation);
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT c%d AS src, c%d AS dst", columns.src, columns.dst);
	if (columns.both_ways)
		appendStringInfoString(&sql, ", w AS weight");
	else if (columns.weight > 0)
		appendStringInfo(&sql, ", c%d AS weight", columns.weight);
	appendStringInfo(&sql, columns.vertex > 0 ? ", c%d AS vertex" : ", NULL AS vertex",
					 columns.vertex);
	appendStringInfo(&sql, " FROM (%s\n) AS q(c1", text);
	for (int i = 2; i <= columns.ncolumns; i++)
		appendStringInfo(&sql, ", c%d", i);
	appendStringInfoChar(&sql, ')');
	if (columns.both_ways)
		write_directions(&sql, function, &source, &columns);
	appendStringInfo(&sql, " UNION ALL SELECT NULL, NULL%s, v FROM ",
					 columns.weight > 0 ? ", NULL" : "");
	write_vertices(&sql, vertices);
	emogi_weight_guess_remember(sql.data, graph, relation, &columns.guess);
	result = MemoryContextStrdup(context, sql.data);
	SPI_finish();
	return result;
}
