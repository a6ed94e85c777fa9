/*
 * logged_overlay.c: growing overlays that apply the changes in a tracker's log to graphs
 *
 * A session that searches beside writers, or is one, would otherwise make an overlay of all changes
 * since the graph was built in each call. The changes between two positions of a tracker are the
 * same for all calls.
 *
 * A transaction that has changed the tables itself borrows such an overlay, adds its own changes
 * (own_overlay.c), and returns it at its end. The changes are undone when the overlay is used next,
 * because nothing may fail at the end of a transaction.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "changes/changes.h"
#include "changes/kept_overlay.h"

#define LOGGED_OVERLAYS 4

/*
 * A returned overlay is freed if undoing its changes costs more than making it again, that is, if
 * there are more than nlogged + MIN_KEPT, or if it is large. Undone changes leave their lists and
 * edges in it, so its memory is limited to max(MIN_KEPT_BYTES, KEPT_GROWTH * logged_bytes).
 */
#define MIN_KEPT 256
#define MAX_KEPT_CHANGES 16384
#define MIN_KEPT_BYTES (4 * 1024 * 1024)
#define KEPT_GROWTH 4

static EmogiKeptOverlay overlays[LOGGED_OVERLAYS];

/* Get a kept overlay with all changes in the log; NULL if there can be none. */
static EmogiKeptOverlay *
get(uint64 tracker, const EmogiCall *call, uint64 graph, const EmogiGraph *shown,
	EmogiDirection direction, const EmogiEdgeChange *logged, uint64 nlogged)
{
	EmogiKeptOverlay *overlay = emogi_kept_overlay_find(overlays, LOGGED_OVERLAYS, call, graph,
														shown, direction);
	Size		bytes;
	bool		grown;

	if (overlay == NULL)
		return NULL;
	if (!emogi_kept_overlay_matches(overlay, graph, shown, direction) ||
		overlay->tracker != tracker || overlay->nchanges > nlogged ||
		!emogi_kept_overlay_undo_lent(overlay))
		emogi_kept_overlay_begin(overlay, graph, shown, direction);
	bytes = MemoryContextMemAllocated(overlay->context, true);
	grown = emogi_kept_overlay_grow(overlay, logged + overlay->nchanges,
									nlogged - overlay->nchanges);
	overlay->logged_bytes += MemoryContextMemAllocated(overlay->context, true) - bytes;
	overlay->tracker = tracker;
	overlay->nchanges = nlogged;
	overlay->user = grown ? call : NULL;
	return grown ? overlay : NULL;
}

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
	EmogiKeptOverlay *overlay = get(tracker->id, call, graph, shown, direction, logged, nlogged);

	return overlay != NULL ? &overlay->growing->overlay : NULL;
}

/*
 * Lend the overlay of logged changes, so that the current transaction can add its own: move it to
 * *overlay. Return false if there can be none.
 */
bool
emogi_logged_overlay_lend(uint64 tracker, const EmogiCall *call, uint64 graph,
						  const EmogiGraph *shown, EmogiDirection direction,
						  const EmogiEdgeChange *logged, uint64 nlogged, EmogiKeptOverlay *overlay)
{
	EmogiKeptOverlay *kept = get(tracker, call, graph, shown, direction, logged, nlogged);

	if (kept == NULL)
		return false;
	emogi_overlay_grow_mark(kept->growing);
	*overlay = *kept;
	overlay->nlogged = overlay->nchanges;
	overlay->nchanges = 0;
	*kept = (EmogiKeptOverlay) {0};
	return true;
}

/* Find a place for an overlay that is returned; NULL if calls search all. */
static EmogiKeptOverlay *
find_place(void)
{
	EmogiKeptOverlay *place = NULL;

	for (int i = 0; i < LOGGED_OVERLAYS; i++)
		if ((overlays[i].user == NULL || !emogi_call_is_active(overlays[i].user)) &&
			(place == NULL || overlays[i].used < place->used))
			place = &overlays[i];
	return place;
}

/* Check whether an overlay that was lent is worth keeping. */
static bool
is_useful(const EmogiKeptOverlay *overlay)
{
	return overlay->context != NULL && !overlay->broken &&
		overlay->nlent <= overlay->nlogged + MIN_KEPT && overlay->nlogged <= MAX_KEPT_CHANGES &&
		MemoryContextMemAllocated(overlay->context, true) <=
		Max(MIN_KEPT_BYTES, KEPT_GROWTH * overlay->logged_bytes);
}

/*
 * Take an overlay back that was lent, and which no call searches, or free it. Raises nothing, and
 * allocates nothing.
 */
void
emogi_logged_overlay_return(EmogiKeptOverlay *overlay)
{
	EmogiKeptOverlay *place = is_useful(overlay) ? find_place() : NULL;

	if (place == NULL)
	{
		emogi_kept_overlay_free(overlay);
		return;
	}
	emogi_kept_overlay_free(place);
	*place = *overlay;
	place->nchanges = overlay->nlogged;
	place->user = NULL;
	*overlay = (EmogiKeptOverlay) {0};
}
