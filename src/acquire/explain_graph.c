/*
 * explain_graph.c: where a call would find its Graph, for EXPLAIN, which gets none.
 */
#include "postgres.h"

#include "access/relation.h"

#include "acquire/cache_lookup.h"
#include "cache/change_tracker.h"

/* Say where a call would find the Graph of heaps. */
static EmogiGraphOutcome
foresee_heaps(const EmogiSource *source, const EmogiGraphKey *wanted, List *leaves, EmogiIndexSearch *walk)
{
	EmogiCacheLookup  *lookup = emogi_cache_lookup_make(source, NULL, wanted);
	const bool	may_share = emogi_cache_lookup_may_share(lookup, leaves);
	EmogiGraphOutcome outlook = may_share ? EMOGI_GRAPH_WILL_BE_BUILT : EMOGI_GRAPH_WILL_BE_PRIVATE;

	if (may_share && emogi_cache_lookup_is_cached(lookup))
		outlook = EMOGI_GRAPH_IS_CACHED;
	else if (walk != NULL && emogi_index_search_supports(source) && emogi_index_or_build_will_search(source, leaves, lookup, may_share, walk))
		outlook = EMOGI_GRAPH_WILL_BE_WALKED;
	else if (lookup->can_follow && emogi_change_tracker_exists(&lookup->key))
		outlook = EMOGI_GRAPH_WILL_BE_REFRESHED;
	emogi_cache_lookup_free(lookup);
	return outlook;
}

/* Say where a call would find the Graph of a tree, and why it would be private. */
static EmogiGraphOutcome
foresee_tree(const EmogiSource *source, const EmogiQueryAnalysis *tree, const EmogiGraphKey *wanted, EmogiIndexSearch *walk, const char **why_private)
{
	const EmogiSource *walked = tree->filtered;
	bool		may_share;
	EmogiCacheLookup  *lookup;
	EmogiGraphOutcome outlook = EMOGI_GRAPH_WILL_BE_PRIVATE;

	if (tree->refusal != NULL)
	{
		*why_private = tree->refusal;
		return outlook;
	}
	lookup = emogi_cache_lookup_make(source, tree, wanted);
	may_share = emogi_cache_lookup_may_share(lookup, tree->leaves);
	if (may_share && emogi_cache_lookup_is_cached(lookup))
		outlook = EMOGI_GRAPH_IS_CACHED;
	else if (walk != NULL && walked != NULL && emogi_index_search_supports(walked) && emogi_index_or_build_will_search(walked, tree->leaves, lookup, may_share, walk))
		outlook = EMOGI_GRAPH_WILL_BE_WALKED;
	else if (!may_share)
		*why_private = emogi_cache_lookup_why_not(lookup);
	else if (lookup->can_follow && emogi_change_tracker_exists(&lookup->key))
		outlook = EMOGI_GRAPH_WILL_BE_REFRESHED;
	else if (tree->is_folded && emogi_cache_lookup_asked_first(lookup, false))
		*why_private = EMOGI_NOT_ASKED_BEFORE;
	else
		outlook = EMOGI_GRAPH_WILL_BE_BUILT;
	emogi_cache_lookup_free(lookup);
	return outlook;
}

/* May a Source be read as heaps by the caller? Lists them. Raises 42501. */
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
 * Where would a call find its Graph, as the active snapshot sees it? walk: it is a search that may do without, and walk->names the indexes
 * then; NULL = it is none. *why_private: why that of a query or view would be built for the
 * call alone; NULL = nothing is to be said. Raises what keeps the caller from reading the Source.
 */
EmogiGraphOutcome
emogi_explain_graph(const EmogiSource *source, const EmogiGraphKey *wanted, EmogiIndexSearch *walk, const char **why_private)
{
	List	   *leaves;
	EmogiQueryAnalysis  *tree;
	EmogiGraphOutcome outlook;

	*why_private = NULL;
	if (is_of_heaps(source, &leaves))
		return foresee_heaps(source, wanted, leaves, walk);
	tree = emogi_analysis_peek(source);
	outlook = foresee_tree(source, tree, wanted, walk, why_private);
	if (*why_private != NULL)
		*why_private = pstrdup(*why_private);
	emogi_analysis_close(tree);
	return outlook;
}
