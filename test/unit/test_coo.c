/*
 * test_coo.c: tests of packing edges into a COO and unpacking them, which must preserve edges and
 * their order
 */
#include "build.h"
#include "check.h"
#include "generate.h"
#include "contract/builder.h"
#include "threads/pool.h"
#include "shapes.h"
#include "torn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NRANDOM 300
#define NPOOLS 3
#define NKINDS 7
#define GUARD 256				/* bytes after a block, which must not change */

static EmogiPool *pools[NPOOLS];	/* of 1, 2 and 5 threads */

/* Return a weight of a kind. 1: 8 bits, 2: 16, 3: 32, 4: float, 5: double, 6: all of these. */
static double
weight_of(uint64_t i, int kind)
{
	const uint64_t random = emogi_random(23, i);

	switch (kind)
	{
		case 1:
			return random % 5 == 0 ? -0.0 : (double) (random % 256);
		case 2:
			return (double) (random % 65536);
		case 3:
			return (double) (random % 4294967296);
		case 4:
			return (double) (random % 1000) / 8 - 30;
		case 5:
			return (double) random / 3.0;
		default:
			return random % 7 == 0 ? INFINITY : random % 7 == 1 ? -INFINITY : weight_of(i, 1 + (int) (random % 5));
	}
}

/* Return true if two weights are bit-identical, with -0 equal to 0. */
static bool
same_weight(double a, double b)
{
	a += 0.0;
	b += 0.0;
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Map the block of a COO, filled with bytes other than 0. */
static void *
map_block(EmogiCoo *coo)
{
	char	   *block = emogi_map_memory(emogi_coo_bytes(coo) + GUARD);

	memset(block, 0x5A, emogi_coo_bytes(coo) + GUARD);
	emogi_coo_view(coo, block);
	return block;
}

/* Check that nothing was written after a block, and unmap it. */
static void
unmap_block(const EmogiCoo *coo, char *block, const char *name)
{
	const size_t bytes = emogi_coo_bytes(coo);
	int			nchanged = 0;

	for (int i = 0; i < GUARD; i++)
		nchanged += block[bytes + i] != 0x5A;
	CHECK(nchanged == 0, "%s: behind the block", name);
	emogi_unmap_memory(block, bytes + GUARD);
}

/* Put edges into chunks, weighted unless kind is 0. */
static void
fill_set(EmogiEdgeSet *set, const EmogiShape *shape, const double *weights, int kind)
{
	const uint64_t capacity = kind == 0 ? EMOGI_CHUNK_EDGES : EMOGI_CHUNK_WEIGHTED_EDGES;
	uint64_t	per_chunk = shape->nedges / 5 + 1;

	per_chunk = per_chunk < capacity ? per_chunk : capacity;
	if (kind == 0 ? !emogi_edge_set_fill(set, shape->edges, shape->nedges, per_chunk) :
		!emogi_edge_set_fill_weighted(set, shape->edges, weights, shape->nedges, per_chunk))
		abort();
}

/* Check that a COO has these edges, in this order, from position `first` on. */
static void
check_edges(const EmogiCoo *coo, uint64_t first, const EmogiShape *shape, const double *weights, int kind)
{
	uint64_t	nwrong = 0;

	for (uint64_t i = 0; i < shape->nedges; i++)
	{
		const EmogiWeightedEdge edge = emogi_coo_get(coo, first + i);

		nwrong += edge.src != shape->edges[i].src || edge.dst != shape->edges[i].dst ||
			!same_weight(edge.weight, kind == 0 ? 0.0 : weights[i]) || signbit(edge.weight) != (edge.weight < 0);
		nwrong += !emogi_coo_holds(coo, edge.src, edge.dst, edge.weight);
	}
	CHECK(nwrong == 0, "%s, weights %d: %llu edges", shape->name, kind, (unsigned long long) nwrong);
}

/*
 * Check the counts of misfits against a count weight by weight, and that they can be decremented to
 * zero.
 */
static void
check_counts(const EmogiShape *shape, const double *weights, int kind, EmogiMisfitCounts counts)
{
	EmogiMisfitCounts sum = {{0}};
	uint32_t	misfits = 0;

	for (uint64_t i = 0; kind != 0 && i < shape->nedges; i++)
	{
		emogi_misfits_count(&sum, weights[i], 1);
		misfits |= emogi_weight_misfits(weights[i]);
	}
	CHECK(memcmp(&sum, &counts, sizeof(sum)) == 0 && emogi_misfits_of(&counts) == misfits, "%s, weights %d: counts",
		  shape->name, kind);
	for (uint64_t i = 0; kind != 0 && i < shape->nedges; i++)
		emogi_misfits_count(&counts, weights[i], -1);
	CHECK(emogi_misfits_of(&counts) == 0, "%s, weights %d: counts of none", shape->name, kind);
}

/* Check the positions of the chunks' first edges. */
static void
check_places(const EmogiEdgeSet *set, const char *name)
{
	uint64_t	first = 0;

	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		CHECK(set->chunks[c]->first == first, "%s: first edge of chunk %llu", name, (unsigned long long) c);
		first += set->chunks[c]->nedges;
	}
}

/* Divide the positions of a shape's edges, which start at 3, into runs; returns their number. */
static uint64_t
cut_runs(const EmogiShape *shape, uint64_t cut, EmogiCooRun *runs)
{
	uint64_t	nruns = 0;

	for (uint64_t first = 0; first < shape->nedges || nruns == 0;)
	{
		uint64_t	count = emogi_random(cut, first + nruns) % (shape->nedges / 3 + 2);

		count = count < shape->nedges - first ? count : shape->nedges - first;
		runs[nruns++] = (EmogiCooRun) {3 + first, count};
		first += count;
		if (nruns > 4 * shape->nedges + 4)
			abort();
	}
	return nruns;
}

/* Check the unpacked edges of a COO. */
static void
check_unpacked(const EmogiShape *shape, const EmogiEdgeSet *set, const double *weights, int kind)
{
	uint64_t	place = 0,
				nwrong = 0;

	for (uint64_t c = 0; c < set->edges.nchunks; c++)
	{
		EmogiEdgeChunk *chunk = set->chunks[c];
		EmogiEdgeChunk bounds = {.min_key = INT64_MAX, .max_key = INT64_MIN};

		for (uint64_t i = 0; i < chunk->nedges; i++, place++)
		{
			const EmogiEdge edge = shape->edges[place];
			const EmogiEdge *got = kind == 0 ? &chunk->edges[i] : (EmogiEdge *) &emogi_weighted_edges(chunk)[i];

			nwrong += got->src != edge.src || got->dst != edge.dst ||
				(kind != 0 && !same_weight(emogi_weighted_edges(chunk)[i].weight, weights[place]));
			bounds.min_key = edge.src < bounds.min_key ? edge.src : bounds.min_key;
			bounds.min_key = edge.dst < bounds.min_key ? edge.dst : bounds.min_key;
			bounds.max_key = edge.src > bounds.max_key ? edge.src : bounds.max_key;
			bounds.max_key = edge.dst > bounds.max_key ? edge.dst : bounds.max_key;
			bounds.weight_misfits |= kind == 0 ? 0 : emogi_weight_misfits(weights[place]);
		}
		CHECK(chunk->nedges == 0 || (chunk->min_key == bounds.min_key && chunk->max_key == bounds.max_key &&
									 chunk->weight_misfits == bounds.weight_misfits), "%s, weights %d: chunk", shape->name, kind);
	}
	CHECK(place == shape->nedges && nwrong == 0, "%s, weights %d: %llu edges unpacked, %llu wrong", shape->name, kind,
		  (unsigned long long) place, (unsigned long long) nwrong);
}

/* Move edges to a COO with room for more, one by one, and unpack them in runs. */
static void
check_put(const EmogiShape *shape, const EmogiEdges *edges, const double *weights, int kind, EmogiPool *pool)
{
	const uint64_t capacity = kind == 0 ? EMOGI_CHUNK_EDGES : EMOGI_CHUNK_WEIGHTED_EDGES;
	EmogiCooRun *runs = malloc((4 * shape->nedges + 5) * sizeof(EmogiCooRun));
	const uint64_t nruns = cut_runs(shape, (uint64_t) kind + 5, runs);
	EmogiControl control = {0};
	EmogiError	error;
	EmogiEdgeSet set;
	EmogiCoo	coo;
	void	   *block;

	emogi_coo_shape(&coo, edges, shape->nedges + 7);
	block = map_block(&coo);
	for (uint64_t i = shape->nedges; i-- > 0;)
		emogi_coo_put(&coo, 3 + i, shape->edges[i].src, shape->edges[i].dst, kind == 0 ? 5.0 : weights[i]);
	check_edges(&coo, 3, shape, weights, kind);
	if (!emogi_edge_set_create(&set, (shape->nedges + capacity - 1) / capacity))
		abort();
	CHECK(emogi_coo_unpack(pool, &coo, runs, nruns, &set.edges, &control, &error) == EMOGI_OK &&
		  control.done == control.total && control.total == shape->nedges, "%s, weights %d: unpack", shape->name, kind);
	check_unpacked(shape, &set, weights, kind);
	emogi_edge_set_free(&set);
	unmap_block(&coo, block, shape->name);
	free(runs);
}

/* Return the expected size of a key in bytes. */
static uint32_t
key_bytes_of(uint64_t nedges, const EmogiEdges *edges)
{
	if (nedges == 0 || (edges->min_key >= 0 && edges->max_key <= 14680064))
		return 3;
	return (uint64_t) edges->max_key - (uint64_t) edges->min_key <= UINT32_MAX ? 4 : 8;
}

/* Check the edges of a shape without weights (kind 0) or with weights of a kind. */
static void
check_shape(const EmogiShape *shape, int kind, EmogiPool *pool)
{
	double	   *weights = malloc((shape->nedges + 1) * sizeof(double));
	EmogiControl control = {0};
	EmogiError	error;
	EmogiMisfitCounts counts = {{7, 7}};
	EmogiEdgeSet set;
	EmogiCoo	coo;
	void	   *block;

	for (uint64_t i = 0; i < shape->nedges; i++)
		weights[i] = weight_of(i, kind);
	fill_set(&set, shape, weights, kind);
	emogi_coo_shape(&coo, &set.edges, shape->nedges);
	CHECK(coo.weight_type == (kind == 0 ? EMOGI_WEIGHT_NONE : emogi_weight_type(set.edges.weight_misfits)), "%s: type", shape->name);
	CHECK(coo.key_bytes == key_bytes_of(shape->nedges, &set.edges), "%s: keys", shape->name);
	block = map_block(&coo);
	CHECK(emogi_coo_pack(pool, &set.edges, &coo, &counts, &control, &error) == EMOGI_OK && control.done == control.total &&
		  coo.used == shape->nedges, "%s, weights %d: pack", shape->name, kind);
	check_edges(&coo, 0, shape, weights, kind);
	check_counts(shape, weights, kind, counts);
	check_places(&set, shape->name);
	check_put(shape, &set.edges, weights, kind, pool);
	unmap_block(&coo, block, shape->name);
	emogi_edge_set_free(&set);
	free(weights);
}

/* Check at the limits of their ranges which keys of 4 and of 8 bytes fit. */
static void
check_ranges(void)
{
	static const EmogiEdge ranges[] = {
		{0, 0}, {1, UINT32_MAX}, {0, UINT32_MAX}, {1, INT64_C(1) << 32}, {0, INT64_C(1) << 32}, {-1, UINT32_MAX - 1},
		{-1, UINT32_MAX}, {INT64_MIN, INT64_MIN + UINT32_MAX}, {INT64_MAX - UINT32_MAX, INT64_MAX}, {INT64_MIN, INT64_MIN + 9},
		{INT64_MAX - 9, INT64_MAX}, {INT64_MIN, INT64_MAX}, {INT64_MIN, 0}, {-1, INT64_MAX}, {INT32_MIN, INT32_MAX},
		{INT64_C(1) << 40, (INT64_C(1) << 40) + 1000}
	};

	for (size_t r = 0; r < sizeof(ranges) / sizeof(ranges[0]); r++)
	{
		const int64_t keys[] = {ranges[r].src, ranges[r].dst, INT64_MIN, INT64_MAX, 0, -1, 1,
		ranges[r].dst - (ranges[r].dst > INT64_MIN), ranges[r].src + (ranges[r].src < INT64_MAX)};
		const EmogiEdges edges = {.nedges = 1, .min_key = ranges[r].src, .max_key = ranges[r].dst};
		EmogiCoo	coo;
		void	   *block;

		emogi_coo_shape(&coo, &edges, 4);
		block = map_block(&coo);
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		{
			const bool	within = keys[i] >= ranges[r].src && keys[i] <= ranges[r].dst;
			const bool	holds = emogi_coo_holds(&coo, keys[i], ranges[r].src, 0);

			CHECK(holds == emogi_coo_holds(&coo, ranges[r].src, keys[i], 0), "range %zu, key %lld: both ends", r,
				  (long long) keys[i]);
			CHECK(holds || (!within && coo.key_bytes < 8), "range %zu, key %lld: does not fit", r, (long long) keys[i]);
			if (!holds)
				continue;
			emogi_coo_put(&coo, 2, keys[i], ranges[r].src, 0);
			CHECK(emogi_coo_get(&coo, 2).src == keys[i] && emogi_coo_get(&coo, 2).dst == ranges[r].src,
				  "range %zu, key %lld: lost", r, (long long) keys[i]);
		}
		unmap_block(&coo, block, "range");
	}
}

/* Check that most keys near the existing ones fit: below and above, and all short positive ones. */
static void
check_spare_keys(void)
{
	EmogiEdges	edges = {.nedges = 1, .min_key = 1000, .max_key = 2000};
	EmogiCoo	coo;

	emogi_coo_shape(&coo, &edges, 1);
	CHECK(emogi_coo_holds(&coo, 0, (1 << 24) - 1, 0) && !emogi_coo_holds(&coo, -1, 0, 0) &&
		  !emogi_coo_holds(&coo, 0, 1 << 24, 0), "keys of 3 bytes");
	edges.max_key = 1 << 24;
	emogi_coo_shape(&coo, &edges, 1);
	CHECK(emogi_coo_holds(&coo, 0, UINT32_MAX, 0) && !emogi_coo_holds(&coo, -1, 0, 0) &&
		  !emogi_coo_holds(&coo, 0, (int64_t) UINT32_MAX + 1, 0), "keys of 4 bytes");
	edges = (EmogiEdges) {.nedges = 1, .min_key = INT64_C(1) << 40, .max_key = (INT64_C(1) << 40) + 1000};
	emogi_coo_shape(&coo, &edges, 1);
	CHECK(emogi_coo_holds(&coo, edges.min_key - INT64_C(2000000000), edges.max_key + INT64_C(2000000000), 0), "long keys");
}

/* Check which weights fit, for all types. */
static void
check_weights(void)
{
	static const double weights[] = {0, -0.0, 1, 255, 256, 65535, 65536, 4294967295.0, 4294967296.0, 0.5, -1, 0.1, 1e300, INFINITY,
	-INFINITY};

	for (int type = EMOGI_WEIGHT_NONE; type <= EMOGI_WEIGHT_F64; type++)
	{
		EmogiCoo	coo = {.room = 2, .key_bytes = 4, .weight_type = (EmogiWeightType) type};
		void	   *block = map_block(&coo);

		for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
		{
			const bool	holds = emogi_coo_holds(&coo, 1, 2, weights[i]);

			emogi_coo_put(&coo, 1, 1, 2, holds ? weights[i] : 1);
			CHECK(!holds || same_weight(emogi_coo_get(&coo, 1).weight, type == EMOGI_WEIGHT_NONE ? 0.0 : weights[i]),
				  "type %d, weight %g", type, weights[i]);
			CHECK(holds == (type == EMOGI_WEIGHT_NONE || type == EMOGI_WEIGHT_F64 ||
							(emogi_weight_misfits(weights[i]) & 1u << (type - 1)) == 0), "type %d, weight %g", type, weights[i]);
		}
		unmap_block(&coo, block, "weights");
	}
}

/* Check that a failed allocation returns NO_MEMORY. */
static void
check_torn(void)
{
	EmogiEdgeSet set;
	EmogiCoo	coo;
	EmogiMisfitCounts counts;
	EmogiControl control = {0};
	EmogiError	error = {{0}, {0}};
	EmogiEdgeChunk *chunk = map_torn(EMOGI_CHUNK_BYTES);
	EmogiEdges	torn = {.nchunks = 1, .chunks = &chunk};
	EmogiCooRun run = {0, 100000};
	void	   *block;

	if (!emogi_generate_edges(pools[1], EMOGI_KRON, 15, 16, 3, &set))
		abort();
	emogi_coo_shape(&coo, &set.edges, set.edges.nedges);
	emogi_coo_view(&coo, map_torn(emogi_coo_bytes(&coo)));
	CHECK(emogi_coo_pack(pools[1], &set.edges, &coo, &counts, &control, &error) == EMOGI_NO_MEMORY, "pack");
	block = map_block(&coo);
	CHECK(emogi_coo_unpack(pools[1], &coo, &run, 1, &torn, &control, &error) == EMOGI_NO_MEMORY, "unpack");
	unmap_block(&coo, block, "torn");
	emogi_edge_set_free(&set);
}

/* Check the status after failed allocations, with too little room, and after cancellation. */
static void
check_failures(void)
{
	EmogiEdgeSet set;
	EmogiCoo	coo;
	EmogiMisfitCounts counts;
	EmogiControl control = {.cancel = 1};
	EmogiError	error = {{0}, {0}};
	EmogiCooRun run = {0};
	EmogiEdges	none = {0};
	EmogiStatus status = EMOGI_NO_MEMORY;
	void	   *block;

	if (!emogi_generate_edges(pools[1], EMOGI_KRON, 15, 16, 3, &set))
		abort();
	run.count = set.edges.nedges;
	emogi_coo_shape(&coo, &set.edges, set.edges.nedges);
	block = map_block(&coo);
	CHECK(emogi_coo_pack(pools[1], &set.edges, &coo, &counts, &control, &error) == EMOGI_CANCELED, "cancel");
	CHECK(emogi_coo_unpack(pools[1], &coo, &run, 1, &set.edges, &control, &error) == EMOGI_CANCELED, "cancel");
	control.cancel = 0;
	for (control.fail_allocation = 1; status == EMOGI_NO_MEMORY; control.fail_allocation++)
	{
		status = emogi_coo_pack(pools[1], &set.edges, &coo, &counts, &control, &error);
		CHECK(status == EMOGI_OK || (status == EMOGI_NO_MEMORY && error.message[0] != '\0'), "pack: status %d", status);
	}
	CHECK(status == EMOGI_OK && control.fail_allocation > 3, "pack: status %d", status);
	status = EMOGI_NO_MEMORY;
	for (control.fail_allocation = 1; status == EMOGI_NO_MEMORY; control.fail_allocation++)
	{
		status = emogi_coo_unpack(pools[1], &coo, &run, 1, &set.edges, &control, &error);
		CHECK(status == EMOGI_OK || (status == EMOGI_NO_MEMORY && error.message[0] != '\0'), "unpack: status %d", status);
	}
	CHECK(status == EMOGI_OK && control.fail_allocation > 3, "unpack: status %d", status);
	CHECK(emogi_coo_unpack(pools[1], &coo, &run, 1, &none, &control, &error) == EMOGI_BAD_INPUT, "chunks");
	coo.room--;
	CHECK(emogi_coo_pack(pools[1], &set.edges, &coo, &counts, &control, &error) == EMOGI_BAD_INPUT, "room");
	coo.room++;
	unmap_block(&coo, block, "failures");
	emogi_edge_set_free(&set);
}

int
main(void)
{
	static const int sizes[NPOOLS] = {1, 2, 5};
	EmogiShape	shape;

	for (int p = 0; p < NPOOLS; p++)
		pools[p] = emogi_pool_create(sizes[p]);
	for (int i = 0; i < emogi_shape_count(); i++)
	{
		if (!emogi_shape_make(i, &shape))
			abort();
		for (int kind = 0; kind < NKINDS; kind++)
			check_shape(&shape, kind, pools[kind % NPOOLS]);
		emogi_shape_free(&shape);
	}
	for (uint64_t seed = 1; seed <= NRANDOM; seed++)
	{
		if (!emogi_shape_random(seed, &shape))
			abort();
		check_shape(&shape, (int) (seed % NKINDS), pools[seed % NPOOLS]);
		emogi_shape_free(&shape);
	}
	check_ranges();
	check_spare_keys();
	check_weights();
	check_failures();
	if (is_torn_noticed())
		check_torn();
	for (int p = 0; p < NPOOLS; p++)
		emogi_pool_destroy(pools[p]);
	return check_report("test_coo");
}
