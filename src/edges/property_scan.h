/*
 * property_scan.h: the values of columns in the rows of a graph's edges
 *
 * property_scan.c reads the rows, and property_values.c numbers the different values of types that
 * are stored as codes.
 */
#ifndef EMOGI_PROPERTY_SCAN_H
#define EMOGI_PROPERTY_SCAN_H

#include "cache/columns.h"
#include "edges/edges.h"

/* A column with more different values, or with more bytes of them, is not stored. */
#define EMOGI_PROPERTY_MAX_VALUES (1 << 20)
#define EMOGI_PROPERTY_MAX_BYTES ((Size) 64 * 1024 * 1024)

typedef struct EmogiPropertyValues EmogiPropertyValues;

/* A column that is read. Values are numbered by row; the arrays are in the arena. */
typedef struct EmogiScannedColumn
{
	EmogiColumnIdentity identity;
	EmogiColumnKind kind;
	union
	{
		void	   *any;
		int64	   *integers;	/* [rows]; of CODES, codes of `different` */
		double	   *floats;		/* [rows] */
	}			values;
	uint64	   *nulls;			/* bitmap [rows] */
	bool		has_nulls;
	bool		fits_f32;		/* FLOAT: 4 bytes hold all values */
	int64		min;			/* INTEGER and CODES: of all values; min > max = all are NULL */
	int64		max;
	EmogiPropertyValues *different; /* CODES: its dictionary */
} EmogiScannedColumn;

typedef struct EmogiPropertyScan
{
	EmogiCall  *call;
	const EmogiSource *source;	/* a table without conditions, with the weight of the graph */
	const EmogiDictionary *dictionary;	/* codes of its keys; NULL = keys are integers */
	uint64		max_rows;		/* of a graph with so many entries */
	uint64		nrows;			/* with an edge */
	double	   *weights;		/* [nrows], in the arena; NULL = the source has no weight */
	int			ncolumns;
	EmogiScannedColumn columns[EMOGI_FILTER_MAX_COLUMNS];
} EmogiPropertyScan;

extern bool emogi_property_scan_identify(Oid relid, AttrNumber attnum,
										 EmogiColumnIdentity *identity, EmogiColumnKind *kind);
extern void emogi_property_scan_populate(void *start, Size bytes);
extern void emogi_property_scan_run(EmogiPropertyScan *scan, List *leaves);
extern void emogi_property_scan_free(EmogiPropertyScan *scan);

/* ---- property_values.c ---- */

extern EmogiPropertyValues *emogi_property_values_make(const EmogiColumnIdentity *identity);
extern int64 emogi_property_values_code(EmogiPropertyValues *values, Datum value);
extern void emogi_property_values_sort(EmogiPropertyValues *values, int64 *codes, uint64 count);
extern uint32 emogi_property_values_count(const EmogiPropertyValues *values);
extern Size emogi_property_values_bytes(const EmogiPropertyValues *values);
extern void emogi_property_values_write(const EmogiPropertyValues *values, uint32 *places,
										char *bytes);
extern void emogi_property_values_free(EmogiPropertyValues *values);

#endif							/* EMOGI_PROPERTY_SCAN_H */
