/*
 * overlay_apply.c: conversion of a graph with an overlay to a graph with arrays of its own, to
 * compare it with another
 */
#include "contract/overlay.h"

#include "contract/semirings.h"
#include "weights.h"

#include <string.h>

#define PIECE_VERTICES 65536	/* between two polls */

typedef struct Applying
{
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
	uint64_t	nbefore;		/* numbered vertices, including removed ones */
	uint32_t   *numbers;		/* [], number of each in the new graph; EMOGI_NO_VERTEX = removed */
	bool		(*poll) (void);
	bool		stopped;
	bool		misfit;			/* the type does not hold a weight */
} Applying;

/* Poll now and then; return true if asked to stop. */
static bool
poll_at(Applying *applying, uint64_t i)
{
	if (i % PIECE_VERTICES == 0)
		applying->stopped |= applying->poll();
	return applying->stopped;
}

/* Mark the vertices that an edge leads from or to; return the number of edges. */
static uint64_t
mark_vertices(Applying *applying)
{
	const EmogiListsView view = emogi_lists_forward(applying->graph, applying->overlay);
	uint64_t	nedges = 0;

	memset(applying->numbers, 0xFF, applying->nbefore * sizeof(*applying->numbers));
	for (uint64_t v = 0; v < applying->nbefore && !poll_at(applying, v); v++)
	{
		EmogiListPiece	whole;
		uint32_t	npieces;
		const EmogiListPiece *pieces = emogi_lists_pieces(&view, (uint32_t) v, &whole, &npieces);

		for (uint32_t i = 0; i < npieces; i++)
		{
			for (uint64_t e = 0; e < pieces[i].count; e++)
				applying->numbers[pieces[i].targets[e]] = applying->numbers[v] = 0;
			nedges += pieces[i].count;
		}
	}
	return nedges;
}

/*
 * Get the next vertex in the order of keys: the old ones from *old on merged with the new ones from
 * index *new on.
 */
static uint32_t
next_vertex(const Applying *applying, uint64_t *old, uint64_t *new)
{
	const EmogiGraph *graph = applying->graph;
	uint32_t	vertex = EMOGI_NO_VERTEX;

	if (*new < applying->overlay->nnew)
		vertex = (uint32_t) (graph->nvertices + emogi_overlay_new(applying->overlay, *new));
	if (vertex == EMOGI_NO_VERTEX ||
		(*old < graph->nvertices &&
		 emogi_overlay_before(graph, applying->overlay, (uint32_t) *old, vertex)))
		return (uint32_t) (*old)++;
	(*new)++;
	return vertex;
}

/*
 * Number the marked vertices by their keys, store the keys in ids unless NULL, and return their
 * number.
 */
static uint64_t
number_vertices(Applying *applying, int64_t *ids)
{
	uint64_t	old = 0;
	uint64_t	new = 0;
	uint64_t	nvertices = 0;

	for (uint64_t i = 0; i < applying->nbefore && !poll_at(applying, i); i++)
	{
		const uint32_t vertex = next_vertex(applying, &old, &new);

		if (applying->numbers[vertex] == EMOGI_NO_VERTEX)
			continue;
		applying->numbers[vertex] = (uint32_t) nvertices;
		if (ids != NULL)
			ids[nvertices] = emogi_overlay_key(applying->graph, applying->overlay, vertex);
		nvertices++;
	}
	return nvertices;
}

/* Write the lists of one direction. */
static void
write_lists(Applying *applying, const EmogiListsView *view, EmogiWeightType type,
			const EmogiAdjacency *lists)
{
	uint64_t   *offsets = (uint64_t *) lists->offsets;
	uint32_t   *targets = (uint32_t *) lists->targets;
	uint64_t	old = 0;
	uint64_t	new = 0;
	uint64_t	at = 0;
	uint64_t	number = 0;

	for (uint64_t i = 0; i < applying->nbefore && !poll_at(applying, i); i++)
	{
		const uint32_t vertex = next_vertex(applying, &old, &new);
		EmogiListPiece	whole;
		uint32_t	npieces;
		const EmogiListPiece *pieces = emogi_lists_pieces(view, vertex, &whole, &npieces);

		if (applying->numbers[vertex] == EMOGI_NO_VERTEX)
			continue;
		offsets[number++] = at;
		for (uint32_t k = 0; k < npieces; k++)
		{
			for (uint64_t e = 0; e < pieces[k].count; e++, at++)
			{
				const double weight = emogi_weight(pieces[k].weights, view->weight_type, e);

				targets[at] = applying->numbers[pieces[k].targets[e]];
				if (emogi_weight_is_exact(type, weight))
					emogi_weights_store((void *) lists->weights, type, at, &weight, 1);
				else
					applying->misfit = true;
			}
		}
	}
	offsets[number] = at;
}

bool
emogi_overlay_apply(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiDirection direction,
					EmogiWeightType type, void *(*allocate) (void *arg, size_t bytes), void *arg,
					bool (*poll) (void), EmogiGraph *applied)
{
	Applying	applying = {.graph = graph, .overlay = overlay,
							.nbefore = graph->nvertices + overlay->nnew, .poll = poll};
	const bool	backward = graph->backward.offsets != NULL;
	const EmogiListsView views[] =
		{emogi_lists_forward(graph, overlay), emogi_lists_backward(graph, overlay)};
	uint64_t	nvertices;
	uint64_t	nedges;
	void	   *memory;

	memset(applied, 0, sizeof(*applied));
	applying.numbers = allocate(arg, applying.nbefore * sizeof(*applying.numbers));
	nedges = mark_vertices(&applying);
	nvertices = number_vertices(&applying, NULL);
	if (nvertices == 0 || applying.stopped)
		return !applying.stopped;
	memory = allocate(arg, emogi_csr_bytes(nvertices, nedges, EMOGI_OUT,
										   backward && direction != EMOGI_BOTH, type));
	emogi_csr_view(memory, nvertices, nedges, direction, backward, type, applied);
	(void) number_vertices(&applying, memory);
	write_lists(&applying, &views[0], type, &applied->forward);
	if (backward && direction != EMOGI_BOTH)
		write_lists(&applying, &views[1], type, &applied->backward);
	if (applying.misfit)
		applied->weight_type = graph->weight_type;
	return !applying.stopped;
}
