/*
 * local_search_call.c: searches that reach little, and degrees of a few vertices, which the backend makes itself.
 *
 * The Graph lies in the Region, where this process sees it, too. So a search that looks at few list entries need not ask the engine
 * worker, nor wait until a Graph has been made of an older one and what has changed since (overlay.h). Whether it looks at few
 * shows as it goes: it gives up where the engine would do better, and has cost a few milliseconds at most by then.
 */
#include "postgres.h"

#include <math.h>

#include "contract/semirings.h"
#include "cpu/local_search.h"
#include "cpu/local_trees.h"
#include "cpu/path_search.h"
#include "function/function.h"
#include "base/papers_settings.h"

/*
 * A search gives up after this share of all list entries, but not before MIN_EDGES, which take no longer than to wake the worker, nor
 * after MAX_EDGES, which take the time in which the engine answers a bounded search of millions of vertices.
 */
#define NEAR_SHARE 64
#define MIN_EDGES UINT64CONST(4096)
#define MAX_EDGES UINT64CONST(16384)

/* Distances that are searched by the backend in a patched Graph. */
#define MOST_DISTANCES 64

/* Does a task ask for the degrees of given vertices? */
static bool
asks_degrees(const EmogiTask *task)
{
	return task->query.algorithm == EMOGI_DEGREE && task->has_targets && !task->is_shared;
}

/* Does an algorithm find the tree of a search? */
static bool
finds_tree(EmogiAlgorithm algorithm)
{
	return algorithm == EMOGI_BFS_TREE || algorithm == EMOGI_SHORTEST_PATH_TREE;
}

/* Get the algorithm whose search reaches what one reaches: that of a tree is its search without one. */
EmogiAlgorithm
emogi_local_search_searching(EmogiAlgorithm algorithm)
{
	if (!finds_tree(algorithm))
		return algorithm;
	return algorithm == EMOGI_BFS_TREE ? EMOGI_BFS : EMOGI_SSSP;
}

/* May the backend search itself, as far as settings say? Then a Graph may be a patched one. */
bool
emogi_local_search_is_enabled(void)
{
	return emogi_enable_near && emogi_engine != EMOGI_ENGINE_CUDA && emogi_papers_query().mapping == EMOGI_MAPPING_AUTO;
}

/* Does a task ask for the vertices most like a few? */
static bool
asks_similar(const EmogiTask *task)
{
	return task->query.algorithm == EMOGI_SIMILARITY && task->pairs == NULL && task->has_targets && task->wanted.count <= EMOGI_NEAR_SIMILAR && !task->is_shared;
}

/* Does a task ask for the distances of a few pairs? */
static bool
asks_distances(const EmogiTask *task)
{
	return task->query.algorithm == EMOGI_DISTANCE_MATRIX && task->has_goals && task->sources.count * task->goals.count <= MOST_DISTANCES &&
		!task->is_shared;
}

/* May the backend itself carry out a task? Then its Graph may be a patched one. */
bool
emogi_local_search_may_serve(const EmogiTask *task)
{
	const bool	answers = emogi_local_search_answers(emogi_algorithm_row(emogi_local_search_searching(task->query.algorithm)));

	return emogi_local_search_is_enabled() &&
		(task->query.algorithm == EMOGI_CC || (answers && !task->is_shared) || asks_degrees(task) || asks_similar(task) || asks_distances(task));
}

/* Is there anything that says that a search reaches little? Targets do not of a tree, which is found to the end. */
static bool
is_bounded(const EmogiTask *task)
{
	return (task->has_targets && !finds_tree(task->query.algorithm)) || task->last_is_target || task->query.max_depth >= 0 || task->query.max_distance < (double) INFINITY;
}

/* Get the list entries that a search between two vertices may look at. */
uint64
emogi_local_search_pair_edges(const EmogiGraph *graph)
{
	return Max(MIN_EDGES, Min(graph->forward.nedges / NEAR_SHARE, MAX_EDGES));
}

/* Get the list entries that a search may look at. One that nothing bounds reaches nearly all, or stays in a small component. */
uint64
emogi_local_search_most_edges(const EmogiTask *task, const EmogiGraph *graph)
{
	if (!is_bounded(task))
		return MIN_EDGES;
	return emogi_local_search_pair_edges(graph);
}

/* Turn keys into vertex numbers; keys that the graph does not have are dropped. */
static uint32 *
find_numbers(const EmogiGraph *graph, const EmogiOverlay *patch, const int64 *keys, uint64 nkeys, uint64 *nnumbers)
{
	uint32	   *numbers = palloc(Max(nkeys, 1) * sizeof *numbers);

	*nnumbers = 0;
	for (uint64 i = 0; i < nkeys; i++)
	{
		uint32		number = emogi_overlay_vertex(graph, patch, keys[i]);

		if (number != EMOGI_NO_VERTEX)
			numbers[(*nnumbers)++] = number;
	}
	return numbers;
}

/* Does a graph have a vertex? patch: what has changed in it, NULL = nothing. */
bool
emogi_local_search_has_vertex(const EmogiGraph *graph, const EmogiOverlay *patch, int64 key)
{
	const uint32 vertex = emogi_overlay_vertex(graph, patch, key);

	return vertex != EMOGI_NO_VERTEX && emogi_overlay_presence(graph, patch, vertex) != EMOGI_VERTEX_GONE;
}

/* Note in the record of a call what the backend has done. */
void
emogi_local_search_note_run(EmogiCall *call, const EmogiGraph *graph, uint64 nreached, uint32 nlevels, uint64 edges_traversed,
					double start_ms)
{
	EmogiCallRecord *record = &call->record;

	strlcpy(record->engine, "backend", sizeof record->engine);
	record->reason[0] = '\0';
	record->nvertices = graph->nvertices;
	record->nedges = graph->forward.nedges;
	record->nreached += nreached;
	record->nlevels = Max(record->nlevels, nlevels);
	record->edges_traversed += edges_traversed;
	record->run_ms += emogi_pool_now_ms() - start_ms;
}

/* Of a tree: the vertex before each that was reached, and where its way begins, by their places in the answer. */
typedef struct Ways
{
	uint32	   *predecessor;
	uint32	   *source;
} Ways;

/*
 * Have what was reached stand in the place of the Graph: a row then is a vertex of it. So whoever reads rows need not know that there
 * are no arrays of all vertices.
 */
static void
set_rows(const EmogiTask *task, const EmogiOverlay *patch, const EmogiLocalAnswer *answer, const Ways *ways, EmogiGraph *graph, EmogiResult *result)
{
	const bool	levels = emogi_algorithm_row(task->query.algorithm)->columns[0].type == EMOGI_INT32;
	const uint64 count = answer->count;
	int64	   *ids = palloc(Max(count, 1) * sizeof *ids);

	result->columns[0].any = palloc(Max(count, 1) * sizeof(double));
	for (uint64 i = 0; i < count; i++)
	{
		ids[i] = emogi_overlay_key(graph, patch, answer->vertices[i]);
		if (levels)
			result->columns[0].int32[i] = (int32) answer->values[i];
		else
			result->columns[0].float64[i] = answer->values[i];
	}
	if (answer->paths != NULL)
		result->columns[1].any = memcpy(palloc(Max(count, 1) * sizeof(double)), answer->paths, count * sizeof(double));
	if (finds_tree(task->query.algorithm))
	{
		result->columns[1].vertex = ways->predecessor;
		result->columns[2].vertex = ways->source;
	}
	*graph = (EmogiGraph) {.nvertices = count,.ids = ids,.dictionary = graph->dictionary};
}

/* Have the rows be the vertices of an answer with their degrees and strengths, as engine/cpu/degree.c adds them up. Get the entries read. */
static uint64
set_degrees(const EmogiOverlay *patch, const EmogiLocalAnswer *answer, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiListsView lists = emogi_lists_forward(graph, patch);
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
			const uint64 first = graph->forward.offsets[answer->vertices[i]];

			strength = 0.0;
			for (uint64 e = first; e < first + degree; e++)
				strength += emogi_weight(graph->forward.weights, graph->weight_type, e);
			nentries += degree;
		}
		ids[i] = emogi_overlay_key(graph, patch, answer->vertices[i]);
		result->columns[0].int64[i] = (int64) degree;
		result->columns[1].float64[i] = strength;
	}
	*graph = (EmogiGraph) {.nvertices = count,.ids = ids,.dictionary = graph->dictionary};
	return nentries;
}

/*
 * Find the degrees of a task's targets. The search goes nowhere: it puts those that are there in order, each once. Weights are added up in
 * the order of whole lists, which a patch has not.
 */
static bool
run_degrees(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	const double start_ms = emogi_pool_now_ms();
	EmogiQuery	query = {.algorithm = EMOGI_BFS};
	EmogiLocalAnswer answer;
	uint64		nentries;

	if (patch != NULL && graph->weight_type != EMOGI_WEIGHT_NONE)
		return false;
	query.sources = find_numbers(graph, patch, task->targets, task->ntargets, &query.nsources);
	if (emogi_local_search(graph, patch, &query, MIN_EDGES, &answer) != EMOGI_LOCAL_ANSWERED)
		return false;
	nentries = set_degrees(patch, &answer, graph, result);
	emogi_local_search_note_run(call, &whole, answer.count, 1, nentries, start_ms);
	emogi_local_search_free(&answer);
	call->rows_are_local = true;
	return true;
}

/* Search, and find the tree if one is wanted; false when that is too much. */
static bool
search(const EmogiTask *task, const EmogiGraph *graph, const EmogiOverlay *patch, const EmogiQuery *query, EmogiLocalAnswer *answer, Ways *ways)
{
	uint64		looked;

	if (emogi_local_search(graph, patch, query, emogi_local_search_most_edges(task, graph), answer) != EMOGI_LOCAL_ANSWERED)
		return false;
	if (!finds_tree(task->query.algorithm))
		return true;
	ways->predecessor = palloc(Max(answer->count, 1) * sizeof(uint32));
	ways->source = palloc(Max(answer->count, 1) * sizeof(uint32));
	if (!emogi_local_trees(graph, patch, query, answer, ways->predecessor, ways->source, &looked))
	{
		emogi_local_search_free(answer);
		return false;
	}
	answer->edges_traversed += looked;
	return true;
}

/*
 * Carry out a search that emogi_local_search_may_serve, if it reaches little. Then *graph has the vertices that were reached, ascending, and no
 * lists, and *result their columns; both are in memory of the current context, and the call needs nothing in shared memory any
 * more but for a dictionary. patch: what has changed since the Graph was made, NULL = nothing. False, and nothing is changed, when it reaches more.
 */
bool
emogi_local_search_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	EmogiQuery	query = task->query;
	double		start_ms = emogi_pool_now_ms();
	EmogiLocalAnswer answer;
	Ways		ways = {0};

	if (task->query.algorithm == EMOGI_DEGREE)	/* whose targets may have turned out to be left to who reads the rows */
		return asks_degrees(task) && run_degrees(call, task, patch, graph, result);
	if (task->query.algorithm == EMOGI_SIMILARITY)
		return asks_similar(task) && emogi_local_search_similar(call, task, patch, graph, result);
	if (task->query.algorithm == EMOGI_DISTANCE_MATRIX)
		return emogi_local_search_distances(call, task, patch, graph, result);
	query.sources = find_numbers(graph, patch, task->keys, task->nkeys, &query.nsources);
	if (task->has_targets)
		query.targets = find_numbers(graph, patch, task->targets, task->ntargets, &query.ntargets);
	if (task->has_targets && query.ntargets == 0)
		query.nsources = 0;		/* no row is wanted that there could be */
	if (finds_tree(query.algorithm))
		query.ntargets = 0;		/* what leads to a target as well as others may not be settled when it is */
	query.algorithm = emogi_local_search_searching(query.algorithm);
	if (!search(task, graph, patch, &query, &answer, &ways))
		return false;
	emogi_local_search_note_run(call, graph, answer.count, answer.nlevels, answer.edges_traversed, start_ms);
	set_rows(task, patch, &answer, &ways, graph, result);
	emogi_local_search_free(&answer);
	call->rows_are_local = true;
	return true;
}

/*
 * Find the path between two vertices of a graph, EMOGI_NO_VERTEX = one that it does not have, within a cost, as emogi_path_search_within does. The
 * path is in memory of the current context; length 0: there is none. patch: as above. *cost: what it took, also when it returns false.
 */
bool
emogi_local_search_path_between(EmogiCall *call, const EmogiOverlay *patch, const EmogiGraph *graph, uint32 source, uint32 target, const EmogiPathCost *max,
						EmogiLocalPath *path, EmogiPathCost *cost)
{
	double		start_ms = emogi_pool_now_ms();
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer answer = {.outcome = EMOGI_PATH_NONE};
	const bool	searches = source != EMOGI_NO_VERTEX && target != EMOGI_NO_VERTEX;
	EmogiStatus status = EMOGI_OK;

	if (searches)
		status = emogi_path_search_within(graph, patch, source, target, max->nedges, max->nvertices, &answer, &control, &error);
	*cost = (EmogiPathCost) {answer.edges_traversed, answer.vertices_settled};
	if (status != EMOGI_OK || answer.outcome == EMOGI_PATH_GAVE_UP)
		return false;
	emogi_local_search_note_run(call, graph, answer.length, 0, answer.edges_traversed, start_ms);
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

/* Find the path between a task's source and its target, if that is not far to seek. max_edges: list entries that it may look at. */
bool
emogi_local_search_path(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph, uint64 max_edges, EmogiLocalPath *path)
{
	const EmogiPathCost max = {max_edges, PG_UINT64_MAX};
	uint32		source = EMOGI_NO_VERTEX;
	uint32		target = EMOGI_NO_VERTEX;
	EmogiPathCost cost;

	if (emogi_local_search_has_vertex(graph, patch, task->keys[0]))
		source = emogi_overlay_vertex(graph, patch, task->keys[0]);
	if (emogi_local_search_has_vertex(graph, patch, task->targets[0]))
		target = emogi_overlay_vertex(graph, patch, task->targets[0]);
	return emogi_local_search_path_between(call, patch, graph, source, target, &max, path, &cost);
}
