/*
 * query.h: is a query in order? Both engines ask before they run one.
 */
#ifndef EMOGI_CONTRACT_QUERY_H
#define EMOGI_CONTRACT_QUERY_H

#include "engine.h"

#define EMOGI_WALK_STEPS 65536	/* of walks: 80,000 take 16 processors 0.8 ms, and a GPU 0.2, most of it to begin (bench/RESULTS.md) */

#ifdef __cplusplus
extern "C" {
#endif

/* Check what a Query's row says that it takes; BAD_INPUT when something is missing or out of range. */
extern EmogiStatus emogi_query_check(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error);

/* Get the length of the columns of an answer: nvertices, or of an EMOGI_IS_LIST what its arguments say; UINT64_MAX = too long. */
extern uint64_t emogi_query_length(uint64_t nvertices, const EmogiQuery *query);

/* Say whether a Query reads the transpose of its lists, too. */
extern bool emogi_query_needs_backward(const EmogiQuery *query);

/*
 * Say whether a query is done by the processor before a GPU has begun, on any graph: walks of fewer than EMOGI_WALK_STEPS steps, all of them
 * together.
 */
extern bool emogi_query_is_small(const EmogiQuery *query);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_CONTRACT_QUERY_H */
