/*
 * communities_order.c: sort nodes by batch or by community, and renumber communities
 * (communities.h). Each thread handles a share of the nodes, or of the sort keys; the order of
 * nodes within a batch does not matter.
 */
#include "communities.h"

#include <string.h>

typedef struct Order
{
	EmogiCommunities *all;
	const EmogiLevel *level;
	uint64_t	salt;
	uint32_t	nbatches;
	uint64_t	count;			/* atomic: open nodes */
	uint64_t	nlisted;		/* atomic: their edges */
} Order;

/* Count the open nodes. */
static void
count_open(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;
	const EmogiLevel *level = order->level;
	const uint8_t *open = order->all->open;
	const uint64_t end = emogi_communities_share(level->nnodes, thread + 1, nthreads);
	uint64_t	count = 0;
	uint64_t	nlisted = 0;

	for (uint64_t i = emogi_communities_share(level->nnodes, thread, nthreads); i < end; i++)
		if (open[i])
		{
			nlisted += level->end[i] - level->first[i];
			count++;
		}
	__atomic_fetch_add(&order->count, count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&order->nlisted, nlisted, __ATOMIC_RELAXED);
}

/* Assign open nodes to batches, and count the batches. */
static void
assign_batches(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;
	EmogiCommunities *all = order->all;
	const uint64_t end = emogi_communities_share(order->level->nnodes, thread + 1, nthreads);
	uint64_t   *counts = all->counts + (uint64_t) thread * order->nbatches;

	memset(counts, 0, order->nbatches * sizeof *counts);
	for (uint64_t i = emogi_communities_share(order->level->nnodes, thread, nthreads); i < end; i++)
		if (all->open[i])
		{
			all->batch[i] = (uint16_t) emogi_communities_batch(order->salt, i, order->nbatches);
			counts[all->batch[i]]++;
		}
}

/* Convert the threads' counts to positions, and set where batches start. */
static void
place_batches(Order *order, int nthreads)
{
	EmogiCommunities *all = order->all;
	uint64_t	at = 0;

	for (uint32_t b = 0; b < order->nbatches; b++)
	{
		all->starts[b] = at;
		for (int t = 0; t < nthreads; t++)
		{
			uint64_t   *count = &all->counts[(uint64_t) t * order->nbatches + b];
			const uint64_t before = at;

			at += *count;
			*count = before;
		}
	}
	all->starts[order->nbatches] = at;
}

/* Write open nodes to their positions. */
static void
write_order(void *arg, int thread, int nthreads)
{
	Order	   *order = arg;
	EmogiCommunities *all = order->all;
	const uint64_t end = emogi_communities_share(order->level->nnodes, thread + 1, nthreads);
	uint64_t   *places = all->counts + (uint64_t) thread * order->nbatches;

	for (uint64_t i = emogi_communities_share(order->level->nnodes, thread, nthreads); i < end; i++)
		if (all->open[i])
			all->order[places[all->batch[i]]++] = (uint32_t) i;
}

uint64_t
emogi_communities_order(EmogiCommunities *all, const EmogiLevel *level, uint64_t salt,
						uint64_t sweep, uint64_t *nlisted)
{
	Order		order = {.all = all, .level = level, .salt = salt};
	const bool	serial = emogi_communities_is_serial(all, emogi_level_is_small(level));

	*nlisted = 0;
	if (!emogi_cpu_run_step(&all->run, count_open, &order, serial))
		return 0;
	order.nbatches = emogi_communities_nbatches(&all->gains, order.count, sweep);
	if (!emogi_cpu_run_step(&all->run, assign_batches, &order, serial))
		return 0;
	place_batches(&order, serial ? 1 : emogi_pool_size(all->run.pool));
	if (!emogi_cpu_run_step(&all->run, write_order, &order, serial))
		return 0;
	*nlisted = order.nlisted;
	return order.count;
}

/* ---- numbers ---- */

typedef struct Numbering
{
	EmogiCommunities *all;
	uint32_t   *partition;
	uint64_t	nnodes;
	uint64_t	ngroups;
} Numbering;

/* Find the first node of each community; each thread handles a range of community numbers. */
static void
find_first(void *arg, int thread, int nthreads)
{
	Numbering  *numbering = arg;
	uint32_t   *first = numbering->all->movers;
	const uint64_t low = emogi_communities_share(numbering->nnodes, thread, nthreads);
	const uint64_t count = emogi_communities_share(numbering->nnodes, thread + 1, nthreads) - low;

	memset(first + low, 0xFF, count * sizeof *first);
	for (uint64_t i = 0; i < numbering->nnodes; i++)
	{
		const uint32_t c = numbering->partition[i];

		if (c - low < count && first[c] == EMOGI_NO_VERTEX)
			first[c] = (uint32_t) i;
	}
}

/* Count the first nodes. */
static void
count_first(void *arg, int thread, int nthreads)
{
	Numbering  *numbering = arg;
	const uint64_t end = emogi_communities_share(numbering->nnodes, thread + 1, nthreads);
	uint64_t	count = 0;

	for (uint64_t i = emogi_communities_share(numbering->nnodes, thread, nthreads); i < end; i++)
		count += numbering->all->movers[numbering->partition[i]] == i;
	numbering->all->counts[thread + 1] = count;
}

/* Number the first nodes in all->chosen. */
static void
number_first(void *arg, int thread, int nthreads)
{
	Numbering  *numbering = arg;
	const uint64_t end = emogi_communities_share(numbering->nnodes, thread + 1, nthreads);
	uint64_t	number = numbering->all->counts[thread];

	for (uint64_t i = emogi_communities_share(numbering->nnodes, thread, nthreads); i < end; i++)
		if (numbering->all->movers[numbering->partition[i]] == i)
			numbering->all->chosen[i] = (uint32_t) number++;
}

/* Number all nodes. */
static void
number_all(void *arg, int thread, int nthreads)
{
	Numbering  *numbering = arg;
	const EmogiCommunities *all = numbering->all;
	const uint64_t end = emogi_communities_share(numbering->nnodes, thread + 1, nthreads);

	for (uint64_t i = emogi_communities_share(numbering->nnodes, thread, nthreads); i < end; i++)
		numbering->partition[i] = all->chosen[all->movers[numbering->partition[i]]];
}

uint64_t
emogi_communities_renumber(EmogiCommunities *all, uint32_t *partition, uint64_t nnodes)
{
	Numbering	numbering = {.all = all, .partition = partition, .nnodes = nnodes};
	const bool	serial = emogi_communities_is_serial(all, nnodes < EMOGI_COMMUNITIES_SMALL_LEVEL);
	const int	nthreads = serial ? 1 : emogi_pool_size(all->run.pool);

	if (!emogi_cpu_run_step(&all->run, find_first, &numbering, serial) ||
		!emogi_cpu_run_step(&all->run, count_first, &numbering, serial))
		return nnodes;
	all->counts[0] = 0;			/* counts within each thread's share, then prefix sums */
	for (int t = 0; t < nthreads; t++)
		all->counts[t + 1] += all->counts[t];
	if (!emogi_cpu_run_step(&all->run, number_first, &numbering, serial) ||
		!emogi_cpu_run_step(&all->run, number_all, &numbering, serial))
		return nnodes;
	return all->counts[nthreads];
}

/* Count the nodes of communities; each thread handles a range of community numbers. */
static void
count_groups(void *arg, int thread, int nthreads)
{
	Numbering  *numbering = arg;
	uint64_t   *starts = numbering->all->starts + 2;
	const uint64_t low = emogi_communities_share(numbering->ngroups, thread, nthreads);
	const uint64_t count = emogi_communities_share(numbering->ngroups, thread + 1, nthreads) -
		low;

	memset(starts + low, 0, count * sizeof *starts);
	for (uint64_t i = 0; i < numbering->nnodes; i++)
		if (numbering->partition[i] - low < count)
			starts[numbering->partition[i]]++;
}

/* Write nodes to their positions; each thread handles a range of community numbers. */
static void
write_groups(void *arg, int thread, int nthreads)
{
	Numbering  *numbering = arg;
	uint64_t   *starts = numbering->all->starts + 1;
	const uint64_t low = emogi_communities_share(numbering->ngroups, thread, nthreads);
	const uint64_t count = emogi_communities_share(numbering->ngroups, thread + 1, nthreads) -
		low;

	for (uint64_t i = 0; i < numbering->nnodes; i++)
		if (numbering->partition[i] - low < count)
			numbering->all->order[starts[numbering->partition[i]]++] = (uint32_t) i;
}

void
emogi_communities_group(EmogiCommunities *all, const uint32_t *partition, uint64_t nnodes,
						uint64_t ngroups)
{
	Numbering	numbering = {.all = all, .partition = (uint32_t *) partition, .nnodes = nnodes,
		.ngroups = ngroups};
	const bool	serial = nnodes < EMOGI_COMMUNITIES_SMALL_LEVEL;
	uint64_t   *starts = all->starts;

	starts[0] = starts[1] = 0;
	if (!emogi_cpu_run_step(&all->run, count_groups, &numbering, serial))
		return;
	for (uint64_t g = 0; g < ngroups; g++)
		starts[g + 2] += starts[g + 1];
	(void) emogi_cpu_run_step(&all->run, write_groups, &numbering, serial);
}
