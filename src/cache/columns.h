/*
 * columns.h: property columns of a cached graph, shared by all calls (cache_columns.c)
 *
 * The columns of a graph are one block in the arena, and never change. A call that needs others
 * replaces the block by one with these and with the columns of the old one.
 */
#ifndef EMOGI_COLUMNS_H
#define EMOGI_COLUMNS_H

#include "cache/cache.h"
#include "contract/properties.h"

/* How the values of a column are stored. */
typedef enum EmogiColumnKind
{
	EMOGI_COLUMN_INTEGER,		/* the integer of the Datum */
	EMOGI_COLUMN_FLOAT,
	EMOGI_COLUMN_CODES,			/* numbers of the values in a dictionary */
	EMOGI_COLUMN_ABSENT			/* not at all: too many different values */
} EmogiColumnKind;

/* A column of a relation. Two with equal identities have equal values in equal rows (P5). */
typedef struct EmogiColumnIdentity
{
	int32		attnum;			/* of the root of the leaves; without padding, to be compared */
	Oid			type;			/* base type of a domain */
	Oid			collation;
} EmogiColumnIdentity;

/* State of EmogiColumn.order. */
typedef enum EmogiOrderState
{
	EMOGI_ORDER_UNKNOWN,
	EMOGI_ORDER_BEING_WRITTEN,
	EMOGI_ORDER_KNOWN
} EmogiOrderState;

typedef struct EmogiColumn
{
	EmogiColumnIdentity identity;
	EmogiColumnKind kind;
	/* CODES: */
	uint32		nvalues;		/* different by their bytes, perhaps equal for the type */
	const uint32 *places;		/* [nvalues], MAXALIGNed offsets of Datums in `bytes` */
	const char *bytes;
	bool		is_ordered;		/* codes are in the order of the type, under the column's collation;
								 * otherwise: */
	/* [nvalues], ascending: a hash of the type in the upper, the code in the lower half */
	const uint64 *hashes;
	uint32	   *order;			/* [nvalues], codes in the order of the type; defined if */
	pg_atomic_uint32 order_state;	/* is KNOWN; written by any process (analysis/column_values.c) */
} EmogiColumn;

/* cache_lock protects `readers`, `nuses`, `is_detached` and `last_used`; the rest is constant. */
typedef struct EmogiColumns
{
	Size		bytes;			/* of this block */
	int			graph;			/* index */
	Oid			role;			/* that has loaded them */
	double		load_ms;
	/* snapshot under which the rows were read, and the files that it read */
	EmogiTransactionSnapshot xids;
	bool		may_share;		/* the rings have allowed this snapshot since before the rows were
								 * read; otherwise only the call that has read them may use them */
	int			nleaves;
	const Oid  *relids;			/* [nleaves] */
	const Oid  *relfilenumbers; /* [nleaves] */
	EmogiProperties forward;	/* in the order of the graph's forward lists */
	EmogiProperties backward;	/* of its reverse lists; no columns = none, or as forward */
	const EmogiColumn *columns; /* [forward.ncolumns] */
	/* of a graph without reverse lists: as in EmogiEdgeMask; NULL = none */
	const uint64_t *in_offsets;
	const uint32_t *in_entries;
	uint32		readers;		/* slots that read them */
	uint32		nuses;			/* calls that have found them */
	bool		is_detached;	/* not those of the graph any more; the last reader frees them */
	TimestampTz last_used;
} EmogiColumns;

/* Get the Datum of a value in a column's dictionary. */
static inline Datum
emogi_column_value(const EmogiColumn *column, uint32 code, bool by_value)
{
	const char *value = column->bytes + column->places[code];

	return by_value ? ObjectIdGetDatum(*(const Oid *) value) : PointerGetDatum(value);
}

/* Result of emogi_cache_columns_begin. */
typedef enum EmogiColumnsOutcome
{
	EMOGI_COLUMNS_FOUND,		/* slot->columns has what the call needs */
	EMOGI_COLUMNS_LOAD,			/* the slot must load them; slot->columns has others, or is NULL */
	EMOGI_COLUMNS_BUSY			/* another slot is loading them */
} EmogiColumnsOutcome;

/* Check whether columns have what a call needs. Caller holds cache_lock. */
typedef bool (*EmogiColumnsFit) (const EmogiColumns *columns, const void *arg);

extern EmogiColumnsOutcome emogi_cache_columns_begin(EmogiSlot *slot, bool loads,
													 EmogiColumnsFit fits, const void *arg);
extern void emogi_cache_columns_set(EmogiSlot *slot, EmogiColumns *columns);
extern void emogi_cache_columns_release(EmogiSlot *slot);
extern EmogiColumns *emogi_cache_columns_detach(EmogiCached *cached, Oid role);
extern void emogi_cache_columns_free_detached(EmogiColumns *columns);
extern bool emogi_cache_columns_drop(void);

#endif							/* EMOGI_COLUMNS_H */
