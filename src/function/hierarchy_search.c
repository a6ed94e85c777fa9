/*
 * hierarchy_search.c: shortest paths and distance matrices computed in the backend, with the
 * contraction hierarchy of a cached graph (cache/cache_contraction.c)
 *
 * If emogi.contraction_after leaves the construction of hierarchies to calls, it is done here. The
 * call that constructs one waits for it; later calls do not even need the worker.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "contract/contraction.h"
#include "function/function.h"
#include "base/papers_settings.h"
#include "base/arena.h"

#define PATH_MS 0.003			/* one path, times sqrt(vertices) */
#define TARGET_MS 0.12			/* one target of a matrix row, with a hierarchy */
#define SWEPT_MS 1e-5			/* one edge per matrix row, in a sweep over a hierarchy */
#define ENTRY_MS 4e-5			/* one edge of a search, with one thread */
/* a sweep may allocate 1 / SWEEP_SHARE of emogi.max_memory in the backend */
#define SWEEP_SHARE 8

/*
 * Does the configured engine allow contraction hierarchies, and is the call's graph a cached one
 * without overlay?
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

/* Does the call's graph have a hierarchy? */
bool
emogi_hierarchy_search_is_prepared(const EmogiCall *call)
{
	const EmogiContraction *made = emogi_cache_contraction_begin(call->slot->graph);

	if (made != NULL)
		emogi_cache_contraction_end(call->slot->graph);
	return made != NULL;
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
	emogi_local_search_note_run(call, graph, answer.length, 0, answer.edges_traversed, start_ms);
	strlcpy(call->record.engine, "hierarchy", sizeof call->record.engine);
	copy_path(&answer, path);
	emogi_path_search_free(&answer);
	return true;
}

/* Get the time for a matrix row, target by target. */
static double
row_ms(const EmogiQuery *query)
{
	return query->ntargets * TARGET_MS;
}

/*
 * Get the number of threads that may sweep concurrently: each needs memory of its own, from a
 * limited share, and a block of rows. 0 = none.
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

/* Is a sweep possible and useful? It needs enough rows, which it computes together, and memory. */
static bool
may_sweep(const EmogiGraph *graph, const EmogiQuery *query)
{
	return query->nsources >= EMOGI_CONTRACTION_LANES / 2 && sweeping_threads(graph, query) > 0;
}

/* Get the time for a matrix row, by a sweep. */
static double
swept_row_ms(const EmogiGraph *graph, const EmogiQuery *query)
{
	return graph->forward.nedges * SWEPT_MS / sweeping_threads(graph, query);
}

/* Get the time for a search from one vertex that visits all vertices. */
static double
search_ms(const EmogiGraph *graph)
{
	return graph->forward.nedges * ENTRY_MS / emogi_cpu_threads;
}

/*
 * Are this many paths from a vertex cheaper one by one with a hierarchy than by one search for all
 * of them?
 */
bool
emogi_hierarchy_search_paths_are_cheaper(const EmogiGraph *graph, uint64 npaths)
{
	return npaths * PATH_MS * sqrt((double) graph->nvertices) < search_ms(graph);
}

/*
 * Is a matrix row cheaper with a hierarchy, target by target by this process alone or by a sweep,
 * than by a search with all threads? The constants were measured on a grid with 2 million edges on
 * two processors.
 */
bool
emogi_hierarchy_search_is_cheaper(const EmogiGraph *graph, const EmogiQuery *query)
{
	return row_ms(query) < search_ms(graph) ||
		(may_sweep(graph, query) && swept_row_ms(graph, query) < search_ms(graph));
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
