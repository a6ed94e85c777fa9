/*
 * random_walk.c: random walks (node2vec).
 *
 * Fills vertex[nsources * walks * (length + 1)]; see the algorithm's row. A step draws an edge of
 * the list, by index or by binary search in the prefix sums of the weights, and accepts it with a
 * probability that accounts for p and q, otherwise draws again (rejection sampling [1]): so the
 * cost does not depend on the length of the list. After MAX_DRAWS rejections the probabilities of
 * the whole list are computed instead, which gives the same distribution. Random numbers come from
 * a counter-based generator (contract/philox.h), so that each walk is independent of the threads.
 *
 * [1] K. Yang, M. Zhang, K. Chen, X. Ma, Y. Bai, Y. Jiang. KnightKing: A Fast Distributed Graph
 *     Random Walk Engine. SOSP 2019. Section 3.
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"

#include "contract/lists.h"
#include "contract/partition_point.h"
#include "contract/philox.h"
#include "contract/semirings.h"


#define WALK_CHUNK 64
#define VERTEX_CHUNK 1024
#define STEPS_PER_POLL 4096
#define MAX_DRAWS 32			/* rejections before the whole list is scanned */
#define WHOLE_LIST UINT32_MAX	/* used as the number of the draw for the whole list */

typedef struct Walks
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	const EmogiQuery *query;
	double	   *sums;			/* [nedges]: prefix sums of the weights within each list,
								 * inclusive; NULL = unweighted */
	bool		is_plain;		/* p = q = 1 */
	double		back;			/* probability of accepting an edge back to the previous vertex, */
	double		near;			/* to a neighbor of the previous vertex, */
	double		far;			/* and to any other; the maximum of the three is 1 */
} Walks;

/* The state of a walk. */
typedef struct Place
{
	uint32_t	source;
	uint32_t	walk;			/* number among the source's walks */
	uint32_t	step;			/* the next step */
	uint32_t	before;			/* the previous vertex; EMOGI_NO_VERTEX = none */
	uint32_t	vertex;
} Place;

/* ---- prefix sums of weights ---- */

/* Compute the prefix sums of a list's weights times scale; returns the total. */
static double
add_list(Walks *walks, uint64_t first, uint64_t end, double scale)
{
	double		sum = 0.0;

	for (uint64_t e = first; e < end; e++)
		walks->sums[e] = sum += scale * emogi_weight(walks->graph->forward.weights,
													 walks->graph->weight_type, e);
	return sum;
}

/* Compute the prefix sums of every list; if the total overflows, with scaled-down weights. */
static void
add_weights(void *arg, int thread, int nthreads)
{
	Walks	   *walks = arg;
	const uint64_t *offsets = walks->graph->forward.offsets;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&walks->run, VERTEX_CHUNK, walks->graph->nvertices, &v, &end);)
		for (; v < end; v++)
			if (isinf(add_list(walks, offsets[v], offsets[v + 1], 1.0)))
				add_list(walks, offsets[v], offsets[v + 1], 0x1p-64);
}

/* ---- a step ---- */

/* Get the probability of accepting a drawn vertex. */
static double
chance_of(const Walks *walks, const Place *place, uint32_t drawn)
{
	if (walks->is_plain || place->before == EMOGI_NO_VERTEX)
		return 1.0;
	if (drawn == place->before)
		return walks->back;
	return emogi_lists_have_edge(&walks->graph->forward, place->before, drawn) ? walks->near
		: walks->far;
}

/* Get the weight of an edge of the list that begins at first, without p and q. */
static double
share_of(const Walks *walks, uint64_t first, uint64_t e)
{
	if (walks->sums == NULL)
		return 1.0;
	return walks->sums[e] - (e > first ? walks->sums[e - 1] : 0.0);
}

/* Get the first edge of a list whose prefix sum is above x; end - 1 if there is none. */
static uint64_t
first_above(const double *sums, uint64_t first, uint64_t end, double x)
{
	return EMOGI_PARTITION_POINT(first, end - 1, middle, !(sums[middle] > x));
}

/* Draw an edge of a non-empty list. */
static uint64_t
draw(const Walks *walks, uint64_t first, uint64_t end, uint64_t bits)
{
	if (walks->sums == NULL)
		return first + (uint64_t) (((unsigned __int128) bits * (end - first)) >> 64);
	return first_above(walks->sums, first, end, emogi_random_unit(bits) * walks->sums[end - 1]);
}

/* Draw a vertex by the probabilities of all edges; EMOGI_NO_VERTEX if canceled. */
static uint32_t
draw_from_all(Walks *walks, const Place *place, uint64_t first, uint64_t end, double unit)
{
	const uint32_t *targets = walks->graph->forward.targets;
	uint32_t	drawn = EMOGI_NO_VERTEX;
	double		total = 0.0;
	double		sum = 0.0;

	for (int pass = 0; pass < 2; pass++)
		for (uint64_t e = first; e < end && !(pass == 1 && sum > unit * total); e++)
		{
			const double share = share_of(walks, first, e) * chance_of(walks, place, targets[e]);

			if ((e - first) % STEPS_PER_POLL == STEPS_PER_POLL - 1 &&
				emogi_job_stopped(&walks->run.job))
				return EMOGI_NO_VERTEX;
			if (pass == 0)
				total += share;
			else if (share > 0.0)
			{
				sum += share;
				drawn = targets[e];
			}
		}
	/* all products underflow */
	return drawn != EMOGI_NO_VERTEX ? drawn : targets[draw(walks, first, end, 0)];
}

/* Get the next vertex of a walk; EMOGI_NO_VERTEX if no edge leads away, or if canceled. */
static uint32_t
next_vertex(Walks *walks, const Place *place)
{
	const EmogiAdjacency *lists = &walks->graph->forward;
	const uint64_t seed = walks->query->seed;
	const uint64_t first = lists->offsets[place->vertex];
	const uint64_t end = lists->offsets[place->vertex + 1];

	if (first == end || (walks->sums != NULL && !(walks->sums[end - 1] > 0.0)))
		return EMOGI_NO_VERTEX;
	for (uint32_t i = 0; i < MAX_DRAWS; i++)
	{
		const EmogiRandom random = emogi_philox(seed, place->source, place->walk, place->step, i);
		const uint32_t drawn = lists->targets[draw(walks, first, end,
												   emogi_random_bits(random, 0))];

		if (emogi_random_unit(emogi_random_bits(random, 1)) < chance_of(walks, place, drawn))
			return drawn;
	}
	return draw_from_all(walks, place, first, end,
						 emogi_random_unit(emogi_random_bits(emogi_philox(seed, place->source,
																		  place->walk, place->step,
																		  WHOLE_LIST), 0)));
}

/* ---- walks ---- */

/* Make one walk into path[length + 1]. */
static void
walk(Walks *walks, uint32_t source, uint32_t number, uint32_t *path)
{
	const uint64_t length = (uint64_t) walks->query->length;
	Place		place = {.source = source, .walk = number, .before = EMOGI_NO_VERTEX,
		.vertex = source};
	uint64_t	nsteps = 0;

	path[0] = source;
	while (nsteps < length &&
		   !(nsteps % STEPS_PER_POLL == STEPS_PER_POLL - 1 && emogi_job_stopped(&walks->run.job)))
	{
		const uint32_t next = next_vertex(walks, &place);

		if (next == EMOGI_NO_VERTEX)
			break;
		place.before = place.vertex;
		place.vertex = path[++nsteps] = next;
		place.step = (uint32_t) nsteps;
	}
	for (uint64_t i = nsteps + 1; i <= length; i++)
		path[i] = EMOGI_NO_VERTEX;
	__atomic_fetch_add(&walks->run.result->edges_traversed, nsteps, __ATOMIC_RELAXED);
}

/* Make all walks. */
static void
walk_all(void *arg, int thread, int nthreads)
{
	Walks	   *walks = arg;
	const EmogiQuery *query = walks->query;
	const uint64_t nwalks = query->nsources * (uint64_t) query->walks;

	for (uint64_t i, end; emogi_cpu_run_take(&walks->run, WALK_CHUNK, nwalks, &i, &end);)
	{
		const uint64_t first = i;

		for (; i < end && !emogi_job_stopped(&walks->run.job); i++)
			walk(walks, query->sources[i / (uint64_t) query->walks],
				 (uint32_t) (i % (uint64_t) query->walks),
				 walks->run.result->columns[0].vertex + i * ((uint64_t) query->length + 1));
		emogi_job_done(&walks->run.job, i - first);
	}
}

EmogiStatus
emogi_cpu_random_walk(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	const double p = query->return_parameter;
	const double q = query->in_out_parameter;
	const double min = fmin(1.0, fmin(p, q));
	const uint64_t nwalks = query->nsources * (uint64_t) query->walks;
	Walks		walks = {.graph = graph, .query = query, .is_plain = p == 1.0 && q == 1.0,
		.back = min / p, .near = min, .far = min / q};

	emogi_cpu_run_begin(&walks.run, pool, graph, nwalks, result, control, error, "random walks");
	if (query->is_weighted && graph->weight_type != EMOGI_WEIGHT_NONE && graph->forward.nedges > 0)
	{
		walks.sums = emogi_cpu_run_scratch(&walks.run, graph->forward.nedges, sizeof *walks.sums);
		emogi_cpu_run_step(&walks.run, add_weights, &walks, false);
	}
	walks.run.serial = nwalks <= WALK_CHUNK;
	emogi_cpu_run_step(&walks.run, walk_all, &walks, false);
	result->nreached = query->nsources;
	result->nlevels = (uint32_t) query->length + 1;
	return emogi_cpu_run_end(&walks.run);
}
