/*
 * overlay.h: overlay of a few edge changes on a graph, for searches that reach a small part of it
 *
 * The graph's arrays are not modified; the overlay holds the changed adjacency lists. A changed
 * list is a sequence of pieces, each a range of the old arrays or of the overlay's own. So the cost
 * of an overlay is proportional to the changes, however long the lists are. The edges of a list are
 * in the order in which emogi_merge would have them.
 *
 * New vertices have numbers from graph->nvertices on, ascending by key unless the overlay has grown
 * (overlay_grow.h). So numbers do not order like keys if one of them is new. Vertices that have
 * lost their last edge keep their numbers, but no edge leads to them.
 */
#ifndef EMOGI_OVERLAY_H
#define EMOGI_OVERLAY_H

#include "contract/csr.h"
#include "contract/merge.h"

/* Edges that are contiguous in memory. */
typedef struct EmogiListPiece
{
	uint64_t	count;
	const uint32_t *targets;	/* [count], of the graph's weight type; NULL if that is NONE */
	const void *weights;		/* [count], of the graph's weight type; NULL if that is NONE */
} EmogiListPiece;

/* A changed adjacency list. */
typedef struct EmogiOverlayList
{
	uint32_t	vertex;			/* + 1; 0 = free slot */
	uint32_t	npieces;
	uint64_t	first;			/* index of the first piece */
	uint64_t	degree;
} EmogiOverlayList;

#define HASH_PREFIX overlay_list
#define HASH_ENTRY EmogiOverlayList
#define HASH_STORED(list) (list)->vertex
#include "containers/hash_table.h"

/* The changed lists of one direction. */
typedef struct EmogiOverlayLists
{
	int			bits;
	EmogiOverlayList *lists;	/* [2^bits], open addressing, at least half of them free */
	EmogiListPiece *pieces;
	uint64_t	nadded;
	const uint32_t *added;		/* [nadded], targets of added edges; the overlay's own pieces are
								 * ranges of them */
} EmogiOverlayLists;

typedef struct EmogiOverlay
{
	uint64_t	nnew;
	int64_t    *new_keys;		/* [nnew] */
	uint32_t   *new_order;		/* [nnew], indexes into new_keys in ascending order of keys; NULL =
								 * identity */
	uint64_t	nlosers;
	uint32_t   *losers;			/* [nlosers], ascending: vertices that have lost an edge, possibly
								 * their last */
	EmogiOverlayLists forward;
	EmogiOverlayLists backward;	/* if the graph has backward lists; for EMOGI_BOTH it equals
								 * forward */
} EmogiOverlay;

/* Get the maximum size of an overlay of an input's changes, in bytes. */
extern size_t emogi_overlay_bytes(const EmogiMergeInput *input);

/*
 * Build an overlay of input->changes in input->memory (emogi_overlay_bytes, line-aligned), in the
 * calling thread. input->graph is the graph as the search sees it, and input->direction that of its
 * forward lists. Backward lists are changed if the graph has them. weight_type is that of the old
 * graph. A graph without vertices is one of emogi_csr_view_empty.
 *
 * Returns false if a weight does not fit the old type, an edge to be removed does not exist, or
 * there would be too many vertices.
 */
extern bool emogi_overlay_make(const EmogiMergeInput *input, EmogiOverlay *overlay);

/*
 * Build the graph that a graph with an overlay stands for (overlay_apply.c), in the calling thread:
 * the result of emogi_csr_build for its edges, except that the weight type is given. If that type
 * does not hold all weights, the result has the old type and must not be used. Returns false if
 * poll, which is called every few milliseconds, asks to stop. allocate: returns line-aligned memory
 * with any content, or does not return.
 */
extern bool emogi_overlay_apply(const EmogiGraph *graph, const EmogiOverlay *overlay,
								EmogiDirection direction, EmogiWeightType type,
								void *(*allocate) (void *arg, size_t bytes), void *arg,
								bool (*poll) (void), EmogiGraph *applied);

/* Get the index in new_keys of the i-th new key in ascending order. */
static inline uint64_t
emogi_overlay_new(const EmogiOverlay *overlay, uint64_t i)
{
	return overlay->new_order != NULL ? overlay->new_order[i] : i;
}

/* Count the new keys below the one at an index in new_keys. */
extern uint64_t emogi_overlay_rank(const EmogiOverlay *overlay, uint64_t place);

/* Get the vertex of a key among the new ones, or EMOGI_NO_VERTEX. */
extern uint32_t emogi_overlay_new_vertex(const EmogiGraph *graph, const EmogiOverlay *overlay,
										 int64_t key);

/* Get the vertex of a key, or EMOGI_NO_VERTEX. overlay: NULL = no changes. */
static inline uint32_t
emogi_overlay_vertex(const EmogiGraph *graph, const EmogiOverlay *overlay, int64_t key)
{
	const uint32_t vertex = emogi_graph_vertex(graph, key);

	return vertex == EMOGI_NO_VERTEX && overlay != NULL ?
		emogi_overlay_new_vertex(graph, overlay, key) : vertex;
}

/* Whether a vertex still exists. Without backward lists this may be unknown. */
typedef enum EmogiOverlayPresence
{
	EMOGI_VERTEX_GONE,
	EMOGI_VERTEX_THERE,
	EMOGI_VERTEX_UNKNOWN
} EmogiOverlayPresence;

extern EmogiOverlayPresence emogi_overlay_presence(const EmogiGraph *graph,
												   const EmogiOverlay *overlay, uint32_t vertex);

/* Get the key of a vertex. */
static inline int64_t
emogi_overlay_key(const EmogiGraph *graph, const EmogiOverlay *overlay, uint32_t vertex)
{
	if (vertex >= graph->nvertices)
		return overlay->new_keys[vertex - graph->nvertices];
	return graph->ids != NULL ? graph->ids[vertex] : (int64_t) vertex;
}

/* Return true if the key of a is below that of b. */
static inline bool
emogi_overlay_before(const EmogiGraph *graph, const EmogiOverlay *overlay, uint32_t a, uint32_t b)
{
	if (a < graph->nvertices && b < graph->nvertices)
		return a < b;
	return emogi_overlay_key(graph, overlay, a) < emogi_overlay_key(graph, overlay, b);
}

/* Look up a vertex among the changed lists; return its list or a free slot. */
static inline EmogiOverlayList *
emogi_overlay_place(const EmogiOverlayLists *changed_lists, uint32_t vertex)
{
	return overlay_list_find(changed_lists->lists, changed_lists->bits, vertex);
}

/* The lists of one direction, with their changes. */
typedef struct EmogiListsView
{
	uint64_t	nvertices;
	EmogiWeightType weight_type;
	const EmogiAdjacency *lists;
	const EmogiOverlayLists *changed_lists;	/* NULL = no changes */
} EmogiListsView;

static inline EmogiListsView
emogi_lists_forward(const EmogiGraph *graph, const EmogiOverlay *overlay)
{
	return (EmogiListsView) {graph->nvertices, graph->weight_type, &graph->forward,
							 overlay != NULL ? &overlay->forward : NULL};
}

static inline EmogiListsView
emogi_lists_backward(const EmogiGraph *graph, const EmogiOverlay *overlay)
{
	return (EmogiListsView) {graph->nvertices, graph->weight_type, &graph->backward,
							 overlay != NULL ? &overlay->backward : NULL};
}

/* Get the length of a list. */
static inline uint64_t
emogi_lists_degree(const EmogiListsView *view, uint32_t vertex)
{
	if (view->changed_lists != NULL)
	{
		const EmogiOverlayList *list = emogi_overlay_place(view->changed_lists, vertex);

		if (list->vertex != 0)
			return list->degree;
	}
	return vertex < view->nvertices ?
		view->lists->offsets[vertex + 1] - view->lists->offsets[vertex] : 0;
}

/* Get a list as its pieces; *whole receives the piece of an unchanged list. */
static inline const EmogiListPiece *
emogi_lists_pieces(const EmogiListsView *view, uint32_t vertex, EmogiListPiece *whole,
				   uint32_t *npieces)
{
	uint64_t	first;

	if (view->changed_lists != NULL)
	{
		const EmogiOverlayList *list = emogi_overlay_place(view->changed_lists, vertex);

		*npieces = list->npieces;
		if (list->vertex != 0)
			return &view->changed_lists->pieces[list->first];
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
		whole->weights = (const char *) view->lists->weights +
			first * emogi_weight_bytes(view->weight_type);
	return whole;
}

#endif							/* EMOGI_OVERLAY_H */
