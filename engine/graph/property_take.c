/*
 * property_take.c: give each row of a graph's edges an entry of the lists.
 *
 * Lists are sorted by target, then by weight, so that the entries of parallel edges with equal
 * weight are one run. A row takes a free entry of the run by setting its bit; any process may do so
 * at any time. The searches of several rows run side by side, so that they wait for memory
 * together.
 */
#include "contract/property_load.h"

#include "graph/weights.h"

/* Runs that are searched from their first entry; others from one that the row determines. */
#define SHORT_RUN 64

#define SHORT_LIST 64			/* entries of a list whose targets are counted */
#define LINE (EMOGI_LINE_BYTES / sizeof(uint32_t))	/* targets in a cache line */

/* Compare an entry with a target and a weight, in the order of lists. */
static int
compare_entry(const EmogiTakenEntries *entries, uint64_t entry, uint32_t target, double weight)
{
	const uint32_t other = entries->lists->targets[entry];
	double		of_entry;

	if (other != target)
		return other < target ? -1 : 1;
	if (entries->weight_type == EMOGI_WEIGHT_NONE)
		return 0;
	emogi_weights_load(&of_entry, entries->lists->weights, entries->weight_type, entry, 1);
	return of_entry < weight ? -1 : of_entry > weight;
}

/* Find the first entry of [first, end) that is not before a target and a weight, or behind them. */
static uint64_t
find_bound(const EmogiTakenEntries *entries, uint64_t first, uint64_t end, uint32_t target,
		   double weight, bool behind)
{
	while (first < end)
	{
		const uint64_t middle = first + (end - first) / 2;
		const int	order = compare_entry(entries, middle, target, weight);

		if (order < 0 || (behind && order == 0))
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

/*
 * Find the first entry of the list [first, end) that is not before a target and a weight. Counting
 * targets in a short list takes less time than branches that cannot be predicted.
 */
static uint64_t
find_first(const EmogiTakenEntries *entries, uint64_t first, uint64_t end, uint32_t target,
		   double weight)
{
	const uint32_t *targets = entries->lists->targets + first;
	const uint64_t count = end - first;
	uint32_t	nbefore = 0;

	if (count > SHORT_LIST)
		return find_bound(entries, first, end, target, weight, false);
	for (uint32_t i = 0; i < (uint32_t) count; i++)
		nbefore += targets[i] < target;
	first += nbefore;
	return entries->weight_type == EMOGI_WEIGHT_NONE ? first :
		find_bound(entries, first, end, target, weight, false);
}

/* Take the first free entry of [first, end); end if there is none. */
static uint64_t
take_first(uint64_t *taken, uint64_t first, uint64_t end)
{
	while (first < end)
	{
		const uint64_t word = first / 64;
		const uint64_t free = ~__atomic_load_n(&taken[word], __ATOMIC_RELAXED) &
			(UINT64_MAX << (first % 64));
		const uint64_t entry = word * 64 + (free != 0 ? (uint64_t) __builtin_ctzll(free) : 64);

		if (entry >= end)
			return end;
		if (free == 0)
			first = entry;
		else if ((__atomic_fetch_or(&taken[word], UINT64_C(1) << (entry % 64), __ATOMIC_RELAXED) >>
				  (entry % 64) & 1) == 0)
			return entry;
	}
	return end;
}

/*
 * Take a free entry of the run [first, end); end if there is none. In a long run, rows begin at
 * different entries, so that not all of them search those that are taken.
 */
static uint64_t
take_of_run(uint64_t *taken, uint64_t first, uint64_t end)
{
	static __thread uint64_t nrows;
	uint64_t	start = first;
	uint64_t	entry;

	if (end - first > SHORT_RUN)
		start += nrows++ * UINT64_C(0x9E3779B97F4A7C15) % (end - first);
	entry = take_first(taken, start, end);
	if (entry == end && start > first)
	{
		entry = take_first(taken, first, start);
		return entry == start ? end : entry;
	}
	return entry;
}

bool
emogi_property_take(const EmogiTakenEntries *entries, uint32_t count, const uint32_t *from,
					const uint32_t *to, const double *weights, uint64_t *taken)
{
	const EmogiAdjacency *lists = entries->lists;

	for (uint32_t i = 0; i < count; i++)
		__builtin_prefetch(&lists->offsets[from[i]]);
	for (uint32_t i = 0; i < count; i++)
	{
		const uint32_t *first = lists->targets + lists->offsets[from[i]];
		const uint32_t *end = lists->targets + lists->offsets[from[i] + 1];

		__builtin_prefetch(first);
		if (end - first <= SHORT_LIST)
			for (const uint32_t *line = first + LINE; line < end; line += LINE)
				__builtin_prefetch(line);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		const uint64_t end = lists->offsets[from[i] + 1];
		const double weight = entries->weight_type != EMOGI_WEIGHT_NONE ? weights[i] : 0;

		taken[i] = find_first(entries, lists->offsets[from[i]], end, to[i], weight);
		__builtin_prefetch(&entries->taken[taken[i] / 64], 1);
	}
	for (uint32_t i = 0; i < count; i++)
	{
		const uint64_t end = lists->offsets[from[i] + 1];
		const double weight = entries->weight_type != EMOGI_WEIGHT_NONE ? weights[i] : 0;
		const uint64_t first = taken[i];
		uint64_t	after = first;

		if (first < end && compare_entry(entries, first, to[i], weight) == 0)
			after = first + 1 == end || compare_entry(entries, first + 1, to[i], weight) != 0 ?
				first + 1 : find_bound(entries, first + 1, end, to[i], weight, true);
		taken[i] = take_of_run(entries->taken, first, after);
		if (taken[i] == after)
			return false;
	}
	return true;
}
