/*
 * run.c: the common course of every algorithm, from its arguments to its rows.
 *
 * What sets the algorithms apart is one row each in contract/algorithms.h: which edges they read, and which columns they fill.
 */
#include "postgres.h"

#include <math.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/function.h"
#include "function/rows.h"
#include "server/compat.h"
#include "server/papers.h"
#include "server/region.h"

/* Rows between two looks for a cancel. */
#define EMOGI_ROWS_PER_CHECK 65536

/* A search for one path gives up after this share of all list entries: all threads together see all of them sooner. */
#define EMOGI_PATH_SHARE	16
#define EMOGI_PATH_MIN_EDGES UINT64CONST(1000000)

/* Get the other direction. */
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

/* Get the direction in which lists must lead. */
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

/* Fill in what a task wants of its Graph, but for the relation and its columns. */
void
emogi_run_wish(const EmogiTask *task, EmogiGraphKey *key)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);

	memset(key, 0, sizeof *key);
	key->weights = task->query.is_weighted ? EMOGI_WEIGHTS_CONDUCTANCES : row->weights;
	key->direction = list_direction(row->lists, task->direction);
	key->any_direction = row->lists == EMOGI_LISTS_ANY;
	key->by_labels = task->query.algorithm == EMOGI_CC;
	key->with_backward = (row->traits & EMOGI_NEEDS_BACKWARD) != 0 || task->with_backward || task->query.is_weighted;
}

/* Allocate an array of the Region for a call, with any content. */
static void *
take_array(EmogiCall *call, uint64 length, Size element)
{
	return emogi_call_alloc_any(call, Max(length, 1) * element);
}

/* Give the result the columns of its row, where it has none yet. */
static void
take_columns(EmogiCall *call, const EmogiResultColumn *columns, uint64 nvertices, EmogiResult *result)
{
	for (int i = 0; columns[i].name != NULL; i++)
		if (result->columns[i].any == NULL)
			result->columns[i].any = take_array(call, nvertices, emogi_algorithm_column_bytes(columns[i].type));
}

/* Turn keys into vertex numbers, in the Region; keys that the graph does not have are dropped. */
static const uint32 *
take_numbers(EmogiCall *call, const EmogiGraph *graph, const int64 *keys, uint64 nkeys, uint64 *nnumbers)
{
	uint32	   *numbers = take_array(call, nkeys, sizeof(uint32));

	*nnumbers = 0;
	for (uint64 i = 0; i < nkeys; i++)
	{
		uint32		number = emogi_graph_vertex(graph, keys[i]);

		if (number != EMOGI_NO_VERTEX)
			numbers[(*nnumbers)++] = number;
	}
	return numbers;
}

/* Raise that start values are none that leaps can be in proportion to. */
static void
report_leap(const char *what, double value)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("start values %s %g", what, value),
			 errhint("Ranks are personalized by start values of 0 and more, of which one at least is above 0.")));
}

/* Turn start values into proportions that sum to 1. Raises 22023. */
static void
divide_by_sum(const EmogiTask *task, const EmogiGraph *graph, double *values)
{
	double		sum = 0.0;

	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		if (unlikely(values[v] < 0.0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid start value %g of vertex %s", values[v], emogi_vertices_text(task, graph, v)),
					 errhint("Start values of emogi_pagerank must be 0 or more: leaps go there in their proportions.")));
		sum += values[v];
	}
	if (isinf(sum))
		report_leap("sum to", sum);
	if (sum == 0.0)
		report_leap("of the vertices of the graph sum to", sum);
	for (uint64 v = 0; v < graph->nvertices; v++)
		values[v] /= sum;
}

/* Are communities what a task's query of values returns? */
static bool
has_communities(const EmogiTask *task)
{
	return emogi_algorithm_takes(emogi_algorithm_row(task->query.algorithm), EMOGI_COMMUNITIES) >= 0;
}

/* Raise 22023 for a vertex that is in no community. */
static void
require_communities(const EmogiTask *task, const EmogiGraph *graph, const double *communities)
{
	for (uint64 v = 0; v < graph->nvertices; v++)
		if (isnan(communities[v]))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("vertex %s has no community", emogi_vertices_text(task, graph, v)),
					 errhint("The query must return a row for each vertex of the graph.")));
}

/* Bring the start values, or communities, into the Region. */
static void
set_values(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiQuery *query)
{
	double	   *values = take_array(call, graph->nvertices, sizeof(double));
	Size		given_bytes = Max(graph->nvertices, 1) * sizeof(bool);
	bool	   *given = emogi_call_alloc(call, given_bytes);
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);
	const bool	fixes = (row->traits & EMOGI_SUM_FIXES) != 0;

	emogi_values_query(graph, task->form, task->start, has_communities(task), fixes || has_communities(task) ? get_float8_nan() : 0.0,
					   values, given);
	emogi_region_free(given, given_bytes);
	if (has_communities(task))
		require_communities(task, graph, values);
	if (emogi_algorithm_takes(row, EMOGI_LEAP) < 0)
		query->values = values;
	else
	{
		divide_by_sum(task, graph, values);
		query->leap = values;
	}
}

/* Begin a request for a task's Query. */
static EmogiRequest *
begin_request(EmogiCall *call, EmogiRequestKind kind, const EmogiTask *task, const EmogiGraph *graph)
{
	EmogiRequest *request = &call->slot->request;

	memset(request, 0, sizeof *request);
	request->kind = kind;
	request->engine = emogi_engine;
	request->graph = *graph;
	request->query = task->query;
	request->query.placement = emogi_placement;
	request->query.papers = emogi_papers_query();
	return request;
}

/* May an engine make a summary of the answer? The CPU's leaves that to whoever reads the rows; what may diverge is looked at whole. */
static bool
may_summarize(const EmogiTask *task, const EmogiGraph *graph)
{
	return task->summarize != NULL && !task->has_targets && !task->is_shared && emogi_shared->ncuda > 0 &&
		emogi_engine != EMOGI_ENGINE_CPU && (emogi_algorithm_row(task->query.algorithm)->traits & EMOGI_MAY_DIVERGE) == 0;
}

/*
 * Run the task's algorithm on its Graph, with new result arrays where *result has none; false, with nothing run, when no
 * vertex is wanted that the Graph has.
 */
bool
emogi_run_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_RUN, task, graph);
	EmogiQuery *query = &request->query;

	if (task->has_sources)
		query->sources = take_numbers(call, graph, task->keys, task->nkeys, &query->nsources);
	if (task->has_targets && (row->traits & EMOGI_STOPS) != 0)
	{
		query->targets = take_numbers(call, graph, task->targets, task->ntargets, &query->ntargets);
		if (query->ntargets == 0)
			return false;
	}
	if (task->start != NULL)
		set_values(call, task, graph, query);
	if (may_summarize(task, graph))
		query->summary = task->summarize(task->summarize_arg, call, task->form);
	request->result = *result;
	take_columns(call, row->columns, graph->nvertices, &request->result);
	*result = emogi_call_request(call)->result;
	emogi_refusal_report(task, graph, &result->refusal);
	if (query->sources != NULL)
		emogi_region_free((void *) query->sources, Max(task->nkeys, 1) * sizeof(uint32));
	return true;
}

/*
 * Run BFS from each of the sources (vertex numbers, 1 .. EMOGI_MSBFS_SOURCES) by itself. result->memory has been
 * allocated for the call. Check result->too_deep.
 */
void
emogi_run_batch(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources, int nsources,
				EmogiMsbfsResult *result)
{
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_MSBFS, task, graph);
	uint32	   *numbers = take_array(call, nsources, sizeof(uint32));

	memcpy(numbers, sources, nsources * sizeof(uint32));
	request->query.sources = numbers;
	request->query.nsources = nsources;
	request->batch = *result;
	*result = emogi_call_request(call)->batch;
	emogi_region_free(numbers, nsources * sizeof(uint32));
}

/*
 * Find the path between the task's source and its target without the distances of all vertices. False when that takes
 * too long: then run the query. path, distance: [nvertices], allocated for the call; *length = 0: there is no path.
 */
bool
emogi_run_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 *path, double *distance,
			   uint64 *length)
{
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_PATH, task, graph);
	const EmogiReply *reply;
	uint64		nsources;
	uint64		ntargets;

	*length = 0;
	request->query.sources = take_numbers(call, graph, task->keys, 1, &nsources);
	request->query.targets = take_numbers(call, graph, task->targets, 1, &ntargets);
	if (nsources == 0 || ntargets == 0)
		return true;
	request->max_edges = Max(graph->forward.nedges / EMOGI_PATH_SHARE, EMOGI_PATH_MIN_EDGES);
	request->path = path;
	request->path_distance = distance;
	reply = emogi_call_request(call);
	*length = reply->path_length;
	return reply->path_outcome != EMOGI_PATH_GAVE_UP;
}

/*
 * Values that grow without bound are an error (22003), not an answer. All vertices are looked at, whichever rows are wanted.
 */
static void
check_values(const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	const bool	iterates = emogi_algorithm_iterates(task->query.algorithm);

	for (uint64 v = 0; v < graph->nvertices; v++)
		if (unlikely(!isfinite(result->columns[0].float64[v])))
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("the value of vertex %s grew out of range in %u %s", emogi_vertices_text(task, graph, v), result->nlevels,
							iterates ? "iterations" : "levels"),
					 errhint(iterates ? "Make the weights smaller, or max_iterations." : "Make the weights smaller.")));
}

/* Put one row into the tuplestore for each vertex that has one, in ascending order of keys. */
void
emogi_run_put(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(task->query.algorithm)->columns;
	EmogiForm  *form = task->form;
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext row_context = AllocSetContextCreate(CurrentMemoryContext, "emogi row", ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(row_context);
	bool		nulls[EMOGI_MAX_COLUMNS + 1] = {false};
	Datum		values[EMOGI_MAX_COLUMNS + 1];

	for (uint64 first = 0; first < graph->nvertices; first += EMOGI_ROWS_PER_CHECK)
	{
		uint64		end = Min(first + EMOGI_ROWS_PER_CHECK, graph->nvertices);

		CHECK_FOR_INTERRUPTS();
		for (uint64 v = emogi_rows_next(columns, result, first, end); v < end; v = emogi_rows_next(columns, result, v + 1, end))
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

/* Begin a call for a task that may be carried out without its Graph, without a slot, and get the Graph, or what a walk has reached. */
static EmogiCall *
open_afoot(Oid function, EmogiTask *task, EmogiSource *source, const EmogiGraphKey *wish, EmogiPatch **patch, EmogiGraph *graph,
		   EmogiWalk *walk)
{
	EmogiCall  *call = emogi_call_enter(function, get_func_name(function), task->graph.text);
	EmogiPatch *found;

	found = emogi_obtain_or_walk(call, source, wish, patch != NULL, graph, walk);
	if (patch != NULL)
		*patch = found;
	return call;
}

/* Begin a call as emogi_run_open does. walk: what has reached little may have done without a Graph; NULL = it may not. */
static EmogiCall *
open_call(Oid function, EmogiTask *task, EmogiPatch **patch, EmogiGraph *graph, EmogiWalk *walk)
{
	EmogiGraphKey wish;
	EmogiSource source;
	EmogiCall  *call;

	emogi_run_wish(task, &wish);
	emogi_source_resolve(&task->graph, wish.weights != EMOGI_WEIGHTS_UNUSED, &source);
	if (task->table != NULL)
		*task->table = source.is_query ? InvalidOid : source.relid;
	task->form = NULL;
	if (OidIsValid(source.key.type))
		emogi_vertices_read(task, function, &source.key);
	if (task->start != NULL)
		emogi_values_check(task->start, has_communities(task), &source.key);
	emogi_request_require_engine();
	if (task->has_sources && task->sources.count == 0)
	{
		emogi_build_check(&source);
		return NULL;
	}
	if (walk != NULL && emogi_afoot_may_serve(task) && emogi_walk_may_lead(&source) && emogi_afoot_describe(task, walk))
		call = open_afoot(function, task, &source, &wish, patch, graph, walk);
	else
	{
		call = emogi_call_begin(function, get_func_name(function), task->graph.text);
		if (patch != NULL)
			*patch = emogi_obtain_patched(call, &source, &wish, graph);
		else
			emogi_obtain_graph(call, &source, &wish, graph);
	}
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	if (walk != NULL && walk->is_answered)
		return call;
	if (!OidIsValid(source.key.type))
		elog(ERROR, "the type of the keys of graph \"%s\" is not known", task->graph.text);
	if (task->form == NULL)
		emogi_vertices_read(task, function, &source.key);
	if (graph->nvertices == 0)
	{
		emogi_call_end(call);
		return NULL;
	}
	emogi_vertices_find(task, graph);
	return call;
}

/*
 * Begin a call: resolve the task's graph, check the caller's rights, get the Graph. Returns NULL when there is nothing to
 * run: no source was given, or the graph has no edge. The caller ends the call. patch: the Graph may be an older one, with *patch
 * then what has changed since (emogi_obtain_patched), else NULL; NULL = it may not.
 */
EmogiCall *
emogi_run_open(Oid function, EmogiTask *task, EmogiPatch **patch, EmogiGraph *graph)
{
	return open_call(function, task, patch, graph, NULL);
}

/* Get the Graph itself for a call that has a patched one; false, and the call has ended, when it has no edge. */
bool
emogi_run_reopen(EmogiCall *call, EmogiTask *task, EmogiGraph *graph)
{
	EmogiGraphKey wish;
	EmogiSource source;

	emogi_obtain_release(call);
	emogi_run_wish(task, &wish);
	emogi_source_resolve(&task->graph, wish.weights != EMOGI_WEIGHTS_UNUSED, &source);
	emogi_obtain_graph(call, &source, &wish, graph);
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	if (graph->nvertices > 0)
		emogi_vertices_find(task, graph);
	else
		emogi_call_end(call);
	return graph->nvertices > 0;
}

/* Tell the caller that a vertex is not in the graph, where that is asked for: once a statement, not for each row. */
void
emogi_run_notice_missing(const char *what, const EmogiTask *task, Datum key)
{
	static TimestampTz told = 0;

	if (!emogi_notice_missing_source || told == GetCurrentStatementStartTimestamp())
		return;
	told = GetCurrentStatementStartTimestamp();
	ereport(NOTICE,
			(errmsg("the %s %s is not in the graph", what, emogi_form_key_text(&task->form->coder.key, key)),
			 errhint("A vertex is in the graph if an edge begins or ends there.")));
}

/*
 * Tell, asked or not, of a source that is no vertex, if it is text that is written as an array: drivers that give no type to a list of
 * strings have it arrive as one.
 */
static void
notice_array(const EmogiTask *task)
{
	const char *text;

	if (task->sources.count != 1 || task->form->coder.key.type != TEXTOID)
		return;
	text = emogi_form_key_text(&task->form->coder.key, task->sources.datums[0]);
	if (text[0] == '{' && text[strlen(text) - 1] == '}')
		ereport(NOTICE,
				(errmsg("the source %s is not in the graph", text),
				 errhint("It is taken for one vertex. Several are an array of text: '{a,b}'::text[], and $1::text[] for a parameter.")));
}

/* Tell of a source that is no vertex of the graph. */
static void
notice_source(const EmogiTask *task, uint64 i)
{
	if (emogi_notice_missing_source)
		emogi_run_notice_missing("source", task, task->sources.datums[i]);
	else
		notice_array(task);
}

/* Tell of the first source that is no vertex of the graph, NULL = one without any. */
static void
notice_sources(const EmogiTask *task, const EmogiPatch *patch, const EmogiGraph *graph)
{
	if (!task->has_sources || (!emogi_notice_missing_source && task->sources.count != 1))
		return;
	for (uint64 i = 0; i < task->sources.count; i++)
		if (graph == NULL || !emogi_near_has_vertex(graph, patch, task->keys[i]))
		{
			notice_source(task, i);
			return;
		}
}

/* Tell of the first source that a walk has found not to be in the graph. */
static void
notice_not_found(const EmogiTask *task, const EmogiWalk *walk)
{
	for (uint64 i = 0; i < walk->nsources; i++)
		if (!walk->found[i])
		{
			notice_source(task, i);
			return;
		}
}

/* Carry out a task that emogi_near_may_serve in the backend itself; false when the engine must. */
static bool
run_near(EmogiCall *call, const EmogiTask *task, const EmogiPatch *patch, EmogiGraph *graph, EmogiResult *result)
{
	if (task->query.algorithm == EMOGI_CC)
		return emogi_components_run(call, task, patch, graph, result);
	return emogi_near_run(call, task, patch, graph, result);
}

/*
 * Begin a call as emogi_run_open does, and run its query. Returns NULL also when no row is wanted. The caller reads the
 * result and ends the call.
 */
EmogiCall *
emogi_run(Oid function, EmogiTask *task, EmogiGraph *graph, EmogiResult *result)
{
	const bool	near = emogi_near_may_serve(task);
	EmogiPatch *patch = NULL;
	EmogiWalk	walk = {0};
	EmogiCall  *call = open_call(function, task, near ? &patch : NULL, graph, &walk);
	EmogiGraph	whole = {0};
	bool		answered;

	memset(result, 0, sizeof *result);
	if (walk.is_answered)
	{
		emogi_afoot_take(call, task, &walk, graph, result);
		notice_not_found(task, &walk);
		emogi_call_phase(call, EMOGI_PHASE_ROWS);
		return call;
	}
	if (call != NULL)
		whole = *graph;
	answered = call != NULL && near && !task->no_rows && run_near(call, task, patch, graph, result);
	if (!answered && patch != NULL)
	{
		if (!emogi_run_reopen(call, task, graph))
			call = NULL;
		whole = *graph;
		patch = NULL;
	}
	notice_sources(task, patch, call != NULL ? &whole : NULL);
	if (call == NULL)
		return NULL;
	if (!answered && (task->no_rows || !emogi_run_query(call, task, graph, result)))
	{
		emogi_call_end(call);
		return NULL;
	}
	if (!answered && near && task->query.algorithm == EMOGI_CC && !result->is_summarized)
		emogi_components_keep(call, result);
	if ((emogi_algorithm_row(task->query.algorithm)->traits & EMOGI_MAY_DIVERGE) != 0)
		check_values(task, graph, result);
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	return call;
}

/* Carry out the function of an algorithm, its rows into a tuplestore: put makes them. */
Datum
emogi_run_to_rows(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiPutRows put)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiResult result;
	EmogiCall  *call;

	emogi_compat_init_rows(fcinfo);
	emogi_arguments_read(fcinfo, algorithm, &task);
	call = emogi_run(fcinfo->flinfo->fn_oid, &task, &graph, &result);
	if (call == NULL)
		return (Datum) 0;
	put(fcinfo, call, &task, &graph, &result);
	emogi_call_end(call);
	return (Datum) 0;
}
