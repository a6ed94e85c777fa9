/*
 * kcore.c: core numbers (k-core decomposition).
 *
 * Fills core[nvertices]: the largest k such that the vertex is in a subgraph in which every vertex
 * has at least k neighbors [1]. The graph counts as simple and undirected: parallel edges and loops
 * are skipped; graph->forward is symmetric.
 *
 * Vertices are peeled level by level [2]: all vertices of the minimum remaining degree, and those
 * that fall to it meanwhile, which are peeled by the thread that removed the decisive neighbor. The
 * array of remaining vertices is compacted before each level. A vertex is removed from all its
 * neighbors, even from peeled ones: about half of them are peeled, unpredictably, and a decrement
 * costs less than a branch misprediction.
 *
 * [1] V. Batagelj, M. Zaversnik. An O(m) Algorithm for Cores Decomposition of Networks.
 *     arXiv:cs/0310049, 2003.
 * [2] H. Kabir, K. Madduri. Parallel k-core Decomposition on Multicore Platforms. IPDPS Workshops
 *     2017. Section III (PKC).
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"

#include <string.h>

#define VERTEX_CHUNK 1024
#define SEED_CHUNK 64
#define PEELED_PER_POLL 65536	/* vertices of a cascade between two polls */
#define SERIAL_LEFT 4096		/* so few vertices are processed by the caller alone */

typedef struct Cores
{
	EmogiCpuRun run;
	EmogiAdjacency lists;
	uint64_t	nvertices;
	int32_t    *core;			/* [nvertices], set when a vertex is peeled */
	int32_t    *degree;			/* [nvertices], atomic: number of remaining neighbors; at most
								 * `level` for peeled vertices */
	int32_t		level;			/* being peeled */
	int32_t		min_degree;		/* atomic: minimum degree above the last level */
	uint32_t   *left;			/* [nleft]: not peeled when the level began */
	uint64_t	nleft;
	uint32_t   *next_left;		/* [nnext] */
	uint64_t	nnext;			/* atomic */
	uint32_t   *seeds;			/* [nseeds]: vertices of degree `level` when the level begins */
	uint64_t	nseeds;			/* atomic */
	uint32_t   *stacks;			/* [nthreads][nvertices], touched only as far as needed */
} Cores;

/* Count the distinct neighbors of every vertex. */
static void
count_neighbors(void *arg, int thread, int nthreads)
{
	Cores	   *cores = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&cores->run, VERTEX_CHUNK, cores->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			uint32_t	before = (uint32_t) v;
			int32_t		degree = 0;

			for (uint64_t e = cores->lists.offsets[v]; e < cores->lists.offsets[v + 1]; e++)
			{
				const uint32_t w = cores->lists.targets[e];

				degree += w != before && w != v;
				before = w;
			}
			cores->degree[v] = degree;
			cores->left[v] = (uint32_t) v;
		}
}

/* Keep the vertices above the last level, and find their minimum degree. */
static void
keep_left(void *arg, int thread, int nthreads)
{
	Cores	   *cores = arg;
	uint32_t	kept[VERTEX_CHUNK];
	int32_t		min_degree = INT32_MAX;

	for (uint64_t i, end; emogi_cpu_run_take(&cores->run, VERTEX_CHUNK, cores->nleft, &i, &end);)
	{
		uint64_t	n = 0;
		uint64_t	place;

		for (; i < end; i++)
		{
			const uint32_t v = cores->left[i];
			const int32_t degree = cores->degree[v];

			if (degree <= cores->level)
				continue;
			kept[n++] = v;
			min_degree = degree < min_degree ? degree : min_degree;
		}
		place = emogi_job_claim(&cores->nnext, n);
		memcpy(cores->next_left + place, kept, n * sizeof *kept);
	}
	for (int32_t known = __atomic_load_n(&cores->min_degree, __ATOMIC_RELAXED);
		 min_degree < known &&
		 !__atomic_compare_exchange_n(&cores->min_degree, &known, min_degree, false,
									  __ATOMIC_RELAXED, __ATOMIC_RELAXED);)
		;
}

/* Collect the vertices at the level. */
static void
collect_level(void *arg, int thread, int nthreads)
{
	Cores	   *cores = arg;
	uint32_t	found[VERTEX_CHUNK];

	for (uint64_t i, end; emogi_cpu_run_take(&cores->run, VERTEX_CHUNK, cores->nleft, &i, &end);)
	{
		uint64_t	n = 0;
		uint64_t	place;

		for (; i < end; i++)
			if (cores->degree[cores->left[i]] == cores->level)
				found[n++] = cores->left[i];
		place = emogi_job_claim(&cores->nseeds, n);
		memcpy(cores->seeds + place, found, n * sizeof *found);
	}
}

/*
 * Remove a vertex from its neighbors; those that fall to the level are pushed onto the stack.
 * Returns the new height of the stack. is_shared: other threads do so concurrently.
 */
static inline uint64_t
peel_vertex(Cores *cores, uint32_t v, uint32_t *stack, uint64_t height, bool is_shared)
{
	const uint32_t *targets = cores->lists.targets;
	const uint64_t end = cores->lists.offsets[v + UINT64_C(1)];
	const int32_t falling = cores->level + 1;
	int32_t    *degree = cores->degree;
	uint32_t	last = v;

	cores->core[v] = cores->level;
	for (uint64_t e = cores->lists.offsets[v]; e < end; e++)
	{
		const uint32_t w = targets[e];
		int32_t		before;

		if (w == last || w == v)
			continue;
		last = w;
		if (is_shared)
			before = __atomic_fetch_sub(&degree[w], 1, __ATOMIC_RELAXED);
		else
			before = degree[w]--;
		if (before == falling)
			stack[height++] = w;
	}
	return height;
}

/* Peel the level, and all vertices that fall to it. */
static inline void
peel(Cores *cores, int thread, bool is_shared)
{
	uint32_t   *stack = cores->stacks + (uint64_t) thread * cores->nvertices;
	uint64_t	height = 0;
	uint64_t	npeeled = 0;

	for (uint64_t i, end; emogi_cpu_run_take(&cores->run, SEED_CHUNK, cores->nseeds, &i, &end);)
		for (; i < end && !emogi_job_stopped(&cores->run.job); i++)
		{
			height = peel_vertex(cores, cores->seeds[i], stack, height, is_shared);
			for (npeeled++;
				 height > 0 &&
				 !(npeeled % PEELED_PER_POLL == 0 && emogi_job_stopped(&cores->run.job)); npeeled++)
				height = peel_vertex(cores, stack[height - 1], stack, height - 1, is_shared);
		}
	emogi_job_done(&cores->run.job, npeeled);
}

/* Peel the level; a step. */
static void
peel_level(void *arg, int thread, int nthreads)
{
	if (nthreads > 1)
		peel(arg, thread, true);
	else
		peel(arg, thread, false);
}

/* Peel all vertices, level by level. */
static void
peel_all(Cores *cores)
{
	cores->level = -1;
	while (!emogi_job_stopped(&cores->run.job))
	{
		const bool	serial = cores->nleft <= SERIAL_LEFT;
		uint32_t   *swap = cores->left;

		cores->nnext = cores->nseeds = 0;
		cores->min_degree = INT32_MAX;
		if (!emogi_cpu_run_step(&cores->run, keep_left, cores, serial) || cores->nnext == 0)
			return;
		cores->left = cores->next_left;
		cores->next_left = swap;
		cores->nleft = cores->nnext;
		cores->level = cores->min_degree;
		cores->run.job.control->level = (uint32_t) cores->level;
		cores->run.result->nlevels++;
		if (!emogi_cpu_run_step(&cores->run, collect_level, cores, serial) ||
			!emogi_cpu_run_step(&cores->run, peel_level, cores, serial))
			return;
	}
}

EmogiStatus
emogi_cpu_core(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	Cores		cores = {.lists = graph->forward, .nvertices = graph->nvertices,
		.core = result->columns[0].int32};
	const uint64_t nthreads = (uint64_t) emogi_pool_size(pool);

	emogi_cpu_run_begin(&cores.run, pool, graph, graph->nvertices, result, control, error,
						"core numbers");
	cores.left = emogi_cpu_run_scratch(&cores.run, 4 * graph->nvertices, sizeof *cores.left);
	cores.stacks = cores.left == NULL ? NULL
		: emogi_cpu_run_scratch(&cores.run, nthreads * graph->nvertices, sizeof *cores.stacks);
	if (cores.stacks != NULL)
	{
		cores.next_left = cores.left + graph->nvertices;
		cores.seeds = cores.next_left + graph->nvertices;
		cores.degree = (int32_t *) (cores.seeds + graph->nvertices);
		cores.nleft = graph->nvertices;
		if (emogi_cpu_run_step(&cores.run, count_neighbors, &cores, false))
			peel_all(&cores);
		result->nreached = graph->nvertices;
		result->edges_traversed = 2 * graph->forward.nedges;
	}
	return emogi_cpu_run_end(&cores.run);
}
