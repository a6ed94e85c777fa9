/*
 * topological_order.c: levels, order and longest paths of an acyclic graph.
 *
 * Fills level[nvertices], the number of edges of the longest path to a vertex, and
 * position[nvertices], its place in the order of (level, vertex); or distance[nvertices], the
 * weight of the heaviest path from a vertex without incoming edges.
 *
 * Kahn's method [1], level by level: a vertex is taken when all its predecessors have been. The
 * thread that counts the last predecessor appends the vertex to the queue; the order within a level
 * is arbitrary, but the result does not depend on it. Distances are pushed along edges before the
 * edges are counted; a maximum does not depend on the order. Parallel edges count once.
 *
 * Vertices that are never taken are on a cycle or reachable from one (remaining_cycle.c).
 *
 * [1] A. Kahn. Topological Sorting of Large Networks. Communications of the ACM 5(11), 1962.
 */
#include "cpu_algorithms.h"
#include "cpu/queue_buffer.h"
#include "cpu/cpu_run.h"
#include "cpu/remaining_cycle.h"

#include "contract/semirings.h"

#define VERTEX_CHUNK 1024
#define CLAIM_CHUNK 16
#define SERIAL_LEVEL 128		/* so few vertices are processed by the caller alone */
#define MAX_PARTS 64

typedef struct Order
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	uint32_t   *nbefore;		/* [nvertices], atomic: distinct predecessors that have not been
								 * taken */
	uint32_t   *queue;			/* [nvertices]: taken vertices, level by level */
	uint64_t	tail;			/* atomic */
	uint64_t	head;			/* the beginning of the level, */
	uint64_t	end;			/* and its end */
	int32_t		number;			/* of the level */
	uint64_t	nlevels;
	int32_t    *level;			/* [nvertices], or NULL */
	int64_t    *position;		/* [nvertices], or NULL */
	double	   *distance;		/* [nvertices], atomic, or NULL */
	uint64_t	nparts;			/* of the vertices, for positions */
	uint32_t   *places;			/* [nparts][nlevels]: vertices of a level in a part; then the
								 * next position of these */
} Order;

/* ---- before the first level ---- */

/* Count the distinct predecessors of every vertex. */
static void
count_before(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;
	const EmogiAdjacency *lists = &order->graph->forward;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&order->run, VERTEX_CHUNK, order->graph->nvertices, &v, &end);)
	{
		uint64_t	polled = lists->offsets[v];

		for (; v < end; v++)
		{
			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				if (e == lists->offsets[v] || lists->targets[e] != lists->targets[e - 1])
					__atomic_fetch_add(&order->nbefore[lists->targets[e]], 1, __ATOMIC_RELAXED);
				if (e - polled > EMOGI_RUN_POLL)
				{
					polled = e;
					if (emogi_job_stopped(&order->run.job))
						return;
				}
			}
		}
	}
}

/* Append the vertices without incoming edges to the queue: level 0. */
static void
find_first(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;
	EmogiQueueBuffer found = {0};

	for (uint64_t v, end;
		 emogi_cpu_run_take(&order->run, VERTEX_CHUNK, order->graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			const bool	is_first = order->nbefore[v] == 0;

			if (order->distance != NULL)
				order->distance[v] = is_first ? 0.0 : -(double) INFINITY;
			if (order->level != NULL && is_first)
				order->level[v] = 0;
			if (is_first)
				emogi_queue_buffer_add(&found, (uint32_t) v, order->queue, &order->tail);
		}
	emogi_queue_buffer_flush(&found, order->queue, &order->tail);
}

/* ---- levels ---- */

/* Set a distance to its maximum with an offered one. */
static inline void
offer_distance(double *distance, double offer)
{
	double		known;

	__atomic_load(distance, &known, __ATOMIC_RELAXED);
	while (offer > known &&
		   !__atomic_compare_exchange(distance, &known, &offer, true, __ATOMIC_RELAXED,
									  __ATOMIC_RELAXED))
		;
}

/* Take a vertex: count it for its successors; false if the job has stopped. */
static inline bool
take_vertex(Order *order, EmogiQueueBuffer *found, uint32_t v)
{
	const EmogiGraph *graph = order->graph;
	const EmogiAdjacency *lists = &graph->forward;
	const uint64_t first = lists->offsets[v];
	const double distance = order->distance != NULL ? order->distance[v] : 0.0;

	for (uint64_t e = first; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t w = lists->targets[e];

		if (order->distance != NULL)
			offer_distance(&order->distance[w],
						   distance + emogi_weight(lists->weights, graph->weight_type, e));
		if ((e == first || w != lists->targets[e - 1]) &&
			__atomic_sub_fetch(&order->nbefore[w], 1, __ATOMIC_RELAXED) == 0)
		{
			if (order->level != NULL)
				order->level[w] = order->number + 1;
			emogi_queue_buffer_add(found, w, order->queue, &order->tail);
		}
		if ((e - first) % EMOGI_RUN_POLL == EMOGI_RUN_POLL - 1 &&
			emogi_job_stopped(&order->run.job))
			return false;
	}
	return true;
}

/* Take the vertices of a level. */
static void
take_level(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;
	const uint64_t count = order->end - order->head;
	EmogiQueueBuffer found;

	found.count = 0;
	for (uint64_t i, end; emogi_cpu_run_take(&order->run, CLAIM_CHUNK, count, &i, &end);)
	{
		emogi_job_done(&order->run.job, end - i);
		for (; i < end; i++)
			if (!take_vertex(order, &found, order->queue[order->head + i]))
				return;
	}
	emogi_queue_buffer_flush(&found, order->queue, &order->tail);
}

/* Take all levels; false if the job has stopped. */
static bool
take_levels(Order *order)
{
	if (!emogi_cpu_run_step(&order->run, count_before, order, false) ||
		!emogi_cpu_run_step(&order->run, find_first, order, false))
		return false;
	for (order->head = 0; order->head < order->tail; order->head = order->end)
	{
		order->end = order->tail;
		order->number = (int32_t) order->nlevels++;
		order->run.job.control->level = (uint32_t) order->number;
		if (!emogi_cpu_run_step(&order->run, take_level, order,
								order->end - order->head <= SERIAL_LEVEL))
			return false;
	}
	return true;
}

/* ---- positions ---- */

/* Get the first vertex of a part. */
static inline uint64_t
part_begin(const Order *order, uint64_t part)
{
	return (order->graph->nvertices + order->nparts - 1) / order->nparts * part <
		order->graph->nvertices ?
		(order->graph->nvertices + order->nparts - 1) / order->nparts * part
			: order->graph->nvertices;
}

/* Count the vertices of each level in each part. */
static void
count_parts(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;

	for (uint64_t part;
		 emogi_job_take(&order->run.job, &order->run.next, order->nparts, &part);)
		for (uint64_t v = part_begin(order, part); v < part_begin(order, part + 1); v++)
			order->places[part * order->nlevels + (uint64_t) order->level[v]]++;
}

/* Assign the positions of the vertices of each part. */
static void
place_parts(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;

	for (uint64_t part;
		 emogi_job_take(&order->run.job, &order->run.next, order->nparts, &part);)
		for (uint64_t v = part_begin(order, part); v < part_begin(order, part + 1); v++)
			order->position[v] = order->places[part * order->nlevels +
											   (uint64_t) order->level[v]]++;
}

/* Convert counts to first positions, by level and then by part. */
static void
add_up_places(Order *order)
{
	uint32_t	position = 0;

	for (uint64_t level = 0; level < order->nlevels; level++)
		for (uint64_t part = 0; part < order->nparts; part++)
		{
			uint32_t   *place = &order->places[part * order->nlevels + level];
			const uint32_t count = *place;

			*place = position;
			position += count;
		}
}

/* Sort the vertices by (level, vertex), in as many parts as fit in memory. */
static void
set_positions(Order *order)
{
	const uint64_t room = order->graph->nvertices / 4 / order->nlevels;

	order->nparts = room < 1 ? 1 : room > MAX_PARTS ? MAX_PARTS : room;
	order->places = emogi_cpu_run_scratch(&order->run, order->nparts * order->nlevels,
										  sizeof *order->places);
	if (order->places == NULL || !emogi_cpu_run_step(&order->run, count_parts, order, false))
		return;
	add_up_places(order);
	emogi_cpu_run_step(&order->run, place_parts, order, false);
}

/*
 * Point to the columns of the query's row, and allocate the scratch memory; false if out of memory.
 */
static bool
open_order(Order *order, const EmogiQuery *query)
{
	const EmogiArray *columns = order->run.result->columns;

	if (query->algorithm == EMOGI_LONGEST_PATH)
		order->distance = columns[0].float64;
	else
	{
		order->level = columns[0].int32;
		order->position = columns[1].int64;
	}
	order->nbefore = emogi_cpu_run_scratch(&order->run, order->graph->nvertices,
										   sizeof *order->nbefore);
	order->queue = emogi_cpu_run_scratch(&order->run, order->graph->nvertices,
										 sizeof *order->queue);
	return !emogi_job_stopped(&order->run.job);
}

EmogiStatus
emogi_cpu_topological_order(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
							EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Order		order = {.graph = graph};

	emogi_cpu_run_begin(&order.run, pool, graph, graph->nvertices, result, control, error,
						"a topological order");
	if (open_order(&order, query) && take_levels(&order))
	{
		if (order.tail < graph->nvertices)
			emogi_remaining_cycle_report(&order.run,
										 &(EmogiRemaining) {&graph->forward, graph->nvertices,
															graph->nvertices - order.tail,
															order.nbefore, order.queue});
		else if (order.position != NULL && graph->nvertices > 0)
			set_positions(&order);
		result->nreached = graph->nvertices;
		result->nlevels = (uint32_t) order.nlevels;
		result->edges_traversed = 2 * graph->forward.nedges;
	}
	return emogi_cpu_run_end(&order.run);
}
