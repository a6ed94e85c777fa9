/*
 * similarity.cuh: shared declarations of vertex similarity: given pairs, and all vertices.
 */
#ifndef EMOGI_SIMILARITY_CUH
#define EMOGI_SIMILARITY_CUH

#include "cuda/core/run.cuh"

/* Get the similarity of two sets of sizes a and b with nshared common elements. */
static __device__ __forceinline__ double
similarity_of(EmogiMeasure measure, uint32_t a, uint32_t b, uint32_t nshared)
{
	if (nshared == 0)
		return 0.0;
	if (measure == EMOGI_JACCARD)
		return (double) nshared / ((double) a + (double) b - (double) nshared);
	if (measure == EMOGI_OVERLAP)
		return (double) nshared / (double) (a < b ? a : b);
	return (double) nshared / sqrt((double) a * (double) b);
}

/*
 * Count the distinct neighbors of the vertices in a bitmap: size[nvertices], 0 for other vertices;
 * queued on the stream.
 */
extern EmogiStatus emogi_similarity_count_sets(Run *run, const uint32_t *marked, uint32_t *size,
											   EmogiError *error);

/* Find the vertices most similar to each vertex. Uses the run's memory, and fills the result. */
extern EmogiStatus emogi_similarity_all(Run *run, const EmogiGraph *graph, const EmogiQuery *query,
										EmogiResult *result, EmogiError *error);

#endif							/* EMOGI_SIMILARITY_CUH */
