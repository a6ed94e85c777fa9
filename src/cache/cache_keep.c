/*
 * cache_keep.c: Graphs that are kept: they are not evicted to make room for others, until somebody
 * lets them go or they are dropped.
 *
 * All who share the server have one budget, one array of entries and one of tables. So kept Graphs
 * may have half of each, and no more. What hangs on a kept Graph, its live state its labels and its
 * contraction hierarchy, may go as that of any other. acquire/cache_lookup_keep.c hands the mark on
 * from one version of a Graph to the next.
 */
#include "postgres.h"

#include "cache/cache.h"
#include "base/arena.h"

/*
 * Get what a Graph counts among those that are kept. Labels, a hierarchy, and room for later keys,
 * come and go.
 */
static EmogiKept
measure(const EmogiCached *cached)
{
	return (EmogiKept) {.bytes = cached->bytes - cached->labels_bytes -
						emogi_cache_contraction_bytes(cached) +
						emogi_dictionaries_made_bytes(cached->dictionary),.ngraphs = 1,
						.nleaves = cached->nleaves};
}

/*
 * Have a Graph that is READY kept; false when kept Graphs would have more than half of what there
 * is. Gets what they have *together, or would have.
 */
bool
emogi_cache_keep(EmogiCached *cached, EmogiKept *together)
{
	EmogiKept  *kept = &emogi_cache_shared->kept;
	EmogiKept	more = measure(cached);

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

/* Have a Graph make room as any other. */
void
emogi_cache_let_go(EmogiCached *cached)
{
	EmogiKept  *kept = &emogi_cache_shared->kept;
	EmogiKept	less = measure(cached);

	if (!cached->kept)
		return;
	cached->kept = false;
	kept->bytes -= less.bytes;
	kept->ngraphs -= less.ngraphs;
	kept->nleaves -= less.nleaves;
}

/* Get the bytes of all Graphs that are kept: a look without lock, for an error's DETAIL. */
uint64
emogi_cache_kept_bytes(void)
{
	return emogi_cache_shared->kept.bytes;
}
