/*
 * dictionary_add.c: add keys to a dictionary after the build.
 *
 * A key gets the code in the middle between those of its neighbors. However, keys that come in
 * order form a run, whose n-th key takes between 1 / n and 1 / (2 * n) of the remaining gap. A gap
 * of 2^40 thus holds more than 100,000 ascending keys, whereas halving would end after 40. The same
 * applies to descending runs. A key continues the run of the younger one of its neighbors; if both
 * are among the last two added keys, that of the older one, because two runs alternate. Behind the
 * last key and before the first, steps are such that the codes last for all keys that the room
 * holds.
 *
 * Keys that come in order are beside the last one. Its neighbors are remembered, so two comparisons
 * prove that, and no search is needed.
 *
 * Everything is computed before anything is changed, because the comparison may raise an error.
 * Then the key is written and published: by code, in the list of each level from the lowest one,
 * and finally by its bytes. A process that finds a key therefore finds all of it.
 */
#include "dictionary_parts.h"

#define RUNS 2					/* runs that may grow alternately */
#define MAX_RUN INT16_MAX		/* steps do not become smaller from here on */
#define MAX_ELSEWHERE 2			/* keys after which no key is expected beside the last one */
#define BYTES_BESIDE_KEY 32		/* room for links and longer keys */
#define BYTES_OF_KEY 32			/* assumed length of keys if there are none yet */

/* Round up to a multiple of 8. */
static inline uint64_t
whole_words(uint64_t bytes)
{
	return (bytes + 7) & ~UINT64_C(7);
}

/* Lay out the room; return the bytes before its arena. */
static uint64_t
lay_out_room(const EmogiDictionary *dictionary, EmogiDictionaryRoom *room)
{
	memset(room, 0, sizeof(*room));
	room->ncodes = dictionary->room_keys + dictionary->room_keys / 3 + 1;
	room->codes_at = sizeof(*room) + dictionary->room_keys * sizeof(EmogiAddedKey);
	room->arena_at = whole_words(room->codes_at + room->ncodes * sizeof(uint32_t));
	return room->arena_at;
}

size_t
emogi_dictionary_room_bytes(const EmogiDictionary *dictionary)
{
	const uint64_t length = dictionary->nkeys > 0 ? dictionary->arena_bytes / dictionary->nkeys :
		BYTES_OF_KEY;
	const uint64_t key_bytes = length * 3 / 2 + BYTES_BESIDE_KEY;
	EmogiDictionaryRoom room;

	if (emogi_dictionary_get_room(dictionary) != NULL)
		return 0;
	return lay_out_room(dictionary, &room) + whole_words(dictionary->room_keys * key_bytes);
}

void
emogi_dictionary_set_room(EmogiDictionary *dictionary, void *memory, size_t bytes)
{
	EmogiDictionaryRoom *room = memory;
	const uint64_t arena_at = lay_out_room(dictionary, room);

	room->arena_bytes = bytes - arena_at;
	memset((char *) memory + room->codes_at, 0, arena_at - room->codes_at);
	__atomic_store_n(&dictionary->room, room, __ATOMIC_RELEASE);
}

void *
emogi_dictionary_room(const EmogiDictionary *dictionary)
{
	return emogi_dictionary_get_room(dictionary);
}

uint64_t
emogi_dictionary_nadded(const EmogiDictionary *dictionary)
{
	const EmogiDictionaryRoom *room = emogi_dictionary_get_room(dictionary);

	return room != NULL ? __atomic_load_n(&room->nkeys, __ATOMIC_ACQUIRE) : 0;
}

/*
 * Get the length of the run that a key with these neighbors continues; < 0 if it descends, 0 if
 * both neighbors are of the build.
 */
static int
length_of_run(const EmogiDictionaryRoom *room, const EmogiKeyPlace *place)
{
	const uint32_t before = place->before_added;
	const uint32_t after = place->after_added;
	const bool	alternate = before > 0 && after > 0 && before + RUNS > room->nkeys &&
		after + RUNS > room->nkeys;
	int			run;

	if (before == after)
		return 0;				/* both 0 */
	if ((before > after) != alternate)
	{
		run = room->entries[before - 1].run;
		return run <= 0 ? 1 : run < MAX_RUN ? run + 1 : MAX_RUN;
	}
	run = room->entries[after - 1].run;
	return run >= 0 ? -1 : run > -MAX_RUN ? run - 1 : -MAX_RUN;
}

/* Choose a code between the neighbors; EMOGI_NO_CODE if none is free. */
static int64_t
choose_code(const EmogiDictionary *dictionary, const EmogiKeyPlace *place, int run)
{
	const int64_t end_step = (int64_t) (EMOGI_CODES / dictionary->room_keys);
	const uint32_t length = (uint32_t) (run < 0 ? -run : run);
	int64_t		gap,
				step;

	if (place->after == EMOGI_NO_CODE)
		return place->before == EMOGI_NO_CODE ? 0 : place->before + end_step;
	if (place->before == EMOGI_NO_CODE)
		return place->after - end_step;
	gap = place->after - place->before;
	if (gap < 2)
		return EMOGI_NO_CODE;
	step = gap >> (length > 1 ? 32 - __builtin_clz(length) : 1);
	step = step > 0 ? step : 1;
	return run < 0 ? place->after - step : place->before + step;
}

/*
 * Choose the number of levels of the next key. Each level has a quarter of the keys of the level
 * below; the choice is secret to the users that add keys.
 */
static uint32_t
choose_height(const EmogiDictionary *dictionary, uint64_t nadded)
{
	const uint64_t random = emogi_key_fold(dictionary->hash.words[0] ^ nadded,
										   dictionary->hash.words[1]);
	const uint32_t height = 1 + (uint32_t) __builtin_clzll(random | 1) / 2;

	return height < EMOGI_ROOM_LEVELS ? height : EMOGI_ROOM_LEVELS;
}

/* Insert a key into the hash table by code. */
static void
publish_by_code(EmogiDictionaryRoom *room, int64_t code, uint32_t place)
{
	uint32_t   *codes = (uint32_t *) ((char *) room + room->codes_at);
	uint64_t	at = emogi_dictionary_code_home(room, code);

	while (codes[at] != 0)
		at = at + 1 < room->ncodes ? at + 1 : 0;
	__atomic_store_n(&codes[at], place, __ATOMIC_RELEASE);
}

/* Insert a key, whose links are set already, into the list of each level. */
static void
publish_in_order(EmogiDictionaryRoom *room, const EmogiKeyPlace *found, uint32_t height,
				 uint32_t place)
{
	for (uint32_t level = 0; level < height; level++)
	{
		uint32_t   *links = found->links[level] == 0 ? room->first :
			emogi_dictionary_links(room, &room->entries[found->links[level] - 1]);

		__atomic_store_n(&links[level], place, __ATOMIC_RELEASE);
	}
}

/* Insert a key into the hash table by bytes. */
static void
publish_by_bytes(EmogiDictionary *dictionary, EmogiKeyBytes key, uint64_t nadded)
{
	const uint64_t hash = emogi_key_hash(&dictionary->hash, key.bytes, key.length);
	uint32_t   *slots = emogi_dictionary_slots(dictionary);
	uint64_t	at = emogi_dictionary_home(hash, dictionary->nslots);

	while (slots[at] != 0)
		at = at + 1 < dictionary->nslots ? at + 1 : 0;
	__atomic_store_n(&slots[at],
					 emogi_dictionary_slot(dictionary, hash, dictionary->nkeys + nadded),
					 __ATOMIC_RELEASE);
}

/* Write a key as the next entry of the room, with links to its successors. */
static void
write_added(EmogiDictionaryRoom *room, EmogiKeyBytes key, EmogiAddedKey to_add,
			const EmogiKeyPlace *found)
{
	EmogiAddedKey *added = &room->entries[room->nkeys];
	const uint32_t height = to_add.height;
	uint32_t   *links;

	*added = to_add;
	links = emogi_dictionary_links(room, added);
	for (uint32_t level = 0; level < height; level++)
		links[level] = found->links[level] == 0 ? room->first[level] :
			emogi_dictionary_links(room, &room->entries[found->links[level] - 1])[level];
	if (key.length > 0)
		memcpy(links + height, key.bytes, key.length);
	room->arena_used += height * sizeof(uint32_t) + ((uint64_t) key.length + 3) / 4 * 4;
}

/* Get a neighbor of an added key: an added key, or one of the build if `added` is 0. */
static EmogiKeyBytes
get_neighbor(const EmogiDictionary *dictionary, const EmogiDictionaryRoom *room, int64_t code,
			 uint32_t added)
{
	return added > 0 ? emogi_dictionary_added_key(room, &room->entries[added - 1]) :
		emogi_dictionary_built_key(dictionary, ((uint64_t) code >> dictionary->shift) - 1);
}

/*
 * Find the position of a key if it is between the key that was added last and a neighbor of that;
 * otherwise return false. No key was added since, so these are neighbors in the order of all keys.
 */
static bool
place_beside_last(const EmogiDictionary *dictionary, const EmogiDictionaryRoom *room,
				  EmogiKeyBytes key, EmogiKeyCompare compare, void *arg, EmogiKeyPlace *place)
{
	const EmogiKeyPlace *last = &room->last;
	const uint32_t number = (uint32_t) room->nkeys;
	const EmogiAddedKey *added = &room->entries[number - 1];
	const int	order = compare(arg, key, emogi_dictionary_added_key(room, added));

	*place = *last;
	if (order > 0)
	{
		place->before = added->code;
		place->before_added = number;
		for (uint32_t level = 0; level < added->height; level++)
			place->links[level] = number;
		return last->after == EMOGI_NO_CODE ||
			compare(arg, key, get_neighbor(dictionary, room, last->after, last->after_added)) < 0;
	}
	place->after = added->code;
	place->after_added = number;
	return order < 0 &&
		(last->before == EMOGI_NO_CODE ||
		 compare(arg, key, get_neighbor(dictionary, room, last->before, last->before_added)) > 0);
}

/* Find the position of a key. */
static void
find_place(const EmogiDictionary *dictionary, const EmogiDictionaryRoom *room, EmogiKeyBytes key,
		   EmogiKeyCompare compare, void *arg, EmogiKeyPlace *place)
{
	if (room->nkeys == 0 || room->nelsewhere == MAX_ELSEWHERE ||
		!place_beside_last(dictionary, room, key, compare, arg, place))
		emogi_dictionary_place(dictionary, key, compare, arg, place);
}

/* Remember the position of the key that is being added. */
static void
note_place(EmogiDictionaryRoom *room, const EmogiKeyPlace *place)
{
	const uint64_t before = room->nkeys;

	if (before > 0 && (place->before_added == before || place->after_added == before))
		room->nelsewhere = 0;
	else if (room->nelsewhere < MAX_ELSEWHERE)
		room->nelsewhere++;
	room->last = *place;
}

bool
emogi_dictionary_has_room(const EmogiDictionary *dictionary, EmogiKeyBytes key)
{
	const EmogiDictionaryRoom *room = emogi_dictionary_get_room(dictionary);

	return room != NULL && room->nkeys < dictionary->room_keys &&
		room->arena_used + EMOGI_ROOM_LEVELS * sizeof(uint32_t) + key.length + 3 <=
		room->arena_bytes;
}

int64_t
emogi_dictionary_add(EmogiDictionary *dictionary, EmogiKeyBytes key, EmogiKeyCompare compare,
					 void *arg)
{
	EmogiDictionaryRoom *room = emogi_dictionary_get_room(dictionary);
	EmogiAddedKey added;
	EmogiKeyPlace found;
	uint64_t	nadded;
	uint32_t	height;

	if (!emogi_dictionary_has_room(dictionary, key))
		return EMOGI_NO_CODE;
	nadded = room->nkeys;
	height = choose_height(dictionary, nadded);
	find_place(dictionary, room, key, compare, arg, &found);
	if (found.code != EMOGI_NO_CODE)
		return EMOGI_NO_CODE;
	added = (EmogiAddedKey) {.place = room->arena_used, .length = key.length,
		.height = (uint16_t) height,
		.run = (int16_t) length_of_run(room, &found)};
	added.code = choose_code(dictionary, &found, added.run);
	if (added.code == EMOGI_NO_CODE)
		return EMOGI_NO_CODE;
	write_added(room, key, added, &found);
	publish_by_code(room, added.code, (uint32_t) nadded + 1);
	publish_in_order(room, &found, height, (uint32_t) nadded + 1);
	publish_by_bytes(dictionary, key, nadded);
	note_place(room, &found);
	__atomic_store_n(&room->nkeys, nadded + 1, __ATOMIC_RELEASE);
	return added.code;
}
