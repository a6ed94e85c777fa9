/*
 * merge_parts.h: what passes between the files that make a Graph from another Graph and changes, in
 * the order of their work:
 *
 *   merge_changes.c   the net changes of the lists, sorted, each with its place in the old lists
 *   merge_gone.c      vertices that lose their last edge
 *   merge_numbers.c   new vertices, and from old numbers to new ones
 *   merge_lists.c     ids, offsets, targets and weights
 *   merge_derivation.c      the same for others to do, who have copies of the old arrays
 *   merge.c           leads from step to step
 *
 * An orientation is spliced as two flat arrays, not list by list. Its targets and weights are one
 * sequence of entries: a change puts entries before a place of the old sequence, or leaves some out
 * from there on, and everything between two changes moves by the same number of places. So threads
 * cut the old sequence where they like, however long a list is. Its offsets, and the ids, move and
 * grow in the same manner between two breaks in the numbering and two changes.
 */
#ifndef EMOGI_MERGE_PARTS_H
#define EMOGI_MERGE_PARTS_H

#include "graph/merge.h"
#include "threads/job.h"

#define EMOGI_SPLICE_SIGN (UINT64_C(1) << 63)
/* steps of few nanoseconds between two looks at the job */
#define EMOGI_SPLICE_POLL ((uint64_t) 1 << 18)

/*
 * Entries that come to a list or go; keys and the weight are unsigned integers that order as they
 * do.
 */
typedef struct EmogiMergeEntry
{
	uint64_t	source;
	uint64_t	target;
	uint64_t	weight;
	int64_t		times;
} EmogiMergeEntry;

/* Where that happens. */
typedef struct EmogiMergeEdit
{
	uint64_t	place;			/* old entry before which entries come, or from which on they go */
	uint64_t	shift;			/* entries that the edits before this have added, modulo 2^64 */
	uint32_t	source;			/* old number, or that of the next vertex, for a vertex that was
								 * not there */
	uint32_t	target;			/* the same; for entries that come later the new number */
	uint32_t	after;			/* the first new vertex, or their number, whose list begins
								 * behind this edit */
	bool		source_known;	/* it was there */
	bool		target_known;
} EmogiMergeEdit;

/* One orientation. */
typedef struct EmogiMergeSide
{
	EmogiAdjacency from;		/* the old one; offsets are never NULL where it is spliced */
	EmogiAdjacency to;
	bool		swapped;		/* lists lead from dst to src */
	bool		spliced;		/* else the Graph does not have it, and the net changes alone are
								 * wanted */
	uint64_t	nentries;
	EmogiMergeEntry *entries;	/* [nentries], ascending by source, target, weight; times is not
								 * 0 */
	EmogiMergeEntry *spare;		/* [as many as there may be], to sort with */
	EmogiMergeEdit *edits;		/* [nentries + 1], of the entries; the last one stands behind all
								 * old entries */
} EmogiMergeSide;

/*
 * A break in the numbering: a new vertex, or one that is gone. Old numbers from `old` on are `old`
 * - `old` + `from` now.
 */
typedef struct EmogiMergeBreak
{
	uint64_t	old;
	uint64_t	from;
	int64_t		key;			/* of a new vertex, whose number is from - 1 */
	bool		is_new;
} EmogiMergeBreak;

/*
 * How far old vertices move, modulo 2^32, by blocks of 2^bits of them. A number below `limit`
 * stands for a block in which they do not all move by the same; it is INT32_MIN + i, and they have
 * the part [i << bits, (i + 1) << bits) of `within`.
 */
typedef struct EmogiMergeShifts
{
	uint32_t	bits;
	int32_t		limit;
	int32_t    *blocks;			/* [(nvertices >> bits) + 1] */
	int32_t    *within;			/* [nbreaks << bits] */
} EmogiMergeShifts;

/*
 * A vertex that may be gone: no list of its own leads on, and it is not known how many entries lead
 * to it.
 */
typedef struct EmogiMergeCandidate
{
	uint64_t	leaving;		/* entries to it that go */
	uint64_t	found;			/* atomic: old entries to it; not counted further once they are
								 * more */
	uint32_t	vertex;			/* old number */
} EmogiMergeCandidate;

typedef struct EmogiMerge
{
	EmogiJob	job;
	const EmogiMergeInput *input;
	uint64_t	nvertices;		/* of the old Graph */
	const int64_t *ids;			/* [nvertices], of the old Graph */
	EmogiWeightType old_type;
	EmogiWeightType type;
	bool		removes;		/* a change takes edges away */
	int			nsides;
	EmogiMergeSide sides[2];	/* forward; backward, or what would lead there */
	uint64_t	missing[2];		/* atomic: by side, the first entry that is to go and is not
								 * there; UINT64_MAX = none */

	EmogiMergeCandidate *candidates;	/* [ncandidates], ascending */
	uint64_t	ncandidates;
	uint64_t   *filter;			/* bit (vertex & filter_mask): may be a candidate */
	uint32_t	filter_mask;
	uint64_t	scan_end;		/* entries up to this are looked through */
	uint32_t   *gone;			/* [ngone], old numbers, ascending */
	uint64_t	ngone;

	uint64_t   *new_keys;		/* [nnew], as in an entry, ascending */
	uint64_t   *key_scratch;	/* [as many as there may be], to sort them with */
	uint32_t   *new_numbers;	/* [nnew], their numbers */
	uint64_t	nnew;
	EmogiMergeBreak *breaks;	/* [nbreaks + 1], ascending; the last one stands behind all
								 * vertices */
	uint64_t	nbreaks;
	bool		renumbers;		/* an old vertex that stays has another number */
	EmogiMergeShifts shifts;

	uint64_t	new_nvertices;
	int64_t    *new_ids;
	EmogiEdit  *told_edits[2];	/* [nentries + 1], by side, if a derivation is wanted; and */
	EmogiBreak *told_breaks;	/* [nbreaks + 1] */
	char	   *populate_start;
	size_t		populate_bytes;
	uint64_t	next;			/* atomic: next piece */
} EmogiMerge;

/* Set what is known of orientation i before. spliced: the Graph has it, in `lists`. */
extern void emogi_merge_begin_side(EmogiMerge *splicing, int i, const EmogiAdjacency *lists,
								   bool swapped, bool spliced);

/*
 * Each of these is a step that all threads take; false when the job has stopped. The first two take
 * no pool, too: the caller alone.
 */
extern bool emogi_merge_net(EmogiPool *pool, EmogiMerge *splicing);
extern bool emogi_merge_locate(EmogiPool *pool, EmogiMerge *splicing);
extern bool emogi_merge_find_gone(EmogiPool *pool, EmogiMerge *splicing);
extern bool emogi_merge_renumber(EmogiPool *pool, EmogiMerge *splicing);
extern bool emogi_merge_write(EmogiPool *pool, EmogiMerge *splicing);

/* Fill the derivation, after emogi_merge_renumber; false when the job has stopped. */
extern bool emogi_merge_tell(EmogiMerge *splicing);

/* Take the memory of a part of the scratch or of the block. */
extern bool emogi_merge_populate(EmogiPool *pool, EmogiMerge *splicing, void *start, size_t bytes);

/*
 * Take a few entries [*first, *end) of a side, in steps in which all threads do so; false at the
 * end, or when the job has stopped.
 */
extern bool emogi_merge_take_entries(EmogiMerge *splicing, EmogiMergeSide **side, uint64_t *first,
									 uint64_t *end);

/*
 * Get the bits of the filter for so many candidates, and the bytes of the table of shifts for so
 * many breaks at most.
 */
extern uint64_t emogi_merge_filter_bits(uint64_t nvertices, uint64_t ncandidates);
extern size_t emogi_merge_shifts_bytes(uint64_t nvertices, uint64_t nbreaks);

/* Get the new number of an old vertex that moves; for one that is gone that of the next. */
static inline uint32_t
emogi_merge_move(const EmogiMergeShifts *shifts, uint32_t vertex)
{
	int32_t		shift = shifts->blocks[vertex >> shifts->bits];

	if (__builtin_expect(shift < shifts->limit, 0))
	{
		const uint64_t i = (uint32_t) shift - (uint32_t) INT32_MIN;

		shift = shifts->within[(i << shifts->bits) +
							   (vertex & ((UINT32_C(1) << shifts->bits) - 1))];
	}
	return vertex + (uint32_t) shift;
}

/* Get a key as an unsigned integer that orders as it does, and back. */
static inline uint64_t
emogi_merge_order(int64_t key)
{
	return (uint64_t) key ^ EMOGI_SPLICE_SIGN;
}

static inline int64_t
emogi_merge_key(uint64_t order)
{
	return (int64_t) (order ^ EMOGI_SPLICE_SIGN);
}

/* Get the weight of an entry. */
extern double emogi_merge_weight(const EmogiMergeEntry *entry);

/*
 * Find the first vertex from `low`, which is near, whose key is not below another; nvertices when
 * there is none.
 */
static inline uint64_t
emogi_merge_gallop(const int64_t *ids, uint64_t low, uint64_t nvertices, int64_t key)
{
	uint64_t	high = low;

	for (uint64_t step = 1; high < nvertices && ids[high] < key; step *= 2)
	{
		low = high + 1;
		high = high + step < nvertices ? high + step : nvertices;
	}
	while (low < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (ids[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Say whether a loop's counter is where one looks at the job, and it has stopped. */
static inline bool
emogi_merge_stops_at(EmogiMerge *splicing, uint64_t i)
{
	return i % EMOGI_SPLICE_POLL == 0 && emogi_job_stopped(&splicing->job);
}

/* Run one task of the splicing from its first piece on; false when the job has stopped. */
static inline bool
emogi_merge_run(EmogiPool *pool, EmogiMerge *splicing, EmogiPoolTask task)
{
	splicing->next = 0;
	if (pool != NULL)
		emogi_pool_run(pool, task, splicing);
	else
		task(splicing, 0, 1);
	return !emogi_job_stopped(&splicing->job);
}

#endif							/* EMOGI_MERGE_PARTS_H */
