/*
 * key_type.c: types of vertex keys, and how their keys are compared.
 *
 * Equality and order of keys follow the default btree operator class of the column's base type, as
 * in joins and ORDER BY. If it is a built-in class whose order can be expressed by bytes, keys are
 * encoded. Otherwise the type's comparison function compares them.
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "keys/keys.h"
#include "base/compat.h"

/* Encoded types of fixed length. */
static const struct
{
	Oid			type;
	uint32		length;
}			fixed_types[] = {
	{BOOLOID, 1}, {CHAROID, 1}, {OIDOID, 4}, {DATEOID, 4}, {FLOAT4OID, 4}, {FLOAT8OID, 8},
	{TIMEOID, 8}, {TIMESTAMPOID, 8}, {TIMESTAMPTZOID, 8}, {CASHOID, 8}, {PG_LSNOID, 8},
	{XID8OID, 8}, {MACADDROID, 6}, {MACADDR8OID, 8}, {UUIDOID, 16}
};

/* Get the encoded length of keys of a type; 0 = not of fixed length. */
static uint32
encoded_length(Oid type)
{
	for (int i = 0; i < (int) lengthof(fixed_types); i++)
		if (fixed_types[i].type == type)
			return fixed_types[i].length;
	return 0;
}

/* Get the class of keys of a string type with a collation. */
static EmogiKeyClass
class_of_string(Oid collation)
{
	if (emogi_compat_collates_bytes(collation))
		return EMOGI_KEY_BYTES;
	return get_collation_isdeterministic(collation) ? EMOGI_KEY_EXACT : EMOGI_KEY_COMPARED;
}

/*
 * Get the class of keys of a base type. The types with a case of their own have the built-in
 * operator class.
 */
static EmogiKeyClass
class_of(Oid type, Oid collation)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return EMOGI_KEY_INTEGER;
		case BYTEAOID:
			return EMOGI_KEY_BYTES;
		case TEXTOID:
		case BPCHAROID:
		case NAMEOID:
			return class_of_string(collation);
		default:
			if (encoded_length(type) > 0)
				return EMOGI_KEY_BYTES;
			return type_is_enum(type) ? EMOGI_KEY_EXACT : EMOGI_KEY_COMPARED;
	}
}

/*
 * Determine the key type of a column. Returns false if the type has no order or contains an
 * anonymous row, or if the column lacks a collation that it needs.
 */
bool
emogi_key_type_find(Oid type, Oid collation, EmogiKeyType *key)
{
	Oid			family;

	memset(key, 0, sizeof *key);
	type = getBaseType(type);
	if (type == RECORDOID)
		return false;			/* its attributes are only known from its columns */
	if (type == VARCHAROID)
		type = TEXTOID;
	family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
	if (!OidIsValid(family) || (OidIsValid(get_typcollation(type)) && !OidIsValid(collation)))
		return false;
	key->class = class_of(type, collation);
	if (key->class == EMOGI_KEY_INTEGER)
	{
		key->type = INT8OID;
		return true;
	}
	key->type = type;
	key->collation = OidIsValid(get_typcollation(type)) ? collation : InvalidOid;
	key->family = family;
	key->fixed_length = key->class == EMOGI_KEY_BYTES ? encoded_length(type) : 0;
	return key->class != EMOGI_KEY_COMPARED || emogi_type_identify(type, &key->definition);
}

/* Combine the types of 1 .. EMOGI_KEY_MAX_PARTS columns into the type of row keys. */
void
emogi_key_type_combine(const EmogiKeyType *parts, int nparts, EmogiKeyType *key)
{
	bool		is_fixed = true;

	memset(key, 0, sizeof *key);
	key->type = RECORDOID;
	key->class = EMOGI_KEY_BYTES;
	key->nparts = nparts;
	for (int i = 0; i < nparts; i++)
	{
		const EmogiKeyType *part = &parts[i];
		const uint32 length = part->class == EMOGI_KEY_INTEGER ? sizeof(int64) : part->fixed_length;

		key->parts[i] = (EmogiKeyPart) {part->type, part->collation, part->family, part->class,
			part->fixed_length};
		key->class = Max(key->class, part->class);
		key->fixed_length += length;
		key->definition = hash_combine64(key->definition, part->definition);
		is_fixed &= length > 0;
	}
	if (!is_fixed || key->class != EMOGI_KEY_BYTES)
		key->fixed_length = 0;
}

/* Get the type of a column of row keys. */
EmogiKeyType
emogi_key_type_part(const EmogiKeyType *key, int part)
{
	const EmogiKeyPart *of = &key->parts[part];

	return (EmogiKeyType) {.type = of->type,.collation = of->collation,.family = of->family,
		.class = of->class,.fixed_length = of->fixed_length};
}

/* Get the name of a key type for messages; for rows, a list in parentheses. */
char *
emogi_key_type_name(const EmogiKeyType *key)
{
	StringInfoData name;

	if (key->nparts == 0)
		return format_type_be(key->type);
	initStringInfo(&name);
	for (int i = 0; i < key->nparts; i++)
		appendStringInfo(&name, "%s%s", i == 0 ? "(" : ", ", format_type_be(key->parts[i].type));
	appendStringInfoChar(&name, ')');
	return name.data;
}
