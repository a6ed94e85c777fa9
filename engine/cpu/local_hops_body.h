/*
 * local_hops_body.h: the code of a local BFS, for the file that includes it: over all edges, or,
 * with HOPS_MASKED, over those that pass the query's mask.
 *
 * Two files include it, so that masks cost nothing in searches without one.
 */
#include "cpu/local_hops.h"

#include "contract/masked_lists.h"

#include <stdlib.h>
#include <string.h>

#define FEW_BITS 9				/* of the table for which there is room on the stack */
#define GROUP 16				/* vertices whose lists are prefetched together */

/* A search. */
typedef struct Hops
{
	const EmogiGraph *graph;
	EmogiListsView lists;
#if HOPS_MASKED
	EmogiMaskedView passing;
#endif
	uint64_t	max_edges;
	uint64_t	nscanned;
	bool		failed;
	uint64_t	deepest;		/* vertices on this level are not expanded */
	uint64_t   *queue;			/* [2^(bits - 1)], and as much scratch plus one word
								 * (emogi_local_sort): vertex << 32 | level, in the order of
								 * visits */
	uint64_t	count;
	uint32_t   *table;			/* [2^bits], vertex + 1, 0 = free; open addressing, at most half
								 * full */
	int			bits;
	bool		is_allocated;	/* queue, and table in the same block, are heap-allocated */
	uint64_t	few_queue[(1 << FEW_BITS) + 1];
	uint32_t	few_table[1 << FEW_BITS];
} Hops;

/* Get the vertex, or the level, of an entry of the queue. */
static inline uint32_t
vertex_of(uint64_t entry)
{
	return (uint32_t) (entry >> 32);
}

static inline uint32_t
level_of(uint64_t entry)
{
	return (uint32_t) entry;
}

#define HASH_PREFIX vertex
#define HASH_ENTRY uint32_t
#define HASH_STORED(vertex) *(vertex)
#include "containers/hash_table.h"

/* Find the slot of a vertex in the table, or a free one. */
static inline uint32_t *
find_place(const Hops *hops, uint32_t vertex)
{
	return vertex_find(hops->table, hops->bits, vertex);
}

/*
 * Move the queue and the table to memory with room for `count` vertices; the search fails if out of
 * memory.
 */
static void
grow(Hops *hops, uint64_t count)
{
	uint64_t   *before = hops->queue;
	uint64_t   *after;
	const int	bits = emogi_hash_bits(hops->bits, count);

	after = malloc(((sizeof(*hops->queue) + sizeof(*hops->table)) << bits) + sizeof(*hops->queue));
	if (after == NULL)
	{
		hops->failed = true;
		return;
	}
	hops->bits = bits;
	hops->queue = memcpy(after, before, hops->count * sizeof(*before));
	hops->table = memset(after + (UINT64_C(1) << bits) + 1, 0, sizeof(*hops->table) << bits);
	for (uint64_t i = 0; i < hops->count; i++)
		*find_place(hops, vertex_of(after[i])) = vertex_of(after[i]) + 1;
	if (hops->is_allocated)
		free(before);
	hops->is_allocated = true;
}

/* Make room for more vertices; false if the search fails. */
static inline bool
reserve(Hops *hops, uint64_t more)
{
	if (2 * (hops->count + more) > UINT64_C(1) << hops->bits)
		grow(hops, hops->count + more);
	return !hops->failed;
}

/* Visit a vertex, for which there is room, and prefetch its data. */
static inline void
visit(Hops *hops, uint32_t vertex, uint64_t level)
{
	uint32_t   *place = find_place(hops, vertex);

	if (*place != 0)
		return;
	*place = vertex + 1;
	hops->queue[hops->count++] = (uint64_t) vertex << 32 | level;
	if (vertex >= hops->lists.nvertices)
		return;
	if (level < hops->deepest)
		__builtin_prefetch(&hops->lists.lists->offsets[vertex]);
	if (hops->graph->ids != NULL)
		__builtin_prefetch(&hops->graph->ids[vertex]);
}

#if HOPS_MASKED

/* Visit the neighbors of a vertex to which passing edges lead. */
static void
expand(Hops *hops, uint32_t vertex, uint64_t level)
{
	const uint64_t degree = emogi_lists_degree(&hops->lists, vertex);
	const EmogiListPiece *piece;

	hops->failed = degree > hops->max_edges - hops->nscanned;
	piece = hops->failed ? NULL : emogi_masked_list(&hops->passing, vertex);
	if (piece == NULL || !reserve(hops, piece->count))
	{
		hops->failed = true;
		return;
	}
	hops->nscanned += degree;
	for (uint64_t e = 0; e < piece->count; e++)
		visit(hops, piece->targets[e], level);
}

#else

/* Visit the neighbors of a vertex, which are on `level`. */
static void
expand(Hops *hops, uint32_t vertex, uint64_t level)
{
	const uint64_t degree = emogi_lists_degree(&hops->lists, vertex);
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces;

	if (degree > hops->max_edges - hops->nscanned)
		hops->failed = true;
	if (hops->failed || !reserve(hops, degree))
		return;
	hops->nscanned += degree;
	pieces = emogi_lists_pieces(&hops->lists, vertex, &whole, &npieces);
	for (uint32_t i = 0; i < npieces; i++)
		for (uint64_t e = 0; e < pieces[i].count; e++)
			visit(hops, pieces[i].targets[e], level);
}

#endif

/* Prefetch the lists of a group that begins at a place of the queue, both ends of each. */
static void
prefetch_lists(const Hops *hops, uint64_t first, uint64_t end)
{
	const EmogiAdjacency *lists = hops->lists.lists;

	for (uint64_t i = first; i < end && i < first + GROUP; i++)
	{
		const uint32_t vertex = vertex_of(hops->queue[i]);

		if (vertex >= hops->lists.nvertices)
			continue;
		__builtin_prefetch(&lists->targets[lists->offsets[vertex]]);
		__builtin_prefetch(&lists->targets[lists->offsets[vertex + 1]]);
	}
}

/* Make a level from the previous one, which begins at queue[first]. */
static void
make_level(Hops *hops, uint64_t first, uint64_t level)
{
	const uint64_t end = hops->count;

	prefetch_lists(hops, first, end);
	for (uint64_t i = first; i < end && !hops->failed; i++)
	{
		if ((i - first) % GROUP == 0)
			prefetch_lists(hops, i + GROUP, end);
		expand(hops, vertex_of(hops->queue[i]), level);
	}
}

/* Enter the sources. False if one may have been removed. */
static bool
enter_sources(Hops *hops, const EmogiOverlay *overlay, const EmogiQuery *query)
{
	if (query->nsources > hops->max_edges || !reserve(hops, query->nsources))
		return false;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const EmogiOverlayPresence presence =
#if HOPS_MASKED
			emogi_masked_presence(hops->graph, overlay, query->mask, query->sources[i]);
#else
			emogi_overlay_presence(hops->graph, overlay, query->sources[i]);
#endif

		if (presence == EMOGI_VERTEX_UNKNOWN)
			return false;
		if (presence == EMOGI_VERTEX_THERE)
			visit(hops, query->sources[i], 0);
	}
	return true;
}

/* Make levels until nothing new is visited or the depth limit is reached. */
static void
run(Hops *hops)
{
	uint64_t	first = 0;

	for (uint64_t level = 1; level <= hops->deepest && first < hops->count && !hops->failed;
		 level++)
	{
		const uint64_t next = hops->count;

		make_level(hops, first, level);
		first = next;
	}
}

/* Write the answer; false if out of memory. */
static bool
write_answer(Hops *hops, const EmogiOverlay *overlay, EmogiLocalAnswer *answer)
{
	const uint64_t count = hops->count;

	if (count > 0)
		answer->nlevels = level_of(hops->queue[count - 1]) + 1;
	answer->count = count;
	answer->edges_traversed = hops->nscanned;
	answer->vertices = malloc((count + 1) * sizeof(*answer->vertices));
	answer->values = malloc((count + 1) * sizeof(*answer->values));
	if (answer->vertices == NULL || answer->values == NULL)
	{
		emogi_local_search_free(answer);
		return false;
	}
	emogi_local_sort(hops->graph, overlay, hops->queue, count);
	for (uint64_t i = 0; i < count; i++)
	{
		answer->vertices[i] = vertex_of(hops->queue[i]);
		answer->values[i] = level_of(hops->queue[i]);
	}
	return true;
}

EmogiLocalOutcome
#if HOPS_MASKED
emogi_local_masked_hops(const EmogiGraph *graph, const EmogiOverlay *overlay,
						const EmogiQuery *query, uint64_t max_edges, EmogiLocalAnswer *answer)
#else
emogi_local_hops(const EmogiGraph *graph, const EmogiOverlay *overlay, const EmogiQuery *query,
				 uint64_t max_edges, EmogiLocalAnswer *answer)
#endif
{
	Hops		hops;
	bool		answered;

	hops.graph = graph;
	hops.lists = emogi_lists_forward(graph, overlay);
#if HOPS_MASKED
	hops.passing = emogi_masked_forward(graph, overlay, query->mask);
#endif
	hops.max_edges = max_edges;
	hops.nscanned = hops.count = 0;
	hops.failed = hops.is_allocated = false;
	hops.deepest = query->max_depth < 0 || query->max_depth > UINT32_MAX ? UINT32_MAX
		: (uint64_t) query->max_depth;
	hops.queue = hops.few_queue;
	hops.table = memset(hops.few_table, 0, sizeof(hops.few_table));
	hops.bits = FEW_BITS;
	*answer = (EmogiLocalAnswer) {0};
	answered = enter_sources(&hops, overlay, query);
	if (answered)
		run(&hops);
	answered = answered && !hops.failed && write_answer(&hops, overlay, answer);
	if (hops.is_allocated)
		free(hops.queue);
#if HOPS_MASKED
	emogi_masked_free(&hops.passing);
#endif
	return answered ? EMOGI_LOCAL_ANSWERED : EMOGI_LOCAL_GAVE_UP;
}
