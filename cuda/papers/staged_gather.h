/*
 * staged_gather.h: the host's half of STAGED placement: threads of the engine's pool copy lists into a staging buffer
 * (Subway, section 3.2, step 6). Plain C, for gcc, which compiles it, and for nvcc, whose code calls it.
 */
#ifndef EMOGI_STAGED_GATHER_H
#define EMOGI_STAGED_GATHER_H

#include "contract/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What to copy: entries from .. upto - 1 of a SubCSR, the lists of some vertices one after another; or of the Graph
 * itself. All arrays are in host memory, and belong to the caller.
 */
typedef struct EmogiSemiringSum
{
	const EmogiAdjacency *adjacency;	/* of the Graph */
	uint32_t	weight_bytes;	/* of a weight; 0 = none are copied */
	uint64_t	nlists;
	const uint32_t *vertex;		/* [nlists], whose lists they are */
	const uint64_t *start;		/* [nlists + 1], entries of the SubCSR, strictly ascending; NULL = entries of the Graph */
	uint64_t	from;
	uint64_t	upto;			/* > from */
	uint32_t   *targets;		/* [upto - from], where they go */
	char	   *weights;		/* [upto - from] times weight_bytes */
	const volatile uint32_t *cancel;
} EmogiSemiringSum;

/* Start so many threads, the caller included; NULL when threads or memory cannot be had. */
extern struct EmogiPool *emogi_staged_gather_open(int32_t nthreads);
extern void emogi_staged_gather_close(struct EmogiPool *pool);

/* Copy, every thread as many entries. False = *cancel was seen, which is looked at every millisecond or so. */
extern bool emogi_staged_gather(struct EmogiPool *pool, EmogiSemiringSum *gather);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_STAGED_GATHER_H */
