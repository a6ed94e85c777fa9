/*
 * communities.h: shared state of community detection: the graph of one level, partitions of its
 * nodes, and scratch memory.
 *
 *   communities.c            Louvain and Leiden, level by level
 *   communities_begin.c      the first level
 *   communities_order.c      sort nodes by batch or by community
 *   communities_choose.c     local moving: choose a community for each node
 *   communities_move.c       local moving: apply the moves
 *   communities_refine.c     split communities into well-connected ones [2]
 *   communities_aggregate.c  the graph of the next level
 *   communities_divide.c     split communities that have too many vertices
 *
 * A node of the first level is a vertex; a node of a later level is a community of the level
 * before. A partition is an array [nnodes] that holds the community of each node; a community is
 * identified by the number of some node.
 *
 * Modularity with resolution g is the sum over all communities of in / 2m - g * (K / 2m)^2, where
 * in is the weight of the edges inside the community (counted in both lists, loops twice), K is the
 * strength of its nodes, and 2m is the strength of all nodes. Gains are kept as sums of weights: a
 * move that gains x increases modularity by 2x / 2m.
 *
 * Results are bit-identical for any number of threads, and on a GPU: weights are integers, and
 * concurrent work does not read each other's results (contract/community_rules.h).
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

#include "contract/community_rules.h"

#define EMOGI_NODE_CHUNK 4096		/* chunk of the steps that read nodes but no edges */

/*
 * The graph of one level: symmetric adjacency lists. The first level uses the graph's own lists;
 * later levels have no loops and no parallel edges.
 */
typedef struct EmogiLevel
{
	uint64_t	nnodes;
	uint64_t	nentries;		/* list entries: an edge between two nodes has two */
	const uint64_t *first;		/* [nnodes]: edges first[i] .. end[i] - 1 are those of node i */
	const uint64_t *end;		/* [nnodes] */
	const uint32_t *targets;	/* [nentries] */
	const void *weights;		/* [nentries], typed by `units`; NULL = each weighs 1 */
	EmogiWeightUnits units;
	const int64_t *strength;	/* [nnodes]: sum of a node's weights, loops and edges inside the
								 * node counted twice */
	const uint32_t *name;		/* [nnodes]: smallest vertex, ascending */
} EmogiLevel;

/* Memory for a level under construction. */
typedef struct EmogiLevelBuffer
{
	uint64_t   *first;			/* [nnodes] */
	uint64_t   *end;			/* [nnodes] */
	int64_t    *strength;		/* [nnodes] */
	uint32_t   *name;			/* [nnodes] */
	uint32_t   *targets;		/* [nentries of the level before] */
	int64_t    *weights;		/* likewise */
} EmogiLevelBuffer;

/*
 * Totals of a community during local moving. Choosing nodes read them; nobody writes them
 * meanwhile.
 */
typedef struct EmogiCommunity
{
	int64_t		total;			/* strength */
	uint32_t	size;			/* nodes */
} EmogiCommunity;

/*
 * The strength of the nodes of a batch that ask to enter or leave a community; 0 between batches.
 */
typedef struct EmogiMoveRequests
{
	int64_t		into;
	int64_t		out_of;
} EmogiMoveRequests;

/* Totals of a refined community. */
typedef struct EmogiRefinedCommunity
{
	int64_t		total;			/* strength */
	int64_t		cut;			/* weight to the rest of the community being refined; atomic */
	int64_t		into;			/* strength of the nodes that ask to join it; 0 between batches */
	uint32_t	size;			/* nodes */
} EmogiRefinedCommunity;

/* Weights by community, summed by one thread; hash-free [3, section 4.1.9]. */
typedef struct EmogiCommunityWeights
{
	int64_t    *weight;			/* [nvertices], 0 between uses */
	uint32_t   *touched;		/* [nvertices + 1]: communities with a weight */
	uint64_t	ntouched;
} EmogiCommunityWeights;

/* One run. The arrays are reused for all levels. */
typedef struct EmogiCommunities
{
	EmogiCpuRun run;
	EmogiGainParameters	gains;	/* of the current graph; gains.min_gain is that of the current
								 * sweep */
	double		tolerance;		/* of modularity */
	uint64_t	seed;
	double		min_gain;		/* in units: the gain that the last level may leave unrealized */
	int64_t		gained;			/* sum over all moves so far, scaled by gains.scale; atomic */
	EmogiCommunityWeights *tallies;	/* [nthreads] */
	EmogiLevelBuffer rooms[2];	/* used alternately for new levels */

	/* partitions, [nvertices] each */
	uint32_t   *community;		/* of nodes, during local moving */
	uint32_t   *refined;		/* the refined communities within these */
	uint32_t   *number;			/* a node's new number, or any scratch */

	/* communities_move.c; [nvertices] each. Elements are changed atomically within a batch */
	EmogiCommunity *communities;
	EmogiMoveRequests *traffic;	/* by community */
	uint8_t    *open;			/* the node is to be processed (EMOGI_MOVING_OPEN), or another
								 * mark of communities_move.h */
	uint32_t   *order;			/* nodes, batch by batch; or members, community by community */
	uint32_t   *movers;			/* nodes of a batch that ask to move, in any order; or scratch */
	uint32_t   *chosen;			/* [m]: the community that movers[m] chose */
	int64_t    *difference;		/* [m]: weight to chosen[m] minus weight to its present community */
	uint64_t	nempty;			/* communities without nodes; atomic */

	/* communities_refine.c; [nvertices] each, by community of the refinement, or by node */
	EmogiRefinedCommunity  *parts;
	int64_t    *node_cut;		/* weight from a node to the rest of its community */
	uint16_t   *batch;			/* of a node */

	uint64_t   *starts;			/* [nvertices + 2], of groups in order */
	uint64_t   *counts;			/* [nthreads * EMOGI_COMMUNITIES_MAX_BATCHES], batch sizes among
								 * each thread's nodes */

	/* the hierarchy, by vertex (communities.c) */
	uint32_t   *joins;			/* [nvertices] */
	int32_t    *heads;			/* [nvertices] */
	uint32_t   *place;			/* [nvertices]: the node of the first level that stands for a
								 * vertex; NULL = same number */
	uint64_t	nscanned;		/* edges examined; atomic */
} EmogiCommunities;

/* Add a weight to a community's sum. Returns the new ntouched, which loops keep in a register. */
static inline uint64_t
emogi_tally_add(const EmogiCommunityWeights *tally, uint64_t ntouched, uint32_t community,
				int64_t weight)
{
	const int64_t before = tally->weight[community];

	tally->touched[ntouched] = community;
	tally->weight[community] = before + weight;
	return ntouched + ((before == 0) & (weight > 0));	/* branch-free, because a branch would be
														 * mispredicted */
}

/* Reset all sums to 0. */
static inline void
emogi_tally_clear(EmogiCommunityWeights *tally)
{
	for (uint64_t i = 0; i < tally->ntouched; i++)
		tally->weight[tally->touched[i]] = 0;
	tally->ntouched = 0;
}

/* Get the weight of an edge, in units. */
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

/* Prefetch an edge. */
static inline void
emogi_level_fetch(const EmogiLevel *level, uint64_t e)
{
	static const uint64_t width[] = {[EMOGI_UNITS_U8] = 1, [EMOGI_UNITS_U16] = 2,
		[EMOGI_UNITS_U32] = 4, [EMOGI_UNITS_I64] = 8};

	__builtin_prefetch(&level->targets[e]);
	if (level->units != EMOGI_UNITS_ONE)
		__builtin_prefetch((const char *) level->weights + e * width[level->units]);
}

/* Sum the weights from a node to the communities of its neighbors, for one type of units. */
static inline __attribute__((always_inline)) void
emogi_tally_list_of(EmogiCommunityWeights *tally, const EmogiLevel *level, EmogiWeightUnits units,
					const uint32_t *community, uint32_t i)
{
	const EmogiCommunityWeights own = *tally;
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

/* Sum the weights from a node to the communities of its neighbors. */
static inline void
emogi_tally_list(EmogiCommunityWeights *tally, const EmogiLevel *level, const uint32_t *community,
				 uint32_t i)
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

/* Check whether one thread finishes a level faster than many. */
static inline bool
emogi_level_is_small(const EmogiLevel *level)
{
	return level->nnodes + level->nentries < EMOGI_COMMUNITIES_SMALL_LEVEL;
}

/* Get the beginning of a thread's share when count elements are divided evenly among threads. */
static inline uint64_t
emogi_communities_share(uint64_t count, int thread, int nthreads)
{
	return count / (uint64_t) nthreads * (uint64_t) thread + count % (uint64_t) nthreads *
		(uint64_t) thread / (uint64_t) nthreads;
}

/* Check whether a step runs in one thread. serial: the caller prefers it. */
static inline bool
emogi_communities_is_serial(const EmogiCommunities *all, bool serial)
{
	return serial || all->run.serial || emogi_pool_size(all->run.pool) == 1;
}

/*
 * Make the first level from a graph's forward lists; false if the job has stopped. room must hold
 * strength and name, and weights if emogi_communities_need_units().
 */
extern bool emogi_communities_begin(EmogiCommunities *all, const EmogiGraph *graph,
									const EmogiLevelBuffer *room, EmogiLevel *level);

/* Check whether the first level of a graph needs memory for weights. */
extern bool emogi_communities_need_units(const EmogiGraph *graph);

/* Set the scale of gains for a level whose weights add up to `whole`. */
extern void emogi_communities_set_total_weight(EmogiCommunities *all, int64_t whole);

/*
 * Sort the open nodes by batch into all->order, batch b beginning at all->starts[b], and set their
 * all->batch; returns their number. nlisted: the number of their edges.
 */
extern uint64_t emogi_communities_order(EmogiCommunities *all, const EmogiLevel *level,
										uint64_t salt, uint64_t sweep, uint64_t *nlisted);

/*
 * Move nodes, starting from the partition all->community, for as long as that pays. If each node is
 * alone afterwards, or this is the last level, continue until no single move gains more than
 * min_gain. salt: seeds the order. Returns the number of communities; the job may have stopped.
 */
extern uint64_t emogi_communities_move(EmogiCommunities *all, const EmogiLevel *level, bool last,
									   uint64_t salt);

/* Fill all->refined with well-connected communities within all->community. */
extern void emogi_communities_refine(EmogiCommunities *all, const EmogiLevel *level, uint64_t salt);

/* Fill all->refined with the connected components of all->community; returns their number. */
extern uint64_t emogi_communities_split(EmogiCommunities *all, const EmogiLevel *level);

/*
 * Renumber the communities of a partition in place to 0, 1, ... in the order of their first nodes;
 * returns their number.
 */
extern uint64_t emogi_communities_renumber(EmogiCommunities *all, uint32_t *partition,
										   uint64_t nnodes);

/*
 * Group nodes by a partition with numbers below ngroups: group c begins at all->order +
 * all->starts[c], its nodes ascending.
 */
extern void emogi_communities_group(EmogiCommunities *all, const uint32_t *partition,
									uint64_t nnodes, uint64_t ngroups);

/* Make the level whose nodes are the communities of a renumbered partition. */
extern void emogi_communities_aggregate(EmogiCommunities *all, const EmogiLevel *level,
										const uint32_t *partition, uint64_t ncommunities,
										const EmogiLevelBuffer *room, EmogiLevel *made);

/*
 * Compute all levels of a graph by Leiden, or the first max_levels (0 = all), into all->joins and
 * all->heads of its vertices; returns their number. all->place must map its vertices to nodes.
 */
extern uint32_t emogi_communities_leiden(EmogiCommunities *all, const EmogiLevel *first,
										 int64_t max_levels, uint64_t seed);

/*
 * Divide the communities with more than max_cluster_size vertices in the hierarchy of a graph;
 * returns the number of levels, at most max_levels (0 = unlimited).
 */
extern uint32_t emogi_communities_divide(EmogiCommunities *all, const EmogiLevel *first,
										 uint64_t max_cluster_size, int64_t max_levels);

#endif							/* EMOGI_CPU_COMMUNITIES_H */
