/*
 * emogi.c: loading, and the state that all processes share.
 *
 * Everything needs shared_preload_libraries: the Region must be mapped and the engine worker registered before the
 * postmaster forks. _PG_init neither touches CUDA nor starts a thread: both would be lost, or worse, in its children.
 */
#include "server/emogi.h"

#include "storage/shmem.h"

PG_MODULE_MAGIC;

void		_PG_init(void);

EmogiShared *emogi_shared = NULL;

static shmem_startup_hook_type previous_shmem_startup_hook = NULL;
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
static shmem_request_hook_type previous_shmem_request_hook = NULL;
#endif

/* Ask for the shared memory and the lock. */
static void
request_shmem(void)
{
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
	if (previous_shmem_request_hook)
		previous_shmem_request_hook();
#endif
	RequestAddinShmemSpace(MAXALIGN(sizeof(EmogiShared)));
	RequestAddinShmemSpace(emogi_region_shmem_size());
	RequestAddinShmemSpace(emogi_ring_shmem_size());
	RequestAddinShmemSpace(emogi_cache_shmem_size());
	RequestAddinShmemSpace(emogi_runs_shmem_size());
	RequestNamedLWLockTranche("emogi", 3);
}

/* Fill in the shared state, at server start and after every crash restart. */
static void
init_shared(void)
{
	LWLockPadded *locks = GetNamedLWLockTranche("emogi");

	memset(emogi_shared, 0, sizeof *emogi_shared);
	emogi_shared->lock = &locks[0].lock;
	emogi_shared->cache_lock = &locks[1].lock;
	emogi_shared->runs_lock = &locks[2].lock;
	ConditionVariableInit(&emogi_shared->slot_freed);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		ConditionVariableInit(&emogi_shared->slots[i].answered);
		pg_atomic_init_u64(&emogi_shared->slots[i].nskipped, 0);
	}
	strlcpy(emogi_shared->cpu.state, "starting", sizeof emogi_shared->cpu.state);
	strlcpy(emogi_shared->cuda[0].state, "starting", sizeof emogi_shared->cuda[0].state);
}

/* Attach to the shared state, and make it where it is not there. */
static void
startup_shmem(void)
{
	bool		found;

	if (previous_shmem_startup_hook)
		previous_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	emogi_shared = ShmemInitStruct("emogi", sizeof(EmogiShared), &found);
	if (!found)
		init_shared();
	emogi_region_shmem_startup(found);
	emogi_ring_shmem_startup(found);
	emogi_cache_shmem_startup(found);
	emogi_runs_shmem_startup(found);
	LWLockRelease(AddinShmemInitLock);
}

void
_PG_init(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	emogi_define_gucs();
	emogi_region_reserve();
	emogi_ring_init();
	emogi_cache_init();
	emogi_snapshot_init();
	emogi_plan_init();
	emogi_calls_init();
#if EMOGI_HAS_SHMEM_REQUEST_HOOK
	previous_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = request_shmem;
#else
	request_shmem();
#endif
	previous_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = startup_shmem;
	emogi_worker_register();
}

/* Raise 55000 unless emogi was preloaded; the first thing that every SQL function does. */
void
emogi_require_preload(void)
{
	if (emogi_shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("emogi is not preloaded"),
				 errhint("Add emogi to shared_preload_libraries in postgresql.conf and restart the server.")));
}

/* Get the wait event of whoever waits for this; its name is looked up once. */
uint32
emogi_wait_event(EmogiWait wait)
{
	static const char *const names[EMOGI_WAITS] = {
		[EMOGI_WAIT_MAIN] = "EmogiMain",
		[EMOGI_WAIT_ENGINE] = "EmogiEngine",
		[EMOGI_WAIT_SLOT] = "EmogiSlot",
		[EMOGI_WAIT_BUILD] = "EmogiBuild",
		[EMOGI_WAIT_ROOM] = "EmogiRoom"
	};
	static uint32 events[EMOGI_WAITS];

	if (events[wait] == 0)
		events[wait] = emogi_compat_wait_event(names[wait]);
	return events[wait];
}
