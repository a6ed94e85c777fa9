/*
 * checked_weights.c: tables whose pages contain no weight that a build would refuse
 *
 * A build reads all weights, and refuses NULL, NaN, infinite factors and, unless there are two
 * costs, negative lengths.
 * An index search reads a few. It may replace the build if no row has such a weight; without
 * constraints that say so (index_search/index_search_weights.c), the pages do.
 *
 * A session remembers of each page the LSN at which none of its tuples, visible or not, had such a
 * weight. Any row that a snapshot sees is on a page, so this holds for all snapshots, as long as
 * changed_pages.c proves the page unchanged. A call reads the other pages only.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "analysis/analysis.h"
#include "changes/changes.h"

/* Tables that a session remembers; the least recently used is forgotten. */
#define MAX_TABLES 64

/* Larger tables are not checked. */
#define MAX_PAGES 4194304

/* A row that is built costs as much as at least so many that are checked: bench/RESULTS.md. */
#define BUILT_ROW_COST 6

/* After each check in vain, the next one must cost twice as much less than builds, up to this. */
#define MAX_FACTOR 1024

typedef struct CheckedTable
{
	Oid			relid;			/* InvalidOid = unused */
	AttrNumber	weight;
	AttrNumber	reverse;		/* 0 = none */
	bool		is_finite;		/* infinite weights are refused, too */
	uint64		last_used;
	bool		is_accepted;	/* by the last check */
	double		spent;			/* on builds since then, in rows that are checked */
	uint32		factor;			/* of the cost of a check, after checks in vain */
	MemoryContext context;		/* of the arrays; NULL = none */
	EmogiTrackedTable known;	/* known.room: capacity of the arrays; nblocks = 0: none is known */
	EmogiTrackedPages pages;
	uint64	   *refused;		/* bitmap [known.room / 64]: a tuple may have such a weight */
	uint64		nrefused;		/* pages in it */
} CheckedTable;

static CheckedTable tables[MAX_TABLES];
static uint64 clock_now = 0;

/* ---- tuples ---- */

/*
 * Convert a numeric to a double; NaN if it is out of range, or may be. Raises nothing, because its
 * tuple may be dead.
 */
static double
convert_numeric(Datum datum)
{
	double		value;

	if (VARATT_IS_EXTERNAL(DatumGetPointer(datum)))
		return get_float8_nan();
	value = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, datum));
	if (value == 0 &&
		DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow,
										   DirectFunctionCall1(numeric_sign, datum))) != 0)
		return get_float8_nan();
	return isinf(value) ? get_float8_nan() : value;
}

/* Which weights a build accepts, besides those that are 0 or more and finite. */
typedef struct AcceptedWeights
{
	bool		negative;		/* one of two costs: there is no such edge */
	bool		infinite;
} AcceptedWeights;

/* May a weight be one that a build refuses? */
static bool
may_be_refused(Datum datum, Oid type, AcceptedWeights accepted)
{
	double		weight;

	switch (type)
	{
		case INT2OID:
			weight = DatumGetInt16(datum);
			break;
		case INT4OID:
			weight = DatumGetInt32(datum);
			break;
		case INT8OID:
			weight = (double) DatumGetInt64(datum);
			break;
		case FLOAT4OID:
			weight = DatumGetFloat4(datum);
			break;
		case FLOAT8OID:
			weight = DatumGetFloat8(datum);
			break;
		default:
			weight = convert_numeric(datum);
	}
	if (!accepted.infinite && isinf(weight))
		return true;
	return accepted.negative ? isnan(weight) : !(weight >= 0);
}

/* A column of weights. */
typedef struct WeightColumn
{
	AttrNumber	attnum;			/* 0 = none */
	Oid			type;
} WeightColumn;

/* Does a tuple have a weight in a column that may be refused? */
static inline bool
is_doubtful(HeapTuple tuple, TupleDesc desc, const WeightColumn *column, AcceptedWeights accepted)
{
	bool		is_null;
	Datum		datum;

	if (column->attnum == 0)
		return false;
	datum = heap_getattr(tuple, column->attnum, desc, &is_null);
	return is_null || may_be_refused(datum, column->type, accepted);
}

/* Does a page, which is locked, have a tuple with a weight that may be refused? */
static bool
has_doubtful(Page page, TupleDesc desc, const WeightColumn *weight, const WeightColumn *reverse,
			 bool is_finite)
{
	const AcceptedWeights accepted = {.negative = reverse->attnum != 0,.infinite = !is_finite};
	const int	nlines = PageGetMaxOffsetNumber(page);

	for (OffsetNumber line = FirstOffsetNumber; line <= nlines; line++)
	{
		ItemId		item = PageGetItemId(page, line);
		HeapTupleData tuple;

		if (!ItemIdIsNormal(item))
			continue;
		tuple.t_data = (HeapTupleHeader) PageGetItem(page, item);
		tuple.t_len = ItemIdGetLength(item);
		if (is_doubtful(&tuple, desc, weight, accepted) ||
			is_doubtful(&tuple, desc, reverse, accepted))
			return true;
	}
	return false;
}

/* ---- pages ---- */

/* Return a column of weights of a table. */
static WeightColumn
weight_column(Relation rel, AttrNumber attnum)
{
	return (WeightColumn) {attnum, attnum == 0 ? InvalidOid :
		getBaseType(TupleDescAttr(RelationGetDescr(rel), attnum - 1)->atttypid)};
}

/* Note whether a page has tuples with weights that may be refused. */
static void
note_page(CheckedTable *table, BlockNumber block, bool refused)
{
	uint64	   *word = &table->refused[block / 64];
	const uint64 bit = UINT64CONST(1) << block % 64;

	table->nrefused += refused - ((*word & bit) != 0);
	*word = refused ? *word | bit : *word & ~bit;
}

/* Read the pages of a table that may have changed. */
static void
read_pages(CheckedTable *table, Relation rel, EmogiChangedPages *changed)
{
	const WeightColumn weight = weight_column(rel, changed->weight);
	const WeightColumn reverse = weight_column(rel, changed->reverse);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	MemoryContext scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi weights",
												ALLOCSET_SMALL_SIZES);
	MemoryContext old = MemoryContextSwitchTo(scrap);

	for (uint64 i = 0; i < changed->scans.count; i++)
	{
		const BlockNumber block = changed->scans.blocks[i];
		Buffer		buffer;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
		page = BufferGetPage(buffer);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		note_page(table, block, has_doubtful(page, RelationGetDescr(rel), &weight, &reverse,
											 table->is_finite));
		table->pages.lsn[block] = PageGetLSN(page);
		table->pages.buffer[block] = buffer;
		if (!PageIsAllVisible(page))
			changed->map[block / 64] &= ~(UINT64CONST(1) << block % 64);
		UnlockReleaseBuffer(buffer);
		MemoryContextReset(scrap);
	}
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scrap);
	FreeAccessStrategy(strategy);
}

/* ---- tables ---- */

/* Forget the pages of a table. */
static void
forget_pages(CheckedTable *table)
{
	if (table->context != NULL)
		MemoryContextDelete(table->context);
	table->context = NULL;
	table->known = (EmogiTrackedTable) {0};
	table->nrefused = 0;
}

/* Find what is known of a table's weights, or begin with nothing. */
static CheckedTable *
find_table(Oid relid, AttrNumber weight, AttrNumber reverse, bool is_finite)
{
	CheckedTable *oldest = &tables[0];

	for (int i = 0; i < MAX_TABLES; i++)
	{
		CheckedTable *table = &tables[i];

		if (table->relid == relid && table->weight == weight && table->reverse == reverse &&
			table->is_finite == is_finite)
		{
			table->last_used = ++clock_now;
			return table;
		}
		if (table->last_used < oldest->last_used)
			oldest = table;
	}
	forget_pages(oldest);
	*oldest = (CheckedTable) {.relid = relid,.weight = weight,.reverse = reverse,
							  .is_finite = is_finite,.last_used = ++clock_now,.factor = 1};
	return oldest;
}

/* Copy what is known of the first pages of a table to new arrays. */
static void
copy_known(CheckedTable *to, const CheckedTable *from, BlockNumber nblocks)
{
	memcpy(to->pages.lsn, from->pages.lsn, nblocks * sizeof(uint64));
	memcpy(to->pages.buffer, from->pages.buffer, nblocks * sizeof(Buffer));
	memcpy(to->pages.trusted, from->pages.trusted, (nblocks + 63) / 64 * sizeof(uint64));
	memcpy(to->pages.group_lsn, from->pages.group_lsn,
		   emogi_changed_pages_groups(nblocks) * sizeof(uint64));
	memcpy(to->refused, from->refused, (nblocks + 63) / 64 * sizeof(uint64));
}

/* Allocate an array of zeros. */
static void *
alloc_zeros(MemoryContext context, uint64 count, Size size)
{
	return MemoryContextAllocExtended(context, count * size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

/* Make room for so many pages, keeping what is known. */
static void
make_room(CheckedTable *table, BlockNumber nblocks)
{
	const uint64 room = TYPEALIGN(64, (uint64) nblocks + nblocks / 8 + 64);
	CheckedTable larger = *table;
	MemoryContext context;

	if (nblocks <= table->known.room)
		return;
	context = AllocSetContextCreate(TopMemoryContext, "emogi checked weights",
									ALLOCSET_SMALL_SIZES);
	larger.context = context;
	larger.known.room = (BlockNumber) room;
	larger.pages.lsn = alloc_zeros(context, room, sizeof(uint64));
	larger.pages.newest = alloc_zeros(context, room, sizeof(uint64));
	larger.pages.buffer = alloc_zeros(context, room, sizeof(Buffer));
	larger.pages.trusted = alloc_zeros(context, room / 64, sizeof(uint64));
	larger.pages.group_lsn = alloc_zeros(context, emogi_changed_pages_groups((BlockNumber) room),
										 sizeof(uint64));
	larger.refused = alloc_zeros(context, room / 64, sizeof(uint64));
	if (table->context != NULL)
	{
		copy_known(&larger, table, table->known.nblocks);
		MemoryContextDelete(table->context);
	}
	*table = larger;
}

/* Store what a check has found. */
static void
store(CheckedTable *table, const EmogiChangedPages *changed)
{
	for (BlockNumber block = changed->nblocks; block < table->known.nblocks; block++)
		note_page(table, block, false);
	table->known.relfilenumber = changed->relfilenumber;
	table->known.vacuums = changed->vacuums;
	table->known.nblocks = changed->nblocks;
	memcpy(table->pages.trusted, changed->map, (changed->nblocks + 63) / 64 * sizeof(uint64));
	memcpy(table->pages.group_lsn, changed->group_lsn,
		   emogi_changed_pages_groups(changed->nblocks) * sizeof(uint64));
}

/* Check the pages of a table that may have changed since the last check. */
static void
check(CheckedTable *table, Relation rel, const EmogiSource *source)
{
	EmogiChangedPages changed = {0};

	emogi_changed_pages_copy_map(rel, source, &changed);
	if (table->known.nblocks > 0 && table->known.relfilenumber != changed.relfilenumber)
		forget_pages(table);
	make_room(table, changed.nblocks);
	if (table->known.nblocks > 0)
		changed.known = &table->known;
	emogi_changed_pages_find(rel, &table->pages, PG_UINT64_MAX, &changed);
	read_pages(table, rel, &changed);
	store(table, &changed);
	pfree(changed.map);
	pfree(changed.group_lsn);
	pfree(changed.scans.blocks);
}

/*
 * Is it time to check a table? This is the ski-rental problem: the first check is due when the
 * builds that it would spare, this one included, have cost as much.
 */
static bool
is_due(CheckedTable *table, Relation rel, const EmogiSource *source)
{
	double		nrows;

	if (table->is_accepted)
		return true;
	(void) emogi_table_filter_cost(source, &nrows);
	table->spent += nrows * BUILT_ROW_COST;
	return table->spent >= (double) rel->rd_rel->reltuples * table->factor;
}

/* Does a table, which is locked, have no weights that a build would refuse? */
static bool
is_accepted(Relation rel, const EmogiSource *source, bool is_finite, bool may_read)
{
	EmogiTupleLayout layout;
	CheckedTable *table;

	if (!emogi_changed_pages_can_track(rel) || RelationGetNumberOfBlocks(rel) > MAX_PAGES)
		return false;
	emogi_heap_scan_columns(&layout, rel, source);
	table = find_table(RelationGetRelid(rel), layout.weight.attnum, layout.reverse.attnum,
					   is_finite);
	if (!may_read)
		return table->is_accepted;
	if (!is_due(table, rel, source))
		return false;
	table->is_accepted = false;
	table->spent = 0;
	check(table, rel, source);
	table->is_accepted = table->nrefused == 0;
	table->factor = table->is_accepted ? 1 : Min(2 * table->factor, MAX_FACTOR);
	return table->is_accepted;
}

/*
 * Do the heaps of a filtered table, which are locked, have no weights that a build would refuse?
 * is_finite: infinite ones, too. Reads pages that have changed since the session's last check, or
 * nothing if may_read is false; then true means that it is likely.
 */
bool
emogi_checked_weights_are_accepted(const EmogiSource *source, List *heaps, bool is_finite,
								   bool may_read)
{
	bool		are_accepted = true;
	ListCell   *cell;

	foreach(cell, heaps)
	{
		Relation	rel = table_open(lfirst_oid(cell), NoLock);

		are_accepted = are_accepted && is_accepted(rel, source, is_finite, may_read);
		table_close(rel, NoLock);
	}
	return are_accepted;
}
