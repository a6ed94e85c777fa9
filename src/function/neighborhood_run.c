/*
 * neighborhood_run.c: rows of a few vertices, from a graph of the edges around them
 * (contract/local_graph.h), in the backend.
 *
 * The edges are collected from the call's graph with its overlay, as neighborhood_call.c has them
 * collected through indexes if there is no graph. Their number is known only as they are read, so
 * there is a limit.
 */
#include "postgres.h"

#include "answer/cost.h"
#include "contract/local_graph.h"
#include "function/function.h"

/* Find the vertices whose rows a task wants, or whose components, as far as they exist. */
static uint32 *
find_wanted(const EmogiTask *task, const EmogiGraph *graph, const EmogiOverlay *overlay,
			uint64 *nwanted)
{
	const int64 *ids = task->has_targets ? task->targets : task->components;
	const uint64 nids = task->has_targets ? task->ntargets : task->ncomponents;
	uint32	   *wanted = palloc_extended(Max(nids, 1) * sizeof *wanted, MCXT_ALLOC_HUGE);

	*nwanted = 0;
	for (uint64 i = 0; i < nids; i++)
		if (emogi_local_search_has_vertex(graph, overlay, ids[i]))
			wanted[(*nwanted)++] = emogi_overlay_vertex(graph, overlay, ids[i]);
	return wanted;
}

/* Allocate the columns of a result, in the current memory context. */
static void
alloc_columns(EmogiAlgorithm algorithm, uint64 nvertices, EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(algorithm)->columns;

	for (int i = 0; columns[i].name != NULL; i++)
		result->columns[i].any = palloc(Max(nvertices, 1) *
										emogi_algorithm_column_bytes(columns[i].type));
}

/* Run a task's algorithm on a small graph; false if out of memory. */
static bool
run_alone(const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result)
{
	EmogiControl control = {0};
	EmogiError	error;

	alloc_columns(task->query.algorithm, graph->nvertices, result);
	return graph->nvertices == 0 ||
		emogi_cpu_engine_run_alone(graph, &task->query, result, &control, &error) == EMOGI_OK;
}

/* Replace *graph by the vertices of a small one, in the current memory context. */
static void
set_vertices(const EmogiGraph *local, EmogiGraph *graph)
{
	int64	   *ids = palloc(Max(local->nvertices, 1) * sizeof *ids);

	memcpy(ids, local->ids, local->nvertices * sizeof *ids);
	*graph = (EmogiGraph) {.nvertices = local->nvertices,.ids = ids,
						   .dictionary = graph->dictionary};
}

/*
 * Run a task that wants the rows of a few vertices, reading at most max_edges edges. *graph gets
 * these vertices and others around them, and *result their columns, in the current memory context;
 * only rows of the wanted vertices are right. overlay: changes since the graph was built, NULL =
 * none. Return false, with nothing changed, if more edges would be read.
 */
bool
emogi_neighborhood_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
					   uint64 max_edges, EmogiGraph *graph, EmogiResult *result)
{
	const double start_ms = emogi_pool_now_ms();
	const EmogiGraph whole = *graph;
	EmogiResult found = {0};
	EmogiLocalGraph local;
	uint64		nwanted;
	const uint32 *wanted;
	bool		answered;

	/* the conditions may have been left to the reader of the rows */
	if ((!task->has_targets && !task->has_components) || graph->backward.offsets == NULL)
		return false;
	wanted = find_wanted(task, graph, overlay, &nwanted);
	if (!emogi_local_graph_make(graph, overlay, emogi_local_scope(task->query.algorithm), wanted,
								nwanted, max_edges, EMOGI_COST_NEIGHBORHOOD_KEPT_EDGES,
								&local))
		return false;
	answered = run_alone(task, &local.graph, &found);
	if (answered)
	{
		*result = found;
		set_vertices(&local.graph, graph);
		emogi_local_search_record_run(call, &whole, nwanted, 0, local.edges_scanned, start_ms);
		call->rows_are_local = true;
	}
	emogi_local_graph_free(&local);
	return answered;
}
