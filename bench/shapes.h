/*
 * shapes.h: small graphs of every shape that has ever broken a traversal, for tests.
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

/* Make shape number `which` < emogi_shape_count(); false without memory. */
extern bool emogi_shape_make(int which, EmogiShape *shape);

/* Make a random multigraph: size, density, skew and spread of keys follow from the seed; false without memory. */
extern bool emogi_shape_random(uint64_t seed, EmogiShape *shape);

extern void emogi_shape_free(EmogiShape *shape);

#endif							/* EMOGI_BENCH_SHAPES_H */
