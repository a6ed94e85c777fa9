/*
 * test_find_key.c: tests of emogi_graph_vertex on arrays of keys of all distributions: dense, with
 * few or many gaps, sparse, exponentially spaced, clustered, and at both ends of the range of
 * integers
 */
#include "check.h"
#include "naive.h"

#include "contract/builder.h"
#include "threads/pool.h"

#include <stdlib.h>

#define NKINDS 7
#define NSEEDS 40

/* Return the distance of key i to the one before. */
static uint64_t
gap(int kind, uint64_t seed, uint64_t i)
{
	const uint64_t random = emogi_random(seed, i);

	switch (kind)
	{
		case 0:
			return 1;
		case 1:
			return random % 100 == 0 ? 2 : 1;
		case 2:
			return 1 + random % 10;
		case 3:
			return 1 + random % (UINT64_C(1) << 40);
		case 4:
			return i < 50 ? UINT64_C(1) << i : 1;
		case 5:
			return random % 200 == 0 ? 1 + random % (UINT64_C(1) << 50) : 1;
		default:
			return i == 1 ? UINT64_MAX - 2 * 4096 : 1 + random % 2;
	}
}

/* Look up all keys, their successors, and both ends of the range. */
static void
check_keys(const EmogiGraph *graph, int kind)
{
	uint64_t	nwrong = 0;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		const int64_t key = graph->ids[v];
		const bool	is_next = v + 1 < graph->nvertices && graph->ids[v + 1] == key + 1;

		nwrong += emogi_graph_vertex(graph, key) != v;
		if (key < INT64_MAX)
			nwrong += emogi_graph_vertex(graph, key + 1) !=
				(is_next ? (uint32_t) v + 1 : EMOGI_NO_VERTEX);
	}
	CHECK(nwrong == 0, "kind %d of %llu keys: %llu wrong", kind,
		  (unsigned long long) graph->nvertices, (unsigned long long) nwrong);
	CHECK(graph->nvertices == 0 || graph->ids[0] == INT64_MIN ||
		  emogi_graph_vertex(graph, INT64_MIN) == EMOGI_NO_VERTEX, "the smallest integer");
	CHECK(graph->nvertices == 0 || graph->ids[graph->nvertices - 1] == INT64_MAX ||
		  emogi_graph_vertex(graph, INT64_MAX) == EMOGI_NO_VERTEX, "the largest integer");
}

int
main(void)
{
	static const uint64_t counts[] = {0, 1, 2, 3, 8, 9, 100, 4096};
	static const int64_t firsts[] = {0, -5, INT64_MIN, 1000000007};

	for (int kind = 0; kind < NKINDS; kind++)
		for (uint64_t seed = 0; seed < NSEEDS; seed++)
		{
			const uint64_t n = counts[seed % 8];
			int64_t    *ids = naive_alloc(n, sizeof *ids);
			EmogiGraph	graph = {.nvertices = n, .ids = ids};
			uint64_t	key = (uint64_t) (kind == 6 ? INT64_MIN : firsts[seed / 8 % 4]);

			for (uint64_t v = 0; v < n; v++)
				ids[v] = (int64_t) (v == 0 ? key : (key += gap(kind, seed, v)));
			check_keys(&graph, kind);
			free(ids);
		}
	return check_report("test_find_key");
}
