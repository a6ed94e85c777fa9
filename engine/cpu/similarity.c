/*
 * similarity.c: how alike the neighbours of vertices are, by the threads of a pool.
 *
 * Fills vertex2 and similarity, see the row. Lists are ascending, so a set is a list without its repeats. Short lists of a given pair are
 * walked along together. Else the longer list is marked, once for the pairs that have it and come one after the other, and the shorter is
 * looked up; or, where that would be less work, is looked up in the longer itself. Many pairs are put in order by their longer lists.
 * Without pairs the vertices that share a neighbour with v are
 * counted two steps away, over the lists and back over their transpose: what is not counted shares none. The best of them are kept in a
 * heap, in the place where they will stand.
 */
#include "algorithms.h"
#include "cpu/cpu_run.h"
#include "similarity.h"

/* Tuned. */
#define PAIRS_AT_ONCE 64
#define VERTICES_AT_ONCE 16
#define MUCH_SHORTER 16			/* times: then each of the one is looked up in the other */
#define SHORT_LISTS 64			/* entries of both */
#define LONG_LISTS 16			/* entries, the mean: then pairs are put in order */
#define MANY_PAIRS 8			/* so is one for each of so many vertices, or more */

typedef struct Similarities
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	const EmogiQuery *query;
	uint32_t   *size;			/* [nvertices]: of the set of a vertex, plus 1; 0 = not known yet. Atomic */
	uint64_t   *order;			/* [npairs]: pairs as they are taken, NULL = as they are given */
	uint8_t    *marks;			/* [nthreads][nvertices]: 1 = in the list that is marked; 0 between chunks */
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

/* Get the length of a list. */
static inline uint64_t
length_of(const Similarities *all, uint32_t v)
{
	return all->graph->forward.offsets[v + UINT64_C(1)] - all->graph->forward.offsets[v];
}

/* Set the marks of a list. */
static void
mark_list(const Similarities *all, uint32_t v, uint8_t *marks, uint8_t mark)
{
	const EmogiAdjacency *lists = &all->graph->forward;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + UINT64_C(1)]; e++)
		marks[lists->targets[e]] = mark;
}

/* Count what the set of a vertex shares with the marked one. */
static uint32_t
count_marked(const Similarities *all, uint32_t v, const uint8_t *marks)
{
	const EmogiAdjacency *lists = &all->graph->forward;
	uint32_t	before = EMOGI_NO_VERTEX;
	uint32_t	nshared = 0;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + UINT64_C(1)]; e++)
	{
		const uint32_t w = lists->targets[e];

		nshared += marks[w] & (w != before);
		before = w;
	}
	return nshared;
}

/* Count what the sets of two vertices share, without marks. */
static uint32_t
count_unmarked(const Similarities *all, uint32_t longer, uint32_t shorter)
{
	const EmogiAdjacency *lists = &all->graph->forward;
	const uint32_t *a = lists->targets + lists->offsets[shorter];
	const uint32_t *b = lists->targets + lists->offsets[longer];

	if (length_of(all, longer) / MUCH_SHORTER > length_of(all, shorter))
		return look_up(a, a + length_of(all, shorter), b, b + length_of(all, longer));
	return merge(a, a + length_of(all, shorter), b, b + length_of(all, longer));
}

/* Get pair i, in the order in which pairs are taken: its place among those given, and its vertices by the lengths of their lists. */
static inline uint64_t
take_pair(const Similarities *all, uint64_t i, uint32_t *longer, uint32_t *shorter)
{
	const uint64_t place = all->order == NULL ? i : all->order[i];
	const uint32_t *pair = all->query->pairs + 2 * place;
	const bool	swap = length_of(all, pair[0]) < length_of(all, pair[1]);

	*longer = pair[swap];
	*shorter = pair[!swap];
	return place;
}

/* Find where the pairs with the longer list of pair i end, `end` at most, and how long their shorter lists are together. */
static uint64_t
find_group(const Similarities *all, uint64_t i, uint64_t end, uint64_t *length)
{
	uint32_t	first,
				longer,
				shorter;

	take_pair(all, i, &first, &shorter);
	*length = length_of(all, shorter);
	for (i++; i < end; i++)
	{
		take_pair(all, i, &longer, &shorter);
		if (longer != first)
			break;
		*length += length_of(all, shorter);
	}
	return i;
}

/* Answer for the pairs of a group, which have one longer list; a similarity below the cutoff has no row. Gets the entries of their sets. */
static uint64_t
answer_group(Similarities *all, uint64_t i, uint64_t end, uint64_t length, uint8_t *marks)
{
	const EmogiQuery *query = all->query;
	const EmogiArray *columns = all->run.result->columns;
	uint32_t	longer,
				shorter;
	uint64_t	place = take_pair(all, i, &longer, &shorter);
	const bool	marked = length_of(all, longer) / MUCH_SHORTER <= length && length_of(all, longer) + length > SHORT_LISTS;
	uint64_t	nlooked = 0;

	if (marked)
		mark_list(all, longer, marks, 1);
	while (i < end && !emogi_job_stopped(&all->run.job))
	{
		const uint32_t nshared = marked ? count_marked(all, shorter, marks) : count_unmarked(all, longer, shorter);
		const double similarity = emogi_similarity_of(query->measure, size_of(all, longer), size_of(all, shorter), nshared);

		columns[0].vertex[place] = similarity >= query->cutoff ? query->pairs[2 * place + 1] : EMOGI_NO_VERTEX;
		columns[1].float64[place] = similarity;
		nlooked += size_of(all, longer) + size_of(all, shorter);
		if (++i < end)
			place = take_pair(all, i, &longer, &shorter);
	}
	if (marked)
		mark_list(all, longer, marks, 0);
	return nlooked;
}

/* Answer for the given pairs. */
static void
answer_pairs(void *arg, int thread, int nthreads)
{
	Similarities *all = arg;
	uint8_t    *marks = all->marks + (uint64_t) thread * all->graph->nvertices;
	uint64_t	nlooked = 0;
	uint64_t	first;

	while (!emogi_job_stopped(&all->run.job) && (first = emogi_job_claim(&all->run.next, PAIRS_AT_ONCE)) < all->query->npairs)
	{
		const uint64_t end = emogi_cpu_run_chunk_end(first, PAIRS_AT_ONCE, all->query->npairs);

		for (uint64_t i = first; i < end && !emogi_job_stopped(&all->run.job);)
		{
			uint64_t	length;
			const uint64_t behind = find_group(all, i, end, &length);

			nlooked += answer_group(all, i, behind, length, marks);
			i = behind;
		}
		emogi_job_done(&all->run.job, end - first);
	}
	__atomic_fetch_add(&all->run.result->edges_traversed, nlooked, __ATOMIC_RELAXED);
}

/* Put many pairs in order by their longer lists, where lists are long; false without memory. */
static bool
order_pairs(Similarities *all)
{
	const uint64_t n = all->graph->nvertices;
	const uint64_t npairs = all->query->npairs;
	uint64_t   *places;
	uint64_t   *order;
	uint32_t	longer,
				shorter;

	if (all->graph->forward.nedges / LONG_LISTS < n || npairs < n / MANY_PAIRS)
		return true;
	places = emogi_cpu_run_scratch(&all->run, n + 1, sizeof *places);
	order = places == NULL ? NULL : emogi_cpu_run_scratch(&all->run, npairs, sizeof *order);
	if (order == NULL)
		return false;
	for (uint64_t i = 0; i < npairs; i++)
	{
		take_pair(all, i, &longer, &shorter);
		places[longer + UINT64_C(1)]++;
	}
	for (uint64_t v = 0; v < n; v++)
		places[v + 1] += places[v];
	for (uint64_t i = 0; i < npairs; i++)
	{
		take_pair(all, i, &longer, &shorter);
		order[places[longer]++] = i;
	}
	all->order = order;
	return true;
}

/* Answer for all given pairs; false when the job has stopped. */
static bool
run_pairs(Similarities *all)
{
	all->run.alone = all->query->npairs <= PAIRS_AT_ONCE;
	all->marks = emogi_cpu_run_scratch(&all->run, (uint64_t) emogi_pool_size(all->run.pool) * all->graph->nvertices, sizeof *all->marks);
	return all->marks != NULL && order_pairs(all) && emogi_cpu_run_step(&all->run, answer_pairs, all, false);
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

/* Find the vertices most like v, for element i. */
static void
answer_vertex(Similarities *all, uint64_t i, uint32_t v, uint32_t *counts, uint32_t *touched, uint64_t *nlooked)
{
	const EmogiQuery *query = all->query;
	const uint64_t most = (uint64_t) query->top_k;
	Best		best = {all->run.result->columns[0].vertex + i * most, all->run.result->columns[1].float64 + i * most, 0, most};
	bool		whole;
	const uint64_t ntouched = count_all(all, v, counts, touched, nlooked, &whole);
	const uint32_t size = size_of(all, v);

	for (uint64_t t = 0; t < ntouched; t++)
	{
		const uint32_t w = touched[t];
		const double similarity = emogi_similarity_of(query->measure, size, size_of(all, w), counts[w]);

		counts[w] = 0;
		if (whole && similarity >= query->cutoff)
			offer(&best, w, similarity);
	}
	put_in_order(&best);
}

/* Get how many vertices are to be answered for. */
static uint64_t
count_wanted(const EmogiGraph *graph, const EmogiQuery *query)
{
	return query->ntargets > 0 ? query->ntargets : graph->nvertices;
}

/* Answer for every vertex, or for the targets alone. */
static void
answer_all(void *arg, int thread, int nthreads)
{
	Similarities *all = arg;
	const EmogiQuery *query = all->query;
	const uint64_t nwanted = count_wanted(all->graph, query);
	uint32_t   *counts = all->counts + (uint64_t) thread * all->graph->nvertices;
	uint32_t   *touched = all->touched + (uint64_t) thread * all->graph->nvertices;
	uint64_t	nlooked = 0;
	uint64_t	i;

	while (!emogi_job_stopped(&all->run.job) && (i = emogi_job_claim(&all->run.next, VERTICES_AT_ONCE)) < nwanted)
	{
		const uint64_t first = i;
		const uint64_t end = emogi_cpu_run_chunk_end(i, VERTICES_AT_ONCE, nwanted);

		for (; i < end && !emogi_job_stopped(&all->run.job); i++)
			answer_vertex(all, i, query->ntargets > 0 ? query->targets[i] : (uint32_t) i, counts, touched, &nlooked);
		emogi_job_done(&all->run.job, i - first);
	}
	__atomic_fetch_add(&all->run.result->edges_traversed, nlooked, __ATOMIC_RELAXED);
}

/* Answer for all vertices; false when the job has stopped. */
static bool
run_all(Similarities *all)
{
	uint64_t	count;

	all->run.alone |= count_wanted(all->graph, all->query) <= VERTICES_AT_ONCE;
	count = (all->run.alone ? 1 : (uint64_t) emogi_pool_size(all->run.pool)) * all->graph->nvertices;
	all->counts = emogi_cpu_run_scratch(&all->run, 2 * count, sizeof *all->counts);
	if (all->counts == NULL)
		return false;
	all->touched = all->counts + count;
	return emogi_cpu_run_step(&all->run, answer_all, all, false);
}

EmogiStatus
emogi_cpu_similarity(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query, EmogiResult *result, EmogiControl *control,
					 EmogiError *error)
{
	Similarities all = {.graph = graph, .query = query};
	const bool	is_of_pairs = query->pairs != NULL;
	const uint64_t nwanted = is_of_pairs ? query->npairs : count_wanted(graph, query);

	emogi_cpu_run_begin(&all.run, pool, graph, nwanted, result, control, error, "similarities");
	all.size = graph->nvertices > 0 ? emogi_cpu_run_scratch(&all.run, graph->nvertices, sizeof *all.size) : NULL;
	if (all.size != NULL && (is_of_pairs ? run_pairs : run_all) (&all))
		result->nreached = nwanted;
	return emogi_cpu_run_end(&all.run);
}
