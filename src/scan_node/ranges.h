/*
 * ranges.h: conditions on result columns as ranges of their values (ranges.c)
 */
#ifndef EMOGI_RANGES_H
#define EMOGI_RANGES_H

#include "scan_node/scan_node.h"

/* Compile a function for wider vectors, too; the loader selects a version for the processor */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define EMOGI_VECTORS __attribute__((target_clones("avx2", "default")))
#else
#define EMOGI_VECTORS
#endif

/* Vertices whose values are checked together */
#define EMOGI_BLOCK_VERTICES 4096

typedef struct EmogiRanges
{
	bool		given;			/* there is at least one condition */
	EmogiRange	of[EMOGI_MAX_COLUMNS];

	/* for vertex columns, in addition: */
	int			listed_column;
	uint64		nlisted;		/* 0 = no list */
	const uint32 *listed;		/* [nlisted], ascending: the only vertices allowed; not shared with
								 * workers */
	int			excluded_column;
	bool		excludes;
	uint32		excluded;		/* the vertex that is not allowed */
	int			self_column;
	bool		compares_self;	/* with the vertex of the row: */
	bool		is_self;		/* equal, or not equal */
} EmogiRanges;

extern void emogi_ranges_narrow(EmogiRanges *ranges, const EmogiResultColumn *columns, int column,
								EmogiPushdown pushdown, Datum operand, Oid type);
extern void emogi_ranges_list(EmogiRanges *ranges, const EmogiResultColumn *columns, int column,
							  const uint32 *listed, uint64 nlisted);
extern void emogi_ranges_exclude(EmogiRanges *ranges, int column, uint32 excluded);
extern void emogi_ranges_compare_self(EmogiRanges *ranges, int column, bool is_self);
extern uint32 emogi_ranges_count(const uint8 *mask, uint32 count);
extern uint32 emogi_ranges_select(const EmogiRanges *ranges, const EmogiResultColumn *columns,
								  const EmogiResult *result, uint64 first, uint32 count,
								  uint8 *mask);

#endif							/* EMOGI_RANGES_H */
