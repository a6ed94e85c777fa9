/*
 * arguments.c: reading and checking the arguments of SQL functions, as the table of algorithms lists them.
 *
 * NULL for an argument means its default, but for the graph, which must be there, and for a source, whose absence
 * gives no rows. Functions exist for a graph that is text and for one that is a relation (regclass, with a last argument
 * more, the columns); and for one source (bigint), for many (bigint[]) and for text that has one or many. All forms of a
 * function have the same C entry; the declared types of its arguments are looked at here.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "function/function.h"

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
emogi_arguments_graph(FunctionCallInfo fcinfo, EmogiGraphArgument *graph)
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

/* Get the direction argument; raises 22023. */
EmogiDirection
emogi_arguments_direction(FunctionCallInfo fcinfo, int n, EmogiDirection otherwise)
{
	EmogiDirection direction = otherwise;
	char	   *name;

	if (PG_ARGISNULL(n))
		return otherwise;
	name = text_to_cstring(PG_GETARG_TEXT_PP(n));
	if (!emogi_arguments_direction_named(name, &direction))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid direction: \"%s\"", name),
				 errhint("Use 'out' (edges as stored), 'in' (against them) or 'both'.")));
	return direction;
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

/* Get an int that must be `least` or more; raises 22023 with what went wrong and a hint. */
static int64
int_argument(FunctionCallInfo fcinfo, int n, int64 otherwise, int32 least, const char *wrong, const char *hint)
{
	int32		number;

	if (PG_ARGISNULL(n))
		return otherwise;
	number = PG_GETARG_INT32(n);
	if (number < least)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s: %d", wrong, number),
				 errhint("%s", hint)));
	return number;
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
int64
emogi_arguments_key(FunctionCallInfo fcinfo, int n)
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
		task->keys[0] = emogi_arguments_key(fcinfo, n);
		task->nkeys = 1;
	}
}

/* Read one argument of an algorithm into a task. */
static void
read_argument(FunctionCallInfo fcinfo, int n, const EmogiParameter *parameter, EmogiTask *task)
{
	const double otherwise = parameter->otherwise;
	const double infinity = (double) INFINITY;

	switch (parameter->kind)
	{
		case EMOGI_NO_PARAMETER:
			break;
		case EMOGI_SOURCES:
			read_sources(fcinfo, n, task);
			break;
		case EMOGI_MAX_DEPTH:
			task->query.max_depth = int_argument(fcinfo, n, otherwise, 0, "max_depth must not be negative",
												 "Use NULL for no bound, 0 for the source alone.");
			break;
		case EMOGI_MAX_DISTANCE:
			task->query.max_distance = number_argument(fcinfo, n, "max_distance", otherwise, 0, infinity);
			break;
		case EMOGI_DAMPING:
			task->query.damping = number_argument(fcinfo, n, "damping", otherwise, 0, 1);
			break;
		case EMOGI_START:
			task->start = start_argument(fcinfo, n);
			break;
		case EMOGI_MAX_ITERATIONS:
			task->query.max_iterations = int_argument(fcinfo, n, otherwise, 1, "max_iterations must be positive",
													  "Use 1 or more.");
			break;
		case EMOGI_TOLERANCE:
			task->query.tolerance = number_argument(fcinfo, n, "tolerance", otherwise, 0, infinity);
			break;
		case EMOGI_DIRECTION:
			task->direction = emogi_arguments_direction(fcinfo, n, (EmogiDirection) otherwise);
			break;
	}
}

/* Begin a task: see that emogi is loaded, read the graph argument, which is always the first. */
void
emogi_arguments_begin(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task)
{
	emogi_shared_require_preload();
	emogi_snapshot_refuse_worker();
	memset(task, 0, sizeof *task);
	task->direction = EMOGI_OUT;
	task->query.algorithm = algorithm;
	task->query.max_depth = -1;
	task->query.max_distance = (double) INFINITY;
	emogi_arguments_graph(fcinfo, &task->graph);
}

/* Read the arguments of an algorithm's function: the graph, then what its row lists. Raises what is wrong with them. */
void
emogi_arguments_read(FunctionCallInfo fcinfo, EmogiAlgorithm algorithm, EmogiTask *task)
{
	const EmogiParameter *parameters = emogi_algorithm_row(algorithm)->parameters;

	emogi_arguments_begin(fcinfo, algorithm, task);
	for (int i = 0; parameters[i].kind != EMOGI_NO_PARAMETER; i++)
		read_argument(fcinfo, i + 1, &parameters[i], task);
}
