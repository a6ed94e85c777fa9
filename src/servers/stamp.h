/*
 * stamp.h: what tells the rows of a table from all others; see stamp.c.
 */
#ifndef EMOGI_STAMP_H
#define EMOGI_STAMP_H

/* The name of the function; its arguments are (regclass, text[]). */
#define EMOGI_STAMP_FUNCTION "emogi_stamp"

extern bool emogi_stamp_covers_types(Oid there, Oid here);
extern void emogi_stamp_digest(const void *bytes, size_t length, uint8 *digest);

#endif							/* EMOGI_STAMP_H */
