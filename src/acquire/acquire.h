/*
 * acquire.h: from a Source to a Graph.
 *
 * emogi_acquire_graph (acquire.c) looks in the cache for a Graph that holds exactly what the snapshot of the call sees, and pins it
 * (cache_lookup.c); else it has one built and published, unless the call is a search that does without (index_or_build.c, index_search_cost.c). build.c has the edges of the Source brought into the Region (../edges), then has
 * the engine worker make keys and CSR of them. graph_estimate.c and query_size.c say how large a Graph will be, before the scan and for
 * the planner.
 */
#ifndef EMOGI_ACQUIRE_H
#define EMOGI_ACQUIRE_H

#include "cache/cache.h"
#include "edges/edges.h"
#include "graph/overlay.h"
#include "index_search/index_search.h"

/* ---- acquire.c: the Graph of a call ---- */

extern void emogi_acquire_graph(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph);
extern EmogiOverlay *emogi_acquire_patched(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph);
extern EmogiOverlay *emogi_acquire_or_search(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, bool patched,
										EmogiGraph *graph, EmogiIndexSearch *walk);
extern void emogi_acquire_release(EmogiCall *call);

/* ---- explain_graph.c: for EXPLAIN ---- */

/* Where a call would find its Graph. */
typedef enum EmogiGraphOutcome
{
	EMOGI_GRAPH_IS_CACHED,
	EMOGI_GRAPH_WILL_BE_REFRESHED,
	EMOGI_GRAPH_WILL_BE_WALKED, /* it will not be there: the search walks over indexes */
	EMOGI_GRAPH_WILL_BE_BUILT,
	EMOGI_GRAPH_WILL_BE_PRIVATE
} EmogiGraphOutcome;

extern EmogiGraphOutcome emogi_explain_graph(const EmogiSource *source, const EmogiGraphKey *wanted, EmogiIndexSearch *walk, const char **why_private);

/* ---- index_search_cost.c: whether a search walks over indexes ---- */

extern double emogi_index_search_cost_edges(double nreads);
extern bool emogi_index_search_cost_may_walk(const EmogiSource *source);
extern bool emogi_index_search_cost_beats_refresh(const EmogiSource *source, List *leaves, EmogiIndexSearch *walk);
extern bool emogi_index_search_cost_beats_wait(const EmogiSource *source, List *leaves, EmogiIndexSearch *walk);
extern bool emogi_index_search_cost_beats_build(const EmogiSource *source, List *leaves, bool serves_others, EmogiIndexSearch *walk);
extern void emogi_index_search_cost_note_walk(const EmogiSource *source, const EmogiIndexSearch *walk);
extern void emogi_index_search_cost_note_build(const EmogiSource *source);

/* ---- not_cacheable.c: why a Graph is for one call alone ---- */

/* The HINT where a Graph may be had for all by a later call. */
#define EMOGI_NOT_CACHEABLE_NOW "Call it again when they have ended."

extern void emogi_not_cacheable_report(const EmogiSource *source, bool from_heaps, List *leaves, const char *why);

/* ---- cache_lookup.c: a Graph whatever the snapshot sees ---- */

extern bool emogi_cache_lookup_borrow(const EmogiGraphKey *key, int *index, uint64 *id, EmogiGraph *graph);

/* ---- cache_lookup_keep.c: Graphs that are not evicted to make room ---- */

extern bool emogi_cache_lookup_keep(EmogiCall *call);
extern void emogi_cache_lookup_unkeep(EmogiCall *call, const EmogiGraphKey *wanted);

/* A Graph as it is, whatever the call wants to see of it. */
typedef struct EmogiAcquired
{
	EmogiGraph	graph;
	uint64		nskipped;		/* rows with a NULL end */
	uint32		weight_misfits; /* EMOGI_NOT_* and so on, over all weights; 0 when that was not kept */
} EmogiAcquired;

/* The Graph of a call, and what is read at the same moment. */
typedef struct EmogiAcquiredTwice
{
	EmogiAcquired acquired;
	EmogiAcquired rebuilt;
	EmogiOverlay *patch;			/* the first is an older one, and this has changed since; NULL = nothing has */
	bool		is_cached;		/* else it was made for this call */
	bool		from_heaps;		/* also of a filtered table; else by a query, which may give other rows each time */
} EmogiAcquiredTwice;

extern void emogi_acquire_twice(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, bool patched,
							   EmogiAcquiredTwice *twice);

/* ---- graph_estimate.c: how large a Graph will be ---- */

typedef struct EmogiEstimate
{
	uint64		nedges;
	uint64		nvertices;
	EmogiWeightType weight_type;
	double		key_width;		/* mean bytes of a key; 0 = keys are integers */
	int64		min_key;
	int64		max_key;
	bool		from_heaps;		/* edges are read from tables, not through the executor */
	uint64		graph_bytes;
	uint64		peak_bytes;		/* while the CSR is made: chunks, map of keys, CSR and its scratch are all there */
} EmogiEstimate;

extern EmogiEstimate emogi_graph_estimate(const EmogiSource *source, EmogiDirection direction);
extern double emogi_graph_estimate_rows(const EmogiSource *source, List *leaves);
extern double emogi_graph_estimate_next_degree(const EmogiSource *source, double nvertices, double nedges);
extern double emogi_graph_estimate_reached(double nvertices, double nedges, double next_degree, double depth);
extern bool emogi_graph_estimate_size(const EmogiSource *source, double *nvertices, double *nedges);

/* ---- query_size.c: what the planner can know of a query ---- */

typedef struct EmogiQuerySize
{
	double		nedges;			/* rows of its plan */
	double		nvertices;		/* distinct keys among them */
	double		cost;			/* of its plan, in the planner's unit */
	bool		may_walk;		/* a search that reaches little may walk over indexes of its table */
	bool		is_cached;		/* its Graph is there, ... */
	bool		is_unsafe;		/* ... and the query is another one in parallel mode, which folds nothing, or may fail there */
	List	   *relations;		/* OIDs of what a look reads, where the Graph is there: all relations, views too, ... */
	List	   *functions;		/* ... and functions */
	EmogiKeyType keys;			/* of the Graph, where it is there */
} EmogiQuerySize;

extern bool emogi_query_size_get(const EmogiSource *source, EmogiQuerySize *foresight);

/* ---- build_dictionary.c ---- */

extern void emogi_build_dictionary(EmogiCall *call);

/* ---- build.c ---- */

struct EmogiRemote;

extern void emogi_build_check(EmogiSource *source);
extern void emogi_build_edges(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights,
							  const struct EmogiPageScans *notes);
extern void emogi_build_edges_of_remote(EmogiCall *call, const EmogiSource *source, List *heaps, struct EmogiRemote *servers, EmogiWeights weights);
extern void emogi_build_edges_of_query(EmogiCall *call, EmogiQueryAnalysis *tree, EmogiWeights weights);
extern void emogi_build_edges_of(EmogiCall *call, const EmogiGraph *donor, EmogiDirection direction,
								 EmogiWeights weights);
extern void emogi_build_graph(EmogiCall *call, EmogiDirection direction, bool with_backward, EmogiGraph *graph,
							  uint32 *weight_misfits);

#endif							/* EMOGI_ACQUIRE_H */
