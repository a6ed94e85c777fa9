/*
 * filter_bench.c: cost of edge filters relative to memory bandwidth.
 *
 *   build/filter_bench [kron|urand [SCALE [DEGREE [NTHREADS]]]]
 *
 * Edge columns: kind, 1 byte, 0 .. 99; day, 4 bytes; price, a double; stamp, 8 bytes, 10 % NULL.
 * Prints for each expression the share of edges that pass, the minimum time of several runs,
 * millions of edges per second and thread, and the bandwidth at which its columns are read. The
 * first rows read an array of as many doubles, with one thread and with all threads.
 *
 * Then searches from NSOURCES vertices of high degree with all threads: over all edges; over the
 * edges that pass a filter on day, with an empty mask; and again with the mask as the previous
 * search left it. Prints medians of milliseconds; the three kinds of searches run in turn.
 *
 * Then compaction of the graph to the edges that pass, with both bitmaps evaluated anew: minimum
 * time of several runs.
 */
#include "build.h"
#include "generate.h"
#include "contract/compact.h"
#include "contract/edge_mask.h"
#include "contract/local_search.h"
#include "threads/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NRUNS 9
#define NCOLUMNS 4
#define NSOURCES 15
#define NCANDIDATES 1000
#define LOCAL_EDGES 4000000

enum
{
	KIND, DAY, PRICE, STAMP
};

/* A graph whose weights are edge numbers, and its columns. */
typedef struct Bench
{
	const EmogiEngine *engine;
	EmogiEngineState *state;
	EmogiPool  *pool;
	EmogiBuiltGraph built;
	EmogiProperty reverse;		/* day, in the order of the backward lists */
	EmogiProperty columns[NCOLUMNS];
	EmogiProperties properties;
	uint64_t   *passing;
} Bench;

/* Array of doubles whose reading is measured. */
typedef struct Reading
{
	const double *values;
	uint64_t	count;
	uint64_t	next;
	double		sums[64];
} Reading;

/* Print a message and exit. */
static void
give_up(const char *message)
{
	fprintf(stderr, "filter_bench: %s\n", message);
	exit(1);
}

/* Allocate memory or exit. */
static void *
take(size_t bytes)
{
	void	   *memory = emogi_map_memory(bytes);

	if (memory == NULL)
		give_up("out of memory");
	return memory;
}

/* ---- the graph and its columns ---- */

/* Set the weight of each edge to its number. */
static EmogiEdgeSet
number_edges(const EmogiEdgeSet *from)
{
	const uint64_t nedges = from->edges.nedges;
	EmogiEdge  *edges = take(nedges * sizeof(EmogiEdge));
	double	   *numbers = take(nedges * sizeof(double));
	EmogiEdgeSet set;
	uint64_t	number = 0;

	for (uint64_t i = 0; i < from->edges.nchunks; i++)
		for (uint64_t e = 0; e < from->chunks[i]->nedges; e++, number++)
		{
			edges[number] = from->chunks[i]->edges[e];
			numbers[number] = (double) number;
		}
	if (!emogi_edge_set_fill_weighted(&set, edges, numbers, nedges, EMOGI_CHUNK_WEIGHTED_EDGES))
		give_up("out of memory");
	emogi_unmap_memory(edges, nedges * sizeof(EmogiEdge));
	emogi_unmap_memory(numbers, nedges * sizeof(double));
	return set;
}

/* Fill a column with random values. */
static void
fill_column(Bench *bench, int which)
{
	static const EmogiPropertyType types[] = {EMOGI_PROPERTY_I8, EMOGI_PROPERTY_I32, EMOGI_PROPERTY_F64, EMOGI_PROPERTY_I64};
	const uint64_t nrows = bench->properties.nedges;
	const bool	has_nulls = which == STAMP;
	int64_t    *integers = take(nrows * sizeof(int64_t));
	double	   *floats = (double *) integers;
	uint64_t   *nulls = take((emogi_bitmap_words(nrows) + 1) * sizeof(uint64_t));
	EmogiPropertyRows rows = {integers, has_nulls ? nulls : NULL};
	EmogiControl control = {0};
	EmogiError	error;

	for (uint64_t i = 0; i < nrows; i++)
	{
		const uint64_t bits = emogi_random((uint64_t) which + 100, i);

		if (which == PRICE)
			floats[i] = (double) (bits >> 11) / 9007199254740992.0;
		else
			integers[i] = (int64_t) (which == KIND ? bits % 100 : which == DAY ? bits % 1000000 : bits >> 2);
		nulls[i / 64] |= (uint64_t) (bits % 10 == 0) << (i % 64);
	}
	bench->columns[which].type = types[which];
	if (emogi_properties_fill(bench->pool, &bench->built.graph.forward, bench->built.graph.weight_type, &rows,
							take(emogi_properties_bytes(types[which], has_nulls, nrows)), &bench->columns[which], &control,
							&error) != EMOGI_OK)
		give_up(error.message);
	if (which == DAY)
	{
		bench->reverse.type = types[DAY];
		if (emogi_properties_fill(bench->pool, &bench->built.graph.backward, bench->built.graph.weight_type, &rows,
								take(emogi_properties_bytes(types[DAY], false, nrows)), &bench->reverse, &control, &error) !=
			EMOGI_OK)
			give_up(error.message);
	}
	emogi_unmap_memory(integers, nrows * sizeof(int64_t));
	emogi_unmap_memory(nulls, (emogi_bitmap_words(nrows) + 1) * sizeof(uint64_t));
}

/* Build the graph and its columns. */
static void
make_bench(Bench *bench, EmogiGenerator generator, int scale, int degree)
{
	EmogiEdgeSet set,
				numbered;
	EmogiControl control = {0};
	EmogiError	error = {0};

	if (!emogi_generate_edges(bench->pool, generator, scale, degree, 1, &set))
		give_up("out of memory");
	numbered = number_edges(&set);
	emogi_edge_set_free(&set);
	if (emogi_build_graph(bench->pool, &numbered.edges, EMOGI_OUT, true, &bench->built, &control, &error) != EMOGI_OK)
		give_up(error.message);
	emogi_edge_set_free(&numbered);
	bench->properties = (EmogiProperties) {bench->built.graph.forward.nedges, NCOLUMNS, bench->columns};
	for (int i = 0; i < NCOLUMNS; i++)
		fill_column(bench, i);
	bench->passing = take(emogi_bitmap_words(bench->properties.nedges) * sizeof(uint64_t) + 64);
}

/* ---- memory bandwidth ---- */

/* Sum doubles in eight accumulators. */
static void
read_doubles(void *arg, int thread, int nthreads)
{
	Reading    *reading = arg;
	const uint64_t step = 1 << 16;
	uint64_t	first;
	double		sums[8] = {0};

	while ((first = __atomic_fetch_add(&reading->next, step, __ATOMIC_RELAXED)) + step <= reading->count)
		for (uint64_t i = first; i < first + step; i += 8)
			for (int j = 0; j < 8; j++)
				sums[j] += reading->values[i + (uint64_t) j];
	for (int j = 0; j < 8; j++)
		reading->sums[thread % 64] += sums[j];
}

/* Measure the read bandwidth. */
static void
measure_reading(const Bench *bench, EmogiPool *pool)
{
	Reading		reading = {.values = bench->columns[PRICE].values, .count = bench->properties.nedges};
	double		best = 1e30;

	for (int i = 0; i < NRUNS; i++)
	{
		const double start = emogi_pool_now_ms();

		reading.next = 0;
		emogi_pool_run(pool, read_doubles, &reading);
		if (emogi_pool_now_ms() - start < best)
			best = emogi_pool_now_ms() - start;
	}
	printf("%-44s %2d thread(s) %8.2f ms %31.1f GB/s\n", "reading doubles", emogi_pool_size(pool), best,
		   (double) reading.count * sizeof(double) / best / 1e6);
}

/* ---- expressions ---- */

#define MOST_STEPS 8
#define RANGE_OF(name, from, to) {.kind = EMOGI_FILTER_RANGE, .column = name, .low = from, .high = to}
#define BELOW(value) {.kind = EMOGI_FILTER_COMPARE, .column = PRICE, .comparison = EMOGI_LESS, .number = value}
#define STEP(name) {.kind = EMOGI_FILTER_##name}

static int64_t thousand[1000];
static uint64_t odd[2] = {UINT64_C(0xAAAAAAAAAAAAAAAA), UINT64_C(0xAAAAAAAAA)};

static const struct
{
	const char *text;
	uint32_t	columns;		/* columns read, as a bit mask */
	uint32_t	nsteps;
	EmogiFilterStep steps[MOST_STEPS];
}			expressions[] = {
	{"kind = 7", 1 << KIND, 1, {RANGE_OF(KIND, 7, 7)}},
	{"kind IN (1, 3, 5, ... 99)", 1 << KIND, 1,
	{{.kind = EMOGI_FILTER_IN_SET, .column = KIND, .low = 0, .high = 99, .values = odd}}},
	{"day BETWEEN 0 AND 499999", 1 << DAY, 1, {RANGE_OF(DAY, 0, 499999)}},
	{"day IN (1000 values)", 1 << DAY, 1,
	{{.kind = EMOGI_FILTER_AMONG, .column = DAY, .nvalues = 1000, .values = thousand}}},
	{"price < 0.5", 1 << PRICE, 1, {BELOW(0.5)}},
	{"stamp < 2^61", 1 << STAMP, 1, {RANGE_OF(STAMP, 0, (INT64_C(1) << 61) - 1)}},
	{"stamp IS NOT NULL", 0, 2, {{.kind = EMOGI_FILTER_IS_NULL, .column = STAMP}, STEP(NOT)}},
	{"day < stamp", 1 << DAY | 1 << STAMP, 1, {{.kind = EMOGI_FILTER_COMPARE_COLUMNS, .column = DAY, .other = STAMP}}},
	{"kind < 50 AND price < 0.5", 1 << KIND | 1 << PRICE, 4,
	{RANGE_OF(KIND, 0, 49), {.kind = EMOGI_FILTER_SKIP_AND, .skipped = 2}, BELOW(0.5), STEP(AND)}},
	{"(kind = 7 OR day < 1000) AND stamp < 2^61", 1 << KIND | 1 << DAY | 1 << STAMP, 7,
	{RANGE_OF(KIND, 7, 7), {.kind = EMOGI_FILTER_SKIP_OR, .skipped = 2}, RANGE_OF(DAY, 0, 999), STEP(OR),
		{.kind = EMOGI_FILTER_SKIP_AND, .skipped = 2}, RANGE_OF(STAMP, 0, (INT64_C(1) << 61) - 1), STEP(AND)}},
};

/* Count the bits set in a bitmap. */
static uint64_t
count_bits(const uint64_t *bitmap, uint64_t nbits)
{
	uint64_t	count = 0;

	for (uint64_t w = 0; w < emogi_bitmap_words(nbits); w++)
		count += (uint64_t) __builtin_popcountll(bitmap[w]);
	return count;
}

/* Evaluate an expression on all edges. */
static void
measure_expression(const Bench *bench, EmogiPool *pool, size_t which)
{
	const EmogiEdgeFilter filter = {expressions[which].nsteps, expressions[which].steps};
	const uint64_t nedges = bench->properties.nedges;
	double		best = 1e30;
	double		bytes = 0;

	for (int i = 0; i < NRUNS; i++)
	{
		const double start = emogi_pool_now_ms();
		EmogiControl control = {0};
		EmogiError	error;

		if (emogi_edge_filter_run(pool, &filter, &bench->properties, bench->passing, &control, &error) != EMOGI_OK)
			give_up(error.message);
		if (emogi_pool_now_ms() - start < best)
			best = emogi_pool_now_ms() - start;
	}
	for (int i = 0; i < NCOLUMNS; i++)
		if (expressions[which].columns & 1u << i)
			bytes += (double) (nedges * emogi_property_width(bench->columns[i].type));
	printf("%-44s %2d thread(s) %8.2f ms %8.0f M/s a thread %6.1f %% %6.1f GB/s\n", expressions[which].text,
		   emogi_pool_size(pool), best, (double) nedges / best / 1e3 / emogi_pool_size(pool),
		   100.0 * (double) count_bits(bench->passing, nedges) / (double) nedges, bytes / best / 1e6);
}

/* ---- searches ---- */

/* Kinds of searches: unlimited and 3 hops in the engine, and 3 hops in the backend. */
enum
{
	WHOLE, THREE_HOPS, LOCAL, NSEARCHES
};

static const char *const searches[] = {"BFS", "BFS, 3 hops", "local search, 3 hops"};

/* Search from a vertex; returns milliseconds. */
static double
search_from(const Bench *bench, int kind, uint32_t source, EmogiEdgeMask *mask, int32_t *level, uint64_t *nreached)
{
	const EmogiQuery query = {.algorithm = EMOGI_BFS, .nsources = 1, .sources = &source, .max_depth = kind == WHOLE ? -1 : 3,
		.mask = mask};
	EmogiResult result = {.columns[0].int32 = level};
	EmogiControl control = {0};
	EmogiError	error;
	EmogiLocalAnswer answer;
	const double start = emogi_pool_now_ms();

	if (kind != LOCAL)
	{
		if (bench->engine->run(bench->state, &bench->built.graph, &query, &result, &control, &error) != EMOGI_OK)
			give_up(error.message);
		*nreached = result.nreached;
	}
	else if (emogi_local_search(&bench->built.graph, NULL, &query, LOCAL_EDGES, &answer) == EMOGI_LOCAL_ANSWERED)
	{
		*nreached = answer.count;
		emogi_local_search_free(&answer);
	}
	return emogi_pool_now_ms() - start;
}

static int
compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *) a,
				y = *(const double *) b;

	return (x > y) - (x < y);
}

/* Get the median of times. */
static double
median(double *times)
{
	qsort(times, NSOURCES, sizeof(double), compare_doubles);
	return times[NSOURCES / 2];
}

/* Pick sources: of NCANDIDATES random vertices with edges, those of highest degree. */
static void
pick_sources(const Bench *bench, uint32_t *sources)
{
	const uint64_t *offsets = bench->built.graph.forward.offsets;
	uint32_t	candidates[NCANDIDATES];

	emogi_pick_sources(&bench->built.graph, 5, candidates, NCANDIDATES);
	for (int i = 0; i < NSOURCES; i++)
	{
		int			best = i;

		for (int j = i + 1; j < NCANDIDATES; j++)
			if (offsets[candidates[j] + 1] - offsets[candidates[j]] > offsets[candidates[best] + 1] - offsets[candidates[best]])
				best = j;
		sources[i] = candidates[best];
		candidates[best] = candidates[i];
	}
}

/* Search over all edges, and over those of the first ndays of a million days. */
static void
measure_search(const Bench *bench, int kind, int64_t ndays, int32_t *level, void *memory, void *reverse_memory)
{
	const EmogiFilterStep step = RANGE_OF(DAY, 0, ndays - 1);
	const EmogiFilterStep reverse_step = RANGE_OF(0, 0, ndays - 1);
	const EmogiEdgeFilter filter = {1, &step};
	const EmogiEdgeFilter reverse_filter = {1, &reverse_step};
	const EmogiProperties reverse = {bench->properties.nedges, 1, &bench->reverse};
	uint32_t	sources[NSOURCES];
	double		all[NSOURCES],
				fresh[NSOURCES],
				known[NSOURCES];
	double		median_all,
				median_fresh,
				median_known;
	uint64_t	nreached[3] = {0};

	pick_sources(bench, sources);
	for (int i = 0; i < NSOURCES; i++)
	{
		EmogiEdgeMask mask = {0};
		EmogiError	error;
		double		start;

		all[i] = search_from(bench, kind, sources[i], NULL, level, &nreached[0]);
		start = emogi_pool_now_ms();
		if (emogi_edge_mask_begin(&filter, &bench->properties, memory, &mask.forward, &error) != EMOGI_OK ||
			emogi_edge_mask_begin(&reverse_filter, &reverse, reverse_memory, &mask.backward, &error) != EMOGI_OK)
			give_up(error.message);
		search_from(bench, kind, sources[i], &mask, level, &nreached[1]);
		fresh[i] = emogi_pool_now_ms() - start;
		known[i] = search_from(bench, kind, sources[i], &mask, level, &nreached[2]);
	}
	median_all = median(all);
	median_fresh = median(fresh);
	median_known = median(known);
	printf("%-22s all: %8.3f ms; %5.1f %%: %8.3f ms, %5.2f x; known mask %8.3f ms, %5.2f x; last reached %llu of %llu\n",
		   searches[kind], median_all, (double) ndays / 1e4, median_fresh, median_fresh / median_all, median_known,
		   median_known / median_all, (unsigned long long) nreached[1], (unsigned long long) nreached[0]);
}

/* ---- compaction to the edges that pass ---- */

/* Compact the graph, without weights, to the edges of the first ndays of a million days. */
static void
measure_compaction(const Bench *bench, int64_t ndays, uint64_t *reverse_passing)
{
	const EmogiFilterStep step = RANGE_OF(DAY, 0, ndays - 1);
	const EmogiFilterStep reverse_step = RANGE_OF(0, 0, ndays - 1);
	const EmogiEdgeFilter filter = {1, &step};
	const EmogiEdgeFilter reverse_filter = {1, &reverse_step};
	const EmogiProperties reverse = {bench->properties.nedges, 1, &bench->reverse};
	EmogiGraph	graph = bench->built.graph;
	EmogiCompactInput input = {.graph = &graph, .direction = EMOGI_OUT, .with_backward = true, .forward = bench->passing,
		.backward = reverse_passing};
	const size_t scratch_bytes = emogi_compact_scratch_bytes(&graph);
	EmogiCompactSize size = {0};
	double		best = 1e30;

	graph.weight_type = EMOGI_WEIGHT_NONE;
	for (int i = 0; i < NRUNS; i++)
	{
		EmogiControl control = {0};
		EmogiError	error;
		EmogiGraph	compacted;
		void	   *memory;
		double		start = emogi_pool_now_ms();

		input.scratch = take(scratch_bytes);
		if (emogi_edge_filter_run(bench->pool, &filter, &bench->properties, bench->passing, &control, &error) != EMOGI_OK ||
			emogi_edge_filter_run(bench->pool, &reverse_filter, &reverse, reverse_passing, &control, &error) != EMOGI_OK ||
			emogi_compact_count(bench->pool, &input, &size, &control, &error) != EMOGI_OK)
			give_up(error.message);
		memory = take(size.bytes);
		if (emogi_compact_build(bench->pool, &input, &size, memory, &compacted, &control, &error) != EMOGI_OK)
			give_up(error.message);
		if (emogi_pool_now_ms() - start < best)
			best = emogi_pool_now_ms() - start;
		emogi_unmap_memory(memory, size.bytes);
		emogi_unmap_memory(input.scratch, scratch_bytes);
	}
	printf("compact, %5.1f %% pass   %8.2f ms, %.0f M input edges/s; %llu edges, %llu vertices\n",
		   (double) ndays / 1e4, best, (double) graph.forward.nedges / best / 1e3, (unsigned long long) size.nedges,
		   (unsigned long long) size.nvertices);
}

/* Numbers of days in the filters of searches, of a million. With all, every edge passes. */
static const int64_t days[] = {1000000, 500000, 50000, 1000};

int
main(int argc, char **argv)
{
	const EmogiGenerator generator = argc > 1 && strcmp(argv[1], "kron") == 0 ? EMOGI_KRON : EMOGI_URAND;
	const int	scale = argc > 2 ? atoi(argv[2]) : 20;
	const int	degree = argc > 3 ? atoi(argv[3]) : 20;
	const EmogiEngineOptions options = {.cpu_threads = argc > 4 ? atoi(argv[4]) : 2};
	Bench		bench = {.engine = emogi_cpu_engine()};
	EmogiPool  *one = emogi_pool_create(1);
	EmogiError	error;
	int32_t    *level;
	void	   *memory,
			   *reverse_memory;

	if (bench.engine->open(&options, &bench.state, &error) != EMOGI_OK)
		give_up(error.message);
	bench.pool = emogi_cpu_engine_pool(bench.state);

	for (int i = 0; i < 1000; i++)
		thousand[i] = i * 1000;
	make_bench(&bench, generator, scale, degree);
	printf("%llu edges, %llu vertices\n", (unsigned long long) bench.properties.nedges,
		   (unsigned long long) bench.built.graph.nvertices);
	measure_reading(&bench, one);
	measure_reading(&bench, bench.pool);
	for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
	{
		measure_expression(&bench, one, i);
		measure_expression(&bench, bench.pool, i);
	}
	level = take((bench.built.graph.nvertices + 1) * sizeof(int32_t));
	memory = take(emogi_edge_mask_bytes(bench.properties.nedges));
	reverse_memory = take(emogi_edge_mask_bytes(bench.properties.nedges));
	for (int kind = 0; kind < NSEARCHES; kind++)
		for (size_t i = 0; i < sizeof days / sizeof *days; i++)
			measure_search(&bench, kind, days[i], level, memory, reverse_memory);
	printf("built in %.0f ms, of which numbering keys %.0f ms\n", bench.built.keys_ms + bench.built.csr_ms, bench.built.keys_ms);
	for (size_t i = 0; i < sizeof days / sizeof *days; i++)
		measure_compaction(&bench, days[i], reverse_memory);
	return 0;
}
