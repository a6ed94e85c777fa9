/*
 * spanning_bfs.h: a forest that spans a graph, searched breadth-first from one vertex of each
 * component, and walks over its levels.
 */
#ifndef EMOGI_SPANNING_BFS_H
#define EMOGI_SPANNING_BFS_H

#include "cpu/cpu_run.h"

/* Between steps it belongs to the caller's thread. */
typedef struct EmogiSpanningBfs
{
	EmogiCpuRun *run;
	const EmogiAdjacency *lists;	/* either way */
	uint64_t	nvertices;
	const uint32_t *component;	/* [nvertices], labels; a root is its own. Not looked at once the
								 * forest stands */
	uint32_t   *parent;			/* [nvertices], the first neighbour of the list in the level
								 * above; EMOGI_NO_VERTEX of a root */
	uint32_t   *level;			/* [nvertices], a root's is 0 */
	uint32_t   *order;			/* [nvertices], level by level, within one in no order */
	uint32_t   *starts;			/* [nlevels + 1], where levels begin in the order */
	uint64_t	nlevels;
	uint64_t	tail;			/* atomic: vertices that are in the order */
	uint64_t	at;				/* the level of the step */
	void		(*visit) (void *arg, uint32_t v);
	void	   *arg;
} EmogiSpanningBfs;

/*
 * Take the scratch memory for the level, order and starts, three mappings; false, with the job
 * failed, when there is none.
 */
extern bool emogi_spanning_bfs_open(EmogiSpanningBfs *rooted);

/* Make the forest; counts its vertices as done. False when the job has stopped. */
extern bool emogi_spanning_bfs_grow(EmogiSpanningBfs *rooted);

/*
 * Visit all vertices by any threads, a level when the one below it has been; false when the job has
 * stopped.
 */
extern bool emogi_spanning_bfs_up(EmogiSpanningBfs *rooted, void (*visit) (void *arg, uint32_t v),
								  void *arg);

/* The same, a level when the one above it has been. */
extern bool emogi_spanning_bfs_down(EmogiSpanningBfs *rooted, void (*visit) (void *arg, uint32_t v),
									void *arg);

/* Replace a number that others may replace by a smaller one. */
static inline void
emogi_spanning_bfs_lower(uint32_t *number, uint32_t to)
{
	uint32_t	known = __atomic_load_n(number, __ATOMIC_RELAXED);

	while (to < known &&
		   !__atomic_compare_exchange_n(number, &known, to, true, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
		;
}

/* Replace a number that others may replace by a larger one. */
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
