/*
 * test_msbfs.c: tests of multi-source BFS against sequential BFS from each source, for any number
 * of threads
 */
#include "cpu/cpu.h"
#include "cpu/msbfs.h"
#include "engines.h"
#include "oracle.h"

#define NRANDOM 150
#define GUARD 0x55
#define GUARD_BYTES 64

/* A query of a graph. */
typedef struct Batch
{
	const uint32_t *sources;
	int			nsources;
	int64_t		max_depth;
	uint64_t	memory_bytes;
} Batch;

/* Return the deepest level that the memory of a query can represent. */
static int32_t
deepest(const EmogiGraph *graph, const Batch *batch)
{
	int			nplanes = 1;

	while (nplanes < EMOGI_MSBFS_PLANES &&
		   emogi_msbfs_bytes(graph->nvertices, batch->nsources, (1 << (nplanes + 1)) - 2) <=
		   batch->memory_bytes)
		nplanes++;
	return (1 << nplanes) - 2;
}

/* Fill level[nsources][nvertices] by sequential BFS from each source; returns the deepest level. */
static int32_t
search_sequentially(const EmogiGraph *graph, const Batch *batch, int32_t *level)
{
	int32_t		depth = 0;

	for (int s = 0; s < batch->nsources; s++)
	{
		EmogiQuery	query = {.algorithm = EMOGI_BFS, .nsources = 1, .sources = &batch->sources[s],
			.max_depth = batch->max_depth};
		int32_t    *own = level + (uint64_t) s * graph->nvertices;

		oracle_bfs(graph, &query, own);
		for (uint64_t v = 0; v < graph->nvertices; v++)
			depth = own[v] > depth ? own[v] : depth;
	}
	return depth;
}

/*
 * Count the vertices at which a source's cursor over the answer returns other levels than expected.
 */
static uint64_t
count_wrong(const EmogiGraph *graph, const EmogiMsbfsResult *result, int s, const int32_t *level)
{
	EmogiMsbfsCursor cursor = {0};
	EmogiMsbfsCursor skipping = {0};
	uint64_t	nreached = 0,
				nwrong = 0,
				after = 0;		/* the smallest vertex that may follow */
	uint32_t	vertex,
				depth;

	for (; emogi_msbfs_next(result, s, &cursor, &vertex, &depth); after = (uint64_t) vertex + 1)
	{
		if (vertex < after || vertex >= graph->nvertices)
			return graph->nvertices + 1;
		nwrong += level[vertex] != (int32_t) depth;
		nreached++;
	}
	/* no vertex may follow the end */
	nwrong += emogi_msbfs_next(result, s, &cursor, &vertex, &depth);
	for (uint64_t v = 0; v < graph->nvertices; v++)
		nreached -= level[v] >= 0;
	for (uint64_t min = 0; min < graph->nvertices; min = (uint64_t) vertex + 1 + (vertex * 7) % 150)
	{
		bool		found;

		emogi_msbfs_skip_to(result, s, &skipping, min);
		while ((found = emogi_msbfs_next(result, s, &skipping, &vertex, &depth)) && vertex < min)
			;
		while (min < graph->nvertices && level[min] < 0)
			min++;
		nwrong += found ? vertex != min || level[vertex] != (int32_t) depth
			: min < graph->nvertices;
		if (!found)
			break;
	}
	return nwrong + (nreached != 0);
}

/*
 * Allocate exactly `bytes` bytes, which aligned_alloc does not guarantee, at the start of a cache
 * line; never NULL.
 */
static void *
allocate_lines(size_t bytes)
{
	void	   *memory;

	if (posix_memalign(&memory, EMOGI_LINE_BYTES, bytes) != 0)
		abort();
	return memory;
}

/*
 * Search again, with scratch memory that is reused by all searches. The answer must be the same,
 * and the scratch memory must be zero afterwards.
 */
static void
check_scratch(const char *name, EmogiEngineState *state, const EmogiGraph *graph,
			  const Batch *batch, const EmogiMsbfsResult *answer)
{
	static unsigned char *scratch = NULL;
	static uint64_t bytes = 0;
	EmogiMsbfsResult result = {.memory_bytes = batch->memory_bytes};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiStatus status;

	if (bytes != emogi_msbfs_scratch_bytes(graph->nvertices, batch->max_depth))
	{
		bytes = emogi_msbfs_scratch_bytes(graph->nvertices, batch->max_depth);
		free(scratch);
		scratch = allocate_lines(bytes + GUARD_BYTES);
		memset(scratch, 0, bytes);
		memset(scratch + bytes, GUARD, GUARD_BYTES);
	}
	result.memory = allocate_lines(batch->memory_bytes);
	memset(result.memory, GUARD, batch->memory_bytes);
	result.scratch = scratch;
	status = emogi_msbfs_run(emogi_cpu_engine_pool(state), graph, batch->sources, batch->nsources,
							 batch->max_depth, &result, &control, &error);
	CHECK(status == EMOGI_OK && result.too_deep == answer->too_deep &&
		  result.used_bytes == answer->used_bytes &&
		  result.edges_traversed == answer->edges_traversed, "%s: status %d with scratch memory",
		  name, status);
	CHECK(answer->too_deep || memcmp(result.memory, answer->memory, answer->used_bytes) == 0,
		  "%s: another answer with scratch memory", name);
	CHECK(bytes == 0 || (scratch[0] == 0 && memcmp(scratch, scratch + 1, bytes - 1) == 0),
		  "%s: scratch memory is not zero", name);
	CHECK(scratch[bytes] == GUARD &&
		  memcmp(scratch + bytes, scratch + bytes + 1, GUARD_BYTES - 1) == 0,
		  "%s: wrote beyond scratch memory", name);
	free(result.memory);
}

/* Search on an engine, into memory that is filled with 0x55. */
static EmogiMsbfsResult
search_batch(const char *name, EmogiEngineState *state, const EmogiGraph *graph, const Batch *batch)
{
	EmogiMsbfsResult result = {.memory = NULL, .memory_bytes = batch->memory_bytes, .nplanes = -7};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiStatus status;
	unsigned char *end;

	result.memory = allocate_lines(batch->memory_bytes + 2 * GUARD_BYTES);
	memset(result.memory, GUARD, batch->memory_bytes + 2 * GUARD_BYTES);
	status = emogi_msbfs_run(emogi_cpu_engine_pool(state), graph, batch->sources, batch->nsources,
							 batch->max_depth, &result, &control, &error);
	CHECK(status == EMOGI_OK, "%s: status %d", name, status);
	end = (unsigned char *) result.memory + (result.too_deep ? 0 : result.used_bytes);
	CHECK(end[0] == GUARD && memcmp(end, end + 1, GUARD_BYTES - 1) == 0, "%s: wrote beyond the end",
		  name);
	check_scratch(name, state, graph, batch, &result);
	return result;
}

/* Check an answer against the expected levels, and against the answer of one thread. */
static void
check_answer(const char *name, const EmogiGraph *graph, const Batch *batch,
			 const EmogiMsbfsResult *result, const EmogiMsbfsResult *first, const int32_t *level,
			 int32_t depth)
{
	CHECK(result->nlevels == (uint32_t) depth + 1, "%s: %u levels, not %d", name, result->nlevels,
		  depth + 1);
	CHECK(result->used_bytes <= batch->memory_bytes, "%s: %llu bytes", name,
		  (unsigned long long) result->used_bytes);
	for (int s = 0; s < batch->nsources; s++)
	{
		const int32_t *own = level + (uint64_t) s * graph->nvertices;
		uint64_t	nreached = 0;

		for (uint64_t v = 0; v < graph->nvertices; v++)
			nreached += own[v] >= 0;
		CHECK(result->nreached[s] == nreached, "%s: source %d of %d reached %llu, not %llu", name,
			  s, batch->nsources, (unsigned long long) result->nreached[s],
			  (unsigned long long) nreached);
		CHECK(count_wrong(graph, result, s, own) == 0, "%s: source %d of %d, max depth %lld", name,
			  s, batch->nsources, (long long) batch->max_depth);
	}
	CHECK(result->used_bytes == first->used_bytes && result->nplanes == first->nplanes &&
		  memcmp(result->memory, first->memory, first->used_bytes) == 0,
		  "%s: not bit-identical to one thread", name);
	CHECK(result->edges_traversed == first->edges_traversed, "%s: traversed %llu edges", name,
		  (unsigned long long) result->edges_traversed);
}

/* Compute the sums of a source's expected levels between two levels. */
static EmogiMsbfsSums
sum_expected(const int32_t *level, uint64_t nvertices, uint32_t first, uint32_t last)
{
	EmogiMsbfsSums sums = {.min = UINT32_MAX};

	for (uint64_t v = 0; v < nvertices; v++)
	{
		const uint32_t own = (uint32_t) level[v];

		if (level[v] < 0 || own < first || own > last)
			continue;
		sums.count++;
		sums.sum += own;
		sums.min = own < sums.min ? own : sums.min;
		sums.max = own > sums.max ? own : sums.max;
	}
	return sums;
}

/* Check sums between two levels, without memory for an answer, with or without scratch memory. */
static void
check_sums(const char *name, EmogiEngineState *state, const EmogiGraph *graph, const Batch *batch,
		   const int32_t *level, uint32_t first, uint32_t last, bool with_scratch)
{
	const size_t bytes = emogi_msbfs_scratch_bytes(graph->nvertices, batch->max_depth);
	EmogiMsbfsResult result = {.wants_sums = true, .first_level = first, .last_level = last};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiStatus status;

	if (with_scratch)
		result.scratch = memset(allocate_lines(bytes + EMOGI_LINE_BYTES), 0, bytes);
	status = emogi_msbfs_run(emogi_cpu_engine_pool(state), graph, batch->sources, batch->nsources,
							 batch->max_depth, &result, &control, &error);
	CHECK(status == EMOGI_OK && !result.too_deep && result.used_bytes == 0, "%s: status %d of sums",
		  name, status);
	for (int s = 0; s < batch->nsources; s++)
	{
		const int32_t *own = level + (uint64_t) s * graph->nvertices;
		const EmogiMsbfsSums expected = sum_expected(own, graph->nvertices, first, last);
		const EmogiMsbfsSums *sums = &result.sums[s];

		CHECK(result.nreached[s] == sum_expected(own, graph->nvertices, 0, UINT32_MAX).count,
			  "%s: source %d reached %llu", name, s, (unsigned long long) result.nreached[s]);
		CHECK(sums->count == expected.count && sums->sum == expected.sum,
			  "%s: source %d, levels %u to %u: count %llu, sum %llu", name, s, first, last,
			  (unsigned long long) sums->count, (unsigned long long) sums->sum);
		CHECK(sums->count == 0 || (sums->min == expected.min && sums->max == expected.max),
			  "%s: source %d: minimum %u, maximum %u", name, s, sums->min, sums->max);
	}
	if (with_scratch)
	{
		const unsigned char *scratch = result.scratch;

		CHECK(bytes == 0 || (scratch[0] == 0 && memcmp(scratch, scratch + 1, bytes - 1) == 0),
			  "%s: scratch memory is not zero", name);
		free(result.scratch);
	}
}

/* Check a query with 1, 2, and 5 threads. */
static void
check_query(const char *name, const EmogiGraph *graph, const Batch *batch)
{
	int32_t *level = malloc(((uint64_t) batch->nsources * graph->nvertices + 1) * sizeof(int32_t));
	int32_t		depth = search_sequentially(graph, batch, level);
	EmogiMsbfsResult results[NENGINES];

	for (int e = 0; e < NENGINES; e++)
	{
		results[e] = search_batch(name, states[e], graph, batch);
		CHECK(results[e].too_deep == (depth > deepest(graph, batch)), "%s: too deep is %d at %d",
			  name, results[e].too_deep, depth);
		if (!results[e].too_deep)
			check_answer(name, graph, batch, &results[e], &results[0], level, depth);
		check_sums(name, states[e], graph, batch, level, 0, UINT32_MAX, e % 2 == 0);
		check_sums(name, states[e], graph, batch, level, (uint32_t) e, (uint32_t) e + 1,
				   e % 2 == 1);
	}
	for (int e = 0; e < NENGINES; e++)
		free(results[e].memory);
	free(level);
}

/* Check nsources random sources, one third of them duplicates. */
static void
check_sources(const char *name, const EmogiGraph *graph, uint64_t seed, int nsources,
			  int64_t max_depth)
{
	uint32_t	sources[EMOGI_MSBFS_SOURCES];
	Batch			batch = {.sources = sources, .nsources = nsources, .max_depth = max_depth,
		.memory_bytes = emogi_msbfs_bytes(graph->nvertices, nsources, max_depth)};

	for (int s = 0; s < nsources; s++)
		sources[s] = s % 3 == 2 ? sources[s / 2]
			: (uint32_t) (emogi_random(seed, (uint64_t) s) % graph->nvertices);
	check_query(name, graph, &batch);
	if (max_depth < 0)			/* memory for levels 0 to 2 */
	{
		batch.memory_bytes = emogi_msbfs_bytes(graph->nvertices, nsources, 2);
		check_query(name, graph, &batch);
	}
}

/* Check a graph with few and many sources, to small and unlimited depths. */
static void
check_graph(const char *name, const EmogiGraph *graph, uint64_t seed)
{
	static const int counts[] = {1, 2, 63, 64};

	if (graph->nvertices == 0)
		return;
	for (int64_t max_depth = -1; max_depth <= 3; max_depth++)
	{
		int			which = (int) ((seed + (uint64_t) (max_depth + 1)) % 4);

		check_sources(name, graph, seed + 1,
					  graph->nvertices > 100000 ? counts[which % 2] : counts[which], max_depth);
	}
	if (graph->nvertices <= 100000)
		check_sources(name, graph, seed + 2, 64, -1);
}

/* Build a generated graph. */
static EmogiBuiltGraph
generate(EmogiGenerator generator, int scale, int degree, EmogiDirection direction,
		 bool with_backward)
{
	EmogiPool  *pool = emogi_cpu_engine_pool(states[1]);
	EmogiEdgeSet set;
	EmogiBuiltGraph built;
	EmogiControl control = {0};
	EmogiError	error;

	if (!emogi_generate_edges(pool, generator, scale, degree, 7, &set) ||
		emogi_build_graph(pool, &set.edges, direction, with_backward, &built, &control, &error) !=
		EMOGI_OK)
		abort();
	emogi_edge_set_free(&set);
	return built;
}

/* Check graphs that are large enough for all kinds of steps. */
static void
check_large(const char *name, EmogiGenerator generator, int degree, EmogiDirection direction,
			bool with_backward)
{
	EmogiBuiltGraph built = generate(generator, 15, degree, direction, with_backward);

	for (int64_t max_depth = -1; max_depth <= 3; max_depth++)
		check_sources(name, &built.graph, (uint64_t) degree, 64, max_depth);
	check_sources(name, &built.graph, 3, 1, -1);
	emogi_built_graph_free(&built);
}

/* Check 40 hubs with edges to and from all other vertices. */
static void
check_hubs(void)
{
	EmogiShape	shape = {.name = "hubs"};
	const int64_t nhubs = 40,
				nleaves = 20000;

	shape.edges = malloc((uint64_t) (2 * nhubs * nleaves) * sizeof(EmogiEdge));
	for (int64_t hub = 0; hub < nhubs; hub++)
	{
		for (int64_t leaf = 0; leaf < nleaves; leaf++)
		{
			shape.edges[shape.nedges++] = (EmogiEdge) {hub * 1000, 1000000 + leaf};
			if (leaf % nhubs != hub)
				shape.edges[shape.nedges++] = (EmogiEdge) {1000000 + leaf, hub * 1000};
		}
	}
	engines_check_graph(&shape, 0, EMOGI_OUT, false, 4, check_graph);
	engines_check_graph(&shape, 0, EMOGI_OUT, true, 5, check_graph);
	engines_check_graph(&shape, 0, EMOGI_BOTH, false, 6, check_graph);
	emogi_shape_free(&shape);
}

/* Check a search from vertex 0 without the transpose. */
static void
check_from_zero(EmogiShape *shape)
{
	EmogiGraph	graph = naive_build(shape, NULL, EMOGI_OUT, false);
	uint32_t	source = 0;
	Batch			batch = {.sources = &source, .nsources = 1, .max_depth = -1,
		.memory_bytes = emogi_msbfs_bytes(graph.nvertices, 1, -1)};

	check_query(shape->name, &graph, &batch);
	naive_free(&graph);
	emogi_shape_free(shape);
}

/*
 * Check a hub in a graph so large that the frontier stays a queue, and one that only a pass over
 * all vertices reaches.
 */
static void
check_hubs_pushed(void)
{
	EmogiShape	large = {.name = "hub in a queue", .edges = malloc(200000 * sizeof(EmogiEdge))};
	EmogiShape deep = {.name = "hub after a wide level",
		.edges = malloc(40000 * sizeof(EmogiEdge))};

	for (int64_t i = 0; i < 90000; i++)
		large.edges[large.nedges++] = (EmogiEdge) {2 * i, 2 * i + 1};
	for (int64_t i = 0; i < 17000; i++)
		large.edges[large.nedges++] = (EmogiEdge) {0, i * 10};
	check_from_zero(&large);
	for (int64_t i = 1; i <= 5000; i++)
	{
		deep.edges[deep.nedges++] = (EmogiEdge) {0, i};
		deep.edges[deep.nedges++] = (EmogiEdge) {i, 5001};
	}
	for (int64_t i = 0; i < 20000; i++)
		deep.edges[deep.nedges++] = (EmogiEdge) {5001, 5002 + i};
	check_from_zero(&deep);
}

/* Check a path of nvertices, from its ends and its middle. */
static void
check_path(uint64_t nvertices, int64_t max_depth, bool too_deep)
{
	EmogiShape	shape = engines_chain(nvertices - 1);
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_BOTH, true);
	uint32_t	sources[3] = {(uint32_t) nvertices / 2, 0, (uint32_t) nvertices - 1};
	Batch			batch = {.sources = sources, .nsources = 3, .max_depth = max_depth,
		.memory_bytes = emogi_msbfs_bytes(nvertices, 3, max_depth)};
	EmogiMsbfsResult result = search_batch("path", states[1], &graph, &batch);

	CHECK(result.too_deep == too_deep, "path of %llu to depth %lld: %d",
		  (unsigned long long) nvertices, (long long) max_depth, result.too_deep);
	free(result.memory);
	check_query("path", &graph, &batch);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

/* Set cancel shortly after the start. */
static void *
cancel_soon(void *arg)
{
	EmogiControl *control = arg;

	usleep(1000);
	__atomic_store_n(&control->cancel, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Check cancellation before and during a search. */
static void
check_cancel(void)
{
	EmogiBuiltGraph built = generate(EMOGI_URAND, 17, 16, EMOGI_BOTH, false);
	uint32_t	sources[EMOGI_MSBFS_SOURCES];
	EmogiMsbfsResult result = {.memory_bytes = emogi_msbfs_bytes(built.graph.nvertices,
																 EMOGI_MSBFS_SOURCES, -1)};

	result.memory = allocate_lines(result.memory_bytes);
	for (int s = 0; s < EMOGI_MSBFS_SOURCES; s++)
		sources[s] = (uint32_t) s;
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiPool  *pool = emogi_cpu_engine_pool(states[e]);
		EmogiControl control = {.cancel = 1};
		EmogiError	error;
		EmogiStatus status = emogi_msbfs_run(pool, &built.graph, sources, 64, -1, &result, &control,
											 &error);
		pthread_t	thread;

		CHECK(status == EMOGI_CANCELED, "status %d before", status);
		/* on a busy machine, cancel may come too late */
		for (int tries = 0; tries < 20 && (tries == 0 || status == EMOGI_OK); tries++)
		{
			control.cancel = 0;
			pthread_create(&thread, NULL, cancel_soon, &control);
			status = emogi_msbfs_run(pool, &built.graph, sources, 64, -1, &result, &control,
									 &error);
			pthread_join(thread, NULL);
		}
		CHECK(status == EMOGI_CANCELED, "status %d during", status);
		control.cancel = 0;
		status = emogi_msbfs_run(pool, &built.graph, sources, 64, -1, &result, &control, &error);
		CHECK(status == EMOGI_OK && result.nreached[63] == built.graph.nvertices, "status %d after",
			  status);
	}
	free(result.memory);
	emogi_built_graph_free(&built);
}

/* Let each allocation fail by turns: 4 for a path of 200 vertices, whose levels need 8 bits. */
static void
check_no_memory(void)
{
	EmogiShape	shape = engines_chain(199);
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_OUT, true);
	uint32_t	source = 0;
	EmogiMsbfsResult result = {.memory_bytes = emogi_msbfs_bytes(200, 1, -1)};

	result.memory = allocate_lines(result.memory_bytes);
	for (int e = 0; e < NENGINES; e++)
	{
		EmogiStatus status = EMOGI_NO_MEMORY;
		uint32_t	which = 0;

		while (status == EMOGI_NO_MEMORY && which < 100)
		{
			EmogiControl control = {.fail_allocation = ++which};
			EmogiError	error = {{0}, {0}};

			status = emogi_msbfs_run(emogi_cpu_engine_pool(states[e]), &graph, &source, 1, -1,
									 &result, &control, &error);
			CHECK(status == EMOGI_OK ||
				  (status == EMOGI_NO_MEMORY && error.message[0] != '\0' &&
				   error.detail[0] != '\0'), "allocation %u: status %d", which, status);
		}
		CHECK(which == 5 && status == EMOGI_OK && result.nreached[0] == 200,
			  "%u allocations, status %d", which - 1, status);
	}
	free(result.memory);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

/* Check that invalid input is refused with a message. */
static void
check_refused(const char *name, uint32_t source, int nsources, uint64_t memory_bytes)
{
	EmogiShape	shape = engines_chain(9);
	EmogiGraph	graph = naive_build(&shape, NULL, EMOGI_OUT, false);
	uint32_t	sources[EMOGI_MSBFS_SOURCES + 1] = {0};
	EmogiMsbfsResult result = {.memory_bytes = memory_bytes};
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiStatus status;

	sources[0] = source;
	status = emogi_msbfs_run(emogi_cpu_engine_pool(states[0]), &graph, sources, nsources, -1,
							 &result, &control, &error);
	CHECK(status == EMOGI_BAD_INPUT && error.message[0] != '\0', "%s: status %d", name, status);
	naive_free(&graph);
	emogi_shape_free(&shape);
}

int
main(void)
{
	engines_open();
	engines_check_shapes(NRANDOM, 1, check_graph);
	check_large("kron, out", EMOGI_KRON, 16, EMOGI_OUT, false);
	check_large("kron, out, with backward", EMOGI_KRON, 16, EMOGI_OUT, true);
	check_large("kron, both", EMOGI_KRON, 16, EMOGI_BOTH, false);
	check_large("urand, in, with backward", EMOGI_URAND, 16, EMOGI_IN, true);
	check_large("sparse urand, both", EMOGI_URAND, 1, EMOGI_BOTH, false);
	check_large("sparse urand, out", EMOGI_URAND, 2, EMOGI_OUT, false);
	check_hubs();
	check_hubs_pushed();
	check_path(254, -1, false);
	check_path(255, -1, false);
	check_path(256, -1, true);
	check_path(256, 254, false);
	check_path(300, -1, true);
	check_path(300, 255, true);
	check_path(300, 254, false);
	check_path(300, 100, false);
	check_cancel();
	check_no_memory();
	check_refused("no source", 0, 0, 1 << 20);
	check_refused("65 sources", 0, EMOGI_MSBFS_SOURCES + 1, 1 << 20);
	check_refused("a source beyond the graph", 10, 1, 1 << 20);
	check_refused("no memory for the answer", 0, 1, 64);
	engines_close();
	return check_report("test_msbfs");
}
