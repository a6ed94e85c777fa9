/*
 * functions.c: the SQL functions, from arguments to rows.
 */
#include "emogi.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

PG_FUNCTION_INFO_V1(emogi_version);
PG_FUNCTION_INFO_V1(emogi_bfs_one);
PG_FUNCTION_INFO_V1(emogi_bfs_many);

/* Rows between two looks for a cancel. */
#define EMOGI_ROWS_PER_CHECK 65536

/* emogi_version() -> text */
Datum
emogi_version(PG_FUNCTION_ARGS)
{
	emogi_require_preload();
	PG_RETURN_TEXT_P(cstring_to_text(EMOGI_VERSION));
}

/* Get the graph argument; raises 22004 when it is NULL. */
static char *
graph_argument(FunctionCallInfo fcinfo, int n)
{
	if (PG_ARGISNULL(n))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("the graph argument must not be NULL"),
				 errhint("Name a table ('edges'), a table with its columns ('edges(src, dst)'), or give a query ('SELECT src, dst FROM edges').")));
	return text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/* Get the direction argument, 'out' when NULL; raises 22023. */
static EmogiDirection
direction_argument(FunctionCallInfo fcinfo, int n)
{
	static const char *const names[] = {"out", "in", "both"};
	char	   *direction;

	if (PG_ARGISNULL(n))
		return EMOGI_OUT;
	direction = text_to_cstring(PG_GETARG_TEXT_PP(n));
	for (int i = 0; i < (int) lengthof(names); i++)
		if (pg_strcasecmp(direction, names[i]) == 0)
			return (EmogiDirection) i;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid direction: \"%s\"", direction),
			 errhint("Use 'out' (edges as stored), 'in' (against them) or 'both'.")));
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

/* Turn source keys into vertex numbers, in the Region; keys that the graph does not have are dropped. */
static void
set_sources(EmogiQuery *query, uint32 *numbers, const EmogiGraph *graph, const int64 *keys, uint64 nkeys)
{
	query->sources = numbers;
	query->nsources = 0;
	for (uint64 i = 0; i < nkeys; i++)
	{
		uint32		number = emogi_vertex_number(graph, keys[i]);

		if (number != EMOGI_NO_VERTEX)
			numbers[query->nsources++] = number;
	}
}

/* Put one row into the tuplestore for each vertex that was reached, in ascending order of keys. */
static void
put_levels(FunctionCallInfo fcinfo, const EmogiGraph *graph, const int32 *level)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		nulls[2] = {false, false};

	for (uint64 v = 0; v < graph->nvertices; v++)
	{
		Datum		values[2];

		if (v % EMOGI_ROWS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (level[v] < 0)
			continue;
		values[0] = Int64GetDatum(graph->ids[v]);
		values[1] = Int32GetDatum(level[v]);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
}

/* Run BFS on a Graph of the call, and put its rows. */
static void
run_bfs(FunctionCallInfo fcinfo, EmogiCall *call, const EmogiGraph *graph,
		const int64 *keys, uint64 nkeys, int64 max_depth)
{
	EmogiRequest *request = &call->slot->request;
	Size		level_bytes = TYPEALIGN(EMOGI_LINE_BYTES, graph->nvertices * sizeof(int32));
	char	   *block = emogi_call_alloc(call, level_bytes + nkeys * sizeof(uint32));

	emogi_call_phase(call, EMOGI_PHASE_RUN);
	memset(request, 0, sizeof *request);
	request->kind = EMOGI_REQUEST_RUN;
	request->engine = emogi_engine;
	request->graph = *graph;
	request->query.algorithm = EMOGI_BFS;
	request->query.placement = emogi_placement;
	request->query.max_depth = max_depth;
	set_sources(&request->query, (uint32 *) (block + level_bytes), graph, keys, nkeys);
	request->result.level = (int32 *) block;
	(void) emogi_call_request(call);
	emogi_call_phase(call, EMOGI_PHASE_ROWS);
	put_levels(fcinfo, graph, (const int32 *) block);
}

/* The common course of emogi_bfs: (graph, keys, max_depth, direction) to rows. */
static void
bfs(FunctionCallInfo fcinfo, const int64 *keys, uint64 nkeys)
{
	EmogiSource source;
	EmogiGraph	graph;
	EmogiCall  *call;
	EmogiDirection direction = direction_argument(fcinfo, 3);
	int64		max_depth = max_depth_argument(fcinfo, 2);

	emogi_source_resolve(graph_argument(fcinfo, 0), &source);
	emogi_require_engine();
	if (nkeys == 0)
	{
		emogi_source_check(&source);
		return;
	}
	call = emogi_call_begin(fcinfo->flinfo->fn_oid);
	emogi_build(call, &source, direction, &graph);
	if (graph.nvertices > 0)
		run_bfs(fcinfo, call, &graph, keys, nkeys, max_depth);
	emogi_call_end(call);
}

/* emogi_bfs(graph text, source bigint, max_depth int, direction text) -> setof (vertex bigint, level int) */
Datum
emogi_bfs_one(PG_FUNCTION_ARGS)
{
	int64		key = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);

	emogi_require_preload();
	emogi_compat_init_rows(fcinfo);
	bfs(fcinfo, &key, PG_ARGISNULL(1) ? 0 : 1);
	return (Datum) 0;
}

/* emogi_bfs(graph text, sources bigint[], max_depth int, direction text) -> setof (vertex bigint, level int) */
Datum
emogi_bfs_many(PG_FUNCTION_ARGS)
{
	int64	   *keys = NULL;
	uint64		nkeys = 0;

	emogi_require_preload();
	emogi_compat_init_rows(fcinfo);
	if (!PG_ARGISNULL(1))
		keys = array_elements(PG_GETARG_ARRAYTYPE_P(1), &nkeys);
	bfs(fcinfo, keys, nkeys);
	return (Datum) 0;
}
