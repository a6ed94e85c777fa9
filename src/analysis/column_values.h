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
extern const uint32 *emogi_column_values_order(const EmogiColumn *column, double max_us);

#endif							/* EMOGI_COLUMN_VALUES_H */
