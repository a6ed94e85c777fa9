/*
 * views.c: the functions behind the views.
 */
#include "emogi.h"

#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(emogi_devices);

#define EMOGI_DEVICES_COLUMNS 11

/* Put one row of emogi_devices. index < 0: no GPU to number. */
static void
put_device(ReturnSetInfo *rsinfo, const EmogiDeviceEntry *entry, const char *engine, int index, int pid)
{
	const EmogiDevice *device = &entry->device;
	bool		is_cpu = strcmp(engine, "cpu") == 0;
	bool		known = device->name[0] != '\0';
	Datum		values[EMOGI_DEVICES_COLUMNS];
	bool		nulls[EMOGI_DEVICES_COLUMNS] = {false};

	values[0] = Int32GetDatum(index);
	nulls[0] = index < 0 && !is_cpu;
	values[1] = CStringGetTextDatum(engine);
	values[2] = CStringGetTextDatum(device->name);
	nulls[2] = !known;
	values[3] = Int32GetDatum(device->units);
	nulls[3] = !known;
	values[4] = Int64GetDatum(is_cpu ? emogi_region_budget_bytes() : device->memory_bytes);
	nulls[4] = !is_cpu && !known;
	values[5] = Int64GetDatum(is_cpu ? emogi_region_used_bytes() : 0);
	nulls[5] = !is_cpu;
	values[6] = Float8GetDatum(device->link_gbps);
	nulls[6] = device->link_gbps == 0;
	values[7] = CStringGetTextDatum(device->driver);
	nulls[7] = device->driver[0] == '\0';
	values[8] = CStringGetTextDatum(entry->state);
	values[9] = CStringGetTextDatum(entry->reason);
	nulls[9] = entry->reason[0] == '\0';
	values[10] = Int32GetDatum(pid);
	nulls[10] = pid == 0;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* emogi_devices() -> the rows of the view emogi_devices: the CPU, then each GPU, or why there is none. */
Datum
emogi_devices(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];
	int			ncuda;
	int			pid;

	emogi_require_preload();
	emogi_compat_init_rows(fcinfo);
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	cpu = emogi_shared->cpu;
	memcpy(cuda, emogi_shared->cuda, sizeof cuda);
	ncuda = emogi_shared->ncuda;
	pid = emogi_shared->worker_pid;
	LWLockRelease(emogi_shared->lock);

	put_device(rsinfo, &cpu, "cpu", -1, pid);
	for (int i = 0; i < ncuda; i++)
		put_device(rsinfo, &cuda[i], "cuda", i, pid);
	if (ncuda == 0)
		put_device(rsinfo, &cuda[0], "cuda", -1, pid);
	return (Datum) 0;
}
