/*
 * aggregates.cuh: aggregates of a result, computed on the device (contract/summary.h).
 */
#ifndef EMOGI_AGGREGATES_CUH
#define EMOGI_AGGREGATES_CUH

#include "cuda/core/run.cuh"

/*
 * Compute the query's aggregates from run->columns, and set result->is_summarized. If memory is
 * short or the caller's space is too small, fill the result's columns instead.
 */
extern EmogiStatus emogi_aggregates_make(Run *run, const EmogiQuery *query, EmogiResult *result,
										 EmogiError *error);
#endif							/* EMOGI_AGGREGATES_CUH */
