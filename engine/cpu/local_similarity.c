/*
 * local_similarity.c: the vertices most like one, where little has to be looked at.
 *
 * The vertices that share a neighbour with it are two steps away, over its list and back. They are listed once for each neighbour that they share and
 * sorted, so that equal ones are counted; what is not listed shares none.
 */
#include "cpu/local_similarity.h"

#include <stdlib.h>
#include <string.h>

#include "graph/radix.h"
#include "similarity.h"

typedef struct Finding
{
	const EmogiGraph *graph;
	const EmogiOverlay *patch;
	EmogiListsView forward;
	EmogiListsView backward;
	uint64_t	max_edges;
	uint64_t	looked;
	uint64_t   *sharing;		/* [nsharing], vertices, once for each neighbour that they share; as integers to sort */
	uint64_t	nsharing;
	uint64_t	room;
	bool		failed;
} Finding;

/* Walks over the distinct targets of a list. */
typedef struct Walk
{
	EmogiPiece	whole;
	const EmogiPiece *pieces;
	uint32_t	npieces;
	uint32_t	piece;
	uint64_t	entry;
	uint32_t	before;
} Walk;

/* Begin a walk; false, with the finding failed, where the list is too long. */
static bool
begin_walk(Finding *finding, const EmogiListsView *view, uint32_t vertex, Walk *walk)
{
	finding->looked += emogi_lists_degree(view, vertex);
	finding->failed |= finding->looked > finding->max_edges;
	walk->pieces = emogi_lists_pieces(view, vertex, &walk->whole, &walk->npieces);
	walk->piece = 0;
	walk->entry = 0;
	walk->before = EMOGI_NO_VERTEX;
	return !finding->failed;
}

/* Get the next target; false at the end. Equal ones stand together. */
static bool
next_target(Walk *walk, uint32_t *target)
{
	while (walk->piece < walk->npieces)
	{
		if (walk->entry == walk->pieces[walk->piece].count)
		{
			walk->piece++;
			walk->entry = 0;
			continue;
		}
		*target = walk->pieces[walk->piece].targets[walk->entry++];
		if (*target == walk->before)
			continue;
		walk->before = *target;
		return true;
	}
	return false;
}

/* Count the distinct targets of a list. */
static uint32_t
count_targets(Finding *finding, uint32_t vertex)
{
	Walk		walk;
	uint32_t	target;
	uint32_t	count = 0;

	if (begin_walk(finding, &finding->forward, vertex, &walk))
		while (next_target(&walk, &target))
			count++;
	return count;
}

/* List a vertex that shares a neighbour. */
static void
add_sharing(Finding *finding, uint32_t vertex)
{
	if (finding->nsharing == finding->room)
	{
		const uint64_t room = 2 * finding->room + 1024;
		uint64_t   *moved = realloc(finding->sharing, room * sizeof *moved);

		if (moved == NULL)
		{
			finding->failed = true;
			return;
		}
		finding->sharing = moved;
		finding->room = room;
	}
	finding->sharing[finding->nsharing++] = vertex;
}

/* List all that share a neighbour with a vertex; get its set's size. */
static uint32_t
list_sharing(Finding *finding, uint32_t vertex)
{
	Walk		there;
	Walk		back;
	uint32_t	shared;
	uint32_t	other;
	uint32_t	size = 0;

	if (!begin_walk(finding, &finding->forward, vertex, &there))
		return 0;
	for (; !finding->failed && next_target(&there, &shared); size++)
		if (begin_walk(finding, &finding->backward, shared, &back))
			while (!finding->failed && next_target(&back, &other))
				if (other != vertex)
					add_sharing(finding, other);
	return size;
}

/* Does a vertex come before another? */
static bool
comes_before(const Finding *finding, double similarity, uint32_t v, double other_similarity, uint32_t other)
{
	return similarity > other_similarity || (similarity == other_similarity && emogi_overlay_before(finding->graph, finding->patch, v, other));
}

/* Put a vertex where it belongs among the best, of which there may be `most`. */
static void
offer(const Finding *finding, EmogiLocalSimilar *similar, uint64_t most, uint32_t v, double similarity)
{
	uint64_t	place = similar->count;

	if (place == most && !comes_before(finding, similarity, v, similar->similarity[place - 1], similar->vertices[place - 1]))
		return;
	if (place == most)
		place--;
	else
		similar->count++;
	for (; place > 0 && comes_before(finding, similarity, v, similar->similarity[place - 1], similar->vertices[place - 1]); place--)
	{
		similar->vertices[place] = similar->vertices[place - 1];
		similar->similarity[place] = similar->similarity[place - 1];
	}
	similar->vertices[place] = v;
	similar->similarity[place] = similarity;
}

/* Find the best of those that share something. */
static void
choose_best(Finding *finding, const EmogiQuery *query, uint32_t size, EmogiLocalSimilar *similar)
{
	uint64_t	end;

	for (uint64_t i = 0; i < finding->nsharing && !finding->failed; i = end)
	{
		const uint32_t v = (uint32_t) finding->sharing[i];
		uint32_t	other_size;
		double		similarity;

		for (end = i + 1; end < finding->nsharing && finding->sharing[end] == finding->sharing[i];)
			end++;
		other_size = count_targets(finding, v);
		similarity = emogi_similarity_of(query->measure, size, other_size, (uint32_t) (end - i));
		if (!finding->failed && similarity >= query->cutoff)
			offer(finding, similar, (uint64_t) query->top_k, v, similarity);
	}
}

bool
emogi_local_similarity(const EmogiGraph *graph, const EmogiOverlay *patch, const EmogiQuery *query, uint32_t vertex, uint64_t max_edges,
					  EmogiLocalSimilar *similar)
{
	Finding		finding = {.graph = graph,.patch = patch,.forward = emogi_lists_forward(graph, patch),
		.backward = emogi_lists_backward(graph, patch),.max_edges = max_edges};
	EmogiControl control = {0};
	EmogiJob	job = {.control = &control};
	const uint32_t size = list_sharing(&finding, vertex);
	const uint64_t most = finding.nsharing < (uint64_t) query->top_k ? finding.nsharing : (uint64_t) query->top_k;
	uint64_t   *scratch = malloc((finding.nsharing + 1) * sizeof *scratch);

	*similar = (EmogiLocalSimilar) {.vertices = malloc((most + 1) * sizeof(uint32_t)),.similarity = malloc((most + 1) * sizeof(double))};
	finding.failed |= scratch == NULL || similar->vertices == NULL || similar->similarity == NULL;
	if (!finding.failed && finding.nsharing > 0)
	{
		emogi_radix_sort_u64(finding.sharing, finding.nsharing, scratch, finding.nsharing + 1, &job);
		choose_best(&finding, query, size, similar);
	}
	similar->edges_traversed = finding.looked;
	free(scratch);
	free(finding.sharing);
	if (finding.failed)
		emogi_local_similarity_free(similar);
	return !finding.failed;
}

void
emogi_local_similarity_free(EmogiLocalSimilar *similar)
{
	free(similar->vertices);
	free(similar->similarity);
	*similar = (EmogiLocalSimilar) {0};
}
