/*
 * test_splice.c: a Graph that is made of another Graph and changes is, to the last byte, the one that is built from all edges anew;
 * a patch of the same changes leads to the same places. Random histories of changes, each step against a rebuild. test_splice HISTORIES [SEED] for more of them.
 */
#include "build.h"
#include "check.h"
#include "contract/semirings.h"
#include "cpu/near_components.h"
#include "cpu/near_search.h"
#include "cpu/path_search.h"
#include "generate.h"
#include "graph/compare.h"
#include "graph/keys.h"
#include "graph/splice.h"
#include "shapes.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NHISTORIES 20000
#define NPOOLS 3
#define NBLOCKS 2
#define ROOM ((size_t) 1 << 30)	/* of each piece of memory, taken when it is touched */
#define GUARD 256				/* bytes behind what was asked for, which must stay as they are */
#define MAX_EDGES 1200000
#define MAX_PATCHED 3000		/* changes */

static EmogiPool *pools[NPOOLS];	/* of 1, 2 and 5 threads */
static char *keys_memory,
		   *csr_scratch,
		   *csr_memory,
		   *splice_scratch,
		   *blocks[NBLOCKS];	/* of the Graphs of a history by turns */
static EmogiEdgeSet set;		/* the edges of a rebuild */
static uint64_t seed;
static uint64_t ndrawn;
static uint64_t npatched,
			nunpatched,
			njoined;

/* ---- random choices ---- */

/* Get a number below n. */
static uint64_t
draw(uint64_t n)
{
	return emogi_random(seed, ndrawn++) % n;
}

/* Say yes once in n times. */
static bool
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
static int64_t
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
static int64_t
draw_key(const History *history)
{
	uint64_t	i = draw(history->span);

	if (history->skewed)
		i = i * draw(history->span) / history->span * draw(history->span) / history->span;
	return make_key(history, history->least + i);
}

/* Draw a weight; now and then one that needs a wider type. */
static double
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
static EmogiWeightedEdge
draw_edge(const History *history)
{
	EmogiWeightedEdge edge = {draw_key(history), draw_key(history), draw_weight(history)};

	if (once_in(16))
		edge.dst = edge.src;
	return edge;
}

/* ---- changes ---- */

/* Note a change, in one or several pieces. */
static void
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
static void
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
static void
remove_edge(History *history, uint64_t i)
{
	note_change(history, history->edges[i], -1);
	history->edges[i] = history->edges[--history->nedges];
}

/* Add an edge and take it away, one that is there or one that is not: nothing changes. */
static void
cancel_edge(History *history)
{
	const EmogiWeightedEdge edge = history->nedges > 0 && once_in(2) ? history->edges[draw(history->nedges)] : draw_edge(history);
	const int64_t times = once_in(2) ? 1 : -1;

	note_change(history, edge, times);
	note_change(history, edge, -times);
}

/* Shuffle the changes. */
static void
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
static void
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
static void
choose_span(History *history)
{
	history->least = once_in(2) ? 0 : draw(history->nkeys);
	history->span = once_in(2) ? history->nkeys - history->least : 1 + draw(history->nkeys - history->least);
}

/* Make the changes of a round. */
static void
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
static void
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
static EmogiGraph
rebuild(const History *history, EmogiPool *pool)
{
	EmogiControl control = {0};
	EmogiError	error;
	EmogiKeyPlan plan;
	EmogiKeys	keys;
	EmogiGraph	graph = {0};
	EmogiCsrInput input = {.edges = &set.edges, .keys = &keys, .direction = history->direction,
		.with_backward = history->with_backward, .memory = csr_memory, .scratch = csr_scratch};

	fill_set(history);
	emogi_keys_plan(&set.edges, &plan);
	if (plan.scratch_bytes > ROOM ||
		emogi_keys_build(pool, &set.edges, &plan, keys_memory, &keys, &control, &error) != EMOGI_OK)
		abort();
	memset(csr_memory, 0xA5, emogi_csr_bytes(keys.nvertices, history->nedges, history->direction, history->with_backward,
											 history->weighted ? EMOGI_WEIGHT_F64 : EMOGI_WEIGHT_NONE));
	if (emogi_csr_build(pool, &input, &graph, &control, &error) != EMOGI_OK)
		abort();
	return graph;
}

/* Get the input of a splice of the changes, with memory of other content than a rebuild has. */
static EmogiSpliceInput
splice_input(const History *history, int nthreads)
{
	uint32_t	misfits = 0;
	EmogiSpliceInput input = {.graph = &history->graph, .direction = history->direction,
		.with_backward = history->with_backward, .nchanges = history->nchanges, .changes = history->changes,
		.memory = blocks[(history->block + 1) % NBLOCKS], .scratch = splice_scratch};

	for (uint64_t i = 0; i < history->nedges; i++)
		misfits |= emogi_weight_misfits(history->edges[i].weight);
	input.weight_type = history->weighted ? emogi_weight_type(misfits) : EMOGI_WEIGHT_NONE;
	if (emogi_splice_bytes(&input) + GUARD > ROOM || emogi_splice_scratch_bytes(&input, nthreads) + GUARD > ROOM)
		abort();
	memset(input.memory, 0x5A, emogi_splice_bytes(&input) + GUARD);
	memset(input.scratch, 0x5A, emogi_splice_scratch_bytes(&input, nthreads) + GUARD);
	return input;
}

/* Say whether the bytes behind memory are as they were. */
static bool
is_guarded(const char *end)
{
	for (int i = 0; i < GUARD; i++)
	{
		if (end[i] != 0x5A)
			return false;
	}
	return true;
}

/* Do two orientations lead to the same places? */
static bool
same_places(const EmogiAdjacency *a, const EmogiAdjacency *b)
{
	return a->nedges == b->nedges && a->offsets == b->offsets && a->targets == b->targets && a->weights == b->weights;
}

/* Say whether two Graphs are the same, field by field, the second moved to the first's place. */
static bool
same_graph(const EmogiGraph *a, EmogiGraph b)
{
	emogi_graph_move(&b, a->memory);
	return a->nvertices == b.nvertices && a->ids == b.ids && a->weight_type == b.weight_type && a->id == b.id &&
		a->memory_bytes == b.memory_bytes && same_places(&a->forward, &b.forward) && same_places(&a->backward, &b.backward);
}

/* ---- patches ---- */

/* Say whether a patched list has the keys and weights of a list of the Graph with the changes in it. */
static bool
same_list(const EmogiGraph *old, const EmogiPatch *patch, const EmogiListsView *patched, uint32_t from, const EmogiGraph *new,
		  const EmogiAdjacency *lists, uint32_t vertex)
{
	uint64_t	at = lists->offsets[vertex];
	EmogiPiece	whole;
	uint32_t	npieces;
	const EmogiPiece *pieces = emogi_lists_pieces(patched, from, &whole, &npieces);

	if (emogi_lists_degree(patched, from) != lists->offsets[vertex + 1] - at)
		return false;
	for (uint32_t i = 0; i < npieces; i++)
	{
		for (uint64_t e = 0; e < pieces[i].count; e++, at++)
		{
			if (at == lists->offsets[vertex + 1] ||
				emogi_patch_key(old, patch, pieces[i].targets[e]) != new->ids[lists->targets[at]] ||
				emogi_weight(pieces[i].weights, old->weight_type, e) != emogi_weight(lists->weights, new->weight_type, at))
				return false;
		}
	}
	return at == lists->offsets[vertex + 1];
}

/* Compare all lists, and which vertices are there. */
static void
check_patched_lists(const EmogiGraph *old, const EmogiPatch *patch, const EmogiGraph *new, bool backward, const char *what)
{
	const EmogiListsView views[] = {emogi_lists_forward(old, patch), emogi_lists_backward(old, patch)};
	const EmogiAdjacency *lists[] = {&new->forward, &new->backward};
	uint64_t	ndifferent = 0;

	for (uint32_t v = 0; v < new->nvertices; v++)
	{
		const uint32_t from = emogi_patch_vertex(old, patch, new->ids[v]);

		ndifferent += from == EMOGI_NO_VERTEX || emogi_patch_presence(old, patch, from) == EMOGI_VERTEX_GONE;
		for (int side = 0; side < (backward ? 2 : 1) && from != EMOGI_NO_VERTEX; side++)
			ndifferent += !same_list(old, patch, &views[side], from, new, lists[side], v);
	}
	for (uint32_t v = 0; v < old->nvertices; v++)
	{
		if (emogi_graph_vertex(new, old->ids[v]) == EMOGI_NO_VERTEX)
			ndifferent += emogi_patch_presence(old, patch, v) == EMOGI_VERTEX_THERE || emogi_lists_degree(&views[0], v) != 0;
	}
	CHECK(ndifferent == 0, "%s: %llu lists of a patch", what, (unsigned long long) ndifferent);
}

/* Take memory from keys_memory, which nobody uses at the time. */
static void *
take_memory(void *arg, size_t bytes)
{
	char	  **next = arg;
	char	   *taken = *next;

	*next += (bytes + GUARD - 1) / GUARD * GUARD;
	return taken;
}

/* Never stop. */
static bool
go_on(void)
{
	return false;
}

/* The Graph that a patched one stands for is the new one. */
static void
check_applied(const History *history, const EmogiPatch *patch, const EmogiGraph *new, const char *what)
{
	char	   *next = keys_memory;
	EmogiGraph	applied;
	char		difference[256];

	if (!emogi_patch_apply(&history->graph, patch, history->direction, new->weight_type, take_memory, &next, go_on, &applied))
		abort();
	CHECK(emogi_graph_compare(&applied, new, go_on, difference, sizeof(difference)), "%s: applied: %s", what, difference);
}

/* Search from a vertex in a patched Graph and in the new one. */
static void
check_patched_search(const EmogiGraph *old, const EmogiPatch *patch, const EmogiGraph *new, EmogiAlgorithm algorithm, const char *what)
{
	uint32_t	source = (uint32_t) draw(new->nvertices);
	uint32_t	old_source = emogi_patch_vertex(old, patch, new->ids[source]);
	EmogiQuery	query = {.algorithm = algorithm, .nsources = 1, .sources = &source, .max_depth = once_in(2) ? -1 : (int64_t) draw(4),
		.max_distance = once_in(2) ? INFINITY : (double) draw(300)};
	EmogiQuery	old_query = query;
	EmogiNearAnswer expected,
				answer;
	uint64_t	ndifferent = 0;

	old_query.sources = &old_source;
	if (emogi_near_search(new, NULL, &query, UINT64_MAX, &expected) != EMOGI_NEAR_ANSWERED)
		abort();
	if (emogi_near_search(old, patch, &old_query, UINT64_MAX, &answer) != EMOGI_NEAR_ANSWERED)
	{
		CHECK(emogi_patch_presence(old, patch, old_source) == EMOGI_VERTEX_UNKNOWN, "%s: no answer", what);
		emogi_near_search_free(&expected);
		return;
	}
	for (uint64_t i = 0; i < answer.count && i < expected.count; i++)
		ndifferent += emogi_patch_key(old, patch, answer.vertices[i]) != new->ids[expected.vertices[i]] ||
			memcmp(&answer.values[i], &expected.values[i], sizeof(double)) != 0;
	CHECK(answer.count == expected.count && ndifferent == 0, "%s: %llu of %llu and %llu differ", what,
		  (unsigned long long) ndifferent, (unsigned long long) answer.count, (unsigned long long) expected.count);
	CHECK(answer.nlevels == expected.nlevels && answer.edges_traversed == expected.edges_traversed, "%s: other counts", what);
	emogi_near_search_free(&answer);
	emogi_near_search_free(&expected);
}

/* Search a path in a patched Graph and in the new one. */
static void
check_patched_path(const EmogiGraph *old, const EmogiPatch *patch, const EmogiGraph *new, const char *what)
{
	const uint32_t ends[] = {(uint32_t) draw(new->nvertices), (uint32_t) draw(new->nvertices)};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer expected,
				answer;
	uint64_t	ndifferent = 0;

	if (emogi_path_search(new, NULL, ends[0], ends[1], UINT64_MAX, &expected, &control, &error) != EMOGI_OK ||
		emogi_path_search(old, patch, emogi_patch_vertex(old, patch, new->ids[ends[0]]),
						  emogi_patch_vertex(old, patch, new->ids[ends[1]]), UINT64_MAX, &answer, &control, &error) != EMOGI_OK)
		abort();
	for (uint64_t i = 0; i < answer.length && i < expected.length; i++)
		ndifferent += emogi_patch_key(old, patch, answer.vertices[i]) != new->ids[expected.vertices[i]] ||
			memcmp(&answer.distance[i], &expected.distance[i], sizeof(double)) != 0;
	CHECK(answer.outcome == expected.outcome && answer.length == expected.length && ndifferent == 0, "%s: another path", what);
	emogi_path_search_free(&answer);
	emogi_path_search_free(&expected);
}

/* Say whether all weights are lengths. */
static bool
has_lengths(const History *history)
{
	for (uint64_t i = 0; i < history->nedges; i++)
	{
		if (history->edges[i].weight < 0)
			return false;
	}
	return true;
}

/* Get the smallest vertex of each one's component, in new memory of *next. */
static uint32_t *
label_components(const EmogiGraph *graph, char **next)
{
	uint32_t   *labels = take_memory(next, (graph->nvertices + 1) * sizeof(*labels));

	for (uint64_t v = 0; v < graph->nvertices; v++)
		labels[v] = (uint32_t) v;
	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
		{
			uint32_t	a = (uint32_t) v;
			uint32_t	b = graph->forward.targets[e];

			while (labels[a] != a)
				a = labels[a] = labels[labels[a]];
			while (labels[b] != b)
				b = labels[b] = labels[labels[b]];
			labels[a > b ? a : b] = a > b ? b : a;
		}
	}
	for (uint64_t v = 0; v < graph->nvertices; v++)
		labels[v] = labels[labels[v]];
	return labels;
}

/* The components of a Graph that has lost no edge come of those that it had: all of them, and those of single vertices. */
static void
check_components(const EmogiGraph *old, const EmogiPatch *patch, const EmogiGraph *new, const char *what)
{
	char	   *next = keys_memory;
	const uint32_t *expected = label_components(new, &next);
	EmogiNearComponents components = {.graph = old, .patch = patch, .labels = label_components(old, &next)};
	char	   *memory = take_memory(&next, emogi_near_components_bytes(patch) + GUARD);
	int64_t    *ids = take_memory(&next, (new->nvertices + 1) * sizeof(*ids));
	uint32_t   *component = take_memory(&next, (new->nvertices + 1) * sizeof(*component));
	uint64_t	ndifferent = 0;

	memset(memory, 0x5A, emogi_near_components_bytes(patch) + GUARD);
	component[new->nvertices] = 0x5A5A5A5A;
	emogi_near_components_join(&components, memory);
	CHECK(is_guarded(memory + emogi_near_components_bytes(patch)), "%s: behind the components", what);
	if (!emogi_near_components_write(&components, go_on, ids, component))
		abort();
	CHECK(component[new->nvertices] == 0x5A5A5A5A, "%s: components behind", what);
	CHECK(memcmp(component, expected, new->nvertices * sizeof(*component)) == 0, "%s: components", what);
	CHECK(patch->nnew == 0 || memcmp(ids, new->ids, new->nvertices * sizeof(*ids)) == 0, "%s: their keys", what);
	for (uint64_t v = 0; v < new->nvertices; v += 1 + v / 50)
	{
		const uint32_t found = emogi_near_components_find(&components, emogi_patch_vertex(old, patch, new->ids[v]));

		ndifferent += emogi_patch_key(old, patch, found) != new->ids[expected[v]];
	}
	CHECK(ndifferent == 0, "%s: %llu components of single vertices", what, (unsigned long long) ndifferent);
	njoined++;
}

/* A patch of the changes leads where the new Graph does, or there is a reason why there is none. */
static void
check_patch(const History *history, const EmogiGraph *new, const char *what)
{
	const EmogiGraph *old = &history->graph;
	EmogiSpliceInput input = {.graph = old, .direction = history->direction, .weight_type = old->weight_type,
		.nchanges = history->nchanges, .changes = history->changes, .memory = splice_scratch};
	EmogiPatch	patch;

	memset(input.memory, 0x5A, emogi_patch_bytes(&input) + GUARD);
	if (!emogi_patch_make(&input, &patch))
	{
		CHECK(new->weight_type != old->weight_type, "%s: no patch", what);
		nunpatched++;
		return;
	}
	npatched++;
	CHECK(is_guarded((char *) input.memory + emogi_patch_bytes(&input)), "%s: behind the patch", what);
	check_patched_lists(old, &patch, new, old->backward.offsets != NULL && new->nvertices > 0, what);
	check_applied(history, &patch, new, what);
	if (new->nvertices == 0)
		return;
	if (patch.nlosers == 0)
		check_components(old, &patch, new, what);
	check_patched_search(old, &patch, new, EMOGI_BFS, what);
	if (!has_lengths(history))
		return;
	check_patched_search(old, &patch, new, EMOGI_SSSP, what);
	for (int i = 0; old->backward.offsets != NULL && i < (patch.nnew > 0 ? 20 : 1); i++)
		check_patched_path(old, &patch, new, what);	/* ties with new vertices are rare */
}

/* ---- splices ---- */

/* Splice the changes into the Graph; the new one takes its place. Compares it with a rebuild. */
static void
check_splice(History *history, EmogiPool *pool, EmogiPool *builders, const char *what)
{
	static const EmogiGraph none;
	const int	nthreads = emogi_pool_size(pool);
	const EmogiSpliceInput input = splice_input(history, nthreads);
	const EmogiEdgeChange last = history->nchanges > 0 ? history->changes[history->nchanges - 1] : (EmogiEdgeChange) {0};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiGraph	graph,
				built;
	const EmogiStatus status = emogi_splice(pool, &input, &graph, &control, &error);

	CHECK(status == EMOGI_OK, "%s: status %d, %s, %s", what, status, error.message, error.detail);
	if (status != EMOGI_OK)
		abort();
	CHECK(control.done == control.total, "%s: done %llu of %llu", what, (unsigned long long) control.done,
		  (unsigned long long) control.total);
	CHECK(is_guarded((char *) input.memory + emogi_splice_bytes(&input)), "%s: behind the memory", what);
	CHECK(is_guarded((char *) input.scratch + emogi_splice_scratch_bytes(&input, nthreads)), "%s: behind the scratch", what);
	CHECK(history->nchanges == 0 || memcmp(&last, &history->changes[history->nchanges - 1], sizeof(last)) == 0,
		  "%s: the changes are only read", what);
	if (history->nedges == 0)
		CHECK(memcmp(&graph, &none, sizeof(none)) == 0, "%s: all gone", what);
	else
	{
		built = rebuild(history, builders);
		CHECK(graph.memory_bytes <= emogi_splice_bytes(&input), "%s: more than was said", what);
		CHECK(graph.memory == input.memory && same_graph(&graph, built), "%s: another Graph", what);
		CHECK(graph.memory_bytes == built.memory_bytes && memcmp(graph.memory, built.memory, built.memory_bytes) == 0,
			  "%s: other bytes", what);
	}
	if (history->graph.nvertices > 0 && history->nchanges <= MAX_PATCHED)
		check_patch(history, &graph, what);
	history->graph = graph;
	history->block = (history->block + 1) % NBLOCKS;
}

/* Begin a history with a Graph that is built. */
static void
begin_history(History *history, EmogiPool *pool)
{
	static const EmogiGraph none;

	history->graph = none;
	if (history->nedges == 0)
		return;
	history->graph = rebuild(history, pool);
	memcpy(blocks[history->block], csr_memory, history->graph.memory_bytes);
	emogi_graph_move(&history->graph, blocks[history->block]);
}

/* ---- random histories ---- */

/* Choose what a history is like. */
static void
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

/* Take one history through its rounds. */
static void
check_history(History *history, uint64_t number)
{
	char		what[64];
	int			nrounds;

	seed = number;
	ndrawn = 0;
	choose_history(history);
	nrounds = history->nkeys > 2000 ? 3 : 2 + (int) draw(4);
	begin_history(history, pools[0]);
	for (int round = 0; round < nrounds; round++)
	{
		const uint64_t pool = draw(16);

		snprintf(what, sizeof(what), "history %llu, round %d", (unsigned long long) number, round);
		make_changes(history);
		check_splice(history, pools[pool < 12 ? 0 : pool < 15 ? 1 : 2], pools[0], what);
	}
}

/* ---- large ones ---- */

/* Take a large Graph through rounds of many and few changes, so that threads cut it in many places. */
static void
check_large(History *history, EmogiDirection direction, bool with_backward, bool weighted, uint64_t nkeys, uint64_t nedges, int rounds)
{
	static const uint64_t nchanges[] = {1, 30, 3000, 200000, 5, 100000};

	seed = 1000 * nkeys + nedges;
	ndrawn = 0;
	history->direction = direction;
	history->with_backward = with_backward;
	history->weighted = weighted;
	history->weights = 1;
	history->usual = 100000;
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
	for (int round = 0; round < rounds; round++)
	{
		history->nchanges = 0;
		for (uint64_t i = 0; i < nchanges[round]; i++)
		{
			if (round != 4 && once_in(2))
				remove_edge(history, draw(history->nedges));
			else
				add_edge(history, draw_edge(history));
		}
		check_splice(history, pools[1 + round % 2], pools[1], weighted ? "large with weights" : "large");
	}
}

/* A weight that needs another type comes and goes again, among many of one kind. */
static void
check_types(History *history)
{
	seed = 6;
	*history = (History) {.direction = EMOGI_OUT, .with_backward = true, .weighted = true, .nkeys = 50, .span = 50,
		.usual = UINT64_MAX, .edges = history->edges, .changes = history->changes};
	for (int from = 0; from < 6; from++)
	{
		for (int to = 0; to < 8; to++)
		{
			history->weights = from;
			for (history->nedges = 0; history->nedges < 5000; history->nedges++)
				history->edges[history->nedges] = draw_edge(history);
			begin_history(history, pools[0]);
			history->weights = to;
			history->nchanges = 0;
			add_edge(history, draw_edge(history));
			check_splice(history, pools[to % NPOOLS], pools[0], "a weight comes");
			for (history->nchanges = 0; history->nedges > 5000;)
				remove_edge(history, history->nedges - 1);
			check_splice(history, pools[to % NPOOLS], pools[0], "a weight goes");
		}
	}
}

/* Edges that are there tens of thousands of times: many at once go and come, across the cuts of threads. */
static void
check_parallel(History *history, bool weighted)
{
	const int64_t nparallel = 50000;

	seed = 5;
	*history = (History) {.direction = EMOGI_OUT, .with_backward = true, .weighted = weighted, .nkeys = 8, .span = 8,
		.edges = history->edges, .changes = history->changes};
	for (int64_t i = 0; i < 16 * nparallel; i++)
		history->edges[history->nedges++] = (EmogiWeightedEdge) {i / nparallel % 4, i / nparallel / 4, 7};
	begin_history(history, pools[1]);
	for (int64_t left = nparallel; left > 0; left = left / 10 - 1)
	{
		const int64_t next = left / 10 - 1 > 0 ? left / 10 - 1 : 0;
		uint64_t	n = 0;

		history->nchanges = 0;
		for (int64_t e = 0; e < 16; e++)
		{
			history->changes[history->nchanges++] = (EmogiEdgeChange) {e % 4, e / 4, weighted ? 7 : 0, next - left};
			history->changes[history->nchanges++] = (EmogiEdgeChange) {e % 4, e / 4 + 4, weighted ? 7 : 0, next};
			for (int64_t i = 0; i < next; i++)
			{
				history->edges[n++] = (EmogiWeightedEdge) {e % 4, e / 4, 7};
				history->edges[n++] = (EmogiWeightedEdge) {e % 4, e / 4 + 4, 7};
			}
		}
		history->nedges = n;
		if (history->graph.nvertices == 0)
			break;
		check_splice(history, pools[2], pools[1], "parallel edges");
		/* the others go again */
		history->nchanges = 0;
		for (uint64_t i = n; i-- > 0;)
		{
			if (history->edges[i].dst >= 4)
				remove_edge(history, i);
		}
		if (history->graph.nvertices > 0)
			check_splice(history, pools[1], pools[1], "parallel edges");
	}
}

/* ---- failures ---- */

/* The n-th allocation fails, whichever it is: NO_MEMORY, a message, and no other status until none fails. */
static void
check_no_memory(History *history, uint64_t number)
{
	EmogiStatus status = EMOGI_NO_MEMORY;
	EmogiSpliceInput input;
	EmogiGraph	graph;
	uint32_t	n;

	seed = number;
	ndrawn = 0;
	choose_history(history);
	begin_history(history, pools[0]);
	make_changes(history);
	input = splice_input(history, 5);
	for (n = 1; status == EMOGI_NO_MEMORY && n < 1000; n++)
	{
		EmogiControl control = {.fail_allocation = n};
		EmogiError	error = {{0}, {0}};

		status = emogi_splice(pools[number % NPOOLS], &input, &graph, &control, &error);
		CHECK(status == EMOGI_OK || (status == EMOGI_NO_MEMORY && error.message[0] != '\0'), "allocation %u: status %d", n, status);
	}
	CHECK(status == EMOGI_OK && n > 2, "status %d after %u allocations", status, n);
}

/* Map bytes and take all but the first page away again: who does not look dies. */
static void *
map_torn(size_t bytes)
{
	char	   *memory = mmap(NULL, bytes + 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(memory + 4096, bytes + 4096);
	return memory;
}

/* Memory and scratch of a large Graph that cannot be had are NO_MEMORY. */
static void
check_torn(const History *history)
{
	EmogiSpliceInput input = splice_input(history, 5);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiGraph	graph;

	input.memory = map_torn(emogi_splice_bytes(&input));
	CHECK(emogi_splice(pools[1], &input, &graph, &control, &error) == EMOGI_NO_MEMORY && error.message[0] != '\0', "memory");
	input = splice_input(history, 5);
	input.scratch = map_torn(emogi_splice_scratch_bytes(&input, 2));
	CHECK(emogi_splice(pools[1], &input, &graph, &control, &error) == EMOGI_NO_MEMORY, "scratch");
}

/* Set cancel a while after the start. */
static void *
cancel_soon(void *arg)
{
	EmogiControl *control = arg;

	usleep(500);
	__atomic_store_n(&control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Cancel before and during a splice of a large Graph, which is history's. */
static void
check_cancel(History *history)
{
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	EmogiGraph	graph;
	EmogiSpliceInput input;
	pthread_t	thread;
	EmogiStatus status;

	history->nchanges = 0;
	while (history->nchanges < 200000)
		remove_edge(history, draw(history->nedges));
	input = splice_input(history, 5);
	status = emogi_splice(pools[1], &input, &graph, &control, &error);
	CHECK(status == EMOGI_CANCELED, "status %d", status);
	control.cancel = 0;
	pthread_create(&thread, NULL, cancel_soon, &control);
	status = emogi_splice(pools[2], &input, &graph, &control, &error);
	pthread_join(thread, NULL);
	CHECK(status == EMOGI_CANCELED, "status %d", status);
}

/* Check that a change of a Graph of the edges 1 -> 2, 1 -> 2, 2 -> 3, all of weight 5, 7 -> 7 of weight 1, is refused. */
static void
check_refused(History *history, EmogiEdgeChange change)
{
	static const EmogiWeightedEdge edges[] = {{1, 2, 5}, {1, 2, 5}, {2, 3, 5}, {7, 7, 1}};
	EmogiEdgeChange changes[] = {{2, 9, 5, 1}, change, {1, 2, 5, -1}};

	for (int kind = 0; kind < 12; kind++)
	{
		History		refused = *history;
		EmogiControl control = {0};
		EmogiError	error = {{0}, {0}};
		EmogiSpliceInput input;
		EmogiGraph	graph;
		EmogiStatus status;

		refused.direction = (EmogiDirection) (kind % 3);
		refused.with_backward = kind / 3 % 2 == 1;
		refused.weighted = kind / 6 == 1;
		refused.nedges = sizeof(edges) / sizeof(edges[0]);
		memcpy(refused.edges, edges, sizeof(edges));
		if (!refused.weighted && change.weight != 5)
			continue;
		begin_history(&refused, pools[0]);
		refused.changes = changes;
		refused.nchanges = sizeof(changes) / sizeof(changes[0]);
		input = splice_input(&refused, 2);
		status = emogi_splice(pools[1], &input, &graph, &control, &error);
		CHECK(status == EMOGI_BAD_INPUT && strstr(error.message, "does not have an edge") != NULL, "%lld -> %lld, kind %d: status %d",
			  (long long) change.src, (long long) change.dst, kind, status);
		changes[1].times = 1;
		changes[1].weight = 5;
		status = emogi_splice(pools[1], &input, &graph, &control, &error);
		CHECK(status == EMOGI_OK, "the other way: status %d", status);
		changes[1] = change;
	}
}

/* Edges that are not there cannot go: a key, both, the edge, the weight, one of so many. */
static void
check_missing(History *history)
{
	check_refused(history, (EmogiEdgeChange) {1, 4, 5, -1});
	check_refused(history, (EmogiEdgeChange) {0, 2, 5, -1});
	check_refused(history, (EmogiEdgeChange) {100, 100, 5, -1});
	check_refused(history, (EmogiEdgeChange) {1, 3, 5, -1});
	check_refused(history, (EmogiEdgeChange) {3, 3, 5, -1});
	check_refused(history, (EmogiEdgeChange) {2, 3, 4, -1});
	check_refused(history, (EmogiEdgeChange) {2, 3, 5.5, -1});
	check_refused(history, (EmogiEdgeChange) {2, 3, 5, -2});
	check_refused(history, (EmogiEdgeChange) {1, 2, 5, -2});
	check_refused(history, (EmogiEdgeChange) {1, 2, 5, INT64_MIN + 2});
}

/* More vertices than there can be are refused; the old Graph is of zeros that are nowhere. */
static void
check_too_many(void)
{
	const size_t bytes = (EMOGI_MAX_VERTICES + 1) * sizeof(uint64_t);
	void	   *zeros = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const EmogiGraph old = {.nvertices = EMOGI_MAX_VERTICES, .ids = zeros, .forward = {.offsets = zeros}};
	const EmogiEdgeChange change = {5, 5, 0, 1};
	const EmogiSpliceInput input = {.graph = &old, .nchanges = 1, .changes = &change, .memory = blocks[0], .scratch = splice_scratch};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiGraph	graph;

	if (zeros == MAP_FAILED)
		return;
	CHECK(emogi_splice(pools[0], &input, &graph, &control, &error) == EMOGI_BAD_INPUT &&
		  strstr(error.message, "vertices") != NULL, "too many vertices");
	munmap(zeros, bytes);
}

int
main(int argc, char **argv)
{
	static const int sizes[NPOOLS] = {1, 2, 5};
	const uint64_t nhistories = argc > 1 ? strtoull(argv[1], NULL, 10) : NHISTORIES;
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	History		history = {.edges = malloc(MAX_EDGES * sizeof(EmogiWeightedEdge)),
		.changes = malloc(2 * MAX_EDGES * sizeof(EmogiEdgeChange))};

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
	check_missing(&history);
	check_too_many();
	for (uint64_t i = 0; i < nhistories; i++)
		check_history(&history, first + i);
	for (uint64_t i = 0; i < 60; i++)
		check_no_memory(&history, first + i);
	check_large(&history, EMOGI_OUT, false, false, 400000, 700000, 6);
	check_large(&history, EMOGI_IN, true, true, 300000, 400000, 6);
	check_large(&history, EMOGI_BOTH, true, true, 30000, 500000, 4);
	check_large(&history, EMOGI_OUT, false, true, 100000, 1000000, 5);
	check_cancel(&history);
	check_torn(&history);
	check_types(&history);
	check_parallel(&history, false);
	check_parallel(&history, true);
	CHECK(npatched > 10 * nunpatched, "%llu patches, %llu could not be made", (unsigned long long) npatched,
		  (unsigned long long) nunpatched);
	CHECK(njoined * 100 > npatched, "%llu of %llu patches have no losers", (unsigned long long) njoined, (unsigned long long) npatched);
	emogi_edge_set_free(&set);
	free(history.edges);
	free(history.changes);
	for (int p = 0; p < NPOOLS; p++)
		emogi_pool_destroy(pools[p]);
	return check_report("test_splice");
}
