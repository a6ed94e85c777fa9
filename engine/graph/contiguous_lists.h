/*
 * contiguous_lists.h: adjacency lists of a graph with an overlay, each as one contiguous range, for
 * searches that go back and forth in a list
 *
 * An unchanged list is a range of the graph's arrays. A changed list of several pieces is copied
 * into one array on first use and kept. The cost of a search does not depend on the number of
 * changed lists that it does not use.
 */
#ifndef EMOGI_CONTIGUOUS_LISTS_H
#define EMOGI_CONTIGUOUS_LISTS_H

#include "contract/overlay.h"
#include "threads/job.h"

/* A changed list that has been used. */
typedef struct EmogiJoinedList
{
	uint32_t	vertex;			/* + 1; 0 = free slot */
	EmogiAdjacency *arrays;		/* targets and weights only: those of the only piece, or a copy
								 * behind the struct */
} EmogiJoinedList;

#define HASH_PREFIX joined_list
#define HASH_ENTRY EmogiJoinedList
#define HASH_STORED(list) (list)->vertex
#define HASH_MIN_BITS 5
#include "containers/hash_table.h"

/* The lists of one direction. */
typedef struct EmogiContiguousLists
{
	EmogiListsView view;
	EmogiJoinedList *made;		/* [2^bits]; NULL = none used yet */
	int			bits;
	uint64_t	nmade;
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
