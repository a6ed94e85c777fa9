/*
 * key_io.c: conversion between vertices and the types that a function accepts and returns.
 *
 * A function has overloads in which its column `vertex` and its vertex arguments are bigint, text
 * or uuid. This must be the type of the graph's keys, or text, which represents keys of all types
 * by their text form.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "keys/keys.h"
#include "base/compat.h"

/* Length of the text form of a uuid. */
#define UUID_TEXT_BYTES 36

/* Limits of a numeric: digits before the decimal point, and characters from the point on. */
#define NUMERIC_DIGITS 131072
#define NUMERIC_DIGITS_AFTER 16384

/* Check whether keys of one type can be passed as values of another. */
bool
emogi_key_io_is_compatible(const EmogiKeyType *key, Oid type)
{
	return type == TEXTOID || type == key->type;
}

/* Get the kind of conversion of keys of a type. */
static EmogiKeyIOKind
kind_of(const EmogiKeyType *key, Oid type)
{
	if (type == TEXTOID && key->type != TEXTOID)
		return EMOGI_KEY_IO_TEXT;
	return key->class == EMOGI_KEY_INTEGER ? EMOGI_KEY_IO_INTEGER : EMOGI_KEY_IO_SAME_TYPE;
}

/*
 * Initialize a form in the current memory context: keys are passed as values of `type`, which must
 * fit.
 */
void
emogi_key_io_init(EmogiKeyIO *form, const EmogiKeyType *key, Oid type)
{
	Oid			function;
	bool		is_varlena;

	memset(form, 0, sizeof *form);
	form->kind = kind_of(key, type);
	form->type = type;
	if (form->kind == EMOGI_KEY_IO_INTEGER)
	{
		/* as emogi_key_coder_init does for int8 */
		form->coder = (EmogiKeyCoder) {.key = *key,.length = sizeof(int64),
									   .by_value = FLOAT8PASSBYVAL,.align = TYPALIGN_DOUBLE,
									   .context = CurrentMemoryContext};
		return;
	}
	emogi_key_coder_init(&form->coder, key);
	form->in_place = key->type == UUIDOID && key->class == EMOGI_KEY_BYTES;
	if (form->kind != EMOGI_KEY_IO_TEXT)
		return;
	getTypeOutputInfo(key->type, &function, &is_varlena);
	fmgr_info(function, &form->output);
	getTypeInputInfo(key->type, &function, &form->ioparam);
	fmgr_info(function, &form->input);
	form->typmod = form->coder.row != NULL ? emogi_row_coder_typmod(form->coder.row) : -1;
}

/* ---- output ---- */

/* Get the bytes of a graph's key that is not an integer. */
EmogiKeyBytes
emogi_key_io_key_bytes(const EmogiKeyIO *form, const EmogiGraph *graph, int64 id)
{
	return form->keys != NULL ? form->keys[id] : emogi_dictionary_key(graph->dictionary, id);
}

/*
 * Get the Datum of a graph's key, of the key's type. A value by reference is in the current memory
 * context or in the graph's dictionary.
 */
Datum
emogi_key_io_key(EmogiKeyIO *form, const EmogiGraph *graph, int64 id)
{
	EmogiKeyBytes bytes;

	if (form->coder.key.class == EMOGI_KEY_INTEGER)
		return Int64GetDatum(id);
	bytes = emogi_key_io_key_bytes(form, graph, id);
	return form->in_place ? PointerGetDatum(bytes.bytes) :
		emogi_key_coder_decode(&form->coder, bytes);
}

/* Get the columns of a graph's row key, in the current memory context. */
Datum *
emogi_key_io_key_columns(EmogiKeyIO *form, const EmogiGraph *graph, int64 id)
{
	return emogi_row_coder_values(form->coder.row, emogi_key_io_key_bytes(form, graph, id));
}

/*
 * Get a vertex of a graph as the caller's type. A value by reference is in the current memory
 * context or in the dictionary, and is valid while the call uses the graph.
 */
Datum
emogi_key_io_output(EmogiKeyIO *form, const EmogiGraph *graph, int64 id)
{
	switch (form->kind)
	{
		case EMOGI_KEY_IO_INTEGER:
			return Int64GetDatum(id);
		case EMOGI_KEY_IO_SAME_TYPE:
			return emogi_key_io_key(form, graph, id);
		case EMOGI_KEY_IO_TEXT:
			break;
	}
	return CStringGetTextDatum(OutputFunctionCall(&form->output,
												  emogi_key_io_key(form, graph, id)));
}

/* ---- input ---- */

/* Get an example of the text form of a row key. */
char *
emogi_key_io_example(const EmogiKeyType *key)
{
	StringInfoData sample;

	initStringInfo(&sample);
	for (int i = 0; i < key->nparts; i++)
		appendStringInfo(&sample, "%c%s", i == 0 ? '(' : ',',
						 key->parts[i].class == EMOGI_KEY_INTEGER ? "42" : "...");
	appendStringInfoChar(&sample, ')');
	return sample.data;
}

/* Error context callback: add a hint about valid input to errors of the type's input function. */
static void
explain_text(void *arg)
{
	const EmogiKeyIO *form = arg;

	if (ERRCODE_TO_CATEGORY(geterrcode()) != ERRCODE_DATA_EXCEPTION)
		return;
	if (form->coder.key.class == EMOGI_KEY_INTEGER)
		errhint("A vertex is a bigint: 42 or '42'. A function that takes several sources takes an "
				"array: ARRAY[1, 2] or '{1,2}'.");
	else if (form->coder.row != NULL)
		errhint("A vertex of this graph is a row %s in text form: %s.",
				emogi_key_type_name(&form->coder.key),
				quote_literal_cstr(emogi_key_io_example(&form->coder.key)));
	else
		errhint("The vertices of this graph are of type %s. A function that takes several sources "
				"takes an array: '{...}'::text[], and $1::text[] for a parameter.",
				format_type_be(form->coder.key.type));
}

/* Convert the caller's value to a key. Raises the errors of the type's input function. */
Datum
emogi_key_io_input(EmogiKeyIO *form, Datum given)
{
	ErrorContextCallback context = {
		.previous = error_context_stack,
		.callback = explain_text,
		.arg = form
	};
	char	   *string;
	Datum		key;

	if (form->kind != EMOGI_KEY_IO_TEXT)
		return given;
	string = TextDatumGetCString(given);
	error_context_stack = &context;
	key = InputFunctionCall(&form->input, string, form->ioparam, form->typmod);
	error_context_stack = context.previous;
	if (DatumGetPointer(key) != string)	/* the input function of cstring returns its argument */
		pfree(string);
	return key;
}

/* Check whether a key exceeds the maximum length of keys in a dictionary. */
static bool
is_too_long(const EmogiKeyIO *form, Datum key)
{
	if (form->coder.row != NULL)
		return emogi_row_coder_is_too_long(form->coder.row, key);
	return form->coder.length == -1 && form->coder.key.type != BPCHAROID &&
		toast_raw_datum_size(key) - VARHDRSZ > EMOGI_MAX_KEY_BYTES;
}

/*
 * Read text that is an array of integer keys, which begins with a brace; false if it is not. Raises
 * the errors of the input of arrays.
 */
bool
emogi_key_io_input_array(EmogiKeyIO *form, Datum given, Datum *array)
{
	ErrorContextCallback context = {
		.previous = error_context_stack,
		.callback = explain_text,
		.arg = form
	};
	char	   *string;

	if (form->kind != EMOGI_KEY_IO_TEXT || form->coder.key.class != EMOGI_KEY_INTEGER)
		return false;
	string = TextDatumGetCString(given);
	while (isspace((unsigned char) *string))
		string++;
	if (*string != '{')
		return false;
	error_context_stack = &context;
	*array = OidInputFunctionCall(F_ARRAY_IN, string, INT8OID, -1);
	error_context_stack = context.previous;
	return true;
}

/* Check whether a Datum can be a key: not too long, and not a row with a NULL. */
bool
emogi_key_io_has(EmogiKeyIO *form, Datum key)
{
	return form->coder.key.class == EMOGI_KEY_INTEGER ||
		!(emogi_key_coder_has_null(&form->coder, key) || is_too_long(form, key));
}

/*
 * Find the index of a key among the keys that were found without a graph; EMOGI_NO_CODE if it is
 * not there.
 */
static int64
find_place(EmogiKeyIO *form, Datum key)
{
	const EmogiKeyBytes bytes = emogi_key_coder_encode(&form->coder, key);
	uint64		first = 0;
	uint64		end = form->nkeys;

	while (first < end)
	{
		const uint64 middle = first + (end - first) / 2;
		const int	order = emogi_key_coder_compare(&form->coder, form->keys[middle], bytes);

		if (order == 0)
			return (int64) middle;
		if (order < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return EMOGI_NO_CODE;
}

/* Prefetch what emogi_key_io_find reads first, if the key is a text. */
void
emogi_key_io_prefetch(EmogiKeyIO *form, const EmogiGraph *graph, Datum key)
{
	const struct varlena *text = (const struct varlena *) DatumGetPointer(key);

	if (form->coder.key.type == TEXTOID && graph->dictionary != NULL &&
		!VARATT_IS_COMPRESSED(text) && !VARATT_IS_EXTERNAL(text) && emogi_key_io_has(form, key))
		emogi_dictionary_prefetch_find(graph->dictionary,
									   emogi_key_coder_encode(&form->coder, key));
}

/*
 * Get the id of a key in a graph; EMOGI_NO_CODE if the dictionary does not have it, or it is a row
 * with a NULL. An integer is not necessarily a vertex.
 */
int64
emogi_key_io_find(EmogiKeyIO *form, const EmogiGraph *graph, Datum key)
{
	if (form->coder.key.class == EMOGI_KEY_INTEGER)
		return DatumGetInt64(key);
	if (!emogi_key_io_has(form, key))
		return EMOGI_NO_CODE;
	if (form->keys != NULL)
		return find_place(form, key);
	if (graph->dictionary == NULL)
		elog(ERROR, "a graph of %llu vertices has no dictionary",
			 (unsigned long long) graph->nvertices);
	return emogi_key_coder_find(&form->coder, graph->dictionary, key);
}

/*
 * Convert the caller's value to an id in a graph; false if the dictionary does not have it. Raises
 * the errors of emogi_key_io_input.
 */
bool
emogi_key_io_input_id(EmogiKeyIO *form, const EmogiGraph *graph, Datum given, int64 *id)
{
	*id = emogi_key_io_find(form, graph, emogi_key_io_input(form, given));
	return form->coder.key.class == EMOGI_KEY_INTEGER || *id != EMOGI_NO_CODE;
}

/* ---- equality lookups, by the equality of the form's type ---- */

/*
 * Check whether emogi_key_io_lookup supports vertices in this form. In text form, this is not
 * possible for every type.
 */
bool
emogi_key_io_can_lookup(const EmogiKeyType *key, Oid type)
{
	return kind_of(key, type) != EMOGI_KEY_IO_TEXT || key->class == EMOGI_KEY_INTEGER ||
		key->type == UUIDOID || key->type == NUMERICOID || key->type == BPCHAROID;
}

/*
 * Check whether vertices of a type with a collation (or without) are in the order of that type if
 * they are in the order of keys.
 */
bool
emogi_key_io_keeps_order(const EmogiKeyType *key, Oid type, Oid collation)
{
	if (!OidIsValid(collation))
		return emogi_key_io_is_compatible(key, type);
	return key->type == type && OidIsValid(key->collation) &&
		(key->collation == collation ||
		 (emogi_compat_collates_bytes(key->collation) && emogi_compat_collates_bytes(collation)));
}

/*
 * Check whether different keys of a type have different text forms under all settings. Floats and
 * times with a time zone may not.
 */
static bool
has_distinct_texts(Oid type, EmogiKeyClass class)
{
	switch (type)
	{
		case TEXTOID:
		case UUIDOID:
		case BPCHAROID:
		case NUMERICOID:
		case NAMEOID:
		case BYTEAOID:
		case DATEOID:
			return true;
		default:
			return class == EMOGI_KEY_INTEGER || get_typtype(type) == TYPTYPE_ENUM;
	}
}

/* Check whether different keys give different values of a type. */
bool
emogi_key_io_is_injective(const EmogiKeyType *key, Oid type)
{
	if (kind_of(key, type) != EMOGI_KEY_IO_TEXT && key->type != TEXTOID)
		return true;
	for (int i = 0; i < key->nparts; i++)
		if (!has_distinct_texts(key->parts[i].type, key->parts[i].class))
			return false;
	return key->nparts > 0 || has_distinct_texts(key->type, key->class);
}

/*
 * Parse an integer in the canonical form that the server prints; false if it is not in this form.
 */
static bool
read_integer(const char *text, int length, int64 *value)
{
	const bool	negative = length > 0 && text[0] == '-';
	const int	first = negative ? 1 : 0;
	int64		result = 0;

	if (length == first || length > 20 || (text[first] == '0' && length > 1))
		return false;
	for (int i = first; i < length; i++)
	{
		const int	digit = text[i] - '0';

		if (digit < 0 || digit > 9 || __builtin_mul_overflow(result, 10, &result) ||
			__builtin_sub_overflow(result, digit, &result))
			return false;
	}
	if (!negative && result == PG_INT64_MIN)
		return false;
	*value = negative ? result : -result;
	return true;
}

/* Likewise for a uuid. */
static bool
read_uuid(const char *text, int length, pg_uuid_t *uuid)
{
	int			n = 0;

	if (length != UUID_TEXT_BYTES)
		return false;
	memset(uuid, 0, sizeof *uuid);
	for (int i = 0; i < UUID_TEXT_BYTES; i++)
	{
		const char	c = text[i];
		const bool	is_digit = c >= '0' && c <= '9';

		if (i == 8 || i == 13 || i == 18 || i == 23)
		{
			if (c != '-')
				return false;
			continue;
		}
		if (!is_digit && (c < 'a' || c > 'f'))
			return false;
		uuid->data[n / 2] = (unsigned char) (uuid->data[n / 2] << 4 |
											 (is_digit ? c - '0' : c - 'a' + 10));
		n++;
	}
	return true;
}

/* Is this the text form of a numeric that is no finite number? */
static bool
is_special_numeric(const char *text, int length)
{
	return (length == 3 && memcmp(text, "NaN", 3) == 0) ||
		(length == 8 && memcmp(text, "Infinity", 8) == 0) ||
		(length == 9 && memcmp(text, "-Infinity", 9) == 0);
}

/*
 * The same of a numeric: digits, perhaps with a point between them. There is none of more digits
 * than are looked at.
 */
static bool
read_numeric(const char *text, int length, Datum *numeric)
{
	const int	first = length > 0 && text[0] == '-' ? 1 : 0;
	const char *point = memchr(text, '.', length);
	const int	whole = point != NULL ? (int) (point - text) : length;

	if (!is_special_numeric(text, length))
	{
		if (whole == first || whole == length - 1 || whole > NUMERIC_DIGITS ||
			length - whole > NUMERIC_DIGITS_AFTER)
			return false;
		for (int i = first; i < length; i++)
			if (i != whole && (text[i] < '0' || text[i] > '9'))
				return false;
	}
	*numeric = DirectFunctionCall3(numeric_in, CStringGetDatum(pnstrdup(text, length)),
								   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return true;
}

/*
 * Get the key that equals a value of the form's type, if emogi_key_io_can_lookup, in the current
 * memory context; false if there is none. Does not raise errors because of the value.
 */
bool
emogi_key_io_lookup_key(const EmogiKeyIO *form, Datum given, Datum *key)
{
	text	   *value;
	pg_uuid_t  *uuid;
	int64		integer;
	bool		found;

	*key = given;
	if (form->kind != EMOGI_KEY_IO_TEXT)
		return true;
	value = DatumGetTextPP(given);
	if (form->coder.key.class == EMOGI_KEY_INTEGER)
	{
		found = read_integer(VARDATA_ANY(value), (int) VARSIZE_ANY_EXHDR(value), &integer);
		*key = found ? Int64GetDatum(integer) : (Datum) 0;
		return found;
	}
	if (form->coder.key.type == BPCHAROID)
		return true;
	if (form->coder.key.type == NUMERICOID)
		return read_numeric(VARDATA_ANY(value), (int) VARSIZE_ANY_EXHDR(value), key);
	uuid = palloc(sizeof *uuid);
	*key = UUIDPGetDatum(uuid);
	return read_uuid(VARDATA_ANY(value), (int) VARSIZE_ANY_EXHDR(value), uuid);
}

/*
 * Get the id of the vertex that equals a value of the form's type, if emogi_key_io_can_lookup;
 * false if there is none. The vertex found may be different from the value, so recheck. Does not
 * raise errors because of the value.
 */
bool
emogi_key_io_lookup(EmogiKeyIO *form, const EmogiGraph *graph, Datum given, int64 *id)
{
	Datum		key;

	if (!emogi_key_io_lookup_key(form, given, &key))
		return false;
	*id = emogi_key_io_find(form, graph, key);
	return form->coder.key.class == EMOGI_KEY_INTEGER || *id != EMOGI_NO_CODE;
}

/* ---- error messages ---- */

/* Get the text form of a key. */
char *
emogi_key_io_key_text(const EmogiKeyType *key, Datum datum)
{
	Oid			function;
	bool		is_varlena;

	getTypeOutputInfo(key->type, &function, &is_varlena);
	return OidOutputFunctionCall(function, datum);
}

/* Get the text form of a vertex, whose id is one of a graph or of the form's own keys. */
char *
emogi_key_io_text(const EmogiKeyIO *form, const EmogiGraph *graph, int64 id)
{
	const EmogiKeyType *key = &form->coder.key;
	EmogiKeyIO	own;

	if (key->class == EMOGI_KEY_INTEGER)
		return psprintf(INT64_FORMAT, id);
	emogi_key_io_init(&own, key, key->type);
	own.keys = form->keys;
	own.nkeys = form->nkeys;
	return emogi_key_io_key_text(key, emogi_key_io_key(&own, graph, id));
}
