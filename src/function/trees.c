/*
 * trees.c: rows that are pairs, sorted: edges by their two ends, of emogi_spanning_forest and emogi_bridges, and blocks with the vertices that
 * are in them, of emogi_biconnected.
 *
 * An engine tells both by one value of each vertex (EMOGI_IS_EDGES, EMOGI_IS_BLOCKS). So all but one of the pairs of a first element, or all, have
 * second elements that come up in ascending order when vertices are looked at in turn: they are counted and put in their places, and then the
 * one is put between them.
 */
#include "postgres.h"

#include "contract/blocks.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "utils/memutils.h"
#include "utils/tuplestore.h"

#include "function/function.h"
#include "function/rows.h"

/* Vertices between two looks for a cancel. */
#define VERTICES_PER_CHECK 65536

/* Pairs in ascending order: the second elements of each first one. */
typedef struct Pairs
{
	uint64		nfirst;			/* first elements: 0 .. nfirst - 1 */
	uint64	   *starts;			/* [nfirst + 2]; those of i begin at starts[i] and end before starts[i + 1] */
	uint32	   *second;			/* [starts[nfirst]] */
	uint32	   *late;			/* [nfirst], the one that does not come up in order, EMOGI_NO_VERTEX = none */
} Pairs;

/* Look for a cancel from time to time. */
static inline void
check_at(uint64 v)
{
	if (v % VERTICES_PER_CHECK == 0)
		CHECK_FOR_INTERRUPTS();
}

/* Get the pair of a vertex that comes up in order; false when it has none. */
typedef bool (*GetPair) (const EmogiResult *result, uint64 v, uint64 *first);

/* Get the edge from a vertex to a smaller one: the pair of that one and the vertex. */
static bool
edge_down(const EmogiResult *result, uint64 v, uint64 *first)
{
	*first = result->columns[0].vertex[v];
	return *first < v;
}

/* Get the block of the edge above a vertex: the pair of that and the vertex. */
static bool
block_above(const EmogiResult *result, uint64 v, uint64 *first)
{
	*first = (uint64) result->columns[0].int64[v];
	return result->columns[0].int64[v] >= 0;
}

/* Count the pairs of each first element, at its number + 2, and add them up: the beginnings are at its number + 1 then. */
static void
count_pairs(Pairs *pairs, const EmogiResult *result, uint64 nvertices, GetPair get)
{
	uint64		first;

	pairs->starts = palloc_extended((pairs->nfirst + 2) * sizeof *pairs->starts, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
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

/* Put the one that is late between the others of its first element, which end at the place that is left for it. */
static void
insert_late(Pairs *pairs, uint64 first)
{
	uint64		place = pairs->starts[first + 1]++;

	for (; place > pairs->starts[first] && pairs->second[place - 1] > pairs->late[first]; place--)
		pairs->second[place] = pairs->second[place - 1];
	pairs->second[place] = pairs->late[first];
}

/* Sort the pairs. late has been filled. */
static void
sort_pairs(Pairs *pairs, const EmogiResult *result, uint64 nvertices, GetPair get)
{
	uint64		first;

	count_pairs(pairs, result, nvertices, get);
	pairs->second = palloc_extended(Max(pairs->starts[pairs->nfirst + 1], 1) * sizeof *pairs->second, MCXT_ALLOC_HUGE);
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

/* Allocate room for those that are late: none yet. */
static void
begin_pairs(Pairs *pairs, uint64 nfirst)
{
	memset(pairs, 0, sizeof *pairs);
	pairs->nfirst = nfirst;
	pairs->late = palloc_extended(Max(nfirst, 1) * sizeof *pairs->late, MCXT_ALLOC_HUGE);
	memset(pairs->late, 0xFF, nfirst * sizeof *pairs->late);
}

/* Free the pairs. */
static void
end_pairs(Pairs *pairs)
{
	pfree(pairs->late);
	pfree(pairs->starts);
	pfree(pairs->second);
}

/* Sort the edges: first elements are the smaller ends. */
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

/* Sort the vertices of blocks: first elements are the blocks. */
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

/* Where rows go. */
typedef struct Rows
{
	ReturnSetInfo *rsinfo;
	MemoryContext context;		/* of a row */
	MemoryContext caller;
} Rows;

/* Begin to put rows. */
static void
begin_rows(Rows *rows, FunctionCallInfo fcinfo)
{
	rows->rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	rows->context = AllocSetContextCreate(CurrentMemoryContext, "emogi row", ALLOCSET_SMALL_SIZES);
	rows->caller = MemoryContextSwitchTo(rows->context);
}

/* Put a row. */
static inline void
put_row(Rows *rows, EmogiCall *call, Datum *values, bool *nulls)
{
	tuplestore_putvalues(rows->rsinfo->setResult, rows->rsinfo->setDesc, values, nulls);
	if (++call->record.nrows % VERTICES_PER_CHECK == 0)
		CHECK_FOR_INTERRUPTS();
	MemoryContextReset(rows->context);
}

/* End putting rows. */
static void
end_rows(Rows *rows)
{
	MemoryContextSwitchTo(rows->caller);
	MemoryContextDelete(rows->context);
}

/* Put all edges into the tuplestore: src, dst, and the columns of the vertex that tells the edge; in ascending order of (src, dst). */
void
emogi_trees_put_edges(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	const EmogiResultColumn *columns = emogi_algorithm_row(task->query.algorithm)->columns;
	bool		nulls[EMOGI_MAX_COLUMNS + 1] = {false};
	Datum		values[EMOGI_MAX_COLUMNS + 1];
	Pairs		edges;
	Rows		rows;

	sort_edges(&edges, graph, result);
	begin_rows(&rows, fcinfo);
	for (uint64 src = 0; src < edges.nfirst; src++)
		for (uint64 i = edges.starts[src]; i < edges.starts[src + 1]; i++)
		{
			const uint32 dst = edges.second[i];
			const uint64 teller = result->columns[0].vertex[dst] == src ? dst : src;

			values[0] = emogi_rows_vertex(task->form, graph, src);
			values[1] = emogi_rows_vertex(task->form, graph, dst);
			for (int column = 1; columns[column].name != NULL; column++)
				values[column + 1] = emogi_rows_column(columns, task->form, graph, result, teller, column);
			put_row(&rows, call, values, nulls);
		}
	end_rows(&rows);
	end_pairs(&edges);
}

/* Put all vertices of all blocks into the tuplestore: component, vertex; in ascending order of both. */
void
emogi_trees_put_blocks(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result)
{
	bool		nulls[2] = {false, false};
	Datum		values[2];
	Pairs		blocks;
	Rows		rows;

	sort_blocks(&blocks, graph, result);
	begin_rows(&rows, fcinfo);
	for (uint64 block = 0; block < blocks.nfirst; block++)
		for (uint64 i = blocks.starts[block]; i < blocks.starts[block + 1]; i++)
		{
			values[0] = Int64GetDatum((int64) block);
			values[1] = emogi_rows_vertex(task->form, graph, blocks.second[i]);
			put_row(&rows, call, values, nulls);
		}
	end_rows(&rows);
	end_pairs(&blocks);
}
