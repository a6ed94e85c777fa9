/*
 * graph_estimate.c: estimates of the size of a graph, without building it
 *
 * Rows come from the planner's estimates: for tables from pages and density, for everything else
 * from the plan of the query. The rest is computed with the functions that the build itself uses
 * (csr.h), conservatively where the build depends on unknown facts: no two keys of src and dst are
 * equal unless statistics say so, keys without statistics span their whole type, and weights are as
 * wide as their type allows.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "utils/datum.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "acquire/acquire.h"
#include "base/compat.h"
#include "base/arena.h"
#include "base/catalog_changes.h"

/* More edges than any memory holds, and few enough for 64-bit arithmetic. */
#define MAX_EDGES 1e15

/* Most common values used per column; the first of them contribute nearly everything. */
#define MAX_COMMON 100

/* Statistics of the two key columns. */
typedef struct KeyStatistics
{
	double		nvertices;		/* distinct values of src plus those of dst; < 0 = unknown */
	double		null_share;		/* fraction of rows with a NULL end, lower bound; 0 .. 1 */
	double		width;			/* mean bytes of a key that is not an integer */
	int64		min_key;
	int64		max_key;
} KeyStatistics;

/* ---- keys ---- */

/* Convert the Datum of a key to its value. */
static int64
key_of_datum(Datum datum, int length)
{
	if (length == 8)
		return DatumGetInt64(datum);
	return length == 4 ? DatumGetInt32(datum) : DatumGetInt16(datum);
}

/* Extend a range to the values in statistics of one kind; return false if there are none. */
static bool
listed_range(HeapTuple statistics, int kind, int length, int64 *min_key, int64 *max_key)
{
	AttStatsSlot slot;

	if (!get_attstatsslot(&slot, statistics, kind, InvalidOid, ATTSTATSSLOT_VALUES))
		return false;
	for (int i = 0; i < slot.nvalues; i++)
	{
		int64		key = key_of_datum(slot.values[i], length);

		*min_key = Min(*min_key, key);
		*max_key = Max(*max_key, key);
	}
	free_attstatsslot(&slot);
	return slot.nvalues > 0;
}

/* Get the number of distinct values of a column with so many rows. */
static double
count_distinct(const FormData_pg_statistic *statistics, double rows)
{
	return statistics->stadistinct >= 0 ? statistics->stadistinct : -statistics->stadistinct * rows;
}

/* Get the number of distinct values of a column; 0 = there are no statistics of it. */
static double
estimate_distinct(Oid relid, AttrNumber attnum, bool of_children, double rows)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid),
										Int16GetDatum(attnum), BoolGetDatum(of_children));
	double		count;

	if (!HeapTupleIsValid(tuple))
		return 0;
	count = count_distinct((Form_pg_statistic) GETSTRUCT(tuple), rows);
	ReleaseSysCache(tuple);
	return count;
}

/* Add the statistics of one key column; return false if there are none. */
static bool
add_key_column(Oid relid, AttrNumber attnum, bool of_children, double rows, EmogiKeyClass class,
			   KeyStatistics *statistics_of_keys)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid),
										Int16GetDatum(attnum),
										BoolGetDatum(of_children));
	int			length = get_typlen(get_atttype(relid, attnum));
	Form_pg_statistic statistics;
	bool		listed;

	if (!HeapTupleIsValid(tuple))
		return false;
	statistics = (Form_pg_statistic) GETSTRUCT(tuple);
	statistics_of_keys->nvertices += count_distinct(statistics, rows);
	statistics_of_keys->null_share = Max(statistics_of_keys->null_share, statistics->stanullfrac);
	statistics_of_keys->width = Max(statistics_of_keys->width, statistics->stawidth);
	listed = class != EMOGI_KEY_INTEGER ||
		listed_range(tuple, STATISTIC_KIND_HISTOGRAM, length, &statistics_of_keys->min_key,
					 &statistics_of_keys->max_key);
	listed |= class == EMOGI_KEY_INTEGER &&
		listed_range(tuple, STATISTIC_KIND_MCV, length, &statistics_of_keys->min_key,
					 &statistics_of_keys->max_key);
	ReleaseSysCache(tuple);
	return listed;
}

/* Assumed bytes of a key of variable length without statistics. */
#define UNKNOWN_WIDTH 32

/* Get defaults for keys of which only the type length is known. */
static KeyStatistics
unknown_keys(int length)
{
	KeyStatistics	statistics_of_keys = {.nvertices = -1,
										  .width = length > 0 ? length : UNKNOWN_WIDTH,
						   .min_key = PG_INT64_MIN, .max_key = PG_INT64_MAX};

	if (length > 0 && length < 8)
	{
		statistics_of_keys.max_key = (INT64CONST(1) << (8 * length - 1)) - 1;
		statistics_of_keys.min_key = -statistics_of_keys.max_key - 1;
	}
	return statistics_of_keys;
}

/*
 * Get the key statistics of a relation, all of whose rows the caller may read. A table with
 * partitions or children has separate statistics for all of them together.
 */
static KeyStatistics
relation_keys(const EmogiSource *source, List *heaps, double rows)
{
	bool		of_children = heaps != NIL &&
		(list_length(heaps) > 1 || linitial_oid(heaps) != source->relid);
	KeyStatistics	statistics_of_keys = {.min_key = PG_INT64_MAX, .max_key = PG_INT64_MIN};

	if (add_key_column(source->relid, source->src, of_children, rows, source->key.class,
					   &statistics_of_keys) &&
		add_key_column(source->relid, source->dst, of_children, rows, source->key.class,
					   &statistics_of_keys))
	{
		if (source->key.class != EMOGI_KEY_INTEGER)
		{
			statistics_of_keys.min_key = PG_INT64_MIN;
			statistics_of_keys.max_key = PG_INT64_MAX;
		}
		return statistics_of_keys;
	}
	return unknown_keys(Max(get_typlen(get_atttype(source->relid, source->src)),
							get_typlen(get_atttype(source->relid, source->dst))));
}

/*
 * Estimate the edges and vertices of a relation from statistics only, for the planner: without
 * lock, file access or error. Return false if there are none.
 */
bool
emogi_graph_estimate_size(const EmogiSource *source, double *nvertices, double *nedges)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(source->relid));
	double		count = 0;
	bool		known = false;

	if (!HeapTupleIsValid(tuple))
		return false;
	*nedges = ((Form_pg_class) GETSTRUCT(tuple))->reltuples;
	ReleaseSysCache(tuple);
	if (*nedges <= 0)
		return false;
	for (int of_children = 0; of_children < 2 && !known; of_children++)
	{
		count = estimate_distinct(source->relid, source->src, of_children, *nedges);
		known = count > 0;
		count += estimate_distinct(source->relid, source->dst, of_children, *nedges);
	}
	*nvertices = known ? Max(count / 2, 1) : *nedges;
	return true;
}

/* Get the most common values of a column and their frequencies; return false if there are none. */
static bool
common_values(Oid relid, AttrNumber attnum, AttStatsSlot *slot)
{
	HeapTuple	tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid),
										Int16GetDatum(attnum), BoolGetDatum(false));
	bool		found;

	if (!HeapTupleIsValid(tuple))
		tuple = SearchSysCache3(STATRELATTINH, ObjectIdGetDatum(relid), Int16GetDatum(attnum),
								BoolGetDatum(true));
	if (!HeapTupleIsValid(tuple))
		return false;
	found = get_attstatsslot(slot, tuple, STATISTIC_KIND_MCV, InvalidOid,
							 ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS);
	ReleaseSysCache(tuple);
	return found;
}

/* Common values of a column with fingerprints: different fingerprints imply different values. */
typedef struct CommonValues
{
	AttStatsSlot slot;
	int16		length;			/* of the type */
	bool		by_value;
	int			count;			/* <= MAX_COMMON */
	uint64		fingerprints[MAX_COMMON];	/* for integers, the values */
} CommonValues;

/* Get the first of the most common values of a column; return false if there are none. */
static bool
read_common(Oid relid, AttrNumber attnum, bool integers, CommonValues *common)
{
	if (!common_values(relid, attnum, &common->slot))
		return false;
	get_typlenbyval(common->slot.valuetype, &common->length, &common->by_value);
	common->count = Min(common->slot.nvalues, MAX_COMMON);
	for (int i = 0; i < common->count; i++)
	{
		const Datum datum = common->slot.values[i];

		if (integers)
			common->fingerprints[i] = (uint64) key_of_datum(datum, common->length);
		else if (common->by_value)
			common->fingerprints[i] = (uint64) datum;
		else
			common->fingerprints[i] = hash_bytes((unsigned char *) DatumGetPointer(datum),
												 (int) datumGetSize(datum, false, common->length));
	}
	return true;
}

/* Are common values i and j of two columns equal? */
static inline bool
same_value(const CommonValues *a, int i, const CommonValues *b, int j, bool integers)
{
	return a->fingerprints[i] == b->fingerprints[j] &&
		(integers || (a->length == b->length &&
					  datumIsEqual(a->slot.values[i], b->slot.values[j], a->by_value, a->length)));
}

/* What the statistics of two columns say of values that are common in both. */
typedef struct CommonEnds
{
	Oid			relid;			/* InvalidOid = unused */
	AttrNumber	src;
	AttrNumber	dst;
	uint64		nchanges;		/* of catalogs, and */
	uint64		nanalyzed;		/* ... of statistics */
	bool		are_there;		/* both columns have common values */
	double		product;		/* sum of the products of their shares */
	double		share;			/* of edges to them */
} CommonEnds;

static uint64 nanalyzed = 0;	/* changes of statistics that this session knows of */

static void
count_analyzed(Datum arg, int cache, uint32 hash)
{
	nanalyzed++;
}

/* Read what the statistics of a source's columns say of values that are common in both. */
static CommonEnds
read_common_ends(const EmogiSource *source)
{
	const bool	integers = source->key.class == EMOGI_KEY_INTEGER;
	CommonEnds	ends = {source->relid, source->src, source->dst};
	CommonValues from;
	CommonValues to;

	if (!read_common(source->relid, source->src, integers, &from))
		return ends;
	ends.are_there = read_common(source->relid, source->dst, integers, &to);
	for (int i = 0; ends.are_there && i < to.count; i++)
		for (int j = 0; j < from.count; j++)
			if (same_value(&to, i, &from, j, integers))
			{
				ends.product += (double) to.slot.numbers[i] * from.slot.numbers[j];
				ends.share += to.slot.numbers[i];
			}
	free_attstatsslot(&from.slot);
	if (ends.are_there)
		free_attstatsslot(&to.slot);
	return ends;
}

/* Get the same, of the source that was asked for last without reading the statistics again. */
static const CommonEnds *
find_common_ends(const EmogiSource *source)
{
	static CommonEnds last = {InvalidOid};
	static bool is_watching = false;
	const uint64 nchanges = emogi_catalog_changes_count();
	const uint64 analyzed_before = nanalyzed;

	if (!is_watching)
		CacheRegisterSyscacheCallback(STATRELATTINH, count_analyzed, (Datum) 0);
	is_watching = true;
	if (last.relid == source->relid && last.src == source->src && last.dst == source->dst &&
		last.nchanges == nchanges && last.nanalyzed == nanalyzed)
		return &last;
	last.relid = InvalidOid;
	last = read_common_ends(source);
	last.nchanges = nchanges;
	last.nanalyzed = analyzed_before;
	return &last;
}

/*
 * Estimate the degree of a vertex that an edge leads to, for the planner. It exceeds the mean if
 * some vertices have very many edges, because these are reached more often. Statistics list them as
 * most common values of both columns.
 */
double
emogi_graph_estimate_next_degree(const EmogiSource *source, double nvertices, double nedges)
{
	const double mean = nedges / Max(nvertices, 1);
	const CommonEnds *ends = find_common_ends(source);

	if (!ends->are_there)
		return mean;
	return Max(ends->product * nedges + (1 - Min(ends->share, 1)) * mean, mean);
}

/*
 * Estimate the number of vertices within this many hops (< 0: any number) of one vertex: it has the
 * mean degree, each of its neighbors has next_degree, and so on.
 */
double
emogi_graph_estimate_reached(double nvertices, double nedges, double next_degree, double depth)
{
	double		degree = nedges / Max(nvertices, 1);
	double		next = next_degree;
	double		lists;			/* number of traversed lists, relative to the first */

	if (depth < 0)
		return Max(nvertices, 1);
	lists = fabs(next - 1) < 1e-6 ? depth : (pow(next, depth) - 1) / (next - 1);
	if (isnan(degree * lists))
		return Max(nvertices, 1);
	return Max(Min(1 + degree * lists, nvertices), 1);
}

/* ---- weights ---- */

/* Get the widest weight type that a graph may need for this SQL type. */
static EmogiWeightType
widest_weight(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case FLOAT4OID:
			return EMOGI_WEIGHT_F32;
		default:
			return EMOGI_WEIGHT_F64;
	}
}

/*
 * Get the weight type of a query, if weights are requested and present, and its key type; raise
 * errors of its form.
 */
static EmogiWeightType
query_weight(const EmogiSource *source, EmogiKeyType *key)
{
	TupleDesc	desc;
	EmogiEdgeColumns columns;
	EmogiWeightType type;
	char	   *query = source->query;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	(void) emogi_query_describe_edges(&query, emogi_source_written(source, query),
									  source->wants_weight, &desc, &columns);
	*key = columns.key;
	type = columns.weight > 0 ? widest_weight(TupleDescAttr(desc, columns.weight - 1)->atttypid) :
		EMOGI_WEIGHT_NONE;
	SPI_finish();
	return type;
}

/* ---- exported ---- */

/* Combine rows and key statistics. */
static EmogiEstimate
combine(double rows, const KeyStatistics *keys, EmogiKeyClass class, EmogiWeightType weight_type)
{
	double		nedges = Min(rint(Max(rows, 0) * (1 - keys->null_share)), MAX_EDGES);
	double		nvertices = Min(keys->nvertices < 0 ? nedges : keys->nvertices, 2 * nedges);

	nvertices = Min(rint(nvertices), (double) keys->max_key - (double) keys->min_key + 1);
	return (EmogiEstimate) {
		.nedges = (uint64) nedges,
		.nvertices = (uint64) (nedges > 0 ? Max(nvertices, 1) : 0),
		.weight_type = weight_type,
		.key_width = class != EMOGI_KEY_INTEGER ? keys->width : 0,
		.min_key = keys->min_key,
		.max_key = keys->max_key
	};
}

/*
 * Estimate the edges and vertices of a source. Raises errors that prevent the caller from reading
 * it.
 */
static EmogiEstimate
estimate_source(const EmogiSource *source)
{
	EmogiWeightType weight_type = EMOGI_WEIGHT_NONE;
	KeyStatistics	keys = unknown_keys(sizeof(int64));
	EmogiGraphSource rows;
	EmogiEstimate estimate;
	double		nrows;

	(void) emogi_graph_source_peek_relation(source, &rows);
	if (source->is_query)
	{
		EmogiKeyType key;

		weight_type = query_weight(source, &key);
		keys.width = key.fixed_length > 0 ? key.fixed_length : UNKNOWN_WIDTH;
		return combine(rows.kind->estimate_rows(&rows), &keys, key.class, weight_type);
	}
	if (source->weight > 0)
		weight_type = widest_weight(get_atttype(source->relid, source->weight));
	nrows = rows.kind->estimate_rows(&rows) * (source->reverse > 0 ? 2 : 1);
	if (!rows.has_row_security && get_rel_relkind(source->relid) != RELKIND_VIEW)
		keys = relation_keys(source, rows.tables, nrows);
	estimate = combine(nrows, &keys, source->key.class, weight_type);
	estimate.from_heaps = rows.tables != NIL;
	return estimate;
}

/* Round bytes up to whole extents. */
static uint64
whole_extents(uint64 bytes)
{
	return Max((bytes + EMOGI_EXTENT_BYTES - 1) / EMOGI_EXTENT_BYTES, 1) * EMOGI_EXTENT_BYTES;
}

/*
 * Get the bytes of the edge chunks. Each parallel worker leaves its last chunk incomplete. A table
 * is read by workers only if it has many rows, while a query may use them and return few.
 */
static uint64
chunk_bytes(const EmogiEstimate *estimate)
{
	uint64		length = estimate->weight_type == EMOGI_WEIGHT_NONE ? EMOGI_CHUNK_EDGES :
		EMOGI_CHUNK_WEIGHTED_EDGES;
	uint64		nchunks = (estimate->nedges + length - 1) / length;
	uint64		nworkers = max_parallel_workers_per_gather;

	if (estimate->from_heaps)
		nworkers = Min(emogi_build_workers >= 0 ? (uint64) emogi_build_workers : nworkers,
					   nchunks - 1);
	return (nchunks + nworkers) * EMOGI_CHUNK_BYTES;
}

/*
 * Get the bytes for finding the vertices, for a range of keys twice as wide as in the statistics.
 */
static uint64
key_bytes(const EmogiEstimate *estimate)
{
	uint64		span = (uint64) estimate->max_key - (uint64) estimate->min_key;
	EmogiEdges	edges = {.nedges = estimate->nedges};
	EmogiKeyPlan plan;

	edges.max_key = span < PG_INT64_MAX / 2 ? (int64) (2 * span) : PG_INT64_MAX;
	emogi_key_numbers_plan(&edges, &plan);
	return whole_extents(plan.scratch_bytes);
}

/*
 * Add the memory for keys that are not integers: per key, a record in the key table and its slot in
 * a hash table that is half full; its bytes in the dictionary with an offset and a slot in another
 * hash table; and 4 bytes for its temporary number.
 */
static void
add_dictionary(EmogiEstimate *estimate)
{
	const double nkeys = (double) estimate->nvertices;
	const uint64 dictionary = whole_extents((uint64) (nkeys * (estimate->key_width + 4 + 8)));

	estimate->graph_bytes += dictionary;
	estimate->peak_bytes += dictionary +
		whole_extents((uint64) (nkeys * (estimate->key_width + 8 + 2 + 16 + 4)));
}

/*
 * Estimate the graph of a source for traversals in one direction, and the memory of the graph and
 * its build. Raises errors that prevent the caller from reading the source.
 */
EmogiEstimate
emogi_graph_estimate(const EmogiSource *source, EmogiDirection direction)
{
	EmogiEstimate estimate;
	uint64		nvertices;
	uint64		nedges;
	bool		weighted;

	if (source->has_edge_filter)
		emogi_edge_condition_check(source);
	estimate = estimate_source(source);
	nvertices = estimate.nvertices;
	nedges = estimate.nedges;
	weighted = estimate.weight_type != EMOGI_WEIGHT_NONE;
	if (nedges == 0)
		return estimate;
	estimate.graph_bytes =
		whole_extents(emogi_csr_bytes(nvertices, nedges, direction, false, estimate.weight_type));
	if (estimate.key_width > 0)
		add_dictionary(&estimate);
	else
		estimate.peak_bytes += key_bytes(&estimate);
	estimate.peak_bytes += chunk_bytes(&estimate) + estimate.graph_bytes +
		whole_extents(emogi_csr_scratch_bytes(nvertices, nedges, direction, emogi_cpu_threads,
											   weighted));
	return estimate;
}
