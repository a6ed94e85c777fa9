/*
 * own_overlay.c: growing overlays that apply the current transaction's changes to graphs
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "changes/own_changes.h"

#define CHANGES_PER_CHECK UINT64CONST(4096)

/* Resize memory of an overlay; an EmogiResize. */
static void *
resize(void *context, void *memory, size_t bytes)
{
	if (bytes == 0)
	{
		pfree(memory);
		return NULL;
	}
	return memory == NULL ? MemoryContextAllocHuge(context, bytes) : repalloc_huge(memory, bytes);
}

/* Return true if an overlay applies to a graph as a search sees it. */
static bool
matches(const EmogiOwnOverlay *patch, uint64 graph, const EmogiGraph *shown,
		EmogiDirection direction)
{
	return patch->graph == graph && patch->targets == shown->forward.targets &&
		patch->weight_type == shown->weight_type && patch->direction == direction && !patch->broken;
}

/*
 * Find the overlay of a graph, or a slot for it that no other call searches; NULL if there is none.
 */
static EmogiOwnOverlay *
find_patch(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph, const EmogiGraph *shown,
		   EmogiDirection direction)
{
	EmogiOwnOverlay *place = NULL;

	for (int i = 0; i < EMOGI_OWN_PATCHES; i++)
	{
		EmogiOwnOverlay *patch = &own->patches[i];

		if (patch->user != NULL && patch->user != call && emogi_call_is_active(patch->user))
			continue;
		if (matches(patch, graph, shown, direction))
			return patch;
		if (place == NULL || patch->graph == 0 ||
			(place->graph != 0 && patch->nchanges < place->nchanges))
			place = patch;
	}
	return place;
}

/* Add changes to an overlay; return false if it cannot take them. May be canceled. */
static bool
grow(EmogiGrowingOverlay *growing, const EmogiEdgeChange *changes, uint64 nchanges)
{
	for (uint64 i = 0; i < nchanges; i += CHANGES_PER_CHECK)
	{
		CHECK_FOR_INTERRUPTS();
		if (!emogi_overlay_grow(growing, changes + i, Min(nchanges - i, CHANGES_PER_CHECK)))
			return false;
	}
	return true;
}

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
	EmogiOwnOverlay *patch = find_patch(own, call, graph, shown, direction);
	bool		grown = true;

	if (patch == NULL)
		return NULL;
	if (!matches(patch, graph, shown, direction))
	{
		if (patch->context != NULL)
			MemoryContextDelete(patch->context);
		*patch = (EmogiOwnOverlay) {.context = AllocSetContextCreate(own->context, "emogi patch",
																	 ALLOCSET_DEFAULT_SIZES)};
		patch->broken = true;
		patch->graph = graph;
		patch->targets = shown->forward.targets;
		patch->weight_type = shown->weight_type;
		patch->direction = direction;
		emogi_overlay_grow_begin(&patch->growing, shown, direction, resize, patch->context);
		grown = grow(&patch->growing, logged, nlogged);
	}
	patch->broken = true;
	grown = grown && grow(&patch->growing, own->changes.changes + patch->nchanges,
						  own->changes.count - patch->nchanges);
	patch->nchanges = own->changes.count;
	patch->broken = !grown;
	patch->user = grown ? call : NULL;
	return grown ? &patch->growing.patch : NULL;
}
