/*
 * held_results.c: what calls keep while their rows are read, without a slot.
 *
 * A call whose rows are streamed asks the engine worker for nothing for a while, or for ever, but
 * its Result and its Graph are read until the plan ends, which for an open cursor may take as long
 * as its session likes. So it gives its slot back and keeps a holding, of which there are many,
 * until it wants a slot again. Parallel workers that read some of its rows join it; the last to
 * leave frees it.
 */
#include "postgres.h"

#include "cache/cache.h"
#include "call/call.h"
#include "base/arena.h"

/* Find a holding that is free; NULL when there is none. Caller holds EmogiShared.lock. */
static EmogiHeldResult *
find_free(void)
{
	for (int i = 0; i < EMOGI_NHOLDINGS; i++)
		if (emogi_shared->holdings[i].nusers == 0)
			return &emogi_shared->holdings[i];
	return NULL;
}

/* Free a holding that has nothing any more. Caller holds EmogiShared.lock. */
static void
free_holding(int index)
{
	emogi_shared->holdings[index].nusers = 0;
	emogi_shared->holdings[index].token = 0;
	emogi_limits_close_account(EMOGI_NSLOTS + index);
}

/*
 * Move what a slot has, its memory but for edges and its pin on a Graph, into a holding; -1, with
 * nothing moved, when there is none free. The slot's owner calls, while the worker is not at it.
 */
int
emogi_held_results_take(EmogiSlot *slot)
{
	const EmogiAccount *account = &emogi_shared->accounts[slot - emogi_shared->slots];
	EmogiHeldResult *holding;
	int			index;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	holding = find_free();
	if (holding != NULL)
	{
		emogi_limits_open_account(EMOGI_NSLOTS + (int) (holding - emogi_shared->holdings),
								  account->pid, account->userid,
								  account->limited);
		holding->nusers = 1;
		holding->waits = false;
		holding->token = slot->token;
		holding->graph = slot->graph;
		holding->finished = false;
		holding->caller = slot->caller;
		holding->dictionary = slot->dictionary;
		slot->graph = slot->dictionary = -1;
	}
	LWLockRelease(emogi_shared->lock);
	if (holding == NULL)
		return -1;
	index = (int) (holding - emogi_shared->holdings);
	emogi_arena_give_all(EMOGI_OWNER(slot - emogi_shared->slots), EMOGI_OWNER_HOLDING(index));
	return index;
}

/* Move what a holding has into a slot, and free it. Its owner calls, who alone uses it. */
void
emogi_held_results_return(int index, EmogiSlot *slot)
{
	EmogiHeldResult *holding = &emogi_shared->holdings[index];

	emogi_arena_give_all(EMOGI_OWNER_HOLDING(index), EMOGI_OWNER(slot - emogi_shared->slots));
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	slot->graph = holding->graph;
	slot->dictionary = holding->dictionary;
	free_holding(index);
	LWLockRelease(emogi_shared->lock);
}

/*
 * Use what a call of another process keeps, until emogi_held_results_leave; false when it keeps it
 * no more.
 */
bool
emogi_held_results_join(int index, uint64 token)
{
	EmogiHeldResult *holding = &emogi_shared->holdings[index];
	bool		is_there;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	is_there = holding->nusers > 0 && holding->token == token;
	if (is_there)
		holding->nusers++;
	LWLockRelease(emogi_shared->lock);
	return is_there;
}

/* Leave a holding; the last one frees it and what it has. Raises nothing. */
void
emogi_held_results_leave(int index)
{
	EmogiHeldResult *holding = &emogi_shared->holdings[index];
	bool		is_last;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	is_last = holding->nusers == 1;
	if (is_last)
		holding->token = 0;
	else
		holding->nusers--;
	LWLockRelease(emogi_shared->lock);
	if (!is_last)
		return;

	emogi_dictionaries_release(holding->dictionary);
	emogi_arena_free_owner(EMOGI_OWNER_HOLDING(index));
	if (holding->graph >= 0)
		emogi_cache_unpin(holding->graph);
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	free_holding(index);
	LWLockRelease(emogi_shared->lock);
}

/* Note whether a call waits for a slot, to go on. */
void
emogi_held_results_wait(int index, bool waits)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->holdings[index].waits = waits;
	LWLockRelease(emogi_shared->lock);
}

/*
 * Note whether the last row has been read: such a call is not in progress any more, though it keeps
 * what it has.
 */
void
emogi_held_results_finish(int index, bool finished)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->holdings[index].finished = finished;
	LWLockRelease(emogi_shared->lock);
}
