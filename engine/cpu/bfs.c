/*
 * bfs.c: multi-threaded, direction-optimizing breadth-first search.
 *
 * Fills level[nvertices]: hops from the nearest source, -1 = not reached (or beyond max_depth). If
 * the query asks for a summary that can be computed from the number of vertices on each level
 * (bfs_summary.h), no levels are written.
 *
 * A level is made in one of three ways, chosen by the estimated work:
 *
 *   sparse     The frontier is a queue. An atomic OR on the bitmap of visited vertices decides
 *              which thread appends a vertex to the next queue.
 *   dense      The frontier is a bitmap. Each thread marks targets in a bitmap of its own, which
 *              fits its cache; then the bitmaps are merged, and the marked vertices not yet visited
 *              are the next frontier. There are no atomic operations and no shared cache lines.
 *   bottom-up  Each unvisited vertex searches its list for a neighbor in the frontier bitmap and
 *              stops at the first [1]. Needs graph->backward.
 *
 * With a mask, only edges that pass are used. Top-down levels evaluate the words of its bitmap that
 * they read, and all words above 1/EMOGI_BFS_MASK_SHARE of them. Before a bottom-up level, all
 * words of the reverse lists are evaluated. A source without a passing edge is not reached. The way
 * is chosen by an estimate of the costs, because bottom-up levels read the bitmap of every
 * unvisited vertex's list, and top-down ones only passing edges.
 *
 * Levels too small to be worth waking other threads are made by the caller alone. Levels, counts
 * and the chosen ways depend only on the graph and the query. No level is made after the one that
 * reaches the last target of the query.
 *
 * Parameters: ALPHA and BETA weigh bottom-up against top-down as in [1]. BETA is that of [2]; ALPHA
 * is lower than the 15 of [2], because a dense level costs less than the top-down step there.
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

/* A search, with the state that only this file needs. */
typedef struct Search
{
	EmogiBfs	bfs;
	bool		bottom_up;
	uint64_t	nedges;			/* forward edges of the frontier */
	uint64_t	nmask_words;	/* words of a mask that top-down levels have read, at most */
	uint64_t	nread;			/* 1 + edges that these have examined */
	uint64_t	npassed;		/* 1 + those of them that pass */
	uint64_t	ndead;			/* vertices to which no passing edge leads, as bottom-up levels have
								 * found */
	uint64_t	last_count;		/* vertices in the previous frontier */
	uint64_t	unexplored;		/* forward edges of vertices that have not been in a frontier */
	uint64_t	nfound;			/* the first nfound targets of the query are known to be reached */
	EmogiBfsSummary summary;
} Search;

/* Run a step in all threads, or in this one alone; false if the job has stopped. */
static bool
run_step(EmogiBfs *bfs, EmogiPoolTask step, bool serial)
{
	return emogi_cpu_run_step(&bfs->run, step, bfs, serial);
}

/* Make the next frontier bitmap the frontier. */
static void
swap_fronts(EmogiBfs *bfs)
{
	uint64_t   *swap = bfs->front;

	bfs->front = bfs->next_front;
	bfs->next_front = swap;
}

/* Make the next queue the frontier. */
static void
swap_queues(EmogiBfs *bfs)
{
	uint32_t   *swap = bfs->queue;

	bfs->queue = bfs->next_queue;
	bfs->next_queue = swap;
}

/* Convert the queue to a frontier bitmap. */
static void
make_bitmap(EmogiBfs *bfs)
{
	memset(bfs->front, 0, bfs->nwords * sizeof(uint64_t));
	for (uint64_t i = 0; i < bfs->count; i++)
		bfs->front[bfs->queue[i] / 64] |= UINT64_C(1) << (bfs->queue[i] % 64);
	bfs->in_queue = false;
}

/* Convert the frontier bitmap to a queue; false if the job has stopped. */
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

/* Get an upper bound of the words of a mask that top-down levels read, with the next one. */
static uint64_t
count_mask_words(const Search *search)
{
	return search->nmask_words + search->bfs.count + search->nedges / 64;
}

/* Check whether so many words are worth evaluating all words. */
static bool
are_many_words(const EmogiBfs *bfs, uint64_t nwords)
{
	return nwords > emogi_bitmap_words(bfs->forward.nedges) / EMOGI_BFS_MASK_SHARE;
}

/* Check whether the next level with a mask costs less bottom-up, by estimates in ns. */
static bool
is_masked_pull_cheaper(const Search *search)
{
	const EmogiBfs *bfs = &search->bfs;
	const double all_words = (double) emogi_bitmap_words(bfs->forward.nedges);
	const double words = (double) (bfs->count + search->nedges / 64);
	const double passing = (double) search->npassed / (double) search->nread;
	const double unvisited = (double) (bfs->nvertices - bfs->run.result->nreached - search->ndead);
	const double pulled = unvisited * (double) bfs->forward.nedges / (double) (search->nedges + 1);
	const double unexplored = passing * (double) search->unexplored;
	double		push = words * EMOGI_BFS_WORD_READ +
		passing * (double) search->nedges * EMOGI_BFS_EDGE_PUSHED;
	double		pull = unvisited * EMOGI_BFS_VERTEX_PULLED +
		(pulled < unexplored ? pulled : unexplored) * EMOGI_BFS_EDGE_PULLED;

	if (bfs->mask->forward.known != NULL)
		push += are_many_words(bfs, count_mask_words(search)) ? all_words * EMOGI_BFS_WORD_OF_ALL
			: words * EMOGI_BFS_WORD_ALONE;
	if (bfs->reverse->known != NULL)
		pull += all_words * EMOGI_BFS_WORD_OF_ALL;
	return pull < push;
}

/*
 * Evaluate the whole bitmap of the lists that the next level reads, if that level is bottom-up, or
 * top-down levels read many words; false if the job has stopped.
 */
static bool
prepare_mask(Search *search)
{
	EmogiBfs   *bfs = &search->bfs;
	EmogiCpuRun *run = &bfs->run;
	EmogiMaskedLists *lists = NULL;
	EmogiStatus status;

	bfs->many_pass = search->npassed >= search->nread / EMOGI_BFS_MANY_PASS;
	if (search->bottom_up)
		lists = bfs->reverse;
	else
	{
		search->nmask_words = count_mask_words(search);
		if (are_many_words(bfs, search->nmask_words))
			lists = &bfs->mask->forward;
	}
	if (lists == NULL)
		return true;
	status = emogi_edge_mask_complete(run->pool, lists, run->job.control);
	if (status != EMOGI_OK)
		emogi_job_fail(&run->job, status);
	return status == EMOGI_OK;
}

/*
 * Choose the way to make the next level and convert the frontier to its form; false if the job has
 * stopped.
 */
static bool
choose_way(Search *search)
{
	EmogiBfs   *bfs = &search->bfs;
	bool		sparse;

	if (bfs->backward.offsets == NULL || bfs->backward.nedges == 0)
		search->bottom_up = false;
	else if (bfs->mask != NULL)
		search->bottom_up = is_masked_pull_cheaper(search);
	else if (!search->bottom_up)
		search->bottom_up = search->nedges > search->unexplored / EMOGI_BFS_ALPHA;
	else
		search->bottom_up = bfs->count >= search->last_count ||
			bfs->count >= bfs->nvertices / EMOGI_BFS_BETA;
	search->unexplored -= search->nedges;
	if (bfs->mask != NULL && !prepare_mask(search))
		return false;

	sparse = !search->bottom_up && search->nedges <= bfs->queue_room &&
		bfs->count <= bfs->queue_room;
	if (sparse && !bfs->in_queue)
		return make_queue(bfs);
	if (!sparse && bfs->in_queue)
		make_bitmap(bfs);
	return true;
}

/* Process the frontier top-down, hubs last; false if the job has stopped. */
static bool
walk(EmogiBfs *bfs, EmogiPoolTask step, bool serial)
{
	bfs->nhubs = 0;
	return run_step(bfs, step, serial) &&
		(bfs->nhubs == 0 ||
		 run_step(bfs, bfs->mask != NULL ? emogi_bfs_masked_push_hubs : emogi_bfs_push_hubs,
				  false));
}

/* Make the next frontier; false if the job has stopped. */
static bool
make_frontier(Search *search)
{
	EmogiBfs   *bfs = &search->bfs;
	const bool	masked = bfs->mask != NULL;
	bool		serial = search->nedges < EMOGI_BFS_SERIAL_EDGES &&
		bfs->count < EMOGI_BFS_SERIAL_EDGES;
	bool		made;

	if (bfs->in_queue)
	{
		bfs->next_count = 0;
		made = walk(bfs, masked ? emogi_bfs_masked_push_queue : emogi_bfs_push_queue, serial);
		swap_queues(bfs);
		return made;
	}
	if (search->bottom_up)
		made = run_step(bfs, masked ? emogi_bfs_masked_pull : emogi_bfs_pull, false);
	else
		made = walk(bfs, masked ? emogi_bfs_masked_push_bitmap : emogi_bfs_push_bitmap, false) &&
			run_step(bfs, emogi_bfs_merge_maps, false);
	swap_fronts(bfs);
	return made;
}

/* Count the new level in the result and the summary. */
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

/* Add up what the threads have learned about the mask. */
static void
count_passing(Search *search)
{
	for (int t = 0; t < emogi_pool_size(search->bfs.run.pool); t++)
	{
		const EmogiBfsTally *tally = &search->bfs.tally[t];

		search->npassed += tally->npassed;
		search->nread += search->bottom_up ? 0 : tally->nscanned;
		search->ndead += tally->ndead;
	}
}

/* Make level depth + 1 and add up the threads' counters; false if the job has stopped. */
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
		bfs->run.result->edges_traversed += bfs->tally[t].nscanned;
	}
	if (bfs->mask != NULL)
		count_passing(search);
	count_level(search);
	return true;
}

/*
 * Make the sources without a passing edge visited, because no passing edge leads to them. If
 * reverse lists cannot be read, all edges are searched for those from which none leads. False if
 * the job has stopped.
 */
static bool
drop_absent_sources(EmogiBfs *bfs, const EmogiGraph *graph, const EmogiQuery *query)
{
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t v = query->sources[i];
		const uint64_t bit = UINT64_C(1) << (v % 64);
		EmogiMaskedVertex state;

		if ((i & 0xFFF) == 0 && emogi_job_stopped(&bfs->run.job))
			return false;
		if ((bfs->next_front[v / 64] & bit) != 0)	/* zeroed by mmap */
			continue;
		state = emogi_edge_mask_vertex(bfs->mask, graph, v);
		if (state != EMOGI_MASKED_THERE)
			bfs->next_front[v / 64] |= bit;
		bfs->nunknown += state == EMOGI_MASKED_UNKNOWN;
	}
	if (bfs->nunknown > 0 && !run_step(bfs, emogi_bfs_find_targets, false))
		return false;
	for (uint64_t w = 0; w < bfs->nwords; w++)
		bfs->visited[w] |= bfs->next_front[w];
	memset(bfs->next_front, 0, bfs->nwords * sizeof(uint64_t));
	return true;
}

/* Make level 0, as a queue or, if it is too large, as a bitmap; false if the job has stopped. */
static bool
enter_sources(Search *search, const EmogiGraph *graph, const EmogiQuery *query)
{
	EmogiBfs   *bfs = &search->bfs;

	if (!run_step(bfs, emogi_bfs_clear, false) ||
		(bfs->mask != NULL && !drop_absent_sources(bfs, graph, query)))
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
			bfs->front[v / 64] |= bit;	/* zeroed by mmap */
		bfs->count++;
	}
	count_level(search);
	return true;
}

/* Check whether the search can end: all targets, if any, are reached, or the job has stopped. */
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

/* Lay out the arrays from an address on; returns their size. */
static size_t
lay_out(EmogiBfs *bfs, void *start)
{
	const int	nthreads = emogi_pool_size(bfs->run.pool);
	uintptr_t	place = (uintptr_t) start;

	bfs->tally = emogi_carve(&place, (size_t) nthreads * sizeof(EmogiBfsTally));
	if (bfs->mask != NULL)
		bfs->pending = emogi_carve(&place, (size_t) nthreads * sizeof(EmogiBfsPending));
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

/*
 * Allocate the scratch memory; pages that no level needs are never touched. False if out of memory.
 */
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
 * Search, computing a summary if the query asks for one and levels suffice. *is_full: the summary
 * ran out of room, and there is no result.
 */
static EmogiStatus
search_from(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			EmogiControl *control, EmogiError *error, bool *is_full)
{
	Search		search = {.unexplored = graph->forward.nedges, .nread = 1, .npassed = 1};
	EmogiBfs   *bfs = &search.bfs;

	emogi_cpu_run_begin(&bfs->run, pool, graph, graph->nvertices, result, control, error,
						"a breadth-first search");
	emogi_bfs_summary_begin(&search.summary, query);
	bfs->forward = graph->forward;
	bfs->backward = graph->backward;
	bfs->mask = query->mask;
	bfs->reverse = bfs->mask != NULL ? emogi_edge_mask_backward(bfs->mask) : NULL;
	if (bfs->mask != NULL && bfs->reverse == NULL)
		bfs->backward = (EmogiAdjacency) {0};
	bfs->nvertices = graph->nvertices;
	bfs->level = search.summary.wanted != NULL ? NULL : result->columns[0].int32;
	if (open_search(bfs) && enter_sources(&search, graph, query))
	{
		while (bfs->count > 0 && (query->max_depth < 0 || bfs->depth < query->max_depth) &&
			   !search.summary.is_full && !has_enough(&search, query) && make_level(&search))
			;
	}
	*is_full = search.summary.is_full;
	emogi_bfs_summary_end(&search.summary, result);
	return emogi_cpu_run_end(&bfs->run);
}

/* If a summary has no room for all levels, search again and write the levels. */
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
