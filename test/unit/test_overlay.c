/*
 * test_overlay.c: tests of overlays: a graph with an overlay of changes must have the same lists,
 * searches, and result of emogi_overlay_apply as a graph built with the changes.
 *
 * Usage: test_overlay [HISTORIES [SEED]]
 */
#include "history.h"

#include "contract/semirings.h"
#include "contract/cycles.h"
#include "contract/local_components.h"
#include "contract/local_search.h"
#include "contract/multi_path.h"
#include "contract/path_search.h"
#include "contract/yen.h"
#include "contract/compare.h"
#include "contract/overlay_grow.h"

#define NHISTORIES 20000

static uint64_t npatched,
			nunpatched,
			njoined,
			ngrown,
			nundone,
			ncycles,
			nranked;

/*
 * Return true if a patched list has the keys and weights of a list of the new graph, which includes
 * the changes.
 */
static bool
same_list(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiListsView *changed_lists, uint32_t from, const EmogiGraph *new,
		  const EmogiAdjacency *lists, uint32_t vertex)
{
	uint64_t	at = lists->offsets[vertex];
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(changed_lists, from, &whole, &npieces);

	if (emogi_lists_degree(changed_lists, from) != lists->offsets[vertex + 1] - at)
		return false;
	for (uint32_t i = 0; i < npieces; i++)
	{
		for (uint64_t e = 0; e < pieces[i].count; e++, at++)
		{
			if (at == lists->offsets[vertex + 1] ||
				emogi_overlay_key(old, overlay, pieces[i].targets[e]) != new->ids[lists->targets[at]] ||
				emogi_weight(pieces[i].weights, old->weight_type, e) != emogi_weight(lists->weights, new->weight_type, at))
				return false;
		}
	}
	return at == lists->offsets[vertex + 1];
}

/* Compare all lists, and the presence of vertices. */
static void
check_patched_lists(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, bool backward, const char *what)
{
	const EmogiListsView views[] = {emogi_lists_forward(old, overlay), emogi_lists_backward(old, overlay)};
	const EmogiAdjacency *lists[] = {&new->forward, &new->backward};
	uint64_t	ndifferent = 0;

	for (uint32_t v = 0; v < new->nvertices; v++)
	{
		const uint32_t from = emogi_overlay_vertex(old, overlay, new->ids[v]);

		ndifferent += from == EMOGI_NO_VERTEX || emogi_overlay_presence(old, overlay, from) == EMOGI_VERTEX_GONE;
		for (int side = 0; side < (backward ? 2 : 1) && from != EMOGI_NO_VERTEX; side++)
			ndifferent += !same_list(old, overlay, &views[side], from, new, lists[side], v);
	}
	for (uint32_t v = 0; v < old->nvertices; v++)
	{
		if (emogi_graph_vertex(new, old->ids[v]) == EMOGI_NO_VERTEX)
			ndifferent += emogi_overlay_presence(old, overlay, v) == EMOGI_VERTEX_THERE || emogi_lists_degree(&views[0], v) != 0;
	}
	CHECK(ndifferent == 0, "%s: %llu lists of a overlay", what, (unsigned long long) ndifferent);
}

/* Allocate from keys_memory, which is not in use at the time. */
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

/* Check that applying the overlay makes the new graph. */
static void
check_applied(const History *history, const EmogiOverlay *overlay, const EmogiGraph *new, const char *what)
{
	char	   *next = keys_memory;
	EmogiGraph	applied;
	char		difference[256];

	if (!emogi_overlay_apply(&history->graph, overlay, history->direction, new->weight_type, take_memory, &next, go_on, &applied))
		abort();
	CHECK(emogi_graph_compare(&applied, new, go_on, difference, sizeof(difference)), "%s: applied: %s", what, difference);
}

/* Compare a search in the patched graph with one in the new graph. */
static void
check_patched_search(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, EmogiAlgorithm algorithm, const char *what)
{
	uint32_t	source = (uint32_t) draw(new->nvertices);
	uint32_t	old_source = emogi_overlay_vertex(old, overlay, new->ids[source]);
	EmogiQuery	query = {.algorithm = algorithm, .nsources = 1, .sources = &source, .max_depth = once_in(2) ? -1 : (int64_t) draw(4),
		.max_distance = once_in(2) ? INFINITY : (double) draw(300)};
	EmogiQuery	old_query = query;
	EmogiLocalAnswer expected,
				answer;
	uint64_t	ndifferent = 0;

	old_query.sources = &old_source;
	if (emogi_local_search(new, NULL, &query, UINT64_MAX, &expected) != EMOGI_LOCAL_ANSWERED)
		abort();
	if (emogi_local_search(old, overlay, &old_query, UINT64_MAX, &answer) != EMOGI_LOCAL_ANSWERED)
	{
		CHECK(emogi_overlay_presence(old, overlay, old_source) == EMOGI_VERTEX_UNKNOWN, "%s: no answer", what);
		emogi_local_search_free(&expected);
		return;
	}
	for (uint64_t i = 0; i < answer.count && i < expected.count; i++)
		ndifferent += emogi_overlay_key(old, overlay, answer.vertices[i]) != new->ids[expected.vertices[i]] ||
			memcmp(&answer.values[i], &expected.values[i], sizeof(double)) != 0;
	CHECK(answer.count == expected.count && ndifferent == 0, "%s: %llu of %llu and %llu differ", what,
		  (unsigned long long) ndifferent, (unsigned long long) answer.count, (unsigned long long) expected.count);
	CHECK(answer.nlevels == expected.nlevels && answer.edges_traversed == expected.edges_traversed, "%s: other counts", what);
	emogi_local_search_free(&answer);
	emogi_local_search_free(&expected);
}

/* Compare a path in the patched graph with one in the new graph. */
static void
check_patched_path(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, const char *what)
{
	const uint32_t ends[] = {(uint32_t) draw(new->nvertices), (uint32_t) draw(new->nvertices)};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiPathAnswer expected,
				answer;
	uint64_t	ndifferent = 0;

	if (emogi_path_search(new, NULL, ends[0], ends[1], UINT64_MAX, &expected, &control, &error) != EMOGI_OK ||
		emogi_path_search(old, overlay, emogi_overlay_vertex(old, overlay, new->ids[ends[0]]),
						  emogi_overlay_vertex(old, overlay, new->ids[ends[1]]), UINT64_MAX, &answer, &control, &error) != EMOGI_OK)
		abort();
	for (uint64_t i = 0; i < answer.length && i < expected.length; i++)
		ndifferent += emogi_overlay_key(old, overlay, answer.vertices[i]) != new->ids[expected.vertices[i]] ||
			memcmp(&answer.distance[i], &expected.distance[i], sizeof(double)) != 0;
	CHECK(answer.outcome == expected.outcome && answer.length == expected.length && ndifferent == 0, "%s: another path", what);
	emogi_path_search_free(&answer);
	emogi_path_search_free(&expected);
}

/*
 * Compare paths with a common source or target in the patched graph with single paths in the new
 * graph.
 */
static void
check_patched_paths(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, bool one_source, const char *what)
{
	const uint32_t common = (uint32_t) draw(new->nvertices);
	EmogiMultiPath *search = emogi_multi_path_begin(old, overlay, true, UINT64_MAX, NULL);
	EmogiControl control = {0};
	EmogiError	error;

	for (uint64_t left = 5; left > 0; left--)
	{
		const uint32_t other = (uint32_t) draw(new->nvertices);
		const uint32_t source = one_source ? common : other;
		const uint32_t target = one_source ? other : common;
		EmogiPathAnswer expected;
		EmogiMultiPathAnswer answer;
		uint64_t	ndifferent = 0;

		if (emogi_path_search(new, NULL, source, target, UINT64_MAX, &expected, &control, &error) != EMOGI_OK)
			abort();
		emogi_multi_path_next(search, emogi_overlay_vertex(old, overlay, new->ids[source]), emogi_overlay_vertex(old, overlay, new->ids[target]),
							  one_source ? left : 1, one_source ? 1 : left, UINT64_MAX, UINT64_MAX, &answer);
		for (uint64_t i = 0; i < answer.length && i < expected.length; i++)
			ndifferent += emogi_overlay_key(old, overlay, answer.vertices[i]) != new->ids[expected.vertices[i]] ||
				memcmp(&answer.distance[i], &expected.distance[i], sizeof(double)) != 0;
		CHECK(answer.outcome == expected.outcome && answer.length == expected.length && ndifferent == 0, "%s: another path of several", what);
		emogi_path_search_free(&expected);
	}
	emogi_multi_path_free(search);
}

/* Return true if vertices of the patched graph, and their distances, are those of the new graph. */
static bool
same_way(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, const uint32_t *vertices, const double *distance,
		 const uint32_t *expected, const double *expected_distance, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
	{
		if (emogi_overlay_key(old, overlay, vertices[i]) != new->ids[expected[i]])
			return false;
	}
	return memcmp(distance, expected_distance, count * sizeof(double)) == 0;
}

/* Compare the cycles through a vertex of the patched graph with those of the new graph. */
static void
check_patched_cycles(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, bool both, const char *what)
{
	const uint32_t source = (uint32_t) draw(new->nvertices);
	const uint64_t max_length = 1 + draw(5);
	EmogiControl control = {0};
	EmogiError	error;
	EmogiCycles *expected_cycles,
			   *cycles;
	EmogiCycle	expected,
				found;
	bool		same = true;

	if (emogi_cycles_begin(new, NULL, source, max_length, both, UINT64_MAX, NULL, &expected_cycles, &control, &error) != EMOGI_OK ||
		emogi_cycles_begin(old, overlay, emogi_overlay_vertex(old, overlay, new->ids[source]), max_length, both, UINT64_MAX, NULL, &cycles, &control,
						   &error) != EMOGI_OK)
		abort();
	for (int i = 0; same && i < 50; i++)
	{
		if (emogi_cycles_next(expected_cycles, &expected) != EMOGI_OK || emogi_cycles_next(cycles, &found) != EMOGI_OK)
			abort();
		same = found.length == expected.length && (found.length == 0 || same_way(old, overlay, new, found.vertices, found.distance, expected.vertices,
																		  expected.distance, found.length + 1));
		ncycles += same && found.length > 0;
		if (found.length == 0)
			break;
	}
	CHECK(same, "%s: another cycle", what);
	CHECK(emogi_cycles_edges_scanned(cycles) == emogi_cycles_edges_scanned(expected_cycles), "%s: other entries of cycles", what);
	emogi_cycles_free(cycles);
	emogi_cycles_free(expected_cycles);
}

/*
 * Compare the ranked paths between two vertices of the patched graph with those of the new graph.
 */
static void
check_patched_ranking(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, const char *what)
{
	const uint32_t ends[] = {(uint32_t) draw(new->nvertices), (uint32_t) draw(new->nvertices)};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiYen *expected_ranking,
			   *ranking;
	EmogiYenFoundPath expected,
				found;
	bool		same = true;

	if (emogi_yen_begin(new, NULL, NULL, false, ends[0], ends[1], UINT64_MAX, NULL, &expected_ranking, &control, &error) != EMOGI_OK ||
		emogi_yen_begin(old, overlay, NULL, false, emogi_overlay_vertex(old, overlay, new->ids[ends[0]]),
							emogi_overlay_vertex(old, overlay, new->ids[ends[1]]), UINT64_MAX, NULL, &ranking, &control, &error) != EMOGI_OK)
		abort();
	for (int i = 0; same && i < 8; i++)
	{
		if (emogi_yen_next(expected_ranking, INFINITY, &expected) != EMOGI_OK || emogi_yen_next(ranking, INFINITY, &found) != EMOGI_OK)
			abort();
		same = found.length == expected.length &&
			same_way(old, overlay, new, found.vertices, found.distance, expected.vertices, expected.distance, found.length);
		nranked += same && found.length > 1;
		if (found.length == 0)
			break;
	}
	CHECK(same, "%s: another path in the ranking", what);
	emogi_yen_free(ranking);
	emogi_yen_free(expected_ranking);
}

/* Return true if no weight is negative. */
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

/* Return the smallest vertex of each vertex's component, in memory at *next. */
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

/* Check that the components of the patched graph have the members of those of the new graph. */
static void
check_members(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, const EmogiLocalComponents *components,
			  const uint32_t *expected, const char *what)
{
	uint32_t   *members = malloc((old->nvertices + 1) * sizeof(*members));
	uint32_t   *vertices = malloc((new->nvertices + 1) * sizeof(*vertices));
	uint64_t   *sizes = calloc(new->nvertices + 1, sizeof(*sizes));
	uint64_t	nwrong = 0;

	if (members == NULL || vertices == NULL || sizes == NULL || !emogi_local_search_components_link(components->labels, old->nvertices, go_on, members))
		abort();
	for (uint64_t v = 0; v < new->nvertices; v++)
		sizes[expected[v]]++;
	for (uint64_t v = 0; v < new->nvertices; v += 1 + v / 50)
	{
		const uint32_t smallest = emogi_overlay_vertex(old, overlay, new->ids[v]);
		uint64_t	count;

		if (expected[v] != v)
			continue;
		count = emogi_local_search_components_list(components, members, smallest, go_on, new->nvertices, vertices);
		nwrong += count != sizes[v];
		for (uint64_t i = 0; i < count && i < new->nvertices; i++)
			nwrong += expected[emogi_graph_vertex(new, emogi_overlay_key(old, overlay, vertices[i]))] != v;
		nwrong += sizes[v] > 1 && emogi_local_search_components_list(components, members, smallest, go_on, sizes[v] - 1, vertices) < sizes[v];
	}
	CHECK(nwrong == 0, "%s: %llu members of components", what, (unsigned long long) nwrong);
	free(members);
	free(vertices);
	free(sizes);
}

/*
 * Check the components of a graph that has lost no edge, which are merged from the old ones: all of
 * them, and those of single vertices.
 */
static void
check_components(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new, const char *what)
{
	char	   *next = keys_memory;
	const uint32_t *expected = label_components(new, &next);
	EmogiLocalComponents components = {.graph = old, .overlay = overlay, .labels = label_components(old, &next)};
	char	   *memory = take_memory(&next, emogi_local_components_bytes(overlay) + GUARD);
	int64_t    *ids = take_memory(&next, (new->nvertices + 1) * sizeof(*ids));
	uint32_t   *component = take_memory(&next, (new->nvertices + 1) * sizeof(*component));
	uint64_t	ndifferent = 0;

	memset(memory, 0x5A, emogi_local_components_bytes(overlay) + GUARD);
	component[new->nvertices] = 0x5A5A5A5A;
	emogi_local_components_join(&components, memory);
	CHECK(is_guarded(memory + emogi_local_components_bytes(overlay)), "%s: behind the components", what);
	if (!emogi_local_components_write(&components, go_on, ids, component))
		abort();
	CHECK(component[new->nvertices] == 0x5A5A5A5A, "%s: components behind", what);
	CHECK(memcmp(component, expected, new->nvertices * sizeof(*component)) == 0, "%s: components", what);
	CHECK(overlay->nnew == 0 || memcmp(ids, new->ids, new->nvertices * sizeof(*ids)) == 0, "%s: their keys", what);
	for (uint64_t v = 0; v < new->nvertices; v += 1 + v / 50)
	{
		const uint32_t found = emogi_local_components_find(&components, emogi_overlay_vertex(old, overlay, new->ids[v]));

		ndifferent += emogi_overlay_key(old, overlay, found) != new->ids[expected[v]];
	}
	CHECK(ndifferent == 0, "%s: %llu components of single vertices", what, (unsigned long long) ndifferent);
	check_members(old, overlay, new, &components, expected, what);
	njoined++;
}

/*
 * Check that everything that reads lists has the same result on the patched graph and on the new
 * one.
 */
static void
check_ways(const History *history, const EmogiOverlay *overlay, const EmogiGraph *new, const char *what)
{
	const EmogiGraph *old = &history->graph;

	check_patched_lists(old, overlay, new, old->backward.offsets != NULL && new->nvertices > 0, what);
	check_applied(history, overlay, new, what);
	if (new->nvertices == 0)
		return;
	check_patched_search(old, overlay, new, EMOGI_BFS, what);
	if (!has_lengths(history))
		return;
	check_patched_search(old, overlay, new, EMOGI_SSSP, what);
	for (int i = 0; old->backward.offsets != NULL && i < (overlay->nnew > 0 ? 20 : 1); i++)
	{
		check_patched_path(old, overlay, new, what);	/* ties with new vertices are rare */
		check_patched_paths(old, overlay, new, i % 2 == 0, what);
	}
	for (int i = 0; old->backward.offsets != NULL && i < (overlay->nnew > 0 ? 4 : 1); i++)
	{
		check_patched_cycles(old, overlay, new, history->direction == EMOGI_BOTH, what);
		check_patched_ranking(old, overlay, new, what);
	}
}

/* Reallocate the memory of a growing overlay. */
static void *
resize_memory(void *arg, void *memory, size_t bytes)
{
	if (bytes > 0)
		return realloc(memory, bytes);
	free(memory);
	return NULL;
}

/*
 * Order the changes so that removed edges exist; *held = the graph's weight type holds their
 * weights. Returns their number.
 */
static uint64_t
order_changes(const History *history, EmogiEdgeChange *ordered, bool *held)
{
	uint64_t	count = 0;

	*held = true;
	for (uint64_t i = 0; i < history->nchanges; i++)
		*held &= emogi_weight_is_exact(history->graph.weight_type, history->changes[i].weight);
	for (uint64_t i = 0; i < history->nchanges; i++)
		if (history->changes[i].times > 0)
			ordered[count++] = history->changes[i];
	for (uint64_t i = 0; i < history->nchanges; i++)
		if (history->changes[i].times < 0)
			ordered[count++] = history->changes[i];
	return count;
}

/*
 * Check that undoing changes restores the overlay: the next changes, and edges between keys, some
 * of them new.
 */
static void
check_undo(EmogiGrowingOverlay *growing, const EmogiEdgeChange *next, uint64_t nnext, const char *what)
{
	const EmogiOverlay before = growing->overlay;
	EmogiEdgeChange *changes = malloc((nnext + 6) * sizeof(*changes));
	uint32_t   *losers = malloc((before.nlosers + 1) * sizeof(*losers));
	uint64_t	count = nnext;

	memcpy(changes, next, nnext * sizeof(*changes));
	memcpy(losers, before.losers, before.nlosers * sizeof(*losers));
	for (int i = 0; i < 3; i++)
	{
		const EmogiEdgeChange added = {(int64_t) draw(300) - 100, (int64_t) 1000000 * (int64_t) draw(3) + (int64_t) draw(300), 1.0, 2};

		changes[count++] = added;
		changes[count] = added;
		changes[count++].times = -1;
	}
	emogi_overlay_grow_mark(growing);
	CHECK(emogi_overlay_grow(growing, changes, count), "%s: changes to be undone", what);
	CHECK(emogi_overlay_grow_undo(growing, changes, count), "%s: changes are not undone", what);
	CHECK(growing->overlay.nnew == before.nnew && growing->overlay.nlosers == before.nlosers &&
		  memcmp(growing->overlay.losers, losers, before.nlosers * sizeof(*losers)) == 0, "%s: what is left of undone changes", what);
	for (uint64_t i = 1; i < growing->overlay.nnew; i++)
		CHECK(growing->overlay.new_keys[growing->overlay.new_order[i - 1]] < growing->overlay.new_keys[growing->overlay.new_order[i]],
			  "%s: order of new keys", what);
	nundone++;
	free(changes);
	free(losers);
}

/* Check an overlay that grows by some changes at a time. */
static void
check_growing(const History *history, const EmogiGraph *new, const char *what)
{
	EmogiEdgeChange *changes = malloc((history->nchanges + 1) * sizeof(*changes));
	bool		held;
	const uint64_t count = order_changes(history, changes, &held);
	EmogiGrowingOverlay growing;
	bool		grown = true;
	uint64_t	end;

	emogi_overlay_grow_begin(&growing, &history->graph, history->direction, resize_memory, NULL);
	for (uint64_t i = 0; grown && i < count; i = end)
	{
		end = i + 1 + draw(count - i < 20 ? count - i : 20);
		if (held && draw(3) == 0)
			check_undo(&growing, &changes[i], end - i, what);
		grown = emogi_overlay_grow(&growing, &changes[i], end - i);
	}
	CHECK(grown || !held, "%s: a overlay does not grow", what);
	ngrown += grown;
	if (grown)
		check_ways(history, &growing.overlay, new, what);
	free(changes);				/* the overlay's memory is too small to matter */
}

/* Check the overlay of the changes, or the reason why there is none. */
static void
check_patch(const History *history, const EmogiGraph *new, const char *what)
{
	const EmogiGraph *old = &history->graph;
	EmogiMergeInput input = {.graph = old, .direction = history->direction, .weight_type = old->weight_type,
		.nchanges = history->nchanges, .changes = history->changes, .memory = splice_scratch};
	EmogiOverlay	overlay;

	memset(input.memory, 0x5A, emogi_overlay_bytes(&input) + GUARD);
	if (!emogi_overlay_make(&input, &overlay))
	{
		CHECK(new->weight_type != old->weight_type, "%s: no overlay", what);
		nunpatched++;
		return;
	}
	npatched++;
	CHECK(is_guarded((char *) input.memory + emogi_overlay_bytes(&input)), "%s: behind the overlay", what);
	if (new->nvertices > 0 && overlay.nlosers == 0)
		check_components(old, &overlay, new, what);
	check_ways(history, &overlay, new, what);
	check_growing(history, new, what);
}

/* ---- histories ---- */

/* Check the patched graph of a round against a build, which replaces it. */
static void
check_round(History *history, const char *what)
{
	EmogiGraph	new = {0};

	if (history->nedges > 0)
		new = rebuild(history, pools[0]);
	if (history->graph.nvertices > 0)
		check_patch(history, &new, what);
	begin_history(history, pools[0]);
}

/* Check one history. */
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
		snprintf(what, sizeof(what), "history %llu, round %d", (unsigned long long) number, round);
		make_changes(history);
		check_round(history, what);
	}
}

/* Check a large graph with few changes per round. */
static void
check_large(History *history, EmogiDirection direction, bool with_backward, bool weighted)
{
	begin_large(history, direction, with_backward, weighted, 100000, 300000, UINT64_MAX);
	for (int round = 0; round < 3; round++)
	{
		make_many_changes(history, 1000, round > 0);
		check_round(history, "large");
	}
}

int
main(int argc, char **argv)
{
	const uint64_t nhistories = argc > 1 ? strtoull(argv[1], NULL, 10) : NHISTORIES;
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	History		history = open_history();

	for (uint64_t i = 0; i < nhistories; i++)
		check_history(&history, first + i);
	check_large(&history, EMOGI_OUT, false, false);
	check_large(&history, EMOGI_IN, true, true);
	check_large(&history, EMOGI_BOTH, true, true);
	CHECK(npatched > 10 * nunpatched, "%llu patches, %llu could not be made", (unsigned long long) npatched,
		  (unsigned long long) nunpatched);
	CHECK(njoined * 100 > npatched, "%llu of %llu patches have no losers", (unsigned long long) njoined, (unsigned long long) npatched);
	CHECK(ngrown * 10 > npatched * 9, "%llu of %llu patches have grown", (unsigned long long) ngrown, (unsigned long long) npatched);
	CHECK(nundone > 1000, "%llu changes were undone", (unsigned long long) nundone);
	CHECK(ncycles > npatched / 2 && nranked > npatched / 2, "%llu cycles and %llu ranked paths of %llu patches", (unsigned long long) ncycles,
		  (unsigned long long) nranked, (unsigned long long) npatched);
	close_history(&history);
	return check_report("test_overlay");
}
