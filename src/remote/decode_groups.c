/*
 * decode_groups.c: decoding of the rows of several pages at once: one array per column, or a pack
 * (pack_format.h)
 *
 * Two integers of 8 or 4 bytes, without a weight, have a loop of their own.
 */
#include "postgres.h"

#include "remote/decode_parts.h"
#include "remote/pack_format.h"

/* ---- arrays ---- */

/* An array in its binary format. */
typedef struct Array
{
	const char *values;			/* each preceded by its length in 4 bytes */
	const char *end;
	int			count;
	bool		has_null;
	int			width;			/* of each value that is not NULL */
} Array;

/* Header of a one-dimensional array: dimensions, flags, type, length, lower bound. */
#define ARRAY_HEADER_BYTES 20

/* Get the size of a type's values. */
static int
width_of(Oid type)
{
	return type == INT2OID ? 2 : type == INT4OID || type == FLOAT4OID ? 4 : 8;
}

/* Open the array in a field; return false if it is not an array of this type. */
static bool
open_array(const EmogiRemoteField *field, Oid type, Array *array)
{
	const char *p = field->bytes;

	if (p == NULL || field->length < ARRAY_HEADER_BYTES || emogi_decode_load(p, 4) != 1 ||
		(uint32) emogi_decode_load(p + 8, 4) != type)
		return false;
	*array = (Array) {p + ARRAY_HEADER_BYTES, p + field->length, (int) emogi_decode_load(p + 12, 4),
					  emogi_decode_load(p + 4, 4) != 0, width_of(type)};
	return array->has_null ||
		array->end - array->values == (int64) array->count * (4 + array->width);
}

/*
 * Put edges of integers with these widths, with `gap` bytes between consecutive values, into a sink
 * without weights.
 */
static pg_attribute_always_inline void
put_pairs(EmogiSink *sink, const char *src, const char *dst, int count, int src_width,
		  int dst_width, int gap)
{
	while (count > 0)
	{
		EmogiEdge  *edges;
		const int	n = (int) Min(emogi_sink_room(sink, &edges), (uint64) count);
		int64		min = PG_INT64_MAX;
		int64		max = PG_INT64_MIN;

		for (int i = 0; i < n; i++, src += src_width + gap, dst += dst_width + gap)
		{
			const int64 a = emogi_decode_load(src, src_width);
			const int64 b = emogi_decode_load(dst, dst_width);

			edges[i].src = a;
			edges[i].dst = b;
			min = Min(min, Min(a, b));
			max = Max(max, Max(a, b));
		}
		emogi_sink_count(sink, n, min, max);
		count -= n;
	}
}

/*
 * Put the edges of two arrays of equally wide integers without NULL; return false if the arrays are
 * different.
 */
static bool
put_usual_arrays(EmogiDecoder *decoder, const EmogiRemoteTable *table, const Array *arrays)
{
	const int	width = arrays[0].width;

	if (table->ncolumns != 2 || arrays[0].has_null || arrays[1].has_null ||
		arrays[1].width != width || width < 4 ||
		!emogi_decode_accepts_width(&table->columns[0], width) ||
		!emogi_decode_accepts_width(&table->columns[1], width))
		return false;
	if (width == 8)
		put_pairs(&decoder->sink, arrays[0].values + 4, arrays[1].values + 4, arrays[0].count, 8, 8,
				  4);
	else
		put_pairs(&decoder->sink, arrays[0].values + 4, arrays[1].values + 4, arrays[0].count, 4, 4,
				  4);
	return true;
}

/* Get the next value of an array; return false if it is missing. */
static inline bool
next_value(Array *array, EmogiRemoteField *field)
{
	int64		length;

	if (array->end - array->values < 4)
		return false;
	length = emogi_decode_load(array->values, 4);
	array->values += 4;
	if (length < -1 || length > array->end - array->values)
		return false;
	*field = (EmogiRemoteField) {length < 0 ? NULL : array->values, (int) length};
	array->values += Max(length, 0);
	return true;
}

/* Put the edges of a row of arrays, one per column; return false if their lengths differ. */
bool
emogi_decode_put_arrays(EmogiDecoder *decoder, EmogiRemoteTable *table,
						const EmogiRemoteField *fields)
{
	Array		arrays[EMOGI_REMOTE_MAX_COLUMNS] = {{0}};
	EmogiRemoteField		values[EMOGI_REMOTE_MAX_COLUMNS];

	if (fields[0].bytes == NULL)
		return true;			/* these pages have no rows */
	for (int i = 0; i < table->ncolumns; i++)
		if (!open_array(&fields[i], table->columns[i].remote_type, &arrays[i]) ||
			arrays[i].count != arrays[0].count)
			return false;
	if (!decoder->sink.has_keys && put_usual_arrays(decoder, table, arrays))
		return true;
	for (int row = 0; row < arrays[0].count; row++)
	{
		for (int i = 0; i < table->ncolumns; i++)
			if (!next_value(&arrays[i], &values[i]))
				return false;
		emogi_decode_put_row(decoder, table, values);
	}
	return true;
}

/* ---- packs ---- */

/* A column of a pack. */
typedef struct PackedColumn
{
	const char *values;
	const char *not_null;		/* one bit per row; NULL = no value is NULL */
	int			width;
} PackedColumn;

/* Open the columns of a pack; return false if it is invalid or has other columns. */
static bool
open_pack(const EmogiRemoteTable *table, const EmogiRemoteField *field, PackedColumn *columns,
		  int *nrows)
{
	const char *p = field->bytes;
	const char *end;

	if (p == NULL || field->length < EMOGI_PACK_HEADER_BYTES ||
		emogi_decode_load(p + 4, 4) != table->ncolumns)
		return false;
	end = p + field->length;
	*nrows = (int) emogi_decode_load(p, 4);
	if (*nrows < 0)
		return false;
	p += EMOGI_PACK_HEADER_BYTES;
	for (int i = 0; i < table->ncolumns; i++)
	{
		const Oid	type = table->columns[i].remote_type;
		int			width;
		int64		bitmap_bytes;

		if (end - p < EMOGI_PACK_COLUMN_BYTES)
			return false;
		width = (int) emogi_decode_load(p, 4);
		if (width != width_of(type) && (width != 4 || type != INT8OID))
			return false;
		bitmap_bytes = emogi_decode_load(p + 4, 4) != 0 ? ((int64) *nrows + 7) / 8 : 0;
		p += EMOGI_PACK_COLUMN_BYTES;
		if (end - p < bitmap_bytes + (int64) *nrows * width)
			return false;
		columns[i] = (PackedColumn) {p + bitmap_bytes, bitmap_bytes > 0 ? p : NULL, width};
		p += bitmap_bytes + (int64) *nrows * width;
	}
	return p == end;
}

/* Put the edges of a pack; return false if it is invalid. */
bool
emogi_decode_put_pack(EmogiDecoder *decoder, EmogiRemoteTable *table, const EmogiRemoteField *field)
{
	PackedColumn columns[EMOGI_REMOTE_MAX_COLUMNS];
	EmogiRemoteField		values[EMOGI_REMOTE_MAX_COLUMNS];
	const PackedColumn *src = &columns[0];
	const PackedColumn *dst = &columns[1];
	int			nrows;

	if (!open_pack(table, field, columns, &nrows))
		return false;
	if (!decoder->sink.has_keys && table->ncolumns == 2 && src->not_null == NULL &&
		dst->not_null == NULL && src->width >= 4 && dst->width >= 4 &&
		emogi_decode_accepts_width(&table->columns[0], src->width) &&
		emogi_decode_accepts_width(&table->columns[1], dst->width))
	{
		if (src->width == 4 && dst->width == 4)
			put_pairs(&decoder->sink, src->values, dst->values, nrows, 4, 4, 0);
		else if (src->width == 4)
			put_pairs(&decoder->sink, src->values, dst->values, nrows, 4, 8, 0);
		else if (dst->width == 4)
			put_pairs(&decoder->sink, src->values, dst->values, nrows, 8, 4, 0);
		else
			put_pairs(&decoder->sink, src->values, dst->values, nrows, 8, 8, 0);
		return true;
	}
	for (int row = 0; row < nrows; row++)
	{
		for (int i = 0; i < table->ncolumns; i++)
		{
			const PackedColumn *column = &columns[i];
			const bool	is_null = column->not_null != NULL &&
				(column->not_null[row / 8] >> row % 8 & 1) == 0;

			values[i] = (EmogiRemoteField) {is_null ? NULL : column->values +
											(Size) row * column->width, column->width};
		}
		emogi_decode_put_row(decoder, table, values);
	}
	return true;
}
