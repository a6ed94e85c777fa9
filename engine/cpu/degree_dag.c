/*
 * degree_dag.c: the degree-ordered DAG of a graph.
 *
 * Degrees are counted first, then vertices are ranked by them; then each vertex's list is reduced
 * to the neighbors of lower rank, in two passes, to count and to write.
 */
#include "cpu/degree_dag.h"

#include <string.h>

#define VERTEX_CHUNK 512

/*
 * Get the distinct neighbors of a vertex except itself, ascending; *count of them. The lists of
 * both directions are merged into `buffer`.
 */
static inline const EmogiNeighbor *
merge_lists(const EmogiDegreeDag *dag, uint64_t v, EmogiNeighbor *buffer, uint64_t *count)
{
	const EmogiAdjacency *forward = &dag->forward;
	const EmogiAdjacency *backward = &dag->backward;
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

/* What is done with each neighbor of a vertex. */
typedef enum Visit
{
	COUNT_ALL,					/* count all into degree[v] */
	COUNT_LOWER,				/* count those of lower rank into offsets[rank + 1] */
	WRITE_LOWER
} Visit;

/* Write a neighbor of lower rank. */
static inline void
write_entry(EmogiDegreeDag *dag, uint64_t at, uint32_t rank, uint32_t ways)
{
	dag->targets[at] = rank;
	if (dag->ways != NULL)
		dag->ways[at] = (uint8_t) ways;
}

/* Visit the neighbors of a vertex of a symmetric graph. */
static inline uint64_t
visit_symmetric(EmogiDegreeDag *dag, Visit visit, uint64_t v, uint64_t place)
{
	const EmogiAdjacency *forward = &dag->forward;
	const uint32_t own = visit == COUNT_ALL ? 0 : dag->rank[v];
	uint32_t	before = (uint32_t) v;	/* loops are skipped */
	uint64_t	n = 0;

	for (uint64_t e = forward->offsets[v]; e < forward->offsets[v + 1]; e++)
	{
		const uint32_t w = forward->targets[e];

		if (w == before || w == v)
			continue;
		before = w;
		if (visit == COUNT_ALL)
			n++;
		else if (dag->rank[w] < own)
		{
			if (visit == WRITE_LOWER)
				write_entry(dag, place + n, dag->rank[w], EMOGI_BOTH_WAYS);
			n++;
		}
	}
	return n;
}

/* Visit the neighbors of a vertex of a graph with two directions. */
static inline uint64_t
visit_merged(EmogiDegreeDag *dag, Visit visit, uint64_t v, uint64_t place, EmogiNeighbor *buffer)
{
	const uint32_t own = visit == COUNT_ALL ? 0 : dag->rank[v];
	uint64_t	count;
	const EmogiNeighbor *neighbors = merge_lists(dag, v, buffer, &count);
	uint64_t	n = 0;

	if (visit == COUNT_ALL)
		return count;
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t rank = dag->rank[neighbors[i].vertex];

		if (rank >= own)
			continue;
		if (visit == WRITE_LOWER)
			write_entry(dag, place + n, rank, neighbors[i].ways);
		n++;
	}
	return n;
}

/* Visit the neighbors of all vertices with all threads. */
static inline void
visit_all(EmogiDegreeDag *dag, Visit visit, int thread)
{
	EmogiNeighbor *buffer = dag->buffers +
		(dag->buffers == NULL ? 0 : (uint64_t) thread * dag->longest);

	for (uint64_t v, end;
		 emogi_job_take_chunk(&dag->run->job, &dag->run->next, VERTEX_CHUNK, dag->nvertices,
							  &v, &end);)
		for (; v < end; v++)
		{
			const uint64_t place = visit == WRITE_LOWER ? dag->offsets[dag->rank[v]] : 0;
			const uint64_t n = dag->buffers == NULL
				? visit_symmetric(dag, visit, v, place) :
				visit_merged(dag, visit, v, place, buffer);

			if (visit == COUNT_ALL)
				dag->degree[v] = (uint32_t) n;
			else if (visit == COUNT_LOWER)
				dag->offsets[dag->rank[v] + 1] = n;
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

/* Rank the vertices by counting sort. places: scratch, [nvertices + 1], zeroed. */
static void
rank_vertices(EmogiDegreeDag *dag, uint64_t *places)
{
	uint64_t	place = 0;
	uint32_t	max = 0;

	for (uint64_t v = 0; v < dag->nvertices; v++)
	{
		places[dag->degree[v]]++;
		max = dag->degree[v] > max ? dag->degree[v] : max;
	}
	for (uint64_t degree = (uint64_t) max + 1; degree-- > 0;)
	{
		const uint64_t count = places[degree];

		places[degree] = place;
		place += count;
	}
	for (uint64_t v = 0; v < dag->nvertices; v++)
		dag->rank[v] = (uint32_t) places[dag->degree[v]]++;
	memset(places, 0, ((uint64_t) max + 1) * sizeof *places);
}

/* Allocate the buffers for merged lists; false if out of memory. */
static bool
allocate_buffers(EmogiDegreeDag *dag)
{
	for (uint64_t v = 0; v < dag->nvertices; v++)
	{
		const uint64_t length = dag->forward.offsets[v + 1] - dag->forward.offsets[v] +
			dag->backward.offsets[v + 1] - dag->backward.offsets[v];

		if (length > dag->longest)
			dag->longest = length;
	}
	dag->buffers = emogi_cpu_run_scratch(dag->run,
										 (uint64_t) emogi_pool_size(dag->run->pool) *
										 (dag->longest + 1),
										 sizeof *dag->buffers);
	return dag->buffers != NULL;
}

/* Allocate the arrays of vertices; false if out of memory. */
static bool
allocate_vertices(EmogiDegreeDag *dag)
{
	const uint64_t n = dag->nvertices;

	dag->degree = emogi_cpu_run_scratch(dag->run, 2 * n, sizeof(uint32_t));
	dag->offsets = dag->degree == NULL ? NULL
		: emogi_cpu_run_scratch(dag->run, n + 1, sizeof(uint64_t));
	if (dag->offsets == NULL)
		return false;
	dag->rank = dag->degree + n;
	return true;
}

/* Convert the lengths of lists, each stored at rank + 1, to offsets. */
static void
add_up(EmogiDegreeDag *dag)
{
	for (uint64_t r = 0; r < dag->nvertices; r++)
		dag->offsets[r + 1] += dag->offsets[r];
}

bool
emogi_degree_dag_make(EmogiCpuRun *run, const EmogiGraph *graph, bool with_ways,
					  EmogiDegreeDag *dag)
{
	*dag = (EmogiDegreeDag) {.run = run, .forward = graph->forward,
		.nvertices = graph->nvertices};
	if (graph->backward.offsets != NULL && graph->backward.offsets != graph->forward.offsets)
		dag->backward = graph->backward;
	if (!allocate_vertices(dag) ||
		(dag->backward.offsets != NULL && !allocate_buffers(dag)) ||
		!emogi_cpu_run_step(run, count_degrees, dag, false))
		return false;
	rank_vertices(dag, dag->offsets);
	if (!emogi_cpu_run_step(run, count_lists, dag, false))
		return false;
	add_up(dag);
	dag->targets = emogi_cpu_run_scratch(run, dag->offsets[dag->nvertices] + 1,
										 sizeof *dag->targets);
	if (dag->targets != NULL && with_ways && dag->backward.offsets != NULL)
	{
		dag->ways = emogi_cpu_run_scratch(run, dag->offsets[dag->nvertices] + 1, 1);
		if (dag->ways == NULL)
			return false;
	}
	return dag->targets != NULL && emogi_cpu_run_step(run, write_lists, dag, false);
}
