/*
 * verify.h: is an answer right? By definition, not against another run: for tests and benchmarks.
 *
 * Each says whether result is the answer to the query and, if not, why, in error->message (where several things are wrong, one
 * of them). They need some bytes of memory a vertex; without them the answer counts as wrong. The answer to a query with
 * targets, which holds at these alone, is not for them.
 */
#ifndef EMOGI_VERIFY_H
#define EMOGI_VERIFY_H

#include "contract/engine.h"
#include "threads/pool.h"

/* Check by the calling thread alone. */
extern bool emogi_verify(const EmogiGraph *graph, const EmogiQuery *query, const EmogiResult *result,
						 EmogiError *error);

/* The same by all threads of a pool; NULL = the calling thread alone. */
extern bool emogi_verify_parallel(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
								  const EmogiResult *result, EmogiError *error);

#endif							/* EMOGI_VERIFY_H */
