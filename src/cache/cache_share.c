/*
 * cache_share.c: memory and entries of the cache by role.
 *
 * Without shares, a role that builds one Graph after another would evict those of all other roles,
 * because the least recently used Graph is evicted. Therefore a role evicts its own Graphs first if
 * it would exceed emogi.role_memory, or if it has more than three quarters of the entries for
 * Graphs, tables or dictionaries. Shares do not matter while memory is free.
 *
 * The sums are kept by a hash of the role. Two roles of one place are beyond their share together;
 * each evicts its own Graphs even so.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "cache/cache.h"
#include "cache/change_tracker.h"
#include "base/limits.h"

/* Get the place of a role's sum. */
static EmogiCacheSum *
sum_of(Oid role)
{
	return &emogi_cache_shared->built[murmurhash32(role) % EMOGI_BUILDERS];
}

/* Count a Graph, which its builder has just made over to the cache, among those of the builder. */
void
emogi_cache_count_in(EmogiCached *cached)
{
	EmogiCacheSum *sum = sum_of(cached->builder);

	cached->counted = (EmogiCacheSum) {
		.bytes = cached->bytes + emogi_dictionaries_made_bytes(cached->dictionary),
		.ngraphs = 1,
		.nleaves = cached->nleaves,
		.ndictionaries = cached->dictionary >= 0
	};
	sum->bytes += cached->counted.bytes;
	sum->ngraphs += cached->counted.ngraphs;
	sum->nleaves += cached->counted.nleaves;
	sum->ndictionaries += cached->counted.ndictionaries;
}

/* Count a Graph no longer, if it is. */
void
emogi_cache_count_out(EmogiCached *cached)
{
	EmogiCacheSum *sum = sum_of(cached->builder);

	sum->bytes -= cached->counted.bytes;
	sum->ngraphs -= cached->counted.ngraphs;
	sum->nleaves -= cached->counted.nleaves;
	sum->ndictionaries -= cached->counted.ndictionaries;
	cached->counted = (EmogiCacheSum) {0};
}

/*
 * Would what a role has in the Region be more than its share with so many more bytes: the Graphs
 * and live states that it has built, and what its calls have? InvalidOid, and roles without a
 * limit, have no share.
 */
bool
emogi_cache_is_beyond_share(Oid role, uint64 more_bytes)
{
	const EmogiCacheSum *sum = sum_of(role);
	const uint64 most_bytes = emogi_limits_role_bytes();

	if (!OidIsValid(role) || most_bytes == PG_UINT64_MAX)
		return false;
	if (sum->ngraphs > emogi_cache_max_graphs() / 4 * 3 ||
		sum->ndictionaries > EMOGI_MAX_DICTIONARIES / 4 * 3 ||
		!emogi_tables_can_hold((int) sum->nleaves / 3 * 4))
		return true;
	return sum->bytes + emogi_change_tracker_bytes_of(role) + emogi_limits_bytes_of_calls(role) +
		more_bytes > most_bytes;
}
