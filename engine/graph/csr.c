/*
 * csr.c: build a graph from edges and the numbers of their keys; csr_build.h describes the method.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. Reducing Pagerank Communication via Propagation
 *     Blocking. IPDPS 2017. Section IV (binning, here of edges instead of contributions).
 */
#include "csr_build.h"

#include "contract/semirings.h"
#include "layout.h"

#include <string.h>

#define BATCH (EMOGI_KEYS_BATCH / 2)	/* edges whose keys are translated at a time */
#define ID_PARTS 64

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Get the maximum number of list entries for nedges edges. */
static uint64_t
max_entries(uint64_t nedges, EmogiDirection direction)
{
	return direction == EMOGI_BOTH ? 2 * nedges : nedges;
}

/*
 * Choose buckets of about EMOGI_CSR_ENTRIES_PER_BUCKET list entries, or more if there are too many
 * entries.
 */
static void
choose_buckets(EmogiCsrBuild *build)
{
	uint64_t	wanted = build->nentries / EMOGI_CSR_ENTRIES_PER_BUCKET + 1;

	if (wanted > EMOGI_CSR_MAX_BUCKETS)
		wanted = EMOGI_CSR_MAX_BUCKETS;
	build->aim = build->nentries / wanted + 1;
	build->shift = 0;
	while ((build->nvertices >> build->shift) >= wanted)
		build->shift++;
	build->nbuckets = (uint32_t) (build->nvertices >> build->shift) + 1;
}

/* Derive the sizes of a build from the number of vertices, edges and threads. */
static void
size_build(EmogiCsrBuild *build, uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
		   int nthreads, bool weighted)
{
	uint64_t	max_threads;

	build->direction = direction;
	build->words = weighted ? 2 : 1;
	build->nvertices = nvertices;
	build->nentries = max_entries(nedges, direction);
	max_threads = build->nentries / EMOGI_CSR_ENTRIES_PER_THREAD + 1;
	build->nthreads = (uint64_t) nthreads < max_threads ? nthreads : (int) max_threads;
	choose_buckets(build);
	build->desk_bytes = emogi_csr_workspace_bytes(build);
}

size_t
emogi_csr_scratch_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, int nthreads,
						bool weighted)
{
	EmogiCsrBuild build = {0};

	size_build(&build, nvertices, nedges, direction, nthreads, weighted);
	return (size_t) build.nthreads * build.desk_bytes +
		emogi_partition_bytes(build.words * build.nentries, build.nbuckets, build.nthreads);
}

/* ---- partitioning ---- */

/* The state in which a thread appends entries. */
typedef struct Appender
{
	EmogiPartition *partition;
	uint64_t  **cursors;		/* [nbuckets] */
	size_t		block_mask;
	uint32_t	shift;
	int			thread;
} Appender;

/*
 * Get a thread's appender, by value, so that the compiler knows that stores of entries do not alias
 * it.
 */
static inline Appender
open_appender(EmogiCsrBuild *build, int thread)
{
	return (Appender) {.partition = &build->partition,
		.cursors = emogi_partition_cursors(&build->partition, thread),
		.block_mask = build->partition.block_entries * sizeof(uint64_t) - 1, .shift = build->shift,
		.thread = thread};
}

/*
 * Append an entry, with its weight if there are weights; false if the job has failed. Blocks hold
 * whole entries.
 */
ALWAYS_INLINE bool
append_entry(Appender appender, uint64_t source, uint64_t target, bool weighted, double weight)
{
	uint32_t	bucket = (uint32_t) (source >> appender.shift);

	if (!emogi_partition_append(appender.partition, appender.cursors, appender.block_mask,
								appender.thread, bucket, source << 32 | target))
		return false;
	if (weighted)
	{
		weight += 0.0;			/* -0 is 0 */
		memcpy(appender.cursors[bucket]++, &weight, sizeof(weight));
	}
	return true;
}

/* Append the entries of the edges [first, first + count) of a chunk; `weighted` is a constant. */
ALWAYS_INLINE bool
append_edges(EmogiCsrBuild *build, int thread, EmogiEdgeChunk *chunk, uint64_t first, size_t count,
			 bool weighted)
{
	const Appender appender = open_appender(build, thread);
	const EmogiWeightedEdge *edges = emogi_weighted_edges(chunk);
	bool		out = build->direction != EMOGI_IN;
	bool		in = build->direction != EMOGI_OUT;
	int64_t		key[EMOGI_KEYS_BATCH];
	uint32_t	number[EMOGI_KEYS_BATCH];

	if (count == 0)
		return true;			/* never, but the compiler does not know that key is initialized */
	emogi_key_numbers_translate(build->keys,
								emogi_edge_keys(build->edges, chunk, first, count, key), number,
								2 * count);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	src = number[2 * i];
		uint64_t	dst = number[2 * i + 1];
		double		weight = weighted ? edges[first + i].weight : 0.0;

		if (out && !append_entry(appender, src, dst, weighted, weight))
			return false;
		if (in && (!out || src != dst) && !append_entry(appender, dst, src, weighted, weight))
			return false;
	}
	return true;
}

/* Append entries without weights. Not inlined, like the next one: the loop needs all registers. */
static __attribute__((noinline)) bool
append_plain_edges(EmogiCsrBuild *build, int thread, EmogiEdgeChunk *chunk, uint64_t first,
				   size_t count)
{
	return append_edges(build, thread, chunk, first, count, false);
}

/* Append entries with weights. */
static __attribute__((noinline)) bool
append_weighted_edges(EmogiCsrBuild *build, int thread, EmogiEdgeChunk *chunk, uint64_t first,
					  size_t count)
{
	return append_edges(build, thread, chunk, first, count, true);
}

/* Partition the edges into buckets. */
static void
partition_edges(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	uint64_t	c;

	if (thread >= build->nthreads)
		return;
	while ((c = emogi_job_claim(&build->next, 1)) < build->edges->nchunks)
	{
		EmogiEdgeChunk *chunk = build->edges->chunks[c];

		if (chunk->isolated)
			continue;
		for (uint64_t i = 0; i < chunk->nedges; i += BATCH)
		{
			size_t		count = chunk->nedges - i < BATCH ? chunk->nedges - i : BATCH;

			if (emogi_job_stopped(&build->job) ||
				!(build->words == 1 ? append_plain_edges
				  : append_weighted_edges) (build, thread, chunk, i, count))
				return;
		}
		emogi_job_done(&build->job, max_entries(chunk->nedges, build->direction));
	}
}

/* Find the vertex whose list holds an entry: the last with offsets[v] <= entry. */
static uint64_t
vertex_of_entry(const EmogiAdjacency *adjacency, uint64_t nvertices, uint64_t entry)
{
	uint64_t	low = 0,
				high = nvertices;

	while (low + 1 < high)
	{
		uint64_t	middle = low + (high - low) / 2;

		if (adjacency->offsets[middle] <= entry)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Partition the reversed entries [i, end) of the finished lists, in the order of sources. */
ALWAYS_INLINE void
partition_reversed(EmogiCsrBuild *build, int thread, uint64_t i, uint64_t end, bool weighted)
{
	const Appender appender = open_appender(build, thread);
	const EmogiAdjacency *from = build->from;
	uint64_t	v = vertex_of_entry(from, build->nvertices, i);

	while (i < end && !emogi_job_stopped(&build->job))
	{
		uint64_t	stop = end - i < BATCH ? end : i + BATCH;

		emogi_job_done(&build->job, stop - i);
		for (; i < stop; i++)
		{
			while (from->offsets[v + 1] <= i)
				v++;
			if (!append_entry(appender, from->targets[i], v, weighted,
							  weighted ? emogi_weight(from->weights, build->type, i) : 0.0))
				return;
		}
	}
}

/* Partition the reversed entries of this thread's share of the finished lists. */
static void
partition_lists(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	uint64_t	nentries = build->from->nedges;
	uint64_t	share = nentries / (uint64_t) build->nthreads + 1;
	uint64_t	i = share * (uint64_t) thread;
	uint64_t	end = i + share < nentries ? i + share : nentries;

	if (thread >= build->nthreads || i >= end)
		return;
	if (build->words == 1)
		partition_reversed(build, thread, i, end, false);
	else
		partition_reversed(build, thread, i, end, true);
}

/* Count the entries before each bucket; returns the total. */
static uint64_t
sum_buckets(EmogiCsrBuild *build)
{
	uint64_t	sum = 0;

	for (uint32_t b = 0; b < build->nbuckets; b++)
	{
		build->base[b] = sum;
		for (int t = 0; t < build->nthreads; t++)
			sum += emogi_partition_count(&build->partition, t, b) / build->words;
	}
	build->base[build->nbuckets] = sum;
	return sum;
}

/* ---- steps ---- */

/* Populate memory in pieces. */
static void
populate_memory(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	uint64_t	at;

	while (!emogi_job_stopped(&build->job) &&
		   (at = emogi_job_claim(&build->next, EMOGI_CSR_POPULATE_BYTES)) < build->populate_bytes)
	{
		size_t		bytes = build->populate_bytes - at < EMOGI_CSR_POPULATE_BYTES
			? build->populate_bytes - at : EMOGI_CSR_POPULATE_BYTES;

		if (!emogi_job_populate(&build->job, build->populate_start + at, bytes))
			emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	}
}

/* Write the ids. */
static void
write_ids(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;

	for (uint64_t part; emogi_job_take(&build->job, &build->next, ID_PARTS, &part);)
		emogi_key_numbers_write_ids(build->keys, build->ids, part, ID_PARTS);
}

/* Run one task of the build from its first unit on; false if the job has stopped. */
static bool
run_build(EmogiPool *pool, EmogiCsrBuild *build, EmogiPoolTask task)
{
	build->next = 0;
	emogi_pool_run(pool, task, build);
	return !emogi_job_stopped(&build->job);
}

/* Zero the bytes between the end of an array and the end of its last line. */
static void
clear_padding(const void *array, size_t bytes)
{
	memset((char *) array + bytes, 0, emogi_whole_lines(bytes) - bytes);
}

/* Zero the padding of one direction's arrays and set its last offset. */
static void
close_adjacency(const EmogiAdjacency *adjacency, uint64_t nvertices, EmogiWeightType type)
{
	((uint64_t *) adjacency->offsets)[nvertices] = adjacency->nedges;
	clear_padding(adjacency->offsets, (nvertices + 1) * sizeof(uint64_t));
	clear_padding(adjacency->targets, adjacency->nedges * sizeof(uint32_t));
	if (type != EMOGI_WEIGHT_NONE)
		clear_padding(adjacency->weights, adjacency->nedges * emogi_weight_bytes(type));
}

/* Make an empty partition for nentries entries; false, with the job failed, if out of memory. */
static bool
open_partition(EmogiCsrBuild *build, uint64_t nentries, void *scratch)
{
	if (emogi_partition_init(&build->partition, &build->job, build->words * nentries,
							 build->nbuckets, build->nthreads, scratch))
		return true;
	emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	return false;
}

/* Make the forward lists and the ids; false if the job has stopped. */
static bool
build_forward(EmogiPool *pool, EmogiCsrBuild *build, const EmogiCsrInput *input, void *scratch,
			  EmogiGraph *graph)
{
	if (!open_partition(build, build->nentries, scratch) ||
		!run_build(pool, build, partition_edges))
		return false;
	emogi_csr_view(input->memory, build->nvertices, sum_buckets(build), build->direction,
				   input->with_backward, build->type, graph);
	build->populate_start = input->memory;
	build->populate_bytes = graph->memory_bytes;
	build->ids = input->memory;
	build->to = graph->forward;
	if (!run_build(pool, build, populate_memory) || !run_build(pool, build, write_ids))
		return false;
	clear_padding(graph->ids, build->nvertices * sizeof(int64_t));
	close_adjacency(&graph->forward, build->nvertices, build->type);
	return run_build(pool, build, emogi_csr_make_lists);
}

/* Make the transpose of the forward lists; false if the job has stopped. */
static bool
build_backward(EmogiPool *pool, EmogiCsrBuild *build, void *scratch, EmogiGraph *graph)
{
	if (!open_partition(build, graph->forward.nedges, scratch))
		return false;
	build->from = &graph->forward;
	build->to = graph->backward;
	build->sorted = true;
	close_adjacency(&graph->backward, build->nvertices, build->type);
	if (!run_build(pool, build, partition_lists))
		return false;
	(void) sum_buckets(build);
	return run_build(pool, build, emogi_csr_make_lists);
}

EmogiStatus
emogi_csr_build(EmogiPool *pool, const EmogiCsrInput *input, EmogiGraph *graph,
				EmogiControl *control, EmogiError *error)
{
	const EmogiEdges *edges = input->edges;
	bool		transpose = input->with_backward && input->direction != EMOGI_BOTH;
	EmogiCsrBuild build = {.job = {.control = control}, .edges = edges, .keys = input->keys};
	void	   *scratch;

	size_build(&build, input->keys->nvertices, edges->nedges - edges->nisolated, input->direction,
			   emogi_pool_size(pool), edges->weighted);
	emogi_job_phase(&build.job, EMOGI_PHASE_CSR, build.nentries * (transpose ? 4 : 2));
	build.type = edges->weighted ? emogi_weight_type(edges->weight_misfits) : EMOGI_WEIGHT_NONE;
	build.desks = input->scratch;
	scratch = build.desks + (size_t) build.nthreads * build.desk_bytes;
	if (build_forward(pool, &build, input, scratch, graph) && transpose)
		build_backward(pool, &build, scratch, graph);
	if (build.job.status == EMOGI_OK)
		control->done = control->total;
	return emogi_key_numbers_report(&build.job, edges, error);
}
