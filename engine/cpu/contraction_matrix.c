/*
 * contraction_matrix.c: the distances between several sources and several targets by a contraction
 * hierarchy.
 *
 * There is one upward search for each source and each target (contraction_search.c); a corridor
 * leads from one source to all targets.
 */
#include "contraction_upward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 64				/* targets of a matrix whose searches are kept, some 200 kB each */

/* The upward search from a target. */
typedef struct TargetSearch
{
	EmogiUpSearch search;
	EmogiGrowingArray nodes;	/* EmogiUpEntry, the search's nodes as an array, which is scanned
								 * faster than the hash table */
} TargetSearch;

typedef struct Matrix
{
	EmogiJob	job;
	const EmogiContraction *made;
	double		error;
	bool		reversed;
	bool		gave_up;
	uint32_t	targets[BATCH]; /* ranks */
	uint64_t	ntargets;
	TargetSearch above[BATCH];
	EmogiCorridor corridor;		/* from one source to all targets */
	uint64_t	nscanned;
} Matrix;

/* Search up from one vertex until the search is exhausted. */
static bool
search_from(Matrix *matrix, EmogiUpSearch *search, int side, uint32_t end)
{
	*search = (EmogiUpSearch) {.job = &matrix->job, .made = matrix->made, .error = matrix->error,
		.best = INFINITY, .corridor = &matrix->corridor};
	return emogi_contraction_enter(search, side, end) && emogi_contraction_climb(search) &&
		emogi_contraction_begin_back(search, &search->sides[side]);
}

/* Search up from a target. */
static bool
search_above(Matrix *matrix, TargetSearch *above, uint32_t target)
{
	const int	down = matrix->reversed ? 0 : 1;
	const EmogiUpSide *side = &above->search.sides[down];
	EmogiUpEntry *entries;

	if (!search_from(matrix, &above->search, down, target) ||
		!emogi_contraction_reserve(&matrix->job, &above->nodes, side->nnodes, sizeof(EmogiUpEntry)))
		return false;
	entries = above->nodes.items;
	for (uint64_t i = 0; i < UINT64_C(1) << side->bits; i++)
		if (side->nodes[i].rank != 0)
			entries[above->nodes.count++] = (EmogiUpEntry) {side->nodes[i].distance,
				side->nodes[i].rank - 1};
	matrix->nscanned += emogi_contraction_arcs_examined(&above->search);
	return true;
}

/*
 * Request the needed paths between a source and a target, and follow the target's side back. False
 * if the job has stopped or given up.
 */
static bool
join(Matrix *matrix, EmogiUpSearch *from, TargetSearch *above)
{
	const int	up = matrix->reversed ? 1 : 0;
	const EmogiUpEntry *entries = above->nodes.items;
	EmogiUpSide *low = &from->sides[up];
	EmogiUpSide *high = &above->search.sides[1 - up];
	double		max;

	from->best = INFINITY;
	for (uint64_t i = 0; i < above->nodes.count; i++)
	{
		const double both = emogi_up_distance(low, entries[i].rank) + entries[i].distance;

		from->best = both < from->best ? both : from->best;
	}
	if (!(from->best < (double) INFINITY))
		return true;
	matrix->gave_up = 4.0 * emogi_up_slack(from) > matrix->made->tolerance;
	if (matrix->gave_up)
		return false;
	matrix->corridor.slack = fmax(matrix->corridor.slack, emogi_up_slack(from));
	max = from->best + emogi_up_slack(from);
	for (uint64_t i = 0; i < above->nodes.count; i++)
	{
		const EmogiUpNode *node = emogi_up_node(low, entries[i].rank);

		if (node->rank != 0 && node->distance + entries[i].distance <= max &&
			!(emogi_contraction_request(from, low, node, max - entries[i].distance) &&
			  emogi_contraction_request(&above->search, high,
										emogi_up_node(high, entries[i].rank),
										max - node->distance)))
			return false;
	}
	return emogi_contraction_follow_back(&above->search, 1 - up);
}

/*
 * Compute the distances from one source to the current targets; false if the job has stopped or
 * given up.
 */
static bool
find_row(Matrix *matrix, uint32_t source, double *distance)
{
	EmogiUpSearch from;
	bool		done = search_from(matrix, &from, matrix->reversed ? 1 : 0, source);

	matrix->corridor = (EmogiCorridor) {.job = &matrix->job, .made = matrix->made};
	for (uint64_t t = 0; t < matrix->ntargets && done; t++)
		done = join(matrix, &from, &matrix->above[t]) && !emogi_job_stopped(&matrix->job);
	done = done && emogi_contraction_follow_back(&from, matrix->reversed ? 1 : 0) &&
		emogi_contraction_unpack(&matrix->corridor);
	if (done && matrix->reversed)
		emogi_contraction_reverse(&matrix->corridor);
	done = done &&
		emogi_contraction_settle(&matrix->corridor, source, matrix->ntargets, matrix->targets,
								 distance, NULL);
	matrix->gave_up |= matrix->corridor.gave_up;
	matrix->nscanned += emogi_contraction_arcs_examined(&from) + matrix->corridor.edges.count;
	emogi_contraction_free_search(&from);
	emogi_contraction_free(&matrix->corridor);
	return done;
}

/* Compute the distances to one batch of targets; false if the job has stopped or given up. */
static bool
find_columns(Matrix *matrix, const EmogiQuery *query, uint64_t first, bool (*poll) (void),
			 double *distance)
{
	const uint32_t *ranks = emogi_contraction_ranks(matrix->made);
	bool		done = true;

	matrix->ntargets = query->ntargets - first < BATCH ? query->ntargets - first : BATCH;
	for (uint64_t t = 0; t < matrix->ntargets && done; t++)
	{
		matrix->targets[t] = ranks[query->targets[first + t]];
		done = search_above(matrix, &matrix->above[t], matrix->targets[t]);
	}
	for (uint64_t s = 0; s < query->nsources && done; s++)
	{
		done = find_row(matrix, ranks[query->sources[s]], distance + s * query->ntargets + first);
		if (poll != NULL && poll())
			emogi_job_fail(&matrix->job, EMOGI_CANCELED);
	}
	for (uint64_t t = 0; t < matrix->ntargets; t++)
	{
		emogi_contraction_free_search(&matrix->above[t].search);
		free(matrix->above[t].nodes.items);
		matrix->above[t] = (TargetSearch) {0};
	}
	return done;
}

EmogiStatus
emogi_contraction_distances(const EmogiContraction *made, const EmogiGraph *graph, bool reversed,
							const EmogiQuery *query, bool (*poll) (void), double *distance,
							uint64_t *nscanned, EmogiControl *control, EmogiError *error)
{
	Matrix	   *matrix = calloc(1, sizeof *matrix);
	EmogiStatus status = EMOGI_NO_MEMORY;

	error->message[0] = error->detail[0] = '\0';
	*nscanned = 0;
	if (matrix == NULL)
	{
		snprintf(error->message, sizeof error->message, "out of memory for a matrix of distances");
		return status;
	}
	*matrix = (Matrix) {.job = {.control = control}, .made = made,
		.error = emogi_contraction_error(graph), .reversed = reversed};
	for (uint64_t first = 0; first < query->ntargets && !emogi_job_stopped(&matrix->job) &&
		 !matrix->gave_up; first += BATCH)
		(void) find_columns(matrix, query, first, poll, distance);
	status = emogi_contraction_end(&matrix->job, matrix->nscanned, error);
	if (status == EMOGI_OK && matrix->gave_up)
		status = EMOGI_UNSUPPORTED;
	*nscanned = matrix->nscanned;
	free(matrix);
	return status;
}
