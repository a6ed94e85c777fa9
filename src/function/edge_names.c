/*
 * edge_names.c: look-up of the names of a few edges, such as those of a path, in the rows that the
 * graph was built from
 *
 * A graph does not store names: a path has some hundred steps, and the rows have all names, of any
 * type, as the caller's snapshot sees them. Therefore the rows that start where steps start are
 * read again, through an index if there is one, otherwise by one scan. They are selected by keys,
 * never by the text of keys, which depends on the caller's settings. edge_names_rows.c describes
 * the rows, edge_match.c finds those of steps among them.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "nodes/plannodes.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/plancache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "citus/citus.h"
#include "function/edge_match.h"
#include "function/edge_names.h"
#include "base/compat.h"

/* Rows read sequentially in the time of one index look-up. */
#define KEY_ROWS 4.0

/* Hint for a call that fails because of names. */
#define WITHOUT_NAMES "Call the function in FROM, and leave \"edge\" out of the SELECT."

/* ---- the column of names ---- */

/* Raise 42501 if the caller may not read the names, as the query would, with a hint. */
static void
check_right(Oid relid, AttrNumber attnum)
{
	if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(relid, attnum, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
			 errmsg("permission denied for column \"%s\" of relation \"%s\"",
					get_attname(relid, attnum, false), get_rel_name(relid)),
			 errdetail("The column holds the names of edges."),
			 errhint("%s", WITHOUT_NAMES)));
}

/*
 * Report, once per statement, that the column id, which the caller has not named, cannot be the
 * names of edges.
 */
static void
notice_unfit(const EmogiNamedRows *rows, Oid type)
{
	static TimestampTz notified = 0;

	if (notified == GetCurrentStatementStartTimestamp())
		return;
	notified = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("column \"id\" has type %s and cannot name edges between vertices of type %s: "
					"\"edge\" is NULL",
					format_type_be(rows->edge_type), format_type_be(type)),
			 errhint("Name a column of type %s last, as in 'edges(src, dst, cost, id)', or leave "
					 "\"edge\" out of the SELECT.",
					 format_type_be(type))));
}

/*
 * Can the function's result column hold the names? Raises 42804 if it cannot and the caller named
 * the column.
 */
static bool
fits(const EmogiNamedRows *rows, Oid type)
{
	const Oid	base = getBaseType(rows->edge_type);

	if (type == TEXTOID || (type == UUIDOID && base == UUIDOID) ||
		(type == INT8OID && (base == INT2OID || base == INT4OID || base == INT8OID)))
		return true;
	if (!rows->is_named)
	{
		notice_unfit(rows, type);
		return false;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("edge names in column %s have type %s, but vertices are passed as %s",
					rows->edge + strlen("r."), format_type_be(rows->edge_type),
					format_type_be(type)),
			 errhint("Pass vertices as text, so that names are returned as text, or call the "
					 "function in FROM and leave \"edge\" out of the SELECT.")));
	return false;
}

/* ---- the query ---- */

/*
 * Comparison of the rows' keys with ends of steps: by the type's default equality operator,
 * independent of the search path.
 */
typedef struct Comparison
{
	const char *operator;		/* schema-qualified */
	const char *left;			/* cast of a key, "" = none */
	const char *right;			/* type that an end is cast to */
} Comparison;

/* Get the schema-qualified name of a type. */
static const char *
type_name(Oid type)
{
	return format_type_extended(type, -1, FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
}

/* Describe the comparison of keys of a type. */
static Comparison
describe_comparison(const EmogiKeyType *key)
{
	Comparison	comparison = {"OPERATOR(pg_catalog.=)", "", "pg_catalog.int8"};
	HeapTuple	tuple;
	Form_pg_operator operator;

	if (key->class == EMOGI_KEY_INTEGER)
		return comparison;
	tuple = SearchSysCache1(OPEROID, ObjectIdGetDatum(lookup_type_cache(key->type,
			TYPECACHE_EQ_OPR)->eq_opr));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "type %u has no equality", key->type);
	operator = (Form_pg_operator) GETSTRUCT(tuple);
	comparison.operator = psprintf("OPERATOR(%s.%s)",
								   quote_identifier(get_namespace_name(operator->oprnamespace)),
								   NameStr(operator->oprname));
	comparison.right = type_name(key->type);
	if (!IsPolymorphicType(operator->oprleft))
	{
		comparison.right = type_name(operator->oprleft);
		if (operator->oprleft != key->type)
			comparison.left = psprintf("::%s", comparison.right);
	}
	ReleaseSysCache(tuple);
	return comparison;
}

/* Get an expression for a column of the rows, or NULL if there is none, cast to a type. */
static const char *
read_as(const char *column, const char *type)
{
	return psprintf("%s::%s", column != NULL ? column : "NULL", type);
}

/* Get an expression for an end of the rows, cast to the key type. */
static const char *
read_end(const EmogiNamedRows *rows, const char *column)
{
	return rows->key.nparts > 0 ? column : read_as(column, type_name(rows->key.type));
}

/* Write the columns that edge_match.c expects. */
static void
write_columns(StringInfo sql, const EmogiNamedRows *rows, const EmogiEdgeMatch *wanted)
{
	appendStringInfo(sql, "SELECT %s, %s, %s, %s, %s", read_end(rows, rows->src),
					 read_end(rows, rows->dst), read_as(rows->weight, "pg_catalog.float8"),
					 read_as(rows->reverse, "pg_catalog.float8"),
					 read_as(rows->edge, type_name(wanted->type)));
	if (wanted->type != wanted->given_type)
		appendStringInfo(sql, ", %s", read_as(rows->edge, type_name(wanted->given_type)));
}

/*
 * Write the condition that the start key is in $1, which one index scan evaluates. Without an
 * index, the array would be searched linearly for each row, so it is hashed instead.
 */
static void
write_condition(StringInfo sql, const EmogiNamedRows *rows)
{
	const Comparison comparison = describe_comparison(&rows->choices[0].key);

	appendStringInfo(sql, " FROM %s WHERE %s%s %s ANY (", rows->from, rows->choices[0].column,
					 comparison.left, comparison.operator);
	if (rows->by_hash)
		appendStringInfo(sql, "SELECT e::%s FROM pg_catalog.unnest($1) AS e)", comparison.right);
	else
		appendStringInfo(sql, "$1::%s[])", comparison.right);
}

/* Write a join with the start keys, whose columns are in $1, $2 and so on. */
static void
write_join(StringInfo sql, const EmogiNamedRows *rows)
{
	for (int i = 0; i < rows->nchoices; i++)
		appendStringInfo(sql, "%spg_catalog.unnest($%d)", i == 0 ? " FROM ROWS FROM (" : ", ",
						 i + 1);
	appendStringInfoString(sql, ") AS k(");
	for (int i = 0; i < rows->nchoices; i++)
		appendStringInfo(sql, "%sk%d", i == 0 ? "" : ", ", i + 1);
	appendStringInfo(sql, "), %s", rows->from);
	for (int i = 0; i < rows->nchoices; i++)
	{
		const Comparison comparison = describe_comparison(&rows->choices[i].key);

		appendStringInfo(sql, "%s%s%s %s k.k%d::%s", i == 0 ? " WHERE " : " AND ",
						 rows->choices[i].column, comparison.left, comparison.operator, i + 1,
						 comparison.right);
	}
}

/* Get the query for the rows that may match a step: those that start where one starts or ends. */
static char *
matched_query(const EmogiNamedRows *rows, const EmogiEdgeMatch *wanted)
{
	StringInfoData sql;

	initStringInfo(&sql);
	write_columns(&sql, rows, wanted);
	if (rows->nchoices == 0)
		appendStringInfo(&sql, " FROM %s", rows->from);
	else if (rows->choices[0].part < 0)
		write_condition(&sql, rows);
	else
		write_join(&sql, rows);
	return sql.data;
}

/*
 * Start a level of settings. If all rows are read, disable nested loops so that steps are hashed:
 * the planner does not know their number.
 */
static int
begin_settings(const EmogiNamedRows *rows)
{
	const int	level = NewGUCNestLevel();

	if (rows->by_hash)
		(void) set_config_option("enable_nestloop", "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* ---- detection of sequential scans ---- */

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

/* ---- look-up ---- */

/* Raise 55000 if a step has no matching row. */
static void
check_all_found(uint64 nfound, uint64 count)
{
	const bool	may_be_stale = emogi_max_staleness_ms > 0;

	if (nfound != count)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("names were found for %llu of %llu edges",
						(unsigned long long) nfound, (unsigned long long) count),
				 may_be_stale ? errdetail("The graph may be older than the rows, as "
										  "emogi.max_staleness allows.") :
				 errdetail("The graph query may return other rows each time it runs."),
				 may_be_stale ? errhint("Set emogi.max_staleness to 0, or call the function in "
										"FROM and leave \"edge\" out of the SELECT.") :
				 errhint("Read the edges from a table, or leave the column of names out of the "
						 "query.")));
}

/* Prepare the query for the names of steps, inside SPI. */
static EmogiPreparedQuery
open_query(const EmogiNamedRows *rows, const EmogiEdgeMatch *wanted)
{
	Oid			types[EMOGI_KEY_MAX_PARTS];
	EmogiPreparedQuery reading;
	const int	level = begin_settings(rows);

	for (int i = 0; i < rows->nchoices; i++)
		types[i] = get_array_type(rows->choices[i].key.type);
	/* Citus plans queries of its tables only with known values */
	reading = emogi_snapshot_open(matched_query(rows, wanted), rows->nchoices, types,
								  emogi_citus_is_loaded() ? CURSOR_OPT_CUSTOM_PLAN : 0);
	AtEOXact_GUC(true, level);
	return reading;
}

/* Prepare it by index look-ups or by hashing, depending on the rows and their indexes. */
static EmogiPreparedQuery
choose_query(EmogiNamedRows *rows, const EmogiEdgeMatch *wanted)
{
	EmogiPreparedQuery reading;

	rows->by_hash = rows->count > 0 && (double) wanted->count * KEY_ROWS > rows->count;
	reading = open_query(rows, wanted);
	if (rows->by_hash || rows->nchoices == 0 || !query_reads_all(reading.plan))
		return reading;
	PopActiveSnapshot();
	SPI_freeplan(reading.plan);
	rows->by_hash = true;
	return open_query(rows, wanted);
}

/* Build an array of one selection criterion's values for the given ends. */
static Datum
array_of(const EmogiEdgeMatch *wanted, const EmogiNameChoice *choice, const int64 *ends,
		 uint64 count)
{
	Datum	   *elements = palloc_extended(Max(count, 1) * sizeof *elements, MCXT_ALLOC_HUGE);
	int16		length;
	bool		by_value;
	char		align;

	for (uint64 i = 0; i < count; i++)
		elements[i] = choice->part < 0 ? emogi_key_io_key(wanted->form, wanted->graph, ends[i]) :
			emogi_key_io_key_columns(wanted->form, wanted->graph, ends[i])[choice->part];
	get_typlenbyvalalign(choice->key.type, &length, &by_value, &align);
	return PointerGetDatum(construct_array(elements, (int) count, choice->key.type, length,
										   by_value, align));
}

/* Run the query for the names of steps, inside SPI, and store them in a context. */
static void
run_query(EmogiNamedRows *rows, const EmogiEdgeMatch *wanted, MemoryContext context)
{
	const EmogiPreparedQuery reading = choose_query(rows, wanted);
	Datum		values[EMOGI_KEY_MAX_PARTS];
	uint64		nends;
	const int64 *ends = emogi_edge_match_ends(wanted, &nends);

	for (int i = 0; i < rows->nchoices; i++)
		values[i] = array_of(wanted, &rows->choices[i], ends, nends);
	check_all_found(emogi_edge_match_find(wanted, reading.plan, values, context), wanted->count);
	emogi_snapshot_check(&reading);
	PopActiveSnapshot();
}

/*
 * Determine the type and collation that order names: their own type if it has an order, otherwise
 * the returned type.
 */
static void
find_order(const EmogiNamedRows *rows, EmogiEdgeMatch *wanted)
{
	const Oid	base = getBaseType(rows->edge_type);

	wanted->type = wanted->given_type;
	if (wanted->given_type == TEXTOID && base != VARCHAROID && base != RECORDOID &&
		OidIsValid(lookup_type_cache(base, TYPECACHE_CMP_PROC)->cmp_proc))
		wanted->type = base;
	if (OidIsValid(get_typcollation(wanted->type)))
		wanted->collation = OidIsValid(rows->edge_collation) ? rows->edge_collation :
			DEFAULT_COLLATION_OID;
}

/*
 * Find the names of `count` edges from `from` to `to`, ids of the graph: names, [count], in the
 * current context. are_parallel: as in EmogiEdgeMatch. All are NULL if the graph has no column of
 * names. Raises 42804 for names of a type that the function cannot return, 42501, and errors of the
 * query.
 */
void
emogi_edge_names_find(const EmogiTask *task, const EmogiGraph *graph, const int64 *from,
					  const int64 *to, uint64 count, bool are_parallel, NullableDatum *names)
{
	MemoryContext context = CurrentMemoryContext;
	EmogiEdgeMatch wanted = {.form = task->form,.graph = graph,.from = from,.to = to,.count = count,
							 .direction = task->direction,.are_parallel = are_parallel,
	.given_type = task->form->type,.names = names};
	const EmogiWantedWeight wanted_weight =
		emogi_source_wanted_weight(emogi_algorithm_row(task->query.algorithm)->weights);
	EmogiSource source;
	EmogiNamedRows rows = {0};

	for (uint64 i = 0; i < count; i++)
		names[i] = (NullableDatum) {.isnull = true};
	if (count == 0)
		return;
	emogi_source_resolve(&task->graph, Max(wanted_weight, EMOGI_WANTS_WEIGHT), &source);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	emogi_edge_names_describe(&source, &rows);
	if (rows.edge != NULL && fits(&rows, wanted.given_type))
	{
		if (!source.is_query)
			check_right(source.relid, source.edge);
		wanted.has_reverse = rows.reverse != NULL;
		find_order(&rows, &wanted);
		run_query(&rows, &wanted, context);
	}
	SPI_finish();
}
