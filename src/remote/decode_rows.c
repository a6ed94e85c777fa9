/*
 * decode_rows.c: decoding of a row into edges
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/memutils.h"

#include "remote/decode_parts.h"

/* Rows whose values are kept until their keys are looked up in a batch. */
#define MAX_KEPT 512

/* Get an integer key. */
static inline int64
key_of(EmogiDecoder *decoder, EmogiRemoteColumn *column, const EmogiRemoteField *field)
{
	Datum		datum;

	if (likely(column->form == EMOGI_REMOTE_INTEGER))
		return emogi_decode_integer(column, field);
	datum = emogi_decode_datum(decoder, column, field);
	decoder->nkept++;
	return column->base == INT8OID ? DatumGetInt64(datum) :
		column->base == INT4OID ? DatumGetInt32(datum) : DatumGetInt16(datum);
}

/* Raise 22004 for a row with a NULL cost in one direction; back: it is the reverse cost. */
static void
refuse_null_direction(const EmogiRemoteTable *table, const char *src, const char *dst, bool back)
{
	emogi_sink_refuse_null_direction(src, dst, table->columns[back ? 3 : 2].name,
									 table->columns[back ? 2 : 3].name, back);
}

/*
 * Put the edges of a row with integer keys. Raises 22004 for a NULL weight, and the sink's errors.
 */
static void
put_integers(EmogiDecoder *decoder, EmogiRemoteTable *table, const EmogiRemoteField *fields)
{
	EmogiSink  *sink = &decoder->sink;
	const int64 src = key_of(decoder, &table->columns[0], &fields[0]);
	const int64 dst = key_of(decoder, &table->columns[1], &fields[1]);
	double		there;
	double		back;

	if (table->ncolumns == 2)
	{
		emogi_sink_put(sink, src, dst);
		return;
	}
	if (table->ncolumns == 4 && (fields[2].bytes == NULL || fields[3].bytes == NULL))
		refuse_null_direction(table, psprintf(INT64_FORMAT, src), psprintf(INT64_FORMAT, dst),
							  fields[2].bytes != NULL);
	if (fields[2].bytes == NULL)
		emogi_sink_refuse_null_weight(sink, psprintf(INT64_FORMAT, src),
									  psprintf(INT64_FORMAT, dst));
	there = emogi_decode_weight(decoder, &table->columns[2], &fields[2]);
	if (table->ncolumns == 3)
	{
		emogi_sink_put_weighted(sink, src, dst, there);
		return;
	}
	back = emogi_decode_weight(decoder, &table->columns[3], &fields[3]);
	if (emogi_cost_has_edge(there))
		emogi_sink_put_weighted(sink, src, dst, there);
	if (emogi_cost_has_edge(back))
		emogi_sink_put_weighted(sink, dst, src, back);
}

/* Put the edges of a row with keys of other types. Raises the same errors as put_integers. */
static void
put_keys(EmogiDecoder *decoder, EmogiRemoteTable *table, const EmogiRemoteField *fields)
{
	EmogiSink  *sink = &decoder->sink;
	const Datum src = emogi_decode_datum(decoder, &table->columns[0], &fields[0]);
	const Datum dst = emogi_decode_datum(decoder, &table->columns[1], &fields[1]);
	double		there = 0;
	double		back;

	decoder->nkept++;
	if (emogi_sink_is_null_row(sink, src, dst))
	{
		sink->nskipped++;
		return;
	}
	if (table->ncolumns == 4 && (fields[2].bytes == NULL || fields[3].bytes == NULL))
		refuse_null_direction(table, emogi_sink_key_text(sink, src), emogi_sink_key_text(sink, dst),
							  fields[2].bytes != NULL);
	if (table->ncolumns > 2 && fields[2].bytes == NULL)
		emogi_sink_refuse_null_of_keys(sink, src, dst);
	if (table->ncolumns > 2)
		there = emogi_decode_weight(decoder, &table->columns[2], &fields[2]);
	if (table->ncolumns < 4)
	{
		emogi_sink_put_keys(sink, src, dst, there);
		return;
	}
	back = emogi_decode_weight(decoder, &table->columns[3], &fields[3]);
	if (emogi_cost_has_edge(there))
		emogi_sink_put_keys(sink, src, dst, there);
	if (emogi_cost_has_edge(back))
		emogi_sink_put_keys(sink, dst, src, back);
}

/*
 * Put the edges of a row. Temporary values stay in the scrap context until the sink has been
 * flushed.
 */
static void
put_values(EmogiDecoder *decoder, EmogiRemoteTable *table, const EmogiRemoteField *fields)
{
	const MemoryContext old = MemoryContextSwitchTo(decoder->scrap);

	if (decoder->sink.has_keys)
		put_keys(decoder, table, fields);
	else
		put_integers(decoder, table, fields);
	MemoryContextSwitchTo(old);
}

/* Flush the sink, and free the values of pending rows. */
void
emogi_decode_drop_kept(EmogiDecoder *decoder)
{
	if (decoder->sink.has_keys)
		emogi_sink_flush(&decoder->sink);
	MemoryContextReset(decoder->scrap);
	decoder->nkept = 0;
}

/*
 * Raise 40001 for rows of a table other than the one that the first connection found under the
 * name.
 */
void
emogi_decode_refuse_table(const EmogiRemoteTable *table)
{
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("table \"%s.%s\" was replaced while it was read",
					table->schema, table->relation),
			 errhint("Call the function again.")));
}

/* Let the domains of columns check NULL values. */
static void
check_nulls(EmogiRemoteTable *table, const EmogiRemoteField *fields)
{
	for (int i = 0; i < table->ncolumns; i++)
		if (fields[i].bytes == NULL && table->columns[i].type != table->columns[i].base)
			(void) InputFunctionCall(&table->columns[i].function, NULL, table->columns[i].ioparam,
									 table->columns[i].typmod);
}

/* Put the edges of a row. */
void
emogi_decode_put_row(EmogiDecoder *decoder, EmogiRemoteTable *table, const EmogiRemoteField *fields)
{
	if (unlikely(table->is_text))
		check_nulls(table, fields);
	if (fields[0].bytes == NULL || fields[1].bytes == NULL)
		decoder->sink.nskipped++;
	else
		put_values(decoder, table, fields);
	if (unlikely(decoder->nkept >= MAX_KEPT))
		emogi_decode_drop_kept(decoder);
}
