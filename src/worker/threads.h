/*
 * threads.h: the threads of the engine worker, and the work that its main thread hands them.
 *
 * The main thread takes the work of an idle runner, fills it in and starts it; from then on it belongs to the runner,
 * until emogi_runner_finished gives it back. emogi_runners_fd() becomes readable whenever the main thread should look:
 * work has finished, or the GPU is free. Functions are the main thread's unless they say otherwise.
 */
#ifndef EMOGI_RUNNER_H
#define EMOGI_RUNNER_H

#include "server/emogi.h"

#define EMOGI_RUNNERS 4			/* requests served at once */

typedef enum EmogiWorkKind
{
	EMOGI_WORK_OPEN,			/* the engines; the first work of all */
	EMOGI_WORK_REQUEST,
	EMOGI_WORK_FORGET			/* what the GPU keeps of a Graph */
} EmogiWorkKind;

typedef struct EmogiWork
{
	EmogiWorkKind kind;
	bool		on_gpu;			/* begins on the GPU, which nobody else uses meanwhile; FORGET always does */
	uint64		graph_id;		/* FORGET */
	EmogiSlot  *slot;			/* REQUEST: whose request this is a copy of */
	EmogiRequest request;
	EmogiEdges	edges;			/* KEYS, CSR and EXPAND; chunks is malloc's and the main thread's */

	EmogiReply	reply;			/* OPEN: status and error */
	uint64		device_used_bytes;	/* on_gpu: what the GPU keeps now */
	bool		device_lost;	/* the GPU failed: the process must be replaced */
} EmogiWork;

/* What opening has found. Written by the runner that opens; by nobody once that work has finished. */
typedef struct EmogiOpened
{
	bool		has_gpu;
	EmogiError	why_no_gpu;
	int			ncuda;
	EmogiDeviceEntry cpu;
	EmogiDeviceEntry cuda[EMOGI_MAX_DEVICES];	/* when ncuda = 0, cuda[0] says why */
} EmogiOpened;

extern const EmogiOpened *emogi_opened(void);

/* Start the threads, with all signals blocked in them; 0 or an errno. module: path of emogi_cuda.so. */
extern int	emogi_runners_start(const EmogiEngineOptions *options, const char *module);
extern int	emogi_runners_fd(void);

/* Does a request begin on the GPU? For any thread. */
extern bool emogi_request_uses_gpu(const EmogiRequest *request);

/* Is there a GPU that nobody uses? */
extern bool emogi_gpu_is_free(void);

/* Get the work of an idle runner, empty, or NULL; it stays idle until emogi_runner_start. */
extern EmogiWork *emogi_runner_idle(void);
extern void emogi_runner_start(EmogiWork *work);

/* Get finished work back, in *work, and make its runner idle; false when there is none. */
extern bool emogi_runner_finished(EmogiWork *work);

/* Are all runners idle? */
extern bool emogi_runners_rest(void);

/* Set the cancel flag of every request that is running. */
extern void emogi_runners_cancel(void);

#endif							/* EMOGI_RUNNER_H */
