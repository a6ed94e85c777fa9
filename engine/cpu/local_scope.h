/*
 * local_scope.h: the vertices of a small graph (local_scope.c), which local_graph.c makes
 */
#ifndef EMOGI_LOCAL_SCOPE_H
#define EMOGI_LOCAL_SCOPE_H

#include "contract/local_graph.h"
#include "cpu/vertex_set.h"

/* A small graph in the making. */
typedef struct EmogiLocalMaking
{
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
	EmogiListsView forward;
	EmogiListsView backward;
	bool		is_symmetric;	/* the backward lists are the forward lists */
	uint64_t	max_edges;
	uint64_t	nscanned;
	uint64_t	max_vertices;	/* of a set */
	bool		failed;			/* by a limit, or out of memory */
	EmogiVertexSet members;
} EmogiLocalMaking;

/* Charge edges to be scanned; false, and the making failed, if they exceed the limit. */
static inline bool
emogi_local_making_charge(EmogiLocalMaking *making, uint64_t nedges)
{
	making->nscanned += nedges;
	making->failed |= making->nscanned > making->max_edges;
	return !making->failed;
}

/* Set the members to those of a scope around vertices, unless it fails. */
extern void emogi_local_scope_collect(EmogiLocalMaking *making, EmogiLocalScope scope,
									  const uint32_t *vertices, uint64_t nvertices);

#endif							/* EMOGI_LOCAL_SCOPE_H */
