/*
 * shapes.c: small graphs of shapes that have broken traversals, for tests.
 */
#include "shapes.h"

#include "generate.h"

#include <stdio.h>
#include <stdlib.h>

#define HUB_DEGREE 400000
#define COMPLETE_VERTICES 300
#define RINGS 120

/* Add an edge to a shape, which must have room for it. */
static void
add(EmogiShape *shape, int64_t src, int64_t dst)
{
	shape->edges[shape->nedges++] = (EmogiEdge) {src, dst};
}

/* No edges. */
static void
make_empty(EmogiShape *shape)
{
}

/* One vertex with a self-loop. */
static void
make_self_loop(EmogiShape *shape)
{
	add(shape, 7, 7);
}

/* A duplicate self-loop and an edge. */
static void
make_self_loops(EmogiShape *shape)
{
	add(shape, 1, 1);
	add(shape, 1, 2);
	add(shape, 1, 1);
	add(shape, 2, 2);
}

/* One edge. */
static void
make_edge(EmogiShape *shape)
{
	add(shape, 0, 1);
}

/* One edge three times, and once reversed. */
static void
make_duplicates(EmogiShape *shape)
{
	for (int i = 0; i < 3; i++)
		add(shape, 5, 3);
	add(shape, 3, 5);
}

/* An out-star: one vertex with edges to all others. */
static void
make_star_out(EmogiShape *shape)
{
	for (int i = 1; i <= 3000; i++)
		add(shape, 0, i);
}

/* An in-star: one vertex with edges from all others. */
static void
make_star_in(EmogiShape *shape)
{
	for (int i = 1; i <= 3000; i++)
		add(shape, i, 0);
}

/* A path whose keys descend along one half. */
static void
make_chain(EmogiShape *shape)
{
	for (int i = 0; i < 2000; i++)
		add(shape, i, i + 1);
	for (int i = 2000; i < 4000; i++)
		add(shape, i == 2000 ? 2000 : 6001 - i, 6000 - i);
}

/* Two disjoint cycles. */
static void
make_two_components(EmogiShape *shape)
{
	for (int i = 0; i < 500; i++)
	{
		add(shape, 2 * i, 2 * ((i + 1) % 500));
		add(shape, 2 * i + 1, 2 * ((i + 1) % 500) + 1);
	}
}

/* Keys beyond 2^32 and negative keys. */
static void
make_wide_keys(EmogiShape *shape)
{
	for (int64_t i = 0; i < 400; i++)
		add(shape, (i - 200) * INT64_C(5000000000), ((i * 7 + 3) % 400 - 200) * INT64_C(5000000000));
}

/* The minimum and maximum keys. */
static void
make_extreme_keys(EmogiShape *shape)
{
	add(shape, INT64_MIN, INT64_MAX);
	add(shape, INT64_MAX, 0);
	add(shape, 0, INT64_MIN);
	add(shape, INT64_MIN + 1, INT64_MAX - 1);
}

/* Two dense groups of keys, one at each end of the range. */
static void
make_two_clusters(EmogiShape *shape)
{
	for (int64_t i = 0; i < 20000; i++)
	{
		add(shape, INT64_MIN + i % 5000, INT64_MIN + (i * 7919 + 13) % 5000);
		add(shape, INT64_MAX - i % 5000, INT64_MAX - (i * 104729 + 1) % 5000);
	}
	add(shape, INT64_MIN + 17, INT64_MAX - 17);
}

/* Lists with lengths around multiples of a 128-byte request, with aligned and unaligned starts. */
static void
make_line_lists(EmogiShape *shape)
{
	static const int lengths[] = {0, 1, 31, 32, 33, 64, 65, 0, 63, 96, 1, 128, 129, 2, 95};
	int			nlengths = (int) (sizeof(lengths) / sizeof(lengths[0]));

	for (int i = 0; i < nlengths; i++)
	{
		for (int j = 0; j < lengths[i]; j++)
			add(shape, i, (i + j + 1) % 200);
	}
	add(shape, 199, 0);
}

/* A vertex with more neighbours than one thread should traverse, numbered between others. */
static void
make_hub(EmogiShape *shape)
{
	for (int64_t i = 0; i < HUB_DEGREE; i++)
		add(shape, 1000, i < 1000 ? i : i + 1);
	for (int64_t i = 0; i < 5000; i++)
		add(shape, (i * 7919) % HUB_DEGREE, (i * 104729 + 1) % HUB_DEGREE);
	add(shape, -1, 1000);
}

/* The same with all edges reversed. */
static void
make_hub_in(EmogiShape *shape)
{
	make_hub(shape);
	for (uint64_t i = 0; i < shape->nedges; i++)
		shape->edges[i] = (EmogiEdge) {shape->edges[i].dst, shape->edges[i].src};
}

/* All pairs of vertices joined, in one direction or both. Triangle lists are longer than a warp. */
static void
make_complete(EmogiShape *shape)
{
	for (int i = 0; i < COMPLETE_VERTICES; i++)
		for (int j = 0; j < i; j++)
		{
			if ((7 * i + 13 * j) % 3 != 0)
				add(shape, i, j);
			if ((7 * i + 13 * j) % 3 != 1)
				add(shape, j, i);
		}
}

/* Directed cycles of 1 to 40 vertices whose numbers do not ascend along the cycle. */
static void
make_rings(EmogiShape *shape)
{
	int			first = 0;

	for (int ring = 0; ring < RINGS; ring++)
	{
		const int	size = 1 + ring % 40;

		for (int i = 0; i < size; i++)
			add(shape, (first + i) * 7919 % 100003, (first + (i + 1) % size) * 7919 % 100003);
		add(shape, (first + ring % size) * 7919 % 100003, (first + size) * 7919 % 100003);
		first += size;
	}
}

static const struct
{
	const char *name;
	void		(*make) (EmogiShape *shape);
	size_t		room;			/* number of edges allocated */
}			shapes[] = {
	{"empty", make_empty, 0},
	{"self-loop", make_self_loop, 1},
	{"self-loops", make_self_loops, 4},
	{"edge", make_edge, 1},
	{"duplicates", make_duplicates, 4},
	{"star out", make_star_out, 3000},
	{"star in", make_star_in, 3000},
	{"chain", make_chain, 4000},
	{"two components", make_two_components, 1000},
	{"wide keys", make_wide_keys, 400},
	{"extreme keys", make_extreme_keys, 4},
	{"two clusters", make_two_clusters, 40001},
	{"lists around a line", make_line_lists, 1000},
	{"hub", make_hub, HUB_DEGREE + 5001},
	{"hub turned", make_hub_in, HUB_DEGREE + 5001},
	{"complete", make_complete, COMPLETE_VERTICES * COMPLETE_VERTICES},
	{"rings", make_rings, 41 * RINGS},
};

int
emogi_shape_count(void)
{
	return (int) (sizeof(shapes) / sizeof(shapes[0]));
}

bool
emogi_shape_make(int which, EmogiShape *shape)
{
	*shape = (EmogiShape) {.edges = NULL};
	snprintf(shape->name, sizeof(shape->name), "%s", shapes[which].name);
	if (shapes[which].room > 0)
	{
		shape->edges = malloc(shapes[which].room * sizeof(EmogiEdge));
		if (shape->edges == NULL)
			return false;
	}
	shapes[which].make(shape);
	return true;
}

/* Get a key: dense, spread over all int64, or a multiple of an odd number. */
static int64_t
make_key(uint64_t kind, uint64_t seed, uint64_t i)
{
	switch (kind)
	{
		case 0:
			return (int64_t) i;
		case 1:
			return (int64_t) emogi_random(seed, i);
		case 2:
			return (int64_t) i * 37 - 1000;
		default:
			return (i & 1 ? INT64_MAX - (int64_t) i : INT64_MIN + (int64_t) i);
	}
}

bool
emogi_shape_random(uint64_t seed, EmogiShape *shape)
{
	uint64_t	bits = emogi_random(seed, 0);
	uint64_t	nvertices = 1 + emogi_random(seed, 1) % (UINT64_C(1) << (bits % 15));
	uint64_t	nedges = 1 + emogi_random(seed, 2) % (nvertices * (1 + (bits >> 8) % 12) + 4);
	uint64_t	kind = (bits >> 16) % 4;
	bool		skewed = (bits >> 20) % 2 == 0;

	*shape = (EmogiShape) {.edges = malloc(nedges * sizeof(EmogiEdge))};
	snprintf(shape->name, sizeof(shape->name), "random %llu", (unsigned long long) seed);
	if (shape->edges == NULL)
		return false;
	for (uint64_t i = 0; i < nedges; i++)
	{
		uint64_t	src = emogi_random(seed + 1, 2 * i) % nvertices;
		uint64_t	dst = emogi_random(seed + 1, 2 * i + 1) % nvertices;

		if (skewed)
			src = src * src / nvertices * src / nvertices;
		add(shape, make_key(kind, seed, src), make_key(kind, seed, dst));
	}
	return true;
}

void
emogi_shape_free(EmogiShape *shape)
{
	free(shape->edges);
	*shape = (EmogiShape) {.edges = NULL};
}
