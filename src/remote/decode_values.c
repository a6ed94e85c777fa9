/*
 * decode_values.c: conversion of COPY values to local types
 *
 * Numbers are big-endian. An integer out of range is an error.
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "edges/pages.h"
#include "remote/decode_parts.h"

/* Raise 22003 for an integer out of the range of the local type. */
void
emogi_decode_refuse_integer(const EmogiRemoteColumn *column, int64 value)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value \"" INT64_FORMAT "\" is out of range for type %s", value,
					format_type_be(column->type)),
			 errdetail("The value is in column \"%s\".", column->name)));
}

/* Raise 22P03 for a value of a length that is invalid for its type. */
void
emogi_decode_refuse_length(const EmogiRemoteColumn *column, int length)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
			 errmsg("a value of column \"%s\" has an invalid length of %d bytes",
					column->name, length)));
}

/* Get a floating-point number. */
static double
float_of(const EmogiRemoteColumn *column, const EmogiRemoteField *field)
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

	if (unlikely(field->length != (column->form == EMOGI_REMOTE_FLOAT8 ? 8 : 4)))
		emogi_decode_refuse_length(column, field->length);
	if (column->form == EMOGI_REMOTE_FLOAT8)
	{
		memcpy(&wide.bits, field->bytes, sizeof wide.bits);
		wide.bits = pg_ntoh64(wide.bits);
		return wide.value;
	}
	memcpy(&narrow.bits, field->bytes, sizeof narrow.bits);
	narrow.bits = pg_ntoh32(narrow.bits);
	return narrow.value;
}

/* Get a null-terminated copy of a field, valid until the next call. */
static char *
end_characters(EmogiDecoder *decoder, const EmogiRemoteField *field)
{
	if ((Size) field->length >= decoder->max_size)
	{
		decoder->max_size = Max((Size) field->length + 1, 2 * decoder->max_size);
		decoder->characters = decoder->characters == NULL ?
			MemoryContextAlloc(MemoryContextGetParent(decoder->scrap), decoder->max_size) :
			repalloc(decoder->characters, decoder->max_size);
	}
	memcpy(decoder->characters, field->bytes, field->length);
	decoder->characters[field->length] = '\0';
	return decoder->characters;
}

/* Get a value of the column's local type, in the scrap context. */
Datum
emogi_decode_datum(EmogiDecoder *decoder, EmogiRemoteColumn *column, const EmogiRemoteField *field)
{
	MemoryContext old;
	StringInfoData bytes;
	Datum		datum;
	char	   *characters;

	if (column->form == EMOGI_REMOTE_RECEIVED)
	{
		old = MemoryContextSwitchTo(decoder->scrap);
		bytes = (StringInfoData) {.data = (char *) field->bytes,.len = field->length,
								  .maxlen = field->length};
		datum = ReceiveFunctionCall(&column->function, &bytes, column->ioparam, column->typmod);
		if (bytes.cursor != bytes.len)
			emogi_decode_refuse_length(column, field->length);
	}
	else if (column->form == EMOGI_REMOTE_CHARACTERS)
	{
		characters = end_characters(decoder, field);
		old = MemoryContextSwitchTo(decoder->scrap);
		datum = InputFunctionCall(&column->function, characters, column->ioparam, column->typmod);
	}
	else if (column->form == EMOGI_REMOTE_INTEGER)
	{
		const int64 value = emogi_decode_integer(column, field);

		return column->type == INT8OID ? Int64GetDatum(value) :
			column->type == INT4OID ? Int32GetDatum((int32) value) : Int16GetDatum((int16) value);
	}
	else
	{
		const double value = float_of(column, field);

		return column->form == EMOGI_REMOTE_FLOAT8 ? Float8GetDatum(value) :
			Float4GetDatum((float4) value);
	}
	MemoryContextSwitchTo(old);
	return datum;
}

/* Get a weight. Raises 22003 for a numeric out of range. */
double
emogi_decode_weight(EmogiDecoder *decoder, EmogiRemoteColumn *column, const EmogiRemoteField *field)
{
	if (column->form == EMOGI_REMOTE_INTEGER)
		return (double) emogi_decode_integer(column, field);
	if (likely(column->form == EMOGI_REMOTE_FLOAT8 || column->form == EMOGI_REMOTE_FLOAT4))
		return float_of(column, field);
	decoder->nkept++;
	return emogi_pages_weight(emogi_decode_datum(decoder, column, field), column->base);
}
