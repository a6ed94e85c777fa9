/*
 * cpu_run.h: what every run of the cpu engine begins and ends with: its job, its steps over a pool,
 * its scratch memory.
 */
#ifndef EMOGI_CPU_RUN_H
#define EMOGI_CPU_RUN_H

#include "threads/job.h"
#include "threads/pool.h"

#define EMOGI_RUN_MAPPINGS 16
/* list entries between two looks at the cancel flag, at most */
#define EMOGI_RUN_POLL ((uint64_t) 1 << 20)

/*
 * What an algorithm's own struct begins with. Between steps it belongs to the caller's thread; in a
 * step any thread takes units of `next` and ends the job.
 */
typedef struct EmogiCpuRun
{
	EmogiJob	job;
	EmogiPool  *pool;
	EmogiResult *result;
	EmogiError *error;
	const char *what;			/* for messages: "shortest paths" */
	bool		alone;			/* the Graph is too small to wake anyone */
	uint64_t	next;			/* atomic: next chunk of the step */
	int			nmappings;
	void	   *memory[EMOGI_RUN_MAPPINGS];
	size_t		memory_bytes[EMOGI_RUN_MAPPINGS];
	bool		is_lent[EMOGI_RUN_MAPPINGS];	/* goes to the next run that borrows memory */
	uint64_t	spared_bytes;	/* taken of what the run can do without */
	double		start_ms;
} EmogiCpuRun;

/*
 * Begin: clears the counters of result, not its arrays. total: what control->done will count to; 0
 * = unknown.
 */
extern void emogi_cpu_run_begin(EmogiCpuRun *run, EmogiPool *pool, const EmogiGraph *graph,
								uint64_t total,
								EmogiResult *result, EmogiControl *control, EmogiError *error,
								const char *what);

/*
 * Get page-aligned scratch memory, all zero, taken when touched; NULL, with the job failed, when
 * there is none.
 */
extern void *emogi_cpu_run_map(EmogiCpuRun *run, size_t bytes);

/*
 * The same for an array, line-aligned, in huge pages where it is large: most of it will be touched,
 * in random order.
 */
extern void *emogi_cpu_run_scratch(EmogiCpuRun *run, uint64_t count, size_t element_bytes);

/*
 * The same with any content, for what is large, written before it is read, and asked for by call
 * after call: memory that another run has left, if there is such. The system may take it back
 * between runs, and has to clear no page of what it leaves.
 */
extern void *emogi_cpu_run_borrow(EmogiCpuRun *run, uint64_t count, size_t element_bytes);

/*
 * The same, with any content, of what a run can do without: NULL where it may not be taken
 * (EmogiControl.spare_bytes), or is not there.
 */
extern void *emogi_cpu_run_spare(EmogiCpuRun *run, uint64_t count, size_t element_bytes);

/*
 * Run one step over its chunks, in all threads or in this one alone; false when the job has
 * stopped.
 */
extern bool emogi_cpu_run_step(EmogiCpuRun *run, EmogiPoolTask step, void *arg, bool alone);

/* End: frees the scratch, writes the message of a failure and gets the status of the run. */
extern EmogiStatus emogi_cpu_run_end(EmogiCpuRun *run);

/* Get the end of the chunk that begins at first. */
static inline uint64_t
emogi_cpu_run_chunk_end(uint64_t first, uint64_t step, uint64_t end)
{
	return end - first < step ? end : first + step;
}

#endif							/* EMOGI_CPU_RUN_H */
