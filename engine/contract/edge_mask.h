/*
 * edge_mask.h: the edges of a graph that a search may use: those that pass a filter
 *
 * A mask has a bitmap of the entries of the forward lists, and one of those of the reverse lists if
 * their columns exist. Words of a bitmap are evaluated when a search first reads them, or all at
 * once.
 *
 * A vertex without an edge that passes is not a vertex of the filtered graph: as a source, it is
 * not reached.
 */
#ifndef EMOGI_EDGE_MASK_H
#define EMOGI_EDGE_MASK_H

#include "contract/edge_filter.h"

/* The bitmap of the lists of one orientation. */
typedef struct EmogiMaskedLists
{
	const EmogiEdgeFilter *filter;	/* checked */
	const EmogiProperties *properties;	/* in the order of these lists */
	uint64_t   *passing;		/* bitmap [properties->nedges]; undefined in words not known */
	uint64_t   *known;			/* bitmap [words of passing], written by any thread; NULL = all are
								 * known */
} EmogiMaskedLists;

typedef struct EmogiEdgeMask
{
	EmogiMaskedLists forward;
	EmogiMaskedLists backward;	/* properties NULL = reverse lists are the forward lists, or cannot
								 * be read */
	bool		is_symmetric;	/* the reverse lists are the forward lists */
	/* of a graph without reverse lists: the entries that lead to each vertex; NULL = unknown */
	const uint64_t *in_offsets; /* [nvertices + 1] */
	const uint32_t *in_entries; /* [nedges] */
} EmogiEdgeMask;

/* Get the bytes of the bitmaps of one orientation. */
extern size_t emogi_edge_mask_bytes(uint64_t nedges);

/*
 * Check a filter and begin the bitmap of one orientation, of which no word is known. memory:
 * emogi_edge_mask_bytes, line-aligned, any content.
 */
extern EmogiStatus emogi_edge_mask_begin(const EmogiEdgeFilter *filter,
										 const EmogiProperties *properties, void *memory,
										 EmogiMaskedLists *lists, EmogiError *error);

/* Evaluate all words that are not known. */
extern EmogiStatus emogi_edge_mask_complete(EmogiPool *pool, EmogiMaskedLists *lists,
											EmogiControl *control);

/* Evaluate a word that is not known. */
extern uint64_t emogi_edge_mask_evaluate(EmogiMaskedLists *lists, uint64_t word);

/* Get a word of the bitmap. */
static inline uint64_t
emogi_edge_mask_word(EmogiMaskedLists *lists, uint64_t word)
{
	if (lists->known == NULL ||
		(__atomic_load_n(&lists->known[word / 64], __ATOMIC_ACQUIRE) >> (word % 64) & 1) != 0)
		return __atomic_load_n(&lists->passing[word], __ATOMIC_RELAXED);
	return emogi_edge_mask_evaluate(lists, word);
}

/* Get the reverse lists of a mask; NULL = they cannot be read. */
static inline EmogiMaskedLists *
emogi_edge_mask_backward(EmogiEdgeMask *mask)
{
	if (mask->is_symmetric)
		return &mask->forward;
	return mask->backward.properties != NULL ? &mask->backward : NULL;
}

/* Get the bits of [first, end) in a word of a bitmap. */
static inline uint64_t
emogi_bitmap_part(uint64_t word, uint64_t bits, uint64_t first, uint64_t end)
{
	if (first > word * 64)
		bits &= UINT64_MAX << (first % 64);
	if (end < (word + 1) * 64)
		bits &= ~(UINT64_MAX << (end % 64));
	return bits;
}

/* Check whether one of the entries [first, end) passes. */
static inline bool
emogi_edge_mask_any(EmogiMaskedLists *lists, uint64_t first, uint64_t end)
{
	for (uint64_t e = first; e < end; e = (e / 64 + 1) * 64)
		if (emogi_bitmap_part(e / 64, emogi_edge_mask_word(lists, e / 64), first, end) != 0)
			return true;
	return false;
}

/*
 * Copy the targets of the entries from first on that pass to buffer, of at least 64 elements more
 * than `room`, until `room` are there or at the end; *first becomes the first entry not read.
 */
static inline uint64_t
emogi_edge_mask_select(EmogiMaskedLists *lists, const uint32_t *targets, uint64_t *first,
					   uint64_t end, uint32_t *buffer, uint64_t room)
{
	uint64_t	count = 0;

	while (*first < end && count < room)
	{
		const uint64_t word = *first / 64;
		const uint32_t *of_word = targets + word * 64;
		uint64_t	bits = emogi_bitmap_part(word, emogi_edge_mask_word(lists, word), *first,
											 end);

		for (; bits != 0; bits &= bits - 1)
			buffer[count++] = of_word[__builtin_ctzll(bits)];
		*first = (word + 1) * 64 < end ? (word + 1) * 64 : end;
	}
	return count;
}

/* What is known about whether a vertex has an edge that passes. */
typedef enum EmogiMaskedVertex
{
	EMOGI_MASKED_GONE,
	EMOGI_MASKED_THERE,
	EMOGI_MASKED_UNKNOWN		/* no edge leads from it, and those to it are unknown, or many */
} EmogiMaskedVertex;

/* Check whether a vertex has an edge that passes, by its lists. */
extern EmogiMaskedVertex emogi_edge_mask_vertex(EmogiEdgeMask *mask, const EmogiGraph *graph,
												uint32_t vertex);

#endif							/* EMOGI_EDGE_MASK_H */
