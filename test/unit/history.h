/*
 * history.h: random histories of graphs, for the tests of incremental changes: random edges, rounds
 * of random changes, and the graph built from the current edges as the oracle.
 *
 * A seed determines a history. A file that includes this may define MAX_EDGES, the maximum number
 * of edges.
 */
#ifndef EMOGI_HISTORY_H
#define EMOGI_HISTORY_H

#include "build.h"
#include "check.h"
#include "generate.h"
#include "graph/key_numbers.h"
#include "contract/builder.h"
#include "threads/pool.h"
#include "shapes.h"

#include <stdlib.h>
#include <string.h>

#ifndef MAX_EDGES
#define MAX_EDGES 1200000
#endif
#define NPOOLS 3
#define NBLOCKS 2
#define ROOM ((size_t) 1 << 30) /* bytes of each mapping; pages are allocated on first access */
#define GUARD 256				/* bytes after the requested ones, which must not change */

static EmogiPool *pools[NPOOLS];	/* of 1, 2 and 5 threads */
static char *keys_memory,
		   *csr_scratch,
		   *csr_memory,
		   *splice_scratch,
		   *blocks[NBLOCKS];	/* for the graphs of a history, by turns */
static EmogiEdgeSet set;		/* the edges of a rebuild */
static uint64_t seed;
static uint64_t ndrawn;

/* ---- random choices ---- */

/* Get a number below n. */
static inline uint64_t
draw(uint64_t n)
{
	return emogi_random(seed, ndrawn++) % n;
}

/* Return true with probability 1/n. */
static inline bool
once_in(uint64_t n)
{
	return draw(n) == 0;
}

/* A history: its parameters and its current state. */
typedef struct History
{
	EmogiDirection direction;
	bool		with_backward;
	bool		weighted;
	int			keys;			/* kind of keys */
	int			weights;		/* usual kind of weights */
	uint64_t	usual;			/* one in so many weights is of another kind */
	bool		skewed;			/* few keys have many edges */
	uint64_t	nkeys;
	/* currently chosen keys: numbers [first_key, first_key + span) */
	uint64_t	first_key;
	uint64_t	span;
	EmogiWeightedEdge *edges;	/* [nedges] of MAX_EDGES: the current edges */
	uint64_t	nedges;
	EmogiEdgeChange *changes;	/* [nchanges] */
	uint64_t	nchanges;
	uint64_t	max_changes;
	EmogiGraph	graph;
	int			block;			/* index of the block that holds the graph */
} History;

/* Get key number i of a kind. Keys ascend with i, except random ones. */
static inline int64_t
make_key(const History *history, uint64_t i)
{
	switch (history->keys)
	{
		case 0:
			return (int64_t) i;
		case 1:
			return (int64_t) i - (int64_t) history->nkeys / 2;
		case 2:
			return (int64_t) i * INT64_C(5000000000) - INT64_C(70000000000);
		case 3:
			return (int64_t) emogi_random(77, i);
		case 4:
			return i < history->nkeys / 2 ? INT64_MIN + (int64_t) i
				: INT64_MAX - (int64_t) (history->nkeys - 1 - i);
		default:
			return (int64_t) i * 37 + 1000;
	}
}

/* Draw a key. */
static inline int64_t
draw_key(const History *history)
{
	uint64_t	i = draw(history->span);

	if (history->skewed)
		i = i * draw(history->span) / history->span * draw(history->span) / history->span;
	return make_key(history, history->first_key + i);
}

/* Draw a weight; some need a wider type. */
static inline double
draw_weight(const History *history)
{
	const uint64_t bits = emogi_random(seed, ndrawn++);

	if (!history->weighted)
		return 0.0;
	switch (once_in(history->usual) ? (int) draw(8) : history->weights)
	{
		case 0:
			return (double) (bits % 3);
		case 1:
			return (double) (bits % 256);
		case 2:
			return (double) (bits % 65536);
		case 3:
			return (double) (bits % 4294967296);
		case 4:
			return (double) (bits % 64) / 8 - 4;
		case 5:
			return (double) bits / 3.0;
		case 6:
			return bits % 2 ? INFINITY : -INFINITY;
		default:
			return bits % 2 ? 0.0 : -0.0;
	}
}

/* Draw an edge; some are self-loops. */
static inline EmogiWeightedEdge
draw_edge(const History *history)
{
	EmogiWeightedEdge edge = {draw_key(history), draw_key(history), draw_weight(history)};

	if (once_in(16))
		edge.dst = edge.src;
	return edge;
}

/* ---- changes ---- */

/* Record a change, in one or more entries. */
static inline void
note_change(History *history, EmogiWeightedEdge edge, int64_t times)
{
	EmogiEdgeChange *change = &history->changes[history->nchanges++];

	if (history->direction == EMOGI_BOTH && once_in(4))
		/* the same edge in this direction */
		edge = (EmogiWeightedEdge) {edge.dst, edge.src, edge.weight};
	if (edge.weight == 0 && once_in(2))
		edge.weight = -edge.weight;
	*change = (EmogiEdgeChange) {edge.src, edge.dst, history->weighted ? edge.weight : 0.0, times};
	if (once_in(10))
	{
		const int64_t part = (int64_t) draw(5) - 2;

		change->times -= part;
		history->changes[history->nchanges] = *change;
		history->changes[history->nchanges++].times = part;
	}
}

/* Add an edge, sometimes several copies of it. */
static inline void
add_edge(History *history, EmogiWeightedEdge edge)
{
	const uint64_t times = once_in(8) ? 1 + draw(5) : 1;

	if (history->nedges + times > MAX_EDGES)
		return;
	for (uint64_t i = 0; i < times; i++)
		history->edges[history->nedges++] = edge;
	note_change(history, edge, (int64_t) times);
}

/* Remove an edge. */
static inline void
remove_edge(History *history, uint64_t i)
{
	note_change(history, history->edges[i], -1);
	history->edges[i] = history->edges[--history->nedges];
}

/* Add and remove an edge, existing or not, which changes nothing. */
static inline void
cancel_edge(History *history)
{
	const EmogiWeightedEdge edge = history->nedges > 0 && once_in(2)
		? history->edges[draw(history->nedges)] : draw_edge(history);
	const int64_t times = once_in(2) ? 1 : -1;

	note_change(history, edge, times);
	note_change(history, edge, -times);
}

/* Shuffle the changes. */
static inline void
shuffle_changes(History *history)
{
	for (uint64_t i = history->nchanges; i > 1; i--)
	{
		const uint64_t j = draw(i);
		const EmogiEdgeChange change = history->changes[i - 1];

		history->changes[i - 1] = history->changes[j];
		history->changes[j] = change;
	}
}

/* Remove all edges from or to a random key. */
static inline void
remove_vertex(History *history)
{
	const int64_t key = history->edges[draw(history->nedges)].src;

	for (uint64_t i = history->nedges; i-- > 0 && history->nchanges < history->max_changes;)
	{
		if (history->edges[i].src == key || history->edges[i].dst == key)
			remove_edge(history, i);
	}
}

/* Choose the keys of new edges: all of them, or a range. */
static inline void
choose_span(History *history)
{
	history->first_key = once_in(2) ? 0 : draw(history->nkeys);
	history->span = once_in(2) ? history->nkeys - history->first_key
		: 1 + draw(history->nkeys - history->first_key);
}

/* Make the changes of a round. */
static inline void
make_changes(History *history)
{
	const uint64_t kind = draw(10);
	const uint64_t n = draw(once_in(4) ? history->max_changes / 4 + 1 : 8);

	history->nchanges = 0;
	choose_span(history);
	if (once_in(30) && history->nedges * 3 < history->max_changes * 4)
	{
		while (history->nedges > 0)
			remove_edge(history, history->nedges - 1);
	}
	else if (once_in(6) && history->nedges > 0)
		remove_vertex(history);
	for (uint64_t i = 0; i < n && history->nchanges + 8 < history->max_changes; i++)
	{
		if (kind < 6 ? once_in(2) : kind < 8)
			add_edge(history, draw_edge(history));
		else if (history->nedges > 0)
			remove_edge(history, once_in(4) ? history->nedges - 1 : draw(history->nedges));
		if (once_in(8))
			cancel_edge(history);
	}
	shuffle_changes(history);
}

/* ---- rebuild and merge ---- */

/* Copy a history's edges to chunks. */
static inline void
fill_set(const History *history)
{
	const uint64_t capacity = history->weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES;
	EmogiEdges *edges = &set.edges;

	*edges = (EmogiEdges) {.chunks = set.chunks, .weighted = history->weighted,
		.nedges = history->nedges, .min_key = INT64_MAX, .max_key = INT64_MIN};
	for (uint64_t i = 0; i < history->nedges; i++)
	{
		const EmogiWeightedEdge *edge = &history->edges[i];
		EmogiEdgeChunk *chunk = set.chunks[i / capacity];

		chunk->nedges = i % capacity + 1;
		if (history->weighted)
			emogi_weighted_edges(chunk)[i % capacity] = *edge;
		else
			chunk->edges[i % capacity] = (EmogiEdge) {edge->src, edge->dst};
		edges->weight_misfits |= history->weighted ? emogi_weight_misfits(edge->weight) : 0;
		edges->min_key = edge->src < edges->min_key ? edge->src : edges->min_key;
		edges->min_key = edge->dst < edges->min_key ? edge->dst : edges->min_key;
		edges->max_key = edge->src > edges->max_key ? edge->src : edges->max_key;
		edges->max_key = edge->dst > edges->max_key ? edge->dst : edges->max_key;
		edges->nchunks = i / capacity + 1;
	}
}

/* Build a graph from a history's edges, in csr_memory. */
static inline EmogiGraph
rebuild(const History *history, EmogiPool *pool)
{
	EmogiControl control = {0};
	EmogiError	error;
	EmogiKeyPlan plan;
	EmogiKeyNumbers	keys;
	EmogiGraph	graph = {0};
	EmogiCsrInput input = {.edges = &set.edges, .keys = &keys, .direction = history->direction,
		.with_backward = history->with_backward, .memory = csr_memory, .scratch = csr_scratch};

	fill_set(history);
	emogi_key_numbers_plan(&set.edges, &plan);
	if (plan.scratch_bytes > ROOM ||
		emogi_key_numbers_build(pool, &set.edges, &plan, keys_memory, &keys, &control, &error) !=
		EMOGI_OK)
		abort();
	memset(csr_memory, 0xA5,
		   emogi_csr_bytes(keys.nvertices, history->nedges, history->direction,
						   history->with_backward,
						   history->weighted ? EMOGI_WEIGHT_F64 : EMOGI_WEIGHT_NONE));
	if (emogi_csr_build(pool, &input, &graph, &control, &error) != EMOGI_OK)
		abort();
	return graph;
}

/*
 * Get the input of a merge of the changes, with a derivation unless NULL. Memory is filled with
 * other bytes than for a rebuild.
 */
static inline EmogiMergeInput
splice_input(const History *history, int nthreads, EmogiDerivation *derivation)
{
	uint32_t	misfits = 0;
	EmogiMergeInput input = {.graph = &history->graph, .direction = history->direction,
		.with_backward = history->with_backward, .nchanges = history->nchanges,
		.changes = history->changes, .memory = blocks[(history->block + 1) % NBLOCKS],
		.scratch = splice_scratch, .derivation = derivation};

	for (uint64_t i = 0; i < history->nedges; i++)
		misfits |= emogi_weight_misfits(history->edges[i].weight);
	input.weight_type = history->weighted ? emogi_weight_type(misfits) : EMOGI_WEIGHT_NONE;
	if (emogi_merge_bytes(&input) + GUARD > ROOM ||
		emogi_merge_scratch_bytes(&input, nthreads) + GUARD > ROOM)
		abort();
	memset(input.memory, 0x5A, emogi_merge_bytes(&input) + GUARD);
	memset(input.scratch, 0x5A, emogi_merge_scratch_bytes(&input, nthreads) + GUARD);
	return input;
}

/* Return true if the bytes after the memory are unchanged. */
static inline bool
is_guarded(const char *end)
{
	for (int i = 0; i < GUARD; i++)
	{
		if (end[i] != 0x5A)
			return false;
	}
	return true;
}

/* Begin a history with a graph that is built from its edges. */
static inline void
begin_history(History *history, EmogiPool *pool)
{
	static const EmogiGraph none;

	history->graph = none;
	if (history->nedges == 0)
		return;
	history->graph = rebuild(history, pool);
	memcpy(blocks[history->block], csr_memory, history->graph.memory_bytes);
	emogi_graph_relocate(&history->graph, blocks[history->block]);
}

/* Choose the parameters of a history. */
static inline void
choose_history(History *history)
{
	const uint64_t size = draw(64);

	history->direction = (EmogiDirection) draw(3);
	history->with_backward = once_in(2);
	history->weighted = once_in(2);
	history->weights = (int) draw(6);
	history->usual = once_in(2) ? 12 : once_in(2) ? 300 : 10000;
	history->keys = (int) draw(6);
	history->skewed = once_in(3);
	history->nkeys = 1 + draw(size < 40 ? 12 : size < 60 ? 120 : size < 63 ? 2000 : 20000);
	history->nedges = draw(history->nkeys * (1 + draw(once_in(8) ? 20 : 3)) + 3);
	history->max_changes = size < 60 ? 600 : 3000;
	history->block = 0;
	choose_span(history);
	for (uint64_t i = 0; i < history->nedges; i++)
		history->edges[i] = draw_edge(history);
}

/* Begin a history of a large graph. One in `usual` weights is of another kind than 0 .. 255. */
static inline void
begin_large(History *history, EmogiDirection direction, bool with_backward, bool weighted,
			uint64_t nkeys, uint64_t nedges, uint64_t usual)
{
	seed = 1000 * nkeys + nedges;
	ndrawn = 0;
	history->direction = direction;
	history->with_backward = with_backward;
	history->weighted = weighted;
	history->weights = 1;
	history->usual = usual;
	history->keys = direction == EMOGI_IN ? 5 : 0;
	history->skewed = nkeys < nedges;
	history->nkeys = nkeys;
	history->nedges = nedges;
	history->first_key = 0;
	history->span = nkeys;
	history->block = 0;
	for (uint64_t i = 0; i < nedges; i++)
		history->edges[i] = draw_edge(history);
	begin_history(history, pools[1]);
}

/* Make nchanges changes. If `removes`, half of them remove an edge. */
static inline void
make_many_changes(History *history, uint64_t nchanges, bool removes)
{
	history->nchanges = 0;
	for (uint64_t i = 0; i < nchanges; i++)
	{
		if (removes && once_in(2))
			remove_edge(history, draw(history->nedges));
		else
			add_edge(history, draw_edge(history));
	}
}

/* Create the pools, and allocate memory for a history's graphs, edges, and changes. */
static inline History
open_history(void)
{
	static const int sizes[NPOOLS] = {1, 2, 5};

	for (int p = 0; p < NPOOLS; p++)
		pools[p] = emogi_pool_create(sizes[p]);
	keys_memory = emogi_map_memory(ROOM);
	csr_scratch = emogi_map_memory(ROOM);
	csr_memory = emogi_map_memory(ROOM);
	splice_scratch = emogi_map_memory(ROOM);
	for (int b = 0; b < NBLOCKS; b++)
		blocks[b] = emogi_map_memory(ROOM);
	if (!emogi_edge_set_create(&set, MAX_EDGES / EMOGI_CHUNK_WEIGHTED_EDGES + 1))
		abort();
	return (History) {.edges = malloc(MAX_EDGES * sizeof(EmogiWeightedEdge)),
		.changes = malloc(2 * MAX_EDGES * sizeof(EmogiEdgeChange))};
}

/* Destroy the pools, and free the edges and changes. */
static inline void
close_history(History *history)
{
	emogi_edge_set_free(&set);
	free(history->edges);
	free(history->changes);
	for (int p = 0; p < NPOOLS; p++)
		emogi_pool_destroy(pools[p]);
}

#endif							/* EMOGI_HISTORY_H */
