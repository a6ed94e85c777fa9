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

/*
 * Get the arrays of a list of one piece, or of a copy of all pieces; NULL, and the job failed, if
 * out of memory.
 */
static EmogiAdjacency *
join_pieces(EmogiContiguousLists *lists, const EmogiOverlayList *list)
{
	const EmogiListPiece *pieces = &lists->view.changed_lists->pieces[list->first];
	const size_t weight_bytes = emogi_weight_bytes(lists->view.weight_type);
	const uint64_t copied = list->npieces == 1 ? 0 : list->degree;
	EmogiAdjacency *arrays =
		allocate(lists, sizeof *arrays + copied * (weight_bytes + sizeof(uint32_t)));
	char	   *weights;
	uint32_t   *targets;
	uint64_t	place = 0;

	if (arrays == NULL)
		return NULL;
	if (list->npieces == 1)
	{
		arrays->targets = pieces->targets;
		arrays->weights = pieces->weights;
		return arrays;
	}
	/* weights first, because their alignment is larger */
	weights = (char *) (arrays + 1);
	targets = (uint32_t *) (weights + copied * weight_bytes);
	if (weight_bytes % sizeof *targets != 0)
	{
		targets = (uint32_t *) (arrays + 1);
		weights = (char *) (targets + copied);
	}
	for (uint32_t i = 0; i < list->npieces; i++)
	{
		memcpy(targets + place, pieces[i].targets, pieces[i].count * sizeof *targets);
		if (weight_bytes > 0)
			memcpy(weights + place * weight_bytes, pieces[i].weights,
				   pieces[i].count * weight_bytes);
		place += pieces[i].count;
	}
	arrays->targets = targets;
	arrays->weights = weight_bytes > 0 ? weights : NULL;
	return arrays;
}

/* Ensure room for one more used list; false, and the job failed, if out of memory. */
static bool
reserve(EmogiContiguousLists *lists)
{
	const uint64_t bytes = (lists->nmade + 1) * 4 * sizeof *lists->made;	/* at most */

	if (joined_list_fits(lists->made, lists->bits, lists->nmade + 1))
		return true;
	if (*lists->bytes + bytes <= lists->max_bytes && emogi_job_may_allocate(lists->job) &&
		joined_list_grow(&lists->made, &lists->bits, lists->nmade + 1))
	{
		*lists->bytes += bytes;
		return true;
	}
	emogi_job_fail(lists->job, EMOGI_NO_MEMORY);
	return false;
}

EmogiListRange
emogi_contiguous_lists_make(EmogiContiguousLists *lists, const EmogiOverlayList *list)
{
	const EmogiListRange none = {lists->view.lists, 0, 0};
	EmogiJoinedList *made;

	if (list->degree == 0 || !reserve(lists))
		return none;
	made = joined_list_find(lists->made, lists->bits, list->vertex - 1);
	if (made->vertex == 0)
	{
		EmogiAdjacency *arrays = join_pieces(lists, list);

		if (arrays == NULL)
			return none;
		*made = (EmogiJoinedList) {list->vertex, arrays};
		lists->nmade++;
	}
	return (EmogiListRange) {made->arrays, 0, list->degree};
}

void
emogi_contiguous_lists_end(EmogiContiguousLists *lists)
{
	if (lists->made == NULL)
		return;
	for (uint64_t i = 0; i < UINT64_C(1) << lists->bits; i++)
		free(lists->made[i].arrays);
	free(lists->made);
	lists->made = NULL;
}
