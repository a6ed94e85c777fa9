/*
 * overlay.h: a Graph as it is after a few changes of its edges, for searches that reach little of it: its arrays stay as they are,
 * and beside them stand the lists that have changed.
 *
 * A changed list is a sequence of pieces, each a range of the old arrays or of the patch's own, so that a patch costs what the
 * changes cost, however long the lists are. The entries of a list stand in the order in which emogi_merge would have them.
 *
 * Vertices that are new have the numbers from graph->nvertices on, ascending by key unless the patch has grown (overlay_grow.h); so numbers do not
 * order as keys where one of them is new. Vertices that have lost their last edge keep their numbers, but nothing leads to them.
 */
#ifndef EMOGI_OVERLAY_H
#define EMOGI_OVERLAY_H

#include "csr.h"
#include "graph/merge.h"

/* Entries that stand one after the other in memory. */
typedef struct EmogiPiece
{
	uint64_t	count;
	const uint32_t *targets;	/* [count] */
	const void *weights;		/* [count], of the Graph's weight type; NULL where that is NONE */
} EmogiPiece;

/* A list that has changed. */
typedef struct EmogiOverlayList
{
	uint32_t	vertex;			/* + 1; 0 = a free place */
	uint32_t	npieces;
	uint64_t	first;			/* piece */
	uint64_t	degree;
} EmogiOverlayList;

/* Those of an orientation. */
typedef struct EmogiOverlayLists
{
	int			bits;
	EmogiOverlayList *lists;	/* [2^bits], open addressing, at least half of them free */
	EmogiPiece *pieces;
	uint64_t	nadded;
	const uint32_t *added;		/* [nadded], targets of entries that have come; the pieces of the patch's own are ranges of them */
} EmogiOverlayLists;

typedef struct EmogiOverlay
{
	uint64_t	nnew;
	int64_t    *new_keys;		/* [nnew] */
	uint32_t   *new_order;		/* [nnew], their places in ascending order; NULL = they stand so */
	uint64_t	nlosers;
	uint32_t   *losers;			/* [nlosers], ascending: vertices that have lost an edge, and perhaps their last */
	EmogiOverlayLists forward;
	EmogiOverlayLists backward; /* where the Graph has it; for EMOGI_BOTH it is forward */
} EmogiOverlay;

/* Get the bytes of a patch for the changes of an input, at most. */
extern size_t emogi_overlay_bytes(const EmogiMergeInput *input);

/*
 * Make a patch of input->changes in input->memory (emogi_overlay_bytes, on a line), in the calling thread. input->graph is the
 * Graph as the search sees it, input->direction that of its forward lists, backward is patched where it is there; weight_type is
 * the old Graph's. The Graph must have vertices. False when that cannot be: a weight does not fit the old type, an edge
 * that is to go is not there, or there would be too many vertices.
 */
extern bool emogi_overlay_make(const EmogiMergeInput *input, EmogiOverlay *patch);

/*
 * Make the Graph that a patched one stands for (overlay_apply.c), in the calling thread: what emogi_csr_build makes of its edges, but for
 * the weight type, which is given; where that does not hold all weights the result has the old one and is of no use. False when poll,
 * which is asked every few milliseconds, says stop. allocate: line-aligned memory of any content, or a jump.
 */
extern bool emogi_overlay_apply(const EmogiGraph *graph, const EmogiOverlay *patch, EmogiDirection direction, EmogiWeightType type,
							  void *(*allocate) (void *arg, size_t bytes), void *arg, bool (*poll) (void), EmogiGraph *applied);

/* Get the place, in new_keys, of the i-th of the new keys in ascending order. */
static inline uint64_t
emogi_overlay_new(const EmogiOverlay *patch, uint64_t i)
{
	return patch->new_order != NULL ? patch->new_order[i] : i;
}

/* Get how many of the new keys are below the one at a place in new_keys. */
extern uint64_t emogi_overlay_rank(const EmogiOverlay *patch, uint64_t place);

/* Get the number of a key, or EMOGI_NO_VERTEX. patch: NULL = nothing has changed. */
extern uint32_t emogi_overlay_vertex(const EmogiGraph *graph, const EmogiOverlay *patch, int64_t key);

/* Is a vertex still there? Where the Graph does not lead backward that may be unknown. */
typedef enum EmogiOverlayPresence
{
	EMOGI_VERTEX_GONE,
	EMOGI_VERTEX_THERE,
	EMOGI_VERTEX_UNKNOWN
} EmogiOverlayPresence;

extern EmogiOverlayPresence emogi_overlay_presence(const EmogiGraph *graph, const EmogiOverlay *patch, uint32_t vertex);

/* Get the key of a vertex. */
static inline int64_t
emogi_overlay_key(const EmogiGraph *graph, const EmogiOverlay *patch, uint32_t vertex)
{
	if (vertex >= graph->nvertices)
		return patch->new_keys[vertex - graph->nvertices];
	return graph->ids != NULL ? graph->ids[vertex] : (int64_t) vertex;
}

/* Say whether the key of a stands before that of b. */
static inline bool
emogi_overlay_before(const EmogiGraph *graph, const EmogiOverlay *patch, uint32_t a, uint32_t b)
{
	if (a < graph->nvertices && b < graph->nvertices)
		return a < b;
	return emogi_overlay_key(graph, patch, a) < emogi_overlay_key(graph, patch, b);
}

/* Find the place of a vertex among the changed lists: its list, or a free one. */
static inline EmogiOverlayList *
emogi_overlay_place(const EmogiOverlayLists *patched, uint32_t vertex)
{
	const uint64_t mask = (UINT64_C(1) << patched->bits) - 1;
	uint64_t	i = vertex * UINT64_C(0x9E3779B97F4A7C15) >> (64 - patched->bits);

	while (patched->lists[i].vertex != vertex + 1 && patched->lists[i].vertex != 0)
		i = (i + 1) & mask;
	return &patched->lists[i];
}

/* One orientation, with what has changed in it. */
typedef struct EmogiListsView
{
	uint64_t	nvertices;
	EmogiWeightType weight_type;
	const EmogiAdjacency *lists;
	const EmogiOverlayLists *patched;	/* NULL = nothing */
} EmogiListsView;

static inline EmogiListsView
emogi_lists_forward(const EmogiGraph *graph, const EmogiOverlay *patch)
{
	return (EmogiListsView) {graph->nvertices, graph->weight_type, &graph->forward, patch != NULL ? &patch->forward : NULL};
}

static inline EmogiListsView
emogi_lists_backward(const EmogiGraph *graph, const EmogiOverlay *patch)
{
	return (EmogiListsView) {graph->nvertices, graph->weight_type, &graph->backward, patch != NULL ? &patch->backward : NULL};
}

/* Get the length of a list. */
static inline uint64_t
emogi_lists_degree(const EmogiListsView *view, uint32_t vertex)
{
	if (view->patched != NULL)
	{
		const EmogiOverlayList *list = emogi_overlay_place(view->patched, vertex);

		if (list->vertex != 0)
			return list->degree;
	}
	return vertex < view->nvertices ? view->lists->offsets[vertex + 1] - view->lists->offsets[vertex] : 0;
}

/* Get a list as its pieces; *whole takes that of one which has not changed. */
static inline const EmogiPiece *
emogi_lists_pieces(const EmogiListsView *view, uint32_t vertex, EmogiPiece *whole, uint32_t *npieces)
{
	uint64_t	first;

	if (view->patched != NULL)
	{
		const EmogiOverlayList *list = emogi_overlay_place(view->patched, vertex);

		*npieces = list->npieces;
		if (list->vertex != 0)
			return &view->patched->pieces[list->first];
	}
	*npieces = 0;
	if (vertex >= view->nvertices)
		return whole;
	first = view->lists->offsets[vertex];
	*npieces = 1;
	whole->count = view->lists->offsets[vertex + 1] - first;
	whole->targets = view->lists->targets + first;
	whole->weights = NULL;
	if (view->weight_type != EMOGI_WEIGHT_NONE)
		whole->weights = (const char *) view->lists->weights + first * emogi_weight_bytes(view->weight_type);
	return whole;
}

#endif							/* EMOGI_OVERLAY_H */
