/*
 * test_local_graph.c: tests of local subgraphs: the rows of a few vertices in the subgraph around
 * them must equal those in the whole graph, also with an overlay of changes.
 *
 * Usage: test_local_graph [HISTORIES [SEED]]
 */
#include "history.h"

#include "contract/local_graph.h"
#include "contract/overlay.h"

#define NHISTORIES 6000
#define MAX_SELECTED 4

static uint64_t nmade,
			nsmaller,
			nrefused,
			npoints;

/* Run an algorithm; columns[0] of the result is malloced. */
static EmogiResult
run_engine(const EmogiGraph *graph, EmogiAlgorithm algorithm)
{
	EmogiResult result = {.columns = {{.any = malloc((graph->nvertices + 1) * sizeof(double))}}};
	const EmogiQuery query = {.algorithm = algorithm, .max_depth = -1, .max_distance = INFINITY};
	EmogiControl control = {0};
	EmogiError	error;

	if (emogi_cpu_engine_run_alone(graph, &query, &result, &control, &error) != EMOGI_OK)
		abort();
	return result;
}

/* Return the row of a vertex, in which vertices are replaced by their keys. */
static int64_t
row_of(const EmogiGraph *graph, const EmogiResult *result, EmogiAlgorithm algorithm,
	   uint32_t vertex)
{
	switch (emogi_algorithm_row(algorithm)->columns[0].type)
	{
		case EMOGI_INT32:
			return result->columns[0].int32[vertex];
		case EMOGI_VERTEX:
			return graph->ids[result->columns[0].vertex[vertex]];
		default:
			return result->columns[0].int64[vertex];	/* the bits of a double */
	}
}

/*
 * Compare the rows of random vertices of the new graph with those in local subgraphs of the old
 * graph with its overlay.
 */
static void
check_rows(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new,
		   const EmogiResult *expected, EmogiAlgorithm algorithm, const char *what)
{
	const uint64_t nselected = 1 + draw(once_in(2) ? 1 : MAX_SELECTED);
	const uint64_t max_edges = once_in(4) ? draw(2 * new->forward.nedges + 1) : UINT64_MAX;
	const uint64_t max_kept = once_in(4) ? draw(new->forward.nedges + 1) : UINT64_MAX;
	uint32_t	selected[MAX_SELECTED];
	uint32_t	places[MAX_SELECTED];
	EmogiLocalGraph local;
	EmogiResult result;
	uint64_t	ndifferent = 0;

	for (uint64_t i = 0; i < nselected; i++)
	{
		selected[i] = (uint32_t) draw(new->nvertices);
		places[i] = emogi_overlay_vertex(old, overlay, new->ids[selected[i]]);
	}
	if (!emogi_local_graph_make(old, overlay, emogi_local_scope(algorithm), places, nselected,
								max_edges, max_kept, &local))
	{
		CHECK(max_edges < UINT64_MAX || max_kept < UINT64_MAX, "%s: no graph", what);
		nrefused++;
		return;
	}
	CHECK(local.edges_scanned <= max_edges && local.graph.forward.nedges <= max_kept, "%s: limits",
		  what);
	result = run_engine(&local.graph, algorithm);
	for (uint64_t i = 0; i < nselected; i++)
	{
		const uint32_t place = emogi_graph_vertex(&local.graph, new->ids[selected[i]]);

		ndifferent += place == EMOGI_NO_VERTEX || row_of(&local.graph, &result, algorithm, place) !=
			row_of(new, expected, algorithm, selected[i]);
		npoints += algorithm == EMOGI_ARTICULATION_POINTS &&
			row_of(new, expected, algorithm, selected[i]) > 1;
	}
	CHECK(ndifferent == 0, "%s: %llu rows of %s", what, (unsigned long long) ndifferent,
		  emogi_algorithm_row(algorithm)->name);
	nmade++;
	nsmaller += local.graph.forward.nedges < new->forward.nedges;
	free(result.columns[0].any);
	emogi_local_graph_free(&local);
}

/* Check all algorithms that support local subgraphs. */
static void
check_algorithms(const EmogiGraph *old, const EmogiOverlay *overlay, const EmogiGraph *new,
				 EmogiDirection direction, const char *what)
{
	for (EmogiAlgorithm algorithm = 0; algorithm < EMOGI_NALGORITHMS; algorithm++)
	{
		EmogiResult expected;

		if (emogi_local_scope(algorithm) == EMOGI_SCOPE_NONE ||
			(emogi_algorithm_row(algorithm)->lists == EMOGI_LISTS_BOTH && direction != EMOGI_BOTH))
			continue;
		expected = run_engine(new, algorithm);
		for (int i = 0; i < 3; i++)
			check_rows(old, overlay, new, &expected, algorithm, what);
		free(expected.columns[0].any);
	}
}

/* Check a graph with the changes of a round as an overlay, and the graph that includes them. */
static void
check_round(History *history, const char *what)
{
	EmogiMergeInput input = {.graph = &history->graph, .direction = history->direction,
		.weight_type = history->graph.weight_type, .nchanges = history->nchanges,
		.changes = history->changes, .memory = splice_scratch};
	EmogiGraph	new = {0};
	EmogiOverlay overlay;

	if (history->nedges > 0)
		new = rebuild(history, pools[0]);
	if (new.nvertices > 0 && new.backward.offsets != NULL)
	{
		check_algorithms(&new, NULL, &new, history->direction, what);
		if (history->graph.nvertices > 0 && emogi_overlay_make(&input, &overlay))
			check_algorithms(&history->graph, &overlay, &new, history->direction, what);
	}
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
	history->with_backward |= history->direction != EMOGI_BOTH;
	nrounds = history->nkeys > 2000 ? 2 : 2 + (int) draw(3);
	begin_history(history, pools[0]);
	for (int round = 0; round < nrounds; round++)
	{
		snprintf(what, sizeof(what), "history %llu, round %d", (unsigned long long) number, round);
		make_changes(history);
		check_round(history, what);
	}
}

/*
 * Check a path graph that an overlay closes to a ring by one edge: searches from a vertex meet, and
 * do not find a complete component before.
 */
static void
check_ring(History *history)
{
	history->direction = EMOGI_BOTH;
	history->with_backward = history->weighted = history->skewed = false;
	history->keys = 0;
	history->nkeys = history->span = 1000;
	history->first_key = 0;
	history->nedges = 0;
	for (int64_t i = 0; i < 999; i++)
		history->edges[history->nedges++] = (EmogiWeightedEdge) {.src = i, .dst = i + 1};
	begin_history(history, pools[0]);
	history->nchanges = 0;
	check_round(history, "path");
	add_edge(history, (EmogiWeightedEdge) {.src = 999, .dst = 0});
	check_round(history, "ring");
}

/*
 * Check a vertex with a list so long that members are looked up in it, with parallel edges and a
 * self-loop, before and after changes.
 */
static void
check_hub(History *history, EmogiDirection direction)
{
	history->direction = direction;
	history->with_backward = direction != EMOGI_BOTH;
	history->weighted = history->skewed = false;
	history->keys = 0;
	history->nkeys = history->span = 3000;
	history->first_key = 0;
	history->nedges = 0;
	for (int64_t i = 0; i < 3000; i += 2)
	{
		history->edges[history->nedges++] = (EmogiWeightedEdge) {.src = 1500, .dst = i};
		history->edges[history->nedges++] = (EmogiWeightedEdge) {.src = i,
			.dst = i % 3 == 0 ? 1500 : (i + 2) % 3000};
	}
	begin_history(history, pools[0]);
	for (int round = 0; round < 40; round++)
	{
		history->nchanges = 0;
		for (int i = 0; i < (round + 1) / 2; i++)
			add_edge(history, (EmogiWeightedEdge) {.src = 1500, .dst = (int64_t) draw(3000)});
		for (int i = 0; i < round / 2; i++)
			remove_edge(history, draw(history->nedges));
		check_round(history, "hub");
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
	check_ring(&history);
	check_hub(&history, EMOGI_BOTH);
	check_hub(&history, EMOGI_OUT);
	CHECK(nsmaller * 10 > nmade, "%llu of %llu graphs are smaller", (unsigned long long) nsmaller,
		  (unsigned long long) nmade);
	CHECK(nrefused * 10 < nmade * 9 && nrefused > 0, "%llu graphs were not made, %llu were",
		  (unsigned long long) nrefused, (unsigned long long) nmade);
	CHECK(npoints > 0, "%llu articulation points", (unsigned long long) npoints);
	close_history(&history);
	return check_report("test_local_graph");
}
