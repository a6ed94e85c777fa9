/*
 * text_literals.c: the plain literals of a text, by which texts of one form differ
 *
 * Calls with a condition often differ only in its values. The meaning of such a text is known from
 * another one with the same bytes outside of its literals: strings in quotes, and integers of at
 * most nine digits. They are found as PostgreSQL's scanner finds them if strings conform to the
 * standard. A text with a token that is
 * not plain, such as a comment, an escape, a prefix of a string or a dollar, has none.
 */
#include "postgres.h"

#include "parser/scansup.h"

#include "source/source.h"

#define MAX_DIGITS 9			/* these fit in an int4 */

/* Skip blanks. */
static const char *
skip_blanks(const char *p)
{
	while (scanner_isspace(*p))
		p++;
	return p;
}

/* Skip a word or a number with all that may belong to it; NULL if it is the prefix of a string. */
static const char *
skip_word(const char *p)
{
	while (emogi_text_is_word(*p) || *p == '.')
		p++;
	return *p == '\'' || *p == '"' || *p == '&' ? NULL : p;
}

/* Skip a quoted token; NULL if it is not plain: it has a doubled quote, or is continued. */
static const char *
skip_quoted(const char *p)
{
	const char	quote = *p++;

	while (*p != quote && *p != '\0')
		p++;
	return *p == quote && *skip_blanks(p + 1) != quote ? p + 1 : NULL;
}

/* Are these the first characters of a comment, or of something else that is not plain? */
static bool
is_special(const char *p)
{
	return *p == '$' || (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*');
}

/* Add a literal; false if there are too many. */
static bool
add(EmogiTextLiterals *literals, const char *text, const char *begin, const char *end)
{
	if (literals->count == EMOGI_MAX_LITERALS)
		return false;
	literals->found[literals->count++] = (EmogiTextLiteral) {
		.start = (int) (begin - text),
		.length = (int) (end - begin),
		.is_integer = *begin != '\''
	};
	return true;
}

/* Is a token an integer that is a literal? */
static bool
is_integer(const char *begin, const char *end)
{
	if (end - begin > MAX_DIGITS)
		return false;
	for (const char *p = begin; p < end; p++)
		if (*p < '0' || *p > '9')
			return false;
	return true;
}

/* Find the literals of a text; false if it has tokens that are not plain, or too many literals. */
bool
emogi_text_literals_find(const char *text, EmogiTextLiterals *literals)
{
	literals->count = 0;
	for (const char *p = text; *p != '\0';)
	{
		const char *begin = p;
		bool		is_literal = *p == '\'';

		if (is_special(p))
			return false;
		if (*p == '\'' || *p == '"')
			p = skip_quoted(p);
		else if (emogi_text_is_word(*p) || *p == '.')
			p = skip_word(p);
		else
			p++;
		if (p == NULL)
			return false;
		if ((is_literal || is_integer(begin, p)) && !add(literals, text, begin, p))
			return false;
	}
	return true;
}

/* Is a literal of a text written as that of another text? */
bool
emogi_text_literals_is_same(const char *a, const EmogiTextLiteral *of_a, const char *b,
							const EmogiTextLiteral *of_b)
{
	return of_a->length == of_b->length && memcmp(a + of_a->start, b + of_b->start,
												  of_a->length) == 0;
}

/* Do two texts differ only in the values of their literals? */
bool
emogi_text_literals_are_alike(const char *a, const EmogiTextLiterals *of_a, const char *b,
							  const EmogiTextLiterals *of_b)
{
	if (of_a->count != of_b->count)
		return false;
	for (int i = 0; i < of_a->count; i++)
	{
		const EmogiTextLiteral *x = &of_a->found[i];
		const EmogiTextLiteral *y = &of_b->found[i];
		const int	before = (int) (x->start - (i > 0 ? x[-1].start + x[-1].length : 0));

		if (x->is_integer != y->is_integer ||
			before != y->start - (i > 0 ? y[-1].start + y[-1].length : 0) ||
			memcmp(a + x->start - before, b + y->start - before, before) != 0)
			return false;
	}
	if (of_a->count > 0)
	{
		a += of_a->found[of_a->count - 1].start + of_a->found[of_a->count - 1].length;
		b += of_b->found[of_b->count - 1].start + of_b->found[of_b->count - 1].length;
	}
	return strcmp(a, b) == 0;
}
