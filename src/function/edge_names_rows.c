/*
 * edge_names_rows.c: describe the rows that a graph was built from: their columns as SQL
 * expressions, and the criteria that select those which start at given vertices
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "function/edge_names.h"
#include "base/compat.h"

/* Get a relation's column as an expression; NULL = none, or dropped. */
static const char *
relation_column(const EmogiSource *source, AttrNumber attnum)
{
	const char *name = attnum > 0 ? get_attname(source->relid, attnum, true) : NULL;

	return name != NULL ? psprintf("r.%s", quote_identifier(name)) : NULL;
}

/* Get the number of rows of a relation from pg_class; -1 = unknown. */
static double
count_rows(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	double		count = -1;

	if (!HeapTupleIsValid(tuple))
		return -1;
	if (((Form_pg_class) GETSTRUCT(tuple))->relkind != RELKIND_PARTITIONED_TABLE)
		count = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	ReleaseSysCache(tuple);
	return count > 0 ? count : -1;
}

/* ---- selection ---- */

/* Select rows by a column, if its type has an array type. */
static void
choose_by(EmogiNamedRows *rows, const char *column, int part, const EmogiKeyType *key)
{
	if (OidIsValid(get_array_type(key->type)))
		rows->choices[rows->nchoices++] = (EmogiNameChoice) {column, part, *key};
}

/* Select rows by the columns of a key of a composite type. */
static void
choose_by_fields(EmogiNamedRows *rows, Oid type)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(type, -1);
	int			part = 0;

	for (int i = 0; i < desc->natts && part < rows->key.nparts; i++)
	{
		EmogiKeyType key;

		if (TupleDescAttr(desc, i)->attisdropped)
			continue;
		key = emogi_key_type_part(&rows->key, part);
		choose_by(rows,
				  psprintf("(%s).%s", rows->src,
						   quote_identifier(NameStr(TupleDescAttr(desc, i)->attname))), part++,
				  &key);
	}
	ReleaseTupleDesc(desc);
}

/* Select rows by the columns of a ROW(...) in the query text. */
static void
choose_by_row(EmogiNamedRows *rows, const RowExpr *row)
{
	for (int part = 0; part < Min(rows->key.nparts, list_length(row->args)); part++)
	{
		const EmogiKeyType key = emogi_key_type_part(&rows->key, part);

		if (exprType(list_nth(row->args, part)) != UNKNOWNOID)
			choose_by(rows, psprintf("(%s).f%d", rows->src, part + 1), part, &key);
	}
}

/*
 * Determine the selection criteria of rows; type: of their start column. query: the query whose
 * n-th column that is, NULL = it is a relation's.
 */
static void
choose(EmogiNamedRows *rows, Oid type, const char *query, int n)
{
	const Query *analysed = NULL;
	const TargetEntry *target;

	if (rows->key.nparts == 0)
		choose_by(rows, rows->src, -1, &rows->key);
	else if (getBaseType(type) != RECORDOID)
		choose_by_fields(rows, getBaseType(type));
	else if (EMOGI_HAS_FIELDS_OF_ROWS && query != NULL)
		analysed = emogi_query_analyze(query);
	if (analysed == NULL || analysed->setOperations != NULL)
		return;
	target = get_tle_by_resno(analysed->targetList, n);
	if (target != NULL && IsA(target->expr, RowExpr) &&
		((const RowExpr *) target->expr)->row_typeid == RECORDOID)
		choose_by_row(rows, (const RowExpr *) target->expr);
}

/* Describe the rows of a relation. */
static void
describe_relation(const EmogiSource *source, EmogiNamedRows *rows)
{
	rows->from = psprintf("%s AS r",
						  quote_qualified_identifier(
							  get_namespace_name(get_rel_namespace(source->relid)),
							  get_rel_name(source->relid)));
	rows->src = relation_column(source, source->src);
	rows->dst = relation_column(source, source->dst);
	rows->weight = relation_column(source, source->weight);
	rows->reverse = relation_column(source, source->reverse);
	rows->is_named = source->names_edge;
	rows->key = source->key;
	rows->count = count_rows(source->relid);
	choose(rows, get_atttype(source->relid, source->src), NULL, 0);
	if (source->edge == 0)
		return;
	rows->edge = relation_column(source, source->edge);
	get_atttypetypmodcoll(source->relid, source->edge, &rows->edge_type, &(int32) {0},
						  &rows->edge_collation);
}

/* Get a query's column as an expression; NULL = none. */
static const char *
query_column(int column)
{
	return column > 0 ? psprintf("r.c%d", column) : NULL;
}

/* Describe the rows of a query, inside SPI. */
static void
describe_query(const EmogiSource *source, EmogiNamedRows *rows)
{
	StringInfoData from;
	EmogiEdgeColumns columns;
	TupleDesc	desc;
	int			length = emogi_query_describe(source->query, &desc);

	emogi_query_edge_columns(desc, emogi_source_written(source, source->query),
							 source->wants_weight, &columns);
	initStringInfo(&from);
	appendStringInfo(&from, "(%.*s\n) AS r", length, source->query);
	for (int i = 1; i <= columns.ncolumns; i++)
		appendStringInfo(&from, "%sc%d", i == 1 ? "(" : ", ", i);
	appendStringInfoChar(&from, ')');
	rows->from = from.data;
	rows->src = query_column(columns.src);
	rows->dst = query_column(columns.dst);
	rows->weight = query_column(columns.weight);
	rows->reverse = query_column(columns.reverse);
	rows->edge = query_column(columns.edge);
	rows->is_named = source->names_edge;
	rows->key = columns.key;
	rows->count = -1;
	choose(rows, TupleDescAttr(desc, columns.src - 1)->atttypid, source->query, columns.src);
	if (columns.edge == 0)
		return;
	rows->edge_type = TupleDescAttr(desc, columns.edge - 1)->atttypid;
	rows->edge_collation = TupleDescAttr(desc, columns.edge - 1)->attcollation;
}

/* Describe the rows of a source, inside SPI. Raises errors of its query. */
void
emogi_edge_names_describe(const EmogiSource *source, EmogiNamedRows *rows)
{
	if (source->is_query)
		describe_query(source, rows);
	else
		describe_relation(source, rows);
}
