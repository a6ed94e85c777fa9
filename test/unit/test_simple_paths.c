/*
 * test_simple_paths.c: simple paths come in the order of all that there are, by their edges and their vertices, within the bounds.
 */
#include "build.h"
#include "engines.h"
#include "contract/semirings.h"
#include "contract/simple_paths.h"

#define NTINY 6000
#define MOST_VERTICES 8
#define MOST_PATHS 60000
#define ENOUGH (UINT64_C(1) << 40)
#define MAX_FAILURES 100

/* A path. */
typedef struct Path
{
	double		distance;
	int			nvertices;
	uint32_t	vertices[MOST_VERTICES];
} Path;

/* All paths, by the definition. */
typedef struct All
{
	const EmogiSimplePathsQuery *query;
	Path		way;
	Path	   *paths;			/* [npaths of MOST_PATHS] */
	uint64_t	npaths;
} All;

/* Add all paths that go on from the last vertex of a way, and the way itself. */
static void
extend(All *all, double distance)
{
	const EmogiGraph *graph = all->query->graph;
	const EmogiAdjacency *lists = &graph->forward;
	const uint32_t u = all->way.vertices[all->way.nvertices - 1];
	bool		is_target = false;

	for (uint64_t i = 0; i < all->query->ntargets; i++)
		is_target |= all->query->targets[i] == u;
	if (is_target && distance <= all->query->max_cost && (uint64_t) all->way.nvertices - 1 <= all->query->max_depth)
	{
		if (all->npaths == MOST_PATHS)
			abort();
		all->way.distance = distance;
		all->paths[all->npaths++] = all->way;
	}
	for (uint64_t e = lists->offsets[u]; e < lists->offsets[u + 1]; e++)
	{
		const uint32_t v = lists->targets[e];
		const double value = distance + emogi_weight(lists->weights, graph->weight_type, e);
		bool		is_new = e == lists->offsets[u] || v != lists->targets[e - 1];

		for (int i = 0; i < all->way.nvertices; i++)
			is_new = is_new && all->way.vertices[i] != v;
		if (!is_new || !(value < (double) INFINITY))
			continue;
		all->way.vertices[all->way.nvertices++] = v;
		extend(all, value);
		all->way.nvertices--;
	}
}

static int
compare_paths(const void *a, const void *b)
{
	const Path *x = a;
	const Path *y = b;

	if (x->nvertices != y->nvertices)
		return x->nvertices - y->nvertices;
	for (int i = 0; i < x->nvertices; i++)
		if (x->vertices[i] != y->vertices[i])
			return x->vertices[i] < y->vertices[i] ? -1 : 1;
	return 0;
}

static uint64_t nbounded;

/* Compare the paths of a query with all that there are. */
static void
check_paths(const char *name, const EmogiSimplePathsQuery *query, Path *expected)
{
	All			all = {.query = query, .paths = expected, .way = {.nvertices = 1, .vertices = {query->source}}};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiSimplePaths *paths;
	EmogiSimplePath found;
	uint64_t	i = 0;
	bool		same = true;

	extend(&all, 0.0);
	qsort(expected, all.npaths, sizeof *expected, compare_paths);
	if (emogi_simple_paths_begin(query, &paths, &control, &error) != EMOGI_OK)
		abort();
	for (; emogi_simple_paths_next(paths, &found) == EMOGI_OK && found.nvertices > 0 && i < all.npaths && same; i++)
	{
		same = found.nvertices == (uint64_t) expected[i].nvertices && found.distance[found.nvertices - 1] == expected[i].distance &&
			found.distance[0] == 0.0 && memcmp(found.vertices, expected[i].vertices, found.nvertices * sizeof(uint32_t)) == 0;
		CHECK(same, "%s: from %u: path %llu of %llu has %llu vertices, not %d", name, query->source, (unsigned long long) i,
			  (unsigned long long) all.npaths, (unsigned long long) found.nvertices, expected[i].nvertices);
	}
	CHECK(!same || (found.nvertices == 0 && i == all.npaths), "%s: from %u: %llu paths of %llu", name, query->source, (unsigned long long) i,
		  (unsigned long long) all.npaths);
	nbounded += query->max_cost < (double) INFINITY && all.npaths > 1;
	emogi_simple_paths_free(paths);
}

/* Compare the paths between some vertices of a graph. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	Path	   *expected = malloc(MOST_PATHS * sizeof *expected);

	for (uint64_t i = 0; graph->nvertices > 0 && i < 4; i++)
	{
		uint32_t	targets[3];
		EmogiSimplePathsQuery query = {.graph = graph, .targets = targets, .ntargets = 1 + (seed + i) % 3, .max_depth = UINT64_MAX,
			.max_cost = (double) INFINITY, .max_bytes = ENOUGH, .source = (uint32_t) (emogi_random(seed + 13, i) % graph->nvertices)};

		for (uint64_t t = 0; t < 3; t++)
			targets[t] = (uint32_t) (emogi_random(seed + 17, 3 * i + t) % graph->nvertices);
		if (i % 2 == 1)
			query.max_depth = emogi_random(seed, i) % 7;
		if (i > 1)
			query.max_cost = (double) (emogi_random(seed, 70 + i) % 300) * (graph->weight_type == EMOGI_WEIGHT_NONE ? 0.02 : 1.0);
		check_paths(name, &query, expected);
	}
	free(expected);
}

/* A few vertices with edges: repeated ones, self-loops, ways that are impassable. */
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

/* Stop at the second look. */
static bool
poll_twice(void)
{
	return ++npolls > 1;
}

/* Count the paths from vertex 0 to a target, and the edges scanned. */
static EmogiStatus
find_all(const EmogiGraph *graph, uint32_t target, uint64_t max_depth, double max_cost, uint64_t max_bytes, EmogiPoll poll, EmogiControl *control,
		 EmogiError *error, uint64_t *count, uint64_t *scanned)
{
	const EmogiSimplePathsQuery query = {.graph = graph, .targets = &target, .ntargets = 1, .max_depth = max_depth, .max_cost = max_cost,
		.max_bytes = max_bytes, .poll = poll};
	EmogiSimplePaths *paths;
	EmogiSimplePath path = {1, NULL, NULL};
	EmogiStatus status = emogi_simple_paths_begin(&query, &paths, control, error);

	for (*count = 0; status == EMOGI_OK && path.nvertices > 0; *count += status == EMOGI_OK && path.nvertices > 0)
		status = emogi_simple_paths_next(paths, &path);
	*scanned = paths != NULL ? emogi_simple_paths_edges_scanned(paths) : 0;
	emogi_simple_paths_free(paths);
	return status;
}

/* A long chain with a detour, all vertices with each other, memory, and ends before the end. */
static void
check_ends(void)
{
	EmogiShape	chain = engines_chain(2000);
	EmogiShape	complete = {.name = "complete", .edges = malloc(900 * sizeof(EmogiEdge))};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiGraph	graph;
	uint64_t	count;
	uint64_t	scanned;

	chain.edges[0] = (EmogiEdge) {0, 2000};	/* paths of 1 and of 2000 edges */
	chain.edges = realloc(chain.edges, 2001 * sizeof *chain.edges);
	chain.edges[chain.nedges++] = (EmogiEdge) {0, 1};
	graph = naive_build(&chain, NULL, EMOGI_OUT, true);
	CHECK(find_all(&graph, 2000, UINT64_MAX, (double) INFINITY, ENOUGH, NULL, &control, &error, &count, &scanned) == EMOGI_OK && count == 2,
		  "%llu paths", (unsigned long long) count);
	CHECK(scanned < 20000, "%llu edges for a path of 2000", (unsigned long long) scanned);
	CHECK(find_all(&graph, 2000, 1999, (double) INFINITY, ENOUGH, NULL, &control, &error, &count, &scanned) == EMOGI_OK && count == 1,
		  "%llu paths", (unsigned long long) count);
	CHECK(find_all(&graph, 2000, UINT64_MAX, 1999.0, ENOUGH, NULL, &control, &error, &count, &scanned) == EMOGI_OK && count == 1,
		  "%llu paths", (unsigned long long) count);
	for (int i = 0; i < 2; i++)
	{
		EmogiStatus status = EMOGI_NO_MEMORY;
		uint32_t	n = 0;

		while (status == EMOGI_NO_MEMORY && n < MAX_FAILURES)
		{
			control = (EmogiControl) {.fail_allocation = ++n};
			status = find_all(&graph, 2000, UINT64_MAX, i == 0 ? (double) INFINITY : 2000.0, ENOUGH, NULL, &control, &error, &count, &scanned);
			CHECK(status == EMOGI_OK || error.message[0] != '\0', "allocation %u", n);
		}
		CHECK(status == EMOGI_OK && count == 2 && n > 8, "status %d at allocation %u", status, n);
	}
	control = (EmogiControl) {0};
	CHECK(find_all(&graph, 2000, UINT64_MAX, (double) INFINITY, 6000, NULL, &control, &error, &count, &scanned) == EMOGI_NO_MEMORY &&
		  error.detail[0] != '\0', "%s", error.detail);
	naive_free(&graph);
	for (int64_t i = 0; i < 900; i++)
		if (i / 30 != i % 30)
			complete.edges[complete.nedges++] = (EmogiEdge) {i / 30, i % 30};
	graph = naive_build(&complete, NULL, EMOGI_OUT, true);
	CHECK(find_all(&graph, 29, 3, (double) INFINITY, ENOUGH, NULL, &control, &error, &count, &scanned) == EMOGI_OK && count == 1 + 28 + 28 * 27,
		  "%llu paths", (unsigned long long) count);
	CHECK(find_all(&graph, 29, 30, (double) INFINITY, ENOUGH, poll_twice, &control, &error, &count, &scanned) == EMOGI_CANCELED && npolls == 2,
		  "%d looks", npolls);
	control.cancel = 1;
	CHECK(find_all(&graph, 29, 30, (double) INFINITY, ENOUGH, NULL, &control, &error, &count, &scanned) == EMOGI_CANCELED && count == 0,
		  "not canceled");
	naive_free(&graph);
	emogi_shape_free(&chain);
	emogi_shape_free(&complete);
}

/* Edges that no path needs are not read: those to a vertex before the target, if they are more than those from the first vertices. */
static void
check_sides(void)
{
	EmogiShape	in = {.name = "many edges in", .edges = malloc(6004 * sizeof(EmogiEdge))};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiGraph	graph;
	uint64_t	count;
	uint64_t	scanned;

	in.edges[in.nedges++] = (EmogiEdge) {0, 1};
	in.edges[in.nedges++] = (EmogiEdge) {1, 2};
	in.edges[in.nedges++] = (EmogiEdge) {2, 3};
	for (int64_t i = 4; i < 6000; i++)
		in.edges[in.nedges++] = (EmogiEdge) {i, 2};
	graph = naive_build(&in, NULL, EMOGI_OUT, true);
	CHECK(find_all(&graph, 3, 3, (double) INFINITY, ENOUGH, NULL, &control, &error, &count, &scanned) == EMOGI_OK && count == 1 && scanned < 30,
		  "%llu paths, %llu edges", (unsigned long long) count, (unsigned long long) scanned);
	naive_free(&graph);
	emogi_shape_free(&in);
}

int
main(void)
{
	check_tiny();
	check_ends();
	check_sides();
	CHECK(nbounded > 1000, "%llu with a bound", (unsigned long long) nbounded);
	return check_report("test_simple_paths");
}
