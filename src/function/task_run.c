/*
 * task_run.c: execution of an algorithm's function, from its arguments to its rows.
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
		case EMOGI_LISTS_BACKWARD:
			return reverse(direction);
		case EMOGI_LISTS_BOTH:
			return EMOGI_BOTH;
		case EMOGI_LISTS_FORWARD:
		case EMOGI_LISTS_ANY:
			break;
	}
	return direction;
}

/* Fill in the graph key of a task, except for the relation and its columns. */
void
emogi_task_graph_key(const EmogiTask *task, EmogiGraphKey *key)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);

	memset(key, 0, sizeof *key);
	key->weights = task->query.is_weighted ? EMOGI_WEIGHTS_CONDUCTANCES : row->weights;
	key->direction = list_direction(row->lists, task->direction);
	key->any_direction = row->lists == EMOGI_LISTS_ANY;
	key->by_labels = (row->traits & EMOGI_KEEPS_COMPONENTS) != 0 &&
		emogi_answer_is_local_enabled();
	key->with_backward = task->with_backward ||
		(task->pairs == NULL && emogi_query_needs_backward(&task->query));
}

/* Does a graph have edges, or changes that may be edges? */
static bool
has_edges(const EmogiGraphView *view)
{
	return view->graph.nvertices > 0 || view->overlay != NULL;
}

/*
 * Raise 22023 if weights were requested and the graph has none: the answer would silently be
 * unweighted.
 */
static void
require_weights(const EmogiTask *task, const EmogiGraphView *view)
{
	if (task->query.is_weighted && view->graph.weight_type == EMOGI_WEIGHT_NONE && has_edges(view))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weights => true, but graph \"%s\" has no weights", task->graph.text),
				 errhint("Name the column that has them, as in 'edges(src, dst, weight)', or leave "
						 "\"weights\" out.")));
}

/*
 * Resolve the graph of a task, check that its arguments fit, and describe the graph that it needs.
 */
static void
prepare(Oid function, EmogiTask *task, EmogiGraphKey *key)
{
	EmogiSource *source = &task->source;

	emogi_task_graph_key(task, key);
	emogi_source_resolve(&task->graph, emogi_source_wanted_weight(key->weights), source);
	if (task->table != NULL)
		*task->table = source->is_query ? InvalidOid : source->relid;
	task->form = NULL;
	if (OidIsValid(source->key.type))
		emogi_vertices_read(task, function, &source->key);
	if (task->start != NULL)
		emogi_start_values_check(task->start, emogi_task_has_communities(task), &source->key);
	if (task->pairs != NULL)
		emogi_pair_query_check(task->pairs, &source->key);
	emogi_request_require_engine();
}

/* Is the task for one path? Then its ends are the sources. */
static bool
is_for_path(const EmogiTask *task)
{
	return task->last_is_target;
}

/* Describe the query of a course for the build of its graph (EmogiGraphRequest.chain). */
static const EmogiChainedRun *
chain(void *arg)
{
	const EmogiCourse *course = arg;

	return emogi_chained_run_make(course->task, &course->question);
}

/*
 * Set what a course accepts instead of a graph, or with one. A local search of vertices needs no
 * slot. A query may begin with the build if its sources are known before.
 */
static void
request_course(EmogiCourse *course, EmogiGraphRequest *request)
{
	const EmogiTask *task = course->task;
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);
	const bool	may_be_local = emogi_answer_can(EMOGI_ANSWERER_LOCAL, &course->question);

	request->accepts_overlay = emogi_answer_accepts_overlay(&course->question);
	request->needs_labels = request->key.by_labels &&
		!emogi_answer_can(EMOGI_ANSWERER_NEIGHBORHOOD, &course->question);
	request->accepts_mask = task->query.algorithm == EMOGI_BFS && !is_for_path(task) &&
		task->pairs == NULL && course->question.engine != EMOGI_ENGINE_CUDA &&
		course->question.mapping == EMOGI_MAPPING_AUTO;
	request->needs_no_slot = may_be_local && !is_for_path(task) &&
		row->shape == EMOGI_SHAPE_VERTICES;
	request->chain = !task->has_sources || task->form != NULL ? chain : NULL;
	request->is_empty = is_for_path(task) ? emogi_path_run_is_empty : NULL;
	request->arg = course;
}

/* May a task be answered by a breadth-first search over indexes instead of in a graph? */
static bool
may_search_indexes(const EmogiCourse *course)
{
	return course != NULL &&
		emogi_algorithm_has(course->task->query.algorithm, EMOGI_INDEX_SEARCH) &&
		emogi_answer_can(EMOGI_ANSWERER_INDEX, &course->question);
}

/* Do indexes suit such a search, as far as it is known before the source is open? */
static bool
are_indexes_supported(const EmogiSource *source)
{
	return source->is_query || emogi_index_search_supports(source);
}

/*
 * Begin a call as emogi_task_open does. course: NULL = only a graph is accepted; otherwise that
 * which the call may have instead. Its search may receive the result of an index search, without a
 * graph. The call may have begun before the graph is resolved (emogi_index_search_call_repeat).
 */
static EmogiCall *
open_call(Oid function, EmogiTask *task, bool accepts_overlay, EmogiCourse *course,
		  EmogiGraphView *view)
{
	EmogiIndexSearch collection;
	EmogiGraphRequest request = {.accepts_overlay = accepts_overlay};
	EmogiSource *source = &task->source;
	EmogiCall  *call = NULL;

	memset(view, 0, sizeof *view);
	if (task->kept != NULL && may_search_indexes(course) &&
		emogi_index_search_call_repeat(function, task, &course->search, view, &call))
		return call;
	prepare(function, task, &request.key);
	if (emogi_task_has_empty_set(task))
	{
		emogi_build_check(source);
		if (task->form == NULL)
			emogi_vertices_read(task, function, &source->key);
		if (call != NULL)
			emogi_call_end(call);
		return NULL;
	}
	if (course != NULL)
		request_course(course, &request);
	if (may_search_indexes(course) && are_indexes_supported(source))
	{
		course->search = (EmogiIndexSearch) {.describe = emogi_index_search_call_describe,
											 .context = task,.function = function,
											 .kept = task->kept};
		request.search = &course->search;
	}
	else if (emogi_neighborhood_call_may_serve(task))
	{
		request.search = course != NULL && emogi_neighborhood_call_is_answer(task) ?
			&course->search : &collection;
		*request.search = emogi_neighborhood_call_search(task, function);
	}
	if (call == NULL)
		call = emogi_call_enter(function, get_func_name(function), source);
	if (request.search == NULL && !request.needs_no_slot)
		emogi_call_take_slot(call);
	emogi_acquire(call, source, &request, view);
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	task->query.mask = view->mask;
	if (!task->query.is_weighted || source->guess.is_taken)
		emogi_weight_guess_report(source);
	if (course != NULL && course->search.is_answered)
		return call;
	if (request.search == &collection)
		emogi_neighborhood_call_take(task, &collection);
	require_weights(task, view);
	if (!OidIsValid(source->key.type))
		elog(ERROR, "the type of the keys of graph \"%s\" is not known", task->graph.text);
	if (task->form == NULL)
		emogi_vertices_read(task, function, &source->key);
	if (!has_edges(view))
	{
		emogi_call_end(call);
		return NULL;
	}
	emogi_vertices_find(task, &view->graph, view->overlay);
	return call;
}

/*
 * Begin a call: resolve the task's graph, check the caller's rights, acquire the graph. Return NULL
 * if there is nothing to run: no source was given, or the graph has no edge. The caller ends the
 * call. accepts_overlay: the graph may be an older one with an overlay (EmogiGraphRequest).
 */
EmogiCall *
emogi_task_open(Oid function, EmogiTask *task, bool accepts_overlay, EmogiGraphView *view)
{
	return open_call(function, task, accepts_overlay, NULL, view);
}

/*
 * Replace a call's older graph and overlay by the current graph. If that has no edge, end the call
 * and return false.
 */
bool
emogi_task_reopen(EmogiCall *call, EmogiTask *task, EmogiGraphView *view)
{
	EmogiGraphRequest request = {0};

	emogi_acquire_release(call);
	emogi_task_graph_key(task, &request.key);
	/* the source is still what the name meant: it is locked */
	emogi_acquire(call, &task->source, &request, view);
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	if (view->graph.nvertices > 0)
		emogi_vertices_find(task, &view->graph, view->overlay);
	else
		emogi_call_end(call);
	return view->graph.nvertices > 0;
}

/* ---- who answers: the functions of the rows of EMOGI_ANSWERERS ---- */

/* The outcome of a run. */
typedef enum Outcome
{
	ANSWERED,
	GAVE_UP,					/* another answerer must run it */
	NO_ROWS
} Outcome;

/* The search was run while the graph was acquired (acquire/index_or_build.c). */
static Outcome
run_index(EmogiCourse *course)
{
	emogi_index_search_call_set_result(course->call, course->task, &course->search, course->graph,
									   course->result);
	if (course->search.found != NULL)
		emogi_task_notice_not_found(course->task, &course->search);
	if (course->search.strengths != NULL)
		emogi_refusal_check_values(course->task, course->graph, course->result);
	return ANSWERED;
}

static Outcome
run_local(EmogiCourse *course)
{
	const uint64 max_edges = emogi_answer_max_edges(&course->question);
	bool		answered;

	if (is_for_path(course->task))
		answered = emogi_path_run_local(course);
	else
		answered = emogi_local_search_run(course->call, course->task, course->view.overlay,
										  max_edges, course->graph, course->result);
	return answered ? ANSWERED : GAVE_UP;
}

static Outcome
run_neighborhood(EmogiCourse *course)
{
	return emogi_neighborhood_run(course->call, course->task, course->view.overlay,
								  emogi_answer_neighborhood_edges(&course->question),
								  course->graph, course->result) ? ANSWERED : GAVE_UP;
}

static Outcome
run_components(EmogiCourse *course)
{
	return emogi_components_run(course->call, course->task, course->view.overlay, course->graph,
								course->result) ? ANSWERED : GAVE_UP;
}

static Outcome
run_hierarchy(EmogiCourse *course)
{
	return emogi_path_run_hierarchy(course) ? ANSWERED : GAVE_UP;
}

/* The engine worker runs it, and makes the choice of the engine anew: it knows its GPUs. */
static Outcome
run_engine(EmogiCourse *course)
{
	EmogiTask  *task = course->task;

	if (is_for_path(task))
		emogi_path_run_engine(course);
	else if (!emogi_task_query(course->call, task, course->graph, course->result))
		return NO_ROWS;
	else if (emogi_algorithm_has(task->query.algorithm, EMOGI_KEEPS_COMPONENTS) &&
			 emogi_answer_is_local_enabled() && !course->result->is_summarized)
		emogi_components_keep(course->call, course->result);
	return ANSWERED;
}

/* Run a task by an answerer. */
static Outcome
run(EmogiAnswererId id, EmogiCourse *course)
{
	static Outcome (*const runs[]) (EmogiCourse *course) = {
#define ANSWERER(NAME, name, reads, run) [EMOGI_ANSWERER_##NAME] = run_##run,
		EMOGI_ANSWERERS(ANSWERER)
#undef ANSWERER
	};

	return runs[id] (course);
}

/* ---- the course of a call ---- */

/* Ask who answers a task, as far as its arguments and the settings tell. */
void
emogi_task_ask(const EmogiTask *task, EmogiQuestion *question)
{
	emogi_answer_ask(task->query.algorithm, question);
	question->kind = is_for_path(task) ? EMOGI_QUESTION_PATH : EMOGI_QUESTION_SEARCH;
	question->may_use_indexes = task->collects == EMOGI_SEARCHES;
	/* targets do not bound a tree, which is always completed */
	question->is_bounded = is_for_path(task) || task->query.max_depth >= 0 ||
		task->query.max_distance < (double) INFINITY ||
		(task->has_targets &&
		 !emogi_shape_is_tree(emogi_algorithm_row(task->query.algorithm)->shape));
	question->has_targets = task->has_targets;
	question->has_target_array = task->has_target_array;
	question->has_pairs = task->pairs != NULL;
	question->has_components = task->has_components;
	question->nsources = task->sources.count;
	question->ntargets = task->wanted.count;
	question->ngoals = task->target_array.count;
	question->is_shared = task->is_shared;
	question->no_rows = task->no_rows;
}

/* Complete the question by what is known of the graph. */
static void
ask_graph(EmogiCourse *course)
{
	EmogiQuestion *question = &course->question;
	const EmogiGraph *graph = &course->view.graph;

	question->has_graph = true;
	question->nvertices = graph->nvertices;
	question->nedges = graph->forward.nedges;
	question->has_overlay = course->view.overlay != NULL;
	question->has_mask = course->view.mask != NULL;
	question->keeps_components =
		emogi_algorithm_has(question->algorithm, EMOGI_KEEPS_COMPONENTS) &&
		course->call->slot->graph >= 0 &&
		emogi_cache_labels_exist(course->call->slot->graph);
	if (is_for_path(course->task) && course->view.overlay == NULL)
		emogi_hierarchy_search_ask(course->call, graph, question);
}

/* Report ends that are not in the graph; has_edges: the graph has been read and has edges. */
static void
notice(const EmogiCourse *course, bool has_edges)
{
	const EmogiGraph *graph = has_edges ? &course->view.graph : NULL;

	if (is_for_path(course->task))
		emogi_path_run_notice_ends(course->task, course->view.overlay, graph);
	else
		emogi_task_notice_sets(course->task, course->view.overlay, graph);
}

/* Take a slot for a call that has none. Return true if that took a wait, and the graph is lost. */
static bool
take_slot(EmogiCourse *course)
{
	EmogiCall  *call = course->call;

	if (call->slot != NULL)
		return false;
	emogi_call_take_slot(call);
	return call->slot->graph < 0;
}

/*
 * Take a slot, replace an older graph by the current one, which the other answerers read, and
 * report ends that are not in it. Return false if there is nothing to run: the call has ended.
 */
static bool
go_current(EmogiCourse *course)
{
	bool		has_edges = true;

	if (take_slot(course) || course->view.overlay != NULL)
	{
		has_edges = emogi_task_reopen(course->call, course->task, &course->view);
		*course->graph = course->view.graph;
		if (has_edges)
			ask_graph(course);
	}
	notice(course, has_edges);
	if (has_edges && course->task->no_rows)
		emogi_call_end(course->call);
	return has_edges && !course->task->no_rows;
}

/*
 * Answer a call that has a graph: choose who does, again if one gives up. Return false if there is
 * nothing to answer: the call has ended.
 */
static bool
answer(EmogiCourse *course)
{
	bool		is_current = false;
	EmogiAnswererId id;
	Outcome		outcome = GAVE_UP;

	ask_graph(course);
	do
	{
		id = emogi_answer_choose(&course->question, NULL);
		if (emogi_answer_row(id)->reads == EMOGI_READS_CURRENT && !is_current)
		{
			if (!go_current(course))
				return false;
			is_current = true;
			continue;			/* of the current graph, another may be cheaper */
		}
		outcome = run(id, course);
		course->question.gave_up |= 1u << id;
	} while (outcome == GAVE_UP);
	if (!is_current && outcome != NO_ROWS)
		notice(course, true);
	emogi_masked_graph_end(course->call, &course->view);
	course->task->query.mask = NULL;
	if (outcome == NO_ROWS)
	{
		emogi_call_end(course->call);
		return false;
	}
	if ((1u << id & EMOGI_ANSWERERS_IN_BACKEND) != 0)
		(void) emogi_answer_row(id)->can(&course->question, course->call->record.reason);
	return true;
}

/*
 * Begin a call as emogi_task_open does, and answer it. Return NULL also if no rows are wanted. The
 * caller reads the result and ends the call.
 */
EmogiCall *
emogi_task_run(Oid function, EmogiTask *task, EmogiGraph *graph, EmogiResult *result)
{
	EmogiCourse course = {.task = task,.graph = graph,.result = result};

	emogi_task_ask(task, &course.question);
	course.call = open_call(function, task, false, &course, &course.view);
	*graph = course.view.graph;
	memset(result, 0, sizeof *result);
	if (course.call == NULL)
	{
		notice(&course, false);
		return NULL;
	}
	course.question.gave_up = 1u << EMOGI_ANSWERER_INDEX;
	if (course.search.is_answered)
	{
		(void) run(EMOGI_ANSWERER_INDEX, &course);
		(void) emogi_answer_row(EMOGI_ANSWERER_INDEX)->can(&course.question,
														   course.call->record.reason);
	}
	else if (!answer(&course))
		return NULL;
	else
	{
		if (course.call->chains)
			emogi_task_cancel_chained(course.call, task, graph);
		if (emogi_task_may_diverge(task, &course.view.graph))
			emogi_refusal_check_values(task, graph, result);
	}
	emogi_call_phase(course.call, EMOGI_PHASE_ROWS);
	return course.call;
}
