/*
 * client.c: a backend's side of a slot: take one, ask the engine worker, wait, give it back.
 *
 * A call holds one slot from its first allocation to its last row, and everything in the Region that it allocates
 * belongs to the slot. The slot is tied to the ResourceOwner that was current when the call began: whatever ends the
 * call early (an error, a cancel, the end of the session) releases that owner, and with it slot and memory. By then
 * the call's parallel workers are gone, because aborting a transaction ends them first.
 *
 * A slot that the worker is running cannot be freed from outside: it becomes an ORPHAN with its cancel flag set, and
 * the worker frees it within the 50 ms in which an engine must see the flag.
 */
#include "emogi.h"

#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

/* How long a call waits for an engine worker that is being restarted. */
#define EMOGI_WORKER_PATIENCE_MS 10000

/* Every wait is ended by a signal; this is how long a lost one would go unnoticed. */
#define EMOGI_WAKEUP_MS 5000

static EmogiCall *calls = NULL;

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
	slot->graph = slot->donor = -1;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
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

/* Let go of a slot in whatever state it is. Raises nothing. */
static void
leave_slot(EmogiSlot *slot)
{
	bool		running;

	slot->control.cancel = 1;
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	running = slot->state == EMOGI_SLOT_RUNNING;
	slot->state = running ? EMOGI_SLOT_ORPHAN : EMOGI_SLOT_HELD;
	LWLockRelease(emogi_shared->lock);
	if (!running)
		emogi_slot_free(slot);
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
			leave_slot(call->slot);
			forget_call(call);
		}
	}
}

/*
 * Sleep on a condition variable for a while, or until it is signaled. An interrupt that came while interrupts were
 * held off, as they are when a parallel context ends, is pending with the latch reset: look before sleeping.
 */
static void
sleep_on(ConditionVariable *variable, long timeout_ms, uint32 wait_event)
{
	CHECK_FOR_INTERRUPTS();
	ConditionVariableTimedSleep(variable, timeout_ms, wait_event);
}

/* Take a free slot for this backend, or get -1. */
static int
take_slot(uint64 token)
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
			pg_atomic_write_u64(&slot->nskipped, 0);
			memset((void *) &slot->control, 0, sizeof slot->control);
			index = i;
		}
	LWLockRelease(emogi_shared->lock);
	return index;
}

/* Take a slot, waiting for one when all are taken. */
static int
wait_for_slot(uint64 token)
{
	int			index;

	ConditionVariablePrepareToSleep(&emogi_shared->slot_freed);
	while ((index = take_slot(token)) < 0)
	{
		/* a nested call that waits while its outer call holds a slot could wait for itself */
		if (calls != NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_RESOURCES),
					 errmsg("more than %d emogi calls are in progress", EMOGI_NSLOTS),
					 errhint("Try again when fewer sessions use emogi.")));
		sleep_on(&emogi_shared->slot_freed, EMOGI_WAKEUP_MS, emogi_wait_slot());
	}
	ConditionVariableCancelSleep();
	return index;
}

/* Raise 55000 at once when emogi.engine = cuda and it is known that there is no GPU. */
void
emogi_require_engine(void)
{
	bool		absent;
	char		reason[sizeof emogi_shared->cuda[0].reason];

	if (emogi_engine != EMOGI_ENGINE_CUDA)
		return;
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	absent = emogi_shared->worker_ready && emogi_shared->ncuda == 0;
	strlcpy(reason, emogi_shared->cuda[0].reason, sizeof reason);
	LWLockRelease(emogi_shared->lock);
	if (absent)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("emogi.engine is cuda, but there is no GPU to use"),
				 errdetail("%s.", reason),
				 errhint("Set emogi.engine to auto or cpu.")));
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

	call = MemoryContextAllocZero(TopMemoryContext, sizeof *call);
	PG_TRY();
	{
		call->slot_index = wait_for_slot(token);
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
	call->slot->control.phase = phase;
}

/* End a call that went well. The times go to whoever listens at DEBUG1. */
void
emogi_call_end(EmogiCall *call)
{
	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	ereport(DEBUG1,
			(errmsg_internal("emogi phases: scan %.1f ms, keys %.1f ms, csr %.1f ms, run %.1f ms, rows %.1f ms",
							 call->phase_ms[EMOGI_PHASE_SCAN], call->phase_ms[EMOGI_PHASE_KEYS],
							 call->phase_ms[EMOGI_PHASE_CSR], call->phase_ms[EMOGI_PHASE_RUN],
							 call->phase_ms[EMOGI_PHASE_ROWS])));
	leave_slot(call->slot);
	forget_call(call);
}

/* Allocate in the Region for a call, until its end. Raises 53200. */
void *
emogi_call_alloc(EmogiCall *call, Size bytes)
{
	return emogi_region_alloc(EMOGI_OWNER(call->slot_index), bytes);
}

/* Raise the error of an engine worker that is not there. */
static void
report_no_worker(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_SYSTEM_ERROR),
			 errmsg("the engine worker of emogi is not running"),
			 errhint("See the server log. The worker needs one of max_worker_processes (%d now).",
					 max_worker_processes)));
}

/* Hand the slot's request to the worker, when there is one. */
static bool
queue_request(EmogiSlot *slot)
{
	bool		queued = false;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (emogi_shared->worker_latch != NULL)
	{
		slot->state = EMOGI_SLOT_QUEUED;
		slot->ticket = emogi_shared->next_ticket++;
		SetLatch(emogi_shared->worker_latch);
		queued = true;
	}
	LWLockRelease(emogi_shared->lock);
	return queued;
}

/* Hand the slot's request to the worker; wait for one that is being restarted. */
static void
queue_request_patiently(EmogiSlot *slot)
{
	TimestampTz start = GetCurrentTimestamp();

	ConditionVariablePrepareToSleep(&emogi_shared->worker_changed);
	while (!queue_request(slot))
	{
		bool		never_started;

		LWLockAcquire(emogi_shared->lock, LW_SHARED);
		never_started = emogi_shared->worker_epoch == 0;
		LWLockRelease(emogi_shared->lock);
		if (TimestampDifferenceExceeds(never_started ? PgStartTime : start, GetCurrentTimestamp(),
									   EMOGI_WORKER_PATIENCE_MS))
			report_no_worker();
		sleep_on(&emogi_shared->worker_changed, 500, emogi_wait_engine());
	}
	ConditionVariableCancelSleep();
}

static EmogiSlotState
slot_state(EmogiSlot *slot)
{
	EmogiSlotState state;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	state = slot->state;
	LWLockRelease(emogi_shared->lock);
	return state;
}

/* Raise the error that a status other than EMOGI_OK stands for. */
static void
report_failure(const EmogiReply *reply)
{
	int			code = ERRCODE_INTERNAL_ERROR;
	const char *hint = NULL;

	switch (reply->status)
	{
		case EMOGI_OK:
			return;
		case EMOGI_CANCELED:
			ereport(ERROR,
					(errcode(ERRCODE_SYSTEM_ERROR),
					 errmsg("the engine worker of emogi was stopped during this call"),
					 errhint("Call again: the worker starts anew by itself.")));
			break;
		case EMOGI_NO_MEMORY:
			code = ERRCODE_OUT_OF_MEMORY;
			break;
		case EMOGI_DEVICE_ERROR:
			code = ERRCODE_SYSTEM_ERROR;
			hint = "Set emogi.engine to cpu or auto to answer without the GPU.";
			break;
		case EMOGI_BAD_INPUT:
			code = ERRCODE_PROGRAM_LIMIT_EXCEEDED;
			break;
	}
	if (reply->no_device)
		code = ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
	ereport(ERROR,
			(errcode(code),
			 errmsg("%s", reply->error.message),
			 reply->error.detail[0] != '\0' ? errdetail("%s", reply->error.detail) : 0,
			 hint != NULL ? errhint("%s", hint) : 0));
}

/* Have the worker carry out slot->request, wait, and get its reply; raises whatever went wrong. */
const EmogiReply *
emogi_call_request(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;
	EmogiSlotState state;

	memset(&slot->reply, 0, sizeof slot->reply);
	queue_request_patiently(slot);

	ConditionVariablePrepareToSleep(&slot->answered);
	while ((state = slot_state(slot)) == EMOGI_SLOT_QUEUED || state == EMOGI_SLOT_RUNNING)
		sleep_on(&slot->answered, EMOGI_WAKEUP_MS, emogi_wait_engine());
	ConditionVariableCancelSleep();

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	slot->state = EMOGI_SLOT_HELD;
	LWLockRelease(emogi_shared->lock);
	if (state == EMOGI_SLOT_FAILED)
		slot->reply.status = EMOGI_CANCELED;
	report_failure(&slot->reply);
	return &slot->reply;
}
