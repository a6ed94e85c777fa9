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

/* What sums of betweenness are multiplied by: those of vertices that searches began at, where not all did, and of the others. */
typedef struct EmogiSampleScale
{
	double		of_samples;
	double		of_others;
} EmogiSampleScale;

/* Get what turns sums into shares of all pairs, or numbers of pairs: as if all sources were like those that there are. */
static inline EmogiSampleScale
emogi_sample_scale(const EmogiGraph *graph, const EmogiQuery *query)
{
	const double others = (double) graph->nvertices - 1.0;
	const double nsources = emogi_sample_is_partial(graph->nvertices, query) ? (double) emogi_sample_count(graph->nvertices, query) : others;
	const double twice = graph->forward.offsets == graph->backward.offsets ? 2.0 : 1.0;	/* each pair either way */
	EmogiSampleScale scale = {1.0, 1.0};
	double		most;

	if (graph->nvertices < 3)
		return scale;
	most = query->normalized ? 1.0 / (others - 1.0) : others / twice;
	scale.of_samples = nsources > 1.0 ? most / (nsources - 1.0) : 0.0;
	scale.of_others = most / nsources;
	return scale;
}

/* Choose count of nvertices vertices, each set of so many as likely as any other. chosen: [count], ascending. */
extern void emogi_sample_choose(uint64_t nvertices, uint64_t count, uint64_t seed, uint32_t *chosen);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_CONTRACT_SAMPLE_H */
