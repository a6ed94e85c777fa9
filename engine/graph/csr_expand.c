/*
 * csr_expand.c: convert a graph back to its edges, so that another graph can be built from them
 * without reading the table.
 *
 * Chunk i receives the entries [i * capacity, (i + 1) * capacity) of forward's lists; threads take
 * chunks independently.
 */
#include "contract/semirings.h"
#include "contract/builder.h"
#include "threads/job.h"

typedef struct Expand
{
	EmogiJob	job;
	const EmogiGraph *graph;
	const EmogiEdges *edges;
	bool		reversed;
	uint64_t	capacity;		/* edges of a chunk */
	uint64_t	next;			/* atomic: chunk */
} Expand;

/* Find the vertex whose list contains an entry. */
static uint64_t
find_vertex(const EmogiGraph *graph, uint64_t entry)
{
	uint64_t	low = 0;
	uint64_t	high = graph->nvertices;

	while (high - low > 1)
	{
		const uint64_t middle = low + (high - low) / 2;

		if (graph->forward.offsets[middle] <= entry)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static inline int64_t
key_of(const EmogiGraph *graph, uint64_t vertex)
{
	return graph->ids != NULL ? graph->ids[vertex] : (int64_t) vertex;
}

/* Append the edge of an entry to a chunk. */
static inline void
put_edge(const Expand *expand, EmogiEdgeChunk *chunk, int64_t from, uint64_t entry)
{
	const EmogiGraph *graph = expand->graph;
	const int64_t to = key_of(graph, graph->forward.targets[entry]);
	const int64_t src = expand->reversed ? to : from;
	const int64_t dst = expand->reversed ? from : to;
	const uint64_t place = chunk->nedges++;

	if (graph->weight_type == EMOGI_WEIGHT_NONE)
		chunk->edges[place] = (EmogiEdge) {src, dst};
	else
	{
		const double weight = emogi_weight(graph->forward.weights, graph->weight_type, entry);

		emogi_weighted_edges(chunk)[place] = (EmogiWeightedEdge) {src, dst, weight};
		chunk->weight_misfits |= emogi_weight_misfits(weight);
	}
	chunk->min_key = to < chunk->min_key ? to : chunk->min_key;
	chunk->max_key = to > chunk->max_key ? to : chunk->max_key;
}

/* Fill a chunk with the entries [first, end). */
static void
fill_chunk(const Expand *expand, EmogiEdgeChunk *chunk, uint64_t first, uint64_t end)
{
	const EmogiGraph *graph = expand->graph;
	uint64_t	vertex = find_vertex(graph, first);

	chunk->nedges = 0;
	chunk->isolated = 0;
	chunk->min_key = INT64_MAX;
	chunk->max_key = INT64_MIN;
	chunk->weight_misfits = 0;
	for (uint64_t entry = first; entry < end; vertex++)
	{
		const uint64_t list_end = graph->forward.offsets[vertex + 1];
		const int64_t from = key_of(graph, vertex);

		if (entry < list_end)
		{
			chunk->min_key = from < chunk->min_key ? from : chunk->min_key;
			chunk->max_key = from > chunk->max_key ? from : chunk->max_key;
		}
		for (; entry < list_end && entry < end; entry++)
			put_edge(expand, chunk, from, entry);
	}
}

static void
expand_chunks(void *arg, int thread, int nthreads)
{
	Expand	   *expand = arg;
	const uint64_t nentries = expand->graph->forward.nedges;

	while (!emogi_job_stopped(&expand->job))
	{
		const uint64_t i = emogi_job_claim(&expand->next, 1);
		const uint64_t first = i * expand->capacity;

		if (i >= expand->edges->nchunks || first >= nentries)
			break;
		if (!emogi_job_populate(&expand->job, expand->edges->chunks[i], EMOGI_CHUNK_BYTES))
			emogi_job_fail(&expand->job, EMOGI_NO_MEMORY);
		else
		{
			const uint64_t rest = nentries - first;

			fill_chunk(expand, expand->edges->chunks[i], first,
					   first + (rest < expand->capacity ? rest : expand->capacity));
			emogi_job_done(&expand->job, rest < expand->capacity ? rest : expand->capacity);
		}
	}
}

EmogiStatus
emogi_csr_expand(EmogiPool *pool, const EmogiGraph *graph, bool reversed, const EmogiEdges *edges,
				 EmogiControl *control, EmogiError *error)
{
	const bool	weighted = graph->weight_type != EMOGI_WEIGHT_NONE;
	Expand		expand = {
		.job = {.control = control},
		.graph = graph,
		.edges = edges,
		.reversed = reversed,
		.capacity = weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES
	};

	if (edges->nchunks * expand.capacity < graph->forward.nedges)
	{
		*error = (EmogiError) {.message = "too few chunks for the edges of the graph"};
		return EMOGI_BAD_INPUT;
	}
	emogi_job_phase(&expand.job, EMOGI_PHASE_SCAN, graph->forward.nedges);
	emogi_pool_run(pool, expand_chunks, &expand);
	if (expand.job.status == EMOGI_NO_MEMORY)
		*error = (EmogiError) {.message = "out of memory for the edges of the graph"};
	return (EmogiStatus) expand.job.status;
}
