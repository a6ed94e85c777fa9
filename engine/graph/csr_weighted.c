/*
 * csr_weighted.c: from weighted edges and the numbers of their keys to offsets, sorted targets and their weights.
 *
 * The steps are those of csr_build.h. An entry of a bucket is two words, (source, target) and the weight. A bucket is
 * dealt out to the lists of its sources, the weights in the narrowest type, and each list is sorted (sort_weighted.c).
 */
#include "csr_build.h"

#include "contract/algebra.h"
#include "layout.h"

#include <string.h>

#define WORDS 2					/* of an entry */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

static size_t
bytes_of_desk(const EmogiCsrBuild *build)
{
	return 2 * EMOGI_LIST_SCRATCH * sizeof(uint64_t);
}

/* Append an entry; false when the job has failed. Blocks hold whole entries: their words are even. */
static inline bool
append_entry(EmogiCsrBuild *build, uint64_t **cursors, size_t mask, int thread, uint64_t source, uint64_t target,
			 double weight)
{
	uint32_t	bucket = (uint32_t) (source >> build->shift);

	if (!emogi_partition_append(&build->partition, cursors, mask, thread, bucket, source << 32 | target))
		return false;
	weight += 0.0;				/* -0 is 0 */
	memcpy(cursors[bucket]++, &weight, sizeof(weight));
	return true;
}

static bool
append_edges(EmogiCsrBuild *build, int thread, uint64_t **cursors, EmogiEdgeChunk *chunk, uint64_t first, size_t count)
{
	const EmogiWeightedEdge *edges = emogi_weighted_edges(chunk) + first;
	size_t		mask = emogi_csr_block_mask(build);
	bool		out = build->direction != EMOGI_IN;
	bool		in = build->direction != EMOGI_OUT;
	int64_t		key[EMOGI_KEYS_BATCH];
	uint32_t	number[EMOGI_KEYS_BATCH];

	if (count == 0)
		return true;
	emogi_keys_numbers(build->keys, emogi_edge_keys(build->edges, chunk, first, count, key), number, 2 * count);
	for (size_t i = 0; i < count; i++)
	{
		uint32_t	src = number[2 * i];
		uint32_t	dst = number[2 * i + 1];

		if (out && !append_entry(build, cursors, mask, thread, src, dst, edges[i].weight))
			return false;
		if (in && (!out || src != dst) && !append_entry(build, cursors, mask, thread, dst, src, edges[i].weight))
			return false;
	}
	return true;
}

static bool
append_reversed(EmogiCsrBuild *build, int thread, uint64_t **cursors, uint64_t i, uint64_t vertex)
{
	return append_entry(build, cursors, emogi_csr_block_mask(build), thread, build->from->targets[i], vertex,
						emogi_weight(build->from->weights, build->type, i));
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

/* Move a bucket's entries to their lists; false when the job has stopped. */
ALWAYS_INLINE bool
fill_lists_of(EmogiCsrBuild *build, EmogiWeightType type, const EmogiCsrBucket *bucket)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	void	   *weights = (void *) build->to.weights;
	uint64_t   *cursor = bucket->cursor;
	uint64_t	first = bucket->first;
	EmogiCsrWalk walk = emogi_csr_walk(build, bucket);
	const uint64_t *words;
	uint32_t	n;

	while ((words = emogi_csr_next(build, &walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i += WORDS)
		{
			uint64_t	place = cursor[(words[i] >> 32) - first]++;
			double		weight;

			targets[place] = (uint32_t) words[i];
			memcpy(&weight, &words[i + 1], sizeof(weight));
			store_weight(weights, type, place, weight);
		}
	}
	return !emogi_job_stopped(&build->job);
}

/* Move a bucket's entries to their lists with the type as a constant. */
static bool
fill_lists(EmogiCsrBuild *build, const EmogiCsrBucket *bucket)
{
	switch (build->type)
	{
		case EMOGI_WEIGHT_U8:
			return fill_lists_of(build, EMOGI_WEIGHT_U8, bucket);
		case EMOGI_WEIGHT_U16:
			return fill_lists_of(build, EMOGI_WEIGHT_U16, bucket);
		case EMOGI_WEIGHT_U32:
			return fill_lists_of(build, EMOGI_WEIGHT_U32, bucket);
		case EMOGI_WEIGHT_F32:
			return fill_lists_of(build, EMOGI_WEIGHT_F32, bucket);
		default:
			return fill_lists_of(build, EMOGI_WEIGHT_F64, bucket);
	}
}

/* Sort the lists of a bucket, which is filled: each goes up to its cursor. False when the job has stopped. */
static bool
sort_lists(EmogiCsrBuild *build, const EmogiCsrBucket *bucket, uint64_t *items)
{
	size_t		bytes = emogi_weight_bytes(build->type);
	uint64_t	start = build->base[bucket->number];
	uint64_t	polled = start;

	for (uint64_t v = 0; v < bucket->end - bucket->first; v++)
	{
		uint64_t	end = bucket->cursor[v];

		if (end - start > 1)
			emogi_sort_weighted((uint32_t *) build->to.targets + start, (char *) build->to.weights + start * bytes,
								build->type, end - start, items, &build->job);
		if (end - polled >= EMOGI_LIST_SCRATCH)
		{
			if (emogi_job_stopped(&build->job))
				return false;
			polled = end;
		}
		start = end;
	}
	return true;
}

static bool
deal(EmogiCsrBuild *build, const EmogiCsrBucket *bucket)
{
	return fill_lists(build, bucket) && (build->sorted || sort_lists(build, bucket, (uint64_t *) bucket->desk));
}

const EmogiCsrKind emogi_csr_weighted = {
	.words = WORDS,
	.desk_bytes = bytes_of_desk,
	.append_edges = append_edges,
	.append_reversed = append_reversed,
	.deal = deal
};
