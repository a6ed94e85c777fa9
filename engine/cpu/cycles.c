/*
 * cycles.c: enumeration of the simple cycles through a vertex, shortest first
 *
 * Method. For each length in turn, a depth-first search from the source visits only vertices whose
 * hop distance to the source, against the edges, allows a cycle of that length. A breadth-first
 * search computes these distances and goes one level further for each length. So no cycle waits for
 * parts of the graph beyond the reach of cycles of its length, and no cycle has to be stored.
 *
 * The first vertex of a cycle of length n is at most n - 1 hops from the source, the second one at
 * most n - 2 hops, and so on. So only first vertices need level n - 1, the largest. This level is
 * not searched for the maximum length if it costs more than the edges of the first vertices. The
 * search then enters all first vertices, and the hops of the second vertices decide.
 *
 * The last vertex of a cycle is one hop from the source. Bisection finds its edge to the source.
 *
 * What is known of reached vertices is in a hash table until they are many, so that a short search
 * costs nothing that grows with the graph.
 */
#include "contract/cycles.h"

#include <stdio.h>
#include <stdlib.h>

#include "contract/semirings.h"
#include "graph/contiguous_lists.h"

#define PIECE 16384				/* edges between two polls */
#define MAX_HASHED 4096			/* reached vertices in the hash table */
#define MIN_STEPS 6				/* room for the steps of a path; it grows with the path */
#define EDGES_PER_REACH 2		/* cost of an edge that may reach a vertex, in edges looked up */

/* A reached vertex in the hash table. */
typedef struct Reached
{
	uint32_t	vertex;			/* + 1; 0 = free slot */
	uint32_t	hops;			/* as in the array */
	bool		on_path;
} Reached;

#define HASH_PREFIX reached
#define HASH_ENTRY Reached
#define HASH_STORED(reached) (reached)->vertex
#define HASH_MIN_BITS 6
#include "containers/hash_table.h"

/* A vertex on the path. */
typedef struct Step
{
	EmogiListRange list;
	uint64_t	entry;			/* its next edge */
} Step;

struct EmogiCycles
{
	EmogiJob	job;
	EmogiError *error;
	const EmogiGraph *graph;
	const EmogiOverlay *overlay; /* NULL = no changes */
	uint64_t	nvertices;		/* of the graph and the overlay */
	EmogiContiguousLists forward;
	EmogiContiguousLists backward;
	EmogiPoll	poll;
	uint32_t	source;
	bool		both;
	uint64_t	max_length;
	uint64_t	max_bytes;
	uint64_t	bytes;
	uint64_t	scanned;		/* edges */
	uint64_t	polled_at;		/* value of scanned at the last poll */
	Reached    *reached;		/* [2^bits]; NULL = in the arrays */
	int			bits;
	uint32_t   *hops;			/* [nvertices], hops to the source, + 1; 0 = not reached */
	bool	   *on_path;		/* [nvertices] */
	uint32_t   *queue;			/* [nmet of queue_room], reached vertices, nearest first; those from
								 * head on are not settled */
	uint64_t	head;
	uint64_t	nmet;
	uint64_t	queue_room;
	uint64_t	length;			/* current length of cycles; 0 = not started */
	bool		any_first;		/* the first vertex of a cycle may be one that was not reached */
	Step	   *steps;			/* [nsteps of room] */
	uint32_t   *vertices;		/* [room + 1], of the steps; of a cycle, also its last vertex and
								 * the source */
	double	   *distance;		/* [room + 1], likewise */
	uint64_t	nsteps;
	uint64_t	room;
};

/* ---- memory ---- */

/*
 * Ensure capacity for `count` items of an array that had `before`; false, and the job failed, if
 * out of memory.
 */
static bool
reserve(EmogiCycles *cycles, void **items, uint64_t before, uint64_t count, size_t bytes)
{
	void	   *moved = NULL;

	if (cycles->bytes + (count - before) * bytes <= cycles->max_bytes &&
		emogi_job_may_allocate(&cycles->job))
		moved = realloc(*items, count * bytes);
	if (moved == NULL)
	{
		emogi_job_fail(&cycles->job, EMOGI_NO_MEMORY);
		return false;
	}
	*items = moved;
	cycles->bytes += (count - before) * bytes;
	return true;
}

/* Ensure capacity for a path of this many steps. */
static bool
reserve_steps(EmogiCycles *cycles, uint64_t count)
{
	const uint64_t room = count + cycles->room;

	if (count <= cycles->room)
		return true;
	if (!reserve(cycles, (void **) &cycles->steps, cycles->room, room, sizeof *cycles->steps) ||
		!reserve(cycles, (void **) &cycles->vertices, cycles->room, room + 1,
				 sizeof *cycles->vertices) ||
		!reserve(cycles, (void **) &cycles->distance, cycles->room, room + 1,
				 sizeof *cycles->distance))
		return false;
	cycles->room = room;
	return true;
}

/* Count scanned edges; true = the search has ended: canceled, or failed before. */
static inline bool
count_edges(EmogiCycles *cycles, uint64_t count)
{
	cycles->scanned += count;
	if (cycles->scanned - cycles->polled_at < PIECE)
		return cycles->job.status != EMOGI_OK;
	cycles->polled_at = cycles->scanned;
	if (cycles->poll != NULL && cycles->poll())
		emogi_job_fail(&cycles->job, EMOGI_CANCELED);
	return emogi_job_stopped(&cycles->job);
}

/* ---- reached vertices ---- */

/* Get the hops from a vertex to the source, + 1; 0 = not reached. */
static inline uint32_t
get_hops(const EmogiCycles *cycles, uint32_t vertex)
{
	return cycles->reached == NULL ? cycles->hops[vertex] :
		reached_find(cycles->reached, cycles->bits, vertex)->hops;
}

/*
 * Note whether a vertex is on the path. Nothing is noted for a vertex that was not reached: no path
 * enters it a second time.
 */
static inline void
set_on_path(EmogiCycles *cycles, uint32_t vertex, bool on_path)
{
	Reached    *reached;

	if (cycles->reached == NULL)
	{
		cycles->on_path[vertex] = on_path;
		return;
	}
	reached = reached_find(cycles->reached, cycles->bits, vertex);
	if (reached->vertex != 0)
		reached->on_path = on_path;
}

/*
 * Move the reached vertices from the hash table to arrays; false, and the job failed, if out of
 * memory.
 */
static bool
spread(EmogiCycles *cycles)
{
	const uint64_t bytes = cycles->nvertices * (sizeof *cycles->hops + sizeof *cycles->on_path);

	if (cycles->bytes + bytes <= cycles->max_bytes && emogi_job_may_allocate(&cycles->job))
		cycles->hops = calloc(cycles->nvertices, sizeof *cycles->hops);
	if (cycles->hops != NULL && emogi_job_may_allocate(&cycles->job))
		cycles->on_path = calloc(cycles->nvertices, sizeof *cycles->on_path);
	if (cycles->on_path == NULL)
	{
		emogi_job_fail(&cycles->job, EMOGI_NO_MEMORY);
		return false;
	}
	for (uint64_t i = 0; i < UINT64_C(1) << cycles->bits; i++)
	{
		const Reached *reached = &cycles->reached[i];

		if (reached->vertex == 0)
			continue;
		cycles->hops[reached->vertex - 1] = reached->hops;
		cycles->on_path[reached->vertex - 1] = reached->on_path;
	}
	free(cycles->reached);
	cycles->reached = NULL;
	cycles->bytes += bytes;
	return true;
}

/* Set the hops of a vertex that is in the hash table or will be, as set_hops does. */
static bool
set_hashed_hops(EmogiCycles *cycles, uint32_t vertex, uint32_t hops)
{
	Reached    *reached;

	if (!reached_fits(cycles->reached, cycles->bits, cycles->nmet + 1))
	{
		const uint64_t bytes = (cycles->nmet + 1) * 4 * sizeof(Reached);	/* at most */

		if (cycles->bytes + bytes > cycles->max_bytes || !emogi_job_may_allocate(&cycles->job) ||
			!reached_grow(&cycles->reached, &cycles->bits, cycles->nmet + 1))
		{
			emogi_job_fail(&cycles->job, EMOGI_NO_MEMORY);
			return false;
		}
	}
	reached = reached_find(cycles->reached, cycles->bits, vertex);
	reached->vertex = vertex + 1;
	reached->hops = hops;
	return true;
}

/* Set the hops of a vertex; false, and the job failed, if out of memory. */
static bool
set_hops(EmogiCycles *cycles, uint32_t vertex, uint32_t hops)
{
	if (cycles->hops == NULL && cycles->nmet < MAX_HASHED)
		return set_hashed_hops(cycles, vertex, hops);
	if (cycles->hops == NULL && !spread(cycles))
		return false;
	cycles->hops[vertex] = hops;
	return true;
}

/* ---- distances to the source ---- */

/* Set the hops of a vertex, if it was not reached before. */
static bool
meet(EmogiCycles *cycles, uint32_t vertex, uint32_t hops)
{
	const uint64_t room = 2 * cycles->queue_room + 64;

	if (cycles->nmet > 0 && get_hops(cycles, vertex) != 0)
		return true;
	if (cycles->nmet == cycles->queue_room)
	{
		if (!reserve(cycles, (void **) &cycles->queue, cycles->queue_room, room,
					 sizeof *cycles->queue))
			return false;
		cycles->queue_room = room;
	}
	if (!set_hops(cycles, vertex, hops))
		return false;
	cycles->queue[cycles->nmet++] = vertex;
	return true;
}

/* Find the vertices that are one hop further away. */
static bool
go_level(EmogiCycles *cycles)
{
	const uint64_t end = cycles->nmet;

	for (; cycles->head < end; cycles->head++)
	{
		const uint32_t v = cycles->queue[cycles->head];
		const EmogiListRange list = emogi_contiguous_list(&cycles->backward, v);
		const EmogiAdjacency *lists = list.lists;
		const uint32_t hops = get_hops(cycles, v) + 1;

		if (count_edges(cycles, list.end - list.first + 1))
			return false;
		for (uint64_t e = list.first; e < list.end; e++)
			if (emogi_weight(lists->weights, cycles->graph->weight_type, e) < (double) INFINITY &&
				!meet(cycles, lists->targets[e], hops))
				return false;
	}
	return true;
}

/* Count the edges of the first vertices that were not reached, each list as one more. */
static uint64_t
count_first_edges(EmogiCycles *cycles)
{
	const EmogiListRange list = emogi_contiguous_list(&cycles->forward, cycles->source);
	const uint32_t *targets = list.lists->targets;
	uint64_t	nedges = 0;

	for (uint64_t e = list.first; e < list.end && !count_edges(cycles, 1); e++)
		if ((e == list.first || targets[e] != targets[e - 1]) && get_hops(cycles, targets[e]) == 0)
			nedges += emogi_lists_degree(&cycles->forward.view, targets[e]) + 1;
	return nedges;
}

/* Count the edges to the vertices of the last level, likewise, up to more than `limit`. */
static uint64_t
count_level_edges(EmogiCycles *cycles, uint64_t limit)
{
	uint64_t	nedges = 0;

	for (uint64_t i = cycles->head;
		 i < cycles->nmet && nedges <= limit && !count_edges(cycles, 1); i++)
		nedges += emogi_lists_degree(&cycles->backward.view, cycles->queue[i]) + 1;
	return nedges;
}

/*
 * Return true if following the edges of the first vertices costs less than searching the next
 * level. The comparison reads as many lists as the source has edges, and at most as many lists of
 * the level as the first vertices have edges.
 */
static bool
is_first_cheaper(EmogiCycles *cycles)
{
	const uint64_t nfirst = count_first_edges(cycles) / EDGES_PER_REACH;

	return nfirst < count_level_edges(cycles, nfirst);
}

/* ---- depth-first search ---- */

/*
 * Find the edge from the last vertex of a cycle, at a distance, to the source. Returns whether
 * there is one, and adds both vertices to the path if so.
 */
static bool
close_cycle(EmogiCycles *cycles, uint32_t vertex, double distance)
{
	const EmogiListRange list = emogi_contiguous_list(&cycles->forward, vertex);
	const EmogiAdjacency *lists = list.lists;
	uint64_t	first = list.first;
	uint64_t	end = list.end;

	/* the first edge that is not before those to the source: the lightest of them, if any */
	while (first < end)
	{
		const uint64_t middle = first + (end - first) / 2;

		if (emogi_overlay_before(cycles->graph, cycles->overlay, lists->targets[middle],
								 cycles->source))
			first = middle + 1;
		else
			end = middle;
	}
	if (count_edges(cycles, 1) || first == list.end || lists->targets[first] != cycles->source)
		return false;
	cycles->vertices[cycles->nsteps] = vertex;
	cycles->distance[cycles->nsteps] = distance;
	cycles->vertices[cycles->nsteps + 1] = cycles->source;
	cycles->distance[cycles->nsteps + 1] =
		emogi_path_candidate(EMOGI_SSSP, distance,
							 emogi_weight(lists->weights, cycles->graph->weight_type, first));
	return cycles->distance[cycles->nsteps + 1] < (double) INFINITY;
}

/* Advance to a vertex. */
static void
push_step(EmogiCycles *cycles, uint32_t vertex, double distance)
{
	const EmogiListRange list = emogi_contiguous_list(&cycles->forward, vertex);

	/* with the last vertex and the source, a cycle has two vertices more than steps */
	if (count_edges(cycles, list.end - list.first + 1) ||
		!reserve_steps(cycles, cycles->nsteps + 2))
		return;
	set_on_path(cycles, vertex, true);
	cycles->vertices[cycles->nsteps] = vertex;
	cycles->distance[cycles->nsteps] = distance;
	cycles->steps[cycles->nsteps++] = (Step) {list, list.first};
}

/* Go back from the last vertex. */
static void
pop_step(EmogiCycles *cycles)
{
	set_on_path(cycles, cycles->vertices[--cycles->nsteps], false);
}

/*
 * Reach all vertices that the paths of the current length can visit. False if there are none or the
 * job has failed.
 */
static bool
reach_level(EmogiCycles *cycles)
{
	cycles->any_first = cycles->length == cycles->max_length && cycles->length > 2 &&
		is_first_cheaper(cycles);
	if (cycles->length > 1 && !cycles->any_first && !go_level(cycles))
		return false;
	/* all vertices of a cycle are reached before its length exceeds their number */
	return cycles->head < cycles->nmet || cycles->length <= cycles->nmet;
}

/*
 * Start with the paths of the next length; *closed tells whether the source has a self-loop, the
 * only cycle of length 1. False if there are no more paths or the job has failed.
 */
static bool
begin_length(EmogiCycles *cycles, bool *closed)
{
	if (cycles->length == cycles->max_length)
		return false;
	cycles->length++;
	if (!reach_level(cycles))
		return false;
	if (cycles->length == 1)
		*closed = close_cycle(cycles, cycles->source, 0.0);
	else if (cycles->length > 2 || !cycles->both)
		push_step(cycles, cycles->source, 0.0);
	return true;
}

/* Return true if a path of the current length may go on to a vertex. */
static inline bool
may_enter(const EmogiCycles *cycles, uint32_t vertex)
{
	const Reached *reached = cycles->reached != NULL ?
		reached_find(cycles->reached, cycles->bits, vertex) : NULL;
	const uint32_t hops = reached != NULL ? reached->hops : cycles->hops[vertex];

	if (hops == 0)
		return cycles->any_first && cycles->nsteps == 1;
	if (cycles->nsteps + hops - 1 > cycles->length ||
		(reached != NULL ? reached->on_path : cycles->on_path[vertex]))
		return false;
	return !cycles->both || cycles->nsteps == 1 || cycles->nsteps + 1 < cycles->length ||
		(vertex != cycles->vertices[1] &&
		 !emogi_overlay_before(cycles->graph, cycles->overlay, vertex, cycles->vertices[1]));
}

/*
 * Follow an edge to a vertex that the path may enter; return true if that completes a cycle of the
 * current length.
 */
static bool
follow(EmogiCycles *cycles, const EmogiAdjacency *lists, uint64_t e)
{
	const double distance =
		emogi_path_candidate(EMOGI_SSSP, cycles->distance[cycles->nsteps - 1],
							 emogi_weight(lists->weights, cycles->graph->weight_type, e));

	if (!(distance < (double) INFINITY))
		return false;
	if (cycles->nsteps + 1 == cycles->length)
		return close_cycle(cycles, lists->targets[e], distance);
	push_step(cycles, lists->targets[e], distance);
	return false;
}

/*
 * Follow the edges of the last vertex up to the next one that the path may enter, or go back from
 * it. Returns true if that completes a cycle of the current length.
 */
static bool
go_on(EmogiCycles *cycles)
{
	Step	   *step = &cycles->steps[cycles->nsteps - 1];
	const EmogiListRange list = step->list;
	const uint32_t *targets = list.lists->targets;
	uint64_t	e = step->entry;

	/* of parallel edges, the first has the minimum weight */
	while (e < list.end &&
		   ((e > list.first && targets[e] == targets[e - 1]) || !may_enter(cycles, targets[e])))
		e++;
	step->entry = e + 1;
	if (e < list.end)
		return follow(cycles, list.lists, e);
	pop_step(cycles);
	return false;
}

/* Set the error message. */
static EmogiStatus
end_job(EmogiCycles *cycles)
{
	if (cycles->job.status == EMOGI_NO_MEMORY)
	{
		snprintf(cycles->error->message, sizeof cycles->error->message,
				 "out of memory while searching for cycles");
		snprintf(cycles->error->detail, sizeof cycles->error->detail,
				 "%llu bytes in use; %llu are allowed", (unsigned long long) cycles->bytes,
				 (unsigned long long) cycles->max_bytes);
	}
	return (EmogiStatus) cycles->job.status;
}

/* Enqueue the source. */
static void
begin_search(EmogiCycles *cycles)
{
	emogi_contiguous_lists_begin(&cycles->forward,
								 emogi_lists_forward(cycles->graph, cycles->overlay), &cycles->job,
								 &cycles->bytes, cycles->max_bytes);
	emogi_contiguous_lists_begin(&cycles->backward,
								 emogi_lists_backward(cycles->graph, cycles->overlay), &cycles->job,
								 &cycles->bytes, cycles->max_bytes);
	if (reserve_steps(cycles, MIN_STEPS))
		(void) meet(cycles, cycles->source, 1);
}

EmogiStatus
emogi_cycles_begin(const EmogiGraph *graph, const EmogiOverlay *overlay, uint32_t source,
				   uint64_t max_length, bool both, uint64_t max_bytes, EmogiPoll poll,
				   EmogiCycles **cycles, EmogiControl *control, EmogiError *error)
{
	EmogiCycles *made = calloc(1, sizeof *made);
	EmogiStatus status = EMOGI_OK;

	error->message[0] = error->detail[0] = '\0';
	*cycles = made;
	if (made == NULL)
	{
		snprintf(error->message, sizeof error->message, "out of memory while searching for cycles");
		return EMOGI_NO_MEMORY;
	}
	*made = (EmogiCycles) {.job = {.control = control},.error = error,.graph = graph,
						   .overlay = overlay,.poll = poll,.source = source,.both = both,
						   .nvertices = graph->nvertices + (overlay != NULL ? overlay->nnew : 0),
						   .max_length = max_length,.max_bytes = max_bytes};
	emogi_job_phase(&made->job, EMOGI_PHASE_RUN, 0);
	begin_search(made);
	status = end_job(made);
	if (status == EMOGI_OK)
		return status;
	emogi_cycles_free(made);
	*cycles = NULL;
	return status;
}

EmogiStatus
emogi_cycles_next(EmogiCycles *cycles, EmogiCycle *cycle)
{
	bool		closed = false;

	*cycle = (EmogiCycle) {0};
	while (!closed && !emogi_job_stopped(&cycles->job))
	{
		if (cycles->nsteps > 0)
			closed = go_on(cycles);
		else if (!begin_length(cycles, &closed))
			break;
	}
	if (closed)
		*cycle = (EmogiCycle) {cycles->length, cycles->vertices, cycles->distance};
	return end_job(cycles);
}

uint64_t
emogi_cycles_edges_scanned(const EmogiCycles *cycles)
{
	return cycles->scanned;
}

void
emogi_cycles_free(EmogiCycles *cycles)
{
	if (cycles == NULL)
		return;
	emogi_contiguous_lists_end(&cycles->forward);
	emogi_contiguous_lists_end(&cycles->backward);
	free(cycles->reached);
	free(cycles->hops);
	free(cycles->on_path);
	free(cycles->queue);
	free(cycles->steps);
	free(cycles->vertices);
	free(cycles->distance);
	free(cycles);
}
