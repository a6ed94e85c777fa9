/*
 * merge_parts.h: shared declarations of the files that merge changes into a graph, in the order of
 * their work:
 *
 *   merge_changes.c     the net changes of the lists, sorted, each with its place in the old lists
 *   merge_removed.c        vertices that lose their last edge
 *   merge_numbers.c     new vertices, and the map from old to new numbers
 *   merge_lists.c       ids, offsets, targets and weights
 *   merge_derivation.c  the same as instructions for copies of the old arrays elsewhere
 *   merge.c             the sequence of the steps
 *
 * A direction is merged as two flat arrays, not list by list. Its targets and weights are one
 * sequence of entries: a change inserts entries before a place of the old sequence, or skips some
 * from there on, and everything between two changes shifts by the same distance. So threads can
 * split the old sequence anywhere, however long a list is. Its offsets, and the ids, shift in the
 * same way between two breaks in the numbering and two changes.
 */
#ifndef EMOGI_MERGE_PARTS_H
#define EMOGI_MERGE_PARTS_H

#include "contract/partition_point.h"
#include "contract/builder.h"
#include "threads/job.h"

#define EMOGI_MERGE_SIGN (UINT64_C(1) << 63)
/* steps of a few nanoseconds between two polls */
#define EMOGI_MERGE_POLL ((uint64_t) 1 << 18)

/*
 * Entries added to or removed from a list; keys and the weight are mapped to unsigned integers of
 * the same order.
 */
typedef struct EmogiMergeEntry
{
	uint64_t	source;
	uint64_t	target;
	uint64_t	weight;
	int64_t		times;
} EmogiMergeEntry;

/* The place of a change. */
typedef struct EmogiMergeEdit
{
	uint64_t	place;			/* old entry before which entries are inserted, or from which on
								 * they are skipped */
	uint64_t	shift;			/* entries added by the edits before this one, modulo 2^64 */
	uint32_t	source;			/* old number, or, if the vertex is new, that of the next old
								 * vertex */
	uint32_t	target;			/* the same; for inserted entries, later the new number */
	uint32_t	after;			/* the first new vertex (or their number) whose list begins after
								 * this edit */
	bool		source_known;	/* the source is an old vertex */
	bool		target_known;
} EmogiMergeEdit;

/* One direction. */
typedef struct EmogiMergeSide
{
	EmogiAdjacency from;		/* the old lists; offsets are not NULL if they are merged */
	EmogiAdjacency to;
	bool		swapped;		/* lists lead from dst to src */
	bool		merged;			/* false = the graph does not have this direction, and only the
								 * net changes are needed */
	uint64_t	nentries;
	EmogiMergeEntry *entries;	/* [nentries], ascending by source, target, weight; times is not
								 * 0 */
	EmogiMergeEntry *spare;		/* [maximum number of entries], for sorting */
	EmogiMergeEdit *edits;		/* [nentries + 1], of the entries; the last one is a sentinel
								 * after all old entries */
} EmogiMergeSide;

/*
 * A break in the numbering: a new or removed vertex. Old numbers v >= `old` become v - `old` +
 * `from`.
 */
typedef struct EmogiMergeBreak
{
	uint64_t	old;
	uint64_t	from;
	int64_t		key;			/* of a new vertex, whose number is from - 1 */
	bool		is_new;
} EmogiMergeBreak;

/*
 * The shift of old vertices, modulo 2^32, by blocks of 2^bits vertices. A value below `limit` marks
 * a block with different shifts; it is INT32_MIN + i, and the shifts are `within`[i << bits .. (i +
 * 1) << bits).
 */
typedef struct EmogiMergeShifts
{
	uint32_t	bits;
	int32_t		limit;
	int32_t    *blocks;			/* [(nvertices >> bits) + 1] */
	int32_t    *within;			/* [nbreaks << bits] */
} EmogiMergeShifts;

/*
 * A vertex that may be gone: its own list becomes empty, and it is not known how many entries lead
 * to it.
 */
typedef struct EmogiMergeCandidate
{
	uint64_t	leaving;		/* removed entries to it */
	uint64_t	found;			/* atomic: old entries to it; not counted further once they
								 * exceed `leaving` */
	uint32_t	vertex;			/* old number */
} EmogiMergeCandidate;

typedef struct EmogiMerge
{
	EmogiJob	job;
	const EmogiMergeInput *input;
	uint64_t	nvertices;		/* of the old graph */
	const int64_t *ids;			/* [nvertices], of the old graph */
	EmogiWeightType old_type;
	EmogiWeightType type;
	bool		removes;		/* some change removes edges */
	int			nsides;
	EmogiMergeSide sides[2];	/* forward; backward, or what would be stored there */
	uint64_t	missing[2];		/* atomic: by side, the first removed entry that does not exist;
								 * UINT64_MAX = none */

	EmogiMergeCandidate *candidates;	/* [ncandidates], ascending */
	uint64_t	ncandidates;
	uint64_t   *filter;			/* Bloom filter: bit (vertex & filter_mask) is set for candidates */
	uint32_t	filter_mask;
	uint64_t	scan_end;		/* entries up to this are scanned */
	uint32_t   *gone;			/* [ngone], old numbers, ascending */
	uint64_t	ngone;

	uint64_t   *new_keys;		/* [nnew], as in an entry, ascending */
	uint64_t   *key_scratch;	/* [maximum number of keys], for sorting */
	uint32_t   *new_numbers;	/* [nnew], their numbers */
	uint64_t	nnew;
	EmogiMergeBreak *breaks;	/* [nbreaks + 1], ascending; the last one is a sentinel after all
								 * vertices */
	uint64_t	nbreaks;
	bool		renumbers;		/* a remaining old vertex has another number */
	EmogiMergeShifts shifts;

	uint64_t	new_nvertices;
	int64_t    *new_ids;
	EmogiEdit  *derivation_edits[2];	/* [nentries + 1], by side, if a derivation is wanted */
	EmogiBreak *derivation_breaks;	/* [nbreaks + 1], likewise */
	char	   *populate_start;
	size_t		populate_bytes;
	uint64_t	next;			/* atomic: next piece */
} EmogiMerge;

/* Initialize direction i. merged: the graph has it, in `lists`. */
extern void emogi_merge_begin_side(EmogiMerge *merge, int i, const EmogiAdjacency *lists,
								   bool swapped, bool merged);

/*
 * Each of these is a step that all threads take; false if the job has stopped. The first two accept
 * a NULL pool: the caller alone.
 */
extern bool emogi_merge_net(EmogiPool *pool, EmogiMerge *merge);
extern bool emogi_merge_locate(EmogiPool *pool, EmogiMerge *merge);
extern bool emogi_merge_find_removed(EmogiPool *pool, EmogiMerge *merge);
extern bool emogi_merge_renumber(EmogiPool *pool, EmogiMerge *merge);
extern bool emogi_merge_write(EmogiPool *pool, EmogiMerge *merge);

/* Fill the derivation, after emogi_merge_renumber; false if the job has stopped. */
extern bool emogi_merge_derive(EmogiMerge *merge);

/* Populate a part of the scratch or of the block. */
extern bool emogi_merge_populate(EmogiPool *pool, EmogiMerge *merge, void *start, size_t bytes);

/*
 * Take a few entries [*first, *end) of a side, in steps that all threads share; false at the end,
 * or if the job has stopped.
 */
extern bool emogi_merge_take_entries(EmogiMerge *merge, EmogiMergeSide **side, uint64_t *first,
									 uint64_t *end);

/*
 * Get the bits of the filter for a number of candidates, and the bytes of the table of shifts for a
 * maximum number of breaks.
 */
extern uint64_t emogi_merge_filter_bits(uint64_t nvertices, uint64_t ncandidates);
extern size_t emogi_merge_shifts_bytes(uint64_t nvertices, uint64_t nbreaks);

/* Get the new number of an old vertex; for one that is gone, that of the next. */
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

/* Map a key to an unsigned integer of the same order, and back. */
static inline uint64_t
emogi_merge_order(int64_t key)
{
	return (uint64_t) key ^ EMOGI_MERGE_SIGN;
}

static inline int64_t
emogi_merge_key(uint64_t order)
{
	return (int64_t) (order ^ EMOGI_MERGE_SIGN);
}

/* Get the weight of an entry. */
extern double emogi_merge_weight(const EmogiMergeEntry *entry);

/*
 * Find the first vertex from `low` on whose key is >= key, by galloping; nvertices if there is
 * none.
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
	return EMOGI_PARTITION_POINT(low, high, middle, ids[middle] < key);
}

/* Poll the job if a loop's counter is at a polling point; true if it has stopped. */
static inline bool
emogi_merge_stops_at(EmogiMerge *merge, uint64_t i)
{
	return i % EMOGI_MERGE_POLL == 0 && emogi_job_stopped(&merge->job);
}

/* Run one task of the merge from its first piece on; false if the job has stopped. */
static inline bool
emogi_merge_run(EmogiPool *pool, EmogiMerge *merge, EmogiPoolTask task)
{
	merge->next = 0;
	if (pool != NULL)
		emogi_pool_run(pool, task, merge);
	else
		task(merge, 0, 1);
	return !emogi_job_stopped(&merge->job);
}

#endif							/* EMOGI_MERGE_PARTS_H */
