/*
 * task_notices.c: notices of sources and targets that are not in the graph of a task.
 *
 * One is reported of each set, the first. Paths report their ends by themselves (path_run.c).
 */
#include "postgres.h"

#include "function/task_vertices.h"

/* Report a source that is not in the graph. Raises 42804. */
static void
notice_source(const EmogiTask *task, const EmogiGraph *graph, uint64 i)
{
	const Datum source = task->sources.datums[i];

	if (task->sources.count == 1 && !task->source_is_array)
		emogi_vertices_notice_end("source", task->form, graph, source, EMOGI_ARITY_MANY);
	else
		emogi_vertices_notice_missing("source", task->form, source);
}

/* Report the first target that is not in the graph; graph NULL = it has no edges. */
static void
notice_target_array(const EmogiTask *task, const EmogiOverlay *overlay, const EmogiGraph *graph)
{
	for (uint64 i = 0; i < task->target_array.count; i++)
		if (graph == NULL ||
			!emogi_task_has_vertex(task, overlay, graph, task->target_array_ids[i]))
		{
			emogi_vertices_notice_missing("target", task->form, task->target_array.datums[i]);
			return;
		}
}

/* Report the first source that is not in the graph; graph NULL = it has no edges. */
static void
notice_sources(const EmogiTask *task, const EmogiOverlay *overlay, const EmogiGraph *graph)
{
	if (!task->has_sources || (!emogi_notice_missing_source && task->sources.count != 1))
		return;
	for (uint64 i = 0; i < task->sources.count; i++)
		if (graph == NULL || !emogi_task_has_vertex(task, overlay, graph, task->keys[i]))
		{
			notice_source(task, graph, i);
			return;
		}
}

/*
 * Report the first source and the first target that are not in the graph; graph NULL = it has no
 * edges. Report nothing if the graph was not read.
 */
void
emogi_task_notice_sets(const EmogiTask *task, const EmogiOverlay *overlay, const EmogiGraph *graph)
{
	if (emogi_task_has_empty_set(task))
		return;
	notice_sources(task, overlay, graph);
	notice_target_array(task, overlay, graph);
}

/* Report the first source that an index search did not find in the graph. */
void
emogi_task_notice_not_found(const EmogiTask *task, const EmogiIndexSearch *search)
{
	for (uint64 i = 0; i < search->nsources; i++)
		if (!search->found[i])
		{
			notice_source(task, NULL, i);
			return;
		}
}
