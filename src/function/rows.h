/*
 * rows.h: access to the rows of an algorithm's result: a vertex key, then its columns. Inline
 * because it runs once a row.
 */
#ifndef EMOGI_ROWS_H
#define EMOGI_ROWS_H

#include <math.h>

#include "contract/overlay.h"
#include "keys/keys.h"

/*
 * Return the first vertex in [v, end) that has a row; `end` if none has. columns: of the
 * algorithm's row.
 */
static inline uint64
emogi_rows_next(const EmogiResultColumn *columns, const EmogiResult *result, uint64 v, uint64 end)
{
	const EmogiArray array = result->columns[0];
	const double none = columns[0].none;

	if (isnan(none))
		return v;
	switch (columns[0].type)
	{
		case EMOGI_INT32:
			while (v < end && array.int32[v] == (int32) none)
				v++;
			break;
		case EMOGI_INT64:
			while (v < end && array.int64[v] == (int64) none)
				v++;
			break;
		case EMOGI_FLOAT64:
			while (v < end && array.float64[v] == none)
				v++;
			break;
		case EMOGI_VERTEX:
			while (v < end && array.vertex[v] == (uint32) none)
				v++;
			break;
		case EMOGI_EDGE:
			break;
	}
	return v;
}

/*
 * Return the column `vertex` of vertex v's row. The datum is valid as long as that of
 * emogi_key_io_output.
 */
static inline Datum
emogi_rows_vertex(EmogiKeyIO *form, const EmogiGraph *graph, uint64 v)
{
	return likely(form->kind == EMOGI_KEY_IO_INTEGER) ? Int64GetDatum(graph->ids[v]) :
		emogi_key_io_output(form, graph, graph->ids[v]);
}

/* The same for a vertex of a graph or of its overlay; overlay NULL = no changes. */
static inline Datum
emogi_rows_overlay_vertex(EmogiKeyIO *form, const EmogiGraph *graph, const EmogiOverlay *overlay,
						  uint32 v)
{
	const int64 key = emogi_overlay_key(graph, overlay, v);

	return likely(form->kind == EMOGI_KEY_IO_INTEGER) ? Int64GetDatum(key) :
		emogi_key_io_output(form, graph, key);
}

/* Return a column of vertex v's row; 0 = the first after `vertex`. */
static inline Datum
emogi_rows_column(const EmogiResultColumn *columns, EmogiKeyIO *form, const EmogiGraph *graph,
				  const EmogiResult *result, uint64 v, int column)
{
	const EmogiArray array = result->columns[column];

	switch (columns[column].type)
	{
		case EMOGI_INT32:
			return Int32GetDatum(array.int32[v]);
		case EMOGI_INT64:
			return Int64GetDatum(array.int64[v]);
		case EMOGI_FLOAT64:
			return Float8GetDatum(array.float64[v]);
		case EMOGI_VERTEX:
			return emogi_rows_vertex(form, graph, array.vertex[v]);
		case EMOGI_EDGE:
			break;
	}
	return (Datum) 0;
}

#endif							/* EMOGI_ROWS_H */
