/*
 * cc.c: weakly connected components.
 *
 * Fills component[nvertices]: the smallest vertex number of the component.
 *
 * Afforest [1], a union-find in which component[v] is the parent of v: a smaller vertex of the same
 * component, or v itself at a root. An edge is linked by climbing from both ends, always from the
 * larger, until the ends meet or a root can be linked to the other side. Because parents are always
 * smaller, the remaining root is the smallest vertex, regardless of the order of the work. First
 * every vertex links its first and last neighbor, which joins most of the giant component; then all
 * vertices outside the giant link the rest of their edges. An edge between the giant and another
 * vertex must be found from the other vertex, so that this needs both directions; with one
 * direction, all edges are linked.
 *
 * [1] M. Sutton, T. Ben-Nun, A. Barak. Optimizing Parallel Graph Connectivity Computation via
 *     Subgraph Sampling. IPDPS 2018. Sections III (linking) and IV (sampling, skipping the giant
 *     component).
 */
#include "cpu_algorithms.h"
#include "cpu/union_find.h"
#include "cpu/cpu_run.h"

/*
 * Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon, commit
 * 45449c8.
 */
#define VERTEX_CHUNK 1024
#define ROOT_CHUNK 65536
#define PREFETCH_DISTANCE 16	/* prefetch distance, vertices */

/* Counters of one thread. */
typedef struct Tally
{
	uint64_t	nscanned;
	char		pad[EMOGI_LINE_BYTES - 8];
} Tally;

typedef struct Components
{
	EmogiCpuRun run;
	EmogiAdjacency forward;
	EmogiAdjacency backward;	/* offsets NULL = missing; equal to forward = symmetric */
	uint64_t	nvertices;
	uint32_t   *component;		/* [nvertices], atomic */
	uint32_t	giant;			/* its vertices are skipped; EMOGI_NO_VERTEX = none */
	Tally	   *tally;			/* [nthreads] */
} Components;

/* Make every vertex a root. */
static void
make_roots(void *arg, int thread, int nthreads)
{
	Components *cc = arg;

	for (uint64_t v, end; emogi_cpu_run_take(&cc->run, ROOT_CHUNK, cc->nvertices, &v, &end);)
		for (; v < end; v++)
			cc->component[v] = (uint32_t) v;
}

/* Link every vertex with its first and last neighbor. */
static void
link_sample(void *arg, int thread, int nthreads)
{
	Components *cc = arg;
	const EmogiAdjacency *forward = &cc->forward;

	for (uint64_t v, end; emogi_cpu_run_take(&cc->run, VERTEX_CHUNK, cc->nvertices, &v, &end);)
	{
		uint64_t	first = forward->offsets[v];

		for (; v < end; v++)
		{
			uint64_t	after = forward->offsets[v + 1];

			if (v + PREFETCH_DISTANCE < end)
				__builtin_prefetch(&forward->targets[forward->offsets[v + PREFETCH_DISTANCE]]);
			if (first < after)
				emogi_union_find_join(cc->component, (uint32_t) v, forward->targets[first]);
			if (first + 1 < after)
				emogi_union_find_join(cc->component, (uint32_t) v, forward->targets[after - 1]);
			first = after;
		}
	}
}

/* Replace every parent by the root. */
static void
compress(void *arg, int thread, int nthreads)
{
	Components *cc = arg;

	for (uint64_t v, end; emogi_cpu_run_take(&cc->run, VERTEX_CHUNK, cc->nvertices, &v, &end);)
		for (; v < end; v++)
			emogi_union_find_compress(cc->component, (uint32_t) v);
}

/* Link a vertex with its whole list; false if the job has stopped. */
static bool
link_list(Components *cc, const EmogiAdjacency *adjacency, uint64_t v, Tally *tally)
{
	uint64_t	i = adjacency->offsets[v];
	uint64_t	end = adjacency->offsets[v + 1];

	tally->nscanned += end - i;
	while (i < end)
	{
		uint64_t	stop = emogi_cpu_run_chunk_end(i, EMOGI_RUN_POLL, end);

		for (; i < stop; i++)
			emogi_union_find_join(cc->component, (uint32_t) v, adjacency->targets[i]);
		if (i < end && emogi_job_stopped(&cc->run.job))
			return false;
	}
	return true;
}

/* Link the lists of all vertices outside the giant component. */
static void
link_rest(void *arg, int thread, int nthreads)
{
	Components *cc = arg;
	Tally	   *tally = &cc->tally[thread];
	bool		both = cc->giant != EMOGI_NO_VERTEX && cc->backward.targets != cc->forward.targets;

	for (uint64_t v, end; emogi_cpu_run_take(&cc->run, VERTEX_CHUNK, cc->nvertices, &v, &end);)
	{
		uint64_t	polled = tally->nscanned;

		emogi_job_done(&cc->run.job, end - v);
		for (; v < end; v++)
		{
			if (emogi_union_find_read(cc->component, (uint32_t) v) == cc->giant)
				continue;
			if (!link_list(cc, &cc->forward, v, tally) ||
				(both && !link_list(cc, &cc->backward, v, tally)))
				return;
			if (tally->nscanned - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&cc->run.job))
					return;
				polled = tally->nscanned;
			}
		}
	}
}

/* Run the steps of Afforest; false if the job has stopped. */
static bool
find_components(Components *cc)
{
	EmogiCpuRun *run = &cc->run;

	if (!emogi_cpu_run_step(run, make_roots, cc, false) ||
		!emogi_cpu_run_step(run, link_sample, cc, false) ||
		!emogi_cpu_run_step(run, compress, cc, false))
		return false;
	run->job.control->level = 1;
	cc->giant = cc->backward.offsets != NULL &&
		cc->nvertices > 0 ? emogi_union_find_giant(cc->component, cc->nvertices) : EMOGI_NO_VERTEX;
	return emogi_cpu_run_step(run, link_rest, cc, false) &&
		emogi_cpu_run_step(run, compress, cc, false);
}

EmogiStatus
emogi_cpu_cc(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			 EmogiControl *control, EmogiError *error)
{
	Components	cc = {.forward = graph->forward, .backward = graph->backward,
		.nvertices = graph->nvertices};
	int			nthreads = emogi_pool_size(pool);

	emogi_cpu_run_begin(&cc.run, pool, graph, graph->nvertices, result, control, error,
						"components");
	cc.component = result->columns[0].vertex;
	cc.tally = emogi_cpu_run_scratch(&cc.run, (uint64_t) nthreads, sizeof(Tally));
	if (cc.tally != NULL && find_components(&cc))
	{
		result->nreached = graph->nvertices;
		result->nlevels = 2;
		result->edges_traversed = 2 * graph->nvertices;
		for (int t = 0; t < nthreads; t++)
			result->edges_traversed += cc.tally[t].nscanned;
	}
	return emogi_cpu_run_end(&cc.run);
}
