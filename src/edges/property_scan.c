/*
 * property_scan.c: read the values of columns in the rows of a graph's edges, under the active
 * snapshot, by this process and parallel workers that share one scan of the table.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/cash.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "base/arena.h"
#include "base/compat.h"
#include "contract/pool.h"
#include "edges/property_scan.h"
#include "edges/visibility.h"

/* Keys of the table of contents of a parallel scan. */
#define EMOGI_TOC_SCAN UINT64CONST(0xE306100000000011)
#define EMOGI_TOC_SHARED_SCAN UINT64CONST(0xE306100000000012)

PGDLLEXPORT void emogi_property_scan_worker(dsm_segment *segment, shm_toc *toc);

/* ---- columns ---- */

/* Find how values of a type are stored; false if they are not. */
static bool
find_kind(Oid type, EmogiColumnKind *kind)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case CASHOID:
			*kind = EMOGI_COLUMN_INTEGER;
			return true;
		case FLOAT4OID:
		case FLOAT8OID:
			*kind = EMOGI_COLUMN_FLOAT;
			return true;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NUMERICOID:
		case UUIDOID:
			*kind = EMOGI_COLUMN_CODES;
			return true;
		default:
			*kind = EMOGI_COLUMN_CODES;
			return type_is_enum(type);
	}
}

/*
 * Get the identity of a column of a relation, and how its values are stored; false if there is no
 * such column, or its type is not supported.
 */
bool
emogi_property_scan_identify(Oid relid, AttrNumber attnum, EmogiColumnIdentity *identity,
							 EmogiColumnKind *kind)
{
	HeapTuple	tuple = SearchSysCacheAttNum(relid, attnum);
	Form_pg_attribute attribute;
	bool		is_stored;

	if (attnum <= 0 || !HeapTupleIsValid(tuple))
		return false;
	attribute = (Form_pg_attribute) GETSTRUCT(tuple);
	*identity = (EmogiColumnIdentity) {attnum, getBaseType(attribute->atttypid),
									   attribute->attcollation};
	is_stored = emogi_compat_is_stored(attribute);
	ReleaseSysCache(tuple);
	return is_stored && find_kind(identity->type, kind);
}

/* Get the type of values by entry: one for all values of the column's type. */
static EmogiPropertyType
raw_type(const EmogiScannedColumn *column)
{
	switch (column->kind)
	{
		case EMOGI_COLUMN_FLOAT:
			return column->identity.type == FLOAT4OID ? EMOGI_PROPERTY_F32 : EMOGI_PROPERTY_F64;
		case EMOGI_COLUMN_INTEGER:
			return get_typlen(column->identity.type) > (int) sizeof(int32) ? EMOGI_PROPERTY_I64 :
				EMOGI_PROPERTY_I32;
		case EMOGI_COLUMN_CODES:
		case EMOGI_COLUMN_ABSENT:
			break;
	}
	return EMOGI_PROPERTY_I32;
}

/* ---- arrays ---- */

/* Populate memory of the arena. Raises 53200. */
void
emogi_property_scan_populate(void *start, Size bytes)
{
	if (!emogi_pool_populate(start, bytes))
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory"),
				 errdetail("The system could not provide %zu more bytes for columns of a graph.",
						   bytes),
				 errhint("Lower emogi.max_memory to the memory that the system can provide.")));
}

/* Get the bytes of a bitmap of the entries of lists. */
static Size
bitmap_bytes(const EmogiAdjacency *lists)
{
	return Max(emogi_bitmap_words(lists->nedges), 1) * sizeof(uint64);
}

/* Get the bytes of a column's values by entry. */
static Size
value_bytes(const EmogiAdjacency *lists, const EmogiScannedColumn *column)
{
	return Max(lists->nedges, 1) * emogi_property_width(column->raw);
}

/* Get the bytes of the arrays of some lists. */
static Size
lists_bytes(const EmogiPropertyScan *scan, const EmogiAdjacency *lists)
{
	Size		bytes = bitmap_bytes(lists);

	for (int i = 0; i < scan->ncolumns; i++)
		bytes += value_bytes(lists, &scan->columns[i]) + bitmap_bytes(lists);
	return bytes;
}

/* Does the graph have reverse lists of its own? */
static bool
has_reverse(const EmogiGraph *graph)
{
	return graph->backward.offsets != NULL && graph->backward.targets != graph->forward.targets;
}

/* Get the bytes that a scan needs for values by entry, at most. Sets the raw types of columns. */
Size
emogi_property_scan_bytes(EmogiPropertyScan *scan)
{
	for (int i = 0; i < scan->ncolumns; i++)
		scan->columns[i].raw = raw_type(&scan->columns[i]);
	return lists_bytes(scan, &scan->graph.forward) +
		(has_reverse(&scan->graph) ? lists_bytes(scan, &scan->graph.backward) : 0);
}

/* Allocate an empty bitmap of the entries of lists. */
static uint64 *
alloc_bitmap(EmogiCall *call, const EmogiAdjacency *lists)
{
	uint64	   *bitmap = emogi_call_alloc_any(call, bitmap_bytes(lists));

	emogi_property_scan_populate(bitmap, bitmap_bytes(lists));
	return memset(bitmap, 0, bitmap_bytes(lists));
}

/* Allocate the arrays of some lists. */
static void
alloc_lists(EmogiCall *call, const EmogiPropertyScan *scan, const EmogiAdjacency *adjacency,
			EmogiScannedLists *lists)
{
	lists->entries = (EmogiTakenEntries) {adjacency, scan->graph.weight_type,
										  alloc_bitmap(call, adjacency)};
	for (int i = 0; i < scan->ncolumns; i++)
	{
		const Size	bytes = value_bytes(adjacency, &scan->columns[i]);

		if (scan->columns[i].kind == EMOGI_COLUMN_ABSENT)
			continue;
		lists->values[i] = emogi_call_alloc_any(call, bytes);
		emogi_property_scan_populate(lists->values[i], bytes);
		lists->nulls[i] = alloc_bitmap(call, adjacency);
	}
}

/* Allocate all arrays. lists: those of the scan's graph, in the arena. Raises 53200. */
static void
alloc_arrays(EmogiCall *call, EmogiPropertyScan *scan, const EmogiGraph *lists)
{
	for (int i = 0; i < scan->ncolumns; i++)
	{
		EmogiScannedColumn *column = &scan->columns[i];

		column->min = PG_INT64_MAX;
		column->max = PG_INT64_MIN;
		column->fits_f32 = true;
		column->raw = raw_type(column);
		if (column->kind == EMOGI_COLUMN_CODES)
			column->different = emogi_property_values_make(call, &column->identity,
														   lists->forward.nedges);
	}
	alloc_lists(call, scan, &lists->forward, &scan->forward);
	if (has_reverse(lists))
		alloc_lists(call, scan, &lists->backward, &scan->backward);
}

/* ---- reading ---- */

/* Read the tuples of a page that the snapshot sees. */
static void
read_page(EmogiPropertyReader *reader, Relation leaf, Snapshot snapshot, Buffer buffer,
		  const EmogiTupleAttributes *attributes)
{
	EmogiVisiblePage visible;
	EmogiTupleValues values;

	CHECK_FOR_INTERRUPTS();
	emogi_visibility_page(&visible, leaf, snapshot, buffer, NULL);
	emogi_compat_count_returned(leaf, visible.nitems);
	for (int i = 0; i < visible.nitems; i++)
	{
		emogi_property_tuples_get(emogi_visibility_tuple(&visible, i), attributes, &values);
		emogi_property_rows_add(reader, &values);
	}
}

/* Read the pages of a leaf, which is locked, that a shared scan assigns to this process. */
static void
read_leaf(EmogiPropertyReader *reader, const EmogiPropertyScan *properties, Relation leaf,
		  ParallelTableScanDesc shared)
{
	EmogiTupleAttributes *attributes = palloc(sizeof *attributes);
	MemoryContext scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi values of a page",
												ALLOCSET_DEFAULT_SIZES);
	TableScanDesc scan = emogi_compat_begin_parallel(leaf, shared);
	Buffer		buffer;

	emogi_property_tuples_find(attributes, leaf, properties);
	while ((buffer = emogi_compat_next_page((HeapScanDesc) scan)) != InvalidBuffer)
	{
		MemoryContext old = MemoryContextSwitchTo(scrap);

		read_page(reader, leaf, scan->rs_snapshot, buffer, attributes);
		MemoryContextSwitchTo(old);
		MemoryContextReset(scrap);
		ReleaseBuffer(buffer);
	}
	table_endscan(scan);
	MemoryContextDelete(scrap);
	pfree(attributes);
}

/* Read leaves without workers. */
static void
read_alone(EmogiPropertyScan *scan, List *leaves)
{
	EmogiPropertyReader *reader = emogi_property_rows_begin(scan);
	ListCell   *cell;

	foreach(cell, leaves)
	{
		Relation	leaf = table_open(lfirst_oid(cell), NoLock);
		Snapshot	snapshot = GetActiveSnapshot();
		ParallelTableScanDesc shared = palloc(table_parallelscan_estimate(leaf, snapshot));

		table_parallelscan_initialize(leaf, shared, snapshot);
		read_leaf(reader, scan, leaf, shared);
		pfree(shared);
		table_close(leaf, NoLock);
	}
	emogi_property_rows_end(reader);
}

/* Take part in a shared scan of one leaf. */
static void
read_shared(shm_toc *toc)
{
	EmogiPropertyScan *scan = shm_toc_lookup(toc, EMOGI_TOC_SCAN, false);
	Relation	leaf = table_open(scan->relid, AccessShareLock);
	EmogiPropertyReader *reader = emogi_property_rows_begin(scan);

	read_leaf(reader, scan, leaf, shm_toc_lookup(toc, EMOGI_TOC_SHARED_SCAN, false));
	emogi_property_rows_end(reader);
	table_close(leaf, NoLock);
}

/* Main function of a parallel worker. */
void
emogi_property_scan_worker(dsm_segment *segment, shm_toc *toc)
{
	emogi_shared_require();
	read_shared(toc);
}

/* Choose the number of workers that help to read leaves. */
static int
choose_workers(const EmogiPropertyScan *scan, List *leaves)
{
	Relation	leaf;
	int			nworkers;

	if (list_length(leaves) != 1 || linitial_oid(leaves) != scan->relid)
		return 0;
	leaf = table_open(scan->relid, NoLock);
	nworkers = RelationUsesLocalBuffers(leaf) ? 0 :
		emogi_heap_scan_workers(RelationGetNumberOfBlocks(leaf));
	table_close(leaf, NoLock);
	return nworkers;
}

/* Read a table with parallel workers; without dynamic shared memory or workers, alone. */
static void
read_in_parallel(EmogiPropertyScan *scan, int nworkers)
{
	Relation	leaf = table_open(scan->relid, NoLock);
	Snapshot	snapshot = RegisterSnapshot(GetActiveSnapshot());
	const Size	shared_bytes = table_parallelscan_estimate(leaf, snapshot);
	ParallelTableScanDesc shared;
	ParallelContext *context;
	EmogiPropertyScan *shared_scan;

	EnterParallelMode();
	context = CreateParallelContext("emogi", "emogi_property_scan_worker", nworkers);
	shm_toc_estimate_chunk(&context->estimator, sizeof *scan);
	shm_toc_estimate_chunk(&context->estimator, shared_bytes);
	shm_toc_estimate_keys(&context->estimator, 2);
	InitializeParallelDSM(context);
	shared_scan = shm_toc_allocate(context->toc, sizeof *scan);
	memcpy(shared_scan, scan, sizeof *scan);
	shm_toc_insert(context->toc, EMOGI_TOC_SCAN, shared_scan);
	shared = shm_toc_allocate(context->toc, shared_bytes);
	table_parallelscan_initialize(leaf, shared, snapshot);
	shm_toc_insert(context->toc, EMOGI_TOC_SHARED_SCAN, shared);
	LaunchParallelWorkers(context);
	read_shared(context->toc);
	WaitForParallelWorkersToFinish(context);
	memcpy(scan, shared_scan, sizeof *scan);
	DestroyParallelContext(context);
	ExitParallelMode();
	UnregisterSnapshot(snapshot);
	table_close(leaf, NoLock);
}

/* Complete the columns with dictionaries. */
static void
finish_codes(EmogiPropertyScan *scan)
{
	for (int i = 0; i < scan->ncolumns; i++)
	{
		EmogiScannedColumn *column = &scan->columns[i];

		if (column->different == NULL)
			continue;
		if (column->kind == EMOGI_COLUMN_ABSENT)
		{
			emogi_property_values_free(column->different);
			column->different = NULL;
			continue;
		}
		column->min = 0;
		column->max = (int64) emogi_property_values_count(column->different) - 1;
		if (column->max < EMOGI_PROPERTY_MAX_SORTED)
			column->order = emogi_property_values_sort(column->different, &column->identity);
	}
}

/*
 * Read the columns of all leaves of a table, which are locked heaps, under the active snapshot, for
 * the lists of the scan's graph, which are in the arena. Raises 53200, XX000 if the rows are not
 * exactly the edges of the graph, and errors of the comparison of values.
 */
void
emogi_property_scan_run(EmogiCall *call, EmogiPropertyScan *scan, const EmogiGraph *lists,
						List *leaves)
{
	const int	nworkers = choose_workers(scan, leaves);

	pg_atomic_init_u64(&scan->ntaken, 0);
	SpinLockInit(&scan->mutex);
	alloc_arrays(call, scan, lists);
	if (nworkers > 0)
		read_in_parallel(scan, nworkers);
	else
		read_alone(scan, leaves);
	if (pg_atomic_read_u64(&scan->ntaken) != lists->forward.nedges)
		emogi_property_rows_report(scan);
	finish_codes(scan);
}

/* Free the arrays of some lists. */
static void
free_lists(const EmogiPropertyScan *scan, EmogiScannedLists *lists)
{
	const EmogiAdjacency *adjacency = lists->entries.lists;

	if (adjacency == NULL)
		return;
	emogi_arena_free(lists->entries.taken, bitmap_bytes(adjacency));
	for (int i = 0; i < scan->ncolumns; i++)
	{
		if (lists->values[i] == NULL)
			continue;
		emogi_arena_free(lists->values[i], value_bytes(adjacency, &scan->columns[i]));
		emogi_arena_free(lists->nulls[i], bitmap_bytes(adjacency));
	}
}

/* Free the dictionaries and arrays of a scan that has succeeded. */
void
emogi_property_scan_free(EmogiPropertyScan *scan)
{
	free_lists(scan, &scan->forward);
	free_lists(scan, &scan->backward);
	for (int i = 0; i < scan->ncolumns; i++)
	{
		emogi_property_values_free(scan->columns[i].different);
		if (scan->columns[i].order != NULL)
			pfree(scan->columns[i].order);
	}
}
