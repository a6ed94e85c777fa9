/*
 * coo.h: the edges of a table in the order of its pages, so that a page's previous edges can be
 * compared with its present ones.
 *
 * A COO (coordinate list) is made from the chunks that a scan has filled, and lives as long as its
 * change tracker. It holds keys, not vertex numbers, so that renumbering does not affect it; of
 * keys of a dictionary their numbers there, which take fewer bytes than their codes. Edges are
 * found by their place; the owner knows the places of each page.
 */
#ifndef EMOGI_COO_H
#define EMOGI_COO_H

#include "contract/csr.h"
#include "contract/dictionary.h"

typedef struct EmogiCoo
{
	uint64_t	room;			/* capacity in edges */
	uint64_t	used;			/* places [0, used) have been assigned; some may no longer hold
								 * an edge */
	const EmogiDictionary *dictionary;	/* keys are its codes, stored as its numbers; NULL = they
										 * are integers */
	int64_t		base;			/* integers are stored as key - base; otherwise 0 */
	uint32_t	key_bytes;		/* of a stored key: 3, 4 or 8 */
	EmogiWeightType weight_type;	/* of the stored weights; EMOGI_WEIGHT_NONE = no weights */
	void	   *keys;			/* [2 * room] of key_bytes, source and target alternating */
	void	   *weights;		/* [room], NULL if there are none */
} EmogiCoo;

/* Counts of weights by misfit; the misfits of all weights are the bits with nonzero counts. */
typedef struct EmogiMisfitCounts
{
	uint64_t	counts[6];		/* by bit: EMOGI_NOT_U8 .. EMOGI_INFINITE */
} EmogiMisfitCounts;

/* Add a weight to the counts, or remove it (times = -1). */
static inline void
emogi_misfits_count(EmogiMisfitCounts *counts, double weight, int64_t times)
{
	uint32_t	misfits = emogi_weight_misfits(weight);

	for (int i = 0; i < 6; i++)
		if (misfits & (1u << i))
			counts->counts[i] += (uint64_t) times;
}

/* Get the misfits of all counted weights. */
static inline uint32_t
emogi_misfits_of(const EmogiMisfitCounts *counts)
{
	uint32_t	misfits = 0;

	for (int i = 0; i < 6; i++)
		misfits |= counts->counts[i] != 0 ? 1u << i : 0;
	return misfits;
}

/*
 * Set the format of a COO for these edges, with room for so many (at least edges->nedges); the
 * caller allocates the memory. If their keys are codes, min_key and max_key are the smallest and
 * the largest number that a key may have, and the caller sets the dictionary before the COO is
 * used.
 */
extern void emogi_coo_shape(EmogiCoo *coo, const EmogiEdges *edges, uint64_t room);

/*
 * emogi_coo_bytes: get the bytes of the block that holds the arrays of a COO of this format.
 * emogi_coo_view: point the COO into such a block, which is line-aligned.
 */
extern size_t emogi_coo_bytes(const EmogiCoo *coo);
extern void emogi_coo_view(EmogiCoo *coo, void *memory);

/* A range of places that hold edges. */
typedef struct EmogiCooRun
{
	uint64_t	first;
	uint64_t	count;
} EmogiCooRun;

/* Check whether two keys fit the format of a COO. All numbers of a dictionary must. */
static inline bool
emogi_coo_holds_keys(const EmogiCoo *coo, int64_t src, int64_t dst)
{
	uint64_t	span = coo->key_bytes == 8 ? UINT64_MAX : (UINT64_C(1) << (8 * coo->key_bytes)) - 1;

	if (coo->dictionary != NULL)
		return emogi_dictionary_nkeys(coo->dictionary) +
			emogi_dictionary_nadded(coo->dictionary) <= span;
	if ((uint64_t) src - (uint64_t) coo->base > span ||
		(uint64_t) dst - (uint64_t) coo->base > span)
		return false;
	return coo->key_bytes == 8 || (src >= coo->base && dst >= coo->base);
}

/* Check whether an edge fits the format of a COO. */
static inline bool
emogi_coo_holds(const EmogiCoo *coo, int64_t src, int64_t dst, double weight)
{
	if (!emogi_coo_holds_keys(coo, src, dst))
		return false;
	switch (coo->weight_type)
	{
		case EMOGI_WEIGHT_NONE:
		case EMOGI_WEIGHT_F64:
			return true;
		case EMOGI_WEIGHT_U8:
			return (emogi_weight_misfits(weight) & EMOGI_NOT_U8) == 0;
		case EMOGI_WEIGHT_U16:
			return (emogi_weight_misfits(weight) & EMOGI_NOT_U16) == 0;
		case EMOGI_WEIGHT_U32:
			return (emogi_weight_misfits(weight) & EMOGI_NOT_U32) == 0;
		case EMOGI_WEIGHT_F32:
			return (emogi_weight_misfits(weight) & EMOGI_NOT_F32) == 0;
	}
	return false;
}

/* Get a stored key: index 2 * place is the source, 2 * place + 1 the target. */
static inline uint64_t
emogi_coo_key(const EmogiCoo *coo, uint64_t index)
{
	const unsigned char *bytes;

	switch (coo->key_bytes)
	{
		case 3:
			bytes = (const unsigned char *) coo->keys + 3 * index;
			return bytes[0] | (uint32_t) bytes[1] << 8 | (uint32_t) bytes[2] << 16;
		case 4:
			return ((const uint32_t *) coo->keys)[index];
		default:
			return ((const uint64_t *) coo->keys)[index];
	}
}

/* Get the edge at a place; its weight is 0 if there are no weights. */
extern EmogiWeightedEdge emogi_coo_get(const EmogiCoo *coo, uint64_t place);

/* Store an edge that fits at a place. A weight of -0 is stored as 0. */
extern void emogi_coo_put(EmogiCoo *coo, uint64_t place, int64_t src, int64_t dst, double weight);

#endif							/* EMOGI_COO_H */
