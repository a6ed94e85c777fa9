/*
 * value_coder.c: conversion of single-column keys to bytes and back, and their order.
 *
 * Encoded keys (EMOGI_KEY_BYTES) ascend in the order of memcmp: numbers are big-endian, with the
 * sign flipped if they are signed; floats as in [1]. -0 becomes 0 and all NaNs become the same NaN,
 * in accordance with the type's equality. Strings are stored without the trailing blanks that
 * char(n) ignores. Keys of all other types are the contents of their Datum: a value, or bytes
 * without the varlena header.
 *
 * [1] The order of IEEE 754 numbers is that of their bits as integers of sign and magnitude. IEEE
 *     754-2008, section 5.10.
 */
#include "postgres.h"

#include <math.h>

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "port/pg_bswap.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "keys/keys.h"
#include "base/compat.h"

/* Initialize a coder for keys of one column. */
void
emogi_value_coder_init(EmogiKeyCoder *coder, const EmogiKeyType *key)
{
	memset(coder, 0, sizeof *coder);
	coder->context = CurrentMemoryContext;
	coder->key = *key;
	get_typlenbyvalalign(key->type, &coder->length, &coder->by_value, &coder->align);
}

/* ---- encoding ---- */

/* Raise 54000 for a key that is too long. */
void
emogi_value_coder_refuse_length(Size length)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("vertex key of %zu bytes is too long", length),
			 errdetail("A key may have up to %u bytes.", EMOGI_MAX_KEY_BYTES),
			 errhint("Hash long keys in a query: 'SELECT md5(src)::uuid, md5(dst)::uuid FROM "
					 "edges'.")));
}

/* Convert a float to bits in ascending order. */
static uint64
ordered_bits(double number)
{
	uint64		bits;

	if (isnan(number))
		number = get_float8_nan();
	else if (number == 0)
		number = 0;
	memcpy(&bits, &number, sizeof bits);
	if (isnan(number))
		bits &= PG_INT64_MAX;
	return (bits >> 63) != 0 ? ~bits : bits | (UINT64CONST(1) << 63);
}

static double
number_of_bits(uint64 bits)
{
	double		number;

	bits = (bits >> 63) != 0 ? bits & PG_INT64_MAX : ~bits;
	memcpy(&number, &bits, sizeof number);
	return number;
}

/* Likewise with 4 bytes. */
static uint32
ordered_bits4(float number)
{
	uint32		bits;

	if (isnan(number))
		number = get_float4_nan();
	else if (number == 0)
		number = 0;
	memcpy(&bits, &number, sizeof bits);
	if (isnan(number))
		bits &= PG_INT32_MAX;
	return (bits >> 31) != 0 ? ~bits : bits | ((uint32) 1 << 31);
}

static float
number_of_bits4(uint32 bits)
{
	float		number;

	bits = (bits >> 31) != 0 ? bits & PG_INT32_MAX : ~bits;
	memcpy(&number, &bits, sizeof number);
	return number;
}

/* Write an integer of 8 or 4 bytes so that memcmp orders it. */
static EmogiKeyBytes
put_uint64(uint64 value)
{
	uint64	   *bytes = palloc(sizeof value);

	*bytes = pg_hton64(value);
	return (EmogiKeyBytes) {(char *) bytes, sizeof value};
}

static EmogiKeyBytes
put_uint32(uint32 value)
{
	uint32	   *bytes = palloc(sizeof value);

	*bytes = pg_hton32(value);
	return (EmogiKeyBytes) {(char *) bytes, sizeof value};
}

static EmogiKeyBytes
put_byte(uint8 value)
{
	uint8	   *byte = palloc(1);

	*byte = value;
	return (EmogiKeyBytes) {(char *) byte, 1};
}

/* Encode a pass-by-value Datum. */
static EmogiKeyBytes
encode_value(Oid type, Datum datum)
{
	switch (type)
	{
		case BOOLOID:
			return put_byte(DatumGetBool(datum));
		case CHAROID:
			return put_byte((uint8) DatumGetChar(datum));
		case OIDOID:
			return put_uint32(DatumGetObjectId(datum));
		case DATEOID:
			return put_uint32((uint32) DatumGetInt32(datum) ^ ((uint32) 1 << 31));
		case FLOAT4OID:
			return put_uint32(ordered_bits4(DatumGetFloat4(datum)));
		case FLOAT8OID:
			return put_uint64(ordered_bits(DatumGetFloat8(datum)));
		case PG_LSNOID:
		case XID8OID:
			return put_uint64((uint64) DatumGetInt64(datum));
		default:				/* times and money: signed, 8 bytes */
			return put_uint64((uint64) DatumGetInt64(datum) ^ (UINT64CONST(1) << 63));
	}
}

/* Decode it. */
static Datum
decode_value(Oid type, const char *bytes)
{
	uint32		small;
	uint64		large = 0;

	memcpy(&small, bytes, type == BOOLOID || type == CHAROID ? 1 : sizeof small);
	switch (type)
	{
		case BOOLOID:
			return BoolGetDatum(*bytes != 0);
		case CHAROID:
			return CharGetDatum(*bytes);
		case OIDOID:
			return ObjectIdGetDatum(pg_ntoh32(small));
		case DATEOID:
			return DateADTGetDatum((DateADT) (pg_ntoh32(small) ^ ((uint32) 1 << 31)));
		case FLOAT4OID:
			return Float4GetDatum(number_of_bits4(pg_ntoh32(small)));
		default:
			break;
	}
	memcpy(&large, bytes, sizeof large);
	large = pg_ntoh64(large);
	if (type == FLOAT8OID)
		return Float8GetDatum(number_of_bits(large));
	return Int64GetDatum((int64) (type == PG_LSNOID || type == XID8OID ? large
								  : large ^ (UINT64CONST(1) << 63)));
}

/*
 * Check whether a key type is an encoded number. Other types are bytes that are already in order.
 */
static bool
is_encoded_value(const EmogiKeyType *key)
{
	return key->class == EMOGI_KEY_BYTES && key->fixed_length > 0 && key->type != UUIDOID &&
		key->type != MACADDROID &&
		key->type != MACADDR8OID;
}

/* Get the bytes of a varlena, detoasted if necessary. Raises 54000. */
static EmogiKeyBytes
bytes_of_varlena(const EmogiKeyCoder *coder, Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	EmogiKeyBytes bytes;

	if (VARATT_IS_COMPRESSED(value) || VARATT_IS_EXTERNAL(value))
	{
		Size		length = toast_raw_datum_size(datum) - VARHDRSZ;

		if (length > EMOGI_MAX_KEY_BYTES)
			emogi_value_coder_refuse_length(length);
		value = pg_detoast_datum_packed(value);
	}
	bytes = (EmogiKeyBytes) {VARDATA_ANY(value), (uint32) VARSIZE_ANY_EXHDR(value)};
	if (coder->key.type == BPCHAROID)
		while (bytes.length > 0 && bytes.bytes[bytes.length - 1] == ' ')
			bytes.length--;
	if (bytes.length > EMOGI_MAX_KEY_BYTES)
		emogi_value_coder_refuse_length(bytes.length);
	return bytes;
}

/* Get the encoded length of all keys of a type; 0 = variable. */
uint32
emogi_value_coder_length(const EmogiKeyCoder *coder)
{
	if (coder->key.class == EMOGI_KEY_INTEGER)
		return sizeof(int64);
	if (coder->key.fixed_length > 0)
		return coder->key.fixed_length;
	if (coder->by_value)
		return sizeof(Datum);
	return coder->length > 0 && coder->key.type != NAMEOID ? (uint32) coder->length : 0;
}

/*
 * Get the bytes of a key, in the memory of the Datum or in the current memory context. Raises
 * 54000.
 */
EmogiKeyBytes
emogi_value_coder_encode(EmogiKeyCoder *coder, Datum datum)
{
	if (coder->key.class == EMOGI_KEY_INTEGER)
		return put_uint64((uint64) DatumGetInt64(datum) ^ (UINT64CONST(1) << 63));
	if (coder->length == -1)
		return bytes_of_varlena(coder, datum);
	if (is_encoded_value(&coder->key))
		return encode_value(coder->key.type, datum);
	if (coder->by_value)
	{
		Datum	   *bytes = palloc(sizeof datum);

		*bytes = datum;
		return (EmogiKeyBytes) {(char *) bytes, sizeof datum};
	}
	if (coder->key.type == NAMEOID || coder->length == -2)
		return (EmogiKeyBytes) {DatumGetPointer(datum), (uint32) strlen(DatumGetPointer(datum))};
	return (EmogiKeyBytes) {DatumGetPointer(datum), (uint32) coder->length};
}

/* Get the Datum of a key, in the current memory context. */
Datum
emogi_value_coder_decode(EmogiKeyCoder *coder, EmogiKeyBytes bytes)
{
	char	   *value;

	if (coder->key.class == EMOGI_KEY_INTEGER || is_encoded_value(&coder->key))
		return decode_value(coder->key.type, bytes.bytes);
	if (coder->by_value)
	{
		Datum		datum;

		memcpy(&datum, bytes.bytes, sizeof datum);
		return datum;
	}
	if (coder->length == -1)
	{
		value = palloc(VARHDRSZ + bytes.length);
		SET_VARSIZE(value, VARHDRSZ + bytes.length);
		if (bytes.length > 0)	/* an empty key may have a NULL pointer */
			memcpy(VARDATA(value), bytes.bytes, bytes.length);
		return PointerGetDatum(value);
	}
	value = palloc0(coder->length > 0 ? coder->length : bytes.length + 1);
	if (bytes.length > 0)
		memcpy(value, bytes.bytes, bytes.length);
	return PointerGetDatum(value);
}

/* ---- comparing ---- */

/* Set up the type's comparison, if not done yet. */
static void
init_sort(EmogiKeyCoder *coder)
{
	TypeCacheEntry *type;
	MemoryContext old;

	if (coder->sort != NULL)
		return;
	type = lookup_type_cache(coder->key.type, TYPECACHE_LT_OPR);
	old = MemoryContextSwitchTo(coder->context);
	coder->sort = palloc0(sizeof *coder->sort);
	coder->sort->ssup_cxt = coder->context;
	coder->sort->ssup_collation = coder->key.collation;
	PrepareSortSupportFromOrderingOp(type->lt_opr, coder->sort);
	MemoryContextSwitchTo(old);
}

/* Compare two key Datums. Raises the errors of the type's comparison. */
int
emogi_value_coder_compare(EmogiKeyCoder *coder, Datum a, Datum b)
{
	init_sort(coder);
	return ApplySortComparator(a, false, b, false, coder->sort);
}
