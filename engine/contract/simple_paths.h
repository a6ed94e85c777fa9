/*
 * simple_paths.h: enumeration of the simple paths from a source to targets, one by one, fewest
 * edges first
 */
#ifndef EMOGI_SIMPLE_PATHS_H
#define EMOGI_SIMPLE_PATHS_H

#include "contract/overlay.h"
#include "contract/trace_path.h"

/*
 * A search in progress. It owns all its memory, so a poll may exit by longjmp if the search is
 * freed afterwards.
 */
typedef struct EmogiSimplePaths EmogiSimplePaths;

/* What is searched for. */
typedef struct EmogiSimplePathsQuery
{
	const EmogiGraph *graph;	/* with backward lists */
	const EmogiOverlay *overlay;	/* NULL = no changes */
	uint32_t	source;			/* vertices of the graph or the overlay */
	const uint32_t *targets;	/* [ntargets], may repeat and include the source */
	uint64_t	ntargets;
	uint64_t	max_depth;		/* edges of a path; UINT64_MAX = unlimited */
	double		max_cost;		/* sum of weights of a path, >= 0; INFINITY = unlimited */
	uint64_t	max_bytes;		/* memory limit */
	EmogiPoll	poll;			/* NULL = only control->cancel stops the search */
} EmogiSimplePathsQuery;

/* A path, valid until the next one is requested. */
typedef struct EmogiSimplePath
{
	uint64_t	nvertices;		/* 0 = no more paths */
	const uint32_t *vertices;	/* [nvertices], from the source to a target, each once */
	const double *distance;		/* [nvertices], from the source, added up along the path in SSSP's
								 * arithmetic */
} EmogiSimplePath;

/*
 * Begin a search. Returns OK, or NO_MEMORY without a search. The query is copied, but not what it
 * points to, except the targets. The control and the error remain the caller's.
 */
extern EmogiStatus emogi_simple_paths_begin(const EmogiSimplePathsQuery *query,
											EmogiSimplePaths **paths, EmogiControl *control,
											EmogiError *error);

/*
 * Get the next path, ordered by number of edges, then by the keys of the vertices from the source
 * on. A path may pass through other targets. Parallel edges count once, with their minimum weight.
 * Returns OK, CANCELED, or NO_MEMORY; if not OK, the search can only be freed.
 */
extern EmogiStatus emogi_simple_paths_next(EmogiSimplePaths *paths, EmogiSimplePath *path);

/* Get the number of edges scanned. */
extern uint64_t emogi_simple_paths_edges_scanned(const EmogiSimplePaths *paths);

/* Free a search; NULL is allowed. */
extern void emogi_simple_paths_free(EmogiSimplePaths *paths);

#endif							/* EMOGI_SIMPLE_PATHS_H */
