/*
 * explain_graph.c: predict how a call would get its graph, for EXPLAIN, which gets none.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"

/*
 * Predict how a call would get the graph of an open source; set *why_private if the graph would be
 * private.
 */
static EmogiGraphOrigin
predict(const EmogiGraphSource *rows, const EmogiCacheLookup *lookup, bool may_share,
		EmogiIndexSearch *search, const char **why_private)
{
	const EmogiSource *indexed = emogi_graph_source_indexed(rows);
	const EmogiCacheResult result = emogi_cache_lookup_find_or_wait(NULL, lookup, may_share);

	if (result.has == EMOGI_CACHE_HAS_GRAPH)
		return EMOGI_GRAPH_FOUND;
	if (search != NULL && indexed != NULL && emogi_index_search_supports(indexed) &&
		emogi_index_or_build_will_search(indexed, rows->tables, lookup, result.has, may_share,
										 search))
	{
		*why_private = may_share ? NULL : emogi_cache_lookup_refusal(lookup);
		return EMOGI_GRAPH_INDEX;
	}
	if (result.has != EMOGI_CACHE_HAS_NOTHING && (may_share || lookup->analysis == NULL))
		return EMOGI_GRAPH_MERGED;
	if (!may_share)
	{
		*why_private = emogi_cache_lookup_refusal(lookup);
		return EMOGI_GRAPH_PRIVATE;
	}
	if (lookup->analysis != NULL && lookup->analysis->is_folded &&
		emogi_cache_lookup_is_first_request(lookup, false))
	{
		*why_private = emogi_cache_lookup_first_request(lookup);
		return EMOGI_GRAPH_PRIVATE;
	}
	return EMOGI_GRAPH_BUILT;
}

/*
 * Predict how a call would get its graph, as the active snapshot sees it: FOUND, MERGED, which may
 * turn out to be another outcome of a refresh, INDEX, BUILT or PRIVATE. search: a search that may
 * use indexes instead; if so, search->names is set to the indexes; NULL = none. *why_private: set
 * to why a graph would be private; NULL = it would not be, or its changes can be merged. Raises any
 * error that prevents the caller from reading the source.
 */
EmogiGraphOrigin
emogi_explain_graph(const EmogiSource *resolved, const EmogiGraphKey *wanted,
					EmogiIndexSearch *search, const char **why_private)
{
	EmogiGraphSource rows;
	EmogiCacheLookup *lookup;
	EmogiGraphOrigin origin = EMOGI_GRAPH_PRIVATE;
	const char *why;
	bool		may_share;

	*why_private = NULL;
	emogi_graph_source_peek(resolved, &rows);
	if (rows.analysis != NULL && rows.analysis->refusal != NULL)
		*why_private = rows.analysis->refusal;
	else
	{
		lookup = emogi_cache_lookup_make(resolved, rows.analysis, wanted);
		may_share = emogi_cache_lookup_may_share(lookup, &rows, &why);
		origin = predict(&rows, lookup, may_share, search, why_private);
		if (!may_share && rows.kind->version != NULL)
			*why_private = why;
		emogi_cache_lookup_free(lookup);
	}
	if (*why_private != NULL)
		*why_private = pstrdup(*why_private);
	emogi_graph_source_close(&rows);
	return origin;
}
