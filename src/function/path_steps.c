/*
 * path_steps.c: the steps of many paths, as shortest_paths.c, ranked_paths.c and cycles.c find them. They are kept until the last is found, so that the
 * names of their edges are looked up at once, each once.
 */
#include "postgres.h"

#include "lib/qunique.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/path_steps.h"
#include "function/rows.h"

/* Make room for so many items of an array. */
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

/* Add a path of one vertex or more; distance: of vertex path[i], by its number or, where they are of the path alone, by i. */
void
emogi_path_steps_add(EmogiPathSteps *paths, const uint32 *path, uint64 length, const double *distance, bool by_number)
{
	paths->steps = make_room(paths->steps, &paths->room, paths->nsteps + length, sizeof *paths->steps);
	paths->ends = make_room(paths->ends, &paths->ends_room, paths->npaths + 1, sizeof *paths->ends);
	for (uint64 i = 0; i < length; i++)
		paths->steps[paths->nsteps++] = (EmogiStep) {path[i], distance[by_number ? path[i] : i]};
	paths->ends[paths->npaths++] = paths->nsteps;
}

/* ---- names ---- */

static int
compare_ends(const void *a, const void *b)
{
	const EmogiStepEnds *x = a;
	const EmogiStepEnds *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Get the key of a vertex for a query. */
static Datum
key_of(const EmogiPathSteps *paths, uint32 v)
{
	EmogiForm  *form = paths->task->form;
	int16		length;
	bool		by_value;

	get_typlenbyval(form->type, &length, &by_value);
	return datumCopy(emogi_rows_vertex(form, paths->graph, v), by_value, length);
}

/* Collect the edges of all steps. */
static void
find_edges(EmogiPathSteps *paths)
{
	paths->edges = palloc_extended(Max(paths->nsteps, 1) * sizeof *paths->edges, MCXT_ALLOC_HUGE);
	for (uint64 p = 0; p < paths->npaths; p++)
		for (uint64 i = emogi_path_steps_begin(paths, p) + 1; i < paths->ends[p]; i++)
			paths->edges[paths->nedges++] = (EmogiStepEnds) {paths->steps[i - 1].vertex, paths->steps[i].vertex};
	qsort(paths->edges, paths->nedges, sizeof *paths->edges, compare_ends);
	paths->nedges = qunique(paths->edges, paths->nedges, sizeof *paths->edges, compare_ends);
}

/* Find the names of the edges of all steps. */
void
emogi_path_steps_name(EmogiPathSteps *paths)
{
	Datum	   *from;
	Datum	   *to;

	find_edges(paths);
	paths->names = palloc_extended(Max(paths->nedges, 1) * sizeof *paths->names, MCXT_ALLOC_HUGE);
	from = palloc_extended(Max(paths->nedges, 1) * sizeof *from, MCXT_ALLOC_HUGE);
	to = palloc_extended(Max(paths->nedges, 1) * sizeof *to, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < paths->nedges; i++)
	{
		from[i] = key_of(paths, paths->edges[i].from);
		to[i] = key_of(paths, paths->edges[i].to);
	}
	emogi_edge_names_find(paths->task, from, to, paths->nedges, paths->names);
}

/* ---- rows ---- */

/* Fill in the columns of step i of a path, the names of which have been found: EMOGI_STEP_COLUMNS values, in the current context. */
void
emogi_path_steps_fill(const EmogiPathSteps *paths, uint64 path, uint64 i, Datum *values, bool *nulls)
{
	const EmogiListsView lists = emogi_lists_forward(paths->graph, NULL);
	const EmogiStep *step = &paths->steps[emogi_path_steps_begin(paths, path) + i];
	const bool	is_last = i + 1 == emogi_path_steps_length(paths, path);
	const EmogiStepEnds edge = {step->vertex, is_last ? 0 : step[1].vertex};
	const EmogiStepEnds *found = is_last ? NULL : bsearch(&edge, paths->edges, paths->nedges, sizeof edge, compare_ends);
	const NullableDatum name = is_last ? (NullableDatum) {.isnull = true} : paths->names[found - paths->edges];

	memset(nulls, 0, EMOGI_STEP_COLUMNS * sizeof *nulls);
	values[0] = Int32GetDatum((int32) i + 1);
	values[1] = emogi_rows_vertex(paths->task->form, paths->graph, step->vertex);
	values[2] = name.value;
	nulls[2] = name.isnull;
	values[3] = Float8GetDatum(is_last ? 0.0 : emogi_shortest_path_cost(&lists, edge.from, edge.to));
	values[4] = Float8GetDatum(step->distance);
}

/* Put all rows into the call's tuplestore: the number of the path, from 1, and the columns of its steps. */
void
emogi_path_steps_put(FunctionCallInfo fcinfo, const EmogiPathSteps *paths)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi row", ALLOCSET_SMALL_SIZES);
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
