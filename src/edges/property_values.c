/*
 * property_values.c: number the different values of a column, by all processes that read it.
 *
 * The dictionary is in the arena, and belongs to the call's slot: its memory counts for the limits
 * of the call's role before it is used. Values are told apart by their bytes, so that values that
 * are equal for the type, as 1.0 and 1.00 are, have codes of their own.
 *
 * The hash table is open-addressed and only grows in values, so that it needs no lock: a process
 * writes a value and its place, and then publishes the code in an empty slot by compare-and-swap.
 * If another process was faster, the value is looked for again, and a code may stay without rows.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "analysis/column_values.h"
#include "base/arena.h"
#include "edges/property_scan.h"

/* Values are stored in chunks, none of which a value may exceed. */
#define CHUNK_BYTES EMOGI_EXTENT_BYTES
#define MAX_CHUNKS (EMOGI_PROPERTY_MAX_BYTES / CHUNK_BYTES)

/* Codes that processes may lose to each other, in a table of few rows. */
#define SPARE_CODES 64

/* Values between two checks for cancellation. */
#define BETWEEN_CHECKS 4096

struct EmogiPropertyValues
{
	Size		bytes;			/* of this block */
	EmogiOwner	owner;			/* of the chunks */
	int16		length;			/* of the type */
	bool		by_value;
	uint32		mask;			/* slots - 1 */
	uint32		max_values;
	uint32	   *places;			/* [max_values], of values in the chunks */
	pg_atomic_uint32 count;		/* may exceed max_values */
	pg_atomic_uint64 used;		/* bytes of the chunks */
	pg_atomic_uint64 chunks[MAX_CHUNKS];	/* addresses; 0 = not allocated */
	/* hash in the upper, code + 1 in the lower half; 0 = empty */
	pg_atomic_uint64 slots[FLEXIBLE_ARRAY_MEMBER];	/* [mask + 1] */
};

/* The content of a value, without its header. */
typedef struct Content
{
	const char *bytes;
	uint32		length;
} Content;

/* Make an empty dictionary for a column of at most so many rows. Raises 53200. */
EmogiPropertyValues *
emogi_property_values_make(EmogiCall *call, const EmogiColumnIdentity *identity, uint64 nrows)
{
	const TypeCacheEntry *type = lookup_type_cache(identity->type, 0);
	const uint32 max_values = (uint32) Min(nrows + SPARE_CODES, EMOGI_PROPERTY_MAX_VALUES);
	const uint32 nslots = pg_nextpower2_32(2 * max_values);
	const Size	bytes = offsetof(EmogiPropertyValues, slots) + nslots * sizeof(uint64) +
		max_values * sizeof(uint32);
	EmogiPropertyValues *values = emogi_call_alloc(call, bytes);

	emogi_property_scan_populate(values, bytes);
	values->bytes = bytes;
	values->owner = EMOGI_OWNER(call->slot_index);
	values->length = type->typlen;
	values->by_value = type->typbyval;
	values->mask = nslots - 1;
	values->max_values = max_values;
	values->places = (uint32 *) &values->slots[nslots];
	pg_atomic_init_u32(&values->count, 0);
	pg_atomic_init_u64(&values->used, 0);
	for (int i = 0; i < MAX_CHUNKS; i++)
		pg_atomic_init_u64(&values->chunks[i], 0);
	return values;
}

/* ---- values ---- */

/* Get the bytes that a value with so long a content takes. */
static Size
stored_bytes(const EmogiPropertyValues *values, uint32 length)
{
	return MAXALIGN(length + (values->length < 0 ? VARHDRSZ : 0));
}

/* Get where a value is. */
static char *
find_value(const EmogiPropertyValues *values, uint32 code)
{
	const uint32 place = values->places[code];
	pg_atomic_uint64 *chunk = (pg_atomic_uint64 *) &values->chunks[place / CHUNK_BYTES];

	return (char *) pg_atomic_read_u64(chunk) + place % CHUNK_BYTES;
}

/* Get the content of a value; *oid: room for one that is passed by value. */
static Content
content_of(const EmogiPropertyValues *values, Datum value, Oid *oid)
{
	if (values->by_value)
	{
		*oid = DatumGetObjectId(value);
		return (Content) {(const char *) oid, sizeof *oid};
	}
	if (values->length > 0)
		return (Content) {DatumGetPointer(value), (uint32) values->length};
	return (Content) {VARDATA_ANY(DatumGetPointer(value)),
					  (uint32) VARSIZE_ANY_EXHDR(DatumGetPointer(value))};
}

/* Get the content of a stored value. */
static Content
stored_content(const EmogiPropertyValues *values, uint32 code)
{
	const char *value = find_value(values, code);

	if (values->by_value)
		return (Content) {value, sizeof(Oid)};
	if (values->length > 0)
		return (Content) {value, (uint32) values->length};
	return (Content) {VARDATA(value), VARSIZE(value) - VARHDRSZ};
}

static inline bool
is_same(Content a, Content b)
{
	return a.length == b.length && memcmp(a.bytes, b.bytes, a.length) == 0;
}

/* Get the memory of a chunk, which is allocated if it is new. Raises 53200. */
static char *
get_chunk(EmogiPropertyValues *values, uint64 number)
{
	uint64		address = pg_atomic_read_u64(&values->chunks[number]);
	char	   *memory;

	if (address != 0)
		return (char *) address;
	memory = emogi_arena_alloc_any(values->owner, CHUNK_BYTES);
	emogi_property_scan_populate(memory, CHUNK_BYTES);
	if (pg_atomic_compare_exchange_u64(&values->chunks[number], &address, (uint64) memory))
		return memory;
	emogi_arena_free(memory, CHUNK_BYTES);
	return (char *) address;
}

/* Reserve bytes within one chunk; false if there are too many. */
static bool
reserve(EmogiPropertyValues *values, Size bytes, uint32 *place)
{
	uint64		used = pg_atomic_read_u64(&values->used);
	uint64		start;

	if (bytes > CHUNK_BYTES)
		return false;
	do
	{
		start = used / CHUNK_BYTES == (used + bytes - 1) / CHUNK_BYTES ? used :
			TYPEALIGN(CHUNK_BYTES, used);
		if (start + bytes > EMOGI_PROPERTY_MAX_BYTES)
			return false;
	} while (!pg_atomic_compare_exchange_u64(&values->used, &used, start + bytes));
	*place = (uint32) start;
	return true;
}

/* Store a value, with a code that no slot has yet; -1 = there are too many. */
static int64
store(EmogiPropertyValues *values, Content content)
{
	const Size	bytes = Max(stored_bytes(values, content.length), MAXIMUM_ALIGNOF);
	uint32		place;
	uint32		code;
	char	   *value;

	if (pg_atomic_read_u32(&values->count) >= values->max_values ||
		!reserve(values, bytes, &place) ||
		(code = pg_atomic_fetch_add_u32(&values->count, 1)) >= values->max_values)
		return -1;
	value = get_chunk(values, place / CHUNK_BYTES) + place % CHUNK_BYTES;
	values->places[code] = place;
	if (values->length < 0)
	{
		SET_VARSIZE(value, content.length + VARHDRSZ);
		value += VARHDRSZ;
	}
	memcpy(value, content.bytes, content.length);
	return code;
}

/* Get the code of a content, which is added if it is new; -1 = there are too many. */
static int64
find_or_store(EmogiPropertyValues *values, Content content)
{
	const uint32 hash = hash_bytes((const unsigned char *) content.bytes, (int) content.length);
	int64		code = -1;

	for (uint32 i = hash & values->mask;; i = (i + 1) & values->mask)
	{
		uint64		slot = pg_atomic_read_u64(&values->slots[i]);

		if (slot == 0)
		{
			if (code < 0 && (code = store(values, content)) < 0)
				return -1;
			if (pg_atomic_compare_exchange_u64(&values->slots[i], &slot,
											   (uint64) hash << 32 | (uint32) (code + 1)))
				return code;
		}
		pg_read_barrier();		/* the value, after its code */
		if (slot >> 32 == hash &&
			is_same(stored_content(values, (uint32) slot - 1), content))
			return (uint32) slot - 1;
	}
}

/*
 * Get the code of a value, which is added if it is new; -1 = there are too many. *last: code of the
 * last value that this process has found; -1 = none. Raises 53200.
 */
int64
emogi_property_values_code(EmogiPropertyValues *values, Datum value, int64 *last)
{
	const Datum given = value;
	Oid			oid;
	Content		content;

	if (values->length < 0)
		value = PointerGetDatum(PG_DETOAST_DATUM_PACKED(value));
	content = content_of(values, value, &oid);
	if (*last < 0 || !is_same(stored_content(values, (uint32) *last), content))
		*last = find_or_store(values, content);
	if (value != given)
		pfree(DatumGetPointer(value));	/* a page may have many toasted values */
	return *last;
}

/* ---- after the scan ---- */

uint32
emogi_property_values_count(const EmogiPropertyValues *values)
{
	return Min(pg_atomic_read_u32((pg_atomic_uint32 *) &values->count), values->max_values);
}

/* Get the Datum of a value. */
static Datum
get_datum(const EmogiPropertyValues *values, uint32 code)
{
	const char *value = find_value(values, code);

	return values->by_value ? ObjectIdGetDatum(*(const Oid *) value) : PointerGetDatum(value);
}

/* A comparison of values by code. */
typedef struct Comparison
{
	const EmogiPropertyValues *values;
	SortSupportData support;
} Comparison;

static int
compare_codes(const void *a, const void *b, void *arg)
{
	Comparison *comparison = arg;
	const uint32 x = *(const uint32 *) a;
	const uint32 y = *(const uint32 *) b;
	int			order;

	CHECK_FOR_INTERRUPTS();
	order = ApplySortComparator(get_datum(comparison->values, x), false,
								get_datum(comparison->values, y), false, &comparison->support);
	return order != 0 ? order : x < y ? -1 : x > y;
}

/* Get the codes in the order of their values, in the current context. */
uint32 *
emogi_property_values_sort(const EmogiPropertyValues *values, const EmogiColumnIdentity *identity)
{
	const uint32 count = emogi_property_values_count(values);
	const TypeCacheEntry *type = lookup_type_cache(identity->type, TYPECACHE_LT_OPR);
	Comparison	comparison = {.values = values};
	uint32	   *order = palloc(Max(count, 1) * sizeof *order);

	comparison.support.ssup_cxt = CurrentMemoryContext;
	comparison.support.ssup_collation = identity->collation;
	PrepareSortSupportFromOrderingOp(type->lt_opr, &comparison.support);
	for (uint32 i = 0; i < count; i++)
		order[i] = i;
	qsort_arg(order, count, sizeof *order, compare_codes, &comparison);
	return order;
}

#define ST_SORT sort_hashes
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DECLARE
#define ST_DEFINE
#include "lib/sort_template.h"

/* Get EmogiColumn.hashes: the hash of each value by its type, with its code, ascending. */
void
emogi_property_values_hash(const EmogiPropertyValues *values, const EmogiColumnIdentity *identity,
						   uint64 *hashes)
{
	const uint32 count = emogi_property_values_count(values);
	TypeCacheEntry *type = lookup_type_cache(identity->type, TYPECACHE_HASH_PROC_FINFO);

	for (uint32 i = 0; i < count; i++)
	{
		if (i % BETWEEN_CHECKS == 0)
			CHECK_FOR_INTERRUPTS();
		hashes[i] = emogi_column_values_hash(type, identity->collation, get_datum(values, i)) | i;
	}
	sort_hashes(hashes, count);
}

/* Get the bytes that all values take in a dictionary, without their places. */
Size
emogi_property_values_bytes(const EmogiPropertyValues *values)
{
	const uint32 count = emogi_property_values_count(values);
	Size		bytes = 0;

	for (uint32 i = 0; i < count; i++)
		bytes += stored_bytes(values, stored_content(values, i).length);
	return bytes;
}

/* Write all values, in this order, or in that of their codes if it is NULL; places: [count]. */
void
emogi_property_values_write(const EmogiPropertyValues *values, const uint32 *order,
							uint32 *places, char *bytes)
{
	const uint32 count = emogi_property_values_count(values);
	Size		place = 0;

	for (uint32 i = 0; i < count; i++)
	{
		const uint32 code = order != NULL ? order[i] : i;
		const Size	stored = stored_bytes(values, stored_content(values, code).length);

		places[i] = (uint32) place;
		memcpy(bytes + place, find_value(values, code), stored);
		place += stored;
	}
}

/* Free a dictionary; NULL = none. */
void
emogi_property_values_free(EmogiPropertyValues *values)
{
	if (values == NULL)
		return;
	for (int i = 0; i < MAX_CHUNKS; i++)
	{
		const uint64 address = pg_atomic_read_u64(&values->chunks[i]);

		if (address != 0)
			emogi_arena_free((void *) address, CHUNK_BYTES);
	}
	emogi_arena_free(values, values->bytes);
}
