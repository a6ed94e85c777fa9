/*
 * local_search_lists.c: similarities of a few vertices, and distances of a few pairs, by the backend itself, in an older Graph with what has changed since. Where nothing
 * has, the engine is asked.
 *
 * The vertices of all rows stand in the place of the Graph, as local_search_call.c does with what it reaches.
 */
#include "postgres.h"

#include <math.h>

#include "lib/qunique.h"
#include "miscadmin.h"

#include "cpu/local_similarity.h"
#include "function/function.h"

/* List entries that one of them may look at. */
#define MAX_EDGES UINT64CONST(16384)

/* Where the rows of a list of pairs come from: a Graph of the vertices in them alone. */
typedef struct Named
{
	uint32	   *vertices;		/* [count], as in the patched Graph, ascending by key and distinct when they are numbered */
	uint64		count;
	const EmogiGraph *graph;
	const EmogiOverlay *patch;
} Named;

/* Compare vertices by their keys; arg: Named. */
static int
compare_named(const void *a, const void *b, void *arg)
{
	const Named *named = arg;
	const uint32 x = *(const uint32 *) a;
	const uint32 y = *(const uint32 *) b;

	if (x == y)
		return 0;
	return emogi_overlay_before(named->graph, named->patch, x, y) ? -1 : 1;
}

/* Put vertices in order, each once; get how many are left. */
static uint64
sort_named(const Named *named, uint32 *vertices, uint64 count)
{
	qsort_arg(vertices, count, sizeof *vertices, compare_named, (void *) named);
	return qunique_arg(vertices, count, sizeof *vertices, compare_named, (void *) named);
}

/* Get the number of a vertex that is named, among those. */
static uint32
number_named(const Named *named, uint32 vertex)
{
	const uint32 *found = bsearch_arg(&vertex, named->vertices, named->count, sizeof vertex, compare_named, (void *) named);

	return (uint32) (found - named->vertices);
}

/* Have the named vertices stand in the place of the Graph. */
static void
set_named(EmogiCall *call, const Named *named, EmogiGraph *graph)
{
	int64	   *ids = palloc(Max(named->count, 1) * sizeof *ids);

	for (uint64 i = 0; i < named->count; i++)
		ids[i] = emogi_overlay_key(named->graph, named->patch, named->vertices[i]);
	*graph = (EmogiGraph) {.nvertices = named->count,.ids = ids,.dictionary = graph->dictionary};
	call->rows_are_local = true;
}

/* Number vertices by those that are named. */
static const uint32 *
number_all(const Named *named, const uint32 *vertices, uint64 count)
{
	uint32	   *numbers = palloc(Max(count, 1) * sizeof *numbers);

	for (uint64 i = 0; i < count; i++)
		numbers[i] = number_named(named, vertices[i]);
	return numbers;
}

/* Find the vertices that a patched Graph has of these keys, in order, each once. */
static uint32 *
find_named(const Named *named, const int64 *keys, uint64 nkeys, uint64 *nfound)
{
	uint32	   *found = palloc_extended(Max(nkeys, 1) * sizeof *found, MCXT_ALLOC_HUGE);

	*nfound = 0;
	for (uint64 i = 0; i < nkeys; i++)
		if (emogi_local_search_has_vertex(named->graph, named->patch, keys[i]))
			found[(*nfound)++] = emogi_overlay_vertex(named->graph, named->patch, keys[i]);
	*nfound = sort_named(named, found, *nfound);
	return found;
}

/* Have what was found be the rows: of each target as many places as there are at most. */
static void
set_similar(Named *named, const uint32 *targets, const EmogiLocalSimilar *similar, uint64 ntargets, EmogiQuery *query, EmogiResult *result)
{
	uint64		most = 1;

	for (uint64 i = 0; i < ntargets; i++)
		most = Max(most, similar[i].count);
	named->vertices = palloc(((most + 1) * ntargets + 1) * sizeof(uint32));
	for (uint64 i = 0; i < ntargets; i++)
	{
		named->vertices[named->count++] = targets[i];
		memcpy(named->vertices + named->count, similar[i].vertices, similar[i].count * sizeof(uint32));
		named->count += similar[i].count;
	}
	named->count = sort_named(named, named->vertices, named->count);
	result->columns[0].vertex = palloc(Max(ntargets * most, 1) * sizeof(uint32));
	result->columns[1].float64 = palloc0(Max(ntargets * most, 1) * sizeof(double));
	for (uint64 i = 0; i < ntargets * most; i++)
	{
		const EmogiLocalSimilar *of = &similar[i / most];
		const bool	is_there = i % most < of->count;

		result->columns[0].vertex[i] = is_there ? number_named(named, of->vertices[i % most]) : EMOGI_NO_VERTEX;
		if (is_there)
			result->columns[1].float64[i] = of->similarity[i % most];
	}
	query->top_k = (int64) most;
	query->targets = number_all(named, targets, ntargets);
	query->ntargets = ntargets;
}

/* Find the vertices most like a task's targets; false, and nothing is changed, where nothing has changed in the Graph, or there is much to look at. */
bool
emogi_local_search_similar(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	const double start_ms = emogi_pool_now_ms();
	Named		named = {.graph = &whole,.patch = patch};
	EmogiLocalSimilar similar[EMOGI_NEAR_SIMILAR];
	uint64		looked = 0;
	uint64		nfound = 0;
	uint64		ntargets;
	uint32	   *targets;

	if (patch == NULL || graph->backward.offsets == NULL || task->ntargets > EMOGI_NEAR_SIMILAR)
		return false;
	targets = find_named(&named, task->targets, task->ntargets, &ntargets);
	while (nfound < ntargets && emogi_local_similarity(graph, patch, &task->query, targets[nfound], MAX_EDGES, &similar[nfound]))
		looked += similar[nfound++].edges_traversed;
	if (nfound == ntargets)
	{
		call->slot->request.query = task->query;
		set_similar(&named, targets, similar, ntargets, &call->slot->request.query, result);
		set_named(call, &named, graph);
		emogi_local_search_note_run(call, &whole, ntargets, 1, looked, start_ms);
	}
	for (uint64 i = 0; i < nfound; i++)
		emogi_local_similarity_free(&similar[i]);
	return nfound == ntargets;
}

/* Find the distance of a pair; false where there is much to look at. */
static bool
find_distance(EmogiCall *call, const Named *named, uint32 source, uint32 target, double *distance)
{
	const EmogiPathCost max = {MAX_EDGES, PG_UINT64_MAX};
	EmogiLocalPath path;
	EmogiPathCost cost;

	if (!emogi_local_search_path_between(call, named->patch, named->graph, source, target, &max, &path, &cost))
		return false;
	*distance = path.length > 0 ? path.distance[path.length - 1] : (double) INFINITY;
	pfree(path.vertices);
	pfree(path.distance);
	return true;
}

/* Find the distances from a task's sources to its goals; false, and nothing is changed, as above. */
bool
emogi_local_search_distances(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	Named		named = {.graph = &whole,.patch = patch};
	EmogiQuery	query = task->query;
	uint32	   *sources;
	uint32	   *targets;

	if (patch == NULL || graph->backward.offsets == NULL)
		return false;
	sources = find_named(&named, task->keys, task->nkeys, &query.nsources);
	targets = find_named(&named, task->goal_keys, task->goals.count, &query.ntargets);
	result->columns[0].float64 = palloc(Max(query.nsources * query.ntargets, 1) * sizeof(double));
	for (uint64 i = 0; i < query.nsources * query.ntargets; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!find_distance(call, &named, sources[i / query.ntargets], targets[i % query.ntargets], &result->columns[0].float64[i]))
		{
			result->columns[0].float64 = NULL;
			return false;
		}
	}
	named.vertices = palloc((query.nsources + query.ntargets + 1) * sizeof(uint32));
	memcpy(named.vertices, sources, query.nsources * sizeof(uint32));
	memcpy(named.vertices + query.nsources, targets, query.ntargets * sizeof(uint32));
	named.count = sort_named(&named, named.vertices, query.nsources + query.ntargets);
	query.sources = number_all(&named, sources, query.nsources);
	query.targets = number_all(&named, targets, query.ntargets);
	call->slot->request.query = query;
	set_named(call, &named, graph);
	return true;
}
