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

/*
 * Fill the columns for the vertices [begin, end). All that the loop needs is in variables whose
 * address is not taken, because the columns might alias anything else.
 */
static void
fill(const EmogiGraph *graph, int64_t *degree, double *strength, uint64_t begin, uint64_t end)
{
	const uint64_t *offsets = graph->forward.offsets;

	for (uint64_t v = begin; v < end; v++)
	{
		const int64_t count = (int64_t) (offsets[v + 1] - offsets[v]);

		degree[v] = count;
		strength[v] = (double) count;
	}
	if (graph->weight_type != EMOGI_WEIGHT_NONE)
		for (uint64_t v = begin; v < end; v++)
			strength[v] = add_weights(graph, offsets[v], offsets[v + 1]);
}

/* Fill both columns. */
static void
fill_columns(void *arg, int thread, int nthreads)
{
	Degrees    *degrees = arg;
	const EmogiArray *columns = degrees->run.result->columns;
	uint64_t	begin;
	uint64_t	end;

	while (emogi_cpu_run_take(&degrees->run, VERTEX_CHUNK, degrees->graph->nvertices, &begin, &end))
		fill(degrees->graph, columns[0].int64, columns[1].float64, begin, end);
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
