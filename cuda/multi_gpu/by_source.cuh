/*
 * by_source.cuh: multi-GPU runs by source: the searches from a run's sources are divided into
 * parts, which the run's GPU, the leader, and helper GPUs process.
 *
 * Each helper has a thread and a Run of its own, with its own placement of the graph, and takes a
 * part when it has finished the previous one. The result of a part goes to memory of the leader's
 * GPU or of the host, and the leader adds the parts in their order. A part's result does not depend
 * on which GPU computes it, so the sum is bitwise equal to that of one GPU. If a helper's memory or
 * device fails, the leader repeats its current part.
 */
#ifndef EMOGI_BY_SOURCE_CUH
#define EMOGI_BY_SOURCE_CUH

#include <pthread.h>

#include "cuda/core/run.cuh"

/* as many as a host has GPUs; each is fetched and added, at 8 bytes per vertex and more */
#define EMOGI_MAX_PARTS 8

/*
 * Process parts in a run: set up the search, then take parts until there are none. Called in each
 * GPU's thread, with its own run and result.
 */
struct BySource;
typedef EmogiStatus (*MakeParts) (Run *run, struct BySource *parts, void *with, EmogiResult *result,
								  EmogiError *error);

/* A helper GPU, and its thread. */
typedef struct BySourceHelper
{
	Run			run;			/* the first member, as emogi_by_source_take requires */
	struct BySource *parts;
	pthread_t	thread;
	bool		has_left;		/* its thread has been joined */
	uint64_t	part;			/* its current part; EMOGI_NO_PART = none */
	EmogiStatus status;
	EmogiResult result;
	EmogiError	error;
} BySourceHelper;

#define EMOGI_NO_PART UINT64_MAX

typedef struct BySource
{
	Run		   *leader;
	const EmogiGraph *graph;
	const EmogiQuery *query;
	MakeParts	make;
	void	   *with;
	uint64_t	nparts;			/* at most EMOGI_MAX_PARTS */
	uint64_t	next;			/* atomic: the next part to take */
	uint32_t	stopped;		/* atomic: there will be no result */
	/* bitmap of the parts that helpers have lost; the leader's, after all helpers have finished */
	uint32_t	lost;
	int			nhelpers;
	BySourceHelper helper[EMOGI_MAX_HELPERS];
} BySource;

/* Return the number of parts for nunits units of work: independent of the number of GPUs. */
static inline uint64_t
emogi_by_source_count(uint64_t nunits, uint64_t min_units)
{
	return nunits < EMOGI_MAX_PARTS * min_units ? 1 : EMOGI_MAX_PARTS;
}

/* Return the first unit of a part; for part nparts, that is nunits. */
static inline uint64_t
emogi_by_source_first(const BySource *parts, uint64_t nunits, uint64_t part)
{
	return nunits * part / parts->nparts;
}

/*
 * Process all parts. The caller has set leader, graph, query, make, with and nparts: `make` is
 * called in the calling thread for the leader, and in a thread for each helper GPU. Adds the
 * helpers' counters to the result. The run has no helpers for any other purpose.
 */
extern EmogiStatus emogi_by_source_make(BySource *parts, EmogiResult *result, EmogiError *error);

/*
 * Take a part, in a run; EMOGI_NO_PART = there are none, or there will be no result. When no parts
 * are left, the leader waits for the helpers and then gets the parts that they have lost.
 */
extern uint64_t emogi_by_source_take(BySource *parts, Run *run);

/* Return whether a run's parts must be combined with those of others. */
static inline bool
emogi_by_source_are_shared(const BySource *parts, const Run *run)
{
	return run != parts->leader || parts->nhelpers > 0;
}

#endif							/* EMOGI_BY_SOURCE_CUH */
