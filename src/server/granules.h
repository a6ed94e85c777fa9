/*
 * granules.h: the granules of the Region, for region.c and small.c; see granules.c.
 */
#ifndef EMOGI_GRANULES_H
#define EMOGI_GRANULES_H

#include "server/limits.h"
#include "server/region.h"

/* Marks granules between free and punched: nobody's, but not to be given out yet. */
#define EMOGI_OWNER_LEAVING UINT32_C(0xFFFFFFFF)

/* Marks granules that are free and still have pages, with any content. */
#define EMOGI_OWNER_WARM UINT32_C(0xFFFFFFFE)

/* Marks granules that are cut into units. */
#define EMOGI_OWNER_SMALL UINT32_C(0xFFFFFFFD)

/* A unit is a page, and at least so many bytes. */
#define EMOGI_UNIT_BYTES 4096
#define EMOGI_MAX_UNITS (EMOGI_GRANULE_BYTES / EMOGI_UNIT_BYTES)

/* The units of a SMALL granule; see small.c. */
typedef struct EmogiUnits
{
	uint32		ntaken;
	uint64		taken[EMOGI_MAX_UNITS / 64];	/* a bit each */
} EmogiUnits;

typedef struct EmogiRegion
{
	/* under EmogiShared.lock */
	uint64		ngranules;		/* address space */
	uint64		unit_bytes;
	uint64		budget;			/* granules that may be in use */
	uint64		used;
	uint64		warm;
	uint64		hint;			/* where the next search begins */
	uint64		nsmall;			/* SMALL granules */
	uint64		ntaken;			/* units in use in all of them */
	uint64		small_hint;		/* where the next search among them begins */
	EmogiOwner	owner[FLEXIBLE_ARRAY_MEMBER];	/* [ngranules] */
} EmogiRegion;

extern EmogiRegion *emogi_region;
extern char *emogi_region_start;
extern EmogiUnits *emogi_region_units;	/* [ngranules], of SMALL granules; under EmogiShared.lock */

/* Get the number of granules that hold this many bytes. */
static inline uint64
emogi_granules_for(uint64 bytes)
{
	return (bytes + EMOGI_GRANULE_BYTES - 1) / EMOGI_GRANULE_BYTES;
}

/* Get the granule that a place in the Region lies in. */
static inline uint64
emogi_granules_of(const void *start)
{
	return (uint64) ((const char *) start - emogi_region_start) / EMOGI_GRANULE_BYTES;
}

extern Size emogi_granules_shmem_size(void);
extern void emogi_granules_shmem_startup(bool found);
extern void *emogi_granules_take(EmogiOwner owner, uint64 count, bool warm, EmogiLimit *limit);
extern bool emogi_granules_fill(EmogiOwner owner, void *start, uint64 count);
extern void emogi_granules_release(uint64 first, uint64 count);
extern bool emogi_granules_cool(uint64 count);
extern uint64 emogi_granules_free(void);

/* Caller holds EmogiShared.lock. */
extern bool emogi_granules_keep_warm(uint64 first, uint64 count);
extern void emogi_granules_count_in(EmogiOwner owner, uint64 first, uint64 count);
extern void emogi_granules_count_out(EmogiOwner owner, uint64 count);
extern bool emogi_granules_find_span(EmogiOwner owner, uint64 *first, uint64 *end);

#endif							/* EMOGI_GRANULES_H */
