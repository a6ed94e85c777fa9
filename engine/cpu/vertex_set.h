/*
 * vertex_set.h: a set of vertices, in the order in which they were added
 */
#ifndef EMOGI_VERTEX_SET_H
#define EMOGI_VERTEX_SET_H

#include "contract/engine.h"

#include <stdlib.h>

typedef struct EmogiVertexPlace
{
	uint32_t	vertex;			/* + 1; 0 = free slot */
	uint32_t	place;			/* in the set */
} EmogiVertexPlace;

#define HASH_PREFIX vertex_place
#define HASH_ENTRY EmogiVertexPlace
#define HASH_STORED(place) (place)->vertex
#include "containers/hash_table.h"

typedef struct EmogiVertexSet
{
	EmogiVertexPlace *places;	/* [2^bits], open addressing, at least half of them free */
	int			bits;
	uint32_t   *vertices;		/* [count], room for [room] */
	uint64_t	count;
	uint64_t	room;
} EmogiVertexSet;

/* Make room for more vertices; false if out of memory. */
static inline bool
emogi_vertex_set_reserve(EmogiVertexSet *set, uint64_t more)
{
	const uint64_t count = set->count + more;

	if (!vertex_place_fits(set->places, set->bits, count) &&
		!vertex_place_grow(&set->places, &set->bits, count))
		return false;
	if (count > set->room)
	{
		uint32_t   *larger = realloc(set->vertices, 2 * count * sizeof *larger);

		if (larger == NULL)
			return false;
		set->vertices = larger;
		set->room = 2 * count;
	}
	return true;
}

/* Get what is stored of a vertex; NULL = it is not in the set. The set is not empty. */
static inline EmogiVertexPlace *
emogi_vertex_set_find(const EmogiVertexSet *set, uint32_t vertex)
{
	EmogiVertexPlace *found = vertex_place_find(set->places, set->bits, vertex);

	return found->vertex != 0 ? found : NULL;
}

/* Find or add a vertex, for which there is room; return its place. */
static inline uint32_t
emogi_vertex_set_add(EmogiVertexSet *set, uint32_t vertex)
{
	EmogiVertexPlace *found = vertex_place_find(set->places, set->bits, vertex);

	if (found->vertex != 0)
		return found->place;
	*found = (EmogiVertexPlace) {vertex + 1, (uint32_t) set->count};
	set->vertices[set->count] = vertex;
	return (uint32_t) set->count++;
}

static inline void
emogi_vertex_set_free(EmogiVertexSet *set)
{
	free(set->places);
	free(set->vertices);
	*set = (EmogiVertexSet) {0};
}

#endif							/* EMOGI_VERTEX_SET_H */
