/*
 * closeness_per_thread.c: closeness with one search per thread.
 *
 * A wave has as many sources as there are slots. Threads take the sources one by one and write the
 * hops to each vertex to a slot; then the slots are added to the totals in the order of the
 * sources. So the order of additions does not depend on the threads.
 */
#include "closeness.h"

#include <string.h>

#define SLOT_BYTES ((uint64_t) 64 << 20)	/* there are more slots than threads up to this size */
#define MAX_SLOTS 64
#define ADD_CHUNK 1024			/* vertices: their totals stay in the first-level cache */

typedef struct PerThread
{
	EmogiCpuRun *run;
	const EmogiAdjacency *lists;
	uint64_t	nvertices;
	const uint32_t *sources;	/* [count], of the wave */
	uint64_t	count;
	uint64_t	nslots;
	int32_t    *hops;			/* [nslots][nvertices], -1 = not reached */
	uint32_t   *orders;			/* [nthreads][nvertices]: reached vertices, by hops */
	double	   *inverse;		/* [nvertices + 1]: 1 / hops, up to nknown */
	uint64_t	nknown;
	uint64_t	deepest;		/* atomic: maximum of hops */
	uint64_t	nscanned;		/* atomic: edges */
	const EmogiMsbfsTotals *totals;
} PerThread;

/* Compute the hops from a source; returns the number of edges examined. */
static uint64_t
search_from(PerThread *state, uint32_t source, int32_t *hops, uint32_t *order)
{
	const uint64_t *offsets = state->lists->offsets;
	const uint32_t *targets = state->lists->targets;
	uint64_t	count = 1;
	uint64_t	nscanned = 0;
	uint64_t	polled = 0;
	uint64_t	known;
	uint64_t	deepest;

	memset(hops, 0xFF, state->nvertices * sizeof *hops);
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
		nscanned += end - offsets[u];
		if (nscanned - polled > EMOGI_RUN_POLL)
		{
			polled = nscanned;
			if (emogi_job_stopped(&state->run->job))
				return nscanned;
		}
	}
	deepest = (uint64_t) hops[order[count - 1]];
	known = __atomic_load_n(&state->deepest, __ATOMIC_RELAXED);
	while (known < deepest &&
		   !__atomic_compare_exchange_n(&state->deepest, &known, deepest, true, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
	return nscanned;
}

/* Search from the sources of a wave. */
static void
search_all(void *arg, int thread, int nthreads)
{
	PerThread  *state = arg;
	uint32_t   *order = state->orders + (uint64_t) thread * state->nvertices;
	uint64_t	nscanned = 0;

	for (uint64_t i; emogi_job_take(&state->run->job, &state->run->next, state->count, &i);)
	{
		nscanned += search_from(state, state->sources[i], state->hops + i * state->nvertices,
								order);
		emogi_job_done(&state->run->job, 1);
	}
	emogi_job_claim(&state->nscanned, nscanned);
}

/* Add the slots of a wave to the totals, vertex by vertex. */
static void
add_all(void *arg, int thread, int nthreads)
{
	PerThread  *state = arg;
	const EmogiMsbfsTotals *totals = state->totals;

	for (uint64_t first, end;
		 emogi_job_take_chunk(&state->run->job, &state->run->next, ADD_CHUNK, state->nvertices,
							  &first, &end);)
	{
		for (uint64_t i = 0; i < state->count; i++)
		{
			const int32_t *hops = state->hops + i * state->nvertices;

			for (uint64_t v = first; v < end; v++)
			{
				const int32_t of_v = hops[v] > 0 ? hops[v] : 0;

				totals->count[v] += hops[v] >= 0;
				totals->sum[v] += of_v;
				totals->harmonic[v] += state->inverse[of_v];
			}
		}
	}
}

/* Compute the inverses up to the deepest level; that of 0 hops is 0. */
static void
find_inverses(PerThread *state)
{
	for (; state->nknown <= state->deepest; state->nknown++)
		state->inverse[state->nknown] = state->nknown > 0 ? 1.0 / (double) state->nknown : 0.0;
}

/* Allocate the memory; false if out of memory. */
static bool
open_state(PerThread *state, uint64_t nsources)
{
	const uint64_t nthreads = (uint64_t) emogi_pool_size(state->run->pool);
	const uint64_t max_slots = SLOT_BYTES / (state->nvertices * sizeof *state->hops);

	state->nslots = max_slots < MAX_SLOTS ? max_slots : MAX_SLOTS;
	state->nslots = state->nslots > nthreads ? state->nslots : nthreads;
	state->nslots = state->nslots < nsources ? state->nslots : nsources;
	state->hops = emogi_cpu_run_scratch(state->run, state->nslots * state->nvertices,
										sizeof *state->hops);
	state->orders = state->hops == NULL ? NULL
		: emogi_cpu_run_scratch(state->run, nthreads * state->nvertices, sizeof *state->orders);
	state->inverse = state->orders == NULL ? NULL
		: emogi_cpu_run_scratch(state->run, state->nvertices + 1, sizeof *state->inverse);
	return state->inverse != NULL;
}

bool
emogi_closeness_per_thread(EmogiCpuRun *run, const EmogiGraph *graph, const uint32_t *sources,
						   uint64_t nsources, const EmogiMsbfsTotals *totals)
{
	PerThread	state = {.run = run, .lists = &graph->forward, .nvertices = graph->nvertices,
		.totals = totals};

	emogi_job_phase(&run->job, EMOGI_PHASE_RUN, nsources);
	if (!open_state(&state, nsources))
		return false;
	for (uint64_t first = 0; first < nsources; first += state.count)
	{
		state.sources = sources + first;
		state.count = emogi_cpu_run_chunk_end(first, state.nslots, nsources) - first;
		if (!emogi_cpu_run_step(run, search_all, &state, state.count == 1))
			break;
		find_inverses(&state);
		if (!emogi_cpu_run_step(run, add_all, &state, false))
			break;
	}
	run->result->edges_traversed += state.nscanned;
	run->result->nlevels = (uint32_t) state.deepest + 1;
	return !emogi_job_stopped(&run->job);
}
