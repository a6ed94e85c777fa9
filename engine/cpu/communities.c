/*
 * communities.c: hierarchical community detection by Louvain [1] and Leiden [2]; the references are
 * in communities.h.
 *
 * Two columns encode the hierarchy (contract/hierarchy.h). A community is identified by its
 * smallest vertex. heads[v] is the number of levels, from the finest, on which v is the smallest
 * vertex of its community; joins[v] is the smallest vertex of v's community on the level after
 * these, or v itself if there is none. result->nlevels is the number of levels.
 *
 * Louvain: a level is the result of local moving on the graph of the communities of the level
 * before. The last level is reached when each node is alone and no move gains more than the
 * tolerance.
 *
 * Leiden: nodes are moved, and the resulting communities are refined. The refined communities are
 * the nodes of the next level, which starts with them in the communities of the moved nodes. The
 * last level is reached when each node is alone. So the levels are the refined communities, all of
 * them connected, and no two of the last level gain by merging. The whole is run twice, the second
 * time starting from the last communities.
 *
 * With max_cluster_size, the communities of Leiden are the last level, and each community with more
 * vertices is recursively divided by Leiden as a graph of its own, as graspologic's
 * hierarchical_leiden does.
 */
#include "cpu_algorithms.h"
#include "communities.h"

#include <string.h>

/* ---- the hierarchy ---- */

/* Make each vertex a community of its own, on no level. */
static void
begin_hierarchy(EmogiCommunities *all, const EmogiLevel *first)
{
	for (uint64_t i = 0; i < first->nnodes; i++)
	{
		all->joins[first->name[i]] = first->name[i];
		all->heads[first->name[i]] = 0;
	}
}

/* Record a level: the renumbered partition all->number of the nodes of the level before. */
static void
record_level(EmogiCommunities *all, const EmogiLevel *level, uint32_t nbefore)
{
	uint32_t   *name = all->movers;
	uint32_t	count = 0;

	for (uint64_t i = 0; i < level->nnodes; i++)
	{
		const uint32_t c = all->number[i];

		if (c == count)
		{
			name[count++] = level->name[i];
			all->heads[level->name[i]] = (int32_t) nbefore + 1;
		}
		all->joins[level->name[i]] = name[c];
	}
}

/* Record a level with each node alone. */
static void
record_singletons(EmogiCommunities *all, const EmogiLevel *level)
{
	for (uint64_t i = 0; i < level->nnodes; i++)
		all->number[i] = (uint32_t) i;
	record_level(all, level, 0);
}

/* Fill a partition of the nodes of the first level with the communities of the last one. */
static void
read_last_level(const EmogiCommunities *all, const EmogiLevel *first, uint32_t *partition)
{
	for (uint64_t i = 0; i < first->nnodes; i++)
	{
		const uint32_t v = first->name[i];
		const uint32_t head = all->joins[v];

		partition[i] = head == v ? (uint32_t) i
			: partition[all->place == NULL ? head : all->place[head]];
	}
}

/* ---- levels ---- */

/* Put each node into a community of its own. */
static void
begin_singletons(EmogiCommunities *all, uint64_t nnodes)
{
	for (uint64_t i = 0; i < nnodes; i++)
		all->community[i] = (uint32_t) i;
}

/* Make the level whose nodes are the communities of all->number. */
static void
climb(EmogiCommunities *all, EmogiLevel *level, uint32_t nlevels, uint64_t ncommunities)
{
	EmogiLevel	next;

	emogi_communities_aggregate(all, level, all->number, ncommunities, &all->rooms[nlevels % 2],
								&next);
	*level = next;
}

/* Check whether the level after nlevels is the last that the query asks for. */
static bool
is_last(int64_t max_levels, uint32_t nlevels)
{
	return max_levels > 0 && nlevels + 1 >= max_levels;
}

/* Compute all levels by Louvain; returns their number. */
static uint32_t
run_louvain(EmogiCommunities *all, const EmogiLevel *first, int64_t max_levels)
{
	EmogiLevel	level = *first;
	uint32_t	nlevels = 0;

	begin_hierarchy(all, first);
	for (;;)
	{
		const bool	last = is_last(max_levels, nlevels);
		uint64_t	ncommunities;

		begin_singletons(all, level.nnodes);
		ncommunities = emogi_communities_move(all, &level, last,
											  emogi_communities_random(all->seed, nlevels));
		if (emogi_job_stopped(&all->run.job) || (ncommunities == level.nnodes && nlevels > 0))
			return nlevels;
		memcpy(all->number, all->community, level.nnodes * sizeof *all->number);
		emogi_communities_renumber(all, all->number, level.nnodes);
		record_level(all, &level, nlevels++);
		if (last || ncommunities == level.nnodes)
			return nlevels;
		climb(all, &level, nlevels, ncommunities);
		all->run.job.control->level = nlevels;
	}
}

/*
 * Move the nodes of the last requested level until communities are connected and no node gains by a
 * move. Fills all->refined.
 */
static void
finish_level(EmogiCommunities *all, const EmogiLevel *level, uint64_t ncommunities, uint64_t salt)
{
	while (emogi_communities_split(all, level) != ncommunities && !emogi_job_stopped(&all->run.job))
	{
		memcpy(all->community, all->refined, level->nnodes * sizeof *all->community);
		ncommunities = emogi_communities_move(all, level, true, ++salt);
	}
}

/* Start the nodes of the next level in the communities that their nodes were moved to. */
static void
keep_communities(EmogiCommunities *all, uint64_t nnodes, uint64_t nnext)
{
	uint32_t   *home = all->movers;
	uint64_t	next = 0;

	memset(home, 0xFF, nnodes * sizeof *home);
	for (uint64_t i = 0; next < nnext; i++)
	{
		const uint32_t c = all->community[i];

		if (all->number[i] != next)
			continue;
		if (home[c] == EMOGI_NO_VERTEX)
			home[c] = (uint32_t) next;
		all->community[next++] = home[c];
	}
}

/*
 * Refine a level's communities into all->number; returns their number. If the refinement leaves
 * each node alone, use the connected components of the communities instead.
 */
static uint64_t
refine_level(EmogiCommunities *all, const EmogiLevel *level, uint64_t ncommunities, bool last,
			 uint64_t salt)
{
	if (last)
		finish_level(all, level, ncommunities, salt);
	else
		emogi_communities_refine(all, level, salt);
	ncommunities = level->nnodes;
	for (int tries = 0; tries < 2 && ncommunities == level->nnodes &&
		 !emogi_job_stopped(&all->run.job); tries++)
	{
		if (tries > 0)
			emogi_communities_split(all, level);
		memcpy(all->number, all->refined, level->nnodes * sizeof *all->number);
		ncommunities = emogi_communities_renumber(all, all->number, level->nnodes);
	}
	return ncommunities;
}

/*
 * Compute all levels by Leiden, starting from the partition all->community; returns their number.
 */
static uint32_t
run_leiden_once(EmogiCommunities *all, const EmogiLevel *first, int64_t max_levels, uint64_t seed)
{
	EmogiLevel	level = *first;
	uint32_t	nlevels = 0;

	begin_hierarchy(all, first);
	for (;;)
	{
		const bool	last = is_last(max_levels, nlevels);
		const uint64_t salt = emogi_communities_random(seed, nlevels);
		uint64_t	ncommunities = emogi_communities_move(all, &level, last, salt);

		if (!emogi_job_stopped(&all->run.job) && ncommunities < level.nnodes)
			ncommunities = refine_level(all, &level, ncommunities, last,
										emogi_communities_random(salt, 1));
		if (emogi_job_stopped(&all->run.job))
			return nlevels;
		if (ncommunities == level.nnodes)
			break;
		record_level(all, &level, nlevels++);
		if (last)
			return nlevels;
		keep_communities(all, level.nnodes, ncommunities);
		climb(all, &level, nlevels, ncommunities);
		all->run.job.control->level = nlevels;
	}
	if (nlevels == 0)
		record_singletons(all, &level);
	return nlevels > 0 ? nlevels : 1;
}

/* Compute all levels by Leiden, EMOGI_COMMUNITIES_ITERATIONS times. */
static uint32_t
run_leiden(EmogiCommunities *all, const EmogiLevel *first, int64_t max_levels, uint64_t seed)
{
	uint32_t	nlevels = 0;

	begin_singletons(all, first->nnodes);
	for (uint64_t i = 0; i < EMOGI_COMMUNITIES_ITERATIONS && !emogi_job_stopped(&all->run.job); i++)
	{
		if (i > 0)
			read_last_level(all, first, all->community);
		nlevels = run_leiden_once(all, first, max_levels, emogi_communities_random(seed, i));
	}
	return nlevels;
}

uint32_t
emogi_communities_leiden(EmogiCommunities *all, const EmogiLevel *first, int64_t max_levels,
						 uint64_t seed)
{
	int64_t		whole = 0;

	for (uint64_t i = 0; i < first->nnodes; i++)
		whole += first->strength[i];
	emogi_communities_set_total_weight(all, whole);
	return run_leiden(all, first, max_levels, seed);
}

/* ---- memory ---- */

/* Carve an array from a block. If block is NULL, only add up the bytes. */
static void *
carve(char *block, size_t *at, uint64_t count, size_t element_bytes)
{
	const size_t begin = *at;

	*at += (count * element_bytes / EMOGI_LINE_BYTES + 1) * EMOGI_LINE_BYTES;
	return block == NULL ? NULL : block + begin;
}

/* Carve the arrays that have one element per vertex; returns their bytes. */
static size_t
carve_vertices(EmogiCommunities *all, EmogiLevelBuffer *first, char *block, uint64_t n)
{
	uint32_t  **const numbers[] = {&all->community, &all->refined, &all->number, &all->order,
		&all->chosen, &all->movers, &all->rooms[0].name, &all->rooms[1].name, &first->name};
	int64_t   **const sums[] = {&all->difference, &all->node_cut, &all->rooms[0].strength,
		&all->rooms[1].strength, &first->strength};
	uint64_t  **const places[] = {&all->starts, &all->rooms[0].first, &all->rooms[0].end,
		&all->rooms[1].first, &all->rooms[1].end};
	size_t		at = 0;

	all->communities = carve(block, &at, n, sizeof *all->communities);
	all->traffic = carve(block, &at, n, sizeof *all->traffic);
	all->parts = carve(block, &at, n, sizeof *all->parts);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		*numbers[i] = carve(block, &at, n, sizeof(uint32_t));
	for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
		*sums[i] = carve(block, &at, n, sizeof(int64_t));
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		*places[i] = carve(block, &at, n + 2, sizeof(uint64_t));
	all->batch = carve(block, &at, n, sizeof *all->batch);
	all->open = carve(block, &at, n, 1);
	return at;
}

/* Carve the arrays of the threads; returns their bytes. */
static size_t
carve_tallies(EmogiCommunities *all, char *block, uint64_t n, int nthreads)
{
	size_t		at = 0;
	EmogiCommunityWeights *tallies = carve(block, &at, (uint64_t) nthreads, sizeof *tallies);

	for (int t = 0; t < nthreads; t++)
	{
		int64_t    *weight = carve(block, &at, n, sizeof *weight);
		uint32_t   *touched = carve(block, &at, n + 1, sizeof *touched);

		if (tallies != NULL)
			tallies[t] = (EmogiCommunityWeights) {.weight = weight, .touched = touched};
	}
	all->tallies = tallies;
	all->counts = carve(block, &at, (uint64_t) nthreads * EMOGI_COMMUNITIES_MAX_BATCHES + 1,
						sizeof *all->counts);
	return at;
}

/* Carve the adjacency lists of levels; returns their bytes. */
static size_t
carve_lists(EmogiCommunities *all, EmogiLevelBuffer *first, char *block, uint64_t nentries,
			bool needs_units)
{
	size_t		at = 0;

	for (int i = 0; i < 2; i++)
	{
		all->rooms[i].targets = carve(block, &at, nentries, sizeof(uint32_t));
		all->rooms[i].weights = carve(block, &at, nentries, sizeof(int64_t));
	}
	if (needs_units)
		first->weights = carve(block, &at, nentries, sizeof(int64_t));
	return at;
}

/* Allocate all scratch memory; false, with the job failed, if out of memory. */
static bool
allocate_scratch(EmogiCommunities *all, const EmogiGraph *graph, EmogiLevelBuffer *first)
{
	const uint64_t n = graph->nvertices;
	const uint64_t m = graph->forward.nedges;
	const bool	needs_units = emogi_communities_need_units(graph);
	const int	nthreads = emogi_pool_size(all->run.pool);
	char	   *vertices = emogi_cpu_run_borrow(&all->run, carve_vertices(all, first, NULL, n), 1);
	char	   *tallies = vertices == NULL ? NULL
		: emogi_cpu_run_scratch(&all->run, carve_tallies(all, NULL, n, nthreads), 1);
	char	   *lists = tallies == NULL ? NULL
		: emogi_cpu_run_borrow(&all->run, carve_lists(all, first, NULL, m, needs_units), 1);

	if (lists == NULL)
		return false;
	carve_vertices(all, first, vertices, n);
	carve_tallies(all, tallies, n, nthreads);
	carve_lists(all, first, lists, m, needs_units);
	return true;
}

/* ---- the algorithms ---- */

/* Begin a run; false if the job has stopped. */
static bool
begin_run(EmogiCommunities *all, const EmogiGraph *graph, const EmogiQuery *query,
		  EmogiLevel *first)
{
	const bool	is_louvain = query->algorithm == EMOGI_LOUVAIN;
	EmogiLevelBuffer room = {.weights = NULL};

	all->gains.resolution = query->resolution;
	all->gains.theta = query->theta;
	all->gains.enough = is_louvain ? EMOGI_LOUVAIN_ENOUGH : EMOGI_LEIDEN_ENOUGH;
	all->gains.batches = is_louvain ? EMOGI_LOUVAIN_BATCHES : EMOGI_COMMUNITIES_BATCHES;
	all->tolerance = is_louvain ? query->tolerance : 0.0;
	all->seed = query->seed;
	all->heads = all->run.result->columns[0].int32;
	all->joins = all->run.result->columns[1].vertex;
	return graph->nvertices > 0 && allocate_scratch(all, graph, &room) &&
		emogi_communities_begin(all, graph, &room, first);
}

/* End a run. */
static EmogiStatus
end_run(EmogiCommunities *all, const EmogiGraph *graph, uint32_t nlevels)
{
	all->run.result->nreached = graph->nvertices;
	all->run.result->nlevels = nlevels;
	all->run.result->edges_traversed = all->nscanned;
	return emogi_cpu_run_end(&all->run);
}

EmogiStatus
emogi_cpu_louvain(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	EmogiCommunities all = {.seed = 0};
	EmogiLevel	first;
	uint32_t	nlevels = 0;

	emogi_cpu_run_begin(&all.run, pool, graph, 0, result, control, error, "communities");
	if (begin_run(&all, graph, query, &first))
		nlevels = run_louvain(&all, &first, query->max_levels);
	return end_run(&all, graph, nlevels);
}

EmogiStatus
emogi_cpu_leiden(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	EmogiCommunities all = {.seed = 0};
	const bool	divides = query->max_cluster_size > 0;
	EmogiLevel	first;
	uint32_t	nlevels = 0;

	emogi_cpu_run_begin(&all.run, pool, graph, 0, result, control, error, "communities");
	if (begin_run(&all, graph, query, &first))
	{
		nlevels = run_leiden(&all, &first, divides ? 0 : query->max_levels, all.seed);
		if (divides && !emogi_job_stopped(&all.run.job))
			nlevels = emogi_communities_divide(&all, &first, (uint64_t) query->max_cluster_size,
											   query->max_levels);
	}
	return end_run(&all, graph, nlevels);
}
