/*
 * choose.c: the choice who answers a call: of those that can, the one that costs least
 */
#include "postgres.h"

#include "lib/stringinfo.h"

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
		.mapping = emogi_papers_query().mapping,
		.nthreads = emogi_cpu_threads,
		.nreached = -1,
		.request_us = EMOGI_COST_REQUEST_US,
		.ngpus = emogi_shared != NULL ? emogi_shared->ncuda : 0,
		.why_no_gpu = emogi_shared != NULL ? emogi_shared->cuda[0].reason : ""
	};
}

/*
 * Do the settings allow searches in the backend? If so, a call may use an older graph with an
 * overlay.
 */
bool
emogi_answer_is_local_enabled(void)
{
	return emogi_enable_local_search && emogi_engine != EMOGI_ENGINE_CUDA &&
		emogi_papers_query().mapping == EMOGI_MAPPING_AUTO;
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
