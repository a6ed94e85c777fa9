/*
 * contraction.c: make a contraction hierarchy of a road-like graph.
 *
 * Method [1]. Vertices are contracted one by one, the least important first. Contracting a vertex
 * removes it. For each pair of its neighbors whose shortest path led over it, an arc is added, a
 * shortcut, unless a bounded search finds a witness: another path that is shorter. Each arc then
 * leads from a vertex to one that is contracted later, or the reverse, so that two small searches,
 * up from the source and up from the target against the arcs, meet on a shortest path. The
 * importance is the number of added shortcuts per removed arc, plus the level, so that contracted
 * vertices are spread evenly; a vertex is reevaluated when its turn comes.
 *
 * Exactness. The distance of SSSP is the minimum over all paths of the sum from left to right,
 * rounded at each step; among the paths with that sum, the edges and vertices break the tie
 * (path_search.h). Sums of shortcuts are rounded differently, so that the hierarchy does not give
 * the same bits. It gives a corridor instead, and a search inside the corridor from the source, in
 * SSSP's arithmetic, gives the path. Let u = 2^-53. A sum over k edges, in any order, has a
 * relative error of at most g = 1.01 k u, as long as k u < 0.01, and a path without a cycle has k <
 * nvertices edges. So all paths that SSSP could prefer have a real length of at most (1 + 3g) times
 * the shortest; let `slack` be 3g times the largest distance, as bounded for one query. A path
 * without a cycle that is no longer than the shortest plus slack stays in the hierarchy: when one
 * of its vertices is contracted, a shortcut is added unless a witness is shorter by more than
 * `tolerance`, and then the path would be longer than the shortest by more than slack; for the same
 * reason, no alternative of the shortcut is so much shorter that it replaces this one. Alternatives
 * whose lengths differ by no more than the tolerance are kept side by side, as ties are. It
 * suffices that the tolerance exceeds slack plus the error of three sums; a query requires 4 times
 * that, and gives up if the distance is too large for it. Integers, whose sums are exact, need no
 * tolerance.
 *
 * In graphs that are not road-like, the remaining vertices end up connected by nearly all possible
 * arcs. So the work is bounded by a multiple of the arcs, and so is the number of neighbors.
 *
 * [1] R. Geisberger, P. Sanders, D. Schultes, D. Delling. Contraction hierarchies: faster and
 *     simpler hierarchical routing in road networks. WEA 2008.
 */
#include "contraction_parts.h"

#include "contract/semirings.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DEGREE 12			/* maximum mean number of edges per vertex of a road network */
#define MAX_MEAN 100	/* maximum mean number of arcs per remaining vertex, one direction */
/* ... and relative to the initial mean, times 1 / sqrt(remaining share); grids reach 1.15 */
#define MAX_GROWTH 1.7
#define MIN_MEAN 4.0			/* ... which is at least this */
/*
 * maximum number of arcs examined per arc and vertex of the graph, times size^WORK_GROWTH; grids
 * need 12
 */
#define WORK_PER_ARC 25.0
#define WORK_GROWTH 0.4			/* grids grow with exponent 0.38 */
#define HEAP_ENTRIES 65536
#define UNIT_ROUNDOFF 0x1p-53
/* the tolerance is this multiple of the error of the largest expected distance */
#define SLACK_FACTOR 16.0
#define FARTHEST_FACTOR 4.0	/* ... which is this multiple of the largest distance from one vertex */
#define MAX_SUM 1e300
#define MAX_SEARCHES UINT32_C(0xF0000000)
#define POLL 256				/* vertices */

/* The priority queue of vertices to contract. */
typedef struct Queue
{
	EmogiContractionBuild *work;
	double	   *keys;			/* [nvertices] */
	uint32_t   *levels;			/* [nvertices] */
	uint32_t   *heap;			/* [count] */
	uint64_t	count;
} Queue;

/* Check whether a vertex precedes another. */
static inline bool
is_before(const Queue *queue, uint32_t a, uint32_t b)
{
	return queue->keys[a] < queue->keys[b] || (queue->keys[a] == queue->keys[b] && a < b);
}

#define HEAP_PREFIX queue
#define HEAP_ELEMENT uint32_t
#define HEAP_TYPE Queue *
#define HEAP_BEFORE(queue, a, b) is_before(queue, a, b)
#define HEAP_GET(queue, i) (queue)->heap[i]
#define HEAP_SET(queue, i, v) ((queue)->heap[i] = (v))
#include "containers/heap.h"

/*
 * Evaluate the present cost of contracting a vertex; false if it cannot be contracted or the job
 * has stopped.
 */
static bool
weigh(Queue *queue, uint32_t v)
{
	EmogiContractionBuild *work = queue->work;
	const uint64_t in = work->lists[1][v].count;
	const uint64_t out = work->lists[0][v].count;
	uint64_t	count;

	if (!emogi_contraction_make_shortcuts(work, v, false, &count))
		return false;
	queue->keys[v] = (double) queue->levels[v] +
		(in + out > 0 ? (double) count / (double) (in + out) : -1.0);
	return true;
}

bool
emogi_contraction_make_stopped(EmogiContractionBuild *work)
{
	if (work->poll != NULL && work->poll())
		emogi_job_fail(&work->job, EMOGI_CANCELED);
	return emogi_job_stopped(&work->job);
}

/* Evaluate all vertices and build the heap. */
static bool
fill_queue(Queue *queue)
{
	for (uint64_t v = 0; v < queue->work->nvertices; v++)
	{
		if (!weigh(queue, (uint32_t) v))
			return false;
		queue->heap[queue->count++] = (uint32_t) v;
		if (v % POLL == 0 && emogi_contraction_make_stopped(queue->work))
			return false;
	}
	for (uint64_t i = queue->count / 2; i-- > 0;)
		queue_sift_down(queue, queue->count, i, queue->heap[i]);
	return true;
}

/* Raise the levels of a vertex's neighbors above its own. */
static void
raise_neighbors(Queue *queue, uint32_t v)
{
	const EmogiContractionBuild *work = queue->work;

	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < work->lists[side][v].count; i++)
		{
			uint32_t   *level = &queue->levels[emogi_contraction_make_arcs(work, side, v)[i].to];

			*level = *level > queue->levels[v] ? *level : queue->levels[v] + 1;
		}
}

/*
 * The limits of a contraction, relative to its initial size. Beyond them the graph is not
 * road-like, and a hierarchy would not pay for itself.
 */
typedef struct Limits
{
	double		work;
	double		mean;			/* arcs per vertex, one direction, when all vertices remain */
} Limits;

static Limits
choose_limits(const EmogiContractionBuild *work)
{
	const double size = (double) (work->narcs + work->nvertices);
	const double mean = (double) work->narcs / (double) work->nvertices;

	return (Limits) {
		.work = WORK_PER_ARC * size * pow(size, WORK_GROWTH),
		.mean = MAX_GROWTH * (mean > MIN_MEAN ? mean : MIN_MEAN)
	};
}

/*
 * Check whether the limits are exceeded. If shortcuts grow dense, that shows long before the end.
 */
static bool
is_too_much(const Queue *queue, const Limits *limits)
{
	const EmogiContractionBuild *work = queue->work;
	const double max = limits->mean * sqrt((double) work->nvertices / (double) queue->count);

	return (double) work->work > limits->work || work->search > MAX_SEARCHES ||
		(double) work->narcs > (double) queue->count * (max < MAX_MEAN ? max : MAX_MEAN);
}

/* Contract all vertices; false if the job has stopped or given up. */
static bool
contract(Queue *queue)
{
	EmogiContractionBuild *work = queue->work;
	const Limits limits = choose_limits(work);
	uint64_t	count,
				done = 0;

	if (!fill_queue(queue))
		return false;
	while (queue->count > 0)
	{
		const uint32_t v = queue->heap[0];
		const double before = queue->keys[v];

		if (!weigh(queue, v))
			return false;
		queue_sift_down(queue, queue->count, 0, v);
		if (queue->heap[0] != v && queue->keys[v] > before)
			continue;
		if (is_too_much(queue, &limits))
		{
			work->gave_up = true;
			return false;
		}
		if (queue->heap[0] != v)
			continue;
		(void) queue_pop(queue, &queue->count);
		if (!emogi_contraction_make_shortcuts(work, v, true, &count))
			return false;
		emogi_contraction_make_remove(work, v);
		raise_neighbors(queue, v);
		if (++done % POLL == 0 && emogi_contraction_make_stopped(work))
			return false;
		emogi_job_done(&work->job, 1);
	}
	return true;
}

/* Check whether sums of weights are exact in any order, as those of integers are. */
static bool
is_exact(const EmogiGraph *graph)
{
	return graph->weight_type == EMOGI_WEIGHT_U8 || graph->weight_type == EMOGI_WEIGHT_U16 ||
		(graph->weight_type == EMOGI_WEIGHT_U32 && graph->nvertices < UINT64_C(1) << 21);
}

bool
emogi_contraction_is_suitable(const EmogiGraph *graph)
{
	return graph->weight_type != EMOGI_WEIGHT_NONE && graph->nvertices > 0 &&
		graph->nvertices < EMOGI_ARC_OWN &&
		graph->forward.nedges <= graph->nvertices * MAX_DEGREE;
}

/* Allocate a zeroed array; NULL, with the job failed, if out of memory. */
static void *
allocate(EmogiContractionBuild *work, uint64_t count, size_t bytes)
{
	void	   *array = emogi_job_may_allocate(&work->job) ? calloc(count > 0 ? count : 1, bytes)
		: NULL;

	if (array == NULL)
		emogi_job_fail(&work->job, EMOGI_NO_MEMORY);
	return array;
}

/*
 * Choose the tolerance by the largest distance from the vertex with the most edges. Gives up if a
 * sum, in some order, could overflow.
 */
static void
choose_tolerance(EmogiContractionBuild *work, const EmogiGraph *graph)
{
	uint32_t	source = 0;
	double		heaviest = 0.0;

	for (uint64_t v = 0; v < work->nvertices; v++)
	{
		for (uint32_t i = 0; i < work->lists[0][v].count; i++)
			heaviest = fmax(heaviest, emogi_contraction_make_arcs(work, 0, (uint32_t) v)[i].weight);
		if (work->lists[0][v].count > work->lists[0][source].count)
			source = (uint32_t) v;
	}
	work->gave_up = !(heaviest * (double) work->nvertices < MAX_SUM);
	if (is_exact(graph) || work->gave_up)
		return;
	work->tolerance = SLACK_FACTOR * FARTHEST_FACTOR * emogi_contraction_error(graph) *
		emogi_contraction_make_farthest(work, source);
}

/* Order the contracted vertices by rank; false, with the job failed, if out of memory. */
static bool
rank(Queue *queue, uint32_t *order)
{
	EmogiContractionBuild *work = queue->work;
	uint64_t   *places = allocate(work, work->nvertices, sizeof *places);
	uint64_t   *starts = allocate(work, work->nvertices + 1, sizeof *starts);

	if (places != NULL && starts != NULL)
		/* the heap is empty by now */
		emogi_contraction_make_order(work, queue->levels, order, places, queue->heap, starts);
	free(places);
	free(starts);
	return !emogi_job_stopped(&work->job);
}

/* Return true if all paths of a graph have a finite length. */
static bool
is_finite(const EmogiGraph *graph)
{
	const double max = DBL_MAX / (double) (graph->nvertices + 1);

	if (graph->weight_type != EMOGI_WEIGHT_F32 && graph->weight_type != EMOGI_WEIGHT_F64)
		return true;
	for (uint64_t e = 0; e < graph->forward.nedges; e++)
		if (!(emogi_weight(graph->forward.weights, graph->weight_type, e) <= max))
			return false;
	return true;
}

/* Make the hierarchy, given the scratch memory. */
static EmogiContraction *
make(Queue *queue, const EmogiGraph *graph)
{
	EmogiContractionBuild *work = queue->work;
	const uint64_t n = work->nvertices;
	uint32_t   *order = allocate(work, n, sizeof *order);
	EmogiContraction *made = NULL;

	queue->keys = allocate(work, n, sizeof *queue->keys);
	queue->levels = allocate(work, n, sizeof *queue->levels);
	queue->heap = allocate(work, n, sizeof *queue->heap);
	if (!emogi_job_stopped(&work->job) && emogi_contraction_make_read(work, graph))
	{
		choose_tolerance(work, graph);
		if (!work->gave_up && !emogi_job_stopped(&work->job) && contract(queue) &&
			rank(queue, order))
			made = emogi_contraction_make_pack(work, order);
		if (made != NULL)
			made->is_finite = is_finite(graph);
	}
	free(order);
	free(queue->keys);
	free(queue->levels);
	free(queue->heap);
	return made;
}

double
emogi_contraction_error(const EmogiGraph *graph)
{
	return is_exact(graph) ? 0.0 : 1.01 * (double) graph->nvertices * UNIT_ROUNDOFF;
}

EmogiStatus
emogi_contraction_make(const EmogiGraph *graph, uint64_t max_bytes, bool (*poll) (void),
					   EmogiContraction **made, EmogiControl *control, EmogiError *error)
{
	EmogiContractionBuild work = {.job = {.control = control}, .nvertices = graph->nvertices,
		.max_bytes = max_bytes, .poll = poll,
		.heap_room = HEAP_ENTRIES};
	Queue		queue = {.work = &work};

	*made = NULL;
	error->message[0] = error->detail[0] = '\0';
	if (!emogi_contraction_is_suitable(graph))
		return EMOGI_OK;
	emogi_job_phase(&work.job, EMOGI_PHASE_RUN, graph->nvertices);
	for (int side = 0; side < 2; side++)
		work.lists[side] = allocate(&work, graph->nvertices, sizeof(EmogiArcList));
	work.nodes = allocate(&work, graph->nvertices, sizeof(EmogiWitnessNode));
	work.heap = allocate(&work, work.heap_room, sizeof(EmogiWitnessEntry));
	if (!emogi_job_stopped(&work.job))
		*made = make(&queue, graph);
	emogi_contraction_make_free(&work);
	if (*made != NULL && (*made)->bytes > max_bytes)
	{
		free(*made);
		*made = NULL;
	}
	if (work.job.status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message,
				 "out of memory while preparing shortest paths");
		snprintf(error->detail, sizeof error->detail, "%llu vertices",
				 (unsigned long long) graph->nvertices);
	}
	return (EmogiStatus) work.job.status;
}
