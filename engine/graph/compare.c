/*
 * compare.c: compare two graphs, and describe the first difference.
 *
 * Arrays are compared as memory, piece by piece. Only if one differs, it is searched for the first
 * difference by list, because that is what the user can look up in the table.
 */
#include "contract/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "contract/semirings.h"
#include "contract/builder.h"

/* Bytes between two polls: a few ms. */
#define PIECE_BYTES ((size_t) 16 << 20)

/* Vertices between two polls. */
#define PIECE_VERTICES (UINT64_C(1) << 20)

/* A comparison. */
typedef struct Comparison
{
	const EmogiGraph *a;
	const EmogiGraph *b;
	bool		(*poll) (void);
	bool		stopped;
	char	   *difference;
	size_t		bytes;
} Comparison;

/* Describe the difference; evaluates to false. */
#define DIFFER(comparison, ...) \
	((void) snprintf((comparison)->difference, (comparison)->bytes, __VA_ARGS__), false)

/* Check whether two arrays are equal; false also if stopped. */
static bool
are_same(Comparison *comparison, const void *a, const void *b, size_t bytes)
{
	for (size_t done = 0; done < bytes; done += PIECE_BYTES)
	{
		const size_t piece = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;

		if (comparison->poll())
		{
			comparison->stopped = true;
			return false;
		}
		if (memcmp((const char *) a + done, (const char *) b + done, piece) != 0)
			return false;
	}
	return true;
}

/* Get the key of a vertex. */
static int64_t
key_of(const EmogiGraph *graph, uint64_t v)
{
	return graph->ids != NULL ? graph->ids[v] : (int64_t) v;
}

/* ---- vertices ---- */

/* Compare the vertices. */
static bool
compare_vertices(Comparison *comparison)
{
	const EmogiGraph *a = comparison->a;
	const EmogiGraph *b = comparison->b;
	const uint64_t min = a->nvertices < b->nvertices ? a->nvertices : b->nvertices;
	uint64_t	v = 0;
	bool		missing;

	if (a->nvertices == b->nvertices && (a->ids == NULL) == (b->ids == NULL) &&
		(a->ids == NULL || are_same(comparison, a->ids, b->ids, a->nvertices * sizeof *a->ids)))
		return true;
	if (comparison->stopped)
		return false;
	while (v < min && key_of(a, v) == key_of(b, v))
		v++;
	if (v == a->nvertices && v == b->nvertices)
		return true;
	missing = v == a->nvertices || (v < b->nvertices && key_of(b, v) < key_of(a, v));
	return DIFFER(comparison, "vertex %" PRId64 " %s (vertices: %" PRIu64 ", not %" PRIu64 ")",
				  missing ? key_of(b, v) : key_of(a, v),
				  missing ? "is missing" : "should not be there", a->nvertices, b->nvertices);
}

/* ---- lists ---- */

/* A direction of both graphs; the vertices are equal. */
typedef struct Orientation
{
	const char *name;			/* how a message begins */
	const EmogiAdjacency *a;
	const EmogiAdjacency *b;
} Orientation;

/* Check whether a vertex has a list that lies within the array. */
static bool
has_list(const EmogiAdjacency *lists, uint64_t v)
{
	return lists->offsets[v] <= lists->offsets[v + 1] && lists->offsets[v + 1] <= lists->nedges;
}

/* Check whether the lists of a vertex are equal. Both lie within their arrays. */
static bool
are_same_lists(const Orientation *lists, uint64_t v, size_t weight_bytes)
{
	const uint64_t length = lists->b->offsets[v + 1] - lists->b->offsets[v];
	const uint64_t a = lists->a->offsets[v];
	const uint64_t b = lists->b->offsets[v];

	return lists->a->offsets[v + 1] - a == length &&
		memcmp(lists->a->targets + a, lists->b->targets + b, length * sizeof *lists->a->targets) ==
			0 &&
		(weight_bytes == 0 ||
		 memcmp((const char *) lists->a->weights + a * weight_bytes,
				(const char *) lists->b->weights + b * weight_bytes, length * weight_bytes) == 0);
}

/* Describe the first difference between the lists of a vertex. */
static bool
explain_list(Comparison *comparison, const Orientation *lists, uint64_t v)
{
	const EmogiGraph *graph = comparison->b;
	const int64_t key = key_of(graph, v);
	uint64_t	a = lists->a->offsets[v];
	uint64_t	b = lists->b->offsets[v];
	const uint64_t a_end = lists->a->offsets[v + 1];
	const uint64_t b_end = lists->b->offsets[v + 1];
	const uint64_t a_length = a_end - a;
	const uint64_t b_length = b_end - b;
	const EmogiWeightType type = graph->weight_type;
	bool		missing;
	uint32_t	target;

	while (a < a_end && b < b_end && lists->a->targets[a] == lists->b->targets[b])
	{
		const double a_weight = emogi_weight(lists->a->weights, type, a);
		const double b_weight = emogi_weight(lists->b->weights, type, b);

		if (a_weight != b_weight)
			return DIFFER(comparison,
						  "%s of vertex %" PRId64 ": %" PRId64 " has the weight %.17g, "
						  "not %.17g (entries: %" PRIu64 ", not %" PRIu64 ")",
						  lists->name, key, key_of(graph, lists->b->targets[b]), a_weight, b_weight,
						  a_length, b_length);
		a++;
		b++;
	}
	if (a == a_end && b == b_end)
		return DIFFER(comparison, "%s of vertex %" PRId64 ": weights are equal, but not the same",
					  lists->name, key);
	missing = a == a_end || (b < b_end && lists->b->targets[b] < lists->a->targets[a]);
	target = missing ? lists->b->targets[b] : lists->a->targets[a];
	if (target >= graph->nvertices)
		return DIFFER(comparison, "%s of vertex %" PRId64 ": entry %" PRIu32 " is no vertex",
					  lists->name, key, target);
	return DIFFER(comparison,
				  "%s of vertex %" PRId64 ": %" PRId64 " %s (entries: %" PRIu64 ", not %" PRIu64
				  ")", lists->name, key, key_of(graph, target),
				  missing ? "is missing" : "should not be there", a_length, b_length);
}

/* Find and describe the first list that differs. */
static bool
explain_lists(Comparison *comparison, const Orientation *lists, size_t weight_bytes)
{
	const EmogiGraph *graph = comparison->b;

	for (uint64_t v = 0; v < graph->nvertices; v++)
	{
		if (v % PIECE_VERTICES == 0 && comparison->poll())
		{
			comparison->stopped = true;
			return false;
		}
		if (!has_list(lists->a, v) || !has_list(lists->b, v))
			return DIFFER(comparison, "%s of vertex %" PRId64 " lies outside of the lists",
						  lists->name, key_of(graph, v));
		if (!are_same_lists(lists, v, weight_bytes))
			return explain_list(comparison, lists, v);
	}
	return DIFFER(comparison, "%s: edges belong to no vertex (edges: %" PRIu64 ", not %" PRIu64 ")",
				  lists->name, lists->a->nedges, lists->b->nedges);
}

/* Get the name of a weight type for messages. */
static const char *
type_name(EmogiWeightType type)
{
	static const char *const names[] = {"none", "of 1 byte", "of 2 bytes", "of 4 bytes", "float4",
		"float8"};

	return (unsigned) type < sizeof names / sizeof names[0] ? names[type] : "of no type";
}

/* Compare a direction. */
static bool
compare_lists(Comparison *comparison, const Orientation *lists)
{
	const EmogiAdjacency *a = lists->a;
	const EmogiAdjacency *b = lists->b;
	const size_t weight_bytes = emogi_weight_bytes(comparison->b->weight_type);

	if ((a->offsets == NULL) != (b->offsets == NULL))
		return DIFFER(comparison, "%s %s", lists->name,
					  a->offsets == NULL ? "is missing" : "should not be there");
	if (a->offsets == NULL ||
		(a->offsets == comparison->a->forward.offsets &&
		 b->offsets == comparison->b->forward.offsets &&
		 lists->a != &comparison->a->forward))
		return true;
	if (a->nedges == b->nedges &&
		are_same(comparison, a->offsets, b->offsets,
				 (comparison->b->nvertices + 1) * sizeof *a->offsets) &&
		are_same(comparison, a->targets, b->targets, a->nedges * sizeof *a->targets) &&
		are_same(comparison, a->weights, b->weights, a->nedges * weight_bytes))
		return true;
	return !comparison->stopped && explain_lists(comparison, lists, weight_bytes);
}

bool
emogi_graph_compare(const EmogiGraph *a, const EmogiGraph *b, bool (*poll) (void), char *difference,
					size_t bytes)
{
	Comparison	comparison = {.a = a, .b = b, .poll = poll, .difference = difference,
		.bytes = bytes};
	const Orientation forward = {"list", &a->forward, &b->forward};
	const Orientation backward = {"backward list", &a->backward, &b->backward};

	difference[0] = '\0';
	if (a->nvertices == 0 && b->nvertices == 0)
		return true;
	if (!compare_vertices(&comparison))
		return false;
	if (a->weight_type != b->weight_type)
		return DIFFER(&comparison, "weights: %s, not %s", type_name(a->weight_type),
					  type_name(b->weight_type));
	return compare_lists(&comparison, &forward) && compare_lists(&comparison, &backward);
}
