/*
 * properties.h: property columns of a graph's edges, beside its lists
 *
 * A property column has one value for each entry of the lists of one orientation, in their order.
 * Columns of reverse lists are copies in another order. With direction EMOGI_BOTH, both entries of
 * an edge have its values, and the reverse lists are the forward lists.
 *
 * To load a column, number the edges, and build lists with the numbers as weights
 * (emogi_csr_build). They lead from entries to rows.
 */
#ifndef EMOGI_PROPERTIES_H
#define EMOGI_PROPERTIES_H

#include "contract/engine.h"
#include "contract/pool.h"

/* How values are stored: codes of enums and dictionaries, dates, times and booleans as integers. */
typedef enum EmogiPropertyType
{
	EMOGI_PROPERTY_I8 = 0,
	EMOGI_PROPERTY_I16,
	EMOGI_PROPERTY_I32,
	EMOGI_PROPERTY_I64,
	EMOGI_PROPERTY_F32,
	EMOGI_PROPERTY_F64,
	EMOGI_NPROPERTY_TYPES
} EmogiPropertyType;

typedef struct EmogiProperty
{
	EmogiPropertyType type;
	const void *values;			/* [nedges], line-aligned, readable up to a multiple of 64 values; 0
								 * for NULL */
	const uint64_t *nulls;		/* bitmap [nedges], 1 = NULL; NULL = no value is NULL */
} EmogiProperty;

typedef struct EmogiProperties
{
	uint64_t	nedges;			/* entries of the lists */
	uint32_t	ncolumns;
	const EmogiProperty *columns;	/* [ncolumns] */
} EmogiProperties;

/* Get the words of a bitmap of so many bits. */
static inline uint64_t
emogi_bitmap_words(uint64_t nbits)
{
	return nbits / 64 + (nbits % 64 != 0);
}

/* Check whether a column holds floats. */
static inline bool
emogi_property_is_float(EmogiPropertyType type)
{
	return type >= EMOGI_PROPERTY_F32;
}

/* Get the bytes of one value. */
static inline size_t
emogi_property_width(EmogiPropertyType type)
{
	static const unsigned char widths[] = {1, 2, 4, 8, 4, 8};

	return widths[type];
}

/* Get the bytes of a column: its values, and its bitmap of NULLs if there are any. */
extern size_t emogi_properties_bytes(EmogiPropertyType type, bool has_nulls, uint64_t nedges);

/* Get the narrowest type for integers from min to max. */
static inline EmogiPropertyType
emogi_property_integer_type(int64_t min, int64_t max)
{
	if (min >= INT8_MIN && max <= INT8_MAX)
		return EMOGI_PROPERTY_I8;
	if (min >= INT16_MIN && max <= INT16_MAX)
		return EMOGI_PROPERTY_I16;
	return min >= INT32_MIN && max <= INT32_MAX ? EMOGI_PROPERTY_I32 : EMOGI_PROPERTY_I64;
}

/* Check whether 4 bytes hold a float exactly; all NaNs are the same value. */
static inline bool
emogi_property_fits_f32(double value)
{
	return (double) (float) value == value || value != value;
}

/* Values of a column as the scan leaves them: one for each edge, by its number. */
typedef struct EmogiPropertyRows
{
	const void *values;			/* [nrows] int64_t, or double for floats; any if NULL */
	const uint64_t *nulls;		/* bitmap [nrows], 1 = NULL; NULL = no value is NULL */
} EmogiPropertyRows;

/*
 * Fill a column from rows. numbers: lists of emogi_csr_build whose weights, of this type, are
 * numbers of rows. property: its type, which holds all values exactly, is set; memory:
 * emogi_properties_bytes, line-aligned, any content.
 */
extern EmogiStatus emogi_properties_fill(EmogiPool *pool, const EmogiAdjacency *numbers,
										 EmogiWeightType number_type, const EmogiPropertyRows *rows,
										 void *memory, EmogiProperty *property,
										 EmogiControl *control, EmogiError *error);

#endif							/* EMOGI_PROPERTIES_H */
