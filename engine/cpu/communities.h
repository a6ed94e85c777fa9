/*
 * communities.h: what the steps of community detection share: a graph of one level, partitions of
 * its nodes, scratch memory.
 *
 * communities.c leads; communities_begin.c makes the first level, communities_order.c puts nodes in
 * order, communities_choose.c and communities_move.c move nodes to better communities,
 * communities_refine.c takes communities apart into well connected ones [2],
 * communities_aggregate.c makes the graph of the next level, communities_divide.c divides what has
 * too many vertices. A node of the first level is a vertex, of a later one a community of the level
 * before. A partition is an array [nnodes]: the community of each node, which goes by the number of
 * some node.
 *
 * Modularity with resolution g is the sum over all communities of (in / 2m - g (K / 2m)^2): in the
 * weight of the entries from the community to itself, a loop counted twice, K the strength of its
 * nodes, 2m that of all. Gains are told as sums of weights: a move that gains x makes modularity
 * larger by 2x / 2m.
 *
 * Answers are the same bits for any number of threads, and on a GPU: weights are integers, and what
 * threads do at the same time does not look at each other's work (contract/communities.h).
 *
 * [1] V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre. Fast Unfolding of Communities in
 *     Large Networks. J. Stat. Mech. P10008, 2008.
 * [2] V. Traag, L. Waltman, N. J. van Eck. From Louvain to Leiden: Guaranteeing Well-connected
 *     Communities. Scientific Reports 9:5233, 2019.
 * [3] S. Sahu. GVE-Louvain: Fast Louvain Algorithm for Community Detection in Shared Memory
 *     Setting. arXiv:2312.04876, 2023; GVE-Leiden, arXiv:2312.13936.
 */
#ifndef EMOGI_CPU_COMMUNITIES_H
#define EMOGI_CPU_COMMUNITIES_H

#include "cpu/cpu_run.h"

#include "contract/communities.h"

#define EMOGI_NODES_AT_ONCE 4096	/* of steps that look at nodes alone */

/*
 * The graph of one level: symmetric lists. Of the first level they are the Graph's, later ones have
 * no loops and no repeats.
 */
typedef struct EmogiLevel
{
	uint64_t	nnodes;
	uint64_t	nentries;		/* list entries */
	const uint64_t *first;		/* [nnodes]: entries first[i] .. end[i] - 1 are those of node i */
	const uint64_t *end;		/* [nnodes] */
	const uint32_t *targets;	/* [entries] */
	const void *weights;		/* [entries], as `units` says; NULL = each weighs 1 */
	EmogiWeightUnits units;
	const int64_t *strength;	/* [nnodes]: sum of a node's weights, loops and what lies inside
								 * counted twice */
	const uint32_t *name;		/* [nnodes]: smallest vertex, ascending */
} EmogiLevel;

/* Room for a level that is made. */
typedef struct EmogiLevelRoom
{
	uint64_t   *first;			/* [nnodes] */
	uint64_t   *end;			/* [nnodes] */
	int64_t    *strength;		/* [nnodes] */
	uint32_t   *name;			/* [nnodes] */
	uint32_t   *targets;		/* [entries of the level before] */
	int64_t    *weights;		/* likewise */
} EmogiLevelRoom;

/*
 * What is known of a community while nodes are moved. Nodes that choose read it, and none writes it
 * meanwhile.
 */
typedef struct EmogiCommunity
{
	int64_t		total;			/* strength */
	uint32_t	size;			/* nodes */
} EmogiCommunity;

/*
 * The strength of nodes of a batch that want to go to a community, and from it; 0 between batches.
 */
typedef struct EmogiTraffic
{
	int64_t		into;
	int64_t		out_of;
} EmogiTraffic;

/* What is known of a part of one while it is refined. */
typedef struct EmogiPart
{
	int64_t		total;			/* strength */
	int64_t		cut;			/* weight to the rest of the community that is refined; atomic */
	int64_t		into;			/* strength that wants to go there; 0 between batches */
	uint32_t	size;			/* nodes */
} EmogiPart;

/* Weights by community, as one thread adds them up: hash-free [3, section 4.1.9]. */
typedef struct EmogiTally
{
	int64_t    *weight;			/* [nvertices], 0 between uses */
	uint32_t   *touched;		/* [nvertices + 1]: communities with a weight */
	uint64_t	ntouched;
} EmogiTally;

/* One run. The arrays serve all levels, one after the other. */
typedef struct EmogiCommunities
{
	EmogiCpuRun run;
	EmogiGains	gains;			/* of the graph that is looked at; gains.least is that of the
								 * sweep */
	double		tolerance;		/* of modularity */
	uint64_t	seed;
	double		least_gain;		/* in units: what the last level may leave */
	int64_t		gained;			/* by all moves so far, as gains.scale says; atomic */
	EmogiTally *tallies;		/* [nthreads] */
	EmogiLevelRoom rooms[2];	/* levels are made in them by turns */

	/* partitions: [nvertices] each */
	uint32_t   *community;		/* of nodes, that are moved */
	uint32_t   *refined;		/* within these */
	uint32_t   *number;			/* a node's new number, or any scratch */

	/* communities_move.c; [nvertices] each. Elements of one batch are changed atomically */
	EmogiCommunity *communities;
	EmogiTraffic *traffic;		/* of communities */
	uint8_t    *open;			/* the node is to be looked at, or one of communities_move.h's
								 * marks */
	uint32_t   *order;			/* nodes, batch by batch; members, community by community */
	uint32_t   *movers;			/* nodes of a batch that want to go, in any order; or any scratch */
	uint32_t   *chosen;			/* [m]: where movers[m] wants to go */
	int64_t    *difference;		/* [m]: weight to there less weight to where it is */
	uint64_t	nempty;			/* communities without nodes; atomic */

	/* communities_refine.c; [nvertices] each, by community of the refinement, or by node */
	EmogiPart  *parts;
	int64_t    *node_cut;		/* weight from a node to the rest of its community */
	uint16_t   *batch;			/* of a node */

	uint64_t   *starts;			/* [nvertices + 2], of groups in order */
	uint64_t   *counts;			/* [nthreads * MOST_BATCHES], of batches among the nodes of a
								 * thread */

	/* the hierarchy, by vertex */
	uint32_t   *joins;			/* [nvertices] */
	int32_t    *heads;			/* [nvertices] */
	uint32_t   *place;			/* [nvertices]: the node of the first level that a vertex is;
								 * NULL = its number */
	uint64_t	looked;			/* list entries; atomic */
} EmogiCommunities;

/* Add a weight to a community's. Gets the new ntouched, which loops keep in a register. */
static inline uint64_t
emogi_tally_add(const EmogiTally *tally, uint64_t ntouched, uint32_t community, int64_t weight)
{
	const int64_t before = tally->weight[community];

	tally->touched[ntouched] = community;
	tally->weight[community] = before + weight;
	return ntouched + ((before == 0) & (weight > 0));	/* no branch: it would be mispredicted */
}

/* Forget what was added up. */
static inline void
emogi_tally_clear(EmogiTally *tally)
{
	for (uint64_t i = 0; i < tally->ntouched; i++)
		tally->weight[tally->touched[i]] = 0;
	tally->ntouched = 0;
}

/* Get the weight of an entry. */
static inline int64_t
emogi_level_weight(const void *weights, EmogiWeightUnits units, uint64_t e)
{
	switch (units)
	{
		case EMOGI_UNITS_U8:
			return ((const uint8_t *) weights)[e];
		case EMOGI_UNITS_U16:
			return ((const uint16_t *) weights)[e];
		case EMOGI_UNITS_U32:
			return ((const uint32_t *) weights)[e];
		case EMOGI_UNITS_I64:
			return ((const int64_t *) weights)[e];
		case EMOGI_UNITS_ONE:
			break;
	}
	return 1;
}

/* Fetch an entry. */
static inline void
emogi_level_fetch(const EmogiLevel *level, uint64_t e)
{
	static const uint64_t width[] = {[EMOGI_UNITS_U8] = 1, [EMOGI_UNITS_U16] = 2,
		[EMOGI_UNITS_U32] = 4, [EMOGI_UNITS_I64] = 8};

	__builtin_prefetch(&level->targets[e]);
	if (level->units != EMOGI_UNITS_ONE)
		__builtin_prefetch((const char *) level->weights + e * width[level->units]);
}

/* Add up the weights from a node to the communities of its neighbours, in one kind of units. */
static inline __attribute__((always_inline)) void
emogi_tally_list_of(EmogiTally *tally, const EmogiLevel *level, EmogiWeightUnits units,
					const uint32_t *community, uint32_t i)
{
	const EmogiTally own = *tally;
	const uint32_t *targets = level->targets;
	const void *weights = level->weights;
	const uint64_t end = level->end[i];
	uint64_t	ntouched = own.ntouched;

	for (uint64_t e = level->first[i]; e < end; e++)
		if (targets[e] != i)
			ntouched = emogi_tally_add(&own, ntouched, community[targets[e]],
									   emogi_level_weight(weights, units, e));
	tally->ntouched = ntouched;
}

/* Add up the weights from a node to the communities of its neighbours. */
static inline void
emogi_tally_list(EmogiTally *tally, const EmogiLevel *level, const uint32_t *community, uint32_t i)
{
	switch (level->units)
	{
		case EMOGI_UNITS_ONE:
			emogi_tally_list_of(tally, level, EMOGI_UNITS_ONE, community, i);
			return;
		case EMOGI_UNITS_U8:
			emogi_tally_list_of(tally, level, EMOGI_UNITS_U8, community, i);
			return;
		case EMOGI_UNITS_U16:
			emogi_tally_list_of(tally, level, EMOGI_UNITS_U16, community, i);
			return;
		case EMOGI_UNITS_U32:
			emogi_tally_list_of(tally, level, EMOGI_UNITS_U32, community, i);
			return;
		case EMOGI_UNITS_I64:
			emogi_tally_list_of(tally, level, EMOGI_UNITS_I64, community, i);
			return;
	}
}

/* Say whether one thread alone is through with a level sooner. */
static inline bool
emogi_level_is_small(const EmogiLevel *level)
{
	return level->nnodes + level->nentries < EMOGI_COMMUNITIES_SMALL_LEVEL;
}

/* Get the part of so many nodes, or numbers, that a thread has when each has one. */
static inline uint64_t
emogi_communities_share(uint64_t count, int thread, int nthreads)
{
	return count / (uint64_t) nthreads * (uint64_t) thread + count % (uint64_t) nthreads *
		(uint64_t) thread / (uint64_t) nthreads;
}

/* Say whether a step is made by one thread. alone: it had better be. */
static inline bool
emogi_communities_are_alone(const EmogiCommunities *all, bool alone)
{
	return alone || all->run.alone || emogi_pool_size(all->run.pool) == 1;
}

/*
 * Make the first level of a Graph's forward lists; false when the job has stopped. room: strength,
 * name and, for some weights, weights.
 */
extern bool emogi_communities_begin(EmogiCommunities *all, const EmogiGraph *graph,
									const EmogiLevelRoom *room, EmogiLevel *level);

/* Are the weights of a Graph such that a level of them needs room for weights? */
extern bool emogi_communities_need_units(const EmogiGraph *graph);

/* Set what gains are reckoned with for a level whose weights add up to `whole`. */
extern void emogi_communities_set_whole(EmogiCommunities *all, int64_t whole);

/*
 * Put the nodes that are open in order, batch by batch, from all->starts[b] on, and note all->batch
 * of them; gets how many. nlisted: their entries.
 */
extern uint64_t emogi_communities_order(EmogiCommunities *all, const EmogiLevel *level,
										uint64_t salt, uint64_t sweep, uint64_t *nlisted);

/*
 * Move nodes, from the partition all->community on, for as long as that is worth while; where each
 * node is alone then, or this is the last level, until no node can gain more than least_gain by a
 * move. salt: for the order. Gets the number of communities; the job may have stopped.
 */
extern uint64_t emogi_communities_move(EmogiCommunities *all, const EmogiLevel *level, bool last,
									   uint64_t salt);

/* Fill all->refined from all->community: well connected communities within them. */
extern void emogi_communities_refine(EmogiCommunities *all, const EmogiLevel *level, uint64_t salt);

/* Fill all->refined with the connected parts of all->community; gets their number. */
extern uint64_t emogi_communities_split(EmogiCommunities *all, const EmogiLevel *level);

/*
 * Give the communities of a partition numbers 0, 1, .. in the order of their first nodes, in place;
 * gets how many.
 */
extern uint64_t emogi_communities_renumber(EmogiCommunities *all, uint32_t *partition,
										   uint64_t nnodes);

/*
 * Group nodes by a partition of numbers below ngroups: all->order, from all->starts[c] on,
 * ascending.
 */
extern void emogi_communities_group(EmogiCommunities *all, const uint32_t *partition,
									uint64_t nnodes, uint64_t ngroups);

/* Make the level whose nodes are the communities of a renumbered partition. */
extern void emogi_communities_aggregate(EmogiCommunities *all, const EmogiLevel *level,
										const uint32_t *partition, uint64_t ncommunities,
										const EmogiLevelRoom *room, EmogiLevel *made);

/*
 * Find all levels of a graph by Leiden, or the first max_levels (0 = all), into all->joins and
 * all->heads of its vertices; gets how many. all->place must tell where in the graph its vertices
 * are.
 */
extern uint32_t emogi_communities_leiden(EmogiCommunities *all, const EmogiLevel *first,
										 int64_t max_levels, uint64_t seed);

/*
 * Divide what has more vertices than max_cluster_size in the hierarchy of a graph; gets the number
 * of levels, max_levels at most (0 = any).
 */
extern uint32_t emogi_communities_divide(EmogiCommunities *all, const EmogiLevel *first,
										 uint64_t max_cluster_size, int64_t max_levels);

#endif							/* EMOGI_CPU_COMMUNITIES_H */
