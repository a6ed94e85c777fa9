/*
 * yen.c: Yen's algorithm with Lawler's classes: the simple paths between two vertices, shortest
 * first
 *
 * Method. Yen [1], with the classes of Lawler [2]: all paths outside the ranking are partitioned
 * into classes. The paths of a class share a prefix with a path of the ranking and leave it at a
 * vertex of its own. The best of the classes' best paths is the next one of the ranking, and its
 * class is partitioned further. The best path of a class is not computed before it is needed: until
 * then, the class is ordered by a lower bound of its paths' length and by the smallest vertex with
 * which a path of that length could continue [3]. Nearly all classes are never searched.
 *
 * The classes of a path form an ordered list of their own; a heap holds the lists. Two lists are
 * compared by the common prefix of their paths, which is found in the tree of prefix sharing.
 *
 * [1] J. Yen. Finding the K shortest loopless paths in a network. Management Science 17(11), 1971.
 *
 * [2] E. Lawler. A procedure for computing the K best solutions to discrete optimization problems.
 * Management Science 18(7), 1972.
 *
 * [3] A. Al Zoobi, D. Coudert, N. Nisse. Finding the k shortest simple paths: time and space
 * trade-offs. JEA 28, 2023.
 */
#include "cpu/yen_parts.h"

#include <stdio.h>
#include <stdlib.h>

#define MIN_ROOM 64
/* sums of integers up to this are exact, as are sums of two of them */
#define MAX_EXACT 0x1p51
/*
 * the first search of a class may exceed its lower bound by 1 / FIRST_SHARE of the minimum distance
 */
#define FIRST_SHARE 1024
/* min edges that a class may scan with the bounds of all classes */
#define MIN_BUDGET 512

/* ---- memory ---- */

bool
emogi_yen_reserve(EmogiYen *ranking, void **items, uint64_t *room, uint64_t count, size_t bytes)
{
	const uint64_t before = *items == NULL ? 0 : *room;
	const uint64_t larger = before == 0 ? count : 2 * before < count ? count : 2 * before;
	void	   *moved = NULL;

	if (*items != NULL && count <= *room)
		return true;
	if (ranking->bytes + (larger - before) * bytes <= ranking->max_bytes &&
		emogi_job_may_allocate(&ranking->job))
		moved = realloc(*items, larger * bytes);
	if (moved == NULL)
	{
		emogi_job_fail(&ranking->job, EMOGI_NO_MEMORY);
		return false;
	}
	*items = moved;
	*room = larger;
	ranking->bytes += (larger - before) * bytes;
	return true;
}

/* ---- classes ---- */

void
emogi_yen_bar(EmogiYen *ranking, const EmogiYenClass *class, bool excluded)
{
	for (uint32_t i = class->bans; i != EMOGI_RANKING_NONE; i = ranking->bans[i].next)
		emogi_yen_state(ranking, ranking->bans[i].vertex)->node.excluded = excluded;
}

/*
 * Return true if a vertex precedes another, by their keys. -1 = any vertex, which precedes all
 * others.
 */
static inline bool
comes_before(const EmogiYen *ranking, int64_t a, int64_t b)
{
	if (a < 0 || b < 0)
		return a < b;
	return emogi_overlay_before(ranking->graph, ranking->overlay, (uint32_t) a, (uint32_t) b);
}

/*
 * Get the rank of a class among those of its path with the same key: classes that continue with a
 * smaller vertex than the path precede those that leave it later.
 */
static uint64_t
order_of(const EmogiYen *ranking, const EmogiYenPath *path, const EmogiYenClass *class)
{
	const bool	after = class->at + 1 < path->length && !class->is_open &&
		comes_before(ranking, path->vertices[class->at + 1], class->next);

	return after ? UINT64_MAX - class->at : class->at;
}

/* Compare classes of one path. */
static int
compare_classes(const void *a, const void *b)
{
	const EmogiYenClass *x = a;
	const EmogiYenClass *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Get the length of the common prefix of two different paths, in vertices. */
static uint64_t
common_length(const EmogiYen *ranking, uint32_t a, uint32_t b)
{
	uint64_t	length = UINT64_MAX;

	while (a != b)
	{
		uint32_t   *later = a > b ? &a : &b;
		const EmogiYenPath *path = &ranking->paths[*later];

		if (path->at + UINT64_C(1) < length)
			length = path->at + UINT64_C(1);
		*later = path->parent;
	}
	return length;
}

/* Get the vertex at a position of the paths of a class, as far as known; -1 = any. */
static inline int64_t
vertex_at(const EmogiYenPath *path, const EmogiYenClass *class, uint64_t place)
{
	if (place <= class->at)
		return path->vertices[place];
	return class->is_open ? -1 : (int64_t) class->next;
}

/*
 * Return true if the first path of class a, of path p, precedes that of b, of another path q, as
 * far as known. A class that may continue with any vertex precedes all others, so that it is
 * searched first: the class behind it in its list may be the next.
 */
static bool
class_precedes(const EmogiYen *ranking, uint32_t p, const EmogiYenClass *a, uint32_t q,
			   const EmogiYenClass *b)
{
	uint64_t	place;

	if (a->key != b->key)
		return a->key < b->key;
	place = common_length(ranking, p, q);
	place = place < a->at + UINT64_C(1) ? place : a->at + UINT64_C(1);
	place = place < b->at + UINT64_C(1) ? place : b->at + UINT64_C(1);
	return comes_before(ranking, vertex_at(&ranking->paths[p], a, place),
						vertex_at(&ranking->paths[q], b, place));
}

/* ---- the heap of lists ---- */

/* Get the first class of a nonempty list. */
static inline EmogiYenClass *
head_of(const EmogiYen *ranking, uint32_t path)
{
	return &ranking->paths[path].classes[ranking->paths[path].first];
}

/* Return true if the list of path p precedes that of q. */
static inline bool
list_precedes(const EmogiYen *ranking, uint32_t p, uint32_t q)
{
	return class_precedes(ranking, p, head_of(ranking, p), q, head_of(ranking, q));
}

#define HEAP_PREFIX lists
#define HEAP_ELEMENT uint32_t
#define HEAP_TYPE EmogiYen *
#define HEAP_BEFORE(ranking, p, q) list_precedes(ranking, p, q)
#define HEAP_GET(ranking, i) (ranking)->heap[i]
#define HEAP_SET(ranking, i, path) ((ranking)->heap[i] = (path))
#include "containers/heap.h"

/* Push the list of a path onto the heap. */
static bool
push_list(EmogiYen *ranking, uint32_t path)
{
	if (ranking->paths[path].nclasses == 0)
		return true;
	if (!emogi_yen_reserve(ranking, (void **) &ranking->heap, &ranking->heap_room,
						   ranking->nheap + 1, sizeof *ranking->heap))
		return false;
	lists_push(ranking, &ranking->nheap, path);
	return true;
}

/*
 * Sift the first list of the heap, whose head has changed, to its place; an empty list is removed.
 */
static void
sift_first(EmogiYen *ranking)
{
	const uint32_t path = ranking->heap[0];

	if (ranking->paths[path].first == ranking->paths[path].nclasses)
		(void) lists_pop(ranking, &ranking->nheap);
	else
		lists_sift_down(ranking, ranking->nheap, 0, path);
}

/* Get the minimum key except that of the first class; +inf = there is no other class. */
static double
second_key(const EmogiYen *ranking)
{
	const EmogiYenPath *path = &ranking->paths[ranking->heap[0]];
	double		key = path->first + 1 < path->nclasses ?
		path->classes[path->first + 1].key : (double) INFINITY;

	for (uint64_t i = 1; i < 3 && i < ranking->nheap; i++)
		if (head_of(ranking, ranking->heap[i])->key < key)
			key = head_of(ranking, ranking->heap[i])->key;
	return key;
}

/* Move the first class of a list, whose key has grown, to its place. */
static void
move_class(const EmogiYen *ranking, EmogiYenPath *path)
{
	EmogiYenClass class = path->classes[path->first];
	uint64_t	i = path->first;

	class.order = order_of(ranking, path, &class);
	for (; i + 1 < path->nclasses && compare_classes(&path->classes[i + 1], &class) < 0; i++)
		path->classes[i] = path->classes[i + 1];
	path->classes[i] = class;
}

/* ---- partitioning ---- */

/* May a vertex not follow the prefix? */
static inline bool
is_barred(const EmogiYen *ranking, uint32_t vertex)
{
	const EmogiYenState *state = emogi_yen_find_state(ranking, vertex);

	return state != NULL && (state->node.excluded ||
							 (state->node.stamp == ranking->stamp && state->node.banned));
}

/*
 * Compute the lower bound of a class, and how paths of that length could continue; false = there
 * are none. The prefix must be banned.
 */
static bool
bound_class(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class)
{
	const EmogiListRange list = emogi_yen_list(ranking, true, path->vertices[class->at]);
	const EmogiAdjacency *lists = list.lists;
	const EmogiWeightType type = ranking->graph->weight_type;
	const uint64_t first = list.first;

	class->key = (double) INFINITY;
	emogi_yen_bar(ranking, class, true);
	for (uint64_t e = first; e < list.end && !emogi_yen_poll_in_list(ranking, e - first); e++)
	{
		const uint32_t v = lists->targets[e];
		const double value = emogi_path_candidate(EMOGI_SSSP, path->distance[class->at],
												  emogi_weight(lists->weights, type, e));
		double		key;

		if (emogi_yen_repeats(lists, first, e) || !(value < (double) INFINITY) ||
			is_barred(ranking, v))
			continue;
		key = emogi_yen_deflate(ranking, emogi_yen_add(value, emogi_yen_bound(ranking, v)));
		key = key < ranking->last ? ranking->last : key;
		if (key < class->key)
		{
			class->key = key;
			class->next = v;
		}
	}
	emogi_yen_bar(ranking, class, false);
	return class->key < (double) INFINITY;
}

/* Add to the bans of a class the vertex that follows a path's vertex. */
static bool
add_ban(EmogiYen *ranking, const EmogiYenPath *path, EmogiYenClass *class)
{
	if (!emogi_yen_reserve(ranking, (void **) &ranking->bans, &ranking->bans_room,
						   ranking->nbans + UINT64_C(1), sizeof *ranking->bans))
		return false;
	ranking->bans[ranking->nbans] = (EmogiYenBan) {path->vertices[class->at + 1], class->bans};
	class->bans = ranking->nbans++;
	return true;
}

/* Partition the class of a path that is in the ranking now. bans: those of the class. */
static bool
split(EmogiYen *ranking, EmogiYenPath *path, uint32_t bans)
{
	uint64_t	room = 0;

	if (!emogi_yen_reserve(ranking, (void **) &path->classes, &room, path->length - 1 - path->at,
						   sizeof *path->classes))
		return false;
	emogi_yen_spur_enter(ranking, path, path->at);
	for (uint32_t at = path->at; at + UINT64_C(1) < path->length; at++)
	{
		const uint32_t spur = path->vertices[at];
		const EmogiListRange list = emogi_yen_list(ranking, true, spur);
		EmogiYenClass class = {.at = at,.bans = at == path->at ? bans : EMOGI_RANKING_NONE};

		emogi_yen_spur_node(ranking, spur)->banned = true;
		if (emogi_yen_count_scanned(ranking, list.end - list.first + 1) ||
			!add_ban(ranking, path, &class))
			return false;
		if (!bound_class(ranking, path, &class))
			continue;
		class.order = order_of(ranking, path, &class);
		path->classes[path->nclasses++] = class;
	}
	qsort(path->classes, path->nclasses, sizeof *path->classes, compare_classes);
	return ranking->job.status == EMOGI_OK;
}

/* Move the path of the first class, which has been found, into the ranking. */
static bool
accept(EmogiYen *ranking)
{
	const uint32_t parent = ranking->heap[0];
	EmogiYenClass *class;
	EmogiYenPath *path;
	uint32_t	bans;

	if (!emogi_yen_reserve(ranking, (void **) &ranking->paths, &ranking->paths_room,
						   ranking->npaths + UINT64_C(1), sizeof *ranking->paths))
		return false;
	class = head_of(ranking, parent);
	bans = class->bans;
	path = &ranking->paths[ranking->npaths];
	*path = (EmogiYenPath) {.parent = parent,.at = class->at,.length = class->length,
							.vertices = class->vertices,.distance = class->distance};
	class->vertices = NULL;
	class->distance = NULL;
	ranking->npaths++;
	ranking->paths[parent].first++;
	sift_first(ranking);
	ranking->last = path->distance[path->length - 1];
	ranking->found_key = (double) INFINITY;
	if (ranking->npaths == 2)
	{
		ranking->first_distance = ranking->last;
		emogi_yen_expect_cost(ranking, ranking->nscanned);
	}
	return split(ranking, path, bans) && push_list(ranking, ranking->npaths - 1);
}

/* ---- the ranking ---- */

/* Set the slack for rounded sums. */
static void
expect_rounding(EmogiYen *ranking)
{
	ranking->is_exact = false;
	ranking->slack = 1.0 + (double) (ranking->nvertices + 8) * 0x1p-49;
}

/* Put the source alone into the ranking, as the path whose prefix all others share. */
static bool
put_source(EmogiYen *ranking)
{
	uint64_t	rooms[3] = {0};
	EmogiYenPath *path;

	if (!emogi_yen_reserve(ranking, (void **) &ranking->paths, &ranking->paths_room, MIN_ROOM,
						   sizeof *ranking->paths))
		return false;
	path = &ranking->paths[0];
	*path = (EmogiYenPath) {.length = 1};
	ranking->npaths = 1;
	if (!emogi_yen_reserve(ranking, (void **) &path->vertices, &rooms[0], 1,
						   sizeof *path->vertices) ||
		!emogi_yen_reserve(ranking, (void **) &path->distance, &rooms[1], 1,
						   sizeof *path->distance) ||
		!emogi_yen_reserve(ranking, (void **) &path->classes, &rooms[2], 1, sizeof *path->classes))
		return false;
	path->vertices[0] = ranking->source;
	path->distance[0] = 0.0;
	return true;
}

/* Begin: find the distance of the target, and create one class of all paths. */
static bool
begin(EmogiYen *ranking)
{
	const EmogiWeightType type = ranking->graph->weight_type;
	EmogiYenPath *path;

	if (!put_source(ranking))
		return false;
	if (ranking->source == ranking->target)
		return true;
	expect_rounding(ranking);
	if (!emogi_yen_bounds_begin(ranking))
		return ranking->job.status == EMOGI_OK;
	if (type != EMOGI_WEIGHT_F32 && type != EMOGI_WEIGHT_F64 && ranking->limit < MAX_EXACT)
	{
		ranking->is_exact = true;
		ranking->slack = 1.0;
	}
	path = &ranking->paths[0];
	path->classes[0] = (EmogiYenClass) {.key = emogi_yen_deflate(ranking, ranking->limit),
										.bans = EMOGI_RANKING_NONE};
	path->nclasses = 1;
	return push_list(ranking, 0);
}

/*
 * Get the maximum length of the path to search for in the first class: if it exceeds that, other
 * classes come first.
 */
static double
allowance(const EmogiYen *ranking, const EmogiYenClass *class, double max_distance)
{
	const double second = second_key(ranking);
	const double own = class->key + (class->key - ranking->first_distance) +
		ranking->first_distance / FIRST_SHARE;
	double		allowed = second > own ? second : own;

	if (ranking->npaths == 1)
		allowed = (double) INFINITY;
	if (allowed > max_distance)
		allowed = max_distance;
	return ranking->is_exact && allowed > MAX_EXACT ? MAX_EXACT : allowed;
}

/* Find the path of the first class, or drop the class, or move it behind others. */
static bool
find_first(EmogiYen *ranking, double max_distance)
{
	EmogiYenPath *path = &ranking->paths[ranking->heap[0]];
	EmogiYenClass *class = &path->classes[path->first];
	EmogiSpurOutcome outcome;

	if (!emogi_yen_spur_find(ranking, path, class, allowance(ranking, class, max_distance),
							 &outcome))
		return false;
	if (outcome == EMOGI_SPUR_FOUND && class->key < ranking->found_key)
		ranking->found_key = class->key;
	if (outcome == EMOGI_SPUR_NONE)
		path->first++;
	else
		move_class(ranking, path);
	sift_first(ranking);
	return true;
}

/* Find the next path; *path has length 0 at the end. */
static bool
find_next(EmogiYen *ranking, double max_distance, EmogiYenFoundPath *path)
{
	if (ranking->npaths == 0)
	{
		if (!begin(ranking))
			return false;
		if (ranking->source == ranking->target)
		{
			*path = (EmogiYenFoundPath) {1, ranking->paths[0].vertices, ranking->paths[0].distance};
			return true;
		}
	}
	while (ranking->nheap > 0)
	{
		const EmogiYenClass *class = head_of(ranking, ranking->heap[0]);

		if (class->key > max_distance)
			return true;
		if (ranking->is_exact && class->key >= MAX_EXACT)
			expect_rounding(ranking);
		if (class->vertices != NULL)
		{
			const EmogiYenFoundPath found = {class->length, class->vertices, class->distance};

			*path = found;
			return accept(ranking);
		}
		if (!find_first(ranking, max_distance))
			return false;
	}
	return true;
}

/* Set the error message. */
static EmogiStatus
end_job(EmogiYen *ranking)
{
	if (ranking->job.status == EMOGI_NO_MEMORY)
	{
		snprintf(ranking->error->message, sizeof ranking->error->message,
				 "out of memory while ranking paths");
		snprintf(ranking->error->detail, sizeof ranking->error->detail,
				 "%llu bytes in use for %u paths; %llu are allowed",
				 (unsigned long long) ranking->bytes,
				 ranking->npaths > 0 ? ranking->npaths - 1 : 0,
				 (unsigned long long) ranking->max_bytes);
	}
	return (EmogiStatus) ranking->job.status;
}

EmogiStatus
emogi_yen_begin(const EmogiGraph *graph, const EmogiOverlay *overlay,
				const EmogiContraction *hierarchy, bool reversed, uint32_t source, uint32_t target,
				uint64_t max_bytes, EmogiPoll poll, EmogiYen **ranking, EmogiControl *control,
				EmogiError *error)
{
	EmogiYen *made = calloc(1, sizeof *made);
	EmogiStatus status = EMOGI_OK;

	error->message[0] = error->detail[0] = '\0';
	*ranking = made;
	if (made == NULL)
	{
		snprintf(error->message, sizeof error->message, "out of memory while ranking paths");
		return EMOGI_NO_MEMORY;
	}
	*made = (EmogiYen) {.job = {.control = control},.error = error,.graph = graph,
						.overlay = overlay,
						.poll = poll,.source = source,.target = target,
						.nvertices = graph->nvertices + (overlay != NULL ? overlay->nnew : 0),
						.budget = MIN_BUDGET,.found_key = (double) INFINITY,
						.max_bytes = max_bytes,
						.min_weight = graph->weight_type == EMOGI_WEIGHT_NONE ? 1.0 : 0.0,
						.made = hierarchy,.reversed = reversed};
	emogi_job_phase(&made->job, EMOGI_PHASE_RUN, 0);
	emogi_contiguous_lists_begin(&made->lists[0], emogi_lists_backward(graph, overlay), &made->job,
								 &made->bytes, max_bytes);
	emogi_contiguous_lists_begin(&made->lists[1], emogi_lists_forward(graph, overlay), &made->job,
								 &made->bytes, max_bytes);
	if (!emogi_yen_states_begin(made))
	{
		status = end_job(made);
		emogi_yen_free(made);
		*ranking = NULL;
	}
	return status;
}

EmogiStatus
emogi_yen_next(EmogiYen *ranking, double max_distance, EmogiYenFoundPath *path)
{
	*path = (EmogiYenFoundPath) {0};
	if (emogi_job_stopped(&ranking->job) || !find_next(ranking, max_distance, path))
		*path = (EmogiYenFoundPath) {0};
	return end_job(ranking);
}

uint64_t
emogi_yen_edges_scanned(const EmogiYen *ranking)
{
	return ranking->nscanned;
}

/* Free a path and its classes. */
static void
free_path(EmogiYenPath *path)
{
	for (uint64_t i = path->first; i < path->nclasses; i++)
	{
		free(path->classes[i].vertices);
		free(path->classes[i].distance);
	}
	free(path->classes);
	free(path->vertices);
	free(path->distance);
}

void
emogi_yen_free(EmogiYen *ranking)
{
	if (ranking == NULL)
		return;
	for (uint32_t i = 0; i < ranking->npaths; i++)
		free_path(&ranking->paths[i]);
	emogi_contiguous_lists_end(&ranking->lists[0]);
	emogi_contiguous_lists_end(&ranking->lists[1]);
	free(ranking->paths);
	emogi_yen_states_free(ranking);
	free(ranking->forward.entries);
	free(ranking->backward.entries);
	free(ranking->queue.entries);
	free(ranking->reverse.entries);
	free(ranking->steps);
	free(ranking->bans);
	free(ranking->heap);
	free(ranking->climb);
	free(ranking);
}
