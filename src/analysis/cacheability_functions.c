/*
 * cacheability_functions.c: may functions be called in a tree whose Graph is shared, and what of
 * them is part of its key? (Q9, Q10, Q12)
 *
 * What is called with constants alone has been folded. A function in C is taken at its word, as an
 * index on it is. One in SQL is looked into, whatever it is labelled. What any other reads cannot
 * be seen, and "IMMUTABLE" over a table is the commonest lie.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

/* Functions in SQL that call each other are looked into so deep. */
#define MOST_DEPTH 8

/*
 * Add a row of a catalog to the key, all of it: who replaces an object, be it under the same OID,
 * makes another key.
 */
static void
add_row(EmogiAnalysisState *look, HeapTuple row)
{
	const Size	skip = offsetof(HeapTupleHeaderData, t_bits);

	const TransactionId xmin = HeapTupleHeaderGetRawXmin(row->t_data);

	if (!emogi_faults.tree[EMOGI_TREE_ROWS])
		appendBinaryStringInfo(&look->bytes, (char *) row->t_data + skip,
							   (int) (row->t_len - skip));
	appendBinaryStringInfo(&look->tree->versions, (char *) &row->t_self, sizeof row->t_self);
	appendBinaryStringInfo(&look->tree->versions, (char *) &xmin, sizeof xmin);
}

static bool
is_builtin(Oid function)
{
	return function < FirstNormalObjectId;
}

/* ---- functions in C ---- */

/*
 * Does a built-in function read text as a date? It knows 'now' and 'today'. The unit of date_trunc
 * and its like is text, too.
 */
static bool
reads_date(Form_pg_proc proc)
{
	const char *name = NameStr(proc->proname);
	bool		has_unit = strcmp(name, "date_trunc") == 0 || strcmp(name, "date_part") == 0 ||
		strcmp(name, "extract") == 0;

	for (int i = 0; i < proc->pronargs; i++)
		if (proc->proargtypes.values[i] == CSTRINGOID ||
			(proc->proargtypes.values[i] == TEXTOID && i == 0 && !has_unit))
			return true;
	return false;
}

/*
 * Does the result of a built-in STABLE function depend on nothing but its arguments and the
 * settings that go into the key?
 */
static bool
depends_on_settings_only(Form_pg_proc proc)
{
	static const char *const names[] = {
		"date_trunc", "date_part", "extract", "to_char", "timestamptz_pl_interval",
			"timestamptz_mi_interval",
		"interval_pl_timestamptz", "date", "timestamp", "timestamptz", "time", "date_out",
		"timestamp_out",
		"timestamptz_out", "generate_series"
	};
	const char *name = NameStr(proc->proname);

	if (reads_date(proc))
		return false;
	for (int i = 0; i < (int) lengthof(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	/* date_lt_timestamptz and its like */
	return proc->pronargs == 2 && proc->prorettype == BOOLOID &&
		(strstr(name, "timestamptz_") != NULL || strstr(name, "_timestamptz") != NULL);
}

/* Does a function take one of these types? */
static bool
takes(Form_pg_proc proc, const Oid *types, int ntypes)
{
	for (int i = 0; i < proc->pronargs; i++)
		for (int k = 0; k < ntypes; k++)
			if (proc->proargtypes.values[i] == types[k])
				return true;
	return false;
}

/*
 * Does a function that is declared IMMUTABLE read a text search configuration, which can be
 * altered?
 */
static bool
reads_configuration(Form_pg_proc proc)
{
	static const Oid types[] = {REGCONFIGOID, REGDICTIONARYOID};

	return takes(proc, types, lengthof(types));
}

/*
 * May a function depend on the time zone? age(timestamptz, timestamptz) does, and is declared
 * IMMUTABLE.
 */
static bool
takes_time_zone(Form_pg_proc proc)
{
	static const Oid types[] = {TIMESTAMPTZOID, TIMETZOID, TSTZRANGEOID, TIMESTAMPTZARRAYOID};

	return takes(proc, types, lengthof(types)) || proc->prorettype == TIMESTAMPTZOID ||
		proc->prorettype == TIMETZOID;
}

/* Judge a function in C, or built in, by its label. */
static bool
judge_label(Oid function, Form_pg_proc proc, EmogiAnalysisState *look)
{
	const char *name = NameStr(proc->proname);

	if (proc->provolatile == PROVOLATILE_VOLATILE)
		return emogi_cacheability_refuse(look, "function %s is VOLATILE: it may give another value "
											   "each time", name);
	if (is_builtin(function) && strcmp(name, "jsonb_object_agg") == 0)
		return emogi_cacheability_refuse(look, "function %s depends on settings and on names of "
											   "objects, though it is IMMUTABLE", name);
	if (reads_configuration(proc))
		return emogi_cacheability_refuse(look, "function %s depends on a text search "
											   "configuration; keep the tsvector in a generated "
											   "column", name);
	if (proc->provolatile != PROVOLATILE_STABLE || emogi_faults.tree[EMOGI_TREE_FOLD])
		return false;
	if (proc->proretset && !depends_on_settings_only(proc))
		return emogi_cacheability_refuse(look, "function %s is STABLE and returns rows: they may "
											   "depend on more than its arguments", name);
	if (!is_builtin(function) || !depends_on_settings_only(proc))
		return emogi_cacheability_refuse(look, "function %s is STABLE and takes values of rows: it "
											   "may depend on more than them%s", name,
								  is_builtin(function) ? "" : "; if it depends on its arguments "
															  "only, declare it IMMUTABLE");
	look->has_settings = true;
	return false;
}

/* ---- functions in SQL ---- */

/* Analyse the stored tree of a body; NIL when it is more than one statement. */
static List *
analyse_stored(const char *stored)
{
	Node	   *node = stringToNode(stored);
	List	   *queries = IsA(node, List) ? linitial_node(List, castNode(List, node)) :
		list_make1(node);
	Query	   *query;

	if (list_length(queries) != 1)
		return NIL;
	query = linitial_node(Query, queries);
	AcquireRewriteLocks(query, true, false);
	return pg_rewrite_query(query);
}

/*
 * Analyse the text of a body as a call would, under the caller's search path; NIL when it is more
 * than one statement.
 */
static List *
analyse_text(Oid function, HeapTuple row, const char *text)
{
	Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(row);
	List	   *statements = pg_parse_query(text);
	FuncExpr   *call = makeNode(FuncExpr);

	if (list_length(statements) != 1)
		return NIL;
	call->funcid = function;
	for (int i = 0; i < proc->pronargs; i++)
		call->args = lappend(call->args,
							 makeNullConst(proc->proargtypes.values[i], -1,
										   get_typcollation(proc->proargtypes.values[i])));
	return emogi_compat_analyse_body(linitial_node(RawStmt, statements), text,
									 prepare_sql_fn_parse_info(row, (Node *) call,
															   DEFAULT_COLLATION_OID));
}

/* Analyse the body of a function in SQL, and note it if it is text. */
static List *
analyse_body(Oid function, HeapTuple row, EmogiAnalysisState *look)
{
	bool		isnull;
	char	   *string;
	Datum		body = SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosqlbody, &isnull);

	if (!isnull)
		return analyse_stored(TextDatumGetCString(body));
	body = SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosrc, &isnull);
	string = TextDatumGetCString(body);
	look->tree->texts = lappend(look->tree->texts, string);
	return analyse_text(function, row, string);
}

/* Does a function take arguments whose type is known by the call alone? */
static bool
is_polymorphic(Form_pg_proc proc)
{
	for (int i = 0; i < proc->pronargs; i++)
		if (IsPolymorphicType(proc->proargtypes.values[i]))
			return true;
	return false;
}

/*
 * Judge the body of a function in SQL as a part of the tree. Whether the planner would inline it
 * plays no part.
 */
static bool
judge_body(Oid function, HeapTuple row, EmogiAnalysisState *look)
{
	Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(row);
	const char *name = NameStr(proc->proname);
	int			nrelations = look->nrelations;
	List	   *queries;
	Query	   *query;

	if (proc->prosecdef)
		return emogi_cacheability_refuse(look, "function %s is SECURITY DEFINER, so it reads with "
											   "other rights than its caller's", name);
	if (!heap_attisnull(row, Anum_pg_proc_proconfig, NULL))
		return emogi_cacheability_refuse(look, "function %s has settings of its own (SET ...)",
										 name);
	if (is_polymorphic(proc))
		return emogi_cacheability_refuse(look, "function %s takes arguments of any type", name);
	if (look->depth == MOST_DEPTH)
		return emogi_cacheability_refuse(look, "function %s calls functions in SQL more than %d "
											   "deep", name, MOST_DEPTH);
	queries = analyse_body(function, row, look);
	if (list_length(queries) != 1)
		return emogi_cacheability_refuse(look, "function %s is more than one SELECT", name);
	query = emogi_argument_defaults_expand(linitial_node(Query, queries));
	look->trees = lappend(look->trees, query);
	look->depth++;
	if (emogi_cacheability_rights(query, look) || emogi_cacheability_node((Node *) query, look))
		return true;
	look->depth--;
	if (proc->provolatile == PROVOLATILE_VOLATILE && look->nrelations > nrelations)
		return emogi_cacheability_refuse(look, "function %s reads a table and is VOLATILE, so it "
											   "sees rows that the query does not; declare it "
											   "STABLE", name);
	return false;
}

/* ---- all functions ---- */

/*
 * Judge the functions that an aggregate consists of. Who may execute them is its owner's affair:
 * they are not noted for that.
 */
static bool
judge_parts(Oid function, EmogiAnalysisState *look)
{
	HeapTuple	row = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	bool		refused = false;

	if (!HeapTupleIsValid(row))
		return emogi_cacheability_refuse(look, "aggregate %u does not exist", function);
	add_row(look, row);
	{
		Form_pg_aggregate parts = (Form_pg_aggregate) GETSTRUCT(row);
		const Oid	oids[] = {
			parts->aggtransfn, parts->aggfinalfn, parts->aggcombinefn, parts->aggserialfn,
				parts->aggdeserialfn,
			parts->aggmtransfn, parts->aggminvtransfn, parts->aggmfinalfn
		};

		for (int i = 0; i < (int) lengthof(oids) && !refused; i++)
		{
			bool		known = list_member_oid(look->functions, oids[i]);

			if (!OidIsValid(oids[i]) || (is_builtin(function) && is_builtin(oids[i])))
				continue;
			refused = emogi_cacheability_function(oids[i], look);
			if (!known)
				look->functions = list_delete_oid(look->functions, oids[i]);
		}
	}
	ReleaseSysCache(row);
	return refused;
}

/* Refuse a function in a language that is not looked into. */
static bool
refuse_language(Form_pg_proc proc, EmogiAnalysisState *look)
{
	char	   *language = get_language_name(proc->prolang, true);

	return emogi_cacheability_refuse(look, "function %s is written in %s, and what it reads cannot "
										   "be seen; write it in SQL",
							  NameStr(proc->proname), language != NULL ? language : "(none)");
}

/* Judge a function by its row in the catalog. */
static bool
judge_row(Oid function, HeapTuple row, EmogiAnalysisState *look)
{
	Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(row);

	add_row(look, row);
	look->has_settings |= takes_time_zone(proc);
	if (proc->prokind == PROKIND_AGGREGATE)
		return judge_label(function, proc, look) || judge_parts(function, look);
	if (proc->prolang == SQLlanguageId && !is_builtin(function))
		return judge_body(function, row, look);
	if (proc->prolang != INTERNALlanguageId && proc->prolang != ClanguageId &&
		!is_builtin(function))
		return refuse_language(proc, look);
	return judge_label(function, proc, look);
}

/* Judge a function that is called with values of rows, and add what it is to the key. */
bool
emogi_cacheability_function(Oid function, EmogiAnalysisState *look)
{
	HeapTuple	row;
	bool		refused;

	appendBinaryStringInfo(&look->bytes, (char *) &function, sizeof function);
	if (list_member_oid(look->functions, function))
		return false;
	look->functions = lappend_oid(look->functions, function);
	row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(row))
		return emogi_cacheability_refuse(look, "function %u does not exist", function);
	refused = judge_row(function, row, look);
	ReleaseSysCache(row);
	return refused;
}

/* May the caller execute all functions that a tree calls (Q18)? */
bool
emogi_cacheability_execute(EmogiAnalysisState *look)
{
	ListCell   *cell;

	if (emogi_faults.tree[EMOGI_TREE_RIGHTS])
		return false;
	foreach(cell, look->functions)
		if (emogi_compat_may_execute(lfirst_oid(cell)) != ACLCHECK_OK)
			return emogi_cacheability_refuse(look, "it may not be read by this role");
	return false;
}
