/*
 * own_overlay.c: what the own transaction has changed beside a Graph, in patches that grow.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "changes/own_changes.h"

#define CHANGES_PER_CHECK UINT64CONST(4096)

/* Get memory of a patch; an EmogiResize. */
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

/* Is a patch one to a Graph as a search sees it? */
static bool
is_of(const EmogiOwnOverlay *patch, uint64 graph, const EmogiGraph *shown, EmogiDirection direction)
{
	return patch->graph == graph && patch->targets == shown->forward.targets && patch->weight_type == shown->weight_type &&
		patch->direction == direction && !patch->broken;
}

/* Find the patch to a Graph, or a place for it that no other call searches in; NULL without one. */
static EmogiOwnOverlay *
find_patch(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph, const EmogiGraph *shown, EmogiDirection direction)
{
	EmogiOwnOverlay   *place = NULL;

	for (int i = 0; i < EMOGI_OWN_PATCHES; i++)
	{
		EmogiOwnOverlay   *patch = &own->patches[i];

		if (patch->user != NULL && patch->user != call && emogi_call_is_active(patch->user))
			continue;
		if (is_of(patch, graph, shown, direction))
			return patch;
		if (place == NULL || patch->graph == 0 || (place->graph != 0 && patch->nchanges < place->nchanges))
			place = patch;
	}
	return place;
}

/* Add changes to a patch; false when that cannot be. May be canceled. */
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
 * Get the patch of all changes to a Graph as a search sees it, for a call until it ends: those since the Graph was made, and those of the
 * own transaction, which are kept; NULL when that cannot be.
 */
EmogiOverlay *
emogi_own_overlay(EmogiOwnChanges *own, const EmogiCall *call, uint64 graph, const EmogiGraph *shown, EmogiDirection direction,
				const EmogiEdgeChange *logged, uint64 nlogged)
{
	EmogiOwnOverlay   *patch = find_patch(own, call, graph, shown, direction);
	bool		grown = true;

	if (patch == NULL)
		return NULL;
	if (!is_of(patch, graph, shown, direction))
	{
		if (patch->context != NULL)
			MemoryContextDelete(patch->context);
		*patch = (EmogiOwnOverlay) {.context = AllocSetContextCreate(own->context, "emogi patch", ALLOCSET_DEFAULT_SIZES)};
		patch->broken = true;
		patch->graph = graph;
		patch->targets = shown->forward.targets;
		patch->weight_type = shown->weight_type;
		patch->direction = direction;
		emogi_overlay_grow_begin(&patch->growing, shown, direction, resize, patch->context);
		grown = grow(&patch->growing, logged, nlogged);
	}
	patch->broken = true;
	grown = grown && grow(&patch->growing, own->changes.changes + patch->nchanges, own->changes.count - patch->nchanges);
	patch->nchanges = own->changes.count;
	patch->broken = !grown;
	patch->user = grown ? call : NULL;
	return grown ? &patch->growing.patch : NULL;
}
