/*
 * neighborhood.h: the edges near given vertices, collected through table indexes.
 *
 * neighborhood.c, neighborhood_paths.c and neighborhood_ranked.c collect them;
 * acquire/neighborhood_graph.c makes them a graph.
 */
#ifndef EMOGI_NEIGHBORHOOD_H
#define EMOGI_NEIGHBORHOOD_H

#include "index_search/index_search.h"
#include "index_search/index_search_keys.h"
#include "index_search/index_search_read.h"

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
	/* number of the last expansion that reached it, to read this list */
	uint32		reached[EMOGI_NEIGHBORHOOD_LISTS];
	uint32		wanted;			/* number of the last expansion of which it is a target */
	double		distance;		/* in the last expansion by distance */
} EmogiNeighborhoodVertex;

typedef struct EmogiNeighborhood
{
	MemoryContext context;		/* of everything here */
	EmogiSearchKeys keys;
	EmogiNeighborhoodVertex *vertices;	/* [nvertices], in the order in which they were met */
	uint32		nvertices;
	uint32		room;
	uint32	   *ends;			/* [nends], indexes into vertices: the lists that were read */
	double	   *weights;		/* [nends], of the edges; NULL = none */
	uint64		nends;
	uint64		ends_room;
} EmogiNeighborhood;

/* ---- neighborhood.c ---- */

extern bool emogi_neighborhood_collect(const EmogiSearchIndexes *indexes, EmogiIndexSearch *search);

/* A collection in progress. */
typedef struct EmogiCollection
{
	EmogiIndexSearch *search;
	EmogiIndexReaders in;
	EmogiNeighborhood *found;
	struct places_hash *places;	/* index of each vertex */
	uint32		nexpansions;
} EmogiCollection;

/* An expansion, level by level. */
typedef struct EmogiExpansion
{
	const char *steps;			/* of the current level, and of those after it */
	uint32		number;			/* marks the vertices it has reached */
	uint32	   *queue;			/* [count], room for [room] */
	uint64		first;			/* of the queue: the first vertex of the current level */
	uint64		count;
	uint64		room;
} EmogiExpansion;

extern EmogiExpansion emogi_neighborhood_expansion(EmogiCollection *collection, const char *steps);
extern void emogi_neighborhood_reach(EmogiCollection *collection, EmogiExpansion *expansion,
									 uint32 vertex);
extern void emogi_neighborhood_expand(EmogiCollection *collection, EmogiExpansion *expansion);
extern bool emogi_neighborhood_is_exhausted(const EmogiCollection *collection,
											const EmogiExpansion *expansion);
extern EmogiNeighborhoodList emogi_neighborhood_read(EmogiCollection *collection, uint32 vertex,
													 int list);
extern uint32 emogi_neighborhood_add(EmogiCollection *collection, Datum key);
extern bool emogi_neighborhood_exists(EmogiCollection *collection, uint32 vertex, int list);

/* ---- neighborhood_paths.c ---- */

extern void emogi_neighborhood_collect_near(EmogiCollection *collection);
extern void emogi_neighborhood_collect_paths(EmogiCollection *collection);

/* ---- neighborhood_ranked.c ---- */

extern void emogi_neighborhood_collect_ranked(EmogiCollection *collection);

#endif							/* EMOGI_NEIGHBORHOOD_H */
