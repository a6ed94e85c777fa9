/*
 * summary.c: asks the engine for what a node wants of a run instead of all its rows (contract/summary.h), where the answer lies elsewhere, or
 * need not be written at all.
 *
 * Whether the engine has made it, result.is_summarized says; else the node reads the rows.
 */
#include "postgres.h"

#include "scan_node/scan.h"

/* Groups, or vertices, that there is room for: with more of them, to bring the rows costs little beside. */
#define LEAST_ROOM 65536

/* Get room in the Region for what comes of a summary. There are no more groups than vertices. */
static void
take_room(EmogiCall *call, const EmogiGraph *graph, EmogiSummary *summary)
{
	if (summary->kind == EMOGI_SUMMARY_FIRST)
	{
		summary->room = Max(2 * summary->count, LEAST_ROOM);
		summary->picked = emogi_call_alloc_any(call, summary->room * sizeof *summary->picked);
		return;
	}
	summary->room = summary->column < 0 ? 1 : Min(LEAST_ROOM, graph->nvertices);
	summary->labels = emogi_call_alloc_any(call, summary->room * sizeof *summary->labels);
	summary->counts = emogi_call_alloc_any(call, summary->room * sizeof *summary->counts);
	summary->values = emogi_call_alloc_any(call, summary->room * Max(summary->nfolds, 1) * sizeof *summary->values);
}

/* Describe what is wanted of the run that is about to begin, whose Graph stands; NULL when that is all rows. */
static const EmogiSummary *
describe(void *arg, EmogiCall *call, EmogiForm *form)
{
	EmogiScan  *scan = arg;
	EmogiSummary wanted = {0};
	EmogiSummary *summary;

	scan->form = form;
	emogi_inputs_find_values(scan);
	if (scan->ranges.excludes || scan->ranges.nlisted > 0)
		return NULL;
	memcpy(wanted.ranges, scan->ranges.of, sizeof wanted.ranges);
	if (!scan->summarize(scan, &wanted))
		return NULL;
	take_room(call, &scan->graph, &wanted);
	summary = emogi_call_alloc_any(call, sizeof *summary);
	*summary = wanted;
	scan->summary = summary;
	return summary;
}

/* Have the run of a task ask for what the node wants. Without ways to look up other vertices later, a summary says it all. */
void
emogi_summary_init(EmogiScan *scan, EmogiTask *task)
{
	scan->summary = NULL;
	if (scan->summarize == NULL || scan->looks_up)
		return;
	task->summarize = describe;
	task->summarize_arg = scan;
}

/* Copy an array into the current context. */
static void *
copy_array(const void *array, Size bytes)
{
	return memcpy(palloc(Max(bytes, 1)), array, bytes);
}

/* Keep what came of the summary in the current context. */
void
emogi_summary_copy(EmogiScan *scan)
{
	const uint64 count = scan->result.nsummarized;
	EmogiSummary *copy;

	if (!scan->result.is_summarized)
		return;
	copy = copy_array(scan->summary, sizeof *copy);
	if (copy->kind == EMOGI_SUMMARY_FIRST)
		copy->picked = copy_array(copy->picked, count * sizeof *copy->picked);
	else
	{
		copy->labels = copy_array(copy->labels, count * sizeof *copy->labels);
		copy->counts = copy_array(copy->counts, count * sizeof *copy->counts);
		copy->values = copy_array(copy->values, count * copy->nfolds * sizeof *copy->values);
	}
	scan->summary = copy;
}
