/*
 * contraction_sweep.h: what contraction_sweep.c and contraction_follow.c share
 */
#ifndef EMOGI_CONTRACTION_SWEEP_H
#define EMOGI_CONTRACTION_SWEEP_H

#include "contraction_search.h"

#define EMOGI_SWEEP_POLL_RANKS 65536

typedef struct EmogiSweepEntry
{
	double		distance;
	uint32_t	vertex;
} EmogiSweepEntry;

#define HEAP_PREFIX emogi_sweep_entry
#define HEAP_ELEMENT EmogiSweepEntry
#define HEAP_BEFORE(heap, a, b) ((a).distance < (b).distance)
#include "containers/heap.h"

/* The state of a vertex for one source. */
typedef struct EmogiSweepSum
{
	double		sum;			/* SSSP's distance, if final */
	uint32_t	mark;			/* 2 * row number = visited, 2 * row number + 1 = sum is final */
} EmogiSweepSum;

/* Following back for one source. */
typedef struct EmogiSweepRow
{
	uint32_t	source;
	uint64_t	next;			/* the next target */
	bool		is_circular;	/* candidate edges form a cycle */
	uint32_t	number;			/* of the row, from 1 */
	double		slack;
	EmogiSweepSum *sums;		/* [nvertices] */
	EmogiGrowingArray visited;	/* uint32_t, the visited vertices */
	EmogiGrowingArray frames;	/* Frame */
} EmogiSweepRow;

typedef struct EmogiSweep
{
	EmogiJob   *job;			/* shared by all threads */
	const EmogiContraction *made;
	const EmogiGraph *graph;
	int			up;				/* the side of the arcs that lead up from a source */
	double	   *near;			/* [nvertices][EMOGI_CONTRACTION_LANES], by rank, each rank in one
								 * cache line: distances except rounding */
	void	   *near_memory;	/* the allocation that holds it */
	uint64_t   *above;			/* bitmap [nvertices], by rank: reached by an upward search, so
								 * that near is valid */
	EmogiSweepRow rows[EMOGI_CONTRACTION_LANES];
	EmogiGrowingArray heap;		/* EmogiSweepEntry */
	uint64_t	nscanned;
	bool		(*poll) (void);
} EmogiSweep;

/* Check whether the job has been canceled or has failed. */
static inline bool
emogi_sweep_is_stopped(EmogiSweep *sweep)
{
	if (sweep->poll != NULL && sweep->poll())
		emogi_job_fail(sweep->job, EMOGI_CANCELED);
	return emogi_job_stopped(sweep->job);
}

/* Add to the heap; false, with the job failed, if out of memory. */
static inline bool
emogi_sweep_push(EmogiSweep *sweep, EmogiSweepEntry entry)
{
	if (!emogi_contraction_reserve(sweep->job, &sweep->heap, 1, sizeof(EmogiSweepEntry)))
		return false;
	emogi_sweep_entry_push(sweep->heap.items, &sweep->heap.count, entry);
	return true;
}

/* Take the nearest entry. */
static inline EmogiSweepEntry
emogi_sweep_pop(EmogiSweep *sweep)
{
	return emogi_sweep_entry_pop(sweep->heap.items, &sweep->heap.count);
}

/* ---- contraction_follow.c ---- */

extern bool emogi_contraction_begin_row(EmogiSweep *sweep, const uint32_t *ranks,
										const EmogiQuery *query, uint32_t source, int lane);
extern bool emogi_contraction_follow(EmogiSweep *sweep, const uint32_t *ranks,
									 const EmogiQuery *query, int count);
extern bool emogi_contraction_end_row(EmogiSweep *sweep, const EmogiQuery *query, int lane,
									  double *distance);

#endif							/* EMOGI_CONTRACTION_SWEEP_H */
