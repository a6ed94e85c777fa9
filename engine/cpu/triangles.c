/*
 * triangles.c: triangle counts and local clustering coefficients.
 *
 * TRIANGLES fills triangles[nvertices], the number of triangles of the simple undirected graph that
 * contain a vertex. LCC fills coefficient[nvertices] by the definition of LDBC Graphalytics [2].
 *
 * Every edge leads from a low degree to a high one (degree_dag.h), so that each triangle is found
 * once [1]: at the vertex u from which two edges lead to the others. The targets of u are marked,
 * and the targets of those are looked up; no two lists are merged. Counts of the vertices of
 * highest degree, which are incremented most, are kept per thread; those of others are incremented
 * atomically.
 *
 * If lists are symmetric and short, as in road networks, each vertex merges its list with those of
 * its neighbors instead: that finds each triangle three times, but needs no memory, and a vertex is
 * counted only by itself.
 *
 * [1] M. Latapy. Main-memory triangle computations for very large (sparse (power-law)) graphs.
 *     Theoretical Computer Science 407, 2008. Section 4 (new-vertex-listing).
 * [2] A. Iosup et al. The LDBC Graphalytics Benchmark. arXiv:2011.15028. Section 2.3.5.
 */
#include "cpu_algorithms.h"
#include "cpu/degree_dag.h"

/* Tuned. */
#define ROW_CHUNK 64
#define VERTEX_CHUNK 4096
#define SHORT_LISTS 16			/* edges, the mean over all neighbors */
#define OWN_COUNTS 65536		/* vertices whose counts are kept per thread: 512 KB */
/* edges of a vertex's neighbors between two polls */
#define POLL_EDGES 1048576
#define GATHER 128				/* edges that are filtered before the found ones are counted */

typedef struct Triangles
{
	EmogiCpuRun run;
	const EmogiGraph *graph;
	EmogiDegreeDag dag;
	uint64_t	stride;			/* bytes of a thread's marks */
	uint8_t    *marks;			/* [nthreads][stride]: 0, or the ways of the edge from the
								 * current vertex */
	uint64_t	nown;
	uint64_t   *own;			/* [nthreads][nown], by rank */
	uint64_t   *counts;			/* [nvertices], by rank, atomic */
	bool		is_lcc;			/* count edges between neighbors by their directions; otherwise
								 * count triangles */
} Triangles;

/* Add to the count of a vertex. */
static inline void
add_count(const Triangles *triangles, uint64_t *own, uint32_t rank, uint64_t count)
{
	if (rank < triangles->nown)
		own[rank] += count;
	else
		__atomic_fetch_add(&triangles->counts[rank], count, __ATOMIC_RELAXED);
}

/* Mark the targets of a vertex, or clear the marks. */
static inline void
mark_list(const EmogiDegreeDag *dag, uint64_t u, uint8_t *marks, bool set)
{
	for (uint64_t e = dag->offsets[u]; e < dag->offsets[u + 1]; e++)
		marks[dag->targets[e]] = !set ? 0 : dag->ways != NULL ? dag->ways[e]
			: EMOGI_BOTH_WAYS;
}

/* Find the triangles of u, w and each marked target x of w. Returns the count for u. */
static inline uint64_t
close_plain(const Triangles *triangles, uint64_t w, const uint8_t *marks, uint64_t *own)
{
	const EmogiDegreeDag *dag = &triangles->dag;
	const uint64_t end = dag->offsets[w + 1];
	uint32_t	found[GATHER];
	uint64_t	nfound = 0;

	for (uint64_t e = dag->offsets[w]; e < end;)
	{
		const uint64_t stop = emogi_cpu_run_chunk_end(e, GATHER, end);
		uint32_t	n = 0;

		for (; e < stop; e++)
		{
			found[n] = dag->targets[e];
			n += marks[dag->targets[e]] != 0;	/* branch-free, because a branch would be
													 * mispredicted */
		}
		for (uint32_t i = 0; i < n; i++)
			add_count(triangles, own, found[i], 1);
		nfound += n;
	}
	add_count(triangles, own, (uint32_t) w, nfound);
	return nfound;
}

/*
 * The same if a triangle counts, for each of its vertices, by the directions of the opposite edge.
 */
static inline uint64_t
close_in_ways(const Triangles *triangles, uint64_t w, const uint8_t *marks, uint64_t *own)
{
	const EmogiDegreeDag *dag = &triangles->dag;
	const uint64_t to_w = marks[w];
	uint64_t	of_u = 0;
	uint64_t	of_w = 0;

	for (uint64_t e = dag->offsets[w]; e < dag->offsets[w + 1]; e++)
	{
		const uint32_t x = dag->targets[e];

		if (marks[x] == 0)
			continue;
		add_count(triangles, own, x, to_w);
		of_w += marks[x];
		of_u += dag->ways[e];
	}
	add_count(triangles, own, (uint32_t) w, of_w);
	return of_u;
}

/*
 * Count the triangles in which u is the vertex of lowest degree; incomplete if the job has stopped.
 * Returns the number of edges examined.
 */
static inline uint64_t
close_all(Triangles *triangles, uint64_t u, uint8_t *marks, uint64_t *own)
{
	const EmogiDegreeDag *dag = &triangles->dag;
	uint64_t	count = 0;
	uint64_t	nscanned = 0;
	uint64_t	limit = POLL_EDGES;

	if (dag->offsets[u + 1] - dag->offsets[u] < 2)
		return 0;
	mark_list(dag, u, marks, true);
	for (uint64_t e = dag->offsets[u]; e < dag->offsets[u + 1]; e++)
	{
		const uint32_t w = dag->targets[e];

		count += dag->ways != NULL ? close_in_ways(triangles, w, marks, own)
			: close_plain(triangles, w, marks, own);
		nscanned += dag->offsets[w + 1] - dag->offsets[w];
		if (nscanned + e - dag->offsets[u] >= limit)
		{
			if (emogi_job_stopped(&triangles->run.job))
				break;
			limit += POLL_EDGES;
		}
	}
	mark_list(dag, u, marks, false);
	add_count(triangles, own, (uint32_t) u, count);
	return nscanned;
}

/* Count all triangles. */
static void
count_rows(void *arg, int thread, int nthreads)
{
	Triangles  *triangles = arg;
	const uint64_t n = triangles->dag.nvertices;
	uint8_t    *marks = triangles->marks + (uint64_t) thread * triangles->stride;
	uint64_t   *own = triangles->own + (uint64_t) thread * triangles->nown;
	uint64_t	nscanned = 0;

	for (uint64_t u, end; emogi_cpu_run_take(&triangles->run, ROW_CHUNK, n, &u, &end);)
	{
		for (; u < end && !emogi_job_stopped(&triangles->run.job); u++)
			nscanned += close_all(triangles, u, marks, own);
		emogi_job_done(&triangles->run.job, ROW_CHUNK);
	}
	__atomic_fetch_add(&triangles->run.result->edges_traversed, nscanned, __ATOMIC_RELAXED);
}

/*
 * Write the result of a vertex: its triangles, or the fraction of possible edges between its
 * neighbors that exist.
 */
static inline void
write_count(const Triangles *triangles, uint64_t v, uint64_t count, uint32_t degree)
{
	const EmogiArray column = triangles->run.result->columns[0];
	const double pairs = (double) degree * ((double) degree - 1.0);

	if (!triangles->is_lcc)
		column.int64[v] = (int64_t) count;
	else
		column.float64[v] = pairs > 0.0 ? (double) count / pairs : 0.0;
}

/* Allocate the marks and counts; false if out of memory. */
static bool
allocate_counts(Triangles *triangles)
{
	const uint64_t nthreads = (uint64_t) emogi_pool_size(triangles->run.pool);
	const uint64_t n = triangles->dag.nvertices;
	uint64_t   *counts;

	triangles->stride = (n + EMOGI_LINE_BYTES) / EMOGI_LINE_BYTES * EMOGI_LINE_BYTES;
	triangles->nown = n < OWN_COUNTS ? n : OWN_COUNTS;
	triangles->marks = emogi_cpu_run_scratch(&triangles->run, nthreads * triangles->stride, 1);
	counts = triangles->marks == NULL ? NULL
		: emogi_cpu_run_scratch(&triangles->run, n + nthreads * triangles->nown, sizeof *counts);
	triangles->counts = counts;
	triangles->own = counts == NULL ? NULL : counts + n;
	return counts != NULL;
}

/* Get the total count of the vertex of a rank. */
static inline uint64_t
total_count(const Triangles *triangles, uint64_t rank)
{
	uint64_t	count = triangles->counts[rank];

	for (int t = 0; rank < triangles->nown && t < emogi_pool_size(triangles->run.pool); t++)
		count += triangles->own[(uint64_t) t * triangles->nown + rank];
	return count;
}

/* Write the counts to the result. */
static void
write_counts(void *arg, int thread, int nthreads)
{
	Triangles  *triangles = arg;
	const EmogiDegreeDag *dag = &triangles->dag;
	const uint64_t each = triangles->is_lcc && dag->ways == NULL ? EMOGI_BOTH_WAYS : 1;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&triangles->run, VERTEX_CHUNK, dag->nvertices, &v, &end);)
		for (; v < end; v++)
			write_count(triangles, v, total_count(triangles, dag->rank[v]) * each,
						dag->degree[v]);
}

/* Count all triangles with the degree-ordered DAG; false if the job has stopped. */
static bool
count_with_dag(Triangles *triangles, const EmogiGraph *graph)
{
	return emogi_degree_dag_make(&triangles->run, graph, triangles->is_lcc, &triangles->dag) &&
		allocate_counts(triangles) &&
		emogi_cpu_run_step(&triangles->run, count_rows, triangles, false) &&
		emogi_cpu_run_step(&triangles->run, write_counts, triangles, false);
}

/* ---- short lists ---- */

/* Check whether lists are symmetric, and those of neighbors short. */
static bool
has_short_lists(const EmogiGraph *graph)
{
	const uint64_t *offsets = graph->forward.offsets;
	double		sum = 0.0;

	if (graph->backward.offsets != NULL && graph->backward.offsets != offsets)
		return false;
	for (uint64_t v = 0; v < graph->nvertices; v++)
		sum += (double) (offsets[v + 1] - offsets[v]) * (double) (offsets[v + 1] - offsets[v]);
	return sum <= SHORT_LISTS * (double) graph->forward.nedges;
}

/*
 * Count the distinct neighbors of v after position `at` in its list that w = targets[at] leads to
 * as well. Merges the lists from their ends.
 */
static inline uint64_t
count_common_after(const EmogiAdjacency *lists, uint32_t v, uint64_t at)
{
	const uint32_t *targets = lists->targets;
	const uint32_t w = targets[at];
	const uint64_t begin = lists->offsets[w];
	uint64_t	e = lists->offsets[w + UINT64_C(1)];
	uint64_t	i = lists->offsets[v + UINT64_C(1)];
	uint64_t	found = 0;

	while (i > at + 1 && e > begin && targets[e - 1] > w)
	{
		const uint32_t x = targets[i - 1];
		const uint32_t y = targets[e - 1];

		/* a repeated neighbor counts once */
		found += x == y && x != v && (i == lists->offsets[v + UINT64_C(1)] || targets[i] != x);
		i -= x >= y;
		e -= y > x;
	}
	return found;
}

/* Count the triangles of each vertex by merging short lists. */
static void
count_short(void *arg, int thread, int nthreads)
{
	Triangles  *triangles = arg;
	const EmogiAdjacency *lists = &triangles->graph->forward;
	const uint64_t n = triangles->graph->nvertices;
	const uint64_t each = triangles->is_lcc ? EMOGI_BOTH_WAYS : 1;
	uint64_t	nscanned = 0;

	for (uint64_t first, end; emogi_cpu_run_take(&triangles->run, VERTEX_CHUNK, n, &first, &end);)
	{
		for (uint64_t v = first; v < end && !emogi_job_stopped(&triangles->run.job); v++)
		{
			uint32_t	before = (uint32_t) v;	/* loops are skipped */
			uint32_t	degree = 0;
			uint64_t	count = 0;

			for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
			{
				const uint32_t w = lists->targets[e];

				if (w == before || w == v)
					continue;
				before = w;
				degree++;
				count += count_common_after(lists, (uint32_t) v, e);
				nscanned += lists->offsets[w + UINT64_C(1)] - lists->offsets[w];
			}
			write_count(triangles, v, count * each, degree);
		}
		emogi_job_done(&triangles->run.job, end - first);
	}
	__atomic_fetch_add(&triangles->run.result->edges_traversed, nscanned, __ATOMIC_RELAXED);
}

/* Run TRIANGLES or LCC. */
static EmogiStatus
run_triangles(EmogiPool *pool, const EmogiGraph *graph, bool is_lcc, EmogiResult *result,
			  EmogiControl *control, EmogiError *error, const char *what)
{
	Triangles	triangles = {.graph = graph, .is_lcc = is_lcc};

	emogi_cpu_run_begin(&triangles.run, pool, graph, graph->nvertices, result, control, error,
						what);
	if (has_short_lists(graph) ? emogi_cpu_run_step(&triangles.run, count_short, &triangles, false)
		: count_with_dag(&triangles, graph))
	{
		result->nreached = graph->nvertices;
		result->nlevels = 1;
	}
	return emogi_cpu_run_end(&triangles.run);
}

EmogiStatus
emogi_cpu_triangles(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
					EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	return run_triangles(pool, graph, false, result, control, error, "triangles");
}

EmogiStatus
emogi_cpu_lcc(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			  EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	return run_triangles(pool, graph, true, result, control, error, "clustering coefficients");
}
