/*
 * communities_aggregate.c: aggregation: the communities of one level become the nodes of the next
 * (communities.h [1], [3, section 4.1.8]).
 *
 * Adjacency lists are stored in the order in which threads finish them; their positions do not
 * matter.
 */
#include "communities.h"


#define GROUP_CHUNK 16

typedef struct Aggregation
{
	EmogiCommunities *all;
	const EmogiLevel *level;
	const uint32_t *partition;	/* [level->nnodes]: the new node of each node */
	const EmogiLevelBuffer *room;
	uint64_t	nnodes;			/* new nodes */
	uint64_t	nentries;		/* atomic: edges of the new lists */
} Aggregation;

/* Set the strength and name of a new node. */
static void
begin_node(const Aggregation *aggregation, uint64_t c)
{
	const EmogiCommunities *all = aggregation->all;
	const EmogiLevel *level = aggregation->level;
	const EmogiLevelBuffer *room = aggregation->room;
	int64_t		strength = 0;

	for (uint64_t m = all->starts[c]; m < all->starts[c + 1]; m++)
		strength += level->strength[all->order[m]];
	room->strength[c] = strength;
	room->name[c] = level->name[all->order[all->starts[c]]];
}

/* Make the adjacency list of a new node. Returns the number of edges examined. */
static uint64_t
make_list(Aggregation *aggregation, EmogiCommunityWeights *tally, uint64_t c)
{
	const EmogiCommunities *all = aggregation->all;
	const EmogiLevelBuffer *room = aggregation->room;
	uint64_t	nscanned = 0;
	uint64_t	at;

	for (uint64_t m = all->starts[c]; m < all->starts[c + 1]; m++)
	{
		emogi_tally_list(tally, aggregation->level, aggregation->partition, all->order[m]);
		nscanned += aggregation->level->end[all->order[m]] -
			aggregation->level->first[all->order[m]];
		if (m % 1024 == 0 && emogi_job_stopped(&aggregation->all->run.job))
			break;
	}
	at = emogi_job_claim(&aggregation->nentries, tally->ntouched - (tally->weight[c] > 0));
	room->first[c] = at;
	for (uint64_t t = 0; t < tally->ntouched; t++)
	{
		const uint32_t to = tally->touched[t];

		if (to == c)
			continue;
		room->targets[at] = to;
		room->weights[at++] = tally->weight[to];
	}
	room->end[c] = at;
	emogi_tally_clear(tally);
	return nscanned;
}

/* Make the adjacency lists of the new nodes. */
static void
make_lists(void *arg, int thread, int nthreads)
{
	Aggregation *aggregation = arg;
	EmogiCommunities *all = aggregation->all;
	uint64_t	nscanned = 0;

	for (uint64_t c, end;
		 emogi_cpu_run_take(&all->run, GROUP_CHUNK, aggregation->nnodes, &c, &end);)
		for (; c < end; c++)
		{
			begin_node(aggregation, c);
			nscanned += make_list(aggregation, &all->tallies[thread], c);
		}
	__atomic_fetch_add(&all->nscanned, nscanned, __ATOMIC_RELAXED);
}

void
emogi_communities_aggregate(EmogiCommunities *all, const EmogiLevel *level,
							const uint32_t *partition, uint64_t ncommunities,
							const EmogiLevelBuffer *room, EmogiLevel *made)
{
	Aggregation aggregation = {.all = all, .level = level, .partition = partition, .room = room,
		.nnodes = ncommunities};

	emogi_communities_group(all, partition, level->nnodes, ncommunities);
	emogi_cpu_run_step(&all->run, make_lists, &aggregation, emogi_level_is_small(level));
	*made = (EmogiLevel) {.nnodes = ncommunities, .first = room->first, .end = room->end,
		.targets = room->targets,
		.weights = room->weights, .units = EMOGI_UNITS_I64, .strength = room->strength,
		.name = room->name, .nentries = aggregation.nentries};
}
