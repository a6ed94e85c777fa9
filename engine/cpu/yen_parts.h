/*
 * yen_parts.h: state shared by yen.c, which ranks classes of paths, yen_bounds.c, which bounds the
 * distance to the target from below, yen_hierarchy.c, which does so by a contraction hierarchy,
 * yen_spur.c, which finds the first path of a class, yen_both_ends.c, which finds its length if the
 * bounds of all classes are too low, and yen_states.c, which holds the states of vertices
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
#define EMOGI_YEN_CHUNK 512		/* states that are allocated together */

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

/* All that is known of a vertex; with a hierarchy, the labels are those of the vertex of a rank. */
typedef struct EmogiYenState
{
	EmogiYenLabels labels;
	EmogiSpurNode node;
	uint64_t	kept;			/* `latest` for paths of the minimum distance as bits, + 1; 0 = none */
} EmogiYenState;

/* A vertex in the hash table of states. */
typedef struct EmogiYenSlot
{
	uint32_t	id;
	uint32_t	place;			/* number of its state, + 1; 0 = empty slot */
} EmogiYenSlot;

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
	double		min_weight;		/* lower bound of all weights: 1 without weights, otherwise 0 */
	uint64_t	nscanned;		/* edges scanned */
	uint64_t	polled;			/* value of nscanned at the last poll */
	uint64_t	max_bytes;
	uint64_t	bytes;			/* allocated */

	/* yen_states.c */
	EmogiYenState **chunks;		/* [nchunks of chunks_room] of [EMOGI_YEN_CHUNK] */
	uint64_t	nchunks;
	uint64_t	chunks_room;
	uint32_t	nstates;
	EmogiYenSlot *slots;		/* [slot_mask + 1], at most half full; NULL = places are used */
	uint64_t	slot_mask;
	uint32_t   *places;			/* [nvertices], number of the state, + 1; 0 = none */
	EmogiYenState spare;		/* for vertices that are met when out of memory */

	/* yen_bounds.c */
	EmogiYenQueue forward;
	EmogiYenQueue backward;
	double		radius;			/* lower bound of the distance from the source of vertices that its
								 * search has not settled */
	double		limit;			/* distance of the target, except for rounding; +inf = not
								 * reachable */
	uint64_t	scanned_from[2];	/* edges and vertices since paths became long, by the search
									 * from
								 * the target and that from the source */
	bool		is_widening;	/* the search from the source is in the middle of a level */
	double		frontier;		/* lower bound of paths over vertices that the search from the
								 * target has not settled; +inf = none */

	/* yen_hierarchy.c */
	const EmogiContraction *made;	/* NULL = none */
	bool		reversed;		/* it is that of the transposed graph */
	uint32_t   *climb;			/* [nclimb of climb_room], stack of ranks */
	uint64_t	nclimb;
	uint64_t	climb_room;

	/* yen_spur.c */
	uint32_t	stamp;
	EmogiYenQueue queue;
	EmogiSpurStep *steps;		/* [nsteps of steps_room] */
	uint64_t	nsteps;
	uint64_t	steps_room;
	uint64_t	budget;			/* edges that a class may scan with the bounds of all classes; 0 =
								 * always search from both ends */
	uint64_t	scan_limit;		/* value of nscanned at which that of the current class is spent */
	bool		has_kept;		/* `kept` of states is set */

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

/* ---- yen_states.c ---- */

/* Begin without a state; false, and the job failed, if out of memory. */
extern bool emogi_yen_states_begin(EmogiYen *ranking);

/* Add the state of a vertex; if out of memory, the job fails, and it is the spare one. */
extern EmogiYenState *emogi_yen_states_add(EmogiYen *ranking, uint32_t id);

/* Free the states. */
extern void emogi_yen_states_free(EmogiYen *ranking);

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

/* Get the slot of a vertex, or the empty one where it belongs. */
static inline EmogiYenSlot *
emogi_yen_slot(const EmogiYen *ranking, uint32_t id)
{
	uint64_t	i = (id * UINT64_C(0x9E3779B97F4A7C15)) >> 32 & ranking->slot_mask;

	while (ranking->slots[i].place != 0 && ranking->slots[i].id != id)
		i = (i + 1) & ranking->slot_mask;
	return &ranking->slots[i];
}

/* Find the state of a vertex, which stays where it is; NULL = it has none. */
static inline EmogiYenState *
emogi_yen_find_state(const EmogiYen *ranking, uint32_t id)
{
	const uint32_t place = ranking->slots != NULL ? emogi_yen_slot(ranking, id)->place :
		ranking->places[id];

	return place == 0 ? NULL :
		&ranking->chunks[(place - 1) / EMOGI_YEN_CHUNK][(place - 1) % EMOGI_YEN_CHUNK];
}

/* Get the state of a vertex, to be written. */
static inline EmogiYenState *
emogi_yen_state(EmogiYen *ranking, uint32_t id)
{
	EmogiYenState *state = emogi_yen_find_state(ranking, id);

	return state != NULL ? state : emogi_yen_states_add(ranking, id);
}

/* Get the labels of a vertex, to be read. */
static inline EmogiYenLabels
emogi_yen_labels(const EmogiYen *ranking, uint32_t id)
{
	const EmogiYenState *state = emogi_yen_find_state(ranking, id);

	return state != NULL ? state->labels : (EmogiYenLabels) {0, 0};
}

/* May a vertex not follow the spur? */
static inline bool
emogi_yen_is_excluded(const EmogiYen *ranking, uint32_t vertex)
{
	const EmogiYenState *state = emogi_yen_find_state(ranking, vertex);

	return state != NULL && state->node.excluded;
}

/* Let classes spend as much as the search for the first path has cost. */
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
