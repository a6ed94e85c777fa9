/*
 * remaining_cycle.c: a cycle among the vertices that Kahn's method never takes.
 *
 * Each of these vertices has a predecessor among them, so that following predecessors ends in a
 * cycle. The result depends only on the graph and on which vertices remain.
 */
#include "cpu/remaining_cycle.h"

#include <stdio.h>
#include <string.h>

/* Check whether the job may continue, polling every EMOGI_RUN_POLL edges. */
static inline bool
may_continue(EmogiCpuRun *run, uint64_t *polled, uint64_t more)
{
	*polled += more;
	if (*polled < EMOGI_RUN_POLL)
		return true;
	*polled = 0;
	return !emogi_job_stopped(&run->job);
}

/* Get the end of a vertex's list; it equals the beginning if the edges are not used. */
static inline uint64_t
list_end(const EmogiRemaining *remaining, uint64_t v)
{
	const bool	is_used = remaining->hops == NULL || remaining->hops[v] < remaining->max_hops;

	return remaining->lists->offsets[is_used ? v + 1 : v];
}

/*
 * Find the smallest remaining predecessor of every remaining vertex. Returns a vertex on a cycle,
 * or EMOGI_NO_VERTEX if the job has stopped.
 */
static uint32_t
find_on_cycle(EmogiCpuRun *run, const EmogiRemaining *remaining, uint32_t *before)
{
	const EmogiAdjacency *lists = remaining->lists;
	uint64_t	polled = 0;
	uint32_t	at = EMOGI_NO_VERTEX;
	uint32_t	smallest;

	memset(before, 0xFF, remaining->nvertices * sizeof *before);
	for (uint64_t v = 0; v < remaining->nvertices; v++)
	{
		const uint64_t end = list_end(remaining, v);

		if (remaining->nbefore[v] == 0)
			continue;
		if (!may_continue(run, &polled, end - lists->offsets[v]))
			return EMOGI_NO_VERTEX;
		at = (uint32_t) v;
		for (uint64_t e = lists->offsets[v]; e < end; e++)
		{
			if (lists->targets[e] == v)
				return (uint32_t) v;
			if (before[lists->targets[e]] == EMOGI_NO_VERTEX)
				before[lists->targets[e]] = (uint32_t) v;
		}
	}
	for (uint64_t i = 0; i < remaining->nremaining; i++)
		at = before[at];
	smallest = at;
	for (uint32_t v = before[at]; v != at; v = before[v])
		smallest = v < smallest ? v : smallest;
	return smallest;
}

/*
 * Find the last vertex of a shortest path from a vertex to itself among the remaining vertices.
 * before: [nvertices], receives the predecessor of each vertex.
 */
static uint32_t
search_back(EmogiCpuRun *run, const EmogiRemaining *remaining, uint32_t source, uint32_t *before)
{
	const EmogiAdjacency *lists = remaining->lists;
	uint32_t   *queue = remaining->queue;
	uint64_t	polled = 0;
	uint64_t	tail = 0;

	memset(before, 0xFF, remaining->nvertices * sizeof *before);
	queue[tail++] = source;
	for (uint64_t head = 0; head < tail; head++)
	{
		const uint32_t v = queue[head];
		const uint64_t end = list_end(remaining, v);

		if (!may_continue(run, &polled, end - lists->offsets[v]))
			break;
		for (uint64_t e = lists->offsets[v]; e < end; e++)
		{
			const uint32_t w = lists->targets[e];

			if (w == source)
				return v;
			if (remaining->nbefore[w] == 0 || before[w] != EMOGI_NO_VERTEX)
				continue;
			before[w] = v;
			queue[tail++] = w;
		}
	}
	return EMOGI_NO_VERTEX;
}

void
emogi_remaining_cycle_report(EmogiCpuRun *run, const EmogiRemaining *remaining)
{
	EmogiRefusal *refusal = &run->result->refusal;
	uint32_t   *before = emogi_cpu_run_scratch(run, remaining->nvertices, sizeof *before);
	uint32_t	source = before == NULL ? EMOGI_NO_VERTEX : find_on_cycle(run, remaining, before);
	uint32_t	last = source == EMOGI_NO_VERTEX ? source
		: search_back(run, remaining, source, before);

	if (last == EMOGI_NO_VERTEX)
		return;
	refusal->cycle_length = 1;
	for (uint32_t v = last; v != source; v = before[v])
		refusal->cycle_length++;
	for (uint64_t i = refusal->cycle_length; i-- > 0; last = before[last])
		if (i < EMOGI_CYCLE_NAMED)
			refusal->cycle[i] = last;
	refusal->kind = EMOGI_HAS_CYCLE;
	snprintf(run->error->message, sizeof run->error->message, "the graph has a cycle");
	snprintf(run->error->detail, sizeof run->error->detail,
			 "of %llu edges, through the vertex of number %u",
			 (unsigned long long) refusal->cycle_length, source);
	emogi_job_fail(&run->job, EMOGI_BAD_INPUT);
}
