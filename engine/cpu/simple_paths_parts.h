/*
 * simple_paths_parts.h: the state of a search for simple paths: simple_paths.c has the depth-first
 * search, simple_paths_bounds.c what bounds it
 */
#ifndef EMOGI_SIMPLE_PATHS_PARTS_H
#define EMOGI_SIMPLE_PATHS_PARTS_H

#include "contract/simple_paths.h"

#include "contract/semirings.h"
#include "graph/contiguous_lists.h"

#define EMOGI_SIMPLE_PATHS_PIECE 16384	/* edges between two polls */
#define EMOGI_COST_TOLERANCE 1e-9	/* of sums of weights in another order */

/* What is known of a vertex. */
typedef struct EmogiReached
{
	uint32_t	vertex;			/* + 1; 0 = free slot */
	uint32_t	hops;			/* to the nearest target, + 1; 0 = not reached */
	double		cost;			/* distance to the nearest target; with max_cost only */
	bool		is_near;		/* the distance is known, and within max_cost */
	bool		is_target;
	bool		on_path;
} EmogiReached;

#define HASH_PREFIX emogi_reached
#define HASH_ENTRY EmogiReached
#define HASH_STORED(reached) (reached)->vertex
#define HASH_MIN_BITS 6
#include "containers/hash_table.h"

/* A vertex whose distance may be this. */
typedef struct EmogiOffer
{
	double		cost;
	uint32_t	vertex;
} EmogiOffer;

/* A vertex on the path. */
typedef struct EmogiSimpleStep
{
	EmogiListRange list;
	uint64_t	entry;			/* its next edge */
} EmogiSimpleStep;

struct EmogiSimplePaths
{
	EmogiJob	job;
	EmogiError *error;
	EmogiSimplePathsQuery query;
	EmogiContiguousLists forward;
	EmogiContiguousLists backward;
	uint64_t	bytes;
	uint64_t	scanned;		/* edges */
	uint64_t	polled_at;		/* value of scanned at the last poll */
	EmogiReached *known;		/* [2^bits] */
	int			bits;
	uint64_t	nknown;
	uint32_t   *queue;			/* [nmet of queue_room], vertices with hops, nearest first; those
								 * from head on are not expanded */
	uint64_t	head;
	uint64_t	nmet;
	uint64_t	queue_room;
	uint64_t	nlevels;		/* vertices with fewer hops are all known */
	EmogiOffer *offers;			/* [noffers of offers_room], a heap */
	uint64_t	noffers;
	uint64_t	offers_room;
	bool		is_bounded;		/* by costs */
	bool		has_one_target;
	uint64_t	length;			/* current number of edges */
	uint64_t	next_length;	/* the next one that may have a path; UINT64_MAX = none */
	bool		has_begun;
	EmogiSimpleStep *steps;			/* [nsteps of room] */
	uint32_t   *vertices;		/* [room + 1], of the steps, and the target of a path */
	double	   *distance;		/* [room + 1], likewise */
	uint64_t	nsteps;
	uint64_t	room;
};

/* Count scanned edges; true = the search has ended: canceled, or failed before. */
static inline bool
emogi_simple_paths_scan(EmogiSimplePaths *paths, uint64_t count)
{
	paths->scanned += count;
	if (paths->scanned - paths->polled_at < EMOGI_SIMPLE_PATHS_PIECE)
		return paths->job.status != EMOGI_OK;
	paths->polled_at = paths->scanned;
	if (paths->query.poll != NULL && paths->query.poll())
		emogi_job_fail(&paths->job, EMOGI_CANCELED);
	return emogi_job_stopped(&paths->job);
}

/* Get what is known of a vertex; a free slot if nothing is. */
static inline EmogiReached *
emogi_simple_paths_find(const EmogiSimplePaths *paths, uint32_t vertex)
{
	return emogi_reached_find(paths->known, paths->bits, vertex);
}

/* Get the weight of an edge. */
static inline double
emogi_simple_paths_weight(const EmogiSimplePaths *paths, const EmogiAdjacency *lists, uint64_t e)
{
	return emogi_weight(lists->weights, paths->query.graph->weight_type, e);
}

/* Get the largest cost that may be within max_cost if it is added up in another order. */
static inline double
emogi_simple_paths_max_cost(const EmogiSimplePaths *paths)
{
	return paths->query.max_cost * (1.0 + EMOGI_COST_TOLERANCE);
}

/* Are all vertices that reach a target known? */
static inline bool
emogi_simple_paths_is_exhausted(const EmogiSimplePaths *paths)
{
	return paths->head == paths->nmet;
}

/* Get the least possible hops of a vertex; UINT64_MAX: it does not reach a target. */
static inline uint64_t
emogi_simple_paths_least_hops(const EmogiSimplePaths *paths, const EmogiReached *known)
{
	if (known->vertex != 0 && known->hops != 0)
		return known->hops - 1;
	if (emogi_simple_paths_is_exhausted(paths) || (paths->is_bounded && !known->is_near))
		return UINT64_MAX;
	return paths->nlevels;
}

/*
 * Ensure capacity for `count` items of an array that had `before`; false, and the job failed, if
 * out of memory.
 */
extern bool emogi_simple_paths_reserve(EmogiSimplePaths *paths, void **items, uint64_t before,
									   uint64_t count, size_t bytes);

/* Find or add a vertex; NULL, and the job failed, if out of memory. */
extern EmogiReached *emogi_simple_paths_add(EmogiSimplePaths *paths, uint32_t vertex);

/* Copy the targets, and find the distances to them; false if out of memory. */
extern bool emogi_simple_paths_begin_targets(EmogiSimplePaths *paths, const uint32_t *targets);

/* Find the hops that paths of the current length need; false if the job has failed. */
extern bool emogi_simple_paths_reach(EmogiSimplePaths *paths);

#endif							/* EMOGI_SIMPLE_PATHS_PARTS_H */
