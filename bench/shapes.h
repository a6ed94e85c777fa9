/*
 * shapes.h: small graphs of shapes that have broken traversals, for tests.
 */
#ifndef EMOGI_BENCH_SHAPES_H
#define EMOGI_BENCH_SHAPES_H

#include "contract/builder.h"
#include "threads/pool.h"

typedef struct EmogiShape
{
	char		name[64];
	EmogiEdge  *edges;			/* [nedges], malloced; NULL when empty */
	uint64_t	nedges;
} EmogiShape;

/* The number of shapes that are not random. */
extern int	emogi_shape_count(void);

/* Create shape number `which` < emogi_shape_count(); returns false if out of memory. */
extern bool emogi_shape_make(int which, EmogiShape *shape);

/*
 * Create a random multigraph whose size, density, skew and key range derive from the seed; returns
 * false if out of memory.
 */
extern bool emogi_shape_random(uint64_t seed, EmogiShape *shape);

extern void emogi_shape_free(EmogiShape *shape);

#endif							/* EMOGI_BENCH_SHAPES_H */
