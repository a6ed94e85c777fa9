/*
 * similarity.c: similarity of the neighbor sets of vertices, by the threads of a pool
 *
 * Fills vertex2 and similarity, see the row.
 *
 * Adjacency lists are ascending, so a set is a list without duplicates. For given pairs, short
 * lists are merged. Otherwise the longer list is marked, once for all consecutive pairs that have
 * it, and the shorter is looked up in the marks; or, if that is less work, the shorter is looked up
 * in the longer by binary search. Many pairs are sorted by their longer lists first.
 *
 * Without pairs, the vertices that share a neighbor with v are counted two steps away, over the
 * lists and back over their transpose: uncounted vertices share none. The best are kept in a heap,
 * in their place in the result.
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"
#include "similarity.h"

/* Tuned. */
#define PAIR_CHUNK 64
#define VERTEX_CHUNK 16
/* ratio of lengths from which the shorter list is searched for in the longer */
#define BINARY_SEARCH_RATIO 16
#define SHORT_LISTS 64			/* total edges of both lists */
#define LONG_LISTS 16			/* mean edges, from which pairs are sorted */
/* pairs are sorted if there is one per this many vertices, or more */
#define MANY_PAIRS 8

typedef struct Similarities
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	const EmogiQuery *query;
	uint32_t   *size;			/* [nvertices]: set size of a vertex, + 1; 0 = not known yet.
								 * Atomic */
	uint64_t   *order;			/* [npairs]: processing order of the pairs, NULL = as given */
	uint8_t    *marks;			/* [nthreads][nvertices]: 1 = in the marked list; 0 between
								 * chunks */
	uint32_t   *counts;			/* [nthreads][nvertices]: number of shared neighbors; 0 between
								 * vertices */
	uint32_t   *touched;		/* [nthreads][nvertices]: vertices whose count is not 0 */
} Similarities;

/* ---- sets ---- */

/* Get the set size of a vertex. */
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

/* Count the common elements of two lists by merging them. */
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

/*
 * Count the common elements of two lists by searching each of the shorter in the rest of the
 * longer.
 */
static uint32_t
search_all(const uint32_t *a, const uint32_t *a_end, const uint32_t *b, const uint32_t *b_end)
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

/* Count the elements of a vertex's set that are marked. */
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

/* Count the common elements of the sets of two vertices without marks. */
static uint32_t
count_unmarked(const Similarities *all, uint32_t longer, uint32_t shorter)
{
	const EmogiAdjacency *lists = &all->graph->forward;
	const uint32_t *a = lists->targets + lists->offsets[shorter];
	const uint32_t *b = lists->targets + lists->offsets[longer];

	if (length_of(all, longer) / BINARY_SEARCH_RATIO > length_of(all, shorter))
		return search_all(a, a + length_of(all, shorter), b, b + length_of(all, longer));
	return merge(a, a + length_of(all, shorter), b, b + length_of(all, longer));
}

/*
 * Get pair i in processing order: its index among the given pairs, and its vertices by length of
 * list.
 */
static inline uint64_t
get_pair(const Similarities *all, uint64_t i, uint32_t *longer, uint32_t *shorter)
{
	const uint64_t place = all->order == NULL ? i : all->order[i];
	const uint32_t *pair = all->query->pairs + 2 * place;
	const bool	swap = length_of(all, pair[0]) < length_of(all, pair[1]);

	*longer = pair[swap];
	*shorter = pair[!swap];
	return place;
}

/*
 * Find the end, at most `end`, of the pairs that have the longer list of pair i, and the total
 * length of their shorter lists.
 */
static uint64_t
find_group(const Similarities *all, uint64_t i, uint64_t end, uint64_t *length)
{
	uint32_t	first,
				longer,
				shorter;

	get_pair(all, i, &first, &shorter);
	*length = length_of(all, shorter);
	for (i++; i < end; i++)
	{
		get_pair(all, i, &longer, &shorter);
		if (longer != first)
			break;
		*length += length_of(all, shorter);
	}
	return i;
}

/*
 * Compute the pairs of a group, which share the longer list; a similarity below the cutoff has no
 * row. Returns the number of elements of their sets.
 */
static uint64_t
answer_group(Similarities *all, uint64_t i, uint64_t end, uint64_t length, uint8_t *marks)
{
	const EmogiQuery *query = all->query;
	const EmogiArray *columns = all->run.result->columns;
	uint32_t	longer,
				shorter;
	uint64_t	place = get_pair(all, i, &longer, &shorter);
	const bool	marked = length_of(all, longer) / BINARY_SEARCH_RATIO <= length &&
		length_of(all, longer) + length > SHORT_LISTS;
	uint64_t	nscanned = 0;

	if (marked)
		mark_list(all, longer, marks, 1);
	while (i < end && !emogi_job_stopped(&all->run.job))
	{
		const uint32_t nshared = marked ?
			count_marked(all, shorter, marks) : count_unmarked(all, longer, shorter);
		const double similarity =
			emogi_similarity_of(query->measure, size_of(all, longer), size_of(all, shorter),
								nshared);

		columns[0].vertex[place] = similarity >= query->cutoff ?
			query->pairs[2 * place + 1] : EMOGI_NO_VERTEX;
		columns[1].float64[place] = similarity;
		nscanned += size_of(all, longer) + size_of(all, shorter);
		if (++i < end)
			place = get_pair(all, i, &longer, &shorter);
	}
	if (marked)
		mark_list(all, longer, marks, 0);
	return nscanned;
}

/* Compute the given pairs. */
static void
answer_pairs(void *arg, int thread, int nthreads)
{
	Similarities *all = arg;
	uint8_t    *marks = all->marks + (uint64_t) thread * all->graph->nvertices;
	uint64_t	nscanned = 0;

	for (uint64_t first, end;
		 emogi_cpu_run_take(&all->run, PAIR_CHUNK, all->query->npairs, &first, &end);)
	{
		for (uint64_t i = first; i < end && !emogi_job_stopped(&all->run.job);)
		{
			uint64_t	length;
			const uint64_t behind = find_group(all, i, end, &length);

			nscanned += answer_group(all, i, behind, length, marks);
			i = behind;
		}
		emogi_job_done(&all->run.job, end - first);
	}
	__atomic_fetch_add(&all->run.result->edges_traversed, nscanned, __ATOMIC_RELAXED);
}

/* Sort many pairs by their longer lists, if lists are long; false if out of memory. */
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
		get_pair(all, i, &longer, &shorter);
		places[longer + UINT64_C(1)]++;
	}
	for (uint64_t v = 0; v < n; v++)
		places[v + 1] += places[v];
	for (uint64_t i = 0; i < npairs; i++)
	{
		get_pair(all, i, &longer, &shorter);
		order[places[longer]++] = i;
	}
	all->order = order;
	return true;
}

/* Compute all given pairs; false if the job has stopped. */
static bool
run_pairs(Similarities *all)
{
	all->run.serial = all->query->npairs <= PAIR_CHUNK;
	all->marks = emogi_cpu_run_scratch(&all->run,
									   (uint64_t) emogi_pool_size(all->run.pool) *
									   all->graph->nvertices, sizeof *all->marks);
	return all->marks != NULL && order_pairs(all) &&
		emogi_cpu_run_step(&all->run, answer_pairs, all, false);
}

/* ---- most similar vertices ---- */

/* A vertex, and its similarity. */
typedef struct Ranked
{
	uint32_t	vertex;
	double		similarity;
} Ranked;

/* The most similar vertices: a heap with the worst at its root; finally sorted, best first. */
typedef struct Best
{
	uint32_t   *vertex;
	double	   *similarity;
	uint64_t	count;
	uint64_t	max_count;
} Best;

/* Return true if one vertex ranks before another. */
static inline bool
comes_before(Ranked a, Ranked b)
{
	return a.similarity > b.similarity || (a.similarity == b.similarity && a.vertex < b.vertex);
}

static inline Ranked
get_ranked(const Best *best, uint64_t i)
{
	return (Ranked) {best->vertex[i], best->similarity[i]};
}

static inline void
set_ranked(Best *best, uint64_t i, Ranked ranked)
{
	best->vertex[i] = ranked.vertex;
	best->similarity[i] = ranked.similarity;
}

#define HEAP_PREFIX best
#define HEAP_ELEMENT Ranked
#define HEAP_TYPE Best *
#define HEAP_BEFORE(best, a, b) comes_before(b, a)
#define HEAP_GET(best, i) get_ranked(best, i)
#define HEAP_SET(best, i, ranked) set_ranked(best, i, ranked)
#include "containers/heap.h"

/* Add a vertex if it is among the best so far. */
static void
offer(Best *best, Ranked ranked)
{
	if (best->count < best->max_count)
		best_push(best, &best->count, ranked);
	else if (comes_before(ranked, get_ranked(best, 0)))
		best_sift_down(best, best->count, 0, ranked);
}

/* Sort the best, best first, and clear the unused places. */
static void
sort_best(Best *best)
{
	const uint64_t count = best->count;

	while (best->count > 1)
	{
		const Ranked worst = best_pop(best, &best->count);

		set_ranked(best, best->count, worst);
	}
	for (uint64_t i = count; i < best->max_count; i++)
	{
		best->vertex[i] = EMOGI_NO_VERTEX;
		best->similarity[i] = 0.0;
	}
}

/*
 * Count for each other vertex the elements that its set shares with that of v. Returns how many
 * share any; *whole = false if canceled.
 */
static uint64_t
count_all(Similarities *all, uint32_t v, uint32_t *counts, uint32_t *touched, uint64_t *nscanned,
		  bool *whole)
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
			*nscanned += nlately;
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
	*nscanned += nlately;
	return ntouched;
}

/* Find the vertices most similar to v, for element i. */
static void
answer_vertex(Similarities *all, uint64_t i, uint32_t v, uint32_t *counts, uint32_t *touched,
			  uint64_t *nscanned)
{
	const EmogiQuery *query = all->query;
	const uint64_t max_count = (uint64_t) query->top_k;
	Best		best = {all->run.result->columns[0].vertex + i * max_count,
						all->run.result->columns[1].float64 + i * max_count, 0, max_count};
	bool		whole;
	const uint64_t ntouched = count_all(all, v, counts, touched, nscanned, &whole);
	const uint32_t size = size_of(all, v);

	for (uint64_t t = 0; t < ntouched; t++)
	{
		const uint32_t w = touched[t];
		const double similarity =
			emogi_similarity_of(query->measure, size, size_of(all, w), counts[w]);

		counts[w] = 0;
		if (whole && similarity >= query->cutoff)
			offer(&best, (Ranked) {w, similarity});
	}
	sort_best(&best);
}

/* Get the number of vertices to compute. */
static uint64_t
count_wanted(const EmogiGraph *graph, const EmogiQuery *query)
{
	return query->ntargets > 0 ? query->ntargets : graph->nvertices;
}

/* Compute every vertex, or only the targets. */
static void
answer_all(void *arg, int thread, int nthreads)
{
	Similarities *all = arg;
	const EmogiQuery *query = all->query;
	const uint64_t nwanted = count_wanted(all->graph, query);
	uint32_t   *counts = all->counts + (uint64_t) thread * all->graph->nvertices;
	uint32_t   *touched = all->touched + (uint64_t) thread * all->graph->nvertices;
	uint64_t	nscanned = 0;
	uint64_t	i;

	while (!emogi_job_stopped(&all->run.job) &&
		   (i = emogi_job_claim(&all->run.next, VERTEX_CHUNK)) < nwanted)
	{
		const uint64_t first = i;
		const uint64_t end = emogi_cpu_run_chunk_end(i, VERTEX_CHUNK, nwanted);

		for (; i < end && !emogi_job_stopped(&all->run.job); i++)
			answer_vertex(all, i, query->ntargets > 0 ? query->targets[i] : (uint32_t) i, counts,
						  touched, &nscanned);
		emogi_job_done(&all->run.job, i - first);
	}
	__atomic_fetch_add(&all->run.result->edges_traversed, nscanned, __ATOMIC_RELAXED);
}

/* Compute all vertices; false if the job has stopped. */
static bool
run_all(Similarities *all)
{
	uint64_t	count;

	all->run.serial |= count_wanted(all->graph, all->query) <= VERTEX_CHUNK;
	count = (all->run.serial ? 1 : (uint64_t) emogi_pool_size(all->run.pool)) *
		all->graph->nvertices;
	all->counts = emogi_cpu_run_scratch(&all->run, 2 * count, sizeof *all->counts);
	if (all->counts == NULL)
		return false;
	all->touched = all->counts + count;
	return emogi_cpu_run_step(&all->run, answer_all, all, false);
}

EmogiStatus
emogi_cpu_similarity(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					 EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Similarities all = {.graph = graph, .query = query};
	const bool	is_of_pairs = query->pairs != NULL;
	const uint64_t nwanted = is_of_pairs ? query->npairs : count_wanted(graph, query);

	emogi_cpu_run_begin(&all.run, pool, graph, nwanted, result, control, error, "similarities");
	all.size = graph->nvertices > 0 ?
		emogi_cpu_run_scratch(&all.run, graph->nvertices, sizeof *all.size) : NULL;
	if (all.size != NULL && (is_of_pairs ? run_pairs : run_all) (&all))
		result->nreached = nwanted;
	return emogi_cpu_run_end(&all.run);
}
