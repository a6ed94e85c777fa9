/*
 * msbfs.c: multi-source breadth-first search: up to 64 independent searches at a time.
 *
 * Each vertex has a word in which bit s belongs to source s. `seen` holds the sources that have
 * reached the vertex, `front` those that did so in the last level. Examining an edge once serves
 * all sources that stand at its origin [1].
 *
 * A level is made in one of three ways, chosen by the estimated work:
 *
 *   queue  The frontier is a queue. The words of its vertices are pushed along their lists into
 *          `next`; an atomic OR decides which thread reaches a vertex first and appends it.
 *          Only vertices adjacent to the frontier are touched.
 *   sweep  The same with a pass over all vertices instead of queues. From few vertices with
 *          long lists (hubs), `next` is filled strip by strip without atomics.
 *   pull   Each vertex that an active source has not reached ORs the words of its
 *          predecessors, until all bits are set [1, 2]. Needs graph->backward.
 *
 * Long adjacency lists are deferred and processed by all threads together, in pieces.
 *
 * Levels are kept as codes, level + 1, in bit planes: bit s of planes[k][v] is bit k of the code of
 * v for source s. At the end they are transposed to rows by source, 64 x 64 bits at a time, or, if
 * all levels were made from queues and few vertices were reached, converted to lists. If only sums
 * are wanted, there are no planes: the entered words are counted level by level. The result, the
 * counters and the chosen ways depend only on the graph and the arguments.
 *
 * Parameters: PUSH_COST and SWEEP_COST weigh a pushed edge and a vertex of a pass against a pulled
 * edge.
 *
 * [1] M. Then et al. The More the Merrier: Efficient Multi-Source Graph Traversal. PVLDB 8(4),
 *     2014. Sections 3, 4.1.2.
 * [2] S. Beamer, K. Asanovic, D. Patterson. Direction-Optimizing Breadth-First Search. SC 2012.
 *     Section IV.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "msbfs.h"

#include "msbfs_steps.h"
#include "graph/layout.h"

#include <stdio.h>
#include <sys/mman.h>

/* Make the next queue the frontier. */
static void
swap_queues(EmogiMsbfs *search)
{
	uint32_t   *swap = search->queue;

	search->queue = search->next_queue;
	search->next_queue = swap;
	search->count = search->next_count;
	search->next_count = 0;
}

/* Run a step in all threads; false if the job has stopped. */
static bool
run_all(EmogiMsbfs *search, EmogiPoolTask step)
{
	return emogi_cpu_run_step(&search->run, step, search, false);
}

/*
 * Push along the frontier's lists, hubs last, and enter the new vertices; false if the job has
 * stopped.
 */
static bool
push_level(EmogiMsbfs *search)
{
	bool		serial = search->in_queue && search->count < EMOGI_MSBFS_SERIAL_EDGES &&
		search->total.nedges < EMOGI_MSBFS_SERIAL_EDGES;
	EmogiPoolTask walk = search->in_queue ? emogi_msbfs_push_queue :
		search->in_strips ? emogi_msbfs_push_strips : emogi_msbfs_push_all;
	EmogiPoolTask enter = search->in_queue ? emogi_msbfs_enter_queue : emogi_msbfs_enter_all;

	return emogi_cpu_run_step(&search->run, walk, search, serial) &&
		(search->nhubs == 0 || run_all(search, emogi_msbfs_push_hubs)) &&
		emogi_cpu_run_step(&search->run, enter, search, serial);
}

/* Make a level by pulling; false if the job has stopped. */
static bool
pull_level(EmogiMsbfs *search)
{
	if (!run_all(search, emogi_msbfs_pull) ||
		(search->nhubs > 0 && !run_all(search, emogi_msbfs_pull_hubs)))
		return false;
	for (uint64_t h = 0; h < search->nhubs; h++)
	{
		uint32_t	v = search->hubs[h].vertex;

		if (search->next[v] != 0)
			emogi_msbfs_enter(search, v, search->next[v], &search->tally[0]);
		emogi_msbfs_count_open(search, v, &search->tally[0]);
	}
	return true;
}

/* Check whether the lists of the frontier are so long that each has edges into every strip. */
static bool
worth_strips(const EmogiMsbfs *search)
{
	const uint64_t nstrips = (search->nvertices + EMOGI_MSBFS_STRIP - 1) / EMOGI_MSBFS_STRIP;

	return search->total.nedges / search->count / EMOGI_MSBFS_STRIP_ENTRIES >= nstrips;
}

/*
 * Choose the way to make the next level and convert the frontier to its form; false if the job has
 * stopped.
 */
static bool
choose_way(EmogiMsbfs *search, bool *by_pull)
{
	bool		queue = search->total.nedges <= search->queue_room &&
		search->count <= search->queue_room;
	uint64_t	sweep_cost = search->nvertices * EMOGI_MSBFS_SWEEP_COST;
	uint64_t	push_cost = search->total.nedges * EMOGI_MSBFS_PUSH_COST + (queue ? 0 : sweep_cost);
	uint64_t	pull_cost = search->total.open_edges + sweep_cost;

	*by_pull = search->backward.offsets != NULL && pull_cost < push_cost;
	search->only_queues = search->only_queues && queue && !*by_pull;
	search->in_strips = !queue && !*by_pull && search->in_queue && worth_strips(search);
	if (*by_pull)
	{
		search->in_queue = false;
		return true;
	}
	if (search->next_dirty && !run_all(search, emogi_msbfs_clear_next))
		return false;
	search->next_dirty = false;
	if (queue && !search->in_queue)
	{
		if (!run_all(search, emogi_msbfs_collect_queue))
			return false;
		swap_queues(search);
	}
	search->in_queue = queue;
	return true;
}

/* Add up the threads' counters of a level. */
static void
add_up(EmogiMsbfs *search)
{
	const bool	passed = !search->in_queue; /* over all vertices, so that open vertices were
											 * counted */
	EmogiMsbfsTally total = {0};

	if (!passed)
	{
		total.nopen = search->total.nopen;
		total.open_edges = search->total.open_edges;
	}
	for (int t = 0; t < emogi_pool_size(search->run.pool); t++)
	{
		const EmogiMsbfsTally *tally = &search->tally[t];

		total.nvertices += tally->nvertices;
		total.nedges += tally->nedges;
		total.active |= tally->active;
		total.nopen += tally->nopen;
		total.open_edges += tally->open_edges;
		search->result->edges_traversed += tally->nscanned;
	}
	search->total = total;
	if (search->result->wants_sums)
		emogi_msbfs_add_level(search, search->code - 1);
}

/* Reset the threads' counters before a level. */
static void
clear_tallies(EmogiMsbfs *search)
{
	for (int t = 0; t < emogi_pool_size(search->run.pool); t++)
		search->tally[t] = (EmogiMsbfsTally) {.counter = search->result->wants_sums
			? &search->level_counts[t] : NULL};
}

/* Check whether the current level is too deep to be stored. */
static bool
is_too_deep(const EmogiMsbfs *search)
{
	return !search->result->wants_sums && search->code >> search->max_planes != 0;
}

/*
 * Allocate zeroed scratch memory, in pages of the right size; NULL, with the job failed, if out of
 * memory.
 */
static void *
allocate_memory(EmogiMsbfs *search, uint64_t bytes)
{
	void	   *memory;

	if (!search->small_pages)
		return emogi_cpu_run_scratch(&search->run, bytes, 1);
	memory = emogi_cpu_run_map(&search->run, bytes);
	if (memory != NULL)
		madvise(memory, bytes, MADV_NOHUGEPAGE);
	return memory;
}

/*
 * Add the planes that the level's code needs, as far as max_planes allows; false if out of memory.
 */
static bool
add_planes(EmogiMsbfs *search)
{
	while (search->nplanes < search->kept_planes && search->code >> search->nplanes != 0)
		search->nplanes++;
	while (search->nplanes < search->max_planes && search->code >> search->nplanes != 0)
	{
		int			max = EMOGI_MSBFS_PLANES - search->nplanes;
		/* 2, 4, 8: few mappings */
		int			more = search->nplanes == 0 ? 2 : search->nplanes < max ? search->nplanes
			: max;
		uint64_t   *words = allocate_memory(search,
											(uint64_t) more * search->nvertices * sizeof(uint64_t));

		if (words == NULL)
			return false;
		for (int k = 0; k < more; k++)
			search->planes[search->nplanes++] = words + (uint64_t) k * search->nvertices;
	}
	return true;
}

/* Make the next level; false if the job has stopped or the level is too deep to be stored. */
static bool
make_level(EmogiMsbfs *search)
{
	uint64_t   *swap;
	bool		by_pull;

	search->code++;
	search->run.job.control->level = search->code - 1;
	clear_tallies(search);
	if (!add_planes(search) || !choose_way(search, &by_pull))
		return false;
	search->nhubs = 0;
	search->next_count = 0;
	if (!(by_pull ? pull_level(search) : push_level(search)))
		return false;
	search->next_dirty = by_pull;
	swap = search->front;
	search->front = search->next;
	search->next = swap;
	add_up(search);
	if (search->in_queue)
		swap_queues(search);
	else
		search->count = search->total.nvertices;
	search->result->nlevels += search->total.nvertices > 0 ? 1 : 0;
	search->result->too_deep = search->total.nvertices > 0 && is_too_deep(search);
	return !search->result->too_deep;
}

/* Enter the sources into level 0, a queue. */
static void
enter_sources(EmogiMsbfs *search, const uint32_t *sources)
{
	search->in_queue = search->only_queues = true;
	for (int s = 0; s < search->result->nsources; s++)
	{
		uint32_t	v = sources[s];

		if (search->seen[v] == 0)
			search->queue[search->count++] = v;
		search->touched[v / 64] |= UINT64_C(1) << (v % 64);
		search->front[v] |= UINT64_C(1) << s;
		emogi_msbfs_enter(search, v, UINT64_C(1) << s, &search->tally[0]);
	}
	search->total = search->tally[0];
	search->total.nopen = search->nvertices;
	search->total.open_edges = search->backward.nedges;
	search->result->nlevels = 1;
	if (search->result->wants_sums)
		emogi_msbfs_add_level(search, 0);
}

/* Check whether the search is bounded to two hops that examine at most nentries edges. */
static bool
leads_to_few(const EmogiGraph *graph, const uint32_t *sources, int nsources, int64_t max_depth,
			 uint64_t nentries)
{
	const EmogiAdjacency *forward = &graph->forward;
	uint64_t	count = 0;

	if (max_depth < 0 || max_depth > 2)
		return false;
	for (int s = 0; s < nsources && max_depth > 0; s++)
	{
		const uint64_t *offsets = forward->offsets + sources[s];

		count += offsets[1] - offsets[0];
		for (uint64_t i = offsets[0]; i < offsets[1] && max_depth == 2 && count <= nentries; i++)
			count += emogi_msbfs_degree(forward, forward->targets[i]);
	}
	return count <= nentries;
}

/* Lay out the word arrays of the vertices from an address on; returns the address after them. */
static uintptr_t
carve_words(EmogiMsbfs *search, uintptr_t place)
{
	search->seen = emogi_carve(&place, search->nvertices * sizeof(uint64_t));
	search->front = emogi_carve(&place, search->nvertices * sizeof(uint64_t));
	search->next = emogi_carve(&place, search->nvertices * sizeof(uint64_t));
	search->touched = emogi_carve(&place, search->nwords * sizeof(uint64_t));
	return place;
}

/* Lay out these arrays and the first planes in the caller's scratch memory. */
static void
carve_scratch(EmogiMsbfs *search, int nplanes)
{
	uintptr_t	place = carve_words(search, (uintptr_t) search->result->scratch);

	search->kept_planes = nplanes < search->max_planes ? nplanes : search->max_planes;
	for (int k = 0; k < search->kept_planes; k++)
		search->planes[k] = emogi_carve(&place, search->nvertices * sizeof(uint64_t));
}

/* Get the number of planes that store levels up to max_depth; -1 = any. */
static int
planes_for(int64_t max_depth, int max)
{
	int			nplanes = max;

	if (max_depth >= 0 && max_depth < 254)
		nplanes = 32 - __builtin_clz((uint32_t) max_depth + 1);
	return nplanes < max ? nplanes : max;
}

/* Lay out the other arrays except the planes from an address on; returns their size. */
static uint64_t
lay_out(EmogiMsbfs *search, void *start)
{
	const uint64_t nthreads = (uint64_t) emogi_pool_size(search->run.pool);
	const uint64_t nedges = search->forward.nedges > search->backward.nedges
		? search->forward.nedges :
		search->backward.nedges;
	uintptr_t	place = (uintptr_t) start;

	if (search->result->scratch == NULL)
		place = carve_words(search, place);
	search->queue = emogi_carve(&place, search->queue_room * sizeof(uint32_t));
	search->next_queue = emogi_carve(&place, search->queue_room * sizeof(uint32_t));
	search->hubs = emogi_carve(&place, (nedges / EMOGI_MSBFS_HUB_ENTRIES + 1) *
							   sizeof(EmogiMsbfsHub));
	search->tally = emogi_carve(&place, nthreads * sizeof(EmogiMsbfsTally));
	search->thread_counts = emogi_carve(&place, nthreads * sizeof(*search->thread_counts));
	search->level_counts = emogi_carve(&place, nthreads * sizeof(EmogiMsbfsCounter));
	search->counts = emogi_carve(&place, (search->nwords / EMOGI_MSBFS_LIST_CHUNK + 1) *
								 sizeof(*search->counts));
	return (uint64_t) (place - (uintptr_t) start);
}

/*
 * Allocate the scratch memory; pages that are not needed are never touched. False if out of memory.
 */
static bool
open_search(EmogiMsbfs *search, int64_t max_depth)
{
	uint64_t	room = search->nvertices / EMOGI_MSBFS_QUEUE_SHARE;
	void	   *memory;

	search->queue_room = room < EMOGI_MSBFS_QUEUE_MIN ? EMOGI_MSBFS_QUEUE_MIN : room;
	memory = allocate_memory(search, lay_out(search, NULL));
	if (memory == NULL)
		return false;
	lay_out(search, memory);
	if (search->result->scratch != NULL)
		carve_scratch(search, planes_for(max_depth, EMOGI_MSBFS_KEPT_PLANES));
	clear_tallies(search);
	search->code = 1;
	return add_planes(search);
}

uint64_t
emogi_msbfs_bytes(uint64_t nvertices, int nsources, int64_t max_depth)
{
	int			nplanes = planes_for(max_depth, EMOGI_MSBFS_PLANES);

	return (uint64_t) nsources * emogi_msbfs_row_words(nvertices, nplanes) * sizeof(uint64_t);
}

uint64_t
emogi_msbfs_scratch_bytes(uint64_t nvertices, int64_t max_depth)
{
	EmogiMsbfs	search = {.nvertices = nvertices, .nwords = (nvertices + 63) / 64};
	uintptr_t	place = carve_words(&search, 0);

	for (int k = 0; k < planes_for(max_depth, EMOGI_MSBFS_KEPT_PLANES); k++)
		(void) emogi_carve(&place, nvertices * sizeof(uint64_t));
	return place;
}

/* Zero the caller's scratch memory; false if the job has stopped. */
static bool
clean_scratch(EmogiMsbfs *search)
{
	return search->result->scratch == NULL ||
		run_all(search, search->only_queues ? emogi_msbfs_clean_touched : emogi_msbfs_clean_all);
}

/* Reject the arguments with a message. */
static EmogiStatus
refuse(EmogiError *error, const char *message)
{
	snprintf(error->message, sizeof(error->message), "%s", message);
	error->detail[0] = '\0';
	return EMOGI_BAD_INPUT;
}

/* Reset a result; returns the number of planes its memory has room for, 0 if none are wanted. */
static int
clear_result(EmogiMsbfsResult *result, uint64_t nvertices, int nsources)
{
	int			nplanes = 0;

	*result = (EmogiMsbfsResult) {.wants_sums = result->wants_sums,
		.first_level = result->first_level,
		.last_level = result->last_level, .totals = result->totals, .done = result->done,
		.total = result->total,
		.memory = result->memory, .memory_bytes = result->memory_bytes,
		.scratch = result->scratch, .nvertices = nvertices, .nsources = nsources};
	while (!result->wants_sums && nplanes < EMOGI_MSBFS_PLANES &&
		   (uint64_t) nsources * emogi_msbfs_row_words(nvertices, nplanes + 1) * sizeof(uint64_t) <=
		   result->memory_bytes)
		nplanes++;
	return nplanes;
}

EmogiStatus
emogi_msbfs_run(EmogiPool *pool, const EmogiGraph *graph, const uint32_t *sources, int nsources,
				int64_t max_depth, EmogiMsbfsResult *result, EmogiControl *control,
				EmogiError *error)
{
	EmogiMsbfs	search = {.result = result, .forward = graph->forward, .backward = graph->backward};
	EmogiStatus status;

	if (nsources < 1 || nsources > EMOGI_MSBFS_SOURCES)
		return refuse(error, "a search from many sources takes 1 to 64 of them");
	for (int s = 0; s < nsources; s++)
	{
		if (sources[s] >= graph->nvertices)
			return refuse(error, "a source is not a vertex of the graph");
	}
	search.max_planes = clear_result(result, graph->nvertices, nsources);
	if (search.max_planes == 0 && !result->wants_sums)
		return refuse(error, "the memory for the answer is too small");
	search.nvertices = graph->nvertices;
	search.nwords = (graph->nvertices + 63) / 64;
	search.small_pages = leads_to_few(graph, sources, nsources, max_depth,
									  graph->nvertices / EMOGI_MSBFS_FEW_SHARE);
	emogi_cpu_run_begin(&search.run, pool, graph, result->total, &search.counters, control, error,
						"breadth-first searches");
	emogi_job_done(&search.run.job, result->done);
	if (open_search(&search, max_depth))
	{
		enter_sources(&search, sources);
		while (search.total.nvertices > 0 && search.total.nopen > 0 &&
			   (max_depth < 0 || search.code - 1 < max_depth) && make_level(&search))
			;
		if (!result->too_deep && !result->wants_sums && !emogi_job_stopped(&search.run.job))
			emogi_msbfs_make_answer(&search);
		clean_scratch(&search);
	}
	status = emogi_cpu_run_end(&search.run);
	result->run_ms = search.counters.run_ms;
	return status;
}

EmogiStatus
emogi_msbfs_run_alone(const EmogiGraph *graph, const uint32_t *sources, int nsources,
					  int64_t max_depth, EmogiMsbfsResult *result, EmogiControl *control,
					  EmogiError *error)
{
	EmogiPool  *pool = emogi_pool_create(1);
	EmogiStatus status;

	if (pool == NULL)
	{
		(void) refuse(error, "out of memory");
		return EMOGI_NO_MEMORY;
	}
	status = emogi_msbfs_run(pool, graph, sources, nsources, max_depth, result, control, error);
	emogi_pool_destroy(pool);
	return status;
}

int
emogi_msbfs_run_next(EmogiCpuRun *run, const EmogiGraph *graph, const uint32_t *sources,
					 uint64_t nsources, uint64_t first, int64_t max_depth, EmogiMsbfsResult *result)
{
	const int	count = (int) (emogi_cpu_run_chunk_end(first, EMOGI_MSBFS_SOURCES, nsources) -
							   first);
	EmogiStatus status;

	result->done = first;
	result->total = nsources;
	status = emogi_msbfs_run(run->pool, graph, sources + first, count, max_depth, result,
							 run->job.control, run->error);
	run->result->edges_traversed += result->edges_traversed;
	if (result->nlevels > run->result->nlevels)
		run->result->nlevels = result->nlevels;
	if (status != EMOGI_OK)
		emogi_job_fail(&run->job, status);
	return status == EMOGI_OK ? count : 0;
}
