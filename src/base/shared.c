/*
 * shared.c: the state shared by all processes: initialization, and sleeping on its condition
 * variables
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/shmem.h"

#include "base/compat.h"
#include "base/shared.h"

EmogiShared *emogi_shared = NULL;

static EmogiTrialState trial;	/* if emogi_trial_is_on */

/* Attach without shared_preload_libraries in this way; called once, as the library is loaded. */
void
emogi_shared_set_trial(const EmogiTrialState *state)
{
	trial = *state;
	emogi_trial_is_on = true;
}

/* Request the shared memory and the locks. */
void
emogi_shared_request(void)
{
	RequestAddinShmemSpace(MAXALIGN(sizeof(EmogiShared)));
	RequestNamedLWLockTranche("emogi", EMOGI_NLOCKS);
}

/* Allocate shared memory as ShmemInitStruct does, or without preloading in the trial's file. */
void *
emogi_shared_struct(const char *name, Size bytes, bool *found)
{
	return emogi_trial_is_on ? trial.allocate(bytes, found) :
		ShmemInitStruct(name, bytes, found);
}

/* Initialize the shared state, at server start and after every crash restart. */
static void
init_shared(LWLockPadded *locks)
{
	memset(emogi_shared, 0, sizeof *emogi_shared);
	emogi_shared->lock = &locks[0].lock;
	emogi_shared->cache_lock = &locks[1].lock;
	emogi_shared->run_log_lock = &locks[2].lock;
	emogi_shared->statistics_lock = &locks[3].lock;
	ConditionVariableInit(&emogi_shared->slot_freed);
	for (int i = 0; i < EMOGI_NSLOTS; i++)
	{
		ConditionVariableInit(&emogi_shared->slots[i].answered);
		pg_atomic_init_u64(&emogi_shared->slots[i].nskipped, 0);
	}
	strlcpy(emogi_shared->cpu.state, "starting", sizeof emogi_shared->cpu.state);
	strlcpy(emogi_shared->cuda[0].state, "starting", sizeof emogi_shared->cuda[0].state);
	emogi_shared->cuda[0].device.number = -1;
}

/*
 * Attach to the shared state, and initialize it if it does not exist; return whether it existed.
 * Caller holds AddinShmemInitLock.
 */
bool
emogi_shared_startup(void)
{
	bool		found;
	LWLockPadded *locks = emogi_trial_is_on ? trial.locks() :
		GetNamedLWLockTranche("emogi");

	emogi_shared = emogi_shared_struct("emogi", sizeof(EmogiShared), &found);
	if (!found)
		init_shared(locks);
	return found;
}

/*
 * Attach to the shared state if emogi was not preloaded, and raise 55000 if that is not possible;
 * every SQL function calls this first.
 */
void
emogi_shared_require(void)
{
	if (emogi_shared != NULL)
		return;
	if (emogi_trial_is_on)
		trial.attach();
	else
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("emogi is not preloaded"),
				 errhint("Add emogi to shared_preload_libraries in postgresql.conf and restart the "
						 "server.")));
}

/* Wake the engine worker, if there is one. */
void
emogi_shared_wake_worker(void)
{
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	if (emogi_shared->worker_latch != NULL)
		SetLatch(emogi_shared->worker_latch);
	LWLockRelease(emogi_shared->lock);
}

/* Get the wait event of a wait; its name is looked up once. */
uint32
emogi_shared_wait_event(EmogiWait wait)
{
	static const char *const names[EMOGI_WAITS] = {
		[EMOGI_WAIT_MAIN] = "EmogiMain",
		[EMOGI_WAIT_ENGINE] = "EmogiEngine",
		[EMOGI_WAIT_SLOT] = "EmogiSlot",
		[EMOGI_WAIT_BUILD] = "EmogiBuild",
		[EMOGI_WAIT_ROOM] = "EmogiRoom",
		[EMOGI_WAIT_PREWARM] = "EmogiPrewarm",
		[EMOGI_WAIT_SERVERS] = "EmogiRemote"
	};
	static uint32 events[EMOGI_WAITS];

	if (events[wait] == 0)
		events[wait] = emogi_compat_wait_event(names[wait]);
	return events[wait];
}

double		emogi_shared_slept_ms = 0;
double		emogi_shared_sleeps_since_ms = 0;

/* Count a sleep that has ended. */
void
emogi_shared_end_sleep(void)
{
	emogi_shared_slept_ms += emogi_shared_clock_ms() - emogi_shared_sleeps_since_ms;
	emogi_shared_sleeps_since_ms = 0;
}

/*
 * Sleep on a condition variable until it is signaled or the timeout expires. Check for interrupts
 * first: an interrupt that arrived while interrupts were held off, as at the end of a parallel
 * context, is pending although the latch is reset.
 */
void
emogi_shared_sleep(ConditionVariable *variable, long timeout_ms, EmogiWait wait)
{
	CHECK_FOR_INTERRUPTS();
	if (wait == EMOGI_WAIT_SLOT || wait == EMOGI_WAIT_BUILD || wait == EMOGI_WAIT_ROOM)
		emogi_shared_sleeps_since_ms = emogi_shared_clock_ms();
	ConditionVariableTimedSleep(variable, timeout_ms, emogi_shared_wait_event(wait));
	(void) emogi_shared_waited_ms();
}
