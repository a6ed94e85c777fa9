/*
 * cache_share.c: shares of roles in the memory and entries of the cache
 *
 * Without shares, a role that builds one graph after another would evict those of all other roles,
 * because the least recently used graph is evicted. Therefore a role evicts its own graphs first if
 * it would exceed emogi.role_memory, or if it has more than three quarters of the entries for
 * graphs, tables or dictionaries. Shares do not matter while memory is free.
 *
 * The sums are stored by a hash of the role. Two roles with the same hash exceed their share
 * together; each still evicts its own graphs.
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "cache/cache.h"
#include "cache/change_tracker.h"
#include "base/limits.h"

/* Get the sum of a role. */
static EmogiCacheTotals *
sum_of(Oid role)
{
	return &emogi_cache_shared->built[murmurhash32(role) % EMOGI_BUILDER_BUCKETS];
}

/* Add a graph that has just been transferred to the cache to the sum of its builder. */
void
emogi_cache_add_to_totals(EmogiCached *cached)
{
	EmogiCacheTotals *sum = sum_of(cached->builder);

	cached->counted = (EmogiCacheTotals) {
		.bytes = cached->bytes + emogi_dictionaries_built_bytes(cached->dictionary),
		.ngraphs = 1,
		.nleaves = cached->nleaves,
		.ndictionaries = cached->dictionary >= 0
	};
	sum->bytes += cached->counted.bytes;
	sum->ngraphs += cached->counted.ngraphs;
	sum->nleaves += cached->counted.nleaves;
	sum->ndictionaries += cached->counted.ndictionaries;
}

/* Subtract a graph from the sum of its builder, if it was added. */
void
emogi_cache_remove_from_totals(EmogiCached *cached)
{
	EmogiCacheTotals *sum = sum_of(cached->builder);

	sum->bytes -= cached->counted.bytes;
	sum->ngraphs -= cached->counted.ngraphs;
	sum->nleaves -= cached->counted.nleaves;
	sum->ndictionaries -= cached->counted.ndictionaries;
	cached->counted = (EmogiCacheTotals) {0};
}

/* Add bytes of columns that a role has loaded, or has no more, to its sum. */
void
emogi_cache_count_bytes(Oid role, int64 bytes)
{
	sum_of(role)->bytes += bytes;
}

/*
 * Would a role exceed its share of the arena with this many more bytes? The graphs, change
 * trackers and columns that it has built count, and the memory of its calls. InvalidOid, and roles
 * without a limit, have no share.
 */
bool
emogi_cache_is_beyond_share(Oid role, uint64 more_bytes)
{
	const EmogiCacheTotals *sum = sum_of(role);
	const uint64 max_bytes = emogi_limits_role_bytes();

	if (!OidIsValid(role) || max_bytes == PG_UINT64_MAX)
		return false;
	if (sum->ngraphs > emogi_cache_max_graphs() / 4 * 3 ||
		sum->ndictionaries > EMOGI_MAX_DICTIONARIES / 4 * 3 ||
		!emogi_tables_can_hold((int) sum->nleaves / 3 * 4))
		return true;
	return sum->bytes + emogi_change_tracker_bytes_of(role) + emogi_limits_bytes_of_calls(role) +
		more_bytes > max_bytes;
}
