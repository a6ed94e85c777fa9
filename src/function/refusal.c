/*
 * refusal.c: errors for graphs on which a function has no result, and warnings for inaccurate
 * results, in terms of their keys and of the call's arguments
 */
#include "postgres.h"

#include <math.h>

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

/*
 * Get an alpha that is guaranteed to converge, slightly below the proven bound, so that rounding
 * does no harm.
 */
static double
safe_alpha(const EmogiTask *task, const EmogiRefusal *refusal)
{
	return 0.99 * task->query.alpha / refusal->rate;
}

/* Raise 22023 for sums over walks that diverge. */
static void
report_divergence(const EmogiTask *task, const EmogiResult *result)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("centralities of graph \"%s\" grow without bound with alpha %g",
					task->graph.text, task->query.alpha),
			 errdetail("Iteration %u adds %g to one of them.", result->nlevels, result->change),
			 errhint("alpha must be below the inverse of the largest eigenvalue of the graph, for "
					 "example %.3g.", safe_alpha(task, &result->refusal))));
}

/* Raise 22023 for sums over walks that have not converged after all iterations. */
static void
report_unconverged(const EmogiTask *task, const EmogiResult *result)
{
	const bool	converges = result->refusal.rate < 1.0;

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("centralities of graph \"%s\" with alpha %g have not converged in %u %s",
					task->graph.text, task->query.alpha, result->nlevels,
					result->nlevels == 1 ? "iteration" : "iterations"),
			 errdetail("The last one adds %g to one of them; tolerance is %g.", result->change,
					   task->query.tolerance),
			 converges ? errhint("Raise max_iterations, or lower alpha.") :
			 errhint("alpha must be below the inverse of the largest eigenvalue of the graph, for "
					 "example %.3g. Alternatively, raise max_iterations.",
					 safe_alpha(task, &result->refusal))));
}

/* Raise 22023 if the run was refused; return if it was not. */
void
emogi_refusal_report(const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	const EmogiRefusal *refusal = &result->refusal;

	switch (refusal->kind)
	{
		case EMOGI_NOT_REFUSED:
		case EMOGI_WEIGHTS_OUT_OF_RANGE:	/* reported by the call */
			break;
		case EMOGI_HAS_CYCLE:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 task->has_sources ?
					 errmsg("the sources reach a cycle of graph \"%s\"", task->graph.text) :
					 errmsg("graph \"%s\" has a cycle", task->graph.text),
					 errdetail("A cycle of " UINT64_FORMAT " %s: %s.", refusal->cycle_length,
							   refusal->cycle_length == 1 ? "edge" : "edges",
							   cycle_text(task, graph, refusal)),
					 errhint("To find all cycles, use emogi_scc: each lies within a component of "
							 "several vertices, or is an edge from a vertex to itself.")));
			break;
		case EMOGI_ENDS_MEET:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("vertex %s is a source and a target",
							emogi_vertices_text(task, graph, refusal->cycle[0])),
					 errhint("Leave it out of one of the two.")));
			break;
		case EMOGI_DIVERGES:
			report_divergence(task, result);
			break;
		case EMOGI_HAS_NOT_CONVERGED:
			report_unconverged(task, result);
			break;
	}
}

/* Warn if a power iteration with a tolerance has not converged. */
void
emogi_refusal_warn(const EmogiTask *task, const EmogiResult *result)
{
	const EmogiQuery *query = &task->query;

	if (!emogi_algorithm_has(query->algorithm, EMOGI_MAY_NOT_CONVERGE) ||
		query->tolerance <= 0.0 ||
		result->nlevels < query->max_iterations || result->change < query->tolerance)
		return;
	ereport(WARNING,
			(errmsg("centralities of graph \"%s\" have not converged in %u %s", task->graph.text,
					result->nlevels,
					result->nlevels == 1 ? "iteration" : "iterations"),
			 errdetail("The last one changed them by %g; tolerance is %g.", result->change,
					   query->tolerance),
			 errhint("Raise max_iterations, or set tolerance to 0 to run exactly max_iterations "
					 "without this warning.")));
}

/* Raise 22003 for a value that is out of range. */
static void
report_value(const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result,
			 const EmogiResultColumn *column, uint64 v)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(task->query.algorithm);
	const bool	iterates = emogi_algorithm_iterates(task->query.algorithm);
	const char *hint = !iterates ? "Scale the weights down." :
		"Scale the weights down, or lower max_iterations.";

	if ((row->traits & EMOGI_SUMS_LISTS) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("the %s of vertex %s is out of range", column->name,
						emogi_vertices_text(task, graph, v)),
				 errhint("%s", hint)));
	if (emogi_algorithm_takes(row, EMOGI_BETA) >= 0)
		hint = "Lower beta, or set normalized to true.";
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("the value of vertex %s grew out of range in %u %s",
					emogi_vertices_text(task, graph, v), result->nlevels,
					iterates ? "iterations" : "levels"),
			 errhint("%s", hint)));
}

/*
 * Raise 22003 for values that grew without bound. All vertices are checked, regardless of which
 * rows are wanted.
 */
void
emogi_refusal_check_values(const EmogiTask *task, const EmogiGraph *graph,
						   const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(task->query.algorithm)->columns;

	for (int i = 0; columns[i].name != NULL; i++)
		for (uint64 v = 0; columns[i].type == EMOGI_FLOAT64 && v < graph->nvertices; v++)
			if (unlikely(!isfinite(result->columns[i].float64[v])))
				report_value(task, graph, result, &columns[i], v);
}
