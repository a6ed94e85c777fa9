/*
 * local_search_call.c: searches that reach few vertices, and degrees of a few vertices, computed in
 * the backend.
 *
 * The graph is in shared memory, so the backend can read it. A search that scans few edges needs
 * neither a request to the engine worker nor a merge of the changes into the graph: it reads the
 * older graph with an overlay (overlay.h). Whether a search scans few edges is known only as it
 * proceeds. It gives up, after a few milliseconds at most, once the engine would be faster.
 */
#include "postgres.h"

#include <math.h>

#include "contract/semirings.h"
#include "contract/local_search.h"
#include "contract/local_trees.h"
#include "contract/path_search.h"
#include "answer/cost.h"
#include "function/function.h"

/* Look up the vertex numbers of keys; keys that are not in the graph are skipped. */
static uint32 *
find_numbers(const EmogiGraph *graph, const EmogiOverlay *overlay, const int64 *keys, uint64 nkeys,
			 uint64 *nnumbers)
{
	uint32	   *numbers = palloc(Max(nkeys, 1) * sizeof *numbers);

	*nnumbers = 0;
	for (uint64 i = 0; i < nkeys; i++)
	{
		uint32		number = emogi_overlay_vertex(graph, overlay, keys[i]);

		if (number != EMOGI_NO_VERTEX)
			numbers[(*nnumbers)++] = number;
	}
	return numbers;
}

/* Look up a vertex; EMOGI_NO_VERTEX = it is not in the graph. overlay: as below. */
static uint32
find_vertex(const EmogiGraph *graph, const EmogiOverlay *overlay, int64 key)
{
	uint32		vertex = EMOGI_NO_VERTEX;

	if (key == EMOGI_NO_CODE && graph->dictionary != NULL)
		return vertex;
	vertex = emogi_overlay_vertex(graph, overlay, key);
	return vertex == EMOGI_NO_VERTEX || overlay == NULL ||
		emogi_overlay_presence(graph, overlay, vertex) != EMOGI_VERTEX_GONE ? vertex :
		EMOGI_NO_VERTEX;
}

/* Is a vertex in the graph? overlay: changes since the graph was built, NULL = none. */
bool
emogi_local_search_has_vertex(const EmogiGraph *graph, const EmogiOverlay *overlay, int64 key)
{
	return find_vertex(graph, overlay, key) != EMOGI_NO_VERTEX;
}

/* Record in a call's record what the backend has done. start_ms: 0 = nothing that takes time. */
void
emogi_local_search_record_run(EmogiCall *call, const EmogiGraph *graph, uint64 nreached,
							  uint32 nlevels, uint64 edges_traversed, double start_ms)
{
	EmogiCallRecord *record = &call->record;

	strlcpy(record->engine, "backend", sizeof record->engine);
	record->reason[0] = '\0';
	record->nvertices = graph->nvertices;
	record->nedges = graph->forward.nedges;
	record->nreached += nreached;
	record->nlevels = Max(record->nlevels, nlevels);
	record->edges_traversed += edges_traversed;
	if (start_ms > 0)
		record->run_ms += emogi_shared_clock_ms() - start_ms;
}

/*
 * For each reached vertex of a tree, the predecessor and the source of its path, as indexes into
 * the answer.
 */
typedef struct TreePaths
{
	uint32	   *predecessor;
	uint32	   *source;
} TreePaths;

/*
 * Replace *graph by the vertices that were reached, so that a row is a vertex of it. Code that
 * reads rows does not need to know that there are no arrays over all vertices.
 */
static void
set_rows(const EmogiTask *task, const EmogiOverlay *overlay, const EmogiLocalAnswer *answer,
		 const TreePaths *tree, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);
	const bool	levels = row->columns[0].type == EMOGI_INT32;
	const uint64 count = answer->count;
	int64	   *ids = palloc(Max(count, 1) * sizeof *ids);

	result->columns[0].any = palloc(Max(count, 1) * sizeof(double));
	for (uint64 i = 0; i < count; i++)
	{
		ids[i] = emogi_overlay_key(graph, overlay, answer->vertices[i]);
		if (levels)
			result->columns[0].int32[i] = (int32) answer->values[i];
		else
			result->columns[0].float64[i] = answer->values[i];
	}
	if (answer->paths != NULL)
		result->columns[1].any = memcpy(palloc(Max(count, 1) * sizeof(double)), answer->paths,
										count * sizeof(double));
	if (emogi_shape_is_tree(row->shape))
	{
		result->columns[1].vertex = tree->predecessor;
		result->columns[2].vertex = tree->source;
	}
	*graph = (EmogiGraph) {.nvertices = count,.ids = ids,.dictionary = graph->dictionary};
}

/* Sum the weights of a list, in the order of engine/cpu/degree.c: that of the merged list. */
static double
sum_weights(const EmogiListsView *lists, uint32 vertex)
{
	EmogiListPiece whole;
	uint32		npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(lists, vertex, &whole, &npieces);
	double		sum = 0.0;

	for (uint32 i = 0; i < npieces; i++)
		for (uint64 e = 0; e < pieces[i].count; e++)
			sum += emogi_weight(pieces[i].weights, lists->weight_type, e);
	return sum;
}

/*
 * Set the rows to the vertices of an answer, with degrees and sums of weights. Return the number of
 * edges read.
 */
static uint64
set_degrees(const EmogiOverlay *overlay, const EmogiLocalAnswer *answer, EmogiGraph *graph,
			EmogiResult *result)
{
	const EmogiListsView lists = emogi_lists_forward(graph, overlay);
	const uint64 count = answer->count;
	int64	   *ids = palloc(Max(count, 1) * sizeof *ids);
	uint64		nentries = 0;

	result->columns[0].int64 = palloc(Max(count, 1) * sizeof(int64));
	result->columns[1].float64 = palloc(Max(count, 1) * sizeof(double));
	for (uint64 i = 0; i < count; i++)
	{
		const uint64 degree = emogi_lists_degree(&lists, answer->vertices[i]);
		double		strength = (double) degree;

		if (graph->weight_type != EMOGI_WEIGHT_NONE)
		{
			strength = sum_weights(&lists, answer->vertices[i]);
			nentries += degree;
		}
		ids[i] = emogi_overlay_key(graph, overlay, answer->vertices[i]);
		result->columns[0].int64[i] = (int64) degree;
		result->columns[1].float64[i] = strength;
	}
	*graph = (EmogiGraph) {.nvertices = count,.ids = ids,.dictionary = graph->dictionary};
	return nentries;
}

/*
 * Find the degrees of a task's targets. The search has depth 0: it only sorts and deduplicates the
 * targets that exist. Return false if one may have been removed.
 */
static bool
run_degrees(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay, EmogiGraph *graph,
			EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	const double start_ms = emogi_shared_clock_ms();
	EmogiQuery	query = {.algorithm = EMOGI_BFS};
	EmogiLocalAnswer answer;
	uint64		nentries;

	query.sources = find_numbers(graph, overlay, task->targets, task->ntargets, &query.nsources);
	if (emogi_local_search(graph, overlay, &query, EMOGI_COST_LOCAL_MIN_EDGES,
						   &answer) != EMOGI_LOCAL_ANSWERED)
		return false;
	nentries = set_degrees(overlay, &answer, graph, result);
	emogi_local_search_record_run(call, &whole, answer.count, 1, nentries, start_ms);
	emogi_local_search_free(&answer);
	call->rows_are_local = true;
	return true;
}

/* Search, and find the tree if wanted; false if that exceeds the limit. */
static bool
search(const EmogiTask *task, const EmogiGraph *graph, const EmogiOverlay *overlay,
	   const EmogiQuery *query, uint64 max_edges, EmogiLocalAnswer *answer, TreePaths *tree)
{
	uint64		edges_scanned;

	if (emogi_local_search(graph, overlay, query, max_edges, answer) != EMOGI_LOCAL_ANSWERED)
		return false;
	if (!emogi_shape_is_tree(emogi_algorithm_row(task->query.algorithm)->shape))
		return true;
	tree->predecessor = palloc(Max(answer->count, 1) * sizeof(uint32));
	tree->source = palloc(Max(answer->count, 1) * sizeof(uint32));
	if (!emogi_local_trees(graph, overlay, query, answer, tree->predecessor, tree->source,
						   &edges_scanned))
	{
		emogi_local_search_free(answer);
		return false;
	}
	answer->edges_traversed += edges_scanned;
	return true;
}

/*
 * Run a task that a local search can answer, if it scans at most max_edges edges. *graph gets the
 * reached vertices, ascending, without adjacency lists, and *result their columns. Both are in the
 * current memory context, and the call then needs nothing in shared memory except a dictionary.
 * overlay: changes since the graph was built, NULL = none. Return false, with nothing changed, if
 * it would scan more.
 */
bool
emogi_local_search_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
					   uint64 max_edges, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);
	EmogiQuery	query = task->query;
	double		start_ms = emogi_shared_clock_ms();
	EmogiLocalAnswer answer;
	TreePaths	tree = {0};

	if ((row->traits & EMOGI_SUMS_LISTS) != 0)	/* its targets may have been left to the reader
												 * of the rows */
		return task->has_targets && !task->is_shared &&
			run_degrees(call, task, overlay, graph, result);
	if ((row->traits & EMOGI_OF_REACHED) != 0)
		return emogi_local_reached_run(call, task, overlay, max_edges, graph, result);
	if (row->shape == EMOGI_SHAPE_SIMILARITIES)
		return emogi_local_search_similar(call, task, overlay, graph, result);
	if (row->shape == EMOGI_SHAPE_DISTANCES)
		return emogi_local_search_distances(call, task, overlay, graph, result);
	query.sources = find_numbers(graph, overlay, task->keys, task->nkeys, &query.nsources);
	if (task->has_targets)
		query.targets = find_numbers(graph, overlay, task->targets, task->ntargets,
									 &query.ntargets);
	if (task->has_targets && query.ntargets == 0)
		query.nsources = 0;		/* no target is in the graph, so there are no rows */
	if (emogi_shape_is_tree(row->shape))
		query.ntargets = 0;		/* predecessors of equal length may not be settled when the
								 * target is */
	query.algorithm = row->search;
	if (!search(task, graph, overlay, &query, max_edges, &answer, &tree))
		return false;
	emogi_local_search_record_run(call, graph, answer.count, answer.nlevels, answer.edges_traversed,
								  start_ms);
	set_rows(task, overlay, &answer, &tree, graph, result);
	emogi_local_search_free(&answer);
	call->rows_are_local = true;
	return true;
}

/*
 * Find the path between two vertices of a graph within a cost, as emogi_path_search_within does.
 * EMOGI_NO_VERTEX stands for a vertex that is not in the graph. The path is in the current memory
 * context; length 0 = no path. overlay: as above. *cost is set also if the function returns false.
 */
bool
emogi_local_search_path_between(EmogiCall *call, const EmogiOverlay *overlay,
								const EmogiGraph *graph, uint32 source, uint32 target,
								const EmogiPathCost *max, EmogiLocalPath *path, EmogiPathCost *cost)
{
	const bool	searches = source != EMOGI_NO_VERTEX && target != EMOGI_NO_VERTEX;
	const double start_ms = searches ? emogi_shared_clock_ms() : 0;
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer answer = {.outcome = EMOGI_PATH_NONE};
	EmogiStatus status = EMOGI_OK;

	if (searches)
		status = emogi_path_search_within(graph, overlay, source, target, max->nedges,
										  max->nvertices, &answer, &control, &error);
	*cost = (EmogiPathCost) {answer.edges_traversed, answer.vertices_settled};
	if (status != EMOGI_OK || answer.outcome == EMOGI_PATH_GAVE_UP)
		return false;
	emogi_local_search_record_run(call, graph, answer.length, 0, answer.edges_traversed, start_ms);
	path->length = answer.length;
	path->vertices = palloc(Max(answer.length, 1) * sizeof *path->vertices);
	path->distance = palloc(Max(answer.length, 1) * sizeof *path->distance);
	if (answer.length > 0)
	{
		memcpy(path->vertices, answer.vertices, answer.length * sizeof *path->vertices);
		memcpy(path->distance, answer.distance, answer.length * sizeof *path->distance);
	}
	emogi_path_search_free(&answer);
	return true;
}

/*
 * Find the path between a task's source and target, scanning at most max_edges edges; false if that
 * does not suffice.
 */
bool
emogi_local_search_path(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
						const EmogiGraph *graph, uint64 max_edges, EmogiLocalPath *path)
{
	const EmogiPathCost max = {max_edges, PG_UINT64_MAX};
	const uint32 source = find_vertex(graph, overlay, task->keys[0]);
	const uint32 target = source != EMOGI_NO_VERTEX ?
		find_vertex(graph, overlay, task->targets[0]) : EMOGI_NO_VERTEX;
	EmogiPathCost cost;

	return emogi_local_search_path_between(call, overlay, graph, source, target, &max, path, &cost);
}
