/*
 * params.c: values for the parameters $1, $2 ... of query text.
 *
 * They are put into the text as literals, where PostgreSQL's own lexer finds a parameter. A literal takes the type that the query has
 * for it, as a parameter does, and whatever stands in it stays a literal. So a value is part of all that is made of the text, its key
 * in the cache included.
 */
#include "postgres.h"

#include <limits.h>

#include "catalog/pg_type.h"
#include "common/keywords.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "parser/scanner.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "source/source.h"

/* Add a value as a literal. Blanks keep it apart: U&$1 must not become U&'...'. A parameter may stand in the text many times. */
static void
add_literal(StringInfo out, Datum value, bool isnull)
{
	char	   *string = isnull ? pstrdup("NULL") : TextDatumGetCString(value);
	char	   *literal = isnull ? string : quote_literal_cstr(string);

	appendStringInfo(out, " %s ", literal);
	if (literal != string)
		pfree(literal);
	pfree(string);
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

/* Get the length of a token that is a parameter, and its number, INT_MAX for all that cannot be; 0 when it is none: only those begin with $ and a digit. */
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

/* Copy text with literals in place of parameters; get the highest number of those. Raises 42P02, and 42601 for what is no SQL. */
static int
copy_text(const char *query, const Datum *values, const bool *nulls, int nvalues, StringInfo text)
{
	core_yy_extra_type extra;
	uint16	   *words = palloc0(ScanKeywords.num_keywords * sizeof(uint16));
	core_yyscan_t scanner;
	core_YYSTYPE value;
	YYLTYPE		place = 0;
	int			copied = 0;
	int			highest = 0;

	/* which word is which is of no interest, but 0 would be the end */
	for (int i = 0; i < ScanKeywords.num_keywords; i++)
		words[i] = 1000;
	scanner = scanner_init(query, &extra, &ScanKeywords, words);
	extra.escape_string_warning = false;
	while (core_yylex(&value, &place, scanner) != 0)
	{
		int			number;
		int			length = parameter_length(query + place, &number);

		CHECK_FOR_INTERRUPTS();
		if (length == 0)
			continue;
		if (number > nvalues)
			report_missing(query + place, length, nvalues);
		highest = Max(highest, number);
		appendBinaryStringInfo(text, query + copied, place - copied);
		add_literal(text, values[number - 1], nulls[number - 1]);
		copied = place + length;
	}
	scanner_finish(scanner);
	appendStringInfoString(text, query + copied);
	return highest;
}

/*
 * Get query text with values in place of its parameters. params: text[]; NULL = none. Raises 42P02 for too few of them, 08P01 for too
 * many, 22023 when the text is no query.
 */
char *
emogi_params_put(char *query, ArrayType *params)
{
	ErrorContextCallback context = {.previous = error_context_stack,.callback = emogi_query_explain_text,.arg = query};
	const EmogiGraphArgument graph = {.text = query};
	StringInfoData text;
	Datum	   *values = NULL;
	bool	   *nulls = NULL;
	int			nvalues = 0;
	int			highest;

	if (!emogi_source_is_query(&graph))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"%s\" is no query", query),
				 errhint("Parameters are those of a query: emogi_query('SELECT src, dst FROM edges WHERE kind = $1', 'road'). A relation is given by its name alone.")));
	if (params != NULL)
		deconstruct_array(params, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &nvalues);
	initStringInfo(&text);
	error_context_stack = &context;
	highest = copy_text(query, values, nulls, nvalues, &text);
	error_context_stack = context.previous;
	if (highest < nvalues)
		ereport(ERROR,
				(errcode(ERRCODE_PROTOCOL_VIOLATION),
				 errmsg("wrong number of values for the parameters of the query: %d, not %d", nvalues, highest),
				 errhint("Give one for each of $1, $2 and so on in the text.")));
	return text.data;
}
