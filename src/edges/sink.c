/*
 * sink.c: writing edges into the arena
 *
 * A sink appends to chunks of its own, so that any number of processes can fill one slot, with
 * locking only for the allocation of chunks. The count in a chunk's header is updated at each edge:
 * whenever a process stops, for whatever reason, its edges are in the arena and nothing needs to be
 * flushed.
 *
 * heap_scan.c fills sinks from tables. Everything else goes through the executor (sink_query.c),
 * with the caller's permissions, as
 *
 *     SELECT _emogi_sink($1, q.c1, q.c2) FROM (query) AS q(c1, c2)
 *
 * or, if a column has vertices that are included even without an edge, _emogi_sink_vertices($1,
 * q.c1, q.c2, q.c3). _emogi_sink is a parallel-safe aggregate: its rows never leave the process
 * that made them.
 *
 * Anybody may call an aggregate, also in the query of a graph. Therefore $1 is the load token: a
 * random number that identifies the slot from the start of this query to its end, and that does not
 * appear in any plan. Rows are rejected if they come without it, from another session, or in a form
 * that differs from the query's: with other keys, with or without weights or vertices.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "miscadmin.h"
#include "storage/proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "edges/edges.h"
#include "edges/sink.h"
#include "base/arena.h"
#include "contract/pool.h"

PG_FUNCTION_INFO_V1(emogi_sink_transition);
PG_FUNCTION_INFO_V1(emogi_sink_transition_weighted);
PG_FUNCTION_INFO_V1(emogi_sink_transition_vertices);
PG_FUNCTION_INFO_V1(emogi_sink_combine);
PG_FUNCTION_INFO_V1(emogi_sink_serialize);
PG_FUNCTION_INFO_V1(emogi_sink_deserialize);
PG_FUNCTION_INFO_V1(emogi_sink_final);

/* Get the backend that a process works for: its leader in a parallel query, otherwise itself. */
static int
session_pid(void)
{
	return MyProc->lockGroupLeader != NULL ? MyProc->lockGroupLeader->pid : MyProcPid;
}

/* Raise 55000 for rows that emogi has not requested. */
void
emogi_sink_refuse_caller(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("_emogi_sink is for internal use by emogi only")));
}

/*
 * Open a sink on the slot of this session with this token, or, with is_load, with this load token.
 */
static void
open_slot(EmogiSink *sink, uint64 token, bool is_load)
{
	int			pid = session_pid();

	memset(sink, 0, sizeof *sink);
	sink->max_bytes = EMOGI_CHUNK_BYTES;
	LWLockAcquire(emogi_shared->lock, LW_SHARED);
	for (int i = 0; i < EMOGI_NSLOTS && sink->slot == NULL; i++)
	{
		EmogiSlot  *slot = &emogi_shared->slots[i];

		if (slot->state == EMOGI_SLOT_HELD && token != 0 &&
			(is_load ? slot->load : slot->token) == token && slot->caller.pid == pid)
		{
			sink->slot = slot;
			sink->weights = slot->weights;
		}
	}
	LWLockRelease(emogi_shared->lock);
	if (sink->slot == NULL)
		emogi_sink_refuse_caller();
}

/* Open a sink on a slot of this backend, which holds it. */
void
emogi_sink_open_own(EmogiSink *sink, EmogiSlot *slot)
{
	memset(sink, 0, sizeof *sink);
	sink->max_bytes = EMOGI_CHUNK_BYTES;
	sink->slot = slot;
	sink->weights = slot->weights;
	emogi_sink_open_keys(sink);
}

/* Open a sink on the slot with this token, which must belong to this session. */
void
emogi_sink_open(EmogiSink *sink, uint64 token)
{
	open_slot(sink, token, false);
	emogi_sink_open_keys(sink);
}

/*
 * Open the sink of an aggregate on the slot with the load token in its first argument, which must
 * belong to this session, and whose edges must have been requested in this form: keys that are not
 * integers, vertices beside edges, weights. Raises 55000.
 */
void
emogi_sink_open_load(EmogiSink *sink, FunctionCallInfo fcinfo, bool keys, bool vertices,
					 bool weighted)
{
	open_slot(sink, PG_ARGISNULL(1) ? 0 : (uint64) PG_GETARG_INT64(1), true);
	if (keys != (sink->slot->keys.class != EMOGI_KEY_INTEGER) ||
		vertices != sink->slot->load_vertices ||
		weighted != (sink->weights != EMOGI_WEIGHTS_UNUSED))
		emogi_sink_refuse_caller();
	sink->both_ways = sink->slot->load_both_ways;
	emogi_sink_open_keys(sink);
}

/* Allocate a new chunk for a sink whose chunk is full. Raises 53200. */
void
emogi_sink_next_chunk(EmogiSink *sink)
{
	int			index = (int) (sink->slot - emogi_shared->slots);
	EmogiEdgeChunk *chunk = emogi_arena_alloc_any(EMOGI_OWNER_EDGES(index), EMOGI_CHUNK_BYTES);

	if (!emogi_pool_populate(chunk, sink->max_bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("The system could not provide %zu more bytes for edges.",
						   EMOGI_CHUNK_BYTES),
				 errhint("Lower emogi.max_memory to the memory that the system can provide.")));
	chunk->nedges = 0;
	chunk->min_key = PG_INT64_MAX;
	chunk->max_key = PG_INT64_MIN;
	chunk->weight_misfits = 0;
	chunk->isolated = sink->isolated;
	sink->chunk = chunk;
	sink->slot->control.done += EMOGI_CHUNK_EDGES;
}

/* Get the word for the weights that a sink takes. */
static const char *
word_for_weights(const EmogiSink *sink)
{
	return sink->weights == EMOGI_WEIGHTS_CAPACITIES ? "capacity" : "weight";
}

/*
 * Raise 22023 for a weight out of range. The HINT has a condition that excludes it and similar
 * ones. For PostgreSQL NaN is greater than all other numbers. A negative weight may come from an
 * integer column, which cannot be compared with 'Infinity'.
 */
void
emogi_sink_refuse_weight(const EmogiSink *sink, const char *src, const char *dst, double weight)
{
	static const struct
	{
		const char *range;
		const char *condition;	/* excludes invalid weights that are not negative, or all if
								 * negative ones are allowed */
	}			allowed[] = {
		[EMOGI_WEIGHTS_LENGTHS] = {"Weights must not be negative or NaN.", "weight <> 'NaN'"},
		[EMOGI_WEIGHTS_CONDUCTANCES] = {"Weights must be finite and not negative.",
										"weight < 'Infinity'"},
		[EMOGI_WEIGHTS_CAPACITIES] = {"Capacities must be finite and not negative.",
									  "capacity < 'Infinity'"},
		[EMOGI_WEIGHTS_FACTORS] = {"Weights must be finite.", "abs(weight) < 'Infinity'"},
		[EMOGI_WEIGHTS_ANY] = {"Weights must not be NaN.", "weight <> 'NaN'"}
	};
	bool		is_negative = weight < 0 && sink->weights != EMOGI_WEIGHTS_FACTORS;
	const char *word = word_for_weights(sink);

	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid %s %g of the edge from %s to %s", word, weight, src, dst),
			 sink->weights == EMOGI_WEIGHTS_CAPACITIES && weight > 0 && isinf(weight) ?
			 errhint("For an unlimited capacity, use a number that is larger than the sum of all "
					 "others.") :
			 errhint("%s Leave such edges out with a query: $$SELECT src, dst, %s FROM edges "
					 "WHERE %s$$.",
					 allowed[sink->weights].range, word,
					 is_negative ? psprintf("%s >= 0", word) :
					 allowed[sink->weights].condition)));
}

/*
 * Raise 22004 for an edge without a weight. Rows of a query may have a cost for each direction,
 * which is not known here.
 */
void
emogi_sink_refuse_null_weight(const EmogiSink *sink, const char *src, const char *dst)
{
	const bool	is_capacity = sink->weights == EMOGI_WEIGHTS_CAPACITIES;

	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("the %s of the edge from %s to %s is NULL", word_for_weights(sink), src, dst),
			 errhint("Leave such edges out, or give them a %1$s, with a query: 'SELECT src, dst, "
					 "coalesce(%1$s, %2$d) FROM edges'. A negative %3$s, coalesce(%3$s, -1), means "
					 "that there is no edge in that direction.",
					 word_for_weights(sink), is_capacity ? 0 : 1,
					 is_capacity ? "reverse_capacity" : "reverse_cost")));
}

/* Write a column with an alias, unless it already has that name. */
static const char *
named(const char *column, const char *name)
{
	return strcmp(column, name) == 0 ? name : psprintf("%s AS %s", quote_identifier(column), name);
}

/*
 * Raise 22004 for a row from src to dst, given as text, that lacks the cost of one direction, the
 * column `lacking`; that of the other direction is `other`.
 */
void
emogi_sink_refuse_null_direction(const char *src, const char *dst, const char *lacking,
								 const char *other, bool back)
{
	const char *filled = psprintf("coalesce(%s, -1) AS %s", quote_identifier(lacking),
								  back ? "reverse_cost" : "cost");
	const char *kept = named(other, back ? "cost" : "reverse_cost");

	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("the weight of the edge from %s to %s is NULL", back ? dst : src,
					back ? src : dst),
			 errdetail("Column \"%s\" of the row from %s to %s is NULL.", lacking, src, dst),
			 errhint("A negative cost means that there is no edge in that direction. Store one in "
					 "such rows, or use a query with %s, %s.",
					 back ? kept : filled, back ? filled : kept)));
}

PG_FUNCTION_INFO_V1(emogi_sink_no_cost);

/* Is an argument of any type NULL, or a row with a NULL? Then it is no end of an edge. */
static bool
is_null_end(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ||
		(type_is_rowtype(get_fn_expr_argtype(fcinfo->flinfo, n)) &&
		 (PG_GETARG_HEAPTUPLEHEADER(n)->t_infomask & HEAP_HASNULL) != 0);
}

/* Get the text of an argument of any type. */
static char *
argument_text(FunctionCallInfo fcinfo, int n)
{
	Oid			output;
	bool		is_varlena;

	getTypeOutputInfo(get_fn_expr_argtype(fcinfo->flinfo, n), &output, &is_varlena);
	return OidOutputFunctionCall(output, PG_GETARG_DATUM(n));
}

/*
 * _emogi_no_cost(src "any", dst "any", back boolean, forward_name text, reverse_name text): raise
 * 22004 for one direction of a row, src -> dst, whose cost is NULL. back: it is the reverse cost.
 * Return NULL if the row has no edge, because an end is NULL.
 */
Datum
emogi_sink_no_cost(PG_FUNCTION_ARGS)
{
	const bool	back = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2);

	if (is_null_end(fcinfo, 0) || is_null_end(fcinfo, 1))
		PG_RETURN_NULL();
	if (PG_ARGISNULL(3) || PG_ARGISNULL(4))
		emogi_sink_refuse_caller();
	emogi_sink_refuse_null_direction(argument_text(fcinfo, back ? 1 : 0),
									 argument_text(fcinfo, back ? 0 : 1),
									 text_to_cstring(PG_GETARG_TEXT_PP(back ? 4 : 3)),
									 text_to_cstring(PG_GETARG_TEXT_PP(back ? 3 : 4)), back);
	PG_RETURN_NULL();
}

/* Get the state of the aggregate; it is created at the first row. */
EmogiSink *
emogi_sink_state(FunctionCallInfo fcinfo)
{
	MemoryContext context;
	EmogiSink  *sink;

	if (!AggCheckCallContext(fcinfo, &context))
		emogi_sink_refuse_caller();
	if (!PG_ARGISNULL(0))
		return (EmogiSink *) PG_GETARG_POINTER(0);
	emogi_shared_require();
	sink = MemoryContextAllocZero(context, sizeof *sink);
	return sink;
}

/* Switch a sink to vertices, or back to edges: each kind has a chunk of its own. */
void
emogi_sink_switch(EmogiSink *sink, bool isolated)
{
	if (sink->isolated != isolated)
	{
		EmogiEdgeChunk *chunk = sink->chunk;

		sink->chunk = sink->other_chunk;
		sink->other_chunk = chunk;
		sink->isolated = isolated;
	}
}

/* Put a vertex into a sink that is switched to vertices, as both ends of a pseudo-edge. */
void
emogi_sink_put_vertex(EmogiSink *sink, int64 vertex)
{
	if (sink->weights == EMOGI_WEIGHTS_UNUSED)
		emogi_sink_put(sink, vertex, vertex);
	else
		emogi_sink_put_weighted(sink, vertex, vertex, 0);
}

/*
 * Put the edge of a row of integers, if it has one; weight: number of the argument with its weight,
 * 0 = none.
 */
static void
put_edge(EmogiSink *sink, FunctionCallInfo fcinfo, int weight)
{
	const int64 src = PG_GETARG_INT64(2);
	const int64 dst = PG_GETARG_INT64(3);

	if (weight == 0)
		emogi_sink_put(sink, src, dst);
	else if (PG_ARGISNULL(weight))
		emogi_sink_refuse_null_weight(sink, psprintf(INT64_FORMAT, src),
									  psprintf(INT64_FORMAT, dst));
	else if (!sink->both_ways || emogi_cost_has_edge(PG_GETARG_FLOAT8(weight)))
		emogi_sink_put_weighted(sink, src, dst, PG_GETARG_FLOAT8(weight));
}

/* Process a row of integers of an aggregate. vertex, weight: numbers of the arguments; 0 = none. */
static inline Datum
process_row(FunctionCallInfo fcinfo, int vertex, int weight)
{
	EmogiSink  *sink = emogi_sink_state(fcinfo);

	if (sink->slot == NULL)
		emogi_sink_open_load(sink, fcinfo, false, vertex > 0, weight > 0);
	if (vertex > 0 && !PG_ARGISNULL(vertex))
	{
		emogi_sink_switch(sink, true);
		emogi_sink_put_vertex(sink, PG_GETARG_INT64(vertex));
		emogi_sink_switch(sink, false);
	}
	if (!PG_ARGISNULL(2) && !PG_ARGISNULL(3))
		put_edge(sink, fcinfo, weight);
	else if (vertex == 0 || PG_ARGISNULL(vertex))
		sink->nskipped++;
	PG_RETURN_POINTER(sink);
}

/* emogi_sink_transition(state internal, token bigint, src bigint, dst bigint) -> internal */
Datum
emogi_sink_transition(PG_FUNCTION_ARGS)
{
	return process_row(fcinfo, 0, 0);
}

/*
 * emogi_sink_transition_weighted(state internal, token bigint, src bigint, dst bigint, weight
 * float8) -> internal
 */
Datum
emogi_sink_transition_weighted(PG_FUNCTION_ARGS)
{
	return process_row(fcinfo, 0, 4);
}

/*
 * emogi_sink_transition_vertices(state internal, token bigint, src bigint, dst bigint, vertex
 * bigint [, weight float8]) -> internal
 */
Datum
emogi_sink_transition_vertices(PG_FUNCTION_ARGS)
{
	return process_row(fcinfo, 4, PG_NARGS() > 5 ? 5 : 0);
}

/*
 * emogi_sink_combine(internal, internal) -> internal: combines only the counters; the edges are in
 * the arena.
 */
Datum
emogi_sink_combine(PG_FUNCTION_ARGS)
{
	EmogiSink  *sink = emogi_sink_state(fcinfo);

	if (!PG_ARGISNULL(1))
	{
		EmogiSink  *other = (EmogiSink *) PG_GETARG_POINTER(1);

		sink->nedges += other->nedges;
		sink->nskipped += other->nskipped;
	}
	PG_RETURN_POINTER(sink);
}

/* emogi_sink_serialize(internal) -> bytea: nedges and nskipped. */
Datum
emogi_sink_serialize(PG_FUNCTION_ARGS)
{
	EmogiSink  *sink = emogi_sink_state(fcinfo);
	uint64		counters[2];
	bytea	   *bytes = palloc(VARHDRSZ + sizeof counters);

	emogi_sink_flush(sink);
	counters[0] = sink->nedges;
	counters[1] = sink->nskipped;
	SET_VARSIZE(bytes, VARHDRSZ + sizeof counters);
	memcpy(VARDATA(bytes), counters, sizeof counters);
	PG_RETURN_BYTEA_P(bytes);
}

/* emogi_sink_deserialize(bytea, internal) -> internal */
Datum
emogi_sink_deserialize(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = PG_GETARG_BYTEA_PP(0);
	EmogiSink  *sink;
	uint64		counters[2];

	if (!AggCheckCallContext(fcinfo, NULL) || VARSIZE_ANY_EXHDR(bytes) != sizeof counters)
		emogi_sink_refuse_caller();
	memcpy(counters, VARDATA_ANY(bytes), sizeof counters);
	sink = palloc0(sizeof *sink);
	sink->nedges = counters[0];
	sink->nskipped = counters[1];
	PG_RETURN_POINTER(sink);
}

/* emogi_sink_final(internal) -> bigint: the number of rows skipped because of a NULL end. */
Datum
emogi_sink_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_INT64(0);
	emogi_sink_flush((EmogiSink *) PG_GETARG_POINTER(0));
	PG_RETURN_INT64((int64) ((EmogiSink *) PG_GETARG_POINTER(0))->nskipped);
}
