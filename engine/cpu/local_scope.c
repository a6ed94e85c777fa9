/*
 * local_scope.c: the vertices on which rows of given vertices depend, if they are few
 *
 * What is found for one vertex stays true if the graph of all members has more vertices:
 *
 *   NEIGHBORS   the triangles of v are edges between its neighbors.
 *   COMPONENT   no edge leads out of a component.
 *   STRONG      Let F be what v reaches. The strongly connected component of v, and all paths
 *               within it, are in F; so are they in what reaches v. Both are searched in turn, by
 *               edges, until one of them is complete [1].
 *   PARTS       Removing v leaves its component in as many parts as there are classes of neighbors
 *               that are connected without v. All neighbors are searched from in turn, without v.
 *               Two searches that meet are one part; one that ends is a complete part. At most one
 *               part stays incomplete: it cannot meet another. The members are the neighbors, the
 *               vertices whose lists were read, and those where searches met; they suffice to
 *               connect each part, and a complete part has all of its vertices.
 *
 * [1] L. Fleischer, B. Hendrickson, A. Pinar. On Identifying Strongly Connected Components in
 *     Parallel. IPDPS Workshops 2000. Section 3.
 */
#include "cpu/local_scope.h"

/* Make room in a set; false, and the making failed, by the limit or if out of memory. */
static bool
reserve(EmogiLocalMaking *making, EmogiVertexSet *set, uint64_t more)
{
	making->failed |= more > making->max_vertices || set->count > making->max_vertices - more ||
		!emogi_vertex_set_reserve(set, more);
	return !making->failed;
}

/* Add a vertex to a set. */
static void
add(EmogiLocalMaking *making, EmogiVertexSet *set, uint32_t vertex)
{
	if (reserve(making, set, 1))
		(void) emogi_vertex_set_add(set, vertex);
}

/* Add the targets of a vertex's list to a set; return the number of edges. */
static uint64_t
add_list(EmogiLocalMaking *making, const EmogiListsView *view, uint32_t vertex,
		 EmogiVertexSet *set)
{
	const uint64_t degree = emogi_lists_degree(view, vertex);
	EmogiListPiece whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces;

	if (!emogi_local_making_charge(making, degree) || !reserve(making, set, degree))
		return 0;
	pieces = emogi_lists_pieces(view, vertex, &whole, &npieces);
	for (uint32_t i = 0; i < npieces; i++)
		for (uint64_t e = 0; e < pieces[i].count; e++)
			(void) emogi_vertex_set_add(set, pieces[i].targets[e]);
	return degree;
}

/* Add the neighbors of a vertex to the members, in both directions. */
static void
add_neighbors(EmogiLocalMaking *making, uint32_t vertex)
{
	(void) add_list(making, &making->forward, vertex, &making->members);
	if (!making->is_symmetric && !making->failed)
		(void) add_list(making, &making->backward, vertex, &making->members);
}

/* Add all vertices of a set to the members. */
static void
add_set(EmogiLocalMaking *making, const EmogiVertexSet *set)
{
	if (making->failed || !reserve(making, &making->members, set->count))
		return;
	for (uint64_t i = 0; i < set->count; i++)
		(void) emogi_vertex_set_add(&making->members, set->vertices[i]);
}

/* ---- strongly connected components ---- */

/* A search in one direction. */
typedef struct Side
{
	const EmogiListsView *view;
	EmogiVertexSet reached;
	uint64_t	next;			/* of `reached`, to be expanded */
	uint64_t	nscanned;
} Side;

/* Begin a search from a vertex. */
static Side
begin_side(EmogiLocalMaking *making, const EmogiListsView *view, uint32_t vertex)
{
	Side		side = {.view = view};

	add(making, &side.reached, vertex);
	return side;
}

/* Add what a vertex reaches, or what reaches it. */
static void
add_strong(EmogiLocalMaking *making, uint32_t vertex)
{
	Side		along = begin_side(making, &making->forward, vertex);
	Side		against = begin_side(making, &making->backward, vertex);
	Side	   *side = &along;

	while (!making->failed)
	{
		side = along.nscanned <= against.nscanned ? &along : &against;
		if (side->next == side->reached.count)
			break;
		side->nscanned += 1 + add_list(making, side->view, side->reached.vertices[side->next++],
									   &side->reached);
	}
	add_set(making, &side->reached);
	emogi_vertex_set_free(&along.reached);
	emogi_vertex_set_free(&against.reached);
}

/* ---- parts without a vertex ---- */

/*
 * Searches from the neighbors of a vertex. The vertex is at place 0 of `reached`, its neighbors at
 * 1 .. nneighbors; a part is called by the smallest place of a neighbor in it.
 */
typedef struct Parts
{
	EmogiLocalMaking *making;
	EmogiVertexSet reached;
	uint32_t   *part;			/* [reached.count], room for [room]: a part, or one joined to it */
	uint32_t   *next;			/* likewise: next place in the queue of its part; 0 = last */
	uint64_t	room;
	uint64_t	nneighbors;
	uint32_t   *first;			/* [nneighbors + 1], the queue of a part; 0 = empty */
	uint32_t   *last;			/* likewise */
	uint32_t   *open;			/* [nopen], parts whose queues are not empty */
	uint64_t	nopen;
} Parts;

/* Get the part that a part has been joined to. */
static uint32_t
find_part(const Parts *parts, uint32_t part)
{
	while (parts->part[part] != part)
	{
		parts->part[part] = parts->part[parts->part[part]];
		part = parts->part[part];
	}
	return part;
}

/* Make room for more reached vertices; false if the making failed. */
static bool
reserve_parts(Parts *parts, uint64_t more)
{
	uint32_t   *part;
	uint32_t   *next;

	if (!reserve(parts->making, &parts->reached, more))
		return false;
	if (parts->reached.room == parts->room)
		return true;
	part = realloc(parts->part, parts->reached.room * sizeof *part);
	parts->part = part != NULL ? part : parts->part;
	next = realloc(parts->next, parts->reached.room * sizeof *next);
	parts->next = next != NULL ? next : parts->next;
	if (part == NULL || next == NULL)
		parts->making->failed = true;
	else
		parts->room = parts->reached.room;
	return !parts->making->failed;
}

/* Append a queue, from place `first` to `last`, to that of a part. */
static void
enqueue(Parts *parts, uint32_t part, uint32_t first, uint32_t last)
{
	if (parts->first[part] == 0)
		parts->first[part] = first;
	else
		parts->next[parts->last[part]] = first;
	parts->last[part] = last;
}

/* Join two parts; return the one that remains. */
static uint32_t
join_parts(Parts *parts, uint32_t a, uint32_t b)
{
	const uint32_t low = a < b ? a : b;
	const uint32_t high = a < b ? b : a;

	parts->part[high] = low;
	if (parts->first[high] != 0)
		enqueue(parts, low, parts->first[high], parts->last[high]);
	parts->first[high] = 0;
	return low;
}

/* Let a part reach a vertex, for which there is room; return the part it then belongs to. */
static uint32_t
reach(Parts *parts, uint32_t part, uint32_t vertex)
{
	const uint64_t count = parts->reached.count;
	const uint32_t place = emogi_vertex_set_add(&parts->reached, vertex);
	uint32_t	other;

	if (place == 0)
		return part;
	if (place == count)
	{
		parts->part[place] = part;
		parts->next[place] = 0;
		enqueue(parts, part, place, place);
		return part;
	}
	other = find_part(parts, place);
	if (other == part)
		return part;
	add(parts->making, &parts->making->members, vertex);
	return join_parts(parts, part, other);
}

/* Expand the next vertex of a part. */
static void
expand_part(Parts *parts, uint32_t part)
{
	const EmogiListsView *view = &parts->making->forward;
	const uint32_t place = parts->first[part];
	const uint32_t vertex = parts->reached.vertices[place];
	const uint64_t degree = emogi_lists_degree(view, vertex);
	EmogiListPiece whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces;

	parts->first[part] = parts->next[place];
	parts->next[place] = 0;
	add(parts->making, &parts->making->members, vertex);
	if (!emogi_local_making_charge(parts->making, degree) || !reserve_parts(parts, degree))
		return;
	pieces = emogi_lists_pieces(view, vertex, &whole, &npieces);
	for (uint32_t i = 0; i < npieces; i++)
		for (uint64_t e = 0; e < pieces[i].count; e++)
			part = reach(parts, part, pieces[i].targets[e]);
}

/* Begin a search from each neighbor of a vertex; false if that fails. */
static bool
begin_parts(Parts *parts, uint32_t vertex)
{
	EmogiLocalMaking *making = parts->making;

	add(making, &parts->reached, vertex);
	if (!making->failed)
		(void) add_list(making, &making->forward, vertex, &parts->reached);
	if (making->failed || !reserve_parts(parts, 1))
		return false;
	add_set(making, &parts->reached);
	parts->nneighbors = parts->reached.count - 1;
	parts->first = malloc(3 * parts->reached.count * sizeof *parts->first);
	making->failed |= parts->first == NULL;
	if (making->failed)
		return false;
	parts->last = parts->first + parts->reached.count;
	parts->open = parts->last + parts->reached.count;
	for (uint32_t i = 1; i <= parts->nneighbors; i++)
	{
		parts->part[i] = parts->first[i] = parts->last[i] = i;
		parts->next[i] = 0;
		parts->open[parts->nopen++] = i;
	}
	return true;
}

/* Forget the parts that are complete, or joined to others. */
static void
close_parts(Parts *parts)
{
	uint64_t	nopen = 0;

	for (uint64_t i = 0; i < parts->nopen; i++)
		if (parts->first[parts->open[i]] != 0)
			parts->open[nopen++] = parts->open[i];
	parts->nopen = nopen;
}

/* Add the vertices that tell the parts without a vertex. */
static void
add_parts(EmogiLocalMaking *making, uint32_t vertex)
{
	Parts		parts = {.making = making};

	if (begin_parts(&parts, vertex))
		for (; parts.nopen > 1 && !making->failed; close_parts(&parts))
			for (uint64_t i = 0; i < parts.nopen && !making->failed; i++)
				if (parts.first[parts.open[i]] != 0)
					expand_part(&parts, parts.open[i]);
	emogi_vertex_set_free(&parts.reached);
	free(parts.part);
	free(parts.next);
	free(parts.first);
}

/* ---- scopes ---- */

/* Add what a vertex needs to the members, of which it is the last if it is new. */
static void
add_scope(EmogiLocalMaking *making, EmogiLocalScope scope, uint32_t vertex)
{
	switch (scope)
	{
		case EMOGI_SCOPE_NONE:
			making->failed = true;
			break;
		case EMOGI_SCOPE_NEIGHBORS:
			add_neighbors(making, vertex);
			break;
		case EMOGI_SCOPE_COMPONENT:
			for (uint64_t i = making->members.count - 1;
				 i < making->members.count && !making->failed; i++)
				add_neighbors(making, making->members.vertices[i]);
			break;
		case EMOGI_SCOPE_STRONG:
			add_strong(making, vertex);
			break;
		case EMOGI_SCOPE_PARTS:
			add_parts(making, vertex);
			break;
	}
}

void
emogi_local_scope_collect(EmogiLocalMaking *making, EmogiLocalScope scope,
						  const uint32_t *vertices, uint64_t nvertices)
{
	/* a member has all of its component; and all that it reaches, or all that reach it */
	const bool	is_closed = scope == EMOGI_SCOPE_COMPONENT || scope == EMOGI_SCOPE_STRONG;

	for (uint64_t i = 0; i < nvertices && !making->failed; i++)
	{
		const uint64_t count = making->members.count;

		add(making, &making->members, vertices[i]);
		if (!making->failed && (!is_closed || making->members.count > count))
			add_scope(making, scope, vertices[i]);
	}
}
