/*
 * join_lookup.c: execution of a join with a call's rows by `vertex` (join_lookup_plan.c plans it)
 *
 * The run is that of a scan (scan.c) and starts with the first outer row. The call's rows are not
 * materialized, sorted or hashed. A vertex has at most one row, so each outer row is returned at
 * most once: joined with the call's columns, with NULLs in their place, or alone.
 *
 * After many lookups of integers, a set of the keys that have a row is built, or a map of all keys
 * if columns of the call are needed (key_map.c). Before that, and for other keys, a lookup searches
 * the graph's keys.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "scan_node/key_map.h"
#include "scan_node/join_lookup.h"
#include "scan_node/scan.h"
#include "base/compat.h"

/*
 * A set or map is built after LOOKUPS_BEFORE_MAP lookups, and one more for every VERTICES_A_LOOKUP
 * vertices: by then it costs no more than the lookups did.
 */
#define LOOKUPS_BEFORE_MAP 256
#define VERTICES_A_LOOKUP 1024

typedef struct Lookup
{
	EmogiScan	scan;			/* must be first: this node is a scan; its tuple starts with the
								 * outer row */
	PlanState  *outer;
	int			nouter;			/* columns of the outer plan */
	JoinType	join;
	ExprState  *key;			/* expression over the outer row that is compared with `vertex` */
	AttrNumber	key_column;		/* outer column that the expression consists of; 0 = any other
								 * expression */
	Oid			key_type;
	ExprState  *filter;			/* further conditions on a pair of rows; NULL = none */
	uint64		nlookups;		/* in the current run */
	uint64		run;			/* number of the current run, from scan.nruns */
	MemoryContext map_context;
	EmogiKeySet *members;		/* keys of the call's rows, if no columns are needed; NULL = not
								 * built */
	EmogiKeyMap *map;			/* of all keys; NULL = not built */
} Lookup;

/* ---- lookups ---- */

/* Build the set of the keys that have a row in the current run, if it fits into max_bytes. */
static void
build_set(Lookup *lookup, Size max_bytes)
{
	const EmogiScan *scan = &lookup->scan;
	const EmogiGraph *graph = &scan->graph;
	uint8		mask[EMOGI_BLOCK_VERTICES];

	lookup->members = emogi_key_set_make(graph->ids[0], graph->ids[graph->nvertices - 1],
										 max_bytes);
	for (uint64 v = 0; lookup->members != NULL && v < graph->nvertices; v += EMOGI_BLOCK_VERTICES)
	{
		const uint32 count = (uint32) Min(graph->nvertices - v, EMOGI_BLOCK_VERTICES);

		(void) emogi_ranges_select(&scan->ranges, scan->function->columns, &scan->result, v, count,
								   mask);
		for (uint32 i = 0; i < count; i++)
			if (mask[i] != 0)
				emogi_key_set_add(lookup->members, graph->ids[v + i]);
	}
}

/*
 * Build a set or map for the current run once there were enough lookups. It may use the memory
 * limit of a hash table.
 */
static void
maybe_build_map(Lookup *lookup)
{
	const EmogiGraph *graph = &lookup->scan.graph;
	MemoryContext old;

	if (lookup->nlookups++ != LOOKUPS_BEFORE_MAP + graph->nvertices / VERTICES_A_LOOKUP ||
		lookup->scan.form->kind != EMOGI_KEY_IO_INTEGER || graph->ids == NULL ||
		graph->nvertices == 0)
		return;
	old = MemoryContextSwitchTo(lookup->map_context);
	if (lookup->scan.ncolumns == 0)
		build_set(lookup, get_hash_memory_limit());
	if (lookup->members == NULL)
		lookup->map = emogi_key_map_make(graph->ids, graph->nvertices, get_hash_memory_limit());
	MemoryContextSwitchTo(old);
}

/* Convert the Datum of an integer to its value. */
static inline int64
integer_of(Datum datum, Oid type)
{
	return type == INT8OID ? DatumGetInt64(datum) : type == INT4OID ? DatumGetInt32(datum) :
		DatumGetInt16(datum);
}

/* Find the vertex with an integer key if there is no set of members. */
static inline bool
find_integer(const Lookup *lookup, int64 key, uint64 *v)
{
	uint32		number;

	if (lookup->map != NULL)
		return emogi_key_map_find(lookup->map, key, v);
	number = emogi_graph_vertex(&lookup->scan.graph, key);
	*v = number;
	return number != EMOGI_NO_VERTEX;
}

/* Find the vertex with a key of another type. */
static bool
find_key(Lookup *lookup, Datum given, uint64 *v)
{
	EmogiScan  *scan = &lookup->scan;
	MemoryContext old =
		MemoryContextSwitchTo(scan->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	int64		id;
	uint32		number = EMOGI_NO_VERTEX;

	if (emogi_key_io_lookup(scan->form, &scan->graph, given, &id))
		number = emogi_graph_vertex(&scan->graph, id);
	MemoryContextSwitchTo(old);
	*v = number;
	return number != EMOGI_NO_VERTEX;
}

/* Store an outer row in the scan tuple, with NULLs for the call's columns. */
static void
load_outer(Lookup *lookup, TupleTableSlot *outer)
{
	TupleTableSlot *slot = lookup->scan.css.ss.ss_ScanTupleSlot;

	slot_getallattrs(outer);
	ExecClearTuple(slot);
	memcpy(slot->tts_values, outer->tts_values, lookup->nouter * sizeof(Datum));
	memcpy(slot->tts_isnull, outer->tts_isnull, lookup->nouter * sizeof(bool));
	for (int i = 0; i < lookup->scan.ncolumns; i++)
		slot->tts_isnull[lookup->nouter + i] = true;
	ExecStoreVirtualTuple(slot);
	lookup->scan.css.ss.ps.ps_ExprContext->ecxt_scantuple = slot;
}

/*
 * Get the key that an outer row looks up. Store the row in the scan tuple if that is needed to
 * compute the key.
 */
static inline NullableDatum
key_of(Lookup *lookup, TupleTableSlot *outer)
{
	ExprContext *context = lookup->scan.css.ss.ps.ps_ExprContext;
	NullableDatum key;

	if (lookup->key_column > 0)
	{
		key.value = slot_getattr(outer, lookup->key_column, &key.isnull);
		return key;
	}
	load_outer(lookup, outer);
	key.value = ExecEvalExprSwitchContext(lookup->key, context, &key.isnull);
	return key;
}

/* Find the call's row for an outer row. */
static bool
find_row(Lookup *lookup, TupleTableSlot *outer, uint64 *v)
{
	EmogiScan  *scan = &lookup->scan;
	const NullableDatum key = key_of(lookup, outer);

	if (key.isnull || scan->call == NULL)
		return false;
	maybe_build_map(lookup);
	if (lookup->members != NULL)
		return emogi_key_set_has(lookup->members, integer_of(key.value, lookup->key_type));
	if (!(scan->form->kind == EMOGI_KEY_IO_INTEGER ?
		  find_integer(lookup, integer_of(key.value, lookup->key_type), v) :
		  find_key(lookup, key.value, v)))
		return false;
	return emogi_scan_has_row(scan, *v);
}

/* ---- rows ---- */

/* Ensure a current run: start a new one if the arguments have changed. */
static void
ensure_run(Lookup *lookup)
{
	EmogiScan  *scan = &lookup->scan;

	emogi_scan_run(scan);
	if (scan->call != NULL && !emogi_key_io_can_lookup(&scan->form->coder.key, scan->form->type))
		emogi_inputs_report_keys();
	scan->started = true;
	if (lookup->run == scan->nruns)
		return;
	lookup->run = scan->nruns;
	lookup->nlookups = 0;
	lookup->members = NULL;
	lookup->map = NULL;
	MemoryContextReset(lookup->map_context);
}

/* Store the call's columns for a vertex after the outer row in the scan tuple. */
static void
put_columns(Lookup *lookup, uint64 v)
{
	EmogiScan  *scan = &lookup->scan;
	TupleTableSlot *slot = scan->css.ss.ss_ScanTupleSlot;
	MemoryContext old =
		MemoryContextSwitchTo(scan->css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

	for (int i = 0; i < scan->ncolumns; i++)
	{
		const int	column = scan->columns[i];

		slot->tts_values[lookup->nouter + i] = column == 0 ?
			emogi_rows_vertex(scan->form, &scan->graph, v) :
			emogi_rows_column(scan->function->columns, scan->form, &scan->graph, &scan->result, v,
							  column - 1);
		slot->tts_isnull[lookup->nouter + i] = false;
	}
	MemoryContextSwitchTo(old);
}

/* Reset the call's columns in the scan tuple to NULL. */
static void
clear_columns(Lookup *lookup)
{
	memset(lookup->scan.css.ss.ss_ScanTupleSlot->tts_isnull + lookup->nouter, true,
		   lookup->scan.ncolumns * sizeof(bool));
}

/*
 * Does a vertex's row match the outer row in the scan tuple? If so, its columns are stored there,
 * too.
 */
static bool
matches(Lookup *lookup, uint64 v)
{
	put_columns(lookup, v);
	if (lookup->filter == NULL || ExecQual(lookup->filter, lookup->scan.css.ss.ps.ps_ExprContext))
	{
		lookup->scan.call->record.nrows++;
		return true;
	}
	InstrCountFiltered1(&lookup->scan.css, 1);
	clear_columns(lookup);
	return false;
}

/* Does the join discard outer rows without a match? */
static inline bool
requires_match(JoinType join)
{
	return join == JOIN_INNER || join == JOIN_SEMI;
}

/*
 * Store an outer row in the scan tuple, joined with the call's row if there is one; return false if
 * the join discards it.
 */
static bool
join_row(Lookup *lookup, TupleTableSlot *outer)
{
	uint64		v = 0;
	const bool	found = find_row(lookup, outer, &v);

	if (!found && requires_match(lookup->join))
		return false;
	if (lookup->key_column > 0)
		load_outer(lookup, outer);
	return (found && matches(lookup, v)) == (lookup->join != JOIN_ANTI) ||
		lookup->join == JOIN_LEFT;
}

/* Return the next row. */
static TupleTableSlot *
exec_lookup(CustomScanState *node)
{
	Lookup	   *lookup = (Lookup *) node;
	TupleTableSlot *slot = node->ss.ss_ScanTupleSlot;

	for (;;)
	{
		TupleTableSlot *outer = ExecProcNode(lookup->outer);

		CHECK_FOR_INTERRUPTS();
		if (!TupIsNull(outer) && !lookup->scan.started)
			ensure_run(lookup);
		if (TupIsNull(outer) || (lookup->scan.call == NULL && requires_match(lookup->join)))
			return ExecClearTuple(node->ss.ps.ps_ProjInfo != NULL ? node->ss.ps.ps_ResultTupleSlot :
								  slot);
		ResetExprContext(node->ss.ps.ps_ExprContext);
		if (join_row(lookup, outer))
			return node->ss.ps.ps_ProjInfo != NULL ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
	}
}

/* ---- startup and shutdown ---- */

static void
begin_lookup(CustomScanState *node, EState *estate, int eflags)
{
	Lookup	   *lookup = (Lookup *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	const List *join = list_nth(plan->custom_private, EMOGI_PLAN_JOIN);
	const int	nconditions = list_length(list_nth(plan->custom_private, EMOGI_PLAN_PUSHDOWNS));
	Expr	   *key = list_nth(plan->custom_exprs, 1 + nconditions);

	lookup->outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	node->custom_ps = list_make1(lookup->outer);
	emogi_scan_init(&lookup->scan, eflags);
	lookup->scan.keeps = true;
	lookup->nouter = linitial_int(join);
	lookup->join = (JoinType) lsecond_int(join);
	lookup->key = ExecInitExpr(key, &node->ss.ps);
	lookup->key_type = exprType((Node *) key);
	if (IsA(key, Var) && ((Var *) key)->varno == INDEX_VAR &&
		((Var *) key)->varattno <= lookup->nouter)
		lookup->key_column = ((Var *) key)->varattno;
	lookup->filter = ExecInitQual(list_nth(plan->custom_exprs, 2 + nconditions), &node->ss.ps);
	lookup->map_context = AllocSetContextCreate(CurrentMemoryContext, "emogi keys",
												ALLOCSET_DEFAULT_SIZES);
}

static void
end_lookup(CustomScanState *node)
{
	emogi_scan_end(node);
	ExecEndNode(((Lookup *) node)->outer);
}

/* Rescan from the first outer row, perhaps with other parameters. */
static void
rescan_lookup(CustomScanState *node)
{
	Lookup	   *lookup = (Lookup *) node;

	emogi_scan_rescan(node);
	emogi_scan_rescan_outer(node, lookup->outer);
}

/* Show the join in EXPLAIN. */
static void
explain_lookup(CustomScanState *node, List *ancestors, ExplainState *es)
{
	static const char *const joins[] = {[JOIN_INNER] = "inner", [JOIN_LEFT] = "left",
										[JOIN_SEMI] = "semi", [JOIN_ANTI] = "anti"};
	const Lookup *lookup = (Lookup *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	const int	nconditions = list_length(list_nth(plan->custom_private, EMOGI_PLAN_PUSHDOWNS));
	List	   *filter = list_nth(plan->custom_exprs, 2 + nconditions);

	ExplainPropertyText("Join", joins[lookup->join], es);
	ExplainPropertyText("Lookup",
						psprintf("vertex = %s",
								 deparse_expression(list_nth(plan->custom_exprs, 1 + nconditions),
													context, true, false)), es);
	if (filter != NIL)
		ExplainPropertyText("Join Filter", deparse_expression((Node *) make_ands_explicit(filter),
															  context, true, false), es);
	emogi_explain_scan(node, ancestors, es);
}

static const CustomExecMethods exec_methods = {
	.CustomName = "EmogiLookup",
	.BeginCustomScan = begin_lookup,
	.ExecCustomScan = exec_lookup,
	.EndCustomScan = end_lookup,
	.ReScanCustomScan = rescan_lookup,
	.ExplainCustomScan = explain_lookup
};

/* Create the node's state. */
static Node *
create_state(CustomScan *plan)
{
	Lookup	   *lookup = (Lookup *) newNode(sizeof(Lookup), T_CustomScanState);

	lookup->scan.css.methods = &exec_methods;
	return (Node *) lookup;
}

const CustomScanMethods emogi_lookup_methods = {.CustomName = "EmogiLookup",
												.CreateCustomScanState = create_state};
