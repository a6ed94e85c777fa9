/*
 * local_search_lists.c: similarities of a few vertices and distances of a few pairs, in the
 * backend, in an older graph with an overlay.
 *
 * If nothing has changed since the graph was built, the engine is used instead. As in
 * local_search_call.c, *graph is replaced by the vertices of all rows.
 */
#include "postgres.h"

#include <math.h>

#include "lib/qunique.h"
#include "miscadmin.h"

#include "contract/local_similarity.h"
#include "answer/cost.h"
#include "function/function.h"

/* Max edges scanned for one similarity or distance. */
#define MAX_EDGES UINT64CONST(16384)

/* The vertices that occur in the rows, which replace the graph. */
typedef struct RowVertices
{
	uint32	   *vertices;		/* [count], numbers in the graph with its overlay; ascending by
								 * key and distinct once sorted */
	uint64		count;
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
} RowVertices;

/* Compare vertices by their keys; arg: RowVertices. */
static int
compare_by_key(const void *a, const void *b, void *arg)
{
	const RowVertices *row_vertices = arg;
	const uint32 x = *(const uint32 *) a;
	const uint32 y = *(const uint32 *) b;

	if (x == y)
		return 0;
	return emogi_overlay_before(row_vertices->graph, row_vertices->overlay, x, y) ? -1 : 1;
}

/* Sort vertices by key and drop duplicates; return how many are left. */
static uint64
sort_distinct(const RowVertices *row_vertices, uint32 *vertices, uint64 count)
{
	qsort_arg(vertices, count, sizeof *vertices, compare_by_key, (void *) row_vertices);
	return qunique_arg(vertices, count, sizeof *vertices, compare_by_key, (void *) row_vertices);
}

/* Return the position of a vertex among those of the rows. */
static uint32
number_in_rows(const RowVertices *row_vertices, uint32 vertex)
{
	const uint32 *found = bsearch_arg(&vertex, row_vertices->vertices, row_vertices->count,
									  sizeof vertex, compare_by_key, (void *) row_vertices);

	return (uint32) (found - row_vertices->vertices);
}

/* Replace *graph by the vertices of the rows. */
static void
set_row_graph(EmogiCall *call, const RowVertices *row_vertices, EmogiGraph *graph)
{
	int64	   *ids = palloc(Max(row_vertices->count, 1) * sizeof *ids);

	for (uint64 i = 0; i < row_vertices->count; i++)
		ids[i] = emogi_overlay_key(row_vertices->graph, row_vertices->overlay,
								   row_vertices->vertices[i]);
	*graph = (EmogiGraph) {.nvertices = row_vertices->count,.ids = ids,
						   .dictionary = graph->dictionary};
	call->rows_are_local = true;
}

/* Return the positions of vertices among those of the rows. */
static const uint32 *
number_all(const RowVertices *row_vertices, const uint32 *vertices, uint64 count)
{
	uint32	   *numbers = palloc(Max(count, 1) * sizeof *numbers);

	for (uint64 i = 0; i < count; i++)
		numbers[i] = number_in_rows(row_vertices, vertices[i]);
	return numbers;
}

/*
 * Return the vertices of given keys that exist in the graph with its overlay, sorted and distinct.
 */
static uint32 *
find_sorted(const RowVertices *row_vertices, const int64 *keys, uint64 nkeys, uint64 *nfound)
{
	uint32	   *found = palloc_extended(Max(nkeys, 1) * sizeof *found, MCXT_ALLOC_HUGE);

	*nfound = 0;
	for (uint64 i = 0; i < nkeys; i++)
		if (emogi_local_search_has_vertex(row_vertices->graph, row_vertices->overlay, keys[i]))
			found[(*nfound)++] = emogi_overlay_vertex(row_vertices->graph, row_vertices->overlay,
													  keys[i]);
	*nfound = sort_distinct(row_vertices, found, *nfound);
	return found;
}

/* Set the rows: each target gets as many places as the longest list has. */
static void
set_similar(RowVertices *row_vertices, const uint32 *targets, const EmogiLocalSimilar *similar,
			uint64 ntargets, EmogiQuery *query, EmogiResult *result)
{
	uint64		places = 1;

	for (uint64 i = 0; i < ntargets; i++)
		places = Max(places, similar[i].count);
	row_vertices->vertices = palloc(((places + 1) * ntargets + 1) * sizeof(uint32));
	for (uint64 i = 0; i < ntargets; i++)
	{
		row_vertices->vertices[row_vertices->count++] = targets[i];
		memcpy(row_vertices->vertices + row_vertices->count, similar[i].vertices,
			   similar[i].count * sizeof(uint32));
		row_vertices->count += similar[i].count;
	}
	row_vertices->count = sort_distinct(row_vertices, row_vertices->vertices, row_vertices->count);
	result->columns[0].vertex = palloc(Max(ntargets * places, 1) * sizeof(uint32));
	result->columns[1].float64 = palloc0(Max(ntargets * places, 1) * sizeof(double));
	for (uint64 i = 0; i < ntargets * places; i++)
	{
		const EmogiLocalSimilar *list = &similar[i / places];
		const bool	exists = i % places < list->count;

		result->columns[0].vertex[i] = exists ?
			number_in_rows(row_vertices, list->vertices[i % places]) : EMOGI_NO_VERTEX;
		if (exists)
			result->columns[1].float64[i] = list->similarity[i % places];
	}
	query->top_k = (int64) places;
	query->targets = number_all(row_vertices, targets, ntargets);
	query->ntargets = ntargets;
}

/*
 * Find the vertices most similar to a task's targets. Return false, with nothing changed, if the
 * graph has no changes, or if too many edges would be scanned.
 */
bool
emogi_local_search_similar(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
						   EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	const double start_ms = emogi_pool_now_ms();
	RowVertices	row_vertices = {.graph = &whole,.overlay = overlay};
	EmogiLocalSimilar similar[EMOGI_COST_LOCAL_MAX_SIMILAR];
	uint64		edges_scanned = 0;
	uint64		nfound = 0;
	uint64		ntargets;
	uint32	   *targets;

	if (overlay == NULL || graph->backward.offsets == NULL ||
		task->ntargets > EMOGI_COST_LOCAL_MAX_SIMILAR)
		return false;
	targets = find_sorted(&row_vertices, task->targets, task->ntargets, &ntargets);
	while (nfound < ntargets && emogi_local_similarity(graph, overlay, &task->query,
													   targets[nfound], MAX_EDGES,
													   &similar[nfound]))
		edges_scanned += similar[nfound++].edges_traversed;
	if (nfound == ntargets)
	{
		call->slot->request.query = task->query;
		set_similar(&row_vertices, targets, similar, ntargets, &call->slot->request.query, result);
		set_row_graph(call, &row_vertices, graph);
		emogi_local_search_record_run(call, &whole, ntargets, 1, edges_scanned, start_ms);
	}
	for (uint64 i = 0; i < nfound; i++)
		emogi_local_similarity_free(&similar[i]);
	return nfound == ntargets;
}

/* Find the distance of a pair; false if too many edges would be scanned. */
static bool
find_distance(EmogiCall *call, const RowVertices *row_vertices, uint32 source, uint32 target,
			  double *distance)
{
	const EmogiPathCost max = {MAX_EDGES, PG_UINT64_MAX};
	EmogiLocalPath path;
	EmogiPathCost cost;

	if (!emogi_local_search_path_between(call, row_vertices->overlay, row_vertices->graph, source,
										 target, &max, &path, &cost))
		return false;
	*distance = path.length > 0 ? path.distance[path.length - 1] : (double) INFINITY;
	pfree(path.vertices);
	pfree(path.distance);
	return true;
}

/*
 * Find the distances from a task's sources to its targets; false, with nothing changed, as above.
 */
bool
emogi_local_search_distances(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
							 EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	RowVertices	row_vertices = {.graph = &whole,.overlay = overlay};
	EmogiQuery	query = task->query;
	uint32	   *sources;
	uint32	   *targets;

	if (overlay == NULL || graph->backward.offsets == NULL)
		return false;
	sources = find_sorted(&row_vertices, task->keys, task->nkeys, &query.nsources);
	targets = find_sorted(&row_vertices, task->target_array_ids, task->target_array.count,
						  &query.ntargets);
	result->columns[0].float64 = palloc(Max(query.nsources * query.ntargets, 1) * sizeof(double));
	for (uint64 i = 0; i < query.nsources * query.ntargets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!find_distance(call, &row_vertices, sources[i / query.ntargets],
						   targets[i % query.ntargets], &result->columns[0].float64[i]))
		{
			result->columns[0].float64 = NULL;
			return false;
		}
	}
	row_vertices.vertices = palloc((query.nsources + query.ntargets + 1) * sizeof(uint32));
	memcpy(row_vertices.vertices, sources, query.nsources * sizeof(uint32));
	memcpy(row_vertices.vertices + query.nsources, targets, query.ntargets * sizeof(uint32));
	row_vertices.count = sort_distinct(&row_vertices, row_vertices.vertices,
									   query.nsources + query.ntargets);
	query.sources = number_all(&row_vertices, sources, query.nsources);
	query.targets = number_all(&row_vertices, targets, query.ntargets);
	call->slot->request.query = query;
	set_row_graph(call, &row_vertices, graph);
	return true;
}
