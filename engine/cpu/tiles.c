/*
 * tiles.c: makes tiles, and adds them up (tiles.h).
 */
#include "tiles.h"

#include <string.h>

/* Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon. */
#define SOURCE_BITS 12			/* of a block: 32 KB of values */
#define LEAST_GROUP_BITS 10		/* not fewer than EMOGI_PULL_BLOCK */
#define GROUP_BITS 15			/* 256 KB of sums */
#define MOST_GROUP_BITS 17
#define GROUPS_PER_THREAD 4		/* at least, so that threads end together */
#define MEAN_ENTRIES 256		/* of a tile, that groups grow for */
#define LEAST_ENTRIES 64		/* with the largest groups; below, tiles do not pay */
#define LEAST_VERTICES ((uint64_t) 1 << 17)	/* values of fewer are in the caches anyhow */
#define LEAST_DEGREE 4
#define LEAST_STEPS 4			/* to make tiles takes as long as one or two */
#define NEAR 16384				/* sources so near their vertex are in the caches anyhow */
#define NEAR_PART 2				/* no tiles where one entry in so many is near */
#define SAMPLES 1024			/* vertices to find that out */

/* What making tiles needs. */
typedef struct Making
{
	EmogiTiles *tiles;
	EmogiCpuRun *run;
	const EmogiAdjacency *lists;
	uint64_t	nvertices;
} Making;

/* Are many sources near the vertices in whose lists they are? Of some vertices. */
static bool
are_near(const EmogiAdjacency *lists, uint64_t nvertices)
{
	uint64_t	looked = 0;
	uint64_t	near = 0;

	for (uint64_t s = 0; s < SAMPLES; s++)
	{
		uint64_t	v = nvertices / SAMPLES * s;

		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1] && i < lists->offsets[v] + LEAST_DEGREE; i++)
		{
			uint64_t	u = lists->targets[i];

			near += (u > v ? u - v : v - u) < NEAR;
			looked++;
		}
	}
	return near * NEAR_PART >= looked;
}

/* Count the tiles that groups of so many vertices make. */
static uint64_t
count_tiles(uint64_t nvertices, uint32_t group_bits)
{
	return ((nvertices >> group_bits) + 1) * ((nvertices >> SOURCE_BITS) + 1);
}

/* Do tiles pay, if the memory may be taken? */
static bool
pay(const EmogiAdjacency *lists, uint64_t nvertices, int64_t nsteps)
{
	return nsteps >= LEAST_STEPS && nvertices >= LEAST_VERTICES && lists->nedges / LEAST_DEGREE >= nvertices &&
		lists->nedges / LEAST_ENTRIES >= count_tiles(nvertices, MOST_GROUP_BITS) && !are_near(lists, nvertices);
}

/* Choose the size of groups: all threads have some, and tiles are not too small. */
static uint32_t
choose_group_bits(const EmogiAdjacency *lists, uint64_t nvertices, int nthreads)
{
	uint32_t	bits = GROUP_BITS;

	while (bits > LEAST_GROUP_BITS && nvertices >> bits < (uint64_t) nthreads * GROUPS_PER_THREAD)
		bits--;
	while (bits < MOST_GROUP_BITS && lists->nedges / MEAN_ENTRIES < count_tiles(nvertices, bits))
		bits++;
	return bits;
}

/* Put the entries of a group in their tiles. */
static void
make_group(const Making *making, uint64_t group)
{
	const EmogiTiles *tiles = making->tiles;
	const EmogiAdjacency *lists = making->lists;
	const uint64_t first = group << tiles->group_bits;
	const uint64_t upto = emogi_run_chunk_end(first, UINT64_C(1) << tiles->group_bits, making->nvertices);
	uint64_t   *starts = tiles->starts + group * tiles->nsources;
	uint64_t	start = lists->offsets[first];

	for (uint64_t i = start; i < lists->offsets[upto]; i++)
		starts[lists->targets[i] >> SOURCE_BITS]++;
	for (uint64_t s = 0; s < tiles->nsources; s++)
	{
		uint64_t	count = starts[s];

		starts[s] = start;
		start += count;
	}
	for (uint64_t v = first; v < upto; v++)
		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1]; i++)
		{
			uint32_t	u = lists->targets[i];
			uint32_t	place = u & ((1u << SOURCE_BITS) - 1);

			tiles->entries[starts[u >> SOURCE_BITS]++] = place << tiles->group_bits | (uint32_t) (v - first);
		}
	/* each start is now where the next tile starts */
	memmove(starts + 1, starts, (tiles->nsources - 1) * sizeof *starts);
	starts[0] = lists->offsets[first];
}

/* Make the tiles of all groups. */
static void
make_groups(void *arg, int thread, int nthreads)
{
	const Making *making = arg;
	uint64_t	group;

	while (!emogi_job_stopped(&making->run->job) && (group = emogi_job_take(&making->run->next, 1)) < making->tiles->ngroups)
		make_group(making, group);
}

bool
emogi_tiles_make(EmogiTiles *tiles, EmogiCpuRun *run, const EmogiAdjacency *lists, uint64_t nvertices, int64_t nsteps)
{
	const int	nthreads = emogi_pool_size(run->pool);
	Making		making = {.tiles = tiles, .run = run, .lists = lists, .nvertices = nvertices};

	*tiles = (EmogiTiles) {0};
	if (!pay(lists, nvertices, nsteps))
		return true;
	tiles->group_bits = choose_group_bits(lists, nvertices, nthreads);
	tiles->ngroups = (nvertices + (UINT64_C(1) << tiles->group_bits) - 1) >> tiles->group_bits;
	tiles->nsources = (nvertices + (UINT64_C(1) << SOURCE_BITS) - 1) >> SOURCE_BITS;
	tiles->starts = emogi_run_spare(run, tiles->ngroups * tiles->nsources + 1, sizeof(uint64_t));
	tiles->sums = emogi_run_spare(run, (uint64_t) nthreads << tiles->group_bits, sizeof(double));
	if (tiles->starts != NULL && tiles->sums != NULL)
		tiles->entries = emogi_run_spare(run, lists->nedges, sizeof(uint32_t));
	if (tiles->entries == NULL)
		return !emogi_job_stopped(&run->job);
	tiles->starts[tiles->ngroups * tiles->nsources] = lists->nedges;
	return emogi_run_step(run, make_groups, &making, false);
}

const double *
emogi_tiles_sum(const EmogiTiles *tiles, EmogiJob *job, const double *values, uint64_t group, int thread)
{
	const uint32_t bits = tiles->group_bits;
	const uint32_t vertex_mask = (1u << bits) - 1;
	const uint64_t *starts = tiles->starts + group * tiles->nsources;
	double	   *sums = tiles->sums + ((uint64_t) thread << bits);
	uint64_t	polled = starts[0];

	memset(sums, 0, sizeof(double) << bits);
	for (uint64_t s = 0; s < tiles->nsources; s++)
	{
		const double *value = values + (s << SOURCE_BITS);
		const uint32_t *end = tiles->entries + starts[s + 1];

		for (const uint32_t *entry = tiles->entries + starts[s]; entry < end; entry++)
			sums[*entry & vertex_mask] += value[*entry >> bits];
		if (starts[s + 1] - polled > EMOGI_RUN_POLL)
		{
			if (emogi_job_stopped(job))
				return NULL;
			polled = starts[s + 1];
		}
	}
	return sums;
}
