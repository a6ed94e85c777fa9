/*
 * components.c: emogi_cc by the backend itself, of the components that a cached Graph has kept of an earlier run (cache/cache_labels.c).
 *
 * Where edges have come since, they are joined with those (local_components.h), so that neither a new Graph is needed nor a run. Rows
 * of a few vertices are looked up; all rows are written, as the engine does, to memory of the call.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cpu/local_components.h"
#include "function/function.h"
#include "base/arena.h"

/* Vertices of components that are listed: so many, or a share of all. Of more all rows are read, and those of other components left out. */
#define FEW_MEMBERS UINT64CONST(1024)
#define MEMBERS_SHARE 8

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
look_up(const EmogiTask *task, const EmogiLocalComponents *components, int64 *ids, uint32 *found, EmogiGraph *graph, EmogiResult *result)
{
	uint64		count = 0;
	uint64		nids = 0;

	for (uint64 i = 0; i < task->ntargets; i++)
	{
		const uint32 vertex = emogi_overlay_vertex(components->graph, components->patch, task->targets[i]);

		found[i] = vertex == EMOGI_NO_VERTEX ? EMOGI_NO_VERTEX : emogi_local_components_find(components, vertex);
		if (vertex == EMOGI_NO_VERTEX)
			continue;
		ids[count++] = task->targets[i];
		ids[count++] = emogi_overlay_key(components->graph, components->patch, found[i]);
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
				emogi_graph_vertex(graph, emogi_overlay_key(components->graph, components->patch, found[i]));
}

/* Get memory on a line. */
static void *
take_lines(Size bytes)
{
	return (void *) TYPEALIGN(EMOGI_LINE_BYTES, palloc_extended(bytes + EMOGI_LINE_BYTES, MCXT_ALLOC_HUGE));
}

/* Answer for the targets of a task; false without labels. */
static bool
answer_targets(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	const EmogiGraph whole = *graph;
	EmogiLocalComponents components = {.graph = &whole,.patch = patch};
	void	   *memory = take_lines(emogi_local_components_bytes(patch));
	int64	   *ids = palloc_extended(Max(task->ntargets, 1) * 2 * sizeof *ids, MCXT_ALLOC_HUGE);
	uint32	   *found = palloc_extended(Max(task->ntargets, 1) * sizeof *found, MCXT_ALLOC_HUGE);
	uint32	   *component = palloc_extended(Max(task->ntargets, 1) * 2 * sizeof *component, MCXT_ALLOC_HUGE);

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

/* A vertex and the smallest one of its component, as the Graph knows them. */
typedef struct Member
{
	int64		id;
	int64		component;
} Member;

static int
compare_members(const void *a, const void *b)
{
	return compare_ids(&((const Member *) a)->id, &((const Member *) b)->id);
}

/*
 * List the vertices of the components that a task names, as many as there is room for; get how many there are, or more than there is room
 * for. PG_UINT64_MAX when that is to stop.
 */
static uint64
list_members(const EmogiTask *task, const EmogiLocalComponents *components, const uint32 *next, uint64 room, uint32 *vertices, Member *members)
{
	uint64		count = 0;

	for (uint64 i = 0; i < task->ncomponents && count <= room; i++)
	{
		const uint32 smallest = emogi_overlay_vertex(components->graph, components->patch, task->components[i]);
		uint64		nlisted;

		if (smallest == EMOGI_NO_VERTEX || emogi_local_components_find(components, smallest) != smallest)
			continue;
		nlisted = emogi_local_search_components_list(components, next, smallest, emogi_cache_labels_stop, room - count, vertices);
		if (nlisted == PG_UINT64_MAX || emogi_cache_labels_stop())
			return PG_UINT64_MAX;
		for (uint64 v = 0; v < nlisted && count + v < room; v++)
			members[count + v] = (Member) {emogi_overlay_key(components->graph, components->patch, vertices[v]), task->components[i]};
		count += nlisted;
	}
	return count;
}

/* Have the vertices of components stand in the place of the Graph, in memory of the current context. */
static void
set_members(Member *members, uint64 count, EmogiGraph *graph, EmogiResult *result)
{
	int64	   *ids = palloc_extended(Max(count, 1) * sizeof *ids, MCXT_ALLOC_HUGE);
	uint32	   *component = palloc_extended(Max(count, 1) * sizeof *component, MCXT_ALLOC_HUGE);

	qsort(members, count, sizeof *members, compare_members);
	for (uint64 i = 0; i < count; i++)
		ids[i] = members[i].id;
	*graph = (EmogiGraph) {.nvertices = count,.ids = ids,.dictionary = graph->dictionary};
	for (uint64 i = 0; i < count; i++)
		component[i] = emogi_graph_vertex(graph, members[i].component);
	result->columns[0].vertex = component;
}

/* List the vertices of the components that a task names, in memory of the current context; false without labels or members, or when there are many. */
static bool
find_members(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph, Member **members, uint64 *count)
{
	const uint64 most = Max(graph->nvertices / MEMBERS_SHARE, FEW_MEMBERS);
	void	   *memory = take_lines(emogi_local_components_bytes(patch));

	for (uint64 room = FEW_MEMBERS; room <= most; room = *count)
	{
		EmogiLocalComponents components = {.graph = graph,.patch = patch};
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
	return *count <= most;
}

/* Answer for the vertices of the components that a task names; false without labels or members, or when there are many. */
static bool
answer_components(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	Member	   *members;
	uint64		count;

	emogi_cache_labels_link(call->slot->graph);
	if (!find_members(call, task, patch, graph, &members, &count))
		return false;
	set_members(members, count, graph, result);
	call->rows_are_local = true;
	return true;
}

/* Answer for all vertices; false without labels, or when the statement was to end and does not. */
static bool
answer_all(EmogiCall *call, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	EmogiLocalComponents components = {.graph = graph,.patch = patch};
	const uint64 nnew = patch != NULL ? patch->nnew : 0;
	const uint64 nvertices = graph->nvertices + nnew;
	void	   *memory = take_lines(emogi_local_components_bytes(patch));
	uint32	   *component = emogi_call_alloc_any(call, nvertices * sizeof *component);
	int64	   *ids = nnew > 0 ? emogi_call_alloc_any(call, nvertices * sizeof *ids) : NULL;
	bool		answered = false;

	components.labels = emogi_cache_labels_begin(call->slot->graph, true);
	if (components.labels != NULL)
	{
		emogi_local_components_join(&components, memory);
		answered = emogi_local_components_write(&components, emogi_cache_labels_stop, ids, component);
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
 * Carry out emogi_cc, if the call's Graph has kept its components. patch: what has come since the Graph was made, NULL = nothing; nothing
 * has gone. Then *graph has the vertices, ascending, and *result their components; where the task has targets or names components these alone, in
 * memory of the current context, else all, in the Region. False, and nothing is changed, when the engine must.
 */
bool
emogi_components_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result)
{
	const double start_ms = emogi_pool_now_ms();
	const EmogiGraph before = *graph;
	bool		answered;

	if (call->slot->graph < 0 || !emogi_cache_labels_exist(call->slot->graph))
		return false;
	if (task->has_targets && !task->is_shared)
		answered = answer_targets(call, task, patch, graph, result);
	else
		answered = (task->has_components && !task->is_shared && answer_components(call, task, patch, graph, result)) ||
			answer_all(call, patch, graph, result);
	if (!answered)
		return false;
	emogi_local_search_note_run(call, &before, graph->nvertices, 0, patch != NULL ? patch->forward.nadded : 0, start_ms);
	return true;
}
