/*
 * threads.h: the threads of the engine worker that compute, and the work that its main thread hands them.
 *
 * The main thread takes the work of an idle thread, fills it in and starts it; from then on it belongs to the thread,
 * until emogi_threads_finished gives it back. emogi_threads_fd() becomes readable whenever the main thread should look:
 * work has finished, or a GPU is free. Functions are the main thread's unless they say otherwise.
 */
#ifndef EMOGI_THREADS_H
#define EMOGI_THREADS_H

#include "cpu/contraction.h"
#include "worker/gpus.h"

#define EMOGI_WORKER_REQUESTS 5			/* served at once by the processor, of one role all but one */
#define EMOGI_WORKER_THREADS (EMOGI_WORKER_REQUESTS + EMOGI_MAX_DEVICES + 1)	/* and one that makes a hierarchy */
#define EMOGI_NO_GPU (-1)

typedef enum EmogiWorkKind
{
	EMOGI_WORK_OPEN,				/* the engines; the first work of all */
	EMOGI_WORK_REQUEST,
	EMOGI_WORK_FORGET,			/* what the GPU keeps of a Graph */
	EMOGI_WORK_CONTRACT			/* a cached Graph: make its hierarchy. One at a time */
} EmogiWorkKind;

typedef struct EmogiWork
{
	EmogiWorkKind kind;
	int			gpu;			/* it begins there, which nobody else uses meanwhile; EMOGI_NO_GPU: it does not. FORGET always does */
	uint32		helpers;		/* other GPUs that help it there, and are nobody else's meanwhile, too; bits by number */
	uint64		graph_id;		/* FORGET */
	int			cached;			/* CONTRACT: index of the Graph, which is pinned */
	EmogiControl control;		/* CONTRACT */
	EmogiContraction *made;		/* CONTRACT: malloced; NULL = nothing came of it */
	EmogiSlot  *slot;			/* REQUEST: whose request this is a copy of */
	EmogiRequest request;
	EmogiEdges	edges;			/* KEYS, CSR and EXPAND; chunks is malloc's and the main thread's */
	EmogiDerivation derivation;	/* SPLICE with a derived_id: written with the Graph; its arrays lie in the request's scratch */
	bool		derives;		/* the splice is done: what is left is the GPU's copy of the new Graph, begun on a GPU */
	bool		derived;		/* and it has one */

	EmogiReply	reply;			/* OPEN: status and error */
	uint64		used_bytes[EMOGI_MAX_DEVICES];	/* what the GPUs keep now, those of this work */
	bool		device_lost;	/* the GPU failed: the process must be replaced */
} EmogiWork;

extern const EmogiOpened *emogi_threads_opened(void);

/* Start the threads, with all signals blocked in them; 0 or an errno. module: path of emogi_cuda.so; gpus: see emogi_gpus_open. */
extern int	emogi_threads_start(const EmogiEngineOptions *options, const char *module, uint32 gpus);
extern int	emogi_threads_fd(void);

/* Does a request begin on a GPU? For any thread. */
extern bool emogi_threads_uses_gpu(const EmogiRequest *request);

/* Get the work of an idle thread, empty, or NULL; it stays idle until emogi_threads_hand. */
extern EmogiWork *emogi_threads_idle_job(void);
extern void emogi_threads_hand(EmogiWork *work);

/* Get finished work back, in *work, and make its thread idle; false when there is none. */
extern bool emogi_threads_finished(EmogiWork *work);

/* Are all threads idle? */
extern bool emogi_threads_rest(void);

/* Set the cancel flag of every request that is running. */
extern void emogi_threads_cancel(void);

#endif							/* EMOGI_THREADS_H */
