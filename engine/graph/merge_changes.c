/*
 * merge_changes.c: the net changes of the lists, and their places in the old lists.
 *
 * Each direction's changes are sorted by an LSD radix sort over the bytes of their keys that vary:
 * few passes, because keys are mostly close together and weights mostly small. After equal changes
 * are summed, the remaining ones are looked up in the old graph.
 */
#include "graph/merge_parts.h"

#include "contract/semirings.h"

#include <string.h>

#define LOCATE_BATCH 32			/* changes whose places are searched together */

/* ---- net changes ---- */

/* Map a double to an unsigned integer of the same order, with -0 as 0. */
static uint64_t
order_weight(double weight)
{
	uint64_t	bits;

	weight += 0.0;
	memcpy(&bits, &weight, sizeof(bits));
	return bits ^ (bits >> 63 ? UINT64_MAX : EMOGI_MERGE_SIGN);
}

double
emogi_merge_weight(const EmogiMergeEntry *entry)
{
	uint64_t	bits = entry->weight ^ (entry->weight >> 63 ? EMOGI_MERGE_SIGN : UINT64_MAX);
	double		weight;

	memcpy(&weight, &bits, sizeof(weight));
	return weight;
}

/* Write the entries of all changes. */
static void
make_entries(EmogiMerge *merge, EmogiMergeSide *side)
{
	const EmogiMergeInput *input = merge->input;

	side->nentries = 0;
	for (uint64_t i = 0; i < input->nchanges && !emogi_merge_stops_at(merge, i); i++)
	{
		const EmogiEdgeChange *change = &input->changes[i];
		EmogiMergeEntry entry = {
			.source = emogi_merge_order(side->swapped ? change->dst : change->src),
			.target = emogi_merge_order(side->swapped ? change->src : change->dst),
			.weight = order_weight(merge->type == EMOGI_WEIGHT_NONE ? 0.0 : change->weight),
			.times = change->times
		};
		EmogiMergeEntry turned = entry;

		side->entries[side->nentries++] = entry;
		if (input->direction != EMOGI_BOTH || entry.source == entry.target)
			continue;
		turned.source = entry.target;
		turned.target = entry.source;
		side->entries[side->nentries++] = turned;
	}
}

/* Get a sort word of an entry: 0 = weight, 1 = target, 2 = source, in the order of sorting. */
static inline uint64_t
word_of(const EmogiMergeEntry *entry, int word)
{
	return word == 0 ? entry->weight : word == 1 ? entry->target : entry->source;
}

/* Get the bits of a word in which entries differ. */
static uint64_t
varying_bits(EmogiMerge *merge, const EmogiMergeSide *side, int word)
{
	uint64_t	varying = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(merge, i); i++)
		varying |= word_of(&side->entries[i], word) ^ word_of(&side->entries[0], word);
	return varying;
}

/* Sort entries stably by one byte of a word. */
static void
sort_by_byte(EmogiMerge *merge, EmogiMergeSide *side, int word, int shift)
{
	EmogiMergeEntry *from = side->entries;
	EmogiMergeEntry *to = side->spare;
	uint64_t	places[256] = {0};
	uint64_t	sum = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(merge, i); i++)
		places[word_of(&from[i], word) >> shift & 255]++;
	for (int digit = 0; digit < 256; digit++)
	{
		uint64_t	count = places[digit];

		places[digit] = sum;
		sum += count;
	}
	if (emogi_job_stopped(&merge->job))
		return;					/* the counts may be incomplete */
	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(merge, i); i++)
		to[places[word_of(&from[i], word) >> shift & 255]++] = from[i];
	side->entries = to;
	side->spare = from;
}

/* Sort entries by source, then by target, then by weight. */
static void
sort_entries(EmogiMerge *merge, EmogiMergeSide *side)
{
	for (int word = 0; word < 3; word++)
	{
		uint64_t	varying = varying_bits(merge, side, word);

		for (int shift = 0; shift < 64; shift += 8)
		{
			if ((varying >> shift & 255) != 0)
				sort_by_byte(merge, side, word, shift);
		}
	}
}

/* Combine equal entries into one, or none if they cancel each other. */
static void
sum_entries(EmogiMerge *merge, EmogiMergeSide *side)
{
	uint64_t	nsums = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(merge, i);)
	{
		EmogiMergeEntry sum = side->entries[i];

		for (i++; i < side->nentries; i++)
		{
			const EmogiMergeEntry *entry = &side->entries[i];

			if (entry->source != sum.source || entry->target != sum.target ||
				entry->weight != sum.weight)
				break;
			sum.times += entry->times;
		}
		if (sum.times != 0)
			side->entries[nsums++] = sum;
	}
	side->nentries = nsums;
}

/* Make the net changes of a direction. */
static void
net_side(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;

	for (uint64_t i; emogi_job_take(&merge->job, &merge->next, (uint64_t) merge->nsides, &i);)
	{
		make_entries(merge, &merge->sides[i]);
		sort_entries(merge, &merge->sides[i]);
		sum_entries(merge, &merge->sides[i]);
	}
}

bool
emogi_merge_net(EmogiPool *pool, EmogiMerge *merge)
{
	return emogi_merge_run(pool, merge, net_side);
}

/* ---- places ---- */

/* Find the first of a list's entries [low, high) that does not precede (target, weight). */
static uint64_t
find_place(const EmogiAdjacency *lists, EmogiWeightType type, uint64_t low, uint64_t high,
		   uint32_t target, double weight)
{
	return EMOGI_PARTITION_POINT(low, high, middle,
								 lists->targets[middle] < target ||
								 (lists->targets[middle] == target &&
								  emogi_weight(lists->weights, type, middle) < weight));
}

/*
 * Check whether a list that ends at `end` has, from a place on, at least `count` copies of a
 * removed entry.
 */
static bool
has_entries(const EmogiMerge *merge, const EmogiMergeSide *side, const EmogiMergeEdit *edit,
			uint64_t end, uint64_t count, double weight)
{
	uint64_t	last = edit->place + count - 1;

	return edit->target_known && count <= end - edit->place &&
		side->from.targets[last] == edit->target &&
		(merge->old_type == EMOGI_WEIGHT_NONE ||
		 emogi_weight(side->from.weights, merge->old_type, last) == weight);
}

/* Record that an entry does not exist; keeps the first. */
static void
record_missing(uint64_t *missing, uint64_t entry)
{
	uint64_t	first = __atomic_load_n(missing, __ATOMIC_RELAXED);

	while (entry < first &&
		   !__atomic_compare_exchange_n(missing, &first, entry, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
}

/*
 * Find the first vertex whose key is >= each of many keys, by interleaved binary searches whose
 * cache misses overlap.
 */
static void
search_vertices(const EmogiMerge *merge, const int64_t *keys, uint32_t *vertices, size_t count)
{
	const int64_t *ids = merge->ids;

	memset(vertices, 0, count * sizeof(*vertices));
	for (uint64_t left = merge->nvertices; left > 0;)
	{
		const uint64_t half = (left + 1) / 2;

		/* the result is among the next `left` vertices, or the one after them */
		for (size_t i = 0; i < count; i++)
			vertices[i] += ids[vertices[i] + half - 1] < keys[i] ? (uint32_t) half : 0;
		left -= half;
	}
}

/* Look up the ends of the entries [first, first + count). */
static void
locate_ends(EmogiMerge *merge, EmogiMergeSide *side, uint64_t first, size_t count)
{
	const uint64_t nvertices = merge->nvertices;
	int64_t		keys[2 * LOCATE_BATCH];
	uint32_t	vertices[2 * LOCATE_BATCH];

	for (size_t i = 0; i < count; i++)
	{
		keys[i] = emogi_merge_key(side->entries[first + i].source);
		keys[count + i] = emogi_merge_key(side->entries[first + i].target);
	}
	search_vertices(merge, keys, vertices, side->merged ? 2 * count : count);
	for (size_t i = 0; i < count; i++)
	{
		EmogiMergeEdit *edit = &side->edits[first + i];

		*edit = (EmogiMergeEdit) {.source = vertices[i]};
		edit->source_known = edit->source < nvertices && merge->ids[edit->source] == keys[i];
		if (!side->merged)
			continue;
		edit->target = vertices[count + i];
		edit->target_known = edit->target < nvertices &&
			merge->ids[edit->target] == keys[count + i];
		__builtin_prefetch(&side->from.offsets[edit->source]);
	}
}

/*
 * Find the place of an entry, whose ends have been looked up, in the old list [edit->place, end).
 */
static void
locate_entry(EmogiMerge *merge, EmogiMergeSide *side, uint64_t i, uint64_t end)
{
	const EmogiMergeEntry *entry = &side->entries[i];
	EmogiMergeEdit *edit = &side->edits[i];
	const double weight = merge->type == EMOGI_WEIGHT_NONE ? 0.0 : emogi_merge_weight(entry);

	/* entries to the next old vertex follow one to a new vertex, regardless of weights */
	edit->place = find_place(&side->from, merge->old_type, edit->place, end, edit->target,
							 edit->target_known ? weight : (double) -INFINITY);
	if (entry->times < 0 &&
		!has_entries(merge, side, edit, end, 0 - (uint64_t) entry->times, weight))
		record_missing(&merge->missing[side - merge->sides], i);
}

/* Find the places of the entries [first, first + count). */
static void
locate_batch(EmogiMerge *merge, EmogiMergeSide *side, uint64_t first, size_t count)
{
	uint64_t	ends[LOCATE_BATCH];

	locate_ends(merge, side, first, count);
	if (!side->merged)
		return;
	for (size_t i = 0; i < count; i++)
	{
		EmogiMergeEdit *edit = &side->edits[first + i];

		edit->place = side->from.offsets[edit->source];
		ends[i] = edit->source_known ? side->from.offsets[edit->source + 1] : edit->place;
		__builtin_prefetch(&side->from.targets[edit->place + (ends[i] - edit->place) / 2]);
	}
	for (size_t i = 0; i < count; i++)
		locate_entry(merge, side, first + i, ends[i]);
}

/* Find the places of all entries. */
static void
locate_entries(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;
	EmogiMergeSide *side;
	uint64_t	first,
				end;

	while (emogi_merge_take_entries(merge, &side, &first, &end))
	{
		for (; first < end; first += LOCATE_BATCH)
			locate_batch(merge, side, first,
						 end - first < LOCATE_BATCH ? end - first : LOCATE_BATCH);
	}
}

/* Set the shift of each edit: the number of entries added before it. */
static void
sum_edits(EmogiMerge *merge, EmogiMergeSide *side)
{
	uint64_t	shift = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(merge, i); i++)
	{
		side->edits[i].shift = shift;
		shift += (uint64_t) side->entries[i].times;
	}
	side->edits[side->nentries] = (EmogiMergeEdit) {.place = side->from.nedges, .shift = shift,
		.after = UINT32_MAX};
}

bool
emogi_merge_locate(EmogiPool *pool, EmogiMerge *merge)
{
	if (!emogi_merge_run(pool, merge, locate_entries))
		return false;
	for (int i = 0; i < merge->nsides; i++)
	{
		if (merge->missing[i] != UINT64_MAX)
			emogi_job_fail(&merge->job, EMOGI_BAD_INPUT);
		sum_edits(merge, &merge->sides[i]);
	}
	return !emogi_job_stopped(&merge->job);
}
