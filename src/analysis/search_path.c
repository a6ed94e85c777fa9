/*
 * search_path.c: detection of names in a function's body that may have changed their meaning while
 * a query ran (Q17)
 *
 * The body of a SQL function that is stored as text is analyzed for the key, and again when the
 * query runs. In between, another session may create or rename an object earlier in the search
 * path, and undo that: a later look at the catalogs cannot detect it, but invalidations of the
 * catalog caches by name can. They are kept with their hash values, so that those of other tables
 * and types, such as temporary tables of other sessions, do not count.
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

/* Number of invalidations kept, the latest ones. */
#define EVENTS 256

/* An invalidation in a catalog cache with a name as key. */
typedef struct Event
{
	int			cache;
	uint32		hash;			/* of the key; 0 = all keys */
} Event;

static Event events[EVENTS];
static uint64 nevents = 0;

static void
note_event(Datum arg, int cache, uint32 hash)
{
	events[nevents++ % EVENTS] = (Event) {cache, hash};
}

/*
 * Get the number of invalidations of names that this session has received; counting starts with the
 * first call.
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
 * Does an invalidation match a relation or type with this name in one of the schemas, or a schema
 * with this name?
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
 * Get the end of the word that starts at p: letters, digits, underscores, dollar signs, and all
 * non-ASCII bytes.
 */
static const char *
end_of_word(const char *p)
{
	while (IS_HIGHBIT_SET(*p) || isalnum((unsigned char) *p) || *p == '_' || *p == '$')
		p++;
	return p;
}

/*
 * List the words of a text that may be names of relations, types and schemas, folded as the server
 * does.
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
 * List the schemas in which names among the words may be looked up: the search path, and schemas
 * named by a word.
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

/* List the names of schemas in the search path, whether or not they exist. */
static List *
list_path(void)
{
	List	   *names;

	if (!SplitIdentifierString(pstrdup(namespace_search_path), ',', &names))
		return NIL;
	return lappend(names, GetUserNameFromId(GetUserId(), false));
}

/*
 * May an invalidation concern a name in a text? Quoted names are not recognized, so any text with a
 * quote matches.
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
 * May a name in one of the texts have changed its meaning since this number of invalidations was
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
