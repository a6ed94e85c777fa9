/*
 * key_type.h: the type of a graph's vertex keys, as shared memory stores it (../keys)
 */
#ifndef EMOGI_KEY_TYPE_H
#define EMOGI_KEY_TYPE_H

typedef enum EmogiKeyClass
{
	EMOGI_KEY_INTEGER,			/* smallint, integer, bigint, oid: no dictionary */
	EMOGI_KEY_BYTES,			/* encoded: memcmp orders the bytes like the type, and equal keys
								 * have equal bytes */
	EMOGI_KEY_EXACT,			/* the bytes of the Datum, ordered by the type's btree function;
								 * equal keys have equal bytes */
	EMOGI_KEY_COMPARED			/* likewise, but equal keys may have different bytes */
} EmogiKeyClass;

/* The type of a key, or of a column of a row key. */
typedef struct EmogiKeyPart
{
	Oid			type;			/* base type; text for varchar, bigint for smallint and integer;
								 * InvalidOid = unknown yet */
	Oid			collation;		/* of the column; InvalidOid if the type has none */
	Oid			family;			/* btree operator family of the default operator class; InvalidOid
								 * for EMOGI_KEY_INTEGER */
	EmogiKeyClass class;
	uint32		fixed_length;	/* bytes of a key; 0 = variable, or EMOGI_KEY_INTEGER */
} EmogiKeyPart;

/* Maximum number of columns of a key. */
#define EMOGI_KEY_MAX_PARTS 4

/*
 * The type of a column of keys. Plain data: it is compared as a whole, and stored in shared memory.
 */
typedef struct EmogiKeyType
{
	Oid			type;			/* as in a part; record for row keys, whether the row type is named
								 * or not */
	Oid			collation;
	Oid			family;
	EmogiKeyClass class;		/* never EMOGI_KEY_INTEGER for rows */
	uint32		fixed_length;
	int			nparts;			/* number of columns of a row; 0 = not a row */
	uint64		definition;		/* hash of the types that it consists of (type_identity.c); 0 = they
								 * cannot be altered */
	EmogiKeyPart parts[EMOGI_KEY_MAX_PARTS];	/* [nparts], the rest zero */
} EmogiKeyType;

#endif							/* EMOGI_KEY_TYPE_H */
