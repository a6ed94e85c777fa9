/*
 * acquire.h: getting the graph of a source.
 *
 * emogi_acquire (acquire.c) looks up a cached graph that holds exactly what the snapshot of the
 * call sees, and pins it (cache_lookup.c). If there is none, the graph is built and published,
 * unless the call is a search that can use indexes instead, or its answer depends only on edges
 * that can be found by them.
 *
 * cache_lookup_make.c         what a call requests of the cache; not_cacheable.c has the reasons
 *                             for callers that require a cached graph
 * cache_lookup.c              finds the entry, or reserves one
 * cache_lookup_tracker.c      the same for a call that holds a change tracker
 * cache_lookup_publish.c      publishes a graph, and dooms the graphs that it supersedes
 * cache_lookup_drop.c         drops graphs that no call can use
 * cache_lookup_keep.c         marks kept graphs
 * index_or_build.c            chooses between an index search and a graph, by the costs of
 *                             index_search_cost.c
 * neighborhood_graph.c        makes a graph of collected edges
 * masked_graph.c              uses the graph of a whole table with an edge mask, instead of that of a
 *                             condition; columns.c loads its property columns
 * own_graph.c                 gets the graph of a transaction that has only inserted rows since its
 *                             last call
 * apply_delta.c               gets the graph from a change tracker: apply_delta_merge.c from an
 *                             older graph, apply_delta_build.c from all edges
 * build.c                     reads the edges of the source (../graph_source), then has the engine
 *                             worker make keys and CSR from them
 * build_dictionary.c          makes the dictionary of keys that are not integers; known_order.c
 *                             sorts its keys by the order of the previous dictionary
 * graph_estimate.c            estimates the size of a graph before the scan; query_size.c for the
 *                             planner, if it is a query or a view
 * explain_graph.c             predicts for EXPLAIN how a call would get its graph
 */
#ifndef EMOGI_ACQUIRE_H
#define EMOGI_ACQUIRE_H

#include "contract/overlay.h"
#include "cache/cache.h"
#include "edges/edges.h"
#include "graph_source/graph_source.h"
#include "index_search/index_search.h"

/* ---- acquire.c: the graph of a call ---- */

/*
 * A query that the engine worker may run on a graph as soon as it has built it, in the same
 * request. The backend publishes the graph and decides who answers meanwhile, as if there were no
 * such run.
 */
typedef struct EmogiChainedRun
{
	EmogiEngineChoice engine;
	EmogiQuery	query;			/* except its sources: */
	uint64		nsources;
	const int64 *ids;			/* [nsources], if the graph's keys are integers; otherwise */
	const EmogiKeyBytes *keys;	/* [nsources] */
	uint64		max_local_edges;	/* the backend searches graphs with at most so many edges */
} EmogiChainedRun;

/* What a call requests. */
typedef struct EmogiGraphRequest
{
	EmogiGraphKey key;			/* adjacency lists and weights; the source is filled in */
	bool		accepts_overlay;	/* an older graph with an overlay of the changes since */
	bool		needs_labels;	/* ... if it has component labels and only edges were added */
	/* the graph of a whole table with a mask instead of that of a condition; it needs a slot */
	bool		accepts_mask;
	/* the graph may be pinned for a call without a slot, if it is cached and has no dictionary */
	bool		needs_no_slot;
	EmogiIndexSearch *search;	/* may run on indexes instead if that is cheaper; NULL = none */
	/*
	 * Describe the query that may begin with a build of the graph; return NULL if there is none.
	 * The callback itself is NULL if nothing may.
	 */
	const EmogiChainedRun *(*chain) (void *arg);
	/*
	 * Return true if the rows that the call finds are none, whatever the edges are, because a
	 * vertex is unknown to the dictionary of a graph, which has all keys that the snapshot sees.
	 * NULL = it is not known. Then the overlay of the view may lack the latest changes.
	 */
	bool		(*is_empty) (void *arg, const EmogiGraph *graph);
	void	   *arg;			/* of both */
	/* the graph with all its data, and another one, built under the same snapshot from the rows */
	bool		is_verified;
} EmogiGraphRequest;

/* Get the query that may begin with the build of a request's graph; NULL = none. */
static inline const EmogiChainedRun *
emogi_graph_request_chained(const EmogiGraphRequest *request)
{
	return request->chain != NULL ? request->chain(request->arg) : NULL;
}

/* A graph with all its data, whatever the call requested. */
typedef struct EmogiAcquired
{
	EmogiGraph	graph;
	uint64		nskipped;		/* rows with a NULL end */
	uint32		weight_misfits; /* EMOGI_NOT_* over all weights; 0 if unknown */
} EmogiAcquired;

/* The graph of a call, and another built from the same snapshot. */
typedef struct EmogiVerification
{
	EmogiAcquired acquired;		/* without the changes of the view's overlay, if there is one */
	EmogiAcquired rebuilt;
	/* `acquired` is in the cache; otherwise it was made for this call */
	bool		is_cached;
	/* also of a filtered table; otherwise by a query, which may return other rows each time */
	bool		from_heaps;
	/* the query's text may have read something else than the graph was made of */
	bool		is_changed;
} EmogiVerification;

/* What a call gets. */
typedef struct EmogiGraphView
{
	EmogiGraphOrigin origin;
	const char *why;			/* a PRIVATE graph bypasses the cache; NULL = not recorded */
	EmogiGraph	graph;			/* empty if origin = INDEX: the search has the answer */
	EmogiOverlay *overlay;		/* changes since the graph, in memory of the current context; NULL
								 * = none */
	struct EmogiEdgeMask *mask; /* edges of the graph that the call may use; NULL = all */
	void	   *mask_memory;	/* in the arena */
	Size		mask_bytes;
	EmogiVerification verification; /* if request.is_verified */
} EmogiGraphView;

extern void emogi_acquire(EmogiCall *call, EmogiSource *source, const EmogiGraphRequest *request,
						  EmogiGraphView *view);
extern void emogi_acquire_release(EmogiCall *call);

/* ---- masked_graph.c ---- */

extern void emogi_masked_graph_end(EmogiCall *call, EmogiGraphView *view);

/* ---- explain_graph.c: for EXPLAIN ---- */

extern EmogiGraphOrigin emogi_explain_graph(const EmogiSource *resolved,
											const EmogiGraphKey *wanted, EmogiIndexSearch *search,
											const char **why_private);

/* ---- neighborhood_graph.c: a graph of edges that an index search has collected ---- */

extern void emogi_neighborhood_graph_make(EmogiCall *call, const EmogiGraphKey *wanted,
										  EmogiIndexSearch *search, EmogiGraph *graph);

/* ---- index_search_cost.c: cost of an index search against building ---- */

extern bool emogi_index_search_cost_may_search(const EmogiSource *source);
extern double emogi_index_search_cost_collect_us(const EmogiSource *source, double nrows);
extern bool emogi_index_search_cost_beats_refresh(const EmogiSource *source, List *leaves,
												  EmogiIndexSearch *search);
extern bool emogi_index_search_cost_beats_wait(const EmogiSource *source, List *leaves,
											   EmogiIndexSearch *search);
extern bool emogi_index_search_cost_beats_build(const EmogiSource *source, List *leaves,
												bool serves_others, EmogiIndexSearch *search);
extern bool emogi_index_search_cost_pays_build(const EmogiSource *source, List *leaves,
											   EmogiDirection direction, uint64 spent);
extern Oid	emogi_index_search_cost_key(const EmogiSource *source);
extern void emogi_index_search_cost_record_search(const EmogiSource *source,
												  const EmogiIndexSearch *search);
extern void emogi_index_search_cost_record_build(const EmogiSource *source);

/* ---- not_cacheable.c: why a graph is private to its call ---- */

/* HINT for graphs that a later call may be able to share. */
#define EMOGI_NOT_CACHEABLE_NOW "Call the function again when they have ended."

extern void emogi_not_cacheable_report(const EmogiGraphSource *rows, const char *why);

/* ---- cache_lookup.c: a graph regardless of the snapshot ---- */

extern bool emogi_cache_lookup_pin_latest(const EmogiGraphKey *key, int *index, uint64 *id,
										  EmogiGraph *graph);

/* ---- cache_lookup_keep.c: graphs that are exempt from eviction ---- */

extern bool emogi_cache_lookup_keep(EmogiCall *call);
extern void emogi_cache_lookup_unkeep(EmogiCall *call, const EmogiGraphKey *wanted);

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
	bool		may_search_indexes;
	double		collect_us;		/* max cost of a neighborhood by index; +inf = not possible */
	bool		is_cached;		/* its graph is cached, ... */
	/*
	 * ... but in parallel mode, which folds no constants, the query has another fingerprint or may
	 * fail
	 */
	bool		is_unsafe;
	/* if is_cached: OIDs of all relations, including views, that the cache lookup reads, ... */
	List	   *relations;
	List	   *functions;		/* ... and functions */
	EmogiKeyType keys;			/* of the graph, if is_cached, ... */
	EmogiComponentSizes components;	/* ... and its components */
} EmogiQuerySize;

extern bool emogi_query_size_get(const EmogiSource *source, EmogiQuerySize *size);

/* ---- index_search_repeat.c ---- */

extern bool emogi_index_search_repeat_may(const struct EmogiKeptIndexes *kept,
										  const EmogiGraphArgument *graph, EmogiSource *source);
extern bool emogi_index_search_repeat(EmogiCall *call, EmogiIndexSearch *search,
									  EmogiGraphView *view);

/* ---- build_dictionary.c ---- */

extern bool emogi_build_dictionary_begin(EmogiCall *call, bool tracked);
extern void emogi_build_dictionary_end(EmogiCall *call, EmogiDictionary *dictionary);
extern void emogi_build_dictionary_if_short(EmogiCall *call);

/* ---- known_order.c ---- */

extern bool emogi_known_order(const EmogiDictionary *dictionary, EmogiKeyCoder *coder,
							  const EmogiTemporaryKey *listed, uint64 nkeys,
							  EmogiTemporaryKey *ordered);

/* ---- build.c ---- */

extern void emogi_build_check(EmogiSource *source);
extern void emogi_build_edges(EmogiCall *call, EmogiGraphSource *source, EmogiWeights weights,
							  const struct EmogiPageScans *page_scans);
extern void emogi_build_edges_of_graph(EmogiCall *call, const EmogiGraph *base_graph,
									   EmogiDirection direction, EmogiWeights weights);

/* What is made of the edges in a call's slot. */
typedef struct EmogiBuilt
{
	EmogiGraph	graph;
	uint32		weight_misfits; /* EMOGI_NOT_* over all weights */
	EmogiCoo	coo;			/* if one was wanted */
	EmogiMisfitCounts misfits;	/* likewise */
} EmogiBuilt;

extern void emogi_build_graph(EmogiCall *call, const EmogiGraphKey *key,
							  const EmogiChainedRun *chained, const EmogiCoo *coo,
							  EmogiBuilt *built);
extern void emogi_build_end(EmogiCall *call);

#endif							/* EMOGI_ACQUIRE_H */
