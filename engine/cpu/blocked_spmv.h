/*
 * blocked_spmv.h: the entries of lists, sorted so that sums over them read and write what the
 * caches hold.
 *
 * Vertices are in groups, and the sources in their lists in blocks. The entries of a group lie by
 * block: a tile. A thread adds up a group, tile after tile, in sums that fit its second-level
 * cache. This is propagation blocking [1] without the values on the way: an entry costs its 4
 * bytes.
 *
 * Where the transposed lists are there, which lead from the sources, the entries of a tile lie in
 * the order of the sources, so that values are read in order, too, and neighbouring entries are of
 * different sums, which do not wait for each other. Else they lie in the order of the vertices, and
 * a block is so small that its values fit a first-level cache.
 *
 * As lists ascend, each sum is made in the order of its list either way, whatever the sizes: the
 * same bits as without tiles.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. Reducing Pagerank Communication via Propagation
 *     Blocking. IPDPS 2017. Section IV.
 */
#ifndef EMOGI_BLOCKED_SPMV_H
#define EMOGI_BLOCKED_SPMV_H

#include "cpu/cpu_run.h"

typedef struct EmogiBlockedSpmv
{
	uint32_t   *entries;		/* [nedges], group after group: place of the source in its block,
								 * above the vertex's in its group; NULL = no tiles */
	uint64_t   *starts;			/* [ngroups * nsources + 1], of tiles in entries */
	double	   *sums;			/* [nthreads << group_bits], of the group that a thread is at;
								 * uint64_t of integers */
	uint32_t	group_bits;		/* a group has 2^group_bits vertices */
	uint32_t	source_bits;	/* a block 2^source_bits sources */
	uint64_t	ngroups;
	uint64_t	nsources;		/* blocks of sources */
} EmogiBlockedSpmv;

/*
 * Make tiles of lists where the memory may be taken and they pay: for sums of many steps over lists
 * whose sources lie all over the memory. transposed: the same edges from their sources; its offsets
 * may be NULL. False when the job has stopped.
 */
extern bool emogi_blocked_spmv_make(EmogiBlockedSpmv *tiles, EmogiCpuRun *run,
									const EmogiAdjacency *lists, const EmogiAdjacency *transposed,
									uint64_t nvertices, int64_t nsteps);

/*
 * Add up the values of the entries of a group in the thread's sums, which are got; NULL when the
 * job has stopped.
 */
extern const double *emogi_blocked_spmv_sum(const EmogiBlockedSpmv *tiles, EmogiJob *job,
											const double *values, uint64_t group, int thread);

/* The same of values that are integers. */
extern const uint64_t *emogi_blocked_spmv_sum_units(const EmogiBlockedSpmv *tiles, EmogiJob *job,
													const uint64_t *values, uint64_t group,
													int thread);

#endif							/* EMOGI_BLOCKED_SPMV_H */
