/*
 * merge_changes.c: the net changes of the lists, and where in the old lists they take place.
 *
 * Each orientation's changes are sorted by the bytes of their keys, low to high, as far as they
 * vary: few passes, for keys are mostly near each other and weights mostly small. What is left when
 * equal ones are summed up is searched in the old Graph.
 */
#include "graph/merge_parts.h"

#include "contract/semirings.h"

#include <string.h>

#define LOCATE_BATCH 32			/* changes whose places are looked for side by side */

/* ---- net changes ---- */

/* Get a double as an unsigned integer that orders as it does, without -0. */
static uint64_t
order_weight(double weight)
{
	uint64_t	bits;

	weight += 0.0;
	memcpy(&bits, &weight, sizeof(bits));
	return bits ^ (bits >> 63 ? UINT64_MAX : EMOGI_SPLICE_SIGN);
}

double
emogi_merge_weight(const EmogiMergeEntry *entry)
{
	uint64_t	bits = entry->weight ^ (entry->weight >> 63 ? EMOGI_SPLICE_SIGN : UINT64_MAX);
	double		weight;

	memcpy(&weight, &bits, sizeof(weight));
	return weight;
}

/* Write the entries of all changes. */
static void
make_entries(EmogiMerge *splicing, EmogiMergeSide *side)
{
	const EmogiMergeInput *input = splicing->input;

	side->nentries = 0;
	for (uint64_t i = 0; i < input->nchanges && !emogi_merge_stops_at(splicing, i); i++)
	{
		const EmogiEdgeChange *change = &input->changes[i];
		EmogiMergeEntry entry = {
			.source = emogi_merge_order(side->swapped ? change->dst : change->src),
			.target = emogi_merge_order(side->swapped ? change->src : change->dst),
			.weight = order_weight(splicing->type == EMOGI_WEIGHT_NONE ? 0.0 : change->weight),
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

/* Get what entries are sorted by: first by the weight, last by the source. */
static inline uint64_t
word_of(const EmogiMergeEntry *entry, int word)
{
	return word == 0 ? entry->weight : word == 1 ? entry->target : entry->source;
}

/* Get the bits of a word in which entries differ. */
static uint64_t
varying_bits(EmogiMerge *splicing, const EmogiMergeSide *side, int word)
{
	uint64_t	varying = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(splicing, i); i++)
		varying |= word_of(&side->entries[i], word) ^ word_of(&side->entries[0], word);
	return varying;
}

/* Sort entries by one byte of a word; those that are equal there stay as they are. */
static void
sort_by_byte(EmogiMerge *splicing, EmogiMergeSide *side, int word, int shift)
{
	EmogiMergeEntry *from = side->entries;
	EmogiMergeEntry *to = side->spare;
	uint64_t	places[256] = {0};
	uint64_t	sum = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(splicing, i); i++)
		places[word_of(&from[i], word) >> shift & 255]++;
	for (int digit = 0; digit < 256; digit++)
	{
		uint64_t	count = places[digit];

		places[digit] = sum;
		sum += count;
	}
	if (emogi_job_stopped(&splicing->job))
		return;					/* not all were counted, perhaps */
	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(splicing, i); i++)
		to[places[word_of(&from[i], word) >> shift & 255]++] = from[i];
	side->entries = to;
	side->spare = from;
}

/* Sort entries by source, then by target, then by weight. */
static void
sort_entries(EmogiMerge *splicing, EmogiMergeSide *side)
{
	for (int word = 0; word < 3; word++)
	{
		uint64_t	varying = varying_bits(splicing, side, word);

		for (int shift = 0; shift < 64; shift += 8)
		{
			if ((varying >> shift & 255) != 0)
				sort_by_byte(splicing, side, word, shift);
		}
	}
}

/* Make one of all entries that are equal, none when they cancel each other. */
static void
sum_entries(EmogiMerge *splicing, EmogiMergeSide *side)
{
	uint64_t	nsums = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(splicing, i);)
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

/* Make the net changes of an orientation. */
static void
net_side(void *arg, int thread, int nthreads)
{
	EmogiMerge *splicing = arg;
	uint64_t	i;

	while (!emogi_job_stopped(&splicing->job) &&
		   (i = emogi_job_take(&splicing->next, 1)) < (uint64_t) splicing->nsides)
	{
		make_entries(splicing, &splicing->sides[i]);
		sort_entries(splicing, &splicing->sides[i]);
		sum_entries(splicing, &splicing->sides[i]);
	}
}

bool
emogi_merge_net(EmogiPool *pool, EmogiMerge *splicing)
{
	return emogi_merge_run(pool, splicing, net_side);
}

/* ---- places ---- */

/*
 * Find the first of the entries [low, high), a list, that does not stand before a target with a
 * weight.
 */
static uint64_t
find_place(const EmogiAdjacency *lists, EmogiWeightType type, uint64_t low, uint64_t high,
		   uint32_t target, double weight)
{
	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (lists->targets[middle] < target ||
			(lists->targets[middle] == target &&
			 emogi_weight(lists->weights, type, middle) < weight))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Say whether a list that ends at `end` has, from a place on, so many of the entry that is to go.
 */
static bool
has_entries(const EmogiMerge *splicing, const EmogiMergeSide *side, const EmogiMergeEdit *edit,
			uint64_t end, uint64_t count, double weight)
{
	uint64_t	last = edit->place + count - 1;

	return edit->target_known && count <= end - edit->place &&
		side->from.targets[last] == edit->target &&
		(splicing->old_type == EMOGI_WEIGHT_NONE ||
		 emogi_weight(side->from.weights, splicing->old_type, last) == weight);
}

/* Note that an entry is not there; of several the first. */
static void
note_missing(uint64_t *missing, uint64_t entry)
{
	uint64_t	first = __atomic_load_n(missing, __ATOMIC_RELAXED);

	while (entry < first &&
		   !__atomic_compare_exchange_n(missing, &first, entry, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
}

/*
 * Find the first vertex whose key is not below another, for many keys side by side: each step's
 * reads are on their way at once.
 */
static void
search_vertices(const EmogiMerge *splicing, const int64_t *keys, uint32_t *vertices, size_t count)
{
	const int64_t *ids = splicing->ids;

	memset(vertices, 0, count * sizeof(*vertices));
	for (uint64_t left = splicing->nvertices; left > 0;)
	{
		const uint64_t half = (left + 1) / 2;

		/*
		 * the one that is looked for is among the `left` from here on, or it is the one behind them
		 */
		for (size_t i = 0; i < count; i++)
			vertices[i] += ids[vertices[i] + half - 1] < keys[i] ? (uint32_t) half : 0;
		left -= half;
	}
}

/* Look up the ends of the entries [first, first + count). */
static void
locate_ends(EmogiMerge *splicing, EmogiMergeSide *side, uint64_t first, size_t count)
{
	const uint64_t nvertices = splicing->nvertices;
	int64_t		keys[2 * LOCATE_BATCH];
	uint32_t	vertices[2 * LOCATE_BATCH];

	for (size_t i = 0; i < count; i++)
	{
		keys[i] = emogi_merge_key(side->entries[first + i].source);
		keys[count + i] = emogi_merge_key(side->entries[first + i].target);
	}
	search_vertices(splicing, keys, vertices, side->spliced ? 2 * count : count);
	for (size_t i = 0; i < count; i++)
	{
		EmogiMergeEdit *edit = &side->edits[first + i];

		*edit = (EmogiMergeEdit) {.source = vertices[i]};
		edit->source_known = edit->source < nvertices && splicing->ids[edit->source] == keys[i];
		if (!side->spliced)
			continue;
		edit->target = vertices[count + i];
		edit->target_known = edit->target < nvertices &&
			splicing->ids[edit->target] == keys[count + i];
		__builtin_prefetch(&side->from.offsets[edit->source]);
	}
}

/*
 * Find where an entry, whose ends have been looked up, comes or goes in the old list [edit->place,
 * end).
 */
static void
locate_entry(EmogiMerge *splicing, EmogiMergeSide *side, uint64_t i, uint64_t end)
{
	const EmogiMergeEntry *entry = &side->entries[i];
	EmogiMergeEdit *edit = &side->edits[i];
	const double weight = splicing->type == EMOGI_WEIGHT_NONE ? 0.0 : emogi_merge_weight(entry);

	/*
	 * entries that lead to the next vertex stand behind one that leads to a new one, whatever they
	 * weigh
	 */
	edit->place = find_place(&side->from, splicing->old_type, edit->place, end, edit->target,
							 edit->target_known ? weight : (double) -INFINITY);
	if (entry->times < 0 &&
		!has_entries(splicing, side, edit, end, 0 - (uint64_t) entry->times, weight))
		note_missing(&splicing->missing[side - splicing->sides], i);
}

/* Find where the entries [first, first + count) come and go. */
static void
locate_batch(EmogiMerge *splicing, EmogiMergeSide *side, uint64_t first, size_t count)
{
	uint64_t	ends[LOCATE_BATCH];

	locate_ends(splicing, side, first, count);
	if (!side->spliced)
		return;
	for (size_t i = 0; i < count; i++)
	{
		EmogiMergeEdit *edit = &side->edits[first + i];

		edit->place = side->from.offsets[edit->source];
		ends[i] = edit->source_known ? side->from.offsets[edit->source + 1] : edit->place;
		__builtin_prefetch(&side->from.targets[edit->place + (ends[i] - edit->place) / 2]);
	}
	for (size_t i = 0; i < count; i++)
		locate_entry(splicing, side, first + i, ends[i]);
}

/* Find where entries come and go. */
static void
locate_entries(void *arg, int thread, int nthreads)
{
	EmogiMerge *splicing = arg;
	EmogiMergeSide *side;
	uint64_t	first,
				end;

	while (emogi_merge_take_entries(splicing, &side, &first, &end))
	{
		for (; first < end; first += LOCATE_BATCH)
			locate_batch(splicing, side, first,
						 end - first < LOCATE_BATCH ? end - first : LOCATE_BATCH);
	}
}

/* Say before each edit how many entries there are more by then. */
static void
sum_edits(EmogiMerge *splicing, EmogiMergeSide *side)
{
	uint64_t	shift = 0;

	for (uint64_t i = 0; i < side->nentries && !emogi_merge_stops_at(splicing, i); i++)
	{
		side->edits[i].shift = shift;
		shift += (uint64_t) side->entries[i].times;
	}
	side->edits[side->nentries] = (EmogiMergeEdit) {.place = side->from.nedges, .shift = shift,
		.after = UINT32_MAX};
}

bool
emogi_merge_locate(EmogiPool *pool, EmogiMerge *splicing)
{
	if (!emogi_merge_run(pool, splicing, locate_entries))
		return false;
	for (int i = 0; i < splicing->nsides; i++)
	{
		if (splicing->missing[i] != UINT64_MAX)
			emogi_job_fail(&splicing->job, EMOGI_BAD_INPUT);
		sum_edits(splicing, &splicing->sides[i]);
	}
	return !emogi_job_stopped(&splicing->job);
}
