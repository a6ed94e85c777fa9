/*
 * forms.c: the forms that the text of a graph argument may have.
 *
 *   'edges'  'schema."Edges"'                 a relation; its columns by name: src,dst or source,target
 *   'roads(from_node, to_node[, km])'         a relation with the columns named
 *   'roads((town, a), (town, b)[, km])'       likewise, several to an end
 *   'SELECT a, b[, w] FROM ...'               a query (also WITH, VALUES, TABLE, or one in parentheses)
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/value.h"
#include "utils/builtins.h"
#include "utils/varlena.h"

#include "source/source.h"

/* Skip blanks, comments and opening parentheses. */
static const char *
skip_to_word(const char *p)
{
	for (;;)
	{
		if (isspace((unsigned char) *p) || *p == '(')
			p++;
		else if (p[0] == '-' && p[1] == '-')
			p += strcspn(p, "\n\r");
		else if (p[0] == '/' && p[1] == '*')
		{
			int			depth = 0;

			do
			{
				if (p[0] == '/' && p[1] == '*')
				{
					depth++;
					p += 2;
				}
				else if (p[0] == '*' && p[1] == '/')
				{
					depth--;
					p += 2;
				}
				else
					p++;
			} while (depth > 0 && *p != '\0');
		}
		else
			return p;
	}
}

/* Is this the text of a query? Its first word, reserved in SQL, tells. */
bool
emogi_forms_is_query(const char *graph)
{
	static const char *const words[] = {"select", "with", "values", "table"};
	const char *word = skip_to_word(graph);

	for (int i = 0; i < (int) lengthof(words); i++)
	{
		size_t		length = strlen(words[i]);
		unsigned char after;

		if (pg_strncasecmp(word, words[i], length) != 0)
			continue;
		after = (unsigned char) word[length];
		if (!isalnum(after) && after != '_' && after != '$' && !IS_HIGHBIT_SET(after))
			return true;
	}
	return false;
}

/* Find the parenthesis that opens the column list, outside quoted identifiers; NULL when there is none. */
static char *
find_column_list(char *text)
{
	bool		quoted = false;

	for (char *p = text; *p != '\0'; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '(' && !quoted)
			return p;
	}
	return NULL;
}

/* Cut 'rel(list)' into a qualified name and the text of the list (NULL when none is given); false when it is of no known form. */
bool
emogi_forms_split(const char *relation, List **name, char **list)
{
	char	   *text = pstrdup(relation);
	char	   *open = find_column_list(text);
	List	   *parts;
	ListCell   *cell;

	*name = NIL;
	*list = NULL;
	if (open != NULL)
	{
		char	   *close = open + strlen(open) - 1;

		while (close > open && isspace((unsigned char) *close))
			close--;
		if (*close != ')')
			return false;
		*open = *close = '\0';
		*list = open + 1;
	}
	if (!emogi_columns_are_identifiers(text, '.') || !SplitIdentifierString(text, '.', &parts))
		return false;
	foreach(cell, parts)
		*name = lappend(*name, makeString(lfirst(cell)));
	return true;
}

/*
 * Cut 'rel(a, b, c)' into a qualified name and a list of column names (NIL when none are given); false when it is of no
 * known form.
 */
bool
emogi_forms_split_relation(const char *graph, List **name, List **columns)
{
	char	   *list;

	*columns = NIL;
	return emogi_forms_split(graph, name, &list) && (list == NULL || emogi_columns_split(list, columns));
}
