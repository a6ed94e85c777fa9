/*
 * merge_numbers.c: new vertices, and from old numbers to new ones.
 *
 * The numbering breaks where a vertex is new or gone; between two breaks all numbers move by the
 * same. A table has that for each block of vertices. Blocks are small enough to have seldom a break
 * within, and large enough for the table to stay in the cache when breaks are few. Of a block that
 * has one, each vertex's own move stands in a second table.
 */
#include "graph/merge_parts.h"

#include "graph/radix.h"

#define BLOCKS_AT_LEAST 4096
#define BLOCKS_PER_BREAK 128
/* of those more, each vertex's own move stands in the first table */
#define MOST_BREAKS ((uint64_t) 1 << 29)
#define BLOCKS_AT_ONCE ((uint64_t) 1 << 16)	/* that a thread fills */

/* ---- breaks ---- */

/*
 * List the keys of new vertices: ends of entries that come and were not there; some several times.
 */
static void
list_new_keys(EmogiMerge *splicing)
{
	const EmogiMergeSide *side = &splicing->sides[0];

	splicing->nnew = 0;
	for (uint64_t i = 0; i < side->nentries; i++)
	{
		const EmogiMergeEntry *entry = &side->entries[i];

		if (!side->edits[i].source_known &&
			(i == 0 || entry->source != side->entries[i - 1].source))
			splicing->new_keys[splicing->nnew++] = entry->source;
		if (!side->edits[i].target_known)
			splicing->new_keys[splicing->nnew++] = entry->target;
		if (emogi_merge_stops_at(splicing, i))
			return;
	}
}

/* Sort the keys of new vertices, each once. */
static void
sort_new_keys(EmogiMerge *splicing)
{
	uint64_t   *keys = splicing->new_keys;
	uint64_t	nkeys = 0;

	if (splicing->nnew > 1)
		emogi_radix_sort_u64(keys, splicing->nnew, splicing->key_scratch, splicing->nnew,
							 &splicing->job);
	for (uint64_t i = 0; i < splicing->nnew; i++)
	{
		if (i == 0 || keys[i] != keys[nkeys - 1])
			keys[nkeys++] = keys[i];
	}
	splicing->nnew = nkeys;
}

/* Add a break; shift is modulo 2^64. */
static inline void
add_break(EmogiMerge *splicing, uint64_t old, uint64_t shift, bool is_new, uint64_t key)
{
	splicing->breaks[splicing->nbreaks++] =
		(EmogiMergeBreak) {.old = old, .from = old + shift, .is_new = is_new,
			.key = emogi_merge_key(key)};
}

/* Merge the new vertices, by where they come, and those that are gone. */
static void
merge_breaks(EmogiMerge *splicing)
{
	uint64_t	place = 0;
	uint64_t	shift = 0;
	uint64_t	g = 0;

	splicing->nbreaks = 0;
	for (uint64_t i = 0; i <= splicing->nnew; i++)
	{
		if (emogi_merge_stops_at(splicing, i))
			return;
		place = i == splicing->nnew ? splicing->nvertices :
			emogi_merge_gallop(splicing->ids, place, splicing->nvertices,
							   emogi_merge_key(splicing->new_keys[i]));
		for (; g < splicing->ngone && splicing->gone[g] < place; g++)
			add_break(splicing, (uint64_t) splicing->gone[g] + 1, --shift, false, 0);
		if (i < splicing->nnew)
		{
			splicing->new_numbers[i] = (uint32_t) (place + shift);
			add_break(splicing, place, ++shift, true, splicing->new_keys[i]);
		}
	}
	splicing->breaks[splicing->nbreaks] = (EmogiMergeBreak) {.old = UINT64_MAX, .from = UINT64_MAX};
	splicing->new_nvertices = splicing->nvertices + shift;
	splicing->renumbers = splicing->nbreaks > 0 && splicing->breaks[0].old < splicing->nvertices;
}

/* ---- table ---- */

/* Choose the size of blocks. */
static uint32_t
choose_bits(uint64_t nvertices, uint64_t nbreaks)
{
	uint32_t	bits = 0;

	if (nbreaks > MOST_BREAKS)
		return 0;
	while (nvertices >> bits > BLOCKS_AT_LEAST && nvertices >> bits > nbreaks * BLOCKS_PER_BREAK)
		bits++;
	return bits;
}

size_t
emogi_merge_shifts_bytes(uint64_t nvertices, uint64_t nbreaks)
{
	uint64_t	most_blocks = nbreaks * BLOCKS_PER_BREAK > BLOCKS_AT_LEAST
		? nbreaks * BLOCKS_PER_BREAK : BLOCKS_AT_LEAST;

	if (most_blocks > nvertices || nbreaks > MOST_BREAKS)
		most_blocks = nvertices;
	/*
	 * where blocks have several vertices there are more than half of most_blocks, for any smaller
	 * nbreaks as well
	 */
	return (most_blocks + 1 + nvertices * 2 / BLOCKS_PER_BREAK + nbreaks) * sizeof(int32_t);
}

/* Count the breaks that an old number lies behind. */
static uint64_t
count_breaks(const EmogiMerge *splicing, uint64_t vertex)
{
	uint64_t	low = 0;
	uint64_t	high = splicing->nbreaks;

	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (splicing->breaks[middle].old <= vertex)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Get how far vertices behind so many breaks move. */
static inline int32_t
shift_behind(const EmogiMerge *splicing, uint64_t nbreaks)
{
	const EmogiMergeBreak *last = splicing->breaks + nbreaks - 1;

	return nbreaks == 0 ? 0 : (int32_t) (uint32_t) (last->from - last->old);
}

/* Fill the table for the blocks [first, end). */
static void
fill_blocks(const EmogiMerge *splicing, uint64_t first, uint64_t end)
{
	const EmogiMergeShifts *shifts = &splicing->shifts;
	const uint64_t length = UINT64_C(1) << shifts->bits;
	uint64_t	nbreaks = count_breaks(splicing, first << shifts->bits);

	for (uint64_t i = first; i < end; i++)
	{
		uint64_t	vertex = i << shifts->bits;
		int32_t    *within;

		while (splicing->breaks[nbreaks].old <= vertex)
			nbreaks++;
		within = shifts->within + (nbreaks << shifts->bits);
		shifts->blocks[i] = shift_behind(splicing, nbreaks);
		if (splicing->breaks[nbreaks].old >= vertex + length)
			continue;
		shifts->blocks[i] = (int32_t) (uint32_t) (nbreaks + (uint32_t) INT32_MIN);
		for (uint64_t k = 0; k < length; k++, vertex++)
		{
			while (splicing->breaks[nbreaks].old <= vertex)
				nbreaks++;
			within[k] = shift_behind(splicing, nbreaks);
		}
	}
}

/* Fill the table. */
static void
fill_shifts(void *arg, int thread, int nthreads)
{
	EmogiMerge *splicing = arg;
	const uint64_t nblocks = (splicing->nvertices >> splicing->shifts.bits) + 1;
	uint64_t	first;

	while (!emogi_job_stopped(&splicing->job) &&
		   (first = emogi_job_take(&splicing->next, BLOCKS_AT_ONCE)) < nblocks)
		fill_blocks(splicing, first, nblocks - first < BLOCKS_AT_ONCE ? nblocks
					: first + BLOCKS_AT_ONCE);
}

/* Make the table, in its part of the scratch; false when the job has stopped. */
static bool
make_shifts(EmogiPool *pool, EmogiMerge *splicing)
{
	EmogiMergeShifts *shifts = &splicing->shifts;
	uint64_t	nblocks;

	shifts->bits = choose_bits(splicing->nvertices, splicing->nbreaks);
	shifts->limit = shifts->bits == 0 ? INT32_MIN : INT32_MIN + (int32_t) splicing->nbreaks;
	nblocks = (splicing->nvertices >> shifts->bits) + 1;
	shifts->within = shifts->blocks + nblocks;
	if (shifts->bits > 0)
		nblocks += splicing->nbreaks << shifts->bits;
	return emogi_merge_populate(pool, splicing, shifts->blocks, nblocks * sizeof(int32_t)) &&
		emogi_merge_run(pool, splicing, fill_shifts);
}

/* Get the new number of an old vertex; for one that is gone that of the next. */
static inline uint32_t
number_of_old(const EmogiMerge *splicing, uint32_t vertex)
{
	return splicing->renumbers ? emogi_merge_move(&splicing->shifts, vertex) : vertex;
}

/* ---- edits ---- */

/* Get the number of a new vertex. */
static uint32_t
number_of_new(const EmogiMerge *splicing, uint64_t key)
{
	uint64_t	low = 0;
	uint64_t	high = splicing->nnew;

	while (low + 1 < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (splicing->new_keys[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return splicing->new_numbers[low];
}

/* Say whether an old vertex is gone. */
static bool
is_gone(const EmogiMerge *splicing, uint32_t vertex)
{
	uint64_t	nbreaks;

	if (splicing->ngone == 0)
		return false;
	/* of the breaks before the next vertex its own comes first */
	nbreaks = count_breaks(splicing, vertex);
	return splicing->breaks[nbreaks].old == (uint64_t) vertex + 1 &&
		!splicing->breaks[nbreaks].is_new;
}

/* Give the ends of edits their new numbers. */
static void
number_edits(void *arg, int thread, int nthreads)
{
	EmogiMerge *splicing = arg;
	EmogiMergeSide *side;
	uint64_t	i,
				end;

	while (emogi_merge_take_entries(splicing, &side, &i, &end))
	{
		for (; side->spliced && i < end; i++)
		{
			const EmogiMergeEntry *entry = &side->entries[i];
			EmogiMergeEdit *edit = &side->edits[i];

			if (!edit->source_known)
				edit->after = number_of_new(splicing, entry->source) + 1;
			else
				edit->after = number_of_old(splicing, edit->source) +
					(is_gone(splicing, edit->source) ? 0 : 1);
			if (!edit->target_known)
				edit->target = number_of_new(splicing, entry->target);
			else if (entry->times > 0)
				edit->target = number_of_old(splicing, edit->target);
		}
	}
}

bool
emogi_merge_renumber(EmogiPool *pool, EmogiMerge *splicing)
{
	list_new_keys(splicing);
	if (emogi_job_stopped(&splicing->job))
		return false;
	sort_new_keys(splicing);
	merge_breaks(splicing);
	if (emogi_job_stopped(&splicing->job))
		return false;
	if (splicing->new_nvertices > EMOGI_MAX_VERTICES)
	{
		emogi_job_fail(&splicing->job, EMOGI_BAD_INPUT);
		return false;
	}
	return (!splicing->renumbers || make_shifts(pool, splicing)) &&
		emogi_merge_run(pool, splicing, number_edits);
}
