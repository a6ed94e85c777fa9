/*
 * bfs.c: breadth-first search by the threads of a pool.
 *
 * Fills level[nvertices]: hops from the nearest source, -1 = not reached (or beyond max_depth).
 * Where a summary is wanted that the vertices of each level, counted, tell (bfs_summary.h), no
 * level is written.
 *
 * There are three ways to make a level, chosen by the work that each would be:
 *   sparse    The frontier is a queue. An atomic OR on the bitmap of visited vertices decides who appends a vertex to
 *             the next queue.
 *   dense     The frontier is a bitmap. Every thread marks the targets in a bitmap of its own, which fits its cache;
 *             then the bitmaps are merged, and what is not yet visited is the next frontier. No atomic operation, no
 *             line that two threads write.
 *   bottom-up Every vertex not yet visited looks for a neighbour in the frontier bitmap and stops at the first [1].
 *             Needs graph->backward.
 * Levels too small to be worth waking anyone are made by the caller alone. Levels, counts and the
 * way taken depend on nothing but the Graph and the Query. No level is made after the one in which
 * the last of the Query's targets is reached.
 *
 * Parameters: ALPHA and BETA weigh bottom-up against top-down as in [1]. BETA is that of [2]; ALPHA
 * is lower than its 15, for a dense level costs less than the top-down step there.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. Direction-Optimizing Breadth-First Search. SC 2012.
 *     Sections III to V.
 * [2] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015.
 */
#include "bfs.h"

#include "bfs_steps.h"
#include "bfs_summary.h"
#include "graph/layout.h"

#include <string.h>

/* A search and what only this file needs of it. */
typedef struct Search
{
	EmogiBfs	bfs;
	bool		bottom_up;
	uint64_t	nedges;			/* forward list entries of the frontier */
	uint64_t	last_count;		/* vertices of the frontier before */
	uint64_t	unexplored;		/* forward list entries of vertices that were in no frontier yet */
	uint64_t	nfound;			/* so many of the query's targets, from the first on, are known
								 * to be reached */
	EmogiBfsSummary summary;
} Search;

/* Run a step in all threads, or in this one alone; false when the job has stopped. */
static bool
run_step(EmogiBfs *bfs, EmogiPoolTask step, bool alone)
{
	return emogi_cpu_run_step(&bfs->run, step, bfs, alone);
}

/* Take the next frontier bitmap as the frontier. */
static void
swap_fronts(EmogiBfs *bfs)
{
	uint64_t   *swap = bfs->front;

	bfs->front = bfs->next_front;
	bfs->next_front = swap;
}

/* Take the next queue as the frontier. */
static void
swap_queues(EmogiBfs *bfs)
{
	uint32_t   *swap = bfs->queue;

	bfs->queue = bfs->next_queue;
	bfs->next_queue = swap;
}

/* Make the queue a frontier bitmap. */
static void
make_bitmap(EmogiBfs *bfs)
{
	memset(bfs->front, 0, bfs->nwords * sizeof(uint64_t));
	for (uint64_t i = 0; i < bfs->count; i++)
		bfs->front[bfs->queue[i] / 64] |= UINT64_C(1) << (bfs->queue[i] % 64);
	bfs->in_queue = false;
}

/* Make the frontier bitmap a queue; false when the job has stopped. */
static bool
make_queue(EmogiBfs *bfs)
{
	bfs->next_count = 0;
	if (!run_step(bfs, emogi_bfs_collect_queue, false))
		return false;
	swap_queues(bfs);
	bfs->in_queue = true;
	return true;
}

/*
 * Choose the way to make the next level and bring the frontier into its form; false when the job
 * has stopped.
 */
static bool
choose_way(Search *search)
{
	EmogiBfs   *bfs = &search->bfs;
	bool		sparse;

	if (bfs->backward.offsets == NULL || bfs->backward.nedges == 0)
		search->bottom_up = false;
	else if (!search->bottom_up)
		search->bottom_up = search->nedges > search->unexplored / EMOGI_BFS_ALPHA;
	else
		search->bottom_up = bfs->count >= search->last_count ||
			bfs->count >= bfs->nvertices / EMOGI_BFS_BETA;
	search->unexplored -= search->nedges;

	sparse = !search->bottom_up && search->nedges <= bfs->queue_room &&
		bfs->count <= bfs->queue_room;
	if (sparse && !bfs->in_queue)
		return make_queue(bfs);
	if (!sparse && bfs->in_queue)
		make_bitmap(bfs);
	return true;
}

/* Walk the frontier top-down, hubs last; false when the job has stopped. */
static bool
walk(EmogiBfs *bfs, EmogiPoolTask step, bool alone)
{
	bfs->nhubs = 0;
	return run_step(bfs, step, alone) &&
		(bfs->nhubs == 0 || run_step(bfs, emogi_bfs_walk_hubs, false));
}

/* Make the next frontier; false when the job has stopped. */
static bool
make_frontier(Search *search)
{
	EmogiBfs   *bfs = &search->bfs;
	bool		alone = search->nedges < EMOGI_BFS_ALONE_ENTRIES &&
		bfs->count < EMOGI_BFS_ALONE_ENTRIES;
	bool		made;

	if (bfs->in_queue)
	{
		bfs->next_count = 0;
		made = walk(bfs, emogi_bfs_walk_queue, alone);
		swap_queues(bfs);
		return made;
	}
	if (search->bottom_up)
		made = run_step(bfs, emogi_bfs_pull, false);
	else
		made = walk(bfs, emogi_bfs_walk_bitmap, false) &&
			run_step(bfs, emogi_bfs_merge_maps, false);
	swap_fronts(bfs);
	return made;
}

/* Tell of the level that has been made. */
static void
count_level(Search *search)
{
	EmogiBfs   *bfs = &search->bfs;
	EmogiResult *result = bfs->run.result;

	emogi_job_done(&bfs->run.job, bfs->count);
	if (bfs->count == 0)
		return;
	result->nreached += bfs->count;
	result->nlevels++;
	emogi_bfs_summary_add(&search->summary, bfs->depth, bfs->count);
}

/* Make level depth + 1 and add up what was found; false when the job has stopped. */
static bool
make_level(Search *search)
{
	EmogiBfs   *bfs = &search->bfs;
	int			nthreads = emogi_pool_size(bfs->run.pool);

	if (!choose_way(search))
		return false;
	bfs->run.job.control->level = (uint32_t) ++bfs->depth;
	for (int t = 0; t < nthreads; t++)
		bfs->tally[t] = (EmogiBfsTally) {0};
	if (!make_frontier(search))
		return false;

	search->last_count = bfs->count;
	bfs->count = 0;
	search->nedges = 0;
	for (int t = 0; t < nthreads; t++)
	{
		bfs->count += bfs->tally[t].nvertices;
		search->nedges += bfs->tally[t].nedges;
		bfs->run.result->edges_traversed += bfs->tally[t].looked;
	}
	count_level(search);
	return true;
}

/*
 * Make level 0, as a queue or, when it is too large, as a bitmap; false when the job has stopped.
 */
static bool
enter_sources(Search *search, const EmogiQuery *query)
{
	EmogiBfs   *bfs = &search->bfs;

	if (!run_step(bfs, emogi_bfs_clear, false))
		return false;
	bfs->in_queue = query->nsources <= bfs->queue_room;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		uint32_t	v = query->sources[i];
		uint64_t	bit = UINT64_C(1) << (v % 64);

		if ((i & 0xFFFF) == 0 && emogi_job_stopped(&bfs->run.job))
			return false;
		if ((bfs->visited[v / 64] & bit) != 0)
			continue;
		bfs->visited[v / 64] |= bit;
		if (bfs->level != NULL)
			bfs->level[v] = 0;
		search->nedges += emogi_bfs_degree(&bfs->forward, v);
		if (bfs->in_queue)
			bfs->queue[bfs->count] = v;
		else
			bfs->front[v / 64] |= bit;	/* zero as new memory is */
		bfs->count++;
	}
	count_level(search);
	return true;
}

/*
 * Say whether nothing more is wanted: all targets, if there are any, are reached, or the job has
 * stopped.
 */
static bool
has_enough(Search *search, const EmogiQuery *query)
{
	if (query->ntargets == 0)
		return false;
	while (search->nfound < query->ntargets &&
		   search->bfs.level[query->targets[search->nfound]] >= 0)
	{
		if ((++search->nfound & 0xFFFF) == 0 && emogi_job_stopped(&search->bfs.run.job))
			return true;
	}
	return search->nfound == query->ntargets;
}

/* Lay the arrays out from an address on; get their bytes. */
static size_t
lay_out(EmogiBfs *bfs, void *start)
{
	const int	nthreads = emogi_pool_size(bfs->run.pool);
	uintptr_t	place = (uintptr_t) start;

	bfs->tally = emogi_carve(&place, (size_t) nthreads * sizeof(EmogiBfsTally));
	bfs->hubs = emogi_carve(&place, (bfs->forward.nedges / EMOGI_BFS_HUB_ENTRIES + 1) *
							sizeof(EmogiBfsHub));
	bfs->visited = emogi_carve(&place, bfs->nwords * sizeof(uint64_t));
	bfs->front = emogi_carve(&place, bfs->nwords * sizeof(uint64_t));
	bfs->next_front = emogi_carve(&place, bfs->nwords * sizeof(uint64_t));
	bfs->queue = emogi_carve(&place, bfs->queue_room * sizeof(uint32_t));
	bfs->next_queue = emogi_carve(&place, bfs->queue_room * sizeof(uint32_t));
	bfs->maps = emogi_carve(&place, (size_t) bfs->nmaps * bfs->nwords * sizeof(uint64_t));
	return (size_t) (place - (uintptr_t) start);
}

/* Get the scratch memory; pages that no level needs are never touched. False when there is none. */
static bool
open_search(EmogiBfs *bfs)
{
	int			nthreads = emogi_pool_size(bfs->run.pool);
	void	   *memory;

	bfs->nwords = (bfs->nvertices + 63) / 64;
	bfs->queue_room = bfs->nvertices / EMOGI_BFS_DENSE_SHARE;
	if (bfs->queue_room < EMOGI_BFS_DENSE_ENTRIES)
		bfs->queue_room = EMOGI_BFS_DENSE_ENTRIES;
	bfs->nmaps = nthreads < EMOGI_BFS_MAX_MAPS ? nthreads : EMOGI_BFS_MAX_MAPS;
	memory = emogi_cpu_run_map(&bfs->run, lay_out(bfs, NULL));
	if (memory == NULL)
		return false;
	lay_out(bfs, memory);
	return true;
}

/*
 * Search, with a summary where it is wanted and levels tell it. *is_full: there was no room for it,
 * and there is no answer.
 */
static EmogiStatus
search_from(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			EmogiControl *control, EmogiError *error, bool *is_full)
{
	Search		search = {.unexplored = graph->forward.nedges};
	EmogiBfs   *bfs = &search.bfs;

	emogi_cpu_run_begin(&bfs->run, pool, graph, graph->nvertices, result, control, error,
						"a breadth-first search");
	emogi_bfs_summary_begin(&search.summary, query);
	bfs->forward = graph->forward;
	bfs->backward = graph->backward;
	bfs->nvertices = graph->nvertices;
	bfs->level = search.summary.wanted != NULL ? NULL : result->columns[0].int32;
	if (open_search(bfs) && enter_sources(&search, query))
	{
		while (bfs->count > 0 && (query->max_depth < 0 || bfs->depth < query->max_depth) &&
			   !search.summary.is_full && !has_enough(&search, query) && make_level(&search))
			;
	}
	*is_full = search.summary.is_full;
	emogi_bfs_summary_end(&search.summary, result);
	return emogi_cpu_run_end(&bfs->run);
}

/* More levels than a summary has room for are made once more, and written. */
EmogiStatus
emogi_cpu_bfs(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	EmogiQuery	whole = *query;
	bool		is_full;
	EmogiStatus status = search_from(pool, graph, query, result, control, error, &is_full);

	if (status != EMOGI_OK || !is_full)
		return status;
	whole.summary = NULL;
	return search_from(pool, graph, &whole, result, control, error, &is_full);
}
