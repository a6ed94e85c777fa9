/*
 * kept_overlay.h: overlays that are kept between calls and grow: of the changes of the current
 * transaction (own_overlay.c), and of changes in a tracker's log (logged_overlay.c)
 */
#ifndef EMOGI_KEPT_OVERLAY_H
#define EMOGI_KEPT_OVERLAY_H

#include "contract/overlay_grow.h"
#include "cache/cache.h"
#include "call/call.h"

/* An overlay of the first nchanges changes. */
typedef struct EmogiKeptOverlay
{
	uint64		graph;			/* id of the graph; 0 = unused */
	const uint32 *targets;		/* identifies the graph's forward adjacency lists, as a search sees
								 * them */
	EmogiWeightType weight_type;
	EmogiDirection direction;
	uint64		tracker;		/* id of the tracker with the log; 0 = not of a log */
	uint64		nchanges;
	EmogiGraphKey wanted;		/* of own changes: what the last call requested that used it */
	uint64		used;			/* number of uses of all overlays up to its last one */
	bool		broken;
	const EmogiCall *user;		/* the last call that used it */
	MemoryContext context;
	EmogiGrowingOverlay growing;
} EmogiKeptOverlay;

extern EmogiKeptOverlay *emogi_kept_overlay_find(EmogiKeptOverlay *overlays, int count,
												 const EmogiCall *call, uint64 graph,
												 const EmogiGraph *shown,
												 EmogiDirection direction);
extern void emogi_kept_overlay_use(EmogiKeptOverlay *overlay);
extern bool emogi_kept_overlay_matches(const EmogiKeptOverlay *overlay, uint64 graph,
									   const EmogiGraph *shown, EmogiDirection direction);
extern void emogi_kept_overlay_begin(EmogiKeptOverlay *overlay, MemoryContext parent, uint64 graph,
									 const EmogiGraph *shown, EmogiDirection direction);
extern bool emogi_kept_overlay_grow(EmogiKeptOverlay *overlay, const EmogiEdgeChange *changes,
									uint64 nchanges);

#endif							/* EMOGI_KEPT_OVERLAY_H */
