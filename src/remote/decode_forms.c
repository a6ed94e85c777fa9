/*
 * decode_forms.c: in what form a table's values come.
 *
 * In binary form they are taken as they are where the type there is the one here and the form is
 * the same in all versions, or where both are integers. Else COPY sends text, and the type's input
 * function takes that, as postgres_fdw does it: a type of the same name may be another one there.
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

/* Is a type's binary form the same in all versions, and free of settings? */
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
 * Find out how a column's values come in a binary COPY, far_type being its type there; false when
 * they cannot.
 */
static bool
choose_form(EmogiRemoteColumn *column, Oid far_type)
{
	if (is_integer(column->type) && is_integer(far_type))
		column->form = EMOGI_REMOTE_INTEGER;
	else if (column->type != far_type)
		return false;
	else if (far_type == FLOAT4OID)
		column->form = EMOGI_REMOTE_FLOAT4;
	else if (far_type == FLOAT8OID)
		column->form = EMOGI_REMOTE_FLOAT8;
	else if (is_received(far_type))
		column->form = EMOGI_REMOTE_RECEIVED;
	else if (far_type == TEXTOID || far_type == VARCHAROID || far_type == BPCHAROID ||
			 far_type == NAMEOID)
		column->form = EMOGI_REMOTE_CHARACTERS;
	else
		return false;
	return true;
}

/* Find the function that makes a column's values. */
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

/* Find out how a table's values come. types: [ncolumns], there; binary: they may come so. */
void
emogi_decode_choose_forms(EmogiRemoteTable *table, const Oid *types, bool binary)
{
	table->is_text = !binary;
	for (int i = 0; i < table->ncolumns; i++)
	{
		table->columns[i].far_type = types[i];
		table->is_text = table->is_text || !choose_form(&table->columns[i], types[i]);
	}
	for (int i = 0; i < table->ncolumns; i++)
	{
		if (table->is_text)
			table->columns[i].form = EMOGI_REMOTE_CHARACTERS;
		find_function(&table->columns[i]);
	}
}

/*
 * May a table's rows come in arrays? Those of numbers are sent in half the time of rows, and others
 * are too long.
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
