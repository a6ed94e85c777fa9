/*
 * build_dictionary.c: construction of a dictionary from the keys that a scan has found, and
 * translation of the ends of its edges to codes
 *
 * Keys whose bytes are in order are sorted by the worker. All others are sorted here, with the
 * type's own comparison, which may read the catalogs and raise errors. Keys that compare equal
 * become one vertex, which is represented by the shortest of them, or the first in byte order of
 * several: thus the choice depends only on the set of keys. If a graph is rebuilt, its previous
 * dictionary tells their order (known_order.c).
 *
 * Comparing strings with a collation is slow. Therefore they are sorted by the sort keys of the C
 * library or of ICU, and each is compared with the next: if all these pairs are in order, the whole
 * is. PostgreSQL does not trust sort keys; here they need not be correct.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/sortsupport.h"
#include "utils/typcache.h"

#include "acquire/acquire.h"
#include "base/compat.h"
#include "base/arena.h"
#include "base/extents.h"
#include "contract/pool.h"

/* A dictionary is built beside the keys and a COO only if this many times their memory is free. */
#define MEMORY_FACTOR 2

/* A key to sort. */
typedef struct SortedKey
{
	Datum		datum;			/* of a row: its columns, as a pointer to Datum[nparts] */
	Datum		abbreviated;	/* compared first; the datum if the type has no abbreviation */
	uint64		index;			/* in the list of the table's keys */
} SortedKey;

/* The first bytes of a key's sort key, padded with zeros. */
#define KEY_PREFIX_BYTES 24

typedef struct KeyPrefix
{
	unsigned char bytes[KEY_PREFIX_BYTES];
	uint64		index;			/* in the array of sorted keys */
} KeyPrefix;

typedef struct Sorting
{
	const SortedKey *guessed;	/* the keys that guesses refer to */
	const EmogiTemporaryKey *listed;
	EmogiKeyCoder coder;
	SortSupportData support;	/* not for rows */
	uint64		ncompared;
} Sorting;

/* Compare two keys with the type's comparison only. */
static int
compare_values(Sorting *sorting, const SortedKey *a, const SortedKey *b)
{
	int			order;

	if (sorting->coder.row != NULL)
		return emogi_row_coder_compare(sorting->coder.row,
									   (const Datum *) DatumGetPointer(a->datum),
									   (const Datum *) DatumGetPointer(b->datum));
	order = ApplySortComparator(a->abbreviated, false, b->abbreviated, false, &sorting->support);
	if (order == 0 && sorting->support.abbrev_converter != NULL)
		order = ApplySortAbbrevFullComparator(a->datum, false, b->datum, false, &sorting->support);
	return order;
}

/* Compare two keys; equal ones by length, then by bytes. */
static int
compare(const void *x, const void *y, void *arg)
{
	Sorting    *sorting = arg;
	const SortedKey *a = x;
	const SortedKey *b = y;
	int			order = compare_values(sorting, a, b);
	const EmogiKeyBytes *first = &sorting->listed[a->index].key;
	const EmogiKeyBytes *second = &sorting->listed[b->index].key;

	if ((++sorting->ncompared & 0xFFF) == 0)
		CHECK_FOR_INTERRUPTS();
	if (order != 0)
		return order;
	if (first->length != second->length)
		return first->length < second->length ? -1 : 1;
	return memcmp(first->bytes, second->bytes, first->length);
}

/* ---- sorting by sort keys ---- */

/* Get the first bytes of a string's sort key; return false if there is none. */
static bool
guess(Datum string, Oid collation, StringInfo buffer, unsigned char *bytes)
{
	const text *value = DatumGetTextPP(string);
	char	   *copy = text_to_cstring(value);
	size_t		length = emogi_compat_sort_key(buffer->data, copy, buffer->maxlen, collation);

	if (length >= (size_t) buffer->maxlen)
	{
		enlargeStringInfo(buffer, (int) Min(length + 1, MaxAllocSize / 2));
		length = emogi_compat_sort_key(buffer->data, copy, buffer->maxlen, collation);
	}
	pfree(copy);
	if (length >= (size_t) buffer->maxlen)
		return false;
	memset(bytes, 0, KEY_PREFIX_BYTES);
	memcpy(bytes, buffer->data, Min(length, KEY_PREFIX_BYTES));
	return length > 0 || VARSIZE_ANY_EXHDR(value) == 0;
}

/* Compare two sort keys; if they are equal, compare the keys. */
static int
compare_key_prefixes(const void *x, const void *y, void *arg)
{
	const KeyPrefix *a = x;
	const KeyPrefix *b = y;
	const Sorting *sorting = arg;
	int			order = memcmp(a->bytes, b->bytes, KEY_PREFIX_BYTES);

	return order != 0 ? order :
		compare(&sorting->guessed[a->index], &sorting->guessed[b->index], arg);
}

/* Compute the sort keys of strings; NULL if there are none. */
static KeyPrefix *
make_key_prefixes(const SortedKey *keys, uint64 nkeys, Oid collation)
{
	KeyPrefix	   *guesses = palloc_extended(nkeys * sizeof *guesses, MCXT_ALLOC_HUGE);
	StringInfoData buffer;

	initStringInfo(&buffer);
	for (uint64 i = 0; i < nkeys; i++)
	{
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		guesses[i].index = i;
		if (!guess(keys[i].datum, collation, &buffer, guesses[i].bytes))
			return NULL;
	}
	return guesses;
}

/* Sort strings by their sort keys, which is probably their order; return NULL if they have none. */
static SortedKey *
sort_by_key_prefixes(Sorting *sorting, const SortedKey *keys, uint64 nkeys, Oid collation)
{
	KeyPrefix	   *guesses = make_key_prefixes(keys, nkeys, collation);
	SortedKey  *sorted;

	if (guesses == NULL)
		return NULL;
	sorting->guessed = keys;
	qsort_arg(guesses, nkeys, sizeof *guesses, compare_key_prefixes, sorting);
	sorted = palloc_extended(nkeys * sizeof *sorted, MCXT_ALLOC_HUGE);
	for (uint64 i = 0; i < nkeys; i++)
		sorted[i] = keys[guesses[i].index];
	return sorted;
}

/* Are keys in order? */
static bool
is_sorted(Sorting *sorting, const SortedKey *keys, uint64 nkeys)
{
	for (uint64 i = 1; i < nkeys; i++)
		if (compare(&keys[i - 1], &keys[i], sorting) > 0)
			return false;
	return true;
}

/* Sort keys. For strings with a collation, first try sort keys, and verify the result. */
static SortedKey *
sort_values(Sorting *sorting, SortedKey *keys, uint64 nkeys, const EmogiKeyType *key)
{
	SortedKey  *guessed = NULL;

	if (key->type == TEXTOID && key->class == EMOGI_KEY_EXACT)
		guessed = sort_by_key_prefixes(sorting, keys, nkeys, key->collation);
	if (guessed != NULL && is_sorted(sorting, guessed, nkeys))
		return guessed;
	qsort_arg(keys, nkeys, sizeof *keys, compare, sorting);
	return keys;
}

/* ---- construction ---- */

/* Prepare the type's comparison, with abbreviated keys if it has them. */
static void
init_support(Sorting *sorting, const EmogiKeyType *key)
{
	SortSupport support = &sorting->support;

	support->ssup_cxt = CurrentMemoryContext;
	support->ssup_collation = key->collation;
	support->abbreviate = true;
	PrepareSortSupportFromOrderingOp(lookup_type_cache(key->type, TYPECACHE_LT_OPR)->lt_opr,
									 support);
}

/* Make the Datums to compare. */
static SortedKey *
make_sorted_keys(Sorting *sorting, uint64 nkeys)
{
	SortedKey  *keys = palloc_extended(nkeys * sizeof *keys, MCXT_ALLOC_HUGE);
	EmogiKeyCoder *coder = &sorting->coder;

	for (uint64 i = 0; i < nkeys; i++)
	{
		if (i % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		keys[i].index = i;
		if (coder->row != NULL)
			keys[i].datum =
				PointerGetDatum(emogi_row_coder_values(coder->row, sorting->listed[i].key));
		else
			keys[i].datum = emogi_key_coder_decode(coder, sorting->listed[i].key);
		keys[i].abbreviated = keys[i].datum;
		if (sorting->support.abbrev_converter != NULL)
			keys[i].abbreviated = sorting->support.abbrev_converter(keys[i].datum,
																	&sorting->support);
	}
	return keys;
}

/* Write the sorted keys into memory that the worker can read. */
static void
write_order(Sorting *sorting, const SortedKey *keys, uint64 nkeys, EmogiTemporaryKey *ordered,
			uint8 *is_equal)
{
	for (uint64 i = 0; i < nkeys; i++)
	{
		ordered[i] = sorting->listed[keys[i].index];
		if (is_equal != NULL)
			is_equal[i] = i > 0 && compare_values(sorting, &keys[i - 1], &keys[i]) == 0;
	}
}

/* Get the bytes of scratch memory for the dictionary of a slot's keys. */
static Size
scratch_bytes(const EmogiSlot *slot)
{
	return emogi_dictionary_scratch_bytes(slot->key_table, slot->keys.class != EMOGI_KEY_BYTES,
										  emogi_cpu_threads);
}

/* Free the keys of a scan. */
static void
end_keys(EmogiCall *call)
{
	call->slot->key_table = NULL;
	emogi_arena_free_owner(EMOGI_OWNER_KEYS(call->slot_index));
}

/* Get the bytes of an order and its arrays. */
static Size
order_bytes(uint64 nkeys)
{
	return MAXALIGN(sizeof(EmogiKeyOrder)) + nkeys * sizeof(EmogiTemporaryKey) + nkeys;
}

/*
 * Get a dictionary that tells the order of a slot's keys: that of an earlier graph of its call.
 * NULL = there is none.
 */
static const EmogiDictionary *
find_order(const EmogiSlot *slot)
{
	if (slot->keys.class != EMOGI_KEY_EXACT || slot->dictionary < 0 ||
		!emogi_key_type_equal(emogi_dictionaries_type(slot->dictionary), &slot->keys))
		return NULL;
	return emogi_dictionaries_get(slot->dictionary);
}

/*
 * Sort listed keys: by the order of an earlier dictionary if it has most of them, otherwise by
 * comparisons.
 */
static void
sort_listed(Sorting *sorting, const EmogiSlot *slot, uint64 nkeys, EmogiTemporaryKey *ordered,
			uint8 *is_equal)
{
	const EmogiKeyType *key = &slot->keys;
	const EmogiDictionary *dictionary = find_order(slot);

	emogi_key_coder_init(&sorting->coder, key);
	if (dictionary != NULL &&
		emogi_known_order(dictionary, &sorting->coder, sorting->listed, nkeys, ordered))
		return;
	if (key->nparts == 0)
		init_support(sorting, key);
	write_order(sorting, sort_values(sorting, make_sorted_keys(sorting, nkeys), nkeys, key),
				nkeys, ordered, is_equal);
}

/* Sort the keys of a call's slot, in their memory. Raises 53200, and errors of the comparison. */
static EmogiKeyOrder *
sort_keys(EmogiCall *call)
{
	const EmogiSlot *slot = call->slot;
	const EmogiKeyTable *table = slot->key_table;
	const EmogiKeyType *key = &slot->keys;
	const uint64 nkeys = emogi_key_table_nkeys(table);
	EmogiKeyOrder *order = emogi_arena_alloc_any(EMOGI_OWNER_KEYS(call->slot_index),
												 order_bytes(nkeys));
	EmogiTemporaryKey *ordered = (EmogiTemporaryKey *) ((char *) order + MAXALIGN(sizeof *order));
	uint8	   *is_equal = key->class == EMOGI_KEY_COMPARED ? (uint8 *) (ordered + nkeys) : NULL;
	MemoryContext scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi keys",
												ALLOCSET_DEFAULT_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scrap);
	EmogiTemporaryKey *listed = palloc_extended(nkeys * sizeof *listed, MCXT_ALLOC_HUGE);
	Sorting		sorting = {.listed = listed};

	emogi_key_table_list(table, listed);
	sort_listed(&sorting, slot, nkeys, ordered, is_equal);
	*order = (EmogiKeyOrder) {nkeys, ordered, is_equal};
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scrap);
	return order;
}

/* Allocate an entry and memory for the dictionary of a slot's keys. Raises 53000, 53200. */
static void *
allocate_dictionary(EmogiSlot *slot)
{
	while (!emogi_dictionaries_begin(slot, &slot->keys))
		if (!emogi_call_make_room(0))
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("too many graphs with non-integer vertices are in use"),
					 errdetail("At most %d of them can be in use at the same time.",
							   EMOGI_MAX_DICTIONARIES)));
	return emogi_dictionaries_alloc(slot, emogi_dictionary_bytes(slot->key_table,
																 slot->keys.fixed_length,
																 slot->room_keys));
}

/*
 * Make the dictionary of a slot's tables, which have no keys yet, so that those that come are
 * changes to the empty graph. Raises 53000, 53200.
 */
static void
make_empty_dictionary(EmogiSlot *slot)
{
	const Size	bytes = emogi_dictionary_bytes(slot->key_table, slot->keys.fixed_length,
											   slot->room_keys);
	void	   *memory = allocate_dictionary(slot);

	if (bytes > EMOGI_SMALL_BYTES && !emogi_pool_populate(memory, bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory while building a graph")));
	emogi_dictionaries_finish(slot,
							  emogi_dictionary_make_empty(slot->key_table,
														  slot->keys.fixed_length,
														  slot->room_keys, memory));
}

/*
 * Begin the dictionary of a slot's keys: allocate its memory, and describe it in the slot's
 * request. Its scratch memory belongs to the keys. Raises 53000, 53200.
 */
static void
begin_dictionary(EmogiCall *call, const EmogiKeyOrder *order)
{
	EmogiSlot  *slot = call->slot;
	const uint32 fixed_length = slot->keys.fixed_length;
	EmogiDictionaryInput input = {.table = slot->key_table,.order = order,
								  .fixed_length = fixed_length,.room_keys = slot->room_keys};

	input.memory = allocate_dictionary(slot);
	input.scratch = emogi_arena_alloc_any(EMOGI_OWNER_KEYS(call->slot_index),
										  scratch_bytes(slot));
	slot->request.dictionary = input;
}

/*
 * Begin the dictionary of the keys that a scan has left in a call's slot as temporary numbers, for
 * the slot's next request. Return false if there are no keys; then the slot has no dictionary, or
 * an empty one if the tables are tracked. Raises 53000, 53200, and errors of the comparison of
 * keys.
 */
bool
emogi_build_dictionary_begin(EmogiCall *call, bool tracked)
{
	EmogiSlot  *slot = call->slot;
	const EmogiKeyOrder *order = NULL;

	if (slot->key_table == NULL)
		return false;
	if (emogi_key_table_nkeys(slot->key_table) == 0)
	{
		if (tracked)
			make_empty_dictionary(slot);
		else
			emogi_dictionaries_attach(slot, -1);
		end_keys(call);
		return false;
	}
	emogi_call_phase(call, EMOGI_PHASE_KEYS);
	if (slot->keys.class != EMOGI_KEY_BYTES)
		order = sort_keys(call);
	begin_dictionary(call, order);
	return true;
}

/* Make a dictionary that the worker has built, of all keys among the edges, that of the slot. */
void
emogi_build_dictionary_end(EmogiCall *call, EmogiDictionary *dictionary)
{
	emogi_dictionaries_finish(call->slot, dictionary);
	call->slot->all_codes = true;
	end_keys(call);
}

/*
 * Check whether memory is at hand for the dictionary of a call's keys and for a COO of its edges at
 * once, beside the keys. Otherwise they are made one after the other, and
 * the memory of the keys is free for the COO.
 */
static bool
has_room_for_all(const EmogiCall *call)
{
	const EmogiSlot *slot = call->slot;
	EmogiLimit	limit;
	EmogiEdges	edges;
	uint64		nextents;

	(void) emogi_slot_edges(slot, &edges, palloc);
	pfree((void *) edges.chunks);
	nextents = MEMORY_FACTOR * (edges.nedges * sizeof(EmogiWeightedEdge) +
								emogi_dictionary_bytes(slot->key_table, slot->keys.fixed_length,
													   slot->room_keys) +
								scratch_bytes(slot)) / EMOGI_EXTENT_BYTES + 4;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	limit = emogi_limits_check_memory(&emogi_shared->accounts[call->slot_index], nextents);
	LWLockRelease(emogi_shared->lock);
	return limit == EMOGI_WITHIN_LIMITS && nextents <= emogi_extents_free();
}

/*
 * If memory is short, have the worker build the dictionary of the keys in a call's slot, in a
 * request of its own, so that the memory of the keys is free before the next step. Otherwise the
 * request for the graph builds it. Raises what emogi_build_dictionary_begin does.
 */
void
emogi_build_dictionary_if_short(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;

	if (slot->key_table == NULL || emogi_key_table_nkeys(slot->key_table) == 0 ||
		has_room_for_all(call) || !emogi_build_dictionary_begin(call, false))
		return;
	slot->request.kind = EMOGI_REQUEST_DICTIONARY;
	emogi_build_dictionary_end(call, emogi_call_request(call)->dictionary);
}
