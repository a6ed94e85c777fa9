/*
 * query_id.c: the identity of a query in call statistics: its text without constants
 *
 * Numbers and strings become ?, comments and white space one blank. Thus calls that differ only in
 * values are counted together, and no value of one user is shown to others. This is not a SQL
 * lexer: invalid text, or a string with backslashes if standard_conforming_strings is off, also
 * becomes some text, and never an error.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "mb/pg_wchar.h"

#include "utils/memutils.h"

#include "source/source.h"

#define MAX_LAST_BYTES 1024

/* Is a character white space? */
static inline bool
is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Skip white space. */
static inline const char *
skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

/*
 * Skip to the end of a quoted token, starting after its opening quote. Doubled quotes are part of
 * it, and so is a character after a backslash if `escapes`.
 */
static const char *
skip_quoted(const char *p, char quote, bool escapes)
{
	for (; *p != '\0'; p++)
	{
		if (escapes && *p == '\\' && p[1] != '\0')
			p++;
		else if (*p == quote && p[1] == quote)
			p++;
		else if (*p == quote)
			return p + 1;
	}
	return p;
}

/* Skip a comment; return p if there is none. */
static const char *
skip_comment(const char *p)
{
	int			depth = 0;

	if (p[0] == '-' && p[1] == '-')
		return p + strcspn(p, "\n\r");
	if (p[0] != '/' || p[1] != '*')
		return p;
	for (; *p != '\0'; p++)
	{
		if (p[0] == '/' && p[1] == '*')
		{
			depth++;
			p++;
		}
		else if (p[0] == '*' && p[1] == '/')
		{
			p++;
			if (--depth == 0)
				return p + 1;
		}
	}
	return p;
}

/* Skip a string between two tags, $$ or $name$; return p if there is none. */
static const char *
skip_dollar_quoted(const char *p)
{
	const char *end = p + 1;
	const char *found;
	char	   *tag;

	while (isalnum((unsigned char) *end) || *end == '_' || IS_HIGHBIT_SET(*end))
		end++;
	if (*end != '$' || isdigit((unsigned char) p[1]))
		return p;
	tag = pnstrdup(p, end + 1 - p);
	found = strstr(end + 1, tag);
	return found != NULL ? found + strlen(tag) : end + 1 + strlen(end + 1);
}

/* Skip a number. */
static const char *
skip_number(const char *p)
{
	while (emogi_text_is_word(*p) || *p == '.' ||
		   ((*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E')))
		p++;
	return p;
}

/*
 * Skip a constant; return p if there is none. The letter before a string is kept, such as the E of
 * E'...'.
 */
static const char *
skip_constant(const char *text, const char *p)
{
	const bool	after_word = p > text && emogi_text_is_word(p[-1]);
	const bool	escapes = p > text && (p[-1] == 'e' || p[-1] == 'E') &&
		(p - 1 == text || !emogi_text_is_word(p[-2]));

	if (*p == '\'')
		return skip_quoted(p + 1, '\'', escapes);
	if (*p == '$' && !after_word)
		return skip_dollar_quoted(p);
	if (!after_word &&
		(isdigit((unsigned char) *p) || (*p == '.' && isdigit((unsigned char) p[1]))))
		return skip_number(p + 1);
	return p;
}

/* Get the text of a query without constants. */
static char *
without_constants(const char *text)
{
	/* each character becomes one, possibly preceded by a blank */
	char	   *bare = palloc_extended(2 * strlen(text) + 1, MCXT_ALLOC_HUGE);
	char	   *to = bare;
	const char *p = text;

	while (*p != '\0')
	{
		const char *next = skip_comment(p);

		if (next == p)
			next = skip_blanks(p);
		if (next != p)
		{
			if (to > bare && to[-1] != ' ')
				*to++ = ' ';
			p = next;
			continue;
		}
		next = skip_constant(text, p);
		if (next != p)
		{
			*to++ = '?';
			p = next;
			continue;
		}
		next = *p == '"' ? skip_quoted(p + 1, '"', false) : p + 1;
		memcpy(to, p, next - p);
		to += next - p;
		p = next;
	}
	while (to > bare && (to[-1] == ' ' || to[-1] == ';'))
		to--;
	*to = '\0';
	return bare;
}

/* The last query, in TopMemoryContext; calls are often of the same. */
static struct
{
	char	   *text;			/* NULL = none */
	char	   *bare;
	uint64		id;
}			last;

/* Remember a query if its text is short. */
static void
remember(const char *text, const char *bare, uint64 id)
{
	if (strlen(text) > MAX_LAST_BYTES)
		return;
	if (last.text != NULL)
	{
		pfree(last.text);
		pfree(last.bare);
	}
	last.text = NULL;
	last.bare = MemoryContextStrdup(TopMemoryContext, bare);
	last.id = id;
	last.text = MemoryContextStrdup(TopMemoryContext, text);
}

/*
 * Get the identity of a query in call statistics: the hash of its text without constants; and that
 * text, valid until the next call.
 */
uint64
emogi_query_id_of_text(const char *text, const char **bare)
{
	uint64		id;

	if (last.text != NULL && strcmp(last.text, text) == 0)
	{
		*bare = last.bare;
		return last.id;
	}
	*bare = without_constants(text);
	id = hash_bytes_extended((const unsigned char *) *bare, (int) strlen(*bare), 0);
	remember(text, *bare, id);
	return id;
}
