/*
 * dictionary_parts.h: what a dictionary is made of, for the files of this room.
 *
 * The block: this header, the slots of the hash, the offsets, the arena, all from the block's start, so that a copy is a dictionary. Nothing in
 * it changes after the build, but slots of the hash and `room`, when keys come later: these are stored with release
 * when what they lead to is complete.
 *
 * A slot of the hash is 0, or number + 1 in its low number_bits, and above them bits of the key's hash. Numbers of the build's keys are their
 * places in order, 0 .. nkeys - 1; later ones are nkeys + their place among the added keys.
 */
#ifndef EMOGI_DICTIONARY_PARTS_H
#define EMOGI_DICTIONARY_PARTS_H

#include "dictionary/dictionary.h"
#include "dictionary/key_hash.h"

/* Codes stay in this range. */
#define EMOGI_LEAST_CODE (-(INT64_C(1) << 31))
#define EMOGI_MOST_CODE (INT64_C(1) << 32)

#define EMOGI_ROOM_LEVELS 16

/* A key that came later. Its links are in the room's arena: uint32_t[height], atomic, places + 1 in entries, and then its bytes. */
typedef struct EmogiAddedKey
{
	int64_t		code;
	uint64_t	place;			/* of the links */
	uint32_t	length;
	uint16_t	height;
	int16_t		run;			/* the writer's alone: > 0 = the so many-th of an ascending run, < 0 of a descending one */
} EmogiAddedKey;

/*
 * The room for later keys: this header, entries, the hash by code, the arena. One process writes it; others read what is led to by links,
 * slots and nkeys, which are stored with release.
 */
typedef struct EmogiDictionaryRoom
{
	uint64_t	nkeys;			/* atomic */
	uint64_t	arena_used;		/* the writer's alone */
	uint64_t	arena_bytes;
	uint64_t	codes_at;		/* uint32_t[ncodes]: 0, or the place + 1 of the key with this code */
	uint64_t	ncodes;
	uint64_t	arena_at;
	uint32_t	first[EMOGI_ROOM_LEVELS];	/* of the list of each level, atomic, ascending by code; 0 = none */
	EmogiAddedKey entries[];	/* [room_keys] */
} EmogiDictionaryRoom;

struct EmogiDictionary
{
	uint64_t	nkeys;
	uint64_t	arena_bytes;
	uint64_t	nslots;
	uint64_t	slots_at;
	uint64_t	offsets_at;
	uint64_t	arena_at;
	EmogiKeyHash hash;
	uint32_t	fixed_length;
	uint32_t	offset_bytes;	/* 4, 8, or 0 where all keys have fixed_length */
	uint32_t	shift;
	uint32_t	number_bits;
	uint64_t	room_keys;		/* most keys that may come */
	EmogiDictionaryRoom *room;	/* atomic; NULL = none yet */
	char		pad[128 - 120 % 128];
};

/* Get the slots of the hash: [nslots], atomic. */
static inline uint32_t *
emogi_dictionary_slots(const EmogiDictionary *dictionary)
{
	return (uint32_t *) ((char *) (uintptr_t) dictionary + dictionary->slots_at);
}

/* Get where the bytes of a key of the build begin in the arena. */
static inline uint64_t
emogi_dictionary_offset(const EmogiDictionary *dictionary, uint64_t number)
{
	const char *offsets = (const char *) dictionary + dictionary->offsets_at;

	if (dictionary->offset_bytes == 0)
		return number * dictionary->fixed_length;
	return dictionary->offset_bytes == 4 ? ((const uint32_t *) offsets)[number] : ((const uint64_t *) offsets)[number];
}

/* Get a key of the build. */
static inline EmogiKeyBytes
emogi_dictionary_built_key(const EmogiDictionary *dictionary, uint64_t number)
{
	const uint64_t offset = emogi_dictionary_offset(dictionary, number);

	return (EmogiKeyBytes) {(const char *) dictionary + dictionary->arena_at + offset,
	(uint32_t) (emogi_dictionary_offset(dictionary, number + 1) - offset)};
}

/* Get the code of a key of the build. */
static inline int64_t
emogi_dictionary_built_code(const EmogiDictionary *dictionary, uint64_t number)
{
	return (int64_t) ((number + 1) << dictionary->shift);
}

/* Get the room; what is in it is seen, too. */
static inline EmogiDictionaryRoom *
emogi_dictionary_get_room(const EmogiDictionary *dictionary)
{
	return __atomic_load_n(&dictionary->room, __ATOMIC_ACQUIRE);
}

/* Get the links of an added key. */
static inline uint32_t *
emogi_dictionary_links(const EmogiDictionaryRoom *room, const EmogiAddedKey *added)
{
	return (uint32_t *) ((char *) (uintptr_t) room + room->arena_at + added->place);
}

/* Get an added key. */
static inline EmogiKeyBytes
emogi_dictionary_added_key(const EmogiDictionaryRoom *room, const EmogiAddedKey *added)
{
	return (EmogiKeyBytes) {(const char *) (emogi_dictionary_links(room, added) + added->height), added->length};
}

/* Get the home slot of a hash. */
static inline uint64_t
emogi_dictionary_home(uint64_t hash, uint64_t nslots)
{
	return (uint64_t) ((unsigned __int128) hash * nslots >> 64);
}

/* Get the slot of a number. */
static inline uint32_t
emogi_dictionary_slot(const EmogiDictionary *dictionary, uint64_t hash, uint64_t number)
{
	return (uint32_t) (hash << dictionary->number_bits | (number + 1));
}

/* Where a key is or belongs by a comparison. */
typedef struct EmogiKeyPlace
{
	int64_t		code;			/* of the key that is equal, EMOGI_NO_CODE = there is none; then what follows is set: */
	int64_t		before;			/* code of the key before, EMOGI_NO_CODE = none */
	int64_t		after;
	uint32_t	before_added;	/* place + 1 of that key among the added ones; 0 = it was in the build */
	uint32_t	after_added;
	uint32_t	links[EMOGI_ROOM_LEVELS];	/* the added key before on each level, its place + 1; 0 = none */
} EmogiKeyPlace;

/* Find the place of a key. The comparison may not return. */
extern void emogi_dictionary_place(const EmogiDictionary *dictionary, EmogiKeyBytes key, EmogiKeyCompare compare, void *arg,
								   EmogiKeyPlace *place);

/* Get the home of a code in the room's hash. */
static inline uint64_t
emogi_dictionary_code_home(const EmogiDictionaryRoom *room, int64_t code)
{
	return emogi_dictionary_home((uint64_t) code * UINT64_C(0x9E3779B97F4A7C15), room->ncodes);
}

#endif							/* EMOGI_DICTIONARY_PARTS_H */
