/*
 * blocked_spmv.h: cache blocking for sums over adjacency lists: edges are sorted so that reads and
 * writes hit the caches.
 *
 * Vertices are divided into groups, and the sources in their lists into blocks. The edges of a
 * group from one block are a tile. A thread sums a group tile by tile, with sums that fit its
 * second-level cache. This is propagation blocking [1] without the intermediate values: an edge
 * costs its 4 bytes.
 *
 * If the transposed lists exist, the edges of a tile are in the order of the sources. Then values
 * are read in order, and consecutive edges belong to different sums, which do not depend on each
 * other. Otherwise they are in the order of the vertices, and a block is so small that its values
 * fit a first-level cache.
 *
 * Because lists ascend, each sum is made in the order of its list either way, whatever the sizes:
 * it is bit-identical to the sum without blocking.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. Reducing Pagerank Communication via Propagation
 *     Blocking. IPDPS 2017. Section IV.
 */
#ifndef EMOGI_BLOCKED_SPMV_H
#define EMOGI_BLOCKED_SPMV_H

#include "cpu/cpu_run.h"

typedef struct EmogiBlockedSpmv
{
	uint32_t   *entries;		/* [nedges], group by group: (source's place in its block <<
								 * group_bits) | vertex's place in its group; NULL = not blocked */
	uint64_t   *starts;			/* [ngroups * nsources + 1], offsets of tiles in entries */
	double	   *sums;			/* [nthreads << group_bits], sums of each thread's current group;
								 * uint64_t for integers */
	uint32_t	group_bits;		/* a group has 2^group_bits vertices */
	uint32_t	source_bits;	/* a block has 2^source_bits sources */
	uint64_t	ngroups;
	uint64_t	nsources;		/* blocks of sources */
} EmogiBlockedSpmv;

/*
 * Make tiles if they pay and the memory is available: for many steps over lists whose sources are
 * scattered. transposed: the transposed edges; its offsets may be NULL. False if the job has
 * stopped.
 */
extern bool emogi_blocked_spmv_make(EmogiBlockedSpmv *tiles, EmogiCpuRun *run,
									const EmogiAdjacency *lists, const EmogiAdjacency *transposed,
									uint64_t nvertices, int64_t nsteps);

/* Sum the values of a group's edges; returns the thread's sums, NULL if the job has stopped. */
extern const double *emogi_blocked_spmv_sum(const EmogiBlockedSpmv *tiles, EmogiJob *job,
											const double *values, uint64_t group, int thread);

/* The same for values that are integers. */
extern const uint64_t *emogi_blocked_spmv_sum_units(const EmogiBlockedSpmv *tiles, EmogiJob *job,
													const uint64_t *values, uint64_t group,
													int thread);

#endif							/* EMOGI_BLOCKED_SPMV_H */
