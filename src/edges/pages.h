/*
 * pages.h: how heap_scan.c has the pages of a heap table read, see pages.c.
 */
#ifndef EMOGI_PAGES_H
#define EMOGI_PAGES_H

#include "access/relscan.h"

#include "edges/sink.h"

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
} EmogiTupleLayout;

extern void emogi_pages_layout(EmogiTupleLayout *layout, TupleDesc desc, AttrNumber src, AttrNumber dst, AttrNumber weight);
extern void emogi_pages_read(TableScanDesc scan, const EmogiTupleLayout *layout, EmogiSink *sink);

#endif							/* EMOGI_PAGES_H */
