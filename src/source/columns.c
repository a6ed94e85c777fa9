/*
 * columns.c: the columns that make an edge, as a list in text: 'a, b', 'a, b, weight', 'a, b, cost,
 * reverse_cost, id', '(a1, a2), (b1, b2), weight'
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "source/source.h"

/*
 * Does the text consist only of identifiers, quoted or not, separated by `separator`? White space
 * around them is allowed.
 */
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

/*
 * Find the comma that ends a list item, outside quotes and parentheses; the end of the text if
 * there is none.
 */
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

/*
 * Parse a list item, one column or several in parentheses, into a list of names; return false if it
 * is neither.
 */
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
	return emogi_columns_are_identifiers(item, is_row ? ',' : '\0') &&
		SplitIdentifierString(item, ',', names) &&
		(!is_row || list_length(*names) > 1);
}

/* Are all items of a list except the two ends single columns? */
static bool
are_single(List *lists)
{
	for (int i = 2; i < list_length(lists); i++)
		if (list_length(list_nth(lists, i)) > 1)
			return false;
	return true;
}

/*
 * Split a list of the two ends of an edge and, optionally, its weight, reverse weight and name into
 * a list of lists of names; return false if it is no such list.
 */
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
	if (list_length(lists) < 2 || list_length(lists) > 5 || !are_single(lists))
		return false;
	*columns = lists;
	return true;
}

/* Get the name of a list item that is a single column; NULL if the list is shorter. */
static const char *
single(List *columns, int item)
{
	return list_length(columns) > item ? linitial(list_nth(columns, item)) : NULL;
}

/* Get the column of the weight; NULL = none. */
const char *
emogi_columns_weight(List *columns)
{
	return single(columns, 2);
}

/* Is this the name of a reverse weight? */
static bool
is_reverse(const char *name)
{
	return strcmp(name, "reverse_cost") == 0 || strcmp(name, "reverse_capacity") == 0;
}

/*
 * Get the column of the reverse weight: the fourth of five, or the fourth of four if it is named
 * reverse_cost or reverse_capacity; NULL = none.
 */
const char *
emogi_columns_reverse(List *columns)
{
	const char *fourth = single(columns, 3);

	return list_length(columns) == 5 || (fourth != NULL && is_reverse(fourth)) ?
		fourth : NULL;
}

/*
 * Get the column of the edge's name: the fifth of five, or the fourth of four if it is not the
 * reverse weight; NULL = none.
 */
const char *
emogi_columns_edge(List *columns)
{
	return list_length(columns) == 5 ? single(columns, 4) :
		emogi_columns_reverse(columns) == NULL ? single(columns, 3) : NULL;
}

/* Does an end have several columns? */
bool
emogi_columns_have_rows(List *columns)
{
	return columns != NIL &&
		(list_length(linitial(columns)) > 1 || list_length(lsecond(columns)) > 1);
}

/* Can values of this type be weights? */
bool
emogi_columns_can_be_weights(Oid type)
{
	switch (getBaseType(type))
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
			return true;
		default:
			return false;
	}
}
