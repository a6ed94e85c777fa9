/*
 * test_cycles.c: tests of the enumeration of cycles through a vertex against all cycles by the
 * definition, in the order of their lengths, edges, and vertices
 */
#include "build.h"
#include "engines.h"
#include "contract/cycles.h"
#include "contract/semirings.h"

#define MANY 6000
#define NTINY 3000
#define MOST_VERTICES 8
#define MOST_CYCLES 40000
#define ENOUGH (UINT64_C(1) << 40)
#define MAX_FAILURES 100

/* A cycle, without the source at its end. */
typedef struct Cycle
{
	double		distance;
	int			length;
	uint32_t	vertices[MOST_VERTICES + 1];
} Cycle;

/* All cycles through a vertex, by the definition. */
typedef struct All
{
	const EmogiGraph *graph;
	bool		both;
	int			max_length;
	Cycle		way;
	Cycle	   *cycles;			/* [ncycles of MOST_CYCLES] */
	uint64_t	ncycles;
} All;

/* Add all cycles that extend a path. */
static void
extend(All *all, double distance)
{
	const EmogiAdjacency *lists = &all->graph->forward;
	const uint32_t u = all->way.vertices[all->way.length - 1];

	for (uint64_t e = lists->offsets[u]; e < lists->offsets[u + 1]; e++)
	{
		const uint32_t v = lists->targets[e];
		const double value = distance + emogi_weight(lists->weights, all->graph->weight_type, e);
		bool		is_new = e == lists->offsets[u] || v != lists->targets[e - 1];

		if (!is_new || !(value < (double) INFINITY))
			continue;
		if (v == all->way.vertices[0] && all->way.length <= all->max_length &&
			!(all->both && (all->way.length == 2 || (all->way.length > 2 && all->way.vertices[1] > u))))
		{
			if (all->ncycles == MOST_CYCLES)
				abort();
			all->way.distance = value;
			all->cycles[all->ncycles++] = all->way;
		}
		for (int i = 0; i < all->way.length; i++)
			is_new = is_new && all->way.vertices[i] != v;
		if (!is_new)
			continue;
		all->way.vertices[all->way.length++] = v;
		extend(all, value);
		all->way.length--;
	}
}

static int
compare_cycles(const void *a, const void *b)
{
	const Cycle *x = a;
	const Cycle *y = b;

	if (x->length != y->length)
		return x->length - y->length;
	for (int i = 0; i < x->length; i++)
		if (x->vertices[i] != y->vertices[i])
			return x->vertices[i] < y->vertices[i] ? -1 : 1;
	return 0;
}

/* Compare the cycles through a vertex with the oracle's. */
static void
check_cycles(const char *name, const EmogiGraph *graph, uint32_t source, uint64_t max_length, Cycle *expected)
{
	const bool	both = graph->forward.targets == graph->backward.targets;
	All			all = {.graph = graph, .both = both, .max_length = (int) (max_length < 100 ? max_length : 100), .cycles = expected,
		.way = {.length = 1, .vertices = {source}}};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiCycles *cycles;
	EmogiCycle	found;
	uint64_t	i = 0;
	bool		same = true;

	extend(&all, 0.0);
	qsort(expected, all.ncycles, sizeof *expected, compare_cycles);
	if (emogi_cycles_begin(graph, NULL, source, max_length, both, ENOUGH, NULL, &cycles, &control, &error) != EMOGI_OK)
		abort();
	for (; emogi_cycles_next(cycles, &found) == EMOGI_OK && found.length > 0 && i < all.ncycles && same; i++)
	{
		same = found.length == (uint64_t) expected[i].length && found.vertices[found.length] == source &&
			found.distance[found.length] == expected[i].distance && found.distance[0] == 0.0 &&
			memcmp(found.vertices, expected[i].vertices, found.length * sizeof(uint32_t)) == 0;
		CHECK(same, "%s: through %u: cycle %llu of %llu has %llu edges, not %d", name, source, (unsigned long long) i,
			  (unsigned long long) all.ncycles, (unsigned long long) found.length, expected[i].length);
	}
	CHECK(!same || (found.length == 0 && i == all.ncycles), "%s: through %u: %llu cycles of %llu", name, source, (unsigned long long) i,
		  (unsigned long long) all.ncycles);
	emogi_cycles_free(cycles);
}

/* Check the cycles through some vertices of a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	Cycle	   *expected = malloc(MOST_CYCLES * sizeof *expected);

	for (uint64_t i = 0; graph->nvertices > 0 && i < 2; i++)
		check_cycles(name, graph, (uint32_t) (emogi_random(seed + 13, i) % graph->nvertices), i == 0 ? UINT64_MAX : 1 + seed % 6, expected);
	free(expected);
}

/* Check graphs of a few vertices, with repeated edges, self-loops, and infinite weights. */
static void
check_tiny(void)
{
	static const EmogiDirection directions[] = {EMOGI_OUT, EMOGI_IN, EMOGI_BOTH};

	for (uint64_t seed = 0; seed < NTINY; seed++)
	{
		const uint64_t nvertices = 1 + emogi_random(seed, 0) % MOST_VERTICES;
		EmogiEdge	edges[40];
		EmogiShape	shape = {.name = "tiny", .edges = edges, .nedges = 1 + emogi_random(seed, 1) % 40};

		for (uint64_t i = 0; i < shape.nedges; i++)
			edges[i] = (EmogiEdge) {(int64_t) (emogi_random(seed, 2 * i + 2) % nvertices), (int64_t) (emogi_random(seed, 2 * i + 3) % nvertices)};
		engines_check_graph(&shape, (int) (seed % NAIVE_KINDS), directions[seed / NAIVE_KINDS % 3], true, seed, check_graph);
	}
}

static int	npolls;

/* Stop at the second poll. */
static bool
poll_twice(void)
{
	return ++npolls > 1;
}

/* Find all cycles through vertex 0. */
static EmogiStatus
find_all(const EmogiGraph *graph, uint64_t max_length, uint64_t max_bytes, EmogiPoll poll, EmogiControl *control, EmogiError *error, uint64_t *count)
{
	EmogiCycles *cycles;
	EmogiCycle	cycle = {1, NULL, NULL};
	EmogiStatus status = emogi_cycles_begin(graph, NULL, 0, max_length, false, max_bytes, poll, &cycles, control, error);

	for (*count = 0; status == EMOGI_OK && cycle.length > 0; *count += status == EMOGI_OK && cycle.length > 0)
		status = emogi_cycles_next(cycles, &cycle);
	emogi_cycles_free(cycles);
	return status;
}

/* Check a long ring, a complete graph, failing allocations, and early stops. */
static void
check_ends(void)
{
	EmogiShape	ring = engines_chain(1000);
	EmogiShape	complete = {.name = "complete", .edges = malloc(30 * 30 * sizeof(EmogiEdge))};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiStatus status = EMOGI_NO_MEMORY;
	EmogiGraph	graph;
	uint64_t	count;
	uint32_t	n = 0;

	ring.edges[999].dst = 0;
	graph = naive_build(&ring, NULL, EMOGI_OUT, true);
	CHECK(find_all(&graph, UINT64_MAX, ENOUGH, NULL, &control, &error, &count) == EMOGI_OK && count == 1, "%llu cycles", (unsigned long long) count);
	CHECK(find_all(&graph, 999, ENOUGH, NULL, &control, &error, &count) == EMOGI_OK && count == 0, "%llu cycles", (unsigned long long) count);
	while (status == EMOGI_NO_MEMORY && n < MAX_FAILURES)
	{
		control = (EmogiControl) {.fail_allocation = ++n};
		status = find_all(&graph, UINT64_MAX, ENOUGH, NULL, &control, &error, &count);
		CHECK(status == EMOGI_OK || error.message[0] != '\0', "allocation %u", n);
	}
	CHECK(status == EMOGI_OK && n > 8, "status %d at allocation %u", status, n);
	control = (EmogiControl) {0};
	CHECK(find_all(&graph, UINT64_MAX, 6000, NULL, &control, &error, &count) == EMOGI_NO_MEMORY && error.detail[0] != '\0', "%s", error.detail);
	naive_free(&graph);
	for (int64_t i = 0; i < 900; i++)
		if (i / 30 != i % 30)
			complete.edges[complete.nedges++] = (EmogiEdge) {i / 30, i % 30};
	graph = naive_build(&complete, NULL, EMOGI_OUT, true);
	CHECK(find_all(&graph, 4, ENOUGH, NULL, &control, &error, &count) == EMOGI_OK && count == 29 + 29 * 28 + 29 * 28 * 27, "%llu cycles",
		  (unsigned long long) count);
	CHECK(find_all(&graph, 30, ENOUGH, poll_twice, &control, &error, &count) == EMOGI_CANCELED && npolls == 2, "%d looks", npolls);
	control.cancel = 1;
	CHECK(find_all(&graph, 30, ENOUGH, NULL, &control, &error, &count) == EMOGI_CANCELED && count == 0, "not canceled");
	naive_free(&graph);
	emogi_shape_free(&ring);
	emogi_shape_free(&complete);
}

/* Check more neighbors of the source than the hash table holds. */
static void
check_many(void)
{
	EmogiShape	wheel = {.name = "wheel", .edges = malloc(3 * MANY * sizeof(EmogiEdge))};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiGraph	graph;
	EmogiStatus status;
	uint64_t	count;

	for (int64_t i = 1; i <= MANY; i++)
	{
		wheel.edges[wheel.nedges++] = (EmogiEdge) {0, i};
		wheel.edges[wheel.nedges++] = (EmogiEdge) {i, 0};
		if (i < MANY)
			wheel.edges[wheel.nedges++] = (EmogiEdge) {i, i + 1};
	}
	graph = naive_build(&wheel, NULL, EMOGI_OUT, true);
	CHECK(find_all(&graph, 4, ENOUGH, NULL, &control, &error, &count) == EMOGI_OK && count == 3 * MANY - 3, "%llu cycles",
		  (unsigned long long) count);
	status = EMOGI_NO_MEMORY;
	for (uint32_t n = 1; status == EMOGI_NO_MEMORY && n < MAX_FAILURES; n++)
	{
		control = (EmogiControl) {.fail_allocation = n};
		status = find_all(&graph, 4, ENOUGH, NULL, &control, &error, &count);
		CHECK(status == EMOGI_OK || error.message[0] != '\0', "allocation %u", n);
	}
	CHECK(status == EMOGI_OK && count == 3 * MANY - 3, "status %d", status);
	control = (EmogiControl) {0};
	CHECK(find_all(&graph, 4, 60000, NULL, &control, &error, &count) == EMOGI_NO_MEMORY, "%llu cycles", (unsigned long long) count);
	naive_free(&graph);
	emogi_shape_free(&wheel);
}

/*
 * Return the edges scanned by a search for all cycles of at most 3 edges through vertex 0, of which
 * there must be `expected`.
 */
static uint64_t
count_scanned(EmogiShape *shape, uint64_t expected)
{
	EmogiGraph	graph = naive_build(shape, NULL, EMOGI_OUT, true);
	EmogiControl control = {0};
	EmogiError	error;
	EmogiCycles *cycles;
	EmogiCycle	cycle = {1, NULL, NULL};
	uint64_t	count = 0;
	uint64_t	scanned;

	if (emogi_cycles_begin(&graph, NULL, 0, 3, false, ENOUGH, NULL, &cycles, &control, &error) != EMOGI_OK)
		abort();
	for (; emogi_cycles_next(cycles, &cycle) == EMOGI_OK && cycle.length > 0; count++)
		;
	CHECK(count == expected, "%s: %llu cycles of %llu", shape->name, (unsigned long long) count, (unsigned long long) expected);
	scanned = emogi_cycles_edges_scanned(cycles);
	emogi_cycles_free(cycles);
	naive_free(&graph);
	return scanned;
}

/*
 * Check that edges which no cycle of the maximum length can use are not read: those to predecessors
 * of the source, if they outnumber those from its successors, and vice versa.
 */
static void
check_sides(void)
{
	EmogiShape	in = {.name = "many edges in", .edges = malloc((MANY + 4) * sizeof(EmogiEdge))};
	EmogiShape	out = {.name = "many edges out", .edges = malloc((MANY + 4) * sizeof(EmogiEdge))};
	uint64_t	scanned;

	in.edges[in.nedges++] = (EmogiEdge) {0, 1};
	in.edges[in.nedges++] = (EmogiEdge) {1, 2};
	in.edges[in.nedges++] = (EmogiEdge) {2, 0};
	for (int64_t i = 3; i < MANY; i++)
		in.edges[in.nedges++] = (EmogiEdge) {i, 2};
	scanned = count_scanned(&in, 1);
	CHECK(scanned < 30, "%llu edges", (unsigned long long) scanned);
	for (uint64_t i = 0; i < in.nedges; i++)
		out.edges[out.nedges++] = (EmogiEdge) {in.edges[i].dst, in.edges[i].src};
	/* the vertex with many edges is not on a cycle, and must not be reached */
	out.edges[2] = (EmogiEdge) {1, 0};
	out.edges[1] = (EmogiEdge) {3, 1};
	out.edges[0] = (EmogiEdge) {0, 3};
	out.edges[out.nedges++] = (EmogiEdge) {0, 2};
	scanned = count_scanned(&out, 1);
	CHECK(scanned < 30, "%llu edges", (unsigned long long) scanned);
	emogi_shape_free(&in);
	emogi_shape_free(&out);
}

int
main(void)
{
	check_tiny();
	check_ends();
	check_many();
	check_sides();
	return check_report("test_cycles");
}
