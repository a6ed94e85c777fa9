/*
 * graph_grammar.c: the forms that the text of a graph argument may have.
 *
 *   'edges'  'schema."Edges"'                 a relation; its columns by name: src,dst or source,target
 *   'roads(from_node, to_node[, km])'         a relation with the columns named
 *   'roads((town, a), (town, b)[, km])'       likewise, several to an end
 *   'roads[(from_node, to_node[, km])] WHERE open'   any of these with a condition on its rows
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
emogi_graph_grammar_is_query(const char *graph)
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

/* Skip blanks. */
static const char *
skip_blanks(const char *p)
{
	while (isspace((unsigned char) *p))
		p++;
	return p;
}

/* Does a sign belong to a word? */
static bool
is_in_word(char sign)
{
	return isalnum((unsigned char) sign) || sign == '_' || sign == '$' || IS_HIGHBIT_SET(sign);
}

/* Skip what stands between double quotes, from behind the first one. */
static const char *
skip_quoted(const char *p)
{
	for (; *p != '\0'; p++)
		if (*p == '"' && *++p != '"')
			return p;
	return p;
}

/* Skip a name, qualified or not, and the blanks behind it; get where it begins if there is none. */
static const char *
skip_name(const char *p)
{
	for (;;)
	{
		if (*p == '"')
			p = skip_quoted(p + 1);
		else
			while (is_in_word(*p))
				p++;
		p = skip_blanks(p);
		if (*p != '.')
			return p;
		p = skip_blanks(p + 1);
	}
}

/* Skip a list in parentheses, which may have others in it, and the blanks behind it. */
static const char *
skip_list(const char *p)
{
	int			depth = 0;

	do
	{
		if (*p == '"')
		{
			p = skip_quoted(p + 1);
			continue;
		}
		depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		p++;
	} while (depth > 0 && *p != '\0');
	return skip_blanks(p);
}

/* Cut 'rel[(list)] WHERE condition' into what stands before WHERE and behind it; false when it is of another form. */
bool
emogi_graph_grammar_split_where(const char *graph, char **relation, const char **condition)
{
	const char *start = skip_blanks(graph);
	const char *p = skip_name(start);

	if (*p == '(' && p > start)
		p = skip_list(p);
	if (p == start || pg_strncasecmp(p, "where", 5) != 0 || is_in_word(p[5]))
		return false;
	*relation = pnstrdup(graph, p - graph);
	*condition = p + 5;
	return true;
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
emogi_graph_grammar_split(const char *relation, List **name, char **list)
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
emogi_graph_grammar_split_relation(const char *graph, List **name, List **columns)
{
	char	   *list;

	*columns = NIL;
	return emogi_graph_grammar_split(graph, name, &list) && (list == NULL || emogi_columns_split(list, columns));
}
