/*
 * index_search_cost.c: cost of an index search (index_search/index_search.h) compared with building
 * a graph.
 *
 * The cost unit is a microsecond, which is one row read by an index search. A search costs
 *     rows read + index descents * EMOGI_INDEX_DESCENT_COST
 * and a build costs edges / EMOGI_COST_EDGES_PER_US, where edges is the size of the table, or
 * edges / threads / EMOGI_COST_EDGES_PER_THREAD_US if that is more. With conditions, the constants
 * are EMOGI_COST_FILTERED_*.
 *
 * Statistics predict how many rows a search will read, and are often wrong. So a search gives up as
 * soon as it has cost a quarter of a build: the call then takes at most that much longer than a
 * build. A search that statistics predict to exceed its limit is tried with a quarter of the limit:
 * if some vertices have very many edges, few searches reach the mean, and most reach little.
 *
 * If the graph of a table with conditions would serve this call alone, a search may cost as much as
 * the build. Statistics do not reduce that, because they do not know how many rows the conditions
 * leave.
 *
 * Each search may cost less than a build, and all of them much more; their number is unknown. This
 * is the ski-rental problem: the costs of searches accumulate (cache/index_cost.c) until they reach
 * the cost of a build, and then the next call builds, so the total never exceeds twice the optimum.
 * After graphs that were built in vain, builds become rarer.
 *
 * This applies if later calls could use the graph. A graph that would be private, as in a
 * transaction that has changed the table, is never built for this reason; nor is one for which
 * there is no memory.
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/syscache.h"

#include "acquire/acquire.h"
#include "answer/cost.h"
#include "base/limits.h"
#include "base/settings.h"
#include "index_search/index_search.h"

/*
 * Check in the catalogs whether a search of a source may use indexes. For the planner: without
 * lock, file access or error.
 */
bool
emogi_index_search_cost_may_search(const EmogiSource *source)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(source->relid));
	Form_pg_class form;
	bool		may;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	may = emogi_enable_index_search && emogi_index_search_supports(source) && form->relhasindex &&
		(form->relkind == RELKIND_PARTITIONED_TABLE ||
		 (double) form->relpages * (BLCKSZ / 1024) >= emogi_index_search_min_size_kb);
	ReleaseSysCache(tuple);
	return may;
}

/* Get the planner's estimates of the pages and rows of heaps, which are locked. */
static void
measure(List *leaves, double *pages, double *rows)
{
	ListCell   *cell;

	*pages = *rows = 0;
	foreach(cell, leaves)
	{
		Relation	heap = table_open(lfirst_oid(cell), NoLock);
		BlockNumber heap_pages;
		double		heap_rows;
		double		visible;

		table_relation_estimate_size(heap, NULL, &heap_pages, &heap_rows, &visible);
		*pages += heap_pages;
		*rows += heap_rows;
		table_close(heap, NoLock);
	}
}

/* Get the cost of building so many rows, two edges each with two costs, in units of a search. */
static double
build_cost(const EmogiSource *source, double nrows)
{
	const double nedges = source->reverse > 0 ? 2 * nrows : nrows;

	return source->filter != NULL ?
		nedges / Min(EMOGI_COST_FILTERED_EDGES_PER_US,
					 emogi_cpu_threads * EMOGI_COST_FILTERED_EDGES_PER_THREAD_US) :
		nedges / Min(EMOGI_COST_EDGES_PER_US, emogi_cpu_threads * EMOGI_COST_EDGES_PER_THREAD_US);
}

/* Get the cost limit of a search on tables of so many rows, without regard to its bounds. */
static double
basic_limit(const EmogiSource *source, bool serves_others, double nrows)
{
	const double share = serves_others || source->filter == NULL ? EMOGI_COST_INDEX_SHARE : 1;

	return Max(build_cost(source, nrows) / share, EMOGI_COST_INDEX_MIN_US);
}

/*
 * May a neighborhood of this source be collected, as far as the catalogs' caches tell? Weights of a
 * table without conditions must be proved valid by constraints (index_search_weights.c).
 */
static bool
may_collect(const EmogiSource *source)
{
	HeapTuple	tuple;
	bool		is_valid;

	if (!emogi_index_search_cost_may_search(source))
		return false;
	if (source->filter != NULL || source->weight <= 0)
		return true;
	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(source->relid),
							Int16GetDatum(source->weight));
	if (!HeapTupleIsValid(tuple))
		return false;
	is_valid = ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;
	ReleaseSysCache(tuple);
	return is_valid;
}

/*
 * Estimate for the planner what a neighborhood by index costs at most, in a table of so many rows:
 * the limit of its search. +inf: none can be collected. Without lock, file access or error.
 */
double
emogi_index_search_cost_collect_us(const EmogiSource *source, double nrows)
{
	return may_collect(source) ?
		Min(basic_limit(source, false, nrows),
			work_mem * 1024.0 / EMOGI_COST_INDEX_BYTES_PER_COLLECTED) : (double) INFINITY;
}

/* Get the accumulated cost of index searches at which a graph is built. */
static double
build_price(const EmogiSource *source, double nrows)
{
	return Max(build_cost(source, nrows), EMOGI_COST_INDEX_MIN_PRICE_US);
}

/* Get the key of a source's accumulated cost: its relation, or the query of a filtered table. */
Oid
emogi_index_search_cost_key(const EmogiSource *source)
{
	return source->filter != NULL ?
		emogi_index_cost_of_query(source->filter->analysis->fingerprint) : source->relid;
}

/*
 * Estimate the cost of an index search through several levels; 0 = unknown. For a filtered table it
 * is an upper bound, because the conditions remove rows.
 */
static double
expected_cost(const EmogiSource *source, const EmogiIndexSearch *search, int nleaves)
{
	EmogiSource traversed = *source;
	double		nvertices;
	double		nedges;
	double		next_degree;
	const int64 depth = search->kind == EMOGI_COLLECTS_CYCLES ? (search->max_depth + 1) / 2 :
		search->max_depth;
	double		searches;
	double		reads;

	if (depth < 2 || !emogi_graph_estimate_size(source, &nvertices, &nedges))
		return 0;
	if (search->direction == EMOGI_IN)
	{
		traversed.src = source->dst;
		traversed.dst = source->src;
	}
	next_degree = emogi_graph_estimate_next_degree(&traversed, nvertices, nedges);
	searches = search->nsources * emogi_graph_estimate_reached(nvertices, nedges, next_degree,
															   depth - 1);
	reads = search->nsources * nedges / nvertices + (searches - search->nsources) * next_degree;
	return (searches * EMOGI_INDEX_DESCENT_COST * nleaves + reads) *
		(search->direction == EMOGI_BOTH || search->kind == EMOGI_COLLECTS_CYCLES ||
		 source->reverse > 0 ? 2 : 1);
}

/* Does anything but the cost bound a search? */
static bool
is_bounded(const EmogiIndexSearch *search)
{
	return search->max_depth >= 0 || search->kind == EMOGI_COLLECTS_PATHS ||
		search->kind == EMOGI_COLLECTS_RANKED;
}

/* Get the cost limit of an index search, given the cost that statistics predict. */
static uint64
max_cost(const EmogiSource *source, bool serves_others, const EmogiIndexSearch *search,
		 double nedges, double expected)
{
	const double bytes_per_read = emogi_index_search_collects(search->kind) ?
		EMOGI_COST_INDEX_BYTES_PER_COLLECTED : EMOGI_COST_INDEX_BYTES_PER_ROW;
	const double basic = basic_limit(source, serves_others, nedges);
	double		limit = Max(basic - (double) search->cost_before, 0);


	if (!is_bounded(search) || (expected > limit && (serves_others || source->filter == NULL)))
		limit = Min(limit, Max(limit / EMOGI_COST_INDEX_UNLIKELY_SHARE, EMOGI_COST_INDEX_MIN_US));
	return (uint64) Min(limit, Min(work_mem * 1024.0 / bytes_per_read, PG_INT32_MAX));
}

/* Check whether there is memory for a build. */
static bool
may_build(const EmogiSource *source, EmogiDirection direction)
{
	return emogi_graph_estimate(source, direction).peak_bytes <= emogi_limits_allowed_bytes();
}

/* Check whether the accumulated cost has reached that of a build. */
static bool
is_build_due(const EmogiSource *source, EmogiDirection direction, double nedges)
{
	const Oid	key = emogi_index_search_cost_key(source);

	return (double) emogi_index_cost_sum(key) >=
		build_price(source, nedges) * (double) emogi_index_cost_build_factor(key) &&
		may_build(source, direction);
}

/* Check whether index searches that have cost so much are worth a build. */
bool
emogi_index_search_cost_pays_build(const EmogiSource *source, List *leaves,
								   EmogiDirection direction, uint64 spent)
{
	double		pages;
	double		nedges;

	if (spent < EMOGI_COST_INDEX_MIN_PRICE_US)
		return false;
	measure(leaves, &pages, &nedges);
	return (double) spent >= build_price(source, nedges) && may_build(source, direction);
}

/* Return the cost of the first index descents of a search. */
static double
first_cost(const EmogiIndexSearch *search, int nleaves)
{
	return (double) (search->nsources +
					 (search->kind == EMOGI_COLLECTS_PATHS ? search->ntargets : 0)) *
		EMOGI_INDEX_DESCENT_COST * nleaves;
}

/*
 * Decide whether a search uses indexes instead of a graph that must be built, and set its cost
 * limit. min_kb: minimum size of the tables. *pages: their size, if known.
 */
static bool
beats_build(const EmogiSource *source, List *leaves, bool serves_others, double min_kb,
			EmogiIndexSearch *search, double *pages)
{
	double		nedges;
	double		expected;

	if (!emogi_enable_index_search || leaves == NIL)
		return false;
	measure(leaves, pages, &nedges);
	if (*pages * (BLCKSZ / 1024) < min_kb)
		return false;
	expected = expected_cost(source, search, list_length(leaves));
	search->max_cost = max_cost(source, serves_others, search, nedges, expected);
	search->is_doubtful = expected > (double) search->max_cost ||
		(search->max_depth < 0 && !search->targeted);
	return first_cost(search, list_length(leaves)) <= (double) search->max_cost &&
		!(serves_others && is_build_due(source, search->direction, nedges));
}

/*
 * Decide whether a search without a cached graph uses indexes, and set its cost limit. leaves: the
 * source's heaps, locked. serves_others: later calls could use the graph; if not, each call would
 * build it anew, also that of a small table, and a search need not be bounded. Nor need a search of
 * a filtered table, because conditions leave few edges of a vertex.
 */
bool
emogi_index_search_cost_beats_build(const EmogiSource *source, List *leaves, bool serves_others,
									EmogiIndexSearch *search)
{
	double		pages;

	if (!serves_others)
		return beats_build(source, leaves, false, 0, search, &pages);
	return (is_bounded(search) || search->targeted || source->filter != NULL) &&
		beats_build(source, leaves, true, emogi_index_search_min_size_kb, search, &pages);
}

/*
 * Decide whether a search uses indexes while other calls bring its graph up to date, and set its
 * cost limit: the cost of waiting for a few of them.
 */
bool
emogi_index_search_cost_beats_wait(const EmogiSource *source, List *leaves,
								   EmogiIndexSearch *search)
{
	double		pages;

	if (!is_bounded(search) ||
		!beats_build(source, leaves, false,
					 emogi_index_search_min_size_kb / EMOGI_COST_INDEX_WAIT_SHARE, search, &pages))
		return false;
	search->max_cost = Min(search->max_cost, EMOGI_COST_INDEX_REFRESHING_US);
	return first_cost(search, list_length(leaves)) <= (double) search->max_cost &&
		expected_cost(source, search, list_length(leaves)) <= search->max_cost / 2;
}

/*
 * Decide whether a search uses indexes instead of bringing its graph up to date or deriving it from
 * one of another shape, and set its cost limit: half the cost of checking all pages. These costs
 * accumulate, too, until they reach that cost: then the next search does the refresh, and those
 * after it find the graph while the table is unchanged.
 */
bool
emogi_index_search_cost_beats_refresh(const EmogiSource *source, List *leaves,
									  EmogiIndexSearch *search)
{
	double		pages;
	double		price;

	if (!is_bounded(search) || !beats_build(source, leaves, false, 0, search, &pages))
		return false;
	price = pages / EMOGI_COST_PAGES_PER_US;
	if (pages * (BLCKSZ / 1024) * EMOGI_COST_INDEX_WAIT_SHARE < emogi_index_search_min_size_kb ||
		(double) emogi_index_cost_sum(emogi_index_search_cost_key(source)) >=
		price * (double) emogi_index_cost_build_factor(emogi_index_search_cost_key(source)))
		return false;
	search->max_cost = Min(search->max_cost, 
						   (uint64) Min(price / 2, EMOGI_COST_INDEX_REFRESHING_US));
	return first_cost(search, list_length(leaves)) <= (double) search->max_cost &&
		expected_cost(source, search, list_length(leaves)) <= search->max_cost / 2;
}

/* Add the cost of an index search. */
void
emogi_index_search_cost_record_search(const EmogiSource *source, const EmogiIndexSearch *search)
{
	emogi_index_cost_add(emogi_index_search_cost_key(source), search->cost);
}

/* Record that a search has its graph built or brought up to date. */
void
emogi_index_search_cost_record_build(const EmogiSource *source)
{
	emogi_index_cost_reset(emogi_index_search_cost_key(source));
}
