/*
 * prewarm_list.c: the setting emogi.prewarm, a list of graphs that are loaded at server start.
 *
 *   shop: follows, shop: public.roads(from_node, to_node, km), "my-db": edges
 *
 * An entry is a database, and a relation with optional columns. Names are written as in SQL: in
 * lower case, or quoted. Queries are not supported, because the list is processed with more
 * privileges than the users have who may change what a query calls.
 */
#include "postgres.h"

#include "parser/scansup.h"
#include "utils/guc.h"

#include "prewarm/prewarm.h"
#include "base/compat.h"
#include "base/settings.h"

static char *setting = NULL;

#define FORM_HINT \
	"An entry is a database and a table, with its columns if they are not src and dst: 'shop: " \
	"follows, shop: public.roads(from_node, to_node, km)'. Names other than lower-case letters, " \
	"digits and underscores are quoted: '\"my-db\": \"Edges\"'."

/* Skip whitespace as defined by SQL, independent of the locale of the process. */
static void
skip_blanks(const char **p)
{
	while (scanner_isspace(**p))
		(*p)++;
}

/* Check whether a character may be part of an unquoted name. */
static bool
is_plain(char c)
{
	return isalnum((unsigned char) c) || c == '_' || c == '$' || IS_HIGHBIT_SET(c);
}

/* Read a quoted name up to its closing quote; NULL if there is none. */
static char *
read_quoted(const char **p)
{
	char	   *name = palloc(strlen(*p) + 1);
	int			length = 0;

	for ((*p)++; **p != '\0'; (*p)++)
	{
		if (**p == '"' && *++(*p) != '"')
		{
			name[length] = '\0';
			return name;
		}
		name[length++] = **p;
	}
	return NULL;
}

/* Read a name and the whitespace around it; NULL if it is missing or not valid in PostgreSQL. */
static char *
read_name(const char **p)
{
	const char *start;
	char	   *name;

	skip_blanks(p);
	start = *p;
	if (*start == '"')
		name = read_quoted(p);
	else
	{
		while (is_plain(**p))
			(*p)++;
		name = isdigit((unsigned char) *start) || *start == '$' ? NULL
			: pnstrdup(start, *p - start);
		for (char *c = name; c != NULL && *c != '\0'; c++)
			*c = IS_HIGHBIT_SET(*c) ? *c : pg_tolower((unsigned char) *c);
	}
	skip_blanks(p);
	return name != NULL && name[0] != '\0' && strlen(name) < NAMEDATALEN ? name : NULL;
}

/* Read a list of columns, starting at its opening parenthesis; false on a syntax error. */
static bool
read_columns(const char **p, EmogiPrewarmEntry *entry)
{
	const char *start = ++(*p);

	do
	{
		if (read_name(p) == NULL)
			return false;
		entry->ncolumns++;
	} while (*(*p)++ == ',');
	if ((*p)[-1] != ')' || entry->ncolumns < 2 || entry->ncolumns > 3)
		return false;
	entry->columns = pnstrdup(start, *p - 1 - start);
	skip_blanks(p);
	return true;
}

/* Read an entry up to the next comma or the end; false on a syntax error. */
static bool
read_entry(const char **p, EmogiPrewarmEntry *entry)
{
	const char *start;

	memset(entry, 0, sizeof *entry);
	entry->database = read_name(p);
	if (entry->database == NULL || *(*p)++ != ':')
		return false;
	skip_blanks(p);
	start = *p;
	entry->relation = read_name(p);
	if (entry->relation != NULL && **p == '.')
	{
		(*p)++;
		entry->schema = entry->relation;
		entry->relation = read_name(p);
	}
	if (entry->relation == NULL || (**p == '(' && !read_columns(p, entry)))
		return false;
	entry->text = pnstrdup(start, *p - start);
	while (entry->text[0] != '\0' && scanner_isspace(entry->text[strlen(entry->text) - 1]))
		entry->text[strlen(entry->text) - 1] = '\0';
	return **p == ',' || **p == '\0';
}

/* Get the text of an invalid entry, up to the next comma outside quotes and parentheses. */
static char *
entry_text(const char *start)
{
	const char *p = start;
	bool		quoted = false;
	int			depth = 0;

	for (; *p != '\0' && (*p != ',' || quoted || depth > 0); p++)
	{
		quoted ^= *p == '"';
		depth += quoted ? 0 : (*p == '(') - (*p == ')');
	}
	while (p > start && scanner_isspace(p[-1]))
		p--;
	return pnstrdup(start, p - start);
}

/*
 * Read a list; on a syntax error, return false and set *wrong to the text of the first invalid
 * entry.
 */
static bool
read_list(const char *p, List **entries, char **wrong)
{
	*entries = NIL;
	skip_blanks(&p);
	while (*p != '\0')
	{
		const char *start;
		EmogiPrewarmEntry *entry = palloc(sizeof *entry);

		skip_blanks(&p);
		start = p;
		if (!read_entry(&p, entry))
		{
			*wrong = entry_text(start);
			return false;
		}
		*entries = lappend(*entries, entry);
		if (*p == ',' && *++p == '\0')
		{
			*wrong = "";
			return false;
		}
	}
	return true;
}

/* GUC check hook: reject a list with a syntax error. */
static bool
check_setting(char **value, void **extra, GucSource source)
{
	List	   *entries;
	char	   *wrong;

	if (*value == NULL || read_list(*value, &entries, &wrong))
		return true;
	GUC_check_errdetail("\"%s\" is not an entry of the form database: table(source, target, "
						"weight).",
						wrong);
	GUC_check_errhint(FORM_HINT);
	return false;
}

/*
 * Define the setting; called once, in the postmaster. Only roles that may see all settings see the
 * names in it.
 */
void
emogi_prewarm_define(void)
{
	DefineCustomStringVariable("emogi.prewarm",
							   "Sets the graphs that are loaded when the server starts.",
							   "An entry is a database and a table: shop: follows, shop: "
							   "public.roads(from_node, to_node, km).",
							   &setting, "",
							   PGC_SIGHUP, EMOGI_SETTING_FLAGS | GUC_SUPERUSER_ONLY,
							   check_setting, NULL, NULL);
}

/* Get the entries of the list (EmogiPrewarmEntry), in the current memory context. */
List *
emogi_prewarm_list(void)
{
	List	   *entries = NIL;
	char	   *wrong;

	if (setting != NULL && !read_list(setting, &entries, &wrong))
		elog(ERROR, "emogi.prewarm has an entry that its check has not found: %s", wrong);
	return entries;
}
