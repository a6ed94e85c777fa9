/*
 * dictionary_parts.h: internal layout of a dictionary, for the files in this folder.
 *
 * The block consists of this header, the hash slots, the offsets and the arena. All offsets are
 * relative to its start, so a copy of the block is a dictionary. After the build, only hash slots
 * and `room` change, when keys are added: they are stored with release semantics after the data
 * they lead to is complete.
 *
 * A hash slot is 0, or number + 1 in its low number_bits and bits of the key's hash above them. The
 * numbers of the build's keys are their ranks, 0 .. nkeys - 1; the numbers of added keys are nkeys
 * + their index in entries.
 */
#ifndef EMOGI_DICTIONARY_PARTS_H
#define EMOGI_DICTIONARY_PARTS_H

#include "contract/builder.h"
#include "dictionary/key_hash.h"

/*
 * Codes of the build are in 0 .. EMOGI_CODES. Keys behind the last and before the first one have as
 * many more on each side.
 */
#define EMOGI_CODES (UINT64_C(1) << 61)

#define EMOGI_ROOM_LEVELS 16

/*
 * An added key. The arena of the room has its links, uint32_t[height], atomic, index + 1 in
 * entries, followed by its bytes.
 */
typedef struct EmogiAddedKey
{
	int64_t		code;
	uint64_t	place;			/* offset of the links */
	uint32_t	length;
	uint16_t	height;
	int16_t		run;			/* only used by the writer: n > 0 = n-th key of an ascending run, n
								 * < 0 = of a descending one; 0 = of none */
} EmogiAddedKey;

/* Result of a search by comparison. */
typedef struct EmogiKeyPlace
{
	int64_t		code;			/* of the equal key; EMOGI_NO_CODE = none, and only then the fields
								 * below are set */
	int64_t		before;			/* code of the predecessor, EMOGI_NO_CODE = none */
	int64_t		after;
	uint32_t	before_added;	/* index + 1 of the predecessor among the added keys; 0 = it is of
								 * the build */
	uint32_t	after_added;
	uint32_t	links[EMOGI_ROOM_LEVELS];	/* index + 1 of the added predecessor on each level;
											 * 0 = none */
} EmogiKeyPlace;

/*
 * The room for added keys: this header, entries, the hash table by code, the arena. One process
 * writes it. Other processes read what links, slots and nkeys lead to; these are stored with
 * release semantics.
 */
typedef struct EmogiDictionaryRoom
{
	uint64_t	nkeys;			/* atomic */
	uint64_t	arena_used;		/* only used by the writer */
	uint64_t	arena_bytes;
	uint64_t	codes_at;		/* uint32_t[ncodes]: 0, or index + 1 of the key with this code */
	uint64_t	ncodes;
	uint64_t	arena_at;
	EmogiKeyPlace last;			/* only used by the writer: where the last key was added, whose
								 * neighbors these still are */
	uint32_t	nelsewhere;		/* only used by the writer: number of the latest keys, up to 2,
								 * that were not added beside the one before */
	uint32_t	first[EMOGI_ROOM_LEVELS];	/* head of the list of each level, atomic, ascending by
											 * code; 0 = none */
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
	uint32_t	offset_bytes;	/* 4, 8, or 0 if all keys have fixed_length */
	uint32_t	shift;
	uint32_t	number_bits;
	uint64_t	room_keys;		/* maximum number of added keys */
	EmogiDictionaryRoom *room;	/* atomic; NULL = none yet */
	char		pad[128 - 120 % 128];
};

/* Get the slots of the hash table: [nslots], atomic. */
static inline uint32_t *
emogi_dictionary_slots(const EmogiDictionary *dictionary)
{
	return (uint32_t *) ((char *) (uintptr_t) dictionary + dictionary->slots_at);
}

/* Get the offset of a key of the build in the arena. */
static inline uint64_t
emogi_dictionary_offset(const EmogiDictionary *dictionary, uint64_t number)
{
	const char *offsets = (const char *) dictionary + dictionary->offsets_at;

	if (dictionary->offset_bytes == 0)
		return number * dictionary->fixed_length;
	return dictionary->offset_bytes == 4 ? ((const uint32_t *) offsets)[number]
		: ((const uint64_t *) offsets)[number];
}

/* Prefetch the offset of a key of the build. */
static inline void
emogi_dictionary_prefetch_offset(const EmogiDictionary *dictionary, uint64_t number)
{
	if (dictionary->offset_bytes > 0)
		__builtin_prefetch((const char *) dictionary + dictionary->offsets_at +
						   number * dictionary->offset_bytes);
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

/* Get the room with acquire semantics; NULL = none yet. */
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
	return (EmogiKeyBytes) {(const char *) (emogi_dictionary_links(room, added) + added->height),
		added->length};
}

/* Get the home slot of a hash. */
static inline uint64_t
emogi_dictionary_home(uint64_t hash, uint64_t nslots)
{
	return (uint64_t) ((unsigned __int128) hash * nslots >> 64);
}

/* Make the slot of a key number. */
static inline uint32_t
emogi_dictionary_slot(const EmogiDictionary *dictionary, uint64_t hash, uint64_t number)
{
	return (uint32_t) (hash << dictionary->number_bits | (number + 1));
}

/* Find the position of a key. The comparison may raise an error. */
extern void emogi_dictionary_place(const EmogiDictionary *dictionary, EmogiKeyBytes key,
								   EmogiKeyCompare compare, void *arg,
								   EmogiKeyPlace *place);

/* Get the home slot of a code in the hash table of the room. */
static inline uint64_t
emogi_dictionary_code_home(const EmogiDictionaryRoom *room, int64_t code)
{
	return emogi_dictionary_home(emogi_key_fold((uint64_t) code, UINT64_C(0x9E3779B97F4A7C15)),
								 room->ncodes);
}

#endif							/* EMOGI_DICTIONARY_PARTS_H */
