/*
 * explain_graph.c: predict how a call would get its graph, for EXPLAIN, which gets none.
 */
#include "postgres.h"

#include "access/relation.h"

#include "acquire/cache_lookup.h"
#include "cache/change_tracker.h"

/* Predict how a call would get the graph of heaps. */
static EmogiGraphOutcome
predict_heaps(const EmogiSource *source, const EmogiGraphKey *wanted, List *leaves,
			  EmogiIndexSearch *search)
{
	EmogiCacheLookup  *lookup = emogi_cache_lookup_make(source, NULL, wanted);
	const bool	may_share = emogi_cache_lookup_may_share(lookup, leaves);
	EmogiGraphOutcome outcome = may_share ? EMOGI_GRAPH_WILL_BE_BUILT : EMOGI_GRAPH_WILL_BE_PRIVATE;

	if (may_share && emogi_cache_lookup_is_cached(lookup))
		outcome = EMOGI_GRAPH_IS_CACHED;
	else if (search != NULL && emogi_index_search_supports(source) &&
			 emogi_index_or_build_will_search(source, leaves, lookup, may_share, search))
		outcome = EMOGI_GRAPH_WILL_BE_WALKED;
	else if (lookup->can_follow && emogi_change_tracker_exists(&lookup->key))
		outcome = EMOGI_GRAPH_WILL_BE_REFRESHED;
	emogi_cache_lookup_free(lookup);
	return outcome;
}

/* Predict how a call would get the graph of an analyzed query, and why it would be private. */
static EmogiGraphOutcome
predict_query(const EmogiSource *source, const EmogiQueryAnalysis *analysis,
			  const EmogiGraphKey *wanted, EmogiIndexSearch *search, const char **why_private)
{
	const EmogiSource *indexed = analysis->filtered;
	bool		may_share;
	EmogiCacheLookup  *lookup;
	EmogiGraphOutcome outcome = EMOGI_GRAPH_WILL_BE_PRIVATE;

	if (analysis->refusal != NULL)
	{
		*why_private = analysis->refusal;
		return outcome;
	}
	lookup = emogi_cache_lookup_make(source, analysis, wanted);
	may_share = emogi_cache_lookup_may_share(lookup, analysis->leaves);
	if (may_share && emogi_cache_lookup_is_cached(lookup))
		outcome = EMOGI_GRAPH_IS_CACHED;
	else if (search != NULL && indexed != NULL && emogi_index_search_supports(indexed) &&
			 emogi_index_or_build_will_search(indexed, analysis->leaves, lookup, may_share, search))
		outcome = EMOGI_GRAPH_WILL_BE_WALKED;
	else if (!may_share)
		*why_private = emogi_cache_lookup_why_not(lookup);
	else if (lookup->can_follow && emogi_change_tracker_exists(&lookup->key))
		outcome = EMOGI_GRAPH_WILL_BE_REFRESHED;
	else if (analysis->is_folded && emogi_cache_lookup_asked_first(lookup, false))
		*why_private = EMOGI_NOT_ASKED_BEFORE;
	else
		outcome = EMOGI_GRAPH_WILL_BE_BUILT;
	emogi_cache_lookup_free(lookup);
	return outcome;
}

/* Check whether the caller may read a source as heaps, and list them. Raises 42501. */
static bool
is_of_heaps(const EmogiSource *source, List **leaves)
{
	Relation	rel;
	bool		row_security;

	if (source->is_query)
		return false;
	rel = relation_open(source->relid, NoLock);
	row_security = emogi_access_check(rel, source);
	relation_close(rel, NoLock);
	return !row_security && emogi_heap_scan_possible(source, leaves);
}

/*
 * Predict how a call would get its graph, as the active snapshot sees it. search: a search that may
 * use indexes instead; if so, search->names is set to the indexes; NULL = none. *why_private: set
 * to why the graph of a query or view would be private; NULL = no reason to report. Raises any
 * error that prevents the caller from reading the source.
 */
EmogiGraphOutcome
emogi_explain_graph(const EmogiSource *source, const EmogiGraphKey *wanted,
					EmogiIndexSearch *search, const char **why_private)
{
	List	   *leaves;
	EmogiQueryAnalysis  *analysis;
	EmogiGraphOutcome outcome;

	*why_private = NULL;
	if (is_of_heaps(source, &leaves))
		return predict_heaps(source, wanted, leaves, search);
	analysis = emogi_analysis_peek(source);
	outcome = predict_query(source, analysis, wanted, search, why_private);
	if (*why_private != NULL)
		*why_private = pstrdup(*why_private);
	emogi_analysis_close(analysis);
	return outcome;
}
