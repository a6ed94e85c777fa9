/*
 * with_vertices.c: a graph and vertices that exist with or without edges, as one query:
 *
 *   SELECT c1 AS src, c2 AS dst, NULL AS vertex FROM (graph) AS q(c1, c2)
 *   UNION ALL SELECT NULL, NULL, v FROM (vertices) AS v(v)
 *
 * A weight, or costs and capacities, are columns after dst: flows read capacities.
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

/* A graph as a query. */
typedef struct GraphQuery
{
	EmogiSource source;
	const char *relation;		/* its name; NULL = the graph is not a relation */
	char	   *text;			/* without a closing semicolon */
	EmogiEdgeColumns columns;
	TupleDesc	desc;			/* NULL = it has only the columns of edges */
	bool		has_capacities;	/* beside a weight, if any: both are columns of the result */
} GraphQuery;

/* Is a column of a query that a flow reads as a capacity, or refuses? */
static bool
is_capacity(TupleDesc desc, int column)
{
	const char *name = NameStr(TupleDescAttr(desc, column)->attname);

	return strcmp(name, "capacity") == 0 || strcmp(name, "reverse_capacity") == 0;
}

/* Does a query have capacities? */
static bool
has_capacities(TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
		if (is_capacity(desc, i))
			return true;
	return false;
}

/*
 * Get a query of a relation whose columns are not named and include capacities; otherwise NULL.
 * Flows read capacities, other functions weights: the query has both.
 */
static char *
select_both_weights(const EmogiGraphArgument *argument)
{
	List	   *name;
	List	   *columns;
	char	   *relation = argument->text;
	const char *condition = NULL;

	if (emogi_source_is_query(argument))
		return NULL;
	(void) emogi_graph_grammar_split_where(argument->text, &relation, &condition);
	if (!emogi_graph_grammar_split_relation(relation, &name, &columns) || columns != NIL)
		return NULL;
	/* emogi_source_resolve has locked it */
	return emogi_select_text_both_weights(RangeVarGetRelid(makeRangeVarFromNameList(name), NoLock,
														   false), condition);
}

/*
 * Find the columns of edges in a graph's query. If it has capacities, its costs are not expanded to
 * two rows: that would double the capacities.
 */
static void
describe_query(GraphQuery *graph)
{
	int			length = emogi_query_describe(graph->text, &graph->desc);

	emogi_query_edge_columns(graph->desc, graph->text, EMOGI_WANTS_WEIGHT, &graph->columns);
	graph->has_capacities = has_capacities(graph->desc);
	if (!graph->has_capacities)
		length = emogi_query_describe_edges(&graph->text, graph->text, EMOGI_WANTS_WEIGHT,
											&graph->desc, &graph->columns);
	graph->text = pnstrdup(graph->text, length);
}

/* Get a graph as a query, with the guess for the weight, inside SPI. */
static void
describe_graph(const EmogiGraphArgument *argument, GraphQuery *graph)
{
	EmogiSource *source = &graph->source;
	char	   *both;

	*graph = (GraphQuery) {0};
	emogi_source_resolve(argument, EMOGI_WANTS_WEIGHT, source);
	graph->relation = source->is_query ? NULL : get_rel_name(source->relid);
	both = select_both_weights(argument);
	graph->text = both != NULL ? both : emogi_source_select(source);
	if (source->is_query || both != NULL)
		describe_query(graph);
	else
		graph->columns = emogi_source_columns(source);
	if (!source->is_query)
		graph->columns.guess = source->guess;
}

/* Write the weights of a graph, and capacities under their names; return their number. */
static int
write_weights(StringInfo sql, const GraphQuery *graph)
{
	const EmogiEdgeColumns *columns = &graph->columns;
	int			count = 1;

	if (columns->both_ways)
		appendStringInfoString(sql, ", w AS weight");
	else if (columns->reverse > 0)
		appendStringInfo(sql, ", c%d AS cost, c%d AS reverse_cost", columns->weight,
						 columns->reverse);
	else if (columns->weight > 0)
		appendStringInfo(sql, ", c%d AS weight", columns->weight);
	else
		count = 0;
	if (columns->reverse > 0 && !columns->both_ways)
		count = 2;
	for (int i = 0; graph->has_capacities && i < graph->desc->natts; i++)
		if (is_capacity(graph->desc, i))
		{
			appendStringInfo(sql, ", c%d AS %s", i + 1,
							 NameStr(TupleDescAttr(graph->desc, i)->attname));
			count++;
		}
	return count;
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
 * Get the text of a query that gives the edges of a graph, with weights and capacities if it has
 * any, and vertices. graph: a graph argument; vertices: 'relation', 'relation(column, ...)' or a
 * query of one column. Raises the errors of either.
 */
char *
emogi_with_vertices_add(Oid function, const char *graph, const char *vertices)
{
	MemoryContext context = CurrentMemoryContext;
	const EmogiGraphArgument argument = {.text = pstrdup(graph)};
	GraphQuery	query;
	const EmogiEdgeColumns *columns = &query.columns;
	StringInfoData sql;
	int			nweights;
	char	   *result;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	describe_graph(&argument, &query);
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT c%d AS src, c%d AS dst", columns->src, columns->dst);
	nweights = write_weights(&sql, &query);
	appendStringInfo(&sql, columns->vertex > 0 ? ", c%d AS vertex" : ", NULL AS vertex",
					 columns->vertex);
	appendStringInfo(&sql, " FROM (%s\n) AS q(c1", query.text);
	for (int i = 2; i <= columns->ncolumns; i++)
		appendStringInfo(&sql, ", c%d", i);
	appendStringInfoChar(&sql, ')');
	if (columns->both_ways)
		write_directions(&sql, function, &query.source, columns);
	appendStringInfoString(&sql, " UNION ALL SELECT NULL, NULL");
	while (nweights-- > 0)
		appendStringInfoString(&sql, ", NULL");
	appendStringInfoString(&sql, ", v FROM ");
	write_vertices(&sql, vertices);
	emogi_weight_guess_remember(sql.data, graph, query.relation, &columns->guess,
								query.has_capacities);
	result = MemoryContextStrdup(context, sql.data);
	SPI_finish();
	return result;
}
