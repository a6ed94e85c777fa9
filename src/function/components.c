/*
 * components.c: emogi_cc by the backend itself, of the components that a cached Graph has kept of an earlier run (cache/cache_labels.c).
 *
 * Where edges have come since, they are joined with those (near_components.h), so that neither a new Graph is needed nor a run. Rows
 * of a few vertices are looked up; all rows are written, as the engine does, to memory of the call.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cpu/near_components.h"
#include "function/function.h"
#include "server/region.h"

/* Keep the components that a run has found with the call's Graph, if it is a cached one. */
void
emogi_components_keep(EmogiCall *call, const EmogiResult *result)
{
	if (call->slot->graph >= 0)
		emogi_cache_labels_keep(call->slot->graph, result->columns[0].vertex);
}

static int
compare_ids(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return (x > y) - (x < y);
}

/*
 * Look up the components of a task's targets. *graph gets those that are vertices, and their components, which are vertices of their own
 * component; ids, found: [2 * ntargets] and [ntargets], in memory of the current context.
 */
static void
look_up(const EmogiTask *task, const EmogiNearComponents *components, int64 *ids, uint32 *found, EmogiGraph *graph, EmogiResult *result)
{
	uint64		count = 0;
	uint64		nids = 0;

	for (uint64 i = 0; i < task->ntargets; i++)
	{
		const uint32 vertex = emogi_patch_vertex(components->graph, components->patch, task->targets[i]);

		found[i] = vertex == EMOGI_NO_VERTEX ? EMOGI_NO_VERTEX : emogi_near_components_find(components, vertex);
		if (vertex == EMOGI_NO_VERTEX)
			continue;
		ids[count++] = task->targets[i];
		ids[count++] = emogi_patch_key(components->graph, components->patch, found[i]);
	}
	qsort(ids, count, sizeof *ids, compare_ids);
	for (uint64 i = 0; i < count; i++)
		if (nids == 0 || ids[nids - 1] != ids[i])
			ids[nids++] = ids[i];
	*graph = (EmogiGraph) {.nvertices = nids,.ids = ids,.dictionary = graph->dictionary};
	for (uint64 i = 0; i < nids; i++)
		result->columns[0].vertex[i] = (uint32) i;
	for (uint64 i = 0; i < task->ntargets; i++)
		if (found[i] != EMOGI_NO_VERTEX)
			result->columns[0].vertex[emogi_graph_vertex(graph, task->targets[i])] =
				emogi_graph_vertex(graph, emogi_patch_key(components->graph, components->patch, found[i]));
}

/* Get memory on a line. */
static void *
take_lines(Size bytes)
{
	return (void *) TYPEALIGN(EMOGI_LINE_BYTES, palloc_extended(bytes + EMOGI_LINE_BYTES, MCXT_ALLOC_HUGE));
}

/* Answer for the targets of a task; false without labels. */
static bool
answer_targets(EmogiCall *call, const EmogiTask *task, const EmogiPatch *patch, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	EmogiNearComponents components = {.graph = &whole,.patch = patch};
	void	   *memory = take_lines(emogi_near_components_bytes(patch));
	int64	   *ids = palloc_extended(Max(task->ntargets, 1) * 2 * sizeof *ids, MCXT_ALLOC_HUGE);
	uint32	   *found = palloc_extended(Max(task->ntargets, 1) * sizeof *found, MCXT_ALLOC_HUGE);
	uint32	   *component = palloc_extended(Max(task->ntargets, 1) * 2 * sizeof *component, MCXT_ALLOC_HUGE);

	components.labels = emogi_cache_labels_begin(call->slot->graph, true);
	if (components.labels == NULL)
		return false;
	result->columns[0].vertex = component;
	emogi_near_components_join(&components, memory);
	look_up(task, &components, ids, found, graph, result);
	emogi_cache_labels_end(call->slot->graph);
	call->rows_are_local = true;
	return true;
}

/* Answer for all vertices; false without labels, or when the statement was to end and does not. */
static bool
answer_all(EmogiCall *call, const EmogiPatch *patch, EmogiGraph *graph, EmogiResult *result)
{
	EmogiNearComponents components = {.graph = graph,.patch = patch};
	const uint64 nnew = patch != NULL ? patch->nnew : 0;
	const uint64 nvertices = graph->nvertices + nnew;
	void	   *memory = take_lines(emogi_near_components_bytes(patch));
	uint32	   *component = emogi_call_alloc_any(call, nvertices * sizeof *component);
	int64	   *ids = nnew > 0 ? emogi_call_alloc_any(call, nvertices * sizeof *ids) : NULL;
	bool		answered = false;

	components.labels = emogi_cache_labels_begin(call->slot->graph, true);
	if (components.labels != NULL)
	{
		emogi_near_components_join(&components, memory);
		answered = emogi_near_components_write(&components, emogi_cache_labels_stop, ids, component);
		emogi_cache_labels_end(call->slot->graph);
	}
	CHECK_FOR_INTERRUPTS();
	if (!answered)
	{
		emogi_region_free(component, nvertices * sizeof *component);
		if (ids != NULL)
			emogi_region_free(ids, nvertices * sizeof *ids);
		return false;
	}
	result->columns[0].vertex = component;
	if (ids != NULL)
		*graph = (EmogiGraph) {.nvertices = nvertices,.ids = ids,.dictionary = graph->dictionary};
	return true;
}

/*
 * Carry out emogi_cc, if the call's Graph has kept its components. patch: what has come since the Graph was made, NULL = nothing; nothing
 * has gone. Then *graph has the vertices, ascending, and *result their components; where the task has targets these alone, in
 * memory of the current context, else all, in the Region. False, and nothing is changed, when the engine must.
 */
bool
emogi_components_run(EmogiCall *call, const EmogiTask *task, const EmogiPatch *patch, EmogiGraph *graph, EmogiResult *result)
{
	const double start_ms = emogi_pool_now_ms();
	const EmogiGraph before = *graph;

	if (call->slot->graph < 0 || !emogi_cache_labels_exist(call->slot->graph))
		return false;
	if (!(task->has_targets && !task->is_shared ? answer_targets(call, task, patch, graph, result) :
		  answer_all(call, patch, graph, result)))
		return false;
	emogi_near_note_run(call, &before, graph->nvertices, 0, patch != NULL ? patch->forward.nadded : 0, start_ms);
	return true;
}
