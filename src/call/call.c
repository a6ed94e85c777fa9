/*
 * call.c: the life of a call: acquisition and release of its slot and memory.
 *
 * A call holds one slot while it may send requests to the worker, and everything that it allocates
 * in the arena belongs to the slot. The call is tied to the ResourceOwner that was current when it
 * began: an error, a cancel or the end of the session releases that owner, and with it slot and
 * memory. By then the call's parallel workers are gone, because aborting a transaction ends them
 * first.
 *
 * A call whose rows are fetched incrementally releases its slot as soon as it has rows to return,
 * and keeps its memory as held results (emogi_call_release_slot). To send another request it takes
 * a slot, which then owns its memory (emogi_call_take_slot). So a slow or idle reader occupies no
 * slot. Small results are copied to backend-local memory, and the call then has nothing in shared
 * memory at all (emogi_call_release_shared). After its last row has been read, a call may be kept
 * for a rescan of its plan; a few of those are kept at a time.
 *
 * A session waits for a slot only while it has none: with nested calls, two sessions could
 * otherwise wait for each other's slots forever.
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "cache/cache.h"
#include "call/call.h"
#include "base/compat.h"
#include "base/arena.h"

/*
 * Max number of finished calls that are kept. When a new call begins, the oldest above that are
 * ended.
 */
#define EMOGI_MAX_FINISHED 8

static EmogiCall *calls = NULL;	/* the latest first */
static EmogiCall *watcher = NULL;	/* copy of the last call that ended; NULL = none is wanted */

static ExecutorRun_hook_type previous_executor_run_hook = NULL;

/* Remove a call from the waiters in emogi_progress. */
static void
clear_waiter(EmogiCall *call)
{
	if (call->waiter < 0)
		return;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	emogi_shared->waiters[call->waiter].pid = 0;
	LWLockRelease(emogi_shared->lock);
	call->waiter = -1;
}

/* Release the graph that a call without a slot has pinned. Raises nothing. */
static void
unpin(EmogiCall *call)
{
	int			graph = call->graph;

	call->graph = -1;
	if (graph >= 0)
		emogi_cache_unpin(graph);
}

/* Release everything that a call has in shared memory. Raises nothing. */
void
emogi_call_release_shared(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;
	int			held_result = call->held_result;

	clear_waiter(call);
	unpin(call);
	call->slot = NULL;
	call->held_result = -1;
	if (slot != NULL)
		emogi_slot_release(slot);
	if (held_result >= 0)
		emogi_held_results_detach(held_result);
}

static void
remove_call(EmogiCall *call)
{
	for (EmogiCall **p = &calls; *p != NULL; p = &(*p)->next)
		if (*p == call)
		{
			*p = call->next;
			break;
		}
	pfree(call);
}

/* ResourceOwner callback: release the calls of an owner that ends before they did. */
static void
release_calls(ResourceReleasePhase phase, bool is_commit, bool is_top_level, void *arg)
{
	EmogiCall  *call;
	EmogiCall  *next;

	if (phase != RESOURCE_RELEASE_AFTER_LOCKS)
		return;
	for (call = calls; call != NULL; call = next)
	{
		next = call->next;
		if (call->owner == (void *) CurrentResourceOwner)
		{
			if (!call->is_recorded)
				emogi_call_record(call, true);
			emogi_call_release_shared(call);
			remove_call(call);
		}
	}
}

/* End a finished call before its plan ends. */
static void
end_finished(EmogiCall *call)
{
	*call->holder = NULL;
	emogi_call_release_shared(call);
	remove_call(call);
}

/* End all finished calls of this backend, to free their resources; false if there are none. */
static bool
end_all_finished(void)
{
	EmogiCall  *next;
	bool		ended = false;

	for (EmogiCall *call = calls; call != NULL; call = next)
	{
		next = call->next;
		if (call->holder == NULL)
			continue;
		end_finished(call);
		ended = true;
	}
	return ended;
}

/* Does a call of this backend hold a slot? */
static bool
holds_slot(void)
{
	for (const EmogiCall *call = calls; call != NULL; call = call->next)
		if (call->slot != NULL)
			return true;
	return false;
}

/* Show in emogi_progress that a call waits for a slot. */
static void
note_waiter(EmogiCall *call)
{
	if (call->waiter >= 0 || call->held_result >= 0)
		return;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < EMOGI_NWAITERS && call->waiter < 0; i++)
		if (emogi_shared->waiters[i].pid == 0)
		{
			emogi_shared->waiters[i] = call->record.caller;
			call->waiter = i;
		}
	LWLockRelease(emogi_shared->lock);
}

/*
 * Take a slot, waiting while all slots, or all that the role may have, are taken. Raises 53400 if
 * the wait could last forever: above the limits of calls, and within another call that holds a
 * slot.
 */
static void
wait_for_slot(EmogiCall *call)
{
	EmogiLimit	limit = emogi_slot_take(call);

	if (limit == EMOGI_WITHIN_LIMITS)
		return;
	ConditionVariablePrepareToSleep(&emogi_shared->slot_freed);
	while ((limit = emogi_slot_take(call)) != EMOGI_WITHIN_LIMITS)
	{
		bool        is_lasting = limit == EMOGI_LIMIT_SESSION_CALLS ||
			limit == EMOGI_LIMIT_ROLE_CALLS;

		if (is_lasting && end_all_finished())
			continue;
		if (is_lasting || holds_slot())
			emogi_limits_report(limit);
		note_waiter(call);
		emogi_shared_sleep(&emogi_shared->slot_freed, EMOGI_WAKEUP_MS, EMOGI_WAIT_SLOT);
	}
	ConditionVariableCancelSleep();
	clear_waiter(call);
}

/* End the oldest finished call if there are too many. */
static void
end_oldest(void)
{
	EmogiCall  *oldest = NULL;
	int			count = 0;

	for (EmogiCall *call = calls; call != NULL; call = call->next)
		if (call->holder != NULL)
		{
			oldest = call;
			count++;
		}
	if (count >= EMOGI_MAX_FINISHED)
		end_finished(oldest);
}

/*
 * Begin a call without a slot, which emogi_call_take_slot gets. The call lives no longer than the
 * current ResourceOwner.
 */
EmogiCall *
emogi_call_enter(Oid function, const char *name, const EmogiSource *source)
{
	static bool registered = false;
	EmogiCall  *call;

	if (!registered)
	{
		RegisterResourceReleaseCallback(release_calls, NULL);
		registered = true;
	}
	end_oldest();
	call = MemoryContextAllocZero(TopMemoryContext, sizeof *call);
	call->held_result = call->waiter = call->graph = -1;
	emogi_call_describe_caller(&call->record, name, source);
	call->function = function;
	call->owner = CurrentResourceOwner;
	INSTR_TIME_SET_CURRENT(call->since);
	call->waited_since_ms = emogi_shared_waited_ms();
	call->next = calls;
	calls = call;				/* from here on, an error releases it */
	call->limited = !superuser();
	return call;
}

/* Begin a call as emogi_call_enter does, and take a slot. Raises 53400. */
EmogiCall *
emogi_call_begin(Oid function, const char *name, const EmogiSource *source)
{
	EmogiCall  *call = emogi_call_enter(function, name, source);

	wait_for_slot(call);
	return call;
}

/*
 * Have each call of this backend that succeeds copied to *copy at its end, before it releases
 * anything; NULL = none. Return the previous copy.
 */
EmogiCall *
emogi_call_watch(EmogiCall *copy)
{
	EmogiCall  *previous = watcher;

	watcher = copy;
	return previous;
}

/* End a call that succeeded. */
void
emogi_call_end(EmogiCall *call)
{
	if (!call->is_recorded)
		emogi_call_report(call);
	if (watcher != NULL)
		*watcher = *call;
	emogi_call_release_shared(call);
	remove_call(call);
}

/* Is a call still active? */
bool
emogi_call_is_active(const EmogiCall *call)
{
	for (const EmogiCall *active = calls; active != NULL; active = active->next)
		if (active == call)
			return true;
	return false;
}

/*
 * Release the slot of a call that needs no more requests; its memory is kept as held results.
 * Return false, and keep the slot, if there is no room for them.
 */
bool
emogi_call_release_slot(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;

	if (slot == NULL)
		return true;
	call->held_result = emogi_held_results_take(slot);
	if (call->held_result < 0)
		return false;
	call->slot = NULL;
	emogi_slot_release(slot);
	return true;
}

/*
 * Record that a call has pinned a cached graph, in its slot if it has one; otherwise the next slot
 * takes the graph over. nskipped: the graph's rows with a NULL end, as the call's snapshot sees
 * them.
 */
void
emogi_call_pin(EmogiCall *call, int graph, uint64 nskipped)
{
	if (call->slot == NULL)
	{
		call->graph = graph;
		call->nskipped = nskipped;
		return;
	}
	call->slot->graph = graph;
	pg_atomic_write_u64(&call->slot->nskipped, nskipped);
}

/* Have the slot that a call has taken own the call's memory and the graph that it has pinned. */
static void
pass_to_slot(EmogiCall *call, int held_result)
{
	call->held_result = -1;
	if (held_result >= 0)
		emogi_held_results_return(held_result, call->slot);
	if (call->graph >= 0)
		emogi_call_pin(call, call->graph, call->nskipped);
	call->graph = -1;
}

/* Take a slot as emogi_call_take_slot does, or return false instead of waiting or raising. */
bool
emogi_call_try_take_slot(EmogiCall *call)
{
	const int	held_result = call->held_result;

	if (call->slot == NULL)
	{
		if (emogi_slot_take(call) != EMOGI_WITHIN_LIMITS)
			return false;
		pass_to_slot(call, held_result);
	}
	return true;
}

/*
 * Take a slot again before the next request; it becomes the owner of the call's memory, and of the
 * graph that the call has pinned. If the call must wait for a slot, it releases that graph first,
 * because a waiting call must not keep others from memory.
 */
void
emogi_call_take_slot(EmogiCall *call)
{
	int			held_result = call->held_result;

	if (call->slot != NULL)
		return;
	if (emogi_slot_take(call) != EMOGI_WITHIN_LIMITS)
	{
		unpin(call);
		if (held_result >= 0)
			emogi_held_results_wait(held_result, true);
		wait_for_slot(call);
	}
	pass_to_slot(call, held_result);
}

/*
 * Raise 53000: there is no room for held results, and a slot would be occupied for as long as a
 * cursor is open.
 */
static void
report_no_held_result(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
			 errmsg("more than %d results of emogi's functions are being read",
					EMOGI_NHELD_RESULTS),
			 errhint("Close cursors over emogi's functions.")));
}

/*
 * Release what calls whose rows are being read do not need until the next fetch. A query has
 * returned some of its rows, and the next may be fetched soon, late or never.
 */
static void
release_between_fetches(void)
{
	for (EmogiCall *call = calls; call != NULL; call = call->next)
	{
		if (call->rest == NULL || call->phase != EMOGI_PHASE_ROWS)
			continue;
		call->rest(call->rest_arg);
		if (call->slot != NULL)
			report_no_held_result();
	}
}

/* ExecutorRun hook: release resources if the plan stops before its end. */
static void
run_executor(EMOGI_EXECUTOR_RUN_PARAMETERS)
{
	if (previous_executor_run_hook)
		previous_executor_run_hook(EMOGI_EXECUTOR_RUN_ARGUMENTS);
	else
		standard_ExecutorRun(EMOGI_EXECUTOR_RUN_ARGUMENTS);
	if (count != 0)				/* otherwise it has run to its end */
		release_between_fetches();
}

/* Show in emogi_progress whether this backend's call waits for memory in the arena. */
static void
note_wait_for_room(bool waits)
{
	for (EmogiCall *call = calls; call != NULL; call = call->next)
		if (call->slot != NULL)
		{
			call->slot->waits_for_room = waits;
			break;
		}
}

/* Have the cache evict graphs as emogi_cache_make_room does; false if there is nothing to evict. */
bool
emogi_call_make_room(uint64 bytes)
{
	bool		made;

	note_wait_for_room(true);
	made = emogi_cache_make_room(bytes);
	note_wait_for_room(false);
	return made;
}

/* Arena callback: make room for an allocation, see arena.h. */
static bool
make_room(bool at_limit, uint64 bytes)
{
	return at_limit ? end_all_finished() : emogi_call_make_room(bytes);
}

/* Install the arena callback and the executor hook; called once, in the postmaster. */
void
emogi_call_init(void)
{
	emogi_arena_set_room_callback(make_room);
	previous_executor_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run_executor;
}

/*
 * Mark a call as finished: its last row has been read. It counts as ended. Its result is kept until
 * the call's end or, if holder is not NULL, until there are too many finished calls; *holder is
 * then set to NULL.
 */
void
emogi_call_finish(EmogiCall *call, EmogiCall **holder)
{
	if (!call->is_recorded)
		emogi_call_report(call);
	call->is_recorded = true;
	call->holder = holder;
	if (call->held_result >= 0)
		emogi_held_results_finish(call->held_result, true);
}

/* Resume a call, which may have finished, because its result is read again. */
void
emogi_call_resume(EmogiCall *call)
{
	call->holder = NULL;
	if (call->held_result >= 0)
		emogi_held_results_finish(call->held_result, false);
}

/* Allocate zeroed memory in the arena for a call, until its end. Raises 53200. */
void *
emogi_call_alloc(EmogiCall *call, Size bytes)
{
	return emogi_arena_alloc(EMOGI_OWNER(call->slot_index), bytes);
}

/* The same, uninitialized. */
void *
emogi_call_alloc_any(EmogiCall *call, Size bytes)
{
	return emogi_arena_alloc_any(EMOGI_OWNER(call->slot_index), bytes);
}
