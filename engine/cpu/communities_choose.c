/*
 * communities_choose.c: choose a community for each node of a batch (communities_move.c).
 */
#include "communities_move.h"

#include <string.h>

/*
 * Choose a community for a node: its own, another one, or EMOGI_NO_VERTEX for an empty one.
 * difference: weight to it minus weight to the present one.
 */
static inline uint32_t
choose(const EmogiMoving *moving, EmogiCommunityWeights *tally, uint32_t i, int64_t *difference)
{
	const EmogiCommunities *all = moving->all;
	const uint32_t own = all->community[i];
	const int64_t strength = moving->level->strength[i];
	const double rate = emogi_communities_rate(&all->gains, strength);
	const uint32_t *touched = tally->touched;
	EmogiBestCommunity	best = {.community = EMOGI_NO_VERTEX};
	uint64_t	ntouched;
	int64_t		own_weight;
	uint32_t	to;

	emogi_tally_list(tally, moving->level, all->community, i);
	ntouched = tally->ntouched;
	own_weight = tally->weight[own];
	best.value = emogi_communities_value(rate, own_weight, all->communities[own].total - strength) +
		emogi_communities_min_gain(&all->gains, strength);
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
 * Prefetch the data of the nodes after i in order, before `end`. The nodes of a batch are
 * scattered, so that each would wait for main memory. Always inline, because gcc drops calls of a
 * function that only prefetches.
 */
static inline __attribute__((always_inline)) void
fetch_ahead(const EmogiMoving *moving, const EmogiCommunityWeights *tally, uint64_t i, uint64_t end)
{
	const EmogiCommunities *all = moving->all;
	const EmogiLevel *level = moving->level;

	if (i + 3 * EMOGI_MOVING_PREFETCH < end)
	{
		const uint32_t v = all->order[i + 3 * EMOGI_MOVING_PREFETCH];

		__builtin_prefetch(&level->first[v]);
		__builtin_prefetch(&level->end[v]);
		__builtin_prefetch(&level->strength[v]);
		__builtin_prefetch(&all->community[v]);
	}
	if (i + 2 * EMOGI_MOVING_PREFETCH < end)
		emogi_level_fetch(level, level->first[all->order[i + 2 * EMOGI_MOVING_PREFETCH]]);
	if (i + EMOGI_MOVING_PREFETCH < end)
	{
		const uint32_t v = all->order[i + EMOGI_MOVING_PREFETCH];
		const uint64_t stop = emogi_cpu_run_chunk_end(level->first[v], EMOGI_MOVING_FETCHED,
													  level->end[v]);

		for (uint64_t e = level->first[v]; e < stop; e++)
			__builtin_prefetch(&all->community[level->targets[e]]);
	}
	if (i + EMOGI_MOVING_PREFETCH / 2 < end)
	{
		const uint32_t v = all->order[i + EMOGI_MOVING_PREFETCH / 2];
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

/*
 * One thread's buffer of nodes that ask to move; they are appended to the shared arrays together.
 */
typedef struct Moves
{
	uint64_t	count;
	uint32_t	movers[EMOGI_MOVING_NODES];
	uint32_t	chosen[EMOGI_MOVING_NODES];
	int64_t		difference[EMOGI_MOVING_NODES];
} Moves;

/* Buffer a node that asks to move. */
static inline void
add_move(const EmogiMoving *moving, Moves *moves, uint32_t i, uint32_t to, int64_t difference)
{
	EmogiCommunities *all = moving->all;
	const int64_t strength = moving->level->strength[i];
	const uint32_t from = all->community[i];

	moves->movers[moves->count] = i;
	moves->chosen[moves->count] = to;
	moves->difference[moves->count++] = difference;
	if (moving->serial)
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

/* Append the buffered moves to the shared arrays. */
static inline void
flush_moves(EmogiMoving *moving, Moves *moves)
{
	EmogiCommunities *all = moving->all;
	const uint64_t m = moves->count == 0 ? 0 : emogi_job_claim(&moving->nmovers, moves->count);

	memcpy(all->movers + m, moves->movers, moves->count * sizeof *all->movers);
	memcpy(all->chosen + m, moves->chosen, moves->count * sizeof *all->chosen);
	memcpy(all->difference + m, moves->difference, moves->count * sizeof *all->difference);
	moves->count = 0;
}

/* Choose a community for one node, and record whether it asks to move. */
static inline void
process_node(EmogiMoving *moving, EmogiCommunityWeights *tally, Moves *moves, uint64_t i)
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
			add_move(moving, moves, v, all->refined[i - moving->first], difference);
		else
			all->open[v] = EMOGI_MOVING_OPEN;
	}
	else if (to == EMOGI_NO_VERTEX)
	{
		all->open[v] = EMOGI_MOVING_WANTS_SINGLETON;
		__atomic_fetch_add(&moving->nleaving, 1, __ATOMIC_RELAXED);
	}
	else if (moving->few && !emogi_communities_requests_move(moving->salt, v, moving->sweep, true))
	{
		all->open[v] = EMOGI_MOVING_OPEN;
		__atomic_fetch_add(&moving->nopen, 1, __ATOMIC_RELAXED);
	}
	else
		add_move(moving, moves, v, to, difference);
}

/* Choose a community for each node of a batch. */
void
emogi_communities_choose_all(void *arg, int thread, int nthreads)
{
	EmogiMoving *moving = arg;
	EmogiCommunities *all = moving->all;
	const uint64_t count = moving->end - moving->first;
	uint64_t	nscanned = 0;
	uint64_t	i;
	Moves		moves;

	moves.count = 0;
	while (!emogi_job_stopped(&all->run.job) &&
		   (i = emogi_job_claim(&all->run.next, EMOGI_MOVING_NODES)) < count)
	{
		const uint64_t end = moving->first + emogi_cpu_run_chunk_end(i, EMOGI_MOVING_NODES, count);

		for (i += moving->first; i < end; i++)
		{
			fetch_ahead(moving, &all->tallies[thread], i, moving->end);
			process_node(moving, &all->tallies[thread], &moves, i);
			nscanned += moving->level->end[all->order[i]] - moving->level->first[all->order[i]];
		}
		flush_moves(moving, &moves);
	}
	__atomic_fetch_add(&all->nscanned, nscanned, __ATOMIC_RELAXED);
}
