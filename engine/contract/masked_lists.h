/*
 * masked_lists.h: the passing edges of adjacency lists, with the changes of an overlay
 *
 * The overlay is one that emogi_overlay_make has built with the mask, of changes that pass. So all
 * edges that it adds pass.
 */
#ifndef EMOGI_MASKED_LISTS_H
#define EMOGI_MASKED_LISTS_H

#include "contract/edge_mask.h"
#include "contract/overlay.h"

/* The lists of one direction, and the edges of one that pass. */
typedef struct EmogiMaskedView
{
	EmogiListsView view;
	EmogiMaskedLists *lists;	/* NULL = these lists cannot be read */
	uint64_t	room;
	uint32_t   *targets;		/* [room], malloc'ed */
	void	   *weights;		/* [room] of the view's type, in the same block */
	EmogiListPiece piece;
} EmogiMaskedView;

/* Begin to read lists; overlay NULL = no changes. */
extern EmogiMaskedView emogi_masked_forward(const EmogiGraph *graph, const EmogiOverlay *overlay,
											EmogiEdgeMask *mask);
extern EmogiMaskedView emogi_masked_backward(const EmogiGraph *graph, const EmogiOverlay *overlay,
											 EmogiEdgeMask *mask);

/* Get the passing edges of a list, valid until the next call; NULL if out of memory. */
extern const EmogiListPiece *emogi_masked_list(EmogiMaskedView *masked, uint32_t vertex);

/* Free the memory of a view. */
extern void emogi_masked_free(EmogiMaskedView *masked);

/* Find out whether a vertex has an edge that passes. */
extern EmogiOverlayPresence emogi_masked_presence(const EmogiGraph *graph,
												  const EmogiOverlay *overlay,
												  EmogiEdgeMask *mask, uint32_t vertex);

#endif							/* EMOGI_MASKED_LISTS_H */
