/*
 * pages_decode.c: decode the edges of the visible tuples of a page
 *
 * A column is at a fixed offset if all columns before it have fixed lengths, in every tuple that
 * has these columns and in which none of them is NULL. Two keys of 4 bytes each, or of 8, without a
 * weight have a loop of their own. If a column is not at a fixed offset, it is fetched with
 * heap_getattr. Keys other than integers are passed to the sink as Datums, and remain on the page
 * until it is done.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "edges/edges.h"
#include "edges/pages.h"
#include "edges/visibility.h"
#include "base/compat.h"

/* ---- column offsets ---- */

/* Get a column's offset if it and all columns before it have fixed lengths, otherwise -1. */
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

/*
 * Find the two keys in a table's tuples and, unless their numbers are 0, the weight and the reverse
 * weight.
 */
void
emogi_pages_layout(EmogiTupleLayout *layout, TupleDesc desc, AttrNumber src, AttrNumber dst,
				   AttrNumber weight, AttrNumber reverse)
{
	memset(layout, 0, sizeof *layout);
	init_column(&layout->src, desc, src);
	init_column(&layout->dst, desc, dst);
	if (weight > 0)
		init_column(&layout->weight, desc, weight);
	if (reverse == 0)
		return;
	init_column(&layout->reverse, desc, reverse);
	layout->weight_name = TupleDescAttr(desc, weight - 1)->attname;
	layout->reverse_name = TupleDescAttr(desc, reverse - 1)->attname;
}

/*
 * Check whether a tuple has a column of fixed offset, and neither it nor any column before it is
 * NULL.
 */
static inline bool
has_in_place(HeapTupleHeader tuple, AttrNumber attnum, uint16 prefix)
{
	return HeapTupleHeaderGetNatts(tuple) >= attnum &&
		((tuple->t_infomask & HEAP_HASNULL) == 0 || (tuple->t_bits[0] & prefix) == prefix);
}

/* Get a pointer to a column in a tuple; NULL if it must be fetched with heap_getattr. */
static inline const char *
column_in_place(HeapTupleHeader tuple, const EmogiTupleColumn *column)
{
	if (unlikely(column->offset < 0 || !has_in_place(tuple, column->attnum, column->prefix)))
		return NULL;
	return (const char *) tuple + tuple->t_hoff + column->offset;
}

/* ---- tuple by tuple ---- */

/* Get a column of a tuple with heap_getattr; return false if it is NULL. */
static pg_noinline bool
get_attribute(HeapTupleHeader header, TupleDesc desc, const EmogiTupleColumn *column, Datum *datum)
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

/* Get a key of a tuple; return false if it is NULL. */
static inline bool
get_key(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleColumn *column, int64 *key)
{
	const char *p = column_in_place(tuple, column);
	Datum		datum;

	if (likely(p != NULL))
		*key = decode_integer(p, column->length);
	else if (!get_attribute(tuple, desc, column, &datum))
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

/*
 * Convert a numeric to a double. Raises 22003 if one is finite and the other is not, or only the
 * double is 0.
 */
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
				 errhint("Weights are read as double precision, from 1e-307 to 1e308. Leave out "
						 "such rows, or scale the weights, with a query.")));
	return value;
}

PG_FUNCTION_INFO_V1(emogi_weight_of_numeric);

/*
 * _emogi_weight(numeric, src "any", dst "any"): convert a numeric weight of a query, of a row from
 * src to dst. Raises 22003.
 */
Datum
emogi_weight_of_numeric(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(weight_of_numeric(PG_GETARG_DATUM(0)));
}

/*
 * Convert the Datum of a weight, of a base type, to a double. Raises 22003 for a numeric that is
 * out of range.
 */
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

/*
 * Get a weight of a tuple; return false if it is NULL. The conversion of a numeric leaks into the
 * current context.
 */
static inline bool
get_weight(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleColumn *column, double *weight)
{
	const char *p = column_in_place(tuple, column);
	Datum		datum;

	if (likely(p != NULL))
		*weight = decode_weight(p, column->type);
	else if (!get_attribute(tuple, desc, column, &datum))
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
put_edges(EmogiVisiblePage *visible, TupleDesc desc, const EmogiTupleLayout *layout,
		  EmogiSink *sink)
{
	for (int i = 0; i < visible->nitems; i++)
		put_edge(emogi_visibility_tuple(visible, i), desc, layout, sink);
}

/* Raise 22004 for a tuple with two weights, one of which is NULL; src, dst: its ends as text. */
static void
reject_null_weight(const EmogiTupleLayout *layout, const char *src, const char *dst, bool backward)
{
	const NameData *lacking = backward ? &layout->reverse_name : &layout->weight_name;
	const NameData *other = backward ? &layout->weight_name : &layout->reverse_name;

	emogi_sink_refuse_null_direction(src, dst, NameStr(*lacking), NameStr(*other), backward);
}

/*
 * Put the edges of a page into a sink with weights. Raises 22004 for a NULL weight, and the errors
 * of the sink.
 */
static void
put_weighted_edges(EmogiVisiblePage *visible, TupleDesc desc, const EmogiTupleLayout *layout,
				   EmogiSink *sink)
{
	for (int i = 0; i < visible->nitems; i++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(visible, i);
		int64		src;
		int64		dst;
		double		weight;

		if (!get_key(tuple, desc, &layout->src, &src) || !get_key(tuple, desc, &layout->dst, &dst))
			sink->nskipped++;
		else if (!get_weight(tuple, desc, &layout->weight, &weight))
			emogi_sink_refuse_null_weight(sink, psprintf(INT64_FORMAT, src),
										  psprintf(INT64_FORMAT, dst));
		else
			emogi_sink_put_weighted(sink, src, dst, weight);
	}
}

/*
 * Put the edges of a page whose tuples have two edges, forward and reverse, into a sink with
 * weights. A negative weight means that the edge does not exist. Raises 22004 for a NULL weight,
 * and the errors of the sink.
 */
static void
put_reversible_edges(EmogiVisiblePage *visible, TupleDesc desc, const EmogiTupleLayout *layout,
					 EmogiSink *sink)
{
	for (int i = 0; i < visible->nitems; i++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(visible, i);
		int64		src;
		int64		dst;
		double		forward = 0;
		double		backward = 0;
		bool		has_forward;

		if (!get_key(tuple, desc, &layout->src, &src) || !get_key(tuple, desc, &layout->dst, &dst))
		{
			sink->nskipped++;
			continue;
		}
		has_forward = get_weight(tuple, desc, &layout->weight, &forward);
		if (!has_forward || !get_weight(tuple, desc, &layout->reverse, &backward))
			reject_null_weight(layout, psprintf(INT64_FORMAT, src),
							   psprintf(INT64_FORMAT, dst), has_forward);
		if (emogi_cost_has_edge(forward))
			emogi_sink_put_weighted(sink, src, dst, forward);
		if (emogi_cost_has_edge(backward))
			emogi_sink_put_weighted(sink, dst, src, backward);
	}
}

/*
 * Decode the edge of one tuple with integer keys; *is_edge = false if an end is NULL. Return false
 * for a tuple that a page scan reads otherwise: with two weights, or with a weight that it rejects.
 * The conversion of a numeric leaks into the current context.
 */
bool
emogi_pages_decode_row(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout,
					   EmogiWeights weights, EmogiWeightedEdge *edge, bool *is_edge)
{
	edge->weight = 0;
	*is_edge = get_key(tuple, desc, &layout->src, &edge->src) &&
		get_key(tuple, desc, &layout->dst, &edge->dst);
	if (layout->weight.attnum == 0 || !*is_edge)
		return true;
	return layout->reverse.attnum == 0 &&
		get_weight(tuple, desc, &layout->weight, &edge->weight) &&
		emogi_weight_fits(weights, edge->weight);
}

/* ---- keys other than integers ---- */

/* Get a key of a tuple as a Datum, which may point into the page; return false if it is NULL. */
static inline bool
get_datum(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleColumn *column, Datum *datum)
{
	const char *p = column_in_place(tuple, column);

	if (unlikely(p == NULL))
		return get_attribute(tuple, desc, column, datum);
	*datum = fetch_att(p, TupleDescAttr(desc, column->attnum - 1)->attbyval, column->length);
	return true;
}

/*
 * Get both keys of a tuple in one pass over its columns, up to the last of the two; return false if
 * it lacks one of them, or one is NULL.
 */
static bool
deform_keys(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout, Datum *src,
			Datum *dst)
{
	const int	last = Max(layout->src.attnum, layout->dst.attnum);
	const uint8 *bits = (tuple->t_infomask & HEAP_HASNULL) != 0 ? tuple->t_bits : NULL;
	char	   *data = (char *) tuple + tuple->t_hoff;
	uint32		offset = 0;

	if (HeapTupleHeaderGetNatts(tuple) < last)
		return get_attribute(tuple, desc, &layout->src, src) &&
			get_attribute(tuple, desc, &layout->dst, dst);
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

/*
 * Get both keys of a tuple, which may point into the page; return false if one is NULL. in_place:
 * both may be at fixed offsets.
 */
static inline bool
get_keys(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout, bool in_place,
		 Datum *src, Datum *dst)
{
	return in_place ? get_datum(tuple, desc, &layout->src, src) &&
		get_datum(tuple, desc, &layout->dst, dst) : deform_keys(tuple, desc, layout, src, dst);
}

/*
 * Get the keys and the weight of one tuple with keys other than integers; *has_keys = false if an
 * end is NULL. Return false for a tuple that a page scan reads otherwise, as
 * emogi_pages_decode_row does. The keys may point into the page.
 */
bool
emogi_pages_decode_keys(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout,
						EmogiWeights weights, Datum *src, Datum *dst, double *weight,
						bool *has_keys)
{
	*weight = 0;
	*has_keys = get_keys(tuple, desc, layout, false, src, dst);
	if (layout->weight.attnum == 0 || !*has_keys)
		return true;
	return layout->reverse.attnum == 0 && get_weight(tuple, desc, &layout->weight, weight) &&
		emogi_weight_fits(weights, *weight);
}

/*
 * Put both edges of a tuple with two weights, whose ends are not integers, into a sink. Raises the
 * errors of put_keyed_edges.
 */
static void
put_keyed_reversible(HeapTupleHeader tuple, TupleDesc desc, const EmogiTupleLayout *layout,
					 Datum src, Datum dst, EmogiSink *sink)
{
	double		forward = 0;
	double		backward = 0;
	const bool	has_forward = get_weight(tuple, desc, &layout->weight, &forward);

	if (!has_forward || !get_weight(tuple, desc, &layout->reverse, &backward))
		reject_null_weight(layout, emogi_sink_key_text(sink, src),
						   emogi_sink_key_text(sink, dst), has_forward);
	if (emogi_cost_has_edge(forward))
		emogi_sink_put_keys(sink, src, dst, forward);
	if (emogi_cost_has_edge(backward))
		emogi_sink_put_keys(sink, dst, src, backward);
}

/*
 * Put the edges of a page, whose ends are not integers, into a sink. Raises 22004 for a NULL
 * weight, and the errors of the sink.
 */
static void
put_keyed_edges(EmogiVisiblePage *visible, TupleDesc desc, const EmogiTupleLayout *layout,
				EmogiSink *sink)
{
	const bool	in_place = layout->src.offset >= 0 && layout->dst.offset >= 0;

	for (int i = 0; i < visible->nitems; i++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(visible, i);
		Datum		src = 0;
		Datum		dst = 0;
		double		weight = 0;

		if (!get_keys(tuple, desc, layout, in_place, &src, &dst) ||
			emogi_sink_is_null_row(sink, src, dst))
			sink->nskipped++;
		else if (layout->reverse.attnum > 0)
			put_keyed_reversible(tuple, desc, layout, src, dst, sink);
		else if (layout->weight.attnum > 0 && !get_weight(tuple, desc, &layout->weight, &weight))
			emogi_sink_refuse_null_of_keys(sink, src, dst);
		else
			emogi_sink_put_keys(sink, src, dst, weight);
	}
	emogi_sink_flush(sink);
}

/* ---- many tuples at a time ---- */

/*
 * Decode the edges of tuples from items[first] on, whose keys have `length` bytes each, up to a
 * tuple without keys at fixed offsets. Return its index, or `end`, and set the range of the keys.
 */
static pg_attribute_always_inline int
decode_run(EmogiVisiblePage *visible, int first, int end, const EmogiTupleLayout *layout,
		   int length, EmogiEdge *edges, int64 *min_key, int64 *max_key)
{
	const EmogiTupleColumn *last = layout->src.attnum > layout->dst.attnum ? &layout->src :
		&layout->dst;
	AttrNumber	attnum = last->attnum;
	uint16		prefix = last->prefix;
	int			src_offset = layout->src.offset;
	int			dst_offset = layout->dst.offset;
	int64		min = PG_INT64_MAX;
	int64		max = PG_INT64_MIN;
	int			i;

	for (i = first; i < end; i++, edges++)
	{
		HeapTupleHeader tuple = emogi_visibility_tuple(visible, i);
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

/*
 * Put the edges of a page, both of whose keys have fixed offsets and `length` bytes, into a sink
 * without weights.
 */
static pg_attribute_always_inline void
put_runs(EmogiVisiblePage *visible, TupleDesc desc, const EmogiTupleLayout *layout, int length,
		 EmogiSink *sink)
{
	int			i = 0;

	while (i < visible->nitems)
	{
		int			first = i;
		EmogiEdge  *edges;
		int			end = i + (int) Min(emogi_sink_room(sink, &edges),
										(uint64) (visible->nitems - i));
		int64		min_key;
		int64		max_key;

		i = decode_run(visible, first, end, layout, length, edges, &min_key, &max_key);
		emogi_sink_count(sink, i - first, min_key, max_key);
		if (i < end)
			put_edge(emogi_visibility_tuple(visible, i++), desc, layout, sink);
	}
}

/* Put the edges of a page of int keys into a sink. */
static void
put_int4_runs(EmogiVisiblePage *visible, TupleDesc desc, const EmogiTupleLayout *layout,
			  EmogiSink *sink)
{
	put_runs(visible, desc, layout, sizeof(int32), sink);
}

/* Put the edges of a page of bigint keys into a sink. */
static void
put_int8_runs(EmogiVisiblePage *visible, TupleDesc desc, const EmogiTupleLayout *layout,
			  EmogiSink *sink)
{
	put_runs(visible, desc, layout, sizeof(int64), sink);
}

/* Choose how the edges of pages are put into a sink. */
EmogiPutPage
emogi_pages_choose_put(const EmogiTupleLayout *layout, const EmogiSink *sink)
{
	if (sink->has_keys)
		return put_keyed_edges;
	if (layout->weight.attnum > 0)
		return layout->reverse.attnum > 0 ? put_reversible_edges : put_weighted_edges;
	if (layout->src.offset < 0 || layout->dst.offset < 0 ||
		layout->src.length != layout->dst.length)
		return put_edges;
	if (layout->src.length == sizeof(int64))
		return put_int8_runs;
	return layout->src.length == sizeof(int32) ? put_int4_runs : put_edges;
}
