/*
 * merge_numbers.c: new vertices, and the map from old to new numbers.
 *
 * The numbering breaks where a vertex is new or gone; between two breaks all numbers shift by the
 * same distance. A table holds that distance for each block of vertices. Blocks are small enough to
 * seldom contain a break, and large enough for the table to stay in the cache if breaks are few.
 * For a block that contains one, a second table holds each vertex's own distance.
 */
#include "graph/merge_parts.h"

#include "threads/radix.h"
#include "contract/partition_point.h"

#define MIN_BLOCKS 4096
#define BLOCKS_PER_BREAK 128
/* above this number, the first table holds each vertex's own distance */
#define MAX_BREAKS ((uint64_t) 1 << 29)
#define BLOCK_CHUNK ((uint64_t) 1 << 16)	/* that a thread fills at a time */

/* ---- breaks ---- */

/*
 * List the keys of new vertices: ends of inserted entries that are not old vertices; with repeats.
 */
static void
list_new_keys(EmogiMerge *merge)
{
	const EmogiMergeSide *side = &merge->sides[0];

	merge->nnew = 0;
	for (uint64_t i = 0; i < side->nentries; i++)
	{
		const EmogiMergeEntry *entry = &side->entries[i];

		if (!side->edits[i].source_known &&
			(i == 0 || entry->source != side->entries[i - 1].source))
			merge->new_keys[merge->nnew++] = entry->source;
		if (!side->edits[i].target_known)
			merge->new_keys[merge->nnew++] = entry->target;
		if (emogi_merge_stops_at(merge, i))
			return;
	}
}

/* Sort the keys of new vertices and remove repeats. */
static void
sort_new_keys(EmogiMerge *merge)
{
	uint64_t   *keys = merge->new_keys;
	uint64_t	nkeys = 0;

	if (merge->nnew > 1)
		emogi_radix_sort_u64(keys, merge->nnew, merge->key_scratch, merge->nnew,
							 &merge->job);
	for (uint64_t i = 0; i < merge->nnew; i++)
	{
		if (i == 0 || keys[i] != keys[nkeys - 1])
			keys[nkeys++] = keys[i];
	}
	merge->nnew = nkeys;
}

/* Add a break; shift is modulo 2^64. */
static inline void
add_break(EmogiMerge *merge, uint64_t old, uint64_t shift, bool is_new, uint64_t key)
{
	merge->breaks[merge->nbreaks++] =
		(EmogiMergeBreak) {.old = old, .from = old + shift, .is_new = is_new,
			.key = emogi_merge_key(key)};
}

/* Merge the new vertices, by their places, and the ones that are gone. */
static void
merge_breaks(EmogiMerge *merge)
{
	uint64_t	place = 0;
	uint64_t	shift = 0;
	uint64_t	g = 0;

	merge->nbreaks = 0;
	for (uint64_t i = 0; i <= merge->nnew; i++)
	{
		if (emogi_merge_stops_at(merge, i))
			return;
		place = i == merge->nnew ? merge->nvertices :
			emogi_merge_gallop(merge->ids, place, merge->nvertices,
							   emogi_merge_key(merge->new_keys[i]));
		for (; g < merge->ngone && merge->gone[g] < place; g++)
			add_break(merge, (uint64_t) merge->gone[g] + 1, --shift, false, 0);
		if (i < merge->nnew)
		{
			merge->new_numbers[i] = (uint32_t) (place + shift);
			add_break(merge, place, ++shift, true, merge->new_keys[i]);
		}
	}
	merge->breaks[merge->nbreaks] = (EmogiMergeBreak) {.old = UINT64_MAX, .from = UINT64_MAX};
	merge->new_nvertices = merge->nvertices + shift;
	merge->renumbers = merge->nbreaks > 0 && merge->breaks[0].old < merge->nvertices;
}

/* ---- table ---- */

/* Choose the size of blocks, as a power of 2. */
static uint32_t
choose_bits(uint64_t nvertices, uint64_t nbreaks)
{
	uint32_t	bits = 0;

	if (nbreaks > MAX_BREAKS)
		return 0;
	while (nvertices >> bits > MIN_BLOCKS && nvertices >> bits > nbreaks * BLOCKS_PER_BREAK)
		bits++;
	return bits;
}

size_t
emogi_merge_shifts_bytes(uint64_t nvertices, uint64_t nbreaks)
{
	uint64_t	max_blocks = nbreaks * BLOCKS_PER_BREAK > MIN_BLOCKS
		? nbreaks * BLOCKS_PER_BREAK : MIN_BLOCKS;

	if (max_blocks > nvertices || nbreaks > MAX_BREAKS)
		max_blocks = nvertices;
	/*
	 * if blocks have several vertices, there are more than max_blocks / 2 of them, also for any
	 * smaller nbreaks
	 */
	return (max_blocks + 1 + nvertices * 2 / BLOCKS_PER_BREAK + nbreaks) * sizeof(int32_t);
}

/* Count the breaks at or before an old number. */
static uint64_t
count_breaks(const EmogiMerge *merge, uint64_t vertex)
{
	return EMOGI_PARTITION_POINT(0, merge->nbreaks, middle, merge->breaks[middle].old <= vertex);
}

/* Get the shift of vertices after so many breaks. */
static inline int32_t
shift_after(const EmogiMerge *merge, uint64_t nbreaks)
{
	const EmogiMergeBreak *last = merge->breaks + nbreaks - 1;

	return nbreaks == 0 ? 0 : (int32_t) (uint32_t) (last->from - last->old);
}

/* Fill the table for the blocks [first, end). */
static void
fill_blocks(const EmogiMerge *merge, uint64_t first, uint64_t end)
{
	const EmogiMergeShifts *shifts = &merge->shifts;
	const uint64_t length = UINT64_C(1) << shifts->bits;
	uint64_t	nbreaks = count_breaks(merge, first << shifts->bits);

	for (uint64_t i = first; i < end; i++)
	{
		uint64_t	vertex = i << shifts->bits;
		int32_t    *within;

		while (merge->breaks[nbreaks].old <= vertex)
			nbreaks++;
		within = shifts->within + (nbreaks << shifts->bits);
		shifts->blocks[i] = shift_after(merge, nbreaks);
		if (merge->breaks[nbreaks].old >= vertex + length)
			continue;
		shifts->blocks[i] = (int32_t) (uint32_t) (nbreaks + (uint32_t) INT32_MIN);
		for (uint64_t k = 0; k < length; k++, vertex++)
		{
			while (merge->breaks[nbreaks].old <= vertex)
				nbreaks++;
			within[k] = shift_after(merge, nbreaks);
		}
	}
}

/* Fill the table. */
static void
fill_shifts(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;
	const uint64_t nblocks = (merge->nvertices >> merge->shifts.bits) + 1;
	uint64_t	first;

	while (!emogi_job_stopped(&merge->job) &&
		   (first = emogi_job_claim(&merge->next, BLOCK_CHUNK)) < nblocks)
		fill_blocks(merge, first, nblocks - first < BLOCK_CHUNK ? nblocks
					: first + BLOCK_CHUNK);
}

/* Make the table in its part of the scratch; false if the job has stopped. */
static bool
make_shifts(EmogiPool *pool, EmogiMerge *merge)
{
	EmogiMergeShifts *shifts = &merge->shifts;
	uint64_t	nblocks;

	shifts->bits = choose_bits(merge->nvertices, merge->nbreaks);
	shifts->limit = shifts->bits == 0 ? INT32_MIN : INT32_MIN + (int32_t) merge->nbreaks;
	nblocks = (merge->nvertices >> shifts->bits) + 1;
	shifts->within = shifts->blocks + nblocks;
	if (shifts->bits > 0)
		nblocks += merge->nbreaks << shifts->bits;
	return emogi_merge_populate(pool, merge, shifts->blocks, nblocks * sizeof(int32_t)) &&
		emogi_merge_run(pool, merge, fill_shifts);
}

/* Get the new number of an old vertex; for one that is gone, that of the next. */
static inline uint32_t
number_of_old(const EmogiMerge *merge, uint32_t vertex)
{
	return merge->renumbers ? emogi_merge_move(&merge->shifts, vertex) : vertex;
}

/* ---- edits ---- */

/* Get the number of a new vertex. */
static uint32_t
number_of_new(const EmogiMerge *merge, uint64_t key)
{
	uint64_t	low = 0;
	uint64_t	high = merge->nnew;

	while (low + 1 < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (merge->new_keys[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return merge->new_numbers[low];
}

/* Check whether an old vertex is gone. */
static bool
is_gone(const EmogiMerge *merge, uint32_t vertex)
{
	uint64_t	nbreaks;

	if (merge->ngone == 0)
		return false;
	/* among the breaks before the next vertex, the vertex's own is first */
	nbreaks = count_breaks(merge, vertex);
	return merge->breaks[nbreaks].old == (uint64_t) vertex + 1 &&
		!merge->breaks[nbreaks].is_new;
}

/* Set the new numbers of the ends of edits. */
static void
number_edits(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;
	EmogiMergeSide *side;
	uint64_t	i,
				end;

	while (emogi_merge_take_entries(merge, &side, &i, &end))
	{
		for (; side->merged && i < end; i++)
		{
			const EmogiMergeEntry *entry = &side->entries[i];
			EmogiMergeEdit *edit = &side->edits[i];

			if (!edit->source_known)
				edit->after = number_of_new(merge, entry->source) + 1;
			else
				edit->after = number_of_old(merge, edit->source) +
					(is_gone(merge, edit->source) ? 0 : 1);
			if (!edit->target_known)
				edit->target = number_of_new(merge, entry->target);
			else if (entry->times > 0)
				edit->target = number_of_old(merge, edit->target);
		}
	}
}

bool
emogi_merge_renumber(EmogiPool *pool, EmogiMerge *merge)
{
	list_new_keys(merge);
	if (emogi_job_stopped(&merge->job))
		return false;
	sort_new_keys(merge);
	merge_breaks(merge);
	if (emogi_job_stopped(&merge->job))
		return false;
	if (merge->new_nvertices > EMOGI_MAX_VERTICES)
	{
		emogi_job_fail(&merge->job, EMOGI_BAD_INPUT);
		return false;
	}
	return (!merge->renumbers || make_shifts(pool, merge)) &&
		emogi_merge_run(pool, merge, number_edits);
}
