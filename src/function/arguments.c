/*
 * arguments.c: reading and checking the arguments of SQL functions, as the table of algorithms
 * lists them.
 *
 * NULL for an argument means its default, with two exceptions: the graph is required, and a NULL
 * source gives no rows. Functions are overloaded for a graph given as text or as a relation
 * (regclass, with an argument for the columns), and for vertices that are bigint, text or uuid.
 * All overloads have the same C entry, which looks at the declared types. Vertex arguments are kept
 * as given; vertices.c reads them once the type of the graph's keys is known.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "contract/parameters.h"
#include "function/function.h"
#include "base/sql_version.h"

/*
 * Return the declared type of an argument: that of its expression, which the parser has coerced to
 * it, or from the catalog. Calls by the fastpath have no expression tree.
 */
static Oid
argument_type(FunctionCallInfo fcinfo, int n)
{
	const Node *call = fcinfo->flinfo->fn_expr;
	Oid		   *types;
	int			ntypes;

	if (call != NULL && IsA(call, FuncExpr) && n < list_length(((const FuncExpr *) call)->args))
		return exprType(list_nth(((const FuncExpr *) call)->args, n));
	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &ntypes);
	return n < ntypes ? types[n] : InvalidOid;
}

/*
 * Return text that names a relation and the columns given with it. A dropped relation is named by
 * its OID.
 */
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

/* Get the fields of an anonymous row as values of parameters. */
static EmogiParamValue *
read_row(HeapTupleHeader row, int *nvalues)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
											  HeapTupleHeaderGetTypMod(row));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row),.t_data = row};
	Datum	   *fields = palloc(Max(desc->natts, 1) * sizeof(Datum));
	bool	   *nulls = palloc(Max(desc->natts, 1) * sizeof(bool));
	EmogiParamValue *values = palloc(Max(desc->natts, 1) * sizeof(EmogiParamValue));

	ItemPointerSetInvalid(&tuple.t_self);
	heap_deform_tuple(&tuple, desc, fields, nulls);
	*nvalues = 0;
	for (int i = 0; i < desc->natts; i++)
		if (!TupleDescAttr(desc, i)->attisdropped)
			values[(*nvalues)++] = (EmogiParamValue) {
				.value = fields[i],
				.type = TupleDescAttr(desc, i)->atttypid,
				.isnull = nulls[i]
			};
	ReleaseTupleDesc(desc);
	return values;
}

/*
 * Get the filter of a call from the values of its arguments edge_filter and params; NULL if there
 * is none. A row is the values of several parameters, anything else that of one. NULL without a
 * type, or without a filter, is no value.
 */
EmogiEdgeCondition *
emogi_arguments_make_filter(char *text, Datum params, Oid type, bool isnull)
{
	EmogiParamValue *values;
	int			nvalues = 1;

	if (isnull && (text == NULL || type == UNKNOWNOID || type == RECORDOID))
		return emogi_edge_condition_make(text, NULL, 0);
	if (type == RECORDOID)
		values = read_row(DatumGetHeapTupleHeader(params), &nvalues);
	else
	{
		values = palloc(sizeof *values);
		*values = (EmogiParamValue) {.value = params,.type = type,.isnull = isnull};
	}
	return emogi_edge_condition_make(text, values, nvalues);
}

/* Get the filter of a call, its last two arguments; NULL if there is none. */
static EmogiEdgeCondition *
filter_argument(FunctionCallInfo fcinfo)
{
	const int	params = fcinfo->nargs - 1;
	const int	filter = params - 1;

	if (PG_ARGISNULL(filter) && PG_ARGISNULL(params))
		return NULL;
	return emogi_arguments_make_filter(PG_ARGISNULL(filter) ? NULL :
									   text_to_cstring(PG_GETARG_TEXT_PP(filter)),
									   PG_GETARG_DATUM(params), argument_type(fcinfo, params),
									   PG_ARGISNULL(params));
}

/*
 * Get the graph argument, always the first, and the call's filter, the last arguments; of a
 * relation also the columns, the argument before them. Raises 22004 if the graph is NULL, and the
 * errors of a filter. A function of the graph alone has no other arguments.
 */
void
emogi_arguments_graph(FunctionCallInfo fcinfo, EmogiGraphArgument *graph)
{
	const int	columns = fcinfo->nargs - EMOGI_FILTER_ARGUMENTS - 1;

	memset(graph, 0, sizeof *graph);
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the graph argument must not be NULL"),
				 errhint(EMOGI_GRAPH_ARGUMENT_HINT)));
	if (fcinfo->nargs > EMOGI_FILTER_ARGUMENTS)
		graph->filter = filter_argument(fcinfo);
	if (argument_type(fcinfo, 0) != REGCLASSOID)
	{
		graph->text = text_to_cstring(PG_GETARG_TEXT_PP(0));
		return;
	}
	graph->is_relation = true;
	graph->relid = PG_GETARG_OID(0);
	if (columns > 0 && !PG_ARGISNULL(columns))
		graph->columns = text_to_cstring(PG_GETARG_TEXT_PP(columns));
	graph->text = relation_text(graph->relid, graph->columns);
}

/* Return the query text of an argument; raises 22004 if NULL. */
static char *
values_argument(FunctionCallInfo fcinfo, int n, const char *what, const char *hint)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the %s must not be NULL", what),
				 errhint("%s", hint)));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Return the query of start values; raises 22004 if NULL. */
static char *
start_argument(FunctionCallInfo fcinfo, int n)
{
	return values_argument(fcinfo, n, EMOGI_START_QUERY,
						   "Pass a query that returns a vertex and its value: 'SELECT vertex, "
						   "value FROM start'.");
}

/* Parse the name of a direction; false if it is not one. */
bool
emogi_arguments_direction_named(const char *text, EmogiDirection *direction)
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

/* Return the direction argument; raises 22023. */
EmogiDirection
emogi_arguments_direction(FunctionCallInfo fcinfo, int n, EmogiDirection default_value)
{
	EmogiDirection direction = default_value;
	char	   *name;

	if (PG_ARGISNULL(n))
		return default_value;
	name = text_to_cstring(PG_GETARG_TEXT_PP(n));
	if (!emogi_arguments_direction_named(name, &direction))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid direction: \"%s\"", name),
				 name[0] == '{' ? errhint("To pass arrays of vertices, cast them: "
										  "ARRAY[...]::bigint[], $2::text[].") :
				 errhint("Use 'out' (edges as stored), 'in' (reversed) or 'both'.")));
	return direction;
}

/* Return a number within the range of its parameter row; raises 22023, for NaN too. */
static double
number_argument(FunctionCallInfo fcinfo, int n, const EmogiParameterRow *row, double default_value)
{
	double		number;

	if (PG_ARGISNULL(n))
		return default_value;
	number = PG_GETARG_FLOAT8(n);
	if (!(number >= row->min && number <= row->max))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range: %s", row->name, float8out_internal(number)),
				 row->max < DBL_MAX ? errhint("It must be between %g and %g.", row->min, row->max) :
				 row->min < 0.0 ? errhint("It must be finite.") :
				 isinf(row->max) ? errhint("It must be %g or more.", row->min) :
				 errhint("It must be %g or more, and finite.", row->min)));
	return number;
}

/* Return an int of at least `min`, which is 0 or 1; raises 22023 with a hint. */
static int64
int_argument(FunctionCallInfo fcinfo, int n, int64 default_value, int32 min, const char *name,
			 const char *hint)
{
	int32		number;

	if (PG_ARGISNULL(n))
		return default_value;
	number = PG_GETARG_INT32(n);
	if (number < min)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg(min == 0 ? "%s must not be negative: %d" : "%s must be positive: %d", name,
						number),
				 errhint("%s", hint)));
	return number;
}

/* Return a count of 1 or more; raises 22023 with a hint. */
int64
emogi_arguments_count(FunctionCallInfo fcinfo, int n, int64 default_value, const char *name,
					  const char *hint)
{
	return int_argument(fcinfo, n, default_value, 1, name, hint);
}

/* Read a numeric or boolean argument into its field of a query. */
static void
read_parameter(FunctionCallInfo fcinfo, int n, const EmogiParameterRow *row, double default_value,
			   EmogiQuery *query)
{
	void	   *field = (char *) query + row->offset;

	switch (row->type)
	{
		case EMOGI_PARAMETER_INT:
			*(int64_t *) field = int_argument(fcinfo, n, default_value, row->min, row->name,
											  row->hint);
			break;
		case EMOGI_PARAMETER_BIGINT:
			*(uint64_t *) field = PG_ARGISNULL(n) ? (uint64) default_value :
				(uint64) PG_GETARG_INT64(n);
			break;
		case EMOGI_PARAMETER_FLOAT8:
			*(double *) field = number_argument(fcinfo, n, row, default_value);
			break;
		case EMOGI_PARAMETER_BOOLEAN:
			*(bool *) field = PG_ARGISNULL(n) ? default_value != 0 : PG_GETARG_BOOL(n);
			break;
	}
}

/* Return the measure argument; raises 22023. */
static EmogiMeasure
measure_argument(FunctionCallInfo fcinfo, int n, EmogiMeasure default_value)
{
	static const char *const names[] = {"jaccard", "overlap", "cosine"};
	char	   *name;

	if (PG_ARGISNULL(n))
		return default_value;
	name = text_to_cstring(PG_GETARG_TEXT_PP(n));
	for (int i = 0; i < (int) lengthof(names); i++)
		if (pg_strcasecmp(name, names[i]) == 0)
			return (EmogiMeasure) i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid measure: \"%s\"", name),
			 errhint("Use 'jaccard', 'overlap' or 'cosine'.")));
}

/* ---- vertices ---- */

/*
 * Note the declared type of an argument that is a vertex or an array of vertices; the column
 * `vertex` has the same type.
 */
static void
note_type(FunctionCallInfo fcinfo, int n, EmogiTask *task)
{
	const Oid	type = argument_type(fcinfo, n);
	const Oid	element = get_element_type(type);

	task->source_is_array = OidIsValid(element);
	task->vertex_type = task->source_is_array ? element : type;
}

/* Get the vertices of an argument, a vertex or an array. */
static EmogiVertexDatums
vertices_argument(FunctionCallInfo fcinfo, int n)
{
	EmogiVertexDatums vertices = {0};

	if (PG_ARGISNULL(n))
		return vertices;
	if (OidIsValid(get_element_type(argument_type(fcinfo, n))))
		return emogi_vertices_of_array(PG_GETARG_DATUM(n));
	vertices.datums = palloc(sizeof(Datum));
	vertices.datums[vertices.count++] = PG_GETARG_DATUM(n);
	return vertices;
}

/* Read the source argument. */
static void
read_sources(FunctionCallInfo fcinfo, int n, EmogiTask *task)
{
	task->has_sources = true;
	note_type(fcinfo, n, task);
	task->sources = vertices_argument(fcinfo, n);
}

/* Read the target argument. */
static void
read_targets(FunctionCallInfo fcinfo, int n, EmogiTask *task)
{
	task->has_target_array = true;
	task->target_array = vertices_argument(fcinfo, n);
}

/* Read the two ends of a path, arguments 1 and 2. If either is NULL, there is no source. */
void
emogi_arguments_source_and_target(FunctionCallInfo fcinfo, EmogiTask *task)
{
	task->has_sources = task->last_is_target = task->has_targets = true;
	note_type(fcinfo, 1, task);
	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		return;
	task->sources.datums = palloc(2 * sizeof(Datum));
	task->sources.datums[task->sources.count++] = PG_GETARG_DATUM(1);
	task->sources.datums[task->sources.count++] = PG_GETARG_DATUM(2);
}

/* Read the single source, argument 1. */
void
emogi_arguments_source(FunctionCallInfo fcinfo, EmogiTask *task)
{
	read_sources(fcinfo, 1, task);
}

/* Read the sources and targets of paths, arguments 1 and 2. */
void
emogi_arguments_sources_and_targets(FunctionCallInfo fcinfo, EmogiTask *task)
{
	read_sources(fcinfo, 1, task);
	read_targets(fcinfo, 2, task);
	task->with_backward = true; /* a contraction hierarchy needs both directions */
}

/* A function without a source, and the type of its column `vertex`. */
typedef struct VertexColumn
{
	Oid			function;		/* InvalidOid = none */
	bool		has_block;
	Oid			type;
} VertexColumn;

/* Functions hashed by the last bits of their OIDs; their result types take a catalog row each. */
static VertexColumn vertex_columns[64];
static uint64 nchanges = 0;		/* of functions */

/* Invalidate the types after a change of a function. */
static void
forget_vertex_columns(Datum arg, int cache, uint32 hash)
{
	memset(vertex_columns, 0, sizeof vertex_columns);
	nchanges++;
}

/* Watch for changes of functions; must precede the first lookup. */
static void
watch_functions(void)
{
	static bool is_watching = false;

	if (!is_watching)
		CacheRegisterSyscacheCallback(PROCOID, forget_vertex_columns, (Datum) 0);
	is_watching = true;
}

/*
 * Note the type of the column `vertex` of a function without a source: the first column, or the
 * second if the first is a block.
 */
static void
note_result_type(FunctionCallInfo fcinfo, EmogiTask *task)
{
	const bool	has_block =
		emogi_algorithm_row(task->query.algorithm)->shape == EMOGI_SHAPE_BLOCKS;
	const Oid	function = fcinfo->flinfo->fn_oid;
	VertexColumn *known = &vertex_columns[function % lengthof(vertex_columns)];
	uint64		nchanges_before;
	TupleDesc	desc;

	watch_functions();
	if (OidIsValid(function) && known->function == function && known->has_block == has_block)
	{
		task->vertex_type = known->type;
		return;
	}
	nchanges_before = nchanges;
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	task->vertex_type = TupleDescAttr(desc, has_block ? 1 : 0)->atttypid;
	if (nchanges == nchanges_before)
		*known = (VertexColumn) {function, has_block, task->vertex_type};
}

/* Read the query of the pairs whose paths are wanted; raises 22004 if NULL. */
void
emogi_arguments_pairs(FunctionCallInfo fcinfo, int n, EmogiTask *task)
{
	note_result_type(fcinfo, task);
	task->pairs = values_argument(fcinfo, n, EMOGI_PAIRS_QUERY,
								  "Pass a query that returns a source and a target: 'SELECT a, b "
								  "FROM trips'.");
}

/* Read one argument of an algorithm into a task. */
static void
read_argument(FunctionCallInfo fcinfo, int n, const EmogiParameter *parameter, EmogiTask *task)
{
	const EmogiParameterRow *row = emogi_parameter_row(parameter->kind);

	if (row != NULL)
	{
		read_parameter(fcinfo, n, row, parameter->default_value, &task->query);
		return;
	}
	switch (parameter->kind)
	{
		case EMOGI_SOURCES:
			read_sources(fcinfo, n, task);
			break;
		case EMOGI_TARGETS:
			read_targets(fcinfo, n, task);
			break;
		case EMOGI_START:
			task->start = start_argument(fcinfo, n);
			break;
		case EMOGI_TELEPORT:
			task->start = PG_ARGISNULL(n) ? NULL : start_argument(fcinfo, n);
			break;
		case EMOGI_COMMUNITIES:
			task->start = values_argument(fcinfo, n, EMOGI_COMMUNITIES_QUERY,
										  "Pass a query that returns a vertex and its community: "
										  "'SELECT vertex, community FROM communities'.");
			break;
		case EMOGI_MEASURE:
			task->query.measure = measure_argument(fcinfo, n,
												   (EmogiMeasure) parameter->default_value);
			break;
		case EMOGI_PAIRS:
			task->pairs = PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
			break;
		case EMOGI_DIRECTION:
			task->direction = emogi_arguments_direction(fcinfo, n,
														(EmogiDirection) parameter->default_value);
			break;
		default:
			elog(ERROR, "parameter %d has neither a row nor a reader", (int) parameter->kind);
	}
}

/* May the caller use the names of edges? */
static bool
uses_names(FunctionCallInfo fcinfo)
{
	const Node *call = fcinfo->flinfo->fn_expr;

	return call == NULL || !IsA(call, FuncExpr) ||
		((const FuncExpr *) call)->location != EMOGI_NAMES_UNUSED;
}

/* Begin a task: check that emogi is loaded, and read the graph argument, always the first. */
void
emogi_arguments_begin(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task)
{
	emogi_sql_version_require();
	emogi_snapshot_refuse_worker();
	memset(task, 0, sizeof *task);
	task->direction = EMOGI_OUT;
	task->query.algorithm = algorithm;
	task->query.max_depth = -1;
	task->query.max_distance = (double) INFINITY;
	task->names_edges = uses_names(fcinfo);
	emogi_arguments_graph(fcinfo, &task->graph);
	task->graph.reads_names = task->names_edges;
}

/*
 * Read the arguments of an algorithm's function: the graph, then those its row lists. The caller
 * sets graph.reads_names if the rows have names. Raises an error for invalid arguments.
 */
void
emogi_arguments_read(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task)
{
	const EmogiParameter *parameters = emogi_algorithm_row(algorithm)->parameters;

	emogi_arguments_begin(fcinfo, algorithm, task);
	task->graph.reads_names = false;
	for (int i = 0; parameters[i].kind != EMOGI_NO_PARAMETER; i++)
		read_argument(fcinfo, i + 1, &parameters[i], task);
	/* a contraction hierarchy needs both directions */
	task->with_backward = emogi_algorithm_row(algorithm)->shape == EMOGI_SHAPE_DISTANCES;
	if (task->has_sources)
		return;
	if (emogi_shape_is_number(emogi_algorithm_row(algorithm)->shape))
		task->vertex_type = TEXTOID;
	else
		note_result_type(fcinfo, task);
}
