/*
 * yen_parts.h: what passes between yen.c, which ranks classes of paths, yen_bounds.c, which says how far the target is from a vertex
 * at least, yen_hierarchy.c, which does so where there is a contraction hierarchy, and yen_spur.c, which finds the first path of a class.
 */
#ifndef EMOGI_YEN_PARTS_H
#define EMOGI_YEN_PARTS_H

#include <math.h>
#include <string.h>

#include "contract/semirings.h"
#include "contraction.h"
#include "graph/whole_lists.h"
#include "cpu/yen.h"

#define EMOGI_RANKING_NONE UINT32_C(0xFFFFFFFF)

/* A vertex in a queue. */
typedef struct EmogiYenEntry
{
	double		key;
	double		value;			/* of a spur's search: from the source on */
	uint32_t	vertex;
} EmogiYenEntry;

/* A queue: the least key first, of equal ones the largest value. */
typedef struct EmogiYenQueue
{
	EmogiYenEntry *entries;	/* [room], [count] are there: a heap */
	uint64_t	count;
	uint64_t	room;
} EmogiYenQueue;

/* Labels of a vertex from both ends: a double's bits, + 1; 0 = not met. */
typedef struct EmogiYenLabels
{
	uint64_t	forward;		/* its distance from the source */
	uint64_t	backward;		/* to the target */
} EmogiYenLabels;

/* The state of a vertex in the search of one class; of another when the stamp is. */
typedef struct EmogiSpurNode
{
	uint32_t	stamp;
	bool		banned;			/* on the class's prefix */
	bool		on_path;		/* on the path that is being made */
	bool		barred;			/* whatever the stamp: may not follow the spur (emogi_yen_bar) */
	double		value;			/* the least distance from the source with that prefix; +inf = not met */
	double		latest;			/* from here a way leads to the target in time when the distance is at most this; -1 = it is not known */
	double		dead;			/* from here none does when it is at least this */
} EmogiSpurNode;

/* A step of the path that is being made. */
typedef struct EmogiSpurStep
{
	double		value;			/* distance of the vertex */
	uint64_t	entry;			/* the next one of its list */
	uint32_t	vertex;
} EmogiSpurStep;

/* A vertex that may not follow a prefix. */
typedef struct EmogiYenBan
{
	uint32_t	vertex;
	uint32_t	next;			/* of the same class; EMOGI_RANKING_NONE = the last */
} EmogiYenBan;

/* The paths that begin as another path does, up to its vertex `at`, and go on with none of the banned. */
typedef struct EmogiYenClass
{
	double		key;			/* no path of it is shorter; the distance of `path` */
	uint32_t	at;
	uint32_t	next;			/* of those paths that are as short as the key says none goes on with a smaller vertex; that of what has been found */
	bool		is_open;		/* they may go on with any vertex: next is of no use */
	uint32_t	bans;			/* the first */
	uint64_t	order;			/* among classes of the same path and key */
	uint64_t	length;			/* of what has been found */
	uint32_t   *vertices;		/* [length], its first path; NULL = it has not been looked for */
	double	   *distance;		/* [length] */
} EmogiYenClass;

/* A path of the ranking, with the classes that it was taken apart into. */
typedef struct EmogiYenPath
{
	uint32_t	parent;			/* the path that it shares its beginning with, up to vertex `at` */
	uint32_t	at;
	uint64_t	length;
	uint32_t   *vertices;		/* [length] */
	double	   *distance;		/* [length] */
	EmogiYenClass *classes;	/* [nclasses], those from first on are left, best first */
	uint64_t	first;
	uint64_t	nclasses;
} EmogiYenPath;

struct EmogiYen
{
	EmogiJob	job;
	EmogiError *error;
	const EmogiGraph *graph;
	const EmogiOverlay *patch;	/* NULL = nothing has changed */
	uint64_t	nvertices;		/* of both */
	EmogiWholeLists lists[2];	/* backward, forward */
	EmogiPoll	poll;
	uint32_t	source;
	uint32_t	target;
	bool		is_exact;		/* sums of weights are never rounded */
	double		slack;			/* sums that should be equal differ by this factor at most */
	uint64_t	looked;			/* list entries */
	uint64_t	polled;			/* how many of them when poll was asked last */
	uint64_t	most_bytes;
	uint64_t	bytes;			/* taken, but for the arrays of all vertices */
	uint64_t	nmet;			/* elements of those that were written */

	/* yen_bounds.c */
	EmogiYenLabels *labels;	/* [nvertices] */
	EmogiYenQueue forward;
	EmogiYenQueue backward;
	double		radius;			/* what the search from the source has not settled is no nearer to it */
	double		limit;			/* the distance of the target, but for rounding; +inf = there is no way */
	uint64_t	looked_on[2];	/* list entries and vertices since ways are long, by the search from the target and that from the source */
	double		frontier;		/* ways over what the search from the target has not settled are no shorter; +inf = there are none */

	/* yen_hierarchy.c, where labels are something else */
	const EmogiContraction *made;	/* NULL = there is none */
	bool		reversed;		/* it is of the Graph that leads the other way */
	uint32_t   *climb;			/* [nclimb of climb_room], ranks that are looked up */
	uint64_t	nclimb;
	uint64_t	climb_room;

	/* yen_spur.c */
	EmogiSpurNode *nodes;		/* [nvertices] */
	uint32_t	stamp;
	EmogiYenQueue queue;
	EmogiSpurStep *steps;		/* [nsteps of steps_room] */
	uint64_t	nsteps;
	uint64_t	steps_room;
	uint64_t   *kept;			/* [nvertices], `latest` for paths of the least distance as bits, + 1; 0 = none. NULL = not there */

	/* yen.c */
	EmogiYenPath *paths;		/* [npaths of paths_room]; the first is the source alone */
	uint32_t	npaths;
	uint64_t	paths_room;
	EmogiYenBan *bans;			/* [nbans of bans_room] */
	uint32_t	nbans;
	uint64_t	bans_room;
	uint32_t   *heap;			/* [nheap of heap_room], paths with classes left, that with the best first */
	uint64_t	nheap;
	uint64_t	heap_room;
	double		least;			/* distance of the first path */
	double		last;			/* of the last one */
};

typedef enum EmogiSpurOutcome
{
	EMOGI_SPUR_FOUND,
	EMOGI_SPUR_NONE,
	EMOGI_SPUR_LATER			/* it is longer than was allowed; the class's key says how long it is at least */
} EmogiSpurOutcome;

/* ---- yen.c ---- */

/* Mark the vertices that may not follow the prefix of a class, before the spur's list is walked, or take the marks away. */
extern void emogi_yen_bar(EmogiYen *ranking, const EmogiYenClass *class, bool barred);

/* Make room for `count` items of `bytes` in an array of *room; false, with the job failed, without memory. */
extern bool emogi_yen_reserve(EmogiYen *ranking, void **items, uint64_t *room, uint64_t count, size_t bytes);

/* Take memory of zeros for all vertices, of which little may be written; false, with the job failed, without. */
extern bool emogi_yen_take(EmogiYen *ranking, void **items, size_t bytes);

/* ---- yen_bounds.c ---- */

/* Find the distance between the ends, but for rounding: limit. False, with the job failed, or there is no way. */
extern bool emogi_yen_bounds_begin(EmogiYen *ranking);

/* Get what the target is away from a vertex at least. */
extern double emogi_yen_bound(EmogiYen *ranking, uint32_t vertex);

/* The same, as well as it takes to tell whether a way to it of that length leads on within a limit. */
extern double emogi_yen_bound_within(EmogiYen *ranking, uint32_t vertex, double value, double most);

/* ---- yen_hierarchy.c: the same; 0 with the job failed ---- */

extern bool emogi_yen_hierarchy_begin(EmogiYen *ranking);
extern double emogi_yen_hierarchy_bound(EmogiYen *ranking, uint32_t vertex);

/* ---- yen_spur.c ---- */

/* Begin with a class of a path: no vertex is banned but for the first `count` of that. */
extern void emogi_yen_spur_enter(EmogiYen *ranking, const EmogiYenPath *path, uint64_t count);

/* Get the state of a vertex. */
extern EmogiSpurNode *emogi_yen_spur_node(EmogiYen *ranking, uint32_t vertex);

/* Find the first path of a class, the distance of which is no more than `allowed`. False with the job failed. */
extern bool emogi_yen_spur_find(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class, double allowed, EmogiSpurOutcome *outcome);

/* ---- small ones ---- */

/* Add what is known to be less than it is: +inf means that there is no way, too long a one is the largest double. */
static inline double
emogi_yen_add(double a, double b)
{
	const double sum = a + b;

	return sum < (double) INFINITY || b == (double) INFINITY || a == (double) INFINITY ? sum : 0x1.fffffffffffffp1023;
}

/* Get a label as bits, + 1. */
static inline uint64_t
emogi_yen_bits(double value)
{
	uint64_t	bits;

	memcpy(&bits, &value, sizeof bits);
	return bits + 1;
}

/* Get the value of a label; +inf = not met. */
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

/* Is an entry to be taken before another? */
static inline bool
emogi_yen_is_before(const EmogiYenEntry *a, const EmogiYenEntry *b)
{
	return a->key < b->key || (a->key == b->key && a->value > b->value);
}

/* Put an entry into a queue; false, with the job failed, without memory. */
static inline bool
emogi_yen_push(EmogiYen *ranking, EmogiYenQueue *queue, EmogiYenEntry entry)
{
	uint64_t	i = queue->count;

	if (queue->count == queue->room &&
		!emogi_yen_reserve(ranking, (void **) &queue->entries, &queue->room, queue->count + 1, sizeof *queue->entries))
		return false;
	queue->count++;
	for (; i > 0 && emogi_yen_is_before(&entry, &queue->entries[(i - 1) / 4]); i = (i - 1) / 4)
		queue->entries[i] = queue->entries[(i - 1) / 4];
	queue->entries[i] = entry;
	return true;
}

/* Take the first entry off a queue that has one. */
static inline EmogiYenEntry
emogi_yen_pop(EmogiYenQueue *queue)
{
	EmogiYenEntry *entries = queue->entries;
	const EmogiYenEntry first = entries[0];
	const EmogiYenEntry last = entries[--queue->count];
	uint64_t	i = 0;

	while (4 * i + 1 < queue->count)
	{
		uint64_t	child = 4 * i + 1;
		const uint64_t end = child + 4 < queue->count ? child + 4 : queue->count;

		for (uint64_t other = child + 1; other < end; other++)
			if (emogi_yen_is_before(&entries[other], &entries[child]))
				child = other;
		if (!emogi_yen_is_before(&entries[child], &last))
			break;
		entries[i] = entries[child];
		i = child;
	}
	entries[i] = last;
	return first;
}

/* Note list entries that are looked at; true = the job has ended: canceled, or failed before. */
static inline bool
emogi_yen_look(EmogiYen *ranking, uint64_t count)
{
	ranking->looked += count;
	if (ranking->looked - ranking->polled >= 16384)
	{
		ranking->polled = ranking->looked;
		if (ranking->poll != NULL && ranking->poll())
			emogi_job_fail(&ranking->job, EMOGI_CANCELED);
		return emogi_job_stopped(&ranking->job);
	}
	return ranking->job.status != EMOGI_OK;
}

/* Ask poll in the middle of a list of which `nwalked` entries have been walked; true = the job has ended. */
static inline bool
emogi_yen_look_within(EmogiYen *ranking, uint64_t nwalked)
{
	if (nwalked % 65536 == 65535 && ranking->poll != NULL && ranking->poll())
		emogi_job_fail(&ranking->job, EMOGI_CANCELED);
	return ranking->job.status != EMOGI_OK;
}

/* Get the list of a vertex; an empty one, with the job failed, without memory. */
static inline EmogiListRange
emogi_yen_list(EmogiYen *ranking, bool forward, uint32_t vertex)
{
	return emogi_whole_list(&ranking->lists[forward], vertex);
}

/* Is an entry of a list one more to the same vertex as the one before? It then weighs no less. */
static inline bool
emogi_yen_repeats(const EmogiAdjacency *lists, uint64_t first, uint64_t entry)
{
	return entry > first && lists->targets[entry] == lists->targets[entry - 1];
}

#endif							/* EMOGI_YEN_PARTS_H */
