/*
 * kept_overlay.h: overlays that are kept between calls and grow: of the changes of the current
 * transaction (own_overlay.c), and of changes in a tracker's log (logged_overlay.c)
 */
#ifndef EMOGI_KEPT_OVERLAY_H
#define EMOGI_KEPT_OVERLAY_H

#include "contract/overlay_grow.h"
#include "cache/cache.h"
#include "call/call.h"

/*
 * An overlay of the first nchanges changes of the current transaction, or of a log. The former is
 * made from the latter: the overlay is lent, and the changes of the transaction are undone before
 * it is used again.
 */
typedef struct EmogiKeptOverlay
{
	uint64		graph;			/* id of the graph; 0 = unused */
	const uint32 *targets;		/* identifies the graph's forward adjacency lists, as a search sees
								 * them */
	EmogiWeightType weight_type;
	EmogiDirection direction;
	uint64		tracker;		/* id of the tracker with the log; 0 = not of a log */
	uint64		nchanges;
	uint64		nlogged;		/* while it is lent: changes of the log below those */
	EmogiEdgeChange *lent;		/* [lent_room], changes that were added while it was lent */
	uint64		nlent;
	uint64		lent_room;
	EmogiGraphKey wanted;		/* of own changes: what the last call requested that used it */
	uint64		used;			/* number of uses of all overlays up to its last one */
	bool		broken;
	const EmogiCall *user;		/* the last call that used it */
	MemoryContext context;		/* NULL = none yet; child of TopMemoryContext, or after a drop
								 * during a search, of the dropped changes */
	Size		logged_bytes;	/* of a log: memory that its changes have taken */
	EmogiGrowingOverlay *growing;	/* in context */
} EmogiKeptOverlay;

extern EmogiKeptOverlay *emogi_kept_overlay_find(EmogiKeptOverlay *overlays, int count,
												 const EmogiCall *call, uint64 graph,
												 const EmogiGraph *shown,
												 EmogiDirection direction);
extern void emogi_kept_overlay_use(EmogiKeptOverlay *overlay);
extern bool emogi_kept_overlay_matches(const EmogiKeptOverlay *overlay, uint64 graph,
									   const EmogiGraph *shown, EmogiDirection direction);
extern void emogi_kept_overlay_begin(EmogiKeptOverlay *overlay, uint64 graph,
									 const EmogiGraph *shown, EmogiDirection direction);
extern bool emogi_kept_overlay_grow_lent(EmogiKeptOverlay *overlay, const EmogiEdgeChange *changes,
										 uint64 nchanges);
extern bool emogi_kept_overlay_undo_lent(EmogiKeptOverlay *overlay);
extern void emogi_kept_overlay_free(EmogiKeptOverlay *overlay);
extern bool emogi_kept_overlay_grow(EmogiKeptOverlay *overlay, const EmogiEdgeChange *changes,
									uint64 nchanges);

/* ---- logged_overlay.c ---- */

extern bool emogi_logged_overlay_lend(uint64 tracker, const EmogiCall *call, uint64 graph,
									  const EmogiGraph *shown, EmogiDirection direction,
									  const EmogiEdgeChange *logged, uint64 nlogged,
									  EmogiKeptOverlay *overlay);
extern void emogi_logged_overlay_return(EmogiKeptOverlay *overlay);

#endif							/* EMOGI_KEPT_OVERLAY_H */
