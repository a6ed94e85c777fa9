/*
 * weights.h: convert runs of weights between doubles and their stored type.
 */
#ifndef EMOGI_WEIGHTS_H
#define EMOGI_WEIGHTS_H

#include "contract/engine.h"

/* doubles that a caller keeps on its stack, so that they stay in the first-level cache */
#define EMOGI_WEIGHTS_BATCH 512

/* Get the weights [first, first + count) as doubles. */
extern void emogi_weights_load(double *to, const void *weights, EmogiWeightType type,
							   uint64_t first, size_t count);

/* Store weights, which the type holds exactly, from place `first` on; -0 is stored as 0. */
extern void emogi_weights_store(void *weights, EmogiWeightType type, uint64_t first,
								const double *from, size_t count);

#endif							/* EMOGI_WEIGHTS_H */
