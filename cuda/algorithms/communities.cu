/*
 * communities.cu: community hierarchies by Louvain and Leiden.
 *
 * Follows engine/cpu/communities.c step by step and returns the same bits. That file describes the
 * method and how the two result columns encode the hierarchy. The comments of each step give the
 * bytes it reads.
 *
 * Communities are not divided here (max_cluster_size).
 */
#include "cuda/algorithms/communities.cuh"
#include "cuda/placement/placement_internal.cuh"

#define ARRAY_ALIGNMENT 256

/* ---- memory ---- */

/* Carve an array out of a block. block == NULL: only count the bytes. */
template <typename T>
static void
carve(T **array, char *block, uint64_t *at, uint64_t count)
{
	*array = block == NULL ? NULL : (T *) (block + *at);
	*at = round_up(*at + count * sizeof(T), ARRAY_ALIGNMENT);
}

/* Carve a level's memory out of a block. Targets and weights are allocated for each level. */
static void
carve_room(Room *room, char *block, uint64_t *at, uint64_t n, bool has_lists)
{
	if (has_lists)
	{
		carve(&room->first, block, at, n + 2);
		carve(&room->end, block, at, n);
	}
	carve(&room->strength, block, at, n);
	carve(&room->name, block, at, n);
}

/* Carve all arrays out of a block, and get their bytes. */
static uint64_t
carve_arrays(Search *search, char *block, uint64_t n)
{
	Arrays	   *arrays = &search->arrays;
	uint32_t  **const numbers[] = {&arrays->community, &arrays->refined, &arrays->number,
		&arrays->size, &arrays->order, &arrays->chosen, &arrays->inner_size, &arrays->place,
		&arrays->empty, &arrays->joins, (uint32_t **) &arrays->heads};
	long long **const sums[] = {&arrays->total, &arrays->into, &arrays->out_of, &arrays->difference,
		&arrays->inner_total, &arrays->inner_cut, &arrays->node_cut};
	uint64_t	at = 0;

	for (uint32_t **array : numbers)
		carve(array, block, &at, n + 2);
	for (long long **array : sums)
		carve(array, block, &at, n);
	carve(&arrays->starts, block, &at, n + 2);
	carve(&arrays->before, block, &at, n + 2);
	carve(&arrays->tile, block, &at, n / 1024 + 2);
	carve(&arrays->narrow_tile, block, &at, n / 1024 + 2);
	carve(&arrays->batch, block, &at, n);
	carve(&arrays->open, block, &at, n);
	carve(&arrays->counts, block, &at, (uint64_t) NCLASSES * EMOGI_COMMUNITIES_MAX_BATCHES + 1);
	carve(&arrays->sums, block, &at, 1);
	carve_room(&search->first_room, block, &at, n, false);
	carve_room(&search->rooms[0], block, &at, n, true);
	carve_room(&search->rooms[1], block, &at, n, true);
	return at;
}

/*
 * Take the memory, and place the graph: in device memory only if there is room for the levels, too.
 */
static EmogiStatus
take_memory(Search *search, const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error)
{
	Run		   *run = search->run;
	const bool	needs_units = graph->weight_type == EMOGI_WEIGHT_F32 ||
		graph->weight_type == EMOGI_WEIGHT_F64 ||
		(graph->weight_type == EMOGI_WEIGHT_U32 && graph->forward.nedges >= UINT64_C(1) << 29);
	EmogiQuery	asked = *query;
	char	   *block;

	TRY(take_array(&run->memory, &block, carve_arrays(search, NULL, graph->nvertices),
				   "communities", error));
	(void) carve_arrays(search, block, graph->nvertices);
	CUDA_TRY(cudaMemsetAsync(search->arrays.sums, 0, sizeof *search->arrays.sums,
							 run->state->stream));
	if (needs_units && graph->forward.nedges > 0)
		TRY(take_array(&run->memory, &search->first_room.weights, graph->forward.nedges,
					   "weights in units", error));
	if (asked.placement == EMOGI_PLACEMENT_AUTO)
	{
		const uint64_t lists = graph->forward.nedges * (sizeof(uint32_t) + sizeof(long long));
		uint64_t	left;

		TRY(emogi_memory_left(&run->memory, &left, error));
		if (target_bytes(&graph->forward) + weight_bytes(graph, &graph->forward) + lists +
			HEADROOM_BYTES > left)
			asked.placement = EMOGI_PLACEMENT_HOST;
	}
	return emogi_run_place(run, graph, &asked,
						   graph->weight_type == EMOGI_WEIGHT_NONE ? 0 : PLACE_WEIGHTS, NULL, 0,
						   sizeof(Target), error);
}

/* ---- the hierarchy ---- */

/* Put each node into a community of its own. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
alone_kernel(uint32_t *partition, uint64_t nnodes)
{
	for_each(nnodes, [&](uint64_t i) {
		partition[i] = (uint32_t) i;
	});
}

/* Make every vertex its own head, at no level. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hierarchy_begin_kernel(Arrays arrays, uint64_t nvertices)
{
	for_each(nvertices, [&](uint64_t v) {
		arrays.joins[v] = (uint32_t) v;
		arrays.heads[v] = 0;
	});
}

/* Find the smallest vertex of each community. name: all EMOGI_NO_VERTEX. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hierarchy_name_kernel(Level level, const uint32_t *number, uint32_t *name)
{
	for_each(level.nnodes, [&](uint64_t i) {
		if (name[number[i]] > level.name[i])
			atomicMin(&name[number[i]], level.name[i]);
	});
}

/* Record a level in the result columns. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hierarchy_note_kernel(Level level, Arrays arrays, const uint32_t *name, int32_t nbefore)
{
	for_each(level.nnodes, [&](uint64_t i) {
		const uint32_t head = name[arrays.number[i]];

		arrays.joins[level.name[i]] = head;
		if (head == level.name[i])
			arrays.heads[head] = nbefore + 1;
	});
}

/* Get the communities of the last level from the result columns. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
hierarchy_read_kernel(Arrays arrays, uint64_t nvertices)
{
	for_each(nvertices, [&](uint64_t v) {
		uint32_t	head = (uint32_t) v;

		while (arrays.joins[head] != head)
			head = arrays.joins[head];
		arrays.community[v] = head;
	});
}

/* Find the smallest number in each community. arrays.empty: all EMOGI_NO_VERTEX. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
keep_find_kernel(Arrays arrays, uint64_t nnodes)
{
	for_each(nnodes, [&](uint64_t i) {
		if (arrays.empty[arrays.community[i]] > arrays.number[i])
			atomicMin(&arrays.empty[arrays.community[i]], arrays.number[i]);
	});
}

/* Put the new nodes into the communities that their members are in. */
static __global__ void __launch_bounds__(BLOCK_THREADS)
keep_write_kernel(Arrays arrays, uint64_t nnodes)
{
	for_each(nnodes, [&](uint64_t i) {
		arrays.refined[arrays.number[i]] = arrays.empty[arrays.community[i]];
	});
}

/* Copy a partition. */
static EmogiStatus
copy_partition(Search *search, uint32_t *to, const uint32_t *from, uint64_t nnodes,
			   EmogiError *error)
{
	CUDA_TRY(cudaMemcpyAsync(to, from, nnodes * sizeof *to, cudaMemcpyDeviceToDevice,
							 search->run->state->stream));
	return EMOGI_OK;
}

/* Record the level given by arrays.number, and name the nodes of the next level. */
static EmogiStatus
note_level(Search *search, const Level *level, uint32_t nbefore, EmogiError *error)
{
	uint32_t   *name = search->rooms[(nbefore + 1) % 2].name;

	CUDA_TRY(cudaMemsetAsync(name, 0xFF, level->nnodes * sizeof *name, search->run->state->stream));
	LAUNCH_EACH(hierarchy_name_kernel, search, level->nnodes, *level, search->arrays.number, name);
	LAUNCH_EACH(hierarchy_note_kernel, search, level->nnodes, *level, search->arrays, name,
				(int32_t) nbefore);
	return EMOGI_OK;
}

/* Replace the level by the next one, whose nodes are the communities of arrays.number. */
static EmogiStatus
climb(Search *search, Level *level, uint32_t nlevels, uint64_t ncommunities, EmogiError *error)
{
	Level		next;

	TRY(emogi_communities_aggregate_all(search, level, search->arrays.number, ncommunities,
								&search->rooms[nlevels % 2], &next, error));
	*level = next;
	search->run->control->level = nlevels;
	return EMOGI_OK;
}

/* Say whether the level after nlevels levels is the last requested one. */
static bool
is_last(int64_t max_levels, uint32_t nlevels)
{
	return max_levels > 0 && nlevels + 1 >= max_levels;
}

/* ---- Louvain ---- */

static EmogiStatus
run_louvain(Search *search, const Level *first, int64_t max_levels, uint64_t seed,
			uint32_t *nlevels, EmogiError *error)
{
	Level		level = *first;

	*nlevels = 0;
	LAUNCH_EACH(hierarchy_begin_kernel, search, first->nnodes, search->arrays, first->nnodes);
	for (;;)
	{
		const bool	last = is_last(max_levels, *nlevels);
		uint64_t	ncommunities;
		uint64_t	numbered;

		LAUNCH_EACH(alone_kernel, search, level.nnodes, search->arrays.community, level.nnodes);
		TRY(emogi_communities_move_all(search, &level, last,
									   emogi_communities_random(seed, *nlevels), &ncommunities,
									   error));
		if (ncommunities == level.nnodes && *nlevels > 0)
			return EMOGI_OK;
		TRY(copy_partition(search, search->arrays.number, search->arrays.community, level.nnodes,
						   error));
		TRY(emogi_communities_number(search, search->arrays.number, level.nnodes, &numbered,
									 error));
		TRY(note_level(search, &level, (*nlevels)++, error));
		if (last || ncommunities == level.nnodes)
			return EMOGI_OK;
		TRY(climb(search, &level, *nlevels, ncommunities, error));
	}
}

/* ---- Leiden ---- */

/*
 * Move the nodes of the last requested level until communities are connected and no node gains by a
 * move.
 */
static EmogiStatus
finish_level(Search *search, const Level *level, uint64_t ncommunities, uint64_t salt,
			 EmogiError *error)
{
	for (;;)
	{
		uint64_t	nparts;

		TRY(emogi_communities_split_parts(search, level, &nparts, error));
		if (nparts == ncommunities)
			return EMOGI_OK;
		TRY(copy_partition(search, search->arrays.community, search->arrays.refined, level->nnodes,
						   error));
		TRY(emogi_communities_move_all(search, level, true, ++salt, &ncommunities, error));
	}
}

/* Refine a level's communities into arrays.number. *ncommunities: before and after. */
static EmogiStatus
refine_level(Search *search, const Level *level, uint64_t *ncommunities, bool last, uint64_t salt,
			 EmogiError *error)
{
	if (last)
		TRY(finish_level(search, level, *ncommunities, salt, error));
	else
		TRY(emogi_communities_refine_all(search, level, salt, error));
	*ncommunities = level->nnodes;
	for (int tries = 0; tries < 2 && *ncommunities == level->nnodes; tries++)
	{
		uint64_t	nparts;

		if (tries > 0)
			TRY(emogi_communities_split_parts(search, level, &nparts, error));
		TRY(copy_partition(search, search->arrays.number, search->arrays.refined, level->nnodes,
						   error));
		TRY(emogi_communities_number(search, search->arrays.number, level->nnodes, ncommunities,
									 error));
	}
	return EMOGI_OK;
}

/* Let the nodes of the next level start in the communities that their parts were moved to. */
static EmogiStatus
keep_communities(Search *search, uint64_t nnodes, uint64_t nnext, EmogiError *error)
{
	CUDA_TRY(cudaMemsetAsync(search->arrays.empty, 0xFF, nnodes * sizeof *search->arrays.empty,
							 search->run->state->stream));
	LAUNCH_EACH(keep_find_kernel, search, nnodes, search->arrays, nnodes);
	LAUNCH_EACH(keep_write_kernel, search, nnodes, search->arrays, nnodes);
	return copy_partition(search, search->arrays.community, search->arrays.refined, nnext, error);
}

/* Compute all levels once, starting from the partition arrays.community. */
static EmogiStatus
run_leiden_once(Search *search, const Level *first, int64_t max_levels, uint64_t seed,
				uint32_t *nlevels, EmogiError *error)
{
	Level		level = *first;

	*nlevels = 0;
	LAUNCH_EACH(hierarchy_begin_kernel, search, first->nnodes, search->arrays, first->nnodes);
	for (;;)
	{
		const bool	last = is_last(max_levels, *nlevels);
		const uint64_t salt = emogi_communities_random(seed, *nlevels);
		uint64_t	ncommunities;

		TRY(emogi_communities_move_all(search, &level, last, salt, &ncommunities, error));
		if (ncommunities < level.nnodes)
			TRY(refine_level(search, &level, &ncommunities, last, emogi_communities_random(salt, 1),
							 error));
		if (ncommunities == level.nnodes)
			break;
		TRY(note_level(search, &level, (*nlevels)++, error));
		if (last)
			return EMOGI_OK;
		TRY(keep_communities(search, level.nnodes, ncommunities, error));
		TRY(climb(search, &level, *nlevels, ncommunities, error));
	}
	if (*nlevels > 0)
		return EMOGI_OK;
	LAUNCH_EACH(alone_kernel, search, level.nnodes, search->arrays.number, level.nnodes);
	*nlevels = 1;
	return note_level(search, &level, 0, error);
}

static EmogiStatus
run_leiden(Search *search, const Level *first, int64_t max_levels, uint64_t seed, uint32_t *nlevels,
		   EmogiError *error)
{
	LAUNCH_EACH(alone_kernel, search, first->nnodes, search->arrays.community, first->nnodes);
	for (uint64_t i = 0; i < EMOGI_COMMUNITIES_ITERATIONS; i++)
	{
		if (i > 0)
			LAUNCH_EACH(hierarchy_read_kernel, search, first->nnodes, search->arrays,
						first->nnodes);
		TRY(run_leiden_once(search, first, max_levels, emogi_communities_random(seed, i), nlevels,
							error));
	}
	return EMOGI_OK;
}

/* ---- the algorithms ---- */

/* Run Louvain or Leiden. */
static EmogiStatus
find_communities(Search *search, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiResult *result, EmogiError *error)
{
	static const uint32_t width[] = {0, 1, 2, 4, 4, 8};	/* by EmogiWeightType */
	const bool	is_louvain = query->algorithm == EMOGI_LOUVAIN;
	Run		   *run = search->run;
	Level		first;

	search->gains.resolution = query->resolution;
	search->gains.theta = query->theta;
	search->gains.enough = is_louvain ? EMOGI_LOUVAIN_ENOUGH : EMOGI_LEIDEN_ENOUGH;
	search->gains.batches = is_louvain ? EMOGI_LOUVAIN_BATCHES : EMOGI_COMMUNITIES_BATCHES;
	search->tolerance = is_louvain ? query->tolerance : 0.0;
	TRY(take_memory(search, graph, query, error));
	TRY(emogi_run_start_clock(run, error));
	TRY(emogi_communities_first(search, graph, result, &first, error));
	if (is_louvain)
		TRY(run_louvain(search, &first, query->max_levels, query->seed, &result->nlevels, error));
	else
		TRY(run_leiden(search, &first, query->max_levels, query->seed, &result->nlevels, error));
	TRY(emogi_run_stop_clock(run, result, error));
	result->nreached = run->nvertices;
	result->edges_traversed = search->edges_read;
	if (run->graph.placement != EMOGI_PLACEMENT_DEVICE)
		result->link_bytes = round_up(search->edges_read_first *
									  (sizeof(Target) + width[graph->weight_type]),
									  EMOGI_LINE_BYTES);
	TRY(emogi_run_give(run, query, result, 0, search->arrays.heads, error));
	return emogi_run_give(run, query, result, 1, search->arrays.joins, error);
}

EmogiStatus
emogi_cuda_louvain(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				   EmogiError *error)
{
	Search		search;

	search.run = run;
	return find_communities(&search, graph, query, result, error);
}

EmogiStatus
emogi_cuda_leiden(Run *run, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
				  EmogiError *error)
{
	return emogi_cuda_louvain(run, graph, query, result, error);
}

