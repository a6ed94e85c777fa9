/*
 * guc.c: the settings, emogi.*.
 *
 * Only under shared_preload_libraries: several are fixed when the server starts.
 */
#include "emogi.h"

#include <sched.h>
#include <unistd.h>

int			emogi_engine = EMOGI_ENGINE_AUTO;
int			emogi_placement = EMOGI_PLACEMENT_AUTO;
int			emogi_mapping = EMOGI_MAPPING_AUTO;
bool		emogi_prefetch = false;
bool		emogi_asynchronous = false;
int			emogi_max_memory_mb;
int			emogi_device_memory_mb = 0;
int			emogi_cpu_threads = 0;
int			emogi_build_workers = -1;
int			emogi_session_calls = 64;
int			emogi_role_calls = EMOGI_NHOLDINGS / 2;
int			emogi_role_slots = EMOGI_NSLOTS / 4 * 3;
int			emogi_session_memory_mb = -1;
int			emogi_role_memory_mb = -1;
bool		emogi_cache = true;
bool		emogi_enable_scan = true;
bool		emogi_enable_batch = true;
bool		emogi_notice_missing_source = false;

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
	{"managed", EMOGI_PLACEMENT_MANAGED, false},
	{"staged", EMOGI_PLACEMENT_STAGED, false},
	{NULL, 0, false}
};

static const struct config_enum_entry mapping_options[] = {
	{"auto", EMOGI_MAPPING_AUTO, false},
	{"thread", EMOGI_MAPPING_THREAD, false},
	{"warp", EMOGI_MAPPING_WARP, false},
	{"aligned", EMOGI_MAPPING_ALIGNED, false},
	{"virtual2", EMOGI_MAPPING_VIRTUAL2, false},
	{"virtual4", EMOGI_MAPPING_VIRTUAL4, false},
	{"virtual8", EMOGI_MAPPING_VIRTUAL8, false},
	{"virtual16", EMOGI_MAPPING_VIRTUAL16, false},
	{"degree_cut", EMOGI_MAPPING_DEGREE_CUT, false},
	{"shards", EMOGI_MAPPING_SHARDS, false},
	{"windows", EMOGI_MAPPING_WINDOWS, false},
	{NULL, 0, false}
};

StaticAssertDecl(lengthof(mapping_options) == EMOGI_NMAPPINGS + 1, "every mapping has a name");

/* Get the name of a value of an enum setting; empty when it has none. */
static const char *
option_name(const struct config_enum_entry *options, int value)
{
	for (; options->name != NULL; options++)
		if (options->val == value)
			return options->name;
	return "";
}

/* Get what emogi.placement calls a placement. */
const char *
emogi_placement_name(EmogiPlacement placement)
{
	return option_name(placement_options, placement);
}

/* Get what emogi.mapping calls a mapping. */
const char *
emogi_mapping_name(EmogiMapping mapping)
{
	return option_name(mapping_options, mapping);
}

/* Read one number of bytes from a file of the kernel's; 0 when it holds none ("max") or is not there. */
static uint64
read_bytes(const char *path)
{
	FILE	   *file = fopen(path, "r");
	unsigned long long value = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

/* Lower a number of bytes to the limits of a control group and of those around it. top: folder of the outermost. */
static void
apply_group_limits(uint64 *bytes, const char *top, const char *group, const char *file)
{
	char		path[MAXPGPATH];
	char		limit_path[MAXPGPATH];
	uint64		limit;

	snprintf(path, sizeof path, "%s%s", top, group);
	for (;;)
	{
		snprintf(limit_path, sizeof limit_path, "%s/%s", path, file);
		limit = read_bytes(limit_path);
		if (limit > 0 && limit < *bytes)
			*bytes = limit;
		if (strlen(path) <= strlen(top))
			break;
		*strrchr(path, '/') = '\0';
	}
}

/* Is "memory" one of the controllers in a list with commas? */
static bool
lists_memory(const char *controllers)
{
	for (const char *name = controllers; name != NULL; name = strchr(name, ','))
	{
		name += *name == ',';
		if (strncmp(name, "memory", 6) == 0 && (name[6] == ',' || name[6] == '\0'))
			return true;
	}
	return false;
}

/* Get the memory that this server may use: the machine's, or that of its control group (version 1 or 2), which may be less. */
uint64
emogi_machine_bytes(void)
{
	static uint64 bytes = 0;	/* found out by the postmaster */
	const char *const v1 = "/sys/fs/cgroup/memory";
	const char *const v2 = "/sys/fs/cgroup";
	char		line[MAXPGPATH];
	FILE	   *file;

	if (bytes > 0)
		return bytes;
	bytes = (uint64) sysconf(_SC_PHYS_PAGES) * (uint64) sysconf(_SC_PAGESIZE);
	apply_group_limits(&bytes, v1, "", "memory.limit_in_bytes");
	apply_group_limits(&bytes, v2, "", "memory.max");
	file = fopen("/proc/self/cgroup", "r");
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
	{
		/* each line is number:controllers:path, without controllers for version 2 */
		char	   *controllers = strchr(line, ':');
		char	   *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;

		if (group == NULL)
			continue;
		*controllers++ = *group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (group[0] == '/' && group[1] != '\0' && controllers[0] == '\0')
			apply_group_limits(&bytes, v2, group, "memory.max");
		else if (group[0] == '/' && group[1] != '\0' && lists_memory(controllers))
			apply_group_limits(&bytes, v1, group, "memory.limit_in_bytes");
	}
	if (file != NULL)
		fclose(file);
	return bytes;
}

/* Get half of that memory. */
static int
default_max_memory_mb(void)
{
	return (int) Max(Min(emogi_machine_bytes() / 2 / (1024 * 1024), (uint64) INT_MAX / 2), 64);
}

/* Warn of a budget that is more than there is: nothing would keep the kernel from ending the server. */
static void
warn_of_max_memory(void)
{
	uint64		there_mb = emogi_machine_bytes() / (1024 * 1024);

	if ((uint64) emogi_max_memory_mb > there_mb)
		ereport(WARNING,
				(errmsg("emogi.max_memory is more than the memory that this server may use"),
				 errdetail("emogi.max_memory is %dMB; the machine, or the control group, has %lluMB.",
						   emogi_max_memory_mb, (unsigned long long) there_mb),
				 errhint("Lower emogi.max_memory, or graphs may take more memory than there is.")));
}

/* Get the number of processors this server may run on. */
static int
usable_processors(void)
{
	cpu_set_t	set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return Max(CPU_COUNT(&set), 1);
	return (int) Max(sysconf(_SC_NPROCESSORS_ONLN), 1);
}

/* Define the limits of limits.c. */
static void
define_limits(void)
{
	DefineCustomIntVariable("emogi.session_calls",
							"Calls of one session at once that have an engine's slot or shared memory.",
							"0 means no limit. Superusers have none.",
							&emogi_session_calls, 64, 0, EMOGI_NACCOUNTS,
							PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.role_calls",
							"Calls of all sessions of a role at once that have an engine's slot or shared memory.",
							"0 means no limit. Superusers have none.",
							&emogi_role_calls, EMOGI_NHOLDINGS / 2, 0, EMOGI_NACCOUNTS,
							PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.role_slots",
							"Calls of all sessions of a role that are in progress at once; further ones wait.",
							"0 means no limit. Superusers have none.",
							&emogi_role_slots, EMOGI_NSLOTS / 4 * 3, 0, EMOGI_NSLOTS,
							PGC_SUSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.session_memory",
							"Memory that the calls of one session may take.",
							"-1 means three quarters of emogi.max_memory, 0 no limit. Superusers have none.",
							&emogi_session_memory_mb, -1, -1, INT_MAX / 2,
							PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.role_memory",
							"Memory that the calls of all sessions of a role may take.",
							"-1 means three quarters of emogi.max_memory, 0 no limit. Superusers have none.",
							&emogi_role_memory_mb, -1, -1, INT_MAX / 2,
							PGC_SUSET, GUC_UNIT_MB, NULL, NULL, NULL);
}

/* Define all settings; called once, in the postmaster. */
void
emogi_define_gucs(void)
{
	DefineCustomEnumVariable("emogi.engine",
							 "Engine that runs traversals.",
							 "auto takes a GPU when there is one and the graph is large enough for it; cuda raises an error when there is none.",
							 &emogi_engine, EMOGI_ENGINE_AUTO, engine_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("emogi.placement",
							 "Memory from which a GPU reads edges.",
							 "host reads them in place over the link; device copies them to the GPU first; hybrid copies some neighbours of each vertex; managed has the driver move pages; staged copies the lists of each iteration; auto copies what fits.",
							 &emogi_placement, EMOGI_PLACEMENT_AUTO, placement_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomEnumVariable("emogi.mapping",
							 "How the threads of a GPU take edges.",
							 "auto takes emogi's own kernels; the others work as the systems that it is compared with. Answers are the same, but for the rounding of sums.",
							 &emogi_mapping, EMOGI_MAPPING_AUTO, mapping_options,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.prefetch",
							 "Brings all edges to the GPU before the run, with placement managed.",
							 "off leaves it to the driver to move pages as the run reads them. Answers are the same.",
							 &emogi_prefetch, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.asynchronous",
							 "Iterates on the lists that were brought until nothing changes there, with placement staged.",
							 "off goes over them once. Sums ignore it. Answers are the same.",
							 &emogi_asynchronous, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.cache",
							 "Shares the graphs of tables between calls and sessions.",
							 "off builds one for each call. Answers are the same.",
							 &emogi_cache, true,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_scan",
							 "Streams the rows of functions in FROM.",
							 "off has PostgreSQL collect all rows before the first is used. Answers are the same.",
							 &emogi_enable_scan, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.enable_batch",
							 "Searches from many outer rows of a LATERAL join at once.",
							 "off has a run for each row. Answers are the same.",
							 &emogi_enable_batch, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	DefineCustomBoolVariable("emogi.notice_missing_source",
							 "Raises a notice when a source is not a vertex of the graph.",
							 "off gives no rows and says nothing. It is raised once a statement.",
							 &emogi_notice_missing_source, false,
							 PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.build_workers",
							"Parallel workers that may help to scan a table.",
							"-1 means max_parallel_workers_per_gather.",
							&emogi_build_workers, -1, -1, 1024,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.max_memory",
							"Memory that all graphs and results together may take.",
							"The default is half of the machine's memory, or of the control group's.",
							&emogi_max_memory_mb, default_max_memory_mb(), 16, INT_MAX / 2,
							PGC_POSTMASTER, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.device_memory",
							"Memory that may be taken on each GPU.",
							"0 means all that is free.",
							&emogi_device_memory_mb, 0, 0, INT_MAX,
							PGC_POSTMASTER, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("emogi.cpu_threads",
							"Threads of the engine worker.",
							"0 means one for each processor.",
							&emogi_cpu_threads, 0, 0, 1024,
							PGC_POSTMASTER, 0, NULL, NULL, NULL);
	define_limits();
	emogi_define_faults();
	emogi_compat_reserve_prefix("emogi");
	if (emogi_cpu_threads == 0)
		emogi_cpu_threads = usable_processors();
	warn_of_max_memory();
}
