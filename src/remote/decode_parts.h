/*
 * decode_parts.h: declarations shared by the parts of decode.c: fields of a row and their decoding
 */
#ifndef EMOGI_DECODE_PARTS_H
#define EMOGI_DECODE_PARTS_H

#include "catalog/pg_type.h"
#include "port/pg_bswap.h"

#include "remote/decode.h"

/* A value of a row; bytes = NULL: it is NULL. */
typedef struct EmogiRemoteField
{
	const char *bytes;
	int			length;
} EmogiRemoteField;

/* ---- integers, inline ---- */

/* Get an integer of 8, 4 or 2 bytes. */
static inline int64
emogi_decode_load(const char *p, int length)
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

extern void emogi_decode_refuse_integer(const EmogiRemoteColumn *column, int64 value);
extern void emogi_decode_refuse_length(const EmogiRemoteColumn *column, int length);

/* Get the integer of a field in integer format. */
static inline int64
emogi_decode_integer(const EmogiRemoteColumn *column, const EmogiRemoteField *field)
{
	int64		value;

	if (unlikely(field->length != 8 && field->length != 4 && field->length != 2))
		emogi_decode_refuse_length(column, field->length);
	value = emogi_decode_load(field->bytes, field->length);
	if (unlikely((column->type == INT4OID && value != (int32) value) ||
				 (column->type == INT2OID && value != (int16) value)))
		emogi_decode_refuse_integer(column, value);
	return value;
}

/* Does a column accept all integers of this width? */
static inline bool
emogi_decode_accepts_width(const EmogiRemoteColumn *column, int width)
{
	return column->form == EMOGI_REMOTE_INTEGER &&
		(column->type == INT8OID || (column->type == INT4OID && width == 4));
}

/* ---- decode_values.c ---- */

extern Datum emogi_decode_datum(EmogiDecoder *decoder, EmogiRemoteColumn *column,
								const EmogiRemoteField *field);
extern double emogi_decode_weight(EmogiDecoder *decoder, EmogiRemoteColumn *column,
								  const EmogiRemoteField *field);

/* ---- decode_rows.c ---- */

extern void emogi_decode_put_row(EmogiDecoder *decoder, EmogiRemoteTable *table,
								 const EmogiRemoteField *fields);
extern void emogi_decode_drop_kept(EmogiDecoder *decoder);
extern void emogi_decode_refuse_table(const EmogiRemoteTable *table);

/* ---- decode_groups.c ---- */

extern bool emogi_decode_put_arrays(EmogiDecoder *decoder, EmogiRemoteTable *table,
									const EmogiRemoteField *fields);
extern bool emogi_decode_put_pack(EmogiDecoder *decoder, EmogiRemoteTable *table,
								  const EmogiRemoteField *field);

#endif							/* EMOGI_DECODE_PARTS_H */
