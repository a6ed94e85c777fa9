/*
 * query.h: validation of queries, which both engines call before a run, and properties derived from
 * them.
 */
#ifndef EMOGI_CONTRACT_QUERY_H
#define EMOGI_CONTRACT_QUERY_H

#include "engine.h"

#define EMOGI_WALK_STEPS 65536	/* 80,000 steps take 0.8 ms on 16 processors, and 0.2 ms on a GPU,
								 * mostly latency (bench/RESULTS.md) */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Check the parameters of a query against the row of its algorithm; BAD_INPUT if one is missing or
 * out of range.
 */
extern EmogiStatus emogi_query_check(const EmogiGraph *graph, const EmogiQuery *query,
									 EmogiError *error);

/*
 * Get the length of the result columns: nvertices or, for shapes that are lists, as the arguments
 * specify; UINT64_MAX = too long.
 */
extern uint64_t emogi_query_length(const EmogiGraph *graph, const EmogiQuery *query);

/* Check whether a query also reads the transpose of its lists. */
static inline bool
emogi_query_needs_backward(const EmogiQuery *query)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(query->algorithm);

	if (query->pairs != NULL && emogi_algorithm_takes(row, EMOGI_PAIRS) >= 0)
		return false;
	return (row->traits & EMOGI_NEEDS_BACKWARD) != 0 ||
		(query->is_weighted && (row->traits & EMOGI_WEIGHS_BACKWARD) != 0);
}

/*
 * Check whether the CPU finishes a query before a GPU has started it, on any graph: walks of fewer
 * than EMOGI_WALK_STEPS steps in total.
 */
extern bool emogi_query_is_small(const EmogiQuery *query);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_CONTRACT_QUERY_H */
