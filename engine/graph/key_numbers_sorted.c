/*
 * key_numbers_sorted.c: vertex numbers for keys too sparse for a bitmap: sort the distinct keys,
 * and look them up through an index.
 *
 * Keys are held as key - min_key, unsigned. A sample of them yields splitters that divide the keys
 * into buckets of similar size, whatever their distribution [1]. Repeats in quick succession are
 * dropped by a small table of recent keys, so that a vertex with most of the edges does not fill a
 * bucket. Each thread counts, then moves, its share of the keys into the buckets; each bucket is
 * sorted and deduplicated by itself; the buckets, concatenated, are the ids. The index divides the
 * range of each bucket evenly into one to four times as many cells as it has keys. A lookup is a
 * branch-free search among the splitters, followed by one in a cell, which usually holds only this
 * key.
 *
 * [1] W. D. Frazer, A. C. McKellar. Samplesort: a sampling approach to minimal storage tree
 *     sorting. JACM 17(3), 1970.
 */
#include "graph/key_numbers.h"
#include "threads/radix.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BUCKETS 1024
#define KEYS_PER_BUCKET 8192	/* target size */
#define SAMPLES_PER_BUCKET 32
#define RECENT_BITS 13			/* of the table of recent keys while the edges are read */
#define MAX_SEEN_BITS 16		/* of the table for a bucket: EMOGI_SORT_SCRATCH keys */
#define GROUP 16				/* searches among the splitters that are interleaved */
#define BATCH 64				/* keys that take each stage of a lookup together */
#define GUIDE_BITS 12
#define MAX_CELLS_PER_KEY 4
#define PIECE_KEYS ((uint64_t) 1 << 18)	/* of populating and moving, 2 MiB */

/* The part of the index for a bucket. */
typedef struct KeyBucket
{
	uint64_t	low;			/* its smallest key */
	uint64_t	first_cell:58;	/* there are up to MAX_CELLS_PER_KEY per key: more than 32 bits
								 * can number */
	uint64_t	shift:6;		/* cell = first_cell + ((key - low) >> shift) */
} KeyBucket;

_Static_assert(sizeof(KeyBucket) == 16, "the buckets of a graph fit the first-level cache");

typedef struct KeyIndex
{
	uint32_t	nbuckets;
	uint32_t	guide_shift;
	uint32_t	window;			/* a power of two, greater than the number of splitters in any
								 * cell of the guide */
	const uint32_t *cells;		/* [ncells + 1], the number of the first key in the cell or after
								 * it */
	uint16_t	guide[1 << GUIDE_BITS];	/* number of splitters below every key with this key >>
										 * guide_shift */
	uint64_t	splitters[2 * MAX_BUCKETS];	/* bucket b holds splitters[b-1] <= key <
											 * splitters[b]; the rest is UINT64_MAX */
	KeyBucket	buckets[MAX_BUCKETS];
} KeyIndex;

typedef struct SortedBuild
{
	EmogiJob   *job;
	const EmogiEdges *edges;
	KeyIndex   *index;
	uint64_t   *keys;			/* [nkeys], by bucket; in the end [nvertices] */
	uint64_t	nkeys;
	uint64_t	room_bytes;		/* of keys, and the cells after them */
	uint32_t   *cells;
	uint64_t   *places;			/* [nthreads][MAX_BUCKETS]: counts, then the place of the
								 * thread's next key */
	uint64_t	start[MAX_BUCKETS + 1];	/* where each bucket begins in keys */
	uint64_t	distinct[MAX_BUCKETS];
	uint64_t	next;			/* atomic: next piece or bucket */
	bool		moving;			/* the second pass over the edges */
} SortedBuild;

/*
 * Count the splitters <= key for GROUP keys at once: the guide's number, plus a search in the
 * window after it.
 */
static inline void
find_buckets(const KeyIndex *index, const uint64_t *key, uint32_t *bucket)
{
	uint32_t	found[GROUP];

	for (int i = 0; i < GROUP; i++)
		found[i] = index->guide[key[i] >> index->guide_shift];
	for (uint32_t half = index->window / 2; half > 0; half /= 2)
	{
		for (int i = 0; i < GROUP; i++)
			found[i] += index->splitters[found[i] + half - 1] <= key[i] ? half : 0;
	}
	for (int i = 0; i < GROUP; i++)
		bucket[i] = found[i] < index->nbuckets ? found[i] : index->nbuckets - 1;
}

/*
 * Get the bytes for all keys while they are moved, and afterwards for the distinct ones with at
 * least one cell for each.
 */
static uint64_t
bytes_of_keys(uint64_t nedges, uint64_t max_vertices)
{
	uint64_t	moved = 2 * nedges * sizeof(uint64_t);
	uint64_t	kept = max_vertices * (sizeof(uint64_t) + sizeof(uint32_t)) + (MAX_BUCKETS + 1) *
		sizeof(uint32_t);

	return moved > kept ? moved : kept;
}

size_t
emogi_key_numbers_sorted_bytes(uint64_t nedges, uint64_t max_vertices)
{
	return sizeof(KeyIndex) + EMOGI_LINE_BYTES + bytes_of_keys(nedges, max_vertices);
}

/* Sample about `wanted` keys evenly from the edges; returns their number. */
static size_t
take_sample(const EmogiEdges *edges, uint64_t *sample, size_t wanted)
{
	size_t		taken = 0;
	uint64_t	random = 88172645463325252u;

	for (uint64_t c = 0; c < edges->nchunks; c++)
	{
		const EmogiEdgeChunk *chunk = edges->chunks[c];
		uint64_t	share = (uint64_t) ((double) wanted * (double) chunk->nedges /
										(double) edges->nedges) + 1;

		for (uint64_t i = 0; i < share && chunk->nedges > 0 && taken < wanted; i++)
		{
			int64_t		buffer[2];
			const int64_t *keys;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			keys = emogi_edge_keys(edges, chunk, (random >> 8) % chunk->nedges, 1, buffer);
			sample[taken++] = (uint64_t) keys[random & 1] - (uint64_t) edges->min_key;
		}
	}
	return taken;
}

/* Remove repeats from sorted keys; returns the number left. */
static size_t
remove_repeats(uint64_t *keys, size_t count)
{
	size_t		kept = count > 0 ? 1 : 0;

	for (size_t i = 1; i < count; i++)
	{
		bool		differs = keys[i] != keys[kept - 1];

		keys[kept] = keys[i];
		kept += differs;
	}
	return kept;
}

/* Make the guide over keys 0 .. span, and the window that its fullest cell needs. */
static void
make_guide(KeyIndex *index, uint64_t span)
{
	uint32_t	below = 0,
				max = 0;

	index->guide_shift = 0;
	while (span >> index->guide_shift >= 1 << GUIDE_BITS)
		index->guide_shift++;
	for (uint64_t c = 0; c < 1 << GUIDE_BITS; c++)
	{
		uint32_t	before = below;

		index->guide[c] = (uint16_t) below;
		while (below < index->nbuckets - 1 && index->splitters[below] >> index->guide_shift <= c)
			below++;
		if (below - before > max)
			max = below - before;
	}
	index->window = 1;
	while (index->window <= max)
		index->window *= 2;
}

/* Choose the splitters from a sample of the keys; false if out of memory. */
static bool
choose_splitters(const EmogiEdges *edges, KeyIndex *index, EmogiJob *job)
{
	size_t		nsample = MAX_BUCKETS * SAMPLES_PER_BUCKET;
	uint64_t   *sample = emogi_job_may_allocate(job) ? malloc(2 * nsample * sizeof(uint64_t))
		: NULL;
	uint32_t	nbuckets = 1;

	if (sample == NULL)
		return false;
	while (nbuckets < MAX_BUCKETS && nbuckets * (uint64_t) KEYS_PER_BUCKET < 2 * edges->nedges)
		nbuckets *= 2;
	nsample = take_sample(edges, sample, nbuckets * SAMPLES_PER_BUCKET);
	emogi_radix_sort_u64(sample, nsample, sample + MAX_BUCKETS * SAMPLES_PER_BUCKET, nsample, job);
	nsample = remove_repeats(sample, nsample);
	if (nbuckets > nsample)
		nbuckets = (uint32_t) nsample;
	memset(index->splitters, 0xFF, sizeof(index->splitters));
	for (uint32_t b = 1; b < nbuckets; b++)
		index->splitters[b - 1] = sample[nsample * b / nbuckets];
	index->nbuckets = nbuckets;
	make_guide(index, (uint64_t) edges->max_key - (uint64_t) edges->min_key);
	free(sample);
	return true;
}

/* Clear a table of 2^bits recent keys. */
static void
clear_recent(uint64_t *recent, int bits)
{
	memset(recent, 0, sizeof(uint64_t) << bits);
	recent[0] = 1;				/* key 0 hashes to this slot and has not been seen; key 1 hashes
								 * elsewhere */
}

/*
 * Put a key in the table of recent keys, possibly replacing another; returns whether it was not
 * there.
 */
static inline bool
remember_key(uint64_t *recent, int bits, uint64_t key)
{
	uint64_t   *slot = &recent[(key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - bits)];
	bool		isnew = *slot != key;

	*slot = key;
	return isnew;
}

/* Count or move the keys of a chunk that are not among the recent ones. */
static void
scatter_chunk(SortedBuild *build, const EmogiEdgeChunk *chunk, uint64_t *recent, uint64_t *places)
{
	uint64_t	nends = 2 * chunk->nedges;
	uint64_t	min_key = (uint64_t) build->edges->min_key;
	uint64_t	key[BATCH + GROUP];
	uint32_t	bucket[BATCH + GROUP];

	for (uint64_t first = 0; first < nends; first += BATCH)
	{
		uint64_t	nkeys = nends - first < BATCH ? nends - first : BATCH;
		int64_t		buffer[BATCH];
		const int64_t *ends = emogi_edge_keys(build->edges, chunk, first / 2, nkeys / 2, buffer);
		size_t		count = 0;

		if (first % (BATCH * 256) == 0 && emogi_job_stopped(build->job))
			return;
		for (uint64_t i = 0; i < nkeys; i++)
		{
			key[count] = (uint64_t) ends[i] - min_key;
			count += remember_key(recent, RECENT_BITS, key[count]);
		}
		memset(key + count, 0, GROUP * sizeof(uint64_t));
		for (size_t i = 0; i < count; i += GROUP)
			find_buckets(build->index, key + i, bucket + i);
		if (build->moving)
		{
			for (size_t i = 0; i < count; i++)
				build->keys[places[bucket[i]]++] = key[i];
		}
		else
		{
			for (size_t i = 0; i < count; i++)
				places[bucket[i]]++;
		}
	}
}

/*
 * Count or move the keys of this thread's chunks: the same chunks, in the same order, in both
 * passes.
 */
static void
scatter_keys(void *arg, int thread, int nthreads)
{
	SortedBuild *build = arg;
	const EmogiEdges *edges = build->edges;
	uint64_t	recent[1 << RECENT_BITS];
	uint64_t	first = edges->nchunks * (uint64_t) thread / (uint64_t) nthreads;
	uint64_t	end = edges->nchunks * ((uint64_t) thread + 1) / (uint64_t) nthreads;

	clear_recent(recent, RECENT_BITS);
	for (uint64_t c = first; c < end && !emogi_job_stopped(build->job); c++)
	{
		scatter_chunk(build, edges->chunks[c], recent,
					  build->places + (size_t) thread * MAX_BUCKETS);
		emogi_job_done(build->job, edges->chunks[c]->nedges);
	}
}

/* Convert the counts of all threads to places, bucket by bucket. */
static void
place_buckets(SortedBuild *build, int nthreads)
{
	uint64_t	sum = 0;

	for (uint32_t b = 0; b < build->index->nbuckets; b++)
	{
		build->start[b] = sum;
		for (int t = 0; t < nthreads; t++)
		{
			uint64_t   *place = &build->places[(size_t) t * MAX_BUCKETS + b];
			uint64_t	count = *place;

			*place = sum;
			sum += count;
		}
	}
	build->start[build->index->nbuckets] = sum;
	build->nkeys = sum;
}

/* Populate the memory of the keys. */
static void
populate_keys(void *arg, int thread, int nthreads)
{
	SortedBuild *build = arg;
	uint64_t	first;

	while (!emogi_job_stopped(build->job) && (first = emogi_job_claim(&build->next, PIECE_KEYS)) <
		   build->nkeys)
	{
		uint64_t	count = build->nkeys - first < PIECE_KEYS ? build->nkeys - first : PIECE_KEYS;

		if (!emogi_job_populate(build->job, build->keys + first, count * sizeof(uint64_t)))
			emogi_job_fail(build->job, EMOGI_NO_MEMORY);
	}
}

/* Remove most repeats from unsorted keys, with a table in scratch; returns the number left. */
static size_t
thin_out(uint64_t *keys, size_t count, uint64_t *scratch)
{
	size_t		kept = 0;
	int			bits = 8;

	while (bits < MAX_SEEN_BITS && (size_t) 2 << bits < count)
		bits++;
	clear_recent(scratch, bits);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	key = keys[i];

		keys[kept] = key;
		kept += remember_key(scratch, bits, key);
	}
	return kept;
}

/* Sort the buckets and remove repeats from each. */
static void
sort_buckets(void *arg, int thread, int nthreads)
{
	SortedBuild *build = arg;
	uint64_t   *scratch = emogi_job_may_allocate(build->job)
		? malloc(EMOGI_SORT_SCRATCH * sizeof(uint64_t)) : NULL;

	if (scratch == NULL)
		emogi_job_fail(build->job, EMOGI_NO_MEMORY);
	for (uint64_t b; emogi_job_take(build->job, &build->next, build->index->nbuckets, &b);)
	{
		uint64_t   *keys = build->keys + build->start[b];
		size_t		count = build->start[b + 1] - build->start[b];

		count = thin_out(keys, count, scratch);
		emogi_radix_sort_u64(keys, count, scratch, EMOGI_SORT_SCRATCH, build->job);
		build->distinct[b] = remove_repeats(keys, count);
	}
	free(scratch);
}

/* Choose the number of cells per key: as many as fit after the keys in the given memory. */
static uint64_t
cells_per_key(const SortedBuild *build)
{
	uint64_t	room = build->room_bytes;
	uint64_t	n = 0;
	uint64_t	per_key = MAX_CELLS_PER_KEY;

	for (uint32_t b = 0; b < build->index->nbuckets; b++)
		n += build->distinct[b];
	while (per_key > 1 &&
		   n * sizeof(uint64_t) + (n * per_key + MAX_BUCKETS + 1) * sizeof(uint32_t) > room)
		per_key /= 2;
	return per_key;
}

/*
 * Move the buckets together at the front of keys and assign their cells; returns the number of
 * cells.
 */
static uint64_t
compact_buckets(SortedBuild *build)
{
	KeyIndex   *index = build->index;
	uint64_t	per_key = cells_per_key(build);
	uint64_t	n = 0,
				ncells = 0;

	for (uint32_t b = 0; b < index->nbuckets && !emogi_job_stopped(build->job); b++)
	{
		uint64_t	count = build->distinct[b];
		KeyBucket  *bucket = &index->buckets[b];
		uint64_t	span;

		for (uint64_t i = 0; i < count; i += PIECE_KEYS)
		{
			if (emogi_job_stopped(build->job))
				return 0;
			memmove(build->keys + n + i, build->keys + build->start[b] + i,
					(count - i < PIECE_KEYS ? count - i : PIECE_KEYS) * sizeof(uint64_t));
		}
		build->start[b] = n;
		*bucket = (KeyBucket) {.low = count > 0 ? build->keys[n] : 0, .first_cell = ncells};
		span = count > 0 ? build->keys[n + count - 1] - bucket->low : 0;
		while (span >> bucket->shift >= count * per_key && span >> bucket->shift > 0)
			bucket->shift++;
		ncells += (span >> bucket->shift) + 1;
		n += count;
	}
	build->start[index->nbuckets] = n;
	return ncells;
}

/* Fill the cells of each bucket. */
static void
fill_cells(void *arg, int thread, int nthreads)
{
	SortedBuild *build = arg;

	for (uint64_t b; emogi_job_take(build->job, &build->next, build->index->nbuckets, &b);)
	{
		const KeyBucket *bucket = &build->index->buckets[b];
		uint64_t	start = build->start[b];
		uint64_t	cell = bucket->first_cell;

		build->cells[cell++] = (uint32_t) start;
		for (uint64_t i = start; i < build->start[b + 1]; i++)
		{
			uint64_t	own = bucket->first_cell +
				((build->keys[i] - bucket->low) >> bucket->shift);

			while (cell <= own)
				build->cells[cell++] = (uint32_t) i;
		}
	}
}

/* Run one task of the build from its first unit on; false if the job has stopped. */
static bool
run_sorted(EmogiPool *pool, SortedBuild *build, EmogiPoolTask task)
{
	build->next = 0;
	emogi_pool_run(pool, task, build);
	return !emogi_job_stopped(build->job);
}

/*
 * Collect the distinct keys in build->keys and make the index over them; false if the job has
 * stopped.
 */
static bool
collect_keys(EmogiPool *pool, SortedBuild *build, EmogiKeyNumbers *keys)
{
	uint64_t	ncells;

	if (!run_sorted(pool, build, scatter_keys))
		return false;
	place_buckets(build, emogi_pool_size(pool));
	build->moving = true;
	if (!run_sorted(pool, build, populate_keys) ||
		!run_sorted(pool, build, scatter_keys) ||
		!run_sorted(pool, build, sort_buckets))
		return false;
	ncells = compact_buckets(build);
	keys->nvertices = build->start[build->index->nbuckets];
	if (emogi_job_stopped(build->job) || keys->nvertices > EMOGI_MAX_VERTICES)
		return false;
	keys->map = build->keys;
	keys->map_length = keys->nvertices;
	keys->index = build->index;
	build->cells = (uint32_t *) (build->keys + keys->nvertices);
	if (!emogi_job_populate(build->job, build->cells, (ncells + 1) * sizeof(uint32_t)))
	{
		emogi_job_fail(build->job, EMOGI_NO_MEMORY);
		return false;
	}
	build->cells[ncells] = (uint32_t) keys->nvertices;
	build->index->cells = build->cells;
	return run_sorted(pool, build, fill_cells);
}

bool
emogi_key_numbers_sorted_build(EmogiPool *pool, const EmogiEdges *edges, uint64_t max_vertices,
							   void *scratch, EmogiKeyNumbers *keys, EmogiJob *job)
{
	SortedBuild *build = calloc(1, sizeof(SortedBuild));
	bool		done = false;

	emogi_job_phase(job, EMOGI_PHASE_KEYS, 2 * edges->nedges);
	if (build != NULL && emogi_job_may_allocate(job))
		build->places = calloc((size_t) emogi_pool_size(pool) * MAX_BUCKETS, sizeof(uint64_t));
	if (build == NULL || build->places == NULL ||
		!emogi_job_populate(job, scratch, sizeof(KeyIndex)) ||
		!choose_splitters(edges, scratch, job))
		emogi_job_fail(job, EMOGI_NO_MEMORY);
	else
	{
		build->job = job;
		build->edges = edges;
		build->index = scratch;
		build->room_bytes = bytes_of_keys(edges->nedges, max_vertices);
		build->keys = (uint64_t *) ((char *) scratch + (sizeof(KeyIndex) + EMOGI_LINE_BYTES - 1) /
									EMOGI_LINE_BYTES * EMOGI_LINE_BYTES);
		done = collect_keys(pool, build, keys);
	}
	if (build != NULL)
		free(build->places);
	free(build);
	return done;
}

/*
 * Translate up to BATCH keys. All keys take each stage before the next, so that their cache misses
 * overlap.
 */
static void
look_up_batch(const EmogiKeyNumbers *keys, const int64_t *key, uint32_t *number, size_t count)
{
	const KeyIndex *index = keys->index;
	const uint64_t *sorted = keys->map;
	uint64_t	k[BATCH + GROUP] = {0};
	uint32_t	bucket[BATCH + GROUP];
	const uint32_t *cell[BATCH];

	for (size_t i = 0; i < count; i++)
		k[i] = (uint64_t) key[i] - (uint64_t) keys->min_key;
	for (size_t i = 0; i < count; i += GROUP)
		find_buckets(index, k + i, bucket + i);
	for (size_t i = 0; i < count; i++)
	{
		const KeyBucket *b = &index->buckets[bucket[i]];

		cell[i] = index->cells + b->first_cell + ((k[i] - b->low) >> b->shift);
		__builtin_prefetch(cell[i]);
	}
	for (size_t i = 0; i < count; i++)
	{
		if (cell[i][1] - cell[i][0] > 1)
			__builtin_prefetch(&sorted[cell[i][0]]);
	}
	for (size_t i = 0; i < count; i++)
	{
		uint32_t	first = cell[i][0];
		uint32_t	length = cell[i][1] - first;

		while (length > 1)
		{
			uint32_t	half = length / 2;

			first += sorted[first + half] <= k[i] ? half : 0;
			length -= half;
		}
		number[i] = first;
	}
}

void
emogi_key_numbers_sorted_translate(const EmogiKeyNumbers *keys, const int64_t *key,
								   uint32_t *number, size_t count)
{
	for (size_t i = 0; i < count; i += BATCH)
		look_up_batch(keys, key + i, number + i, count - i < BATCH ? count - i : BATCH);
}
