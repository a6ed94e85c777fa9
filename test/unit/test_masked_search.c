/*
 * test_masked_search.c: tests of searches with an edge filter against sequential BFS on a graph of
 * the passing edges only
 */
#include "check.h"
#include "contract/edge_mask.h"
#include "contract/local_search.h"
#include "contract/semirings.h"
#include "cpu/cpu.h"
#include "naive.h"
#include "oracle.h"
#include "shapes.h"

#define NRANDOM 150
#define NENGINES 3
#define MAX_SOURCES 40
#define QUERIES 6
#define RANGE 1000				/* of values */

static const EmogiEngine *engine;
static EmogiEngineState *states[NENGINES];	/* of 1, 2 and 5 threads */
static uint64_t nabsent;		/* sources without a passing edge */
static uint64_t nsearched;		/* searches that read all edges to detect these */
static uint64_t nlazy;			/* searches that did not evaluate the whole mask */
static uint64_t nreversed;		/* searches that read reverse lists */
static uint64_t ngave_up;		/* local searches that gave up */

/*
 * A graph whose weights are the numbers of its edges, a column of it, and a graph of the edges that
 * pass.
 */
typedef struct Masked
{
	const EmogiShape *shape;
	EmogiDirection direction;
	EmogiBuiltGraph built;
	EmogiProperty columns[2];	/* in the order of the forward and of the reverse lists */
	EmogiProperties properties[2];
	bool		has_backward;	/* there is a column for the reverse lists */
	void	   *memory[2];		/* of the columns */
	EmogiFilterStep steps[4];
	EmogiEdgeFilter filter;
	EmogiBuiltGraph passing;
	void	   *mask_memory[2];
} Masked;

static EmogiPool *
get_pool(void)
{
	return emogi_cpu_engine_pool(states[1]);
}

/* Return the value of an edge; some are NULL. */
static int64_t
value_of(uint64_t seed, uint64_t row, bool *is_null)
{
	const uint64_t bits = emogi_random(seed + 31, row);

	*is_null = bits % 17 == 0;
	return (int64_t) ((bits >> 8) % RANGE);
}

/* Build a graph, weighted by the numbers of its edges if they are given. */
static EmogiBuiltGraph
build(const EmogiEdge *edges, const double *numbers, uint64_t nedges, EmogiDirection direction, bool with_backward)
{
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;
	const bool	filled = numbers != NULL
		? emogi_edge_set_fill_weighted(&set, edges, numbers, nedges, EMOGI_CHUNK_WEIGHTED_EDGES)
		: emogi_edge_set_fill(&set, edges, nedges, EMOGI_CHUNK_EDGES);

	if (!filled || emogi_build_graph(get_pool(), &set.edges, direction, with_backward, &built, &control, &error) != EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/*
 * Make the filter: value < limit, with a second condition for an odd seed. Also builds the graph of
 * the edges that pass.
 */
static void
make_filter(Masked *masked, int64_t limit, uint64_t seed)
{
	const EmogiShape *shape = masked->shape;
	const bool	twice = seed % 2 == 1;
	EmogiEdge  *edges = naive_alloc(shape->nedges, sizeof(EmogiEdge));
	uint64_t	count = 0;

	masked->steps[0] = (EmogiFilterStep) {.kind = EMOGI_FILTER_RANGE, .low = 0, .high = limit - 1};
	masked->steps[1] = (EmogiFilterStep) {.kind = EMOGI_FILTER_SKIP_AND, .skipped = 2};
	masked->steps[2] = (EmogiFilterStep) {.kind = EMOGI_FILTER_RANGE, .low = 3, .high = RANGE};
	masked->steps[3] = (EmogiFilterStep) {.kind = EMOGI_FILTER_AND};
	masked->filter = (EmogiEdgeFilter) {twice ? 4 : 1, masked->steps};
	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		bool		is_null;
		const int64_t value = value_of(seed, i, &is_null);

		if (!is_null && value < limit && (!twice || value >= 3))
			edges[count++] = shape->edges[i];
	}
	masked->passing = build(edges, NULL, count, masked->direction, false);
	free(edges);
}

/* Fill the column of adjacency lists from rows, and allocate its bitmap. */
static void
fill_lists(Masked *masked, int which, const EmogiAdjacency *lists, const EmogiPropertyRows *rows)
{
	EmogiControl control = {0};
	EmogiError	error;

	masked->columns[which].type = EMOGI_PROPERTY_I16;
	masked->memory[which] = naive_alloc(emogi_properties_bytes(EMOGI_PROPERTY_I16, true, lists->nedges), 1);
	if (emogi_properties_fill(get_pool(), lists, masked->built.graph.weight_type, rows, masked->memory[which],
							&masked->columns[which], &control, &error) != EMOGI_OK)
		abort();
	masked->mask_memory[which] = naive_alloc(emogi_edge_mask_bytes(lists->nedges), 1);
}

/* Build a graph and its columns. */
static Masked
make_masked(const EmogiShape *shape, EmogiDirection direction, bool with_backward, bool has_columns, int64_t limit,
			uint64_t seed)
{
	Masked		masked = {.shape = shape, .direction = direction};
	const uint64_t n = shape->nedges;
	double	   *numbers = naive_alloc(n, sizeof(double));
	int64_t    *values = naive_alloc(n, sizeof(int64_t));
	uint64_t   *nulls = naive_alloc(emogi_bitmap_words(n), sizeof(uint64_t));
	EmogiPropertyRows rows = {values, nulls};

	for (uint64_t i = 0; i < n; i++)
	{
		bool		is_null;

		numbers[i] = (double) i;
		values[i] = value_of(seed, i, &is_null);
		nulls[i / 64] |= (uint64_t) is_null << (i % 64);
	}
	masked.built = build(shape->edges, numbers, n, direction, with_backward);
	fill_lists(&masked, 0, &masked.built.graph.forward, &rows);
	masked.has_backward = with_backward && direction != EMOGI_BOTH && has_columns;
	if (masked.has_backward)
		fill_lists(&masked, 1, &masked.built.graph.backward, &rows);
	make_filter(&masked, limit, seed);
	free(numbers);
	free(values);
	free(nulls);
	return masked;
}

static void
free_masked(Masked *masked)
{
	emogi_built_graph_free(&masked->built);
	emogi_built_graph_free(&masked->passing);
	for (int i = 0; i < 2; i++)
	{
		free(masked->memory[i]);
		free(masked->mask_memory[i]);
	}
}

/* Begin the bitmap of adjacency lists, in memory filled with other bytes. */
static void
begin_lists(Masked *masked, int which, const EmogiAdjacency *lists, EmogiMaskedLists *begun)
{
	EmogiError	error;

	masked->properties[which] = (EmogiProperties) {lists->nedges, 1, &masked->columns[which]};
	memset(masked->mask_memory[which], 0x5A, emogi_edge_mask_bytes(lists->nedges));
	if (emogi_edge_mask_begin(&masked->filter, &masked->properties[which], masked->mask_memory[which], begun, &error) !=
		EMOGI_OK)
		abort();
}

/* Begin a mask. */
static EmogiEdgeMask
begin_mask(Masked *masked)
{
	EmogiEdgeMask mask = {.is_symmetric = masked->direction == EMOGI_BOTH};

	masked->filter.steps = masked->steps;
	begin_lists(masked, 0, &masked->built.graph.forward, &mask.forward);
	if (masked->has_backward)
		begin_lists(masked, 1, &masked->built.graph.backward, &mask.backward);
	return mask;
}

/* Return the number of a vertex in the graph of passing edges; EMOGI_NO_VERTEX = it has none. */
static uint32_t
passing_vertex(const Masked *masked, uint32_t v)
{
	const EmogiGraph *graph = &masked->built.graph;

	return emogi_graph_vertex(&masked->passing.graph, graph->ids != NULL ? graph->ids[v] : (int64_t) v);
}

/*
 * Fill expected[nvertices] by sequential BFS on the graph of passing edges; returns the number of
 * reached vertices.
 */
static uint64_t
search_naively(const Masked *masked, const EmogiQuery *query, int32_t *expected, uint32_t *nlevels, uint64_t *npresent)
{
	const EmogiGraph *graph = &masked->passing.graph;
	int32_t    *level = naive_alloc(graph->nvertices, sizeof(int32_t));
	uint32_t   *sources = naive_alloc(query->nsources, sizeof(uint32_t));
	EmogiQuery	present = *query;
	uint64_t	nreached;

	present.sources = sources;
	present.nsources = 0;
	for (uint64_t i = 0; i < query->nsources; i++)
	{
		const uint32_t v = passing_vertex(masked, query->sources[i]);

		if (v != EMOGI_NO_VERTEX)
			sources[present.nsources++] = v;
	}
	*npresent = present.nsources;
	nabsent += query->nsources - present.nsources;
	nreached = oracle_bfs(graph, &present, level);
	*nlevels = 0;
	for (uint32_t v = 0; v < masked->built.graph.nvertices; v++)
	{
		const uint32_t there = passing_vertex(masked, v);

		expected[v] = there == EMOGI_NO_VERTEX ? -1 : level[there];
		if (expected[v] >= (int32_t) *nlevels)
			*nlevels = (uint32_t) expected[v] + 1;
	}
	free(level);
	free(sources);
	return nreached;
}

/* Run a query with a mask on an engine, and check the answer. */
static void
check_run(const char *name, const Masked *masked, const EmogiQuery *query, int e, const int32_t *expected, uint64_t nreached,
		  uint32_t nlevels)
{
	const EmogiGraph *graph = &masked->built.graph;
	const size_t bytes = graph->nvertices * sizeof(int32_t);
	int32_t    *level = malloc(bytes + 4);
	EmogiResult result = {.columns[0].int32 = level};
	EmogiControl control = {0};
	EmogiError	error = {0};
	EmogiStatus status;

	memset(level, 0x55, bytes + 4);
	status = engine->run(states[e], graph, query, &result, &control, &error);
	CHECK(status == EMOGI_OK, "%s: status %d, %s", name, status, error.message);
	CHECK(memcmp(level, expected, bytes) == 0, "%s: engine %d, %llu sources, max depth %lld", name, e,
		  (unsigned long long) query->nsources, (long long) query->max_depth);
	CHECK(level[graph->nvertices] == 0x55555555, "%s: wrote beyond the end", name);
	CHECK(result.nreached == nreached && result.nlevels == nlevels, "%s: reached %llu, not %llu, on %u levels, not %u", name,
		  (unsigned long long) result.nreached, (unsigned long long) nreached, result.nlevels, nlevels);
	free(level);
}

/* Check the levels of a few targets in a search from the same sources. */
static void
check_targets(const char *name, const Masked *masked, const EmogiQuery *query, int e, const int32_t *expected)
{
	const EmogiGraph *graph = &masked->built.graph;
	uint32_t	targets[3];
	EmogiQuery	near = *query;
	int32_t    *level = malloc((graph->nvertices + 1) * sizeof(int32_t));
	EmogiResult result = {.columns[0].int32 = level};
	EmogiControl control = {0};
	EmogiError	error = {0};
	uint64_t	ndifferent = 0;

	near.targets = targets;
	near.ntargets = 3;
	for (uint64_t i = 0; i < 3; i++)
		targets[i] = (uint32_t) (emogi_random(graph->forward.nedges + query->nsources, i) % graph->nvertices);
	CHECK(engine->run(states[e], graph, &near, &result, &control, &error) == EMOGI_OK, "%s: %s", name, error.message);
	for (uint64_t i = 0; i < 3; i++)
		ndifferent += level[targets[i]] != expected[targets[i]];
	CHECK(ndifferent == 0, "%s: %llu targets differ", name, (unsigned long long) ndifferent);
	free(level);
}

/* Check the local search. */
static void
check_local(const char *name, const Masked *masked, const EmogiQuery *query, const int32_t *expected, uint64_t nreached)
{
	const bool	sees_all = masked->direction == EMOGI_BOTH || masked->has_backward;
	EmogiLocalAnswer answer;
	uint64_t	ndifferent = 0;

	if (emogi_local_search(&masked->built.graph, NULL, query, UINT32_MAX, &answer) == EMOGI_LOCAL_GAVE_UP)
	{
		CHECK(!sees_all, "%s: a local search gave up", name);
		ngave_up++;
		return;
	}
	for (uint64_t i = 0; i < answer.count; i++)
		ndifferent += expected[answer.vertices[i]] != (int32_t) answer.values[i];
	CHECK(answer.count == nreached && ndifferent == 0, "%s: local search, %llu vertices, not %llu, %llu differ", name,
		  (unsigned long long) answer.count, (unsigned long long) nreached, (unsigned long long) ndifferent);
	emogi_local_search_free(&answer);
}

/*
 * Run a query on all engines: with a mask without evaluated words, with the same mask as the first
 * run left it, and with a complete one.
 */
static void
check_query(const char *name, Masked *masked, EmogiQuery query)
{
	const EmogiGraph *graph = &masked->built.graph;
	int32_t    *expected = malloc((graph->nvertices + 1) * sizeof(int32_t));
	uint32_t	nlevels;
	uint64_t	npresent;
	const uint64_t nreached = search_naively(masked, &query, expected, &nlevels, &npresent);
	EmogiControl control = {0};

	for (int e = 0; e < NENGINES; e++)
	{
		EmogiEdgeMask mask = begin_mask(masked);

		query.mask = &mask;
		check_run(name, masked, &query, e, expected, nreached, nlevels);
		nlazy += mask.forward.known != NULL;
		nreversed += mask.backward.properties != NULL && mask.backward.known == NULL;
		nsearched += npresent < query.nsources && mask.backward.properties == NULL && !mask.is_symmetric;
		if (graph->nvertices > 0)
			check_targets(name, masked, &query, e, expected);
		check_run(name, masked, &query, e, expected, nreached, nlevels);
	}
	{
		EmogiEdgeMask mask = begin_mask(masked);

		query.mask = &mask;
		check_local(name, masked, &query, expected, nreached);
		CHECK(emogi_edge_mask_complete(get_pool(), &mask.forward, &control) == EMOGI_OK && mask.forward.known == NULL,
			  "complete");
		check_local(name, masked, &query, expected, nreached);
		check_run(name, masked, &query, 1, expected, nreached, nlevels);
	}
	free(expected);
}

/* Check queries on a shape in a direction. */
static void
check_graph(const EmogiShape *shape, EmogiDirection direction, bool with_backward, bool has_columns, int64_t limit,
			uint64_t seed)
{
	uint32_t	sources[MAX_SOURCES];
	Masked		masked = make_masked(shape, direction, with_backward, has_columns, limit, seed);

	for (uint64_t i = 0; i < QUERIES; i++)
		check_query(shape->name, &masked, oracle_query(&masked.built.graph, seed, i, sources, MAX_SOURCES));
	free_masked(&masked);
}

/*
 * Check a shape in all directions, with and without the transpose, and with filters of different
 * selectivity.
 */
static void
check_shape(EmogiShape *shape, uint64_t seed)
{
	static const int64_t limits[] = {500, 50, 1, RANGE, 0, 900};
	const int64_t limit = limits[seed % 6];

	check_graph(shape, EMOGI_OUT, false, false, limit, seed);
	check_graph(shape, EMOGI_OUT, true, true, limit, seed);
	check_graph(shape, EMOGI_OUT, true, false, limit, seed + 1);
	check_graph(shape, EMOGI_IN, true, true, limit, seed + 2);
	check_graph(shape, EMOGI_BOTH, false, false, limit, seed + 3);
	emogi_shape_free(shape);
}

/* Copy the edges of a generated graph to a shape. */
static EmogiShape
generate(EmogiGenerator generator, int scale)
{
	EmogiShape	shape = {.name = "large"};
	EmogiEdgeSet set;

	if (!emogi_generate_edges(get_pool(), generator, scale, 16, 7, &set))
		abort();
	shape.edges = malloc(set.edges.nedges * sizeof(EmogiEdge));
	for (uint64_t c = 0; c < set.edges.nchunks; c++)
	{
		memcpy(shape.edges + shape.nedges, set.chunks[c]->edges, set.chunks[c]->nedges * sizeof(EmogiEdge));
		shape.nedges += set.chunks[c]->nedges;
	}
	emogi_edge_set_free(&set);
	return shape;
}

/*
 * Check that algorithms without support for masks refuse them, and that the mask of another graph
 * is refused.
 */
static void
check_refused(void)
{
	EmogiShape	shape = generate(EMOGI_URAND, 8);
	Masked		masked = make_masked(&shape, EMOGI_OUT, true, true, 500, 1);
	EmogiEdgeMask mask = begin_mask(&masked);
	uint32_t	source = 0;
	double	   *values = naive_alloc(masked.built.graph.nvertices, sizeof(double));
	EmogiQuery	query = {.algorithm = EMOGI_SSSP, .nsources = 1, .sources = &source, .ntargets = 0, .max_depth = -1,
		.max_distance = INFINITY, .mask = &mask};
	EmogiResult result = {.columns[0].float64 = values};
	EmogiControl control = {0};
	EmogiError	error = {0};
	EmogiLocalAnswer answer;
	EmogiProperties others = {.nedges = shape.nedges - 1};

	CHECK(engine->run(states[0], &masked.built.graph, &query, &result, &control, &error) == EMOGI_UNSUPPORTED, "SSSP");
	CHECK(engine->msbfs(states[0], &masked.built.graph, &query, NULL, &control, &error) == EMOGI_UNSUPPORTED, "msbfs");
	CHECK(engine->path(states[0], &masked.built.graph, &query, 0, 0, NULL, &control, &error) == EMOGI_UNSUPPORTED, "path");
	CHECK(emogi_local_search(&masked.built.graph, NULL, &query, 1000, &answer) == EMOGI_LOCAL_GAVE_UP, "local SSSP");
	query.algorithm = EMOGI_BFS;
	mask.forward.properties = &others;
	CHECK(engine->run(states[0], &masked.built.graph, &query, &result, &control, &error) == EMOGI_BAD_INPUT, "another graph");
	mask.forward.properties = &masked.properties[0];
	mask.backward.properties = &others;
	CHECK(engine->run(states[0], &masked.built.graph, &query, &result, &control, &error) == EMOGI_BAD_INPUT, "another graph");
	masked.filter.nsteps = 0;
	CHECK(emogi_edge_mask_begin(&masked.filter, &masked.properties[0], masked.mask_memory[0], &mask.forward, &error) ==
		  EMOGI_BAD_INPUT, "an empty filter");
	masked.filter.nsteps = 1;
	mask = begin_mask(&masked);
	control.cancel = 1;
	CHECK(engine->run(states[1], &masked.built.graph, &query, &result, &control, &error) == EMOGI_CANCELED, "canceled");
	CHECK(emogi_edge_mask_complete(get_pool(), &mask.forward, &control) == EMOGI_CANCELED && mask.forward.known != NULL,
		  "canceled");
	free(values);
	free_masked(&masked);
	emogi_shape_free(&shape);
}

int
main(void)
{
	static const int threads[NENGINES] = {1, 2, 5};

	engine = emogi_cpu_engine();
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiEngineOptions options = {.cpu_threads = threads[e]};
		EmogiError	error;

		if (engine->open(&options, &states[e], &error) != EMOGI_OK)
			abort();
	}
	check_refused();
	for (int which = 0; which < emogi_shape_count(); which++)
		for (uint64_t seed = 0; seed < 6; seed++)
		{
			EmogiShape	shape;

			if (!emogi_shape_make(which, &shape))
				abort();
			if (shape.nedges <= 100000 || seed == 0)
				check_shape(&shape, seed);
			else
				emogi_shape_free(&shape);
		}
	for (uint64_t seed = 1; seed <= NRANDOM; seed++)
	{
		EmogiShape	shape;

		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, seed);
	}
	for (uint64_t seed = 0; seed < 3; seed++)
	{
		EmogiShape	kron = generate(EMOGI_KRON, 15);
		EmogiShape	urand = generate(EMOGI_URAND, 14);

		check_shape(&kron, seed);
		check_shape(&urand, seed + 3);
	}
	CHECK(nabsent > 1000 && nsearched > 100 && nlazy > 1000 && nreversed > 1000 && ngave_up > 100,
		  "%llu absent sources, %llu searched, %llu lazy, %llu reversed, %llu gave up", (unsigned long long) nabsent,
		  (unsigned long long) nsearched, (unsigned long long) nlazy, (unsigned long long) nreversed,
		  (unsigned long long) ngave_up);
	for (int e = 0; e < NENGINES; e++)
		engine->close(states[e]);
	return check_report("test_masked_search");
}
