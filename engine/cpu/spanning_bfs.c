/*
 * spanning_bfs.c: a spanning forest built by breadth-first search from one root per component, and
 * traversals of its levels.
 *
 * All components are searched at once, level by level. The thread that is first to set a vertex's
 * level appends it to the order. Then each vertex finds its first neighbor on the level above, so
 * that the forest does not depend on the order of the work.
 */
#include "cpu/spanning_bfs.h"
#include "cpu/queue_buffer.h"

#define VERTEX_CHUNK 1024
#define CLAIM_CHUNK 16
#define SERIAL_SEARCH 128	/* a level of so few vertices is searched by the caller alone */
#define SERIAL_VISIT 4096		/* a level of so few vertices is visited by the caller alone */

bool
emogi_spanning_bfs_open(EmogiSpanningBfs *forest)
{
	forest->level = emogi_cpu_run_scratch(forest->run, forest->nvertices, sizeof *forest->level);
	forest->order = emogi_cpu_run_scratch(forest->run, forest->nvertices, sizeof *forest->order);
	forest->starts = emogi_cpu_run_map(forest->run,
									   (forest->nvertices + 2) * sizeof *forest->starts);
	return !emogi_job_stopped(&forest->run->job);
}

/* ---- the search ---- */

/* Set the level of the roots to 0. */
static void
place_roots(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *forest = arg;
	EmogiCpuRun *run = forest->run;
	EmogiQueueBuffer found;
	uint64_t	v;

	found.count = 0;
	while (!emogi_job_stopped(&run->job) && (v = emogi_job_claim(&run->next, VERTEX_CHUNK)) <
		   forest->nvertices)
		for (const uint64_t end = emogi_cpu_run_chunk_end(v, VERTEX_CHUNK, forest->nvertices);
			 v < end; v++)
		{
			forest->level[v] = forest->component[v] == v ? 0 : EMOGI_NO_VERTEX;
			if (forest->level[v] == 0)
				emogi_queue_buffer_add(&found, (uint32_t) v, forest->order, &forest->tail);
		}
	emogi_queue_buffer_flush(&found, forest->order, &forest->tail);
}

/* Reach the neighbors of a vertex; false if the job has stopped. */
static inline bool
reach_list(EmogiSpanningBfs *forest, EmogiQueueBuffer *found, uint32_t v)
{
	const EmogiAdjacency *lists = forest->lists;
	const uint32_t below = (uint32_t) forest->at + 1;
	const uint64_t first = lists->offsets[v];

	for (uint64_t e = first; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t w = lists->targets[e];
		uint32_t	level = __atomic_load_n(&forest->level[w], __ATOMIC_RELAXED);

		if (level == EMOGI_NO_VERTEX &&
			__atomic_compare_exchange_n(&forest->level[w], &level, below, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
			emogi_queue_buffer_add(found, w, forest->order, &forest->tail);
		if ((e - first) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&forest->run->job))
			return false;
	}
	return true;
}

/* Reach the level below the current one. */
static void
reach_level(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *forest = arg;
	EmogiCpuRun *run = forest->run;
	const uint64_t end = forest->starts[forest->at + 1];
	EmogiQueueBuffer found;
	uint64_t	i;

	found.count = 0;
	while (!emogi_job_stopped(&run->job) &&
		   (i = forest->starts[forest->at] + emogi_job_claim(&run->next, CLAIM_CHUNK)) < end)
	{
		const uint64_t stop = emogi_cpu_run_chunk_end(i, CLAIM_CHUNK, end);

		emogi_job_done(&run->job, stop - i);
		for (; i < stop; i++)
			if (!reach_list(forest, &found, forest->order[i]))
				return;
	}
	emogi_queue_buffer_flush(&found, forest->order, &forest->tail);
}

/* Find the parent of each vertex. */
static void
find_parents(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *forest = arg;
	EmogiCpuRun *run = forest->run;
	const EmogiAdjacency *lists = forest->lists;
	uint64_t	nscanned = 0;
	uint64_t	v;

	while (!emogi_job_stopped(&run->job) && (v = emogi_job_claim(&run->next, VERTEX_CHUNK)) <
		   forest->nvertices)
		for (const uint64_t end = emogi_cpu_run_chunk_end(v, VERTEX_CHUNK, forest->nvertices);
			 v < end; v++)
		{
			uint64_t	e = lists->offsets[v];

			forest->parent[v] = EMOGI_NO_VERTEX;
			if (forest->level[v] == 0)
				continue;
			while (forest->level[lists->targets[e]] + 1 != forest->level[v])
			{
				e++;
				if (++nscanned % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&run->job))
					return;
			}
			forest->parent[v] = lists->targets[e];
		}
}

bool
emogi_spanning_bfs_build(EmogiSpanningBfs *forest)
{
	if (!emogi_cpu_run_step(forest->run, place_roots, forest, false))
		return false;
	for (uint64_t head = 0; head < forest->tail; head = forest->starts[forest->nlevels])
	{
		forest->at = forest->nlevels++;
		forest->starts[forest->nlevels] = (uint32_t) forest->tail;
		if (!emogi_cpu_run_step(forest->run, reach_level, forest,
								forest->tail - head <= SERIAL_SEARCH))
			return false;
	}
	return emogi_cpu_run_step(forest->run, find_parents, forest, false);
}

/* ---- traversals ---- */

/* Visit the vertices of a level. */
static void
visit_level(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *forest = arg;
	EmogiCpuRun *run = forest->run;
	const uint64_t end = forest->starts[forest->at + 1];
	uint64_t	i;

	while (!emogi_job_stopped(&run->job) &&
		   (i = forest->starts[forest->at] + emogi_job_claim(&run->next, VERTEX_CHUNK)) < end)
		for (const uint64_t stop = emogi_cpu_run_chunk_end(i, VERTEX_CHUNK, end); i < stop; i++)
			forest->visit(forest->arg, forest->order[i]);
}

/* Visit the vertices of one level, with all threads if there are many. */
static bool
visit_at(EmogiSpanningBfs *forest, uint64_t level)
{
	forest->at = level;
	return emogi_cpu_run_step(forest->run, visit_level, forest,
							  forest->starts[level + 1] - forest->starts[level] <= SERIAL_VISIT);
}

bool
emogi_spanning_bfs_up(EmogiSpanningBfs *forest, void (*visit) (void *arg, uint32_t v), void *arg)
{
	forest->visit = visit;
	forest->arg = arg;
	for (uint64_t level = forest->nlevels; level-- > 0;)
		if (!visit_at(forest, level))
			return false;
	return true;
}

bool
emogi_spanning_bfs_down(EmogiSpanningBfs *forest, void (*visit) (void *arg, uint32_t v), void *arg)
{
	forest->visit = visit;
	forest->arg = arg;
	for (uint64_t level = 0; level < forest->nlevels; level++)
		if (!visit_at(forest, level))
			return false;
	return true;
}
