/*
 * generate.c: generate the edges of synthetic graphs, and convert graphs to those of GAP's builder:
 * symmetric, without self-loops and repeated edges. edge.h defines the edges.
 *
 * [1] S. Beamer, K. Asanovic, D. Patterson. The GAP Benchmark Suite. arXiv:1508.03619, 2015. Section 3.
 */
#include "generate.h"

#include "threads/job.h"

#include <stdlib.h>

#define VERTEX_CHUNK 4096

const double emogi_kron_quarters[3] = {0.57, 0.19, 0.19};
const double emogi_rmat_quarters[3] = {0.45, 0.22, 0.22};

typedef struct Generation
{
	const EmogiRecipe *recipe;
	EmogiEdgeSet *set;
	uint64_t	next;			/* atomic: next chunk */
} Generation;

typedef struct Removal
{
	const EmogiGraph *from;
	EmogiGraph	to;
	uint32_t	max_weight;		/* 0 = no weights */
	uint64_t	seed;
	uint64_t   *starts;			/* [nvertices + 1]: counts, then starts of the lists */
	uint64_t	next;			/* atomic: next vertices */
} Removal;

void
emogi_recipe_quarters(EmogiRecipe *recipe, const double quarters[3])
{
	double		sum = 0.0;

	for (int q = 0; q < 3; q++)
	{
		sum += quarters[q];
		recipe->upto[q] = (uint32_t) (sum * 4294967296.0);
	}
}

EmogiRecipe
emogi_recipe(EmogiGenerator generator, int scale, int degree, uint64_t nvertices, uint64_t seed, uint32_t max_weight)
{
	EmogiRecipe recipe = {.generator = generator, .scale = scale, .seed = seed, .side = 1, .nkeys = nvertices,
		.max_weight = max_weight};

	emogi_recipe_quarters(&recipe, generator == EMOGI_RMAT ? emogi_rmat_quarters : emogi_kron_quarters);
	if (emogi_generator_has_degree(generator))
	{
		recipe.nkeys = UINT64_C(1) << scale;
		recipe.nedges = (uint64_t) degree << scale;
	}
	else if (generator == EMOGI_GRID)
	{
		while ((recipe.side + 1) * (recipe.side + 1) <= nvertices)
			recipe.side++;
		recipe.nkeys = recipe.side * recipe.side;
		recipe.nedges = 2 * recipe.side * (recipe.side - 1);
	}
	else if (generator == EMOGI_PATH)
		recipe.nedges = nvertices - 1;
	else
	{
		recipe.nkeys = nvertices + 1;
		recipe.nedges = nvertices;
	}
	return recipe;
}

/* Generate the edges of chunks. */
static void
generate_chunks(void *arg, int thread, int nthreads)
{
	Generation *generation = arg;
	const uint64_t nedges = generation->recipe->nedges;
	uint64_t	c;

	while ((c = emogi_job_claim(&generation->next, 1)) < generation->set->edges.nchunks)
	{
		EmogiEdgeChunk *chunk = generation->set->chunks[c];
		uint64_t	first = c * EMOGI_CHUNK_EDGES;

		chunk->nedges = nedges - first < EMOGI_CHUNK_EDGES ? nedges - first : EMOGI_CHUNK_EDGES;
		for (uint64_t i = 0; i < chunk->nedges; i++)
			chunk->edges[i] = emogi_make_edge(generation->recipe, first + i);
		emogi_edge_chunk_bound(chunk);
	}
}

bool
emogi_generate(EmogiPool *pool, const EmogiRecipe *recipe, EmogiEdgeSet *set)
{
	Generation	generation = {.recipe = recipe, .set = set};

	if (!emogi_edge_set_create(set, (recipe->nedges + EMOGI_CHUNK_EDGES - 1) / EMOGI_CHUNK_EDGES))
		return false;
	emogi_pool_run(pool, generate_chunks, &generation);
	emogi_edge_set_bound(set);
	return true;
}

bool
emogi_generate_edges(EmogiPool *pool, EmogiGenerator generator, int scale, int degree, uint64_t seed,
					 EmogiEdgeSet *set)
{
	const EmogiRecipe recipe = emogi_recipe(generator, scale, degree, 0, seed, 0);

	return emogi_generate(pool, &recipe, set);
}

/*
 * Copy the kept neighbours of v to `to`, or only count them if to is NULL, and compute the weights.
 */
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
			weights[kept] = emogi_make_weight(removal->seed, removal->max_weight, v, target);
		kept++;
	}
	return kept;
}

/* Count or copy the kept neighbours of all vertices. */
static void
keep_lists(void *arg, int thread, int nthreads)
{
	Removal    *removal = arg;
	const EmogiGraph *from = removal->from;
	uint32_t   *targets = (uint32_t *) removal->to.forward.targets;
	uint8_t    *weights = (uint8_t *) removal->to.forward.weights;
	uint64_t	first;

	while ((first = emogi_job_claim(&removal->next, VERTEX_CHUNK)) < from->nvertices)
	{
		uint64_t	end = first + VERTEX_CHUNK < from->nvertices ? first + VERTEX_CHUNK : from->nvertices;

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
