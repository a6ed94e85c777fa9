/*
 * key_coder.c: Datums of keys to bytes and back, and their order: those of one column by value_coder.c, rows by row_coder.c.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "keys/keys.h"

/* Prepare to handle keys of a type. */
void
emogi_key_coder_init(EmogiKeyCoder *coder, const EmogiKeyType *key)
{
	emogi_value_coder_init(coder, key);
	if (key->nparts > 0)
		coder->row = emogi_row_coder_make(key);
}

/* Is this a row with a column that is NULL? It is no key, as NULL is none. Raises 42804 for a row of other columns. */
bool
emogi_key_coder_lacks(EmogiKeyCoder *coder, Datum datum)
{
	return coder->row != NULL && emogi_row_coder_lacks(coder->row, datum);
}

/*
 * Get the bytes of a key, in the memory of the Datum or in the current memory context. Raises 54000, and 42804 for a row of other
 * columns.
 */
EmogiKeyBytes
emogi_key_coder_encode(EmogiKeyCoder *coder, Datum datum)
{
	return coder->row != NULL ? emogi_row_coder_encode(coder->row, datum) : emogi_value_coder_encode(coder, datum);
}

/* Get the Datum of a key, in the current memory context. */
Datum
emogi_key_coder_decode(EmogiKeyCoder *coder, EmogiKeyBytes bytes)
{
	return coder->row != NULL ? emogi_row_coder_decode(coder->row, bytes) : emogi_value_coder_decode(coder, bytes);
}

/* Compare two keys; coder is an EmogiKeyCoder. Raises what the type's comparison raises. */
int
emogi_key_coder_compare(void *arg, EmogiKeyBytes a, EmogiKeyBytes b)
{
	EmogiKeyCoder *coder = arg;
	MemoryContext scrap;
	MemoryContext old;
	int			order;

	if (coder->key.class == EMOGI_KEY_BYTES)
		return emogi_key_compare_bytes(NULL, a, b);
	scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi comparison", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(scrap);
	if (coder->row != NULL)
		order = emogi_row_coder_compare(coder->row, emogi_row_coder_values(coder->row, a), emogi_row_coder_values(coder->row, b));
	else
		order = emogi_value_coder_compare(coder, emogi_value_coder_decode(coder, a), emogi_value_coder_decode(coder, b));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scrap);
	return order;
}

/* Get the code of a key; EMOGI_NO_CODE when the dictionary has none. Raises 54000 and what the comparison raises. */
int64
emogi_key_coder_find(EmogiKeyCoder *coder, const EmogiDictionary *dictionary, Datum datum)
{
	EmogiKeyBytes bytes = emogi_key_coder_encode(coder, datum);
	int64		code = emogi_dictionary_find(dictionary, bytes);

	if (code == EMOGI_NO_CODE && coder->key.class == EMOGI_KEY_COMPARED)
		code = emogi_dictionary_search(dictionary, bytes, emogi_key_coder_compare, coder);
	return code;
}
