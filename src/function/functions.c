/*
 * functions.c: the SQL functions: reading and checking their arguments.
 *
 * NULL for an argument means its default, but for the graph, which must be there, and for a source, whose absence
 * gives no rows. Functions exist for a graph that is text and for one that is a relation (regclass, with a last argument
 * more, the columns); and for one source (bigint), for many (bigint[]) and for text that has one or many. All forms of a
 * function have the same C entry, which looks at the declared types of its arguments.
 *
 * Where PostgreSQL calls an entry, all rows go into a tuplestore. As an item of FROM a function is never called: its
 * arguments are read by the same reader, which emogi_function finds, and the rows are streamed (stream.c).
 */
#include "server/emogi.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "contract/algebra.h"
#include "cpu/trace_path.h"

PG_FUNCTION_INFO_V1(emogi_version);
PG_FUNCTION_INFO_V1(emogi_bfs);
#define PATH(NAME, name, order, source, traits) PG_FUNCTION_INFO_V1(emogi_##name);
EMOGI_PATH_APPLICATIONS(PATH)
#undef PATH
PG_FUNCTION_INFO_V1(emogi_ssnsp);
PG_FUNCTION_INFO_V1(emogi_cc);
PG_FUNCTION_INFO_V1(emogi_pagerank);
#define SUM(NAME, name, direction, weights, traits) PG_FUNCTION_INFO_V1(emogi_##name);
EMOGI_SUM_APPLICATIONS(SUM)
#undef SUM
PG_FUNCTION_INFO_V1(emogi_shortest_path);

/* emogi_version() -> text */
Datum
emogi_version(PG_FUNCTION_ARGS)
{
	emogi_require_preload();
	PG_RETURN_TEXT_P(cstring_to_text(EMOGI_VERSION));
}

/*
 * Get the declared type of an argument. Asked of the catalog: calls that are no expression, as by the fastpath, could not
 * tell.
 */
static Oid
argument_type(FunctionCallInfo fcinfo, int n)
{
	Oid		   *types;
	int			ntypes;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &ntypes);
	return n < ntypes ? types[n] : InvalidOid;
}

/* Get text that names a relation and the columns given with it. One that is gone is named by its number. */
static char *
relation_text(Oid relid, const char *columns)
{
	char	   *name = get_rel_name(relid);
	char	   *schema = name != NULL ? get_namespace_name(get_rel_namespace(relid)) : NULL;

	if (schema == NULL)
		return psprintf("%u", relid);
	name = quote_qualified_identifier(schema, name);
	return columns == NULL ? name : psprintf("%s(%s)", name, columns);
}

/* Get the graph argument, which is always the first; of a relation also the columns, the last. Raises 22004 when it is NULL. */
void
emogi_graph_argument(FunctionCallInfo fcinfo, EmogiGraphArgument *graph)
{
	int			last = fcinfo->nargs - 1;

	memset(graph, 0, sizeof *graph);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the graph argument must not be NULL"),
				 errhint(EMOGI_FORMS_HINT)));
	if (argument_type(fcinfo, 0) != REGCLASSOID)
	{
		graph->text = text_to_cstring(PG_GETARG_TEXT_PP(0));
		return;
	}
	graph->is_relation = true;
	graph->relid = PG_GETARG_OID(0);
	if (last > 0 && !PG_ARGISNULL(last))
		graph->columns = text_to_cstring(PG_GETARG_TEXT_PP(last));
	graph->text = relation_text(graph->relid, graph->columns);
}

/* Get the query of start values; raises 22004 when it is NULL. */
static char *
start_argument(FunctionCallInfo fcinfo, int n)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the query of start values must not be NULL"),
				 errhint("Give a query that returns a vertex and its value: 'SELECT vertex, value FROM start'.")));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Read the name of a direction; false when it is none. */
bool
emogi_read_direction(const char *text, EmogiDirection *direction)
{
	static const char *const names[] = {"out", "in", "both"};

	for (int i = 0; i < (int) lengthof(names); i++)
		if (pg_strcasecmp(text, names[i]) == 0)
		{
			*direction = (EmogiDirection) i;
			return true;
		}
	return false;
}

/* Get the direction argument; raises 22023. */
EmogiDirection
emogi_direction_argument(FunctionCallInfo fcinfo, int n, EmogiDirection otherwise)
{
	EmogiDirection direction = otherwise;
	char	   *name;

	if (PG_ARGISNULL(n))
		return otherwise;
	name = text_to_cstring(PG_GETARG_TEXT_PP(n));
	if (!emogi_read_direction(name, &direction))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid direction: \"%s\"", name),
				 errhint("Use 'out' (edges as stored), 'in' (against them) or 'both'.")));
	return direction;
}

/* Get the max_depth argument, -1 (no bound) when NULL; raises 22023. */
static int64
max_depth_argument(FunctionCallInfo fcinfo, int n)
{
	int32		max_depth;

	if (PG_ARGISNULL(n))
		return -1;
	max_depth = PG_GETARG_INT32(n);
	if (max_depth < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_depth must not be negative: %d", max_depth),
				 errhint("Use NULL for no bound, 0 for the source alone.")));
	return max_depth;
}

/* Get a number that must lie in [least, most]; raises 22023, for NaN too. */
static double
number_argument(FunctionCallInfo fcinfo, int n, const char *name, double otherwise, double least, double most)
{
	double		number;

	if (PG_ARGISNULL(n))
		return otherwise;
	number = PG_GETARG_FLOAT8(n);
	if (!(number >= least && number <= most))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %g", name, number),
				 most < (double) INFINITY ? errhint("It must be between %g and %g.", least, most) :
				 errhint("It must be %g or more.", least)));
	return number;
}

/* Get the max_iterations argument; raises 22023. */
static int64
max_iterations_argument(FunctionCallInfo fcinfo, int n, int64 otherwise)
{
	int32		max_iterations;

	if (PG_ARGISNULL(n))
		return otherwise;
	max_iterations = PG_GETARG_INT32(n);
	if (max_iterations < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_iterations must be positive: %d", max_iterations),
				 errhint("Use 1 or more.")));
	return max_iterations;
}

/* Get the elements of a bigint[] that are not NULL. */
static int64 *
array_elements(ArrayType *array, uint64 *count)
{
	Datum	   *datums;
	bool	   *nulls;
	int			n;
	int64	   *elements;

	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE, &datums, &nulls, &n);
	elements = palloc(Max(n, 1) * sizeof(int64));
	*count = 0;
	for (int i = 0; i < n; i++)
		if (!nulls[i])
			elements[(*count)++] = DatumGetInt64(datums[i]);
	return elements;
}

/* Add to the error of text that is no vertex key what may be given. */
static void
explain_key(void *arg)
{
	if (geterrcode() == ERRCODE_INVALID_TEXT_REPRESENTATION || geterrcode() == ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE)
		errhint("A vertex is a bigint: 42 or '42'. Several sources are an array: ARRAY[1, 2] or '{1,2}'.");
}

/* Read text with the input function of a type, bigint or bigint[]; raises 22P02 and 22003. */
static Datum
read_text(const char *string, Oid type)
{
	ErrorContextCallback context = {.previous = error_context_stack,.callback = explain_key};
	Datum		value;

	error_context_stack = &context;
	value = type == INT8OID ? DirectFunctionCall1(int8in, CStringGetDatum(string)) :
		OidInputFunctionCall(F_ARRAY_IN, unconstify(char *, string), INT8OID, -1);
	error_context_stack = context.previous;
	return value;
}

/* Get a vertex key: a bigint, or text that has one. */
static int64
key_argument(FunctionCallInfo fcinfo, int n)
{
	if (argument_type(fcinfo, n) == TEXTOID)
		return DatumGetInt64(read_text(text_to_cstring(PG_GETARG_TEXT_PP(n)), INT8OID));
	return PG_GETARG_INT64(n);
}

/* Get the array of keys that is an argument, or its text; NULL when it is neither, but one key. */
static ArrayType *
array_argument(FunctionCallInfo fcinfo, int n)
{
	Oid			type = argument_type(fcinfo, n);
	const char *string;

	if (type == INT8ARRAYOID)
		return PG_GETARG_ARRAYTYPE_P(n);
	if (type != TEXTOID)
		return NULL;
	string = text_to_cstring(PG_GETARG_TEXT_PP(n));
	while (isspace((unsigned char) *string))
		string++;
	return *string == '{' ? DatumGetArrayTypeP(read_text(string, INT8ARRAYOID)) : NULL;
}

/* Read the source argument, one or many. */
static void
read_sources(FunctionCallInfo fcinfo, int n, EmogiTask *task)
{
	ArrayType  *array;

	task->has_sources = true;
	if (PG_ARGISNULL(n))
		return;
	array = array_argument(fcinfo, n);
	if (array != NULL)
		task->keys = array_elements(array, &task->nkeys);
	else
	{
		task->keys = palloc(sizeof(int64));
		task->keys[0] = key_argument(fcinfo, n);
		task->nkeys = 1;
	}
}

/* Begin a task: see that emogi is loaded, read the graph argument, which is always the first. */
static void
begin_task(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task)
{
	emogi_require_preload();
	emogi_refuse_worker();
	memset(task, 0, sizeof *task);
	task->query.algorithm = algorithm;
	task->query.max_depth = -1;
	task->query.max_distance = (double) INFINITY;
	emogi_graph_argument(fcinfo, &task->graph);
}

/* ---- the readers: arguments to a task ---- */

static void
read_bfs(FunctionCallInfo fcinfo, EmogiTask *task)
{
	begin_task(fcinfo, EMOGI_BFS, task);
	read_sources(fcinfo, 1, task);
	task->query.max_depth = max_depth_argument(fcinfo, 2);
	task->direction = emogi_direction_argument(fcinfo, 3, EMOGI_OUT);
}

/* The arguments of the path algebra: (graph, source, direction), or (graph, source, max_distance, direction) of sums. */
static void
read_best_paths(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task)
{
	const bool	adds = emogi_path_adds(algorithm);

	begin_task(fcinfo, algorithm, task);
	read_sources(fcinfo, 1, task);
	if (adds)
		task->query.max_distance = number_argument(fcinfo, 2, "max_distance", (double) INFINITY, 0, (double) INFINITY);
	task->direction = emogi_direction_argument(fcinfo, adds ? 3 : 2, EMOGI_OUT);
}

#define PATH(NAME, name, order, source, traits) \
static void \
read_##name(FunctionCallInfo fcinfo, EmogiTask *task) \
{ \
	read_best_paths(fcinfo, EMOGI_##NAME, task); \
}
EMOGI_PATH_APPLICATIONS(PATH)
#undef PATH

static void
read_ssnsp(FunctionCallInfo fcinfo, EmogiTask *task)
{
	begin_task(fcinfo, EMOGI_SSNSP, task);
	read_sources(fcinfo, 1, task);
	task->direction = emogi_direction_argument(fcinfo, 2, EMOGI_OUT);
}

static void
read_cc(FunctionCallInfo fcinfo, EmogiTask *task)
{
	begin_task(fcinfo, EMOGI_CC, task);
	task->direction = EMOGI_OUT;
}

static void
read_pagerank(FunctionCallInfo fcinfo, EmogiTask *task)
{
	begin_task(fcinfo, EMOGI_PAGERANK, task);
	task->direction = EMOGI_OUT;
	task->query.damping = number_argument(fcinfo, 1, "damping", 0.85, 0, 1);
	task->query.max_iterations = max_iterations_argument(fcinfo, 2, 100);
	task->query.tolerance = number_argument(fcinfo, 3, "tolerance", 1e-6, 0, (double) INFINITY);
}

/* The arguments of the algorithms with start values: (graph, start, max_iterations, tolerance, direction). */
static void
read_with_values(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiDirection direction, EmogiTask *task)
{
	begin_task(fcinfo, algorithm, task);
	task->start = start_argument(fcinfo, 1);
	task->query.max_iterations = max_iterations_argument(fcinfo, 2, 1000);
	task->query.tolerance = number_argument(fcinfo, 3, "tolerance", 1e-6, 0, (double) INFINITY);
	task->direction = emogi_direction_argument(fcinfo, 4, direction);
}

#define SUM(NAME, name, direction, weights, traits) \
static void \
read_##name(FunctionCallInfo fcinfo, EmogiTask *task) \
{ \
	read_with_values(fcinfo, EMOGI_##NAME, direction, task); \
}
EMOGI_SUM_APPLICATIONS(SUM)
#undef SUM

/* The functions whose rows are vertices. */
static const EmogiFunction functions[] = {
	{"emogi_bfs", EMOGI_BFS, read_bfs, 3, EMOGI_OUT},
#define PATH(NAME, name, order, source, traits) \
	{"emogi_" #name, EMOGI_##NAME, read_##name, ((traits) & EMOGI_PATH_ADDS) != 0 ? 3 : 2, EMOGI_OUT},
	EMOGI_PATH_APPLICATIONS(PATH)
#undef PATH
	{"emogi_ssnsp", EMOGI_SSNSP, read_ssnsp, 2, EMOGI_OUT},
	{"emogi_cc", EMOGI_CC, read_cc, -1, EMOGI_OUT},
	{"emogi_pagerank", EMOGI_PAGERANK, read_pagerank, -1, EMOGI_OUT},
#define SUM(NAME, name, direction, weights, traits) {"emogi_" #name, EMOGI_##NAME, read_##name, 4, direction, true},
	EMOGI_SUM_APPLICATIONS(SUM)
#undef SUM
};

/* Find the function whose C entry has this name; NULL when its rows are not vertices. */
const EmogiFunction *
emogi_function(const char *symbol)
{
	for (int i = 0; i < (int) lengthof(functions); i++)
		if (strcmp(functions[i].symbol, symbol) == 0)
			return &functions[i];
	return NULL;
}

/* ---- the entries ---- */

/* Carry out a function, its rows into a tuplestore. */
static Datum
run_to_rows(FunctionCallInfo fcinfo, EmogiReader read)
{
	EmogiTask	task;

	emogi_compat_init_rows(fcinfo);
	read(fcinfo, &task);
	emogi_run_to_rows(fcinfo, &task);
	return (Datum) 0;
}

/* emogi_bfs(graph, source, max_depth int, direction text) -> setof (vertex bigint, level int) */
Datum
emogi_bfs(PG_FUNCTION_ARGS)
{
	return run_to_rows(fcinfo, read_bfs);
}

/* emogi_sssp and so on(graph, source, [max_distance float8,] direction) -> setof (vertex bigint, value float8) */
#define PATH(NAME, name, order, source, traits) \
Datum \
emogi_##name(PG_FUNCTION_ARGS) \
{ \
	return run_to_rows(fcinfo, read_##name); \
}
EMOGI_PATH_APPLICATIONS(PATH)
#undef PATH

/* emogi_ssnsp(graph, source, direction) -> setof (vertex bigint, level int, paths float8) */
Datum
emogi_ssnsp(PG_FUNCTION_ARGS)
{
	return run_to_rows(fcinfo, read_ssnsp);
}

/* emogi_cc(graph) -> setof (vertex bigint, component bigint) */
Datum
emogi_cc(PG_FUNCTION_ARGS)
{
	return run_to_rows(fcinfo, read_cc);
}

/* emogi_pagerank(graph, damping float8, max_iterations int, tolerance float8) -> setof (vertex bigint, rank float8) */
Datum
emogi_pagerank(PG_FUNCTION_ARGS)
{
	return run_to_rows(fcinfo, read_pagerank);
}

/* emogi_heat and so on(graph, start text, max_iterations int, tolerance float8, direction) -> setof (vertex bigint, value float8) */
#define SUM(NAME, name, direction, weights, traits) \
Datum \
emogi_##name(PG_FUNCTION_ARGS) \
{ \
	return run_to_rows(fcinfo, read_##name); \
}
EMOGI_SUM_APPLICATIONS(SUM)
#undef SUM

/* Read the two ends of a path; without one of them there is no source. */
static void
read_ends(FunctionCallInfo fcinfo, EmogiTask *task, int64 *target)
{
	task->has_sources = true;
	task->keys = palloc(sizeof(int64));
	task->keys[0] = PG_ARGISNULL(1) ? 0 : key_argument(fcinfo, 1);
	*target = PG_ARGISNULL(2) ? 0 : key_argument(fcinfo, 2);
	task->nkeys = PG_ARGISNULL(1) || PG_ARGISNULL(2) ? 0 : 1;
}

/* Put the steps of a path into the tuplestore. distance: [length], along the path. */
static void
put_path(FunctionCallInfo fcinfo, const EmogiGraph *graph, const uint32 *path, const double *distance, uint64 length)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		nulls[3] = {false, false, false};

	for (uint64 i = 0; i < length; i++)
	{
		Datum		values[3];

		values[0] = Int32GetDatum((int32) i + 1);
		values[1] = Int64GetDatum(graph->ids[path[i]]);
		values[2] = Float8GetDatum(distance[i]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* Serve a cancel, which raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/* Tell of an end of a path that is no vertex of the graph, NULL = one without any. */
static void
notice_ends(const EmogiTask *task, const EmogiGraph *graph)
{
	if (task->nkeys == 0)
		return;
	if (graph == NULL || emogi_vertex_number(graph, task->keys[0]) == EMOGI_NO_VERTEX)
		emogi_notice_missing("source", task->keys[0]);
	else if (emogi_vertex_number(graph, task->targets[0]) == EMOGI_NO_VERTEX)
		emogi_notice_missing("target", task->targets[0]);
}

/* Find a path by way of the distances up to its target. path, distance: [nvertices]. Gets its length, 0 = there is none. */
static uint64
path_of_distances(EmogiCall *call, const EmogiTask *task, const EmogiGraph *graph, uint32 *path, double *distance)
{
	uint32		source = emogi_vertex_number(graph, task->keys[0]);
	uint32		target = emogi_vertex_number(graph, task->targets[0]);
	EmogiResult result = {0};
	uint32	   *next;
	uint64		length;

	if (!emogi_run_query(call, task, graph, &result) || !(result.distance[target] < (double) INFINITY))
		return 0;
	next = emogi_call_alloc_any(call, graph->nvertices * sizeof(uint32));
	length = emogi_path_find(graph, result.distance, source, target, path, next, serve_interrupts);
	for (uint64 i = 0; i < length; i++)
		distance[i] = result.distance[path[i]];
	return length;
}

/* emogi_shortest_path(graph, source, target, direction) -> setof (seq int, vertex bigint, distance float8) */
Datum
emogi_shortest_path(PG_FUNCTION_ARGS)
{
	EmogiTask	task;
	EmogiGraph	graph;
	EmogiCall  *call;
	int64		target;
	uint32	   *path;
	double	   *distance;
	uint64		length;

	emogi_compat_init_rows(fcinfo);
	begin_task(fcinfo, EMOGI_SSSP, &task);
	read_ends(fcinfo, &task, &target);
	task.has_targets = true;
	task.targets = &target;
	task.ntargets = 1;
	task.direction = emogi_direction_argument(fcinfo, 3, EMOGI_OUT);
	task.with_backward = true;
	call = emogi_run_open(fcinfo->flinfo->fn_oid, &task, &graph);
	notice_ends(&task, call != NULL ? &graph : NULL);
	if (call == NULL)
		return (Datum) 0;
	path = emogi_call_alloc_any(call, graph.nvertices * sizeof *path);
	distance = emogi_call_alloc_any(call, graph.nvertices * sizeof *distance);
	if (!emogi_run_path(call, &task, &graph, path, distance, &length))
		length = path_of_distances(call, &task, &graph, path, distance);
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	put_path(fcinfo, &graph, path, distance, length);
	call->run.nrows = length;
	emogi_call_end(call);
	return (Datum) 0;
}
