/*
 * msbfs.h: the searches of contract/msbfs.h, with the threads of a pool.
 */
#ifndef EMOGI_CPU_MSBFS_H
#define EMOGI_CPU_MSBFS_H

#include "contract/msbfs.h"
#include "threads/pool.h"

/*
 * Search from each of sources[nsources], 1 .. 64 vertex numbers, duplicates allowed, up to
 * max_depth hops; -1 = unlimited. If graph->backward exists, it saves work. If result->too_deep is
 * set (with status EMOGI_OK), search from the sources one by one.
 */
extern EmogiStatus emogi_msbfs_run(EmogiPool *pool, const EmogiGraph *graph,
								   const uint32_t *sources, int nsources, int64_t max_depth,
								   EmogiMsbfsResult *result, EmogiControl *control,
								   EmogiError *error);

struct EmogiCpuRun;				/* cpu_run.h */

/*
 * Search from the next sources of a run, sources[first] .., as one of its searches, and add the
 * counters to the run's result; returns the number of sources, 0 = the job has stopped.
 */
extern int	emogi_msbfs_run_next(struct EmogiCpuRun *run, const EmogiGraph *graph,
								 const uint32_t *sources, uint64_t nsources, uint64_t first,
								 int64_t max_depth, EmogiMsbfsResult *result);

#endif							/* EMOGI_CPU_MSBFS_H */
