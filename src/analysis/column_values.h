/*
 * column_values.h: the values of a column's dictionary that are equal to a constant, or before it
 * (column_values.c)
 */
#ifndef EMOGI_COLUMN_VALUES_H
#define EMOGI_COLUMN_VALUES_H

#include "utils/typcache.h"

#include "cache/columns.h"

extern uint64 emogi_column_values_hash(TypeCacheEntry *type, Oid collation, Datum value);
extern uint32 emogi_column_values_equal(const EmogiColumn *column, Datum value, uint32 **codes);
extern uint32 emogi_column_values_before(const EmogiColumn *column, const uint32 *order,
										 Datum value, bool or_equal);
extern bool emogi_column_values_compare(const EmogiColumn *column, int strategy, Datum value,
										double max_us, const uint32 **codes, uint32 *count);

#endif							/* EMOGI_COLUMN_VALUES_H */
