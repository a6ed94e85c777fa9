/*
 * communities.c: verify communities and their hierarchy.
 *
 * The two columns must encode a hierarchy (hierarchy.h). Its communities are not compared with
 * others, because there are many good ones. Instead their guaranteed properties are checked:
 * Leiden's communities are connected, and at the end of local moving no node gains by moving to
 * another community. The nodes are the communities of the last level or, if the number of levels
 * was limited, those of the level before.
 */
#include "check.h"

#include "contract/hierarchy.h"
#include "contract/semirings.h"

#include <stdlib.h>

#define ROUNDING 1e-9			/* of modularity */

typedef struct Hierarchy
{
	EmogiCheck *check;
	const EmogiGraph *graph;
	const uint32_t *joins;
	const int32_t *heads;
	uint32_t	nlevels;
	uint32_t   *node;			/* [nvertices]: head of the node that contains the vertex */
	uint32_t   *community;		/* [nvertices]: head of the vertex's community */
	uint32_t   *members;		/* [nvertices]: vertices grouped by node, or a stack */
	uint64_t   *starts;			/* [nvertices + 1], indexed by the head of a node */
	double	   *strength;		/* [nvertices], indexed by the head of a node */
	double	   *total;			/* [nvertices], indexed by the head of a community */
	double	   *weight;			/* [nvertices], indexed by the head of a community: weight of the
								 * edges from one node */
	double		whole;
} Hierarchy;

/* Get the weight of an edge. */
static inline double
weight_of(const Hierarchy *hierarchy, uint64_t e)
{
	return emogi_weight(hierarchy->graph->forward.weights, hierarchy->graph->weight_type, e);
}

/* Check that the columns encode a hierarchy with nlevels levels. */
static bool
check_columns(const Hierarchy *hierarchy)
{
	int32_t		max = 0;

	for (uint64_t v = 0; v < hierarchy->graph->nvertices; v++)
	{
		const uint32_t to = hierarchy->joins[v];
		const int32_t own = hierarchy->heads[v];

		max = own > max ? own : max;
		if (to > v || own < 0 || own > (int32_t) hierarchy->nlevels)
			return emogi_check_wrong(hierarchy->check, "vertex %llu joins %u after %d levels",
									 (unsigned long long) v, to, own);
		if (to == v ? own != (int32_t) hierarchy->nlevels : hierarchy->heads[to] <= own)
			return emogi_check_wrong(hierarchy->check,
									 "vertex %llu joins %u, which is no head then",
									 (unsigned long long) v, to);
	}
	return max == (int32_t) hierarchy->nlevels ||
		emogi_check_wrong(hierarchy->check, "there are %d levels, not %u", max, hierarchy->nlevels);
}

/* Fill a partition with the communities of a level, -1 = the vertices. */
static void
read_level(const Hierarchy *hierarchy, int64_t level, uint32_t *partition)
{
	for (uint64_t v = 0; v < hierarchy->graph->nvertices; v++)
		partition[v] = level < 0 ? (uint32_t) v
			: emogi_hierarchy_community(hierarchy->joins, hierarchy->heads, (uint32_t) v,
										(uint32_t) level);
}

/* ---- connectivity ---- */

/* Mark the vertices of the community that are connected with a vertex. */
static void
mark_part(Hierarchy *hierarchy, uint32_t from, uint64_t *marked)
{
	const EmogiAdjacency *lists = &hierarchy->graph->forward;
	uint64_t	height = 1;

	hierarchy->members[0] = from;
	emogi_add_bit(marked, from);
	while (height > 0)
	{
		const uint32_t v = hierarchy->members[--height];

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			if (hierarchy->community[lists->targets[e]] == hierarchy->community[v] &&
				weight_of(hierarchy, e) > 0.0 &&
				emogi_add_bit(marked, lists->targets[e]))
				hierarchy->members[height++] = lists->targets[e];
	}
}

/* Check that each community of a level is connected. */
static bool
check_connected(Hierarchy *hierarchy, uint32_t level)
{
	uint64_t   *marked = emogi_check_bits(hierarchy->graph->nvertices);
	bool		is_right = marked != NULL;

	read_level(hierarchy, level, hierarchy->community);
	for (uint64_t v = 0; v < hierarchy->graph->nvertices && is_right; v++)
	{
		if (hierarchy->community[v] == v)
			mark_part(hierarchy, (uint32_t) v, marked);
		else if (!emogi_has_bit(marked, v))
			is_right = emogi_check_wrong(hierarchy->check,
										 "at level %u vertex %llu is not connected with its "
										 "community %u", level,
										 (unsigned long long) v, hierarchy->community[v]);
	}
	free(marked);
	return is_right;
}

/* ---- local optimality ---- */

/* Group the vertices by node, and sum up strengths. */
static void
add_up(Hierarchy *hierarchy)
{
	const EmogiAdjacency *lists = &hierarchy->graph->forward;
	const uint64_t n = hierarchy->graph->nvertices;
	uint64_t	at = 0;

	for (uint64_t v = 0; v < n; v++)
		hierarchy->strength[v] = hierarchy->total[v] = 0.0;
	for (uint64_t v = 0; v <= n; v++)
		hierarchy->starts[v] = 0;
	hierarchy->whole = 0.0;
	for (uint64_t v = 0; v < n; v++)
	{
		double		strength = 0.0;

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			strength += weight_of(hierarchy, e) * (lists->targets[e] == v ? 2.0 : 1.0);
		hierarchy->strength[hierarchy->node[v]] += strength;
		hierarchy->total[hierarchy->community[v]] += strength;
		hierarchy->whole += strength;
		hierarchy->starts[hierarchy->node[v]]++;
	}
	for (uint64_t v = 0; v <= n; v++)
	{
		const uint64_t count = hierarchy->starts[v];

		hierarchy->starts[v] = at;
		at += count;
	}
	for (uint64_t v = 0; v < n; v++)
		hierarchy->members[hierarchy->starts[hierarchy->node[v]]++] = (uint32_t) v;
	for (uint64_t v = n; v > 0; v--)
		hierarchy->starts[v] = hierarchy->starts[v - 1];
	hierarchy->starts[0] = 0;
}

/*
 * Add the weights of the edges between a node and each neighboring community. sign: 1, or 0 to
 * reset them.
 */
static void
weigh(Hierarchy *hierarchy, uint32_t node, double sign)
{
	const EmogiAdjacency *lists = &hierarchy->graph->forward;

	for (uint64_t m = hierarchy->starts[node]; m < hierarchy->starts[node + 1]; m++)
	{
		const uint32_t v = hierarchy->members[m];

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t w = lists->targets[e];

			if (hierarchy->node[w] != node)
				hierarchy->weight[hierarchy->community[w]] = sign *
					(hierarchy->weight[hierarchy->community[w]] + weight_of(hierarchy, e));
		}
	}
}

/* Compute the maximum modularity gain of moving a node. */
static double
find_gain(Hierarchy *hierarchy, uint32_t node)
{
	const EmogiAdjacency *lists = &hierarchy->graph->forward;
	const uint32_t own = hierarchy->community[node];
	const double strength = hierarchy->strength[node];
	const double rate = hierarchy->check->query->resolution * (strength / hierarchy->whole);
	const double stay = hierarchy->weight[own] - rate * (hierarchy->total[own] - strength);
	double		max = -stay;

	for (uint64_t m = hierarchy->starts[node]; m < hierarchy->starts[node + 1]; m++)
	{
		const uint32_t v = hierarchy->members[m];

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t c = hierarchy->community[lists->targets[e]];
			const double gain = hierarchy->weight[c] - rate * hierarchy->total[c] - stay;

			if (c != own && gain > max)
				max = gain;
		}
	}
	return 2.0 * max / hierarchy->whole;
}

/* Check that no node of a level, -1 = the vertices, gains by moving to another community. */
static bool
check_local_optimum(Hierarchy *hierarchy, int64_t nodes, uint32_t level, double tolerance)
{
	bool		is_right = true;

	read_level(hierarchy, nodes, hierarchy->node);
	read_level(hierarchy, level, hierarchy->community);
	add_up(hierarchy);
	if (!(hierarchy->whole > 0.0))
		return true;
	for (uint64_t v = 0; v < hierarchy->graph->nvertices && is_right; v++)
	{
		double		gain;

		if (hierarchy->node[v] != v)
			continue;
		weigh(hierarchy, (uint32_t) v, 1.0);
		gain = find_gain(hierarchy, (uint32_t) v);
		weigh(hierarchy, (uint32_t) v, 0.0);
		if (!(gain <= tolerance + ROUNDING))
			is_right = emogi_check_wrong(hierarchy->check,
										 "at level %u the node of vertex %llu gains %g by "
										 "leaving community %u", level,
										 (unsigned long long) v, gain, hierarchy->community[v]);
	}
	return is_right;
}

/* Check the guarantees for the last level. */
static bool
check_last(Hierarchy *hierarchy)
{
	const EmogiQuery *query = hierarchy->check->query;
	const double tolerance = query->algorithm == EMOGI_LOUVAIN ? query->tolerance : 0.0;
	const int64_t last = (int64_t) hierarchy->nlevels - 1;
	const bool	is_cut = query->max_cluster_size == 0 && query->max_levels == last + 1;

	return check_local_optimum(hierarchy, is_cut ? last - 1 : last, (uint32_t) last, tolerance);
}

/* Check the guarantees for all levels of Leiden. */
static bool
check_all_connected(Hierarchy *hierarchy)
{
	for (uint32_t level = 0; level < hierarchy->nlevels; level++)
		if (!check_connected(hierarchy, level))
			return false;
	return true;
}

/* Allocate the arrays; false if out of memory. */
static bool
take_memory(Hierarchy *hierarchy, uint32_t **numbers, double **sums)
{
	const uint64_t n = hierarchy->graph->nvertices;

	*numbers = malloc((3 * n + 1) * sizeof **numbers);
	*sums = calloc(3 * n + 1, sizeof **sums);
	hierarchy->starts = malloc((n + 1) * sizeof *hierarchy->starts);
	if (*numbers == NULL || *sums == NULL || hierarchy->starts == NULL)
		return emogi_check_wrong(hierarchy->check, "out of memory");
	hierarchy->node = *numbers;
	hierarchy->community = *numbers + n;
	hierarchy->members = *numbers + 2 * n;
	hierarchy->strength = *sums;
	hierarchy->total = *sums + n;
	hierarchy->weight = *sums + 2 * n;
	return true;
}

bool
emogi_verify_communities(EmogiCheck *check)
{
	const EmogiResult *result = check->result;
	Hierarchy	hierarchy = {.check = check, .graph = check->graph,
		.joins = result->columns[1].vertex, .heads = result->columns[0].int32,
		.nlevels = result->nlevels};
	uint32_t   *numbers = NULL;
	double	   *sums = NULL;
	bool		is_right;

	if (check->graph->nvertices == 0)
		return true;
	is_right = take_memory(&hierarchy, &numbers, &sums) && check_columns(&hierarchy) &&
		(check->query->algorithm == EMOGI_LOUVAIN || check_all_connected(&hierarchy)) &&
		check_last(&hierarchy);
	free(numbers);
	free(sums);
	free(hierarchy.starts);
	return is_right;
}
