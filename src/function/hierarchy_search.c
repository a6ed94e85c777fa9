/*
 * hierarchy_search.c: shortest paths and distance matrices computed in the backend, with the
 * contraction hierarchy of a cached graph (cache/cache_contraction.c)
 *
 * If emogi.contraction_min_calls leaves the construction of hierarchies to calls, it is done here.
 * The call that constructs one waits for it; later calls do not even need the worker.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "contract/contraction.h"
#include "answer/cost.h"
#include "function/function.h"
#include "base/arena.h"

/* Does the call's graph have a hierarchy? */
bool
emogi_hierarchy_search_is_prepared(const EmogiCall *call)
{
	const EmogiContraction *made = emogi_cache_contraction_begin(call->slot->graph);

	if (made != NULL)
		emogi_cache_contraction_end(call->slot->graph);
	return made != NULL;
}

/* Is the call's graph a cached one without overlay, which may have or get a hierarchy? */
static bool
may_contract(const EmogiCall *call, const EmogiGraph *graph)
{
	bool		reversed;

	return call->slot != NULL && call->slot->graph >= 0 &&
		emogi_cache_contraction_graph(call->slot->graph, graph, &reversed) != NULL;
}

/*
 * Complete a question for a path by what is known of the hierarchy of the call's graph, which has
 * no overlay.
 */
void
emogi_hierarchy_search_ask(const EmogiCall *call, const EmogiGraph *graph,
						   EmogiQuestion *question)
{
	question->may_contract = may_contract(call, graph);
	question->is_contracted = emogi_answer_can(EMOGI_ANSWERER_HIERARCHY, question) &&
		emogi_hierarchy_search_is_prepared(call);
}

/* Ask a question for paths of a call's graph, which has no overlay. */
static EmogiQuestion
question_of(const EmogiCall *call, const EmogiGraph *graph, EmogiQuestionKind kind,
			uint64 nsources, uint64 ngoals)
{
	EmogiQuestion question;

	emogi_answer_ask(EMOGI_SSSP, &question);
	question.kind = kind;
	question.nsources = nsources;
	question.ngoals = ngoals;
	question.has_graph = true;
	question.nvertices = graph->nvertices;
	question.nedges = graph->forward.nedges;
	question.may_contract = may_contract(call, graph);
	return question;
}

/* Do the settings and the call's graph allow paths by a contraction hierarchy? */
bool
emogi_hierarchy_search_may_serve(const EmogiCall *call, const EmogiGraph *graph)
{
	const EmogiQuestion question = question_of(call, graph, EMOGI_QUESTION_PATH, 1, 1);

	return emogi_answer_can(EMOGI_ANSWERER_HIERARCHY, &question);
}

/* Construct the hierarchy of the call's graph if it is due. Raises a cancel. */
void
emogi_hierarchy_search_prepare(EmogiCall *call, const EmogiGraph *graph)
{
	EmogiControl control = {0};
	EmogiContraction *made;
	EmogiStatus status;
	EmogiError	error;
	bool		reversed;

	if (!emogi_cache_contraction_is_due(call->slot->graph))
		return;
	status =
		emogi_contraction_make(emogi_cache_contraction_graph(call->slot->graph, graph, &reversed),
							   emogi_arena_budget_bytes() / EMOGI_CONTRACTION_MEMORY_SHARE,
							   emogi_cache_labels_must_stop, &made, &control, &error);
	if (status == EMOGI_OK && made != NULL)
		emogi_cache_contraction_keep(call->slot->graph, made);
	if (status == EMOGI_CANCELED)
		emogi_cache_contraction_retry(call->slot->graph);
	free(made);
	CHECK_FOR_INTERRUPTS();
}

/* Copy the path of an answer into the current context. */
static void
copy_path(const EmogiPathAnswer *answer, EmogiLocalPath *path)
{
	path->length = answer->length;
	path->vertices = palloc_extended(Max(answer->length, 1) * sizeof *path->vertices,
									 MCXT_ALLOC_HUGE);
	path->distance = palloc_extended(Max(answer->length, 1) * sizeof *path->distance,
									 MCXT_ALLOC_HUGE);
	if (answer->length == 0)
		return;
	memcpy(path->vertices, answer->vertices, answer->length * sizeof *path->vertices);
	memcpy(path->distance, answer->distance, answer->length * sizeof *path->distance);
}

/*
 * Find the path between a task's source and target with the hierarchy of the call's graph; return
 * false if there is none, or if it gives up. The path is in memory of the current context; length
 * 0: no path exists.
 */
bool
emogi_hierarchy_search_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
							EmogiLocalPath *path)
{
	const double start_ms = emogi_pool_now_ms();
	const uint32 source = emogi_graph_vertex(graph, task->keys[0]);
	const uint32 target = emogi_graph_vertex(graph, task->targets[0]);
	const EmogiContraction *made;
	EmogiControl control = {0};
	EmogiPathAnswer answer = {.outcome = EMOGI_PATH_GAVE_UP};
	EmogiStatus status;
	EmogiError	error;
	bool		reversed;

	(void) emogi_cache_contraction_graph(call->slot->graph, graph, &reversed);
	if (source == EMOGI_NO_VERTEX || target == EMOGI_NO_VERTEX ||
		(made = emogi_cache_contraction_begin(call->slot->graph)) == NULL)
		return false;
	status = emogi_contraction_path(made, graph, reversed, source, target, &answer, &control,
									&error);
	emogi_cache_contraction_end(call->slot->graph);
	if (status != EMOGI_OK || answer.outcome == EMOGI_PATH_GAVE_UP)
		return false;
	emogi_local_search_record_run(call, graph, answer.length, 0, answer.edges_traversed, start_ms);
	strlcpy(call->record.engine, "hierarchy", sizeof call->record.engine);
	copy_path(&answer, path);
	emogi_path_search_free(&answer);
	return true;
}

/* ---- reachability ---- */

/*
 * Return a call's graph with its weights, which the call may not use; without edges if the cached
 * graph is another, or has none.
 */
static EmogiGraph
with_weights(const EmogiCall *call, const EmogiGraph *graph)
{
	EmogiGraph	weighted = *graph;
	bool		reversed;

	weighted.weight_type = emogi_cache_shared->graphs[call->slot->graph].graph.weight_type;
	if (weighted.weight_type == EMOGI_WEIGHT_NONE ||
		emogi_cache_contraction_graph(call->slot->graph, &weighted, &reversed) == NULL)
		return (EmogiGraph) {0};
	return weighted;
}

/*
 * Does the call's graph have a hierarchy, which tells sooner than one search whether a vertex
 * reaches this many others?
 */
bool
emogi_hierarchy_search_reaching_is_cheaper(const EmogiCall *call, const EmogiGraph *graph,
										   uint64 ntargets)
{
	EmogiGraph	weighted;
	EmogiQuestion question;

	if (call->slot == NULL || call->slot->graph < 0 ||
		ntargets * EMOGI_COST_HIERARCHY_REACH_US * sqrt((double) graph->nvertices) >
		graph->forward.nedges * EMOGI_COST_HIERARCHY_BFS_EDGE_US)
		return false;
	weighted = with_weights(call, graph);
	question = question_of(call, &weighted, EMOGI_QUESTION_PATH, 1, 1);
	return emogi_answer_can(EMOGI_ANSWERER_HIERARCHY, &question) &&
		emogi_hierarchy_search_is_prepared(call);
}

/*
 * Find out with the hierarchy of the call's graph whether a path leads from a vertex to another.
 * Return false if there is none any more, or if it does not tell, because paths may be of infinite
 * length.
 */
bool
emogi_hierarchy_search_reaches(EmogiCall *call, const EmogiGraph *graph, uint32 source,
							   uint32 target, bool *reaches)
{
	const double start_ms = emogi_pool_now_ms();
	const EmogiGraph weighted = with_weights(call, graph);
	const EmogiContraction *made;
	EmogiControl control = {0};
	EmogiStatus status;
	EmogiError	error;
	uint64		nscanned;
	bool		reversed;
	bool		is_known;

	if (emogi_cache_contraction_graph(call->slot->graph, &weighted, &reversed) == NULL ||
		(made = emogi_cache_contraction_begin(call->slot->graph)) == NULL)
		return false;
	status = emogi_contraction_reaches(made, reversed, source, target, reaches, &nscanned, &control,
									   &error);
	is_known = *reaches || made->is_finite;
	emogi_cache_contraction_end(call->slot->graph);
	if (status != EMOGI_OK || !is_known)
		return false;
	emogi_local_search_record_run(call, graph, *reaches, 0, nscanned, start_ms);
	strlcpy(call->record.engine, "hierarchy", sizeof call->record.engine);
	return true;
}

/* ---- costs ---- */

/* Does a hierarchy cost less than searches with all threads? */
static bool
is_cheaper(const EmogiQuestion *question)
{
	return emogi_answer_cost_us(EMOGI_ANSWERER_HIERARCHY, question) <
		emogi_answer_cost_us(EMOGI_ANSWERER_CPU, question);
}

/*
 * Are this many paths from a vertex cheaper one by one with a hierarchy than by one search for all
 * of them?
 */
bool
emogi_hierarchy_search_paths_are_cheaper(const EmogiCall *call, const EmogiGraph *graph,
										 uint64 npaths)
{
	const EmogiQuestion question = question_of(call, graph, EMOGI_QUESTION_PATHS, 1, npaths);

	return is_cheaper(&question);
}

/*
 * Is a matrix row cheaper with a hierarchy, target by target by this process alone or by a sweep,
 * than by a search with all threads?
 */
bool
emogi_hierarchy_search_is_cheaper(const EmogiCall *call, const EmogiGraph *graph,
								  const EmogiQuery *query)
{
	const EmogiQuestion question = question_of(call, graph, EMOGI_QUESTION_MATRIX,
											   query->nsources, query->ntargets);

	return is_cheaper(&question);
}

/*
 * Compute the distances of a query of emogi_distance_matrix with the hierarchy of the call's graph,
 * which is constructed if it is due; return false if there is none, or if it gives up. Raises a
 * cancel.
 */
bool
emogi_hierarchy_search_matrix(EmogiCall *call, const EmogiGraph *graph, const EmogiQuery *query,
							  double *distance)
{
	const EmogiQuestion question = question_of(call, graph, EMOGI_QUESTION_MATRIX,
											   query->nsources, query->ntargets);
	const EmogiContraction *made;
	EmogiControl control = {0};
	EmogiStatus status;
	EmogiError	error;
	double		start_ms;
	uint64		nscanned;
	bool		reversed;

	if (!emogi_answer_can(EMOGI_ANSWERER_HIERARCHY, &question) || !is_cheaper(&question))
		return false;
	emogi_hierarchy_search_prepare(call, graph);
	(void) emogi_cache_contraction_graph(call->slot->graph, graph, &reversed);
	made = emogi_cache_contraction_begin(call->slot->graph);
	if (made == NULL)
		return false;
	start_ms = emogi_pool_now_ms();
	if (emogi_answer_sweeps(&question))
		status = emogi_contraction_sweep(made, graph, reversed, query,
										 emogi_answer_sweeping_threads(&question),
										 emogi_cache_labels_must_stop,
										 distance, &nscanned, &control, &error);
	else
		status = emogi_contraction_distances(made, graph, reversed, query,
											 emogi_cache_labels_must_stop, distance, &nscanned,
											 &control, &error);
	emogi_cache_contraction_end(call->slot->graph);
	CHECK_FOR_INTERRUPTS();
	if (status != EMOGI_OK)
		return false;
	emogi_local_search_record_run(call, graph, query->nsources, 0, nscanned, start_ms);
	strlcpy(call->record.engine, "hierarchy", sizeof call->record.engine);
	return true;
}
