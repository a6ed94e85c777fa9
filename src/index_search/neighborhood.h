/*
 * neighborhood.h: the edges near given vertices, collected through table indexes.
 *
 * neighborhood.c collects them; acquire/neighborhood_graph.c makes them a graph.
 */
#ifndef EMOGI_NEIGHBORHOOD_H
#define EMOGI_NEIGHBORHOOD_H

#include "index_search/index_search.h"
#include "index_search/index_search_keys.h"

/* The two lists of a vertex. If a search follows edges in both directions, they are the same. */
enum
{
	EMOGI_EDGES_ALONG,			/* edges that the search can follow from the vertex */
	EMOGI_EDGES_AGAINST,		/* edges that lead to the vertex */
	EMOGI_NEIGHBORHOOD_LISTS
};

/* A list of a vertex, in EmogiNeighborhood.ends. */
typedef struct EmogiNeighborhoodList
{
	bool		is_read;
	uint32		count;
	uint64		first;
} EmogiNeighborhoodList;

typedef struct EmogiNeighborhoodVertex
{
	int64		id;				/* EmogiSearchKeys */
	bool		exists;			/* it has an edge */
	EmogiNeighborhoodList lists[EMOGI_NEIGHBORHOOD_LISTS];
	/* number of the last expansion that reached it */
	uint32		reached[EMOGI_NEIGHBORHOOD_LISTS];
} EmogiNeighborhoodVertex;

typedef struct EmogiNeighborhood
{
	MemoryContext context;		/* of everything here */
	EmogiSearchKeys keys;
	EmogiNeighborhoodVertex *vertices;	/* [nvertices], in the order in which they were met */
	uint32		nvertices;
	uint32		room;
	uint32	   *ends;			/* [nends], indexes into vertices: the lists that were read */
	uint64		nends;
	uint64		ends_room;
} EmogiNeighborhood;

extern bool emogi_neighborhood_can_collect(const EmogiSearchIndexes *indexes,
										   const EmogiIndexSearch *search);
extern bool emogi_neighborhood_collect(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search);

#endif							/* EMOGI_NEIGHBORHOOD_H */
