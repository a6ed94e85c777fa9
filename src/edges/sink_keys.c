/*
 * sink_keys.c: edges whose ends are not integers
 *
 * In a build, each scanning process turns ends into temporary numbers of the slot's key table;
 * after the scan, build_dictionary.c has a dictionary built from the table, and the numbers
 * translated to its codes. A page rescan already has a dictionary: ends are translated to its codes
 * at once, and new keys are added.
 *
 * Keys are looked up in batches, because each look-up costs one or two cache misses.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "cache/cache.h"
#include "edges/edges.h"
#include "edges/sink.h"
#include "base/arena.h"

/* Room in a new dictionary for each key that the transaction has added to a full one. */
#define ROOM_FACTOR 4

/* Maximum number of dictionaries for which such keys are counted. */
#define MAX_ADDED 8

/* Bytes of a long key that take the room of one key. */
#define KEY_BYTES 16

/* ---- start ---- */

/*
 * Start to collect edges in a call's slot, whose ends have keys of this type. dictionary: index of
 * the dictionary with their codes; -1 = it is built later. secure_hash: use a hash that no choice
 * of keys can make slow.
 */
void
emogi_sink_begin(EmogiCall *call, const EmogiKeyType *keys, EmogiWeights weights, int dictionary,
				 bool secure_hash)
{
	EmogiSlot  *slot = call->slot;
	uint64		words[4];

	slot->weights = weights;
	slot->keys = *keys;
	slot->key_table = NULL;
	slot->all_codes = slot->out_of_codes = false;
	if (dictionary >= 0)
		slot->room_keys = 0;
	if (keys->class == EMOGI_KEY_INTEGER)
		return;
	if (dictionary >= 0)
	{
		if (slot->dictionary != dictionary)
			emogi_dictionaries_attach(slot, dictionary);
		return;
	}
	if (!pg_strong_random(words, sizeof words))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random numbers")));
	slot->key_table = emogi_arena_alloc_any(EMOGI_OWNER_KEYS(call->slot_index),
											emogi_key_table_bytes());
	emogi_key_table_init(slot->key_table, words, secure_hash);
}

/* Allocate memory for the keys that a process finds; an EmogiKeyAlloc. Raises 53200. */
static void *
allocate(void *arg, size_t bytes)
{
	return emogi_arena_alloc_any(EMOGI_OWNER_KEYS((EmogiSlot *) arg - emogi_shared->slots), bytes);
}

/* Prepare a sink for the kind of keys that its slot collects. */
void
emogi_sink_open_keys(EmogiSink *sink)
{
	EmogiSlot  *slot = sink->slot;

	if (slot->keys.class == EMOGI_KEY_INTEGER)
		return;
	sink->has_keys = true;
	emogi_key_coder_init(&sink->coder, &slot->keys);
	if (slot->key_table != NULL)
		sink->filler = (EmogiKeyFiller) {.table = slot->key_table,.alloc = allocate,.arg = slot};
	else
		sink->dictionary = emogi_dictionaries_get(slot->dictionary);
}

/* ---- edges ---- */

/* Get the text of a key, for messages. */
char *
emogi_sink_key_text(const EmogiSink *sink, Datum key)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(sink->coder.key.type, &output, &is_varlena);
	return OidOutputFunctionCall(output, key);
}

/*
 * Get temporary numbers for the keys of the batch; return false if they are no longer needed.
 * Raises 54000, 53200.
 */
static bool
number_keys(EmogiSink *sink, int64 *ends)
{
	uint32		numbers[EMOGI_KEYS_IN_FLIGHT];

	switch (emogi_key_filler_put(&sink->filler, sink->batch, sink->nbatch, numbers))
	{
		case EMOGI_KEYS_PUT:
			break;
		case EMOGI_KEYS_COLLISIONS:
			return false;		/* everything is read again */
		case EMOGI_KEYS_TOO_MANY:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("the graph has more than %llu vertices",
							(unsigned long long) EMOGI_MAX_VERTICES)));
	}
	for (int i = 0; i < sink->nbatch; i++)
		ends[i] = numbers[i];
	return true;
}

/*
 * The keys that the current transaction has added to a dictionary. A new dictionary must hold them,
 * too, but not those of transactions that were rolled back.
 */
typedef struct AddedKeys
{
	TransactionId transaction;	/* invalid: it has written nothing, and others see all keys */
	const EmogiDictionary *dictionary;
	uint64		count;
} AddedKeys;

static AddedKeys added_keys[MAX_ADDED];

/* Find the count of the current transaction's keys in a dictionary; NULL if there is none. */
static AddedKeys *
find_added(const EmogiDictionary *dictionary)
{
	const TransactionId transaction = GetTopTransactionIdIfAny();

	for (int i = 0; i < MAX_ADDED; i++)
		if (added_keys[i].dictionary == dictionary && added_keys[i].transaction == transaction)
			return &added_keys[i];
	return NULL;
}

/* Count a key that was added. */
static void
count_added(const EmogiDictionary *dictionary)
{
	static uint32 oldest = 0;
	AddedKeys  *added = find_added(dictionary);

	if (added == NULL)
	{
		added = &added_keys[oldest++ % MAX_ADDED];
		*added = (AddedKeys) {GetTopTransactionIdIfAny(), dictionary, 0};
	}
	added->count++;
}

/*
 * Compute the room for added keys in the next dictionary if this one is full: ROOM_FACTOR times the
 * keys that the current transaction needs, because a dictionary built for others has none of them.
 */
static uint64
plan_room(const EmogiDictionary *dictionary, EmogiKeyBytes key)
{
	const AddedKeys *added = find_added(dictionary);
	const bool	own = added != NULL && TransactionIdIsValid(added->transaction);

	return ROOM_FACTOR * (own ? added->count : 0) + key.length / KEY_BYTES + 1;
}

/*
 * Get the code of a key that was just not found in a dictionary, whose tracker the call holds, and
 * add the key; EMOGI_NO_CODE if the dictionary has no codes left, which slot->out_of_codes records.
 */
int64
emogi_sink_add_key(EmogiSlot *slot, int index, EmogiKeyCoder *coder, EmogiKeyBytes key)
{
	EmogiDictionary *dictionary = emogi_dictionaries_get(index);
	int64		code = emogi_dictionary_find(dictionary, key);

	if (code == EMOGI_NO_CODE && !slot->out_of_codes &&
		(emogi_dictionary_room_bytes(dictionary) == 0 || emogi_dictionaries_allocate_room(index)))
	{
		if (!emogi_dictionary_has_room(dictionary, key))
			slot->room_keys = plan_room(dictionary, key);
		code = emogi_dictionary_add(dictionary, key, emogi_key_coder_compare, coder);
		if (code != EMOGI_NO_CODE)
			count_added(dictionary);
	}
	slot->out_of_codes |= code == EMOGI_NO_CODE;
	return code;
}

/* Get the codes of the keys of the batch; arbitrary ones if the dictionary has no codes left. */
static void
code_keys(EmogiSink *sink, int64 *ends)
{
	emogi_dictionary_find_many(sink->dictionary, sink->batch, sink->nbatch, ends);
	for (int i = 0; i < sink->nbatch; i++)
		if (unlikely(ends[i] == EMOGI_NO_CODE))
			ends[i] = emogi_sink_add_key(sink->slot, sink->slot->dictionary, &sink->coder,
										 sink->batch[i]);
}

/* Put the edges of the batch into the arena. Raises 53200 and 54000. */
void
emogi_sink_flush(EmogiSink *sink)
{
	int64		ends[EMOGI_KEYS_IN_FLIGHT];
	bool		wanted = true;

	if (sink->nbatch == 0)
		return;
	if (sink->dictionary != NULL)
		code_keys(sink, ends);
	else
		wanted = number_keys(sink, ends);
	for (int i = 0; i < sink->nbatch && wanted; i += 2)
	{
		emogi_sink_switch(sink, sink->batch_is_vertex[i / 2]);
		if (sink->isolated)
			emogi_sink_put_vertex(sink, ends[i]);
		else if (sink->weights == EMOGI_WEIGHTS_UNUSED)
			emogi_sink_put(sink, ends[i], ends[i + 1]);
		else
			emogi_sink_put_weighted(sink, ends[i], ends[i + 1], sink->batch_weights[i / 2]);
	}
	sink->nbatch = 0;
	sink->batch_bytes = 0;
}

/* Get the bytes of a key, copied if its Datum is freed before the sink is flushed. */
static EmogiKeyBytes
encode(EmogiSink *sink, Datum key, bool is_temporary)
{
	EmogiKeyBytes bytes = emogi_key_coder_encode(&sink->coder, key);
	char	   *copy;

	if (!is_temporary)
		return bytes;
	copy = MemoryContextAlloc(sink->scrap, Max(bytes.length, 1));
	memcpy(copy, bytes.bytes, bytes.length);
	return (EmogiKeyBytes) {copy, bytes.length};
}

/*
 * Append the two ends of an edge, or a vertex twice, to a sink's batch, and flush it if it is full.
 */
static void
put_ends(EmogiSink *sink, Datum src, Datum dst, double weight, bool isolated)
{
	const bool	is_temporary = sink->scrap != NULL;

	sink->batch[sink->nbatch] = encode(sink, src, is_temporary);
	sink->batch[sink->nbatch + 1] = isolated ? sink->batch[sink->nbatch] :
		encode(sink, dst, is_temporary);
	sink->batch_weights[sink->nbatch / 2] = weight;
	sink->batch_is_vertex[sink->nbatch / 2] = isolated;
	sink->batch_bytes += sink->batch[sink->nbatch].length + sink->batch[sink->nbatch + 1].length;
	sink->nbatch += 2;
	if (sink->nbatch < EMOGI_KEYS_IN_FLIGHT && sink->batch_bytes < EMOGI_MAX_KEY_BYTES)
		return;
	emogi_sink_flush(sink);
	if (is_temporary)
		MemoryContextReset(sink->scrap);
}

/*
 * Append an edge to a sink with keys that are not integers, and a weight if the sink has weights.
 * If sink->scrap is set, the Datums are freed before the sink is flushed by its owner, and their
 * bytes are copied there; NULL = they are not freed. Raises 22023, 53200 and 54000.
 */
void
emogi_sink_put_keys(EmogiSink *sink, Datum src, Datum dst, double weight)
{
	if (sink->weights != EMOGI_WEIGHTS_UNUSED &&
		unlikely(!emogi_weight_fits(sink->weights, weight)))
		emogi_sink_refuse_weight(sink, emogi_sink_key_text(sink, src),
								 emogi_sink_key_text(sink, dst), weight);
	put_ends(sink, src, dst, weight, false);
}

/*
 * Is one of two ends a row with a NULL? Then there is no edge, as with an end that is NULL. Raises
 * 42804.
 */
bool
emogi_sink_is_null_row(EmogiSink *sink, Datum src, Datum dst)
{
	return emogi_key_coder_has_null(&sink->coder, src) ||
		emogi_key_coder_has_null(&sink->coder, dst);
}

/* Raise 22004 for an edge without a weight, whose ends are not integers. */
void
emogi_sink_refuse_null_of_keys(const EmogiSink *sink, Datum src, Datum dst)
{
	emogi_sink_refuse_null_weight(sink, emogi_sink_key_text(sink, src),
								  emogi_sink_key_text(sink, dst));
}

/* ---- the aggregate ---- */

PG_FUNCTION_INFO_V1(emogi_sink_transition_keys);
PG_FUNCTION_INFO_V1(emogi_sink_transition_keys_vertices);
PG_FUNCTION_INFO_V1(emogi_sink_transition_rows);
PG_FUNCTION_INFO_V1(emogi_sink_transition_rows_vertices);

/* Open the sink of an aggregate on its slot. rows, vertices, weighted: its declared arguments. */
static void
open_aggregate(EmogiSink *sink, FunctionCallInfo fcinfo, bool rows, bool vertices, bool weighted)
{
	MemoryContext context;
	MemoryContext old;

	if (!AggCheckCallContext(fcinfo, &context))
		emogi_sink_refuse_caller();
	old = MemoryContextSwitchTo(context);
	emogi_sink_open_load(sink, fcinfo, true, vertices, weighted);
	if (rows != (sink->coder.row != NULL) ||
		(!rows && get_fn_expr_argtype(fcinfo->flinfo, 2) != sink->coder.key.type))
		emogi_sink_refuse_caller();
	sink->scrap = AllocSetContextCreate(context, "emogi keys", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(old);
}

/* Is an argument of an aggregate a vertex, neither NULL nor a row with a NULL? */
static bool
is_vertex(EmogiSink *sink, FunctionCallInfo fcinfo, int n)
{
	return !PG_ARGISNULL(n) && !emogi_key_coder_has_null(&sink->coder, PG_GETARG_DATUM(n));
}

/*
 * Process a row of an aggregate; rows: its ends are declared as record. vertex: number of the
 * argument that is a vertex; 0 = none.
 */
static Datum
process_row(FunctionCallInfo fcinfo, bool rows, int vertex)
{
	EmogiSink  *sink = emogi_sink_state(fcinfo);
	const int	weight = vertex > 0 ? 5 : 4;
	const bool	weighted = PG_NARGS() > weight;
	bool		has_vertex;

	if (sink->slot == NULL)
		open_aggregate(sink, fcinfo, rows, vertex > 0, weighted);
	has_vertex = vertex > 0 && is_vertex(sink, fcinfo, vertex);
	if (has_vertex)
		put_ends(sink, PG_GETARG_DATUM(vertex), 0, 0, true);
	if (!is_vertex(sink, fcinfo, 2) || !is_vertex(sink, fcinfo, 3))
		sink->nskipped += !has_vertex;
	else if (weighted && PG_ARGISNULL(weight))
		emogi_sink_refuse_null_of_keys(sink, PG_GETARG_DATUM(2), PG_GETARG_DATUM(3));
	else if (!weighted || !sink->both_ways || emogi_cost_has_edge(PG_GETARG_FLOAT8(weight)))
		emogi_sink_put_keys(sink, PG_GETARG_DATUM(2), PG_GETARG_DATUM(3),
							weighted ? PG_GETARG_FLOAT8(weight) : 0);
	PG_RETURN_POINTER(sink);
}

/*
 * emogi_sink_transition_keys(state internal, token bigint, src anyelement, dst anyelement [, weight
 * float8]) -> internal
 */
Datum
emogi_sink_transition_keys(PG_FUNCTION_ARGS)
{
	return process_row(fcinfo, false, 0);
}

/*
 * emogi_sink_transition_keys_vertices(state internal, token bigint, src anyelement, dst anyelement,
 * vertex anyelement [, weight float8]) -> internal
 */
Datum
emogi_sink_transition_keys_vertices(PG_FUNCTION_ARGS)
{
	return process_row(fcinfo, false, 4);
}

/*
 * emogi_sink_transition_rows(state internal, token bigint, src record, dst record [, weight
 * float8]) -> internal
 */
Datum
emogi_sink_transition_rows(PG_FUNCTION_ARGS)
{
	return process_row(fcinfo, true, 0);
}

/*
 * emogi_sink_transition_rows_vertices(state internal, token bigint, src record, dst record, vertex
 * record [, weight float8]) -> internal
 */
Datum
emogi_sink_transition_rows_vertices(PG_FUNCTION_ARGS)
{
	return process_row(fcinfo, true, 4);
}
