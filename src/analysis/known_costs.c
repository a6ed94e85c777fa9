/*
 * known_costs.c: the planner's estimates for query analyses that this session has made before
 *
 * The size of a call's graph is estimated from a plan of its query. Calls with a condition often
 * differ only in its values, and to plan a query takes as long as a small call. Therefore the
 * planner of a call uses the estimates of another text of the same form after MIN_PLANNED texts
 * whose estimates differ by at most a factor of MAX_SPREAD, as PostgreSQL uses generic plans. Every
 * MAX_UNPLANNED texts, the query is planned again.
 */
#include "postgres.h"

#include "analysis/known_analyses.h"

#define MIN_PLANNED 5
#define MAX_SPREAD 1.1
#define MAX_UNPLANNED 8

/* Get the estimates for an analysis; false if they were not made, or it is not kept. */
bool
emogi_known_costs_get(const EmogiQueryAnalysis *analysis, double *nrows, double *cost)
{
	const EmogiKnownCosts *costs = emogi_known_analyses_costs(analysis);

	if (costs == NULL || !costs->is_current)
		return false;
	*nrows = costs->nrows;
	*cost = costs->cost;
	return true;
}

/*
 * Get the estimates for an analysis, or those of the last text of the same form that was planned;
 * false if the query must be planned.
 */
bool
emogi_known_costs_guess(const EmogiQueryAnalysis *analysis, double *nrows, double *cost)
{
	const EmogiKnownCosts *costs = emogi_known_analyses_costs(analysis);

	if (costs == NULL || (!costs->is_current && (costs->nplanned < MIN_PLANNED ||
												 costs->nunplanned > MAX_UNPLANNED)))
		return false;
	*nrows = costs->nrows;
	*cost = costs->cost;
	return true;
}

/* Do two estimates differ by at most a factor of MAX_SPREAD? */
static bool
are_alike(double a, double b)
{
	return Max(a, b) <= Min(a, b) * MAX_SPREAD;
}

/* Keep the estimates for an analysis. */
void
emogi_known_costs_set(const EmogiQueryAnalysis *analysis, double nrows, double cost)
{
	EmogiKnownCosts *costs = emogi_known_analyses_costs(analysis);

	if (costs == NULL)
		return;
	if (costs->nplanned == 0 || !are_alike(costs->first_nrows, nrows) ||
		!are_alike(costs->first_cost, cost))
	{
		costs->nplanned = 0;
		costs->first_nrows = nrows;
		costs->first_cost = cost;
	}
	costs->is_current = true;
	costs->nrows = nrows;
	costs->cost = cost;
	costs->nplanned++;
	costs->nunplanned = 0;
}

/* Note that the literals of an analysis have other values. */
void
emogi_known_costs_outdate(EmogiKnownCosts *costs)
{
	costs->is_current = false;
	costs->nunplanned++;
}
