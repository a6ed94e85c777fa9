/*
 * graph_grammar.c: grammar of the graph argument's text
 *
 *   'edges'  'schema."Edges"'                 a relation; its columns are found by name: src, dst
 *                                             or source, target
 *   'roads(from_node, to_node[, km])'         a relation with named columns
 *   'roads((town, a), (town, b)[, km])'       likewise, several columns per endpoint
 *   'roads[(from_node, to_node[, km])] WHERE open'   any of these with a condition on the rows
 *   'SELECT a, b[, w] FROM ...'               a query (also WITH, VALUES, TABLE, or one in
 *                                             parentheses)
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "nodes/value.h"
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

/* Return true if this is the text of a query. Its first word decides, a reserved word of SQL. */
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

/* Return true if a character belongs to a word. */
static bool
is_in_word(char sign)
{
	return isalnum((unsigned char) sign) || sign == '_' || sign == '$' || IS_HIGHBIT_SET(sign);
}

/* Skip a quoted identifier, from behind its opening quote. */
static const char *
skip_quoted(const char *p)
{
	for (; *p != '\0'; p++)
		if (*p == '"' && *++p != '"')
			return p;
	return p;
}

/* Skip an optionally qualified name and the blanks behind it; return the start if there is none. */
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

/* Skip a list in parentheses, possibly nested, and the blanks behind it. */
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

/*
 * Skip a name, with a list of columns or without, and the blanks around it; return the start of the
 * text if there is no name.
 */
const char *
emogi_graph_grammar_skip_relation(const char *graph)
{
	const char *start = skip_blanks(graph);
	const char *p = skip_name(start);

	if (p == start)
		return graph;
	return *p == '(' ? skip_list(p) : p;
}

/* Split 'rel[(list)] WHERE condition' at WHERE; return false if the text has another form. */
bool
emogi_graph_grammar_split_where(const char *graph, char **relation, const char **condition)
{
	const char *p = emogi_graph_grammar_skip_relation(graph);

	if (p == graph || pg_strncasecmp(p, "where", 5) != 0 || is_in_word(p[5]))
		return false;
	*relation = pnstrdup(graph, p - graph);
	*condition = p + 5;
	return true;
}

/*
 * Find the parenthesis that opens the column list, outside quoted identifiers; NULL if there is
 * none.
 */
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

/*
 * Split 'rel(list)' into a qualified name and the text of the list (NULL if there is none); return
 * false if the text has another form.
 */
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
 * Split 'rel(a, b, c)' into a qualified name and a list of column names (NIL if there is none);
 * return false if the text has another form.
 */
bool
emogi_graph_grammar_split_relation(const char *graph, List **name, List **columns)
{
	char	   *list;

	*columns = NIL;
	return emogi_graph_grammar_split(graph, name, &list) &&
		(list == NULL || emogi_columns_split(list, columns));
}
