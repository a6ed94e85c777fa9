/*
 * property_scan.h: the values of columns in the rows of a graph's edges
 *
 * property_scan.c reads the rows with parallel workers, by property_tuples.c, and property_rows.c
 * stores their values by the entries of their edges. property_values.c numbers the different values
 * of types that are stored as codes.
 */
#ifndef EMOGI_PROPERTY_SCAN_H
#define EMOGI_PROPERTY_SCAN_H

#include "storage/spin.h"

#include "cache/columns.h"
#include "contract/property_load.h"
#include "edges/edges.h"

/* A column with more different values, or with more bytes of them, is not stored. */
#define EMOGI_PROPERTY_MAX_VALUES (1 << 20)
#define EMOGI_PROPERTY_MAX_BYTES ((Size) 64 * 1024 * 1024)

/*
 * The codes of a column with at most so many different values are in the order of its type. Others
 * are in the order of first occurrence: to sort them by a collation may take longer than all else.
 */
#define EMOGI_PROPERTY_MAX_SORTED 4096

typedef struct EmogiPropertyValues EmogiPropertyValues;

/* A column that is read. */
typedef struct EmogiScannedColumn
{
	EmogiColumnIdentity identity;
	EmogiColumnKind kind;		/* becomes ABSENT if there are too many different values */
	EmogiPropertyType raw;		/* of the values by entry: holds all values of the column's type */
	bool		has_nulls;
	bool		fits_f32;		/* FLOAT: 4 bytes hold all values */
	int64		min;			/* INTEGER and CODES: of all values; min > max = all are NULL */
	int64		max;
	EmogiPropertyValues *different; /* CODES: its dictionary */
	/* CODES of few values, in the order of their type; NULL = there are many. Not in the arena */
	uint32	   *order;			/* [values] */
} EmogiScannedColumn;

/* The values by entry of the lists of one orientation; the arrays are in the arena. */
typedef struct EmogiScannedLists
{
	EmogiTakenEntries entries;	/* lists NULL = none */
	void	   *values[EMOGI_FILTER_MAX_COLUMNS];	/* of each column: [entries] of its raw type */
	uint64	   *nulls[EMOGI_FILTER_MAX_COLUMNS];	/* of each column: bitmap [entries] */
} EmogiScannedLists;

/*
 * What is read, and what has been found. While workers take part, it is in memory that all of them
 * share, and each has its own copy of `columns`.
 */
typedef struct EmogiPropertyScan
{
	/* a table without conditions, with the weight of the graph */
	Oid			relid;
	AttrNumber	src;
	AttrNumber	dst;
	AttrNumber	weight;			/* 0 = none */
	EmogiKeyType key;
	EmogiGraph	graph;
	EmogiDirection direction;	/* of its forward lists */
	EmogiScannedLists forward;
	EmogiScannedLists backward; /* if the graph has reverse lists of its own */
	pg_atomic_uint64 ntaken;	/* entries of the forward lists */
	slock_t		mutex;			/* protects the results in `columns` until all processes end */
	int			ncolumns;
	EmogiScannedColumn columns[EMOGI_FILTER_MAX_COLUMNS];
} EmogiPropertyScan;

extern bool emogi_property_scan_identify(Oid relid, AttrNumber attnum,
										 EmogiColumnIdentity *identity, EmogiColumnKind *kind);
extern void emogi_property_scan_populate(void *start, Size bytes);
extern void emogi_property_scan_run(EmogiCall *call, EmogiPropertyScan *scan,
									const EmogiGraph *lists, List *leaves);
extern void emogi_property_scan_free(EmogiPropertyScan *scan);
extern Size emogi_property_scan_bytes(EmogiPropertyScan *scan);

/* ---- property_tuples.c ---- */

#define EMOGI_PROPERTY_SRC 0
#define EMOGI_PROPERTY_DST 1
#define EMOGI_PROPERTY_WEIGHT 2
#define EMOGI_PROPERTY_FIRST 3	/* of the columns to load */
#define EMOGI_PROPERTY_READ (EMOGI_PROPERTY_FIRST + EMOGI_FILTER_MAX_COLUMNS)

/* The attributes to read in the tuples of a leaf. */
typedef struct EmogiTupleAttributes
{
	TupleDesc	desc;
	int			last;			/* number of the last one */
	int			nread;
	AttrNumber	attnums[EMOGI_PROPERTY_READ];	/* [nread], 0 = none */
	int			first_place[MaxTupleAttributeNumber];	/* [last]: which of them an attribute is;
														 * -1 = none */
	int			next_place[EMOGI_PROPERTY_READ];	/* the next with the same attribute; -1 = none */
} EmogiTupleAttributes;

/* The values of these in a tuple. */
typedef struct EmogiTupleValues
{
	Datum		datums[EMOGI_PROPERTY_READ];
	bool		nulls[EMOGI_PROPERTY_READ];
} EmogiTupleValues;

extern void emogi_property_tuples_find(EmogiTupleAttributes *attributes, Relation leaf,
									   const EmogiPropertyScan *scan);
extern void emogi_property_tuples_get(HeapTupleHeader tuple,
									  const EmogiTupleAttributes *attributes,
									  EmogiTupleValues *values);

/* ---- property_rows.c ---- */

typedef struct EmogiPropertyReader EmogiPropertyReader;

extern EmogiPropertyReader *emogi_property_rows_begin(EmogiPropertyScan *scan);
extern void emogi_property_rows_add(EmogiPropertyReader *reader, const EmogiTupleValues *values);
extern void emogi_property_rows_end(EmogiPropertyReader *reader);
extern void emogi_property_rows_report(const EmogiPropertyScan *scan);

/* ---- property_values.c ---- */

extern EmogiPropertyValues *emogi_property_values_make(EmogiCall *call,
													   const EmogiColumnIdentity *identity,
													   uint64 nrows);
extern int64 emogi_property_values_code(EmogiPropertyValues *values, Datum value, int64 *last);
extern uint32 *emogi_property_values_sort(const EmogiPropertyValues *values,
										  const EmogiColumnIdentity *identity);
extern void emogi_property_values_hash(const EmogiPropertyValues *values,
									   const EmogiColumnIdentity *identity, uint64 *hashes);
extern uint32 emogi_property_values_count(const EmogiPropertyValues *values);
extern Size emogi_property_values_bytes(const EmogiPropertyValues *values);
extern void emogi_property_values_write(const EmogiPropertyValues *values, const uint32 *order,
										uint32 *places, char *bytes);
extern void emogi_property_values_free(EmogiPropertyValues *values);

#endif							/* EMOGI_PROPERTY_SCAN_H */
