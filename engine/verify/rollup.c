/*
 * rollup.c: verify roll-ups.
 *
 * Hops are recomputed by breadth-first search, and the edges that are used are checked to be
 * without a cycle. Quantities are then recomputed by the number of edges of the paths, and pushed
 * along the edges. Sums depend on their order, so the difference is bounded by a share of the sum
 * of the absolute values.
 */
#include "check.h"

#include "contract/semirings.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define MAX_ERROR 1e-9			/* share of the sum of the absolute values */

/* Recomputed values, and those of paths of the current and the next number of edges. */
typedef struct Reference
{
	const EmogiGraph *graph;
	int64_t		max_depth;
	uint64_t	nreached;
	int64_t    *hops;			/* [nvertices], -1 = not reached */
	int64_t    *level;			/* [nvertices] */
	uint64_t   *queue;			/* [nvertices] */
	uint64_t   *nbefore;		/* [nvertices] */
	double	   *sum;			/* [nvertices] */
	double	   *absolute;		/* [nvertices] */
	double	   *now[2];			/* [nvertices], sum and absolute sum */
	double	   *next[2];
	uint64_t   *front;			/* [nfront], room for [nvertices]: the ends of these paths */
	uint64_t	nfront;
} Reference;

#define NARRAYS 11

/* Check whether the edges of a vertex are used. */
static bool
is_expanded(const Reference *reference, uint64_t v)
{
	return reference->hops[v] >= 0 &&
		(reference->max_depth < 0 || reference->hops[v] < reference->max_depth);
}

/* Find the reached vertices. */
static void
find_hops(Reference *reference, const EmogiQuery *query)
{
	const EmogiAdjacency *lists = &reference->graph->forward;

	for (uint64_t v = 0; v < reference->graph->nvertices; v++)
		reference->hops[v] = -1;
	for (uint64_t i = 0; i < query->nsources; i++)
		if (reference->hops[query->sources[i]] < 0)
		{
			reference->hops[query->sources[i]] = 0;
			reference->queue[reference->nreached++] = query->sources[i];
		}
	for (uint64_t head = 0; head < reference->nreached; head++)
	{
		const uint64_t v = reference->queue[head];

		for (uint64_t e = lists->offsets[v]; is_expanded(reference, v) && e < lists->offsets[v + 1];
			 e++)
			if (reference->hops[lists->targets[e]] < 0)
			{
				reference->hops[lists->targets[e]] = reference->hops[v] + 1;
				reference->queue[reference->nreached++] = lists->targets[e];
			}
	}
}

/* Check that the edges that are used form no cycle. */
static bool
is_acyclic(Reference *reference)
{
	const EmogiAdjacency *lists = &reference->graph->forward;
	uint64_t	tail = 0;

	for (uint64_t v = 0; v < reference->graph->nvertices; v++)
		for (uint64_t e = lists->offsets[v]; is_expanded(reference, v) && e < lists->offsets[v + 1];
			 e++)
			reference->nbefore[lists->targets[e]]++;
	for (uint64_t v = 0; v < reference->graph->nvertices; v++)
		if (reference->hops[v] >= 0 && reference->nbefore[v] == 0)
			reference->queue[tail++] = v;
	for (uint64_t head = 0; head < tail; head++)
	{
		const uint64_t v = reference->queue[head];

		for (uint64_t e = lists->offsets[v]; is_expanded(reference, v) && e < lists->offsets[v + 1];
			 e++)
			if (--reference->nbefore[lists->targets[e]] == 0)
				reference->queue[tail++] = lists->targets[e];
	}
	return tail == reference->nreached;
}

/* Follow the paths with one edge more; return whether there are any. */
static bool
follow_edges(Reference *reference, uint64_t depth)
{
	const EmogiGraph *graph = reference->graph;
	uint64_t	count = 0;

	for (uint64_t i = 0; i < reference->nfront; i++)
	{
		const uint64_t v = reference->front[i];

		for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
		{
			const uint32_t w = graph->forward.targets[e];
			const double weight = emogi_weight(graph->forward.weights, graph->weight_type, e);

			if (reference->level[w] != (int64_t) depth)
			{
				reference->level[w] = (int64_t) depth;
				reference->queue[count++] = w;
				reference->next[0][w] = reference->next[1][w] = 0.0;
			}
			reference->next[0][w] += reference->now[0][v] * weight;
			reference->next[1][w] += reference->now[1][v] * fabs(weight);
		}
	}
	for (uint64_t i = 0; i < count; i++)
	{
		const uint64_t v = reference->front[i] = reference->queue[i];

		reference->sum[v] += reference->now[0][v] = reference->next[0][v];
		reference->absolute[v] += reference->now[1][v] = reference->next[1][v];
	}
	reference->nfront = count;
	return count > 0;
}

/* Add up all paths. */
static void
follow_all(Reference *reference, const EmogiQuery *query)
{
	for (uint64_t v = 0; v < reference->graph->nvertices; v++)
		reference->level[v] = -1;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t v = query->sources[i];

		if (reference->level[v] < 0)
			reference->front[reference->nfront++] = v;
		reference->level[v] = 0;
		reference->sum[v] = reference->absolute[v] = 1.0;
		reference->now[0][v] = reference->now[1][v] = 1.0;
	}
	for (uint64_t depth = 1; (query->max_depth < 0 || depth <= (uint64_t) query->max_depth) &&
		 follow_edges(reference, depth); depth++)
		;
}

/* Compare the result with the recomputed values. */
static bool
check_values(EmogiCheck *check, const Reference *reference)
{
	const EmogiArray *columns = check->result->columns;

	for (uint64_t v = 0; v < check->graph->nvertices; v++)
	{
		const double error = fabs(columns[1].float64[v] - reference->sum[v]);

		if (columns[0].int32[v] != (int32_t) reference->level[v])
			return emogi_check_wrong(check, "vertex %llu is of level %lld, not %d",
									 (unsigned long long) v, (long long) reference->level[v],
									 columns[0].int32[v]);
		if (isfinite(reference->sum[v]) ? !(error <= MAX_ERROR * reference->absolute[v]) :
			reference->sum[v] == reference->absolute[v] &&
			columns[1].float64[v] < DBL_MAX * (1.0 - MAX_ERROR))
			return emogi_check_wrong(check, "the quantity of vertex %llu is %.17g, not %.17g",
									 (unsigned long long) v, reference->sum[v],
									 columns[1].float64[v]);
	}
	return true;
}

/* Divide memory among the arrays. */
static void
divide(Reference *reference, uint64_t *memory, uint64_t n)
{
	reference->hops = (int64_t *) memory;
	reference->level = (int64_t *) (memory + n);
	reference->queue = memory + 2 * n;
	reference->nbefore = memory + 3 * n;
	reference->front = memory + 4 * n;
	reference->sum = (double *) (memory + 5 * n);
	reference->absolute = (double *) (memory + 6 * n);
	for (int i = 0; i < 2; i++)
	{
		reference->now[i] = (double *) (memory + (7 + i) * n);
		reference->next[i] = (double *) (memory + (9 + i) * n);
	}
}

bool
emogi_verify_rollup(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	uint64_t   *memory = calloc(NARRAYS * n + 1, sizeof *memory);
	Reference	reference = {.graph = check->graph,.max_depth = check->query->max_depth};
	bool		is_right;

	if (memory == NULL)
		return emogi_check_wrong(check, "out of memory");
	divide(&reference, memory, n);
	find_hops(&reference, check->query);
	is_right = is_acyclic(&reference);
	if (is_right)
	{
		follow_all(&reference, check->query);
		is_right = check_values(check, &reference);
	}
	else
		(void) emogi_check_wrong(check, "a graph with a cycle");
	free(memory);
	return is_right;
}
