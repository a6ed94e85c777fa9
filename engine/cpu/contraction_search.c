/*
 * contraction_search.c: one shortest path by way of a contraction hierarchy, and the distances from
 * several vertices to several.
 *
 * Two searches go up, from the source along arcs and from the target against them, each in the
 * order of distances and as far as the best that both together have found, and the slack
 * (contraction.c). A vertex to which a way from above is shorter by more than the tolerance is
 * passed over [1]. Of what they have met, the arcs on ways that are as good but for the slack are
 * followed back and unpacked: the corridor.
 *
 * Of several targets each is searched up from once, of several sources, too; a corridor leads from
 * one source to all targets.
 *
 * [1] R. Geisberger et al., WEA 2008, 3.2 (stall on demand).
 */
#include "contraction_search.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LEAST_BITS 10
#define POLL 1024				/* vertices */
#define BATCH 64				/* targets of a matrix whose searches are kept, some 200 kB each */

/* A vertex that a side has met, by its rank. Four are in a line of memory. */
typedef struct Node
{
	uint32_t	rank;			/* + 1; 0 = a free place */
	uint32_t	offers;			/* the last that was made, + 1; 0 = none */
	double		distance;		/* from the source, or to the target */
} Node;

/* An arc that a search went up. */
typedef struct Offer
{
	double		distance;		/* with it */
	uint64_t	arc;
	uint32_t	low;			/* rank where it went up from */
	uint32_t	next;			/* + 1 */
} Offer;

/* What is searched up from one end. */
typedef struct Side
{
	Node	   *nodes;			/* [2^bits], open addressing, at least half of them free */
	double	   *budgets;		/* [2^bits], of nodes to be followed back: ways from, or to, the
								 * end that are no longer are of interest; -1 = none is */
	int			bits;
	uint64_t	nnodes;
	EmogiGrowing offers;		/* Offer */
	EmogiGrowing heap;			/* Entry */
	EmogiGrowing back;			/* ranks to be followed back, a heap, the highest first */
} Side;

typedef struct Entry
{
	double		distance;
	uint32_t	rank;
} Entry;

typedef struct Search
{
	EmogiJob   *job;
	const EmogiContraction *made;
	bool		reversed;		/* the path leads the other way */
	double		error;			/* of sums */
	double		best;			/* the shortest way that both sides have found */
	Side		sides[2];
	EmogiCorridor *corridor;	/* where what is followed back is unpacked */
} Search;

/* Find the place of a vertex among those that a side has met. */
static inline Node *
find_place(Node *nodes, int bits, uint32_t rank)
{
	const uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t	i = rank * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);

	while (nodes[i].rank != rank + 1 && nodes[i].rank != 0)
		i = (i + 1) & mask;
	return &nodes[i];
}

static inline Node *
find_node(const Side *side, uint32_t rank)
{
	return find_place(side->nodes, side->bits, rank);
}

/* Get how far a vertex is from the end; +inf where it was not met, or there is no such side. */
static inline double
distance_of(const Side *side, uint32_t rank)
{
	const Node *node = side->nodes != NULL ? find_node(side, rank) : NULL;

	return node != NULL && node->rank != 0 ? node->distance : (double) INFINITY;
}

/* Make room for more nodes; false, with the job failed, without memory. */
static bool
reserve_nodes(Search *search, Side *side, uint64_t more)
{
	int			bits = side->nodes == NULL ? LEAST_BITS : side->bits;
	Node	   *larger = NULL;

	while (UINT64_C(1) << bits < 2 * (side->nnodes + more))
		bits++;
	if (side->nodes != NULL && bits == side->bits)
		return true;
	if (emogi_job_may_allocate(search->job))
		larger = calloc((size_t) 1 << bits, sizeof *larger);
	if (larger == NULL)
	{
		emogi_job_fail(search->job, EMOGI_NO_MEMORY);
		return false;
	}
	for (uint64_t i = 0; side->nodes != NULL && i < UINT64_C(1) << side->bits; i++)
		if (side->nodes[i].rank != 0)
			*find_place(larger, bits, side->nodes[i].rank - 1) = side->nodes[i];
	free(side->nodes);
	side->nodes = larger;
	side->bits = bits;
	return true;
}

/* Put an entry into a heap, which has room for it. */
static void
push(EmogiGrowing *heap, Entry entry)
{
	Entry	   *entries = heap->items;
	uint64_t	i = heap->count++;

	for (; i > 0 && entry.distance < entries[(i - 1) / 2].distance; i = (i - 1) / 2)
		entries[i] = entries[(i - 1) / 2];
	entries[i] = entry;
}

/* Take the nearest entry off a heap. */
static Entry
pop(EmogiGrowing *heap)
{
	Entry	   *entries = heap->items;
	const Entry first = entries[0];
	const Entry last = entries[--heap->count];
	uint64_t	i = 0;

	for (uint64_t child = 1; child < heap->count; child = 2 * i + 1)
	{
		if (child + 1 < heap->count && entries[child + 1].distance < entries[child].distance)
			child++;
		if (!(entries[child].distance < last.distance))
			break;
		entries[i] = entries[child];
		i = child;
	}
	entries[i] = last;
	return first;
}

/*
 * Get how much longer a way may be than the best and still be of interest, or be the best but for
 * rounding.
 */
static inline double
slack_of(const Search *search)
{
	return 4.0 * search->error * search->best;
}

/*
 * Say whether a way from above is so much shorter that a vertex is on no way of interest. Arcs
 * stand by weight.
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

/* Offer a vertex a way up over an arc. There is room. */
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
	push(&from->heap, (Entry) {distance, arc->to});
	for (int i = 0; i < 2; i++)
		__builtin_prefetch(&emogi_contraction_firsts(search->made, i)[arc->to]);
	both = distance + distance_of(&search->sides[1 - side], arc->to);
	if (both < search->best)
		search->best = both;
}

/* Settle the nearest vertex of a side; false, with the job failed, without memory. */
static bool
settle(Search *search, int side)
{
	Side	   *from = &search->sides[side];
	const Entry entry = pop(&from->heap);
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, side);
	const uint64_t *firsts = emogi_contraction_firsts(search->made, side);
	const uint64_t degree = firsts[entry.rank + 1] - firsts[entry.rank];

	/* where the arcs of the next begin was asked for when it was offered */
	if (from->heap.count > 0)
		emogi_contraction_foresee(search->made, ((Entry *) from->heap.items)[0].rank);
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

/* Search up from both ends; false when the job has stopped. */
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
		if (nearest[side] == (double) INFINITY || nearest[side] > search->best + slack_of(search))
			return true;
		if (!settle(search, side) || (++nsettled % POLL == 0 && emogi_job_stopped(search->job)))
			return false;
	}
}

/* Have nothing of a side be of interest yet; false, with the job failed, without memory. */
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
 * Note that ways from the end of a side to a vertex that it has met, or the other way, are of
 * interest as far as a budget. False, with the job failed, without memory.
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
	push(&side->back, (Entry) {-(double) node->rank, node->rank - 1});
	return true;
}

/* Follow the arcs of interest that lead up to a vertex. */
static bool
follow_back(Search *search, int s, uint32_t rank)
{
	Side	   *side = &search->sides[s];
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, s);
	const Node *node = find_node(side, rank);
	const double budget = side->budgets[node - side->nodes];

	side->budgets[node - side->nodes] = -1.0;	/* nothing asks for it again from above */
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

/* Follow back all that is wanted of a side. */
static bool
follow_all(Search *search, int side)
{
	EmogiGrowing *back = &search->sides[side].back;

	while (back->count > 0)
		if (!follow_back(search, side, pop(back).rank))
			return false;
	return true;
}

/*
 * Make the corridor of what the searches have met; false when the job has stopped, or it has given
 * up.
 */
static bool
make_corridor(Search *search)
{
	const double most = search->best + slack_of(search);
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
		if (high->rank != 0 && low->distance + high->distance <= most &&
			!(want(search, from, low, most - high->distance) &&
			  want(search, to, high, most - low->distance)))
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
			emogi_contraction_turn(search->corridor);
		(void) emogi_contraction_settle(search->corridor, search->reversed ? target : source, 1,
										search->reversed ? &source : &target, NULL, answer);
	}
	else if (search->corridor->gave_up)
		answer->outcome = EMOGI_PATH_GAVE_UP;
}

/* Put an end into the queue of its side; false, with the job failed, without memory. */
static bool
enter_end(Search *search, int s, uint32_t end)
{
	Side	   *side = &search->sides[s];

	if (!reserve_nodes(search, side, 1) ||
		!emogi_contraction_reserve(search->job, &side->heap, 1, sizeof(Entry)))
		return false;
	*find_node(side, end) = (Node) {.rank = end + 1};
	side->nnodes = 1;
	push(&side->heap, (Entry) {0.0, end});
	return true;
}

/* Free what a search took. */
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

/* Get how many arcs the searches went up. */
static uint64_t
looked_at(const Search *search)
{
	return search->sides[0].offers.count + search->sides[1].offers.count;
}

/* Write why a job has failed, if for memory; gets its status. */
static EmogiStatus
end_job(const EmogiJob *job, uint64_t nmet, EmogiError *error)
{
	if (job->status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message, "out of memory while searching a path");
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

	if (source == target)		/* has no edge to go by */
		return emogi_path_search(graph, NULL, source, target, UINT64_MAX, answer, control, error);
	*answer = (EmogiPathAnswer) {.outcome = EMOGI_PATH_NONE};
	error->message[0] = error->detail[0] = '\0';
	emogi_job_phase(&job, EMOGI_PHASE_RUN, 0);
	if (!emogi_job_stopped(&job) && enter_end(&search, 0, ends[0]) &&
		enter_end(&search, 1, ends[1]))
		run(&search, ends[0], ends[1], answer);
	answer->edges_traversed = looked_at(&search) + corridor.edges.count;
	status = end_job(&job, search.sides[0].nnodes + search.sides[1].nnodes, error);
	free_search(&search);
	emogi_contraction_free(&corridor);
	return status;
}

/* ---- distances of many ---- */

/* What lies above a target. */
typedef struct Above
{
	Search		search;
	EmogiGrowing nodes;			/* Entry, what was met: read in a row, which a table is not */
} Above;

typedef struct Matrix
{
	EmogiJob	job;
	const EmogiContraction *made;
	double		error;
	bool		reversed;
	bool		gave_up;
	uint32_t	targets[BATCH]; /* ranks */
	uint64_t	ntargets;
	Above		above[BATCH];
	EmogiCorridor corridor;		/* from one source to all targets */
	uint64_t	looked;
} Matrix;

/* Search up from one end, as far as that leads. */
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
look_above(Matrix *matrix, Above *above, uint32_t target)
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
	matrix->looked += looked_at(&above->search);
	return true;
}

/*
 * Note what is wanted of the ways from a source to a target, and follow the target's part back.
 * False when the job has stopped, or it has given up.
 */
static bool
join(Matrix *matrix, Search *from, Above *above)
{
	const int	up = matrix->reversed ? 1 : 0;
	const Entry *entries = above->nodes.items;
	Side	   *low = &from->sides[up];
	Side	   *high = &above->search.sides[1 - up];
	double		most;

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
	most = from->best + slack_of(from);
	for (uint64_t i = 0; i < above->nodes.count; i++)
	{
		const Node *node = find_node(low, entries[i].rank);

		if (node->rank != 0 && node->distance + entries[i].distance <= most &&
			!(want(from, low, node, most - entries[i].distance) &&
			  want(&above->search, high, find_node(high, entries[i].rank), most - node->distance)))
			return false;
	}
	return follow_all(&above->search, 1 - up);
}

/*
 * Find the distances from one source to the targets at hand; false when the job has stopped, or it
 * has given up.
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
		emogi_contraction_turn(&matrix->corridor);
	done = done &&
		emogi_contraction_settle(&matrix->corridor, source, matrix->ntargets, matrix->targets,
								 distance, NULL);
	matrix->gave_up |= matrix->corridor.gave_up;
	matrix->looked += looked_at(&from) + matrix->corridor.edges.count;
	free_search(&from);
	emogi_contraction_free(&matrix->corridor);
	return done;
}

/* Find the distances to some targets; false when the job has stopped, or it has given up. */
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
		done = look_above(matrix, &matrix->above[t], matrix->targets[t]);
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
		matrix->above[t] = (Above) {0};
	}
	return done;
}

EmogiStatus
emogi_contraction_distances(const EmogiContraction *made, const EmogiGraph *graph, bool reversed,
							const EmogiQuery *query, bool (*poll) (void), double *distance,
							uint64_t *looked, EmogiControl *control, EmogiError *error)
{
	Matrix	   *matrix = calloc(1, sizeof *matrix);
	EmogiStatus status = EMOGI_NO_MEMORY;

	error->message[0] = error->detail[0] = '\0';
	*looked = 0;
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
	status = end_job(&matrix->job, matrix->looked, error);
	if (status == EMOGI_OK && matrix->gave_up)
		status = EMOGI_UNSUPPORTED;
	*looked = matrix->looked;
	free(matrix);
	return status;
}
