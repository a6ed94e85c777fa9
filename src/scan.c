/*
 * scan.c: heap tables to edges, in parallel, under the caller's snapshot.
 *
 * A table, or all leaves of a partitioned table or of an inheritance tree, is read by this process and by parallel
 * workers that share one scan of each leaf. The two keys are decoded at fixed offsets where all columns before them
 * are of fixed length (58 M rows per cpu-second where a slot gives 37); a tuple with NULLs, or older than a column,
 * takes the general way. Whatever is not a plain heap goes through the executor instead (sink.c).
 */
#include "emogi.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "sink.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

/* A parallel worker takes 4 to 16 ms to start; this many pages (32 MB, some 700,000 rows) take it longer to read. */
#define EMOGI_PAGES_PER_WORKER 4096

/* Keys of the table of contents of a parallel scan; leaf i's shared scan has EMOGI_TOC_SCAN + i. */
#define EMOGI_TOC_JOB	UINT64CONST(0xE306100000000001)
#define EMOGI_TOC_SCAN	UINT64CONST(0xE306100000010000)

/* One of the two keys in the tuples of one table. */
typedef struct KeyColumn
{
	AttrNumber	attnum;
	int			offset;			/* from the start of the tuple's data; -1 = not fixed */
	int			length;			/* bytes: 2, 4 or 8 */
} KeyColumn;

/* The weight in the tuples of one table. */
typedef struct WeightColumn
{
	AttrNumber	attnum;			/* 0 = none */
	int			offset;			/* from the start of the tuple's data; -1 = not fixed, or of a type without length */
	Oid			type;			/* base type */
} WeightColumn;

typedef struct LeafScan
{
	Oid			relid;
	KeyColumn	src;
	KeyColumn	dst;
	WeightColumn weight;
} LeafScan;

/* What a parallel worker is told. */
typedef struct ScanJob
{
	uint64		token;
	int			nleaves;
	LeafScan	leaves[FLEXIBLE_ARRAY_MEMBER];
} ScanJob;

PGDLLEXPORT void emogi_scan_worker(dsm_segment *segment, shm_toc *toc);

/* Get a column's offset when it and all columns before it have fixed lengths, else -1. */
static int
fixed_offset(TupleDesc desc, AttrNumber attnum)
{
	int			offset = 0;

	for (int i = 0; i < attnum; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (attribute->attlen <= 0)
			return -1;
		offset = att_align_nominal(offset, attribute->attalign);
		if (i < attnum - 1)
			offset += attribute->attlen;
	}
	return offset;
}

static void
init_key_column(KeyColumn *key, TupleDesc desc, AttrNumber attnum)
{
	key->attnum = attnum;
	key->offset = fixed_offset(desc, attnum);
	key->length = TupleDescAttr(desc, attnum - 1)->attlen;
}

static void
init_weight_column(WeightColumn *weight, TupleDesc desc, AttrNumber attnum)
{
	weight->attnum = attnum;
	weight->type = getBaseType(TupleDescAttr(desc, attnum - 1)->atttypid);
	weight->offset = weight->type == NUMERICOID ? -1 : fixed_offset(desc, attnum);
}

/* Decode an integer of 2, 4 or 8 bytes. */
static inline int64
decode_integer(const char *p, int length)
{
	if (length == 8)
		return *(const int64 *) p;
	return length == 4 ? *(const int32 *) p : *(const int16 *) p;
}

/* Get a key of a tuple the general way; false when it is NULL. */
static pg_noinline bool
decode_key_slowly(HeapTuple tuple, TupleDesc desc, const KeyColumn *key, int64 *value)
{
	bool		isnull;
	Datum		datum = heap_getattr(tuple, key->attnum, desc, &isnull);

	if (isnull)
		return false;
	if (key->length == 8)
		*value = DatumGetInt64(datum);
	else
		*value = key->length == 4 ? DatumGetInt32(datum) : DatumGetInt16(datum);
	return true;
}

/* Get a key of a tuple; false when it is NULL. */
static inline bool
decode_key(HeapTuple tuple, TupleDesc desc, const KeyColumn *key, int64 *value)
{
	HeapTupleHeader header = tuple->t_data;

	if (unlikely(key->offset < 0 || (header->t_infomask & HEAP_HASNULL) != 0 ||
				 HeapTupleHeaderGetNatts(header) < key->attnum))
		return decode_key_slowly(tuple, desc, key, value);
	*value = decode_integer((const char *) header + header->t_hoff + key->offset, key->length);
	return true;
}

/* Turn the Datum of a weight into a double. Raises 22003 for a numeric that is too large. */
static double
weight_of_datum(Datum datum, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return DatumGetInt16(datum);
		case INT4OID:
			return DatumGetInt32(datum);
		case INT8OID:
			return (double) DatumGetInt64(datum);
		case FLOAT4OID:
			return DatumGetFloat4(datum);
		case FLOAT8OID:
			return DatumGetFloat8(datum);
		default:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8, datum));
	}
}

/* Get a weight of a tuple the general way; false when it is NULL. */
static pg_noinline bool
decode_weight_slowly(HeapTuple tuple, TupleDesc desc, const WeightColumn *weight, double *value)
{
	bool		isnull;
	Datum		datum = heap_getattr(tuple, weight->attnum, desc, &isnull);

	if (isnull)
		return false;
	*value = weight_of_datum(datum, weight->type);
	return true;
}

/* Get a weight of a tuple; false when it is NULL. */
static inline bool
decode_weight(HeapTuple tuple, TupleDesc desc, const WeightColumn *weight, double *value)
{
	HeapTupleHeader header = tuple->t_data;
	const char *p;

	if (unlikely(weight->offset < 0 || (header->t_infomask & HEAP_HASNULL) != 0 ||
				 HeapTupleHeaderGetNatts(header) < weight->attnum))
		return decode_weight_slowly(tuple, desc, weight, value);
	p = (const char *) header + header->t_hoff + weight->offset;
	switch (weight->type)
	{
		case INT2OID:
			*value = *(const int16 *) p;
			break;
		case INT4OID:
			*value = *(const int32 *) p;
			break;
		case INT8OID:
			*value = (double) *(const int64 *) p;
			break;
		case FLOAT4OID:
			*value = *(const float4 *) p;
			break;
		default:
			*value = *(const float8 *) p;
			break;
	}
	return true;
}

/* Get a weight of type numeric, whose conversion leaves garbage in memory, by way of a context that is emptied. */
static bool
decode_numeric_weight(HeapTuple tuple, TupleDesc desc, const WeightColumn *weight, double *value, MemoryContext scrap)
{
	MemoryContext old = MemoryContextSwitchTo(scrap);
	bool		present = decode_weight_slowly(tuple, desc, weight, value);

	MemoryContextSwitchTo(old);
	MemoryContextReset(scrap);
	return present;
}

/* Put all weighted edges that a scan returns into a sink. Raises 22004 for a NULL weight, and what the sink raises. */
static void
drain_weighted_scan(TableScanDesc scan, const LeafScan *leaf, EmogiSink *sink)
{
	TupleDesc	desc = RelationGetDescr(scan->rs_rd);
	MemoryContext scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi weights", ALLOCSET_SMALL_SIZES);
	bool		numeric = leaf->weight.type == NUMERICOID;
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		int64		src;
		int64		dst;
		double		weight;

		if (!decode_key(tuple, desc, &leaf->src, &src) || !decode_key(tuple, desc, &leaf->dst, &dst))
			sink->nskipped++;
		else if (!(numeric ? decode_numeric_weight(tuple, desc, &leaf->weight, &weight, scrap) :
				   decode_weight(tuple, desc, &leaf->weight, &weight)))
			emogi_sink_refuse_null_weight(src, dst);
		else
			emogi_sink_put_weighted(sink, src, dst, weight);
	}
	MemoryContextDelete(scrap);
}

/* Put all edges that a scan returns into a sink. */
static void
drain_scan(TableScanDesc scan, const LeafScan *leaf, EmogiSink *sink)
{
	TupleDesc	desc = RelationGetDescr(scan->rs_rd);
	HeapTuple	tuple;

	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		int64		src;
		int64		dst;

		if (decode_key(tuple, desc, &leaf->src, &src) && decode_key(tuple, desc, &leaf->dst, &dst))
			emogi_sink_put(sink, src, dst);
		else
			sink->nskipped++;
	}
}

/* Take part in the shared scans of all leaves. toc = NULL: read them alone. */
static void
scan_leaves(const ScanJob *job, shm_toc *toc)
{
	EmogiSink	sink;

	emogi_sink_open(&sink, job->token);
	for (int i = 0; i < job->nleaves; i++)
	{
		const LeafScan *leaf = &job->leaves[i];
		Relation	rel = table_open(leaf->relid, AccessShareLock);
		TableScanDesc scan;

		if (toc != NULL)
			scan = table_beginscan_parallel(rel, shm_toc_lookup(toc, EMOGI_TOC_SCAN + i, false));
		else
			scan = table_beginscan(rel, GetActiveSnapshot(), 0, NULL);
		if (leaf->weight.attnum > 0)
			drain_weighted_scan(scan, leaf, &sink);
		else
			drain_scan(scan, leaf, &sink);
		table_endscan(scan);
		table_close(rel, NoLock);
	}
	pg_atomic_fetch_add_u64(&sink.slot->nskipped, sink.nskipped);
}

/* Main function of a parallel worker. */
void
emogi_scan_worker(dsm_segment *segment, shm_toc *toc)
{
	scan_leaves(shm_toc_lookup(toc, EMOGI_TOC_JOB, false), toc);
}

/* The columns of a Source by name: leaves may have them at other places. */
typedef struct ColumnNames
{
	const char *src;
	const char *dst;
	const char *weight;			/* NULL = none */
} ColumnNames;

static ColumnNames
column_names(const EmogiSource *source)
{
	ColumnNames names = {
		get_attname(source->relid, source->src, false),
		get_attname(source->relid, source->dst, false),
		source->weight > 0 ? get_attname(source->relid, source->weight, false) : NULL
	};

	return names;
}

/* Do the table's tuples hold this column? */
static bool
is_stored(Relation rel, const char *name)
{
	return emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), get_attnum(RelationGetRelid(rel), name) - 1));
}

/* Is this a heap whose tuples hold all that is read? */
static bool
is_plain_heap(Relation rel, const ColumnNames *names)
{
	return (rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_MATVIEW) &&
		rel->rd_tableam == GetHeapamTableAmRoutine() &&
		is_stored(rel, names->src) && is_stored(rel, names->dst) &&
		(names->weight == NULL || is_stored(rel, names->weight));
}

/*
 * List the heaps that a relation's rows are in, locked: itself, its partitions, its children. False when one of
 * them, or the relation itself, is nothing that can be read here (a view, a foreign table, another access method).
 */
bool
emogi_scan_possible(const EmogiSource *source, List **leaves)
{
	ColumnNames names = column_names(source);
	List	   *relids;
	ListCell   *cell;

	*leaves = NIL;
	relids = find_all_inheritors(source->relid, AccessShareLock, NULL);
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	rel = relation_open(relid, NoLock);
		bool		skip = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE || RELATION_IS_OTHER_TEMP(rel);
		bool		possible = skip || is_plain_heap(rel, &names);

		if (!skip && RecoveryInProgress() && !RelationIsPermanent(rel))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("cannot access temporary or unlogged relations during recovery")));
		relation_close(rel, NoLock);
		if (!possible)
			return false;
		if (!skip)
			*leaves = lappend_oid(*leaves, relid);
	}
	return true;
}

/* Fill in what the scan of each leaf needs; get the pages of all, or 0 when only this process may read them. */
static BlockNumber
describe_leaves(const EmogiSource *source, List *leaves, ScanJob *job)
{
	ColumnNames names = column_names(source);
	BlockNumber pages = 0;
	bool		local = false;
	ListCell   *cell;

	foreach(cell, leaves)
	{
		LeafScan   *leaf = &job->leaves[job->nleaves++];
		Relation	rel;

		leaf->relid = lfirst_oid(cell);
		rel = table_open(leaf->relid, NoLock);
		init_key_column(&leaf->src, RelationGetDescr(rel), get_attnum(leaf->relid, names.src));
		init_key_column(&leaf->dst, RelationGetDescr(rel), get_attnum(leaf->relid, names.dst));
		if (names.weight != NULL)
			init_weight_column(&leaf->weight, RelationGetDescr(rel), get_attnum(leaf->relid, names.weight));
		pages += RelationGetNumberOfBlocks(rel);
		local |= RelationUsesLocalBuffers(rel);
		table_close(rel, NoLock);
	}
	return local ? 0 : pages;
}

/* Decide how many parallel workers may help with so many pages. */
static int
choose_workers(BlockNumber pages)
{
	int			most = emogi_build_workers >= 0 ? emogi_build_workers : max_parallel_workers_per_gather;

	return Min(most, (int) (pages / EMOGI_PAGES_PER_WORKER));
}

/* Set up the shared scan of each leaf in the parallel context's memory. */
static void
share_scans(ParallelContext *context, const ScanJob *job, Snapshot snapshot)
{
	for (int i = 0; i < job->nleaves; i++)
	{
		Relation	rel = table_open(job->leaves[i].relid, NoLock);
		ParallelTableScanDesc scan = shm_toc_allocate(context->toc, table_parallelscan_estimate(rel, snapshot));

		table_parallelscan_initialize(rel, scan, snapshot);
		shm_toc_insert(context->toc, EMOGI_TOC_SCAN + i, scan);
		table_close(rel, NoLock);
	}
}

/* Estimate the parallel context's memory. */
static void
estimate_scans(ParallelContext *context, const ScanJob *job, Size job_bytes, Snapshot snapshot)
{
	shm_toc_estimate_chunk(&context->estimator, job_bytes);
	shm_toc_estimate_keys(&context->estimator, 1 + job->nleaves);
	for (int i = 0; i < job->nleaves; i++)
	{
		Relation	rel = table_open(job->leaves[i].relid, NoLock);

		shm_toc_estimate_chunk(&context->estimator, table_parallelscan_estimate(rel, snapshot));
		table_close(rel, NoLock);
	}
}

/* Read all leaves with the help of parallel workers. Without dynamic shared memory or workers, alone. */
static void
scan_in_parallel(const ScanJob *job, Size job_bytes, int nworkers)
{
	Snapshot	snapshot = RegisterSnapshot(GetActiveSnapshot());
	ParallelContext *context;
	ScanJob    *shared_job;

	EnterParallelMode();
	context = CreateParallelContext("emogi", "emogi_scan_worker", nworkers);
	estimate_scans(context, job, job_bytes, snapshot);
	InitializeParallelDSM(context);
	shared_job = shm_toc_allocate(context->toc, job_bytes);
	memcpy(shared_job, job, job_bytes);
	shm_toc_insert(context->toc, EMOGI_TOC_JOB, shared_job);
	share_scans(context, job, snapshot);
	LaunchParallelWorkers(context);
	scan_leaves(shared_job, context->toc);
	WaitForParallelWorkersToFinish(context);
	DestroyParallelContext(context);
	ExitParallelMode();
	UnregisterSnapshot(snapshot);
}

/* Fill a call's slot with the edges of all leaves of a Source. */
void
emogi_scan_tables(EmogiCall *call, const EmogiSource *source, List *leaves, EmogiWeights weights)
{
	Size		job_bytes = offsetof(ScanJob, leaves) + list_length(leaves) * sizeof(LeafScan);
	ScanJob    *job = palloc0(job_bytes);
	int			nworkers;

	call->slot->weights = source->weight > 0 ? weights : EMOGI_WEIGHTS_UNUSED;
	job->token = call->slot->token;
	nworkers = choose_workers(describe_leaves(source, leaves, job));
	if (nworkers > 0)
		scan_in_parallel(job, job_bytes, nworkers);
	else
		scan_leaves(job, NULL);
	pfree(job);
}
