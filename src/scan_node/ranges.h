/*
 * ranges.h: conditions on result columns, as ranges that their values must lie in (ranges.c).
 */
#ifndef EMOGI_RANGES_H
#define EMOGI_RANGES_H

#include "scan_node/scan_node.h"

/* A function whose loops are compiled for wider vectors, too; the loader chooses by the processor. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define EMOGI_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define EMOGI_VECTORS
#endif

/* Vertices whose values are looked at together. */
#define EMOGI_BLOCK_VERTICES 4096

typedef struct EmogiRanges
{
	bool		given;			/* there is one at all */
	EmogiRange	of[EMOGI_MAX_COLUMNS];
} EmogiRanges;

extern void emogi_ranges_narrow(EmogiRanges *ranges, const EmogiResultColumn *columns, int column, EmogiPushdown pushdown, Datum operand,
								Oid type);
extern uint32 emogi_ranges_count(const uint8 *mask, uint32 count);
extern uint32 emogi_ranges_select(const EmogiRanges *ranges, const EmogiResultColumn *columns, const EmogiResult *result, uint64 first,
								  uint32 count, uint8 *mask);

#endif							/* EMOGI_RANGES_H */
