/*
 * overlay_grow.c: overlay that grows by changes as they come
 *
 * A list that changes for the first time becomes one piece, that of the graph. An added edge is a
 * piece of its own, inserted at its place in the list's order; this may split another piece. A
 * removed edge is cut out of its piece. So a change costs a binary search in two lists, and a move
 * of the pieces behind.
 */
#include "contract/overlay_grow.h"
#include "contract/sort_order.h"

#include "contract/semirings.h"
#include "weights.h"
#include "contract/partition_point.h"

#include <stdlib.h>
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

	lists->changed_lists->pieces =
		reserve(growing, lists->changed_lists->pieces, &lists->pieces_room, first + count,
				sizeof(*lists->changed_lists->pieces));
	lists->npieces += count;
	return first;
}

/* Double the size of the table of lists. */
static void
widen_table(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists)
{
	const EmogiOverlayLists old = *lists->changed_lists;
	EmogiOverlayLists *changed_lists = lists->changed_lists;

	changed_lists->bits++;
	changed_lists->lists = growing->resize(growing->arg, NULL,
										   sizeof(*changed_lists->lists) << changed_lists->bits);
	memset(changed_lists->lists, 0, sizeof(*changed_lists->lists) << changed_lists->bits);
	for (uint64_t i = 0; i < UINT64_C(1) << old.bits; i++)
		if (old.lists[i].vertex != 0)
			*emogi_overlay_place(changed_lists, old.lists[i].vertex - 1) = old.lists[i];
	(void) growing->resize(growing->arg, old.lists, 0);
}

/* ---- vertices ---- */

/*
 * Find the position of a new key among the new keys, or its position if it were inserted, in
 * ascending order.
 */
static uint64_t
find_new(const EmogiOverlay *overlay, int64_t key)
{
	return EMOGI_PARTITION_POINT(0, overlay->nnew, middle,
								 overlay->new_keys[overlay->new_order[middle]] < key);
}

/*
 * Get the number of a key, adding the key if it is not there; EMOGI_NO_VERTEX if there are too
 * many.
 */
static uint32_t
number_key(EmogiGrowingOverlay *growing, int64_t key)
{
	EmogiOverlay *overlay = &growing->overlay;
	const uint32_t vertex = emogi_graph_vertex(&growing->graph, key);
	uint64_t	room = growing->new_room;
	uint64_t	place;

	if (vertex != EMOGI_NO_VERTEX)
		return vertex;
	place = find_new(overlay, key);
	if (place < overlay->nnew && overlay->new_keys[overlay->new_order[place]] == key)
		return (uint32_t) (growing->graph.nvertices + overlay->new_order[place]);
	if (overlay->nnew == EMOGI_MAX_VERTICES - growing->graph.nvertices)
		return EMOGI_NO_VERTEX;
	overlay->new_keys = reserve(growing, overlay->new_keys, &room, overlay->nnew + 1,
								sizeof(*overlay->new_keys));
	overlay->new_order = reserve(growing, overlay->new_order, &growing->new_room, overlay->nnew + 1,
								 sizeof(*overlay->new_order));
	memmove(&overlay->new_order[place + 1], &overlay->new_order[place],
			(overlay->nnew - place) * sizeof(*overlay->new_order));
	overlay->new_order[place] = (uint32_t) overlay->nnew;
	overlay->new_keys[overlay->nnew++] = key;
	return (uint32_t) (growing->graph.nvertices + overlay->nnew - 1);
}

/* Note that a vertex has lost an edge; merge_losers puts it in order. */
static void
add_loser(EmogiGrowingOverlay *growing, uint32_t vertex)
{
	EmogiOverlay *overlay = &growing->overlay;

	overlay->losers = reserve(growing, overlay->losers, &growing->losers_room,
							  overlay->nlosers + growing->nlosers + 1, sizeof(*overlay->losers));
	overlay->losers[overlay->nlosers + growing->nlosers++] = vertex;
}

/*
 * Merge the vertices that have been noted since the last time into the losers, ascending and
 * distinct. So many changes at once cost one pass over the losers, and not one each.
 */
static void
merge_losers(EmogiGrowingOverlay *growing)
{
	EmogiOverlay *overlay = &growing->overlay;
	const uint64_t nold = overlay->nlosers;
	const uint64_t nnoted = growing->nlosers;
	uint32_t   *losers = overlay->losers;
	uint32_t   *noted = growing->noted;
	uint64_t	old = 0;
	uint64_t	i = 0;

	if (nnoted == 0)
		return;
	noted = reserve(growing, noted, &growing->noted_room, nold + nnoted, sizeof(*noted));
	growing->noted = noted;
	qsort(losers + nold, nnoted, sizeof(*losers), emogi_compare_uint32);
	overlay->nlosers = 0;
	while (old < nold || i < nnoted)
	{
		const uint32_t next = i == nnoted || (old < nold && losers[old] <= losers[nold + i]) ?
			losers[old++] : losers[nold + i++];

		if (overlay->nlosers == 0 || noted[overlay->nlosers - 1] != next)
			noted[overlay->nlosers++] = next;
	}
	memcpy(losers, noted, overlay->nlosers * sizeof(*losers));
	growing->nlosers = 0;
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
	EmogiOverlayList *list = emogi_overlay_place(lists->changed_lists, vertex);
	const EmogiListsView view =
		{growing->graph.nvertices, growing->graph.weight_type, lists->from, NULL};
	EmogiListPiece	whole;
	uint32_t	npieces;

	if (list->vertex != 0)
		return list;
	if (2 * (lists->nlists + 1) > UINT64_C(1) << lists->changed_lists->bits)
	{
		widen_table(growing, lists);
		list = emogi_overlay_place(lists->changed_lists, vertex);
	}
	lists->nlists++;
	*list = (EmogiOverlayList) {.vertex = vertex + 1,
								.first = allocate_pieces(growing, lists, pieces_room(0))};
	(void) emogi_lists_pieces(&view, vertex, &whole, &npieces);
	if (npieces > 0 && whole.count > 0)
	{
		lists->changed_lists->pieces[list->first] = whole;
		list->npieces = 1;
		list->degree = whole.count;
	}
	return list;
}

/* Return true if edge e of a piece precedes another edge. */
static bool
comes_before(const EmogiGrowingOverlay *growing, const EmogiListPiece *piece, uint64_t e,
			 const Entry *entry)
{
	if (piece->targets[e] != entry->target)
		return emogi_overlay_before(&growing->graph, &growing->overlay, piece->targets[e],
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
	const EmogiListPiece *pieces = &lists->changed_lists->pieces[list->first];
	const uint64_t i = EMOGI_PARTITION_POINT(0, list->npieces, middle,
											 comes_before(growing, &pieces[middle],
														  pieces[middle].count - 1, entry));

	*place = EMOGI_PARTITION_POINT(0, i < list->npieces ? pieces[i].count : 0, middle,
								   comes_before(growing, &pieces[i], middle, entry));
	return (uint32_t) i;
}

/* Get the part [first, first + count) of a piece. */
static EmogiListPiece
part_of(const EmogiGrowingOverlay *growing, const EmogiListPiece *piece, uint64_t first,
		uint64_t count)
{
	EmogiListPiece	part = {count, piece->targets + first, NULL};

	if (growing->graph.weight_type != EMOGI_WEIGHT_NONE)
		part.weights = (const char *) piece->weights +
			first * emogi_weight_bytes(growing->graph.weight_type);
	return part;
}

/* Replace the pieces [i, i + nold) of a list by parts. */
static void
replace_pieces(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, EmogiOverlayList *list,
			   uint32_t i, uint32_t nold, const EmogiListPiece *parts, uint32_t nparts)
{
	const uint64_t room = pieces_room(list->npieces);
	const uint32_t npieces = list->npieces - nold + nparts;
	EmogiListPiece *pieces;

	if (npieces > room)
	{
		const uint64_t first = allocate_pieces(growing, lists, pieces_room(npieces));

		memcpy(&lists->changed_lists->pieces[first], &lists->changed_lists->pieces[list->first],
			   list->npieces * sizeof(EmogiListPiece));
		list->first = first;
	}
	pieces = &lists->changed_lists->pieces[list->first];
	memmove(&pieces[i + nparts], &pieces[i + nold],
			(list->npieces - i - nold) * sizeof(EmogiListPiece));
	memcpy(&pieces[i], parts, nparts * sizeof(EmogiListPiece));
	list->npieces = npieces;
}

/* Store an added edge; return it as a piece. */
static EmogiListPiece
store_edge(EmogiGrowingOverlay *growing, EmogiGrowingLists *lists, const Entry *entry)
{
	const size_t weight_bytes = emogi_weight_bytes(growing->graph.weight_type);
	EmogiListPiece	piece = {1, NULL, NULL};

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
	EmogiListPiece *pieces = &lists->changed_lists->pieces[list->first];
	const EmogiListPiece new = store_edge(growing, lists, entry);

	list->degree++;
	if (place > 0)
	{
		const EmogiListPiece parts[] =
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
	const EmogiListPiece *piece = &lists->changed_lists->pieces[list->first + i];
	EmogiListPiece	parts[2];
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

	if (to == EMOGI_NO_VERTEX || (change->times > 0 && !emogi_weight_is_exact(type, weight)))
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
	growing->lists[0] = (EmogiGrowingLists) {.changed_lists = &growing->overlay.forward,
											 .from = &growing->graph.forward};
	growing->lists[1] = (EmogiGrowingLists) {.changed_lists = &growing->overlay.backward,
											 .from = &growing->graph.backward};
	for (int i = 0; i < 2; i++)
	{
		EmogiOverlayLists *changed_lists = growing->lists[i].changed_lists;

		changed_lists->bits = MIN_BITS;
		changed_lists->lists = resize(arg, NULL, sizeof(*changed_lists->lists) << MIN_BITS);
		memset(changed_lists->lists, 0, sizeof(*changed_lists->lists) << MIN_BITS);
	}
}

bool
emogi_overlay_grow(EmogiGrowingOverlay *growing, const EmogiEdgeChange *changes, uint64_t nchanges)
{
	for (uint64_t i = 0; i < nchanges; i++)
		if (!change_edge(growing, &changes[i]))
			return false;
	merge_losers(growing);
	if (growing->direction == EMOGI_BOTH)
		growing->overlay.backward = growing->overlay.forward;
	return true;
}

void
emogi_overlay_grow_mark(EmogiGrowingOverlay *growing)
{
	const EmogiOverlay *overlay = &growing->overlay;

	growing->marked_new = overlay->nnew;
	growing->nmarked = overlay->nlosers;
	growing->marked = reserve(growing, growing->marked, &growing->marked_room, overlay->nlosers,
							  sizeof(*growing->marked));
	if (overlay->nlosers > 0)
		memcpy(growing->marked, overlay->losers, overlay->nlosers * sizeof(*growing->marked));
}

/* Remove the vertices that are newer than the mark. Their lists, which are empty, remain. */
static void
remove_new(EmogiGrowingOverlay *growing)
{
	EmogiOverlay *overlay = &growing->overlay;
	uint64_t	count = 0;

	for (uint64_t i = 0; i < overlay->nnew && overlay->nnew > growing->marked_new; i++)
		if (overlay->new_order[i] < growing->marked_new)
			overlay->new_order[count++] = overlay->new_order[i];
	overlay->nnew = growing->marked_new;
}

bool
emogi_overlay_grow_undo(EmogiGrowingOverlay *growing, const EmogiEdgeChange *changes,
						uint64_t nchanges)
{
	EmogiOverlay *overlay = &growing->overlay;

	for (uint64_t i = nchanges; i > 0; i--)
	{
		EmogiEdgeChange back = changes[i - 1];

		back.times = -back.times;
		if (!change_edge(growing, &back))
			return false;
	}
	growing->nlosers = 0;
	overlay->nlosers = growing->nmarked;
	if (growing->nmarked > 0)
		memcpy(overlay->losers, growing->marked, growing->nmarked * sizeof(*overlay->losers));
	remove_new(growing);
	if (growing->direction == EMOGI_BOTH)
		overlay->backward = overlay->forward;
	return true;
}
