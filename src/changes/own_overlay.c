/*
 * own_overlay.c: growing overlays that apply kept changes of the session's transactions to graphs.
 * They are borrowed from logged_overlay.c.
 */
#include "postgres.h"

#include "changes/own_changes.h"

/* Maximum number of changes that an overlay may lack after a call. */
#define MAX_POSTPONED 1024

/*
 * Get the overlay of all changes to a graph as a search sees it: the logged changes since the graph
 * was built and the kept ones of the current transaction. It is the call's until the call ends.
 * Return NULL if there can be none.
 */
EmogiOverlay *
emogi_own_overlay(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph,
				  const EmogiGraph *shown, EmogiDirection direction, const EmogiGraphKey *wanted,
				  const EmogiEdgeChange *logged, uint64 nlogged)
{
	EmogiKeptOverlay *overlay = emogi_kept_overlay_find(own->overlays, EMOGI_MAX_OWN_OVERLAYS, call,
														graph, shown, direction);
	bool		grown;

	if (overlay == NULL)
		return NULL;
	if (!emogi_kept_overlay_matches(overlay, graph, shown, direction))
	{
		emogi_logged_overlay_return(overlay);
		if (!emogi_logged_overlay_lend(own->state_id, call, graph, shown, direction, logged,
									   nlogged, overlay))
			return NULL;
	}
	emogi_kept_overlay_use(overlay);
	grown = emogi_kept_overlay_grow_lent(overlay, own->changes.changes + overlay->nchanges,
										 own->changes.count - overlay->nchanges);
	overlay->nchanges = own->changes.count;
	overlay->user = grown ? call : NULL;
	overlay->wanted = *wanted;
	return grown ? &overlay->growing->overlay : NULL;
}

/* Return true if calls that request these graphs get the same graph of one source. */
static bool
is_same_request(const EmogiGraphKey *a, const EmogiGraphKey *b)
{
	return a->weights == b->weights && a->direction == b->direction &&
		a->any_direction == b->any_direction && a->with_backward == b->with_backward &&
		a->weight == b->weight;
}

/*
 * Find the overlay that an earlier call with the same request has used, unless another call still
 * searches it; NULL if there is none.
 */
EmogiKeptOverlay *
emogi_own_overlay_find(EmogiOwnChanges *own, const EmogiCall *call, const EmogiGraphKey *wanted)
{
	for (int i = 0; i < EMOGI_MAX_OWN_OVERLAYS; i++)
	{
		EmogiKeptOverlay *overlay = &own->overlays[i];

		if (overlay->graph != 0 && !overlay->broken && is_same_request(&overlay->wanted, wanted) &&
			(overlay->user == NULL || overlay->user == call ||
			 !emogi_call_is_active(overlay->user)))
			return overlay;
	}
	return NULL;
}

/* Add the changes that an overlay lacks, for a call; return false if it cannot take them. */
bool
emogi_own_overlay_follow(EmogiOwnChanges *own, const EmogiCall *call, EmogiKeptOverlay *overlay)
{
	const uint64 first = overlay->nchanges;

	overlay->nchanges = own->changes.count;
	if (!emogi_kept_overlay_grow_lent(overlay, own->changes.changes + first,
									  own->changes.count - first))
		return false;
	overlay->user = call;
	emogi_kept_overlay_use(overlay);
	return true;
}

/*
 * Let a call use an overlay without the changes that it lacks, because the call needs none; return
 * false if they are so many that they must be added.
 */
bool
emogi_own_overlay_postpone(const EmogiOwnChanges *own, const EmogiCall *call,
						   EmogiKeptOverlay *overlay)
{
	if (own->changes.count - overlay->nchanges > MAX_POSTPONED)
		return false;
	overlay->user = call;
	emogi_kept_overlay_use(overlay);
	return true;
}

/* Count the changes that the best overlay of a graph lacks; PG_UINT64_MAX = there is none. */
uint64
emogi_own_overlay_missing(const EmogiOwnChanges *own, uint64 graph)
{
	uint64		missing = PG_UINT64_MAX;

	for (int i = 0; i < EMOGI_MAX_OWN_OVERLAYS; i++)
		if (own->overlays[i].graph == graph && !own->overlays[i].broken)
			missing = Min(missing, own->changes.count - own->overlays[i].nchanges);
	return missing;
}

/*
 * Check whether an earlier call has merged the changes into a graph of its own, because they were
 * too many for a first overlay. Otherwise this call does.
 */
bool
emogi_own_overlay_merged_before(EmogiOwnChanges *own)
{
	const bool	merged = own->is_merged;

	own->is_merged = true;
	return merged;
}
