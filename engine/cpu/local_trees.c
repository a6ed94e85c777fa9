/*
 * local_trees.c: search trees of local searches. search_trees.c defines which of several possible
 * trees is chosen; this file applies the same method, source by source and round by round, to the
 * vertices reached, whose indexes in the answer ascend with the keys.
 */
#include "contract/local_trees.h"

#include "contract/semirings.h"

#include <stdlib.h>

/* A reached vertex. */
typedef struct Place
{
	uint32_t	vertex;			/* vertex + 1; 0 = free */
	uint32_t	place;			/* index in the answer */
} Place;

#define HASH_PREFIX place
#define HASH_ENTRY Place
#define HASH_STORED(place) (place)->vertex
#include "containers/hash_table.h"

typedef struct Tree
{
	const EmogiLocalAnswer *answer;
	EmogiListsView lists;
	EmogiWeightType weight_type;
	Place	   *places;			/* [2^bits], open addressing, at most half full */
	int			bits;
	bool	   *is_root;		/* [count] */
	uint32_t   *round;			/* [count]: the round in which it was found; 0 = not found yet */
	uint32_t   *queue;			/* [count]: found vertices, round by round */
	uint64_t	tail;
	uint32_t	number;			/* of the current round, counted over all sources */
	uint32_t	root;
	uint32_t   *predecessor;
	uint32_t   *source;
	uint64_t	nscanned;
} Tree;

/* Find the slot of a vertex, or a free one. */
static Place *
find_place(const Tree *tree, uint32_t vertex)
{
	return place_find(tree->places, tree->bits, vertex);
}

/* Record each vertex's index in the answer, and which are sources; false if out of memory. */
static bool
begin(Tree *tree, const EmogiQuery *query)
{
	const uint64_t count = tree->answer->count;

	tree->bits = emogi_hash_bits(4, count);
	tree->places = calloc((size_t) 1 << tree->bits, sizeof *tree->places);
	tree->is_root = calloc(count + 1, sizeof *tree->is_root);
	tree->round = calloc(count + 1, sizeof *tree->round);
	tree->queue = malloc((count + 1) * sizeof *tree->queue);
	if (tree->places == NULL || tree->is_root == NULL || tree->round == NULL || tree->queue == NULL)
		return false;
	for (uint64_t i = 0; i < count; i++)
	{
		*find_place(tree, tree->answer->vertices[i]) = (Place) {tree->answer->vertices[i] + 1,
			(uint32_t) i};
		tree->predecessor[i] = tree->source[i] = EMOGI_NO_VERTEX;
	}
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const Place *place = find_place(tree, query->sources[i]);

		if (place->vertex != 0)
			tree->is_root[place->place] = true;
	}
	return true;
}

/* Find v from u in this round, unless it was found in an earlier one; both are indexes. */
static void
find_vertex(Tree *tree, uint32_t u, uint32_t v)
{
	if (tree->is_root[v] || (tree->round[v] != 0 && tree->round[v] != tree->number))
		return;
	if (tree->round[v] == 0)
	{
		tree->round[v] = tree->number;
		tree->source[v] = tree->root;
		tree->queue[tree->tail++] = v;
	}
	if (u < tree->predecessor[v])
		tree->predecessor[v] = u;
}

/* Visit the vertex at an index. */
static void
visit(Tree *tree, uint32_t u)
{
	const double value = tree->answer->values[u];
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(&tree->lists, tree->answer->vertices[u],
													  &whole, &npieces);

	for (uint32_t i = 0; i < npieces; i++)
	{
		for (uint64_t e = 0; e < pieces[i].count; e++)
		{
			const Place *place = find_place(tree, pieces[i].targets[e]);

			if (place->vertex != 0 &&
				emogi_path_candidate(EMOGI_SSSP, value,
									 emogi_weight(pieces[i].weights, tree->weight_type, e)) ==
				tree->answer->values[place->place])
				find_vertex(tree, u, place->place);
		}
		tree->nscanned += pieces[i].count;
	}
}

/* Grow the tree of a source. */
static void
grow_from(Tree *tree, uint32_t root)
{
	uint64_t	head = tree->tail;

	tree->root = tree->source[root] = root;
	tree->queue[tree->tail++] = root;
	while (head < tree->tail)
	{
		const uint64_t end = tree->tail;

		tree->number++;
		for (; head < end; head++)
			visit(tree, tree->queue[head]);
	}
}

bool
emogi_local_trees(const EmogiGraph *graph, const EmogiOverlay *overlay, const EmogiQuery *query,
				  const EmogiLocalAnswer *answer, uint32_t *predecessor,
				  uint32_t *source, uint64_t *nscanned)
{
	Tree		tree = {.answer = answer, .lists = emogi_lists_forward(graph, overlay),
		.predecessor = predecessor, .source = source,
		.weight_type = emogi_algorithm_row(query->algorithm)->weights == EMOGI_WEIGHTS_UNUSED ?
			EMOGI_WEIGHT_NONE : graph->weight_type};
	const bool	has_memory = begin(&tree, query);

	for (uint64_t i = 0; has_memory && i < answer->count; i++)
		if (tree.is_root[i])
			grow_from(&tree, (uint32_t) i);
	*nscanned = tree.nscanned;
	free(tree.places);
	free(tree.is_root);
	free(tree.round);
	free(tree.queue);
	return has_memory;
}
