/*
 * decode_formats.c: the format in which a table's values are sent
 *
 * Values are sent in binary format if the remote type equals the local type and its format is the
 * same in all versions, or if both are integers. Otherwise COPY sends text for the type's input
 * function, as with postgres_fdw: a remote type of the same name may be different.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "remote/decode.h"

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/* Is a type's binary format the same in all versions, and independent of settings? */
static bool
is_received(Oid type)
{
	static const Oid types[] = {
		BOOLOID, OIDOID, NUMERICOID, UUIDOID, BYTEAOID, DATEOID, TIMEOID, TIMETZOID, TIMESTAMPOID,
			TIMESTAMPTZOID, INETOID, CIDROID,
		MACADDROID, MACADDR8OID, BITOID, VARBITOID
	};

	for (int i = 0; i < (int) lengthof(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

/*
 * Determine the format of a column's values in a binary COPY, given its remote type; return false
 * if binary is impossible.
 */
static bool
choose_format(EmogiRemoteColumn *column, Oid remote_type)
{
	if (is_integer(column->type) && is_integer(remote_type))
		column->form = EMOGI_REMOTE_INTEGER;
	else if (column->type != remote_type)
		return false;
	else if (remote_type == FLOAT4OID)
		column->form = EMOGI_REMOTE_FLOAT4;
	else if (remote_type == FLOAT8OID)
		column->form = EMOGI_REMOTE_FLOAT8;
	else if (is_received(remote_type))
		column->form = EMOGI_REMOTE_RECEIVED;
	else if (remote_type == TEXTOID || remote_type == VARCHAROID || remote_type == BPCHAROID ||
			 remote_type == NAMEOID)
		column->form = EMOGI_REMOTE_CHARACTERS;
	else
		return false;
	return true;
}

/* Look up the input or receive function of a column. */
static void
find_function(EmogiRemoteColumn *column)
{
	Oid			function;

	if (column->form == EMOGI_REMOTE_RECEIVED)
		getTypeBinaryInputInfo(column->type, &function, &column->ioparam);
	else
		getTypeInputInfo(column->type, &function, &column->ioparam);
	fmgr_info(function, &column->function);
}

/*
 * Determine the formats of a table's values. types: [ncolumns], remote; binary: whether the
 * server's version allows binary format.
 */
void
emogi_decode_choose_formats(EmogiRemoteTable *table, const Oid *types, bool binary)
{
	table->is_text = !binary;
	for (int i = 0; i < table->ncolumns; i++)
	{
		table->columns[i].remote_type = types[i];
		table->is_text = table->is_text || !choose_format(&table->columns[i], types[i]);
	}
	for (int i = 0; i < table->ncolumns; i++)
	{
		if (table->is_text)
			table->columns[i].form = EMOGI_REMOTE_CHARACTERS;
		find_function(&table->columns[i]);
	}
}

/*
 * Can a table's rows be sent as arrays? Arrays of numbers take half the time of rows; arrays of
 * other types would be too long.
 */
bool
emogi_decode_may_group(const EmogiRemoteTable *table)
{
	for (int i = 0; i < table->ncolumns; i++)
		if (table->columns[i].form != EMOGI_REMOTE_INTEGER &&
			table->columns[i].form != EMOGI_REMOTE_FLOAT4 &&
			table->columns[i].form != EMOGI_REMOTE_FLOAT8)
			return false;
	return !table->is_text;
}
