/*
 * generate.c: the synthetic graphs of the GAP Benchmark Suite, and its choice of sources.
 *
 * The distributions and the treatment (both directions, no self-loops, no repeats) are GAP's; the random numbers are
 * not: here edge i depends on (seed, i) alone, so that the threads' number changes nothing.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015. Section 3.
 * [2] D. Chakrabarti, Y. Zhan, C. Faloutsos. R-MAT: A Recursive Model for Graph Mining. SDM 2004. Section 3.
 * [3] G. Steele, D. Lea, C. Flood. Fast Splittable Pseudorandom Number Generators. OOPSLA 2014. Figure 20 (the mixer).
 */
#include "generate.h"

#include "job.h"

#include <stdlib.h>

#define KRON_A 0.57
#define KRON_B 0.19
#define KRON_C 0.19
#define VERTICES_AT_ONCE 4096

typedef struct Generation
{
	EmogiGenerator generator;
	int			scale;
	uint64_t	seed;
	uint64_t	nedges;
	EmogiEdgeSet *set;
	uint64_t	next;			/* atomic: next chunk */
} Generation;

typedef struct Removal
{
	const EmogiGraph *from;
	EmogiGraph	to;
	uint32_t	max_weight;		/* 0 = no weights */
	uint64_t	seed;
	uint64_t   *starts;			/* [nvertices + 1]: counts, then where each list begins */
	uint64_t	next;			/* atomic: next vertices */
} Removal;

uint64_t
emogi_random(uint64_t seed, uint64_t i)
{
	uint64_t	x = seed * UINT64_C(0xD1B54A32D192ED03) + (i + 1) * UINT64_C(0x9E3779B97F4A7C15);

	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return x ^ x >> 31;
}

/* Permute 0 .. 2^scale - 1: each step has an inverse on scale bits. */
static uint64_t
permute(uint64_t v, int scale, uint64_t seed)
{
	uint64_t	mask = (UINT64_C(1) << scale) - 1;
	int			half = scale / 2 + 1;

	for (uint64_t round = 0; round < 4; round++)
	{
		v = (v * (emogi_random(seed, 2 * round) | 1) + emogi_random(seed, 2 * round + 1)) & mask;
		v ^= v >> half;
	}
	return v & mask;
}

/* Choose one of the four quarters at each of scale steps. */
static EmogiEdge
make_kron_edge(int scale, uint64_t seed, uint64_t i)
{
	const uint32_t a = (uint32_t) (KRON_A * 4294967296.0);
	const uint32_t ab = (uint32_t) ((KRON_A + KRON_B) * 4294967296.0);
	const uint32_t abc = (uint32_t) ((KRON_A + KRON_B + KRON_C) * 4294967296.0);
	uint64_t	src = 0,
				dst = 0;

	for (int step = 0; step < scale; step += 2)
	{
		uint64_t	random = emogi_random(seed, i * 32 + (uint64_t) step / 2);

		for (int j = 0; j < 2 && step + j < scale; j++)
		{
			uint32_t	r = (uint32_t) (random >> (32 * j));

			src = src << 1 | (r >= ab);
			dst = dst << 1 | ((r >= a && r < ab) || r >= abc);
		}
	}
	return (EmogiEdge) {(int64_t) permute(src, scale, ~seed), (int64_t) permute(dst, scale, ~seed)};
}

/* Choose both ends evenly. */
static EmogiEdge
make_urand_edge(int scale, uint64_t seed, uint64_t i)
{
	return (EmogiEdge) {
		(int64_t) (emogi_random(seed, 2 * i) >> (64 - scale)),
		(int64_t) (emogi_random(seed, 2 * i + 1) >> (64 - scale))
	};
}

/* Generate the edges of chunks. */
static void
generate_chunks(void *arg, int thread, int nthreads)
{
	Generation *generation = arg;
	uint64_t	c;

	while ((c = emogi_job_take(&generation->next, 1)) < generation->set->edges.nchunks)
	{
		EmogiEdgeChunk *chunk = generation->set->chunks[c];
		uint64_t	first = c * EMOGI_CHUNK_EDGES;

		chunk->nedges = generation->nedges - first < EMOGI_CHUNK_EDGES ? generation->nedges - first : EMOGI_CHUNK_EDGES;
		for (uint64_t i = 0; i < chunk->nedges; i++)
		{
			if (generation->generator == EMOGI_KRON)
				chunk->edges[i] = make_kron_edge(generation->scale, generation->seed, first + i);
			else
				chunk->edges[i] = make_urand_edge(generation->scale, generation->seed, first + i);
		}
		emogi_edge_chunk_bound(chunk);
	}
}

bool
emogi_generate_edges(EmogiPool *pool, EmogiGenerator generator, int scale, int degree, uint64_t seed,
					 EmogiEdgeSet *set)
{
	Generation	generation = {.generator = generator, .scale = scale, .seed = seed, .set = set};

	generation.nedges = (uint64_t) degree << scale;
	if (!emogi_edge_set_create(set, (generation.nedges + EMOGI_CHUNK_EDGES - 1) / EMOGI_CHUNK_EDGES))
		return false;
	emogi_pool_run(pool, generate_chunks, &generation);
	emogi_edge_set_bound(set);
	return true;
}

/* Choose the weight of the edge between u and v. */
static uint8_t
make_weight(const Removal *removal, uint64_t u, uint64_t v)
{
	uint64_t	pair = u < v ? u << 32 | v : v << 32 | u;

	return (uint8_t) (1 + (emogi_random(removal->seed + 1, pair) >> 32) * removal->max_weight / (UINT64_C(1) << 32));
}

/* Copy what is kept of the list of v to `to`, or only count it when to is NULL; chooses the weights. */
static uint64_t
keep_neighbours(const Removal *removal, uint64_t v, uint32_t *to, uint8_t *weights)
{
	const EmogiAdjacency *from = &removal->from->forward;
	uint64_t	kept = 0;

	for (uint64_t i = from->offsets[v]; i < from->offsets[v + 1]; i++)
	{
		uint32_t	target = from->targets[i];

		if (target == v || (i > from->offsets[v] && target == from->targets[i - 1]))
			continue;
		if (to != NULL)
			to[kept] = target;
		if (weights != NULL)
			weights[kept] = make_weight(removal, v, target);
		kept++;
	}
	return kept;
}

/* Count or copy what is kept of all lists. */
static void
keep_lists(void *arg, int thread, int nthreads)
{
	Removal    *removal = arg;
	const EmogiGraph *from = removal->from;
	uint32_t   *targets = (uint32_t *) removal->to.forward.targets;
	uint8_t    *weights = (uint8_t *) removal->to.forward.weights;
	uint64_t	first;

	while ((first = emogi_job_take(&removal->next, VERTICES_AT_ONCE)) < from->nvertices)
	{
		uint64_t	end = first + VERTICES_AT_ONCE < from->nvertices ? first + VERTICES_AT_ONCE : from->nvertices;

		for (uint64_t v = first; v < end; v++)
		{
			if (targets == NULL)
				removal->starts[v] = keep_neighbours(removal, v, NULL, NULL);
			else
			{
				((int64_t *) removal->to.ids)[v] = from->ids[v];
				((uint64_t *) removal->to.forward.offsets)[v] = removal->starts[v];
				keep_neighbours(removal, v, targets + removal->starts[v],
								weights != NULL ? weights + removal->starts[v] : NULL);
			}
		}
	}
}

bool
emogi_remove_repeats(EmogiPool *pool, uint32_t max_weight, uint64_t seed, EmogiBuiltGraph *built)
{
	EmogiWeightType type = max_weight > 0 ? EMOGI_WEIGHT_U8 : EMOGI_WEIGHT_NONE;
	uint64_t	n = built->graph.nvertices;
	Removal		removal = {.from = &built->graph, .max_weight = max_weight, .seed = seed};
	uint64_t	sum = 0;
	size_t		bytes;
	void	   *memory;

	removal.starts = emogi_map_memory(n * sizeof(uint64_t));
	if (removal.starts == NULL)
		return false;
	emogi_pool_run(pool, keep_lists, &removal);
	for (uint64_t v = 0; v < n; v++)
	{
		uint64_t	count = removal.starts[v];

		removal.starts[v] = sum;
		sum += count;
	}
	bytes = emogi_csr_bytes(n, sum, EMOGI_OUT, false, type);
	memory = emogi_map_memory(bytes);
	if (memory != NULL)
	{
		emogi_csr_view(memory, n, sum, EMOGI_BOTH, false, type, &removal.to);
		removal.next = 0;
		emogi_pool_run(pool, keep_lists, &removal);
		((uint64_t *) removal.to.forward.offsets)[n] = sum;
		emogi_unmap_memory(built->memory, built->memory_bytes);
		built->graph = removal.to;
		built->memory = memory;
		built->memory_bytes = bytes;
	}
	emogi_unmap_memory(removal.starts, n * sizeof(uint64_t));
	return memory != NULL;
}

bool
emogi_pick_sources(const EmogiGraph *graph, uint64_t seed, uint32_t *sources, int nsources)
{
	uint64_t	tries = 0;

	for (int s = 0; s < nsources;)
	{
		uint64_t	v;

		if (graph->forward.nedges == 0 || tries > UINT64_C(1) << 32)
			return false;
		v = emogi_random(seed, tries++) % graph->nvertices;
		if (graph->forward.offsets[v + 1] > graph->forward.offsets[v])
			sources[s++] = (uint32_t) v;
	}
	return true;
}
