/*
 * settings.c: the settings emogi.*, except those of the papers' systems (papers_settings.c), limits
 * (limits.c) and tests (fault.c)
 *
 * Several are fixed at server start. Without preloading those are fixed when a trial's arena is
 * created (trial.c).
 */
#include "postgres.h"

#include <limits.h>

#include "nodes/pg_list.h"
#include "utils/varlena.h"

#include "base/compat.h"
#include "base/machine.h"
#include "base/settings.h"
#include "base/shared.h"

bool		emogi_trial_is_on = false;
int			emogi_engine = EMOGI_ENGINE_AUTO;
int			emogi_placement = EMOGI_PLACEMENT_AUTO;
int			emogi_max_memory_mb;
int			emogi_huge_pages = EMOGI_HUGE_PAGES_OFF;
bool		emogi_huge_pages_status = false;
int			emogi_device_memory_mb = 0;
uint32		emogi_device_set = 0;
static char *devices;
int			emogi_cpu_threads = 0;
int			emogi_build_workers = -1;
int			emogi_server_connections = 4;
bool		emogi_enable_cache = true;
bool		emogi_enable_incremental = true;
int			emogi_max_staleness_ms = 0;
int			emogi_incremental_min_size_kb = 0;
bool		emogi_enable_scan = true;
bool		emogi_enable_aggregates = true;
bool		emogi_enable_topk = true;
bool		emogi_enable_join_lookup = true;
bool		emogi_enable_batch = true;
bool		emogi_enable_local_search = true;
bool		emogi_enable_contraction = true;
int			emogi_contraction_min_calls = -1;
bool		emogi_enable_property_columns = false;
bool		emogi_enable_index_search = true;
int			emogi_index_search_min_size_kb = 8 * 1024;
bool		emogi_notice_missing_source = false;
bool		emogi_notice_trial = true;
int			emogi_runs_entries = 256;
int			emogi_stat_max = 5000;

/* Without preloading these are of the arena, which may be older than the configuration. */
static EmogiArenaSettings configured;

/* Get the context of settings that are fixed at server start, or as a trial's arena is created. */
static GucContext
fixed_context(void)
{
	return emogi_trial_is_on ? PGC_SIGHUP : PGC_POSTMASTER;
}

/* Get the variable of a setting that all processes with the arena must agree on. */
static int *
arena_variable(int *used, int *set)
{
	return emogi_trial_is_on ? set : used;
}

/* Get the values that a new arena has without preloading. */
const EmogiArenaSettings *
emogi_settings_of_new_arena(void)
{
	return &configured;
}

/* Use the values of the arena that this process has attached to. */
void
emogi_settings_use(const EmogiArenaSettings *settings)
{
	emogi_max_memory_mb = settings->max_memory_mb;
	emogi_runs_entries = settings->runs_entries;
	emogi_stat_max = settings->stat_max;
}

static const struct config_enum_entry engine_options[] = {
	{"auto", EMOGI_ENGINE_AUTO, false},
	{"cpu", EMOGI_ENGINE_CPU, false},
	{"cuda", EMOGI_ENGINE_CUDA, false},
	{NULL, 0, false}
};

static const struct config_enum_entry placement_options[] = {
	{"auto", EMOGI_PLACEMENT_AUTO, false},
	{"host", EMOGI_PLACEMENT_HOST, false},
	{"device", EMOGI_PLACEMENT_DEVICE, false},
	{"hybrid", EMOGI_PLACEMENT_HYBRID, false},
	{"peer", EMOGI_PLACEMENT_PEER, false},
	{"managed", EMOGI_PLACEMENT_MANAGED, false},
	{"staged", EMOGI_PLACEMENT_STAGED, false},
	{NULL, 0, false}
};

/* The values of PostgreSQL's own huge_pages. */
static const struct config_enum_entry huge_pages_options[] = {
	{"off", EMOGI_HUGE_PAGES_OFF, false},
	{"on", EMOGI_HUGE_PAGES_ON, false},
	{"try", EMOGI_HUGE_PAGES_TRY, false},
	{"true", EMOGI_HUGE_PAGES_ON, true},
	{"false", EMOGI_HUGE_PAGES_OFF, true},
	{"yes", EMOGI_HUGE_PAGES_ON, true},
	{"no", EMOGI_HUGE_PAGES_OFF, true},
	{"1", EMOGI_HUGE_PAGES_ON, true},
	{"0", EMOGI_HUGE_PAGES_OFF, true},
	{NULL, 0, false}
};

/* Get the name of a value of an enum setting; an empty string if it has none. */
const char *
emogi_settings_option_name(const struct config_enum_entry *options, int value)
{
	for (; options->name != NULL; options++)
		if (options->val == value)
			return options->name;
	return "";
}

/* Get the name of a placement in emogi.placement. */
const char *
emogi_settings_placement_name(EmogiPlacement placement)
{
	return emogi_settings_option_name(placement_options, placement);
}

/*
 * Get the bytes that one request may use for optional purposes: a sixteenth of the memory outside
 * the arena.
 */
uint64
emogi_settings_spare_bytes(void)
{
	uint64		there = emogi_machine_bytes();
	uint64		arena_bytes = (uint64) emogi_max_memory_mb * 1024 * 1024;

	return there > arena_bytes ? (there - arena_bytes) / 16 : 0;
}

/* Get half of the memory that this server may use. */
static int
default_max_memory_mb(void)
{
	return (int) Max(Min(emogi_machine_bytes() / 2 / (1024 * 1024), (uint64) INT_MAX / 2), 64);
}

/* Read the number of a GPU; return false if it is not valid. */
static bool
read_device(const char *word, int *number)
{
	char	   *end;
	long		value;

	errno = 0;
	value = strtol(word, &end, 10);
	if (errno != 0 || end == word || *end != '\0' || value < 0 || value >= EMOGI_MAX_DEVICES)
		return false;
	*number = (int) value;
	return true;
}

/* Read emogi.devices: all, or comma-separated numbers. set: bits by number; 0 = all. */
static bool
read_devices(const char *setting, uint32 *set)
{
	char	   *text = pstrdup(setting);
	List	   *words = NIL;
	ListCell   *cell;
	bool		ok = SplitIdentifierString(text, ',', &words) && words != NIL;

	*set = 0;
	if (ok && list_length(words) == 1 && strcmp(linitial(words), "all") == 0)
		return true;
	foreach(cell, words)
	{
		int			number;

		ok = ok && read_device(lfirst(cell), &number) && (*set & (UINT32_C(1) << number)) == 0;
		if (ok)
			*set |= UINT32_C(1) << number;
	}
	return ok;
}

static bool
check_devices(char **newval, void **extra, GucSource source)
{
	uint32		set;

	if (read_devices(*newval, &set))
		return true;
	GUC_check_errdetail("The value must be \"all\" or a comma-separated list of distinct GPU "
						"numbers from 0 to %d.", EMOGI_MAX_DEVICES - 1);
	return false;
}

static void
assign_devices(const char *newval, void *extra)
{
	(void) read_devices(newval, &emogi_device_set);
}

/*
 * Warn of a budget above the available memory: the kernel would then kill the server when memory is
 * exhausted.
 */
static void
warn_of_max_memory(void)
{
	uint64		there_mb = emogi_machine_bytes() / (1024 * 1024);

	if ((uint64) emogi_max_memory_mb > there_mb)
		ereport(WARNING,
				(errmsg("emogi.max_memory exceeds the memory available to the server"),
				 errdetail("emogi.max_memory is %dMB; the machine, or the control group, has "
						   "%lluMB.",
						   emogi_max_memory_mb, (unsigned long long) there_mb),
				 errhint("Lower emogi.max_memory; otherwise graphs can exhaust the memory.")));
}

/*
 * Define the settings of huge pages. Off by default, because an existing pool was usually
 * configured for something else, mostly shared_buffers.
 */
static void
define_huge_pages(void)
{
	DefineCustomEnumVariable("emogi.huge_pages",
							 "Enables the use of huge pages for graphs and results.",
							 "If there are too few for emogi.max_memory, the server does not start "
							 "with on, and uses ordinary pages with try.",
							 &emogi_huge_pages, EMOGI_HUGE_PAGES_OFF, huge_pages_options,
							 fixed_context(), EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.huge_pages_status",
							 "Shows whether graphs and results are in huge pages.",
							 NULL,
							 &emogi_huge_pages_status, false,
							 PGC_INTERNAL, GUC_NOT_IN_SAMPLE | GUC_DISALLOW_IN_FILE, NULL, NULL,
							 NULL);
}

/* Define the sizes of the run log and of the statistics. */
static void
define_statistics(void)
{
	DefineCustomIntVariable("emogi.runs_max",
							"Sets the number of calls listed in emogi_runs.",
							NULL,
							arena_variable(&emogi_runs_entries, &configured.runs_entries),
							256, 16, 100000,
							fixed_context(), EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.stat_max",
							"Sets the maximum number of rows of emogi_stat_graphs.",
							"The least used rows are evicted.",
							arena_variable(&emogi_stat_max, &configured.stat_max),
							5000, 100, EMOGI_MAX_STAT_ENTRIES,
							fixed_context(), EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
}

/* Define the settings; called once, in the postmaster or as the library is loaded. */
void
emogi_settings_define(void)
{
	DefineCustomEnumVariable("emogi.engine",
							 "Selects the engine that runs traversals.",
							 "auto uses a GPU if there is one and the graph is large enough; cuda "
							 "raises an error if there is none.",
							 &emogi_engine, EMOGI_ENGINE_AUTO, engine_options,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomEnumVariable("emogi.placement",
							 "Selects the memory from which a GPU reads edges.",
							 "host reads them in place over the link; device copies them to the "
							 "GPU first; hybrid copies some neighbors of each vertex; peer copies "
							 "what does not fit on one GPU to others; managed lets the driver move "
							 "pages; staged copies the lists of each iteration; auto copies what "
							 "fits.",
							 &emogi_placement, EMOGI_PLACEMENT_AUTO, placement_options,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_cache",
							 "Enables the cache of graphs, which sessions share.",
							 "Otherwise each call builds its graph. Answers are the same.",
							 &emogi_enable_cache, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_incremental",
							 "Enables incremental maintenance of cached graphs.",
							 "Otherwise graphs are rebuilt after each change. Answers are the "
							 "same.",
							 &emogi_enable_incremental, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.max_staleness",
							"Sets the maximum age of a cached graph that is used without checking "
							"for changes.",
							"0 requires exact answers. Ignored in REPEATABLE READ and in "
							"transactions that have changed the table.",
							&emogi_max_staleness_ms, 0, 0, INT_MAX,
							PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_UNIT_MS | GUC_EXPLAIN,
							NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.incremental_min_size",
							"Sets the minimum size of tables whose graphs are maintained "
							"incrementally.",
							"The graphs of smaller tables are rebuilt.",
							&emogi_incremental_min_size_kb, 0, 0, INT_MAX,
							PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_scan",
							 "Enables scans of functions in FROM, which stream their rows.",
							 "Otherwise PostgreSQL materializes the rows. Answers are the same.",
							 &emogi_enable_scan, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_batch",
							 "Enables multi-source searches from the outer rows of a LATERAL join.",
							 "Otherwise each row is searched separately. Answers are the same.",
							 &emogi_enable_batch, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_aggregates",
							 "Enables pushdown of aggregates into functions in FROM.",
							 "Otherwise PostgreSQL aggregates the rows. Answers are the same.",
							 &emogi_enable_aggregates, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_topk",
							 "Enables pushdown of ORDER BY with LIMIT into functions in FROM.",
							 "Otherwise PostgreSQL sorts the rows. Answers are the same.",
							 &emogi_enable_topk, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_join_lookup",
							 "Enables joins that look up vertices in the result of a function.",
							 "Otherwise PostgreSQL joins the rows. Answers are the same.",
							 &emogi_enable_join_lookup, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_local_search",
							 "Enables searches in the backend if they reach few vertices.",
							 "Otherwise the engine runs all searches, on graphs without an "
							 "overlay. Answers are the same.",
							 &emogi_enable_local_search, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_contraction",
							 "Enables contraction hierarchies for distant shortest paths in cached "
							 "road-like graphs.",
							 "Otherwise each path is searched without one. Answers are the same.",
							 &emogi_enable_contraction, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.contraction_min_calls",
							"Sets the number of distant path searches after which a graph's "
							"contraction hierarchy is built.",
							"-1 builds it in the background when the searches have taken as long "
							"as its build is expected to take.",
							&emogi_contraction_min_calls, -1, -1, INT_MAX,
							PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_property_columns",
							 "Enables property columns of cached graphs, for conditions on edges.",
							 "Otherwise each condition needs a graph of its own. Answers are the "
							 "same.",
							 &emogi_enable_property_columns, false,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_index_search",
							 "Enables index searches for graphs that are not cached, if few "
							 "vertices are reached.",
							 "Otherwise the graph is built. Answers are the same.",
							 &emogi_enable_index_search, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.index_search_min_size",
							"Sets the minimum size of tables that are searched by their indexes.",
							"The graphs of smaller tables are built.",
							&emogi_index_search_min_size_kb, 8 * 1024, 0, INT_MAX,
							PGC_USERSET, EMOGI_SETTING_FLAGS | GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.notice_missing_source",
							 "Raises a notice when a source is not a vertex of the graph.",
							 "Raised once per statement. Otherwise such a source only returns no "
							 "rows.",
							 &emogi_notice_missing_source, false,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.notice_trial",
							 "Raises a notice in each session that uses emogi without "
							 "shared_preload_libraries.",
							 "Raised by the first call of the session.",
							 &emogi_notice_trial, true,
							 PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.build_workers",
							"Sets the maximum number of parallel workers that scan a table.",
							"-1 means max_parallel_workers_per_gather.",
							&emogi_build_workers, -1, -1, 1024,
							PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.server_connections",
							"Sets the number of connections of a call to each server of foreign or "
							"Citus tables.",
							"0 leaves reading to postgres_fdw and Citus. Answers are the same.",
							&emogi_server_connections, 4, 0, 64,
							PGC_USERSET, EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.max_memory",
							"Sets the memory budget of all graphs and results.",
							"The default is half of the memory of the machine or of its control "
							"group.",
							arena_variable(&emogi_max_memory_mb, &configured.max_memory_mb),
							default_max_memory_mb(), 16, INT_MAX / 2,
							fixed_context(), EMOGI_SETTING_FLAGS | GUC_UNIT_MB, NULL, NULL, NULL);
	define_huge_pages();
	DefineCustomStringVariable("emogi.devices",
							   "Sets the GPUs to use.",
							   "\"all\", or a comma-separated list of their numbers in "
							   "emogi_devices.",
							   &devices, "all",
							   fixed_context(), EMOGI_SETTING_FLAGS,
							   check_devices, assign_devices, NULL);
	DefineCustomIntVariable("emogi.device_memory",
							"Sets the maximum memory used on each GPU.",
							"0 means all free memory.",
							&emogi_device_memory_mb, 0, 0, INT_MAX,
							fixed_context(), EMOGI_SETTING_FLAGS | GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.cpu_threads",
							"Sets the number of threads of the CPU engine.",
							"0 means one per processor.",
							&emogi_cpu_threads, 0, 0, 1024,
							fixed_context(), EMOGI_SETTING_FLAGS, NULL, NULL, NULL);
	if (emogi_cpu_threads == 0)
		emogi_cpu_threads = emogi_machine_processors();
	define_statistics();
	if (!emogi_trial_is_on)
		warn_of_max_memory();
}
