/*
 * modularity.c: the modularity of given communities.
 *
 * Fills part[nvertices], whose sum is the modularity: (weight to the vertex's own community, loops
 * counted twice - resolution * strength * strength of the community / 2m) / 2m. Strength and 2m are
 * defined in communities.h. If the total weight is 0, parts are NaN.
 *
 * Sums of integer weights are exact up to 2^53, and therefore equal to those of a GPU.
 *
 * Community labels are arbitrary numbers; a hash table renumbers them in the order of their first
 * vertices.
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"

#include "containers/hash_table.h"
#include "contract/community_rules.h"
#include "contract/semirings.h"

#include <string.h>

#define VERTEX_CHUNK 1024

typedef struct Modularity
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	double		resolution;
	uint32_t   *community;		/* [nvertices] */
	double	   *strength;		/* [nvertices] */
	double	   *inside;			/* [nvertices]: weight to the own community; in the end the
								 * result */
	double	   *total;			/* [nvertices]: strength by community */
	double		whole;
} Modularity;

/* Renumber the communities. places: [2^bits], zeroed, more than nvertices. */
static void
number_communities(Modularity *modularity, const double *values, uint32_t *places, int bits)
{
	const uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint32_t	count = 0;

	for (uint64_t v = 0; v < modularity->graph->nvertices; v++)
	{
		const double value = values[v] + 0.0;	/* -0 is 0 */
		uint64_t	hash;
		uint64_t	i;

		memcpy(&hash, &value, sizeof hash);
		i = emogi_hash_slot(hash, bits);
		while (places[i] != 0 && values[places[i] - 1] != value)
			i = (i + 1) & mask;
		if (places[i] == 0)
		{
			places[i] = (uint32_t) v + 1;
			modularity->community[v] = count++;
		}
		else
			modularity->community[v] = modularity->community[places[i] - 1];
	}
}

/* Sum the weights of vertices. */
static void
add_weights(void *arg, int thread, int nthreads)
{
	Modularity *modularity = arg;
	const EmogiGraph *graph = modularity->graph;
	const EmogiAdjacency *lists = &graph->forward;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&modularity->run, VERTEX_CHUNK, graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			double		strength = 0.0;
			double		inside = 0.0;

			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				const uint32_t w = lists->targets[e];
				const double weight = emogi_weight(lists->weights, graph->weight_type, e) *
					(w == v ? 2.0 : 1.0);

				strength += weight;
				if (modularity->community[w] == modularity->community[v])
					inside += weight;
			}
			modularity->strength[v] = strength;
			modularity->inside[v] = inside;
		}
}

/* Convert the weights to parts. */
static void
set_parts(Modularity *modularity)
{
	const uint64_t n = modularity->graph->nvertices;

	for (uint64_t v = 0; v < n; v++)
	{
		modularity->total[modularity->community[v]] += modularity->strength[v];
		modularity->whole += modularity->strength[v];
	}
	for (uint64_t v = 0; v < n; v++)
		modularity->inside[v] =
			emogi_communities_part_of(modularity->resolution, modularity->inside[v],
									  modularity->strength[v],
									  modularity->total[modularity->community[v]],
									  modularity->whole);
}

EmogiStatus
emogi_cpu_modularity(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					 EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	const uint64_t n = graph->nvertices;
	Modularity	modularity = {.graph = graph, .resolution = query->resolution,
		.inside = result->columns[0].float64};
	uint32_t   *places = NULL;
	int			bits = 1;

	while (UINT64_C(1) << bits < n + n / 2 + 1)
		bits++;
	emogi_cpu_run_begin(&modularity.run, pool, graph, 0, result, control, error, "modularity");
	modularity.strength = emogi_cpu_run_scratch(&modularity.run, 2 * n, sizeof(double));
	if (modularity.strength != NULL)
		modularity.community = emogi_cpu_run_scratch(&modularity.run, n, sizeof(uint32_t));
	if (modularity.community != NULL)
		places = emogi_cpu_run_scratch(&modularity.run, UINT64_C(1) << bits, sizeof *places);
	if (places != NULL && !emogi_job_stopped(&modularity.run.job))
	{
		modularity.total = modularity.strength + n;
		number_communities(&modularity, query->values, places, bits);
		if (emogi_cpu_run_step(&modularity.run, add_weights, &modularity, false))
			set_parts(&modularity);
		result->nreached = n;
		result->nlevels = 1;
		result->edges_traversed = graph->forward.nedges;
	}
	return emogi_cpu_run_end(&modularity.run);
}
