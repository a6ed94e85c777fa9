/*
 * heap_scan.c: read the edges of heap tables, in parallel, under the caller's snapshot.
 *
 * A table, or all leaves of a partitioned table or of an inheritance tree, is read by this process
 * and by parallel workers that share one scan of each leaf; pages.c reads the pages that the shared
 * scan assigns to a process. Relations other than plain heaps are read through the executor instead
 * (sink.c).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"

#include "edges/edges.h"
#include "edges/pages.h"
#include "edges/row_filter.h"
#include "citus/citus.h"
#include "base/compat.h"

/*
 * Pages per parallel worker. A worker takes 4 to 16 ms to start; reading this many pages (32 MB,
 * some 700,000 rows) takes longer.
 */
#define EMOGI_PAGES_PER_WORKER 4096

/* Keys of the table of contents of a parallel scan. */
#define EMOGI_TOC_SCANS	UINT64CONST(0xE306100000000001)
#define EMOGI_TOC_SHARED_SCANS	UINT64CONST(0xE306100000000002)
#define EMOGI_TOC_FILTER	UINT64CONST(0xE306100000000003)

typedef struct LeafScan
{
	Oid			relid;
	EmogiTupleLayout layout;
	EmogiPageScans page_scans;
	Size		offset;			/* of its shared scan, within the memory of all */
} LeafScan;

/* Arguments of a parallel worker. */
typedef struct LeafScans
{
	uint64		token;
	Oid			relid;			/* of the source */
	int			nleaves;
	LeafScan	leaves[FLEXIBLE_ARRAY_MEMBER];
} LeafScans;

PGDLLEXPORT void emogi_heap_scan_worker(dsm_segment *segment, shm_toc *toc);

/* Set up a scan without parallel workers: a shared one, in local memory. */
static ParallelTableScanDesc
make_local_scan(Relation rel)
{
	Snapshot	snapshot = GetActiveSnapshot();
	ParallelTableScanDesc shared = palloc(table_parallelscan_estimate(rel, snapshot));

	table_parallelscan_initialize(rel, shared, snapshot);
	return shared;
}

/* Take part in the shared scans of all leaves. toc = NULL: read them without workers. */
static void
scan_leaves(const LeafScans *scans, const EmogiRowFilterPlan *filter, shm_toc *toc)
{
	char	   *all = toc != NULL ? shm_toc_lookup(toc, EMOGI_TOC_SHARED_SCANS, false) : NULL;
	EmogiSink	sink;

	emogi_sink_open(&sink, scans->token);
	for (int i = 0; i < scans->nleaves; i++)
	{
		const LeafScan *leaf = &scans->leaves[i];
		Relation	rel = table_open(leaf->relid, AccessShareLock);
		ParallelTableScanDesc shared = toc != NULL ? (ParallelTableScanDesc) (all + leaf->offset) :
			make_local_scan(rel);
		TableScanDesc scan = emogi_compat_begin_parallel(rel, shared);

		CHECK_FOR_INTERRUPTS();	/* a leaf without pages has no other check */
		emogi_pages_read(scan, &leaf->layout, filter, &sink, &leaf->page_scans);
		table_endscan(scan);
		table_close(rel, NoLock);
		if (toc == NULL)
			pfree(shared);
	}
	pg_atomic_fetch_add_u64(&sink.slot->nskipped, sink.nskipped);
}

/* Main function of a parallel worker. */
void
emogi_heap_scan_worker(dsm_segment *segment, shm_toc *toc)
{
	const LeafScans *scans = shm_toc_lookup(toc, EMOGI_TOC_SCANS, false);
	const EmogiRowFilterPlan filter = emogi_row_filter_read(shm_toc_lookup(toc, EMOGI_TOC_FILTER,
																		   true), scans->relid);

	emogi_shared_require();
	scan_leaves(scans, &filter, toc);
}

/* The columns of a source by name, because leaves may have other column numbers. */
typedef struct ColumnNames
{
	const char *src;
	const char *dst;
	const char *weight;			/* NULL = none */
	const char *reverse;		/* NULL = none */
} ColumnNames;

static ColumnNames
column_names(const EmogiSource *source)
{
	ColumnNames names = {
		get_attname(source->relid, source->src, false),
		get_attname(source->relid, source->dst, false),
		source->weight > 0 ? get_attname(source->relid, source->weight, false) : NULL,
		source->reverse > 0 ? get_attname(source->relid, source->reverse, false) : NULL
	};

	return names;
}

/* Check whether a leaf's tuples store a column of the source; attnum 0 = there is none. */
static bool
is_stored(Relation rel, const EmogiSource *source, AttrNumber attnum)
{
	if (attnum <= 0)
		return true;
	if (RelationGetRelid(rel) != source->relid)
		attnum = get_attnum(RelationGetRelid(rel), get_attname(source->relid, attnum, false));
	return emogi_compat_is_stored(TupleDescAttr(RelationGetDescr(rel), attnum - 1));
}

/* Check whether this is a heap whose tuples store all columns to read. */
static bool
is_plain_heap(Relation rel, const EmogiSource *source)
{
	return (rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_MATVIEW) &&
		rel->rd_tableam == GetHeapamTableAmRoutine() &&
		is_stored(rel, source, source->src) && is_stored(rel, source, source->dst) &&
		is_stored(rel, source, source->weight) && is_stored(rel, source, source->reverse);
}

/*
 * List the heaps among a relation, its partitions and its children, which are locked. Return false
 * if one of them, or the relation itself, cannot be read here (a view, a foreign table, another
 * access method), or is a Citus table, whose rows are stored in its shards.
 */
bool
emogi_heap_scan_list(const EmogiSource *source, List *relids, List **leaves)
{
	ListCell   *cell;

	*leaves = NIL;
	foreach(cell, relids)
	{
		Oid			relid = lfirst_oid(cell);
		Relation	rel = relation_open(relid, NoLock);
		bool		skip = rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ||
			RELATION_IS_OTHER_TEMP(rel);
		bool		possible = skip || (is_plain_heap(rel, source) && !emogi_citus_is_table(relid));

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

/* Lock and list the heaps that currently hold a relation's rows; return false as above. */
bool
emogi_heap_scan_lock_heaps(const EmogiSource *source, List **leaves)
{
	return emogi_heap_scan_list(source, find_all_inheritors(source->relid, AccessShareLock, NULL),
								leaves);
}

/* Find the columns of a source in a leaf's tuples. */
static void
find_columns(EmogiTupleLayout *layout, Relation leaf, const ColumnNames *names)
{
	Oid			relid = RelationGetRelid(leaf);

	emogi_pages_layout(layout, RelationGetDescr(leaf), get_attnum(relid, names->src),
					   get_attnum(relid, names->dst),
					   names->weight != NULL ? get_attnum(relid, names->weight) : 0,
					   names->reverse != NULL ? get_attnum(relid, names->reverse) : 0);
}

/* Name the weights as the query or view does whose rows are those of a table. */
static void
name_weights(EmogiTupleLayout *layout, const EmogiSource *source)
{
	if (source->filter == NULL || source->reverse == 0)
		return;
	namestrcpy(&layout->weight_name, source->filter->cost_name);
	namestrcpy(&layout->reverse_name, source->filter->reverse_name);
}

/*
 * Find the columns of a source in a leaf's tuples, for reading some of its pages. The relation
 * itself has them under the source's own numbers.
 */
void
emogi_heap_scan_columns(EmogiTupleLayout *layout, Relation leaf, const EmogiSource *source)
{
	ColumnNames names;

	if (RelationGetRelid(leaf) == source->relid)
		emogi_pages_layout(layout, RelationGetDescr(leaf), source->src, source->dst, source->weight,
						   source->reverse);
	else
	{
		names = column_names(source);
		find_columns(layout, leaf, &names);
	}
	name_weights(layout, source);
}

/*
 * Fill in the scan of each leaf; return the number of pages of all, or 0 if only this process may
 * read them.
 */
static BlockNumber
describe_leaves(const EmogiSource *source, List *leaves, const EmogiPageScans *page_scans,
				LeafScans *scans)
{
	ColumnNames names = column_names(source);
	BlockNumber pages = 0;
	bool		local = false;
	ListCell   *cell;

	foreach(cell, leaves)
	{
		LeafScan   *leaf = &scans->leaves[scans->nleaves];
		Relation	rel;

		leaf->relid = lfirst_oid(cell);
		rel = table_open(leaf->relid, NoLock);
		find_columns(&leaf->layout, rel, &names);
		name_weights(&leaf->layout, source);
		if (page_scans != NULL)
			leaf->page_scans = page_scans[scans->nleaves];
		scans->nleaves++;
		pages += RelationGetNumberOfBlocks(rel);
		local |= RelationUsesLocalBuffers(rel);
		table_close(rel, NoLock);
	}
	return local ? 0 : pages;
}

/* Choose the number of parallel workers for so many pages. */
int
emogi_heap_scan_workers(uint64 pages)
{
	int			max_workers = emogi_build_workers >= 0 ? emogi_build_workers :
		max_parallel_workers_per_gather;

	return (int) Min((uint64) max_workers, pages / EMOGI_PAGES_PER_WORKER);
}

/* Set up the shared scan of each leaf in the parallel context's memory. */
static void
share_scans(ParallelContext *context, const LeafScans *scans, Size bytes, Snapshot snapshot)
{
	char	   *all = shm_toc_allocate(context->toc, bytes);

	for (int i = 0; i < scans->nleaves; i++)
	{
		Relation	rel = table_open(scans->leaves[i].relid, NoLock);

		table_parallelscan_initialize(rel, (ParallelTableScanDesc) (all + scans->leaves[i].offset),
									  snapshot);
		table_close(rel, NoLock);
	}
	shm_toc_insert(context->toc, EMOGI_TOC_SHARED_SCANS, all);
}

/*
 * Assign each leaf's shared scan its offset in one block; return the size of the block. It is a
 * single entry of the table of contents, because entries are searched linearly.
 */
static Size
place_scans(LeafScans *scans, Snapshot snapshot)
{
	Size		bytes = 0;

	for (int i = 0; i < scans->nleaves; i++)
	{
		Relation	rel = table_open(scans->leaves[i].relid, NoLock);

		scans->leaves[i].offset = bytes;
		bytes = add_size(bytes, BUFFERALIGN(table_parallelscan_estimate(rel, snapshot)));
		table_close(rel, NoLock);
	}
	return bytes;
}

/* Read all leaves with parallel workers; without dynamic shared memory or workers, alone. */
static void
scan_in_parallel(LeafScans *scans, Size scans_bytes, const EmogiRowFilterPlan *filter, int nworkers)
{
	const char *text = emogi_row_filter_text(filter);
	Snapshot	snapshot = RegisterSnapshot(GetActiveSnapshot());
	const Size	shared_bytes = place_scans(scans, snapshot);
	ParallelContext *context;
	LeafScans    *shared_scans;

	EnterParallelMode();
	context = CreateParallelContext("emogi", "emogi_heap_scan_worker", nworkers);
	shm_toc_estimate_chunk(&context->estimator, scans_bytes);
	shm_toc_estimate_chunk(&context->estimator, shared_bytes);
	shm_toc_estimate_chunk(&context->estimator, text != NULL ? strlen(text) + 1 : 0);
	shm_toc_estimate_keys(&context->estimator, 3);
	InitializeParallelDSM(context);
	shared_scans = shm_toc_allocate(context->toc, scans_bytes);
	memcpy(shared_scans, scans, scans_bytes);
	shm_toc_insert(context->toc, EMOGI_TOC_SCANS, shared_scans);
	share_scans(context, scans, shared_bytes, snapshot);
	if (text != NULL)
		shm_toc_insert(context->toc, EMOGI_TOC_FILTER,
					   strcpy(shm_toc_allocate(context->toc, strlen(text) + 1), text));
	LaunchParallelWorkers(context);
	scan_leaves(shared_scans, filter, context->toc);
	WaitForParallelWorkersToFinish(context);
	DestroyParallelContext(context);
	ExitParallelMode();
	UnregisterSnapshot(snapshot);
}

/*
 * Add the edges of leaves of a source to a call's slot, where a sink has begun. page_scans:
 * [leaves], where to record the page scans of each; or NULL.
 */
void
emogi_heap_scan_add(EmogiCall *call, const EmogiSource *source, List *leaves,
					const EmogiPageScans *page_scans)
{
	Size		scans_bytes = offsetof(LeafScans, leaves) + list_length(leaves) * sizeof(LeafScan);
	LeafScans  *scans = palloc0(scans_bytes);
	const EmogiRowFilterPlan filter = emogi_row_filter_plan(source);
	BlockNumber pages;
	int			nworkers;

	scans->token = emogi_slot_token(call->slot);
	scans->relid = source->relid;
	pages = describe_leaves(source, leaves, page_scans, scans);
	nworkers = emogi_row_filter_may_share(source) ? emogi_heap_scan_workers(pages) : 0;
	if (nworkers > 0)
		scan_in_parallel(scans, scans_bytes, &filter, nworkers);
	else
		scan_leaves(scans, &filter, NULL);
	pfree(scans);
}

/*
 * Fill a call's slot with the edges of all leaves of a source. secure_hash: see emogi_sink_begin;
 * page_scans: as above.
 */
void
emogi_heap_scan_tables(EmogiCall *call, const EmogiSource *source, List *leaves,
					   EmogiWeights weights, bool secure_hash, const EmogiPageScans *page_scans)
{
	emogi_sink_begin(call, &source->key,
					 emogi_sink_weights(source->weight > 0, source->reverse > 0, weights), -1,
					 secure_hash);
	emogi_heap_scan_add(call, source, leaves, page_scans);
}
