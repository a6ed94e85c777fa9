/*
 * key_coder.c: conversion of key Datums to bytes and back, and their order; dispatches single
 * columns to value_coder.c and rows to row_coder.c.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "keys/keys.h"

/* Initialize a coder for keys of a type. */
void
emogi_key_coder_init(EmogiKeyCoder *coder, const EmogiKeyType *key)
{
	emogi_value_coder_init(coder, key);
	if (key->nparts > 0)
		coder->row = emogi_row_coder_make(key);
}

/*
 * Check whether a Datum is a row with a NULL column, which is not a key, like NULL itself. Raises
 * 42804 if the row has other columns.
 */
bool
emogi_key_coder_has_null(EmogiKeyCoder *coder, Datum datum)
{
	return coder->row != NULL && emogi_row_coder_has_null(coder->row, datum);
}

/*
 * Get the bytes of a key, in the memory of the Datum or in the current memory context. Raises
 * 54000, and 42804 if a row has other columns.
 */
EmogiKeyBytes
emogi_key_coder_encode(EmogiKeyCoder *coder, Datum datum)
{
	return coder->row != NULL ? emogi_row_coder_encode(coder->row, datum)
		: emogi_value_coder_encode(coder, datum);
}

/* Get the Datum of a key, in the current memory context. */
Datum
emogi_key_coder_decode(EmogiKeyCoder *coder, EmogiKeyBytes bytes)
{
	return coder->row != NULL ? emogi_row_coder_decode(coder->row, bytes)
		: emogi_value_coder_decode(coder, bytes);
}

/* Texts up to this length are compared without allocations. */
#define SHORT_BYTES 256

typedef union ShortText
{
	int32		header;
	char		bytes[VARHDRSZ + SHORT_BYTES];
} ShortText;

/* Get a short text as a value. */
static Datum
short_text(EmogiKeyBytes bytes, ShortText *text)
{
	SET_VARSIZE(text, VARHDRSZ + bytes.length);
	if (bytes.length > 0)		/* an empty key may have a NULL pointer */
		memcpy(VARDATA(text), bytes.bytes, bytes.length);
	return PointerGetDatum(text);
}

/* Are two keys texts that are short? */
static bool
are_short_texts(const EmogiKeyCoder *coder, EmogiKeyBytes a, EmogiKeyBytes b)
{
	return coder->row == NULL && (coder->key.type == TEXTOID || coder->key.type == VARCHAROID) &&
		a.length <= SHORT_BYTES && b.length <= SHORT_BYTES;
}

/* Compare two keys; arg is an EmogiKeyCoder. Raises the errors of the type's comparison. */
int
emogi_key_coder_compare(void *arg, EmogiKeyBytes a, EmogiKeyBytes b)
{
	EmogiKeyCoder *coder = arg;
	MemoryContext scrap;
	MemoryContext old;
	int			order;

	if (coder->key.class == EMOGI_KEY_BYTES)
		return emogi_key_compare_bytes(NULL, a, b);
	if (are_short_texts(coder, a, b))
	{
		ShortText	texts[2];

		return emogi_value_coder_compare(coder, short_text(a, &texts[0]), short_text(b, &texts[1]));
	}
	scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi comparison", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(scrap);
	if (coder->row != NULL)
		order = emogi_row_coder_compare(coder->row, emogi_row_coder_values(coder->row, a),
										emogi_row_coder_values(coder->row, b));
	else
		order = emogi_value_coder_compare(coder, emogi_value_coder_decode(coder, a),
										  emogi_value_coder_decode(coder, b));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scrap);
	return order;
}

/*
 * Get the code of a key; EMOGI_NO_CODE if the dictionary does not have it. Raises 54000 and the
 * errors of the comparison.
 */
int64
emogi_key_coder_find(EmogiKeyCoder *coder, const EmogiDictionary *dictionary, Datum datum)
{
	EmogiKeyBytes bytes = emogi_key_coder_encode(coder, datum);
	int64		code = emogi_dictionary_find(dictionary, bytes);

	if (code == EMOGI_NO_CODE && coder->key.class == EMOGI_KEY_COMPARED)
		code = emogi_dictionary_search(dictionary, bytes, emogi_key_coder_compare, coder);
	return code;
}
