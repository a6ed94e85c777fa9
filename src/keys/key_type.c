/*
 * key_type.c: how the keys of a column are handled.
 *
 * What decides is the default btree operator class of the column's base type: by it keys are equal and in order, as in a join
 * and in ORDER BY. Where it is the server's own, and is known to order as bytes can, keys are encoded. Else the type's own function
 * compares them.
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

/* Encoded types of a fixed length. */
static const struct
{
	Oid			type;
	uint32		length;
}			fixed_types[] = {
	{BOOLOID, 1}, {CHAROID, 1}, {OIDOID, 4}, {DATEOID, 4}, {FLOAT4OID, 4}, {FLOAT8OID, 8}, {TIMEOID, 8}, {TIMESTAMPOID, 8},
	{TIMESTAMPTZOID, 8}, {CASHOID, 8}, {PG_LSNOID, 8}, {XID8OID, 8}, {MACADDROID, 6}, {MACADDR8OID, 8}, {UUIDOID, 16}
};

/* Get the length that keys of a type are encoded in; 0 = they are not. */
static uint32
encoded_length(Oid type)
{
	for (int i = 0; i < (int) lengthof(fixed_types); i++)
		if (fixed_types[i].type == type)
			return fixed_types[i].length;
	return 0;
}

/* Find out how keys of a type with a collation are handled, or those of a string type. */
static EmogiKeyClass
class_of_string(Oid collation)
{
	if (emogi_compat_collates_bytes(collation))
		return EMOGI_KEY_BYTES;
	return get_collation_isdeterministic(collation) ? EMOGI_KEY_EXACT : EMOGI_KEY_COMPARED;
}

/* Find out how keys of a base type are handled. Those with a case of their own have the server's own operator class. */
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
 * Find out how keys of a type are handled. Returns false if the type has no order or contains an anonymous row, or if the column lacks a
 * collation that it needs.
 */
bool
emogi_key_type_find(Oid type, Oid collation, EmogiKeyType *key)
{
	Oid			family;

	memset(key, 0, sizeof *key);
	type = getBaseType(type);
	if (type == RECORDOID)
		return false;			/* what it has is known by its columns alone */
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

/* Find out how keys that are rows of columns of these types (1 .. EMOGI_KEY_MOST_PARTS) are handled. */
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

		key->parts[i] = (EmogiKeyPart) {part->type, part->collation, part->family, part->class, part->fixed_length};
		key->class = Max(key->class, part->class);
		key->fixed_length += length;
		key->definition = hash_combine64(key->definition, part->definition);
		is_fixed &= length > 0;
	}
	if (!is_fixed || key->class != EMOGI_KEY_BYTES)
		key->fixed_length = 0;
}

/* Get the type of a column of keys that are rows. */
EmogiKeyType
emogi_key_type_part(const EmogiKeyType *key, int part)
{
	const EmogiKeyPart *of = &key->parts[part];

	return (EmogiKeyType) {.type = of->type,.collation = of->collation,.family = of->family,.class = of->class,.fixed_length = of->fixed_length};
}

/* Are keys of both types the same in the same order? */
bool
emogi_key_type_equal(const EmogiKeyType *a, const EmogiKeyType *b)
{
	if (a->type != b->type || a->collation != b->collation || a->family != b->family || a->class != b->class || a->nparts != b->nparts || a->definition != b->definition)
		return false;
	for (int i = 0; i < a->nparts; i++)
		if (a->parts[i].type != b->parts[i].type || a->parts[i].collation != b->parts[i].collation ||
			a->parts[i].family != b->parts[i].family || a->parts[i].class != b->parts[i].class)
			return false;
	return true;
}

/* Get the name of a type of keys, for messages: of rows a list in parentheses. */
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
