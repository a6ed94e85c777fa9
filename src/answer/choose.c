/*
 * choose.c: the choice who answers a call: of those that can, the one that costs least
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "contract/msbfs.h"

#include "answer/answer.h"
#include "answer/cost.h"
#include "base/papers_settings.h"
#include "base/shared.h"

/* Begin a question about an algorithm under the current settings. */
void
emogi_answer_ask(EmogiAlgorithm algorithm, EmogiQuestion *question)
{
	*question = (EmogiQuestion) {
		.algorithm = algorithm,
		.engine = emogi_engine,
		.mapping = (EmogiMapping) emogi_papers_mapping,
		.nthreads = emogi_cpu_threads,
		.nreached = -1,
		.request_us = EMOGI_COST_REQUEST_US,
		.ngpus = emogi_shared != NULL ? emogi_shared->ncuda : 0,
		.why_no_gpu = emogi_shared != NULL ? emogi_shared->cuda[0].reason : ""
	};
}

/* Does the caller require a GPU? */
bool
emogi_answer_requires_gpu(void)
{
	return emogi_engine == EMOGI_ENGINE_CUDA;
}

/* May a request of the caller run on a GPU? */
bool
emogi_answer_may_use_gpu(void)
{
	return emogi_shared->ncuda > 0 && emogi_engine != EMOGI_ENGINE_CPU;
}

/* Do the settings ask for neither a GPU nor a system of the papers? */
static bool
is_left_to_emogi(void)
{
	return !emogi_answer_requires_gpu() && emogi_papers_mapping == EMOGI_MAPPING_AUTO;
}

/*
 * Do the settings allow searches in the backend? If so, a call may use an older graph with an
 * overlay.
 */
bool
emogi_answer_is_local_enabled(void)
{
	return emogi_enable_local_search && is_left_to_emogi();
}

/* Do the settings allow searches over indexes, or graphs of the few edges that these find? */
bool
emogi_answer_is_index_enabled(void)
{
	return emogi_enable_index_search && is_left_to_emogi();
}

/* Is a run of the CPU engine on so few edges over before a request to the worker would be? */
bool
emogi_answer_runs_in_backend(uint64 nedges)
{
	return nedges <= EMOGI_COST_LOCAL_MAX_EDGES;
}

/*
 * Get the number of sources, at most nsources, from which one request searches if its answer may
 * take max_bytes; 0 = each source needs a request, because a GPU is required, or because so few of
 * them gain nothing.
 */
int
emogi_answer_batch_sources(uint64 nvertices, int64 max_depth, int nsources, uint64 max_bytes)
{
	if (emogi_answer_requires_gpu())
		return 0;
	while (nsources >= EMOGI_COST_BATCH_MIN_SOURCES &&
		   emogi_msbfs_bytes(nvertices, nsources, max_depth) > max_bytes)
		nsources /= 2;
	return nsources >= EMOGI_COST_BATCH_MIN_SOURCES ? nsources : 0;
}

/* Can the engine aggregate searches from many sources? A GPU does so with emogi's own kernels. */
bool
emogi_answer_can_batch_sums(void)
{
	return !emogi_answer_requires_gpu() || (emogi_papers_mapping == EMOGI_MAPPING_AUTO &&
											emogi_placement <= EMOGI_PLACEMENT_PEER);
}

/* Get what a search in the worker for one path may cost. */
EmogiPathCost
emogi_answer_path_limit(uint64 nedges)
{
	return (EmogiPathCost) {
		Max(nedges / EMOGI_COST_PATH_SHARE, EMOGI_COST_PATH_MIN_EDGES),
		Max(nedges / EMOGI_COST_PATH_VERTICES, EMOGI_COST_PATH_MIN_VERTICES)
	};
}

/* Is such a search worthwhile after one that has scanned `tried` edges in vain? */
bool
emogi_answer_tries_path(uint64 nvertices, uint64 nedges, uint64 tried)
{
	const EmogiPathCost max = emogi_answer_path_limit(nedges);

	return tried == 0 ||
		Min((double) max.nedges, (double) max.nvertices * nedges / nvertices) > 2.0 * tried;
}

/* Can an answerer answer a question? */
bool
emogi_answer_can(EmogiAnswererId id, const EmogiQuestion *question)
{
	return (question->gave_up & 1u << id) == 0 && emogi_answer_row(id)->can(question, NULL);
}

/* Get what it costs, in microseconds, the graph included. */
double
emogi_answer_cost_us(EmogiAnswererId id, const EmogiQuestion *question)
{
	const EmogiAnswerer *answerer = emogi_answer_row(id);

	return answerer->cost_us(question) +
		(answerer->reads == EMOGI_READS_INDEXES ? 0 : question->graph_us);
}

/* May an older graph with an overlay of the changes since suffice to answer a question? */
bool
emogi_answer_accepts_overlay(const EmogiQuestion *question)
{
	for (EmogiAnswererId id = 0; id < EMOGI_NANSWERERS; id++)
		if (emogi_answer_row(id)->reads == EMOGI_READS_OVERLAY && emogi_answer_can(id, question))
			return true;
	return false;
}

/*
 * Choose who answers a question. Without a graph, or an estimate of one, only can() is asked of
 * those that read one. why: receives the reason, [EMOGI_WHY_BYTES]; empty = there is none; NULL =
 * not wanted.
 */
EmogiAnswererId
emogi_answer_choose(const EmogiQuestion *question, char *why)
{
	EmogiAnswererId chosen = EMOGI_NO_ANSWERER;
	double		min_us = 0;

	for (EmogiAnswererId id = 0; id < EMOGI_NANSWERERS; id++)
	{
		double		cost_us;

		if (!emogi_answer_can(id, question))
			continue;
		cost_us = emogi_answer_cost_us(id, question);
		if (chosen != EMOGI_NO_ANSWERER && cost_us > min_us)
			continue;
		chosen = id;
		min_us = cost_us;
	}
	if (why != NULL && chosen != EMOGI_NO_ANSWERER)
		(void) emogi_answer_row(chosen)->can(question, why);
	return chosen;
}

/*
 * Describe who will answer a question, in the order in which they try, each with its reason, for
 * EXPLAIN.
 */
char *
emogi_answer_explain(const EmogiQuestion *question)
{
	EmogiQuestion asked = *question;
	StringInfoData text;
	EmogiAnswererId id;
	char		why[EMOGI_WHY_BYTES];

	initStringInfo(&text);
	do
	{
		id = emogi_answer_choose(&asked, why);
		if (id == EMOGI_NO_ANSWERER)
			break;
		appendStringInfo(&text, why[0] != '\0' ? "%s%s (%s)" : "%s%s",
						 text.len > 0 ? ", otherwise " : "", emogi_answer_row(id)->name, why);
		asked.gave_up |= 1u << id;
	} while ((1u << id & EMOGI_ANSWERERS_IN_BACKEND) != 0);
	return text.data;
}
