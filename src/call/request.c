/*
 * request.c: requests of a backend to the engine worker: queue the slot's request, wait, get the
 * reply or raise its error
 *
 * A request is queued whether or not there is a worker. If the worker ends, a request that has not
 * started waits for the next worker; a request that was running fails.
 *
 * A request for a graph may have a query chained to it, which the worker runs as soon as the graph
 * is complete. The backend gets the graph then, and goes on while the query runs: it publishes the
 * graph and chooses who answers, and takes the result of the chained run or cancels it. Until then
 * the slot is RUNNING.
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/pmsignal.h"
#include "utils/timestamp.h"

#include "answer/answer.h"
#include "call/call.h"
#include "base/arena.h"
#include "base/papers_settings.h"

/* How long a call waits for an engine worker that is being restarted. */
#define EMOGI_WORKER_PATIENCE_MS 10000

/* How often it checks for one. */
#define EMOGI_WORKER_WAKEUP_MS 500

/* Fair share: see worker/schedule.c. How far a backend's clock may lag behind. */
#define EMOGI_CREDIT_MS 10000.0

/*
 * This backend's clock: vclock_ms at its first request, plus the engine time that it has used; < 0
 * = no request yet.
 */
static double vtime_ms = -1;

/* Raise 55000 as emogi_request_require_engine does. */
void
emogi_request_check_engine(void)
{
	bool		absent;
	char		reason[sizeof emogi_shared->cuda[0].reason];

	if (!IsUnderPostmaster)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("emogi's functions cannot be called in single-user mode"),
				 errhint("Single-user mode has no background workers. Start the server to call the "
						 "functions.")));
	if (!emogi_answer_requires_gpu())
		return;
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	absent = emogi_shared->worker_ready && emogi_shared->ncuda == 0;
	strlcpy(reason, emogi_shared->cuda[0].reason, sizeof reason);
	LWLockRelease(emogi_shared->lock);
	if (absent)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("emogi.engine is cuda, but no GPU can be used"),
				 errdetail("%s.", reason),
				 errhint("Set emogi.engine to auto or cpu.")));
}

/* Raise the error that the engine worker is not running. */
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
	slot->is_built = false;
	slot->ticket = emogi_shared->next_ticket++;
	slot->vtime_ms = Max(vtime_ms, emogi_shared->vclock_ms - EMOGI_CREDIT_MS);
	if (emogi_shared->worker_latch != NULL)
		SetLatch(emogi_shared->worker_latch);
	LWLockRelease(emogi_shared->lock);
}

/*
 * Make the postmaster check for background workers to start. Through PostgreSQL 15 the postmaster
 * computes its sleep time before it unblocks signals: if a worker's exit is signaled in between,
 * that worker is not restarted until something else wakes the postmaster, which can take a minute.
 */
static void
wake_postmaster(void)
{
	SendPostmasterSignal(PMSIGNAL_BACKGROUND_WORKER_CHANGE);
}

/*
 * Is a request still waiting for its reply, or for the reply of its build? *missing_since: since
 * when it has been queued without a ready worker; 0 = it has not. A worker may take any time to
 * open its engines; a worker that is absent, or that exits again and again, may not.
 */
static bool
still_waits(const EmogiSlot *slot, bool for_build, TimestampTz *missing_since)
{
	EmogiSlotState state;
	bool		is_built;
	bool		is_there;
	bool		is_ready;
	bool		never_started;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	state = slot->state;
	is_built = slot->is_built;
	is_there = emogi_shared->worker_latch != NULL;
	is_ready = emogi_shared->worker_ready;
	never_started = emogi_shared->worker_epoch == 0;
	LWLockRelease(emogi_shared->lock);

	if (state != EMOGI_SLOT_QUEUED || is_ready)
		*missing_since = 0;
	else if (*missing_since == 0)
		*missing_since = never_started && !emogi_trial_is_on ? PgStartTime : GetCurrentTimestamp();
	if (*missing_since != 0 && !is_there)
	{
		if (TimestampDifferenceExceeds(*missing_since, GetCurrentTimestamp(),
									   EMOGI_WORKER_PATIENCE_MS))
			report_no_worker();
		wake_postmaster();
	}
	return (state == EMOGI_SLOT_QUEUED || state == EMOGI_SLOT_RUNNING) && !(for_build && is_built);
}

/*
 * Wait until the slot's request is answered, or until its graph is complete; raise 58000 if no
 * worker starts it.
 */
static void
wait_for_answer(EmogiSlot *slot, bool for_build)
{
	TimestampTz missing_since = 0;

	ConditionVariablePrepareToSleep(&slot->answered);
	while (still_waits(slot, for_build, &missing_since))
		emogi_shared_sleep(&slot->answered, missing_since != 0 ? EMOGI_WORKER_WAKEUP_MS :
						   EMOGI_WAKEUP_MS, EMOGI_WAIT_ENGINE);
	ConditionVariableCancelSleep();
}

/* Take an answered slot back, and charge the engine time to this backend. */
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

/* Charge a running request up to now, without waiting for its reply. The caller holds the lock. */
void
emogi_request_abandon(const EmogiSlot *slot)
{
	vtime_ms = slot->vtime_ms + emogi_pool_now_ms() - slot->reply.started_ms;
}

/* Did a GPU reject the configured mapping and placement? */
static bool
settings_were_refused(const EmogiQuery *query, const EmogiReply *reply)
{
	return reply->status == EMOGI_BAD_INPUT && strcmp(reply->engine, "cuda") == 0 &&
		(query->papers.mapping != EMOGI_MAPPING_AUTO || query->placement != EMOGI_PLACEMENT_AUTO);
}

/* Raise the error of rejected settings. */
static void
report_settings(const EmogiQuery *query, const EmogiError *error)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("%s", error->message),
			 error->detail[0] != '\0' ? errdetail("%s", error->detail) : 0,
			 errhint("Choose another emogi.papers_mapping (%s now) or emogi.placement (%s now).",
					 emogi_papers_mapping_name(query->papers.mapping),
					 emogi_settings_placement_name(query->placement))));
}

/* Raise the error of a status other than EMOGI_OK. */
static void
report_failure(EmogiRequestKind kind, const EmogiReply *reply)
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
					 errhint("Call the function again. The worker restarts automatically.")));
			break;
		case EMOGI_NO_MEMORY:
			code = ERRCODE_OUT_OF_MEMORY;
			break;
		case EMOGI_DEVICE_ERROR:
			code = ERRCODE_SYSTEM_ERROR;
			hint = "Set emogi.engine to cpu or auto to answer without the GPU.";
			break;
		case EMOGI_BAD_INPUT:
			if (reply->result.refusal.kind == EMOGI_WEIGHTS_OUT_OF_RANGE)
				hint = "Multiply all weights by a number that brings their sums into range.";
			else if (reply->result.refusal.kind != EMOGI_NOT_REFUSED)
				return;			/* the caller reports it */
			code = kind == EMOGI_REQUEST_COLUMNS ? ERRCODE_INTERNAL_ERROR :
				ERRCODE_PROGRAM_LIMIT_EXCEEDED;
			break;
		case EMOGI_UNSUPPORTED:
			code = ERRCODE_FEATURE_NOT_SUPPORTED;
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

/* Pass injected faults to the engines and the worker, for tests. */
static void
pass_faults(EmogiSlot *slot)
{
	slot->request.fault = emogi_faults.worker;
	slot->request.fault_at = emogi_faults.worker_at;
	slot->request.only_keys = emogi_faults.allocation > 0;
	slot->control.fail_allocation = emogi_faults.engine_allocation;
	slot->control.fail_device_allocation = emogi_faults.device_allocation;
	slot->control.fail_device_call = emogi_faults.device_call;
}

/*
 * Check the reply of the slot's request, which has been answered, and return it; raise the error if
 * the request failed.
 */
const EmogiReply *
emogi_call_check_answer(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;

	if (slot->request.kind >= EMOGI_REQUEST_RUN)
		emogi_run_log_fill_record(&call->record, &slot->request, &slot->reply);
	if (settings_were_refused(&slot->request.query, &slot->reply))
		report_settings(&slot->request.query, &slot->reply.error);
	report_failure(slot->request.kind, &slot->reply);
	return &slot->reply;
}

/*
 * Have the worker execute slot->request, wait, and return its reply; raise the error if it failed.
 * If a run is chained to a build, return the reply of the build while that run goes on
 * (call->chains).
 */
const EmogiReply *
emogi_call_request(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;
	double		queued_ms = emogi_pool_now_ms();

	ereport(DEBUG2, (errmsg_internal("emogi request of kind %d", (int) slot->request.kind)));
	Assert(!call->chains);
	memset(&slot->reply, 0, sizeof slot->reply);
	slot->control.spare_bytes = emogi_settings_spare_bytes();
	pass_faults(slot);
	queue_request(slot);
	wait_for_answer(slot, true);
	if (slot->is_built)
	{
		call->chains = true;
		call->record.wait_ms += Max(slot->built.started_ms - queued_ms, 0);
		return &slot->built;
	}
	take_answer(slot, queued_ms);
	call->record.wait_ms += slot->reply.wait_ms;
	return emogi_call_check_answer(call);
}

/* Free the memory that only a chained run has needed. */
void
emogi_call_free_chained(EmogiCall *call)
{
	if (call->chained_memory != NULL)
		emogi_arena_free(call->chained_memory, call->chained_bytes);
	if (call->moved_memory != NULL)
		emogi_arena_free(call->moved_memory, call->moved_bytes);
	call->chained_memory = call->moved_memory = NULL;
}

/*
 * Wait for the end of the run that is chained to the call's build, and return its reply, which may
 * be a failure.
 */
const EmogiReply *
emogi_call_await_chained(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;

	wait_for_answer(slot, false);
	take_answer(slot, slot->reply.started_ms);
	call->chains = false;
	emogi_call_free_chained(call);
	return &slot->reply;
}

/*
 * End the run that is chained to the call's build, because another answers. Return the reply of the
 * build, whose result has the columns of that run, for the caller to free.
 */
const EmogiReply *
emogi_call_cancel_chained(EmogiCall *call)
{
	EmogiSlot  *slot = call->slot;

	slot->control.cancel = 1;
	(void) emogi_call_await_chained(call);
	slot->control.cancel = 0;
	return &slot->built;
}
