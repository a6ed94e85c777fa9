/*
 * property_rows.c: store the values of rows by the entries of their edges, some rows at a time.
 *
 * Several processes may do so at once: an entry belongs to the process whose row has taken it, and
 * bits of bitmaps are set atomically.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"

#include "analysis/filter_bounds.h"
#include "edges/pages.h"
#include "edges/property_scan.h"

/* The value of a column in a row. */
typedef union PropertyValue
{
	int64		integer;		/* or a code */
	double		number;
} PropertyValue;

/* Rows whose entries are not known yet. */
typedef struct Rows
{
	uint32		count;
	uint32		src[EMOGI_ROWS_AT_ONCE];
	uint32		dst[EMOGI_ROWS_AT_ONCE];
	double		weights[EMOGI_ROWS_AT_ONCE];
	PropertyValue values[EMOGI_FILTER_MAX_COLUMNS][EMOGI_ROWS_AT_ONCE];
	bool		nulls[EMOGI_FILTER_MAX_COLUMNS][EMOGI_ROWS_AT_ONCE];
} Rows;

/* The part of a process in a scan. */
struct EmogiPropertyReader
{
	EmogiPropertyScan *scan;	/* may be shared */
	EmogiScannedColumn columns[EMOGI_FILTER_MAX_COLUMNS];	/* copy of its columns */
	int64		last_codes[EMOGI_FILTER_MAX_COLUMNS];	/* of each column; -1 = none */
	uint64		ntaken;			/* entries of the forward lists */
	EmogiKeyCoder coder;
	bool		is_dense;		/* keys of vertices are integers without gaps */
	Oid			weight_type;
	int16		src_length;
	int16		dst_length;
	Rows		rows;
};

/* Raise the error that the rows are not those of the graph (P1). */
void
emogi_property_rows_report(const EmogiPropertyScan *scan)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("the rows of a column are not the edges of the graph of \"%s\"",
					get_rel_name(scan->relid)),
			 errdetail("The graph has " UINT64_FORMAT " entries.", scan->graph.forward.nedges)));
}

/* Get the type of a column of the table. */
static Oid
column_type(const EmogiPropertyScan *scan, AttrNumber attnum)
{
	return attnum > 0 ? getBaseType(get_atttype(scan->relid, attnum)) : InvalidOid;
}

/* Are the keys of a graph integers without gaps? They are ascending. */
static bool
has_dense_keys(const EmogiGraph *graph)
{
	return graph->dictionary == NULL && graph->ids != NULL && graph->nvertices > 0 &&
		(uint64) graph->ids[graph->nvertices - 1] - (uint64) graph->ids[0] ==
		graph->nvertices - 1;
}

/* Begin the part of this process in a scan. */
EmogiPropertyReader *
emogi_property_rows_begin(EmogiPropertyScan *scan)
{
	EmogiPropertyReader *reader = palloc0(sizeof *reader);

	reader->scan = scan;
	memcpy(reader->columns, scan->columns, sizeof scan->columns);
	for (int i = 0; i < scan->ncolumns; i++)
		reader->last_codes[i] = -1;
	reader->is_dense = has_dense_keys(&scan->graph);
	if (scan->graph.dictionary != NULL)
		emogi_key_coder_init(&reader->coder, &scan->key);
	reader->weight_type = column_type(scan, scan->weight);
	reader->src_length = get_typlen(column_type(scan, scan->src));
	reader->dst_length = get_typlen(column_type(scan, scan->dst));
	return reader;
}

/* ---- by entry ---- */

/* Set a bit of a bitmap that other processes may write. */
static void
set_bit(uint64 *bitmap, uint64 bit)
{
	__atomic_fetch_or(&bitmap[bit / 64], UINT64CONST(1) << (bit % 64), __ATOMIC_RELAXED);
}

/* Store the values of a column that are not NULL. */
#define STORE(type, member) \
	for (uint32 i = 0; i < count; i++) \
	{ \
		if (!nulls[which[i]]) \
			((type *) array)[entries[i]] = (type) values[which[i]].member; \
	}

/* Store the values of a column: those of rows which[count], by entries[count]. */
static void
store_column(const EmogiPropertyReader *reader, const EmogiScannedLists *lists, int number,
			 uint32 count, const uint32 *which, const uint64 *entries)
{
	const EmogiScannedColumn *column = &reader->columns[number];
	const PropertyValue *values = reader->rows.values[number];
	const bool *nulls = reader->rows.nulls[number];
	void	   *array = lists->values[number];

	if (column->kind == EMOGI_COLUMN_ABSENT)
		return;
	if (column->raw == EMOGI_PROPERTY_I32)
		STORE(int32, integer)
	else if (column->raw == EMOGI_PROPERTY_I64)
		STORE(int64, integer)
	else if (column->raw == EMOGI_PROPERTY_F32)
		STORE(float, number)
	else
		STORE(double, number)
	for (uint32 i = 0; i < count && column->has_nulls; i++)
		if (nulls[which[i]])
			set_bit(lists->nulls[number], entries[i]);
}

/* Take entries of lists for rows which[count] from the one end to the other, and store them. */
static void
take_entries(EmogiPropertyReader *reader, const EmogiScannedLists *lists, uint32 count,
			 const uint32 *which, const uint32 *from, const uint32 *to, const double *weights)
{
	uint64		entries[EMOGI_ROWS_AT_ONCE];

	if (!emogi_property_take(&lists->entries, count, from, to, weights, entries))
		emogi_property_rows_report(reader->scan);
	for (int i = 0; i < reader->scan->ncolumns; i++)
		store_column(reader, lists, i, count, which, entries);
	if (lists == &reader->scan->forward)
		reader->ntaken += count;
}

/* Take the entries of rows in the other direction, but for loops, which have only one. */
static void
take_other_direction(EmogiPropertyReader *reader)
{
	const Rows *rows = &reader->rows;
	uint32		which[EMOGI_ROWS_AT_ONCE];
	uint32		from[EMOGI_ROWS_AT_ONCE];
	uint32		to[EMOGI_ROWS_AT_ONCE];
	double		weights[EMOGI_ROWS_AT_ONCE];
	uint32		count = 0;

	for (uint32 i = 0; i < rows->count; i++)
	{
		if (rows->src[i] == rows->dst[i])
			continue;
		which[count] = i;
		from[count] = rows->dst[i];
		to[count] = rows->src[i];
		weights[count++] = rows->weights[i];
	}
	take_entries(reader, &reader->scan->forward, count, which, from, to, weights);
}

/* Store the rows whose entries are not known yet. */
static void
store_rows(EmogiPropertyReader *reader)
{
	const EmogiPropertyScan *scan = reader->scan;
	Rows	   *rows = &reader->rows;
	const bool	is_reversed = scan->direction == EMOGI_IN;
	const uint32 *from = is_reversed ? rows->dst : rows->src;
	const uint32 *to = is_reversed ? rows->src : rows->dst;
	uint32		which[EMOGI_ROWS_AT_ONCE];

	for (uint32 i = 0; i < rows->count; i++)
		which[i] = i;
	take_entries(reader, &scan->forward, rows->count, which, from, to, rows->weights);
	if (scan->direction == EMOGI_BOTH)
		take_other_direction(reader);
	if (scan->backward.entries.lists != NULL)
		take_entries(reader, &scan->backward, rows->count, which, to, from, rows->weights);
	rows->count = 0;
}

/* ---- rows ---- */

/* Get the number of a vertex of a row. */
static uint32
vertex_of(EmogiPropertyReader *reader, Datum datum, int16 length)
{
	const EmogiGraph *graph = &reader->scan->graph;
	int64		key;
	uint32		vertex;

	if (graph->dictionary != NULL)
		key = emogi_dictionary_find(graph->dictionary,
									emogi_key_coder_encode(&reader->coder, datum));
	else
		key = length == sizeof(int64) ? DatumGetInt64(datum) :
			length == sizeof(int32) ? DatumGetInt32(datum) : DatumGetInt16(datum);
	if (reader->is_dense)
		vertex = (uint64) key - (uint64) graph->ids[0] < graph->nvertices ?
			(uint32) (key - graph->ids[0]) : EMOGI_NO_VERTEX;
	else
		vertex = graph->dictionary != NULL && key == EMOGI_NO_CODE ? EMOGI_NO_VERTEX :
			emogi_graph_vertex(graph, key);
	if (vertex == EMOGI_NO_VERTEX)
		emogi_property_rows_report(reader->scan);
	return vertex;
}

/* Is a row no edge? */
static bool
has_null_end(EmogiPropertyReader *reader, const EmogiTupleValues *values)
{
	return values->nulls[EMOGI_PROPERTY_SRC] || values->nulls[EMOGI_PROPERTY_DST] ||
		(reader->scan->graph.dictionary != NULL &&
		 (emogi_key_coder_has_null(&reader->coder, values->datums[EMOGI_PROPERTY_SRC]) ||
		  emogi_key_coder_has_null(&reader->coder, values->datums[EMOGI_PROPERTY_DST])));
}

/* Get the value of a column, and note it. */
static PropertyValue
get_value(EmogiPropertyReader *reader, int number, Datum datum)
{
	EmogiScannedColumn *column = &reader->columns[number];
	PropertyValue value = {0};

	switch (column->kind)
	{
		case EMOGI_COLUMN_INTEGER:
			value.integer = emogi_filter_bounds_integer(datum, column->identity.type);
			column->min = Min(column->min, value.integer);
			column->max = Max(column->max, value.integer);
			break;
		case EMOGI_COLUMN_FLOAT:
			value.number = column->identity.type == FLOAT4OID ? (double) DatumGetFloat4(datum) :
				DatumGetFloat8(datum);
			column->fits_f32 = column->fits_f32 && emogi_property_fits_f32(value.number);
			break;
		case EMOGI_COLUMN_CODES:
			value.integer = emogi_property_values_code(column->different, datum,
													   &reader->last_codes[number]);
			if (value.integer < 0)
				column->kind = EMOGI_COLUMN_ABSENT;
			break;
		case EMOGI_COLUMN_ABSENT:
			break;
	}
	return value;
}

/* Add a row, if it is an edge. Raises 53200, and XX000 if the graph has no such edge. */
void
emogi_property_rows_add(EmogiPropertyReader *reader, const EmogiTupleValues *values)
{
	Rows	   *rows = &reader->rows;
	const uint32 row = rows->count;

	if (has_null_end(reader, values))
		return;
	if (reader->scan->weight > 0)
	{
		if (values->nulls[EMOGI_PROPERTY_WEIGHT])
			emogi_property_rows_report(reader->scan);
		rows->weights[row] = emogi_pages_weight(values->datums[EMOGI_PROPERTY_WEIGHT],
												reader->weight_type);
	}
	rows->src[row] = vertex_of(reader, values->datums[EMOGI_PROPERTY_SRC], reader->src_length);
	rows->dst[row] = vertex_of(reader, values->datums[EMOGI_PROPERTY_DST], reader->dst_length);
	for (int i = 0; i < reader->scan->ncolumns; i++)
	{
		rows->nulls[i][row] = values->nulls[EMOGI_PROPERTY_FIRST + i];
		if (rows->nulls[i][row])
			reader->columns[i].has_nulls = true;
		else
			rows->values[i][row] = get_value(reader, i, values->datums[EMOGI_PROPERTY_FIRST + i]);
	}
	if (++rows->count == EMOGI_ROWS_AT_ONCE)
		store_rows(reader);
}

/* Take over what another process has found in a column. */
static void
merge_column(EmogiScannedColumn *column, const EmogiScannedColumn *found)
{
	if (found->kind == EMOGI_COLUMN_ABSENT)
		column->kind = EMOGI_COLUMN_ABSENT;
	column->has_nulls |= found->has_nulls;
	column->fits_f32 &= found->fits_f32;
	column->min = Min(column->min, found->min);
	column->max = Max(column->max, found->max);
}

/* Store the last rows, and put what this process has found into the scan. */
void
emogi_property_rows_end(EmogiPropertyReader *reader)
{
	EmogiPropertyScan *scan = reader->scan;

	store_rows(reader);
	pg_atomic_fetch_add_u64(&scan->ntaken, reader->ntaken);
	SpinLockAcquire(&scan->mutex);
	for (int i = 0; i < scan->ncolumns; i++)
		merge_column(&scan->columns[i], &reader->columns[i]);
	SpinLockRelease(&scan->mutex);
	pfree(reader);
}
