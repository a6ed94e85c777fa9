/*
 * decode.c: rows as COPY sends them, to edges.
 *
 * In binary form a row is the number of its columns in 2 bytes, and of each its length in 4, -1 = NULL, and its bytes; numbers lead with
 * their high byte. That is taken as it is where the type there is the one here and the form is the same in all versions, or where both are
 * integers: one that does not fit is an error. Else COPY sends text, and the type's input function takes that, as postgres_fdw does it:
 * a type of the same name may be another one there.
 *
 * A message has one row, or an array a column, of the rows of some pages. Two integers, of 8 bytes or of 4, without a weight have a loop
 * of their own.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "edges/pages.h"
#include "servers/decode.h"
#include "servers/packed.h"

/* Rows whose values are kept until their keys are looked for together. */
#define MOST_KEPT 512

/* What a binary COPY begins with, and the bytes with the two numbers behind it. */
static const char signature[11] = "PGCOPY\n\377\r\n";
#define HEADER_BYTES (sizeof signature + 8)

/* A value of a row; bytes = NULL: it is NULL. */
typedef struct Field
{
	const char *bytes;
	int			length;
} Field;

/* ---- forms ---- */

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Is a type's binary form the same in all versions, and free of settings? */
static bool
is_received(Oid type)
{
	static const Oid types[] = {
		BOOLOID, OIDOID, NUMERICOID, UUIDOID, BYTEAOID, DATEOID, TIMEOID, TIMETZOID, TIMESTAMPOID, TIMESTAMPTZOID, INETOID, CIDROID,
		MACADDROID, MACADDR8OID, BITOID, VARBITOID
	};

	for (int i = 0; i < (int) lengthof(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

/* Find out how a column's values come in a binary COPY, far_type being its type there; false when they cannot. */
static bool
choose_form(EmogiFarColumn *column, Oid far_type)
{
	if (is_integer(column->type) && is_integer(far_type))
		column->form = EMOGI_FAR_INTEGER;
	else if (column->type != far_type)
		return false;
	else if (far_type == FLOAT4OID)
		column->form = EMOGI_FAR_FLOAT4;
	else if (far_type == FLOAT8OID)
		column->form = EMOGI_FAR_FLOAT8;
	else if (is_received(far_type))
		column->form = EMOGI_FAR_RECEIVED;
	else if (far_type == TEXTOID || far_type == VARCHAROID || far_type == BPCHAROID || far_type == NAMEOID)
		column->form = EMOGI_FAR_CHARACTERS;
	else
		return false;
	return true;
}

/* Find the function that makes a column's values. */
static void
find_function(EmogiFarColumn *column)
{
	Oid			function;

	if (column->form == EMOGI_FAR_RECEIVED)
		getTypeBinaryInputInfo(column->type, &function, &column->ioparam);
	else
		getTypeInputInfo(column->type, &function, &column->ioparam);
	fmgr_info(function, &column->function);
}

/* Find out how a table's values come. types: [ncolumns], there; binary: they may come so. */
void
emogi_decode_choose_forms(EmogiFarTable *table, const Oid *types, bool binary)
{
	table->is_text = !binary;
	for (int i = 0; i < table->ncolumns; i++)
	{
		table->columns[i].far_type = types[i];
		table->is_text = table->is_text || !choose_form(&table->columns[i], types[i]);
	}
	for (int i = 0; i < table->ncolumns; i++)
	{
		if (table->is_text)
			table->columns[i].form = EMOGI_FAR_CHARACTERS;
		find_function(&table->columns[i]);
	}
}

/* May a table's rows come in arrays? Those of numbers are sent in half the time of rows, and others are too long. */
bool
emogi_decode_may_group(const EmogiFarTable *table)
{
	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].form != EMOGI_FAR_INTEGER && table->columns[i].form != EMOGI_FAR_FLOAT4 && table->columns[i].form != EMOGI_FAR_FLOAT8)
			return false;
	return !table->is_text;
}

/* ---- values ---- */

static inline int64
load_integer(const char *p, int length)
{
	uint64		word8;
	uint32		word4;
	uint16		word2;

	if (length == sizeof word8)
	{
		memcpy(&word8, p, sizeof word8);
		return (int64) pg_ntoh64(word8);
	}
	if (length == sizeof word4)
	{
		memcpy(&word4, p, sizeof word4);
		return (int32) pg_ntoh32(word4);
	}
	memcpy(&word2, p, sizeof word2);
	return (int16) pg_ntoh16(word2);
}

/* Raise 22003 for an integer that the type here does not have. */
static void
refuse_integer(const EmogiFarColumn *column, int64 value)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value \"" INT64_FORMAT "\" is out of range for type %s", value, format_type_be(column->type)),
			 errdetail("It is of column \"%s\".", column->name)));
}

/* Raise 22P03 for a value of a length that its type does not have. */
static void
refuse_length(const EmogiFarColumn *column, int length)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("a value of column \"%s\" has %d bytes, which its type does not have", column->name, length)));
}

/* Get an integer of a column that has a form of integers. */
static inline int64
integer_of(const EmogiFarColumn *column, const Field *field)
{
	int64		value;

	if (unlikely(field->length != 8 && field->length != 4 && field->length != 2))
		refuse_length(column, field->length);
	value = load_integer(field->bytes, field->length);
	if (unlikely((column->type == INT4OID && value != (int32) value) || (column->type == INT2OID && value != (int16) value)))
		refuse_integer(column, value);
	return value;
}

/* Get a floating-point number. */
static inline double
float_of(const EmogiFarColumn *column, const Field *field)
{
	union
	{
		uint64		bits;
		double		value;
	}			wide;
	union
	{
		uint32		bits;
		float		value;
	}			narrow;

	if (unlikely(field->length != (column->form == EMOGI_FAR_FLOAT8 ? 8 : 4)))
		refuse_length(column, field->length);
	if (column->form == EMOGI_FAR_FLOAT8)
	{
		memcpy(&wide.bits, field->bytes, sizeof wide.bits);
		wide.bits = pg_ntoh64(wide.bits);
		return wide.value;
	}
	memcpy(&narrow.bits, field->bytes, sizeof narrow.bits);
	narrow.bits = pg_ntoh32(narrow.bits);
	return narrow.value;
}

/* Get characters with an end. */
static char *
end_characters(EmogiDecoder *decoder, const Field *field)
{
	if ((Size) field->length >= decoder->most)
	{
		decoder->most = Max((Size) field->length + 1, 2 * decoder->most);
		decoder->characters = decoder->characters == NULL ? palloc(decoder->most) : repalloc(decoder->characters, decoder->most);
	}
	memcpy(decoder->characters, field->bytes, field->length);
	decoder->characters[field->length] = '\0';
	return decoder->characters;
}

/* Get a value in the type that its column has here, in scrap memory. */
static Datum
datum_of(EmogiDecoder *decoder, EmogiFarColumn *column, const Field *field)
{
	MemoryContext old;
	StringInfoData bytes;
	Datum		datum;
	char	   *characters;

	if (column->form == EMOGI_FAR_RECEIVED)
	{
		old = MemoryContextSwitchTo(decoder->scrap);
		bytes = (StringInfoData) {.data = (char *) field->bytes,.len = field->length,.maxlen = field->length};
		datum = ReceiveFunctionCall(&column->function, &bytes, column->ioparam, column->typmod);
		if (bytes.cursor != bytes.len)
			refuse_length(column, field->length);
	}
	else if (column->form == EMOGI_FAR_CHARACTERS)
	{
		characters = end_characters(decoder, field);
		old = MemoryContextSwitchTo(decoder->scrap);
		datum = InputFunctionCall(&column->function, characters, column->ioparam, column->typmod);
	}
	else if (column->form == EMOGI_FAR_INTEGER)
	{
		const int64 value = integer_of(column, field);

		return column->type == INT8OID ? Int64GetDatum(value) : column->type == INT4OID ? Int32GetDatum((int32) value) : Int16GetDatum((int16) value);
	}
	else
	{
		const double value = float_of(column, field);

		return column->form == EMOGI_FAR_FLOAT8 ? Float8GetDatum(value) : Float4GetDatum((float4) value);
	}
	MemoryContextSwitchTo(old);
	return datum;
}

/* Get a key that is an integer. */
static inline int64
key_of(EmogiDecoder *decoder, EmogiFarColumn *column, const Field *field)
{
	Datum		datum;

	if (likely(column->form == EMOGI_FAR_INTEGER))
		return integer_of(column, field);
	datum = datum_of(decoder, column, field);
	decoder->nkept++;
	return column->base == INT8OID ? DatumGetInt64(datum) : column->base == INT4OID ? DatumGetInt32(datum) : DatumGetInt16(datum);
}

/* Get a weight. Raises 22003 for a numeric that is none. */
static inline double
weight_of(EmogiDecoder *decoder, EmogiFarColumn *column, const Field *field)
{
	if (column->form == EMOGI_FAR_INTEGER)
		return (double) integer_of(column, field);
	if (likely(column->form == EMOGI_FAR_FLOAT8 || column->form == EMOGI_FAR_FLOAT4))
		return float_of(column, field);
	decoder->nkept++;
	return emogi_pages_weight(datum_of(decoder, column, field), column->base);
}

/* ---- edges ---- */

/* Raise 22004 for a row that lacks a cost of one of its ways; back: it is that of the way back. */
static void
refuse_null_way(const EmogiFarTable *table, const char *src, const char *dst, bool back)
{
	emogi_sink_refuse_null_way(src, dst, table->columns[back ? 3 : 2].name, table->columns[back ? 2 : 3].name, back);
}

/* Put the edges of a row whose ends are integers. Raises 22004 for a NULL weight, and what the sink raises. */
static void
put_integers(EmogiDecoder *decoder, EmogiFarTable *table, const Field *fields)
{
	EmogiSink  *sink = &decoder->sink;
	const int64 src = key_of(decoder, &table->columns[0], &fields[0]);
	const int64 dst = key_of(decoder, &table->columns[1], &fields[1]);
	double		there;
	double		back;

	if (table->ncolumns == 2)
	{
		emogi_sink_put(sink, src, dst);
		return;
	}
	if (table->ncolumns == 4 && (fields[2].bytes == NULL || fields[3].bytes == NULL))
		refuse_null_way(table, psprintf(INT64_FORMAT, src), psprintf(INT64_FORMAT, dst), fields[2].bytes != NULL);
	if (fields[2].bytes == NULL)
		emogi_sink_refuse_null_weight(psprintf(INT64_FORMAT, src), psprintf(INT64_FORMAT, dst));
	there = weight_of(decoder, &table->columns[2], &fields[2]);
	if (table->ncolumns == 3)
	{
		emogi_sink_put_weighted(sink, src, dst, there);
		return;
	}
	back = weight_of(decoder, &table->columns[3], &fields[3]);
	if (!(there < 0))
		emogi_sink_put_weighted(sink, src, dst, there);
	if (!(back < 0))
		emogi_sink_put_weighted(sink, dst, src, back);
}

/* Put the edges of a row whose ends are no integers. Raises as put_integers does. */
static void
put_keys(EmogiDecoder *decoder, EmogiFarTable *table, const Field *fields)
{
	EmogiSink  *sink = &decoder->sink;
	const Datum src = datum_of(decoder, &table->columns[0], &fields[0]);
	const Datum dst = datum_of(decoder, &table->columns[1], &fields[1]);
	double		there = 0;
	double		back;

	decoder->nkept++;
	if (emogi_sink_lacks_end(sink, src, dst))
	{
		sink->nskipped++;
		return;
	}
	if (table->ncolumns == 4 && (fields[2].bytes == NULL || fields[3].bytes == NULL))
		refuse_null_way(table, emogi_sink_key_text(sink, src), emogi_sink_key_text(sink, dst), fields[2].bytes != NULL);
	if (table->ncolumns > 2 && fields[2].bytes == NULL)
		emogi_sink_refuse_null_of_keys(sink, src, dst);
	if (table->ncolumns > 2)
		there = weight_of(decoder, &table->columns[2], &fields[2]);
	if (table->ncolumns < 4)
	{
		emogi_sink_put_keys(sink, src, dst, there);
		return;
	}
	back = weight_of(decoder, &table->columns[3], &fields[3]);
	if (!(there < 0))
		emogi_sink_put_keys(sink, src, dst, there);
	if (!(back < 0))
		emogi_sink_put_keys(sink, dst, src, back);
}

/* Let go of the values of rows that are kept. */
static void
drop_kept(EmogiDecoder *decoder)
{
	if (decoder->sink.has_keys)
		emogi_sink_flush(&decoder->sink);
	MemoryContextReset(decoder->scrap);
	decoder->nkept = 0;
}

/* Raise 40001 for rows of another table than that which the first connection has found under the name. */
static void
refuse_table(const EmogiFarTable *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("the name \"%s.%s\" has come to lead to another table while it was read", table->schema, table->relation),
			 errhint("Call it again.")));
}

/* Have the domains of columns say what they do of NULL. */
static void
check_nulls(EmogiFarTable *table, const Field *fields)
{
	for (int i = 0; i < table->ncolumns; i++)
		if (fields[i].bytes == NULL && table->columns[i].type != table->columns[i].base)
			(void) InputFunctionCall(&table->columns[i].function, NULL, table->columns[i].ioparam, table->columns[i].typmod);
}

/* Put the edges of a row. */
static void
put_row(EmogiDecoder *decoder, EmogiFarTable *table, const Field *fields)
{
	if (unlikely(table->is_text))
		check_nulls(table, fields);
	if (fields[0].bytes == NULL || fields[1].bytes == NULL)
		decoder->sink.nskipped++;
	else if (decoder->sink.has_keys)
		put_keys(decoder, table, fields);
	else
		put_integers(decoder, table, fields);
	if (unlikely(decoder->nkept >= MOST_KEPT))
		drop_kept(decoder);
}

/* ---- binary form ---- */

/* Take what a binary COPY begins with; false when it is something else. */
static bool
skip_header(const char **p, const char *end)
{
	int64		extension;

	if (end - *p < (int) HEADER_BYTES || memcmp(*p, signature, sizeof signature) != 0)
		return false;
	if (load_integer(*p + sizeof signature, 4) != 0)
		return false;			/* flags of forms that are not known */
	extension = load_integer(*p + sizeof signature + 4, 4);
	if (extension < 0 || extension > end - *p - (int) HEADER_BYTES)
		return false;
	*p += HEADER_BYTES + extension;
	return true;
}

/* Take the fields of a row; false when they are not all there. */
static bool
split_binary(const char **p, const char *end, int nfields, Field *fields)
{
	for (int i = 0; i < nfields; i++)
	{
		int64		length;

		if (end - *p < 4)
			return false;
		length = load_integer(*p, 4);
		*p += 4;
		if (length < -1 || length > end - *p)
			return false;
		fields[i] = (Field) {length < 0 ? NULL : *p, (int) length};
		*p += Max(length, 0);
	}
	return true;
}

/* ---- arrays of rows' values ---- */

/* An array, as its type sends it. */
typedef struct Array
{
	const char *values;			/* each with its length in 4 bytes before it */
	const char *end;
	int			count;
	bool		has_null;
	int			width;			/* of each value that is not NULL */
} Array;

/* What an array of one dimension has before its values: dimensions, flags, type, length, lower bound. */
#define ARRAY_HEADER_BYTES 20

/* Get the bytes that a value of a type has. */
static int
width_of(Oid type)
{
	return type == INT2OID ? 2 : type == INT4OID || type == FLOAT4OID ? 4 : 8;
}

/* Open the array of a field; false when it is none of that type. */
static bool
open_array(const Field *field, Oid type, Array *array)
{
	const char *p = field->bytes;

	if (p == NULL || field->length < ARRAY_HEADER_BYTES || load_integer(p, 4) != 1 || (uint32) load_integer(p + 8, 4) != type)
		return false;
	*array = (Array) {p + ARRAY_HEADER_BYTES, p + field->length, (int) load_integer(p + 12, 4), load_integer(p + 4, 4) != 0, width_of(type)};
	return array->has_null || array->end - array->values == (int64) array->count * (4 + array->width);
}

/* Put the edges of integers of so many bytes, `gap` bytes between each and the next, into a sink without weights. */
static pg_attribute_always_inline void
put_pairs(EmogiSink *sink, const char *src, const char *dst, int count, int src_width, int dst_width, int gap)
{
	while (count > 0)
	{
		EmogiEdge  *edges;
		const int	n = (int) Min(emogi_sink_room(sink, &edges), (uint64) count);
		int64		min = PG_INT64_MAX;
		int64		max = PG_INT64_MIN;

		for (int i = 0; i < n; i++, src += src_width + gap, dst += dst_width + gap)
		{
			const int64 a = load_integer(src, src_width);
			const int64 b = load_integer(dst, dst_width);

			edges[i].src = a;
			edges[i].dst = b;
			min = Min(min, Min(a, b));
			max = Max(max, Max(a, b));
		}
		emogi_sink_count(sink, n, min, max);
		count -= n;
	}
}

/* Does a column have all integers of so many bytes? */
static inline bool
takes_width(const EmogiFarColumn *column, int width)
{
	return column->form == EMOGI_FAR_INTEGER && (column->type == INT8OID || (column->type == INT4OID && width == 4));
}

/* Put the edges of two arrays without NULL, of integers of the same width; false when they are not so. */
static bool
put_usual_arrays(EmogiDecoder *decoder, const EmogiFarTable *table, const Array *arrays)
{
	const int	width = arrays[0].width;

	if (table->ncolumns != 2 || arrays[0].has_null || arrays[1].has_null || arrays[1].width != width || width < 4 ||
		!takes_width(&table->columns[0], width) || !takes_width(&table->columns[1], width))
		return false;
	if (width == 8)
		put_pairs(&decoder->sink, arrays[0].values + 4, arrays[1].values + 4, arrays[0].count, 8, 8, 4);
	else
		put_pairs(&decoder->sink, arrays[0].values + 4, arrays[1].values + 4, arrays[0].count, 4, 4, 4);
	return true;
}

/* Take the next value of an array; false when it is not there. */
static inline bool
next_value(Array *array, Field *field)
{
	int64		length;

	if (array->end - array->values < 4)
		return false;
	length = load_integer(array->values, 4);
	array->values += 4;
	if (length < -1 || length > array->end - array->values)
		return false;
	*field = (Field) {length < 0 ? NULL : array->values, (int) length};
	array->values += Max(length, 0);
	return true;
}

/* Put the edges of a row of arrays, one a column; false when they are not of one length. */
static bool
put_arrays(EmogiDecoder *decoder, EmogiFarTable *table, const Field *fields)
{
	Array		arrays[EMOGI_FAR_MOST_COLUMNS] = {{0}};
	Field		values[EMOGI_FAR_MOST_COLUMNS];

	if (fields[0].bytes == NULL)
		return true;			/* there is no row on these pages */
	for (int i = 0; i < table->ncolumns; i++)
		if (!open_array(&fields[i], table->columns[i].far_type, &arrays[i]) || arrays[i].count != arrays[0].count)
			return false;
	if (!decoder->sink.has_keys && put_usual_arrays(decoder, table, arrays))
		return true;
	for (int row = 0; row < arrays[0].count; row++)
	{
		for (int i = 0; i < table->ncolumns; i++)
			if (!next_value(&arrays[i], &values[i]))
				return false;
		put_row(decoder, table, values);
	}
	return true;
}

/* ---- packs ---- */

/* A column of a pack. */
typedef struct PackedColumn
{
	const char *values;
	const char *not_null;		/* a bit for each row; NULL = none is NULL */
	int			width;
} PackedColumn;

/* Open the columns of a pack; false when it is none of these columns. */
static bool
open_pack(const EmogiFarTable *table, const Field *field, PackedColumn *columns, int *nrows)
{
	const char *p = field->bytes;
	const char *end;

	if (p == NULL || field->length < EMOGI_PACK_HEADER_BYTES || load_integer(p + 4, 4) != table->ncolumns)
		return false;
	end = p + field->length;
	*nrows = (int) load_integer(p, 4);
	if (*nrows < 0)
		return false;
	p += EMOGI_PACK_HEADER_BYTES;
	for (int i = 0; i < table->ncolumns; i++)
	{
		const Oid	type = table->columns[i].far_type;
		int			width;
		int64		bitmap_bytes;

		if (end - p < EMOGI_PACK_COLUMN_BYTES)
			return false;
		width = (int) load_integer(p, 4);
		if (width != width_of(type) && (width != 4 || type != INT8OID))
			return false;
		bitmap_bytes = load_integer(p + 4, 4) != 0 ? ((int64) *nrows + 7) / 8 : 0;
		p += EMOGI_PACK_COLUMN_BYTES;
		if (end - p < bitmap_bytes + (int64) *nrows * width)
			return false;
		columns[i] = (PackedColumn) {p + bitmap_bytes, bitmap_bytes > 0 ? p : NULL, width};
		p += bitmap_bytes + (int64) *nrows * width;
	}
	return p == end;
}

/* Put the edges of a pack; false when it is none. */
static bool
put_pack(EmogiDecoder *decoder, EmogiFarTable *table, const Field *field)
{
	PackedColumn columns[EMOGI_FAR_MOST_COLUMNS];
	Field		values[EMOGI_FAR_MOST_COLUMNS];
	const PackedColumn *src = &columns[0];
	const PackedColumn *dst = &columns[1];
	int			nrows;

	if (!open_pack(table, field, columns, &nrows))
		return false;
	if (!decoder->sink.has_keys && table->ncolumns == 2 && src->not_null == NULL && dst->not_null == NULL && src->width >= 4 && dst->width >= 4 &&
		takes_width(&table->columns[0], src->width) && takes_width(&table->columns[1], dst->width))
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
			const bool	is_null = column->not_null != NULL && (column->not_null[row / 8] >> row % 8 & 1) == 0;

			values[i] = (Field) {is_null ? NULL : column->values + (Size) row * column->width, column->width};
		}
		put_row(decoder, table, values);
	}
	return true;
}

/* ---- messages ---- */

/* See that rows are of the table that they should be of, where its OID comes with them; false when none has come. */
static bool
is_of_table(const EmogiFarTable *table, const Field *field)
{
	if (!OidIsValid(table->oid) || (table->is_grouped && field->bytes == NULL))
		return true;
	if (field->bytes == NULL || field->length != 4)
		return false;
	if ((Oid) load_integer(field->bytes, 4) != table->oid)
		refuse_table(table);
	return true;
}

/* Take a message of a binary COPY; false when it is none. */
static bool
take_binary(EmogiDecoder *decoder, EmogiFarTable *table, const char *p, const char *end, EmogiFarCopy *copy)
{
	const int	nfields = table->packer != NULL ? 1 : table->ncolumns + (OidIsValid(table->oid) ? 1 : 0);
	Field		fields[EMOGI_FAR_MOST_COLUMNS + 1];

	if (copy->has_ended || (!copy->has_begun && !skip_header(&p, end)))
		return false;
	copy->has_begun = true;
	while (p < end)
	{
		int64		count;

		if (end - p < 2)
			return false;
		count = load_integer(p, 2);
		p += 2;
		copy->has_ended = count == -1;	/* there are no more */
		if (copy->has_ended)
			return p == end;
		if (count != nfields || !split_binary(&p, end, nfields, fields))
			return false;
		if (table->packer != NULL)
		{
			if (!put_pack(decoder, table, &fields[0]))
				return false;
		}
		else if (!is_of_table(table, &fields[table->ncolumns]))
			return false;
		else if (!table->is_grouped)
			put_row(decoder, table, fields);
		else if (!put_arrays(decoder, table, fields))
			return false;
	}
	return true;
}

/* Put the row of a message that has two integers of so many bytes; false when it is not just that. */
static pg_attribute_always_inline bool
take_pair(EmogiDecoder *decoder, const char *message, int width)
{
	if (load_integer(message, 2) != 2 || load_integer(message + 2, 4) != width || load_integer(message + 6 + width, 4) != width)
		return false;
	emogi_sink_put(&decoder->sink, load_integer(message + 6, width), load_integer(message + 10 + width, width));
	return true;
}

/* Put the row of a message that is the usual one; false when it is not. */
static inline bool
take_usual(EmogiDecoder *decoder, const EmogiFarTable *table, const char *message, int length)
{
	const int	width = length == 26 ? 8 : 4;

	if (table->is_grouped || OidIsValid(table->oid) || table->ncolumns != 2 || (length != 26 && length != 18) || !takes_width(&table->columns[0], width) ||
		!takes_width(&table->columns[1], width))
		return false;
	return width == 8 ? take_pair(decoder, message, 8) : take_pair(decoder, message, 4);
}

/* ---- text form ---- */

/* Get the character that a letter behind a backslash stands for. */
static char
unescape(char letter)
{
	switch (letter)
	{
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		case 'v':
			return '\v';
		default:
			return letter;
	}
}

/* Take the fields of a line, into memory of as many bytes; false when there are fewer, or more. */
static bool
split_text(const char *p, const char *end, int nfields, Field *fields, char *to)
{
	for (int i = 0; i < nfields; i++)
	{
		char	   *first = to;

		if (i > 0 && (p == end || *p++ != '\t'))
			return false;
		if (end - p >= 2 && p[0] == '\\' && p[1] == 'N')
		{
			fields[i] = (Field) {NULL, 0};
			p += 2;
			continue;
		}
		while (p < end && *p != '\t')
		{
			const bool	is_escaped = *p == '\\';

			if (is_escaped && ++p == end)
				return false;
			*to++ = is_escaped ? unescape(*p) : *p;
			p++;
		}
		fields[i] = (Field) {first, (int) (to - first)};
	}
	return p == end;
}

/* Get an OID of text, which has no end. */
static Oid
oid_of(const Field *field)
{
	char		digits[16] = {0};

	memcpy(digits, field->bytes, Min(field->length, (int) sizeof digits - 1));
	return (Oid) strtoul(digits, NULL, 10);
}

/* Take a message of a text COPY, a line with its end; false when it is none. */
static bool
take_text(EmogiDecoder *decoder, EmogiFarTable *table, const char *message, int length)
{
	const bool	has_oid = OidIsValid(table->oid);
	Field		fields[EMOGI_FAR_MOST_COLUMNS + 1];
	char	   *bytes;

	if (length == 0 || message[length - 1] != '\n')
		return false;
	bytes = MemoryContextAlloc(decoder->scrap, length);
	if (!split_text(message, message + length - 1, table->ncolumns + (has_oid ? 1 : 0), fields, bytes))
		return false;
	if (has_oid && (fields[table->ncolumns].bytes == NULL || oid_of(&fields[table->ncolumns]) != table->oid))
		refuse_table(table);
	decoder->nkept++;
	put_row(decoder, table, fields);
	return true;
}

/* ---- the whole ---- */

/* Open a decoder on the slot that a token names. */
void
emogi_decode_open(EmogiDecoder *decoder, uint64 token)
{
	memset(decoder, 0, sizeof *decoder);
	emogi_sink_open(&decoder->sink, token);
	decoder->scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi servers", ALLOCSET_DEFAULT_SIZES);
}

/*
 * Put the edges of a message of a COPY. False when it is no such message. Raises 40001 for rows of another table, 22003 and what
 * types' functions raise for values that are not the column's, 22004 for a NULL weight, and what the sink raises.
 */
bool
emogi_decode_take(EmogiDecoder *decoder, EmogiFarTable *table, const char *message, int length, EmogiFarCopy *copy)
{
	if (table->is_text)
		return take_text(decoder, table, message, length);
	if (likely(copy->has_begun) && !copy->has_ended && take_usual(decoder, table, message, length))
		return true;
	return take_binary(decoder, table, message, message + length, copy);
}

/* Put what is kept, and count rows without an end. */
void
emogi_decode_finish(EmogiDecoder *decoder)
{
	drop_kept(decoder);
	pg_atomic_fetch_add_u64(&decoder->sink.slot->nskipped, decoder->sink.nskipped);
	MemoryContextDelete(decoder->scrap);
}
