/*
 * communities.h: what the steps of community detection share: a graph of one level, partitions of its nodes, scratch memory.
 *
 * communities.c leads; communities_move.c moves nodes to better communities, communities_refine.c takes communities apart into well connected
 * ones [2], communities_aggregate.c makes the graph of the next level, communities_divide.c divides what has too many vertices. A node of the
 * first level is a vertex, of a later one a community of the level before.
 * A partition is an array [nnodes]: the community of each node, which goes by the number of some node.
 *
 * Modularity with resolution g is the sum over all communities of (in / 2m - g (K / 2m)^2): in the weight of the entries from the
 * community to itself, a loop counted twice, K the strength of its nodes, 2m that of all. Gains are told as sums of weights: a move that
 * gains x makes modularity larger by 2x / 2m.
 *
 * Answers are the same bits for any number of threads: what threads do at the same time does not look at each other's work, and sums are
 * made in a fixed order. Random numbers are hashes of the seed and a counter.
 *
 * [1] V. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre. Fast Unfolding of Communities in Large Networks. J. Stat. Mech. P10008, 2008.
 * [2] V. Traag, L. Waltman, N. J. van Eck. From Louvain to Leiden: Guaranteeing Well-connected Communities. Scientific Reports 9:5233, 2019.
 * [3] S. Sahu. GVE-Louvain: Fast Louvain Algorithm for Community Detection in Shared Memory Setting. arXiv:2312.04876, 2023; GVE-Leiden,
 *     arXiv:2312.13936.
 */
#ifndef EMOGI_CPU_COMMUNITIES_H
#define EMOGI_CPU_COMMUNITIES_H

#include "run.h"

/* A graph with fewer nodes and entries is one thread's. */
#define EMOGI_SMALL_LEVEL 32768

/* The graph of one level: symmetric lists. Of the first level they are the Graph's, later ones have no loops and no repeats. */
typedef struct EmogiLevel
{
	uint64_t	nnodes;
	uint64_t	nentries;		/* list entries */
	const uint64_t *first;		/* [nnodes]: entries first[i] .. end[i] - 1 are those of node i */
	const uint64_t *end;		/* [nnodes] */
	const uint32_t *targets;	/* [entries] */
	const double *weights;		/* [entries]; NULL = each weighs 1 */
	const double *strength;		/* [nnodes]: sum of a node's weights, loops and what lies inside counted twice */
	const uint32_t *name;		/* [nnodes]: smallest vertex, ascending */
} EmogiLevel;

/* Room for a level that is made. */
typedef struct EmogiLevelRoom
{
	uint64_t   *first;			/* [nnodes] */
	uint64_t   *end;			/* [nnodes] */
	double	   *strength;		/* [nnodes] */
	uint32_t   *name;			/* [nnodes] */
	uint32_t   *targets;		/* [entries of the level before] */
	double	   *weights;		/* likewise */
} EmogiLevelRoom;

/* Weights by community, as one thread adds them up: hash-free [3, section 4.1.9]. */
typedef struct EmogiTally
{
	double	   *weight;			/* [nvertices], 0 between uses */
	uint32_t   *touched;		/* [nvertices + 1]: communities with a weight */
	uint64_t	ntouched;
} EmogiTally;

/* One run. The arrays serve all levels, one after the other. */
typedef struct EmogiCommunities
{
	EmogiCpuRun run;
	double		resolution;
	double		theta;			/* of the refinement's random choice; 0 = the best always */
	double		tolerance;		/* of modularity */
	uint64_t	seed;
	double		whole;			/* 2m, of the graph that is looked at; 1 where that is 0 */
	double		least_gain;		/* as a sum of weights: what the last level may leave */
	double		gained;			/* likewise: by all moves so far */
	EmogiTally *tallies;		/* [nthreads] */
	EmogiLevelRoom rooms[2];	/* levels are made in them by turns */

	/* partitions: [nvertices] each */
	uint32_t   *community;		/* of nodes, that are moved */
	uint32_t   *refined;		/* within these */
	uint32_t   *number;			/* a node's new number, or any scratch */

	/* communities_move.c; [nvertices] each */
	double	   *total;			/* strength of a community */
	uint32_t   *size;			/* nodes of a community */
	uint8_t    *open;			/* atomic: the node is to be looked at */
	uint32_t   *order;			/* nodes, batch by batch; members, community by community */
	uint32_t   *chosen;			/* [i]: where order[i] wants to go */
	double	   *difference;		/* [i]: weight to there less weight to where it is */
	uint32_t   *movers;
	uint32_t   *empty;			/* stack of communities without nodes */
	uint64_t	nempty;

	/* communities_refine.c; [nvertices] each, by community of the refinement, or by node */
	double	   *inner_total;	/* strength */
	double	   *inner_cut;		/* weight to the rest of the community that is refined */
	double	   *node_cut;		/* the same of a node */
	uint32_t   *inner_size;

	uint64_t   *starts;			/* [nvertices + 2], of groups in order */

	/* the hierarchy, by vertex */
	uint32_t   *joins;			/* [nvertices] */
	int32_t    *heads;			/* [nvertices] */
	uint32_t   *place;			/* [nvertices]: the node of the first level that a vertex is; NULL = its number */
	uint64_t	looked;			/* list entries; atomic */
} EmogiCommunities;

/* Get a random number of a seed and a counter. */
static inline uint64_t
emogi_communities_random(uint64_t seed, uint64_t counter)
{
	uint64_t	x = seed + counter * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
	return x ^ (x >> 31);
}

/* Get what a node of this strength loses by each unit of strength of the community that it is in. */
static inline double
emogi_communities_rate(const EmogiCommunities *all, double strength)
{
	return all->resolution * (strength / all->whole);
}

/* Add a weight to a community's. Gets the new ntouched, which loops keep in a register. */
static inline uint64_t
emogi_tally_add(const EmogiTally *tally, uint64_t ntouched, uint32_t community, double weight)
{
	const double before = tally->weight[community];

	tally->touched[ntouched] = community;
	tally->weight[community] = before + weight;
	return ntouched + ((before == 0.0) & (weight > 0.0));	/* no branch: it would be mispredicted */
}

/* Forget what was added up. */
static inline void
emogi_tally_clear(EmogiTally *tally)
{
	for (uint64_t i = 0; i < tally->ntouched; i++)
		tally->weight[tally->touched[i]] = 0.0;
	tally->ntouched = 0;
}

/* Add up the weights from a node to the communities of its neighbours. */
static inline void
emogi_tally_list(EmogiTally *tally, const EmogiLevel *level, const uint32_t *community, uint32_t i)
{
	const EmogiTally own = *tally;
	const uint32_t *targets = level->targets;
	const double *weights = level->weights;
	const uint64_t end = level->end[i];
	uint64_t	ntouched = own.ntouched;

	if (weights == NULL)
	{
		for (uint64_t e = level->first[i]; e < end; e++)
			if (targets[e] != i)
				ntouched = emogi_tally_add(&own, ntouched, community[targets[e]], 1.0);
	}
	else
	{
		for (uint64_t e = level->first[i]; e < end; e++)
			if (targets[e] != i)
				ntouched = emogi_tally_add(&own, ntouched, community[targets[e]], weights[e]);
	}
	tally->ntouched = ntouched;
}

/* Say whether one thread alone is through with a level sooner. */
static inline bool
emogi_level_is_small(const EmogiLevel *level)
{
	return level->nnodes + level->nentries < EMOGI_SMALL_LEVEL;
}

/*
 * Move nodes, from the partition all->community on, for as long as that is worth while; where each node is alone then, or this is the last
 * level, until no node can gain more than least_gain by a move. salt: for the order. Gets the number of communities; the job may have
 * stopped.
 */
extern uint64_t emogi_communities_move(EmogiCommunities *all, const EmogiLevel *level, bool last, uint64_t salt);

/* Fill all->refined from all->community: well connected communities within them. */
extern void emogi_communities_refine(EmogiCommunities *all, const EmogiLevel *level, uint64_t salt);

/* Fill all->refined with the connected parts of all->community; gets their number. */
extern uint64_t emogi_communities_split(EmogiCommunities *all, const EmogiLevel *level);

/* Give the communities of a partition numbers 0, 1, .. in the order of their first nodes, in place; gets how many. */
extern uint64_t emogi_communities_renumber(EmogiCommunities *all, uint32_t *partition, uint64_t nnodes);

/* Group nodes by a partition of numbers below ngroups: all->order, from all->starts[c] on, ascending. */
extern void emogi_communities_group(EmogiCommunities *all, const uint32_t *partition, uint64_t nnodes, uint64_t ngroups);

/* Make the level whose nodes are the communities of a renumbered partition. */
extern void emogi_communities_aggregate(EmogiCommunities *all, const EmogiLevel *level, const uint32_t *partition, uint64_t ncommunities,
										const EmogiLevelRoom *room, EmogiLevel *made);

/*
 * Find all levels of a graph by Leiden, or the first max_levels (0 = all), into all->joins and all->heads of its vertices; gets how many.
 * all->place must tell where in the graph its vertices are.
 */
extern uint32_t emogi_communities_leiden(EmogiCommunities *all, const EmogiLevel *first, int64_t max_levels, uint64_t seed);

/* Divide what has more vertices than max_cluster_size in the hierarchy of a graph; gets the number of levels, max_levels at most (0 = any). */
extern uint32_t emogi_communities_divide(EmogiCommunities *all, const EmogiLevel *first, uint64_t max_cluster_size, int64_t max_levels);

#endif							/* EMOGI_CPU_COMMUNITIES_H */
