/*
 * shared.h: the state shared by all processes, and how they wait in it; see shared.c
 *
 * EmogiShared is in PostgreSQL's shared memory, initialized at server start and after a crash. The
 * arena, the cache and the run log have shared state of their own; their locks are here.
 */
#ifndef EMOGI_SHARED_H
#define EMOGI_SHARED_H

#include "portability/instr_time.h"
#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "base/slot.h"

#define EMOGI_NSLOTS		128		/* calls in progress in the whole cluster */
#define EMOGI_MAX_GRAPHS	65536	/* cached graphs */
#define EMOGI_MAX_DEVICES	16

/*
 * A finished call's memory in the arena, and its pin on a graph, while its rows are read. The call
 * has released its slot, so that an open cursor does not block other calls.
 */
typedef struct EmogiHeldResult
{
	int			nusers;			/* the call's owner and the parallel workers that read its rows; 0 =
								 * free */
	uint64		token;			/* the call's, by which a worker identifies it; 0 = no further
								 * worker may join */
	/* index of the cached graph; -1 = the graph is part of the held memory */
	int			graph;
	EmogiLabelsRead labels_read;	/* ... of that graph, as the result */
	int			dictionary;		/* ... of the dictionary of that held graph; -1 = none */
	bool		finished;		/* its last row has been read */
	bool		waits;			/* waits for a slot, to continue */
	EmogiCaller caller;
} EmogiHeldResult;

#define EMOGI_NHELD_RESULTS		4096

#define EMOGI_NWAITERS		512 /* calls shown as waiting for a slot; more may wait */

/*
 * The session and role of a slot or held result, and its memory in the arena. The accounts of held
 * results follow those of all slots.
 */
typedef struct EmogiAccount
{
	int			pid;			/* of the session; 0 = free */
	Oid			userid;
	bool		limited;		/* not a superuser */
	uint32		nchunks;		/* extents with edges */
	uint32		nothers;		/* other extents */
	uint64		first;			/* all are in [first, end) */
	uint64		end;
} EmogiAccount;

#define EMOGI_NACCOUNTS		(EMOGI_NSLOTS + EMOGI_NHELD_RESULTS)

/* One row of emogi_devices, written by the worker when it has opened its engines. */
typedef struct EmogiDeviceEntry
{
	EmogiDevice device;
	char		state[16];
	char		reason[512];
} EmogiDeviceEntry;

typedef struct EmogiShared
{
	LWLock	   *lock;			/* slots, worker_*, devices; also the arena's allocator */
	/* recent_writers.c, cache.c; taken before `lock` if both are needed */
	LWLock	   *cache_lock;
	LWLock	   *run_log_lock;	/* run_log.c; taken last */
	LWLock	   *statistics_lock;	/* call_statistics.c; taken last, never together with
									 * run_log_lock */

	/* written by the worker, under lock */
	Latch	   *worker_latch;	/* NULL = no worker */
	int			worker_pid;
	uint64		worker_epoch;	/* counts worker starts; 0 = none yet */
	bool		worker_ready;	/* its engines are open */

	Oid			prewarmed;		/* database whose emogi.prewarm graphs have all been tried; written
								 * by loader.c, under lock */

	int			ncuda;			/* usable GPUs, the first in cuda[] */
	int			nlisted;		/* entries of cuda[], including unusable GPUs with the reason */
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];	/* if ncuda = 0, cuda[0] has the reason */

	ConditionVariable slot_freed;
	uint64		next_ticket;
	double		vclock_ms;		/* highest vtime_ms that has been started */
	EmogiSlot	slots[EMOGI_NSLOTS];
	EmogiHeldResult held_results[EMOGI_NHELD_RESULTS]; /* under lock, like all that follows */
	EmogiCaller waiters[EMOGI_NWAITERS];	/* calls without slot or held result that wait for a
											 * slot; pid 0 = free */
	int			accounts_end;	/* all accounts from here on are free */
	EmogiAccount accounts[EMOGI_NACCOUNTS];
} EmogiShared;

#define EMOGI_NLOCKS 4			/* the locks above */

/* NULL = not preloaded, and this process has not attached to a trial's (trial.c) */
extern EmogiShared *emogi_shared;

/* Reasons for which a process waits. */
typedef enum EmogiWait
{
	EMOGI_WAIT_MAIN,			/* the engine worker, for work */
	EMOGI_WAIT_ENGINE,			/* a call, for the engine worker's answer */
	EMOGI_WAIT_SLOT,			/* a call, for a slot */
	EMOGI_WAIT_BUILD,			/* a call, for another call's build of the same graph */
	EMOGI_WAIT_ROOM,			/* an evicting process, for graphs to free their memory */
	/* emogi prewarm, for the worker that loads the graphs of a database */
	EMOGI_WAIT_PREWARM,
	EMOGI_WAIT_SERVERS,			/* a call, for rows from servers */
	EMOGI_WAITS
} EmogiWait;

/* Every wait is ended by a signal; this timeout bounds the delay if one is lost. */
#define EMOGI_WAKEUP_MS 5000

/*
 * Milliseconds that this process has slept in emogi_shared_sleep, except for the engine, which
 * reports its own waits; and the start of the current sleep, 0 = not sleeping.
 */
extern double emogi_shared_slept_ms;
extern double emogi_shared_sleeps_since_ms;

/* The shared state without shared_preload_libraries; see trial.c. */
typedef struct EmogiTrialState
{
	void		(*attach) (void);	/* create it, or attach to it; raises an error */
	void	   *(*allocate) (Size bytes, bool *found);	/* as ShmemInitStruct; while attaching */
	LWLockPadded *(*locks) (void);	/* [EMOGI_NLOCKS]; while attaching */
} EmogiTrialState;

extern void emogi_shared_set_trial(const EmogiTrialState *state);
extern void emogi_shared_request(void);
extern bool emogi_shared_startup(void);
extern void *emogi_shared_struct(const char *name, Size bytes, bool *found);
extern void emogi_shared_require(void);
extern void emogi_shared_wake_worker(void);
extern uint32 emogi_shared_wait_event(EmogiWait wait);
extern void emogi_shared_sleep(ConditionVariable *variable, long timeout_ms, EmogiWait wait);
extern void emogi_shared_end_sleep(void);

/* Is there shared state? Attach to it if emogi was not preloaded but can run without. */
static inline bool
emogi_shared_is_there(void)
{
	if (emogi_shared == NULL && emogi_trial_is_on)
		emogi_shared_require();
	return emogi_shared != NULL;
}

/* Get a monotonic time in milliseconds, that of emogi_pool_now_ms. */
static inline double
emogi_shared_clock_ms(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return INSTR_TIME_GET_MILLISEC(now);
}

/*
 * Get the milliseconds that this process has waited for slots, for builds of other calls and for
 * memory, including a wait that an error has ended.
 */
static inline double
emogi_shared_waited_ms(void)
{
	if (emogi_shared_sleeps_since_ms != 0)
		emogi_shared_end_sleep();
	return emogi_shared_slept_ms;
}

#endif							/* EMOGI_SHARED_H */
