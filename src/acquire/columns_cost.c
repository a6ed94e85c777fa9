/*
 * columns_cost.c: cost of property columns compared with graphs of conditions and index searches.
 *
 * A load of columns, and a build of their graph if there is none, serve later calls with any values
 * until the table changes; their number is unknown. So this is the ski-rental problem, as for index
 * searches (index_search_cost.c). What calls on a table have spent on its conditions since the last
 * load adds up, whatever they did instead. If that, with what the call would spend next, reaches
 * the price of a load, the call loads. If a load was in vain, because the table changed before
 * other calls had used the columns, the next one costs twice as much.
 */
#include "postgres.h"

#include "acquire/masked_graph.h"
#include "answer/cost.h"
#include "base/limits.h"
#include "base/settings.h"

/*
 * Costs relative to a build of the graph: a load without columns, what each column adds, and a
 * build with a condition. Measured with 20 million random edges in buffers.
 */
#define LOAD_COST 1.5
#define COLUMN_COST 0.5
#define CONDITION_COST 1.5

/* Distinguishes the sums of a table from those of its index searches. */
#define KEY_OF_COLUMNS UINT32_C(0x5BD1E995)

/* A build may need at most this part of the memory of the calls of a role. */
#define BUILD_SHARE 2

static Oid
key_of(Oid relid)
{
	return relid ^ KEY_OF_COLUMNS;
}

/* Get the cost of so many builds of a graph with so many edges, with all threads. */
static double
builds_us(double nbuilds, double nedges)
{
	return Max(nbuilds * nedges / Min(EMOGI_COST_EDGES_PER_US,
									  emogi_cpu_threads * EMOGI_COST_EDGES_PER_THREAD_US),
			   EMOGI_COST_INDEX_MIN_US);
}

/*
 * Check whether a call should load columns of a table. direction: of its graph; has: what the cache
 * has for that; builds: otherwise, the call would build the graph of the condition next.
 */
bool
emogi_columns_cost_pays(const EmogiSource *table, EmogiDirection direction, int ncolumns,
						EmogiCacheHas has, bool builds)
{
	const EmogiEstimate estimate = emogi_graph_estimate(table, direction);
	const double nedges = (double) estimate.nedges;
	const double build_us = has == EMOGI_CACHE_HAS_NOTHING ? builds_us(1, nedges) : 0;
	const double price = (build_us + builds_us(LOAD_COST + ncolumns * COLUMN_COST, nedges)) *
		(double) emogi_index_cost_build_factor(key_of(table->relid));
	const double next_us = builds ? builds_us(CONDITION_COST, nedges) : 0;

	if (has != EMOGI_CACHE_HAS_GRAPH &&
		estimate.peak_bytes > Min(emogi_limits_allowed_bytes(), emogi_limits_role_bytes()) /
		BUILD_SHARE)
		return false;
	return (double) emogi_index_cost_sum(key_of(table->relid)) + next_us >= price;
}

/* Add what a call has spent on a condition on a table instead of loading columns. */
void
emogi_columns_cost_add(Oid relid, double us)
{
	emogi_index_cost_add(key_of(relid), (uint64) Max(us, 0));
}

/* Record a load. replaced: columns that a change of the table has made useless; NULL = none. */
void
emogi_columns_cost_record_load(Oid relid, const EmogiColumns *replaced)
{
	if (replaced != NULL)
		emogi_index_cost_record_end(key_of(relid), replaced->nuses);
	emogi_index_cost_reset(key_of(relid));
}

/* Record that a load has failed: the next calls do without. */
void
emogi_columns_cost_record_failure(Oid relid)
{
	emogi_index_cost_record_end(key_of(relid), 0);
	emogi_index_cost_reset(key_of(relid));
}
