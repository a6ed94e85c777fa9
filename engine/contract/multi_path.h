/*
 * multi_path.h: shortest paths of pairs of vertices that share the source or the target
 */
#ifndef EMOGI_MULTI_PATH_H
#define EMOGI_MULTI_PATH_H

#include "contract/path_search.h"
#include "contract/trace_path.h"

/*
 * Searches in progress. They own all their memory, so a poll may exit by longjmp if they are freed
 * afterwards.
 */
typedef struct EmogiMultiPath EmogiMultiPath;

/* The path of a pair, valid until the next search. */
typedef struct EmogiMultiPathAnswer
{
	EmogiPathOutcome outcome;
	uint64_t	length;			/* vertices on the path, both endpoints included; 0 if not found or
								 * if paths are not wanted */
	const uint32_t *vertices;	/* [length], from the source to the target */
	const double *distance;		/* [length], from the source, bitwise those of SSSP */
	uint64_t	edges_traversed; /* edges scanned by this search */
	uint64_t	vertices_settled;
} EmogiMultiPathAnswer;

/*
 * Begin searches. graph->backward must be built. overlay: changes since the graph was built, NULL =
 * none. wants_paths: false = only the outcome is needed, for graphs without weights. max_bytes:
 * memory limit. poll: NULL = nothing stops them. Returns NULL if out of memory.
 */
extern EmogiMultiPath *emogi_multi_path_begin(const EmogiGraph *graph, const EmogiOverlay *overlay,
											  bool wants_paths, uint64_t max_bytes, EmogiPoll poll);

/*
 * Find the path that emogi_path_search finds, scanning at most max_edges edges and settling at most
 * max_vertices vertices. same_source, same_target: number of pairs to be requested with this
 * source, or this target, including this one; one of them is 1. The search from the common endpoint
 * is kept for the next pair. It is abandoned if out of memory or if poll returns true; then the
 * searches can only be freed. Without weights it is also abandoned before a level that might exceed
 * the limits.
 */
extern void emogi_multi_path_next(EmogiMultiPath *search, uint32_t source, uint32_t target,
								  uint64_t same_source, uint64_t same_target, uint64_t max_edges,
								  uint64_t max_vertices, EmogiMultiPathAnswer *answer);

/* Free searches; NULL is allowed. */
extern void emogi_multi_path_free(EmogiMultiPath *search);

#endif							/* EMOGI_MULTI_PATH_H */
