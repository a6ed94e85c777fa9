/*
 * index_or_build.c: whether a search walks over indexes of its tables instead of getting a Graph (index_search/), and the walk.
 *
 * Tables may be filtered ones (../analysis/table_filter.c): then the Source is that of the tree.
 *
 * It may where the Graph would have to be built first, or brought to the call's snapshot, by this call or another; index_search_cost.c says whether it is worth while.
 */
#include "postgres.h"

#include "acquire/cache_lookup.h"
#include "cache/change_tracker.h"

/* Is there nothing that a Graph of heaps would be had from at once, neither itself in the cache nor what has changed since? */
static bool
must_be_built(const EmogiCacheLookup *lookup, bool may_share)
{
	return !(may_share && emogi_cache_lookup_is_cached(lookup)) && !(lookup->can_follow && emogi_change_tracker_exists(&lookup->key));
}

/*
 * Is the Graph that of a query with a value that is asked for the first time, such as now() or a parameter that differs from call to call? Then it
 * is for this call alone (Q6), or not likely to serve another.
 */
static bool
is_for_once(const EmogiCacheLookup *lookup)
{
	return lookup->tree != NULL && emogi_cache_lookup_asked_first(lookup, false);
}

/*
 * Would a Graph that is built be there for other calls, shared or as part of a live state? A filtered table has no such state before it is built
 * a second time.
 */
static bool
would_serve_others(const EmogiCacheLookup *lookup, bool may_share)
{
	if (may_share)
		return !is_for_once(lookup);
	return lookup->tree == NULL && lookup->can_follow && emogi_apply_delta_may_begin(lookup);
}

/* Would a call have to wait for another that brings what it needs to its own snapshot? */
static bool
must_wait(const EmogiCacheLookup *lookup, bool may_share)
{
	return !(may_share && emogi_cache_lookup_is_cached(lookup)) && lookup->can_follow && emogi_change_tracker_is_held(&lookup->key);
}

/* Must a call bring what it needs to its own snapshot, or derive it, where there is something to begin with? */
static bool
must_refresh(const EmogiCacheLookup *lookup, bool may_share)
{
	return !(may_share && emogi_cache_lookup_is_cached(lookup)) && lookup->can_follow && emogi_change_tracker_exists(&lookup->key);
}

/* Why a search may walk over indexes. */
typedef enum WhyWalk
{
	HAS_GRAPH,					/* it need not */
	WOULD_BUILD,
	WOULD_WAIT,					/* for another call that brings the Graph up to date */
	WOULD_REFRESH
} WhyWalk;

/* Find out why a search may walk over indexes instead of getting its Graph. */
static WhyWalk
why_walk(const EmogiCacheLookup *lookup, bool may_share)
{
	if (must_be_built(lookup, may_share))
		return WOULD_BUILD;
	if (must_wait(lookup, may_share))
		return WOULD_WAIT;
	return must_refresh(lookup, may_share) ? WOULD_REFRESH : HAS_GRAPH;
}

/* May a search walk, as far as can be foreseen? Sets what that may cost. */
static bool
is_walk_chosen(WhyWalk why, const EmogiSource *source, List *leaves, bool serves_others, EmogiIndexSearch *walk)
{
	switch (why)
	{
		case WOULD_BUILD:
			return emogi_index_search_cost_beats_build(source, leaves, serves_others, walk);
		case WOULD_WAIT:
			return emogi_index_search_cost_beats_wait(source, leaves, walk);
		case WOULD_REFRESH:
			return emogi_index_search_cost_beats_refresh(source, leaves, walk);
		case HAS_GRAPH:
			break;
	}
	return false;
}

/* Carry out a search of these heaps by walking over indexes, where its Graph is not at hand; false when it needs that. */
bool
emogi_index_or_build_search(EmogiCall *call, const EmogiSource *source, List *leaves, const EmogiCacheLookup *lookup, bool may_share, EmogiIndexSearch *walk)
{
	const WhyWalk why = why_walk(lookup, may_share);
	const bool	serves_others = why == WOULD_REFRESH || (why == WOULD_BUILD && would_serve_others(lookup, may_share));
	const double start_ms = emogi_pool_now_ms();
	EmogiSearchIndexes indexes;

	if (is_walk_chosen(why, source, leaves, serves_others, walk) && emogi_index_search_open(source, leaves, walk->direction, &indexes))
	{
		emogi_call_phase(call, EMOGI_PHASE_RUN);
		(void) emogi_index_search_run(&indexes, walk);
		emogi_call_phase(call, EMOGI_PHASE_IDLE);
		walk->run_ms = emogi_pool_now_ms() - start_ms;
		emogi_index_search_name(&indexes, walk->direction, walk->names);
		emogi_index_search_close(&indexes);
	}
	if (walk->is_answered && lookup->tree != NULL)
		(void) emogi_cache_lookup_asked_first(lookup, true);
	if (serves_others && walk->is_answered)
		emogi_index_search_cost_note_walk(source, walk);
	else if (serves_others)
		emogi_index_search_cost_note_build(source);
	return walk->is_answered;
}

/* Would a search of these heaps walk over indexes? Names them. */
bool
emogi_index_or_build_will_search(const EmogiSource *source, List *leaves, const EmogiCacheLookup *lookup, bool may_share, EmogiIndexSearch *walk)
{
	const WhyWalk why = why_walk(lookup, may_share);
	EmogiSearchIndexes indexes;

	if (!is_walk_chosen(why, source, leaves, why != WOULD_BUILD || would_serve_others(lookup, may_share), walk) ||
		!emogi_index_search_open(source, leaves, walk->direction, &indexes))
		return false;
	emogi_index_search_name(&indexes, walk->direction, walk->names);
	emogi_index_search_close(&indexes);
	return true;
}
