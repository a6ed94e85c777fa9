/*
 * contraction_search.c: one shortest path by way of a contraction hierarchy, and the distances from several vertices to several.
 *
 * Two searches go up, from the source along arcs and from the target against them, each in the order of distances and as far as the best that
 * both together have found, and the slack (contraction.c). A vertex to which a way from above is shorter by more than the tolerance is
 * passed over [1]. Of what they have met, the arcs on ways that are as good but for the slack are followed back and unpacked: the corridor.
 *
 * Of several targets each is searched up from once, of several sources, too; a corridor leads from one source to all targets.
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

/* A vertex that was met, by its rank. */
typedef struct Node
{
	uint32_t	rank;			/* + 1; 0 = a free place */
	uint32_t	offers[2];		/* the last that each side has made it, + 1; 0 = none */
	bool		queued;			/* to be followed back */
	double		distance[2];	/* from the source, to the target; +inf = not met from there */
	double		budget[2];		/* ways from the source, or to the target, that are no longer are of interest; -1 = none is */
} Node;

/* An arc that a search went up. */
typedef struct Offer
{
	double		distance;		/* with it */
	uint64_t	arc;
	uint32_t	low;			/* rank where it went up from */
	uint32_t	next;			/* + 1 */
} Offer;

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
	Node	   *nodes;			/* [2^bits], open addressing, at least half of them free */
	int			bits;
	uint64_t	nnodes;
	EmogiGrowing offers;		/* Offer */
	EmogiGrowing heaps[2];		/* Entry */
	EmogiGrowing back;			/* ranks to be followed back, a heap, the highest first */
	EmogiCorridor *corridor;		/* where what is followed back is unpacked */
} Search;

static Node *
find_node(const Node *nodes, int bits, uint32_t rank)
{
	const uint64_t mask = (UINT64_C(1) << bits) - 1;
	uint64_t	i = rank * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);

	while (nodes[i].rank != rank + 1 && nodes[i].rank != 0)
		i = (i + 1) & mask;
	return (Node *) &nodes[i];
}

/* Make room for more nodes; false, with the job failed, without memory. */
static bool
reserve_nodes(Search *search, uint64_t more)
{
	int			bits = search->nodes == NULL ? LEAST_BITS : search->bits;
	Node	   *larger = NULL;

	while (UINT64_C(1) << bits < 2 * (search->nnodes + more))
		bits++;
	if (search->nodes != NULL && bits == search->bits)
		return true;
	if (emogi_job_may_allocate(search->job))
		larger = calloc((size_t) 1 << bits, sizeof *larger);
	if (larger == NULL)
	{
		emogi_job_fail(search->job, EMOGI_NO_MEMORY);
		return false;
	}
	for (uint64_t i = 0; search->nodes != NULL && i < UINT64_C(1) << search->bits; i++)
		if (search->nodes[i].rank != 0)
			*find_node(larger, bits, search->nodes[i].rank - 1) = search->nodes[i];
	free(search->nodes);
	search->nodes = larger;
	search->bits = bits;
	return true;
}

/* Get the node of a vertex, one more if it was not met; there is room for it. */
static Node *
get_node(Search *search, uint32_t rank)
{
	Node	   *node = find_node(search->nodes, search->bits, rank);

	if (node->rank == 0)
	{
		*node = (Node) {.rank = rank + 1, .distance = {INFINITY, INFINITY}, .budget = {-1.0, -1.0}};
		search->nnodes++;
	}
	return node;
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

/* Get how much longer a way may be than the best and still be of interest, or be the best but for rounding. */
static inline double
slack_of(const Search *search)
{
	return 4.0 * search->error * search->best;
}

/* Say whether a way from above is so much shorter that a vertex is on no way of interest. */
static bool
is_stalled(const Search *search, int side, uint32_t rank, double distance)
{
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, 1 - side);
	const uint64_t *firsts = emogi_contraction_firsts(search->made, 1 - side);

	for (uint64_t i = firsts[rank]; i < firsts[rank + 1]; i++)
	{
		const Node *above = find_node(search->nodes, search->bits, arcs[i].to);

		if (above->rank != 0 && above->distance[side] + arcs[i].weight < distance - search->made->tolerance)
			return true;
	}
	return false;
}

/* Offer a vertex a way up over an arc. */
static void
offer(Search *search, int side, uint32_t low, uint64_t i, const EmogiArc *arc, double distance)
{
	Node	   *node = get_node(search, arc->to);
	Offer	   *offers = search->offers.items;

	if (distance > node->distance[side] + search->made->tolerance || !(distance < (double) INFINITY))
		return;
	offers[search->offers.count++] = (Offer) {distance, i, low, node->offers[side]};
	node->offers[side] = (uint32_t) search->offers.count;
	if (!(distance < node->distance[side]))
		return;
	node->distance[side] = distance;
	push(&search->heaps[side], (Entry) {distance, arc->to});
	for (int i = 0; i < 2; i++)
		__builtin_prefetch(&emogi_contraction_firsts(search->made, i)[arc->to]);
	if (distance + node->distance[1 - side] < search->best)
		search->best = distance + node->distance[1 - side];
}

/* Have memory bring the arcs of the vertex that is nearest now, which lie anywhere: where they begin was asked for when it was offered. */
static void
foresee(const Search *search, int side)
{
	const Entry *entries = search->heaps[side].items;

	for (int i = 0; i < 2 && search->heaps[side].count > 0; i++)
		__builtin_prefetch(&emogi_contraction_arcs(search->made, i)[emogi_contraction_firsts(search->made, i)[entries[0].rank]]);
}

/* Settle the nearest vertex of a side; false, with the job failed, without memory. */
static bool
settle(Search *search, int side)
{
	const Entry entry = pop(&search->heaps[side]);
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, side);
	const uint64_t *firsts = emogi_contraction_firsts(search->made, side);
	const uint64_t degree = firsts[entry.rank + 1] - firsts[entry.rank];

	foresee(search, side);
	if (entry.distance != find_node(search->nodes, search->bits, entry.rank)->distance[side] ||
		is_stalled(search, side, entry.rank, entry.distance))
		return true;
	if (!reserve_nodes(search, degree) || !emogi_contraction_reserve(search->job, &search->offers, degree, sizeof(Offer)) ||
		!emogi_contraction_reserve(search->job, &search->heaps[side], degree, sizeof(Entry)))
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
			nearest[side] = search->heaps[side].count > 0 ? ((Entry *) search->heaps[side].items)[0].distance : (double) INFINITY;
		side = nearest[1] < nearest[0];
		if (nearest[side] == (double) INFINITY || nearest[side] > search->best + slack_of(search))
			return true;
		if (!settle(search, side) || (++nsettled % POLL == 0 && emogi_job_stopped(search->job)))
			return false;
	}
}

/* Note that ways to, or from, a vertex are of interest as far as a budget; there is room in `back`. */
static void
want(Search *search, Node *node, int side, double budget)
{
	if (budget > node->budget[side])
		node->budget[side] = budget;
	if (node->queued)
		return;
	node->queued = true;
	push(&search->back, (Entry) {-(double) node->rank, node->rank - 1});
}

/* Follow the arcs of interest that lead up to a vertex. */
static bool
follow_back(Search *search, uint32_t rank, int side)
{
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, side);
	const double budget = find_node(search->nodes, search->bits, rank)->budget[side];

	for (uint32_t o = find_node(search->nodes, search->bits, rank)->offers[side]; o > 0 && budget >= 0.0;)
	{
		const Offer offered = ((Offer *) search->offers.items)[o - 1];
		Node	   *low = find_node(search->nodes, search->bits, offered.low);
		const double least = low->distance[side] + arcs[offered.arc].weight;

		o = offered.next;
		if (least > budget)
			continue;
		if (!emogi_contraction_reserve(search->job, &search->back, 1, sizeof(Entry)) ||
			!emogi_contraction_put(search->corridor, side, offered.low, offered.arc, budget - low->distance[side]))
			return false;
		want(search, low, side, budget - arcs[offered.arc].weight);
	}
	return true;
}

/* Make the corridor of what the searches have met; false when the job has stopped, or it has given up. */
static bool
make_corridor(Search *search)
{
	const double most = search->best + slack_of(search);

	search->corridor->slack = slack_of(search);
	if (!emogi_contraction_reserve(search->job, &search->back, search->nnodes, sizeof(Entry)))
		return false;
	for (uint64_t i = 0; i < UINT64_C(1) << search->bits; i++)
	{
		Node	   *node = &search->nodes[i];

		if (node->rank == 0 || !(node->distance[0] + node->distance[1] <= most))
			continue;
		want(search, node, 0, most - node->distance[1]);
		want(search, node, 1, most - node->distance[0]);
	}
	while (search->back.count > 0)
	{
		const uint32_t rank = pop(&search->back).rank;

		find_node(search->nodes, search->bits, rank)->queued = false;
		if (!follow_back(search, rank, 0) || !follow_back(search, rank, 1))
			return false;
	}
	return emogi_contraction_unpack(search->corridor);
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
		(void) emogi_contraction_settle(search->corridor, search->reversed ? target : source, 1, search->reversed ? &source : &target, NULL, answer);
	}
	else if (search->corridor->gave_up)
		answer->outcome = EMOGI_PATH_GAVE_UP;
}

/* Put both ends into their queues; false, with the job failed, without memory. */
static bool
enter_ends(Search *search, const uint32_t *ends)
{
	if (!reserve_nodes(search, 2))
		return false;
	for (int side = 0; side < 2; side++)
	{
		if (!emogi_contraction_reserve(search->job, &search->heaps[side], 1, sizeof(Entry)))
			return false;
		get_node(search, ends[side])->distance[side] = 0.0;
		push(&search->heaps[side], (Entry) {0.0, ends[side]});
	}
	return true;
}

/* Free what a search took. */
static void
free_search(Search *search)
{
	free(search->nodes);
	free(search->offers.items);
	free(search->heaps[0].items);
	free(search->heaps[1].items);
	free(search->back.items);
}

/* Write why a job has failed, if for memory; gets its status. */
static EmogiStatus
end_job(const EmogiJob *job, uint64_t nmet, EmogiError *error)
{
	if (job->status == EMOGI_NO_MEMORY)
	{
		snprintf(error->message, sizeof error->message, "out of memory while searching a path");
		snprintf(error->detail, sizeof error->detail, "%llu vertices met", (unsigned long long) nmet);
	}
	return (EmogiStatus) job->status;
}

EmogiStatus
emogi_contraction_path(const EmogiContraction *made, const EmogiGraph *graph, bool reversed, uint32_t source, uint32_t target,
					   EmogiPathAnswer *answer, EmogiControl *control, EmogiError *error)
{
	const uint32_t *ranks = emogi_contraction_ranks(made);
	const uint32_t ends[2] = {ranks[reversed ? target : source], ranks[reversed ? source : target]};
	EmogiJob	job = {.control = control};
	EmogiCorridor corridor = {.job = &job, .made = made};
	Search		search = {.job = &job, .made = made, .error = emogi_contraction_error(graph), .best = INFINITY, .reversed = reversed,
		.corridor = &corridor};
	EmogiStatus status;

	if (source == target)		/* has no edge to go by */
		return emogi_path_search(graph, NULL, source, target, UINT64_MAX, answer, control, error);
	*answer = (EmogiPathAnswer) {.outcome = EMOGI_PATH_NONE};
	error->message[0] = error->detail[0] = '\0';
	emogi_job_phase(&job, EMOGI_PHASE_RUN, 0);
	if (!emogi_job_stopped(&job) && enter_ends(&search, ends))
		run(&search, ends[0], ends[1], answer);
	answer->edges_traversed = search.offers.count + corridor.edges.count;
	status = end_job(&job, search.nnodes, error);
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
	uint32_t	targets[BATCH];	/* ranks */
	uint64_t	ntargets;
	Above		above[BATCH];
	EmogiCorridor corridor;		/* from one source to all targets */
	uint64_t	looked;
} Matrix;

/* Search up from one end, as far as that leads. */
static bool
search_from(Matrix *matrix, Search *search, int side, uint32_t end)
{
	*search = (Search) {.job = &matrix->job, .made = matrix->made, .error = matrix->error, .best = INFINITY, .corridor = &matrix->corridor};
	if (!reserve_nodes(search, 1) || !emogi_contraction_reserve(search->job, &search->heaps[side], 1, sizeof(Entry)))
		return false;
	get_node(search, end)->distance[side] = 0.0;
	push(&search->heaps[side], (Entry) {0.0, end});
	return search_up(search);
}

/* Search up from a target. */
static bool
look_above(Matrix *matrix, Above *above, uint32_t target)
{
	const int	down = matrix->reversed ? 0 : 1;
	Entry	   *entries;

	if (!search_from(matrix, &above->search, down, target) ||
		!emogi_contraction_reserve(&matrix->job, &above->nodes, above->search.nnodes, sizeof(Entry)))
		return false;
	entries = above->nodes.items;
	for (uint64_t i = 0; i < UINT64_C(1) << above->search.bits; i++)
		if (above->search.nodes[i].rank != 0)
			entries[above->nodes.count++] = (Entry) {above->search.nodes[i].distance[down], above->search.nodes[i].rank - 1};
	matrix->looked += above->search.offers.count;
	return true;
}

/* Follow back all that is wanted of a search on a side. */
static bool
follow_all(Search *search, int side)
{
	while (search->back.count > 0)
	{
		const uint32_t rank = pop(&search->back).rank;
		Node	   *node = find_node(search->nodes, search->bits, rank);

		node->queued = false;
		if (!follow_back(search, rank, side))
			return false;
		node->budget[side] = -1.0;	/* nothing asks for it again from above */
	}
	return true;
}

/* Note what is wanted of the ways from a source to a target, and follow the target's part back. False when the job has stopped, or it has given up. */
static bool
join(Matrix *matrix, Search *from, Above *above)
{
	const int	up = matrix->reversed ? 1 : 0;
	const Entry *entries = above->nodes.items;
	Search	   *to = &above->search;
	double		most;

	from->best = INFINITY;
	for (uint64_t i = 0; i < above->nodes.count; i++)
	{
		const Node *low = find_node(from->nodes, from->bits, entries[i].rank);

		if (low->rank != 0 && low->distance[up] + entries[i].distance < from->best)
			from->best = low->distance[up] + entries[i].distance;
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
		Node	   *low = find_node(from->nodes, from->bits, entries[i].rank);
		Node	   *high;

		if (low->rank == 0 || !(low->distance[up] + entries[i].distance <= most))
			continue;
		high = find_node(to->nodes, to->bits, entries[i].rank);
		if (!emogi_contraction_reserve(&matrix->job, &from->back, 1, sizeof(Entry)) ||
			!emogi_contraction_reserve(&matrix->job, &to->back, 1, sizeof(Entry)))
			return false;
		want(from, low, up, most - high->distance[1 - up]);
		want(to, high, 1 - up, most - low->distance[up]);
	}
	return follow_all(to, 1 - up);
}

/* Find the distances from one source to the targets at hand; false when the job has stopped, or it has given up. */
static bool
find_row(Matrix *matrix, uint32_t source, double *distance)
{
	Search		from;
	bool		done = search_from(matrix, &from, matrix->reversed ? 1 : 0, source);

	matrix->corridor = (EmogiCorridor) {.job = &matrix->job, .made = matrix->made};
	for (uint64_t t = 0; t < matrix->ntargets && done; t++)
		done = join(matrix, &from, &matrix->above[t]) && !emogi_job_stopped(&matrix->job);
	done = done && follow_all(&from, matrix->reversed ? 1 : 0) && emogi_contraction_unpack(&matrix->corridor);
	if (done && matrix->reversed)
		emogi_contraction_turn(&matrix->corridor);
	done = done && emogi_contraction_settle(&matrix->corridor, source, matrix->ntargets, matrix->targets, distance, NULL);
	matrix->gave_up |= matrix->corridor.gave_up;
	matrix->looked += from.offers.count + matrix->corridor.edges.count;
	free_search(&from);
	emogi_contraction_free(&matrix->corridor);
	return done;
}

/* Find the distances to some targets; false when the job has stopped, or it has given up. */
static bool
find_columns(Matrix *matrix, const EmogiQuery *query, uint64_t first, bool (*poll) (void), double *distance)
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
emogi_contraction_distances(const EmogiContraction *made, const EmogiGraph *graph, bool reversed, const EmogiQuery *query, bool (*poll) (void),
							double *distance, uint64_t *looked, EmogiControl *control, EmogiError *error)
{
	Matrix	   *matrix = calloc(1, sizeof *matrix);
	EmogiStatus status = EMOGI_NO_MEMORY;

	error->message[0] = error->detail[0] = '\0';
	*looked = 0;
	if (matrix == NULL)
		return status;
	*matrix = (Matrix) {.job = {.control = control}, .made = made, .error = emogi_contraction_error(graph), .reversed = reversed};
	for (uint64_t first = 0; first < query->ntargets && !emogi_job_stopped(&matrix->job) && !matrix->gave_up; first += BATCH)
		(void) find_columns(matrix, query, first, poll, distance);
	status = end_job(&matrix->job, matrix->looked, error);
	if (status == EMOGI_OK && matrix->gave_up)
		status = EMOGI_UNSUPPORTED;
	*looked = matrix->looked;
	free(matrix);
	return status;
}
