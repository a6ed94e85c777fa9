/*
 * summary.c: have the engine compute what a node needs instead of all rows (contract/summary.h)
 *
 * This avoids transferring the result from a device, or writing it at all. result.is_summarized
 * tells whether the engine did so; otherwise the node reads the rows.
 */
#include "postgres.h"

#include "scan_node/scan.h"

/*
 * Minimum room for groups or vertices; with more of them, transferring the rows costs little in
 * comparison
 */
#define MIN_ROOM 65536

/* Allocate the summary's output in the arena. There are at most as many groups as vertices. */
static void
allocate_room(EmogiCall *call, const EmogiGraph *graph, EmogiSummary *summary)
{
	if (summary->kind == EMOGI_SUMMARY_FIRST)
	{
		summary->room = Max(2 * summary->count, MIN_ROOM);
		summary->picked = emogi_call_alloc_any(call, summary->room * sizeof *summary->picked);
		return;
	}
	summary->room = summary->column < 0 ? 1 : Min(MIN_ROOM, graph->nvertices);
	summary->labels = emogi_call_alloc_any(call, summary->room * sizeof *summary->labels);
	summary->counts = emogi_call_alloc_any(call, summary->room * sizeof *summary->counts);
	summary->values = emogi_call_alloc_any(call, summary->room * Max(summary->nfolds, 1) *
										   sizeof *summary->values);
}

/*
 * Describe what is needed of a run that is about to start, whose graph is acquired; return NULL if
 * that is all rows.
 */
static const EmogiSummary *
describe(void *arg, EmogiCall *call, EmogiKeyIO *form)
{
	EmogiScan  *scan = arg;
	EmogiSummary wanted = {0};
	EmogiSummary *summary;

	scan->form = form;
	emogi_inputs_find_values(scan);
	if (scan->ranges.excludes || scan->ranges.compares_self || scan->ranges.nlisted > 0)
		return NULL;
	memcpy(wanted.ranges, scan->ranges.of, sizeof wanted.ranges);
	if (!scan->summarize(scan, &wanted))
		return NULL;
	allocate_room(call, &scan->graph, &wanted);
	summary = emogi_call_alloc_any(call, sizeof *summary);
	*summary = wanted;
	scan->summary = summary;
	return summary;
}

/*
 * Have a task's run request what the node needs.
 */
void
emogi_summary_init(EmogiScan *scan, EmogiTask *task)
{
	task->summarize = describe;
	task->summarize_arg = scan;
}

/* Copy an array into the current context. */
static void *
copy_array(const void *array, Size bytes)
{
	return memcpy(palloc(Max(bytes, 1)), array, bytes);
}

/* Copy the summary's output into the current context. */
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
