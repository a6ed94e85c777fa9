/*
 * merge_lists.c: the ids, offsets, targets and weights of a merged graph.
 */
#include "graph/merge_parts.h"

#include "layout.h"
#include "weights.h"

#include <string.h>

#define VERTEX_CHUNK ((uint64_t) 1 << 17)		/* that a thread takes at a time */
#define EDGE_CHUNK ((uint64_t) 1 << 18)

/* ---- ids and offsets ---- */

/* Count the breaks at or before a new number. */
static uint64_t
breaks_before(const EmogiMerge *merge, uint64_t v)
{
	return EMOGI_PARTITION_POINT(0, merge->nbreaks, middle, merge->breaks[middle].from <= v);
}

/* Get the old number at a new one, given the next break. */
static inline uint64_t
old_number(const EmogiMerge *merge, const EmogiMergeBreak *next, uint64_t v)
{
	return next == merge->breaks ? v : v - next[-1].from + next[-1].old;
}

/* Write the ids of the new vertices [v, end). */
static void
write_ids(const EmogiMerge *merge, uint64_t v, uint64_t end)
{
	const EmogiMergeBreak *next = merge->breaks + breaks_before(merge, v);

	while (v < end)
	{
		uint64_t	stop;

		while (next->from <= v)
			next++;
		stop = next->is_new ? next->from - 1 : next->from;
		stop = stop < end ? stop : end;
		if (stop > v)
			memcpy(merge->new_ids + v, merge->ids + old_number(merge, next, v),
				   (stop - v) * sizeof(int64_t));
		v = stop;
		if (v < end && next->is_new)
			merge->new_ids[v++] = next->key;
	}
}

/* Find the first edit whose list does not end before a new vertex. */
static uint64_t
edits_before(const EmogiMergeSide *side, uint64_t v)
{
	return EMOGI_PARTITION_POINT(0, side->nentries, middle, side->edits[middle].after <= v);
}

/* Write the offsets of the new vertices [v, end); the last may be the number of vertices. */
static void
write_offsets(const EmogiMerge *merge, const EmogiMergeSide *side, uint64_t v, uint64_t end)
{
	const EmogiMergeBreak *next = merge->breaks + breaks_before(merge, v);
	const EmogiMergeEdit *edit = side->edits + edits_before(side, v);
	uint64_t   *offsets = (uint64_t *) side->to.offsets;

	while (v < end)
	{
		const uint64_t *old;
		uint64_t	stop = end;

		while (next->from <= v)
			next++;
		while (edit->after <= v)
			edit++;
		old = side->from.offsets + old_number(merge, next, v);
		stop = next->from < stop ? next->from : stop;
		stop = edit->after < stop ? edit->after : stop;
		for (uint64_t i = 0; i < stop - v; i++)
			offsets[v + i] = old[i] + edit->shift;
		v = stop;
	}
}

/* Write ids, and the offsets of all directions. */
static void
write_vertices(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;
	const uint64_t nvertices = merge->new_nvertices;
	uint64_t	v;

	while (!emogi_job_stopped(&merge->job) &&
		   (v = emogi_job_claim(&merge->next, VERTEX_CHUNK)) <= nvertices)
	{
		const uint64_t end = nvertices - v < VERTEX_CHUNK ? nvertices : v + VERTEX_CHUNK;

		write_ids(merge, v, end);
		for (int i = 0; i < merge->nsides; i++)
		{
			if (merge->sides[i].merged)
				write_offsets(merge, &merge->sides[i], v, end == nvertices ? end + 1 : end);
		}
	}
}

/* ---- targets and weights ---- */

/* Copy targets with their new numbers. */
static void
renumber_targets(const EmogiMerge *merge, uint32_t *to, const uint32_t *from, uint64_t count)
{
	const EmogiMergeShifts shifts = merge->shifts;	/* by value, so that the compiler knows
														 * that stores do not alias it */

	for (uint64_t i = 0; i < count; i++)
		to[i] = emogi_merge_move(&shifts, from[i]);
}

/* Copy weights to another type. */
static void
convert_weights(const EmogiMerge *merge, const EmogiMergeSide *side, uint64_t to, uint64_t from,
				uint64_t count)
{
	double		weights[EMOGI_WEIGHTS_BATCH];

	for (uint64_t i = 0; i < count; i += EMOGI_WEIGHTS_BATCH)
	{
		size_t		n = count - i < EMOGI_WEIGHTS_BATCH ? count - i : EMOGI_WEIGHTS_BATCH;

		emogi_weights_load(weights, side->from.weights, merge->old_type, from + i, n);
		emogi_weights_store((void *) side->to.weights, merge->type, to + i, weights, n);
	}
}

/* Copy old entries to their new places. */
static void
copy_entries(const EmogiMerge *merge, const EmogiMergeSide *side, uint64_t to, uint64_t from,
			 uint64_t count)
{
	uint32_t   *targets = (uint32_t *) side->to.targets + to;
	const size_t bytes = emogi_weight_bytes(merge->type);

	if (count == 0)
		return;
	if (merge->renumbers)
		renumber_targets(merge, targets, side->from.targets + from, count);
	else
		memcpy(targets, side->from.targets + from, count * sizeof(uint32_t));
	if (merge->type != merge->old_type)
		convert_weights(merge, side, to, from, count);
	else if (bytes > 0)
		memcpy((char *) side->to.weights + to * bytes,
			   (const char *) side->from.weights + from * bytes, count * bytes);
}

/* Write an inserted entry, as many times as it is added; false if the job has stopped. */
static bool
put_entry(EmogiMerge *merge, const EmogiMergeSide *side, uint64_t i)
{
	const EmogiMergeEdit *edit = &side->edits[i];
	const double weight = emogi_merge_weight(&side->entries[i]);
	const uint64_t to = edit->place + edit->shift;

	for (uint64_t k = 0; k < (uint64_t) side->entries[i].times; k++)
	{
		((uint32_t *) side->to.targets)[to + k] = edit->target;
		emogi_weights_store((void *) side->to.weights, merge->type, to + k, &weight, 1);
		if (k % EMOGI_MERGE_POLL == EMOGI_MERGE_POLL - 1 && emogi_job_stopped(&merge->job))
			return false;
	}
	return true;
}

/* Find the first edit whose place is >= an old entry. */
static uint64_t
first_edit(const EmogiMergeSide *side, uint64_t entry)
{
	return EMOGI_PARTITION_POINT(0, side->nentries, middle, side->edits[middle].place < entry);
}

/* Get the first old entry after an edit. */
static inline uint64_t
entry_after(const EmogiMergeSide *side, uint64_t i)
{
	const int64_t times = side->entries[i].times;

	return side->edits[i].place + (times < 0 ? 0 - (uint64_t) times : 0);
}

/*
 * Write what the old entries [at, end) become, with the entries inserted before each of them, and
 * those inserted at the end of all.
 */
static void
write_entries(EmogiMerge *merge, const EmogiMergeSide *side, uint64_t at, uint64_t end)
{
	uint64_t	i = first_edit(side, at);
	const uint64_t stop = end == side->from.nedges ? side->nentries : first_edit(side, end);

	if (i > 0 && entry_after(side, i - 1) > at)
		at = entry_after(side, i - 1);	/* the previous edit skips some of these, possibly all */
	for (uint64_t polled = i; i < stop; i++)
	{
		const EmogiMergeEdit *edit = &side->edits[i];

		copy_entries(merge, side, at + edit->shift, at, edit->place - at);
		if (side->entries[i].times > 0 && !put_entry(merge, side, i))
			return;
		at = entry_after(side, i);
		if ((i - polled) % EMOGI_MERGE_POLL == EMOGI_MERGE_POLL - 1 &&
			emogi_job_stopped(&merge->job))
			return;
	}
	if (at < end)
		copy_entries(merge, side, at + side->edits[i].shift, at, end - at);
}

/* Write the targets and weights of a direction. */
static void
write_lists(EmogiMerge *merge, const EmogiMergeSide *side)
{
	const uint64_t nentries = side->from.nedges;
	uint64_t	at;

	/* without old entries there is still one piece, for inserted entries */
	while (!emogi_job_stopped(&merge->job) &&
		   (at = emogi_job_claim(&merge->next, EDGE_CHUNK)) < (nentries > 0 ? nentries : 1))
	{
		const uint64_t end = nentries - at < EDGE_CHUNK ? nentries : at + EDGE_CHUNK;

		write_entries(merge, side, at, end);
		emogi_job_done(&merge->job, end - at);
	}
}

/* Write the forward lists. */
static void
write_forward(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;

	write_lists(merge, &merge->sides[0]);
}

/* Write the backward lists. */
static void
write_backward(void *arg, int thread, int nthreads)
{
	EmogiMerge *merge = arg;

	write_lists(merge, &merge->sides[1]);
}

/* ---- all ---- */

/* Zero the bytes between the end of an array and the end of its last line. */
static void
clear_padding(const void *array, size_t bytes)
{
	memset((char *) array + bytes, 0, emogi_whole_lines(bytes) - bytes);
}

/* Zero the padding of a direction's arrays. */
static void
clear_paddings(const EmogiAdjacency *adjacency, uint64_t nvertices, EmogiWeightType type)
{
	clear_padding(adjacency->offsets, (nvertices + 1) * sizeof(uint64_t));
	clear_padding(adjacency->targets, adjacency->nedges * sizeof(uint32_t));
	if (type != EMOGI_WEIGHT_NONE)
		clear_padding(adjacency->weights, adjacency->nedges * emogi_weight_bytes(type));
}

bool
emogi_merge_write(EmogiPool *pool, EmogiMerge *merge)
{
	clear_padding(merge->new_ids, merge->new_nvertices * sizeof(int64_t));
	for (int i = 0; i < merge->nsides; i++)
	{
		if (merge->sides[i].merged)
			clear_paddings(&merge->sides[i].to, merge->new_nvertices, merge->type);
	}
	return emogi_merge_run(pool, merge, write_vertices) &&
		emogi_merge_run(pool, merge, write_forward) &&
		(merge->nsides == 1 || !merge->sides[1].merged ||
		 emogi_merge_run(pool, merge, write_backward));
}
