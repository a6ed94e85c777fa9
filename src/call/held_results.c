/*
 * held_results.c: results and graphs that calls hold, without a slot, while their rows are read
 *
 * A call whose rows are streamed needs the engine worker rarely or never again, but its result and
 * its graph are read until the plan ends, which for an open cursor may take arbitrarily long.
 * Therefore it releases its slot and keeps a held result, of which there are many, until it needs a
 * slot again. Parallel workers that read some of its rows join it; the last to leave frees it.
 */
#include "postgres.h"

#include "cache/cache.h"
#include "call/call.h"
#include "base/arena.h"

/* Find a free held result; NULL if there is none. Caller holds EmogiShared.lock. */
static EmogiHeldResult *
find_free(void)
{
	for (int i = 0; i < EMOGI_NHELD_RESULTS; i++)
		if (emogi_shared->held_results[i].nusers == 0)
			return &emogi_shared->held_results[i];
	return NULL;
}

/* Free a held result that has no memory left. Caller holds EmogiShared.lock. */
static void
free_held_result(int index)
{
	emogi_shared->held_results[index].nusers = 0;
	emogi_shared->held_results[index].token = 0;
	emogi_limits_close_account(EMOGI_NSLOTS + index);
}

/*
 * Move a slot's memory, except its edges, and its pin on a graph into a held result. Return -1,
 * with nothing moved, if none is free. Called by the slot's owner while the worker does not use the
 * slot.
 */
int
emogi_held_results_take(EmogiSlot *slot)
{
	const EmogiAccount *account = &emogi_shared->accounts[slot - emogi_shared->slots];
	EmogiHeldResult *held;
	int			index;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	held = find_free();
	if (held != NULL)
	{
		emogi_limits_open_account(EMOGI_NSLOTS + (int) (held - emogi_shared->held_results),
								  account->pid, account->userid,
								  account->limited);
		held->nusers = 1;
		held->waits = false;
		held->token = slot->token;
		held->graph = slot->graph;
		held->labels_read = slot->labels_read;
		held->finished = false;
		emogi_caller_copy(&held->caller, &slot->caller);
		held->dictionary = slot->dictionary;
		slot->graph = slot->dictionary = -1;
		slot->labels_read = EMOGI_LABELS_UNREAD;
	}
	LWLockRelease(emogi_shared->lock);
	if (held == NULL)
		return -1;
	index = (int) (held - emogi_shared->held_results);
	emogi_arena_transfer_all(EMOGI_OWNER(slot - emogi_shared->slots), EMOGI_OWNER_HELD(index));
	return index;
}

/*
 * Move the memory and pin of a held result into a slot, and free it. Called by its owner, as its
 * only user.
 */
void
emogi_held_results_return(int index, EmogiSlot *slot)
{
	EmogiHeldResult *held = &emogi_shared->held_results[index];

	emogi_arena_transfer_all(EMOGI_OWNER_HELD(index), EMOGI_OWNER(slot - emogi_shared->slots));
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	slot->graph = held->graph;
	slot->labels_read = held->labels_read;
	slot->dictionary = held->dictionary;
	free_held_result(index);
	LWLockRelease(emogi_shared->lock);
}

/* Get the token with which other processes attach to a held result, for its owner. */
uint64
emogi_held_results_token(int index)
{
	EmogiHeldResult *held = &emogi_shared->held_results[index];

	if (held->token == 0)
		emogi_call_set_token(&held->token);
	return held->token;
}

/*
 * Start to use the held result of another process, until emogi_held_results_detach; return false if
 * it is gone.
 */
bool
emogi_held_results_attach(int index, uint64 token)
{
	EmogiHeldResult *held = &emogi_shared->held_results[index];
	bool		is_there;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	is_there = held->nusers > 0 && token != 0 && held->token == token;
	if (is_there)
		held->nusers++;
	LWLockRelease(emogi_shared->lock);
	return is_there;
}

/* Stop using a held result; its last user frees it with all its memory. Raises nothing. */
void
emogi_held_results_detach(int index)
{
	EmogiHeldResult *held = &emogi_shared->held_results[index];
	bool		is_last;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	is_last = held->nusers == 1;
	if (is_last)
		held->token = 0;
	else
		held->nusers--;
	LWLockRelease(emogi_shared->lock);
	if (!is_last)
		return;

	emogi_dictionaries_release(held->dictionary);
	emogi_arena_free_owner(EMOGI_OWNER_HELD(index));
	emogi_cache_labels_release(held->graph, held->labels_read);
	if (held->graph >= 0)
		emogi_cache_unpin(held->graph);
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	free_held_result(index);
	LWLockRelease(emogi_shared->lock);
}

/* Record whether a call waits for a slot, to continue. */
void
emogi_held_results_wait(int index, bool waits)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->held_results[index].waits = waits;
	LWLockRelease(emogi_shared->lock);
}

/*
 * Record whether the last row has been read: such a call is no longer in progress, although it
 * keeps its memory.
 */
void
emogi_held_results_finish(int index, bool finished)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->held_results[index].finished = finished;
	LWLockRelease(emogi_shared->lock);
}
