/*
 * communities_divide.c: divide communities that have too many vertices, recursively, until none can
 * be divided further. Each is divided by Leiden as a graph of its own, with its own strengths and
 * total weight.
 *
 * The levels of the hierarchy are then the rounds of division: the last level has the original
 * communities, the level before it has those with all too large ones divided once, and so on. A
 * community that is not divided is the same on all levels from there on.
 */
#include "communities.h"

#include <string.h>

#define NOT_A_HEAD (-1)

typedef struct Division
{
	EmogiCommunities *all;
	const EmogiLevel *first;
	uint32_t   *joins;			/* [nvertices]: the result */
	int32_t    *heads;			/* [nvertices]: likewise; meanwhile, the round in which v became
								 * the smallest vertex of a community */
	uint32_t   *community;		/* [nvertices]: smallest vertex of v's current community */
	uint8_t    *done;			/* [nvertices]: by smallest vertex: the community cannot be
								 * divided */
	uint32_t   *members;		/* [nvertices], community by community */
	uint64_t   *starts;			/* [nvertices + 2] */
	EmogiLevelBuffer room;		/* of a community as a graph of its own */
	int32_t		depth;
} Division;

/* Make a graph of a community, given its members, with the edges between them. */
static void
make_inner(const Division *division, const uint32_t *members, uint64_t count, EmogiLevel *inner)
{
	const EmogiLevel *first = division->first;
	const EmogiLevelBuffer *room = &division->room;
	const uint32_t own = division->community[members[0]];
	uint64_t	at = 0;

	for (uint64_t i = 0; i < count; i++)
		division->all->place[members[i]] = (uint32_t) i;
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t v = members[i];
		int64_t		strength = 0;

		room->first[i] = at;
		room->name[i] = v;
		for (uint64_t e = first->first[v]; e < first->end[v]; e++)
		{
			const uint32_t w = first->targets[e];
			const int64_t weight = emogi_level_weight(first->weights, first->units, e);

			if (division->community[w] != own)
				continue;
			room->targets[at] = division->all->place[w];
			room->weights[at++] = weight;
			strength += w == v ? 2 * weight : weight;
		}
		room->end[i] = at;
		room->strength[i] = strength;
	}
	*inner = (EmogiLevel) {.nnodes = count, .nentries = at, .first = room->first, .end = room->end,
		.targets = room->targets,
		.weights = room->weights, .units = EMOGI_UNITS_I64, .strength = room->strength,
		.name = room->name};
}

/* Divide a community; returns whether it fell apart. */
static bool
divide(Division *division, const uint32_t *members, uint64_t count)
{
	EmogiCommunities *all = division->all;
	const uint32_t own = members[0];
	bool		divided = false;
	EmogiLevel	inner;

	make_inner(division, members, count, &inner);
	emogi_communities_leiden(all, &inner, 0,
							 emogi_communities_random(all->seed + (uint64_t) division->depth, own));
	if (emogi_job_stopped(&all->run.job))
		return false;
	for (uint64_t i = 1; i < count; i++)
	{
		const uint32_t v = members[i];

		if (all->joins[v] == v)
		{
			division->joins[v] = own;
			division->heads[v] = division->depth;
			divided = true;
		}
		else
			division->community[v] = division->community[all->joins[v]];
		if (all->joins[v] == v)
			division->community[v] = v;
	}
	return divided;
}

/* Divide all too large communities once; returns whether any fell apart. */
static bool
divide_all(Division *division, uint64_t max_cluster_size)
{
	EmogiCommunities *all = division->all;
	const uint64_t n = division->first->nnodes;
	bool		divided = false;
	uint64_t	ncommunities;

	memcpy(all->number, division->community, n * sizeof *all->number);
	ncommunities = emogi_communities_renumber(all, all->number, n);
	emogi_communities_group(all, all->number, n, ncommunities);
	memcpy(division->members, all->order, n * sizeof *division->members);
	memcpy(division->starts, all->starts, (ncommunities + 1) * sizeof *division->starts);
	for (uint64_t c = 0; c < ncommunities && !emogi_job_stopped(&all->run.job); c++)
	{
		const uint32_t *members = division->members + division->starts[c];
		const uint64_t count = division->starts[c + 1] - division->starts[c];

		if (count <= max_cluster_size || division->done[members[0]])
			continue;
		if (divide(division, members, count))
			divided = true;
		else
			division->done[members[0]] = 1;
	}
	return divided;
}

/* Start from the last level of a hierarchy. */
static void
begin_division(Division *division)
{
	for (uint64_t v = 0; v < division->first->nnodes; v++)
	{
		const uint32_t head = division->joins[v];

		division->community[v] = head == v ? (uint32_t) v : division->community[head];
		division->joins[v] = division->community[v];
		division->heads[v] = head == v ? 0 : NOT_A_HEAD;
	}
}

/* Convert the rounds in which communities were made to levels. */
static void
end_division(Division *division, int32_t deepest)
{
	for (uint64_t v = 0; v < division->first->nnodes; v++)
	{
		if (division->heads[v] == NOT_A_HEAD)
			division->joins[v] = division->community[v];
		division->heads[v] = division->heads[v] == NOT_A_HEAD ? 0
			: deepest - division->heads[v] + 1;
	}
}

/* Allocate the scratch memory; false, with the job failed, if out of memory. */
static bool
allocate_scratch(Division *division)
{
	EmogiCommunities *all = division->all;
	const uint64_t n = division->first->nnodes;
	const uint64_t m = division->first->nentries;
	uint64_t   *places = emogi_cpu_run_scratch(&all->run, 3 * n + 2, sizeof *places);
	uint32_t   *numbers = places == NULL ? NULL
		: emogi_cpu_run_scratch(&all->run, 6 * n + (n + 3) / 4, sizeof *numbers);
	int64_t    *lists = numbers == NULL ? NULL
		: emogi_cpu_run_scratch(&all->run, n + m + (m + 1) / 2, sizeof *lists);

	if (lists == NULL)
		return false;
	division->starts = places;
	division->room = (EmogiLevelBuffer) {.first = places + n + 2, .end = places + 2 * n + 2,
		.strength = lists, .name = numbers,
		.weights = lists + n, .targets = (uint32_t *) (lists + n + m)};
	all->place = numbers + n;
	all->joins = numbers + 2 * n;
	all->heads = (int32_t *) (numbers + 3 * n);
	division->community = numbers + 4 * n;
	division->members = numbers + 5 * n;
	division->done = (uint8_t *) (numbers + 6 * n);
	return true;
}

uint32_t
emogi_communities_divide(EmogiCommunities *all, const EmogiLevel *first, uint64_t max_cluster_size,
						 int64_t max_levels)
{
	Division	division = {.all = all, .first = first, .joins = all->joins, .heads = all->heads};
	int32_t		deepest = 0;

	if (!allocate_scratch(&division))
		return 0;
	begin_division(&division);
	for (division.depth = 1; max_levels == 0 || division.depth < max_levels; division.depth++)
	{
		if (!divide_all(&division, max_cluster_size))
			break;
		deepest = division.depth;
	}
	end_division(&division, deepest);
	return (uint32_t) deepest + 1;
}
