/*
 * row_coder.c: keys that are rows of several columns.
 *
 * The bytes of a key are the concatenated bytes of its columns. In a column of variable length,
 * each byte 0 is escaped as 0 FF, and the column ends with 0 0. No key is therefore a prefix of
 * another, and memcmp orders rows column by column if it orders the columns. Integers of all widths
 * are 8 bytes, big-endian with the sign flipped.
 *
 * A row is any Datum of a composite type, anonymous or not. Its columns need not have exactly the
 * types of the key, but types that are treated in the same way: a varchar is text, as is an untyped
 * literal, and an integer is a bigint. Rows constructed here are anonymous rows of the key's types.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "base/compat.h"
#include "keys/keys.h"

/*
 * Number of cached row types: the two endpoints may have different types, as may the parts of a
 * UNION.
 */
#define NROWTYPES 4

/* A cached row type. */
typedef struct RowType
{
	TupleDesc	desc;			/* NULL = unused entry */
	Oid			type;
	int32		typmod;
	int			attributes[EMOGI_KEY_MAX_PARTS];	/* attribute index of each key column, without
													 * dropped columns */
	Datum	   *values;			/* [desc->natts], of the current row */
	bool	   *nulls;
} RowType;

struct EmogiRowCoder
{
	EmogiKeyType key;
	MemoryContext context;
	EmogiKeyCoder parts[EMOGI_KEY_MAX_PARTS];
	TupleDesc	desc;			/* of constructed rows; NULL before the first */
	RowType		row_types[NROWTYPES];
	int			oldest;
};

/* Create a row coder in the current memory context. */
EmogiRowCoder *
emogi_row_coder_make(const EmogiKeyType *key)
{
	EmogiRowCoder *coder = palloc0(sizeof *coder);

	coder->key = *key;
	coder->context = CurrentMemoryContext;
	for (int i = 0; i < key->nparts; i++)
	{
		EmogiKeyType part = emogi_key_type_part(key, i);

		emogi_value_coder_init(&coder->parts[i], &part);
	}
	return coder;
}

/* ---- input rows ---- */

/* Raise 42804 for a row whose columns differ from the key's. */
static void
refuse_row_type(const EmogiRowCoder *coder)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a row does not have the columns of the vertex keys, %s",
					emogi_key_type_name(&coder->key)),
			 errhint("Give the columns of all rows the same types, with casts.")));
}

/* Map the columns of a row type to those of the key. Raises 42804. */
static void
find_attributes(const EmogiRowCoder *coder, TupleDesc desc, int *attributes)
{
	int			n = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);
		EmogiKeyType found;

		if (attribute->attisdropped)
			continue;
		if (n == coder->key.nparts ||
			!emogi_key_type_find(attribute->atttypid == UNKNOWNOID ? TEXTOID : attribute->atttypid,
								 coder->key.parts[n].collation, &found) ||
			found.type != coder->key.parts[n].type)
			refuse_row_type(coder);
		attributes[n++] = i;
	}
	if (n < coder->key.nparts)
		refuse_row_type(coder);
}

/* Get the cached type of a row, adding it if necessary. Raises 42804. */
static RowType *
get_row_type(EmogiRowCoder *coder, HeapTupleHeader row)
{
	const Oid	type = HeapTupleHeaderGetTypeId(row);
	const int32 typmod = HeapTupleHeaderGetTypMod(row);
	MemoryContext old;
	TupleDesc	desc;
	RowType	   *row_type;

	for (int i = 0; i < NROWTYPES; i++)
		if (coder->row_types[i].desc != NULL && coder->row_types[i].type == type &&
			coder->row_types[i].typmod == typmod)
			return &coder->row_types[i];
	row_type = &coder->row_types[coder->oldest++ % NROWTYPES];
	if (row_type->desc != NULL)
	{
		FreeTupleDesc(row_type->desc);
		row_type->desc = NULL;
		pfree(row_type->values);
		pfree(row_type->nulls);
	}
	old = MemoryContextSwitchTo(coder->context);
	desc = lookup_rowtype_tupdesc_copy(type, typmod);
	find_attributes(coder, desc, row_type->attributes);
	row_type->values = palloc(desc->natts * sizeof(Datum));
	row_type->nulls = palloc(desc->natts * sizeof(bool));
	row_type->type = type;
	row_type->typmod = typmod;
	row_type->desc = desc;
	MemoryContextSwitchTo(old);
	return row_type;
}

/* Deform a row. */
static void
deform(HeapTupleHeader row, RowType *row_type)
{
	HeapTupleData tuple;

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	heap_deform_tuple(&tuple, row_type->desc, row_type->values, row_type->nulls);
}

/* Check whether a row has a NULL column. Raises 42804 if it has other columns. */
bool
emogi_row_coder_has_null(EmogiRowCoder *coder, Datum datum)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(datum);
	RowType	   *row_type = get_row_type(coder, row);

	if ((row->t_infomask & HEAP_HASNULL) == 0 &&
		HeapTupleHeaderGetNatts(row) >= row_type->desc->natts)
		return false;
	deform(row, row_type);
	for (int i = 0; i < coder->key.nparts; i++)
		if (row_type->nulls[row_type->attributes[i]])
			return true;
	return false;
}

/* ---- encoding ---- */

/* Get a column of a deformed row as its coder expects it: integers have 8 bytes. */
static Datum
column_of(const EmogiRowCoder *coder, const RowType *row_type, int part)
{
	const int	i = row_type->attributes[part];
	const Datum datum = row_type->values[i];

	if (row_type->nulls[i])
		elog(ERROR, "a row with a column that is NULL is not a vertex key");
	if (TupleDescAttr(row_type->desc, i)->atttypid == UNKNOWNOID)
		return CStringGetTextDatum(DatumGetCString(datum));
	if (coder->key.parts[part].class != EMOGI_KEY_INTEGER)
		return datum;
	switch (TupleDescAttr(row_type->desc, i)->attlen)
	{
		case sizeof(int16):
			return Int64GetDatum(DatumGetInt16(datum));
		case sizeof(int32):
			return Int64GetDatum(DatumGetInt32(datum));
		default:
			return datum;
	}
}

/* Append the bytes of a column of variable length, escaped. */
static void
append_escaped(StringInfo to, EmogiKeyBytes bytes)
{
	const char *p = bytes.bytes;
	const char *end = p + bytes.length;

	while (p < end)
	{
		const char *zero = memchr(p, '\0', end - p);
		const char *next = zero != NULL ? zero + 1 : end;

		appendBinaryStringInfo(to, p, next - p);
		if (zero != NULL)
			appendStringInfoChar(to, (char) 0xFF);
		p = next;
	}
	appendBinaryStringInfo(to, "\0", 2);
}

/* Append the bytes of a row. */
static void
append_row(EmogiRowCoder *coder, Datum datum, StringInfo to)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(datum);
	RowType	   *row_type = get_row_type(coder, row);

	deform(row, row_type);
	for (int i = 0; i < coder->key.nparts; i++)
	{
		EmogiKeyBytes bytes = emogi_value_coder_encode(&coder->parts[i],
													   column_of(coder, row_type, i));

		if (emogi_value_coder_length(&coder->parts[i]) > 0)
			appendBinaryStringInfo(to, bytes.bytes, bytes.length);
		else
			append_escaped(to, bytes);
	}
}

/* Get the bytes of a row without NULLs, in the current memory context. Raises 42804, 54000. */
EmogiKeyBytes
emogi_row_coder_encode(EmogiRowCoder *coder, Datum row)
{
	StringInfoData bytes;

	initStringInfo(&bytes);
	append_row(coder, row, &bytes);
	if (bytes.len > EMOGI_MAX_KEY_BYTES)
		emogi_value_coder_refuse_length(bytes.len);
	return (EmogiKeyBytes) {bytes.data, (uint32) bytes.len};
}

/* Check whether a row without NULLs exceeds the maximum length of a key. */
bool
emogi_row_coder_is_too_long(EmogiRowCoder *coder, Datum datum)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(datum);
	RowType	   *row_type = get_row_type(coder, row);
	StringInfoData bytes;
	Size		length = 0;

	deform(row, row_type);
	for (int i = 0; i < coder->key.nparts; i++)
		if (TupleDescAttr(row_type->desc, row_type->attributes[i])->attlen == -1)
			length += toast_raw_datum_size(row_type->values[row_type->attributes[i]]) - VARHDRSZ;
	if (length > EMOGI_MAX_KEY_BYTES)
		return true;
	initStringInfo(&bytes);
	append_row(coder, datum, &bytes);
	return bytes.len > EMOGI_MAX_KEY_BYTES;
}

/* ---- decoding ---- */

/* Read the bytes of a column of variable length, and advance *bytes. */
static EmogiKeyBytes
read_escaped(const char **bytes)
{
	StringInfoData read;

	initStringInfo(&read);
	for (const char *p = *bytes;;)
	{
		const char *next = p + strlen(p) + 1;

		if (*next == '\0')
		{
			appendBinaryStringInfo(&read, p, next - 1 - p);
			*bytes = next + 1;
			return (EmogiKeyBytes) {read.data, (uint32) read.len};
		}
		appendBinaryStringInfo(&read, p, next - p);
		p = next + 1;
	}
}

/* Get the columns of a key, in the current memory context. */
Datum *
emogi_row_coder_values(EmogiRowCoder *coder, EmogiKeyBytes bytes)
{
	Datum	   *values = palloc(coder->key.nparts * sizeof *values);
	const char *p = bytes.bytes;

	for (int i = 0; i < coder->key.nparts; i++)
	{
		EmogiKeyCoder *part = &coder->parts[i];
		const uint32 length = emogi_value_coder_length(part);
		EmogiKeyBytes column = {p, length};

		if (length > 0)
			p += length;
		else
			column = read_escaped(&p);
		values[i] = emogi_value_coder_decode(part, column);
	}
	return values;
}

/* Get the descriptor of constructed rows. */
static TupleDesc
desc_of(EmogiRowCoder *coder)
{
	MemoryContext old;
	TupleDesc	desc;

	if (coder->desc != NULL)
		return coder->desc;
	old = MemoryContextSwitchTo(coder->context);
	desc = CreateTemplateTupleDesc(coder->key.nparts);
	for (int i = 0; i < coder->key.nparts; i++)
	{
		TupleDescInitEntry(desc, i + 1, psprintf("f%d", i + 1), coder->key.parts[i].type, -1, 0);
		TupleDescInitEntryCollation(desc, i + 1, coder->key.parts[i].collation);
	}
	TupleDescFinalize(desc);
	coder->desc = BlessTupleDesc(desc);
	MemoryContextSwitchTo(old);
	return coder->desc;
}

/* Get the type modifier of constructed rows, which identifies their columns to the server. */
int32
emogi_row_coder_typmod(EmogiRowCoder *coder)
{
	return desc_of(coder)->tdtypmod;
}

/* Get the row of a key, in the current memory context. */
Datum
emogi_row_coder_decode(EmogiRowCoder *coder, EmogiKeyBytes bytes)
{
	bool		nulls[EMOGI_KEY_MAX_PARTS] = {false};

	return HeapTupleGetDatum(heap_form_tuple(desc_of(coder), emogi_row_coder_values(coder, bytes),
											 nulls));
}

/* Compare the columns of two keys in turn. Raises the errors of the types' comparisons. */
int
emogi_row_coder_compare(EmogiRowCoder *coder, const Datum *a, const Datum *b)
{
	int			order = 0;

	for (int i = 0; i < coder->key.nparts && order == 0; i++)
		order = emogi_value_coder_compare(&coder->parts[i], a[i], b[i]);
	return order;
}
