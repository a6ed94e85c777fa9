/*
 * edge_rows.c: rows that are sorted pairs: edges with their two ends, of emogi_spanning_forest and
 * emogi_bridges, and blocks with their vertices, of emogi_biconnected
 *
 * An engine encodes both by one value per vertex (EMOGI_SHAPE_EDGES, EMOGI_SHAPE_BLOCKS).
 * Traversing the vertices in ascending order yields the second elements of each first element in
 * ascending order, except at most one. Those in order are placed by a counting sort, then the
 * exception is inserted.
 */
#include "postgres.h"

#include "contract/biconnected.h"
#include "miscadmin.h"

#include "function/cursor.h"

/* Vertices between two checks for interrupts. */
#define VERTICES_PER_CHECK 65536

/* Pairs in ascending order: the second elements of each first element. */
typedef struct Pairs
{
	uint64		nfirst;			/* first elements: 0 .. nfirst - 1 */
	uint64	   *starts;			/* [nfirst + 2]; pairs of i are at starts[i] .. starts[i + 1] - 1 */
	uint32	   *second;			/* [starts[nfirst]] */
	uint32	   *late;			/* [nfirst], the second element that is out of order,
								 * EMOGI_NO_VERTEX = none */
} Pairs;

/* Check for interrupts from time to time. */
static inline void
check_at(uint64 v)
{
	if (v % VERTICES_PER_CHECK == 0)
		CHECK_FOR_INTERRUPTS();
}

/* Get the pair of a vertex that is in order; return false if it has none. */
typedef bool (*GetPair) (const EmogiResult *result, uint64 v, uint64 *first);

/* Get the edge from a vertex to a smaller one: the pair (smaller vertex, vertex). */
static bool
edge_down(const EmogiResult *result, uint64 v, uint64 *first)
{
	*first = result->columns[0].vertex[v];
	return *first < v;
}

/* Get the block of the edge to a vertex's parent: the pair (block, vertex). */
static bool
block_above(const EmogiResult *result, uint64 v, uint64 *first)
{
	*first = (uint64) result->columns[0].int64[v];
	return result->columns[0].int64[v] >= 0;
}

/*
 * Count the pairs of first element i in starts[i + 2], and compute prefix sums, so that its start
 * is in starts[i + 1].
 */
static void
count_pairs(Pairs *pairs, const EmogiResult *result, uint64 nvertices, GetPair get)
{
	uint64		first;

	pairs->starts = palloc_extended((pairs->nfirst + 2) * sizeof *pairs->starts,
									MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	for (uint64 v = 0; v < nvertices; v++)
	{
		check_at(v);
		if (get(result, v, &first))
			pairs->starts[first + 2]++;
	}
	for (uint64 i = 0; i < pairs->nfirst; i++)
	{
		check_at(i);
		pairs->starts[i + 2] += pairs->starts[i + 1] + (pairs->late[i] != EMOGI_NO_VERTEX);
	}
}

/*
 * Insert the out-of-order element between the others of its first element, which end at the place
 * reserved for it.
 */
static void
insert_late(Pairs *pairs, uint64 first)
{
	uint64		place = pairs->starts[first + 1]++;

	for (; place > pairs->starts[first] && pairs->second[place - 1] > pairs->late[first]; place--)
		pairs->second[place] = pairs->second[place - 1];
	pairs->second[place] = pairs->late[first];
}

/* Sort the pairs. late must be filled in. */
static void
sort_pairs(Pairs *pairs, const EmogiResult *result, uint64 nvertices, GetPair get)
{
	uint64		first;

	count_pairs(pairs, result, nvertices, get);
	pairs->second = palloc_extended(Max(pairs->starts[pairs->nfirst + 1],
										1) * sizeof *pairs->second, MCXT_ALLOC_HUGE);
	for (uint64 v = 0; v < nvertices; v++)
	{
		check_at(v);
		if (get(result, v, &first))
			pairs->second[pairs->starts[first + 1]++] = (uint32) v;
	}
	for (uint64 i = 0; i < pairs->nfirst; i++)
	{
		check_at(i);
		if (pairs->late[i] != EMOGI_NO_VERTEX)
			insert_late(pairs, i);
	}
}

/* Allocate the array of out-of-order elements, with none yet. */
static void
begin_pairs(Pairs *pairs, uint64 nfirst)
{
	memset(pairs, 0, sizeof *pairs);
	pairs->nfirst = nfirst;
	pairs->late = palloc_extended(Max(nfirst, 1) * sizeof *pairs->late, MCXT_ALLOC_HUGE);
	memset(pairs->late, 0xFF, nfirst * sizeof *pairs->late);
}

/* Sort the edges; first elements are the smaller ends. */
static void
sort_edges(Pairs *pairs, const EmogiGraph *graph, const EmogiResult *result)
{
	const uint32 *other = result->columns[0].vertex;

	begin_pairs(pairs, graph->nvertices);
	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		check_at(v);
		if (other[v] != EMOGI_NO_VERTEX && other[v] > v)
			pairs->late[v] = other[v];
	}
	sort_pairs(pairs, result, graph->nvertices, edge_down);
}

/* Sort the vertices of blocks; first elements are the blocks. */
static void
sort_blocks(Pairs *pairs, const EmogiGraph *graph, const EmogiResult *result)
{
	const int64 *component = result->columns[0].int64;
	const uint32 *parent = result->columns[1].vertex;
	uint64		nblocks = 0;

	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		check_at(v);
		if (component[v] >= (int64) nblocks)
			nblocks = (uint64) component[v] + 1;
	}
	begin_pairs(pairs, nblocks);
	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		const uint32 top = emogi_block_top(component, parent, (uint32) v);

		check_at(v);
		if (top != EMOGI_NO_VERTEX)
			pairs->late[component[v]] = top;
	}
	sort_pairs(pairs, result, graph->nvertices, block_above);
}

/* ---- rows ---- */

/* Let a cursor read sorted pairs. */
static void
read_pairs(EmogiRowCursor *cursor, Pairs *pairs)
{
	pfree(pairs->late);
	cursor->nelements = pairs->nfirst;
	cursor->starts = pairs->starts;
	cursor->second = pairs->second;
}

static void
begin_edges(EmogiRowCursor *cursor)
{
	Pairs		edges;

	sort_edges(&edges, cursor->graph, cursor->result);
	read_pairs(cursor, &edges);
}

static void
begin_blocks(EmogiRowCursor *cursor)
{
	Pairs		blocks;

	sort_blocks(&blocks, cursor->graph, cursor->result);
	read_pairs(cursor, &blocks);
}

/* Places are all second elements of a first element. */
static void
enter_first(EmogiRowCursor *cursor)
{
	cursor->place = cursor->starts[cursor->element];
	cursor->nplaces = cursor->starts[cursor->element + 1];
}

/*
 * Fill in an edge: src, dst, weight. The weight is stored with the end whose value is the other
 * end.
 */
static bool
fill_edge(EmogiRowCursor *cursor)
{
	const uint64 src = cursor->element;
	const uint32 dst = cursor->second[cursor->place];
	const EmogiArray *columns = cursor->result->columns;

	cursor->cells[0].number = (int64) src;
	cursor->cells[1].number = dst;
	if (columns[1].any != NULL && (cursor->wanted & 1U << 2) != 0)
		cursor->cells[2].real = columns[1].float64[columns[0].vertex[dst] == src ? dst : src];
	return true;
}

/* Fill in a vertex of a block: component, vertex. */
static bool
fill_member(EmogiRowCursor *cursor)
{
	cursor->cells[0].number = (int64) cursor->element;
	cursor->cells[1].number = cursor->second[cursor->place];
	return true;
}

/* Rows in ascending order of both columns */
#define SORTED_PAIRS .element = 0, .place = -1, .nullable = -1, .norder = 2

const EmogiRowKind emogi_weighted_edge_rows = {
	.columns = {{"src", EMOGI_VERTEX, NAN}, {"dst", EMOGI_VERTEX, NAN},
				{"weight", EMOGI_FLOAT64, NAN}},
	.key = 0,
	SORTED_PAIRS,
	.begin = begin_edges,
	.enter = enter_first,
	.fill = fill_edge
};

const EmogiRowKind emogi_edge_rows = {
	.columns = {{"src", EMOGI_VERTEX, NAN}, {"dst", EMOGI_VERTEX, NAN}},
	.key = 0,
	SORTED_PAIRS,
	.begin = begin_edges,
	.enter = enter_first,
	.fill = fill_edge
};

const EmogiRowKind emogi_block_rows = {
	.columns = {{"component", EMOGI_INT64, NAN}, {"vertex", EMOGI_VERTEX, NAN}},
	.key = 1,
	SORTED_PAIRS,
	.begin = begin_blocks,
	.enter = enter_first,
	.fill = fill_member
};
