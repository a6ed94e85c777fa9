/*
 * size.c: planner estimates of a call's rows and cost
 *
 * The estimates come from the cached graph, or from statistics of the table or query that the graph
 * would be built from.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "acquire/acquire.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/* Estimated rows above which a trial search is run; it takes some microseconds */
#define TRIED_ROWS 1000
/* Searches from a sample are tried in graphs with at least so many vertices. */
#define SAMPLED_VERTICES 32768

/* Assumed levels of a hierarchy, and passes over the edges to compute it */
#define LIKELY_LEVELS 3
#define HIERARCHY_PASSES 40

/* Assumed numbers of pairs and sources if the arguments do not tell */
#define LIKELY_PAIRS 1000
#define LIKELY_SOURCES 100

/* Assumed biconnected components, and bridges or articulation points, per vertex */
#define LIKELY_COMPONENTS 1.5
#define LIKELY_BRIDGES 0.2

PG_FUNCTION_INFO_V1(emogi_support);

/* Get the estimated size of a graph built from a query; return false if it is unknown. */
static bool
find_query_size(const EmogiSource *source, EmogiAlgorithm algorithm, EmogiGraphSize *size)
{
	EmogiQuerySize estimate;

	if (!emogi_query_size_get(source, &estimate))
		return false;
	size->latest = 0;
	size->nvertices = estimate.nvertices;
	size->nedges = estimate.nedges;
	size->components = estimate.components;
	size->next_degree = size->nedges / Max(size->nvertices, 1);
	size->may_search_indexes = estimate.may_search_indexes &&
		emogi_algorithm_has(algorithm, EMOGI_INDEX_SEARCH);
	size->collect_us = estimate.collect_us;
	size->build_cost = estimate.is_cached ? 0 : estimate.cost + size->nedges * EMOGI_BUILD_COST;
	return true;
}

/* Does a call's graph store each edge in two adjacency lists, as far as its arguments tell? */
static bool
is_both_ways(const FuncExpr *call)
{
	const EmogiAlgorithmRow *function = emogi_call_expr_algorithm(call->funcid);
	EmogiDirection direction;

	if (function == NULL)
		return false;
	return function->lists == EMOGI_LISTS_BOTH ||
		(emogi_call_expr_direction(call, function, &direction) && direction == EMOGI_BOTH);
}

/*
 * Estimate the size of a call's graph with each edge in one adjacency list; return false if it is
 * unknown.
 */
static bool
find_size(const FuncExpr *call, EmogiAlgorithm algorithm, EmogiGraphSize *size)
{
	EmogiSource source;
	uint64		nvertices;
	uint64		nedges;

	if (emogi_call_expr_query(call, algorithm, &source))
		return find_query_size(&source, algorithm, size);
	if (!emogi_call_expr_source(call, algorithm, &source))
		return false;
	size->latest = 0;
	size->components = (EmogiComponentSizes) {0};
	if (emogi_cache_size(source.relid, source.src, source.dst, &size->latest, &nvertices, &nedges,
						 &size->components))
	{
		size->nvertices = (double) nvertices;
		size->nedges = (double) nedges;
		size->build_cost = 0;
	}
	else if (emogi_graph_estimate_size(&source, &size->nvertices, &size->nedges))
		size->build_cost = size->nedges * EMOGI_BUILD_COST;
	else
		return get_rel_relkind(source.relid) == RELKIND_VIEW &&
			find_query_size(&source, algorithm, size);
	size->next_degree = emogi_graph_estimate_next_degree(&source, size->nvertices, size->nedges);
	size->may_search_indexes = size->build_cost > 0 &&
		emogi_algorithm_has(algorithm, EMOGI_INDEX_SEARCH) &&
		emogi_index_search_cost_may_search(&source);
	size->collect_us = size->build_cost > 0 ?
		emogi_index_search_cost_collect_us(&source, size->nedges) : (double) INFINITY;
	return true;
}

/* Estimate the size of a call's graph; return false if it is unknown. */
static bool
estimate_size(const FuncExpr *call, EmogiAlgorithm algorithm, EmogiGraphSize *size)
{
	if (!find_size(call, algorithm, size))
		return false;
	size->algorithm = algorithm;
	size->reached = -1;
	if (is_both_ways(call))
	{
		size->nedges *= 2;
		size->next_degree *= 2;
	}
	return true;
}

/*
 * Get the estimated size of a call's graph; return false if it is unknown. root: the run of the
 * planner, which estimates it once; NULL = there is none.
 */
bool
emogi_size_find(const PlannerInfo *root, const FuncExpr *call, EmogiAlgorithm algorithm,
				EmogiGraphSize *size)
{
	bool		is_found;

	if (root != NULL && emogi_plan_sizes_find(root, call, algorithm, size, &is_found))
		return is_found;
	is_found = estimate_size(call, algorithm, size);
	if (root != NULL)
		emogi_plan_sizes_add(root, call, size, algorithm, is_found);
	return is_found;
}

/*
 * Set size->reached by a trial search within the bounds, or by unbounded ones from a sample of a
 * large graph's vertices, if the graph is cached and the estimate is large. Statistics give mean
 * degrees, but know neither small components nor distances. root: as above.
 */
void
emogi_size_probe(const PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function,
				 const EmogiBounds *bounds, EmogiGraphSize *size)
{
	size->reached = -1;
	if (size->build_cost != 0 || emogi_size_reached(size, bounds->depth) < TRIED_ROWS ||
		(root != NULL && emogi_plan_sizes_reach(root, call, function->algorithm, bounds,
												&size->reached)))
		return;
	size->reached = emogi_size_probe_reached(call, function, bounds, size->latest);
	if (size->reached < 0 && size->nvertices >= SAMPLED_VERTICES && bounds->depth < 0 &&
		bounds->distance == (double) INFINITY)
		size->reached = emogi_size_probe_sampled(call, function);
	if (root != NULL)
		emogi_plan_sizes_add_reach(root, call, function->algorithm, bounds, size->reached);
}

/* Estimate how many vertices are within this number of hops (< 0: unlimited) of a vertex. */
double
emogi_size_reached(const EmogiGraphSize *size, double depth)
{
	const double reached = emogi_graph_estimate_reached(size->nvertices, size->nedges,
														size->next_degree, depth);

	return size->reached >= 0 ? Min(reached, size->reached) : reached;
}

/* Get the bounds in a call's arguments. */
EmogiBounds
emogi_size_bounds(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const int	depth = emogi_algorithm_takes(function, EMOGI_MAX_DEPTH);
	const int	distance = emogi_algorithm_takes(function, EMOGI_MAX_DISTANCE);

	return (EmogiBounds) {
		.depth = depth >= 0 ? emogi_call_expr_integer(list_nth(call->args, depth + 1)) : -1,
		.distance = distance >= 0 ? emogi_call_expr_number(list_nth(call->args, distance + 1)) :
			(double) INFINITY
	};
}

/* Estimate the cost of looking up this vertex. of_integer: the cost if it is an integer. */
double
emogi_size_lookup_cost(const Node *vertex, double of_integer)
{
	const Oid	type = exprType(vertex);

	return type == INT8OID || type == INT4OID || type == INT2OID ? of_integer :
		EMOGI_KEY_LOOKUP_COST;
}

/*
 * Estimate the cost of a call that searches within these bounds, by who would answer it. An index
 * search and a neighborhood by index need no graph, all others build it if need be.
 */
double
emogi_size_call_cost(const EmogiGraphSize *size, const EmogiBounds *bounds)
{
	const double depth = bounds->depth;
	EmogiQuestion question;
	double		index_us = emogi_neighborhood_call_is_likely(size->algorithm, depth,
														 bounds->distance) ?
		size->collect_us : (double) INFINITY;
	double		graph_us;

	emogi_answer_ask(size->algorithm, &question);
	question.has_graph = true;
	question.nvertices = (uint64) size->nvertices;
	question.nedges = (uint64) size->nedges;
	question.nreached = emogi_size_reached(size, depth);
	question.request_us = 0;	/* included in EMOGI_CALL_COST */
	question.is_bounded = depth >= 0;
	question.may_use_indexes = depth >= 0 && size->may_search_indexes;
	if (emogi_answer_can(EMOGI_ANSWERER_INDEX, &question))
		index_us = emogi_answer_cost_us(EMOGI_ANSWERER_INDEX, &question);
	question.gave_up = 1u << EMOGI_ANSWERER_INDEX;
	if (depth < 0 && size->reached < 0)
		question.gave_up |= 1u << EMOGI_ANSWERER_LOCAL;
	graph_us = emogi_answer_cost_us(emogi_answer_choose(&question, NULL), &question);
	return EMOGI_CALL_COST + Min(index_us * EMOGI_COST_UNITS_PER_US,
								 size->build_cost + graph_us * EMOGI_COST_UNITS_PER_US);
}

/*
 * Estimate by how much a call costs less if conditions name the vertices, and indexes count their
 * lists instead of a build of the graph. nrows: the rows that the conditions leave.
 */
double
emogi_size_saved_build(const PlannerInfo *root, const FuncExpr *call,
					   const EmogiAlgorithmRow *function, double nrows)
{
	const EmogiBounds bounds = emogi_size_bounds(call, function);
	EmogiGraphSize size;
	double		index_us;

	if (!emogi_size_find(root, call, function->algorithm, &size) || size.build_cost == 0)
		return 0;
	index_us = nrows * (1 + size.nedges / Max(size.nvertices, 1)) * EMOGI_COST_INDEX_VERTEX_US;
	return isinf(size.collect_us) || index_us > size.collect_us ? 0 :
		Max(emogi_size_call_cost(&size, &bounds) - EMOGI_CALL_COST -
			index_us * EMOGI_COST_UNITS_PER_US, 0);
}

/*
 * Estimate the cost of a call for paths. In a graph, they read few of the edges, but need both
 * directions.
 */
static double
estimate_path_cost(const EmogiGraphSize *size)
{
	return EMOGI_CALL_COST +
		Min(size->collect_us * EMOGI_COST_UNITS_PER_US,
			2 * size->build_cost + size->nedges * EMOGI_EDGE_COST / EMOGI_COST_PATH_SHARE);
}

/* Is a condition about one component (*is_one), or a few, whose vertices are looked up? */
static bool
chooses_components(EmogiPushdown pushdown, bool *is_one)
{
	*is_one |= pushdown == EMOGI_IS || pushdown == EMOGI_IS_LIKELY || pushdown == EMOGI_MEMBER_OF;
	return *is_one || pushdown == EMOGI_IS_IN;
}

/*
 * Get the sizes of the components of a call's graph, if conditions select one of them (*is_one), or
 * a few; return false if they do not, or the sizes are unknown.
 */
bool
emogi_size_components(PlannerInfo *root, const RelOptInfo *rel, const FuncExpr *call,
					  const EmogiAlgorithmRow *function, EmogiComponentSizes *sizes, bool *is_one)
{
	EmogiConditions sorted;
	EmogiGraphSize size;
	bool		found = false;
	ListCell   *pushdown;

	*is_one = false;
	if ((function->traits & EMOGI_KEEPS_COMPONENTS) == 0 || rel->baserestrictinfo == NIL)
		return false;
	emogi_conditions_sort(root, rel, rel->baserestrictinfo, &sorted);
	foreach(pushdown, sorted.pushdowns)
	{
		if (lfirst_int(pushdown) <= EMOGI_VERTEX_IN)
			return false;
		found |= chooses_components((EmogiPushdown) lfirst_int(pushdown), is_one);
	}
	if (!found || !emogi_size_find(root, call, function->algorithm, &size))
		return false;
	*sizes = size.components;
	return sizes->ncomponents > 0;
}

/* Estimate the levels of a call's hierarchy; 1 if it has none. */
double
emogi_size_levels(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	const int	place = emogi_algorithm_takes(function, EMOGI_MAX_LEVELS);
	const double max = place < 0 ? 1 : emogi_call_expr_integer(list_nth(call->args, place + 1));

	return max < 1 ? LIKELY_LEVELS : Min(max, LIKELY_LEVELS);
}

/* Get a constant argument that is a non-negative integer; otherwise the parameter's default. */
static double
positive_argument(const FuncExpr *call, const EmogiAlgorithmRow *function, EmogiParameterKind kind)
{
	const int	place = emogi_algorithm_takes(function, kind);
	const double given = emogi_call_expr_integer(list_nth(call->args, place + 1));

	return given >= 0 ? given : function->parameters[place].default_value;
}

/* Count the elements of an array. */
static double
count_elements(Datum array)
{
	const ArrayType *elements = DatumGetArrayTypeP(array);

	return ArrayGetNItems(ARR_NDIM(elements), ARR_DIMS(elements));
}

/* Estimate the rows of a query of pairs, in the same way as those of an edge query. */
static double
estimate_pairs(char *query)
{
	EmogiGraphArgument graph = {.text = query};
	EmogiSource source;
	EmogiQuerySize estimate;

	if (!emogi_shared_is_there() ||
		!emogi_source_peek_query(&graph, EMOGI_WANTS_NO_WEIGHT, &source) ||
		!emogi_query_size_get(&source, &estimate))
		return LIKELY_PAIRS;
	return estimate.nedges;
}

/* Estimate how many vertices an argument lists. */
static double
estimate_given(const Node *argument)
{
	const Const *given = (const Const *) argument;

	if (!OidIsValid(get_element_type(exprType((const Node *) given))))
		return 1;
	return IsA(given, Const) && !given->constisnull ? count_elements(given->constvalue) :
		LIKELY_SOURCES;
}

/* Estimate how many vertices a call's argument of this kind lists. */
double
emogi_size_count_vertices(const FuncExpr *call, const EmogiAlgorithmRow *function,
						  EmogiParameterKind kind)
{
	return estimate_given(list_nth(call->args, emogi_algorithm_takes(function, kind) + 1));
}

/*
 * Estimate how many paths a call of emogi_shortest_paths finds. Its second argument is an array of
 * sources, or a query of pairs.
 */
static double
estimate_paths(const FuncExpr *call)
{
	const Const *pairs = lsecond(call->args);

	if (OidIsValid(get_element_type(exprType((const Node *) pairs))))
		return estimate_given((const Node *) pairs) * estimate_given(lthird(call->args));
	return IsA(pairs, Const) && !pairs->constisnull ?
		estimate_pairs(TextDatumGetCString(pairs->constvalue)) : LIKELY_PAIRS;
}

/* Estimate the number of walks of a call. */
double
emogi_size_count_walks(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	return emogi_size_count_vertices(call, function, EMOGI_SOURCES) *
		positive_argument(call, function, EMOGI_WALKS);
}

/* Estimate the rows of one walk: its steps and the start vertex. */
double
emogi_size_steps(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	return positive_argument(call, function, EMOGI_LENGTH) + 1;
}

/* Estimate the length of a call's list of rows. */
static double
estimate_length(const FuncExpr *call, const EmogiAlgorithmRow *function, const EmogiGraphSize *size)
{
	char	   *pairs;

	switch (function->shape)
	{
		case EMOGI_SHAPE_DISTANCES:
			return emogi_size_count_vertices(call, function, EMOGI_SOURCES) *
				emogi_size_count_vertices(call, function, EMOGI_TARGETS);
		case EMOGI_SHAPE_WALKS:
			return emogi_size_count_walks(call, function) * emogi_size_steps(call, function);
		case EMOGI_SHAPE_SIMILARITIES:
			if (!emogi_call_expr_pairs(call, function, &pairs))
				return LIKELY_PAIRS;
			return pairs != NULL ? estimate_pairs(pairs) :
				size->nvertices * positive_argument(call, function, EMOGI_TOP_K);
		default:
			return size->nedges;
	}
}

/* Estimate the rows of a call. */
static double
estimate_rows(const FuncExpr *call, const EmogiAlgorithmRow *function, const EmogiBounds *bounds,
			  const EmogiGraphSize *size)
{
	if (emogi_shape_is_list(function->shape))
		return estimate_length(call, function, size);
	if (function->shape == EMOGI_SHAPE_HIERARCHY)
		return size->nvertices * emogi_size_levels(call, function);
	if ((function->traits & EMOGI_FEW_ROWS) != 0)
		return size->nvertices * LIKELY_BRIDGES;
	if (function->shape == EMOGI_SHAPE_BLOCKS)
		return size->nvertices * LIKELY_COMPONENTS;
	return emogi_size_reached(size, bounds->depth);
}

/*
 * Estimate the steps of a path, sqrt(vertices) / 4: few in most graphs; in road networks, as many
 * as along one side.
 */
static double
estimate_steps(const EmogiGraphSize *size)
{
	return Max(Min(sqrt(size->nvertices) / 4, 1000), 2);
}

/*
 * Estimate the cost of a call beyond one pass over the edges: searches from its samples or from all
 * vertices, and the passes of a hierarchy.
 */
static double
estimate_extra_cost(const FuncExpr *call, const EmogiAlgorithmRow *function,
					const EmogiGraphSize *size)
{
	const int	place = emogi_algorithm_takes(function, EMOGI_SAMPLES);
	double		nsamples;

	if (function->shape == EMOGI_SHAPE_SIMILARITIES)
		return size->nedges * size->next_degree * EMOGI_EDGE_COST;	/* less for given pairs */
	if (function->shape == EMOGI_SHAPE_DISTANCES)
		return (Max(emogi_size_count_vertices(call, function, EMOGI_SOURCES), 1) - 1) *
			size->nedges * EMOGI_EDGE_COST;
	if (place < 0)
		return function->shape == EMOGI_SHAPE_HIERARCHY ?
			(HIERARCHY_PASSES - 1) * size->nedges * EMOGI_EDGE_COST : 0;
	nsamples = emogi_call_expr_integer(list_nth(call->args, place + 1));
	if (nsamples < 1 || nsamples > size->nvertices)
		nsamples = Max(size->nvertices, 1);
	return (nsamples - 1) * size->nedges * EMOGI_EDGE_COST;
}

/*
 * emogi_support(internal) -> internal: planner support function (supportnodes.h) for the rows and
 * cost of a call
 */
Datum
emogi_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	const PlannerInfo *root = NULL;
	Node	   *node = NULL;
	FuncExpr   *call;
	const EmogiAlgorithmRow *function;
	EmogiGraphSize size;
	EmogiBounds bounds;
	bool		is_path;
	bool		are_paths;

	if (IsA(request, SupportRequestRows))
	{
		root = ((SupportRequestRows *) request)->root;
		node = ((SupportRequestRows *) request)->node;
	}
	else if (IsA(request, SupportRequestCost))
	{
		root = ((SupportRequestCost *) request)->root;
		node = ((SupportRequestCost *) request)->node;
	}
	if (node == NULL || !IsA(node, FuncExpr))
		PG_RETURN_POINTER(NULL);
	call = (FuncExpr *) node;
	function = emogi_call_expr_algorithm(call->funcid);
	are_paths = function == NULL && emogi_call_expr_is_paths(call->funcid);
	is_path = are_paths || (function == NULL && emogi_call_expr_is_path(call->funcid));
	if ((function == NULL && !is_path) ||
		!emogi_size_find(root, call, is_path ? EMOGI_SSSP : function->algorithm, &size))
		PG_RETURN_POINTER(NULL);
	if (!is_path)
	{
		bounds = emogi_size_bounds(call, function);
		emogi_size_probe(root, call, function, &bounds, &size);
	}
	if (IsA(request, SupportRequestRows))
		((SupportRequestRows *) request)->rows = is_path ?
			estimate_steps(&size) * (are_paths ? estimate_paths(call) : 1) :
			estimate_rows(call, function, &bounds, &size);
	else
	{
		SupportRequestCost *cost = (SupportRequestCost *) request;

		cost->startup = 0;
		cost->per_tuple = is_path ? estimate_path_cost(&size) :
			emogi_size_call_cost(&size, &bounds) + estimate_extra_cost(call, function, &size);
	}
	PG_RETURN_POINTER(request);
}
