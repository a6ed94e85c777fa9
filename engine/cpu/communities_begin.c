/*
 * communities_begin.c: the first level of communities.h, from a graph's adjacency lists, with
 * weights converted to integers (contract/community_rules.h).
 *
 * Floating-point weights take three passes: one for the largest weight, one for the sum in units
 * derived from the upper bound on it, and one for the weights in the final units.
 */
#include "communities.h"

#include "contract/semirings.h"

#include <math.h>
#include <stdio.h>

#define VERTEX_CHUNK 1024
#define SUM_BITS 61				/* bits of a sum that is in range */

/* The state of making the first level. */
typedef struct Beginning
{
	EmogiCommunities *all;
	const EmogiGraph *graph;
	const EmogiLevelBuffer *room;
	EmogiWeightUnits units;
	int			exponent;		/* a unit is 2^-exponent */
	uint64_t	max;			/* atomic: the bits of the largest weight, which order like the
								 * non-negative numbers they encode */
	int64_t		whole;			/* atomic: 2m in units */
} Beginning;

bool
emogi_communities_need_units(const EmogiGraph *graph)
{
	return graph->weight_type == EMOGI_WEIGHT_F32 || graph->weight_type == EMOGI_WEIGHT_F64 ||
		(graph->weight_type == EMOGI_WEIGHT_U32 && graph->forward.nedges >= UINT64_C(1) << 29);
}

/* Get the units of weights that are used in place. */
static EmogiWeightUnits
units_of(EmogiWeightType type)
{
	switch (type)
	{
		case EMOGI_WEIGHT_U8:
			return EMOGI_UNITS_U8;
		case EMOGI_WEIGHT_U16:
			return EMOGI_UNITS_U16;
		case EMOGI_WEIGHT_U32:
			return EMOGI_UNITS_U32;
		default:
			return EMOGI_UNITS_ONE;
	}
}

/* Find the largest weight. */
static void
find_max(void *arg, int thread, int nthreads)
{
	Beginning  *beginning = arg;
	const EmogiGraph *graph = beginning->graph;
	const EmogiAdjacency *lists = &graph->forward;
	EmogiCpuRun *run = &beginning->all->run;
	double		max = 0.0;
	uint64_t	bits;

	for (uint64_t e, end;
		 emogi_job_take_chunk(&run->job, &run->next, EMOGI_RUN_POLL, lists->nedges, &e, &end);)
		for (; e < end; e++)
			max = fmax(max, emogi_weight(lists->weights, graph->weight_type, e));
	max += 0.0;
	memcpy(&bits, &max, sizeof bits);
	for (uint64_t before = __atomic_load_n(&beginning->max, __ATOMIC_RELAXED); before < bits;)
		if (__atomic_compare_exchange_n(&beginning->max, &before, bits, false, __ATOMIC_RELAXED,
										__ATOMIC_RELAXED))
			break;
}

/* Sum the weights of vertices, in units, and store the converted weights if they are needed. */
static void
add_weights(void *arg, int thread, int nthreads)
{
	Beginning  *beginning = arg;
	const EmogiGraph *graph = beginning->graph;
	const EmogiAdjacency *lists = &graph->forward;
	const EmogiLevelBuffer *room = beginning->room;
	EmogiCpuRun *run = &beginning->all->run;
	int64_t		whole = 0;

	for (uint64_t v, end;
		 emogi_job_take_chunk(&run->job, &run->next, VERTEX_CHUNK, graph->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			int64_t		strength = 0;

			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				int64_t		weight;

				if (beginning->units == EMOGI_UNITS_I64)
					room->weights[e] = weight =
						(int64_t) rint(ldexp(emogi_weight(lists->weights, graph->weight_type, e),
											 beginning->exponent));
				else
					weight = emogi_level_weight(lists->weights, beginning->units, e);
				strength += lists->targets[e] == v ? 2 * weight : weight;
			}
			room->strength[v] = strength;
			room->name[v] = (uint32_t) v;
			whole += strength;
		}
	__atomic_fetch_add(&beginning->whole, whole, __ATOMIC_RELAXED);
}

/* Get the position of the highest bit of a positive number. */
static int
highest_bit(uint64_t x)
{
	return 63 - __builtin_clzll(x);
}

/* Reject weights whose sum is not finite; returns false. */
static bool
refuse(EmogiCommunities *all)
{
	snprintf(all->run.error->message, sizeof all->run.error->message,
			 "the sum of the weights is out of range");
	all->run.result->refusal.kind = EMOGI_WEIGHTS_OUT_OF_RANGE;
	emogi_job_fail(&all->run.job, EMOGI_BAD_INPUT);
	return false;
}

/* Choose the units of floating-point weights; false if the job has stopped. */
static bool
choose_units(Beginning *beginning)
{
	EmogiCommunities *all = beginning->all;
	const uint64_t nedges = beginning->graph->forward.nedges;
	double		max;

	if (!emogi_cpu_run_step(&all->run, find_max, beginning, false))
		return false;
	memcpy(&max, &beginning->max, sizeof max);
	if (max == 0.0)
		return true;
	if (!isfinite(max))
		return refuse(all);
	beginning->exponent = SUM_BITS - 1 - ilogb(max) - 1 - (highest_bit(2 * nedges) + 1);
	if (!emogi_cpu_run_step(&all->run, add_weights, beginning, false))
		return false;
	if (!isfinite(ldexp((double) beginning->whole, -beginning->exponent)))
		return refuse(all);
	if (beginning->whole > 0)
		beginning->exponent += EMOGI_COMMUNITIES_WHOLE_BITS -
			highest_bit((uint64_t) beginning->whole);
	beginning->whole = 0;
	return true;
}

void
emogi_communities_set_total_weight(EmogiCommunities *all, int64_t whole)
{
	all->gains.whole = whole > 0 ? (double) whole : 1.0;
	all->gains.scale = ldexp(1.0, EMOGI_COMMUNITIES_WHOLE_BITS -
							 (whole > 0 ? highest_bit((uint64_t) whole) : 0));
	all->min_gain = all->tolerance * all->gains.whole / 2.0;
	all->gained = 0;
}

bool
emogi_communities_begin(EmogiCommunities *all, const EmogiGraph *graph,
						const EmogiLevelBuffer *room, EmogiLevel *level)
{
	Beginning	beginning = {.all = all, .graph = graph, .room = room,
		.units = units_of(graph->weight_type)};

	if (emogi_communities_need_units(graph))
	{
		beginning.units = EMOGI_UNITS_I64;
		if (!choose_units(&beginning))
			return false;
	}
	if (!emogi_cpu_run_step(&all->run, add_weights, &beginning, false))
		return false;
	*level = (EmogiLevel) {.nnodes = graph->nvertices, .nentries = graph->forward.nedges,
		.first = graph->forward.offsets,
		.end = graph->forward.offsets + 1, .targets = graph->forward.targets,
		.weights = beginning.units == EMOGI_UNITS_I64 ? (const void *) room->weights
		: graph->forward.weights, .units = beginning.units,
		.strength = room->strength, .name = room->name};
	all->gains.theta = fmin(ldexp(all->gains.theta, beginning.exponent), 1e290);
	emogi_communities_set_total_weight(all, beginning.whole);
	return true;
}
