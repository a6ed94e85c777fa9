/*
 * build.c: build edge sets and graphs in private memory, for programs without a server.
 */
#include "build.h"

#include "threads/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE_BYTES ((size_t) 2 << 20)
#define POPULATE_BYTES ((size_t) 16 << 20)	/* bytes a thread populates at a time */

/* Memory to be populated by the threads of a pool. */
typedef struct Population
{
	char	   *memory;
	size_t		bytes;
	uint64_t	next;			/* atomic: next piece */
	uint32_t	failed;			/* atomic */
} Population;

/* Round up to a multiple of a power of two. */
static size_t
round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) & ~(unit - 1);
}

void *
emogi_map_memory(size_t bytes)
{
	size_t		spare = bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : 0;
	size_t		whole = round_up(bytes > 0 ? bytes : 1, (size_t) sysconf(_SC_PAGESIZE));
	char	   *mapped = mmap(NULL, whole + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t		before;

	if (mapped == MAP_FAILED)
		return NULL;
	if (spare > 0)
	{
		before = round_up((uintptr_t) mapped, HUGE_PAGE_BYTES) - (uintptr_t) mapped;
		if (before > 0)
			munmap(mapped, before);
		mapped += before;
		if (before < spare)
			munmap(mapped + whole, spare - before);
	}
	madvise(mapped, whole, MADV_HUGEPAGE);
	return mapped;
}

/* Populate pieces until none is left. */
static void
populate_pieces(void *arg, int thread, int nthreads)
{
	Population *population = arg;
	uint64_t	at;

	while ((at = emogi_job_claim(&population->next, POPULATE_BYTES)) < population->bytes)
	{
		size_t		rest = population->bytes - at;

		if (!emogi_pool_populate(population->memory + at, rest < POPULATE_BYTES ? rest : POPULATE_BYTES))
			__atomic_store_n(&population->failed, 1, __ATOMIC_RELAXED);
	}
}

bool
emogi_populate_memory(EmogiPool *pool, void *memory, size_t bytes)
{
	Population	population = {.memory = memory, .bytes = bytes};

	emogi_pool_run(pool, populate_pieces, &population);
	return population.failed == 0;
}

void
emogi_unmap_memory(void *memory, size_t bytes)
{
	if (memory != NULL)
		munmap(memory, bytes > 0 ? bytes : 1);
}

bool
emogi_edge_set_create(EmogiEdgeSet *set, uint64_t nchunks)
{
	*set = (EmogiEdgeSet) {.memory_bytes = nchunks * EMOGI_CHUNK_BYTES};
	set->chunks = calloc(nchunks > 0 ? nchunks : 1, sizeof(EmogiEdgeChunk *));
	set->memory = emogi_map_memory(set->memory_bytes);
	if (set->chunks == NULL || set->memory == NULL)
	{
		emogi_edge_set_free(set);
		return false;
	}
	for (uint64_t c = 0; c < nchunks; c++)
		set->chunks[c] = (EmogiEdgeChunk *) ((char *) set->memory + c * EMOGI_CHUNK_BYTES);
	set->edges.nchunks = nchunks;
	set->edges.chunks = set->chunks;
	return true;
}

void
emogi_edge_set_free(EmogiEdgeSet *set)
{
	emogi_unmap_memory(set->memory, set->memory_bytes);
	free(set->chunks);
	*set = (EmogiEdgeSet) {0};
}

void
emogi_edge_chunk_bound(EmogiEdgeChunk *chunk)
{
	chunk->min_key = INT64_MAX;
	chunk->max_key = INT64_MIN;
	for (uint64_t i = 0; i < chunk->nedges; i++)
	{
		int64_t		low = chunk->edges[i].src < chunk->edges[i].dst ? chunk->edges[i].src : chunk->edges[i].dst;
		int64_t		high = chunk->edges[i].src < chunk->edges[i].dst ? chunk->edges[i].dst : chunk->edges[i].src;

		if (low < chunk->min_key)
			chunk->min_key = low;
		if (high > chunk->max_key)
			chunk->max_key = high;
	}
}

void
emogi_edge_set_bound(EmogiEdgeSet *set)
{
	EmogiEdges *edges = &set->edges;

	edges->nedges = edges->nisolated = 0;
	edges->min_key = INT64_MAX;
	edges->max_key = INT64_MIN;
	for (uint64_t c = 0; c < edges->nchunks; c++)
	{
		const EmogiEdgeChunk *chunk = set->chunks[c];

		edges->nedges += chunk->nedges;
		edges->nisolated += chunk->isolated ? chunk->nedges : 0;
		if (chunk->nedges > 0 && chunk->min_key < edges->min_key)
			edges->min_key = chunk->min_key;
		if (chunk->nedges > 0 && chunk->max_key > edges->max_key)
			edges->max_key = chunk->max_key;
	}
}

bool
emogi_edge_set_fill(EmogiEdgeSet *set, const EmogiEdge *edges, uint64_t nedges, uint64_t per_chunk)
{
	if (!emogi_edge_set_create(set, (nedges + per_chunk - 1) / per_chunk))
		return false;
	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		uint64_t	first = c * per_chunk;

		set->chunks[c]->nedges = nedges - first < per_chunk ? nedges - first : per_chunk;
		memcpy(set->chunks[c]->edges, edges + first, set->chunks[c]->nedges * sizeof(EmogiEdge));
		emogi_edge_chunk_bound(set->chunks[c]);
	}
	emogi_edge_set_bound(set);
	return true;
}

bool
emogi_edge_set_fill_weighted(EmogiEdgeSet *set, const EmogiEdge *edges, const double *weights, uint64_t nedges,
							 uint64_t per_chunk)
{
	if (!emogi_edge_set_fill(set, edges, nedges, per_chunk))
		return false;
	set->edges.weighted = true;
	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		EmogiEdgeChunk *chunk = set->chunks[c];

		for (uint64_t i = 0; i < chunk->nedges; i++)
		{
			const EmogiEdge *edge = &edges[c * per_chunk + i];
			double		weight = weights[c * per_chunk + i];

			emogi_weighted_edges(chunk)[i] = (EmogiWeightedEdge) {edge->src, edge->dst, weight};
			chunk->weight_misfits |= emogi_weight_misfits(weight);
		}
		set->edges.weight_misfits |= chunk->weight_misfits;
	}
	return true;
}

/* Report that memory could not be mapped. */
static EmogiStatus
no_memory(EmogiError *error, size_t bytes)
{
	snprintf(error->message, sizeof(error->message), "could not map %zu bytes", bytes);
	error->detail[0] = '\0';
	return EMOGI_NO_MEMORY;
}

int			emogi_build_fill = -1;

/* Map memory for a graph or its scratch. */
static void *
map_for_graph(size_t bytes)
{
	void	   *memory = emogi_map_memory(bytes);

	if (memory != NULL && emogi_build_fill >= 0)
		memset(memory, emogi_build_fill, bytes);
	return memory;
}

/* Run the second step of csr.h while the scratch of the first is still allocated. */
static EmogiStatus
build_csr(EmogiPool *pool, const EmogiEdges *edges, const EmogiKeyNumbers *keys, EmogiDirection direction,
		  bool with_backward, EmogiBuiltGraph *built, EmogiControl *control, EmogiError *error)
{
	const uint64_t nedges = edges->nedges - edges->nisolated;
	size_t		bytes = emogi_csr_scratch_bytes(keys->nvertices, nedges, direction, emogi_pool_size(pool), edges->weighted);
	void	   *scratch = map_for_graph(bytes);
	EmogiCsrInput input = {.edges = edges, .keys = keys, .direction = direction, .with_backward = with_backward,
		.scratch = scratch};
	EmogiStatus status;

	built->memory_bytes = emogi_csr_bytes(keys->nvertices, nedges, direction, with_backward,
											 edges->weighted ? emogi_weight_type(edges->weight_misfits) : EMOGI_WEIGHT_NONE);
	input.memory = built->memory = map_for_graph(built->memory_bytes);
	if (scratch == NULL || built->memory == NULL)
		status = no_memory(error, scratch == NULL ? bytes : built->memory_bytes);
	else
		status = emogi_csr_build(pool, &input, &built->graph, control, error);
	emogi_unmap_memory(scratch, bytes);
	return status;
}

EmogiStatus
emogi_build_graph(EmogiPool *pool, const EmogiEdges *edges, EmogiDirection direction, bool with_backward,
				  EmogiBuiltGraph *built, EmogiControl *control, EmogiError *error)
{
	double		start = emogi_pool_now_ms();
	EmogiKeyPlan plan;
	EmogiKeyNumbers	keys;
	void	   *scratch;
	EmogiStatus status;

	*built = (EmogiBuiltGraph) {0};
	emogi_key_numbers_plan(edges, &plan);
	built->method = plan.method;
	scratch = map_for_graph(plan.scratch_bytes);
	if (scratch == NULL)
		return no_memory(error, plan.scratch_bytes);
	status = emogi_key_numbers_build(pool, edges, &plan, scratch, &keys, control, error);
	built->keys_ms = emogi_pool_now_ms() - start;
	if (status == EMOGI_OK)
		status = build_csr(pool, edges, &keys, direction, with_backward, built, control, error);
	built->csr_ms = emogi_pool_now_ms() - start - built->keys_ms;
	emogi_unmap_memory(scratch, plan.scratch_bytes);
	if (status != EMOGI_OK)
		emogi_built_graph_free(built);
	return status;
}

void
emogi_built_graph_free(EmogiBuiltGraph *built)
{
	emogi_unmap_memory(built->memory, built->memory_bytes);
	*built = (EmogiBuiltGraph) {0};
}
