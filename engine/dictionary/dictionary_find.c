/*
 * dictionary_find.c: look up codes by the bytes of a key or by a comparison, and keys by code.
 *
 * By bytes: the hash table of key numbers. By a comparison: binary search among the keys of the
 * build, then among the added keys between the two neighbors. These form a skip list [1] that only
 * grows; codes delimit the range without a comparison. No function here takes a lock.
 *
 * [1] W. Pugh. Skip lists: a probabilistic alternative to balanced trees. CACM 33(6), 1990.
 */
#include "dictionary_parts.h"

uint64_t
emogi_dictionary_nkeys(const EmogiDictionary *dictionary)
{
	return dictionary->nkeys;
}

int
emogi_dictionary_shift(const EmogiDictionary *dictionary)
{
	return (int) dictionary->shift;
}

/* Find an added key by its code; NULL if there is none. */
static const EmogiAddedKey *
find_added(const EmogiDictionaryRoom *room, int64_t code)
{
	const uint32_t *codes = (const uint32_t *) ((const char *) room + room->codes_at);
	uint64_t	at = emogi_dictionary_code_home(room, code);
	uint32_t	place;

	while ((place = __atomic_load_n(&codes[at], __ATOMIC_ACQUIRE)) != 0)
	{
		if (room->entries[place - 1].code == code)
			return &room->entries[place - 1];
		at = at + 1 < room->ncodes ? at + 1 : 0;
	}
	return NULL;
}

/* Get the number of the key of the build with a code; UINT64_MAX if there is none. */
static inline uint64_t
find_built(const EmogiDictionary *dictionary, int64_t code)
{
	const uint64_t number = (uint64_t) code >> dictionary->shift;

	return code > 0 && number << dictionary->shift == (uint64_t) code &&
		number <= dictionary->nkeys ? number - 1 : UINT64_MAX;
}

EmogiKeyBytes
emogi_dictionary_key(const EmogiDictionary *dictionary, int64_t code)
{
	const uint64_t number = find_built(dictionary, code);
	const EmogiDictionaryRoom *room;
	const EmogiAddedKey *added;

	if (number != UINT64_MAX)
		return emogi_dictionary_built_key(dictionary, number);
	room = emogi_dictionary_get_room(dictionary);
	added = room != NULL ? find_added(room, code) : NULL;
	return added != NULL ? emogi_dictionary_added_key(room, added) : (EmogiKeyBytes) {NULL, 0};
}

void
emogi_dictionary_prefetch_place(const EmogiDictionary *dictionary, int64_t code)
{
	const uint64_t number = find_built(dictionary, code);

	if (number < dictionary->nkeys)
		emogi_dictionary_prefetch_offset(dictionary, number);
}

void
emogi_dictionary_prefetch_bytes(const EmogiDictionary *dictionary, int64_t code)
{
	const uint64_t number = find_built(dictionary, code);

	if (number < dictionary->nkeys)
		__builtin_prefetch((const char *) dictionary + dictionary->arena_at +
						   emogi_dictionary_offset(dictionary, number));
}

uint64_t
emogi_dictionary_number(const EmogiDictionary *dictionary, int64_t code)
{
	const uint64_t number = find_built(dictionary, code);
	const EmogiDictionaryRoom *room;

	if (number != UINT64_MAX)
		return number;
	room = emogi_dictionary_get_room(dictionary);
	return dictionary->nkeys + (uint64_t) (find_added(room, code) - room->entries);
}

int64_t
emogi_dictionary_code(const EmogiDictionary *dictionary, uint64_t number)
{
	if (number < dictionary->nkeys)
		return emogi_dictionary_built_code(dictionary, number);
	return emogi_dictionary_get_room(dictionary)->entries[number - dictionary->nkeys].code;
}

/* ---- by bytes ---- */

/* Advance *at to the first slot that is 0 or matches the tag of the hash, and return this slot. */
static inline uint32_t
next_slot(const EmogiDictionary *dictionary, uint64_t hash, uint64_t *at)
{
	const uint32_t *slots = emogi_dictionary_slots(dictionary);
	const uint32_t tag = (uint32_t) (hash << dictionary->number_bits);
	uint32_t	slot;

	while ((slot = __atomic_load_n(&slots[*at], __ATOMIC_ACQUIRE)) != 0 &&
		   (uint64_t) (slot ^ tag) >> dictionary->number_bits != 0)
		*at = *at + 1 < dictionary->nslots ? *at + 1 : 0;
	return slot;
}

/* Get the key number in a slot that is not 0. */
static inline uint64_t
number_of(const EmogiDictionary *dictionary, uint32_t slot)
{
	return (slot & ((UINT64_C(1) << dictionary->number_bits) - 1)) - 1;
}

/* Find the code of a key, starting at slot `at`. */
static int64_t
find_from(const EmogiDictionary *dictionary, EmogiKeyBytes key, uint64_t hash, uint64_t at)
{
	uint32_t	slot;

	while ((slot = next_slot(dictionary, hash, &at)) != 0)
	{
		const uint64_t number = number_of(dictionary, slot);
		EmogiKeyBytes found;
		int64_t		code;

		if (number < dictionary->nkeys)
		{
			found = emogi_dictionary_built_key(dictionary, number);
			code = emogi_dictionary_built_code(dictionary, number);
		}
		else
		{
			const EmogiDictionaryRoom *room = emogi_dictionary_get_room(dictionary);
			const EmogiAddedKey *added = &room->entries[number - dictionary->nkeys];

			found = emogi_dictionary_added_key(room, added);
			code = added->code;
		}
		if (found.length == key.length && emogi_key_same_bytes(found.bytes, key.bytes, key.length))
			return code;
		at = at + 1 < dictionary->nslots ? at + 1 : 0;
	}
	return EMOGI_NO_CODE;
}

int64_t
emogi_dictionary_find(const EmogiDictionary *dictionary, EmogiKeyBytes key)
{
	const uint64_t hash = emogi_key_hash(&dictionary->hash, key.bytes, key.length);

	return find_from(dictionary, key, hash, emogi_dictionary_home(hash, dictionary->nslots));
}

void
emogi_dictionary_prefetch_find(const EmogiDictionary *dictionary, EmogiKeyBytes key)
{
	const uint64_t hash = emogi_key_hash(&dictionary->hash, key.bytes, key.length);

	__builtin_prefetch(emogi_dictionary_slots(dictionary) +
					   emogi_dictionary_home(hash, dictionary->nslots));
}

void
emogi_dictionary_find_many(const EmogiDictionary *dictionary, const EmogiKeyBytes *keys, int count,
						   int64_t *codes)
{
	const char *block = (const char *) dictionary;
	uint64_t	hash[EMOGI_KEYS_IN_FLIGHT];
	uint64_t	at[EMOGI_KEYS_IN_FLIGHT];
	uint64_t	number[EMOGI_KEYS_IN_FLIGHT];

	for (int i = 0; i < count; i++)
	{
		hash[i] = emogi_key_hash(&dictionary->hash, keys[i].bytes, keys[i].length);
		at[i] = emogi_dictionary_home(hash[i], dictionary->nslots);
		__builtin_prefetch(emogi_dictionary_slots(dictionary) + at[i]);
	}
	for (int i = 0; i < count; i++)
	{
		const uint32_t slot = next_slot(dictionary, hash[i], &at[i]);

		number[i] = slot != 0 ? number_of(dictionary, slot) : UINT64_MAX;
		if (number[i] < dictionary->nkeys)
			__builtin_prefetch(block + dictionary->offsets_at +
							   number[i] * dictionary->offset_bytes);
	}
	for (int i = 0; i < count; i++)
	{
		if (number[i] < dictionary->nkeys)
			__builtin_prefetch(block + dictionary->arena_at +
							   emogi_dictionary_offset(dictionary, number[i]));
	}
	for (int i = 0; i < count; i++)
		codes[i] = find_from(dictionary, keys[i], hash[i], at[i]);
}

/* ---- by a comparison ---- */

/*
 * Compare a key with one of the build, and narrow the range [*low, *high) of keys of the build that
 * it is among; return true, with its code, if it is that key.
 */
static bool
narrow(const EmogiDictionary *dictionary, EmogiKeyBytes key, EmogiKeyCompare compare, void *arg,
	   uint64_t number, uint64_t *low, uint64_t *high, EmogiKeyPlace *place)
{
	const int	order = compare(arg, key, emogi_dictionary_built_key(dictionary, number));

	if (order == 0)
		place->code = emogi_dictionary_built_code(dictionary, number);
	else if (order > 0)
		*low = number + 1;
	else
		*high = number;
	return order == 0;
}

/*
 * If the last two keys that were added lie between the same keys of the build, set *number to the
 * second of those, where the next key often belongs, too: keys tend to come in order.
 */
static bool
guess(const EmogiDictionary *dictionary, uint64_t *number)
{
	const EmogiDictionaryRoom *room = emogi_dictionary_get_room(dictionary);
	const uint64_t nadded = emogi_dictionary_nadded(dictionary);
	int64_t		last;

	if (nadded < 2)
		return false;
	last = room->entries[nadded - 1].code >> dictionary->shift;
	*number = last < 0 ? 0 : (uint64_t) last < dictionary->nkeys ? (uint64_t) last :
		dictionary->nkeys;
	return last == room->entries[nadded - 2].code >> dictionary->shift;
}

/* Find the position of a key among the keys of the build. */
static void
place_among_built(const EmogiDictionary *dictionary, EmogiKeyBytes key, EmogiKeyCompare compare,
				  void *arg, EmogiKeyPlace *place)
{
	uint64_t	low = 0,
				high = dictionary->nkeys,
				guessed;

	if (guess(dictionary, &guessed) &&
		((guessed > 0 && narrow(dictionary, key, compare, arg, guessed - 1, &low, &high, place)) ||
		 (guessed < high && narrow(dictionary, key, compare, arg, guessed, &low, &high, place))))
		return;
	while (low < high)
		if (narrow(dictionary, key, compare, arg, low + (high - low) / 2, &low, &high, place))
			return;
	if (low > 0)
		place->before = emogi_dictionary_built_code(dictionary, low - 1);
	if (low < dictionary->nkeys)
		place->after = emogi_dictionary_built_code(dictionary, low);
}

/* Find the position of a key among the added keys, between its neighbors of the build. */
static void
place_among_added(const EmogiDictionaryRoom *room, EmogiKeyBytes key, EmogiKeyCompare compare,
				  void *arg, EmogiKeyPlace *place)
{
	const uint32_t *links = room->first;
	uint32_t	before = 0,
				after = 0;

	for (int level = EMOGI_ROOM_LEVELS - 1; level >= 0; level--)
	{
		uint32_t	next;

		while ((next = __atomic_load_n(&links[level], __ATOMIC_ACQUIRE)) != 0 && next != after)
		{
			const EmogiAddedKey *added = &room->entries[next - 1];

			if (place->after != EMOGI_NO_CODE && added->code >= place->after)
				break;
			if (added->code > place->before)
			{
				const int	order = compare(arg, key, emogi_dictionary_added_key(room, added));

				if (order == 0)
				{
					place->code = added->code;
					return;
				}
				if (order < 0)
				{
					after = next;
					place->after = added->code;
					place->after_added = next;
					break;
				}
				place->before = added->code;
				place->before_added = next;
			}
			before = next;
			links = emogi_dictionary_links(room, added);
		}
		place->links[level] = before;
	}
}

void
emogi_dictionary_place(const EmogiDictionary *dictionary, EmogiKeyBytes key,
					   EmogiKeyCompare compare, void *arg,
					   EmogiKeyPlace *place)
{
	const EmogiDictionaryRoom *room = emogi_dictionary_get_room(dictionary);

	*place = (EmogiKeyPlace) {.code = EMOGI_NO_CODE, .before = EMOGI_NO_CODE,
		.after = EMOGI_NO_CODE};
	place_among_built(dictionary, key, compare, arg, place);
	if (place->code == EMOGI_NO_CODE && room != NULL)
		place_among_added(room, key, compare, arg, place);
}

int64_t
emogi_dictionary_search(const EmogiDictionary *dictionary, EmogiKeyBytes key,
						EmogiKeyCompare compare, void *arg)
{
	EmogiKeyPlace place;

	emogi_dictionary_place(dictionary, key, compare, arg, &place);
	return place.code;
}
