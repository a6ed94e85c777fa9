/*
 * property_load.c: copy property columns of a graph to their types, and find which entries lead to
 * each vertex.
 *
 * Threads take chunks of entries, which begin at a whole word of the bitmap of NULLs. For the
 * entries that lead to each vertex, they take ranges of vertices, and read all targets for each:
 * what they write at random then fits into the cache.
 */
#include "contract/property_load.h"

#include "graph/layout.h"
#include "threads/job.h"
#include "threads/pool.h"

#include <string.h>

#define CHUNK ((uint64_t) 1 << 16)	/* entries that a thread takes at a time */
#define RANGE_ENTRIES ((uint64_t) 1 << 21)	/* that lead to a range of vertices, on average */
#define MAX_RANGES 64
#define POLL_ENTRIES ((uint64_t) 1 << 20)	/* between two checks for cancellation */

/* ---- types ---- */

/* A column to copy. */
typedef struct Copy
{
	EmogiJob	job;
	EmogiRawProperty raw;
	EmogiPropertyType type;
	char	   *values;
	uint64_t   *nulls;			/* NULL = no value is NULL */
	uint64_t	nedges;
	uint64_t	next;			/* atomic: entry */
} Copy;

/* Copy [first, end) of an array to another type; with codes, each value stands for another. */
#define COPY(to, from) \
	for (uint64_t i = first; i < end; i++) \
		((to *) copy->values)[i] = (to) ((const from *) copy->raw.values)[i]
#define COPY_CODES(to) \
	for (uint64_t i = first; i < end; i++) \
		((to *) copy->values)[i] = is_null(copy, i) ? 0 : \
			(to) copy->raw.codes[((const int32_t *) copy->raw.values)[i]]
#define COPY_INTEGERS(to) \
	if (copy->raw.codes != NULL) \
		COPY_CODES(to); \
	else if (copy->raw.type == EMOGI_PROPERTY_I32) \
		COPY(to, int32_t); \
	else \
		COPY(to, int64_t)

static inline bool
is_null(const Copy *copy, uint64_t entry)
{
	return copy->nulls != NULL && (copy->raw.nulls[entry / 64] >> (entry % 64) & 1) != 0;
}

/* Copy the values of [first, end), also those of NULL. */
static void
copy_values(const Copy *copy, uint64_t first, uint64_t end)
{
	switch (copy->type)
	{
		case EMOGI_PROPERTY_I8:
			COPY_INTEGERS(int8_t);
			break;
		case EMOGI_PROPERTY_I16:
			COPY_INTEGERS(int16_t);
			break;
		case EMOGI_PROPERTY_I32:
			COPY_INTEGERS(int32_t);
			break;
		case EMOGI_PROPERTY_I64:
			COPY_INTEGERS(int64_t);
			break;
		case EMOGI_PROPERTY_F32:
			if (copy->raw.type == EMOGI_PROPERTY_F32)
				COPY(float, float);
			else
				COPY(float, double);
			break;
		case EMOGI_PROPERTY_F64:
			if (copy->raw.type == EMOGI_PROPERTY_F32)
				COPY(double, float);
			else
				COPY(double, double);
			break;
		case EMOGI_NPROPERTY_TYPES:
			break;
	}
}

/* Copy the bitmap of NULLs of [first, end), and set their values to 0. */
static void
copy_nulls(const Copy *copy, uint64_t first, uint64_t end)
{
	const size_t width = emogi_property_width(copy->type);

	for (uint64_t word = first / 64; word < emogi_bitmap_words(end); word++)
	{
		copy->nulls[word] = copy->raw.nulls[word];
		for (uint64_t bits = copy->nulls[word]; bits != 0; bits &= bits - 1)
			memset(copy->values + (word * 64 + (uint64_t) __builtin_ctzll(bits)) * width, 0, width);
	}
}

static void
copy_chunks(void *arg, int thread, int nthreads)
{
	Copy	   *copy = arg;
	uint64_t	first,
				end;

	while (emogi_job_take_chunk(&copy->job, &copy->next, CHUNK, copy->nedges, &first, &end))
	{
		copy_values(copy, first, end);
		if (copy->nulls != NULL)
			copy_nulls(copy, first, end);
	}
}

/* Copy a column to the type and the memory of a property. */
static EmogiStatus
copy_column(EmogiPool *pool, const EmogiRawProperty *raw, uint64_t nedges, EmogiProperty *property,
			EmogiControl *control)
{
	const size_t width = emogi_property_width(property->type);
	const size_t value_bytes = emogi_properties_bytes(property->type, false, nedges);
	const uint64_t padded = emogi_bitmap_words(nedges) * 64;
	Copy		copy = {.job = {.control = control}, .raw = *raw, .type = property->type,
		.values = (char *) property->values, .nedges = nedges};

	if (raw->nulls != NULL)
		copy.nulls = (uint64_t *) (copy.values + value_bytes);
	if (!emogi_job_populate(&copy.job, copy.values,
							emogi_properties_bytes(property->type, raw->nulls != NULL, nedges)))
		return EMOGI_NO_MEMORY;
	emogi_pool_run(pool, copy_chunks, &copy);
	memset(copy.values + nedges * width, 0, (padded - nedges) * width);
	property->nulls = copy.nulls;
	return (EmogiStatus) copy.job.status;
}

/* Copy the columns of one orientation. */
static EmogiStatus
copy_columns(EmogiPool *pool, const EmogiPropertyLoad *load, uint64_t nedges, bool backward,
			 EmogiControl *control)
{
	const EmogiRawProperty *raw = backward ? load->raw_backward : load->raw_forward;
	EmogiProperty *columns = backward ? load->backward : load->forward;
	EmogiStatus status = EMOGI_OK;

	for (uint32_t i = 0; i < load->ncolumns && status == EMOGI_OK; i++)
		status = copy_column(pool, &raw[i], nedges, &columns[i], control);
	return status;
}

/* ---- entries that lead to each vertex ---- */

typedef struct Incoming
{
	EmogiJob	job;
	const EmogiGraph *graph;
	uint64_t	nranges;
	uint64_t	next;			/* atomic: range */
	bool		counts;			/* the entries of each vertex; otherwise they are placed */
	/* [nvertices + 1]; counts of the vertices, then where the next entry of each goes */
	uint64_t   *offsets;
	uint32_t   *entries;
} Incoming;

/* Count or place the entries that lead to the vertices of a range. */
static void
process_range(Incoming *incoming, uint32_t first, uint32_t width)
{
	const EmogiAdjacency *lists = &incoming->graph->forward;

	for (uint64_t done = 0; done < lists->nedges && !emogi_job_stopped(&incoming->job);
		 done += POLL_ENTRIES)
	{
		const uint64_t end = lists->nedges - done < POLL_ENTRIES ? lists->nedges :
			done + POLL_ENTRIES;

		if (incoming->counts)
			for (uint64_t e = done; e < end; e++)
			{
				if (lists->targets[e] - first < width)
					incoming->offsets[lists->targets[e]]++;
			}
		else
			for (uint64_t e = done; e < end; e++)
				if (lists->targets[e] - first < width)
					incoming->entries[incoming->offsets[lists->targets[e]]++] = (uint32_t) e;
	}
}

static void
process_ranges(void *arg, int thread, int nthreads)
{
	Incoming   *incoming = arg;
	const uint64_t nvertices = incoming->graph->nvertices;
	uint64_t	range;

	while (emogi_job_take(&incoming->job, &incoming->next, incoming->nranges, &range))
	{
		const uint64_t first = nvertices * range / incoming->nranges;
		const uint64_t end = nvertices * (range + 1) / incoming->nranges;

		process_range(incoming, (uint32_t) first, (uint32_t) (end - first));
	}
}

/* Run a pass over all ranges. */
static void
run_ranges(EmogiPool *pool, Incoming *incoming, bool counts)
{
	incoming->counts = counts;
	incoming->next = 0;
	emogi_pool_run(pool, process_ranges, incoming);
}

/* Turn counts into where the entries of each vertex begin. */
static void
add_up(uint64_t *offsets, uint64_t nvertices)
{
	uint64_t	sum = 0;

	for (uint64_t v = 0; v < nvertices; v++)
	{
		const uint64_t count = offsets[v];

		offsets[v] = sum;
		sum += count;
	}
}

/* Find the entries that lead to each vertex. */
static EmogiStatus
fill_incoming(EmogiPool *pool, const EmogiGraph *graph, const EmogiPropertyLoad *load,
			  EmogiControl *control)
{
	const size_t offset_bytes = (graph->nvertices + 1) * sizeof(uint64_t);
	Incoming	incoming = {.job = {.control = control}, .graph = graph,
		.nranges = graph->forward.nedges / RANGE_ENTRIES + 1, .offsets = load->in_offsets,
		.entries = load->in_entries};

	if (incoming.nranges > MAX_RANGES)
		incoming.nranges = MAX_RANGES;
	if (!emogi_job_populate(&incoming.job, load->in_offsets, offset_bytes) ||
		!emogi_job_populate(&incoming.job, load->in_entries,
							graph->forward.nedges * sizeof(uint32_t)))
		return EMOGI_NO_MEMORY;
	memset(load->in_offsets, 0, offset_bytes);
	run_ranges(pool, &incoming, true);
	add_up(load->in_offsets, graph->nvertices);
	run_ranges(pool, &incoming, false);
	/* each offset has moved to where the entries of the next vertex begin */
	memmove(load->in_offsets + 1, load->in_offsets, graph->nvertices * sizeof(uint64_t));
	load->in_offsets[0] = 0;
	return (EmogiStatus) incoming.job.status;
}

EmogiStatus
emogi_property_load(EmogiPool *pool, const EmogiGraph *graph, EmogiPropertyLoad *load,
					EmogiControl *control, EmogiError *error)
{
	EmogiStatus status = copy_columns(pool, load, graph->forward.nedges, false, control);

	if (status == EMOGI_OK && load->raw_backward != NULL)
		status = copy_columns(pool, load, graph->backward.nedges, true, control);
	if (status == EMOGI_OK && load->in_offsets != NULL)
		status = fill_incoming(pool, graph, load, control);
	if (status == EMOGI_NO_MEMORY)
		*error = (EmogiError) {.message = "out of memory for a column of the graph"};
	return status;
}
