/*
 * aggregates.cuh: what is wanted of an answer, made where it lies (contract/summary.h).
 */
#ifndef EMOGI_AGGREGATES_CUH
#define EMOGI_AGGREGATES_CUH

#include "cuda/core/run.cuh"

/*
 * Make the query's summary of run->columns, and set result->is_summarized; or, where memory is short or there is too much for the room that
 * the caller has, fill the result's columns.
 */
extern EmogiStatus emogi_aggregates_make(Run *run, const EmogiQuery *query, EmogiResult *result, EmogiError *error);
extern EmogiStatus emogi_aggregates_load(EmogiError *error);

#endif							/* EMOGI_AGGREGATES_CUH */
