/*
 * query.h: is a query in order? Both engines ask before they run one.
 */
#ifndef EMOGI_CONTRACT_QUERY_H
#define EMOGI_CONTRACT_QUERY_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Check what a Query's row says that it takes; BAD_INPUT when something is missing or out of range. */
extern EmogiStatus emogi_query_check(const EmogiGraph *graph, const EmogiQuery *query, EmogiError *error);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_CONTRACT_QUERY_H */
