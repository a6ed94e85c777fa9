/*
 * local_components.h: the components of a Graph to which a few edges have come, from those that it had: what is computed depends on
 * the number of edges that have come. To write all of them out takes a copy.
 */
#ifndef EMOGI_LOCAL_COMPONENTS_H
#define EMOGI_LOCAL_COMPONENTS_H

#include "contract/engine.h"
#include "graph/overlay.h"

/* A component that an edge has come to. */
typedef struct EmogiJoined
{
	uint32_t	vertex;			/* + 1, its smallest before; 0 = a free place */
	uint32_t	above;			/* place of one that it is joined to, which has a smaller one; its own = none */
} EmogiJoined;

typedef struct EmogiLocalComponents
{
	const EmogiGraph *graph;	/* ids are not NULL */
	const EmogiOverlay *patch;	/* without losers; NULL = nothing has changed */
	const uint32_t *labels;		/* [graph->nvertices], of the Graph: the smallest vertex of the component */
	int			bits;
	EmogiJoined *joined;		/* [2^bits], open addressing, at least half of them free */
	uint64_t	nmoved;
	uint32_t   *moved;			/* [nmoved], ascending: vertices that were the smallest of their component, and are no more */
	uint32_t   *places;			/* [nnew], ascending: old vertices before each new one */
} EmogiLocalComponents;

/* Get the bytes that emogi_local_components_join needs. patch: NULL = nothing has changed. */
extern size_t emogi_local_components_bytes(const EmogiOverlay *patch);

/* Join the components that edges have come between. graph, patch and labels are set; memory: on a line, with any content. */
extern void emogi_local_components_join(EmogiLocalComponents *components, void *memory);

/* Get the smallest vertex of a vertex's component; both may be vertices of the patch. */
extern uint32_t emogi_local_components_find(const EmogiLocalComponents *components, uint32_t vertex);

/*
 * Write what CC gives for the Graph with the edges in it, whose nvertices are those of the old one and of the patch: component, and
 * where there are new vertices ids, of all; ids: NULL = they are not wanted. False when stops, which is asked every few milliseconds,
 * says so.
 */
extern bool emogi_local_components_write(const EmogiLocalComponents *components, bool (*stops) (void), int64_t *ids, uint32_t *component);

/*
 * Link the vertices of each component in ascending order: members[nvertices] is the next vertex of the component, EMOGI_NO_VERTEX = there is
 * none. labels: [nvertices], of a Graph. False when stops says so.
 */
extern bool emogi_local_search_components_link(const uint32_t *labels, uint64_t nvertices, bool (*stops) (void), uint32_t *members);

/*
 * List the vertices of the component whose smallest vertex is given, those of the patch included, in the order of their keys if no edge has
 * come to it. vertices: [room], the first ones; get how many there are, or more than there is room for. Costs what these cost, and the
 * changes. UINT64_MAX when stops says so.
 */
extern uint64_t emogi_local_search_components_list(const EmogiLocalComponents *components, const uint32_t *members, uint32_t smallest,
										   bool (*stops) (void), uint64_t room, uint32_t *vertices);

#endif							/* EMOGI_LOCAL_COMPONENTS_H */
