/*
 * pack_format.h: format of the packs that emogi_pages sends to another server's emogi, which
 * decodes them in decode_groups.c
 *
 * A pack has the rows of some pages, column by column. All numbers are big-endian.
 *
 *     number of rows, 4 bytes; number of columns, 4 bytes
 *     per column: bytes per value, 4 bytes (4 for a bigint if all values fit);
 *         1 if some value is NULL, otherwise 0, 4 bytes;
 *         if some value is NULL, one bit per row, starting at the lowest bit
 *         of the first byte, 1 = not NULL, in whole bytes;
 *         then the values of all rows, 0 for NULL
 */
#ifndef EMOGI_PACK_FORMAT_H
#define EMOGI_PACK_FORMAT_H

/* Before all columns, and before each column. */
#define EMOGI_PACK_HEADER_BYTES 8
#define EMOGI_PACK_COLUMN_BYTES 8

/*
 * The name of the function. The name belongs to this format and these arguments; a new format gets
 * a new name.
 */
#define EMOGI_PACK_FUNCTION "emogi_pages"

#endif							/* EMOGI_PACK_FORMAT_H */
