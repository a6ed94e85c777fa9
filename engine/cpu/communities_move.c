/*
 * communities_move.c: nodes move to the communities of their neighbours for as long as that makes modularity larger (communities.h [1] and,
 * for who is looked at again, [2], algorithm A.2).
 *
 * A sweep looks at all nodes that are open. They are dealt out to batches, anew for each sweep. All threads choose for the nodes of a batch
 * where each would go as things stand when the batch begins; one thread then moves them in their order, those that still gain as far as
 * totals tell. What it cannot see, neighbours that moved in the same batch, opens these nodes again. From the SURE-th sweep on, and
 * where there is little to do, every move is reckoned anew before it is made, so that modularity grows with each move and the end is
 * reached.
 */
#include "communities.h"

#include <math.h>
#include <string.h>

#define SURE_SWEEP 6
#define BATCHES 96
#define NODES_AT_ONCE 64
#define AHEAD 8					/* nodes between the steps in which what a node needs is fetched */
#define FETCHED_ENTRIES 8		/* of a list */
#define MARKS_AT_ONCE 16
#define ENTRIES_ALONE 16384		/* entries of open nodes that one thread is through with sooner */
#define TO_EMPTY EMOGI_NO_VERTEX	/* a choice: a community of its own */
#define ENOUGH 0.005			/* of all that was gained: where a sweep gains less, the next level gets there sooner */
#define ROUNDING 1e-12			/* of a node's strength: no gain */

typedef struct Moving
{
	EmogiCommunities *all;
	const EmogiLevel *level;
	double		least;			/* a move must gain more */
	uint64_t	first;			/* of the batch, in order */
	uint64_t	end;
	uint64_t	nmovers;
} Moving;

/* Choose where a node would go. Gets the weight to there less that to where it is. */
static inline uint32_t
choose(const Moving *moving, EmogiTally *tally, uint32_t i, double *difference)
{
	const EmogiCommunities *all = moving->all;
	const uint32_t own = all->community[i];
	const double strength = moving->level->strength[i];
	const double rate = emogi_communities_rate(all, strength);
	const uint32_t *touched = tally->touched;
	uint64_t	ntouched;
	uint32_t	best = own;
	double		own_weight,
				stay,
				most;

	*difference = 0.0;
	emogi_tally_list(tally, moving->level, all->community, i);
	ntouched = tally->ntouched;
	own_weight = tally->weight[own];
	stay = own_weight - rate * (all->total[own] - strength);
	most = stay + moving->least + ROUNDING * strength;
	for (uint64_t t = 0; t < ntouched; t++)
	{
		const uint32_t c = touched[t];
		const double value = tally->weight[c] - rate * all->total[c];

		if (value > most && c != own)
		{
			most = value;
			best = c;
			*difference = tally->weight[c] - own_weight;
		}
	}
	if (0.0 > most && all->size[own] > 1)
	{
		best = TO_EMPTY;
		*difference = -own_weight;
	}
	emogi_tally_clear(tally);
	return best;
}

/* Get what a node would gain by a move, as totals stand now. */
static inline double
gain_of(const Moving *moving, uint32_t i, uint32_t to, double difference)
{
	const EmogiCommunities *all = moving->all;
	const double strength = moving->level->strength[i];
	const double left = all->total[all->community[i]] - strength;
	const double joined = to == TO_EMPTY ? 0.0 : all->total[to];

	return difference - emogi_communities_rate(all, strength) * (joined - left);
}

/* Move a node, if that gains something; says whether. */
static inline bool
move(Moving *moving, uint32_t i, uint32_t to, double difference)
{
	EmogiCommunities *all = moving->all;
	const uint32_t from = all->community[i];
	const double strength = moving->level->strength[i];
	const double gain = gain_of(moving, i, to, difference);

	if (gain <= moving->least + ROUNDING * strength || (to == TO_EMPTY ? all->size[from] == 1 : all->size[to] == 0))
		return false;
	if (to == TO_EMPTY)
		to = all->empty[--all->nempty];
	all->total[from] -= strength;
	if (--all->size[from] == 0)
	{
		all->total[from] = 0.0;
		all->empty[all->nempty++] = from;
	}
	all->total[to] += strength;
	all->size[to]++;
	all->community[i] = to;
	all->gained += gain;
	return true;
}

/* Open the neighbours of a node that has moved, but for those that it has joined. */
static inline void
open_neighbors(const Moving *moving, uint32_t i)
{
	const EmogiCommunities *all = moving->all;
	const EmogiLevel *level = moving->level;
	const uint32_t own = all->community[i];

	for (uint64_t e = level->first[i]; e < level->end[i]; e++)
	{
		const uint32_t j = level->targets[e];

		if (__atomic_load_n(&all->open[j], __ATOMIC_RELAXED) == 0 && all->community[j] != own)
			__atomic_store_n(&all->open[j], 1, __ATOMIC_RELAXED);
	}
}

/* ---- a batch, by all threads ---- */

/* Fetch what will be needed of the nodes behind i in order, before `end`: those of a batch lie far apart, and each waits for main memory. Inline
 * always: gcc leaves out calls of what does nothing else. */
static inline __attribute__((always_inline)) void
fetch_ahead(const Moving *moving, const EmogiTally *tally, uint64_t i, uint64_t end)
{
	const EmogiCommunities *all = moving->all;
	const EmogiLevel *level = moving->level;

	if (i + 3 * AHEAD < end)
	{
		const uint32_t v = all->order[i + 3 * AHEAD];

		__builtin_prefetch(&level->first[v]);
		__builtin_prefetch(&level->end[v]);
		__builtin_prefetch(&level->strength[v]);
		__builtin_prefetch(&all->community[v]);
	}
	if (i + 2 * AHEAD < end)
		__builtin_prefetch(&level->targets[level->first[all->order[i + 2 * AHEAD]]]);
	if (i + AHEAD < end)
	{
		const uint32_t v = all->order[i + AHEAD];
		const uint64_t stop = emogi_run_chunk_end(level->first[v], FETCHED_ENTRIES, level->end[v]);

		for (uint64_t e = level->first[v]; e < stop; e++)
			__builtin_prefetch(&all->community[level->targets[e]]);
	}
	if (i + AHEAD / 2 < end)
	{
		const uint32_t v = all->order[i + AHEAD / 2];
		const uint64_t stop = emogi_run_chunk_end(level->first[v], FETCHED_ENTRIES, level->end[v]);

		for (uint64_t e = level->first[v]; e < stop; e++)
		{
			__builtin_prefetch(&all->total[all->community[level->targets[e]]]);
			__builtin_prefetch(&tally->weight[all->community[level->targets[e]]]);
		}
	}
}

/* Choose for the nodes of a batch. */
static void
choose_all(void *arg, int thread, int nthreads)
{
	Moving	   *moving = arg;
	EmogiCommunities *all = moving->all;
	const uint64_t count = moving->end - moving->first;
	uint64_t	looked = 0;
	uint64_t	i;

	while (!emogi_job_stopped(&all->run.job) && (i = emogi_job_take(&all->run.next, NODES_AT_ONCE)) < count)
	{
		const uint64_t end = moving->first + emogi_run_chunk_end(i, NODES_AT_ONCE, count);

		for (i += moving->first; i < end; i++)
		{
			const uint32_t v = all->order[i];

			fetch_ahead(moving, &all->tallies[thread], i, moving->end);
			all->open[v] = 0;
			all->chosen[i] = choose(moving, &all->tallies[thread], v, &all->difference[i]);
			looked += moving->level->end[v] - moving->level->first[v];
		}
	}
	__atomic_fetch_add(&all->looked, looked, __ATOMIC_RELAXED);
}

/* Open the neighbours of all that have moved. */
static void
open_all(void *arg, int thread, int nthreads)
{
	Moving	   *moving = arg;
	EmogiCommunities *all = moving->all;
	uint64_t	i;

	while (!emogi_job_stopped(&all->run.job) && (i = emogi_job_take(&all->run.next, MARKS_AT_ONCE)) < moving->nmovers)
	{
		const uint64_t end = emogi_run_chunk_end(i, MARKS_AT_ONCE, moving->nmovers);

		for (; i < end; i++)
			open_neighbors(moving, all->movers[i]);
	}
}

/* Move the nodes of a batch that have chosen to go. */
static void
move_all(Moving *moving, bool sure)
{
	EmogiCommunities *all = moving->all;

	moving->nmovers = 0;
	for (uint64_t i = moving->first; i < moving->end; i++)
	{
		const uint32_t v = all->order[i];

		if (all->chosen[i] == all->community[v])
			continue;
		if (sure)
			all->chosen[i] = choose(moving, &all->tallies[0], v, &all->difference[i]);
		if (all->chosen[i] == all->community[v])
			continue;
		if (move(moving, v, all->chosen[i], all->difference[i]))
			all->movers[moving->nmovers++] = v;
		else if (!sure)
			all->open[v] = 1;
	}
}

/* Let the nodes of a batch move; false when the job has stopped. */
static bool
move_batch(Moving *moving, bool sure)
{
	EmogiCommunities *all = moving->all;

	if (!emogi_run_step(&all->run, choose_all, moving, false))
		return false;
	move_all(moving, sure);
	return emogi_run_step(&all->run, open_all, moving, moving->nmovers < MARKS_AT_ONCE);
}

/* ---- a sweep ---- */

/* Put the open nodes in order, batch by batch; gets how many. nlisted: their entries. */
static uint64_t
order_open(EmogiCommunities *all, const EmogiLevel *level, uint64_t salt, uint64_t nbatches, uint64_t *nlisted)
{
	uint64_t   *starts = all->starts;
	uint64_t	count = 0;

	*nlisted = 0;
	memset(starts, 0, (nbatches + 2) * sizeof *starts);
	for (uint64_t i = 0; i < level->nnodes; i++)
		if (all->open[i])
		{
			const uint32_t batch = (uint32_t) ((emogi_communities_random(salt, i) >> 32) * nbatches >> 32);

			all->chosen[i] = batch;
			starts[batch + 2]++;
			*nlisted += level->end[i] - level->first[i];
			count++;
		}
	for (uint64_t b = 0; b < nbatches; b++)
		starts[b + 2] += starts[b + 1];
	for (uint64_t i = 0; i < level->nnodes; i++)
		if (all->open[i])
			all->order[starts[all->chosen[i] + 1]++] = (uint32_t) i;
	return count;
}

/* Look at the nodes in order, one after the other; gets how many have moved. */
static uint64_t
sweep_alone(Moving *moving, uint64_t count)
{
	EmogiCommunities *all = moving->all;
	uint64_t	nmoved = 0;
	uint64_t	looked = 0;

	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t v = all->order[i];
		double		difference;
		uint32_t	to;

		all->open[v] = 0;
		to = choose(moving, &all->tallies[0], v, &difference);
		looked += moving->level->end[v] - moving->level->first[v] + 1;
		if (to != all->community[v] && move(moving, v, to, difference))
		{
			open_neighbors(moving, v);
			nmoved++;
		}
		if (looked > EMOGI_RUN_POLL)
		{
			all->looked += looked;
			looked = 0;
			if (emogi_job_stopped(&all->run.job))
				return 0;
		}
	}
	all->looked += looked;
	return nmoved;
}

/* Look at all open nodes; gets how many have moved. */
static uint64_t
sweep(Moving *moving, uint64_t salt, bool sure)
{
	EmogiCommunities *all = moving->all;
	uint64_t	nbatches = moving->level->nnodes < BATCHES ? moving->level->nnodes : BATCHES;
	uint64_t	nmoved = 0;
	uint64_t	nlisted;
	uint64_t	count = order_open(all, moving->level, salt, nbatches, &nlisted);

	if (nlisted + count < ENTRIES_ALONE)
		return sweep_alone(moving, count);
	moving->first = 0;
	for (uint64_t b = 0; b < nbatches; b++)
	{
		moving->end = all->starts[b + 1];
		if (!move_batch(moving, sure))
			return 0;
		nmoved += moving->nmovers;
		moving->first = moving->end;
	}
	return nmoved;
}

/* ---- local moving ---- */

/* Add up communities, and find which are empty. */
static void
add_up(EmogiCommunities *all, const EmogiLevel *level)
{
	for (uint64_t i = 0; i < level->nnodes; i++)
	{
		all->total[i] = 0.0;
		all->size[i] = 0;
	}
	for (uint64_t i = 0; i < level->nnodes; i++)
	{
		all->total[all->community[i]] += level->strength[i];
		all->size[all->community[i]]++;
	}
	all->nempty = 0;
	for (uint64_t i = 0; i < level->nnodes; i++)
		if (all->size[i] == 0)
			all->empty[all->nempty++] = (uint32_t) i;
}

/* Get the least that a sweep must gain to be followed by another. */
static double
least_of_sweep(const EmogiCommunities *all, const EmogiLevel *level, bool settles)
{
	return settles || emogi_level_is_small(level) ? all->least_gain : fmax(all->least_gain, ENOUGH * all->gained);
}

uint64_t
emogi_communities_move(EmogiCommunities *all, const EmogiLevel *level, bool last, uint64_t salt)
{
	Moving		moving = {.all = all, .level = level};
	bool		settles = last;
	bool		looks_at_all = true;

	add_up(all, level);
	memset(all->open, 1, level->nnodes);
	for (uint64_t i = 0; !emogi_job_stopped(&all->run.job); i++)
	{
		const double before = all->gained;
		const uint64_t nmoved = sweep(&moving, emogi_communities_random(salt, i), i >= SURE_SWEEP);

		if (nmoved > 0 && all->gained - before > least_of_sweep(all, level, settles))
		{
			moving.least = 0.0;
			looks_at_all = false;
			continue;
		}
		settles = last || all->nempty == 0;
		if (!settles || (nmoved == 0 && looks_at_all))
			break;
		moving.least = all->least_gain;
		looks_at_all = true;
		memset(all->open, 1, level->nnodes);
	}
	return level->nnodes - all->nempty;
}
