/*
 * property_load.h: loading of property columns for the lists of an existing graph
 *
 * The rows of a graph's edges are read again. Each takes an entry of the lists with its ends and
 * its weight that no other row has. If every row finds one, and no entry remains, the rows are exactly
 * the edges of the graph. Values are first stored by entry, in arrays that hold any value of the
 * column, and then copied to the narrowest type that holds those that occur.
 */
#ifndef EMOGI_PROPERTY_LOAD_H
#define EMOGI_PROPERTY_LOAD_H

#include "contract/properties.h"

/* The entries of lists of one orientation that rows have taken. */
typedef struct EmogiTakenEntries
{
	const EmogiAdjacency *lists;
	EmogiWeightType weight_type;	/* NONE = parallel edges differ only in their properties */
	uint64_t   *taken;			/* bitmap [lists->nedges], written by any process */
} EmogiTakenEntries;

/* Rows whose entries are looked for at a time, at most. */
#define EMOGI_ROWS_AT_ONCE 256

/*
 * Take an entry for each of count rows: in the list of from[i], with target to[i] and weight
 * weights[i], which is not read without weights. Return false if there is none for one of them.
 */
extern bool emogi_property_take(const EmogiTakenEntries *entries, uint32_t count,
								const uint32_t *from, const uint32_t *to, const double *weights,
								uint64_t *taken);

/* The values of a column by entry, not in the narrowest type. */
typedef struct EmogiRawProperty
{
	EmogiPropertyType type;		/* I32, I64, F32 or F64 */
	const void *values;			/* [nedges]; any if NULL */
	const uint64_t *nulls;		/* bitmap [nedges], 1 = NULL; NULL = no value is NULL */
	const uint32_t *codes;		/* I32: value v stands for codes[v]; NULL = for itself */
} EmogiRawProperty;

typedef struct EmogiPropertyLoad
{
	uint32_t	ncolumns;
	const EmogiRawProperty *raw_forward;	/* [ncolumns] */
	const EmogiRawProperty *raw_backward;	/* [ncolumns]; NULL = there are no reverse lists, or
											 * they are the forward lists */
	/*
	 * [ncolumns], with types that hold all values exactly. values: memory of
	 * emogi_properties_bytes, to be filled; nulls is set
	 */
	EmogiProperty *forward;
	EmogiProperty *backward;
	/* memory for the forward entries that lead to each vertex, to be filled; NULL = not wanted */
	uint64_t   *in_offsets;		/* [nvertices + 1] */
	uint32_t   *in_entries;		/* [nedges], fewer than 2^32 */
} EmogiPropertyLoad;

/* Copy columns to the lists of a graph, whose rows have taken all entries. */
extern EmogiStatus emogi_property_load(EmogiPool *pool, const EmogiGraph *graph,
									   EmogiPropertyLoad *load, EmogiControl *control,
									   EmogiError *error);

#endif							/* EMOGI_PROPERTY_LOAD_H */
