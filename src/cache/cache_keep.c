/*
 * cache_keep.c: kept graphs, which are not evicted to make room for others, until they are released
 * or dropped
 *
 * All users of the server share one budget, one array of entries and one of tables. Therefore kept
 * graphs may take half of each, and no more. The change tracker, labels and contraction hierarchy
 * of a kept graph can be evicted like those of any other. acquire/cache_lookup_keep.c transfers the
 * mark from one version of a graph to the next.
 */
#include "postgres.h"

#include "cache/cache.h"
#include "base/arena.h"

/*
 * Get what a graph counts for among kept graphs, without its labels, hierarchy, columns, and room
 * for later keys, which can be evicted.
 */
static EmogiKeptTotals
measure(const EmogiCached *cached)
{
	return (EmogiKeptTotals) {.bytes = cached->bytes - cached->labels_bytes -
						emogi_cache_contraction_bytes(cached) -
						emogi_cache_columns_bytes(cached) +
						emogi_dictionaries_built_bytes(cached->dictionary),.ngraphs = 1,
						.nleaves = cached->nleaves};
}

/*
 * Keep a READY graph; return false if kept graphs would exceed half of some resource. *together is
 * set to the totals of kept graphs, or to what they would be.
 */
bool
emogi_cache_keep(EmogiCached *cached, EmogiKeptTotals *together)
{
	EmogiKeptTotals  *kept = &emogi_cache_shared->kept;
	EmogiKeptTotals	more = measure(cached);

	*together = *kept;
	if (cached->kept)
		return true;
	together->bytes += more.bytes;
	together->ngraphs += more.ngraphs;
	together->nleaves += more.nleaves;
	if (together->bytes > emogi_arena_budget_bytes() / 2 ||
		together->ngraphs > emogi_cache_max_graphs() / 2 ||
		!emogi_tables_can_hold(2 * (int) together->nleaves))
		return false;
	*kept = *together;
	cached->kept = true;
	return true;
}

/* Stop keeping a graph, so that it can be evicted like any other. */
void
emogi_cache_unkeep(EmogiCached *cached)
{
	EmogiKeptTotals  *kept = &emogi_cache_shared->kept;
	EmogiKeptTotals	less = measure(cached);

	if (!cached->kept)
		return;
	cached->kept = false;
	kept->bytes -= less.bytes;
	kept->ngraphs -= less.ngraphs;
	kept->nleaves -= less.nleaves;
}

/* Get the bytes of all kept graphs, without a lock, for DETAIL of an error. */
uint64
emogi_cache_kept_bytes(void)
{
	return emogi_cache_shared->kept.bytes;
}
