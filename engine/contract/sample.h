/*
 * sample.h: random choice of the vertices from which a result is estimated; a seed gives the same
 * choice in all engines and verifiers.
 */
#ifndef EMOGI_CONTRACT_SAMPLE_H
#define EMOGI_CONTRACT_SAMPLE_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Get the number of vertices from which the searches of a query start: its samples, or all
 * vertices.
 */
static inline uint64_t
emogi_sample_count(uint64_t nvertices, const EmogiQuery *query)
{
	return query->samples > 0 && (uint64_t) query->samples < nvertices ? (uint64_t) query->samples
		: nvertices;
}

/* Check whether the result of a query is an estimate. */
static inline bool
emogi_sample_is_partial(uint64_t nvertices, const EmogiQuery *query)
{
	return emogi_sample_count(nvertices, query) < nvertices;
}

/*
 * Factors of the sums of betweenness: for vertices that are samples, if not all vertices are, and
 * for the other vertices.
 */
typedef struct EmogiSampleScale
{
	double		of_samples;
	double		of_others;
} EmogiSampleScale;

/*
 * Get the factors that turn sums into fractions of all pairs, or into numbers of pairs,
 * extrapolated from the samples to all sources.
 */
static inline EmogiSampleScale
emogi_sample_scale(const EmogiGraph *graph, const EmogiQuery *query)
{
	const double others = (double) graph->nvertices - 1.0;
	const double nsources = emogi_sample_is_partial(graph->nvertices, query)
		? (double) emogi_sample_count(graph->nvertices, query) : others;
	/* each pair in both directions */
	const double twice = graph->forward.offsets == graph->backward.offsets ? 2.0 : 1.0;
	EmogiSampleScale scale = {1.0, 1.0};
	double		full_scale;

	if (graph->nvertices < 3)
		return scale;
	full_scale = query->normalized ? 1.0 / (others - 1.0) : others / twice;
	scale.of_samples = nsources > 1.0 ? full_scale / (nsources - 1.0) : 0.0;
	scale.of_others = full_scale / nsources;
	return scale;
}

/*
 * Choose `count` of nvertices vertices; all subsets of this size are equally likely. chosen:
 * [count], ascending.
 */
extern void emogi_sample_choose(uint64_t nvertices, uint64_t count, uint64_t seed,
								uint32_t *chosen);

#ifdef __cplusplus
}
#endif
#endif							/* EMOGI_CONTRACT_SAMPLE_H */
