/*
 * spanning_bfs.h: a spanning forest built by breadth-first search from one root per component, and
 * traversals of its levels.
 */
#ifndef EMOGI_SPANNING_BFS_H
#define EMOGI_SPANNING_BFS_H

#include "cpu/cpu_run.h"

/* A spanning forest. Between steps it belongs to the caller's thread. */
typedef struct EmogiSpanningBfs
{
	EmogiCpuRun *run;
	const EmogiAdjacency *lists;	/* symmetric */
	uint64_t	nvertices;
	const uint32_t *component;	/* [nvertices], labels; a root is its own label. Not read after
								 * the forest is built */
	uint32_t   *parent;			/* [nvertices], the first neighbor in the list that is on the
								 * level above; EMOGI_NO_VERTEX for a root */
	uint32_t   *level;			/* [nvertices], 0 for a root */
	uint32_t   *order;			/* [nvertices], level by level, unordered within a level */
	uint32_t   *starts;			/* [nlevels + 1], offsets of the levels in order */
	uint64_t	nlevels;
	uint64_t	tail;			/* atomic: vertices in order */
	uint64_t	at;				/* the level of the current step */
	void		(*visit) (void *arg, uint32_t v);
	void	   *arg;
} EmogiSpanningBfs;

/*
 * Allocate scratch memory for level, order and starts, three mappings; false, with the job failed,
 * if out of memory.
 */
extern bool emogi_spanning_bfs_open(EmogiSpanningBfs *forest);

/* Build the forest, counting its vertices as done. False if the job has stopped. */
extern bool emogi_spanning_bfs_build(EmogiSpanningBfs *forest);

/*
 * Visit all vertices bottom-up with all threads, a level after the one below it is complete; false
 * if the job has stopped.
 */
extern bool emogi_spanning_bfs_up(EmogiSpanningBfs *forest, void (*visit) (void *arg, uint32_t v),
								  void *arg);

/* Visit all vertices top-down, a level after the one above it is complete. */
extern bool emogi_spanning_bfs_down(EmogiSpanningBfs *forest, void (*visit) (void *arg, uint32_t v),
									void *arg);

/* Atomically set *number to min(*number, to). */
static inline void
emogi_spanning_bfs_lower(uint32_t *number, uint32_t to)
{
	uint32_t	known = __atomic_load_n(number, __ATOMIC_RELAXED);

	while (to < known &&
		   !__atomic_compare_exchange_n(number, &known, to, true, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
}

/* Atomically set *number to max(*number, to). */
static inline void
emogi_spanning_bfs_raise(uint32_t *number, uint32_t to)
{
	uint32_t	known = __atomic_load_n(number, __ATOMIC_RELAXED);

	while (to > known &&
		   !__atomic_compare_exchange_n(number, &known, to, true, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
}

#endif							/* EMOGI_SPANNING_BFS_H */
