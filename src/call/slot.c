/*
 * slot.c: allocating a slot for a call, and freeing it with all it owns
 *
 * A slot that the worker is running cannot be freed by its backend: it becomes an ORPHAN with its
 * cancel flag set, and the worker frees it within the 50 ms in which an engine must notice the
 * flag.
 */
#include "postgres.h"

#include "storage/proclist.h"

#include "cache/cache.h"
#include "cache/change_tracker.h"
#include "cache/columns.h"
#include "call/call.h"
#include "base/arena.h"

/* Allocate a free slot for a call of this backend; otherwise return the limit that prevents it. */
EmogiLimit
emogi_slot_take(EmogiCall *call)
{
	EmogiLimit	limit = EMOGI_WITHIN_LIMITS;
	const EmogiCaller *caller = &call->record.caller;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (call->limited && call->held_result < 0)
		limit = emogi_limits_check_calls(caller->pid, caller->userid);
	if (call->limited && limit == EMOGI_WITHIN_LIMITS)
		limit = emogi_limits_check_slots(caller->userid);
	for (int i = 0; i < EMOGI_NSLOTS && limit == EMOGI_WITHIN_LIMITS && call->slot == NULL; i++)
		if (emogi_shared->slots[i].state == EMOGI_SLOT_FREE)
		{
			EmogiSlot  *slot = &emogi_shared->slots[i];

			slot->state = EMOGI_SLOT_HELD;
			slot->token = 0;
			slot->load = 0;
			slot->weights = EMOGI_WEIGHTS_UNUSED;
			slot->key_table = NULL;
			slot->all_codes = slot->is_built = false;
			slot->room_keys = 0;
			slot->dictionary = slot->old_dictionary = -1;
			slot->graph = slot->base_graph = slot->held_tracker = slot->awaited_tracker =
				slot->awaited_graph = -1;
			slot->labels_read = EMOGI_LABELS_UNREAD;
			slot->columns = NULL;
			slot->loads_columns = false;
			slot->waits_for_room = false;
			emogi_caller_copy(&slot->caller, caller);
			pg_atomic_write_u64(&slot->nskipped, 0);
			memset((void *) &slot->control, 0, sizeof slot->control);
			slot->control.phase = call->phase;
			emogi_limits_open_account(i, caller->pid, caller->userid, call->limited);
			call->slot = slot;
			call->slot_index = i;
		}
	LWLockRelease(emogi_shared->lock);
	return limit == EMOGI_WITHIN_LIMITS && call->slot == NULL ? EMOGI_LIMIT_SLOTS : limit;
}

/* Get the token with which scans find a slot of this session. Most calls need none. */
uint64
emogi_slot_token(EmogiSlot *slot)
{
	if (slot->token == 0)
		emogi_call_set_token(&slot->token);
	return slot->token;
}

/* Free a slot and everything it owns in the arena. The caller must be its only user. */
void
emogi_slot_free(EmogiSlot *slot)
{
	int			index = (int) (slot - emogi_shared->slots);

	if (slot->dictionary >= 0)
		emogi_dictionaries_release(slot->dictionary);
	if (slot->old_dictionary >= 0)
		emogi_dictionaries_release(slot->old_dictionary);
	emogi_arena_free_owner(EMOGI_OWNER_EDGES(index));
	emogi_arena_free_owner(EMOGI_OWNER_KEYS(index));
	emogi_arena_free_owner(EMOGI_OWNER(index));
	if (slot->held_tracker >= 0)
		emogi_change_tracker_release(slot);
	if (slot->base_graph >= 0)
		emogi_cache_unpin(slot->base_graph);
	emogi_cache_columns_release(slot);
	if (slot->labels_read != EMOGI_LABELS_UNREAD)
		emogi_cache_labels_release(slot->graph, slot->labels_read);
	if (slot->graph >= 0)
		emogi_cache_unpin(slot->graph);
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	slot->graph = slot->base_graph = slot->dictionary = slot->old_dictionary = -1;
	slot->labels_read = EMOGI_LABELS_UNREAD;
	slot->state = EMOGI_SLOT_FREE;
	slot->caller.pid = 0;
	slot->token = slot->load = 0;
	emogi_limits_close_account(index);
	LWLockRelease(emogi_shared->lock);
	/*
	 * A waiter enters the list before it looks for a free slot under the lock: either it has found
	 * this slot, or the list is not empty. Broadcast, because one of the waiters may have to wait
	 * for a slot of its own role.
	 */
	if (!proclist_is_empty(&emogi_shared->slot_freed.wakeup))
		ConditionVariableBroadcast(&emogi_shared->slot_freed);
}

/* Sum up the edges that a scan has left in a slot; see emogi_arena_edges. */
bool
emogi_slot_edges(const EmogiSlot *slot, EmogiEdges *edges, void *(*allocate) (Size))
{
	bool		ok = emogi_arena_edges(EMOGI_OWNER_EDGES(slot - emogi_shared->slots), edges,
									   allocate);

	edges->weighted = slot->weights != EMOGI_WEIGHTS_UNUSED;
	return ok;
}

/*
 * Release a slot in whatever state it is; charge a request that is still running up to now. Raises
 * nothing.
 */
void
emogi_slot_release(EmogiSlot *slot)
{
	bool		running;

	slot->control.cancel = 1;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	running = slot->state == EMOGI_SLOT_RUNNING;
	slot->state = running ? EMOGI_SLOT_ORPHAN : EMOGI_SLOT_HELD;
	if (running)
		emogi_request_abandon(slot);
	LWLockRelease(emogi_shared->lock);
	if (!running)
		emogi_slot_free(slot);
}
