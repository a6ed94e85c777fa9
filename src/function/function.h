/*
 * function.h: the SQL functions that compute.
 *
 * A function has a file of its own: bfs.c is emogi_bfs. arguments.c reads its arguments into a Task; vertices.c turns those that are
 * vertices into what the Graph knows them by, once that is there. course.c carries the Task out: it begins a call, obtains the Graph (../build),
 * has the worker run the Query (../call), and returns the Result as rows. task_request.c makes the Task the request that the worker gets.
 * Rows that are not vertices are read by a cursor (cursor.h): of hierarchies in communities.c, which also carries out what returns a number, of
 * pairs and walks in pair_rows.c, of trees of searches in search_trees.c, of edges, and of blocks with their vertices, in edge_rows.c, of paths in shortest_path.c; kinds.c says which a function has.
 * local_search_call.c carries out what reaches little without the worker, local_search_lists.c a few similarities and distances, hierarchy_search.c paths by way of a hierarchy, index_search_call.c what reaches little without a Graph, components.c emogi_cc where there
 * was a run before. values.c reads a query of start values or communities, pairs.c one of pairs, whose paths shortest_paths.c finds and reachable.c whether
 * there are any. ranked_paths.c finds many paths of one pair, cycles.c
 * those that end where they begin; path_steps.c keeps the steps of all of these. refusal.c says why a graph has no answer.
 */
#ifndef EMOGI_FUNCTION_H
#define EMOGI_FUNCTION_H

#include "fmgr.h"

#include "acquire/acquire.h"

struct EmogiRowKind;			/* cursor.h */

/* ---- values.c ---- */

extern void emogi_values_check(const char *query, bool are_communities, const EmogiKeyType *key);
extern void emogi_values_query(const EmogiGraph *graph, EmogiForm *form, const char *query, bool are_communities, double otherwise,
							   double *values, bool *given);

extern void emogi_values_check_vertex(TupleDesc desc, int column, const EmogiKeyType *key);

/* ---- pairs.c ---- */

extern void emogi_pairs_check(const char *query, const EmogiKeyType *key);
extern uint64 emogi_pairs_most(void);
extern uint32 *emogi_pairs_query(const EmogiGraph *graph, const EmogiOverlay *patch, EmogiForm *form, const char *query, uint64 *npairs);
extern Datum *emogi_pairs_keys(const EmogiGraph *graph, const EmogiOverlay *patch, EmogiForm *form, const uint32 *numbers, uint64 npairs);
extern uint64 emogi_pairs_renumber(const EmogiGraph *graph, EmogiForm *form, const Datum *keys, uint64 npairs, uint32 *numbers);

/* ---- course.c ---- */

/* Vertices as the caller gives them. */
typedef struct EmogiGiven
{
	Datum	   *datums;			/* [count], none is NULL */
	uint64		count;
} EmogiGiven;

/* What a SQL function asks for. */
typedef struct EmogiTask
{
	EmogiGraphArgument graph;
	EmogiDirection direction;	/* which way a stored edge leads */
	EmogiQuery	query;			/* algorithm and numbers; sources and values are filled in when the Graph stands */
	Oid			vertex_type;	/* declared, of the column `vertex` and of arguments that are vertices */
	bool		has_sources;
	bool		source_is_array;
	EmogiGiven	sources;		/* as given; when there is a form, as keys of the Graph's type */
	bool		last_is_target; /* of the sources: they are the ends of a path */
	const char *further;		/* what the call has after the vertices, for a hint that shows it; NULL = nothing that must be there */
	bool		has_goals;		/* the call names where ways end, with a list of its own */
	EmogiGiven	goals;			/* as sources */
	bool		no_rows;		/* none is wanted: for errors alone */
	bool		names_edges;	/* names of edges are wanted */
	bool		has_targets;	/* rows of these vertices alone are wanted */
	EmogiGiven	wanted;			/* as given in a condition */
	bool		has_components; /* of emogi_cc: rows of these components alone are wanted; other rows do no harm */
	EmogiGiven	named;			/* likewise */
	char	   *start;			/* text of the query of start values, or of communities; NULL = none */
	char	   *pairs;			/* text of the query of pairs; NULL = none */
	bool		with_backward;
	bool		is_shared;		/* other processes read its rows */

	/* NULL = all rows are wanted; else gets what is, in the Region, or NULL again, now that the Graph stands */
	const EmogiSummary *(*summarize) (void *arg, EmogiCall *call, EmogiForm *form);
	void	   *summarize_arg;
	Oid		   *table;			/* where to note the relation that is read, InvalidOid for a query; NULL = nobody asks */

	/* of vertices.c, when the Graph stands */
	EmogiForm  *form;			/* NULL = the type of the keys is not known yet */
	int64	   *keys;			/* [nkeys], what it knows the sources by; EMOGI_NO_CODE = it has no such key */
	uint64		nkeys;
	int64	   *goal_keys;		/* [goals.count], likewise */
	const int64 *targets;		/* [ntargets], likewise, of a condition ascending and distinct */
	uint64		ntargets;
	const int64 *components;	/* [ncomponents], of `named`, likewise */
	uint64		ncomponents;
} EmogiTask;

extern void emogi_course_graph_key(const EmogiTask *task, EmogiGraphKey *key);
extern EmogiCall *emogi_course_open(Oid function, EmogiTask *task, EmogiOverlay **patch, EmogiGraph *graph);
extern void emogi_course_notice_sets(const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph);
extern bool emogi_course_reopen(EmogiCall *call, EmogiTask *task, EmogiGraph *graph);
extern EmogiCall *emogi_course_run(Oid function, EmogiTask *task, EmogiGraph *graph, EmogiResult *result);
extern Datum emogi_course_to_rows(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, const struct EmogiRowKind *kind);

/* ---- task_request.c ---- */

extern bool emogi_task_has_communities(const EmogiTask *task);
extern bool emogi_task_may_diverge(const EmogiTask *task, const EmogiGraph *graph);
extern bool emogi_task_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiResult *result);
extern void emogi_task_batch(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources,
							int nsources, EmogiMsbfsResult *result);
extern void emogi_task_sums(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, const uint32 *sources,
							int nsources, EmogiMsbfsSums *sums);
extern bool emogi_task_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint64 tried, uint32 *path,
						   double *distance, uint64 *length);

/* What a search for one path may cost, or has cost. */
typedef struct EmogiPathCost
{
	uint64		nedges;			/* list entries looked at */
	uint64		nvertices;		/* settled */
} EmogiPathCost;

extern bool emogi_task_path_between(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 source, uint32 target,
									const EmogiPathCost *max, uint32 *path, double *distance, uint64 *length, EmogiPathCost *cost);

/* ---- vertices.c ---- */

/* What a function takes as its source. */
typedef enum EmogiTakes
{
	EMOGI_TAKES_MANY,			/* also an array */
	EMOGI_TAKES_ONE,
	EMOGI_TAKES_PAIR			/* and one target */
} EmogiTakes;

extern EmogiGiven emogi_vertices_of_array(Datum array);
extern void emogi_vertices_read(EmogiTask *task, Oid function, const EmogiKeyType *key);
extern void emogi_vertices_find(EmogiTask *task, const EmogiGraph *graph);
extern int64 *emogi_vertices_seek(EmogiForm *form, const EmogiGraph *graph, const EmogiGiven *given, uint64 *nfound);

extern void emogi_vertices_notice_missing(const char *what, const EmogiForm *form, Datum key);
extern bool emogi_vertices_refuse_array(const char *what, EmogiForm *form, const EmogiGraph *graph, Datum key, EmogiTakes takes);
extern void emogi_vertices_notice_end(const char *what, EmogiForm *form, const EmogiGraph *graph, Datum key, EmogiTakes takes);
extern char *emogi_vertices_text(const EmogiTask *task, const EmogiGraph *graph, uint64 v);

/* ---- edge_names.c ---- */

extern void emogi_edge_names_find(const EmogiTask *task, const EmogiGraph *graph, const int64 *from, const int64 *to, uint64 count, NullableDatum *names);

/* ---- refusal.c ---- */

extern void emogi_refusal_report(const EmogiTask *task, const EmogiGraph *graph, const EmogiResult *result);
extern void emogi_refusal_warn(const EmogiTask *task, const EmogiResult *result);

/* ---- local_search_call.c ---- */

/* A path; its vertices may be those of a patch. */
typedef struct EmogiLocalPath
{
	uint64		length;			/* vertices */
	uint32	   *vertices;		/* [length], from the source to the target */
	double	   *distance;		/* [length], from the source */
} EmogiLocalPath;

extern bool emogi_local_search_is_enabled(void);
extern bool emogi_local_search_may_serve(const EmogiTask *task);
extern EmogiAlgorithm emogi_local_search_searching(EmogiAlgorithm algorithm);
extern bool emogi_local_search_has_vertex(const EmogiGraph *graph, const EmogiOverlay *patch, int64 key);
extern bool emogi_local_search_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result);
extern void emogi_local_search_note_run(EmogiCall *call, const EmogiGraph *graph, uint64 nreached, uint32 nlevels, uint64 edges_traversed,
								double start_ms);
extern uint64 emogi_local_search_most_edges(const EmogiTask *task, const EmogiGraph *graph);
/* List entries that a search between two vertices looks at before a hierarchy is asked. */
#define EMOGI_NEAR_EDGES UINT64CONST(512)

extern uint64 emogi_local_search_pair_edges(const EmogiGraph *graph);
extern bool emogi_local_search_path(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph, uint64 max_edges,
							EmogiLocalPath *path);
extern bool emogi_local_search_path_between(EmogiCall *call, const EmogiOverlay *patch, const EmogiGraph *graph, uint32 source, uint32 target,
									const EmogiPathCost *max, EmogiLocalPath *path, EmogiPathCost *cost);

/* ---- local_search_lists.c ---- */

#define EMOGI_NEAR_SIMILAR 8	/* vertices whose similarities the backend finds, at most */

extern bool emogi_local_search_similar(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result);
extern bool emogi_local_search_distances(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result);

/* ---- task_pairs.c ---- */

/* Searches for the paths of pairs of vertices of a call's Graph, one by one. */
typedef struct EmogiPairSearch
{
	EmogiCall  *call;
	const EmogiTask *task;
	EmogiGraph	graph;			/* the call's */
	const EmogiOverlay *patch;	/* what has changed in it: then the backend alone searches; NULL = nothing */
	bool		may_search;
	bool		skips_backend;	/* the last search was longer than those of the backend may be */
	bool		used_backend;
	bool		used_worker;
	char		engine[8];		/* of the last batch; empty = there was none */
	uint64		npairs;			/* of the run, those that have been found included */
	uint64		ndone;
	EmogiPathCost left;			/* of the budget of the run */
	EmogiPathCost spent;
	int			discount;		/* the next budget is divided by 2^discount: see emogi_task_pairs_ran */
	bool		wants_paths;	/* false: whether there is one is enough */
	uint64		same_source;	/* pairs of the group that are left, if they have the source in common; otherwise 1 */
	uint64		same_target;
	uint64		group_count;	/* pairs of the group; 0 = they are searched one by one */
	uint64		group_done;
	EmogiPathCost group_budget;	/* of the run, when the group began */
	EmogiPathCost group_left;	/* of what the group may cost */
	struct EmogiHeldPaths *held;	/* searches for pairs with a common end; NULL = not needed yet */
	double		worker_ms;		/* of searches in the worker */
	EmogiLocalPath near;			/* of the last search in the backend */
	uint32	   *path;			/* [nvertices], of the Region; NULL = not needed yet */
	double	   *distance;		/* [nvertices], likewise */
} EmogiPairSearch;

extern void emogi_task_pairs_begin(EmogiPairSearch *search, EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph);
extern uint64 emogi_task_pairs_batches(uint64 nsources);
extern void emogi_task_pairs_run(EmogiPairSearch *search, uint64 npairs, uint64 nsearches);
extern void emogi_task_pairs_group(EmogiPairSearch *search, uint64 same_source, uint64 same_target);
extern bool emogi_task_pairs_find(EmogiPairSearch *search, uint32 source, uint32 target, EmogiLocalPath *path);
extern void emogi_task_pairs_ran(EmogiPairSearch *search, bool ran_batch);
extern void emogi_task_pairs_free(EmogiPairSearch *search);
extern void emogi_task_pairs_note(const EmogiPairSearch *search);

/* ---- hierarchy_search.c ---- */

extern bool emogi_hierarchy_search_may_serve(const EmogiCall *call, const EmogiGraph *graph);
extern bool emogi_hierarchy_search_is_prepared(const EmogiCall *call);
extern void emogi_hierarchy_search_prepare(EmogiCall *call, const EmogiGraph *graph);
extern bool emogi_hierarchy_search_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, EmogiLocalPath *path);
extern bool emogi_hierarchy_search_paths_are_cheaper(const EmogiGraph *graph, uint64 npaths);
extern bool emogi_hierarchy_search_is_cheaper(const EmogiGraph *graph, const EmogiQuery *query);
extern bool emogi_hierarchy_search_matrix(EmogiCall *call, const EmogiGraph *graph, const EmogiQuery *query, double *distance);

/* ---- index_search_call.c ---- */

extern bool emogi_index_search_call_may_serve(const EmogiTask *task);
extern EmogiIndexSearch emogi_index_search_call_walk(EmogiTask *task, Oid function);
extern void emogi_index_search_call_take(EmogiCall *call, EmogiTask *task, const EmogiIndexSearch *walk, EmogiGraph *graph, EmogiResult *result);

/* ---- components.c ---- */

extern bool emogi_components_run(EmogiCall *call, const EmogiTask *task, const EmogiOverlay *patch, EmogiGraph *graph, EmogiResult *result);
extern void emogi_components_keep(EmogiCall *call, const EmogiResult *result);

/* ---- communities.c ---- */

extern Datum emogi_communities_total(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm);

/* ---- shortest_path.c ---- */

extern double emogi_shortest_path_cost(const EmogiListsView *lists, uint32 from, uint32 to);
extern void emogi_shortest_path_read(FunctionCallInfo fcinfo, EmogiTask *task);
extern void emogi_shortest_path_notice_ends(const EmogiTask *task, const EmogiOverlay *patch, const EmogiGraph *graph);
extern EmogiCall *emogi_shortest_path_run(Oid function, EmogiTask *task, EmogiGraph *graph, EmogiResult *result);

/* ---- arguments.c ---- */

/* What stands for a call's place in the text of a query where its column `edge` is not used: that is for the planner to say (scan_node/names.c). */
#define EMOGI_NAMES_UNUSED (-2)

extern void emogi_arguments_graph(FunctionCallInfo fcinfo, EmogiGraphArgument *graph);
extern bool emogi_arguments_direction_named(const char *text, EmogiDirection *direction);
extern EmogiDirection emogi_arguments_direction(FunctionCallInfo fcinfo, int n, EmogiDirection otherwise);
extern int64 emogi_arguments_count(FunctionCallInfo fcinfo, int n, int64 otherwise, const char *name, const char *hint);
extern void emogi_arguments_ends(FunctionCallInfo fcinfo, EmogiTask *task);
extern void emogi_arguments_source(FunctionCallInfo fcinfo, EmogiTask *task);
extern void emogi_arguments_sets(FunctionCallInfo fcinfo, EmogiTask *task);
extern void emogi_arguments_pairs(FunctionCallInfo fcinfo, int n, EmogiTask *task);
extern void emogi_arguments_begin(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task);
extern void emogi_arguments_read(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task);

#endif							/* EMOGI_FUNCTION_H */
