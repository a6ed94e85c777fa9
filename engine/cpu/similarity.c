/*
 * similarity.c: how alike the neighbours of vertices are, by the threads of a pool.
 *
 * Fills vertex2 and similarity, see the row. Lists are ascending, so a set is a list without its repeats. For given pairs each list of a pair
 * is walked along, or, where one is much shorter, looked up in the other. Without pairs the vertices that share a neighbour with v are
 * counted two steps away, over the lists and back over their transpose: what is not counted shares none. The best of them are kept in a
 * heap, in the place where they will stand.
 */
#include "algorithms.h"
#include "run.h"

#include <math.h>

#define PAIRS_AT_ONCE 64
#define VERTICES_AT_ONCE 16
#define MUCH_SHORTER 16			/* times: then each of the one is looked up in the other */

typedef struct Similarities
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	const EmogiQuery *query;
	uint32_t   *size;			/* [nvertices]: of the set of a vertex, plus 1; 0 = not known yet. Atomic */
	uint32_t   *counts;			/* [nthreads][nvertices]: of shared neighbours; 0 between vertices */
	uint32_t   *touched;		/* [nthreads][nvertices]: whose count is not 0 */
} Similarities;

/* ---- sets ---- */

/* Get the size of the set of a vertex. */
static uint32_t
size_of(Similarities *all, uint32_t v)
{
	const EmogiAdjacency *lists = &all->graph->forward;
	uint32_t	size = __atomic_load_n(&all->size[v], __ATOMIC_RELAXED);

	if (size > 0)
		return size - 1;
	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		size += e == lists->offsets[v] || lists->targets[e] != lists->targets[e - 1];
	__atomic_store_n(&all->size[v], size + 1, __ATOMIC_RELAXED);
	return size;
}

/* Get the similarity of two sets that share so much. */
static double
similarity_of(EmogiMeasure measure, uint32_t a, uint32_t b, uint32_t nshared)
{
	if (nshared == 0)
		return 0.0;
	switch (measure)
	{
		case EMOGI_JACCARD:
			return nshared / ((double) a + (double) b - (double) nshared);
		case EMOGI_OVERLAP:
			return nshared / (double) (a < b ? a : b);
		case EMOGI_COSINE:
			break;
	}
	return nshared / sqrt((double) a * (double) b);
}

/* ---- given pairs ---- */

/* Count what two lists share, walking along both. */
static uint32_t
merge(const uint32_t *a, const uint32_t *a_end, const uint32_t *b, const uint32_t *b_end)
{
	uint32_t	before = EMOGI_NO_VERTEX;
	uint32_t	nshared = 0;

	while (a < a_end && b < b_end)
	{
		const uint32_t x = *a;
		const uint32_t y = *b;

		nshared += x == y && x != before;
		before = x == y ? x : before;
		a += x <= y;
		b += y <= x;
	}
	return nshared;
}

/* Count what two lists share, looking each of the shorter up in what is left of the longer. */
static uint32_t
look_up(const uint32_t *a, const uint32_t *a_end, const uint32_t *b, const uint32_t *b_end)
{
	uint32_t	before = EMOGI_NO_VERTEX;
	uint32_t	nshared = 0;

	for (; a < a_end && b < b_end; a++)
	{
		uint64_t	left = (uint64_t) (b_end - b);

		if (*a == before)
			continue;
		before = *a;
		while (left > 0)
		{
			const uint64_t half = left / 2;

			if (b[half] < before)
			{
				b += half + 1;
				left -= half + 1;
			}
			else
				left = half;
		}
		nshared += b < b_end && *b == before;
	}
	return nshared;
}

/* Count what the sets of two vertices share. */
static uint32_t
count_shared(const EmogiAdjacency *lists, uint32_t v, uint32_t w)
{
	const uint32_t *a = lists->targets + lists->offsets[v];
	const uint32_t *a_end = lists->targets + lists->offsets[v + 1];
	const uint32_t *b = lists->targets + lists->offsets[w];
	const uint32_t *b_end = lists->targets + lists->offsets[w + 1];

	if ((a_end - a) / MUCH_SHORTER > b_end - b)
		return look_up(b, b_end, a, a_end);
	if ((b_end - b) / MUCH_SHORTER > a_end - a)
		return look_up(a, a_end, b, b_end);
	return merge(a, a_end, b, b_end);
}

/* Answer for the given pairs; a similarity below the cutoff has no row. */
static void
answer_pairs(void *arg, int thread, int nthreads)
{
	Similarities *all = arg;
	const EmogiQuery *query = all->query;
	const EmogiArray *columns = all->run.result->columns;
	uint64_t	nlooked = 0;
	uint64_t	i;

	while (!emogi_job_stopped(&all->run.job) && (i = emogi_job_take(&all->run.next, PAIRS_AT_ONCE)) < query->npairs)
	{
		const uint64_t first = i;
		const uint64_t end = emogi_run_chunk_end(i, PAIRS_AT_ONCE, query->npairs);

		for (; i < end && !emogi_job_stopped(&all->run.job); i++)
		{
			const uint32_t v = query->pairs[2 * i];
			const uint32_t w = query->pairs[2 * i + 1];
			const uint32_t nshared = count_shared(&all->graph->forward, v, w);
			const double similarity = similarity_of(query->measure, size_of(all, v), size_of(all, w), nshared);

			columns[0].vertex[i] = similarity >= query->cutoff ? w : EMOGI_NO_VERTEX;
			columns[1].float64[i] = similarity;
			nlooked += size_of(all, v) + size_of(all, w);
		}
		emogi_job_done(&all->run.job, i - first);
	}
	__atomic_fetch_add(&all->run.result->edges_traversed, nlooked, __ATOMIC_RELAXED);
}

/* ---- the most alike of each vertex ---- */

/* The vertices most like one, a heap whose root is the worst; then in order, best first. */
typedef struct Best
{
	uint32_t   *vertex;
	double	   *similarity;
	uint64_t	count;
	uint64_t	most;
} Best;

/* Say whether a vertex comes before another. */
static inline bool
comes_before(double similarity, uint32_t v, double other_similarity, uint32_t other)
{
	return similarity > other_similarity || (similarity == other_similarity && v < other);
}

/* Let what is to stand at place i sink to where it belongs. */
static void
sink(Best *best, uint64_t i, uint32_t v, double similarity)
{
	for (uint64_t child = 2 * i + 1; child < best->count; child = 2 * i + 1)
	{
		if (child + 1 < best->count &&
			comes_before(best->similarity[child], best->vertex[child], best->similarity[child + 1], best->vertex[child + 1]))
			child++;
		if (!comes_before(similarity, v, best->similarity[child], best->vertex[child]))
			break;
		best->vertex[i] = best->vertex[child];
		best->similarity[i] = best->similarity[child];
		i = child;
	}
	best->vertex[i] = v;
	best->similarity[i] = similarity;
}

/* Add a vertex if it is among the best so far. */
static void
offer(Best *best, uint32_t v, double similarity)
{
	uint64_t	i = best->count;

	if (i == best->most)
	{
		if (comes_before(similarity, v, best->similarity[0], best->vertex[0]))
			sink(best, 0, v, similarity);
		return;
	}
	best->count++;
	for (; i > 0; i = (i - 1) / 2)
	{
		const uint64_t parent = (i - 1) / 2;

		if (!comes_before(best->similarity[parent], best->vertex[parent], similarity, v))
			break;
		best->vertex[i] = best->vertex[parent];
		best->similarity[i] = best->similarity[parent];
	}
	best->vertex[i] = v;
	best->similarity[i] = similarity;
}

/* Put the best in order, best first, and nothing behind them. */
static void
put_in_order(Best *best)
{
	const uint64_t count = best->count;

	while (best->count > 1)
	{
		const uint32_t v = best->vertex[--best->count];
		const double similarity = best->similarity[best->count];

		best->vertex[best->count] = best->vertex[0];
		best->similarity[best->count] = best->similarity[0];
		sink(best, 0, v, similarity);
	}
	for (uint64_t i = count; i < best->most; i++)
	{
		best->vertex[i] = EMOGI_NO_VERTEX;
		best->similarity[i] = 0.0;
	}
}

/* Count for each other vertex what its set shares with that of v. Gets how many share something; false in *whole when canceled. */
static uint64_t
count_all(Similarities *all, uint32_t v, uint32_t *counts, uint32_t *touched, uint64_t *nlooked, bool *whole)
{
	const EmogiAdjacency *lists = &all->graph->forward;
	const EmogiAdjacency *back = &all->graph->backward;
	uint64_t	ntouched = 0;
	uint64_t	nlately = 0;

	*whole = true;
	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t shared = lists->targets[e];
		const uint64_t first = back->offsets[shared];
		const uint64_t end = back->offsets[shared + 1];

		if (e > lists->offsets[v] && shared == lists->targets[e - 1])
			continue;
		nlately += end - first;
		if (nlately > EMOGI_RUN_POLL)
		{
			*nlooked += nlately;
			nlately = 0;
			if (emogi_job_stopped(&all->run.job))
			{
				*whole = false;
				return ntouched;
			}
		}
		for (uint64_t b = first; b < end; b++)
		{
			const uint32_t w = back->targets[b];

			if (w == v || (b > first && w == back->targets[b - 1]))
				continue;
			if (counts[w]++ == 0)
				touched[ntouched++] = w;
		}
	}
	*nlooked += nlately;
	return ntouched;
}

/* Find the vertices most like v. */
static void
answer_vertex(Similarities *all, uint32_t v, uint32_t *counts, uint32_t *touched, uint64_t *nlooked)
{
	const EmogiQuery *query = all->query;
	const uint64_t most = (uint64_t) query->top_k;
	Best		best = {all->run.result->columns[0].vertex + v * most, all->run.result->columns[1].float64 + v * most, 0, most};
	bool		whole;
	const uint64_t ntouched = count_all(all, v, counts, touched, nlooked, &whole);
	const uint32_t size = size_of(all, v);

	for (uint64_t i = 0; i < ntouched; i++)
	{
		const uint32_t w = touched[i];
		const double similarity = similarity_of(query->measure, size, size_of(all, w), counts[w]);

		counts[w] = 0;
		if (whole && similarity >= query->cutoff)
			offer(&best, w, similarity);
	}
	put_in_order(&best);
}

/* Answer for all vertices. */
static void
answer_all(void *arg, int thread, int nthreads)
{
	Similarities *all = arg;
	const uint64_t n = all->graph->nvertices;
	uint32_t   *counts = all->counts + (uint64_t) thread * n;
	uint32_t   *touched = all->touched + (uint64_t) thread * n;
	uint64_t	nlooked = 0;
	uint64_t	v;

	while (!emogi_job_stopped(&all->run.job) && (v = emogi_job_take(&all->run.next, VERTICES_AT_ONCE)) < n)
	{
		const uint64_t first = v;
		const uint64_t end = emogi_run_chunk_end(v, VERTICES_AT_ONCE, n);

		for (; v < end && !emogi_job_stopped(&all->run.job); v++)
			answer_vertex(all, (uint32_t) v, counts, touched, &nlooked);
		emogi_job_done(&all->run.job, v - first);
	}
	__atomic_fetch_add(&all->run.result->edges_traversed, nlooked, __ATOMIC_RELAXED);
}

EmogiStatus
emogi_cpu_similarity(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiControl *control,
					 EmogiError *error)
{
	Similarities all = {.graph = graph, .query = query};
	const uint64_t n = graph->nvertices;
	const uint64_t nthreads = (uint64_t) emogi_pool_size(pool);
	const bool	is_of_pairs = query->pairs != NULL;

	emogi_run_begin(&all.run, pool, graph, is_of_pairs ? query->npairs : n, result, control, error, "similarities");
	all.size = n > 0 ? emogi_run_scratch(&all.run, n, sizeof *all.size) : NULL;
	if (is_of_pairs)
		all.run.alone = query->npairs <= PAIRS_AT_ONCE;
	else if (all.size != NULL)
	{
		all.counts = emogi_run_scratch(&all.run, 2 * nthreads * n, sizeof *all.counts);
		all.touched = all.counts + nthreads * n;
	}
	if (n > 0)
		emogi_run_step(&all.run, is_of_pairs ? answer_pairs : answer_all, &all, false);
	result->nreached = is_of_pairs ? query->npairs : n;
	return emogi_run_end(&all.run);
}
