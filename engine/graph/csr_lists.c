/*
 * csr_lists.c: make the adjacency lists of a bucket's sources from its entries.
 *
 * The entries are counted by source, which determines the offset of each list, and distributed to
 * the lists, which are then sorted one by one, in place (sort_list.c). An unweighted bucket that
 * fits the cache of one core is first sorted by target with a radix sort, so that its lists come
 * out sorted, which is faster.
 */
#include "csr_build.h"

#include "layout.h"
#include "sort_list.h"

#include <string.h>

#define MAX_DIGITS 3			/* of a target: 32 bits */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The workspace of one thread for making the lists of a bucket. */
typedef struct Workspace
{
	uint64_t   *cursor;			/* [sources of a bucket], place of the next entry of each source */
	void	   *scratch;		/* emogi_sort_list_bytes */
	uint64_t   *entries[2];		/* [room_for(build)]; only without weights, as digits */
	uint32_t   *digits;			/* [MAX_DIGITS][1 << EMOGI_CSR_DIGIT_BITS], counts, then places,
								 * of each digit of the targets */
} Workspace;

/* A bucket whose lists are being made. */
typedef struct Bucket
{
	uint32_t	number;
	uint64_t	first;			/* its sources: [first, end) */
	uint64_t	end;
	Workspace	workspace;		/* its cursors are where the lists start, and later where they
								 * end */
} Bucket;

/* The division of a target into digits. */
typedef struct Digits
{
	uint32_t	count;
	uint32_t	bits;
} Digits;

/* An iterator over the words of a bucket that polls the job at intervals. */
typedef struct WordIterator
{
	EmogiPartitionIterator walk;
	uint64_t	polled;			/* words since the last poll */
} WordIterator;

/* Begin to iterate over a bucket. */
static inline WordIterator
begin_words(const EmogiCsrBuild *build, const Bucket *bucket)
{
	return (WordIterator) {.walk = emogi_partition_iterate(&build->partition, bucket->number)};
}

/* Get the next words and their number; NULL at the end, or if the job was seen to have stopped. */
static inline const uint64_t *
next_words(EmogiCsrBuild *build, WordIterator *walk, uint32_t *count)
{
	const uint64_t *words;

	if (walk->polled >= EMOGI_CSR_POLL)
	{
		if (emogi_job_stopped(&build->job))
			return NULL;
		walk->polled = 0;
	}
	words = emogi_partition_next(&walk->walk, count);
	walk->polled += words != NULL ? *count : 0;
	return words;
}

/* Get the maximum number of entries of a bucket that is sorted at once. */
static size_t
room_for(const EmogiCsrBuild *build)
{
	uint64_t	room = EMOGI_CSR_ROOM_FACTOR * build->aim;

	return room < EMOGI_CSR_MAX_ROOM ? room : EMOGI_CSR_MAX_ROOM;
}

/* Lay out a thread's workspace from a line-aligned address on; returns its bytes. */
static size_t
lay_out_workspace(const EmogiCsrBuild *build, uintptr_t start, Workspace *workspace)
{
	const bool	weighted = build->words > 1;
	uintptr_t	place = start;

	*workspace = (Workspace) {.cursor = emogi_carve(&place,
													((size_t) 1 << build->shift) *
													sizeof(uint64_t))};
	workspace->scratch = emogi_carve(&place, emogi_sort_list_bytes(weighted));
	if (!weighted)
	{
		workspace->entries[0] = emogi_carve(&place, room_for(build) * sizeof(uint64_t));
		workspace->entries[1] = emogi_carve(&place, room_for(build) * sizeof(uint64_t));
		workspace->digits = emogi_carve(&place,
										(MAX_DIGITS << EMOGI_CSR_DIGIT_BITS) * sizeof(uint32_t));
	}
	return (size_t) (place - start);
}

size_t
emogi_csr_workspace_bytes(const EmogiCsrBuild *build)
{
	Workspace	workspace;

	return lay_out_workspace(build, 0, &workspace);
}

/*
 * Count the entries of each source of a bucket; nwords is a constant. False if the job has stopped.
 */
ALWAYS_INLINE bool
count_entries(EmogiCsrBuild *build, const Bucket *bucket, uint32_t nwords)
{
	uint64_t   *cursor = bucket->workspace.cursor;
	uint64_t	first = bucket->first;
	WordIterator walk = begin_words(build, bucket);
	const uint64_t *words;
	uint32_t	n;

	memset(cursor, 0, (bucket->end - first) * sizeof(*cursor));
	while ((words = next_words(build, &walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i += nwords)
			cursor[(words[i] >> 32) - first]++;
	}
	return !emogi_job_stopped(&build->job);
}

/* Set the offsets of a bucket's vertices, and a cursor at each; false if the job has stopped. */
static bool
lay_out_bucket(EmogiCsrBuild *build, const Bucket *bucket)
{
	uint64_t   *offsets = (uint64_t *) build->to.offsets + bucket->first;
	uint64_t   *cursor = bucket->workspace.cursor;
	uint64_t	count = bucket->end - bucket->first;
	uint64_t	offset = build->base[bucket->number];

	if (!(build->words == 1 ? count_entries(build, bucket, 1) : count_entries(build, bucket, 2)))
		return false;
	for (uint64_t v = 0; v < count; v++)
	{
		uint64_t	degree = cursor[v];

		offsets[v] = offset;
		cursor[v] = offset;
		offset += degree;
	}
	return true;
}

/* Store a weight, which the type holds exactly. */
ALWAYS_INLINE void
store_weight(void *weights, EmogiWeightType type, uint64_t i, double weight)
{
	if (type == EMOGI_WEIGHT_U8)
		((uint8_t *) weights)[i] = (uint8_t) weight;
	else if (type == EMOGI_WEIGHT_U16)
		((uint16_t *) weights)[i] = (uint16_t) weight;
	else if (type == EMOGI_WEIGHT_U32)
		((uint32_t *) weights)[i] = (uint32_t) weight;
	else if (type == EMOGI_WEIGHT_F32)
		((float *) weights)[i] = (float) weight;
	else
		((double *) weights)[i] = weight;
}

/*
 * Distribute a bucket's entries to their lists; the type is a constant. False if the job has
 * stopped.
 */
ALWAYS_INLINE bool
fill_lists_of(EmogiCsrBuild *build, EmogiWeightType type, const Bucket *bucket)
{
	const uint32_t nwords = type == EMOGI_WEIGHT_NONE ? 1 : 2;
	uint32_t   *targets = (uint32_t *) build->to.targets;
	void	   *weights = (void *) build->to.weights;
	uint64_t   *cursor = bucket->workspace.cursor;
	uint64_t	first = bucket->first;
	WordIterator walk = begin_words(build, bucket);
	const uint64_t *words;
	uint32_t	n;

	while ((words = next_words(build, &walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i += nwords)
		{
			uint64_t	place = cursor[(words[i] >> 32) - first]++;

			targets[place] = (uint32_t) words[i];
			if (type != EMOGI_WEIGHT_NONE)
			{
				double		weight;

				memcpy(&weight, &words[i + 1], sizeof(weight));
				store_weight(weights, type, place, weight);
			}
		}
	}
	return !emogi_job_stopped(&build->job);
}

/* Distribute a bucket's entries to their lists; false if the job has stopped. */
static bool
fill_lists(EmogiCsrBuild *build, const Bucket *bucket)
{
	switch (build->type)
	{
		case EMOGI_WEIGHT_NONE:
			return fill_lists_of(build, EMOGI_WEIGHT_NONE, bucket);
		case EMOGI_WEIGHT_U8:
			return fill_lists_of(build, EMOGI_WEIGHT_U8, bucket);
		case EMOGI_WEIGHT_U16:
			return fill_lists_of(build, EMOGI_WEIGHT_U16, bucket);
		case EMOGI_WEIGHT_U32:
			return fill_lists_of(build, EMOGI_WEIGHT_U32, bucket);
		case EMOGI_WEIGHT_F32:
			return fill_lists_of(build, EMOGI_WEIGHT_F32, bucket);
		case EMOGI_WEIGHT_F64:
			return fill_lists_of(build, EMOGI_WEIGHT_F64, bucket);
	}
	return false;
}

/* Sort the lists of a filled bucket; each list ends at its cursor. False if the job has stopped. */
static bool
sort_lists(EmogiCsrBuild *build, const Bucket *bucket)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	char	   *weights = (char *) build->to.weights;
	size_t		bytes = emogi_weight_bytes(build->type);
	uint64_t	start = build->base[bucket->number];
	uint64_t	polled = start;

	for (uint64_t v = 0; v < bucket->end - bucket->first; v++)
	{
		uint64_t	end = bucket->workspace.cursor[v];

		if (end - start > 1)
			emogi_sort_list(targets + start, weights != NULL ? weights + start * bytes : NULL,
							build->type, end - start, bucket->workspace.scratch, &build->job);
		if (end - polled >= EMOGI_SORT_SCRATCH)
		{
			if (emogi_job_stopped(&build->job))
				return false;
			polled = end;
		}
		start = end;
	}
	return true;
}

/* Divide vertex numbers into the fewest digits possible, of equal length. */
static Digits
choose_digits(uint64_t nvertices)
{
	Digits		digits = {0, 0};
	uint32_t	nbits = 0;

	while (nvertices >> nbits != 0)
		nbits++;
	digits.count = (nbits + EMOGI_CSR_DIGIT_BITS - 1) / EMOGI_CSR_DIGIT_BITS;
	digits.bits = digits.count > 0 ? (nbits + digits.count - 1) / digits.count : 0;
	return digits;
}

/* Convert the counts of a digit to places. */
static void
place_digits(uint32_t *digit, uint32_t ndigits)
{
	uint32_t	sum = 0;

	for (uint32_t d = 0; d < ndigits; d++)
	{
		uint32_t	count = digit[d];

		digit[d] = sum;
		sum += count;
	}
}

/*
 * Fill the lists of a bucket that fits the workspace: LSD radix sort by target, then distribution
 * to the sources.
 */
static void
fill_lists_sorted(EmogiCsrBuild *build, const Bucket *bucket, size_t count)
{
	const Digits digits = choose_digits(build->nvertices);
	const Workspace *workspace = &bucket->workspace;
	uint32_t   *targets = (uint32_t *) build->to.targets;
	uint64_t   *cursor = workspace->cursor;
	uint64_t	first = bucket->first;
	uint32_t   *places = workspace->digits;
	uint64_t	mask = (UINT64_C(1) << digits.bits) - 1;
	EmogiPartitionIterator walk = emogi_partition_iterate(&build->partition, bucket->number);
	uint64_t   *from = workspace->entries[0];
	uint64_t   *to = workspace->entries[1];
	const uint64_t *entries;
	uint32_t	n;

	for (uint32_t d = 0; d < digits.count; d++)
		memset(places + (d << EMOGI_CSR_DIGIT_BITS), 0, (mask + 1) * sizeof(uint32_t));
	while ((entries = emogi_partition_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
		{
			for (uint32_t d = 0; d < digits.count; d++)
				places[(d << EMOGI_CSR_DIGIT_BITS) +
					   ((uint32_t) entries[i] >> (d * digits.bits) & mask)]++;
		}
	}
	for (uint32_t d = 0; d < digits.count; d++)
		place_digits(places + (d << EMOGI_CSR_DIGIT_BITS), (uint32_t) mask + 1);

	walk = emogi_partition_iterate(&build->partition, bucket->number);
	while ((entries = emogi_partition_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
			from[places[entries[i] & mask]++] = entries[i];
	}
	for (uint32_t d = 1; d < digits.count; d++)
	{
		uint32_t   *digit = places + (d << EMOGI_CSR_DIGIT_BITS);
		uint64_t   *swap = from;

		for (size_t i = 0; i < count; i++)
			to[digit[(uint32_t) from[i] >> (d * digits.bits) & mask]++] = from[i];
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < count; i++)
		targets[cursor[(from[i] >> 32) - first]++] = (uint32_t) from[i];
}

/* Make the lists of a bucket; false if the job has stopped. */
static bool
make_lists_of(EmogiCsrBuild *build, const Bucket *bucket)
{
	uint64_t	count = build->base[bucket->number + 1] - build->base[bucket->number];

	if (!lay_out_bucket(build, bucket))
		return false;
	if (build->type == EMOGI_WEIGHT_NONE && !build->sorted && count <= room_for(build))
	{
		fill_lists_sorted(build, bucket, count);
		return true;
	}
	return fill_lists(build, bucket) && (build->sorted || sort_lists(build, bucket));
}

void
emogi_csr_make_lists(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	char	   *memory = build->desks + (size_t) thread * build->desk_bytes;
	Bucket		bucket;

	if (thread >= build->nthreads)
		return;
	if (!emogi_job_populate(&build->job, memory, build->desk_bytes))
		emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	lay_out_workspace(build, (uintptr_t) memory, &bucket.workspace);
	for (uint64_t b; emogi_job_take(&build->job, &build->next, build->nbuckets, &b);)
	{
		bucket.number = (uint32_t) b;
		bucket.first = b << build->shift;
		bucket.end = (b + 1) << build->shift;
		if (bucket.end > build->nvertices)
			bucket.end = build->nvertices;
		if (!make_lists_of(build, &bucket))
			return;
		emogi_job_done(&build->job, build->base[b + 1] - build->base[b]);
	}
}
