/*
 * query_edges.c: the columns of edges in the result of a query
 *
 * The columns of edges are found as those of a relation: by name, src and dst or source and target,
 * with weight or cost, in any position; beside ends with these names, `vertex` is a vertex that
 * exists with or without an edge. Only a result without such a pair is read by position, if it is
 * unambiguous. A weight without a name is the third of three columns (weight_guess.c).
 */
#include "postgres.h"

#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "source/source.h"

/* The names of the ends of an edge, in relations and query results, in order of precedence. */
const char *const emogi_query_end_names[2][2] = {{"src", "dst"}, {"source", "target"}};

/* Get the name of a result column. */
static const char *
name_of(TupleDesc desc, int column)
{
	return NameStr(TupleDescAttr(desc, column - 1)->attname);
}

/* Find the first column with this name; 0 if there is none. */
static int
find_column(TupleDesc desc, const char *name)
{
	for (int i = 1; i <= desc->natts; i++)
		if (strcmp(name_of(desc, i), name) == 0)
			return i;
	return 0;
}

/* Raise 42702 if a column that is read by its name is not the only one with that name. */
static void
check_unique(TupleDesc desc, int column)
{
	for (int i = column + 1; i <= desc->natts; i++)
		if (strcmp(name_of(desc, i), name_of(desc, column)) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("the %s returns more than one column \"%s\"", EMOGI_GRAPH_QUERY,
							name_of(desc, column)),
					 errhint("List the columns in the SELECT, and rename those that are not the "
							 "ends or the weight of an edge with AS.")));
}

/* Is this the name of a weight? */
static bool
is_weight(const char *name)
{
	static const char *const weights[] = {"weight", "cost", "reverse_cost", "capacity",
		"reverse_capacity"
	};

	for (int i = 0; i < (int) lengthof(weights); i++)
		if (strcmp(name, weights[i]) == 0)
			return true;
	return false;
}

/* Is this the name of a column that is unlikely to be an end of an edge? */
static bool
is_unlikely_end(const char *name)
{
	return is_weight(name) || emogi_column_order_is_row(name);
}

/* Get the next column after this one that is likely to be an end of an edge; 0 if there is none. */
static int
likely_end(TupleDesc desc, int column)
{
	while (++column <= desc->natts)
	{
		Oid			type = getBaseType(TupleDescAttr(desc, column - 1)->atttypid);

		if ((type == INT2OID || type == INT4OID || type == INT8OID) &&
			!is_unlikely_end(name_of(desc, column)))
			return column;
	}
	return 0;
}

/* Find two columns that are likely to be the ends of an edge; 0 if there are none. */
static void
find_likely_ends(TupleDesc desc, int *src, int *dst)
{
	for (*src = 1; *src < desc->natts; ++*src)
	{
		*dst = *src + 1;
		if (emogi_column_order_are_ends(name_of(desc, *src), name_of(desc, *dst)))
			return;
	}
	*src = likely_end(desc, 0);
	*dst = *src > 0 ? likely_end(desc, *src) : 0;
}

/* Raise 42703 for a result whose ends of edges are unknown. */
static void
report_unknown_ends(TupleDesc desc)
{
	int			src;
	int			dst;

	find_likely_ends(desc, &src, &dst);

	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the %s has %d columns, but neither src and dst nor source and target",
					EMOGI_GRAPH_QUERY, desc->natts),
			 errdetail("Its columns are: %s.", emogi_query_column_names(desc)),
			 errhint("Name the two that are the ends of an edge: 'SELECT %s AS src, %s AS dst FROM "
					 "(...) AS q'.",
					 dst > 0 ? quote_identifier(name_of(desc, src)) : "source_column",
					 dst > 0 ? quote_identifier(name_of(desc, dst)) : "target_column")));
}

/*
 * Get the third of three columns that the caller has written as the weight. Raises 42703 if it is
 * named id, because that is unlikely to be a weight.
 */
static int
third_as_weight(TupleDesc desc, const EmogiEdgeColumns *columns)
{
	if (strcmp(name_of(desc, 3), "id") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"id\" of the %s is not used as a weight", EMOGI_GRAPH_QUERY),
				 errhint("If it names edges without a weight, select it first: 'SELECT id, %1$s AS "
						 "src, %2$s AS dst FROM ...'. If it is the weight, name it so: 'SELECT "
						 "%1$s AS src, %2$s AS dst, id AS weight FROM ...'.",
						 quote_identifier(name_of(desc, columns->src)),
						 quote_identifier(name_of(desc, columns->dst)))));
	return 3;
}

/*
 * Find the unnamed weight of edges whose ends are known by name: the third of three columns, if it
 * is written out in the query; 0 = none.
 */
static int
find_nameless_weight(TupleDesc desc, const char *query, EmogiEdgeColumns *columns)
{
	if (desc->natts == 3 && Max(columns->src, columns->dst) == 2 && columns->vertex != 3 &&
		emogi_weight_guess_is_explicit(query))
		return third_as_weight(desc, columns);
	columns->guess = emogi_weight_guess_find(desc, columns->src, columns->dst);
	return 0;
}

/* Find a capacity and its reverse by their names; 0 = none. */
static int
find_capacity(TupleDesc desc, EmogiEdgeColumns *columns)
{
	const int	capacity = find_column(desc, "capacity");

	columns->is_capacity = capacity > 0;
	if (capacity > 0)
		columns->reverse = find_column(desc, "reverse_capacity");
	return capacity;
}

/* Find a weight or cost, and the reverse cost, by their names; 0 = none. */
static int
find_cost(TupleDesc desc, EmogiEdgeColumns *columns)
{
	const int	weight = find_column(desc, "weight");
	const int	cost = weight > 0 ? 0 : find_column(desc, "cost");

	if (cost > 0)
		columns->reverse = find_column(desc, "reverse_cost");
	return Max(weight, cost);
}

/*
 * Find the weight of edges whose ends are known by name: first by name, then by position; 0 = none.
 * A cost with a `reverse_cost` is found even if no weights are read, because they determine which
 * edges exist.
 */
static int
find_weight(TupleDesc desc, const char *query, EmogiWantedWeight wants_weight,
			EmogiEdgeColumns *columns)
{
	int			weight = wants_weight == EMOGI_WANTS_CAPACITY ? find_capacity(desc, columns) : 0;

	if (weight == 0)
		weight = find_cost(desc, columns);
	if (weight == 0 && wants_weight == EMOGI_WANTS_ANY_WEIGHT)
		weight = find_capacity(desc, columns);
	return weight > 0 || !wants_weight ? weight : find_nameless_weight(desc, query, columns);
}

/* Find the ends of an edge by their names; return false if they have no known names. */
static bool
find_ends(TupleDesc desc, EmogiEdgeColumns *columns)
{
	for (int i = 0; i < (int) lengthof(emogi_query_end_names); i++)
	{
		columns->src = find_column(desc, emogi_query_end_names[i][0]);
		columns->dst = find_column(desc, emogi_query_end_names[i][1]);
		if (columns->src > 0 && columns->dst > 0)
			return true;
	}
	return false;
}

/*
 * Do the names of three columns show that the first two are not the ends? An id first is no such
 * name, because the ends of 'SELECT a.id, b.id, ...' and those of trees have it.
 */
static bool
begins_otherwise(TupleDesc desc)
{
	return is_weight(name_of(desc, 1)) ||
		(!emogi_column_order_are_ends(name_of(desc, 1), name_of(desc, 2)) &&
		 emogi_column_order_are_ends(name_of(desc, 2), name_of(desc, 3)));
}

/* Can a result without known names be read by position? */
static bool
has_positions(TupleDesc desc)
{
	return desc->natts == 2 || (desc->natts == 3 && !begins_otherwise(desc));
}

/* Assign the columns of a result without known names by position. Raises 42703. */
static void
assign_positions(TupleDesc desc, const char *query, EmogiWantedWeight wants_weight,
				 EmogiEdgeColumns *columns)
{
	if (!has_positions(desc))
		report_unknown_ends(desc);
	columns->src = 1;
	columns->dst = 2;
	if (!wants_weight || desc->natts < 3)
		return;
	columns->weight = third_as_weight(desc, columns);
	if (!is_unlikely_end(name_of(desc, 3)) && !emogi_weight_guess_is_explicit(query))
		columns->guess = emogi_weight_guess_of_column(desc, 1, 2, 3, true);
}

/*
 * Find the column of vertices beside ends that are known by name; 0 = none. Raises 42702 for a
 * column of a table that nobody has named: it need not be meant as vertices.
 */
static int
find_vertex(TupleDesc desc, const char *query)
{
	const int	vertex = find_column(desc, "vertex");

	if (vertex > 0)
		check_unique(desc, vertex);
	if (vertex > 0 && emogi_weight_guess_is_from_star(query, "vertex"))
		ereport(ERROR,
				(errcode(ERRCODE_AMBIGUOUS_COLUMN),
				 errmsg("SELECT * of a table with a column \"vertex\" is ambiguous"),
				 errhint("List the columns: 'SELECT src, dst FROM ...' for the edges only, 'SELECT "
						 "src, dst, vertex FROM ...' if the column has vertices without edges.")));
	return vertex;
}

/* Find the columns of edges. Raises 0A000, 42702, 42703. */
static void
find_edge_columns(TupleDesc desc, const char *query, EmogiWantedWeight wants_weight,
				  EmogiEdgeColumns *columns)
{
	*columns = (EmogiEdgeColumns) {.ncolumns = desc->natts};
	if (find_ends(desc, columns))
	{
		emogi_ambiguous_columns_check(desc, wants_weight, "the " EMOGI_GRAPH_QUERY, NULL);
		check_unique(desc, columns->src);
		check_unique(desc, columns->dst);
		columns->vertex = find_vertex(desc, query);
		columns->weight = find_weight(desc, query, wants_weight, columns);
		if (!wants_weight && columns->reverse == 0)
			columns->weight = 0;
		if (columns->weight > 0)
			check_unique(desc, columns->weight);
		if (columns->reverse > 0)
			check_unique(desc, columns->reverse);
		columns->edge = find_column(desc, "id");
		return;
	}
	assign_positions(desc, query, wants_weight, columns);
}

/* Get a column as an end of edges. */
static EmogiEndpoint
end_of(TupleDesc desc, int column)
{
	Form_pg_attribute attribute = TupleDescAttr(desc, column - 1);

	return (EmogiEndpoint) {NameStr(attribute->attname), attribute->atttypid, attribute->atttypmod,
							attribute->attcollation, false};
}

/*
 * Find the key type of the ends, and check that a vertex column has it, too. Raises 42804 and
 * 42P21.
 */
static void
find_keys(TupleDesc desc, EmogiEdgeColumns *columns)
{
	EmogiEndpoint src = end_of(desc, columns->src);
	EmogiEndpoint dst = end_of(desc, columns->dst);

	emogi_endpoint_type_find_keys(&src, &dst, "the " EMOGI_GRAPH_QUERY, &columns->key);
	if (columns->vertex > 0)
	{
		EmogiEndpoint vertex = end_of(desc, columns->vertex);
		EmogiKeyType key;

		emogi_endpoint_type_find_keys(&src, &vertex, "the " EMOGI_GRAPH_QUERY, &key);
	}
}

/*
 * Find the columns of edges in a query's result, and check their types. Raises 0A000, 42702, 42703,
 * 42804, 42P21.
 */
void
emogi_query_edge_columns(TupleDesc desc, const char *query, EmogiWantedWeight wants_weight,
						 EmogiEdgeColumns *columns)
{
	find_edge_columns(desc, query, wants_weight, columns);
	find_keys(desc, columns);
	columns->is_numeric = columns->weight > 0 &&
		getBaseType(TupleDescAttr(desc, columns->weight - 1)->atttypid) == NUMERICOID;
	if (columns->weight > 0)
		emogi_query_check_number(desc, columns->weight - 1, "weight");
	if (columns->reverse > 0)
	{
		const Oid	reverse = TupleDescAttr(desc, columns->reverse - 1)->atttypid;

		emogi_query_check_number(desc, columns->reverse - 1, "weight");
		columns->unlike = reverse != TupleDescAttr(desc, columns->weight - 1)->atttypid;
		columns->is_numeric_back = getBaseType(reverse) == NUMERICOID;
	}
}

/* ---- both directions ---- */

/*
 * Is only one of two weights numeric? A cast to a common type could lose digits, or fail with an
 * error that is not the sink's.
 */
static bool
has_other(const EmogiEdgeColumns *columns)
{
	return columns->is_numeric != columns->is_numeric_back;
}

/* Write a weight of a relation r(c1, c2, ...) as a float8, or NULL. */
static void
write_float8(StringInfo sql, int column)
{
	if (column > 0)
		appendStringInfo(sql, "r.c%d::pg_catalog.float8", column);
	else
		appendStringInfoString(sql, "NULL::pg_catalog.float8");
}

/*
 * Write the select list for one direction of a relation r(c1, c2, ...). Costs of two types are cast
 * to float8: SQL would combine real with bigint to real, which has fewer digits than bigint. A
 * numeric is not cast, because the sink converts it (_emogi_weight): then the other cost has a
 * column of its own.
 */
static void
write_direction(StringInfo sql, const EmogiEdgeColumns *columns, bool back)
{
	const int	weight = back ? columns->reverse : columns->weight;
	const bool	is_numeric = back ? columns->is_numeric_back : columns->is_numeric;

	appendStringInfo(sql, "r.c%d, r.c%d, ", back ? columns->dst : columns->src,
					 back ? columns->src : columns->dst);
	if (!columns->unlike || is_numeric)
		appendStringInfo(sql, "r.c%d", weight);
	else if (has_other(columns))
		appendStringInfoString(sql, "NULL::pg_catalog.numeric");
	else
		write_float8(sql, weight);
	appendStringInfoString(sql, back ? ", true" : ", false");
	if (has_other(columns))
	{
		appendStringInfoString(sql, ", ");
		write_float8(sql, is_numeric ? 0 : weight);
	}
	if (columns->vertex > 0)
		appendStringInfo(sql, ", r.c%d", columns->vertex);
	if (columns->edge > 0)
		appendStringInfo(sql, ", r.c%d", columns->edge);
}

/* Write an alias with column names, r(c1, c2, ...). */
static void
write_names(StringInfo sql, int ncolumns)
{
	for (int i = 1; i <= ncolumns; i++)
		appendStringInfo(sql, "%sc%d", i == 1 ? "r(" : ", ", i);
	appendStringInfoChar(sql, ')');
}

/*
 * Get the text of a query that returns two rows per row of a query with a reverse weight, one for
 * each direction; the sink leaves out those whose weight is negative, and rejects NULL. The inner
 * query is evaluated once; length: of its text. Columns are src, dst, weight, back, and `other` if
 * needed, vertex and id if present. If the ends are rows, a WITH query is used, through which their
 * columns can be found.
 */
char *
emogi_query_both_ways(const char *query, int length, const EmogiEdgeColumns *columns)
{
	const char *const names = psprintf("src, dst, weight, back%s%s%s",
									   has_other(columns) ? ", other" : "",
									   columns->vertex > 0 ? ", vertex" : "",
									   columns->edge > 0 ? ", id" : "");
	const bool	is_row = columns->key.nparts > 0;
	StringInfoData sql;

	initStringInfo(&sql);
	if (is_row)
	{
		appendStringInfoString(&sql, "WITH ");
		write_names(&sql, columns->ncolumns);
		appendStringInfo(&sql, " AS (%.*s\n) SELECT %s FROM (SELECT ", length, query, names);
		write_direction(&sql, columns, false);
		appendStringInfoString(&sql, " FROM r UNION ALL SELECT ");
		write_direction(&sql, columns, true);
		appendStringInfo(&sql, " FROM r) AS e(%s)", names);
	}
	else
	{
		appendStringInfo(&sql, "SELECT %s FROM (%.*s\n) AS ", names, length, query);
		write_names(&sql, columns->ncolumns);
		appendStringInfoString(&sql, ", LATERAL (VALUES (");
		write_direction(&sql, columns, false);
		appendStringInfoString(&sql, "), (");
		write_direction(&sql, columns, true);
		appendStringInfo(&sql, ")) AS e(%s)", names);
	}
	return sql.data;
}

/*
 * Find the columns of a query that emogi_query_both_ways has made from one with these columns.
 * Raises the errors of the other columns.
 */
void
emogi_query_both_ways_columns(TupleDesc desc, const char *query, EmogiEdgeColumns *columns)
{
	const bool	is_capacity = columns->is_capacity;

	emogi_query_edge_columns(desc, query, EMOGI_WANTS_WEIGHT, columns);
	columns->is_capacity = is_capacity;
	columns->both_ways = true;
	columns->back = find_column(desc, "back");
	columns->other = find_column(desc, "other");
}

/* Get the name of the column of costs of a source with two; back: of reverse costs. */
const char *
emogi_query_cost_name(const EmogiSource *source, const EmogiEdgeColumns *columns, bool back)
{
	if (source->is_query && columns->is_capacity)
		return back ? "reverse_capacity" : "capacity";
	if (source->is_query)
		return back ? "reverse_cost" : "cost";
	return get_attname(source->relid, back ? source->reverse : source->weight, false);
}

/*
 * Write the weight of a row of q(c1, c2, ...) as a float8, by the rules of tables that are read
 * from their pages: an error for a numeric that is out of range, and for the NULL cost of one
 * direction. schema: of the extension. The caller leaves out negative costs of a direction, and
 * rejects a NULL weight that is the only one.
 */
void
emogi_query_write_weight(StringInfo sql, const char *schema, const EmogiSource *source,
						 const EmogiEdgeColumns *columns)
{
	if (columns->both_ways)
		appendStringInfoString(sql, "coalesce(");
	if (columns->is_numeric)
		appendStringInfo(sql, "%s._emogi_weight(q.c%d, q.c%d, q.c%d)", schema, columns->weight,
						 columns->src, columns->dst);
	else
		appendStringInfo(sql, "q.c%d::pg_catalog.float8", columns->weight);
	if (!columns->both_ways)
		return;
	if (columns->other > 0)
		appendStringInfo(sql, ", q.c%d", columns->other);
	appendStringInfo(sql, ", %s._emogi_no_cost(q.c%d, q.c%d, q.c%d", schema, columns->src,
					 columns->dst, columns->back);
	appendStringInfo(sql, ", %s, %s))",
					 quote_literal_cstr(emogi_query_cost_name(source, columns, false)),
					 quote_literal_cstr(emogi_query_cost_name(source, columns, true)));
}

/*
 * Prepare a query of edges, inside SPI, like emogi_query_describe; find the columns of edges and
 * check their types. *query: replaced by a query with an edge for each direction if there is a
 * reverse weight. written: see emogi_source_written.
 */
int
emogi_query_describe_edges(char **query, const char *written, EmogiWantedWeight wants_weight,
						   TupleDesc *desc, EmogiEdgeColumns *columns)
{
	int			length = emogi_query_describe(*query, desc);

	emogi_query_edge_columns(*desc, written, wants_weight, columns);
	if (columns->reverse > 0)
	{
		*query = emogi_query_both_ways(*query, length, columns);
		length = emogi_query_describe(*query, desc);
		emogi_query_both_ways_columns(*desc, *query, columns);
	}
	return length;
}
