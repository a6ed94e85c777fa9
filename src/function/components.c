/*
 * components.c: emogi_cc in the backend, from the components that a cached graph has kept of an
 * earlier run (cache/cache_labels.c).
 *
 * Edges added since are merged into those components by union-find (local_components.h), so neither
 * a new graph nor a run is needed. Rows of a few vertices are looked up. All rows are those
 * components themselves if nothing has changed; otherwise they are written to memory of the call,
 * as the engine does.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "contract/local_components.h"
#include "contract/sort_order.h"
#include "function/function.h"
#include "base/arena.h"

/*
 * Vertices of the requested components are listed up to max(INITIAL_ROOM, nvertices /
 * MEMBERS_SHARE). Above that, all rows are read and those of other components are filtered out.
 */
#define INITIAL_ROOM UINT64CONST(1024)
#define MEMBERS_SHARE 8

/* Keep the components found by a run on the call's graph, if that is cached. */
void
emogi_components_keep(EmogiCall *call, const EmogiResult *result)
{
	if (call->slot->graph >= 0)
		emogi_cache_labels_keep(call->slot->graph, result->columns[0].vertex);
}

/*
 * Look up the components of a task's targets. *graph gets the targets that are vertices, and the
 * representatives of their components, each of which is in its own component. ids: [2 * ntargets],
 * found: [ntargets], in the current memory context.
 */
static void
look_up(const EmogiTask *task, const EmogiLocalComponents *components, int64 *ids, uint32 *found,
		EmogiGraph *graph, EmogiResult *result)
{
	uint64		count = 0;
	uint64		nids = 0;

	for (uint64 i = 0; i < task->ntargets; i++)
	{
		const uint32 vertex = emogi_overlay_vertex(components->graph, components->overlay,
												   task->targets[i]);

		found[i] = vertex == EMOGI_NO_VERTEX ? EMOGI_NO_VERTEX :
			emogi_local_components_find(components, vertex);
		if (vertex == EMOGI_NO_VERTEX)
			continue;
		ids[count++] = task->targets[i];
		ids[count++] = emogi_overlay_key(components->graph, components->overlay, found[i]);
	}
	qsort(ids, count, sizeof *ids, emogi_compare_int64);
	for (uint64 i = 0; i < count; i++)
		if (nids == 0 || ids[nids - 1] != ids[i])
			ids[nids++] = ids[i];
	*graph = (EmogiGraph) {.nvertices = nids,.ids = ids,.dictionary = graph->dictionary};
	for (uint64 i = 0; i < nids; i++)
		result->columns[0].vertex[i] = (uint32) i;
	for (uint64 i = 0; i < task->ntargets; i++)
		if (found[i] != EMOGI_NO_VERTEX)
			result->columns[0].vertex[emogi_graph_vertex(graph, task->targets[i])] =
				emogi_graph_vertex(graph, emogi_overlay_key(components->graph, components->overlay,
															found[i]));
}

/* Allocate memory aligned to a cache line. */
static void *
alloc_aligned(Size bytes)
{
	return (void *) TYPEALIGN(EMOGI_LINE_BYTES, palloc_extended(bytes + EMOGI_LINE_BYTES,
																MCXT_ALLOC_HUGE));
}

/* Answer for a task's targets; false if the graph has no component labels. */
static bool
answer_targets(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
			   EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	EmogiLocalComponents components = {.graph = &whole,.overlay = overlay};
	void	   *memory = alloc_aligned(emogi_local_components_bytes(overlay));
	int64	   *ids = palloc_extended(Max(task->ntargets, 1) * 2 * sizeof *ids, MCXT_ALLOC_HUGE);
	uint32	   *found = palloc_extended(Max(task->ntargets, 1) * sizeof *found, MCXT_ALLOC_HUGE);
	uint32	   *component = palloc_extended(Max(task->ntargets, 1) * 2 * sizeof *component,
											MCXT_ALLOC_HUGE);

	components.labels = emogi_cache_labels_begin(call->slot->graph, true);
	if (components.labels == NULL)
		return false;
	result->columns[0].vertex = component;
	emogi_local_components_join(&components, memory);
	look_up(task, &components, ids, found, graph, result);
	emogi_cache_labels_end(call->slot->graph);
	call->rows_are_local = true;
	return true;
}

/* A vertex and the smallest vertex of its component, as ids of the graph. */
typedef struct Member
{
	int64		id;
	int64		component;
} Member;

/*
 * List the vertices of the components that a task names, at most `room` of them. Return their
 * number, more than `room` if they do not fit, PG_UINT64_MAX if canceled.
 */
static uint64
list_members(const EmogiTask *task, const EmogiLocalComponents *components, const uint32 *next,
			 uint64 room, uint32 *vertices, Member *members)
{
	uint64		count = 0;

	for (uint64 i = 0; i < task->ncomponents && count <= room; i++)
	{
		const uint32 smallest = emogi_overlay_vertex(components->graph, components->overlay,
													 task->components[i]);
		uint64		nlisted;

		if (smallest == EMOGI_NO_VERTEX ||
			emogi_local_components_find(components, smallest) != smallest)
			continue;
		nlisted = emogi_local_search_components_list(components, next, smallest,
													 emogi_cache_labels_must_stop, room - count,
													 vertices);
		if (nlisted == PG_UINT64_MAX || emogi_cache_labels_must_stop())
			return PG_UINT64_MAX;
		for (uint64 v = 0; v < nlisted && count + v < room; v++)
			members[count + v] = (Member) {emogi_overlay_key(components->graph, components->overlay,
															 vertices[v]), task->components[i]};
		count += nlisted;
	}
	return count;
}

/* Replace *graph by a graph of the listed vertices only, in the current memory context. */
static void
set_members(Member *members, uint64 count, EmogiGraph *graph, EmogiResult *result)
{
	int64	   *ids = palloc_extended(Max(count, 1) * sizeof *ids, MCXT_ALLOC_HUGE);
	uint32	   *component = palloc_extended(Max(count, 1) * sizeof *component, MCXT_ALLOC_HUGE);

	qsort(members, count, sizeof *members, emogi_compare_int64);
	for (uint64 i = 0; i < count; i++)
		ids[i] = members[i].id;
	*graph = (EmogiGraph) {.nvertices = count,.ids = ids,.dictionary = graph->dictionary};
	for (uint64 i = 0; i < count; i++)
		component[i] = emogi_graph_vertex(graph, members[i].component);
	result->columns[0].vertex = component;
}

/*
 * List the vertices of the components that a task names, in the current memory context; false
 * without labels or member lists, or if there are too many vertices.
 */
static bool
find_members(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
			 const EmogiGraph *graph, Member **members, uint64 *count)
{
	const uint64 max_members = Max(graph->nvertices / MEMBERS_SHARE, INITIAL_ROOM);
	void	   *memory = alloc_aligned(emogi_local_components_bytes(overlay));

	for (uint64 room = INITIAL_ROOM; room <= max_members; room = *count)
	{
		EmogiLocalComponents components = {.graph = graph,.overlay = overlay};
		uint32	   *vertices = palloc_extended(room * sizeof *vertices, MCXT_ALLOC_HUGE);
		const uint32 *next;

		*members = palloc_extended(room * sizeof **members, MCXT_ALLOC_HUGE);
		*count = PG_UINT64_MAX;
		components.labels = emogi_cache_labels_begin(call->slot->graph, true);
		if (components.labels == NULL)
			return false;
		next = emogi_cache_labels_members(call->slot->graph);
		if (next != NULL)
		{
			emogi_local_components_join(&components, memory);
			*count = list_members(task, &components, next, room, vertices, *members);
		}
		emogi_cache_labels_end(call->slot->graph);
		CHECK_FOR_INTERRUPTS();
		if (*count <= room || *count == PG_UINT64_MAX)
			break;
		*count = Max(*count, 2 * room);
	}
	return *count <= max_members;
}

/*
 * Answer for the components that a task names; false without labels or member lists, or if they
 * have too many vertices.
 */
static bool
answer_components(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
				  EmogiGraph *graph, EmogiResult *result)
{
	Member	   *members;
	uint64		count;

	emogi_cache_labels_add_members(call->slot->graph);
	if (!find_members(call, task, overlay, graph, &members, &count))
		return false;
	set_members(members, count, graph, result);
	call->rows_are_local = true;
	return true;
}

/*
 * Answer for all vertices of an unchanged graph with its labels themselves, which are read until
 * the graph is unpinned; false without labels. task->members gets the members of the components, if
 * wanted and there is room for them.
 */
static bool
answer_unchanged(EmogiCall *call, const EmogiTask *task, EmogiResult *result)
{
	const int	graph = call->slot->graph;
	const uint32 *labels;

	if (task->members != NULL)
		emogi_cache_labels_add_members(graph);
	labels = emogi_cache_labels_hold(graph, task->members, &call->slot->labels_read);
	if (labels == NULL)
		return false;
	result->columns[0].vertex = (uint32 *) labels;
	return true;
}

/*
 * Answer for all vertices; false without labels, or if interrupted by a cancel that was not raised.
 */
static bool
answer_all(EmogiCall *call, const EmogiOverlay *overlay, EmogiGraph *graph, EmogiResult *result)
{
	EmogiLocalComponents components = {.graph = graph,.overlay = overlay};
	const uint64 nnew = overlay->nnew;
	const uint64 nvertices = graph->nvertices + nnew;
	void	   *memory = alloc_aligned(emogi_local_components_bytes(overlay));
	uint32	   *component = emogi_call_alloc_any(call, nvertices * sizeof *component);
	int64	   *ids = nnew > 0 ? emogi_call_alloc_any(call, nvertices * sizeof *ids) : NULL;
	bool		answered = false;

	components.labels = emogi_cache_labels_begin(call->slot->graph, true);
	if (components.labels != NULL)
	{
		emogi_local_components_join(&components, memory);
		answered = emogi_local_components_write(&components, emogi_cache_labels_must_stop, ids,
												component);
		emogi_cache_labels_end(call->slot->graph);
	}
	CHECK_FOR_INTERRUPTS();
	if (!answered)
	{
		emogi_arena_free(component, nvertices * sizeof *component);
		if (ids != NULL)
			emogi_arena_free(ids, nvertices * sizeof *ids);
		return false;
	}
	result->columns[0].vertex = component;
	if (ids != NULL)
		*graph = (EmogiGraph) {.nvertices = nvertices,.ids = ids,.dictionary = graph->dictionary};
	return true;
}

/*
 * Run emogi_cc, if the call's graph has kept its components. overlay: changes since the graph was
 * built, NULL = none; after deletions labels do not tell. *graph gets the vertices, ascending, and
 * *result their components. If the task has targets or names components, only those, in the current
 * memory context; otherwise all, in the arena. Return false, with nothing changed, if the engine
 * must run it.
 */
bool
emogi_components_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *overlay,
					 EmogiGraph *graph, EmogiResult *result)
{
	const double start_ms = emogi_pool_now_ms();
	const EmogiGraph before = *graph;
	bool		answered;

	if (call->slot->graph < 0 || !emogi_cache_labels_exist(call->slot->graph) ||
		(overlay != NULL && overlay->nlosers > 0))
		return false;
	if (task->has_targets && !task->is_shared)
		answered = answer_targets(call, task, overlay, graph, result);
	else
		answered = (task->has_components && !task->is_shared &&
					answer_components(call, task, overlay, graph, result)) ||
			(overlay == NULL ? answer_unchanged(call, task, result) :
			 answer_all(call, overlay, graph, result));
	if (!answered)
		return false;
	emogi_local_search_record_run(call, &before, graph->nvertices, 0,
								  overlay != NULL ? overlay->forward.nadded : 0, start_ms);
	return true;
}
