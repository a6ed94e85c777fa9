/*
 * params.c: values for the parameters $1, $2 ... of query text
 *
 * They replace the parameters as literals, where PostgreSQL's own lexer finds a parameter. A
 * literal takes its type from the query, as a parameter does, and its content stays inside the
 * literal. So a value is part of everything derived from the text, including its cache key. Values
 * that are not strings are cast to their types, and written so that they are read as the same
 * values under any settings.
 */
#include "postgres.h"

#include <limits.h>

#include "catalog/pg_type.h"
#include "common/keywords.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "parser/scanner.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "base/compat.h"
#include "source/source.h"

/* Maximum length of a value of type text. */
#define EMOGI_MAX_QUERY_BYTES ((int) (MaxAllocSize - VARHDRSZ - 1))

/*
 * Settings that output functions read, with values under which the output is the same in every
 * session and can be read in every session.
 */
static const struct
{
	const char *name;
	const char *value;
}			canonical[] = {
	{"DateStyle", "ISO"},
	{"IntervalStyle", "postgres"},
	{"extra_float_digits", "3"},
	{"bytea_output", "hex"},
	{"TimeZone", "UTC"},
	{"search_path", "pg_catalog"},
};

/*
 * Return true if values of this type become untyped literals, which take their type from the query.
 */
static bool
is_string_type(Oid type)
{
	const Oid	base = getBaseType(type);

	return base == UNKNOWNOID || base == TEXTOID || base == VARCHAROID || base == BPCHAROID ||
		base == NAMEOID;
}

/*
 * Return true if a type's output function is known to read no setting. False for arrays, which is
 * slower but safe.
 */
static bool
ignores_settings(Oid type)
{
	return is_string_type(type) || type == INT2OID || type == INT4OID || type == INT8OID ||
		type == BOOLOID || type == NUMERICOID || type == UUIDOID;
}

/* Set the canonical settings until AtEOXact_GUC; return the nest level for it. */
static int
set_canonical(void)
{
	const int	level = NewGUCNestLevel();

	for (int i = 0; i < (int) lengthof(canonical); i++)
		(void) set_config_option(canonical[i].name, canonical[i].value, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

/* Raise 54000 for text that exceeds the type text. */
static void
report_too_long(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("the query with its values is too long"),
			 errdetail("The text can have at most %d bytes.", EMOGI_MAX_QUERY_BYTES),
			 errhint("Put large values into a table, and let the query read it.")));
}

/*
 * Get the text of a value under canonical settings. Raises 42804 for a type that has no literals.
 */
static char *
write_value(const EmogiParamValue *value, int number)
{
	Oid			function;
	bool		varlena;
	int			level;
	char	   *text;

	if (get_typtype(value->type) == TYPTYPE_PSEUDO && value->type != UNKNOWNOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the value of $%d is of the pseudo-type %s, which has no literals", number,
						format_type_be(value->type)),
				 errhint("Cast it to another type, or pass it as text.")));
	if (value->isnull)
		return NULL;
	getTypeOutputInfo(value->type, &function, &varlena);
	if (ignores_settings(value->type))
		return OidOutputFunctionCall(function, value->value);
	level = set_canonical();
	text = OidOutputFunctionCall(function, value->value);
	AtEOXact_GUC(true, level);
	return text;
}

/*
 * Get a value as a literal. Strings are untyped. Others are cast to their types, in parentheses so
 * that a subscript may follow. Blanks separate it from the text around it: U&$1 must not become
 * U&'...'.
 */
static char *
make_literal(const EmogiParamValue *value, int number)
{
	char	   *text = write_value(value, number);

	/* blanks at the end of char(n) do not count, but would as text */
	if (text != NULL && getBaseType(value->type) == BPCHAROID)
		text = pnstrdup(text, bpchartruelen(text, (int) strlen(text)));
	/* quoting may double every byte */
	if (text != NULL && strlen(text) > EMOGI_MAX_QUERY_BYTES / 2 - 64)
		report_too_long();
	text = text != NULL ? quote_literal_cstr(text) : pstrdup("NULL");
	if (is_string_type(value->type))
		return psprintf(" %s ", text);
	return psprintf(" (%s::%s) ", text,
					format_type_extended(value->type, -1,
										 FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY));
}

/* Raise 42P02 for a parameter that has no value. */
static void
report_missing(const char *token, int length, int nvalues)
{
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_PARAMETER),
			 errmsg("there is no parameter %.*s", length, token),
			 errdetail_plural("There is %d value.", "There are %d values.", nvalues, nvalues)));
}

/*
 * Return the length of a token if it is a parameter, and its number, INT_MAX if out of range; 0 if
 * it is none. Only parameters begin with $ and a digit.
 */
static int
parameter_length(const char *token, int *number)
{
	char	   *end;
	long		value;

	if (token[0] != '$' || !isdigit((unsigned char) token[1]))
		return 0;
	value = strtol(token + 1, &end, 10);
	*number = value > 0 && value < INT_MAX ? (int) value : INT_MAX;
	return (int) (end - token);
}

/* Does a token compare what stands beside it? */
static bool
is_comparison(const char *token)
{
	static const char *const operators[] = {"<>", "!=", "<=", ">=", "=", "<", ">"};

	for (int i = 0; i < (int) lengthof(operators); i++)
		if (strncmp(token, operators[i], strlen(operators[i])) == 0)
			return true;
	return false;
}

/* Warn of a comparison of two parameters, which is the same for all rows. */
static void
warn_of_comparison(int number, int other)
{
	ereport(WARNING,
			(errmsg("parameters $%d and $%d are compared with each other", number, other),
			 errdetail("A parameter is a value, and not the name of a column."),
			 errhint("Write the name of the column into the query: format('SELECT src, dst FROM "
					 "edges WHERE %%I = $1', name).")));
}

/*
 * Find the parameters in a query; set their number. Raises 42P02 for one without a value, and 42601
 * for invalid SQL.
 */
static EmogiParamPlace *
find_parameters(const char *query, int nvalues, int *nparameters)
{
	core_yy_extra_type extra;
	uint16	   *words = palloc0(ScanKeywords.num_keywords * sizeof(uint16));
	core_yyscan_t scanner;
	core_YYSTYPE value;
	YYLTYPE		place = 0;
	int			size = 16;
	EmogiParamPlace *parameters = palloc(size * sizeof(EmogiParamPlace));
	int			before[2] = {0, 0};	/* numbers of the last two tokens; 0 = no parameter */
	bool		is_compared = false;

	/* the keyword codes do not matter, but 0 would mean end of input */
	for (int i = 0; i < ScanKeywords.num_keywords; i++)
		words[i] = 1000;
	*nparameters = 0;
	scanner = scanner_init(query, &extra, &ScanKeywords, words);
	emogi_compat_accept_backslashes(&extra);
	while (core_yylex(&value, &place, scanner) != 0)
	{
		int			number = 0;
		int			length = parameter_length(query + place, &number);

		CHECK_FOR_INTERRUPTS();
		if (length > 0 && is_compared && before[0] > 0)
			warn_of_comparison(before[0], number);
		is_compared = length == 0 && is_comparison(query + place);
		before[0] = before[1];
		before[1] = length > 0 ? number : 0;
		if (length == 0)
			continue;
		if (number > nvalues)
			report_missing(query + place, length, nvalues);
		if (*nparameters == size)
			parameters = repalloc_huge(parameters, (size_t) (size *= 2) * sizeof(EmogiParamPlace));
		parameters[(*nparameters)++] =
			(EmogiParamPlace) {.place = place,.length = length,.number = number};
	}
	scanner_finish(scanner);
	return parameters;
}

/*
 * Copy text with literals in place of its parameters, and note their lengths. Raises 54000 before
 * allocating too much.
 */
static char *
copy_text(const char *text, EmogiParamPlaces *places, char *const *literals)
{
	uint64		length = strlen(text);
	int			copied = 0;
	StringInfoData copy;

	for (int i = 0; i < places->nplaces; i++)
	{
		EmogiParamPlace *place = &places->places[i];

		place->written = (int) strlen(literals[place->number - 1]);
		length += place->written - place->length;
	}
	if (length > EMOGI_MAX_QUERY_BYTES)
		report_too_long();
	initStringInfo(&copy);
	enlargeStringInfo(&copy, (int) length);
	for (int i = 0; i < places->nplaces; i++)
	{
		const EmogiParamPlace *place = &places->places[i];

		appendBinaryStringInfo(&copy, text + copied, place->place - copied);
		appendStringInfoString(&copy, literals[place->number - 1]);
		copied = place->place + place->length;
	}
	appendStringInfoString(&copy, text + copied);
	return copy.data;
}

/*
 * Get text with values in place of its parameters, and their places. what: the text, in errors.
 * explain: error context callback for errors of the text, and its argument. Raises 42P02 for too
 * few values, 08P01 for too many, 42601, 42804, 54000.
 */
char *
emogi_params_put(const char *text, const char *what, void (*explain) (void *), void *arg,
				 const EmogiParamValue *values, int nvalues, EmogiParamPlaces *places)
{
	ErrorContextCallback context = {.previous = error_context_stack,.callback = explain,
									.arg = arg};
	char	  **literals = palloc(Max(nvalues, 1) * sizeof(char *));
	int			highest = 0;

	error_context_stack = &context;
	places->places = find_parameters(text, nvalues, &places->nplaces);
	error_context_stack = context.previous;
	for (int i = 0; i < places->nplaces; i++)
		highest = Max(highest, places->places[i].number);
	if (highest < nvalues)
		ereport(ERROR,
				(errcode(ERRCODE_PROTOCOL_VIOLATION),
				 errmsg("wrong number of values for the parameters of %s: %d, not %d", what,
						nvalues, highest),
				 errhint("Pass one value for each of $1, $2 and so on in the text, where they are "
						 "written without quotes.")));
	for (int i = 0; i < nvalues; i++)
		literals[i] = make_literal(&values[i], i + 1);
	return copy_text(text, places, literals);
}

/*
 * Get query text with values in place of its parameters. Raises 42P02 for too few values, 08P01 for
 * too many, 22023 if the text is neither a query nor a relation with a condition, 42804 for a value
 * without a literal form, and 54000 if the text becomes too long.
 */
char *
emogi_params_substitute(char *query, const EmogiParamValue *values, int nvalues)
{
	EmogiParamPlaces places;
	char	   *relation;
	const char *condition;

	if (!emogi_graph_grammar_is_query(query) &&
		!emogi_graph_grammar_split_where(query, &relation, &condition))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is not a query", query),
				 errhint("Pass a query and its values: emogi_query('SELECT src, dst FROM edges "
						 "WHERE kind = $1', 'road'). A relation needs only its name.")));
	return emogi_params_put(query, "the query", emogi_query_explain_text, query, values, nvalues,
							&places);
}
