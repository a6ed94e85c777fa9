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
 *
 * A call whose rows are read bit by bit gives its slot back when it has nothing left to ask of the worker, and keeps its
 * memory as a holding. When its last row has been read it may be kept for a plan that comes back for the same rows; a few
 * of those stay at a time.
 *
 * A request is queued whether there is a worker or not. One that has not begun when its worker ends waits for the next;
 * one that was running fails.
 */
#include "emogi.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/pmsignal.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

/* How long a call waits for an engine worker that is being restarted. */
#define EMOGI_WORKER_PATIENCE_MS 10000

/* Every wait is ended by a signal; this is how long a lost one would go unnoticed. */
#define EMOGI_WAKEUP_MS 5000

/* ... and while there is no worker. */
#define EMOGI_WORKER_WAKEUP_MS 500

/* Calls that have finished and are kept: more are ended when a new call begins, the oldest first. */
#define EMOGI_MAX_FINISHED 8

static EmogiCall *calls = NULL;	/* the latest first */

/* Fair share: see worker.c. How far a backend's clock may be behind. */
#define EMOGI_CREDIT_MS 10000.0

/* This backend's clock: the engine time that it has had, since vclock_ms at its first request; < 0 = there was none. */
static double vtime_ms = -1;

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
		vtime_ms = slot->vtime_ms + emogi_now_ms() - slot->reply.started_ms;
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
static void
sleep_on(ConditionVariable *variable, long timeout_ms, uint32 wait_event)
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

/* Queue the slot's request. */
static void
queue_request(EmogiSlot *slot)
{
	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (vtime_ms < 0)
		vtime_ms = emogi_shared->vclock_ms;
	slot->state = EMOGI_SLOT_QUEUED;
	slot->ticket = emogi_shared->next_ticket++;
	slot->vtime_ms = Max(vtime_ms, emogi_shared->vclock_ms - EMOGI_CREDIT_MS);
	if (emogi_shared->worker_latch != NULL)
		SetLatch(emogi_shared->worker_latch);
	LWLockRelease(emogi_shared->lock);
}

/*
 * Have the postmaster look for background workers that it is to start. Through PostgreSQL 15 it finds out how long it may
 * sleep before it lets signals through: a worker whose end it is told of in between is not started again until something
 * else wakes it, which can take a minute.
 */
static void
wake_postmaster(void)
{
	SendPostmasterSignal(PMSIGNAL_BACKGROUND_WORKER_CHANGE);
}

/*
 * Does a request still wait for its answer? *missing_since: since when it is queued and no worker is ready; 0 = not so.
 * A worker that opens its engines may take its time; one that is not there, or ends again and again, may not.
 */
static bool
still_waits(const EmogiSlot *slot, TimestampTz *missing_since)
{
	EmogiSlotState state;
	bool		is_there;
	bool		is_ready;
	bool		never_started;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	state = slot->state;
	is_there = emogi_shared->worker_latch != NULL;
	is_ready = emogi_shared->worker_ready;
	never_started = emogi_shared->worker_epoch == 0;
	LWLockRelease(emogi_shared->lock);

	if (state != EMOGI_SLOT_QUEUED || is_ready)
		*missing_since = 0;
	else if (*missing_since == 0)
		*missing_since = never_started ? PgStartTime : GetCurrentTimestamp();
	if (*missing_since != 0 && !is_there)
	{
		if (TimestampDifferenceExceeds(*missing_since, GetCurrentTimestamp(), EMOGI_WORKER_PATIENCE_MS))
			report_no_worker();
		wake_postmaster();
	}
	return state == EMOGI_SLOT_QUEUED || state == EMOGI_SLOT_RUNNING;
}

/* Wait until the slot's request is answered; raises 58000 when there is no worker to begin with it. */
static void
wait_for_answer(EmogiSlot *slot)
{
	TimestampTz missing_since = 0;

	ConditionVariablePrepareToSleep(&slot->answered);
	while (still_waits(slot, &missing_since))
		sleep_on(&slot->answered, missing_since != 0 ? EMOGI_WORKER_WAKEUP_MS : EMOGI_WAKEUP_MS, emogi_wait_engine());
	ConditionVariableCancelSleep();
}

/* Take an answered slot back into the owner's hands, and pay for the engine's time. */
static void
take_answer(EmogiSlot *slot, double queued_ms)
{
	EmogiReply *reply = &slot->reply;

	LWLockAcquire(emogi_shared->lock, LW_EXCLUSIVE);
	if (slot->state == EMOGI_SLOT_FAILED)
		reply->status = EMOGI_CANCELED;
	slot->state = EMOGI_SLOT_HELD;
	LWLockRelease(emogi_shared->lock);
	vtime_ms = slot->vtime_ms + reply->busy_ms;
	reply->wait_ms = Max(reply->started_ms - queued_ms, 0);
}

/* Did a GPU refuse the mapping and the placement that were asked for? */
static bool
settings_were_refused(const EmogiQuery *query, const EmogiReply *reply)
{
	return reply->status == EMOGI_BAD_INPUT && strcmp(reply->engine, "cuda") == 0 &&
		(query->mapping != EMOGI_MAPPING_AUTO || query->placement != EMOGI_PLACEMENT_AUTO);
}

/* Raise the error of settings that were refused. */
static void
report_settings(const EmogiQuery *query, const EmogiError *error)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", error->message),
			 error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
			 errhint("Choose another emogi.mapping (%s now) or emogi.placement (%s now).",
					 emogi_mapping_name(query->mapping), emogi_placement_name(query->placement))));
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

/* Tell the engines and the worker what is to fail, for tests. */
static void
pass_faults(EmogiSlot *slot)
{
	slot->request.fault = emogi_faults.worker;
	slot->request.fault_at = emogi_faults.worker_at;
	slot->control.fail_allocation = emogi_faults.engine_allocation;
	slot->control.fail_device_allocation = emogi_faults.device_allocation;
	slot->control.fail_device_call = emogi_faults.device_call;
}

/* Have the worker carry out slot->request, wait, and get its reply; raises whatever went wrong. */
const EmogiReply *
emogi_call_request(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;
	double		queued_ms = emogi_now_ms();

	memset(&slot->reply, 0, sizeof slot->reply);
	pass_faults(slot);
	queue_request(slot);
	wait_for_answer(slot);
	take_answer(slot, queued_ms);
	call->run.wait_ms += slot->reply.wait_ms;
	if (slot->request.kind >= EMOGI_REQUEST_RUN)
		emogi_runs_note(&call->run, &slot->request, &slot->reply);
	if (settings_were_refused(&slot->request.query, &slot->reply))
		report_settings(&slot->request.query, &slot->reply.error);
	report_failure(&slot->reply);
	return &slot->reply;
}
