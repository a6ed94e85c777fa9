/*
 * pack.c: emogi_pages(relation, columns, first_page, npages) -> bytea: the rows of some pages in
 * packed form, for an emogi that reads this server
 *
 * A row of COPY or of an array takes the server some 100 ns, most of it per row and not per page.
 * Here pages are read as for building a graph (edges/visibility.c), under the caller's snapshot and
 * with SELECT permission on the columns, and the numbers are copied (pack_format.h). The function
 * is called in a target list, where each pack is sent before the next is made.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/sysattr.h"
#include "access/tableam.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/bitmapset.h"
#include "port/pg_bswap.h"
#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rls.h"
#include "utils/snapmgr.h"

#include "edges/visibility.h"
#include "base/compat.h"
#include "remote/pack_format.h"

/*
 * Pages per pack: some 90 kB for two bigint columns, which stay in a CPU cache until they are sent.
 */
#define PACK_PAGES 32

/* Maximum number of columns of a call. */
#define MAX_COLUMNS 16

/* A column to pack. */
typedef struct PackedColumn
{
	AttrNumber	attnum;
	int			width;			/* of the type */
	bool		is_bigint;
	Datum	   *values;			/* of the current pack, with room for the maximum number of rows */
	char	   *not_null;		/* one bit each */
	bool		has_null;
	bool		is_wide;		/* some bigint does not fit in 4 bytes */
} PackedColumn;

/* State of a call. */
typedef struct Packing
{
	Relation	rel;			/* kept open between packs, so that nothing in this transaction
								 * rewrites or drops it; NULL = closed */
	BufferAccessStrategy strategy;
	BlockNumber next;			/* next page */
	BlockNumber end;
	int			ncolumns;
	PackedColumn columns[MAX_COLUMNS];
} Packing;

PG_FUNCTION_INFO_V1(emogi_pages);

/* ---- arguments ---- */

/* Get the size of a type's values; 0 = the type cannot be packed. */
static int
width_of(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
			return 2;
		case INT4OID:
		case FLOAT4OID:
			return 4;
		case INT8OID:
		case FLOAT8OID:
			return 8;
		default:
			return 0;
	}
}

/*
 * Raise 42809 for relations without readable pages, and the errors of SELECT for relations that are
 * not populated or not accessible during recovery.
 */
static void
check_kind(Relation rel)
{
	if (!RelationIsPopulated(rel))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated",
						RelationGetRelationName(rel)),
				 errhint("Use the REFRESH MATERIALIZED VIEW command.")));
	if (RecoveryInProgress() && !RelationIsPermanent(rel))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary or unlogged relations during recovery")));
	if ((rel->rd_rel->relkind == RELKIND_RELATION || rel->rd_rel->relkind == RELKIND_MATVIEW) &&
		rel->rd_tableam == GetHeapamTableAmRoutine() && !RELATION_IS_OTHER_TEMP(rel))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_WRONG_OBJECT_TYPE),
			 errmsg("\"%s\" has no pages that can be read", RelationGetRelationName(rel)),
			 errdetail("emogi_pages reads tables and materialized views of the access method "
					   "heap."),
			 errhint("Use SELECT.")));
}

/* Raise 42501 if the caller may not SELECT the columns, or not all rows. */
static void
check_rights(Relation rel, const Packing *packing)
{
	const AclResult usage = emogi_compat_schema_usage(RelationGetNamespace(rel));
	Bitmapset  *columns = NULL;

	if (usage != ACLCHECK_OK)
		aclcheck_error(usage, OBJECT_SCHEMA, get_namespace_name(RelationGetNamespace(rel)));
	for (int i = 0; i < packing->ncolumns; i++)
		columns = bms_add_member(columns,
								 packing->columns[i].attnum - FirstLowInvalidHeapAttributeNumber);
	emogi_compat_check_select(rel, columns);
	if (check_enable_rls(RelationGetRelid(rel), InvalidOid, false) == RLS_ENABLED)
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("row security applies to table \"%s\"", RelationGetRelationName(rel)),
				 errhint("Use SELECT, which returns the rows that you may see.")));
}

/* Look up a column by name. Raises 42703, and 42804 for a type that cannot be packed. */
static void
find_column(PackedColumn *column, Relation rel, const char *name)
{
	Form_pg_attribute attribute;

	column->attnum = get_attnum(RelationGetRelid(rel), name);
	if (column->attnum <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist", name,
						RelationGetRelationName(rel))));
	attribute = TupleDescAttr(RelationGetDescr(rel), column->attnum - 1);
	column->width = width_of(attribute->atttypid);
	column->is_bigint = getBaseType(attribute->atttypid) == INT8OID;
	if (column->width == 0 || !emogi_compat_is_stored(attribute))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" cannot be packed", name),
				 errdetail("It is of type %s%s.", format_type_be(attribute->atttypid),
						   emogi_compat_is_stored(attribute) ? "" : ", and not stored"),
				 errhint("Only columns of type smallint, integer, bigint, real and double "
						 "precision can be packed.")));
}

/* Look up the columns in an array of names. Raises 22023 if there are none or too many. */
static void
find_columns(Packing *packing, Relation rel, ArrayType *names)
{
	Datum	   *values;
	bool	   *nulls;

	deconstruct_array(names, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &packing->ncolumns);
	if (packing->ncolumns < 1 || packing->ncolumns > MAX_COLUMNS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("emogi_pages packs 1 to %d columns, not %d", MAX_COLUMNS,
						packing->ncolumns)));
	for (int i = 0; i < packing->ncolumns; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("the name of a column must not be NULL")));
		find_column(&packing->columns[i], rel, TextDatumGetCString(values[i]));
	}
}

/* Allocate memory for the values of a pack. */
static void
allocate_values(Packing *packing)
{
	const Size	rows = PACK_PAGES * MaxHeapTuplesPerPage;

	for (int i = 0; i < packing->ncolumns; i++)
	{
		packing->columns[i].values = palloc(rows * sizeof(Datum));
		packing->columns[i].not_null = palloc((rows + 7) / 8);
	}
}

/* Close the relation, at the end of the call or of the query. */
static void
end(Datum arg)
{
	Packing    *packing = (Packing *) DatumGetPointer(arg);

	if (packing->rel != NULL)
		relation_close(packing->rel, NoLock);
	packing->rel = NULL;
}

/*
 * Begin a call: check its arguments and permissions. Raises 0A000 if the caller does not accept a
 * set.
 */
static Packing *
begin(FunctionCallInfo fcinfo)
{
	ReturnSetInfo *info = (ReturnSetInfo *) fcinfo->resultinfo;
	Packing    *packing = palloc0(sizeof *packing);
	const int64 first = PG_GETARG_INT64(2);
	const int64 npages = PG_GETARG_INT64(3);
	Relation	rel;
	BlockNumber there;

	if (info == NULL || !IsA(info, ReturnSetInfo))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));
	if (first < 0 || npages < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there are no pages from " INT64_FORMAT " on, " INT64_FORMAT " of them",
						first, npages),
				 errhint("first_page and npages must be 0 or more.")));
	rel = packing->rel = relation_open(PG_GETARG_OID(0), AccessShareLock);
	RegisterExprContextCallback(info->econtext, end, PointerGetDatum(packing));
	check_kind(rel);
	find_columns(packing, rel, PG_GETARG_ARRAYTYPE_P(1));
	check_rights(rel, packing);
	PredicateLockRelation(rel, GetActiveSnapshot());
	there = RelationGetNumberOfBlocks(rel);
	packing->next = (BlockNumber) Min((uint64) first, there);
	packing->end = (BlockNumber) Min((uint64) npages, there - packing->next) + packing->next;
	packing->strategy = GetAccessStrategy(BAS_BULKREAD);
	allocate_values(packing);
	return packing;
}

/* ---- packs ---- */

/* Store numbers of `width` bytes, big-endian, one after the other. Return the end. */
static pg_attribute_always_inline char *
store(char *to, const Datum *values, int count, int width)
{
	for (int i = 0; i < count; i++)
	{
		const uint64 wide = pg_hton64((uint64) values[i]);
		const uint32 middle = pg_hton32((uint32) values[i]);
		const uint16 narrow = pg_hton16((uint16) values[i]);

		memcpy(to + (Size) i * width, width == 8 ? (const void *) &wide :
			   width == 4 ? (const void *) &middle : (const void *) &narrow, width);
	}
	return to + (Size) count * width;
}

/* Store a number of 4 bytes. */
static char *
store_word(char *to, uint32 value)
{
	const Datum datum = UInt32GetDatum(value);

	return store(to, &datum, 1, 4);
}

/* Get the size of each value of a column in the current pack. */
static int
packed_width(const PackedColumn *column)
{
	return column->is_bigint && !column->is_wide ? 4 : column->width;
}

/*
 * Record whether row `row` is NULL. At the first NULL of a pack, the bits of all rows are set
 * first.
 */
static void
note_null(PackedColumn *column, int row, bool is_null)
{
	if (!column->has_null)
		memset(column->not_null, 0xff, (PACK_PAGES * MaxHeapTuplesPerPage + 7) / 8);
	column->has_null = true;
	if (is_null)
		column->not_null[row / 8] &= ~(1 << row % 8);
}

/* Append the rows of a page after nrows others; return the new number of rows. */
static int
pack_page(Packing *packing, Relation rel, EmogiVisiblePage *seen, int nrows)
{
	const TupleDesc desc = RelationGetDescr(rel);

	for (int i = 0; i < seen->nitems; i++)
	{
		HeapTupleData tuple = {.t_len = ItemIdGetLength(&seen->items[i]),
							   .t_tableOid = RelationGetRelid(rel),
		.t_data = emogi_visibility_tuple(seen, i)};

		for (int c = 0; c < packing->ncolumns; c++)
		{
			PackedColumn *column = &packing->columns[c];
			bool		is_null;
			const Datum datum = heap_getattr(&tuple, column->attnum, desc, &is_null);

			if (unlikely(is_null))
				note_null(column, nrows, true);
			column->values[nrows] = is_null ? (Datum) 0 : datum;
			column->is_wide |= (int64) column->values[nrows] != (int32) column->values[nrows];
		}
		nrows++;
	}
	return nrows;
}

/* Build a pack from the collected rows. */
static bytea *
make_pack(const Packing *packing, int nrows)
{
	const Size	bitmap_bytes = (nrows + 7) / 8;
	Size		bytes = VARHDRSZ + EMOGI_PACK_HEADER_BYTES;
	bytea	   *pack;
	char	   *to;

	for (int i = 0; i < packing->ncolumns; i++)
		bytes += EMOGI_PACK_COLUMN_BYTES + (packing->columns[i].has_null ? bitmap_bytes : 0) +
			(Size) nrows * packed_width(&packing->columns[i]);
	pack = palloc(bytes);
	SET_VARSIZE(pack, bytes);
	to = store_word(store_word(VARDATA(pack), nrows), packing->ncolumns);
	for (int i = 0; i < packing->ncolumns; i++)
	{
		const PackedColumn *column = &packing->columns[i];
		const int	width = packed_width(column);

		to = store_word(store_word(to, width), column->has_null);
		if (column->has_null)
		{
			memcpy(to, column->not_null, bitmap_bytes);
			to += bitmap_bytes;
		}
		to = width == 8 ? store(to, column->values, nrows, 8) :
			width == 4 ? store(to, column->values, nrows, 4) : store(to, column->values, nrows, 2);
	}
	return pack;
}

/* Build the next pack that has a row; NULL if there is none. */
static bytea *
next_pack(Packing *packing)
{
	Relation	rel = packing->rel;
	int			nrows = 0;

	for (int i = 0; i < packing->ncolumns; i++)
		packing->columns[i].has_null = packing->columns[i].is_wide = false;
	for (int npages = 0; packing->next < packing->end &&
		 (npages < PACK_PAGES || nrows == 0); npages++)
	{
		EmogiVisiblePage seen;
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		if (npages == PACK_PAGES)
			npages = 0;
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, packing->next++, RBM_NORMAL,
									packing->strategy);
		emogi_visibility_page(&seen, rel, GetActiveSnapshot(), buffer, NULL);
		emogi_compat_count_returned(rel, seen.nitems);
		nrows = pack_page(packing, rel, &seen, nrows);
		ReleaseBuffer(buffer);
	}
	return nrows > 0 ? make_pack(packing, nrows) : NULL;
}

/*
 * emogi_pages(relation regclass, columns text[], first_page bigint, npages bigint) -> packs
 * (pack_format.h) of the rows that the snapshot sees on the existing pages among first_page ..
 * first_page + npages - 1. Raises 42501 without SELECT permission on the columns and under row
 * security; 42809, 42703, 42804 and 22023 if something cannot be packed.
 */
Datum
emogi_pages(PG_FUNCTION_ARGS)
{
	FuncCallContext *context;
	Packing    *packing;
	bytea	   *pack;

	if (SRF_IS_FIRSTCALL())
	{
		MemoryContext old;

		context = SRF_FIRSTCALL_INIT();
		old = MemoryContextSwitchTo(context->multi_call_memory_ctx);
		context->user_fctx = begin(fcinfo);
		MemoryContextSwitchTo(old);
	}
	context = SRF_PERCALL_SETUP();
	packing = context->user_fctx;
	pack = next_pack(packing);
	if (pack == NULL)
	{
		end(PointerGetDatum(packing));
		UnregisterExprContextCallback(((ReturnSetInfo *) fcinfo->resultinfo)->econtext, end,
									  PointerGetDatum(packing));
		SRF_RETURN_DONE(context);
	}
	SRF_RETURN_NEXT(context, PointerGetDatum(pack));
}
