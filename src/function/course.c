/*
 * course.c: execution of an algorithm's function, from its arguments to its rows.
 *
 * Algorithms differ by their rows in contract/algorithms.h: which edges they read, and which
 * columns they fill.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "contract/query.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/cursor.h"
#include "function/rows.h"
#include "base/compat.h"

/* Rows between two CHECK_FOR_INTERRUPTS. */
#define EMOGI_ROWS_PER_CHECK 65536

/* Return the reverse direction. */
static EmogiDirection
reverse(EmogiDirection direction)
{
	switch (direction)
	{
		case EMOGI_OUT:
			return EMOGI_IN;
		case EMOGI_IN:
			return EMOGI_OUT;
		case EMOGI_BOTH:
			break;
	}
	return EMOGI_BOTH;
}

/* Return the direction of the adjacency lists that an algorithm needs. */
static EmogiDirection
list_direction(EmogiLists lists, EmogiDirection direction)
{
	switch (lists)
	{
		case EMOGI_LISTS_AGAINST:
			return reverse(direction);
		case EMOGI_LISTS_BOTH_WAYS:
			return EMOGI_BOTH;
		case EMOGI_LISTS_ALONG:
		case EMOGI_LISTS_ANY:
			break;
	}
	return direction;
}

/* Fill in the graph key of a task, except for the relation and its columns. */
void
emogi_course_graph_key(const EmogiTask *task, EmogiGraphKey *key)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);

	memset(key, 0, sizeof *key);
	key->weights = task->query.is_weighted ? EMOGI_WEIGHTS_CONDUCTANCES : row->weights;
	key->direction = list_direction(row->lists, task->direction);
	key->any_direction = row->lists == EMOGI_LISTS_ANY;
	key->by_labels = task->query.algorithm == EMOGI_CC;
	key->with_backward = task->with_backward ||
		(task->pairs == NULL && emogi_query_needs_backward(&task->query));
}

/* Raise 22003 for a value that is out of range. */
static void
report_value(const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result,
			 const EmogiResultColumn *column, uint64 v)
{
	const bool	iterates = emogi_algorithm_iterates(task->query.algorithm);
	const char *hint = !iterates ? "Make the weights smaller." :
		"Make the weights smaller, or max_iterations.";

	if (task->query.algorithm == EMOGI_DEGREE)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the %s of vertex %s is out of range", column->name,
						emogi_vertices_text(task, graph, v)),
				 errhint("%s", hint)));
	if (task->query.algorithm == EMOGI_KATZ)
		hint = "Make beta smaller, or have the values normalized.";
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("the value of vertex %s grew out of range in %u %s",
					emogi_vertices_text(task, graph, v), result->nlevels,
					iterates ? "iterations" : "levels"),
			 errhint("%s", hint)));
}

/*
 * Raise 22003 for values that grew without bound. All vertices are checked, regardless of which
 * rows are wanted.
 */
static void
check_values(const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(task->query.algorithm)->columns;

	for (int i = 0; columns[i].name != NULL; i++)
		for (uint64 v = 0; columns[i].type == EMOGI_FLOAT64 && v < graph->nvertices; v++)
			if (unlikely(!isfinite(result->columns[i].float64[v])))
				report_value(task, graph, result, &columns[i], v);
}

/* Put a row into the tuplestore for each vertex that has one, ascending by key. */
static void
put_vertices(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task,
			 const EmogiGraph *graph, const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(task->query.algorithm)->columns;
	EmogiForm  *form = task->form;
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row",
													  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row_context);
	bool		nulls[EMOGI_MAX_COLUMNS + 1] = {false};
	Datum		values[EMOGI_MAX_COLUMNS + 1];

	for (uint64 first = 0; first < graph->nvertices; first += EMOGI_ROWS_PER_CHECK)
	{
		uint64		end = Min(first + EMOGI_ROWS_PER_CHECK, graph->nvertices);

		CHECK_FOR_INTERRUPTS();
		for (uint64 v = emogi_rows_next(columns, result, first, end); v < end;
			 v = emogi_rows_next(columns, result, v + 1, end))
		{
			values[0] = emogi_rows_vertex(form, graph, v);
			for (int i = 0; columns[i].name != NULL; i++)
				values[i + 1] = emogi_rows_column(columns, form, graph, result, v, i);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
			if (form->kind != EMOGI_FORM_INTEGER)
				MemoryContextReset(row_context);
			call->record.nrows++;
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(row_context);
}

/*
 * Raise 22023 if weights were requested and the graph has none: the answer would silently be
 * unweighted.
 */
static void
require_weights(const EmogiTask *task, const EmogiGraph *graph)
{
	if (task->query.is_weighted && graph->weight_type == EMOGI_WEIGHT_NONE && graph->nvertices > 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weights => true, but graph \"%s\" has no weights", task->graph.text),
				 errhint("Name the column that has them, as in 'edges(src, dst, weight)', or leave "
						 "\"weights\" out.")));
}

/* Is the set of sources or of targets empty? Then there are no rows, and the graph is not read. */
static bool
has_empty_set(const EmogiTask *task)
{
	return (task->has_sources && task->sources.count == 0) ||
		(task->has_goals && task->goals.count == 0);
}

/*
 * Resolve the graph of a task, check that its arguments fit, and describe the graph that it needs.
 */
static void
prepare(Oid function, EmogiTask *task, EmogiGraphKey *key)
{
	EmogiSource *source = &task->source;

	emogi_course_graph_key(task, key);
	emogi_source_resolve(&task->graph, key->weights != EMOGI_WEIGHTS_UNUSED, source);
	if (task->table != NULL)
		*task->table = source->is_query ? InvalidOid : source->relid;
	task->form = NULL;
	if (OidIsValid(source->key.type))
		emogi_vertices_read(task, function, &source->key);
	if (task->start != NULL)
		emogi_values_check(task->start, emogi_task_has_communities(task), &source->key);
	if (task->pairs != NULL)
		emogi_pairs_check(task->pairs, &source->key);
	emogi_request_require_engine();
}

/*
 * Begin a call as emogi_course_open does. search: may receive the result of an index search,
 * without a graph; NULL = not allowed.
 */
static EmogiCall *
open_call(Oid function, EmogiTask *task, bool accepts_overlay, EmogiIndexSearch *search,
		  EmogiGraphView *view)
{
	EmogiGraphRequest request = {.accepts_overlay = accepts_overlay};
	EmogiSource *source = &task->source;
	EmogiCall  *call;

	memset(view, 0, sizeof *view);
	prepare(function, task, &request.key);
	if (has_empty_set(task))
	{
		emogi_build_check(source);
		if (task->form == NULL)
			emogi_vertices_read(task, function, &source->key);
		return NULL;
	}
	if (search != NULL && emogi_index_search_call_may_serve(task) &&
		(source->is_query || emogi_index_search_supports(source)))
	{
		*search = emogi_index_search_call_walk(task, function);
		request.search = search;
		call = emogi_call_enter(function, get_func_name(function), source);
	}
	else
		call = emogi_call_begin(function, get_func_name(function), source);
	emogi_acquire(call, source, &request, view);
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	if (!task->query.is_weighted || source->guess.is_taken)
		emogi_guess_tell(source);
	if (view->origin == EMOGI_GRAPH_INDEX)
		return call;
	require_weights(task, &view->graph);
	if (!OidIsValid(source->key.type))
		elog(ERROR, "the type of the keys of graph \"%s\" is not known", task->graph.text);
	if (task->form == NULL)
		emogi_vertices_read(task, function, &source->key);
	if (view->graph.nvertices == 0)
	{
		emogi_call_end(call);
		return NULL;
	}
	emogi_vertices_find(task, &view->graph);
	return call;
}

/*
 * Begin a call: resolve the task's graph, check the caller's rights, acquire the graph. Return NULL
 * if there is nothing to run: no source was given, or the graph has no edge. The caller ends the
 * call. accepts_overlay: the graph may be an older one with an overlay (EmogiGraphRequest).
 */
EmogiCall *
emogi_course_open(Oid function, EmogiTask *task, bool accepts_overlay, EmogiGraphView *view)
{
	return open_call(function, task, accepts_overlay, NULL, view);
}

/*
 * Replace a call's older graph and overlay by the current graph. If that has no edge, end the call
 * and return false.
 */
bool
emogi_course_reopen(EmogiCall *call, EmogiTask *task, EmogiGraphView *view)
{
	EmogiGraphRequest request = {0};

	emogi_acquire_release(call);
	emogi_course_graph_key(task, &request.key);
	/* the source is still what the name meant: it is locked */
	emogi_acquire(call, &task->source, &request, view);
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	if (view->graph.nvertices > 0)
		emogi_vertices_find(task, &view->graph);
	else
		emogi_call_end(call);
	return view->graph.nvertices > 0;
}

/* Report a source that is not in the graph. Raises 42804. */
static void
notice_source(const EmogiTask *task, const EmogiGraph *graph, uint64 i)
{
	const Datum source = task->sources.datums[i];

	if (task->sources.count == 1 && !task->source_is_array)
		emogi_vertices_notice_end("source", task->form, graph, source, EMOGI_TAKES_MANY);
	else
		emogi_vertices_notice_missing("source", task->form, source);
}

/* Report the first target that is not in the graph; graph NULL = it has no edges. */
static void
notice_goals(const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph)
{
	for (uint64 i = 0; i < task->goals.count; i++)
		if (graph == NULL || !emogi_local_search_has_vertex(graph, patch, task->goal_keys[i]))
		{
			emogi_vertices_notice_missing("target", task->form, task->goals.datums[i]);
			return;
		}
}

/* Report the first source that is not in the graph; graph NULL = it has no edges. */
static void
notice_sources(const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph)
{
	if (!task->has_sources || (!emogi_notice_missing_source && task->sources.count != 1))
		return;
	for (uint64 i = 0; i < task->sources.count; i++)
		if (graph == NULL || !emogi_local_search_has_vertex(graph, patch, task->keys[i]))
		{
			notice_source(task, graph, i);
			return;
		}
}

/*
 * Report the first source and the first target that are not in the graph; graph NULL = it has no
 * edges. Report nothing if the graph was not read.
 */
static void
notice_ends(const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph)
{
	if (has_empty_set(task))
		return;
	notice_sources(task, patch, graph);
	notice_goals(task, patch, graph);
}

/*
 * Report the first source and the first target that are not in the graph; graph NULL = it has no
 * edges.
 */
void
emogi_course_notice_sets(const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph)
{
	notice_ends(task, patch, graph);
}

/* Report the first source that an index search did not find in the graph. */
static void
notice_not_found(const EmogiTask *task, const EmogiIndexSearch *search)
{
	for (uint64 i = 0; i < search->nsources; i++)
		if (!search->found[i])
		{
			notice_source(task, NULL, i);
			return;
		}
}

/*
 * Run a task that passes emogi_local_search_may_serve in the backend; false = the engine must run
 * it.
 */
static bool
run_local(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph,
		  EmogiResult *result)
{
	if (task->query.algorithm == EMOGI_CC)
		return emogi_components_run(call, task, patch, graph, result);
	return emogi_local_search_run(call, task, patch, graph, result);
}

/*
 * Begin a call as emogi_course_open does, and run its query. Return NULL also if no rows are
 * wanted. The caller reads the result and ends the call.
 */
EmogiCall *
emogi_course_run(Oid function, EmogiTask *task, EmogiGraph *graph, EmogiResult *result)
{
	const bool	may_run_local = emogi_local_search_may_serve(task);
	EmogiIndexSearch search = {0};
	EmogiGraphView view;
	EmogiCall  *call = open_call(function, task, may_run_local, &search, &view);
	EmogiGraph	whole;
	bool		answered;

	*graph = view.graph;
	memset(result, 0, sizeof *result);
	if (view.origin == EMOGI_GRAPH_INDEX)
	{
		emogi_index_search_call_take(call, task, &search, graph, result);
		notice_not_found(task, &search);
		emogi_call_phase(call, EMOGI_PHASE_ROWS);
		return call;
	}
	answered = call != NULL && may_run_local && !task->no_rows &&
		run_local(call, task, view.overlay, graph, result);
	if (!answered && view.overlay != NULL)
	{
		if (!emogi_course_reopen(call, task, &view))
			call = NULL;
		*graph = view.graph;
	}
	whole = view.graph;
	notice_ends(task, view.overlay, call != NULL ? &whole : NULL);
	if (call == NULL)
		return NULL;
	if (!answered && (task->no_rows || !emogi_task_query(call, task, graph, result)))
	{
		emogi_call_end(call);
		return NULL;
	}
	if (!answered && may_run_local && task->query.algorithm == EMOGI_CC && !result->is_summarized)
		emogi_components_keep(call, result);
	if (emogi_task_may_diverge(task, &whole))
		check_values(task, graph, result);
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	return call;
}

/*
 * Execute an algorithm's function, with its rows in a tuplestore. kind: of the rows, NULL =
 * vertices.
 */
Datum
emogi_course_to_rows(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm,
					 const struct EmogiRowKind *kind)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiResult result;
	EmogiCall  *call;

	emogi_compat_init_rows(fcinfo);
	emogi_arguments_read(fcinfo, algorithm, &task);
	call = emogi_course_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
	if (call == NULL)
		return (Datum) 0;
	if (task.names_edges && (kind == &emogi_bfs_tree_rows ||
							 kind == &emogi_shortest_path_tree_rows))
		emogi_search_trees_name(&task, &graph, &result);
	if (kind != NULL)
		emogi_cursor_put(fcinfo, call, task.form, kind, &graph, &result,
						 &call->slot->request.query);
	else
		put_vertices(fcinfo, call, &task, &graph, &result);
	emogi_call_end(call);
	return (Datum) 0;
}
