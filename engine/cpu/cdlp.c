/*
 * cdlp.c: community detection by label propagation.
 *
 * Fills label[nvertices] by the definition of LDBC Graphalytics [1]: every vertex starts with
 * itself as its label, and takes in each iteration the most frequent label of its neighbors in the
 * last one; ties go to the smallest label. A neighbor in both directions counts twice; parallel
 * edges and loops are skipped. It ends after max_iterations, or when nothing has changed.
 *
 * All labels of an iteration are computed from those of the last one, so that the result does not
 * depend on the order of the work. A vertex none of whose neighbors has changed is skipped.
 *
 * [1] A. Iosup et al. The LDBC Graphalytics Benchmark. arXiv:2011.15028. Section 2.3.3; the
 *     algorithm is that of U. Raghavan, R. Albert, S. Kumara. Near linear time algorithm to detect
 *     community structures in large-scale networks. Physical Review E 76, 2007.
 */
#include "cpu_algorithms.h"
#include "cpu/cpu_run.h"

#include <string.h>

#define VERTEX_CHUNK 512

/* Counts of the labels of one vertex's neighbors, for one thread. */
typedef struct Counter
{
	uint32_t   *count;			/* [nvertices], zero between vertices */
	uint32_t	best;
	uint32_t	max;
} Counter;

typedef struct Propagation
{
	EmogiCpuRun run;
	EmogiAdjacency forward;
	EmogiAdjacency backward;	/* offsets NULL = forward is symmetric, and a neighbor counts
								 * once */
	uint64_t	nvertices;
	uint32_t   *label;			/* [nvertices], of the last iteration */
	uint32_t   *next;			/* [nvertices] */
	uint8_t    *changed;		/* [nvertices], in the last iteration */
	uint8_t    *next_changed;	/* [nvertices] */
	uint32_t   *counts;			/* [nthreads][nvertices] */
	uint64_t	nchanged;		/* atomic */
	bool		is_first;
} Propagation;

/* Set every vertex's label to itself. */
static void
begin_labels(void *arg, int thread, int nthreads)
{
	Propagation *propagation = arg;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&propagation->run, VERTEX_CHUNK, propagation->nvertices, &v, &end);)
		for (; v < end; v++)
			propagation->label[v] = (uint32_t) v;
}

/* Check whether a neighbor in a list has changed. */
static inline bool
has_changed(const Propagation *propagation, const EmogiAdjacency *lists, uint64_t v)
{
	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		if (propagation->changed[lists->targets[e]])
			return true;
	return false;
}

/* Count the labels of a list's vertices, each vertex once. */
static inline void
count_list(const Propagation *propagation, const EmogiAdjacency *lists, uint64_t v,
		   Counter *counter)
{
	uint32_t	last = (uint32_t) v;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
	{
		const uint32_t w = lists->targets[e];
		uint32_t	label,
					count;

		if (w == last || w == v)
			continue;
		last = w;
		label = propagation->label[w];
		count = ++counter->count[label];
		if (count > counter->max || (count == counter->max && label < counter->best))
		{
			counter->max = count;
			counter->best = label;
		}
	}
}

/* Reset the counts of a list's labels. */
static inline void
clear_list(const Propagation *propagation, const EmogiAdjacency *lists, uint64_t v,
		   Counter *counter)
{
	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		counter->count[propagation->label[lists->targets[e]]] = 0;
}

/*
 * Find the most frequent label of a vertex's neighbors, the smallest among ties; its own if there
 * are none.
 */
static inline uint32_t
find_label(const Propagation *propagation, uint64_t v, Counter *counter)
{
	counter->max = 0;
	counter->best = propagation->label[v];
	count_list(propagation, &propagation->forward, v, counter);
	if (propagation->backward.offsets != NULL)
		count_list(propagation, &propagation->backward, v, counter);
	clear_list(propagation, &propagation->forward, v, counter);
	if (propagation->backward.offsets != NULL)
		clear_list(propagation, &propagation->backward, v, counter);
	return counter->best;
}

/* Check whether a vertex must be processed. */
static inline bool
is_open(const Propagation *propagation, uint64_t v)
{
	return propagation->is_first || has_changed(propagation, &propagation->forward, v) ||
		(propagation->backward.offsets != NULL &&
		 has_changed(propagation, &propagation->backward, v));
}

/* Compute the labels of an iteration. */
static void
propagate(void *arg, int thread, int nthreads)
{
	Propagation *propagation = arg;
	Counter		counter = {.count = propagation->counts + (uint64_t) thread *
		propagation->nvertices};
	uint64_t	nchanged = 0;

	for (uint64_t v, end;
		 emogi_cpu_run_take(&propagation->run, VERTEX_CHUNK, propagation->nvertices, &v, &end);)
		for (; v < end; v++)
		{
			const uint32_t label = propagation->label[v];
			const uint32_t next = is_open(propagation, v) ? find_label(propagation, v, &counter)
				: label;

			propagation->next[v] = next;
			propagation->next_changed[v] = next != label;
			nchanged += next != label;
		}
	__atomic_fetch_add(&propagation->nchanged, nchanged, __ATOMIC_RELAXED);
}

/* Iterate until nothing changes or max_iterations is reached. */
static void
iterate(Propagation *propagation, int64_t max_iterations)
{
	propagation->is_first = true;
	for (int64_t i = 0; i < max_iterations && propagation->nvertices > 0; i++)
	{
		uint32_t   *labels = propagation->label;
		uint8_t    *flags = propagation->changed;

		propagation->nchanged = 0;
		propagation->run.job.control->level = (uint32_t) i;
		if (!emogi_cpu_run_step(&propagation->run, propagate, propagation, false))
			return;
		propagation->label = propagation->next;
		propagation->next = labels;
		propagation->changed = propagation->next_changed;
		propagation->next_changed = flags;
		propagation->is_first = false;
		propagation->run.result->nlevels++;
		propagation->run.result->edges_traversed += propagation->forward.nedges +
			propagation->backward.nedges;
		if (propagation->nchanged == 0)
			return;
	}
}

EmogiStatus
emogi_cpu_cdlp(EmogiPool *pool, const EmogiGraph *graph, const EmogiQuery *query,
			   EmogiResult *result, EmogiControl *control, EmogiError *error)
{
	const uint64_t n = graph->nvertices;
	uint32_t   *const answer = result->columns[0].vertex;
	Propagation propagation = {.forward = graph->forward, .nvertices = n, .label = answer};

	if (graph->backward.offsets != graph->forward.offsets)
		propagation.backward = graph->backward;
	emogi_cpu_run_begin(&propagation.run, pool, graph, 0, result, control, error, "communities");
	propagation.next = emogi_cpu_run_scratch(&propagation.run, n + (n + 1) / 2, sizeof(uint32_t));
	propagation.counts = propagation.next == NULL ? NULL :
		emogi_cpu_run_scratch(&propagation.run, (uint64_t) emogi_pool_size(pool) * n,
							  sizeof(uint32_t));
	if (propagation.counts != NULL)
	{
		propagation.changed = (uint8_t *) (propagation.next + n);
		propagation.next_changed = propagation.changed + n;
		if (emogi_cpu_run_step(&propagation.run, begin_labels, &propagation, false))
			iterate(&propagation, query->max_iterations);
		if (propagation.label != answer)
			memcpy(answer, propagation.label, n * sizeof *answer);
		result->nreached = n;
	}
	return emogi_cpu_run_end(&propagation.run);
}
