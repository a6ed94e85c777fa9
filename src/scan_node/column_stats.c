/*
 * column_stats.c: planner statistics for the columns of rows that are not plain vertices, and of
 * components: number of distinct values, histogram, fraction of NULLs
 *
 * They have the form of a table's statistics, so that all of PostgreSQL's estimates use them.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/typcache.h"

#include "function/cursor.h"
#include "scan_node/call_expr.h"
#include "scan_node/plan.h"

/*
 * Assumed fraction of vertices that are the smaller ends of forest edges, or heads of blocks and
 * communities, if nothing better is known.
 */
#define LIKELY_ENDS 0.6
#define LIKELY_HEADS 0.5

/* Maximum number of histogram bounds. */
#define MAX_BOUNDS 101

/* Statistics of a column. */
typedef struct Values
{
	double		ndistinct;		/* 0 = unknown */
	double		null_fraction;
	double		last;			/* integers from `first` to this one, uniformly distributed; -1 =
								 * other values */
	int			first;
} Values;

/*
 * Get the statistics of a hierarchy's columns. There are many communities at the first level, and
 * few at the last.
 */
static Values
values_of_hierarchy(const FuncExpr *call, const EmogiAlgorithmRow *function, double nrows,
					int place)
{
	const double nlevels = emogi_size_levels(call, function);
	const double nvertices = nrows / nlevels;

	if (place == 0)
		return (Values) {.ndistinct = nvertices,.last = -1};
	if (place == 1)
		return (Values) {.ndistinct = nlevels,.last = nlevels - 1};
	return (Values) {.ndistinct = sqrt(nvertices),.null_fraction = place == 3 ? 1 / nlevels : 0,
					 .last = -1};
}

/* Get the statistics of a list's columns. */
static Values
values_of_list(const PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function,
			   double nrows, int place)
{
	EmogiGraphSize size;
	const bool	is_known = emogi_size_find(root, call, function->algorithm, &size);
	const double nvertices = is_known ? Min(size.nvertices, nrows) : 0;

	if (function->shape == EMOGI_SHAPE_DISTANCES && place < 2)
		return (Values) {.ndistinct = emogi_size_count_vertices(call, function,
																place == 0 ? EMOGI_SOURCES :
																EMOGI_TARGETS),
						 .last = -1};
	if (emogi_row_kind_column(function, place)->type == EMOGI_VERTEX)
		return (Values) {.ndistinct = nvertices,.last = -1};
	if (function->shape != EMOGI_SHAPE_WALKS)
		return (Values) {.last = -1};
	if (place == 0)
		return (Values) {.ndistinct = emogi_size_count_walks(call, function),
						 .last = emogi_size_count_walks(call, function) - 1};
	return (Values) {.ndistinct = emogi_size_steps(call, function),
					 .last = emogi_size_steps(call, function) - 1};
}

/* Get the statistics of a search tree's columns: vertex, level or distance, predecessor, source. */
static Values
values_of_tree(const FuncExpr *call, const EmogiAlgorithmRow *function, double nrows, int place)
{
	const double nsources = Min(emogi_size_count_vertices(call, function, EMOGI_SOURCES),
								Max(nrows, 1));

	if (place == 0)
		return (Values) {.ndistinct = nrows,.last = -1};
	if (place == 2)
		return (Values) {.ndistinct = nrows * LIKELY_ENDS,.null_fraction = nsources / Max(nrows, 1),
						 .last = -1};
	return (Values) {.ndistinct = place == 3 ? nsources : 0,.last = -1};
}

/* Get the statistics of a column. */
static Values
values_of(const PlannerInfo *root, const FuncExpr *call, const EmogiAlgorithmRow *function,
		  double nrows, int place)
{
	const bool	is_vertex = emogi_row_kind_column(function, place)->type == EMOGI_VERTEX;
	EmogiGraphSize size;

	if ((function->traits & EMOGI_KEEPS_COMPONENTS) != 0)
		return (Values) {.ndistinct = place == 1 &&
						 emogi_size_find(root, call, function->algorithm, &size) ?
						 size.components.ncomponents : 0,.last = -1};
	switch (function->shape)
	{
		case EMOGI_SHAPE_STEPS:
			return place == 0 ? (Values) {.ndistinct = nrows,.first = 1,.last = nrows} :
				(Values) {.ndistinct = is_vertex ? nrows : 0,.last = -1};
		case EMOGI_SHAPE_HIERARCHY:
			return values_of_hierarchy(call, function, nrows, place);
		case EMOGI_SHAPE_BFS_TREE:
		case EMOGI_SHAPE_PATH_TREE:
			return values_of_tree(call, function, nrows, place);
		case EMOGI_SHAPE_SIMILARITIES:
		case EMOGI_SHAPE_DISTANCES:
		case EMOGI_SHAPE_WALKS:
			return values_of_list(root, call, function, nrows, place);
		case EMOGI_SHAPE_BLOCKS:
			return (Values) {.ndistinct = nrows * (place == 0 ? LIKELY_HEADS : LIKELY_ENDS),
							 .last = -1};
		default:
			return (Values) {.ndistinct = is_vertex ? nrows * LIKELY_ENDS : 0,.last = -1};
	}
}

/* Make the histogram bounds of uniformly distributed integers. */
static Datum
make_bounds(const Values *values, Oid type)
{
	const double span = values->last - values->first;
	const int	nbounds = (int) Min(span + 1, MAX_BOUNDS);
	Datum		bounds[MAX_BOUNDS];
	int16		length;
	bool		by_value;
	char		align;

	for (int i = 0; i < nbounds; i++)
	{
		const double bound = values->first + floor(span * i / (nbounds - 1));

		bounds[i] = type == INT8OID ? Int64GetDatum((int64) bound) : Int32GetDatum((int32) bound);
	}
	get_typlenbyvalalign(type, &length, &by_value, &align);
	return PointerGetDatum(construct_array(bounds, nbounds, type, length, by_value, align));
}

/* Get the type of a column; InvalidOid if the call has no such column. */
static Oid
type_of(const FuncExpr *call, AttrNumber attnum)
{
	const TupleDesc desc = emogi_call_expr_row_type(call);

	if (desc == NULL || attnum > desc->natts)
		return InvalidOid;
	return TupleDescAttr(desc, attnum - 1)->atttypid;
}

/*
 * Make the pg_statistic row for a column of a call's rows; NULL if nothing is known. nrows:
 * estimated.
 */
HeapTuple
emogi_column_stats_make(const PlannerInfo *root, const FuncExpr *call,
						const EmogiAlgorithmRow *function, double nrows, AttrNumber attnum)
{
	const Oid	type = type_of(call, attnum);
	Datum		columns[Natts_pg_statistic] = {0};
	bool		nulls[Natts_pg_statistic] = {0};
	Values		values;
	Relation	catalog;
	HeapTuple	tuple;

	if (!OidIsValid(type) || emogi_row_kind_column(function, attnum - 1) == NULL)
		return NULL;
	values = values_of(root, call, function, nrows, attnum - 1);
	if (values.ndistinct < 1)
		return NULL;
	columns[Anum_pg_statistic_staattnum - 1] = Int16GetDatum(attnum);
	columns[Anum_pg_statistic_stanullfrac - 1] = Float4GetDatum((float4) values.null_fraction);
	columns[Anum_pg_statistic_stawidth - 1] = Int32GetDatum(get_typavgwidth(type, -1));
	columns[Anum_pg_statistic_stadistinct - 1] = Float4GetDatum((float4) values.ndistinct);
	for (int i = 0; i < STATISTIC_NUM_SLOTS; i++)
		nulls[Anum_pg_statistic_stanumbers1 - 1 + i] = nulls[Anum_pg_statistic_stavalues1 - 1 + i] =
			true;
	if (values.last > values.first)
	{
		columns[Anum_pg_statistic_stakind1 - 1] = Int16GetDatum(STATISTIC_KIND_HISTOGRAM);
		columns[Anum_pg_statistic_staop1 - 1] =
			ObjectIdGetDatum(lookup_type_cache(type, TYPECACHE_LT_OPR)->lt_opr);
		columns[Anum_pg_statistic_stavalues1 - 1] = make_bounds(&values, type);
		nulls[Anum_pg_statistic_stavalues1 - 1] = false;
	}
	catalog = table_open(StatisticRelationId, AccessShareLock);
	tuple = heap_form_tuple(RelationGetDescr(catalog), columns, nulls);
	table_close(catalog, AccessShareLock);
	return tuple;
}
