/*
 * multi_path_parts.h: state shared by multi_path.c and multi_path_memory.c
 */
#ifndef EMOGI_MULTI_PATH_PARTS_H
#define EMOGI_MULTI_PATH_PARTS_H

#include "contract/multi_path.h"
#include "search_side.h"

struct EmogiMultiPath
{
	const EmogiGraph *graph;
	const EmogiOverlay *overlay;
	bool		weighted;
	bool		wants_paths;
	uint64_t	max_bytes;
	EmogiPoll	poll;
	Side		forward;
	Side		backward;
	Side		link;
	uint64_t	bytes;			/* allocated */
	Node	   *moving;			/* a table that nodes are being moved to; NULL = none */
	uint64_t	others_cost;	/* of the sides that were not kept, since the common side began */

	/* per pair */
	uint32_t	target;
	const Side *common;			/* the side that is kept; NULL = none */
	uint64_t	ncommon;		/* number of pairs that it will be used for */
	double		limit;			/* upper bound of the length of paths of interest */
	bool		met;			/* a path is known, possibly too long for a double */
	bool		gave_up;
	uint64_t	max_edges;
	uint64_t	max_vertices;
	uint64_t	nscanned;		/* edges scanned */
	uint64_t	nsettled;
	uint32_t   *vertices;		/* [path_room], of the result */
	double	   *distance;		/* [path_room] */
	uint64_t	path_room;
};

/* Resize an array; false, and the search abandoned, if out of memory or above the limit. */
extern bool emogi_multi_path_resize(EmogiMultiPath *search, void **items, uint64_t before_bytes,
									uint64_t after_bytes);

/* Poll; true = the search is abandoned. */
extern bool emogi_multi_path_stopped(EmogiMultiPath *search);

/* Free the nodes of a side. */
extern void emogi_multi_path_free_nodes(EmogiMultiPath *search, Side *side);

/* Ensure room for `more` vertices of a side; false, and the search abandoned, if out of memory. */
extern bool emogi_multi_path_reserve(EmogiMultiPath *search, Side *side, uint64_t more);

#endif							/* EMOGI_MULTI_PATH_PARTS_H */
