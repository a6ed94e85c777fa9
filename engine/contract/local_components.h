/*
 * local_components.h: incremental connected components after a few edges were added
 *
 * The computation depends on the number of added edges only. Writing all components takes a copy.
 */
#ifndef EMOGI_LOCAL_COMPONENTS_H
#define EMOGI_LOCAL_COMPONENTS_H

#include "contract/engine.h"
#include "contract/overlay.h"

/* A component that an edge was added to. */
typedef struct EmogiUnionFindSlot
{
	uint32_t	vertex;			/* + 1, its smallest vertex before; 0 = free slot */
	uint32_t	above;			/* slot of its parent, a component with a smaller vertex; its own
								 * slot = root */
} EmogiUnionFindSlot;

#define HASH_PREFIX joined
#define HASH_ENTRY EmogiUnionFindSlot
#define HASH_STORED(joined) (joined)->vertex
#include "containers/hash_table.h"

typedef struct EmogiLocalComponents
{
	const EmogiGraph *graph;	/* ids are not NULL */
	const EmogiOverlay *overlay;	/* without losers; NULL = no changes */
	const uint32_t *labels;		/* [graph->nvertices], of the graph: the smallest vertex of the
								 * component */
	int			bits;
	EmogiUnionFindSlot *joined;	/* [2^bits], open addressing, at least half of them free */
	uint64_t	nmoved;
	uint32_t   *moved;			/* [nmoved], ascending: vertices that are no longer the smallest of
								 * their component */
	uint32_t   *places;			/* [nnew], ascending: number of old vertices before each new one */
} EmogiLocalComponents;

/* Get the bytes that emogi_local_components_join needs. overlay: NULL = no changes. */
extern size_t emogi_local_components_bytes(const EmogiOverlay *overlay);

/*
 * Join the components that added edges connect. graph, overlay and labels must be set; memory:
 * line-aligned, with any content.
 */
extern void emogi_local_components_join(EmogiLocalComponents *components, void *memory);

/* Get the smallest vertex of a vertex's component; both may be new vertices. */
extern uint32_t emogi_local_components_find(const EmogiLocalComponents *components,
											uint32_t vertex);

/*
 * Write the result of CC for the graph with the added edges: component, and if there are new
 * vertices, ids of all vertices (ids: NULL = not wanted). nvertices is the number of old and new
 * vertices. Returns false if stops, which is called every few milliseconds, says so.
 */
extern bool emogi_local_components_write(const EmogiLocalComponents *components,
										 bool (*stops) (void), int64_t *ids, uint32_t *component);

/*
 * Link the vertices of each component in ascending order: members[nvertices] is the next vertex of
 * the component, EMOGI_NO_VERTEX = last. labels: [nvertices], of a graph. Returns false if stops
 * says so.
 */
extern bool emogi_local_search_components_link(const uint32_t *labels, uint64_t nvertices,
											   bool (*stops) (void), uint32_t *members);

/*
 * List the vertices of the component with the given smallest vertex, including new vertices, in the
 * order of their keys if no edge was added to the component. vertices: [room], receives the first
 * ones. Returns how many there are, or a number above room. The cost is proportional to these
 * vertices and the changes. Returns UINT64_MAX if stops says so.
 */
extern uint64_t emogi_local_search_components_list(const EmogiLocalComponents *components,
												   const uint32_t *members, uint32_t smallest,
												   bool (*stops) (void), uint64_t room,
												   uint32_t *vertices);

#endif							/* EMOGI_LOCAL_COMPONENTS_H */
