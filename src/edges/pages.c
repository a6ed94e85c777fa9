/*
 * pages.c: the pages of one heap table to edges, page by page and not tuple by tuple.
 *
 * The tuples that the snapshot sees (visibility.c) are decoded under the pin alone, which keeps them where they are: to decode can raise an
 * error and take memory of the Region.
 *
 * Columns lie at a fixed offset when all columns before them are of fixed length, in every tuple that has them and in
 * which none of them is NULL. Two keys of 4 bytes, or of 8, without a weight have a loop of their own; where a column
 * cannot be had by its offset, the tuple takes the server's general way. Keys that are no integers go to the sink as Datums, and stay
 * on the page until it is done.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "edges/edges.h"
#include "edges/pages.h"
#include "edges/row_filter.h"
#include "edges/visibility.h"
#include "base/compat.h"

/* Pages that are asked for before they are looked at. */
#define AHEAD_PAGES 16

/* ---- where columns lie ---- */

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
init_column(EmogiTupleColumn *column, TupleDesc desc, AttrNumber attnum)
{
	column->attnum = attnum;
	column->offset = fixed_offset(desc, attnum);
	column->type = getBaseType(TupleDescAttr(desc, attnum - 1)->atttypid);
	column->length = TupleDescAttr(desc, attnum - 1)->attlen;
	column->prefix = attnum <= BITS_PER_BYTE ? (1 << attnum) - 1 : 1 << BITS_PER_BYTE;
}

/* Find out where a table's tuples have two keys and, unless they are 0, a weight and that of the way back. */
void
emogi_pages_layout(EmogiTupleLayout *layout, TupleDesc desc, AttrNumber src, AttrNumber dst, AttrNumber weight, AttrNumber reverse)
{
	memset(layout, 0, sizeof *layout);
	init_column(&layout->src, desc, src);
	init_column(&layout->dst, desc, dst);
	if (weight > 0)
		init_column(&layout->weight, desc, weight);
	if (reverse > 0)
		init_column(&layout->reverse, desc, reverse);
}

/* Does a tuple have a column of fixed offset, and it and none before it NULL? */
static inline bool
has_in_place(HeapTupleHeader tuple, AttrNumber attnum, uint16 prefix)
{
	return HeapTupleHeaderGetNatts(tuple) >= attnum &&
		((tuple->t_infomask & HEAP_HASNULL) == 0 || (tuple->t_bits[0] & prefix) == prefix);
}

/* Get the place of a column in a tuple; NULL when it is to be had the general way only. */
static inline const char *
column_in_place(HeapTupleHeader tuple, const EmogiTupleColumn *column)
{
	if (unlikely(column->offset < 0 || !has_in_place(tuple, column->attnum, column->prefix)))
		return NULL;
	return (const char *) tuple + tuple->t_hoff + column->offset;
}

/* ---- tuple by tuple ---- */

/* Get a column of a tuple the general way; false when it is NULL. */
static pg_noinline bool
get_slowly(HeapTupleHeader header, TupleDesc desc, const EmogiTupleColumn *column, Datum *datum)
{
	HeapTupleData tuple = {.t_data = header};
	bool		isnull;

	*datum = heap_getattr(&tuple, column->attnum, desc, &isnull);
	return !isnull;
}

/* Decode an integer of 2, 4 or 8 bytes. */
static inline int64
decode_integer(const char *p, int length)
{
	if (length == sizeof(int64))
		return *(const int64 *) p;
	return length == sizeof(int32) ? *(const int32 *) p : *(const int16 *) p;
}

/* Get a key of a tuple; false when it is NULL. */
static inline bool
get_key(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleColumn *column, int64 *key)
{
	const char *p = column_in_place(tuple, column);
	Datum		datum;

	if (likely(p != NULL))
		*key = decode_integer(p, column->length);
	else if (!get_slowly(tuple, desc, column, &datum))
		return false;
	else if (column->length == sizeof(int64))
		*key = DatumGetInt64(datum);
	else
		*key = column->length == sizeof(int32) ? DatumGetInt32(datum) : DatumGetInt16(datum);
	return true;
}

/* Decode a weight of fixed length. */
static inline double
decode_weight(const char *p, Oid type)
{
	switch (type)
	{
		case INT2OID:
			return *(const int16 *) p;
		case INT4OID:
			return *(const int32 *) p;
		case INT8OID:
			return (double) *(const int64 *) p;
		case FLOAT4OID:
			return *(const float4 *) p;
		default:
			return *(const float8 *) p;
	}
}

/* Turn a numeric into a double. Raises 22003 where the one is finite and the other not, or the other alone is 0. */
static double
weight_of_numeric(Datum datum)
{
	const double value = DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, datum));
	const char *text;

	if (likely(value != 0.0 && !isinf(value)))
		return value;
	text = DatumGetCString(DirectFunctionCall1(numeric_out, datum));
	if (strchr(text, 'I') == NULL && (isinf(value) || strspn(text, "-0.") < strlen(text)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("a numeric weight is out of range for type double precision"),
				 errdetail("It begins with %.20s and has %d characters.", text, (int) strlen(text)),
				 errhint("Weights are read as double precision, from 1e-307 to 1e308. Select others, or scale them in a query.")));
	return value;
}

/* Turn the Datum of a weight, of a base type, into a double. Raises 22003 for a numeric that has none. */
double
emogi_pages_weight(Datum datum, Oid type)
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
			return weight_of_numeric(datum);
	}
}

/* Get a weight of a tuple; false when it is NULL. What the conversion of a numeric leaves stays in current memory. */
static inline bool
get_weight(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleColumn *column, double *weight)
{
	const char *p = column_in_place(tuple, column);
	Datum		datum;

	if (likely(p != NULL))
		*weight = decode_weight(p, column->type);
	else if (!get_slowly(tuple, desc, column, &datum))
		return false;
	else
		*weight = emogi_pages_weight(datum, column->type);
	return true;
}

/* Put the edge of a tuple into a sink without weights. */
static inline void
put_edge(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink)
{
	int64		src;
	int64		dst;

	if (get_key(tuple, desc, &layout->src, &src) && get_key(tuple, desc, &layout->dst, &dst))
		emogi_sink_put(sink, src, dst);
	else
		sink->nskipped++;
}

/* Put the edges of a page into a sink without weights. */
static void
put_edges(EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink)
{
	for (int i = 0; i < seen->nitems; i++)
		put_edge(emogi_visibility_tuple(seen, i), desc, layout, sink);
}

/* Raise 22004 for a tuple that has a cost for each way, of which one is NULL; src, dst: its ends as text. */
static void
refuse_null_way(TupleDesc desc, const EmogiTupleLayout *layout, const char *src, const char *dst, bool back)
{
	const char *there_name = NameStr(TupleDescAttr(desc, layout->weight.attnum - 1)->attname);
	const char *back_name = NameStr(TupleDescAttr(desc, layout->reverse.attnum - 1)->attname);

	emogi_sink_refuse_null_way(src, dst, back ? back_name : there_name, back ? there_name : back_name, back);
}

/* Put the edges of a page into a sink with weights. Raises 22004 for a NULL weight, and what the sink raises. */
static void
put_weighted_edges(EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink)
{
	for (int i = 0; i < seen->nitems; i++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(seen, i);
		int64		src;
		int64		dst;
		double		weight;

		if (!get_key(tuple, desc, &layout->src, &src) || !get_key(tuple, desc, &layout->dst, &dst))
			sink->nskipped++;
		else if (!get_weight(tuple, desc, &layout->weight, &weight))
			emogi_sink_refuse_null_weight(psprintf(INT64_FORMAT, src), psprintf(INT64_FORMAT, dst));
		else
			emogi_sink_put_weighted(sink, src, dst, weight);
	}
}

/*
 * Put the edges of a page whose tuples have two into a sink with weights: there, and back. A negative weight says that there is none. Raises
 * 22004 for a NULL weight, and what the sink raises.
 */
static void
put_edges_both_ways(EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink)
{
	for (int i = 0; i < seen->nitems; i++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(seen, i);
		int64		src;
		int64		dst;
		double		there = 0;
		double		back = 0;
		bool		has_there;

		if (!get_key(tuple, desc, &layout->src, &src) || !get_key(tuple, desc, &layout->dst, &dst))
		{
			sink->nskipped++;
			continue;
		}
		has_there = get_weight(tuple, desc, &layout->weight, &there);
		if (!has_there || !get_weight(tuple, desc, &layout->reverse, &back))
			refuse_null_way(desc, layout, psprintf(INT64_FORMAT, src), psprintf(INT64_FORMAT, dst), has_there);
		if (!(there < 0))
			emogi_sink_put_weighted(sink, src, dst, there);
		if (!(back < 0))
			emogi_sink_put_weighted(sink, dst, src, back);
	}
}

/* ---- keys that are no integers ---- */

/* Get a key of a tuple as a Datum, which may lead into the page; false when it is NULL. */
static inline bool
get_datum(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleColumn *column, Datum *datum)
{
	const char *p = column_in_place(tuple, column);

	if (unlikely(p == NULL))
		return get_slowly(tuple, desc, column, datum);
	*datum = fetch_att(p, TupleDescAttr(desc, column->attnum - 1)->attbyval, column->length);
	return true;
}

/*
 * Get both keys of a tuple in one walk over its columns, up to the last of the two; false when it lacks one of them, or one is
 * NULL.
 */
static bool
walk_to_keys(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout, Datum *src, Datum *dst)
{
	const int	last = Max(layout->src.attnum, layout->dst.attnum);
	const bits8 *bits = (tuple->t_infomask & HEAP_HASNULL) != 0 ? tuple->t_bits : NULL;
	char	   *data = (char *) tuple + tuple->t_hoff;
	uint32		offset = 0;

	if (HeapTupleHeaderGetNatts(tuple) < last)
		return get_slowly(tuple, desc, &layout->src, src) && get_slowly(tuple, desc, &layout->dst, dst);
	for (int i = 0; i < last; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(desc, i);

		if (bits != NULL && att_isnull(i, bits))
		{
			if (i + 1 == layout->src.attnum || i + 1 == layout->dst.attnum)
				return false;
			continue;
		}
		offset = att_align_pointer(offset, attribute->attalign, attribute->attlen, data + offset);
		if (i + 1 == layout->src.attnum)
			*src = fetchatt(attribute, data + offset);
		if (i + 1 == layout->dst.attnum)
			*dst = fetchatt(attribute, data + offset);
		offset = att_addlength_pointer(offset, attribute->attlen, data + offset);
	}
	return true;
}

/* Put the edges of a tuple that has two, whose ends are no integers, into a sink. Raises what put_keyed_edges does. */
static void
put_keyed_both_ways(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout, Datum src, Datum dst, EmogiSink *sink)
{
	double		there = 0;
	double		back = 0;
	const bool	has_there = get_weight(tuple, desc, &layout->weight, &there);

	if (!has_there || !get_weight(tuple, desc, &layout->reverse, &back))
		refuse_null_way(desc, layout, emogi_sink_key_text(sink, src), emogi_sink_key_text(sink, dst), has_there);
	if (!(there < 0))
		emogi_sink_put_keys(sink, src, dst, there);
	if (!(back < 0))
		emogi_sink_put_keys(sink, dst, src, back);
}

/* Put the edges of a page, whose ends are no integers, into a sink. Raises 22004 for a NULL weight, and what the sink raises. */
static void
put_keyed_edges(EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink)
{
	const bool	in_place = layout->src.offset >= 0 && layout->dst.offset >= 0;

	for (int i = 0; i < seen->nitems; i++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(seen, i);
		Datum		src = 0;
		Datum		dst = 0;
		double		weight = 0;

		if (!(in_place ? get_datum(tuple, desc, &layout->src, &src) && get_datum(tuple, desc, &layout->dst, &dst) :
			  walk_to_keys(tuple, desc, layout, &src, &dst)) || emogi_sink_lacks_end(sink, src, dst))
			sink->nskipped++;
		else if (layout->reverse.attnum > 0)
			put_keyed_both_ways(tuple, desc, layout, src, dst, sink);
		else if (layout->weight.attnum > 0 && !get_weight(tuple, desc, &layout->weight, &weight))
			emogi_sink_refuse_null_of_keys(sink, src, dst);
		else
			emogi_sink_put_keys(sink, src, dst, weight);
	}
	emogi_sink_flush(sink);
}

/* ---- many tuples at a time ---- */

/*
 * Decode the edges of tuples from items[first] on, all keys of which have `length` bytes, until one does not have its
 * keys in place. Gets its index, or `end`, and the range of the keys.
 */
static pg_attribute_always_inline int
decode_run(EmogiVisiblePage *seen, int first, int end, const EmogiTupleLayout *layout, int length, EmogiEdge *edges,
		   int64 *min_key, int64 *max_key)
{
	const EmogiTupleColumn *last = layout->src.attnum > layout->dst.attnum ? &layout->src : &layout->dst;
	AttrNumber	attnum = last->attnum;
	uint16		prefix = last->prefix;
	int			src_offset = layout->src.offset;
	int			dst_offset = layout->dst.offset;
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;
	int			i;

	for (i = first; i < end; i++, edges++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(seen, i);
		const char *data = (const char *) tuple + tuple->t_hoff;
		int64		src;
		int64		dst;

		if (unlikely(!has_in_place(tuple, attnum, prefix)))
			break;
		src = decode_integer(data + src_offset, length);
		dst = decode_integer(data + dst_offset, length);
		edges->src = src;
		edges->dst = dst;
		min = Min(min, Min(src, dst));
		max = Max(max, Max(src, dst));
	}
	*min_key = min;
	*max_key = max;
	return i;
}

/* Put the edges of a page, both of whose keys have fixed offsets and `length` bytes, into a sink without weights. */
static pg_attribute_always_inline void
put_runs(EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, int length, EmogiSink *sink)
{
	int			i = 0;

	while (i < seen->nitems)
	{
		int			first = i;
		EmogiEdge  *edges;
		int			end = i + (int) Min(emogi_sink_room(sink, &edges), (uint64) (seen->nitems - i));
		int64		min_key;
		int64		max_key;

		i = decode_run(seen, first, end, layout, length, edges, &min_key, &max_key);
		emogi_sink_count(sink, i - first, min_key, max_key);
		if (i < end)
			put_edge(emogi_visibility_tuple(seen, i++), desc, layout, sink);
	}
}

/* Put the edges of a page of int keys into a sink. */
static void
put_int4_runs(EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink)
{
	put_runs(seen, desc, layout, sizeof(int32), sink);
}

/* Put the edges of a page of bigint keys into a sink. */
static void
put_int8_runs(EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink)
{
	put_runs(seen, desc, layout, sizeof(int64), sink);
}

/* ---- page by page ---- */

typedef void (*PutPage) (EmogiVisiblePage *seen, TupleDesc desc, const EmogiTupleLayout *layout, EmogiSink *sink);

static PutPage
choose_put(const EmogiTupleLayout *layout, const EmogiSink *sink)
{
	if (sink->has_keys)
		return put_keyed_edges;
	if (layout->weight.attnum > 0)
		return layout->reverse.attnum > 0 ? put_edges_both_ways : put_weighted_edges;
	if (layout->src.offset < 0 || layout->dst.offset < 0 || layout->src.length != layout->dst.length)
		return put_edges;
	if (layout->src.length == sizeof(int64))
		return put_int8_runs;
	return layout->src.length == sizeof(int32) ? put_int4_runs : put_edges;
}

/* How the pages of a table are read. */
typedef struct Reading
{
	Relation	rel;
	Snapshot	snapshot;
	const EmogiTupleLayout *layout;
	PutPage		put;
	EmogiSink  *sink;
	EmogiRowFilter *filter;		/* NULL = all rows are edges */
	MemoryContext scrap;
} Reading;

static Reading
open_reading(Relation rel, Snapshot snapshot, const EmogiTupleLayout *layout, const EmogiRowFilterPlan *filter, EmogiSink *sink)
{
	return (Reading) {rel, snapshot, layout, choose_put(layout, sink), sink, emogi_row_filter_open(filter, rel),
		AllocSetContextCreate(CurrentMemoryContext, "emogi pages", ALLOCSET_SMALL_SIZES)};
}

static void
close_reading(const Reading *reading)
{
	emogi_row_filter_close(reading->filter);
	MemoryContextDelete(reading->scrap);
}

/* Put the edges of a page, which is pinned, into the sink. look: NULL, or to be filled in. */
static void
read_page(const Reading *reading, Buffer buffer, EmogiPageScan *look)
{
	EmogiSink  *sink = reading->sink;
	uint64		nskipped = sink->nskipped;
	uint64		nedges = sink->nedges;
	EmogiVisiblePage	seen;
	MemoryContext old;

	CHECK_FOR_INTERRUPTS();
	emogi_visibility_page(&seen, reading->rel, reading->snapshot, buffer, look);
	emogi_compat_count_returned(reading->rel, seen.nitems);
	if (reading->filter != NULL)
		emogi_row_filter_page(reading->filter, &seen, buffer);
	if (look != NULL)
		look->edges = emogi_sink_reserve(sink, (reading->layout->reverse.attnum > 0 ? 2 : 1) * seen.nitems);
	old = MemoryContextSwitchTo(reading->scrap);
	reading->put(&seen, RelationGetDescr(reading->rel), reading->layout, sink);
	MemoryContextSwitchTo(old);
	MemoryContextReset(reading->scrap);
	if (look == NULL)
		return;
	look->nedges = (uint16) (sink->nedges - nedges);
	look->nskipped = (uint16) (sink->nskipped - nskipped);
}

/*
 * Put all edges that a parallel scan returns to this process into a sink, and note what is wanted. Raises 22004 for a NULL
 * weight, and what the sink raises.
 */
void
emogi_pages_read(TableScanDesc scan, const EmogiTupleLayout *layout, const EmogiRowFilterPlan *filter, EmogiSink *sink,
				 const EmogiPageScans *notes)
{
	Reading		reading = open_reading(scan->rs_rd, scan->rs_snapshot, layout, filter, sink);
	Buffer		buffer;

	while ((buffer = emogi_compat_next_page((HeapScanDesc) scan)) != InvalidBuffer)
	{
		BlockNumber block = BufferGetBlockNumber(buffer);

		read_page(&reading, buffer, notes->looks != NULL && block < notes->nblocks ? &notes->looks[block] : NULL);
		ReleaseBuffer(buffer);
	}
	close_reading(&reading);
}

/*
 * Put the edges of some pages of a table, as the active snapshot sees them, into a sink; looks[i] is of blocks[i]. Raises as
 * above.
 */
void
emogi_pages_rescan(Relation rel, const EmogiTupleLayout *layout, const EmogiRowFilterPlan *filter, EmogiSink *sink,
				 const BlockNumber *blocks, EmogiPageScan *looks, uint64 count)
{
	Reading		reading = open_reading(rel, GetActiveSnapshot(), layout, filter, sink);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);

	for (uint64 i = 0; i < count; i++)
	{
		Buffer		buffer;

		if (i + AHEAD_PAGES < count)
			PrefetchBuffer(rel, MAIN_FORKNUM, blocks[i + AHEAD_PAGES]);
		buffer = ReadBufferExtended(rel, MAIN_FORKNUM, blocks[i], RBM_NORMAL, strategy);
		read_page(&reading, buffer, &looks[i]);
		ReleaseBuffer(buffer);
	}
	FreeAccessStrategy(strategy);
	close_reading(&reading);
}
