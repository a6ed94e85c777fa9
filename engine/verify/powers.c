/*
 * powers.c: are hubs and authorities, eigenvector centralities and Katz centralities right?
 *
 * Lists are added up once more, plainly. Of what an iteration was made of, the run tells how far it is from the answer: its change. So the sums
 * of a list are known up to that change times the weight of the list, beside rounding, and up to a factor where the whole is brought to a length
 * or a sum: each vertex leaves an interval for this factor, and they have to have one in common.
 *
 * EIGENVECTOR centralities are (I + s A^T) x of the x before, divided by its length, s a scale (powers.h). HITS: hubs are A times the authorities; these are A^T
 * times the hubs before. KATZ: beta + alpha A^T x exceeds x by what the next iteration would add, which is nowhere below 0 and no more than alpha
 * times the weight of the list times what the last has added; of normalized ones the vertices leave an interval for beta.
 *
 * Beside that: lengths and sums are 1, nothing is below 0, and the run stopped for a reason.
 */
#include "check.h"

#include "contract/powers.h"
#include "contract/semirings.h"

#include <math.h>

#define ROUNDING 1e-9			/* relative */

/* A check of the factor between sums over lists and values. */
typedef struct Power
{
	EmogiCheck *check;
	const EmogiAdjacency *lists;
	const double *from;			/* [nvertices], what is added up */
	const double *value;		/* [nvertices], what it became */
	double		own;			/* how often a value itself is added */
	double		change;			/* from is known to so much: of each vertex, or L1 */
	bool		is_l1;
	double		low;			/* atomic: the factor is at least this */
	double		high;			/* atomic: and at most this */
	double		total;			/* atomic: of values, or of their squares */
} Power;

/* What a list adds up to. */
typedef struct Sum
{
	double		sum;
	double		weight;			/* of all entries */
	double		heaviest;		/* of the entries of one vertex, together */
} Sum;

/* Raise a bound that other threads raise, or lower it. */
static void
move_bound(double *bound, double to, bool up)
{
	double		before;

	__atomic_load(bound, &before, __ATOMIC_RELAXED);
	while ((up ? to > before : to < before) &&
		   !__atomic_compare_exchange(bound, &before, &to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* Add up the list of a vertex. */
static Sum
add_up(const EmogiCheck *check, const EmogiAdjacency *lists, const double *from, uint64_t v)
{
	const EmogiWeightType type = check->query->is_weighted ? check->graph->weight_type : EMOGI_WEIGHT_NONE;
	Sum			sum = {0};
	double		together = 0.0;

	for (uint64_t i = lists->offsets[v]; i < lists->offsets[v + 1]; i++)
	{
		const double weight = emogi_weight(lists->weights, type, i);

		sum.sum += from[lists->targets[i]] * weight;
		sum.weight += weight;
		together = (i > lists->offsets[v] && lists->targets[i] == lists->targets[i - 1] ? together : 0.0) + weight;
		sum.heaviest = together > sum.heaviest ? together : sum.heaviest;
	}
	return sum;
}

/* Find which factors the vertices leave. */
static void
bound_factor(void *arg, uint64_t first, uint64_t end)
{
	Power	   *power = arg;
	double		total = 0.0;

	for (uint64_t v = first; v < end; v++)
	{
		const Sum	list = add_up(power->check, power->lists, power->from, v);
		const double sum = list.sum + power->own * power->value[v];
		const double spread = power->change * (power->is_l1 ? list.heaviest : list.weight + power->own) + ROUNDING * sum + 1e-300;
		const double value = power->value[v];

		if (!(value >= 0.0))
			emogi_check_wrong(power->check, "vertex %llu has %.17g", (unsigned long long) v, value);
		else if (value > 0.0)
		{
			move_bound(&power->low, (sum - spread) / value, true);
			move_bound(&power->high, (sum + spread) / value, false);
		}
		else if (sum > spread)
			emogi_check_wrong(power->check, "vertex %llu has 0, though its list adds up to %.17g", (unsigned long long) v, sum);
		total += power->is_l1 ? value : value * value;
	}
	emogi_add_double(&power->total, total);
}

/* Check that values are sums over lists, divided by a number. may_vanish: they may all be 0. */
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
		return emogi_check_wrong(power.check, "sums over lists are at least %.17g times the value of a vertex, at most %.17g times that of another",
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
	return emogi_check_stop(check) && check_power((Power) {.check = check, .lists = &check->graph->forward, .from = value, .value = value, .own = 1.0 / scale,
		.change = check->result->change}, false);
}

bool
emogi_verify_hits(EmogiCheck *check)
{
	const double *hub = check->result->columns[0].float64;
	const double *authority = check->result->columns[1].float64;

	if (check->graph->nvertices == 0)
		return true;
	return emogi_check_stop(check) &&
		check_power((Power) {.check = check, .lists = &check->graph->backward, .from = authority, .value = hub, .is_l1 = true}, true) &&
		check_power((Power) {.check = check, .lists = &check->graph->forward, .from = hub, .value = authority, .is_l1 = true,
			.change = check->result->change}, true);
}

/* A check of centralities. */
typedef struct Katz
{
	EmogiCheck *check;
	double		sign;			/* of beta */
	double		change;			/* of the last iteration, in parts of beta */
	double		low;			/* atomic: the size of beta, in the measure of the centralities, is at least this */
	double		high;			/* atomic: and at most this */
	double		squares;		/* atomic */
} Katz;

/* Find which sizes of beta the vertices leave: what one has that its list does not give is beta, but for what the next iteration would add. */
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
		const double lacks = alpha * list.weight * katz->change;
		const double rounding = ROUNDING * (fabs(given) + fabs(value));

		if (!(value >= 0.0))
			emogi_check_wrong(katz->check, "vertex %llu has %.17g", (unsigned long long) v, centrality[v]);
		move_bound(&katz->low, value - given - rounding, true);
		if (lacks < 1.0)
			move_bound(&katz->high, (value - given + rounding) / (1.0 - lacks), false);
		squares += value * value;
	}
	emogi_add_double(&katz->squares, squares);
}

/* Check centralities where beta is 0. */
static void
check_zeros(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;

	for (uint64_t v = first; v < end; v++)
		if (check->result->columns[0].float64[v] != 0.0)
			emogi_check_wrong(check, "vertex %llu has %.17g without beta", (unsigned long long) v, check->result->columns[0].float64[v]);
}

bool
emogi_verify_katz(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	const EmogiQuery *query = check->query;
	Katz		katz = {.check = check, .sign = query->beta < 0.0 ? -1.0 : 1.0, .high = (double) INFINITY};

	if (n == 0)
		return true;
	if (!emogi_check_stop(check))
		return false;
	if (query->tolerance > 0.0 && !(check->result->change < query->tolerance))
		return emogi_check_wrong(check, "an answer that has not converged, with a change of %.17g", check->result->change);
	if (query->beta == 0.0)
		return emogi_check_parts(check, check_zeros, check, n);
	katz.change = check->result->change / fabs(query->beta);
	if (!emogi_check_parts(check, bound_beta, &katz, n))
		return false;
	if (query->normalized && !(fabs(katz.squares - 1.0) <= ROUNDING))
		return emogi_check_wrong(check, "all squares together are %.17g", katz.squares);
	if (!(katz.low <= katz.high) || (!query->normalized && !(katz.low <= fabs(query->beta) && fabs(query->beta) <= katz.high)))
		return emogi_check_wrong(check, "what lists do not give is at least %.17g of one vertex, at most %.17g of another", katz.low, katz.high);
	return true;
}
