/*
 * far_paths.c: measure contraction hierarchies for shortest paths: time and memory of the build,
 * and time of random queries with and without the hierarchy.
 *
 * A weight is that of the graph plus a fraction derived from the endpoints, so that sums are
 * rounded as sums of lengths are.
 */
#include "edge.h"
#include "series.h"

#include "contract/semirings.h"
#include "contract/contraction.h"

#include <stdlib.h>

/* Compare times for qsort. */
static int
compare_times(const void *a, const void *b)
{
	const double x = *(const double *) a;
	const double y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Compute the weights of one direction; an edge has the same weight in both. */
static double *
make_weights(const EmogiBench *bench, const EmogiAdjacency *lists)
{
	const EmogiGraph *graph = &bench->built.graph;
	double	   *weights = emogi_map_memory((lists->nedges + 1) * sizeof(double));

	if (weights == NULL)
		emogi_bench_die("out of memory for the weights", NULL);
	for (uint64_t v = 0; v < graph->nvertices; v++)
		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint64_t w = lists->targets[e];
			const uint64_t pair = v < w ? v << 32 | w : w << 32 | v;

			weights[e] = emogi_weight(lists->weights, graph->weight_type, e) + (double) (emogi_random(bench->options.seed + 7, pair) >> 11) * 0x1p-53;
		}
	return weights;
}

/* Time paths between random pairs of vertices, by bidirectional search if made is NULL. */
static void
time_paths(EmogiBench *bench, const EmogiGraph *graph, const EmogiContraction *made, const char *what)
{
	const uint64_t npaths = bench->options.nfar_paths;
	double	   *times = calloc(npaths, sizeof(double));
	uint64_t	nvertices = 0,
				ngiven_up = 0;

	if (times == NULL)
		emogi_bench_die("out of memory for the times", NULL);
	for (uint64_t i = 0; i < npaths; i++)
	{
		const uint32_t source = (uint32_t) (emogi_random(bench->options.seed + 5, 2 * i) % graph->nvertices);
		const uint32_t target = (uint32_t) (emogi_random(bench->options.seed + 5, 2 * i + 1) % graph->nvertices);
		const double start = emogi_pool_now_ms();
		EmogiControl control = {0};
		EmogiPathAnswer answer;
		EmogiError	error;
		EmogiStatus status;

		if (made != NULL)
			status = emogi_contraction_path(made, graph, false, source, target, &answer, &control, &error);
		else
			status = emogi_path_search(graph, NULL, source, target, UINT64_MAX, &answer, &control, &error);
		if (status != EMOGI_OK)
			emogi_bench_die("path search failed", &error);
		times[i] = emogi_pool_now_ms() - start;
		nvertices += answer.length;
		ngiven_up += answer.outcome == EMOGI_PATH_GAVE_UP;
		emogi_path_search_free(&answer);
	}
	qsort(times, npaths, sizeof(double), compare_times);
	printf("  %s: p50 %.3f ms, p95 %.3f ms, worst %.3f ms; %.0f vertices, %llu gave up\n", what, times[npaths / 2], times[npaths * 95 / 100],
		   times[npaths - 1], (double) nvertices / (double) npaths, (unsigned long long) ngiven_up);
	free(times);
}

void
emogi_bench_far_paths(EmogiBench *bench)
{
	EmogiGraph	graph = bench->built.graph;
	const size_t bytes = (graph.forward.nedges + 1) * sizeof(double);
	double	   *weights = make_weights(bench, &graph.forward);
	EmogiContraction *made;
	EmogiControl control = {0};
	EmogiError	error;
	double		start;

	graph.weight_type = EMOGI_WEIGHT_F64;
	graph.forward.weights = weights;
	graph.backward = graph.forward;
	start = emogi_pool_now_ms();
	if (emogi_contraction_make(&graph, UINT64_MAX, NULL, &made, &control, &error) != EMOGI_OK)
		emogi_bench_die("could not build the hierarchy", &error);
	printf("far paths: %llu edges, ", (unsigned long long) graph.forward.nedges);
	if (made == NULL)
		printf("not road-like: gave up after %.2f s\n", (emogi_pool_now_ms() - start) / 1e3);
	else
		printf("built in %.2f s, %llu bytes, %llu arcs, %llu ways, tolerance %g\n", (emogi_pool_now_ms() - start) / 1e3,
			   (unsigned long long) made->bytes, (unsigned long long) made->narcs, (unsigned long long) made->nways, made->tolerance);
	if (made != NULL)
		time_paths(bench, &graph, made, "hierarchy");
	time_paths(bench, &graph, NULL, "bidirectional");
	free(made);
	emogi_unmap_memory(weights, bytes);
}
