/*
 * hierarchy.c: print the number of communities at the last level of a hierarchy, their modularity,
 * and a checksum that identifies the result.
 */
#include "series.h"

#include "contract/hierarchy.h"
#include "contract/semirings.h"

#include <stdlib.h>

#define VERTEX_CHUNK 4096

typedef struct Weighing
{
	const EmogiGraph *graph;
	const EmogiResult *result;
	double	   *total;			/* [nvertices], atomic: strengths, indexed by community head */
	uint64_t	next;			/* atomic */
	double		inside;			/* atomic: weight of edges within communities */
	double		whole;			/* atomic: weight of all edges */
} Weighing;

/* Add atomically to a double. Sums of integers are exact. */
static void
add_to(double *sum, double value)
{
	double		before,
				after;

	__atomic_load(sum, &before, __ATOMIC_RELAXED);
	do
		after = before + value;
	while (!__atomic_compare_exchange(sum, &before, &after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* Get the head of a vertex's community at the last level. */
static uint32_t
head_of(const EmogiResult *result, uint64_t v)
{
	return emogi_hierarchy_community(result->columns[1].vertex, result->columns[0].int32, (uint32_t) v, result->nlevels - 1);
}

/* Add up the weights of vertices' lists. */
static void
weigh(void *arg, int thread, int nthreads)
{
	Weighing   *weighing = arg;
	const EmogiGraph *graph = weighing->graph;
	const EmogiAdjacency *lists = &graph->forward;
	double		inside = 0.0;
	double		whole = 0.0;
	uint64_t	v;

	while ((v = __atomic_fetch_add(&weighing->next, VERTEX_CHUNK, __ATOMIC_RELAXED)) < graph->nvertices)
		for (const uint64_t end = v + VERTEX_CHUNK < graph->nvertices ? v + VERTEX_CHUNK : graph->nvertices; v < end; v++)
		{
			const uint32_t own = head_of(weighing->result, v);
			double		strength = 0.0;

			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				const uint32_t w = lists->targets[e];
				const double weight = emogi_weight(lists->weights, graph->weight_type, e) * (w == v ? 2.0 : 1.0);

				strength += weight;
				if (head_of(weighing->result, w) == own)
					inside += weight;
			}
			whole += strength;
			add_to(&weighing->total[own], strength);
		}
	add_to(&weighing->inside, inside);
	add_to(&weighing->whole, whole);
}

void
emogi_bench_print_hierarchy(EmogiBench *bench, const EmogiSeries *series, const EmogiRun *run)
{
	const uint64_t n = series->graph.nvertices;
	Weighing	weighing = {.graph = &series->graph, .result = &run->result, .total = calloc(n + 1, sizeof(double))};
	uint64_t	count = 0;
	uint64_t	answer = 0;
	double		squares = 0.0;

	if (weighing.total == NULL || run->result.nlevels == 0)
		emogi_bench_die("out of memory for the communities", NULL);
	emogi_pool_run(bench->pool, weigh, &weighing);
	for (uint64_t v = 0; v < n; v++)
	{
		count += run->result.columns[1].vertex[v] == v;
		answer = (answer ^ run->result.columns[1].vertex[v] ^ (uint64_t) run->result.columns[0].int32[v] << 32) * UINT64_C(0x9E3779B97F4A7C15);
		answer ^= answer >> 29;
		squares += weighing.total[v] / weighing.whole * (weighing.total[v] / weighing.whole);
	}
	printf("  %llu communities at the last level, modularity %.6f, checksum %016llx\n", (unsigned long long) count,
		   weighing.inside / weighing.whole - squares, (unsigned long long) answer);
	free(weighing.total);
}
