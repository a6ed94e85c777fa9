/*
 * whole_lists.h: the lists of a patched Graph, each as one range of arrays, for searches that go back and forth in a list.
 *
 * A list that has not changed is a range of the Graph's arrays. One that has changed and is of several pieces is put together when it is asked for
 * first, and kept.
 */
#ifndef EMOGI_WHOLE_LISTS_H
#define EMOGI_WHOLE_LISTS_H

#include "graph/overlay.h"
#include "threads/job.h"

/* A list that was put together: targets and weights alone. */
typedef struct EmogiMadeList
{
	EmogiAdjacency arrays;		/* targets = NULL: it was not asked for yet */
	void	   *memory;			/* NULL = they are those of a piece */
} EmogiMadeList;

/* The lists of one orientation. */
typedef struct EmogiWholeLists
{
	EmogiListsView view;
	EmogiMadeList *made;		/* [2^view.patched->bits], by the place of the list; NULL = none was asked for yet */
	EmogiJob   *job;
	uint64_t   *bytes;			/* in use, of the search */
	uint64_t	most_bytes;
} EmogiWholeLists;

/* A list: the entries [first, end) of arrays. */
typedef struct EmogiListRange
{
	const EmogiAdjacency *lists;
	uint64_t	first;
	uint64_t	end;
} EmogiListRange;

/* Begin to ask for lists. bytes: what the search has in use, most_bytes at most. */
static inline void
emogi_whole_lists_begin(EmogiWholeLists *lists, EmogiListsView view, EmogiJob *job, uint64_t *bytes, uint64_t most_bytes)
{
	*lists = (EmogiWholeLists) {.view = view,.job = job,.bytes = bytes,.most_bytes = most_bytes};
}

/* Get a list that has changed; an empty range, with the job failed, without memory. */
extern EmogiListRange emogi_whole_lists_make(EmogiWholeLists *lists, const EmogiOverlayList *list);

/* Free what was put together. */
extern void emogi_whole_lists_end(EmogiWholeLists *lists);

/* Get a list; an empty range, with the job failed, without memory. It lasts until the end. */
static inline EmogiListRange
emogi_whole_list(EmogiWholeLists *lists, uint32_t vertex)
{
	const EmogiListsView *view = &lists->view;

	if (view->patched != NULL)
	{
		const EmogiOverlayList *list = emogi_overlay_place(view->patched, vertex);

		if (list->vertex != 0)
			return emogi_whole_lists_make(lists, list);
	}
	if (vertex >= view->nvertices)
		return (EmogiListRange) {view->lists, 0, 0};
	return (EmogiListRange) {view->lists, view->lists->offsets[vertex], view->lists->offsets[vertex + UINT64_C(1)]};
}

#endif							/* EMOGI_WHOLE_LISTS_H */
