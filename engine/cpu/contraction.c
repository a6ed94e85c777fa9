/*
 * contraction.c: makes a contraction hierarchy of a road-like Graph.
 *
 * Method [1]. Vertices are contracted one by one, those first of which little hangs: a vertex goes,
 * and for each pair of its neighbours between which it lay on a shortest way there comes an arc, a
 * shortcut, unless a search that is cut short finds a witness, another way that is shorter. Each
 * arc then leads from a vertex to one that is contracted later, or the other way round, so that two
 * small searches, up from the source and up from the target against the arcs, meet on a shortest
 * path. The order is that of shortcuts for arcs that go, and of levels, so that what goes is spread
 * evenly; a vertex is weighed anew when its turn has come.
 *
 * Exactness. The distance that SSSP gives is the least over all paths of the sum from left to
 * right, rounded at each step, and of the paths that have it one is told by its edges and vertices
 * (path_search.h). Sums of shortcuts are rounded otherwise, so that the hierarchy does not give
 * these bits: it gives a corridor, and a search from the source inside of it, in SSSP's arithmetic,
 * gives the path. Let u = 2^-53. A sum over k edges, in whichever order, errs by a factor 1 +- g
 * with g = 1.01 k u as long as k u < 0.01, and a path without a cycle has k < nvertices edges. So
 * all paths that SSSP could prefer are no longer, as real numbers go, than (1 + 3g) times the
 * shortest: let `slack` be 3g times the largest distance, as bound for one query. A path without a
 * cycle and no longer than the shortest and slack stays in the hierarchy: where one of its vertices
 * is contracted, a shortcut comes unless a witness is shorter by more than `tolerance`, and then
 * the path would be longer than the shortest by more than slack; for the same reason no other way
 * of the shortcut is so much shorter that it takes the place of this one. Ways that are as good but
 * for the tolerance are kept side by side, as ties are. It suffices that the tolerance is more than
 * slack and what three sums err by; a query asks for 4 times that, and gives up where the distance
 * is too large for it. Integers, whose sums are exact, need none.
 *
 * Graphs that are not road-like have vertices left between which nearly all arcs are needed. So
 * work is bounded, by a multiple of the arcs, and so is the number of neighbours.
 *
 * [1] R. Geisberger, P. Sanders, D. Schultes, D. Delling. Contraction hierarchies: faster and
 *     simpler hierarchical routing in road networks. WEA 2008.
 */
#include "contraction_parts.h"

#include "contract/semirings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_DEGREE 12			/* edges a vertex, at the mean: more is no net of roads */
#define MOST_MEAN 100			/* arcs of a vertex, one way, of what is left */
/* times the mean at first, and 1 / sqrt(part that is left): of grids 1.15 */
#define MOST_GROWTH 1.7
#define LEAST_MEAN 4.0			/* ... which counts as so many */
/* arcs looked at for each arc and vertex of the Graph, at most, for WORK_GROWTH: of grids 12 */
#define WORK_AN_ARC 25.0
#define WORK_GROWTH 0.4			/* power of their number by which that grows: of grids 0.38 */
#define HEAP_ENTRIES 65536
#define UNIT_ROUNDOFF 0x1p-53
/* the tolerance is so many times the error of the largest distance that is expected */
#define SLACK_FACTOR 16.0
#define FAR 4.0					/* ... which is so many times that from some vertex */
#define MOST_SUM 1e300
#define MOST_SEARCHES UINT32_C(0xF0000000)
#define POLL 256				/* vertices */

/* The order in which vertices are contracted. */
typedef struct Queue
{
	EmogiContracting *work;
	double	   *keys;			/* [nvertices] */
	uint32_t   *levels;			/* [nvertices] */
	uint32_t   *heap;			/* [count] */
	uint64_t	count;
} Queue;

/* Say whether a vertex comes before another. */
static inline bool
is_before(const Queue *queue, uint32_t a, uint32_t b)
{
	return queue->keys[a] < queue->keys[b] || (queue->keys[a] == queue->keys[b] && a < b);
}

/* Let the vertex at a place of the heap sink to where it belongs. */
static void
sink(Queue *queue, uint64_t i)
{
	const uint32_t v = queue->heap[i];

	for (uint64_t child = 2 * i + 1; child < queue->count; child = 2 * i + 1)
	{
		if (child + 1 < queue->count &&
			is_before(queue, queue->heap[child + 1], queue->heap[child]))
			child++;
		if (!is_before(queue, queue->heap[child], v))
			break;
		queue->heap[i] = queue->heap[child];
		i = child;
	}
	queue->heap[i] = v;
}

/*
 * Weigh what the contraction of a vertex costs now; false when it cannot be, or the job has
 * stopped.
 */
static bool
weigh(Queue *queue, uint32_t v)
{
	EmogiContracting *work = queue->work;
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
emogi_contraction_make_stopped(EmogiContracting *work)
{
	if (work->poll != NULL && work->poll())
		emogi_job_fail(&work->job, EMOGI_CANCELED);
	return emogi_job_stopped(&work->job);
}

/* Weigh all vertices at first. */
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
		sink(queue, i);
	return true;
}

/* Raise the levels of the neighbours of a vertex above its own. */
static void
raise_neighbours(Queue *queue, uint32_t v)
{
	const EmogiContracting *work = queue->work;

	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < work->lists[side][v].count; i++)
		{
			uint32_t   *level = &queue->levels[emogi_contraction_make_arcs(work, side, v)[i].to];

			*level = *level > queue->levels[v] ? *level : queue->levels[v] + 1;
		}
}

/*
 * What a contraction may cost, by what it began with: beyond that the Graph is not road-like, and a
 * hierarchy would not pay for itself.
 */
typedef struct Limits
{
	double		work;
	double		mean;			/* arcs of a vertex, one way, when all are left */
} Limits;

static Limits
choose_limits(const EmogiContracting *work)
{
	const double size = (double) (work->narcs + work->nvertices);
	const double mean = (double) work->narcs / (double) work->nvertices;

	return (Limits) {
		.work = WORK_AN_ARC * size * pow(size, WORK_GROWTH),
		.mean = MOST_GROWTH * (mean > LEAST_MEAN ? mean : LEAST_MEAN)
	};
}

/*
 * Say whether it would be too much to go on. Where shortcuts grow dense long before the end, it is
 * known early.
 */
static bool
is_too_much(const Queue *queue, const Limits *limits)
{
	const EmogiContracting *work = queue->work;
	const double most = limits->mean * sqrt((double) work->nvertices / (double) queue->count);

	return (double) work->work > limits->work || work->search > MOST_SEARCHES ||
		(double) work->narcs > (double) queue->count * (most < MOST_MEAN ? most : MOST_MEAN);
}

/* Contract all vertices. False when the job has stopped, or it has given up. */
static bool
contract(Queue *queue)
{
	EmogiContracting *work = queue->work;
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
		sink(queue, 0);
		if (queue->heap[0] != v && queue->keys[v] > before)
			continue;
		if (is_too_much(queue, &limits))
		{
			work->gave_up = true;
			return false;
		}
		if (queue->heap[0] != v)
			continue;
		queue->heap[0] = queue->heap[--queue->count];
		if (queue->count > 0)
			sink(queue, 0);
		if (!emogi_contraction_make_shortcuts(work, v, true, &count))
			return false;
		emogi_contraction_make_remove(work, v);
		raise_neighbours(queue, v);
		if (++done % POLL == 0 && emogi_contraction_make_stopped(work))
			return false;
		emogi_job_done(&work->job, 1);
	}
	return true;
}

/* Say whether sums of weights are exact, whatever their order: of integers they are. */
static bool
is_exact(const EmogiGraph *graph)
{
	return graph->weight_type == EMOGI_WEIGHT_U8 || graph->weight_type == EMOGI_WEIGHT_U16 ||
		(graph->weight_type == EMOGI_WEIGHT_U32 && graph->nvertices < UINT64_C(1) << 21);
}

bool
emogi_contraction_suits(const EmogiGraph *graph)
{
	return graph->weight_type != EMOGI_WEIGHT_NONE && graph->nvertices > 0 &&
		graph->nvertices < EMOGI_ARC_OWN &&
		graph->forward.nedges <= graph->nvertices * MOST_DEGREE;
}

/* Get an array of zeros; NULL, with the job failed, without memory. */
static void *
take(EmogiContracting *work, uint64_t count, size_t bytes)
{
	void	   *array = emogi_job_may_allocate(&work->job) ? calloc(count > 0 ? count : 1, bytes)
		: NULL;

	if (array == NULL)
		emogi_job_fail(&work->job, EMOGI_NO_MEMORY);
	return array;
}

/*
 * Choose the tolerance: by the distance of the farthest vertex from that with the most edges. Gives
 * up where a sum, in whichever order, could overflow.
 */
static void
choose_tolerance(EmogiContracting *work, const EmogiGraph *graph)
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
	work->gave_up = !(heaviest * (double) work->nvertices < MOST_SUM);
	if (is_exact(graph) || work->gave_up)
		return;
	work->tolerance = SLACK_FACTOR * FAR * emogi_contraction_error(graph) *
		emogi_contraction_make_farthest(work, source);
}

/*
 * Order the vertices, which have been contracted, by rank; false, with the job failed, without
 * memory.
 */
static bool
rank(Queue *queue, uint32_t *order)
{
	EmogiContracting *work = queue->work;
	uint64_t   *places = take(work, work->nvertices, sizeof *places);
	uint64_t   *starts = take(work, work->nvertices + 1, sizeof *starts);

	if (places != NULL && starts != NULL)
		/* the heap has nothing any more */
		emogi_contraction_make_order(work, queue->levels, order, places, queue->heap, starts);
	free(places);
	free(starts);
	return !emogi_job_stopped(&work->job);
}

/* Make the hierarchy, with the scratch memory at hand. */
static EmogiContraction *
make(Queue *queue, const EmogiGraph *graph)
{
	EmogiContracting *work = queue->work;
	const uint64_t n = work->nvertices;
	uint32_t   *order = take(work, n, sizeof *order);
	EmogiContraction *made = NULL;

	queue->keys = take(work, n, sizeof *queue->keys);
	queue->levels = take(work, n, sizeof *queue->levels);
	queue->heap = take(work, n, sizeof *queue->heap);
	if (!emogi_job_stopped(&work->job) && emogi_contraction_make_read(work, graph))
	{
		choose_tolerance(work, graph);
		if (!work->gave_up && !emogi_job_stopped(&work->job) && contract(queue) &&
			rank(queue, order))
			made = emogi_contraction_make_pack(work, order);
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
	EmogiContracting work = {.job = {.control = control}, .nvertices = graph->nvertices,
		.max_bytes = max_bytes, .poll = poll,
		.heap_room = HEAP_ENTRIES};
	Queue		queue = {.work = &work};

	*made = NULL;
	error->message[0] = error->detail[0] = '\0';
	if (!emogi_contraction_suits(graph))
		return EMOGI_OK;
	emogi_job_phase(&work.job, EMOGI_PHASE_RUN, graph->nvertices);
	for (int side = 0; side < 2; side++)
		work.lists[side] = take(&work, graph->nvertices, sizeof(EmogiArcList));
	work.nodes = take(&work, graph->nvertices, sizeof(EmogiWitnessNode));
	work.heap = take(&work, work.heap_room, sizeof(EmogiWitnessEntry));
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
