/*
 * acquire.h: getting the graph of a source.
 *
 * emogi_acquire_graph (acquire.c) looks up a cached graph that holds exactly what the snapshot of
 * the call sees, and pins it (cache_lookup.c). If there is none, the graph is built and published,
 * unless the call is a search that can use indexes instead (index_or_build.c, index_search_cost.c).
 * build.c reads the edges of the source into the arena (../edges), then has the engine worker make
 * keys and CSR from them. graph_estimate.c and query_size.c estimate the size of a graph before the
 * scan and for the planner.
 */
#ifndef EMOGI_ACQUIRE_H
#define EMOGI_ACQUIRE_H

#include "cache/cache.h"
#include "edges/edges.h"
#include "contract/overlay.h"
#include "index_search/index_search.h"

/* ---- acquire.c: the graph of a call ---- */

extern void emogi_acquire_graph(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted,
								EmogiGraph *graph);
extern EmogiOverlay *emogi_acquire_patched(EmogiCall *call, EmogiSource *source,
										   const EmogiGraphKey *wanted, EmogiGraph *graph);
extern EmogiOverlay *emogi_acquire_or_search(EmogiCall *call, EmogiSource *source,
											 const EmogiGraphKey *wanted, bool patched,
											 EmogiGraph *graph, EmogiIndexSearch *search);
extern void emogi_acquire_release(EmogiCall *call);

/* ---- explain_graph.c: for EXPLAIN ---- */

/* How a call would get its graph. */
typedef enum EmogiGraphOutcome
{
	EMOGI_GRAPH_IS_CACHED,
	EMOGI_GRAPH_WILL_BE_REFRESHED,
	EMOGI_GRAPH_WILL_BE_WALKED, /* no graph: the search uses indexes */
	EMOGI_GRAPH_WILL_BE_BUILT,
	EMOGI_GRAPH_WILL_BE_PRIVATE
} EmogiGraphOutcome;

extern EmogiGraphOutcome emogi_explain_graph(const EmogiSource *source, const EmogiGraphKey *wanted,
											 EmogiIndexSearch *search, const char **why_private);

/* ---- index_search_cost.c: cost of an index search against building ---- */

extern double emogi_index_search_cost_edges(double nreads);
extern bool emogi_index_search_cost_may_walk(const EmogiSource *source);
extern bool emogi_index_search_cost_beats_refresh(const EmogiSource *source, List *leaves,
												  EmogiIndexSearch *search);
extern bool emogi_index_search_cost_beats_wait(const EmogiSource *source, List *leaves,
											   EmogiIndexSearch *search);
extern bool emogi_index_search_cost_beats_build(const EmogiSource *source, List *leaves,
												bool serves_others, EmogiIndexSearch *search);
extern void emogi_index_search_cost_note_walk(const EmogiSource *source,
											  const EmogiIndexSearch *search);
extern void emogi_index_search_cost_note_build(const EmogiSource *source);

/* ---- not_cacheable.c: why a graph is private to its call ---- */

/* HINT for graphs that a later call may be able to share. */
#define EMOGI_NOT_CACHEABLE_NOW "Call it again when they have ended."

extern void emogi_not_cacheable_report(const EmogiSource *source, bool from_heaps, List *leaves,
									   const char *why);

/* ---- cache_lookup.c: a graph regardless of the snapshot ---- */

extern bool emogi_cache_lookup_borrow(const EmogiGraphKey *key, int *index, uint64 *id,
									  EmogiGraph *graph);

/* ---- cache_lookup_keep.c: graphs that are exempt from eviction ---- */

extern bool emogi_cache_lookup_keep(EmogiCall *call);
extern void emogi_cache_lookup_unkeep(EmogiCall *call, const EmogiGraphKey *wanted);

/* A graph with all its data, whatever the call requested. */
typedef struct EmogiAcquired
{
	EmogiGraph	graph;
	uint64		nskipped;		/* rows with a NULL end */
	uint32		weight_misfits; /* EMOGI_NOT_* over all weights; 0 if unknown */
} EmogiAcquired;

/* The graph of a call, and another built from the same snapshot. */
typedef struct EmogiAcquiredTwice
{
	EmogiAcquired acquired;
	EmogiAcquired rebuilt;
	/* if `acquired` is an older graph: the changes since; NULL = none */
	EmogiOverlay *patch;
	/* `acquired` is in the cache; otherwise it was made for this call */
	bool		is_cached;
	/* also of a filtered table; otherwise by a query, which may return other rows each time */
	bool		from_heaps;
} EmogiAcquiredTwice;

extern void emogi_acquire_twice(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted,
								bool patched, EmogiAcquiredTwice *twice);

/* ---- graph_estimate.c: the estimated size of a graph ---- */

typedef struct EmogiEstimate
{
	uint64		nedges;
	uint64		nvertices;
	EmogiWeightType weight_type;
	double		key_width;		/* mean bytes of a key; 0 = integer keys */
	int64		min_key;
	int64		max_key;
	bool		from_heaps;		/* edges are read from tables, not through the executor */
	uint64		graph_bytes;
	/* while the CSR is made: chunks, map of keys, CSR and its scratch memory together */
	uint64		peak_bytes;
} EmogiEstimate;

extern EmogiEstimate emogi_graph_estimate(const EmogiSource *source, EmogiDirection direction);
extern double emogi_graph_estimate_rows(const EmogiSource *source, List *leaves);
extern double emogi_graph_estimate_next_degree(const EmogiSource *source, double nvertices,
											   double nedges);
extern double emogi_graph_estimate_reached(double nvertices, double nedges, double next_degree,
										   double depth);
extern bool emogi_graph_estimate_size(const EmogiSource *source, double *nvertices, double *nedges);

/* ---- query_size.c: the planner's estimates for a query ---- */

typedef struct EmogiQuerySize
{
	double		nedges;			/* rows of its plan */
	double		nvertices;		/* distinct keys among them */
	double		cost;			/* of its plan, in the planner's units */
	/* a search that reaches few vertices may use indexes of its table */
	bool		may_walk;
	bool		is_cached;		/* its graph is cached, ... */
	/*
	 * ... but in parallel mode, which folds no constants, the query has another fingerprint or may
	 * fail
	 */
	bool		is_unsafe;
	/* if is_cached: OIDs of all relations, including views, that the cache lookup reads, ... */
	List	   *relations;
	List	   *functions;		/* ... and functions */
	EmogiKeyType keys;			/* of the graph, if is_cached */
} EmogiQuerySize;

extern bool emogi_query_size_get(const EmogiSource *source, EmogiQuerySize *foresight);

/* ---- build_dictionary.c ---- */

extern void emogi_build_dictionary(EmogiCall *call);

/* ---- build.c ---- */

struct EmogiRemote;

extern void emogi_build_check(EmogiSource *source);
extern void emogi_build_edges(EmogiCall *call, const EmogiSource *source, List *leaves,
							  EmogiWeights weights, const struct EmogiPageScans *notes);
extern void emogi_build_edges_of_remote(EmogiCall *call, const EmogiSource *source, List *heaps,
										struct EmogiRemote *servers, EmogiWeights weights);
extern void emogi_build_edges_of_query(EmogiCall *call, EmogiQueryAnalysis *tree,
									   EmogiWeights weights);
extern void emogi_build_edges_of(EmogiCall *call, const EmogiGraph *donor, EmogiDirection direction,
								 EmogiWeights weights);
extern void emogi_build_graph(EmogiCall *call, EmogiDirection direction, bool with_backward,
							  EmogiGraph *graph, uint32 *weight_misfits);

#endif							/* EMOGI_ACQUIRE_H */
