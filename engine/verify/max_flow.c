/*
 * max_flow.c: verify a maximum flow, the edges of one, or a minimum cut.
 *
 * The value is computed once more, by blocking flows along shortest paths (E. A. Dinic, Soviet
 * Math. Doklady 11, 1970) in floating point. A list of edges must be in order and complete, with
 * all parallel edges of each. A flow must respect capacities, be conserved at all other vertices,
 * and have the value. Without the edges of a cut, no path must lead from a source to a target, and
 * their capacities must add up to the value.
 */
#include "check.h"

#include "contract/lists.h"
#include "contract/semirings.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-9			/* relative error of sums */

typedef struct Search
{
	EmogiCheck *check;
	const EmogiAdjacency *lists;
	uint64_t   *starts;			/* [nvertices + 1]: incoming edges */
	uint64_t   *incoming;		/* [nedges], entries of the lists */
	uint32_t   *from;			/* [nedges], vertex of each entry */
	double	   *residual;		/* [nedges] */
	double	   *flow;			/* [nedges] */
	uint32_t   *level;			/* [nvertices], from 1; 0 = not reached */
	uint64_t   *current;		/* [nvertices]: next arc to examine */
	uint32_t   *queue;			/* [nvertices]; then the path */
	uint64_t   *path;			/* [nvertices]: arcs, their numbers as in `current` */
	double	   *balance;		/* [nvertices]: flow that arrives, less that which leaves */
} Search;

/* Get the capacity of an entry. */
static double
capacity_of(const Search *search, uint64_t e)
{
	return emogi_weight(search->lists->weights, search->check->graph->weight_type, e);
}

/* Get the entry of the i-th arc of a vertex: of its list, then incoming edges in reverse. */
static uint64_t
arc_entry(const Search *search, uint64_t v, uint64_t i, bool *is_reverse)
{
	const uint64_t degree = search->lists->offsets[v + 1] - search->lists->offsets[v];

	*is_reverse = i >= degree;
	return *is_reverse ? search->incoming[search->starts[v] + i - degree] :
		search->lists->offsets[v] + i;
}

/* Get the number of arcs of a vertex. */
static uint64_t
arc_count(const Search *search, uint64_t v)
{
	return search->lists->offsets[v + 1] - search->lists->offsets[v] + search->starts[v + 1] -
		search->starts[v];
}

/* Get the head of the i-th arc of a vertex if it can take flow; EMOGI_NO_VERTEX if it cannot. */
static uint32_t
arc_head(const Search *search, uint64_t v, uint64_t i)
{
	bool		is_reverse;
	const uint64_t e = arc_entry(search, v, i, &is_reverse);

	if ((is_reverse ? search->flow[e] : search->residual[e]) <= 0.0)
		return EMOGI_NO_VERTEX;
	return is_reverse ? search->from[e] : search->lists->targets[e];
}

/* Allocate the arrays, and set all capacities; false if out of memory. */
static bool
open_search(Search *search)
{
	const uint64_t n = search->check->graph->nvertices;
	const uint64_t m = search->lists->nedges;

	search->starts = calloc(n + 2, sizeof *search->starts);
	search->incoming = calloc(m + 1, sizeof *search->incoming);
	search->from = calloc(m + 1, sizeof *search->from);
	search->residual = calloc(m + 1, sizeof *search->residual);
	search->flow = calloc(m + 1, sizeof *search->flow);
	search->level = calloc(n + 1, sizeof *search->level);
	search->current = calloc(n + 1, sizeof *search->current);
	search->queue = calloc(n + 1, sizeof *search->queue);
	search->path = calloc(n + 1, sizeof *search->path);
	search->balance = calloc(n + 1, sizeof *search->balance);
	if (search->starts == NULL || search->incoming == NULL || search->from == NULL ||
		search->residual == NULL || search->flow == NULL || search->level == NULL ||
		search->current == NULL || search->queue == NULL || search->path == NULL ||
		search->balance == NULL)
		return false;
	for (uint64_t e = 0; e < m; e++)
		search->starts[search->lists->targets[e] + 2]++;
	for (uint64_t v = 0; v < n; v++)
		search->starts[v + 2] += search->starts[v + 1];
	for (uint64_t v = 0; v < n; v++)
		for (uint64_t e = search->lists->offsets[v]; e < search->lists->offsets[v + 1]; e++)
		{
			search->from[e] = (uint32_t) v;
			search->incoming[search->starts[search->lists->targets[e] + 1]++] = e;
			search->residual[e] = capacity_of(search, e);
		}
	return true;
}

/* Free the arrays. */
static void
close_search(Search *search)
{
	free(search->starts);
	free(search->incoming);
	free(search->from);
	free(search->residual);
	free(search->flow);
	free(search->level);
	free(search->current);
	free(search->queue);
	free(search->path);
	free(search->balance);
}

/* ---- value ---- */

/* Compute levels from the sources over arcs that can take flow; true if they reach a target. */
static bool
set_levels(Search *search)
{
	const EmogiQuery *query = search->check->query;
	const uint64_t n = search->check->graph->nvertices;
	uint64_t	end = 0;

	for (uint64_t v = 0; v < n; v++)
		search->level[v] = 0;
	for (uint64_t i = 0; i < query->nsources; i++)
		if (search->level[query->sources[i]] == 0)
		{
			search->level[query->sources[i]] = 1;
			search->queue[end++] = query->sources[i];
		}
	for (uint64_t i = 0; i < end; i++)
		for (uint64_t a = 0; a < arc_count(search, search->queue[i]); a++)
		{
			const uint32_t head = arc_head(search, search->queue[i], a);

			if (head == EMOGI_NO_VERTEX || search->level[head] != 0)
				continue;
			search->level[head] = search->level[search->queue[i]] + 1;
			search->queue[end++] = head;
		}
	for (uint64_t i = 0; i < query->ntargets; i++)
		if (search->level[query->targets[i]] != 0)
			return true;
	return false;
}

/* Check whether a vertex is a target. */
static bool
is_target(const Search *search, uint32_t v)
{
	const EmogiQuery *query = search->check->query;

	for (uint64_t i = 0; i < query->ntargets; i++)
		if (query->targets[i] == v)
			return true;
	return false;
}

/* Send as much flow as the path can take; return the amount. */
static double
augment(Search *search, uint64_t length)
{
	double		least = (double) INFINITY;
	bool		is_reverse;

	for (uint64_t i = 0; i < length; i++)
	{
		const uint64_t e = arc_entry(search, search->queue[i], search->path[i], &is_reverse);

		least = fmin(least, is_reverse ? search->flow[e] : search->residual[e]);
	}
	for (uint64_t i = 0; i < length; i++)
	{
		const uint64_t e = arc_entry(search, search->queue[i], search->path[i], &is_reverse);

		search->flow[e] += is_reverse ? -least : least;
		search->residual[e] -= is_reverse ? -least : least;
	}
	return least;
}

/* Find a path from a vertex to a target that ascends by levels; return its length, 0 = none. */
static uint64_t
find_path(Search *search, uint32_t source)
{
	uint64_t	length = 0;

	search->queue[0] = source;
	for (;;)
	{
		const uint32_t v = search->queue[length];
		uint32_t	head = EMOGI_NO_VERTEX;

		if (length > 0 && is_target(search, v))
			return length;
		for (; search->current[v] < arc_count(search, v); search->current[v]++)
		{
			head = arc_head(search, v, search->current[v]);
			if (head != EMOGI_NO_VERTEX && search->level[head] == search->level[v] + 1)
				break;
			head = EMOGI_NO_VERTEX;
		}
		if (head != EMOGI_NO_VERTEX)
		{
			search->path[length++] = search->current[v];
			search->queue[length] = head;
		}
		else if (length == 0)
			return 0;
		else
			search->current[search->queue[--length]]++;
	}
}

/* Compute the value of a maximum flow. */
static double
find_value(Search *search)
{
	const EmogiQuery *query = search->check->query;
	double		value = 0.0;

	while (set_levels(search))
	{
		uint64_t	length;

		for (uint64_t v = 0; v < search->check->graph->nvertices; v++)
			search->current[v] = 0;
		for (uint64_t i = 0; i < query->nsources; i++)
			while ((length = find_path(search, query->sources[i])) > 0)
				value += augment(search, length);
	}
	return value;
}

/* ---- lists ---- */

/* Get what the query asks for: all edges that carry flow, those of a cut, or the total. */
static EmogiAnswerShape
shape_of(const EmogiCheck *check)
{
	return emogi_algorithm_row(check->query->algorithm)->shape;
}

/* Check one listed edge, of the entry e; count its flow, and take it out of the network. */
static bool
check_edge(Search *search, uint64_t i, uint64_t e)
{
	const EmogiArray *columns = search->check->result->columns;
	const double capacity = capacity_of(search, e);
	const double flow = columns[0].float64[i];

	if (!(flow >= 0.0 && flow <= capacity) ||
		fabs(capacity - flow - columns[1].float64[i]) > ROUNDING * capacity)
		return emogi_check_wrong(search->check, "edge %llu has flow %g and residual capacity %g",
								 (unsigned long long) i, flow, columns[1].float64[i]);
	if (shape_of(search->check) == EMOGI_SHAPE_CUT && flow < capacity)
		return emogi_check_wrong(search->check, "edge %llu of the cut is not full",
								 (unsigned long long) i);
	search->balance[search->from[e]] -= flow;
	search->balance[search->lists->targets[e]] += flow;
	search->flow[e] = 0.0;
	search->residual[e] = 0.0;
	return true;
}

/*
 * Check the listed edges: parallel edges are together, and the rest is empty. Their residual
 * capacities become 0, and those of all other edges their capacities.
 */
static bool
check_list(Search *search)
{
	const EmogiArray *columns = search->check->result->columns;
	const uint64_t m = search->lists->nedges;
	uint64_t	i = 0;
	uint64_t	end;

	for (uint64_t e = 0; e < m; e++)
	{
		search->residual[e] = capacity_of(search, e);
		search->flow[e] = 0.0;
	}
	for (uint64_t e = 0; e < m; e = end)
	{
		const uint32_t v = search->from[e];
		const bool	is_listed = i < m && columns[2].vertex[i] == v &&
			columns[3].vertex[i] == search->lists->targets[e];

		for (end = e; end < m && search->from[end] == v &&
			 search->lists->targets[end] == search->lists->targets[e]; end++)
			if (is_listed)
			{
				if (columns[2].vertex[i] != v || columns[3].vertex[i] != search->lists->targets[e])
					return emogi_check_wrong(search->check, "a parallel edge of %u is missing", v);
				if (!check_edge(search, i++, end))
					return false;
			}
	}
	for (; i < m; i++)
		if (columns[2].vertex[i] != EMOGI_NO_VERTEX || columns[3].vertex[i] != EMOGI_NO_VERTEX ||
			columns[0].float64[i] != 0.0 || columns[1].float64[i] != 0.0)
			return emogi_check_wrong(search->check, "element %llu is no edge, or out of order",
									 (unsigned long long) i);
	return true;
}

/* Check that flow is conserved, and has a value. */
static bool
check_balance(Search *search, double value)
{
	const EmogiQuery *query = search->check->query;
	const double tolerance = ROUNDING * value;
	double		arrived = 0.0;

	for (uint64_t i = 0; i < query->nsources; i++)
		search->balance[query->sources[i]] = 0.0;
	for (uint64_t i = 0; i < query->ntargets; i++)
	{
		arrived += search->balance[query->targets[i]];
		search->balance[query->targets[i]] = 0.0;
	}
	for (uint64_t v = 0; v < search->check->graph->nvertices; v++)
		if (fabs(search->balance[v]) > tolerance)
			return emogi_check_wrong(search->check, "flow is not conserved at %llu: %g",
									 (unsigned long long) v, search->balance[v]);
	if (fabs(arrived - value) > tolerance)
		return emogi_check_wrong(search->check, "the flow is %g, not %g", arrived, value);
	return true;
}

/* Check that a cut separates, and has a capacity. */
static bool
check_cut(Search *search, double value)
{
	const EmogiArray *columns = search->check->result->columns;
	double		sum = 0.0;

	for (uint64_t i = 0; i < search->lists->nedges; i++)
		sum += columns[0].float64[i];
	if (fabs(sum - value) > ROUNDING * value)
		return emogi_check_wrong(search->check, "the cut has capacity %g, not %g", sum, value);
	if (set_levels(search))
		return emogi_check_wrong(search->check, "a path avoids the cut");
	return true;
}

/* Check a total, and that no edge is listed. */
static bool
check_total(const Search *search, double value)
{
	const EmogiArray *columns = search->check->result->columns;
	double		sum = 0.0;

	for (uint64_t i = 0; i < search->lists->nedges; i++)
	{
		sum += columns[0].float64[i];
		if (columns[2].vertex[i] != EMOGI_NO_VERTEX || columns[3].vertex[i] != EMOGI_NO_VERTEX ||
			(i > 0 && columns[0].float64[i] != 0.0))
			return emogi_check_wrong(search->check, "element %llu is not empty",
									 (unsigned long long) i);
	}
	if (!(fabs(sum - value) <= ROUNDING * value))
		return emogi_check_wrong(search->check, "the total is %g, not %g", sum, value);
	return true;
}

bool
emogi_verify_max_flow(EmogiCheck *check)
{
	Search		search = {.check = check, .lists = &check->graph->forward};
	bool		is_right = false;

	if (!open_search(&search))
		(void) emogi_check_wrong(check, "out of memory");
	else
	{
		const double value = find_value(&search);

		if (shape_of(check) == EMOGI_SHAPE_TOTAL)
			is_right = check_total(&search, value);
		else if (check_list(&search))
			is_right = shape_of(check) == EMOGI_SHAPE_CUT ? check_cut(&search, value) :
				check_balance(&search, value);
	}
	close_search(&search);
	return is_right;
}
