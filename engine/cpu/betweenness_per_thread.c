/*
 * betweenness_per_thread.c: betweenness with one search per thread.
 *
 * A wave has as many sources as there are slots. Threads take the sources one by one and write to a
 * slot which vertices the source reaches and how much it depends on each; then the slots are added
 * to the sums in the order of the sources. So the order of additions does not depend on the
 * threads.
 *
 * Path counts are pushed during the search, which is exact in any order below 2^53. Beyond that,
 * they are recomputed by pulling level by level in list order, as betweenness.c does. If they
 * approach the range of a double, as between the corners of a road network, they are recomputed
 * once more, with a separate exponent for each.
 */
#include "betweenness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* for small graphs, there are more slots than threads up to this size */
#define SLOT_BYTES ((uint64_t) 8 << 20)
#define MAX_SLOTS 64			/* per thread */
#define MAX_BYTES ((uint64_t) 1 << 30)	/* fewer threads search if all would need more */
#define ADD_CHUNK 4096			/* vertices */
#define DENSE_SHARE 8	/* of all vertices: if slots reach more of them, all vertices are added */

/* A path count of any size: number * 2^shift, with number below 0x1p512. */
typedef struct ScaledNumber
{
	double		number;
	int64_t		shift;			/* a multiple of 512 */
} ScaledNumber;

/* The scratch memory of a thread. */
typedef struct Scratch
{
	int32_t    *level;			/* [nvertices], -1 between searches */
	double	   *paths;			/* [nvertices], number of paths to each vertex; once finished, (1
								 * + dependency) / paths */
	ScaledNumber	   *many;	/* [nvertices]; NULL until counts overflow */
	uint64_t	nscanned;
	uint32_t	nlevels;
	char		pad[EMOGI_LINE_BYTES - 36];
} Scratch;

/* The result of a search. */
typedef struct Slot
{
	uint32_t   *order;			/* [nvertices], reached vertices, by level */
	uint64_t	count;
	double	   *dependency;		/* [nvertices], 0 outside of order and between waves */
} Slot;

typedef struct PerThread
{
	EmogiBetweenness *all;
	int			nsearching;		/* threads */
	Scratch    *scratch;		/* [nsearching] */
	Slot	   *slots;			/* [nslots] */
	uint64_t	nslots;
	uint64_t	first;			/* the sources of the wave: first .. first + count - 1 */
	uint64_t	count;
} PerThread;

/*
 * Find the vertices that a source reaches, and the number of paths to each; false if the job has
 * stopped.
 */
static bool
find_paths(const PerThread *state, Scratch *scratch, Slot *slot, uint32_t source)
{
	const EmogiAdjacency *lists = &state->all->graph->forward;
	int32_t    *level = scratch->level;
	double	   *paths = scratch->paths;
	uint64_t	polled = scratch->nscanned;

	slot->order[0] = source;
	slot->count = 1;
	level[source] = 0;
	paths[source] = 1.0;
	for (uint64_t i = 0; i < slot->count; i++)
	{
		const uint32_t u = slot->order[i];
		const uint64_t end = lists->offsets[u + 1];
		const int32_t next = level[u] + 1;
		const double of_u = paths[u];
		uint32_t	last = EMOGI_NO_VERTEX;

		for (uint64_t e = lists->offsets[u]; e < end; e++)
		{
			const uint32_t w = lists->targets[e];

			if (level[w] < 0)
			{
				level[w] = next;
				paths[w] = of_u;
				slot->order[slot->count++] = w;
			}
			else if (level[w] == next && w != last)
				paths[w] += of_u;
			last = w;
		}
		scratch->nscanned += end - lists->offsets[u];
		if (scratch->nscanned - polled > EMOGI_RUN_POLL)
		{
			if (emogi_job_stopped(&state->all->run.job))
				return false;
			polled = scratch->nscanned;
		}
	}
	return true;
}

/* Check whether the number of paths to some vertex is at least `min`. */
static bool
has_many(const Scratch *scratch, const Slot *slot, double min)
{
	bool		is_large = false;

	for (uint64_t i = 0; i < slot->count; i++)
		is_large |= !(scratch->paths[slot->order[i]] < min);
	return is_large;
}

/* Recompute the path counts, each in list order. */
static void
pull_paths(const PerThread *state, Scratch *scratch, const Slot *slot)
{
	for (uint64_t i = 1; i < slot->count && !emogi_job_stopped(&state->all->run.job); i++)
	{
		const uint32_t v = slot->order[i];

		scratch->paths[v] = emogi_betweenness_sum(state->all, &state->all->graph->backward, v,
												  scratch->level, false, scratch->level[v] - 1,
												  scratch->paths);
	}
}

/*
 * Compute how much the source depends on each vertex, farthest first; false if the job has stopped.
 */
static bool
find_dependencies(const PerThread *state, Scratch *scratch, const Slot *slot)
{
	const EmogiAdjacency *lists = &state->all->graph->forward;
	const int32_t deepest = scratch->level[slot->order[slot->count - 1]];
	uint64_t	polled = scratch->nscanned;

	for (uint64_t i = slot->count; i-- > 1;)
	{
		const uint32_t v = slot->order[i];
		const int32_t level = scratch->level[v];
		double		dependency = 0.0;

		if (level < deepest)
		{
			dependency = scratch->paths[v] *
				emogi_betweenness_sum(state->all, lists, v, scratch->level, false, level + 1,
									  scratch->paths);
			scratch->nscanned += lists->offsets[v + 1] - lists->offsets[v];
		}
		slot->dependency[v] = dependency;
		scratch->paths[v] = (1.0 + dependency) / scratch->paths[v];
		if (scratch->nscanned - polled > EMOGI_RUN_POLL)
		{
			if (emogi_job_stopped(&state->all->run.job))
				return false;
			polled = scratch->nscanned;
		}
	}
	return true;
}

/* Multiply a number by 2^shift. */
static inline double
shift_number(double number, int64_t shift)
{
	return shift == 0 ? number : shift == 512 ? number * 0x1p512 : shift == -512 ? number * 0x1p-512
		: shift < 0 ? 0.0 : (double) INFINITY;
}

/* Add a path count to another. */
static inline void
add_many(ScaledNumber *sum, ScaledNumber more)
{
	if (sum->shift < more.shift)
		*sum = (ScaledNumber) {shift_number(sum->number, sum->shift - more.shift), more.shift};
	sum->number += shift_number(more.number, more.shift - sum->shift);
	if (sum->number >= 0x1p512)
		*sum = (ScaledNumber) {sum->number * 0x1p-512, sum->shift + 512};
}

/* Recompute the path counts with exponents. */
static void
pull_many(const PerThread *state, Scratch *scratch, const Slot *slot)
{
	const EmogiAdjacency *lists = &state->all->graph->backward;

	scratch->many[slot->order[0]] = (ScaledNumber) {1.0, 0};
	for (uint64_t i = 1; i < slot->count && !emogi_job_stopped(&state->all->run.job); i++)
	{
		const uint32_t v = slot->order[i];
		ScaledNumber		sum = {0.0, 0};
		uint32_t	last = EMOGI_NO_VERTEX;

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t u = lists->targets[e];

			if (u != last && scratch->level[u] == scratch->level[v] - 1)
				add_many(&sum, scratch->many[u]);
			last = u;
		}
		scratch->many[v] = sum;
	}
}

/* Compute the dependencies from path counts with exponents; false if the job has stopped. */
static bool
find_dependencies_of_many(const PerThread *state, const Scratch *scratch, const Slot *slot)
{
	const EmogiAdjacency *lists = &state->all->graph->forward;

	for (uint64_t i = slot->count; i-- > 1 && !emogi_job_stopped(&state->all->run.job);)
	{
		const uint32_t v = slot->order[i];
		const ScaledNumber	of_v = scratch->many[v];
		uint32_t	last = EMOGI_NO_VERTEX;
		double		dependency = 0.0;

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t w = lists->targets[e];
			const ScaledNumber	of_w = scratch->many[w];

			if (w != last && scratch->level[w] == scratch->level[v] + 1)
				dependency += shift_number(of_v.number / of_w.number, of_v.shift - of_w.shift) *
					(1.0 + slot->dependency[w]);
			last = w;
		}
		slot->dependency[v] = dependency;
	}
	return !emogi_job_stopped(&state->all->run.job);
}

/*
 * Compute the dependencies when path counts exceed the range of a double; false if the job has
 * stopped.
 */
static bool
depend_on_many(const PerThread *state, Scratch *scratch, const Slot *slot)
{
	EmogiJob   *job = &state->all->run.job;

	if (scratch->many == NULL && emogi_job_may_allocate(job))
		scratch->many = malloc(state->all->nvertices * sizeof(ScaledNumber));
	if (scratch->many == NULL)
	{
		emogi_job_fail(job, EMOGI_NO_MEMORY);
		return false;
	}
	pull_many(state, scratch, slot);
	return find_dependencies_of_many(state, scratch, slot);
}

/* Search from the sources of a wave. */
static void
search(void *arg, int thread, int nthreads)
{
	PerThread  *state = arg;
	EmogiBetweenness *all = state->all;
	Scratch    *scratch = &state->scratch[thread];
	uint64_t	i;

	while (thread < state->nsearching && !emogi_job_stopped(&all->run.job) &&
		   (i = emogi_job_claim(&all->run.next, 1)) < state->count)
	{
		Slot	   *slot = &state->slots[i];
		uint32_t	nlevels;

		if (!find_paths(state, scratch, slot, all->sources[state->first + i]))
			return;
		nlevels = (uint32_t) scratch->level[slot->order[slot->count - 1]] + 1;
		if (nlevels > scratch->nlevels)
			scratch->nlevels = nlevels;
		if (has_many(scratch, slot, EMOGI_BETWEENNESS_EXACT))
			pull_paths(state, scratch, slot);
		if (!(has_many(scratch, slot, EMOGI_BETWEENNESS_MANY) ? depend_on_many
			  : find_dependencies) (state, scratch, slot))
			return;
		for (uint64_t j = 0; j < slot->count; j++)
			scratch->level[slot->order[j]] = -1;
		emogi_job_done(&all->run.job, 1);
	}
}

/* Add the slots of a wave to the sums, vertex by vertex. */
static void
add_all(void *arg, int thread, int nthreads)
{
	PerThread  *state = arg;
	EmogiBetweenness *all = state->all;

	for (uint64_t first, end;
		 emogi_cpu_run_take(&all->run, ADD_CHUNK, all->nvertices, &first, &end);)
	{
		for (uint64_t i = 0; i < state->count; i++)
		{
			double	   *dependency = state->slots[i].dependency;

			for (uint64_t v = first; v < end; v++)
				all->centrality[v] += dependency[v];
			memset(dependency + first, 0, (end - first) * sizeof *dependency);
		}
	}
}

/* Add the slots of a wave to the sums, slot by slot, in one thread. */
static void
add_reached(void *arg, int thread, int nthreads)
{
	PerThread  *state = arg;
	EmogiBetweenness *all = state->all;

	for (uint64_t i = 0; i < state->count; i++)
	{
		const Slot *slot = &state->slots[i];

		for (uint64_t j = 1; j < slot->count; j++)
		{
			all->centrality[slot->order[j]] += slot->dependency[slot->order[j]];
			slot->dependency[slot->order[j]] = 0.0;
		}
	}
}

/* Run a wave; false if the job has stopped. */
static bool
make_wave(PerThread *state)
{
	EmogiBetweenness *all = state->all;
	uint64_t	nreached = 0;
	bool		dense;

	state->first = all->at;
	state->count = emogi_cpu_run_chunk_end(all->at, state->nslots, all->nsources) - all->at;
	if (!emogi_cpu_run_step(&all->run, search, state, state->count == 1))
		return false;
	for (uint64_t i = 0; i < state->count; i++)
		nreached += state->slots[i].count;
	dense = nreached > state->count * (all->nvertices / DENSE_SHARE);
	all->at += state->count;
	return emogi_cpu_run_step(&all->run, dense ? add_all : add_reached, state, !dense);
}

/* Allocate the memory; false if out of memory. */
static bool
open_state(PerThread *state)
{
	EmogiCpuRun *run = &state->all->run;
	const uint64_t n = state->all->nvertices;
	const uint64_t left = state->all->nsources - state->all->at;
	const uint64_t max_threads = MAX_BYTES / (24 * n) + 1;
	uint64_t	nthreads = (uint64_t) emogi_pool_size(run->pool);
	char	   *memory;

	nthreads = nthreads < max_threads ? nthreads : max_threads;
	nthreads = nthreads < left ? nthreads : left;
	state->nslots = SLOT_BYTES / (12 * n);
	state->nslots = state->nslots < nthreads * MAX_SLOTS ? state->nslots : nthreads * MAX_SLOTS;
	state->nslots = state->nslots > nthreads ? state->nslots : nthreads;
	state->nslots = state->nslots < left ? state->nslots : left;
	state->nsearching = (int) nthreads;
	state->scratch = emogi_cpu_run_scratch(run, nthreads, sizeof(Scratch));
	state->slots = state->scratch == NULL ? NULL
		: emogi_cpu_run_scratch(run, state->nslots, sizeof(Slot));
	memory = state->slots == NULL ? NULL
		: emogi_cpu_run_scratch(run, (nthreads + state->nslots) * n, 12);
	if (memory == NULL)
		return false;
	for (uint64_t i = 0; i < nthreads + state->nslots; i++, memory += n * sizeof(double))
	{
		if (i < nthreads)
			state->scratch[i].paths = (double *) memory;
		else
			state->slots[i - nthreads].dependency = (double *) memory;
	}
	memset(memory, 0xFF, nthreads * n * sizeof(int32_t));
	for (uint64_t i = 0; i < nthreads + state->nslots; i++, memory += n * sizeof(uint32_t))
	{
		if (i < nthreads)
			state->scratch[i].level = (int32_t *) memory;
		else
			state->slots[i - nthreads].order = (uint32_t *) memory;
	}
	return true;
}

bool
emogi_betweenness_per_thread(EmogiBetweenness *betweenness)
{
	PerThread	state = {.all = betweenness};
	EmogiResult *result = betweenness->run.result;

	if (!open_state(&state))
		return false;
	while (betweenness->at < betweenness->nsources && make_wave(&state))
		;
	for (int t = 0; t < state.nsearching; t++)
	{
		free(state.scratch[t].many);
		result->edges_traversed += state.scratch[t].nscanned;
		if (state.scratch[t].nlevels > result->nlevels)
			result->nlevels = state.scratch[t].nlevels;
	}
	return !emogi_job_stopped(&betweenness->run.job);
}
