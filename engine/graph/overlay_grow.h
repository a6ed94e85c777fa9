/*
 * overlay_grow.h: a patch to which changes are added as they come, each at the cost of its own lists, instead of being made anew of all.
 *
 * It leads where the patch that emogi_overlay_make makes of the same changes does. Vertices that are new have numbers in the order in which they came.
 */
#ifndef EMOGI_OVERLAY_GROW_H
#define EMOGI_OVERLAY_GROW_H

#include "graph/overlay.h"

/* Get memory of so many bytes, or more for what is there: any content behind it, or a jump. */
typedef void *(*EmogiResize) (void *arg, void *memory, size_t bytes);

/* Room of an orientation. */
typedef struct EmogiGrowingLists
{
	EmogiOverlayLists *patched;
	const EmogiAdjacency *from;
	uint64_t	nlists;
	uint64_t	npieces;		/* taken; those of a list have room for a power of 2 of them */
	uint64_t	pieces_room;
	uint32_t   *targets;		/* [room], of entries that come; a block of them, the others are full */
	char	   *weights;		/* [room] */
	uint64_t	nadded;
	uint64_t	room;
} EmogiGrowingLists;

typedef struct EmogiGrowingOverlay
{
	EmogiOverlay	patch;			/* for searches, until the next change */
	EmogiGraph	graph;
	EmogiDirection direction;
	EmogiGrowingLists lists[2]; /* forward, backward */
	uint64_t	new_room;
	uint64_t	losers_room;
	EmogiResize resize;
	void	   *arg;
} EmogiGrowingOverlay;

/* Begin a patch of no changes to a Graph as a search sees it, whose arrays must stay. direction: of its forward lists. */
extern void emogi_overlay_grow_begin(EmogiGrowingOverlay *growing, const EmogiGraph *graph, EmogiDirection direction, EmogiResize resize, void *arg);

/*
 * Add changes, in their order: an edge that is to go must be there by then. False when that cannot be, as for emogi_overlay_make; the patch is of no use
 * then, nor after a jump.
 */
extern bool emogi_overlay_grow(EmogiGrowingOverlay *growing, const EmogiEdgeChange *changes, uint64_t nchanges);

#endif							/* EMOGI_OVERLAY_GROW_H */
