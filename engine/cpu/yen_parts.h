/*
 * yen_parts.h: state shared by yen.c, which ranks classes of paths, yen_bounds.c, which bounds the
 * distance to the target from below, yen_hierarchy.c, which does so by a contraction hierarchy,
 * yen_spur.c, which finds the first path of a class, and yen_both_ends.c, which finds its length if
 * the bounds of all classes are too low
 */
#ifndef EMOGI_YEN_PARTS_H
#define EMOGI_YEN_PARTS_H

#include <math.h>
#include <string.h>

#include "contract/semirings.h"
#include "contract/contraction.h"
#include "graph/contiguous_lists.h"
#include "contract/yen.h"

#define EMOGI_RANKING_NONE UINT32_C(0xFFFFFFFF)

/* A vertex in a queue. */
typedef struct EmogiYenEntry
{
	double		key;
	double		value;			/* of a spur's search: distance from the source */
	uint32_t	vertex;
} EmogiYenEntry;

#define HEAP_PREFIX yen_entry
#define HEAP_ELEMENT EmogiYenEntry
#define HEAP_BEFORE(heap, a, b) ((a).key < (b).key || ((a).key == (b).key && (a).value > (b).value))
#define HEAP_FANOUT 4
#include "containers/heap.h"

/* A queue: smallest key first, among equal keys the largest value. */
typedef struct EmogiYenQueue
{
	EmogiYenEntry *entries;		/* heap, [count of room] */
	uint64_t	count;
	uint64_t	room;
} EmogiYenQueue;

/* Labels of a vertex from both endpoints: the bits of a double, + 1; 0 = not reached. */
typedef struct EmogiYenLabels
{
	uint64_t	forward;		/* distance from the source */
	uint64_t	backward;		/* distance to the target */
} EmogiYenLabels;

/* The state of a vertex in the search of one class; invalid if its stamp is another. */
typedef struct EmogiSpurNode
{
	uint32_t	stamp;
	bool		banned;			/* on the prefix of the class */
	bool		on_path;		/* on the path under construction */
	bool		excluded;		/* independent of the stamp: may not follow the spur
								 * (emogi_yen_bar) */
	double		value;			/* minimum distance from the source with that prefix; +inf = not
								 * reached */
	double		latest;			/* the target can be reached in time from here at a distance of at
								 * most this; -1 = unknown */
	double		dead;			/* the target cannot be reached in time from here at a distance of
								 * at least this */
	double		rest;			/* distance to the target without that prefix; +inf = not reached
								 * by yen_both_ends.c */
} EmogiSpurNode;

/* A step of the path under construction. */
typedef struct EmogiSpurStep
{
	double		value;			/* distance of the vertex */
	uint64_t	entry;			/* next edge of its list */
	uint32_t	vertex;
} EmogiSpurStep;

/* A vertex that may not follow a prefix. */
typedef struct EmogiYenBan
{
	uint32_t	vertex;
	uint32_t	next;			/* next ban of the class; EMOGI_RANKING_NONE = last */
} EmogiYenBan;

/*
 * The paths that share a prefix with another path, up to its vertex `at`, and do not continue with
 * a banned vertex.
 */
typedef struct EmogiYenClass
{
	double		key;			/* lower bound of their distance; that of the found path */
	uint32_t	at;
	uint32_t	next;			/* no path of distance key continues with a smaller vertex; after a
								 * path is found, its next vertex */
	bool		is_open;		/* they may continue with any vertex, and next is unused */
	bool		is_tried;		/* a search from both ends has found no path short enough */
	uint32_t	bans;			/* first ban */
	uint64_t	order;			/* among classes of the same path and key */
	uint64_t	length;			/* of the found path */
	uint32_t   *vertices;		/* [length], first path of the class; NULL = not searched yet */
	double	   *distance;		/* [length] */
} EmogiYenClass;

/* A path of the ranking, with the classes that it was partitioned into. */
typedef struct EmogiYenPath
{
	uint32_t	parent;			/* the path that it shares a prefix with, up to vertex `at` */
	uint32_t	at;
	uint64_t	length;
	uint32_t   *vertices;		/* [length] */
	double	   *distance;		/* [length] */
	EmogiYenClass *classes;		/* [nclasses], best first; those before `first` are used up */
	uint64_t	first;
	uint64_t	nclasses;
} EmogiYenPath;

struct EmogiYen
{
	EmogiJob	job;
	EmogiError *error;
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;	/* NULL = no changes */
	uint64_t	nvertices;		/* of the graph and the overlay */
	EmogiContiguousLists lists[2];	/* backward, forward */
	EmogiPoll	poll;
	uint32_t	source;
	uint32_t	target;
	bool		is_exact;		/* sums of weights are never rounded */
	double		slack;			/* maximum factor between sums that should be equal */
	uint64_t	nscanned;		/* edges scanned */
	uint64_t	polled;			/* value of nscanned at the last poll */
	uint64_t	max_bytes;
	uint64_t	bytes;			/* allocated, except the per-vertex arrays */
	uint64_t	nmet;			/* number of written elements of those arrays */

	/* yen_bounds.c */
	EmogiYenLabels *labels;		/* [nvertices] */
	EmogiYenQueue forward;
	EmogiYenQueue backward;
	double		radius;			/* lower bound of the distance from the source of vertices that its
								 * search has not settled */
	double		limit;			/* distance of the target, except for rounding; +inf = not
								 * reachable */
	uint64_t	scanned_from[2];	/* edges and vertices since paths became long, by the search
									 * from
								 * the target and that from the source */
	double		frontier;		/* lower bound of paths over vertices that the search from the
								 * target has not settled; +inf = none */

	/* yen_hierarchy.c, which uses labels differently */
	const EmogiContraction *made;	/* NULL = none */
	bool		reversed;		/* it is that of the transposed graph */
	uint32_t   *climb;			/* [nclimb of climb_room], stack of ranks */
	uint64_t	nclimb;
	uint64_t	climb_room;

	/* yen_spur.c */
	EmogiSpurNode *nodes;		/* [nvertices] */
	uint32_t	stamp;
	EmogiYenQueue queue;
	EmogiSpurStep *steps;		/* [nsteps of steps_room] */
	uint64_t	nsteps;
	uint64_t	steps_room;
	uint64_t	budget;			/* edges that a class may scan with the bounds of all classes; 0 =
								 * always search from both ends */
	uint64_t	scan_limit;		/* value of nscanned at which that of the current class is spent */
	uint64_t   *kept;			/* [nvertices], `latest` for paths of the minimum distance as bits,
								 * + 1; 0 = none. NULL = not allocated */

	/* yen_both_ends.c */
	EmogiYenQueue reverse;		/* of the search from the target */
	double		meeting;		/* length of the shortest path found, except for rounding */

	/* yen.c */
	EmogiYenPath *paths;		/* [npaths of paths_room]; the first is the source alone */
	uint32_t	npaths;
	uint64_t	paths_room;
	EmogiYenBan *bans;			/* [nbans of bans_room] */
	uint32_t	nbans;
	uint64_t	bans_room;
	uint32_t   *heap;			/* [nheap of heap_room], paths with classes left, best first */
	uint64_t	nheap;
	uint64_t	heap_room;
	double		first_distance;	/* distance of the first path */
	double		last;			/* distance of the last path */
	double		found_key;		/* min distance of the paths found since then; +inf = none */
};

typedef enum EmogiSpurOutcome
{
	EMOGI_SPUR_FOUND,
	EMOGI_SPUR_NONE,
	EMOGI_SPUR_LATER			/* it is longer than allowed; the class's key is the new lower
								 * bound */
} EmogiSpurOutcome;

/* ---- yen.c ---- */

/*
 * Mark, or unmark, the vertices that may not follow the prefix of a class, before the spur's list
 * is scanned.
 */
extern void emogi_yen_bar(EmogiYen *ranking, const EmogiYenClass *class, bool excluded);

/*
 * Ensure capacity for `count` items of `bytes` in an array of *room; false, and the job failed, if
 * out of memory.
 */
extern bool emogi_yen_reserve(EmogiYen *ranking, void **items, uint64_t *room, uint64_t count,
							  size_t bytes);

/*
 * Allocate zeroed memory for all vertices, little of which may be written; false, and the job
 * failed, if out of memory.
 */
extern bool emogi_yen_take(EmogiYen *ranking, void **items, size_t bytes);

/* ---- yen_bounds.c ---- */

/*
 * Find the distance between the endpoints except for rounding: limit. False if the job failed or
 * the target is not reachable.
 */
extern bool emogi_yen_bounds_begin(EmogiYen *ranking);

/* Get a lower bound of a vertex's distance to the target. */
extern double emogi_yen_bound(EmogiYen *ranking, uint32_t vertex);

/*
 * Likewise, but only as sharp as needed to decide whether a path to it of length value continues to
 * the target within max_distance.
 */
extern double emogi_yen_bound_within(EmogiYen *ranking, uint32_t vertex, double value,
									 double max_distance);

/* ---- yen_hierarchy.c: likewise; 0 if the job failed ---- */

extern bool emogi_yen_hierarchy_begin(EmogiYen *ranking);
extern double emogi_yen_hierarchy_bound(EmogiYen *ranking, uint32_t vertex);

/* ---- yen_spur.c ---- */

/* Begin with a class of a path: only its first `count` vertices are banned. */
extern void emogi_yen_spur_enter(EmogiYen *ranking, const EmogiYenPath *path, uint64_t count);

/* Get the state of a vertex. */
extern EmogiSpurNode *emogi_yen_spur_node(EmogiYen *ranking, uint32_t vertex);

/* Find the first path of a class, of distance at most `allowed`. False if the job failed. */
extern bool emogi_yen_spur_find(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class,
								double allowed, EmogiSpurOutcome *outcome);

/* Raise the lower bound of a class. */
extern void emogi_yen_raise_key(EmogiYenClass *class, double key);

/* ---- yen_both_ends.c ---- */

/*
 * Find the length of the shortest path of a class, if it is at most `allowed`, and the distances of
 * the vertices on all paths of that length. The prefix must be banned, the spur included. False if
 * the job failed.
 */
extern bool emogi_yen_both_ends_find(EmogiYen *ranking, const EmogiYenPath *path,
									 EmogiYenClass *class, double allowed, double *length,
									 EmogiSpurOutcome *outcome);

/* ---- inline functions ---- */

/* Let classes spend as much as a bidirectional search has cost. */
static inline void
emogi_yen_expect_cost(EmogiYen *ranking, uint64_t cost)
{
	if (ranking->budget > 0 && ranking->budget < cost)
		ranking->budget = cost;
}

/* Has the current class spent its budget? */
static inline bool
emogi_yen_is_spent(const EmogiYen *ranking)
{
	return ranking->nscanned >= ranking->scan_limit;
}

/*
 * Add distances without overflow to +inf: +inf means not reachable, and an overflowing sum becomes
 * the largest double.
 */
static inline double
emogi_yen_add(double a, double b)
{
	const double sum = a + b;

	return sum < (double) INFINITY || b == (double) INFINITY || a == (double) INFINITY ?
		sum : 0x1.fffffffffffffp1023;
}

/* Get a label as bits, + 1. */
static inline uint64_t
emogi_yen_bits(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof bits);
	return bits + 1;
}

/* Get the value of a label; +inf = not reached. */
static inline double
emogi_yen_value(uint64_t bits)
{
	double		value;

	if (bits == 0)
		return (double) INFINITY;
	bits--;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Get a lower bound that holds in spite of rounding. */
static inline double
emogi_yen_deflate(const EmogiYen *ranking, double value)
{
	return value == (double) INFINITY ? value : value / ranking->slack;
}

/* Push an entry onto a queue; false, and the job failed, if out of memory. */
static inline bool
emogi_yen_push(EmogiYen *ranking, EmogiYenQueue *queue, EmogiYenEntry entry)
{
	if (queue->count == queue->room &&
		!emogi_yen_reserve(ranking, (void **) &queue->entries, &queue->room, queue->count + 1,
						   sizeof *queue->entries))
		return false;
	yen_entry_push(queue->entries, &queue->count, entry);
	return true;
}

/* Pop the first entry of a nonempty queue. */
static inline EmogiYenEntry
emogi_yen_pop(EmogiYenQueue *queue)
{
	return yen_entry_pop(queue->entries, &queue->count);
}

/* Count scanned edges; true = the job has ended: canceled, or failed before. */
static inline bool
emogi_yen_count_scanned(EmogiYen *ranking, uint64_t count)
{
	ranking->nscanned += count;
	if (ranking->nscanned - ranking->polled >= 16384)
	{
		ranking->polled = ranking->nscanned;
		if (ranking->poll != NULL && ranking->poll())
			emogi_job_fail(&ranking->job, EMOGI_CANCELED);
		return emogi_job_stopped(&ranking->job);
	}
	return ranking->job.status != EMOGI_OK;
}

/* Poll in the middle of a list, after `nwalked` edges; true = the job has ended. */
static inline bool
emogi_yen_poll_in_list(EmogiYen *ranking, uint64_t nwalked)
{
	if (nwalked % 65536 == 65535 && ranking->poll != NULL && ranking->poll())
		emogi_job_fail(&ranking->job, EMOGI_CANCELED);
	return ranking->job.status != EMOGI_OK;
}

/* Get the list of a vertex; an empty one, and the job failed, if out of memory. */
static inline EmogiListRange
emogi_yen_list(EmogiYen *ranking, bool forward, uint32_t vertex)
{
	return emogi_contiguous_list(&ranking->lists[forward], vertex);
}

/* Return true if an edge of a list is parallel to the one before. It then has no less weight. */
static inline bool
emogi_yen_repeats(const EmogiAdjacency *lists, uint64_t first, uint64_t entry)
{
	return entry > first && lists->targets[entry] == lists->targets[entry - 1];
}

#endif							/* EMOGI_YEN_PARTS_H */
