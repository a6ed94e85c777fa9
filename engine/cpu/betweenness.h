/*
 * betweenness.h: shared declarations of betweenness.c, which chooses the method and searches with
 * all threads together, and betweenness_per_thread.c, in which each thread runs searches of its
 * own.
 */
#ifndef EMOGI_CPU_BETWEENNESS_H
#define EMOGI_CPU_BETWEENNESS_H

#include "cpu/cpu_run.h"

/* Tuned. */
/* edges that are filtered before the values of the matching ones are added */
#define EMOGI_BETWEENNESS_GATHER 128
/* integers below this add up exactly in any order */
#define EMOGI_BETWEENNESS_EXACT 9007199254740992.0

/* path counts from here on are kept with a separate exponent */
#define EMOGI_BETWEENNESS_MANY 0x1p900

/* The state common to both methods. Between steps it belongs to the caller's thread. */
typedef struct EmogiBetweenness
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	uint64_t	nvertices;
	const uint32_t *sources;	/* [nsources] */
	uint64_t	nsources;
	uint64_t	at;				/* the next source */
	double	   *centrality;		/* [nvertices], the sum of dependencies, source by source */
} EmogiBetweenness;

/* Check whether a vertex is on a level. levels: uint8_t if is_narrow, otherwise int32_t. */
static inline __attribute__((always_inline)) bool
emogi_betweenness_is_at(const void *levels, bool is_narrow, uint32_t v, int32_t level)
{
	return is_narrow ? ((const uint8_t *) levels)[v] == (uint8_t) level
		: ((const int32_t *) levels)[v] == level;
}

/* Sum the values of the vertices of a list that are on a level, each once, in list order. */
static inline __attribute__((always_inline)) double
emogi_betweenness_sum(EmogiBetweenness *run, const EmogiAdjacency *lists, uint64_t v,
					  const void *levels, bool is_narrow, int32_t level, const double *values)
{
	const uint64_t end = lists->offsets[v + 1];
	uint32_t	found[EMOGI_BETWEENNESS_GATHER];
	uint32_t	last = EMOGI_NO_VERTEX;
	double		sum = 0.0;

	for (uint64_t e = lists->offsets[v]; e < end;)
	{
		const uint64_t stop = emogi_cpu_run_chunk_end(e, EMOGI_BETWEENNESS_GATHER, end);
		uint32_t	nfound = 0;

		for (; e < stop; e++)
		{
			const uint32_t w = lists->targets[e];

			found[nfound] = w;
			nfound += emogi_betweenness_is_at(levels, is_narrow, w, level) & (w != last);
			last = w;
		}
		for (uint32_t i = 0; i < nfound; i++)
			sum += values[found[i]];
		if (e % EMOGI_RUN_POLL < EMOGI_BETWEENNESS_GATHER && e < end &&
			emogi_job_stopped(&run->run.job))
			break;
	}
	return sum;
}

/* Search from the remaining sources, one search per thread; false if the job has stopped. */
extern bool emogi_betweenness_per_thread(EmogiBetweenness *betweenness);

#endif							/* EMOGI_CPU_BETWEENNESS_H */
