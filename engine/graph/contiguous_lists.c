/*
 * contiguous_lists.c: contiguous copies of the changed adjacency lists of a graph with an overlay
 */
#include "contiguous_lists.h"

#include <stdlib.h>
#include <string.h>

/* Allocate memory for the search; NULL, and the job failed, if out of memory. */
static void *
allocate(EmogiContiguousLists *lists, uint64_t bytes)
{
	void	   *memory = NULL;

	if (*lists->bytes + bytes <= lists->max_bytes && emogi_job_may_allocate(lists->job))
		memory = calloc(bytes > 0 ? bytes : 1, 1);
	if (memory == NULL)
		emogi_job_fail(lists->job, EMOGI_NO_MEMORY);
	else
		*lists->bytes += bytes;
	return memory;
}

/* Copy the pieces of a list into one array; false, and the job failed, if out of memory. */
static bool
join_pieces(EmogiContiguousLists *lists, const EmogiOverlayList *list, EmogiJoinedList *made)
{
	const EmogiListPiece *pieces = &lists->view.changed_lists->pieces[list->first];
	const size_t weight_bytes = emogi_weight_bytes(lists->view.weight_type);
	char	   *weights;
	uint32_t   *targets;
	uint64_t	place = 0;

	if (list->npieces == 1)
	{
		made->arrays.targets = pieces->targets;
		made->arrays.weights = pieces->weights;
		return true;
	}
	/* weights first, because their alignment is larger */
	made->memory = allocate(lists, list->degree * (weight_bytes + sizeof *targets));
	if (made->memory == NULL)
		return false;
	weights = made->memory;
	targets = (uint32_t *) (weights + list->degree * weight_bytes);
	if (weight_bytes % sizeof *targets != 0)
	{
		targets = made->memory;
		weights = (char *) (targets + list->degree);
	}
	for (uint32_t i = 0; i < list->npieces; i++)
	{
		memcpy(targets + place, pieces[i].targets, pieces[i].count * sizeof *targets);
		if (weight_bytes > 0)
			memcpy(weights + place * weight_bytes, pieces[i].weights,
				   pieces[i].count * weight_bytes);
		place += pieces[i].count;
	}
	made->arrays.targets = targets;
	made->arrays.weights = weight_bytes > 0 ? weights : NULL;
	return true;
}

EmogiListRange
emogi_contiguous_lists_make(EmogiContiguousLists *lists, const EmogiOverlayList *list)
{
	const EmogiOverlayLists *changed_lists = lists->view.changed_lists;
	const EmogiListRange none = {lists->view.lists, 0, 0};
	EmogiJoinedList *made;

	if (list->degree == 0)
		return none;
	if (lists->made == NULL)
		lists->made = allocate(lists, sizeof *lists->made << changed_lists->bits);
	if (lists->made == NULL)
		return none;
	made = &lists->made[list - changed_lists->lists];
	if (made->arrays.targets == NULL && !join_pieces(lists, list, made))
		return none;
	return (EmogiListRange) {&made->arrays, 0, list->degree};
}

void
emogi_contiguous_lists_end(EmogiContiguousLists *lists)
{
	if (lists->made == NULL)
		return;
	for (uint64_t i = 0; i < UINT64_C(1) << lists->view.changed_lists->bits; i++)
		free(lists->made[i].memory);
	free(lists->made);
	lists->made = NULL;
}
