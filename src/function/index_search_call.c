/*
 * index_search_call.c: searches that reach little where there is no Graph: they walk over indexes of the tables (index_search/index_search.h), if acquire/index_search_cost.c
 * finds that this costs less than to have the Graph built.
 */
#include "postgres.h"

#include "function/function.h"
#include "base/papers_settings.h"

/*
 * May a task be carried out without a Graph, if it reaches little, and the keys of its Source allow it (emogi_index_search_supports)? What asks for
 * a GPU, or for kernels of the papers, may not.
 */
bool
emogi_index_search_call_may_serve(const EmogiTask *task)
{
	const EmogiPapersQuery papers = emogi_papers_query();

	return emogi_enable_index_walk && emogi_engine != EMOGI_ENGINE_CUDA && papers.mapping == EMOGI_MAPPING_AUTO &&
		(task->query.algorithm == EMOGI_BFS || task->query.algorithm == EMOGI_SSNSP) && !task->is_shared && !task->no_rows &&
		(task->query.max_depth >= 0 || task->has_targets);
}

/* Find the keys that a condition asks for. */
static void
find_targets(const EmogiTask *task, EmogiIndexSearch *walk)
{
	Datum	   *targets = palloc_extended(Max(task->wanted.count, 1) * sizeof *targets, MCXT_ALLOC_HUGE);

	for (uint64 i = 0; i < task->wanted.count; i++)
		if (emogi_form_lookup_key(task->form, task->wanted.datums[i], &targets[walk->ntargets]) &&
			emogi_form_has(task->form, targets[walk->ntargets]))
			walk->ntargets++;
	walk->targeted = true;
	walk->targets = targets;
}

/* Describe the walk that a task asks for, whose form is read, if that has not been done; false when nothing bounds it, or a source can be no key. */
static bool
describe(EmogiIndexSearch *walk, const EmogiKeyType *key)
{
	EmogiTask  *task = walk->context;

	if (task->form == NULL)
		emogi_vertices_read(task, walk->function, key);
	*walk = (EmogiIndexSearch) {
		.describe = describe,
		.context = task,
		.function = walk->function,
		.direction = task->direction,
		.max_depth = task->query.max_depth,
		.counts_paths = task->query.algorithm == EMOGI_SSNSP,
		.coder = &task->form->coder,
		.sources = task->sources.datums,
		.nsources = task->sources.count
	};
	for (uint64 i = 0; i < walk->nsources; i++)
		if (!emogi_form_has(task->form, walk->sources[i]))
			return false;
	if (task->has_targets && emogi_form_can_lookup(&task->form->coder.key, task->form->type))
		find_targets(task, walk);
	return walk->max_depth >= 0 || walk->targeted;
}

/* Get a walk for a task of a function, which is described when the type of its keys is known. */
EmogiIndexSearch
emogi_index_search_call_walk(EmogiTask *task, Oid function)
{
	return (EmogiIndexSearch) {.describe = describe,.context = task,.function = function};
}

/* Have what a walk has reached stand in the place of the Graph, as emogi_local_search_run does, and note in the record of the call what was done. */
void
emogi_index_search_call_take(EmogiCall *call, EmogiTask *task, const EmogiIndexSearch *walk, EmogiGraph *graph, EmogiResult *result)
{
	EmogiCallRecord *record = &call->record;

	strlcpy(record->cache, "index", sizeof record->cache);
	strlcpy(record->indexes, walk->names, sizeof record->indexes);
	strlcpy(record->engine, "backend", sizeof record->engine);
	record->nreached = walk->count;
	record->nlevels = walk->nlevels;
	record->edges_traversed = walk->nlooked;
	record->run_ms = walk->run_ms;
	*graph = (EmogiGraph) {.nvertices = walk->count,.ids = walk->ids};
	result->columns[0].int32 = walk->levels;
	result->columns[1].float64 = walk->paths;
	call->rows_are_local = true;
	task->form->keys = walk->keys;
	task->form->nkeys = walk->count;
	emogi_vertices_find(task, graph);
}
