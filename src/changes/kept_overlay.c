/*
 * kept_overlay.c: overlays that are kept between calls and grow
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "changes/kept_overlay.h"

#define CHANGES_PER_CHECK UINT64CONST(4096)
#define MIN_LENT 64

static uint64 nuses;

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

/* Count a use of an overlay. */
void
emogi_kept_overlay_use(EmogiKeptOverlay *overlay)
{
	overlay->used = ++nuses;
}

/* Return true if an overlay applies to a graph as a search sees it. */
bool
emogi_kept_overlay_matches(const EmogiKeptOverlay *overlay, uint64 graph, const EmogiGraph *shown,
						   EmogiDirection direction)
{
	return overlay->graph == graph && overlay->targets == shown->forward.targets &&
		overlay->weight_type == shown->weight_type && overlay->direction == direction &&
		!overlay->broken;
}

/*
 * Find the overlay of a graph, or the least recently used one to replace, that no other call
 * searches; NULL if there is none.
 */
EmogiKeptOverlay *
emogi_kept_overlay_find(EmogiKeptOverlay *overlays, int count, const EmogiCall *call, uint64 graph,
						const EmogiGraph *shown, EmogiDirection direction)
{
	EmogiKeptOverlay *place = NULL;

	for (int i = 0; i < count; i++)
	{
		EmogiKeptOverlay *overlay = &overlays[i];

		if (overlay->user != NULL && overlay->user != call &&
			emogi_call_is_active(overlay->user))
			continue;
		if (emogi_kept_overlay_matches(overlay, graph, shown, direction))
		{
			place = overlay;
			break;
		}
		if (place == NULL || overlay->used < place->used)
			place = overlay;
	}
	if (place != NULL)
		emogi_kept_overlay_use(place);
	return place;
}

/* Free an overlay. */
void
emogi_kept_overlay_free(EmogiKeptOverlay *overlay)
{
	const MemoryContext context = overlay->context;

	*overlay = (EmogiKeptOverlay) {.used = overlay->used};
	if (context != NULL)
		MemoryContextDelete(context);
}

/* Replace an overlay by one without changes, which is broken until it has grown. */
void
emogi_kept_overlay_begin(EmogiKeptOverlay *overlay, uint64 graph, const EmogiGraph *shown,
						 EmogiDirection direction)
{
	emogi_kept_overlay_free(overlay);
	overlay->broken = true;
	overlay->context = AllocSetContextCreate(TopMemoryContext, "emogi overlay",
											 ALLOCSET_DEFAULT_SIZES);
	overlay->growing = MemoryContextAlloc(overlay->context, sizeof *overlay->growing);
	overlay->graph = graph;
	overlay->targets = shown->forward.targets;
	overlay->weight_type = shown->weight_type;
	overlay->direction = direction;
	emogi_overlay_grow_begin(overlay->growing, shown, direction, resize, overlay->context);
}

/*
 * Add changes to an overlay; return false if it cannot take them. May be canceled. The overlay
 * stays broken then.
 */
bool
emogi_kept_overlay_grow(EmogiKeptOverlay *overlay, const EmogiEdgeChange *changes, uint64 nchanges)
{
	overlay->broken = true;
	for (uint64 i = 0; i < nchanges; i += CHANGES_PER_CHECK)
	{
		CHECK_FOR_INTERRUPTS();
		if (!emogi_overlay_grow(overlay->growing, changes + i,
								Min(nchanges - i, CHANGES_PER_CHECK)))
			return false;
	}
	overlay->broken = false;
	return true;
}

/* Remember changes, to undo them. */
static void
note_lent(EmogiKeptOverlay *overlay, const EmogiEdgeChange *changes, uint64 nchanges)
{
	const uint64 count = overlay->nlent + nchanges;

	if (count > overlay->lent_room)
	{
		overlay->lent_room = Max(Max(2 * overlay->lent_room, count), MIN_LENT);
		overlay->lent = resize(overlay->context, overlay->lent,
							   overlay->lent_room * sizeof *overlay->lent);
	}
	memcpy(overlay->lent + overlay->nlent, changes, nchanges * sizeof *changes);
	overlay->nlent = count;
}

/*
 * Add changes of the current transaction to an overlay that was lent, as emogi_kept_overlay_grow
 * does.
 */
bool
emogi_kept_overlay_grow_lent(EmogiKeptOverlay *overlay, const EmogiEdgeChange *changes,
							 uint64 nchanges)
{
	overlay->broken = true;
	if (nchanges > 0)
		note_lent(overlay, changes, nchanges);
	return emogi_kept_overlay_grow(overlay, changes, nchanges);
}

/*
 * Undo the changes that were added to an overlay while it was lent. Its graph must be pinned.
 * Return false if that is impossible; the overlay is broken then.
 */
bool
emogi_kept_overlay_undo_lent(EmogiKeptOverlay *overlay)
{
	const uint64 count = overlay->nlent;

	if (count == 0)
		return true;
	overlay->broken = true;
	overlay->nlent = 0;
	overlay->broken = !emogi_overlay_grow_undo(overlay->growing, overlay->lent, count);
	return !overlay->broken;
}
