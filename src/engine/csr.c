/*
 * csr.c: from edges and the numbers of their keys to offsets and sorted targets.
 *
 * One pass over the edges translates each key once and appends (source, target) to buckets of neighbouring sources
 * (partition.h). Each bucket, small enough for the cache of one processor, is sorted by target, digit by digit, and
 * then dealt out to the lists of its sources, which so come out sorted. A bucket that is too large, for a vertex in it
 * has very many neighbours, is dealt out first and sorted list by list, in place. The transpose is made from the
 * finished lists: they are read in order of sources, so that nothing is to be sorted.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. Reducing Pagerank Communication via Propagation Blocking. IPDPS 2017.
 *     Section IV (binning, here of edges instead of contributions).
 */
#include "csr_weighted.h"

#include "keys.h"
#include "layout.h"
#include "partition.h"
#include "radix.h"

#include <string.h>

#define MAX_BUCKETS 2048
#define ENTRIES_PER_BUCKET 16384	/* aim */
#define MAX_ROOM ((uint32_t) 1 << 21)	/* entries that a thread sorts without a look at the job, about 30 ms */
#define EDGES_PER_BATCH (EMOGI_KEYS_BATCH / 2)
#define ENTRIES_PER_POLL ((uint64_t) 1 << 20)
#define POPULATE_BYTES ((size_t) 2 << 20)
#define ID_PARTS 64
#define DIGIT_BITS 11
#define MAX_DIGITS 3

/* How the sources of a Graph are cut into buckets. */
typedef struct Cut
{
	uint32_t	nbuckets;
	uint32_t	shift;			/* bucket = source >> shift */
	uint32_t	room;			/* entries of the buckets that are sorted at once */
	uint32_t	ndigits;		/* of a vertex number */
	uint32_t	digit_bits;
} Cut;

/* What one thread needs to sort a bucket. */
typedef struct Desk
{
	uint64_t   *cursor;			/* [1 << shift], where the next target of each source goes */
	uint64_t   *entries[2];		/* [room] */
	uint32_t   *scratch;		/* [EMOGI_SORT_SCRATCH] */
	uint32_t	digits[MAX_DIGITS][1 << DIGIT_BITS];	/* counts, then places, of each digit of the targets */
} Desk;

typedef struct Build
{
	EmogiJob	job;
	const EmogiEdges *edges;
	const EmogiKeys *keys;
	EmogiDirection direction;
	Cut			cut;
	EmogiPartition partition;
	char	   *desks;			/* [nthreads] desks of desk_bytes */
	size_t		desk_bytes;
	uint64_t	base[MAX_BUCKETS + 1];	/* entries before each bucket */
	uint64_t	nvertices;
	const EmogiAdjacency *from;	/* the lists to transpose */
	EmogiAdjacency to;			/* the lists in the making */
	bool		sorted;			/* entries come in the order of targets */
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
	uint32_t	nbits = 0;
	Cut			cut = {.nbuckets = 1};

	if (wanted > MAX_BUCKETS)
		wanted = MAX_BUCKETS;
	while ((nvertices >> cut.shift) >= wanted)
		cut.shift++;
	cut.nbuckets = (uint32_t) (nvertices >> cut.shift) + 1;
	cut.room = 2 * nentries / wanted < MAX_ROOM ? (uint32_t) (2 * nentries / wanted + 1) : MAX_ROOM;
	while (nvertices >> nbits != 0)
		nbits++;
	cut.ndigits = (nbits + DIGIT_BITS - 1) / DIGIT_BITS;
	cut.digit_bits = cut.ndigits > 0 ? (nbits + cut.ndigits - 1) / cut.ndigits : 0;
	return cut;
}

/* Get the bytes of a thread's desk. */
static size_t
bytes_of_desk(Cut cut)
{
	return emogi_whole_lines(sizeof(Desk)) + emogi_whole_lines(((size_t) 1 << cut.shift) * sizeof(uint64_t)) +
		2 * emogi_whole_lines(cut.room * sizeof(uint64_t)) + EMOGI_SORT_SCRATCH * sizeof(uint32_t);
}

/* Lay out a thread's desk; NULL without memory. */
static Desk *
open_desk(EmogiJob *job, char *memory, Cut cut)
{
	Desk	   *desk = (Desk *) memory;
	uintptr_t	place = (uintptr_t) memory;

	if (!emogi_job_populate(job, memory, bytes_of_desk(cut)))
		return NULL;
	emogi_carve(&place, sizeof(Desk));
	desk->cursor = emogi_carve(&place, ((size_t) 1 << cut.shift) * sizeof(uint64_t));
	desk->entries[0] = emogi_carve(&place, cut.room * sizeof(uint64_t));
	desk->entries[1] = emogi_carve(&place, cut.room * sizeof(uint64_t));
	desk->scratch = emogi_carve(&place, EMOGI_SORT_SCRATCH * sizeof(uint32_t));
	return desk;
}

size_t
emogi_csr_scratch_bytes(uint64_t nvertices, uint64_t nedges, EmogiDirection direction, int nthreads,
						bool weighted)
{
	uint64_t	nentries = most_entries(nedges, direction);
	Cut			cut = cut_sources(nvertices, nentries);

	if (weighted)
		return emogi_csr_weighted_scratch_bytes(nvertices, nedges, direction, nthreads);
	return (size_t) nthreads * bytes_of_desk(cut) + emogi_partition_bytes(nentries, cut.nbuckets, nthreads);
}

/* Append the list entries of up to EDGES_PER_BATCH edges; false when the job has failed. */
static bool
append_edges(Build *build, int thread, uint64_t **cursors, const EmogiEdge *edges, size_t count)
{
	EmogiPartition *partition = &build->partition;
	size_t		mask = partition->block_entries * sizeof(uint64_t) - 1;
	uint32_t	shift = build->cut.shift;
	bool		out = build->direction != EMOGI_IN;
	bool		in = build->direction != EMOGI_OUT;
	uint32_t	number[EMOGI_KEYS_BATCH];

	emogi_keys_numbers(build->keys, &edges->src, number, 2 * count);
	for (size_t i = 0; i < count; i++)
	{
		uint64_t	src = number[2 * i];
		uint64_t	dst = number[2 * i + 1];

		if (out &&
			!emogi_partition_append(partition, cursors, mask, thread, (uint32_t) (src >> shift), src << 32 | dst))
			return false;
		if (in && (!out || src != dst) &&
			!emogi_partition_append(partition, cursors, mask, thread, (uint32_t) (dst >> shift), dst << 32 | src))
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
		const EmogiEdgeChunk *chunk = build->edges->chunks[c];

		for (uint64_t i = 0; i < chunk->nedges; i += EDGES_PER_BATCH)
		{
			size_t		count = chunk->nedges - i < EDGES_PER_BATCH ? chunk->nedges - i : EDGES_PER_BATCH;

			if (emogi_job_stopped(&build->job) || !append_edges(build, thread, cursors, chunk->edges + i, count))
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
			if (!emogi_partition_append(partition, cursors, mask, thread, target >> build->cut.shift,
										(uint64_t) target << 32 | v))
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
			sum += emogi_partition_count(&build->partition, t, b);
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
	uint64_t	polled = 0;
	const uint64_t *entries;
	uint32_t	n;

	memset(cursor, 0, count * sizeof(*cursor));
	while ((entries = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
			cursor[(entries[i] >> 32) - first]++;
		if ((polled += n) >= ENTRIES_PER_POLL)
		{
			if (emogi_job_stopped(&build->job))
				return false;
			polled = 0;
		}
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

/* Move a bucket's targets to their lists; false when the job has stopped. */
static bool
fill_bucket(Build *build, uint32_t bucket, uint64_t *cursor, uint64_t first)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	EmogiBucketWalk walk = emogi_bucket_walk(&build->partition, bucket);
	uint64_t	polled = 0;
	const uint64_t *entries;
	uint32_t	n;

	while ((entries = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
			targets[cursor[(entries[i] >> 32) - first]++] = (uint32_t) entries[i];
		if ((polled += n) >= ENTRIES_PER_POLL)
		{
			if (emogi_job_stopped(&build->job))
				return false;
			polled = 0;
		}
	}
	return true;
}

/* Sort count lists that lie one after the other from start on, each up to its end; false when the job has stopped. */
static bool
sort_lists(Build *build, const uint64_t *ends, uint64_t count, uint64_t start, uint32_t *scratch)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	uint64_t	polled = start;

	for (uint64_t v = 0; v < count; start = ends[v++])
	{
		if (ends[v] - start > 1)
			emogi_sort_u32(targets + start, ends[v] - start, scratch, EMOGI_SORT_SCRATCH, &build->job);
		if (ends[v] - polled >= ENTRIES_PER_POLL)
		{
			if (emogi_job_stopped(&build->job))
				return false;
			polled = ends[v];
		}
	}
	return true;
}

/* Turn the counts of a digit into places. */
static void
place_digits(uint32_t *digit, uint32_t ndigits)
{
	uint32_t	sum = 0;

	for (uint32_t d = 0; d < ndigits; d++)
	{
		uint32_t	count = digit[d];

		digit[d] = sum;
		sum += count;
	}
}

/* Fill the lists of a bucket that fits the desk: sort it by the digits of the targets, low to high, and deal it out. */
static void
fill_bucket_sorted(Build *build, uint32_t bucket, Desk *desk, uint64_t first, size_t count)
{
	uint32_t   *targets = (uint32_t *) build->to.targets;
	uint32_t	bits = build->cut.digit_bits;
	uint64_t	mask = (UINT64_C(1) << bits) - 1;
	EmogiBucketWalk walk = emogi_bucket_walk(&build->partition, bucket);
	uint64_t   *from = desk->entries[0];
	uint64_t   *to = desk->entries[1];
	const uint64_t *entries;
	uint32_t	n;

	for (uint32_t d = 0; d < build->cut.ndigits; d++)
		memset(desk->digits[d], 0, (mask + 1) * sizeof(uint32_t));
	while ((entries = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
		{
			for (uint32_t d = 0; d < build->cut.ndigits; d++)
				desk->digits[d][(uint32_t) entries[i] >> (d * bits) & mask]++;
		}
	}
	for (uint32_t d = 0; d < build->cut.ndigits; d++)
		place_digits(desk->digits[d], (uint32_t) mask + 1);

	walk = emogi_bucket_walk(&build->partition, bucket);
	while ((entries = emogi_bucket_next(&walk, &n)) != NULL)
	{
		for (uint32_t i = 0; i < n; i++)
			from[desk->digits[0][entries[i] & mask]++] = entries[i];
	}
	for (uint32_t d = 1; d < build->cut.ndigits; d++)
	{
		uint64_t   *swap = from;

		for (size_t i = 0; i < count; i++)
			to[desk->digits[d][(uint32_t) from[i] >> (d * bits) & mask]++] = from[i];
		from = to;
		to = swap;
	}
	for (size_t i = 0; i < count; i++)
		targets[desk->cursor[(from[i] >> 32) - first]++] = (uint32_t) from[i];
}

/* Make the lists of the buckets. */
static void
place_lists(void *arg, int thread, int nthreads)
{
	Build	   *build = arg;
	Desk	   *desk = open_desk(&build->job, build->desks + (size_t) thread * build->desk_bytes, build->cut);
	uint64_t	b;

	if (desk == NULL)
		emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
	while (!emogi_job_stopped(&build->job) && (b = emogi_job_take(&build->next, 1)) < build->cut.nbuckets)
	{
		uint64_t	first = b << build->cut.shift;
		uint64_t	end = (b + 1) << build->cut.shift;
		uint64_t	count = build->base[b + 1] - build->base[b];

		if (end > build->nvertices)
			end = build->nvertices;
		if (!lay_out_bucket(build, (uint32_t) b, desk->cursor, first, end - first))
			return;
		if (!build->sorted && count <= build->cut.room)
			fill_bucket_sorted(build, (uint32_t) b, desk, first, count);
		else if (!fill_bucket(build, (uint32_t) b, desk->cursor, first) ||
				 (!build->sorted && !sort_lists(build, desk->cursor, end - first, build->base[b], desk->scratch)))
			return;
		emogi_job_done(&build->job, count);
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

/* Clear the padding of a Graph's arrays and close the offsets of one orientation. */
static void
close_adjacency(const EmogiAdjacency *adjacency, uint64_t nvertices)
{
	uint64_t   *offsets = (uint64_t *) adjacency->offsets;

	offsets[nvertices] = adjacency->nedges;
	clear_padding(adjacency->offsets, (nvertices + 1) * sizeof(uint64_t));
	clear_padding(adjacency->targets, adjacency->nedges * sizeof(uint32_t));
}

/* Make the forward lists and the ids; false when the job has stopped. */
static bool
build_forward(EmogiPool *pool, Build *build, void *memory, bool with_backward, void *scratch, EmogiGraph *graph)
{
	int			nthreads = emogi_pool_size(pool);
	uint64_t	nentries = most_entries(build->edges->nedges, build->direction);

	if (!emogi_partition_init(&build->partition, &build->job, nentries, build->cut.nbuckets, nthreads, scratch))
	{
		emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
		return false;
	}
	if (!run_build(pool, build, partition_edges))
		return false;
	emogi_csr_view(memory, build->nvertices, sum_buckets(build, nthreads), build->direction, with_backward,
				   EMOGI_WEIGHT_NONE, graph);
	build->populate_start = memory;
	build->populate_bytes = graph->memory_bytes;
	build->ids = memory;
	build->to = graph->forward;
	if (!run_build(pool, build, populate_memory) || !run_build(pool, build, write_ids))
		return false;
	clear_padding(graph->ids, build->nvertices * sizeof(int64_t));
	close_adjacency(&graph->forward, build->nvertices);
	return run_build(pool, build, place_lists);
}

/* Make the transpose of the forward lists; false when the job has stopped. */
static bool
build_backward(EmogiPool *pool, Build *build, void *scratch, EmogiGraph *graph)
{
	int			nthreads = emogi_pool_size(pool);

	if (!emogi_partition_init(&build->partition, &build->job, graph->forward.nedges, build->cut.nbuckets, nthreads,
							  scratch))
	{
		emogi_job_fail(&build->job, EMOGI_NO_MEMORY);
		return false;
	}
	build->from = &graph->forward;
	build->to = graph->backward;
	build->sorted = true;
	close_adjacency(&graph->backward, build->nvertices);
	if (!run_build(pool, build, partition_lists))
		return false;
	sum_buckets(build, nthreads);
	return run_build(pool, build, place_lists);
}

EmogiStatus
emogi_csr_build(EmogiPool *pool, const EmogiEdges *edges, const EmogiKeys *keys, EmogiDirection direction,
				bool with_backward, void *memory, void *scratch, EmogiGraph *graph, EmogiControl *control,
				EmogiError *error)
{
	bool		transpose = with_backward && direction != EMOGI_BOTH;
	uint64_t	nentries = most_entries(edges->nedges, direction);
	Build		build = {.job = {.control = control}, .edges = edges, .keys = keys, .direction = direction};

	if (edges->weighted)
		return emogi_csr_weighted_build(pool, edges, keys, direction, with_backward, memory, scratch, graph, control,
										error);
	emogi_job_phase(&build.job, EMOGI_PHASE_CSR, nentries * (transpose ? 4 : 2));
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
