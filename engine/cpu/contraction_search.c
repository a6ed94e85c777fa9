/*
 * contraction_search.c: one shortest path by a contraction hierarchy.
 *
 * Two searches go up, from the source along arcs and from the target against them, in order of
 * distance. Both stop at the best total found so far plus the slack (contraction.c). A vertex that
 * is reached from above by a path shorter by more than the tolerance is skipped [1]. Then the arcs
 * on paths within the slack of the best are followed back and unpacked: they are the corridor.
 *
 * [1] R. Geisberger et al., WEA 2008, 3.2 (stall on demand).
 */
#include "contraction_upward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POLL 1024				/* vertices */

/* Make room for more nodes; false, with the job failed, if out of memory. */
static bool
reserve_nodes(EmogiUpSearch *search, EmogiUpSide *side, uint64_t more)
{
	const uint64_t count = side->nnodes + more;

	if (node_fits(side->nodes, side->bits, count) ||
		(emogi_job_may_allocate(search->job) && node_grow(&side->nodes, &side->bits, count)))
		return true;
	emogi_job_fail(search->job, EMOGI_NO_MEMORY);
	return false;
}

/*
 * Check whether a path from above is so much shorter that the vertex is on no needed path. Arcs are
 * sorted by weight.
 */
static bool
is_stalled(const EmogiUpSearch *search, int side, uint32_t rank, double distance)
{
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, 1 - side);
	const uint64_t *firsts = emogi_contraction_firsts(search->made, 1 - side);
	const double shorter = distance - search->made->tolerance;

	for (uint64_t i = firsts[rank]; i < firsts[rank + 1] && arcs[i].weight < shorter; i++)
		if (emogi_up_distance(&search->sides[side], arcs[i].to) + arcs[i].weight < shorter)
			return true;
	return false;
}

/* Offer a vertex a distance over an upward arc. There is room. */
static void
offer(EmogiUpSearch *search, int side, uint32_t low, uint64_t i, const EmogiArc *arc,
	  double distance)
{
	EmogiUpSide	   *from = &search->sides[side];
	EmogiUpNode	   *node = emogi_up_node(from, arc->to);
	EmogiUpOffer	   *offers = from->offers.items;
	double		both;

	if (!(distance < (double) INFINITY) ||
		(node->rank != 0 && distance > node->distance + search->made->tolerance))
		return;
	offers[from->offers.count++] = (EmogiUpOffer) {distance, i, low, node->offers};
	node->offers = (uint32_t) from->offers.count;
	if (node->rank != 0 && !(distance < node->distance))
		return;
	from->nnodes += node->rank == 0;
	node->rank = arc->to + 1;
	node->distance = distance;
	entry_push(from->heap.items, &from->heap.count, (EmogiUpEntry) {distance, arc->to});
	for (int i = 0; i < 2; i++)
		__builtin_prefetch(&emogi_contraction_firsts(search->made, i)[arc->to]);
	both = distance + emogi_up_distance(&search->sides[1 - side], arc->to);
	if (both < search->best)
		search->best = both;
}

/* Settle the nearest vertex of a side; false, with the job failed, if out of memory. */
static bool
settle(EmogiUpSearch *search, int side)
{
	EmogiUpSide	   *from = &search->sides[side];
	const EmogiUpEntry entry = entry_pop(from->heap.items, &from->heap.count);
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, side);
	const uint64_t *firsts = emogi_contraction_firsts(search->made, side);
	const uint64_t degree = firsts[entry.rank + 1] - firsts[entry.rank];

	/* the offsets of the next vertex's arcs were prefetched when it was offered */
	if (from->heap.count > 0)
		emogi_contraction_prefetch(search->made, ((EmogiUpEntry *) from->heap.items)[0].rank);
	if (entry.distance != emogi_up_node(from, entry.rank)->distance ||
		is_stalled(search, side, entry.rank, entry.distance))
		return true;
	if (!reserve_nodes(search, from, degree) ||
		!emogi_contraction_reserve(search->job, &from->offers, degree, sizeof(EmogiUpOffer)) ||
		!emogi_contraction_reserve(search->job, &from->heap, degree, sizeof(EmogiUpEntry)))
		return false;
	for (uint64_t i = firsts[entry.rank]; i < firsts[entry.rank + 1]; i++)
		offer(search, side, entry.rank, i, &arcs[i], entry.distance + arcs[i].weight);
	return true;
}

/* Search up from both ends; false if the job has stopped. */
bool
emogi_contraction_climb(EmogiUpSearch *search)
{
	uint64_t	nsettled = 0;

	for (;;)
	{
		double		nearest[2];
		int			side;

		for (side = 0; side < 2; side++)
			nearest[side] = search->sides[side].heap.count > 0
				? ((EmogiUpEntry *) search->sides[side].heap.items)[0].distance : (double) INFINITY;
		side = nearest[1] < nearest[0];
		if (nearest[side] == (double) INFINITY ||
			nearest[side] > search->best + emogi_up_slack(search) ||
			(search->wants_any && search->best < (double) INFINITY))
			return true;
		if (!settle(search, side) || (++nsettled % POLL == 0 && emogi_job_stopped(search->job)))
			return false;
	}
}

/* Mark all nodes of a side as not needed; false, with the job failed, if out of memory. */
bool
emogi_contraction_begin_back(EmogiUpSearch *search, EmogiUpSide *side)
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
bool
emogi_contraction_request(EmogiUpSearch *search, EmogiUpSide *side, const EmogiUpNode *node,
						  double budget)
{
	double	   *noted = &side->budgets[node - side->nodes];
	const bool	queued = *noted >= 0.0;

	if (budget > *noted)
		*noted = budget;
	if (queued)
		return true;
	if (!emogi_contraction_reserve(search->job, &side->back, 1, sizeof(EmogiUpEntry)))
		return false;
	entry_push(side->back.items, &side->back.count,
			   (EmogiUpEntry) {-(double) node->rank, node->rank - 1});
	return true;
}

/* Follow the needed arcs that lead up to a vertex. */
static bool
follow_back(EmogiUpSearch *search, int s, uint32_t rank)
{
	EmogiUpSide	   *side = &search->sides[s];
	const EmogiArc *arcs = emogi_contraction_arcs(search->made, s);
	const EmogiUpNode *node = emogi_up_node(side, rank);
	const double budget = side->budgets[node - side->nodes];

	side->budgets[node - side->nodes] = -1.0;	/* nothing above requests it again */
	for (uint32_t o = node->offers; o > 0;)
	{
		const EmogiUpOffer offered = ((EmogiUpOffer *) side->offers.items)[o - 1];
		const EmogiUpNode *low = emogi_up_node(side, offered.low);

		o = offered.next;
		if (low->distance + arcs[offered.arc].weight > budget)
			continue;
		if (!emogi_contraction_put(search->corridor, s, offered.low, offered.arc,
								   budget - low->distance) ||
			!emogi_contraction_request(search, side, low, budget - arcs[offered.arc].weight))
			return false;
	}
	return true;
}

/* Follow all requests of a side. */
bool
emogi_contraction_follow_back(EmogiUpSearch *search, int side)
{
	EmogiGrowingArray *back = &search->sides[side].back;

	while (back->count > 0)
		if (!follow_back(search, side, entry_pop(back->items, &back->count).rank))
			return false;
	return true;
}

/* Build the corridor from the two searches; false if the job has stopped or given up. */
static bool
make_corridor(EmogiUpSearch *search)
{
	const double max = search->best + emogi_up_slack(search);
	EmogiUpSide	   *from = &search->sides[0];
	EmogiUpSide	   *to = &search->sides[1];

	search->corridor->slack = emogi_up_slack(search);
	if (!emogi_contraction_begin_back(search, from) || !emogi_contraction_begin_back(search, to))
		return false;
	for (uint64_t i = 0; i < UINT64_C(1) << from->bits; i++)
	{
		const EmogiUpNode *low = &from->nodes[i];
		const EmogiUpNode *high;

		if (low->rank == 0)
			continue;
		high = emogi_up_node(to, low->rank - 1);
		if (high->rank != 0 && low->distance + high->distance <= max &&
			!(emogi_contraction_request(search, from, low, max - high->distance) &&
			  emogi_contraction_request(search, to, high, max - low->distance)))
			return false;
	}
	return emogi_contraction_follow_back(search, 0) && emogi_contraction_follow_back(search, 1) &&
		emogi_contraction_unpack(search->corridor);
}

/* Search, and write the answer. */
static void
run(EmogiUpSearch *search, uint32_t source, uint32_t target, EmogiPathAnswer *answer)
{
	if (!emogi_contraction_climb(search) || !(search->best < (double) INFINITY))
		return;
	if (4.0 * emogi_up_slack(search) > search->made->tolerance)
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
bool
emogi_contraction_enter(EmogiUpSearch *search, int s, uint32_t end)
{
	EmogiUpSide	   *side = &search->sides[s];

	if (!reserve_nodes(search, side, 1) ||
		!emogi_contraction_reserve(search->job, &side->heap, 1, sizeof(EmogiUpEntry)))
		return false;
	*emogi_up_node(side, end) = (EmogiUpNode) {.rank = end + 1};
	side->nnodes = 1;
	entry_push(side->heap.items, &side->heap.count, (EmogiUpEntry) {0.0, end});
	return true;
}

/* Free a search's memory. */
void
emogi_contraction_free_search(EmogiUpSearch *search)
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
uint64_t
emogi_contraction_arcs_examined(const EmogiUpSearch *search)
{
	return search->sides[0].offers.count + search->sides[1].offers.count;
}

/* Write the message of an out-of-memory failure; returns the job's status. */
EmogiStatus
emogi_contraction_end(const EmogiJob *job, uint64_t nmet, EmogiError *error)
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
	EmogiUpSearch search = {.job = &job, .made = made, .error = emogi_contraction_error(graph),
		.best = INFINITY, .reversed = reversed, .corridor = &corridor};
	EmogiStatus status;

	if (source == target)		/* such a path has no edge */
		return emogi_path_search(graph, NULL, source, target, UINT64_MAX, answer, control, error);
	*answer = (EmogiPathAnswer) {.outcome = EMOGI_PATH_NONE};
	error->message[0] = error->detail[0] = '\0';
	emogi_job_phase(&job, EMOGI_PHASE_RUN, 0);
	if (!emogi_job_stopped(&job) && emogi_contraction_enter(&search, 0, ends[0]) &&
		emogi_contraction_enter(&search, 1, ends[1]))
		run(&search, ends[0], ends[1], answer);
	answer->edges_traversed = emogi_contraction_arcs_examined(&search) + corridor.edges.count;
	status = emogi_contraction_end(&job, search.sides[0].nnodes + search.sides[1].nnodes, error);
	emogi_contraction_free_search(&search);
	emogi_contraction_free(&corridor);
	return status;
}

EmogiStatus
emogi_contraction_reaches(const EmogiContraction *made, bool reversed, uint32_t source,
						  uint32_t target, bool *reaches, uint64_t *nscanned,
						  EmogiControl *control, EmogiError *error)
{
	const uint32_t *ranks = emogi_contraction_ranks(made);
	const uint32_t ends[2] = {ranks[reversed ? target : source], ranks[reversed ? source : target]};
	EmogiJob	job = {.control = control};
	EmogiUpSearch search = {.job = &job, .made = made, .best = INFINITY, .wants_any = true};
	EmogiStatus status;

	error->message[0] = error->detail[0] = '\0';
	emogi_job_phase(&job, EMOGI_PHASE_RUN, 0);
	*reaches = source == target ||
		(!emogi_job_stopped(&job) && emogi_contraction_enter(&search, 0, ends[0]) &&
		 emogi_contraction_enter(&search, 1, ends[1]) && emogi_contraction_climb(&search) &&
		 search.best < (double) INFINITY);
	*nscanned = emogi_contraction_arcs_examined(&search);
	status = emogi_contraction_end(&job, search.sides[0].nnodes + search.sides[1].nnodes, error);
	emogi_contraction_free_search(&search);
	return status;
}

