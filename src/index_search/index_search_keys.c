/*
 * index_search_keys.c: the keys visited by an index search
 *
 * An index search identifies a vertex by an int64. For integer keys this is the key itself. A key
 * of another type gets a number when it is first visited, and its bytes (keys.h of ../keys), which
 * are the same for equal keys, are stored.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "utils/memutils.h"

#include "index_search/index_search_keys.h"

/* Room for keys at first: 0.9 of a power of 2, because most searches are small. */
#define FIRST_KEYS 14

/* A key and its number. */
typedef struct NumberedKey
{
	EmogiKeyBytes bytes;
	char		status;			/* for the hash table */
	int64		id;
} NumberedKey;

/* Do two keys have the same bytes? */
static inline bool
same_bytes(EmogiKeyBytes a, EmogiKeyBytes b)
{
	return a.length == b.length && (a.length == 0 || memcmp(a.bytes, b.bytes, a.length) == 0);
}

#define SH_PREFIX numbers
#define SH_ELEMENT_TYPE NumberedKey
#define SH_KEY_TYPE EmogiKeyBytes
#define SH_KEY bytes
#define SH_HASH_KEY(table, key) hash_bytes((const unsigned char *) (key).bytes, (int) (key).length)
#define SH_EQUAL(table, a, b) same_bytes(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

/* Initialize, in the current memory context, which must live as long as the keys. */
void
emogi_index_search_keys_init(EmogiSearchKeys *keys, EmogiKeyCoder *coder)
{
	*keys = (EmogiSearchKeys) {.coder = coder,.are_integers = coder->key.class == EMOGI_KEY_INTEGER,
							   .context = CurrentMemoryContext};
	if (keys->are_integers)
		return;
	keys->scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi key", ALLOCSET_SMALL_SIZES);
	keys->numbers = numbers_create(keys->context, FIRST_KEYS, NULL);
	keys->room = FIRST_KEYS;
	keys->bytes = palloc(keys->room * sizeof *keys->bytes);
}

/* Store a new key. */
static int64
keep(EmogiSearchKeys *keys, NumberedKey *numbered, EmogiKeyBytes bytes)
{
	char	   *copy = MemoryContextAlloc(keys->context, Max(bytes.length, 1));

	if (bytes.length > 0)
		memcpy(copy, bytes.bytes, bytes.length);
	numbered->bytes = (EmogiKeyBytes) {copy, bytes.length};
	numbered->id = (int64) keys->count;
	if (keys->count == keys->room)
	{
		keys->room *= 2;
		keys->bytes = repalloc_huge(keys->bytes, keys->room * sizeof *keys->bytes);
	}
	keys->bytes[keys->count++] = numbered->bytes;
	return numbered->id;
}

/* Get the number of a key. type: of the Datum, which for integers may be any integer type. */
int64
emogi_index_search_keys_id(EmogiSearchKeys *keys, Datum datum, Oid type)
{
	MemoryContext old;
	EmogiKeyBytes bytes;
	NumberedKey   *numbered;
	bool		is_known;
	int64		id;

	if (keys->are_integers)
		return type == INT2OID ? DatumGetInt16(datum) : type == INT4OID ? DatumGetInt32(datum) :
			DatumGetInt64(datum);
	old = MemoryContextSwitchTo(keys->scrap);
	bytes = emogi_key_coder_encode(keys->coder, datum);
	numbered = numbers_insert(keys->numbers, bytes, &is_known);
	id = is_known ? numbered->id : keep(keys, numbered, bytes);
	MemoryContextSwitchTo(old);
	MemoryContextReset(keys->scrap);
	return id;
}

/*
 * Get a key as a Datum of a column's type, in the current memory context; return false if that type
 * cannot have the value.
 */
bool
emogi_index_search_keys_datum(EmogiSearchKeys *keys, int64 id, Oid type, Datum *datum)
{
	if (!keys->are_integers)
	{
		*datum = emogi_key_coder_decode(keys->coder, keys->bytes[id]);
		return true;
	}
	switch (type)
	{
		case INT2OID:
			*datum = Int16GetDatum((int16) id);
			return id >= PG_INT16_MIN && id <= PG_INT16_MAX;
		case INT4OID:
			*datum = Int32GetDatum((int32) id);
			return id >= PG_INT32_MIN && id <= PG_INT32_MAX;
		default:
			*datum = Int64GetDatum(id);
			return true;
	}
}

/* Copy the bytes of a key that is not an integer into the current memory context. */
EmogiKeyBytes
emogi_index_search_keys_copy(const EmogiSearchKeys *keys, int64 id)
{
	const EmogiKeyBytes key = keys->bytes[id];

	return (EmogiKeyBytes) {key.length > 0 ? memcpy(palloc(key.length), key.bytes, key.length) :
							NULL, key.length};
}

/* Compare two keys; arg is an EmogiSearchKeys. */
int
emogi_index_search_keys_compare(int64 a, int64 b, void *arg)
{
	EmogiSearchKeys *keys = arg;

	if (keys->are_integers)
		return (a > b) - (a < b);
	return emogi_key_coder_compare(keys->coder, keys->bytes[a], keys->bytes[b]);
}
