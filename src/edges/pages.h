/*
 * pages.h: reading the pages of a heap (pages.c), and decoding their tuples (pages_decode.c)
 */
#ifndef EMOGI_PAGES_H
#define EMOGI_PAGES_H

#include "access/relscan.h"

#include "edges/sink.h"

struct EmogiRowFilterPlan;		/* row_filter.h */
struct EmogiVisiblePage;		/* visibility.h */

/* A column to read, in the tuples of one table. */
typedef struct EmogiTupleColumn
{
	AttrNumber	attnum;			/* 0 = none */
	int			offset;			/* from the start of the tuple's data; -1 = not fixed */
	Oid			type;			/* base type */
	int16		length;			/* of the type, in bytes */
	/*
	 * mask of this column and all before it in the first byte of a tuple's NULL bitmap; 1 << 8 =
	 * they do not fit, so no byte matches
	 */
	uint16		prefix;
} EmogiTupleColumn;

/* The columns to read in the tuples of one table. */
typedef struct EmogiTupleLayout
{
	EmogiTupleColumn src;
	EmogiTupleColumn dst;
	EmogiTupleColumn weight;
	/*
	 * weight of the reverse edge: the tuple has two edges, each present if its weight is not
	 * negative
	 */
	EmogiTupleColumn reverse;
	/* names of the two weights, in the query or view whose rows are read, if there are two */
	NameData	weight_name;
	NameData	reverse_name;
} EmogiTupleLayout;

/*
 * LSN of a page with a transaction that had not ended, or was the caller's own: the page must
 * always be scanned again.
 */
#define EMOGI_UNDECIDED PG_UINT64_MAX

/*
 * The result of scanning a page, besides its edges. By the rules in src/changes, it decides whether
 * another snapshot sees the same rows on the page without scanning it again.
 */
typedef struct EmogiPageScan
{
	/* of the page; 0 = its content was never WAL-logged; or EMOGI_UNDECIDED */
	uint64		lsn;
	uint64		page_lsn;		/* of the page, in any case */
	/* the highest full transaction id on it; 0 = none, or all snapshots see all rows */
	uint64		newest;
	const void *edges;			/* its edges, in one chunk */
	Buffer		buffer;			/* its buffer, probably still valid */
	uint16		nedges;
	uint16		nskipped;		/* rows with a NULL end */
	uint16		nlines;			/* line pointers */
	bool		scanned;
	/* the page says that all snapshots see all rows, and this snapshot does */
	bool		all_visible;
	bool		own;			/* the caller's transaction has changed it */
	/*
	 * another transaction that had not ended has changed it, or a row was moved by an old-style
	 * VACUUM FULL
	 */
	bool		others;
	CommandId	last_command;	/* last command of the caller's transaction that changed it */
	/* set by src/changes: it yields the same edges as before, in the same order */
	bool		same;
} EmogiPageScan;

/*
 * Where a scan of a leaf records its results: scans[block] for each block < nblocks, initially
 * zero.
 */
typedef struct EmogiPageScans
{
	EmogiPageScan  *scans;			/* NULL = record nothing */
	BlockNumber nblocks;
} EmogiPageScans;

/* ---- pages_decode.c ---- */

/* Put the edges of a page into a sink. Raises 22004 for a NULL weight, and errors of the sink. */
typedef void (*EmogiPutPage) (struct EmogiVisiblePage *visible, TupleDesc desc,
							  const EmogiTupleLayout *layout, EmogiSink *sink);

extern void emogi_pages_layout(EmogiTupleLayout *layout, TupleDesc desc, AttrNumber src,
							   AttrNumber dst, AttrNumber weight, AttrNumber reverse);
extern EmogiPutPage emogi_pages_choose_put(const EmogiTupleLayout *layout, const EmogiSink *sink);
extern double emogi_pages_weight(Datum datum, Oid type);
extern bool emogi_pages_decode_row(HeapTupleHeader tuple, TupleDesc desc,
								   const EmogiTupleLayout *layout, EmogiWeights weights,
								   EmogiWeightedEdge *edge, bool *is_edge);
extern bool emogi_pages_decode_keys(HeapTupleHeader tuple, TupleDesc desc,
									const EmogiTupleLayout *layout, EmogiWeights weights,
									Datum *src, Datum *dst, double *weight, bool *has_keys);

/* ---- pages.c ---- */

extern void emogi_pages_read(TableScanDesc scan, const EmogiTupleLayout *layout,
							 const struct EmogiRowFilterPlan *filter, EmogiSink *sink,
							 const EmogiPageScans *page_scans);
extern void emogi_pages_rescan(Relation rel, const EmogiTupleLayout *layout,
							   const struct EmogiRowFilterPlan *filter, EmogiSink *sink,
							   const BlockNumber *blocks, EmogiPageScan *scans, uint64 count);

#endif							/* EMOGI_PAGES_H */
