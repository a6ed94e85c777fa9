/*
 * version_stamp.h: stamps of the rows of a table; see version_stamp.c
 */
#ifndef EMOGI_VERSION_STAMP_H
#define EMOGI_VERSION_STAMP_H

/* The name of the function; its arguments are (regclass, text[]). */
#define EMOGI_STAMP_FUNCTION "emogi_stamp"

extern bool emogi_version_stamp_covers_types(Oid there, Oid here);
extern void emogi_version_stamp_digest(const void *bytes, size_t length, uint8 *fingerprint);

#endif							/* EMOGI_VERSION_STAMP_H */
