/*
 * coo.c: copy edges between the chunks of a scan and the arrays of a COO.
 *
 * Threads take chunks independently: the place of a chunk's edges follows from the chunks before
 * it.
 */
#include "contract/builder.h"

#include "contract/semirings.h"
#include "layout.h"
#include "threads/job.h"
#include "weights.h"

#define POPULATE_BYTES ((size_t) 2 << 20)	/* of a COO's block that a thread takes at a time */

/* The state of packing edges into a COO. */
typedef struct Pack
{
	EmogiJob	job;
	const EmogiEdges *edges;
	const EmogiCoo *coo;
	EmogiMisfitCounts *counts;	/* atomic */
	uint64_t	next;			/* atomic: next piece or chunk */
} Pack;

/* The state of unpacking them. */
typedef struct Unpack
{
	EmogiJob	job;
	const EmogiCoo *coo;
	const EmogiCooRun *runs;
	const EmogiEdges *edges;
	uint64_t	nedges;			/* of all runs */
	uint64_t	capacity;		/* edges of a chunk */
	uint64_t	next;			/* atomic: next chunk */
} Unpack;

/* A thread's position among the runs. */
typedef struct RunCursor
{
	uint64_t	run;
	uint64_t	before;			/* edges of the runs before it */
} RunCursor;

/* ---- format ---- */

/*
 * Choose the base of 4-byte keys: 0 if possible, otherwise such that there is as much room for keys
 * below the present ones as above.
 */
static int64_t
choose_base(int64_t min_key, int64_t max_key)
{
	uint64_t	spare = UINT32_MAX - ((uint64_t) max_key - (uint64_t) min_key);
	uint64_t	below = (uint64_t) min_key - (uint64_t) INT64_MIN;

	if (min_key >= 0 && max_key <= (int64_t) UINT32_MAX)
		return 0;
	return (int64_t) ((uint64_t) min_key - (spare / 2 < below ? spare / 2 : below));
}

/*
 * Check whether keys from min_key to max_key can be stored in 3 bytes with base 0, with room for
 * more.
 */
static bool
fit_into_3_bytes(int64_t min_key, int64_t max_key)
{
	return min_key >= 0 && max_key <= (INT64_C(1) << 24) / 8 * 7;
}

void
emogi_coo_shape(EmogiCoo *coo, const EmogiEdges *edges, uint64_t room)
{
	int64_t		min_key = edges->nedges > 0 ? edges->min_key : 0;
	int64_t		max_key = edges->nedges > 0 ? edges->max_key : 0;

	*coo = (EmogiCoo) {.room = room, .key_bytes = 8};
	if (fit_into_3_bytes(min_key, max_key))
		coo->key_bytes = 3;
	else if ((uint64_t) max_key - (uint64_t) min_key <= UINT32_MAX)
	{
		coo->key_bytes = 4;
		coo->base = choose_base(min_key, max_key);
	}
	if (edges->weighted)
		coo->weight_type = emogi_weight_type(edges->weight_misfits);
}

/* Get the bytes of all keys, in whole lines. */
static size_t
key_array_bytes(const EmogiCoo *coo)
{
	return emogi_whole_lines(2 * coo->room * coo->key_bytes);
}

size_t
emogi_coo_bytes(const EmogiCoo *coo)
{
	return key_array_bytes(coo) +
		emogi_whole_lines(coo->room * emogi_weight_bytes(coo->weight_type));
}

void
emogi_coo_view(EmogiCoo *coo, void *memory)
{
	coo->keys = memory;
	coo->weights = coo->weight_type == EMOGI_WEIGHT_NONE ? NULL
		: (char *) memory + key_array_bytes(coo);
}

/* ---- one edge ---- */

/* Get a key: see emogi_coo_key. */
static inline int64_t
get_key(const EmogiCoo *coo, uint64_t index)
{
	const uint64_t stored = emogi_coo_key(coo, index);

	return coo->dictionary != NULL ? emogi_dictionary_code(coo->dictionary, stored)
		: (int64_t) ((uint64_t) coo->base + stored);
}

EmogiWeightedEdge
emogi_coo_get(const EmogiCoo *coo, uint64_t place)
{
	EmogiWeightedEdge edge = {0};

	edge.src = get_key(coo, 2 * place);
	edge.dst = get_key(coo, 2 * place + 1);
	if (coo->weight_type != EMOGI_WEIGHT_NONE)
		edge.weight = emogi_weight(coo->weights, coo->weight_type, place);
	return edge;
}

/* Store the stored form of a key. */
static inline void
put_stored(const EmogiCoo *coo, uint64_t index, uint64_t key)
{
	unsigned char *bytes;

	switch (coo->key_bytes)
	{
		case 3:
			bytes = (unsigned char *) coo->keys + 3 * index;
			bytes[0] = (unsigned char) key;
			bytes[1] = (unsigned char) (key >> 8);
			bytes[2] = (unsigned char) (key >> 16);
			break;
		case 4:
			((uint32_t *) coo->keys)[index] = (uint32_t) key;
			break;
		default:
			((uint64_t *) coo->keys)[index] = key;
	}
}

/* Store a key. */
static inline void
put_key(const EmogiCoo *coo, uint64_t index, int64_t key)
{
	put_stored(coo, index, coo->dictionary != NULL ? emogi_dictionary_number(coo->dictionary, key)
			   : (uint64_t) key - (uint64_t) coo->base);
}

/* Store the keys of an edge at a place. */
static inline void
put_keys(const EmogiCoo *coo, uint64_t place, int64_t src, int64_t dst)
{
	put_key(coo, 2 * place, src);
	put_key(coo, 2 * place + 1, dst);
}

void
emogi_coo_put(EmogiCoo *coo, uint64_t place, int64_t src, int64_t dst, double weight)
{
	put_keys(coo, place, src, dst);
	emogi_weights_store(coo->weights, coo->weight_type, place, &weight, 1);
}

/* ---- packing ---- */

/* Populate the block. */
static void
populate_block(void *arg, int thread, int nthreads)
{
	Pack	   *pack = arg;
	size_t		bytes = emogi_coo_bytes(pack->coo);
	uint64_t	at;

	while (!emogi_job_stopped(&pack->job) && (at = emogi_job_claim(&pack->next, POPULATE_BYTES)) <
		   bytes)
	{
		if (!emogi_job_populate(&pack->job, (char *) pack->coo->keys + at,
								bytes - at < POPULATE_BYTES ? bytes - at : POPULATE_BYTES))
			emogi_job_fail(&pack->job, EMOGI_NO_MEMORY);
	}
}

/* Store edges without weights. */
static void
pack_edges(const EmogiCoo *coo, const EmogiEdgeChunk *chunk)
{
	for (uint64_t i = 0; i < chunk->nedges; i++)
		put_keys(coo, chunk->first + i, chunk->edges[i].src, chunk->edges[i].dst);
}

/* Store edges with weights; add to the numbers of weights by misfit mask. */
static void
pack_weighted_edges(const EmogiCoo *coo, EmogiEdgeChunk *chunk, uint64_t misfits[64])
{
	const EmogiWeightedEdge *edges = emogi_weighted_edges(chunk);
	double		weights[EMOGI_WEIGHTS_BATCH];

	for (uint64_t first = 0; first < chunk->nedges; first += EMOGI_WEIGHTS_BATCH)
	{
		size_t		count = chunk->nedges - first < EMOGI_WEIGHTS_BATCH ? chunk->nedges - first
			: EMOGI_WEIGHTS_BATCH;

		for (size_t i = 0; i < count; i++)
		{
			const EmogiWeightedEdge *edge = &edges[first + i];

			put_keys(coo, chunk->first + first + i, edge->src, edge->dst);
			weights[i] = edge->weight;
			misfits[emogi_weight_misfits(edge->weight)]++;
		}
		emogi_weights_store(coo->weights, coo->weight_type, chunk->first + first, weights, count);
	}
}

/* Add a thread's numbers to the shared counts. */
static void
add_counts(EmogiMisfitCounts *counts, const uint64_t misfits[64])
{
	for (int bit = 0; bit < 6; bit++)
	{
		uint64_t	sum = 0;

		for (int i = 0; i < 64; i++)
			sum += i >> bit & 1 ? misfits[i] : 0;
		__atomic_fetch_add(&counts->counts[bit], sum, __ATOMIC_RELAXED);
	}
}

/* Store the edges of chunks. */
static void
pack_chunks(void *arg, int thread, int nthreads)
{
	Pack	   *pack = arg;
	uint64_t	misfits[64] = {0};

	for (uint64_t c; emogi_job_take(&pack->job, &pack->next, pack->edges->nchunks, &c);)
	{
		EmogiEdgeChunk *chunk = pack->edges->chunks[c];

		if (pack->edges->weighted)
			pack_weighted_edges(pack->coo, chunk, misfits);
		else
			pack_edges(pack->coo, chunk);
		emogi_job_done(&pack->job, chunk->nedges);
	}
	add_counts(pack->counts, misfits);
}

/* Run one task of packing from its first unit on; false if the job has stopped. */
static bool
run_pack(EmogiPool *pool, Pack *pack, EmogiPoolTask task)
{
	pack->next = 0;
	emogi_pool_run(pool, task, pack);
	return !emogi_job_stopped(&pack->job);
}

/* Write the message of a failed job, and return its status. */
static EmogiStatus
report_job(const EmogiJob *job, EmogiError *error)
{
	if (job->status == EMOGI_NO_MEMORY)
		*error = (EmogiError) {.message = "out of memory for the edges of a graph"};
	return (EmogiStatus) job->status;
}

EmogiStatus
emogi_coo_pack(EmogiPool *pool, const EmogiEdges *edges, EmogiCoo *coo, EmogiMisfitCounts *counts,
			   EmogiControl *control, EmogiError *error)
{
	Pack		pack = {.job = {.control = control}, .edges = edges, .coo = coo, .counts = counts};

	*counts = (EmogiMisfitCounts) {{0}};
	coo->used = 0;
	if (edges->nedges > coo->room)
	{
		*error = (EmogiError) {.message = "too little memory for the edges of a graph"};
		return EMOGI_BAD_INPUT;
	}
	emogi_job_phase(&pack.job, EMOGI_PHASE_CSR, edges->nedges);
	for (uint64_t c = 0; c < edges->nchunks; c++)
	{
		edges->chunks[c]->first = coo->used;
		coo->used += edges->chunks[c]->nedges;
	}
	if (run_pack(pool, &pack, populate_block))
		run_pack(pool, &pack, pack_chunks);
	return report_job(&pack.job, error);
}

/* ---- unpacking ---- */

/* Append an edge to a chunk. */
static inline void
append_edge(EmogiEdgeChunk *chunk, const EmogiWeightedEdge *edge, bool weighted)
{
	int64_t		low = edge->src < edge->dst ? edge->src : edge->dst;
	int64_t		high = edge->src < edge->dst ? edge->dst : edge->src;

	if (!weighted)
		chunk->edges[chunk->nedges++] = (EmogiEdge) {edge->src, edge->dst};
	else
	{
		emogi_weighted_edges(chunk)[chunk->nedges++] = *edge;
		chunk->weight_misfits |= emogi_weight_misfits(edge->weight);
	}
	chunk->min_key = low < chunk->min_key ? low : chunk->min_key;
	chunk->max_key = high > chunk->max_key ? high : chunk->max_key;
}

/* Fill a chunk with the edges [first, end) of all runs. */
static void
fill_chunk(const Unpack *unpack, RunCursor *cursor, EmogiEdgeChunk *chunk, uint64_t first,
		   uint64_t end)
{
	const bool	weighted = unpack->coo->weight_type != EMOGI_WEIGHT_NONE;

	chunk->nedges = 0;
	chunk->isolated = 0;
	chunk->min_key = INT64_MAX;
	chunk->max_key = INT64_MIN;
	chunk->weight_misfits = 0;
	chunk->first = first;
	while (first < end)
	{
		const EmogiCooRun *run = &unpack->runs[cursor->run];
		const uint64_t run_end = cursor->before + run->count;

		for (; first < end && first < run_end; first++)
		{
			EmogiWeightedEdge edge = emogi_coo_get(unpack->coo,
												   run->first + (first - cursor->before));

			append_edge(chunk, &edge, weighted);
		}
		if (first == run_end)
		{
			cursor->before = run_end;
			cursor->run++;
		}
	}
}

/* Advance a cursor to the run that contains an edge. With short runs, that may take many steps. */
static bool
seek_run(Unpack *unpack, RunCursor *cursor, uint64_t edge)
{
	for (uint64_t seen = 1; cursor->before + unpack->runs[cursor->run].count <= edge; seen++)
	{
		cursor->before += unpack->runs[cursor->run++].count;
		if (seen % 1048576 == 0 && emogi_job_stopped(&unpack->job))
			return false;
	}
	return true;
}

/* Fill chunks, in ascending order. */
static void
unpack_chunks(void *arg, int thread, int nthreads)
{
	Unpack	   *unpack = arg;
	RunCursor	cursor = {0};

	while (!emogi_job_stopped(&unpack->job))
	{
		const uint64_t c = emogi_job_claim(&unpack->next, 1);
		const uint64_t first = c * unpack->capacity;
		uint64_t	count;

		if (c >= unpack->edges->nchunks || first >= unpack->nedges ||
			!seek_run(unpack, &cursor, first))
			break;
		if (!emogi_job_populate(&unpack->job, unpack->edges->chunks[c], EMOGI_CHUNK_BYTES))
		{
			emogi_job_fail(&unpack->job, EMOGI_NO_MEMORY);
			break;
		}
		count = unpack->nedges - first < unpack->capacity ? unpack->nedges - first
			: unpack->capacity;
		fill_chunk(unpack, &cursor, unpack->edges->chunks[c], first, first + count);
		emogi_job_done(&unpack->job, count);
	}
}

EmogiStatus
emogi_coo_unpack(EmogiPool *pool, const EmogiCoo *coo, const EmogiCooRun *runs, uint64_t nruns,
				 const EmogiEdges *edges, EmogiControl *control, EmogiError *error)
{
	const bool	weighted = coo->weight_type != EMOGI_WEIGHT_NONE;
	Unpack		unpack = {
		.job = {.control = control},
		.coo = coo,
		.runs = runs,
		.edges = edges,
		.capacity = weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES
	};

	for (uint64_t r = 0; r < nruns; r++)
		unpack.nedges += runs[r].count;
	if (edges->nchunks * unpack.capacity < unpack.nedges)
	{
		*error = (EmogiError) {.message = "too few chunks for the edges of a graph"};
		return EMOGI_BAD_INPUT;
	}
	emogi_job_phase(&unpack.job, EMOGI_PHASE_MERGE, unpack.nedges);
	emogi_pool_run(pool, unpack_chunks, &unpack);
	return report_job(&unpack.job, error);
}
