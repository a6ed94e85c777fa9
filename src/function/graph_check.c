/*
 * graph_check.c: emogi_check: verification that the graph that a call would use matches its source,
 * by rebuilding it under the same snapshot and comparing the two byte for byte
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "function/function.h"
#include "contract/compare.h"
#include "base/compat.h"
#include "base/sql_version.h"

PG_FUNCTION_INFO_V1(emogi_check);

/* Process interrupts; a cancel raises its error. */
static bool
serve_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

/*
 * Compare a graph with the correct one; if they differ, return false and describe the difference.
 */
static bool
compare(const EmogiAcquired *acquired, const EmogiAcquired *rebuilt, char *difference, Size bytes)
{
	if (!emogi_graph_compare(&acquired->graph, &rebuilt->graph, serve_interrupts, difference,
							 bytes))
		return false;
	if (acquired->nskipped != rebuilt->nskipped)
		snprintf(difference, bytes, "rows with a NULL end: " UINT64_FORMAT ", not " UINT64_FORMAT,
				 acquired->nskipped,
				 rebuilt->nskipped);
	else if (acquired->weight_misfits != rebuilt->weight_misfits)
		snprintf(difference, bytes, "what is known of the weights: %x, not %x",
				 acquired->weight_misfits, rebuilt->weight_misfits);
	return difference[0] == '\0';
}

/*
 * If the graphs have two dictionaries, translate the rebuilt graph's codes to those of the first
 * one. Each key that the first one lacks gets a unique number that is not a code.
 */
static void
share_codes(EmogiCall *call, const EmogiGraph *acquired, EmogiGraph *rebuilt)
{
	int64	   *ids;

	if (rebuilt->dictionary == NULL || acquired->dictionary == NULL ||
		rebuilt->dictionary == acquired->dictionary)
		return;
	ids = emogi_call_alloc_any(call, rebuilt->nvertices * sizeof *ids);
	for (uint64 v = 0; v < rebuilt->nvertices; v++)
	{
		if (v % 65536 == 0)
			CHECK_FOR_INTERRUPTS();
		ids[v] = emogi_dictionary_find(acquired->dictionary,
									   emogi_dictionary_key(rebuilt->dictionary, rebuilt->ids[v]));
		if (ids[v] == EMOGI_NO_CODE)
			ids[v] = PG_INT64_MAX - (int64) v;
	}
	rebuilt->ids = ids;
}

/* Allocate in the arena, for a call. */
static void *
allocate(void *call, size_t bytes)
{
	return emogi_call_alloc_any(call, bytes);
}

/* Replace a graph with an overlay by the graph that it represents. */
static void
apply_overlay(EmogiCall *call, EmogiDirection direction, const EmogiOverlay *overlay,
			  EmogiVerification *verification)
{
	EmogiGraph	applied;

	(void) emogi_overlay_apply(&verification->acquired.graph, overlay, direction,
							   verification->rebuilt.graph.weight_type, allocate, call,
							   serve_interrupts, &applied);
	applied.dictionary = verification->acquired.graph.dictionary;
	verification->acquired.graph = applied;
}

/*
 * Report a difference as a WARNING. Not for queries, which may return different rows each time.
 * Raise 40001 if the two graphs need not be equal.
 */
static void
report(const EmogiVerification *verification, const char *graph, const char *difference)
{
	if (verification->is_changed)
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not compare the graph of \"%s\" with its table", graph),
				 errdetail("A relation, function or name that the %s uses was changed during the "
						   "comparison.", EMOGI_GRAPH_QUERY),
				 errhint("Run the statement again.")));
	if (!verification->from_heaps)
		return;
	ereport(WARNING,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 verification->is_cached ?
			 errmsg("the cached graph of \"%s\" differs from its table", graph) :
			 errmsg("the graph built from \"%s\" differs from its table", graph),
			 errdetail("%s.", difference),
			 errhint("Evict the graphs of the table with emogi_evict(), and report this.")));
}

/* Build the result row. */
static Datum
make_row(TupleDesc desc, const EmogiCall *call, const EmogiGraph *graph, const char *difference)
{
	const bool	ok = difference[0] == '\0';
	Datum		values[7];
	bool		nulls[7] = {false};

	nulls[1] = ok;
	values[0] = BoolGetDatum(ok);
	values[1] = ok ? (Datum) 0 : CStringGetTextDatum(difference);
	values[2] = CStringGetTextDatum(emogi_call_origin_name(call->record.origin));
	values[3] = Int64GetDatum(graph->nvertices);
	values[4] = Int64GetDatum(graph->forward.nedges);
	values[5] = BoolGetDatum(graph->weight_type != EMOGI_WEIGHT_NONE);
	values[6] = BoolGetDatum(graph->backward.offsets != NULL);
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

/*
 * emogi_check(graph, direction text, weights bool, backward bool, with_overlay bool) -> (ok bool,
 * differs text, cache text, vertices bigint, edges bigint, has_weights bool, has_backward bool)
 */
Datum
emogi_check(PG_FUNCTION_ARGS)
{
	EmogiGraphArgument graph;
	EmogiGraphRequest request = {.is_verified = true};
	EmogiGraphKey *wanted = &request.key;
	EmogiGraphView view;
	EmogiVerification *verification = &view.verification;
	EmogiSource source;
	EmogiCall  *call;
	TupleDesc	desc;
	char		difference[256];
	Datum		row;

	emogi_sql_version_require();
	emogi_snapshot_refuse_worker();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	emogi_arguments_graph(fcinfo, &graph);
	wanted->direction = emogi_arguments_direction(fcinfo, 1, EMOGI_OUT);
	wanted->weights = !PG_ARGISNULL(2) && PG_GETARG_BOOL(2) ? EMOGI_WEIGHTS_ANY :
		EMOGI_WEIGHTS_UNUSED;
	wanted->with_backward = !PG_ARGISNULL(3) && PG_GETARG_BOOL(3);
	emogi_source_resolve(&graph, emogi_source_wanted_weight(wanted->weights), &source);
	emogi_request_require_engine();
	call = emogi_call_begin(fcinfo->flinfo->fn_oid, get_func_name(fcinfo->flinfo->fn_oid), &source);
	request.accepts_overlay = !PG_ARGISNULL(4) && PG_GETARG_BOOL(4);
	emogi_acquire(call, &source, &request, &view);
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	if (view.overlay != NULL)
		apply_overlay(call, wanted->direction, view.overlay, verification);
	share_codes(call, &verification->acquired.graph, &verification->rebuilt.graph);
	if (!compare(&verification->acquired, &verification->rebuilt, difference, sizeof difference))
		report(verification, graph.text, difference);
	row = make_row(desc, call, &verification->acquired.graph, difference);
	emogi_call_end(call);
	PG_RETURN_DATUM(row);
}
