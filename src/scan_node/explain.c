/*
 * explain.c: EXPLAIN output of scans
 *
 * Before the run: the call, the conditions that the scan evaluates, where the graph will be found,
 * and the requested engine. After it (ANALYZE): the results, summed over all runs if there are
 * several.
 *
 * Other callers print plans, too: auto_explain does so at the end of execution, without a snapshot
 * and perhaps without ANALYZE. The plan has then been run or is running: results are shown without
 * times, and no table is read.
 */
#include "postgres.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "utils/builtins.h"
#include "utils/ruleutils.h"
#include "utils/snapmgr.h"

#include "scan_node/call_expr.h"
#include "scan_node/plan.h"
#include "scan_node/scan.h"
#include "base/subtransaction.h"
#include "base/compat.h"
#include "base/papers_settings.h"

/* Does a condition repeat the next one with another pushdown? */
static bool
is_repeated(const EmogiScan *scan, const CustomScan *plan, int condition)
{
	const EmogiPushdown next = scan->pushdowns[condition + 1];

	return (scan->pushdowns[condition] == EMOGI_BOUND_EXACTLY && next == EMOGI_IS) ||
		(scan->pushdowns[condition] == EMOGI_VERTEX_IS &&
		 (next == EMOGI_IS || next == EMOGI_IS_LIKELY) &&
		 scan->places[condition] == scan->places[condition + 1] &&
		 equal(list_nth(plan->custom_exprs, condition + 1),
			   list_nth(plan->custom_exprs, condition + 2)));
}

/* Get a call for display: without the last arguments if it has no filter. */
static Node *
shown_call(const FuncExpr *call)
{
	FuncExpr   *shown = makeNode(FuncExpr);

	*shown = *call;
	if (emogi_call_expr_is_unfiltered(call))
		shown->args = list_truncate(list_copy(call->args),
									list_length(call->args) - EMOGI_FILTER_ARGUMENTS);
	return (Node *) shown;
}

/* Show the call's filter, with its values if they are constant. */
static void
explain_filter(const FuncExpr *call, List *context, ExplainState *es)
{
	Node	   *given = list_nth(call->args, list_length(call->args) - EMOGI_FILTER_ARGUMENTS);
	EmogiGraphArgument graph;

	if (emogi_call_expr_is_unfiltered(call))
		return;
	if (emogi_call_expr_graph(call, &graph) && graph.filter != NULL)
		ExplainPropertyText("Edge Filter", psprintf("(%s)", graph.filter->condition), es);
	else if (IsA(given, Const) && !((const Const *) given)->constisnull)
		ExplainPropertyText("Edge Filter",
							psprintf("(%s)", TextDatumGetCString(((const Const *) given)->constvalue)),
							es);
	else if (!IsA(given, Const))
		ExplainPropertyText("Edge Filter", deparse_expression(given, context, true, false), es);
}

/* Show the call and the conditions that the scan evaluates. */
static void
explain_conditions(EmogiScan *scan, List *ancestors, ExplainState *es)
{
	CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	static const char *const operators[] = {
		[EMOGI_VERTEX_IS] = "=", [EMOGI_VERTEX_IN] = "= ANY", [EMOGI_BOUND_AT_MOST] = "<=",
		[EMOGI_BOUND_BELOW] = "<",
		[EMOGI_BOUND_EXACTLY] = "=", [EMOGI_IS_BELOW] = "<", [EMOGI_IS_AT_MOST] = "<=",
		[EMOGI_IS] = "=",
		[EMOGI_IS_AT_LEAST] = ">=", [EMOGI_IS_ABOVE] = ">",
		[EMOGI_IS_LIKELY] = "=", [EMOGI_IS_IN] = "= ANY", [EMOGI_IS_NOT] = "<>",
		[EMOGI_MEMBER_OF] = "=", [EMOGI_IS_NULL] = "IS NULL", [EMOGI_IS_NOT_NULL] = "IS NOT NULL",
		[EMOGI_IS_SELF] = "= vertex", [EMOGI_IS_NOT_SELF] = "<> vertex"
	};
	List	   *conditions = NIL;

	ExplainPropertyText("Function Call",
						deparse_expression(shown_call(scan->call_expr), context, true, false), es);
	explain_filter(scan->call_expr, context, es);
	for (int i = 0; i < scan->nconditions; i++)
	{
		char	   *column = strVal(list_nth(list_nth(plan->custom_private, EMOGI_PLAN_NAMES), i));
		char	   *operand = deparse_expression(list_nth(plan->custom_exprs, i + 1), context, true,
												 false);
		bool		any = scan->pushdowns[i] == EMOGI_VERTEX_IN ||
			scan->pushdowns[i] == EMOGI_IS_IN;

		if (i + 1 < scan->nconditions && is_repeated(scan, plan, i))
			continue;
		if (scan->pushdowns[i] >= EMOGI_IS_NULL)
			conditions = lappend(conditions, psprintf("%s %s", quote_identifier(column),
													  operators[scan->pushdowns[i]]));
		else
			conditions = lappend(conditions, psprintf("%s %s %s%s%s", quote_identifier(column),
													  operators[scan->pushdowns[i]], any ? "(" : "",
													  operand, any ? ")" : ""));
	}
	if (conditions != NIL)
		ExplainPropertyList("Pushed Down", conditions, es);
}

/* Show the order and the number of the rows that are picked. */
static void
explain_first(const EmogiScan *scan, const List *spec, ExplainState *es)
{
	List	   *keys = NIL;

	for (int i = 1; i < list_length(spec); i += 2)
	{
		int			place = list_nth_int(spec, i);

		keys = lappend(keys, psprintf("%s%s", place == 0 ? "vertex" :
									  scan->function->columns[place - 1].name,
									  list_nth_int(spec, i + 1) != 0 ? " DESC" : ""));
	}
	ExplainPropertyList("Sort Key", keys, es);
	if (linitial_int(spec) > 0)
		ExplainPropertyInteger("Rows Picked", NULL, linitial_int(spec), es);
}

/* Show what is computed from the rows before they are returned. */
static void
explain_upper(const EmogiScan *scan, ExplainState *es)
{
	const CustomScan *plan = (CustomScan *) scan->css.ss.ps.plan;
	const List *spec;
	int			place;

	if (list_length(plan->custom_private) <= EMOGI_PLAN_UPPER)
		return;
	spec = list_nth(plan->custom_private, EMOGI_PLAN_UPPER);
	if (scan->top != NULL)
	{
		explain_first(scan, spec, es);
		return;
	}
	place = linitial_int(linitial(spec));
	if (place > 0)
		ExplainPropertyText("Group Key", scan->function->columns[place - 1].name, es);
}

/*
 * Get the text of a constant argument, NULL if that is NULL. *known: whether the argument is
 * constant.
 */
static char *
constant_text(const EmogiScan *scan, int n, bool *known)
{
	const Const *constant = (const Const *) scan->inputs[n].expression;

	*known = IsA(constant, Const);
	return *known && !constant->constisnull ? TextDatumGetCString(constant->constvalue) : NULL;
}

/* Get the call's direction; return false if it is not constant, or invalid. */
static bool
constant_direction(const EmogiScan *scan, EmogiDirection *direction)
{
	bool		known = true;
	char	   *text = NULL;

	const int	parameter = emogi_algorithm_takes(scan->function, EMOGI_DIRECTION);

	*direction = EMOGI_OUT;
	if (parameter >= 0)
	{
		*direction = (EmogiDirection) scan->function->parameters[parameter].default_value;
		text = constant_text(scan, parameter + 1, &known);
	}
	return known && (text == NULL || emogi_arguments_direction_named(text, direction));
}

/*
 * Get the maximum depth set by the call and the conditions, as far as they are constant; -1 =
 * unlimited.
 */
static int64
constant_depth(const EmogiScan *scan)
{
	const int	parameter = emogi_algorithm_takes(scan->function, EMOGI_MAX_DEPTH);
	double		depth = parameter < 0 ? -1 :
		emogi_call_expr_integer((Node *) scan->inputs[parameter + 1].expression);

	for (int i = 0; i < scan->nconditions; i++)
	{
		double		bound = emogi_call_expr_integer((Node *)
													scan->inputs[scan->ninputs -
																 scan->nconditions + i].expression);

		if (scan->pushdowns[i] == EMOGI_BOUND_BELOW)
			bound--;
		if (scan->pushdowns[i] > EMOGI_VERTEX_IN && scan->pushdowns[i] <= EMOGI_BOUND_EXACTLY &&
			bound >= 0 && (depth < 0 || bound < depth))
			depth = bound;
	}
	return depth < 0 ? -1 : (int64) Min(depth, PG_INT32_MAX);
}

/* Return the edges that the call requests, see neighborhood_call.c. */
static EmogiIndexSearchKind
collects(const EmogiScan *scan)
{
	if (scan->is_stored)
		return scan->collects;
	if (scan->function->shape == EMOGI_SHAPE_STEPS)
		return EMOGI_COLLECTS_PATHS;
	return scan->is_batch ? EMOGI_COLLECTS_WALKS : EMOGI_SEARCHES;
}

/* Does a condition name components of emogi_cc? */
static bool
names_components(const EmogiScan *scan)
{
	if ((scan->function->traits & EMOGI_KEEPS_COMPONENTS) == 0)
		return false;
	for (int i = 0; i < scan->nconditions; i++)
		if (scan->places[i] > 0 &&
			(scan->pushdowns[i] == EMOGI_IS || scan->pushdowns[i] == EMOGI_IS_LIKELY ||
			 scan->pushdowns[i] == EMOGI_IS_IN))
			return true;
	return false;
}

/*
 * Return a query of pairs, whose text does not matter here, if a call whose rows are not stored is
 * given one; otherwise NULL. If the argument is not constant, it is assumed to be one.
 */
static char *
given_pairs(const EmogiScan *scan)
{
	static char any[] = "";
	const int	place = scan->is_stored ? -1 :
		emogi_algorithm_takes(scan->function, EMOGI_PAIRS);
	const Const *pairs = place >= 0 ? list_nth(scan->call_expr->args, place + 1) : NULL;

	return pairs != NULL && (!IsA(pairs, Const) || !pairs->constisnull) ? any : NULL;
}

/* Ask who will answer the call, as far as it is constant. */
static void
ask(const EmogiScan *scan, EmogiQuestion *question)
{
	const bool	is_path = scan->function->shape == EMOGI_SHAPE_STEPS;
	EmogiTask	task = {
		.query = {.algorithm = scan->function->algorithm,.max_depth = constant_depth(scan),
				  .max_distance = (double) INFINITY},
		.has_targets = is_path || (scan->vertex_input >= 0 && !scan->looks_up),
		.has_components = names_components(scan),
		.pairs = given_pairs(scan),
		.collects = collects(scan),
		.last_is_target = is_path,
		.is_shared = scan->is_shared && !scan->tries_local_search
	};

	emogi_task_ask(&task, question);
}

/*
 * Describe the index search that a call may run instead of building its graph; return false if it
 * may not.
 */
static bool
describe_index_search(const EmogiScan *scan, const EmogiTask *task, EmogiIndexSearch *search)
{
	EmogiTask	bounded = *task;
	EmogiQuestion question;

	bounded.query.max_depth = constant_depth(scan);
	bounded.query.max_distance = (double) INFINITY;
	bounded.has_sources = emogi_algorithm_takes(scan->function, EMOGI_SOURCES) >= 0;
	bounded.has_targets = scan->vertex_input >= 0 && !scan->looks_up;
	bounded.has_components = names_components(scan);
	bounded.pairs = given_pairs(scan);
	bounded.collects = collects(scan);
	ask(scan, &question);
	*search = (EmogiIndexSearch) {
		.direction = task->direction,
		.max_depth = constant_depth(scan),
		.nsources = 1,
		.targeted = bounded.has_targets
	};
	if (emogi_answer_can(EMOGI_ANSWERER_INDEX, &question) &&
		!emogi_neighborhood_call_is_answer(&bounded))
		return true;
	emogi_neighborhood_call_describe(&bounded, search);
	return emogi_neighborhood_call_may_serve(&bounded);
}

/* Names of a search over indexes, and of a graph of the edges that it collects. */
static const char *const search_names[] = {"index", "neighborhood by index"};

/* Is it unknown before execution whether a search over indexes will succeed? */
static bool
is_doubtful(const EmogiScan *scan, const EmogiIndexSearch *search)
{
	/* the number of pairs is that of the rows of a query */
	return search->is_doubtful || search->is_paired ||
		(scan->is_stored && emogi_algorithm_takes(scan->function, EMOGI_PAIRS) >= 0);
}

/* What is known before execution about where a call will find its graph */
typedef struct GraphForecast
{
	const EmogiGraphArgument *graph;
	const EmogiGraphKey *lookup;
	EmogiIndexSearch *search;	/* NULL = not possible for this call */
	EmogiGraphOrigin origin;
	const char *why_private;
} GraphForecast;

/* Find out where a call will find its graph. Raises the errors of an invalid call. */
static void
find_outcome(void *context)
{
	GraphForecast *forecast = context;
	EmogiSource source;

	emogi_source_resolve(forecast->graph, emogi_source_wanted_weight(forecast->lookup->weights),
						 &source);
	forecast->origin = emogi_explain_graph(&source, forecast->lookup, forecast->search,
											&forecast->why_private);
}

/* Are all arguments of the call constant? */
static bool
is_constant(const FuncExpr *call)
{
	ListCell   *cell;

	foreach(cell, call->args)
		if (!IsA(lfirst(cell), Const))
			return false;
	return true;
}

/*
 * Show who will answer the call, and why, if its arguments are constant. Paths that are stored may
 * be found by several.
 */
static void
explain_answerers(const EmogiScan *scan, const GraphForecast *forecast, ExplainState *es)
{
	EmogiQuestion question;
	EmogiGraphSize size;

	if (!is_constant(scan->call_expr) ||
		(scan->is_stored && scan->function->shape != EMOGI_SHAPE_SCALAR))
		return;
	ask(scan, &question);
	if (!emogi_size_probe_ask(scan->call_expr, scan->function, forecast->lookup, &question))
	{
		if (!emogi_size_find(NULL, scan->call_expr, scan->function->algorithm, &size))
			return;
		question.has_graph = true;
		question.nvertices = (uint64) size.nvertices;
		question.nedges = (uint64) size.nedges;
	}
	if (forecast->origin == EMOGI_GRAPH_INDEX)
		question.graph_us = question.nedges * EMOGI_COST_BUILD_EDGE_US;
	else
		question.gave_up = 1u << EMOGI_ANSWERER_INDEX;
	ExplainPropertyText("Answered By", emogi_answer_explain(&question), es);
}

/*
 * Show where the call will find its graph, if its arguments are constant and it would raise no
 * error.
 */
static void
explain_forecast(EmogiScan *scan, ExplainState *es)
{
	static const char *const origins[] = {
		[EMOGI_GRAPH_FOUND] = "cached", [EMOGI_GRAPH_MERGED] = "cached, to be refreshed",
		[EMOGI_GRAPH_BUILT] = "to be built",
		[EMOGI_GRAPH_PRIVATE] = "to be built for this call alone"
	};
	EmogiTask	task = {.query.algorithm = scan->function->algorithm};
	EmogiGraphKey lookup = {0};
	EmogiGraphArgument graph;
	EmogiIndexSearch search;
	GraphForecast forecast = {&graph, &lookup};

	if (!emogi_call_expr_graph(scan->call_expr, &graph) ||
		!constant_direction(scan, &task.direction))
		return;
	emogi_call_expr_graph_key(scan->call_expr, scan->function, task.direction, &lookup);
	if (describe_index_search(scan, &task, &search))
		forecast.search = &search;
	if (emogi_source_is_missing(&graph))
		ExplainPropertyText("Graph", "no such relation", es);
	else if (emogi_subtransaction_try(find_outcome, &forecast))
	{
		ExplainPropertyText("Graph", forecast.origin == EMOGI_GRAPH_INDEX ?
							psprintf("%s %s%s%s", search_names[emogi_index_search_collects(search.kind)],
									 search.names,
									 is_doubtful(scan, &search) ? ", or " : "",
									 !is_doubtful(scan, &search) ? "" :
									 origins[forecast.why_private != NULL ? EMOGI_GRAPH_PRIVATE :
											 EMOGI_GRAPH_BUILT]) :
							origins[forecast.origin], es);
		if (forecast.search != NULL && search.missing_constraint != NULL)
			ExplainPropertyText("Index Search",
								psprintf("needs %s", search.missing_constraint), es);
		if (forecast.why_private != NULL)
			ExplainPropertyText("Cache", psprintf("bypassed (%s)", forecast.why_private), es);
		if (emogi_explain_is_detailed(es))
			explain_answerers(scan, &forecast, es);
	}
}

/* Show a time; as text only if it does not round to 0. */
static void
explain_time(const char *label, double ms, ExplainState *es)
{
	if (es->format != EXPLAIN_FORMAT_TEXT || ms >= 0.0005)
		ExplainPropertyFloat(label, "ms", ms, 3, es);
}

/* Show the times of all runs, and the rates computed from them. */
static void
explain_times(const EmogiCallRecord *total, ExplainState *es)
{
	explain_time("Wait Time", total->wait_ms, es);
	explain_time("Scan Time", total->scan_ms, es);
	explain_time("Keys Time", total->keys_ms, es);
	explain_time("CSR Time", total->csr_ms, es);
	explain_time("Transfer Time", total->transfer_ms, es);
	explain_time("Run Time", total->run_ms, es);
	if (total->rows_ms > 0)		/* of names, and of all rows of a stored scan */
		explain_time("Rows Time", total->rows_ms, es);
	if (total->run_ms > 0)
		ExplainPropertyFloat("Traversal Rate", "edges/s",
							 (double) total->edges_traversed / total->run_ms * 1e3, 0, es);
	if (total->run_ms > 0 && total->link_bytes > 0)
		ExplainPropertyFloat("Link Rate", "GB/s", (double) total->link_bytes / total->run_ms / 1e6,
							 2, es);
}

/* Get a description of where a graph came from. */
static const char *
name_origin(const EmogiCallRecord *total)
{
	static const char *const names[] = {
		[EMOGI_GRAPH_FOUND] = "cached", [EMOGI_GRAPH_STALE] = "cached, stale",
		[EMOGI_GRAPH_BUILT] = "built", [EMOGI_GRAPH_MERGED] = "merged",
		[EMOGI_GRAPH_OVERLAID] = "cached, overlay"
	};

	if (total->origin != EMOGI_GRAPH_PRIVATE)
		return names[total->origin];
	return total->merge_ms > 0 ? "merged for this call alone" : "built for this call alone";
}

/* Show the work of finding changes. */
static void
explain_refresh(const EmogiCallRecord *total, ExplainState *es)
{
	ExplainPropertyUInteger("Pages Rescanned", NULL, total->nrescanned, es);
	ExplainPropertyUInteger("Pages Skipped (Visibility Map)", NULL, total->nskipped_by_map, es);
	ExplainPropertyUInteger("Pages Skipped (LSN)", NULL, total->nskipped_by_lsn, es);
	ExplainPropertyUInteger("Edge Changes", NULL, total->nchanges, es);
	if (!es->timing)
		return;
	explain_time("Refresh Time", total->refresh_ms, es);
	explain_time("Merge Time", total->merge_ms, es);
}

/* Show how a filter was evaluated over property columns. */
static void
explain_mask(const EmogiCallRecord *total, ExplainState *es)
{
	ExplainPropertyText("Filter Evaluated", total->mask_share >= 1 ? "on all edges" :
						psprintf("on %.2f %% of the edges", 100 * total->mask_share), es);
	ExplainPropertyInteger("Property Columns", NULL, total->ncolumns, es);
	ExplainPropertyUInteger("Property Bytes", NULL, total->columns_bytes, es);
	if (es->timing && total->columns_ms > 0)
		explain_time("Columns Time", total->columns_ms, es);
}

/* Show the work of reading foreign tables. */
static void
explain_servers(const EmogiCallRecord *total, ExplainState *es)
{
	ExplainPropertyInteger("Servers", NULL, total->nservers, es);
	ExplainPropertyInteger("Server Connections", NULL, total->nconnections, es);
	ExplainPropertyUInteger("Server Ranges", NULL, total->nranges, es);
	ExplainPropertyUInteger("Network Bytes", NULL, total->network_bytes, es);
}

/*
 * Show where the graph of the last run came from, and which engine ran; return false if there was
 * no run.
 */
static bool
explain_origin(const EmogiScan *scan, ExplainState *es)
{
	const EmogiCallRecord *total = scan->total;
	const bool	is_index_search = total != NULL && total->origin == EMOGI_GRAPH_INDEX;

	if (total == NULL || total->origin == EMOGI_GRAPH_NONE)
		return false;
	ExplainPropertyText("Graph", is_index_search ?
						psprintf("%s %s", search_names[total->nvertices > 0], total->indexes) :
						name_origin(total), es);
	if (total->origin == EMOGI_GRAPH_PRIVATE && total->why_private[0] != '\0')
		ExplainPropertyText("Cache", psprintf("bypassed (%s)", total->why_private), es);
	if (es->verbose && emogi_call_why_built(total)[0] != '\0')
		ExplainPropertyText("Cache", psprintf("missed (%s)", emogi_call_why_built(total)), es);
	if (total->origin == EMOGI_GRAPH_STALE)
		ExplainPropertyFloat("Graph Age", "ms", total->age_ms, 0, es);
	if (total->nrescanned + total->nskipped_by_map + total->nskipped_by_lsn > 0)
		explain_refresh(total, es);
	if (total->is_masked)
		explain_mask(total, es);
	if (total->nservers > 0)
		explain_servers(total, es);
	if (!is_index_search || total->nvertices > 0)
	{
		ExplainPropertyUInteger("Vertices", NULL, total->nvertices, es);
		ExplainPropertyUInteger("Edges", NULL, total->nedges, es);
	}
	ExplainPropertyText("Engine", total->engine, es);
	if (emogi_shared->ncuda > 1 && strcmp(total->engine, "cuda") == 0)
		ExplainPropertyInteger("Device", NULL, total->device, es);
	return true;
}

/* Show the results of the runs. */
static void
explain_runs(const EmogiScan *scan, ExplainState *es)
{
	const EmogiCallRecord *total = scan->total;

	if (scan->nruns != 1)
		ExplainPropertyUInteger("Runs", NULL, scan->nruns, es);
	if (!explain_origin(scan, es))
		return;
	if (total->placement[0] != '\0')
		ExplainPropertyText("Placement", total->placement, es);
	if (total->mapping[0] != '\0' &&
		strcmp(total->mapping, emogi_papers_mapping_name(EMOGI_MAPPING_AUTO)) != 0)
		ExplainPropertyText("Mapping", total->mapping, es);
	if (es->format != EXPLAIN_FORMAT_TEXT || total->nlevels > 0)
		ExplainPropertyUInteger("Levels", NULL, total->nlevels, es);
	ExplainPropertyUInteger("Edges Traversed", NULL, total->edges_traversed, es);
	if (total->link_bytes > 0)
		ExplainPropertyUInteger("Link Bytes", NULL, total->link_bytes, es);
	if (total->nlinks > 1)
		ExplainPropertyInteger("Links", NULL, total->nlinks, es);
	if (es->timing)
		explain_times(total, es);
}

/* Is the plan printed by EXPLAIN without ANALYZE, under an active snapshot? */
static bool
is_explained_only(const EmogiScan *scan)
{
	return (scan->css.ss.ps.state->es_top_eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0 &&
		ActiveSnapshotSet();
}

/* Show a scan in EXPLAIN. */
void
emogi_explain_scan(CustomScanState *node, List *ancestors, ExplainState *es)
{
	static const char *const engines[] = {
		[EMOGI_ENGINE_AUTO] = "auto", [EMOGI_ENGINE_CPU] = "cpu", [EMOGI_ENGINE_CUDA] = "cuda"
	};
	EmogiScan  *scan = (EmogiScan *) node;

	explain_conditions(scan, ancestors, es);
	explain_upper(scan, es);
	if (es->analyze)
		explain_runs(scan, es);
	else if (is_explained_only(scan))
	{
		explain_forecast(scan, es);
		ExplainPropertyText("Engine", engines[emogi_engine], es);
	}
	else
		(void) explain_origin(scan, es);
}
