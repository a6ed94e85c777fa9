/*
 * own_keys.c: codes of the keys of rows that the session has inserted since its last call, if keys
 * are not integers
 *
 * Only the holder of a change tracker may add keys to its dictionary. These calls have pinned a
 * graph, so they do not wait for another holder, but leave the rows to a refresh. Rule O10:
 * docs/design/incremental-graphs.md, "Own changes".
 */
#include "postgres.h"

#include "changes/own_changes.h"

/* Prepare to encode the keys of a graph, until the catalogs change. */
static void
prepare(EmogiOwnChanges *own)
{
	MemoryContext old = MemoryContextSwitchTo(own->context);

	own->coder_prepared = 0;
	emogi_key_coder_init(&own->coder, &own->key.keys);
	MemoryContextSwitchTo(old);
	own->coder_prepared = own->catalogs;
}

/*
 * Begin to read keys for a call that has a slot. dictionary: index of that of the pinned graph that
 * the kept changes are applied to; -1 = keys are integers.
 */
void
emogi_own_keys_begin(EmogiOwnKeys *keys, EmogiOwnChanges *own, EmogiCall *call, int dictionary)
{
	*keys = (EmogiOwnKeys) {.own = own,.index = dictionary,
							.dictionary = emogi_dictionaries_get(dictionary)};
	if (dictionary < 0)
		return;
	keys->slot = call->slot;
	keys->slot->out_of_codes = false;
	if (own->coder_prepared != own->catalogs)
		prepare(own);
}

/* Hold the tracker of the dictionary; return false if another call does, or it has another. */
static bool
hold(EmogiOwnKeys *keys)
{
	const EmogiChangeTracker *tracker;

	if (!keys->is_held)
	{
		tracker = emogi_change_tracker_try_hold(keys->slot, &keys->own->key);
		keys->is_held = tracker != NULL;
		keys->may_add = tracker != NULL && tracker->id == keys->own->state_id &&
			tracker->phase == EMOGI_TRACKER_READY && tracker->dictionary == keys->index;
	}
	return keys->may_add;
}

/* Get the code of a key, which is added if it is new; return false if that is impossible. */
static bool
get_code(EmogiOwnKeys *keys, Datum key, int64 *code)
{
	EmogiKeyCoder *coder = &keys->own->coder;
	const EmogiKeyBytes bytes = emogi_key_coder_encode(coder, key);

	*code = emogi_dictionary_find(keys->dictionary, bytes);
	if (*code == EMOGI_NO_CODE && hold(keys))
		*code = emogi_sink_add_key(keys->slot, keys->index, coder, bytes);
	return *code != EMOGI_NO_CODE;
}

/*
 * Get the codes of the ends of a row; *is_edge = false if one is a row with a NULL. Return false if
 * the dictionary has none for a key, or another call adds keys. Raises the errors of a scan.
 */
bool
emogi_own_keys_get(EmogiOwnKeys *keys, Datum src, Datum dst, EmogiWeightedEdge *edge,
				   bool *is_edge)
{
	EmogiKeyCoder *coder = &keys->own->coder;

	*is_edge = !emogi_key_coder_has_null(coder, src) && !emogi_key_coder_has_null(coder, dst);
	return !*is_edge || (get_code(keys, src, &edge->src) && get_code(keys, dst, &edge->dst));
}

/* Release the tracker, if it was held. */
void
emogi_own_keys_end(EmogiOwnKeys *keys)
{
	if (keys->is_held)
		emogi_change_tracker_release(keys->slot);
}
