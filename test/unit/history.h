/*
 * history.h: Graphs that change, round by round: random edges, random changes of them, and the Graph that a build makes of what there is.
 *
 * A history is what its seed says. Whoever includes this may say before how many edges there can be.
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
#define ROOM ((size_t) 1 << 30)	/* of each piece of memory, taken when it is touched */
#define GUARD 256				/* bytes behind what was asked for, which must stay as they are */

static EmogiPool *pools[NPOOLS];	/* of 1, 2 and 5 threads */
static char *keys_memory,
		   *csr_scratch,
		   *csr_memory,
		   *splice_scratch,
		   *blocks[NBLOCKS];	/* of the Graphs of a history by turns */
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

/* Say yes once in n times. */
static inline bool
once_in(uint64_t n)
{
	return draw(n) == 0;
}

/* How a history goes. */
typedef struct History
{
	EmogiDirection direction;
	bool		with_backward;
	bool		weighted;
	int			keys;			/* kind of keys */
	int			weights;		/* kind of weights that are usual */
	uint64_t	usual;			/* of so many weights one is not */
	bool		skewed;			/* few keys have many edges */
	uint64_t	nkeys;
	uint64_t	least;			/* keys that are chosen at the moment: numbers [least, least + span) */
	uint64_t	span;
	EmogiWeightedEdge *edges;	/* [nedges] of MAX_EDGES: all there are now */
	uint64_t	nedges;
	EmogiEdgeChange *changes;	/* [nchanges] */
	uint64_t	nchanges;
	uint64_t	most_changes;
	EmogiGraph	graph;
	int			block;			/* where it lies */
} History;

/* Get key number i of a kind: ascending in i but for the random ones. */
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
			return i < history->nkeys / 2 ? INT64_MIN + (int64_t) i : INT64_MAX - (int64_t) (history->nkeys - 1 - i);
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
	return make_key(history, history->least + i);
}

/* Draw a weight; now and then one that needs a wider type. */
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

/* Draw an edge; some lead back to their own. */
static inline EmogiWeightedEdge
draw_edge(const History *history)
{
	EmogiWeightedEdge edge = {draw_key(history), draw_key(history), draw_weight(history)};

	if (once_in(16))
		edge.dst = edge.src;
	return edge;
}

/* ---- changes ---- */

/* Note a change, in one or several pieces. */
static inline void
note_change(History *history, EmogiWeightedEdge edge, int64_t times)
{
	EmogiEdgeChange *change = &history->changes[history->nchanges++];

	if (history->direction == EMOGI_BOTH && once_in(4))
		edge = (EmogiWeightedEdge) {edge.dst, edge.src, edge.weight};	/* the same there */
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

/* Add an edge, perhaps some times. */
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

/* Take an edge away. */
static inline void
remove_edge(History *history, uint64_t i)
{
	note_change(history, history->edges[i], -1);
	history->edges[i] = history->edges[--history->nedges];
}

/* Add an edge and take it away, one that is there or one that is not: nothing changes. */
static inline void
cancel_edge(History *history)
{
	const EmogiWeightedEdge edge = history->nedges > 0 && once_in(2) ? history->edges[draw(history->nedges)] : draw_edge(history);
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

/* Take away all edges that lead from or to some key. */
static inline void
remove_vertex(History *history)
{
	const int64_t key = history->edges[draw(history->nedges)].src;

	for (uint64_t i = history->nedges; i-- > 0 && history->nchanges < history->most_changes;)
	{
		if (history->edges[i].src == key || history->edges[i].dst == key)
			remove_edge(history, i);
	}
}

/* Choose the keys that edges come to: all, or some of them. */
static inline void
choose_span(History *history)
{
	history->least = once_in(2) ? 0 : draw(history->nkeys);
	history->span = once_in(2) ? history->nkeys - history->least : 1 + draw(history->nkeys - history->least);
}

/* Make the changes of a round. */
static inline void
make_changes(History *history)
{
	const uint64_t kind = draw(10);
	const uint64_t n = draw(once_in(4) ? history->most_changes / 4 + 1 : 8);

	history->nchanges = 0;
	choose_span(history);
	if (once_in(30) && history->nedges * 3 < history->most_changes * 4)
	{
		while (history->nedges > 0)
			remove_edge(history, history->nedges - 1);
	}
	else if (once_in(6) && history->nedges > 0)
		remove_vertex(history);
	for (uint64_t i = 0; i < n && history->nchanges + 8 < history->most_changes; i++)
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

/* ---- rebuild and splice ---- */

/* Put a history's edges into chunks. */
static inline void
fill_set(const History *history)
{
	const uint64_t capacity = history->weighted ? EMOGI_CHUNK_WEIGHTED_EDGES : EMOGI_CHUNK_EDGES;
	EmogiEdges *edges = &set.edges;

	*edges = (EmogiEdges) {.chunks = set.chunks, .weighted = history->weighted, .nedges = history->nedges,
		.min_key = INT64_MAX, .max_key = INT64_MIN};
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

/* Build a Graph of a history's edges anew, in csr_memory. */
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
		emogi_key_numbers_build(pool, &set.edges, &plan, keys_memory, &keys, &control, &error) != EMOGI_OK)
		abort();
	memset(csr_memory, 0xA5, emogi_csr_bytes(keys.nvertices, history->nedges, history->direction, history->with_backward,
											 history->weighted ? EMOGI_WEIGHT_F64 : EMOGI_WEIGHT_NONE));
	if (emogi_csr_build(pool, &input, &graph, &control, &error) != EMOGI_OK)
		abort();
	return graph;
}

/* Get the input of a splice of the changes, with a derivation unless NULL, with memory of other content than a rebuild has. */
static inline EmogiMergeInput
splice_input(const History *history, int nthreads, EmogiDerivation *derivation)
{
	uint32_t	misfits = 0;
	EmogiMergeInput input = {.graph = &history->graph, .direction = history->direction,
		.with_backward = history->with_backward, .nchanges = history->nchanges, .changes = history->changes,
		.memory = blocks[(history->block + 1) % NBLOCKS], .scratch = splice_scratch,
		.derivation = derivation};

	for (uint64_t i = 0; i < history->nedges; i++)
		misfits |= emogi_weight_misfits(history->edges[i].weight);
	input.weight_type = history->weighted ? emogi_weight_type(misfits) : EMOGI_WEIGHT_NONE;
	if (emogi_merge_bytes(&input) + GUARD > ROOM || emogi_merge_scratch_bytes(&input, nthreads) + GUARD > ROOM)
		abort();
	memset(input.memory, 0x5A, emogi_merge_bytes(&input) + GUARD);
	memset(input.scratch, 0x5A, emogi_merge_scratch_bytes(&input, nthreads) + GUARD);
	return input;
}

/* Say whether the bytes behind memory are as they were. */
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

/* Begin a history with a Graph that is built. */
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

/* Choose what a history is like. */
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
	history->most_changes = size < 60 ? 600 : 3000;
	history->block = 0;
	choose_span(history);
	for (uint64_t i = 0; i < history->nedges; i++)
		history->edges[i] = draw_edge(history);
}

/* Begin a history of a large Graph, where of `usual` weights one is of another kind than 0 .. 255. */
static inline void
begin_large(History *history, EmogiDirection direction, bool with_backward, bool weighted, uint64_t nkeys, uint64_t nedges,
			uint64_t usual)
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
	history->least = 0;
	history->span = nkeys;
	history->block = 0;
	for (uint64_t i = 0; i < nedges; i++)
		history->edges[i] = draw_edge(history);
	begin_history(history, pools[1]);
}

/* Make so many changes; removes: half of them take an edge away. */
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

/* Make pools and memory, and room for the edges and changes of a history. */
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

/* Free them. */
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
