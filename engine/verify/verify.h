/*
 * verify.h: verification of results, for tests and benchmarks.
 *
 * A result is checked by the definition of the algorithm, not against another run. Each function
 * returns whether the result is correct and, if not, sets error->message to one of the errors. It
 * needs some bytes of memory per vertex; if out of memory, the result counts as wrong. Results of
 * queries with targets, which are valid only at the targets, cannot be verified.
 */
#ifndef EMOGI_VERIFY_H
#define EMOGI_VERIFY_H

#include "contract/engine.h"
#include "threads/pool.h"

/* Verify on the calling thread. */
extern bool emogi_verify(const EmogiGraph *graph, const EmogiQuery *query,
						 const EmogiResult *result,
						 EmogiError *error);

/* Verify on all threads of a pool; NULL = on the calling thread. */
extern bool emogi_verify_parallel(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
								  const EmogiResult *result, EmogiError *error);

#endif							/* EMOGI_VERIFY_H */
