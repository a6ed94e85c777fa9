/*
 * task_request.c: requests to the worker made from tasks.
 *
 * A task's vertices become vertex numbers of the graph. Start values, communities and pairs are
 * read from their queries. All of these, and the arrays that the engine fills, are in the arena.
 */
#include "postgres.h"

#include <math.h>

#include "contract/query.h"
#include "contract/sort_order.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "utils/float.h"

#include "function/function.h"
#include "base/papers_settings.h"
#include "base/arena.h"

/* Allocate an uninitialized array in the arena for a call. */
static void *
alloc_array(EmogiCall *call, uint64 length, Size element)
{
	return emogi_call_alloc_any(call, Max(length, 1) * element);
}

/* What a list of a shape has, and how to shorten it. */
typedef struct ListText
{
	const char *name;
	const char *hint;
} ListText;

/* Return the texts of a list. */
static ListText
list_text(EmogiAlgorithm algorithm)
{
	switch (emogi_algorithm_row(algorithm)->shape)
	{
		case EMOGI_SHAPE_SIMILARITIES:
			return (ListText) {"similarities of all vertices", "Lower top_k."};
		case EMOGI_SHAPE_DISTANCES:
			return (ListText) {"the distance matrix", "Pass fewer sources, or fewer targets."};
		case EMOGI_SHAPE_WALKS:
			return (ListText) {"random walks",
							   "Request fewer sources, or shorter or fewer walks."};
		default:
			return (ListText) {"the result", "Raise emogi.max_memory, or select fewer edges."};
	}
}

/* Raise 53200 for a list that is larger than emogi.max_memory. */
static void
require_room(EmogiAlgorithm algorithm, uint64 length)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(algorithm)->columns;
	uint64		width = 0;

	for (int i = 0; columns[i].name != NULL; i++)
		width += emogi_algorithm_column_bytes(columns[i].type);
	if (length > emogi_arena_budget_bytes() / width)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("emogi.max_memory is too small for a list of " UINT64_FORMAT " elements",
						length),
				 errdetail("An element takes " UINT64_FORMAT " bytes. emogi.max_memory allows "
						   UINT64_FORMAT ".", width,
						   emogi_arena_budget_bytes()),
				 errhint("%s", list_text(algorithm).hint)));
}

/* Allocate the columns of a result that it does not have yet. Raises 54000. */
static void
alloc_columns(EmogiCall *call, const EmogiQuery *query, const EmogiGraph *graph,
			  EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(query->algorithm)->columns;
	const uint64 length = emogi_query_length(graph, query);

	if (length == PG_UINT64_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%s would have too many rows", list_text(query->algorithm).name),
				 errhint("%s", list_text(query->algorithm).hint)));
	if (emogi_shape_is_list(emogi_algorithm_row(query->algorithm)->shape))
		require_room(query->algorithm, length);
	for (int i = 0; columns[i].name != NULL; i++)
		if (result->columns[i].any == NULL)
			result->columns[i].any = alloc_array(call, length,
												 emogi_algorithm_column_bytes(columns[i].type));
}

/* Free the columns that alloc_columns allocated. */
static void
free_columns(EmogiAlgorithm algorithm, uint64 length, const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(algorithm)->columns;

	for (int i = 0; columns[i].name != NULL; i++)
		emogi_arena_free(result->columns[i].any,
						 Max(length, 1) * emogi_algorithm_column_bytes(columns[i].type));
}

/* Return the vertex numbers of keys, in the arena; keys that are not in the graph are skipped. */
static const uint32 *
find_numbers(EmogiCall *call, const EmogiGraph *graph, const int64 *keys, uint64 nkeys,
			 uint64 *nnumbers)
{
	uint32	   *numbers = alloc_array(call, nkeys, sizeof(uint32));

	*nnumbers = 0;
	for (uint64 i = 0; i < nkeys; i++)
	{
		uint32		number = emogi_graph_vertex(graph, keys[i]);

		if (number != EMOGI_NO_VERTEX)
			numbers[(*nnumbers)++] = number;
	}
	return numbers;
}

/* Free what find_numbers returned, which may be NULL; a call may have many searches. */
static void
free_numbers(const uint32 *numbers, uint64 nkeys)
{
	if (numbers != NULL)
		emogi_arena_free(unconstify(uint32 *, numbers), Max(nkeys, 1) * sizeof *numbers);
}

/* Raise 22023: start values cannot be normalized to teleport probabilities. */
static void
report_start_sum(const char *what, double value)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("start values %s %g", what, value),
			 errhint("Start values of emogi_pagerank must be 0 or more, and at least one must be "
					 "greater than 0.")));
}

/* Raise 22023: no vertex of the graph has a start value. */
static void
report_no_start(const EmogiTask *task)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no vertex of graph \"%s\" has a start value", task->graph.text),
			 errdetail("The query of start values returns no rows, or only NULLs and vertices that "
					   "are not in the graph."),
			 errhint("A vertex is in the graph if an edge begins or ends there. Select a start "
					 "value for at least one such vertex.")));
}

/* Normalize start values to a sum of 1. Raises 22023. */
static void
normalize_start(const EmogiTask *task, const EmogiGraph *graph, double *values)
{
	double		sum = 0.0;

	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		if (unlikely(values[v] < 0.0))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid start value %g of vertex %s", values[v],
							emogi_vertices_text(task, graph, v)),
					 errhint("Start values of emogi_pagerank must be 0 or more: the probability of "
							 "a random jump to a vertex is proportional to them.")));
		sum += values[v];
	}
	if (isinf(sum))
		report_start_sum("sum to", sum);
	if (sum == 0.0)
		report_start_sum("of the vertices of the graph sum to", sum);
	for (uint64 v = 0; v < graph->nvertices; v++)
		values[v] /= sum;
}

/* Does a task's query of values return communities? */
bool
emogi_task_has_communities(const EmogiTask *task)
{
	return emogi_algorithm_takes(emogi_algorithm_row(task->query.algorithm),
								 EMOGI_COMMUNITIES) >= 0;
}

/* Raise 22023 for a vertex without a community. */
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

/* Read the start values or communities into the arena. */
static void
set_values(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiQuery *query)
{
	double	   *values = alloc_array(call, graph->nvertices, sizeof(double));
	Size		given_bytes = Max(graph->nvertices, 1) * sizeof(bool);
	bool	   *given = emogi_call_alloc(call, given_bytes);
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);
	const bool	is_dirichlet = (row->traits & EMOGI_SUM_DIRICHLET) != 0;
	bool		any_given;

	emogi_start_values_read(graph, task->form, task->start, emogi_task_has_communities(task),
							is_dirichlet || emogi_task_has_communities(task) ? get_float8_nan() :
							0.0, values, given);
	any_given = memchr(given, true, graph->nvertices) != NULL;
	emogi_arena_free(given, given_bytes);
	if (emogi_task_has_communities(task))
		require_communities(task, graph, values);
	if (emogi_algorithm_takes(row, EMOGI_TELEPORT) < 0)
		query->values = values;
	else
	{
		if (!any_given)
			report_no_start(task);
		normalize_start(task, graph, values);
		query->teleport = values;
	}
}

/* Sort vertices and drop duplicates: random walks and distances are numbered in this order. */
static void
sort_vertices(const uint32 *given, uint64 *count)
{
	uint32	   *vertices = unconstify(uint32 *, given);

	qsort(vertices, *count, sizeof *vertices, emogi_compare_uint32);
	*count = qunique(vertices, *count, sizeof *vertices, emogi_compare_uint32);
}

/* Read the pairs into the arena. */
static void
set_pairs(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiQuery *query)
{
	EmogiVertexPair *found = emogi_pair_query_read(graph, NULL, task, &query->npairs);
	uint32	   *pairs = alloc_array(call, 2 * query->npairs, sizeof(uint32));

	memcpy(pairs, found, 2 * query->npairs * sizeof(uint32));
	pfree(found);
	query->pairs = pairs;
}

/*
 * End the run of a task's query that is chained to the build of its graph: another has answered, or
 * the graph is given up.
 */
void
emogi_task_cancel_chained(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph)
{
	const EmogiReply *reply = emogi_call_cancel_chained(call);

	free_columns(task->query.algorithm, emogi_query_length(graph, &task->query),
				 &reply->result);
}

/* Begin a request for a task's query. */
static EmogiRequest *
begin_request(EmogiCall *call, EmogiRequestKind kind, const EmogiTask *task,
			  const EmogiGraph *graph)
{
	EmogiRequest *request = &call->slot->request;

	memset(request, 0, sizeof *request);
	request->kind = kind;
	/* no other engine can use a mask */
	request->engine = task->query.mask != NULL ? EMOGI_ENGINE_CPU : emogi_engine;
	request->graph = *graph;
	request->query = task->query;
	request->query.placement = emogi_placement;
	request->query.papers = emogi_papers_query();
	return request;
}

/*
 * Can an engine aggregate the answer? The CPU engine aggregates only BFS levels, which it counts as
 * it assigns them; other aggregates are left to the reader of the rows. Values that may diverge
 * must all be checked.
 */
static bool
may_summarize(const EmogiTask *task, const EmogiGraph *graph)
{
	return task->summarize != NULL && !task->has_targets && !task->is_shared &&
		(emogi_answer_may_use_gpu() ||
		 emogi_algorithm_has(task->query.algorithm, EMOGI_CPU_AGGREGATES)) &&
		!emogi_task_may_diverge(task, graph);
}

/*
 * Find the first rows of a distance matrix from both ends of their pairs, as long as that pays;
 * return the number of rows.
 */
static uint64
search_rows(EmogiPairSearch *search, const EmogiQuery *query, double *distance)
{
	const uint64 npairs = query->nsources * query->ntargets;
	const bool	is_weighted = search->graph.weight_type != EMOGI_WEIGHT_NONE;
	EmogiLocalPath path;
	uint64		ndone = 0;

	emogi_pair_budget_run(&search->budget, npairs, is_weighted ? query->nsources :
						  emogi_pair_budget_batches(query->nsources));
	for (; ndone < npairs; ndone++)
	{
		CHECK_FOR_INTERRUPTS();
		if (query->ntargets > 1 ? ndone % query->ntargets == 0 : ndone == 0)
			emogi_pair_budget_group(&search->budget, query->ntargets,
									query->ntargets > 1 ? 1 : query->nsources);
		if (!emogi_task_pairs_find(search, query->sources[ndone / query->ntargets],
								   query->targets[ndone % query->ntargets], &path))
			break;
		distance[ndone] = path.length > 0 ? path.distance[path.length - 1] : (double) INFINITY;
	}
	emogi_task_pairs_end_run(search, ndone < npairs);
	emogi_task_pairs_free(search);
	return ndone / Max(query->ntargets, 1);
}

/*
 * Does the CPU engine run on a graph in the backend: on one that was collected, and so small that a
 * request to the worker would take longer? Nothing cancels it there.
 */
static bool
runs_in_backend(const EmogiTask *task, const EmogiGraph *graph)
{
	return task->is_collected && emogi_answer_runs_in_backend(graph->forward.nedges);
}

/* Run the slot's request, and return the result. */
static const EmogiResult *
run_request(EmogiCall *call, const EmogiTask *task)
{
	if (!runs_in_backend(task, &call->slot->request.graph))
		return &emogi_call_request(call)->result;
	emogi_local_batch_query(call, &call->slot->request);
	return &call->slot->request.result;
}

/* Find the remaining rows of a matrix, in the backend if a hierarchy serves. */
static void
run_rows(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiRequest *request)
{
	const double start_ms = emogi_pool_now_ms();

	if (emogi_hierarchy_search_matrix(call, graph, &request->query,
									  request->result.columns[0].float64))
		return;
	(void) run_request(call, task);
	if (emogi_hierarchy_search_may_serve(call, graph) &&
		emogi_hierarchy_search_is_cheaper(call, graph, &request->query))
		emogi_cache_contraction_record_path(call->slot->graph, emogi_pool_now_ms() - start_ms);
}

/* Run a request for a distance matrix; its rows refer to the sources and targets in the request. */
static void
run_matrix(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiRequest *request,
		   EmogiResult *result)
{
	const EmogiRequest whole = *request;
	const EmogiQuery *query = &whole.query;
	const bool	may_contract = emogi_hierarchy_search_may_serve(call, graph) &&
		emogi_hierarchy_search_is_cheaper(call, graph, query);
	EmogiPairSearch search;
	uint64		nrows = 0;

	emogi_task_pairs_begin(&search, call, task, graph);
	if (may_contract)
		emogi_hierarchy_search_prepare(call, graph);
	if (!may_contract || !emogi_hierarchy_search_is_prepared(call))
		nrows = search_rows(&search, query, whole.result.columns[0].float64);
	if (may_contract && search.worker_ms > 0)
		emogi_cache_contraction_record_path(call->slot->graph, search.worker_ms);
	*request = whole;
	if (nrows < query->nsources || nrows * query->ntargets == 0)
	{
		request->query.sources += nrows;
		request->query.nsources -= nrows;
		request->result.columns[0].float64 += nrows * query->ntargets;
		run_rows(call, task, graph, request);
		strlcpy(search.engine, call->record.engine, sizeof search.engine);
		*request = whole;
	}
	emogi_task_pairs_record(&search);
	*result = whole.result;
}

/*
 * Run a task's algorithm on its graph, allocating the result arrays that *result does not have; or
 * take the result of that run, if it was chained to the build of the graph. Return false, with
 * nothing run, if no wanted vertex is in the graph.
 */
bool
emogi_task_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
				 EmogiResult *result)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);
	const bool	has_run = call->chains;
	EmogiRequest *request;
	EmogiQuery *query;

	if (has_run)
		(void) emogi_call_await_chained(call);
	request = begin_request(call, EMOGI_REQUEST_RUN, task, graph);
	query = &request->query;

	if (task->has_sources)
		query->sources = find_numbers(call, graph, task->keys, task->nkeys, &query->nsources);
	if (task->has_targets &&
		((row->traits & EMOGI_STOPS) != 0 ||
		 ((row->traits & EMOGI_OF_TARGETS) != 0 && task->pairs == NULL)))
	{
		query->targets = find_numbers(call, graph, task->targets, task->ntargets, &query->ntargets);
		if (query->ntargets == 0)
		{
			free_numbers(query->sources, task->nkeys);
			free_numbers(query->targets, task->ntargets);
			return false;
		}
	}
	if (task->has_sources && emogi_shape_is_list(row->shape))
		sort_vertices(query->sources, &query->nsources);
	if (task->has_target_array)
	{
		query->targets = find_numbers(call, graph, task->target_array_ids, task->target_array.count,
									  &query->ntargets);
		sort_vertices(query->targets, &query->ntargets);
	}
	if (task->start != NULL)
		set_values(call, task, graph, query);
	if (task->pairs != NULL)
		set_pairs(call, task, graph, query);
	/* no vertex has more others */
	query->top_k = Min(query->top_k, (int64) Max(graph->nvertices, 2) - 1);
	if (may_summarize(task, graph))
		query->summary = task->summarize(task->summarize_arg, call, task->form);
	request->result = *result;
	if (!has_run)
		alloc_columns(call, query, graph, &request->result);
	if (row->shape == EMOGI_SHAPE_DISTANCES)
	{
		run_matrix(call, task, graph, request, result);
		return true;
	}
	*result = has_run ? emogi_call_check_answer(call)->result : *run_request(call, task);
	emogi_refusal_report(task, graph, result);
	emogi_refusal_warn(task, result);
	free_numbers(query->sources, task->nkeys);
	if (!emogi_shape_is_list(row->shape))	/* the rows of a list refer to them */
		free_numbers(query->targets, task->ntargets);
	return true;
}

/* Copy sources into the arena, for a query; return them. */
static const uint32 *
put_sources(EmogiCall *call, const uint32 *sources, int nsources, EmogiQuery *query)
{
	query->sources = memcpy(alloc_array(call, nsources, sizeof *sources), sources,
							nsources * sizeof *sources);
	query->nsources = nsources;
	return query->sources;
}

/*
 * Run a BFS from each of the sources (vertex numbers, 1 .. EMOGI_MSBFS_SOURCES of them) separately.
 * result->memory must be allocated for the call. Check result->too_deep.
 */
void
emogi_task_batch(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
				 const uint32 *sources, int nsources, EmogiMsbfsResult *result)
{
	EmogiRequest *request;
	const uint32 *numbers;

	if (runs_in_backend(task, graph))
	{
		emogi_local_batch_run(call, task, graph, sources, nsources, result);
		return;
	}
	request = begin_request(call, EMOGI_REQUEST_MSBFS, task, graph);
	numbers = put_sources(call, sources, nsources, &request->query);
	request->batch = *result;
	*result = emogi_call_request(call)->batch;
	free_numbers(numbers, nsources);
}

/*
 * Run a BFS from each of the sources (vertex numbers) separately, on whichever engine runs on this
 * graph, and get the sums of each search's levels, from the query's first level on.
 */
void
emogi_task_sums(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
				const uint32 *sources, int nsources, EmogiMsbfsSums *sums)
{
	EmogiRequest *request;
	const uint32 *numbers;
	EmogiResult result;

	if (runs_in_backend(task, graph))
	{
		emogi_local_batch_sums(call, task, graph, sources, nsources, sums);
		return;
	}
	request = begin_request(call, EMOGI_REQUEST_RUN, task, graph);
	numbers = put_sources(call, sources, nsources, &request->query);
	request->query.algorithm = EMOGI_BFS_SUMS;
	alloc_columns(call, &request->query, graph, &request->result);
	result = emogi_call_request(call)->result;
	for (int i = 0; i < nsources; i++)
		sums[i] = (EmogiMsbfsSums) {.count = result.columns[0].int64[i],
									.sum = result.columns[1].int64[i],
									.min = result.columns[2].int32[i],
									.max = result.columns[3].int32[i],
									.harmonic = result.columns[4].float64[i]};
	free_columns(EMOGI_BFS_SUMS, nsources, &result);
	free_numbers(numbers, nsources);
}

/*
 * Have the worker find the path between two vertices of the graph within a cost; false if it
 * exceeds that. path, distance: [nvertices], allocated for the call; *length = 0 means no path.
 * *cost is set also if the function returns false.
 */
bool
emogi_task_path_between(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
						uint32 source, uint32 target, const EmogiPathCost *max, uint32 *path,
						double *distance, uint64 *length, EmogiPathCost *cost)
{
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_PATH, task, graph);
	uint32	   *ends = alloc_array(call, 2, sizeof *ends);
	const EmogiReply *reply;

	ends[0] = source;
	ends[1] = target;
	request->query.sources = &ends[0];
	request->query.targets = &ends[1];
	request->query.nsources = request->query.ntargets = 1;
	request->max_edges = max->nedges;
	request->max_vertices = max->nvertices;
	request->path = path;
	request->path_distance = distance;
	reply = emogi_call_request(call);
	*length = reply->path_length;
	*cost = (EmogiPathCost) {reply->result.edges_traversed, reply->path_settled};
	free_numbers(ends, 2);
	return reply->path_outcome != EMOGI_PATH_GAVE_UP;
}

/*
 * Find the path between a task's source and target without the distances of all vertices; false if
 * that takes too long and the caller must run the query. path, distance: [nvertices], allocated for
 * the call; *length = 0 means no path. tried: edges that an earlier search of this kind has scanned
 * in vain; 0 = there was none.
 */
bool
emogi_task_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint64 tried,
				uint32 *path, double *distance, uint64 *length)
{
	const EmogiPathCost max = emogi_answer_path_limit(graph->forward.nedges);
	const uint32 source = emogi_graph_vertex(graph, task->keys[0]);
	const uint32 target = emogi_graph_vertex(graph, task->targets[0]);
	EmogiPathCost cost;

	*length = 0;
	if (!emogi_answer_tries_path(graph->nvertices, graph->forward.nedges, tried))
		return false;
	if (source == EMOGI_NO_VERTEX || target == EMOGI_NO_VERTEX)
		return true;
	return emogi_task_path_between(call, task, graph, source, target, &max, path, distance, length,
								   &cost);
}
