/*
 * function.h: the SQL functions that run algorithms.
 *
 * entries.c has the C entry points. Common steps:
 *
 *   arguments.c     reads the SQL arguments into an EmogiTask
 *   vertices.c      looks up the given vertices in the graph once it is available
 *   task_run.c      runs the task: begins a call, acquires the graph (../acquire), runs it by the
 *                   answerer that ../answer chooses, and returns the result as rows;
 *                   task_notices.c reports sources and targets that are not in the graph
 *   task_request.c  turns the task into a request to the worker; chained_run.c chains it to a build
 *   task_pairs.c    searches pairs one by one, if that costs less than a run for all
 *   start_values.c  reads a query of start values or communities
 *   pair_query.c    reads a query of pairs; pair_values.c a list of integers
 *   refusal.c       reports why a graph has no answer, common_ends.c an argument
 *
 * Answerers other than the engine worker:
 *
 *   local_search_call.c   searches that reach few vertices, in the backend
 *   local_search_lists.c  a few similarities and distances, in the backend
 *   local_reached.c       an algorithm on what the sources reach, in the backend
 *   local_batch.c         the CPU engine on a small graph, in the backend
 *   hierarchy_search.c    paths and distances by a contraction hierarchy
 *   index_search_call.c   searches over table indexes, without a graph
 *   neighborhood_run.c    rows of a few vertices from the edges around them, in the backend
 *   neighborhood_call.c   graphs of edges that are found through table indexes
 *   components.c          emogi_cc from the components of an earlier run
 *   path_run.c            one path, by each of them and by the worker
 *
 * Paths: shortest_paths.c finds the paths of pairs, reachable.c whether paths exist, ranked_paths.c
 * many paths of one pair, cycles.c simple cycles. path_steps.c keeps the steps of all of these.
 * stored_functions.c describes these functions for the planner and EXPLAIN.
 * edge_names.c looks up the names of their edges: edge_names_rows.c describes the rows of the
 * graph, edge_match.c finds the row of a step, edge_batches.c divides many edges into batches.
 *
 * Result rows that are not vertices are read by a cursor (cursor.c, cursor.h); row_kind.c maps
 * functions to row kinds. Hierarchies are in hierarchy_rows.c, pairs and random walks in
 * pair_rows.c, search trees in search_trees.c, edges and blocks with their vertices in edge_rows.c,
 * paths in shortest_path.c. Functions that return a number are in number.c.
 *
 * Other functions: emogi_check (graph_check.c), emogi_estimate (estimate.c), emogi_query and
 * emogi_with_vertices (query_text.c), emogi_version (version.c). refuse_array.c reports what a
 * function takes instead of an array.
 */
#ifndef EMOGI_FUNCTION_H
#define EMOGI_FUNCTION_H

#include "fmgr.h"

#include "acquire/acquire.h"
#include "answer/answer.h"

struct EmogiRowKind;			/* cursor.h */

/* ---- start_values.c ---- */

extern void emogi_start_values_check(const char *query, bool are_communities,
									 const EmogiKeyType *key);
extern void emogi_start_values_read(const EmogiGraph *graph, EmogiKeyIO *form, const char *query,
									bool are_communities, double default_value, double *values,
									bool *given);

extern void emogi_start_values_check_vertex(TupleDesc desc, int column, const EmogiKeyType *key);

/* ---- pair_values.c ---- */

/* Take a pair of a list. */
typedef void (*EmogiTakePair) (void *arg, int64 from, int64 to);

extern bool emogi_pair_values_read(const char *query, EmogiTakePair take, void *arg);

/* ---- pair_query.c ---- */

/* Two vertex numbers. */
typedef struct EmogiVertexPair
{
	uint32		from;
	uint32		to;
} EmogiVertexPair;

extern void emogi_pair_query_check(const char *query, const EmogiKeyType *key);
extern uint64 emogi_pair_query_max(void);
struct EmogiTask;

extern void emogi_pair_query_read_keys(struct EmogiTask *task);
extern EmogiVertexPair *emogi_pair_query_read(const EmogiGraph *graph,
											  const EmogiOverlay *overlay,
											  const struct EmogiTask *task, uint64 *npairs);
extern uint64 emogi_pair_query_sort(const EmogiGraph *graph, const EmogiOverlay *overlay,
									EmogiVertexPair *pairs, uint64 npairs);
extern Datum *emogi_pair_query_keys(const EmogiGraph *graph, const EmogiOverlay *overlay,
									EmogiKeyIO *form, const EmogiVertexPair *pairs,
									uint64 npairs);
extern uint64 emogi_pair_query_renumber(const EmogiGraph *graph, EmogiKeyIO *form,
										const Datum *keys, uint64 npairs, EmogiVertexPair *pairs);

/* ---- task_run.c ---- */

/* Vertices as given by the caller. */
typedef struct EmogiVertexDatums
{
	Datum	   *datums;			/* [count], no element is NULL */
	uint64		count;
} EmogiVertexDatums;

/* The parsed arguments of a SQL function, and what its condition asks for. */
typedef struct EmogiTask
{
	EmogiGraphArgument graph;
	EmogiDirection direction;	/* traversal direction relative to stored edges */
	EmogiQuery	query;			/* algorithm and numeric parameters; sources and values are set
								 * once the graph is available */
	Oid			vertex_type;	/* declared type of the column `vertex` and of vertex arguments */
	bool		has_sources;
	bool		source_is_array;
	EmogiVertexDatums	sources;	/* as given; once `form` is set, keys of the graph's key type */
	bool		last_is_target; /* the sources are the two ends of a path */
	const char *further_arguments;	/* required arguments after the vertices, for a hint that shows
								 * the call; NULL = none */
	bool		has_target_array;	/* the call has a separate array of targets */
	EmogiVertexDatums	target_array;	/* as `sources` */
	bool		no_rows;		/* no rows are wanted: run for the errors only */
	bool		names_edges;	/* edge names are wanted */
	bool		has_targets;	/* only rows of `wanted` vertices are needed */
	EmogiVertexDatums	wanted;	/* as given in a condition */
	bool		has_components; /* emogi_cc: only rows of the components `named` are needed; more
								 * rows are allowed */
	EmogiVertexDatums	named;	/* as `wanted` */
	const uint32 **members;		/* output: the members of the components, if the graph has kept
								 * them and the result stays in shared memory; NULL = not wanted */
	EmogiIndexSearchKind collects;	/* edges that suffice, see neighborhood_call.c, of at most
									 * query.max_depth hops; EMOGI_SEARCHES = not said */
	struct EmogiKeptIndexes *kept;	/* indexes of earlier calls of the plan node; NULL = none */
	uint64		npaths;			/* number of paths, of a ranking */
	uint64		collection_cost;	/* of index searches for earlier graphs of the same query,
									 * which reduces the cost limit; output: with that of this
									 * call's */
	char	   *start;			/* text of the query of start values or communities; NULL = none */
	char	   *pairs;			/* text of the query of pairs; NULL = none */
	Datum	   *pair_keys;		/* [npair_keys][2], what it has returned; NULL = not run yet */
	uint64		npair_keys;
	bool		with_backward;
	bool		is_shared;		/* parallel workers read its rows */

	/*
	 * Return the aggregates wanted instead of rows, in the arena, or NULL if the graph rules them
	 * out. The callback itself is NULL if all rows are wanted.
	 */
	const EmogiSummary *(*summarize) (void *arg, EmogiCall *call, EmogiKeyIO *form);
	void	   *summarize_arg;
	Oid		   *table;			/* output: the relation that is read, InvalidOid for a query;
								 * NULL = not wanted */

	/* the graph has only the edges near the given vertices; set by neighborhood_call.c */
	bool		is_collected;
	EmogiSource source;			/* the graph argument, once emogi_task_open has resolved it */

	/* set by vertices.c once the graph is available */
	EmogiKeyIO  *form;			/* NULL = the key type is not known yet */
	int64	   *keys;			/* [nkeys], the graph's ids of the sources; EMOGI_NO_CODE = not
								 * in the graph */
	uint64		nkeys;
	int64	   *target_array_ids;	/* [target_array.count], ids of `target_array` */
	const int64 *targets;		/* [ntargets], ids of targets; those of a condition are ascending
								 * and distinct */
	uint64		ntargets;
	const int64 *components;	/* [ncomponents], ids of `named`, ascending and distinct */
	uint64		ncomponents;
} EmogiTask;

extern void emogi_task_graph_key(const EmogiTask *task, EmogiGraphKey *key);
/* A task on its way to an answer. */
typedef struct EmogiCourse
{
	EmogiTask  *task;
	EmogiCall  *call;
	EmogiQuestion question;
	EmogiGraphView view;
	EmogiIndexSearch search;
	uint64		tried;			/* edges that a local search has scanned in vain */
	EmogiGraph *graph;			/* output: the rows' vertices */
	EmogiResult *result;		/* output */
} EmogiCourse;

extern void emogi_task_ask(const EmogiTask *task, EmogiQuestion *question);
extern EmogiCall *emogi_task_open(Oid function, EmogiTask *task, bool accepts_overlay,
								  EmogiGraphView *view);
extern bool emogi_task_reopen(EmogiCall *call, EmogiTask *task, EmogiGraphView *view);
extern EmogiCall *emogi_task_run(Oid function, EmogiTask *task, EmogiGraph *graph,
								 EmogiResult *result);

/* Is the set of sources or of targets empty? Then there are no rows, and the graph is not read. */
static inline bool
emogi_task_has_empty_set(const EmogiTask *task)
{
	return (task->has_sources && task->sources.count == 0) ||
		(task->has_target_array && task->target_array.count == 0);
}

/* ---- task_notices.c ---- */

extern void emogi_task_notice_sets(const EmogiTask *task, const EmogiOverlay *overlay,
								   const EmogiGraph *graph);
extern void emogi_task_notice_not_found(const EmogiTask *task, const EmogiIndexSearch *search);

/* ---- task_request.c ---- */

extern bool emogi_task_has_communities(const EmogiTask *task);
extern void emogi_task_cancel_chained(EmogiCall *call, const EmogiTask *task,
									  const EmogiGraph *graph);

/* Can values of a task's answer be out of range? Sums of lists only if weights are doubles. */
static inline bool
emogi_task_may_diverge(const EmogiTask *task, const EmogiGraph *graph)
{
	if (!emogi_algorithm_has(task->query.algorithm, EMOGI_MAY_DIVERGE))
		return false;
	return graph->weight_type == EMOGI_WEIGHT_F64 ||
		!emogi_algorithm_has(task->query.algorithm, EMOGI_SUMS_LISTS);
}

extern bool emogi_task_query(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
							 EmogiResult *result);
extern void emogi_task_batch(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
							 const uint32 *sources, int nsources, EmogiMsbfsResult *result);
extern void emogi_task_sums(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
							const uint32 *sources, int nsources, EmogiMsbfsSums *sums);
extern bool emogi_task_path(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
							uint64 tried, uint32 *path, double *distance, uint64 *length);

extern bool emogi_task_path_between(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
									uint32 source, uint32 target, const EmogiPathCost *max,
									uint32 *path, double *distance, uint64 *length,
									EmogiPathCost *cost);

/* ---- chained_run.c ---- */

extern const EmogiChainedRun *emogi_chained_run_make(const EmogiTask *task,
													 const EmogiQuestion *question);

/* ---- vertices.c ---- */

/* How many vertices a function takes. */
typedef enum EmogiVertexArity
{
	EMOGI_ARITY_MANY,			/* one source or an array */
	EMOGI_ARITY_ONE,
	EMOGI_ARITY_PAIR			/* one source and one target */
} EmogiVertexArity;

extern EmogiVertexDatums emogi_vertices_of_array(Datum array);
extern void emogi_vertices_read(EmogiTask *task, Oid function, const EmogiKeyType *key);
extern void emogi_vertices_find(EmogiTask *task, const EmogiGraph *graph,
								const EmogiOverlay *overlay);
extern int64 *emogi_vertices_find_ids(EmogiKeyIO *form, const EmogiGraph *graph,
									  const EmogiVertexDatums *given, uint64 *nfound);

extern void emogi_vertices_notice_missing(const char *what, const EmogiKeyIO *form, Datum key);
extern bool emogi_vertices_refuse_array(const char *what, EmogiKeyIO *form, const EmogiGraph *graph,
										Datum key, EmogiVertexArity takes);
extern void emogi_vertices_notice_end(const char *what, EmogiKeyIO *form, const EmogiGraph *graph,
									  Datum key, EmogiVertexArity takes);
extern char *emogi_vertices_text(const EmogiTask *task, const EmogiGraph *graph, uint64 v);

/* ---- edge_batches.c ---- */

/* Get the vertices of the edge of a row; return false if it has none, or needs no name. */
typedef bool (*EmogiNamedEdge) (const void *arg, uint64 row, uint32 *from, uint32 *to);

extern NullableDatum *emogi_edge_batches_name(const EmogiTask *task, const EmogiGraph *graph,
											  uint64 nrows, EmogiNamedEdge get, const void *arg,
											  bool are_parallel);

/* ---- edge_names.c ---- */

extern void emogi_edge_names_find(const EmogiTask *task, const EmogiGraph *graph, const int64 *from,
								  const int64 *to, uint64 count, bool are_parallel,
								  NullableDatum *names);

/* ---- common_ends.c ---- */

extern void emogi_common_ends_check(const EmogiTask *task);

/* ---- refusal.c ---- */

extern void emogi_refusal_report(const EmogiTask *task, const EmogiGraph *graph,
								 const EmogiResult *result);
extern void emogi_refusal_warn(const EmogiTask *task, const EmogiResult *result);
extern void emogi_refusal_check_values(const EmogiTask *task, const EmogiGraph *graph,
									   const EmogiResult *result);

/* ---- local_search_call.c ---- */

/* A path; its vertices may be those of an overlay. */
typedef struct EmogiLocalPath
{
	uint64		length;			/* vertices */
	uint32	   *vertices;		/* [length], from the source to the target */
	double	   *distance;		/* [length], from the source */
} EmogiLocalPath;

extern bool emogi_local_search_has_vertex(const EmogiGraph *graph, const EmogiOverlay *overlay,
										  int64 key);
extern bool emogi_local_search_run(EmogiCall *call, const EmogiTask *task,
								   const EmogiOverlay *overlay, uint64 max_edges,
								   EmogiGraph *graph, EmogiResult *result);
extern void emogi_local_search_record_run(EmogiCall *call, const EmogiGraph *graph, uint64 nreached,
										  uint32 nlevels, uint64 edges_traversed, double start_ms);
extern bool emogi_local_search_path(EmogiCall *call, const EmogiTask *task,
									const EmogiOverlay *overlay, const EmogiGraph *graph,
									uint64 max_edges, EmogiLocalPath *path);
extern bool emogi_local_search_path_between(EmogiCall *call, const EmogiOverlay *overlay,
											const EmogiGraph *graph, uint32 source, uint32 target,
											const EmogiPathCost *max, EmogiLocalPath *path,
											EmogiPathCost *cost);

/* ---- local_search_lists.c ---- */

extern bool emogi_local_search_similar(EmogiCall *call, const EmogiTask *task,
									   const EmogiOverlay *overlay, EmogiGraph *graph,
									   EmogiResult *result);
extern bool emogi_local_search_distances(EmogiCall *call, const EmogiTask *task,
										 const EmogiOverlay *overlay, EmogiGraph *graph,
										 EmogiResult *result);

/* ---- local_reached.c ---- */

extern bool emogi_local_reached_run(EmogiCall *call, const EmogiTask *task,
									const EmogiOverlay *overlay, uint64 max_edges,
									EmogiGraph *graph, EmogiResult *result);

/* ---- task_pairs.c ---- */

/* State of searches for the paths of vertex pairs, one pair at a time. */
typedef struct EmogiPairSearch
{
	EmogiCall  *call;
	const EmogiTask *task;
	EmogiGraph	graph;			/* the call's graph */
	const EmogiOverlay *overlay;	/* changes since the graph was built: only the backend searches
								 * then; NULL = none */
	bool		may_search;
	bool		skips_backend;	/* the last search exceeded the backend's limit */
	bool		used_backend;
	bool		used_worker;
	char		engine[8];		/* engine of the last batch; empty = there was none */
	EmogiPairBudget budget;
	bool		wants_paths;	/* false = only whether a path exists */
	struct EmogiHeldPaths *held;	/* searches for pairs with a common end; NULL = not allocated
									 * yet */
	double		worker_ms;		/* time of searches in the worker */
	EmogiLocalPath local_path;		/* result of the last search in the backend */
	uint32	   *path;			/* [nvertices], in the arena; NULL = not allocated yet */
	double	   *distance;		/* [nvertices], in the arena */
} EmogiPairSearch;

extern void emogi_task_pairs_begin(EmogiPairSearch *search, EmogiCall *call, const EmogiTask *task,
								   const EmogiGraph *graph);
extern bool emogi_task_pairs_find(EmogiPairSearch *search, uint32 source, uint32 target,
								  EmogiLocalPath *path);
extern void emogi_task_pairs_end_run(EmogiPairSearch *search, bool ran_batch);
extern void emogi_task_pairs_free(EmogiPairSearch *search);
extern void emogi_task_pairs_record(const EmogiPairSearch *search);

/* ---- hierarchy_search.c ---- */

extern void emogi_hierarchy_search_ask(const EmogiCall *call, const EmogiGraph *graph,
									   EmogiQuestion *question);
extern bool emogi_hierarchy_search_may_serve(const EmogiCall *call, const EmogiGraph *graph);
extern bool emogi_hierarchy_search_is_prepared(const EmogiCall *call);
extern void emogi_hierarchy_search_prepare(EmogiCall *call, const EmogiGraph *graph);
extern bool emogi_hierarchy_search_path(EmogiCall *call, const EmogiTask *task,
										const EmogiGraph *graph, EmogiLocalPath *path);
extern bool emogi_hierarchy_search_reaching_is_cheaper(const EmogiCall *call,
													   const EmogiGraph *graph, uint64 ntargets);
extern bool emogi_hierarchy_search_reaches(EmogiCall *call, const EmogiGraph *graph, uint32 source,
										   uint32 target, bool *reaches);
extern bool emogi_hierarchy_search_paths_are_cheaper(const EmogiCall *call,
													 const EmogiGraph *graph, uint64 npaths);
extern bool emogi_hierarchy_search_is_cheaper(const EmogiCall *call, const EmogiGraph *graph,
											  const EmogiQuery *query);
extern bool emogi_hierarchy_search_matrix(EmogiCall *call, const EmogiGraph *graph,
										  const EmogiQuery *query, double *distance);

/* ---- index_search_call.c ---- */

extern void emogi_index_search_call_begin(EmogiIndexSearch *search, const EmogiKeyType *key);
extern bool emogi_index_search_call_are_keys(EmogiKeyIO *form, const Datum *keys, uint64 count);
extern Datum *emogi_index_search_call_wanted(const EmogiTask *task,
											 const EmogiVertexDatums *wanted, uint64 *count);
extern bool emogi_index_search_call_repeat(Oid function, EmogiTask *task, EmogiIndexSearch *search,
										   EmogiGraphView *view, EmogiCall **call);
extern bool emogi_index_search_call_describe(EmogiIndexSearch *search, const EmogiKeyType *key);
extern void emogi_index_search_call_set_result(EmogiCall *call, EmogiTask *task,
											   const EmogiIndexSearch *search, EmogiGraph *graph,
											   EmogiResult *result);

/* ---- neighborhood_call.c ---- */

extern void emogi_neighborhood_call_describe(const EmogiTask *task, EmogiIndexSearch *search);
extern bool emogi_neighborhood_call_is_answer(const EmogiTask *task);
extern bool emogi_neighborhood_call_is_likely(EmogiAlgorithm algorithm, double depth,
											  double distance);
extern bool emogi_neighborhood_call_may_serve(const EmogiTask *task);
extern EmogiIndexSearch emogi_neighborhood_call_search(EmogiTask *task, Oid function);
extern void emogi_neighborhood_call_take(EmogiTask *task, const EmogiIndexSearch *search);

/* ---- neighborhood_run.c ---- */

extern bool emogi_neighborhood_run(EmogiCall *call, const EmogiTask *task,
								   const EmogiOverlay *overlay, uint64 max_edges,
								   EmogiGraph *graph, EmogiResult *result);

/* ---- local_batch.c ---- */

extern void emogi_local_batch_query(EmogiCall *call, EmogiRequest *request);
extern void emogi_local_batch_run(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
								  const uint32 *sources, int nsources, EmogiMsbfsResult *result);
extern void emogi_local_batch_sums(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph,
								   const uint32 *sources, int nsources, EmogiMsbfsSums *sums);

/* ---- components.c ---- */

extern bool emogi_components_run(EmogiCall *call, const EmogiTask *task,
								 const EmogiOverlay *overlay, EmogiGraph *graph,
								 EmogiResult *result);
extern void emogi_components_keep(EmogiCall *call, const EmogiResult *result);

/* ---- number.c ---- */

extern Datum emogi_number_get(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm);

/* ---- path_run.c ---- */

/* Columns of a path's result, [steps]. */
enum
{
	EMOGI_PATH_DISTANCE,
	EMOGI_PATH_COST,				/* of the edge to the next step; 0 in the last */
	EMOGI_PATH_EDGE				/* NullableDatum; NULL = names are not wanted */
};

extern double emogi_path_run_cost(const EmogiListsView *lists, uint32 from, uint32 to);
extern bool emogi_path_run_local(EmogiCourse *course);
extern bool emogi_path_run_hierarchy(EmogiCourse *course);
extern void emogi_path_run_engine(EmogiCourse *course);
extern bool emogi_path_run_is_empty(void *arg, const EmogiGraph *graph);
extern void emogi_path_run_notice_ends(const EmogiTask *task, const EmogiOverlay *overlay,
									   const EmogiGraph *graph);

/* ---- shortest_path.c ---- */

extern void emogi_shortest_path_read(FunctionCallInfo fcinfo, EmogiTask *task);

/* ---- stored_functions.c ---- */

/* A function that stores all its rows before it returns the first. */
typedef struct EmogiStoredFunction
{
	EmogiAlgorithmRow row;		/* its parameters, and the algorithm whose lists and weights it
								 * reads; without columns */
	EmogiIndexSearchKind collects;	/* as in EmogiTask */
	/* the same with a query of pairs instead of sources and targets; NULL = none */
	const struct EmogiStoredFunction *of_pairs;
} EmogiStoredFunction;

extern const EmogiStoredFunction *emogi_stored_function_named(const char *name);

/* ---- arguments.c ---- */

/*
 * FuncExpr.location of a call whose column `edge` is not used, set by the planner hook
 * (scan_node/unused_names.c).
 */
#define EMOGI_NAMES_UNUSED (-2)

/* The number of last arguments of every function with a graph: edge_filter and params. */
#define EMOGI_FILTER_ARGUMENTS 2

extern EmogiEdgeCondition *emogi_arguments_make_filter(char *text, Datum params, Oid type,
													bool isnull);
extern void emogi_arguments_graph(FunctionCallInfo fcinfo, EmogiGraphArgument *graph);
extern bool emogi_arguments_direction_named(const char *text, EmogiDirection *direction);
extern EmogiDirection emogi_arguments_direction(FunctionCallInfo fcinfo, int n,
												EmogiDirection default_value);
extern int64 emogi_arguments_count(FunctionCallInfo fcinfo, int n, int64 default_value,
								   const char *name, const char *hint);
extern void emogi_arguments_source_and_target(FunctionCallInfo fcinfo, EmogiTask *task);
extern void emogi_arguments_source(FunctionCallInfo fcinfo, EmogiTask *task);
extern void emogi_arguments_sources_and_targets(FunctionCallInfo fcinfo, EmogiTask *task);
extern void emogi_arguments_pairs(FunctionCallInfo fcinfo, int n, EmogiTask *task);
extern void emogi_arguments_begin(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm,
								  EmogiTask *task);
extern void emogi_arguments_read(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm,
								 EmogiTask *task);

#endif							/* EMOGI_FUNCTION_H */
