/*
 * topk.c: top-k by values, for ORDER BY rank DESC LIMIT 20: the vertices are picked before rows are
 * made
 *
 * They are kept in a heap whose root is the last of them in the order. Once it is full, only
 * vertices of a block whose value in the first column of the order is not after the root's are
 * considered (ranges.c). Ties are resolved by ascending vertex.
 *
 * If all rows are requested, they are sorted by a column of vertices: its values are small numbers,
 * so they are counted. Then rows of a component are neighbors, as window functions and grouping
 * with array_agg need them, without a sort of the keys themselves.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "scan_node/scan.h"

/*
 * One of this many blocks is processed first, so that values that ascend with the vertices do not
 * each replace the root.
 */
#define SAMPLE_STRIDE 16

/* An order of rows, and the number of rows requested; 0 = all, by one column of vertices. */
typedef struct EmogiTopK
{
	EmogiScan  *scan;
	uint64		count;
	int			nkeys;
	int			places[EMOGI_MAX_COLUMNS + 1];	/* of columns, 0 = vertex */
	bool		descends[EMOGI_MAX_COLUMNS + 1];
} EmogiTopK;

/* Describe the top rows for an engine; return false if they are ordered by vertex. */
static bool
describe_first(const EmogiScan *scan, EmogiSummary *summary)
{
	const EmogiTopK *top = scan->top;

	summary->kind = EMOGI_SUMMARY_FIRST;
	summary->column = top->places[0] - 1;
	summary->descends = top->descends[0];
	summary->count = top->count;
	return summary->column >= 0;
}

/*
 * Prepare a scan for its order. spec: integers: the number of rows, then for each column of the
 * order its number and whether it descends.
 */
void
emogi_topk_init(EmogiScan *scan, List *spec)
{
	EmogiTopK   *top = palloc0(sizeof *top);

	top->scan = scan;
	top->count = linitial_int(spec);
	for (int i = 1; i < list_length(spec); i += 2)
	{
		top->places[top->nkeys] = list_nth_int(spec, i);
		top->descends[top->nkeys++] = list_nth_int(spec, i + 1) != 0;
	}
	scan->top = top;
	if (top->count > 0)
	{
		scan->summarize = describe_first;
		scan->picked = palloc(top->count * sizeof *scan->picked);
	}
	if (scan->mask == NULL)
		scan->mask = palloc(EMOGI_BLOCK_VERTICES);
}

/*
 * Compare two vertices by their values of a column; vertex numbers are in the order of their keys.
 */
static int
compare_values(const EmogiScan *scan, int place, uint32 a, uint32 b)
{
	const EmogiArray array = scan->result.columns[place > 0 ? place - 1 : 0];

	if (place == 0)
		return (a > b) - (a < b);
	switch (scan->function->columns[place - 1].type)
	{
		case EMOGI_INT32:
			return (array.int32[a] > array.int32[b]) - (array.int32[a] < array.int32[b]);
		case EMOGI_INT64:
			return (array.int64[a] > array.int64[b]) - (array.int64[a] < array.int64[b]);
		case EMOGI_FLOAT64:
			return (array.float64[a] > array.float64[b]) - (array.float64[a] < array.float64[b]);
		case EMOGI_VERTEX:
			return (array.vertex[a] > array.vertex[b]) - (array.vertex[a] < array.vertex[b]);
		case EMOGI_EDGE:
			break;
	}
	return 0;
}

/* Compare two vertices by the order. */
static int
compare(const void *first, const void *second, void *arg)
{
	const EmogiTopK *top = arg;
	const uint32 a = *(const uint32 *) first;
	const uint32 b = *(const uint32 *) second;

	for (int i = 0; i < top->nkeys; i++)
	{
		int			order = compare_values(top->scan, top->places[i], a, b);

		if (order != 0)
			return top->descends[i] ? -order : order;
	}
	return (a > b) - (a < b);
}

/* Sift down the vertex at a position of the heap. */
static void
sift_down(const EmogiTopK *top, uint32 *heap, uint64 count, uint64 place)
{
	const uint32 v = heap[place];

	for (uint64 child; (child = 2 * place + 1) < count; place = child)
	{
		if (child + 1 < count && compare(&heap[child + 1], &heap[child], (void *) top) > 0)
			child++;
		if (compare(&v, &heap[child], (void *) top) >= 0)
			break;
		heap[place] = heap[child];
	}
	heap[place] = v;
}

/* Insert a vertex while there is room, or in place of the root if it comes before. */
static void
insert(const EmogiTopK *top, uint32 v)
{
	EmogiScan  *scan = top->scan;
	uint32	   *heap = scan->picked;

	if (scan->npicked < top->count)
	{
		heap[scan->npicked++] = v;
		if (scan->npicked == top->count)
			for (uint64 i = top->count / 2; i-- > 0;)
				sift_down(top, heap, top->count, i);
	}
	else if (compare(&v, &heap[0], (void *) top) < 0)
	{
		heap[0] = v;
		sift_down(top, heap, top->count, 0);
	}
}

/* Get the ranges of values that may come before the root's. */
static EmogiRanges
ranges_before_root(const EmogiTopK *top)
{
	const EmogiScan *scan = top->scan;
	const int	column = top->places[0] - 1;
	const EmogiPushdown bound = top->descends[0] ? EMOGI_IS_AT_LEAST : EMOGI_IS_AT_MOST;
	const EmogiArray array = scan->result.columns[column];
	const uint32 last = scan->picked[0];
	const bool	is_float = scan->function->columns[column].type == EMOGI_FLOAT64;
	EmogiRanges ranges = scan->ranges;
	Datum		value;

	if (is_float)
		value = Float8GetDatum(array.float64[last]);
	else
		value =
			Int64GetDatum((int64) emogi_algorithm_column_number(&scan->function->columns[column],
																array, last));
	emogi_ranges_narrow(&ranges, scan->function->columns, column, bound, value,
						is_float ? FLOAT8OID : INT8OID);
	return ranges;
}

/* Insert the vertices of a block that have a row and may come before the root. */
static void
insert_block(const EmogiTopK *top, uint64 first, uint32 count)
{
	EmogiScan  *scan = top->scan;
	const EmogiRanges ranges = scan->npicked < top->count ? scan->ranges : ranges_before_root(top);
	uint8	   *end = scan->mask + count;

	if (emogi_ranges_select(&ranges, scan->function->columns, &scan->result, first, count,
							scan->mask) == 0)
		return;
	for (uint8 *p = scan->mask; p < end && (p = memchr(p, 1, end - p)) != NULL; p++)
		insert(top, (uint32) (first + (p - scan->mask)));
}

/* Pick the first or the last vertices that have a row. */
static void
pick_by_vertex(const EmogiTopK *top)
{
	EmogiScan  *scan = top->scan;
	const uint64 n = scan->graph.nvertices;

	for (uint64 i = 0; i < n && scan->npicked < top->count; i++)
	{
		const uint64 v = top->descends[0] ? n - 1 - i : i;

		if (i % EMOGI_PIECE_VERTICES == 0)
			CHECK_FOR_INTERRUPTS();
		if (emogi_scan_has_row(scan, v))
			scan->picked[scan->npicked++] = (uint32) v;
	}
}

/*
 * Pick vertices by their values: from a sample of blocks all over the result, then from the others.
 */
static void
pick_by_value(const EmogiTopK *top)
{
	const uint64 n = top->scan->graph.nvertices;

	for (int others = 0; others < 2; others++)
		for (uint64 block = 0; block * EMOGI_BLOCK_VERTICES < n; block++)
		{
			const uint64 first = block * EMOGI_BLOCK_VERTICES;

			if ((block % SAMPLE_STRIDE != 0) != (others != 0))
				continue;
			CHECK_FOR_INTERRUPTS();
			insert_block(top, first, (uint32) Min(EMOGI_BLOCK_VERTICES, n - first));
		}
}

/* Make room for so many picked vertices, which are kept until the end of the plan. */
static void
reserve_picked(EmogiScan *scan, uint64 count)
{
	if (scan->picked != NULL)
		pfree(scan->picked);
	scan->picked = MemoryContextAllocHuge(scan->css.ss.ps.state->es_query_cxt,
										  Max(count, 1) * sizeof *scan->picked);
}

/*
 * Count the rows of each value of the column, or place them behind those of smaller values if
 * `picked` is not NULL. places: [nvertices + 1].
 */
static void
count_or_place(const EmogiTopK *top, uint32 *places, uint32 *picked)
{
	EmogiScan  *scan = top->scan;
	const uint32 *values = scan->result.columns[top->places[0] - 1].vertex;
	const uint64 n = scan->graph.nvertices;

	for (uint64 first = 0; first < n; first += EMOGI_BLOCK_VERTICES)
	{
		const uint32 count = (uint32) Min(EMOGI_BLOCK_VERTICES, n - first);
		const uint8 *end = scan->mask + count;

		CHECK_FOR_INTERRUPTS();
		(void) emogi_ranges_select(&scan->ranges, scan->function->columns, &scan->result, first,
								   count, scan->mask);
		for (const uint8 *p = scan->mask; p < end && (p = memchr(p, 1, end - p)) != NULL; p++)
		{
			const uint32 v = (uint32) (first + (p - scan->mask));

			if (picked != NULL)
				picked[places[values[v]]++] = v;
			else
				places[values[v] + 1]++;
		}
	}
}

/* Pick all vertices that have a row, in order. */
static void
pick_all(const EmogiTopK *top)
{
	EmogiScan  *scan = top->scan;
	const uint64 n = scan->graph.nvertices;
	uint32	   *places = palloc_extended((n + 1) * sizeof *places, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);

	count_or_place(top, places, NULL);
	for (uint64 value = 0; value < n; value++)
		places[value + 1] += places[value];
	scan->npicked = places[n];
	reserve_picked(scan, scan->npicked);
	count_or_place(top, places, scan->picked);
	pfree(places);
}

/* Pick the requested rows of the current run, in order. */
void
emogi_topk_select(EmogiScan *scan)
{
	const EmogiTopK *top = scan->top;

	scan->npicked = 0;
	if (top->count == 0 && scan->keys == NULL)
	{
		pick_all(top);
		return;
	}
	if (top->count == 0)
		reserve_picked(scan, scan->nkeys);
	if (scan->keys != NULL)
	{
		for (uint64 i = 0; i < scan->nkeys; i++)
		{
			uint32		v = emogi_graph_vertex(&scan->graph, scan->keys[i]);

			if (v == EMOGI_NO_VERTEX || !emogi_scan_has_row(scan, v))
				continue;
			if (top->count == 0)
				scan->picked[scan->npicked++] = v;
			else
				insert(top, v);
		}
	}
	else if (scan->result.is_summarized)
	{
		for (uint64 i = 0; i < scan->result.nsummarized; i++)
			insert(top, scan->summary->picked[i]);
	}
	else if (top->places[0] == 0)
		pick_by_vertex(top);
	else
		pick_by_value(top);
	qsort_arg(scan->picked, scan->npicked, sizeof *scan->picked, compare, (void *) top);
}
