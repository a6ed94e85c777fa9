/*
 * local_similarity.c: the vertices most similar to one vertex, if few edges have to be scanned
 *
 * The vertices that share a neighbor with it are two steps away, over its list and back. They are
 * listed once per shared neighbor and sorted, so that equal ones can be counted. Unlisted vertices
 * share none.
 */
#include "contract/local_similarity.h"

#include <stdlib.h>

#include "threads/radix.h"
#include "similarity.h"

typedef struct SimilaritySearch
{
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
	EmogiListsView forward;
	EmogiListsView backward;
	uint64_t	max_edges;
	uint64_t	scanned;
	uint64_t   *sharing;		/* [nsharing], vertices, once per shared neighbor; as integers to
								 * sort */
	uint64_t	nsharing;
	uint64_t	room;
	bool		failed;
} SimilaritySearch;

/* Scan of the distinct targets of a list. */
typedef struct Scan
{
	EmogiListPiece	whole;
	const EmogiListPiece *pieces;
	uint32_t	npieces;
	uint32_t	piece;
	uint64_t	entry;
	uint32_t	before;
} Scan;

/* Begin a scan; false, and the search failed, if the list is too long. */
static bool
begin_scan(SimilaritySearch *finding, const EmogiListsView *view, uint32_t vertex, Scan *scan)
{
	finding->scanned += emogi_lists_degree(view, vertex);
	finding->failed |= finding->scanned > finding->max_edges;
	scan->pieces = emogi_lists_pieces(view, vertex, &scan->whole, &scan->npieces);
	scan->piece = 0;
	scan->entry = 0;
	scan->before = EMOGI_NO_VERTEX;
	return !finding->failed;
}

/* Get the next target; false at the end. Equal ones are adjacent. */
static bool
next_target(Scan *scan, uint32_t *target)
{
	while (scan->piece < scan->npieces)
	{
		if (scan->entry == scan->pieces[scan->piece].count)
		{
			scan->piece++;
			scan->entry = 0;
			continue;
		}
		*target = scan->pieces[scan->piece].targets[scan->entry++];
		if (*target == scan->before)
			continue;
		scan->before = *target;
		return true;
	}
	return false;
}

/* Count the distinct targets of a list. */
static uint32_t
count_targets(SimilaritySearch *finding, uint32_t vertex)
{
	Scan		scan;
	uint32_t	target;
	uint32_t	count = 0;

	if (begin_scan(finding, &finding->forward, vertex, &scan))
		while (next_target(&scan, &target))
			count++;
	return count;
}

/* List a vertex that shares a neighbor. */
static void
add_sharing(SimilaritySearch *finding, uint32_t vertex)
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

/* List all vertices that share a neighbor with a vertex; return the size of its neighbor set. */
static uint32_t
list_sharing(SimilaritySearch *finding, uint32_t vertex)
{
	Scan		there;
	Scan		back;
	uint32_t	shared;
	uint32_t	other;
	uint32_t	size = 0;

	if (!begin_scan(finding, &finding->forward, vertex, &there))
		return 0;
	for (; !finding->failed && next_target(&there, &shared); size++)
		if (begin_scan(finding, &finding->backward, shared, &back))
			while (!finding->failed && next_target(&back, &other))
				if (other != vertex)
					add_sharing(finding, other);
	return size;
}

/* Return true if one vertex ranks before another. */
static bool
comes_before(const SimilaritySearch *finding, double similarity, uint32_t v,
			 double other_similarity, uint32_t other)
{
	return similarity > other_similarity ||
		(similarity == other_similarity &&
		 emogi_overlay_before(finding->graph, finding->overlay, v, other));
}

/* Insert a vertex into the best ones, at most max_count. */
static void
offer(const SimilaritySearch *finding, EmogiLocalSimilar *similar, uint64_t max_count, uint32_t v,
	  double similarity)
{
	uint64_t	place = similar->count;

	if (place == max_count &&
		!comes_before(finding, similarity, v, similar->similarity[place - 1],
					  similar->vertices[place - 1]))
		return;
	if (place == max_count)
		place--;
	else
		similar->count++;
	for (; place > 0 && comes_before(finding, similarity, v, similar->similarity[place - 1],
									 similar->vertices[place - 1]); place--)
	{
		similar->vertices[place] = similar->vertices[place - 1];
		similar->similarity[place] = similar->similarity[place - 1];
	}
	similar->vertices[place] = v;
	similar->similarity[place] = similarity;
}

/* Find the best of those that share a neighbor. */
static void
choose_best(SimilaritySearch *finding, const EmogiQuery *query, uint32_t size,
			EmogiLocalSimilar *similar)
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
emogi_local_similarity(const EmogiGraph *graph, const EmogiOverlay *overlay,
					   const EmogiQuery *query, uint32_t vertex, uint64_t max_edges,
					   EmogiLocalSimilar *similar)
{
	SimilaritySearch		finding = {.graph = graph,.overlay = overlay,
						   .forward = emogi_lists_forward(graph, overlay),
						   .backward = emogi_lists_backward(graph, overlay),.max_edges = max_edges};
	EmogiControl control = {0};
	EmogiJob	job = {.control = &control};
	const uint32_t size = list_sharing(&finding, vertex);
	const uint64_t max_count = finding.nsharing < (uint64_t) query->top_k ?
		finding.nsharing : (uint64_t) query->top_k;
	uint64_t   *scratch = malloc((finding.nsharing + 1) * sizeof *scratch);

	*similar = (EmogiLocalSimilar) {.vertices = malloc((max_count + 1) * sizeof(uint32_t)),
									.similarity = malloc((max_count + 1) * sizeof(double))};
	finding.failed |= scratch == NULL || similar->vertices == NULL || similar->similarity == NULL;
	if (!finding.failed && finding.nsharing > 0)
	{
		emogi_radix_sort_u64(finding.sharing, finding.nsharing, scratch, finding.nsharing + 1,
							 &job);
		choose_best(&finding, query, size, similar);
	}
	similar->edges_traversed = finding.scanned;
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
