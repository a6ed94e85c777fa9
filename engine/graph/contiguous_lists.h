/*
 * contiguous_lists.h: adjacency lists of a graph with an overlay, each as one contiguous range, for
 * searches that go back and forth in a list
 *
 * An unchanged list is a range of the graph's arrays. A changed list of several pieces is copied
 * into one array on first use and kept.
 */
#ifndef EMOGI_CONTIGUOUS_LISTS_H
#define EMOGI_CONTIGUOUS_LISTS_H

#include "contract/overlay.h"
#include "threads/job.h"

/* A contiguous copy of a list: targets and weights only. */
typedef struct EmogiJoinedList
{
	EmogiAdjacency arrays;		/* targets = NULL: not used yet */
	void	   *memory;			/* NULL = the arrays are those of a piece */
} EmogiJoinedList;

/* The lists of one direction. */
typedef struct EmogiContiguousLists
{
	EmogiListsView view;
	EmogiJoinedList *made;		/* [2^view.changed_lists->bits], by the slot of the list; NULL
								 * = none used yet */
	EmogiJob   *job;
	uint64_t   *bytes;			/* allocated by the search */
	uint64_t	max_bytes;
} EmogiContiguousLists;

/* A list: the edges [first, end) of arrays. */
typedef struct EmogiListRange
{
	const EmogiAdjacency *lists;
	uint64_t	first;
	uint64_t	end;
} EmogiListRange;

/* Initialize the lists. bytes: memory allocated by the search, at most max_bytes. */
static inline void
emogi_contiguous_lists_begin(EmogiContiguousLists *lists, EmogiListsView view, EmogiJob *job,
							 uint64_t *bytes, uint64_t max_bytes)
{
	*lists = (EmogiContiguousLists) {.view = view,.job = job,.bytes = bytes,.max_bytes = max_bytes};
}

/* Get a changed list; an empty range, and the job failed, if out of memory. */
extern EmogiListRange emogi_contiguous_lists_make(EmogiContiguousLists *lists,
												  const EmogiOverlayList *list);

/* Free the copies. */
extern void emogi_contiguous_lists_end(EmogiContiguousLists *lists);

/*
 * Get a list; an empty range, and the job failed, if out of memory. It is valid until
 * emogi_contiguous_lists_end.
 */
static inline EmogiListRange
emogi_contiguous_list(EmogiContiguousLists *lists, uint32_t vertex)
{
	const EmogiListsView *view = &lists->view;

	if (view->changed_lists != NULL)
	{
		const EmogiOverlayList *list = emogi_overlay_place(view->changed_lists, vertex);

		if (list->vertex != 0)
			return emogi_contiguous_lists_make(lists, list);
	}
	if (vertex >= view->nvertices)
		return (EmogiListRange) {view->lists, 0, 0};
	return (EmogiListRange) {view->lists, view->lists->offsets[vertex],
							 view->lists->offsets[vertex + UINT64_C(1)]};
}

#endif							/* EMOGI_CONTIGUOUS_LISTS_H */
