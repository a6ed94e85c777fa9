/*
 * estimate.c: emogi_estimate: the estimated size of a graph, and whether it fits, without building
 * it
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "funcapi.h"

#include "function/function.h"
#include "base/compat.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/sql_version.h"

PG_FUNCTION_INFO_V1(emogi_estimate);

/*
 * emogi_estimate(graph, weights bool, direction text) -> (edges bigint, vertices bigint,
 * graph_bytes bigint, peak_bytes bigint, allowed_bytes bigint, fits bool)
 */
Datum
emogi_estimate(PG_FUNCTION_ARGS)
{
	uint64		allowed_bytes;
	EmogiGraphArgument graph;
	EmogiDirection direction;
	EmogiSource source;
	EmogiEstimate estimate;
	TupleDesc	desc;
	Datum		values[6];
	bool		nulls[6] = {false};

	emogi_sql_version_require();
	emogi_snapshot_refuse_worker();
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	emogi_arguments_graph(fcinfo, &graph);
	direction = emogi_arguments_direction(fcinfo, 2, EMOGI_OUT);
	emogi_source_resolve(&graph, !PG_ARGISNULL(1) && PG_GETARG_BOOL(1) ? EMOGI_WANTS_ANY_WEIGHT :
						 EMOGI_WANTS_NO_WEIGHT, &source);
	estimate = emogi_graph_estimate(&source, direction);
	allowed_bytes = Min(emogi_limits_allowed_bytes(), emogi_machine_bytes());

	values[0] = Int64GetDatum(estimate.nedges);
	values[1] = Int64GetDatum(estimate.nvertices);
	values[2] = Int64GetDatum(estimate.graph_bytes);
	values[3] = Int64GetDatum(estimate.peak_bytes);
	values[4] = Int64GetDatum(allowed_bytes);
	values[5] = BoolGetDatum(estimate.peak_bytes <= allowed_bytes);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
