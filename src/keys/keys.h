/*
 * keys.h: vertex keys of any type.
 *
 * key_type.c says how the keys of a column are handled, type_identity.c describes the types that they consist of, key_coder.c turns their Datums into bytes and back: value_coder.c those that are
 * one column, row_coder.c those that are rows of several. form.c turns them into what a function's caller gives and gets.
 *
 * Inside a Graph a vertex is known by an int64, in ids[]. For smallint, integer and bigint this is the key. For all other types it is a
 * code of the Graph's dictionary (dictionary/dictionary.h), which has a string of bytes for it. Codes ascend as keys do.
 */
#ifndef EMOGI_SRC_KEYS_H
#define EMOGI_SRC_KEYS_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "dictionary/dictionary.h"

/* ---- key_type.c ---- */

typedef enum EmogiKeyClass
{
	EMOGI_KEY_INTEGER,			/* smallint, integer, bigint, oid: no dictionary */
	EMOGI_KEY_BYTES,			/* encoded: memcmp orders the bytes as the type does, and equal keys have equal bytes */
	EMOGI_KEY_EXACT,			/* the bytes of the Datum, ordered by the type's btree function; equal keys have equal bytes */
	EMOGI_KEY_COMPARED			/* likewise, but equal keys may have different bytes */
} EmogiKeyClass;

/* A type of keys, or of a column of keys that are rows. */
typedef struct EmogiKeyPart
{
	Oid			type;			/* base type; text for varchar, bigint for smallint and integer; InvalidOid = not known yet */
	Oid			collation;		/* of the column; InvalidOid where the type has none */
	Oid			family;			/* btree operator family of the default operator class; InvalidOid for EMOGI_KEY_INTEGER */
	EmogiKeyClass class;
	uint32		fixed_length;	/* bytes of a key; 0 = they differ, or EMOGI_KEY_INTEGER */
} EmogiKeyPart;

/* Columns that make one key, at most. */
#define EMOGI_KEY_MOST_PARTS 4

/* The type of a column of keys. Plain data: it is compared as a whole, and lies in shared memory. */
typedef struct EmogiKeyType
{
	Oid			type;			/* as in a part; record where keys are rows, of a named type or not */
	Oid			collation;
	Oid			family;
	EmogiKeyClass class;		/* of rows never EMOGI_KEY_INTEGER */
	uint32		fixed_length;
	int			nparts;			/* columns of a row; 0 = keys are no rows */
	uint64		definition;		/* hash of the types that it consists of (type_identity.c); 0 = they cannot be altered */
	EmogiKeyPart parts[EMOGI_KEY_MOST_PARTS];	/* [nparts], the rest zero */
} EmogiKeyType;

extern bool emogi_key_type_find(Oid type, Oid collation, EmogiKeyType *key);
extern void emogi_key_type_combine(const EmogiKeyType *parts, int nparts, EmogiKeyType *key);
extern EmogiKeyType emogi_key_type_part(const EmogiKeyType *key, int part);
extern bool emogi_key_type_equal(const EmogiKeyType *a, const EmogiKeyType *b);
extern char *emogi_key_type_name(const EmogiKeyType *key);

/* ---- type_identity.c ---- */

/* A walk through the definitions of types. In local memory. */
typedef struct EmogiTypeWalk
{
	List	   *types;			/* OIDs that were visited */
	List	   *functions;		/* OIDs of functions that compare, hash or canonicalize values and are not built in */
	bool		has_pseudo_type;	/* an anonymous row, for example */
	StringInfoData definition;	/* initialized by the caller */
} EmogiTypeWalk;

extern void emogi_type_walk(Oid type, EmogiTypeWalk *walk);
extern bool emogi_type_identify(Oid type, uint64 *identity);

/* ---- key_coder.c ---- */

/* Encodes, decodes and compares keys of a type. In local memory. */
typedef struct EmogiKeyCoder
{
	EmogiKeyType key;
	int16		length;			/* of the type, as in pg_type */
	bool		by_value;
	char		align;
	MemoryContext context;		/* that it was made in */
	struct SortSupportData *sort;	/* of EMOGI_KEY_EXACT and EMOGI_KEY_COMPARED; NULL before the first comparison */
	struct EmogiRowCoder *row;	/* of keys that are rows; else NULL */
} EmogiKeyCoder;

extern void emogi_key_coder_init(EmogiKeyCoder *coder, const EmogiKeyType *key);
extern bool emogi_key_coder_lacks(EmogiKeyCoder *coder, Datum datum);
extern EmogiKeyBytes emogi_key_coder_encode(EmogiKeyCoder *coder, Datum datum);
extern Datum emogi_key_coder_decode(EmogiKeyCoder *coder, EmogiKeyBytes bytes);
extern int	emogi_key_coder_compare(void *coder, EmogiKeyBytes a, EmogiKeyBytes b);
extern int64 emogi_key_coder_find(EmogiKeyCoder *coder, const EmogiDictionary *dictionary, Datum datum);

/* ---- value_coder.c: the same of keys that are one column; called by key_coder.c and row_coder.c ---- */

extern void emogi_value_coder_init(EmogiKeyCoder *coder, const EmogiKeyType *key);
extern uint32 emogi_value_coder_length(const EmogiKeyCoder *coder);
extern EmogiKeyBytes emogi_value_coder_encode(EmogiKeyCoder *coder, Datum datum);
extern Datum emogi_value_coder_decode(EmogiKeyCoder *coder, EmogiKeyBytes bytes);
extern int	emogi_value_coder_compare(EmogiKeyCoder *coder, Datum a, Datum b);
extern void emogi_value_coder_refuse_length(Size length);

/* ---- row_coder.c: the same of rows, column by column; called by key_coder.c ---- */

typedef struct EmogiRowCoder EmogiRowCoder;

extern EmogiRowCoder *emogi_row_coder_make(const EmogiKeyType *key);
extern int32 emogi_row_coder_typmod(EmogiRowCoder *coder);
extern bool emogi_row_coder_lacks(EmogiRowCoder *coder, Datum row);
extern EmogiKeyBytes emogi_row_coder_encode(EmogiRowCoder *coder, Datum row);
extern Datum emogi_row_coder_decode(EmogiRowCoder *coder, EmogiKeyBytes bytes);
extern Datum *emogi_row_coder_values(EmogiRowCoder *coder, EmogiKeyBytes bytes);
extern int	emogi_row_coder_compare(EmogiRowCoder *coder, const Datum *a, const Datum *b);
extern bool emogi_row_coder_is_too_long(EmogiRowCoder *coder, Datum row);

/* ---- form.c ---- */

/* How the caller of a function gives and gets vertices: by the declared type of its column `vertex`. */
typedef enum EmogiFormKind
{
	EMOGI_FORM_INTEGER,			/* as bigint, of keys that are integers */
	EMOGI_FORM_SAME,			/* in the type of the column */
	EMOGI_FORM_TEXT				/* in text form, of keys of any type but text */
} EmogiFormKind;

typedef struct EmogiForm
{
	EmogiFormKind kind;
	Oid			type;			/* of the column `vertex` */
	bool		in_place;		/* the bytes of a key are what its Datum points to */
	EmogiKeyCoder coder;
	FmgrInfo	output;			/* EMOGI_FORM_TEXT */
	FmgrInfo	input;
	Oid			ioparam;
	int32		typmod;			/* of rows, which their input needs; else -1 */

	/* what was got without a Graph, of keys that are no integers: its ids are places in [nkeys], ascending; NULL = they are a Graph's */
	const EmogiKeyBytes *keys;
	uint64		nkeys;
} EmogiForm;

extern bool emogi_form_fits(const EmogiKeyType *key, Oid type);
extern void emogi_form_init(EmogiForm *form, const EmogiKeyType *key, Oid type);
extern EmogiKeyBytes emogi_form_key_bytes(const EmogiForm *form, const EmogiGraph *graph, int64 id);
extern Datum emogi_form_key(EmogiForm *form, const EmogiGraph *graph, int64 id);
extern Datum *emogi_form_key_columns(EmogiForm *form, const EmogiGraph *graph, int64 id);
extern Datum emogi_form_give(EmogiForm *form, const EmogiGraph *graph, int64 id);
extern Datum emogi_form_read(EmogiForm *form, Datum given);
extern bool emogi_form_read_array(EmogiForm *form, Datum given, Datum *array);
extern int64 emogi_form_find(EmogiForm *form, const EmogiGraph *graph, Datum key);
extern bool emogi_form_take(EmogiForm *form, const EmogiGraph *graph, Datum given, int64 *id);
extern bool emogi_form_seeks(const EmogiKeyType *key, Oid type);
extern bool emogi_form_distinguishes(const EmogiKeyType *key, Oid type);
extern bool emogi_form_orders(const EmogiKeyType *key, Oid type, Oid collation);
extern bool emogi_form_has(EmogiForm *form, Datum key);
extern bool emogi_form_seek_key(const EmogiForm *form, Datum given, Datum *key);
extern bool emogi_form_seek(EmogiForm *form, const EmogiGraph *graph, Datum given, int64 *id);
extern char *emogi_form_sample(const EmogiKeyType *key);
extern char *emogi_form_key_text(const EmogiKeyType *key, Datum datum);
extern char *emogi_form_text(const EmogiKeyType *key, const EmogiGraph *graph, int64 id);

#endif							/* EMOGI_SRC_KEYS_H */
