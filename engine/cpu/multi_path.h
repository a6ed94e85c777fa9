/*
 * multi_path.h: shortest paths of pairs of vertices that have the source or the target in common.
 */
#ifndef EMOGI_MULTI_PATH_H
#define EMOGI_MULTI_PATH_H

#include "cpu/path_search.h"
#include "cpu/trace_path.h"

/* Searches under way: they hold all that they have allocated, so that a poll may leave by a jump as long as they are freed then. */
typedef struct EmogiMultiPath EmogiMultiPath;

/* The path of a pair, valid until the next search. */
typedef struct EmogiMultiPathAnswer
{
	EmogiPathOutcome outcome;
	uint64_t	length;			/* vertices on the path, both ends included; 0 unless found, or if paths are not wanted */
	const uint32_t *vertices;	/* [length], from the source to the target */
	const double *distance;		/* [length], from the source, SSSP's bits */
	uint64_t	edges_traversed;	/* list entries that this search looked at */
	uint64_t	vertices_settled;
} EmogiMultiPathAnswer;

/*
 * Begin searches. graph->backward must be built. patch: changes since the Graph was made, NULL = none. wants_paths: false = the outcome is
 * enough, where there are no weights.
 * most_bytes: memory that they may take. poll: NULL = nothing stops them. NULL without memory.
 */
extern EmogiMultiPath *emogi_multi_path_begin(const EmogiGraph *graph, const EmogiOverlay *patch, bool wants_paths, uint64_t most_bytes, EmogiPoll poll);

/*
 * Find the path that emogi_path_search finds, looking at max_edges list entries and settling max_vertices at most. same_source, same_target: pairs
 * that will be asked for with this source, or this target, this one included; one of them is 1. The search from the common end is kept for the next pair.
 * It gives up without memory, or if poll returns true; then the searches can only be freed.
 */
extern void emogi_multi_path_next(EmogiMultiPath *search, uint32_t source, uint32_t target, uint64_t same_source, uint64_t same_target,
								  uint64_t max_edges, uint64_t max_vertices, EmogiMultiPathAnswer *answer);

/* Free searches; NULL is none. */
extern void emogi_multi_path_free(EmogiMultiPath *search);

#endif							/* EMOGI_MULTI_PATH_H */
