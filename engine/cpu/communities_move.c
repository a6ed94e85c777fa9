/*
 * communities_move.c: local moving: nodes move to the communities of their neighbors for as long as
 * that increases modularity (communities.h [1]; the rule for reopening nodes is that of [2],
 * algorithm A.2).
 *
 * A sweep processes all open nodes in batches, which are drawn anew for each sweep. All nodes of a
 * batch choose a community given the state at its beginning (communities_choose.c). Then the rules
 * of contract/community_rules.h decide which of them may move; these move; then their neighbors are
 * opened. A node that may not move stays open. Nodes that would be better off alone move last in a
 * sweep, to empty communities.
 */
#include "communities_move.h"

#include <math.h>

#define MARK_CHUNK 16
#define SERIAL_EDGES 16384		/* one thread finishes a batch with fewer edges faster */

/* ---- moves ---- */

/* Prefetch the data of the nodes that ask to move, after m. */
static inline __attribute__((always_inline)) void
fetch_movers(const EmogiMoving *moving, uint64_t m)
{
	const EmogiCommunities *all = moving->all;

	if (m + 2 * EMOGI_MOVING_PREFETCH < moving->nmovers)
	{
		__builtin_prefetch(&all->community[all->movers[m + 2 * EMOGI_MOVING_PREFETCH]]);
		__builtin_prefetch(&moving->level->strength[all->movers[m + 2 * EMOGI_MOVING_PREFETCH]]);
	}
	if (m + EMOGI_MOVING_PREFETCH < moving->nmovers)
	{
		__builtin_prefetch(&all->communities[all->community[all->movers[m +
																		EMOGI_MOVING_PREFETCH]]]);
		__builtin_prefetch(&all->communities[all->chosen[m + EMOGI_MOVING_PREFETCH]]);
		__builtin_prefetch(&all->traffic[all->community[all->movers[m + EMOGI_MOVING_PREFETCH]]]);
		__builtin_prefetch(&all->traffic[all->chosen[m + EMOGI_MOVING_PREFETCH]]);
	}
}

/* Prefetch the data needed to open the neighbors of the nodes after m. */
static inline __attribute__((always_inline)) void
fetch_opened(const EmogiMoving *moving, uint64_t m)
{
	const EmogiCommunities *all = moving->all;
	const EmogiLevel *level = moving->level;

	if (m + 3 * EMOGI_MOVING_PREFETCH < moving->nmovers)
	{
		__builtin_prefetch(&level->first[all->movers[m + 3 * EMOGI_MOVING_PREFETCH]]);
		__builtin_prefetch(&level->end[all->movers[m + 3 * EMOGI_MOVING_PREFETCH]]);
	}
	if (m + 2 * EMOGI_MOVING_PREFETCH < moving->nmovers)
		__builtin_prefetch(&level->targets[level->first[all->movers[m +
																	2 * EMOGI_MOVING_PREFETCH]]]);
	if (m + EMOGI_MOVING_PREFETCH < moving->nmovers)
	{
		const uint32_t v = all->movers[m + EMOGI_MOVING_PREFETCH];
		const uint64_t stop = emogi_cpu_run_chunk_end(level->first[v], EMOGI_MOVING_FETCHED,
													  level->end[v]);

		for (uint64_t e = level->first[v]; e < stop; e++)
		{
			__builtin_prefetch(&all->open[level->targets[e]]);
			__builtin_prefetch(&all->community[level->targets[e]]);
		}
	}
}

/* Check whether the node that asks to move as number m may move. *gain: its gain. */
static inline bool
may_move(const EmogiMoving *moving, uint64_t m, double *gain)
{
	const EmogiCommunities *all = moving->all;
	const uint32_t i = all->movers[m];
	const uint32_t from = all->community[i];
	const uint32_t to = all->chosen[m];
	const EmogiCommunity *left = &all->communities[from];
	const EmogiCommunity *joined = &all->communities[to];
	const EmogiCommunityMove move = {.from = from, .to = to, .to_empty = moving->to_empty,
		.difference = all->difference[m],
		.strength = moving->level->strength[i], .total_from = left->total,
		.total_to = joined->total, .size_from = left->size,
	.size_to = joined->size, .into_from = all->traffic[from].into, .into_to = all->traffic[to].into,
	.out_of_from = all->traffic[from].out_of,
	.out_of_to = all->traffic[to].out_of};

	*gain = emogi_communities_guaranteed_gain(&all->gains, &move);
	return *gain > emogi_communities_min_gain(&all->gains, move.strength) &&
		emogi_communities_accepts_move(&move, moving->sure, moving->salt);
}

/* Decide which nodes of a batch may move. */
static void
check_all(void *arg, int thread, int nthreads)
{
	EmogiMoving *moving = arg;
	EmogiCommunities *all = moving->all;
	int64_t		gained = 0;
	uint64_t	nmoved = 0;
	uint64_t	nopen = 0;

	for (uint64_t m, end;
		 emogi_cpu_run_take(&all->run, EMOGI_MOVING_NODES, moving->nmovers, &m, &end);)
		for (; m < end; m++)
		{
			double		gain;

			fetch_movers(moving, m);
			if (may_move(moving, m, &gain))
			{
				gained += emogi_communities_gain(&all->gains, gain);
				nmoved++;
			}
			else
			{
				all->difference[m] = INT64_MIN;
				all->open[all->movers[m]] = EMOGI_MOVING_OPEN;
				nopen++;
			}
		}
	__atomic_fetch_add(&all->gained, gained, __ATOMIC_RELAXED);
	__atomic_fetch_add(&moving->nmoved, nmoved, __ATOMIC_RELAXED);
	__atomic_fetch_add(&moving->nopen, nopen, __ATOMIC_RELAXED);
}

/* Move a node. */
static inline void
move_node(const EmogiMoving *moving, uint32_t i, uint32_t from, uint32_t to, int64_t *nempty)
{
	EmogiCommunities *all = moving->all;
	EmogiCommunity *left = &all->communities[from];
	EmogiCommunity *joined = &all->communities[to];
	const int64_t strength = moving->level->strength[i];

	if (moving->serial)
	{
		left->total -= strength;
		joined->total += strength;
		*nempty += --left->size == 0;
		*nempty -= joined->size++ == 0;
	}
	else
	{
		__atomic_fetch_sub(&left->total, strength, __ATOMIC_RELAXED);
		__atomic_fetch_add(&joined->total, strength, __ATOMIC_RELAXED);
		*nempty += __atomic_sub_fetch(&left->size, 1, __ATOMIC_RELAXED) == 0;
		*nempty -= __atomic_fetch_add(&joined->size, 1, __ATOMIC_RELAXED) == 0;
	}
	all->community[i] = to;
}

/* Move the permitted nodes of a batch. */
static void
move_all(void *arg, int thread, int nthreads)
{
	EmogiMoving *moving = arg;
	EmogiCommunities *all = moving->all;
	int64_t		nempty = 0;

	for (uint64_t m, end;
		 emogi_cpu_run_take(&all->run, EMOGI_MOVING_NODES, moving->nmovers, &m, &end);)
		for (; m < end; m++)
		{
			const uint32_t i = all->movers[m];
			const uint32_t from = all->community[i];
			const uint32_t to = all->chosen[m];

			__atomic_store_n(&all->traffic[from].out_of, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&all->traffic[to].into, 0, __ATOMIC_RELAXED);
			if (all->difference[m] != INT64_MIN)
				move_node(moving, i, from, to, &nempty);
		}
	__atomic_fetch_add(&all->nempty, (uint64_t) nempty, __ATOMIC_RELAXED);
}

/* Open the neighbors of a node that has moved, except for those in its new community. */
static inline void
open_neighbors(const EmogiMoving *moving, uint32_t i)
{
	const EmogiCommunities *all = moving->all;
	const EmogiLevel *level = moving->level;
	const uint32_t own = all->community[i];

	for (uint64_t e = level->first[i]; e < level->end[i]; e++)
	{
		const uint32_t j = level->targets[e];

		if (__atomic_load_n(&all->open[j], __ATOMIC_RELAXED) == 0 && all->community[j] != own)
			__atomic_store_n(&all->open[j], EMOGI_MOVING_OPEN, __ATOMIC_RELAXED);
	}
}

/* Open the neighbors of all nodes that have moved. */
static void
open_all(void *arg, int thread, int nthreads)
{
	EmogiMoving *moving = arg;
	EmogiCommunities *all = moving->all;

	for (uint64_t m, end; emogi_cpu_run_take(&all->run, MARK_CHUNK, moving->nmovers, &m, &end);)
		for (; m < end; m++)
		{
			fetch_opened(moving, m);
			if (all->difference[m] != INT64_MIN)
				open_neighbors(moving, all->movers[m]);
		}
}

/* Process a batch; false if the job has stopped. nlisted: about the number of its edges. */
static bool
move_batch(EmogiMoving *moving, uint64_t nlisted)
{
	EmogiCommunities *all = moving->all;

	moving->nmovers = 0;
	moving->serial = emogi_communities_is_serial(all,
												 nlisted + moving->end - moving->first <
												 SERIAL_EDGES);
	if (!emogi_cpu_run_step(&all->run, emogi_communities_choose_all, moving, moving->serial))
		return false;
	moving->serial = emogi_communities_is_serial(all, moving->nmovers < EMOGI_MOVING_NODES);
	return emogi_cpu_run_step(&all->run, check_all, moving, moving->serial) &&
		emogi_cpu_run_step(&all->run, move_all, moving, moving->serial) &&
		emogi_cpu_run_step(&all->run, open_all, moving, moving->nmovers < MARK_CHUNK);
}

/* ---- a sweep ---- */

/*
 * Put the nodes that want to be alone into all->order, ascending, and empty communities into
 * all->refined; returns the smaller of the two counts.
 */
static uint64_t
order_leaving(EmogiCommunities *all, const EmogiMoving *moving)
{
	const EmogiLevel *level = moving->level;
	uint64_t	count = 0;
	uint64_t	nplaces = 0;

	for (uint64_t i = 0; i < level->nnodes; i++)
		if (all->open[i] == EMOGI_MOVING_WANTS_SINGLETON)
		{
			all->open[i] = EMOGI_MOVING_OPEN;
			if (emogi_communities_requests_move(moving->salt, i, moving->sweep, moving->few))
				all->order[count++] = (uint32_t) i;
		}
	for (uint64_t c = 0; c < level->nnodes && nplaces < count; c++)
		if (all->communities[c].size == 0)
			all->refined[nplaces++] = (uint32_t) c;
	return nplaces;
}

/* Process all open nodes. */
static void
process_open(EmogiMoving *moving)
{
	EmogiCommunities *all = moving->all;
	uint64_t	nlisted;
	uint64_t	count = emogi_communities_order(all, moving->level, moving->salt, moving->sweep,
												&nlisted);
	const uint32_t nbatches = emogi_communities_nbatches(&all->gains, count, moving->sweep);

	moving->first = 0;
	for (uint32_t b = 0; b < nbatches; b++)
	{
		moving->end = all->starts[b + 1];
		if (!move_batch(moving, nlisted / nbatches))
			return;
		moving->first = moving->end;
	}
	if (moving->nleaving == 0 || emogi_job_stopped(&all->run.job))
		return;
	moving->first = 0;
	moving->end = order_leaving(all, moving);
	moving->to_empty = true;
	(void) move_batch(moving, nlisted / (count + 1) * moving->end);
	moving->nopen += moving->nleaving;
}

/* ---- local moving ---- */

/* Sum up communities; each thread handles a range of community numbers. */
static void
add_up(void *arg, int thread, int nthreads)
{
	EmogiMoving *moving = arg;
	EmogiCommunities *all = moving->all;
	const EmogiLevel *level = moving->level;
	const uint64_t first = emogi_communities_share(level->nnodes, thread, nthreads);
	const uint64_t count = emogi_communities_share(level->nnodes, thread + 1, nthreads) - first;
	uint64_t	nempty = 0;

	for (uint64_t i = first; i < first + count; i++)
	{
		all->communities[i] = (EmogiCommunity) {0};
		all->traffic[i] = (EmogiMoveRequests) {0};
		all->open[i] = level->end[i] > level->first[i];
	}
	for (uint64_t i = 0; i < level->nnodes; i++)
		if (all->community[i] - first < count)
		{
			all->communities[all->community[i]].total += level->strength[i];
			all->communities[all->community[i]].size++;
		}
	for (uint64_t i = first; i < first + count; i++)
		nempty += all->communities[i].size == 0;
	__atomic_fetch_add(&all->nempty, nempty, __ATOMIC_RELAXED);
}

/* Open all nodes that have edges. */
static void
open_nodes(EmogiCommunities *all, const EmogiLevel *level)
{
	for (uint64_t i = 0; i < level->nnodes; i++)
		all->open[i] = level->end[i] > level->first[i];
}

/* Get the minimum gain for which a sweep is followed by another, scaled as all->gained is. */
static double
min_gain_of_sweep(const EmogiCommunities *all, const EmogiLevel *level, bool settles)
{
	const double min_gain = all->min_gain * all->gains.scale;

	return settles || emogi_level_is_small(level) ? min_gain
		: fmax(min_gain, all->gains.enough * (double) all->gained);
}

uint64_t
emogi_communities_move(EmogiCommunities *all, const EmogiLevel *level, bool last, uint64_t salt)
{
	EmogiMoving moving = {.all = all, .level = level};
	bool		settles = last;
	bool		looks_at_all = true;
	bool		few = false;
	uint64_t	nidle = 0;		/* consecutive sweeps without a move */

	all->gains.min_gain = 0.0;
	all->nempty = 0;
	if (!emogi_cpu_run_step(&all->run, add_up, &moving, emogi_level_is_small(level)))
		return level->nnodes;
	for (uint64_t sweep = 0; !emogi_job_stopped(&all->run.job); sweep++)
	{
		const int64_t before = all->gained;

		few = few || emogi_communities_limits_requests(sweep, nidle);
		moving = (EmogiMoving) {.all = all, .level = level,
			.salt = emogi_communities_random(salt, sweep), .sweep = sweep, .few = few,
			.sure = sweep >= EMOGI_COMMUNITIES_SURE_SWEEP};
		process_open(&moving);
		nidle = moving.nmoved > 0 ? 0 : nidle + 1;
		if (moving.nopen + moving.nmoved > 0 &&
			(double) (all->gained - before) > min_gain_of_sweep(all, level, settles))
		{
			all->gains.min_gain = 0.0;
			looks_at_all = false;
			continue;
		}
		settles = last || all->nempty == 0;
		if (!settles || (moving.nopen + moving.nmoved == 0 && looks_at_all) ||
			nidle >= EMOGI_COMMUNITIES_MAX_IDLE)
			break;
		all->gains.min_gain = all->min_gain;
		looks_at_all = true;
		open_nodes(all, level);
	}
	return level->nnodes - all->nempty;
}
