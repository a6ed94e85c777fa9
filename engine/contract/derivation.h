/*
 * derivation.h: compact description of how the arrays of a graph follow from those of an older
 * graph, with a size proportional to the number of changes. The producer of the new graph writes it
 * (contract/merge.h); an engine that has copies of the old arrays derives copies of the new arrays
 * from them.
 *
 * The adjacency lists of an orientation are one sequence of entries. An edit inserts entries before
 * a position of the old sequence, or deletes some from there on; the entries between two edits move
 * by the same distance. Between two edits, offsets grow by the same amount, and between two breaks,
 * vertex numbers move by the same amount. Each element of a new array can therefore be computed
 * independently: the last edit and the last break at or before it determine the old element and
 * what has been added to it.
 */
#ifndef EMOGI_DERIVATION_H
#define EMOGI_DERIVATION_H

#include "engine.h"

/* Entries that are inserted or deleted at one position. */
typedef struct EmogiEdit
{
	uint64_t	to;				/* position in the new sequence */
	uint64_t	shift;			/* number of entries added by this and all previous edits, modulo
								 * 2^64 */
	uint64_t	times;			/* number of inserted entries, all equal; 0 = a deletion */
	double		weight;			/* of the inserted entries; 0 without weights */
	uint32_t	target;			/* of the inserted entries, as a new vertex number */
	uint32_t	after;			/* first new vertex, or the number of vertices, whose list begins
								 * behind the edit */
} EmogiEdit;

/* Old numbers from `old` to the next break are mapped to number - `old` + `from`. */
typedef struct EmogiBreak
{
	uint64_t	old;
	uint64_t	from;
} EmogiBreak;

/*
 * All arrays are ascending. Several edits may have the same position, and several breaks the same
 * number; then the last one applies. Element 0 of each array is a sentinel at 0 that changes
 * nothing.
 */
struct EmogiDerivation
{
	uint64_t	nedits[2];		/* of the forward and the backward lists */
	const EmogiEdit *edits[2];	/* [nedits + 1]; NULL = these lists do not exist or are shared with
								 * the other orientation */
	uint64_t	nbreaks;
	const EmogiBreak *breaks;	/* [nbreaks + 1]; NULL = no vertex is left, and nothing can be
								 * derived */
	bool		renumbers;		/* a remaining old vertex has another number */
};

/*
 * Find the last element of [first, last] whose field is <= a value; this must hold for the first
 * element.
 */
#define EMOGI_FIND_LAST(name, type, field) \
EMOGI_INLINE uint64_t \
name(const type *array, uint64_t first, uint64_t last, uint64_t value) \
{ \
	while (first < last) \
	{ \
		const uint64_t middle = last - (last - first) / 2; \
\
		if (array[middle].field <= value) \
			first = middle; \
		else \
			last = middle - 1; \
	} \
	return first; \
}

/*
 * Find the last edit at or before a position of the new sequence, and the last edit that applies to
 * the offset of a new vertex.
 */
EMOGI_FIND_LAST(emogi_derivation_edit_at, EmogiEdit, to)
EMOGI_FIND_LAST(emogi_derivation_edit_before, EmogiEdit, after)

/* Find the break that applies to an old number, and to a new number. */
EMOGI_FIND_LAST(emogi_derivation_break_of_old, EmogiBreak, old)
EMOGI_FIND_LAST(emogi_derivation_break_of_new, EmogiBreak, from)

/*
 * Check whether the entry at a position is inserted; otherwise it is the old entry `place` -
 * edit->shift.
 */
EMOGI_INLINE bool
emogi_derivation_is_inserted(const EmogiEdit *edit, uint64_t place)
{
	return place - edit->to < edit->times;
}

/* Get the new number of a remaining old vertex from the break that applies to it. */
EMOGI_INLINE uint32_t
emogi_derivation_number(const EmogiBreak *numbers, uint32_t vertex)
{
	return vertex + (uint32_t) (numbers->from - numbers->old);
}

/*
 * Get the old vertex (or the number of old vertices) whose offset, plus what edits add, is the
 * offset of a new vertex.
 */
EMOGI_INLINE uint64_t
emogi_derivation_old(const EmogiBreak *numbers, uint64_t vertex)
{
	return vertex - numbers->from + numbers->old;
}

#endif							/* EMOGI_DERIVATION_H */
