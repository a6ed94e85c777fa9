/*
 * direct.c: derive directed graphs from undirected ones.
 *
 * Each adjacency list of the symmetric graph is divided into outgoing and incoming edges.
 */
#include "direct.h"

#include "edge.h"
#include "threads/job.h"

#include <string.h>

#define VERTEX_CHUNK 1024

typedef struct Directing
{
	const EmogiGraph *from;
	EmogiGraph	to;
	uint64_t	seed;
	uint64_t	next;			/* atomic: next vertices */
} Directing;

/* Return true if the edge between two vertices leads from u to v. */
static inline bool
leads(uint64_t seed, uint64_t u, uint64_t v)
{
	const uint64_t pair = u < v ? u << 32 | v : v << 32 | u;

	return (emogi_random(seed + 2, pair) >> 63 != 0) == (u < v);
}

/* Count the outgoing edges of a vertex. */
static uint64_t
count_out(const Directing *directing, uint64_t v)
{
	const EmogiAdjacency *lists = &directing->from->forward;
	uint64_t	count = 0;

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
		count += leads(directing->seed, v, lists->targets[e]);
	return count;
}

/* Copy the edges of a list to the outgoing and incoming lists of its vertex. */
static void
divide_list(const Directing *directing, uint64_t v)
{
	const EmogiAdjacency *lists = &directing->from->forward;
	const EmogiAdjacency *ways[2] = {&directing->to.backward, &directing->to.forward};
	const uint8_t *weights = lists->weights;
	uint64_t	places[2] = {ways[0]->offsets[v], ways[1]->offsets[v]};

	for (uint64_t e = lists->offsets[v]; e < lists->offsets[v + 1]; e++)
	{
		const bool	out = leads(directing->seed, v, lists->targets[e]);

		((uint32_t *) ways[out]->targets)[places[out]] = lists->targets[e];
		if (weights != NULL)
			((uint8_t *) ways[out]->weights)[places[out]] = weights[e];
		places[out]++;
	}
}

/* Count the outgoing edges of all vertices. */
static void
count_lists(void *arg, int thread, int nthreads)
{
	Directing  *directing = arg;
	const EmogiGraph *from = directing->from;
	uint64_t   *out = (uint64_t *) directing->to.forward.offsets;
	uint64_t	v;

	while ((v = emogi_job_claim(&directing->next, VERTEX_CHUNK)) < from->nvertices)
		for (uint64_t i = v; i < v + VERTEX_CHUNK && i < from->nvertices; i++)
		{
			((int64_t *) directing->to.ids)[i] = from->ids[i];
			out[i + 1] = count_out(directing, i);
		}
}

/* Divide the lists of all vertices. */
static void
divide_lists(void *arg, int thread, int nthreads)
{
	Directing  *directing = arg;
	uint64_t	v;

	while ((v = emogi_job_claim(&directing->next, VERTEX_CHUNK)) < directing->from->nvertices)
		for (uint64_t i = v; i < v + VERTEX_CHUNK && i < directing->from->nvertices; i++)
			divide_list(directing, i);
}

/* Compute the offsets of both directions from the counts. */
static void
add_up(Directing *directing)
{
	const uint64_t *before = directing->from->forward.offsets;
	uint64_t   *out = (uint64_t *) directing->to.forward.offsets;
	uint64_t   *in = (uint64_t *) directing->to.backward.offsets;

	out[0] = in[0] = 0;
	for (uint64_t v = 0; v < directing->from->nvertices; v++)
	{
		in[v + 1] = in[v] + (before[v + 1] - before[v]) - out[v + 1];
		out[v + 1] += out[v];
	}
}

bool
emogi_direct_edges(EmogiPool *pool, uint64_t seed, EmogiBuiltGraph *built)
{
	const EmogiGraph *from = &built->graph;
	const uint64_t nedges = from->forward.nedges / 2;
	const size_t bytes = emogi_csr_bytes(from->nvertices, nedges, EMOGI_OUT, true, from->weight_type);
	void	   *memory = emogi_map_memory(bytes);
	Directing	directing = {.from = from, .seed = seed};

	if (memory == NULL)
		return false;
	emogi_csr_view(memory, from->nvertices, nedges, EMOGI_OUT, true, from->weight_type, &directing.to);
	emogi_pool_run(pool, count_lists, &directing);
	add_up(&directing);
	directing.next = 0;
	emogi_pool_run(pool, divide_lists, &directing);
	emogi_unmap_memory(built->memory, built->memory_bytes);
	built->graph = directing.to;
	built->memory = memory;
	built->memory_bytes = bytes;
	return true;
}
