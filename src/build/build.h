/*
 * build.h: from a Source to a Graph.
 *
 * emogi_obtain_graph (obtain.c) looks in the cache for a Graph that holds exactly what the snapshot of the call sees, and pins it
 * (wish.c); else it has one built and published, unless the call is a search that does without (instead.c, choice.c). build.c has the edges of the Source brought into the Region (../edges), then has
 * the engine worker make keys and CSR of them. estimate.c and foresight.c say how large a Graph will be, before the scan and for
 * the planner.
 */
#ifndef EMOGI_BUILD_H
#define EMOGI_BUILD_H

#include "cache/cache.h"
#include "edges/edges.h"
#include "graph/patch.h"
#include "walk/walk.h"

/* ---- obtain.c: the Graph of a call ---- */

extern void emogi_obtain_graph(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph);
extern EmogiPatch *emogi_obtain_patched(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, EmogiGraph *graph);
extern EmogiPatch *emogi_obtain_or_walk(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, bool patched,
										EmogiGraph *graph, EmogiWalk *walk);
extern void emogi_obtain_release(EmogiCall *call);

/* ---- outlook.c: for EXPLAIN ---- */

/* Where a call would find its Graph. */
typedef enum EmogiOutlook
{
	EMOGI_GRAPH_IS_CACHED,
	EMOGI_GRAPH_WILL_BE_REFRESHED,
	EMOGI_GRAPH_WILL_BE_WALKED, /* it will not be there: the search walks over indexes */
	EMOGI_GRAPH_WILL_BE_BUILT,
	EMOGI_GRAPH_WILL_BE_PRIVATE
} EmogiOutlook;

extern EmogiOutlook emogi_outlook(const EmogiSource *source, const EmogiGraphKey *wanted, EmogiWalk *walk, const char **why_private);

/* ---- choice.c: whether a search walks over indexes ---- */

extern double emogi_choice_edges(double nreads);
extern bool emogi_choice_may_walk(const EmogiSource *source);
extern bool emogi_choice_lags(const EmogiSource *source, List *leaves, EmogiWalk *walk);
extern bool emogi_choice_passes(const EmogiSource *source, List *leaves, EmogiWalk *walk);
extern bool emogi_choice_walks(const EmogiSource *source, List *leaves, bool serves_others, EmogiWalk *walk);
extern void emogi_choice_note_walk(const EmogiSource *source, const EmogiWalk *walk);
extern void emogi_choice_note_build(const EmogiSource *source);

/* ---- unshared.c: why a Graph is for one call alone ---- */

/* The HINT where a Graph may be had for all by a later call. */
#define EMOGI_UNSHARED_NOW "Call it again when they have ended."

extern void emogi_unshared_report(const EmogiSource *source, bool from_heaps, List *leaves, const char *why);

/* ---- wish.c: a Graph whatever the snapshot sees ---- */

extern bool emogi_wish_borrow(const EmogiGraphKey *key, int *index, uint64 *id, EmogiGraph *graph);

/* ---- wish_keep.c: Graphs that are not evicted to make room ---- */

extern bool emogi_wish_keep(EmogiCall *call);
extern void emogi_wish_let_go(EmogiCall *call, const EmogiGraphKey *wanted);

/* A Graph as it is, whatever the call wants to see of it. */
typedef struct EmogiObtained
{
	EmogiGraph	graph;
	uint64		nskipped;		/* rows with a NULL end */
	uint32		weight_misfits; /* EMOGI_NOT_* and so on, over all weights; 0 when that was not kept */
} EmogiObtained;

/* The Graph of a call, and what is read at the same moment. */
typedef struct EmogiObtainedTwice
{
	EmogiObtained obtained;
	EmogiObtained rebuilt;
	EmogiPatch *patch;			/* the first is an older one, and this has changed since; NULL = nothing has */
	bool		is_cached;		/* else it was made for this call */
	bool		from_heaps;		/* also of a filtered table; else by a query, which may give other rows each time */
} EmogiObtainedTwice;

extern void emogi_obtain_twice(EmogiCall *call, EmogiSource *source, const EmogiGraphKey *wanted, bool patched,
							   EmogiObtainedTwice *twice);

/* ---- estimate.c: how large a Graph will be ---- */

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

extern EmogiEstimate emogi_estimate_graph(const EmogiSource *source, EmogiDirection direction);
extern double emogi_estimate_rows(const EmogiSource *source, List *leaves);
extern double emogi_estimate_next_degree(const EmogiSource *source, double nvertices, double nedges);
extern double emogi_estimate_reached(double nvertices, double nedges, double next_degree, double depth);
extern bool emogi_estimate_size(const EmogiSource *source, double *nvertices, double *nedges);

/* ---- foresight.c: what the planner can know of a query ---- */

typedef struct EmogiForesight
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
} EmogiForesight;

extern bool emogi_foresight_get(const EmogiSource *source, EmogiForesight *foresight);

/* ---- number.c ---- */

extern void emogi_number_keys(EmogiCall *call);

/* ---- build.c ---- */

struct EmogiServers;

extern void emogi_build_check(EmogiSource *source);
extern void emogi_build_edges(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights,
							  const struct EmogiLookNotes *notes);
extern void emogi_build_edges_of_servers(EmogiCall *call, const EmogiSource *source, List *heaps, struct EmogiServers *servers, EmogiWeights weights);
extern void emogi_build_edges_of_tree(EmogiCall *call, EmogiTree *tree, EmogiWeights weights);
extern void emogi_build_edges_of(EmogiCall *call, const EmogiGraph *donor, EmogiDirection direction,
								 EmogiWeights weights);
extern void emogi_build_graph(EmogiCall *call, EmogiDirection direction, bool with_backward, EmogiGraph *graph,
							  uint32 *weight_misfits);

#endif							/* EMOGI_BUILD_H */
