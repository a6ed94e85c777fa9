/*
 * edge_mask.h: the edges of a graph that a search may use: those that pass a filter
 *
 * A mask is a bitmap of the entries of the forward lists. Its words are evaluated when a search
 * first reads them, or all at once. A search that reads reverse lists needs a bitmap of their
 * entries, which is gathered from that of the forward lists.
 *
 * A vertex without an edge that passes is not a vertex of the filtered graph: as a source, it is
 * not reached.
 */
#ifndef EMOGI_EDGE_MASK_H
#define EMOGI_EDGE_MASK_H

#include "contract/edge_filter.h"

typedef struct EmogiEdgeMask
{
	const EmogiEdgeFilter *filter;	/* checked; NULL = all words are known */
	const EmogiProperties *properties;	/* of the graph; NULL = all words are known */
	uint64_t	nedges;			/* entries of the forward lists */
	uint64_t   *forward;		/* bitmap [nedges], 1 = passes; undefined in words not known */
	uint64_t   *known;			/* bitmap [words of forward], written by any thread; NULL = all are
								 * known */
	bool		is_symmetric;	/* the reverse lists are the forward lists */
	const uint32_t *forward_entry;	/* [nedges], by reverse entry; NULL = unknown, or symmetric */
	uint64_t   *backward;		/* bitmap [nedges] of the reverse entries; equals forward if
								 * symmetric; NULL = reverse lists cannot be read */
	bool		has_backward;	/* backward is filled */
} EmogiEdgeMask;

/* Get the bytes of a mask's bitmaps. */
extern size_t emogi_edge_mask_bytes(const EmogiGraph *graph, bool is_symmetric,
									bool has_forward_entry);

/*
 * Begin a mask of which no word is known. memory: emogi_edge_mask_bytes, line-aligned, of which the
 * function clears the part that must be 0. forward_entry: of the graph's reverse lists, NULL if
 * they do not exist, are the forward lists (is_symmetric), or are not mapped.
 */
extern EmogiStatus emogi_edge_mask_begin(const EmogiGraph *graph, bool is_symmetric,
										 const EmogiProperties *properties,
										 const EmogiEdgeFilter *filter,
										 const uint32_t *forward_entry, void *memory,
										 EmogiEdgeMask *mask, EmogiError *error);

/* Evaluate all words that are not known. */
extern EmogiStatus emogi_edge_mask_complete(EmogiPool *pool, EmogiEdgeMask *mask,
											EmogiControl *control);

/* Fill the bitmap of the reverse entries; all words are known, and backward is not NULL. */
extern EmogiStatus emogi_edge_mask_reverse(EmogiPool *pool, EmogiEdgeMask *mask,
										   EmogiControl *control);

/* Evaluate a word that is not known. */
extern uint64_t emogi_edge_mask_evaluate(EmogiEdgeMask *mask, uint64_t word);

/* Get a word of the forward bitmap. */
static inline uint64_t
emogi_edge_mask_word(EmogiEdgeMask *mask, uint64_t word)
{
	if (mask->known == NULL ||
		(__atomic_load_n(&mask->known[word / 64], __ATOMIC_ACQUIRE) >> (word % 64) & 1) != 0)
		return __atomic_load_n(&mask->forward[word], __ATOMIC_RELAXED);
	return emogi_edge_mask_evaluate(mask, word);
}

/* Check whether a forward entry passes. */
static inline bool
emogi_edge_mask_passes(EmogiEdgeMask *mask, uint64_t entry)
{
	return (emogi_edge_mask_word(mask, entry / 64) >> (entry % 64) & 1) != 0;
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

/*
 * Copy the targets of the entries from first on that pass to buffer, of at least 64 elements more
 * than `room`, until `room` are there or at the end; *first becomes the first entry not read.
 */
static inline uint64_t
emogi_edge_mask_select(EmogiEdgeMask *mask, const uint32_t *targets, uint64_t *first, uint64_t end,
					   uint32_t *buffer, uint64_t room)
{
	uint64_t	count = 0;

	while (*first < end && count < room)
	{
		const uint64_t word = *first / 64;
		const uint32_t *of_word = targets + word * 64;
		uint64_t	bits = emogi_bitmap_part(word, emogi_edge_mask_word(mask, word), *first, end);

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
	EMOGI_MASKED_UNKNOWN		/* no edge leads from it, and its reverse list cannot be read */
} EmogiMaskedVertex;

/* Check whether a vertex has an edge that passes, by its lists. */
extern EmogiMaskedVertex emogi_edge_mask_vertex(EmogiEdgeMask *mask, const EmogiGraph *graph,
												uint32_t vertex);

#endif							/* EMOGI_EDGE_MASK_H */
