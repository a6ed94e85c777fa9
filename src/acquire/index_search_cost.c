/*
 * index_search_cost.c: whether a search walks over indexes of its tables (index_search/index_search.h), or has a Graph built.
 *
 * A walk costs by what it reads, a build by the size of the table; a build takes as long for EDGES_PER_READ edges as a walk for one row.
 * Statistics say how many rows a walk will read, and are often wrong. So a walk gives up as soon as it has cost a quarter of a build:
 * the call then takes that much longer than a build, and no longer. One that statistics foresee to cost more is tried at a quarter of
 * that: where some vertices have very many edges the mean is that of few searches, and most reach little.
 *
 * Each walk by itself may cost less than a build, and all of them much more: nobody knows how many will come. So it is done as with skis
 * that may be rented or bought: walks are paid for in the sum of cache/walk_cost.c until they have cost as much as a build, and then the
 * next call builds, which never costs more than twice what would have been best; and where Graphs were built in vain, that much less often.
 * That holds where the Graph would be there for later calls. One that would be for the call alone, as in a transaction that has changed the table, is never bought; nor is one for which
 * there is no memory.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/syscache.h"

#include "acquire/acquire.h"
#include "base/limits.h"
#include "index_search/index_search.h"

/* Edges that a build takes as long for as a walk for one row: some 15 ns each, and a microsecond. */
#define EDGES_PER_READ 64

/* A walk may cost this part of a build, and one that is likely to be given up, for its depth or by statistics, this part of that. */
#define WALK_SHARE 4
#define UNLIKELY_SHARE 4

/* Where the Graph would be for the call alone, and built once more by the next one, tables of this part of the size are walked over, too. */
#define PRIVATE_SHARE 64.0

/* What a walk may cost in any case: it takes as long to have a Graph built of next to nothing. */
#define LEAST_COST 1024

/* Walks of a small table are paid for until they have cost so much: some milliseconds. */
#define LEAST_PRICE 16384

/* What a search may cost that walks by those who bring its Graph up to date. */
#define PASSING_COST 2000

/* Edges as above where the build evaluates conditions on each row: some 50 ns each. */
#define FILTERED_EDGES_PER_READ 20

/* Pages of a table that a Graph is brought up to date for as long as a walk takes for a row: their headers are looked at, or the map. */
#define PAGES_PER_READ 8

/* Bytes that a walk takes for a row that it reads. */
#define BYTES_PER_READ 64

/* Get the number of edges that a build takes as long for as a walk for so many rows. */
double
emogi_index_search_cost_edges(double nreads)
{
	return nreads * EDGES_PER_READ;
}

/* May a search on a Source walk, as far as the catalogs tell? For the planner: without lock, file or error. */
bool
emogi_index_search_cost_may_walk(const EmogiSource *source)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(source->relid));
	Form_pg_class form;
	bool		may;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	may = emogi_enable_index_walk && emogi_index_search_supports(source) && form->relhasindex &&
		(form->relkind == RELKIND_PARTITIONED_TABLE || (double) form->relpages * (BLCKSZ / 1024) >= emogi_index_walk_min_size_kb);
	ReleaseSysCache(tuple);
	return may;
}

/* Get the pages and the rows of heaps, which are locked, as the planner estimates them. */
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

/* Get what a build of so many rows costs, in what walks cost. */
static double
cost_of_build(const EmogiSource *source, double nrows)
{
	return nrows / (source->filter != NULL ? FILTERED_EDGES_PER_READ : EDGES_PER_READ);
}

/* Get what walks may cost together before a build is paid for. */
static double
price_of(const EmogiSource *source, double nrows)
{
	return Max(cost_of_build(source, nrows), LEAST_PRICE);
}

/* Get what the rent of a Source goes by: its relation, or the query of a filtered table. */
static Oid
payer(const EmogiSource *source)
{
	return source->filter != NULL ? emogi_walk_cost_of_query(source->filter->tree->fingerprint) : source->relid;
}

/*
 * Estimate what a walk will cost that is to go through several levels; 0 = nothing is known. Of a filtered table that is an upper bound: conditions
 * leave less.
 */
static double
expected_cost(const EmogiSource *source, const EmogiIndexSearch *walk, int nleaves)
{
	EmogiSource seen = *source;
	double		nvertices;
	double		nedges;
	double		next;
	double		searches;
	double		reads;

	if (walk->max_depth < 2 || !emogi_graph_estimate_size(source, &nvertices, &nedges))
		return 0;
	if (walk->direction == EMOGI_IN)
	{
		seen.src = source->dst;
		seen.dst = source->src;
	}
	next = emogi_graph_estimate_next_degree(&seen, nvertices, nedges);
	searches = walk->nsources * emogi_graph_estimate_reached(nvertices, nedges, next, walk->max_depth - 1);
	reads = walk->nsources * nedges / nvertices + (searches - walk->nsources) * next;
	return (searches * EMOGI_INDEX_DESCENT_COST * nleaves + reads) * (walk->direction == EMOGI_BOTH ? 2 : 1);
}

/* Get what a walk may cost that statistics foresee to cost `expected`. */
static uint64
most_cost(const EmogiSource *source, const EmogiIndexSearch *walk, double nedges, double expected)
{
	double		most = Max(cost_of_build(source, nedges) / WALK_SHARE, LEAST_COST);

	if (walk->max_depth < 0 || expected > most)
		most = Max(most / UNLIKELY_SHARE, LEAST_COST);
	return (uint64) Min(most, work_mem * 1024.0 / BYTES_PER_READ);
}

/* Has the sum of all walks reached the price of a build that has room? */
static bool
is_bought(const EmogiSource *source, EmogiDirection direction, double nedges)
{
	return (double) emogi_walk_cost_sum(payer(source)) >= price_of(source, nedges) * (double) emogi_walk_cost_price_factor(payer(source)) &&
		emogi_graph_estimate(source, direction).peak_bytes <= emogi_limits_allowed_bytes();
}

/*
 * Find out whether a search that finds no Graph walks, and what that may cost. leaves: the Source's heaps, locked. serves_others: a
 * Graph would be there for other calls.
 */
bool
emogi_index_search_cost_beats_build(const EmogiSource *source, List *leaves, bool serves_others, EmogiIndexSearch *walk)
{
	const double least_kb = serves_others ? emogi_index_walk_min_size_kb : emogi_index_walk_min_size_kb / PRIVATE_SHARE;
	double		pages;
	double		nedges;
	double		expected;

	if (!emogi_enable_index_walk || leaves == NIL)
		return false;
	measure(leaves, &pages, &nedges);
	if (pages * (BLCKSZ / 1024) < least_kb)
		return false;
	expected = expected_cost(source, walk, list_length(leaves));
	walk->most_cost = most_cost(source, walk, nedges, expected);
	walk->is_doubtful = expected > (double) walk->most_cost;
	return (double) walk->nsources * EMOGI_INDEX_DESCENT_COST * list_length(leaves) <= walk->most_cost &&
		!(serves_others && is_bought(source, walk->direction, nedges));
}

/*
 * Find out whether a search whose Graph others are just bringing up to date walks by them, and what that may cost: as much as to wait for a
 * few of them.
 */
bool
emogi_index_search_cost_beats_wait(const EmogiSource *source, List *leaves, EmogiIndexSearch *walk)
{
	if (walk->max_depth < 0 || !emogi_index_search_cost_beats_build(source, leaves, false, walk))
		return false;
	walk->most_cost = Min(walk->most_cost, PASSING_COST);
	return (double) walk->nsources * EMOGI_INDEX_DESCENT_COST * list_length(leaves) <= walk->most_cost &&
		expected_cost(source, walk, list_length(leaves)) <= walk->most_cost / 2;
}

/*
 * Find out whether a search whose Graph would have to be brought up to date, or derived from one of another shape, walks instead, and what that
 * may cost: half of what it takes to look at all pages. Such walks are paid for, too, until they have cost as much as that: then the next search
 * does it, and while the table stands still those after it find the Graph.
 */
bool
emogi_index_search_cost_beats_refresh(const EmogiSource *source, List *leaves, EmogiIndexSearch *walk)
{
	double		pages;
	double		nedges;
	double		price;

	if (walk->max_depth < 0 || !emogi_index_search_cost_beats_build(source, leaves, false, walk))
		return false;
	measure(leaves, &pages, &nedges);
	price = pages / PAGES_PER_READ;
	if (pages * (BLCKSZ / 1024) < emogi_index_walk_min_size_kb ||
		(double) emogi_walk_cost_sum(payer(source)) >= price * (double) emogi_walk_cost_price_factor(payer(source)))
		return false;
	walk->most_cost = Min(walk->most_cost, (uint64) Min(price / 2, PASSING_COST));
	return (double) walk->nsources * EMOGI_INDEX_DESCENT_COST * list_length(leaves) <= walk->most_cost &&
		expected_cost(source, walk, list_length(leaves)) <= walk->most_cost / 2;
}

/* Note that a search has walked. */
void
emogi_index_search_cost_note_walk(const EmogiSource *source, const EmogiIndexSearch *walk)
{
	emogi_walk_cost_add(payer(source), walk->cost);
}

/* Note that a search has a Graph built, or brought up to date. */
void
emogi_index_search_cost_note_build(const EmogiSource *source)
{
	emogi_walk_cost_reset(payer(source));
}
