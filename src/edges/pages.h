/*
 * pages.h: how heap_scan.c has the pages of a heap table read, see pages.c.
 */
#ifndef EMOGI_PAGES_H
#define EMOGI_PAGES_H

#include "access/relscan.h"

#include "edges/sink.h"

struct EmogiRowFilterPlan;		/* row_filter.h */

/* A column that is read, in the tuples of one table. */
typedef struct EmogiTupleColumn
{
	AttrNumber	attnum;			/* 0 = none */
	int			offset;			/* from the start of the tuple's data; -1 = not fixed */
	Oid			type;			/* base type */
	int16		length;			/* of the type, in bytes */
	uint16		prefix;			/* the bits of all columns up to this one in the first byte of a tuple's bitmap of columns
								 * that are not NULL; beyond a byte = they do not fit, no byte has them */
} EmogiTupleColumn;

/* Where the tuples of one table have what is read. */
typedef struct EmogiTupleLayout
{
	EmogiTupleColumn src;
	EmogiTupleColumn dst;
	EmogiTupleColumn weight;
	EmogiTupleColumn reverse;	/* weight of the way back: the tuple has two edges, where their weights are not negative */
} EmogiTupleLayout;

/* A page's LSN where some transaction on it had not ended, or was the caller's own: it must be looked at again always. */
#define EMOGI_UNDECIDED PG_UINT64_MAX

/*
 * What a look at a page has found beside its edges. Whether another snapshot sees the same rows on the page can be told from
 * it without another look: src/changes has the rules.
 */
typedef struct EmogiPageScan
{
	uint64		lsn;			/* that the page had; 0 = what is on it was never logged; or EMOGI_UNDECIDED */
	uint64		page_lsn;		/* that the page had, in any case */
	uint64		newest;			/* the highest transaction on it, in full; 0 = none, or all snapshots see all of it */
	const void *edges;			/* its edges, in one chunk */
	Buffer		buffer;			/* where it was, and may be again */
	uint16		nedges;
	uint16		nskipped;		/* rows with a NULL end */
	bool		looked;
	bool		all_visible;	/* the page says that all snapshots see all of it, and this one does */
	bool		own;			/* the caller's transaction has changed it */
	bool		others;			/* so has another that had not ended, or a row was moved by an ancient VACUUM */
	CommandId	last_command;	/* of the caller's transaction, that has changed it */
	bool		same;			/* it gives the edges that it gave before, in the same order; by src/changes */
} EmogiPageScan;

/* Where a scan of a leaf notes what it finds: looks[block] for each block < nblocks, content zero. */
typedef struct EmogiPageScans
{
	EmogiPageScan  *looks;			/* NULL = nothing is noted */
	BlockNumber nblocks;
} EmogiPageScans;

extern void emogi_pages_layout(EmogiTupleLayout *layout, TupleDesc desc, AttrNumber src, AttrNumber dst, AttrNumber weight,
							   AttrNumber reverse);
extern void emogi_pages_read(TableScanDesc scan, const EmogiTupleLayout *layout, const struct EmogiRowFilterPlan *filter, EmogiSink *sink,
							 const EmogiPageScans *notes);
extern void emogi_pages_rescan(Relation rel, const EmogiTupleLayout *layout, const struct EmogiRowFilterPlan *filter, EmogiSink *sink,
							 const BlockNumber *blocks, EmogiPageScan *looks, uint64 count);
extern double emogi_pages_weight(Datum datum, Oid type);

#endif							/* EMOGI_PAGES_H */
