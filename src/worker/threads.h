/*
 * threads.h: the compute threads of the engine worker, and the work that its main thread passes to
 * them.
 *
 * The main thread gets the work struct of an idle thread, fills it in and starts it. The struct
 * then belongs to the thread, until emogi_threads_finished returns it. emogi_threads_fd() becomes
 * readable when work has finished or a GPU has become free. Functions are called by the main thread
 * unless stated otherwise.
 */
#ifndef EMOGI_THREADS_H
#define EMOGI_THREADS_H

#include "contract/contraction.h"
#include "worker/gpus.h"

#define EMOGI_WORKER_REQUESTS 5	/* requests processed at once on the CPU; one role gets at most all
								 * but one */
/* one more to build a contraction hierarchy */
#define EMOGI_WORKER_THREADS (EMOGI_WORKER_REQUESTS + EMOGI_MAX_DEVICES + 1)
#define EMOGI_NO_GPU (-1)

typedef enum EmogiWorkKind
{
	EMOGI_WORK_OPEN,			/* open the engines; the first work of all */
	EMOGI_WORK_REQUEST,
	EMOGI_WORK_FORGET,			/* drop the GPU's cached data of a graph */
	EMOGI_WORK_CONTRACT			/* build the contraction hierarchy of a cached graph; one at a
								 * time */
} EmogiWorkKind;

typedef struct EmogiWork
{
	EmogiWorkKind kind;
	int			gpu;			/* where it starts, with exclusive use; EMOGI_NO_GPU = not on a GPU.
								 * Always set for FORGET */
	uint32		helpers;		/* other GPUs that help it, also with exclusive use; a bit mask */
	uint64		graph_id;		/* FORGET */
	int			cached;			/* CONTRACT: index of the pinned graph */
	EmogiControl control;		/* CONTRACT */
	EmogiContraction *made;		/* CONTRACT: malloced; NULL = failed */
	EmogiSlot  *slot;			/* REQUEST: the slot from which the request was copied */
	EmogiRequest request;
	EmogiEdges	edges;			/* BUILD, CSR and EXPAND; chunks is malloced and owned by the main
								 * thread */
	EmogiDerivation derivation;	/* MERGE with a derived_id: written with the graph; its arrays are
								 * in the request's scratch */
	bool		derives;		/* the merge has finished, and a GPU derives its copy of the new
								 * graph */
	bool		derived;		/* the GPU has a copy of the new graph */

	EmogiReply	reply;			/* OPEN: only status and error */
	uint64		used_bytes[EMOGI_MAX_DEVICES];	/* memory now in use on each GPU of this work */
	bool		device_lost;	/* a GPU has failed: the process must be replaced */
} EmogiWork;

extern const EmogiOpenedEngines *emogi_threads_opened(void);

/*
 * Start the threads, with all signals blocked in them; return 0 or an errno. module: path of
 * emogi_cuda.so; gpus: see emogi_gpus_open.
 */
extern int	emogi_threads_start(const EmogiEngineOptions *options, const char *module, uint32 gpus);
extern int	emogi_threads_fd(void);

/* Check whether a request starts on a GPU. Any thread. */
extern bool emogi_threads_uses_gpu(const EmogiRequest *request);

/*
 * Get the zeroed work struct of an idle thread, or NULL; the thread remains idle until
 * emogi_threads_start_work.
 */
extern EmogiWork *emogi_threads_idle_job(void);
extern void emogi_threads_start_work(EmogiWork *work);

/* Get finished work in *work, and make its thread idle; false if there is none. */
extern bool emogi_threads_finished(EmogiWork *work);

/* Check whether all threads are idle. */
extern bool emogi_threads_are_idle(void);

/* Set the cancel flag of every request that is running. */
extern void emogi_threads_cancel(void);

#endif							/* EMOGI_THREADS_H */
