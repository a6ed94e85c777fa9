/*
 * index_search_repeat.c: the next index search of a plan node in the same graph
 *
 * A plan node that is rescanned, as in a LATERAL join, calls its function each time with another
 * source. A call resolves the graph argument, checks privileges, finds the analysis of the query,
 * looks at the cache, and compares costs. If all of that would have the same result as in the last
 * call of the node, the search runs at once over the indexes that were kept open
 * (index_search/kept_indexes.c). PostgreSQL does those steps once for all rescans, too. The result
 * is the same if
 *
 * - the graph argument is the same, and so are the user, the settings and the catalogs that its
 *   meaning, the privileges and the analysis depend on. The analysis has no value of its own call;
 * - the snapshot is the same. Rows are read under it, as in every search;
 * - the search has the same direction, bound and kind of targets, and thus the same cost limit.
 *
 * Whether a graph would cost less is decided again after searches of MAX_COST.
 */
#include "postgres.h"

#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "acquire/cache_lookup.h"
#include "analysis/known_analyses.h"
#include "base/settings.h"
#include "index_search/kept_indexes.h"

/* Cost of searches after which the cache and the costs are looked at again */
#define MAX_COST 1024

typedef struct EmogiIndexRepeat
{
	MemoryContext context;		/* of the next two; reset when they change */
	EmogiGraphArgument graph;
	const char *filter;			/* condition of the call's filter; NULL = none */
	EmogiEnvironment environment;
	EmogiSource source;			/* as resolved; `graph` and `name` are those of each call */
	Snapshot	snapshot;		/* compared, not used */
	EmogiIndexSearch search;	/* the last one, without its vertices and results */
	uint64		cost_left;		/* of searches before the next cache lookup */

	/* where costs are added, as in index_or_build.c */
	bool		is_once;
	bool		for_others;
	Oid			cost_key;
	EmogiGraphKey key;
	uint64		shape;
} EmogiIndexRepeat;

/* Copy a string, or NULL. */
static char *
copy_text(const char *text)
{
	return text != NULL ? pstrdup(text) : NULL;
}

/* Are two strings, or NULLs, equal? */
static bool
are_equal(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Get the condition of a call's filter; NULL = none. */
static const char *
filter_of(const EmogiGraphArgument *graph)
{
	return graph->filter != NULL ? graph->filter->condition : NULL;
}

/* Is the result of an analysis, if any, the same for the same text in the same environment? */
static bool
is_repeatable(const EmogiSource *given, const EmogiQueryAnalysis *analysis)
{
	if (given->wants_weight || given->guess.column != NULL)
		return false;
	return analysis == NULL ? !given->is_query :
		analysis->known != NULL && !analysis->is_folded;
}

/* Note a graph argument, and the environment in which it was resolved, instead of earlier ones. */
static void
note_argument(EmogiIndexRepeat *repeat, const EmogiGraphArgument *graph)
{
	MemoryContext old = MemoryContextSwitchTo(repeat->context);

	MemoryContextReset(repeat->context);
	repeat->graph = *graph;
	repeat->graph.text = copy_text(graph->text);
	repeat->graph.columns = copy_text(graph->columns);
	repeat->filter = graph->filter != NULL ? pstrdup(graph->filter->condition) : NULL;
	repeat->graph.filter = NULL;
	emogi_environment_get(&repeat->environment);
	MemoryContextSwitchTo(old);
}

/*
 * Note what the next search of a plan node needs, after a search of a graph that is not cached.
 * indexed: the source that was searched. is_once, for_others: see index_or_build.c.
 */
void
emogi_index_search_repeat_note(const EmogiSource *indexed, const EmogiCacheLookup *lookup,
							   const EmogiIndexSearch *search, bool is_once, bool for_others)
{
	EmogiKeptIndexes *kept = search->kept;
	const EmogiSource *given = lookup->analysis != NULL ? lookup->analysis->source : indexed;
	EmogiIndexRepeat *repeat;
	MemoryContext old;

	if (kept == NULL || kept->changes == 0 || search->kind != EMOGI_SEARCHES ||
		!is_repeatable(given, lookup->analysis))
		return;
	old = MemoryContextSwitchTo(kept->context);
	repeat = kept->repeat;
	if (repeat == NULL)
	{
		repeat = palloc0(sizeof *repeat);
		repeat->context = AllocSetContextCreate(CurrentMemoryContext, "emogi repeated search",
												ALLOCSET_SMALL_SIZES);
	}
	if (kept->repeat == NULL || !are_equal(repeat->graph.text, given->graph->text) ||
		!are_equal(repeat->filter, filter_of(given->graph)) ||
		!emogi_environment_is(&repeat->environment))
		note_argument(repeat, given->graph);
	repeat->source = *given;
	repeat->source.graph = NULL;
	repeat->source.name = NIL;
	repeat->source.filter = NULL;
	repeat->source.query = NULL;
	repeat->source.key = indexed->key;
	repeat->snapshot = GetActiveSnapshot();
	repeat->search = *search;
	repeat->cost_left = MAX_COST;
	repeat->is_once = is_once;
	repeat->for_others = for_others;
	repeat->cost_key = emogi_index_search_cost_key(indexed);
	repeat->key = lookup->key;
	repeat->shape = lookup->shape;
	kept->repeat = repeat;
	MemoryContextSwitchTo(old);
}

/*
 * Check whether the next search of a plan node is of the same graph as the last one. If so, set
 * *source to the resolved graph argument.
 */
bool
emogi_index_search_repeat_may(const EmogiKeptIndexes *kept, const EmogiGraphArgument *graph,
							  EmogiSource *source)
{
	const EmogiIndexRepeat *repeat = kept != NULL ? kept->repeat : NULL;

	if (repeat == NULL || repeat->cost_left == 0 || !emogi_enable_index_search ||
		graph->reads_names || graph->is_relation != repeat->graph.is_relation ||
		graph->relid != repeat->graph.relid || !are_equal(graph->text, repeat->graph.text) ||
		!are_equal(graph->columns, repeat->graph.columns) ||
		!are_equal(filter_of(graph), repeat->filter) ||
		kept->changes != emogi_analysis_count_changes() ||
		!emogi_environment_is(&repeat->environment))
		return false;
	*source = repeat->source;
	source->graph = graph;
	return true;
}

/* Does a search have the bounds of the last one, whose cost limit it gets? */
static bool
has_same_bounds(const EmogiIndexSearch *search, const EmogiIndexSearch *last)
{
	return search->kind == last->kind && search->direction == last->direction &&
		search->max_depth == last->max_depth && search->counts_paths == last->counts_paths &&
		search->targeted == last->targeted && search->nsources == last->nsources;
}

/* Add the cost of a search to those that may lead to a build. */
static void
add_cost(const EmogiIndexRepeat *repeat, uint64 cost)
{
	if (repeat->is_once)
	{
		emogi_cache_lock();
		emogi_asked_queries_add_cost(&repeat->key, repeat->shape, cost);
		emogi_cache_unlock();
	}
	if (repeat->for_others)
		emogi_index_cost_add(repeat->cost_key, cost);
}

/* Run a search over the kept indexes under the active snapshot. */
static bool
search_kept(EmogiCall *call, EmogiKeptIndexes *kept, EmogiIndexSearch *search)
{
	EmogiIndexRepeat *repeat = kept->repeat;
	const double start_ms = emogi_pool_now_ms();

	search->max_cost = repeat->search.max_cost;
	search->is_doubtful = repeat->search.is_doubtful;
	strlcpy(search->names, repeat->search.names, sizeof search->names);
	emogi_call_phase(call, EMOGI_PHASE_RUN);
	(void) emogi_index_search_run(&kept->indexes, search);
	search->run_ms = emogi_pool_now_ms() - start_ms;
	repeat->cost_left -= Min(repeat->cost_left, search->cost);
	if (search->is_answered)
		add_cost(repeat, search->cost);
	else
		repeat->cost_left = 0;
	return search->is_answered;
}

/*
 * Run a search that emogi_index_search_repeat_may has accepted. Return false if it needs the cache
 * after all: the snapshot or the bounds differ, or it exceeds its cost.
 */
bool
emogi_index_search_repeat(EmogiCall *call, EmogiIndexSearch *search, EmogiGraphView *view)
{
	EmogiKeptIndexes *kept = search->kept;
	bool		is_answered;

	emogi_snapshot_push();
	is_answered = GetActiveSnapshot() == kept->repeat->snapshot &&
		has_same_bounds(search, &kept->repeat->search) && search_kept(call, kept, search);
	PopActiveSnapshot();
	if (is_answered)
		view->origin = call->record.origin = EMOGI_GRAPH_INDEX;
	return is_answered;
}
