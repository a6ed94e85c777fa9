/*
 * overlay_grow.c: overlay that grows by changes as they come
 *
 * A list that changes for the first time becomes one piece, that of the graph. An added edge is a
 * piece of its own, inserted at its place in the list's order; this may split another piece. A
 * removed edge is cut out of its piece. So a change costs a binary search in two lists, and a move
 * of the pieces behind.
 */
#include "contract/overlay_grow.h"

#include "contract/semirings.h"
#include "weights.h"

#include <string.h>

#define MIN_BITS 6
#define MIN_ROOM 64
#define MAX_ADDED 65536		/* edges per block */

/* ---- memory ---- */

/* Ensure capacity for `count` items of an array. */
static void *
reserve(EmogiGrowingOverlay *growing, void *items, uint64_t *room, uint64_t count, size_t bytes)
{
	if (count <= *room)
		return items;
	*room = 2 * *room > count ? 2 * *room : count > MIN_ROOM ? count : MIN_ROOM;
	return growing->resize(growing->arg, items, *room * bytes);
}

/* Get the capacity of a list with this many pieces. */
static uint64_t
pieces_room(uint64_t npieces)
{
	uint64_t	room = 4;

	while (room < npieces)
		room *= 2;
	return room;
}

/* Allocate this many pieces; return the index of the first. */
static uint64_t
allocate_pieces(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, uint64_t count)
{
	const uint64_t first = lists->npieces;

	lists->patched->pieces =
		reserve(growing, lists->patched->pieces, &lists->pieces_room, first + count,
				sizeof(*lists->patched->pieces));
	lists->npieces += count;
	return first;
}

/* Double the size of the table of lists. */
static void
widen_table(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists)
{
	const EmogiOverlayLists old = *lists->patched;
	EmogiOverlayLists *patched = lists->patched;

	patched->bits++;
	patched->lists = growing->resize(growing->arg, NULL, sizeof(*patched->lists) << patched->bits);
	memset(patched->lists, 0, sizeof(*patched->lists) << patched->bits);
	for (uint64_t i = 0; i < UINT64_C(1) << old.bits; i++)
		if (old.lists[i].vertex != 0)
			*emogi_overlay_place(patched, old.lists[i].vertex - 1) = old.lists[i];
	(void) growing->resize(growing->arg, old.lists, 0);
}

/* ---- vertices ---- */

/*
 * Find the position of a new key among the new keys, or its position if it were inserted, in
 * ascending order.
 */
static uint64_t
find_new(const EmogiOverlay *patch, int64_t key)
{
	uint64_t	low = 0;
	uint64_t	high = patch->nnew;

	while (low < high)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (patch->new_keys[patch->new_order[middle]] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Get the number of a key, adding the key if it is not there; EMOGI_NO_VERTEX if there are too
 * many.
 */
static uint32_t
number_key(EmogiGrowingOverlay *growing, int64_t key)
{
	EmogiOverlay *patch = &growing->patch;
	const uint32_t vertex = emogi_graph_vertex(&growing->graph, key);
	uint64_t	room = growing->new_room;
	uint64_t	place;

	if (vertex != EMOGI_NO_VERTEX)
		return vertex;
	place = find_new(patch, key);
	if (place < patch->nnew && patch->new_keys[patch->new_order[place]] == key)
		return (uint32_t) (growing->graph.nvertices + patch->new_order[place]);
	if (patch->nnew == EMOGI_MAX_VERTICES - growing->graph.nvertices)
		return EMOGI_NO_VERTEX;
	patch->new_keys = reserve(growing, patch->new_keys, &room, patch->nnew + 1,
							  sizeof(*patch->new_keys));
	patch->new_order = reserve(growing, patch->new_order, &growing->new_room, patch->nnew + 1,
							   sizeof(*patch->new_order));
	memmove(&patch->new_order[place + 1], &patch->new_order[place],
			(patch->nnew - place) * sizeof(*patch->new_order));
	patch->new_order[place] = (uint32_t) patch->nnew;
	patch->new_keys[patch->nnew++] = key;
	return (uint32_t) (growing->graph.nvertices + patch->nnew - 1);
}

/* Note that a vertex has lost an edge. */
static void
add_loser(EmogiGrowingOverlay *growing, uint32_t vertex)
{
	EmogiOverlay *patch = &growing->patch;
	uint64_t	place = patch->nlosers;

	while (place > 0 && patch->losers[place - 1] > vertex)
		place--;
	if (place > 0 && patch->losers[place - 1] == vertex)
		return;
	patch->losers = reserve(growing, patch->losers, &growing->losers_room, patch->nlosers + 1,
							sizeof(*patch->losers));
	memmove(&patch->losers[place + 1], &patch->losers[place],
			(patch->nlosers - place) * sizeof(*patch->losers));
	patch->losers[place] = vertex;
	patch->nlosers++;
}

/* ---- lists ---- */

/* An edge to add to or remove from a list. */
typedef struct Entry
{
	uint32_t	target;
	double		weight;			/* 0 if the graph has no weights */
} Entry;

/* Get the list of a vertex as pieces that may be changed. */
static EmogiOverlayList *
own_list(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, uint32_t vertex)
{
	EmogiOverlayList *list = emogi_overlay_place(lists->patched, vertex);
	const EmogiListsView view =
		{growing->graph.nvertices, growing->graph.weight_type, lists->from, NULL};
	EmogiPiece	whole;
	uint32_t	npieces;

	if (list->vertex != 0)
		return list;
	if (2 * (lists->nlists + 1) > UINT64_C(1) << lists->patched->bits)
	{
		widen_table(growing, lists);
		list = emogi_overlay_place(lists->patched, vertex);
	}
	lists->nlists++;
	*list = (EmogiOverlayList) {.vertex = vertex + 1,
								.first = allocate_pieces(growing, lists, pieces_room(0))};
	(void) emogi_lists_pieces(&view, vertex, &whole, &npieces);
	if (npieces > 0 && whole.count > 0)
	{
		lists->patched->pieces[list->first] = whole;
		list->npieces = 1;
		list->degree = whole.count;
	}
	return list;
}

/* Return true if edge e of a piece precedes another edge. */
static bool
comes_before(const EmogiGrowingOverlay *growing, const EmogiPiece *piece, uint64_t e,
			 const Entry *entry)
{
	if (piece->targets[e] != entry->target)
		return emogi_overlay_before(&growing->graph, &growing->patch, piece->targets[e],
									entry->target);
	return growing->graph.weight_type != EMOGI_WEIGHT_NONE &&
		emogi_weight(piece->weights, growing->graph.weight_type, e) < entry->weight;
}

/*
 * Find the first edge of a list that does not precede another: its piece (npieces = none) and its
 * index in the piece.
 */
static uint32_t
find_position(const EmogiGrowingOverlay *growing, const EmogiGrowingLists *lists,
			  const EmogiOverlayList *list, const Entry *entry, uint64_t *place)
{
	const EmogiPiece *pieces = &lists->patched->pieces[list->first];
	uint32_t	low = 0;
	uint32_t	high = list->npieces;
	uint64_t	first = 0;
	uint64_t	end;

	while (low < high)
	{
		const uint32_t middle = low + (high - low) / 2;

		if (comes_before(growing, &pieces[middle], pieces[middle].count - 1, entry))
			low = middle + 1;
		else
			high = middle;
	}
	end = low < list->npieces ? pieces[low].count : 0;
	while (first < end)
	{
		const uint64_t middle = first + (end - first) / 2;

		if (comes_before(growing, &pieces[low], middle, entry))
			first = middle + 1;
		else
			end = middle;
	}
	*place = first;
	return low;
}

/* Get the part [first, first + count) of a piece. */
static EmogiPiece
part_of(const EmogiGrowingOverlay *growing, const EmogiPiece *piece, uint64_t first, uint64_t count)
{
	EmogiPiece	part = {count, piece->targets + first, NULL};

	if (growing->graph.weight_type != EMOGI_WEIGHT_NONE)
		part.weights = (const char *) piece->weights +
			first * emogi_weight_bytes(growing->graph.weight_type);
	return part;
}

/* Replace the pieces [i, i + nold) of a list by parts. */
static void
replace_pieces(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, EmogiOverlayList *list,
			   uint32_t i, uint32_t nold, const EmogiPiece *parts, uint32_t nparts)
{
	const uint64_t room = pieces_room(list->npieces);
	const uint32_t npieces = list->npieces - nold + nparts;
	EmogiPiece *pieces;

	if (npieces > room)
	{
		const uint64_t first = allocate_pieces(growing, lists, pieces_room(npieces));

		memcpy(&lists->patched->pieces[first], &lists->patched->pieces[list->first],
			   list->npieces * sizeof(EmogiPiece));
		list->first = first;
	}
	pieces = &lists->patched->pieces[list->first];
	memmove(&pieces[i + nparts], &pieces[i + nold],
			(list->npieces - i - nold) * sizeof(EmogiPiece));
	memcpy(&pieces[i], parts, nparts * sizeof(EmogiPiece));
	list->npieces = npieces;
}

/* Store an added edge; return it as a piece. */
static EmogiPiece
store_edge(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, const Entry *entry)
{
	const size_t weight_bytes = emogi_weight_bytes(growing->graph.weight_type);
	EmogiPiece	piece = {1, NULL, NULL};

	if (lists->nadded == lists->room)
	{
		lists->room = 2 * lists->room < MIN_ROOM ? MIN_ROOM : 2 * lists->room < MAX_ADDED ?
			2 * lists->room : MAX_ADDED;
		lists->nadded = 0;
		lists->targets = growing->resize(growing->arg, NULL, lists->room * sizeof(*lists->targets));
		lists->weights = weight_bytes > 0 ?
			growing->resize(growing->arg, NULL, lists->room * weight_bytes) : NULL;
	}
	lists->targets[lists->nadded] = entry->target;
	piece.targets = &lists->targets[lists->nadded];
	if (weight_bytes > 0)
	{
		emogi_weights_store(lists->weights, growing->graph.weight_type, lists->nadded,
							&entry->weight, 1);
		piece.weights = lists->weights + lists->nadded * weight_bytes;
	}
	lists->nadded++;
	return piece;
}

/* Insert an edge into a list. */
static void
insert_edge(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, EmogiOverlayList *list,
			const Entry *entry)
{
	uint64_t	place;
	const uint32_t i = find_position(growing, lists, list, entry, &place);
	EmogiPiece *pieces = &lists->patched->pieces[list->first];
	const EmogiPiece new = store_edge(growing, lists, entry);

	list->degree++;
	if (place > 0)
	{
		const EmogiPiece parts[] =
			{part_of(growing, &pieces[i], 0, place), new,
			 part_of(growing, &pieces[i], place, pieces[i].count - place)};

		replace_pieces(growing, lists, list, i, 1, parts, 3);
	}
	else if (i > 0 && pieces[i - 1].targets + pieces[i - 1].count == new.targets)
		pieces[i - 1].count++;	/* it is adjacent to the one added before */
	else
		replace_pieces(growing, lists, list, i, 0, &new, 1);
}

/* Remove an edge from a list; return false if it is not there. */
static bool
remove_edge(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, EmogiOverlayList *list,
			const Entry *entry)
{
	uint64_t	place;
	const uint32_t i = find_position(growing, lists, list, entry, &place);
	const EmogiPiece *piece = &lists->patched->pieces[list->first + i];
	EmogiPiece	parts[2];
	uint32_t	nparts = 0;

	if (i == list->npieces || piece->targets[place] != entry->target ||
		(growing->graph.weight_type != EMOGI_WEIGHT_NONE &&
		 emogi_weight(piece->weights, growing->graph.weight_type, place) != entry->weight))
		return false;
	if (place > 0)
		parts[nparts++] = part_of(growing, piece, 0, place);
	if (place + 1 < piece->count)
		parts[nparts++] = part_of(growing, piece, place + 1, piece->count - place - 1);
	replace_pieces(growing, lists, list, i, 1, parts, nparts);
	list->degree--;
	return true;
}

/* Add an edge to a list, or remove it, as many times as given. */
static bool
change_list(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, uint32_t vertex,
			const Entry *entry, int64_t times)
{
	EmogiOverlayList *list = own_list(growing, lists, vertex);

	for (; times > 0; times--)
		insert_edge(growing, lists, list, entry);
	for (; times < 0; times++)
		if (!remove_edge(growing, lists, list, entry))
			return false;
	return true;
}

/* Change all lists that contain an edge. */
static bool
change_edge(EmogiGrowingOverlay *growing, const EmogiEdgeChange *change)
{
	const bool	turned = growing->direction == EMOGI_IN;
	const uint32_t from = number_key(growing, turned ? change->dst : change->src);
	const uint32_t to = from == EMOGI_NO_VERTEX ?
		from : number_key(growing, turned ? change->src : change->dst);
	const EmogiWeightType type = growing->graph.weight_type;
	/* -0 becomes 0 */
	const double weight = type == EMOGI_WEIGHT_NONE ? 0.0 : change->weight + 0.0;
	const Entry there = {to, weight};
	const Entry back = {from, weight};
	EmogiGrowingLists *other = growing->direction == EMOGI_BOTH ?
		&growing->lists[0] : &growing->lists[1];

	if (to == EMOGI_NO_VERTEX || (change->times > 0 && !emogi_weight_is_held(type, weight)))
		return false;
	if (change->times < 0)
	{
		add_loser(growing, from);
		add_loser(growing, to);
	}
	if (!change_list(growing, &growing->lists[0], from, &there, change->times))
		return false;
	if (other->from->offsets == NULL || (growing->direction == EMOGI_BOTH && from == to))
		return true;
	return change_list(growing, other, to, &back, change->times);
}

void
emogi_overlay_grow_begin(EmogiGrowingOverlay *growing, const EmogiGraph *graph,
						 EmogiDirection direction, EmogiResize resize, void *arg)
{
	*growing = (EmogiGrowingOverlay) {.graph = *graph,.direction = direction,.resize = resize,
									  .arg = arg};
	growing->lists[0] = (EmogiGrowingLists) {.patched = &growing->patch.forward,
											 .from = &growing->graph.forward};
	growing->lists[1] = (EmogiGrowingLists) {.patched = &growing->patch.backward,
											 .from = &growing->graph.backward};
	for (int i = 0; i < 2; i++)
	{
		EmogiOverlayLists *patched = growing->lists[i].patched;

		patched->bits = MIN_BITS;
		patched->lists = resize(arg, NULL, sizeof(*patched->lists) << MIN_BITS);
		memset(patched->lists, 0, sizeof(*patched->lists) << MIN_BITS);
	}
}

bool
emogi_overlay_grow(EmogiGrowingOverlay *growing, const EmogiEdgeChange *changes, uint64_t nchanges)
{
	for (uint64_t i = 0; i < nchanges; i++)
		if (!change_edge(growing, &changes[i]))
			return false;
	if (growing->direction == EMOGI_BOTH)
		growing->patch.backward = growing->patch.forward;
	return true;
}
