/*
 * pair_budget.c: how long vertex pairs are searched one by one from both ends, rather than all by
 * one run of an engine, the batch
 *
 * A bidirectional search scans little of a graph, a batch most of it, so a few pairs are found
 * sooner one by one. The cost of a search is unknown in advance. Therefore searches go on until
 * they have cost as much as the batch would, and then the batch answers the rest: together they
 * never cost more than twice the cheaper way (ski rental [1]). They stop sooner if the first pairs
 * indicate that the budget will not suffice, and the budget is reduced for runs that follow one
 * whose searches were in vain.
 *
 * Without weights the first pairs of a large run may only use a part of the budget, and each pair
 * that is found releases its share of the rest: if the first ones are far apart, little is lost.
 *
 * Costs are counted in edges scanned and vertices settled, because list lengths differ.
 *
 * [1] A. R. Karlin, M. S. Manasse, L. Rudolph, D. D. Sleator. Competitive snoopy caching.
 *     Algorithmica 3, 1988.
 */
#include "postgres.h"

#include <math.h>

#include "contract/msbfs.h"

#include "answer/answer.h"
#include "answer/cost.h"
#include "base/fault.h"
#include "base/shared.h"

/* Return the cost of batches by hops from nsources, in single-source searches. */
uint64
emogi_pair_budget_batches(uint64 nsources)
{
	const uint64 nbatches = (nsources + EMOGI_MSBFS_SOURCES - 1) / EMOGI_MSBFS_SOURCES;

	return Min(nsources, nbatches * EMOGI_COST_PAIR_BATCH_SEARCHES);
}

/* Begin the budget of a call's pairs. is_by_hops: the graph has no weights. */
void
emogi_pair_budget_begin(EmogiPairBudget *budget, uint64 nvertices, uint64 nedges, bool is_by_hops)
{
	*budget = (EmogiPairBudget) {.nvertices = nvertices,.nedges = nedges,.is_by_hops = is_by_hops,
								 .same_source = 1,.same_target = 1};
}

/* Get the number of CPU threads that are as fast as the engine. */
static int
engine_threads(void)
{
	return emogi_shared->ncuda > 0 && emogi_engine == EMOGI_ENGINE_AUTO ?
		Max(emogi_cpu_threads, EMOGI_COST_GPU_THREADS) : emogi_cpu_threads;
}

/*
 * Begin a run of npairs pairs, which a batch would find at the cost of nsearches single-source
 * searches.
 */
void
emogi_pair_budget_run(EmogiPairBudget *budget, uint64 npairs, uint64 nsearches)
{
	const double share = (double) engine_threads() * EMOGI_COST_PAIR_EDGE_SHARE *
		(budget->is_by_hops ? EMOGI_COST_PAIR_HOPS_SHARE : 1) * (1 << budget->discount);
	const double nedges = Min((double) budget->nedges * nsearches / share,
							  (double) (PG_UINT64_MAX / 2));

	budget->npairs = npairs;
	budget->ndone = 0;
	budget->withheld = (EmogiPathCost) {0};
	budget->spent = (EmogiPathCost) {0};
	budget->left.nedges = Max((uint64) nedges, EMOGI_COST_PAIR_MIN_EDGES);
	budget->left.nvertices = budget->left.nedges /
		(budget->is_by_hops ? EMOGI_COST_PAIR_HOPS_VERTEX_EDGES : EMOGI_COST_PAIR_VERTEX_EDGES);
	if (emogi_faults.pair_edges > 0)
		budget->left = (EmogiPathCost) {emogi_faults.pair_edges - 1,
										emogi_faults.pair_edges > 1 ? PG_UINT64_MAX / 2 : 0};
	else if (budget->is_by_hops && nsearches > EMOGI_MSBFS_MIN_COST)
		budget->withheld = (EmogiPathCost) {
			budget->left.nedges - budget->left.nedges / EMOGI_COST_PAIR_FIRST_SHARE,
			budget->left.nvertices - budget->left.nvertices / EMOGI_COST_PAIR_FIRST_SHARE
		};
}

/* Subtract from an amount what is withheld until all pairs are done. */
static uint64
released(const EmogiPairBudget *budget, uint64 left, uint64 withheld)
{
	const double undone = (double) (budget->npairs - budget->ndone) / Max(budget->npairs, 1);

	return left - Min(left, (uint64) ((double) withheld * undone));
}

/*
 * Return what the search of the next pair may cost: the first pairs only a part of the budget, so
 * that less of it is spent in vain if the pairs are far apart.
 */
EmogiPathCost
emogi_pair_budget_next(const EmogiPairBudget *budget)
{
	return (EmogiPathCost) {
		released(budget, budget->left.nedges, budget->withheld.nedges),
		released(budget, budget->left.nvertices, budget->withheld.nvertices)
	};
}

/* Allow a group to cost a share of the budget, but at least as much as a local search. */
static void
allow_group(EmogiPairBudget *budget, double share)
{
	const uint64 min_edges = Min(emogi_answer_pair_edges(budget->nedges),
								 Max(budget->nedges / EMOGI_COST_GROUP_LOCAL_SHARE, 1));
	/* a batch by hops is faster */
	const uint64 local_vertices = EMOGI_COST_GROUP_LOCAL_VERTICES / (budget->is_by_hops ? 2 : 1);
	const uint64 min_vertices = Min(local_vertices,
									Max(budget->nvertices / EMOGI_COST_GROUP_LOCAL_SHARE, 1));
	const double all = Min(share, 1.0);

	budget->group_left.nedges = Min(budget->left.nedges,
									Max((uint64) (budget->group_budget.nedges * all), min_edges));
	budget->group_left.nvertices = Min(budget->left.nvertices,
									   Max((uint64) (budget->group_budget.nvertices * all),
										   min_vertices));
}

/*
 * Begin a group of pairs of a run that share the source (same_source = their number) or the target
 * (same_target); otherwise the values are 1. The first pair is a probe, which tells whether the
 * others are likely to cost more than the batch.
 */
void
emogi_pair_budget_group(EmogiPairBudget *budget, uint64 same_source, uint64 same_target)
{
	const uint64 count = Max(same_source, same_target);

	budget->same_source = same_source;
	budget->same_target = same_target;
	budget->group_count = count < EMOGI_COST_GROUP_MIN_PAIRS ? 0 : count;
	budget->group_done = 0;
	if (budget->group_count > 0 && budget->group_count == budget->npairs &&
		emogi_faults.pair_edges == 0)
	{
		budget->left.nedges *= budget->is_by_hops ? EMOGI_COST_GROUP_HOPS_BUDGET :
			EMOGI_COST_GROUP_EDGES_BUDGET;
		budget->left.nvertices *= budget->is_by_hops ? EMOGI_COST_GROUP_HOPS_BUDGET :
			EMOGI_COST_GROUP_VERTICES_BUDGET;
	}
	budget->group_budget = emogi_pair_budget_next(budget);
	allow_group(budget, Max(1.0 / count,
							Min(EMOGI_COST_GROUP_SHARE, EMOGI_COST_GROUP_PROBE / count)));
}

/* Set the budget of the rest of a group from the cost of its first pair. */
static void
estimate_group(EmogiPairBudget *budget, const EmogiPathCost *cost)
{
	const double count = (double) budget->group_count;
	const double one_by_one = count *
		Max((double) cost->nedges / Max(budget->group_budget.nedges, 1),
			(double) cost->nvertices / Max(budget->group_budget.nvertices, 1));
	const double saving = budget->is_by_hops ? EMOGI_COST_GROUP_HOPS_SAVING :
		EMOGI_COST_GROUP_SAVING;
	const double expected = one_by_one * Min(saving / sqrt(count), 1.0);

	allow_group(budget, one_by_one > 1.0 && expected > EMOGI_COST_GROUP_MAX ? 0.0 :
				Max(EMOGI_COST_GROUP_SHARE, EMOGI_COST_GROUP_SLACK * expected));
}

/* Is the remaining budget too small for the remaining pairs, by the cost of those before? */
bool
emogi_pair_budget_is_hopeless(const EmogiPairBudget *budget)
{
	const double rest = (double) (budget->npairs - budget->ndone);
	const double slack = budget->is_by_hops ? EMOGI_COST_PAIR_HOPS_SLACK : EMOGI_COST_PAIR_SLACK;

	if (emogi_faults.pair_edges > 0)
		return budget->left.nedges == 0;
	if (budget->left.nedges == 0 ||
		budget->left.nvertices <
		(budget->group_count > 0 ? EMOGI_COST_GROUP_VERTICES : EMOGI_COST_PAIR_VERTICES) *
		rest)
		return true;
	if (budget->group_count > 0)
		return budget->group_left.nedges == 0 || budget->group_left.nvertices == 0;
	return budget->ndone >= EMOGI_COST_PAIR_TRIALS &&
		(budget->spent.nedges * rest > slack * budget->left.nedges * budget->ndone ||
		 budget->spent.nvertices * rest > slack * budget->left.nvertices * budget->ndone);
}

/* Subtract the cost of a search from the budget. */
static void
subtract(EmogiPairBudget *budget, const EmogiPathCost *cost)
{
	budget->spent.nedges += cost->nedges;
	budget->spent.nvertices += cost->nvertices;
	budget->left.nedges -= Min(budget->left.nedges, cost->nedges);
	budget->left.nvertices -= Min(budget->left.nvertices, cost->nvertices);
}

/* Charge the budget of a run for the search of one pair. */
void
emogi_pair_budget_charge(EmogiPairBudget *budget, EmogiPathCost cost)
{
	cost.nvertices += EMOGI_COST_PAIR_VERTICES;
	subtract(budget, &cost);
}

/* Charge the budgets of a run and its group for a pair of the group. */
void
emogi_pair_budget_charge_group(EmogiPairBudget *budget, EmogiPathCost cost)
{
	cost.nvertices += EMOGI_COST_GROUP_VERTICES;
	subtract(budget, &cost);
	budget->group_left.nedges -= Min(budget->group_left.nedges, cost.nedges);
	budget->group_left.nvertices -= Min(budget->group_left.nvertices, cost.nvertices);
	if (budget->group_done++ == 0)
		estimate_group(budget, &cost);
	if (budget->same_source > 1)
		budget->same_source--;
	if (budget->same_target > 1)
		budget->same_target--;
}

/* End a run: adapt the budget of the next one to whether the batch was needed. */
void
emogi_pair_budget_end_run(EmogiPairBudget *budget, bool ran_batch)
{
	if (ran_batch)
		budget->discount = Min(budget->discount + 2, EMOGI_COST_PAIR_MAX_DISCOUNT);
	else if (budget->discount > 0)
		budget->discount--;
}
