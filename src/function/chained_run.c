/*
 * chained_run.c: a task's query, requested together with its graph
 *
 * If the graph must be built, the engine worker runs the query as soon as the graph is complete
 * (acquire/build.c), and the backend takes the result if it comes to request that query. So a query
 * is chained if it follows from the task alone, and if it is unlikely that the backend answers:
 *
 * - Searches with a limit of depth or distance, with targets, and those for one path are left to
 *   the local search and to contraction hierarchies, which depend on the graph.
 * - Start values, pairs and aggregates are read for the graph's vertices.
 * - Lists may have any length.
 *
 * The worker leaves out queries for a GPU, and long ones (worker/steps.c).
 */
#include "postgres.h"

#include "answer/cost.h"
#include "base/papers_settings.h"
#include "function/function.h"

/* Sources above this number are looked up by the backend, which checks for interrupts. */
#define MAX_SOURCES 1024

/* Copy the bytes of a key. */
static EmogiKeyBytes
copy_key(EmogiKeyBytes key)
{
	char	   *bytes = palloc(Max(key.length, 1));

	memcpy(bytes, key.bytes, key.length);
	return (EmogiKeyBytes) {bytes, key.length};
}

/*
 * Set the sources of a task's query, as keys of its graph. Return false if only the backend can
 * look them up.
 */
static bool
set_sources(const EmogiTask *task, EmogiChainedRun *chained)
{
	const uint64 count = task->sources.count;
	EmogiKeyIO *form = task->form;
	EmogiKeyBytes *keys;
	int64	   *ids;

	if (!task->has_sources)
		return true;
	if (form == NULL || count > MAX_SOURCES || form->coder.key.class == EMOGI_KEY_COMPARED)
		return false;
	if (form->coder.key.class == EMOGI_KEY_INTEGER)
	{
		chained->ids = ids = palloc(Max(count, 1) * sizeof *ids);
		for (uint64 i = 0; i < count; i++)
			ids[chained->nsources++] = DatumGetInt64(task->sources.datums[i]);
		return true;
	}
	chained->keys = keys = palloc(Max(count, 1) * sizeof *keys);
	for (uint64 i = 0; i < count; i++)
		if (emogi_key_io_has(form, task->sources.datums[i]))
			keys[chained->nsources++] =
				copy_key(emogi_key_coder_encode(&form->coder, task->sources.datums[i]));
	return chained->nsources > 0;
}

/* Check whether a task's query follows from the task alone, except for its sources. */
static bool
is_complete(const EmogiTask *task)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);

	return !task->last_is_target && !task->has_target_array && !task->has_targets &&
		!task->no_rows && task->start == NULL && task->pairs == NULL &&
		!emogi_shape_is_list(row->shape) &&
		(task->summarize == NULL ||
		 ((row->traits & EMOGI_CPU_AGGREGATES) == 0 &&
		  (emogi_shared->ncuda == 0 || emogi_engine == EMOGI_ENGINE_CPU)));
}

/*
 * Describe a task's query for the build of its graph, in the current memory context. question: as
 * far as the task tells. Return NULL if it must wait for the graph.
 */
const EmogiChainedRun *
emogi_chained_run_make(const EmogiTask *task, const EmogiQuestion *question)
{
	const bool	may_be_local = emogi_answer_can(EMOGI_ANSWERER_LOCAL, question);
	EmogiChainedRun *chained;

	if (!is_complete(task) || (may_be_local && question->is_bounded))
		return NULL;
	chained = palloc0(sizeof *chained);
	if (!set_sources(task, chained))
		return NULL;
	chained->engine = emogi_engine;
	chained->query = task->query;
	chained->query.placement = emogi_placement;
	chained->query.papers = emogi_papers_query();
	chained->max_local_edges = may_be_local ? EMOGI_COST_LOCAL_MIN_EDGES : 0;
	return chained;
}
