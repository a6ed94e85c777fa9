/*
 * property_load.c: load property columns for the lists of an existing graph.
 *
 * The lists of the numbers are sorted by target, then by number. Those of the graph are sorted by
 * target, then by weight. So only runs of parallel edges may differ, and are sorted again if the
 * graph has weights. Threads take chunks of vertices, and compare each entry.
 */
#include "contract/property_load.h"

#include "graph/weights.h"
#include "threads/job.h"
#include "threads/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_VERTICES 4096		/* that a thread takes at a time */
#define FEW_PARALLEL 64			/* entries of a run that are sorted on the stack */
#define POLL_ENTRIES (UINT64_C(1) << 20)	/* between two checks for cancellation */

/* A comparison of the lists of one orientation. */
typedef struct Comparison
{
	EmogiJob	job;
	const EmogiGraph *graph;
	const EmogiGraph *numbers;
	const EmogiAdjacency *lists;	/* of the graph */
	const EmogiAdjacency *numbered; /* of the numbers */
	const double *weights;		/* of rows; NULL = the graph has none */
	uint64_t	next;			/* atomic: vertex */
	uint32_t	differs;		/* atomic: 1 = the edges are not the same */
} Comparison;

/* A parallel edge. */
typedef struct Parallel
{
	double		weight;
	double		number;			/* of its row */
} Parallel;

static int
compare_parallel(const void *a, const void *b)
{
	const Parallel *x = a;
	const Parallel *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Get the key of a vertex. */
static int64_t
key_of(const EmogiGraph *graph, uint64_t vertex)
{
	return graph->ids != NULL ? graph->ids[vertex] : (int64_t) vertex;
}

/* Sort the numbers of the parallel edges [first, end) by weight; false if out of memory. */
static bool
sort_parallel(Comparison *comparison, uint64_t first, uint64_t end)
{
	const EmogiAdjacency *numbered = comparison->numbered;
	const EmogiWeightType type = comparison->numbers->weight_type;
	const uint64_t count = end - first;
	Parallel	few[FEW_PARALLEL];
	Parallel   *edges = count <= FEW_PARALLEL ? few : NULL;

	if (edges == NULL && (!emogi_job_may_allocate(&comparison->job) ||
						  (edges = malloc(count * sizeof *edges)) == NULL))
		return false;
	for (uint64_t i = 0; i < count; i++)
	{
		emogi_weights_load(&edges[i].number, numbered->weights, type, first + i, 1);
		edges[i].weight = comparison->weights[(uint64_t) edges[i].number];
	}
	qsort(edges, count, sizeof *edges, compare_parallel);
	for (uint64_t i = 0; i < count; i++)
		emogi_weights_store((void *) numbered->weights, type, first + i, &edges[i].number, 1);
	if (edges != few)
		free(edges);
	return true;
}

/* Sort all parallel edges among the entries [first, end) of one list; false if out of memory. */
static bool
sort_list(Comparison *comparison, uint64_t first, uint64_t end)
{
	const uint32_t *targets = comparison->lists->targets;

	for (uint64_t e = first; e < end;)
	{
		uint64_t	after = e + 1;

		while (after < end && targets[after] == targets[e])
			after++;
		if (after - e > 1 && !sort_parallel(comparison, e, after))
			return false;
		e = after;
	}
	return true;
}

/* Check whether the entries [first, end) have the weights of their rows. */
static bool
have_weights(const Comparison *comparison, uint64_t first, uint64_t end)
{
	double		numbers[EMOGI_WEIGHTS_BATCH];
	double		weights[EMOGI_WEIGHTS_BATCH];

	for (uint64_t e = first; e < end; e += EMOGI_WEIGHTS_BATCH)
	{
		const uint64_t count = end - e < EMOGI_WEIGHTS_BATCH ? end - e : EMOGI_WEIGHTS_BATCH;

		emogi_weights_load(numbers, comparison->numbered->weights,
						   comparison->numbers->weight_type, e, count);
		emogi_weights_load(weights, comparison->lists->weights, comparison->graph->weight_type, e,
						   count);
		for (uint64_t i = 0; i < count; i++)
			if (weights[i] != comparison->weights[(uint64_t) numbers[i]])
				return false;
	}
	return true;
}

/* Check whether vertices [first, end) have the same keys and lists; sorts parallel edges. */
static bool
are_same(Comparison *comparison, uint64_t first, uint64_t end)
{
	const uint64_t *offsets = comparison->lists->offsets;

	for (uint64_t v = first; v < end; v++)
		if (key_of(comparison->graph, v) != key_of(comparison->numbers, v))
			return false;
	if (memcmp(offsets + first, comparison->numbered->offsets + first,
			   (end - first + 1) * sizeof *offsets) != 0 ||
		memcmp(comparison->lists->targets + offsets[first],
			   comparison->numbered->targets + offsets[first],
			   (offsets[end] - offsets[first]) * sizeof(uint32_t)) != 0)
		return false;
	if (comparison->weights == NULL)
		return true;
	for (uint64_t v = first; v < end; v++)
		if (!sort_list(comparison, offsets[v], offsets[v + 1]))
		{
			emogi_job_fail(&comparison->job, EMOGI_NO_MEMORY);
			return true;
		}
	return have_weights(comparison, offsets[first], offsets[end]);
}

static void
compare_chunks(void *arg, int thread, int nthreads)
{
	Comparison *comparison = arg;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&comparison->job, &comparison->next, CHUNK_VERTICES,
								comparison->graph->nvertices, &first, &end))
		if (!are_same(comparison, first, end))
		{
			__atomic_store_n(&comparison->differs, 1, __ATOMIC_RELAXED);
			emogi_job_fail(&comparison->job, EMOGI_BAD_INPUT);
		}
}

/* Compare the lists of one orientation, and give parallel edges the numbers of their rows. */
static EmogiStatus
compare_lists(EmogiPool *pool, const EmogiGraph *graph, EmogiPropertyLoad *load, bool backward,
			  EmogiControl *control, EmogiError *error)
{
	Comparison	comparison = {.job = {.control = control}, .graph = graph,
		.numbers = &load->numbers,
		.lists = backward ? &graph->backward : &graph->forward,
		.numbered = backward ? &load->numbers.backward : &load->numbers.forward,
		.weights = load->weights};

	if (graph->nvertices == load->numbers.nvertices && comparison.numbered->offsets != NULL &&
		comparison.lists->nedges == comparison.numbered->nedges)
		emogi_pool_run(pool, compare_chunks, &comparison);
	else
		comparison.differs = 1;
	if (comparison.differs == 0)
	{
		if (comparison.job.status == EMOGI_NO_MEMORY)
			*error = (EmogiError) {.message = "out of memory for a column of the graph"};
		return (EmogiStatus) comparison.job.status;
	}
	*error = (EmogiError) {.message = "the rows of a column are not the edges of the graph"};
	snprintf(error->detail, sizeof error->detail, "%llu entries of %llu vertices, %llu rows of "
			 "%llu vertices", (unsigned long long) comparison.lists->nedges,
			 (unsigned long long) graph->nvertices,
			 (unsigned long long) comparison.numbered->nedges,
			 (unsigned long long) load->numbers.nvertices);
	return EMOGI_BAD_INPUT;
}

/* Fill the columns of one orientation. */
static EmogiStatus
fill_columns(EmogiPool *pool, const EmogiPropertyLoad *load, bool backward, EmogiControl *control,
			 EmogiError *error)
{
	const EmogiAdjacency *numbered = backward ? &load->numbers.backward : &load->numbers.forward;
	EmogiProperty *columns = backward ? load->backward : load->forward;
	EmogiStatus status = EMOGI_OK;

	for (uint32_t i = 0; i < load->ncolumns && status == EMOGI_OK; i++)
		status = emogi_properties_fill(pool, numbered, load->numbers.weight_type, &load->rows[i],
									   (void *) columns[i].values, &columns[i], control, error);
	return status;
}

/* Fill in which entries lead to each vertex, in the calling thread. */
static EmogiStatus
fill_in_entries(const EmogiGraph *graph, const EmogiPropertyLoad *load, EmogiControl *control,
				EmogiError *error)
{
	EmogiJob	job = {.control = control};
	const EmogiAdjacency *lists = &graph->forward;
	const size_t offset_bytes = (graph->nvertices + 2) * sizeof(uint64_t);
	uint64_t   *ends = load->in_offsets + 1;	/* where the next entry of each vertex goes */

	if (!emogi_job_populate(&job, load->in_offsets, offset_bytes) ||
		!emogi_job_populate(&job, load->in_entries, lists->nedges * sizeof(uint32_t)))
	{
		*error = (EmogiError) {.message = "out of memory for a column of the graph"};
		return EMOGI_NO_MEMORY;
	}
	memset(load->in_offsets, 0, offset_bytes);
	for (uint64_t e = 0; e < lists->nedges; e++)
	{
		if (e % POLL_ENTRIES == 0 && emogi_job_stopped(&job))
			return EMOGI_CANCELED;
		ends[lists->targets[e] + 1]++;
	}
	for (uint64_t v = 0; v < graph->nvertices; v++)
		ends[v + 1] += ends[v];
	for (uint64_t e = 0; e < lists->nedges; e++)
	{
		if (e % POLL_ENTRIES == 0 && emogi_job_stopped(&job))
			return EMOGI_CANCELED;
		load->in_entries[ends[lists->targets[e]]++] = (uint32_t) e;
	}
	return EMOGI_OK;
}

EmogiStatus
emogi_property_load(EmogiPool *pool, const EmogiGraph *graph, EmogiPropertyLoad *load,
					EmogiControl *control, EmogiError *error)
{
	EmogiStatus status = compare_lists(pool, graph, load, false, control, error);

	if (status == EMOGI_OK && load->backward != NULL)
		status = compare_lists(pool, graph, load, true, control, error);
	if (status == EMOGI_OK)
		status = fill_columns(pool, load, false, control, error);
	if (status == EMOGI_OK && load->backward != NULL)
		status = fill_columns(pool, load, true, control, error);
	if (status == EMOGI_OK && load->in_offsets != NULL)
		status = fill_in_entries(graph, load, control, error);
	return status;
}
