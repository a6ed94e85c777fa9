/*
 * pair_values.c: pairs of vertices read from the text of a list of integers, VALUES (1, 2), (3, 4)
 *
 * Such text has one meaning, whatever the search path, the settings and the rights are. It is read
 * here, because parsing and planning it costs more than to search a pair. All other text, even if
 * it differs by a comment or a cast only, is run as a query.
 */
#include "postgres.h"

#include "miscadmin.h"

#include "function/function.h"

#define PAIRS_PER_CHECK 65536

/* Skip what separates tokens, but for comments. */
static const char *
skip_space(const char *text)
{
	return text + strspn(text, " \t\n\r\f");
}

/* Skip a character, and space around it; return NULL if it is not there. */
static const char *
skip(const char *text, char expected)
{
	text = skip_space(text);
	return *text == expected ? skip_space(text + 1) : NULL;
}

/*
 * Read an integer of 8 bytes, perhaps negative. Return the text behind it, or NULL if there is
 * none.
 */
static const char *
read_integer(const char *text, int64 *value)
{
	const char *digits = *text == '-' ? skip_space(text + 1) : text;
	const size_t length = strspn(digits, "0123456789");
	const uint64 max = *text == '-' ? (uint64) PG_INT64_MAX + 1 : PG_INT64_MAX;
	uint64		number = 0;

	if (length == 0 || strchr(" \t\n\r\f,)", digits[length]) == NULL)
		return NULL;
	for (size_t i = 0; i < length; i++)
	{
		const uint64 digit = digits[i] - '0';

		if (number > (max - digit) / 10)
			return NULL;
		number = 10 * number + digit;
	}
	*value = *text == '-' ? (int64) (0 - number) : (int64) number;
	return digits + length;
}

/* Read a row of two integers. Return the text behind it, or NULL if there is none. */
static const char *
read_row(const char *text, int64 *first, int64 *second)
{
	text = skip(text, '(');
	text = text != NULL ? read_integer(text, first) : NULL;
	text = text != NULL ? skip(text, ',') : NULL;
	text = text != NULL ? read_integer(text, second) : NULL;
	return text != NULL ? skip(text, ')') : NULL;
}

/*
 * Call a function for each pair of a list of integers, in its order; take NULL = none. Return false
 * if the text is anything else; the function may have been called then.
 */
bool
emogi_pair_values_read(const char *query, EmogiTakePair take, void *arg)
{
	static const char keyword[] = "VALUES";
	const char *text = skip_space(query);

	if (pg_strncasecmp(text, keyword, strlen(keyword)) != 0)
		return false;
	text += strlen(keyword);
	for (uint64 i = 1;; i++)
	{
		int64		first;
		int64		second;

		text = read_row(text, &first, &second);
		if (text == NULL)
			return false;
		if (take != NULL)
			take(arg, first, second);
		if (i % PAIRS_PER_CHECK == 0)
			CHECK_FOR_INTERRUPTS();
		if (*text != ',')
			break;
		text++;
	}
	if (*text == ';')
		text = skip_space(text + 1);
	return *text == '\0';
}
