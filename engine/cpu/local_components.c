/*
 * local_components.c: incremental connected components after a few edges were added
 *
 * Fills component[nvertices]: the smallest vertex number of the component, as cc.c does.
 *
 * Added edges can only join components. The joined components are in a hash table by their smallest
 * vertices and form a union-find forest [1] whose parents have smaller keys: so the root is the
 * smallest vertex of all. A new vertex is a component of its own at first. In the order of keys,
 * each new vertex shifts those behind it by one. Between two new vertices, and between two
 * components whose smallest vertex has changed, the old labels are copied with one addition.
 *
 * [1] R. E. Tarjan, J. van Leeuwen. Worst-Case Analysis of Set Union Algorithms. JACM 31(2), 1984.
 * (Path halving.)
 */
#include "contract/local_components.h"
#include "contract/sort_order.h"

#include "contract/partition_point.h"
#include "graph/layout.h"

#include <stdlib.h>
#include <string.h>

#define PIECE_VERTICES ((uint64_t) 1 << 20) /* between two polls */

/* Count the edges added to the lists. */
static uint64_t
count_added(const EmogiOverlay *overlay)
{
	return overlay != NULL ? overlay->forward.nadded : 0;
}

/* Lay out the memory for an overlay's changes from an address on; return its end. */
static uintptr_t
lay_out(EmogiLocalComponents *components, const EmogiOverlay *overlay, uintptr_t place)
{
	const uint64_t nadded = count_added(overlay);

	components->bits = emogi_hash_bits(4, 2 * nadded);
	components->joined = emogi_carve(&place, sizeof(*components->joined) << components->bits);
	components->moved = emogi_carve(&place, 2 * nadded * sizeof(*components->moved));
	components->places = emogi_carve(&place,
									 (overlay != NULL ? overlay->nnew : 0) *
									 sizeof(*components->places));
	return place;
}

size_t
emogi_local_components_bytes(const EmogiOverlay *overlay)
{
	EmogiLocalComponents components;

	return (size_t) lay_out(&components, overlay, 0);
}

/* ---- the forest ---- */

/* Get the smallest vertex of the component that a vertex was in. */
static inline uint32_t
label_of(const EmogiLocalComponents *components, uint32_t vertex)
{
	return vertex < components->graph->nvertices ? components->labels[vertex] : vertex;
}

/* Find the slot of a component, by its smallest vertex, or a free one. */
static uint32_t
find_place(const EmogiLocalComponents *components, uint32_t vertex)
{
	return (uint32_t) (joined_find(components->joined, components->bits, vertex) -
					   components->joined);
}

/* Find the root above a slot; halves the path to it. */
static uint32_t
climb(const EmogiLocalComponents *components, uint32_t place)
{
	EmogiUnionFindSlot *joined = components->joined;

	while (joined[place].above != place)
		place = joined[place].above = joined[joined[place].above].above;
	return place;
}

/* Get the root of a vertex's component, adding the component to the forest if it is not there. */
static uint32_t
enter(const EmogiLocalComponents *components, uint32_t vertex)
{
	const uint32_t label = label_of(components, vertex);
	const uint32_t place = find_place(components, label);

	if (components->joined[place].vertex != 0)
		return climb(components, place);
	components->joined[place] = (EmogiUnionFindSlot) {.vertex = label + 1, .above = place};
	return place;
}

/* Join the components of two vertices. */
static void
join(const EmogiLocalComponents *components, uint32_t u, uint32_t v)
{
	EmogiUnionFindSlot *joined = components->joined;
	const uint32_t a = enter(components, u);
	const uint32_t b = enter(components, v);

	if (a == b)
		return;
	if (emogi_overlay_before(components->graph, components->overlay, joined[a].vertex - 1,
							 joined[b].vertex - 1))
		joined[b].above = a;
	else
		joined[a].above = b;
}

/* Join a vertex with the targets of the edges added to its list. */
static void
join_list(const EmogiLocalComponents *components, const EmogiOverlayList *list)
{
	const EmogiOverlayLists *changed_lists = &components->overlay->forward;

	for (uint32_t i = 0; i < list->npieces; i++)
	{
		const EmogiListPiece *piece = &changed_lists->pieces[list->first + i];

		if (piece->targets < changed_lists->added ||
			piece->targets >= changed_lists->added + changed_lists->nadded)
			continue;			/* piece of the old list */
		for (uint64_t e = 0; e < piece->count; e++)
			join(components, list->vertex - 1, piece->targets[e]);
	}
}

/* List the old vertices whose component has a smaller vertex now. */
static void
list_moved(EmogiLocalComponents *components)
{
	for (uint32_t i = 0; i < UINT64_C(1) << components->bits; i++)
	{
		const EmogiUnionFindSlot *joined = &components->joined[i];

		if (joined->vertex != 0 && joined->above != i &&
			joined->vertex - 1 < components->graph->nvertices)
			components->moved[components->nmoved++] = joined->vertex - 1;
	}
	qsort(components->moved, components->nmoved, sizeof(*components->moved), emogi_compare_uint32);
}

/*
 * Find the first of [low, high) in ascending ids whose key is not below another; high if there is
 * none.
 */
static uint64_t
find_key(const int64_t *ids, uint64_t low, uint64_t high, int64_t key)
{
	return EMOGI_PARTITION_POINT(low, high, middle, ids[middle] < key);
}

void
emogi_local_components_join(EmogiLocalComponents *components, void *memory)
{
	const EmogiGraph *graph = components->graph;
	const EmogiOverlay *overlay = components->overlay;
	uint64_t	place = 0;

	(void) lay_out(components, overlay, (uintptr_t) memory);
	memset(components->joined, 0, sizeof(*components->joined) << components->bits);
	components->nmoved = 0;
	if (overlay == NULL)
		return;
	for (uint64_t i = 0; i < UINT64_C(1) << overlay->forward.bits; i++)
		if (overlay->forward.lists[i].vertex != 0)
			join_list(components, &overlay->forward.lists[i]);
	list_moved(components);
	for (uint64_t i = 0; i < overlay->nnew; i++)
	{
		place = find_key(graph->ids, place, graph->nvertices, overlay->new_keys[i]);
		components->places[i] = (uint32_t) place;
	}
}

uint32_t
emogi_local_components_find(const EmogiLocalComponents *components, uint32_t vertex)
{
	const uint32_t label = label_of(components, vertex);
	const uint32_t place = find_place(components, label);

	return components->joined[place].vertex != 0 ?
		components->joined[climb(components, place)].vertex - 1 : label;
}

/* ---- the vertices of a component ---- */

bool
emogi_local_search_components_link(const uint32_t *labels, uint64_t nvertices, bool (*stops) (void),
								   uint32_t *members)
{
	memset(members, 0xFF, nvertices * sizeof(*members));
	for (uint64_t v = nvertices; v-- > 0;)
	{
		const uint32_t label = labels[v];

		/* until the smallest vertex is reached, its slot holds the smallest so far */
		if (label != v)
		{
			members[v] = members[label];
			members[label] = (uint32_t) v;
		}
		if (v % PIECE_VERTICES == 0 && stops())
			return false;
	}
	return true;
}

/* Append the vertices of a component of the old graph, or a new vertex; false if stopped. */
static bool
append(const EmogiLocalComponents *components, const uint32_t *members, uint32_t smallest,
	   bool (*stops) (void), uint64_t room, uint32_t *vertices, uint64_t *count)
{
	const uint64_t nold = components->graph->nvertices;

	for (uint32_t v = smallest; v != EMOGI_NO_VERTEX && *count <= room;
		 v = v < nold ? members[v] : EMOGI_NO_VERTEX)
	{
		if (*count < room)
			vertices[*count] = v;
		if (++*count % PIECE_VERTICES == 0 && stops())
			return false;
	}
	return true;
}

uint64_t
emogi_local_search_components_list(const EmogiLocalComponents *components, const uint32_t *members,
								   uint32_t smallest, bool (*stops) (void), uint64_t room,
								   uint32_t *vertices)
{
	const EmogiUnionFindSlot *joined = components->joined;
	const uint32_t root = find_place(components, smallest);
	uint64_t	count = 0;

	if (joined[root].vertex == 0)
		return append(components, members, smallest, stops, room, vertices, &count) ?
			count : UINT64_MAX;
	for (uint32_t i = 0; i < UINT64_C(1) << components->bits && count <= room; i++)
		if (joined[i].vertex != 0 && climb(components, i) == root &&
			!append(components, members, joined[i].vertex - 1, stops, room, vertices, &count))
			return UINT64_MAX;
	return count;
}

/* ---- all vertices ---- */

typedef struct Writing
{
	const EmogiLocalComponents *components;
	uint64_t	nold;
	uint64_t	nnew;
	bool		(*stops) (void);
	uint32_t   *component;
} Writing;

/* Get the number of a vertex among all vertices. */
static uint32_t
number_of(const Writing *writing, uint32_t vertex)
{
	const uint32_t *places = writing->components->places;

	if (vertex >= writing->nold)
		return places[vertex - writing->nold] + (uint32_t) (vertex - writing->nold);
	return vertex + (uint32_t) EMOGI_PARTITION_POINT(0, writing->nnew, middle,
													 places[middle] <= vertex);
}

/* Get the number, among all vertices, of the smallest vertex of a vertex's component. */
static uint32_t
find_number(const Writing *writing, uint32_t vertex)
{
	return number_of(writing, emogi_local_components_find(writing->components, vertex));
}

/*
 * Write the components of the old vertices [first, end), none of which has lost its place as
 * smallest vertex.
 */
static void
write_piece(const Writing *writing, uint64_t first, uint64_t end, uint64_t nbefore)
{
	const uint32_t *labels = writing->components->labels;
	uint32_t   *component = writing->component;

	for (uint64_t v = first; v < end; v++)
	{
		component[v] = (uint32_t) (v + nbefore);	/* itself the smallest */
		component[v] = component[labels[v]];
	}
}

/* Write the components of all old vertices, by their old numbers; false if stopped. */
static bool
write_old(const Writing *writing)
{
	const EmogiLocalComponents *components = writing->components;
	uint64_t	nbefore = 0;	/* new vertices */
	uint64_t	nmoved = 0;
	uint64_t	v = 0;

	while (v < writing->nold)
	{
		uint64_t	end = v + PIECE_VERTICES < writing->nold ? v + PIECE_VERTICES : writing->nold;

		if (nbefore < writing->nnew && components->places[nbefore] == v)
		{
			nbefore++;
			continue;
		}
		if (nmoved < components->nmoved && components->moved[nmoved] == v)
		{
			nmoved++;
			writing->component[v] = find_number(writing, (uint32_t) v);
			v++;
			continue;
		}
		if (nbefore < writing->nnew && components->places[nbefore] < end)
			end = components->places[nbefore];
		if (nmoved < components->nmoved && components->moved[nmoved] < end)
			end = components->moved[nmoved];
		write_piece(writing, v, end, nbefore);
		v = end;
		if (writing->stops())
			return false;
	}
	return true;
}

/*
 * Shift the results of the old vertices [first, end) up by some places, last ones first; false if
 * stopped.
 */
static bool
move_up(const Writing *writing, uint64_t first, uint64_t end, uint64_t by)
{
	while (first < end)
	{
		const uint64_t from = end - first > PIECE_VERTICES ? end - PIECE_VERTICES : first;

		memmove(writing->component + from + by, writing->component + from,
				(end - from) * sizeof(*writing->component));
		end = from;
		if (writing->stops())
			return false;
	}
	return true;
}

/* Insert the new vertices between the old ones; false if stopped. */
static bool
insert_new(const Writing *writing)
{
	const uint32_t *places = writing->components->places;
	uint64_t	end = writing->nold;

	for (uint64_t i = writing->nnew; i-- > 0;)
	{
		if (!move_up(writing, places[i], end, i + 1))
			return false;
		end = places[i];
		writing->component[end + i] = find_number(writing, (uint32_t) (writing->nold + i));
	}
	return true;
}

/* Write the keys of all vertices; false if stopped. */
static bool
write_ids(const Writing *writing, int64_t *ids)
{
	const EmogiLocalComponents *components = writing->components;
	uint64_t	nbefore = 0;
	uint64_t	v = 0;

	while (v < writing->nold || nbefore < writing->nnew)
	{
		uint64_t	end = v + PIECE_VERTICES < writing->nold ? v + PIECE_VERTICES : writing->nold;

		if (nbefore < writing->nnew && components->places[nbefore] < end)
			end = components->places[nbefore];
		memcpy(ids + v + nbefore, components->graph->ids + v, (end - v) * sizeof(*ids));
		v = end;
		for (; nbefore < writing->nnew && components->places[nbefore] == v; nbefore++)
			ids[v + nbefore] = components->overlay->new_keys[nbefore];
		if (writing->stops())
			return false;
	}
	return true;
}

/* Copy the labels of a graph in which no component has another label; false if stopped. */
static bool
copy_labels(const Writing *writing)
{
	for (uint64_t v = 0; v < writing->nold; v += PIECE_VERTICES)
	{
		const uint64_t count = writing->nold - v < PIECE_VERTICES ?
			writing->nold - v : PIECE_VERTICES;

		memcpy(writing->component + v, writing->components->labels + v,
			   count * sizeof(*writing->component));
		if (writing->stops())
			return false;
	}
	return true;
}

bool
emogi_local_components_write(const EmogiLocalComponents *components, bool (*stops) (void),
							 int64_t *ids, uint32_t *component)
{
	const Writing writing = {.components = components, .nold = components->graph->nvertices,
							 .nnew = components->overlay != NULL ? components->overlay->nnew : 0,
							 .stops = stops, .component = component};

	if (writing.nnew == 0 && components->nmoved == 0)
		return copy_labels(&writing);
	return write_old(&writing) && insert_new(&writing) &&
		(writing.nnew == 0 || ids == NULL || write_ids(&writing, ids));
}
