/*
 * apply_delta.h: shared by apply_delta.c, which gets a call's graph from a change tracker,
 * apply_delta_merge.c, which makes it from an older graph, and apply_delta_build.c, which makes it
 * from all edges.
 */
#ifndef EMOGI_APPLY_DELTA_H
#define EMOGI_APPLY_DELTA_H

#include "acquire/acquire.h"
#include "acquire/cache_lookup.h"
#include "changes/changes.h"

/* A call that uses a change tracker. */
typedef struct EmogiDeltaCall
{
	EmogiCall  *call;
	EmogiSlot  *slot;
	const EmogiSource *source;
	const EmogiCacheLookup *lookup;
	EmogiChangeTracker *tracker;
	EmogiRefresh refresh;
	const EmogiGraphRequest *request;
	/* result: the graph, with an overlay of the changes since if it is an older one */
	EmogiGraphView *view;
} EmogiDeltaCall;

/* ---- apply_delta.c ---- */

extern bool emogi_apply_delta_show(EmogiDeltaCall *delta, EmogiGraphOrigin origin);
extern bool emogi_apply_delta_show_private(EmogiDeltaCall *delta, const EmogiGraph *graph,
										   EmogiDirection direction);

/* ---- apply_delta_merge.c ---- */

extern bool emogi_apply_delta_merge(EmogiDeltaCall *delta, const EmogiCached *base);

/* ---- apply_delta_build.c ---- */

extern bool emogi_apply_delta_build(EmogiDeltaCall *delta, bool done);
extern bool emogi_apply_delta_build_tracker(EmogiDeltaCall *delta);

#endif							/* EMOGI_APPLY_DELTA_H */
