/*
 * degree.c: vertex degrees.
 *
 * Fills degree[nvertices], the number of edges in a vertex's list, and strength[nvertices], the sum
 * of their weights in list order; without weights the two are equal.
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"

#include "contract/semirings.h"

#define VERTEX_CHUNK 4096

typedef struct Degrees
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
} Degrees;

/* Sum the weights of a list. */
static double
add_weights(const EmogiGraph *graph, uint64_t first, uint64_t end)
{
	double		sum = 0.0;

	for (uint64_t e = first; e < end; e++)
		sum += emogi_weight(graph->forward.weights, graph->weight_type, e);
	return sum;
}

/* Fill both columns. */
static void
fill_columns(void *arg, int thread, int nthreads)
{
	Degrees    *degrees = arg;
	const EmogiGraph *graph = degrees->graph;
	const EmogiArray *columns = degrees->run.result->columns;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&degrees->run, VERTEX_CHUNK, graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			const uint64_t first = graph->forward.offsets[v];
			const uint64_t last = graph->forward.offsets[v + 1];

			columns[0].int64[v] = (int64_t) (last - first);
			columns[1].float64[v] = graph->weight_type == EMOGI_WEIGHT_NONE
				? (double) (last - first) : add_weights(graph, first, last);
		}
}

EmogiStatus
emogi_cpu_degree(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
				 EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Degrees		degrees = {.graph = graph};

	emogi_cpu_run_begin(&degrees.run, pool, graph, 0, result, control, error, "degrees");
	if (emogi_cpu_run_step(&degrees.run, fill_columns, &degrees, false))
	{
		result->nreached = graph->nvertices;
		result->nlevels = 1;
		result->edges_traversed = graph->forward.nedges;
	}
	return emogi_cpu_run_end(&degrees.run);
}
