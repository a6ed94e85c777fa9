/*
 * cpu_run.h: state common to all runs of the CPU engine: the job, its steps over a pool, and its
 * scratch memory.
 */
#ifndef EMOGI_CPU_RUN_H
#define EMOGI_CPU_RUN_H

#include "threads/job.h"
#include "threads/pool.h"

#define EMOGI_RUN_MAPPINGS 16
/* maximum number of edges between two polls of the cancel flag */
#define EMOGI_RUN_POLL ((uint64_t) 1 << 20)

/*
 * The first member of each algorithm's own state. Between steps it belongs to the caller's thread;
 * during a step, any thread may take units of `next` and end the job.
 */
typedef struct EmogiCpuRun
{
	EmogiJob	job;
	EmogiPool  *pool;
	EmogiResult *result;
	EmogiError *error;
	const char *what;			/* for messages: "shortest paths" */
	bool		serial;			/* the graph is too small to be worth waking other threads */
	uint64_t	next;			/* atomic: next chunk of the step */
	int			nmappings;
	void	   *memory[EMOGI_RUN_MAPPINGS];
	size_t		memory_bytes[EMOGI_RUN_MAPPINGS];
	bool		is_reused[EMOGI_RUN_MAPPINGS];	/* left to the next run that borrows memory */
	uint64_t	spared_bytes;	/* bytes taken by emogi_cpu_run_spare() */
	double		start_ms;
} EmogiCpuRun;

/*
 * Begin a run: clear the counters of result, but not its arrays. total is the final value of
 * control->done; 0 = unknown.
 */
extern void emogi_cpu_run_begin(EmogiCpuRun *run, EmogiPool *pool, const EmogiGraph *graph,
								uint64_t total, EmogiResult *result, EmogiControl *control,
								EmogiError *error, const char *what);

/*
 * Get zeroed, page-aligned scratch memory, committed on first touch; NULL, with the job failed, if
 * out of memory.
 */
extern void *emogi_cpu_run_map(EmogiCpuRun *run, size_t bytes);

/*
 * Get a zeroed, line-aligned scratch array. Large arrays use huge pages, because most of an array
 * is read, in random order.
 */
extern void *emogi_cpu_run_scratch(EmogiCpuRun *run, uint64_t count, size_t element_bytes);

/*
 * Get a scratch array with undefined content, reusing memory that another run has left if there is
 * any. Meant for large arrays that are written before they are read and that every call needs. The
 * system may reclaim the memory between runs, and does not have to clear the pages that it leaves.
 */
extern void *emogi_cpu_run_borrow(EmogiCpuRun *run, uint64_t count, size_t element_bytes);

/*
 * Get a scratch array with undefined content that the run can do without; NULL if it would exceed
 * EmogiControl.spare_bytes or if out of memory.
 */
extern void *emogi_cpu_run_spare(EmogiCpuRun *run, uint64_t count, size_t element_bytes);

/*
 * Run one step over its chunks, in all threads or in this one alone; false if the job has stopped.
 */
extern bool emogi_cpu_run_step(EmogiCpuRun *run, EmogiPoolTask step, void *arg, bool serial);

/*
 * End a run: free the scratch memory, write the message of a failure, and return the run's status.
 */
extern EmogiStatus emogi_cpu_run_end(EmogiCpuRun *run);

/* Claim the next chunk, [*first, *end), of a step's units; false if there is none, or it stops. */
static inline bool
emogi_cpu_run_take(EmogiCpuRun *run, uint64_t step, uint64_t count, uint64_t *first, uint64_t *end)
{
	return emogi_job_take_chunk(&run->job, &run->next, step, count, first, end);
}

/* Get the end of the chunk that begins at first. */
static inline uint64_t
emogi_cpu_run_chunk_end(uint64_t first, uint64_t step, uint64_t end)
{
	return end - first < step ? end : first + step;
}

#endif							/* EMOGI_CPU_RUN_H */
