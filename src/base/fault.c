/*
 * fault.c: fault injection for tests.
 *
 * emogi.fault, which only superusers may set, is a list of name=value:
 *
 * allocation=N              the N-th allocation in the arena by this backend fails, counted from
 *                           the SET
 * engine_allocation=N       the N-th allocation of host memory by an engine fails, in every request
 * device_allocation=N       the N-th allocation of device memory fails
 * device_call=N             the N-th call of the GPU's driver in a run fails
 * worker_exit=POINT         the engine worker ends by proc_exit(1) at POINT of a request of this
 *                           session: keys, csr, expand, pack, unpack, merge, run, batch, path (at
 *                           its start), or done (at the end of any)
 * worker_crash=POINT        the same by SIGKILL
 * PLACE=MICROSECONDS        sleep at a point of the cache's protocol: pre_commit, committed,
 *                           registering, registered, built, published, found, refresh_map,
 *                           refresh_pages, page_rescanned, refresh_store, remote_measured,
 *                           graph_freed, graphs_copied
 * random=1                  sleep a random part of that
 * registration_rule=0       serve cached graphs without the rule that makes them exact
 * trial_rule=0              without preloading, serve cached graphs by the rings of recent writers
 * snapshot_rule=0           read under the statement's snapshot, whatever it sees in the catalogs
 * RULE=0                    refresh graphs without a rule of the change tracker: tracker_undecided,
 *                           tracker_map_lsn, tracker_vacuums, tracker_contains, tracker_page_lsn,
 *                           tracker_snapshot, tracker_newest, tracker_lsn_locked, tracker_distrust,
 *                           tracker_own_rollback, tracker_own_command, tracker_own_others
 * RULE=0                    share graphs of queries without a rule: query_base_tables, query_own,
 *                           query_rows, query_settings, query_fold, query_defaults, query_children,
 *                           query_privileges, query_publish, query_second_lookup, query_tracker,
 *                           query_rescans, query_columns; query_drop: do not evict graphs that no
 *                           call can use
 * idle=MILLISECONDS         evict graphs that only older snapshots can use after this idle time
 * pair_edges=N              searches for single pairs (task_pairs.c) scan at most N edges before
 *                           the run for all of them begins
 * fingerprint=1             computing a fingerprint for other values of constants fails
 * known_load=1              the load for which _emogi_sink takes rows is 1 instead of a secret
 * tracker_by_lsn=0          trust the visibility map by the count of VACUUMs only
 */
#include "postgres.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/guc.h"
#include "utils/varlena.h"
#include "utils/wait_event.h"

#include "base/compat.h"
#include "base/fault.h"
#include "base/settings.h"
#include "base/slot.h"

EmogiFaults emogi_faults;

static char *fault_text;

static const char *const point_names[EMOGI_FAULT_POINTS] = {
	[EMOGI_FAULT_AT_PRE_COMMIT] = "pre_commit",
	[EMOGI_FAULT_AT_COMMITTED] = "committed",
	[EMOGI_FAULT_AT_REGISTERING] = "registering",
	[EMOGI_FAULT_AT_REGISTERED] = "registered",
	[EMOGI_FAULT_AT_BUILT] = "built",
	[EMOGI_FAULT_AT_PUBLISHED] = "published",
	[EMOGI_FAULT_AT_FOUND] = "found",
	[EMOGI_FAULT_AT_REFRESH_MAP] = "refresh_map",
	[EMOGI_FAULT_AT_REFRESH_PAGES] = "refresh_pages",
	[EMOGI_FAULT_AT_PAGE_RESCANNED] = "page_rescanned",
	[EMOGI_FAULT_AT_REFRESH_STORE] = "refresh_store",
	[EMOGI_FAULT_AT_REMOTE_MEASURED] = "remote_measured",
	[EMOGI_FAULT_AT_GRAPH_FREED] = "graph_freed",
	[EMOGI_FAULT_AT_GRAPHS_COPIED] = "graphs_copied"
};

static const char *const tracker_rules[EMOGI_TRACKER_RULES] = {
	[EMOGI_TRACKER_UNDECIDED] = "tracker_undecided",
	[EMOGI_TRACKER_MAP_LSN] = "tracker_map_lsn",
	[EMOGI_TRACKER_VACUUMS] = "tracker_vacuums",
	[EMOGI_TRACKER_BY_LSN] = "tracker_by_lsn",
	[EMOGI_TRACKER_CONTAINS] = "tracker_contains",
	[EMOGI_TRACKER_PAGE_LSN] = "tracker_page_lsn",
	[EMOGI_TRACKER_SNAPSHOT] = "tracker_snapshot",
	[EMOGI_TRACKER_NEWEST] = "tracker_newest",
	[EMOGI_TRACKER_LSN_LOCKED] = "tracker_lsn_locked",
	[EMOGI_TRACKER_DISTRUST] = "tracker_distrust",
	[EMOGI_TRACKER_OWN_ROLLBACK] = "tracker_own_rollback",
	[EMOGI_TRACKER_OWN_COMMAND] = "tracker_own_command",
	[EMOGI_TRACKER_OWN_OTHERS] = "tracker_own_others",
	[EMOGI_TRACKER_CARRIED] = "tracker_carried"
};

static const char *const analysis_rules[EMOGI_ANALYSIS_RULES] = {
	[EMOGI_ANALYSIS_BASE_TABLES] = "query_base_tables",
	[EMOGI_ANALYSIS_OWN] = "query_own",
	[EMOGI_ANALYSIS_FUNCTION_ROWS] = "query_rows",
	[EMOGI_ANALYSIS_SETTINGS] = "query_settings",
	[EMOGI_ANALYSIS_FOLD] = "query_fold",
	[EMOGI_ANALYSIS_DEFAULTS] = "query_defaults",
	[EMOGI_ANALYSIS_CHILDREN] = "query_children",
	[EMOGI_ANALYSIS_PRIVILEGES] = "query_privileges",
	[EMOGI_ANALYSIS_PUBLISH] = "query_publish",
	[EMOGI_ANALYSIS_TYPES] = "query_types",
	[EMOGI_ANALYSIS_SECOND_LOOKUP] = "query_second_lookup",
	[EMOGI_ANALYSIS_DROP] = "query_drop",
	[EMOGI_ANALYSIS_TRACKER] = "query_tracker",
	[EMOGI_ANALYSIS_RESCANS] = "query_rescans",
	[EMOGI_ANALYSIS_COLUMNS] = "query_columns",
	[EMOGI_ANALYSIS_INDEX_SEARCHES] = "query_index_searches"
};

static const char *const request_names[EMOGI_REQUEST_KINDS + 1] = {
	[EMOGI_REQUEST_DICTIONARY] = "dictionary",
	[EMOGI_REQUEST_BUILD] = "keys",
	[EMOGI_REQUEST_CSR] = "csr",
	[EMOGI_REQUEST_EXPAND] = "expand",
	[EMOGI_REQUEST_PACK] = "pack",
	[EMOGI_REQUEST_UNPACK] = "unpack",
	[EMOGI_REQUEST_MERGE] = "merge",
	[EMOGI_REQUEST_COLUMNS] = "columns",
	[EMOGI_REQUEST_RUN] = "run",
	[EMOGI_REQUEST_MSBFS] = "batch",
	[EMOGI_REQUEST_PATH] = "path",
	[EMOGI_REQUEST_KINDS] = "done"
};

/* Return the index of a word in a list; -1 if it is not there. */
static int
find_word(const char *word, const char *const *words, int count)
{
	for (int i = 0; i < count; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	return -1;
}

/* Set how the worker ends; false for an unknown point. */
static bool
read_worker_fault(EmogiFaults *faults, EmogiWorkerFault fault, const char *point)
{
	int			at = find_word(point, request_names, EMOGI_REQUEST_KINDS + 1);

	if (at < 0)
		return false;
	faults->worker = fault;
	faults->worker_at = at;
	return true;
}

/* Parse one name=value; false if it is invalid. */
static bool
read_fault(EmogiFaults *faults, char *item)
{
	char	   *value = strchr(item, '=');
	char	   *end;
	long		number;
	int			i;

	if (value == NULL)
		return false;
	*value++ = '\0';
	if (strcmp(item, "worker_exit") == 0)
		return read_worker_fault(faults, EMOGI_WORKER_EXITS, value);
	if (strcmp(item, "worker_crash") == 0)
		return read_worker_fault(faults, EMOGI_WORKER_CRASHES, value);
	number = strtol(value, &end, 10);
	if (end == value || *end != '\0' || number < 0 || number > INT_MAX)
		return false;
	if ((i = find_word(item, point_names, EMOGI_FAULT_POINTS)) >= 0)
		faults->sleep_us[i] = (int) number;
	else if ((i = find_word(item, tracker_rules, EMOGI_TRACKER_RULES)) >= 0)
		faults->tracker[i] = number == 0;
	else if ((i = find_word(item, analysis_rules, EMOGI_ANALYSIS_RULES)) >= 0)
		faults->analysis[i] = number == 0;
	else if (strcmp(item, "allocation") == 0)
		faults->allocation = (int) number;
	else if (strcmp(item, "engine_allocation") == 0)
		faults->engine_allocation = (int) number;
	else if (strcmp(item, "device_allocation") == 0)
		faults->device_allocation = (int) number;
	else if (strcmp(item, "device_call") == 0)
		faults->device_call = (int) number;
	else if (strcmp(item, "random") == 0)
		faults->random_sleeps = number != 0;
	else if (strcmp(item, "registration_rule") == 0)
		faults->no_registration_rule = number == 0;
	else if (strcmp(item, "trial_rule") == 0)
		faults->trusts_rings = number == 0;
	else if (strcmp(item, "fingerprint") == 0)
		faults->fingerprint = number != 0;
	else if (strcmp(item, "known_load") == 0)
		faults->known_load = number != 0;
	else if (strcmp(item, "idle") == 0)
		faults->idle_ms = (int) number + 1;
	else if (strcmp(item, "pair_edges") == 0)
		faults->pair_edges = (uint64) number + 1;
	else if (strcmp(item, "snapshot_rule") == 0)
		faults->no_snapshot_rule = number == 0;
	else
		return false;
	return true;
}

static bool
check_fault(char **text, void **extra, GucSource source)
{
	EmogiFaults faults = {0};
	char	   *copy = pstrdup(*text);
	List	   *items;
	ListCell   *cell;

	if (!SplitIdentifierString(copy, ',', &items))
		return false;
	foreach(cell, items)
	{
		if (!read_fault(&faults, lfirst(cell)))
		{
			GUC_check_errdetail("Unrecognized item \"%s\".", (char *) lfirst(cell));
			return false;
		}
	}
	*extra = emogi_compat_guc_malloc(sizeof faults);
	if (*extra == NULL)
		return false;
	memcpy(*extra, &faults, sizeof faults);
	return true;
}

static void
assign_fault(const char *text, void *extra)
{
	memcpy(&emogi_faults, extra, sizeof emogi_faults);
}

/* Define emogi.fault; called once, in the postmaster. */
void
emogi_fault_define(void)
{
	DefineCustomStringVariable("emogi.fault",
							   "Injects faults, for tests of emogi.",
							   NULL,
							   &fault_text, "",
							   PGC_SUSET, EMOGI_SETTING_FLAGS | GUC_NOT_IN_SAMPLE | GUC_NO_SHOW_ALL,
							   check_fault, assign_fault, NULL);
}

/* Sleep at a point, which is set. */
void
emogi_fault_sleep_now(EmogiFaultPoint point)
{
	int			us = emogi_faults.sleep_us[point];
	TimestampTz end;

	end = GetCurrentTimestamp() + (emogi_faults.random_sleeps ? random() % us : us);
	pgstat_report_wait_start(WAIT_EVENT_PG_SLEEP);	/* visible to tests in pg_stat_activity */
	for (TimestampTz now = GetCurrentTimestamp(); now < end; now = GetCurrentTimestamp())
		pg_usleep((long) (end - now));	/* a signal may cut it short */
	pgstat_report_wait_end();
}

/* Count an allocation in the arena; true if it must fail. */
bool
emogi_fault_allocation(void)
{
	return emogi_faults.allocation > 0 && --emogi_faults.allocation == 0;
}
