/*
 * views.c: functions behind the views of devices, runs and calls in progress.
 *
 * A user sees the runs and calls of the roles whose privileges the user has, as in
 * pg_stat_activity; members of pg_read_all_stats see all. Rows are copied first, so that no lock is
 * held during catalog lookups.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/lsyscache.h"

#include "call/call.h"
#include "base/compat.h"
#include "base/arena.h"
#include "base/sql_version.h"
#include "views/views.h"

PG_FUNCTION_INFO_V1(emogi_devices);
PG_FUNCTION_INFO_V1(emogi_runs);
PG_FUNCTION_INFO_V1(emogi_progress);

/* The event that a call waits for. */
typedef enum Wait
{
	WAITS_FOR_NOTHING = 0,
	WAITS_FOR_ENGINE,
	WAITS_FOR_SLOT,
	WAITS_FOR_BUILD,
	WAITS_FOR_ROOM
} Wait;

/*
 * A call in progress, copied from its slot, its held result, or its entry in the queue for slots.
 */
typedef struct Progress
{
	EmogiSlotState state;
	bool		has_slot;
	Wait		wait;
	int			graph;			/* cached graph that it has pinned or builds; -1 = none */
	int			held_tracker;	/* change tracker that it uses or waits for, as in slot.h */
	int			awaited_tracker;
	int			awaited_graph;	/* graph that it waits for */
	EmogiCaller caller;
	uint32		phase;
	uint32		level;
	uint64		done;
	uint64		total;
} Progress;

/* ---- emogi_devices ---- */

/* Add one row of emogi_devices. */
static void
put_device(FunctionCallInfo fcinfo, const EmogiDeviceEntry *entry, const char *engine, int pid)
{
	const EmogiDevice *device = &entry->device;
	bool		is_cpu = strcmp(engine, "cpu") == 0;
	bool		known = device->name[0] != '\0';
	EmogiViewRow row = {0};

	emogi_views_add_if(&row, device->number >= 0 || is_cpu,
					   Int32GetDatum(is_cpu ? -1 : device->number));
	emogi_views_add_text(&row, engine);
	emogi_views_add_text(&row, device->name);
	emogi_views_add_if(&row, known, Int32GetDatum(device->units));
	emogi_views_add_if(&row, is_cpu || known,
					   Int64GetDatum(is_cpu ? emogi_arena_budget_bytes() : device->memory_bytes));
	emogi_views_add_if(&row, is_cpu || known,
					   Int64GetDatum(is_cpu ? emogi_arena_used_bytes() : device->used_bytes));
	emogi_views_add_if(&row, device->link_gbps != 0, Float8GetDatum(device->link_gbps));
	emogi_views_add_text(&row, device->driver);
	emogi_views_add_text(&row, entry->state);
	emogi_views_add_text(&row, entry->reason);
	emogi_views_add_if(&row, pid != 0, Int32GetDatum(pid));
	emogi_views_put(&row, fcinfo);
}

/*
 * emogi_devices() -> the rows of the view emogi_devices: the CPU, then each GPU, or the reason why
 * there is none.
 */
Datum
emogi_devices(PG_FUNCTION_ARGS)
{
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];
	int			nlisted;
	int			pid;

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	cpu = emogi_shared->cpu;
	memcpy(cuda, emogi_shared->cuda, sizeof cuda);
	nlisted = Max(emogi_shared->nlisted, 1);
	pid = emogi_shared->worker_pid;
	LWLockRelease(emogi_shared->lock);

	put_device(fcinfo, &cpu, "cpu", pid);
	for (int i = 0; i < nlisted; i++)
		put_device(fcinfo, &cuda[i], "cuda", pid);
	return (Datum) 0;
}

/* ---- emogi_runs ---- */

/* Add the columns about the caller, which emogi_runs and emogi_progress share. */
static void
add_caller(EmogiViewRow *row, const EmogiCaller *caller)
{
	emogi_views_add(row, Int32GetDatum(caller->pid));
	emogi_views_add_name(row, GetUserNameFromId(caller->userid, true));
	emogi_views_add_name(row, get_database_name(caller->database));
	emogi_views_add_text(row, caller->function);
	emogi_views_add_text(row, caller->source);
}

/* Add one row of emogi_runs. */
static void
put_run(FunctionCallInfo fcinfo, const EmogiCallRecord *run)
{
	bool		timed = run->run_ms > 0;
	bool		has_graph = run->nvertices > 0 || run->origin != EMOGI_GRAPH_INDEX;
	EmogiViewRow row = {0};

	emogi_views_add(&row, Int64GetDatum(run->id));
	emogi_views_add_time(&row, run->caller.started);
	add_caller(&row, &run->caller);
	emogi_views_add_text(&row, run->failed ? "failed" : "ok");
	emogi_views_add_text(&row, emogi_call_origin_name(run->origin));
	emogi_views_add_text(&row, run->origin == EMOGI_GRAPH_PRIVATE ? run->why_private : "");
	emogi_views_add_text(&row, emogi_call_why_built(run));
	emogi_views_add_text(&row, run->engine);
	emogi_views_add_if(&row, strcmp(run->engine, "cuda") == 0, Int32GetDatum(run->device));
	emogi_views_add_text(&row, run->placement);
	emogi_views_add_text(&row, run->mapping);
	emogi_views_add_text(&row, run->reason);
	emogi_views_add(&row, Float8GetDatum(run->wait_ms));
	emogi_views_add(&row, Float8GetDatum(run->refresh_ms));
	emogi_views_add(&row, Float8GetDatum(run->scan_ms));
	emogi_views_add(&row, Float8GetDatum(run->keys_ms));
	emogi_views_add(&row, Float8GetDatum(run->csr_ms));
	emogi_views_add(&row, Float8GetDatum(run->merge_ms));
	emogi_views_add(&row, Float8GetDatum(run->transfer_ms));
	emogi_views_add(&row, Float8GetDatum(run->run_ms));
	emogi_views_add(&row, Float8GetDatum(run->rows_ms));
	emogi_views_add(&row, Float8GetDatum(run->total_ms));
	emogi_views_add(&row, Int64GetDatum(run->nrescanned));
	emogi_views_add(&row, Int64GetDatum(run->nskipped_by_map));
	emogi_views_add(&row, Int64GetDatum(run->nskipped_by_lsn));
	emogi_views_add(&row, Int64GetDatum(run->nchanges));
	emogi_views_add_if(&row, run->origin == EMOGI_GRAPH_STALE, Float8GetDatum(run->age_ms));
	emogi_views_add_if(&row, has_graph, Int64GetDatum(run->nvertices));
	emogi_views_add_if(&row, has_graph, Int64GetDatum(run->nedges));
	emogi_views_add(&row, Int64GetDatum(run->nreached));
	emogi_views_add(&row, Int32GetDatum(run->nlevels));
	emogi_views_add(&row, Int64GetDatum(run->edges_traversed));
	emogi_views_add_if(&row, timed,
					   Float8GetDatum(timed ? run->edges_traversed * 1000.0 / run->run_ms : 0));
	emogi_views_add(&row, Int64GetDatum(run->link_bytes));
	emogi_views_add(&row, Int32GetDatum(run->nlinks));
	emogi_views_add(&row, Int64GetDatum(run->nrows));
	emogi_views_add(&row, Int64GetDatum(run->network_bytes));
	emogi_views_put(&row, fcinfo);
}

/*
 * emogi_runs() -> the rows of the view emogi_runs: the last runs of roles whose privileges the
 * caller has.
 */
Datum
emogi_runs(PG_FUNCTION_ARGS)
{
	EmogiCallRecord *runs;
	int			count;

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	runs = palloc(mul_size(emogi_runs_entries, sizeof(EmogiCallRecord)));
	count = emogi_run_log_copy(runs);
	for (int i = 0; i < count; i++)
		if (emogi_views_may_see_role(runs[i].caller.userid))
			put_run(fcinfo, &runs[i]);
	pfree(runs);
	return (Datum) 0;
}

/* ---- emogi_progress ---- */

/* Copy a call that has a slot. */
static void
copy_slot(const EmogiSlot *slot, Progress *call)
{
	call->state = slot->state;
	call->has_slot = true;
	call->graph = slot->graph;
	call->awaited_graph = slot->awaited_graph;
	call->held_tracker = slot->held_tracker;
	call->awaited_tracker = slot->awaited_tracker;
	call->wait = slot->state == EMOGI_SLOT_QUEUED ? WAITS_FOR_ENGINE :
		slot->awaited_graph >= 0 || slot->awaited_tracker >= 0 ? WAITS_FOR_BUILD :
		slot->waits_for_room ? WAITS_FOR_ROOM : WAITS_FOR_NOTHING;
	call->caller = slot->caller;
	call->phase = slot->control.phase;
	call->level = slot->control.level;
	call->done = slot->control.done;
	call->total = slot->control.total;
}

/* Copy a call that returns rows from a held result. */
static void
copy_held_result(const EmogiHeldResult *held_result, Progress *call)
{
	memset(call, 0, sizeof *call);
	call->state = EMOGI_SLOT_HELD;
	call->wait = held_result->waits ? WAITS_FOR_SLOT : WAITS_FOR_NOTHING;
	call->graph = call->awaited_graph = call->held_tracker = call->awaited_tracker = -1;
	call->caller = held_result->caller;
	call->phase = EMOGI_PHASE_ROWS;
}

/* Copy a call that waits for its first slot. */
static void
copy_waiter(const EmogiCaller *waiter, Progress *call)
{
	memset(call, 0, sizeof *call);
	call->state = EMOGI_SLOT_HELD;
	call->wait = WAITS_FOR_SLOT;
	call->graph = call->awaited_graph = call->held_tracker = call->awaited_tracker = -1;
	call->caller = *waiter;
	call->phase = EMOGI_PHASE_IDLE;
}

/* Maximum number of calls in progress or waiting. */
#define MAX_CALLS (EMOGI_NSLOTS + EMOGI_NHELD_RESULTS + EMOGI_NWAITERS)

/*
 * Copy the calls in progress into calls[MAX_CALLS], those with slots first; return their number.
 */
static int
copy_progress(Progress *calls)
{
	int			count = 0;

	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
		if (emogi_shared->slots[i].state != EMOGI_SLOT_FREE)
			copy_slot(&emogi_shared->slots[i], &calls[count++]);
	for (int i = 0; i < EMOGI_NHELD_RESULTS; i++)
		if (emogi_shared->held_results[i].nusers != 0 && !emogi_shared->held_results[i].finished)
			copy_held_result(&emogi_shared->held_results[i], &calls[count++]);
	for (int i = 0; i < EMOGI_NWAITERS; i++)
		if (emogi_shared->waiters[i].pid != 0)
			copy_waiter(&emogi_shared->waiters[i], &calls[count++]);
	LWLockRelease(emogi_shared->lock);
	return count;
}

/* Check whether a call blocks another one. all_taken: all slots are in use. */
static bool
keeps_waiting(const Progress *blocker, const Progress *call, bool all_taken)
{
	if (!blocker->has_slot || blocker == call || blocker->caller.pid == 0)
		return false;
	switch (call->wait)
	{
		case WAITS_FOR_ENGINE:
			return blocker->state == EMOGI_SLOT_RUNNING || blocker->state == EMOGI_SLOT_ORPHAN;
		case WAITS_FOR_SLOT:	/* if some are free, the role has reached its limit */
			return all_taken || blocker->caller.userid == call->caller.userid;
		case WAITS_FOR_BUILD:
			return call->awaited_tracker >= 0 ? blocker->held_tracker == call->awaited_tracker :
				blocker->graph == call->awaited_graph;
		default:
			return false;
	}
}

/* Add the sessions that block a call, NULL if there are none. */
static void
add_blockers(EmogiViewRow *row, const Progress *call, const Progress *calls, int count)
{
	Datum		pids[EMOGI_NSLOTS];
	int			npids = 0;
	int			nslots = 0;

	while (nslots < count && calls[nslots].has_slot)
		nslots++;
	for (int i = 0; i < nslots; i++)
	{
		bool		known = !keeps_waiting(&calls[i], call, nslots == EMOGI_NSLOTS);

		for (int k = 0; k < npids && !known; k++)
			known = DatumGetInt32(pids[k]) == calls[i].caller.pid;
		if (!known)
			pids[npids++] = Int32GetDatum(calls[i].caller.pid);
	}
	emogi_views_add_if(row, npids > 0,
					   PointerGetDatum(construct_array(pids, npids, INT4OID, sizeof(int32), true,
													   TYPALIGN_INT)));
}

/* Add one row of emogi_progress. */
static void
put_progress(FunctionCallInfo fcinfo, const Progress *call, const Progress *calls, int count)
{
	static const char *const waits[] = {
		[WAITS_FOR_NOTHING] = "",
		[WAITS_FOR_ENGINE] = "engine",
		[WAITS_FOR_SLOT] = "slot",
		[WAITS_FOR_BUILD] = "build",
		[WAITS_FOR_ROOM] = "room"
	};
	static const char *const phases[] = {
		[EMOGI_PHASE_IDLE] = "starting",
		[EMOGI_PHASE_SCAN] = "scan",
		[EMOGI_PHASE_KEYS] = "keys",
		[EMOGI_PHASE_CSR] = "csr",
		[EMOGI_PHASE_TRANSFER] = "transfer",
		[EMOGI_PHASE_RUN] = "run",
		[EMOGI_PHASE_ROWS] = "rows",
		[EMOGI_PHASE_REFRESH] = "refresh",
		[EMOGI_PHASE_MERGE] = "merge"
	};
	bool		running = call->state == EMOGI_SLOT_RUNNING || call->state == EMOGI_SLOT_ORPHAN;
	EmogiViewRow row = {0};

	add_caller(&row, &call->caller);
	emogi_views_add_time(&row, call->caller.started);
	emogi_views_add_text(&row, running ? "running" : call->wait == WAITS_FOR_ENGINE ? "queued" :
					   call->wait != WAITS_FOR_NOTHING ? "waiting" : "idle");
	emogi_views_add_text(&row, call->phase < lengthof(phases) ? phases[call->phase] : "");
	emogi_views_add(&row, Int32GetDatum(call->level));
	emogi_views_add(&row, Int64GetDatum(call->done));
	emogi_views_add_if(&row, call->total > 0, Int64GetDatum(call->total));
	emogi_views_add_text(&row, waits[call->wait]);
	add_blockers(&row, call, calls, count);
	emogi_views_put(&row, fcinfo);
}

/*
 * emogi_progress() -> the rows of the view emogi_progress: calls in progress of roles whose
 * privileges the caller has.
 */
Datum
emogi_progress(PG_FUNCTION_ARGS)
{
	Progress   *calls;
	int			count;

	emogi_sql_version_require();
	emogi_compat_init_rows(fcinfo);
	calls = palloc(MAX_CALLS * sizeof(Progress));
	count = copy_progress(calls);
	for (int i = 0; i < count; i++)
		if (emogi_views_may_see_role(calls[i].caller.userid))
			put_progress(fcinfo, &calls[i], calls, count);
	pfree(calls);
	return (Datum) 0;
}
