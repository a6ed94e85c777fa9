/*
 * task_request.c: a task as a request to the worker. Its vertices become numbers of the Graph; start values, communities and pairs are read from
 * their queries; all of it, and the arrays that the engine is to fill, lie in the Region.
 */
#include "postgres.h"

#include <math.h>

#include "contract/query.h"
#include "lib/qunique.h"
#include "miscadmin.h"
#include "utils/float.h"

#include "function/function.h"
#include "base/papers_settings.h"
#include "base/arena.h"

/*
 * A search for one path gives up after these shares: all threads together find all distances sooner. Entries of long lists it looks at as fast as they
 * do, so they count little; a vertex that it settles takes as long as some 15 entries do them, so that what was in vain costs a twentieth of what follows.
 * One that could go no farther than the double of what has been looked at in vain is left out.
 */
#define PATH_SHARE	16			/* of list entries */
#define PATH_VERTICES 512		/* list entries for each vertex */
#define PATH_MIN_EDGES UINT64CONST(65536)
#define PATH_MIN_VERTICES UINT64CONST(256)

/* Allocate an array of the Region for a call, with any content. */
static void *
take_array(EmogiCall *call, uint64 length, Size element)
{
	return emogi_call_alloc_any(call, Max(length, 1) * element);
}

/* Say how a list is made shorter. */
static const char *
list_hint(EmogiAlgorithm algorithm)
{
	if (algorithm == EMOGI_SIMILARITY)
		return "Give a smaller top_k.";
	return algorithm == EMOGI_DISTANCE_MATRIX ? "Give fewer sources, or fewer targets." : "Give fewer sources, or shorter or fewer walks.";
}

/* Raise 53200 for a list that is larger than all that calls may have. */
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
				 errmsg("emogi.max_memory is too small for a list of " UINT64_FORMAT " elements", length),
				 errdetail("An element takes " UINT64_FORMAT " bytes. emogi.max_memory allows " UINT64_FORMAT ".", width,
						   emogi_arena_budget_bytes()),
				 errhint("%s", list_hint(algorithm))));
}

/* Give the result the columns of its row, where it has none yet. Raises 54000. */
static void
take_columns(EmogiCall *call, const EmogiQuery *query, uint64 nvertices, EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(query->algorithm)->columns;
	const uint64 length = emogi_query_length(nvertices, query);

	if (length == PG_UINT64_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%s would have too many rows", query->algorithm == EMOGI_SIMILARITY ? "similarities of all vertices" :
						query->algorithm == EMOGI_DISTANCE_MATRIX ? "the distance matrix" : "random walks"),
				 errhint("%s", list_hint(query->algorithm))));
	if ((emogi_algorithm_row(query->algorithm)->traits & EMOGI_IS_LIST) != 0)
		require_room(query->algorithm, length);
	for (int i = 0; columns[i].name != NULL; i++)
		if (result->columns[i].any == NULL)
			result->columns[i].any = take_array(call, length, emogi_algorithm_column_bytes(columns[i].type));
}

/* Free what take_columns gave for so many elements. */
static void
leave_columns(EmogiAlgorithm algorithm, uint64 length, const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(algorithm)->columns;

	for (int i = 0; columns[i].name != NULL; i++)
		emogi_arena_free(result->columns[i].any, Max(length, 1) * emogi_algorithm_column_bytes(columns[i].type));
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

/* Free what take_numbers gave for so many keys, if it did: a call may have many searches. */
static void
leave_numbers(const uint32 *numbers, uint64 nkeys)
{
	if (numbers != NULL)
		emogi_arena_free(unconstify(uint32 *, numbers), Max(nkeys, 1) * sizeof *numbers);
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

/* Raise 22023 that no vertex of the graph has a start value. */
static void
report_no_start(const EmogiTask *task)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("no vertex of graph \"%s\" has a start value", task->graph.text),
			 errdetail("The query of start values returns no row, or only vertices that the graph does not have, or NULLs."),
			 errhint("A vertex is in the graph if an edge begins or ends there. Ranks are personalized by one such vertex at least.")));
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
bool
emogi_task_has_communities(const EmogiTask *task)
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
	const bool	fixes = (row->traits & EMOGI_SUM_DIRICHLET) != 0;
	bool		any_given;

	emogi_values_query(graph, task->form, task->start, emogi_task_has_communities(task), fixes || emogi_task_has_communities(task) ? get_float8_nan() : 0.0,
					   values, given);
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
		divide_by_sum(task, graph, values);
		query->teleport = values;
	}
}

/* Order vertex numbers for qsort. */
static int
compare_numbers(const void *a, const void *b)
{
	const uint32 x = *(const uint32 *) a;
	const uint32 y = *(const uint32 *) b;

	return (x > y) - (x < y);
}

/* Sort vertices, and drop repeats: each has walks, or distances, of its own, which are numbered in this order. */
static void
sort_vertices(const uint32 *given, uint64 *count)
{
	uint32	   *vertices = unconstify(uint32 *, given);

	qsort(vertices, *count, sizeof *vertices, compare_numbers);
	*count = qunique(vertices, *count, sizeof *vertices, compare_numbers);
}

/* Bring the pairs into the Region. */
static void
set_pairs(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiQuery *query)
{
	uint32	   *found = emogi_pairs_query(graph, NULL, task->form, task->pairs, &query->npairs);
	uint32	   *pairs = take_array(call, 2 * query->npairs, sizeof(uint32));

	memcpy(pairs, found, 2 * query->npairs * sizeof(uint32));
	pfree(found);
	query->pairs = pairs;
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

/* May values of a task's answer be out of range? Sums of weights of a vertex are so of doubles alone. */
bool
emogi_task_may_diverge(const EmogiTask *task, const EmogiGraph *graph)
{
	if (task->query.algorithm == EMOGI_DEGREE && graph->weight_type != EMOGI_WEIGHT_F64)
		return false;
	return (emogi_algorithm_row(task->query.algorithm)->traits & EMOGI_MAY_DIVERGE) != 0;
}

/*
 * May an engine make a summary of the answer? The CPU's does of levels, which it counts as it makes them, and leaves others to whoever reads
 * the rows; what may diverge is looked at whole.
 */
static bool
may_summarize(const EmogiTask *task, const EmogiGraph *graph)
{
	const bool	on_cuda = emogi_shared->ncuda > 0 && emogi_engine != EMOGI_ENGINE_CPU;

	return task->summarize != NULL && !task->has_targets && !task->is_shared && (on_cuda || task->query.algorithm == EMOGI_BFS) &&
		!emogi_task_may_diverge(task, graph);
}

/* Find the first rows of a matrix of distances from both ends of their pairs, as long as that pays; get how many those were. */
static uint64
search_rows(EmogiPairSearch *search, const EmogiQuery *query, double *distance)
{
	const uint64 npairs = query->nsources * query->ntargets;
	const bool	is_weighted = search->graph.weight_type != EMOGI_WEIGHT_NONE;
	EmogiLocalPath path;
	uint64		ndone = 0;

	emogi_task_pairs_run(search, npairs, is_weighted ? query->nsources : emogi_task_pairs_batches(query->nsources));
	for (; ndone < npairs; ndone++)
	{
		CHECK_FOR_INTERRUPTS();
		if (query->ntargets > 1 ? ndone % query->ntargets == 0 : ndone == 0)
			emogi_task_pairs_group(search, query->ntargets, query->ntargets > 1 ? 1 : query->nsources);
		if (!emogi_task_pairs_find(search, query->sources[ndone / query->ntargets], query->targets[ndone % query->ntargets], &path))
			break;
		distance[ndone] = path.length > 0 ? path.distance[path.length - 1] : (double) INFINITY;
	}
	emogi_task_pairs_ran(search, ndone < npairs);
	emogi_task_pairs_free(search);
	return ndone / Max(query->ntargets, 1);
}

/* Find the rows of a matrix that are left, which may be the backend's. */
static void
run_rows(EmogiCall *call, const EmogiGraph *graph, EmogiRequest *request)
{
	const double start_ms = emogi_pool_now_ms();

	if (emogi_hierarchy_search_matrix(call, graph, &request->query, request->result.columns[0].float64))
		return;
	(void) emogi_call_request(call);
	if (emogi_hierarchy_search_may_serve(call, graph) && emogi_hierarchy_search_is_cheaper(graph, &request->query))
		emogi_cache_contraction_note(call->slot->graph, emogi_pool_now_ms() - start_ms);
}

/* Carry out a request for a matrix of distances; its rows name the sources and the targets in the request. */
static void
run_matrix(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiRequest *request, EmogiResult *result)
{
	const EmogiRequest whole = *request;
	const EmogiQuery *query = &whole.query;
	const bool	may_contract = emogi_hierarchy_search_may_serve(call, graph) && emogi_hierarchy_search_is_cheaper(graph, query);
	EmogiPairSearch search;
	uint64		nrows = 0;

	emogi_task_pairs_begin(&search, call, task, graph);
	if (may_contract)
		emogi_hierarchy_search_prepare(call, graph);
	if (!may_contract || !emogi_hierarchy_search_is_prepared(call))
		nrows = search_rows(&search, query, whole.result.columns[0].float64);
	if (may_contract && search.worker_ms > 0)
		emogi_cache_contraction_note(call->slot->graph, search.worker_ms);
	*request = whole;
	if (nrows < query->nsources || nrows * query->ntargets == 0)
	{
		request->query.sources += nrows;
		request->query.nsources -= nrows;
		request->result.columns[0].float64 += nrows * query->ntargets;
		run_rows(call, graph, request);
		strlcpy(search.engine, call->record.engine, sizeof search.engine);
		*request = whole;
	}
	emogi_task_pairs_note(&search);
	*result = whole.result;
}

/*
 * Run the task's algorithm on its Graph, with new result arrays where *result has none; false, with nothing run, when no
 * vertex is wanted that the Graph has.
 */
bool
emogi_task_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_RUN, task, graph);
	EmogiQuery *query = &request->query;

	if (task->has_sources)
		query->sources = take_numbers(call, graph, task->keys, task->nkeys, &query->nsources);
	if (task->has_targets && ((row->traits & EMOGI_STOPS) != 0 || (query->algorithm == EMOGI_SIMILARITY && task->pairs == NULL)))
	{
		query->targets = take_numbers(call, graph, task->targets, task->ntargets, &query->ntargets);
		if (query->ntargets == 0)
		{
			leave_numbers(query->sources, task->nkeys);
			leave_numbers(query->targets, task->ntargets);
			return false;
		}
	}
	if (task->has_sources && (row->traits & EMOGI_IS_LIST) != 0)
		sort_vertices(query->sources, &query->nsources);
	if (task->has_goals)
	{
		query->targets = take_numbers(call, graph, task->goal_keys, task->goals.count, &query->ntargets);
		sort_vertices(query->targets, &query->ntargets);
	}
	if (task->start != NULL)
		set_values(call, task, graph, query);
	if (task->pairs != NULL)
		set_pairs(call, task, graph, query);
	query->top_k = Min(query->top_k, (int64) Max(graph->nvertices, 2) - 1);	/* there are no more others */
	if (may_summarize(task, graph))
		query->summary = task->summarize(task->summarize_arg, call, task->form);
	request->result = *result;
	take_columns(call, query, graph->nvertices, &request->result);
	if (task->has_goals)
	{
		run_matrix(call, task, graph, request, result);
		return true;
	}
	*result = emogi_call_request(call)->result;
	emogi_refusal_report(task, graph, result);
	emogi_refusal_warn(task, result);
	leave_numbers(query->sources, task->nkeys);
	if ((row->traits & EMOGI_IS_LIST) == 0)	/* the rows of a list name them */
		leave_numbers(query->targets, task->ntargets);
	return true;
}

/* Bring sources into the Region, for a query. Gets them. */
static const uint32 *
put_sources(EmogiCall *call, const uint32 *sources, int nsources, EmogiQuery *query)
{
	query->sources = memcpy(take_array(call, nsources, sizeof *sources), sources, nsources * sizeof *sources);
	query->nsources = nsources;
	return query->sources;
}

/*
 * Run BFS from each of the sources (vertex numbers, 1 .. EMOGI_MSBFS_SOURCES) by itself. result->memory has been
 * allocated for the call. Check result->too_deep.
 */
void
emogi_task_batch(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources, int nsources,
				EmogiMsbfsResult *result)
{
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_MSBFS, task, graph);
	const uint32 *numbers = put_sources(call, sources, nsources, &request->query);

	request->batch = *result;
	*result = emogi_call_request(call)->batch;
	leave_numbers(numbers, nsources);
}

/*
 * Run BFS from each of the sources (vertex numbers) by itself, on whichever engine a run of this Graph has, and get what the levels of each come to, from
 * the query's first level on.
 */
void
emogi_task_sums(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources, int nsources, EmogiMsbfsSums *sums)
{
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_RUN, task, graph);
	const uint32 *numbers = put_sources(call, sources, nsources, &request->query);
	EmogiResult result;

	request->query.algorithm = EMOGI_BFS_SUMS;
	take_columns(call, &request->query, graph->nvertices, &request->result);
	result = emogi_call_request(call)->result;
	for (int i = 0; i < nsources; i++)
		sums[i] = (EmogiMsbfsSums) {.count = result.columns[0].int64[i],.sum = result.columns[1].int64[i],.least = result.columns[2].int32[i],
			.most = result.columns[3].int32[i],.harmonic = result.columns[4].float64[i]};
	leave_columns(EMOGI_BFS_SUMS, nsources, &result);
	leave_numbers(numbers, nsources);
}

/*
 * Have the worker find the path between two vertices of the Graph within a cost; false when that takes more. path, distance: [nvertices], allocated for the
 * call; *length = 0: there is no path. *cost: what it took, also when it returns false.
 */
bool
emogi_task_path_between(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 source, uint32 target, const EmogiPathCost *max,
						uint32 *path, double *distance, uint64 *length, EmogiPathCost *cost)
{
	EmogiRequest *request = begin_request(call, EMOGI_REQUEST_PATH, task, graph);
	uint32	   *ends = take_array(call, 2, sizeof *ends);
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
	leave_numbers(ends, 2);
	return reply->path_outcome != EMOGI_PATH_GAVE_UP;
}

/*
 * Find the path between the task's source and its target without the distances of all vertices. False when that takes
 * too long: then run the query. path, distance: [nvertices], allocated for the call; *length = 0: there is no path.
 * tried: list entries that a search like this one has looked at in vain; 0 = there was none.
 */
bool
emogi_task_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint64 tried, uint32 *path, double *distance, uint64 *length)
{
	const uint64 nedges = graph->forward.nedges;
	const uint64 max_edges = Max(nedges / PATH_SHARE, PATH_MIN_EDGES);
	const uint64 max_vertices = Max(nedges / PATH_VERTICES, PATH_MIN_VERTICES);
	const EmogiPathCost max = {max_edges, max_vertices};
	const uint32 source = emogi_graph_vertex(graph, task->keys[0]);
	const uint32 target = emogi_graph_vertex(graph, task->targets[0]);
	EmogiPathCost cost;

	*length = 0;
	if (tried > 0 && Min((double) max_edges, (double) max_vertices * nedges / graph->nvertices) <= 2.0 * tried)
		return false;
	if (source == EMOGI_NO_VERTEX || target == EMOGI_NO_VERTEX)
		return true;
	return emogi_task_path_between(call, task, graph, source, target, &max, path, distance, length, &cost);
}
