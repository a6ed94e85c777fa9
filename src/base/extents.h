/*
 * extents.h: the extents of the arena, for arena.c and small_allocations.c; see extents.c
 */
#ifndef EMOGI_EXTENTS_H
#define EMOGI_EXTENTS_H

#include "base/limits.h"
#include "base/arena.h"

/* Marks extents that are being freed: without owner, but not punched yet. */
#define EMOGI_OWNER_LEAVING UINT32_C(0xFFFFFFFF)

/* Marks free extents that still have pages, with undefined content. */
#define EMOGI_OWNER_WARM UINT32_C(0xFFFFFFFE)

/* Marks extents that are split into units. */
#define EMOGI_OWNER_SMALL UINT32_C(0xFFFFFFFD)

/* A unit is a system page, and at least this large. */
#define EMOGI_UNIT_BYTES 4096
#define EMOGI_MAX_UNITS (EMOGI_EXTENT_BYTES / EMOGI_UNIT_BYTES)

/* The units of a SMALL extent; see small_allocations.c. */
typedef struct EmogiExtents
{
	uint32		ntaken;
	uint64		taken[EMOGI_MAX_UNITS / 64];	/* one bit each */
} EmogiExtents;

typedef struct EmogiArena
{
	/* under EmogiShared.lock */
	uint64		nextents;		/* address space, in extents */
	uint64		unit_bytes;
	uint64		budget;			/* extents that may be in use */
	uint64		used;
	uint64		warm;
	uint64		hint;			/* where the next search starts */
	uint64		nsmall;			/* SMALL extents */
	uint64		ntaken;			/* allocated units in all of them */
	uint64		small_hint;		/* where the next search among them starts */
	EmogiOwner	owner[FLEXIBLE_ARRAY_MEMBER];	/* [nextents] */
} EmogiArena;

extern EmogiArena *emogi_arena;
extern char *emogi_arena_start;
/* [nextents], of SMALL extents; under EmogiShared.lock */
extern EmogiExtents *emogi_extent_units;

/* Get the number of extents needed for this many bytes. */
static inline uint64
emogi_extents_for(uint64 bytes)
{
	return (bytes + EMOGI_EXTENT_BYTES - 1) / EMOGI_EXTENT_BYTES;
}

/* Get the extent that contains an address of the arena. */
static inline uint64
emogi_extents_of(const void *start)
{
	return (uint64) ((const char *) start - emogi_arena_start) / EMOGI_EXTENT_BYTES;
}

extern Size emogi_extents_address_bytes(void);
extern int	emogi_extents_make_file(Size extra);
extern void emogi_extents_use_file(int fd, off_t offset, char *start);
extern Size emogi_extents_shmem_size(void);
extern void emogi_extents_shmem_startup(bool found);
extern void *emogi_extents_take(EmogiOwner owner, uint64 count, bool warm, EmogiLimit *limit);
extern bool emogi_extents_fill(EmogiOwner owner, void *start, uint64 count);
extern void emogi_extents_release(uint64 first, uint64 count);
extern bool emogi_extents_trim(uint64 count);
extern uint64 emogi_extents_free(void);

/* Caller holds EmogiShared.lock. */
extern bool emogi_extents_keep_warm(uint64 first, uint64 count);
extern void emogi_extents_count_in(EmogiOwner owner, uint64 first, uint64 count);
extern void emogi_extents_count_out(EmogiOwner owner, uint64 count);
extern bool emogi_extents_find_span(EmogiOwner owner, uint64 *first, uint64 *end);

#endif							/* EMOGI_EXTENTS_H */
