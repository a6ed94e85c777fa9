/*
 * by_source.cuh: a run whose sources are searched from in parts, each for itself: by the run's GPU, the leader, and by others that help it.
 *
 * Each helper has a thread and a Run of its own, wherever the Graph is placed on it, and takes a part when it has done the last. What
 * a part comes to goes to memory of the leader's GPU or of the host, and the leader adds the parts up in their order: they are the same whoever makes them, so the
 * bits are those of one GPU. What a helper was at when its memory or its device failed, the leader does.
 */
#ifndef EMOGI_BY_SOURCE_CUH
#define EMOGI_BY_SOURCE_CUH

#include <pthread.h>

#include "cuda/core/run.cuh"

#define EMOGI_MOST_PARTS 8		/* as many GPUs as a host has; each is fetched, and added up, at 8 bytes a vertex and more */

/* Make parts in a run: what opens the search, then takes parts until there are none. Called in a thread of each GPU's, with its own run and result. */
struct BySource;
typedef EmogiStatus (*MakeParts) (Run *run, struct BySource *parts, void *with, EmogiResult *result, EmogiError *error);

/* A GPU that helps, and its thread. */
typedef struct BySourceHelper
{
	Run			run;			/* the first member, as emogi_by_source_take wants it */
	struct BySource *parts;
	pthread_t	thread;
	bool		has_left;		/* its thread has ended */
	uint64_t	part;			/* that it is at; EMOGI_NO_PART = none */
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
	uint64_t	nparts;			/* at most EMOGI_MOST_PARTS */
	uint64_t	next;			/* atomic: the first that nobody has taken */
	uint32_t	stopped;		/* atomic: somebody knows that there will be no answer */
	uint32_t	lost;			/* parts that no helper has done, bits by number; the leader's, when all helpers have left */
	int			nhelpers;
	BySourceHelper helper[EMOGI_MAX_HELPERS];
} BySource;

/* Get into how many parts so many units of work are cut: whatever GPUs there are. */
static inline uint64_t
emogi_by_source_count(uint64_t nunits, uint64_t least)
{
	return nunits < EMOGI_MOST_PARTS * least ? 1 : EMOGI_MOST_PARTS;
}

/* Get the first unit of a part; that of the part behind the last is nunits. */
static inline uint64_t
emogi_by_source_first(const BySource *parts, uint64_t nunits, uint64_t part)
{
	return nunits * part / parts->nparts;
}

/*
 * Make all parts, of a BySource whose leader, graph, query, make, with and nparts are set: `make` is called in the calling thread for the leader, and in one for each
 * GPU that helps. Adds what the helpers have counted to the result. The run has no helpers for anything else.
 */
extern EmogiStatus emogi_by_source_make(BySource *parts, EmogiResult *result, EmogiError *error);

/* Take a part, in a run; EMOGI_NO_PART = there are none, or no answer. The leader waits for the helpers when there is none that nobody has taken, and gets what they have lost. */
extern uint64_t emogi_by_source_take(BySource *parts, Run *run);

/* Are a run's parts to be put together with those of others? */
static inline bool
emogi_by_source_are_shared(const BySource *parts, const Run *run)
{
	return run != parts->leader || parts->nhelpers > 0;
}

#endif							/* EMOGI_BY_SOURCE_CUH */
