/*
 * staged_gather.h: host side of STAGED placement: threads of the engine's pool copy lists into a
 * staging buffer (Subway, section 3.2, step 6). Plain C, for gcc, which compiles it, and for nvcc,
 * whose code calls it.
 */
#ifndef EMOGI_STAGED_GATHER_H
#define EMOGI_STAGED_GATHER_H

#include "contract/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A copy: entries from .. upto - 1 of a SubCSR, the lists of some vertices one after another, or of
 * the graph itself. All arrays are in host memory, and belong to the caller.
 */
typedef struct EmogiStagedGather
{
	const EmogiAdjacency *adjacency;	/* of the graph */
	uint32_t	weight_bytes;	/* per weight; 0 = none are copied */
	uint64_t	nlists;
	const uint32_t *vertex;		/* [nlists], the vertices of the lists */
	/* [nlists + 1], entries of the SubCSR, strictly ascending; NULL = entries of the graph */
	const uint64_t *start;
	uint64_t	from;
	uint64_t	upto;			/* > from */
	uint32_t   *targets;		/* [upto - from], output */
	char	   *weights;		/* [upto - from] times weight_bytes, output */
	const volatile uint32_t *cancel;
} EmogiStagedGather;

/*
 * Start a pool of nthreads threads, including the caller; return NULL if threads or memory are not
 * available.
 */
extern struct EmogiPool *emogi_staged_gather_open(int32_t nthreads);
extern void emogi_staged_gather_close(struct EmogiPool *pool);

/*
 * Copy, each thread the same number of entries. Return false if *cancel was seen, which is polled
 * about every millisecond.
 */
extern bool emogi_staged_gather(struct EmogiPool *pool, EmogiStagedGather *gather);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_STAGED_GATHER_H */
