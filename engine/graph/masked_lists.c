/*
 * masked_lists.c: copy the passing edges of adjacency lists.
 */
#include "contract/masked_lists.h"

#include <stdlib.h>
#include <string.h>

#define MIN_ROOM 256

EmogiMaskedView
emogi_masked_forward(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiEdgeMask *mask)
{
	return (EmogiMaskedView) {.view = emogi_lists_forward(graph, overlay),
							  .lists = &mask->forward};
}

EmogiMaskedView
emogi_masked_backward(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiEdgeMask *mask)
{
	EmogiMaskedView masked = {.view = emogi_lists_backward(graph, overlay)};

	if (graph->backward.offsets != NULL)
		masked.lists = emogi_edge_mask_backward(mask);
	return masked;
}

void
emogi_masked_free(EmogiMaskedView *masked)
{
	free(masked->targets);
	masked->targets = NULL;
	masked->room = 0;
}

/*
 * Find the first entry of a nonempty piece in the graph's lists; false if an overlay has added its
 * edges.
 */
static bool
find_entry(const EmogiMaskedView *masked, const EmogiListPiece *piece, uint64_t *first)
{
	const uintptr_t bytes = (uintptr_t) piece->targets -
		(uintptr_t) masked->view.lists->targets;

	*first = bytes / sizeof(*piece->targets);
	return *first < masked->view.lists->nedges;
}

/* Ensure room for the edges of a list; false if out of memory. */
static bool
reserve(EmogiMaskedView *masked, uint64_t degree)
{
	const size_t weight_bytes = emogi_weight_bytes(masked->view.weight_type);
	uint64_t	room = 2 * masked->room > MIN_ROOM ? 2 * masked->room : MIN_ROOM;

	if (degree <= masked->room)
		return true;
	if (room < degree)
		room = degree;
	room = (room + 1) / 2 * 2;	/* weights are aligned */
	emogi_masked_free(masked);
	masked->targets = malloc(room * (sizeof(*masked->targets) + weight_bytes));
	if (masked->targets == NULL)
		return false;
	masked->room = room;
	masked->weights = masked->targets + room;
	return true;
}

/* Copy the weights of the entries of a word whose bits are set behind `count` weights. */
#define COPY_WEIGHTS(type) \
	for (; bits != 0; bits &= bits - 1) \
		((type *) masked->weights)[count++] = \
			((const type *) masked->view.lists->weights)[word * 64 + \
														 (uint64_t) __builtin_ctzll(bits)]

static void
copy_weights(EmogiMaskedView *masked, uint64_t word, uint64_t bits, uint64_t count)
{
	switch (emogi_weight_bytes(masked->view.weight_type))
	{
		case 1:
			COPY_WEIGHTS(uint8_t);
			break;
		case 2:
			COPY_WEIGHTS(uint16_t);
			break;
		case 4:
			COPY_WEIGHTS(uint32_t);
			break;
		case 8:
			COPY_WEIGHTS(uint64_t);
			break;
	}
}

/* Append the passing entries [first, end) of the graph to the piece. */
static void
append_entries(EmogiMaskedView *masked, uint64_t first, uint64_t end)
{
	for (uint64_t e = first; e < end; e = (e / 64 + 1) * 64)
	{
		const uint64_t word = e / 64;
		const uint32_t *of_word = masked->view.lists->targets + word * 64;
		uint64_t	bits = emogi_bitmap_part(word, emogi_edge_mask_word(masked->lists, word),
											 first, end);

		if (masked->view.weight_type != EMOGI_WEIGHT_NONE)
			copy_weights(masked, word, bits, masked->piece.count);
		for (; bits != 0; bits &= bits - 1)
			masked->targets[masked->piece.count++] = of_word[__builtin_ctzll(bits)];
	}
}

/* Append added edges to the piece. */
static void
append_added(EmogiMaskedView *masked, const EmogiListPiece *added)
{
	const size_t weight_bytes = emogi_weight_bytes(masked->view.weight_type);

	memcpy(masked->targets + masked->piece.count, added->targets,
		   added->count * sizeof(*added->targets));
	if (weight_bytes > 0)
		memcpy((char *) masked->weights + masked->piece.count * weight_bytes, added->weights,
			   added->count * weight_bytes);
	masked->piece.count += added->count;
}

const EmogiListPiece *
emogi_masked_list(EmogiMaskedView *masked, uint32_t vertex)
{
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(&masked->view, vertex, &whole, &npieces);

	if (!reserve(masked, emogi_lists_degree(&masked->view, vertex)))
		return NULL;
	masked->piece = (EmogiListPiece) {0, masked->targets, NULL};
	if (masked->view.weight_type != EMOGI_WEIGHT_NONE)
		masked->piece.weights = masked->weights;
	for (uint32_t i = 0; i < npieces; i++)
	{
		uint64_t	first;

		if (pieces[i].count == 0)
			continue;
		if (find_entry(masked, &pieces[i], &first))
			append_entries(masked, first, first + pieces[i].count);
		else
			append_added(masked, &pieces[i]);
	}
	return &masked->piece;
}

/* Check whether a list has an edge that passes. */
static bool
has_edge(EmogiMaskedView *masked, uint32_t vertex)
{
	EmogiListPiece	whole;
	uint32_t	npieces;
	const EmogiListPiece *pieces = emogi_lists_pieces(&masked->view, vertex, &whole, &npieces);

	for (uint32_t i = 0; i < npieces; i++)
	{
		uint64_t	first;

		if (pieces[i].count == 0)
			continue;
		if (!find_entry(masked, &pieces[i], &first) ||
			emogi_edge_mask_any(masked->lists, first, first + pieces[i].count))
			return true;
	}
	return false;
}

EmogiOverlayPresence
emogi_masked_presence(const EmogiGraph *graph, const EmogiOverlay *overlay, EmogiEdgeMask *mask,
					  uint32_t vertex)
{
	EmogiMaskedView forward = emogi_masked_forward(graph, overlay, mask);
	EmogiMaskedView backward = emogi_masked_backward(graph, overlay, mask);

	if (has_edge(&forward, vertex))
		return EMOGI_VERTEX_THERE;
	if (mask->is_symmetric)
		return EMOGI_VERTEX_GONE;
	if (backward.lists == NULL)
		return EMOGI_VERTEX_UNKNOWN;
	return has_edge(&backward, vertex) ? EMOGI_VERTEX_THERE : EMOGI_VERTEX_GONE;
}
