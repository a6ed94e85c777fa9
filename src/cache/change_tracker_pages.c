/*
 * change_tracker_pages.c: the layout of a change tracker's arrays, one entry per page, in a block
 */
#include "postgres.h"

#include "cache/change_tracker.h"

/* Return the next array of an allocation, 8-byte aligned, and advance past it. */
static void *
carve(char **place, Size bytes)
{
	void	   *array = *place;

	*place += MAXALIGN(bytes);
	return array;
}

/* Point the arrays of pages into an allocation that begins at `place`; return its end. */
static char *
view_pages(EmogiTrackedPages *pages, char *place)
{
	pages->leaves = carve(&place, pages->nleaves * sizeof(EmogiTrackedTable));
	pages->running = carve(&place, EMOGI_MAX_RUNNING * sizeof(uint64));
	pages->group_lsn = carve(&place, pages->ngroups * sizeof(uint64));
	pages->trusted = carve(&place, pages->npages / 64 * sizeof(uint64));
	pages->lsn = carve(&place, pages->npages * sizeof(uint64));
	pages->newest = carve(&place, pages->npages * sizeof(uint64));
	pages->place = carve(&place, pages->npages * sizeof(uint64));
	pages->buffer = carve(&place, pages->npages * sizeof(Buffer));
	pages->nedges = carve(&place, pages->npages * sizeof(uint16));
	pages->nskipped = carve(&place, pages->npages * sizeof(uint16));
	return place;
}

Size
emogi_change_tracker_pages_bytes(int nleaves, uint64 npages, uint64 ngroups)
{
	EmogiTrackedPages pages = {.nleaves = nleaves, .npages = npages, .ngroups = ngroups};

	return view_pages(&pages, NULL) - (char *) NULL;
}

void
emogi_change_tracker_view_pages(EmogiTrackedPages *pages, void *block, int nleaves, uint64 npages,
								uint64 ngroups)
{
	*pages = (EmogiTrackedPages) {.nleaves = nleaves, .npages = npages, .ngroups = ngroups};
	view_pages(pages, block);
}
