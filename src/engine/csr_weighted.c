/*
 * csr_weighted.c: from weighted edges and the numbers of their keys to offsets, sorted targets and their weights.
 *
 * As csr.c: one pass over the edges appends entries to buckets of neighbouring sources (partition.h), here two words
 * each, (source, target) and the weight. Then each bucket is counted, laid out and dealt out to the lists of its
 * sources, the weights in the narrowest type; and each list is sorted (sort_weighted.c). The transpose is
 * made from the finished lists: they are read in order of sources, so that nothing is to be sorted.
 */
#include "csr_weighted.h"

#include "algebra.h"
#include "keys.h"
#include "layout.h"
#include "partition.h"

#include <string.h>

#define WORDS 2					/* of an entry */
#define MAX_BUCKETS 2048
#define ENTRIES_PER_BUCKET 16384	/* aim */
#define EDGES_PER_BATCH (EMOGI_KEYS_BATCH / 2)
#define POPULATE_BYTES ((size_t) 2 << 20)
#define ID_PARTS 64

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* How the sources of a Graph are cut into buckets. */
typedef struct Cut
{
	uint32_t	nbuckets;
	uint32_t	shift;			/* bucket = source >> shift */
} Cut;

/* What one thread needs to lay out a bucket. */
typedef struct Desk
{
	uint64_t   *cursor;			/* [1 << shift], where the next entry of each source goes */
	uint64_t   *items;			/* [2][EMOGI_LIST_SCRATCH] */
} Desk;

typedef struct Build
{
	EmogiJob	job;
	const EmogiEdges *edges;
	const EmogiKeys *keys;
	EmogiDirection direction;
	EmogiWeightType type;
	Cut			cut;
	EmogiPartition partition;
	char	   *desks;			/* [nthreads] desks of desk_bytes */
	size_t		desk_bytes;
	uint64_t	base[MAX_BUCKETS + 1];	/* entries before each bucket */
	uint64_t	nvertices;
	const EmogiAdjacency *from;	/* the lists to transpose */
	EmogiAdjacency to;			/* the lists in the making */
	bool		sorted;			/* entries come in the order of targets and weights */
	int64_t    *ids;
	char	   *populate_start;
	size_t		populate_bytes;
	uint64_t	next;			/* atomic: next chunk, bucket or piece */
} Build;

/* Get the most list entries that nedges can make. */
static uint64_t
most_entries(uint64_t nedges, EmogiDirection direction)
{
	return direction == EMOGI_BOTH ? 2 * nedges : nedges;
}

/* Choose buckets of about ENTRIES_PER_BUCKET list entries. */
static Cut
cut_sources(uint64_t nvertices, uint64_t nentries)
{
	uint64_t	wanted = nentries / ENTRIES_PER_BUCKET + 1;
	Cut			cut = {1, 0};

	if (wanted > MAX_BUCKETS)
		wanted = MAX_BUCKETS;
	while ((nvertices >> cut.shift) >= wanted)
		cut.shift++;
	cut.nbuckets = (uint32_t) (nvertices >> cut.shift) + 1;
	return cut;
}

/* Get the bytes of a thread's desk. */
static size_t
bytes_of_desk(Cut cut)
{
	return emogi_whole_lines(((size_t) 1 << cut.shift) * sizeof(uint64_t)) +
		2 * EMOGI_LIST_SCRATCH * sizeof(uint64_t);
}

size_t
emogi_csr_weighted_scratch_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, int nthreads)
{
	uint64_t	nentries = most_entries(nedges, direction);
	Cut			cut = cut_sources(nvertices, nentries);

	return (size_t) nthreads * bytes_of_desk(cut) + emogi_partition_bytes(WORDS * nentries, cut.nbuckets, nthreads);
}

/* Append an entry; false when the job has failed. Blocks hold whole entries: their words are even. */
static inline bool
append_entry(EmogiPartition *partition, uint64_t **cursors, size_t mask, int thread, uint32_t bucket, uint64_t source,
			 uint64_t target, double weight)
{
	if (!emogi_partition_append(partition, cursors, mask, thread, bucket, source << 32 | target))
		return false;
	weight += 0.0;				/* -0 is 0 */
	memcpy(cursors[bucket]++, &weight, sizeof(weight));
	return true;
}

/* Append the list entries of up to EDGES_PER_BATCH edges of a chunk; false when the job has failed. */
static bool
append_edges(Build *build, int thread, uint64_t **cursors, EmogiEdgeChunk *chunk, uint64_t first, size_t count)
{
	const EmogiWeightedEdge *edges = emogi_weighted_edges(chunk) + first;
	EmogiPartition *partition = &build->partition;
	size_t		mask = partition->block_entries * sizeof(uint64_t) - 1;
	uint32_t	shift = build->cut.shift;
	bool		out = build->direction != EMOGI_IN;
	bool		in = build->direction != EMOGI_OUT;
	int64_t		key[EMOGI_KEYS_BATCH];
	uint32_t	number[EMOGI_KEYS_BATCH];

	emogi_keys_numbers(build->keys, emogi_edge_keys(build->edges, chunk, first, count, key), number, 2 * count);
	for (size_t i = 0; i < count; i++)
	{
		uint32_t	src = number[2 * i];
		uint32_t	dst = number[2 * i + 1];

		if (out && !append_entry(partition, cursors, mask, thread, src >> shift, src, dst, edges[i].weight))
			return false;
		if (in && (!out || src != dst) &&
			!append_entry(partition, cursors, mask, thread, dst >> shift, dst, src, edges[i].weight))
			return false;
	}
	return true;
}

/* Sort the edges into buckets. */
static void
partition_edges(void *arg, int thread, int nthreads)
{
	Build	   *build = arg;
	uint64_t  **cursors = emogi_partition_cursors(&build->partition, thread);
	uint64_t	c;

	while ((c = emogi_job_take(&build->next, 1)) < build->edges->nchunks)
	{
		EmogiEdgeChunk *chunk = build->edges->chunks[c];

		for (uint64_t i = 0; i < chunk->nedges; i += EDGES_PER_BATCH)
		{
			size_t		count = chunk->nedges - i < EDGES_PER_BATCH ? chunk->nedges - i : EDGES_PER_BATCH;

			if (emogi_job_stopped(&build->job) || !append_edges(build, thread, cursors, chunk, i, count))
				return;
		}
		emogi_job_done(&build->job, most_entries(chunk->nedges, build->direction));
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
	Build	   *build = arg;
	EmogiPartition *partition = &build->partition;
	uint64_t  **cursors = emogi_partition_cursors(partition, thread);
	size_t		mask = partition->block_entries * sizeof(uint64_t) - 1;
	const EmogiAdjacency *from = build->from;
	uint64_t	share = from->nedges / (uint64_t) nthreads + 1;
	uint64_t	i = share * (uint64_t) thread;
	uint64_t	end = i + share < from->nedges ? i + share : from->nedges;
	uint64_t	v = i < end ? vertex_of_entry(from, build->nvertices, i) : 0;

	while (i < end && !emogi_job_stopped(&build->job))
	{
		uint64_t	stop = end - i < EDGES_PER_BATCH ? end : i + EDGES_PER_BATCH;

		emogi_job_done(&build->job, stop - i);
		for (; i < stop; i++)
		{
			uint32_t	target = from->targets[i];

			while (from->offsets[v + 1] <= i)
				v++;
			if (!append_entry(partition, cursors, mask, thread, target >> build->cut.shift, target, v,
							  emogi_weight(from->weights, build->type, i)))
				return;
		}
	}
}

/* Count the entries before each bucket; get the number of all. */
static uint64_t
sum_buckets(Build *build, int nthreads)
{
	uint64_t	sum = 0;

	for (uint32_t b = 0; b < build->cut.nbuckets; b++)
	{
		build->base[b] = sum;
		for (int t = 0; t < nthreads; t++)
			sum += emogi_partition_count(&build->partition, t, b) / WORDS;
	}
	build->base[build->cut.nbuckets] = sum;
	return sum;
}

/* Set the offsets of a bucket's vertices, and a cursor at each; false when the job has stopped. */
static bool
lay_out_bucket(Build *build, uint32_t bucket, uint64_t *cursor, uint64_t first, uint64_t count)
{
	uint64_t   *offsets = (uint64_t *) build->to.offsets + first;
	EmogiBucketWalk walk = emogi_bucket_walk(&build->partition, bucket);
	uint64_t	offset = build->base[bucket];
	const uint64_t *words;
	uint32_t	n;

	memset(cursor, 0, count * sizeof(*cursor));
	while ((words = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i += WORDS)
			cursor[(words[i] >> 32) - first]++;
		if (emogi_job_stopped(&build->job))
			return false;
	}
	for (uint64_t v = 0; v < count; v++)
	{
		uint64_t	degree = cursor[v];

		offsets[v] = offset;
		cursor[v] = offset;
		offset += degree;
	}
	return true;
}

/* Store a weight, which the type holds exactly. */
ALWAYS_INLINE void
store_weight(void *weights, EmogiWeightType type, uint64_t i, double weight)
{
	if (type == EMOGI_WEIGHT_U8)
		((uint8_t *) weights)[i] = (uint8_t) weight;
	else if (type == EMOGI_WEIGHT_U16)
		((uint16_t *) weights)[i] = (uint16_t) weight;
	else if (type == EMOGI_WEIGHT_U32)
		((uint32_t *) weights)[i] = (uint32_t) weight;
	else if (type == EMOGI_WEIGHT_F32)
		((float *) weights)[i] = (float) weight;
	else
		((double *) weights)[i] = weight;
}

/* Move a bucket's entries to their lists; false when the job has stopped. */
ALWAYS_INLINE bool
deal_bucket(Build *build, EmogiWeightType type, uint32_t bucket, uint64_t *cursor, uint64_t first)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	void	   *weights = (void *) build->to.weights;
	EmogiBucketWalk walk = emogi_bucket_walk(&build->partition, bucket);
	const uint64_t *words;
	uint32_t	n;

	while ((words = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i += WORDS)
		{
			uint64_t	place = cursor[(words[i] >> 32) - first]++;
			double		weight;

			targets[place] = (uint32_t) words[i];
			memcpy(&weight, &words[i + 1], sizeof(weight));
			store_weight(weights, type, place, weight);
		}
		if (emogi_job_stopped(&build->job))
			return false;
	}
	return true;
}

/* Move a bucket's entries to their lists with the type as a constant. */
static bool
fill_bucket(Build *build, uint32_t bucket, uint64_t *cursor, uint64_t first)
{
	switch (build->type)
	{
		case EMOGI_WEIGHT_U8:
			return deal_bucket(build, EMOGI_WEIGHT_U8, bucket, cursor, first);
		case EMOGI_WEIGHT_U16:
			return deal_bucket(build, EMOGI_WEIGHT_U16, bucket, cursor, first);
		case EMOGI_WEIGHT_U32:
			return deal_bucket(build, EMOGI_WEIGHT_U32, bucket, cursor, first);
		case EMOGI_WEIGHT_F32:
			return deal_bucket(build, EMOGI_WEIGHT_F32, bucket, cursor, first);
		default:
			return deal_bucket(build, EMOGI_WEIGHT_F64, bucket, cursor, first);
	}
}

/* Sort count lists that lie one after the other from start on, each up to its end; false when the job has stopped. */
static bool
sort_lists(Build *build, const uint64_t *ends, uint64_t count, uint64_t start, uint64_t *items)
{
	size_t		bytes = emogi_weight_bytes(build->type);
	uint64_t	polled = start;

	for (uint64_t v = 0; v < count; start = ends[v++])
	{
		if (ends[v] - start > 1)
			emogi_sort_weighted((uint32_t *) build->to.targets + start, (char *) build->to.weights + start * bytes,
								build->type, ends[v] - start, items, &build->job);
		if (ends[v] - polled >= EMOGI_LIST_SCRATCH)
		{
			if (emogi_job_stopped(&build->job))
				return false;
			polled = ends[v];
		}
	}
	return true;
}

/* Make the lists of the buckets. */
static void
place_lists(void *arg, int thread, int nthreads)
{
	Build	   *build = arg;
	uintptr_t	place = (uintptr_t) build->desks + (size_t) thread * build->desk_bytes;
	Desk		desk;
	uint64_t	b;

	if (!emogi_job_populate(&build->job, (void *) place, build->desk_bytes))
		emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	desk.cursor = emogi_carve(&place, ((size_t) 1 << build->cut.shift) * sizeof(uint64_t));
	desk.items = emogi_carve(&place, 2 * EMOGI_LIST_SCRATCH * sizeof(uint64_t));
	while (!emogi_job_stopped(&build->job) && (b = emogi_job_take(&build->next, 1)) < build->cut.nbuckets)
	{
		uint64_t	first = b << build->cut.shift;
		uint64_t	end = (b + 1) << build->cut.shift;

		if (end > build->nvertices)
			end = build->nvertices;
		if (!lay_out_bucket(build, (uint32_t) b, desk.cursor, first, end - first) ||
			!fill_bucket(build, (uint32_t) b, desk.cursor, first) ||
			(!build->sorted && !sort_lists(build, desk.cursor, end - first, build->base[b], desk.items)))
			return;
		emogi_job_done(&build->job, build->base[b + 1] - build->base[b]);
	}
}

/* Populate memory in pieces. */
static void
populate_memory(void *arg, int thread, int nthreads)
{
	Build	   *build = arg;
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
	Build	   *build = arg;
	uint64_t	part;

	while (!emogi_job_stopped(&build->job) && (part = emogi_job_take(&build->next, 1)) < ID_PARTS)
		emogi_keys_write_ids(build->keys, build->ids, part, ID_PARTS);
}

/* Run one task of the build from its first unit on; false when the job has stopped. */
static bool
run_build(EmogiPool *pool, Build *build, EmogiPoolTask task)
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
	clear_padding(adjacency->weights, adjacency->nedges * emogi_weight_bytes(type));
}

/* Make an empty partition for the most entries there can be; false, with the job failed, without memory. */
static bool
open_partition(Build *build, uint64_t nentries, int nthreads, void *scratch)
{
	if (emogi_partition_init(&build->partition, &build->job, WORDS * nentries, build->cut.nbuckets, nthreads, scratch))
		return true;
	emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	return false;
}

/* Make the forward lists and the ids; false when the job has stopped. */
static bool
build_forward(EmogiPool *pool, Build *build, void *memory, bool with_backward, void *scratch, EmogiGraph *graph)
{
	int			nthreads = emogi_pool_size(pool);

	if (!open_partition(build, most_entries(build->edges->nedges, build->direction), nthreads, scratch) ||
		!run_build(pool, build, partition_edges))
		return false;
	emogi_csr_view(memory, build->nvertices, sum_buckets(build, nthreads), build->direction, with_backward,
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
build_backward(EmogiPool *pool, Build *build, void *scratch, EmogiGraph *graph)
{
	int			nthreads = emogi_pool_size(pool);

	if (!open_partition(build, graph->forward.nedges, nthreads, scratch))
		return false;
	build->from = &graph->forward;
	build->to = graph->backward;
	build->sorted = true;
	close_adjacency(&graph->backward, build->nvertices, build->type);
	if (!run_build(pool, build, partition_lists))
		return false;
	sum_buckets(build, nthreads);
	return run_build(pool, build, place_lists);
}

EmogiStatus
emogi_csr_weighted_build(EmogiPool *pool, const EmogiEdges *edges, const EmogiKeys *keys, EmogiDirection direction,
						 bool with_backward, void *memory, void *scratch, EmogiGraph *graph, EmogiControl *control,
						 EmogiError *error)
{
	bool		transpose = with_backward && direction != EMOGI_BOTH;
	uint64_t	nentries = most_entries(edges->nedges, direction);
	Build		build = {.job = {.control = control}, .edges = edges, .keys = keys, .direction = direction};

	emogi_job_phase(&build.job, EMOGI_PHASE_CSR, nentries * (transpose ? 4 : 2));
	build.type = emogi_weight_type(edges->weight_misfits);
	build.nvertices = keys->nvertices;
	build.cut = cut_sources(keys->nvertices, nentries);
	build.desks = scratch;
	build.desk_bytes = bytes_of_desk(build.cut);
	scratch = build.desks + (size_t) emogi_pool_size(pool) * build.desk_bytes;
	if (build_forward(pool, &build, memory, with_backward, scratch, graph) && transpose)
		build_backward(pool, &build, scratch, graph);
	if (build.job.status == EMOGI_OK)
		control->done = control->total;
	return emogi_keys_report(&build.job, edges, error);
}
