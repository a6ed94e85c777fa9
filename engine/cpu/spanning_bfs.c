/*
 * spanning_bfs.c: a forest that spans a graph, searched breadth-first from one vertex of each
 * component, and walks over its levels.
 *
 * All components are searched at once, level by level. A vertex is put into the order by whoever is
 * the first to give it its level. Then each finds the first of its neighbours in the level above,
 * so that the forest does not depend on the order of the work.
 */
#include "cpu/spanning_bfs.h"
#include "cpu/queue_buffer.h"

#define VERTICES_AT_ONCE 1024
#define TAKEN_AT_ONCE 16
#define ALONE_SEARCH 128	/* vertices of a level whose lists are not worth waking anyone for */
#define ALONE_VISIT 4096		/* and whose visits are not */

bool
emogi_spanning_bfs_open(EmogiSpanningBfs *rooted)
{
	rooted->level = emogi_cpu_run_scratch(rooted->run, rooted->nvertices, sizeof *rooted->level);
	rooted->order = emogi_cpu_run_scratch(rooted->run, rooted->nvertices, sizeof *rooted->order);
	rooted->starts = emogi_cpu_run_map(rooted->run,
									   (rooted->nvertices + 2) * sizeof *rooted->starts);
	return !emogi_job_stopped(&rooted->run->job);
}

/* ---- the search ---- */

/* Give the roots level 0. */
static void
place_roots(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *rooted = arg;
	EmogiCpuRun *run = rooted->run;
	EmogiQueueBuffer found;
	uint64_t	v;

	found.count = 0;
	while (!emogi_job_stopped(&run->job) && (v = emogi_job_take(&run->next, VERTICES_AT_ONCE)) <
		   rooted->nvertices)
		for (const uint64_t end = emogi_cpu_run_chunk_end(v, VERTICES_AT_ONCE, rooted->nvertices);
			 v < end; v++)
		{
			rooted->level[v] = rooted->component[v] == v ? 0 : EMOGI_NO_VERTEX;
			if (rooted->level[v] == 0)
				emogi_queue_buffer_add(&found, (uint32_t) v, rooted->order, &rooted->tail);
		}
	emogi_queue_buffer_flush(&found, rooted->order, &rooted->tail);
}

/* Reach the neighbours of a vertex; false when the job has stopped. */
static inline bool
reach_list(EmogiSpanningBfs *rooted, EmogiQueueBuffer *found, uint32_t v)
{
	const EmogiAdjacency *lists = rooted->lists;
	const uint32_t below = (uint32_t) rooted->at + 1;
	const uint64_t first = lists->offsets[v];

	for (uint64_t e = first; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t w = lists->targets[e];
		uint32_t	level = __atomic_load_n(&rooted->level[w], __ATOMIC_RELAXED);

		if (level == EMOGI_NO_VERTEX &&
			__atomic_compare_exchange_n(&rooted->level[w], &level, below, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
			emogi_queue_buffer_add(found, w, rooted->order, &rooted->tail);
		if ((e - first) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&rooted->run->job))
			return false;
	}
	return true;
}

/* Reach the level below one. */
static void
reach_level(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *rooted = arg;
	EmogiCpuRun *run = rooted->run;
	const uint64_t end = rooted->starts[rooted->at + 1];
	EmogiQueueBuffer found;
	uint64_t	i;

	found.count = 0;
	while (!emogi_job_stopped(&run->job) &&
		   (i = rooted->starts[rooted->at] + emogi_job_take(&run->next, TAKEN_AT_ONCE)) < end)
	{
		const uint64_t stop = emogi_cpu_run_chunk_end(i, TAKEN_AT_ONCE, end);

		emogi_job_done(&run->job, stop - i);
		for (; i < stop; i++)
			if (!reach_list(rooted, &found, rooted->order[i]))
				return;
	}
	emogi_queue_buffer_flush(&found, rooted->order, &rooted->tail);
}

/* Find the parent of each vertex. */
static void
find_parents(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *rooted = arg;
	EmogiCpuRun *run = rooted->run;
	const EmogiAdjacency *lists = rooted->lists;
	uint64_t	looked = 0;
	uint64_t	v;

	while (!emogi_job_stopped(&run->job) && (v = emogi_job_take(&run->next, VERTICES_AT_ONCE)) <
		   rooted->nvertices)
		for (const uint64_t end = emogi_cpu_run_chunk_end(v, VERTICES_AT_ONCE, rooted->nvertices);
			 v < end; v++)
		{
			uint64_t	e = lists->offsets[v];

			rooted->parent[v] = EMOGI_NO_VERTEX;
			if (rooted->level[v] == 0)
				continue;
			while (rooted->level[lists->targets[e]] + 1 != rooted->level[v])
			{
				e++;
				if (++looked % EMOGI_RUN_POLL == 0 && emogi_job_stopped(&run->job))
					return;
			}
			rooted->parent[v] = lists->targets[e];
		}
}

bool
emogi_spanning_bfs_grow(EmogiSpanningBfs *rooted)
{
	if (!emogi_cpu_run_step(rooted->run, place_roots, rooted, false))
		return false;
	for (uint64_t head = 0; head < rooted->tail; head = rooted->starts[rooted->nlevels])
	{
		rooted->at = rooted->nlevels++;
		rooted->starts[rooted->nlevels] = (uint32_t) rooted->tail;
		if (!emogi_cpu_run_step(rooted->run, reach_level, rooted,
								rooted->tail - head <= ALONE_SEARCH))
			return false;
	}
	return emogi_cpu_run_step(rooted->run, find_parents, rooted, false);
}

/* ---- walks ---- */

/* Visit the vertices of a level. */
static void
visit_level(void *arg, int thread, int nthreads)
{
	EmogiSpanningBfs *rooted = arg;
	EmogiCpuRun *run = rooted->run;
	const uint64_t end = rooted->starts[rooted->at + 1];
	uint64_t	i;

	while (!emogi_job_stopped(&run->job) &&
		   (i = rooted->starts[rooted->at] + emogi_job_take(&run->next, VERTICES_AT_ONCE)) < end)
		for (const uint64_t stop = emogi_cpu_run_chunk_end(i, VERTICES_AT_ONCE, end); i < stop; i++)
			rooted->visit(rooted->arg, rooted->order[i]);
}

/* Visit the vertices of one level, by all threads where there are many. */
static bool
visit_at(EmogiSpanningBfs *rooted, uint64_t level)
{
	rooted->at = level;
	return emogi_cpu_run_step(rooted->run, visit_level, rooted,
							  rooted->starts[level + 1] - rooted->starts[level] <= ALONE_VISIT);
}

bool
emogi_spanning_bfs_up(EmogiSpanningBfs *rooted, void (*visit) (void *arg, uint32_t v), void *arg)
{
	rooted->visit = visit;
	rooted->arg = arg;
	for (uint64_t level = rooted->nlevels; level-- > 0;)
		if (!visit_at(rooted, level))
			return false;
	return true;
}

bool
emogi_spanning_bfs_down(EmogiSpanningBfs *rooted, void (*visit) (void *arg, uint32_t v), void *arg)
{
	rooted->visit = visit;
	rooted->arg = arg;
	for (uint64_t level = 0; level < rooted->nlevels; level++)
		if (!visit_at(rooted, level))
			return false;
	return true;
}
