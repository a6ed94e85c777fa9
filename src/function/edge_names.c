/*
 * edge_names.c: the names of a few edges, those of a path's steps: looked up in the rows that the graph was made of.
 *
 * A graph has no room for names: a path has some hundred steps, and the rows have all names there are, of any type, as the caller's snapshot sees
 * them. So the rows that begin where steps do are read once more, by an index of theirs if there is one, else in one pass over them. Of edges that are
 * parallel the cheapest counts, then the one whose name stands first: that is the one that the path's distance was made of.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "nodes/plannodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "function/edge_match.h"

/* An index finds the rows of a key in the time in which so many are read one after the other. */
#define KEY_ROWS 4.0

/* Steps that may be joined with rows one by one. */
#define FEW_STEPS 64

/* The rows of a graph, as a query's text, and its columns as SQL has them: expressions of the relation r. */
typedef struct Rows
{
	char	   *from;			/* "relation" or "(query)", with names */
	const char *src;
	const char *dst;
	const char *weight;			/* NULL = none */
	const char *reverse;
	const char *edge;			/* NULL = edges have no names */
	Oid			edge_type;
	bool		is_named;		/* the caller named the column of names */
	Oid			form;			/* type of the task's vertices */
	EmogiKeyType key;
	double		count;			/* of rows, as far as is known; -1 = it is not */
	bool		by_hash;		/* all are read, and looked up among the steps; else an index finds them */
} Rows;

/* ---- the rows ---- */

/* Write a column of a relation as an expression; NULL = there is none, or it has gone. */
static const char *
relation_column(const EmogiSource *source, AttrNumber attnum)
{
	const char *name = attnum > 0 ? get_attname(source->relid, attnum, true) : NULL;

	return name != NULL ? psprintf("r.%s", quote_identifier(name)) : NULL;
}

/* Get the number of rows of a relation, as statistics have it; -1 = they do not. */
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

/* Describe the rows of a relation. */
static void
describe_relation(const EmogiSource *source, Rows *rows)
{
	rows->from = psprintf("%s AS r", quote_qualified_identifier(get_namespace_name(get_rel_namespace(source->relid)), get_rel_name(source->relid)));
	rows->src = relation_column(source, source->src);
	rows->dst = relation_column(source, source->dst);
	rows->weight = relation_column(source, source->weight);
	rows->reverse = relation_column(source, source->reverse);
	rows->edge = relation_column(source, source->edge);
	rows->is_named = source->names_edge;
	rows->edge_type = source->edge > 0 ? get_atttype(source->relid, source->edge) : InvalidOid;
	rows->key = source->key;
	rows->count = count_rows(source->relid);
}

/* Write a column of a query as an expression; NULL = there is none. */
static const char *
query_column(int column)
{
	return column > 0 ? psprintf("r.c%d", column) : NULL;
}

/* Describe the rows of a query, inside SPI. */
static void
describe_query(const EmogiSource *source, Rows *rows)
{
	StringInfoData from;
	EmogiEdgeColumns columns;
	TupleDesc	desc;
	int			length = emogi_query_describe(source->query, &desc);

	emogi_query_edge_columns(desc, true, &columns);
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
	rows->edge_type = columns.edge > 0 ? TupleDescAttr(desc, columns.edge - 1)->atttypid : InvalidOid;
	rows->key = columns.key;
	rows->count = -1;
}

/* Can the function's column hold the names? Raises 42804 if the caller named the column of such as it cannot hold. */
static bool
fits(const Rows *rows, Oid type)
{
	const Oid	base = getBaseType(rows->edge_type);

	if (type == TEXTOID || (type == UUIDOID && base == UUIDOID) || (type == INT8OID && (base == INT2OID || base == INT4OID || base == INT8OID)))
		return true;
	if (!rows->is_named)
		return false;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the names of edges, %s, have type %s, and those of vertices are given as %s", rows->edge + strlen("r."), format_type_be(rows->edge_type),
					format_type_be(type)),
			 errhint("Leave \"edge\" out of the SELECT, or name another column.")));
	return false;
}

/* ---- the query ---- */

/*
 * How keys of the rows are compared with ends of steps: by the operator that the type's own index has, whatever the search path says that = is. Integers
 * are compared as they are, rows by their text.
 */
typedef struct Comparison
{
	const char *operator;		/* with its schema */
	const char *left;			/* cast of a key, "" = none */
	const char *right;			/* type that an end is cast to */
} Comparison;

/* Write a type with its schema. */
static const char *
type_name(Oid type)
{
	return format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/* Describe how keys of the rows are compared. */
static Comparison
describe_comparison(const Rows *rows)
{
	Comparison	comparison = {"OPERATOR(pg_catalog.=)", "", "pg_catalog.int8"};
	HeapTuple	tuple;
	Form_pg_operator operator;

	if (rows->key.nparts > 0)
	{
		comparison.left = "::pg_catalog.text";
		comparison.right = "pg_catalog.text";
	}
	if (rows->key.nparts > 0 || rows->key.class == EMOGI_KEY_INTEGER)
		return comparison;
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(lookup_type_cache(rows->key.type, TYPECACHE_EQ_OPR)->eq_opr));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "type %u has no equality", rows->key.type);
	operator = (Form_pg_operator) GETSTRUCT(tuple);
	comparison.operator = psprintf("OPERATOR(%s.%s)", quote_identifier(get_namespace_name(operator->oprnamespace)), NameStr(operator->oprname));
	comparison.right = type_name(rows->key.type);
	if (!IsPolymorphicType(operator->oprleft))
	{
		comparison.right = type_name(operator->oprleft);
		if (operator->oprleft != rows->key.type)
			comparison.left = psprintf("::%s", comparison.right);
	}
	ReleaseSysCache(tuple);
	return comparison;
}

/* Write that a key of the rows is an end of a step. */
static const char *
equals(const Comparison *comparison, const char *key, const char *end)
{
	return psprintf("%s%s %s %s::%s", key, comparison->left, comparison->operator, end, comparison->right);
}

/* Write a SELECT of the steps as rows may lead along them: from a to b; by the reverse cost of a row, which leads there, or by its weight. */
static void
write_way(StringInfo sql, const char *a, const char *b, bool is_reverse)
{
	appendStringInfo(sql, "%sSELECT %s, %s, n, %s FROM ROWS FROM (pg_catalog.unnest($1), pg_catalog.unnest($2)) WITH ORDINALITY AS s(u, v, n)",
					 sql->len > 0 ? " UNION ALL " : "", a, b, is_reverse ? "true" : "false");
}

/* Write a column of the rows, NULL where they have none, as a type. */
static const char *
read_as(const char *column, const char *type)
{
	return psprintf("%s::%s", column != NULL ? column : "NULL", type);
}

/*
 * Write a SELECT of the rows that may lead along a step: those that begin where one begins or ends, as an index finds them all by one scan. Without one a
 * list would be searched from its beginning for each row: then the ends are hashed.
 */
static void
write_found(StringInfo sql, const Rows *rows, const Comparison *comparison, const char *columns, const char *ends)
{
	appendStringInfo(sql, "SELECT %s FROM %s WHERE %s%s %s ANY (", columns, rows->from, rows->src, comparison->left, comparison->operator);
	if (rows->by_hash)
		appendStringInfo(sql, "SELECT e::%s FROM pg_catalog.unnest(%s) AS e)", comparison->right, ends);
	else
		appendStringInfo(sql, "%s::%s[])", ends, comparison->right);
}

/* Are keys of the rows and the vertices that are asked for integers, which edge_match.c can compare? */
static bool
may_match(const Rows *rows)
{
	return rows->key.class == EMOGI_KEY_INTEGER && rows->key.nparts == 0 && rows->form == INT8OID;
}

/* Get the query of the rows that edge_match.c chooses from: those that begin at the ends in $1. */
static char *
matched_query(const Rows *rows, Oid type)
{
	const Comparison comparison = describe_comparison(rows);
	StringInfoData sql;

	initStringInfo(&sql);
	write_found(&sql, rows, &comparison, psprintf("%s, %s, %s, %s, %s", read_as(rows->src, "pg_catalog.int8"), read_as(rows->dst, "pg_catalog.int8"),
									 read_as(rows->weight, "pg_catalog.float8"), read_as(rows->reverse, "pg_catalog.float8"),
									 read_as(rows->edge, format_type_be_qualified(type))), "$1");
	return sql.data;
}

/* Get the query that finds the name of each step, whose ends are in $1 and $2: rows are of a step's number and the name. */
static char *
finding_query(const Rows *rows, EmogiDirection direction, Oid type)
{
	const char *weight = rows->weight != NULL ? "f.weight" : "NULL::pg_catalog.int4";
	const Comparison comparison = describe_comparison(rows);
	const char *ends = direction == EMOGI_IN ? "$2" : "$1";
	StringInfoData found;
	StringInfoData ways;
	StringInfoData sql;

	if (rows->reverse != NULL || direction == EMOGI_BOTH)
		ends = "($1 OPERATOR(pg_catalog.||) $2)";
	initStringInfo(&found);
	initStringInfo(&ways);
	write_found(&found, rows, &comparison, psprintf("%s, %s, %s, %s, %s", rows->src, rows->dst, rows->weight != NULL ? rows->weight : "NULL",
									   rows->reverse != NULL ? rows->reverse : "NULL", rows->edge), ends);
	for (int turned = 0; turned < 2; turned++)
	{
		if ((turned == 0 && direction == EMOGI_IN) || (turned == 1 && direction == EMOGI_OUT))
			continue;
		write_way(&ways, turned ? "v" : "u", turned ? "u" : "v", false);
		if (rows->reverse != NULL)
			write_way(&ways, turned ? "u" : "v", turned ? "v" : "u", true);
	}
	if (rows->reverse != NULL)
		weight = psprintf("CASE WHEN k.is_reverse THEN f.reverse ELSE %s END", weight);
	initStringInfo(&sql);
	appendStringInfo(&sql, "SELECT DISTINCT ON (n) n, name::%s FROM (SELECT k.n, %s, f.name FROM (%s) AS k(a, b, n, is_reverse) "
					 "JOIN (%s OFFSET 0) AS f(src, dst, weight, reverse, name) ON %s AND %s) AS e(n, weight, name)%s ORDER BY n, weight, name",
					 format_type_be_qualified(type), weight, ways.data, found.data, equals(&comparison, "f.src", "k.a"), equals(&comparison, "f.dst", "k.b"),
					 rows->reverse != NULL ? " WHERE weight OPERATOR(pg_catalog.>=) 0" : "");
	return sql.data;
}

/* Begin a level of settings in which rows are joined with count steps as suits so many: the plan knows not how many there are. */
static int
begin_settings(const Rows *rows, uint64 count)
{
	const int	level = NewGUCNestLevel();

	if (count > FEW_STEPS || rows->by_hash)
		(void) set_config_option("enable_nestloop", "off", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* ---- whether an index finds the rows ---- */

static bool reads_all(const Plan *plan);

/* Does one of some plans read all rows of a table? */
static bool
some_read_all(const List *plans)
{
	ListCell   *cell;

	foreach(cell, plans)
		if (reads_all(lfirst(cell)))
			return true;
	return false;
}

/* Does a plan read all rows of a table? */
static bool
reads_all(const Plan *plan)
{
	if (plan == NULL)
		return false;
	switch (nodeTag(plan))
	{
		case T_SeqScan:
			return true;
		case T_IndexScan:
			return ((const IndexScan *) plan)->indexqual == NIL;
		case T_IndexOnlyScan:
			return ((const IndexOnlyScan *) plan)->indexqual == NIL;
		case T_Append:
			return some_read_all(((const Append *) plan)->appendplans);
		case T_MergeAppend:
			return some_read_all(((const MergeAppend *) plan)->mergeplans);
		case T_SubqueryScan:
			return reads_all(((const SubqueryScan *) plan)->subplan);
		default:
			return reads_all(plan->lefttree) || reads_all(plan->righttree);
	}
}

/* Does a prepared query read all rows of a table? */
static bool
query_reads_all(SPIPlanPtr plan)
{
	CachedPlan *cached = SPI_plan_get_cached_plan(plan);
	bool		all = false;

	if (cached == NULL)
		return false;
	if (list_length(cached->stmt_list) == 1)
	{
		const PlannedStmt *planned = linitial_node(PlannedStmt, cached->stmt_list);

		all = reads_all(planned->planTree) || some_read_all(planned->subplans);
	}
	ReleaseCachedPlan(cached, NULL);
	return all;
}

/* ---- the whole ---- */

/* Raise 55000 if there is a step that no row leads along. */
static void
check_all_found(uint64 nfound, uint64 count)
{
	const bool	may_be_stale = emogi_max_staleness_ms > 0;

	if (nfound != count)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("names were found for %llu of %llu edges of a path", (unsigned long long) nfound, (unsigned long long) count),
				 may_be_stale ? errdetail("The graph may be older than the rows are, as emogi.max_staleness allows.") :
				 errdetail("The query of the graph gives other rows each time it is run."),
				 may_be_stale ? errhint("Set emogi.max_staleness to 0, or leave \"edge\" out of the SELECT.") :
				 errhint("Have it read a table, or leave \"edge\" out of the SELECT.")));
}

/* Put the result of the query where names are wanted, in a context. */
static void
take_names(uint64 count, Oid type, MemoryContext context, NullableDatum *names)
{
	MemoryContext old = MemoryContextSwitchTo(context);
	int16		length;
	bool		by_value;

	check_all_found(SPI_processed, count);
	get_typlenbyval(type, &length, &by_value);
	for (uint64 i = 0; i < count; i++)
	{
		names[i].value = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 2, &names[i].isnull);
		if (!names[i].isnull)
			names[i].value = datumCopy(names[i].value, by_value, length);
	}
	MemoryContextSwitchTo(old);
}

/* Prepare the query for the names of so many steps, inside SPI. */
static EmogiReading
open_query(const EmogiTask *task, const Rows *rows, uint64 count, Oid type)
{
	const Oid	array = get_array_type(type);
	Oid			types[] = {array, array};
	const int	level = begin_settings(rows, count);
	const bool	matches = may_match(rows);
	const EmogiReading reading = emogi_snapshot_open(matches ? matched_query(rows, type) : finding_query(rows, task->direction, type), matches ? 1 : 2, types, 0);

	AtEOXact_GUC(true, level);
	return reading;
}

/* The same, in the way that suits the rows and what indexes they have. */
static EmogiReading
choose_query(const EmogiTask *task, Rows *rows, uint64 count, Oid type)
{
	EmogiReading reading;

	rows->by_hash = OidIsValid(get_element_type(rows->key.type)) || (rows->count > 0 && (double) count * KEY_ROWS > rows->count);
	reading = open_query(task, rows, count, type);
	if (rows->by_hash || !query_reads_all(reading.plan))
		return reading;
	PopActiveSnapshot();
	SPI_freeplan(reading.plan);
	rows->by_hash = true;
	return open_query(task, rows, count, type);
}

/* Make an array of Datums of a type. */
static Datum
array_of(Datum *elements, uint64 count, Oid type)
{
	int16		length;
	bool		by_value;
	char		align;

	get_typlenbyvalalign(type, &length, &by_value, &align);
	return PointerGetDatum(construct_array(elements, (int) count, type, length, by_value, align));
}

/* Run a query for the names of steps, inside SPI, whose ends are its parameters, and put them into a context. */
static void
run_query(const EmogiTask *task, Rows *rows, const EmogiEdgeMatch *wanted, Datum *from, Datum *to, MemoryContext context)
{
	const bool	matches = may_match(rows);
	const EmogiReading reading = choose_query(task, rows, wanted->count, wanted->type);
	Datum		values[2];

	if (matches)
	{
		values[0] = emogi_edge_match_ends(wanted);
		check_all_found(emogi_edge_match_find(wanted, reading.plan, values, context), wanted->count);
	}
	else
	{
		values[0] = array_of(from, wanted->count, wanted->type);
		values[1] = array_of(to, wanted->count, wanted->type);
	}
	if (!matches && SPI_execute_plan(reading.plan, values, NULL, true, 0) != SPI_OK_SELECT)
		elog(ERROR, "the query of the names of edges failed");
	emogi_snapshot_check(&reading);
	PopActiveSnapshot();
	if (!matches)
		take_names(wanted->count, wanted->type, context, wanted->names);
}

/*
 * Find the names of edges, those of count steps from `from` to `to`, Datums of the form of the task's vertices: names, [count], in
 * the current context. All are NULL where the graph has no column of names. Raises 42804 for names of another type than the function can return,
 * 42501, and what a query raises.
 */
void
emogi_edge_names_find(const EmogiTask *task, Datum *from, Datum *to, uint64 count, NullableDatum *names)
{
	const Oid	type = task->form->type;
	MemoryContext context = CurrentMemoryContext;
	EmogiEdgeMatch wanted = {from, to, count, task->direction, false, type, names};
	EmogiSource source;
	Rows		rows;

	for (uint64 i = 0; i < count; i++)
		names[i] = (NullableDatum) {.isnull = true};
	if (count == 0)
		return;
	emogi_source_resolve(&task->graph, true, &source);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	if (source.is_query)
		describe_query(&source, &rows);
	else
		describe_relation(&source, &rows);
	rows.form = type;
	if (rows.edge != NULL && fits(&rows, type))
	{
		wanted.has_reverse = rows.reverse != NULL;
		run_query(task, &rows, &wanted, from, to, context);
	}
	SPI_finish();
}
