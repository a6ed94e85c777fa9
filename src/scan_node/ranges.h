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

	/* of a column of vertices besides: */
	int			listed_column;
	uint64		nlisted;		/* 0 = there is no list */
	const uint32 *listed;		/* [nlisted], ascending: no others; not shared with workers */
	int			excluded_column;
	bool		excludes;
	uint32		excluded;		/* any but this */
} EmogiRanges;

extern void emogi_ranges_narrow(EmogiRanges *ranges, const EmogiResultColumn *columns, int column, EmogiPushdown pushdown, Datum operand,
								Oid type);
extern void emogi_ranges_list(EmogiRanges *ranges, const EmogiResultColumn *columns, int column, const uint32 *listed, uint64 nlisted);
extern void emogi_ranges_exclude(EmogiRanges *ranges, int column, uint32 excluded);
extern uint32 emogi_ranges_count(const uint8 *mask, uint32 count);
extern uint32 emogi_ranges_select(const EmogiRanges *ranges, const EmogiResultColumn *columns, const EmogiResult *result, uint64 first,
								  uint32 count, uint8 *mask);

#endif							/* EMOGI_RANGES_H */
