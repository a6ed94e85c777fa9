/*
 * blocked_spmv.c: makes tiles, and adds them up (blocked_spmv.h).
 */
#include "cpu/blocked_spmv.h"

#include <string.h>

/* Tuned. Times with these values are in bench/RESULTS.md: two cores of an Intel Xeon. */
/* of an entry: a source's place in its block, and a vertex's in its group */
#define WORD_BITS 32
#define NEAR_SOURCE_BITS 12		/* of a block whose values are read in any order: 32 KB of them */
/* sources whose entries a thread puts in tiles at one go; no more than a block has */
#define PIECE_BITS 14
#define LEAST_GROUP_BITS 10		/* not fewer than EMOGI_PULL_BLOCK */
#define GROUP_BITS 15			/* 256 KB of sums */
#define MOST_GROUP_BITS 17
#define GROUPS_PER_THREAD 4		/* at least, so that threads end together */
#define MANY_GROUPS 512			/* for which groups grow: each is written to in turn */
#define MOST_GROUPS 4096		/* of the largest; beyond, tiles do not pay */
#define MEAN_ENTRIES 256		/* of a tile in the order of vertices, that groups grow for */
#define LEAST_ENTRIES 64		/* with the largest groups; below, these tiles do not pay */
#define LEAST_VERTICES ((uint64_t) 1 << 17)	/* values of fewer are in the caches anyhow */
#define LEAST_DEGREE 4
#define LEAST_STEPS 4			/* to make tiles takes as long as two or three */
#define NEAR 16384				/* sources so near their vertex are in the caches anyhow */
#define NEAR_PART 2				/* no tiles where one entry in so many is near */
#define SAMPLES 1024			/* vertices to find that out */

/* What making tiles needs. */
typedef struct Making
{
	EmogiBlockedSpmv *tiles;
	EmogiCpuRun *run;
	const EmogiAdjacency *lists;
	const EmogiAdjacency *transposed;	/* NULL = tiles are made of the lists */
	uint64_t	nvertices;
	uint64_t	npieces;
	uint64_t   *places;			/* [npieces][ngroups], entries of a piece of the sources in a
								 * group; then where they begin */
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

		for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1] &&
			 i < lists->offsets[v] + LEAST_DEGREE; i++)
		{
			uint64_t	u = lists->targets[i];

			near += (u > v ? u - v : v - u) < NEAR;
			looked++;
		}
	}
	return near * NEAR_PART >= looked;
}

/* Get how many blocks of 2^bits there are of so many. */
static uint64_t
count_blocks(uint64_t count, uint32_t bits)
{
	return (count + (UINT64_C(1) << bits) - 1) >> bits;
}

/* Count the tiles in the order of vertices that groups of so many make. */
static uint64_t
count_tiles(uint64_t nvertices, uint32_t group_bits)
{
	return count_blocks(nvertices, group_bits) * count_blocks(nvertices, NEAR_SOURCE_BITS);
}

/* Do tiles pay, if the memory may be taken? */
static bool
pay(const Making *making, int64_t nsteps)
{
	const EmogiAdjacency *lists = making->lists;
	const uint64_t nvertices = making->nvertices;

	if (nsteps < LEAST_STEPS || nvertices < LEAST_VERTICES ||
		lists->nedges / LEAST_DEGREE < nvertices || are_near(lists, nvertices))
		return false;
	if (making->transposed != NULL)
		return count_blocks(nvertices, MOST_GROUP_BITS) <= MOST_GROUPS;
	return lists->nedges / LEAST_ENTRIES >= count_tiles(nvertices, MOST_GROUP_BITS);
}

/* Are there too many groups of that size, or tiles too small? */
static bool
should_grow(const Making *making, uint32_t bits)
{
	if (making->transposed != NULL)
		return count_blocks(making->nvertices, bits) > MANY_GROUPS;
	return making->lists->nedges / MEAN_ENTRIES < count_tiles(making->nvertices, bits);
}

/* Choose the size of groups: all threads have some, and tiles are not too small. */
static uint32_t
choose_group_bits(const Making *making, int nthreads)
{
	uint32_t	bits = GROUP_BITS;

	while (bits > LEAST_GROUP_BITS && making->nvertices >> bits <
		   (uint64_t) nthreads * GROUPS_PER_THREAD)
		bits--;
	while (bits < MOST_GROUP_BITS && should_grow(making, bits))
		bits++;
	return bits;
}

/* Put the entries of a group in their tiles. */
static void
make_group(const Making *making, uint64_t group)
{
	const EmogiBlockedSpmv *tiles = making->tiles;
	const EmogiAdjacency *lists = making->lists;
	const uint64_t first = group << tiles->group_bits;
	const uint64_t upto = emogi_cpu_run_chunk_end(first, UINT64_C(1) << tiles->group_bits,
												  making->nvertices);
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

	while (!emogi_job_stopped(&making->run->job) &&
		   (group = emogi_job_take(&making->run->next, 1)) < making->tiles->ngroups)
		make_group(making, group);
}

/* Get the sources of a piece: *first .. the result - 1. */
static uint64_t
piece_end(const Making *making, uint64_t piece, uint64_t *first)
{
	*first = piece << PIECE_BITS;
	return emogi_cpu_run_chunk_end(*first, UINT64_C(1) << PIECE_BITS, making->nvertices);
}

/* Count the entries that pieces of the sources have in each group. */
static void
count_pieces(void *arg, int thread, int nthreads)
{
	const Making *making = arg;
	const EmogiAdjacency *out = making->transposed;
	const uint64_t ngroups = making->tiles->ngroups;
	const uint32_t bits = making->tiles->group_bits;
	uint64_t	piece;

	while (!emogi_job_stopped(&making->run->job) &&
		   (piece = emogi_job_take(&making->run->next, 1)) < making->npieces)
	{
		uint64_t   *count = making->places + piece * ngroups;
		uint64_t	first;
		uint64_t	end = piece_end(making, piece, &first);

		memset(count, 0, ngroups * sizeof *count);
		for (uint64_t i = out->offsets[first]; i < out->offsets[end]; i++)
			count[out->targets[i] >> bits]++;
	}
}

/*
 * Turn counts into places: group after group, in each the pieces in order; note where tiles start.
 */
static void
lay_pieces(Making *making)
{
	EmogiBlockedSpmv *tiles = making->tiles;
	const uint32_t bits = tiles->source_bits - PIECE_BITS;

	for (uint64_t group = 0; group < tiles->ngroups; group++)
	{
		uint64_t	at = making->lists->offsets[group << tiles->group_bits];

		for (uint64_t piece = 0; piece < making->npieces; piece++)
		{
			uint64_t   *place = &making->places[piece * tiles->ngroups + group];
			uint64_t	count = *place;

			if (piece >> bits << bits == piece)
				tiles->starts[group * tiles->nsources + (piece >> bits)] = at;
			*place = at;
			at += count;
		}
	}
}

/* Put the entries of pieces of the sources in their tiles. */
static void
place_pieces(void *arg, int thread, int nthreads)
{
	const Making *making = arg;
	const EmogiAdjacency *out = making->transposed;
	uint32_t   *entries = making->tiles->entries;
	const uint32_t bits = making->tiles->group_bits;
	const uint32_t vertex_mask = (1u << bits) - 1;
	const uint32_t source_mask = (1u << making->tiles->source_bits) - 1;
	uint64_t	piece;

	while (!emogi_job_stopped(&making->run->job) &&
		   (piece = emogi_job_take(&making->run->next, 1)) < making->npieces)
	{
		uint64_t   *place = making->places + piece * making->tiles->ngroups;
		uint64_t	first;
		uint64_t	end = piece_end(making, piece, &first);

		for (uint64_t u = first; u < end; u++)
		{
			const uint32_t source = ((uint32_t) u & source_mask) << bits;

			for (uint64_t i = out->offsets[u]; i < out->offsets[u + 1]; i++)
				entries[place[out->targets[i] >> bits]++] = source |
					(out->targets[i] & vertex_mask);
		}
	}
}

/* Make all tiles, from the sources or from the vertices. */
static bool
fill(Making *making)
{
	if (making->transposed == NULL)
		return emogi_cpu_run_step(making->run, make_groups, making, false);
	if (!emogi_cpu_run_step(making->run, count_pieces, making, false))
		return false;
	lay_pieces(making);
	return emogi_cpu_run_step(making->run, place_pieces, making, false);
}

/* Take the memory; the entries, NULL where there is not enough, last. */
static void
take_memory(Making *making, int nthreads)
{
	EmogiBlockedSpmv *tiles = making->tiles;
	EmogiCpuRun *run = making->run;

	tiles->starts = emogi_cpu_run_spare(run, tiles->ngroups * tiles->nsources + 1,
										sizeof(uint64_t));
	tiles->sums = emogi_cpu_run_spare(run, (uint64_t) nthreads << tiles->group_bits,
									  sizeof(double));
	if (making->transposed != NULL)
		making->places = emogi_cpu_run_spare(run, making->npieces * tiles->ngroups,
											 sizeof(uint64_t));
	if (tiles->starts != NULL && tiles->sums != NULL &&
		(making->transposed == NULL || making->places != NULL))
		tiles->entries = emogi_cpu_run_spare(run, making->lists->nedges, sizeof(uint32_t));
}

bool
emogi_blocked_spmv_make(EmogiBlockedSpmv *tiles, EmogiCpuRun *run, const EmogiAdjacency *lists,
						const EmogiAdjacency *transposed,
						uint64_t nvertices, int64_t nsteps)
{
	const int	nthreads = emogi_pool_size(run->pool);
	Making		making = {.tiles = tiles, .run = run, .lists = lists,
		.transposed = transposed->offsets != NULL ? transposed : NULL,
		.nvertices = nvertices, .npieces = count_blocks(nvertices, PIECE_BITS)};

	*tiles = (EmogiBlockedSpmv) {0};
	if (!pay(&making, nsteps))
		return true;
	tiles->group_bits = choose_group_bits(&making, nthreads);
	tiles->source_bits = making.transposed != NULL ? WORD_BITS - tiles->group_bits
		: NEAR_SOURCE_BITS;
	tiles->ngroups = count_blocks(nvertices, tiles->group_bits);
	tiles->nsources = count_blocks(nvertices, tiles->source_bits);
	take_memory(&making, nthreads);
	if (tiles->entries == NULL)
		return !emogi_job_stopped(&run->job);
	tiles->starts[tiles->ngroups * tiles->nsources] = lists->nedges;
	return fill(&making);
}

/* Add up a group, of numbers of one kind, a constant; false when the job has stopped. */
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
