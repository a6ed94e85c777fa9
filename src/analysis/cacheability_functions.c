/*
 * cacheability_functions.c: whether functions may be called in a query whose graph is cached, and
 * their contribution to its key (Q9, Q10, Q12)
 *
 * Calls with constants only have been folded. The volatility label of a function in C is trusted,
 * as for an index on it. The body of a function in SQL is checked, whatever its label. What a
 * function in any other language reads is unknown, and functions over tables are often labeled
 * IMMUTABLE wrongly.
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
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "base/fault.h"
#include "analysis/analysis_internal.h"

/* Maximum nesting of calls between functions in SQL. */
#define MAX_DEPTH 8

/*
 * Add a catalog row to the key, with all its columns: an object that is replaced, even under the
 * same OID, gives another key.
 */
static void
add_row(EmogiAnalysisState *state, HeapTuple row)
{
	const Size	skip = offsetof(HeapTupleHeaderData, t_bits);

	const TransactionId xmin = HeapTupleHeaderGetRawXmin(row->t_data);

	if (!emogi_faults.analysis[EMOGI_ANALYSIS_FUNCTION_ROWS])
		appendBinaryStringInfo(&state->bytes, (char *) row->t_data + skip,
							   (int) (row->t_len - skip));
	appendBinaryStringInfo(&state->analysis->versions, (char *) &row->t_self, sizeof row->t_self);
	appendBinaryStringInfo(&state->analysis->versions, (char *) &xmin, sizeof xmin);
}

static bool
is_builtin(Oid function)
{
	return function < FirstNormalObjectId;
}

/* ---- functions in C ---- */

/*
 * Does a built-in function parse text as a date? Dates include 'now' and 'today'. The unit argument
 * of date_trunc and similar functions is also text.
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
 * Does the result of a built-in STABLE function depend only on its arguments and on the settings in
 * the key?
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
	/* date_lt_timestamptz and the like */
	return proc->pronargs == 2 && proc->prorettype == BOOLOID &&
		(strstr(name, "timestamptz_") != NULL || strstr(name, "_timestamptz") != NULL);
}

/* Does a function have an argument of one of these types? */
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
 * Does a function read a text search configuration, which can be altered although the function is
 * declared IMMUTABLE?
 */
static bool
reads_configuration(Form_pg_proc proc)
{
	static const Oid types[] = {REGCONFIGOID, REGDICTIONARYOID};

	return takes(proc, types, lengthof(types));
}

/*
 * May a function depend on the time zone? age(timestamptz, timestamptz) does, although it is
 * declared IMMUTABLE.
 */
static bool
takes_time_zone(Form_pg_proc proc)
{
	static const Oid types[] = {TIMESTAMPTZOID, TIMETZOID, TSTZRANGEOID, TIMESTAMPTZARRAYOID};

	return takes(proc, types, lengthof(types)) || proc->prorettype == TIMESTAMPTZOID ||
		proc->prorettype == TIMETZOID;
}

/* Check a built-in function, or one in C, by its volatility label. */
static bool
check_label(Oid function, Form_pg_proc proc, EmogiAnalysisState *state)
{
	const char *name = NameStr(proc->proname);

	if (proc->provolatile == PROVOLATILE_VOLATILE)
		return emogi_cacheability_refuse(state, "function %s is VOLATILE: it may give another "
												"value "
											   "each time", name);
	if (is_builtin(function) && strcmp(name, "jsonb_object_agg") == 0)
		return emogi_cacheability_refuse(state, "function %s depends on settings and on names of "
											   "objects, though it is IMMUTABLE", name);
	if (reads_configuration(proc))
		return emogi_cacheability_refuse(state, "function %s depends on a text search "
											   "configuration; keep the tsvector in a generated "
											   "column", name);
	if (proc->provolatile != PROVOLATILE_STABLE || emogi_faults.analysis[EMOGI_ANALYSIS_FOLD])
		return false;
	if (proc->proretset && !depends_on_settings_only(proc))
		return emogi_cacheability_refuse(state, "function %s is STABLE and returns rows: they may "
											   "depend on more than its arguments", name);
	if (!is_builtin(function) || !depends_on_settings_only(proc))
		return emogi_cacheability_refuse(state, "function %s is STABLE and takes values of rows: "
												"it may depend on other data as well%s", name,
								  is_builtin(function) ? "" : "; if it depends on its arguments "
															  "only, declare it IMMUTABLE");
	state->has_settings = true;
	return false;
}

/* ---- functions in SQL ---- */

/* Analyze the stored parse tree of a body; NIL if it has more than one statement. */
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
 * Analyze the text of a body as a call would, under the caller's search path; NIL if it has more
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
	return emogi_compat_analyze_body(linitial_node(RawStmt, statements), text,
									 prepare_sql_fn_parse_info(row, (Node *) call,
															   DEFAULT_COLLATION_OID));
}

/* Analyze the body of a function in SQL, and record it if it is text. */
static List *
analyse_body(Oid function, HeapTuple row, EmogiAnalysisState *state)
{
	bool		isnull;
	char	   *string;
	Datum		body = SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosqlbody, &isnull);

	if (!isnull)
		return analyse_stored(TextDatumGetCString(body));
	body = SysCacheGetAttr(PROCOID, row, Anum_pg_proc_prosrc, &isnull);
	string = TextDatumGetCString(body);
	state->analysis->texts = lappend(state->analysis->texts, string);
	return analyse_text(function, row, string);
}

/* Does a function have polymorphic arguments? */
static bool
is_polymorphic(Form_pg_proc proc)
{
	for (int i = 0; i < proc->pronargs; i++)
		if (IsPolymorphicType(proc->proargtypes.values[i]))
			return true;
	return false;
}

/*
 * Check the body of a function in SQL as part of the query, whether or not the planner would inline
 * it.
 */
static bool
check_body(Oid function, HeapTuple row, EmogiAnalysisState *state)
{
	Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(row);
	const char *name = NameStr(proc->proname);
	int			nrelations = state->nrelations;
	List	   *queries;
	Query	   *query;

	if (proc->prosecdef)
		return emogi_cacheability_refuse(state, "function %s is SECURITY DEFINER, so it reads with "
											   "other rights than its caller's", name);
	if (!heap_attisnull(row, Anum_pg_proc_proconfig, NULL))
		return emogi_cacheability_refuse(state, "function %s has settings of its own (SET ...)",
										 name);
	if (is_polymorphic(proc))
		return emogi_cacheability_refuse(state, "function %s takes arguments of any type", name);
	if (state->depth == MAX_DEPTH)
		return emogi_cacheability_refuse(state, "function %s nests SQL functions more than %d "
												"levels deep", name, MAX_DEPTH);
	queries = analyse_body(function, row, state);
	if (list_length(queries) != 1)
		return emogi_cacheability_refuse(state, "function %s is more than one SELECT", name);
	query = emogi_argument_defaults_expand(linitial_node(Query, queries));
	state->trees = lappend(state->trees, query);
	state->depth++;
	if (emogi_cacheability_rights(query, state) || emogi_cacheability_node((Node *) query, state))
		return true;
	state->depth--;
	if (proc->provolatile == PROVOLATILE_VOLATILE && state->nrelations > nrelations)
		return emogi_cacheability_refuse(state, "function %s reads a table and is VOLATILE, so it "
											   "sees rows that the query does not; declare it "
											   "STABLE", name);
	return false;
}

/* ---- all functions ---- */

/*
 * Check the support functions of an aggregate. They are not recorded for the check of EXECUTE
 * permission, which concerns the aggregate's owner.
 */
static bool
check_parts(Oid function, EmogiAnalysisState *state)
{
	HeapTuple	row = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(function));
	bool		refused = false;

	if (!HeapTupleIsValid(row))
		return emogi_cacheability_refuse(state, "aggregate %u does not exist", function);
	add_row(state, row);
	{
		Form_pg_aggregate parts = (Form_pg_aggregate) GETSTRUCT(row);
		const Oid	oids[] = {
			parts->aggtransfn, parts->aggfinalfn, parts->aggcombinefn, parts->aggserialfn,
				parts->aggdeserialfn,
			parts->aggmtransfn, parts->aggminvtransfn, parts->aggmfinalfn
		};

		for (int i = 0; i < (int) lengthof(oids) && !refused; i++)
		{
			bool		known = list_member_oid(state->functions, oids[i]);

			if (!OidIsValid(oids[i]) || (is_builtin(function) && is_builtin(oids[i])))
				continue;
			refused = emogi_cacheability_function(oids[i], state);
			if (!known)
				state->functions = list_delete_oid(state->functions, oids[i]);
		}
	}
	ReleaseSysCache(row);
	return refused;
}

/* Refuse a function in an unsupported language. */
static bool
refuse_language(Form_pg_proc proc, EmogiAnalysisState *state)
{
	char	   *language = get_language_name(proc->prolang, true);

	return emogi_cacheability_refuse(state, "function %s is written in %s, and what it reads "
											"cannot "
										   "be seen; write it in SQL",
							  NameStr(proc->proname), language != NULL ? language : "(none)");
}

/* Check a function by its catalog row. */
static bool
check_row(Oid function, HeapTuple row, EmogiAnalysisState *state)
{
	Form_pg_proc proc = (Form_pg_proc) GETSTRUCT(row);

	add_row(state, row);
	state->has_settings |= takes_time_zone(proc);
	if (proc->prokind == PROKIND_AGGREGATE)
		return check_label(function, proc, state) || check_parts(function, state);
	if (proc->prolang == SQLlanguageId && !is_builtin(function))
		return check_body(function, row, state);
	if (proc->prolang != INTERNALlanguageId && proc->prolang != ClanguageId &&
		!is_builtin(function))
		return refuse_language(proc, state);
	return check_label(function, proc, state);
}

/*
 * Check a function that is called with values of rows, and add it to the key; return true if it is
 * refused.
 */
bool
emogi_cacheability_function(Oid function, EmogiAnalysisState *state)
{
	HeapTuple	row;
	bool		refused;

	appendBinaryStringInfo(&state->bytes, (char *) &function, sizeof function);
	if (list_member_oid(state->functions, function))
		return false;
	state->functions = lappend_oid(state->functions, function);
	row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(row))
		return emogi_cacheability_refuse(state, "function %u does not exist", function);
	refused = check_row(function, row, state);
	ReleaseSysCache(row);
	return refused;
}

/* Check that the caller may execute all functions of a query (Q18); return true if not. */
bool
emogi_cacheability_execute(EmogiAnalysisState *state)
{
	ListCell   *cell;

	if (emogi_faults.analysis[EMOGI_ANALYSIS_PRIVILEGES])
		return false;
	foreach(cell, state->functions)
		if (emogi_compat_may_execute(lfirst_oid(cell)) != ACLCHECK_OK)
			return emogi_cacheability_refuse(state, "it may not be read by this role");
	return false;
}
