/*
 * overlay_grow.h: overlay that grows by changes as they come, at the cost of the changed lists,
 * instead of being rebuilt
 *
 * It has the same edges as the overlay that emogi_overlay_make builds of the same changes. New
 * vertices are numbered in the order in which they came.
 */
#ifndef EMOGI_OVERLAY_GROW_H
#define EMOGI_OVERLAY_GROW_H

#include "contract/overlay.h"

/*
 * Allocate memory if `memory` is NULL, otherwise resize it; 0 bytes free it. New memory may have
 * any content. Does not return on failure.
 */
typedef void *(*EmogiResize) (void *arg, void *memory, size_t bytes);

/* Memory of one direction. */
typedef struct EmogiGrowingLists
{
	EmogiOverlayLists *changed_lists;
	const EmogiAdjacency *from;
	uint64_t	nlists;
	uint64_t	npieces;		/* allocated; each list has capacity for a power of 2 */
	uint64_t	pieces_room;
	uint32_t   *targets;		/* [room], added edges; the current block, all others are full */
	char	   *weights;		/* [room] */
	uint64_t	nadded;
	uint64_t	room;
} EmogiGrowingLists;

typedef struct EmogiGrowingOverlay
{
	EmogiOverlay overlay;		/* for searches, until the next change */
	EmogiGraph	graph;
	EmogiDirection direction;
	EmogiGrowingLists lists[2];	/* forward, backward */
	uint64_t	new_room;
	uint64_t	losers_room;
	uint64_t	nlosers;		/* noted behind overlay.losers, in any order */
	uint32_t   *noted;			/* [noted_room], scratch memory of their merge */
	uint64_t	noted_room;
	uint64_t	marked_new;		/* overlay.nnew at the mark */
	uint64_t	nmarked;		/* overlay.nlosers at the mark */
	uint32_t   *marked;			/* [marked_room], copy of overlay.losers at the mark */
	uint64_t	marked_room;
	EmogiResize resize;
	void	   *arg;
} EmogiGrowingOverlay;

/*
 * Begin an overlay without changes of a graph as a search sees it. The graph's arrays must remain.
 * direction: that of its forward lists.
 */
extern void emogi_overlay_grow_begin(EmogiGrowingOverlay *growing, const EmogiGraph *graph,
									 EmogiDirection direction, EmogiResize resize, void *arg);

/*
 * Add changes in their order; an edge to be removed must exist at that point. Returns false in the
 * cases of emogi_overlay_make. The overlay must not be used then, nor if resize did not return.
 */
extern bool emogi_overlay_grow(EmogiGrowingOverlay *growing, const EmogiEdgeChange *changes,
							   uint64_t nchanges);

/* Mark the overlay's present state. It can be restored as long as changes can be undone. */
extern void emogi_overlay_grow_mark(EmogiGrowingOverlay *growing);

/*
 * Restore the marked state. changes: all that were added since the mark, in that order. Returns
 * false if an edge is not there; then the overlay must not be used.
 */
extern bool emogi_overlay_grow_undo(EmogiGrowingOverlay *growing, const EmogiEdgeChange *changes,
									uint64_t nchanges);

#endif							/* EMOGI_OVERLAY_GROW_H */
