/*
 * logged_overlay.c: growing overlays that apply the changes in a tracker's log to graphs
 *
 * A session that searches beside writers, or is one, would otherwise make an overlay of all changes
 * since the graph was built in each call. The changes between two positions of a tracker are the
 * same for all calls.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "changes/changes.h"
#include "changes/kept_overlay.h"

#define LOGGED_OVERLAYS 4

static EmogiKeptOverlay overlays[LOGGED_OVERLAYS];

/*
 * Get the overlay of logged changes to a graph as a search sees it: all changes in the log of a
 * tracker since the graph was built. It is the call's until the call ends. Return NULL if there can
 * be none.
 */
EmogiOverlay *
emogi_logged_overlay(const EmogiChangeTracker *tracker, const EmogiCall *call, uint64 graph,
					 const EmogiGraph *shown, EmogiDirection direction,
					 const EmogiEdgeChange *logged, uint64 nlogged)
{
	EmogiKeptOverlay *overlay = emogi_kept_overlay_find(overlays, LOGGED_OVERLAYS, call, graph,
														shown, direction);
	bool		grown;

	if (overlay == NULL)
		return NULL;
	if (!emogi_kept_overlay_matches(overlay, graph, shown, direction) ||
		overlay->tracker != tracker->id || overlay->nchanges > nlogged)
		emogi_kept_overlay_begin(overlay, TopMemoryContext, graph, shown, direction);
	grown = emogi_kept_overlay_grow(overlay, logged + overlay->nchanges,
									nlogged - overlay->nchanges);
	overlay->tracker = tracker->id;
	overlay->nchanges = nlogged;
	overlay->user = grown ? call : NULL;
	return grown ? &overlay->growing.overlay : NULL;
}
