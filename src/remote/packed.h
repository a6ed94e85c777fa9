/*
 * packed.h: rows of numbers as emogi_pages packs them for another server's emogi, which unpacks
 * them in decode_groups.c.
 *
 * A pack has the rows of some pages, column by column. All numbers lead with their high byte.
 *
 *     number of rows, 4 bytes; number of columns, 4 bytes
 *     of each column: bytes of a value, 4 bytes, of a bigint 4 where all fit; 1 where some value is
 *     NULL, else 0, 4 bytes;
 *         where some is NULL a bit for each row, from the lowest bit of the first byte on, 1 = it
 *         is not NULL, in whole bytes;
 *         then the values of all rows, 0 for NULL
 */
#ifndef EMOGI_PACKED_H
#define EMOGI_PACKED_H

/* Before all columns, and before each. */
#define EMOGI_PACK_HEADER_BYTES 8
#define EMOGI_PACK_COLUMN_BYTES 8

/*
 * The name of the function, and its arguments: the name belongs to this form, another form has
 * another.
 */
#define EMOGI_PACK_FUNCTION "emogi_pages"

#endif							/* EMOGI_PACKED_H */
