/*
 * communities_choose.c: the nodes of a batch choose where they would go (communities_move.c).
 */
#include "communities_move.h"

#include <string.h>

/*
 * Choose where a node would go: its own community, another, or EMOGI_NO_VERTEX, none. difference:
 * weight to there less that to where it is.
 */
static inline uint32_t
choose(const EmogiMoving *moving, EmogiTally *tally, uint32_t i, int64_t *difference)
{
	const EmogiCommunities *all = moving->all;
	const uint32_t own = all->community[i];
	const int64_t strength = moving->level->strength[i];
	const double rate = emogi_communities_rate(&all->gains, strength);
	const uint32_t *touched = tally->touched;
	EmogiBest	best = {.community = EMOGI_NO_VERTEX};
	uint64_t	ntouched;
	int64_t		own_weight;
	uint32_t	to;

	emogi_tally_list(tally, moving->level, all->community, i);
	ntouched = tally->ntouched;
	own_weight = tally->weight[own];
	best.value = emogi_communities_value(rate, own_weight, all->communities[own].total - strength) +
		emogi_communities_least(&all->gains, strength);
	for (uint64_t t = 0; t < ntouched; t++)
	{
		const uint32_t c = touched[t];

		if (c != own)
			emogi_communities_offer(&best, moving->salt,
									emogi_communities_value(rate, tally->weight[c],
															all->communities[c].total), c,
									tally->weight[c]);
	}
	emogi_tally_clear(tally);
	to = best.community == EMOGI_NO_VERTEX ? own : best.community;
	*difference = best.weight - own_weight;
	if (0.0 > best.value && all->communities[own].size > 1)
	{
		to = EMOGI_NO_VERTEX;
		*difference = -own_weight;
	}
	return to;
}

/*
 * Fetch what will be needed of the nodes behind i in order, before `end`: those of a batch lie far
 * apart, and each waits for main memory. Inline always: gcc leaves out calls of what does nothing
 * else.
 */
static inline __attribute__((always_inline)) void
fetch_ahead(const EmogiMoving *moving, const EmogiTally *tally, uint64_t i, uint64_t end)
{
	const EmogiCommunities *all = moving->all;
	const EmogiLevel *level = moving->level;

	if (i + 3 * EMOGI_MOVING_AHEAD < end)
	{
		const uint32_t v = all->order[i + 3 * EMOGI_MOVING_AHEAD];

		__builtin_prefetch(&level->first[v]);
		__builtin_prefetch(&level->end[v]);
		__builtin_prefetch(&level->strength[v]);
		__builtin_prefetch(&all->community[v]);
	}
	if (i + 2 * EMOGI_MOVING_AHEAD < end)
		emogi_level_fetch(level, level->first[all->order[i + 2 * EMOGI_MOVING_AHEAD]]);
	if (i + EMOGI_MOVING_AHEAD < end)
	{
		const uint32_t v = all->order[i + EMOGI_MOVING_AHEAD];
		const uint64_t stop = emogi_cpu_run_chunk_end(level->first[v], EMOGI_MOVING_FETCHED,
													  level->end[v]);

		for (uint64_t e = level->first[v]; e < stop; e++)
			__builtin_prefetch(&all->community[level->targets[e]]);
	}
	if (i + EMOGI_MOVING_AHEAD / 2 < end)
	{
		const uint32_t v = all->order[i + EMOGI_MOVING_AHEAD / 2];
		const uint64_t stop = emogi_cpu_run_chunk_end(level->first[v], EMOGI_MOVING_FETCHED,
													  level->end[v]);

		__builtin_prefetch(&all->traffic[all->community[v]], 1);
		for (uint64_t e = level->first[v]; e < stop; e++)
		{
			__builtin_prefetch(&all->communities[all->community[level->targets[e]]]);
			__builtin_prefetch(&tally->weight[all->community[level->targets[e]]]);
		}
	}
}

/* What nodes that one thread has looked at want: it takes room for all of them at once. */
typedef struct Wishes
{
	uint64_t	count;
	uint32_t	movers[EMOGI_MOVING_NODES];
	uint32_t	chosen[EMOGI_MOVING_NODES];
	int64_t		difference[EMOGI_MOVING_NODES];
} Wishes;

/* Note that a node wants to go. */
static inline void
note_mover(const EmogiMoving *moving, Wishes *wishes, uint32_t i, uint32_t to, int64_t difference)
{
	EmogiCommunities *all = moving->all;
	const int64_t strength = moving->level->strength[i];
	const uint32_t from = all->community[i];

	wishes->movers[wishes->count] = i;
	wishes->chosen[wishes->count] = to;
	wishes->difference[wishes->count++] = difference;
	if (moving->alone)
	{
		all->traffic[from].out_of += strength;
		if (!moving->to_empty)
			all->traffic[to].into += strength;
	}
	else
	{
		__atomic_fetch_add(&all->traffic[from].out_of, strength, __ATOMIC_RELAXED);
		if (!moving->to_empty)
			__atomic_fetch_add(&all->traffic[to].into, strength, __ATOMIC_RELAXED);
	}
}

/* Put the wishes with those of other threads. */
static inline void
give_wishes(EmogiMoving *moving, Wishes *wishes)
{
	EmogiCommunities *all = moving->all;
	const uint64_t m = wishes->count == 0 ? 0 : emogi_job_take(&moving->nmovers, wishes->count);

	memcpy(all->movers + m, wishes->movers, wishes->count * sizeof *all->movers);
	memcpy(all->chosen + m, wishes->chosen, wishes->count * sizeof *all->chosen);
	memcpy(all->difference + m, wishes->difference, wishes->count * sizeof *all->difference);
	wishes->count = 0;
}

/* Let a node choose. */
static inline void
look_at(EmogiMoving *moving, EmogiTally *tally, Wishes *wishes, uint64_t i)
{
	EmogiCommunities *all = moving->all;
	const uint32_t v = all->order[i];
	int64_t		difference;
	const uint32_t to = choose(moving, tally, v, &difference);

	all->open[v] = 0;
	if (to == all->community[v])
		return;
	if (moving->to_empty)
	{
		if (to == EMOGI_NO_VERTEX)
			note_mover(moving, wishes, v, all->refined[i - moving->first], difference);
		else
			all->open[v] = EMOGI_MOVING_OPEN;
	}
	else if (to == EMOGI_NO_VERTEX)
	{
		all->open[v] = EMOGI_MOVING_WANTS_OUT;
		__atomic_fetch_add(&moving->nleaving, 1, __ATOMIC_RELAXED);
	}
	else if (moving->few && !emogi_communities_asks(moving->salt, v, moving->sweep, true))
	{
		all->open[v] = EMOGI_MOVING_OPEN;
		__atomic_fetch_add(&moving->nopen, 1, __ATOMIC_RELAXED);
	}
	else
		note_mover(moving, wishes, v, to, difference);
}

/* Let the nodes of a batch choose. */
void
emogi_communities_choose_all(void *arg, int thread, int nthreads)
{
	EmogiMoving *moving = arg;
	EmogiCommunities *all = moving->all;
	const uint64_t count = moving->end - moving->first;
	uint64_t	looked = 0;
	uint64_t	i;
	Wishes		wishes;

	wishes.count = 0;
	while (!emogi_job_stopped(&all->run.job) &&
		   (i = emogi_job_take(&all->run.next, EMOGI_MOVING_NODES)) < count)
	{
		const uint64_t end = moving->first + emogi_cpu_run_chunk_end(i, EMOGI_MOVING_NODES, count);

		for (i += moving->first; i < end; i++)
		{
			fetch_ahead(moving, &all->tallies[thread], i, moving->end);
			look_at(moving, &all->tallies[thread], &wishes, i);
			looked += moving->level->end[all->order[i]] - moving->level->first[all->order[i]];
		}
		give_wishes(moving, &wishes);
	}
	__atomic_fetch_add(&all->looked, looked, __ATOMIC_RELAXED);
}
