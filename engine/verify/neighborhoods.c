/*
 * neighborhoods.c: verify degrees, triangle counts and clustering coefficients.
 *
 * Each vertex is recomputed independently by the definition: the neighbors of its neighbors are
 * compared with its own neighbors.
 */
#include "check.h"

#include "contract/semirings.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-12			/* relative */
#define LONG_LIST 16			/* if a list is this many times as long as a set, the set's members
								 * are looked up in the list */

/* The distinct neighbors of a vertex. */
typedef struct Set
{
	uint32_t   *members;		/* [count], ascending and distinct */
	uint64_t	count;
	bool	   *is_member;		/* [nvertices] */
} Set;

/*
 * Collect the distinct vertices of one or two adjacency lists except v; the set must have room for
 * both lists.
 */
static void
collect(const EmogiAdjacency *one, const EmogiAdjacency *other, uint64_t v, Set *set)
{
	uint64_t	i = one->offsets[v];
	uint64_t	j = other != NULL ? other->offsets[v] : 0;
	const uint64_t iend = one->offsets[v + 1];
	const uint64_t jend = other != NULL ? other->offsets[v + 1] : 0;

	set->count = 0;
	while (i < iend || j < jend)
	{
		const bool	takes_one = j == jend || (i < iend && one->targets[i] <= other->targets[j]);
		const uint32_t w = takes_one ? one->targets[i++] : other->targets[j++];

		if (w != v && (set->count == 0 || set->members[set->count - 1] != w))
			set->members[set->count++] = w;
	}
}

/* Check whether a vertex is in an ascending list. */
static bool
is_in(const uint32_t *list, uint64_t length, uint32_t w)
{
	uint64_t	first = 0;
	uint64_t	end = length;

	while (first < end)
	{
		const uint64_t middle = first + (end - first) / 2;

		if (list[middle] < w)
			first = middle + 1;
		else
			end = middle;
	}
	return first < length && list[first] == w;
}

/* Count the distinct members of a set that are in the adjacency list of u, except u itself. */
static uint64_t
count_common(const Set *set, const EmogiAdjacency *lists, uint64_t u)
{
	const uint64_t length = lists->offsets[u + 1] - lists->offsets[u];
	uint32_t	last = (uint32_t) u;
	uint64_t	count = 0;

	for (uint64_t i = 0; length > set->count * LONG_LIST && i < set->count; i++)
		count += set->members[i] != u &&
			is_in(lists->targets + lists->offsets[u], length, set->members[i]);
	if (length > set->count * LONG_LIST)
		return count;

	for (uint64_t e = lists->offsets[u]; e < lists->offsets[u + 1]; e++)
	{
		const uint32_t w = lists->targets[e];

		count += w != last && w != u && set->is_member[w];
		last = w;
	}
	return count;
}

/* Allocate a set with room for the neighbors of any vertex in a range; false if out of memory. */
static bool
open_set(EmogiCheck *check, const EmogiAdjacency *other, uint64_t first, uint64_t end, Set *set)
{
	uint64_t	room = 1;

	for (uint64_t v = first; v < end; v++)
	{
		const uint64_t length = check->graph->forward.offsets[v + 1] -
			check->graph->forward.offsets[v] +
			(other != NULL ? other->offsets[v + 1] - other->offsets[v] : 0);

		room = length > room ? length : room;
	}
	set->members = malloc(room * sizeof *set->members);
	set->is_member = calloc(check->graph->nvertices, sizeof *set->is_member);
	if (set->members != NULL && set->is_member != NULL)
		return true;
	free(set->members);
	free(set->is_member);
	return emogi_check_wrong(check, "out of memory");
}

/* Free a set. */
static void
close_set(Set *set)
{
	free(set->members);
	free(set->is_member);
}

/* Count the edges between neighbors of a vertex. */
static uint64_t
count_edges(const EmogiGraph *graph, const Set *set)
{
	uint64_t	count = 0;

	for (uint64_t i = 0; i < set->count; i++)
		set->is_member[set->members[i]] = true;
	for (uint64_t i = 0; i < set->count; i++)
		count += count_common(set, &graph->forward, set->members[i]);
	for (uint64_t i = 0; i < set->count; i++)
		set->is_member[set->members[i]] = false;
	return count;
}

/* Check the triangle counts of a range of vertices. */
static void
check_triangles(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	Set			set;

	if (!open_set(check, NULL, first, end, &set))
		return;
	for (uint64_t v = first; v < end && emogi_check_ok(check); v++)
	{
		uint64_t	count;

		collect(&check->graph->forward, NULL, v, &set);
		count = count_edges(check->graph, &set) / 2;
		if (check->result->columns[0].int64[v] != (int64_t) count)
			emogi_check_wrong(check, "vertex %llu is in %llu triangles, not %lld",
							  (unsigned long long) v, (unsigned long long) count,
							  (long long) check->result->columns[0].int64[v]);
	}
	close_set(&set);
}

bool
emogi_verify_triangles(EmogiCheck *check)
{
	return emogi_check_parts(check, check_triangles, check, check->graph->nvertices);
}

/* Check the clustering coefficients of a range of vertices. */
static void
check_coefficients(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	Set			set;

	if (!open_set(check, &check->graph->backward, first, end, &set))
		return;
	for (uint64_t v = first; v < end && emogi_check_ok(check); v++)
	{
		const double given = check->result->columns[0].float64[v];
		double		expected = 0.0;

		collect(&check->graph->forward, &check->graph->backward, v, &set);
		if (set.count > 1)
			expected = (double) count_edges(check->graph, &set) /
				((double) set.count * (double) (set.count - 1));
		if (!(fabs(given - expected) <= ROUNDING * expected))
			emogi_check_wrong(check, "the coefficient of vertex %llu is %.17g, not %.17g",
							  (unsigned long long) v, expected, given);
	}
	close_set(&set);
}

bool
emogi_verify_lcc(EmogiCheck *check)
{
	return emogi_check_parts(check, check_coefficients, check, check->graph->nvertices);
}

/* Check the degrees of a range of vertices. */
static void
check_degrees(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const EmogiGraph *graph = check->graph;

	for (uint64_t v = first; v < end && emogi_check_ok(check); v++)
	{
		double		sum = 0.0;
		int64_t		count = 0;

		for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1];
			 e++, count++)
			sum += graph->weight_type == EMOGI_WEIGHT_NONE ? 1.0
				: emogi_weight(graph->forward.weights, graph->weight_type, e);
		if (check->result->columns[0].int64[v] != count ||
			check->result->columns[1].float64[v] != sum)
			emogi_check_wrong(check, "vertex %llu has %lld edges of %.17g", (unsigned long long) v,
							  (long long) count, sum);
	}
}

bool
emogi_verify_degree(EmogiCheck *check)
{
	return emogi_check_parts(check, check_degrees, check, check->graph->nvertices);
}
