/*
 * property_scan.c: read the values of columns in the rows of a graph's edges, under the active
 * snapshot.
 *
 * The rows with an edge are numbered as they are read. Each edge is put into the call's slot with
 * its number as the weight, so that lists built from these edges lead from entries to rows (P2).
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/cash.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "analysis/filter_bounds.h"
#include "base/arena.h"
#include "base/compat.h"
#include "contract/pool.h"
#include "edges/pages.h"
#include "edges/property_scan.h"
#include "edges/sink.h"
#include "edges/visibility.h"

/* Rows for which the memory of arrays is populated at a time. A multiple of 64. */
#define PIECE_ROWS UINT64CONST(65536)

#define NOT_READ (-1)
#define SRC 0
#define DST 1
#define WEIGHT 2
#define FIRST_COLUMN 3			/* of the columns to load */
#define MAX_READ (FIRST_COLUMN + EMOGI_FILTER_MAX_COLUMNS)

/* The attributes to read in the tuples of a leaf. */
typedef struct Attributes
{
	TupleDesc	desc;
	int			last;			/* number of the last one */
	int			nread;
	AttrNumber	attnums[MAX_READ];	/* [nread], 0 = none */
	int			first_place[MaxTupleAttributeNumber];	/* [last]: which of them an attribute is;
														 * NOT_READ = none */
	int			next_place[MAX_READ];	/* the next with the same attribute; NOT_READ = none */
	bool		one_by_one;		/* fetch them with heap_getattr */
} Attributes;

/* The values of these in a tuple. */
typedef struct Values
{
	Datum		datums[MAX_READ];
	bool		nulls[MAX_READ];
} Values;

/* A scan in progress. */
typedef struct Reader
{
	EmogiPropertyScan *scan;
	EmogiSink	sink;
	EmogiKeyCoder coder;
	Oid			weight_type;
	int16		src_length;
	int16		dst_length;
} Reader;

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

/* Stop storing a column with too many different values. */
static void
give_up(EmogiScannedColumn *column)
{
	column->kind = EMOGI_COLUMN_ABSENT;
	emogi_property_values_free(column->different);
	column->different = NULL;
}

/* Store the value of a row. */
static inline void
store_value(EmogiScannedColumn *column, uint64 row, Datum datum)
{
	switch (column->kind)
	{
		case EMOGI_COLUMN_INTEGER:
			{
				const int64 value = emogi_filter_bounds_integer(datum, column->identity.type);

				column->values.integers[row] = value;
				column->min = Min(column->min, value);
				column->max = Max(column->max, value);
				break;
			}
		case EMOGI_COLUMN_FLOAT:
			{
				const double value = column->identity.type == FLOAT4OID ?
					(double) DatumGetFloat4(datum) : DatumGetFloat8(datum);

				column->values.floats[row] = value;
				column->fits_f32 = column->fits_f32 && emogi_property_fits_f32(value);
				break;
			}
		case EMOGI_COLUMN_CODES:
			column->values.integers[row] = emogi_property_values_code(column->different, datum);
			if (column->values.integers[row] < 0)
				give_up(column);
			break;
		case EMOGI_COLUMN_ABSENT:
			break;
	}
}

/* Store the values of a row. */
static void
store_row(EmogiPropertyScan *scan, uint64 row, const Values *values)
{
	for (int i = 0; i < scan->ncolumns; i++)
	{
		EmogiScannedColumn *column = &scan->columns[i];

		if (!values->nulls[FIRST_COLUMN + i])
		{
			store_value(column, row, values->datums[FIRST_COLUMN + i]);
			continue;
		}
		column->nulls[row / 64] |= UINT64CONST(1) << (row % 64);
		column->has_nulls = true;
		column->values.integers[row] = column->kind == EMOGI_COLUMN_CODES ? -1 : 0;
	}
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

/* Allocate an array with an element of 8 bytes for each row, not populated. */
static void *
alloc_rows(const EmogiPropertyScan *scan)
{
	return emogi_call_alloc_any(scan->call, Max(scan->max_rows, 1) * sizeof(int64));
}

/* Allocate the arrays of all columns. */
static void
alloc_arrays(EmogiPropertyScan *scan)
{
	const Size	bitmap_bytes = Max(emogi_bitmap_words(scan->max_rows), 1) * sizeof(uint64);

	for (int i = 0; i < scan->ncolumns; i++)
	{
		EmogiScannedColumn *column = &scan->columns[i];

		column->values.any = alloc_rows(scan);
		column->nulls = emogi_call_alloc_any(scan->call, bitmap_bytes);
		emogi_property_scan_populate(column->nulls, bitmap_bytes);
		memset(column->nulls, 0, bitmap_bytes);
		column->min = PG_INT64_MAX;
		column->max = PG_INT64_MIN;
		column->fits_f32 = true;
		if (column->kind == EMOGI_COLUMN_CODES)
			column->different = emogi_property_values_make(&column->identity);
	}
	if (scan->source->weight > 0)
		scan->weights = alloc_rows(scan);
}

/* Populate the arrays for the next rows. */
static void
populate_arrays(EmogiPropertyScan *scan)
{
	const Size	bytes = Min(PIECE_ROWS, scan->max_rows - scan->nrows) * sizeof(int64);

	for (int i = 0; i < scan->ncolumns; i++)
		emogi_property_scan_populate(&scan->columns[i].values.integers[scan->nrows],
									 bytes);
	if (scan->weights != NULL)
		emogi_property_scan_populate(&scan->weights[scan->nrows], bytes);
}

/* ---- tuples ---- */

/* Add an attribute to those to read. */
static void
add_attribute(Attributes *attributes, Relation leaf, const EmogiSource *source, AttrNumber attnum)
{
	const int	place = attributes->nread++;

	if (attnum > 0 && RelationGetRelid(leaf) != source->relid)
		attnum = get_attnum(RelationGetRelid(leaf), get_attname(source->relid, attnum, false));
	attributes->attnums[place] = attnum;
	attributes->next_place[place] = NOT_READ;
	if (attnum <= 0)
		return;
	while (attributes->last < attnum)
		attributes->first_place[attributes->last++] = NOT_READ;
	attributes->next_place[place] = attributes->first_place[attnum - 1];
	attributes->first_place[attnum - 1] = place;
}

/* Find the attributes to read in the tuples of a leaf. */
static void
find_attributes(Attributes *attributes, Relation leaf, const EmogiPropertyScan *scan)
{
	const EmogiSource *source = scan->source;

	attributes->desc = RelationGetDescr(leaf);
	attributes->last = attributes->nread = 0;
	add_attribute(attributes, leaf, source, source->src);
	add_attribute(attributes, leaf, source, source->dst);
	add_attribute(attributes, leaf, source, source->weight);
	for (int i = 0; i < scan->ncolumns; i++)
		add_attribute(attributes, leaf, source, scan->columns[i].identity.attnum);
}

/* Get the attributes of a tuple that lacks some of them, because they were added later. */
static pg_noinline void
get_one_by_one(HeapTupleHeader header, const Attributes *attributes, Values *values)
{
	HeapTupleData tuple = {.t_data = header};

	for (int i = 0; i < attributes->nread; i++)
		if (attributes->attnums[i] > 0)
			values->datums[i] = heap_getattr(&tuple, attributes->attnums[i], attributes->desc,
											 &values->nulls[i]);
}

/* Get the attributes of a tuple, in one pass up to the last one; they may point into the page. */
static void
get_attributes(HeapTupleHeader tuple, const Attributes *attributes, Values *values)
{
	const uint8 *bits = (tuple->t_infomask & HEAP_HASNULL) != 0 ? tuple->t_bits : NULL;
	char	   *data = (char *) tuple + tuple->t_hoff;
	uint32		offset = 0;

	if (HeapTupleHeaderGetNatts(tuple) < attributes->last)
	{
		get_one_by_one(tuple, attributes, values);
		return;
	}
	for (int i = 0; i < attributes->last; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(attributes->desc, i);
		const bool	is_null = bits != NULL && att_isnull(i, bits);

		if (!is_null)
			offset = att_align_pointer(offset, attribute->attalign, attribute->attlen,
									   data + offset);
		for (int place = attributes->first_place[i]; place >= 0;
			 place = attributes->next_place[place])
		{
			values->nulls[place] = is_null;
			if (!is_null)
				values->datums[place] = fetchatt(attribute, data + offset);
		}
		if (!is_null)
			offset = att_addlength_pointer(offset, attribute->attlen, data + offset);
	}
}

/* Raise the error that the rows are not those of the graph (P1). */
static void
report_other_rows(const EmogiPropertyScan *scan)
{
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("the rows of a column are not the edges of the graph of \"%s\"",
					get_rel_name(scan->source->relid)),
			 errdetail("The graph has " UINT64_FORMAT " entries.", scan->max_rows)));
}

/* Get a vertex of a row; codes for keys other than integers. */
static int64
vertex_of(Reader *reader, Datum datum, int16 length)
{
	int64		code;

	if (reader->scan->dictionary == NULL)
		return length == sizeof(int64) ? DatumGetInt64(datum) :
			length == sizeof(int32) ? DatumGetInt32(datum) : DatumGetInt16(datum);
	code = emogi_dictionary_find(reader->scan->dictionary,
								 emogi_key_coder_encode(&reader->coder, datum));
	if (code == EMOGI_NO_CODE)
		report_other_rows(reader->scan);
	return code;
}

/* Is a row no edge? */
static bool
has_null_end(Reader *reader, const Values *values)
{
	return values->nulls[SRC] || values->nulls[DST] ||
		(reader->scan->dictionary != NULL &&
		 (emogi_key_coder_has_null(&reader->coder, values->datums[SRC]) ||
		  emogi_key_coder_has_null(&reader->coder, values->datums[DST])));
}

/* Read a tuple: put its edge into the slot, and store its values. */
static void
read_row(Reader *reader, const Values *values)
{
	EmogiPropertyScan *scan = reader->scan;
	const uint64 row = scan->nrows;
	int64		src;
	int64		dst;

	if (has_null_end(reader, values))
		return;
	if (row == scan->max_rows || (scan->weights != NULL && values->nulls[WEIGHT]))
		report_other_rows(scan);
	if (row % PIECE_ROWS == 0)
		populate_arrays(scan);
	src = vertex_of(reader, values->datums[SRC], reader->src_length);
	dst = vertex_of(reader, values->datums[DST], reader->dst_length);
	emogi_sink_put_weighted(&reader->sink, src, dst, (double) row);
	if (scan->weights != NULL)
		scan->weights[row] = emogi_pages_weight(values->datums[WEIGHT], reader->weight_type);
	store_row(scan, row, values);
	scan->nrows++;
}

/* Read the tuples of a page that the snapshot sees. */
static void
read_page(Reader *reader, Relation leaf, Snapshot snapshot, Buffer buffer,
		  const Attributes *attributes)
{
	EmogiVisiblePage visible;
	Values		values = {0};

	CHECK_FOR_INTERRUPTS();
	emogi_visibility_page(&visible, leaf, snapshot, buffer, NULL);
	emogi_compat_count_returned(leaf, visible.nitems);
	for (int i = 0; i < visible.nitems; i++)
	{
		get_attributes(emogi_visibility_tuple(&visible, i), attributes, &values);
		read_row(reader, &values);
	}
}

/* Get the type of a column of the leaf's root. */
static Oid
column_type(const EmogiSource *source, AttrNumber attnum)
{
	return attnum > 0 ? getBaseType(get_atttype(source->relid, attnum)) : InvalidOid;
}

/* Read a leaf, which is locked. */
static void
read_leaf(Reader *reader, Oid relid)
{
	Relation	leaf = table_open(relid, NoLock);
	Snapshot	snapshot = GetActiveSnapshot();
	ParallelTableScanDesc shared = palloc(table_parallelscan_estimate(leaf, snapshot));
	Attributes *attributes = palloc(sizeof *attributes);
	MemoryContext scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi values of a page",
												ALLOCSET_DEFAULT_SIZES);
	TableScanDesc scan;
	Buffer		buffer;

	find_attributes(attributes, leaf, reader->scan);
	table_parallelscan_initialize(leaf, shared, snapshot);
	scan = emogi_compat_begin_parallel(leaf, shared);
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
	pfree(shared);
	table_close(leaf, NoLock);
}

/* Sort the dictionaries. */
static void
sort_values(EmogiPropertyScan *scan)
{
	for (int i = 0; i < scan->ncolumns; i++)
	{
		EmogiScannedColumn *column = &scan->columns[i];

		if (column->kind != EMOGI_COLUMN_CODES)
			continue;
		emogi_property_values_sort(column->different, column->values.integers, scan->nrows);
		column->min = 0;
		column->max = (int64) emogi_property_values_count(column->different) - 1;
	}
}

/*
 * Read the columns of all leaves of a source, which are locked heaps, under the active snapshot.
 * The call's slot gets the edges, with the numbers of their rows as weights. Raises 53200, XX000 if
 * the rows cannot be those of the graph, and errors of the comparison of values.
 */
void
emogi_property_scan_run(EmogiPropertyScan *scan, List *leaves)
{
	const EmogiSource *source = scan->source;
	const EmogiKeyType integers = {.class = EMOGI_KEY_INTEGER,.type = INT8OID};
	Reader		reader = {.scan = scan};
	ListCell   *cell;

	/* codes are put like integers */
	emogi_sink_begin(scan->call, &integers, EMOGI_WEIGHTS_ANY, -1, false);
	emogi_sink_open(&reader.sink, emogi_slot_token(scan->call->slot));
	if (scan->dictionary != NULL)
		emogi_key_coder_init(&reader.coder, &source->key);
	reader.weight_type = column_type(source, source->weight);
	reader.src_length = get_typlen(column_type(source, source->src));
	reader.dst_length = get_typlen(column_type(source, source->dst));
	alloc_arrays(scan);
	foreach(cell, leaves)
		read_leaf(&reader, lfirst_oid(cell));
	sort_values(scan);
}

/* Free the dictionaries and arrays of a scan. */
void
emogi_property_scan_free(EmogiPropertyScan *scan)
{
	const Size	row_bytes = Max(scan->max_rows, 1) * sizeof(int64);
	const Size	bitmap_bytes = Max(emogi_bitmap_words(scan->max_rows), 1) * sizeof(uint64);

	for (int i = 0; i < scan->ncolumns; i++)
	{
		emogi_property_values_free(scan->columns[i].different);
		emogi_arena_free(scan->columns[i].values.any, row_bytes);
		emogi_arena_free(scan->columns[i].nulls, bitmap_bytes);
	}
	if (scan->weights != NULL)
		emogi_arena_free(scan->weights, row_bytes);
}
