/*
 * degree_dag.c: a Graph as a simple undirected one whose edges lead from low degrees to high ones.
 *
 * Degrees are counted first, then vertices are ranked by them, then each vertex's list is cut to
 * the neighbours of lower rank: twice, to count and to write.
 */
#include "cpu/degree_dag.h"

#include <string.h>

#define VERTICES_AT_ONCE 512

/*
 * Get the distinct neighbours of a vertex but itself, ascending; *count of them. From two
 * orientations they are brought together in `buffer`.
 */
static inline const EmogiNeighbor *
merge_lists(const EmogiDegreeDag *oriented, uint64_t v, EmogiNeighbor *buffer, uint64_t *count)
{
	const EmogiAdjacency *forward = &oriented->forward;
	const EmogiAdjacency *backward = &oriented->backward;
	uint64_t	f = forward->offsets[v];
	uint64_t	b = backward->offsets[v];
	const uint64_t fend = forward->offsets[v + 1];
	const uint64_t bend = backward->offsets[v + 1];
	uint64_t	n = 0;

	while (f < fend || b < bend)
	{
		const uint32_t to = f < fend ? forward->targets[f] : EMOGI_NO_VERTEX;
		const uint32_t from = b < bend ? backward->targets[b] : EMOGI_NO_VERTEX;
		const uint32_t w = to < from ? to : from;

		if (w != v)
			buffer[n++] = (EmogiNeighbor) {w, to == from ? EMOGI_BOTH_WAYS : EMOGI_ONE_WAY};
		while (f < fend && forward->targets[f] == w)
			f++;
		while (b < bend && backward->targets[b] == w)
			b++;
	}
	*count = n;
	return buffer;
}

/* What is done with each neighbour of a vertex. */
typedef enum Visit
{
	COUNT_ALL,					/* into degree[v] */
	COUNT_LOWER,				/* into offsets[rank + 1]: those of lower rank */
	WRITE_LOWER
} Visit;

/* Write a neighbour of lower rank. */
static inline void
write_entry(EmogiDegreeDag *oriented, uint64_t at, uint32_t rank, uint32_t ways)
{
	oriented->targets[at] = rank;
	if (oriented->ways != NULL)
		oriented->ways[at] = (uint8_t) ways;
}

/* Visit the neighbours of a vertex of a symmetric Graph. */
static inline uint64_t
visit_symmetric(EmogiDegreeDag *oriented, Visit visit, uint64_t v, uint64_t place)
{
	const EmogiAdjacency *forward = &oriented->forward;
	const uint32_t own = visit == COUNT_ALL ? 0 : oriented->rank[v];
	uint32_t	before = (uint32_t) v;	/* loops are passed over */
	uint64_t	n = 0;

	for (uint64_t e = forward->offsets[v]; e < forward->offsets[v + 1]; e++)
	{
		const uint32_t w = forward->targets[e];

		if (w == before || w == v)
			continue;
		before = w;
		if (visit == COUNT_ALL)
			n++;
		else if (oriented->rank[w] < own)
		{
			if (visit == WRITE_LOWER)
				write_entry(oriented, place + n, oriented->rank[w], EMOGI_BOTH_WAYS);
			n++;
		}
	}
	return n;
}

/* Visit the neighbours of a vertex of a Graph with two orientations. */
static inline uint64_t
visit_merged(EmogiDegreeDag *oriented, Visit visit, uint64_t v, uint64_t place,
			 EmogiNeighbor *buffer)
{
	const uint32_t own = visit == COUNT_ALL ? 0 : oriented->rank[v];
	uint64_t	count;
	const EmogiNeighbor *neighbors = merge_lists(oriented, v, buffer, &count);
	uint64_t	n = 0;

	if (visit == COUNT_ALL)
		return count;
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t rank = oriented->rank[neighbors[i].vertex];

		if (rank >= own)
			continue;
		if (visit == WRITE_LOWER)
			write_entry(oriented, place + n, rank, neighbors[i].ways);
		n++;
	}
	return n;
}

/* Visit the neighbours of all vertices, by all threads. */
static inline void
visit_all(EmogiDegreeDag *oriented, Visit visit, int thread)
{
	EmogiNeighbor *buffer = oriented->buffers +
		(oriented->buffers == NULL ? 0 : (uint64_t) thread * oriented->longest);
	uint64_t	v;

	while (!emogi_job_stopped(&oriented->run->job) &&
		   (v = emogi_job_take(&oriented->run->next, VERTICES_AT_ONCE)) < oriented->nvertices)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(v, VERTICES_AT_ONCE, oriented->nvertices);

		for (; v < end; v++)
		{
			const uint64_t place = visit == WRITE_LOWER ? oriented->offsets[oriented->rank[v]] : 0;
			const uint64_t n = oriented->buffers == NULL
				? visit_symmetric(oriented, visit, v, place) :
				visit_merged(oriented, visit, v, place, buffer);

			if (visit == COUNT_ALL)
				oriented->degree[v] = (uint32_t) n;
			else if (visit == COUNT_LOWER)
				oriented->offsets[oriented->rank[v] + 1] = n;
		}
	}
}

static void
count_degrees(void *arg, int thread, int nthreads)
{
	visit_all(arg, COUNT_ALL, thread);
}

static void
count_lists(void *arg, int thread, int nthreads)
{
	visit_all(arg, COUNT_LOWER, thread);
}

static void
write_lists(void *arg, int thread, int nthreads)
{
	visit_all(arg, WRITE_LOWER, thread);
}

/* Rank the vertices, by counting. places: scratch, [nvertices + 1], zero. */
static void
rank_vertices(EmogiDegreeDag *oriented, uint64_t *places)
{
	uint64_t	place = 0;
	uint32_t	most = 0;

	for (uint64_t v = 0; v < oriented->nvertices; v++)
	{
		places[oriented->degree[v]]++;
		most = oriented->degree[v] > most ? oriented->degree[v] : most;
	}
	for (uint64_t degree = (uint64_t) most + 1; degree-- > 0;)
	{
		const uint64_t count = places[degree];

		places[degree] = place;
		place += count;
	}
	for (uint64_t v = 0; v < oriented->nvertices; v++)
		oriented->rank[v] = (uint32_t) places[oriented->degree[v]]++;
	memset(places, 0, ((uint64_t) most + 1) * sizeof *places);
}

/* Get room for what merged lists are brought together in; false without memory. */
static bool
take_buffers(EmogiDegreeDag *oriented)
{
	for (uint64_t v = 0; v < oriented->nvertices; v++)
	{
		const uint64_t length = oriented->forward.offsets[v + 1] - oriented->forward.offsets[v] +
			oriented->backward.offsets[v + 1] - oriented->backward.offsets[v];

		if (length > oriented->longest)
			oriented->longest = length;
	}
	oriented->buffers = emogi_cpu_run_scratch(oriented->run,
											  (uint64_t) emogi_pool_size(oriented->run->pool) *
											  (oriented->longest + 1),
											  sizeof *oriented->buffers);
	return oriented->buffers != NULL;
}

/* Take the arrays of vertices; false without memory. */
static bool
take_vertices(EmogiDegreeDag *oriented)
{
	const uint64_t n = oriented->nvertices;

	oriented->degree = emogi_cpu_run_scratch(oriented->run, 2 * n, sizeof(uint32_t));
	oriented->offsets = oriented->degree == NULL ? NULL
		: emogi_cpu_run_scratch(oriented->run, n + 1, sizeof(uint64_t));
	if (oriented->offsets == NULL)
		return false;
	oriented->rank = oriented->degree + n;
	return true;
}

/* Make the lengths of lists, in the place behind each, the places where they begin. */
static void
add_up(EmogiDegreeDag *oriented)
{
	for (uint64_t r = 0; r < oriented->nvertices; r++)
		oriented->offsets[r + 1] += oriented->offsets[r];
}

bool
emogi_degree_dag_make(EmogiCpuRun *run, const EmogiGraph *graph, bool with_ways,
					  EmogiDegreeDag *oriented)
{
	*oriented = (EmogiDegreeDag) {.run = run, .forward = graph->forward,
		.nvertices = graph->nvertices};
	if (graph->backward.offsets != NULL && graph->backward.offsets != graph->forward.offsets)
		oriented->backward = graph->backward;
	if (!take_vertices(oriented) ||
		(oriented->backward.offsets != NULL && !take_buffers(oriented)) ||
		!emogi_cpu_run_step(run, count_degrees, oriented, false))
		return false;
	rank_vertices(oriented, oriented->offsets);
	if (!emogi_cpu_run_step(run, count_lists, oriented, false))
		return false;
	add_up(oriented);
	oriented->targets = emogi_cpu_run_scratch(run, oriented->offsets[oriented->nvertices] + 1,
											  sizeof *oriented->targets);
	if (oriented->targets != NULL && with_ways && oriented->backward.offsets != NULL)
	{
		oriented->ways = emogi_cpu_run_scratch(run, oriented->offsets[oriented->nvertices] + 1, 1);
		if (oriented->ways == NULL)
			return false;
	}
	return oriented->targets != NULL && emogi_cpu_run_step(run, write_lists, oriented, false);
}
