/*
 * decode.c: decoding of COPY data into edges
 *
 * In binary format, a row consists of its number of columns in 2 bytes, and per column its length
 * in 4 bytes, -1 = NULL, and its bytes. A message has one row, or one array per column for the rows
 * of several pages. Two integers of 8 or 4 bytes, without a weight, take a fast path.
 *
 * decode_formats.c determines the format of each column, decode_values.c converts values to local
 * types, decode_rows.c makes edges of one row, and decode_groups.c of many.
 */
#include "postgres.h"

#include "utils/memutils.h"

#include "remote/decode_parts.h"

/*
 * The signature of a binary COPY, and the size of the header with the two numbers that follow it.
 */
static const char signature[11] = "PGCOPY\n\377\r\n";
#define HEADER_BYTES (sizeof signature + 8)

/* ---- binary format ---- */

/* Skip the header of a binary COPY; return false if it is invalid. */
static bool
skip_header(const char **p, const char *end)
{
	int64		extension;

	if (end - *p < (int) HEADER_BYTES || memcmp(*p, signature, sizeof signature) != 0)
		return false;
	if (emogi_decode_load(*p + sizeof signature, 4) != 0)
		return false;			/* flags of unknown formats */
	extension = emogi_decode_load(*p + sizeof signature + 4, 4);
	if (extension < 0 || extension > end - *p - (int) HEADER_BYTES)
		return false;
	*p += HEADER_BYTES + extension;
	return true;
}

/* Split a row into fields; return false if it is incomplete. */
static bool
split_binary(const char **p, const char *end, int nfields, EmogiRemoteField *fields)
{
	for (int i = 0; i < nfields; i++)
	{
		int64		length;

		if (end - *p < 4)
			return false;
		length = emogi_decode_load(*p, 4);
		*p += 4;
		if (length < -1 || length > end - *p)
			return false;
		fields[i] = (EmogiRemoteField) {length < 0 ? NULL : *p, (int) length};
		*p += Max(length, 0);
	}
	return true;
}

/* ---- messages ---- */

/*
 * Check that a row belongs to the table with the expected OID, if that is known; return false if
 * the row has no OID.
 */
static bool
is_of_table(const EmogiRemoteTable *table, const EmogiRemoteField *field)
{
	if (!OidIsValid(table->oid))
		return true;
	if (field->bytes == NULL || field->length != 4)
		return false;
	if ((Oid) emogi_decode_load(field->bytes, 4) != table->oid)
		emogi_decode_refuse_table(table);
	return true;
}

/* Decode a message of a binary COPY; return false if it is invalid. */
static bool
decode_binary(EmogiDecoder *decoder, EmogiRemoteTable *table, const char *p, const char *end,
			EmogiRemoteCopy *copy)
{
	const int	nfields = table->packer != NULL ? 1 :
		table->ncolumns + (OidIsValid(table->oid) ? 1 : 0);
	EmogiRemoteField		fields[EMOGI_REMOTE_MAX_COLUMNS + 1];

	if (copy->has_ended || (!copy->has_begun && !skip_header(&p, end)))
		return false;
	copy->has_begun = true;
	while (p < end)
	{
		int64		count;

		if (end - p < 2)
			return false;
		count = emogi_decode_load(p, 2);
		p += 2;
		copy->has_ended = count == -1;	/* end of data */
		if (copy->has_ended)
			return p == end;
		if (count != nfields || !split_binary(&p, end, nfields, fields))
			return false;
		if (table->packer != NULL)
		{
			if (!emogi_decode_put_pack(decoder, table, &fields[0]))
				return false;
		}
		else if (!is_of_table(table, &fields[table->ncolumns]))
			return false;
		else if (!table->is_grouped)
			emogi_decode_put_row(decoder, table, fields);
		else if (!emogi_decode_put_arrays(decoder, table, fields))
			return false;
	}
	return true;
}

/*
 * Put the row of a message with two integers of `width` bytes; return false if the message has
 * another layout.
 */
static pg_attribute_always_inline bool
put_pair(EmogiDecoder *decoder, const char *message, int width)
{
	if (emogi_decode_load(message, 2) != 2 || emogi_decode_load(message + 2, 4) != width ||
		emogi_decode_load(message + 6 + width, 4) != width)
		return false;
	emogi_sink_put(&decoder->sink, emogi_decode_load(message + 6, width),
				   emogi_decode_load(message + 10 + width, width));
	return true;
}

/* Put the row of a message with the most common layout; return false if the message has another. */
static inline bool
put_usual(EmogiDecoder *decoder, const EmogiRemoteTable *table, const char *message, int length)
{
	const int	width = length == 26 ? 8 : 4;

	if (table->is_grouped || OidIsValid(table->oid) || table->ncolumns != 2 ||
		(length != 26 && length != 18) || !emogi_decode_accepts_width(&table->columns[0], width) ||
		!emogi_decode_accepts_width(&table->columns[1], width))
		return false;
	return width == 8 ? put_pair(decoder, message, 8) : put_pair(decoder, message, 4);
}

/* ---- text format ---- */

/* Get the character that a letter after a backslash represents. */
static char
unescape(char letter)
{
	switch (letter)
	{
		case 'b':
			return '\b';
		case 'f':
			return '\f';
		case 'n':
			return '\n';
		case 'r':
			return '\r';
		case 't':
			return '\t';
		case 'v':
			return '\v';
		default:
			return letter;
	}
}

/*
 * Split a line into fields, unescaped into memory of the line's length; return false if their
 * number differs.
 */
static bool
split_text(const char *p, const char *end, int nfields, EmogiRemoteField *fields, char *to)
{
	for (int i = 0; i < nfields; i++)
	{
		char	   *first = to;

		if (i > 0 && (p == end || *p++ != '\t'))
			return false;
		if (end - p >= 2 && p[0] == '\\' && p[1] == 'N')
		{
			fields[i] = (EmogiRemoteField) {NULL, 0};
			p += 2;
			continue;
		}
		while (p < end && *p != '\t')
		{
			const bool	is_escaped = *p == '\\';

			if (is_escaped && ++p == end)
				return false;
			*to++ = is_escaped ? unescape(*p) : *p;
			p++;
		}
		fields[i] = (EmogiRemoteField) {first, (int) (to - first)};
	}
	return p == end;
}

/* Get an OID from text that is not null-terminated. */
static Oid
oid_of(const EmogiRemoteField *field)
{
	char		digits[16] = {0};

	memcpy(digits, field->bytes, Min(field->length, (int) sizeof digits - 1));
	return (Oid) strtoul(digits, NULL, 10);
}

/* Decode a message of a text COPY, a line with its newline; return false if it is invalid. */
static bool
decode_text(EmogiDecoder *decoder, EmogiRemoteTable *table, const char *message, int length)
{
	const bool	has_oid = OidIsValid(table->oid);
	EmogiRemoteField		fields[EMOGI_REMOTE_MAX_COLUMNS + 1];
	char	   *bytes;

	if (length == 0 || message[length - 1] != '\n')
		return false;
	bytes = MemoryContextAlloc(decoder->scrap, length);
	if (!split_text(message, message + length - 1, table->ncolumns + (has_oid ? 1 : 0), fields,
					bytes))
		return false;
	if (has_oid &&
		(fields[table->ncolumns].bytes == NULL || oid_of(&fields[table->ncolumns]) != table->oid))
		emogi_decode_refuse_table(table);
	decoder->nkept++;
	emogi_decode_put_row(decoder, table, fields);
	return true;
}

/* ---- both formats ---- */

/* Open a decoder for the slot that a token belongs to. */
void
emogi_decode_open(EmogiDecoder *decoder, uint64 token)
{
	memset(decoder, 0, sizeof *decoder);
	emogi_sink_open(&decoder->sink, token);
	decoder->scrap = AllocSetContextCreate(CurrentMemoryContext, "emogi servers",
										   ALLOCSET_DEFAULT_SIZES);
}

/*
 * Put the edges of a COPY message into the sink; return false if the message is invalid. Raises
 * 40001 for rows of another table, 22003 and the errors of type input functions for invalid values,
 * 22004 for a NULL weight, and the sink's errors.
 */
bool
emogi_decode_message(EmogiDecoder *decoder, EmogiRemoteTable *table, const char *message,
					 int length, EmogiRemoteCopy *copy)
{
	if (table->is_text)
		return decode_text(decoder, table, message, length);
	if (likely(copy->has_begun) && !copy->has_ended && put_usual(decoder, table, message, length))
		return true;
	return decode_binary(decoder, table, message, message + length, copy);
}

/* Flush pending rows, and add the number of rows with a NULL end to the slot. */
void
emogi_decode_finish(EmogiDecoder *decoder)
{
	emogi_decode_drop_kept(decoder);
	pg_atomic_fetch_add_u64(&decoder->sink.slot->nskipped, decoder->sink.nskipped);
	MemoryContextDelete(decoder->scrap);
}
