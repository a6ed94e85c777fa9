/*
 * blocked_spmv.c: make tiles, and sum them (blocked_spmv.h).
 */
#include "cpu/blocked_spmv.h"

#include <string.h>

/* Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon. */
/* of an edge: the source's place in its block, and the vertex's in its group */
#define WORD_BITS 32
#define NEAR_SOURCE_BITS 12		/* of a block whose values are read in random order: 32 KB */
/* sources whose edges a thread distributes at a time; at most a block */
#define PIECE_BITS 14
#define MIN_GROUP_BITS 10		/* at least EMOGI_PULL_BLOCK */
#define GROUP_BITS 15			/* 256 KB of sums */
#define MAX_GROUP_BITS 17
#define GROUPS_PER_THREAD 4		/* minimum, for load balance */
#define MANY_GROUPS 512	/* above this number groups grow, because each is written to in turn */
#define MAX_GROUPS 4096		/* maximum with the largest group size; above, tiles do not pay */
#define MEAN_ENTRIES 256		/* of a tile in the order of vertices; below, groups grow */
#define MIN_ENTRIES 64		/* with the largest groups; below, these tiles do not pay */
#define MIN_VERTICES ((uint64_t) 1 << 17)	/* values of fewer vertices fit the caches */
#define MIN_DEGREE 4
#define MIN_STEPS 4			/* making tiles takes as long as two or three steps */
#define NEAR 16384				/* sources this near their vertex are cached anyway */
#define NEAR_PART 2				/* no tiles if one edge in NEAR_PART is near */
#define SAMPLES 1024			/* vertices sampled to find that out */

/* The state of making tiles. */
typedef struct TileBuild
{
	EmogiBlockedSpmv *tiles;
	EmogiCpuRun *run;
	const EmogiAdjacency *lists;
	const EmogiAdjacency *transposed;	/* NULL = tiles are made from the lists */
	uint64_t	nvertices;
	uint64_t	npieces;
	uint64_t   *places;			/* [npieces][ngroups], number of edges from a piece of the
								 * sources into a group; then their position */
} TileBuild;

/* Check, by sampling, whether many sources are near the vertices in whose lists they are. */
static bool
are_near(const EmogiAdjacency *lists, uint64_t nvertices)
{
	uint64_t	nscanned = 0;
	uint64_t	near = 0;

	for (uint64_t s = 0; s < SAMPLES; s++)
	{
		uint64_t	v = nvertices / SAMPLES * s;

		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1] &&
			 i < lists->offsets[v] + MIN_DEGREE; i++)
		{
			uint64_t	u = lists->targets[i];

			near += (u > v ? u - v : v - u) < NEAR;
			nscanned++;
		}
	}
	return near * NEAR_PART >= nscanned;
}

/* Get the number of blocks of 2^bits elements. */
static uint64_t
count_blocks(uint64_t count, uint32_t bits)
{
	return (count + (UINT64_C(1) << bits) - 1) >> bits;
}

/* Count the tiles in the order of vertices for a group size. */
static uint64_t
count_tiles(uint64_t nvertices, uint32_t group_bits)
{
	return count_blocks(nvertices, group_bits) * count_blocks(nvertices, NEAR_SOURCE_BITS);
}

/* Check whether tiles pay, given the memory. */
static bool
tiles_pay(const TileBuild *build, int64_t nsteps)
{
	const EmogiAdjacency *lists = build->lists;
	const uint64_t nvertices = build->nvertices;

	if (nsteps < MIN_STEPS || nvertices < MIN_VERTICES ||
		lists->nedges / MIN_DEGREE < nvertices || are_near(lists, nvertices))
		return false;
	if (build->transposed != NULL)
		return count_blocks(nvertices, MAX_GROUP_BITS) <= MAX_GROUPS;
	return lists->nedges / MIN_ENTRIES >= count_tiles(nvertices, MAX_GROUP_BITS);
}

/* Check whether groups of a size are too many, or their tiles too small. */
static bool
should_grow(const TileBuild *build, uint32_t bits)
{
	if (build->transposed != NULL)
		return count_blocks(build->nvertices, bits) > MANY_GROUPS;
	return build->lists->nedges / MEAN_ENTRIES < count_tiles(build->nvertices, bits);
}

/* Choose the size of groups such that all threads have some and tiles are not too small. */
static uint32_t
choose_group_bits(const TileBuild *build, int nthreads)
{
	uint32_t	bits = GROUP_BITS;

	while (bits > MIN_GROUP_BITS && build->nvertices >> bits <
		   (uint64_t) nthreads * GROUPS_PER_THREAD)
		bits--;
	while (bits < MAX_GROUP_BITS && should_grow(build, bits))
		bits++;
	return bits;
}

/* Distribute the edges of a group to its tiles. */
static void
make_group(const TileBuild *build, uint64_t group)
{
	const EmogiBlockedSpmv *tiles = build->tiles;
	const EmogiAdjacency *lists = build->lists;
	const uint64_t first = group << tiles->group_bits;
	const uint64_t upto = emogi_cpu_run_chunk_end(first, UINT64_C(1) << tiles->group_bits,
												  build->nvertices);
	uint64_t   *starts = tiles->starts + group * tiles->nsources;
	uint64_t	start = lists->offsets[first];

	memset(starts, 0, tiles->nsources * sizeof *starts);
	for (uint64_t i = start; i < lists->offsets[upto]; i++)
		starts[lists->targets[i] >> NEAR_SOURCE_BITS]++;
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
			uint32_t	place = u & ((1u << NEAR_SOURCE_BITS) - 1);

			tiles->entries[starts[u >> NEAR_SOURCE_BITS]++] = place << tiles->group_bits |
				(uint32_t) (v - first);
		}
	/* each start is now the start of the next tile */
	memmove(starts + 1, starts, (tiles->nsources - 1) * sizeof *starts);
	starts[0] = lists->offsets[first];
}

/* Make the tiles of all groups. */
static void
make_groups(void *arg, int thread, int nthreads)
{
	const TileBuild *build = arg;

	for (uint64_t group;
		 emogi_job_take(&build->run->job, &build->run->next, build->tiles->ngroups, &group);)
		make_group(build, group);
}

/* Get the sources of a piece: *first .. the result - 1. */
static uint64_t
piece_end(const TileBuild *build, uint64_t piece, uint64_t *first)
{
	*first = piece << PIECE_BITS;
	return emogi_cpu_run_chunk_end(*first, UINT64_C(1) << PIECE_BITS, build->nvertices);
}

/* Count the edges from each piece of the sources into each group. */
static void
count_pieces(void *arg, int thread, int nthreads)
{
	const TileBuild *build = arg;
	const EmogiAdjacency *out = build->transposed;
	const uint64_t ngroups = build->tiles->ngroups;
	const uint32_t bits = build->tiles->group_bits;

	for (uint64_t piece;
		 emogi_job_take(&build->run->job, &build->run->next, build->npieces, &piece);)
	{
		uint64_t   *count = build->places + piece * ngroups;
		uint64_t	first;
		uint64_t	end = piece_end(build, piece, &first);

		memset(count, 0, ngroups * sizeof *count);
		for (uint64_t i = out->offsets[first]; i < out->offsets[end]; i++)
			count[out->targets[i] >> bits]++;
	}
}

/*
 * Convert counts to positions, group by group with the pieces in order; record where tiles start.
 */
static void
lay_pieces(TileBuild *build)
{
	EmogiBlockedSpmv *tiles = build->tiles;
	const uint32_t bits = tiles->source_bits - PIECE_BITS;

	for (uint64_t group = 0; group < tiles->ngroups; group++)
	{
		uint64_t	at = build->lists->offsets[group << tiles->group_bits];

		for (uint64_t piece = 0; piece < build->npieces; piece++)
		{
			uint64_t   *place = &build->places[piece * tiles->ngroups + group];
			uint64_t	count = *place;

			if (piece >> bits << bits == piece)
				tiles->starts[group * tiles->nsources + (piece >> bits)] = at;
			*place = at;
			at += count;
		}
	}
}

/* Distribute the edges of the pieces to their tiles. */
static void
place_pieces(void *arg, int thread, int nthreads)
{
	const TileBuild *build = arg;
	const EmogiAdjacency *out = build->transposed;
	uint32_t   *entries = build->tiles->entries;
	const uint32_t bits = build->tiles->group_bits;
	const uint32_t vertex_mask = (1u << bits) - 1;
	const uint32_t source_mask = (1u << build->tiles->source_bits) - 1;

	for (uint64_t piece;
		 emogi_job_take(&build->run->job, &build->run->next, build->npieces, &piece);)
	{
		uint64_t   *place = build->places + piece * build->tiles->ngroups;
		uint64_t	first;
		uint64_t	end = piece_end(build, piece, &first);

		for (uint64_t u = first; u < end; u++)
		{
			const uint32_t source = ((uint32_t) u & source_mask) << bits;

			for (uint64_t i = out->offsets[u]; i < out->offsets[u + 1]; i++)
				entries[place[out->targets[i] >> bits]++] = source |
					(out->targets[i] & vertex_mask);
		}
	}
}

/* Fill all tiles, from the sources or from the vertices. */
static bool
fill(TileBuild *build)
{
	if (build->transposed == NULL)
		return emogi_cpu_run_step(build->run, make_groups, build, false);
	if (!emogi_cpu_run_step(build->run, count_pieces, build, false))
		return false;
	lay_pieces(build);
	return emogi_cpu_run_step(build->run, place_pieces, build, false);
}

/* Allocate the memory, entries last; entries = NULL if there is not enough. */
static void
allocate_memory(TileBuild *build, int nthreads)
{
	EmogiBlockedSpmv *tiles = build->tiles;
	EmogiCpuRun *run = build->run;

	tiles->starts = emogi_cpu_run_spare(run, tiles->ngroups * tiles->nsources + 1,
										sizeof(uint64_t));
	tiles->sums = emogi_cpu_run_spare(run, (uint64_t) nthreads << tiles->group_bits,
									  sizeof(double));
	if (build->transposed != NULL)
		build->places = emogi_cpu_run_spare(run, build->npieces * tiles->ngroups,
											sizeof(uint64_t));
	if (tiles->starts != NULL && tiles->sums != NULL &&
		(build->transposed == NULL || build->places != NULL))
		tiles->entries = emogi_cpu_run_spare(run, build->lists->nedges, sizeof(uint32_t));
}

bool
emogi_blocked_spmv_make(EmogiBlockedSpmv *tiles, EmogiCpuRun *run, const EmogiAdjacency *lists,
						const EmogiAdjacency *transposed, uint64_t nvertices, int64_t nsteps)
{
	const int	nthreads = emogi_pool_size(run->pool);
	TileBuild	build = {.tiles = tiles, .run = run, .lists = lists,
		.transposed = transposed->offsets != NULL ? transposed : NULL,
		.nvertices = nvertices, .npieces = count_blocks(nvertices, PIECE_BITS)};

	*tiles = (EmogiBlockedSpmv) {0};
	if (!tiles_pay(&build, nsteps))
		return true;
	tiles->group_bits = choose_group_bits(&build, nthreads);
	tiles->source_bits = build.transposed != NULL ? WORD_BITS - tiles->group_bits
		: NEAR_SOURCE_BITS;
	tiles->ngroups = count_blocks(nvertices, tiles->group_bits);
	tiles->nsources = count_blocks(nvertices, tiles->source_bits);
	allocate_memory(&build, nthreads);
	if (tiles->entries == NULL)
		return !emogi_job_stopped(&run->job);
	tiles->starts[tiles->ngroups * tiles->nsources] = lists->nedges;
	return fill(&build);
}

/* Sum a group, of values or of integers by a constant argument; false if the job has stopped. */
static inline __attribute__((always_inline)) bool
sum_group(const EmogiBlockedSpmv *tiles, EmogiJob *job, const double *values, const uint64_t *units,
		  uint64_t group, double *sums, uint64_t *unit_sums)
{
	const uint32_t bits = tiles->group_bits;
	const uint32_t vertex_mask = (1u << bits) - 1;
	const uint64_t *starts = tiles->starts + group * tiles->nsources;

	for (uint64_t s = 0; s < tiles->nsources; s++)
	{
		const uint64_t first = s << tiles->source_bits;

		for (uint64_t at = starts[s], end; at < starts[s + 1]; at = end)
		{
			end = emogi_cpu_run_chunk_end(at, EMOGI_RUN_POLL, starts[s + 1]);
			for (const uint32_t *entry = tiles->entries + at; entry < tiles->entries + end; entry++)
			{
				if (units != NULL)
					unit_sums[*entry & vertex_mask] += units[first + (*entry >> bits)];
				else
					sums[*entry & vertex_mask] += values[first + (*entry >> bits)];
			}
			if (end - at == EMOGI_RUN_POLL && emogi_job_stopped(job))
				return false;
		}
	}
	return !emogi_job_stopped(job);
}

const double *
emogi_blocked_spmv_sum(const EmogiBlockedSpmv *tiles, EmogiJob *job, const double *values,
					   uint64_t group, int thread)
{
	double	   *sums = tiles->sums + ((uint64_t) thread << tiles->group_bits);

	memset(sums, 0, sizeof *sums << tiles->group_bits);
	return sum_group(tiles, job, values, NULL, group, sums, NULL) ? sums : NULL;
}

const uint64_t *
emogi_blocked_spmv_sum_units(const EmogiBlockedSpmv *tiles, EmogiJob *job, const uint64_t *values,
							 uint64_t group, int thread)
{
	uint64_t   *sums = (uint64_t *) tiles->sums + ((uint64_t) thread << tiles->group_bits);

	memset(sums, 0, sizeof *sums << tiles->group_bits);
	return sum_group(tiles, job, NULL, values, group, NULL, sums) ? sums : NULL;
}
