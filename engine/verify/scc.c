/*
 * scc.c: verify strongly connected components.
 *
 * Each component must be named by its smallest vertex, and within the component this vertex must
 * reach all others and be reached by them. Thus no two vertices are wrongly in one component. To
 * check that no component is wrongly split, the edges between components are examined: if they form
 * no cycle, the components can be removed one after the other, each when no remaining edge leads to
 * it.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

/* State of the check. */
typedef struct Components
{
	EmogiCheck *check;
	const uint32_t *component;
	uint32_t   *queue;			/* [nvertices] */
	uint64_t   *reached;		/* bits */
	uint64_t   *nleading;		/* [nvertices], indexed by component: number of edges from other
								 * components */
	uint64_t   *first;			/* [nvertices + 1], indexed by component: its first member */
	uint32_t   *members;		/* [nvertices] */
} Components;

/* Check that each component is named by its smallest vertex. */
static bool
check_names(const Components *components)
{
	const uint64_t n = components->check->graph->nvertices;

	for (uint64_t v = 0; v < n; v++)
	{
		const uint32_t name = components->component[v];

		if (name > v || components->component[name] != name)
			return emogi_check_wrong(components->check, "vertex %llu is in component %u",
									 (unsigned long long) v, name);
	}
	return true;
}

/*
 * Check that all members are reached from the name of their component over these adjacency lists,
 * within the component.
 */
static bool
check_reached(Components *components, const EmogiAdjacency *lists, const char *how)
{
	const uint64_t n = components->check->graph->nvertices;
	uint64_t	head = 0;
	uint64_t	tail = 0;

	memset(components->reached, 0, (n / 64 + 1) * sizeof(uint64_t));
	for (uint64_t v = 0; v < n; v++)
		if (components->component[v] == v && emogi_add_bit(components->reached, v))
			components->queue[tail++] = (uint32_t) v;
	while (head < tail)
	{
		const uint32_t v = components->queue[head++];

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			if (components->component[lists->targets[e]] == components->component[v] &&
				emogi_add_bit(components->reached, lists->targets[e]))
				components->queue[tail++] = lists->targets[e];
	}
	for (uint64_t v = 0; v < n; v++)
		if (!emogi_has_bit(components->reached, v))
			return emogi_check_wrong(components->check, "vertex %llu %s its component %u",
									 (unsigned long long) v, how,
									 components->component[v]);
	return true;
}

/* Sort the vertices by component. */
static void
sort_members(Components *components)
{
	const uint64_t n = components->check->graph->nvertices;

	memset(components->first, 0, (n + 2) * sizeof(uint64_t));
	for (uint64_t v = 0; v < n; v++)
		components->first[components->component[v] + 2]++;
	for (uint64_t c = 0; c < n; c++)
		components->first[c + 2] += components->first[c + 1];
	for (uint64_t v = 0; v < n; v++)
		components->members[components->first[components->component[v] + 1]++] = (uint32_t) v;
}

/* Check that the edges between components form no cycle. */
static bool
check_order(Components *components)
{
	const EmogiAdjacency *lists = &components->check->graph->forward;
	const uint64_t n = components->check->graph->nvertices;
	uint64_t	head = 0;
	uint64_t	tail = 0;
	uint64_t	ncomponents = 0;

	memset(components->nleading, 0, n * sizeof(uint64_t));
	for (uint64_t v = 0; v < n; v++)
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			components->nleading[components->component[lists->targets[e]]] +=
				components->component[lists->targets[e]] != components->component[v];
	for (uint64_t c = 0; c < n; c++)
	{
		if (components->component[c] != c)
			continue;
		ncomponents++;
		if (components->nleading[c] == 0)
			components->queue[tail++] = (uint32_t) c;
	}
	while (head < tail)
	{
		const uint32_t c = components->queue[head++];

		for (uint64_t i = components->first[c]; i < components->first[c + 1]; i++)
			for (uint64_t e = lists->offsets[components->members[i]];
				 e < lists->offsets[components->members[i] + 1]; e++)
			{
				const uint32_t to = components->component[lists->targets[e]];

				if (to != c && --components->nleading[to] == 0)
					components->queue[tail++] = to;
			}
	}
	return tail == ncomponents ||
		emogi_check_wrong(components->check, "edges between components make a circle");
}

bool
emogi_verify_scc(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	uint64_t   *words = malloc((2 * n + 2 + n / 64 + 1) * sizeof *words);
	uint32_t   *numbers = malloc((2 * n + 1) * sizeof *numbers);
	Components	components = {.check = check, .component = check->result->columns[0].vertex,
		.queue = numbers};
	bool		is_right = words != NULL && numbers != NULL;

	if (is_right)
	{
		components.members = numbers + n;
		components.first = words;
		components.nleading = words + n + 2;
		components.reached = components.nleading + n;
		is_right = check_names(&components) &&
			check_reached(&components, &check->graph->forward, "is not reached from") &&
			check_reached(&components, &check->graph->backward, "does not lead to");
		if (is_right)
		{
			sort_members(&components);
			is_right = check_order(&components);
		}
	}
	else
		(void) emogi_check_wrong(check, "out of memory");
	free(words);
	free(numbers);
	return is_right;
}
