/*
 * index_search_call.c: searches that reach few vertices and have no graph, over indexes of the
 * tables (index_search/index_search.h).
 *
 * answer/ tells which tasks may be searched so; acquire/index_search_cost.c compares the cost with
 * that of the graph.
 */
#include "postgres.h"

#include "utils/lsyscache.h"

#include "function/function.h"

/* Read the keys of a task's condition, of a type that can be looked up. */
Datum *
emogi_index_search_call_wanted(const EmogiTask *task, const EmogiVertexDatums *wanted,
							   uint64 *count)
{
	Datum	   *keys = palloc_extended(Max(wanted->count, 1) * sizeof *keys, MCXT_ALLOC_HUGE);

	*count = 0;
	for (uint64 i = 0; i < wanted->count; i++)
		if (emogi_key_io_lookup_key(task->form, wanted->datums[i], &keys[*count]) &&
			emogi_key_io_has(task->form, keys[*count]))
			(*count)++;
	return keys;
}

/*
 * Fill in what all searches of a task have in common, and read its vertices if that has not been
 * done.
 */
void
emogi_index_search_call_begin(EmogiIndexSearch *search, const EmogiKeyType *key)
{
	EmogiTask  *task = search->context;

	if (task->form == NULL)
		emogi_vertices_read(task, search->function, key);
	*search = (EmogiIndexSearch) {
		.describe = search->describe,
		.context = task,
		.function = search->function,
		.tables = search->tables,
		.kept = search->kept,
		.direction = task->direction,
		.max_depth = task->query.max_depth,
		.coder = &task->form->coder,
		.sources = task->sources.datums,
		.nsources = task->sources.count
	};
}

/* Check whether all given vertices can be keys. */
bool
emogi_index_search_call_are_keys(EmogiKeyIO *form, const Datum *keys, uint64 count)
{
	for (uint64 i = 0; i < count; i++)
		if (!emogi_key_io_has(form, keys[i]))
			return false;
	return true;
}

/*
 * Fill in the search of a task, which may have no key type before. Return false if a source cannot
 * be a key.
 */
bool
emogi_index_search_call_describe(EmogiIndexSearch *search, const EmogiKeyType *key)
{
	EmogiTask  *task = search->context;

	emogi_index_search_call_begin(search, key);
	search->counts_paths = emogi_algorithm_has(task->query.algorithm, EMOGI_COUNTS_PATHS);
	if (!emogi_index_search_call_are_keys(task->form, search->sources, search->nsources))
		return false;
	search->targeted = task->has_targets &&
		emogi_key_io_can_lookup(&task->form->coder.key, task->form->type);
	if (search->targeted)
		search->targets = emogi_index_search_call_wanted(task, &task->wanted, &search->ntargets);
	return true;
}

/*
 * Begin a call and answer it by an index search, as the last call of the plan node was, if nothing
 * that concerns the graph has changed. Return false if it must be answered in another way; the call
 * may have begun, otherwise *call is NULL.
 */
bool
emogi_index_search_call_repeat(Oid function, EmogiTask *task, EmogiIndexSearch *search,
							   EmogiGraphView *view, EmogiCall **call)
{
	EmogiSource source;
	EmogiVertexDatums given = task->sources;
	Datum		first;

	*call = NULL;
	if (given.count != 1 || task->source_is_array ||
		!emogi_index_search_repeat_may(task->kept, &task->graph, &source))
		return false;
	first = given.datums[0];
	task->source = source;
	task->form = NULL;
	if (task->table != NULL)
		*task->table = source.is_query ? InvalidOid : source.relid;
	emogi_request_require_engine();
	*search = (EmogiIndexSearch) {.context = task,.function = function,.kept = task->kept};
	if (emogi_index_search_call_describe(search, &source.key))
	{
		*call = emogi_call_enter(function, get_func_name(function), &task->source);
		if (emogi_index_search_repeat(*call, search, view))
			return true;
	}
	task->sources = given;
	task->sources.datums[0] = first;
	return false;
}

/*
 * Replace *graph by the vertices that an index search reached, as emogi_local_search_run does, and
 * fill in the call's record.
 */
void
emogi_index_search_call_set_result(EmogiCall *call, EmogiTask *task, const EmogiIndexSearch *search,
								   EmogiGraph *graph, EmogiResult *result)
{
	EmogiCallRecord *record = &call->record;

	strlcpy(record->indexes, search->names, sizeof record->indexes);
	strlcpy(record->engine, "backend", sizeof record->engine);
	record->nreached = search->count;
	record->nlevels = search->nlevels;
	record->edges_traversed = search->nscanned;
	record->run_ms = search->run_ms;
	*graph = (EmogiGraph) {.nvertices = search->count,.ids = search->ids};
	if (search->degrees != NULL)
	{
		result->columns[0].int64 = search->degrees;
		result->columns[1].float64 = search->strengths;
	}
	else
	{
		result->columns[0].int32 = search->levels;
		result->columns[1].float64 = search->paths;
	}
	call->rows_are_local = true;
	task->form->keys = search->keys;
	task->form->nkeys = search->count;
	emogi_vertices_find(task, graph, NULL);
}
