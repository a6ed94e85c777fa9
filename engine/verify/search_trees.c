/*
 * search_trees.c: verify shortest-path trees.
 *
 * The levels or distances pass the verifier of the search without a tree. Among the reached
 * vertices exactly the sources have no predecessor, and each source is its own source. From the
 * sources, every reached vertex is found along tight edges from its predecessor, which also gives
 * the number of edges of its path. No tight edge offers a smaller source, fewer edges from the same
 * source, or a smaller predecessor with the same number of edges. Each row therefore describes a
 * path, and no path is better.
 */
#include "check.h"

#include "contract/semirings.h"

#include <stdlib.h>

typedef struct Tree
{
	EmogiCheck *check;
	const int32_t *level;		/* [nvertices], or NULL */
	const double *distance;		/* [nvertices], or NULL */
	const uint32_t *predecessor;	/* [nvertices] */
	const uint32_t *source;		/* [nvertices] */
	uint32_t   *nedges;			/* [nvertices], number of edges of the path to a vertex */
	uint64_t   *sources;		/* bits */
	uint64_t   *explained;		/* bits: sources, and vertices found from their predecessors */
	EmogiCheckQueue queue;
} Tree;

/* Check whether a vertex is reached. */
static inline bool
is_reached(const Tree *tree, uint64_t v)
{
	return tree->level != NULL ? tree->level[v] >= 0 : tree->distance[v] < (double) INFINITY;
}

/* Check whether edge e from a reached vertex u to v is tight. */
static inline bool
is_tight(const Tree *tree, uint64_t u, uint64_t v, uint64_t e)
{
	const EmogiGraph *graph = tree->check->graph;
	double		offer;

	if (tree->level != NULL)
		return tree->level[v] == tree->level[u] + 1;
	offer = tree->distance[u] + emogi_weight(graph->forward.weights, graph->weight_type, e);
	return offer == tree->distance[v] && offer < (double) INFINITY;
}

/* Find the vertices whose predecessor is u. */
static void
follow(void *arg, EmogiCheckQueueBuffer *found, uint32_t u)
{
	Tree	   *tree = arg;
	const EmogiAdjacency *forward = &tree->check->graph->forward;

	for (uint64_t e = forward->offsets[u]; e < forward->offsets[u + 1]; e++)
	{
		const uint32_t v = forward->targets[e];

		if (tree->predecessor[v] != u || !is_tight(tree, u, v, e) ||
			!emogi_add_bit(tree->explained, v))
			continue;
		tree->nedges[v] = tree->nedges[u] + 1;
		emogi_check_queue_buffer_add(found, v);
	}
}

/* Put the sources into the queue. */
static void
enter_sources(Tree *tree)
{
	const EmogiQuery *query = tree->check->query;

	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t s = query->sources[i];

		if (!is_reached(tree, s) || !emogi_add_bit(tree->explained, s))
			continue;
		emogi_add_bit(tree->sources, s);
		tree->queue.items[tree->queue.tail++] = s;
	}
}

/* Check the predecessors and sources of a range of vertices. */
static void
check_vertices(void *arg, uint64_t first, uint64_t end)
{
	Tree	   *tree = arg;

	for (uint64_t v = first; v < end; v++)
	{
		const bool	is_source = emogi_has_bit(tree->sources, v);
		const bool	has_way = is_reached(tree, v) && !is_source;

		if ((tree->predecessor[v] != EMOGI_NO_VERTEX) != has_way ||
			(is_source && tree->source[v] != v) ||
			(tree->source[v] != EMOGI_NO_VERTEX) != (has_way || is_source))
			emogi_check_wrong(tree->check, "vertex %llu has predecessor %u and source %u",
							  (unsigned long long) v, tree->predecessor[v],
							  tree->source[v]);
		else if (has_way && !emogi_has_bit(tree->explained, v))
			emogi_check_wrong(tree->check, "vertex %llu is not found by way of %u",
							  (unsigned long long) v, tree->predecessor[v]);
		else if (has_way && tree->source[v] != tree->source[tree->predecessor[v]])
			emogi_check_wrong(tree->check,
							  "vertex %llu has source %u, and its predecessor %u has %u",
							  (unsigned long long) v, tree->source[v],
							  tree->predecessor[v], tree->source[tree->predecessor[v]]);
	}
}

/* Check whether a path by way of u is better than the path of v. */
static inline bool
is_better(const Tree *tree, uint64_t u, uint64_t v)
{
	if (tree->source[u] != tree->source[v])
		return tree->source[u] < tree->source[v];
	if (tree->nedges[u] + 1 != tree->nedges[v])
		return tree->nedges[u] + 1 < tree->nedges[v];
	return u < tree->predecessor[v];
}

/* Check that no edge offers a better path. */
static void
check_edges(void *arg, uint64_t first, uint64_t end)
{
	Tree	   *tree = arg;
	const EmogiAdjacency *forward = &tree->check->graph->forward;

	for (uint64_t u = first; u < end && emogi_check_ok(tree->check); u++)
		for (uint64_t e = forward->offsets[u]; is_reached(tree, u) && e < forward->offsets[u + 1];
			 e++)
		{
			const uint32_t v = forward->targets[e];

			if (!emogi_has_bit(tree->sources, v) && is_tight(tree, u, v, e) &&
				is_better(tree, u, v))
				emogi_check_wrong(tree->check,
								  "vertex %u has predecessor %u of source %u, and %llu of source "
								  "%u is better", v,
								  tree->predecessor[v], tree->source[v], (unsigned long long) u,
								  tree->source[u]);
		}
}

/* Check the levels or distances. */
static bool
check_distances(EmogiCheck *check)
{
	const EmogiAlgorithmRow *row = emogi_algorithm_row(check->query->algorithm);
	EmogiQuery	search = *check->query;
	EmogiCheck	inner = *check;

	inner.query = &search;
	search.algorithm = row->search;
	return row->shape == EMOGI_SHAPE_BFS_TREE ? emogi_verify_bfs(&inner)
		: emogi_verify_path(&inner);
}

bool
emogi_verify_trees(EmogiCheck *check)
{
	const uint64_t n = check->graph->nvertices;
	const EmogiArray *columns = check->result->columns;
	Tree		tree = {.check = check, .predecessor = columns[1].vertex,
		.source = columns[2].vertex};
	bool		right;

	if (!check_distances(check))
		return false;
	if (emogi_algorithm_row(check->query->algorithm)->shape == EMOGI_SHAPE_BFS_TREE)
		tree.level = columns[0].int32;
	else
		tree.distance = columns[0].float64;
	tree.nedges = calloc(n + 1, sizeof *tree.nedges);
	tree.sources = emogi_check_bits(n);
	tree.explained = emogi_check_bits(n);
	if (!emogi_check_queue_init(&tree.queue, check, follow, &tree) || tree.nedges == NULL ||
		tree.sources == NULL || tree.explained == NULL)
		right = emogi_check_wrong(check, "no memory to verify");
	else
	{
		enter_sources(&tree);
		right = emogi_check_search(&tree.queue) &&
			emogi_check_parts(check, check_vertices, &tree, n) &&
			emogi_check_parts(check, check_edges, &tree, n);
	}
	free(tree.nedges);
	free(tree.sources);
	free(tree.explained);
	emogi_check_queue_free(&tree.queue);
	return right;
}
