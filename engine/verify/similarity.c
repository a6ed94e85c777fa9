/*
 * similarity.c: verify similarities: recompute them with bitmaps, and check that no more similar
 * vertex was omitted. In large graphs only a subset of the vertices is checked.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#define MAX_EDGES_VISITED 5000000	/* determines the number of vertices checked, */
#define MIN_VERTICES 10			/* which is at least this */

/* Set or clear the bits of a vertex's neighbor set. */
static void
set_bits(const EmogiGraph *graph, uint32_t v, uint64_t *bits, bool in)
{
	for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
	{
		const uint32_t w = graph->forward.targets[e];

		if (in)
			emogi_add_bit(bits, w);
		else
			bits[w / 64] = 0;
	}
}

/* Count the neighbor set of a vertex, and its intersection with a bitmap. */
static uint32_t
count_set(const EmogiGraph *graph, uint32_t v, const uint64_t *bits, uint32_t *size)
{
	uint32_t	nshared = 0;
	uint32_t	before = EMOGI_NO_VERTEX;

	*size = 0;
	for (uint64_t e = graph->forward.offsets[v]; e < graph->forward.offsets[v + 1]; e++)
	{
		const uint32_t w = graph->forward.targets[e];

		*size += w != before;
		nshared += w != before && emogi_has_bit(bits, w);
		before = w;
	}
	return nshared;
}

/* Get the similarity of v, whose neighbor set is in the bitmap, and w. */
static double
similarity(const EmogiCheck *check, uint32_t v, uint32_t w, const uint64_t *bits)
{
	uint32_t	a,
				b;
	const uint32_t nshared = count_set(check->graph, w, bits, &b);

	count_set(check->graph, v, bits, &a);
	if (nshared == 0)
		return 0.0;
	if (check->query->measure == EMOGI_JACCARD)
		return nshared / ((double) a + b - nshared);
	return check->query->measure == EMOGI_OVERLAP ? nshared / fmin(a, b)
		: nshared / sqrt((double) a * b);
}

/* Check pairs first .. end-1. */
static void
check_pairs(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const uint32_t *pairs = check->query->pairs;
	const EmogiArray *columns = check->result->columns;
	uint64_t   *bits = emogi_check_bits(check->graph->nvertices);

	if (bits == NULL)
	{
		emogi_check_wrong(check, "out of memory");
		return;
	}
	for (uint64_t i = first; i < end && emogi_check_ok(check); i++)
	{
		double		expected;

		set_bits(check->graph, pairs[2 * i], bits, true);
		expected = similarity(check, pairs[2 * i], pairs[2 * i + 1], bits);
		set_bits(check->graph, pairs[2 * i], bits, false);
		if (columns[0].vertex[i] != (expected >= check->query->cutoff ? pairs[2 * i + 1]
									 : EMOGI_NO_VERTEX) || columns[1].float64[i] != expected)
			emogi_check_wrong(check, "pair %llu (%u, %u): %.17g, should be %.17g",
							  (unsigned long long) i, pairs[2 * i], pairs[2 * i + 1],
							  columns[1].float64[i], expected);
	}
	free(bits);
}

/*
 * Check the vertices most similar to v, which are element `place` of the result: the similarity of
 * each one, and that all other vertices are less similar. The neighbor set of v is in `bits`; seen:
 * a clear bitmap.
 */
static void
check_vertex(EmogiCheck *check, uint64_t place, uint32_t v, const uint64_t *bits, uint64_t *seen)
{
	const uint64_t limit = (uint64_t) check->query->top_k;
	const uint32_t *vertex = check->result->columns[0].vertex + place * limit;
	const double *value = check->result->columns[1].float64 + place * limit;
	uint64_t	count = 0;

	for (; count < limit && vertex[count] != EMOGI_NO_VERTEX; count++)
	{
		const uint32_t w = vertex[count];

		if (w >= check->graph->nvertices || w == v || !emogi_add_bit(seen, w) ||
			value[count] != similarity(check, v, w, bits) ||
			value[count] <= 0.0 || value[count] < check->query->cutoff)
			emogi_check_wrong(check, "row %llu of vertex %u: %u, %.17g", (unsigned long long) count,
							  v, w, value[count]);
		else if (count > 0 &&
				 (value[count] > value[count - 1] ||
				  (value[count] == value[count - 1] && w < vertex[count - 1])))
			emogi_check_wrong(check, "row %llu of vertex %u stands below the next",
							  (unsigned long long) count - 1, v);
		if (!emogi_check_ok(check))
			return;
	}
	for (uint64_t i = count; i < limit; i++)
		if (vertex[i] != EMOGI_NO_VERTEX)
			emogi_check_wrong(check, "vertex %u has a row behind its last", v);
	for (uint32_t w = 0; w < check->graph->nvertices; w++)
	{
		const double left_out = w == v || emogi_has_bit(seen, w) ? 0.0
			: similarity(check, v, w, bits);

		if (left_out <= 0.0 || left_out < check->query->cutoff)
			continue;
		if (count < limit || left_out > value[count - 1] ||
			(left_out == value[count - 1] && w < vertex[count - 1]))
			emogi_check_wrong(check, "vertex %u is as like vertex %u as %.17g, and was left out", w,
							  v, left_out);
	}
	for (uint64_t i = 0; i < count; i++)
		seen[vertex[i] / 64] = 0;
}

/* Get the number of vertices that have results. */
static uint64_t
count_answered(const EmogiCheck *check)
{
	return check->query->ntargets > 0 ? check->query->ntargets : check->graph->nvertices;
}

/* Get the number of these that are checked. */
static uint64_t
count_checked(const EmogiCheck *check)
{
	const uint64_t count = MIN_VERTICES +
		MAX_EDGES_VISITED / (check->graph->nvertices + check->graph->forward.nedges);

	return count_answered(check) < count ? count_answered(check) : count;
}

/* Check the most similar vertices of elements first .. end-1 of those that are checked. */
static void
check_vertices(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const uint64_t stride = count_answered(check) / count_checked(check);
	uint64_t   *bits = emogi_check_bits(check->graph->nvertices);
	uint64_t   *seen = emogi_check_bits(check->graph->nvertices);

	if (bits == NULL || seen == NULL)
		emogi_check_wrong(check, "out of memory");
	for (uint64_t i = first; i < end && emogi_check_ok(check); i++)
	{
		const uint64_t place = i * stride;
		const uint32_t v = check->query->ntargets > 0 ? check->query->targets[place]
			: (uint32_t) place;

		set_bits(check->graph, v, bits, true);
		check_vertex(check, place, v, bits, seen);
		set_bits(check->graph, v, bits, false);
	}
	free(bits);
	free(seen);
}

bool
emogi_verify_similarity(EmogiCheck *check)
{
	if (check->query->pairs != NULL)
		return emogi_check_parts(check, check_pairs, check, check->query->npairs);
	return check->graph->nvertices == 0 ||
		emogi_check_parts(check, check_vertices, check, count_checked(check));
}
