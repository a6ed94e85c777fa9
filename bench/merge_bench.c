/*
 * merge_bench.c: cost of merging changes into a graph, relative to copying its memory block.
 *
 *   build/merge_bench [kron|urand [SCALE [DEGREE [NTHREADS [out|both|backward]]]]]
 *
 * Prints milliseconds, the minimum of several runs in memory that was touched before. There are
 * four kinds of changes: rows whose endpoint changes (half of the changes delete an edge and half
 * insert one), edges inserted between existing vertices, edges from new vertices behind all others,
 * and edges from new vertices among the others.
 */
#include "build.h"
#include "generate.h"
#include "contract/builder.h"
#include "threads/pool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NRUNS 15
#define MOST_CHANGES 200000
#define COPY_BYTES ((size_t) 1 << 20)

static const char *const kinds[] = {"updated rows", "inserted edges", "new vertices, appended", "new vertices, interleaved"};

typedef struct Copy
{
	char	   *to;
	const char *from;
	size_t		bytes;
} Copy;

/* Get the time in milliseconds. */
typedef struct Times
{
	double		splice;
	double		copy;
} Times;

/* Print a message and exit. */
static void
give_up(const char *message)
{
	fprintf(stderr, "merge_bench: %s\n", message);
	exit(1);
}

/* Copy a thread's share of the block. */
static void
copy_share(void *arg, int thread, int nthreads)
{
	const Copy *copy = arg;
	const size_t first = copy->bytes * (size_t) thread / (size_t) nthreads;
	const size_t end = copy->bytes * (size_t) (thread + 1) / (size_t) nthreads;

	for (size_t at = first; at < end; at += COPY_BYTES)
		memcpy(copy->to + at, copy->from + at, end - at < COPY_BYTES ? end - at : COPY_BYTES);
}

/* Spread the keys of edges so that others fit between them. */
static void
spread_keys(EmogiEdgeSet *set)
{
	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		EmogiEdgeChunk *chunk = set->chunks[c];

		for (uint64_t i = 0; i < chunk->nedges; i++)
		{
			chunk->edges[i].src *= 3;
			chunk->edges[i].dst *= 3;
		}
		chunk->min_key *= 3;
		chunk->max_key *= 3;
	}
	emogi_edge_set_bound(set);
}

/* Make changes of a kind. */
static void
make_changes(const EmogiEdgeSet *set, const EmogiGraph *graph, int kind, uint64_t n, EmogiEdgeChange *changes)
{
	for (uint64_t i = 0; i < n; i++)
	{
		const uint64_t nchunks = (set->edges.nchunks + 1) / 2;	/* all but the last are full */
		const EmogiEdgeChunk *chunk = set->chunks[i / 2 % nchunks];
		const uint64_t place = i / 2 / nchunks % chunk->nedges;	/* each row at most once */
		int64_t		key = graph->ids[emogi_random(3, i) % graph->nvertices];
		const int64_t other = graph->ids[emogi_random(4, i) % graph->nvertices];

		if (kind == 0 && i % 2 == 0)
		{
			changes[i] = (EmogiEdgeChange) {chunk->edges[place].src, chunk->edges[place].dst, 0, -1};
			continue;
		}
		key = kind == 2 ? set->edges.max_key + 1 + (int64_t) i : kind == 3 ? key + 1 : key;
		changes[i] = (EmogiEdgeChange) {key, other, 0, 1};
	}
}

/* Time merges of an input and copies of the old graph's block to the same destination, in turn. */
static Times
time_splice(EmogiPool *pool, EmogiMergeInput *input, EmogiGraph *graph)
{
	const size_t scratch_bytes = emogi_merge_scratch_bytes(input, emogi_pool_size(pool));
	Copy		copy = {.to = input->memory, .from = input->graph->memory, .bytes = input->graph->memory_bytes};
	Times		best = {INFINITY, INFINITY};
	EmogiControl control = {0};
	EmogiError	error;

	input->scratch = emogi_map_memory(scratch_bytes);
	if (input->scratch == NULL || !emogi_populate_memory(pool, input->scratch, scratch_bytes))
		give_up("out of memory");
	for (int run = 0; run < NRUNS; run++)
	{
		double		start = emogi_pool_now_ms();

		emogi_pool_run(pool, copy_share, &copy);
		best.copy = fmin(best.copy, emogi_pool_now_ms() - start);
		start = emogi_pool_now_ms();
		if (emogi_merge(pool, input, graph, &control, &error) != EMOGI_OK)
			give_up(error.message);
		best.splice = fmin(best.splice, emogi_pool_now_ms() - start);
	}
	emogi_unmap_memory(input->scratch, scratch_bytes);
	return best;
}

/* Print the times for all kinds and numbers of changes. */
static void
print_times(EmogiPool *pool, const EmogiEdgeSet *set, const EmogiGraph *graph, EmogiDirection direction, bool with_backward)
{
	static const uint64_t numbers[] = {1, 1000, 20000, MOST_CHANGES};
	EmogiEdgeChange *changes = malloc(MOST_CHANGES * sizeof(EmogiEdgeChange));
	EmogiMergeInput input = {.graph = graph, .direction = direction, .with_backward = with_backward,
		.weight_type = graph->weight_type, .changes = changes};
	const size_t bytes = graph->memory_bytes + MOST_CHANGES * (size_t) 256;

	input.memory = emogi_map_memory(bytes);
	if (changes == NULL || input.memory == NULL || !emogi_populate_memory(pool, input.memory, bytes))
		give_up("out of memory");
	for (int kind = 0; kind < 4; kind++)
	{
		for (int i = 0; i < 4; i++)
		{
			EmogiGraph	spliced;
			Times		best;

			input.nchanges = numbers[i];
			make_changes(set, graph, kind, numbers[i], changes);
			best = time_splice(pool, &input, &spliced);
			printf("%-24s %7llu  %8.2f ms  copy %7.2f ms  %5.2f x  vertices %+lld\n", kinds[kind], (unsigned long long) numbers[i],
				   best.splice, best.copy, best.splice / best.copy, (long long) (spliced.nvertices - graph->nvertices));
			fflush(stdout);
		}
	}
	emogi_unmap_memory(input.memory, bytes);
	free(changes);
}

int
main(int argc, char **argv)
{
	const EmogiGenerator generator = argc > 1 && strcmp(argv[1], "urand") == 0 ? EMOGI_URAND : EMOGI_KRON;
	const int	scale = argc > 2 ? atoi(argv[2]) : 21;
	const int	degree = argc > 3 ? atoi(argv[3]) : 10;
	const char *lists = argc > 5 ? argv[5] : "out";
	const EmogiDirection direction = strcmp(lists, "both") == 0 ? EMOGI_BOTH : EMOGI_OUT;
	const bool	with_backward = strcmp(lists, "backward") == 0;
	const EmogiRecipe recipe = emogi_recipe(generator, scale, degree, 0, 1, 0);
	EmogiPool  *pool = emogi_pool_create(argc > 4 ? atoi(argv[4]) : 2);
	EmogiControl control = {0};
	EmogiError	error;
	EmogiEdgeSet set;
	EmogiBuiltGraph built;

	if (pool == NULL || !emogi_generate(pool, &recipe, &set))
		give_up("out of memory");
	spread_keys(&set);
	if (emogi_build_graph(pool, &set.edges, direction, with_backward, &built, &control, &error) != EMOGI_OK)
		give_up(error.message);
	printf("%s, %s: %llu vertices, %llu list entries, %.1f MB, built in %.0f ms by %d threads\n", argc > 1 ? argv[1] : "kron", lists,
		   (unsigned long long) built.graph.nvertices, (unsigned long long) built.graph.forward.nedges,
		   (double) built.graph.memory_bytes / 1e6, built.keys_ms + built.csr_ms, emogi_pool_size(pool));
	print_times(pool, &set, &built.graph, direction, with_backward);
	emogi_built_graph_free(&built);
	emogi_edge_set_free(&set);
	emogi_pool_destroy(pool);
	return 0;
}
