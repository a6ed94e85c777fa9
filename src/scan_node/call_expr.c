/*
 * call_expr.c: what a call's expression tells before execution: which of the extension's functions
 * it calls, and its constant arguments
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/dependency.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "optimizer/planmain.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "base/sql_version.h"

/* ---- functions ---- */

/*
 * Get the name of a function's C entry point; NULL if it has none, or if ALTER FUNCTION has given
 * it a property that only the executor implements: STRICT, SECURITY DEFINER, SET.
 */
static char *
get_symbol(Oid function)
{
	char	   *symbol = NULL;
	Form_pg_proc proc;
	HeapTuple	tuple;

	if (function < FirstNormalObjectId)
		return NULL;
	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	if (!HeapTupleIsValid(tuple))
		return NULL;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	if (proc->prolang == ClanguageId && !proc->proisstrict && !proc->prosecdef &&
		heap_attisnull(tuple, Anum_pg_proc_proconfig, NULL))
	{
		bool		isnull;
		Datum		source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &isnull);

		if (!isnull)
			symbol = TextDatumGetCString(source);
	}
	ReleaseSysCache(tuple);
	return symbol;
}

/* A function of the extension that this session has looked up in the catalogs. */
typedef struct Member
{
	Oid			oid;			/* InvalidOid = none */
	const EmogiAlgorithmRow *algorithm; /* NULL = it has none */
	bool		is_path;		/* it is emogi_shortest_path */
	bool		are_paths;		/* it is emogi_shortest_paths */
	const EmogiStoredFunction *stored;	/* NULL = it is not one of these */
	TupleDesc	rows;			/* row type, in TopMemoryContext; NULL = not looked up */
} Member;

/* Members, hashed by the last bits of their OIDs. A lookup takes two catalog scans. */
static Member members[128];
static uint64 nchanges = 0;		/* of functions */

/* Invalidate the members after a change of a function. */
static void
forget_members(Datum arg, int cache, uint32 hash)
{
	for (int i = 0; i < (int) lengthof(members); i++)
		if (members[i].rows != NULL)
			FreeTupleDesc(members[i].rows);
	memset(members, 0, sizeof members);
	nchanges++;
}

/* Watch for changes of functions; must precede the first lookup. */
static void
watch_functions(void)
{
	static bool is_watching = false;

	if (!is_watching)
		CacheRegisterSyscacheCallback(PROCOID, forget_members, (Datum) 0);
	is_watching = true;
}

/*
 * Find a function among the members of the extension with an SQL version that this library
 * supports; NULL if it is not one, or only the executor can run it. Valid until the next call. A
 * session may still treat a function as a member after it was removed, if it has called it before.
 * Functions of other SQL versions are left to the executor; they report the version when called.
 */
static const Member *
find_member(Oid function)
{
	static Member found;
	Member	   *member = &members[function % lengthof(members)];
	uint64		nchanges_before;
	char	   *extension;
	char	   *symbol;

	if (OidIsValid(function) && member->oid == function)
		return member;
	watch_functions();
	nchanges_before = nchanges;
	symbol = get_symbol(function);
	if (symbol == NULL || strncmp(symbol, "emogi_", strlen("emogi_")) != 0)
		return NULL;
	extension = get_extension_name(getExtensionOfObject(ProcedureRelationId, function));
	if (extension == NULL || strcmp(extension, "emogi") != 0 || !emogi_sql_version_is_served())
		return NULL;
	found = (Member) {.oid = function,
					  .algorithm = emogi_algorithm_named(symbol + strlen("emogi_")),
					  .is_path = strcmp(symbol, "emogi_shortest_path") == 0,
					  .are_paths = strcmp(symbol, "emogi_shortest_paths") == 0,
					  .stored = emogi_stored_function_named(symbol + strlen("emogi_"))};
	if (nchanges != nchanges_before)
		return &found;
	if (member->rows != NULL)
		FreeTupleDesc(member->rows);
	*member = found;
	return member;
}

/* Does the row type of a function depend on the call? */
static bool
is_polymorphic(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	TupleDesc	declared = HeapTupleIsValid(tuple) ? build_function_result_tupdesc_t(tuple) : NULL;
	bool		found = declared == NULL;

	for (int i = 0; declared != NULL && i < declared->natts; i++)
		found |= IsPolymorphicType(TupleDescAttr(declared, i)->atttypid);
	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return found;
}

/* Keep a copy of the row type of a function if it is a member, and does not depend on the call. */
static void
keep_row_type(Oid function, TupleDesc desc)
{
	Member	   *member = &members[function % lengthof(members)];
	MemoryContext old;

	if (is_polymorphic(function) || member->oid != function || member->rows != NULL)
		return;
	old = MemoryContextSwitchTo(TopMemoryContext);
	desc = CreateTupleDescCopy(desc);
	MemoryContextSwitchTo(old);
	if (member->oid == function)
		member->rows = desc;
	else
		FreeTupleDesc(desc);
}

/* Get a copy of the row type of a call of one of the extension's functions; NULL if none. */
TupleDesc
emogi_call_expr_row_type(const FuncExpr *call)
{
	const Member *member = find_member(call->funcid);
	TupleDesc	desc;

	if (member != NULL && member->rows != NULL)
		return CreateTupleDescCopy(member->rows);
	if (get_expr_result_type((Node *) call, NULL, &desc) != TYPEFUNC_COMPOSITE)
		return NULL;
	keep_row_type(call->funcid, desc);
	return desc;
}

/* Get the algorithm of a function in the catalog; NULL if it has none. */
const EmogiAlgorithmRow *
emogi_call_expr_algorithm(Oid function)
{
	const Member *member = find_member(function);

	return member != NULL ? member->algorithm : NULL;
}

/* Is a function one of the extension's? */
bool
emogi_call_expr_is_ours(Oid function)
{
	return find_member(function) != NULL;
}

/* Is a function emogi_shortest_path, whose rows are the steps of one path? */
bool
emogi_call_expr_is_path(Oid function)
{
	const Member *member = find_member(function);

	return member != NULL && member->is_path;
}

/* Is a function emogi_shortest_paths, whose rows are the steps of several paths? */
bool
emogi_call_expr_is_paths(Oid function)
{
	const Member *member = find_member(function);

	return member != NULL && member->are_paths;
}

/*
 * Get the row function of a function in the catalog: its algorithm, or emogi_path_function; NULL if
 * it is neither, or returns a number.
 */
const EmogiAlgorithmRow *
emogi_call_expr_function(Oid function)
{
	const EmogiAlgorithmRow *found = emogi_call_expr_algorithm(function);

	if (found == NULL && emogi_call_expr_is_path(function))
		found = &emogi_path_function;
	return found != NULL && !emogi_shape_is_number(found->shape) ? found : NULL;
}

/*
 * Get the row of a call of a function that stores all its rows, or returns one number; NULL if it
 * is neither. *collects: as in EmogiTask.
 */
const EmogiAlgorithmRow *
emogi_call_expr_stored(const FuncExpr *call, EmogiIndexSearchKind *collects)
{
	const Member *member = find_member(call->funcid);
	const EmogiStoredFunction *stored = member != NULL ? member->stored : NULL;

	*collects = EMOGI_SEARCHES;
	if (member != NULL && member->algorithm != NULL)
		return emogi_shape_is_number(member->algorithm->shape) ? member->algorithm : NULL;
	if (stored == NULL)
		return NULL;
	if (stored->of_pairs != NULL &&
		!OidIsValid(get_element_type(exprType(lsecond(call->args)))))
		stored = stored->of_pairs;
	*collects = stored->collects;
	return &stored->row;
}

/* Get the function call that a FROM item consists of; NULL if it is anything else. */
static FuncExpr *
find_call(const RangeTblEntry *rte)
{
	RangeTblFunction *item;

	if (rte->rtekind != RTE_FUNCTION || rte->funcordinality || list_length(rte->functions) != 1)
		return NULL;
	item = linitial_node(RangeTblFunction, rte->functions);
	return IsA(item->funcexpr, FuncExpr) && item->funccolnames == NIL ?
		(FuncExpr *) item->funcexpr : NULL;
}

/*
 * Get the call of one of the extension's functions that a FROM item consists of; NULL if it is
 * anything else, or stores all its rows.
 */
FuncExpr *
emogi_call_expr_of(const RangeTblEntry *rte, const EmogiAlgorithmRow **function)
{
	FuncExpr   *call = find_call(rte);

	if (call == NULL)
		return NULL;
	*function = emogi_call_expr_function(call->funcid);
	return *function != NULL ? call : NULL;
}

/* The same, for functions that store all their rows. */
FuncExpr *
emogi_call_expr_of_stored(const RangeTblEntry *rte)
{
	FuncExpr   *call = find_call(rte);
	EmogiIndexSearchKind collects;

	return call != NULL && emogi_call_expr_stored(call, &collects) != NULL ? call : NULL;
}

/* ---- constant arguments ---- */

/* Get one of the last arguments of a call, counted from the end. */
static const Const *
last_argument(const FuncExpr *call, int from_end)
{
	return list_nth(call->args, list_length(call->args) - from_end);
}

/* Has a call no filter? */
bool
emogi_call_expr_is_unfiltered(const FuncExpr *call)
{
	const Const *filter = last_argument(call, 2);
	const Const *params = last_argument(call, 1);

	return IsA(filter, Const) && filter->constisnull && IsA(params, Const) && params->constisnull;
}

/*
 * Read a call's filter; return false if it is not constant. Raises the errors of values, which the
 * call would raise.
 */
static bool
read_filter(const FuncExpr *call, EmogiGraphArgument *graph)
{
	const Const *filter = last_argument(call, 2);
	const Const *params = last_argument(call, 1);

	if (!IsA(filter, Const) || !IsA(params, Const))
		return false;
	graph->filter = emogi_arguments_make_filter(filter->constisnull ? NULL :
												TextDatumGetCString(filter->constvalue),
												params->constvalue, params->consttype,
												params->constisnull);
	return true;
}

/*
 * Read a call's graph argument, except its text for display, and its filter; return false if they
 * are not constant, or the graph is NULL. Raises errors only for a filter.
 */
bool
emogi_call_expr_graph(const FuncExpr *call, EmogiGraphArgument *graph)
{
	const Const *argument = linitial(call->args);
	const Const *columns = last_argument(call, EMOGI_FILTER_ARGUMENTS + 1);

	memset(graph, 0, sizeof *graph);
	if (!IsA(argument, Const) || argument->constisnull ||
		(!emogi_call_expr_is_unfiltered(call) && !read_filter(call, graph)))
		return false;
	if (argument->consttype != REGCLASSOID)
	{
		graph->text = TextDatumGetCString(argument->constvalue);
		return true;
	}
	graph->is_relation = true;
	graph->relid = DatumGetObjectId(argument->constvalue);
	if (!IsA(columns, Const))
		return false;
	if (!columns->constisnull)
		graph->columns = TextDatumGetCString(columns->constvalue);
	return true;
}

/* Does a call ask for weights, as far as is known, although its algorithm does not require them? */
static bool
is_weighted(const FuncExpr *call, const EmogiAlgorithmRow *row)
{
	const int	place = emogi_algorithm_takes(row, EMOGI_WEIGHTED);
	const Const *argument = place >= 0 && place + 1 < list_length(call->args) ?
		list_nth(call->args, place + 1) : NULL;

	return argument != NULL && IsA(argument, Const) && argument->consttype == BOOLOID &&
		!argument->constisnull && DatumGetBool(argument->constvalue);
}

/*
 * Get the text of a call's query of pairs, NULL if it has none; return false if the argument is not
 * constant.
 */
bool
emogi_call_expr_pairs(const FuncExpr *call, const EmogiAlgorithmRow *function, char **query)
{
	const int	place = emogi_algorithm_takes(function, EMOGI_PAIRS);
	const Const *argument = place >= 0 ? list_nth(call->args, place + 1) : NULL;

	*query = NULL;
	if (argument == NULL)
		return true;
	if (!IsA(argument, Const))
		return false;
	if (!argument->constisnull)
		*query = TextDatumGetCString(argument->constvalue);
	return true;
}

/*
 * Set the cache lookup of a call's graph, except the relation and its columns, as far as the
 * arguments are constant.
 */
void
emogi_call_expr_graph_key(const FuncExpr *call, const EmogiAlgorithmRow *function,
						  EmogiDirection direction, EmogiGraphKey *lookup)
{
	EmogiTask	task = {.direction = direction,.query.algorithm = function->algorithm};

	task.query.is_weighted = is_weighted(call, function);
	task.with_backward = function->shape == EMOGI_SHAPE_STEPS ||
		function->shape == EMOGI_SHAPE_DISTANCES;
	(void) emogi_call_expr_pairs(call, function, &task.pairs);
	emogi_task_graph_key(&task, lookup);
}

/* Get the weights that the graph of a call has, if there are any. */
static EmogiWantedWeight
wanted_weight(const FuncExpr *call, EmogiAlgorithm algorithm)
{
	EmogiTask	task = {.query.algorithm = algorithm};
	EmogiGraphKey lookup;

	task.query.is_weighted = is_weighted(call, emogi_algorithm_row(algorithm));
	emogi_task_graph_key(&task, &lookup);
	return emogi_source_wanted_weight(lookup.weights);
}

/*
 * Find the relation that a call names; return false if it is unknown, or the caller may not read it
 * as a table.
 */
bool
emogi_call_expr_source(const FuncExpr *call, EmogiAlgorithm algorithm, EmogiSource *source)
{
	EmogiGraphArgument graph;

	return emogi_shared_is_there() && emogi_call_expr_graph(call, &graph) &&
		emogi_source_peek(&graph, wanted_weight(call, algorithm), source);
}

/* Find the query that a call names, or its graph argument becomes; return false if it is none. */
bool
emogi_call_expr_query(const FuncExpr *call, EmogiAlgorithm algorithm, EmogiSource *source)
{
	EmogiGraphArgument *graph;

	if (!emogi_shared_is_there())
		return false;
	graph = palloc(sizeof *graph);
	return emogi_call_expr_graph(call, graph) &&
		emogi_source_peek_query(graph, wanted_weight(call, algorithm), source);
}

/* Find the key type of the graph that a call names; return false if it is unknown. */
bool
emogi_call_expr_key(const FuncExpr *call, EmogiAlgorithm algorithm, EmogiKeyType *key)
{
	EmogiSource source;

	if (!emogi_call_expr_source(call, algorithm, &source))
		return false;
	*key = source.key;
	return OidIsValid(key->type);
}

/*
 * Find the key type of the graph that a call names, which may be a query if its graph is cached;
 * return false if it is unknown. Add what the answer depends on to the plan's dependencies.
 */
bool
emogi_call_expr_plan_keys(PlannerInfo *root, const FuncExpr *call, EmogiAlgorithm algorithm,
						  EmogiKeyType *key)
{
	EmogiSource source;
	EmogiQuerySize estimate;
	ListCell   *cell;

	if (emogi_call_expr_source(call, algorithm, &source))
	{
		*key = source.key;
		if (OidIsValid(key->type))
			root->glob->relationOids = list_append_unique_oid(root->glob->relationOids,
															  source.relid);
		return OidIsValid(key->type);
	}
	if (!emogi_call_expr_query(call, algorithm, &source) ||
		!emogi_query_size_get(&source, &estimate) || !estimate.is_cached)
		return false;
	*key = estimate.keys;
	root->glob->relationOids = list_concat_unique_oid(root->glob->relationOids,
													  estimate.relations);
	foreach(cell, estimate.functions)
		record_plan_function_dependency(root, lfirst_oid(cell));
	return OidIsValid(key->type);
}

/*
 * Get the edge direction that a call asks for; return false if it is not constant, or the algorithm
 * has no such argument.
 */
bool
emogi_call_expr_direction(const FuncExpr *call, const EmogiAlgorithmRow *function,
						  EmogiDirection *direction)
{
	const int	place = emogi_algorithm_takes(function, EMOGI_DIRECTION);
	const Const *given = place >= 0 ? list_nth(call->args, place + 1) : NULL;

	if (given == NULL || !IsA(given, Const))
		return false;
	*direction = (EmogiDirection) function->parameters[place].default_value;
	return given->constisnull ||
		emogi_arguments_direction_named(TextDatumGetCString(given->constvalue), direction);
}

/* Get a constant integer or double argument; +inf if it is NULL or not constant. */
double
emogi_call_expr_number(const Node *node)
{
	const Const *constant = (const Const *) node;
	double		integer;

	if (IsA(node, Const) && constant->consttype == FLOAT8OID && !constant->constisnull)
		return DatumGetFloat8(constant->constvalue);
	integer = emogi_call_expr_integer(node);
	return integer >= 0 ? integer : (double) INFINITY;
}

/* Get a constant integer argument; -1 if it is NULL or not constant. */
double
emogi_call_expr_integer(const Node *node)
{
	const Const *constant = (const Const *) node;

	if (!IsA(node, Const) || constant->constisnull)
		return -1;
	switch (constant->consttype)
	{
		case INT2OID:
			return DatumGetInt16(constant->constvalue);
		case INT4OID:
			return DatumGetInt32(constant->constvalue);
		case INT8OID:
			return (double) DatumGetInt64(constant->constvalue);
		default:
			return -1;
	}
}
