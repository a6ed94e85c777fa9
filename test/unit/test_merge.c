/*
 * test_merge.c: tests of merging changes into a graph: the result must be identical, byte for byte,
 * to a graph rebuilt from all edges, after each round of random histories.
 *
 * Usage: test_merge [HISTORIES [SEED]]
 */
#include "history.h"
#include "torn.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define NHISTORIES 20000

static EmogiDerivation derivation;	/* of the last merge */

/* Return true if two orientations have the same addresses. */
static bool
same_places(const EmogiAdjacency *a, const EmogiAdjacency *b)
{
	return a->nedges == b->nedges && a->offsets == b->offsets && a->targets == b->targets && a->weights == b->weights;
}

/*
 * Return true if two graphs have equal fields, after the second one is relocated to the block of
 * the first.
 */
static bool
same_graph(const EmogiGraph *a, EmogiGraph b)
{
	emogi_graph_relocate(&b, a->memory);
	return a->nvertices == b.nvertices && a->ids == b.ids && a->weight_type == b.weight_type && a->id == b.id &&
		a->memory_bytes == b.memory_bytes && same_places(&a->forward, &b.forward) && same_places(&a->backward, &b.backward);
}

/*
 * Return true if the derivation makes the new offsets from the old ones, in tiles, as engines do
 * that derive copies.
 */
static bool
derives_offsets(int side, const uint64_t *from, const uint64_t *to, uint64_t count, uint64_t tile)
{
	const EmogiEdit *edits = derivation.edits[side];
	const EmogiBreak *breaks = derivation.breaks;

	for (uint64_t first = 0, end; first < count; first = end)
	{
		end = count - first < tile ? count : first + tile;
		uint64_t	e = emogi_derivation_edit_before(edits, 0, derivation.nedits[side], first);
		uint64_t	b = emogi_derivation_break_of_new(breaks, 0, derivation.nbreaks, first);
		const uint64_t last_e = emogi_derivation_edit_before(edits, e, derivation.nedits[side], end - 1);
		const uint64_t last_b = emogi_derivation_break_of_new(breaks, b, derivation.nbreaks, end - 1);

		for (uint64_t v = first; v < end; v++)
		{
			e = emogi_derivation_edit_before(edits, e, last_e, v);
			b = emogi_derivation_break_of_new(breaks, b, last_b, v);
			if (to[v] != from[emogi_derivation_old(&breaks[b], v)] + edits[e].shift)
				return false;
		}
	}
	return true;
}

/* The same for targets and weights. */
static bool
derives_entries(int side, const EmogiGraph *old, const EmogiAdjacency *from, const EmogiGraph *graph,
				const EmogiAdjacency *to, uint64_t tile)
{
	const EmogiEdit *edits = derivation.edits[side];
	const EmogiBreak *breaks = derivation.breaks;

	for (uint64_t first = 0, end; first < to->nedges; first = end)
	{
		end = to->nedges - first < tile ? to->nedges : first + tile;
		uint64_t	e = emogi_derivation_edit_at(edits, 0, derivation.nedits[side], first);
		const uint64_t last_e = emogi_derivation_edit_at(edits, e, derivation.nedits[side], end - 1);

		for (uint64_t i = first; i < end; i++)
		{
			uint32_t	target;
			double		weight;

			e = emogi_derivation_edit_at(edits, e, last_e, i);
			if (emogi_derivation_is_inserted(&edits[e], i))
			{
				target = edits[e].target;
				weight = edits[e].weight;
			}
			else
			{
				target = from->targets[i - edits[e].shift];
				weight = emogi_weight(from->weights, old->weight_type, i - edits[e].shift);
				if (derivation.renumbers)
					target = emogi_derivation_number(&breaks[emogi_derivation_break_of_old(breaks, 0, derivation.nbreaks, target)], target);
			}
			if (to->targets[i] != target)
				return false;
			if (graph->weight_type != EMOGI_WEIGHT_NONE && emogi_weight(to->weights, graph->weight_type, i) != weight)
				return false;
		}
	}
	return true;
}

/*
 * Check that the derivation describes the change from the old graph to the new one, and that it
 * exists if it is possible.
 */
static void
check_derivation(const EmogiGraph *old, const EmogiGraph *graph, EmogiDirection direction, const char *what)
{
	const EmogiAdjacency *from[] = {&old->forward, &old->backward};
	const EmogiAdjacency *to[] = {&graph->forward, &graph->backward};
	const bool	transposed = to[1]->offsets != NULL && direction != EMOGI_BOTH;

	CHECK((derivation.breaks != NULL) == (graph->nvertices > 0), "%s: breaks", what);
	CHECK((derivation.edits[0] != NULL) == (graph->nvertices > 0) && (derivation.edits[1] != NULL) == transposed, "%s: edits", what);
	for (int side = 0; side < 2 && old->nvertices > 0; side++)
	{
		const uint64_t tile = 1 + draw(200);

		if (derivation.edits[side] == NULL)
			continue;
		CHECK(derives_offsets(side, from[side]->offsets, to[side]->offsets, graph->nvertices + 1, tile), "%s: offsets", what);
		CHECK(derives_entries(side, old, from[side], graph, to[side], tile), "%s: entries", what);
	}
}

/*
 * Merge the changes into the graph, compare the result with a rebuild, and replace the graph by it.
 */
static void
check_splice(History *history, EmogiPool *pool, EmogiPool *builders, const char *what)
{
	static const EmogiGraph none;
	const int	nthreads = emogi_pool_size(pool);
	const EmogiMergeInput input = splice_input(history, nthreads, once_in(8) ? NULL : &derivation);
	const EmogiEdgeChange last = history->nchanges > 0 ? history->changes[history->nchanges - 1] : (EmogiEdgeChange) {0};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiGraph	graph,
				built;
	EmogiStatus status;

	status = emogi_merge(pool, &input, &graph, &control, &error);
	CHECK(status == EMOGI_OK, "%s: status %d, %s, %s", what, status, error.message, error.detail);
	if (status != EMOGI_OK)
		abort();
	CHECK(control.done == control.total, "%s: done %llu of %llu", what, (unsigned long long) control.done,
		  (unsigned long long) control.total);
	CHECK(is_guarded((char *) input.memory + emogi_merge_bytes(&input)), "%s: behind the memory", what);
	CHECK(is_guarded((char *) input.scratch + emogi_merge_scratch_bytes(&input, nthreads)), "%s: behind the scratch", what);
	CHECK(history->nchanges == 0 || memcmp(&last, &history->changes[history->nchanges - 1], sizeof(last)) == 0,
		  "%s: the changes are only read", what);
	if (history->nedges == 0)
		CHECK(memcmp(&graph, &none, sizeof(none)) == 0, "%s: all gone", what);
	else
	{
		built = rebuild(history, builders);
		CHECK(graph.memory_bytes <= emogi_merge_bytes(&input), "%s: more than was said", what);
		CHECK(graph.memory == input.memory && same_graph(&graph, built), "%s: another Graph", what);
		CHECK(graph.memory_bytes == built.memory_bytes && memcmp(graph.memory, built.memory, built.memory_bytes) == 0,
			  "%s: other bytes", what);
	}
	if (input.derivation != NULL)
		check_derivation(&history->graph, &graph, history->direction, what);
	history->graph = graph;
	history->block = (history->block + 1) % NBLOCKS;
}

/* ---- random histories ---- */

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
		const uint64_t pool = draw(16);

		snprintf(what, sizeof(what), "history %llu, round %d", (unsigned long long) number, round);
		make_changes(history);
		check_splice(history, pools[pool < 12 ? 0 : pool < 15 ? 1 : 2], pools[0], what);
	}
}

/* ---- large graphs ---- */

/* Check a large graph with many and few changes per round, which threads divide in many places. */
static void
check_large(History *history, EmogiDirection direction, bool with_backward, bool weighted, uint64_t nkeys, uint64_t nedges, int rounds)
{
	static const uint64_t nchanges[] = {1, 30, 3000, 200000, 5, 100000};

	begin_large(history, direction, with_backward, weighted, nkeys, nedges, 100000);
	for (int round = 0; round < rounds; round++)
	{
		make_many_changes(history, nchanges[round], round != 4);
		check_splice(history, pools[1 + round % 2], pools[1], weighted ? "large with weights" : "large");
	}
}

/* Check that a weight which needs another type can be added to many of one type, and removed. */
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

/*
 * Check edges with tens of thousands of copies, many of which are removed and added at once, across
 * the parts of threads.
 */
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
		/* remove the others */
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

/* Check that a failure of the n-th allocation, for all n, returns NO_MEMORY with a message. */
static void
check_no_memory(History *history, uint64_t number)
{
	EmogiStatus status = EMOGI_NO_MEMORY;
	EmogiMergeInput input;
	EmogiGraph	graph;
	uint32_t	n;

	seed = number;
	ndrawn = 0;
	choose_history(history);
	begin_history(history, pools[0]);
	make_changes(history);
	input = splice_input(history, 5, &derivation);
	for (n = 1; status == EMOGI_NO_MEMORY && n < 1000; n++)
	{
		EmogiControl control = {.fail_allocation = n};
		EmogiError	error = {{0}, {0}};

		status = emogi_merge(pools[number % NPOOLS], &input, &graph, &control, &error);
		CHECK(status == EMOGI_OK || (status == EMOGI_NO_MEMORY && error.message[0] != '\0'), "allocation %u: status %d", n, status);
	}
	CHECK(status == EMOGI_OK && n > 2, "status %d after %u allocations", status, n);
}

/*
 * Check that failed allocations of the memory and the scratch memory of a large graph return
 * NO_MEMORY.
 */
static void
check_torn(const History *history)
{
	EmogiMergeInput input = splice_input(history, 5, &derivation);
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiGraph	graph;

	input.memory = map_torn(emogi_merge_bytes(&input));
	CHECK(emogi_merge(pools[1], &input, &graph, &control, &error) == EMOGI_NO_MEMORY && error.message[0] != '\0', "memory");
	input = splice_input(history, 5, &derivation);
	input.scratch = map_torn(emogi_merge_scratch_bytes(&input, 2));
	CHECK(emogi_merge(pools[1], &input, &graph, &control, &error) == EMOGI_NO_MEMORY, "scratch");
}

/* Set cancel shortly after the start. */
static void *
cancel_soon(void *arg)
{
	EmogiControl *control = arg;

	usleep(500);
	__atomic_store_n(&control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Check cancellation before and during a merge into the large graph of the history. */
static void
check_cancel(History *history)
{
	EmogiControl control = {.cancel = 1};
	EmogiError	error;
	EmogiGraph	graph;
	EmogiMergeInput input;
	pthread_t	thread;
	EmogiStatus status;

	history->nchanges = 0;
	while (history->nchanges < 200000)
		remove_edge(history, draw(history->nedges));
	input = splice_input(history, 5, &derivation);
	status = emogi_merge(pools[1], &input, &graph, &control, &error);
	CHECK(status == EMOGI_CANCELED, "status %d", status);
	control.cancel = 0;
	pthread_create(&thread, NULL, cancel_soon, &control);
	status = emogi_merge(pools[2], &input, &graph, &control, &error);
	pthread_join(thread, NULL);
	CHECK(status == EMOGI_CANCELED, "status %d", status);
}

/*
 * Check that a change of the graph with edges 1 -> 2, 1 -> 2, 2 -> 3, all of weight 5, and 7 -> 7
 * of weight 1, is refused.
 */
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
		EmogiMergeInput input;
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
		input = splice_input(&refused, 2, NULL);
		status = emogi_merge(pools[1], &input, &graph, &control, &error);
		CHECK(status == EMOGI_BAD_INPUT && strstr(error.message, "does not have the edge") != NULL, "%lld -> %lld, kind %d: status %d",
			  (long long) change.src, (long long) change.dst, kind, status);
		changes[1].times = 1;
		changes[1].weight = 5;
		status = emogi_merge(pools[1], &input, &graph, &control, &error);
		CHECK(status == EMOGI_OK, "the other way: status %d", status);
		changes[1] = change;
	}
}

/*
 * Check that edges cannot be removed if a key, both keys, the edge, its weight, or one of several
 * copies does not exist.
 */
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

/* Check that too many vertices are refused. The old graph's arrays are zero pages. */
static void
check_too_many(void)
{
	const size_t bytes = (EMOGI_MAX_VERTICES + 1) * sizeof(uint64_t);
	void	   *zeros = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const EmogiGraph old = {.nvertices = EMOGI_MAX_VERTICES, .ids = zeros, .forward = {.offsets = zeros}};
	const EmogiEdgeChange change = {5, 5, 0, 1};
	const EmogiMergeInput input = {.graph = &old, .nchanges = 1, .changes = &change, .memory = blocks[0], .scratch = splice_scratch};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiGraph	graph;

	if (zeros == MAP_FAILED)
		return;
	CHECK(emogi_merge(pools[0], &input, &graph, &control, &error) == EMOGI_BAD_INPUT &&
		  strstr(error.message, "vertices") != NULL, "too many vertices");
	munmap(zeros, bytes);
}

int
main(int argc, char **argv)
{
	const uint64_t nhistories = argc > 1 ? strtoull(argv[1], NULL, 10) : NHISTORIES;
	const uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	History		history = open_history();

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
	if (is_torn_noticed())
		check_torn(&history);
	check_types(&history);
	check_parallel(&history, false);
	check_parallel(&history, true);
	close_history(&history);
	return check_report("test_merge");
}
