/*
 * communities_refine.c: split communities into well-connected ones (communities.h [2], algorithm
 * A.2), or into connected components.
 *
 * Within each community, every node begins alone. Nodes are processed once, in batches. A node of a
 * batch that is still alone and well connected to the rest of its community joins one of the
 * well-connected refined communities around it that no node of the batch can leave. It picks one at
 * random among those that do not decrease modularity, with probability proportional to exp(gain /
 * theta), and joins only if its gain is still not negative when all other nodes that ask to join
 * come too. Refined communities stay connected, because a node joins only along edges, and a node
 * that others have joined does not leave.
 */
#include "communities.h"

#include <math.h>

#define NODE_CHUNK 64
#define PREFETCH_DISTANCE 8		/* prefetch distance between the stages of a node, nodes */
#define FETCHED_ENTRIES 8		/* edges of a list that are prefetched */
#define SERIAL_EDGES 16384		/* one thread finishes a batch with fewer edges faster */
#define EDGES_PER_POLL 65536	/* edges of a component between two polls */
#define NO_BATCH UINT16_MAX		/* of a node that is not processed */

typedef struct Refining
{
	EmogiCommunities *all;
	const EmogiLevel *level;
	uint64_t	salt;
	uint16_t	batch;
	uint64_t	first;			/* of the batch, in all->order */
	uint64_t	end;
	uint64_t	nmovers;		/* atomic */
} Refining;

/*
 * Begin: each node alone, with its weight to the rest of its community. The nodes well connected to
 * it are opened.
 */
static void
begin_nodes(void *arg, int thread, int nthreads)
{
	Refining   *refining = arg;
	EmogiCommunities *all = refining->all;
	const EmogiLevel *level = refining->level;
	uint64_t	first;

	while (!emogi_job_stopped(&all->run.job) &&
		   (first = emogi_job_claim(&all->run.next, EMOGI_NODE_CHUNK)) < level->nnodes)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(first, EMOGI_NODE_CHUNK, level->nnodes);

		for (uint64_t i = first; i < end; i++)
		{
			const uint32_t own = all->community[i];
			int64_t		cut = 0;

			if (all->communities[own].size > 1)
				for (uint64_t e = level->first[i]; e < level->end[i]; e++)
					if (level->targets[e] != i && all->community[level->targets[e]] == own)
						cut += emogi_level_weight(level->weights, level->units, e);
			all->refined[i] = (uint32_t) i;
			all->parts[i].total = level->strength[i];
			all->parts[i].size = 1;
			all->parts[i].cut = all->node_cut[i] = cut;
			all->parts[i].into = 0;
			all->batch[i] = NO_BATCH;
			all->open[i] = cut > 0 &&
				emogi_communities_well_connected(&all->gains, level->strength[i], cut,
												 all->communities[own].total);
		}
	}
}

/* Sum the weights from a node to the refined communities around it, within its community. */
static inline void
tally_inside(const Refining *refining, EmogiCommunityWeights *tally, uint32_t i)
{
	const EmogiCommunities *all = refining->all;
	const EmogiLevel *level = refining->level;
	const uint32_t own = all->community[i];

	for (uint64_t e = level->first[i]; e < level->end[i]; e++)
	{
		const uint32_t j = level->targets[e];

		if (j != i && all->community[j] == own)
			tally->ntouched = emogi_tally_add(tally, tally->ntouched, all->refined[j],
											  emogi_level_weight(level->weights, level->units, e));
	}
}

/* Get a node's gain from joining a community; less than 0 = it must not join. */
static inline double
gain_of(const Refining *refining, double rate, int64_t weight, uint32_t c)
{
	const EmogiCommunities *all = refining->all;

	if (all->batch[c] == refining->batch && all->parts[c].size == 1)
		return -1.0;
	return emogi_communities_value(rate, weight, all->parts[c].total);
}

/*
 * Keep the communities in the tally that may be joined and are likely enough beside the best;
 * returns the best gain, at least 0, the gain of staying alone.
 */
static double
find_candidates(const Refining *refining, EmogiCommunityWeights *tally, double rate, int64_t whole)
{
	const EmogiCommunities *all = refining->all;
	const double range = EMOGI_COMMUNITIES_RANDOM_RANGE * all->gains.theta;
	uint64_t	count = 0;
	double		max = 0.0;

	for (uint64_t t = 0; t < tally->ntouched; t++)
	{
		const uint32_t c = tally->touched[t];
		const double gain = gain_of(refining, rate, tally->weight[c], c);

		if (gain < 0.0 || gain < max - range ||
			!emogi_communities_well_connected(&all->gains, all->parts[c].total, all->parts[c].cut,
											  whole))
		{
			tally->weight[c] = 0;
			continue;
		}
		tally->touched[count++] = c;
		max = gain > max ? gain : max;
	}
	tally->ntouched = count;
	return max;
}

/* Choose the community that a node joins; its own number = none. */
static uint32_t
choose(const Refining *refining, EmogiCommunityWeights *tally, uint32_t i, int64_t *weight)
{
	const EmogiCommunities *all = refining->all;
	const uint64_t salt = emogi_communities_random(refining->salt, i);
	const double rate = emogi_communities_rate(&all->gains, refining->level->strength[i]);
	EmogiBestCommunity	best = {.value = -(double) INFINITY, .community = EMOGI_NO_VERTEX};
	double		min;

	tally_inside(refining, tally, i);
	min = find_candidates(refining, tally, rate, all->communities[all->community[i]].total);
	min -= EMOGI_COMMUNITIES_RANDOM_RANGE * all->gains.theta;
	if (tally->ntouched == 1 && min > 0.0)
		best = (EmogiBestCommunity) {0.0, tally->touched[0], tally->weight[tally->touched[0]]};
	else
	{
		for (uint64_t t = 0; t < tally->ntouched; t++)
		{
			const uint32_t c = tally->touched[t];
			const double gain = emogi_communities_value(rate, tally->weight[c],
														all->parts[c].total);

			if (gain >= min)
				emogi_communities_offer_randomly(&best, &all->gains, salt, gain, c,
												 tally->weight[c]);
		}
		if (min <= 0.0)
			emogi_communities_offer_randomly(&best, &all->gains, salt, 0.0, i, 0);
	}
	emogi_tally_clear(tally);
	*weight = best.weight;
	return best.community;
}

/*
 * Prefetch the data of the nodes after place i of the order, before `end`, as communities_choose.c
 * does.
 */
static inline __attribute__((always_inline)) void
fetch_ahead(const Refining *refining, const EmogiCommunityWeights *tally, uint64_t i, uint64_t end)
{
	const EmogiCommunities *all = refining->all;
	const EmogiLevel *level = refining->level;

	if (i + 3 * PREFETCH_DISTANCE < end)
	{
		const uint32_t v = all->order[i + 3 * PREFETCH_DISTANCE];

		__builtin_prefetch(&level->first[v]);
		__builtin_prefetch(&level->end[v]);
		__builtin_prefetch(&level->strength[v]);
		__builtin_prefetch(&all->community[v]);
		__builtin_prefetch(&all->parts[v]);
	}
	if (i + 2 * PREFETCH_DISTANCE < end)
		emogi_level_fetch(level, level->first[all->order[i + 2 * PREFETCH_DISTANCE]]);
	if (i + PREFETCH_DISTANCE < end)
	{
		const uint32_t v = all->order[i + PREFETCH_DISTANCE];
		const uint64_t stop = emogi_cpu_run_chunk_end(level->first[v], FETCHED_ENTRIES,
													  level->end[v]);

		for (uint64_t e = level->first[v]; e < stop; e++)
		{
			__builtin_prefetch(&all->community[level->targets[e]]);
			__builtin_prefetch(&all->refined[level->targets[e]]);
		}
	}
	if (i + PREFETCH_DISTANCE / 2 < end)
	{
		const uint32_t v = all->order[i + PREFETCH_DISTANCE / 2];
		const uint64_t stop = emogi_cpu_run_chunk_end(level->first[v], FETCHED_ENTRIES,
													  level->end[v]);

		for (uint64_t e = level->first[v]; e < stop; e++)
		{
			const uint32_t c = all->refined[level->targets[e]];

			__builtin_prefetch(&tally->weight[c]);
			__builtin_prefetch(&all->batch[c]);
			__builtin_prefetch(&all->parts[c]);
		}
	}
}

/* Choose a community for each node of a batch that is alone. */
static void
choose_all(void *arg, int thread, int nthreads)
{
	Refining   *refining = arg;
	EmogiCommunities *all = refining->all;
	const uint64_t count = refining->end - refining->first;
	uint64_t	nscanned = 0;
	uint64_t	at;

	while (!emogi_job_stopped(&all->run.job) &&
		   (at = emogi_job_claim(&all->run.next, NODE_CHUNK)) < count)
	{
		const uint64_t end = refining->first + emogi_cpu_run_chunk_end(at, NODE_CHUNK, count);

		for (at += refining->first; at < end; at++)
		{
			const uint32_t i = all->order[at];
			int64_t		weight;
			uint32_t	to;
			uint64_t	m;

			fetch_ahead(refining, &all->tallies[thread], at, refining->end);
			if (all->parts[i].size > 1)
				continue;
			nscanned += refining->level->end[i] - refining->level->first[i];
			to = choose(refining, &all->tallies[thread], i, &weight);
			if (to == i)
				continue;
			m = emogi_job_claim(&refining->nmovers, 1);
			all->movers[m] = i;
			all->chosen[m] = to;
			all->difference[m] = weight;
			__atomic_fetch_add(&all->parts[to].into, refining->level->strength[i],
							   __ATOMIC_RELAXED);
		}
	}
	__atomic_fetch_add(&all->nscanned, nscanned, __ATOMIC_RELAXED);
}

/* Decide which nodes may join the community they chose, and record it. */
static void
check_all(void *arg, int thread, int nthreads)
{
	Refining   *refining = arg;
	EmogiCommunities *all = refining->all;

	for (uint64_t m, end; emogi_cpu_run_take(&all->run, NODE_CHUNK, refining->nmovers, &m, &end);)
		for (; m < end; m++)
		{
			const uint32_t i = all->movers[m];
			const uint32_t to = all->chosen[m];
			const int64_t strength = refining->level->strength[i];

			if (emogi_communities_value(emogi_communities_rate(&all->gains, strength),
										all->difference[m],
										all->parts[to].total + all->parts[to].into - strength) >=
				0.0)
				all->refined[i] = to;
		}
}

/* Get the weight from a node to those that join its community in the same batch. */
static int64_t
weigh_joined(const Refining *refining, uint32_t i)
{
	const EmogiCommunities *all = refining->all;
	const EmogiLevel *level = refining->level;
	const uint32_t to = all->refined[i];
	int64_t		weight = 0;

	for (uint64_t e = level->first[i]; e < level->end[i]; e++)
	{
		const uint32_t j = level->targets[e];

		if (all->batch[j] == refining->batch && j != i && j != to && all->refined[j] == to &&
			all->parts[j].size == 1)
			weight += emogi_level_weight(level->weights, level->units, e);
	}
	return weight;
}

/* Add the joining nodes to their communities. */
static void
join_all(void *arg, int thread, int nthreads)
{
	Refining   *refining = arg;
	EmogiCommunities *all = refining->all;

	for (uint64_t m, end; emogi_cpu_run_take(&all->run, NODE_CHUNK, refining->nmovers, &m, &end);)
		for (; m < end; m++)
		{
			const uint32_t i = all->movers[m];
			const uint32_t to = all->chosen[m];

			__atomic_store_n(&all->parts[to].into, 0, __ATOMIC_RELAXED);
			if (all->refined[i] != to)
				continue;
			__atomic_fetch_add(&all->parts[to].total, refining->level->strength[i],
							   __ATOMIC_RELAXED);
			__atomic_fetch_add(&all->parts[to].cut,
							   all->node_cut[i] - 2 * all->difference[m] -
							   weigh_joined(refining, i), __ATOMIC_RELAXED);
			__atomic_fetch_add(&all->parts[to].size, 1, __ATOMIC_RELAXED);
		}
}

/* Process a batch; false if the job has stopped. nlisted: about the number of its edges. */
static bool
refine_batch(Refining *refining, uint64_t nlisted)
{
	EmogiCommunities *all = refining->all;
	const bool	serial = nlisted + refining->end - refining->first < SERIAL_EDGES;

	refining->nmovers = 0;
	return emogi_cpu_run_step(&all->run, choose_all, refining, serial) &&
		emogi_cpu_run_step(&all->run, check_all, refining, refining->nmovers < NODE_CHUNK) &&
		emogi_cpu_run_step(&all->run, join_all, refining, serial ||
						   refining->nmovers < NODE_CHUNK);
}

void
emogi_communities_refine(EmogiCommunities *all, const EmogiLevel *level, uint64_t salt)
{
	Refining	refining = {.all = all, .level = level, .salt = salt};
	uint64_t	nlisted;
	uint64_t	count;
	uint32_t	nbatches;

	if (!emogi_cpu_run_step(&all->run, begin_nodes, &refining, emogi_level_is_small(level)))
		return;
	count = emogi_communities_order(all, level, salt, 0, &nlisted);
	nbatches = emogi_communities_nbatches(&all->gains, count, 0);
	for (uint32_t b = 0; b < nbatches; b++)
	{
		refining.batch = (uint16_t) b;
		refining.end = all->starts[b + 1];
		if (!refine_batch(&refining, nlisted / nbatches))
			return;
		refining.first = refining.end;
	}
}

/*
 * Number the connected component of a node within its community by the node. Returns early if the
 * job has stopped.
 */
static void
flood_component(EmogiCommunities *all, const EmogiLevel *level, uint32_t from)
{
	uint64_t	height = 1;
	uint64_t	nscanned = 0;

	all->refined[from] = from;
	all->order[0] = from;
	while (height > 0)
	{
		const uint32_t i = all->order[--height];

		for (uint64_t e = level->first[i]; e < level->end[i]; e++)
		{
			const uint32_t j = level->targets[e];

			if (++nscanned % EDGES_PER_POLL == 0 && emogi_job_stopped(&all->run.job))
				return;
			if (all->refined[j] != EMOGI_NO_VERTEX || all->community[j] != all->community[i] ||
				(emogi_level_weight(level->weights, level->units, e) == 0))
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
		flood_component(all, level, (uint32_t) i);
		nparts++;
	}
	return nparts;
}
