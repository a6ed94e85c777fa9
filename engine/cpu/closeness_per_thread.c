/*
 * closeness_per_thread.c: the searches of closeness where each thread makes its own.
 *
 * A wave is as many sources as there are slots. Threads take them one by one and leave the hops to
 * each vertex in a slot; then the slots are added to the totals in the order of the sources. So
 * sums are made in that order, whoever searched.
 */
#include "closeness.h"

#include <string.h>

#define SLOT_BYTES ((uint64_t) 64 << 20)	/* more slots than threads are taken up to this */
#define MOST_SLOTS 64
#define ADD_AT_ONCE 1024		/* vertices: their totals stay in the first cache */

typedef struct Apart
{
	EmogiCpuRun *run;
	const EmogiAdjacency *lists;
	uint64_t	nvertices;
	const uint32_t *sources;	/* [count], of the wave */
	uint64_t	count;
	uint64_t	nslots;
	int32_t    *hops;			/* [nslots][nvertices], -1 = not reached */
	uint32_t   *orders;			/* [nthreads][nvertices]: those reached, by hops */
	double	   *inverse;		/* [nvertices + 1]: 1 / hops, as far as known */
	uint64_t	nknown;
	uint64_t	deepest;		/* atomic: hops */
	uint64_t	looked;			/* atomic: list entries */
	const EmogiMsbfsTotals *totals;
} Apart;

/* Find the hops from a source; gets the list entries looked at. */
static uint64_t
search_from(Apart *apart, uint32_t source, int32_t *hops, uint32_t *order)
{
	const uint64_t *offsets = apart->lists->offsets;
	const uint32_t *targets = apart->lists->targets;
	uint64_t	count = 1;
	uint64_t	looked = 0;
	uint64_t	polled = 0;
	uint64_t	known;
	uint64_t	deepest;

	memset(hops, 0xFF, apart->nvertices * sizeof *hops);
	hops[source] = 0;
	order[0] = source;
	for (uint64_t i = 0; i < count; i++)
	{
		const uint32_t u = order[i];
		const uint64_t end = offsets[u + UINT64_C(1)];
		const int32_t next = hops[u] + 1;

		for (uint64_t e = offsets[u]; e < end; e++)
			if (hops[targets[e]] < 0)
			{
				hops[targets[e]] = next;
				order[count++] = targets[e];
			}
		looked += end - offsets[u];
		if (looked - polled > EMOGI_RUN_POLL)
		{
			polled = looked;
			if (emogi_job_stopped(&apart->run->job))
				return looked;
		}
	}
	deepest = (uint64_t) hops[order[count - 1]];
	known = __atomic_load_n(&apart->deepest, __ATOMIC_RELAXED);
	while (known < deepest &&
		   !__atomic_compare_exchange_n(&apart->deepest, &known, deepest, true, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
	return looked;
}

/* Search from the sources of a wave. */
static void
search_all(void *arg, int thread, int nthreads)
{
	Apart	   *apart = arg;
	uint32_t   *order = apart->orders + (uint64_t) thread * apart->nvertices;
	uint64_t	looked = 0;
	uint64_t	i;

	while (!emogi_job_stopped(&apart->run->job) &&
		   (i = emogi_job_take(&apart->run->next, 1)) < apart->count)
	{
		looked += search_from(apart, apart->sources[i], apart->hops + i * apart->nvertices, order);
		emogi_job_done(&apart->run->job, 1);
	}
	emogi_job_take(&apart->looked, looked);
}

/* Add what came of a wave, vertex by vertex. */
static void
add_all(void *arg, int thread, int nthreads)
{
	Apart	   *apart = arg;
	const EmogiMsbfsTotals *totals = apart->totals;
	uint64_t	first;

	while (!emogi_job_stopped(&apart->run->job) &&
		   (first = emogi_job_take(&apart->run->next, ADD_AT_ONCE)) < apart->nvertices)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(first, ADD_AT_ONCE, apart->nvertices);

		for (uint64_t i = 0; i < apart->count; i++)
		{
			const int32_t *hops = apart->hops + i * apart->nvertices;

			for (uint64_t v = first; v < end; v++)
			{
				const int32_t of_v = hops[v] > 0 ? hops[v] : 0;

				totals->count[v] += hops[v] >= 0;
				totals->sum[v] += of_v;
				totals->harmonic[v] += apart->inverse[of_v];
			}
		}
	}
}

/* Make the inverses of all hops that there are; that of 0 hops is 0. */
static void
find_inverses(Apart *apart)
{
	for (; apart->nknown <= apart->deepest; apart->nknown++)
		apart->inverse[apart->nknown] = apart->nknown > 0 ? 1.0 / (double) apart->nknown : 0.0;
}

/* Take the memory; false without. */
static bool
open_apart(Apart *apart, uint64_t nsources)
{
	const uint64_t nthreads = (uint64_t) emogi_pool_size(apart->run->pool);
	const uint64_t most = SLOT_BYTES / (apart->nvertices * sizeof *apart->hops);

	apart->nslots = most < MOST_SLOTS ? most : MOST_SLOTS;
	apart->nslots = apart->nslots > nthreads ? apart->nslots : nthreads;
	apart->nslots = apart->nslots < nsources ? apart->nslots : nsources;
	apart->hops = emogi_cpu_run_scratch(apart->run, apart->nslots * apart->nvertices,
										sizeof *apart->hops);
	apart->orders = apart->hops == NULL ? NULL
		: emogi_cpu_run_scratch(apart->run, nthreads * apart->nvertices, sizeof *apart->orders);
	apart->inverse = apart->orders == NULL ? NULL
		: emogi_cpu_run_scratch(apart->run, apart->nvertices + 1, sizeof *apart->inverse);
	return apart->inverse != NULL;
}

bool
emogi_closeness_per_thread(EmogiCpuRun *run, const EmogiGraph *graph, const uint32_t *sources,
						   uint64_t nsources, const EmogiMsbfsTotals *totals)
{
	Apart		apart = {.run = run, .lists = &graph->forward, .nvertices = graph->nvertices,
		.totals = totals};

	emogi_job_phase(&run->job, EMOGI_PHASE_RUN, nsources);
	if (!open_apart(&apart, nsources))
		return false;
	for (uint64_t first = 0; first < nsources; first += apart.count)
	{
		apart.sources = sources + first;
		apart.count = emogi_cpu_run_chunk_end(first, apart.nslots, nsources) - first;
		if (!emogi_cpu_run_step(run, search_all, &apart, apart.count == 1))
			break;
		find_inverses(&apart);
		if (!emogi_cpu_run_step(run, add_all, &apart, false))
			break;
	}
	run->result->edges_traversed += apart.looked;
	run->result->nlevels = (uint32_t) apart.deepest + 1;
	return !emogi_job_stopped(&run->job);
}
