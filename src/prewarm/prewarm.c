/*
 * prewarm.c: the function emogi_prewarm, which loads a graph into the cache for all sessions and
 * optionally keeps it there.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "function/function.h"
#include "prewarm/prewarm.h"
#include "base/compat.h"
#include "base/sql_version.h"

PG_FUNCTION_INFO_V1(emogi_prewarm);

/*
 * Raise 42501 unless the current user owns the relation or is a superuser, because a kept graph
 * takes memory from everybody.
 */
static void
require_owner(const EmogiSource *source)
{
	if (source->is_query && !superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be superuser to keep the graph of a query"),
				 errhint("Create a view of it, which its owner may keep.")));
	if (!source->is_query && !emogi_compat_owns_relation(source->relid))
		aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(get_rel_relkind(source->relid)),
					   get_rel_name(source->relid));
}

/* Describe the graph that a call has pinned. */
static void
describe(const EmogiCall *call, EmogiPrewarmed *prewarmed)
{
	const EmogiCached *cached = &emogi_cache_shared->graphs[call->slot->graph];

	strlcpy(prewarmed->cache, emogi_call_origin_name(call->record.origin),
			sizeof prewarmed->cache);
	prewarmed->nvertices = call->record.nvertices;
	prewarmed->nedges = call->record.nedges;
	emogi_cache_lock();
	prewarmed->bytes = cached->bytes + emogi_dictionaries_bytes(cached->dictionary);
	prewarmed->kept = cached->kept;
	emogi_cache_unlock();
}

/*
 * Load a graph into the cache as of the active snapshot, with the privileges of the current user.
 * Raises the errors of emogi_acquire, 55000 if it cannot be shared, 42501 and 53400 if it may
 * not be kept. function: OID of the calling SQL function.
 */
void
emogi_prewarm_graph(Oid function, const EmogiGraphArgument *graph, const EmogiGraphKey *wanted,
					EmogiKeepChoice keep,
					EmogiPrewarmed *prewarmed)
{
	EmogiGraphRequest request = {.key = *wanted};
	EmogiGraphView view;
	EmogiSource source;
	EmogiCall  *call;

	request.key.shared_only = true;
	emogi_source_resolve(graph, emogi_source_wanted_weight(wanted->weights), &source);
	if (keep != EMOGI_KEEP_UNCHANGED)
		require_owner(&source);
	call = emogi_call_begin(function, "emogi_prewarm", &source);
	emogi_acquire(call, &source, &request, &view);
	if (keep != EMOGI_KEEP_UNCHANGED)
		require_owner(&source); /* the name may resolve to another relation by now */
	while (keep == EMOGI_KEEP && !emogi_cache_lookup_keep(call))
	{
		CHECK_FOR_INTERRUPTS();
		emogi_acquire_release(call);
		emogi_acquire(call, &source, &request, &view);
	}
	if (keep == EMOGI_KEEP_RELEASE)
		emogi_cache_lookup_unkeep(call, &request.key);
	describe(call, prewarmed);
	emogi_call_end(call);
}

/*
 * emogi_prewarm(graph, direction text, weights bool, backward bool, keep bool) -> (cache text,
 * vertices bigint, edges bigint, bytes bigint, kept bool)
 */
Datum
emogi_prewarm(PG_FUNCTION_ARGS)
{
	EmogiKeepChoice keep = EMOGI_KEEP_UNCHANGED;
	EmogiGraphKey wanted = {0};
	EmogiGraphArgument graph;
	EmogiPrewarmed prewarmed;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};

	emogi_sql_version_require();
	emogi_snapshot_refuse_worker();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	emogi_arguments_graph(fcinfo, &graph);
	wanted.direction = emogi_arguments_direction(fcinfo, 1, EMOGI_OUT);
	wanted.weights = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2) ? EMOGI_WEIGHTS_ANY
		: EMOGI_WEIGHTS_UNUSED;
	wanted.with_backward = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	if (!PG_ARGISNULL(4))
		keep = PG_GETARG_BOOL(4) ? EMOGI_KEEP : EMOGI_KEEP_RELEASE;
	emogi_request_require_engine();
	emogi_prewarm_graph(fcinfo->flinfo->fn_oid, &graph, &wanted, keep, &prewarmed);

	values[0] = CStringGetTextDatum(prewarmed.cache);
	values[1] = Int64GetDatum((int64) prewarmed.nvertices);
	values[2] = Int64GetDatum((int64) prewarmed.nedges);
	values[3] = Int64GetDatum((int64) prewarmed.bytes);
	values[4] = BoolGetDatum(prewarmed.kept);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
