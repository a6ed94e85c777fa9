/*
 * local_reached.c: algorithms whose rows depend only on the edges that the sources reach, run on a
 * small graph of these (contract/reached_graph.h), in the backend
 *
 * As in local_search_call.c, an older graph with an overlay suffices, and the search gives up when
 * it reaches too many edges.
 */
#include "postgres.h"

#include "contract/reached_graph.h"
#include "function/function.h"

/* Find the sources that exist. */
static uint32 *
find_sources(const EmogiTask *task, const EmogiGraph *graph, const EmogiOverlay *overlay,
			 uint64 *nsources)
{
	uint32	   *sources = palloc_extended(Max(task->nkeys, 1) * sizeof *sources, MCXT_ALLOC_HUGE);

	*nsources = 0;
	for (uint64 i = 0; i < task->nkeys; i++)
		if (emogi_local_search_has_vertex(graph, overlay, task->keys[i]))
			sources[(*nsources)++] = emogi_overlay_vertex(graph, overlay, task->keys[i]);
	return sources;
}

/* Get the vertices of a small graph, in the current memory context. */
static EmogiGraph
copy_vertices(const EmogiGraph *small, const EmogiGraph *whole)
{
	int64	   *ids = palloc(Max(small->nvertices, 1) * sizeof *ids);

	if (small->nvertices > 0)
		memcpy(ids, small->ids, small->nvertices * sizeof *ids);
	return (EmogiGraph) {.nvertices = small->nvertices,.ids = ids,.dictionary = whole->dictionary};
}

/* Run a task's algorithm on a small graph, with the columns in the current memory context. */
static EmogiStatus
run(const EmogiTask *task, const EmogiReachedGraph *reached, uint64 nsources, EmogiResult *result)
{
	const EmogiGraph *graph = &reached->graph;
	const EmogiResultColumn *columns = emogi_algorithm_row(task->query.algorithm)->columns;
	EmogiQuery	query = task->query;
	EmogiControl control = {0};
	EmogiError	error;

	for (int i = 0; columns[i].name != NULL; i++)
		result->columns[i].any = palloc(Max(graph->nvertices, 1) *
										emogi_algorithm_column_bytes(columns[i].type));
	query.sources = reached->sources;
	query.nsources = nsources;
	query.ntargets = 0;
	return graph->nvertices == 0 ? EMOGI_OK :
		emogi_cpu_engine_run_alone(graph, &query, result, &control, &error);
}

/*
 * Run a task on what its sources reach, if these are at most max_edges edges. *graph gets the
 * reached vertices, ascending, without adjacency lists, and *result their columns, both in the
 * current memory context. overlay: changes since the graph was built, NULL = none. Return false,
 * with nothing changed, if there are more. Raises 22023.
 */
bool
emogi_local_reached_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
						uint64 max_edges, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	const double start_ms = emogi_shared_clock_ms();
	EmogiResult found = {0};
	EmogiReachedGraph reached;
	uint64		nsources;
	const uint32 *sources = find_sources(task, graph, overlay, &nsources);
	EmogiGraph	vertices;
	EmogiStatus status;

	if (!emogi_reached_graph_make(graph, overlay, sources, nsources, task->query.max_depth,
								  max_edges, &reached))
		return false;
	status = run(task, &reached, nsources, &found);
	vertices = copy_vertices(&reached.graph, &whole);
	emogi_reached_graph_free(&reached);
	if (status != EMOGI_OK)
	{
		emogi_refusal_report(task, &vertices, &found);
		return false;			/* out of memory */
	}
	emogi_local_search_record_run(call, &whole, found.nreached, found.nlevels,
								  found.edges_traversed, start_ms);
	*graph = vertices;
	*result = found;
	call->rows_are_local = true;
	return true;
}
