/*
 * power_iteration.c: verify HITS, eigenvector centrality and Katz centrality.
 *
 * The sum over each adjacency list is recomputed. The values before the last iteration are unknown,
 * but the run reports the change of that iteration. The sum over a list is therefore known up to
 * rounding and up to this change times the weight of the list, and, if the values are normalized,
 * up to a common factor. Each vertex restricts this factor to an interval, and the intersection of
 * all intervals must not be empty.
 *
 * EIGENVECTOR  x = (I + s A^T) x' / length, for the previous x' and a scale s (power_iteration.h).
 * HITS         hubs = A * authorities; authorities = A^T * previous hubs.
 * KATZ         beta + alpha A^T x exceeds x by what the next iteration would add: at least 0,
 *              and at most alpha * (weight of the list) * (change of the last iteration). If
 *              normalized, each vertex restricts beta to an interval.
 *
 * In addition, lengths and sums must be 1, no value may be negative, and the run must have stopped
 * because it converged or reached the maximum number of iterations.
 */
#include "check.h"

#include "contract/power_iteration.h"
#include "contract/semirings.h"

#include <math.h>

#define ROUNDING 1e-9			/* relative */

/* State of a check of the factor between sums over adjacency lists and values. */
typedef struct Power
{
	EmogiCheck *check;
	const EmogiAdjacency *lists;
	const double *from;			/* [nvertices], values that are summed up */
	const double *value;		/* [nvertices], values of the result */
	double		own;			/* coefficient of the vertex's own value */
	double		change;			/* uncertainty of `from`: for each vertex, or L1 */
	bool		is_l1;
	double		low;			/* atomic: lower bound of the factor */
	double		high;			/* atomic: upper bound of the factor */
	double		total;			/* atomic: sum of the values or of their squares */
} Power;

/* Sum over an adjacency list. */
typedef struct Sum
{
	double		sum;
	double		weight;			/* of all edges */
	double		heaviest;		/* maximum over the neighbors, parallel edges added */
} Sum;

/* Raise or lower a shared bound. */
static void
move_bound(double *bound, double to, bool up)
{
	double		before;

	__atomic_load(bound, &before, __ATOMIC_RELAXED);
	while ((up ? to > before : to < before) &&
		   !__atomic_compare_exchange(bound, &before, &to, true, __ATOMIC_RELAXED,
									  __ATOMIC_RELAXED))
		;
}

/* Sum up the adjacency list of a vertex. */
static Sum
add_up(const EmogiCheck *check, const EmogiAdjacency *lists, const double *from, uint64_t v)
{
	const EmogiWeightType type = check->query->is_weighted ? check->graph->weight_type
		: EMOGI_WEIGHT_NONE;
	Sum			sum = {0};
	double		together = 0.0;

	for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1]; i++)
	{
		const double weight = emogi_weight(lists->weights, type, i);

		sum.sum += from[lists->targets[i]] * weight;
		sum.weight += weight;
		together = (i > lists->offsets[v] && lists->targets[i] == lists->targets[i - 1] ?
					together : 0.0) + weight;
		sum.heaviest = together > sum.heaviest ? together : sum.heaviest;
	}
	return sum;
}

/* Restrict the factor by a range of vertices. */
static void
bound_factor(void *arg, uint64_t first, uint64_t end)
{
	Power	   *power = arg;
	double		total = 0.0;

	for (uint64_t v = first; v < end; v++)
	{
		const Sum	list = add_up(power->check, power->lists, power->from, v);
		const double sum = list.sum + power->own * power->value[v];
		const double spread = power->change *
			(power->is_l1 ? list.heaviest : list.weight + power->own) + ROUNDING * sum + 1e-300;
		const double value = power->value[v];

		if (!(value >= 0.0))
			emogi_check_wrong(power->check, "vertex %llu has %.17g", (unsigned long long) v, value);
		else if (value > 0.0)
		{
			move_bound(&power->low, (sum - spread) / value, true);
			move_bound(&power->high, (sum + spread) / value, false);
		}
		else if (sum > spread)
			emogi_check_wrong(power->check, "vertex %llu has 0, though its list adds up to %.17g",
							  (unsigned long long) v, sum);
		total += power->is_l1 ? value : value * value;
	}
	emogi_add_double(&power->total, total);
}

/*
 * Check that the values are the sums over the adjacency lists divided by a common factor.
 * may_vanish: all values may be 0.
 */
static bool
check_power(Power power, bool may_vanish)
{
	power.low = 0.0;
	power.high = (double) INFINITY;
	if (!emogi_check_parts(power.check, bound_factor, &power, power.check->graph->nvertices))
		return false;
	if (!(fabs(power.total - 1.0) <= ROUNDING) && !(may_vanish && power.total == 0.0))
		return emogi_check_wrong(power.check, "all together are %.17g", power.total);
	if (!(power.low <= power.high))
		return emogi_check_wrong(power.check,
								 "sums over lists are at least %.17g times the value of a "
								 "vertex, at most %.17g times that of another",
								 power.low, power.high);
	return true;
}

bool
emogi_verify_eigenvector(EmogiCheck *check)
{
	const double *value = check->result->columns[0].float64;
	double		scale;

	if (check->graph->nvertices == 0)
		return true;
	scale = emogi_eigenvector_scale(check->graph, check->query->is_weighted, &(EmogiControl) {0});
	return emogi_check_stop(check) &&
		check_power((Power) {.check = check, .lists = &check->graph->forward, .from = value,
			.value = value, .own = 1.0 / scale, .change = check->result->change}, false);
}

bool
emogi_verify_hits(EmogiCheck *check)
{
	const double *hub = check->result->columns[0].float64;
	const double *authority = check->result->columns[1].float64;

	if (check->graph->nvertices == 0)
		return true;
	return emogi_check_stop(check) &&
		check_power((Power) {.check = check, .lists = &check->graph->backward, .from = authority,
			.value = hub, .is_l1 = true}, true) &&
		check_power((Power) {.check = check, .lists = &check->graph->forward, .from = hub,
			.value = authority, .is_l1 = true,
			.change = check->result->change}, true);
}

/* State of a check of Katz centralities. */
typedef struct Katz
{
	EmogiCheck *check;
	double		sign;			/* of beta */
	double		change;			/* of the last iteration, in units of beta */
	double		low;			/* atomic: lower bound of |beta| in units of the centralities */
	double		high;			/* atomic: upper bound */
	double		squares;		/* atomic */
} Katz;

/*
 * Restrict |beta| by a range of vertices: a centrality minus its sum over the list is beta, except
 * for what the next iteration would add.
 */
static void
bound_beta(void *arg, uint64_t first, uint64_t end)
{
	Katz	   *katz = arg;
	const double alpha = katz->check->query->alpha;
	const double *centrality = katz->check->result->columns[0].float64;
	double		squares = 0.0;

	for (uint64_t v = first; v < end; v++)
	{
		const Sum	list = add_up(katz->check, &katz->check->graph->forward, centrality, v);
		const double value = katz->sign * centrality[v];
		const double given = katz->sign * alpha * list.sum;
		const double remaining = alpha * list.weight * katz->change;
		const double rounding = ROUNDING * (fabs(given) + fabs(value));

		if (!(value >= 0.0))
			emogi_check_wrong(katz->check, "vertex %llu has %.17g", (unsigned long long) v,
							  centrality[v]);
		move_bound(&katz->low, value - given - rounding, true);
		if (remaining < 1.0)
			move_bound(&katz->high, (value - given + rounding) / (1.0 - remaining), false);
		squares += value * value;
	}
	emogi_add_double(&katz->squares, squares);
}

/* Check that the centralities are 0 because beta is 0. */
static void
check_zeros(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;

	for (uint64_t v = first; v < end; v++)
		if (check->result->columns[0].float64[v] != 0.0)
			emogi_check_wrong(check, "vertex %llu has %.17g without beta", (unsigned long long) v,
							  check->result->columns[0].float64[v]);
}

bool
emogi_verify_katz(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	const EmogiQuery *query = check->query;
	Katz		katz = {.check = check, .sign = query->beta < 0.0 ? -1.0 : 1.0,
		.high = (double) INFINITY};

	if (n == 0)
		return true;
	if (!emogi_check_stop(check))
		return false;
	if (query->tolerance > 0.0 && !(check->result->change < query->tolerance))
		return emogi_check_wrong(check, "an answer that has not converged, with a change of %.17g",
								 check->result->change);
	if (query->beta == 0.0)
		return emogi_check_parts(check, check_zeros, check, n);
	katz.change = check->result->change / fabs(query->beta);
	if (!emogi_check_parts(check, bound_beta, &katz, n))
		return false;
	if (query->normalized && !(fabs(katz.squares - 1.0) <= ROUNDING))
		return emogi_check_wrong(check, "all squares together are %.17g", katz.squares);
	if (!(katz.low <= katz.high) ||
		(!query->normalized && !(katz.low <= fabs(query->beta) && fabs(query->beta) <= katz.high)))
		return emogi_check_wrong(check,
								 "what lists do not give is at least %.17g of one vertex, at "
								 "most %.17g of another", katz.low, katz.high);
	return true;
}
