/*
 * bfs.h: multi-threaded breadth-first search.
 */
#ifndef EMOGI_CPU_BFS_H
#define EMOGI_CPU_BFS_H

#include "contract/engine.h"
#include "threads/pool.h"

/* Fill result for an EMOGI_BFS query whose sources and targets have been checked. */
extern EmogiStatus emogi_cpu_bfs(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
								 EmogiResult *result, EmogiControl *control, EmogiError *error);

#endif							/* EMOGI_CPU_BFS_H */
