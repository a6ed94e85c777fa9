/*
 * instead.c: whether a search walks over indexes of its tables instead of getting a Graph (walk/), and the walk.
 *
 * Tables may be filtered ones (../tree/filter.c): then the Source is that of the tree.
 *
 * It may where the Graph would have to be built first, or brought to the call's snapshot, by this call or another; choice.c says whether it is worth while.
 */
#include "postgres.h"

#include "build/wish.h"
#include "cache/live_state.h"

/* Is there nothing that a Graph of heaps would be had from at once, neither itself in the cache nor what has changed since? */
static bool
must_be_built(const EmogiWish *wish, bool may_share)
{
	return !(may_share && emogi_wish_is_cached(wish)) && !(wish->can_follow && emogi_live_state_exists(&wish->key));
}

/*
 * Is the Graph that of a query with a value that is asked for the first time, such as now() or a parameter that differs from call to call? Then it
 * is for this call alone (Q6), or not likely to serve another.
 */
static bool
is_for_once(const EmogiWish *wish)
{
	return wish->tree != NULL && emogi_wish_asked_first(wish, false);
}

/*
 * Would a Graph that is built be there for other calls, shared or as part of a live state? A filtered table has no such state before it is built
 * a second time.
 */
static bool
would_serve_others(const EmogiWish *wish, bool may_share)
{
	if (may_share)
		return !is_for_once(wish);
	return wish->tree == NULL && wish->can_follow && emogi_follow_may_begin(wish);
}

/* Would a call have to wait for another that brings what it needs to its own snapshot? */
static bool
must_wait(const EmogiWish *wish, bool may_share)
{
	return !(may_share && emogi_wish_is_cached(wish)) && wish->can_follow && emogi_live_state_is_held(&wish->key);
}

/* Must a call bring what it needs to its own snapshot, or derive it, where there is something to begin with? */
static bool
must_refresh(const EmogiWish *wish, bool may_share)
{
	return !(may_share && emogi_wish_is_cached(wish)) && wish->can_follow && emogi_live_state_exists(&wish->key);
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
why_walk(const EmogiWish *wish, bool may_share)
{
	if (must_be_built(wish, may_share))
		return WOULD_BUILD;
	if (must_wait(wish, may_share))
		return WOULD_WAIT;
	return must_refresh(wish, may_share) ? WOULD_REFRESH : HAS_GRAPH;
}

/* May a search walk, as far as can be foreseen? Sets what that may cost. */
static bool
is_walk_chosen(WhyWalk why, const EmogiSource *source, List *leaves, bool serves_others, EmogiWalk *walk)
{
	switch (why)
	{
		case WOULD_BUILD:
			return emogi_choice_walks(source, leaves, serves_others, walk);
		case WOULD_WAIT:
			return emogi_choice_passes(source, leaves, walk);
		case WOULD_REFRESH:
			return emogi_choice_lags(source, leaves, walk);
		case HAS_GRAPH:
			break;
	}
	return false;
}

/* Carry out a search of these heaps by walking over indexes, where its Graph is not at hand; false when it needs that. */
bool
emogi_instead_walk(EmogiCall *call, const EmogiSource *source, List *leaves, const EmogiWish *wish, bool may_share, EmogiWalk *walk)
{
	const WhyWalk why = why_walk(wish, may_share);
	const bool	serves_others = why == WOULD_REFRESH || (why == WOULD_BUILD && would_serve_others(wish, may_share));
	const double start_ms = emogi_pool_now_ms();
	EmogiWalkIndexes indexes;

	if (is_walk_chosen(why, source, leaves, serves_others, walk) && emogi_walk_open(source, leaves, walk->direction, &indexes))
	{
		emogi_call_phase(call, EMOGI_PHASE_RUN);
		(void) emogi_walk_search(&indexes, walk);
		emogi_call_phase(call, EMOGI_PHASE_IDLE);
		walk->run_ms = emogi_pool_now_ms() - start_ms;
		emogi_walk_name(&indexes, walk->direction, walk->names);
		emogi_walk_close(&indexes);
	}
	if (walk->is_answered && wish->tree != NULL)
		(void) emogi_wish_asked_first(wish, true);
	if (serves_others && walk->is_answered)
		emogi_choice_note_walk(source, walk);
	else if (serves_others)
		emogi_choice_note_build(source);
	return walk->is_answered;
}

/* Would a search of these heaps walk over indexes? Names them. */
bool
emogi_instead_will_walk(const EmogiSource *source, List *leaves, const EmogiWish *wish, bool may_share, EmogiWalk *walk)
{
	const WhyWalk why = why_walk(wish, may_share);
	EmogiWalkIndexes indexes;

	if (!is_walk_chosen(why, source, leaves, why != WOULD_BUILD || would_serve_others(wish, may_share), walk) ||
		!emogi_walk_open(source, leaves, walk->direction, &indexes))
		return false;
	emogi_walk_name(&indexes, walk->direction, walk->names);
	emogi_walk_close(&indexes);
	return true;
}
