/*
 * known_sources.c: graph arguments that this session has resolved before
 *
 * A resolved argument is used again as long as the catalogs, the user and the search path are the
 * same: it names the same relation, which has the same columns. The relation is locked, and
 * privileges are checked, on every call.
 *
 * A resolved argument also tells which snapshots see the relation as it was resolved (seen_by.c),
 * so that the catalogs need not be read under each.
 *
 * A relation with a condition is kept as the text of its query (analysis/known_analyses.c keeps
 * what that means). It also serves conditions that differ in the values of literals: these are one
 * expression if that is. Not kept are texts of queries, relations with children, and types that can
 * be altered without a change of the relation.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "base/catalog_changes.h"
#include "base/compat.h"
#include "source/source.h"

#define KNOWN_SOURCES 8
#define MAX_TEXT_BYTES 1024

typedef struct KnownSource
{
	MemoryContext context;		/* NULL = unused */
	uint64		id;				/* of the resolution */
	char	   *text;			/* graph argument; NULL = given by its OID */
	char	   *columns;		/* then named with it; NULL = none */
	char	   *filter;			/* condition of the call's filter; NULL = none */
	char	   *search_path;
	Oid			userid;
	uint64		nchanges;		/* of the catalogs */
	EmogiSource source;
	Oid			locked;			/* its relation, also that of a condition */
	EmogiSeenBy	seen_by;
	bool		is_heap;		/* its rows are in the heap itself */
	bool		seen_with_names;	/* edge names are visible, too */
	/* of a condition whose literals may have other values: */
	bool		has_literals;
	EmogiTextLiterals literals; /* of the filter or, without one, of the argument */
	int			condition;		/* where the condition begins in that text */
	int			head;			/* ... and in the query */
	int			tail;			/* length of the query behind the condition */
} KnownSource;

static KnownSource known_sources[KNOWN_SOURCES];
static int	oldest = 0;
static uint64 last_id = 0;

/* Are two strings, or NULLs, equal? */
static bool
are_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Was an argument resolved by this user in the same catalogs and search path? */
static bool
is_valid(const KnownSource *known, EmogiWantedWeight wants_weight, uint64 nchanges)
{
	return known->context != NULL && known->nchanges == nchanges &&
		known->userid == GetUserId() && known->source.wants_weight == wants_weight &&
		strcmp(known->search_path, namespace_search_path) == 0;
}

/* Get the condition of a call's filter; NULL = none. */
static const char *
filter_of(const EmogiGraphArgument *graph)
{
	return graph->filter != NULL ? graph->filter->condition : NULL;
}

/* Is an entry that of an argument, except for the call's filter? */
static bool
is_of_argument(const KnownSource *known, const EmogiGraphArgument *graph)
{
	return (known->text == NULL) == graph->is_relation &&
		(graph->is_relation ? known->locked == graph->relid &&
		 are_equal(known->columns, graph->columns) : strcmp(known->text, graph->text) == 0);
}

/* Get the text of a call whose literals may differ. */
static const char *
varying_text(const EmogiGraphArgument *graph)
{
	return graph->filter != NULL ? graph->filter->condition : graph->text;
}

/*
 * Is an entry that of an argument, but for literals? With a filter, they may differ only in the
 * filter.
 */
static bool
is_alike(const KnownSource *known, const EmogiGraphArgument *graph,
		 const EmogiTextLiterals *literals)
{
	if (!known->has_literals || (known->filter == NULL) != (graph->filter == NULL) ||
		(graph->filter != NULL && !is_of_argument(known, graph)))
		return false;
	return emogi_text_literals_are_alike(known->filter != NULL ? known->filter : known->text,
										 &known->literals, varying_text(graph), literals);
}

/* Find an entry of an argument that differs in literals; NULL if there is none. */
static const KnownSource *
find_alike(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight, uint64 nchanges)
{
	EmogiTextLiterals literals;

	if ((graph->is_relation && graph->filter == NULL) || !emogi_compat_standard_strings() ||
		!emogi_text_literals_find(varying_text(graph), &literals))
		return NULL;
	for (int i = 0; i < KNOWN_SOURCES; i++)
		if (is_valid(&known_sources[i], wants_weight, nchanges) &&
			is_alike(&known_sources[i], graph, &literals))
			return &known_sources[i];
	return NULL;
}

/*
 * Find the entry of a graph argument in the same catalogs, or of one that differs in literals; NULL
 * if there is none.
 */
static const KnownSource *
find(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight, uint64 nchanges)
{
	for (int i = 0; i < KNOWN_SOURCES; i++)
		if (is_valid(&known_sources[i], wants_weight, nchanges) &&
			is_of_argument(&known_sources[i], graph) &&
			are_equal(known_sources[i].filter, filter_of(graph)))
			return &known_sources[i];
	return find_alike(graph, wants_weight, nchanges);
}

/* Get the length of a text without the blanks at its end. */
static int
length_without_blanks(const char *text)
{
	int			length = (int) strlen(text);

	while (length > 0 && isspace((unsigned char) text[length - 1]))
		length--;
	return length;
}

/* Write the query of an entry for an argument, perhaps with other literals. */
static char *
write_query(const KnownSource *known, const EmogiGraphArgument *graph)
{
	const char *query = known->source.query;
	const char *condition = varying_text(graph) + known->condition;
	int			length;
	char	   *written;

	if (!known->has_literals)
		return pstrdup(query);
	length = length_without_blanks(condition);
	written = palloc(known->head + length + known->tail + 1);
	memcpy(written, query, known->head);
	memcpy(written + known->head, condition, length);
	strcpy(written + known->head + length, query + strlen(query) - known->tail);
	return written;
}

/* Copy the source of an entry, which may be replaced during a call. */
static void
copy_source(const KnownSource *known, const EmogiGraphArgument *graph, EmogiSource *source)
{
	*source = known->source;
	source->name = copyObject(known->source.name);
	source->query = known->source.query != NULL ? write_query(known, graph) : NULL;
	source->graph = graph;
	source->known = (int) (known - known_sources) + 1;
	source->known_id = known->id;
}

/*
 * Get the source of a graph argument that was resolved before, with its relation locked; return
 * false if it must be resolved. The caller has accepted invalidations.
 */
static bool
find_and_lock(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight, EmogiSource *source)
{
	const uint64 nchanges = emogi_catalog_changes_count();
	const KnownSource *known = find(graph, wants_weight, nchanges);
	Oid			relid;
	bool		was_locked;

	if (known == NULL)
		return false;
	relid = known->locked;
	was_locked = emogi_compat_holds_lock(relid, AccessShareLock);
	LockRelationOid(relid, AccessShareLock);
	if (emogi_catalog_changes_count() != nchanges)
	{
		UnlockRelationOid(relid, AccessShareLock);
		return false;
	}
	copy_source(known, graph, source);
	source->was_locked = was_locked;
	return true;
}

/* Get the source of a graph argument that was resolved before, without locks, for the planner. */
bool
emogi_known_sources_peek(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
						 EmogiSource *source)
{
	const KnownSource *known = find(graph, wants_weight, emogi_catalog_changes_count());

	if (known != NULL)
		copy_source(known, graph, source);
	return known != NULL;
}

/* Can a resolved source be kept? */
static bool
may_keep(const EmogiSource *source, Oid relid)
{
	const EmogiGraphArgument *graph = source->graph;
	const char *text = graph->is_relation ? graph->columns : graph->text;

	return source->guess.column == NULL && source->key.definition == 0 &&
		!has_subclass(relid) && (text == NULL || strlen(text) <= MAX_TEXT_BYTES) &&
		(graph->filter == NULL || strlen(graph->filter->condition) <= MAX_TEXT_BYTES) &&
		strlen(namespace_search_path) <= MAX_TEXT_BYTES;
}

/* Find the condition of an entry whose literals may have other values; NULL if there is none. */
static const char *
find_condition(const KnownSource *known)
{
	const char *condition = NULL;
	char	   *relation;

	if (known->filter != NULL)
		return known->filter;
	if (known->text == NULL ||
		!emogi_graph_grammar_split_where(known->text, &relation, &condition))
		return NULL;
	return known->text + strlen(known->text) - strlen(condition);
}

/* Note where an entry has its condition, if literals in it may have other values. */
static void
note_literals(KnownSource *known)
{
	const char *text = known->filter != NULL ? known->filter : known->text;
	const char *query = known->source.query;
	const char *condition = find_condition(known);
	const char *found;
	int			length;

	if (condition == NULL || query == NULL || !emogi_compat_standard_strings() ||
		!emogi_text_literals_find(text, &known->literals) || known->literals.count == 0)
		return;
	while (isspace((unsigned char) *condition))
		condition++;
	length = length_without_blanks(condition);
	known->condition = (int) (condition - text);
	known->tail = (int) strlen(")");
	known->head = (int) strlen(query) - known->tail - length;
	found = query + Max(known->head, 0);
	known->has_literals = known->head > 0 && strncmp(found, condition, length) == 0 &&
		strcmp(found + length, ")") == 0 && known->literals.found[0].start >= known->condition;
}

/*
 * Keep a source of a relation that has just been resolved; nchanges: the number of catalog changes
 * before.
 */
static void
keep(EmogiSource *source, Oid relid, uint64 nchanges)
{
	const EmogiGraphArgument *graph = source->graph;
	KnownSource *known = &known_sources[oldest];
	MemoryContext context;
	MemoryContext old;

	if (!may_keep(source, relid) || emogi_catalog_changes_count() != nchanges)
		return;
	oldest = (oldest + 1) % KNOWN_SOURCES;
	if (known->context != NULL)
		MemoryContextDelete(known->context);
	memset(known, 0, sizeof *known);
	context = AllocSetContextCreate(TopMemoryContext, "emogi source", ALLOCSET_SMALL_SIZES);
	old = MemoryContextSwitchTo(context);
	known->text = graph->is_relation ? NULL : pstrdup(graph->text);
	known->columns = graph->columns != NULL ? pstrdup(graph->columns) : NULL;
	known->filter = graph->filter != NULL ? pstrdup(graph->filter->condition) : NULL;
	known->search_path = pstrdup(namespace_search_path);
	known->userid = GetUserId();
	known->nchanges = nchanges;
	known->source = *source;
	known->source.name = copyObject(source->name);
	known->source.query = source->query != NULL ? pstrdup(source->query) : NULL;
	known->source.graph = NULL;
	known->locked = relid;
	note_literals(known);
	MemoryContextSwitchTo(old);
	known->context = context;
	known->id = ++last_id;
	source->known = (int) (known - known_sources) + 1;
	source->known_id = known->id;
}

/*
 * Resolve the graph argument, or know it from an earlier call. Relations are locked on return.
 * Raises 0A000, 42601, 42P01, 42703, 42804, 42809.
 */
void
emogi_source_resolve(const EmogiGraphArgument *graph, EmogiWantedWeight wants_weight,
					 EmogiSource *source)
{
	uint64		nchanges;
	Oid			relid;

	AcceptInvalidationMessages();	/* as in the parser: privileges may have changed even if the
									 * lock is already held */
	if (find_and_lock(graph, wants_weight, source))
		return;
	nchanges = emogi_catalog_changes_count();
	relid = emogi_source_resolve_anew(graph, wants_weight, source);
	if (OidIsValid(relid))
		keep(source, relid, nchanges);
}

/*
 * Get the entry of a source; NULL if there is none, it was replaced, or the catalogs, the user or
 * the search path have changed since.
 */
static KnownSource *
entry_of(const EmogiSource *source)
{
	KnownSource *known = source->known > 0 ? &known_sources[source->known - 1] : NULL;

	return known != NULL && known->id == source->known_id &&
		known->nchanges == emogi_catalog_changes_count() && known->userid == GetUserId() &&
		strcmp(known->search_path, namespace_search_path) == 0 ? known : NULL;
}

/*
 * Is it known that the active snapshot sees the relation of a source as it was resolved, and that
 * the relation has no children?
 */
bool
emogi_known_sources_are_seen(const EmogiSource *source)
{
	const KnownSource *known = entry_of(source);

	return known != NULL && (known->seen_with_names || !source->graph->reads_names) &&
		emogi_seen_by_active(&known->seen_by);
}

/* Note that the active snapshot sees the relation of a source, which has no children. */
void
emogi_known_sources_note_seen(const EmogiSource *source)
{
	KnownSource *known = entry_of(source);

	if (known == NULL)
		return;
	emogi_seen_by_note(&known->seen_by);
	known->seen_with_names = source->graph->reads_names;
}

/* Is it known that all rows of a source are in its own heap, which is read here? */
bool
emogi_known_sources_is_heap(const EmogiSource *source)
{
	const KnownSource *known = entry_of(source);

	return known != NULL && known->is_heap;
}

/* Note that all rows of a source are in its own heap. */
void
emogi_known_sources_note_heap(const EmogiSource *source)
{
	KnownSource *known = entry_of(source);

	if (known != NULL)
		known->is_heap = true;
}
