/*
 * refusal.c: errors of graphs that have no answer to what is asked, in terms of their keys.
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "function/function.h"

/* Get the text of a cycle: its first vertices, and the first again. */
static char *
cycle_text(const EmogiTask *task, const EmogiGraph *graph, const EmogiRefusal *refusal)
{
	const uint64 nnamed = Min(refusal->cycle_length, EMOGI_CYCLE_NAMED);
	StringInfoData text;

	initStringInfo(&text);
	for (uint64 i = 0; i < nnamed; i++)
		appendStringInfo(&text, "%s -> ", emogi_vertices_text(task, graph, refusal->cycle[i]));
	if (nnamed < refusal->cycle_length)
		appendStringInfoString(&text, "... -> ");
	appendStringInfoString(&text, emogi_vertices_text(task, graph, refusal->cycle[0]));
	return text.data;
}

/* Raise 22023 for what a run has refused; returns when it has refused nothing. */
void
emogi_refusal_report(const EmogiTask *task, const EmogiGraph *graph, const EmogiRefusal *refusal)
{
	switch (refusal->kind)
	{
		case EMOGI_NOT_REFUSED:
			break;
		case EMOGI_HAS_CYCLE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("graph \"%s\" has a cycle", task->graph.text),
					 errdetail("A cycle of " UINT64_FORMAT " %s: %s.", refusal->cycle_length, refusal->cycle_length == 1 ? "edge" : "edges",
							   cycle_text(task, graph, refusal)),
					 errhint("emogi_scc finds all: a cycle lies within a component of several vertices, or is an edge from a vertex to itself.")));
			break;
	}
}
