/*
 * contraction_search.c: one shortest path by a contraction hierarchy, and the distances between
 * several sources and several targets.
 *
 * Two searches go up, from the source along arcs and from the target against them, in order of
 * distance. Both stop at the best total found so far plus the slack (contraction.c). A vertex that
 * is reached from above by a path shorter by more than the tolerance is skipped [1]. Then the arcs
 * on paths within the slack of the best are followed back and unpacked: they are the corridor.
 *
 * With several sources or targets, there is one upward search for each source and each target; a
 * corridor leads from one source to all targets.
 *
 * [1] R. Geisberger et al., WEA 2008, 3.2 (stall on demand).
 */
#include "contraction_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POLL 1024				/* vertices */
#define BATCH 64				/* targets of a matrix whose searches are kept, some 200 kB each */

/* A vertex in the hash table of a side, by rank. Four share a cache line. */
typedef struct Node
{
	uint32_t	rank;			/* rank + 1; 0 = a free slot */
	uint32_t	offers;			/* index of the last offer + 1; 0 = none */
	double		distance;		/* from the source, or to the target */
} Node;

#define HASH_PREFIX node
#define HASH_ENTRY Node
#define HASH_STORED(node) (node)->rank
#define HASH_MIN_BITS 10
#include "containers/hash_table.h"

/* An arc that a search went up. */
typedef struct Offer
{
	double		distance;		/* over this arc */
	uint64_t	arc;
	uint32_t	low;			/* rank of the lower endpoint */
	uint32_t	next;			/* index + 1 */
} Offer;

/* The upward search of one side. */
typedef struct Side
{
	Node	   *nodes;			/* [2^bits], open addressing, at most half full */
	double	   *budgets;		/* [2^bits], of nodes to be followed back: paths between the
								 * side's origin and the node that are no longer than this are
								 * needed; -1 = none */
	int			bits;
	uint64_t	nnodes;
	EmogiGrowingArray offers;	/* Offer */
	EmogiGrowingArray heap;		/* Entry */
	EmogiGrowingArray back;		/* ranks to be followed back, a heap, the highest first */
} Side;

typedef struct Entry
{
	double		distance;
	uint32_t	rank;
} Entry;

#define HEAP_PREFIX entry
#define HEAP_ELEMENT Entry
#define HEAP_BEFORE(heap, a, b) ((a).distance < (b).distance)
#include "containers/heap.h"

typedef struct Search
{
	EmogiJob   *job;
	const EmogiContraction *made;
	bool		reversed;		/* the path leads the other way */
	bool		wants_any;		/* the first path found suffices */
	double		error;			/* relative error of sums */
	double		best;			/* the shortest total found by both sides */
	Side		sides[2];
	EmogiCorridor *corridor;	/* receives the unpacked arcs */
} Search;

static inline Node *
find_node(const Side *side, uint32_t rank)
{
	return node_find(side->nodes, side->bits, rank);
}

/*
 * Get the distance of a vertex from a side's origin; +inf if not reached, or if the side does not
 * exist.
 */
static inline double
distance_of(const Side *side, uint32_t rank)
{
	const Node *node = side->nodes != NULL ? find_node(side, rank) : NULL;

	return node != NULL && node->rank != 0 ? node->distance : (double) INFINITY;
}

/* Make room for more nodes; false, with the job failed, if out of memory. */
static bool
reserve_nodes(Search *search, Side *side, uint64_t more)
{
	const uint64_t count = side->nnodes + more;

	if (node_fits(side->nodes, side->bits, count) ||
		(emogi_job_may_allocate(search->job) && node_grow(&side->nodes, &side->bits, count)))
		return true;
	emogi_job_fail(search->job, EMOGI_NO_MEMORY);
	return false;
}

/*
 * Get the slack: how much longer than the best a path may be and still be the best but for
 * rounding.
 */
static inline double
slack_of(const Search *search)
{
	return 4.0 * search->error * search->best;
}

/*
 * Check whether a path from above is so much shorter that the vertex is on no needed path. Arcs are
 * sorted by weight.
 */
static bool
is_stalled(const Search *search, int side, uint32_t rank, double distance)
{
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, 1 - side);
	const uint64_t *firsts = emogi_contraction_firsts(search->made, 1 - side);
	const double shorter = distance - search->made->tolerance;

	for (uint64_t i = firsts[rank]; i < firsts[rank + 1] && arcs[i].weight < shorter; i++)
		if (distance_of(&search->sides[side], arcs[i].to) + arcs[i].weight < shorter)
			return true;
	return false;
}

/* Offer a vertex a distance over an upward arc. There is room. */
static void
offer(Search *search, int side, uint32_t low, uint64_t i, const EmogiArc *arc, double distance)
{
	Side	   *from = &search->sides[side];
	Node	   *node = find_node(from, arc->to);
	Offer	   *offers = from->offers.items;
	double		both;

	if (!(distance < (double) INFINITY) ||
		(node->rank != 0 && distance > node->distance + search->made->tolerance))
		return;
	offers[from->offers.count++] = (Offer) {distance, i, low, node->offers};
	node->offers = (uint32_t) from->offers.count;
	if (node->rank != 0 && !(distance < node->distance))
		return;
	from->nnodes += node->rank == 0;
	node->rank = arc->to + 1;
	node->distance = distance;
	entry_push(from->heap.items, &from->heap.count, (Entry) {distance, arc->to});
	for (int i = 0; i < 2; i++)
		__builtin_prefetch(&emogi_contraction_firsts(search->made, i)[arc->to]);
	both = distance + distance_of(&search->sides[1 - side], arc->to);
	if (both < search->best)
		search->best = both;
}

/* Settle the nearest vertex of a side; false, with the job failed, if out of memory. */
static bool
settle(Search *search, int side)
{
	Side	   *from = &search->sides[side];
	const Entry entry = entry_pop(from->heap.items, &from->heap.count);
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, side);
	const uint64_t *firsts = emogi_contraction_firsts(search->made, side);
	const uint64_t degree = firsts[entry.rank + 1] - firsts[entry.rank];

	/* the offsets of the next vertex's arcs were prefetched when it was offered */
	if (from->heap.count > 0)
		emogi_contraction_prefetch(search->made, ((Entry *) from->heap.items)[0].rank);
	if (entry.distance != find_node(from, entry.rank)->distance ||
		is_stalled(search, side, entry.rank, entry.distance))
		return true;
	if (!reserve_nodes(search, from, degree) ||
		!emogi_contraction_reserve(search->job, &from->offers, degree, sizeof(Offer)) ||
		!emogi_contraction_reserve(search->job, &from->heap, degree, sizeof(Entry)))
		return false;
	for (uint64_t i = firsts[entry.rank]; i < firsts[entry.rank + 1]; i++)
		offer(search, side, entry.rank, i, &arcs[i], entry.distance + arcs[i].weight);
	return true;
}

/* Search up from both ends; false if the job has stopped. */
static bool
search_up(Search *search)
{
	uint64_t	nsettled = 0;

	for (;;)
	{
		double		nearest[2];
		int			side;

		for (side = 0; side < 2; side++)
			nearest[side] = search->sides[side].heap.count > 0
				? ((Entry *) search->sides[side].heap.items)[0].distance : (double) INFINITY;
		side = nearest[1] < nearest[0];
		if (nearest[side] == (double) INFINITY ||
			nearest[side] > search->best + slack_of(search) ||
			(search->wants_any && search->best < (double) INFINITY))
			return true;
		if (!settle(search, side) || (++nsettled % POLL == 0 && emogi_job_stopped(search->job)))
			return false;
	}
}

/* Mark all nodes of a side as not needed; false, with the job failed, if out of memory. */
static bool
begin_back(Search *search, Side *side)
{
	if (emogi_job_may_allocate(search->job))
		side->budgets = malloc(sizeof *side->budgets << side->bits);
	if (side->budgets == NULL)
	{
		emogi_job_fail(search->job, EMOGI_NO_MEMORY);
		return false;
	}
	for (uint64_t i = 0; i < UINT64_C(1) << side->bits; i++)
		side->budgets[i] = -1.0;
	return true;
}

/*
 * Request the paths between a side's origin and one of its nodes, up to a budget. False, with the
 * job failed, if out of memory.
 */
static bool
want(Search *search, Side *side, const Node *node, double budget)
{
	double	   *noted = &side->budgets[node - side->nodes];
	const bool	queued = *noted >= 0.0;

	if (budget > *noted)
		*noted = budget;
	if (queued)
		return true;
	if (!emogi_contraction_reserve(search->job, &side->back, 1, sizeof(Entry)))
		return false;
	entry_push(side->back.items, &side->back.count, (Entry) {-(double) node->rank, node->rank - 1});
	return true;
}

/* Follow the needed arcs that lead up to a vertex. */
static bool
follow_back(Search *search, int s, uint32_t rank)
{
	Side	   *side = &search->sides[s];
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, s);
	const Node *node = find_node(side, rank);
	const double budget = side->budgets[node - side->nodes];

	side->budgets[node - side->nodes] = -1.0;	/* nothing above requests it again */
	for (uint32_t o = node->offers; o > 0;)
	{
		const Offer offered = ((Offer *) side->offers.items)[o - 1];
		const Node *low = find_node(side, offered.low);

		o = offered.next;
		if (low->distance + arcs[offered.arc].weight > budget)
			continue;
		if (!emogi_contraction_put(search->corridor, s, offered.low, offered.arc,
								   budget - low->distance) ||
			!want(search, side, low, budget - arcs[offered.arc].weight))
			return false;
	}
	return true;
}

/* Follow all requests of a side. */
static bool
follow_all(Search *search, int side)
{
	EmogiGrowingArray *back = &search->sides[side].back;

	while (back->count > 0)
		if (!follow_back(search, side, entry_pop(back->items, &back->count).rank))
			return false;
	return true;
}

/* Build the corridor from the two searches; false if the job has stopped or given up. */
static bool
make_corridor(Search *search)
{
	const double max = search->best + slack_of(search);
	Side	   *from = &search->sides[0];
	Side	   *to = &search->sides[1];

	search->corridor->slack = slack_of(search);
	if (!begin_back(search, from) || !begin_back(search, to))
		return false;
	for (uint64_t i = 0; i < UINT64_C(1) << from->bits; i++)
	{
		const Node *low = &from->nodes[i];
		const Node *high;

		if (low->rank == 0)
			continue;
		high = find_node(to, low->rank - 1);
		if (high->rank != 0 && low->distance + high->distance <= max &&
			!(want(search, from, low, max - high->distance) &&
			  want(search, to, high, max - low->distance)))
			return false;
	}
	return follow_all(search, 0) && follow_all(search, 1) &&
		emogi_contraction_unpack(search->corridor);
}

/* Search, and write the answer. */
static void
run(Search *search, uint32_t source, uint32_t target, EmogiPathAnswer *answer)
{
	if (!search_up(search) || !(search->best < (double) INFINITY))
		return;
	if (4.0 * slack_of(search) > search->made->tolerance)
		answer->outcome = EMOGI_PATH_GAVE_UP;
	else if (make_corridor(search))
	{
		if (search->reversed)
			emogi_contraction_reverse(search->corridor);
		(void) emogi_contraction_settle(search->corridor, search->reversed ? target : source, 1,
										search->reversed ? &source : &target, NULL, answer);
	}
	else if (search->corridor->gave_up)
		answer->outcome = EMOGI_PATH_GAVE_UP;
}

/* Enter the origin of a side; false, with the job failed, if out of memory. */
static bool
enter_end(Search *search, int s, uint32_t end)
{
	Side	   *side = &search->sides[s];

	if (!reserve_nodes(search, side, 1) ||
		!emogi_contraction_reserve(search->job, &side->heap, 1, sizeof(Entry)))
		return false;
	*find_node(side, end) = (Node) {.rank = end + 1};
	side->nnodes = 1;
	entry_push(side->heap.items, &side->heap.count, (Entry) {0.0, end});
	return true;
}

/* Free a search's memory. */
static void
free_search(Search *search)
{
	for (int s = 0; s < 2; s++)
	{
		free(search->sides[s].nodes);
		free(search->sides[s].budgets);
		free(search->sides[s].offers.items);
		free(search->sides[s].heap.items);
		free(search->sides[s].back.items);
	}
}

/* Get the number of arcs that the searches went up. */
static uint64_t
arcs_examined(const Search *search)
{
	return search->sides[0].offers.count + search->sides[1].offers.count;
}

/* Write the message of an out-of-memory failure; returns the job's status. */
static EmogiStatus
end_job(const EmogiJob *job, uint64_t nmet, EmogiError *error)
{
	if (job->status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message, "out of memory while searching for a path");
		snprintf(error->detail, sizeof error->detail, "%llu vertices met",
				 (unsigned long long) nmet);
	}
	return (EmogiStatus) job->status;
}

EmogiStatus
emogi_contraction_path(const EmogiContraction *made, const EmogiGraph *graph, bool reversed,
					   uint32_t source, uint32_t target, EmogiPathAnswer *answer,
					   EmogiControl *control, EmogiError *error)
{
	const uint32_t *ranks = emogi_contraction_ranks(made);
	const uint32_t ends[2] = {ranks[reversed ? target : source], ranks[reversed ? source : target]};
	EmogiJob	job = {.control = control};
	EmogiCorridor corridor = {.job = &job, .made = made};
	Search		search = {.job = &job, .made = made, .error = emogi_contraction_error(graph),
		.best = INFINITY, .reversed = reversed,
		.corridor = &corridor};
	EmogiStatus status;

	if (source == target)		/* such a path has no edge */
		return emogi_path_search(graph, NULL, source, target, UINT64_MAX, answer, control, error);
	*answer = (EmogiPathAnswer) {.outcome = EMOGI_PATH_NONE};
	error->message[0] = error->detail[0] = '\0';
	emogi_job_phase(&job, EMOGI_PHASE_RUN, 0);
	if (!emogi_job_stopped(&job) && enter_end(&search, 0, ends[0]) &&
		enter_end(&search, 1, ends[1]))
		run(&search, ends[0], ends[1], answer);
	answer->edges_traversed = arcs_examined(&search) + corridor.edges.count;
	status = end_job(&job, search.sides[0].nnodes + search.sides[1].nnodes, error);
	free_search(&search);
	emogi_contraction_free(&corridor);
	return status;
}

EmogiStatus
emogi_contraction_reaches(const EmogiContraction *made, bool reversed, uint32_t source,
						  uint32_t target, bool *reaches, uint64_t *nscanned,
						  EmogiControl *control, EmogiError *error)
{
	const uint32_t *ranks = emogi_contraction_ranks(made);
	EmogiJob	job = {.control = control};
	Search		search = {.job = &job, .made = made, .best = INFINITY, .wants_any = true};
	EmogiStatus status;

	error->message[0] = error->detail[0] = '\0';
	emogi_job_phase(&job, EMOGI_PHASE_RUN, 0);
	*reaches = source == target ||
		(!emogi_job_stopped(&job) && enter_end(&search, 0, ranks[reversed ? target : source]) &&
		 enter_end(&search, 1, ranks[reversed ? source : target]) && search_up(&search) &&
		 search.best < (double) INFINITY);
	*nscanned = arcs_examined(&search);
	status = end_job(&job, search.sides[0].nnodes + search.sides[1].nnodes, error);
	free_search(&search);
	return status;
}

/* ---- distance matrices ---- */

/* The upward search from a target. */
typedef struct UpwardSearch
{
	Search		search;
	EmogiGrowingArray nodes;	/* Entry, the search's nodes as an array, which is scanned faster
								 * than the hash table */
} UpwardSearch;

typedef struct Matrix
{
	EmogiJob	job;
	const EmogiContraction *made;
	double		error;
	bool		reversed;
	bool		gave_up;
	uint32_t	targets[BATCH]; /* ranks */
	uint64_t	ntargets;
	UpwardSearch		above[BATCH];
	EmogiCorridor corridor;		/* from one source to all targets */
	uint64_t	nscanned;
} Matrix;

/* Search up from one vertex until the search is exhausted. */
static bool
search_from(Matrix *matrix, Search *search, int side, uint32_t end)
{
	*search = (Search) {.job = &matrix->job, .made = matrix->made, .error = matrix->error,
		.best = INFINITY, .corridor = &matrix->corridor};
	return enter_end(search, side, end) && search_up(search) &&
		begin_back(search, &search->sides[side]);
}

/* Search up from a target. */
static bool
search_above(Matrix *matrix, UpwardSearch *above, uint32_t target)
{
	const int	down = matrix->reversed ? 0 : 1;
	const Side *side = &above->search.sides[down];
	Entry	   *entries;

	if (!search_from(matrix, &above->search, down, target) ||
		!emogi_contraction_reserve(&matrix->job, &above->nodes, side->nnodes, sizeof(Entry)))
		return false;
	entries = above->nodes.items;
	for (uint64_t i = 0; i < UINT64_C(1) << side->bits; i++)
		if (side->nodes[i].rank != 0)
			entries[above->nodes.count++] = (Entry) {side->nodes[i].distance,
				side->nodes[i].rank - 1};
	matrix->nscanned += arcs_examined(&above->search);
	return true;
}

/*
 * Request the needed paths between a source and a target, and follow the target's side back. False
 * if the job has stopped or given up.
 */
static bool
join(Matrix *matrix, Search *from, UpwardSearch *above)
{
	const int	up = matrix->reversed ? 1 : 0;
	const Entry *entries = above->nodes.items;
	Side	   *low = &from->sides[up];
	Side	   *high = &above->search.sides[1 - up];
	double		max;

	from->best = INFINITY;
	for (uint64_t i = 0; i < above->nodes.count; i++)
	{
		const double both = distance_of(low, entries[i].rank) + entries[i].distance;

		from->best = both < from->best ? both : from->best;
	}
	if (!(from->best < (double) INFINITY))
		return true;
	matrix->gave_up = 4.0 * slack_of(from) > matrix->made->tolerance;
	if (matrix->gave_up)
		return false;
	matrix->corridor.slack = fmax(matrix->corridor.slack, slack_of(from));
	max = from->best + slack_of(from);
	for (uint64_t i = 0; i < above->nodes.count; i++)
	{
		const Node *node = find_node(low, entries[i].rank);

		if (node->rank != 0 && node->distance + entries[i].distance <= max &&
			!(want(from, low, node, max - entries[i].distance) &&
			  want(&above->search, high, find_node(high, entries[i].rank), max - node->distance)))
			return false;
	}
	return follow_all(&above->search, 1 - up);
}

/*
 * Compute the distances from one source to the current targets; false if the job has stopped or
 * given up.
 */
static bool
find_row(Matrix *matrix, uint32_t source, double *distance)
{
	Search		from;
	bool		done = search_from(matrix, &from, matrix->reversed ? 1 : 0, source);

	matrix->corridor = (EmogiCorridor) {.job = &matrix->job, .made = matrix->made};
	for (uint64_t t = 0; t < matrix->ntargets && done; t++)
		done = join(matrix, &from, &matrix->above[t]) && !emogi_job_stopped(&matrix->job);
	done = done && follow_all(&from, matrix->reversed ? 1 : 0) &&
		emogi_contraction_unpack(&matrix->corridor);
	if (done && matrix->reversed)
		emogi_contraction_reverse(&matrix->corridor);
	done = done &&
		emogi_contraction_settle(&matrix->corridor, source, matrix->ntargets, matrix->targets,
								 distance, NULL);
	matrix->gave_up |= matrix->corridor.gave_up;
	matrix->nscanned += arcs_examined(&from) + matrix->corridor.edges.count;
	free_search(&from);
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
		free_search(&matrix->above[t].search);
		free(matrix->above[t].nodes.items);
		matrix->above[t] = (UpwardSearch) {0};
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
	status = end_job(&matrix->job, matrix->nscanned, error);
	if (status == EMOGI_OK && matrix->gave_up)
		status = EMOGI_UNSUPPORTED;
	*nscanned = matrix->nscanned;
	free(matrix);
	return status;
}
