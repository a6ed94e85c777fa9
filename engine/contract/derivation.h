/*
 * derivation.h: how the arrays of a Graph come from those of another one, in as many words as there are changes. Who has made the new
 * Graph says it (graph/merge.h); an engine that has copies of the old arrays makes copies of the new ones of them.
 *
 * The lists of an orientation are one sequence of entries. An edit puts entries before a place of the old sequence, or leaves some out
 * from there on, and what lies between two edits moves by the same number of places. Offsets grow by the same between two edits, and
 * numbers of vertices move by the same between two breaks. So each element of a new array is found by itself: the last edit and the
 * last break that are not behind it say which old element it is, and what has been added.
 */
#ifndef EMOGI_DERIVATION_H
#define EMOGI_DERIVATION_H

#include "engine.h"

/* Entries that come to the lists at a place, or that go there. */
typedef struct EmogiEdit
{
	uint64_t	to;				/* place of the new sequence where it takes effect */
	uint64_t	shift;			/* entries that it and all edits before it add, modulo 2^64 */
	uint64_t	times;			/* entries that come, all alike; 0 = some go */
	double		weight;			/* of those that come; 0 without weights */
	uint32_t	target;			/* of those that come, by its new number */
	uint32_t	after;			/* the first new vertex, or their number, whose list begins behind it */
} EmogiEdit;

/* Old numbers from `old` on, up to the next break, are `old` - `old` + `from` now. */
typedef struct EmogiBreak
{
	uint64_t	old;
	uint64_t	from;
} EmogiBreak;

/*
 * All arrays ascend; several edits may take effect at one place, and several breaks lie at one number: then the last counts. Before the
 * first of each stands one for what begins at 0 and changes nothing.
 */
struct EmogiDerivation
{
	uint64_t	nedits[2];		/* of forward's lists, of backward's */
	const EmogiEdit *edits[2];	/* [nedits + 1]; NULL = these lists are not there, or are the others */
	uint64_t	nbreaks;
	const EmogiBreak *breaks;	/* [nbreaks + 1]; NULL = no vertex is left, and nothing can be derived */
	bool		renumbers;		/* an old vertex that stays has another number */
};

/* Find the last element of [first, last] whose field is not above a value; the first one's is not. */
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

/* Find the last edit that takes effect at a place of the new sequence or before, and that which counts for a new vertex's offset. */
EMOGI_FIND_LAST(emogi_derivation_edit_at, EmogiEdit, to)
EMOGI_FIND_LAST(emogi_derivation_edit_before, EmogiEdit, after)

/* Find the break that counts for an old number, and for a new one. */
EMOGI_FIND_LAST(emogi_derivation_break_of_old, EmogiBreak, old)
EMOGI_FIND_LAST(emogi_derivation_break_of_new, EmogiBreak, from)

/* Say whether an entry at a place is one that comes; else it is old entry number `place` - edit->shift. */
EMOGI_INLINE bool
emogi_derivation_comes(const EmogiEdit *edit, uint64_t place)
{
	return place - edit->to < edit->times;
}

/* Get the new number of an old vertex that stays, for which a break counts. */
EMOGI_INLINE uint32_t
emogi_derivation_number(const EmogiBreak *numbers, uint32_t vertex)
{
	return vertex + (uint32_t) (numbers->from - numbers->old);
}

/* Get the old vertex whose offset, with what edits add, is that of a new one; it may be their number. */
EMOGI_INLINE uint64_t
emogi_derivation_old(const EmogiBreak *numbers, uint64_t vertex)
{
	return vertex - numbers->from + numbers->old;
}

#endif							/* EMOGI_DERIVATION_H */
