/*
 * keys.h: vertex keys of any type.
 *
 * key_type.c       how the keys of a column are compared and encoded
 * type_identity.c  definition of a type, down to its element types
 * key_coder.c      conversion of Datums to bytes and back, by value_coder.c for keys that are one
 *                  column, and by row_coder.c for rows
 * key_io.c           conversion to and from the types that functions accept and return
 *
 * Inside a graph, a vertex is identified by an int64 in ids[]. For smallint, integer and bigint
 * this is the key. For all other types it is a code of the graph's dictionary
 * (contract/dictionary.h), which maps it to a string of bytes. Codes ascend as keys do.
 */
#ifndef EMOGI_SRC_KEYS_H
#define EMOGI_SRC_KEYS_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "nodes/pg_list.h"

#include "contract/dictionary.h"
#include "base/key_type.h"

/* ---- key_type.c ---- */

extern bool emogi_key_type_find(Oid type, Oid collation, EmogiKeyType *key);
extern void emogi_key_type_combine(const EmogiKeyType *parts, int nparts, EmogiKeyType *key);
extern EmogiKeyType emogi_key_type_part(const EmogiKeyType *key, int part);
extern char *emogi_key_type_name(const EmogiKeyType *key);

/* Check whether two types have the same keys in the same order. */
static inline bool
emogi_key_type_equal(const EmogiKeyType *a, const EmogiKeyType *b)
{
	if (a->type != b->type || a->collation != b->collation || a->family != b->family ||
		a->class != b->class || a->nparts != b->nparts || a->definition != b->definition)
		return false;
	for (int i = 0; i < a->nparts; i++)
		if (a->parts[i].type != b->parts[i].type ||
			a->parts[i].collation != b->parts[i].collation ||
			a->parts[i].family != b->parts[i].family || a->parts[i].class != b->parts[i].class)
			return false;
	return true;
}

/* ---- type_identity.c ---- */

/* State of a recursive visit of type definitions. In local memory. */
typedef struct EmogiTypeWalk
{
	List	   *types;			/* OIDs of visited types */
	List	   *functions;		/* OIDs of functions that compare, hash or canonicalize values and
								 * are not built in */
	bool		has_pseudo_type;	/* for example, an anonymous row */
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
	MemoryContext context;		/* in which it was created */
	struct SortSupportData *sort;	/* for EMOGI_KEY_EXACT and EMOGI_KEY_COMPARED; NULL before the
									 * first comparison */
	struct EmogiRowCoder *row;	/* for row keys, otherwise NULL */
} EmogiKeyCoder;

extern void emogi_key_coder_init(EmogiKeyCoder *coder, const EmogiKeyType *key);
extern bool emogi_key_coder_has_null(EmogiKeyCoder *coder, Datum datum);
extern EmogiKeyBytes emogi_key_coder_encode(EmogiKeyCoder *coder, Datum datum);
extern Datum emogi_key_coder_decode(EmogiKeyCoder *coder, EmogiKeyBytes bytes);
extern int	emogi_key_coder_compare(void *coder, EmogiKeyBytes a, EmogiKeyBytes b);
extern int64 emogi_key_coder_find(EmogiKeyCoder *coder, const EmogiDictionary *dictionary,
								  Datum datum);

/*
 * ---- value_coder.c: likewise for keys of one column; called by key_coder.c and row_coder.c ----
 */

extern void emogi_value_coder_init(EmogiKeyCoder *coder, const EmogiKeyType *key);
extern uint32 emogi_value_coder_length(const EmogiKeyCoder *coder);
extern EmogiKeyBytes emogi_value_coder_encode(EmogiKeyCoder *coder, Datum datum);
extern Datum emogi_value_coder_decode(EmogiKeyCoder *coder, EmogiKeyBytes bytes);
extern int	emogi_value_coder_compare(EmogiKeyCoder *coder, Datum a, Datum b);
extern void emogi_value_coder_refuse_length(Size length);

/* ---- row_coder.c: likewise for rows, column by column; called by key_coder.c ---- */

typedef struct EmogiRowCoder EmogiRowCoder;

extern EmogiRowCoder *emogi_row_coder_make(const EmogiKeyType *key);
extern int32 emogi_row_coder_typmod(EmogiRowCoder *coder);
extern bool emogi_row_coder_has_null(EmogiRowCoder *coder, Datum row);
extern EmogiKeyBytes emogi_row_coder_encode(EmogiRowCoder *coder, Datum row);
extern Datum emogi_row_coder_decode(EmogiRowCoder *coder, EmogiKeyBytes bytes);
extern Datum *emogi_row_coder_values(EmogiRowCoder *coder, EmogiKeyBytes bytes);
extern int	emogi_row_coder_compare(EmogiRowCoder *coder, const Datum *a, const Datum *b);
extern bool emogi_row_coder_is_too_long(EmogiRowCoder *coder, Datum row);

/* ---- key_io.c ---- */

/* Conversion of vertices, which depends on the declared type of the function's column `vertex`. */
typedef enum EmogiKeyIOKind
{
	EMOGI_KEY_IO_INTEGER,		/* as bigint, for integer keys */
	EMOGI_KEY_IO_SAME_TYPE,		/* in the type of the column */
	EMOGI_KEY_IO_TEXT			/* in text form, for keys of any type but text */
} EmogiKeyIOKind;

typedef struct EmogiKeyIO
{
	EmogiKeyIOKind kind;
	Oid			type;			/* of the column `vertex` */
	bool		in_place;		/* the Datum of a key can point to its bytes */
	EmogiKeyCoder coder;
	FmgrInfo	output;			/* EMOGI_KEY_IO_TEXT */
	FmgrInfo	input;
	Oid			ioparam;
	int32		typmod;			/* of rows, required by their input function; otherwise -1 */

	/*
	 * Result of a search without a graph, for keys that are not integers: ids are indexes into
	 * keys, [nkeys], ascending; NULL = ids are those of a graph.
	 */
	const EmogiKeyBytes *keys;
	uint64		nkeys;
} EmogiKeyIO;

extern bool emogi_key_io_is_compatible(const EmogiKeyType *key, Oid type);
extern void emogi_key_io_init(EmogiKeyIO *form, const EmogiKeyType *key, Oid type);
extern EmogiKeyBytes emogi_key_io_key_bytes(const EmogiKeyIO *form, const EmogiGraph *graph,
											int64 id);
extern Datum emogi_key_io_key(EmogiKeyIO *form, const EmogiGraph *graph, int64 id);
extern Datum *emogi_key_io_key_columns(EmogiKeyIO *form, const EmogiGraph *graph, int64 id);
extern Datum emogi_key_io_output(EmogiKeyIO *form, const EmogiGraph *graph, int64 id);
extern Datum emogi_key_io_input(EmogiKeyIO *form, Datum given);
extern bool emogi_key_io_input_array(EmogiKeyIO *form, Datum given, Datum *array);
extern void emogi_key_io_prefetch(EmogiKeyIO *form, const EmogiGraph *graph, Datum key);
extern int64 emogi_key_io_find(EmogiKeyIO *form, const EmogiGraph *graph, Datum key);
extern bool emogi_key_io_input_id(EmogiKeyIO *form, const EmogiGraph *graph, Datum given,
								  int64 *id);
extern bool emogi_key_io_can_lookup(const EmogiKeyType *key, Oid type);
extern bool emogi_key_io_is_injective(const EmogiKeyType *key, Oid type);
extern bool emogi_key_io_keeps_order(const EmogiKeyType *key, Oid type, Oid collation);
extern bool emogi_key_io_has(EmogiKeyIO *form, Datum key);
extern bool emogi_key_io_lookup_key(const EmogiKeyIO *form, Datum given, Datum *key);
extern bool emogi_key_io_lookup(EmogiKeyIO *form, const EmogiGraph *graph, Datum given, int64 *id);
extern char *emogi_key_io_example(const EmogiKeyType *key);
extern char *emogi_key_io_key_text(const EmogiKeyType *key, Datum datum);
extern char *emogi_key_io_text(const EmogiKeyIO *form, const EmogiGraph *graph, int64 id);

#endif							/* EMOGI_SRC_KEYS_H */
