/*
 * call_record.c: the record of a call: who calls, its phases, its outcome.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

#include "call/call.h"

/* Copy text into an array, truncated at a character boundary. */
static void
copy_text(char *to, Size bytes, const char *from)
{
	Size		length = strlen(from);

	if (length >= bytes)
		length = pg_mbcliplen(from, (int) Min(length, (Size) INT_MAX), (int) bytes - 1);
	memcpy(to, from, length);
	to[length] = '\0';
}

/* Record why a call's graph bypasses the cache. */
void
emogi_call_record_private(EmogiCall *call, const char *why)
{
	copy_text(call->record.why_private, sizeof call->record.why_private, why);
}

/* Get the name of an origin in the column `cache` of emogi_runs. */
const char *
emogi_call_origin_name(EmogiGraphOrigin origin)
{
	static const char *const names[] = {
		[EMOGI_GRAPH_NONE] = "",[EMOGI_GRAPH_FOUND] = "hit",[EMOGI_GRAPH_STALE] = "stale",
		[EMOGI_GRAPH_BUILT] = "built",[EMOGI_GRAPH_MERGED] = "merged",
		[EMOGI_GRAPH_OVERLAID] = "overlay",[EMOGI_GRAPH_PRIVATE] = "private",
		[EMOGI_GRAPH_INDEX] = "index"
	};

	return names[origin];
}

/* Get why a call built and published its graph, for the column why_built; "" if it did not. */
const char *
emogi_call_why_built(const EmogiCallRecord *run)
{
	static const char *const reasons[] = {
		[EMOGI_MISS_NONE] = "",
		[EMOGI_MISS_NOT_CACHED] = "no graph of it was cached",
		[EMOGI_MISS_EVICTED] = "its graph was evicted to make room",
		[EMOGI_MISS_SERVER_ROWS] = "no graph of the rows that the servers have now was cached",
		[EMOGI_MISS_COLUMNS] = "the cached graphs have other columns",
		[EMOGI_MISS_WEIGHTS] = "the cached graphs do not have these weights",
		[EMOGI_MISS_LISTS] = "the cached graphs have another direction",
		[EMOGI_MISS_TABLES] = "other partitions or child tables have rows",
		[EMOGI_MISS_REWRITTEN] = "a table was rewritten or truncated",
		[EMOGI_MISS_OLD_SNAPSHOT] = "the snapshot is older than the cached graph",
		[EMOGI_MISS_OUTDATED] = "the cached graph is outdated",
		[EMOGI_MISS_INCREMENTAL_OFF] = "not refreshed: emogi.enable_incremental is off",
		[EMOGI_MISS_SERVERS] = "not refreshed: some rows are on other servers",
		[EMOGI_MISS_QUERY] = "not refreshed: the query is not one table with conditions",
		[EMOGI_MISS_UNLOGGED] = "not refreshed: a table is unlogged",
		[EMOGI_MISS_KEY_TYPE] = "not refreshed: equal keys can have different bytes",
		[EMOGI_MISS_SMALL] = "not refreshed: the table is below emogi.incremental_min_size",
		[EMOGI_MISS_FIRST_BUILD] =
		"not refreshed: conditions are tracked from the second build on",
		[EMOGI_MISS_INDEX] = "not refreshed: an index makes a build cheaper",
		[EMOGI_MISS_NO_TRACKER] = "not refreshed: there was no change tracker",
		[EMOGI_MISS_MANY_PAGES] = "not refreshed: too many pages were added or removed",
		[EMOGI_MISS_MANY_CHANGES] = "not refreshed: too many edges have changed",
		[EMOGI_MISS_NO_CODES] = "not refreshed: the dictionary has no room for new keys",
		[EMOGI_MISS_WIDE_VALUE] =
		"not refreshed: a new key or weight is too wide for the change tracker",
		[EMOGI_MISS_CONDITION] =
		"not refreshed: an object of a condition was replaced during the call",
		[EMOGI_MISS_PROMOTED] = "not refreshed: the server was promoted",
		[EMOGI_MISS_THRESHOLD] =
		"not refreshed: the snapshot is old and old_snapshot_threshold is set",
		[EMOGI_MISS_LOG] =
		"not refreshed: the changes since the cached graph are no longer logged"
	};

	return run->origin == EMOGI_GRAPH_BUILT ? reasons[run->why_built] : "";
}

/* Record the caller, the function and the source. */
void
emogi_call_describe_caller(EmogiCallRecord *run, const char *name, const EmogiSource *source)
{
	EmogiCaller *caller = &run->caller;
	const char *text;

	caller->started = GetCurrentTimestamp();
	caller->pid = MyProcPid;
	caller->userid = GetUserId();
	caller->database = MyDatabaseId;
	copy_text(caller->function, sizeof caller->function, name);
	text = emogi_edge_condition_show(source->graph);
	copy_text(caller->source, sizeof caller->source, text);

	run->relid = source->relid;
	if (!OidIsValid(source->relid))
		run->query = emogi_query_id_of_text(text, &text);
	copy_text(run->text, sizeof run->text, text);
}

/* Enter a phase of a call; the time since the last phase change is added to the phase that ends. */
void
emogi_call_phase(EmogiCall *call, EmogiPhase phase)
{
	instr_time	now;
	instr_time	passed;

	INSTR_TIME_SET_CURRENT(now);
	passed = now;
	INSTR_TIME_SUBTRACT(passed, call->since);
	call->phase_ms[call->phase] += INSTR_TIME_GET_MILLISEC(passed);
	if (call->phase != EMOGI_PHASE_ROWS)	/* other calls may have run, and waited, in that phase */
		call->record.wait_ms += emogi_shared_waited_ms() - call->waited_since_ms;
	call->waited_since_ms = emogi_shared_waited_ms();
	call->phase = phase;
	call->since = now;
	if (call->slot != NULL)
		call->slot->control.phase = phase;
}

/*
 * Enter a phase that began in the engine worker, at a time on the clock of emogi_pool_now_ms, as
 * emogi_call_phase does.
 */
void
emogi_call_phase_since(EmogiCall *call, EmogiPhase phase, double since_ms)
{
	const EmogiPhase before = call->phase;
	const double ms = emogi_pool_now_ms() - since_ms;

	emogi_call_phase(call, phase);
	call->phase_ms[before] -= ms;
	call->phase_ms[phase] += ms;
}

/* Record a call that has ended, in emogi_runs and emogi_stat_graphs. Raises nothing. */
void
emogi_call_record(EmogiCall *call, bool failed)
{
	EmogiCallRecord *run = &call->record;

	emogi_call_phase(call, EMOGI_PHASE_IDLE);
	run->failed = failed;
	run->scan_ms = call->phase_ms[EMOGI_PHASE_SCAN];
	run->keys_ms = call->phase_ms[EMOGI_PHASE_KEYS];
	run->csr_ms = call->phase_ms[EMOGI_PHASE_CSR];
	run->rows_ms = call->phase_ms[EMOGI_PHASE_ROWS];
	run->refresh_ms = call->phase_ms[EMOGI_PHASE_REFRESH];
	run->merge_ms = call->phase_ms[EMOGI_PHASE_MERGE];
	run->total_ms = 0;
	for (int i = 0; i < (int) lengthof(call->phase_ms); i++)
		run->total_ms += call->phase_ms[i];
	emogi_run_log_record(run);
	emogi_call_statistics_count(run);
}

/* Record a call that succeeded, and log its times at DEBUG1. */
void
emogi_call_report(EmogiCall *call)
{
	emogi_call_record(call, false);
	ereport(DEBUG1,
			(errmsg_internal("emogi phases: scan %.1f ms, keys %.1f ms, csr %.1f ms, run %.1f ms, "
							 "rows %.1f ms",
							 call->phase_ms[EMOGI_PHASE_SCAN], call->phase_ms[EMOGI_PHASE_KEYS],
							 call->phase_ms[EMOGI_PHASE_CSR], call->phase_ms[EMOGI_PHASE_RUN],
							 call->phase_ms[EMOGI_PHASE_ROWS])));
}
