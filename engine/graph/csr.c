/*
 * csr.c: from edges and the numbers of their keys to offsets and sorted targets.
 *
 * The steps are those of csr_build.h. An entry of a bucket is one word, (source, target). A bucket, small enough for the
 * cache of one processor, is sorted by target, digit by digit, and then dealt out to the lists of its sources, which so
 * come out sorted. A bucket that is too large, for a vertex in it has very many neighbours, is dealt out first and sorted
 * list by list, in place.
 */
#include "csr_build.h"

#include "layout.h"
#include "radix.h"

#include <string.h>

#define ROOM_FACTOR 2			/* a bucket that is sorted at once has at most so many times what it should have */
#define MAX_ROOM ((uint32_t) 1 << 21)	/* entries that a thread sorts without a look at the job, about 30 ms */
#define DIGIT_BITS 11
#define MAX_DIGITS 3

/* What one thread needs to sort a bucket. */
typedef struct Desk
{
	uint64_t   *entries[2];		/* [room_for(build)] */
	uint32_t   *scratch;		/* [EMOGI_SORT_SCRATCH] */
	uint32_t   *digits;			/* [MAX_DIGITS][1 << DIGIT_BITS], counts, then places, of each digit of the targets */
} Desk;

/* How a target is cut into digits. */
typedef struct Digits
{
	uint32_t	count;
	uint32_t	bits;
} Digits;

/* Get the entries of the largest bucket that is sorted at once. */
static size_t
room_for(const EmogiCsrBuild *build)
{
	uint64_t	room = ROOM_FACTOR * build->aim;

	return room < MAX_ROOM ? room : MAX_ROOM;
}

static size_t
bytes_of_desk(const EmogiCsrBuild *build)
{
	return 2 * emogi_whole_lines(room_for(build) * sizeof(uint64_t)) +
		emogi_whole_lines(EMOGI_SORT_SCRATCH * sizeof(uint32_t)) +
		emogi_whole_lines((MAX_DIGITS << DIGIT_BITS) * sizeof(uint32_t));
}

/* Lay out a thread's desk. */
static Desk
lay_out_desk(const EmogiCsrBuild *build, uintptr_t place)
{
	Desk		desk;

	desk.entries[0] = emogi_carve(&place, room_for(build) * sizeof(uint64_t));
	desk.entries[1] = emogi_carve(&place, room_for(build) * sizeof(uint64_t));
	desk.scratch = emogi_carve(&place, EMOGI_SORT_SCRATCH * sizeof(uint32_t));
	desk.digits = emogi_carve(&place, (MAX_DIGITS << DIGIT_BITS) * sizeof(uint32_t));
	return desk;
}

/* Cut vertex numbers into as few digits as there can be, of equal length. */
static Digits
cut_digits(uint64_t nvertices)
{
	Digits		digits = {0, 0};
	uint32_t	nbits = 0;

	while (nvertices >> nbits != 0)
		nbits++;
	digits.count = (nbits + DIGIT_BITS - 1) / DIGIT_BITS;
	digits.bits = digits.count > 0 ? (nbits + digits.count - 1) / digits.count : 0;
	return digits;
}

static bool
append_edges(EmogiCsrBuild *build, int thread, uint64_t **cursors, EmogiEdgeChunk *chunk, uint64_t first, size_t count)
{
	EmogiPartition *partition = &build->partition;
	size_t		mask = emogi_csr_block_mask(build);
	uint32_t	shift = build->shift;
	bool		out = build->direction != EMOGI_IN;
	bool		in = build->direction != EMOGI_OUT;
	uint32_t	number[EMOGI_KEYS_BATCH];

	emogi_keys_numbers(build->keys, &chunk->edges[first].src, number, 2 * count);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	src = number[2 * i];
		uint64_t	dst = number[2 * i + 1];

		if (out &&
			!emogi_partition_append(partition, cursors, mask, thread, (uint32_t) (src >> shift), src << 32 | dst))
			return false;
		if (in && (!out || src != dst) &&
			!emogi_partition_append(partition, cursors, mask, thread, (uint32_t) (dst >> shift), dst << 32 | src))
			return false;
	}
	return true;
}

static bool
append_reversed(EmogiCsrBuild *build, int thread, uint64_t **cursors, uint64_t i, uint64_t vertex)
{
	uint64_t	target = build->from->targets[i];

	return emogi_partition_append(&build->partition, cursors, emogi_csr_block_mask(build), thread,
								  (uint32_t) (target >> build->shift), target << 32 | vertex);
}

/* Move a bucket's targets to their lists; false when the job has stopped. */
static bool
fill_lists(EmogiCsrBuild *build, const EmogiCsrBucket *bucket)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	uint64_t   *cursor = bucket->cursor;
	uint64_t	first = bucket->first;
	EmogiCsrWalk walk = emogi_csr_walk(build, bucket);
	const uint64_t *entries;
	uint32_t	n;

	while ((entries = emogi_csr_next(build, &walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
			targets[cursor[(entries[i] >> 32) - first]++] = (uint32_t) entries[i];
	}
	return !emogi_job_stopped(&build->job);
}

/* Sort the lists of a bucket, which is filled: each goes up to its cursor. False when the job has stopped. */
static bool
sort_lists(EmogiCsrBuild *build, const EmogiCsrBucket *bucket, uint32_t *scratch)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	uint64_t	start = build->base[bucket->number];
	uint64_t	polled = start;

	for (uint64_t v = 0; v < bucket->end - bucket->first; v++)
	{
		uint64_t	end = bucket->cursor[v];

		if (end - start > 1)
			emogi_sort_u32(targets + start, end - start, scratch, EMOGI_SORT_SCRATCH, &build->job);
		if (end - polled >= EMOGI_CSR_POLL)
		{
			if (emogi_job_stopped(&build->job))
				return false;
			polled = end;
		}
		start = end;
	}
	return true;
}

/* Turn the counts of a digit into places. */
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

/* Fill the lists of a bucket that fits the desk: sort it by the digits of the targets, low to high, and deal it out. */
static void
fill_lists_sorted(EmogiCsrBuild *build, const EmogiCsrBucket *bucket, const Desk *desk, size_t count)
{
	const Digits digits = cut_digits(build->nvertices);
	uint32_t   *targets = (uint32_t *) build->to.targets;
	uint64_t   *cursor = bucket->cursor;
	uint64_t	first = bucket->first;
	uint32_t   *places = desk->digits;
	uint64_t	mask = (UINT64_C(1) << digits.bits) - 1;
	EmogiBucketWalk walk = emogi_bucket_walk(&build->partition, bucket->number);
	uint64_t   *from = desk->entries[0];
	uint64_t   *to = desk->entries[1];
	const uint64_t *entries;
	uint32_t	n;

	for (uint32_t d = 0; d < digits.count; d++)
		memset(places + (d << DIGIT_BITS), 0, (mask + 1) * sizeof(uint32_t));
	while ((entries = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
		{
			for (uint32_t d = 0; d < digits.count; d++)
				places[(d << DIGIT_BITS) + ((uint32_t) entries[i] >> (d * digits.bits) & mask)]++;
		}
	}
	for (uint32_t d = 0; d < digits.count; d++)
		place_digits(places + (d << DIGIT_BITS), (uint32_t) mask + 1);

	walk = emogi_bucket_walk(&build->partition, bucket->number);
	while ((entries = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
			from[places[entries[i] & mask]++] = entries[i];
	}
	for (uint32_t d = 1; d < digits.count; d++)
	{
		uint32_t   *digit = places + (d << DIGIT_BITS);
		uint64_t   *swap = from;

		for (size_t i = 0; i < count; i++)
			to[digit[(uint32_t) from[i] >> (d * digits.bits) & mask]++] = from[i];
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < count; i++)
		targets[cursor[(from[i] >> 32) - first]++] = (uint32_t) from[i];
}

static bool
deal(EmogiCsrBuild *build, const EmogiCsrBucket *bucket)
{
	const Desk	desk = lay_out_desk(build, bucket->desk);
	uint64_t	count = build->base[bucket->number + 1] - build->base[bucket->number];

	if (!build->sorted && count <= room_for(build))
	{
		fill_lists_sorted(build, bucket, &desk, count);
		return true;
	}
	return fill_lists(build, bucket) && (build->sorted || sort_lists(build, bucket, desk.scratch));
}

static const EmogiCsrKind plain = {
	.words = 1,
	.desk_bytes = bytes_of_desk,
	.append_edges = append_edges,
	.append_reversed = append_reversed,
	.deal = deal
};

size_t
emogi_csr_scratch_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, int nthreads, bool weighted)
{
	return emogi_csr_scratch_bytes_of(weighted ? &emogi_csr_weighted : &plain, nvertices, nedges, direction, nthreads);
}

EmogiStatus
emogi_csr_build(EmogiPool *pool, const EmogiEdges *edges, const EmogiKeys *keys, EmogiDirection direction,
				bool with_backward, void *memory, void *scratch, EmogiGraph *graph, EmogiControl *control,
				EmogiError *error)
{
	return emogi_csr_build_of(edges->weighted ? &emogi_csr_weighted : &plain, pool, edges, keys, direction, with_backward,
							  memory, scratch, graph, control, error);
}
