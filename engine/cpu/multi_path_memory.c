/*
 * multi_path_memory.c: memory management, with a limit, of the searches for pairs with a common
 * endpoint
 */
#include "multi_path_parts.h"

#include <stdlib.h>
#include <string.h>

#define REHASH_PIECE 262144		/* nodes between two polls */
#define MIN_BITS 9			/* of the number of nodes */
#define MIN_ENTRIES 256

bool
emogi_multi_path_resize(EmogiMultiPath *search, void **items, uint64_t before_bytes,
						uint64_t after_bytes)
{
	void	   *moved = NULL;

	if (search->bytes + (after_bytes - before_bytes) <= search->max_bytes)
		moved = realloc(*items, after_bytes);
	if (moved == NULL)
	{
		search->gave_up = true;
		return false;
	}
	*items = moved;
	search->bytes += after_bytes - before_bytes;
	return true;
}

bool
emogi_multi_path_stopped(EmogiMultiPath *search)
{
	search->gave_up |= search->poll != NULL && search->poll();
	return search->gave_up;
}

void
emogi_multi_path_free_nodes(EmogiMultiPath *search, Side *side)
{
	if (side->nodes != NULL)
		search->bytes -= sizeof(Node) << side->bits;
	free(side->nodes);
	side->nodes = NULL;
	side->nnodes = 0;
}

/* Move the nodes of a side to the larger table of another. */
static void
move_nodes(EmogiMultiPath *search, Side *side, Side *larger)
{
	const uint64_t size = side->nodes == NULL ? 0 : UINT64_C(1) << side->bits;

	for (uint64_t i = 0; i < size; i++)
	{
		if (i % REHASH_PIECE == REHASH_PIECE - 1 && emogi_multi_path_stopped(search))
			break;
		if (side->nodes[i].vertex != 0)
			*find_node(larger, side->nodes[i].vertex - 1) = side->nodes[i];
	}
}

/* Ensure room for `more` nodes. */
static bool
reserve_nodes(EmogiMultiPath *search, Side *side, uint64_t more)
{
	const uint64_t nnodes = side->nnodes;
	Side		larger = {.bits = side->nodes == NULL ? MIN_BITS : side->bits};

	while (UINT64_C(1) << larger.bits < 2 * (nnodes + more))
		larger.bits++;
	if (side->nodes != NULL && larger.bits == side->bits)
		return true;
	if (!emogi_multi_path_resize(search, (void **) &search->moving, 0, sizeof(Node) << larger.bits))
		return false;
	larger.nodes = memset(search->moving, 0, sizeof(Node) << larger.bits);
	move_nodes(search, side, &larger);
	emogi_multi_path_free_nodes(search, side);
	side->nodes = larger.nodes;
	side->bits = larger.bits;
	side->nnodes = nnodes;
	search->moving = NULL;
	return !search->gave_up;
}

bool
emogi_multi_path_reserve(EmogiMultiPath *search, Side *side, uint64_t more)
{
	Queue	   *queue = &side->queue;
	const uint64_t wanted = queue->end + more;
	uint64_t	room = queue->room < MIN_ENTRIES ? MIN_ENTRIES : queue->room;

	while (room < wanted)
		room *= 2;
	if (room > queue->room)
	{
		if (!emogi_multi_path_resize(search, (void **) &queue->entries,
									 queue->room * sizeof(Entry), room * sizeof(Entry)))
			return false;
		queue->room = room;
	}
	return reserve_nodes(search, side, more);
}
