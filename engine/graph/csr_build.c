/*
 * csr_build.c: the steps of building a Graph, whatever its entries are.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. Reducing Pagerank Communication via Propagation Blocking. IPDPS 2017.
 *     Section IV (binning, here of edges instead of contributions).
 */
#include "csr_build.h"

#include "layout.h"

#include <string.h>

#define ENTRIES_PER_BUCKET 16384	/* aim */
#define ENTRIES_PER_THREAD 131072	/* fewer do not repay its desk and its blocks, most of a megabyte */
#define POPULATE_BYTES ((size_t) 2 << 20)
#define ID_PARTS 64

/* Choose buckets of about ENTRIES_PER_BUCKET list entries, or more where those are very many. */
static void
cut_sources(EmogiCsrBuild *build)
{
	uint64_t	wanted = build->nentries / ENTRIES_PER_BUCKET + 1;

	if (wanted > EMOGI_CSR_MAX_BUCKETS)
		wanted = EMOGI_CSR_MAX_BUCKETS;
	build->aim = build->nentries / wanted + 1;
	build->shift = 0;
	while ((build->nvertices >> build->shift) >= wanted)
		build->shift++;
	build->nbuckets = (uint32_t) (build->nvertices >> build->shift) + 1;
}

/* Set what follows from the number of vertices, entries and threads there are. */
static void
size_build(EmogiCsrBuild *build, uint64_t nvertices, uint64_t nedges, EmogiDirection direction, int nthreads)
{
	uint64_t	most_threads;

	build->direction = direction;
	build->nvertices = nvertices;
	build->nentries = emogi_csr_most_entries(nedges, direction);
	most_threads = build->nentries / ENTRIES_PER_THREAD + 1;
	build->nthreads = (uint64_t) nthreads < most_threads ? nthreads : (int) most_threads;
	cut_sources(build);
	build->desk_bytes = emogi_whole_lines(((size_t) 1 << build->shift) * sizeof(uint64_t)) +
		emogi_whole_lines(build->kind->desk_bytes(build));
}

size_t
emogi_csr_scratch_bytes_of(const EmogiCsrKind *kind, uint64_t nvertices, uint64_t nedges, EmogiDirection direction,
						   int nthreads)
{
	EmogiCsrBuild build = {.kind = kind};

	size_build(&build, nvertices, nedges, direction, nthreads);
	return (size_t) build.nthreads * build.desk_bytes +
		emogi_partition_bytes(kind->words * build.nentries, build.nbuckets, build.nthreads);
}

/* ---- into buckets ---- */

/* Sort the edges into buckets. */
static void
partition_edges(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	uint64_t  **cursors;
	uint64_t	c;

	if (thread >= build->nthreads)
		return;
	cursors = emogi_partition_cursors(&build->partition, thread);
	while ((c = emogi_job_take(&build->next, 1)) < build->edges->nchunks)
	{
		EmogiEdgeChunk *chunk = build->edges->chunks[c];

		for (uint64_t i = 0; i < chunk->nedges; i += EMOGI_CSR_BATCH)
		{
			size_t		count = chunk->nedges - i < EMOGI_CSR_BATCH ? chunk->nedges - i : EMOGI_CSR_BATCH;

			if (emogi_job_stopped(&build->job) || !build->kind->append_edges(build, thread, cursors, chunk, i, count))
				return;
		}
		emogi_job_done(&build->job, emogi_csr_most_entries(chunk->nedges, build->direction));
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

/* Sort the reversed entries of this thread's share of the finished lists into buckets, in order of sources. */
static void
partition_lists(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	const EmogiAdjacency *from = build->from;
	uint64_t	share = from->nedges / (uint64_t) build->nthreads + 1;
	uint64_t	i = share * (uint64_t) thread;
	uint64_t	end = i + share < from->nedges ? i + share : from->nedges;
	uint64_t  **cursors;
	uint64_t	v;

	if (thread >= build->nthreads || i >= end)
		return;
	cursors = emogi_partition_cursors(&build->partition, thread);
	v = vertex_of_entry(from, build->nvertices, i);
	while (i < end && !emogi_job_stopped(&build->job))
	{
		uint64_t	stop = end - i < EMOGI_CSR_BATCH ? end : i + EMOGI_CSR_BATCH;

		emogi_job_done(&build->job, stop - i);
		for (; i < stop; i++)
		{
			while (from->offsets[v + 1] <= i)
				v++;
			if (!build->kind->append_reversed(build, thread, cursors, i, v))
				return;
		}
	}
}

/* Count the entries before each bucket; get the number of all. */
static uint64_t
sum_buckets(EmogiCsrBuild *build)
{
	uint64_t	sum = 0;

	for (uint32_t b = 0; b < build->nbuckets; b++)
	{
		build->base[b] = sum;
		for (int t = 0; t < build->nthreads; t++)
			sum += emogi_partition_count(&build->partition, t, b) / build->kind->words;
	}
	build->base[build->nbuckets] = sum;
	return sum;
}

/* ---- into lists ---- */

/* Count the entries of each source of a bucket, with their words as a constant; false when the job has stopped. */
static inline __attribute__((always_inline)) bool
count_entries(EmogiCsrBuild *build, const EmogiCsrBucket *bucket, uint32_t nwords)
{
	uint64_t   *cursor = bucket->cursor;
	uint64_t	first = bucket->first;
	EmogiCsrWalk walk = emogi_csr_walk(build, bucket);
	const uint64_t *words;
	uint32_t	n;

	memset(cursor, 0, (bucket->end - first) * sizeof(*cursor));
	while ((words = emogi_csr_next(build, &walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i += nwords)
			cursor[(words[i] >> 32) - first]++;
	}
	return !emogi_job_stopped(&build->job);
}

/* Set the offsets of a bucket's vertices, and a cursor at each; false when the job has stopped. */
static bool
lay_out_bucket(EmogiCsrBuild *build, const EmogiCsrBucket *bucket)
{
	uint64_t   *offsets = (uint64_t *) build->to.offsets + bucket->first;
	uint64_t   *cursor = bucket->cursor;
	uint64_t	count = bucket->end - bucket->first;
	uint64_t	offset = build->base[bucket->number];

	if (!(build->kind->words == 1 ? count_entries(build, bucket, 1) : count_entries(build, bucket, 2)))
		return false;
	for (uint64_t v = 0; v < count; v++)
	{
		uint64_t	degree = cursor[v];

		offsets[v] = offset;
		cursor[v] = offset;
		offset += degree;
	}
	return true;
}

/* Make the lists of the buckets. */
static void
place_lists(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	EmogiCsrBucket bucket = {.desk = (uintptr_t) build->desks + (size_t) thread * build->desk_bytes};
	uint64_t	b;

	if (thread >= build->nthreads)
		return;
	if (!emogi_job_populate(&build->job, (void *) bucket.desk, build->desk_bytes))
		emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	bucket.cursor = emogi_carve(&bucket.desk, ((size_t) 1 << build->shift) * sizeof(uint64_t));
	while (!emogi_job_stopped(&build->job) && (b = emogi_job_take(&build->next, 1)) < build->nbuckets)
	{
		bucket.number = (uint32_t) b;
		bucket.first = b << build->shift;
		bucket.end = (b + 1) << build->shift;
		if (bucket.end > build->nvertices)
			bucket.end = build->nvertices;
		if (!lay_out_bucket(build, &bucket) || !build->kind->deal(build, &bucket))
			return;
		emogi_job_done(&build->job, build->base[b + 1] - build->base[b]);
	}
}

/* ---- all steps ---- */

/* Populate memory in pieces. */
static void
populate_memory(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	uint64_t	at;

	while (!emogi_job_stopped(&build->job) &&
		   (at = emogi_job_take(&build->next, POPULATE_BYTES)) < build->populate_bytes)
	{
		size_t		bytes = build->populate_bytes - at < POPULATE_BYTES ? build->populate_bytes - at : POPULATE_BYTES;

		if (!emogi_job_populate(&build->job, build->populate_start + at, bytes))
			emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	}
}

/* Write the ids. */
static void
write_ids(void *arg, int thread, int nthreads)
{
	EmogiCsrBuild *build = arg;
	uint64_t	part;

	while (!emogi_job_stopped(&build->job) && (part = emogi_job_take(&build->next, 1)) < ID_PARTS)
		emogi_keys_write_ids(build->keys, build->ids, part, ID_PARTS);
}

/* Run one task of the build from its first unit on; false when the job has stopped. */
static bool
run_build(EmogiPool *pool, EmogiCsrBuild *build, EmogiPoolTask task)
{
	build->next = 0;
	emogi_pool_run(pool, task, build);
	return !emogi_job_stopped(&build->job);
}

/* Clear what lies between the end of an array and the end of its last line. */
static void
clear_padding(const void *array, size_t bytes)
{
	memset((char *) array + bytes, 0, emogi_whole_lines(bytes) - bytes);
}

/* Clear the padding of one orientation's arrays and close its offsets. */
static void
close_adjacency(const EmogiAdjacency *adjacency, uint64_t nvertices, EmogiWeightType type)
{
	((uint64_t *) adjacency->offsets)[nvertices] = adjacency->nedges;
	clear_padding(adjacency->offsets, (nvertices + 1) * sizeof(uint64_t));
	clear_padding(adjacency->targets, adjacency->nedges * sizeof(uint32_t));
	if (type != EMOGI_WEIGHT_NONE)
		clear_padding(adjacency->weights, adjacency->nedges * emogi_weight_bytes(type));
}

/* Make an empty partition for the most entries there can be; false, with the job failed, without memory. */
static bool
open_partition(EmogiCsrBuild *build, uint64_t nentries, void *scratch)
{
	if (emogi_partition_init(&build->partition, &build->job, build->kind->words * nentries, build->nbuckets,
							 build->nthreads, scratch))
		return true;
	emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	return false;
}

/* Make the forward lists and the ids; false when the job has stopped. */
static bool
build_forward(EmogiPool *pool, EmogiCsrBuild *build, void *memory, bool with_backward, void *scratch, EmogiGraph *graph)
{
	if (!open_partition(build, build->nentries, scratch) || !run_build(pool, build, partition_edges))
		return false;
	emogi_csr_view(memory, build->nvertices, sum_buckets(build), build->direction, with_backward,
				   build->type, graph);
	build->populate_start = memory;
	build->populate_bytes = graph->memory_bytes;
	build->ids = memory;
	build->to = graph->forward;
	if (!run_build(pool, build, populate_memory) || !run_build(pool, build, write_ids))
		return false;
	clear_padding(graph->ids, build->nvertices * sizeof(int64_t));
	close_adjacency(&graph->forward, build->nvertices, build->type);
	return run_build(pool, build, place_lists);
}

/* Make the transpose of the forward lists; false when the job has stopped. */
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
	return run_build(pool, build, place_lists);
}

EmogiStatus
emogi_csr_build_of(const EmogiCsrKind *kind, EmogiPool *pool, const EmogiEdges *edges, const EmogiKeys *keys,
				   EmogiDirection direction, bool with_backward, void *memory, void *scratch, EmogiGraph *graph,
				   EmogiControl *control, EmogiError *error)
{
	bool		transpose = with_backward && direction != EMOGI_BOTH;
	EmogiCsrBuild build = {.job = {.control = control},.kind = kind,.edges = edges,.keys = keys};

	size_build(&build, keys->nvertices, edges->nedges, direction, emogi_pool_size(pool));
	emogi_job_phase(&build.job, EMOGI_PHASE_CSR, build.nentries * (transpose ? 4 : 2));
	build.type = edges->weighted ? emogi_weight_type(edges->weight_misfits) : EMOGI_WEIGHT_NONE;
	build.desks = scratch;
	scratch = build.desks + (size_t) build.nthreads * build.desk_bytes;
	if (build_forward(pool, &build, memory, with_backward, scratch, graph) && transpose)
		build_backward(pool, &build, scratch, graph);
	if (build.job.status == EMOGI_OK)
		control->done = control->total;
	return emogi_keys_report(&build.job, edges, error);
}
