/*
 * betweenness_per_thread.c: the searches of betweenness where each thread makes its own.
 *
 * A wave is as many sources as there are slots. Threads take them one by one and leave in a slot
 * which vertices the source reaches and how much it depends on each; then the slots are added to
 * the sums in the order of the sources. So sums are made in that order, whoever searched.
 *
 * Numbers of paths are pushed along while the search goes on, which is exact in any order below
 * 2^53. Beyond, they are made again: pulled level by level in the order of the lists, as the other
 * way of searching does. Where they grow near the end of what a double can tell, as between the
 * corners of a net of streets, they are made once more with an exponent beside each.
 */
#include "betweenness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* of small graphs, more slots than threads are taken up to this */
#define SLOT_BYTES ((uint64_t) 8 << 20)
#define MOST_SLOTS 64			/* for each thread */
#define MOST_BYTES ((uint64_t) 1 << 30)	/* fewer threads search where all would take more */
#define ADD_AT_ONCE 4096		/* vertices */
#define DENSE_SHARE 8	/* of all vertices: where slots have more of them, all are added up */

/* A number of paths of any size: number * 2^shift, 0x1p512 above number. */
typedef struct Many
{
	double		number;
	int64_t		shift;			/* a multiple of 512 */
} Many;

/* What a thread searches with. */
typedef struct Scratch
{
	int32_t    *level;			/* [nvertices], -1 between searches */
	double	   *paths;			/* [nvertices], to each vertex; of those done with, (1 +
								 * dependency) / paths */
	Many	   *many;			/* [nvertices]; NULL until there are so many */
	uint64_t	looked;
	uint32_t	nlevels;
	char		pad[EMOGI_LINE_BYTES - 36];
} Scratch;

/* What came of a search. */
typedef struct Slot
{
	uint32_t   *order;			/* [nvertices], those reached, by level */
	uint64_t	count;
	double	   *dependency;		/* [nvertices], 0 outside of order and between waves */
} Slot;

typedef struct Apart
{
	EmogiBetweenness *all;
	int			nsearching;		/* threads */
	Scratch    *scratch;		/* [nsearching] */
	Slot	   *slots;			/* [nslots] */
	uint64_t	nslots;
	uint64_t	first;			/* the sources of the wave */
	uint64_t	count;
} Apart;

/*
 * Find the vertices that a source reaches, and the number of paths to each; false when the job has
 * stopped.
 */
static bool
find_paths(const Apart *apart, Scratch *scratch, Slot *slot, uint32_t source)
{
	const EmogiAdjacency *lists = &apart->all->graph->forward;
	int32_t    *level = scratch->level;
	double	   *paths = scratch->paths;
	uint64_t	polled = scratch->looked;

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
		scratch->looked += end - lists->offsets[u];
		if (scratch->looked - polled > EMOGI_RUN_POLL)
		{
			if (emogi_job_stopped(&apart->all->run.job))
				return false;
			polled = scratch->looked;
		}
	}
	return true;
}

/* Say whether the number of paths to a vertex is `least` or more. */
static bool
has_many(const Scratch *scratch, const Slot *slot, double least)
{
	bool		is_large = false;

	for (uint64_t i = 0; i < slot->count; i++)
		is_large |= !(scratch->paths[slot->order[i]] < least);
	return is_large;
}

/* Find the numbers of paths again, each in the order of a list. */
static void
pull_paths(const Apart *apart, Scratch *scratch, const Slot *slot)
{
	for (uint64_t i = 1; i < slot->count && !emogi_job_stopped(&apart->all->run.job); i++)
	{
		const uint32_t v = slot->order[i];

		scratch->paths[v] = emogi_betweenness_sum(apart->all, &apart->all->graph->backward, v,
												  scratch->level, false, scratch->level[v] - 1,
												  scratch->paths);
	}
}

/*
 * Find how much the source depends on each vertex, from the farthest to the nearest; false when the
 * job has stopped.
 */
static bool
find_dependencies(const Apart *apart, Scratch *scratch, const Slot *slot)
{
	const EmogiAdjacency *lists = &apart->all->graph->forward;
	const int32_t deepest = scratch->level[slot->order[slot->count - 1]];
	uint64_t	polled = scratch->looked;

	for (uint64_t i = slot->count; i-- > 1;)
	{
		const uint32_t v = slot->order[i];
		const int32_t level = scratch->level[v];
		double		dependency = 0.0;

		if (level < deepest)
		{
			dependency = scratch->paths[v] *
				emogi_betweenness_sum(apart->all, lists, v, scratch->level, false, level + 1,
									  scratch->paths);
			scratch->looked += lists->offsets[v + 1] - lists->offsets[v];
		}
		slot->dependency[v] = dependency;
		scratch->paths[v] = (1.0 + dependency) / scratch->paths[v];
		if (scratch->looked - polled > EMOGI_RUN_POLL)
		{
			if (emogi_job_stopped(&apart->all->run.job))
				return false;
			polled = scratch->looked;
		}
	}
	return true;
}

/* Bring a number that was made with a shift to another one. */
static inline double
shift_number(double number, int64_t shift)
{
	return shift == 0 ? number : shift == 512 ? number * 0x1p512 : shift == -512 ? number * 0x1p-512
		: shift < 0 ? 0.0 : (double) INFINITY;
}

/* Add a number of paths to another. */
static inline void
add_many(Many *sum, Many more)
{
	if (sum->shift < more.shift)
		*sum = (Many) {shift_number(sum->number, sum->shift - more.shift), more.shift};
	sum->number += shift_number(more.number, more.shift - sum->shift);
	if (sum->number >= 0x1p512)
		*sum = (Many) {sum->number * 0x1p-512, sum->shift + 512};
}

/* Find the numbers of paths again, of any size. */
static void
pull_many(const Apart *apart, Scratch *scratch, const Slot *slot)
{
	const EmogiAdjacency *lists = &apart->all->graph->backward;

	scratch->many[slot->order[0]] = (Many) {1.0, 0};
	for (uint64_t i = 1; i < slot->count && !emogi_job_stopped(&apart->all->run.job); i++)
	{
		const uint32_t v = slot->order[i];
		Many		sum = {0.0, 0};
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

/*
 * Find how much the source depends on each vertex, of such numbers; false when the job has stopped.
 */
static bool
find_dependencies_of_many(const Apart *apart, const Scratch *scratch, const Slot *slot)
{
	const EmogiAdjacency *lists = &apart->all->graph->forward;

	for (uint64_t i = slot->count; i-- > 1 && !emogi_job_stopped(&apart->all->run.job);)
	{
		const uint32_t v = slot->order[i];
		const Many	of_v = scratch->many[v];
		uint32_t	last = EMOGI_NO_VERTEX;
		double		dependency = 0.0;

		for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		{
			const uint32_t w = lists->targets[e];
			const Many	of_w = scratch->many[w];

			if (w != last && scratch->level[w] == scratch->level[v] + 1)
				dependency += shift_number(of_v.number / of_w.number, of_v.shift - of_w.shift) *
					(1.0 + slot->dependency[w]);
			last = w;
		}
		slot->dependency[v] = dependency;
	}
	return !emogi_job_stopped(&apart->all->run.job);
}

/*
 * Find how much the source depends on each vertex where the numbers of paths do not go into
 * doubles; false when the job has stopped.
 */
static bool
depend_on_many(const Apart *apart, Scratch *scratch, const Slot *slot)
{
	EmogiJob   *job = &apart->all->run.job;

	if (scratch->many == NULL && emogi_job_may_allocate(job))
		scratch->many = malloc(apart->all->nvertices * sizeof(Many));
	if (scratch->many == NULL)
	{
		emogi_job_fail(job, EMOGI_NO_MEMORY);
		return false;
	}
	pull_many(apart, scratch, slot);
	return find_dependencies_of_many(apart, scratch, slot);
}

/* Search from the sources of a wave. */
static void
search(void *arg, int thread, int nthreads)
{
	Apart	   *apart = arg;
	EmogiBetweenness *all = apart->all;
	Scratch    *scratch = &apart->scratch[thread];
	uint64_t	i;

	while (thread < apart->nsearching && !emogi_job_stopped(&all->run.job) &&
		   (i = emogi_job_take(&all->run.next, 1)) < apart->count)
	{
		Slot	   *slot = &apart->slots[i];
		uint32_t	nlevels;

		if (!find_paths(apart, scratch, slot, all->sources[apart->first + i]))
			return;
		nlevels = (uint32_t) scratch->level[slot->order[slot->count - 1]] + 1;
		if (nlevels > scratch->nlevels)
			scratch->nlevels = nlevels;
		if (has_many(scratch, slot, EMOGI_BETWEENNESS_EXACT))
			pull_paths(apart, scratch, slot);
		if (!(has_many(scratch, slot, EMOGI_BETWEENNESS_MANY) ? depend_on_many
			  : find_dependencies) (apart, scratch, slot))
			return;
		for (uint64_t j = 0; j < slot->count; j++)
			scratch->level[slot->order[j]] = -1;
		emogi_job_done(&all->run.job, 1);
	}
}

/* Add what came of a wave, vertex by vertex. */
static void
add_all(void *arg, int thread, int nthreads)
{
	Apart	   *apart = arg;
	EmogiBetweenness *all = apart->all;
	uint64_t	first;

	while (!emogi_job_stopped(&all->run.job) &&
		   (first = emogi_job_take(&all->run.next, ADD_AT_ONCE)) < all->nvertices)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(first, ADD_AT_ONCE, all->nvertices);

		for (uint64_t i = 0; i < apart->count; i++)
		{
			double	   *dependency = apart->slots[i].dependency;

			for (uint64_t v = first; v < end; v++)
				all->centrality[v] += dependency[v];
			memset(dependency + first, 0, (end - first) * sizeof *dependency);
		}
	}
}

/* Add what came of a wave, slot by slot; one thread does. */
static void
add_reached(void *arg, int thread, int nthreads)
{
	Apart	   *apart = arg;
	EmogiBetweenness *all = apart->all;

	for (uint64_t i = 0; i < apart->count; i++)
	{
		const Slot *slot = &apart->slots[i];

		for (uint64_t j = 1; j < slot->count; j++)
		{
			all->centrality[slot->order[j]] += slot->dependency[slot->order[j]];
			slot->dependency[slot->order[j]] = 0.0;
		}
	}
}

/* Make a wave; false when the job has stopped. */
static bool
make_wave(Apart *apart)
{
	EmogiBetweenness *all = apart->all;
	uint64_t	nreached = 0;
	bool		dense;

	apart->first = all->at;
	apart->count = emogi_cpu_run_chunk_end(all->at, apart->nslots, all->nsources) - all->at;
	if (!emogi_cpu_run_step(&all->run, search, apart, apart->count == 1))
		return false;
	for (uint64_t i = 0; i < apart->count; i++)
		nreached += apart->slots[i].count;
	dense = nreached > apart->count * (all->nvertices / DENSE_SHARE);
	all->at += apart->count;
	return emogi_cpu_run_step(&all->run, dense ? add_all : add_reached, apart, !dense);
}

/* Take the memory; false without. */
static bool
open_apart(Apart *apart)
{
	EmogiCpuRun *run = &apart->all->run;
	const uint64_t n = apart->all->nvertices;
	const uint64_t left = apart->all->nsources - apart->all->at;
	const uint64_t most = MOST_BYTES / (24 * n) + 1;
	uint64_t	nthreads = (uint64_t) emogi_pool_size(run->pool);
	char	   *memory;

	nthreads = nthreads < most ? nthreads : most;
	nthreads = nthreads < left ? nthreads : left;
	apart->nslots = SLOT_BYTES / (12 * n);
	apart->nslots = apart->nslots < nthreads * MOST_SLOTS ? apart->nslots : nthreads * MOST_SLOTS;
	apart->nslots = apart->nslots > nthreads ? apart->nslots : nthreads;
	apart->nslots = apart->nslots < left ? apart->nslots : left;
	apart->nsearching = (int) nthreads;
	apart->scratch = emogi_cpu_run_scratch(run, nthreads, sizeof(Scratch));
	apart->slots = apart->scratch == NULL ? NULL
		: emogi_cpu_run_scratch(run, apart->nslots, sizeof(Slot));
	memory = apart->slots == NULL ? NULL
		: emogi_cpu_run_scratch(run, (nthreads + apart->nslots) * n, 12);
	if (memory == NULL)
		return false;
	for (uint64_t i = 0; i < nthreads + apart->nslots; i++, memory += n * sizeof(double))
	{
		if (i < nthreads)
			apart->scratch[i].paths = (double *) memory;
		else
			apart->slots[i - nthreads].dependency = (double *) memory;
	}
	memset(memory, 0xFF, nthreads * n * sizeof(int32_t));
	for (uint64_t i = 0; i < nthreads + apart->nslots; i++, memory += n * sizeof(uint32_t))
	{
		if (i < nthreads)
			apart->scratch[i].level = (int32_t *) memory;
		else
			apart->slots[i - nthreads].order = (uint32_t *) memory;
	}
	return true;
}

bool
emogi_betweenness_per_thread(EmogiBetweenness *betweenness)
{
	Apart		apart = {.all = betweenness};
	EmogiResult *result = betweenness->run.result;

	if (!open_apart(&apart))
		return false;
	while (betweenness->at < betweenness->nsources && make_wave(&apart))
		;
	for (int t = 0; t < apart.nsearching; t++)
	{
		free(apart.scratch[t].many);
		result->edges_traversed += apart.scratch[t].looked;
		if (apart.scratch[t].nlevels > result->nlevels)
			result->nlevels = apart.scratch[t].nlevels;
	}
	return !emogi_job_stopped(&betweenness->run.job);
}
