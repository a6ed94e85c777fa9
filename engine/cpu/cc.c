/*
 * cc.c: weakly connected components by the threads of a pool.
 *
 * Fills component[nvertices]: the smallest vertex number of the component.
 *
 * Afforest [1]: component[v] is a link to a smaller vertex of the same component, or v itself at a root; an edge is
 * linked by climbing from both ends, always from the larger, until the ends meet or a root can be hung under the other
 * side. As links only lead downwards, the root that remains is the smallest vertex, whatever the order of the work.
 * First every vertex links its first and last neighbour, which makes most of the giant component; then all but its
 * vertices link the rest. An edge between a vertex within and one without must be met from without, so that this
 * needs both orientations; with one alone all edges are linked.
 *
 * [1] M. Sutton, T. Ben-Nun, A. Barak. Optimizing Parallel Graph Connectivity Computation via Subgraph Sampling. IPDPS
 *     2018. Sections III (linking) and IV (sampling, skipping the giant component).
 */
#include "algorithms.h"
#include "run.h"

/* Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon, commit 45449c8. */
#define VERTICES_AT_ONCE 1024
#define ROOTS_AT_ONCE 65536
#define AHEAD 16				/* vertices */
#define SAMPLES 1024			/* vertices asked which component is the giant */

/* What one thread has looked at. */
typedef struct Tally
{
	uint64_t	looked;
	char		pad[EMOGI_LINE_BYTES - 8];
} Tally;

typedef struct Components
{
	EmogiCpuRun run;
	EmogiAdjacency forward;
	EmogiAdjacency backward;	/* offsets NULL = not there; equal to forward = symmetric */
	uint64_t	nvertices;
	uint32_t   *component;		/* [nvertices], atomic */
	uint32_t	giant;			/* whose vertices are skipped; EMOGI_NO_VERTEX = none */
	Tally	   *tally;			/* [nthreads] */
} Components;

/* Read a link. */
static inline uint32_t
link_of(const uint32_t *component, uint32_t v)
{
	return __atomic_load_n(&component[v], __ATOMIC_RELAXED);
}

/* Put u and v into one tree; halves the paths that it climbs. */
static inline void
join(uint32_t *component, uint32_t u, uint32_t v)
{
	uint32_t	high = link_of(component, u);
	uint32_t	low = link_of(component, v);

	while (high != low)
	{
		uint32_t	parent,
					above;

		if (high < low)
		{
			uint32_t	swap = high;

			high = low;
			low = swap;
		}
		parent = link_of(component, high);
		if (parent == high &&
			__atomic_compare_exchange_n(&component[high], &parent, low, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return;
		above = link_of(component, parent);
		if (above != parent)	/* high is no root, so that any vertex above it will do as its link */
			__atomic_store_n(&component[high], above, __ATOMIC_RELAXED);
		high = above;
	}
}

/* Make every vertex a root. */
static void
make_roots(void *arg, int thread, int nthreads)
{
	Components *cc = arg;
	uint64_t	v;

	while (!emogi_job_stopped(&cc->run.job) && (v = emogi_job_take(&cc->run.next, ROOTS_AT_ONCE)) < cc->nvertices)
	{
		uint64_t	end = emogi_run_chunk_end(v, ROOTS_AT_ONCE, cc->nvertices);

		for (; v < end; v++)
			cc->component[v] = (uint32_t) v;
	}
}

/* Link every vertex with its first and its last neighbour. */
static void
link_sample(void *arg, int thread, int nthreads)
{
	Components *cc = arg;
	const EmogiAdjacency *forward = &cc->forward;
	uint64_t	v;

	while (!emogi_job_stopped(&cc->run.job) && (v = emogi_job_take(&cc->run.next, VERTICES_AT_ONCE)) < cc->nvertices)
	{
		uint64_t	end = emogi_run_chunk_end(v, VERTICES_AT_ONCE, cc->nvertices);
		uint64_t	first = forward->offsets[v];

		for (; v < end; v++)
		{
			uint64_t	after = forward->offsets[v + 1];

			if (v + AHEAD < end)
				__builtin_prefetch(&forward->targets[forward->offsets[v + AHEAD]]);
			if (first < after)
				join(cc->component, (uint32_t) v, forward->targets[first]);
			if (first + 1 < after)
				join(cc->component, (uint32_t) v, forward->targets[after - 1]);
			first = after;
		}
	}
}

/* Replace every link by its root. */
static void
compress(void *arg, int thread, int nthreads)
{
	Components *cc = arg;
	uint64_t	v;

	while (!emogi_job_stopped(&cc->run.job) && (v = emogi_job_take(&cc->run.next, VERTICES_AT_ONCE)) < cc->nvertices)
	{
		uint64_t	end = emogi_run_chunk_end(v, VERTICES_AT_ONCE, cc->nvertices);

		for (; v < end; v++)
		{
			uint32_t	root = link_of(cc->component, (uint32_t) v);
			uint32_t	above;

			while ((above = link_of(cc->component, root)) != root)
				root = above;
			__atomic_store_n(&cc->component[v], root, __ATOMIC_RELAXED);
		}
	}
}

/* Link all of a vertex's list; false when the job has stopped. */
static bool
link_list(Components *cc, const EmogiAdjacency *adjacency, uint64_t v, Tally *tally)
{
	uint64_t	i = adjacency->offsets[v];
	uint64_t	end = adjacency->offsets[v + 1];

	tally->looked += end - i;
	while (i < end)
	{
		uint64_t	stop = emogi_run_chunk_end(i, EMOGI_RUN_POLL, end);

		for (; i < stop; i++)
			join(cc->component, (uint32_t) v, adjacency->targets[i]);
		if (i < end && emogi_job_stopped(&cc->run.job))
			return false;
	}
	return true;
}

/* Link the lists of all vertices that are not in the giant component. */
static void
link_rest(void *arg, int thread, int nthreads)
{
	Components *cc = arg;
	Tally	   *tally = &cc->tally[thread];
	bool		both = cc->giant != EMOGI_NO_VERTEX && cc->backward.targets != cc->forward.targets;
	uint64_t	v;

	while (!emogi_job_stopped(&cc->run.job) && (v = emogi_job_take(&cc->run.next, VERTICES_AT_ONCE)) < cc->nvertices)
	{
		uint64_t	end = emogi_run_chunk_end(v, VERTICES_AT_ONCE, cc->nvertices);
		uint64_t	polled = tally->looked;

		emogi_job_done(&cc->run.job, end - v);
		for (; v < end; v++)
		{
			if (link_of(cc->component, (uint32_t) v) == cc->giant)
				continue;
			if (!link_list(cc, &cc->forward, v, tally) || (both && !link_list(cc, &cc->backward, v, tally)))
				return;
			if (tally->looked - polled > EMOGI_RUN_POLL)
			{
				if (emogi_job_stopped(&cc->run.job))
					return;
				polled = tally->looked;
			}
		}
	}
}

/* Guess the giant component: the root that most of some vertices, spread evenly, have (by majority vote). */
static uint32_t
find_giant(const Components *cc)
{
	uint32_t	giant = EMOGI_NO_VERTEX;
	uint64_t	votes = 0;

	for (uint64_t i = 0; i < SAMPLES; i++)
	{
		uint32_t	root = cc->component[(i * UINT64_C(0x9E3779B97F4A7C15) >> 32) * cc->nvertices >> 32];

		if (votes == 0)
			giant = root;
		votes = giant == root ? votes + 1 : votes - 1;
	}
	return giant;
}

/* Take the steps of Afforest; false when the job has stopped. */
static bool
find_components(Components *cc)
{
	EmogiCpuRun *run = &cc->run;

	if (!emogi_run_step(run, make_roots, cc, false) || !emogi_run_step(run, link_sample, cc, false) ||
		!emogi_run_step(run, compress, cc, false))
		return false;
	run->job.control->level = 1;
	cc->giant = cc->backward.offsets != NULL && cc->nvertices > 0 ? find_giant(cc) : EMOGI_NO_VERTEX;
	return emogi_run_step(run, link_rest, cc, false) && emogi_run_step(run, compress, cc, false);
}

EmogiStatus
emogi_cpu_cc(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result,
			 EmogiControl *control, EmogiError *error)
{
	Components	cc = {.forward = graph->forward, .backward = graph->backward, .nvertices = graph->nvertices};
	int			nthreads = emogi_pool_size(pool);

	emogi_run_begin(&cc.run, pool, graph, graph->nvertices, result, control, error, "components");
	cc.component = result->columns[0].vertex;
	cc.tally = emogi_run_scratch(&cc.run, (uint64_t) nthreads, sizeof(Tally));
	if (cc.tally != NULL && find_components(&cc))
	{
		result->nreached = graph->nvertices;
		result->nlevels = 2;
		result->edges_traversed = 2 * graph->nvertices;
		for (int t = 0; t < nthreads; t++)
			result->edges_traversed += cc.tally[t].looked;
	}
	return emogi_run_end(&cc.run);
}
