/*
 * hierarchy_search.c: far shortest paths, and matrices of distances, by the backend itself, by way
 * of the contraction hierarchy that a cached Graph has kept (cache/cache_contraction.c), and the
 * making of that, where emogi.contraction_after leaves it to calls. A call that makes it waits for
 * it; those after it need not even ask the worker.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "cpu/contraction.h"
#include "function/function.h"
#include "base/papers_settings.h"
#include "base/arena.h"

#define PATH_MS 0.003			/* a path, for each vertex of a row of a grid */
#define TARGET_MS 0.12			/* a target of a row, by a hierarchy */
#define SWEPT_MS 1e-5			/* a list entry of a row, by a sweep over a hierarchy */
#define ENTRY_MS 4e-5			/* a list entry of a search, of one thread */
#define SWEEP_SHARE 8			/* of emogi.max_memory that a sweep may take of the backend's own */

/*
 * Is the engine that was asked for one that leaves far paths to hierarchies? And is the call's
 * Graph, which is not patched, a cached one?
 */
bool
emogi_hierarchy_search_may_serve(const EmogiCall *call, const EmogiGraph *graph)
{
	bool		reversed;

	return emogi_enable_contraction && emogi_engine != EMOGI_ENGINE_CUDA &&
		emogi_papers_query().mapping == EMOGI_MAPPING_AUTO &&
		call->slot != NULL && call->slot->graph >= 0 &&
		emogi_cache_contraction_graph(call->slot->graph, graph, &reversed) != NULL;
}

/* Has the call's Graph a hierarchy? */
bool
emogi_hierarchy_search_is_prepared(const EmogiCall *call)
{
	const EmogiContraction *made = emogi_cache_contraction_begin(call->slot->graph);

	if (made != NULL)
		emogi_cache_contraction_end(call->slot->graph);
	return made != NULL;
}

/* Make the hierarchy of the call's Graph if it is this call's turn. Raises a cancel. */
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
							   emogi_arena_budget_bytes() / EMOGI_MAKING_SHARE,
							   emogi_cache_labels_stop, &made, &control, &error);
	if (status == EMOGI_OK && made != NULL)
		emogi_cache_contraction_keep(call->slot->graph, made);
	if (status == EMOGI_CANCELED)
		emogi_cache_contraction_retry(call->slot->graph);
	free(made);
	CHECK_FOR_INTERRUPTS();
}

/* Copy the path of an answer into the current context. */
static void
take_path(const EmogiPathAnswer *answer, EmogiLocalPath *path)
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
 * Find the path between a task's source and its target by the hierarchy of the call's Graph; false
 * without one, or where it cannot tell. The path is in memory of the current context; length 0:
 * there is none.
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
	emogi_local_search_note_run(call, graph, answer.length, 0, answer.edges_traversed, start_ms);
	strlcpy(call->record.engine, "hierarchy", sizeof call->record.engine);
	take_path(&answer, path);
	emogi_path_search_free(&answer);
	return true;
}

/* Get how long a row of a matrix takes, target by target. */
static double
row_ms(const EmogiQuery *query)
{
	return query->ntargets * TARGET_MS;
}

/*
 * Get how many threads may sweep at once: each has memory of its own, of a share of what there is,
 * and a block of rows. 0 = none.
 */
static int
sweeping_threads(const EmogiGraph *graph, const EmogiQuery *query)
{
	const uint64 room =
		emogi_arena_budget_bytes() / SWEEP_SHARE /
		(graph->nvertices * EMOGI_CONTRACTION_SWEEP_BYTES);
	const uint64 blocks = (query->nsources + EMOGI_CONTRACTION_LANES - 1) / EMOGI_CONTRACTION_LANES;

	return (int) Min(Min(room, blocks), (uint64) emogi_cpu_threads);
}

/* May a hierarchy be swept? It has memory for that, and the rows of a sweep are found at once. */
static bool
may_sweep(const EmogiGraph *graph, const EmogiQuery *query)
{
	return query->nsources >= EMOGI_CONTRACTION_LANES / 2 && sweeping_threads(graph, query) > 0;
}

/* Get how long a row of a matrix takes, swept. */
static double
swept_row_ms(const EmogiGraph *graph, const EmogiQuery *query)
{
	return graph->forward.nedges * SWEPT_MS / sweeping_threads(graph, query);
}

/* Get how long a search from a vertex takes that goes on until it has met all. */
static double
search_ms(const EmogiGraph *graph)
{
	return graph->forward.nedges * ENTRY_MS / emogi_cpu_threads;
}

/*
 * Are so many paths from a vertex sooner found one by one by a hierarchy than by a search for all
 * of them?
 */
bool
emogi_hierarchy_search_paths_are_cheaper(const EmogiGraph *graph, uint64 npaths)
{
	return npaths * PATH_MS * sqrt((double) graph->nvertices) < search_ms(graph);
}

/*
 * Is a row of a matrix sooner found by a hierarchy, target by target by this process alone or
 * swept, than by a search of all threads together? The figures are of a grid of 2 million list
 * entries on two processors.
 */
bool
emogi_hierarchy_search_is_cheaper(const EmogiGraph *graph, const EmogiQuery *query)
{
	return row_ms(query) < search_ms(graph) ||
		(may_sweep(graph, query) && swept_row_ms(graph, query) < search_ms(graph));
}

/*
 * Find the distances of a query of emogi_distance_matrix by the hierarchy of the call's Graph,
 * which is made if it is this call's turn; false without one, or where it cannot tell. Raises a
 * cancel.
 */
bool
emogi_hierarchy_search_matrix(EmogiCall *call, const EmogiGraph *graph, const EmogiQuery *query,
							  double *distance)
{
	const EmogiContraction *made;
	EmogiControl control = {0};
	EmogiStatus status;
	EmogiError	error;
	double		start_ms;
	uint64		looked;
	bool		reversed;

	if (!emogi_hierarchy_search_may_serve(call, graph) ||
		!emogi_hierarchy_search_is_cheaper(graph, query))
		return false;
	emogi_hierarchy_search_prepare(call, graph);
	(void) emogi_cache_contraction_graph(call->slot->graph, graph, &reversed);
	made = emogi_cache_contraction_begin(call->slot->graph);
	if (made == NULL)
		return false;
	start_ms = emogi_pool_now_ms();
	if (may_sweep(graph, query) && swept_row_ms(graph, query) < row_ms(query))
		status = emogi_contraction_sweep(made, graph, reversed, query,
										 sweeping_threads(graph, query), emogi_cache_labels_stop,
										 distance, &looked, &control, &error);
	else
		status = emogi_contraction_distances(made, graph, reversed, query, emogi_cache_labels_stop,
											 distance, &looked, &control, &error);
	emogi_cache_contraction_end(call->slot->graph);
	CHECK_FOR_INTERRUPTS();
	if (status != EMOGI_OK)
		return false;
	emogi_local_search_note_run(call, graph, query->nsources, 0, looked, start_ms);
	strlcpy(call->record.engine, "hierarchy", sizeof call->record.engine);
	return true;
}
