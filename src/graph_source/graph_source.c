/*
 * graph_source.c: find the kind of a source, and open its rows under a snapshot
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_inherits.h"
#include "utils/snapmgr.h"

#include "citus/citus.h"
#include "graph_source/graph_source.h"

#define KIND_ADDRESS(name) &emogi_graph_source_##name,

static const EmogiGraphSourceKind *const kinds[] = {
	EMOGI_GRAPH_SOURCE_KINDS(KIND_ADDRESS)
};

/* Find the kind of a relation by its partitions and children, which are locked. */
static bool
find_relation_kind(EmogiGraphSource *source, List *relids, bool may_connect)
{
	for (int i = 0; i < (int) lengthof(kinds); i++)
	{
		source->tables = source->elsewhere = NIL;
		source->kind = kinds[i];
		if (kinds[i]->takes_relation != NULL && (may_connect || kinds[i]->connect == NULL) &&
			kinds[i]->takes_relation(source, relids))
			return true;
	}
	source->tables = source->elsewhere = NIL;
	source->kind = &emogi_graph_source_text;
	return false;
}

/*
 * Find the kind of a relation as find_relation_kind does, or know it from an earlier call. Without
 * Citus, whether rows are in a heap is told by what invalidates known sources.
 */
static bool
know_relation_kind(EmogiGraphSource *source, List *relids)
{
	bool		found;

	if (list_length(relids) == 1 && emogi_known_sources_is_heap(source->source))
	{
		source->kind = &emogi_graph_source_heaps;
		source->tables = relids;
		return true;
	}
	found = find_relation_kind(source, relids, true);
	if (found && source->kind == &emogi_graph_source_heaps && list_length(relids) == 1 &&
		equal(source->tables, relids) && !emogi_citus_may_have_tables())
		emogi_known_sources_note_heap(source->source);
	return found;
}

/* Find the kind of a query by its analysis. */
static void
find_query_kind(EmogiGraphSource *source)
{
	for (int i = 0; i < (int) lengthof(kinds); i++)
	{
		source->kind = kinds[i];
		if (kinds[i]->takes_query != NULL && kinds[i]->takes_query(source))
			return;
	}
}

/*
 * Check the caller's right to read a relation. Return false if its rows depend on the caller.
 * Raises 42501.
 */
static bool
may_read_all(EmogiGraphSource *source)
{
	Relation	rel = relation_open(source->source->relid, NoLock);

	source->has_row_security = emogi_access_check(rel, source->source);
	relation_close(rel, NoLock);
	return !source->has_row_security;
}

/*
 * Open a relation that some kind takes, under a snapshot that sees it. Make that snapshot the
 * active one. Return false, without a snapshot, if the relation must be analyzed as a query. The
 * meaning of the graph argument may change during this: then it is resolved again. Raises 42501 and
 * 40001.
 */
static bool
open_relation(EmogiSource *resolved, EmogiGraphSource *source)
{
	if (resolved->is_query)
		return false;
	for (;;)
	{
		List	   *relids;

		if (!may_read_all(source))
			return false;
		emogi_snapshot_push();
		if (emogi_snapshot_sees(resolved, &relids))
		{
			source->has_snapshot = know_relation_kind(source, relids);
			if (!source->has_snapshot)
				PopActiveSnapshot();
			return source->has_snapshot;
		}
		PopActiveSnapshot();
		emogi_snapshot_renew(resolved->relid);
		emogi_source_resolve(resolved->graph, resolved->wants_weight, resolved);
	}
}

/*
 * Find the kind that reads a source, and open it under a snapshot that sees it, which becomes the
 * active one. The text of a query that cannot be shared sets its own snapshot, so none becomes
 * active for it. Raises 42501, 40001, and the errors of a query.
 */
void
emogi_graph_source_open(EmogiCall *call, EmogiSource *resolved, EmogiGraphSource *source)
{
	*source = (EmogiGraphSource) {.source = resolved};
	if (open_relation(resolved, source))
	{
		emogi_snapshot_mark_used();
		return;
	}
	source->analysis = emogi_analysis_open(resolved);
	if (emogi_source_is_query(resolved->graph))
		resolved->guess = emogi_weight_guess_copy(&source->analysis->columns.guess);
	find_query_kind(source);
	source->has_snapshot = source->analysis->refusal == NULL;
	if (source->has_snapshot)
		return;
	emogi_call_record_private(call, source->analysis->refusal);
	emogi_analysis_close(source->analysis);
	source->analysis = NULL;
}

/*
 * Find the kind that reads a relation without connecting to servers, under the active snapshot;
 * return false, with the kind of a text, if there is none. Raises 42501.
 */
bool
emogi_graph_source_peek_relation(const EmogiSource *resolved, EmogiGraphSource *source)
{
	*source = (EmogiGraphSource) {.kind = &emogi_graph_source_text,.source = resolved};
	/* the rights on a filtered table were checked by its analysis (Q18) */
	return !resolved->is_query && (resolved->filter != NULL || may_read_all(source)) &&
		find_relation_kind(source, find_all_inheritors(resolved->relid, AccessShareLock, NULL),
						   false);
}

/*
 * Find the kind that reads a source without connecting to servers, under the active snapshot, for
 * EXPLAIN. The analysis of a query stays open, even if it is refused. Raises any error that
 * prevents the caller from reading the source.
 */
void
emogi_graph_source_peek(const EmogiSource *resolved, EmogiGraphSource *source)
{
	if (emogi_graph_source_peek_relation(resolved, source))
		return;
	source->analysis = emogi_analysis_peek(resolved);
	find_query_kind(source);
}

/* Close a source. */
void
emogi_graph_source_close(EmogiGraphSource *source)
{
	if (source->has_snapshot)
		PopActiveSnapshot();
	if (source->analysis != NULL)
		emogi_analysis_close(source->analysis);
}

/* Get the table, perhaps a filtered one, whose indexes a search may use; NULL if there is none. */
const EmogiSource *
emogi_graph_source_indexed(const EmogiGraphSource *source)
{
	return source->kind->indexed != NULL ? source->kind->indexed(source) : NULL;
}
