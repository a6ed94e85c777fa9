/*
 * size_probe.c: estimation of the reach of a search by trying it at plan time
 *
 * Statistics do not show whether only a few vertices are connected or within some distance:
 * estimated as the whole graph, they would be joined by reading the entire other table. Therefore a
 * search with constant arguments is tried on the latest cached graph, even if that is older than
 * the snapshot, and given up when it turns out to be large. The outcome is only an estimate, never
 * part of an answer. Only a caller with permission to read the relation as a table gets it.
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"

#include "acquire/acquire.h"
#include "contract/local_search.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/* A trial; the last one is cached, because a plan asks both for rows and for costs. */
typedef struct Trial
{
	uint64		graph;			/* id of the cached graph; 0 = none */
	EmogiAlgorithm algorithm;
	EmogiDirection direction;
	uint32		source;			/* vertex */
	EmogiBounds bounds;
	double		reached;		/* -1 = many */

	/* of the question: as long as these are the same, the cache need not be asked */
	uint64		latest;			/* latest cached graph of the columns, with any lists */
	AttrNumber	weight;
	AttrNumber	reverse;
	Oid			type;			/* of the source, passed by value; InvalidOid = another */
	Datum		value;
} Trial;

static Trial last;

/* Add the relation that a call reads to the key of its graph; return false if it is not known. */
static bool
find_relation(const FuncExpr *call, const EmogiAlgorithmRow *function, EmogiGraphKey *key)
{
	EmogiSource source;

	if (!emogi_call_expr_source(call, function->algorithm, &source))
		return false;
	key->database = MyDatabaseId;
	key->relid = source.relid;
	key->src = source.src;
	key->dst = source.dst;
	key->weight = source.weight;
	key->reverse = source.reverse;
	key->keys = source.key;
	return true;
}

/* Determine the key of a call's graph; return false if it is not constant. */
static bool
find_key(const FuncExpr *call, const EmogiAlgorithmRow *function, EmogiGraphKey *key)
{
	EmogiTask	task = {.query.algorithm = function->algorithm};

	if (!emogi_call_expr_direction(call, function, &task.direction))
		return false;
	emogi_task_graph_key(&task, key);
	key->with_backward = false; /* a trial traverses only forward edges */
	return find_relation(call, function, key);
}

/*
 * Find the vertex at which a call starts; EMOGI_NO_VERTEX if it is not constant, or not in the
 * graph.
 */
static uint32
find_source(const Const *given, const EmogiKeyType *key, const EmogiGraph *graph)
{
	EmogiKeyIO	form;
	int64		id;

	emogi_key_io_init(&form, key, given->consttype);
	return emogi_key_io_lookup(&form, graph, given->constvalue, &id) ?
		emogi_graph_vertex(graph, id) : EMOGI_NO_VERTEX;
}

/* Run the search of a trial; set its `reached`. */
static void
try_search(const EmogiGraph *graph, Trial *trial)
{
	EmogiQuery	query = {
		.algorithm = trial->algorithm,
		.max_depth = trial->bounds.depth < PG_INT32_MAX ? (int64) trial->bounds.depth : -1,
		.max_distance = trial->bounds.distance,
		.sources = &trial->source,
		.nsources = 1
	};
	const bool	is_bounded = trial->bounds.depth >= 0 || trial->bounds.distance < (double) INFINITY;
	EmogiLocalAnswer answer;

	trial->reached = -1;
	if (emogi_local_search(graph, NULL, &query,
						   is_bounded ? EMOGI_COST_TRIAL_BOUNDED_EDGES : EMOGI_COST_TRIAL_EDGES,
						   &answer) != EMOGI_LOCAL_ANSWERED)
		return;
	trial->reached = (double) answer.count;
	emogi_local_search_free(&answer);
}

/* Are two trials the same search, if they are of the same graph and source? */
static bool
is_same_search(const Trial *a, const Trial *b)
{
	return a->algorithm == b->algorithm && a->direction == b->direction &&
		a->bounds.depth == b->bounds.depth && a->bounds.distance == b->bounds.distance;
}

/* Is the outcome of a trial known before its graph is looked up? */
static bool
is_known(const Trial *trial)
{
	return trial->latest != 0 && trial->latest == last.latest && OidIsValid(trial->type) &&
		trial->type == last.type && trial->value == last.value &&
		trial->weight == last.weight && trial->reverse == last.reverse &&
		is_same_search(trial, &last);
}

/* Run a trial, unless it is the same as the last one. */
static double
reached_in(const EmogiGraph *graph, Trial *trial)
{
	if (trial->graph == last.graph && trial->source == last.source && is_same_search(trial, &last))
		trial->reached = last.reached;
	else
		try_search(graph, trial);
	last = *trial;
	return last.reached;
}

/*
 * Get the number of vertices that a call reaches within these bounds; -1 if there are many, or if
 * it is unknown. latest: of the graph's size. Raises errors of reading the source.
 */
double
emogi_size_probe_reached(const FuncExpr *call, const EmogiAlgorithmRow *function,
						 const EmogiBounds *bounds, uint64 latest)
{
	const int	place = emogi_algorithm_takes(function, EMOGI_SOURCES);
	const Const *given = place >= 0 ? list_nth(call->args, place + 1) : NULL;
	Trial		trial = {.algorithm = function->search,.bounds = *bounds,.latest = latest};
	EmogiGraphKey key;
	EmogiGraph	graph;
	int			borrowed;

	if (!emogi_enable_local_search ||
		!emogi_local_search_answers(emogi_algorithm_row(trial.algorithm)) ||
		given == NULL || !IsA(given, Const) || given->constisnull ||
		!find_key(call, function, &key) ||
		!emogi_key_io_is_compatible(&key.keys, given->consttype) ||
		!emogi_key_io_can_lookup(&key.keys, given->consttype))
		return -1;
	trial.direction = key.direction;
	trial.weight = key.weight;
	trial.reverse = key.reverse;
	trial.type = given->constbyval ? given->consttype : InvalidOid;
	trial.value = given->constvalue;
	if (is_known(&trial))
		return last.reached;
	if (!emogi_cache_lookup_pin_latest(&key, &borrowed, &trial.graph, &graph))
		return -1;
	trial.reached = -1;
	PG_TRY();
	{
		trial.source = find_source(given, &key.keys, &graph);
		if (trial.source != EMOGI_NO_VERTEX)
			trial.reached = reached_in(&graph, &trial);
	}
	PG_FINALLY();
	{
		emogi_cache_unpin(borrowed);
	}
	PG_END_TRY();
	return trial.reached;
}

/* Searches from so many vertices tell whether all may be small. */
#define SAMPLES 8

/*
 * Try the searches of a trial from vertices all over a graph; set its `reached` to the most that
 * one reaches, -1 if that is many.
 */
static void
try_samples(const EmogiGraph *graph, Trial *trial)
{
	double		most = graph->nvertices > 0 ? 0 : -1;

	for (uint64 i = 0; i < SAMPLES && most >= 0; i++)
	{
		trial->source = (uint32) ((uint64) graph->nvertices * (2 * i + 1) / (2 * SAMPLES));
		try_search(graph, trial);
		most = trial->reached < 0 ? -1 : Max(most, trial->reached);
	}
	trial->reached = most;
}

/*
 * Get the number of vertices that an unbounded search from a vertex that is not known yet is likely
 * to reach at most; -1 if there are many, or if it is unknown. Raises errors of reading the source.
 */
double
emogi_size_probe_sampled(const FuncExpr *call, const EmogiAlgorithmRow *function)
{
	static Trial known;
	const int	place = emogi_algorithm_takes(function, EMOGI_SOURCES);
	Trial		trial = {.algorithm = function->search,
						 .bounds = {.depth = -1,.distance = (double) INFINITY}};
	EmogiGraphKey key;
	EmogiGraph	graph;
	int			borrowed;

	if (!emogi_enable_local_search || place < 0 || IsA(list_nth(call->args, place + 1), Const) ||
		!emogi_local_search_answers(emogi_algorithm_row(trial.algorithm)) ||
		!find_key(call, function, &key) ||
		!emogi_cache_lookup_pin_latest(&key, &borrowed, &trial.graph, &graph))
		return -1;
	trial.direction = key.direction;
	if (trial.graph != known.graph || trial.algorithm != known.algorithm ||
		trial.direction != known.direction)
	{
		try_samples(&graph, &trial);
		known = trial;
	}
	emogi_cache_unpin(borrowed);
	return known.reached;
}

/*
 * Complete the question who answers a call by what is known of the latest cached graph; return
 * false if there is none. lists: the adjacency lists and weights that the call needs.
 */
bool
emogi_size_probe_ask(const FuncExpr *call, const EmogiAlgorithmRow *function,
				const EmogiGraphKey *lists, EmogiQuestion *question)
{
	EmogiGraphKey key = *lists;
	EmogiGraph	graph;
	uint64		id;
	int			index;
	bool		reversed;

	if (!find_relation(call, function, &key) ||
		!emogi_cache_lookup_pin_latest(&key, &index, &id, &graph))
		return false;
	question->has_graph = true;
	question->nvertices = graph.nvertices;
	question->nedges = graph.forward.nedges;
	question->keeps_components = emogi_cache_labels_exist(index);
	question->is_contracted = emogi_cache_contraction_graph(index, &graph, &reversed) != NULL &&
		emogi_cache_contraction_begin(index) != NULL;
	question->may_contract = question->is_contracted;
	if (question->is_contracted)
		emogi_cache_contraction_end(index);
	emogi_cache_unpin(index);
	return true;
}
