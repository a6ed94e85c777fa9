/*
 * client.c: a backend's side of a slot: take one, keep it or what it owns, give it back.
 *
 * A call holds one slot from its first allocation to its last row, and everything in the Region that it allocates
 * belongs to the slot. The slot is tied to the ResourceOwner that was current when the call began: whatever ends the
 * call early (an error, a cancel, the end of the session) releases that owner, and with it slot and memory. By then
 * the call's parallel workers are gone, because aborting a transaction ends them first.
 *
 * A slot that the worker is running cannot be freed from outside: it becomes an ORPHAN with its cancel flag set, and
 * the worker frees it within the 50 ms in which an engine must see the flag.
 *
 * A call whose rows are read bit by bit gives its slot back when it has nothing left to ask of the worker, and keeps its
 * memory as a holding. When its last row has been read it may be kept for a plan that comes back for the same rows; a few
 * of those stay at a time.
 */
#include "emogi.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

/* Calls that have finished and are kept: more are ended when a new call begins, the oldest first. */
#define EMOGI_MAX_FINISHED 8

static EmogiCall *calls = NULL;	/* the latest first */

/* Free a slot and all it owns in the Region. The caller is the only one who still uses it. */
void
emogi_slot_free(EmogiSlot *slot)
{
	int			index = (int) (slot - emogi_shared->slots);

	emogi_region_free_owner(EMOGI_OWNER_EDGES(index));
	emogi_region_free_owner(EMOGI_OWNER(index));
	if (slot->donor >= 0)
		emogi_cache_unpin(slot->donor);
	if (slot->graph >= 0)
		emogi_cache_unpin(slot->graph);
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	slot->graph = slot->donor = -1;
	slot->state = EMOGI_SLOT_FREE;
	slot->owner_pid = 0;
	slot->token = 0;
	LWLockRelease(emogi_shared->lock);
	ConditionVariableSignal(&emogi_shared->slot_freed);
}

/* Sum up the edges that a scan has left in a slot; see emogi_region_edges. */
bool
emogi_slot_edges(const EmogiSlot *slot, EmogiEdges *edges, void *(*allocate) (Size))
{
	bool		ok = emogi_region_edges(EMOGI_OWNER_EDGES(slot - emogi_shared->slots), edges, allocate);

	edges->weighted = slot->weights != EMOGI_WEIGHTS_UNUSED;
	return ok;
}

/* Let go of a slot in whatever state it is; a request that is still running is paid for up to now. Raises nothing. */
static void
leave_slot(EmogiSlot *slot)
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

/* Give back what a call has, slot or holding. Raises nothing. */
static void
leave(EmogiCall *call)
{
	if (call->slot != NULL)
		leave_slot(call->slot);
	else
		emogi_holding_leave(call->holding);
}

static void
forget_call(EmogiCall *call)
{
	for (EmogiCall **p = &calls; *p != NULL; p = &(*p)->next)
		if (*p == call)
		{
			*p = call->next;
			break;
		}
	pfree(call);
}

/* Record a call that is over, in emogi_runs. Raises nothing. */
static void
record_call(EmogiCall *call, bool failed)
{
	EmogiRunEntry *run = &call->run;

	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	run->failed = failed;
	run->scan_ms = call->phase_ms[EMOGI_PHASE_SCAN];
	run->keys_ms = call->phase_ms[EMOGI_PHASE_KEYS];
	run->csr_ms = call->phase_ms[EMOGI_PHASE_CSR];
	run->rows_ms = call->phase_ms[EMOGI_PHASE_ROWS];
	run->total_ms = 0;
	for (int i = 0; i < (int) lengthof(call->phase_ms); i++)
		run->total_ms += call->phase_ms[i];
	emogi_runs_record(run);
}

/* Release the calls of a ResourceOwner that ends before they did. */
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
				record_call(call, true);
			leave(call);
			forget_call(call);
		}
	}
}

/*
 * Sleep on a condition variable for a while, or until it is signaled. An interrupt that came while interrupts were
 * held off, as they are when a parallel context ends, is pending with the latch reset: look before sleeping.
 */
void
emogi_sleep_on(ConditionVariable *variable, long timeout_ms, uint32 wait_event)
{
	CHECK_FOR_INTERRUPTS();
	ConditionVariableTimedSleep(variable, timeout_ms, wait_event);
}

/* Copy text into an array, cut off between two characters where it is too long. */
static void
copy_text(char *to, Size bytes, const char *from)
{
	int			length = pg_mbcliplen(from, (int) Min(strlen(from), (Size) INT_MAX), (int) bytes - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

/* Take a free slot for a call of this backend, or get -1. */
static int
take_slot(uint64 token, const EmogiRunEntry *run)
{
	int			index = -1;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	for (int i = 0; i < EMOGI_NSLOTS && index < 0; i++)
		if (emogi_shared->slots[i].state == EMOGI_SLOT_FREE)
		{
			EmogiSlot  *slot = &emogi_shared->slots[i];

			slot->state = EMOGI_SLOT_HELD;
			slot->owner_pid = MyProcPid;
			slot->token = token;
			slot->weights = EMOGI_WEIGHTS_UNUSED;
			slot->graph = slot->donor = -1;
			slot->userid = run->userid;
			slot->database = run->database;
			slot->started = run->started;
			memcpy(slot->function, run->function, sizeof slot->function);
			memcpy(slot->source, run->source, sizeof slot->source);
			pg_atomic_write_u64(&slot->nskipped, 0);
			memset((void *) &slot->control, 0, sizeof slot->control);
			index = i;
		}
	LWLockRelease(emogi_shared->lock);
	return index;
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

/* Take a slot, waiting for one when all are taken. */
static int
wait_for_slot(uint64 token, const EmogiRunEntry *run)
{
	int			index;

	ConditionVariablePrepareToSleep(&emogi_shared->slot_freed);
	while ((index = take_slot(token, run)) < 0)
	{
		/* a nested call that waits while its outer call holds a slot could wait for itself */
		if (holds_slot())
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("more than %d emogi calls are in progress", EMOGI_NSLOTS),
					 errhint("Close cursors over emogi's functions, or try again when fewer sessions use them.")));
		emogi_sleep_on(&emogi_shared->slot_freed, EMOGI_WAKEUP_MS, emogi_wait_slot());
	}
	ConditionVariableCancelSleep();
	return index;
}

/* Note who calls what. */
static void
describe_call(EmogiRunEntry *run, const char *name, const char *source)
{
	run->started = GetCurrentTimestamp();
	run->pid = MyProcPid;
	run->userid = GetUserId();
	run->database = MyDatabaseId;
	copy_text(run->function, sizeof run->function, name);
	copy_text(run->source, sizeof run->source, source);
}

/* End the oldest of the finished calls when there are too many. */
static void
end_finished(void)
{
	EmogiCall  *oldest = NULL;
	int			count = 0;

	for (EmogiCall *call = calls; call != NULL; call = call->next)
		if (call->holder != NULL)
		{
			oldest = call;
			count++;
		}
	if (count < EMOGI_MAX_FINISHED)
		return;
	*oldest->holder = NULL;
	leave(oldest);
	forget_call(oldest);
}

/* Begin a call: take a slot that lives no longer than the current ResourceOwner. */
EmogiCall *
emogi_call_begin(Oid function, const char *name, const char *source)
{
	static bool registered = false;
	EmogiCall  *call;
	uint64		token;

	if (!registered)
	{
		RegisterResourceReleaseCallback(release_calls, NULL);
		registered = true;
	}
	if (!pg_strong_random(&token, sizeof token))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate a random number")));
	token = (token & PG_INT64_MAX) | 1;

	end_finished();
	call = MemoryContextAllocZero(TopMemoryContext, sizeof *call);
	call->holding = -1;
	describe_call(&call->run, name, source);
	PG_TRY();
	{
		call->slot_index = wait_for_slot(token, &call->run);
	}
	PG_CATCH();
	{
		pfree(call);
		PG_RE_THROW();
	}
	PG_END_TRY();
	call->slot = &emogi_shared->slots[call->slot_index];
	call->function = function;
	call->owner = CurrentResourceOwner;
	INSTR_TIME_SET_CURRENT(call->since);
	call->next = calls;
	calls = call;
	return call;
}

/* Note that a call enters a phase; the time since the last such note counts for the phase that it leaves. */
void
emogi_call_phase(EmogiCall *call, EmogiPhase phase)
{
	instr_time	now;
	instr_time	passed;

	INSTR_TIME_SET_CURRENT(now);
	passed = now;
	INSTR_TIME_SUBTRACT(passed, call->since);
	call->phase_ms[call->phase] += INSTR_TIME_GET_MILLISEC(passed);
	call->phase = phase;
	call->since = now;
	if (call->slot != NULL)
		call->slot->control.phase = phase;
}

/* Record a call that went well. The times go to whoever listens at DEBUG1. */
static void
report_call(EmogiCall *call)
{
	record_call(call, false);
	ereport(DEBUG1,
			(errmsg_internal("emogi phases: scan %.1f ms, keys %.1f ms, csr %.1f ms, run %.1f ms, rows %.1f ms",
							 call->phase_ms[EMOGI_PHASE_SCAN], call->phase_ms[EMOGI_PHASE_KEYS],
							 call->phase_ms[EMOGI_PHASE_CSR], call->phase_ms[EMOGI_PHASE_RUN],
							 call->phase_ms[EMOGI_PHASE_ROWS])));
}

/* End a call that went well. */
void
emogi_call_end(EmogiCall *call)
{
	if (!call->is_recorded)
		report_call(call);
	leave(call);
	forget_call(call);
}

/* Give the slot of a call back that asks the worker for nothing any more; its memory stays. Without room it keeps it. */
void
emogi_call_hold(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;

	call->holding = emogi_holding_take(slot);
	if (call->holding < 0)
		return;
	call->slot = NULL;
	leave_slot(slot);
}

/*
 * Note that the last row of a call has been read. It counts as ended; its result is kept until its end, or until there are
 * too many of its kind: then *holder becomes NULL.
 */
void
emogi_call_finish(EmogiCall *call, EmogiCall **holder)
{
	if (!call->is_recorded)
		report_call(call);
	call->is_recorded = true;
	call->holder = holder;
	if (call->holding >= 0)
		emogi_holding_finish(call->holding, true);
}

/* Keep a call, which may have finished, as its result is read once more. */
void
emogi_call_resume(EmogiCall *call)
{
	call->holder = NULL;
	if (call->holding >= 0)
		emogi_holding_finish(call->holding, false);
}

/* Allocate in the Region for a call, until its end. Raises 53200. */
void *
emogi_call_alloc(EmogiCall *call, Size bytes)
{
	return emogi_region_alloc(EMOGI_OWNER(call->slot_index), bytes);
}

/* The same with any content, for who writes before reading. */
void *
emogi_call_alloc_any(EmogiCall *call, Size bytes)
{
	return emogi_region_alloc_any(EMOGI_OWNER(call->slot_index), bytes);
}
