/*
 * row_coder.c: keys that are rows of several columns.
 *
 * The bytes of a key are those of its columns, one after the other. A column whose keys differ in length has each byte 0 escaped as
 * 0 FF, and ends with 0 0: so no key's bytes begin another's, and memcmp orders rows column by column where it orders the columns.
 * Integers of all widths are 8 bytes, big-endian with the sign flipped.
 *
 * A row is any Datum of a composite type, anonymous or not. Its columns need not be of just the types that the key has, but of those
 * that are handled as they are: a varchar is text, and so is a literal without a type, an integer is a bigint. What is made here is an anonymous row of the key's types.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/typcache.h"

#include "keys/keys.h"

/* Kinds of rows whose form is remembered: the two ends may have two, and each part of a UNION others. */
#define NSHAPES 4

/* The form of rows that were met. */
typedef struct Shape
{
	TupleDesc	desc;			/* NULL = none */
	Oid			type;
	int32		typmod;
	int			attributes[EMOGI_KEY_MOST_PARTS];	/* of the key's columns: from 0, without those that were dropped */
	Datum	   *values;			/* [desc->natts], of the row at hand */
	bool	   *nulls;
} Shape;

struct EmogiRowCoder
{
	EmogiKeyType key;
	MemoryContext context;
	EmogiKeyCoder parts[EMOGI_KEY_MOST_PARTS];
	TupleDesc	desc;			/* of rows that are made; NULL before the first */
	Shape		shapes[NSHAPES];
	int			oldest;
};

/* Make a coder of rows, in the current memory context. */
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

/* ---- rows that are met ---- */

/* Raise 42804 for a row that has not the columns of the others. */
static void
refuse_shape(const EmogiRowCoder *coder)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("a row does not have the columns of the vertex keys, %s", emogi_key_type_name(&coder->key)),
			 errhint("Give the columns of all rows the same types, with casts.")));
}

/* Find which columns of a row are those of the key. Raises 42804. */
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
			!emogi_key_type_find(attribute->atttypid == UNKNOWNOID ? TEXTOID : attribute->atttypid, coder->key.parts[n].collation, &found) ||
			found.type != coder->key.parts[n].type)
			refuse_shape(coder);
		attributes[n++] = i;
	}
	if (n < coder->key.nparts)
		refuse_shape(coder);
}

/* Get the form of a row, from memory or from its type. Raises 42804. */
static Shape *
shape_of(EmogiRowCoder *coder, HeapTupleHeader row)
{
	const Oid	type = HeapTupleHeaderGetTypeId(row);
	const int32 typmod = HeapTupleHeaderGetTypMod(row);
	MemoryContext old;
	TupleDesc	desc;
	Shape	   *shape;

	for (int i = 0; i < NSHAPES; i++)
		if (coder->shapes[i].desc != NULL && coder->shapes[i].type == type && coder->shapes[i].typmod == typmod)
			return &coder->shapes[i];
	shape = &coder->shapes[coder->oldest++ % NSHAPES];
	if (shape->desc != NULL)
	{
		FreeTupleDesc(shape->desc);
		shape->desc = NULL;
		pfree(shape->values);
		pfree(shape->nulls);
	}
	old = MemoryContextSwitchTo(coder->context);
	desc = lookup_rowtype_tupdesc_copy(type, typmod);
	find_attributes(coder, desc, shape->attributes);
	shape->values = palloc(desc->natts * sizeof(Datum));
	shape->nulls = palloc(desc->natts * sizeof(bool));
	shape->type = type;
	shape->typmod = typmod;
	shape->desc = desc;
	MemoryContextSwitchTo(old);
	return shape;
}

/* Take a row apart. */
static void
take_apart(HeapTupleHeader row, Shape *shape)
{
	HeapTupleData tuple;

	tuple.t_len = HeapTupleHeaderGetDatumLength(row);
	ItemPointerSetInvalid(&tuple.t_self);
	tuple.t_tableOid = InvalidOid;
	tuple.t_data = row;
	heap_deform_tuple(&tuple, shape->desc, shape->values, shape->nulls);
}

/* Has a row a column that is NULL? Raises 42804 for one of other columns. */
bool
emogi_row_coder_lacks(EmogiRowCoder *coder, Datum datum)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(datum);
	Shape	   *shape = shape_of(coder, row);

	if ((row->t_infomask & HEAP_HASNULL) == 0 && HeapTupleHeaderGetNatts(row) >= shape->desc->natts)
		return false;
	take_apart(row, shape);
	for (int i = 0; i < coder->key.nparts; i++)
		if (shape->nulls[shape->attributes[i]])
			return true;
	return false;
}

/* ---- encoding ---- */

/* Get a column of a row that was taken apart as its coder takes it: integers are of 8 bytes. */
static Datum
column_of(const EmogiRowCoder *coder, const Shape *shape, int part)
{
	const int	i = shape->attributes[part];
	const Datum datum = shape->values[i];

	if (shape->nulls[i])
		elog(ERROR, "a row with a column that is NULL is no vertex key");
	if (TupleDescAttr(shape->desc, i)->atttypid == UNKNOWNOID)
		return CStringGetTextDatum(DatumGetCString(datum));
	if (coder->key.parts[part].class != EMOGI_KEY_INTEGER)
		return datum;
	switch (TupleDescAttr(shape->desc, i)->attlen)
	{
		case sizeof(int16):
			return Int64GetDatum(DatumGetInt16(datum));
		case sizeof(int32):
			return Int64GetDatum(DatumGetInt32(datum));
		default:
			return datum;
	}
}

/* Append the bytes of a column whose keys differ in length. */
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
	Shape	   *shape = shape_of(coder, row);

	take_apart(row, shape);
	for (int i = 0; i < coder->key.nparts; i++)
	{
		EmogiKeyBytes bytes = emogi_value_coder_encode(&coder->parts[i], column_of(coder, shape, i));

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

/* Is a row without NULLs longer than a key can be? */
bool
emogi_row_coder_is_too_long(EmogiRowCoder *coder, Datum datum)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(datum);
	Shape	   *shape = shape_of(coder, row);
	StringInfoData bytes;
	Size		length = 0;

	take_apart(row, shape);
	for (int i = 0; i < coder->key.nparts; i++)
		if (TupleDescAttr(shape->desc, shape->attributes[i])->attlen == -1)
			length += toast_raw_datum_size(shape->values[shape->attributes[i]]) - VARHDRSZ;
	if (length > EMOGI_MAX_KEY_BYTES)
		return true;
	initStringInfo(&bytes);
	append_row(coder, datum, &bytes);
	return bytes.len > EMOGI_MAX_KEY_BYTES;
}

/* ---- decoding ---- */

/* Read the bytes of a column whose keys differ in length; *bytes moves on. */
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

/* Prepare the making of rows. */
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
	coder->desc = BlessTupleDesc(desc);
	MemoryContextSwitchTo(old);
	return coder->desc;
}

/* Get the type modifier of rows that are made, by which the server knows their columns. */
int32
emogi_row_coder_typmod(EmogiRowCoder *coder)
{
	return desc_of(coder)->tdtypmod;
}

/* Get the row of a key, in the current memory context. */
Datum
emogi_row_coder_decode(EmogiRowCoder *coder, EmogiKeyBytes bytes)
{
	bool		nulls[EMOGI_KEY_MOST_PARTS] = {false};

	return HeapTupleGetDatum(heap_form_tuple(desc_of(coder), emogi_row_coder_values(coder, bytes), nulls));
}

/* Compare the columns of two keys, one after the other. Raises what the comparison of a type raises. */
int
emogi_row_coder_compare(EmogiRowCoder *coder, const Datum *a, const Datum *b)
{
	int			order = 0;

	for (int i = 0; i < coder->key.nparts && order == 0; i++)
		order = emogi_value_coder_compare(&coder->parts[i], a[i], b[i]);
	return order;
}
