/*
 * index_or_build.c: choose between an index search and a graph (index_search/), and run the search.
 *
 * The tables may be filtered ones (../analysis/table_filter.c): then the source is that of the
 * query analysis.
 *
 * An index search is considered if this call or another would have to build the graph first, or to
 * bring it to the call's snapshot: cache_lookup.c tells.
 * index_search_cost.c compares the costs.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "changes/changes.h"
#include "index_search/neighborhood.h"

/*
 * Check whether the graph is that of a query with values that have not been requested before, such
 * as now() or a parameter that differs between calls. Then it is private to this call (Q6), or
 * unlikely to serve another.
 */
static bool
is_used_once(const EmogiCacheLookup *lookup)
{
	return lookup->analysis != NULL && emogi_cache_lookup_is_first_request(lookup, false);
}

/*
 * Check whether index searches with such values have together cost as much as a build. Several uses
 * in a statement or transaction are no reason to build.
 */
static bool
has_paid_build(const EmogiSource *source, List *leaves, const EmogiCacheLookup *lookup,
			   EmogiDirection direction)
{
	return emogi_index_search_cost_pays_build(source, leaves, direction,
											  emogi_cache_lookup_cost(lookup));
}

/*
 * Check whether a built graph would be available to other calls, shared or through a change
 * tracker. A filtered table has no tracker before its second build.
 */
static bool
would_serve_others(const EmogiCacheLookup *lookup, bool may_share)
{
	if (may_share)
		return !is_used_once(lookup);
	return lookup->analysis == NULL && lookup->can_track && emogi_apply_delta_may_begin(lookup);
}

/*
 * Check whether the cost of searches accumulates until a graph is built for later calls. A search
 * that continues another one is decided like that one, which served its call alone.
 */
static bool
accumulates(const EmogiCacheLookup *lookup, EmogiCacheHas has, bool may_share,
			const EmogiIndexSearch *search)
{
	if (has == EMOGI_CACHE_HAS_NOTHING)
		return search->cost_before == 0 && would_serve_others(lookup, may_share);
	return has == EMOGI_CACHE_HAS_TRACKER;
}

/* Does a search read the weights of edges? */
static bool
is_weighted(const EmogiSource *source, const EmogiCacheLookup *lookup,
			const EmogiIndexSearch *search)
{
	return search->kind != EMOGI_SEARCHES && source->weight != 0 &&
		lookup->key.weights != EMOGI_WEIGHTS_UNUSED;
}

/*
 * Would a build accept all weights, of which a search reads only a few? Two costs are read even if
 * the call has no use for weights. may_read: changed pages of the heaps may be read to tell.
 */
static bool
would_accept_weights(const EmogiSource *source, List *leaves, EmogiCacheHas has,
					 const EmogiCacheLookup *lookup, const EmogiIndexSearch *search, bool may_read)
{
	const bool	is_finite = search->is_weighted && lookup->key.weights == EMOGI_WEIGHTS_FACTORS;

	if (!search->is_weighted && source->reverse == 0)
		return true;
	if (search->is_weighted && !is_finite && lookup->key.weights != EMOGI_WEIGHTS_LENGTHS)
		return false;
	return emogi_index_search_weights_are_accepted(source, leaves, is_finite) ||
		/* a refresh of a tracker reads as many pages */
		(has == EMOGI_CACHE_HAS_NOTHING && source->filter != NULL &&
		 emogi_checked_weights_are_accepted(source, leaves, is_finite, may_read));
}

/*
 * Decide whether a search uses indexes, by estimated costs. Sets its cost limit. Edges are
 * collected only if there is no graph: an older one serves with the changes beside it, or is
 * refreshed.
 */
static bool
costs_less(EmogiCacheHas has, const EmogiSource *source, List *leaves,
		   const EmogiCacheLookup *lookup, bool for_others, EmogiIndexSearch *search)
{
	search->is_weighted = is_weighted(source, lookup, search);
	if (search->is_weighted && search->kind == EMOGI_COLLECTS_NEAR)
		search->max_depth = -1;	/* any number of edges may be near */
	if (emogi_index_search_collects(search->kind) && has != EMOGI_CACHE_HAS_NOTHING)
		return false;
	switch (has)
	{
		case EMOGI_CACHE_HAS_NOTHING:
			return emogi_index_search_cost_beats_build(source, leaves, for_others, search);
		case EMOGI_CACHE_HAS_HELD_TRACKER:
			return emogi_index_search_cost_beats_wait(source, leaves, search);
		case EMOGI_CACHE_HAS_TRACKER:
			return emogi_index_search_cost_beats_refresh(source, leaves, search);
		case EMOGI_CACHE_HAS_GRAPH:
			break;
	}
	return false;
}

/* Decide whether a search uses indexes. may_read: see would_accept_weights. */
static bool
prefers_indexes(EmogiCacheHas has, const EmogiSource *source, List *leaves,
				const EmogiCacheLookup *lookup, bool for_others, bool may_read,
				EmogiIndexSearch *search)
{
	if (!costs_less(has, source, leaves, lookup, for_others, search))
		return false;
	return would_accept_weights(source, leaves, has, lookup, search, may_read);
}

/*
 * Find out what would let a search use indexes, which are there, that does not because a build
 * might refuse weights; NULL = something else prevents it. Other weights than lengths are always
 * read by a build.
 */
static const char *
find_missing_constraint(EmogiCacheHas has, const EmogiSource *source, List *leaves,
			const EmogiCacheLookup *lookup, bool for_others, EmogiIndexSearch *search)
{
	const bool	is_finite = search->is_weighted && lookup->key.weights == EMOGI_WEIGHTS_FACTORS;
	EmogiSearchIndexes indexes;

	if (!costs_less(has, source, leaves, lookup, for_others, search) ||
		(search->is_weighted && !is_finite && lookup->key.weights != EMOGI_WEIGHTS_LENGTHS) ||
		!emogi_index_search_open(source, leaves, search, &indexes))
		return NULL;
	emogi_index_search_close(&indexes);
	return psprintf("%s%s", has == EMOGI_CACHE_HAS_NOTHING && source->filter != NULL ?
					"weights that a call has checked, or " : "",
					emogi_index_search_weights_constraint(source));
}

/*
 * Run a search of these heaps on indexes, if its graph is not available; return false if it needs
 * the graph. has: what the cache has for it.
 */
bool
emogi_index_or_build_search(EmogiCall *call, const EmogiSource *source, List *leaves,
							const EmogiCacheLookup *lookup, EmogiCacheHas has, bool may_share,
							EmogiIndexSearch *search)
{
	const bool	for_others = accumulates(lookup, has, may_share, search);
	const bool	is_once = has == EMOGI_CACHE_HAS_NOTHING && may_share && is_used_once(lookup);
	const double start_ms = emogi_pool_now_ms();
	EmogiSearchIndexes indexes;

	if (is_once && has_paid_build(source, leaves, lookup, search->direction))
	{
		(void) emogi_cache_lookup_is_first_request(lookup, true);
		return false;
	}
	if (prefers_indexes(has, source, leaves, lookup, for_others, true, search) &&
		emogi_index_search_open(source, leaves, search, &indexes))
	{
		emogi_call_phase(call, EMOGI_PHASE_RUN);
		if (search->kind == EMOGI_SEARCHES)
			(void) emogi_index_search_run(&indexes, search);
		else if (search->kind == EMOGI_COUNTS)
			(void) emogi_index_search_count(&indexes, search);
		else
			(void) emogi_neighborhood_collect(&indexes, search);
		emogi_call_phase(call, EMOGI_PHASE_IDLE);
		search->run_ms = emogi_pool_now_ms() - start_ms;
		emogi_index_search_name(&indexes, search->direction, search->names);
		emogi_index_search_close(&indexes);
	}
	if (search->is_answered && has == EMOGI_CACHE_HAS_NOTHING)
		emogi_index_search_repeat_note(source, lookup, search, is_once, for_others);
	if (search->is_answered && lookup->analysis != NULL)
		emogi_cache_lookup_add_cost(lookup, is_once ? search->cost : 0);
	if (for_others &&
		(!emogi_index_search_collects(search->kind) || has == EMOGI_CACHE_HAS_NOTHING))
	{
		if (search->is_answered)
			emogi_index_search_cost_record_search(source, search);
		else
			emogi_index_search_cost_record_build(source);
	}
	return search->is_answered;
}

/*
 * Check whether a search of these heaps would use indexes, and name them. Otherwise say what would
 * let it.
 */
bool
emogi_index_or_build_will_search(const EmogiSource *source, List *leaves,
								 const EmogiCacheLookup *lookup, EmogiCacheHas has, bool may_share,
								 EmogiIndexSearch *search)
{
	const bool	for_others = accumulates(lookup, has, may_share, search);
	EmogiSearchIndexes indexes;

	if (has == EMOGI_CACHE_HAS_NOTHING && may_share && is_used_once(lookup) &&
		has_paid_build(source, leaves, lookup, search->direction))
		return false;
	if (!prefers_indexes(has, source, leaves, lookup, for_others, false, search))
	{
		search->missing_constraint = find_missing_constraint(has, source, leaves, lookup,
															for_others, search);
		return false;
	}
	if (!emogi_index_search_open(source, leaves, search, &indexes))
		return false;
	emogi_index_search_name(&indexes, search->direction, search->names);
	emogi_index_search_close(&indexes);
	return true;
}
