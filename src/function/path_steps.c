/*
 * path_steps.c: the steps of many paths, for shortest_paths.c, ranked_paths.c and cycles.c.
 *
 * Steps are kept until the last path is found, so that each distinct edge is looked up once, in one
 * batch.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/path_steps.h"
#include "function/rows.h"
#include "base/limits.h"

/* Max initial size of the hash table of edges. */
#define MAX_INITIAL_EDGES UINT64CONST(1048576)

/*
 * Switch to a new memory context for the paths of a call; return the previous one. The caller's own
 * context is not reset while a cursor over the rows is open, although the rows are in the
 * tuplestore by then.
 */
MemoryContext
emogi_path_steps_enter(void)
{
	return MemoryContextSwitchTo(AllocSetContextCreate(CurrentMemoryContext, "emogi paths",
													   ALLOCSET_DEFAULT_SIZES));
}

/* Free everything allocated since emogi_path_steps_enter, and switch back. */
void
emogi_path_steps_leave(MemoryContext old)
{
	MemoryContextDelete(MemoryContextSwitchTo(old));
}

/* Ensure that an array has room for `count` items; return the array. */
static void *
make_room(void *items, uint64 *room, uint64 count, size_t bytes)
{
	if (items != NULL && count <= *room)
		return items;
	*room = Max(2 * *room, count);
	if (items == NULL)
		return MemoryContextAllocHuge(CurrentMemoryContext, *room * bytes);
	return repalloc_huge(items, *room * bytes);
}

/* Raise 54000 if there are more steps than the backend's memory limit allows. */
static void
require_steps(uint64 count)
{
	const uint64 max_steps = emogi_limits_backend_bytes() / sizeof(EmogiStep);

	if (count > max_steps)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("paths or cycles have more than %llu steps",
						(unsigned long long) max_steps),
				 errhint("Request fewer at a time, or raise the lowest of emogi.max_memory, "
						 "emogi.session_memory and emogi.role_memory.")));
}

/*
 * Add a path of one or more vertices. distance: indexed by vertex number if by_number, otherwise by
 * position in the path.
 */
void
emogi_path_steps_add(EmogiPathSteps *paths, const uint32 *path, uint64 length,
					 const double *distance, bool by_number)
{
	require_steps(paths->nsteps + length);
	paths->steps = make_room(paths->steps, &paths->room, paths->nsteps + length,
							 sizeof *paths->steps);
	paths->ends = make_room(paths->ends, &paths->ends_room, paths->npaths + 1, sizeof *paths->ends);
	for (uint64 i = 0; i < length; i++)
		paths->steps[paths->nsteps++] = (EmogiStep) {path[i], EMOGI_NO_EDGE,
													 distance[by_number ? path[i] : i]};
	paths->ends[paths->npaths++] = paths->nsteps;
}

/* ---- names ---- */

/* Hash table entry: index of an edge by its two ends. */
typedef struct EdgePlace
{
	uint64		ends;			/* from << 32 | to */
	uint32		edge;
	char		status;
} EdgePlace;

#define SH_PREFIX edges
#define SH_ELEMENT_TYPE EdgePlace
#define SH_KEY_TYPE uint64
#define SH_KEY ends
#define SH_HASH_KEY(table, key) \
	hash_combine(murmurhash32((uint32) (key)), murmurhash32((uint32) ((key) >> 32)))
#define SH_EQUAL(table, a, b) ((a) == (b))
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Add the edge from a step to the next one; return its index. */
static uint32
add_edge(EmogiPathSteps *paths, const EmogiStep *step)
{
	const EmogiListsView lists = emogi_lists_forward(paths->graph, paths->overlay);
	const uint32 from = step[0].vertex;
	const uint32 to = step[1].vertex;

	if (paths->nedges == EMOGI_NO_EDGE)
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
						errmsg("the paths have too many edges")));
	paths->edges[paths->nedges] = (EmogiStepEdge) {from, to,
												   emogi_path_run_cost(&lists, from, to),
												   {.isnull = true}};
	return (uint32) paths->nedges++;
}

/* Set the edge from a step to the next one, which is added unless another step has it. */
static void
set_edge(EmogiPathSteps *paths, edges_hash *places, EmogiStep *step)
{
	bool		found;
	EdgePlace  *place = edges_insert(places, (uint64) step->vertex << 32 | step[1].vertex, &found);

	if (!found)
		place->edge = add_edge(paths, step);
	step->edge = place->edge;
}

/* Set the edges of all steps of a path. places: NULL = each step has an edge of its own. */
static void
set_edges(EmogiPathSteps *paths, edges_hash *places, uint64 path)
{
	for (uint64 i = emogi_path_steps_begin(paths, path) + 1; i < paths->ends[path]; i++)
	{
		EmogiStep  *step = &paths->steps[i - 1];

		if (places == NULL)
			step->edge = add_edge(paths, step);
		else
			set_edge(paths, places, step);
	}
}

/* Set one edge for all steps: without weights and names, all edges have equal columns. */
static void
set_equal_edges(EmogiPathSteps *paths)
{
	paths->edges = palloc(sizeof *paths->edges);
	paths->edges[0] = (EmogiStepEdge) {.cost = 1.0,.name = {.isnull = true}};
	paths->nedges = 1;
	for (uint64 p = 0; p < paths->npaths; p++)
	{
		CHECK_FOR_INTERRUPTS();
		for (uint64 i = emogi_path_steps_begin(paths, p) + 1; i < paths->ends[p]; i++)
			paths->steps[i - 1].edge = 0;
	}
}

/* Collect the edges of all steps. A single path repeats none. */
static void
find_edges(EmogiPathSteps *paths)
{
	edges_hash *places = paths->npaths < 2 ? NULL :
		edges_create(CurrentMemoryContext, (uint32) Min(paths->nsteps, MAX_INITIAL_EDGES), NULL);

	paths->edges = palloc_extended(Max(paths->nsteps, 1) * sizeof *paths->edges, MCXT_ALLOC_HUGE);
	for (uint64 p = 0; p < paths->npaths; p++)
	{
		CHECK_FOR_INTERRUPTS();
		set_edges(paths, places, p);
	}
	if (places != NULL)
		edges_destroy(places);
}

/* Look up the names of the collected edges. */
static void
find_names(EmogiPathSteps *paths)
{
	NullableDatum *names = palloc_extended(Max(paths->nedges, 1) * sizeof *names, MCXT_ALLOC_HUGE);
	int64	   *from = palloc_extended(Max(paths->nedges, 1) * sizeof *from, MCXT_ALLOC_HUGE);
	int64	   *to = palloc_extended(Max(paths->nedges, 1) * sizeof *to, MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < paths->nedges; i++)
	{
		from[i] = emogi_overlay_key(paths->graph, paths->overlay, paths->edges[i].from);
		to[i] = emogi_overlay_key(paths->graph, paths->overlay, paths->edges[i].to);
	}
	emogi_edge_names_find(paths->task, paths->graph, from, to, paths->nedges, false, names);
	for (uint64 i = 0; i < paths->nedges; i++)
		paths->edges[i].name = names[i];
	pfree(names);
	pfree(from);
	pfree(to);
}

/* Find the edges of all steps, and their names if wanted. */
void
emogi_path_steps_name(EmogiPathSteps *paths)
{
	if (paths->graph->weight_type == EMOGI_WEIGHT_NONE && !paths->task->names_edges)
	{
		set_equal_edges(paths);
		return;
	}
	find_edges(paths);
	if (paths->task->names_edges)
		find_names(paths);
}

/* ---- rows ---- */

/*
 * Fill in the columns of step i of a path whose edges have been found: EMOGI_STEP_COLUMNS values,
 * in the current context.
 */
void
emogi_path_steps_fill(const EmogiPathSteps *paths, uint64 path, uint64 i, Datum *values,
					  bool *nulls)
{
	const EmogiStep *step = &paths->steps[emogi_path_steps_begin(paths, path) + i];
	const EmogiStepEdge *edge = step->edge != EMOGI_NO_EDGE ? &paths->edges[step->edge] : NULL;

	memset(nulls, 0, EMOGI_STEP_COLUMNS * sizeof *nulls);
	values[0] = Int32GetDatum((int32) i + 1);
	values[1] = emogi_rows_overlay_vertex(paths->task->form, paths->graph, paths->overlay,
										  step->vertex);
	values[2] = edge != NULL ? edge->name.value : (Datum) 0;
	nulls[2] = edge == NULL || edge->name.isnull;
	values[3] = Float8GetDatum(edge != NULL ? edge->cost : 0.0);
	values[4] = Float8GetDatum(step->distance);
}

/* Put all rows into the call's tuplestore: path number, from 1, and the columns of each step. */
static void
put_rows(FunctionCallInfo fcinfo, const EmogiPathSteps *paths)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi row",
												  ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	Datum		values[1 + EMOGI_STEP_COLUMNS];
	bool		nulls[1 + EMOGI_STEP_COLUMNS] = {false};

	for (uint64 p = 0; p < paths->npaths; p++)
	{
		const uint64 length = emogi_path_steps_length(paths, p);

		CHECK_FOR_INTERRUPTS();
		for (uint64 i = 0; i < length; i++)
		{
			values[0] = Int32GetDatum((int32) p + 1);
			emogi_path_steps_fill(paths, p, i, values + 1, nulls + 1);
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
			MemoryContextReset(context);
		}
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
}

/* Put all rows, end the call, and leave the memory that emogi_path_steps_enter has entered. */
void
emogi_path_steps_finish(FunctionCallInfo fcinfo, EmogiCall *call, EmogiPathSteps *paths,
						MemoryContext old)
{
	emogi_path_steps_name(paths);
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	put_rows(fcinfo, paths);
	call->record.nrows += paths->nsteps;
	emogi_call_end(call);
	emogi_path_steps_leave(old);
}
