/*
 * own_overlay.c: growing overlays that apply the current transaction's changes to graphs
 */
#include "postgres.h"

#include "changes/own_changes.h"

/*
 * Get the overlay of all changes to a graph as a search sees it: the logged changes since the graph
 * was built and the kept ones of the current transaction. It is the call's until the call ends.
 * Return NULL if there can be none.
 */
EmogiOverlay *
emogi_own_overlay(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph,
				  const EmogiGraph *shown, EmogiDirection direction, const EmogiEdgeChange *logged,
				  uint64 nlogged)
{
	EmogiKeptOverlay *patch = emogi_kept_overlay_find(own->patches, EMOGI_OWN_PATCHES, call, graph,
													  shown, direction);
	bool		grown = true;

	if (patch == NULL)
		return NULL;
	if (!emogi_kept_overlay_matches(patch, graph, shown, direction))
	{
		emogi_kept_overlay_begin(patch, own->context, graph, shown, direction);
		grown = emogi_kept_overlay_grow(patch, logged, nlogged);
	}
	grown = grown && emogi_kept_overlay_grow(patch, own->changes.changes + patch->nchanges,
											 own->changes.count - patch->nchanges);
	patch->nchanges = own->changes.count;
	patch->user = grown ? call : NULL;
	return grown ? &patch->growing.patch : NULL;
}

/* Return how many of the changes the best overlay of a graph lacks; PG_UINT64_MAX = there is none. */
uint64
emogi_own_overlay_missing(const EmogiOwnChanges *own, uint64 graph)
{
	uint64		missing = PG_UINT64_MAX;

	for (int i = 0; i < EMOGI_OWN_PATCHES; i++)
		if (own->patches[i].graph == graph && !own->patches[i].broken)
			missing = Min(missing, own->changes.count - own->patches[i].nchanges);
	return missing;
}
