/*
 * key_sort.c: parallel radix sort of byte strings.
 *
 * A code holds the next 7 bytes of a key, padded with zeros, and their number, 8 = more than 7.
 * Codes therefore order the keys, and two different keys have the same code only if both have more
 * than 7 bytes. Keys with a common prefix are sorted as follows: find the length of the longest
 * common prefix, make the codes behind it, sort by code, and continue with each group of equal
 * codes. The largest group is processed in a loop and the others recursively, so the recursion
 * depth is at most log2 of the number of keys.
 *
 * All keys together are partitioned into buckets by a sample of their codes, and each thread sorts
 * one bucket at a time [1]. Groups of equal codes that are a large fraction of the keys are
 * deferred, and then sorted in the same way by all threads.
 *
 * [1] W. D. Frazer, A. C. McKellar. Samplesort: a sampling approach to minimal storage tree
 *     sorting. JACM 17(3), 1970.
 */
#include "key_sort.h"

#include "contract/builder.h"
#include "threads/radix.h"

#define MAX_BUCKETS 1024
#define KEYS_PER_BUCKET 8192	/* target */
#define SAMPLES_PER_BUCKET 32
#define INSERTION_MAX 24
#define CODE_BYTES 7
#define PREFETCH_KEYS 12		/* prefetch distance in records */
#define PIECE_KEYS 16384
#define WORK_PER_POLL ((uint64_t) 1 << 20)	/* bytes compared, approximately */
#define MAX_DEFERRED 64
#define DEFERRED_FRACTION 16	/* groups of at least 1 / DEFERRED_FRACTION of all keys are
								 * deferred */
#define DEFERRED_MIN_KEYS 65536	/* if they have at least this many keys */

/* Keys with a common prefix. */
typedef struct Run
{
	uint64_t	first;
	uint64_t	count;
	uint32_t	depth;			/* bytes of the common prefix */
} Run;

typedef struct KeySort
{
	EmogiJob   *job;
	EmogiSortedKey *keys;		/* [nkeys] */
	EmogiSortedKey *other;		/* [nkeys], scratch */
	uint64_t	nkeys;
	uint64_t   *places;			/* [nthreads][MAX_BUCKETS]: counts, then the position of the
								 * thread's next key */
	uint64_t   *sample;			/* [2 * MAX_BUCKETS * SAMPLES_PER_BUCKET] */
	Run			run;			/* the run that all threads process */
	uint32_t	common;			/* atomic: bytes of the longest common prefix */
	uint32_t	nbuckets;		/* a power of two */
	uint64_t	splitters[MAX_BUCKETS];	/* bucket b has splitters[b-1] <= code < splitters[b]; then
										 * UINT64_MAX */
	uint64_t	start[MAX_BUCKETS + 1];
	uint64_t	next;			/* atomic: next bucket or piece */
	uint64_t	ndeferred;		/* atomic */
	Run			deferred[MAX_DEFERRED];
} KeySort;

int
emogi_key_compare_bytes(void *arg, EmogiKeyBytes a, EmogiKeyBytes b)
{
	const uint32_t shorter = a.length < b.length ? a.length : b.length;
	const int	order = shorter > 0 ? memcmp(a.bytes, b.bytes, shorter) : 0;

	return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* ---- codes ---- */

/* Make the code of a key behind its first depth bytes. */
static inline uint64_t
code_at(const EmogiKeyRecord *record, uint32_t depth)
{
	const uint32_t left = record->length - depth;
	uint64_t	code = 0;

	if (left > CODE_BYTES)
		return (__builtin_bswap64(emogi_key_read8(record->bytes + depth)) & ~UINT64_C(255)) |
			(CODE_BYTES + 1);
	for (uint32_t i = 0; i < left; i++)
		code |= (uint64_t) (uint8_t) record->bytes[depth + i] << (56 - 8 * i);
	return code | left;
}

/* Get the length of the common prefix of two keys, depth .. max_common. */
static inline uint32_t
common_bytes(const EmogiKeyRecord *a, const EmogiKeyRecord *b, uint32_t depth, uint32_t max_common)
{
	if (max_common > a->length)
		max_common = a->length;
	if (max_common > b->length)
		max_common = b->length;
	while (depth + 8 <= max_common &&
		   emogi_key_read8(a->bytes + depth) == emogi_key_read8(b->bytes + depth))
		depth += 8;
	while (depth < max_common && a->bytes[depth] == b->bytes[depth])
		depth++;
	return depth;
}

/* Get the length of the common prefix of all keys, depth .. max_common. Polls. */
static uint32_t
common_prefix(EmogiJob *job, const EmogiSortedKey *keys, uint64_t count,
			  const EmogiKeyRecord *first, uint32_t depth, uint32_t max_common)
{
	uint64_t	work = 0;

	for (uint64_t i = 0; i < count && max_common > depth; i++)
	{
		if (i + PREFETCH_KEYS < count)
			__builtin_prefetch(keys[i + PREFETCH_KEYS].record);
		max_common = common_bytes(first, keys[i].record, depth, max_common);
		work += max_common - depth + 64;
		if (work > WORK_PER_POLL)
		{
			if (emogi_job_stopped(job))
				return depth;
			work = 0;
		}
	}
	return max_common;
}

/* ---- one thread ---- */

/* Sort a few keys by code (insertion sort). */
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

/*
 * Sort keys by code, beginning with the highest byte that differs; other[count] is scratch.
 * Recursion depth is at most 8.
 */
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

/* Get the end of the group of equal codes that begins at `first`. */
static inline uint64_t
group_end(const EmogiSortedKey *keys, uint64_t count, uint64_t first)
{
	uint64_t	end = first + 1;

	while (end < count && keys[end].code == keys[first].code)
		end++;
	return end;
}

/* Sort keys with a common prefix of at least depth bytes. */
static void
sort_deep(EmogiJob *job, EmogiSortedKey *keys, uint64_t count, uint32_t depth,
		  EmogiSortedKey *other)
{
	while (count > 1 && !emogi_job_stopped(job))
	{
		uint64_t	largest = 0,
					largest_count = 1;

		depth = common_prefix(job, keys + 1, count - 1, keys[0].record, depth, UINT32_MAX);
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

/* Defer a group if it is a large fraction of all keys; return whether it was deferred. */
static bool
defer_group(KeySort *sort, Run group)
{
	uint64_t	i;

	if (group.count < DEFERRED_MIN_KEYS || group.count < sort->nkeys / DEFERRED_FRACTION)
		return false;
	i = __atomic_fetch_add(&sort->ndeferred, 1, __ATOMIC_RELAXED);
	if (i < MAX_DEFERRED)
	{
		sort->deferred[i] = group;
		return true;
	}
	__atomic_fetch_sub(&sort->ndeferred, 1, __ATOMIC_RELAXED);
	return false;
}

/* Find the length of the common prefix of the run. */
static void
find_common(void *arg, int thread, int nthreads)
{
	KeySort    *sort = arg;
	const EmogiSortedKey *keys = sort->keys + sort->run.first;
	uint64_t	first;

	while (!emogi_job_stopped(sort->job) &&
		   (first = emogi_job_claim(&sort->next, PIECE_KEYS)) < sort->run.count)
	{
		const uint64_t count = sort->run.count - first < PIECE_KEYS ? sort->run.count - first
			: PIECE_KEYS;
		uint32_t	common = __atomic_load_n(&sort->common, __ATOMIC_RELAXED);
		const uint32_t found = common_prefix(sort->job, keys + first, count, keys[0].record,
											 sort->run.depth, common);

		while (found < common &&
			   !__atomic_compare_exchange_n(&sort->common, &common, found, false, __ATOMIC_RELAXED,
											__ATOMIC_RELAXED))
			;
	}
}

/* Make the codes of the run behind its common prefix. */
static void
make_codes(void *arg, int thread, int nthreads)
{
	KeySort    *sort = arg;
	uint64_t	first;

	while (!emogi_job_stopped(sort->job) &&
		   (first = emogi_job_claim(&sort->next, PIECE_KEYS)) < sort->run.count)
	{
		EmogiSortedKey *keys = sort->keys + sort->run.first + first;
		const uint64_t count = sort->run.count - first < PIECE_KEYS ? sort->run.count - first
			: PIECE_KEYS;

		for (uint64_t i = 0; i < count; i++)
		{
			if (i + PREFETCH_KEYS < count)
				__builtin_prefetch(keys[i + PREFETCH_KEYS].record);
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
	while (sort->nbuckets < MAX_BUCKETS &&
		   (uint64_t) sort->nbuckets * KEYS_PER_BUCKET < sort->run.count)
		sort->nbuckets *= 2;
	nsample = (uint64_t) sort->nbuckets * SAMPLES_PER_BUCKET;
	if (nsample > sort->run.count)
		nsample = sort->run.count;
	for (uint64_t i = 0; i < nsample; i++)
		sort->sample[i] = sort->keys[sort->run.first +
									 (uint64_t) ((unsigned __int128) sort->run.count *
												 i / nsample)].code;
	emogi_radix_sort_u64(sort->sample, nsample, sort->sample + MAX_BUCKETS * SAMPLES_PER_BUCKET,
						 nsample, sort->job);
	memset(sort->splitters, 0xFF, sizeof(sort->splitters));
	for (uint32_t b = 1; b < sort->nbuckets; b++)
		sort->splitters[b - 1] = sort->sample[nsample * b / sort->nbuckets];
}

/* Get the bucket of a code: the number of splitters <= code. */
static inline uint32_t
bucket_of(const KeySort *sort, uint64_t code)
{
	uint32_t	bucket = 0;

	for (uint32_t half = sort->nbuckets / 2; half > 0; half /= 2)
		bucket += sort->splitters[bucket + half - 1] <= code ? half : 0;
	return bucket;
}

/* Count this thread's share of the run by bucket, or move it to the buckets if `moving`. */
static void
scatter(KeySort *sort, int thread, int nthreads, bool moving)
{
	const EmogiSortedKey *keys = sort->keys + sort->run.first;
	EmogiSortedKey *other = sort->other + sort->run.first;
	uint64_t   *places = sort->places + (size_t) thread * MAX_BUCKETS;
	const uint64_t first = (uint64_t) ((unsigned __int128) sort->run.count *
									   (uint64_t) thread / (uint64_t) nthreads);
	const uint64_t end = (uint64_t) ((unsigned __int128) sort->run.count *
									 ((uint64_t) thread + 1) / (uint64_t) nthreads);

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

/* Count the keys of the run by bucket. */
static void
count_keys(void *arg, int thread, int nthreads)
{
	scatter(arg, thread, nthreads, false);
}

/* Move the keys of the run to their buckets in `other`. */
static void
move_keys(void *arg, int thread, int nthreads)
{
	scatter(arg, thread, nthreads, true);
}

/* Turn the counts of all threads into positions, bucket by bucket. */
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

/* Sort the buckets back into keys. */
static void
sort_buckets(void *arg, int thread, int nthreads)
{
	KeySort    *sort = arg;

	for (uint64_t b; emogi_job_take(sort->job, &sort->next, sort->nbuckets, &b);)
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
			if (end - i > 1 && !defer_group(sort, (Run) {first + i, end - i, depth}))
				sort_deep(sort->job, keys + i, end - i, depth, sort->other + first + i);
		}
	}
}

/* Run one task of the sort from its first unit; false if the job was stopped. */
static bool
run_task(EmogiPool *pool, KeySort *sort, EmogiPoolTask task)
{
	sort->next = 0;
	emogi_pool_run(pool, task, sort);
	return !emogi_job_stopped(sort->job);
}

/* Sort a run on all threads, except for the groups that are deferred. */
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

/* Get the bytes of the scratch memory before the keys. */
static size_t
places_bytes(int nthreads)
{
	return ((size_t) nthreads * MAX_BUCKETS + 2 * MAX_BUCKETS * SAMPLES_PER_BUCKET) *
		sizeof(uint64_t);
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
	/* at most DEFERRED_FRACTION are pending at once, because they do not overlap */
	while (sort.ndeferred > 0)
	{
		if (!sort_run(pool, &sort, sort.deferred[--sort.ndeferred]))
			return false;
	}
	return true;
}
