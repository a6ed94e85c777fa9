/*
 * shared.h: the state that all processes share, and how they wait in it; see shared.c.
 *
 * EmogiShared is in PostgreSQL's shared memory, made when the server starts, and again after a
 * crash. The Region, the cache and the history of runs keep shared state of their own; their locks
 * are here.
 */
#ifndef EMOGI_SHARED_H
#define EMOGI_SHARED_H

#include "storage/condition_variable.h"
#include "storage/latch.h"
#include "storage/lwlock.h"
#include "utils/timestamp.h"

#include "base/slot.h"

#define EMOGI_NSLOTS		128		/* calls in flight in the whole cluster */
#define EMOGI_MAX_GRAPHS	65536	/* that are cached */
#define EMOGI_MAX_DEVICES	16

/*
 * What a call keeps that asks the worker for nothing any more, while its rows are read: memory of
 * the Region, and a pin on its Graph. It has given its slot back: whoever leaves a cursor open
 * keeps nobody else waiting.
 */
typedef struct EmogiHeldResult
{
	int			nusers;			/* the call's owner and the parallel workers that read its rows; 0 =
								 * free */
	uint64		token;			/* the call's, by which a worker knows it; 0 = nobody may join any
								 * more */
	/* index of the cached Graph; -1 = the Graph is among what is held */
	int			graph;
	int			dictionary;		/* ... of the dictionary of a Graph that is; -1 = none */
	bool		finished;		/* its last row has been read */
	bool		waits;			/* for a slot, to go on */
	EmogiCaller caller;
} EmogiHeldResult;

#define EMOGI_NHOLDINGS		4096

#define EMOGI_NWAITERS		512 /* calls that are shown to wait for a slot; more may wait */

/*
 * Who has a slot or a holding, and how much of the Region it has. That of a holding comes after
 * those of all slots.
 */
typedef struct EmogiAccount
{
	int			pid;			/* of the session; 0 = free */
	Oid			userid;
	bool		limited;		/* no superuser */
	uint32		nchunks;		/* extents with edges */
	uint32		nothers;		/* other extents */
	uint64		first;			/* they lie in [first, end) */
	uint64		end;
} EmogiAccount;

#define EMOGI_NACCOUNTS		(EMOGI_NSLOTS + EMOGI_NHOLDINGS)

/* One line of emogi_devices, written by the worker when it has opened its engines. */
typedef struct EmogiDeviceEntry
{
	EmogiDevice device;
	char		state[16];
	char		reason[512];
} EmogiDeviceEntry;

typedef struct EmogiShared
{
	LWLock	   *lock;			/* slots, worker_*, devices; also the Region's allocator */
	LWLock	   *cache_lock;		/* recent_writers.c, cache.c; taken before `lock` where both are */
	LWLock	   *history_lock;	/* run_log.c; taken last, as is */
	LWLock	   *statistics_lock;	/* statistics.c; never together with history_lock */

	/* the worker's, under lock */
	Latch	   *worker_latch;	/* NULL = no worker */
	int			worker_pid;
	uint64		worker_epoch;	/* counts incarnations; 0 = there was none yet */
	bool		worker_ready;	/* its engines are open */

	Oid			prewarmed;		/* database whose graphs of emogi.prewarm have all been tried:
								 * loader.c's; under lock */

	int			ncuda;			/* GPUs that can be used, the first in cuda[] */
	int			nlisted;		/* entries of cuda[], with GPUs that cannot, and why */
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];	/* when ncuda = 0, cuda[0] says why */

	ConditionVariable slot_freed;
	uint64		next_ticket;
	double		vclock_ms;		/* highest vtime_ms that was started yet */
	EmogiSlot	slots[EMOGI_NSLOTS];
	EmogiHeldResult holdings[EMOGI_NHOLDINGS]; /* under lock, as what follows */
	EmogiCaller waiters[EMOGI_NWAITERS];	/* calls that have nothing yet and wait for a slot; pid
											 * 0 = nobody */
	int			accounts_end;	/* all from here on are free */
	EmogiAccount accounts[EMOGI_NACCOUNTS];
} EmogiShared;

extern EmogiShared *emogi_shared;	/* NULL = not preloaded */

/* What a process waits for. */
typedef enum EmogiWait
{
	EMOGI_WAIT_MAIN,			/* the engine worker, for something to do */
	EMOGI_WAIT_ENGINE,			/* a call, for the engine worker's answer */
	EMOGI_WAIT_SLOT,			/* a call, for a slot */
	EMOGI_WAIT_BUILD,			/* a call, for another's build of the same Graph */
	EMOGI_WAIT_ROOM,			/* whoever evicts, for Graphs to give their memory back */
	/* emogi prewarm, for the worker that loads the graphs of a database */
	EMOGI_WAIT_PREWARM,
	EMOGI_WAIT_SERVERS,			/* a call, for rows of servers */
	EMOGI_WAITS
} EmogiWait;

/* Every wait is ended by a signal; this is how long a lost one would go unnoticed. */
#define EMOGI_WAKEUP_MS 5000

extern void emogi_shared_request(void);
extern bool emogi_shared_startup(void);
extern void emogi_shared_require_preload(void);
extern void emogi_shared_wake_worker(void);
extern uint32 emogi_shared_wait_event(EmogiWait wait);
extern void emogi_shared_sleep(ConditionVariable *variable, long timeout_ms, EmogiWait wait);
extern double emogi_shared_waited_ms(void);

#endif							/* EMOGI_SHARED_H */
