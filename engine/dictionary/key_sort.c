/*
 * key_sort.c: a parallel radix sort of byte strings.
 *
 * A code is the next 7 bytes of a key, padded with zeros, and how many there are, 8 = more than 7. So codes order keys, and of
 * different keys only those with more than 7 bytes can have one code. A run of keys that agree in their first bytes is sorted thus: find
 * how many bytes they all agree in, make the codes behind these, sort by codes, go on with every group of one code. The largest group is
 * gone on with in a loop, the others in calls, so that calls are nested no deeper than log2 of the keys.
 *
 * The whole is cut by a sample of its codes into buckets, which threads sort one by one [1]. Groups of one code that are
 * a large part of the whole are put aside, and then are sorted in the same way as the whole is, by all threads.
 *
 * [1] W. D. Frazer, A. C. McKellar. Samplesort: a sampling approach to minimal storage tree sorting. JACM 17(3), 1970.
 */
#include "key_sort.h"

#include "dictionary/dictionary.h"
#include "graph/radix.h"

#define MAX_BUCKETS 1024
#define KEYS_PER_BUCKET 8192	/* aim */
#define SAMPLES_PER_BUCKET 32
#define INSERTION_MAX 24
#define CODE_BYTES 7
#define AHEAD 12				/* records that are prefetched */
#define PIECE_KEYS 16384
#define WORK_PER_POLL ((uint64_t) 1 << 20)	/* bytes looked at, about */
#define MAX_ASIDE 64
#define ASIDE_PART 16			/* groups of more than 1 / ASIDE_PART of all are put aside */
#define ASIDE_KEYS 65536		/* and of so many keys at least */

/* Keys that agree in their first bytes. */
typedef struct Run
{
	uint64_t	first;
	uint64_t	count;
	uint32_t	depth;			/* bytes */
} Run;

typedef struct KeySort
{
	EmogiJob   *job;
	EmogiSortedKey *keys;		/* [nkeys] */
	EmogiSortedKey *other;		/* [nkeys], scratch */
	uint64_t	nkeys;
	uint64_t   *places;			/* [nthreads][MAX_BUCKETS]: counts, then where the next key of the thread goes */
	uint64_t   *sample;			/* [2 * MAX_BUCKETS * SAMPLES_PER_BUCKET] */
	Run			run;			/* that all threads work on */
	uint32_t	common;			/* atomic: bytes that all its keys agree in */
	uint32_t	nbuckets;		/* a power of two */
	uint64_t	splitters[MAX_BUCKETS];	/* bucket b has splitters[b-1] <= code < splitters[b]; then UINT64_MAX */
	uint64_t	start[MAX_BUCKETS + 1];
	uint64_t	next;			/* atomic: next bucket or piece */
	uint64_t	naside;			/* atomic */
	Run			aside[MAX_ASIDE];
} KeySort;

int
emogi_key_compare_bytes(void *arg, EmogiKeyBytes a, EmogiKeyBytes b)
{
	const uint32_t shorter = a.length < b.length ? a.length : b.length;
	const int	order = shorter > 0 ? memcmp(a.bytes, b.bytes, shorter) : 0;

	return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* ---- codes ---- */

/* Make the code of a key behind its first depth bytes, which it has. */
static inline uint64_t
code_at(const EmogiKeyRecord *record, uint32_t depth)
{
	const uint32_t left = record->length - depth;
	uint64_t	code = 0;

	if (left > CODE_BYTES)
		return (__builtin_bswap64(emogi_key_read8(record->bytes + depth)) & ~UINT64_C(255)) | (CODE_BYTES + 1);
	for (uint32_t i = 0; i < left; i++)
		code |= (uint64_t) (uint8_t) record->bytes[depth + i] << (56 - 8 * i);
	return code | left;
}

/* Count the bytes in which two keys agree, which are depth at least; no more than most. */
static inline uint32_t
common_bytes(const EmogiKeyRecord *a, const EmogiKeyRecord *b, uint32_t depth, uint32_t most)
{
	if (most > a->length)
		most = a->length;
	if (most > b->length)
		most = b->length;
	while (depth + 8 <= most && emogi_key_read8(a->bytes + depth) == emogi_key_read8(b->bytes + depth))
		depth += 8;
	while (depth < most && a->bytes[depth] == b->bytes[depth])
		depth++;
	return depth;
}

/* Count the bytes in which all keys agree, which are depth at least; no more than most. Polls. */
static uint32_t
common_of_all(EmogiJob *job, const EmogiSortedKey *keys, uint64_t count, const EmogiKeyRecord *first, uint32_t depth, uint32_t most)
{
	uint64_t	work = 0;

	for (uint64_t i = 0; i < count && most > depth; i++)
	{
		if (i + AHEAD < count)
			__builtin_prefetch(keys[i + AHEAD].record);
		most = common_bytes(first, keys[i].record, depth, most);
		work += most - depth + 64;
		if (work > WORK_PER_POLL)
		{
			if (emogi_job_stopped(job))
				return depth;
			work = 0;
		}
	}
	return most;
}

/* ---- one thread ---- */

/* Sort few keys by code. */
static void
sort_few(EmogiSortedKey *keys, uint64_t count)
{
	for (uint64_t i = 1; i < count; i++)
	{
		const EmogiSortedKey key = keys[i];
		uint64_t	j = i;

		for (; j > 0 && keys[j - 1].code > key.code; j--)
			keys[j] = keys[j - 1];
		keys[j] = key;
	}
}

/* Sort keys by code, from the highest 8 bits that differ on; other[count] is scratch. Nested 8 deep at most. */
static void
sort_codes(EmogiSortedKey *keys, uint64_t count, EmogiSortedKey *other)
{
	uint64_t	starts[257] = {0};
	uint64_t	differ = 0;
	int			shift;

	if (count <= INSERTION_MAX)
	{
		sort_few(keys, count);
		return;
	}
	for (uint64_t i = 1; i < count; i++)
		differ |= keys[i].code ^ keys[0].code;
	if (differ == 0)
		return;
	shift = 56 - __builtin_clzll(differ);
	if (shift < 0)
		shift = 0;
	for (uint64_t i = 0; i < count; i++)
		starts[(keys[i].code >> shift & 255) + 1]++;
	for (int d = 0; d < 256; d++)
		starts[d + 1] += starts[d];
	for (uint64_t i = 0; i < count; i++)
		other[starts[keys[i].code >> shift & 255]++] = keys[i];
	memcpy(keys, other, count * sizeof(*keys));
	if (shift == 0)
		return;
	/* starts[d] is now the end of d */
	for (int d = 0; d < 256; d++)
	{
		const uint64_t start = d > 0 ? starts[d - 1] : 0;

		if (starts[d] - start > 1)
			sort_codes(keys + start, starts[d] - start, other);
	}
}

/* Get the end of the group of one code that begins at `first`. */
static inline uint64_t
group_end(const EmogiSortedKey *keys, uint64_t count, uint64_t first)
{
	uint64_t	end = first + 1;

	while (end < count && keys[end].code == keys[first].code)
		end++;
	return end;
}

/* Sort keys that agree in their first depth bytes, which all of them have. */
static void
sort_deep(EmogiJob *job, EmogiSortedKey *keys, uint64_t count, uint32_t depth, EmogiSortedKey *other)
{
	while (count > 1 && !emogi_job_stopped(job))
	{
		uint64_t	largest = 0,
					largest_count = 1;

		depth = common_of_all(job, keys + 1, count - 1, keys[0].record, depth, UINT32_MAX);
		for (uint64_t i = 0; i < count; i++)
			keys[i].code = code_at(keys[i].record, depth);
		sort_codes(keys, count, other);
		for (uint64_t i = 0, end; i < count; i = end)
		{
			end = group_end(keys, count, i);
			if (end - i <= largest_count)
				continue;
			largest = i;
			largest_count = end - i;
		}
		for (uint64_t i = 0, end; i < count; i = end)
		{
			end = group_end(keys, count, i);
			if (end - i > 1 && i != largest)
				sort_deep(job, keys + i, end - i, depth + CODE_BYTES, other);
		}
		keys += largest;
		count = largest_count;
		depth += CODE_BYTES;
	}
}

/* ---- all threads ---- */

/* Put a group aside if it is a large part of all; say whether. */
static bool
put_aside(KeySort *sort, Run group)
{
	uint64_t	i;

	if (group.count < ASIDE_KEYS || group.count < sort->nkeys / ASIDE_PART)
		return false;
	i = __atomic_fetch_add(&sort->naside, 1, __ATOMIC_RELAXED);
	if (i < MAX_ASIDE)
	{
		sort->aside[i] = group;
		return true;
	}
	__atomic_fetch_sub(&sort->naside, 1, __ATOMIC_RELAXED);
	return false;
}

/* Find how many bytes the keys of the run agree in. */
static void
find_common(void *arg, int thread, int nthreads)
{
	KeySort    *sort = arg;
	const EmogiSortedKey *keys = sort->keys + sort->run.first;
	uint64_t	first;

	while (!emogi_job_stopped(sort->job) && (first = emogi_job_take(&sort->next, PIECE_KEYS)) < sort->run.count)
	{
		const uint64_t count = sort->run.count - first < PIECE_KEYS ? sort->run.count - first : PIECE_KEYS;
		uint32_t	common = __atomic_load_n(&sort->common, __ATOMIC_RELAXED);
		const uint32_t found = common_of_all(sort->job, keys + first, count, keys[0].record, sort->run.depth, common);

		while (found < common && !__atomic_compare_exchange_n(&sort->common, &common, found, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
	}
}

/* Make the codes of the run behind what its keys agree in. */
static void
make_codes(void *arg, int thread, int nthreads)
{
	KeySort    *sort = arg;
	uint64_t	first;

	while (!emogi_job_stopped(sort->job) && (first = emogi_job_take(&sort->next, PIECE_KEYS)) < sort->run.count)
	{
		EmogiSortedKey *keys = sort->keys + sort->run.first + first;
		const uint64_t count = sort->run.count - first < PIECE_KEYS ? sort->run.count - first : PIECE_KEYS;

		for (uint64_t i = 0; i < count; i++)
		{
			if (i + AHEAD < count)
				__builtin_prefetch(keys[i + AHEAD].record);
			keys[i].code = code_at(keys[i].record, sort->common);
		}
	}
}

/* Choose the splitters of the run. */
static void
choose_splitters(KeySort *sort)
{
	uint64_t	nsample;

	sort->nbuckets = 1;
	while (sort->nbuckets < MAX_BUCKETS && (uint64_t) sort->nbuckets * KEYS_PER_BUCKET < sort->run.count)
		sort->nbuckets *= 2;
	nsample = (uint64_t) sort->nbuckets * SAMPLES_PER_BUCKET;
	if (nsample > sort->run.count)
		nsample = sort->run.count;
	for (uint64_t i = 0; i < nsample; i++)
		sort->sample[i] = sort->keys[sort->run.first + (uint64_t) ((unsigned __int128) sort->run.count * i / nsample)].code;
	emogi_radix_sort_u64(sort->sample, nsample, sort->sample + MAX_BUCKETS * SAMPLES_PER_BUCKET, nsample, sort->job);
	memset(sort->splitters, 0xFF, sizeof(sort->splitters));
	for (uint32_t b = 1; b < sort->nbuckets; b++)
		sort->splitters[b - 1] = sort->sample[nsample * b / sort->nbuckets];
}

/* Get the bucket of a code: count the splitters that are not above it. */
static inline uint32_t
bucket_of(const KeySort *sort, uint64_t code)
{
	uint32_t	bucket = 0;

	for (uint32_t half = sort->nbuckets / 2; half > 0; half /= 2)
		bucket += sort->splitters[bucket + half - 1] <= code ? half : 0;
	return bucket;
}

/* Count this thread's share of the run by buckets, or move it to them if they have places. */
static void
scatter(KeySort *sort, int thread, int nthreads, bool moving)
{
	const EmogiSortedKey *keys = sort->keys + sort->run.first;
	EmogiSortedKey *other = sort->other + sort->run.first;
	uint64_t   *places = sort->places + (size_t) thread * MAX_BUCKETS;
	const uint64_t first = (uint64_t) ((unsigned __int128) sort->run.count * (uint64_t) thread / (uint64_t) nthreads);
	const uint64_t end = (uint64_t) ((unsigned __int128) sort->run.count * ((uint64_t) thread + 1) / (uint64_t) nthreads);

	if (!moving)
		memset(places, 0, MAX_BUCKETS * sizeof(*places));
	for (uint64_t i = first; i < end; i++)
	{
		const uint32_t bucket = bucket_of(sort, keys[i].code);

		if ((i - first) % PIECE_KEYS == 0 && emogi_job_stopped(sort->job))
			return;
		if (moving)
			other[places[bucket]] = keys[i];
		places[bucket]++;
	}
}

/* Count the run by buckets. */
static void
count_keys(void *arg, int thread, int nthreads)
{
	scatter(arg, thread, nthreads, false);
}

/* Move the run to its buckets, in other. */
static void
move_keys(void *arg, int thread, int nthreads)
{
	scatter(arg, thread, nthreads, true);
}

/* Turn the counts of all threads into places, bucket by bucket. */
static void
place_buckets(KeySort *sort, int nthreads)
{
	uint64_t	sum = 0;

	for (uint32_t b = 0; b < sort->nbuckets; b++)
	{
		sort->start[b] = sum;
		for (int t = 0; t < nthreads; t++)
		{
			uint64_t   *place = &sort->places[(size_t) t * MAX_BUCKETS + b];
			const uint64_t count = *place;

			*place = sum;
			sum += count;
		}
	}
	sort->start[sort->nbuckets] = sum;
}

/* Sort the buckets, back into keys. */
static void
sort_buckets(void *arg, int thread, int nthreads)
{
	KeySort    *sort = arg;
	uint64_t	b;

	while (!emogi_job_stopped(sort->job) && (b = emogi_job_take(&sort->next, 1)) < sort->nbuckets)
	{
		const uint64_t first = sort->run.first + sort->start[b];
		const uint64_t count = sort->start[b + 1] - sort->start[b];
		const uint32_t depth = sort->common + CODE_BYTES;
		EmogiSortedKey *keys = sort->keys + first;

		if (count == 0)
			continue;
		memcpy(keys, sort->other + first, count * sizeof(*keys));
		sort_codes(keys, count, sort->other + first);
		for (uint64_t i = 0, end; i < count; i = end)
		{
			end = group_end(keys, count, i);
			if (end - i > 1 && !put_aside(sort, (Run) {first + i, end - i, depth}))
				sort_deep(sort->job, keys + i, end - i, depth, sort->other + first + i);
		}
	}
}

/* Run one task of the sort from its first unit on; false when the job has stopped. */
static bool
run_task(EmogiPool *pool, KeySort *sort, EmogiPoolTask task)
{
	sort->next = 0;
	emogi_pool_run(pool, task, sort);
	return !emogi_job_stopped(sort->job);
}

/* Sort a run on all threads, but for the groups that are put aside. */
static bool
sort_run(EmogiPool *pool, KeySort *sort, Run run)
{
	sort->run = run;
	sort->common = sort->keys[run.first].record->length;
	if (!run_task(pool, sort, find_common) || !run_task(pool, sort, make_codes))
		return false;
	choose_splitters(sort);
	if (!run_task(pool, sort, count_keys))
		return false;
	place_buckets(sort, emogi_pool_size(pool));
	return run_task(pool, sort, move_keys) && run_task(pool, sort, sort_buckets);
}

/* Get the bytes of the parts of scratch before the keys. */
static size_t
places_bytes(int nthreads)
{
	return ((size_t) nthreads * MAX_BUCKETS + 2 * MAX_BUCKETS * SAMPLES_PER_BUCKET) * sizeof(uint64_t);
}

size_t
emogi_key_sort_scratch_bytes(uint64_t nkeys, int nthreads)
{
	return places_bytes(nthreads) + (size_t) nkeys * sizeof(EmogiSortedKey);
}

bool
emogi_key_sort(EmogiPool *pool, EmogiSortedKey *keys, uint64_t nkeys, void *scratch, EmogiJob *job)
{
	const int	nthreads = emogi_pool_size(pool);
	KeySort		sort = {.job = job, .keys = keys, .nkeys = nkeys, .places = scratch};

	sort.sample = sort.places + (size_t) nthreads * MAX_BUCKETS;
	sort.other = (EmogiSortedKey *) ((char *) scratch + places_bytes(nthreads));
	if (nkeys == 0 || !sort_run(pool, &sort, (Run) {0, nkeys, 0}))
		return nkeys == 0;
	/* at most ASIDE_PART are there at once, for they do not overlap */
	while (sort.naside > 0)
	{
		if (!sort_run(pool, &sort, sort.aside[--sort.naside]))
			return false;
	}
	return true;
}
