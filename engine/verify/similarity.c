/*
 * similarity.c: similarities are those of sets that are counted anew by bits, and nothing that is more alike was left out. Of large graphs
 * this is seen of some vertices alone.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>

#define MOST_LOOKS 5000000		/* at edges: so many vertices are looked at, */
#define LEAST_VERTICES 10		/* and these at least */

/* Put the set of a vertex into bits, or take it out again. */
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

/* Count the set of a vertex, and what of it is among bits. */
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

/* Get the similarity of v, whose set is among bits, to w. */
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
	return check->query->measure == EMOGI_OVERLAP ? nshared / fmin(a, b) : nshared / sqrt((double) a * b);
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
	for (uint64_t i = first; i < end && emogi_check_goes_on(check); i++)
	{
		double		expected;

		set_bits(check->graph, pairs[2 * i], bits, true);
		expected = similarity(check, pairs[2 * i], pairs[2 * i + 1], bits);
		set_bits(check->graph, pairs[2 * i], bits, false);
		if (columns[0].vertex[i] != (expected >= check->query->cutoff ? pairs[2 * i + 1] : EMOGI_NO_VERTEX) || columns[1].float64[i] != expected)
			emogi_check_wrong(check, "pair %llu (%u, %u): %.17g, should be %.17g", (unsigned long long) i, pairs[2 * i], pairs[2 * i + 1],
							  columns[1].float64[i], expected);
	}
	free(bits);
}

/* Check the vertices most like v, for element `place`; its set is among bits: each of them, and that every other is less so. seen: bits, none. */
static void
check_vertex(EmogiCheck *check, uint64_t place, uint32_t v, const uint64_t *bits, uint64_t *seen)
{
	const uint64_t most = (uint64_t) check->query->top_k;
	const uint32_t *vertex = check->result->columns[0].vertex + place * most;
	const double *value = check->result->columns[1].float64 + place * most;
	uint64_t	count = 0;

	for (; count < most && vertex[count] != EMOGI_NO_VERTEX; count++)
	{
		const uint32_t w = vertex[count];

		if (w >= check->graph->nvertices || w == v || !emogi_add_bit(seen, w) || value[count] != similarity(check, v, w, bits) ||
			value[count] <= 0.0 || value[count] < check->query->cutoff)
			emogi_check_wrong(check, "row %llu of vertex %u: %u, %.17g", (unsigned long long) count, v, w, value[count]);
		else if (count > 0 && (value[count] > value[count - 1] || (value[count] == value[count - 1] && w < vertex[count - 1])))
			emogi_check_wrong(check, "row %llu of vertex %u stands below the next", (unsigned long long) count - 1, v);
		if (!emogi_check_goes_on(check))
			return;
	}
	for (uint64_t i = count; i < most; i++)
		if (vertex[i] != EMOGI_NO_VERTEX)
			emogi_check_wrong(check, "vertex %u has a row behind its last", v);
	for (uint32_t w = 0; w < check->graph->nvertices; w++)
	{
		const double left_out = w == v || emogi_has_bit(seen, w) ? 0.0 : similarity(check, v, w, bits);

		if (left_out <= 0.0 || left_out < check->query->cutoff)
			continue;
		if (count < most || left_out > value[count - 1] || (left_out == value[count - 1] && w < vertex[count - 1]))
			emogi_check_wrong(check, "vertex %u is as like vertex %u as %.17g, and was left out", w, v, left_out);
	}
	for (uint64_t i = 0; i < count; i++)
		seen[vertex[i] / 64] = 0;
}

/* Get how many vertices were answered for. */
static uint64_t
count_answered(const EmogiCheck *check)
{
	return check->query->ntargets > 0 ? check->query->ntargets : check->graph->nvertices;
}

/* Get how many of these are looked at. */
static uint64_t
count_looked_at(const EmogiCheck *check)
{
	const uint64_t count = LEAST_VERTICES + MOST_LOOKS / (check->graph->nvertices + check->graph->forward.nedges);

	return count_answered(check) < count ? count_answered(check) : count;
}

/* Check what is most like vertices first .. end-1 of those that are looked at. */
static void
check_vertices(void *arg, uint64_t first, uint64_t end)
{
	EmogiCheck *check = arg;
	const uint64_t apart = count_answered(check) / count_looked_at(check);
	uint64_t   *bits = emogi_check_bits(check->graph->nvertices);
	uint64_t   *seen = emogi_check_bits(check->graph->nvertices);

	if (bits == NULL || seen == NULL)
		emogi_check_wrong(check, "out of memory");
	for (uint64_t i = first; i < end && emogi_check_goes_on(check); i++)
	{
		const uint64_t place = i * apart;
		const uint32_t v = check->query->ntargets > 0 ? check->query->targets[place] : (uint32_t) place;

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
	return check->graph->nvertices == 0 || emogi_check_parts(check, check_vertices, check, count_looked_at(check));
}
