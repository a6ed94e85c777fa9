/*
 * modularity.c: verify the terms of the modularity.
 *
 * The vertices are sorted by community to sum up the total of each community; then each term is
 * recomputed.
 */
#include "check.h"

#include "contract/semirings.h"

#include <math.h>
#include <stdlib.h>

/* A vertex and its community. */
typedef struct Member
{
	double		community;
	uint32_t	vertex;
} Member;

static int
compare(const void *a, const void *b)
{
	const Member *x = a;
	const Member *y = b;

	return (x->community > y->community) - (x->community < y->community);
}

/* Get the weight of a vertex's edges, either all or only those inside its community. */
static double
weigh(const EmogiGraph *graph, const double *values, uint64_t v, bool inside)
{
	double		sum = 0.0;

	for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
		if (!inside || values[graph->forward.targets[e]] == values[v])
			sum += emogi_weight(graph->forward.weights, graph->weight_type, e) *
				(graph->forward.targets[e] == v ? 2.0 : 1.0);
	return sum;
}

/* Check the terms of one community. */
static bool
check_community(EmogiCheck *check, const Member *members, uint64_t count, double whole)
{
	double		total = 0.0;

	for (uint64_t i = 0; i < count; i++)
		total += weigh(check->graph, check->query->values, members[i].vertex, false);
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t v = members[i].vertex;
		const double inside = weigh(check->graph, check->query->values, v, true) / whole;
		const double less = check->query->resolution *
			(weigh(check->graph, check->query->values, v, false) / whole) * (total / whole);
		const double part = check->result->columns[0].float64[v];

		if (whole > 0.0 ? !(fabs(part - (inside - less)) <= 1e-9 * (inside + less)) : !isnan(part))
			return emogi_check_wrong(check, "the part of vertex %u is %.17g, not %.17g", v, part,
									 inside - less);
	}
	return true;
}

bool
emogi_verify_modularity(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	Member	   *members = malloc((n + 1) * sizeof *members);
	double		whole = 0.0;
	bool		is_right = members != NULL || emogi_check_wrong(check, "out of memory");

	for (uint64_t v = 0; v < n && is_right; v++)
	{
		members[v] = (Member) {check->query->values[v], (uint32_t) v};
		whole += weigh(check->graph, check->query->values, v, false);
	}
	if (is_right)
		qsort(members, n, sizeof *members, compare);
	for (uint64_t first = 0, end = 0; first < n && is_right; first = end)
	{
		while (end < n && members[end].community == members[first].community)
			end++;
		is_right = check_community(check, members + first, end - first, whole);
	}
	free(members);
	return is_right;
}
