/*
 * search_path.c: detect that a name in the text of a function's body may have led elsewhere while a
 * tree ran (Q17).
 *
 * The body of a function in SQL that is stored as text is analysed for the key, and once more when
 * the tree runs. In between another session may create or rename an object that stands earlier in
 * the search path, and undo that again: no later look can tell. The invalidations of the catalog
 * caches by name can. They are kept with their hash values, so that those of other tables and
 * types, such as temporary tables of other sessions, do not count.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "miscadmin.h"
#include "parser/scansup.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/varlena.h"
#include "utils/syscache.h"

#include "base/compat.h"
#include "analysis/analysis_internal.h"

/* Invalidations that are kept: the last ones. */
#define EVENTS 256

/* An invalidation in a cache that is looked into by name. */
typedef struct Event
{
	int			cache;
	uint32		hash;			/* of the key; 0 = of all keys */
} Event;

static Event events[EVENTS];
static uint64 nevents = 0;

static void
note_event(Datum arg, int cache, uint32 hash)
{
	events[nevents++ % EVENTS] = (Event) {cache, hash};
}

/*
 * Get the number of invalidations of names that this session has seen, having them counted from the
 * first call on.
 */
uint64
emogi_search_path_count(void)
{
	static const int caches[] = {RELNAMENSP, TYPENAMENSP, PROCNAMEARGSNSP, OPERNAMENSP,
								 COLLNAMEENCNSP, NAMESPACENAME, CASTSOURCETARGET, CLAAMNAMENSP};
	static bool is_watching = false;

	for (int i = 0; !is_watching && i < (int) lengthof(caches); i++)
		CacheRegisterSyscacheCallback(caches[i], note_event, (Datum) 0);
	is_watching = true;
	AcceptInvalidationMessages();
	return nevents;
}

/*
 * Is an invalidation that of a relation or type of this name in one of some schemas, or of a schema
 * of this name?
 */
static bool
is_of_name(const Event *event, const char *name, List *schemas)
{
	ListCell   *cell;

	if (event->cache == NAMESPACENAME)
		return GetSysCacheHashValue1(NAMESPACENAME, CStringGetDatum(name)) == event->hash;
	foreach(cell, schemas)
		if (GetSysCacheHashValue2(event->cache, CStringGetDatum(name),
								  ObjectIdGetDatum(lfirst_oid(cell))) == event->hash)
			return true;
	return false;
}

/*
 * Get the end of the word that begins at p: letters, digits, underscores, dollar signs, and all
 * beyond ASCII.
 */
static const char *
end_of_word(const char *p)
{
	while (IS_HIGHBIT_SET(*p) || isalnum((unsigned char) *p) || *p == '_' || *p == '$')
		p++;
	return p;
}

/*
 * List the words of a text that may be names of relations, types and schemas, as the server folds
 * them.
 */
static List *
list_words(const char *text)
{
	List	   *words = NIL;

	for (const char *p = text; *p != '\0';)
	{
		const char *end = end_of_word(p);

		if (end > p)
			words = lappend(words, downcase_truncate_identifier(p, (int) (end - p), false));
		p = end > p ? end : p + 1;
	}
	return words;
}

/*
 * List the schemas that names of some words may be looked for in: the search path, and those that
 * are named.
 */
static List *
list_schemas(List *words)
{
	List	   *schemas = fetch_search_path(true);
	ListCell   *cell;

	foreach(cell, words)
	{
		const Oid	schema = get_namespace_oid(lfirst(cell), true);

		if (OidIsValid(schema))
			schemas = list_append_unique_oid(schemas, schema);
	}
	return schemas;
}

/* List the names of schemas in the search path, whether they exist or not. */
static List *
list_path(void)
{
	List	   *names;

	if (!SplitIdentifierString(pstrdup(namespace_search_path), ',', &names))
		return NIL;
	return lappend(names, GetUserNameFromId(GetUserId(), false));
}

/*
 * May an invalidation be that of a name in a text? Quoted names are not told apart from the text
 * around them.
 */
static bool
may_be_of_text(const Event *event, const char *text, List *words, List *schemas)
{
	ListCell   *cell;

	if (event->hash == 0 || strchr(text, '"') != NULL ||
		(event->cache != RELNAMENSP && event->cache != TYPENAMENSP &&
		 event->cache != NAMESPACENAME))
		return true;
	foreach(cell, words)
		if (is_of_name(event, lfirst(cell), schemas))
			return true;
	return false;
}

/*
 * May a name in one of some texts have led to another object since so many invalidations had been
 * counted?
 */
bool
emogi_search_path_may_have_changed(List *texts, uint64 since)
{
	const uint64 now = emogi_search_path_count();
	ListCell   *cell;

	if (texts == NIL || now == since)
		return false;
	if (now - since > EVENTS)
		return true;
	foreach(cell, texts)
	{
		List	   *words = list_words(lfirst(cell));
		List	   *schemas = list_schemas(words);

		words = list_concat(words, list_path());
		for (uint64 i = since; i < now; i++)
			if (may_be_of_text(&events[i % EVENTS], lfirst(cell), words, schemas))
				return true;
	}
	return false;
}
