/*
 * cycles.c: the simple cycles through a vertex, the shortest first.
 *
 * Method. For each length in turn a depth-first search from the source, over vertices that are so few hops away from the source against the
 * edges that a cycle of that length may close: a breadth-first search has found these, which goes a level further for each length. So no
 * cycle waits for more of the graph than cycles of its length can lead to, and none has to be kept.
 */
#include "cycles.h"

#include <stdio.h>
#include <stdlib.h>

#include "contract/semirings.h"
#include "graph/whole_lists.h"

#define PIECE 16384				/* list entries between two looks for a cancel */

/* A vertex on the way. */
typedef struct Step
{
	EmogiListRange list;
	uint64_t	entry;			/* the next one of it */
} Step;

struct EmogiCycles
{
	EmogiJob	job;
	EmogiError *error;
	const EmogiGraph *graph;
	const EmogiOverlay *patch;	/* NULL = nothing has changed */
	uint64_t	nvertices;		/* of both */
	EmogiWholeLists forward;
	EmogiWholeLists backward;
	EmogiPoll	poll;
	uint32_t	source;
	bool		both;
	uint64_t	max_length;
	uint64_t	most_bytes;
	uint64_t	bytes;
	uint64_t	looked;			/* list entries */
	uint64_t	polled;			/* how many of them when poll was asked last */
	uint32_t   *hops;			/* [nvertices], to the source, + 1; 0 = not met */
	bool	   *on_way;			/* [nvertices] */
	uint32_t   *queue;			/* [nmet of queue_room], those met, nearest first; from head on they are to be settled */
	uint64_t	head;
	uint64_t	nmet;
	uint64_t	queue_room;
	uint64_t	length;			/* of the cycles that are being looked for; 0 = none yet */
	Step	   *steps;			/* [nsteps of room] */
	uint32_t   *vertices;		/* [room + 1], of the steps */
	double	   *distance;		/* [room + 1] */
	uint64_t	nsteps;
	uint64_t	room;
};

/* ---- memory ---- */

/* Have room for `count` items of an array that had some for `before`; false, with the job failed, without memory. */
static bool
reserve(EmogiCycles *cycles, void **items, uint64_t before, uint64_t count, size_t bytes)
{
	void	   *moved = NULL;

	if (cycles->bytes + (count - before) * bytes <= cycles->most_bytes && emogi_job_may_allocate(&cycles->job))
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

/* Have room for a way of so many steps. */
static bool
reserve_steps(EmogiCycles *cycles, uint64_t count)
{
	const uint64_t room = count + cycles->room;

	if (count <= cycles->room)
		return true;
	if (!reserve(cycles, (void **) &cycles->steps, cycles->room, room, sizeof *cycles->steps) ||
		!reserve(cycles, (void **) &cycles->vertices, cycles->room, room + 1, sizeof *cycles->vertices) ||
		!reserve(cycles, (void **) &cycles->distance, cycles->room, room + 1, sizeof *cycles->distance))
		return false;
	cycles->room = room;
	return true;
}

/* Note list entries that are looked at; true = the search has ended: canceled, or failed before. */
static inline bool
look(EmogiCycles *cycles, uint64_t count)
{
	cycles->looked += count;
	if (cycles->looked - cycles->polled < PIECE)
		return cycles->job.status != EMOGI_OK;
	cycles->polled = cycles->looked;
	if (cycles->poll != NULL && cycles->poll())
		emogi_job_fail(&cycles->job, EMOGI_CANCELED);
	return emogi_job_stopped(&cycles->job);
}

/* ---- the way back ---- */

/* Note that a vertex is so many hops, less one, away from the source, if it was not met. */
static bool
meet(EmogiCycles *cycles, uint32_t vertex, uint32_t hops)
{
	const uint64_t room = 2 * cycles->queue_room + 64;

	if (cycles->hops[vertex] != 0)
		return true;
	if (cycles->nmet == cycles->queue_room)
	{
		if (!reserve(cycles, (void **) &cycles->queue, cycles->queue_room, room, sizeof *cycles->queue))
			return false;
		cycles->queue_room = room;
	}
	cycles->hops[vertex] = hops;
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
		const EmogiListRange list = emogi_whole_list(&cycles->backward, v);
		const EmogiAdjacency *lists = list.lists;

		if (look(cycles, list.end - list.first + 1))
			return false;
		for (uint64_t e = list.first; e < list.end; e++)
			if (emogi_weight(lists->weights, cycles->graph->weight_type, e) < (double) INFINITY &&
				!meet(cycles, lists->targets[e], cycles->hops[v] + 1))
				return false;
	}
	return true;
}

/* ---- the way ---- */

/* Go on to a vertex. */
static bool
push_step(EmogiCycles *cycles, uint32_t vertex, double distance)
{
	const EmogiListRange list = emogi_whole_list(&cycles->forward, vertex);

	if (look(cycles, list.end - list.first + 1) || !reserve_steps(cycles, cycles->nsteps + 1))
		return false;
	cycles->on_way[vertex] = true;
	cycles->vertices[cycles->nsteps] = vertex;
	cycles->distance[cycles->nsteps] = distance;
	cycles->steps[cycles->nsteps++] = (Step) {list, list.first};
	return true;
}

/* Begin with the ways of the next length; false when there are none so long, or the job has failed. */
static bool
begin_length(EmogiCycles *cycles)
{
	if (cycles->length > 0 && !go_level(cycles))
		return false;
	cycles->length++;
	/* the vertices of a cycle are all met before it is longer than there are of them */
	if (cycles->length > cycles->max_length || (cycles->head == cycles->nmet && cycles->length > cycles->nmet))
		return false;
	return push_step(cycles, cycles->source, 0.0);
}

/* May a way of a length go on to a vertex, which is not the source? */
static inline bool
may_enter(const EmogiCycles *cycles, uint32_t vertex)
{
	if (cycles->on_way[vertex] || cycles->hops[vertex] == 0 || cycles->nsteps + cycles->hops[vertex] - 1 > cycles->length)
		return false;
	return !cycles->both || cycles->nsteps == 1 || cycles->nsteps + 1 < cycles->length ||
		(vertex != cycles->vertices[1] && !emogi_overlay_before(cycles->graph, cycles->patch, vertex, cycles->vertices[1]));
}

/* Go on along the next entry of the last vertex's list; *closed when a cycle of the length is there. False with the job failed. */
static bool
go_on(EmogiCycles *cycles, bool *closed)
{
	const uint64_t last = cycles->nsteps - 1;
	Step	   *step = &cycles->steps[last];
	const EmogiAdjacency *lists = step->list.lists;
	const uint64_t e = step->entry++;
	double		distance;

	if (e == step->list.end)
	{
		cycles->on_way[cycles->vertices[last]] = false;
		cycles->nsteps--;
		return true;
	}
	if (e > step->list.first && lists->targets[e] == lists->targets[e - 1])
		return true;			/* one more, that weighs no less */
	distance = emogi_path_candidate(EMOGI_SSSP, cycles->distance[last], emogi_weight(lists->weights, cycles->graph->weight_type, e));
	if (!(distance < (double) INFINITY))
		return true;
	if (lists->targets[e] != cycles->source)
		return !may_enter(cycles, lists->targets[e]) || push_step(cycles, lists->targets[e], distance);
	*closed = cycles->nsteps == cycles->length && !(cycles->both && cycles->length == 2);
	if (*closed)
	{
		cycles->vertices[cycles->nsteps] = cycles->source;
		cycles->distance[cycles->nsteps] = distance;
	}
	return true;
}

/* Say what went wrong. */
static EmogiStatus
end_job(EmogiCycles *cycles)
{
	if (cycles->job.status == EMOGI_NO_MEMORY)
	{
		snprintf(cycles->error->message, sizeof cycles->error->message, "out of memory while searching cycles");
		snprintf(cycles->error->detail, sizeof cycles->error->detail, "%llu bytes in use; %llu are allowed", (unsigned long long) cycles->bytes,
				 (unsigned long long) cycles->most_bytes);
	}
	return (EmogiStatus) cycles->job.status;
}

/* Take what there is of each vertex, and put the source into the queue. */
static void
begin_search(EmogiCycles *cycles)
{
	emogi_whole_lists_begin(&cycles->forward, emogi_lists_forward(cycles->graph, cycles->patch), &cycles->job, &cycles->bytes, cycles->most_bytes);
	emogi_whole_lists_begin(&cycles->backward, emogi_lists_backward(cycles->graph, cycles->patch), &cycles->job, &cycles->bytes, cycles->most_bytes);
	cycles->bytes = cycles->nvertices * (sizeof *cycles->hops + sizeof *cycles->on_way);
	if (cycles->bytes <= cycles->most_bytes && emogi_job_may_allocate(&cycles->job))
		cycles->hops = calloc(cycles->nvertices, sizeof *cycles->hops);
	if (cycles->hops != NULL && emogi_job_may_allocate(&cycles->job))
		cycles->on_way = calloc(cycles->nvertices, sizeof *cycles->on_way);
	if (cycles->on_way == NULL)
		emogi_job_fail(&cycles->job, EMOGI_NO_MEMORY);
	else
		(void) meet(cycles, cycles->source, 1);
}

EmogiStatus
emogi_cycles_begin(const EmogiGraph *graph, const EmogiOverlay *patch, uint32_t source, uint64_t max_length, bool both, uint64_t most_bytes,
				   EmogiPoll poll, EmogiCycles **cycles, EmogiControl *control, EmogiError *error)
{
	EmogiCycles *made = calloc(1, sizeof *made);
	EmogiStatus status = EMOGI_OK;

	error->message[0] = error->detail[0] = '\0';
	*cycles = made;
	if (made == NULL)
	{
		snprintf(error->message, sizeof error->message, "out of memory while searching cycles");
		return EMOGI_NO_MEMORY;
	}
	*made = (EmogiCycles) {.job = {.control = control},.error = error,.graph = graph,.patch = patch,.poll = poll,.source = source,.both = both,
		.nvertices = graph->nvertices + (patch != NULL ? patch->nnew : 0),.max_length = max_length,.most_bytes = most_bytes};
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
		if (cycles->nsteps > 0 ? !go_on(cycles, &closed) : !begin_length(cycles))
			break;
	if (closed)
		*cycle = (EmogiCycle) {cycles->length, cycles->vertices, cycles->distance};
	return end_job(cycles);
}

uint64_t
emogi_cycles_looked(const EmogiCycles *cycles)
{
	return cycles->looked;
}

void
emogi_cycles_free(EmogiCycles *cycles)
{
	if (cycles == NULL)
		return;
	emogi_whole_lists_end(&cycles->forward);
	emogi_whole_lists_end(&cycles->backward);
	free(cycles->hops);
	free(cycles->on_way);
	free(cycles->queue);
	free(cycles->steps);
	free(cycles->vertices);
	free(cycles->distance);
	free(cycles);
}
