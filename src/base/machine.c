/*
 * machine.c: the memory and processors that this server may use
 */
#include "postgres.h"

#include <sched.h>
#include <unistd.h>

#include "base/machine.h"

/* Read one number from a kernel file; 0 if it contains none ("max") or does not exist. */
static uint64
read_number(const char *path)
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

/*
 * Lower a number of bytes to the limits of a control group and its ancestors. top: folder of the
 * root group.
 */
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
		limit = read_number(limit_path);
		if (limit > 0 && limit < *bytes)
			*bytes = limit;
		if (strlen(path) <= strlen(top))
			break;
		*strrchr(path, '/') = '\0';
	}
}

/* Is "memory" one of the controllers in a comma-separated list? */
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

/*
 * Get the memory that this server may use: the machine's, or that of its control group (version 1
 * or 2), which may be less.
 */
uint64
emogi_machine_bytes(void)
{
	static uint64 bytes = 0;	/* determined by the postmaster */
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

/* Get the bytes of the system's huge pages of 2 MB that are free and not reserved. */
uint64
emogi_machine_free_huge_bytes(void)
{
	uint64		nfree = read_number("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
	uint64		npromised = read_number("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages");

	return (nfree - Min(npromised, nfree)) << 21;
}

/* Get the number of processors that this server may run on. */
int
emogi_machine_processors(void)
{
	cpu_set_t	set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return Max(CPU_COUNT(&set), 1);
	return (int) Max(sysconf(_SC_NPROCESSORS_ONLN), 1);
}
