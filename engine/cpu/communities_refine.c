/*
 * communities_refine.c: communities are taken apart into well connected ones (communities.h [2], algorithm A.2), or into connected parts.
 *
 * Within each community every node begins alone. One after the other, in random order, those that are still alone and well connected to
 * the rest join one of the well connected communities around them: a random one of those that make modularity no less, the likelier the
 * more they gain, by exp(gain / theta). What is refined stays connected, for a node joins only along edges and none leaves what others
 * have joined. Communities are refined by the threads of a pool, each by one.
 */
#include "communities.h"

#include <math.h>
#include <string.h>

#define GROUPS_AT_ONCE 16
#define LARGE_GROUP 2048		/* nodes: such a community is begun before the small ones */
#define NEGLIGIBLE (-40.0)		/* exp of this is of no account */

typedef struct Refining
{
	EmogiCommunities *all;
	const EmogiLevel *level;
	uint64_t	salt;
	uint64_t	ngroups;
	bool		large;			/* the step does the large communities, else the small ones */
} Refining;

/* Begin a community: each node alone, with its weight to the rest. */
static void
begin_group(const Refining *refining, const uint32_t *members, uint64_t count)
{
	EmogiCommunities *all = refining->all;
	const EmogiLevel *level = refining->level;

	for (uint64_t m = 0; m < count; m++)
	{
		const uint32_t i = members[m];
		double		cut = 0.0;

		for (uint64_t e = level->first[i]; e < level->end[i]; e++)
			if (level->targets[e] != i && all->community[level->targets[e]] == all->community[i])
				cut += level->weights == NULL ? 1.0 : level->weights[e];
		all->refined[i] = i;
		all->inner_total[i] = level->strength[i];
		all->inner_size[i] = 1;
		all->inner_cut[i] = all->node_cut[i] = cut;
	}
}

/* Put nodes in random order. */
static void
shuffle(uint32_t *members, uint64_t count, uint64_t seed)
{
	for (uint64_t i = count; i > 1; i--)
	{
		const uint64_t j = (emogi_communities_random(seed, i) >> 32) * i >> 32;
		const uint32_t swap = members[i - 1];

		members[i - 1] = members[j];
		members[j] = swap;
	}
}

/* Add up the weights from a node to what is refined around it, within its community. */
static inline void
tally_inside(const Refining *refining, EmogiTally *tally, uint32_t i)
{
	const EmogiCommunities *all = refining->all;
	const EmogiLevel *level = refining->level;
	const uint32_t own = all->community[i];

	for (uint64_t e = level->first[i]; e < level->end[i]; e++)
	{
		const uint32_t j = level->targets[e];

		if (j != i && all->community[j] == own)
			tally->ntouched = emogi_tally_add(tally, tally->ntouched, all->refined[j], level->weights == NULL ? 1.0 : level->weights[e]);
	}
}

/* Is something of this strength, with this weight to the rest, well connected to the rest of a community? */
static inline bool
is_well_connected(const EmogiCommunities *all, double strength, double cut, double whole)
{
	return cut >= emogi_communities_rate(all, strength) * (whole - strength) * (1.0 - 1e-12);
}

/*
 * Find what a node may join and what it would gain: what it may not leaves the list. Gets the largest gain, 0 = that of staying alone.
 */
static double
find_candidates(const EmogiCommunities *all, EmogiTally *tally, double strength, double whole, uint32_t *best)
{
	const double rate = emogi_communities_rate(all, strength);
	uint64_t	count = 0;
	double		most = 0.0;

	for (uint64_t t = 0; t < tally->ntouched; t++)
	{
		const uint32_t c = tally->touched[t];
		const double gain = tally->weight[c] - rate * all->inner_total[c];

		if (gain < 0.0 || !is_well_connected(all, all->inner_total[c], all->inner_cut[c], whole))
		{
			tally->weight[c] = 0.0;
			continue;
		}
		tally->touched[count++] = c;
		if (gain > most)
		{
			most = gain;
			*best = c;
		}
	}
	tally->ntouched = count;
	return most;
}

/* Get how likely a gain is, beside the largest. */
static inline double
likelihood(double gain, double most, double theta)
{
	const double x = (gain - most) / theta;

	return x < NEGLIGIBLE ? 0.0 : exp(x);
}

/* Choose among candidates at random. random: 0 .. 1. */
static uint32_t
choose_at_random(const EmogiCommunities *all, const EmogiTally *tally, uint32_t own, double rate, double most, double random)
{
	double		sum = likelihood(0.0, most, all->theta);
	double		left;

	for (uint64_t t = 0; t < tally->ntouched; t++)
	{
		const uint32_t c = tally->touched[t];

		sum += likelihood(tally->weight[c] - rate * all->inner_total[c], most, all->theta);
	}
	left = random * sum - likelihood(0.0, most, all->theta);
	if (left < 0.0)
		return own;
	for (uint64_t t = 0; t < tally->ntouched; t++)
	{
		const uint32_t c = tally->touched[t];

		left -= likelihood(tally->weight[c] - rate * all->inner_total[c], most, all->theta);
		if (left < 0.0)
			return c;
	}
	return tally->ntouched > 0 ? tally->touched[tally->ntouched - 1] : own;
}

/* Have a node that is alone join what it may. */
static void
join(const Refining *refining, EmogiTally *tally, uint32_t i, double whole)
{
	EmogiCommunities *all = refining->all;
	const double strength = refining->level->strength[i];
	uint32_t	to = i;
	double		most;

	tally_inside(refining, tally, i);
	most = find_candidates(all, tally, strength, whole, &to);
	if (all->theta > 0.0)
		to = choose_at_random(all, tally, i, emogi_communities_rate(all, strength), most,
							  (double) (emogi_communities_random(refining->salt, i) >> 11) / 9007199254740992.0);
	if (to != i)
	{
		all->refined[i] = to;
		all->inner_total[to] += strength;
		all->inner_cut[to] += all->node_cut[i] - 2.0 * tally->weight[to];
		all->inner_size[to]++;
	}
	emogi_tally_clear(tally);
}

/* Refine one community. Gets the list entries looked at. */
static uint64_t
refine_group(const Refining *refining, EmogiTally *tally, uint64_t group)
{
	EmogiCommunities *all = refining->all;
	uint32_t   *members = all->order + all->starts[group];
	const uint64_t count = all->starts[group + 1] - all->starts[group];
	double		whole = 0.0;
	uint64_t	looked = 0;

	begin_group(refining, members, count);
	for (uint64_t m = 0; m < count; m++)
		whole += refining->level->strength[members[m]];
	shuffle(members, count, emogi_communities_random(refining->salt, group));
	for (uint64_t m = 0; m < count; m++)
	{
		const uint32_t i = members[m];

		if (all->refined[i] != i || all->inner_size[i] > 1 ||
			!is_well_connected(all, refining->level->strength[i], all->node_cut[i], whole))
			continue;
		join(refining, tally, i, whole);
		looked += refining->level->end[i] - refining->level->first[i];
		if (m % 1024 == 0 && emogi_job_stopped(&all->run.job))
			break;
	}
	return looked;
}

/* Refine the large communities, or the small ones. */
static void
refine_groups(void *arg, int thread, int nthreads)
{
	Refining   *refining = arg;
	EmogiCommunities *all = refining->all;
	uint64_t	looked = 0;
	uint64_t	group;

	while (!emogi_job_stopped(&all->run.job) && (group = emogi_job_take(&all->run.next, GROUPS_AT_ONCE)) < refining->ngroups)
	{
		const uint64_t end = emogi_run_chunk_end(group, GROUPS_AT_ONCE, refining->ngroups);

		for (; group < end; group++)
			if ((all->starts[group + 1] - all->starts[group] >= LARGE_GROUP) == refining->large)
				looked += refine_group(refining, &all->tallies[thread], group);
	}
	__atomic_fetch_add(&all->looked, looked, __ATOMIC_RELAXED);
}

void
emogi_communities_refine(EmogiCommunities *all, const EmogiLevel *level, uint64_t salt)
{
	Refining	refining = {.all = all, .level = level, .salt = salt, .large = true};
	const bool	alone = emogi_level_is_small(level);

	memcpy(all->number, all->community, level->nnodes * sizeof *all->number);
	refining.ngroups = emogi_communities_renumber(all, all->number, level->nnodes);
	emogi_communities_group(all, all->number, level->nnodes, refining.ngroups);
	if (emogi_run_step(&all->run, refine_groups, &refining, alone))
	{
		refining.large = false;
		emogi_run_step(&all->run, refine_groups, &refining, alone);
	}
}

/* Find what of a node's community is connected with it: all of it gets its number. */
static void
spread(EmogiCommunities *all, const EmogiLevel *level, uint32_t from)
{
	uint64_t	height = 1;

	all->refined[from] = from;
	all->order[0] = from;
	while (height > 0)
	{
		const uint32_t i = all->order[--height];

		for (uint64_t e = level->first[i]; e < level->end[i]; e++)
		{
			const uint32_t j = level->targets[e];

			if (all->refined[j] != EMOGI_NO_VERTEX || all->community[j] != all->community[i] ||
				(level->weights != NULL && level->weights[e] == 0.0))
				continue;
			all->refined[j] = from;
			all->order[height++] = j;
		}
	}
}

uint64_t
emogi_communities_split(EmogiCommunities *all, const EmogiLevel *level)
{
	uint64_t	nparts = 0;

	for (uint64_t i = 0; i < level->nnodes; i++)
		all->refined[i] = EMOGI_NO_VERTEX;
	for (uint64_t i = 0; i < level->nnodes; i++)
	{
		if (all->refined[i] != EMOGI_NO_VERTEX)
			continue;
		if (nparts % 1024 == 0 && emogi_job_stopped(&all->run.job))
			break;
		spread(all, level, (uint32_t) i);
		nparts++;
	}
	return nparts;
}
