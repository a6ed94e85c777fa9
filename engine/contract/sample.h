/*
 * sample.h: vertices chosen at random for an estimate: the same for the same seed, in every engine and verifier.
 */
#ifndef EMOGI_CONTRACT_SAMPLE_H
#define EMOGI_CONTRACT_SAMPLE_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Get the number of vertices that a Query's searches begin at: its samples, or all. */
static inline uint64_t
emogi_sample_count(uint64_t nvertices, const EmogiQuery *query)
{
	return query->samples > 0 && (uint64_t) query->samples < nvertices ? (uint64_t) query->samples : nvertices;
}

/* Say whether a Query's answer is an estimate. */
static inline bool
emogi_sample_is_partial(uint64_t nvertices, const EmogiQuery *query)
{
	return emogi_sample_count(nvertices, query) < nvertices;
}

/* Choose count of nvertices vertices, each set of so many as likely as any other. chosen: [count], ascending. */
extern void emogi_sample_choose(uint64_t nvertices, uint64_t count, uint64_t seed, uint32_t *chosen);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_CONTRACT_SAMPLE_H */
