/*
 * property_values.c: number the different values of a column, in the order of its type.
 *
 * Values are told apart by their bytes, so that values that are equal for the type, as 1.0 and 1.00
 * are, have codes of their own, one next to the other.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/typcache.h"

#include "edges/property_scan.h"

#define CODES_BETWEEN_CHECKS 65536	/* codes replaced between two checks for cancellation */

/* The content of a value. */
typedef struct Content
{
	const char *bytes;
	uint32		length;
} Content;

/* An entry of the hash table. */
typedef struct Entry
{
	Content		content;
	uint32		code;			/* in the order of first occurrence */
	char		status;			/* of simplehash.h */
} Entry;

static inline uint32
hash_content(Content content)
{
	return hash_bytes((const unsigned char *) content.bytes, (int) content.length);
}

static inline bool
is_same(Content a, Content b)
{
	return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

#define SH_PREFIX contents
#define SH_ELEMENT_TYPE Entry
#define SH_KEY_TYPE Content
#define SH_KEY content
#define SH_HASH_KEY(table, key) hash_content(key)
#define SH_EQUAL(table, a, b) is_same(a, b)
#define SH_SCOPE static inline
#define SH_DECLARE
#define SH_DEFINE
#include "lib/simplehash.h"

struct EmogiPropertyValues
{
	MemoryContext context;		/* holds all of this */
	TypeCacheEntry *type;
	Oid			collation;
	contents_hash *table;
	uint32		count;
	uint32		room;
	Datum	   *values;			/* [count], by code */
	Size		bytes;			/* of the contents */
	int64		last;			/* code of the last value; -1 = none */
};

/* Make an empty dictionary for a column. */
EmogiPropertyValues *
emogi_property_values_make(const EmogiColumnIdentity *identity)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "emogi values",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(context);
	EmogiPropertyValues *values = palloc0(sizeof *values);

	values->context = context;
	values->type = lookup_type_cache(identity->type, TYPECACHE_CMP_PROC_FINFO);
	values->collation = identity->collation;
	values->table = contents_create(context, 256, NULL);
	values->room = 256;
	values->values = palloc(values->room * sizeof(Datum));
	values->last = -1;
	MemoryContextSwitchTo(old);
	return values;
}

/* Get the content of a value; *oid: room for one that is passed by value. */
static Content
content_of(const EmogiPropertyValues *values, Datum value, Oid *oid)
{
	if (values->type->typbyval)
	{
		*oid = DatumGetObjectId(value);
		return (Content) {(const char *) oid, sizeof *oid};
	}
	if (values->type->typlen > 0)
		return (Content) {DatumGetPointer(value), (uint32) values->type->typlen};
	return (Content) {VARDATA_ANY(DatumGetPointer(value)),
					  (uint32) VARSIZE_ANY_EXHDR(DatumGetPointer(value))};
}

/* Get the Datum of a value with this content, which is copied. */
static Datum
copy_value(const EmogiPropertyValues *values, Content content)
{
	const bool	is_varlena = values->type->typlen < 0;
	char	   *copy;

	if (values->type->typbyval)
		return ObjectIdGetDatum(*(const Oid *) content.bytes);
	copy = palloc(content.length + (is_varlena ? VARHDRSZ : 0));
	if (is_varlena)
		SET_VARSIZE(copy, content.length + VARHDRSZ);
	memcpy(copy + (is_varlena ? VARHDRSZ : 0), content.bytes, content.length);
	return PointerGetDatum(copy);
}

/* Get where the content of a copied value is. */
static const char *
copied_content(const EmogiPropertyValues *values, const Datum *value)
{
	if (values->type->typbyval)
		return (const char *) value;
	return (const char *) DatumGetPointer(*value) + (values->type->typlen < 0 ? VARHDRSZ : 0);
}

/* Add a value that occurs for the first time; return its code, -1 = there are too many. */
static int64
add_value(EmogiPropertyValues *values, Content content)
{
	const uint32 code = values->count;
	MemoryContext old;
	Entry	   *entry;
	bool		found;

	if (code == EMOGI_PROPERTY_MAX_VALUES ||
		values->bytes + content.length > EMOGI_PROPERTY_MAX_BYTES)
		return -1;
	old = MemoryContextSwitchTo(values->context);
	if (code == values->room)
	{
		values->room *= 2;
		values->values = repalloc(values->values, values->room * sizeof(Datum));
	}
	values->values[code] = copy_value(values, content);
	if (values->type->typbyval)
		content.bytes = memcpy(palloc(content.length), content.bytes, content.length);
	else
		content.bytes = copied_content(values, &values->values[code]);
	entry = contents_insert(values->table, content, &found);
	entry->code = code;
	MemoryContextSwitchTo(old);
	values->count++;
	values->bytes += content.length;
	return code;
}

/* Get the code of a value, which is added if it is new; -1 = there are too many. */
int64
emogi_property_values_code(EmogiPropertyValues *values, Datum value)
{
	Oid			oid;
	Content		content;
	const Entry *entry;

	if (values->type->typlen < 0)
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	content = content_of(values, value, &oid);
	if (values->last >= 0)
	{
		Oid			last_oid;
		const Content last = content_of(values, values->values[values->last], &last_oid);

		if (is_same(last, content))
			return values->last;
	}
	entry = contents_lookup(values->table, content);
	values->last = entry != NULL ? (int64) entry->code : add_value(values, content);
	return values->last;
}

/* A comparison of values by code. */
typedef struct Comparison
{
	EmogiPropertyValues *values;
	FmgrInfo   *compare;
} Comparison;

static int
compare_codes(const void *a, const void *b, void *arg)
{
	const Comparison *comparison = arg;
	const Datum *values = comparison->values->values;
	const uint32 x = *(const uint32 *) a;
	const uint32 y = *(const uint32 *) b;
	int			order;

	CHECK_FOR_INTERRUPTS();
	order = DatumGetInt32(FunctionCall2Coll(comparison->compare, comparison->values->collation,
											values[x], values[y]));
	return order != 0 ? order : x < y ? -1 : x > y;
}

/* Give the values codes in the order of their type, and replace `codes`; -1 stands for NULL. */
void
emogi_property_values_sort(EmogiPropertyValues *values, int64 *codes, uint64 count)
{
	Comparison	comparison = {values, &values->type->cmp_proc_finfo};
	uint32	   *order = MemoryContextAlloc(values->context, Max(values->count, 1) * sizeof *order);
	int64	   *new_codes = MemoryContextAlloc(values->context,
											   Max(values->count, 1) * sizeof *new_codes);
	Datum	   *sorted = MemoryContextAlloc(values->context,
											Max(values->count, 1) * sizeof *sorted);

	for (uint32 i = 0; i < values->count; i++)
		order[i] = i;
	qsort_arg(order, values->count, sizeof *order, compare_codes, &comparison);
	for (uint32 i = 0; i < values->count; i++)
	{
		sorted[i] = values->values[order[i]];
		new_codes[order[i]] = i;
	}
	for (uint64 i = 0; i < count; i++)
	{
		if (i % CODES_BETWEEN_CHECKS == 0)
			CHECK_FOR_INTERRUPTS();
		codes[i] = codes[i] >= 0 ? new_codes[codes[i]] : 0;
	}
	values->values = sorted;
	pfree(order);
	pfree(new_codes);
}

uint32
emogi_property_values_count(const EmogiPropertyValues *values)
{
	return values->count;
}

/* Get the bytes that a value takes in a dictionary. */
static Size
stored_bytes(const EmogiPropertyValues *values, Datum value)
{
	if (values->type->typbyval)
		return MAXALIGN(sizeof(Oid));
	return MAXALIGN(values->type->typlen > 0 ? values->type->typlen :
					VARSIZE(DatumGetPointer(value)));
}

/* Get the bytes that all values take in a dictionary, without their places. */
Size
emogi_property_values_bytes(const EmogiPropertyValues *values)
{
	Size		bytes = 0;

	for (uint32 i = 0; i < values->count; i++)
		bytes += stored_bytes(values, values->values[i]);
	return bytes;
}

/* Write all values, in their order; places: [count]. */
void
emogi_property_values_write(const EmogiPropertyValues *values, uint32 *places, char *bytes)
{
	Size		place = 0;

	for (uint32 i = 0; i < values->count; i++)
	{
		const Datum value = values->values[i];
		const Oid	oid = values->type->typbyval ? DatumGetObjectId(value) : InvalidOid;

		places[i] = (uint32) place;
		if (values->type->typbyval)
			memcpy(bytes + place, &oid, sizeof oid);
		else
			memcpy(bytes + place, DatumGetPointer(value),
				   values->type->typlen > 0 ? (Size) values->type->typlen :
				   VARSIZE(DatumGetPointer(value)));
		place += stored_bytes(values, value);
	}
}

/* Free a dictionary; NULL = none. */
void
emogi_property_values_free(EmogiPropertyValues *values)
{
	if (values != NULL)
		MemoryContextDelete(values->context);
}
