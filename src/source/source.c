/*
 * source.c: resolution of the graph argument
 *
 * Its text has one of the forms of graph_grammar.c, or it is a relation given by its OID and a
 * column list: 'edges'::regclass, columns => 'a, b[, w]'. Endpoints of several columns become a
 * query of rows.
 *
 * This file only resolves names and locks the relation. Privileges are checked in access.c, the
 * columns of a query in query_edges.c.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"

#include "base/compat.h"
#include "source/source.h"

/* Placeholders for the columns in examples. */
#define COLUMNS_HINT_FORM "source_column, target_column"
#define ROWS_FORM "(source_tenant, source_column), (target_tenant, target_column)"

/* ---- columns ---- */

/*
 * Get the attribute number of a column that the user named, or raise 42703. form: the columns named
 * with it, as an example.
 */
static AttrNumber
named_column(Relation rel, const char *name, const char *form)
{
	AttrNumber	attnum = get_attnum(RelationGetRelid(rel), name);

	if (attnum <= 0)
		emogi_column_hints_report_missing(rel, name,
										  psprintf("Name the columns of both ends, for example: "
												   "'%s(%s)'.",
												   quote_identifier(RelationGetRelationName(rel)),
												   form));
	return attnum;
}

/* Find the key type of the endpoints; raises 42804 and 42P21. */
static void
find_keys(Relation rel, EmogiSource *source)
{
	EmogiEndpoint src = emogi_endpoint_type_of_column(rel, source->src);
	EmogiEndpoint dst = emogi_endpoint_type_of_column(rel, source->dst);

	emogi_endpoint_type_find_keys(&src, &dst,
								  psprintf("relation \"%s\"", RelationGetRelationName(rel)),
								  &source->key);
}

/*
 * Return true if the key types of a locked relation still have the definition that they had when
 * the source was resolved. ALTER TYPE takes no lock on the relation. For a query, the fingerprint
 * covers this.
 */
bool
emogi_source_keys_are_current(const EmogiSource *source)
{
	EmogiSource now = *source;
	Relation	rel;

	if (source->is_query || source->key.definition == 0)
		return true;
	AcceptInvalidationMessages();
	rel = relation_open(source->relid, NoLock);
	find_keys(rel, &now);
	relation_close(rel, NoLock);
	return emogi_key_type_equal(&now.key, &source->key);
}

/* Raise 42804 unless a column can hold weights. */
static void
check_weight_type(Relation rel, AttrNumber attnum)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), attnum - 1);

	if (!emogi_columns_can_be_weights(attribute->atttypid))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of relation \"%s\" has type %s and cannot be a weight",
						NameStr(attribute->attname), RelationGetRelationName(rel),
						format_type_be(attribute->atttypid)),
				 errhint("Weights must be of a numeric type. To ignore weights, name only the "
						 "ends: '%s(%s, %s)'.",
						 quote_identifier(RelationGetRelationName(rel)), "source_column",
						 "target_column")));
}

/*
 * Raise 42809 unless the relation is of a kind that has rows to select; raise 0A000 or 55000 if the
 * rows are not accessible now.
 */
static void
check_kind(Relation rel)
{
	if (!emogi_source_has_rows(rel->rd_rel->relkind))
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table, view, materialized view or foreign table",
						RelationGetRelationName(rel)),
				 errhint(EMOGI_GRAPH_ARGUMENT_HINT)));
	if (RELATION_IS_OTHER_TEMP(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (!RelationIsScannable(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated",
						RelationGetRelationName(rel)),
				 errhint("Use the REFRESH MATERIALIZED VIEW command.")));
}

/* ---- endpoints of several columns ---- */

/* Find the key type of endpoints of several columns. Raises 42804, 42P21, 54011. */
static void
find_row_keys(Relation rel, List *src, List *dst, EmogiKeyType *key)
{
	const char *of = psprintf("relation \"%s\"", RelationGetRelationName(rel));
	EmogiEndpoint ends[2][EMOGI_KEY_MAX_PARTS];
	int			nparts = list_length(src);

	emogi_endpoint_type_check_count(nparts, list_length(dst), of);
	for (int i = 0; i < nparts; i++)
	{
		ends[0][i] =
			emogi_endpoint_type_of_column(rel, named_column(rel, list_nth(src, i), ROWS_FORM));
		ends[1][i] =
			emogi_endpoint_type_of_column(rel, named_column(rel, list_nth(dst, i), ROWS_FORM));
		ends[0][i].in_row = ends[1][i].in_row = true;
	}
	emogi_endpoint_type_find_row_keys(ends[0], ends[1], nparts, of, key);
}

/*
 * Resolve a relation with endpoints of several columns to a query of rows. Raises 42703, 42804,
 * 42P21, 54011.
 */
static void
resolve_rows(Relation rel, List *columns, const char *condition, EmogiSource *source)
{
	ListCell   *end;
	ListCell   *cell;

	foreach(end, columns)
		foreach(cell, lfirst(end))
			(void) named_column(rel, lfirst(cell),
								list_length(columns) > 2 ? ROWS_FORM ", weight_column" : ROWS_FORM);
	find_row_keys(rel, linitial(columns), lsecond(columns), &source->key);
	for (int i = 2; i < (emogi_columns_reverse(columns) != NULL ? 4 : Min(list_length(columns), 3));
		 i++)
		check_weight_type(rel, named_column(rel, linitial(list_nth(columns, i)), ROWS_FORM));
	emogi_column_order_check(rel, columns, source);
	source->is_query = true;
	source->names_edge = emogi_columns_edge(columns) != NULL;
	source->query = emogi_select_text_rows(RelationGetRelid(rel), columns, condition,
										   source->graph->filter, source->wants_weight);
	source->filtered = RelationGetRelid(rel);
}

/* ---- resolution ---- */

/*
 * Get the relation that a name resolves to, if this transaction holds a reader's lock on it; else
 * InvalidOid.
 */
static Oid
locked_relation(RangeVar *name)
{
	Oid			relid = RangeVarGetRelid(name, NoLock, true);

	return OidIsValid(relid) && emogi_compat_holds_lock(relid, AccessShareLock) ?
		relid : InvalidOid;
}

/* Is this text a direction? */
static bool
is_direction(const char *text)
{
	return strcmp(text, "in") == 0 || strcmp(text, "out") == 0 || strcmp(text, "both") == 0;
}

/*
 * Lock the relation that a graph argument gives by its OID. Raises 42P01, and 42601 for an invalid
 * column list.
 */
static void
lock_given(const EmogiGraphArgument *graph, EmogiSource *source, List **columns)
{
	Relation	rel;

	source->was_locked = emogi_compat_holds_lock(graph->relid, AccessShareLock);
	rel = try_relation_open(graph->relid, AccessShareLock);
	if (rel == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", graph->relid),
				 errhint("A number as graph is the OID of a relation. "
						 EMOGI_GRAPH_ARGUMENT_HINT)));
	relation_close(rel, NoLock);
	if (graph->columns != NULL && !emogi_columns_split(graph->columns, columns))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("invalid list of columns: \"%s\"", graph->columns),
				 is_direction(graph->columns) ?
				 errhint("The last argument is a list of columns. If the function has a direction, "
						 "pass it by name: direction => '%s'.", graph->columns) :
				 strchr(graph->columns, ',') == NULL ?
				 errhint("The last argument is a list of columns, at least those of both ends of "
						 "an edge: columns => 'from_node, to_node'. Pass other arguments by "
						 "name.") :
				 errhint("List the columns of the two ends of an edge, and optionally those of its "
						 "weight, its reverse weight and its name: columns => 'from_node, to_node, "
						 "km'.")));
	source->relid = graph->relid;
}

/*
 * Lock the relation that a graph argument names; get the columns named with it and the condition,
 * or NIL and NULL.
 */
static void
lock_relation(const EmogiGraphArgument *graph, EmogiSource *source, List **columns,
			  const char **condition)
{
	char	   *relation = graph->text;
	Oid			locked;

	*columns = NIL;
	*condition = NULL;
	if (graph->is_relation)
	{
		lock_given(graph, source, columns);
		return;
	}
	(void) emogi_graph_grammar_split_where(graph->text, &relation, condition);
	if (!emogi_graph_grammar_split_relation(relation, &source->name, columns))
		emogi_name_hints_report_form(graph->text);
	locked = locked_relation(makeRangeVarFromNameList(source->name));
	source->relid = RangeVarGetRelid(makeRangeVarFromNameList(source->name), AccessShareLock, true);
	if (!OidIsValid(source->relid))
		emogi_name_hints_report_name(relation, source->name, graph->missing_hint);
	source->was_locked = source->relid == locked;
}

/* Use a relation's columns with default names. Raises 42702, 42703. */
static void
use_default_columns(Relation rel, EmogiWantedWeight wants_weight, EmogiSource *source)
{
	if (!emogi_default_columns_find(RelationGetRelid(rel), source))
		emogi_column_hints_report_ends(rel);
	emogi_ambiguous_columns_check(RelationGetDescr(rel), wants_weight,
								  psprintf("relation \"%s\"", RelationGetRelationName(rel)),
								  RelationGetRelationName(rel));
	emogi_default_columns_weights(source->relid, wants_weight, source);
	source->edge = Max(get_attnum(source->relid, "id"), 0);
}

/*
 * Get the attribute number of an optional column of the list; 0 if it is not in the list. Raises
 * 42703.
 */
static AttrNumber
listed_column(Relation rel, const char *name, const EmogiSource *source)
{
	AttrNumber	attnum = name != NULL ? get_attnum(source->relid, name) : 0;

	if (name == NULL || attnum > 0)
		return Max(attnum, 0);
	emogi_column_hints_report_missing(rel, name,
					 psprintf("After the two ends, the columns of the weight, the reverse weight "
							  "and the name of an edge are optional. Without them: '%s(%s, %s)'.",
							  quote_identifier(RelationGetRelationName(rel)),
							  quote_identifier(get_attname(source->relid, source->src, false)),
							  quote_identifier(get_attname(source->relid, source->dst, false))));
	return 0;
}

/* Use the columns that the user named. Raises 42702, 42703. */
static void
use_named_columns(Relation rel, List *columns, EmogiSource *source)
{
	const char *const form = list_length(columns) > 2 ? COLUMNS_HINT_FORM ", weight_column" :
		COLUMNS_HINT_FORM;

	source->src = named_column(rel, linitial(linitial(columns)), form);
	source->dst = named_column(rel, linitial(lsecond(columns)), form);
	source->weight = listed_column(rel, emogi_columns_weight(columns), source);
	source->reverse = listed_column(rel, emogi_columns_reverse(columns), source);
	source->edge = listed_column(rel, emogi_columns_edge(columns), source);
	emogi_column_order_check(rel, columns, source);
	source->names_edge = source->edge > 0;
}

/*
 * Turn the source of a relation with known columns into the query of its rows for which a condition
 * and the call's filter are true, either of which may be NULL.
 */
static void
use_condition(Relation rel, const char *condition, bool by_default, EmogiSource *source)
{
	if (by_default && source->wants_weight && source->weight == 0)
		source->guess = emogi_weight_guess_find(RelationGetDescr(rel), source->src, source->dst);
	if (source->weight > 0 && (source->wants_weight || source->reverse > 0))
		check_weight_type(rel, source->weight);
	if (source->reverse > 0)
		check_weight_type(rel, source->reverse);
	source->query = emogi_select_text_filtered(source, condition, source->graph->filter);
	source->is_query = true;
	source->filtered = source->relid;
	source->relid = InvalidOid;
}

/*
 * Resolve a relation and its columns. Return it, or InvalidOid if its columns are such that the
 * result cannot be kept.
 */
static Oid
resolve_relation(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
				 EmogiSource *source)
{
	List	   *columns;
	const char *condition;
	Oid			relid;
	Relation	rel;

	lock_relation(graph, source, &columns, &condition);
	relid = source->relid;
	rel = relation_open(relid, NoLock);
	check_kind(rel);
	if (emogi_columns_have_rows(columns))
	{
		resolve_rows(rel, columns, condition, source);
		relation_close(rel, NoLock);
		return InvalidOid;
	}
	if (columns == NIL)
		use_default_columns(rel, wants_weight, source);
	else
		use_named_columns(rel, columns, source);
	find_keys(rel, source);
	if (condition != NULL || graph->filter != NULL)
	{
		use_condition(rel, condition, columns == NIL, source);
		relation_close(rel, NoLock);
		return relid;
	}
	if (!wants_weight && columns == NIL && source->reverse == 0)
		source->weight = 0;
	if (columns == NIL && wants_weight && source->weight == 0)
		source->guess = emogi_weight_guess_find(RelationGetDescr(rel), source->src, source->dst);
	if (source->weight > 0)
		check_weight_type(rel, source->weight);
	if (source->reverse > 0)
		check_weight_type(rel, source->reverse);
	if (!wants_weight && source->reverse == 0)
		source->weight = 0;
	relation_close(rel, NoLock);
	return relid;
}

/* Return true if a graph argument is the text of a query. */
bool
emogi_source_is_query(const EmogiGraphArgument *graph)
{
	return !graph->is_relation && emogi_graph_grammar_is_query(graph->text);
}

/*
 * Resolve the graph argument anew, as emogi_source_resolve does. Return the relation that it names,
 * or InvalidOid if the source cannot be kept for later calls.
 */
Oid
emogi_source_resolve_anew(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
						  EmogiSource *source)
{
	memset(source, 0, sizeof *source);
	source->graph = graph;
	source->wants_weight = wants_weight;
	source->has_edge_filter = graph->filter != NULL;
	if (emogi_source_is_query(graph))
	{
		source->is_query = true;
		source->query = graph->filter != NULL ? emogi_edge_condition_select(graph) :
			pstrdup(graph->text);
		return InvalidOid;
	}
	return resolve_relation(graph, wants_weight, source);
}

/*
 * Lock and get the relation that a graph argument names, whatever its columns; InvalidOid if it is
 * a query or becomes one.
 */
Oid
emogi_source_relation(const EmogiGraphArgument *graph)
{
	EmogiSource source = {0};
	List	   *columns;
	const char *condition;

	if (emogi_source_is_query(graph))
		return InvalidOid;
	lock_relation(graph, &source, &columns, &condition);
	return condition != NULL || emogi_columns_have_rows(columns) ? InvalidOid : source.relid;
}

/*
 * Get the text in which the caller has written the columns of a source's query. text: the query; a
 * filter selects all columns of the query of the graph argument.
 */
const char *
emogi_source_written(const EmogiSource *source, const char *text)
{
	return source->has_edge_filter && !OidIsValid(source->filtered) ? source->graph->text : text;
}

/* Write a column of a relation's SELECT; return false if it no longer exists. */
static bool
write_column(StringInfo query, Oid relid, AttrNumber attnum)
{
	const char *column = get_attname(relid, attnum, true);

	if (column == NULL)
		return false;
	appendStringInfo(query, "%s%s", query->len > 0 ? ", " : "SELECT ", quote_identifier(column));
	return true;
}

/* Is a column of a relation of type numeric? */
static bool
is_numeric(const EmogiSource *source, AttrNumber attnum)
{
	return getBaseType(get_atttype(source->relid, attnum)) == NUMERICOID;
}

/*
 * Get the columns of the query that emogi_source_select_rows returns for a relation with a reverse
 * weight.
 */
EmogiEdgeColumns
emogi_source_row_columns(const EmogiSource *source)
{
	return (EmogiEdgeColumns) {
		.ncolumns = 4,
		.src = 1,
		.dst = 2,
		.weight = 3,
		.reverse = 4,
		.unlike = get_atttype(source->relid, source->reverse) != get_atttype(source->relid,
																			 source->weight),
		.is_numeric = is_numeric(source, source->weight),
		.is_numeric_back = is_numeric(source, source->reverse),
		.key = source->key
	};
}

/*
 * Get the text of a query for the rows of a source: its own, or a SELECT of a relation's columns:
 * src, dst, and the weight and the reverse weight if there are any. NULL if the relation was
 * dropped.
 */
char *
emogi_source_select_rows(const EmogiSource *source)
{
	char	   *relation = get_rel_name(source->relid);
	char	   *schema = get_namespace_name(get_rel_namespace(source->relid));
	StringInfoData query;

	if (source->is_query)
		return source->query;
	initStringInfo(&query);
	if (!write_column(&query, source->relid, source->src) ||
		!write_column(&query, source->relid, source->dst) ||
		(source->weight > 0 && !write_column(&query, source->relid, source->weight)) ||
		(source->reverse > 0 && !write_column(&query, source->relid, source->reverse)) ||
		relation == NULL || schema == NULL)
		return NULL;
	appendStringInfo(&query, " FROM %s", quote_qualified_identifier(schema, relation));
	return query.data;
}

/*
 * Get the text of a query for a source: its own, or a SELECT of a relation's columns, with one edge
 * per direction if there is a reverse weight; NULL if the relation was dropped.
 */
char *
emogi_source_select(const EmogiSource *source)
{
	char	   *query = emogi_source_select_rows(source);
	EmogiEdgeColumns columns;

	if (source->is_query || source->reverse == 0 || query == NULL)
		return query;
	columns = emogi_source_row_columns(source);
	return emogi_query_both_ways(query, strlen(query), &columns);
}

/* Get the columns of the query that emogi_source_select returns for a relation. */
EmogiEdgeColumns
emogi_source_columns(const EmogiSource *source)
{
	EmogiEdgeColumns columns = {.ncolumns = 2,.src = 1,.dst = 2,.key = source->key};
	EmogiEdgeColumns rows;

	if (source->weight == 0)
		return columns;
	columns.ncolumns = columns.weight = 3;
	columns.is_numeric = is_numeric(source, source->weight);
	if (source->reverse == 0)
		return columns;
	rows = emogi_source_row_columns(source);
	columns.both_ways = true;
	columns.ncolumns = columns.back = 4;
	columns.is_numeric = rows.is_numeric || rows.is_numeric_back;
	if (rows.is_numeric != rows.is_numeric_back)
		columns.ncolumns = columns.other = 5;
	return columns;
}
