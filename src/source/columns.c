/*
 * columns.c: the columns that make an edge, as a list in text: 'a, b', 'a, b, weight', '(a1, a2), (b1, b2), weight'.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

#include "source/source.h"

/* Is this nothing but identifiers, quoted or not, with `separator` between them? Blanks may stand around them. */
bool
emogi_columns_are_identifiers(const char *p, char separator)
{
	for (;;)
	{
		const char *start;

		while (isspace((unsigned char) *p))
			p++;
		start = p;
		if (*p == '"')
		{
			while (*++p != '\0' && (*p != '"' || *++p == '"'))
				;
			if (p - start <= 2 || p[-1] != '"')
				return false;
		}
		else if (!isdigit((unsigned char) *p) && *p != '$')
			while (isalnum((unsigned char) *p) || *p == '_' || *p == '$' || IS_HIGHBIT_SET(*p))
				p++;
		if (p == start)
			return false;
		while (isspace((unsigned char) *p))
			p++;
		if (*p == '\0')
			return true;
		if (*p++ != separator)
			return false;
	}
}

/* Find the comma that ends an item of a list, outside quotes and parentheses; the end of the text when there is none. */
static char *
find_comma(char *p)
{
	bool		quoted = false;
	int			depth = 0;

	for (; *p != '\0'; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (!quoted && *p == '(')
			depth++;
		else if (!quoted && *p == ')')
			depth--;
		else if (!quoted && *p == ',' && depth == 0)
			break;
	}
	return p;
}

/* Read an item of a list, one column or several in parentheses, into a list of names; false when it is neither. */
static bool
read_item(char *item, List **names)
{
	char	   *end = item + strlen(item);
	bool		is_row;

	while (isspace((unsigned char) *item))
		item++;
	while (end > item && isspace((unsigned char) end[-1]))
		*--end = '\0';
	is_row = *item == '(';
	if (is_row)
	{
		if (end - item < 2 || end[-1] != ')')
			return false;
		end[-1] = '\0';
		item++;
	}
	return emogi_columns_are_identifiers(item, is_row ? ',' : '\0') && SplitIdentifierString(item, ',', names) &&
		(!is_row || list_length(*names) > 1);
}

/* Cut a list of the two ends of an edge, and its weight if there is one, into a list of lists of names; false when it is no such list. */
bool
emogi_columns_split(const char *text, List **columns)
{
	char	   *item = pstrdup(text);
	List	   *lists = NIL;

	for (;;)
	{
		char	   *end = find_comma(item);
		bool		is_last = *end == '\0';
		List	   *names;

		*end = '\0';
		if (!read_item(item, &names))
			return false;
		lists = lappend(lists, names);
		if (is_last)
			break;
		item = end + 1;
	}
	if (list_length(lists) < 2 || list_length(lists) > 3 || (list_length(lists) == 3 && list_length(lthird(lists)) > 1))
		return false;
	*columns = lists;
	return true;
}

/* Is an end of several columns? */
bool
emogi_columns_have_rows(List *columns)
{
	return columns != NIL && (list_length(linitial(columns)) > 1 || list_length(lsecond(columns)) > 1);
}
